"""From the rows of a run to graded cases, one for each item owed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onlooker.protocol.answered import Judged, Run, Seed, read_reply
from onlooker.protocol.ground import Ground
from onlooker.protocol.scoring import Answer, Case, Family, Reply, Scope
from onlooker.records.results import Outcome

Replies = Mapping[tuple[Seed, str], tuple[Outcome, Answer | None]]
"""{(seed, item id): outcome and answer}."""


def read_replies(runs: Sequence[Run], family: Family, ground: Ground) -> list[Replies]:
    """The replies of each run to the items that it owes."""
    found: list[dict[tuple[Seed, str], tuple[Outcome, Answer | None]]] = [{} for _ in runs]
    owed = [frozenset(run.owed) for run in runs]
    # Item by item through all runs: a parser makes its patterns for a question once.
    for item_id, item in ground.items.items():
        for run, inside, replies in zip(runs, owed, found, strict=True):
            if item_id in inside:
                for seed in run.seeds:
                    calls = run.calls.get((seed, item_id), {})
                    replies[seed, item_id] = read_reply(family, item, calls)
    return list(found)


def grade_run(
    run: Run, seed: Seed, replies: Replies, family: Family, ground: Ground, judged: Judged
) -> tuple[list[Case], Scope]:
    """The cases of one seed in the order of the items owed, and what they stand for."""
    clusters = ground.clusters(run.owed)
    about = (run.model, run.condition) in judged.about
    cases = []
    for item_id in run.owed:
        item = ground.items[item_id]
        outcome, answer = replies[seed, item_id]
        labels = judged.valid.get((run.model, run.condition, seed, item_id), {})
        reply = Reply(outcome, answer, labels, about)
        private = ground.private[item_id]
        grade = family.grade(item, private, reply)
        episode = ground.episodes[item.episode]
        cases.append(Case(item, episode, clusters[item.episode], private, reply, grade))
    return cases, Scope(run.condition, tuple(ground.items.values()), about)
