"""A PostgreSQL server of its own for the tests: in a temporary folder, over a socket, as an unprivileged user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ABSENT = "PostgreSQL's server (initdb, postgres) is not installed on this machine: Debian package postgresql"


def server_binary(name: str) -> str | None:
    """The newest installed one; Debian keeps it off the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[-3]))
    return str(versions[-1]) if versions else shutil.which(name)


def is_installed() -> bool:
    return server_binary("initdb") is not None and server_binary("pg_ctl") is not None


def _unprivileged() -> str | None:
    """Whom to run as: the server refuses to run as root. None: as we are."""
    if os.getuid() != 0:
        return None
    return next(one.pw_name for one in pwd.getpwall() if one.pw_name in {"postgres", "nobody"})


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, user=_unprivileged(), cwd=folder, timeout=120)


def restart(address: str) -> None:
    """Stop the server of that address at once, as a crash does, and start it again."""
    folder = Path(address.partition("host=")[2])
    pg_ctl = server_binary("pg_ctl")
    assert pg_ctl
    _run(folder, pg_ctl, "-D", str(folder / "data"), "-w", "-m", "immediate", "-l", str(folder / "log"), "restart")


@contextmanager
def cluster() -> Iterator[str]:
    """Address of a fresh server that goes away with the block."""
    initdb, pg_ctl = server_binary("initdb"), server_binary("pg_ctl")
    assert initdb
    assert pg_ctl
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if (user := _unprivileged()) is not None:
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        _run(folder, *command)

    data = str(folder / "data")
    run(initdb, "-D", data, "-U", "onlooker", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=80"
    run(pg_ctl, "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql://onlooker@/postgres?host={folder}"
    finally:
        run(pg_ctl, "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)
