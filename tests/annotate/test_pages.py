"""The page of a case in a real browser, by keyboard alone, for each kind of field. Skipped without Chromium."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from onlooker.annotate import accounts
from onlooker.annotate.database import open_database
from onlooker.annotate.export import collect
from onlooker.annotate.submitting import Desk
from onlooker.annotate.web.app import create_app
from onlooker.benchmarks.mmhbench.forms import EXPERT, SEED_REVIEW, retention
from onlooker.benchmarks.psycheme.forms import ENDORSEMENT, REVIEW
from onlooker.benchmarks.reactionbench.forms import GRADE, INTENSITY, PILOT, WHY
from onlooker.protocol.answer_form import answer_form
from onlooker.protocol.form import Checks, Choice, Form
from onlooker.records.jsonl import read_rows
from onlooker.records.private import Rating
from tests.media.making import COUNTER_RATE, barred, write

from . import test_chromium as chromium
from .made import make_desk
from .serving import make_site
from .test_chromium import press, task, until

pytestmark = chromium.pytestmark
driver = chromium.driver
Browser = webdriver.Chrome

CHOICE: dict[str, Any] = {"task": "choice", "question": "Why does she leave?", "select": "one"}
CHOICE |= {"labels": {"capability": "G"}, "options": [{"id": i, "text": f"option {i}"} for i in "ABC"]}
INTENSE: dict[str, Any] = {"task": "intensity", "moments": [{"id": "m0", "start_s": 0.5, "end_s": 1.2}]}
INTENSE["moments"] += [{"id": "m1", "start_s": 1.5, "end_s": 2.1}]
WINDOW: dict[str, Any] = {"task": "rationale", "window": {"start_s": 0.8, "end_s": 2.0}}
REFERENCE = {
    "answer": ["B"],
    "references": ["because the glass fell", "the noise of the glass"],
    "cues": ["she looks at the door"],
    "explanation": {"key_event": "the call", "mechanism": "fear", "options": {"A": "no sign of it"}},
}
SCREEN = Form(
    name="screen",
    title="Does the video fit?",
    says="",
    tasks=("choice",),
    fields=(
        Checks("criteria", "Criteria", rubric="screen", criteria=tuple(Choice(w, w) for w in ("topic", "whole", "ok"))),
    ),
)


@dataclasses.dataclass
class Running:
    """A study served from a thread of the test."""

    desk: Desk
    base: str
    folder: Path

    def rows(self, name: str = "ratings") -> Any:
        return collect(self.desk).files[name]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    return write(path, [barred(n, 320, 180) for n in range(3 * COUNTER_RATE)], rate=COUNTER_RATE, gop=10)


@pytest.fixture
def serve(tmp_path: Path, clip: Path, driver: Browser) -> Iterator[Callable[..., Running]]:
    """Make a bundle of one item, serve the form over it, and bring the browser to its first case."""
    stops: list[Callable[[], None]] = []

    def begin(form: Form, item: dict[str, Any], **settings: Any) -> Running:
        bundle = tmp_path / "bundle"
        (bundle / "media").mkdir(parents=True)
        (bundle / "bundle.yaml").write_text('name: made\nfamily: psycheme\nversion: "1"\n')
        media = {}
        for view in form.layout.views:
            media[view.medium] = f"media/{view.medium}.mp4"
            (bundle / media[view.medium]).write_bytes(clip.read_bytes())
        for name, row in (
            ("episodes", {"id": "e1", "media": media, "duration_s": 3.0}),
            ("items", {"id": "q0", "episode": "e1", **item}),
            ("references", {"item": "q0", **REFERENCE}),
        ):
            (bundle / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
        if form.asks_about == "reply":
            reply = {"item": "q0", "model": "secret-model", "condition": "full", "seed": None}
            (tmp_path / "p.jsonl").write_text(json.dumps({**reply, "raw": "It was <b>the glass</b>.", "status": "ok"}))
            verdict = {"judge": "j", "rubric": "verified", "labels": {"evidence": "strong"}, "status": "ok"}
            (tmp_path / "j.jsonl").write_text(json.dumps({**reply, **verdict, "explanation": "the cue is there"}))
            settings["replies"] = {"predictions": ["p.jsonl"], "judgements": ["j.jsonl"]}
        database = open_database(str(tmp_path / "study.sqlite"), "pilot")
        desk = make_desk(database, bundle, form=form, overlap=1, **settings)
        site = make_site(desk, bundle, tmp_path / "cache")
        server = uvicorn.Server(uvicorn.Config(create_app(site), port=0, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()

        def stop() -> None:
            server.should_exit = True
            server.force_exit = True
            thread.join(20)
            database.close()

        stops.append(stop)
        while not server.started:
            time.sleep(0.02)
        base = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        token = accounts.invite(desk.store, desk.study, "rater")
        driver.delete_all_cookies()
        driver.get(f"{base}/join/{token}")
        driver.find_element(By.CSS_SELECTOR, "button.main").send_keys(Keys.ENTER)
        until(driver, "return document.querySelector('a[href=\"/task\"]') !== null")
        driver.get(f"{base}/task")
        ready = "return [...document.querySelectorAll('video')].every((one) => one.readyState >= 1)"
        until(driver, ready)
        return Running(desk, base, tmp_path)

    yield begin
    driver.get("about:blank")
    for stop in stops:
        stop()


def submit(driver: Browser) -> None:
    webdriver.ActionChains(driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()


def shift(driver: Browser, key: str) -> None:
    webdriver.ActionChains(driver).key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT).perform()


def is_done(driver: Browser) -> None:
    until(driver, "return document.body.innerText.includes('Nothing is left')")
    severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]  # type: ignore[no-untyped-call]
    assert [one for one in severe if "422" not in one["message"]] == [], "no script failed, and no rule was broken"


def refused(driver: Browser) -> str:
    submit(driver)
    until(driver, "return !document.getElementById('fault').hidden && !document.getElementById('submit').disabled")
    return str(driver.find_element(By.ID, "fault").text)


def time_of(driver: Browser, view: int = 0) -> float:
    return float(driver.execute_script(f"return document.querySelectorAll('video')[{view}].currentTime"))


def labels(driver: Browser) -> list[str]:
    buttons = driver.find_elements(By.CSS_SELECTOR, "#moments button")
    return [button.get_attribute("aria-label") or "" for button in buttons]


def text(driver: Browser) -> str:
    return str(driver.find_element(By.TAG_NAME, "main").text)


def test_every_moment_is_played_and_scored_by_keyboard(driver: Browser, serve: Callable[..., Running]) -> None:
    running = serve(INTENSITY, INTENSE)
    assert labels(driver) == [
        "Moment 1 of 2, not played in full, not scored",
        "Moment 2 of 2, not played in full, not scored",
    ]
    assert "moment 1 of 2" in text(driver)
    assert all(word in text(driver) for word in ("Calm", "Mild", "Clear", "Peak", "a slight smile")), "anchors in sight"
    press(driver, "2")
    shift(driver, Keys.ARROW_RIGHT)
    assert "moment 2 of 2" in text(driver)
    assert time_of(driver) == pytest.approx(1.5)
    press(driver, "0")
    assert "play this first: moment m0, moment m1" in refused(driver)
    press(driver, " ")
    until(driver, "return document.querySelector('video').paused && document.querySelector('video').currentTime > 2")
    assert time_of(driver) == pytest.approx(2.1, abs=0.2), "a moment that was jumped to plays to its end"
    assert labels(driver) == [
        "Moment 1 of 2, not played in full, scored",
        "Moment 2 of 2, played, scored",
    ]
    assert "before you submit: moment 1" in text(driver)
    shift(driver, Keys.ARROW_LEFT)
    assert driver.execute_script("return document.querySelector('input:checked').dataset.value") == "2"
    press(driver, " ")
    until(driver, "return document.getElementById('unplayed').textContent.startsWith('Everything')")
    submit(driver)
    is_done(driver)
    assert [(row["unit"], row["value"]) for row in running.rows()] == [("m0", 2), ("m1", 0)]


def test_the_whole_clip_plays_and_the_current_moment_follows(driver: Browser, serve: Callable[..., Running]) -> None:
    serve(INTENSITY, INTENSE)
    press(driver, " ")
    until(driver, "return document.querySelector('video').ended")
    assert "moment 2 of 2" in text(driver)
    assert "Everything that has to be played was played" in text(driver)
    press(driver, " ")
    until(driver, "const one = document.querySelector('video'); return !one.paused && one.currentTime < 1.5")
    driver.refresh()
    until(driver, "return document.getElementById('unplayed').textContent.startsWith('Everything')")


def test_arrows_and_frames(driver: Browser, serve: Callable[..., Running]) -> None:
    serve(answer_form("choice"), CHOICE)
    press(driver, ".")
    assert time_of(driver) == pytest.approx(0.15)
    press(driver, ".", ".", ",")
    assert time_of(driver) == pytest.approx(0.25)
    press(driver, Keys.ARROW_RIGHT)
    assert time_of(driver) == pytest.approx(3.0, abs=0.05), "no further than the end"
    press(driver, Keys.ARROW_LEFT)
    assert time_of(driver) == 0
    press(driver, "2")
    press(driver, Keys.TAB)


def test_two_views_in_step_within_the_window_and_keys_that_are_words(
    driver: Browser, serve: Callable[..., Running]
) -> None:
    """W14: what is typed is text. The muted view stays muted; what goes out of step is brought back."""
    running = serve(WHY, WINDOW)
    until(driver, "return [...document.querySelectorAll('video')].every((one) => one.currentTime >= 0.8)")
    driver.execute_script("document.querySelectorAll('video')[1].muted = false")
    driver.execute_script(
        """
        window.drift = [];
        const [one, other] = document.querySelectorAll("video");
        let pushed = false;
        (function look() {
          if (!one.paused && !other.paused && !one.seeking && !other.seeking) {
            drift.push([one.currentTime, Math.abs(one.currentTime - other.currentTime)]);
            if (!pushed && one.currentTime > 1.2) { other.currentTime += 0.5; pushed = true; }
          }
          requestAnimationFrame(look);
        })();
        """
    )
    press(driver, " ")
    until(driver, "return document.querySelector('video').paused && document.querySelector('video').currentTime > 1.9")
    assert driver.execute_script("return document.querySelectorAll('video')[1].muted") is True
    drift = driver.execute_script("return drift")
    assert len(drift) > 20
    assert all(apart < 0.1 for at, apart in drift if at > 1.6), drift
    assert time_of(driver) == pytest.approx(2.0, abs=0.15)
    press(driver, " ")
    until(driver, "return document.querySelector('video').currentTime < 1.5")
    assert time_of(driver) >= 0.8, "again from the start of the window"
    press(driver, " ")
    typed = "a1 skip s . , y n 2"
    while driver.switch_to.active_element.tag_name != "textarea":
        press(driver, Keys.TAB)
    before = time_of(driver)
    press(driver, typed)
    assert driver.find_element(By.TAG_NAME, "textarea").get_attribute("value") == typed
    assert time_of(driver) == before
    until(driver, "return document.getElementById('unplayed').textContent.startsWith('Everything')")
    submit(driver)
    is_done(driver)
    assert [row["value"] for row in running.rows()] == [typed]


def test_the_window_has_to_be_played_first(driver: Browser, serve: Callable[..., Running]) -> None:
    running = serve(PILOT, WINDOW)
    press(driver, "3")
    assert "play this first" in refused(driver)
    press(driver, " ")
    until(driver, "return document.getElementById('unplayed').textContent.startsWith('Everything')")
    submit(driver)
    is_done(driver)
    assert [row["value"] for row in running.rows()] == [3]


def test_a_reply_is_graded_beside_its_references(driver: Browser, serve: Callable[..., Running]) -> None:
    running = serve(GRADE, WINDOW)
    shown = text(driver)
    assert "It was <b>the glass</b>." in shown, "words stay words"
    assert "because the glass fell" in shown
    assert "secret-model" not in driver.page_source
    assert "she looks at the door" not in driver.page_source, "the form does not show cues"
    press(driver, "2", "1", "0")
    submit(driver)
    is_done(driver)
    (row,) = running.rows("judgements")
    assert (row["labels"], row["model"]) == ({"cue": 2, "link": 1, "faithful": 0}, "secret-model")


def test_a_question_is_reviewed_and_reasons_are_asked_for_what_fails(
    driver: Browser, serve: Callable[..., Running]
) -> None:
    running = serve(REVIEW, CHOICE)
    shown = text(driver)
    assert all(word in shown for word in ("capability", "she looks at the door", "option B reference", "fear"))
    press(driver, "y", "n", "2")
    assert "Why not?" in refused(driver) or "needed" in text(driver)
    # Several reasons may be picked, so that the keys stay with them until one goes on.
    while "consistency" not in (
        driver.execute_script("return document.activeElement.closest('fieldset')?.dataset.field ?? ''")
    ):
        press(driver, Keys.TAB)
    press(driver, "y")
    submit(driver)
    is_done(driver)
    found = {row["rubric"]: row["value"] for row in running.rows()}
    assert found == {"review.validity": 1, "review.correctness": 0, "review.consistency": 1}
    (decision,) = running.rows("decisions")
    assert (decision["decision"], decision["reasons"]) == ("reject", ["unsupported"])
    path = running.folder / "ratings.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in running.rows()))
    assert len(list(read_rows(path, Rating))) == 3


def test_a_judge_is_endorsed_or_not(driver: Browser, serve: Callable[..., Running]) -> None:
    running = serve(ENDORSEMENT, CHOICE)
    assert all(word in text(driver) for word in ("evidence", "strong", "the cue is there", "the glass"))
    press(driver, "n")
    submit(driver)
    is_done(driver)
    (row,) = running.rows()
    assert (row["rubric"], row["value"]) == ("endorsement", 0)
    assert "secret-model" not in driver.page_source
    # The analysis of endorsements tells replies to one item apart by these.
    path = running.folder / "ratings.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (rating,) = (one.record for one in read_rows(path, Rating))
    assert (rating.extra["model"], rating.extra["condition"]) == ("secret-model", "full")


def test_five_dimensions_by_five_keys(driver: Browser, serve: Callable[..., Running]) -> None:
    running = serve(EXPERT, CHOICE)
    press(driver, "2", "2", "3", "2", "3")
    submit(driver)
    is_done(driver)
    assert [row["value"] for row in running.rows()] == [2, 2, 3, 2, 3]
    (decision,) = running.rows("decisions")
    assert decision["decision"] == "revise"


@pytest.mark.parametrize(
    ("scores", "word"),
    [
        ((2, 2, 3, 3, 3), "keep"),
        ((1, 2, 3, 3, 3), "discard"),
        ((2, 2, 2, 3, 1), "discard"),
        ((2, 2, 2, 3, 3), "revise"),
    ],
)
def test_the_rule_of_retention(scores: tuple[int, ...], word: str) -> None:
    names = ("perspective", "value", "correctness", "rationale", "necessity")
    assert retention(dict(zip(names, scores, strict=True))) == word


def test_a_seed_question_is_modified_with_reasons(driver: Browser, serve: Callable[..., Running]) -> None:
    running = serve(SEED_REVIEW, CHOICE)
    press(driver, "2", "4", "3")
    while driver.switch_to.active_element.tag_name != "textarea":
        press(driver, Keys.TAB)
    press(driver, "2 options, shorter")
    submit(driver)
    is_done(driver)
    (row,) = running.rows()
    assert (row["value"], row["reasons"], row["change"]) == ("modify", ["distractors", "leakage"], "2 options, shorter")


def test_criteria_are_answered_by_y_and_n_and_turned_by_their_digit(
    driver: Browser, serve: Callable[..., Running]
) -> None:
    running = serve(SCREEN, CHOICE)
    press(driver, "y", "n")
    assert "yes or no for each" in refused(driver)
    press(driver, "y", "2", "1")
    submit(driver)
    is_done(driver)
    found = {row["rubric"]: row["value"] for row in running.rows()}
    assert found == {"screen.topic": 0, "screen.whole": 1, "screen.ok": 1}


def test_w14_the_tenth_of_fifteen_options_has_no_digit(driver: Browser, serve: Callable[..., Running]) -> None:
    options = [{"id": i, "text": f"option {i}"} for i in "ABCDEFGHIJKLMNO"]
    serve(answer_form("choice"), {**CHOICE, "options": options})
    keys = [one.text for one in driver.find_elements(By.CSS_SELECTOR, ".choice .key")]
    assert keys == [*"123456789", *[""] * 6]
    press(driver, "9", "1", "5")
    assert driver.execute_script("return document.querySelector('input:checked').dataset.value") == '"E"'
    assert task(driver)["moments"] == []


def test_what_something_else_pauses_stays_paused(driver: Browser, serve: Callable[..., Running]) -> None:
    serve(WHY, WINDOW)
    press(driver, " ")
    until(driver, "return document.querySelector('video').currentTime > 1")
    driver.execute_script("for (const one of document.querySelectorAll('video')) one.pause()")
    until(driver, "return document.getElementById('play').textContent === 'Play'")
    stood = time_of(driver)
    time.sleep(0.3)
    assert time_of(driver) == stood < 1.9
    press(driver, " ")
    until(driver, "return document.querySelector('video').currentTime > 1.9")
