"""What the application is made from, and what its routes share."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import jinja2
from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse

from onlooker.annotate import accounts
from onlooker.annotate.material import Material
from onlooker.annotate.shelf import Shelf
from onlooker.annotate.study import Right
from onlooker.annotate.submitting import Desk, NotYours

HERE = Path(__file__).parent
COOKIE = "onlooker_session"
LOCAL = frozenset(("127.0.0.1", "localhost", "::1"))


@dataclass(frozen=True, slots=True)
class Site:
    """What the application is made from. ``secure``: reached over TLS, so that cookies are sent over nothing else;
    ``hosts``: names in the Host header that are answered, None: any."""

    desk: Desk
    material: Material
    shelf: Shelf
    secure: bool = False
    hosts: frozenset[str] | None = LOCAL


class Pages:
    """Templates, sessions, rights: what all routes share. Every request is decided on by session and role here."""

    def __init__(self, site: Site) -> None:
        self.site, self.desk = site, site.desk
        loader = jinja2.FileSystemLoader(HERE / "pages")
        self.templates = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )

    def page(
        self, name: str, status: int = 200, *, session: accounts.Session | None = None, **words: Any
    ) -> HTMLResponse:
        """A page of the folder ``pages``. Its navigation has what the session's role may do."""
        study = self.desk.study
        may = {right: session is not None and study.may(session.rater.role, right) for right in get_args(Right)}
        title = study.title or self.desk.form.title
        pause_s = study.breaks.every_min * 60 if study.breaks is not None and may["rate"] else None
        template = self.templates.get_template(f"{name}.html")
        text = template.render(session=session, may=may, study_title=title, pause_every_s=pause_s, **words)
        return HTMLResponse(text, status, headers={"Cache-Control": "no-store"})

    def session(self, request: Request, right: Right | None = None) -> accounts.Session:
        """Who asks. Raises 401 without a session, 403 where the role does not have the right."""
        token = request.cookies.get(COOKIE)
        found = accounts.find_session(self.desk.store, token) if token else None
        if found is None:
            raise HTTPException(401, "You are not logged in, or your session has ended. Nothing you saved is lost.")
        if right is not None and not self.desk.study.may(found.rater.role, right):
            raise HTTPException(403, "This is not open to you.")
        return found

    def writer(self, request: Request, right: Right | None = None) -> accounts.Session:
        """As ``session``, for requests that change something: they have to carry the page's token."""
        found = self.session(request, right)
        if not hmac.compare_digest(request.headers.get("X-CSRF-Token", ""), found.csrf):
            raise HTTPException(403, "This page is out of date: load it again. Nothing you saved is lost.")
        return found

    def case(self, token: str) -> str:
        """The case behind a token; the same words for one that is not and one that is not yours."""
        found = self.site.material.by_token.get(token)
        if found is None:
            raise NotYours("you have no such case")
        return found
