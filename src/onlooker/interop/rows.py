"""Replies of another harness to items of a bundle: matched without a guess, written as predictions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from onlooker.errors import InputError
from onlooker.records.jsonl import write_rows, write_text
from onlooker.records.results import Prediction

if TYPE_CHECKING:
    from onlooker.records.bundle import Bundle
    from onlooker.records.public import Item

_PLAN: Final = "plan.json"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply as found. ``where``: file and row, for messages; ``names``: the fields of the row that may say which
    item it answers; ``fields``: those of the prediction (``raw``, ``status``, ``seed`` ...)."""

    where: str
    names: Mapping[str, Any]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Matching:
    """How a row says which item it answers: one of the two.

    id_field        the field that holds the item's id, or what ``ids`` translates into one
    question_field  the field that holds the question, word by word (white space aside)
    video_field     the field that holds the episode's id, where one question is asked about several episodes
    ids             {what the field holds: item id}
    """

    id_field: str | None = None
    question_field: str | None = None
    video_field: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.id_field is None) == (self.question_field is None):
            raise InputError(
                "rows are matched by one thing: an id or the question",
                where="--id-field, --question-field",
                value=[self.id_field, self.question_field],
                remedy="name one of the two fields",
            )
        if self.ids and self.id_field is None:
            raise InputError("ids are translated only where rows are matched by an id", where="--ids")
        if self.video_field is not None and self.question_field is None:
            raise InputError("a video narrows questions only", where="--video-field", value=self.video_field)


def read_ids(path: Path | None) -> dict[str, str]:
    """{id of the other harness: item id} from a JSON object. Raises ``InputError`` where it is none."""
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON ({error})", where=str(path)) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InputError("expected one JSON object {their id: item id}", where=str(path))
    return found


def match(
    replies: Iterable[Reply], bundle: Bundle, matching: Matching, *, model: str | None, condition: str | None
) -> list[Prediction]:
    """The predictions of ``replies``, in the order of the bundle, then of the file.

    ``model`` and ``condition`` stand in every row that says neither itself. Raises one ``InputError`` that lists every
    row that maps to no item, to several, or to one that a row before it has answered.
    """
    finder = _Finder(bundle.load_items(), matching)
    rows: list[Prediction] = []
    first: dict[tuple[object, ...], str] = {}
    wrong: list[str] = []
    for reply in replies:
        found = finder.find(reply.names)
        if len(found) != 1:
            what = "no item" if not found else f"{len(found)} items ({', '.join(sorted(found)[:3])} ...)"
            wrong.append(f"{reply.where}: {finder.spell(reply.names)} is {what}")
            continue
        given = {"item": found[0], "part": None, "model": model, "condition": condition, "seed": None}
        row = _prediction(given | dict(reply.fields), reply.where)
        if row.key in first:
            seed = "" if row.seed is None else f", seed {row.seed}"
            wrong.append(f"{reply.where}: item {row.item}{seed} is answered already by {first[row.key]}")
            continue
        first[row.key] = reply.where
        rows.append(row)
    if wrong:
        raise InputError(
            f"{len(wrong)} of {len(wrong) + len(rows)} rows belong to no item for certain; nothing is written\n  "
            + "\n  ".join(wrong)
            + "\n",
            where=str(bundle.path),
            remedy="name the field that tells the item (--id-field, --question-field with --video-field), or translate "
            "ids with --ids",
        )
    if not rows:
        raise InputError("no replies in these files", where=str(bundle.path))
    place = {item: n for n, item in enumerate(finder.items)}
    return sorted(rows, key=lambda row: place[row.item])


def _prediction(fields: Mapping[str, Any], where: str) -> Prediction:
    """The row. Raises ``InputError`` for what no row can hold, such as half a character (a lone surrogate)."""
    try:
        row = Prediction.model_validate(fields)
        row.raw.encode()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        named = ".".join(map(str, first["loc"]))
        raise InputError(f"no prediction can say this: {first['msg']} ({named})", where=where) from error
    except UnicodeEncodeError as error:
        raise InputError(
            f"the reply holds half a character at place {error.start}, which UTF-8 cannot write",
            where=where,
            value=f"U+{ord(row.raw[error.start]):04X}",
            remedy="correct the reply in the file, as a character or as U+FFFD",
        ) from error
    return row


def write_predictions(out: Path, rows: list[Prediction], owed: list[str] | None = None) -> None:
    """Write the rows, and ``plan.json`` beside them where a condition ``owed`` certain items only.

    Raises ``InputError`` where a plan of something else lies there: it would say what these rows owe.
    """
    plan = out.parent / _PLAN
    text = None if owed is None else json.dumps({"items": owed}, ensure_ascii=False, indent=1) + "\n"
    if plan.exists() and plan.read_text(encoding="utf-8") != text:
        raise InputError(
            "a plan of another run lies there, and it says which items are owed",
            where=str(plan),
            remedy="let --out name a folder of its own",
        )
    write_rows(out, rows)
    if text is not None:
        write_text(plan, text)


class _Finder:
    """Which items a row may mean."""

    def __init__(self, items: Mapping[str, Item], matching: Matching) -> None:
        self.items = items
        self._how = matching
        self._asking: dict[str, list[str]] = defaultdict(list)
        for item in items.values():
            question = getattr(item, "question", None)
            if question is not None:
                self._asking[_words(question)].append(item.id)

    def find(self, names: Mapping[str, Any]) -> list[str]:
        how = self._how
        if how.id_field is not None:
            said = _spelled(pick(names, how.id_field))
            if said is None:
                return []
            name = how.ids.get(said, said)
            return [name] if name in self.items else []
        assert how.question_field is not None, "checked when the matching was made"
        question = pick(names, how.question_field)
        found = self._asking.get(_words(question), []) if isinstance(question, str) else []
        if how.video_field is None:
            return found
        video = _spelled(pick(names, how.video_field))
        return [name for name in found if self.items[name].episode == video]

    def spell(self, names: Mapping[str, Any]) -> str:
        """The fields that were looked at, as found."""
        fields = (self._how.id_field, self._how.question_field, self._how.video_field)
        return ", ".join(f"{name} {_short(pick(names, name))}" for name in fields if name is not None)


def pick(row: Mapping[str, Any], name: str) -> Any:
    """The field of that name, or the one inside (``doc.question``); None where there is none."""
    found: Any = row
    if name in row:
        return row[name]
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def status_of(raw: str) -> str:
    """``ok``, or ``empty`` for a blank reply: what is known where the other harness keeps no reason to stop."""
    return "ok" if raw.strip() else "empty"


def _spelled(value: object) -> str | None:
    """An id as text: 3 and 3.0 are "3", since tables turn whole numbers into floats."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def _words(text: str) -> str:
    return " ".join(text.split())


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
