"""Whether experts endorse the judge's decisions.

Ratings under the rubric ``endorsement``: 1 (or ``agree``) endorses the decision on that item, 0 (or ``disagree``) does
not. A case is an item (with further fields ``model`` and ``condition`` of the rating where several runs' decisions were
reviewed). An expert sees a case once, so an expert's rate has Wilson's interval; pooled and capability rates hold
several reviews of one case and resample episodes. Paper: appendix L, tables 29 and 30.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.scoring import capability_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet
from onlooker.stats.interval import wilson

RUBRIC: Final = "endorsement"
WORDS: Final = {"agree": 1.0, "disagree": 0.0}


@dataclass(frozen=True, slots=True)
class Review:
    """One expert's word on one decision of the judge."""

    expert: str
    item: str
    case: tuple[str, str, str]
    endorsed: float


def endorsement(material: Material) -> Findings:
    """Rates by expert, pooled, by capability, and their mean over capabilities."""
    reviews = _reviews(material)
    if not reviews:
        raise InputError("no reviews of the judge's decisions", remedy=f"ratings under the rubric {RUBRIC}")
    items = [item for item in material.items if item in {one.item for one in reviews}]
    sheet = Sheet(material, items)
    columns = sheet.columns([one.item for one in reviews])
    values = [one.endorsed for one in reviews]
    groups = [capability_of(material.items[one.item]) for one in reviews]
    there = capabilities(material.items[item] for item in items)
    sheet.add("micro", columns.mean("", values))
    sheet.add("macro", columns.macro("", values, groups, there))
    for one in there:
        sheet.add(one, columns.mean("", [v if group == one else None for v, group in zip(values, groups, strict=True)]))
    found = sheet.solve()
    cases = {one: len({r.case for r, group in zip(reviews, groups, strict=True) if group == one}) for one in there}
    rows: list[tuple[Cell, ...]] = []
    experts: dict[str, Any] = {}
    for expert in sorted({one.expert for one in reviews}):
        own = [one.endorsed for one in reviews if one.expert == expert]
        low, high = wilson(sum(own), len(own)) or (None, None)
        rate = sum(own) / len(own)
        experts[expert] = {"value": rate, "low": low, "high": high, "n": len(own)}
        rows.append((expert, len(own), int(sum(own)), rate, low, high))
    rows.append(("pooled micro", len(values), int(sum(values)), *found["micro"].cells))
    rows.append(("capability macro", found["macro"].n, None, *found["macro"].cells))
    heads = ("rate", "low", "high")
    tables = (
        Table("Endorsed decisions of the judge", ("expert", "reviews", "endorsed", *heads), tuple(rows)),
        Table(
            "Endorsed decisions by capability",
            ("capability", "cases", "reviews", *heads),
            tuple((one, cases[one], found[one].n, *found[one].cells) for one in there),
        ),
    )
    data = {
        "cases": len({one.case for one in reviews}),
        "experts": experts,
        "pooled": {"micro": found["micro"].spell(), "macro": found["macro"].spell()},
        "capability": {one: found[one].spell() | {"cases": cases[one]} for one in there},
    }
    notes = ["intervals of experts are Wilson's, the others resample clusters", *sheet.notes(found)]
    return Findings(data, tables, (), tuple(notes))


def _reviews(material: Material) -> list[Review]:
    found = []
    seen: set[tuple[str, tuple[str, str, str]]] = set()
    for item, private in material.private.items():
        for rating in private.ratings:
            if rating.rubric != RUBRIC or rating.opt_out is not None or rating.value is None:
                continue
            where = f"ratings.jsonl, item {item}, rater {rating.rater}, rubric {RUBRIC}"
            value = WORDS.get(rating.value) if isinstance(rating.value, str) else rating.value
            if value not in (0, 1) or isinstance(value, bool):
                raise InputError(
                    "expected an endorsement", where=where, value=rating.value, remedy="1, 0, agree or disagree"
                )
            case = (item, str(rating.extra.get("model", "")), str(rating.extra.get("condition", "")))
            if (rating.rater, case) in seen:
                raise InputError("a second review of the same decision by the same expert", where=where)
            seen.add((rating.rater, case))
            found.append(Review(rating.rater, item, case, float(value)))
    return found


ANALYSIS = Analysis(
    name="endorsement",
    says="how often experts endorse the judge's decisions: by expert, pooled, by capability",
    source="appendix L, tables 29 and 30",
    run=endorsement,
    options={"resample": RUN_OPTIONS["resample"]},
)
