"""What must hold for the requests and the scoring of every benchmark, also of other people's.

Call ``check_benchmark`` in the tests of a package that offers a benchmark; ``onlooker describe`` calls it too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from onlooker.errors import OnlookerError
from onlooker.models.request import Image, Options, Part, Sound, Text
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.protocol.condition import Condition
from onlooker.protocol.scoring import Answer, Case, Grade, Private, Reply, Scope
from onlooker.records.public import ChoiceItem, Episode
from onlooker.text.outcome import Unparsed

TIMES_S = (0.0, 0.633, 3.8)
WORDS = "[0.0-1.5] {words spoken}"
_FRAMES = re.compile(r"\bframes?\b", re.IGNORECASE)
_SOUND = re.compile(r"\b(?:sounds?|audio)\b", re.IGNORECASE)
_TRANSCRIPT = re.compile(r"\b(?:transcripts?|what is said|words spoken)\b", re.IGNORECASE)
_SUBTITLES = re.compile(r"\bsubtitles?\b", re.IGNORECASE)


def check_benchmark(benchmark: Benchmark) -> list[str]:
    """Every problem found, each a sentence; none where the benchmark keeps the rules.

    Each condition is rendered on a made-up choice question, in every perspective that the family has, with everything
    that it gives and again for a model that takes no sound. It must send all that is given, each frame after its own
    time in seconds with two decimals, and speak of no medium that is not given ("frame", "sound", "audio",
    "transcript", "what is said", "subtitle" are the words looked for). Two conditions may render the same only where
    one says ``same_as``. The reply "Answer: A" must be parsed, and the main metric must be among the metrics.
    A benchmark that has no conditions has no requests to check: its list is empty.
    """
    if not benchmark.conditions:
        return []
    return [*_request_problems(benchmark), *_scoring_problems(benchmark)]


def _request_problems(benchmark: Benchmark) -> Iterator[str]:
    rendered: dict[str, list[tuple[Part, ...]]] = {}
    for condition in benchmark.conditions:
        full = _given(condition)
        variants = [full]
        if condition.sound and (condition.frames or condition.transcript):
            variants.append(replace(full, sound=None))
        found: dict[str, None] = {}
        for item, given in itertools.product(_items(benchmark), variants):
            try:
                parts = benchmark.render(item, condition, given)
            except Exception as error:  # noqa: BLE001 - whatever a benchmark's own code raises is the finding
                found[f"cannot be rendered: {_said(error)}"] = None
                continue
            found.update(dict.fromkeys(_part_problems(parts, condition, given)))
            if given is full:
                rendered.setdefault(condition.name, []).append(parts)
        yield from (f"condition {condition.name}: {problem}" for problem in found)
    for one, two in itertools.combinations(benchmark.conditions, 2):
        if one.name not in rendered or two.name not in rendered:
            continue
        same = _setting(one) == _setting(two) and rendered[one.name] == rendered[two.name]
        declared = two.same_as == one.name or one.same_as == two.name
        if same and not declared:
            yield f"conditions {one.name} and {two.name}: the same request; let one go, or say same_as"
        if declared and not same:
            yield f"conditions {one.name} and {two.name}: same_as is said, but their requests differ"


def _part_problems(parts: tuple[Part, ...], condition: Condition, given: Given) -> Iterator[str]:
    images = [part for part in parts if isinstance(part, Image)]
    if images != list(given.frames):
        yield f"{len(given.frames)} frames are given and {len(images)} sent, or in another order"
    for before, part in itertools.pairwise((Text(""), *parts)):
        if isinstance(part, Image) and not (isinstance(before, Text) and f"{part.time_s:.2f}" in before.text):
            yield f"the frame at {part.time_s:.2f} s is not announced by its own time"
    if [part for part in parts if isinstance(part, Sound)] != ([given.sound] if given.sound else []):
        yield "the sound is given and not sent, or the other way round"
    if (given.transcript or "") not in "".join(part.text for part in parts if isinstance(part, Text)):
        yield "the words spoken are given and not sent"
    if not any(isinstance(part, Options) for part in parts):
        yield "the answer options are not sent"
    words = " ".join(part.text for part in parts if isinstance(part, Text) and not part.material)
    absent = (
        (_FRAMES, bool(given.frames)),
        (_SOUND, given.sound is not None),
        (_TRANSCRIPT, given.transcript is not None),
        (_SUBTITLES, condition.medium == "with_subtitles" or given.transcript is not None),
    )
    for pattern, there in absent:
        named = pattern.search(words)
        if named and not there:
            yield f"the prompt speaks of {named.group()!r}, which is not given"


def _scoring_problems(benchmark: Benchmark) -> Iterator[str]:
    family = benchmark.scoring
    item = _items(benchmark)[0]
    try:
        answer: object = family.parse(item, "Answer: A", None)
        if not isinstance(answer, Answer | Unparsed):
            yield f"parse gives {type(answer).__name__}, neither an Answer nor Unparsed"
            return
        reply = Reply("scored", Answer(("A",)), {}, judged=False)
        case = Case(item, Episode(id="specimen"), 0, Private(None), reply, Grade(1.0))
        scope = Scope(benchmark.conditions[0].name, (item,), judged=False)
        names = [metric.name for metric in family.metrics([case], scope)]
        guessed = {metric.name for metric in family.answer_metrics([case], scope)}
    except Exception as error:  # noqa: BLE001 - whatever a benchmark's own code raises is the finding
        yield f"scoring a made-up question fails: {_said(error)}"
        return
    if len(set(names)) < len(names):
        yield f"metrics of the same name: {', '.join(sorted({n for n in names if names.count(n) > 1}))}"
    if not guessed <= set(names):
        yield f"answer_metrics that metrics lacks: {', '.join(sorted(guessed - set(names)))}"
    if benchmark.main_metric not in names:
        yield f"the main metric {benchmark.main_metric} is not among the metrics: {', '.join(names)}"


def _items(benchmark: Benchmark) -> list[ChoiceItem]:
    """A made-up question in each perspective, with the first value of every closed label."""
    labels = {label: next(iter(values)) for label, values in benchmark.labels.closed.items() if values}
    perspectives = benchmark.labels.closed.get("perspective", (None,))
    return [
        ChoiceItem.model_validate(
            {
                "id": "specimen",
                "episode": "specimen",
                "task": "choice",
                "question": "{the question}",
                "select": "one",
                "options": [{"id": "A", "text": "{first option}"}, {"id": "B", "text": "{second option}"}],
                "labels": labels if perspective is None else {**labels, "perspective": perspective},
                "perspective": perspective,
            }
        )
        for perspective in perspectives
    ]


def _given(condition: Condition) -> Given:
    return Given(
        frames=tuple(Image(b"", time_s, "specimen") for time_s in TIMES_S) if condition.frames else (),
        sound=Sound(b"", 0.0, 3.8, "specimen") if condition.sound else None,
        transcript=WORDS if condition.transcript else None,
    )


def _setting(condition: Condition) -> tuple[object, ...]:
    """What a request depends on beside its words."""
    medium = condition.medium if condition.frames or condition.sound else None
    return (condition.frames, medium, condition.sound, condition.transcript, condition.max_output_tokens)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, OnlookerError) else f"{type(error).__name__}: {error}"
