"""Coming in and going out: invitations, log-in, log-out."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, RedirectResponse

from onlooker.annotate import accounts
from onlooker.annotate.web.site import COOKIE, Pages


class Doors(Pages):
    """Coming in and going out."""

    def install(self, app: FastAPI) -> None:
        self.throttle = accounts.Throttle()
        app.get("/")(self.home)
        app.get("/health")(self.health)
        app.get("/join/{token}")(self.show_invitation)
        app.post("/join/{token}")(self.take_invitation)
        app.get("/login")(self.show_login)
        app.post("/login")(self.log_in)
        app.post("/logout")(self.log_out)

    def home(self, request: Request) -> Response:
        found = self.session(request)
        rates = self.desk.study.may(found.rater.role, "rate")
        return RedirectResponse("/task" if rates else "/overview", 303)

    def health(self) -> Response:
        self.desk.store.held()
        return JSONResponse({"ok": True})

    def show_invitation(self, request: Request, token: str) -> Response:
        self._wait(request)
        if not accounts.is_open(self.desk.store, token):
            self.throttle.failed(_caller(request))
            raise accounts.NotLetIn("this link was used, has expired or never was", remedy="ask for a new one")
        return self.page("join", token=token)

    def take_invitation(self, request: Request, token: str) -> Response:
        self._wait(request)
        try:
            joined = accounts.take_invitation(self.desk.store, self.desk.study, self.desk.cases, token)
        except accounts.NotLetIn:
            self.throttle.failed(_caller(request))
            raise
        rater = joined.session.rater.id
        response = self.page(
            "welcome", session=joined.session, rater=rater, code=joined.return_code, says=self._instructions()
        )
        return self._with_cookie(response, joined.session)

    def show_login(self) -> Response:
        return self.page("login", fault=None)

    async def log_in(self, request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        rater = sent.get("rater", "").strip().lower()[:40]
        self._wait(request, f"rater {rater}")
        try:
            found = await run_in_threadpool(
                accounts.log_in, self.desk.store, self.desk.study, rater, sent.get("code", "")[:80]
            )
        except accounts.NotLetIn as error:
            self.throttle.failed(_caller(request))
            self.throttle.failed(f"rater {rater}")
            return self.page("login", 403, fault=error.what)
        return self._with_cookie(RedirectResponse("/", 303), found)

    async def log_out(self, request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        found = await run_in_threadpool(self.session, request)
        if not hmac.compare_digest(sent.get("csrf", ""), found.csrf):
            raise HTTPException(403, "This page is out of date: load it again.")
        await run_in_threadpool(accounts.log_out, self.desk.store, found.token)
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE)
        return response

    def _instructions(self) -> str:
        return self.desk.study.says or self.desk.form.says

    def _wait(self, request: Request, *others: str) -> None:
        wait_s = max(self.throttle.wait_s(one) for one in (_caller(request), *others))
        if wait_s > 0:
            raise HTTPException(429, "Too many attempts: try again later.", {"Retry-After": str(int(wait_s) + 1)})

    def _with_cookie(self, response: Response, session: accounts.Session) -> Response:
        seconds = int(self.desk.study.session_hours * 3600)
        response.set_cookie(
            COOKIE, session.token, max_age=seconds, httponly=True, samesite="lax", secure=self.site.secure, path="/"
        )
        return response


def _caller(request: Request) -> str:
    return request.client.host if request.client else "unknown"
