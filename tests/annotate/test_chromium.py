"""Study 7 in a real browser against a real server: invited, answered by keyboard, kept through crashes. Skipped without
Chromium."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from onlooker.annotate import accounts
from onlooker.annotate.database import open_database
from onlooker.annotate.export import collect
from onlooker.annotate.submitting import Desk
from tests.media.making import COUNTER_RATE, counter, write
from tests.report.test_chromium import BROWSER, DRIVER, FLAGS

from .made import make_bundle, make_desk
from .test_store import ROOT

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="Chromium or chromedriver is not installed on this machine"
)
TYPED = 'a1 skip s, "quoted" <b>\n=1+1 \u4e2d\u6587'


class Served:
    """A server process over a made study; it can be killed and started again."""

    def __init__(self, folder: Path, media: str) -> None:
        self.folder = folder
        self.bundle = make_bundle(folder / "bundle", 5, media=media)
        (self.bundle / "media").mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def open(self) -> Desk:
        database = open_database(str(self.folder / "STUDY.sqlite"), "pilot")
        return make_desk(database, self.bundle, overlap=2, title="A study <img>")

    def start(self) -> None:
        command = [sys.executable, "-m", "onlooker.cli.main", "annotate", "serve", str(self.bundle)]
        command += ["--study", str(self.folder / "STUDY.yaml"), "--port", str(self.port)]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
        for _ in range(200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.base}/health", timeout=5).close()
                return
            time.sleep(0.1)
        raise AssertionError((self.folder / "server.log").read_text())

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = Options()
    assert BROWSER
    assert DRIVER
    options.binary_location = BROWSER
    profile = tmp_path_factory.mktemp("profile")
    for flag in (*FLAGS, "--autoplay-policy=no-user-gesture-required", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(DRIVER))
    made.set_script_timeout(20)
    yield made
    made.quit()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path, "media/clip.mp4")
    write(made.bundle / "media" / "clip.mp4", counter(50), rate=COUNTER_RATE, b_frames=2, gop=25)
    made.open().store.database.close()
    made.start()
    yield made
    made.kill()


def invited(driver: webdriver.Chrome, served: Served) -> None:
    desk = served.open()
    token = accounts.invite(desk.store, desk.study, "rater")
    desk.store.database.close()
    driver.delete_all_cookies()
    driver.get(f"{served.base}/join/{token}")
    driver.execute_script("localStorage.clear()")
    driver.find_element(By.CSS_SELECTOR, "button.main").send_keys(Keys.ENTER)
    WebDriverWait(driver, 20).until(lambda d: d.find_elements(By.LINK_TEXT, "Begin"))[0].send_keys(Keys.ENTER)
    until(driver, "return document.getElementById('task') !== null")


def until(driver: webdriver.Chrome, script: str) -> Any:
    return WebDriverWait(driver, 20).until(lambda d: d.execute_script(script))


def task(driver: webdriver.Chrome) -> dict[str, Any]:
    return dict(json.loads(driver.find_element(By.ID, "task").get_attribute("data-task") or ""))


def is_open_question(driver: webdriver.Chrome) -> bool:
    return bool(driver.find_elements(By.TAG_NAME, "textarea"))


def press(driver: webdriver.Chrome, *keys: str) -> None:
    driver.switch_to.active_element.send_keys(*keys)


def submit_by_key(driver: webdriver.Chrome, before: str) -> None:
    webdriver.ActionChains(driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    is_next = f"!document.body.innerHTML.includes({json.dumps(before)})"
    until(driver, f"return document.readyState === 'complete' && {is_next}")


def find_open(driver: webdriver.Chrome) -> None:
    """Answer choice questions until the open one comes."""
    while not is_open_question(driver):
        press(driver, "1")
        submit_by_key(driver, task(driver)["case"])


def test_every_question_is_answered_by_keyboard_and_nothing_in_data_runs(
    driver: webdriver.Chrome, served: Served
) -> None:
    """W12 and W14 (first part) in the browser: words stay words, keys do not fire while somebody types."""
    invited(driver, served)
    typed = {}
    while driver.find_elements(By.ID, "task"):
        before = task(driver)["case"]
        if is_open_question(driver):
            driver.find_element(By.TAG_NAME, "textarea").send_keys(TYPED)
            typed[before] = TYPED
        else:
            press(driver, "2")
            typed[before] = "B"
        submit_by_key(driver, before)
    assert "Nothing is left" in driver.find_element(By.TAG_NAME, "main").text
    assert "<img" in driver.title
    assert driver.execute_script("return document.images.length") == 0
    severe = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]  # type: ignore[no-untyped-call]
    assert severe == []
    # W16: the log tells of no person, no token, no address.
    log = (served.folder / "server.log").read_text()
    assert log.count("\n") == 2, log
    assert "r-" not in log.replace("rater", "")
    desk = served.open()
    rows = collect(desk).files["ratings"]
    desk.store.database.close()
    assert sorted(str(row["value"]) for row in rows) == sorted(typed.values())


def test_w06_the_picture_after_a_jump_is_the_frame_of_that_time(driver: webdriver.Chrome, served: Served) -> None:
    invited(driver, served)
    for time_s in (3.05, 0.05, 4.65, 1.25):
        level = driver.execute_async_script(
            """
            const [time, done] = [arguments[0], arguments[1]];
            const video = document.querySelector("video");
            video.addEventListener("seeked", () => requestAnimationFrame(() => {
              const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
              const context = canvas.getContext("2d");
              context.drawImage(video, 0, 0, 8, 8);
              done([context.getImageData(4, 4, 1, 1).data[0], video.currentTime]);
            }), { once: true });
            video.currentTime = time;
            """,
            time_s,
        )
        assert level[1] == pytest.approx(time_s)
        # Frame n is gray level 16 + 4 n in the file, which a screen shows as 4 n * 255 / 219.
        assert level[0] * 219 / 255 / 4 == pytest.approx(int(time_s * COUNTER_RATE), abs=0.5)


def test_w04_killed_while_typing_then_again_with_every_word_kept(driver: webdriver.Chrome, served: Served) -> None:
    """The server dies: an error shows and the words stay; it comes back: they are sent once. Also after a reload."""
    invited(driver, served)
    find_open(driver)
    before = task(driver)["case"]
    driver.find_element(By.TAG_NAME, "textarea").send_keys("typed before the crash")
    until(driver, "return document.getElementById('saved').textContent === 'Draft saved'")
    served.kill()
    driver.find_element(By.TAG_NAME, "textarea").send_keys(" and after")
    driver.find_element(By.ID, "submit").click()
    until(driver, "return !document.getElementById('fault').hidden")
    assert "What you typed is kept" in driver.find_element(By.ID, "fault").text
    served.start()
    driver.refresh()
    assert driver.find_element(By.TAG_NAME, "textarea").get_attribute("value") == "typed before the crash and after"
    assert task(driver)["draft"] == {"answer": "typed before the crash"}, "what the server had"
    submit_by_key(driver, before)
    desk = served.open()
    rows = [row for row in collect(desk, history=True).files["history"] if row["rubric"] == "human_answer_words"]
    desk.store.database.close()
    assert [row["value"] for row in rows] == ["typed before the crash and after"]


def test_what_was_played_is_on_record(driver: webdriver.Chrome, served: Served) -> None:
    invited(driver, served)
    case = task(driver)["case"]
    driver.execute_script("const v = document.querySelector('video'); v.muted = true; v.playbackRate = 4; v.play()")
    until(driver, "return document.querySelector('video').ended")
    played = f"fetch('/api/work/{case}').then((r) => r.json()).then((told) => told.work.played.video)"
    until(driver, f"return {played}")
    found = driver.execute_async_script(f"const done = arguments[0]; {played}.then(done)")
    assert found == [[pytest.approx(0, abs=0.1), pytest.approx(5.0, abs=0.1)]]


def test_w07_hevc_plays_through_its_copy(driver: webdriver.Chrome, tmp_path: Path) -> None:
    served = Served(tmp_path, "media/clip.mkv")
    write(served.bundle / "media" / "clip.mkv", counter(50), rate=COUNTER_RATE, codec="libx265")
    served.open().store.database.close()
    served.start()
    try:
        invited(driver, served)
        until(driver, "return document.querySelector('video').readyState >= 2")
        assert driver.execute_script("return document.querySelector('video').error") is None
        assert driver.execute_script("return document.querySelector('video').duration") == pytest.approx(5.0, abs=0.05)
        assert "Chromium, Firefox" in (tmp_path / "server.log").read_text()
    finally:
        served.kill()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1920, "dark")])
def test_pages_fit_their_width(
    driver: webdriver.Chrome, served: Served, tmp_path: Path, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    invited(driver, served)
    for path in ("/task", "/mine", "/instructions"):
        driver.get(served.base + path)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        driver.save_screenshot(str(tmp_path / f"page{path.replace('/', '-')}.png"))
