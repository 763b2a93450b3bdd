"""Whether the right options give themselves away by their place or their length: warnings for a
bundle's maker.

Only items with one right option out of two or more count. Each test needs enough of them and warns
at p < 0.01:

* place: chi-square of the counts of places against equal shares, for each number of options that
  has at least ten items expected a place;
* longest: how often the right option is the only longest one, against one in k, normal
  approximation, 40 items or more;
* length: the mean difference in characters of the right option to the mean of the wrong ones,
  paired, 40 items or more.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

_LEAST_ITEMS = 40
_LEAST_EXPECTED = 10
_Z_ONE_SIDED = 2.3263  # the standard normal's quantiles for p = 0.01
_Z_TWO_SIDED = 2.5758


class AnswerBias:
    """Gathers where the right options stand and how long they are; memory does not grow with the
    items.
    """

    def __init__(self) -> None:
        self._places: dict[int, list[int]] = defaultdict(list)
        self._items = 0
        self._longest = 0
        self._longest_expected = 0.0
        self._longest_variance = 0.0
        self._differences = 0.0
        self._squares = 0.0

    def add(self, place: int, options: int, lengths: Sequence[int]) -> None:
        """One item: its right option is number ``place`` of ``options``; ``lengths`` (characters)
        may be empty.
        """
        if options < 2:
            return
        counts = self._places[options]
        counts.extend([0] * (options - len(counts)))
        counts[place] += 1
        if not lengths:
            return
        self._items += 1
        right = lengths[place]
        longest = max(lengths)
        if lengths.count(longest) == 1:
            self._longest += right == longest
            self._longest_expected += 1 / options
            self._longest_variance += (1 / options) * (1 - 1 / options)
        difference = right - (sum(lengths) - right) / (options - 1)
        self._differences += difference
        self._squares += difference * difference

    def warnings(self) -> Iterator[str]:
        """What stands out, in words."""
        for options, counts in sorted(self._places.items()):
            expected = sum(counts) / options
            if expected < _LEAST_EXPECTED:
                continue
            statistic = sum((count - expected) ** 2 for count in counts) / expected
            if statistic > chi_square_critical(options - 1):
                yield (
                    f"the right one of {options} options is not spread evenly over the places: "
                    f"{', '.join(map(str, counts))} (chi-square {statistic:.1f}, p < 0.01)"
                )
        if self._items < _LEAST_ITEMS:
            return
        surplus = self._longest - self._longest_expected
        if surplus > _Z_TWO_SIDED * math.sqrt(self._longest_variance):
            yield (
                f"the right option is the longest one in {self._longest} items, "
                f"where {self._longest_expected:.0f} are expected (p < 0.01)"
            )
        mean = self._differences / self._items
        variance = (self._squares - self._items * mean * mean) / (self._items - 1)
        if abs(mean) > _Z_TWO_SIDED * math.sqrt(max(variance, 0.0) / self._items):
            word = "longer" if mean > 0 else "shorter"
            yield (
                f"right options are {word} than wrong ones by {abs(mean):.1f} characters "
                f"on average over {self._items} items (p < 0.01)"
            )


def chi_square_critical(freedom: int) -> float:
    """The 99th percentile of chi-square with ``freedom`` degrees, within 2 % of the exact one for
    one degree and up.

    Wilson and Hilferty (1931).
    """
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + _Z_ONE_SIDED * math.sqrt(spread)) ** 3)
