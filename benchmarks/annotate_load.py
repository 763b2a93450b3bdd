"""Many raters at once against a real server that is killed with -9 and started anew: nothing lost, nothing doubled.

    python benchmarks/annotate_load.py [--raters 200] [--ratings 20000] [--overlap 10] [--kills 5]
                                       [--think SECONDS] [--database postgresql://...]

Every rater is a coroutine that speaks HTTP as the page does: next case, a draft now and then, submit; a request that
gets no reply (the server was killed) is sent again under the same key, as the page does. Beside the server's own word
the clients keep a list of what was acknowledged, and the export is held against it. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import httpx
import numpy as np

from onlooker.annotate.accounts import invite
from onlooker.annotate.export import collect
from onlooker.annotate.material import gather_material
from onlooker.annotate.serve import open_desk
from onlooker.annotate.submitting import Desk
from onlooker.catalog import load_benchmark
from onlooker.records.bundle import open_bundle

LETTERS = "ABCD"


def write_files(folder: Path, cases: int, overlap: int) -> None:
    (folder / "media").mkdir(parents=True)
    write_clip(folder / "media" / "clip.mp4")
    (folder / "bundle.yaml").write_text('name: load\nfamily: sivbench\nversion: "1"\n')
    episode = {"id": "e1", "media": {"video": "media/clip.mp4"}, "duration_s": 2.0}
    (folder / "episodes.jsonl").write_text(json.dumps(episode) + "\n")
    options = [{"id": one, "text": f"option {one}"} for one in LETTERS]
    item = {"episode": "e1", "task": "choice", "question": "Which?", "options": options, "select": "one", "labels": {}}
    rows = (json.dumps({"id": f"q{n:05d}", **item}) + "\n" for n in range(cases))
    (folder / "items.jsonl").write_text("".join(rows))
    study = f"name: load\nbundle: load\nform: answer\noverlap: {overlap}\nseed: 1\n"
    (folder / "STUDY.yaml").write_text(study)


def write_clip(path: Path) -> None:
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream("libx264", rate=10)
        stream.width = stream.height = 64
        for n in range(20):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(np.full((64, 64, 3), 10 * n, np.uint8), format="rgb24")))
        out.mux(stream.encode(None))


@dataclass
class Server:
    folder: Path
    database: str | None
    port: int
    process: subprocess.Popen[bytes] | None = None
    kills: int = 0

    def start(self) -> None:
        command = [sys.executable, "-m", "onlooker.cli.main", "annotate", "serve", str(self.folder)]
        command += ["--study", str(self.folder / "STUDY.yaml"), "--port", str(self.port)]
        command += ["--database", self.database] if self.database else []
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603 - our own program

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.kills += 1


@dataclass
class Tally:
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    submit_s: list[float] = field(default_factory=list)
    next_s: list[float] = field(default_factory=list)
    resent: int = 0
    unexpected: Counter[str] = field(default_factory=Counter)


class Rater:
    def __init__(self, base: str, tally: Tally, seed: int, think_s: float) -> None:
        self.think_s = think_s
        self.client = httpx.AsyncClient(base_url=base, timeout=60)
        self.tally, self.dice = tally, random.Random(seed)  # noqa: S311 - no secret
        self.name = self.csrf = ""

    async def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """As the page does: again, with the same content, until there is an answer."""
        while True:
            try:
                headers = {"X-CSRF-Token": self.csrf}
                response = await self.client.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                self.tally.resent += 1
                await asyncio.sleep(0.2 + 0.3 * self.dice.random())
                continue
            if response.status_code < 500:
                return response
            self.tally.resent += 1
            self.tally.unexpected[f"{method} {path.split('/')[1]} {response.status_code}"] += 1
            await asyncio.sleep(0.2)

    async def join(self, token: str) -> None:
        page = (await self.client.post(f"/join/{token}")).text
        self.name = re.search(r'id="rater">([^<]+)<', page)[1]  # type: ignore[index]
        self.csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]  # type: ignore[index]

    async def work(self) -> None:
        while True:
            begun = time.perf_counter()
            told = await self.ask("GET", "/api/next")
            self.tally.next_s.append(time.perf_counter() - begun)
            work = told.json()["work"]
            if work is None:
                return
            letter = self.dice.choice(LETTERS)
            await asyncio.sleep(2 * self.think_s * self.dice.random())
            if self.dice.random() < 0.1:
                await self.ask("POST", "/api/draft", {"case": work["case"], "draft": {"answer": [letter]}})
            key = f"{self.dice.getrandbits(96):024x}"
            body = {"case": work["case"], "key": key, "base": 0, "answer": {"answer": [letter]}}
            begun = time.perf_counter()
            sends = 2 if self.dice.random() < 0.05 else 1  # a double click now and then
            replies = await asyncio.gather(*(self.ask("POST", "/api/submit", body) for _ in range(sends)))
            self.tally.submit_s.append(time.perf_counter() - begun)
            for reply in replies:
                if reply.status_code == 200 and reply.json()["work"]["state"] == "answered":
                    self.tally.acknowledged[self.name, work["case"]] = letter
                else:
                    self.tally.unexpected[f"submit {reply.status_code} {reply.text[:80]}"] += 1


async def run(server: Server, desk: Desk, options: argparse.Namespace) -> Tally:
    tally = Tally()
    base = f"http://127.0.0.1:{server.port}"
    await until_up(base)
    raters = [Rater(base, tally, n, options.think) for n in range(options.raters)]
    for rater in raters:
        await rater.join(invite(desk.store, desk.study, "rater"))
    tasks = [asyncio.create_task(rater.work()) for rater in raters]
    for n in range(options.kills):
        while len(tally.acknowledged) < options.ratings * (n + 1) / (options.kills + 1) and not all(
            t.done() for t in tasks
        ):
            await asyncio.sleep(0.05)
        server.kill()
        server.start()
    await asyncio.gather(*tasks)
    for rater in raters:
        await rater.client.aclose()
    return tally


async def until_up(base: str) -> None:
    async with httpx.AsyncClient(base_url=base) as client:
        for _ in range(300):
            try:
                if (await client.get("/health")).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.1)
    raise SystemExit("the server does not come up")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--ratings", type=int, default=20_000)
    parser.add_argument("--overlap", type=int, default=10)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--think", type=float, default=0.0, help="seconds a rater looks at a case, on the average")
    parser.add_argument("--database")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        found = measure(Path(folder) / "bundle", port, options)
    sys.stdout.write(json.dumps(found) + "\n")
    sound = found["lost"] == found["doubled"] == found["invented"] == 0 and found["overlap_exact"]
    sys.exit(0 if sound and found["replay_equal"] else 1)


def measure(folder: Path, port: int, options: argparse.Namespace) -> dict[str, Any]:
    write_files(folder, options.ratings // options.overlap, options.overlap)
    bundle = open_bundle(folder)
    server = Server(folder, options.database, port)
    server.start()
    try:
        desk = open_desk(bundle, load_benchmark("sivbench"), folder / "STUDY.yaml", options.database)
        begun = time.perf_counter()
        tally = asyncio.run(run(server, desk, options))
        seconds = time.perf_counter() - begun
    finally:
        server.kill()
    secret = desk.store.setting("secret")
    assert secret
    material = gather_material(bundle, desk.form, desk.cases, secret)
    said = {(r, material.by_token[c]): letter for (r, c), letter in tally.acknowledged.items()}
    rows = collect(desk).files["ratings"]
    stored = {(row["rater"], row["item"]): row["value"] for row in rows}
    works, held = desk.store.replay()
    counts = Counter(row["item"] for row in rows)
    return {
        "database": desk.store.database.dialect,
        "raters": options.raters,
        "ratings": len(rows),
        "kills": server.kills - 1,
        "lost": sum(stored.get(key) != value for key, value in said.items()),
        "invented": len(stored.keys() - said.keys()),
        "doubled": len(rows) - len(stored),
        "overlap_exact": counts == dict.fromkeys(desk.cases.ordinary, options.overlap),
        "replay_equal": works == {(w.rater, w.case): w for w in desk.store.works()} and held == desk.store.held(),
        "seconds": round(seconds, 1),
        "submits_a_second": round(len(rows) / seconds, 1),
        "submit_ms": percentiles(tally.submit_s),
        "next_ms": percentiles(tally.next_s),
        "sent_again": tally.resent,
        "unexpected": dict(tally.unexpected),
    }


def percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {f"p{p}": round(1000 * ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 1) for p in (50, 95, 99)}


if __name__ == "__main__":
    main()
