"""What a benchmark family asks of labels. Public: families declare it, validation reads it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LabelRules:
    """What a benchmark family asks of labels.

    ``closed``: {label: the values it may take}; any other label is free. ``required``: labels every
    item must have. ``parents``: {label: (parent label, {value: the parent's value})}, such as a
    subtask's dimension.
    """

    closed: Mapping[str, Collection[str]] = field(default_factory=dict)
    required: Collection[str] = ()
    parents: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
