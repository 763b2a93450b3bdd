"""What a run will ask and cost, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from onlooker.errors import InputError, MediaError
from onlooker.models.book import CallBook, serving_path
from onlooker.models.prices import estimate_input_tokens, most_output_tokens
from onlooker.models.request import Image
from onlooker.run.execute import Session
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.plan import Call

# Media of so many calls of a condition are read; the others are taken to be like them.
LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one condition of a run still asks.

    calls          that are owed and not in the ledger yet
    looked_at      so many of them were prepared, evenly over the plan; they stand for the others
    unreadable     calls whose media cannot be read; they cost nothing and are left out of what follows
    in_cache       calls that the shared cache answers; left out of what follows too
    images, input_tokens, output_tokens   tokens by the rule of ``onlooker.models.prices.RULE``, replies at their cap
    cost_usd       at most, in a batch where the session asks in batches; None: the price is unknown
    """

    condition: str
    calls: int
    looked_at: int
    unreadable: int
    in_cache: int
    images: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    def document(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def estimate(session: Session, looked_at: int = LOOKED_AT) -> list[Estimate]:
    """One row a condition, in the plan's order. Reads media (into the cache that the run uses), sends nothing."""
    finished = {}
    path = session.run_dir / LEDGER_NAME
    if path.is_file():
        ledger = Ledger(path)
        try:
            finished = ledger.finished()
        finally:
            ledger.close()
    owed: dict[str, list[Call]] = {condition.name: [] for condition in session.plan.conditions}
    for call in session.plan.calls():
        if not all(finished.get(key, False) for key in call.keys):
            owed[call.condition.name].append(call)
    cache = None if session.cache is None else CallBook.shared(session.cache)
    try:
        return [_of_condition(session, name, calls, looked_at, cache) for name, calls in owed.items()]
    finally:
        if cache is not None:
            cache.close()


def _of_condition(
    session: Session, name: str, calls: Sequence[Call], looked_at: int, cache: CallBook | None
) -> Estimate:
    step = max(1.0, len(calls) / looked_at)
    chosen = [calls[int(n * step)] for n in range(min(len(calls), looked_at))]
    price = session.prices.find(session.model.name, serving_path(session.model.fingerprint))
    images = read = written = unreadable = in_cache = 0
    cost_usd: float | None = 0.0
    for call in chosen:
        try:
            delivered = session.deliver(call)
        except (MediaError, InputError):
            unreadable += 1
            continue
        request = session.request(call, delivered.given)
        if cache is not None and cache.answer(session.digests(call, request).call) is not None:
            in_cache += 1
            continue
        images += sum(isinstance(part, Image) for part in request.parts)
        read += estimate_input_tokens(request)
        written += most_output_tokens(request)
        most_usd = None if price is None else price.most_usd(request)
        if most_usd is not None and session.poll_s is not None:
            most_usd = None if price is None or price.batch is None else most_usd * price.batch
        cost_usd = None if cost_usd is None or most_usd is None else cost_usd + most_usd
    scale = len(calls) / len(chosen) if chosen else 0.0
    return Estimate(
        name,
        len(calls),
        len(chosen),
        unreadable=round(unreadable * scale),
        in_cache=round(in_cache * scale),
        images=round(images * scale),
        input_tokens=round(read * scale),
        output_tokens=round(written * scale),
        cost_usd=None if cost_usd is None else cost_usd * scale,
    )
