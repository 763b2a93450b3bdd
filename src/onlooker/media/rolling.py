"""Captions that roll up, as YouTube's automatic ones do: a line stays while the next one is spoken below it.

In the file the line then stands in several cues. Read as it is, every sentence would be said two or three times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Carried lines in this part of the neighbouring pairs, and in two of them at least, make captions that roll. In other
# files a cue hardly ever begins with the last line of the one before it and goes on with another one.
_LEAST_SHARE = 1 / 3
_LEAST_PAIRS = 2
_MOST_APART_S = 0.1


@dataclass(frozen=True, slots=True)
class Block:
    """What is on screen from ``start_s`` to ``end_s``: lines with words, from top to bottom."""

    start_s: float
    end_s: float
    lines: tuple[str, ...]


def carried_lines(blocks: Sequence[Block]) -> list[int]:
    """For every block how many of its first lines stand in the one before it already, at the bottom; 0 everywhere in
    a file whose captions do not roll. ``blocks`` in the order of the file."""
    carried = [0, *(_carried(before, after) for before, after in pairwise(blocks))][: len(blocks)]
    rolling = sum(0 < n < len(block.lines) for n, block in zip(carried, blocks, strict=True))
    if rolling < _LEAST_PAIRS or rolling < _LEAST_SHARE * (len(blocks) - 1):
        return [0] * len(blocks)
    return carried


def _carried(before: Block, after: Block) -> int:
    """The greatest number of first lines of ``after`` that are the last ones of ``before``."""
    if after.start_s < before.start_s or after.start_s - before.end_s > _MOST_APART_S:
        return 0
    most = min(len(before.lines), len(after.lines))
    return next((n for n in range(most, 0, -1) if before.lines[-n:] == after.lines[:n]), 0)
