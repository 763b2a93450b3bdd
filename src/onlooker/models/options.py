"""What can be said about a model beside its name: one frozen value, given to whatever kind of model is opened."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from onlooker.errors import InputError
from onlooker.models.request import Modality

ImageDetail = Literal["low", "high", "auto"]
MediaResolution = Literal["low", "medium", "high"]
VideoAs = Literal["data", "file"]
VideoFps = Literal["part", "processor"]

DEFAULT_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """None (or empty) everywhere: the model's own default. What a kind of model cannot use is refused, not ignored.

    ``base_url``: another address than the provider's. ``api_key_env``: the environment variable with its key.
    ``accepts``: which kinds of parts it takes, instead of what the table of capabilities says. ``timeout_s``: bounds a
    whole call (300). ``upload_timeout_s``: bounds an upload until the provider can use the file (600).
    ``image_detail``: of OpenAI. ``media_resolution``: of Google. ``effort``: how much the model thinks, in the words of
    the provider (``low``, ``medium``, ``high`` ...). ``sampling``: whether temperature and top_p are sent, instead of
    what the table says. ``video_as``: a video inside the request, or as the path of a file that the server can read.
    ``video_fps``: how an OpenAI-compatible server is told the frame rate: beside the ``part`` (DashScope), or in
    ``mm_processor_kwargs`` (vLLM). ``limits``: limits of this endpoint by the names of ``Limits``. ``settings``:
    further parameters, put into the body of every request as they are.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    accepts: frozenset[Modality] | None = None
    timeout_s: float | None = None
    upload_timeout_s: float | None = None
    image_detail: ImageDetail | None = None
    media_resolution: MediaResolution | None = None
    effort: str | None = None
    sampling: bool | None = None
    video_as: VideoAs | None = None
    video_fps: VideoFps | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """Those that were said, by name."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if value is not None and value != {}}

    def refuse_others(self, usable: Collection[str], where: str) -> None:
        """Raise InputError where an option was given that this kind of model cannot use."""
        useless = [name for name in self.given() if name not in usable]
        if useless:
            raise InputError(
                "this kind of model has no use for the option",
                where=where,
                value=", ".join(useless),
                remedy="leave it out",
            )

    def refuse_settings(self, reserved: Collection[str], where: str, *, inside: str | None = None) -> None:
        """Raise InputError where ``settings`` would overwrite what the run itself writes into a request.

        ``inside``: look into the object of that name, which has to be one where it is set at all.
        """
        settings = self.settings if inside is None else self.settings.get(inside, {})
        if not isinstance(settings, Mapping):
            raise InputError(
                f"{inside} is an object: set what is in it, by {inside}.NAME=VALUE", where=where, value=settings
            )
        taken = sorted(set(settings) & set(reserved))
        if taken:
            raise InputError(
                "the run writes this part of the request itself",
                where=where,
                value=", ".join(taken),
                remedy="leave it out",
            )

    def settings_text(self) -> str:
        """The further parameters as one line, for fingerprints."""
        return json.dumps(dict(self.settings), sort_keys=True, ensure_ascii=False) if self.settings else "none"


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """``["top_k=40", "a.b=true"]`` to ``{"top_k": 40, "a": {"b": True}}``: values are JSON, or else words.

    Raises InputError where a word has no ``=``, or two of them contradict each other.
    """
    settings: dict[str, Any] = {}
    for word in words:
        path, equals, text = word.partition("=")
        names = path.split(".")
        if not equals or not all(names):
            raise InputError("not of the form name=value", where="settings", value=word)
        try:
            value = json.loads(text)
            json.dumps(value, allow_nan=False)  # NaN and Infinity are no JSON, so no server could be sent them
        except ValueError:
            value = text
        at = settings
        for name in names[:-1]:
            at = at.setdefault(name, {})
            if not isinstance(at, dict):
                raise InputError("two settings contradict each other", where="settings", value=word)
        if names[-1] in at:
            raise InputError("two settings contradict each other", where="settings", value=word)
        at[names[-1]] = value
    return settings
