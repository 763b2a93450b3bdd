"""A randomly initialised Qwen2.5-VL of a few thousand numbers, with its processor, and LoRA adapters for it.

It has every part of the real class (vision tower, merger, rotary positions, placeholders, chat template) and knows
nothing. Made in a second, under a megabyte, without a network.
"""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

PAD, IMAGE, VIDEO = "<|endoftext|>", "<|image_pad|>", "<|video_pad|>"
START, END, SEE, SEEN = "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"
SPECIAL = (PAD, START, END, SEE, SEEN, IMAGE, VIDEO)
# Letters as they follow "Answer:" have to be one token each.
LETTERS = "ABCDEFGHIJ"

# That of Qwen2.5-VL-Instruct without tools and numbered pictures: the same turns, the same placeholders.
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for content in message['content'] %}"
    "{% if content['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif content['type'] == 'video' %}<|vision_start|><|video_pad|><|vision_end|>"
    "{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def save_tiny_vlm(
    folder: Path, *, seed: int = 0, layers: int = 2, context_tokens: int = 32768, is_brief: bool = False
) -> Path:
    """Save model, tokenizer, image processor and chat template into ``folder`` (made if need be), and return it.

    ``seed`` decides the weights. ``is_brief``: answers end after some tokens, instead of going on for the whole budget.
    The tokenizer knows single bytes, a few whole letters and the special tokens.
    """
    torch, transformers = _libraries()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": layers,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": context_tokens,
            "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0},
            "bos_token_id": ids[PAD],
            "eos_token_id": ids[END],
            "pad_token_id": ids[PAD],
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
            "fullatt_block_indexes": [1],
            "out_hidden_size": 32,
        },
        image_token_id=ids[IMAGE],
        video_token_id=ids[VIDEO],
        vision_start_token_id=ids[SEE],
        vision_end_token_id=ids[SEEN],
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = transformers.Qwen2_5_VLForConditionalGeneration(config)
        with torch.no_grad():
            # As initialised, every weight is so near nought that no input could change an answer.
            for name, weight in model.named_parameters():
                if weight.ndim > 1:
                    weight.normal_(0, 0.4 if "visual" in name else 0.25)
            # Greedy answers are written in ASCII: half a character would show as the same sign as any other half.
            rows = [n for n in range(len(tokenizer)) if not tokenizer.decode([n]).isascii()]
            model.lm_head.weight[rows] = 0.0
            model.lm_head.weight[ids[END]] *= 2.0 if is_brief else 0.0
    model.generation_config.eos_token_id = ids[END]
    model.generation_config.pad_token_id = ids[PAD]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    pictures = import_module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl").Qwen2VLImageProcessorPil(
        size={"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 36}
    )
    pictures.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return folder


def save_tiny_adapter(folder: Path, base: Path, *, seed: int = 1, scale: float = 0.5) -> Path:
    """Save a LoRA adapter (rank 4, attention and MLP of the language model) for the tiny model in ``base``.

    Both its matrices are random: as trained ones, they change answers from the first token on.
    """
    torch, transformers = _libraries()
    peft = import_module("peft")
    model = transformers.AutoModelForImageTextToText.from_pretrained(base, local_files_only=True)
    config = peft.LoraConfig(
        r=4, lora_alpha=8, target_modules=r".*language_model.*\.(q_proj|v_proj|down_proj)", init_lora_weights=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft calls what transformers is about to rename
        adapted = peft.get_peft_model(model, config)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        for name, weight in adapted.named_parameters():
            if "lora_" in name:
                weight.normal_(0, scale)
    adapted.save_pretrained(folder)
    return folder


def picture(colour: tuple[int, int, int], *, width_px: int = 84, height_px: int = 56, dot_px: int = 20) -> bytes:
    """A JPEG file of one colour with a white square in its upper left corner."""
    image: Any = import_module("PIL.Image").new("RGB", (width_px, height_px), colour)
    image.paste((255, 255, 255), (0, 0, dot_px, dot_px))
    held = io.BytesIO()
    image.save(held, "JPEG", quality=95)
    return held.getvalue()


def _libraries() -> tuple[Any, Any]:
    torch, transformers = import_module("torch"), import_module("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return torch, transformers


def _tokenizer() -> Any:
    """Byte-level BPE: every text can be written, and without merges beyond the letters every byte is a token."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: n for n, token in enumerate([*alphabet, *(f"Ġ{letter}" for letter in LETTERS)])}
    merges = [("Ġ", letter) for letter in LETTERS]
    raw = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    raw.add_special_tokens([tokenizers.AddedToken(token, special=True) for token in SPECIAL])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token=END,
        pad_token=PAD,
        extra_special_tokens=[START, SEE, SEEN, IMAGE, VIDEO],
    )
