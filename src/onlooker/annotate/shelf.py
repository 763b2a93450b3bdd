"""The media of a study's cases: which file stands behind which token, and which may be seen by whom."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from onlooker.annotate.cases import Case, Cases
from onlooker.annotate.proxies import Playable, playable
from onlooker.errors import InputError
from onlooker.protocol.form import Form, View
from onlooker.records.bundle import Bundle


@dataclass(frozen=True, slots=True)
class Placed:
    """A view of a case: its medium, and the token in its address."""

    view: View
    medium: Playable
    token: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """{case: its views}, {token: (case, medium)}. Nothing else can be asked for: an address holds a token, no path."""

    by_case: Mapping[str, tuple[Placed, ...]]
    by_token: Mapping[str, tuple[str, Playable]]

    def lengths(self, case: str) -> dict[str, float | None]:
        """{medium: its length in seconds} of the views of a case."""
        return {placed.view.medium: placed.medium.duration_s for placed in self.by_case[case]}


def fill_shelf(
    bundle: Bundle, form: Form, cases: Cases, secret: str, cache_dir: Path, notice: Callable[[str], None]
) -> Shelf:
    """Find, probe and where needed copy every medium that the cases show.

    Raises ``InputError`` that lists the cases without any medium of the form, ``MediaError`` for files that cannot be
    played.
    """
    made: dict[Path, Playable] = {}
    by_case: dict[str, tuple[Placed, ...]] = {}
    by_token: dict[str, tuple[str, Playable]] = {}
    missing: list[str] = []
    for case in cases.by_id.values():
        placed = []
        for view in form.layout.views if form.layout.kind != "text" else ():
            path = _path(bundle, cases, case, view)
            if path is None:
                continue
            if not path.is_file():
                missing.append(f"{case.item.id} ({path.relative_to(bundle.path).as_posix()} is not there)")
                continue
            if path not in made:
                made[path] = playable(path, cache_dir, notice)
            token = hmac.new(secret.encode(), f"media/{case.id}/{view.medium}".encode(), hashlib.sha256).hexdigest()[
                :32
            ]
            placed.append(Placed(view, made[path], token))
            by_token[token] = (case.id, made[path])
        if not placed and form.layout.kind != "text":
            missing.append(f"{case.item.id} (no {' or '.join(view.medium for view in form.layout.views)})")
        by_case[case.id] = tuple(placed)
    if missing:
        raise InputError(
            f"{len(missing)} of {len(by_case)} cases have no medium to show",
            where=str(bundle.path / "episodes.jsonl"),
            value=missing[:5],
            remedy="put the files in place, or narrow items",
        )
    return Shelf(by_case, by_token)


def _path(bundle: Bundle, cases: Cases, case: Case, view: View) -> Path | None:
    episode = cases.episodes.get(case.item.episode)
    if episode is None:
        raise InputError("the item's episode is not in the bundle", where=case.item.id, value=case.item.episode)
    return bundle.media_path(episode, view.medium)
