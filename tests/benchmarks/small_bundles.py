"""A tiny bundle of every family with made media and marked private fields, and the requests it leads to.

``python -m tests.benchmarks.small_bundles FOLDER`` makes the bundles there and prints the requests as JSON; with
``--write`` it writes the golden files instead.
"""

from __future__ import annotations

import json
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlooker.catalog import load_benchmark
from onlooker.errors import InputError, MediaError
from onlooker.models.request import Image, Modality, Options, Part, Request, Sound, Text, Video
from onlooker.models.scripted import ScriptedModel
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.run.delivery import Delivery
from onlooker.run.execute import Session
from onlooker.run.fitness import check_available
from onlooker.run.plan import Parameters, make_plan, reason_to_ask_none
from tests.media.making import coloured, tone, write
from tests.run.conftest import write_rows

GOLDEN: Final = Path(__file__).parent.parent / "golden"
FAMILIES: Final = ("psycheme", "reactionbench", "sivbench", "mmhbench")
SEES: Final[tuple[Modality, ...]] = ("text", "image")
WATCHES: Final[tuple[Modality, ...]] = ("text", "image", "sound", "video")
VARIATIONS: Final = (
    *("wrong_video", "frames_blank", "frames_shuffled", "frames_reversed", "no_sound", "options_rotated_1"),
    *("options_reversed", "options_shuffled", "paraphrase_1", "again_1"),
)
_RATE = 2


class Encoder:
    """Likes all pictures alike."""

    name = "alike"
    fingerprint = "1"

    def embed_texts(self, texts: list[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), np.float32)

    def embed_images(self, jpegs: list[bytes]) -> NDArray[np.float32]:
        return np.ones((len(jpegs), 2), np.float32)


def make_bundle(folder: Path, family: str) -> Bundle:
    """The bundle of a family. Every private field holds a word of ``markers``."""
    path = folder / family
    (path / "media").mkdir(parents=True)
    (path / "bundle.yaml").write_text(f"name: small\nfamily: {family}\nversion: '1'\n", encoding="utf-8")
    episodes, items, references = _MAKERS[family](path / "media")
    write_rows(path / "episodes.jsonl", episodes)
    write_rows(path / "items.jsonl", items)
    write_rows(path / "references.jsonl", [row | _private(row["item"]) for row in references])
    ratings = [
        {"item": item["id"], "unit": unit, "rubric": f"MARKRUBRIC{n}", "rater": f"MARKRATER{n}", **_rating(n)}
        for n, item in enumerate(items)
        for unit in [moment["id"] for moment in item.get("moments", ())] or [item["id"]]
    ]
    write_rows(path / "ratings.jsonl", ratings)
    return open_bundle(path)


def markers(bundle: Bundle) -> set[str]:
    """The marked words that stand in private files; all begin with MARK, numbers with 2.7182."""
    words: set[str] = set()
    for name in ("references.jsonl", "ratings.jsonl"):
        for word in (bundle.path / name).read_text(encoding="utf-8").replace('"', " ").split():
            bare = word.strip(",.:{}[]")
            if bare.startswith(("MARK", "2.7182")):
                words.add(bare)
    return words


def _private(item: str) -> dict[str, Any]:
    return {
        "cues": [f"MARKCUE-{item} she frowns", f"MARKSECOND-{item}"],
        "explanation": {
            "key_event": f"MARKEVENT-{item}",
            "mechanism": f"MARKMECHANISM-{item}",
            "options": {"A": f"MARKWHY-{item}"},
        },
        "nomination": {"score": 2.71828, "evidence": f"MARKNOMINATION-{item}", "selector": "MARKSELECTOR"},
        "model_explanation": f"MARKMODEL-{item}",
    }


def _rating(number: int) -> dict[str, Any]:
    return {"value": f"MARKVALUE{number}", "at": f"MARKAT{number}", "seconds": 2.71829, "note": f"MARKNOTE{number}"}


def _clip(path: Path, rgb: tuple[int, int, int], seconds: float, *, heard: bool = True) -> str:
    # The level rises, so that no two frames are the same.
    pictures = [coloured((*rgb[:2], min(255, rgb[2] + 8 * n)), 32, 32) for n in range(round(seconds * _RATE))]
    write(path, pictures, rate=_RATE, sounds=[tone(440, seconds)] if heard else [])
    return f"media/{path.name}"


def _words(path: Path, text: str) -> str:
    path.write_text(f"1\n00:00:00,000 --> 00:00:01,500\n{text}\n", encoding="utf-8")
    return f"media/{path.name}"


def _options(letters: str) -> list[dict[str, str]]:
    return [{"id": letter, "text": f"choice {letter.lower() * 3}"} for letter in letters]


def _choice(item: str, episode: str, letters: str, labels: dict[str, Any], **fields: Any) -> dict[str, Any]:
    question = f"What of {item}?"
    row = {"id": item, "episode": episode, "task": "choice", "question": question, "select": "one", "labels": labels}
    return row | {"options": _options(letters)} | fields


Rows = list[dict[str, Any]]


def _psycheme(media: Path) -> tuple[Rows, Rows, Rows]:
    """With sound; silent; sound only; with sound of its own beside the picture."""
    with wave.open(str(media / "own.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(tone(300, 2.0).tobytes())
    shown: dict[str, dict[str, str]] = {
        "heard": {"video": _clip(media / "heard.mp4", (200, 0, 0), 3)},
        "silent": {"video": _clip(media / "silent.mp4", (0, 200, 0), 3, heard=False)},
        "spoken": {"audio": "media/own.wav"},
        "dubbed": {"video": _clip(media / "dubbed.mp4", (0, 0, 100), 2), "audio": "media/own.wav"},
    }
    episodes = [
        {"id": name, "media": own | {"transcript": _words(media / f"{name}.srt", f"Words of {name}.")}}
        for name, own in shown.items()
    ]
    items = [
        _choice("p1", "heard", "ABCD", {"capability": "M"}, history=[{"when": "a week ago", "text": "He lied."}]),
        _choice(
            "p2", "silent", "ABC", {"capability": "G"}, select="all", history=[{"time_s": 3.0, "text": "It rained."}]
        ),
        {"id": "p3", "episode": "spoken", "task": "open", "question": "Why?", "labels": {"capability": "W"}},
        _choice("p4", "dubbed", "AB", {"capability": "M"}, history=[{"text": "She left."}]),
    ]
    answers: list[Any] = [["A"], ["A", "C"], "MARKANSWER since she fears", ["B"]]
    return episodes, items, [{"item": i["id"], "answer": a} for i, a in zip(items, answers, strict=True)]


def _reactionbench(media: Path) -> tuple[Rows, Rows, Rows]:
    episodes: Rows = []
    items: Rows = []
    references: Rows = []
    for n, name in enumerate("uvw"):
        shown = {
            "reaction": _clip(media / f"{name}_face.mp4", (0, 40 * n, 0), 9),
            "stimulus": _clip(media / f"{name}_show.mp4", (40 * n, 0, 0), 9),
        }
        lineage = {"creator": "ann", "recording": "r1" if n < 2 else "r2"}
        episodes.append({"id": name, "media": shown, "duration_s": 9.0, "lineage": lineage})
        window = {"start_s": 1.0, "end_s": 4.0}
        apart = [{"id": x, "episode": name, "start_s": 2.0 * k, "end_s": 2.0 * k + 2} for k, x in enumerate("ABCD")]
        others = [{**one, "episode": "uvw"[k % 3]} for k, one in enumerate(apart)]
        moments = [{"id": f"m{k}", "start_s": 1.5 + 4 * k, "end_s": 3.5 + 4 * k} for k in range(2)]
        items += [
            {"id": f"i{name}", "episode": name, "task": "intensity", "moments": moments},
            {"id": f"s{name}", "episode": name, "task": "matching", "window": window, "candidates": apart}
            | ({"cross_video_candidates": others} if n == 0 else {}),
            {"id": f"g{name}", "episode": name, "task": "rationale", "window": window},
        ]
        references += [
            {"item": f"i{name}", "consensus": {"m0": 2.71821, "m1": 0.5}},
            {"item": f"s{name}", "answer": ["A"]},
            {"item": f"g{name}", "references": [f"MARKREFERENCE-{name} falls", f"MARKOTHER-{name}"]},
        ]
    return episodes, items, references


def _sivbench(media: Path) -> tuple[Rows, Rows, Rows]:
    episodes = []
    for n, name in enumerate("xy"):
        keys = ("video", "with_subtitles", "without_text")
        shown = {key: _clip(media / f"{name}_{key}.mp4", (80 * n, 60 * k, 0), 2 + n) for k, key in enumerate(keys)}
        episodes.append({"id": name, "media": shown, "duration_s": 2.0 + n})
    labels = {"dimension": "SSU", "subtask": "AR"}
    items = [
        _choice("x1", "x", "ABCDE", labels, window={"start_s": 0.5, "end_s": 1.5}),
        _choice("x2", "x", "ABCDE", labels, select="all"),
        _choice("y1", "y", "ABCDE", labels),
    ]
    return episodes, items, [{"item": i["id"], "answer": ["B"]} for i in items]


def _mmhbench(media: Path) -> tuple[Rows, Rows, Rows]:
    episodes = [
        {
            "id": name,
            "media": {
                "video": _clip(media / f"{name}.mp4", (90 * n, 0, 0), 4),
                "transcript": _words(media / f"{name}.srt", f"I, {name}, cannot sleep."),
            },
        }
        for n, name in enumerate(("long", "other"))
    ]
    third = {"perspective": "third", "questioner": "Others", "responder": "LES", "topic": "health"}
    items = [
        _choice("t1", "long", "ABCD", third, perspective="third"),
        _choice("f1", "other", "ABCD", {**third, "perspective": "first"}, perspective="first"),
    ]
    return episodes, items, [{"item": i["id"], "answer": ["D"]} for i in items]


_MAKERS = {"psycheme": _psycheme, "reactionbench": _reactionbench, "sivbench": _sivbench, "mmhbench": _mmhbench}


def conditions_of(benchmark: Benchmark, bundle: Bundle, accepts: tuple[Modality, ...]) -> list[Condition]:
    """Every condition that such a model can be asked under, and every variation of the first one of each task."""
    firsts: dict[tuple[str, ...], str] = {}
    items, episodes = bundle.load_items(), bundle.load_episodes()
    for condition in benchmark.conditions:
        owed = tuple(sorted({i.task for i in items.values() if benchmark.scoring.owes(condition.name, i)}))
        firsts.setdefault(owed, condition.name)
    names = [c.name for c in benchmark.conditions]
    for name in [*firsts.values(), *[c.name for c in benchmark.conditions if c.calls != "item"][:1]]:
        names += [f"{name}+{variation}" for variation in VARIATIONS]
    found = []
    for name in dict.fromkeys(names):
        try:
            condition = benchmark.condition(name)
            check_available(condition, accepts, {"video", "with_subtitles", "without_text"}, has_encoder=True)
        except InputError:
            continue
        if reason_to_ask_none(benchmark, condition, list(items.values()), episodes) is None:
            found.append(condition)
    return found


def session_of(
    bundle: Bundle, run: Path, model: ScriptedModel, conditions: list[Condition], benchmark: Benchmark
) -> Session:
    """A session that asks the model everything under the conditions."""
    parameters = Parameters()
    plan = make_plan(
        bundle,
        benchmark,
        list(bundle.items()),
        model_name=model.name,
        fingerprint=model.fingerprint,
        conditions=conditions,
        parameters=parameters,
    )
    delivery = Delivery(bundle, bundle.path.parent / "cache", model.accepts, parameters, encoder=Encoder())
    return Session(plan, benchmark, model, delivery, bundle.load_episodes(), run)


def requests_of(bundle: Bundle) -> dict[str, Any]:
    """{condition: [call]} as the golden files have it: parts in order, media by what does not depend on an encoder."""
    benchmark = load_benchmark(bundle.card.family)
    found: dict[str, Any] = {}
    for title, accepts in (("sees", SEES), ("watches", WATCHES)):
        model = ScriptedModel.by_rule("echo", accepts=frozenset(accepts))
        conditions = conditions_of(benchmark, bundle, accepts)
        session = session_of(bundle, bundle.path.parent / "run", model, conditions, benchmark)
        for call in session.plan.calls():
            body: dict[str, Any] = {"calls": call.label, "options_shown": call.shown}
            try:
                body |= _spelled(session.request(call, session.deliver(call).given))
            except MediaError as error:
                body["refused"] = str(error)
            listed = found.setdefault(call.condition.name, {}).setdefault(title, [])
            listed.append({name: value for name, value in body.items() if value})
    for sides in found.values():
        if sides.get("sees") == sides.get("watches"):
            sides["both"] = sides.pop("sees")
            del sides["watches"]
    return found


def _spelled(request: Request) -> dict[str, Any]:
    return {
        "max_output_tokens": request.max_output_tokens,
        "seed": request.seed,
        "json_object": request.json_object,
        "system": request.system,
        "parts": [_part(part) for part in request.parts],
    }


def _part(part: Part) -> Any:
    match part:
        case Text():
            return part.text
        case Options():
            return {"options": part.text, "select": part.select}
        case Image():
            return f"<image {part.time_s:.3f} s>"
        case Sound():
            return f"<sound {part.start_s:.1f} to {part.end_s:.1f} s>"
        case Video():
            return f"<video {part.start_s:.1f} to {part.end_s:.1f} s, {'with' if part.has_sound else 'without'} sound>"


def documents(folder: Path) -> Iterator[tuple[str, str]]:
    """(family, its golden file) of every family."""
    for family in FAMILIES:
        found = requests_of(make_bundle(folder, family))
        yield family, json.dumps(found, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    for family, document in documents(Path(sys.argv[1])):
        if "--write" in sys.argv:
            (GOLDEN / f"requests_{family}.json").write_text(document, encoding="utf-8")
        else:
            sys.stdout.write(document)
