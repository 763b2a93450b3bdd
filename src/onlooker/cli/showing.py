"""How ``onlooker show`` lays out a bundle and an item."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TextIO

from onlooker.cli.terminal import printable, table
from onlooker.errors import InputError
from onlooker.records.private import load_references
from onlooker.records.public import ChoiceItem, OpenItem

if TYPE_CHECKING:
    from onlooker.records.bundle import Bundle
    from onlooker.records.public import Item


def show_bundle(bundle: Bundle, out: TextIO) -> None:
    """Card, episodes and items of a bundle, with the counts of every label."""
    card = bundle.card
    episodes = bundle.load_episodes()
    items: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    labels: Counter[tuple[str, str]] = Counter()
    for item in bundle.items():
        items[item.episode] += 1
        tasks[item.task] += 1
        for name, value in (item.labels or {}).items():
            for one in value if isinstance(value, list) else [value]:
                labels[name, str(one)] += 1
    _write(out, f"{card.name} {card.version} ({card.family}), licence {card.license or 'not stated'}")
    if card.description:
        _write(out, card.description)
    seconds = [e.duration_s for e in episodes.values() if e.duration_s is not None]
    _write(
        out,
        f"{len(episodes)} episodes, {sum(seconds):.1f} s where the duration is known ({len(seconds)}); "
        f"{sum(items.values())} items ({', '.join(f'{n} {task}' for task, n in sorted(tasks.items())) or 'none'})",
    )
    rows = [["episode", "seconds", "media", "items"]]
    for episode in episodes.values():
        media = [key for key in type(episode.media).model_fields if getattr(episode.media, key)]
        duration = "?" if episode.duration_s is None else f"{episode.duration_s:.1f}"
        rows.append([episode.id, duration, " ".join(media), str(items[episode.id])])
    _write(out, table(rows, right=(1, 3)))
    if labels:
        _write(
            out, table([["label", "value", "items"], *([*k, str(n)] for k, n in sorted(labels.items()))], right=(2,))
        )


def show_item(bundle: Bundle, identity: str, out: TextIO, *, answers: bool) -> None:
    """One item as a person would read it. The reference only with ``answers``."""
    item = next((i for i in bundle.items() if i.id == identity), None)
    if item is None:
        raise InputError(
            "no such item",
            where=str(bundle.path / "items.jsonl"),
            value=identity,
            remedy="onlooker show BUNDLE lists them",
        )
    episode = bundle.load_episodes().get(item.episode)
    _write(out, f"item {item.id}: {item.task}, episode {item.episode}")
    if episode is not None:
        media = {key: getattr(episode.media, key) for key in type(episode.media).model_fields}
        _write(out, "media: " + (", ".join(f"{k} {v}" for k, v in media.items() if v) or "none"))
    if item.labels:
        _write(out, "labels: " + ", ".join(f"{k} {v}" for k, v in item.labels.items()))
    if item.window is not None:
        _write(out, f"window: {item.window.start_s}-{item.window.end_s} s")
    _write(out, "")
    for line in _body(item):
        _write(out, line)
    if answers:
        reference = load_references(bundle).get(item.id)
        _write(out, "")
        _write(out, "reference: none" if reference is None else f"reference: {reference.to_json()}")


def _body(item: Item) -> list[str]:
    if isinstance(item, ChoiceItem):
        one = "" if item.select == "one" else " (all that are right)"
        return [item.question + one, *(f"  {o.id}. {o.text}" for o in item.options)]
    if isinstance(item, OpenItem):
        return [item.question]
    return [item.to_json()]


def _write(out: TextIO, text: str) -> None:
    out.write(printable(text) + "\n")
