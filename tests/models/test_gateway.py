"""Asked once, also across runs and processes; failures are no answers; budgets hold (R01, R02, R11-R13, R15, R20)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Coroutine, Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError, ModelError, OnlookerError, QuotaExhausted, TransientModelError
from onlooker.models.book import CallBook
from onlooker.models.gateway import Gateway
from onlooker.models.prices import Budget, Price, Prices
from onlooker.models.request import Modality, Reply, Request, Text
from tests.models.test_retry import Clock

FINE = Reply("Answer: A", "ok", 100, 10)
# 1 USD for a token in, 2 for one out: figures that can be checked by hand.
DEAR = Prices((Price(model="told", input=1e6, output=2e6),))


class Told:
    """Does what it is told: a list of replies and errors, then ``FINE`` for ever. Counts what is under way."""

    accepts: frozenset[Modality] = frozenset(("text",))
    at_once: int | None = None

    def __init__(self, *outcomes: Reply | OnlookerError, name: str = "told", endpoint: str = "https://one") -> None:
        self.name = name
        self.fingerprint: Mapping[str, str] = {"kind": "told", "endpoint": endpoint}
        self.outcomes = list(outcomes)
        self.asked = self.under_way = self.most_under_way = 0
        self.closed = False
        self.delay_s = 0.0

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.delay_s)
        finally:
            self.under_way -= 1
        outcome = self.outcomes.pop(0) if self.outcomes else FINE
        if isinstance(outcome, OnlookerError):
            raise outcome
        return outcome

    async def close(self) -> None:
        self.closed = True


def question(n: int = 0, **options: Any) -> Request:
    return Request((Text(f"Question {n}?"),), max_output_tokens=10, **options)


def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(main())


@pytest.fixture
def book(tmp_path: Path) -> Any:
    opened = CallBook(tmp_path / "run" / "b.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    opened = CallBook.shared(tmp_path / "cache")
    yield opened
    opened.close()


def test_the_same_content_is_asked_once(book: CallBook) -> None:
    model = Told()

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated")
        first = await gateway.ask(question(), label="one")
        again = await gateway.ask(question(), label="two")
        assert (first.hit, again.hit) == (False, True)
        assert first.reply == again.reply
        assert first.call_sha256 == again.call_sha256
        assert again.seconds == first.seconds
        assert not (await gateway.ask(question(), sample=1)).hit  # another draw of the same request
        await gateway.close()

    run(main)
    assert model.asked == 2
    assert model.closed
    [spent] = book.spending()
    assert (spent.calls, spent.attempts, spent.hits, spent.path) == (2, 2, 1, "https://one")


def test_many_tasks_that_want_the_same_wait_for_one(book: CallBook) -> None:
    model = Told()
    model.delay_s = 0.05

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", concurrency=50)
        answers = await asyncio.gather(*(gateway.ask(question(n % 2)) for n in range(40)))
        assert sum(a.hit for a in answers) == 38

    run(main)
    assert model.asked == 2


def test_when_the_asking_task_is_cancelled_another_takes_its_place(book: CallBook) -> None:
    model = Told()
    model.delay_s = 0.05

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated")
        first, second = (asyncio.create_task(gateway.ask(question())) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        answered = await second
        assert not answered.hit
        with pytest.raises(asyncio.CancelledError):
            await first

    run(main)
    assert [t["outcome"] for t in book.tries()] == ["cancelled", "ok"]


def test_all_who_wait_for_a_failing_call_hear_of_it(book: CallBook) -> None:
    model = Told(ModelError("too large"))
    model.delay_s = 0.02

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated")
        both = await asyncio.gather(*(gateway.ask(question()) for _ in range(2)), return_exceptions=True)
        assert [str(e) for e in both] == ["too large", "too large"]
        assert not (await gateway.ask(question())).hit  # a failure is no answer

    run(main)
    assert model.asked == 2


def test_an_empty_or_unusable_reply_is_asked_again_and_the_good_one_kept(book: CallBook, cache: CallBook) -> None:
    """Case R11: first '', second malformed, third good: three calls, the good one kept, the others logged."""
    model = Told(Reply("", "empty", 5, 0), Reply("{bad", "ok", 5, 1), Reply("{}", "ok", 5, 1))

    async def main() -> None:
        gateway = Gateway(model, book, role="judge", cache=cache)
        texts = []
        for _ in range(4):
            answered = await gateway.ask(question(), accept=lambda reply: reply.text == "{}")
            texts.append((answered.reply.text, answered.hit))
        assert texts == [("", False), ("{bad", False), ("{}", False), ("{}", True)]

    run(main)
    assert model.asked == 3
    assert [(t["outcome"], t["kept"]) for t in book.tries()] == [("empty", 0), ("ok", 0), ("ok", 1)]
    kept = cache.answer(next(book.tries())["call_sha256"])
    assert kept is not None
    assert kept.reply.text == "{}"


@pytest.mark.parametrize("status", ["empty", "error"])
def test_what_is_no_answer_never_enters_the_shared_cache(book: CallBook, cache: CallBook, status: Any) -> None:
    """A run may take an empty reply as an outcome of its own; other runs ask again."""
    model = Told(Reply("", status), Reply("", status))

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", cache=cache)
        assert not (await gateway.ask(question(), accept=lambda reply: True)).hit
        assert (await gateway.ask(question(), accept=lambda reply: True)).hit

    run(main)
    assert cache.answer(next(book.tries())["call_sha256"]) is None


def test_a_cache_serves_other_runs_at_no_cost_and_tells_models_and_endpoints_apart(
    tmp_path: Path, cache: CallBook
) -> None:
    """Case R01 and the hit of case R15."""
    prices = Prices((Price(model="*", input=1e6, output=2e6),))

    async def ask(name: str, endpoint: str, folder: str) -> tuple[bool, float | None]:
        own = CallBook(tmp_path / folder / "b.sqlite")
        gateway = Gateway(Told(name=name, endpoint=endpoint), own, role="evaluated", cache=cache, prices=prices)
        answered = await gateway.ask(question())
        await gateway.close()
        own.close()
        return answered.hit, answered.reply.cost_usd

    assert asyncio.run(ask("m", "https://one", "1")) == (False, 120.0)
    assert asyncio.run(ask("m", "https://one", "2")) == (True, 0.0)
    assert asyncio.run(ask("m", "https://two", "3")) == (False, 120.0)
    assert asyncio.run(ask("m", "https://one", "2")) == (True, 0.0)


SHARING = textwrap.dedent(
    """
    import asyncio, sys, time
    from pathlib import Path
    from tests.models.test_gateway import *

    class Logged(Told):
        async def ask(self, request):
            with open(sys.argv[1] + "/log", "a") as log:
                log.write(request.text + "\\n")
            await asyncio.sleep(0.01)
            return Reply("A", "ok")

    async def main():
        folder = Path(sys.argv[1])
        own, cache = CallBook(folder / sys.argv[2] / "b.sqlite"), CallBook.shared(folder / "cache")
        gateway = Gateway(Logged(), own, role="evaluated", cache=cache, concurrency=4)
        print("ready", flush=True)
        await asyncio.gather(*(gateway.ask(question(n)) for n in range(int(sys.argv[3]))))
        await gateway.close()
        own.close()
        cache.close()

    asyncio.run(main())
    """
)


def share(folder: Path, who: str, calls: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SHARING, str(folder), who, str(calls)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_with_one_cache_ask_each_call_once(tmp_path: Path) -> None:
    both = [share(tmp_path, who, 150) for who in "ab"]
    for process in both:
        process.communicate(timeout=60)
    assert [p.returncode for p in both] == [0, 0]
    asked = (tmp_path / "log").read_text().splitlines()
    assert len(asked) == len(set(asked)) == 150
    counts = []
    for who in "ab":
        own = CallBook(tmp_path / who / "b.sqlite")
        [spent] = own.spending()
        counts.append((spent.calls, spent.hits))
        own.close()
    assert sum(calls for calls, _ in counts) == 150
    assert sum(hits for _, hits in counts) == 150


def test_a_killed_owner_of_a_claim_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """Kill -9 with a shared cache: only the calls under way are asked again, and nobody waits for the dead."""
    first = share(tmp_path, "a", 400)
    assert first.stdout is not None
    assert first.stdout.readline() == "ready\n"
    second = share(tmp_path, "b", 400)
    time.sleep(0.4)
    first.kill()
    first.communicate()
    second.communicate(timeout=60)
    assert second.returncode == 0
    asked = (tmp_path / "log").read_text().splitlines()
    assert len(set(asked)) == 400
    assert len(asked) <= 404  # four were under way at most


def test_retry_after_in_seconds_makes_every_call_of_the_gateway_wait(book: CallBook) -> None:
    """Case R13."""
    clock = Clock()
    model = Told(TransientModelError("the server answered with status 429", retry_after_s=2.0))
    sent: list[tuple[str, float]] = []

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", sleep=clock.sleep, clock=clock.read, concurrency=1)
        for n in range(2):
            await gateway.ask(question(n))
            sent.append((f"{n}", clock.now_s))

    run(main)
    assert sum(clock.waits_s) >= 2.0
    assert max(clock.waits_s) <= 60.0


def test_a_wait_that_one_call_is_told_holds_for_its_neighbours(book: CallBook) -> None:
    times: dict[str, float] = {}

    class Busy(Told):
        async def ask(self, request: Request) -> Reply:
            times.setdefault(f"{request.text} {self.asked}", time.monotonic())
            if self.asked == 0:
                self.asked += 1
                raise TransientModelError("status 429", retry_after_s=0.4)
            self.asked += 1
            return FINE

    async def main() -> None:
        gateway = Gateway(Busy(), book, role="evaluated")
        started = time.monotonic()
        first = asyncio.create_task(gateway.ask(question(0)))
        await asyncio.sleep(0.05)
        await gateway.ask(question(1))
        assert time.monotonic() - started >= 0.4
        await first

    run(main)


@pytest.mark.parametrize(
    "error",
    [QuotaExhausted("insufficient quota"), TransientModelError("status 429", retry_after_s=7200.0)],
    ids=["quota", "7200 seconds"],
)
def test_the_end_of_the_quota_stops_everything_at_once(book: CallBook, error: OnlookerError) -> None:
    """Case R13: pause the provider; nothing more is sent, and what is known is still served."""
    model = Told(FINE, error)

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated")
        await gateway.ask(question(0))
        for n in (1, 2, 3):
            with pytest.raises(QuotaExhausted):
                await gateway.ask(question(n))
        assert (await gateway.ask(question(0))).hit

    run(main)
    assert model.asked == 2


def test_thirty_times_429_end_within_the_deadline_and_the_call_stays_owed(book: CallBook) -> None:
    """Case R12, with a clock of its own."""
    clock = Clock()
    model = Told(*[TransientModelError("status 429") for _ in range(30)])

    async def main() -> None:
        gateway = Gateway(
            model, book, role="evaluated", attempts=31, deadline_s=600.0, sleep=clock.sleep, clock=clock.read
        )
        with pytest.raises(TransientModelError, match="no answer after"):
            await gateway.ask(question())

    run(main)
    assert max(clock.waits_s) <= 60.0
    assert sum(clock.waits_s) <= 600.0
    assert {t["outcome"] for t in book.tries()} == {"TransientModelError"}


def test_a_call_that_never_ends_is_given_up_at_its_deadline(book: CallBook) -> None:
    model = Told()
    model.delay_s = 60.0

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", deadline_s=0.1)
        with pytest.raises(TransientModelError, match=r"no answer within 0\.1 s"):
            await gateway.ask(question())

    started = time.monotonic()
    run(main)
    assert time.monotonic() - started < 2.0
    assert [t["outcome"] for t in book.tries()] == ["cancelled"]


def test_a_jump_of_the_wall_clock_changes_nothing(book: CallBook, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter([0.0, 1e9, -1e9, 5.0] * 50)
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    model = Told(TransientModelError("status 500"))

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", deadline_s=5.0)
        assert not (await gateway.ask(question())).hit

    run(main)
    assert all(0 <= t["seconds"] < 1 for t in book.tries())


def test_concurrency_is_halved_when_the_server_is_too_busy_and_grows_again(book: CallBook) -> None:
    clock = Clock()

    class Bears(Told):
        """Refuses whatever comes while eight are under way."""

        async def ask(self, request: Request) -> Reply:
            self.asked += 1
            if self.under_way >= 8:
                raise TransientModelError("the server answered with status 429")
            self.under_way += 1
            await asyncio.sleep(0.002)
            self.under_way -= 1
            return FINE

    model = Bears()
    limits: list[float] = []

    async def nap(seconds: float) -> None:
        clock.now_s += seconds
        await asyncio.sleep(0.001)

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", concurrency=32, sleep=nap, attempts=50, deadline_s=1e9)

        async def ask(n: int) -> None:
            await gateway.ask(question(n))
            limits.append(gateway.slots.limit)

        await asyncio.gather(*(ask(n) for n in range(600)))

    run(main)
    refused = model.asked - 600
    assert min(limits) < 9
    assert 8 <= sum(limits[-200:]) / 200 + 4 <= 20
    assert refused < 200, "a fixed concurrency of 32 would be refused thousands of times"


def test_fifty_at_a_time_keep_fifty_busy(book: CallBook) -> None:
    """Case R20, without a server."""
    model = Told()
    model.delay_s = 0.05

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", concurrency=50)
        await asyncio.gather(*(gateway.ask(question(n)) for n in range(200)))

    run(main)
    assert model.most_under_way == 50


def test_a_model_that_answers_one_at_a_time_is_asked_so(book: CallBook) -> None:
    model = Told()
    model.at_once = 1
    model.delay_s = 0.001

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", concurrency=8)
        await asyncio.gather(*(gateway.ask(question(n)) for n in range(9)))

    run(main)
    assert model.most_under_way == 1


def test_a_budget_of_two_calls_stops_the_third_before_it_is_sent(book: CallBook) -> None:
    """Case R15: one paid unusable reply, one good, one hit; the third new call is stopped.

    By the rule a call costs 4 tokens in (11 bytes by three) and 10 out at most: 24 USD. Each costs 25 of the 50.
    """
    model = Told(Reply("", "empty", 5, 10), Reply("B", "ok", 5, 10))

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", prices=DEAR, budget=Budget(50.0))
        assert (await gateway.ask(question(1))).reply.status == "empty"
        assert (await gateway.ask(question(1))).reply.text == "B"
        assert (await gateway.ask(question(1))).hit
        with pytest.raises(QuotaExhausted, match=r"50\.0000 of the budget of 50 USD are spent"):
            await gateway.ask(question(2))

    run(main)
    assert model.asked == 2
    [spent] = book.spending()
    assert (spent.attempts, spent.hits, spent.cost_usd) == (2, 1, 50.0)


def test_calls_under_way_count_against_the_budget_and_what_they_leave_is_used(book: CallBook) -> None:
    """Each can cost 24 USD and costs 7 (5 in, 1 out): of 40 only one is under way at a time, and three fit."""
    model = Told(*[Reply("A", "ok", 5, 1) for _ in range(9)])
    model.delay_s = 0.01

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", prices=DEAR, budget=Budget(40.0), concurrency=8)
        found = await asyncio.gather(*(gateway.ask(question(n)) for n in range(9)), return_exceptions=True)
        assert sum(isinstance(f, QuotaExhausted) for f in found) == 6

    run(main)
    assert model.most_under_way == 1
    assert model.asked == 3
    assert book.spent_usd("evaluated") == 21.0


def test_a_failed_attempt_gives_its_reserve_back_and_a_late_one_does_not(book: CallBook) -> None:
    budget = Budget(100.0)
    model = Told(ModelError("refused (400)"))

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", prices=DEAR, budget=budget, deadline_s=0.1)
        with pytest.raises(ModelError):
            await gateway.ask(question(1))
        assert (budget.spent_usd, budget.reserved_usd) == (0.0, 0.0)
        model.delay_s = 5.0
        with pytest.raises(TransientModelError):
            await gateway.ask(question(1))
        assert (budget.spent_usd, budget.reserved_usd) == (24.0, 0.0)

    run(main)


def test_a_budget_for_a_model_without_a_price_is_refused(book: CallBook) -> None:
    with pytest.raises(InputError, match=r"price of every model.*--prices"):
        Gateway(Told(), book, role="evaluated", budget=Budget(1.0))


def test_what_is_not_known_to_cost_anything_is_unknown_and_not_nothing(book: CallBook) -> None:
    async def main() -> None:
        gateway = Gateway(Told(), book, role="evaluated")
        assert (await gateway.ask(question())).reply.cost_usd is None

    run(main)
    [spent] = book.spending()
    assert (spent.cost_usd, spent.unpriced) == (None, 1)


def test_half_a_surrogate_pair_in_a_reply_is_written_and_said(book: CallBook) -> None:
    model = Told(Reply("a\ud83d b \U0001f600", "ok"))

    async def main() -> None:
        reply = (await Gateway(model, book, role="evaluated").ask(question())).reply
        assert reply.text == "a\ufffd b \U0001f600"
        assert "U+FFFD" in str(reply.details["lone_surrogates"])

    run(main)


def test_retry_after_of_a_real_server_in_all_forms(tmp_path: Path) -> None:
    """Case R13 on the wire: seconds, milliseconds and an HTTP date are waited for; 7200 s and a lack of quota stop."""
    from onlooker.models.catalog import open_model
    from onlooker.models.options import ModelOptions
    from tests.models.fake_server import Answer, FakeServer, failure

    forms: dict[str, Callable[[], dict[str, str]]] = {
        "seconds": lambda: {"Retry-After": "1"},
        "milliseconds": lambda: {"retry-after-ms": "300"},
        "date": lambda: {"Retry-After": formatdate(time.time() + 2, usegmt=True)},
    }

    async def ask(url: str, name: str) -> float:
        book = CallBook(tmp_path / name / "b.sqlite")
        model = open_model("openai:m", ModelOptions(base_url=url))
        gateway = Gateway(model, book, role="evaluated")
        started = time.monotonic()
        try:
            await gateway.ask(question())
            return time.monotonic() - started
        finally:
            await gateway.close()
            book.close()

    for name, headers in forms.items():
        with FakeServer(
            lambda call, headers=headers: failure(429, "busy", headers=headers()) if call.order == 0 else Answer("A")  # type: ignore[misc]
        ) as server:
            waited_s = asyncio.run(ask(server.url, name))
        assert waited_s >= {"seconds": 1.0, "milliseconds": 0.3, "date": 1.0}[name], name
    for name, refusal in {
        "long": failure(429, "busy", headers={"Retry-After": "7200"}),
        "quota": failure(429, "You exceeded your current quota", code="insufficient_quota"),
    }.items():
        with FakeServer(lambda call, refusal=refusal: refusal) as server:  # type: ignore[misc]
            with pytest.raises(QuotaExhausted):
                asyncio.run(ask(server.url, name))
            assert len(server.calls) == 1


def test_each_role_talks_to_its_own_endpoint_with_its_own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case R19: two servers, one a role; neither key reaches the other, nor the book."""
    from onlooker.models.catalog import open_model
    from onlooker.models.options import ModelOptions
    from tests.models.fake_server import FakeServer

    keys = {"evaluated": "key-of-the-evaluated", "judge": "key-of-the-judge"}
    path = tmp_path / "b.sqlite"
    for role, key in keys.items():
        monkeypatch.setenv(f"{role.upper()}_KEY", key)

    async def ask(urls: Mapping[str, str]) -> None:
        book = CallBook(path)
        for n, (role, url) in enumerate(urls.items()):
            model = open_model("openai:m", ModelOptions(base_url=url, api_key_env=f"{role.upper()}_KEY"))
            gateway = Gateway(model, book, role=role)
            await gateway.ask(question(n))
            await gateway.close()
        book.close()

    with FakeServer() as one, FakeServer() as two:
        asyncio.run(ask({"evaluated": one.url, "judge": two.url}))
    for server, role, other, n in ((one, "evaluated", "judge", 0), (two, "judge", "evaluated", 1)):
        [call] = server.calls
        assert call.headers["authorization"] == f"Bearer {keys[role]}"
        assert f"Question {n}?" in call.text
        assert keys[other] not in str(call)
    assert not any(key.encode() in path.read_bytes() for key in keys.values())


def test_an_attempt_that_may_be_billed_counts_against_the_budget_of_this_session_and_the_next(book: CallBook) -> None:
    """24 USD at most, as above: one of unknown cost counts as that, one that was refused (429) as nothing."""
    budget = Budget(1000.0)
    unknown = Reply("A", "ok")  # no usage: what it cost is not known
    late = TransientModelError("no answer within 1 s", may_be_billed=True)
    model = Told(late, TransientModelError("status 429"), unknown)

    async def main() -> None:
        gateway = Gateway(model, book, role="evaluated", prices=DEAR, budget=budget, sleep=Clock().sleep)
        assert (await gateway.ask(question(1))).reply.cost_usd is None

    run(main)
    assert model.asked == 3
    most = budget.spent_usd
    assert (most, budget.reserved_usd) == (48.0, 0.0)  # the late one and the unknown one, not the refused one
    assert book.spent_usd("evaluated") == most
    [spent] = book.spending()
    assert (spent.cost_usd, spent.unpriced) == (None, 1)  # unknown stays unknown in what is told


def test_an_attempt_killed_under_way_counts_against_the_budget_of_the_next_session(book: CallBook) -> None:
    class Killed(BaseException):
        """Stands for SIGKILL: the row of the attempt stays as it was before."""

    def kill(*given: object, **named: object) -> None:
        raise Killed

    async def main() -> None:
        gateway = Gateway(Told(), book, role="evaluated", prices=DEAR)
        gateway.store = kill  # type: ignore[method-assign]
        with pytest.raises(Killed):
            await gateway.ask(question(1))

    run(main)
    assert [t["outcome"] for t in book.tries()] == ["sent"]
    assert book.spent_usd("evaluated") == 24.0
