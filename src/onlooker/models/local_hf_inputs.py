"""A request as the tensors that a vision-language model of transformers reads: in order, whole, and nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from onlooker.errors import InputError, ModelError
from onlooker.models.local_hf_folder import Loaded
from onlooker.models.request import Image, Options, Request, Sound, Text, Video

# What stands for media among the tokens, by the names that configurations and processors give it.
_MEDIA = ("image", "video", "audio", "vision_start", "vision_end", "boi", "eoi", "image_break", "image_end")
OWN_OF_TEMPLATE = frozenset(
    (
        "conversation",
        "chat_template",
        "add_generation_prompt",
        "continue_final_message",
        "tokenize",
        "return_dict",
        "return_tensors",
        "sanitize_control_tokens",
        "processor_kwargs",
    )
)
"""What is said to the processor beside the variables of the template."""
_ORDER = ("onlooker-first", "onlooker-last")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One conversation. ``pictures``: the frames, decoded. ``begun``: words the answer already begins with.

    ``answer_tokens``: how much room the answer needs.
    """

    request: Request
    pictures: tuple[Any, ...]
    answer_tokens: int
    begun: str = ""


class Reader:
    """Turns prompts into tensors, by the processor and the chat template of one loaded model.

    ``template_settings``: variables of the template. ``max_context_tokens`` lowers the trained context, for memory.
    """

    def __init__(
        self, loaded: Loaded, *, where: str, template_settings: Mapping[str, Any], max_context_tokens: int | None
    ) -> None:
        self._loaded, self._processor, self._where = loaded, loaded.processor, where
        self._template_settings = dict(template_settings)
        limits = [limit for limit in (loaded.context_tokens, max_context_tokens) if limit is not None]
        self.context_tokens = min(limits, default=None)
        self.media_tokens = _media_tokens(loaded)
        self.tokenizer = loaded.processor.tokenizer
        self.pad_token: int = loaded.processor.tokenizer.pad_token_id
        self._keeps_order = self._check_order()

    def prompt(self, request: Request, *, answer_tokens: int, begun: str = "") -> Prompt:
        """Decode the frames. Raises ModelError for one that is no picture, or an order that the template changes."""
        pictures = tuple(_decoded(part, self._where) for part in request.parts if isinstance(part, Image))
        kinds = [isinstance(part, Image) for part in request.parts]
        if not self._keeps_order and any(kinds[kinds.index(False) :] if False in kinds else ()):
            raise ModelError(
                "the model's chat template moves pictures before all words, so that frames part from their times",
                where=self._where,
                remedy="choose a condition whose frames stand first, or a model whose template keeps the order",
            )
        return Prompt(request, pictures, answer_tokens, begun)

    def tensors(self, prompts: Sequence[Prompt]) -> Any:
        """All prompts as one batch, padded on the left, on the model's device.

        Words of a request that spell a control token are read as words. Raises ModelError where a prompt with its
        answer is longer than the context (nothing is ever cut), or where its pictures did not reach the tensors.
        """
        torch = import_module("torch")
        conversations = [_conversation(prompt) for prompt in prompts]
        inputs = self._processor.apply_chat_template(
            conversations,
            add_generation_prompt=not prompts[0].begun,
            continue_final_message=bool(prompts[0].begun),
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            sanitize_control_tokens=True,
            processor_kwargs={"padding": True, "padding_side": "left"},
            **self._template_settings,
        )
        for prompt, needed in zip(prompts, input_lengths(inputs), strict=True):
            self._check_length(needed, prompt.answer_tokens)
        if any(prompt.pictures for prompt in prompts):
            values = inputs.get("pixel_values")
            if values is None or not values.numel():
                raise ModelError("the pictures did not reach the model: the processor left them out", where=self._where)
            self._check_placeholders(inputs, prompts)
        return inputs.to(self._loaded.device, dtype=getattr(torch, self._loaded.dtype))

    def sizes(self, prompts: Sequence[Prompt], inputs: Any) -> list[dict[str, object]]:
        """For each prompt with pictures: their sizes as given and, where the processor tells, as the model sees them.

        A size is [width, height] in pixels.
        """
        grid = inputs.get("image_grid_thw")
        patch_px = getattr(self._processor.image_processor, "patch_size", None)
        seen: list[list[int]] | None = None
        if grid is not None and isinstance(patch_px, int):
            seen = [[wide * patch_px, high * patch_px] for _, high, wide in grid.tolist()]
        told: list[dict[str, object]] = []
        at = 0
        for prompt in prompts:
            count = len(prompt.pictures)
            sizes: dict[str, object] = {}
            if count:
                sizes["pictures_given_px"] = [list(picture.size) for picture in prompt.pictures]
                if seen is not None:
                    sizes["pictures_seen_px"] = seen[at : at + count]
                    sizes["pixels_seen"] = sum(wide * high for wide, high in seen[at : at + count])
            told.append(sizes)
            at += count
        return told

    def letters(self, ids: Sequence[str]) -> list[int]:
        """The token of each option's id as it follows ``Answer:``. Raises ModelError where it takes several tokens."""
        found = []
        for option in ids:
            spelt = self.tokenizer.encode(f" {option}", add_special_tokens=False)
            if len(spelt) != 1:
                raise ModelError(
                    "the tokeniser has no single token for the name of an option",
                    where=self._where,
                    value=option,
                    remedy="leave out scoring=logprobs",
                )
            found += spelt
        return found

    def text(self, tokens: Sequence[int]) -> str:
        """Generated tokens as words, without control tokens."""
        words: str = self.tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return words

    def _check_length(self, needed: int, answer: int) -> None:
        if self.context_tokens is not None and needed + answer > self.context_tokens:
            raise ModelError(
                f"the request takes {needed} tokens and the answer up to {answer}: {needed + answer} together, and the "
                f"context holds {self.context_tokens}",
                where=self._where,
                remedy="send fewer or smaller frames, or lower the output budget",
            )

    def _check_placeholders(self, inputs: Any, prompts: Sequence[Prompt]) -> None:
        token = self.tokenizer.convert_tokens_to_ids(self._processor.image_token)
        for row, prompt in zip(inputs["input_ids"], prompts, strict=True):
            if bool(prompt.pictures) != bool((row == token).any()):
                raise ModelError("pictures and their places among the words do not fit together", where=self._where)

    def _check_order(self) -> bool:
        """Whether the template puts a picture between the words around it. InputError where it puts it nowhere."""
        first, last = _ORDER
        content = [{"type": "text", "text": first}, {"type": "image"}, {"type": "text", "text": last}]
        turns = [{"role": "user", "content": content}]
        token = getattr(self._processor, "image_token", None)
        try:
            shown = self._processor.apply_chat_template(turns, **self._template_settings)
        except Exception as error:
            # A template is foreign code: it may raise anything.
            raise InputError(f"the chat template cannot be used ({error})", where=self._where) from error
        if token is None or token not in shown:
            raise InputError("the chat template has no place for pictures", where=self._where)
        return bool(shown.find(first) < shown.find(token) < shown.find(last))


def input_lengths(inputs: Any) -> list[int]:
    """Tokens of every row without its padding."""
    return [int(n) for n in inputs["attention_mask"].sum(dim=1)]


def _conversation(prompt: Prompt) -> list[dict[str, Any]]:
    pictures = iter(prompt.pictures)
    content: list[dict[str, Any]] = []
    for part in prompt.request.parts:
        match part:
            case Image():
                content.append({"type": "image", "image": next(pictures)})
            case Text() | Options():
                if content and content[-1]["type"] == "text":
                    # Together: a control token could be spelt across two parts.
                    content[-1]["text"] += part.text
                elif part.text:
                    content.append({"type": "text", "text": part.text})
            case Sound() | Video():
                raise AssertionError("refused before")
    turns = [{"role": "user", "content": content}]
    if prompt.request.system is not None:
        turns.insert(0, {"role": "system", "content": [{"type": "text", "text": prompt.request.system}]})
    if prompt.begun:
        turns.append({"role": "assistant", "content": [{"type": "text", "text": prompt.begun}]})
    return turns


def _decoded(frame: Image, where: str) -> Any:
    pillow = import_module("PIL.Image")
    try:
        return pillow.open(io.BytesIO(frame.jpeg)).convert("RGB")
    except (OSError, ValueError, pillow.DecompressionBombError) as error:
        raise ModelError(f"the frame at {frame.time_s:g} s is no readable picture ({error})", where=where) from error


def _media_tokens(loaded: Loaded) -> tuple[int, ...]:
    """Tokens that stand for media. A model that wrote one would be asked for a picture that is not there (case T10)."""
    found = set()
    for name in _MEDIA:
        for holder in (loaded.model.config, loaded.processor):
            for attribute in (f"{name}_token_id", f"{name}_token_index"):
                token = getattr(holder, attribute, None)
                if isinstance(token, int):
                    found.add(token)
    return tuple(sorted(found))
