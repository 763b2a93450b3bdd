"""What must hold for the requests and the scoring of every benchmark, also of other people's.

Call ``check_benchmark`` in the tests of a package that offers a benchmark; ``onlooker describe`` calls it too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from onlooker.errors import OnlookerError
from onlooker.models.request import Image, Modality, Options, Part, Sound, Text, Video
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.protocol.scoring import Answer, Case, Grade, Private, Reply, Scope
from onlooker.protocol.specimen import Specimen, specimen_items, specimens
from onlooker.records.public import Episode
from onlooker.text.outcome import Unparsed

# What models take: every condition has to make sense for each of them that it can be asked of.
_AUDIENCES: Final[tuple[tuple[Modality, ...], ...]] = (
    ("text", "image"),
    ("text", "image", "sound"),
    ("text", "image", "video"),
    ("text", "image", "sound", "video"),
)
_FRAMES = re.compile(r"\bframes?\b", re.IGNORECASE)
_SOUND = re.compile(r"\b(?:sounds?|audio)\b", re.IGNORECASE)
_TRANSCRIPT = re.compile(r"\b(?:transcripts?|what is said|words spoken)\b", re.IGNORECASE)
_SUBTITLES = re.compile(r"\bsubtitles?\b", re.IGNORECASE)


def check_benchmark(benchmark: Benchmark) -> list[str]:
    """Every problem found, each a sentence; none where the benchmark keeps the rules.

    Each condition is rendered on a made-up item of every task that it is for, in every perspective that the family has,
    for models with and without ears and for those that take video files. It must send all that is given, each frame
    after its own time in seconds with two decimals (or without, where ``clock`` hides times), and speak of no medium
    that is not given ("frame", "sound", "audio", "transcript", "what is said", "subtitle" are the words looked for).
    Two conditions may render the same only where one says ``same_as``. The reply "Answer: A" must be parsed, and the
    main metric must be among the metrics.
    A benchmark that has no conditions has no requests to check: its list is empty.
    """
    if not benchmark.conditions:
        return []
    return [*_request_problems(benchmark), *_scoring_problems(benchmark)]


def _request_problems(benchmark: Benchmark) -> Iterator[str]:
    rendered: dict[str, list[tuple[Part, ...]]] = {}
    for condition in benchmark.conditions:
        found: dict[str, None] = {}
        for accepts in _AUDIENCES:
            if condition.video == "required" and "video" not in accepts:
                continue
            for specimen in specimens(benchmark, condition, accepts):
                try:
                    parts = specimen.parts(benchmark, condition)
                except Exception as error:  # noqa: BLE001 - whatever a benchmark's own code raises is the finding
                    found[f"cannot be rendered: {_said(error)}"] = None
                    continue
                found.update(dict.fromkeys(_part_problems(parts, condition, specimen)))
                rendered.setdefault(condition.name, []).append(parts)
        yield from (f"condition {condition.name}: {problem}" for problem in found)
    for one, two in itertools.combinations(benchmark.conditions, 2):
        if one.name not in rendered or two.name not in rendered:
            continue
        same = _setting(benchmark, one) == _setting(benchmark, two) and rendered[one.name] == rendered[two.name]
        declared = two.same_as == one.name or one.same_as == two.name
        if same and not declared:
            yield f"conditions {one.name} and {two.name}: the same request; let one go, or say same_as"
        if declared and not same:
            yield f"conditions {one.name} and {two.name}: same_as is said, but their requests differ"


def _part_problems(parts: tuple[Part, ...], condition: Condition, specimen: Specimen) -> Iterator[str]:
    given = specimen.given
    shown = [part for part in parts if isinstance(part, Image | Video)]
    if shown != list(specimen.shown):
        yield f"{len(specimen.shown)} frames or files are given and {len(shown)} sent, or in another order"
    for before, part in itertools.pairwise((Text(""), *parts)):
        told = isinstance(part, Image) and isinstance(before, Text) and f"{part.time_s:.2f}" in before.text
        if isinstance(part, Image) and condition.clock == "shown" and not told:
            yield f"the frame at {part.time_s:.2f} s is not announced by its own time"
        if isinstance(part, Image) and condition.clock == "hidden" and told:
            yield f"the time of the frame at {part.time_s:.2f} s is told, and the condition hides times"
    if [part for part in parts if isinstance(part, Sound)] != ([given.sound] if given.sound else []):
        yield "the sound is given and not sent, or the other way round"
    words = " ".join(part.text for part in parts if isinstance(part, Text) and not part.material)
    if (given.transcript or "") not in "".join(part.text for part in parts if isinstance(part, Text)):
        yield "the words spoken are given and not sent"
    options = [part for part in parts if isinstance(part, Options)]
    texts = [option.text for option in getattr(specimen.item, "options", ())]
    if texts and not options and not all(text in words for text in texts):
        yield "the answer options are not sent"
    frames = any(isinstance(part, Image) for part in specimen.shown)
    heard = given.sound is not None or any(isinstance(part, Video) for part in specimen.shown)
    absent = (
        (_FRAMES, frames),
        (_SOUND, heard),
        (_TRANSCRIPT, given.transcript is not None),
        (_SUBTITLES, condition.medium == "with_subtitles" or given.transcript is not None),
    )
    for pattern, there in absent:
        named = pattern.search(words)
        if named and not there:
            yield f"the prompt speaks of {named.group()!r}, which is not given"


def _scoring_problems(benchmark: Benchmark) -> Iterator[str]:
    family = benchmark.scoring
    item = specimen_items(benchmark)[0][1]
    try:
        answer: object = family.parse(item, "Answer: A", None)
        if not isinstance(answer, Answer | Unparsed):
            yield f"parse gives {type(answer).__name__}, neither an Answer nor Unparsed"
            return
        cases = [
            Case(one, Episode(id="specimen"), 0, Private(None), Reply("missing", None, {}, judged=False), Grade(None))
            for _, one in specimen_items(benchmark)
        ]
        scope = Scope(benchmark.conditions[0].name, tuple(case.item for case in cases), judged=False)
        names = [metric.name for metric in family.metrics(cases, scope)]
        guessed = {metric.name for metric in family.answer_metrics(cases, scope)}
    except Exception as error:  # noqa: BLE001 - whatever a benchmark's own code raises is the finding
        yield f"scoring a made-up question fails: {_said(error)}"
        return
    if len(set(names)) < len(names):
        yield f"metrics of the same name: {', '.join(sorted({n for n in names if names.count(n) > 1}))}"
    if not guessed <= set(names):
        yield f"answer_metrics that metrics lacks: {', '.join(sorted(guessed - set(names)))}"
    if benchmark.main_metric not in names:
        yield f"the main metric {benchmark.main_metric} is not among the metrics: {', '.join(names)}"


def _setting(benchmark: Benchmark, condition: Condition) -> tuple[object, ...]:
    """What a request depends on beside its words."""
    medium = condition.medium if condition.frames or condition.sound or condition.video != "never" else None
    views: tuple[object, ...] = ()
    if condition.views and benchmark.views is not None:
        views = tuple(
            benchmark.views(one.item, condition, one.part, None)
            for one in specimens(benchmark, condition, _AUDIENCES[-1])
        )
    own = (condition.frames, medium, condition.sound, condition.transcript, condition.max_output_tokens)
    # An arrangement that only leaves items out (``same_as`` says so) changes no request.
    arranged = condition.arrangement if condition.same_as is None else None
    return (*own, condition.video, condition.transcript_stands_in, condition.json_object, views, arranged)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, OnlookerError) else f"{type(error).__name__}: {error}"
