"""What a report says. The command line fills these from files; the engine reads nothing else.

All text is shown as text, never as markup. None means "not known" and is printed so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal[
    "scored",
    "unparsed",
    "empty",
    "truncated",
    "refused",
    "error",
    "missing",
    "unjudged",
]
Scale = Literal["percent", "own"]


@dataclass(frozen=True, slots=True)
class FrameView:
    """One frame as a model got it.

    jpeg    the bytes sent; None where the frame could not be had or was not kept
    time_s  time on the sampling grid, seconds
    pts_s   time stamp of the decoded frame, seconds; None where none was decoded
    status  ``ok``, or what the sampler said instead (``missing``, ``substituted``, ``corrupt``), ``grey`` for a picture
            that was blanked on purpose
    of      what it shows where that is not simply the item's episode: a part, a view, another episode
    """

    jpeg: bytes | None
    time_s: float
    pts_s: float | None = None
    status: str = "ok"
    of: str | None = None


@dataclass(frozen=True, slots=True)
class OptionView:
    """An answer option."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgementView:
    """What one judge said of an answer under one rubric. ``labels`` in words, None where none could be read; ``why``
    the reason that the judge gave, or what went wrong."""

    judge: str
    rubric: str
    labels: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerView:
    """What one model was given for one item under one condition and seed, and what came of it.

    outcome     as in ``--items-out``; ``credit`` 0..1 or None where there is none
    parsed      option ids, or the open text as a single string; None where nothing was parsed
    how_parsed  the parser's own word for the rule that read the reply
    raw         the reply unaltered; None where no call was finished
    status      what the call itself ended with; latency in seconds
    error       the provider's words where the call failed
    prompt      the words of the request as sent
    details     what only this kind of model can tell (JSON values): option probabilities, observations
    frames      in the order sent; ``files`` the video files sent, each in words
    transcript  the words given (None: none given, "": nobody was heard)
    sound       (start, end) in seconds of the sound sent
    judgements  all that judges said of it, also those that do not count
    """

    model: str
    condition: str
    seed: int | None
    outcome: Outcome
    credit: float | None = None
    parsed: tuple[str, ...] | str | None = None
    how_parsed: str | None = None
    raw: str | None = None
    status: str | None = None
    latency_s: float | None = None
    error: str | None = None
    prompt: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    frames: tuple[FrameView, ...] = ()
    transcript: str | None = None
    sound: tuple[float, float] | None = None
    files: tuple[str, ...] = ()
    judgements: tuple[JudgementView, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemView:
    """One question with its reference and all answers to it.

    reference    right option ids, or the reference text as a single string; None where the bundle has none
    explanation  prose, or named parts in order
    """

    item_id: str
    episode_id: str
    question: str
    options: tuple[OptionView, ...] = ()
    labels: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    reference: tuple[str, ...] | str | None = None
    explanation: str | Mapping[str, str] | None = None
    cues: tuple[str, ...] = ()
    answers: tuple[AnswerView, ...] = ()


@dataclass(frozen=True, slots=True)
class BundleCard:
    """The bundle as its ``bundle.yaml`` states it, with what was counted and hashed."""

    name: str
    family: str
    version: str
    license: str
    description: str
    sha256: str
    items: int
    episodes: int


@dataclass(frozen=True, slots=True)
class FamilyCard:
    """The benchmark family: its title, one sentence on what it claims to measure, the paper."""

    title: str
    claims: str
    citation: str


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One input condition of the protocol. ``sampler`` is the frame policy, None for no picture."""

    name: str
    says: str
    sampler: str | None
    sound: bool
    transcript: bool
    prompt_sha256: str
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of one model under one condition.

    about          one line on what the model is, printed wherever the model is introduced
    fingerprint    what makes two models different: name, endpoint, revision, file digests
    seconds        of all calls together; None where it was not kept. Token counts likewise
    cost_usd       None where no price is known: printed "unknown", never 0
    served_models  what the provider said it ran
    versions       {"onlooker": "0.1.0", "openai": "2.1.0", ...}
    """

    model: str
    condition: str
    seeds: tuple[int | None, ...]
    started: str
    calls: int
    about: str = ""
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    served_models: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics that share a table and a figure: all whose name is ``prefix`` + a label value.

    scale  ``percent`` for fractions 0..1, ``own`` for rubric scores that keep their own scale
    names  what label values stand for, in the order in which they are shown; values not named here follow
    """

    title: str
    prefix: str
    scale: Scale = "percent"
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """A clip whose media could not be used, under which conditions (separated by commas), and why."""

    clip: str
    conditions: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Section:
    """One bundle: what was run on it, the numbers, the items.

    scores         the content of scores.json (FORMATS, section 3). A metric may carry ``reason``, which is then
                   printed where the value or its interval is undefined
    baselines      {"chance": {metric: {"value", "low", "high", "n"}}, "majority": {...}}
    question_only  name of the condition that shows the words of the question alone; None: the family has none
    main_metric    the metric of the first table and figure
    groups         further tables and figures, in order
    notes          rules that moved a number, and warnings
    items          those that can be shown; ``items_left_out`` counts those that were asked beside them
    """

    bundle: BundleCard
    family: FamilyCard
    scores: Mapping[str, object]
    main_metric: str
    question_only: str | None = None
    main_scale: Scale = "percent"
    baselines: Mapping[str, Mapping[str, Mapping[str, object]]] = field(default_factory=dict)
    groups: tuple[MetricGroup, ...] = ()
    conditions: tuple[ConditionRow, ...] = ()
    runs: tuple[RunRow, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    items: tuple[ItemView, ...] = ()
    items_left_out: int = 0


@dataclass(frozen=True, slots=True)
class ReportContent:
    """A whole report. ``made_at`` is given by the caller, so that the same content makes the same bytes."""

    title: str
    made_at: str
    onlooker_version: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a page holds. Whatever is left out is said in the page.

    frame_side_px      longest side of an embedded frame
    frames_per_answer  at most this many frames of an answer, evenly chosen
    frame_bytes        budget of all embedded frames together, as base64 text; fewer frames an answer where it
                       would be exceeded
    items_per_section  at most this many items, evenly chosen in the bundle's order
    text_chars         a longer reply or prompt is cut here
    """

    frame_side_px: int = 200
    frames_per_answer: int = 12
    frame_bytes: int = 16_000_000
    items_per_section: int = 400
    text_chars: int = 20_000
