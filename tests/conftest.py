"""What every test leaves behind it as it found it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def ordinary_scheduling() -> Iterator[None]:
    """Give every thread back its ordinary scheduling after a test.

    SVT-AV1, which encodes some clips of these tests, makes the calling thread real-time
    (SCHED_FIFO 99) when it runs as root. Threads started later inherit it, and a matrix library
    that spins while it waits then starves everything else on a small machine.
    """
    yield
    for thread in Path("/proc/self/task").iterdir():
        try:
            if os.sched_getscheduler(int(thread.name)) != os.SCHED_OTHER:
                os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))
        except ProcessLookupError:
            continue  # the thread ended meanwhile
