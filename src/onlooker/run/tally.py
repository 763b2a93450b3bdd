"""What a session of a run has done so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from onlooker.errors import OnlookerError
from onlooker.run.ledger import Entry

# So many failed calls before the first answer end a session: the rest would fail too.
HOPELESS_CALLS = 8


@dataclass(slots=True)
class Tally:
    """What a session has done so far, and what stopped it."""

    asked: int = 0
    hits: int = 0
    failed_media: int = 0
    failed_calls: int = 0
    answered: int = 0
    answered_before: int = 0
    reason: str | None = None
    fatal: list[OnlookerError] = field(default_factory=list)

    def count(self, entry: Entry, *, hit: bool = False) -> None:
        """One more call is in the ledger; ``hit``: a book had its answer."""
        self.asked += 1
        self.hits += hit
        if entry.final:
            self.answered += 1
        elif entry.prediction["error"]["kind"] == "model":
            self.failed_calls += 1
            self.reason = entry.prediction["error"]["message"]
        else:
            self.failed_media += 1

    @property
    def is_hopeless(self) -> bool:
        """Whether nothing was ever answered and the first calls all failed: a wrong key, a wrong model, no server."""
        return not self.answered_before and not self.answered and self.failed_calls >= HOPELESS_CALLS
