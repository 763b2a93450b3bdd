"""Every protocol that words and pictures allow as a task of Inspect: ``inspect eval onlooker/siv_bench -T bundle=B``.

A sample is one item. Its request is made by the run engine when its turn comes, so that memory stays flat and a medium
that cannot be read costs its own sample only, as in ``onlooker eval``. Answers are in no sample: the scorer reads them.
"""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.util import concurrency
from rich.markup import escape

from onlooker.assets import cache_folder
from onlooker.errors import InputError, OnlookerError
from onlooker.interop.asking import Questions, questions
from onlooker.interop.inspect_content import messages
from onlooker.interop.inspect_output import MARK
from onlooker.interop.inspect_scoring import graded
from onlooker.media.encoders import open_encoder

# As in a run of our own: two threads keep two cores busy while earlier samples are answered.
_MEDIA_THREADS = 2
# Inspect's own defaults are no limit at all. These are the run engine's: five attempts, ten minutes.
_RETRIES, _TIMEOUT_S = 4, 600


@task
def siv_bench(
    bundle: str | None = None, condition: str | None = None, seed: int | None = None, encoder: str | None = None
) -> Task:
    """SIV-Bench."""
    return _task("sivbench", bundle, condition, seed, encoder)


@task
def mmhbench(
    bundle: str | None = None, condition: str | None = None, seed: int | None = None, encoder: str | None = None
) -> Task:
    """MMH-Bench."""
    return _task("mmhbench", bundle, condition, seed, encoder)


@task
def psycheme(
    bundle: str | None = None, condition: str | None = None, seed: int | None = None, encoder: str | None = None
) -> Task:
    """PsycheMME."""
    return _task("psycheme", bundle, condition, seed, encoder)


@task
def reactionbench(
    bundle: str | None = None, condition: str | None = None, seed: int | None = None, encoder: str | None = None
) -> Task:
    """ReactionBench."""
    return _task("reactionbench", bundle, condition, seed, encoder)


@task
def any_family(
    bundle: str | None = None, condition: str | None = None, seed: int | None = None, encoder: str | None = None
) -> Task:
    """A bundle of any installed family."""
    return _task(None, bundle, condition, seed, encoder)


@solver
def ask(bundle: str, condition: str | None = None, seed: int | None = None, encoder: str | None = None) -> Solver:
    """Puts the request of the sample's item in place of its messages, and its digests beside them."""
    asked = _questions(None, bundle, condition, seed, encoder)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - what a solver is called with
        async with concurrency("onlooker media", _MEDIA_THREADS):
            request = await anyio.to_thread.run_sync(asked.request, str(state.sample_id))
        state.messages = messages(request)
        digests = {"prompt_sha256": request.prompt_sha256(), "media_sha256": request.media_sha256()}
        state.metadata[MARK] = {**state.metadata[MARK], **digests}
        return state

    return solve


def _task(family: str | None, bundle: str | None, condition: str | None, seed: object, encoder: str | None) -> Task:
    try:
        # Inspect reads what stands behind -T as YAML: a folder called 2026 comes as a number.
        bundle, condition = _named(bundle), None if condition is None else str(condition)
        if seed is not None and type(seed) is not int:
            raise InputError("a seed is a whole number", where="-T seed", value=seed, remedy="-T seed=N")
        asked = _questions(family, bundle, condition, seed, encoder)
        asked.check()
    except OnlookerError as error:
        # The error that Inspect shows as a message, without a traceback.
        raise PrerequisiteError(escape(str(error))) from error
    samples = [
        # The input is for readers of the log; what the model gets is put in its place.
        Sample(
            id=item.id,
            input=getattr(item, "question", None) or f"{item.task} {item.id}",
            metadata={"episode": item.episode, MARK: asked.row(item.id)},
        )
        for item in asked.items()
    ]
    card, parameters = asked.bundle.card, asked.plan.parameters
    return Task(
        dataset=MemoryDataset(samples, name=card.name),
        setup=ask(bundle, condition, seed, encoder),
        solver=generate(),
        # A bundle whose answers are kept back can be asked here and scored elsewhere.
        scorer=graded(bundle) if (asked.bundle.path / "references.jsonl").exists() else None,
        config=GenerateConfig(
            temperature=parameters.temperature,
            max_tokens=asked.condition.max_output_tokens,
            seed=seed,
            max_retries=_RETRIES,
            timeout=_TIMEOUT_S,
        ),
        # A sample without a reply is wrong and stays in the denominator.
        fail_on_error=False,
        score_on_error=True,
        version=card.version,
        metadata={MARK: asked.card()},
    )


def _named(bundle: object) -> str:
    if bundle is None:
        raise InputError("no bundle is named", where="-T", remedy="-T bundle=FOLDER")
    return str(bundle)


def _questions(
    family: str | None, bundle: str, condition: str | None, seed: int | None, encoder: str | None
) -> Questions:
    cache_dir = cache_folder() / "media"
    cache_dir.mkdir(parents=True, exist_ok=True)
    return questions(
        Path(bundle),
        condition,
        seed=seed,
        cache_dir=cache_dir,
        encoder=None if encoder is None else open_encoder(encoder, cache_dir),
        family=family,
    )
