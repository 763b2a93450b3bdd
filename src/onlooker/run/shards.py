"""Part i of n of the work, by content: machines that know nothing of each other share it out alike."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from onlooker.errors import InputError

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` (1 .. ``count``). All parts together hold every key once; a part may hold none."""

    number: int = 1
    count: int = 1

    def holds(self, key: str) -> bool:
        """Whether the key (an episode's id) falls into this part: SHA-256 of the key, modulo ``count``."""
        digest = hashlib.sha256(key.encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1


def parse_shard(text: str) -> Shard:
    """``i/n`` with 1 <= i <= n. Raises ``InputError`` for anything else."""
    found = _SHARD.fullmatch(text.strip())
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count:
        raise InputError("a shard is i/n with 1 <= i <= n", where="--shard", value=text, remedy="such as 1/4 .. 4/4")
    return Shard(number, count)
