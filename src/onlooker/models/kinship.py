"""Which models are kin: a judge tends to favour replies of its own family (Panickssery et al. 2024)."""

from __future__ import annotations

import re

# Words in names of models, each with the family that makes them. The first that stands as a word of its own decides.
_FAMILIES = (
    (r"chatgpt|gpt|o[134](?=-|$)|davinci", "openai"),
    (r"claude", "anthropic"),
    (r"gemini|gemma|palm", "google"),
    (r"qwen\d*|qwq|qvq", "qwen"),
    (r"llama|llava", "meta"),
    (r"mistral|mixtral|pixtral|magistral", "mistral"),
    (r"deepseek", "deepseek"),
    (r"glm|chatglm|cogvlm", "zhipu"),
    (r"kimi|moonshot", "moonshot"),
    (r"internvl|internlm", "internlm"),
    (r"phi", "microsoft"),
    (r"minicpm", "openbmb"),
    (r"seed|doubao", "bytedance"),
    (r"grok", "xai"),
    (r"smollm|smolvlm|idefics", "huggingface"),
)
_FOUND = tuple((re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE), family) for words, family in _FAMILIES)


def model_family(name: str) -> str | None:
    """The family that a model's name tells, such as ``qwen`` of ``openai:Qwen3.5-9B``; None where it tells none.

    The kind before the first colon says how a model is reached, not what it is, and does not count.
    """
    _, _, rest = name.partition(":")
    for pattern, family in _FOUND:
        if pattern.search(rest or name):
            return family
    return None


def are_kin(one: str, other: str) -> bool:
    """Whether two names are the same model, or tell the same family."""
    if one.rpartition(":")[2] == other.rpartition(":")[2]:
        return True
    family = model_family(one)
    return family is not None and family == model_family(other)
