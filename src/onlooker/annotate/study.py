"""STUDY.yaml: who is asked what about which items, how often, and who may see what.

```yaml
name: pilot                   # names the database (its schema in PostgreSQL)
bundle: my-bundle             # the name in bundle.yaml
form: answer                  # a form of the bundle's family
overlap: 3                    # how many people an item needs
seed: 1
items: {tasks: [choice], labels: {capability: [G, W]}, sample: {strata: [capability], each: 10}}
warm_up: [q1, q2]             # shown first to everybody, in no export
gold: {every: 10, answers: {q7: {answer: [B]}}, least_share: 0.7}
breaks: {every_min: 45}
```
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from onlooker.errors import InputError
from onlooker.protocol.form import Form, OptOutWord
from onlooker.records.problem import Problem, explain
from onlooker.records.record import Id, Texts

Role: TypeAlias = Literal["rater", "expert", "monitor", "owner"]
Right: TypeAlias = Literal["rate", "adjudicate", "monitor", "export"]

_Words = Annotated[tuple[str | int | float | bool, ...], Field(strict=False, min_length=1)]
_Roles = Annotated[tuple[Role, ...], Field(strict=False)]
_PositiveInt = Annotated[int, Field(ge=1)]
_Positive = Annotated[float, Field(gt=0)]
_Paths = Annotated[tuple[str, ...], Field(strict=False)]


class _Part(BaseModel):
    """Strict, frozen, and without fields that nobody knows: a slip of the pen is an error, not a setting ignored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Sample(_Part):
    """At most ``each`` cases of every stratum. ``strata``: labels of the item, ``task``, ``episode``, and for replies
    ``model``, ``condition``, ``score`` (the judge's total, cut at ``score_cuts``: [2, 4] makes three strata)."""

    strata: Texts = ()
    each: _PositiveInt
    score_cuts: Annotated[tuple[float, ...], Field(strict=False)] = ()


class Items(_Part):
    """Which items: all that the form is for, unless narrowed. Several conditions narrow together."""

    ids: Texts | None = None
    tasks: Texts | None = None
    labels: dict[str, _Words] = {}
    sample: Sample | None = None


class Gold(_Part):
    """Cases with known answers, one after every ``every`` ordinary ones. A field agrees where it is equal, a number
    also where it is within ``tolerance``. Raters who agree on less than ``least_share`` are flagged, never dropped."""

    every: _PositiveInt = 10
    answers: dict[str, dict[str, Any]]
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    least_share: Annotated[float, Field(ge=0, le=1)] = 0.7


class Breaks(_Part):
    """A pause is offered after ``every_min`` minutes of work; nobody is made to take it."""

    every_min: _Positive = 45.0


class Replies(_Part):
    """What models wrote, for forms about replies: files beside STUDY.yaml. ``rubric``, ``judge``: whose judgements
    give the stratum ``score`` and what a form may show as the verdict."""

    predictions: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    judgements: _Paths = ()
    rubric: str | None = None
    judge: str | None = None


class Rights(_Part):
    """Which roles may do what. A right that is not theirs answers 403, on pages and in the API alike."""

    rate: _Roles = ("rater", "expert")
    adjudicate: _Roles = ("expert", "owner")
    monitor: _Roles = ("monitor", "owner")
    export: _Roles = ("owner",)


class Retention(_Part):
    """What a withdrawal does unless told otherwise: ``detach`` keeps the answers under the pseudonym and forgets the
    person, ``delete`` takes their content out too. ``days``: how long the mapping of pseudonyms may be kept."""

    withdrawal: Literal["detach", "delete"] = "detach"
    days: _PositiveInt = 365


class Study(_Part):
    """A study as its file says. ``patience_min``: an opened case without any activity for so long goes to others;
    only time in which the server ran counts. ``per_rater``: at most so many ordinary cases a person. ``changes``:
    whether an answer given may be changed (as a new event). ``opt_outs``: those of the form that are offered (all)."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$")]
    bundle: Id
    form: Id
    title: str | None = None
    says: str | None = None
    overlap: _PositiveInt = 3
    seed: int = 0
    items: Items = Items()
    warm_up: Texts = ()
    gold: Gold | None = None
    breaks: Breaks | None = None
    patience_min: _Positive = 30.0
    per_rater: _PositiveInt | None = None
    changes: bool = True
    opt_outs: Annotated[tuple[OptOutWord, ...], Field(strict=False)] | None = None
    replies: Replies | None = None
    rights: Rights = Rights()
    retention: Retention = Retention()
    session_hours: _Positive = 12.0
    invitation_days: _Positive = 14.0

    def may(self, role: str, right: Right) -> bool:
        """Whether a role has a right."""
        return role in getattr(self.rights, right)


_REMEDIES: Final = {
    "extra_forbidden": "remove it, or spell it as docs/commands.md does",
    "missing": "add it",
}


def read_study(path: Path) -> Study:
    """The study in ``path``. Raises ``InputError`` that names file, field, value and remedy of everything wrong."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), remedy="name a STUDY.yaml") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = str(path) if mark is None else f"{path}, line {mark.line + 1}"
        cause = getattr(error, "problem", None) or "cannot be understood"
        raise InputError(f"not valid YAML: {cause}", where=where, remedy="write plain YAML, saved as UTF-8") from error
    try:
        return Study.model_validate(found)
    except ValidationError as error:
        raise _explained(error, found, path) from error


def _explained(error: ValidationError, found: object, path: Path) -> InputError:
    unknown = {
        ".".join(str(step) for step in detail["loc"]): detail["input"]
        for detail in error.errors(include_url=False)
        if detail["type"] == "extra_forbidden"
    }
    problems = [
        Problem(str(path), None, p.field, "no setting of this name", p.value, _REMEDIES["extra_forbidden"])
        if p.field in unknown
        else p
        for p in explain(error, found, str(path), None)
    ]
    first, *others = problems
    if not others:
        return first.error()
    listing = "\n  ".join(str(problem) for problem in others)
    return InputError(f"{first.error()}\n  {listing}\n{len(problems)} settings are wrong")


def check_against(study: Study, form: Form, bundle_name: str, path: Path) -> None:
    """Raise ``InputError`` where the study asks for what bundle and form do not have."""

    def wrong(field: str, what: str, value: object, remedy: str) -> InputError:
        return InputError(what, where=f"{path}, {field}", value=value, remedy=remedy)

    if study.bundle != bundle_name:
        raise wrong(
            "bundle", "the study is for another bundle", study.bundle, f"serve that one, or write {bundle_name}"
        )
    offered = [one.value for one in form.opt_outs]
    for word in study.opt_outs or ():
        if word not in offered:
            there = ", ".join(offered) or "none: leave opt_outs out"
            raise wrong("opt_outs", f"the form {form.name} does not offer this", word, there)
    if form.asks_about == "reply" and study.replies is None:
        raise wrong("replies", f"the form {form.name} is about replies of models", None, "name predictions")
    if form.asks_about == "item" and study.replies is not None:
        raise wrong("replies", f"the form {form.name} shows no replies of models", "replies", "remove it")
    if study.gold is not None:
        names = {field.name for field in form.fields}
        for case, answer in study.gold.answers.items():
            for name in set(answer) - names:
                raise wrong(f"gold.answers.{case}", "no field of the form", name, f"one of {', '.join(sorted(names))}")
        both = set(study.gold.answers) & set(study.warm_up)
        if both:
            raise wrong("warm_up", "a gold case too", sorted(both)[0], "keep it in one of the two")
