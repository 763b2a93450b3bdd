"""Answers of a loaded vision-language model: a batch of requests written out, or one request's options compared."""

from __future__ import annotations

import gc
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeVar

from onlooker.errors import ModelError, OnlookerError
from onlooker.models.local_hf_inputs import Prompt, Reader, input_lengths
from onlooker.models.local_hf_sampling import Draw, NextToken, StopWhen, refuse_no_numbers
from onlooker.models.request import Options, Reply, Request

BEGUN = "Answer:"
_DECIMALS = 6
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Row:
    """What came out for one prompt: generated ``tokens`` or the ``probabilities`` of the letters."""

    input_tokens: int
    details: dict[str, object]
    tokens: tuple[int, ...] = ()
    probabilities: tuple[float, ...] = ()


class Answers:
    """Used by one thread. ``batch_size``: how many prompts at a time; halved for good when memory does not suffice.

    ``stop``: words that end an answer and are not part of it.
    """

    def __init__(
        self, reader: Reader, model: Any, *, ends: Sequence[int], batch_size: int, stop: Sequence[str]
    ) -> None:
        self._reader, self._model = reader, model
        self._ends, self._stop = frozenset(ends), list(stop)
        self.batch_size = batch_size
        self._shortage: str | None = None

    def write(
        self, requests: Sequence[Request], nobody_waits: Callable[[], bool], where: str
    ) -> list[Reply | Exception]:
        """The replies, all with the same output budget; an error in place of a reply concerns that request only."""
        seeds = [_seed(request) for request in requests]
        prompts: list[tuple[Prompt, int | None]] = []
        refused: dict[int, Exception] = {}
        for n, request in enumerate(requests):
            try:
                prompts.append((self._reader.prompt(request, answer_tokens=request.max_output_tokens), seeds[n]))
            except OnlookerError as error:
                refused[n] = error

        def generate(batch: Sequence[tuple[Prompt, int | None]]) -> list[Row]:
            return self._generate([prompt for prompt, _ in batch], [seed for _, seed in batch], nobody_waits)

        rows = iter(self._in_batches(prompts, generate, where))
        found: list[Reply | Exception] = []
        for n, request in enumerate(requests):
            row = refused[n] if n in refused else next(rows)
            found.append(row if isinstance(row, Exception) else self._reply(request, row, seeds[n]))
        return found

    def compare(self, request: Request, options: Options, where: str) -> Reply:
        """The options by the probability of their letters, averaged over all rotations of their texts.

        The options are shown in all k rotations, in their place in the request, so that each stands once under every
        letter, and the answer is begun with ``Answer:``. The next token's probabilities, normalised among the k
        letters, are mapped back and averaged: what a letter gains by itself, all options gain alike. k forward passes.
        """
        count = len(options.ids)
        letters = self._reader.letters(options.ids)
        prompts = []
        for shift in range(count):
            turned = Options(options.ids, options.texts[shift:] + options.texts[:shift], options.select)
            parts = tuple(turned if part is options else part for part in request.parts)
            prompts.append(self._reader.prompt(replace(request, parts=parts), answer_tokens=1, begun=BEGUN))
        rows = self._in_batches(prompts, lambda batch: self._weigh(batch, letters), where)
        sums = [0.0] * count
        for shift, row in enumerate(rows):
            if isinstance(row, Exception):
                raise row
            for place, probability in enumerate(row.probabilities):
                sums[(shift + place) % count] += probability
        first = rows[0]
        assert isinstance(first, Row)
        return _choice(options, [round(total / count, _DECIMALS) for total in sums], first)

    def _generate(
        self, prompts: Sequence[Prompt], seeds: Sequence[int | None], nobody_waits: Callable[[], bool]
    ) -> list[Row]:
        transformers, torch = import_module("transformers"), import_module("torch")
        inputs = self._reader.tensors(prompts)
        requests = [prompt.request for prompt in prompts]
        draws = [
            None if seed is None else Draw(request.temperature, request.top_p, seed)
            for request, seed in zip(requests, seeds, strict=True)
        ]
        pad = self._reader.pad_token
        banned = [*self._reader.media_tokens, *(() if pad in self._ends else (pad,))]
        tokenizer = {"stop_strings": self._stop, "tokenizer": self._reader.tokenizer} if self._stop else {}
        with torch.inference_mode():
            made = self._model.generate(
                **inputs,
                max_new_tokens=prompts[0].answer_tokens,
                do_sample=False,  # the processor of logits draws
                logits_processor=[NextToken(requests, draws, banned)],
                stopping_criteria=transformers.StoppingCriteriaList([StopWhen(nobody_waits)]),
                **tokenizer,
            )
        written = made[:, inputs["input_ids"].shape[1] :].tolist()
        return [
            Row(needed, {**sizes, **self._account(len(prompts))}, tokens=tuple(tokens))
            for tokens, needed, sizes in zip(
                written, input_lengths(inputs), self._reader.sizes(prompts, inputs), strict=True
            )
        ]

    def _weigh(self, prompts: Sequence[Prompt], letters: Sequence[int]) -> list[Row]:
        torch = import_module("torch")
        inputs = self._reader.tensors(prompts)
        with torch.inference_mode():
            made = self._model.generate(
                **inputs, max_new_tokens=1, do_sample=False, output_logits=True, return_dict_in_generate=True
            )
        refuse_no_numbers(made.logits[0])
        shares = made.logits[0][:, list(letters)].double().softmax(dim=-1).tolist()
        return [
            Row(needed, {**sizes, **self._account(len(prompts))}, probabilities=tuple(share))
            for share, needed, sizes in zip(
                shares, input_lengths(inputs), self._reader.sizes(prompts, inputs), strict=True
            )
        ]

    def _in_batches(
        self, prompts: Sequence[Result], work: Callable[[Sequence[Result]], list[Row]], where: str
    ) -> list[Row | Exception]:
        """Rows in order. Out of memory: half as many at a time. Any other failure: each of the batch by itself."""
        found: list[Row | Exception] = []
        while len(found) < len(prompts):
            batch = prompts[len(found) : len(found) + self.batch_size]
            error = None
            try:
                found += work(batch)
            except Exception as raised:  # noqa: BLE001 - a model is foreign code; what it raised is told below
                error = raised.with_traceback(None)  # which would hold on to the tensors
            if error is None:
                continue
            if _is_out_of_memory(error):
                self._make_room()
                if len(batch) > 1:
                    self._halve(len(batch))
                else:
                    found.append(_too_large(error, where))
            elif len(batch) > 1:
                for one in batch:
                    found += self._in_batches([one], work, where)
            else:
                found.append(error if isinstance(error, OnlookerError) else _failed(error, where))
        return found

    def _halve(self, tried: int) -> None:
        self.batch_size = max(1, tried // 2)
        self._shortage = f"a batch of {tried} did not fit into memory: {self.batch_size} at a time from then on"

    def _make_room(self) -> None:
        gc.collect()
        torch = import_module("torch")
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _account(self, batch: int) -> dict[str, object]:
        return {"batch": batch, **({"out_of_memory": self._shortage} if self._shortage else {})}

    def _reply(self, request: Request, row: Row, seed: int | None) -> Reply:
        tokens = list(row.tokens)
        ended = next((n for n, token in enumerate(tokens) if token in self._ends), None)
        pad = next((n for n, token in enumerate(tokens) if token == self._reader.pad_token), None)
        written = tokens[: ended if ended is not None else pad]
        text = self._reader.text(written)
        stops = [at for word in self._stop if (at := text.find(word)) >= 0]
        is_cut = ended is None and not stops and len(written) >= request.max_output_tokens
        text = text[: min(stops)] if stops else text
        return Reply(
            text=text,
            status="truncated" if is_cut else "ok" if text.strip() else "empty",
            input_tokens=row.input_tokens,
            output_tokens=len(written),
            cost_usd=0.0,
            details={
                **row.details,
                **({} if seed is None else {"seed": seed}),
                **({"not_sent": ["json_object"]} if request.json_object else {}),
            },
        )


def _seed(request: Request) -> int | None:
    """None for greedy; a seed of our own, which the reply tells, where the request samples and names none."""
    if request.temperature == 0:
        return None
    return secrets.randbits(31) if request.seed is None else request.seed


def _choice(options: Options, mean: Sequence[float], row: Row) -> Reply:
    order = range(len(mean))
    best = max(order, key=lambda i: (mean[i], -i))
    ties = [options.ids[i] for i in order if mean[i] == mean[best]]
    chosen = [best]
    if options.select == "all":
        chosen = [i for i in order if mean[i] > 1 / len(order)] or chosen
    return Reply(
        text=f"{BEGUN} {', '.join(options.ids[i] for i in chosen)}",
        status="ok",
        input_tokens=row.input_tokens,
        output_tokens=0,
        cost_usd=0.0,
        details={
            **row.details,
            "option_probabilities": dict(zip(options.ids, mean, strict=True)),
            "rotations": len(order),
            **({"tied_for_best": ties} if len(ties) > 1 else {}),
        },
    )


def _is_out_of_memory(error: Exception) -> bool:
    torch = import_module("torch")
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


def _too_large(error: Exception, where: str) -> ModelError:
    return ModelError(
        f"a single request does not fit into memory ({_first_line(error)})",
        where=where,
        remedy="send fewer or smaller frames, or use a smaller model or dtype=bfloat16",
    )


def _failed(error: Exception, where: str) -> ModelError:
    return ModelError(f"the model failed ({type(error).__name__}: {_first_line(error)})", where=where)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
