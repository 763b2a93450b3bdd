"""Prompt files: Jinja templates whose media stand where the template puts them.

A template knows plain fields (``{{ question }}``) and blocks (``{{ frames }}``, ``{{ sound }}``, ``{{ options }}``).
A block becomes the parts of the request at that place. What an item's text contains is never read as template.
"""

from __future__ import annotations

import hashlib
import re
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.errors import InputError
from onlooker.models.request import Image, Options, Part, Sound, Text, Video

if TYPE_CHECKING:
    from jinja2 import Template, TemplateError


class PromptFolder:
    """The ``prompts`` folder of a benchmark's package: ``PromptFolder("onlooker.benchmarks.sivbench")``."""

    def __init__(self, package: str) -> None:
        self.package = package

    def source(self, template: str) -> str:
        """The text of a prompt file. Raises ``InputError`` where there is none, or no folder at all."""
        folder = resources.files(self.package) / "prompts"
        if not folder.is_dir():
            raise InputError(
                f"the package {self.package} has no folder prompts",
                where=str(folder),
                remedy="put the prompt files there, and pack them with the code: package data in pyproject.toml",
            )
        file = folder / template
        if not file.is_file():
            there = sorted(Path(f.name).name for f in folder.iterdir())
            raise InputError(
                f"no prompt file {template} in {self.package}",
                remedy=f"one of {', '.join(there)}" if there else "the folder prompts is empty: pack its files too",
            )
        try:
            return file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"a prompt file that is not UTF-8 ({error})", where=self._file(template)) from error

    def render(
        self, template: str, fields: Mapping[str, object], blocks: Mapping[str, Sequence[Part]]
    ) -> tuple[Part, ...]:
        """The parts of a request: the template's words with each block at its place.

        ``fields`` are inserted as they are. A block that is empty is false in ``{% if %}``. A field or block that the
        template names and the caller does not give raises ``InputError``; so does a block that the template leaves out,
        since media would be lost without a word, and a file that is no Jinja template. The error names file and line.
        """
        from jinja2 import TemplateError  # noqa: PLC0415 - keeps the import of the package light

        marks = {name: _mark(name, fields) for name, parts in blocks.items() if parts}
        values = {**fields, **{name: marks.get(name, "") for name in blocks}}
        try:
            text = _compiled(self.source(template)).render(values)
        except TemplateError as error:
            raise InputError(
                f"the prompt cannot be rendered: {error}",
                where=f"{self._file(template)}, line {_line(error)}",
                remedy=f"the fields and blocks there are: {', '.join(sorted(values))}",
            ) from error
        parts: list[Part] = []
        pattern = "|".join(re.escape(mark) for mark in marks.values())
        by_mark = {mark: name for name, mark in marks.items()}
        placed: list[str] = []
        for piece in re.split(f"({pattern})", text) if marks else [text]:
            if piece in by_mark:
                placed.append(by_mark[piece])
                parts.extend(blocks[by_mark[piece]])
            elif piece:
                parts.append(Text(piece))
        if sorted(placed) != sorted(marks):
            lost = sorted(set(marks) - set(placed)) or "a block twice"
            raise InputError(f"prompt file {template} of {self.package} does not place {lost}")
        return tuple(parts)

    def _file(self, template: str) -> str:
        return f"{self.package.replace('.', '/')}/prompts/{template}"


def timed(images: Sequence[Image]) -> tuple[Part, ...]:
    """Frames as parts, each after its own time: ``[12.40 s]``, in seconds from the first frame (never an index)."""
    return tuple(part for image in images for part in (Text(f"\n[{image.time_s:.2f} s]\n"), image))


def untimed(images: Sequence[Image]) -> tuple[Part, ...]:
    """Frames as parts without their times, for prompts in which a time would tell the answer."""
    return tuple(part for image in images for part in (Text("\n"), image))


def filmed(video: Video | None) -> tuple[Part, ...]:
    """The video file as a block; empty where there is none."""
    return () if video is None else (video,)


def sounds(sound: Sound | None) -> tuple[Part, ...]:
    """The sound as a block; empty where there is none."""
    return () if sound is None else (sound,)


def spoken(transcript: str) -> tuple[Part, ...]:
    """The words spoken as a block, marked as the episode's own material; empty where nobody was heard."""
    return (Text(transcript, material=True),) if transcript else ()


def options_of(ids: Sequence[str], texts: Sequence[str], select: str) -> tuple[Part, ...]:
    """The answer options as a block."""
    return (Options(tuple(ids), tuple(texts), "all" if select == "all" else "one"),)


def _mark(name: str, fields: Mapping[str, object]) -> str:
    # No text of an item can contain this mark: it is derived from all of them together.
    digest = hashlib.sha256(repr((name, sorted(fields.items(), key=lambda f: f[0]))).encode("utf-8", "replace"))
    return f"<<{name}:{digest.hexdigest()}>>"


def _line(error: TemplateError) -> int:
    """The line of the template at fault. Jinja names it in the error (syntax), else as a frame of the traceback."""
    from jinja2 import TemplateSyntaxError  # noqa: PLC0415 - keeps the import of the package light

    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return lines[-1] if lines and lines[-1] else 1


@cache
def _compiled(source: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - keeps the import of the package light

    # What is rendered is a prompt, not a page: escaping would change the question.
    environment = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    return environment.from_string(source)
