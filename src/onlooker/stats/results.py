"""The smallest result: a number, or None with the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number without an interval, such as a coefficient of agreement; None with the reason."""

    value: float | None
    reason: str | None = None
