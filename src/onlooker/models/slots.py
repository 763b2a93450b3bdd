"""How many attempts go on at a time: as many as allowed, fewer when the server says that they are too many."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType


class Slots:
    """``async with slots:`` holds one. Half as many after ``shrink``, one more after a round of successes (``grow``).

    The rule is that of TCP (additive increase, multiplicative decrease): it finds what a server bears.
    Used from one event loop; those who wait are served in order.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.taken = 0
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def round(self) -> int:
        """Counts the shrinkings: an attempt that began before the last one tells nothing new."""
        return self._round

    def shrink(self, began_in: int) -> None:
        """The server was too busy for an attempt that began in that round."""
        if began_in == self._round:
            self._round += 1
            self.limit = max(1.0, self.limit / 2)

    def grow(self) -> None:
        """An attempt was answered."""
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        self._wake()

    def _wake(self) -> None:
        free = int(self.limit) - self.taken
        for future in self._waiting:
            if free <= 0:
                return
            if not future.done():
                future.set_result(None)
                free -= 1

    async def __aenter__(self) -> None:
        while self.taken >= int(self.limit):
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await future
            except asyncio.CancelledError:
                self._waiting.remove(future)
                self._wake()  # it may have been this one's turn
                raise
            self._waiting.remove(future)
        self.taken += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.taken -= 1
        self._wake()
