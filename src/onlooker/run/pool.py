"""Processes that work off tasks one by one. A process that dies takes one task with it, and another one steps in.

The pools of the standard library give up as a whole when one process dies, and a decoder that crashes on one file must
not stop the others.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from onlooker.errors import OnlookerError

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Died:
    """The process died over the task; ``how`` says of what, such as ``signal 11 (SIGSEGV)``."""

    how: str


@dataclass(slots=True)
class _Worker(Generic[Task]):
    process: BaseProcess
    connection: Connection
    task: Task


def work_off(
    tasks: Iterable[Task], start: Callable[[], Callable[[Task], Result]], processes: int
) -> Generator[tuple[Task, Result | Exception | Died], None, None]:
    """(task, what became of it) for every task, in the order in which they end.

    ``start`` is called once in each of the spawned processes, and gives the function that each task is handed to; both
    it and the tasks must pickle. An exception stands in the place of the result. Whoever stops iterating stops the
    processes, in the middle of a task too.
    """
    waiting = iter(tasks)
    workers: list[_Worker[Task]] = []
    try:
        for first in islice(waiting, max(1, processes)):
            workers.append(_hire(start, first))  # noqa: PERF401 - those begun are ended below, also where one fails
        while workers:
            for connection in wait([w.connection for w in workers]):
                worker = next(w for w in workers if w.connection is connection)
                task = worker.task
                try:
                    found = worker.connection.recv()
                except (EOFError, OSError):
                    found = _buried(worker)
                    workers.remove(worker)
                yield task, found
                following = next(waiting, None)
                if following is None:
                    if worker in workers:
                        _dismiss(worker)
                        workers.remove(worker)
                elif worker in workers:
                    _hand(worker, following)
                else:
                    workers.append(_hire(start, following))
    finally:
        for worker in workers:
            worker.process.terminate()
            _dismiss(worker)


def _hire(start: Callable[[], Callable[[Task], Result]], task: Task) -> _Worker[Task]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, start), daemon=True)
    process.start()
    theirs.close()
    worker = _Worker(process, ours, task)
    _hand(worker, task)
    return worker


def _hand(worker: _Worker[Task], task: Task) -> None:
    worker.task = task
    with suppress(OSError):  # dead already: its end of the pipe says so next
        worker.connection.send(task)


def _dismiss(worker: _Worker[Any]) -> None:
    worker.connection.close()
    worker.process.join()
    worker.process.close()


def _buried(worker: _Worker[Any]) -> Died:
    worker.connection.close()
    worker.process.join()
    code = worker.process.exitcode
    worker.process.close()
    if code is not None and code < 0:
        return Died(f"signal {-code} ({signal.Signals(-code).name})")
    return Died(f"exit code {code}")


def _serve(connection: Connection, start: Callable[[], Callable[[Any], Any]]) -> None:
    """What a process does until its pipe is closed."""
    # Ctrl-C in a terminal reaches all; who began the work ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work: Callable[[Any], Any] | None = None
    with suppress(EOFError, BrokenPipeError):
        while True:
            task = connection.recv()
            try:
                if work is None:
                    work = start()
                found = work(task)
            except Exception as error:  # noqa: BLE001 - handed to whoever asked
                found = _portable(error)
            connection.send(found)


def _portable(error: Exception) -> Exception:
    """The error in a form that pickles: not every class can be called with its message alone."""
    if isinstance(error, OnlookerError):
        value = {"value": error.value} if error.has_value else {}
        return OnlookerError(error.what, where=error.where, remedy=error.remedy, **value)
    if isinstance(error, OSError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)))
