"""Files lent to a provider for a while, so that several calls can use one upload.

A handle is remembered for as long as the provider says that it keeps the file, in this process only: it is never
written into a run, and what is remembered may be gone all the same. Whoever uses a handle says so with ``forget`` when
the provider knows nothing of it, and asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from onlooker.errors import ModelError, TransientModelError
from onlooker.models.request import Sound, Video

FIRST_POLL_S = 1.0
_LONGEST_POLL_S = 15.0
# A call that starts just before the file goes would find it gone.
_MARGIN_S = 1800.0
State = Literal["processing", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A file at the provider: its ``name`` there, its ``uri`` in requests, until when it is kept (epoch seconds)."""

    name: str
    uri: str
    state: State
    expires_at_s: float
    reason: str = ""


class FileService(Protocol):
    """The provider's side: both may raise TransientModelError, QuotaExhausted or ModelError."""

    async def send(self, part: Video | Sound) -> Stored:
        """Send the bytes; the file may not be ready yet."""
        ...

    async def look(self, name: str) -> Stored:
        """How far the provider has come with it."""
        ...


class Uploads:
    """Handles by the digest of the bytes; each file is sent once, however many calls wait for it.

    ``timeout_s`` bounds sending and processing together. ``sleep`` waits between two looks, ``clock`` gives the time
    of day in epoch seconds.
    """

    def __init__(
        self,
        service: FileService,
        where: str,
        *,
        timeout_s: float,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._where = where
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._clock = clock
        self._kept: dict[str, Stored] = {}
        self._gates: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def handle(self, part: Video | Sound, sha256: str) -> tuple[Stored, bool]:
        """A file that is ready, and whether it was remembered from an earlier call.

        Raises ModelError where the provider cannot process it, TransientModelError where it takes longer than
        ``timeout_s``.
        """
        async with self._gates[sha256]:
            kept = self._kept.get(sha256)
            if kept is not None and self._clock() + _MARGIN_S < kept.expires_at_s:
                return kept, True
            try:
                async with asyncio.timeout(self._timeout_s):
                    ready = await self._until_ready(await self._service.send(part))
            except TimeoutError:
                raise TransientModelError(
                    f"the uploaded file was not ready within {self._timeout_s:g} s", where=self._where
                ) from None
            self._kept[sha256] = ready
            return ready, False

    def forget(self, sha256: str) -> None:
        """The provider knows nothing of this file any more."""
        self._kept.pop(sha256, None)

    async def _until_ready(self, stored: Stored) -> Stored:
        wait_s = FIRST_POLL_S
        while stored.state == "processing":
            await self._sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_POLL_S)
            stored = await self._service.look(stored.name)
        if stored.state == "failed":
            raise ModelError(
                "the provider could not process the uploaded file",
                where=self._where,
                value=stored.reason or "no reason given",
                remedy="check that the file plays (onlooker probe), or give frames instead",
            )
        return stored
