"""How a study stands, read-only: coverage, distributions, agreement, each rater's progress and flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from onlooker.annotate.answers import extents
from onlooker.annotate.export import collect
from onlooker.annotate.shelf import Shelf
from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import DONE, Work
from onlooker.protocol.agreement import agreement

# A flag needs so many answers: with fewer, fast or constant is no sign of anything.
_LEAST: Final = 10
_FAST_SHARE: Final = 1 / 3
_LISTED_VALUES: Final = 50


@dataclass(frozen=True, slots=True)
class _Rated:
    item: str
    unit: str
    rater: str
    rubric: str
    value: float | str | None
    opt_out: str | None


def monitor(desk: Desk, shelf: Shelf | None = None) -> dict[str, Any]:
    """The whole state as JSON. ``agreement``: what ``onlooker agreement`` says about the export of this moment.

    Flags are hints for a person to look, with the number behind each: ``fast`` (the median time is under a third of the
    others'), ``constant`` (ten or more answers, all the same), ``unplayed`` (share of answers before anything was
    played, over half), ``gold`` (fewer gold cases right than the study asks).
    """
    with desk.store.database.snapshot():
        works = desk.store.works()
        held = desk.store.held()
        raters = desk.store.raters()
        rows = collect(desk).files[desk.form.records]
    plain = set(desk.cases.ordinary)
    done = Counter(work.case for work in works if work.state in DONE and work.case in plain)
    states = Counter(work.state for work in works if work.case in plain)
    overlap = desk.study.overlap
    return {
        "study": desk.study.name,
        "form": desk.form.name,
        "coverage": {
            "cases": len(plain),
            "overlap": overlap,
            "wanted": len(plain) * overlap,
            "done": sum(done.values()),
            "open": sum(held[case] for case in plain) - sum(done.values()),
            "complete": sum(done[case] >= overlap for case in plain),
            "by_answers": dict(sorted(Counter(str(done[case]) for case in plain).items())),
        },
        "states": dict(sorted(states.items())),
        "opt_outs": dict(sorted(Counter(w.opt_out for w in works if w.opt_out and w.case in plain).items())),
        "distributions": _distributions(rows),
        "agreement": _agreements(rows) if desk.form.records == "ratings" else {},
        "raters": _raters(desk, shelf, [r.id for r in raters if r.role in desk.study.rights.rate], works),
        "cannot_play": _cannot_play(desk, works),
    }


def _distributions(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """{rubric: {value: count}}; of words that are all different only the commonest."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        values = row.get("labels") or {row["rubric"]: row.get("value")}
        for name, value in values.items():
            if value is not None:
                found.setdefault(name, Counter())[str(value)] += 1
    return {name: dict(sorted(c.most_common(_LISTED_VALUES))) for name, c in sorted(found.items())}


def _agreements(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rated = [_Rated(r["item"], r["unit"], r["rater"], r["rubric"], r["value"], r["opt_out"]) for r in rows]
    found = {}
    for rubric in sorted({row.rubric for row in rated}):
        result = agreement((("the study", row) for row in rated), rubric, "the study")
        found[rubric] = {**result.report, "notes": result.notes}
    return found


def _raters(desk: Desk, shelf: Shelf | None, raters: Sequence[str], works: Sequence[Work]) -> list[dict[str, Any]]:
    by_rater: dict[str, list[Work]] = {rater: [] for rater in raters}
    for work in works:
        by_rater.setdefault(work.rater, []).append(work)
    seconds = {r: [w.seconds for w in ws if w.state in DONE and w.seconds is not None] for r, ws in by_rater.items()}
    listed = []
    for rater, own in by_rater.items():
        others = [s for other, times in seconds.items() if other != rater for s in times]
        counts = Counter(work.state for work in own)
        gold = _gold_share(desk, own)
        flags: dict[str, float] = {}
        answered = [work for work in own if work.state == "answered"]
        if len(seconds[rater]) >= _LEAST and others and median(seconds[rater]) < _FAST_SHARE * median(others):
            flags["fast"] = median(seconds[rater])
        if len(answered) >= _LEAST and all(work.answer == answered[0].answer for work in answered):
            flags["constant"] = len(answered)
        if shelf is not None and answered:
            unplayed = sum(not _was_played(desk, shelf, work) for work in answered) / len(answered)
            if unplayed > 0.5:
                flags["unplayed"] = unplayed
        if gold is not None and desk.study.gold is not None and gold < desk.study.gold.least_share:
            flags["gold"] = gold
        listed.append(
            {
                "rater": rater,
                "states": dict(sorted(counts.items())),
                "median_seconds": median(seconds[rater]) if seconds[rater] else None,
                "gold_share": gold,
                "flags": flags,
            }
        )
    return listed


def _was_played(desk: Desk, shelf: Shelf, work: Work) -> bool:
    """Whether at least half of what the page shows was played, where it shows anything."""
    placed = shelf.by_case.get(work.case, ())
    wanted = played = 0.0
    for one in placed:
        case = desk.cases.by_id[work.case]
        wanted += sum(b - a for _, a, b in extents(desk.form, case, one.view, one.medium.duration_s))
        played += sum(b - a for a, b in work.played.get(one.view.medium, ()))
    return not placed or played >= 0.5 * wanted


def _gold_share(desk: Desk, own: Sequence[Work]) -> float | None:
    """The share of gold fields that agree; None before the first gold case."""
    gold = desk.study.gold
    if gold is None:
        return None
    right = [
        _agrees((work.answer or {}).get(name), wanted, gold.tolerance)
        for work in own
        if work.state in DONE and work.case in gold.answers
        for name, wanted in gold.answers[work.case].items()
    ]
    return sum(right) / len(right) if right else None


def _agrees(given: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(_agrees(given.get(k), v, tolerance) for k, v in wanted.items())
    if isinstance(wanted, int | float) and isinstance(given, int | float) and not isinstance(wanted, bool):
        return abs(given - wanted) <= tolerance
    return bool(given == wanted)


def _cannot_play(desk: Desk, works: Sequence[Work]) -> list[dict[str, Any]]:
    return [
        {"item": desk.cases.by_id[work.case].item.id, "rater": work.rater, "says": work.says}
        for work in works
        if work.state == "cannot_play"
    ]
