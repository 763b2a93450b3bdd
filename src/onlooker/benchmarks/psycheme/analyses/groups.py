"""Questions by capability, and the labels that a judge gave an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onlooker.benchmarks.psycheme.scoring import VERIFIED, capability_of
from onlooker.benchmarks.psycheme.taxonomy import CAPABILITIES
from onlooker.errors import InputError
from onlooker.protocol.analysis import Material
from onlooker.protocol.scoring import Case
from onlooker.records.public import Item
from onlooker.text.rationales import informative


def capabilities(items: Iterable[Item]) -> list[str]:
    """The capabilities of these questions, in the order of the paper."""
    there = {capability_of(item) for item in items}
    return [one for one in CAPABILITIES if one in there]


def capability_option(material: Material, default: str | None) -> str | None:
    """The option ``capability``; InputError where it names none."""
    name = material.options.get("capability", default)
    if name is not None and name not in CAPABILITIES:
        raise InputError(
            "no such capability", where="capability", value=name, remedy=f"one of {', '.join(CAPABILITIES)}"
        )
    return name


def covered(case: Case) -> bool:
    """Whether the reply has an informative rationale (c = 1)."""
    answer = case.reply.answer
    return answer is not None and any(map(informative, answer.rationale.values()))


def labels_given(case: Case) -> tuple[str, str] | None:
    """Evidence and logic label of the valid ``verified`` judgement; None where there is none or the rationale is not
    informative, as then it does not count."""
    labels = case.reply.labels.get(VERIFIED.name)
    return (labels["evidence"], labels["logic"]) if labels is not None and covered(case) else None


def lowest(values: Mapping[str, float | None]) -> str | None:
    """The name of the lowest value; None where one is undefined or the lowest is shared."""
    known = {name: value for name, value in values.items() if value is not None}
    if not known or len(known) < len(values):
        return None
    least = min(known.values())
    names: Sequence[str] = [name for name, value in known.items() if value == least]
    return names[0] if len(names) == 1 else None
