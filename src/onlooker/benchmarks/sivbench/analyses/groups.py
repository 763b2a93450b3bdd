"""How the analyses group questions and name what they look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onlooker.benchmarks.sivbench.taxonomy import DIMENSIONS
from onlooker.errors import InputError
from onlooker.protocol.analysis import GradedRun, Material
from onlooker.protocol.sheet import by_item
from onlooker.records.public import ChoiceItem, Item

SCOPES = ("overall", *DIMENSIONS)


def label_values(material: Material, item: Item, label: str) -> tuple[str, ...]:
    """The values of a label: the item's own, else its episode's. A list counts under each of its values."""
    value = item.labels.get(label)
    if value is None:
        value = material.episodes[item.episode].labels.get(label)
    values = [] if value is None else value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(str(one) for one in values))


def in_scope(material: Material, items: Iterable[str], scope: str) -> list[str]:
    """Those of the items that belong to a dimension; all for ``overall``."""
    if scope == "overall":
        return list(items)
    return [i for i in items if scope in label_values(material, material.items[i], "dimension")]


def questions_of(material: Material) -> list[ChoiceItem]:
    """The questions of the bundle. InputError where it has none."""
    found = [item for item in material.items.values() if isinstance(item, ChoiceItem)]
    if not found:
        raise InputError("the bundle has no choice questions")
    return found


def chance_of(item: ChoiceItem) -> float:
    """The expected credit of a uniform guess: 1/k, or 1/(2^k - 1) where all options that hold are asked for."""
    k = len(item.options)
    return 1 / (2**k - 1) if item.select == "all" else 1 / k


def right_of(material: Material, item: Item) -> tuple[str, ...]:
    """The ids of the right options."""
    reference = material.private[item.id].reference
    answer = None if reference is None else reference.answer
    return answer if isinstance(answer, tuple) else ()


def right_items(run: GradedRun) -> dict[str, bool]:
    """{item id: whether its credit is full in every seed}."""
    return {item: credit == 1 for item, credit in by_item(run, lambda c: c.grade.credit).items() if credit is not None}


def words(text: str) -> list[str]:
    """The words of a text: what stands between white space."""
    return text.split()


def whole_text(item: ChoiceItem) -> str:
    """The question and its options, as a model reads them one after the other."""
    return " ".join([item.question, *(option.text for option in item.options)])


def named_condition(material: Material, runs: Sequence[GradedRun], default: str) -> list[GradedRun]:
    """The runs under the condition of the option ``condition`` (``default`` where absent). InputError for none."""
    wanted = material.options.get("condition", default)
    found = [run for run in runs if run.condition == wanted]
    if not found:
        there = ", ".join(sorted({run.condition for run in runs}))
        raise InputError(
            "no predictions under this condition", where="condition", value=wanted, remedy=f"one of {there}"
        )
    return found


def whole_number(options: Mapping[str, str], name: str, default: int) -> int:
    """A whole number above 0 from an option. InputError for anything else."""
    text = options.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError("expected a whole number above 0", where=name, value=text)
    return int(text)


def label_filter(material: Material) -> tuple[str, str] | None:
    """Label and value of the option ``where`` (LABEL:VALUE), None where it is absent."""
    text = material.options.get("where")
    if text is None:
        return None
    label, colon, value = text.partition(":")
    if not colon or not label or not value:
        raise InputError("expected LABEL:VALUE", where="where", value=text)
    return label, value
