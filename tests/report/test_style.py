"""Colours stand out enough: WCAG 2.2, 1.4.3 (text 4.5:1) and 1.4.11 (graphics 3:1), light and dark."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from onlooker.report.palette import CLASSES, SERIES

CSS = (resources.files("onlooker.report") / "page" / "page.css").read_text(encoding="utf-8")
TEXT = ("ink", "muted", "accent", "good", "bad", "warn")
GRAPHICS = ("edge", *(f"series{i}" for i in range(6)))


def themes() -> dict[str, dict[str, str]]:
    """The variables of the light theme and of the dark one."""
    light, dark = (
        dict(re.findall(r"--([\w]+): (#[0-9a-f]{6})", block)) for block in re.split("prefers-color", CSS)[:2]
    )
    return {"light": light, "dark": dark}


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` (WCAG 2.2)."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio 1..21 of two colours."""
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_the_measure_is_that_of_the_guideline() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_graphics_stand_out(theme: str) -> None:
    colours = themes()[theme]
    for name in TEXT:
        for ground in ("paper", "surface", "mark") if name in {"ink", "good"} else ("paper", "surface"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in GRAPHICS:
        assert contrast(colours[name], colours["paper"]) >= 3, name


def test_both_themes_set_the_same_variables() -> None:
    light, dark = themes()["light"], themes()["dark"]
    assert set(light) == set(dark)


def test_every_colour_of_a_figure_has_its_classes() -> None:
    for name in CLASSES.values():
        assert f".f-{name} {{ fill:" in CSS
        assert f".s-{name} {{ stroke:" in CSS
    assert [themes()["light"][f"series{i}"] for i in range(6)] == list(SERIES)


def test_paper_and_dark_are_provided_for_and_nothing_moves() -> None:
    for query in ("@media print", "@media screen and (prefers-color-scheme: dark)", "A4"):
        assert query in CSS
    assert not re.search("animation|transition|smooth|@keyframes", CSS)
