"""Runs through a batch API: submitted once whatever happens, fetched by whoever comes later."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from onlooker.errors import InputError, TransientModelError
from onlooker.models.catalog import open_model
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.options import ModelOptions
from onlooker.models.prices import Price, Prices
from onlooker.models.request import Request
from onlooker.run.execute import Session
from onlooker.run.ledger import LEDGER_NAME, Entry, Ledger
from tests.models.fake_server import Answer, Call, FakeServer
from tests.run.test_session import rows, without_times

MakeSession = Callable[..., Session]


def said(call: Call) -> Answer:
    return Answer(f"Answer: A ({call.sha256[:6]})")


def model_at(server: FakeServer) -> OpenAIModel:
    model = open_model("openai:m", ModelOptions(base_url=server.url))
    assert isinstance(model, OpenAIModel)
    return model


def test_a_batch_gives_the_rows_that_single_calls_give(session: MakeSession) -> None:
    with FakeServer(said) as server:
        single = session(model_at(server), "origin", "text_only", run="single")
        single.work()
        asked = len(server.calls)
        made = session(model_at(server), "origin", "text_only", run="batch", poll_s=0.01)
        outcome = made.work()
        assert len(server.calls) == asked  # nothing went the other way
        assert len(server.batches.jobs) == 1
    assert (outcome.asked, outcome.failed_media, outcome.left) == (10, 2, 2)
    one, two = ([without_times(r) for r in rows(s.run_dir / "predictions.jsonl")] for s in (single, made))
    assert [{**r, "raw": ""} for r in one] == [{**r, "raw": ""} for r in two]
    assert all(r["raw"].startswith("Answer: A") for r in two if r["status"] == "ok")
    requests = [[{**r, "details": None} for r in rows(s.run_dir / "requests.jsonl")] for s in (single, made)]
    assert requests[0] == requests[1]


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours catches it."""


@pytest.mark.parametrize("moment", ["after submit", "before submit", "while polling", "while fetching"])
def test_killed_at_any_moment_the_same_batch_is_fetched(
    session: MakeSession, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    from onlooker.models.batch_openai import OpenAIBatch

    def kill(name: str, *, before: bool) -> None:
        real = getattr(OpenAIBatch, name)

        async def killed(self: OpenAIBatch, *given: object) -> object:
            if not before:
                await real(self, *given)
            raise Killed

        monkeypatch.setattr(OpenAIBatch, name, killed)

    with FakeServer(said) as server:
        with monkeypatch.context() as patched:
            monkeypatch = patched
            match moment:
                case "before submit":
                    kill("submit", before=True)
                case "after submit":
                    kill("submit", before=False)
                case "while polling":
                    kill("poll", before=True)
                case _:
                    kill("fetch", before=False)
            with pytest.raises(Killed):
                session(model_at(server), "text_only", poll_s=0.01).work()
        outcome = session(model_at(server), "text_only", poll_s=0.01).work()
        assert (outcome.asked, outcome.left) == (5, 0)
        assert len(server.batches.jobs) == 1
        again = session(model_at(server), "text_only", poll_s=0.01).work()
        assert (again.asked, len(server.batches.jobs)) == (0, 1)


def test_a_submit_whose_answer_was_lost_is_not_submitted_again(
    session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onlooker.models.batch_openai import OpenAIBatch

    real = OpenAIBatch.submit

    async def cut(self: OpenAIBatch, calls: Sequence[tuple[str, Request]]) -> str:
        await real(self, calls)
        raise TransientModelError("the connection failed")

    monkeypatch.setattr(OpenAIBatch, "submit", cut)
    with FakeServer(said) as server:
        outcome = session(model_at(server), "text_only", poll_s=0.01).work()
        assert (outcome.asked, outcome.left, len(server.batches.jobs)) == (5, 0, 1)


def test_what_a_batch_did_not_carry_out_stays_owed_and_is_asked_later(session: MakeSession) -> None:
    with FakeServer(said) as server:
        server.batches.unasked = 2
        outcome = session(model_at(server), "text_only", poll_s=0.01).work()
        assert (outcome.asked, outcome.left) == (3, 2)
        server.batches.unasked = 0
        later = session(model_at(server), "text_only").work()  # call by call this time
        assert (later.asked, later.left, len(server.calls)) == (2, 0, 2)


def test_a_batch_that_fails_as_a_whole_loses_nothing(session: MakeSession) -> None:
    with FakeServer(said) as server:
        server.batches.failed = True
        outcome = session(model_at(server), "text_only", poll_s=0.01).work()
        assert (outcome.asked, outcome.left) == (0, 5)
        server.batches.failed = False
        assert session(model_at(server), "text_only", poll_s=0.01).work().left == 0


def test_a_budget_holds_for_batches_and_their_cost_is_that_of_a_batch(session: MakeSession) -> None:
    half = Prices((Price(model="openai:m", input=0.0, output=1e6, batch=0.5),))
    with FakeServer(said) as server:
        made = session(model_at(server), "text_only", prices=half, poll_s=0.01)
        cap = made.plan.conditions[0].max_output_tokens
        # Each call can cost cap / 2 USD: three fit.
        limited = session(model_at(server), "text_only", prices=half, poll_s=0.01, budget_usd=cap / 2 * 3 + 1)
        outcome = limited.work()
        assert outcome.stopped is not None
        assert "budget" in outcome.stopped
        [job] = server.batches.jobs.values()
        assert len(job.rows) == 3
        session(model_at(server), "text_only", prices=half, poll_s=0.01).work()
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    [spent] = ledger.book.spending()
    ledger.close()
    assert spent.path.endswith("(batch)")
    assert spent.output_tokens is not None
    assert spent.cost_usd == spent.output_tokens / 2


def test_a_model_without_a_batch_api_says_so(session: MakeSession) -> None:
    from onlooker.models.scripted import ScriptedModel

    with pytest.raises(InputError, match="no batch API"):
        session(ScriptedModel.by_rule("first"), "text_only", poll_s=0.01).work()


def test_a_run_with_a_batch_under_way_is_not_asked_call_by_call(
    session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is paid for: the same calls one by one would be paid for twice."""
    from onlooker.models.batch_openai import OpenAIBatch

    async def killed(self: OpenAIBatch, handle: str) -> object:
        raise Killed

    with FakeServer(said) as server:
        with monkeypatch.context() as patched:
            patched.setattr(OpenAIBatch, "poll", killed)
            with pytest.raises(Killed):
                session(model_at(server), "text_only", poll_s=0.01).work()
        with pytest.raises(InputError, match=r"paid for twice.*--batch"):
            session(model_at(server), "text_only").work()
        assert server.calls == []
        assert session(model_at(server), "text_only", poll_s=0.01).work().left == 0
        assert session(model_at(server), "text_only").work().left == 0  # nothing is under way any more


def test_killed_while_answers_are_written_no_cost_stands_twice(
    session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = Prices((Price(model="openai:m", input=0.0, output=1e6, batch=0.5),))
    real = Ledger.record
    written: list[Entry] = []

    def record(self: Ledger, *entries: Entry) -> None:
        written.extend(entries)
        if len(written) == 3:
            raise Killed
        real(self, *entries)

    with FakeServer(said) as server:
        with monkeypatch.context() as patched:
            patched.setattr(Ledger, "record", record)
            with pytest.raises(Killed):
                session(model_at(server), "text_only", prices=prices, poll_s=0.01).work()
        made = session(model_at(server), "text_only", prices=prices, poll_s=0.01)
        assert made.work().left == 0
        assert len(server.batches.jobs) == 1
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    [spent] = ledger.book.spending()
    ledger.close()
    assert (spent.calls, spent.attempts) == (5, 5)
    assert spent.cost_usd == sum(row["cost_usd"] for row in rows(made.run_dir / "predictions.jsonl"))


def test_a_draw_of_its_own_is_a_call_of_its_own_in_a_batch_too(session: MakeSession) -> None:
    """``again_1`` asks the same words once more, to see how much is chance: the first draw's answer is not it."""
    with FakeServer(said) as server:
        made = session(model_at(server), "text_only", "text_only+again_1", poll_s=0.01)
        assert made.work().left == 0
        [job] = server.batches.jobs.values()
        assert len(job.rows) == 10
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    [spent] = ledger.book.spending()
    ledger.close()
    assert (spent.calls, spent.hits) == (10, 0)


def test_a_batch_that_failed_as_a_whole_says_why(session: MakeSession) -> None:
    with FakeServer(said) as server:
        server.batches.failed = True
        outcome = session(model_at(server), "text_only", poll_s=0.01).work()
    assert outcome.stopped is not None
    assert "batch_1 failed as a whole" in outcome.stopped


def test_results_that_are_cut_off_are_fetched_again_and_not_paid_again(
    session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onlooker.models.batch import read_rows

    with FakeServer(said) as server:
        with monkeypatch.context() as patched:
            cut = "onlooker.models.batch_openai.read_rows"
            patched.setattr(cut, lambda text, where: read_rows(text[:-40], where))
            with pytest.raises(TransientModelError, match="line 5 of the batch's results"):
                session(model_at(server), "text_only", poll_s=0.01).work()
        outcome = session(model_at(server), "text_only", poll_s=0.01).work()
        assert (outcome.left, len(server.batches.jobs)) == (0, 1)
