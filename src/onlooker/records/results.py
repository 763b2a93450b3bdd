"""What a run and a judge write: predictions, judgements, and the plan that says what was owed
(FORMATS 2 and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, TypeVar, get_args

from pydantic import Field

from onlooker.errors import InputError
from onlooker.records.jsonl import read_json, read_rows
from onlooker.records.record import FiniteJson, Id, Record, Seconds, Texts

Status: TypeAlias = Literal["ok", "empty", "truncated", "refused", "error"]
"""How a model call ended."""
JudgementStatus: TypeAlias = Literal["ok", "unparsed", "error"]
Outcome: TypeAlias = Literal["scored", "unparsed", "empty", "truncated", "refused", "error", "missing", "unjudged"]
"""What became of an item in scoring: a closed set, never a NaN or a guess."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
JUDGEMENT_STATUSES: Final[tuple[JudgementStatus, ...]] = get_args(JudgementStatus)
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

PredictionKey: TypeAlias = tuple[str, str | None, str, str, int | None]
"""(item, part, model, condition, seed)."""
JudgementKey: TypeAlias = tuple[str, str, str, int | None, str, str]
"""(item, model, condition, seed, rubric, judge)."""

Count = Annotated[int, Field(ge=0)]


class Usage(Record):
    """Tokens of one call as the provider counted them; null where it did not say."""

    writes_unset: ClassVar[bool] = True

    input_tokens: Count | None = None
    output_tokens: Count | None = None


class Prediction(Record):
    """One finished model call. ``raw`` is the text as returned, unaltered; ``cost_usd`` null is an
    unknown price.
    """

    writes_unset: ClassVar[bool] = True

    item: Id
    part: Id | None = None
    model: Id
    condition: Id
    seed: int | None = None
    raw: str
    status: Status
    usage: Usage | None = None
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    latency_s: Seconds | None = None
    served_model: str | None = None
    prompt_sha256: str | None = None
    media_sha256: str | None = None

    @property
    def key(self) -> PredictionKey:
        """What makes two rows the same prediction."""
        return (self.item, self.part, self.model, self.condition, self.seed)


class Judgement(Record):
    """One judge's labels of one reply under one rubric. Whether the labels are in range is the
    scorer's to say.
    """

    writes_unset: ClassVar[bool] = True

    item: Id
    model: Id
    condition: Id
    seed: int | None = None
    judge: Id
    rubric: Id
    labels: dict[str, FiniteJson] | None = None
    explanation: str | None = None
    status: JudgementStatus
    raw: str | None = None

    @property
    def key(self) -> JudgementKey:
        """What makes two rows the same judgement."""
        return (self.item, self.model, self.condition, self.seed, self.rubric, self.judge)


class Plan(Record):
    """``plan.json`` beside a predictions file: the items that the run owes, and those of conditions that owe fewer."""

    items: Texts
    owed: dict[str, Texts] = Field(default_factory=dict, description="{condition: its items}, where not all")


ResultT = TypeVar("ResultT", Prediction, Judgement)


def read_predictions(paths: Iterable[Path]) -> list[Prediction]:
    """The rows of all ``paths`` in order. InputError at the first bad row, or at the second row of
    one (item, part, model, condition, seed), naming both files and lines.
    """
    return _read_unique(paths, Prediction, lambda row: row.key, "prediction")


def read_judgements(paths: Iterable[Path]) -> list[Judgement]:
    """The rows of all ``paths`` in order. InputError at the first bad row, or at the second row of
    one (item, model, condition, seed, rubric, judge), naming both files and lines.
    """
    return _read_unique(paths, Judgement, lambda row: row.key, "judgement")


def _read_unique(
    paths: Iterable[Path],
    kind: type[ResultT],
    key_of: Callable[[ResultT], tuple[object, ...]],
    noun: str,
) -> list[ResultT]:
    found: list[ResultT] = []
    first: dict[tuple[object, ...], tuple[Path, int]] = {}
    for path in paths:
        for row in read_rows(path, kind):
            key = key_of(row.record)
            if key in first:
                before, line = first[key]
                raise InputError(
                    f"the same {noun} as {before}, line {line}: {_spell(row.record)}",
                    where=f"{path}, line {row.line}",
                    remedy="keep one of the two rows",
                )
            first[key] = (path, row.line)
            found.append(row.record)
    return found


def _spell(record: Prediction | Judgement) -> str:
    names = (
        ("item", "part", "model", "condition", "seed")
        if isinstance(record, Prediction)
        else ("item", "model", "condition", "seed", "rubric", "judge")
    )
    pairs = ((name, getattr(record, name)) for name in names)
    return ", ".join(f"{name} {value}" for name, value in pairs if value is not None)


def plan_path(beside: Path) -> Path:
    """Where the plan of the predictions file ``beside`` lies: ``plan.json`` in the same folder."""
    return beside.parent / "plan.json"


def read_plan(beside: Path) -> Plan | None:
    """The plan beside the predictions file ``beside``, None if there is none. InputError if it
    cannot be read.
    """
    path = plan_path(beside)
    if not path.exists():
        return None
    return read_json(path, Plan)
