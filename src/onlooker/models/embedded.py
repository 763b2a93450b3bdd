"""The embedded model: a text model fed by detectors, not a vision model.

A small language model runs on the CPU of this machine. Frames and sound reach it only as words that
injected detectors and speech recognition made of them; what they miss, it cannot know. It is a
baseline that anybody can run, and is named as what it is in fingerprint and replies.

Options are answered by log-probability. Small models prefer a letter whatever it stands for, so the
k options are shown in all k rotations: every option stands once under every letter. The next-token
probabilities of the letters, normalised among them, are mapped back to the options and averaged;
what a letter gains by itself, all options gain alike.
"""

from __future__ import annotations

import asyncio
import os
import string
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from onlooker import assets
from onlooker.errors import InputError, ModelError
from onlooker.models.evidence import Evidence, Hear, Perceive, gather
from onlooker.models.llama import Llama
from onlooker.models.request import Modality, Options, Reply, Request, Text

KIND = "a text model fed by detectors, not a vision model"
WEIGHTS: Mapping[str, str] = {
    "smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "qwen-coder-1.5b": "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
}
LETTERS = string.ascii_uppercase + string.ascii_lowercase
_PRIMING = "Answer:"
_DECIMALS = 6


class EmbeddedModel:
    """Answers on this machine; see the module for how.

    ``weights`` names an asset of ``WEIGHTS`` (fetched beforehand) or is the path of a GGUF file.
    ``perceive`` and ``hear`` put frames and sound into words; without one the model does not accept
    that kind of part. ``senses`` names what they are made of (detectors, versions, digests) and
    joins the fingerprint. ``threads`` defaults to the processors this process may use;
    ``max_context_tokens`` caps the trained context, for memory. Raises MissingAsset, InputError.
    """

    def __init__(
        self,
        weights: str = "smollm2",
        *,
        perceive: Perceive | None = None,
        hear: Hear | None = None,
        senses: Mapping[str, str] | None = None,
        threads: int | None = None,
        max_context_tokens: int = 4096,
    ) -> None:
        self._weights = weights
        self._path = _weights_path(weights)
        self._perceive = perceive
        self._hear = hear
        self._senses = dict(senses or {})
        self._threads = threads or _processors()
        self._max_context_tokens = max_context_tokens
        self._loaded: Llama | None = None
        # One thread: the model holds one sequence, and an order of its own keeps it reproducible.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="onlooker-embedded")
        self._closed = False

    @property
    def name(self) -> str:
        """``embedded``, with the weights where they are not the default ones."""
        if self._weights == "smollm2":
            return "embedded"
        return f"embedded:{self._weights if self._weights in WEIGHTS else self._path.stem}"

    @property
    def accepts(self) -> frozenset[Modality]:
        """Text, and what there are detectors for."""
        kinds: list[Modality] = ["text"]
        kinds += ["image"] if self._perceive else []
        kinds += ["sound"] if self._hear else []
        return frozenset(kinds)

    @cached_property
    def fingerprint(self) -> Mapping[str, str]:
        """What it is, the digest of the weights as they lie on disk, runtime and senses."""
        return {
            "kind": KIND,
            "weights": self._path.name,
            "weights_sha256": assets.file_sha256(self._path),
            "runtime": Llama.version(),
            "max_context_tokens": str(self._max_context_tokens),
            "accepts": ",".join(sorted(self.accepts)),
            **{f"senses.{name}": value for name, value in sorted(self._senses.items())},
        }

    @property
    def at_once(self) -> int | None:
        """One: it has the processors to itself."""
        return 1

    async def ask(self, request: Request) -> Reply:
        """Answer on a thread of its own; requests are answered one after the other.

        With options: ``Answer: ID`` (for ``select="all"`` every ID whose probability exceeds 1 / k,
        or the best where none does); temperature and seed play no part. Without: generated words.
        ``details`` hold what was seen and heard, the probability of every option, and how many
        words of the material were kept where the context was too small for all. Raises ModelError
        where even one line of material, or the question alone, does not fit.
        """
        if self._closed:
            raise ModelError("the model was closed", where=self.name)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._answer, request)

    async def close(self) -> None:
        """Wait for the answer under way, then free the weights."""
        self._closed = True
        await asyncio.to_thread(self._worker.shutdown)
        loaded, self._loaded = self._loaded, None
        if loaded is not None:
            await asyncio.to_thread(loaded.close)

    def _answer(self, request: Request) -> Reply:
        evidence = gather(request, self._perceive, self._hear)
        if self._loaded is None:
            self._loaded = Llama(self._path, threads=self._threads, max_context_tokens=self._max_context_tokens)
        prompter = Prompter(self._loaded)
        if evidence.options is None:
            return self._generate(prompter, evidence, request)
        return self._choose(prompter, evidence, evidence.options)

    def _generate(self, prompter: Prompter, evidence: Evidence, request: Request) -> Reply:
        fitted = prompter.fit(evidence, reserve=request.max_output_tokens)
        prompt = prompter.prompt(fitted, None, priming="")
        made = prompter.llama.generate(
            prompt,
            max_tokens=request.max_output_tokens,
            temperature=request.temperature,
            seed=request.seed or 0,
        )
        return Reply(
            text=made.text,
            status="truncated" if made.truncated else "ok" if made.text.strip() else "empty",
            input_tokens=len(prompt),
            output_tokens=made.tokens,
            cost_usd=0.0,
            served_model=self._path.stem,
            details=_account(evidence, fitted),
        )

    def _choose(self, prompter: Prompter, evidence: Evidence, options: Options) -> Reply:
        fitted = prompter.fit(evidence, reserve=1 + len(options.ids))
        mean = mean_over_rotations(prompter, fitted, options)
        order = range(len(options.ids))
        best = max(order, key=lambda i: (mean[i], -i))
        ties = [options.ids[i] for i in order if mean[i] == mean[best]]
        chosen = [best]
        if options.select == "all":
            chosen = [i for i in order if mean[i] > 1 / len(order)] or chosen
        return Reply(
            text=f"{_PRIMING} {', '.join(options.ids[i] for i in chosen)}",
            status="ok",
            input_tokens=len(prompter.prompt(fitted, options, priming=_PRIMING)),
            output_tokens=0,
            cost_usd=0.0,
            served_model=self._path.stem,
            details={
                **_account(evidence, fitted),
                "option_probabilities": dict(zip(options.ids, mean, strict=True)),
                "rotations": len(order),
                **({"tied_for_best": ties} if len(ties) > 1 else {}),
            },
        )


class Prompter:
    """Puts evidence into the tokens of one loaded model."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama

    def prompt(self, evidence: Evidence, options: Options | None, *, priming: str) -> list[int]:
        """The chat template around the words; the assistant's turn begins with ``priming``.

        The options come last, whatever the request has after them, so that all rotations begin with
        the same tokens and only the options are read once more for each.
        """
        return [
            *self.material(evidence),
            *self.question(evidence),
            *(self.llama.tokenize(_lettered(options)) if options else []),
            *self.llama.tail,
            *(self.llama.tokenize(priming) if priming else []),
        ]

    def material(self, evidence: Evidence) -> list[int]:
        """The tokens up to the last words of the episode itself: the questions about an episode begin alike."""
        texts = self._texts(evidence)
        end = max((n for n, text in enumerate(texts, 1) if text.material), default=0)
        return [*self.llama.head, *self._tokens(texts[:end])] if end else []

    def question(self, evidence: Evidence) -> list[int]:
        """The tokens between the material and the options; with the head where there is no material."""
        texts = self._texts(evidence)
        end = max((n for n, text in enumerate(texts, 1) if text.material), default=0)
        return [*([] if end else self.llama.head), *self._tokens(texts[end:])]

    def letters(self, count: int) -> list[int]:
        """The tokens of the first ``count`` letters as they follow the priming: one token each."""
        if count > len(LETTERS):
            raise ModelError(f"at most {len(LETTERS)} options can be lettered", value=count)
        tokens = []
        for letter in LETTERS[:count]:
            spelt = self.llama.tokenize(f" {letter}")
            if len(spelt) != 1:
                raise ModelError("the tokeniser has no single token for a letter", value=letter)
            tokens += spelt
        return tokens

    def fit(self, evidence: Evidence, *, reserve: int) -> Evidence:
        """The evidence, thinned where needed to leave ``reserve`` tokens of the context free."""
        limit = self.llama.context_tokens - reserve
        needed = self._length(evidence)
        if needed <= limit:
            return evidence
        fits, too_many = 0, len(evidence.lines)
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            if self._length(evidence.thinned(middle)) <= limit:
                fits = middle
            else:
                too_many = middle
        if fits == 0:
            taken = f"the request takes {needed} tokens, the context holds {limit} besides the answer"
            question = self._length(evidence.thinned(0))
            if not evidence.lines:
                why, remedy = "there is no material to thin line by line", "ask a shorter question"
            elif question > limit:
                why = f"the question alone, without the material, takes {question}"
                remedy = "ask a shorter question"
            else:
                why = (
                    f"lines are kept whole, and beside the question ({question} tokens) not even the middle one of the "
                    f"{len(evidence.lines)} lines of material fits"
                )
                remedy = "break the material into shorter lines"
            raise ModelError(
                f"{taken}, and {why}",
                where="embedded",
                remedy=f"{remedy}, or use a model with a larger context",
            )
        return evidence.thinned(fits)

    def _length(self, evidence: Evidence) -> int:
        return len(self.prompt(evidence, evidence.options, priming=_PRIMING))

    @staticmethod
    def _texts(evidence: Evidence) -> tuple[Text, ...]:
        return (*evidence.before, *evidence.after)

    def _tokens(self, texts: Sequence[Text]) -> list[int]:
        return self.llama.tokenize("".join(t.text for t in texts)) if texts else []


def mean_over_rotations(prompter: Prompter, evidence: Evidence, options: Options) -> list[float]:
    """Mean probability of every option over all rotations, in the options' order, 6 decimals."""
    count = len(options.ids)
    letters = prompter.letters(count)
    sums = [0.0] * count
    # What all rotations begin with is read once; no result depends on the question before.
    prompter.llama.read(prompter.material(evidence), prompter.question(evidence))
    for shift in range(count):
        order = [(shift + place) % count for place in range(count)]
        rotated = Options(options.ids, tuple(options.texts[i] for i in order))
        prompt = prompter.prompt(evidence, rotated, priming=_PRIMING)
        shown = prompter.llama.option_probabilities(prompt, letters)
        for place, option in enumerate(order):
            sums[option] += shown[place]
    return [round(total / count, _DECIMALS) for total in sums]


def _processors() -> int:
    """How many this process may use; not every system tells them from those it has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _lettered(options: Options) -> str:
    return "".join(f"\n{letter}. {text}" for letter, text in zip(LETTERS, options.texts, strict=False))


def _account(evidence: Evidence, fitted: Evidence) -> dict[str, object]:
    """What the model was told, and how much of it."""
    account: dict[str, object] = {"kind": KIND}
    if evidence.observations is not None:
        account["observations"] = evidence.observations
    if evidence.transcript is not None:
        account["transcript"] = evidence.transcript
    if fitted is not evidence:
        account["thinned"] = "material longer than the context: whole lines left out, evenly spread"
    account["words_total"] = evidence.words
    account["words_kept"] = fitted.words
    return account


def _weights_path(weights: str) -> Path:
    if weights in WEIGHTS:
        return assets.locate(weights, WEIGHTS[weights])
    path = Path(weights)
    if path.suffix != ".gguf":
        known = ", ".join(WEIGHTS)
        raise InputError("unknown weights", value=weights, remedy=f"{known}, or a .gguf file")
    if not path.is_file():
        raise InputError("no such file", where=weights)
    return path
