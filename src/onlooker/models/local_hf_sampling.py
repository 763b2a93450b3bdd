"""How the next token is chosen: greedily or drawn, each row of a batch by itself.

A draw uses that the largest of log-probabilities with Gumbel noise is distributed as a draw from them (Gumbel 1954;
Maddison, Tarlow, Minka 2014, section 2). Each row has its own generator on the processor, so that neither the batch nor
the kind of GPU decides what is drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from onlooker.errors import ModelError
from onlooker.models.request import Request


@dataclass(frozen=True, slots=True)
class Draw:
    """How one row is sampled. ``temperature`` > 0, ``top_p`` in (0, 1] or None, ``seed`` as the request's."""

    temperature: float
    top_p: float | None
    seed: int


def generator_seed(request: Request, seed: int) -> int:
    """From the seed and the request, so that two items of one seed do not draw the same noise; 63 bits."""
    named = json.dumps(["local sampling", seed, request.prompt_sha256(), request.media_sha256()])
    return int.from_bytes(hashlib.sha256(named.encode()).digest()[:8], "big") >> 1


class NextToken:
    """The processor of logits that ``generate`` calls: afterwards the largest of each row is the token to take.

    ``banned`` tokens are never taken. ``draws``: for each row how it is sampled, None for greedily.
    """

    def __init__(self, requests: Sequence[Request], draws: Sequence[Draw | None], banned: Sequence[int]) -> None:
        self._torch = import_module("torch")
        self._draws, self._banned = draws, list(banned)
        self._generators = [
            None if draw is None else self._torch.Generator().manual_seed(generator_seed(request, draw.seed))
            for request, draw in zip(requests, draws, strict=True)
        ]

    def __call__(self, _tokens: Any, scores: Any) -> Any:
        """``scores``: logits, shape (rows, vocabulary). Raises ModelError where they are no numbers."""
        scores = scores.float()
        refuse_no_numbers(scores)
        scores[:, self._banned] = -float("inf")
        for row, (draw, generator) in enumerate(zip(self._draws, self._generators, strict=True)):
            if draw is not None:
                scores[row] = self._noisy(scores[row], draw, generator)
        return scores

    def _noisy(self, logits: Any, draw: Draw, generator: Any) -> Any:
        torch = self._torch
        logits = (logits / draw.temperature).log_softmax(dim=-1)
        if draw.top_p is not None and draw.top_p < 1:
            ordered, places = logits.sort(descending=True)
            before = ordered.exp().cumsum(dim=-1) - ordered.exp()
            # The most probable ones that together reach top_p; the first always.
            logits[places[1:][before[1:] >= draw.top_p]] = -float("inf")
        waits = torch.empty(logits.shape, dtype=torch.float64).exponential_(generator=generator)
        return logits - waits.log().to(logits.dtype).to(logits.device)  # mps knows no float64


def refuse_no_numbers(logits: Any) -> None:
    """Raise ModelError where a logit is no number: the largest of them would be some token that nobody predicted."""
    if logits.isnan().any():
        raise ModelError(
            "the model computed no numbers (NaN): its weights are broken, or too large for this kind of numbers",
            remedy="use dtype=bfloat16 or dtype=float32, or fetch the weights again",
        )


class StopWhen:
    """The stopping criterion that ``generate`` asks after every token: stops all rows once nobody waits for them."""

    def __init__(self, nobody_waits: Callable[[], bool]) -> None:
        self._nobody_waits = nobody_waits

    def __call__(self, tokens: Any, _scores: Any, **_: Any) -> Any:
        torch = import_module("torch")
        return torch.full((len(tokens),), self._nobody_waits(), dtype=torch.bool, device=tokens.device)
