"""Several judges as one: their labels joined by a stated rule, their own rows kept beside.

A panel's row counts only where more than half of its members gave valid labels. Rules, label by label:

* ``median``: the middle one; of an even number the lower of the two middle ones (the worse word, the smaller number),
  so that the result is always a label that somebody gave.
* ``majority``: what more than half of those who gave labels agree on; without such a majority the panel's row is
  ``unparsed``, with the label that they did not agree on.
* ``mean``: the mean; only for scales that take any number, since it would be off the others.

An object of numbers (one an option) is joined number by number.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from onlooker.errors import InputError
from onlooker.protocol.scoring import Number, PerOption, Rubric, Scale, Words
from onlooker.records.public import Item
from onlooker.records.results import Judgement

Rule = Literal["median", "majority", "mean"]
RULES: tuple[Rule, ...] = get_args(Rule)
_PREFIX = "panel:"
_PEOPLE = "human"


class _NoMajority(Exception):
    pass


def is_machine(judge: str) -> bool:
    """Whether a judge's name stands for one model: neither a person nor a panel."""
    return not judge.startswith((_PREFIX, _PEOPLE))


def join_panel(
    rows: Sequence[Judgement], rubric: Rubric, items: Mapping[str, Item], rule: Rule, members: Sequence[str] = ()
) -> list[Judgement]:
    """One row of the judge ``panel:RULE`` for every reply that any member judged under the rubric.

    ``members``: the judges that count; all models among ``rows`` where empty. Raises ``InputError`` for fewer than two
    members, a member without rows, and for ``mean`` on a scale that has no means.
    """
    own = [row for row in rows if row.rubric == rubric.name]
    there = sorted({row.judge for row in own if is_machine(row.judge)})
    chosen = sorted(members) or there
    strangers = sorted(set(chosen) - {row.judge for row in own})
    if len(chosen) < 2 or strangers:
        raise InputError(
            f"a panel under the rubric {rubric.name} needs two or more judges with judgements",
            value=chosen if not strangers else f"none by {', '.join(strangers)}",
            remedy=f"there are {', '.join(there) or 'none'}; onlooker judge RUN --judge M adds one",
        )
    if rule == "mean":
        stepped = [name for name, scale in rubric.scales.items() if not _takes_means(scale)]
        if stepped:
            raise InputError(
                f"a mean is no label of the rubric {rubric.name}", value=stepped, remedy="use median or majority"
            )
    replies: dict[tuple[str, str, str, int | None], dict[str, Mapping[str, Any] | None]] = defaultdict(dict)
    for row in own:
        if row.judge in chosen:
            valid = row.status == "ok" and rubric.accepts(row.labels, items[row.item])
            replies[row.item, row.model, row.condition, row.seed][row.judge] = row.labels if valid else None
    return [_joined(reply, labels, rubric, rule, chosen) for reply, labels in replies.items()]


def _joined(
    reply: tuple[str, str, str, int | None],
    labels: Mapping[str, Mapping[str, Any] | None],
    rubric: Rubric,
    rule: Rule,
    members: Sequence[str],
) -> Judgement:
    item, model, condition, seed = reply
    valid = [one for one in labels.values() if one is not None]
    why = f"{rule} of {len(valid)} of {len(members)}: {', '.join(members)}"
    found: dict[str, Any] | None = None
    if 2 * len(valid) <= len(members):
        why = f"only {len(valid)} of {len(members)} members gave valid labels"
    else:
        try:
            found = {name: _join([one[name] for one in valid], scale, rule) for name, scale in rubric.scales.items()}
        except _NoMajority as split:
            why = f"no majority: {split}"
    return Judgement(
        item=item,
        model=model,
        condition=condition,
        seed=seed,
        judge=f"{_PREFIX}{rule}",
        rubric=rubric.name,
        labels=found,
        explanation=why,
        status="unparsed" if found is None else "ok",
        raw=None,
    )


def _join(values: Sequence[Any], scale: Scale, rule: Rule) -> Any:
    if isinstance(scale, PerOption):
        one = Number(scale.low, scale.high)
        return {option: _join([value[option] for value in values], one, rule) for option in values[0]}
    if rule == "majority":
        value, votes = Counter(values).most_common(1)[0]
        if 2 * votes <= len(values):
            raise _NoMajority(list(values))
        return value
    if rule == "mean":
        return sum(values) / len(values)
    ordered = sorted(values, key=scale.words.index, reverse=True) if isinstance(scale, Words) else sorted(values)
    return ordered[(len(ordered) - 1) // 2]


def _takes_means(scale: Scale) -> bool:
    match scale:
        case Number(_, _, whole, steps):
            return not whole and not steps
        case PerOption():
            return True
        case Words():
            return False
