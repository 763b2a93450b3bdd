"""The one way to a model: known answers are read again, others are asked once, and every attempt is in a book.

The engines that ask (run, judge, construct) make all their calls through a ``Gateway``. It knows no provider and no
benchmark.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onlooker.errors import InputError, ModelError, OnlookerError, QuotaExhausted, TransientModelError
from onlooker.models.book import SENT, Digests, Kept, Try, digests, serving_path
from onlooker.models.claim import Claim
from onlooker.models.prices import Prices
from onlooker.models.retry import ask_with_retry
from onlooker.models.slots import Slots
from onlooker.models.soundness import sound_reply

if TYPE_CHECKING:
    from onlooker.models.book import CallBook
    from onlooker.models.prices import Budget, Price
    from onlooker.models.request import Model, Reply, Request, Status

# Replies that answer a call for good. An empty one or an error may come out otherwise next time (case R11).
ANSWERS: frozenset[Status] = frozenset(("ok", "truncated", "refused"))
_POLL_FIRST_S, _POLL_MOST_S = 0.02, 0.5
_TOO_BUSY = re.compile(r"\b(429|529)\b")


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply and where it came from. ``hit``: it was read again, and cost nothing now.

    ``reply.cost_usd`` is what the call cost when it was asked for this book; 0 where a shared cache had it.
    ``seconds``: how long the attempt that brought it took, whenever that was.
    """

    reply: Reply
    digests: Digests
    hit: bool
    seconds: float

    @property
    def call_sha256(self) -> str:
        """The content key of the call."""
        return self.digests.call


class Gateway:
    """Calls of one model in one role. Used from one event loop; close it after the last call.

    book         every attempt and every answer of these calls; opened and closed by the caller
    cache        answers that other runs share (``CallBook.shared(DIR)``), or None
    role         what the model does here: ``evaluated``, ``judge``, or a name of the engine's own
    prices       what its tokens cost; the built-in table by default
    budget       shared by all gateways of a command. Raises ``InputError`` where the model's price is unknown
    attempts     at each call (>= 1); ``max_wait_s`` caps each wait between them, ``deadline_s`` bounds the call with
                 all its attempts and waits, counted from when its turn comes
    concurrency  calls under way at most; halved whenever the server is too busy, then grown again

    The same content is asked once: by one task of one process at a time, while the others wait for its answer. A server
    that asks to wait makes all calls of the gateway wait; one that is out of quota, or that asks for more than
    ``max_wait_s``, stops the gateway: everything asked from then on raises ``QuotaExhausted`` without being sent.
    """

    def __init__(
        self,
        model: Model,
        book: CallBook,
        *,
        role: str,
        cache: CallBook | None = None,
        prices: Prices | None = None,
        budget: Budget | None = None,
        attempts: int = 5,
        max_wait_s: float = 60.0,
        deadline_s: float = 600.0,
        concurrency: int = 4,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.book = book
        self.cache = cache
        self.role = role
        self.path = serving_path(model.fingerprint)
        self.price: Price | None = (prices or Prices()).find(model.name, self.path)
        self.budget = budget
        self.stopped: QuotaExhausted | None = None
        if budget is not None and self.price is None:
            raise InputError(
                "a budget needs the price of every model, and this one's is unknown",
                where=f"{model.name} at {self.path}",
                remedy=f"name it in a file: --prices FILE with - {{model: '{model.name}', input: USD, output: USD}} "
                "(per million tokens)",
            )
        self._fingerprint = model.fingerprint
        self._attempts, self._max_wait_s, self._deadline_s = attempts, max_wait_s, deadline_s
        self._sleep, self._clock = sleep, clock
        most = max(1, min(concurrency, model.at_once or concurrency))
        self._calls = asyncio.Semaphore(most)
        self.slots = Slots(most)
        self._resume_at = float("-inf")
        self._flights: dict[str, asyncio.Future[Answered]] = {}

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    async def ask(
        self,
        request: Request,
        *,
        label: str = "",
        sample: int = 0,
        accept: Callable[[Reply], bool] | None = None,
    ) -> Answered:
        """The answer to ``request``: from the book, from the cache, or from the model.

        ``label`` says in the book what the call is for. ``sample`` 0, 1, ... are different draws of the same request.
        ``accept`` decides whether a reply is kept as the answer (default: its status is one of ``ANSWERS``); one that
        is not kept is returned all the same, stands in the book as an attempt, and asking again sends it again. An
        empty or failed reply never enters the shared cache, whatever ``accept`` says.

        Raises ``TransientModelError`` (attempts or time ran out), ``QuotaExhausted`` or ``ModelError``;
        ``OnlookerError`` where the book cannot be written.
        """
        found = digests(self._fingerprint, request, sample)
        while True:
            answered = self.known(found)
            if answered is not None:
                return answered
            flight = self._flights.get(found.call)
            if flight is None:
                return await self._lead(request, found, label, accept)
            try:
                answered = await asyncio.shield(flight)
            except asyncio.CancelledError:
                if not flight.cancelled():
                    raise
                continue  # the task that asked was cancelled: this one takes its place
            self.book.hit(self.role, self.path, self.name)
            return replace(answered, hit=True)

    def store(self, attempt: Try, *, keep: bool, begun: int | None = None) -> None:
        """Write an attempt into the book and, with ``keep``, its reply as the answer, into the cache too."""
        self.book.note(attempt, keep=keep, begun=begun)
        reply = attempt.reply
        if keep and self.cache is not None and reply is not None and reply.status in ANSWERS:
            self.cache.keep(attempt.call_sha256, self.name, Kept(reply, attempt.seconds))

    async def close(self) -> None:
        """Close the model and write what is counted. The books stay open."""
        self.book.flush()
        await self.model.close()

    def known(self, found: Digests) -> Answered | None:
        """The answer that the book or the cache has, counted as a hit; None where neither has one."""
        kept = self.book.answer(found.call)
        if kept is None and self.cache is not None:
            kept = self.cache.answer(found.call)
            if kept is not None:
                kept = Kept(replace(kept.reply, cost_usd=0.0), kept.seconds)
                self.book.keep(found.call, self.name, kept)
        if kept is None:
            return None
        self.book.hit(self.role, self.path, self.name)
        return Answered(kept.reply, found, True, kept.seconds)

    async def _lead(
        self, request: Request, found: Digests, label: str, accept: Callable[[Reply], bool] | None
    ) -> Answered:
        """Ask for all tasks of this process that want the same."""
        flight: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._flights[found.call] = flight
        try:
            async with self._calls:
                answered = await self._claimed(request, found, label, accept)
        except OnlookerError as error:
            flight.set_exception(error)
            flight.exception()  # nobody else may have been waiting
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            del self._flights[found.call]
        flight.set_result(answered)
        return answered

    async def _claimed(
        self, request: Request, found: Digests, label: str, accept: Callable[[Reply], bool] | None
    ) -> Answered:
        """Ask for all processes that share the cache (or the book) and want the same."""
        folder = (self.cache or self.book).claims
        started, poll_s = self._clock(), _POLL_FIRST_S
        while (claim := Claim.take(folder, found.call)) is None:
            if self._clock() - started > self._deadline_s:
                raise TransientModelError(
                    f"another process has been asking this call for {self._deadline_s:g} s",
                    where=self.name,
                    remedy="run again when it has ended: what is finished is kept",
                )
            await self._sleep(poll_s)
            poll_s = min(2 * poll_s, _POLL_MOST_S)
        try:
            answered = self.known(found)
            if answered is not None:  # it was asked between the look and the claim
                return answered
            attempt = _Attempt(self, found, label, accept)
            reply = await ask_with_retry(
                attempt,
                request,
                attempts=self._attempts,
                max_wait_s=self._max_wait_s,
                deadline_s=self._deadline_s,
                sleep=self._sleep,
                clock=self._clock,
            )
        except QuotaExhausted as error:
            self.stopped = error
            raise
        finally:
            claim.release()
        return Answered(reply, found, False, attempt.seconds)

    async def _wait_for_server(self) -> None:
        """Wait as long as the server asked any call of this gateway to wait."""
        while (wait_s := self._resume_at - self._clock()) > 0:
            await self._sleep(wait_s)

    def _noted_failure(self, error: ModelError, began_in: int) -> None:
        if not isinstance(error, TransientModelError):
            return
        if error.retry_after_s is not None and error.retry_after_s <= self._max_wait_s:
            self._resume_at = max(self._resume_at, self._clock() + error.retry_after_s)
        if error.retry_after_s is not None or _TOO_BUSY.search(error.what):
            self.slots.shrink(began_in)


class _Attempt:
    """The model, with every attempt at one call written into the book, also those that failed."""

    def __init__(self, gateway: Gateway, found: Digests, label: str, accept: Callable[[Reply], bool] | None) -> None:
        self._gateway, self._found, self._label, self._accept = gateway, found, label, accept
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return self._gateway.name

    async def ask(self, request: Request) -> Reply:
        gateway = self._gateway
        async with gateway.slots:
            await gateway._wait_for_server()
            if gateway.stopped is not None:
                raise gateway.stopped
            most_usd = None if gateway.price is None else gateway.price.most_usd(request)
            await self._reserve(most_usd)
            cost_usd: float | None = None
            try:
                reply = await self._send(request, most_usd)
                cost_usd = reply.cost_usd
            except ModelError as error:
                cost_usd = None if _may_be_billed(error) else 0.0
                raise
            finally:
                if gateway.budget is not None:
                    gateway.budget.settle(most_usd or 0.0, cost_usd)
        return reply

    async def _reserve(self, most_usd: float | None) -> None:
        gateway = self._gateway
        if gateway.budget is None:
            return
        if most_usd is None:
            raise InputError(
                "a budget needs the price of every call, and this one is longer than the price is known for",
                where=gateway.name,
                value=None if gateway.price is None else gateway.price.up_to_input_tokens,
                remedy="name the price of long requests in --prices",
            )
        await gateway.budget.reserve(most_usd, gateway.name)

    async def _send(self, request: Request, most_usd: float | None) -> Reply:
        gateway = self._gateway
        started_at, began_in = time.time(), gateway.slots.round
        named = Try(self._found.call, self._label, gateway.role, gateway.path, gateway.name, started_at, 0.0, SENT)
        begun = gateway.book.begin(replace(named, most_usd=most_usd))  # killed meanwhile, it may be paid for
        started = gateway._clock()
        reply: Reply | None = None
        outcome, message, keep = "cancelled", "", False
        try:
            reply = sound_reply(await gateway.model.ask(request))
            if reply.cost_usd is None and gateway.price is not None:
                cost = gateway.price.cost_usd(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
                # What runs on this machine costs nothing, however many tokens it does not count.
                reply = replace(reply, cost_usd=0.0 if gateway.price.is_free else cost)
            outcome = reply.status
            keep = reply.status in ANSWERS if self._accept is None else self._accept(reply)
            gateway.slots.grow()
        except ModelError as error:
            outcome, message = type(error).__name__, str(error)
            most_usd = most_usd if _may_be_billed(error) else None
            gateway._noted_failure(error, began_in)
            raise
        finally:
            self.seconds = gateway._clock() - started
            gateway.store(
                replace(
                    named,
                    seconds=self.seconds,
                    outcome=outcome,
                    message=message,
                    reply=reply,
                    cost_usd=None if reply is None else reply.cost_usd,
                    most_usd=most_usd if reply is None or reply.cost_usd is None else None,
                ),
                keep=keep,
                begun=begun,
            )
        return reply


def _may_be_billed(error: ModelError) -> bool:
    """Whether a budget has to count an attempt that brought no answer: it was sent, and nobody refused it."""
    return isinstance(error, TransientModelError) and error.may_be_billed
