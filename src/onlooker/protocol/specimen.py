"""Made-up items with made-up media, to see what a condition would send: for ``describe``, and for the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from onlooker.models.request import Image, Modality, Part, Sound, Video
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.records.public import ITEM, Item

if TYPE_CHECKING:
    from onlooker.protocol.condition import Condition
    from onlooker.protocol.view import View

TIMES_S: Final = (0.0, 0.633, 3.8)
WORDS: Final = "[0.0-1.5] {words spoken}"
_WINDOW: Final = {"start_s": 10.0, "end_s": 13.0}
_OPTIONS: Final = [{"id": "A", "text": "{first option}"}, {"id": "B", "text": "{second option}"}]
_TASKS: Final[dict[str, dict[str, Any]]] = {
    "choice": {"question": "{the question}", "select": "one", "options": _OPTIONS},
    "open": {"question": "{the question}"},
    "intensity": {"moments": [{"id": f"m{n}", "start_s": 10.0 * n, "end_s": 10.0 * n + 3} for n in range(2)]},
    "matching": {
        "window": _WINDOW,
        "candidates": [
            {"id": letter, "episode": "specimen", "start_s": 10.0 * n, "end_s": 10.0 * n + 4}
            for n, letter in enumerate("ABCD")
        ],
    },
    "rationale": {"window": _WINDOW},
}


@dataclass(frozen=True, slots=True)
class Specimen:
    """One made-up call. ``title`` tells it from the others of its condition; ``shown``: frames and files, in order."""

    title: str
    item: Item
    part: str | None
    given: Given
    shown: tuple[Image | Video, ...]

    def parts(self, benchmark: Benchmark, condition: Condition) -> tuple[Part, ...]:
        """The request, by the family's own code."""
        if condition.calls == "video" and benchmark.video_calls is not None:
            return benchmark.video_calls.render([self.item], condition, self.given)
        if condition.calls == "part" and benchmark.part_calls is not None and self.part is not None:
            return benchmark.part_calls.render(self.item, condition, self.given, self.part)
        return benchmark.render(self.item, condition, self.given)


def specimens(
    benchmark: Benchmark, condition: Condition, accepts: Collection[Modality], times_s: tuple[float, ...] = TIMES_S
) -> Iterator[Specimen]:
    """A call of every task that the condition is for, in every perspective, for a model that takes ``accepts``."""
    for title, item in specimen_items(benchmark):
        if not benchmark.scoring.owes(condition.name, item):
            continue
        part = None
        if condition.calls == "part" and benchmark.part_calls is not None:
            part = benchmark.part_calls.names(item, condition)[0]
        given = _given(benchmark, condition, item, part, accepts, times_s)
        shown: list[Image | Video] = [*given.frames, *([given.video] if given.video else [])]
        for view in given.views.values():
            shown += [*view.frames, *([view.video] if view.video else [])]
        yield Specimen(title, item, part, given, tuple(shown))


def specimen_items(benchmark: Benchmark) -> list[tuple[str, Item]]:
    """(title, made-up item) of every task and perspective, with the first value of every closed label."""
    labels = {label: next(iter(values)) for label, values in benchmark.labels.closed.items() if values}
    found = []
    for task in benchmark.tasks:
        for perspective in benchmark.labels.closed.get("perspective", ("any",)):
            own: dict[str, Any] = {"id": "specimen", "episode": "specimen", "task": task, "labels": dict(labels)}
            if perspective != "any":
                own |= {"perspective": perspective, "labels": {**labels, "perspective": perspective}}
            title = perspective if benchmark.tasks == ("choice",) else task
            found.append((title, ITEM.validate_python({**own, **_TASKS[task]})))
    return found


def _given(
    benchmark: Benchmark,
    condition: Condition,
    item: Item,
    part: str | None,
    accepts: Collection[Modality],
    times_s: tuple[float, ...],
) -> Given:
    gives = condition.gives(accepts)
    if condition.views and benchmark.views is not None:
        views = benchmark.views(item, condition, part, None)
        return Given(views={view.name: _view(view, n, times_s) for n, view in enumerate(views)})
    return Given(
        frames=tuple(_frame(time_s) for time_s in times_s) if gives.frames else (),
        sound=Sound(b"", 0.0, 3.8, "specimen") if gives.sound else None,
        transcript=WORDS if gives.transcript else None,
        video=_file("specimen", has_sound=gives.video_sound) if gives.video else None,
    )


def _view(view: View, place: int, times_s: tuple[float, ...]) -> Given:
    if view.video:
        return Given(video=_file(view.name, has_sound=view.sound))
    start_s = 0.0 if view.window is None else view.window[0]
    return Given(frames=tuple(_frame(start_s + time_s, f"specimen {place}") for time_s in times_s))


def _frame(time_s: float, source: str = "specimen") -> Image:
    return Image(b"", time_s, source)


def _file(name: str, *, has_sound: bool) -> Video:
    return Video(Path(f"{name}.mp4"), "00" * 32, 0, 0.0, 3.8, "specimen", has_sound, 512, 288)
