"""Prices, estimates, budgets and the cost ledger of runs (R07, R15, R19; ReactionBench's cost ledger)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from onlooker.cli.main import main
from onlooker.errors import InputError
from onlooker.models.book import Try
from onlooker.models.prices import BUILT_IN, Price, Prices, estimate_input_tokens
from onlooker.models.request import Image, Reply, Request, Sound, Text
from onlooker.records.bundle import Bundle
from onlooker.run.estimate import estimate
from onlooker.run.execute import Session
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.merge import shard_folder
from onlooker.run.shards import Shard
from onlooker.run.spending import collect, document
from tests.run.test_session import Noting

MakeSession = Callable[..., Session]
# 1 USD for a token in, 2 for one out; "noting" answers with 7 in and 1 out: 9 USD a call.
DEAR = Prices((Price(model="scripted", input=1e6, output=2e6),))


def test_prices_by_hand() -> None:
    price = Price(model="m", input=2.0, cached=0.5, output=8.0, up_to_input_tokens=1000)
    assert price.cost_usd(1000, 100, 400) == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 8) / 1e6)
    assert price.cost_usd(1000, 100, None) == pytest.approx((1000 * 2 + 100 * 8) / 1e6)
    assert price.cost_usd(None, 100, None) is None
    assert price.cost_usd(1001, 1, None) is None  # another price, which is not known
    assert Price(model="m", input=2.0, output=8.0).cost_usd(10, 0, 10) == pytest.approx(20 / 1e6)


def test_the_first_price_that_fits_counts_and_others_are_unknown(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "- {model: 'openai:gpt-5', endpoint: 'http://localhost*', input: 0.1, output: 0.2}\n"
        "- {model: 'openai:qwen*', input: 0.4, output: 1.2, source: my contract, date: 2026-11-01}\n".replace(
            "2026-11-01", "'2026-11-01'"
        ),
        encoding="utf-8",
    )
    prices = Prices.read(file)

    def paid(model: str, path: str) -> float | None:
        found = prices.find(model, path)
        return None if found is None else found.input

    assert paid("openai:gpt-5", "http://localhost:8000/v1") == 0.1
    assert paid("openai:gpt-5", "https://api.openai.com/v1") == 1.25
    assert paid("openai:gpt-5", "https://openrouter.example/v1") is None  # somebody else's price
    assert paid("openai:qwen-vl", "https://anywhere") == 0.4
    assert paid("openai:new-model", "https://api.openai.com/v1") is None
    assert paid("embedded", "embedded") == paid("hf:folder", "x") == paid("scripted:first", "scripted") == 0.0
    assert all(price.source for price in BUILT_IN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: m", "expected a list of prices"),
        ("- {model: m, input: -1, output: 1}", r"entry 1: .*\(input\)"),
        ("- {model: m, input: 1}", r"entry 1: .*\(output\)"),
        ("- {model: m, input: 1, output: 1, inptu: 2}", r"\(inptu\)"),
        ("- {model: m, input: .nan, output: 1}", r"\(input\)"),
        ("- [", "cannot be read"),
    ],
)
def test_a_wrong_price_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        Prices.read(tmp_path / "p.yaml")


def test_tokens_by_rule() -> None:
    request = Request((Text("abcdef"), Text("你好"), Image(b"", 0.0, ""), Sound(b"", 1.0, 3.5, "")), system="abc")
    assert estimate_input_tokens(request) == 1 + 2 + 2 + 350 + 80 + 1


def test_an_estimate_sends_nothing_and_counts_what_is_owed(session: MakeSession) -> None:
    model = Noting()
    made = session(model, "origin", "text_only", prices=DEAR)
    origin, words = estimate(made)
    assert model.asked == []
    assert not made.run_dir.exists()
    assert (origin.calls, origin.looked_at, origin.unreadable, origin.images) == (5, 5, 2, 48)
    assert (words.calls, words.unreadable, words.images) == (5, 0, 0)
    # The replies at their cap: as many tokens as the condition allows, for each readable call.
    cap = made.plan.conditions[1].max_output_tokens
    assert words.output_tokens == 5 * cap
    assert words.cost_usd == words.input_tokens + 2 * words.output_tokens
    made.work()
    assert [(e.calls, e.cost_usd) for e in estimate(made)] == [(2, 0.0), (0, 0.0)]  # what cannot be read is still owed
    unknown = session(Noting(name="openai:nobody-knows"), "text_only", run="other")
    assert [e.cost_usd for e in estimate(unknown)] == [None]


def test_an_estimate_from_some_calls_stands_for_all(session: MakeSession) -> None:
    made = session(Noting(), "text_only", prices=DEAR)
    [some], [all_] = estimate(made, looked_at=2), estimate(made)
    assert (some.calls, some.looked_at) == (5, 2)
    assert some.input_tokens == pytest.approx(all_.input_tokens, rel=0.05)


def test_a_budget_holds_over_sessions_and_what_is_left_is_said(session: MakeSession) -> None:
    """9 USD a call; a call can cost 5 * 512 and more: with 1 USD more than that, two sessions stay below it."""
    cap = session(Noting(), "text_only").plan.conditions[0].max_output_tokens
    made = session(Noting(), "text_only", prices=DEAR, concurrency=1)
    [row] = estimate(made)
    assert row.cost_usd is not None
    most = row.cost_usd / row.calls + 1
    budget = most + 9 * 2  # room for the third call at most
    outcome = session(Noting(), "text_only", prices=DEAR, budget_usd=budget, concurrency=1).work()
    assert outcome.asked == 3
    assert outcome.left == 2
    assert outcome.stopped is not None
    assert "27.0000 of the budget" in outcome.stopped
    model = Noting()
    again = session(model, "text_only", prices=DEAR, budget_usd=budget, concurrency=1).work()
    assert (again.asked, len(model.asked)) == (0, 0)
    assert cap > 0


def test_a_cache_serves_other_runs(session: MakeSession, tmp_path: Path) -> None:
    """Cases R02 and R15: an unchanged run is all hits and costs nothing; a run of another condition is not."""
    first = session(Noting(), "origin", run="one", cache=tmp_path / "answers", prices=DEAR)
    first.work()
    model = Noting()
    second = session(model, "origin", run="two", cache=tmp_path / "answers", prices=DEAR)
    [row] = estimate(second)
    assert (row.calls, row.in_cache, row.cost_usd) == (5, 3, 0.0)
    outcome = second.work()
    assert model.asked == []
    assert (outcome.asked, outcome.hits) == (5, 3)
    one, two = ((s.run_dir / "predictions.jsonl").read_text().splitlines() for s in (first, second))
    for a, b in zip(one, two, strict=True):
        left, right = json.loads(a), json.loads(b)
        if left["status"] == "ok":
            assert (left.pop("cost_usd"), right.pop("cost_usd")) == (9.0, 0.0)
            assert left == right
    spent = {row.attempts: row for row in collect([first.run_dir, second.run_dir])}
    assert (spent[3].hits, spent[3].cost_usd, spent[3].input_tokens) == (3, 27.0, 21)
    other = Noting()
    session(other, "text_only", run="three", cache=tmp_path / "answers").work()
    assert len(other.asked) == 5


def test_the_cost_ledger_by_serving_path_model_and_role(session: MakeSession, tmp_path: Path) -> None:
    made = session(Noting(), "text_only", prices=DEAR)
    made.work()
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    reply = Reply("{}", "ok", 50, 5, 20)
    judged = Try("c", "judge q1", "judge", "https://j", "openai:j", 0.0, 2.0, "ok", "", reply)
    ledger.book.note(judged, keep=True)
    ledger.close()
    rows = collect([made.run_dir])
    assert [(r.path, r.model, r.role, r.calls, r.cost_usd, r.unpriced) for r in rows] == [
        ("https://j", "openai:j", "judge", 1, None, 1),
        ("scripted", "scripted", "evaluated", 5, 45.0, 0),
    ]
    whole = document(rows)["total"]
    assert (whole["calls"], whole["input_tokens"], whole["cached_tokens"], whole["cost_usd"]) == (6, 85, 20, 45.0)
    assert whole["unpriced"] == 1
    out = tmp_path / "spent.json"
    assert main(["ledger", str(made.run_dir), "--out", str(out)]) == 0
    assert json.loads(out.read_text()) == document(rows)
    # The judge is in no total of the run's own answers.
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    assert ledger.totals()["attempts"] == 5
    ledger.close()


def test_the_cost_ledger_says_unknown(session: MakeSession, capsys: pytest.CaptureFixture[str], bundle: Bundle) -> None:
    made = session(Noting(name="openai:nobody-knows"), "text_only")
    made.work()
    assert main(["ledger", str(made.run_dir)]) == 0
    said = capsys.readouterr().out
    assert "unknown" in said
    assert "5 replies have an unknown cost" in said
    assert main(["ledger", str(bundle.path)]) == 1


def test_options_out_of_range_are_wrong_usage(bundle: Bundle, tmp_path: Path) -> None:
    fixed = ["eval", str(bundle.path), "--model", "scripted:first", "--out", str(tmp_path / "run")]
    for option in (
        ("--concurrency", "0"),
        ("--deadline", "0"),
        ("--limit", "0"),
        ("--temperature", "-1"),
        ("--temperature", "nan"),
        ("--budget", "-1"),
        ("--top-p", "1.5"),
        ("--thinking", "-1"),
        ("--repeat", "0"),
        ("--shard", "0/3"),
        ("--accepts", "smell"),
        ("--seed", "1", "--repeat", "2"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*fixed, *option])
        assert stopped.value.code == 2, option
    assert not (tmp_path / "run").exists()


def test_eval_estimates_repeats_and_refuses_a_budget_without_a_price(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    fixed = ["eval", str(bundle.path), "--model", "scripted:first", "--out", str(run), "--condition", "text_only"]
    assert main([*fixed, "--estimate", "--repeat", "3"]) == 0
    said = capsys.readouterr().out
    assert "15" in said
    assert "nothing was sent" in said
    assert not run.exists()
    assert main([*fixed, "--repeat", "3"]) == 0
    assert len((run / "predictions.jsonl").read_text().splitlines()) == 15
    remote = ["eval", str(bundle.path), "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1"]
    remote += ["--condition", "text_only", "--out", str(tmp_path / "r"), "--budget", "5"]
    capsys.readouterr()
    assert main(remote) == 1
    assert "--prices" in capsys.readouterr().err


def test_a_ledger_named_twice_counts_once_and_shards_are_found(session: MakeSession, tmp_path: Path) -> None:
    for number in (1, 2):
        folder = shard_folder(tmp_path / "run", number, 2)
        session(Noting(), "text_only", run=str(folder), shard=Shard(number, 2), prices=DEAR).work()
    [row] = collect([tmp_path / "run"])
    assert (row.calls, row.cost_usd) == (5, 45.0)
    [again] = collect([tmp_path / "run", shard_folder(tmp_path / "run", 1, 2), tmp_path / "run" / "."])
    assert again == row


def test_an_estimate_of_batches_is_at_their_price_and_of_draws_knows_them(session: MakeSession, tmp_path: Path) -> None:
    half = Prices((Price(model="scripted", input=1e6, output=2e6, batch=0.5),))
    [single] = estimate(session(Noting(), "text_only", prices=half))
    [batch] = estimate(session(Noting(), "text_only", prices=half, poll_s=1.0))
    assert single.cost_usd is not None
    assert batch.cost_usd == single.cost_usd / 2
    assert [e.cost_usd for e in estimate(session(Noting(), "text_only", prices=DEAR, poll_s=1.0))] == [None]
    session(Noting(), "text_only", run="one", cache=tmp_path / "answers").work()
    first, drawn = estimate(session(Noting(), "text_only", "text_only+again_1", cache=tmp_path / "answers"))
    assert (first.in_cache, drawn.in_cache) == (5, 0)


def test_a_price_of_google_is_for_google(tmp_path: Path) -> None:
    def found(path: str) -> Price | None:
        return Prices().find("google:gemini-2.5-pro", path)

    assert found("https://generativelanguage.googleapis.com") is not None
    assert found("https://a-proxy.example/gemini") is None
    (tmp_path / "p.yaml").write_text("- {model: m, input: 1, output: 1, date: 2026-11-01}\n", encoding="utf-8")
    assert Prices.read(tmp_path / "p.yaml").entries[0].date == "2026-11-01"
