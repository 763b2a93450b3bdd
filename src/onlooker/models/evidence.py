"""What a text model is told of frames and sound: words of detectors, thinned where they must be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from onlooker.errors import MissingAsset, MissingExtra, ModelError, OnlookerError
from onlooker.models.request import Image, Options, Part, Request, Sound, Text, Video

_FRAME_LABEL = re.compile(r"\s*\[\d+(\.\d+)? s\]\s*")
_NOTHING_SEEN = "(the detectors found nothing)"
_NOTHING_HEARD = "(no speech was recognised)"


class Perceive(Protocol):
    """Frames to words, one line an observation, each with its time. Blank: nothing found."""

    def __call__(self, images: Sequence[Image], /) -> str: ...


class Hear(Protocol):
    """Sound to the words spoken in it, one line a segment. Blank: no speech."""

    def __call__(self, sound: Sound, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """A request as words, ``before`` and ``after`` its options.

    ``observations`` and ``transcript`` are the words made of frames and sound, None without those.
    """

    before: tuple[Text, ...]
    options: Options | None
    after: tuple[Text, ...]
    observations: str | None
    transcript: str | None

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines of material that hold words, in order."""
        texts = (t for t in self.before + self.after if t.material)
        return tuple(line for t in texts for line in t.text.split("\n") if line.strip())

    @property
    def words(self) -> int:
        """How many words the material holds."""
        return sum(len(line.split()) for line in self.lines)

    def thinned(self, keep_lines: int) -> Evidence:
        """The same with ``keep_lines`` (0 to all) lines of material, whole and evenly spread."""
        total = len(self.lines)
        kept = {(2 * i + 1) * total // (2 * keep_lines) for i in range(keep_lines)}
        position = -1

        def thin(text: Text) -> Text:
            nonlocal position
            if not text.material:
                return text
            lines = []
            for line in text.text.split("\n"):
                if line.strip():
                    position += 1
                    if position in kept:
                        lines.append(line)
            return replace(text, text="\n".join(lines) + "\n")

        before = tuple(thin(t) for t in self.before)
        return replace(self, before=before, after=tuple(thin(t) for t in self.after))


def gather(request: Request, perceive: Perceive | None, hear: Hear | None) -> Evidence:
    """The request with its media replaced by words, each at its place.

    Frames that follow one another are perceived together, where the first of them stands; their time labels
    (``[12.40 s]``) go with them, since every observation carries its own time. Frames that the request shows without
    labels are told with times from the first of them: where the request hides its clock, so do the detectors. Raises
    ModelError where media come without a callable for them, or where the request has two sets of options.
    """
    observed: list[str] = []
    heard: list[str] = []
    texts: list[Text] = []
    options: Options | None = None
    split = 0
    for part in _grouped(request.parts):
        match part:
            case list():
                observed.append(_perceived(part, perceive))
                texts += _told("\nSeen in the video by detectors:\n", observed[-1] or _NOTHING_SEEN)
            case Options():
                if options is not None:
                    raise ModelError("the request has two sets of options; the embedded model takes one")
                options, split = part, len(texts)
            case Sound():
                heard.append(_heard(part, hear))
                texts += _told("\nHeard in the video by speech recognition:\n", heard[-1] or _NOTHING_HEARD)
            case Video():
                raise ModelError("the request holds a video file; the embedded model takes frames and sound")
            case Text():
                texts.append(part)
    return Evidence(
        tuple(texts if options is None else texts[:split]),
        options,
        () if options is None else tuple(texts[split:]),
        "\n".join(observed) if observed else None,
        "\n".join(heard) if heard else None,
    )


def _grouped(parts: Sequence[Part]) -> Iterator[Text | Sound | Video | Options | list[Image]]:
    """The parts, frames that follow one another as one list, without the labels and blanks between them."""
    group: list[Image] = []
    labelled = False
    between: list[Text] = []  # what may be the label of the next frame
    for part in parts:
        if isinstance(part, Image):
            labelled = labelled or any(_FRAME_LABEL.fullmatch(text.text) for text in between)
            between = []
            group.append(part)
        elif isinstance(part, Text) and (_FRAME_LABEL.fullmatch(part.text) or not part.text.strip()):
            between.append(part)
        else:
            if group:
                yield group if labelled else _from_zero(group)
            group, labelled = [], False
            yield from (text for text in between if text.text.strip())
            between = []
            yield part
    if group:
        yield group if labelled else _from_zero(group)
    yield from (text for text in between if text.text.strip())


def _from_zero(images: Sequence[Image]) -> list[Image]:
    return [replace(image, time_s=image.time_s - images[0].time_s) for image in images]


def _told(heading: str, words: str) -> tuple[Text, Text]:
    return Text(heading), Text(words + "\n", material=True)


def _perceived(images: Sequence[Image], perceive: Perceive | None) -> str:
    if perceive is None:
        raise ModelError("the request holds frames, and nothing was given to put them into words")
    try:
        return perceive(images).strip()
    except OnlookerError as error:
        raise _failed("the detectors failed", error) from error


def _heard(sound: Sound, hear: Hear | None) -> str:
    if hear is None:
        raise ModelError("the request holds sound, and nothing was given to put it into words")
    try:
        return hear(sound).strip()
    except OnlookerError as error:
        raise _failed("speech recognition failed", error) from error


def _failed(what: str, error: OnlookerError) -> OnlookerError:
    """A missing part concerns the whole run and stays what it is; the rest is this request's."""
    if isinstance(error, MissingExtra | MissingAsset | ModelError):
        return error
    return ModelError(f"{what}: {error}", where="embedded")
