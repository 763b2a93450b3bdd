"""Every rule of a bundle: a spoilt bundle, and the exact line a user reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onlooker.records.fields import edit_distance
from onlooker.records.labels import LabelRules
from onlooker.records.problem import Problem
from onlooker.records.validate import has_errors, validate_bundle
from tests.records.made_bundle import MadeBundle

RULES = {
    "fam": LabelRules(
        closed={"capability": ("G", "W"), "perspective": ("first", "third"), "dimension": ("SSU", "SSR")},
        parents={"subtask": ("dimension", {"AR": "SSU", "RI": "SSR"})},
    )
}


def lines(made: MadeBundle, families: dict[str, LabelRules] | None = None) -> list[str]:
    return [str(problem) for problem in validate_bundle(made.write(), families)]


def test_a_sound_bundle_has_no_problems(made: MadeBundle) -> None:
    assert lines(made, RULES) == []


def test_ratings_are_optional(made: MadeBundle) -> None:
    (made.write() / "ratings.jsonl").unlink()
    assert validate_bundle(made.folder) == []


# (file, row, what to change in it, the problem). Rows count from 0, lines in messages from 1.
SPOILT: list[tuple[str, int, dict[str, Any], str]] = [
    ("episodes", 0, {"id": ""}, 'id: expected text that is not empty, found "". Remedy: fill it in'),
    ("episodes", 1, {"id": "e1"}, 'id: line 1 has the same id, found "e1". Remedy: keep one row for each'),
    ("episodes", 2, {"duration_s": 0}, "duration_s: expected more than 0, found 0. Remedy: correct the number"),
    (
        "episodes",
        0,
        {"media": {"video": "/data/a.mp4"}},
        (
            'media.video: expected a path relative to the bundle, not an absolute one, found "/data/a.mp4". '
            "Remedy: put the file or a link to it inside the bundle and name it from there"
        ),
    ),
    (
        "episodes",
        0,
        {"media": {"audio": "media/../../a.wav"}},
        (
            "media.audio: expected a path inside the bundle, not one that climbs out with '..', "
            'found "media/../../a.wav". '
            "Remedy: put the file or a link to it inside the bundle and name it from there"
        ),
    ),
    (
        "episodes",
        0,
        {"media": {"audio": "C:\\a.wav"}},
        (
            'media.audio: expected a path relative to the bundle, not an absolute one, found "C:\\\\a.wav". '
            "Remedy: put the file or a link to it inside the bundle and name it from there"
        ),
    ),
    (
        "items",
        1,
        {"id": "c1"},
        'id: line 1 has the same id, found "c1". Remedy: keep one row for each',
    ),
    (
        "items",
        2,
        {"episode": "e9"},
        'episode: no episode has this id, found "e9". Remedy: add the episode to episodes.jsonl, or correct the id',
    ),
    (
        "items",
        0,
        {"window": {"start_s": 3, "end_s": 3}},
        (
            "window.end_s: expected more than start_s, 3, found 3.0. "
            "Remedy: times are seconds from the start of the episode"
        ),
    ),
    (
        "items",
        0,
        {"window": {"start_s": -0.1, "end_s": 3}},
        "window.start_s: expected 0 or more, found -0.1. Remedy: correct the number",
    ),
    (
        "items",
        0,
        {"window": {"start_s": 0, "end_s": 30.51}},
        (
            "window.end_s: the window ends behind its episode, which lasts 30 s, found 30.51. "
            "Remedy: correct the window, or duration_s of the episode"
        ),
    ),
    (
        "items",
        0,
        {"history": [{"text": "They met."}]},
        "history.0: has neither time_s nor when. Remedy: add one of the two",
    ),
    ("items", 0, {"options": []}, "options: expected a list of 1 or more, found []. Remedy: add what is missing"),
    (
        "items",
        0,
        {"options": [{"id": "A", "text": "x"}, {"id": "A", "text": "y"}]},
        'options.1.id: the id is used twice in the item, found "A". Remedy: rename it',
    ),
    (
        "items",
        1,
        {"options": [{"id": "A", "text": "x"}, {"id": "B c", "text": "y"}]},
        'options.1.id: expected non-empty text without white space, found "B c". Remedy: use a short id such as "A"',
    ),
    (
        "items",
        1,
        {"select": "some"},
        'select: expected "one" or "all", found "some". Remedy: write one of these words exactly',
    ),
    (
        "items",
        3,
        {"moments": [{"id": "m1", "start_s": 0, "end_s": 1}]},
        (
            'moments: expected a list of 2 or more, found [{"id": "m1", "start_s": 0, "end_s": 1}]. '
            "Remedy: add what is missing"
        ),
    ),
    (
        "items",
        3,
        {"moments": [{"id": "m1", "start_s": 0, "end_s": 1}, {"id": "m1", "start_s": 2, "end_s": 3}]},
        'moments.1.id: the id is used twice in the item, found "m1". Remedy: rename it',
    ),
    (
        "items",
        3,
        {"moments": [{"id": "m1", "start_s": 0, "end_s": 1}, {"id": "m2", "start_s": 31, "end_s": 32}]},
        (
            "moments.1.end_s: the window ends behind its episode, which lasts 30 s, found 32.0. "
            "Remedy: correct the window, or duration_s of the episode"
        ),
    ),
    (
        "items",
        4,
        {
            "candidates": [
                {"id": "A", "episode": "e7", "start_s": 0, "end_s": 1},
                {"id": "B", "episode": "e1", "start_s": 0, "end_s": 1},
            ]
        },
        (
            'candidates.0.episode: no episode has this id, found "e7". '
            "Remedy: add the episode to episodes.jsonl, or correct the id"
        ),
    ),
    (
        "items",
        4,
        {
            "candidates": [
                {"id": "A", "episode": "e1", "start_s": 0, "end_s": 1},
                {"id": "B", "episode": "e2", "start_s": 20, "end_s": 21},
            ]
        },
        (
            "candidates.1.end_s: the window ends behind its episode, which lasts 20 s, found 21.0. "
            "Remedy: correct the window, or duration_s of the episode"
        ),
    ),
    ("items", 5, {"window": None}, "window: expected an object, found null. Remedy: write an object: {...}"),
    (
        "items",
        0,
        {"labels": {"capability": "X"}},
        'labels.capability: the family does not know this label, found "X". Remedy: use one of G, W',
    ),
    (
        "items",
        0,
        {"labels": {"capability": ["G", "X"]}},
        'labels.capability: the family does not know this label, found "X". Remedy: use one of G, W',
    ),
    (
        "items",
        0,
        {"labels": {"subtask": "AR", "dimension": "SSR"}},
        'labels.dimension: subtask AR belongs to dimension SSU, found "SSR". Remedy: correct dimension or subtask',
    ),
    (
        "items",
        0,
        {"perspective": "second"},
        'perspective: the family does not know this label, found "second". Remedy: use one of first, third',
    ),
    (
        "items",
        0,
        {"perspective": "first", "labels": {"perspective": "third"}},
        (
            'perspective: differs from labels.perspective, "third", found "first". '
            "Remedy: state it once, or twice the same"
        ),
    ),
    (
        "references",
        0,
        {"answer": ["C"]},
        'answer.0: no option of the item has this id, found "C". Remedy: the item offers A, B',
    ),
    (
        "references",
        0,
        {"answer": ["A", "B"]},
        (
            'answer: expected exactly one option id, since the item asks for one, found ["A", "B"]. '
            'Remedy: keep one, or set select to "all" in the item'
        ),
    ),
    (
        "references",
        1,
        {"answer": ["A", "A"]},
        'answer.1: the option is named twice, found "A". Remedy: name it once',
    ),
    (
        "references",
        0,
        {"answer": "A"},
        'answer: expected a list of option ids, found "A". Remedy: give the answer of the item',
    ),
    (
        "references",
        0,
        {"answer": None},
        "answer: expected a list of option ids. Remedy: give the answer of the item",
    ),
    (
        "references",
        1,
        {"answer": []},
        "answer: expected a list of option ids, found []. Remedy: give the answer of the item",
    ),
    (
        "references",
        2,
        {"answer": ["A"]},
        'answer: expected text, since the item is open, found ["A"]. Remedy: give the answer of the item',
    ),
    (
        "references",
        3,
        {"consensus": {"m1": 1}},
        "consensus: moment m2 has no mean rating. Remedy: give a mean for every moment, or leave consensus out",
    ),
    (
        "references",
        3,
        {"consensus": {"m1": 1, "m2": 1, "m3": 1}},
        'consensus: the item has no such moment, found "m3". Remedy: the moments are m1, m2',
    ),
    (
        "references",
        4,
        {"answer": ["A", "B"]},
        (
            'answer: expected exactly one option id, since the item asks for one, found ["A", "B"]. '
            'Remedy: keep one, or set select to "all" in the item'
        ),
    ),
    (
        "references",
        5,
        {"references": []},
        "references: expected a list of one text or more, found []. Remedy: give the references of the item",
    ),
    (
        "ratings",
        0,
        {"item": "zz"},
        'item: no item has this id, found "zz". Remedy: add the item to items.jsonl, or correct the id',
    ),
    (
        "ratings",
        0,
        {"unit": "m7"},
        'unit: the item has no such moment, found "m7". Remedy: the moments are m1, m2',
    ),
    ("ratings", 0, {"item": "o1"}, 'unit: expected the id of the item, found "m1". Remedy: write the item id'),
    (
        "ratings",
        1,
        {"value": 3},
        'value: both a value and the opt-out "unclear", found 3. Remedy: set one of the two to null',
    ),
    (
        "ratings",
        1,
        {"rater": "r1"},
        (
            'rater: the same rater on the same unit and rubric as on line 1, found "r1". '
            "Remedy: keep one of the two ratings"
        ),
    ),
]


@pytest.mark.parametrize(("name", "row", "change", "expected"), SPOILT)
def test_rule(made: MadeBundle, name: str, row: int, change: dict[str, Any], expected: str) -> None:
    getattr(made, name)[row].update(change)
    problems = lines(made, RULES)
    assert f"{name}.jsonl, line {row + 1}, {expected}" in problems
    # What a spoilt id leaves dangling is said too; nothing else is.
    spoils_others = "id" in change or "used twice" in expected
    if not spoils_others and name != "episodes" and change.get("item") is None:
        assert len(problems) == 1


def test_all_problems_are_listed_in_the_order_of_the_files(made: MadeBundle) -> None:
    made.card = made.card.replace("family: fam", "family: other")
    made.episodes[1]["duration_s"] = "20"
    made.items[0]["question"] = None
    made.items[2]["task"] = "opne"
    made.references[0]["answer"] = ["Z"]
    made.ratings[0]["value"] = True
    assert lines(made, RULES) == [
        'bundle.yaml, family: unknown family, found "other". Remedy: use one of fam',
        'episodes.jsonl, line 2, duration_s: expected a number, found "20". Remedy: write a number without quotes',
        "items.jsonl, line 1, question: expected text, found null. Remedy: write text in quotes",
        (
            'items.jsonl, line 3, task: unknown task, found "opne". '
            "Remedy: use one of choice, open, intensity, matching, rationale"
        ),
        "ratings.jsonl, line 1, value: expected a number or text, found true. Remedy: write it as one of these",
    ]


def test_a_row_at_fault_does_not_make_others_dangle(made: MadeBundle) -> None:
    made.episodes[0]["duration_s"] = "long"
    made.items[3]["moments"] = 5
    assert [problem.split(":")[0] for problem in lines(made)] == [
        "episodes.jsonl, line 1, duration_s",
        "items.jsonl, line 4, moments",
    ]


def test_required_labels(made: MadeBundle) -> None:
    rules = {"fam": LabelRules(required=("capability",))}
    made.items = made.items[:2]
    made.references, made.ratings = made.references[:2], []
    assert lines(made, rules) == [
        "items.jsonl, line 2, labels.capability: the family needs this label on every item. Remedy: add it"
    ]


def test_perspective_as_a_field_serves_as_the_label(made: MadeBundle) -> None:
    rules = {"fam": LabelRules(required=("perspective",))}
    for item in made.items:
        item["perspective"] = "first"
    assert lines(made, rules) == []


def test_second_reference_names_both_lines(made: MadeBundle) -> None:
    made.references.append(made.references[0])
    assert lines(made) == [
        'references.jsonl, line 7, item: line 1 has the same item, found "c1". Remedy: keep one row for each'
    ]


def test_one_intensity_item_a_video(made: MadeBundle) -> None:
    made.items.append(made.items[3] | {"id": "i2"})
    made.references.append(made.references[3] | {"item": "i2"})
    assert lines(made) == [
        (
            "items.jsonl, line 7, episode: a second intensity item of this episode, after line 4, "
            'found "e1". Remedy: put all moments of a video into one item'
        )
    ]


def test_item_that_cannot_be_scored(made: MadeBundle) -> None:
    del made.references[2]
    assert lines(made) == [
        (
            'items.jsonl, line 3, id: the item has no row in references.jsonl, found "o1". '
            "Remedy: add its answer, or leave the item out"
        )
    ]


def test_withheld_references_are_a_warning(made: MadeBundle) -> None:
    made.references = []
    assert lines(made) == ["warning: references.jsonl: no item has a reference: the bundle can be run, not scored"]


def test_intensity_without_consensus_and_ratings(made: MadeBundle) -> None:
    made.references[3] = {"item": "i1"}
    assert lines(made) == []
    made.ratings = made.ratings[1:]
    assert lines(made) == [
        (
            "warning: items.jsonl: 1 intensity item has neither a consensus nor ratings, the first on "
            'line 4, found "i1". Remedy: they cannot be scored: rate them, or leave them out'
        )
    ]


def test_missing_media_are_one_warning(made: MadeBundle) -> None:
    made.episodes[0]["media"] = {"video": "media/a.mp4", "audio": "media/b.wav"}
    made.episodes[1]["media"] = {"video": "media/c.mp4"}
    folder = made.write()
    (folder / "media" / "a.mp4").touch()
    problems = validate_bundle(folder)
    assert [str(problem) for problem in problems] == [
        (
            "warning: episodes.jsonl, media: 2 declared media files are not in the bundle, the first on "
            'line 1, found "media/b.wav". '
            "Remedy: fetch the media before a run; scoring does not need them"
        )
    ]
    assert not has_errors(problems)


@pytest.mark.parametrize("name", ["episodes.jsonl", "items.jsonl", "references.jsonl"])
def test_missing_file(made: MadeBundle, name: str) -> None:
    (made.write() / name).unlink()
    problems = validate_bundle(made.folder)
    assert f"{name}: no such file. Remedy: check the path" in [str(problem) for problem in problems]
    assert has_errors(problems)


def test_missing_folder(tmp_path: Path) -> None:
    where = tmp_path / "nowhere"
    assert validate_bundle(where) == [
        Problem(str(where), None, None, "no such folder", remedy="name the folder of a bundle")
    ]


@pytest.fixture
def without_rights(made: MadeBundle) -> Iterator[MadeBundle]:
    """The bundle in a folder that this process may not enter, also where the tests run as root."""
    made.write().chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield made
    if root:
        os.seteuid(0)
    made.folder.chmod(0o755)


def test_folder_without_permission(without_rights: MadeBundle) -> None:
    where = str(without_rights.folder)
    remedy = "let this user read and enter the folder"
    assert validate_bundle(without_rights.folder) == [
        Problem(where, None, None, "cannot be read: Permission denied", remedy=remedy)
    ]


# (file, row, what to change in it, the warning)
DOUBTFUL: list[tuple[str, int, dict[str, Any], str]] = [
    (
        "items",
        0,
        {"question": " "},
        'items.jsonl, line 1, question: blank question, found " ". Remedy: write what is asked',
    ),
    (
        "items",
        2,
        {"question": ""},
        'items.jsonl, line 3, question: blank question, found "". Remedy: write what is asked',
    ),
    (
        "items",
        1,
        {"options": [{"id": "A", "text": "stay"}, {"id": "B", "text": "\t"}]},
        'items.jsonl, line 2, options.1.text: blank option, found "\\t". Remedy: write what the option says',
    ),
    (
        "items",
        1,
        {"options": [{"id": "A", "text": "stay"}, {"id": "B", "text": "stay"}]},
        (
            'items.jsonl, line 2, options.1.text: two options of the item say the same, found "stay". '
            "Remedy: reword one of them"
        ),
    ),
    *(
        (
            "items",
            2,
            {name: "x"},
            (
                f"items.jsonl, line 3, {name}: only scorers may see this, and models may see the file. "
                "Remedy: move it to references.jsonl"
            ),
        )
        for name in ("answer", "answers", "explanation", "cues", "reference", "Answer")
    ),
    (
        "items",
        1,
        {"options": [{"id": "A", "text": "stay"}, {"id": "B", "text": "go", "correct": True}]},
        (
            "items.jsonl, line 2, options.correct: only scorers may see this, and models may see the file. "
            "Remedy: move it to references.jsonl"
        ),
    ),
    (
        "episodes",
        0,
        {"media": {"audio": "media/e1.mp4", "vide": "media/e1.mp4"}},
        (
            "episodes.jsonl, line 1, media.vide: unknown kind of media, kept. Remedy: use one of "
            "video, audio, transcript, stimulus, reaction, with_subtitles, without_text"
        ),
    ),
    (
        "episodes",
        0,
        {"media": {"video": None}},
        (
            'episodes.jsonl, media: 1 episode has no media, the first on line 1, found "e1". '
            "Remedy: name the files under media; without them only conditions of text can be run"
        ),
    ),
    (
        "episodes",
        1,
        {"media": {"video": "media"}},
        (
            'episodes.jsonl, media: 1 declared medium is a folder, the first on line 2, found "media". '
            "Remedy: name the file inside it"
        ),
    ),
    ("items", 1, {"lables": {}}, "items.jsonl, line 2, lables: unknown field, kept; did you mean `labels`?"),
    (
        "episodes",
        2,
        {"durations_s": 5},
        "episodes.jsonl, line 3, durations_s: unknown field, kept; did you mean `duration_s`?",
    ),
    ("references", 2, {"cue": []}, "references.jsonl, line 3, cue: unknown field, kept; did you mean `cues`?"),
    ("ratings", 0, {"optout": None}, "ratings.jsonl, line 1, optout: unknown field, kept; did you mean `opt_out`?"),
]


@pytest.mark.parametrize(("name", "row", "change", "expected"), DOUBTFUL)
def test_what_is_legal_and_doubtful_is_one_warning(
    made: MadeBundle, name: str, row: int, change: dict[str, Any], expected: str
) -> None:
    getattr(made, name)[row].update(change)
    assert lines(made, RULES) == [f"warning: {expected}"]


def test_unknown_fields_that_resemble_none_are_free(made: MadeBundle) -> None:
    for item in made.items:
        item.update({"note": 1, "question_zh": "?", "idx": 2, "LABEL SET": 3, "x" * 100_000: 4})
    made.ratings[0]["ad"] = "spot 3"
    assert lines(made) == []


def test_a_slip_in_every_row_is_one_warning(made: MadeBundle) -> None:
    made.card += "licence: CC0-1.0\n"
    for item in made.items[1:]:
        item["answer"] = ["A"]
    for episode in made.episodes:
        episode["media"] = {"vide": "media/e1.mp4"}
    assert lines(made) == [
        "warning: bundle.yaml, licence: unknown field, kept; did you mean `license`?",
        (
            "warning: episodes.jsonl, line 1, media.vide: in 3 rows, the first here: unknown kind of media, kept. "
            "Remedy: use one of video, audio, transcript, stimulus, reaction, with_subtitles, without_text"
        ),
        (
            'warning: episodes.jsonl, media: 3 episodes have no media, the first on line 1, found "e1". '
            "Remedy: name the files under media; without them only conditions of text can be run"
        ),
        (
            "warning: items.jsonl, line 2, answer: in 5 rows, the first here: only scorers may see this, and models "
            "may see the file. Remedy: move it to references.jsonl"
        ),
    ]


def test_edits_by_hand() -> None:
    # One swap; one letter added; one replaced; a swap is not split by an insertion; two letters added.
    pairs = [("lables", "labels"), ("vide", "video"), ("itom", "item"), ("ca", "abc"), ("duration", "duration_s")]
    assert [edit_distance(*pair) for pair in pairs] == [1, 1, 1, 3, 2]


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (
            "name: a\nfamily: fam\nversion: 1.0\nlicense: x\n",
            'bundle.yaml, version: expected text, found 1.0. Remedy: write it in quotes: "1.0"',
        ),
        (
            "family: fam\nversion: a\nlicense: x\n",
            'bundle.yaml, name: required field is missing. Remedy: add "name"',
        ),
        (
            "[",
            (
                "bundle.yaml, line 1: not valid YAML: expected the node content, but found "
                "'<stream end>'. Remedy: write plain YAML, saved as UTF-8"
            ),
        ),
        ("", "bundle.yaml: expected an object, found null. Remedy: write an object: {...}"),
        (
            "name: a\nfamily: fam\nversion: '1'\n",
            (
                "warning: bundle.yaml, license: no licence is stated. "
                "Remedy: say under which licence others may use the bundle"
            ),
        ),
    ],
)
def test_card(made: MadeBundle, card: str, expected: str) -> None:
    made.card = card
    assert lines(made) == [expected]


def _grow(made: MadeBundle, count: int, place_of: Any, text_of: Any) -> None:
    made.items, made.references, made.ratings = [], [], []
    for number in range(count):
        right = place_of(number)
        options = [{"id": one, "text": text_of(number, place, right)} for place, one in enumerate("ABCD")]
        shared = {"episode": "e1", "task": "choice", "question": "?", "select": "one"}
        made.items.append({"id": f"q{number}", "options": options, **shared})
        made.references.append({"item": f"q{number}", "answer": ["ABCD"[right]]})


def test_even_answers_raise_no_warning(made: MadeBundle) -> None:
    _grow(made, 400, lambda number: number % 4, lambda number, place, right: f"{place}{number % 7 * 'x'}")
    assert lines(made) == []


def test_answers_at_one_place(made: MadeBundle) -> None:
    # Expected 10 a place; (28^2 - 8^2 * 0 ...) by hand: (18^2 + 6^2 + 6^2 + 6^2) / 10 = 43.2.
    _grow(made, 40, lambda number: 0 if number < 28 else number % 3 + 1, lambda number, place, right: str(place))
    assert lines(made) == [
        (
            "warning: references.jsonl, answer: the right one of 4 options is not spread evenly over the "
            "places: 28, 4, 4, 4 (chi-square 43.2, p < 0.01)"
        )
    ]


def test_longest_option(made: MadeBundle) -> None:
    _grow(made, 40, lambda number: number % 4, lambda number, place, right: f"{place}" + "x" * (4 * (place == right)))
    assert lines(made) == [
        (
            "warning: references.jsonl, answer: the right option is the longest one in 40 items, where 10 "
            "are expected (p < 0.01)"
        ),
        (
            "warning: references.jsonl, answer: right options are longer than wrong ones by 4.0 characters "
            "on average over 40 items (p < 0.01)"
        ),
    ]


def test_few_items_raise_no_warning(made: MadeBundle) -> None:
    _grow(made, 39, lambda number: 0, lambda number, place, right: "x" * (place == right) + str(place))
    assert lines(made) == []
