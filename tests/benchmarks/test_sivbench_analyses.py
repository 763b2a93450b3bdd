"""The analyses of SIV-Bench on small bundles, worked by hand and against reference packages."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from onlooker.benchmarks.sivbench.analyses import ANALYSES, diversity, similarity
from onlooker.benchmarks.sivbench.analyses.agreement import kappa_of_sums
from onlooker.benchmarks.sivbench.analyses.relations import MODEL_OF, relation_named
from onlooker.benchmarks.sivbench.analyses.vectors import cloud_of, cosine, vocabulary_of
from onlooker.benchmarks.sivbench.scoring import FAMILY, QUALITIES
from onlooker.errors import InputError
from onlooker.protocol.analysis import Findings, Material
from onlooker.score.analyze import analyze, find_analysis
from onlooker.stats.agreement import fleiss_kappa, tabulate
from tests.score.made import Made, Row, choice, judged, said

ABCDE = "ABCDE"
SUBTASK = {"SSU": "AR", "SSR": "RI", "SDP": "FP"}


def question(name: str, episode: str, dimension: str, **changes: Any) -> Row:
    """A question with five options and its labels."""
    return choice(name, episode, options=ABCDE, dimension=dimension, subtask=SUBTASK[dimension]) | changes


def answers(model: str, condition: str, letters: str, **fields: Any) -> list[Row]:
    """A prediction a letter for q0, q1 and so on; ``-`` is a reply that cannot be read."""
    return [
        said(f"q{k}", "I cannot say." if letter == "-" else letter, model=model, condition=condition, **fields)
        for k, letter in enumerate(letters)
    ]


def made(folder: Path, dimensions: Sequence[str], **changes: Any) -> Made:
    """Questions q0.. of episodes e0.., the right option always A."""
    items = [question(f"q{k}", f"e{k}", d, **changes) for k, d in enumerate(dimensions)]
    return Made(folder, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])


def found(made: Made, name: str, rows: Iterable[Row] = (), judgements: Iterable[Row] = (), **options: str) -> Findings:
    """What the analysis of that name finds, with few draws."""
    files = [made.predictions(list(rows))] if rows else []
    labels = [made.judgements(list(judgements))] if judgements else []
    analysis = find_analysis(ANALYSES, "sivbench", name)
    return analyze(made.bundle, FAMILY, analysis, files, labels, draws=100, seed=1, options=options)


def test_subtasks_worked_by_hand(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSU", "SSR"])
    it = found(bundle, "subtasks", answers("m", "origin", "ABA"))
    run = it.data["runs"]["m:origin"]
    assert run["AR"]["value"] == 0.5
    assert run["AR"]["n"] == 2
    assert run["RI"] == {"value": 1.0, "low": None, "high": None, "n": 1}
    assert run["FP"] == {"value": None, "low": None, "high": None, "n": 0}
    assert it.data["chance"] == pytest.approx(0.2)
    assert any("nothing to average over" in line and "m:origin FP" in line for line in it.notes)
    assert it.figures[0].kind == "radar"
    assert it.figures[0].series[0].values[0] == 0.5


def relations_bundle(folder: Path) -> Made:
    texts = ["Boss and employee", "Colleagues", "Coach–Player", "The teammates", "Friends relationship"]
    listed = [{"id": i, "text": t} for i, t in zip(ABCDE, texts, strict=True)]
    items = [question(f"q{k}", f"e{k}", "SSR", options=listed) for k in range(5)]
    items.append(question("q5", "e5", "SSR"))  # "option number 1" names no relation
    odd = [{"id": i, "text": t} for i, t in zip(ABCDE, ["Siblings", "Friends", "at a picnic", "x", "y"], strict=True)]
    items.append(question("q6", "e6", "SSR", options=odd))
    items.append(question("q7", "e7", "SSU"))
    right = ["A", "C", "D", "E", "A", "A", "A", "A"]
    references: list[Row] = [{"item": f"q{k}", "answer": [r]} for k, r in enumerate(right)]
    references[4]["option_relations"] = {"A": "strangers", "B": "Sibling"}
    return Made(folder, FAMILY, items, references)


def test_relation_confusions_worked_by_hand(tmp_path: Path) -> None:
    # q0 boss read as colleagues, q1 coach as teammates, q2 teammates as boss, q3 friends right, q4 strangers as
    # siblings, q5 left out, q6 siblings as friends (one model), then a reply that names no relation.
    bundle = relations_bundle(tmp_path)
    it = found(bundle, "relations", answers("m", "origin", "BDAEBAB") + answers("n", "origin", "-DAEBAC"))
    counts = it.data["counts"]
    assert counts["boss-employee"] == {"colleagues": 1, "no answer": 1}
    assert counts["coach-player"] == {"teammates": 2}
    assert counts["siblings"] == {"friends": 1, "names no relation": 1}
    assert counts["strangers"] == {"siblings": 2}
    shares = it.data["shares"]["m:origin"]
    assert shares["authority as equality"]["value"] == pytest.approx(2 / 5)
    assert shares["equality as authority"]["value"] == pytest.approx(1 / 5)
    assert shares["authority and equality confused"]["value"] == pytest.approx(3 / 5)
    assert shares["within a model"]["value"] == pytest.approx(1 / 5)
    assert shares["within a model"]["n"] == 5
    assert it.data["shares"]["all runs"]["authority and equality confused"]["value"] == pytest.approx(5 / 8)
    assert it.data["questions"] == 6
    assert it.data["unmapped"] == {"questions": 1, "options": 3}
    matrix = it.figures[0]
    assert matrix.blocks[0] == ("communal sharing", 0, 5)
    assert matrix.blocks[-1] == ("market pricing", 12, 14)
    assert len(matrix.series) == len(matrix.categories) == 15
    boss = next(s for s in matrix.series if s.name == "boss-employee")
    assert boss.values[matrix.categories.index("colleagues")] == 1.0
    assert next(s for s in matrix.series if s.name == "couple").values == (None,) * 15


def test_relations_need_options_that_name_some(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="option_relations"):
        found(made(tmp_path, ["SSR"]), "relations", answers("m", "origin", "A"))


@given(st.sampled_from(sorted(MODEL_OF)), st.sampled_from(["{}", " The {}.", "{} relationship", "RELATION: {}"]))
def test_a_relation_is_named_however_it_is_spelled(name: str, frame: str) -> None:
    assert relation_named(frame.format(name)) == name
    assert relation_named(frame.format(name.replace("-", " and ").title())) == name
    assert relation_named(f"They might be {name}") is None


def test_media_deltas_worked_by_hand(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSU", "SSR", "SSR"])
    rows = answers("m", "origin", "AABB") + answers("m", "with_subtitles", "AAAB")
    rows += answers("n", "origin", "AABA") + answers("n", "with_subtitles", "ABBA")
    it = found(bundle, "media", rows)
    first = it.data["changes"][0]
    assert (first["model"], first["condition"], first["scope"]) == ("m", "with_subtitles", "overall")
    assert (first["base"], first["there"], first["difference"]["value"]) == (0.5, 0.75, 0.25)
    assert first["relative"] == 0.5
    assert first["mcnemar"] == {"there_only": 1, "base_only": 0, "p": 1.0, "holm_p": 1.0}
    everyone = [c for c in it.data["changes"] if c["model"] == "mean of models"]
    assert [c["difference"]["value"] for c in everyone[:3]] == pytest.approx([0.0, -0.25, 0.25])
    assert everyone[3]["difference"]["value"] is None  # no question of SDP
    assert everyone[0]["mcnemar"] is None
    assert it.figures[0].series[0].values[:3] == pytest.approx((0.0, -0.25, 0.25))


def test_media_needs_both_conditions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="under origin and under one of"):
        found(made(tmp_path, ["SSU"]), "media", answers("m", "origin", "A"))


def test_questions_not_answered_under_both_leave_the_pair(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSU", "SSR"])
    rows = answers("m", "origin", "AAA") + answers("m", "no_audio", "BA")
    it = found(bundle, "media", rows)
    assert it.data["changes"][0]["difference"]["n"] == 2
    assert it.data["changes"][0]["difference"]["value"] == -0.5
    assert any("1 questions not answered under both" in line for line in it.notes)


def test_text_only_control_worked_by_hand(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSU", "SSR", "SDP"])
    rows = answers("a", "text_only", "AABB") + answers("b", "text_only", "AABB") + answers("c", "text_only", "ABAB")
    it = found(bundle, "text_only", rows)
    together = it.data["together"]
    assert together["models"] == 3
    assert together["all"]["overall"]["value"] == 0.25
    assert together["nearly"]["overall"]["value"] == 0.5
    assert together["nearly"]["SSU"]["value"] == 1.0
    assert together["all_by_guessing"]["overall"]["value"] == pytest.approx(0.008)
    assert together["nearly_by_guessing"]["overall"]["value"] == pytest.approx(0.104)
    assert it.data["models"]["a"]["overall"]["over_chance"]["value"] == pytest.approx(0.3)
    assert it.data["models"]["a"]["SDP"]["accuracy"]["value"] == 0.0


def test_one_model_solves_nothing_together(tmp_path: Path) -> None:
    it = found(made(tmp_path, ["SSU", "SSR"]), "text_only", answers("a", "text_only", "AA"))
    assert it.data["together"]["all"]["overall"]["value"] is None
    assert any("one model only" in line for line in it.notes)


def test_cot_counts_what_could_not_be_read(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSR", "SDP", "SDP"])
    it = found(bundle, "cot", answers("m", "origin", "AABB") + answers("m", "cot", "A--A"))
    assert it.data["outcomes"]["m"]["cot"]["unparsed"] == 2
    assert it.data["outcomes"]["m"]["cot"]["scored"] == 2
    assert it.data["outcomes"]["m"]["origin"]["unparsed"] == 0
    change = it.data["changes"][0]
    assert change["difference"]["value"] == 0.0
    assert (change["mcnemar"]["there_only"], change["mcnemar"]["base_only"]) == (1, 1)
    with pytest.raises(InputError, match="under origin"):
        found(bundle, "cot", answers("m", "cot", "AAAA"))


def test_significance_with_holm_worked_by_hand(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU"] * 4 + ["SSR"] * 4)
    rows = answers("a", "origin", "AAAAAAAA") + answers("b", "origin", "AABBBBBB") + answers("c", "origin", "ABBBBBBB")
    it = found(bundle, "significance", rows)
    tests = {(t["a"], t["b"]): t for t in it.data["models"]}
    assert (tests["a", "b"]["only a right"], tests["a", "b"]["only b right"]) == (6, 0)
    assert tests["a", "b"]["p"] == pytest.approx(scipy.stats.binomtest(6, 6).pvalue)
    assert tests["a", "c"]["p"] == pytest.approx(2 / 2**7)
    assert tests["b", "c"]["p"] == 1.0
    assert tests["a", "c"]["Holm p"] == pytest.approx(3 * 2 / 2**7)
    assert tests["a", "b"]["Holm p"] == pytest.approx(2 * 2 / 2**6)
    gap = next(g for g in it.data["gaps"] if (g["run"], g["a"], g["b"]) == ("b:origin", "SSU", "SSR"))
    assert gap["difference"]["value"] == 0.5
    assert it.data["conditions"] == []
    assert any("two conditions of one model" in line for line in it.notes)


def test_kappa_worked_by_hand(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU"] * 5)
    it = found(bundle, "agreement", answers("a", "origin", "AABBA") + answers("b", "origin", "ABBB-"))
    kappa = it.data["origin"]["answers"]["overall"]
    assert kappa["value"] == pytest.approx(7 / 15)
    assert kappa["n"] == 4
    assert any("1 questions left out" in line for line in it.notes)
    assert it.figures[0].kind == "histogram"
    # AABB against ABBB: they agree but for the second question.
    assert it.figures[0].series[0].values == (1.0, 0.0, 1.0, 1.0)
    alone = found(bundle, "agreement", answers("a", "origin", "AABBA"))
    assert alone.data["origin"]["answers"]["overall"]["value"] is None
    assert any("one model only" in line for line in alone.notes)


@given(st.lists(st.lists(st.sampled_from("ABC"), min_size=3, max_size=3), min_size=1, max_size=8))
def test_kappa_from_sums_is_fleiss_kappa(votes: list[list[str]]) -> None:
    counts = np.array([[one.count(name) for name in "ABC"] for one in votes], dtype=np.float64)
    agreed = ((counts**2).sum(axis=1) - 3) / 6
    sums = np.column_stack([np.ones(len(votes)), agreed, counts]).sum(axis=0, keepdims=True)
    expected = fleiss_kappa(tabulate(votes)).value
    value = float(kappa_of_sums(sums)[0])
    assert math.isnan(value) if expected is None else value == pytest.approx(expected)


def test_surface_worked_by_hand(tmp_path: Path) -> None:
    texts = {"q0": ["one", "one two", "x y z", "a", "b"], "q1": ["Where is it", "there", "q", "r", "s"]}
    asked = {"q0": "What is it?", "q1": "Where is the dog it sees?"}
    items = [
        question(name, f"e-{name}", "SSU", question=asked[name])
        | {"options": [{"id": i, "text": t} for i, t in zip(ABCDE, texts[name], strict=True)]}
        for name in texts
    ]
    bundle = Made(tmp_path, FAMILY, items, [{"item": "q0", "answer": ["C"]}, {"item": "q1", "answer": ["C"]}])
    it = found(bundle, "surface")
    rules = it.data["rules"]
    assert rules["longest option"]["credit"]["value"] == 0.5  # q0 right; q1 takes A
    assert rules["longest option"]["advantage"]["value"] == pytest.approx(0.3)
    assert rules["shortest option"]["credit"]["value"] == pytest.approx((0 + 1 / 4) / 2)
    assert rules["most words of the question"]["credit"]["value"] == pytest.approx((1 / 5 + 0) / 2)
    assert rules["most frequent place"]["credit"]["value"] == 1.0
    assert it.data["right_words"] == {"right": 2.0, "wrong": pytest.approx((5 / 4 + 6 / 4) / 2)}
    third = it.data["places"][2]
    assert (third["answers"], third["share"], third["expected"], third["words"]) == (2, 1.0, pytest.approx(0.2), 2.0)
    assert it.data["question_words"] | {"sd": None} == {
        "n": 2, "mean": 4.5, "sd": None, "least": 3, "quartile_1": 3.75, "median": 4.5, "quartile_3": 5.25, "most": 6,
    }  # fmt: skip
    assert it.data["first_words"] == {"what": 1, "where": 1}
    assert [row[0] for row in found(bundle, "surface", top="1").tables[2].rows] == ["what"]
    with pytest.raises(InputError, match="whole number above 0"):
        found(bundle, "surface", top="-1")


def test_surface_of_questions_with_several_right_options_has_no_rules(tmp_path: Path) -> None:
    it = found(made(tmp_path, ["SSU"], select="all"), "surface")
    assert it.data["rules"]["longest option"]["credit"]["value"] is None
    assert any("several right options" in line for line in it.notes)


def test_lengths_against_scipy(tmp_path: Path) -> None:
    texts = ["Why now?", "What does she mean by that?", "Who is he to her here?", "How so then?", "Which one of them?"]
    items = [question(f"q{k}", f"e{k}", "SSU", question=text) for k, text in enumerate(texts)]
    bundle = Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])
    it = found(bundle, "lengths", answers("m", "origin", "BAABA"))
    measure = it.data["m:origin"]["words, question"]
    right, wrong = [6, 6, 4], [2, 3]
    reference = scipy.stats.ttest_ind(right, wrong, equal_var=False)
    assert (measure["t"], measure["p"]) == pytest.approx((reference.statistic, reference.pvalue))
    assert measure["cohen_d"] == pytest.approx((16 / 3 - 2.5) / math.sqrt((8 / 3 + 0.5) / 3))
    assert measure["right"] == {"n": 3, "mean": pytest.approx(16 / 3), "sd": pytest.approx(math.sqrt(4 / 3))}
    whole = it.data["m:origin"]["words, with options"]
    assert whole["right"]["mean"] == pytest.approx(16 / 3 + 15)  # five options of three words
    none = found(bundle, "lengths", answers("m", "origin", "AAAAA"))
    assert none.data["m:origin"]["words, question"]["t"] is None
    assert any("fewer than two values" in line for line in none.notes)


def test_tfidf_worked_by_hand() -> None:
    vocabulary = vocabulary_of(["aa bb", "aa cc"])
    a, b = (vocabulary.vector(text) for text in ("aa bb", "aa cc"))
    rare = math.log(3 / 2) + 1
    assert cosine(a, b) == pytest.approx(1 / (1 + rare**2))
    assert vocabulary.vector("AA aa! b") == {0: 1.0}  # lower case; one letter is no word
    assert cosine(a, vocabulary.vector("zz")) is None


@given(st.lists(st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), min_size=1).map(" ".join), min_size=2, max_size=6))
def test_a_cloud_knows_mean_cosine_and_variance_of_its_vectors(texts: list[str]) -> None:
    vocabulary = vocabulary_of(texts)
    rows = np.zeros((len(texts), len(vocabulary.places)))
    vectors = [vocabulary.vector(text) for text in texts]
    for row, vector in zip(rows, vectors, strict=True):
        row[list(vector)] = list(vector.values())
    cloud = cloud_of(vectors, rows.shape[1])
    pairs = [(rows[i] @ rows[j]) for i in range(len(texts)) for j in range(i)]
    assert cloud.mean_cosine == pytest.approx(float(np.mean(pairs)), abs=1e-9)
    assert cloud.variance == pytest.approx(float(rows.var(axis=0).mean()), abs=1e-9)


def two_questions(folder: Path) -> Made:
    items = [question("q0", "e0", "SSU", question="aa bb"), question("q1", "e1", "SSR", question="aa cc")]
    return Made(folder, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])


def test_diversity_worked_by_hand_and_with_an_encoder(tmp_path: Path) -> None:
    it = found(two_questions(tmp_path), "diversity")
    alike = 1 / (1 + (math.log(1.5) + 1) ** 2)
    assert it.data["tfidf"]["overall"]["mean_distance"] == pytest.approx(1 - alike)
    assert it.data["tfidf"]["overall"]["variance"] == pytest.approx((1 - (1 + alike) / 2) / 3)
    assert it.data["tfidf"]["SSU"] == {"n": 1, "mean_distance": None, "variance": None}
    assert it.data["embedding"]["overall"]["mean_distance"] is None
    assert any("no encoder" in line for line in it.notes)
    material = _material(tmp_path)
    encoded = diversity.question_diversity(material, encode=lambda texts: np.eye(len(texts), 4) * 3)
    assert encoded.data["embedding"]["overall"]["mean_distance"] == pytest.approx(1.0)
    with pytest.raises(InputError, match="encoder gave no array"):
        diversity.question_diversity(material, encode=lambda texts: np.zeros((len(texts), 4)))


def _material(folder: Path) -> Material:
    """The material of the bundle that was made in the folder, without runs."""
    from onlooker.protocol.ground import load_ground
    from onlooker.records.bundle import open_bundle

    ground = load_ground(open_bundle(folder / "bundle"))
    return Material(ground.items, ground.episodes, ground.private, [], [], 100, 1, {})


def test_right_and_wrong_sets_worked_by_hand(tmp_path: Path) -> None:
    listed = [{"id": i, "text": "w"} for i in ABCDE]  # one letter: no word
    texts = ["aa bb", "aa bb", "aa cc", "aa cc"]
    items = [question(f"q{k}", f"e{k}", "SSU", question=text, options=listed) for k, text in enumerate(texts)]
    bundle = Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])
    run = found(bundle, "similarity", answers("m", "origin", "AABB")).data["m:origin"]
    rare = math.log(5 / 3) + 1
    assert run["tfidf"]["cosine between"] == pytest.approx(1 / (1 + rare**2))
    assert run["tfidf"]["within right"] == pytest.approx(1.0)
    assert run["tfidf"]["variance wrong"] == pytest.approx(0.0, abs=1e-12)
    assert run["embedding"] == dict.fromkeys(similarity.MEASURES)
    nobody = found(bundle, "similarity", answers("m", "origin", "AAAA"))
    assert nobody.data["m:origin"]["tfidf"]["cosine between"] is None
    assert any("one is empty" in line for line in nobody.notes)


def test_the_hard_subset_takes_ties_by_id(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSR", "SSR", "SDP"])
    rows = answers("a", "origin", "ABBA") + answers("b", "origin", "ABAB")
    it = found(bundle, "hard", rows, size="2")
    assert it.data["items"] == [{"item": "q1", "joint_error": 1.0}, {"item": "q2", "joint_error": 0.5}]
    assert it.data["models"]["b"]["overall"]["value"] == 0.5
    assert it.data["models"]["a"]["SDP"]["value"] is None
    assert any("1 of 2 questions with the joint error 0.5" in line for line in it.notes)
    assert [i["item"] for i in found(bundle, "hard", rows, where="dimension:SDP").data["items"]] == ["q3"]
    with pytest.raises(InputError, match="has the label"):
        found(bundle, "hard", rows, where="dimension:none")
    with pytest.raises(InputError, match="LABEL:VALUE"):
        found(bundle, "hard", rows, where="dimension")


def points(value: float) -> Row:
    return dict.fromkeys(QUALITIES, value)


def test_judged_reasoning_worked_by_hand(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSR", "SDP"])
    rubric = "reasoning_quality"
    labels = [
        judged("q0", rubric, points(5) | {"depth": 2}, condition="origin"),
        judged("q1", rubric, points(4) | {"depth": 3}, condition="origin"),
        judged("q2", rubric, points(6), condition="origin"),  # off the scale
    ]
    it = found(bundle, "reasoning", answers("m", "origin", "ABA"), labels)
    assert it.data["m:origin"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert it.data["m:origin"]["reasoning.depth"]["value"] == 2.5
    assert it.data["m:origin"]["reasoning.overall"] | {"low": 0, "high": 0} == {
        "value": 4.5,
        "low": 0,
        "high": 0,
        "n": 2,
    }
    assert any("1 read replies without a valid judgement" in line for line in it.notes)
    second = [judged("q0", rubric, points(1), condition="origin", judge="k")]
    with pytest.raises(InputError, match="--judge"):
        found(bundle, "reasoning", answers("m", "origin", "ABA"), labels + second)


EXPLAINED = ["They hug after long absence", "She avoids looking", "He jokes about work", "Nobody listens anymore"]


def explained_bundle(folder: Path) -> Made:
    items = [question(f"q{k}", f"e{k}", "SSR") for k in range(4)]
    references: list[Row] = [
        {"item": f"q{k}", "answer": ["A"], "explanation": text} for k, text in enumerate(EXPLAINED)
    ]
    references[3]["explanation"] = {"key_event": "Nobody listens", "mechanism": "anymore"}
    return Made(folder, FAMILY, items, references)


def test_alignment_against_scipy(tmp_path: Path) -> None:
    bundle = explained_bundle(tmp_path)
    replies = ["A. They hug", "A. She avoids looking", "B. They sing", "B. Nobody listens anymore, says he"]
    it = found(bundle, "alignment", [said(f"q{k}", text, condition="origin") for k, text in enumerate(replies)])
    run = it.data["m:origin"]
    assert run["right"]["n"] == run["wrong"]["n"] == 2
    values = [v for series in it.figures[0].series for v in series.values]
    reference = scipy.stats.mannwhitneyu(values[:2], values[2:])
    assert (run["mann_whitney"]["u"], run["mann_whitney"]["p"]) == pytest.approx(
        (reference.statistic, reference.pvalue)
    )
    assert run["gap"]["value"] == pytest.approx(sum(values[:2]) / 2 - sum(values[2:]) / 2)  # type: ignore[arg-type]
    assert values[1] == pytest.approx(1.0)  # the letter is no word
    assert values[2] == 0.0
    right = found(bundle, "alignment", [said("q0", "A. They hug", condition="origin")])
    assert right.data["m:origin"]["mann_whitney"]["p"] is None
    assert any("a group is empty" in line for line in right.notes)


def test_alignment_needs_explanations(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="human explanation"):
        found(made(tmp_path, ["SSR"]), "alignment", answers("m", "origin", "A"))


def test_what_is_told_apart_and_what_cannot_be(tmp_path: Path) -> None:
    bundle = explained_bundle(tmp_path)
    machine = [said(f"q{k}", f"A. Clearly the video shows item {k * 11}", condition="origin") for k in range(4)]
    it = found(bundle, "distinguish", machine)
    # Every machine's text is told; a person's shares no word with the others, which is a tie.
    assert it.data["runs"]["m:origin"]["value"] == 0.75
    assert it.data["runs"]["m:origin"]["n"] == 4
    same = [said(f"q{k}", text, condition="origin") for k, text in enumerate(EXPLAINED)]
    assert found(bundle, "distinguish", same).data["runs"]["m:origin"]["value"] == 0.5
    one = found(bundle, "distinguish", machine[:1])
    assert one.data["runs"]["m:origin"]["value"] is None
    assert any("fewer than two questions" in line for line in one.notes)
    with pytest.raises(InputError, match="no such method"):
        found(bundle, "distinguish", machine, method="svm")


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is not None, reason="scikit-learn is installed")
def test_a_forest_without_scikit_learn_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pip install scikit-learn"):
        found(explained_bundle(tmp_path), "distinguish", answers("m", "origin", "A"), method="forest")


def test_options_that_an_analysis_does_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no option of this name"):
        found(made(tmp_path, ["SSU"]), "diversity", resample="episode")


def test_every_analysis_has_its_own_name_and_a_source() -> None:
    assert len({a.name for a in ANALYSES}) == len(ANALYSES) == 15
    assert all(a.says and a.source and (a.run.__doc__ or "") for a in ANALYSES)


def test_several_seeds_are_averaged_question_by_question(tmp_path: Path) -> None:
    bundle = made(tmp_path, ["SSU", "SSU", "SSR"])
    rows = answers("m", "origin", "AAB", seed=1) + answers("m", "origin", "ABB", seed=2) + answers("n", "origin", "ABB")
    assert found(bundle, "subtasks", rows).data["runs"]["m:origin"]["AR"]["value"] == 0.75
    lengths = found(bundle, "lengths", rows)
    assert [lengths.data["m:origin"]["words, question"][side]["n"] for side in ("right", "wrong")] == [1, 1]
    assert any("1 questions right in some seeds only" in line for line in lengths.notes)
    test = found(bundle, "significance", rows).data["models"][0]
    assert (test["only a right"], test["only b right"]) == (0, 0)  # q1 is not fully right
    kappa = found(bundle, "agreement", rows)
    assert kappa.data["origin"]["answers"]["overall"]["value"] == pytest.approx((2 / 3 - 0.5) / 0.5)
    assert any("the first of 2 seeds votes" in line for line in kappa.notes)


def test_every_figure_can_be_drawn(tmp_path: Path) -> None:
    from onlooker.report.analysis_figures import write_analysis_figures

    bundle = made(tmp_path, ["SSU", "SSR", "SDP"])
    rows = [row for c in ("origin", "no_audio", "text_only", "cot") for row in answers("m", c, "AB-")]
    labels = [judged(f"q{k}", "reasoning_quality", points(3), condition="origin") for k in range(2)]
    for name in ("subtasks", "media", "text_only", "cot", "surface", "reasoning"):
        figures = found(bundle, name, rows, labels).figures
        assert figures
        assert len(write_analysis_figures(figures, tmp_path / "out", name).paths) == 3 * len(figures)
