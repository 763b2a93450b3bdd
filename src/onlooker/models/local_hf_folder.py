"""A folder with a vision-language model of transformers, and one with a LoRA adapter: read from this machine only.

Pictures are prepared by Pillow, whatever else is installed, so that a model sees the same numbers on every machine.
Videos reach a model as frames; the processor's own video part (which needs torchvision) is never loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from onlooker.assets import file_sha256
from onlooker.errors import InputError, MissingExtra

_WEIGHTS = frozenset((".safetensors", ".bin"))
_RULES = frozenset((".json", ".txt", ".model", ".jinja", ".tiktoken"))
_ADAPTER_CONFIG, _ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_REMEDY = "give a folder written by save_pretrained of a vision-language model and of its processor"
_TRAINED = "an adapter is used with the very model it was trained on"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Model (with its adapter, in evaluation) and processor. ``context_tokens``: as trained, None if not said.

    ``ends``: the tokens that end an answer.
    """

    model: Any
    processor: Any
    device: str
    dtype: str
    context_tokens: int | None
    ends: tuple[int, ...]


def check_folders(folder: Path, adapter: Path | None) -> None:
    """Raise InputError where a folder is missing or lacks what such a folder holds, MissingExtra without the extra.

    Looks at names and configurations only: nothing is loaded.
    """
    for package in ("torch", "transformers", "PIL", *(("peft",) if adapter else ())):
        if find_spec(package) is None:
            raise MissingExtra("hf", "a transformers model on this machine")
    if not folder.is_dir():
        raise InputError("no such folder", where=str(folder), remedy=_REMEDY)
    _read_json(folder / "config.json", "no model of transformers here", _REMEDY)
    if not any(path.suffix in _WEIGHTS for path in folder.iterdir()):
        raise InputError("the folder holds no weights", where=str(folder), remedy=_REMEDY)
    if not any((folder / name).is_file() for name in ("processor_config.json", "preprocessor_config.json")):
        raise InputError(
            "no processor here: the model cannot be shown pictures",
            where=str(folder),
            remedy="save the processor into the same folder",
        )
    if adapter is not None:
        config = _read_json(adapter / _ADAPTER_CONFIG, "no adapter here", f"give a folder with {_ADAPTER_CONFIG}")
        if config.get("peft_type") != "LORA":
            raise InputError("not a LoRA adapter", where=str(adapter), value=config.get("peft_type"))
        if not (adapter / _ADAPTER_WEIGHTS).is_file():
            raise InputError(f"the adapter lacks {_ADAPTER_WEIGHTS}", where=str(adapter))


def folder_digests(folder: Path, adapter: Path | None) -> dict[str, str]:
    """Digests of the weights, of all that decides how they are used (configuration, tokens, template), of the adapter.

    Every byte is read: minutes for a large model on a slow disk.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file())
    held = [] if adapter is None else [adapter / _ADAPTER_CONFIG, adapter / _ADAPTER_WEIGHTS]
    return {
        "weights_sha256": _digest([p for p in files if p.suffix in _WEIGHTS]),
        "rules_sha256": _digest([p for p in files if p.suffix in _RULES]),
        "adapter_sha256": _digest(held) if held else "none",
    }


def runtime_versions() -> str:
    """What runs the model, told from the packages' data: importing them takes seconds."""
    said = []
    for package in ("torch", "transformers", "peft", "pillow"):
        try:
            said.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            said.append(f"{package} none")
    return ", ".join(said)


def choose_device(device: str, dtype: str) -> tuple[str, str]:
    """The device and the kind of numbers that ``auto`` stands for here. Raises InputError for one that is not here.

    ``auto`` is the GPU (cuda, then mps) with bfloat16, else the processor with float32.
    """
    torch = import_module("torch")
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if device == "auto":
        device = "cuda" if has_cuda else "mps" if has_mps else "cpu"
    cards = ("cuda", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))) if has_cuda else ()
    here = ("cpu", *cards, *(("mps",) if has_mps else ()))
    if device not in here:
        raise InputError(
            "no such device on this machine",
            where="device",
            value=device,
            remedy=f"auto, or one of {', '.join(here)}",
        )
    if dtype == "auto":
        dtype = "float32" if device == "cpu" else "bfloat16"
    return device, dtype


def device_name(device: str) -> str:
    """The device with the name of the GPU: other GPUs round otherwise."""
    torch = import_module("torch")
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device


def load_folder(folder: Path, adapter: Path | None, device: str, dtype: str) -> Loaded:
    """Model, adapter and processor. Raises InputError where they do not fit together; takes seconds to minutes."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    torch, transformers = import_module("torch"), import_module("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with _explained(folder):
        config = transformers.AutoConfig.from_pretrained(str(folder), local_files_only=True)
    if type(config) not in transformers.AutoModelForImageTextToText._model_mapping:
        raise InputError("not a vision-language model", where=str(folder), value=config.model_type, remedy=_REMEDY)
    processor = load_processor(folder)
    with _explained(folder):
        model, report = transformers.AutoModelForImageTextToText.from_pretrained(
            str(folder),
            config=config,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            output_loading_info=True,
        )
    lacking = [*report["missing_keys"], *report["mismatched_keys"]]
    if lacking:
        raise InputError(
            f"{len(lacking)} tensors are not in the weights, or not in the shape of the configuration",
            where=str(folder),
            value=str(sorted(map(str, lacking))[0]),
            remedy="fetch the folder again: such a model would answer with random numbers",
        )
    ends = _ends(model, processor.tokenizer)
    if adapter is not None:
        _put_adapter(model, adapter)
    # The publisher's sampling (temperature, repetition penalty ...) would mix with what a request asks for.
    model.generation_config = transformers.GenerationConfig(
        eos_token_id=list(ends), pad_token_id=processor.tokenizer.pad_token_id
    )
    limit = getattr(config.get_text_config(), "max_position_embeddings", None)
    return Loaded(_placed(model.eval(), folder, device), processor, device, dtype, limit, ends)


def _placed(model: Any, folder: Path, device: str) -> Any:
    """The model on the device. Raises InputError where it has no room there."""
    try:
        return model.to(device)
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        raise InputError(
            f"the model cannot be put on the device ({_first_line(error)})",
            where=str(folder),
            value=device,
            remedy="free the device's memory, or use dtype=bfloat16, a smaller model or device=cpu",
        ) from error


def load_processor(folder: Path) -> Any:
    """The processor of the model in ``folder`` for words and pictures. Raises InputError where it has none."""
    transformers = import_module("transformers")
    names = import_module("transformers.models.auto.processing_auto").PROCESSOR_MAPPING_NAMES
    with _explained(folder):
        config = transformers.AutoConfig.from_pretrained(str(folder), local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        pictures = transformers.AutoImageProcessor.from_pretrained(str(folder), local_files_only=True, backend="pil")
    own = getattr(transformers, str(names.get(config.model_type)), None)
    if own is None:
        raise InputError("transformers knows no processor of this model", where=str(folder), value=config.model_type)

    parts = {"tokenizer": tokenizer, "image_processor": pictures}
    with _explained(folder):
        given, _ = own.get_processor_dict(str(folder), local_files_only=True)
        if given.get("chat_template") is None:
            given["chat_template"] = tokenizer.chat_template
        processor = _without_some_parts(own).from_args_and_dict([parts.get(n) for n in own.get_attributes()], given)
    if processor.chat_template is None:
        raise InputError(
            "the processor has no chat template",
            where=str(folder),
            remedy="add the publisher's chat_template.jinja to the folder: without it nobody knows how to ask",
        )
    if "sanitize_control_tokens" not in signature(processor.apply_chat_template).parameters:
        # It would take the word for a variable of the template, and read control tokens in the words.
        raise InputError(
            "this version of transformers cannot tell words from control tokens",
            where="transformers",
            value=transformers.__version__,
            remedy='pip install -U "onlooker[hf]"',
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


def _without_some_parts(own: Any) -> Any:
    """The class of a processor, whose parts for video and sound may be None."""

    def check(self: Any, name: str, part: Any) -> Any:
        return None if part is None else own.check_argument_for_proper_class(self, name, part)

    return type(own.__name__, (own,), {"check_argument_for_proper_class": check})


def _put_adapter(model: Any, adapter: Path) -> None:
    """Put a LoRA adapter into the model, not merged: sums in bfloat16 would lose the small changes it makes."""
    peft = import_module("peft")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # peft calls what transformers is about to rename
            config = peft.PeftConfig.from_pretrained(str(adapter))
            config.inference_mode = True
            found = peft.PeftModel(model, config).load_adapter(str(adapter), "default", is_trainable=False)
    except (ValueError, RuntimeError, KeyError, TypeError, OSError) as error:
        raise InputError(
            f"the adapter does not fit the model ({_first_line(error)})", where=str(adapter), remedy=_TRAINED
        ) from error
    unplaced = [*found.unexpected_keys, *(key for key in found.missing_keys if "lora_" in key)]
    if unplaced:
        raise InputError(
            f"the adapter is of another model: {len(unplaced)} tensors of one have no place in the other",
            where=str(adapter),
            value=sorted(unplaced)[0],
            remedy=_TRAINED,
        )


def _ends(model: Any, tokenizer: Any) -> tuple[int, ...]:
    said = model.generation_config.eos_token_id
    ends = said if isinstance(said, list) else [said]
    return tuple(sorted({int(token) for token in (*ends, tokenizer.eos_token_id) if token is not None}))


def _digest(paths: list[Path]) -> str:
    held = [[path.name, file_sha256(path)] for path in paths]
    return hashlib.sha256(json.dumps(held).encode()).hexdigest()


def _read_json(path: Path, what: str, remedy: str) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{what} ({path.name} cannot be read)", where=str(path.parent), remedy=remedy) from error
    if not isinstance(found, dict):
        raise InputError(f"{what} ({path.name} holds no object)", where=str(path.parent), remedy=remedy)
    return found


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Whatever transformers says about a folder that it cannot load, in one line."""
    try:
        yield
    except Exception as error:
        # Its loaders raise OSError, ValueError, KeyError, ImportError, AttributeError, SafetensorError ... alike.
        raise InputError(
            f"transformers cannot load this folder ({type(error).__name__}: {_first_line(error)})",
            where=str(folder),
            remedy=_REMEDY,
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
