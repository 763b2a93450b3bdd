"""Carries out a plan: delivers media, renders, asks, records. Killed at any moment, it goes on where it stopped."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, MediaError, ModelError, OnlookerError, QuotaExhausted
from onlooker.models.request import Modality, Model, Reply, Request
from onlooker.models.retry import ask_with_retry
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.records.public import Episode, Item
from onlooker.run.delivery import Delivered, Delivery, Window
from onlooker.run.export import PREDICTIONS_NAME, export, run_card
from onlooker.run.ledger import LEDGER_NAME, Attempt, CallKey, Entry, Ledger, refuse_lost
from onlooker.run.lock import locked
from onlooker.run.plan import Plan, freeze
from onlooker.run.progress import Progress
from onlooker.run.sources import Sources
from onlooker.run.tally import Tally

# Decoding and detecting run in threads beside the event loop; two of them keep two cores busy.
_MEDIA_THREADS = 2
# Deliveries kept for the items of one episode that follow one another.
_KEPT_DELIVERIES = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended: calls finished, those without an answer by cause, those of the plan that are left.

    ``reason``: what the last call without an answer failed of.
    """

    asked: int
    failed_media: int
    failed_calls: int
    left: int
    stopped: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Slots:
    """How much goes on at a time: media being read, calls under way."""

    media: asyncio.Semaphore
    asking: asyncio.Semaphore


@dataclass(slots=True)
class Session:
    """One process working on one run folder."""

    plan: Plan
    benchmark: Benchmark
    model: Model
    delivery: Delivery
    episodes: Mapping[str, Episode]
    run_dir: Path
    concurrency: int = 4
    attempts: int = 5
    deadline_s: float = 600.0
    _kept: OrderedDict[tuple[str, str, Window | None], asyncio.Task[Delivered]] = field(default_factory=OrderedDict)
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
            try:
                freeze(self.plan, self.run_dir, ledger)
                self._sources = Sources.of(ledger)
                return asyncio.run(self._work(ledger))
            finally:
                ledger.close()

    async def _work(self, ledger: Ledger) -> Outcome:
        finished = ledger.finished()
        waiting = deque(key for key in self.plan.calls() if not finished.get(key, False))
        total = len(waiting) + sum(finished.values())
        session = ledger.start_session()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt)
        # Media for the next calls are read while these are answered; a latency counts from when its turn comes.
        slots = _Slots(
            asyncio.Semaphore(_MEDIA_THREADS), asyncio.Semaphore(self.model.at_once or max(self.concurrency, 1))
        )
        tally = Tally(answered_before=sum(finished.values()))
        try:
            with Progress(self.model.name, total, total - len(waiting)) as progress:
                workers = (self._worker(ledger, waiting, slots, tally, progress) for _ in range(self.concurrency))
                await asyncio.gather(*workers)
        finally:
            await self.model.close()
        self._finish(ledger, session, tally)
        done = ledger.finished()
        left = sum(not done.get(key, False) for key in self.plan.calls())
        return Outcome(tally.asked, tally.failed_media, tally.failed_calls, left, self._stop, tally.reason)

    async def _worker(
        self, ledger: Ledger, waiting: deque[CallKey], slots: _Slots, tally: Tally, progress: Progress
    ) -> None:
        items = {item.id: item for item in self.plan.items}
        conditions = {c.name: c for c in self.plan.conditions}
        while waiting and self._stop is None:
            key = waiting.popleft()
            try:
                entry = await self._one(ledger, key, items[key.item], conditions[key.condition], slots)
                ledger.record(entry)
            except OnlookerError as error:
                # Concerns the whole run (quota, a missing part, a full disk): what is under way is finished and kept.
                self._stop = str(error)
                tally.fatal.append(error)
                return
            tally.count(entry)
            progress.advance(failed=not entry.final)
            if tally.is_hopeless and self._stop is None:
                self._stop = f"the first {tally.failed_calls} calls all failed: {tally.reason}"

    def _finish(self, ledger: Ledger, session: int, tally: Tally) -> None:
        """Close the session and write the exports; then raise what stopped the run, unless it was a lack of quota."""
        reasons = [error for error in tally.fatal if not isinstance(error, QuotaExhausted)]
        try:
            ledger.end_session(session, tally.asked)
            export(self.plan.calls(), ledger, self.run_dir, {**run_card(), "concurrency": self.concurrency})
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

    async def _one(self, ledger: Ledger, key: CallKey, item: Item, condition: Condition, slots: _Slots) -> Entry:
        started = time.monotonic()
        request_row: dict[str, Any] = {
            "item": key.item,
            "part": key.part,
            "model": self.model.name,
            "condition": key.condition,
            "seed": key.seed,
            "episode": item.episode,
        }
        try:
            delivered = await self._deliver(item, condition, slots)
            self._sources.check(item.episode, delivered.record)
        except (MediaError, InputError) as error:
            return self._failure(key, request_row, type(error).__name__, error, started)
        request = Request(
            self.benchmark.render(item, condition, delivered.given),
            max_output_tokens=condition.max_output_tokens,
            temperature=self.plan.parameters.temperature,
            seed=key.seed,
        )
        request_row |= {"text": request.text, "media": delivered.record}

        async with slots.asking:
            asked_at = time.monotonic()
            try:
                reply = await ask_with_retry(
                    _Noted(self.model, key, ledger), request, attempts=self.attempts, deadline_s=self.deadline_s
                )
            except QuotaExhausted:
                raise
            except ModelError as error:
                return self._failure(key, request_row, "model", error, asked_at, request)
            seconds = time.monotonic() - asked_at
        return Entry(
            key,
            self._call_sha256(request),
            True,
            self._prediction(key, reply, seconds, request),
            {**request_row, "details": dict(reply.details)},
        )

    async def _deliver(self, item: Item, condition: Condition, slots: _Slots) -> Delivered:
        window = (item.window.start_s, item.window.end_s) if item.window else None
        kept = (item.episode, condition.name, window)
        task = self._kept.get(kept)
        if task is None:

            async def deliver() -> Delivered:
                async with slots.media:
                    return await asyncio.to_thread(
                        self.delivery.deliver, self.episodes[item.episode], condition, window
                    )

            task = self._kept[kept] = asyncio.create_task(deliver())
            while len(self._kept) > _KEPT_DELIVERIES:
                self._kept.popitem(last=False)
        return await task

    def _prediction(self, key: CallKey, reply: Reply, seconds: float, request: Request | None) -> dict[str, Any]:
        return {
            "item": key.item,
            "part": key.part,
            "model": self.model.name,
            "condition": key.condition,
            "seed": key.seed,
            "raw": reply.text,
            "status": reply.status,
            "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
            "cost_usd": reply.cost_usd,
            "latency_s": round(seconds, 4),
            "served_model": reply.served_model,
            "prompt_sha256": None if request is None else request.prompt_sha256(),
            "media_sha256": None if request is None else request.media_sha256(),
        }

    def _failure(
        self,
        key: CallKey,
        request_row: dict[str, Any],
        kind: str,
        error: Exception,
        started: float,
        request: Request | None = None,
    ) -> Entry:
        # Nothing was answered: a later session asks again, after the file or the endpoint is mended.
        row = self._prediction(key, Reply("", "error"), time.monotonic() - started, request)
        return Entry(
            key,
            None if request is None else self._call_sha256(request),
            False,
            {**row, "error": {"kind": kind, "message": str(error)}},
            request_row,
        )

    def _call_sha256(self, request: Request) -> str:
        content = [
            sorted(self.model.fingerprint.items()),
            request.prompt_sha256(),
            request.media_sha256(),
            request.max_output_tokens,
            request.temperature,
            request.seed,
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Noted:
    """The model, with every attempt of one call written into the ledger, also those that failed."""

    model: Model
    key: CallKey
    ledger: Ledger

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def accepts(self) -> frozenset[Modality]:
        return self.model.accepts

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return self.model.fingerprint

    async def ask(self, request: Request) -> Reply:
        started_at, started = time.time(), time.monotonic()
        try:
            reply = await self.model.ask(request)
        except ModelError as error:
            seconds = time.monotonic() - started
            self.ledger.record_attempt(Attempt(self.key, started_at, seconds, type(error).__name__, str(error)))
            raise
        self.ledger.record_attempt(
            Attempt(
                self.key,
                started_at,
                time.monotonic() - started,
                reply.status,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
            )
        )
        return reply

    @property
    def at_once(self) -> int | None:
        return self.model.at_once

    async def close(self) -> None:
        await self.model.close()
