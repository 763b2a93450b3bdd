"""A language model in this process, on the CPU: llama.cpp through ``xllamacpp``.

Completions are called in process (the call releases the interpreter's lock). The library also opens
a loop-back port; it is the only way to its tokeniser and chat template, and is shut to everybody
else by a random key.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onlooker.errors import MissingExtra, ModelError

_PACKAGE = "xllamacpp"
_MARK = "onlooker-puts-the-prompt-here"
# Lifts the candidates above the rest of the vocabulary, all by the same amount: the softmax over
# everything is then the softmax over the candidates (the rest weighs e^-100 of it).
_LIFT = 100.0


@dataclass(frozen=True, slots=True)
class Generated:
    """Generated words, whether the token budget cut them off, and how many tokens they are."""

    text: str
    truncated: bool
    tokens: int


class Llama:
    """One loaded GGUF model with one sequence. Not safe for two threads at once.

    ``threads`` >= 1; ``max_context_tokens`` caps the trained context. Raises ModelError where the
    file cannot be loaded, MissingExtra where the runtime is not installed.
    """

    def __init__(self, weights: Path, *, threads: int, max_context_tokens: int) -> None:
        # OpenMP reads this once, when loaded: threads that spin starve a busy machine.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            import xllamacpp  # noqa: PLC0415  an extra
        except ModuleNotFoundError as error:
            raise MissingExtra("embedded", "the embedded model") from error
        except ImportError as error:
            raise ModelError(
                f"the runtime of the embedded model cannot be loaded ({error})",
                where=_PACKAGE,
                remedy="install the system library it names (on Debian: apt-get install libgomp1)",
            ) from error
        self._key = secrets.token_hex()
        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.n_ctx = max_context_tokens
        params.n_parallel = 1
        params.api_keys = [self._key]
        params.n_threads_http = 1
        params.verbosity = 0
        params.ui = False
        params.warmup = False
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.cpuparams.poll = params.cpuparams_batch.poll = 0
        # A store of earlier prompts would make a result depend on what was asked before.
        params.cache_ram_mib = 0
        params.n_ctx_checkpoints = 0
        params.cache_idle_slots = False
        try:
            self._server = xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"cannot load the weights ({error})", where=str(weights)) from error
        self._material: list[int] = []
        self._port = urlsplit(self._server.listening_address).port
        about = self._call("GET", "/v1/models", None)["data"][0]["meta"]
        self.context_tokens: int = min(about["n_ctx_train"], max_context_tokens)
        head, tail = self._call("POST", "/apply-template", {"messages": [{"role": "user", "content": _MARK}]})[
            "prompt"
        ].split(_MARK)
        self.head = self.tokenize(head, special=True)
        self.tail = self.tokenize(tail, special=True)

    @staticmethod
    def version() -> str:
        """Name and version of the runtime, for fingerprints."""
        try:
            return f"{_PACKAGE} {metadata.version(_PACKAGE)}"
        except metadata.PackageNotFoundError as error:
            raise MissingExtra("embedded", "the embedded model") from error

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Token ids. Control tokens such as ``<|im_end|>`` count as such only with ``special``."""
        asked = {"content": text, "add_special": False, "parse_special": special}
        tokens: list[int] = self._call("POST", "/tokenize", asked)["tokens"]
        return tokens

    def read(self, material: Sequence[int], question: Sequence[int]) -> None:
        """Compute the beginning ``material`` + ``question``, from which prompts then go on.

        Material that was read last is not computed again. What follows does not depend on that: its last token is
        computed once more on its own either way, so that the state is the same to the bit.
        """
        if not material or list(material) != self._material:
            self._complete(prompt=list(material or question), n_predict=0, cache_prompt=False)
        if material:
            self._complete(prompt=list(material), n_predict=0, cache_prompt=True)
            self._complete(prompt=[*material, *question], n_predict=0, cache_prompt=True)
        self._material = list(material)

    def option_probabilities(self, prompt: Sequence[int], candidates: Sequence[int]) -> list[float]:
        """Next-token probabilities of the candidates, in their order, normalised among them.

        The longest beginning shared with the prompt before is not computed again.
        """
        answer = self._complete(
            prompt=list(prompt),
            n_predict=1,
            n_probs=len(candidates),
            logit_bias=[[token, _LIFT] for token in candidates],
            samplers=["temperature"],
            temperature=1.0,
            seed=0,
            post_sampling_probs=True,
            cache_prompt=True,
        )
        top = answer["choices"][0]["logprobs"]["content"][0]["top_probs"]
        found = {row["id"]: float(row["prob"]) for row in top}
        lost = [token for token in candidates if token not in found]
        if lost:
            raise ModelError("the runtime left out candidates", where=_PACKAGE, value=lost)
        total = sum(found[token] for token in candidates)
        return [found[token] / total for token in candidates]

    def generate(self, prompt: Sequence[int], *, max_tokens: int, temperature: float, seed: int) -> Generated:
        """Words that follow the prompt, up to ``max_tokens``; greedy at temperature 0."""
        self._material = []
        answer = self._complete(
            prompt=list(prompt),
            n_predict=max_tokens,
            temperature=temperature,
            seed=seed,
            cache_prompt=False,
        )
        choice = answer["choices"][0]
        tokens = answer["usage"]["completion_tokens"]
        return Generated(choice["text"], choice["finish_reason"] == "length", tokens)

    def close(self) -> None:
        """Stop the threads of the runtime and free the weights."""
        del self._server

    def _complete(self, **asked: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._server.handle_completions(asked)
        if "choices" not in answer:
            raise ModelError("the runtime failed", where=_PACKAGE, value=answer)
        return answer

    def _call(self, method: str, path: str, asked: object) -> Any:
        # Not urllib: a proxy set for the outside must not see a call to this very process.
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
            body = None if asked is None else json.dumps(asked)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            raise ModelError(f"the runtime refused {path}", where=_PACKAGE, value=said)
        return said
