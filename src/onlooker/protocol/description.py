"""The effective protocol of a condition, spelled out and hashed: what ``onlooker describe`` prints.

The prompt is rendered on a specimen item with specimen media, by the same code as every real request, so that a change
of template, option layout or sampler always shows as a difference.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from onlooker.models.request import Image, Modality, Options, Part, Sound, Text, Video
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.protocol.judging import scale_lines
from onlooker.protocol.specimen import specimen_items, specimens
from onlooker.protocol.view import View

_TIMES_S: Final = (0.0, 1.5)
_HEARS: Final[tuple[Modality, ...]] = ("text", "image", "sound")
_EVERYTHING: Final[tuple[Modality, ...]] = (*_HEARS, "video")
# Fields that came with the first release stand in every description; later ones only where they say something, so that
# what is asked keeps its digest.
_FIRST: Final = frozenset(
    ("name", "says", "template", "frames", "medium", "sound", "transcript", "max_output_tokens", "same_as")
)


def describe_condition(benchmark: Benchmark, condition: Condition) -> dict[str, Any]:
    """The condition as JSON values: its settings, the specimen prompts and the ``sha256`` of all of that."""
    defaults = {field.name: field.default for field in dataclasses.fields(Condition)}
    settings = {
        name: value
        for name, value in dataclasses.asdict(condition).items()
        if name in _FIRST or value != defaults[name]
    }
    prompts = {title: _spelled_all(parts, condition) for title, parts in _prompts(benchmark, condition)}
    body: dict[str, Any] = {"family": benchmark.family, "condition": settings, "prompts": prompts}
    views = _views(benchmark, condition)
    if views:
        body["views"] = views
    canonical = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return {**body, "sha256": hashlib.sha256(canonical.encode()).hexdigest()}


def describe_judging(benchmark: Benchmark) -> list[dict[str, Any]]:
    """How judges are asked, as JSON values: labels with their scales, the prompt file, the ``sha256`` of both."""
    found = []
    for judging in benchmark.judging:
        item = specimen_items(benchmark)[0][1]
        body = {
            "rubric": judging.rubric.name,
            "says": judging.says,
            "scales": scale_lines(judging.rubric, item).split("\n"),
            "max_output_tokens": judging.max_output_tokens,
            "template": judging.template,
            "prompt": judging.prompts.source(judging.template),
        }
        canonical = json.dumps(body, ensure_ascii=False, sort_keys=True)
        found.append({**body, "sha256": hashlib.sha256(canonical.encode()).hexdigest()})
    return found


def _prompts(benchmark: Benchmark, condition: Condition) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """(title, request) of every task and perspective; twice where a model that takes video files is asked otherwise."""
    asked: list[tuple[str, tuple[Modality, ...]]] = [("", _HEARS)]
    if condition.video == "required":
        asked = [("", _EVERYTHING)]
    elif condition.video == "preferred":
        asked = [(", frames", ("text", "image")), (", video file", _EVERYTHING)]
    for suffix, accepts in asked:
        for one in specimens(benchmark, condition, accepts, _TIMES_S):
            yield f"{one.title}{suffix}", one.parts(benchmark, condition)


def _views(benchmark: Benchmark, condition: Condition) -> list[dict[str, Any]]:
    if not condition.views or benchmark.views is None:
        return []
    found: list[dict[str, Any]] = []
    for one in specimens(benchmark, condition, _EVERYTHING, _TIMES_S):
        found += [_spelled_view(view) for view in benchmark.views(one.item, condition, one.part, None)]
    return found


def _spelled_view(view: View) -> dict[str, Any]:
    body: dict[str, Any] = {"name": view.name, "media": list(view.media), "frames": view.frames}
    if view.video:
        body |= {"video": True, "sound": view.sound}
    if view.beside is not None:
        body["beside"] = _spelled_view(view.beside)
    return body


def _spelled_all(parts: tuple[Part, ...], condition: Condition) -> list[str]:
    return [_spelled(part, condition) for part in parts]


def _spelled(part: Part, condition: Condition) -> str:
    match part:
        case Text() | Options():
            return part.text
        case Image():
            return f"<frame of {condition.medium} by {condition.frames}>" if condition.frames else "<frame>"
        case Sound():
            return f"<sound of {condition.medium}>"
        case Video():
            return f"<video file {'with' if part.has_sound else 'without'} sound>"


def describe_text(benchmark: Benchmark, conditions: Sequence[Condition]) -> str:
    """The protocol of these conditions, and how judges are asked, as a person reads and compares it."""
    lines = [f"{benchmark.title} ({benchmark.family}): {benchmark.claims}", benchmark.citation, ""]
    for condition in conditions:
        body = describe_condition(benchmark, condition)
        lines += [f"== {condition.name}: {condition.says}", f"sha256 {body['sha256']}"]
        lines += [f"{name}: {value}" for name, value in body["condition"].items() if name not in {"name", "says"}]
        for view in body.get("views", ()):
            lines.append(f"view {json.dumps(view, ensure_ascii=False)}")
        named = "perspective" if benchmark.tasks == ("choice",) else "item"
        for title, parts in body["prompts"].items():
            lines += ["", f"-- prompt ({title} {named})", *"".join(parts).splitlines()]
        lines.append("")
    for judging in describe_judging(benchmark):
        lines += [f"== rubric {judging['rubric']}: {judging['says']}", f"sha256 {judging['sha256']}"]
        lines += [f"max_output_tokens: {judging['max_output_tokens']}", *judging["scales"]]
        lines += ["", f"-- prompt file {judging['template']}", *judging["prompt"].splitlines(), ""]
    return "\n".join(lines)


def describe_difference(benchmark: Benchmark, one: Condition, other: Condition) -> list[tuple[str, Any, Any]]:
    """(what, in ``one``, in ``other``) for everything in which two conditions differ, prompts line by line."""
    a, b = describe_condition(benchmark, one), describe_condition(benchmark, other)
    left, right = a["condition"], b["condition"]
    rows: list[tuple[str, Any, Any]] = [
        (name, left.get(name), right.get(name))
        for name in dict.fromkeys((*left, *right))
        if name not in {"name", "says"} and left.get(name) != right.get(name)
    ]
    for title in dict.fromkeys((*a["prompts"], *b["prompts"])):
        here, there = ("".join(body["prompts"].get(title, ())).splitlines() for body in (a, b))
        rows += [(f"prompt ({title})", line, None) for line in here if line.strip() and line not in there]
        rows += [(f"prompt ({title})", None, line) for line in there if line.strip() and line not in here]
    return rows
