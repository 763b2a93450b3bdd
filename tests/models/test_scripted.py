"""Scripts answer as they are written, or say which line is wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.request import Options, Request, Text
from onlooker.models.scripted import ScriptedModel

ASKED = Request((Text("Who smiles?\n"), Options(("a", "b", "c"), ("Ann", "Bob", "Cyd"))))


def ask(model: ScriptedModel, request: Request = ASKED) -> tuple[str, str]:
    reply = asyncio.run(model.ask(request))
    return reply.text, reply.status


def script(folder: Path, text: str) -> ScriptedModel:
    path = folder / "script.jsonl"
    path.write_text(text, encoding="utf-8")
    return ScriptedModel.from_file(path)


def test_rules() -> None:
    assert ask(ScriptedModel.by_rule("first")) == ("Answer: a", "ok")
    assert ask(ScriptedModel.by_rule("last")) == ("Answer: c", "ok")
    assert ask(ScriptedModel.by_rule("echo")) == ("Who smiles?\na. Ann\nb. Bob\nc. Cyd", "ok")
    with pytest.raises(ModelError, match="has none"):
        ask(ScriptedModel.by_rule("first"), Request((Text("Say something."),)))


def test_the_first_line_that_fits_answers(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        '{"match": "frowns", "reply": "Answer: c"}\n'
        '{"match": "smiles", "reply": "Answer: b"}\n'
        '{"reply": "", "status": "refused"}\n',
    )
    assert ask(model) == ("Answer: b", "ok")
    assert ask(model, Request((Text("Who frowns?"),))) == ("Answer: c", "ok")
    assert ask(model, Request((Text("Who?"),))) == ("", "refused")


def test_failures_by_name_and_only_so_many_times(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        '{"times": 2, "fail": "transient", "retry_after_s": 3.5}\n'
        '{"times": 3, "fail": "quota"}\n{"times": 4, "fail": "error"}\n{"reply": "Answer: a"}\n',
    )
    for _ in range(2):
        with pytest.raises(TransientModelError) as caught:
            ask(model)
        assert caught.value.retry_after_s == 3.5
    with pytest.raises(QuotaExhausted):
        ask(model)
    with pytest.raises(ModelError, match="error by script"):
        ask(model)
    assert ask(model) == ("Answer: a", "ok")
    with pytest.raises(TransientModelError):
        ask(model, Request((Text("another request counts for itself"),)))


def test_a_json_array_is_a_script_too(tmp_path: Path) -> None:
    assert ask(script(tmp_path, '[{"reply": " "}]')) == (" ", "empty")


def test_no_line_that_fits_is_an_error_not_a_guess(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no line of the script fits"):
        ask(script(tmp_path, '{"match": "frowns", "reply": "Answer: a"}'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the script is empty"),
        ('{"reply": "a"}\n{"replay": "b"}\n', r"jsonl:2: Extra inputs .* \(replay\)"),
        ('{"reply": 3}', r"jsonl:1: .*valid string \(reply\)"),
        ('[{"reply": "a"}, {"status": "fine"}]', r"entry 2: .*\(status\)"),
        ("[1", "not JSON"),
        ("nonsense", "jsonl:1: Invalid JSON"),
    ],
)
def test_a_wrong_script_names_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        script(tmp_path, text)


def test_a_changed_script_is_another_model(tmp_path: Path) -> None:
    before = script(tmp_path, '{"reply": "a"}').fingerprint
    assert script(tmp_path, '{"reply": "a"}').fingerprint == before
    assert script(tmp_path, '{"reply": "b"}').fingerprint != before
    assert ScriptedModel.by_rule("first").fingerprint != ScriptedModel.by_rule("last").fingerprint
