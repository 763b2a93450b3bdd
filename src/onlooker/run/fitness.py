"""Whether a condition makes sense for a model: checked before the first call, so that nothing is asked in vain."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from onlooker.errors import InputError, OnlookerError
from onlooker.media.grid import parse_policy
from onlooker.models.request import Modality
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition


def check_condition(
    benchmark: Benchmark,
    condition: Condition,
    accepts: Collection[Modality],
    media: Collection[str],
    *,
    has_encoder: bool = False,
) -> None:
    """Raise ``InputError`` where the condition cannot be had (``check_available``), or the model would get another
    one's request.

    That is so where two conditions differ only in something the model does not take: ``no_audio`` is ``origin`` for a
    model without ears, and a difference between the two would be noise.
    """
    check_available(condition, accepts, media, has_encoder=has_encoder)
    for other in benchmark.conditions:
        if other.name == condition.name:
            return
        if condition.same_as is None and _received(other, accepts) == _received(condition, accepts):
            raise InputError(
                f"for a model that takes {', '.join(sorted(accepts))} the condition {condition.name} is the same "
                f"request as {other.name}",
                remedy=f"ask {other.name} only, or say what the model takes (--accepts text,image,sound)",
            )


def check_available(
    condition: Condition, accepts: Collection[Modality], media: Collection[str], *, has_encoder: bool = False
) -> None:
    """Raise ``InputError`` where no episode has the medium that the condition shows, the model does not take what it
    gives, or it chooses frames by their likeness to the question and no image-text encoder is given.

    ``media``: the media that any episode of the bundle declares.
    """
    if condition.shows_media and condition.medium != "video" and condition.medium not in media:
        raise InputError(
            f"no episode of the bundle has the medium {condition.medium}, which the condition {condition.name} shows",
            remedy=f"add media.{condition.medium} to episodes.jsonl",
        )
    if condition.video == "required" and "video" not in accepts:
        raise InputError(
            f"the condition {condition.name} shows a video file, and this model takes none",
            remedy="choose a condition with frames, or a model that takes video (--accepts text,image,video)",
        )
    if condition.views and not {"image", "video"} & set(accepts):
        raise InputError(
            f"the condition {condition.name} shows pictures, and this model takes none",
            remedy="choose a model that sees (--accepts text,image)",
        )
    if condition.frames is not None:
        policy = parse_policy(condition.frames)
        if policy.kind == "bolt" and not has_encoder:
            raise InputError(
                f"the condition {condition.name} chooses frames by their likeness to the question "
                f"({condition.frames}): it needs an image-text encoder, and none is given",
                remedy="--encoder hf:FOLDER (CLIP or SigLIP on this machine) or --encoder package.module:object",
            )
        if "image" not in accepts and not _is_watched(condition, accepts):
            raise InputError(
                f"the condition {condition.name} shows frames, and this model takes no pictures",
                remedy="choose a condition without frames, or a model that sees (--accepts text,image)",
            )


def fitting_conditions(
    benchmark: Benchmark, accepts: Collection[Modality], media: Collection[str], *, has_encoder: bool = False
) -> tuple[list[Condition], list[tuple[Condition, str]]]:
    """All conditions that can be had and differ for such a model, and those left out with the reason."""
    fit: list[Condition] = []
    unfit: list[tuple[Condition, str]] = []
    for condition in benchmark.conditions:
        if condition.same_as is not None and condition.arrangement is None:
            unfit.append((condition, f"a second name of {condition.same_as}"))
            continue
        try:
            check_condition(benchmark, condition, accepts, media, has_encoder=has_encoder)
        except OnlookerError as error:
            unfit.append((condition, str(error)))
        else:
            fit.append(condition)
    return fit, unfit


def _received(condition: Condition, accepts: Collection[Modality]) -> Sequence[object]:
    """What decides the request, for a model that takes ``accepts``."""
    heard = condition.sound and "sound" in accepts
    watched = _is_watched(condition, accepts)
    return (
        condition.name if condition.views else None,  # which views there are only the family knows
        condition.template,
        None if watched else condition.frames,
        watched,
        condition.medium,
        heard,
        condition.transcript and not (condition.transcript_stands_in and heard),
        condition.calls,
        condition.arrangement,
        condition.variation,
        condition.clock,
        condition.json_object,
        condition.max_output_tokens,
    )


def _is_watched(condition: Condition, accepts: Collection[Modality]) -> bool:
    return condition.video != "never" and "video" in accepts
