"""The report as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from onlooker.errors import InputError
from onlooker.records.jsonl import write_text
from onlooker.report import wording
from onlooker.report.album import plan_album
from onlooker.report.browser import Browser, browse, shown_items
from onlooker.report.content import Failure, Limits, ReportContent, Section
from onlooker.report.figures import inline_svg, make_folder
from onlooker.report.plots import MAX_SERIES, Plot, plots_of
from onlooker.report.results import Results, read_results
from onlooker.report.verdicts import VERDICTS

_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Figure:
    plot: Plot
    svg: Markup


@dataclass(frozen=True, slots=True)
class _Chapter:
    """A section with everything its template prints.

    ``rest``: metrics that no group names; ``about``: what each model is, in words; ``unusable``: the failures by clip.
    """

    anchor: str
    section: Section
    results: Results
    figures: tuple[_Figure, ...]
    rest: tuple[str, ...]
    about: tuple[tuple[str, str], ...]
    unusable: Mapping[str, tuple[Failure, ...]]
    browser: Browser


def write_report(content: ReportContent, path: Path, limits: Limits = _DEFAULT_LIMITS) -> None:
    """Write the page to ``path``, whole or not at all; its folder is made where it is not there.

    The same content and limits give the same bytes. Raises ``InputError`` where the scores are not in the structure of
    scores.json or the file cannot be written, ``MissingExtra`` without matplotlib, or without Pillow where there are
    frames.
    """
    page = render_report(content, limits)
    make_folder(path.parent)
    if path.is_dir():
        raise InputError("a folder stands where the report is to be written", where=str(path), remedy="name a file")
    write_text(path, page)


def render_report(content: ReportContent, limits: Limits = _DEFAULT_LIMITS) -> str:
    """The page as text; see ``write_report``."""
    items = [shown_items(section, limits) for section in content.sections]
    album = plan_album([a.frames for some in items for item in some for a in item.answers], limits)
    chapters = []
    for place, (section, some) in enumerate(zip(content.sections, items, strict=True), start=1):
        anchor = f"s{place}"
        results = read_results(section)
        figures = tuple(_Figure(p, Markup(inline_svg(p))) for p in plots_of(section, results, anchor))  # noqa: S704
        chapters.append(
            _Chapter(
                anchor,
                section,
                results,
                figures,
                rest=_rest(section, results),
                about=tuple({run.model: run.about for run in section.runs if run.about}.items()),
                unusable=_by_clip(section.failures),
                browser=browse(section, some, album, anchor),
            )
        )
    style, script = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            content=content,
            chapters=chapters,
            album=album,
            limits=limits,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            policy=(
                f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
                "base-uri 'none'; form-action 'none'"
            ),
        )
    )


def _by_clip(failures: Sequence[Failure]) -> dict[str, tuple[Failure, ...]]:
    """The failures of each clip; what went wrong in the same way is said once, with all its conditions."""
    found: dict[str, dict[tuple[str, str], dict[str, None]]] = {}
    for failure in failures:
        conditions = found.setdefault(failure.clip, {}).setdefault((failure.kind, failure.message), {})
        conditions.update(dict.fromkeys(failure.conditions.split(", ")))
    return {
        clip: tuple(Failure(clip, ", ".join(conditions), *what) for what, conditions in ways.items())
        for clip, ways in found.items()
    }


def _rest(section: Section, results: Results) -> tuple[str, ...]:
    prefixes = tuple(group.prefix for group in section.groups)
    every = (*results.series, *results.question_only)
    names = dict.fromkeys(name for series in every for name in series.metrics)
    return tuple(n for n in names if n != section.main_metric and not n.startswith(prefixes))


@cache
def _asset(name: str) -> str:
    return "\n" + (resources.files("onlooker.report") / "page" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _finalize(value: object) -> object:
    """Every string that a template prints becomes printable first; markup of ours passes."""
    return wording.printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("onlooker.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        sentence=wording.sentence,
        named=wording.named,
        fold=wording.fold,
        breakable=_breakable,
        thousands=wording.thousands,
        cost=wording.cost_of,
        duration=wording.duration_of,
        megabytes=wording.megabytes,
    )
    environment.globals.update(
        counted=wording.counted,
        score_of=wording.score_of,
        interval_of=wording.interval_of,
        figure_of=wording.figure_of,
        verdicts=VERDICTS,
        scale_of=_scale_of,
        max_columns=MAX_SERIES,
    )
    return environment


def _breakable(text: str) -> Markup:
    """A name that may break after its punctuation, so that a narrow column need not break it within a word."""
    escaped = str(escape(wording.printable(text)))
    return Markup(re.sub(r"([:/_.@-])(?=[^:/_.@ -])", r"\1<wbr>", escaped))  # noqa: S704 - escaped above


def _scale_of(section: Section, metric: str) -> str:
    """How a metric outside all groups is printed: one named like the main metric, or like the metrics of a group of
    percentages, as a percentage, else as given."""
    shares = [section.main_metric, *(group.prefix for group in section.groups if group.scale == "percent")]
    return "percent" if metric.partition(".")[0] in {name.partition(".")[0] for name in shares} else "own"
