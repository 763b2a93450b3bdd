"""How long work shows itself: done, rate and time left; a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

_LINE_EVERY_S = 10.0


class Progress:
    """Counts finished calls of this session. ``total`` includes the ``done`` ones of earlier sessions."""

    def __init__(self, what: str, total: int, done: int = 0, out: TextIO | None = None) -> None:
        self._what, self._total, self._done, self._before = what, total, done, done
        self._out = out or sys.stderr
        self._failed = 0
        self._started = time.monotonic()
        self._shown = self._started
        self._printed: int | None = None

    def __enter__(self) -> Self:
        if self._before:
            self._print(f"{self._what}: {self._before} of {self._total} were done before")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._out.isatty():
            self._out.write("\r\x1b[2K")
        if self._done != self._printed:
            self._print(self.line())

    def advance(self, *, failed: bool = False) -> None:
        """One more call is finished."""
        self._done += 1
        self._failed += failed
        now = time.monotonic()
        if self._out.isatty():
            self._out.write(f"\r\x1b[2K{self.line()}")
            self._out.flush()
        elif now - self._shown >= _LINE_EVERY_S:
            self._shown = now
            self._printed = self._done
            self._print(self.line())

    def line(self) -> str:
        """For example: ``asking: 12 of 40, 3.1 a second, 9 s left, 1 failed``."""
        seconds = time.monotonic() - self._started
        rate = (self._done - self._before) / seconds if seconds > 0 else 0.0
        text = f"{self._what}: {self._done} of {self._total}, {rate:.2f} a second"
        if self._done < self._total and rate > 0:
            text += f", {_duration((self._total - self._done) / rate)} left"
        else:
            text += f", {_duration(seconds)}"
        return text + (f", {self._failed} failed" if self._failed else "")

    def _print(self, line: str) -> None:
        print(line, file=self._out, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
