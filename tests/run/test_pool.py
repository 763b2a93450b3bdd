"""A pool that outlives its processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from onlooker.errors import MissingExtra, OnlookerError
from onlooker.run.pool import Died, work_off


class Start:
    """What the processes of the pool do: square, fail, die or hang by the task."""

    def __call__(self) -> Callable[[int], int]:
        return squared


def squared(task: int) -> int:
    if task == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if task == 4:
        os._exit(7)
    if task == 5:
        raise MissingExtra("video", "reading media files")
    if task == 6:
        raise ZeroDivisionError("six")
    if task == 99:
        time.sleep(600)
    return task * task


def test_a_process_that_crashes_takes_one_task_with_it() -> None:
    """Case D03: the others are done, and what became of each is known."""
    found = dict(work_off(range(1, 12), Start(), 2))
    assert {t: r for t, r in found.items() if isinstance(r, int)} == {t: t * t for t in (1, 2, 7, 8, 9, 10, 11)}
    assert found[3] == Died("signal 11 (SIGSEGV)")
    assert found[4] == Died("exit code 7")
    assert isinstance(found[5], OnlookerError)
    assert 'pip install "onlooker[video]"' in str(found[5])
    assert isinstance(found[6], RuntimeError)
    assert "ZeroDivisionError: six" in str(found[6])


def test_whoever_stops_listening_stops_the_processes() -> None:
    begun = time.monotonic()
    work = work_off([1, 99, 99], Start(), 2)
    assert next(work) == (1, 1)
    work.close()
    assert time.monotonic() - begun < 20
