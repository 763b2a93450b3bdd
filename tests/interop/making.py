"""Small bundles of every family on made clips, and a run of Inspect on them with a scripted model."""

from __future__ import annotations

import base64
import gc
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.media.making import coloured, tone, write

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ChatMessage, ModelOutput

Row = dict[str, Any]
Piece = tuple[str, str | bytes]
OPTIONS = [{"id": "A", "text": "red"}, {"id": "B", "text": "blue"}, {"id": "C", "text": "green"}]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def make_bundle(folder: Path, family: str, episodes: Sequence[Row], items: Sequence[Row], answers: Row) -> Path:
    """A bundle whose media are two clips of one colour each: ``red.mp4`` (3 s, with a tone) and ``blue.mp4`` (2 s)."""
    (folder / "media").mkdir(parents=True)
    write(folder / "media" / "red.mp4", [coloured((255, 0, 0))] * 30, rate=10, sounds=[tone(440, 3.0)])
    write(folder / "media" / "blue.mp4", [coloured((0, 0, 255))] * 20, rate=10)
    (folder / "media" / "said.srt").write_text("1\n00:00:00,200 --> 00:00:01,000\nLook, a marker: SPOKEN\n", "utf-8")
    card = f"name: small-{family}\nfamily: {family}\nversion: '1'\nlicense: CC0-1.0\ndescription: made\n"
    (folder / "bundle.yaml").write_text(card, encoding="utf-8")
    write_rows(folder / "episodes.jsonl", episodes)
    write_rows(folder / "items.jsonl", items)
    write_rows(folder / "references.jsonl", [{"item": item, **fields} for item, fields in answers.items()])
    return folder


def choice(item: str, episode: str, question: str, **fields: Any) -> Row:
    listed = {"id": item, "episode": episode, "task": "choice", "question": question, "options": OPTIONS}
    return {**listed, "select": "one", **fields}


def siv(folder: Path, *, lost: bool = False) -> Path:
    """Six items on two clips; with ``lost`` a seventh on a file that is not there."""
    episodes: list[Row] = [
        {"id": "red", "media": {"video": "media/red.mp4", "transcript": "media/said.srt"}},
        {"id": "blue", "media": {"video": "media/blue.mp4", "transcript": "media/said.srt"}},
        {"id": "gone", "media": {"video": "media/gone.mp4"}},
    ]
    used = ["red", "blue"] * 3 + (["gone"] if lost else [])
    labels = {"dimension": "SSU", "subtask": "EP"}
    items = [choice(f"q{n}", episode, f"Which colour, {n}?", labels=labels) for n, episode in enumerate(used)]
    answers = {item["id"]: {"answer": ["A"], "explanation": "SECRET"} for item in items}
    return make_bundle(folder, "sivbench", episodes[: 3 if lost else 2], items, answers)


def mmh(folder: Path) -> Path:
    episodes = [
        {"id": name, "media": {"video": f"media/{name}.mp4", "transcript": "media/said.srt"}}
        for name in ("red", "blue")
    ]
    labels = {"perspective": "third", "topic": "health"}
    items = [choice(f"m{n}", name, f"Why, {n}?", labels=labels) for n, name in enumerate(("red", "blue", "red"))]
    return make_bundle(folder, "mmhbench", episodes, items, {item["id"]: {"answer": ["B"]} for item in items})


def psycheme(folder: Path) -> Path:
    """Two choice items with a history, one without, one open item."""
    episodes = [
        {"id": name, "media": {"video": f"media/{name}.mp4", "transcript": "media/said.srt"}}
        for name in ("red", "blue")
    ]
    items: list[Row] = [
        choice("p0", "red", "Who?", labels={"capability": "G"}, history=[{"when": "before", "text": "She likes tea."}]),
        choice("p1", "blue", "Why?", labels={"capability": "W"}, history=[{"when": "before", "text": "He left."}]),
        choice("p2", "red", "When?", labels={"capability": "T"}),
        {"id": "p3", "episode": "blue", "task": "open", "question": "How?", "labels": {"capability": "N"}},
    ]
    answers: Row = {f"p{n}": {"answer": ["C"], "cues": ["SECRET"]} for n in range(3)}
    return make_bundle(folder, "psycheme", episodes, items, {**answers, "p3": {"answer": "SECRET"}})


def reaction(folder: Path) -> Path:
    episodes = [{"id": "pair", "media": {"reaction": "media/red.mp4", "stimulus": "media/blue.mp4"}, "duration_s": 2.0}]
    candidates = [
        {"id": letter, "episode": "pair", "start_s": n * 0.5, "end_s": n * 0.5 + 0.4} for n, letter in enumerate("ABCD")
    ]
    moments = [{"id": f"m{n}", "start_s": 0.5 * n, "end_s": 0.5 * n + 0.4} for n in range(3)]
    window = {"start_s": 0.0, "end_s": 1.5}
    items: list[Row] = [
        {"id": "ip", "episode": "pair", "task": "intensity", "moments": moments},
        {"id": "srm", "episode": "pair", "task": "matching", "window": window, "candidates": candidates},
        {"id": "grg", "episode": "pair", "task": "rationale", "window": window},
    ]
    consensus = {"m0": 10.0, "m1": 50.0, "m2": 90.0}
    answers = {"ip": {"consensus": consensus}, "srm": {"answer": ["D"]}, "grg": {"references": ["SECRET"]}}
    return make_bundle(folder, "reactionbench", episodes, items, answers)


MAKERS: dict[str, Callable[[Path], Path]] = {
    "sivbench": siv,
    "mmhbench": mmh,
    "psycheme": psycheme,
    "reactionbench": reaction,
}


def said(text: str, stop: Any = "stop", **fields: Any) -> ModelOutput:
    """A reply with its usage (without it the mock model would look for a tokenizer on the network)."""
    from inspect_ai.model import ModelOutput, ModelUsage

    output = ModelOutput.from_content("served-model", text, stop)
    usage = ModelUsage(input_tokens=10, output_tokens=3, total_tokens=18, input_tokens_cache_read=5)
    return output.model_copy(update={"usage": usage, **fields})


def inspect(task: Task, reply: Callable[[list[ChatMessage]], ModelOutput], logs: Path, **options: Any) -> EvalLog:
    """A run of Inspect without network, its log in ``logs``."""
    from inspect_ai import eval as run
    from inspect_ai.model import get_model

    model = get_model("mockllm/model", custom_outputs=lambda messages, tools, choice, config: reply(messages))
    given = {"display": "none", "log_dir": str(logs), "log_images": False, "log_level": "error", **options}
    with warnings.catch_warnings():
        # Inspect leaves streams of its own open; they go here and not in the middle of another test.
        warnings.simplefilter("ignore", ResourceWarning)
        log = run(task, model=model, **given)[0]
        gc.collect()
    return log


def pieces(message: ChatMessage) -> list[Piece]:
    """The content of a message as words and bytes of pictures."""
    if isinstance(message.content, str):
        return [("text", message.content)]
    found: list[Piece] = []
    for content in message.content:
        if content.type == "image":
            head, _, data = content.image.partition(",")
            assert head == "data:image/jpeg;base64"
            found.append(("image", base64.b64decode(data)))
        else:
            assert content.type == "text"
            found.append(("text", content.text))
    return found
