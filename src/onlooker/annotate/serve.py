"""A study opened from its files: for the web application, and for commands that need no server."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onlooker.annotate.cases import gather_cases
from onlooker.annotate.database import open_database
from onlooker.annotate.material import gather_material
from onlooker.annotate.shelf import fill_shelf
from onlooker.annotate.store import Store
from onlooker.annotate.study import check_against, read_study
from onlooker.annotate.submitting import Desk
from onlooker.errors import InputError, MissingExtra
from onlooker.protocol.benchmark import Benchmark
from onlooker.records.bundle import Bundle

if TYPE_CHECKING:
    from onlooker.annotate.web.site import Site

EXTRA = "annotate"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to serve. ``certificate`` and ``key``: PEM files for TLS; ``public_url``: how people reach it through a
    proxy that ends TLS; ``is_open``: an address beyond this machine is meant."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    public_url: str | None = None
    is_open: bool = False

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def is_secure(self) -> bool:
        """Whether people reach it over TLS."""
        return self.certificate is not None or (self.public_url or "").startswith("https://")

    @property
    def url(self) -> str:
        """What stands before the path of a link."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_secure else 'http'}://{host}:{self.port}"

    def check(self) -> str | None:
        """A warning, or None. Raises ``InputError`` for an address beyond this machine that was not asked for."""
        if (self.certificate is None) != (self.key is None):
            raise InputError("TLS needs both", where="--certificate, --key", remedy="name the two PEM files")
        if self.is_local and self.public_url is None:
            return None
        if not self.is_local and not self.is_open:
            raise InputError(
                "this address can be reached from other machines",
                where="--host",
                value=self.host,
                remedy="add --open if that is meant, or leave --host out",
            )
        if self.is_secure:
            return None
        return "without TLS whoever listens on the way reads answers and takes over sessions (--certificate, --key)"


def default_database(study: Path) -> str:
    """Where a study keeps its answers unless told otherwise: beside STUDY.yaml."""
    return str(study.with_suffix(".sqlite"))


def open_desk(bundle: Bundle, benchmark: Benchmark, study_path: Path, address: str | None) -> Desk:
    """The study of ``study_path`` on its database, bound to its items and form.

    Raises ``InputError`` for everything that does not fit together.
    """
    study = read_study(study_path)
    form = next((form for form in benchmark.forms if form.name == study.form), None)
    if form is None:
        there = ", ".join(form.name for form in benchmark.forms) or "none yet"
        raise InputError(
            f"{benchmark.family} declares no form of this name",
            where=f"{study_path}, form",
            value=study.form,
            remedy=f"one of {there}",
        )
    check_against(study, form, bundle.card.name, study_path)
    cases = gather_cases(bundle, study, form, study_path.parent)
    store = Store(open_database(address or default_database(study_path), study.name))
    store.freeze(study, form, cases)
    return Desk(store, study, form, cases)


def open_site(bundle: Bundle, desk: Desk, cache_dir: Path, where: Address, notice: Callable[[str], None]) -> Site:
    """All that the application needs; makes the copies of media that browsers cannot play. Raises ``MissingExtra``."""
    try:
        from onlooker.annotate.web.site import LOCAL, Site  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtra(EXTRA, "the annotation app") from error
    secret = desk.store.setting("secret")
    assert secret is not None, "freeze has made it"
    material = gather_material(bundle, desk.form, desk.cases, secret)
    shelf = fill_shelf(bundle, desk.form, desk.cases, secret, cache_dir, notice)
    named = urlsplit(where.public_url).hostname if where.public_url else None
    hosts = frozenset({*LOCAL, where.host, *([named] if named else ())})
    # At every address of a machine (0.0.0.0) nobody knows the names under which it is reached.
    anywhere = where.host in {"0.0.0.0", "::"} and named is None  # noqa: S104 - compared, not bound to
    return Site(desk, material, shelf, secure=where.is_secure, hosts=None if anywhere else hosts)


def run_server(site: Site, where: Address) -> None:
    """Serve until interrupted. No request is logged: addresses hold tokens, and who works when is nobody's business."""
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from onlooker.annotate.web.app import create_app  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtra(EXTRA, "the annotation app") from error
    store, study = site.desk.store, site.desk.study
    store.append("opened", body={"study": study.model_dump(mode="json")})
    uvicorn.run(
        create_app(site),
        host=where.host,
        port=where.port,
        ssl_certfile=where.certificate,
        ssl_keyfile=where.key,
        access_log=False,
        log_level="warning",
        proxy_headers=where.public_url is not None,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
