"""Asking through a provider's batch API: many calls handed over at once, answered within a day, for less.

A batch is paid for from the moment it is submitted. So the ledger knows its calls before that and its handle before
anything else is done with it: whoever is killed finds the batch again and fetches it, and nothing is submitted twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from onlooker.errors import InputError, MediaError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.batch import BatchState
from onlooker.models.book import Digests, Try
from onlooker.models.gateway import Answered
from onlooker.models.request import Image, Reply, Request, Sound, Video
from onlooker.models.soundness import sound_reply
from onlooker.run.ledger import ROLE, BatchCall, Entry

if TYPE_CHECKING:
    from onlooker.models.batch import BatchModel
    from onlooker.models.gateway import Gateway
    from onlooker.run.execute import Session
    from onlooker.run.ledger import Ledger
    from onlooker.run.plan import Call
    from onlooker.run.progress import Progress
    from onlooker.run.tally import Tally

# Media of one batch are in memory while it is submitted.
MOST_BYTES = 100_000_000
_SUBMITS = 3


class Batches:
    """The batches of one session of a run. ``poll_s``: seconds between two looks at a batch."""

    def __init__(
        self, session: Session, ledger: Ledger, gateway: Gateway, batch: BatchModel, tally: Tally, poll_s: float
    ) -> None:
        self._session, self._ledger, self._gateway, self._batch = session, ledger, gateway, batch
        self._tally, self._poll_s = tally, poll_s
        self._calls = {call.keys[0]: call for call in session.plan.calls()}
        self._failed: list[str] = []

    async def work(self, waiting: Sequence[Call], progress: Progress) -> None:
        """Submit what is owed, in as many batches as it takes, then wait for all of them and record the answers.

        Raises ``QuotaExhausted`` where the budget or the account ends; the batches submitted until then are fetched
        by the next session. What a batch brings no result for stays owed.
        """
        handles = await self._found_again()
        under_way = {call.key for number in handles for call in self._ledger.batch_calls(number)}
        owed = [call for call in waiting if call.keys[0] not in under_way]
        for chunk in self._chunks(owed, progress):
            number = self._ledger.plan_batch([call for call, _ in chunk])
            handle = await self._submit([(call.call_sha256, request) for call, request in chunk])
            self._ledger.keep_handle(number, handle)
            handles[number] = handle
        # Of the requests only the parameters are needed from here on.
        for number, handle in handles.items():
            await self._fetch(number, handle, progress)
        if self._failed:
            self._session.stop("; ".join(self._failed))

    async def _found_again(self) -> dict[int, str]:
        """The batches of earlier sessions; one that was never submitted is forgotten, so that its calls are owed."""
        handles: dict[int, str] = {}
        for number, known in self._ledger.open_batches().items():
            handle = known
            if handle is None:
                handle = await self._batch.find([call.call_sha256 for call in self._ledger.batch_calls(number)])
                if handle is None:
                    self._ledger.end_batch(number)
                    continue
                self._ledger.keep_handle(number, handle)
            handles[number] = handle
            if self._gateway.budget is not None:
                held = (call.sent.get("most_usd", 0.0) for call in self._ledger.batch_calls(number))
                self._gateway.budget.reserved_usd += sum(held)
        return handles

    def _chunks(self, owed: Sequence[Call], progress: Progress) -> Iterator[list[tuple[BatchCall, Request]]]:
        """The calls that are to be sent, as many at a time as a batch holds. Known answers are recorded on the way."""
        most_calls = self._batch.limits.max_calls
        most_bytes = min(self._batch.limits.max_bytes, MOST_BYTES)
        chunk: list[tuple[BatchCall, Request]] = []
        size, seen = 0, set[str]()
        for call in owed:
            prepared = self._prepare(call, progress)
            if prepared is None or prepared[0].call_sha256 in seen:  # a second call of one content waits for its answer
                continue
            weight = _bytes(prepared[1])
            if chunk and (len(chunk) == most_calls or size + weight > most_bytes):
                yield chunk
                chunk, size = [], 0
            try:
                prepared[0].sent["most_usd"] = self._reserve(prepared[1])
            except QuotaExhausted:
                if chunk:
                    yield chunk
                raise
            chunk.append(prepared)
            seen.add(prepared[0].call_sha256)
            size += weight
        if chunk:
            yield chunk

    def _prepare(self, call: Call, progress: Progress) -> tuple[BatchCall, Request] | None:
        session = self._session
        started = time.monotonic()
        try:
            delivered = session.deliver(call)
            session.check_sources(call, delivered)
        except (MediaError, InputError) as error:
            seconds = time.monotonic() - started
            self._record(session.failed(call, type(error).__name__, error, seconds), progress)
            return None
        request = session.request(call, delivered.given)
        found = session.digests(call, request)
        words = {"text": request.text, "media": delivered.record}
        known = self._gateway.known(found)
        if known is not None:
            self._record(session.answered(call, known, words), progress, hit=True)
            return None
        settings = {name: getattr(request, name) for name in _SETTINGS}
        sent = {"prompt": found.prompt, "media": found.media, "settings": settings, "words": words}
        return BatchCall(found.call, call.keys[0], sent), request

    def _reserve(self, request: Request) -> float:
        """Hold back what the call can cost at most. Raises ``QuotaExhausted`` before it is put into a batch."""
        budget, price = self._gateway.budget, self._gateway.price
        if budget is None or price is None:
            return 0.0
        most_usd = price.most_usd(request)
        if most_usd is None or price.batch is None:
            raise InputError(
                "a budget needs the price of every call, and that of this one in a batch is not known",
                where=self._gateway.name,
                remedy="say 'batch: 0.5' (what part of the price it costs) in --prices",
            )
        budget.hold(most_usd * price.batch, self._gateway.name)
        return most_usd * price.batch

    async def _submit(self, calls: Sequence[tuple[str, Request]]) -> str:
        """The handle of the batch. A failure on the way may have come after the batch was taken: that is looked up."""
        for attempt in range(1, _SUBMITS + 1):
            try:
                return await self._batch.submit(calls)
            except TransientModelError:
                handle = await self._batch.find([key for key, _ in calls])
                if handle is not None:
                    return handle
                if attempt == _SUBMITS:
                    raise
                await asyncio.sleep(self._poll_s)
        raise AssertionError("the loop returns or raises")

    async def _fetch(self, number: int, handle: str, progress: Progress) -> None:
        calls = {call.call_sha256: call for call in self._ledger.batch_calls(number)}
        submitted = time.monotonic()
        while (state := await self._state(handle)).status == "running":
            until = time.monotonic() + self._poll_s
            while (left_s := until - time.monotonic()) > 0:
                if self._session.is_stopping:
                    return  # the next session fetches it
                await asyncio.sleep(min(left_s, 0.5))
        requests = {key: Request((), **call.sent["settings"]) for key, call in calls.items()}
        if state.status == "failed":
            self._failed.append(f"the batch {handle} failed as a whole, {state.reason or 'no reason given'}")
        results = await self._batch.fetch(handle, requests) if state.status == "ended" else {}
        for key, call in calls.items():
            result = results.get(key)
            planned = self._calls.get(call.key)
            if result is None or planned is None or all(self._ledger.is_final(k) for k in planned.keys):
                continue
            self._record_result(planned, call, result, time.monotonic() - submitted, progress)
        self._ledger.end_batch(number)

    async def _state(self, handle: str) -> BatchState:
        try:
            return await self._batch.poll(handle)
        except TransientModelError as error:
            return BatchState("running", str(error))  # it goes on, whether it can be looked at or not

    def _record_result(
        self, planned: Call, call: BatchCall, result: Reply | ModelError, seconds: float, progress: Progress
    ) -> None:
        session, gateway = self._session, self._gateway
        found = Digests(call.call_sha256, call.sent["prompt"], call.sent["media"])
        if isinstance(result, Reply):
            result = sound_reply(result)
            result = replace(result, cost_usd=self._cost_usd(result))
            outcome, message, reply = str(result.status), "", result
            entries = session.answered(planned, Answered(result, found, False, seconds), call.sent["words"])
        else:
            outcome, message, reply = type(result).__name__, str(result), None
            entries = session.failed(planned, "model", result, seconds, found, call.sent["words"])
        attempt = Try(
            *(found.call, planned.label, ROLE, f"{gateway.path} (batch)", gateway.name, time.time(), seconds),
            *(outcome, message, reply, None if reply is None else reply.cost_usd),
            most_usd=call.sent.get("most_usd") if reply is not None and reply.cost_usd is None else None,
        )
        # Both or none: fetched again after a kill in between, the call would stand in the book twice, with its cost.
        with self._ledger.book.transaction():
            gateway.store(attempt, keep=reply is not None)
            self._record(entries, progress)

    def _cost_usd(self, reply: Reply) -> float | None:
        price = self._gateway.price
        if reply.cost_usd is not None or price is None or price.batch is None:
            return reply.cost_usd
        cost = price.cost_usd(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        return None if cost is None else cost * price.batch

    def _record(self, entries: Sequence[Entry], progress: Progress, *, hit: bool = False) -> None:
        self._ledger.record(*(entry for entry in entries if not self._ledger.is_final(entry.key)))
        self._tally.count(entries[0], hit=hit)
        progress.advance(failed=not entries[0].final)


_SETTINGS = tuple(field.name for field in fields(Request) if field.name not in ("parts", "system"))


def _bytes(request: Request) -> int:
    """About how long a call is in the body of a batch: media in base64, four bytes for three."""
    size = len(request.text.encode("utf-8", "surrogatepass")) + 2000
    for part in request.parts:
        match part:
            case Image():
                size += len(part.jpeg) * 4 // 3 + 200
            case Sound():
                size += len(part.wav) * 4 // 3 + 200
            case Video():
                size += part.size_bytes * 4 // 3 + 200
            case _:
                pass
    return size
