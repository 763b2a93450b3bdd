"""CPU that a call with 37 frames costs: the run engine, a bare loop over the same SDK, and Inspect.

``python benchmarks/call_overhead.py [--calls 60] [--rounds 5]``: a server of its own process answers; each side runs in
a process of its own, the sides take turns, and the CPU of that process between its first and its last call counts
(three calls of warm-up before). Ours is everything from a planned item to its row in the ledger and in
``predictions.jsonl``; the frames are in memory on all sides, as JPEG bytes for ours and the loop, as data URIs for
Inspect (which spares it the encoding). Prints the medians and two ratios.
"""
# ruff: noqa: PLC0415  each side's process loads what it measures, and nothing of the others

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FRAMES, FRAME_BYTES, CONCURRENCY, WARM_UP = 37, 30_000, 8, 3
ROOT = Path(__file__).parent.parent
SIDES = ("ours", "loop", "inspect")


def frames() -> list[bytes]:
    """As many different pictures; what is in them nobody looks at, so they are noise behind the mark of a JPEG."""
    return [b"\xff\xd8\xff" + os.urandom(FRAME_BYTES - 5) + b"\xff\xd9" for _ in range(FRAMES)]


def question(number: int) -> str:
    """The words of a call; no two calls are the same."""
    return f"Question {number}: who smiles?\nA. she\nB. he"


def time_ours(url: str, calls: int, folder: Path) -> float:
    """CPU seconds of the run engine."""
    from onlooker.benchmarks.sivbench.protocol import BENCHMARK
    from onlooker.models.catalog import open_model
    from onlooker.models.options import ModelOptions
    from onlooker.models.request import Image
    from onlooker.protocol.benchmark import Given
    from onlooker.records.bundle import open_bundle
    from onlooker.run.delivery import Delivered
    from onlooker.run.execute import Session
    from onlooker.run.plan import make_plan

    shown = tuple(Image(jpeg, float(n), "0" * 64) for n, jpeg in enumerate(frames()))

    class InMemory:
        """Gives every item the same frames."""

        def deliver_want(self, *_: object) -> Delivered:
            return Delivered(Given(shown), {"medium": "video"})

    def work(name: str, first: int, count: int) -> float:
        bundle_path = folder / f"bundle-{name}"
        bundle_path.mkdir()
        (bundle_path / "bundle.yaml").write_text("name: b\nfamily: sivbench\nversion: '1'\n", encoding="utf-8")
        items = [
            {
                "id": f"q{n}",
                "episode": "e",
                "task": "choice",
                "question": f"Question {n}: who smiles?",
                "options": [{"id": "A", "text": "she"}, {"id": "B", "text": "he"}],
                "select": "one",
            }
            for n in range(first, first + count)
        ]
        (bundle_path / "episodes.jsonl").write_text('{"id": "e", "media": {"video": "v.mp4"}}\n', encoding="utf-8")
        (bundle_path / "items.jsonl").write_text("".join(json.dumps(i) + "\n" for i in items), encoding="utf-8")
        bundle = open_bundle(bundle_path)
        started = time.process_time()
        model = open_model("openai:m", ModelOptions(base_url=url))
        plan = make_plan(
            bundle,
            BENCHMARK,
            list(bundle.items()),
            model_name=model.name,
            fingerprint=model.fingerprint,
            conditions=[BENCHMARK.default],
        )
        made = Session(
            plan,
            BENCHMARK,
            model,
            InMemory(),  # type: ignore[arg-type]  # all of a delivery that is called
            bundle.load_episodes(),
            folder / f"run-{name}",
            concurrency=CONCURRENCY,
        )
        outcome = made.work()
        assert (outcome.asked, outcome.left) == (count, 0), outcome
        return time.process_time() - started

    work("warm", calls, WARM_UP)
    return work("timed", 0, calls)


def time_loop(url: str, calls: int, folder: Path) -> float:  # noqa: ARG001
    """CPU seconds of what one would write by hand: encode, send, keep the text."""
    from openai import AsyncOpenAI

    shown = frames()

    async def work(first: int, count: int) -> float:
        started = time.process_time()
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        gate = asyncio.Semaphore(CONCURRENCY)

        async def ask(number: int) -> str | None:
            async with gate:
                content: list[dict[str, object]] = []
                for n, jpeg in enumerate(shown):
                    data = base64.b64encode(jpeg).decode("ascii")
                    content.append({"type": "text", "text": f"[{n}.0 s]"})
                    content.append({"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}})
                content.append({"type": "text", "text": question(number)})
                answer = await client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": content}],  # type: ignore[misc,list-item]  # as the API has it
                    temperature=0.0,
                    max_tokens=512,
                )
                return answer.choices[0].message.content

        replies = await asyncio.gather(*(ask(n) for n in range(first, first + count)))
        assert all(replies)
        spent = time.process_time() - started
        await client.close()
        return spent

    asyncio.run(work(calls, WARM_UP))
    return asyncio.run(work(0, calls))


def time_inspect(url: str, calls: int, folder: Path) -> float:
    """CPU seconds of Inspect: a task of the same questions, its own defaults, its log written."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig
    from inspect_ai.solver import generate

    uris = [f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" for jpeg in frames()]

    def work(first: int, count: int) -> float:
        samples = []
        for number in range(first, first + count):
            content: list[ContentText | ContentImage] = []
            for n, uri in enumerate(uris):
                content += [ContentText(text=f"[{n}.0 s]"), ContentImage(image=uri)]
            content.append(ContentText(text=question(number)))
            samples.append(Sample(input=[ChatMessageUser(content=content)], id=f"q{number}"))
        task = Task(MemoryDataset(samples), solver=generate())
        started = time.process_time()
        [log] = inspect_eval(
            task,
            model="openai/m",
            model_base_url=url,
            model_args={"api_key": "none", "responses_api": False},
            log_dir=str(folder / "logs"),
            display="none",
            max_connections=CONCURRENCY,
            score=False,
            **GenerateConfig(temperature=0.0, max_tokens=512).model_dump(exclude_none=True),
        )
        assert log.status == "success", log.error
        return time.process_time() - started

    work(calls, WARM_UP)
    return work(0, calls)


def measure(side: str, url: str, calls: int) -> float:
    """Run one side in a process of its own; milliseconds of CPU a call."""
    command = [sys.executable, __file__, "--side", side, "--url", url, "--calls", str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603  own command
    if done.returncode != 0:
        sys.exit(f"{side}: {done.stderr}")
    return 1000 * float(done.stdout.split()[-1]) / calls


def main() -> None:
    """Print the medians of the sides and the ratios."""
    parser = argparse.ArgumentParser(description="CPU of a call with 37 frames.")
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--url")
    options = parser.parse_args()
    timers: dict[str, Callable[[str, int, Path], float]] = dict(
        zip(SIDES, (time_ours, time_loop, time_inspect), strict=True)
    )
    with tempfile.TemporaryDirectory() as name:
        if options.side:
            print(timers[options.side](options.url, options.calls, Path(name)))  # noqa: T201
            return
        log = Path(name) / "log.jsonl"
        command = [sys.executable, "-m", "tests.models.fake_server", "--port", "0", "--log", str(log)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603  own command
        assert server.stdout is not None
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            spent: dict[str, list[float]] = {side: [] for side in SIDES}
            for _ in range(options.rounds):
                for side in SIDES:
                    spent[side].append(measure(side, url, options.calls))
        finally:
            server.kill()
            server.wait()
            server.stdout.close()
    size_mb = FRAMES * FRAME_BYTES / 1e6
    print(f"{options.calls} calls with {FRAMES} frames ({size_mb:.1f} MB), {options.rounds} rounds")  # noqa: T201
    median = {side: statistics.median(times) for side, times in spent.items()}
    for side, times in spent.items():
        print(f"{side:8} {median[side]:7.2f} ms of CPU a call ({min(times):.2f} to {max(times):.2f})")  # noqa: T201
    print(f"ours / loop    {median['ours'] / median['loop']:.2f} (at most 1.3)")  # noqa: T201
    print(f"inspect / ours {median['inspect'] / median['ours']:.2f} (at least 3)")  # noqa: T201


if __name__ == "__main__":
    main()
