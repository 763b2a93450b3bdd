"""Thousands of calls against a server that misbehaves in every way, with exact counts; 50 connections; flat memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from email.utils import formatdate
from pathlib import Path

from onlooker.benchmarks.sivbench.protocol import BENCHMARK
from onlooker.errors import ModelError, TransientModelError
from onlooker.models.catalog import open_model
from onlooker.models.options import ModelOptions
from onlooker.models.prices import Price, Prices
from onlooker.models.request import Model, Reply, Request
from onlooker.models.scripted import ScriptedModel
from onlooker.records.bundle import open_bundle
from onlooker.run.delivery import Delivery
from onlooker.run.execute import Outcome, Session
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.plan import Parameters, make_plan
from tests.models.fake_server import Answer, Call, FakeServer, failure
from tests.run.conftest import write_rows
from tests.run.test_session import rows

# Over the wire a call costs the SDK about 4 ms: 5,000 of them for whoever has the time (ONLOOKER_FAULT_CALLS=5000).
CALLS = int(os.environ.get("ONLOOKER_FAULT_CALLS", "600"))
PRICES = Prices((Price(model="*", input=1e6, output=2e6),))


def make_bundle(folder: Path, items: int) -> Path:
    folder.mkdir()
    (folder / "bundle.yaml").write_text("name: many\nfamily: sivbench\nversion: '1'\n", encoding="utf-8")
    write_rows(folder / "episodes.jsonl", [{"id": "e", "media": {}}])
    options = [{"id": "A", "text": "yes"}, {"id": "B", "text": "no"}]
    fixed = {"episode": "e", "task": "choice", "options": options, "select": "one"}
    write_rows(folder / "items.jsonl", [{"id": f"q{n}", "question": f"Question {n}?", **fixed} for n in range(items)])
    return folder


def remote(server: FakeServer) -> Model:
    return open_model("openai:m", ModelOptions(base_url=server.url, timeout_s=8.0))


def work(bundle_path: Path, run: Path, model: Model, **options: object) -> Outcome:
    bundle = open_bundle(bundle_path)
    parameters = Parameters()
    plan = make_plan(
        bundle,
        BENCHMARK,
        list(bundle.items()),
        model_name=model.name,
        fingerprint=model.fingerprint,
        conditions=[BENCHMARK.condition("text_only")],
        parameters=parameters,
    )
    delivery = Delivery(bundle, run.parent / "media", model.accepts, parameters)
    made = Session(plan, BENCHMARK, model, delivery, bundle.load_episodes(), run, prices=PRICES, **options)  # type: ignore[arg-type]
    return made.work()


class Faults:
    """What goes wrong with a question on its first attempt; empty, refusing and bad requests stay what they are."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seen: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()

    def __call__(self, call: Call) -> Answer:  # noqa: PLR0911  one way to fail, one line
        with self.lock:
            self.seen[call.sha256] += 1
            first = self.seen[call.sha256] == 1
            kind = self.kind(call)
            self.kinds[kind] += first
            if not first and kind not in ("empty", "refusing", "bad request"):
                kind = "fine"
        match kind:
            case "429 milliseconds":
                return failure(429, "busy", headers={"retry-after-ms": "10"})
            case "429 date":
                return failure(429, "busy", headers={"Retry-After": formatdate(time.time(), usegmt=True)})
            case "429 bare":
                return failure(429, "busy")
            case "500":
                return failure(500, "a fault")
            case "cut off":
                return Answer("Answer: A", cut_after_bytes=20)
            case "no json":
                return Answer(body=b"<html>gateway</html>")
            case "late":
                return Answer("Answer: A", delay_s=9.0)
            case "bad request":
                return failure(400, "no such thing")
        text, refusal = {"empty": ("", None), "refusing": ("", "I will not")}.get(kind, ("Answer: A", None))
        with self.lock:
            self.delivered[call.sha256] += 1
        return Answer(text, refusal=refusal)

    @staticmethod
    def kind(call: Call) -> str:
        number = int(call.text.split("Question ")[1].split("?")[0])
        if number % 100 == 10:
            return "late" if number < 300 else "fine"  # each of them takes nine seconds
        return KINDS.get(number % 100, "fine")


KINDS = {
    **dict.fromkeys((0, 1), "429 milliseconds"),
    2: "429 date",
    3: "429 bare",
    **dict.fromkeys((4, 5, 6), "500"),
    **dict.fromkeys((7, 8), "cut off"),
    9: "no json",
    **dict.fromkeys((11, 12), "empty"),
    **dict.fromkeys((13, 14), "refusing"),
    15: "bad request",
}
PASSING = ("429 milliseconds", "429 date", "429 bare", "500", "cut off", "no json", "late")


def test_calls_with_every_fault_of_a_server_are_counted_exactly(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path / "bundle", CALLS)
    faults = Faults()
    with FakeServer(faults) as server:
        outcome = work(bundle, tmp_path / "run", remote(server), concurrency=50)
        sent = len(server.calls)
    kinds = faults.kinds
    assert sum(kinds.values()) == CALLS
    assert all(kinds[kind] > 0 for kind in (*PASSING, "empty", "refusing", "bad request"))
    failed_once = sum(kinds[kind] for kind in PASSING)
    # Every request that failed in passing was sent once more, every other exactly once.
    assert sent == CALLS + failed_once
    assert (outcome.asked, outcome.failed_calls, outcome.left) == (CALLS, kinds["bad request"], kinds["bad request"])
    predictions = rows(tmp_path / "run" / "predictions.jsonl")
    assert [p["item"] for p in predictions] == [f"q{n}" for n in range(CALLS)]
    assert Counter(p["status"] for p in predictions) == {
        "ok": CALLS - kinds["empty"] - kinds["refusing"] - kinds["bad request"],
        "empty": kinds["empty"],
        "refused": kinds["refusing"],
        "error": kinds["bad request"],
    }
    ledger = Ledger(tmp_path / "run" / LEDGER_NAME)
    [spent] = ledger.book.spending()
    ledger.close()
    assert (spent.attempts, spent.failed, spent.hits) == (sent, failed_once + kinds["bad request"], 0)
    # Case R07: tokens and cost are those of the replies that arrived, each once.
    assert set(faults.delivered.values()) == {1}
    assert spent.input_tokens == sum(p["usage"]["input_tokens"] or 0 for p in predictions)
    assert spent.input_tokens is not None
    assert spent.cost_usd == spent.input_tokens + 2 * (spent.output_tokens or 0)
    assert spent.unpriced == 0


def test_fifty_connections_are_kept_busy_and_answers_find_their_items(tmp_path: Path) -> None:
    """Case R20: 400 calls of 0.2 s each over 50 connections take eight rounds, whatever order they come back in."""
    bundle = make_bundle(tmp_path / "bundle", 400)

    def slow(call: Call) -> Answer:
        question = call.text.split("Question ")[1].split("?")[0]
        return Answer(f"Answer: A, said of {question}", delay_s=0.15 + 0.1 * (int(call.sha256[:4], 16) / 0xFFFF))

    with FakeServer(slow) as server:
        started = time.monotonic()
        work(bundle, tmp_path / "run", remote(server), concurrency=50)
        seconds = time.monotonic() - started
        assert server.in_flight_max == 50
    assert seconds < 20, f"{seconds:.1f} s; one after the other they take 80 s, on a machine of their own 2"
    for row in rows(tmp_path / "run" / "predictions.jsonl"):
        assert row["raw"] == f"Answer: A, said of {row['item'][1:]}"


MEMORY = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    from onlooker.benchmarks.sivbench.protocol import BENCHMARK
    from onlooker.models.request import Reply
    from onlooker.models.scripted import ScriptedModel
    from onlooker.records.bundle import open_bundle
    from onlooker.run.delivery import Delivery
    from onlooker.run.execute import Session
    from onlooker.run.plan import Parameters, make_plan

    seen = []

    def rss_mb():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6

    def answer(request):
        seen.append(None)
        if len(seen) % 1000 == 0:
            print(rss_mb(), flush=True)
        return Reply("Answer: A " + "because " * 500, "ok", 5, 500)

    bundle = open_bundle(Path(sys.argv[1]))
    model = ScriptedModel(answer, script_id="memory")
    plan = make_plan(bundle, BENCHMARK, list(bundle.items()), model_name=model.name, fingerprint=model.fingerprint,
                     conditions=[BENCHMARK.condition("text_only")])
    delivery = Delivery(bundle, Path(sys.argv[2]) / "media", model.accepts, Parameters())
    Session(plan, BENCHMARK, model, delivery, bundle.load_episodes(), Path(sys.argv[2]) / "run", concurrency=8).work()
    print(rss_mb(), flush=True)
    """
)


def test_memory_is_flat_over_ten_thousand_items(tmp_path: Path) -> None:
    """Replies of 4 kB: kept in memory they would be 40 MB and more; the exports go out row by row."""
    bundle = make_bundle(tmp_path / "bundle", 10_000)
    command = [sys.executable, "-c", MEMORY, str(bundle), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, *others = (float(line) for line in done.stdout.split())
    assert len(others) == 10
    assert max(others) - first < 12, done.stdout


class Faulty(ScriptedModel):
    """Fails on the first attempt at one request of five, in all ways that an adapter can report."""

    def __init__(self) -> None:
        super().__init__(lambda request: Reply("Answer: A", "ok", 7, 2), script_id="faulty", name="faulty")
        self.sent: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    async def ask(self, request: Request) -> Reply:
        digest = request.prompt_sha256()
        self.sent[digest] += 1
        drawn = int(digest[:6], 16) % 50
        await asyncio.sleep(0)
        if self.sent[digest] == 1 and drawn < 10:
            self.failed["passing"] += 1
            waits = {0: 0.001, 1: 0.0}
            raise TransientModelError("status 429" if drawn < 5 else "cut off", retry_after_s=waits.get(drawn))
        if drawn == 10:
            self.failed["final"] += 1
            raise ModelError("refused (400)")
        return Reply("", "empty", 7, 0) if drawn == 11 else await super().ask(request)


def test_five_thousand_calls_with_faults_are_counted_exactly(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path / "bundle", 5000)
    model = Faulty()
    outcome = work(bundle, tmp_path / "run", model, concurrency=50)
    final = model.failed["final"]
    assert min(model.failed["passing"], final) > 50
    assert (outcome.asked, outcome.failed_calls, outcome.left) == (5000, final, final)
    assert sum(model.sent.values()) == 5000 + model.failed["passing"]
    assert set(model.sent.values()) == {1, 2}
    ledger = Ledger(tmp_path / "run" / LEDGER_NAME)
    [spent] = ledger.book.spending()
    ledger.close()
    assert (spent.calls, spent.attempts, spent.failed) == (5000, sum(model.sent.values()), sum(model.failed.values()))
    assert spent.input_tokens == 7 * (5000 - final)
    predictions = rows(tmp_path / "run" / "predictions.jsonl")
    assert [p["item"] for p in predictions] == [f"q{n}" for n in range(5000)]
    assert Counter(p["status"] for p in predictions)["error"] == final
    # Asked again, only the final failures are.
    again = Faulty()
    work(bundle, tmp_path / "run", again, concurrency=50)
    assert sum(again.sent.values()) == final


def test_a_full_disk_stops_a_run_with_a_message_and_it_goes_on_later(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk's; nothing that was committed is asked again."""
    bundle = make_bundle(tmp_path / "bundle", 400)
    runner = textwrap.dedent(
        """
        import resource, sys
        from onlooker.cli.main import main
        limit = int(sys.argv.pop(1))
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        sys.exit(main(sys.argv[1:]))
        """
    )
    with FakeServer(lambda call: Answer("Answer: A " + "because " * 100)) as server:
        command = ["eval", str(bundle), "--model", "openai:m", "--base-url", server.url, "--condition", "text_only"]
        command += ["--out", str(tmp_path / "run"), "--concurrency", "4"]
        full = subprocess.run(
            [sys.executable, "-c", runner, "1500000", *command], capture_output=True, text=True, check=False
        )
        assert full.returncode == 1
        assert "cannot be written" in full.stderr
        assert "Traceback" not in full.stderr
        before = len(server.calls)
        ledger = Ledger(tmp_path / "run" / LEDGER_NAME)
        kept = sum(ledger.finished().values())
        ledger.close()
        assert 20 < kept < 400
        later = subprocess.run(
            [sys.executable, "-c", runner, "0", *command], capture_output=True, text=True, check=True
        )
        assert "0 of the plan left" in later.stdout
        asked_twice = sum(n > 1 for n in Counter(call.sha256 for call in server.calls).values())
    # Only what was under way when the disk was full was asked again.
    assert before >= kept
    assert asked_twice <= 4
    assert len(rows(tmp_path / "run" / "predictions.jsonl")) == 400
