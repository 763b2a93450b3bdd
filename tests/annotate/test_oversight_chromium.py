"""Monitoring, adjudication and the offer of a pause in a real browser: live, keyboard, light and dark. Skipped without
Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from onlooker.annotate import accounts
from onlooker.annotate.adjudicating import last_rulings
from onlooker.annotate.database import open_database
from onlooker.annotate.submitting import Desk, Submission, submit
from tests.media.making import COUNTER_RATE, counter, write
from tests.report.test_chromium import BROWSER, DRIVER

from .made import join, make_desk
from .test_chromium import Served, driver, until

__all__ = ["driver"]

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="Chromium or chromedriver is not installed on this machine"
)

# The least ratio of all texts to what lies behind them (WCAG 2.2, 1.4.3), with the text of the worst.
CONTRAST = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = (rgb) => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
const parse = (words) => words.match(/[\\d.]+/g).map(Number);
let worst = [99, ""];
for (const one of document.querySelectorAll("body *")) {
  const text = [...one.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
  if (!text || !one.checkVisibility()) continue;
  let behind = one;
  while (behind && (parse(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0) behind = behind.parentElement;
  const [a, b] = [getComputedStyle(one).color, getComputedStyle(behind).backgroundColor].map(parse).map(light);
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, text];
}
return worst;
"""
# What a reader of the page without eyes would miss: controls without a name, headings out of order, sideways scrolling.
FAULTS = """
const found = [];
const named = (one) => one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.textContent.trim()
  || [...(one.labels ?? [])].map((l) => l.textContent).join("").trim();
for (const one of document.querySelectorAll("a, button, input:not([type=hidden]), textarea, section, [role=region]")) {
  if (!named(one)) found.push("no name: " + one.outerHTML.slice(0, 80));
}
for (const one of document.querySelectorAll("fieldset")) if (!one.querySelector("legend")) found.push("no legend");
for (const one of document.querySelectorAll("th")) if (!one.scope) found.push("no scope: " + one.textContent);
for (const one of document.querySelectorAll("svg")) if (one.getAttribute("aria-hidden") !== "true") found.push("bar");
for (const one of document.querySelectorAll("[aria-labelledby]")) {
  if (!document.getElementById(one.getAttribute("aria-labelledby"))) found.push("label is not there");
}
for (const one of document.querySelectorAll(".card table")) {
  const edge = one.closest(".card").getBoundingClientRect().right;
  if (one.getBoundingClientRect().right > edge - 16) found.push("too wide: " + one.textContent.trim().slice(0, 40));
}
let level = 0;
for (const one of document.querySelectorAll("h1, h2, h3")) {
  const own = Number(one.tagName[1]);
  if (own > level + 1) found.push("heading skips: " + one.textContent);
  level = own;
}
const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
if (new Set(ids).size !== ids.length) found.push("an id twice");
if (document.documentElement.scrollWidth > innerWidth) found.push("scrolls sideways");
return found;
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path, "media/clip.mp4")
    write(made.bundle / "media" / "clip.mp4", counter(30), rate=COUNTER_RATE)
    desk = made.open()
    raters = [join(desk) for _ in range(2)]
    for n, case in enumerate(desk.cases.ordinary[:3]):
        for rater in raters:
            answer_as(desk, rater, case, "A" if n == 1 or rater == raters[0] else "B")
    desk.store.database.close()
    made.start()
    yield made
    made.kill()


def answer_as(desk: Desk, rater: str, case: str, option: str) -> None:
    with desk.store.database.transaction():
        desk.store.append("assigned", rater=rater, case=case)
    submit(desk, rater, case, Submission(f"key-{rater}-{case}", 0, {"answer": [option]}), {})


def enter(driver: webdriver.Chrome, served: Served, role: Any) -> str:
    desk = served.open()
    token = accounts.invite(desk.store, desk.study, role)
    desk.store.database.close()
    driver.delete_all_cookies()
    driver.get_log("browser")  # type: ignore[no-untyped-call]
    driver.get(f"{served.base}/join/{token}")
    driver.find_element(By.CSS_SELECTOR, "button.main").send_keys(Keys.ENTER)
    until(driver, "return document.getElementById('code') !== null")
    return str(driver.find_element(By.ID, "rater").text)


def look(driver: webdriver.Chrome, path: Path) -> None:
    """Both schemes at 1280 px: contrast, names, no sideways scrolling; a picture of each beside ``path``."""
    for scheme in ("light", "dark"):
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 1280, "height": 1500, "deviceScaleFactor": 1, "mobile": False},
        )
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        driver.save_screenshot(str(path.with_name(f"{path.name}-{scheme}.png")))
        ratio, text = driver.execute_script(CONTRAST)
        assert ratio >= 4.5, (scheme, text)
        assert driver.execute_script(FAULTS) == []
    severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]  # type: ignore[no-untyped-call]
    assert severe == []


def test_the_overview_follows_without_reload_and_says_when_it_cannot(
    driver: webdriver.Chrome, served: Served, tmp_path: Path
) -> None:
    enter(driver, served, "monitor")
    driver.get(f"{served.base}/overview")
    driver.execute_script("window.isSamePage = true")
    first = "return document.querySelector('.tiles dd').textContent.trim()"
    assert driver.execute_script(first) == "6 of 10"
    look(driver, tmp_path / "overview")
    desk = served.open()
    answer_as(desk, join(desk), "q3", "B")
    desk.store.database.close()
    until(driver, f"return (() => {{ {first} }})() === '7 of 10'")
    assert driver.execute_script("return window.isSamePage")
    assert driver.execute_script("return document.querySelectorAll('#live-raters tbody tr').length") == 3
    served.kill()
    until(driver, "return document.getElementById('watch').textContent.startsWith('No connection')")
    served.start()
    until(driver, "return document.getElementById('watch').hidden")


def test_an_expert_rules_on_a_case_by_keyboard(driver: webdriver.Chrome, served: Served, tmp_path: Path) -> None:
    expert = enter(driver, served, "expert")
    driver.get(f"{served.base}/adjudicate")
    links = driver.find_elements(By.CSS_SELECTOR, "tbody a")
    assert len(links) == 2, "q0 and q2; on q1 they agree"
    look(driver, tmp_path / "disputed")
    links[0].send_keys(Keys.ENTER)
    until(driver, "return document.getElementById('ruling') !== null")
    until(driver, "return document.querySelector('video').readyState >= 2")
    look(driver, tmp_path / "case")
    driver.find_element(By.CSS_SELECTOR, "[data-take='1']").send_keys(Keys.ENTER)
    assert driver.execute_script("return document.querySelectorAll('fieldset input:checked').length") == 1
    driver.find_element(By.ID, "says").send_keys("seen twice")
    webdriver.ActionChains(driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    until(driver, "return location.pathname === '/adjudicate' && document.querySelectorAll('tbody a').length === 2")
    desk = served.open()
    (ruling,) = last_rulings(desk).values()
    desk.store.database.close()
    assert ruling.rater == expert
    assert ruling.body is not None
    assert ruling.body["says"] == "seen twice"
    assert ruling.body["answer"]["answer"] in (["A"], ["B"])


class Tiring(Served):
    """A study that offers a pause after two seconds."""

    def open(self) -> Desk:
        database = open_database(str(self.folder / "STUDY.sqlite"), "pilot")
        return make_desk(database, self.bundle, overlap=2, breaks={"every_min": 1 / 30})


def test_a_pause_is_offered_taken_and_on_record(driver: webdriver.Chrome, tmp_path: Path) -> None:
    served = Tiring(tmp_path, "media/clip.mp4")
    write(served.bundle / "media" / "clip.mp4", counter(30), rate=COUNTER_RATE)
    served.open().store.database.close()
    served.start()
    try:
        rater = enter(driver, served, "rater")
        driver.get(f"{served.base}/task")
        until(driver, "return !document.getElementById('pause').hidden")
        look(driver, tmp_path / "offer")
        driver.find_element(By.ID, "take-pause").send_keys(Keys.ENTER)
        until(driver, "return document.getElementById('paused').open")
        look(driver, tmp_path / "paused")
        webdriver.ActionChains(driver).send_keys("1").perform()
        assert driver.execute_script("return document.querySelectorAll('input:checked').length") == 0
        webdriver.ActionChains(driver).send_keys(Keys.ENTER).perform()
        until(driver, "return !document.getElementById('paused').open")
        assert driver.execute_script("return document.getElementById('pause').hidden")
        desk = served.open()
        assert [event.rater for event in desk.store.events("paused")] == [rater]
        desk.store.database.close()
    finally:
        served.kill()
