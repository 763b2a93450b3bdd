"""The words of models beside those of people: replies, and the explanations of the references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onlooker.errors import InputError
from onlooker.protocol.analysis import GradedRun, Material
from onlooker.records.public import Item
from onlooker.text.thinking import strip_thinking


@dataclass(frozen=True, slots=True)
class Pair:
    """What a model and a person wrote on one question; ``right``: whether the reply has full credit."""

    item: str
    model_text: str
    human_text: str
    right: bool


def human_text(material: Material, item: Item) -> str | None:
    """The explanation of the reference, its parts one after the other; None where there is none."""
    reference = material.private[item.id].reference
    found = None if reference is None else reference.explanation
    if found is None or isinstance(found, str):
        text = found
    else:
        parts: Sequence[str | None] = (found.key_event, found.mechanism, *(found.options or {}).values())
        text = " ".join(part for part in parts if part)
    return text if text and text.strip() else None


def pairs_of(material: Material, run: GradedRun) -> tuple[list[Pair], int]:
    """The replies to questions with an explanation (of every seed), and how many replies or explanations are missing.

    A reply is its visible text: what stands inside think tags is dropped. Unread replies have a text and no credit.
    """
    pairs, without = [], 0
    for seed, cases in run.by_seed.items():
        for case in cases:
            human = human_text(material, case.item)
            said, _ = strip_thinking(run.raw.get(seed, {}).get(case.item.id, ""))
            if human is None or not said.strip():
                without += 1
            else:
                pairs.append(Pair(case.item.id, said, human, case.grade.credit == 1))
    return pairs, without


def explained(material: Material, runs: Sequence[GradedRun]) -> dict[tuple[str, str], tuple[list[Pair], int]]:
    """The pairs of every run by (model, condition). InputError where no run has any."""
    found = {(run.model, run.condition): pairs_of(material, run) for run in runs}
    if not any(pairs for pairs, _ in found.values()):
        raise InputError(
            "no reply stands beside a human explanation",
            remedy="give the references an explanation, and name predictions whose replies hold reasoning",
        )
    return found
