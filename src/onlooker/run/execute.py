"""Carries out a plan: delivers media, renders, asks, records. Killed at any moment, it goes on where it stopped."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, MediaError, ModelError, OnlookerError, QuotaExhausted
from onlooker.models.book import CallBook, Digests, digests
from onlooker.models.gateway import Answered, Gateway
from onlooker.models.prices import Budget, Prices
from onlooker.models.request import Model, Part, Request
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.protocol.shown import OPTIONS_SHOWN
from onlooker.protocol.variation import sample_of
from onlooker.records.public import Episode
from onlooker.run.delivery import Delivered, Delivery, Want, want_of
from onlooker.run.export import PREDICTIONS_NAME, export, run_card
from onlooker.run.ledger import LEDGER_NAME, ROLE, CallKey, Entry, Ledger, refuse_lost
from onlooker.run.lock import locked
from onlooker.run.plan import Call, Plan, freeze
from onlooker.run.progress import Progress
from onlooker.run.sources import Sources
from onlooker.run.tally import Tally

# Decoding and detecting run in threads beside the event loop; two of them keep two cores busy.
_MEDIA_THREADS = 2
# Deliveries kept for the items of one episode that follow one another.
_KEPT_DELIVERIES = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended: calls finished, those without an answer by cause, rows of the plan that are left.

    ``hits``: calls answered from a book. ``reason``: what the last call without an answer failed of.
    """

    asked: int
    failed_media: int
    failed_calls: int
    hits: int
    left: int
    stopped: str | None
    reason: str | None = None


@dataclass(slots=True)
class Session:
    """One process working on one run folder.

    cache       a folder of answers that other runs share, or None
    prices      what tokens cost
    budget_usd  what all sessions of the run together may cost; None: no limit
    poll_s      hand the calls over in batches and look at them so often; None: call by call
    """

    plan: Plan
    benchmark: Benchmark
    model: Model
    delivery: Delivery
    episodes: Mapping[str, Episode]
    run_dir: Path
    concurrency: int = 4
    attempts: int = 5
    deadline_s: float = 600.0
    cache: Path | None = None
    prices: Prices = field(default_factory=Prices)
    budget_usd: float | None = None
    poll_s: float | None = None
    _kept: OrderedDict[Want, asyncio.Task[Delivered]] = field(default_factory=OrderedDict)
    _sources: Sources = field(default_factory=Sources)
    _stop: str | None = None

    def work(self) -> Outcome:
        """Ask what the ledger does not have yet, then write the exports.

        Raises ``RunLocked`` where another process works in the folder and ``InputError`` where the folder belongs to
        another plan. What goes wrong with one medium or one call becomes a row, never an exception.
        """
        self.run_dir.mkdir(parents=True, exist_ok=True)
        with locked(self.run_dir):
            refuse_lost(self.run_dir / LEDGER_NAME, self.run_dir / PREDICTIONS_NAME)
            ledger = Ledger(self.run_dir / LEDGER_NAME)
            cache = None
            try:
                freeze(self.plan, self.run_dir, ledger)
                if self.poll_s is None and ledger.open_batches():
                    raise InputError(
                        "calls of this run are in a batch that is paid for and not fetched: one by one they would be "
                        "paid for twice",
                        where=str(self.run_dir),
                        remedy="repeat the command with --batch",
                    )
                self._sources = Sources.of(ledger)
                cache = None if self.cache is None else CallBook.shared(self.cache)
                return asyncio.run(self._work(ledger, self._gateway(ledger, cache)))
            finally:
                if cache is not None:
                    cache.close()
                ledger.close()

    def _gateway(self, ledger: Ledger, cache: CallBook | None) -> Gateway:
        budget = None if self.budget_usd is None else Budget(self.budget_usd, ledger.book.spent_usd(ROLE))
        return Gateway(
            self.model,
            ledger.book,
            role=ROLE,
            cache=cache,
            prices=self.prices,
            budget=budget,
            attempts=self.attempts,
            deadline_s=self.deadline_s,
            concurrency=self.concurrency,
        )

    async def _work(self, ledger: Ledger, gateway: Gateway) -> Outcome:
        finished = ledger.finished()
        total = answered = 0
        waiting: deque[Call] = deque()
        for call in self.plan.calls():
            total += 1
            if all(finished.get(key, False) for key in call.keys):
                answered += 1
            else:
                waiting.append(call)
        del finished
        session = ledger.start_session()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt)
        # Media for the next calls are read while these are answered.
        media = asyncio.Semaphore(_MEDIA_THREADS)
        tally = Tally(answered_before=answered)
        try:
            with Progress(self.model.name, total, answered) as progress:
                if self.poll_s is not None:
                    await self._work_in_batches(ledger, gateway, waiting, tally, progress, self.poll_s)
                    waiting.clear()
                workers = (
                    self._worker(ledger, gateway, waiting, media, tally, progress) for _ in range(self.concurrency)
                )
                await asyncio.gather(*workers)
        finally:
            await gateway.close()
        self._finish(ledger, session, tally)
        done = ledger.finished()
        left = sum(not done.get(key, False) for key in self.plan.rows())
        return Outcome(tally.asked, tally.failed_media, tally.failed_calls, tally.hits, left, self._stop, tally.reason)

    async def _worker(
        self,
        ledger: Ledger,
        gateway: Gateway,
        waiting: deque[Call],
        media: asyncio.Semaphore,
        tally: Tally,
        progress: Progress,
    ) -> None:
        while waiting and self._stop is None:
            call = waiting.popleft()
            try:
                entries, hit = await self._one(gateway, call, media)
                ledger.record(*(entry for entry in entries if not ledger.is_final(entry.key)))
            except OnlookerError as error:
                # Concerns the whole run (quota, a missing part, a full disk): what is under way is finished and kept.
                self._stop = str(error)
                tally.fatal.append(error)
                return
            tally.count(entries[0], hit=hit)
            progress.advance(failed=not entries[0].final)
            if tally.is_hopeless and self._stop is None:
                self._stop = f"the first {tally.failed_calls} calls all failed: {tally.reason}"

    async def _work_in_batches(
        self,
        ledger: Ledger,
        gateway: Gateway,
        waiting: deque[Call],
        tally: Tally,
        progress: Progress,
        poll_s: float,
    ) -> None:
        from onlooker.models.batch import open_batch  # noqa: PLC0415  of use to few runs
        from onlooker.run.batches import Batches  # noqa: PLC0415  of use to few runs

        try:
            await Batches(self, ledger, gateway, open_batch(self.model), tally, poll_s).work(waiting, progress)
        except OnlookerError as error:
            self._stop = str(error)
            tally.fatal.append(error)

    @property
    def is_stopping(self) -> bool:
        """Whether the session was told to end."""
        return self._stop is not None

    def stop(self, reason: str) -> None:
        """End the session after what is under way; the outcome says why."""
        self._stop = self._stop or reason

    def _finish(self, ledger: Ledger, session: int, tally: Tally) -> None:
        """Close the session and write the exports; then raise what stopped the run, unless it was a lack of quota."""
        reasons = [error for error in tally.fatal if not isinstance(error, QuotaExhausted)]
        try:
            ledger.end_session(session, tally.asked)
            export(self.plan.rows(), ledger, self.run_dir, {**run_card(), "concurrency": self.concurrency})
        except (OnlookerError, OSError):
            # On a full disk this fails too: what stopped the run first says more.
            if not reasons:
                raise
        if reasons:
            raise reasons[0]

    def _interrupt(self) -> None:
        if self._stop is not None:  # asked a second time: at once
            raise SystemExit(130)
        self._stop = "interrupted; the calls under way are kept"

    async def _one(self, gateway: Gateway, call: Call, media: asyncio.Semaphore) -> tuple[list[Entry], bool]:
        """The rows of a call, and whether a book had its answer."""
        started = time.monotonic()
        try:
            delivered = await self._deliver(call, media)
            self.check_sources(call, delivered)
        except (MediaError, InputError) as error:
            return self.failed(call, type(error).__name__, error, time.monotonic() - started), False
        request = self.request(call, delivered.given)
        sent = {"text": request.text, "media": delivered.record}
        asked = time.monotonic()
        try:
            # Every reply is an outcome of this run, an empty one too; the shared cache keeps only answers.
            answered = await gateway.ask(
                request,
                label=call.label,
                sample=sample_of(call.condition),
                accept=lambda reply: True,  # noqa: ARG005
            )
        except QuotaExhausted:
            raise
        except ModelError as error:
            return self.failed(call, "model", error, time.monotonic() - asked, self.digests(call, request), sent), False
        return self.answered(call, answered, sent), answered.hit

    def digests(self, call: Call, request: Request) -> Digests:
        """The content key of a call: of which draw it is, too."""
        return digests(self.model.fingerprint, request, sample_of(call.condition))

    def request(self, call: Call, given: Given) -> Request:
        """What is sent for a call, once its media are delivered."""
        condition, key = call.condition, call.keys[0]
        return Request(
            self._render(call, given),
            max_output_tokens=condition.max_output_tokens,
            temperature=self.plan.parameters.temperature,
            seed=key.seed,
            top_p=self.plan.parameters.top_p,
            thinking_tokens=self.plan.parameters.thinking_tokens,
            json_object=condition.json_object,
        )

    def _render(self, call: Call, given: Given) -> tuple[Part, ...]:
        benchmark, condition, part = self.benchmark, call.condition, call.keys[0].part
        if condition.calls == "video" and benchmark.video_calls is not None:
            return benchmark.video_calls.render(call.items, condition, given)
        if part is not None and benchmark.part_calls is not None:
            return benchmark.part_calls.render(call.items[0], condition, given, part)
        return benchmark.render(call.items[0], condition, given)

    def deliver(self, call: Call) -> Delivered:
        """Read the media of a call, here and now. Raises ``MediaError`` or ``InputError``."""
        return self.delivery.deliver_want(want_of(self.benchmark, call), self.episodes)

    async def _deliver(self, call: Call, media: asyncio.Semaphore) -> Delivered:
        kept = want_of(self.benchmark, call)
        task = self._kept.get(kept)
        if task is None:

            async def deliver() -> Delivered:
                async with media:
                    return await asyncio.to_thread(self.delivery.deliver_want, kept, self.episodes)

            task = self._kept[kept] = asyncio.create_task(deliver())
            while len(self._kept) > _KEPT_DELIVERIES:
                self._kept.popitem(last=False)
        return await task

    def check_sources(self, call: Call, delivered: Delivered) -> None:
        """Raise ``MediaError`` where the run was given another version of the call's media before."""
        self._sources.check(call.items[0].episode, delivered.record)

    def answered(self, call: Call, answered: Answered, sent: dict[str, Any]) -> list[Entry]:
        """The rows of a call that has its reply."""
        reply, batch = answered.reply, None
        raws: Mapping[str, str] = {call.keys[0].item: reply.text}
        if call.condition.calls == "video" and self.benchmark.video_calls is not None:
            raws = self.benchmark.video_calls.split(reply.text, call.items)
            batch = answered.call_sha256
        entries = []
        for number, key in enumerate(call.keys):
            raw = raws.get(key.item, "")
            status = "empty" if batch and reply.status == "ok" and not raw.strip() else reply.status
            prediction = self._prediction(key) | {
                "raw": raw,
                "status": status,
                "latency_s": round(answered.seconds, 4),
                "served_model": reply.served_model,
                "prompt_sha256": answered.digests.prompt,
                "media_sha256": answered.digests.media,
            }
            if number == 0:  # what a call costs stands once
                usage = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
                if reply.cached_tokens is not None:
                    usage["cached_tokens"] = reply.cached_tokens
                prediction |= {"usage": usage, "cost_usd": reply.cost_usd}
            if batch is not None:
                prediction["batch"] = batch
            if call.shown is not None:
                prediction[OPTIONS_SHOWN] = dict(call.shown)
            if call.donor is not None:
                prediction["donor"] = call.donor.name_for(key.item)
            row = self._request_row(call, key) | sent | {"details": dict(reply.details)}
            entries.append(Entry(key, answered.call_sha256, True, prediction, row))
        return entries

    def failed(
        self,
        call: Call,
        kind: str,
        error: Exception,
        seconds: float,
        found: Digests | None = None,
        sent: dict[str, Any] | None = None,
    ) -> list[Entry]:
        """The rows of a call without a reply: a later session asks again, after the file or the endpoint is mended."""
        changes = {
            "latency_s": round(seconds, 4),
            "prompt_sha256": None if found is None else found.prompt,
            "media_sha256": None if found is None else found.media,
            "error": {"kind": kind, "message": str(error)},
        }
        return [
            Entry(
                key,
                None if found is None else found.call,
                False,
                self._prediction(key) | changes,
                self._request_row(call, key) | (sent or {}),
            )
            for key in call.keys
        ]

    def _prediction(self, key: CallKey) -> dict[str, Any]:
        """A row of ``predictions.jsonl`` before anything was answered, its fields in their order."""
        return {
            "item": key.item,
            "part": key.part,
            "model": self.model.name,
            "condition": key.condition,
            "seed": key.seed,
            "raw": "",
            "status": "error",
            "usage": {"input_tokens": None, "output_tokens": None},
            "cost_usd": None,
            "latency_s": 0.0,
            "served_model": None,
            "prompt_sha256": None,
            "media_sha256": None,
        }

    def _request_row(self, call: Call, key: CallKey) -> dict[str, Any]:
        return {
            "item": key.item,
            "part": key.part,
            "model": self.model.name,
            "condition": key.condition,
            "seed": key.seed,
            "episode": call.items[0].episode,
        }
