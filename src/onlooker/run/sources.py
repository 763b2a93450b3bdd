"""Which media the answers of a run were given: one run never mixes two versions of a clip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from onlooker.errors import MediaError
from onlooker.run.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Sources:
    """{(episode, medium and kind): sha256 of the file}, from the records of what was delivered."""

    known: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, ledger: Ledger) -> Self:
        """What the answers in a ledger were given."""
        sources = cls()
        for entry in ledger.entries():
            if entry.final:
                record = entry.request.get("media") or {}
                for source, digest in _digests(record):
                    sources.known[record.get("episode", entry.request["episode"]), source] = digest
        return sources

    def check(self, episode: str, record: Mapping[str, Any]) -> None:
        """Note what was delivered. Raises ``MediaError`` where earlier answers of the run were given another file."""
        episode = record.get("episode", episode)  # another's, where it stands in
        for source, digest in _digests(record):
            before = self.known.setdefault((episode, source), digest)
            if before != digest:
                raise MediaError(
                    f"{source} has changed since other questions of this run were asked about it",
                    where=f"episode {episode}",
                    value=digest,
                    remedy=f"bring back the file whose sha256 is {before}, or run into a new folder",
                )


def _digests(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for view in (record.get("views") or {}).values():
        for source, digest in _digests(view):
            yield f"episode {view['episode']}: {source}", digest
    for kind in ("frames", "sound", "video"):
        known = (record.get(kind) or {}).get("source_sha256")
        if known is not None:
            yield f"the medium {record['medium']!r} ({kind})", known
