"""The layers of the house, held by reading the imports of every file (docs/decisions/0001-the-house.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import onlooker

ROOT = Path(onlooker.__file__).parent

LAYERS = {
    "errors": 0,
    "assets": 0,
    "records": 0,
    "text": 1,
    "stats": 1,
    "media": 1,
    "models": 1,
    "protocol": 2,
    "run": 3,
    "judge": 3,
    "score": 3,
    "construct": 3,
    "report": 3,
    "annotate": 3,
    "benchmarks": 3,
    "catalog": 4,
    "demo": 4,
    "interop": 4,
    "cli": 5,
}
# Answers and ratings: only what scores, checks or shows them to their owner may read them.
PRIVATE = "onlooker.records.private"
MAY_READ_ANSWERS = {
    "records/private.py",
    "records/rules.py",
    "records/schema.py",
    "records/validate.py",
    "protocol/scoring.py",
    "protocol/ground.py",
    "protocol/judging.py",
}
# annotate/: forms that declare it show references to people who grade; one file reads them (annotate/material.py).
MAY_READ_ANSWERS_BELOW = ("score/", "judge/", "cli/", "report/", "annotate/")


def imports(path: Path, *, for_types: bool = True) -> Iterator[str]:
    """Every module of onlooker that a file names in an import, also inside functions; ``for_types``: also those that
    are read by the type checker only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unread = {
        inner
        for node in ast.walk(tree)
        if not for_types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in unread:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "onlooker")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module and node.module.split(".")[0] == "onlooker":
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(module: str) -> str | None:
    """The top room of a dotted module name; None for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else None


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def broken_rules(path: Path, module_imports: list[str]) -> Iterator[str]:
    """The rules that a file breaks, in words."""
    relative = path.relative_to(ROOT)
    here = relative.parts[0].removesuffix(".py")
    if here == "__init__":
        yield from (f"{relative} imports {m}" for m in module_imports if room(m))
        return
    level = LAYERS[here]
    for module in module_imports:
        there = room(module)
        if there is None or there == here:
            same_family = len(relative.parts) < 3 or module.split(".")[2:3] == [relative.parts[1]]
            if here == "benchmarks" and there == here and not same_family:
                yield f"{relative} imports another family: {module}"
            continue
        if LAYERS[there] > level:
            yield f"{relative} (layer {level}) imports {module} (layer {LAYERS[there]})"
        elif LAYERS[there] == level and level in (1, 3):
            yield f"{relative} imports its neighbour {module}"


def test_every_room_has_a_layer() -> None:
    rooms = {p.relative_to(ROOT).parts[0].removesuffix(".py") for p in files()} - {"__init__"}
    assert rooms == set(LAYERS)


def test_no_import_goes_up_or_sideways() -> None:
    broken = [rule for path in files() for rule in broken_rules(path, list(imports(path)))]
    assert broken == []


def test_the_rules_catch_what_they_are_for() -> None:
    def rules(file: str, *modules: str) -> list[str]:
        return list(broken_rules(ROOT / file, list(modules)))

    assert rules("text/choices.py", "onlooker.media.card")
    assert rules("run/plan.py", "onlooker.benchmarks.sivbench.protocol")
    assert rules("run/plan.py", "onlooker.score.engine")
    assert rules("benchmarks/sivbench/protocol.py", "onlooker.benchmarks.mmhbench.taxonomy")
    assert rules("records/jsonl.py", "onlooker.protocol.prompt")
    assert not rules("run/plan.py", "onlooker.records.public", "onlooker.media.card", "onlooker.run.ledger")
    assert not rules("benchmarks/sivbench/protocol.py", "onlooker.benchmarks.sivbench.taxonomy")


def test_the_wall_between_models_and_answers() -> None:
    reading = {p.relative_to(ROOT).as_posix() for p in files() if any(m.startswith(PRIVATE) for m in imports(p))}
    scorers = {
        r for r in reading if r.startswith("benchmarks/") and r.endswith(("/scoring.py", "/answers.py", "/rubrics.py"))
    }
    others = {r for r in reading - scorers - MAY_READ_ANSWERS if not r.startswith(MAY_READ_ANSWERS_BELOW)}
    assert others == set()


def test_what_asks_models_cannot_reach_answers_through_others() -> None:
    """Import of the run engine and of the models, with all they import in turn, loads no answers."""
    graph = {_module(p): set(imports(p, for_types=False)) for p in files()}
    reached: set[str] = set()
    waiting = [m for m in graph if m.startswith(("onlooker.run", "onlooker.models", "onlooker.media"))]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting.extend(m for m in graph.get(module, ()) if m in graph)
    assert PRIVATE not in reached


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
