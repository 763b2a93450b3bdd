"""Tables for papers and programs: LaTeX (booktabs), Markdown and CSV of the same rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onlooker.protocol.analysis import Cell, Table
from onlooker.records.jsonl import write_text
from onlooker.records.results import OUTCOMES
from onlooker.report.figures import make_folder
from onlooker.report.wording import printable

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    # After the end of a row LaTeX reads these as an argument of it.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\n": " ",
    "\t": " ",
}
_MARKDOWN = {
    **{sign: f"\\{sign}" for sign in "\\`*_[]$#~|!"},
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "\n": "<br>",
}
# What a spreadsheet would take for a formula, behind any apostrophes (which then stay countable).
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_LATEX_HEAD = "% Needs \\usepackage{booktabs}; letters beyond Latin need XeLaTeX or LuaLaTeX and a font with them.\n"


def write_tables(tables: Sequence[Table], folder: Path, name: str) -> list[Path]:
    """Write ``NAME-tableK.tex``, ``.md`` and ``.csv`` for every table, K from 1; the paths in that order.

    The same tables give the same bytes. Raises ``InputError`` where the folder cannot be made or written to.
    """
    make_folder(folder)
    paths = []
    for k, table in enumerate(tables, start=1):
        stem = f"{name}-table{k}"
        for ending, text in (
            ("tex", latex_table(table, f"tab:{stem}")),
            ("md", markdown_table(table)),
            ("csv", csv_table(table)),
        ):
            path = folder / f"{stem}.{ending}"
            write_text(path, text)
            paths.append(path)
    return paths


def score_sheets(scores: Mapping[str, Any], aside: str = "") -> list[Table]:
    """The content of ``scores.json`` as tables: the outcomes of all runs, then the metrics of each, fractions as 0..1.

    ``aside`` follows every title: what must be known about all the numbers.
    """
    runs = [(m, c, one) for m, conditions in scores["models"].items() for c, one in conditions.items()]
    counts = ("items", "seeds", *OUTCOMES)
    outcomes = tuple((model, condition, *(one["coverage"][n] for n in counts)) for model, condition, one in runs)
    return [
        Table(f"Outcomes{aside}", ("model", "condition", *counts), outcomes),
        *(
            Table(
                f"{model}, {condition}{aside}",
                ("metric", "value", "low", "high", "n"),
                tuple((name, m["value"], m["low"], m["high"], m["n"]) for name, m in one["metrics"].items()),
            )
            for model, condition, one in runs
        ),
    ]


def latex_table(table: Table, label: str) -> str:
    """A ``table`` with ``booktabs`` rules: text escaped, numbers of four significant digits, undefined a dash.

    A line break inside a cell becomes a space: an ``l`` column has no lines.
    """
    columns = "".join("r" if numeric else "l" for numeric in _numeric(table))
    head, *body = [
        " & ".join(row) + r" \\"
        for row in ([_latex(c) for c in table.columns], *([*map(_latex, r)] for r in table.rows))
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return _LATEX_HEAD + "\n".join(lines) + "\n"


def markdown_table(table: Table) -> str:
    """The title in bold and a pipe table: text escaped, numbers of four significant digits, undefined a dash."""
    rule = ["---:" if numeric else "---" for numeric in _numeric(table)]
    rows = [[_markdown(c) for c in table.columns], rule, *([*map(_markdown, row)] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return f"**{_markdown(table.title)}**\n\n" + "\n".join(lines) + "\n"


def csv_table(table: Table) -> str:
    """RFC 4180 with a head: numbers in full (the shortest text that reads back as the same), undefined empty.

    Text that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-``, ``@``, tab or return, behind any
    apostrophes) gets an apostrophe in front. Lone surrogates, which UTF-8 does not have, are written as ``\\udXXX``.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)  # its defaults are RFC 4180: commas, quotes doubled, CRLF
    writer.writerow([_csv(cell) for cell in table.columns])
    writer.writerows([_csv(cell) for cell in row] for row in table.rows)
    return out.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")


def shown(cell: Cell) -> str:
    """A cell as a person reads it: four significant digits, a dash where undefined."""
    if cell is None:
        return "-"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def numeric_columns(table: Table) -> list[int]:
    """The places of the columns that hold no text: they are set to the right."""
    return [k for k, numeric in enumerate(_numeric(table)) if numeric]


def _numeric(table: Table) -> list[bool]:
    return [bool(table.rows) and not any(isinstance(r[k], str) for r in table.rows) for k in range(len(table.columns))]


def _latex(cell: Cell) -> str:
    if cell is None:
        return "--"
    if not isinstance(cell, str):
        return f"${shown(cell)}$" if cell < 0 else shown(cell)
    text = "".join(_LATEX.get(char, char) for char in printable(cell))
    return text.replace("--", "-{}-{}")  # no ligature: the name of an option keeps its two hyphens


def _markdown(cell: Cell) -> str:
    if not isinstance(cell, str):
        return "–" if cell is None else shown(cell)
    return "".join(_MARKDOWN.get(char, char) for char in printable(cell))


def _csv(cell: Cell) -> str | float | int:
    if cell is None:
        return ""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
