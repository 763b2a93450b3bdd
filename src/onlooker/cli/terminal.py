"""What the commands print: results on standard output, what is going on on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

# A table that goes into a file or a pipe has no terminal to fit into.
_FILE_COLUMNS = 160
_COUNT_EVERY_S = 10.0


# What steers a terminal (escape, bell, carriage return, C1, bidi overrides) is shown as an escape, not obeyed.
_STEERING = {
    code: f"\\u{code:04x}"
    for code in (
        *range(0x20),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        *range(0xD800, 0xE000),
    )
    if chr(code) not in "\n\t"
}


def printable(text: str) -> str:
    """The text as a terminal may be given it: words of data cannot steer it."""
    return text.translate(_STEERING)


def say(line: str = "") -> None:
    """A line of the result."""
    print(printable(line))  # noqa: T201 - the command line's output


def note(line: str) -> None:
    """A line about what is going on."""
    print(printable(line), file=sys.stderr, flush=True)  # noqa: T201 - the command line's output


def counting(what: str) -> Callable[[int, int], None]:
    """What long work calls with how much is done, and of how much: a line such as ``drawing: 120 of 1500`` every ten
    seconds."""
    said_at = time.monotonic()

    def advance(done: int, total: int) -> None:
        nonlocal said_at
        now = time.monotonic()
        if now - said_at >= _COUNT_EVERY_S:
            said_at = now
            note(f"{what}: {done} of {total}")

    return advance


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Plain columns, the first row as the head; the columns named in ``right`` are set to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    head, *body = rows
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, title in enumerate(head):
        grid.add_column(Text(title), justify="right" if number in right else "left", overflow="fold")
    for row in body:
        grid.add_row(*(Text(cell) for cell in row))
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _FILE_COLUMNS)
    with console.capture() as captured:
        console.print(grid)
    return "\n".join(line.rstrip() for line in captured.get().split("\n")).strip("\n")
