"""How a study stands, read-only: coverage, distributions, agreement, times, each rater's progress and flags."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any, Final

from onlooker.annotate.cases import stratum
from onlooker.annotate.distributions import distributions
from onlooker.annotate.effort import THRESHOLDS, gold_cases, per_moment, rater_rows
from onlooker.annotate.rows import judgement_rows, rating_rows, timestamp
from onlooker.annotate.shelf import Shelf
from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import DONE, Work
from onlooker.protocol.agreement import agreement

_HIDDEN: Final = frozenset(("model", "condition"))
_REST: Final = 9.0


@dataclass(frozen=True, slots=True)
class _Rated:
    item: str
    unit: str
    rater: str
    rubric: str
    value: float | str | None
    opt_out: str | None


class Watch:
    """``monitor`` for pages that ask every few seconds: computed again only after something happened, and at most a
    tenth of the time, so that watching never slows those who work."""

    def __init__(self, desk: Desk, shelf: Shelf | None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._desk, self._shelf, self._monotonic = desk, shelf, monotonic
        self._lock = threading.Lock()
        self._state: dict[str, Any] | None = None
        self._done_s = self._cost_s = 0.0

    def state(self) -> dict[str, Any]:
        """The state of now, or of a moment ago: ``event`` is the last event that it knows. Not to be changed."""
        with self._lock:
            begin_s = self._monotonic()
            if self._state is not None and (
                begin_s - self._done_s < _REST * self._cost_s or self._state["event"] == last_event(self._desk)
            ):
                return self._state
            self._state = monitor(self._desk, self._shelf)
            self._done_s = self._monotonic()
            self._cost_s = self._done_s - begin_s
            return self._state


def last_event(desk: Desk) -> int:
    """The number of the last event, 0 before the first."""
    row = desk.store.database.one("SELECT MAX(seq) FROM events")
    return 0 if row is None or row[0] is None else int(row[0])


def monitor(desk: Desk, shelf: Shelf | None = None) -> dict[str, Any]:
    """The whole state as JSON, of the moment of ``event``. Raters appear under their pseudonyms only.

    coverage, strata, items  answers given and wanted: of all, of every stratum of the sample (else every task), of
                    every case. Models and conditions appear as numbers, so that nobody is told who wrote what
    distributions   counts for every field of the form, see ``distributions``
    agreement       what ``onlooker agreement`` says about the export of this moment; for judgements the same function
                    over the people's labels of each reply
    seconds         {case, moment: quantiles} from opening to answering
    raters          states, opt-outs, times, gold, flags; see ``rater_rows``. ``thresholds`` are those of the flags
    gold            for each gold case how many of its fields were right
    """
    with desk.store.database.snapshot():
        event = last_event(desk)
        works = desk.store.works()
        raters = desk.store.raters()
    ordinary = desk.cases.ordinary
    plain = set(ordinary)
    counted = [work for work in works if work.state in DONE and work.case in plain]
    rows = _rows(desk, counted)
    gold = desk.study.gold
    items = _items(desk, ordinary, works)
    return {
        "event": event,
        "at": timestamp(desk.store.clock.wall()),
        "study": desk.study.name,
        "form": desk.form.name,
        "coverage": _coverage(items, desk.study.overlap),
        "strata": _strata(desk, items),
        "items": items,
        "states": dict(sorted(Counter(work.state for work in works if work.case in plain).items())),
        "opt_outs": dict(sorted(Counter(work.opt_out for work in counted if work.opt_out).items())),
        "distributions": distributions(desk, counted),
        "agreement": _agreements(desk, rows),
        "seconds": _seconds(desk, counted),
        "thresholds": {**THRESHOLDS, "gold_least_share": None if gold is None else gold.least_share},
        "raters": rater_rows(desk, shelf, [r.id for r in raters if r.role in desk.study.rights.rate], works),
        "gold": gold_cases(desk, works),
        "cannot_play": _cannot_play(desk, works),
    }


def _rows(desk: Desk, counted: Sequence[Work]) -> list[dict[str, Any]]:
    rows = judgement_rows if desk.form.records == "judgements" else rating_rows
    return [row for work in counted for row in rows(desk.form, desk.cases.by_id[work.case], work)]


def _items(desk: Desk, ordinary: Sequence[str], works: Sequence[Work]) -> list[dict[str, Any]]:
    """One row a case, in the order of the study."""
    states: dict[str, Counter[str]] = defaultdict(Counter)
    for work in works:
        states[work.case][work.state] += 1
    return [
        {
            "case": case,
            "item": desk.cases.by_id[case].item.id,
            "answered": states[case]["answered"],
            "opted_out": states[case]["opted_out"],
            "open": states[case]["assigned"],
            "missing": max(0, desk.study.overlap - states[case]["answered"] - states[case]["opted_out"]),
        }
        for case in ordinary
    ]


def _coverage(items: Sequence[Mapping[str, Any]], overlap: int) -> dict[str, Any]:
    done = [one["answered"] + one["opted_out"] for one in items]
    return {
        "cases": len(items),
        "overlap": overlap,
        "wanted": len(items) * overlap,
        "done": sum(done),
        "open": sum(one["open"] for one in items),
        "complete": sum(one["missing"] == 0 for one in items),
        "by_answers": {str(n): count for n, count in sorted(Counter(done).items())},
    }


def _strata(desk: Desk, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sample = desk.study.items.sample
    names = sample.strata if sample is not None and sample.strata else ("task",)
    numbers: dict[str, dict[str, str]] = {name: {} for name in names if name in _HIDDEN}
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for one in items:
        case = desk.cases.by_id[one["case"]]
        words = []
        for name in names:
            word = stratum(case, name, sample.score_cuts if sample is not None else ())
            if name in _HIDDEN:
                word = numbers[name].setdefault(word, f"no. {len(numbers[name]) + 1}")
            words.append(word)
        found[tuple(words)].append(one)
    rows = [{"stratum": list(words), **_coverage(own, desk.study.overlap)} for words, own in sorted(found.items())]
    return {"by": list(names), "rows": rows}


def _agreements(desk: Desk, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if desk.form.records == "judgements":
        rated = [
            _Rated(r["item"], f"{r['model']}/{r['condition']}/{r['seed']}", r["judge"], name, value, None)
            for r in rows
            for name, value in r["labels"].items()
        ]
    else:
        rated = [_Rated(r["item"], r["unit"], r["rater"], r["rubric"], r["value"], r["opt_out"]) for r in rows]
    by_rubric: dict[str, list[_Rated]] = defaultdict(list)
    for one in rated:
        by_rubric[one.rubric].append(one)
    found = {}
    for rubric, own in sorted(by_rubric.items()):
        result = agreement((("the study", row) for row in own), rubric, "the study")
        found[rubric] = {**result.report, "notes": result.notes}
    return found


def _seconds(desk: Desk, counted: Sequence[Work]) -> dict[str, Any]:
    timed = [work for work in counted if work.state == "answered" and work.seconds is not None]
    found = {"case": _spread([work.seconds for work in timed if work.seconds is not None])}
    if desk.form.needs_moments:
        found["moment"] = _spread([s for work in timed if (s := per_moment(desk, work)) is not None])
    return found


def _spread(values: Sequence[float]) -> dict[str, Any]:
    """n, least, lower quartile, median, upper quartile, most; without any value only n."""
    if not values:
        return {"n": 0}
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return {"n": len(values), "least": min(values), "q1": low, "median": middle, "q3": high, "most": max(values)}


def _cannot_play(desk: Desk, works: Sequence[Work]) -> list[dict[str, Any]]:
    return [
        {"item": desk.cases.by_id[work.case].item.id, "rater": work.rater, "says": work.says}
        for work in works
        if work.state == "cannot_play"
    ]
