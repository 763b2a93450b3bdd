"""What a model is asked and what it answers, the same for every provider.

A request is an ordered list of parts. A frame never travels without its time and the digest of the
file it came from (law 5 of the house); the digest of a request covers the exact bytes and words
sent, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, get_args

Modality = Literal["text", "image", "sound", "video"]
MODALITIES: tuple[Modality, ...] = get_args(Modality)
Status = Literal["ok", "empty", "truncated", "refused", "error"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the prompt.

    ``material`` marks words of the episode itself (a transcript, subtitles) as opposed to the
    question: a model with a small context may thin them, line by line, if it says so in its reply.
    No digest depends on the mark.
    """

    text: str
    material: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """One frame: JPEG bytes, its time in seconds from the first frame, its source's sha256."""

    jpeg: bytes
    time_s: float
    source_sha256: str


@dataclass(frozen=True, slots=True)
class Sound:
    """Sound as a WAV file (16 kHz, mono, 16 bit), ``start_s`` to ``end_s`` of its source."""

    wav: bytes
    start_s: float
    end_s: float
    source_sha256: str


@dataclass(frozen=True, slots=True)
class Video:
    """A stretch of video as a file of its own, ``start_s`` to ``end_s`` of its source.

    The bytes stay in the file ``path`` (they may be many); ``sha256`` and ``size_bytes`` are theirs, ``source_sha256``
    is that of the medium they were cut from. ``has_sound``: whether the file carries the sound. ``fps``: how many
    frames a second the provider is asked to look at, None for its own default. ``watch_s``: from where to where in the
    file it is to look (seconds of the file), None for all of it; for providers that take offsets instead of a cut file.
    """

    path: Path
    sha256: str
    size_bytes: int
    start_s: float
    end_s: float
    source_sha256: str
    has_sound: bool
    width_px: int
    height_px: int
    mime: str = "video/mp4"
    fps: float | None = None
    watch_s: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """The answer options as one part: a model that scores options can show them in another order.

    ``ids`` and ``texts`` have equal length (2 or more); ``select`` says whether one or all right
    ones are asked for.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    select: Literal["one", "all"] = "one"

    @property
    def text(self) -> str:
        """The lines every text model reads: ``A. first option``."""
        return "\n".join(f"{i}. {t}" for i, t in zip(self.ids, self.texts, strict=True))


Part = Text | Image | Sound | Video | Options


@dataclass(frozen=True, slots=True)
class Request:
    """One call. ``temperature`` >= 0; ``max_output_tokens`` >= 1; ``top_p`` in (0, 1].

    ``seed`` is sent where the provider takes one. ``thinking_tokens``: the budget for thinking before the answer, 0 for
    none, None for the provider's default. ``json_object``: the reply has to be one JSON object, by the provider's own
    means where it has any. ``system``: words that stand before all turns.
    """

    parts: tuple[Part, ...]
    max_output_tokens: int = 512
    temperature: float = 0.0
    seed: int | None = None
    top_p: float | None = None
    thinking_tokens: int | None = None
    json_object: bool = False
    system: str | None = None

    @property
    def text(self) -> str:
        """All words of the request in order, media left out (what a person reads in the report)."""
        return "".join(p.text for p in self.parts if isinstance(p, Text | Options))

    def prompt_sha256(self) -> str:
        """Digest of the words, the order of parts and how videos are to be watched, in hex."""
        shape = [
            ["text", p.text]
            if isinstance(p, Text)
            else ["options", list(p.ids), list(p.texts), p.select]
            if isinstance(p, Options)
            else ["video", p.fps, p.watch_s]
            if isinstance(p, Video)
            else [type(p).__name__.lower()]
            for p in self.parts
        ]
        if self.system is not None:
            shape.insert(0, ["system", self.system])
        return hashlib.sha256(json.dumps(shape, ensure_ascii=False).encode()).hexdigest()

    def media_sha256(self) -> str:
        """Digest of the media bytes in the order sent, in hex; of nothing where there are none."""
        digest = hashlib.sha256()
        for part in self.parts:
            if isinstance(part, Image):
                digest.update(hashlib.sha256(part.jpeg).digest())
            elif isinstance(part, Sound):
                digest.update(hashlib.sha256(part.wav).digest())
            elif isinstance(part, Video):
                digest.update(bytes.fromhex(part.sha256))
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, ``text`` unaltered. None: the provider did not say (never a guess).

    ``details`` holds what only this kind of model can tell, as JSON values (probabilities of the
    options, observations).
    """

    text: str
    status: Status
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    served_model: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


class Model(Protocol):
    """Anything that answers requests; safe to call from several tasks of one event loop."""

    @property
    def name(self) -> str:
        """The name that stands in predictions, e.g. ``openai:gpt-5.5`` or ``embedded``."""
        ...

    @property
    def accepts(self) -> frozenset[Modality]:
        """Which kinds of parts it takes. The runner sends no others."""
        ...

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """What tells two models apart for a cache or a resumed run: endpoint, digests of files."""
        ...

    @property
    def at_once(self) -> int | None:
        """How many requests it answers at a time; None: as many as it is asked."""
        ...

    async def ask(self, request: Request) -> Reply:
        """Answer, or raise ``TransientModelError``, ``QuotaExhausted`` or ``ModelError``."""
        ...

    async def close(self) -> None:
        """Free connections, processes and memory. Safe to call twice."""
        ...
