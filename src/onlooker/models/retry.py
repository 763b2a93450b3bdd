"""The one policy of waiting: how often, how long, when to stop. Knows no provider."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from onlooker.errors import QuotaExhausted, TransientModelError

if TYPE_CHECKING:
    from onlooker.models.request import Reply, Request

_FIRST_WAIT_S = 1.0
_REMEDY = "run again later: what is finished is kept"


class Asked(Protocol):
    """What is asked: a model, or one whose attempts are counted."""

    @property
    def name(self) -> str:
        """As it stands in messages."""
        ...

    async def ask(self, request: Request) -> Reply:
        """One attempt."""
        ...


async def ask_with_retry(
    model: Asked,
    request: Request,
    *,
    attempts: int = 6,
    max_wait_s: float = 60.0,
    deadline_s: float = 600.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
    waiting: Callable[[int, float, TransientModelError], None] | None = None,
) -> Reply:
    """Ask, and ask again after passing failures; every wait is at most ``max_wait_s``.

    ``attempts`` >= 1 counts the first one. All of it, an attempt under way included, ends ``deadline_s`` after the
    start. A server's Retry-After is honoured in full; where it exceeds ``max_wait_s`` the provider is to be paused, so
    QuotaExhausted is raised. The last TransientModelError is raised when attempts or time run out (the call stays owed:
    it says nothing about the model). Every other error passes through. ``waiting`` hears attempt number, seconds and
    reason before each wait.
    """
    started = clock()
    for attempt in range(1, attempts + 1):
        try:
            async with asyncio.timeout(max(deadline_s - (clock() - started), 0.0)) as limit:
                return await model.ask(request)
        except TimeoutError:
            if not limit.expired():
                raise
            raise TransientModelError(
                f"no answer within {deadline_s:g} s ({_counted(attempt)})", where=model.name, remedy=_REMEDY
            ) from None
        except TransientModelError as error:
            asked_s = error.retry_after_s
            if asked_s is not None and asked_s > max_wait_s:
                raise QuotaExhausted(
                    f"the server asks to wait {asked_s:.0f} s, {max_wait_s:.0f} s are allowed",
                    where=model.name,
                    value=str(error),
                    remedy=_REMEDY,
                ) from error
            wait_s = max(asked_s or 0.0, backoff_s(request.prompt_sha256(), attempt, max_wait_s))
            spent_s = clock() - started
            if attempt == attempts or spent_s + wait_s > deadline_s:
                raise TransientModelError(
                    f"no answer after {_counted(attempt)} in {spent_s:.0f} s",
                    where=model.name,
                    value=str(error),
                    remedy=_REMEDY,
                    retry_after_s=asked_s,
                ) from error
            if waiting is not None:
                waiting(attempt, wait_s, error)
        await sleep(wait_s)
    raise ValueError(f"attempts must be at least 1, found {attempts}")


def _counted(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


def backoff_s(purpose: str, attempt: int, max_wait_s: float) -> float:
    """Seconds to wait after failure number ``attempt`` (1, 2, ...): doubling, capped, spread.

    The spread over the upper half keeps parallel calls from coming back together. It is drawn from
    SHA-256 of the purpose and the attempt: the same plan waits the same.
    """
    capped_s = min(max_wait_s, _FIRST_WAIT_S * 2.0 ** min(attempt - 1, 60))
    drawn = hashlib.sha256(f"retry wait {attempt} {purpose}".encode()).digest()
    return capped_s * (0.5 + int.from_bytes(drawn[:8], "big") / 2**65)
