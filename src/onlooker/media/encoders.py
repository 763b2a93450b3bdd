"""Encoders that put pictures and words into one space, given by the user: none is chosen for anybody, or fetched.

``hf:FOLDER``: a CLIP or SigLIP model of transformers with its tokenizer and image processor in a folder on this
machine. ``package.module:attribute``: an object of one's own with what ``ImageTextEncoder`` lists (a class is called
without arguments).
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, MissingExtra, OnlookerError
from onlooker.media.digest import file_sha256

_REMEDY = "hf:FOLDER for a CLIP or SigLIP model of transformers, or package.module:attribute for an object of your own"
T = TypeVar("T")
_CODE_SUFFIXES = frozenset((".md", ".py", ".lock", ".gitattributes"))


class ImageTextEncoder(Protocol):
    """What chooses frames by a text.

    ``name`` stands in records. ``fingerprint`` stands for everything that decides an embedding, weights and
    preprocessing: what was embedded under one fingerprint is never embedded again. Each method gives one row of floats
    a text or a JPEG file, all of one width; only the rows' directions count.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    def embed_texts(self, texts: list[str]) -> NDArray[np.float32]: ...

    def embed_images(self, jpegs: list[bytes]) -> NDArray[np.float32]: ...


def open_encoder(spec: str, cache_dir: Path | None = None) -> ImageTextEncoder:
    """The encoder that ``spec`` names (see the module); weights are loaded when first needed.

    ``cache_dir``: see ``file_sha256``. Raises ``InputError`` for a folder or an attribute that is not there or not
    such an encoder.
    """
    kind, separator, place = spec.partition(":")
    if not separator or not place:
        raise InputError("unknown encoder", value=spec, remedy=_REMEDY)
    if kind == "hf":
        return FolderEncoder(Path(place), cache_dir)
    return _own(kind, place, spec)


def embed_texts(encoder: ImageTextEncoder, texts: list[str]) -> NDArray[np.float32]:
    """Shape (texts, d). Raises ``OnlookerError`` where the encoder fails, ``InputError`` for other rows."""
    return _embedded(encoder, encoder.embed_texts, texts)


def embed_images(encoder: ImageTextEncoder, jpegs: list[bytes]) -> NDArray[np.float32]:
    """Shape (jpegs, d). Raises as ``embed_texts``."""
    return _embedded(encoder, encoder.embed_images, jpegs)


def _embedded(encoder: ImageTextEncoder, method: Callable[[list[T]], Any], given: list[T]) -> NDArray[np.float32]:
    try:
        found = method(given)
    except OnlookerError:
        raise
    except Exception as error:
        # Foreign code may raise anything; it would fail on every file.
        raise OnlookerError(
            f"the encoder {encoder.name} failed ({type(error).__name__}: {_first_line(error)})"
        ) from error
    return checked_vectors(found, len(given), encoder.name)


def checked_vectors(found: Any, rows: int, name: str) -> NDArray[np.float32]:
    """What an encoder gave as float32, shape (rows, d). Raises ``InputError`` for any other shape or number."""
    try:
        vectors = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"the encoder {name} gives no rows of floats ({error})") from error
    if vectors.ndim != 2 or vectors.shape[0] != rows or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise InputError(
            f"the encoder {name} must give {rows} rows of finite floats, one for each input", value=vectors.shape
        )
    return vectors


class FolderEncoder:
    """CLIP or SigLIP of transformers from ``folder``, on the processor, in float32.

    Texts are cut at the length the model was made for (CLIP 77 tokens, SigLIP 64) and padded to it, as in training.
    Raises ``InputError`` where the folder holds no such model.
    """

    def __init__(self, folder: Path, cache_dir: Path | None = None) -> None:
        try:
            config = json.loads((folder / "config.json").read_bytes())
            kind = config["model_type"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("no model of transformers here", where=str(folder), remedy=_REMEDY) from error
        self._folder = folder
        self._loaded: tuple[Any, Any, Any] | None = None
        self.name = f"{kind}:{folder.resolve().name}"
        files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix not in _CODE_SUFFIXES)
        held = [[p.name, file_sha256(p, cache_dir)] for p in files if not p.name.startswith(".")]
        self.fingerprint = hashlib.sha256(json.dumps([held, _version()]).encode()).hexdigest()

    def embed_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """Shape (texts, d)."""
        model, tokenizer, _ = self._load()
        length = model.config.text_config.max_position_embeddings
        given = tokenizer(texts, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
        wanted = {k: v for k, v in given.items() if k in {"input_ids", "attention_mask"}}
        return _features(model.get_text_features, wanted)

    def embed_images(self, jpegs: list[bytes]) -> NDArray[np.float32]:
        """Shape (jpegs, d)."""
        from PIL import Image  # noqa: PLC0415 - an extra

        model, _, processor = self._load()
        pictures = [Image.open(io.BytesIO(jpeg)).convert("RGB") for jpeg in jpegs]
        return _features(model.get_image_features, dict(processor(images=pictures, return_tensors="pt")))

    def _load(self) -> tuple[Any, Any, Any]:
        if self._loaded is None:
            transformers = import_module("transformers")
            transformers.logging.set_verbosity_error()
            transformers.logging.disable_progress_bar()
            parts = []
            # Pillow resizes the same way on every machine, whatever else is installed.
            for loader, options in (
                (transformers.AutoModel, {}),
                (transformers.AutoTokenizer, {}),
                (transformers.AutoImageProcessor, {"backend": "pil"}),
            ):
                try:
                    parts.append(loader.from_pretrained(str(self._folder), local_files_only=True, **options))
                except (OSError, ValueError, KeyError, ImportError) as error:
                    raise InputError(
                        f"transformers cannot load this folder ({_first_line(error)})",
                        where=str(self._folder),
                        remedy="save model, tokenizer and image processor into one folder",
                    ) from error
            model, tokenizer, processor = parts
            if not (hasattr(model, "get_text_features") and hasattr(model, "get_image_features")):
                raise InputError(
                    "this model does not put images and texts into one space",
                    where=str(self._folder),
                    value=type(model).__name__,
                    remedy=_REMEDY,
                )
            self._loaded = model.eval().float(), tokenizer, processor
        return self._loaded


def _features(method: Any, given: dict[str, Any]) -> NDArray[np.float32]:
    torch = import_module("torch")
    with torch.no_grad():
        found = method(**given)
    # Since transformers 5 the projected vector is a field.
    return np.asarray(getattr(found, "pooler_output", found).numpy(), dtype=np.float32)


def _version() -> str:
    """What runs the model, told from the packages' data: importing them takes seconds."""
    try:
        return f"transformers {version('transformers')}, torch {version('torch')}"
    except PackageNotFoundError as error:
        raise MissingExtra("hf", "an encoder of transformers") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _own(module: str, attribute: str, spec: str) -> ImageTextEncoder:
    try:
        found: Any = import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
        if isinstance(found, type):
            found = found()
    except Exception as error:
        # Foreign code may raise anything while it is imported.
        raise InputError(
            f"this encoder cannot be had ({type(error).__name__}: {_first_line(error)})",
            value=spec,
            remedy=f"let PYTHONPATH lead to the module; {_REMEDY}",
        ) from error
    lacking = [n for n in ("embed_texts", "embed_images") if not callable(getattr(found, n, None))]
    lacking += [n for n in ("name", "fingerprint") if not _is_word(getattr(found, n, None))]
    if lacking:
        raise InputError(
            f"this is no encoder: it lacks {', '.join(lacking)}",
            value=spec,
            remedy="name and fingerprint are texts; embed_texts(list of str) and embed_images(list of JPEG bytes) give "
            "rows of floats",
        )
    encoder: ImageTextEncoder = found
    return encoder


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
