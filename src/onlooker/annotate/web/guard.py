"""What holds for every request: hosts, origins, sizes, headers; and errors as words."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException as RoutingError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.annotate import accounts
from onlooker.annotate.answers import AnswerRefused
from onlooker.annotate.submitting import Conflict, NotYours
from onlooker.annotate.web.site import Pages, Site
from onlooker.errors import InputError, OnlookerError

log = logging.getLogger(__name__)

_MOST_BYTES = 1_000_000
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, forms would send "Origin: null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Around the whole application: what it refuses never reaches a route, what it lets out has the headers."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app, self.site, self.errors = app, site, Errors(site)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = has_ended = False

        async def send_guarded(message: Message) -> None:
            nonlocal has_begun, has_ended
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                if scope["path"].startswith("/api"):
                    headers["Cache-Control"] = "no-store"
                if self.site.secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            elif message["type"] == "http.response.body":
                has_ended = not message.get("more_body", False)
            await send(message)

        request = Request(scope)
        answer = self._refusal(request)
        try:
            await (answer or self.app)(scope, receive, send_guarded)
        except Exception as error:
            # A fault of ours: its place goes to the log, words to the person; an answer under way breaks off. When
            # Starlette passes the error on, it has answered with ``explain`` already.
            log.exception("a request to %s failed", scope["path"].split("/")[1])
            if has_begun and not has_ended:
                raise
            if not has_begun:
                await self.errors.answer(request, error)(scope, receive, send_guarded)

    def _refusal(self, request: Request) -> Response | None:
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname
        if self.site.hosts is not None and host not in self.site.hosts:
            return PlainTextResponse("This address is not served here.", 421)
        if request.method in _SAFE:
            return None
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
            return PlainTextResponse("Requests from other sites are refused.", 403)
        length = request.headers.get("content-length", "")
        if not length.isdecimal():
            return PlainTextResponse("A request has to state its length.", 411)
        return PlainTextResponse("This is too large.", 413) if int(length) > _MOST_BYTES else None


class Errors(Pages):
    """Errors as words, in HTML or JSON as the address asks."""

    def install(self, app: FastAPI) -> None:
        for kind in (OnlookerError, RoutingError, RequestValidationError, Exception):
            app.add_exception_handler(kind, self.explain)

    async def explain(self, request: Request, error: Exception) -> Response:
        return self.answer(request, error)

    def answer(self, request: Request, error: Exception) -> Response:
        """The response that tells the person of an error."""
        status, words, more = _told(error)
        if isinstance(error, OnlookerError) and status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("%s", error)
        headers = getattr(error, "headers", None)
        if request.url.path.startswith("/api"):
            return JSONResponse({"error": words, **more}, status, headers)
        if status == HTTPStatus.UNAUTHORIZED and request.method in _SAFE:
            return RedirectResponse("/login", 303)
        response = self.page("message", status, heading="This did not work", words=words)
        response.headers.update(headers or {})
        return response


def _told(error: Exception) -> tuple[int, str, Mapping[str, Any]]:  # noqa: PLR0911 - one for each kind of error
    """(status, words for the person, further fields). What is wrong inside is for the log, not for the page."""
    match error:
        case AnswerRefused():
            return 422, "The answer is not complete.", {"faults": error.faults}
        case Conflict():
            work = error.work
            standing = {"version": work.version, "answer": work.answer, "opt_out": work.opt_out}
            return 409, "You answered this in another tab in the meantime. Both are kept here.", {"standing": standing}
        case NotYours():
            return 403, "You have no such case.", {}
        case accounts.NotLetIn():
            return 403, str(error), {}
        case InputError():
            return 400, error.what, {}
        case RoutingError():
            return error.status_code, str(error.detail), {}
        case RequestValidationError():
            return 422, "The request is not as the page sends it.", {}
    return 500, "Something went wrong here. What you saved before is kept; please try again.", {}
