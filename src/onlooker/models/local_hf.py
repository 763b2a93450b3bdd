"""``hf:FOLDER`` and ``hf:FOLDER+ADAPTER``: a vision-language model of transformers that runs in this process.

Any model that ``AutoModelForImageTextToText`` loads with a processor and a chat template (Qwen-VL and its like), with a
LoRA adapter or without. Nothing is fetched. The adapter is not merged into the weights, so that it acts as in training.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from onlooker.errors import InputError, ModelError
from onlooker.models.capabilities import refuse_unaccepted
from onlooker.models.local_hf_answers import Answers
from onlooker.models.local_hf_folder import (
    check_folders,
    choose_device,
    device_name,
    folder_digests,
    load_folder,
    runtime_versions,
)
from onlooker.models.local_hf_inputs import OWN_OF_TEMPLATE, Reader
from onlooker.models.options import ModelOptions
from onlooker.models.request import Image, Modality, Options, Reply, Request

_TEXT: frozenset[Modality] = frozenset(("text",))
_ACCEPTS: frozenset[Modality] = _TEXT | frozenset(("image",))
# How long a batch that is not full waits for more requests: what it takes to prepare one, little against an answer.
_GATHER_S = 0.05


class LocalSettings(BaseModel):
    """What ``--set NAME=VALUE`` can say to such a model.

    ``device``: ``auto`` (GPU where there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``. ``dtype``: ``auto`` is
    bfloat16 on a GPU, float32 on the processor. ``batch_size``: requests answered together. ``scoring``: ``logprobs``
    answers requests with options by the probability of their letters instead of words. ``stop``: words that end an
    answer. ``max_context_tokens`` lowers the trained context. ``chat_template_kwargs``: variables of the template.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    device: str = "auto"
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    batch_size: int = Field(1, ge=1)
    scoring: Literal["generate", "logprobs"] = "generate"
    # An empty one would end every answer before its first word.
    stop: list[Annotated[str, Field(min_length=1)]] = []
    max_context_tokens: int | None = Field(None, ge=1)
    chat_template_kwargs: dict[str, Any] = {}


@dataclass(slots=True)
class _Asked:
    """A request on its way. ``compared``: the options that are compared instead of words being written.

    ``is_left``: whoever asked was cancelled.
    """

    request: Request
    compared: Options | None
    answer: Future[Reply] = field(default_factory=Future)
    is_left: bool = False


class HFModel:
    """Answers on a thread of its own. The folder's names are checked now, its weights loaded with the first ask.

    ``options``: ``accepts`` (of text and image) and ``settings`` (``LocalSettings``). Raises InputError where a folder
    is missing or holds no such model, and for other options; MissingExtra.
    """

    def __init__(self, folder: Path, *, adapter: Path | None = None, options: ModelOptions | None = None) -> None:
        self._folder, self._adapter = folder, adapter
        options = options or ModelOptions()
        options.refuse_others(("accepts", "settings"), self.name)
        if options.accepts is not None and not options.accepts <= _ACCEPTS:
            raise InputError(
                "a model of transformers is shown text and images only",
                where=self.name,
                value=sorted(options.accepts),
                remedy="leave out --accepts: videos reach it as frames",
            )
        self._accepts = _ACCEPTS if options.accepts is None else options.accepts | _TEXT
        self._settings = _settings(options, self.name)
        check_folders(folder, adapter)
        self._answers: Answers | None = None
        self._waiting: deque[_Asked] = deque()
        self._lock = threading.Lock()
        # One thread: the device is one, and the memory of two answers at a time is a batch's.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="onlooker-hf")
        self._closed = False

    @property
    def name(self) -> str:
        """``hf:FOLDER`` or ``hf:FOLDER+ADAPTER``, the folders without their paths."""
        names = [path.resolve().name for path in (self._folder, self._adapter) if path is not None]
        return f"hf:{'+'.join(names)}"

    @property
    def accepts(self) -> frozenset[Modality]:
        """Text and images: videos reach it as frames, and sound does not."""
        return self._accepts

    @cached_property
    def fingerprint(self) -> Mapping[str, str]:
        """Digests of weights, rules and adapter, and all that decides an answer but the size of the batch.

        Reads every file of the folder. Raises InputError where the device is not here.
        """
        device, dtype = choose_device(self._settings.device, self._settings.dtype)
        decided = self._settings.model_dump_json(
            include={"scoring", "stop", "max_context_tokens", "chat_template_kwargs"}
        )
        return {
            "kind": "a transformers model on this machine",
            **folder_digests(self._folder, self._adapter),
            "device": device_name(device),
            "dtype": dtype,
            "versions": runtime_versions(),
            "settings": decided,
            "accepts": ",".join(sorted(self._accepts)),
        }

    @property
    def at_once(self) -> int | None:
        """The size of a batch."""
        return self._settings.batch_size

    async def ask(self, request: Request) -> Reply:
        """Answer, together with others that were asked at the same time, as far as the size of the batch allows.

        Temperature 0 is greedy; else the reply is drawn by the seed of the request (``details`` tell the one that was
        taken where it has none), the same for the same seed. ``details`` hold the sizes of the pictures as given and as
        the model sees them. There is no JSON mode: ``not_sent`` tells. Raises ModelError where a request is too long
        for the context or the memory, or holds what the model does not take; InputError where the model cannot be
        loaded.
        """
        if self._closed:
            raise ModelError("the model was closed", where=self.name)
        refuse_unaccepted(request, self._accepts, self.name)
        if request.thinking_tokens is not None:
            raise ModelError(
                "there is no budget for thinking here",
                where=self.name,
                value=request.thinking_tokens,
                remedy="leave it out, or use a variable of the chat template (--set chat_template_kwargs.NAME=VALUE)",
            )
        asked = _Asked(request, self._compared(request))
        with self._lock:
            self._waiting.append(asked)
        self._worker.submit(self._serve)
        try:
            return await asyncio.wrap_future(asked.answer)
        except asyncio.CancelledError:
            asked.is_left = True
            raise

    async def close(self) -> None:
        """Wait for the answers under way, then free the weights."""
        self._closed = True
        await asyncio.to_thread(self._worker.shutdown)
        if self._answers is not None:
            self._answers = None
            await asyncio.to_thread(_free)

    def _serve(self) -> None:
        """Answer the request that has waited longest, and those that go with it."""
        batch = self._gather()
        if not batch:
            return
        try:
            answers = self._loaded()
            for asked, found in zip(batch, self._answer(answers, batch), strict=True):
                if isinstance(found, Exception):
                    asked.answer.set_exception(found)
                else:
                    asked.answer.set_result(found)
        except BaseException as error:  # noqa: BLE001 - whoever waits is told, whatever it was
            for asked in batch:
                if not asked.answer.done():
                    asked.answer.set_exception(error)

    def _answer(self, answers: Answers, batch: Sequence[_Asked]) -> Sequence[Reply | Exception]:
        first = batch[0]
        if first.compared is not None:
            return [answers.compare(first.request, first.compared, self.name)]
        return answers.write([a.request for a in batch], lambda: all(a.is_left for a in batch), self.name)

    def _compared(self, request: Request) -> Options | None:
        if self._settings.scoring != "logprobs":
            return None
        found = [part for part in request.parts if isinstance(part, Options)]
        if len(found) > 1:
            raise ModelError("the request holds options twice: their letters cannot be told apart", where=self.name)
        return found[0] if found else None

    def _gather(self) -> list[_Asked]:
        """Up to a batch of requests with one output budget, with pictures or without; compared ones by themselves."""
        most = self._settings.batch_size if self._answers is None else self._answers.batch_size
        until = time.monotonic() + _GATHER_S
        while 0 < len(self._waiting) < most and time.monotonic() < until:
            time.sleep(_GATHER_S / 10)
        batch: list[_Asked] = []
        with self._lock:
            for asked in list(self._waiting):
                if len(batch) < most and (not batch or _go_together(batch[0], asked)):
                    self._waiting.remove(asked)
                    if asked.answer.set_running_or_notify_cancel():
                        batch.append(asked)
        return batch

    def _loaded(self) -> Answers:
        if self._answers is None:
            device, dtype = choose_device(self._settings.device, self._settings.dtype)
            loaded = load_folder(self._folder, self._adapter, device, dtype)
            reader = Reader(
                loaded,
                where=self.name,
                template_settings=self._settings.chat_template_kwargs,
                max_context_tokens=self._settings.max_context_tokens,
            )
            self._answers = Answers(
                reader,
                loaded.model,
                ends=loaded.ends,
                batch_size=self._settings.batch_size,
                stop=self._settings.stop,
            )
        return self._answers


def _go_together(one: _Asked, other: _Asked) -> bool:
    """In a batch, all have the same budget for the answer, and pictures or none."""
    return one.compared is None and other.compared is None and _shape(one.request) == _shape(other.request)


def _shape(request: Request) -> tuple[int, bool]:
    return request.max_output_tokens, any(isinstance(part, Image) for part in request.parts)


def _settings(options: ModelOptions, where: str) -> LocalSettings:
    try:
        settings = LocalSettings.model_validate(dict(options.settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(
            f"{first['msg']} ({'.'.join(map(str, first['loc']))})",
            where=f"--set of {where}",
            value=first["input"],
            remedy=f"some of {', '.join(LocalSettings.model_fields)}",
        ) from error
    taken = sorted(OWN_OF_TEMPLATE & settings.chat_template_kwargs.keys())
    if taken:
        raise InputError(
            "this decides how a request is put together, and is no variable of a chat template",
            where=f"--set of {where}",
            value=f"chat_template_kwargs.{taken[0]}",
            remedy="leave it out",
        )
    return settings


def _free() -> None:
    gc.collect()
    torch = import_module("torch")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
