from __future__ import annotations

import io

import pytest

from onlooker.run.progress import Progress


def test_lines_tell_what_is_done_and_how_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 4.0, 12.0, 12.0, 20.0, 20.0, 20.0])
    monkeypatch.setattr("onlooker.run.progress.time.monotonic", lambda: next(clock))
    out = io.StringIO()
    with Progress("asking", 10, 4, out) as shown:
        shown.advance()  # after 4 s: too early for a line
        shown.advance(failed=True)  # after 12 s: two calls, 0.17 a second, four left
        shown.advance()  # after 20 s: too early again
    assert out.getvalue().splitlines() == [
        "asking: 4 of 10 were done before",
        "asking: 6 of 10, 0.17 a second, 24 s left, 1 failed",
        "asking: 7 of 10, 0.15 a second, 20 s left, 1 failed",
    ]


def test_the_last_line_is_not_said_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 11.0, 11.0, 11.0])
    monkeypatch.setattr("onlooker.run.progress.time.monotonic", lambda: next(clock))
    out = io.StringIO()
    with Progress("asking", 1, 0, out) as shown:
        shown.advance()
    assert out.getvalue().splitlines() == ["asking: 1 of 1, 0.09 a second, 11 s"]
