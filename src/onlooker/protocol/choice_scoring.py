"""The scoring that families with choice questions share: an option is read, right or wrong, averaged by label."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onlooker.protocol.metric import Columns, Metric
from onlooker.protocol.scoring import (
    Answer,
    Case,
    Family,
    Grade,
    Parse,
    Private,
    Reply,
    Scope,
    choices_read,
    exact_credit,
    labels_of,
)
from onlooker.records.public import Item
from onlooker.text.outcome import Unparsed


def choice_family(name: str, main_label: str, labels: Sequence[str], *, near_text: bool = False) -> Family:
    """A family of choice questions without a judge: ``accuracy`` and ``accuracy.LABEL.VALUE``.

    ``name`` is the word in ``bundle.yaml``. ``labels`` are those of items or episodes to break accuracy down by;
    ``main_label``, one of them, groups items where no other is asked for. Credit is 1 where the set of options chosen
    is the reference's, else 0, also for a reply that was not understood. ``near_text``: see ``choice_parser``.
    """

    def grade(_item: Item, private: Private, reply: Reply) -> Grade:
        return Grade(exact_credit(private, reply))

    def metrics(cases: Sequence[Case], _scope: Scope) -> list[Metric]:
        return accuracies(cases, labels)

    return Family(
        name=name,
        main_label=main_label,
        rubrics=(),
        parse=choice_parser(name, near_text=near_text),
        grade=grade,
        metrics=metrics,
        answer_metrics=metrics,
    )


def choice_parser(family: str, *, near_text: bool) -> Parse:
    """The ``parse`` of a family that has choice questions only, each asked in one call.

    ``near_text`` adds, as the last rule, the option whose text is nearest to a reply that names none.
    """

    def parse(item: Item, raw: str, part: str | None) -> Answer | Unparsed:  # noqa: ARG001 - one call an item
        return choices_read(family, item, raw, near_text=near_text)

    return parse


def accuracies(
    cases: Sequence[Case],
    labels: Sequence[str],
    values: Callable[[Case, str], tuple[str, ...]] = labels_of,
) -> list[Metric]:
    """``accuracy``, the mean credit over all items owed, and ``accuracy.LABEL.VALUE`` for each value that occurs.

    ``values`` says which values of a label a case counts under.
    """
    columns = Columns([case.item.id for case in cases], [case.cluster for case in cases])
    credit = [case.grade.credit for case in cases]
    found = [columns.mean("accuracy", credit)]
    for label in labels:
        found += columns.means_by(f"accuracy.{label}", credit, [values(case, label) for case in cases])
    return found
