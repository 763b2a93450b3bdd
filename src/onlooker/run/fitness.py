"""Whether a condition makes sense for a model: checked before the first call, so that nothing is asked in vain."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from onlooker.errors import InputError, OnlookerError
from onlooker.media.grid import grid_times, parse_policy
from onlooker.models.request import Modality
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition


def check_condition(
    benchmark: Benchmark, condition: Condition, accepts: Collection[Modality], media: Collection[str]
) -> None:
    """Raise ``InputError`` where the condition cannot be had, or the model would get another one's request.

    ``media``: the media that any episode of the bundle declares. The condition cannot be had where no episode has the
    medium that it shows, or the model does not take what it gives. The request is another one's where two conditions
    differ only in something the model does not take: ``no_audio`` is ``origin`` for a model without ears, and a
    difference between the two would be noise.
    """
    if condition.shows_media and condition.medium != "video" and condition.medium not in media:
        raise InputError(
            f"no episode of the bundle has the medium {condition.medium}, which the condition {condition.name} shows",
            remedy=f"add media.{condition.medium} to episodes.jsonl",
        )
    if condition.frames is not None:
        # What a policy lacks (an encoder for bolt) shows on any medium, so it is asked about one second of one.
        grid_times(parse_policy(condition.frames), 1.0)
        if "image" not in accepts:
            raise InputError(
                f"the condition {condition.name} shows frames, and this model takes no pictures",
                remedy="choose a condition without frames, or a model that sees (--accepts text,image)",
            )
    for other in benchmark.conditions:
        if other.name == condition.name:
            return
        if condition.same_as is None and _received(other, accepts) == _received(condition, accepts):
            raise InputError(
                f"for a model that takes {', '.join(sorted(accepts))} the condition {condition.name} is the same "
                f"request as {other.name}",
                remedy=f"ask {other.name} only, or say what the model takes (--accepts text,image,sound)",
            )


def fitting_conditions(
    benchmark: Benchmark, accepts: Collection[Modality], media: Collection[str]
) -> tuple[list[Condition], list[tuple[Condition, str]]]:
    """All conditions that can be had and differ for such a model, and those left out with the reason."""
    fit: list[Condition] = []
    unfit: list[tuple[Condition, str]] = []
    for condition in benchmark.conditions:
        if condition.same_as is not None:
            unfit.append((condition, f"a second name of {condition.same_as}"))
            continue
        try:
            check_condition(benchmark, condition, accepts, media)
        except OnlookerError as error:
            unfit.append((condition, str(error)))
        else:
            fit.append(condition)
    return fit, unfit


def _received(condition: Condition, accepts: Collection[Modality]) -> Sequence[object]:
    heard = condition.sound and "sound" in accepts
    return (condition.template, condition.frames, condition.medium, heard, condition.transcript)
