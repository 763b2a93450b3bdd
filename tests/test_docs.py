"""The documentation against the code: every command, option, file and error kind is written down, or this fails."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from onlooker import errors
from onlooker.catalog import families, load_benchmark
from onlooker.cli.main import make_parser

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def commands(parser: argparse.ArgumentParser, name: str = "onlooker") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser, sub-commands included."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, child in action.choices.items():
                yield f"{name} {word}", child
                yield from commands(child, f"{name} {word}")


def section(text: str, heading: str) -> str:
    """What stands under a heading up to the next of the same rank."""
    found = re.search(rf"^## `{re.escape(heading)}`[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"docs/commands.md has no section for {heading}"
    return found[1]


@pytest.mark.parametrize("command", [name for name, _ in commands(make_parser())])
def test_every_command_and_option_is_documented(command: str) -> None:
    text = section((DOCS / "commands.md").read_text(encoding="utf-8"), command)
    parser = dict(commands(make_parser()))[command]
    options = {option for action in parser._actions for option in action.option_strings if option.startswith("--")}
    missing = {option for option in options - {"--help"} if f"`{option}" not in text}
    assert missing == set()
    named = set(re.findall(r"`(--[a-z-]+)", text))
    assert named <= options, "documented, but no such option"


def test_every_error_kind_is_documented() -> None:
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    kinds = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)}
    assert {kind for kind in kinds if f"`{kind}`" not in text} == set()
    assert {kind for kind in kinds if kind not in (errors.__doc__ or "")} == set()


def test_every_file_is_documented() -> None:
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    schemas = {path.name for path in (DOCS / "schemas").glob("*.json")}
    assert schemas
    assert {name for name in schemas if f"schemas/{name}" not in text} == set()
    written = {
        "plan.json",
        "ledger.sqlite",
        "requests.jsonl",
        "failures.jsonl",
        "run.json",
        "unreadable.jsonl",
        "scores.json",
    }
    assert {name for name in written if f"`{name}`" not in text} == set()


def test_every_condition_is_documented() -> None:
    for family in (f for f in families() if load_benchmark(f).conditions):
        card = (ROOT / "src/onlooker/benchmarks" / family / "README.md").read_text(encoding="utf-8")
        assert {c.name for c in load_benchmark(family).conditions if f"`{c.name}`" not in card} == set()


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md"), *(DOCS / "decisions").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"
