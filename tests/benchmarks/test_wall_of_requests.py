"""The wall: what only scorers may see reaches no request, under any condition, nor anything that a run writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.catalog import load_benchmark
from onlooker.models.request import Reply, Request
from onlooker.models.scripted import ScriptedModel
from tests.benchmarks.small_bundles import FAMILIES, conditions_of, make_bundle, markers, session_of


@pytest.mark.parametrize("family", FAMILIES)
def test_no_private_word_reaches_a_model_or_a_file_of_the_run(
    tmp_path: Path, family: str, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle = make_bundle(tmp_path, family)
    benchmark = load_benchmark(family)
    words = markers(bundle)
    assert len(words) >= 20, "the bundle's private fields are marked"
    asked: list[Request] = []

    def echo(request: Request) -> Reply:
        asked.append(request)
        return Reply(request.text, "ok")

    model = ScriptedModel(echo, script_id="echo")
    conditions = conditions_of(benchmark, bundle, ("text", "image", "sound", "video"))
    assert {c.name for c in benchmark.conditions} <= {c.name for c in conditions}
    assert sum("+" in c.name for c in conditions) >= 7
    outcome = session_of(bundle, tmp_path / "run", model, conditions, benchmark).work()
    failures = (tmp_path / "run" / "failures.jsonl").read_text(encoding="utf-8").splitlines()
    failed = {name for line in failures for name in json.loads(line)["conditions"]}
    # These show a picture alone, and one episode has none.
    assert failed == ({"visual_only", "full+no_sound"} if family == "psycheme" else set())
    assert outcome.failed_calls == 0
    told = "".join(repr(part) for request in asked for part in request.parts) + "".join(r.system or "" for r in asked)
    said = "".join(capfd.readouterr())
    files = {file.name: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}
    assert {"plan.json", "requests.jsonl", "predictions.jsonl", "run.json"} <= set(files)
    for word in words:
        assert word not in told, word
        assert word not in said, word
        for name, content in files.items():
            assert word.encode() not in content, (word, name)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_goes_wrong_tells_no_private_word(tmp_path: Path, family: str, capfd: pytest.CaptureFixture[str]) -> None:
    """All media are gone: every call that shows any fails, and its reason stands in the run's files."""
    bundle = make_bundle(tmp_path, family)
    benchmark = load_benchmark(family)
    for file in (bundle.path / "media").iterdir():
        file.unlink()
    conditions = conditions_of(benchmark, bundle, ("text", "image", "sound", "video"))
    model = ScriptedModel.by_rule("echo")
    outcome = session_of(bundle, tmp_path / "run", model, conditions, benchmark).work()
    assert outcome.failed_media > 0
    said = "".join(capfd.readouterr()).encode()
    content = said + b"".join(file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file())
    assert not [word for word in markers(bundle) if word.encode() in content]
