"""The page in a real browser: filters, keys, links, no script, narrow, dark, on paper. Skipped without Chromium."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from onlooker.report.content import AnswerView, ItemView, ReportContent
from onlooker.report.verdicts import verdict_of

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="Chromium or chromedriver is not installed on this machine"
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = Options()
    assert BROWSER
    assert DRIVER
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def browser(driver: webdriver.Chrome, page_path: Path) -> webdriver.Chrome:
    """The page, freshly loaded at 1280 px."""
    resize(driver, 1280)
    driver.get("about:blank")
    for kind in ("browser", "performance"):
        logged(driver, kind)
    driver.get(page_path.as_uri())
    return driver


def resize(driver: webdriver.Chrome, width: int, **media: Any) -> None:
    """Set the width of the window, and what the page is shown on."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def logged(driver: webdriver.Chrome, kind: str) -> list[dict[str, str]]:
    """What the browser noted since it was asked last."""
    entries: list[dict[str, str]] = driver.get_log(kind)  # type: ignore[no-untyped-call]
    return entries


def shown(driver: webdriver.Chrome) -> list[str]:
    """The ids of the items that are listed."""
    found: list[str] = driver.execute_script(
        "return [...document.querySelectorAll('article.item')].filter(a => a.checkVisibility()).map(a => a.id)"
    )
    return [name.removeprefix("s1-item-") for name in found]


def find(driver: webdriver.Chrome, selector: str) -> WebElement:
    return driver.find_element(By.CSS_SELECTOR, selector)


def choose(driver: webdriver.Chrome, selector: str, value: str) -> None:
    """Choose the entry of that text, or of that text and a count in brackets."""
    driver.execute_script(
        "const [select, wanted] = arguments;"
        "const names = [...select.options].map(o => o.textContent.replace(/ \\(\\d+\\)$/, ''));"
        "select.selectedIndex = names.indexOf(wanted);"
        "select.dispatchEvent(new Event('input', {bubbles: true}))",
        find(driver, selector),
        value,
    )


def expected(
    content: ReportContent, item: Callable[[ItemView], bool], answer: Callable[[AnswerView], bool]
) -> set[str]:
    """The ids, as they stand in addresses, of items with such an answer."""
    found = [i.item_id for i in content.sections[0].items if item(i) and any(map(answer, i.answers))]
    return {re.sub(r"[^A-Za-z0-9._-]+", "_", name) for name in found}


def test_the_page_loads_nothing_and_says_nothing_on_the_console(browser: webdriver.Chrome, page_path: Path) -> None:
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    assert browser.title == "Sample report: social understanding, 视频 & <others>"
    messages = [json.loads(entry["message"])["message"] for entry in logged(browser, "performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert page_path.as_uri() in asked
    assert all(url == page_path.as_uri() or url.startswith(("data:", "about:")) for url in asked)
    assert logged(browser, "browser") == []


def test_filters_by_outcome_model_and_condition_mean_one_and_the_same_answer(
    browser: webdriver.Chrome, content: ReportContent
) -> None:
    assert len(shown(browser)) == 30
    find(browser, "input[value='wrong']").click()
    wrong = expected(content, lambda i: True, lambda a: verdict_of(a) == "wrong")
    assert set(shown(browser)) == wrong
    choose(browser, "select[name='model']", "embedded")
    choose(browser, "select[name='condition']", "text_only")
    both = expected(
        content,
        lambda i: True,
        lambda a: (a.model, a.condition, verdict_of(a)) == ("embedded", "text_only", "wrong"),
    )
    assert set(shown(browser)) == both
    assert 0 < len(both) < len(wrong)
    assert find(browser, "[aria-live]").text == f"{len(both)} of 30 items"
    find(browser, "button[type='reset']").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert len(shown(browser)) == 30
    assert find(browser, "[aria-live]").text == "30 items"


def test_filter_unparsed_with_a_label(browser: webdriver.Chrome, content: ReportContent) -> None:
    find(browser, "input[value='unparsed']").click()
    choose(browser, "select[data-label='dimension']", "SDP")
    wanted = expected(content, lambda i: i.labels["dimension"] == "SDP", lambda a: a.outcome == "unparsed")
    assert "siv-005" in wanted
    assert set(shown(browser)) == wanted


def test_search_finds_words_in_questions_and_replies_and_says_when_there_are_none(browser: webdriver.Chrome) -> None:
    box = find(browser, "input[type='search']")
    box.send_keys("SILENCE express")
    assert shown(browser) == ["siv-003", "siv-010", "siv-017", "siv-024"]
    box.clear()
    box.send_keys("<b>none</b> siv-00")
    assert set(shown(browser)) <= {f"siv-00{i}" for i in range(10)} | {"siv_007_"}
    assert shown(browser)
    box.send_keys(" no such word")
    assert shown(browser) == []
    assert find(browser, ".none-left").is_displayed()


def test_keys_walk_through_the_listed_items_and_stay_out_of_text_fields(browser: webdriver.Chrome) -> None:
    find(browser, "input[value='unparsed']").click()
    listed = shown(browser)
    body = find(browser, "body")

    def focused() -> str:
        name: str = browser.execute_script("return (document.activeElement.closest('article') || {}).id || ''")
        return name.removeprefix("s1-item-")

    browser.execute_script("document.activeElement.blur()")
    body.send_keys("j")
    assert focused() == listed[0]
    browser.switch_to.active_element.send_keys("j")
    browser.switch_to.active_element.send_keys("j")
    browser.switch_to.active_element.send_keys("k")
    assert focused() == listed[1]
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.execute_script("return document.activeElement.parentElement.open")
    style = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"
    browser.switch_to.active_element.send_keys("/")
    assert browser.switch_to.active_element.get_attribute("type") == "search"
    browser.switch_to.active_element.send_keys("jk/")
    assert browser.switch_to.active_element.get_attribute("value") == "jk/"
    browser.switch_to.active_element.clear()
    find(browser, "input[name='keys']").click()
    browser.execute_script("document.activeElement.blur()")
    body.send_keys("j")
    assert focused() == ""


def test_an_address_with_an_item_opens_it_also_where_a_filter_hides_it(
    browser: webdriver.Chrome, page_path: Path
) -> None:
    find(browser, "input[type='search']").send_keys("no such word")
    browser.execute_script("location.hash = '#s1-item-siv_007_'")
    browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert shown(browser) == ["siv_007_"]
    assert find(browser, "#s1-item-siv_007_ > details").get_attribute("open")
    browser.get("about:blank")
    browser.get(page_path.as_uri() + "#s1-item-siv-011")
    browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert find(browser, "#s1-item-siv-011 > details").get_attribute("open")
    top = browser.execute_script("return document.activeElement.getBoundingClientRect().top")
    bar = browser.execute_script("return document.querySelector('.filters').getBoundingClientRect().bottom")
    assert bar <= top + 1
    assert top < 900


def test_frames_are_drawn(browser: webdriver.Chrome) -> None:
    browser.execute_script("location.hash = '#s1-item-siv-000'")
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    frame = find(browser, "#s1-item-siv-000 .strip svg")
    assert frame.size["width"] > 80
    with Image.open(io.BytesIO(base64.b64decode(frame.screenshot_as_base64))) as picture:
        colours = picture.convert("RGB").getcolors(1 << 20)
    assert colours
    assert len(colours) > 100


def test_without_scripts_every_item_is_listed_and_opens(driver: webdriver.Chrome, page_path: Path) -> None:
    resize(driver, 1280)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get("about:blank")
        driver.get(page_path.as_uri())
        assert len(driver.find_elements(By.CSS_SELECTOR, "article.item")) == 30
        assert not find(driver, ".filters").is_displayed()
        assert find(driver, "noscript p").is_displayed()
        item = find(driver, "#s1-item-siv-000")
        item.find_element(By.TAG_NAME, "summary").click()
        assert item.find_element(By.CSS_SELECTOR, ".options").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_never_scrolls_sideways(browser: webdriver.Chrome, width: int) -> None:
    resize(browser, width)
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    wide = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0


def test_figures_follow_the_dark_theme(browser: webdriver.Chrome) -> None:
    ink = (
        "const text = document.querySelector('.plot text.f-ink');"
        "return [getComputedStyle(document.body).backgroundColor, getComputedStyle(text).fill]"
    )
    light = browser.execute_script(ink)
    resize(browser, 1280, features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = browser.execute_script(ink)
    assert light == ["rgb(255, 255, 255)", "rgb(29, 33, 38)"]
    assert dark == ["rgb(21, 24, 27)", "rgb(229, 232, 234)"]


def test_on_paper_the_items_are_a_list_in_light_colours(browser: webdriver.Chrome) -> None:
    resize(browser, 1280, media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert not find(browser, ".filters").is_displayed()
    assert find(browser, ".print-note").is_displayed()
    assert browser.execute_script("return getComputedStyle(document.querySelector('h1')).color") == "rgb(29, 33, 38)"
    assert len(shown(browser)) == 30
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 4 <= pages <= 14
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box
    assert [round(float(side) / 72 * 25.4) for side in box.groups()] == [210, 297]


def sheet(driver: webdriver.Chrome, path: Path, width: int, **media: Any) -> None:
    """The awkward report on a window or sheet of that width in CSS pixels, everything open."""
    resize(driver, width, **media)
    driver.get("about:blank")
    driver.get(path.as_uri())
    driver.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")


@pytest.mark.parametrize("width", [1280, 500])
def test_no_name_however_long_makes_the_page_scroll_sideways(
    driver: webdriver.Chrome, awkward_path: Path, width: int
) -> None:
    sheet(driver, awkward_path, width)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert driver.execute_script(wide) == 0
    driver.execute_script("for (const d of document.querySelectorAll('.item details')) d.open = false")
    assert driver.execute_script(wide) == 0


@pytest.mark.parametrize(("paper", "width_mm"), [("A4", 210 - 28), ("Letter", 216 - 28)])
def test_on_paper_no_table_is_cut_at_the_edge(
    driver: webdriver.Chrome, awkward_path: Path, paper: str, width_mm: int
) -> None:
    width = int(width_mm / 25.4 * 96)
    sheet(driver, awkward_path, width, media="print")
    beyond = driver.execute_script(
        "return [...document.querySelectorAll('table *')].filter(e => e.getBoundingClientRect().right > arguments[0])"
        ".map(e => e.tagName + ' ' + e.textContent.slice(0, 60))",
        width + 0.5,
    )
    assert beyond == [], paper
    spilled = driver.execute_script(
        "return [...document.querySelectorAll('.scroll :is(th, td)')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.textContent.slice(0, 60))"
    )
    assert spilled == [], paper


def test_notes_are_whole_on_paper_also_where_they_are_folded(driver: webdriver.Chrome, awkward_path: Path) -> None:
    resize(driver, 700, media="print")
    driver.get(awkward_path.as_uri())
    is_seen = "const e = document.querySelector('.notes .rest'); return e.checkVisibility() && e.offsetHeight > 20"
    assert driver.execute_script(is_seen)
    resize(driver, 700)
    assert not driver.execute_script(is_seen)


def test_the_search_takes_phrases_and_looks_at_the_items_own_texts_only(
    driver: webdriver.Chrome, awkward_path: Path
) -> None:
    sheet(driver, awkward_path, 1280)
    box = find(driver, "input[type='search']")

    def found(text: str) -> list[str]:
        box.clear()
        box.send_keys(text)
        return shown(driver)

    assert found("question number") == ["item-1", "item-2", "item-3", "item-4"]
    assert found("number question 2") == ["item-2"]
    assert found('"number question" 2') == []
    assert found('"Question  NUMBER 2"') == ["item-2"]
    assert found('"question number') == ["item-1", "item-2", "item-3", "item-4"]
    assert found("secretly") == []
    assert found("reference") == []
    assert found("(empty)") == ["item-1"]
    assert found('"answer: a"') == ["item-0", "item-1", "item-2"]


def test_every_label_value_can_be_chosen_also_an_empty_one_and_one_with_controls(
    driver: webdriver.Chrome, awkward_path: Path
) -> None:
    sheet(driver, awkward_path, 1280)
    for value, item in (("(empty)", "item-1"), ("L" * 300, "item-2"), ("a␀b[⇠]c", "item-4")):
        choose(driver, "select[data-label='relation']", value)
        assert shown(driver) == [item]


def test_line_breaks_and_directions_of_questions_are_kept(driver: webdriver.Chrome, awkward_path: Path) -> None:
    sheet(driver, awkward_path, 1280)
    assert find(driver, "#s1-item-item-0-q").text == "First line\nsecond line\nthird line"
    direction = "return getComputedStyle(document.getElementById(arguments[0])).direction"
    assert driver.execute_script(direction, "s1-item-item-0-q") == "ltr"
    assert driver.execute_script(direction, "s1-item-item-1-q") == "rtl"
