"""All media of a bundle, each file read once, bad ones listed and passed by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from onlooker.errors import InputError, MediaError
from onlooker.media.card import MediaCard, probe
from onlooker.media.checkup import Checkup, check_frames
from onlooker.media.remarks import remarks
from onlooker.records.bundle import Bundle
from onlooker.records.public import MEDIA_KEYS, Episode, MediaKey

# As much as windows may reach beyond a stated duration.
_SAME_S = 0.5


@dataclass(frozen=True, slots=True)
class Surveyed:
    """One medium of one episode. ``file``: as the bundle names it; ``card``, or ``fault``: why there is none;
    ``declared_s``: the duration that the episode states for its video (or audio, without one); ``checkup``: of its
    frames, None where none was asked for or there is no picture."""

    episode: str
    medium: str
    file: str
    declared_s: float | None
    card: MediaCard | None
    fault: str | None
    checkup: Checkup | None = None

    @property
    def notes(self) -> list[str]:
        """``remarks`` of the card, and whether the episode states another duration; empty without a card."""
        if self.card is None:
            return []
        found = remarks(self.card)
        if self.checkup is not None and self.checkup.first_damage_s is not None:
            found.insert(0, f"{self.checkup.corrupt} corrupt and {self.checkup.undecodable} undecodable frames")
        if self.declared_s is not None and abs(self.declared_s - self.card.duration_s) > _SAME_S:
            found.insert(0, f"the episode states {self.declared_s:.3f} s")
        return found

    def row(self) -> dict[str, object]:
        """The row as plain JSON values. Nothing in it tells where the bundle lies."""
        return asdict(self)


def declared_media(bundle: Bundle) -> list[tuple[Episode, MediaKey, str]]:
    """(episode, medium, file as the bundle names it) in the order of episodes, transcripts left out. Raises
    ``InputError`` for a bad row of ``episodes.jsonl``."""
    return [
        (episode, medium, declared)
        for episode in bundle.load_episodes().values()
        for medium in MEDIA_KEYS
        if medium != "transcript" and (declared := getattr(episode.media, medium)) is not None
    ]


def survey(bundle: Bundle, *, cache_dir: Path | None = None, decode: bool = False) -> Iterator[Surveyed]:
    """The media of a bundle in the order of its episodes, transcripts left out; a file that several name is read once.

    ``decode``: decode every frame, too, see ``check_frames``. ``cache_dir``: see ``file_sha256``. Raises ``InputError``
    only for a bad row of ``episodes.jsonl``: whatever is wrong with a medium is in its row.
    """
    known: dict[Path, tuple[MediaCard, Checkup | None] | str] = {}
    for episode, medium, declared in declared_media(bundle):
        is_main = medium == ("video" if episode.media.video else "audio")
        declared_s = episode.duration_s if is_main else None
        try:
            path = bundle.media_path(episode, medium)
            assert path is not None, "it is declared"
            place = path.resolve()
            if place not in known:
                known[place] = _outcome(path, cache_dir, decode=decode)
            found = known[place]
        except InputError as error:
            found = error.what
        if isinstance(found, str):
            yield Surveyed(episode.id, medium, declared, declared_s, None, found)
        else:
            yield Surveyed(episode.id, medium, declared, declared_s, found[0], None, found[1])


def _outcome(path: Path, cache_dir: Path | None, *, decode: bool) -> tuple[MediaCard, Checkup | None] | str:
    try:
        card = probe(path, cache_dir=cache_dir)
        return card, check_frames(path) if decode and card.video is not None else None
    except MediaError as error:
        return error.what
