"""Each rater's progress, and hints at work done without care: for a person to look at, never a reason to drop."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from onlooker.annotate.answers import extents
from onlooker.annotate.distributions import values_of
from onlooker.annotate.rows import timestamp
from onlooker.annotate.shelf import Shelf
from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import DONE, Work
from onlooker.records.public import IntensityItem

THRESHOLDS: Final = {"least_answers": 10, "fast_share": 1 / 3, "played_share": 0.5, "unplayed_share": 0.5}
"""The flags' thresholds. With fewer than ``least_answers``, fast or constant is no sign of anything."""


def rater_rows(desk: Desk, shelf: Shelf | None, raters: Sequence[str], works: Sequence[Work]) -> list[dict[str, Any]]:
    """One row a rater: ``states`` of the ordinary cases, ``opt_outs``, ``median_seconds`` (a case) and
    ``median_moment_seconds``, ``gold_share``, ``last_at``, and ``flags`` with the number behind each:

    fast      ten or more answers, whose median time is under a third of the median of the other raters' medians
    constant  ten or more answers, and every field was always answered the same
    unplayed  more than half of at least ten answers came before half of what they are about was played
    gold      a smaller share of gold fields right than the study asks
    """
    ordinary = set(desk.cases.ordinary)
    by_rater: dict[str, list[Work]] = {rater: [] for rater in raters}
    for work in works:
        by_rater.setdefault(work.rater, []).append(work)
    medians = {
        rater: median(times)
        for rater, own in by_rater.items()
        if (times := [w.seconds for w in own if w.state == "answered" and w.seconds is not None and w.case in ordinary])
    }
    listed = []
    for rater, own in by_rater.items():
        plain = [work for work in own if work.case in ordinary]
        by_moment = [s for work in plain if work.state == "answered" and (s := per_moment(desk, work)) is not None]
        gold = _gold_share(desk, own)
        last = max((work.at for work in own if work.at is not None), default=None)
        listed.append(
            {
                "rater": rater,
                "states": dict(sorted(Counter(work.state for work in plain).items())),
                "opt_outs": dict(sorted(Counter(w.opt_out for w in plain if w.state in DONE and w.opt_out).items())),
                "median_seconds": medians.get(rater),
                "median_moment_seconds": median(by_moment) if by_moment else None,
                "gold_share": gold,
                "last_at": None if last is None else timestamp(last),
                "flags": _flags(desk, shelf, rater, plain, medians, gold),
            }
        )
    return listed


def per_moment(desk: Desk, work: Work) -> float | None:
    """Seconds a moment of an answer; None where the case has no moments."""
    item = desk.cases.by_id[work.case].item
    if not desk.form.needs_moments or not isinstance(item, IntensityItem) or work.seconds is None:
        return None
    return work.seconds / len(item.moments)


def gold_cases(desk: Desk, works: Sequence[Work]) -> list[dict[str, Any]]:
    """{case, answers, right_share} of every gold case; a share below the others' hints at a wrong key."""
    by_case: dict[str, list[bool]] = {case: [] for case in (desk.study.gold.answers if desk.study.gold else ())}
    answers = Counter(work.case for work in works if work.state in DONE)
    for work in works:
        if work.case in by_case:
            by_case[work.case] += _right(desk, work)
    return [
        {"case": case, "answers": answers[case], "right_share": sum(right) / len(right) if right else None}
        for case, right in by_case.items()
    ]


def _flags(
    desk: Desk,
    shelf: Shelf | None,
    rater: str,
    plain: Sequence[Work],
    medians: dict[str, float],
    gold: float | None,
) -> dict[str, float]:
    flags: dict[str, float] = {}
    answered = [work for work in plain if work.state == "answered"]
    if len(answered) >= THRESHOLDS["least_answers"]:
        others = [seconds for other, seconds in medians.items() if other != rater]
        if rater in medians and others and medians[rater] < THRESHOLDS["fast_share"] * median(others):
            flags["fast"] = medians[rater]
        if _is_constant(desk, answered):
            flags["constant"] = len(answered)
        if shelf is not None:
            unplayed = sum(not _was_played(desk, shelf, work) for work in answered) / len(answered)
            if unplayed > THRESHOLDS["unplayed_share"]:
                flags["unplayed"] = unplayed
    if gold is not None and desk.study.gold is not None and gold < desk.study.gold.least_share:
        flags["gold"] = gold
    return flags


def _is_constant(desk: Desk, answered: Sequence[Work]) -> bool:
    """Whether every field has one value throughout, over all cases and moments."""
    given: dict[str, set[str]] = defaultdict(set)
    for work in answered:
        for field in desk.form.fields:
            given[field.name].update(json.dumps(value) for value in values_of(field, work.answer or {}))
            if len(given[field.name]) > 1:
                return False
    return True


def _was_played(desk: Desk, shelf: Shelf, work: Work) -> bool:
    """Whether at least half of what the page shows was played, where it shows anything."""
    placed = shelf.by_case.get(work.case, ())
    wanted = played = 0.0
    for one in placed:
        case = desk.cases.by_id[work.case]
        wanted += sum(b - a for _, a, b in extents(desk.form, case, one.view, one.medium.duration_s))
        played += sum(b - a for a, b in work.played.get(one.view.medium, ()))
    return not placed or played >= THRESHOLDS["played_share"] * wanted


def _gold_share(desk: Desk, own: Sequence[Work]) -> float | None:
    """The share of gold fields that agree; None before the first gold case."""
    right = [one for work in own for one in _right(desk, work)]
    return sum(right) / len(right) if right else None


def _right(desk: Desk, work: Work) -> list[bool]:
    """For each gold field of the case whether it agrees; empty for an ordinary case."""
    gold = desk.study.gold
    if gold is None or work.state not in DONE:
        return []
    wanted = gold.answers.get(work.case, {})
    return [_agrees((work.answer or {}).get(name), value, gold.tolerance) for name, value in wanted.items()]


def _agrees(given: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(_agrees(given.get(k), v, tolerance) for k, v in wanted.items())
    if isinstance(wanted, int | float) and isinstance(given, int | float) and not isinstance(wanted, bool):
        return abs(given - wanted) <= tolerance
    return bool(given == wanted)
