"""The figures of a report: inside the page, and as files for a paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET  # matplotlib's own output is parsed, nothing foreign

from onlooker.errors import InputError
from onlooker.report.content import ReportContent
from onlooker.report.drawing import FORMATS, draw
from onlooker.report.palette import CLASSES
from onlooker.report.plots import Plot, plots_of
from onlooker.report.results import read_results

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_KEPT = ("stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "opacity")


@dataclass(frozen=True, slots=True)
class WrittenFigures:
    """The files written, in order, and what they could not show (glyphs that no installed font has)."""

    paths: tuple[Path, ...]
    problems: tuple[str, ...]


def write_figures(content: ReportContent, folder: Path) -> WrittenFigures:
    """Write every figure as ``.svg``, ``.pdf`` and ``.png`` into ``folder`` (made where it is not there).

    The same content gives the same bytes. Raises ``MissingExtra`` without matplotlib, ``InputError`` where the folder
    cannot be made.
    """
    make_folder(folder)
    paths: list[Path] = []
    problems: list[str] = []
    for place, section in enumerate(content.sections, start=1):
        name = re.sub(r"[^A-Za-z0-9]+", "-", section.bundle.name).strip("-").lower() or "section"
        for plot in plots_of(section, read_results(section), f"{place:02d}-{name}"):
            for file_format in FORMATS:
                drawn, missing = draw(plot, file_format)
                path = folder / f"{plot.id}.{file_format}"
                path.write_bytes(drawn)
                paths.append(path)
                problems += [f"{path.name}: {problem}" for problem in missing]
    return WrittenFigures(tuple(paths), tuple(problems))


def make_folder(folder: Path) -> None:
    """Make the folder where it is not there. Raises ``InputError`` where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made: {error.strerror}", where=str(folder)) from error


def inline_svg(plot: Plot) -> str:
    """The plot as an SVG element for a page: no style, no colour, no address, no id that another figure has.

    Colours become the classes ``f-NAME`` (fill) and ``s-NAME`` (stroke), which the style sheet sets, light and dark.
    """
    root = ET.fromstring(draw(plot, "svg")[0])  # noqa: S314 - matplotlib's own output
    _strip(root)
    used = set(re.findall(r"#([\w-]+)", " ".join(v for e in root.iter() for v in e.attrib.values())))
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        _restyle(element)
        old_id = element.attrib.pop("id", None)
        if old_id in used:
            element.set("id", f"{plot.id}-{old_id}")
        href = element.attrib.pop(_HREF, None)
        if href is not None:
            element.set("href", f"#{plot.id}-{href.removeprefix('#')}")
        if "clip-path" in element.attrib:
            element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{plot.id}-"))
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update(
        {
            "viewBox": box,
            "class": "plot",
            "role": "img",
            "aria-labelledby": f"{plot.id}-title",
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
        }
    )
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


def _strip(root: ET.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
                parent.remove(child)


def _restyle(element: ET.Element) -> None:
    declared = element.attrib.pop("style", "")
    style = dict(part.strip().split(": ", 1) for part in declared.split(";") if ": " in part)
    classes = []
    for name, letter in (("fill", "f"), ("stroke", "s")):
        colour = style.get(name)
        if colour is None:
            continue
        if colour in CLASSES:
            classes.append(f"{letter}-{CLASSES[colour]}")
        else:
            element.set(name, colour)
    if classes:
        element.set("class", " ".join(classes))
    for name in _KEPT:
        if name in style:
            element.set(name, style[name])
    font = style.get("font", "")
    size = re.search(r"([\d.]+)px", font) or re.search(r"([\d.]+)px", style.get("font-size", ""))
    if size:
        element.set("font-size", size[1])
    if "italic" in font:
        element.set("font-style", "italic")
    if "text-anchor" in style:
        element.set("text-anchor", style["text-anchor"])
