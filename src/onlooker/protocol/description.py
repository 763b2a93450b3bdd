"""The effective protocol of a condition, spelled out and hashed: what ``onlooker describe`` prints.

The prompt is rendered on a specimen item with specimen media, by the same code as every real request, so that a change
of template, option layout or sampler always shows as a difference.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from onlooker.models.request import Image, Options, Part, Sound, Text
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.protocol.condition import Condition
from onlooker.records.public import ChoiceItem

SPECIMEN_TRANSCRIPT = "[0.0-1.5] {words spoken}"
_SPECIMEN_TIMES_S = (0.0, 1.5)


def describe_condition(benchmark: Benchmark, condition: Condition) -> dict[str, Any]:
    """The condition as JSON values: its settings, the specimen prompts and the ``sha256`` of all of that."""
    settings = dataclasses.asdict(condition)
    prompts = {
        perspective: [_spelled(p, condition) for p in specimen_request(benchmark, condition, perspective)]
        for perspective in benchmark.labels.closed.get("perspective", ("any",))
    }
    body = {"family": benchmark.family, "condition": settings, "prompts": prompts}
    canonical = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return {**body, "sha256": hashlib.sha256(canonical.encode()).hexdigest()}


def specimen_request(benchmark: Benchmark, condition: Condition, perspective: str = "any") -> tuple[Part, ...]:
    """The parts of a request for a made-up item under the condition, with everything the condition can give."""
    item = ChoiceItem.model_validate(
        {
            "id": "specimen",
            "episode": "specimen",
            "task": "choice",
            "question": "{the question}",
            "select": "one",
            "options": [{"id": "A", "text": "{first option}"}, {"id": "B", "text": "{second option}"}],
            **({} if perspective == "any" else {"perspective": perspective}),
        }
    )
    given = Given(
        frames=tuple(Image(b"", time_s, "") for time_s in _SPECIMEN_TIMES_S) if condition.frames else (),
        sound=Sound(b"", 0.0, 3.0, "") if condition.sound else None,
        transcript=SPECIMEN_TRANSCRIPT if condition.transcript else None,
    )
    return benchmark.render(item, condition, given)


def _spelled(part: Part, condition: Condition) -> str:
    match part:
        case Text() | Options():
            return part.text
        case Image():
            return f"<frame of {condition.medium} by {condition.frames}>"
        case Sound():
            return f"<sound of {condition.medium}>"


def describe_text(benchmark: Benchmark, conditions: Sequence[Condition]) -> str:
    """The protocol of these conditions as a person reads and compares it."""
    lines = [f"{benchmark.title} ({benchmark.family}): {benchmark.claims}", benchmark.citation, ""]
    for condition in conditions:
        body = describe_condition(benchmark, condition)
        lines += [f"== {condition.name}: {condition.says}", f"sha256 {body['sha256']}"]
        lines += [f"{name}: {value}" for name, value in body["condition"].items() if name not in {"name", "says"}]
        for perspective, parts in body["prompts"].items():
            lines += ["", f"-- prompt ({perspective} perspective)", *"".join(parts).splitlines()]
        lines.append("")
    return "\n".join(lines)
