"""Case K05: with data and models on this machine, the whole path opens no connection to anywhere else."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

from onlooker.records.bundle import Bundle

# An audit hook sees every connect of the process, whichever library makes it through Python; the loop-back
# interface is the machine itself.
WATCHED = textwrap.dedent(
    """
    import json, sys
    seen = []
    def hook(event, arguments):
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            seen.append(str(arguments[1][0]))
        elif event == "socket.getaddrinfo":
            seen.append(str(arguments[0]))
    sys.addaudithook(hook)
    from onlooker.cli.main import main
    code = main(sys.argv[2:])
    open(sys.argv[1], "w").write(json.dumps(sorted(set(seen))))
    sys.exit(code)
    """
)


def test_the_embedded_model_needs_no_network(bundle: Bundle, tmp_path: Path) -> None:
    items = bundle.path / "items.jsonl"
    items.write_text("\n".join(items.read_text(encoding="utf-8").split("\n")[:3]) + "\n", encoding="utf-8")
    run = tmp_path / "run"
    for words in (
        ("eval", bundle.path, "--model", "embedded", "--condition", "origin", "--out", run),
        ("report", run, "--out", run / "report.html", "--draws", "100"),
    ):
        log = tmp_path / "connections.json"
        subprocess.run(
            [sys.executable, "-c", WATCHED, str(log), *map(str, words)], check=True, capture_output=True, timeout=300
        )
        assert set(json.loads(log.read_text())) <= {"127.0.0.1", "localhost", "None"}
    answered = [json.loads(line)["status"] for line in (run / "predictions.jsonl").read_text().splitlines()]
    assert answered == ["ok"] * 3
