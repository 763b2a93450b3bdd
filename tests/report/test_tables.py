"""Tables as LaTeX, Markdown and CSV: nothing in a name can break the file, and numbers stay numbers."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.protocol.analysis import Table
from onlooker.report.tables import csv_table, latex_table, markdown_table, score_sheets, write_tables

ODD = 'R&D 50% a_b $x$ c|d\nnext {#} ~^\\ <b> "q"'
TABLE = Table(
    "Scores of m_1 & co",
    ("run", "value", "n"),
    ((ODD, 1 / 3, 12), ("=SUM(A1)", None, 0), ("微笑 🙂", -0.25, 3), ("[x] * --draws", 1.0, 100000)),
)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_latex_escapes_names_and_sets_numbers() -> None:
    lines = latex_table(TABLE, "tab:one").splitlines()
    assert lines[0].startswith("% Needs \\usepackage{booktabs}")
    assert lines[1:9] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Scores of m\_1 \& co}",
        r"\label{tab:one}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"run & value & n \\",
        r"\midrule",
    ]
    assert lines[9] == (
        r"R\&D 50\% a\_b \$x\$ c\textbar{}d next \{\#\} \textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}b\textgreater{} ''q'' & 0.3333 & 12 \\"
    )
    assert lines[10:13] == [
        r"=SUM(A1) & -- & 0 \\",
        r"微笑 🙂 & $-0.25$ & 3 \\",
        r"{[}x{]} {*} -{}-{}draws & 1 & 100000 \\",
    ]
    assert lines[13:] == [r"\bottomrule", r"\end{tabular}", r"\end{table}"]


def test_markdown_escapes_names_and_keeps_a_row_a_line() -> None:
    lines = markdown_table(TABLE).splitlines()
    assert lines[:4] == ["**Scores of m\\_1 &amp; co**", "", "| run | value | n |", "| --- | ---: | ---: |"]
    assert lines[4] == (
        r"| R&amp;D 50% a\_b \$x\$ c\|d<br>next {\#} \~^\\ &lt;b&gt; "
        '"q" | 0.3333 | 12 |'
    )
    assert lines[5:] == ["| =SUM(A1) | – | 0 |", "| 微笑 🙂 | -0.25 | 3 |", r"| \[x\] \* --draws | 1 | 100000 |"]


def test_csv_keeps_numbers_in_full_and_leaves_undefined_empty() -> None:
    text = csv_table(TABLE)
    assert text.startswith("run,value,n\r\n")
    assert text.count("\r\n") == 5
    head, *rows = rows_of(text)
    assert head == ["run", "value", "n"]
    assert [float(value) if value else None for _, value, _ in rows] == [1 / 3, None, -0.25, 1.0]
    assert [name for name, _, _ in rows] == [ODD, "'=SUM(A1)", "微笑 🙂", "[x] * --draws"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "'=1", "''=1"])
def test_csv_hands_no_formula_to_a_spreadsheet(text: str) -> None:
    assert rows_of(csv_table(Table("t", ("a",), ((text,),))))[1] == [f"'{text}"]


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.integers(),
        ),
        max_size=5,
    )
)
def test_csv_reads_back_as_it_was(rows: list[tuple[str, float | None, int]]) -> None:
    found = rows_of(csv_table(Table("t", ("text", "value", "n"), tuple(rows))))[1:]
    # One apostrophe stands before what looks like a formula, and before nothing else.
    texts = [text[1:] if re.match(r"'+[=+\-@\t\r]", text) else text for text, _, _ in found]
    assert texts == [text for text, _, _ in rows]
    assert [float(value) if value else None for _, value, _ in found] == [value for _, value, _ in rows]
    assert [int(n) for _, _, n in found] == [n for _, _, n in rows]


@given(st.text(max_size=20))
def test_no_text_breaks_a_row(text: str) -> None:
    table = Table(text, (text, "n"), ((text, 1),))
    assert len(markdown_table(table).split("\n")) == 6
    row = latex_table(table, "t").split("\n")[9]
    assert len(re.findall(r"(?<!\\)&", row)) == 1
    # Every brace closes and no comment, maths or column hides in the row.
    bare = re.sub(r"\\[{}&%$#_]", "", row.removesuffix(r" \\"))
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[%$#_^~]", bare)
    csv_table(table).encode("utf-8")


def test_files_have_the_same_bytes_and_stand_in_order(tmp_path: Path) -> None:
    paths = write_tables([TABLE, TABLE], tmp_path / "a" / "b", "name")
    assert [p.name for p in paths] == [f"name-table{k}.{end}" for k in (1, 2) for end in ("tex", "md", "csv")]
    again = write_tables([TABLE, TABLE], tmp_path / "c", "name")
    assert [p.read_bytes() for p in paths] == [p.read_bytes() for p in again]
    assert paths[2].read_bytes() == csv_table(TABLE).encode("utf-8")
    assert r"\label{tab:name-table2}" in paths[3].read_text(encoding="utf-8")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be made"):
        write_tables([TABLE], tmp_path / "file" / "x", "name")


def test_a_table_without_rows_has_its_head() -> None:
    empty = Table("t", ("a", "b"), ())
    assert csv_table(empty) == "a,b\r\n"
    assert markdown_table(empty) == "**t**\n\n| a | b |\n| --- | --- |\n"
    assert "\\midrule\n\\bottomrule" in latex_table(empty, "x")


def test_scores_become_outcomes_and_a_table_a_run() -> None:
    outcomes = dict.fromkeys(("unparsed", "empty", "truncated", "refused", "error", "missing", "unjudged"), 0)
    run = {
        "coverage": {"items": 2, "seeds": 1, "scored": 2, **outcomes},
        "metrics": {"accuracy": {"value": 0.5, "low": None, "high": None, "n": 2}},
        "notes": [],
    }
    sheets = score_sheets({"models": {"m": {"c": run, "d": run}}}, " (read by x)")
    assert [s.title for s in sheets] == ["Outcomes (read by x)", "m, c (read by x)", "m, d (read by x)"]
    assert sheets[0].columns[:5] == ("model", "condition", "items", "seeds", "scored")
    assert sheets[0].rows[1] == ("m", "d", 2, 1, 2, 0, 0, 0, 0, 0, 0, 0)
    assert sheets[1].rows == (("accuracy", 0.5, None, None, 2),)
