"""Monitoring and adjudication: what is computed, who may see it, what it may change."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from onlooker.annotate.adjudicating import disagreements
from onlooker.annotate.assigning import next_case
from onlooker.annotate.database import Database, open_database
from onlooker.annotate.export import collect
from onlooker.annotate.monitor import Watch, monitor
from onlooker.annotate.submitting import Desk, Submission, submit
from onlooker.annotate.web.app import create_app
from onlooker.annotate.web.site import Site
from onlooker.protocol.form import Checks, Choice, Form, Layout, ManyOf, OneOf, OptOut, Scale, When, Words

from .made import FORM, NASTY, Hands, join, make_bundle, make_desk, with_study, write_clip
from .serving import Person, make_site

GRADES = tuple(Choice(n, title) for n, title in enumerate(("none", "weak", "clear", "strong")))
REASONS = (Choice("vague", "Vague"), Choice("wrong", "Wrong"))
REVIEW = Form(
    name="answer",
    title="Review",
    says="Read.",
    tasks=("choice", "open"),
    layout=Layout("text", ()),
    fields=(
        OneOf("valid", "Valid?", rubric="validity", choices=(Choice("keep", "Keep it"), Choice("drop", "Drop it"))),
        ManyOf("why", "Why?", choices=REASONS, when=When("valid", ("drop",))),
        Scale("clarity", "Clarity", rubric="clarity", anchors=GRADES),
        Words("says", "More", required=False),
    ),
    shows=("question",),
    opt_outs=(OptOut("unfamiliar", "Not familiar"),),
)


def answer(grade: int, valid: str = "keep", **more: Any) -> dict[str, Any]:
    return {"valid": valid, "clarity": grade, **more}


def give(desk: Desk, rater: str, case: str, given: dict[str, Any] | None, opt_out: str | None = None) -> None:
    """An answer to this case, whatever the order of the person's cases is."""
    with desk.store.database.transaction():
        if desk.store.work(rater, case) is None:
            desk.store.append("assigned", rater=rater, case=case)
    submit(desk, rater, case, Submission(f"key-{rater}-{case}", 0, given, opt_out), {})


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(str(tmp_path / "study.sqlite"), "pilot")
    yield opened
    opened.close()


def reviewed(database: Database, tmp_path: Path, hands: Hands, count: int = 4, **settings: Any) -> Desk:
    bundle = make_bundle(tmp_path / "bundle", count)
    return make_desk(database, bundle, form=REVIEW, clock=hands.clock(), **{"overlap": 2, **settings})


# --- what is computed -----------------------------------------------------------------------------


def test_coverage_by_case_and_stratum_times_and_distributions(database: Database, tmp_path: Path, hands: Hands) -> None:
    desk = reviewed(database, tmp_path, hands, items={"sample": {"strata": ["capability"], "each": 9}})
    one, other = join(desk), join(desk)
    for case, seconds, grade in (("q0", 10, 0), ("q1", 30, 3)):
        with database.transaction():
            desk.store.append("assigned", rater=one, case=case)
        hands.go(seconds)
        give(desk, one, case, answer(grade, "drop", why=["vague", "wrong"], says="some words"))
    give(desk, other, "q0", None, "unfamiliar")
    with database.transaction():
        desk.store.append("assigned", rater=other, case="q3")
    state = monitor(desk)
    assert state["coverage"] == {
        "cases": 4,
        "overlap": 2,
        "wanted": 8,
        "done": 3,
        "open": 1,
        "complete": 1,
        "by_answers": {"0": 2, "1": 1, "2": 1},
    }
    told = [(row["stratum"], row["done"], row["wanted"], row["complete"]) for row in state["strata"]["rows"]]
    assert state["strata"]["by"] == ["capability"]
    assert told == [(["G"], 2, 4, 1), (["W"], 1, 4, 0)]
    assert [(i["item"], i["answered"], i["opted_out"], i["open"], i["missing"]) for i in state["items"]] == [
        ("q0", 1, 1, 0, 0),
        ("q1", 1, 0, 0, 1),
        ("q2", 0, 0, 0, 2),
        ("q3", 0, 0, 1, 2),
    ]
    bars = {d["field"]: [(b["title"], b["count"]) for b in d["bars"]] for d in state["distributions"]}
    assert bars == {
        "valid": [("Keep it", 0), ("Drop it", 2)],
        "why": [("Vague", 2), ("Wrong", 2)],
        "clarity": [("none", 1), ("weak", 0), ("clear", 0), ("strong", 1)],
        "says": [],
    }
    assert [d.get("median_chars") for d in state["distributions"]] == [None, None, None, 10]
    assert state["seconds"] == {
        "case": {"n": 2, "least": 10.0, "q1": 15.0, "median": 20.0, "q3": 25.0, "most": 30.0},
    }
    assert state["opt_outs"] == {"unfamiliar": 1}
    by_rater = {row["rater"]: row for row in state["raters"]}
    assert by_rater[one]["median_seconds"] == 20.0
    assert by_rater[other]["median_seconds"] is None, "declining takes no time that counts"
    assert by_rater[other]["opt_outs"] == {"unfamiliar": 1}
    assert "some words" not in json.dumps(state), "words of people stay in the export"


def test_flags_have_thresholds_and_care_is_not_flagged(database: Database, tmp_path: Path, hands: Hands) -> None:
    """Ten answers: hasty takes 3 s where the others' medians are 10 and 12; dull always says the same; nine are no
    sign of anything."""
    desk = reviewed(database, tmp_path, hands, 10, overlap=4)
    careful, dull, hasty, new = (join(desk) for _ in range(4))
    for n in range(10):
        for rater, seconds, grade in ((careful, 10, n % 4), (dull, 12, 2), (hasty, 3, n % 3), (new, 1, 2)):
            if rater == new and n == 9:
                continue
            with database.transaction():
                desk.store.append("assigned", rater=rater, case=f"q{n}")
            hands.go(seconds)
            give(desk, rater, f"q{n}", answer(grade))
    flags = {row["rater"]: row["flags"] for row in monitor(desk)["raters"]}
    assert flags == {careful: {}, dull: {"constant": 10}, hasty: {"fast": 3.0}, new: {}}
    assert monitor(desk)["thresholds"]["least_answers"] == 10


def test_unplayed_and_gold_flags(database: Database, tmp_path: Path, hands: Hands) -> None:
    bundle = make_bundle(tmp_path / "bundle", 13)
    write_clip(bundle)
    gold = {"every": 4, "answers": {"q0": {"answer": ["B"]}, "q1": {"answer": ["A"]}}, "least_share": 0.7}
    desk = make_desk(database, bundle, clock=hands.clock(), overlap=2, gold=gold, items={"tasks": ["choice"]})
    site = make_site(desk, bundle, tmp_path / "cache")
    played, unplayed = join(desk), join(desk)
    for n, case in enumerate([*desk.cases.by_id]):
        for rater in (played, unplayed):
            with database.transaction():
                desk.store.append("assigned", rater=rater, case=case)
                if rater == played:
                    desk.store.append("played", rater=rater, case=case, body={"views": {"video": [[0.0, 2.5]]}})
            give(desk, rater, case, {"answer": ["AB"[n % 2]] if case not in {"q0", "q1"} else ["B"]})
    state = monitor(desk, site.shelf)
    rows = {row["rater"]: row for row in state["raters"]}
    assert len(desk.cases.ordinary) == 9, "q0 and q1 are gold, q4 and q9 no choice"
    assert rows[played]["gold_share"] == 0.5
    assert rows[played]["flags"] == {"gold": 0.5}
    assert rows[unplayed]["flags"] == {"gold": 0.5}, "nine answers are no sign"
    assert state["gold"] == [
        {"case": "q0", "answers": 2, "right_share": 1.0},
        {"case": "q1", "answers": 2, "right_share": 0.0},
    ]
    assert state["coverage"]["done"] == 18, "gold is no coverage"


def test_unplayed_is_flagged_from_ten_answers_on(database: Database, tmp_path: Path, hands: Hands) -> None:
    bundle = make_bundle(tmp_path / "bundle", 13)
    write_clip(bundle)
    desk = make_desk(database, bundle, clock=hands.clock(), overlap=1, items={"tasks": ["choice"]})
    site = make_site(desk, bundle, tmp_path / "cache")
    rater = join(desk)
    for n, case in enumerate(desk.cases.ordinary):
        with database.transaction():
            desk.store.append("assigned", rater=rater, case=case)
            if n < 4:
                desk.store.append("played", rater=rater, case=case, body={"views": {"video": [[0.0, 3.0]]}})
        give(desk, rater, case, {"answer": ["AB"[n % 2]]})
    (row,) = monitor(desk, site.shelf)["raters"]
    assert row["flags"] == {"unplayed": pytest.approx(7 / 11)}


def test_models_are_numbers_in_strata_and_grades_of_people_are_compared(tmp_path: Path, database: Database) -> None:
    form = Form(
        name="answer",
        title="Grade",
        says="Grade.",
        tasks=("choice",),
        layout=Layout("text", ()),
        fields=(Scale("cue", "Cue", rubric="cue", anchors=GRADES),),
        private=("reply",),
        asks_about="reply",
        records="judgements",
        rubric="rationale",
    )
    bundle = make_bundle(tmp_path / "bundle", 4)
    rows: list[dict[str, Any]] = [
        {"item": f"q{n}", "model": model, "condition": "plain", "seed": 0, "raw": f"reply {n}", "status": "ok"}
        for n in range(4)
        for model in ("maker/loud", "maker/quiet")
    ]
    rows = [{**row, "parsed": None, "request": "0" * 64} for row in rows]
    (tmp_path / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings: dict[str, Any] = {"items": {"sample": {"strata": ["model"], "each": 9}}}
    settings["replies"] = {"predictions": ["predictions.jsonl"]}
    desk = make_desk(database, bundle, form=form, overlap=2, **settings)
    one, other = join(desk), join(desk)
    for n, case in enumerate(desk.cases.ordinary):
        give(desk, one, case, {"cue": n % 4})
        give(desk, other, case, {"cue": n % 4 if n else 3})
    state = monitor(desk)
    assert "maker" not in json.dumps(state)
    assert [row["stratum"] for row in state["strata"]["rows"]] == [["no. 1"], ["no. 2"]]
    assert [row["done"] for row in state["strata"]["rows"]] == [8, 8]
    assert state["agreement"]["cue"]["units"] == 8
    assert state["agreement"]["cue"]["unanimity"] == pytest.approx(7 / 8)


# --- live, cheap, read-only -----------------------------------------------------------------------


def test_watching_computes_only_after_events_and_a_tenth_of_the_time(
    database: Database, tmp_path: Path, hands: Hands
) -> None:
    desk = reviewed(database, tmp_path, hands)
    times = iter([0.0, 1.0, 5.0, 9.9, 10.1, 10.6, 100.0])
    watch = Watch(desk, None, monotonic=lambda: next(times))
    first = watch.state()  # computed from 0 to 1 s: cost 1 s
    rater = join(desk)
    assert watch.state() is first, "at 5 s: it rests for nine times its cost"
    assert watch.state() is first, "at 9.9 s"
    second = watch.state()  # from 10.1 to 10.6 s
    assert [row["rater"] for row in second["raters"]] == [rater]
    assert watch.state() is second, "long after, but nothing happened"


def site_of(desk: Desk, tmp_path: Path) -> Site:
    return make_site(desk, tmp_path / "bundle", tmp_path / "cache")


def test_a_monitor_sees_all_and_can_change_nothing(database: Database, tmp_path: Path, hands: Hands) -> None:
    """Every route of the app, with what the pages would send."""
    desk = reviewed(database, tmp_path, hands)
    rater = join(desk, name="Ana Example")
    give(desk, rater, "q0", answer(1))
    site = site_of(desk, tmp_path)
    person = Person(site).join("monitor")
    before = database.rows("SELECT * FROM events")
    routes = [route for route in create_app(site).app.routes if isinstance(route, APIRoute)]  # type: ignore[attr-defined]
    token = site.material.token("q0")
    bodies: dict[str, dict[str, Any]] = {
        "/api/draft": {"draft": {}},
        "/api/played": {"views": {}},
        "/api/submit": {"key": "k" * 8, "base": 0, "answer": answer(2)},
        "/api/skip": {"key": "k" * 8},
        "/api/cannot-play": {"key": "k" * 8},
        "/api/pause": {},
        "/api/adjudicate": {"key": "k" * 8, "base": 0, "answer": answer(2)},
    }
    posts = {route.path for route in routes if "POST" in (route.methods or ())}
    assert posts == {*bodies, "/join/{token}", "/login", "/logout"}
    for path, body in bodies.items():
        assert person.post(path, {"case": token, **body}).status_code == 403, path
    reached = set()
    for route in routes:
        if "GET" in (route.methods or ()):
            path = route.path.replace("{name}", "ratings").replace("{ending}", "csv").replace("{token}", token)
            page = person.get(path)
            assert page.status_code < 500
            if page.status_code == 200:
                reached.add(path)
            assert "Ana" not in page.text
    assert reached == {"/health", "/overview", "/api/monitor", "/api/monitor/page", "/login"}
    assert database.rows("SELECT * FROM events") == before
    assert rater in person.get("/overview").text


def test_the_page_is_sent_anew_only_after_something_happened(database: Database, tmp_path: Path, hands: Hands) -> None:
    desk = reviewed(database, tmp_path, hands)
    person = Person(site_of(desk, tmp_path)).join("monitor")
    page = person.get("/api/monitor/page")
    found = re.search(r'data-event="(\d+)"', page.text)
    assert found
    assert person.get(f"/api/monitor/page?since={found[1]}").status_code == 204
    assert person.get("/api/monitor/page?since=x").status_code == 422
    assert person.get(f"/api/monitor/page?since={int(found[1]) - 1}").status_code == 200
    for text in (page.text, person.get("/overview").text):
        assert not re.search(r"\sstyle=|\son\w+=|<style", text)
        assert not re.search(r"<script(?![^>]*\bsrc=)", text)


def test_whoever_may_rate_is_not_told_which_cases_are_gold(database: Database, tmp_path: Path, hands: Hands) -> None:
    gold = {"answers": {"q3": {"valid": "keep"}}}
    rights = {"rate": ["rater", "expert"], "monitor": ["expert", "monitor"]}
    site = site_of(reviewed(database, tmp_path, hands, gold=gold, rights=rights), tmp_path)
    told = {role: Person(site).join(role).get("/api/monitor").json() for role in ("expert", "monitor")}
    assert [row["case"] for row in told["monitor"]["gold"]] == ["q3"]
    assert told["expert"]["gold"] == []
    assert "q3" not in json.dumps(told["expert"])


# --- adjudication ---------------------------------------------------------------------------------


@pytest.fixture
def disputed(database: Database, tmp_path: Path, hands: Hands) -> Desk:
    """q0 two steps apart, q1 equal but for words, q2 one declined, q3 three steps apart, q4 with one answer only."""
    desk = reviewed(database, tmp_path, hands, 5)
    one, other = join(desk, name="Ana Example"), join(desk)
    give(desk, one, "q0", answer(0, says=NASTY))
    give(desk, other, "q0", answer(2))
    give(desk, one, "q1", answer(1, says="one way"))
    give(desk, other, "q1", answer(1, says="another"))
    give(desk, one, "q2", answer(1))
    give(desk, other, "q2", None, "unfamiliar")
    give(desk, one, "q3", answer(0, "drop", why=["vague"]))
    give(desk, other, "q3", answer(3))
    give(desk, one, "q4", answer(0))
    return desk


def test_disagreements_by_the_stated_rule_widest_first(disputed: Desk) -> None:
    found = [(one.case, list(one.fields), one.steps) for one in disagreements(disputed)]
    assert found == [("q3", ["valid", "clarity"], 3), ("q0", ["clarity"], 2), ("q2", ["opt_out"], 0)]
    more = {one.case for one in disagreements(with_study(disputed, overlap=3))}
    assert more == set(), "a case that others may still be given is not shown with answers"


def test_no_expert_who_saw_the_answers_can_be_given_the_case(disputed: Desk, tmp_path: Path) -> None:
    expert = Person(site_of(disputed, tmp_path)).join("expert")
    listed = {expert.site.material.by_token[one["case"]] for one in expert.get("/api/disagreements").json()["cases"]}
    assert listed == {"q0", "q2", "q3"}
    while (work := next_case(disputed.store, disputed.study, disputed.cases, expert.rater)) is not None:
        assert work.case not in listed
        give(disputed, expert.rater, work.case, answer(3))
    listed = {expert.site.material.by_token[one["case"]] for one in expert.get("/api/disagreements").json()["cases"]}
    assert listed == {"q0", "q2", "q3"}, "q4 is in dispute now, with the expert's own answer"
    assert "q4" in {one.case for one in disagreements(disputed)}
    own = expert.site.material.token("q4")
    assert expert.get(f"/adjudicate/{own}").status_code == 403
    body = {"case": own, "key": "key-of-own", "base": 0, "answer": answer(1)}
    assert expert.post("/api/adjudicate", body).status_code == 400


def test_raters_are_neutral_and_text_is_escaped(disputed: Desk, tmp_path: Path) -> None:
    site = site_of(disputed, tmp_path)
    expert = Person(site).join("expert")
    pages = [expert.get(path).text for path in ("/adjudicate", f"/adjudicate/{site.material.token('q0')}")]
    pages.append(expert.get("/api/disagreements").text)
    raters = [row.id for row in disputed.store.raters() if row.id != expert.rater]
    for hidden in ("Ana", "SECRET", *raters):
        assert not any(hidden in page for page in pages), hidden
    for page in pages[:2]:
        assert "<img" not in page
        assert not re.search(r"\sstyle=|\son\w+=\"|<script(?![^>]*\bsrc=)", page)
    assert "&lt;img" in pages[1]
    assert "Rater A" in pages[1]
    assert "0 · none" in pages[1]
    for path in ("/adjudicate", f"/adjudicate/{site.material.token('q0')}"):
        assert Person(site).join("monitor").get(path).status_code == 403
        assert Person(site).join("rater").get(path).status_code == 403


def test_a_ruling_stands_beside_the_originals_and_goes_to_the_export(disputed: Desk, tmp_path: Path) -> None:
    site = site_of(disputed, tmp_path)
    first, second = Person(site).join("expert"), Person(site).join("expert")
    before = collect(disputed).files["ratings"]
    token = site.material.token("q3")
    body = {"case": token, "key": "key-ruling-1", "base": 0, "answer": answer(3), "says": '"clear" 中文'}
    assert first.post("/api/adjudicate", {**body, "answer": {"valid": "keep"}}).json()["faults"]
    version = first.post("/api/adjudicate", body).json()["version"]
    assert first.post("/api/adjudicate", body).json()["version"] == version, "sent twice, stored once"
    late = second.post("/api/adjudicate", {**body, "key": "key-ruling-2"})
    assert late.status_code == 400
    assert "in the meantime" in late.json()["error"]
    again = {**body, "key": "key-ruling-3", "base": version, "answer": answer(2)}
    assert second.post("/api/adjudicate", again).status_code == 200
    files = collect(disputed).files
    assert files["ratings"] == before
    (row,) = files["adjudications"]
    assert (row["item"], row["expert"], row["answer"], row["says"]) == ("q3", second.rater, answer(2), '"clear" 中文')
    assert len(disputed.store.events("adjudicated")) == 2, "the first ruling is kept"
    assert [one.case for one in disagreements(disputed)] == ["q0", "q2", "q3"], "what is ruled on comes last"
    for case in ("q4", "q1"):
        refused = first.post("/api/adjudicate", {**body, "case": site.material.token(case), "key": f"key-{case}-x"})
        assert (refused.status_code == 400) is (case == "q4"), "q4 still waits for its second rater"


def test_gold_and_warm_up_are_not_ruled_on(database: Database, tmp_path: Path, hands: Hands) -> None:
    desk = reviewed(database, tmp_path, hands, gold={"answers": {"q3": {"valid": "keep"}}})
    site = site_of(desk, tmp_path)
    body = {"case": site.material.token("q3"), "key": "key-ruling", "base": 0, "answer": answer(1)}
    assert Person(site).join("expert").post("/api/adjudicate", body).status_code == 400


def intense(tmp_path: Path, database: Database, hands: Hands) -> Desk:
    """A clip with two moments, scored for each, and two criteria of the whole."""
    criteria = (Choice("topic", "On topic?"), Choice("sound", "Has sound?"))
    form = Form(
        name="answer",
        title="Intensity",
        says="Watch.",
        tasks=("intensity",),
        fields=(
            Scale("score", "How strong?", rubric="intensity", per="moment", anchors=GRADES),
            Checks("criteria", "Criteria", rubric="screening", criteria=criteria),
        ),
        shows=("moments",),
    )
    bundle = make_bundle(tmp_path / "bundle", 0)
    moments = [{"id": f"m{n}", "start_s": 1.0 + n, "end_s": 1.5 + n} for n in range(2)]
    item = {"id": "v1", "episode": "e1", "task": "intensity", "moments": moments}
    (bundle / "items.jsonl").write_text(json.dumps(item) + "\n")
    write_clip(bundle)
    return make_desk(database, bundle, form=form, clock=hands.clock(), overlap=2)


def test_moments_and_criteria_are_counted_and_ruled_on_one_by_one(
    database: Database, tmp_path: Path, hands: Hands
) -> None:
    desk = intense(tmp_path, database, hands)
    for rater, scores, sound in ((join(desk), (0, 3), True), (join(desk), (1, 0), False)):
        with database.transaction():
            desk.store.append("assigned", rater=rater, case="v1")
        hands.go(8)
        given = {"score": dict(zip(("m0", "m1"), scores, strict=True)), "criteria": {"topic": True, "sound": sound}}
        give(desk, rater, "v1", given)
    state = monitor(desk)
    assert [(row["field"], row["answers"], [b["count"] for b in row["bars"]]) for row in state["distributions"]] == [
        ("score", 4, [2, 1, 0, 1]),
        ("criteria.topic", 2, [2, 0]),
        ("criteria.sound", 2, [1, 1]),
    ]
    assert (state["seconds"]["case"]["median"], state["seconds"]["moment"]["median"]) == (8, 4)
    assert state["agreement"]["intensity"]["units"] == 2
    (one,) = disagreements(desk)
    assert (one.fields, one.steps) == (["score", "criteria"], 3), "m1 is three apart"
    site = site_of(desk, tmp_path)
    expert = Person(site).join("expert")
    token = site.material.token("v1")
    assert "Case 1" in expert.get("/adjudicate").text, "an item without a question"
    page = expert.get(f"/adjudicate/{token}").text
    for path in (["score", "m0"], ["score", "m1"], ["criteria", "topic"], ["criteria", "sound"]):
        assert f'data-path="{json.dumps(path)}"' in html.unescape(page)
    assert page.count('class="differs"') == 3
    assert page.count("Play moment") == 2
    ruled = {"score": {"m0": 0, "m1": 2}, "criteria": {"topic": True, "sound": True}}
    body = {"case": token, "key": "key-ruling", "base": 0, "answer": ruled}
    assert expert.post("/api/adjudicate", body).status_code == 200
    assert collect(desk).files["adjudications"][0]["answer"] == ruled
    assert "s a moment" in Person(site).join("monitor").get("/overview").text


def test_options_and_clip_are_shown_to_the_expert(database: Database, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path / "bundle", 2)
    write_clip(bundle)
    desk = make_desk(database, bundle, form=FORM, overlap=2)
    for given in ("A", "B"):
        give(desk, join(desk), "q0", {"answer": [given]})
    site = site_of(desk, tmp_path)
    expert = Person(site).join("expert")
    page = expert.get(f"/adjudicate/{site.material.token('q0')}").text
    (placed,) = site.shelf.by_case["q0"]
    assert f'src="/media/{placed.token}"' in page
    assert expert.get(f"/media/{placed.token}", Range="bytes=0-9").status_code == 206
    assert 'data-kind="only"' in page
    body = {"case": site.material.token("q0"), "key": "key-ruling", "base": 0, "answer": {"answer": ["B"]}}
    assert expert.post("/api/adjudicate", body).status_code == 200
