"""How a judge is asked under a rubric: which replies it is for, what the judge sees, which labels count.

The judge sees the item, what only scorers see of it, and the reply; never the name of the model that gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onlooker.models.request import Part, Request, Text
from onlooker.protocol.scoring import Number, PerOption, Private, Reply, Rubric, Scale, Words, choices_of
from onlooker.text.choices import visible_text
from onlooker.text.judgements import Check, between, each, one_of_numbers, one_of_words, parse_labels, whole_between
from onlooker.text.objects import find_object
from onlooker.text.outcome import Parsed, Unparsed

if TYPE_CHECKING:
    from onlooker.protocol.prompt import PromptFolder
    from onlooker.records.private import Reference
    from onlooker.records.public import Item

Fields = Callable[["Item", Private, Reply, str], Mapping[str, object]]
"""(item, what scorers see, reply as read, its visible words) -> the fields of the prompt file."""
Spared = Callable[["Item", Private, Reply, str], str | None]
"""The same -> why no judge is needed for this reply; None where one is."""


@dataclass(frozen=True, slots=True)
class Judging:
    """One rubric as a judge is asked for it.

    rubric     the labels and their scales
    says       one line for people: what is judged
    prompts    the family's prompt folder
    template   the file in it; it may use ``{{ scales }}``, the labels with their ranges, and the ``fields``
    fields     what the prompt is filled from
    spared     why a reply needs no judge; such replies get no row
    max_output_tokens the cap on the judge's reply
    """

    rubric: Rubric
    says: str
    prompts: PromptFolder
    template: str
    fields: Fields
    spared: Spared
    max_output_tokens: int = 768

    def request(self, item: Item, private: Private, reply: Reply, words: str) -> Request:
        """The request to a judge. Temperature 0, one JSON object asked for."""
        fields = {**self.fields(item, private, reply, words), "scales": scale_lines(self.rubric, item)}
        parts = self.prompts.render(self.template, fields, {})
        return Request(parts, max_output_tokens=self.max_output_tokens, temperature=0.0, json_object=True)

    def repair_request(self, first: Request, raw: str, reason: str, item: Item) -> Request:
        """The one further request after a reply that was no judgement: the same, its own words, what was wrong."""
        again: Part = Text(
            f"\n\nYour reply to the above was:\n{raw or '(nothing)'}\n\nIt cannot be used ({reason}). Give your "
            f"judgement again as one JSON object and nothing else, with exactly these labels:\n"
            f"{scale_lines(self.rubric, item)}\n"
        )
        return replace(first, parts=(*first.parts, again))

    def read(self, raw: str, item: Item) -> Parsed[dict[str, Any]] | Unparsed:
        """The labels in a judge's reply, or why there are none. Nothing is clamped: what is off its scale is not a
        judgement."""
        return parse_labels(raw, {name: _check(scale, item) for name, scale in self.rubric.scales.items()})

    def mapped_back(self, labels: Mapping[str, Any], shown: Mapping[str, str]) -> dict[str, Any]:
        """The labels with the options' own ids, where a reply was judged under the ids they were shown under."""
        per_option = {name for name, scale in self.rubric.scales.items() if isinstance(scale, PerOption)}
        return {
            name: {shown[letter]: number for letter, number in value.items()} if name in per_option else value
            for name, value in labels.items()
        }

    def explanation(self, raw: str) -> str | None:
        """The judge's reason beside its labels, None where it gave none."""
        visible = visible_text(raw)
        found = Unparsed("no_object") if isinstance(visible, Unparsed) else find_object(visible)
        words = None if isinstance(found, Unparsed) else found.value.get("explanation")
        return words if isinstance(words, str) and words.strip() else None


def scale_lines(rubric: Rubric, item: Item) -> str:
    """The labels a judge has to give, one a line, with the very ranges that are checked."""
    return "\n".join(f'"{name}": {_spelled(scale, item)}' for name, scale in rubric.scales.items())


def option_lines(item: Item) -> str:
    """The options of a choice item as lines ``A. text``; empty for other tasks."""
    return "\n".join(f"{option.id}. {text}" for option in choices_of(item) if (text := getattr(option, "text", "")))


def bullets(lines: Sequence[str]) -> str:
    """Lines as a list, ``(none)`` where there are none."""
    return "\n".join(f"- {line}" for line in lines) or "(none)"


def _spelled(scale: Scale, item: Item) -> str:
    match scale:
        case Words(words):
            return f"one of {', '.join(words)}"
        case Number(low, high, whole, steps):
            if steps:
                return f"one of {', '.join(f'{step:g}' for step in steps)}"
            return f"a {'whole ' if whole else ''}number from {low:g} to {high:g}"
        case PerOption(low, high):
            ids = ", ".join(f'"{option.id}"' for option in choices_of(item))
            return f"an object with the keys {ids}, each a number from {low:g} to {high:g}"


def _check(scale: Scale, item: Item) -> Check:
    match scale:
        case Words(words):
            return one_of_words(*words)
        case Number(low, high, whole, steps):
            if steps:
                return one_of_numbers(*steps)
            return whole_between(int(low), int(high)) if whole else between(low, high)
        case PerOption(low, high):
            return each(**{option.id: between(low, high) for option in choices_of(item)})


# Fewer words beside the answer itself say nothing that could be judged.
_LEAST_REASONING_WORDS = 5


def reasoning_missing(item: Item, private: Private, reply: Reply, words: str) -> str | None:  # noqa: ARG001 - see Spared
    """Why a reply has no reasoning to judge: it was not understood, or says little more than its answer; else None."""
    if reply.answer is None:
        return "no answer was understood"
    rest = words
    for option in choices_of(item):
        rest = rest.replace(getattr(option, "text", ""), " ")
    if len(rest.split()) < _LEAST_REASONING_WORDS:
        return "the reply holds no reasoning beside its answer"
    return None


def reasoning_fields(
    item: Item,
    private: Private,
    reply: Reply,  # noqa: ARG001 - see Fields
    words: str,
) -> dict[str, object]:
    """What a judge of reasoning sees: question, options, the right one, its explanation, and the reply's words."""
    reference = private.reference
    right = reference.answer if reference is not None else None
    return {
        "question": getattr(item, "question", ""),
        "options": option_lines(item),
        "reference": ", ".join(right or ()) if not isinstance(right, str) else right,
        "explanation": told(reference),
        "reasoning": words,
    }


def told(reference: Reference | None) -> str:
    """The reference explanation as lines; empty where there is none."""
    explanation = None if reference is None else reference.explanation
    if explanation is None or isinstance(explanation, str):
        return explanation or ""
    lines = []
    if explanation.key_event:
        lines.append(f"Key event: {explanation.key_event}")
    if explanation.mechanism:
        lines.append(f"Mechanism: {explanation.mechanism}")
    lines += [f"Option {option}: {why}" for option, why in (explanation.options or {}).items()]
    return "\n".join(lines)
