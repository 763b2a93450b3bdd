"""A rater's own work, and the media of it."""

from __future__ import annotations

import json
import secrets
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

from onlooker.annotate import accounts
from onlooker.annotate.answers import extents
from onlooker.annotate.assigning import next_case
from onlooker.annotate.cases import Case
from onlooker.annotate.submitting import NotYours, Submission, draft, offered_opt_outs, played, put_aside, submit
from onlooker.annotate.web.site import Pages
from onlooker.annotate.work import DONE, SLACK_S, TOUCH_S, Work
from onlooker.protocol.form import PRIVATE, PUBLIC, Checks, ItemAnswer, View, keys_of
from onlooker.records.public import IntensityItem

Key = Annotated[str, Field(min_length=8, max_length=80)]


class _Sent(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    case: Annotated[str, Field(max_length=80)]


class _SentDraft(_Sent):
    draft: dict[str, Any]


class _SentPlayed(_Sent):
    views: dict[str, Annotated[list[list[float]], Field(max_length=500)]]


class _SentAnswer(_Sent):
    key: Key
    base: int
    answer: dict[str, Any] | None = None
    opt_out: str | None = None


class _SentAside(_Sent):
    key: Key
    says: Annotated[str, Field(max_length=2000)] | None = None


class Tasks(Pages):
    """A rater's own work; the media of it."""

    def install(self, app: FastAPI) -> None:
        app.get("/task")(self.show_next)
        app.get("/task/{token}")(self.show_own)
        app.get("/mine")(self.show_mine)
        app.get("/instructions")(self.show_instructions)
        app.get("/media/{token}")(self.medium)
        app.get("/api/next")(self.next)
        app.get("/api/mine")(self.mine)
        app.get("/api/work/{token}")(self.own)
        app.post("/api/draft")(self.draft)
        app.post("/api/played")(self.played)
        app.post("/api/submit")(self.submit)
        app.post("/api/skip")(self.skip)
        app.post("/api/cannot-play")(self.cannot_play)
        app.post("/api/pause")(self.pause)

    def show_next(self, request: Request) -> Response:
        session = self.session(request, "rate")
        work = next_case(self.desk.store, self.desk.study, self.desk.cases, session.rater.id)
        if work is None:
            return self.page("done", session=session, done=self._done(session))
        return self._task(session, work)

    def show_own(self, request: Request, token: str) -> Response:
        session = self.session(request, "rate")
        _, work = self.desk.own(session.rater.id, self.case(token))
        return self._task(session, work)

    def show_mine(self, request: Request) -> Response:
        session = self.session(request, "rate")
        return self.page("mine", session=session, works=self._mine(session), changes=self.desk.study.changes)

    def show_instructions(self, request: Request) -> Response:
        session = self.session(request, "rate")
        return self.page("instructions", session=session, says=self.desk.study.says or self.desk.form.says)

    def medium(self, request: Request, token: str) -> Response:
        """The file behind a token, by ranges; only for whoever has the case, or looks after the study."""
        session = self.session(request)
        case, medium = self.site.shelf.by_token.get(token, (None, None))
        if case is None or medium is None:
            raise HTTPException(404, "There is no such medium.")
        role, may = session.rater.role, self.desk.study.may
        if self.desk.store.work(session.rater.id, case) is None and not (
            may(role, "adjudicate") or may(role, "export")
        ):
            raise NotYours("you have no such case")
        return FileResponse(medium.path, media_type=medium.mime, headers={"Cache-Control": "private, max-age=3600"})

    def next(self, request: Request) -> Any:
        session = self.session(request, "rate")
        work = next_case(self.desk.store, self.desk.study, self.desk.cases, session.rater.id)
        return {"work": None if work is None else self._told_work(work)}

    def mine(self, request: Request) -> Any:
        return {"works": self._mine(self.session(request, "rate"))}

    def own(self, request: Request, token: str) -> Any:
        session = self.session(request, "rate")
        _, work = self.desk.own(session.rater.id, self.case(token))
        return {"work": self._told_work(work)}

    def draft(self, request: Request, sent: _SentDraft) -> Any:
        session = self.writer(request, "rate")
        draft(self.desk, session.rater.id, self.case(sent.case), sent.draft)
        return {"saved": True}

    def played(self, request: Request, sent: _SentPlayed) -> Any:
        session = self.writer(request, "rate")
        work = played(self.desk, session.rater.id, self.case(sent.case), sent.views)
        return {"played": work.played}

    def submit(self, request: Request, sent: _SentAnswer) -> Any:
        session = self.writer(request, "rate")
        case = self.case(sent.case)
        submission = Submission(sent.key, sent.base, sent.answer, sent.opt_out)
        work = submit(self.desk, session.rater.id, case, submission, self.site.shelf.lengths(case))
        return {"work": self._told_work(work)}

    def skip(self, request: Request, sent: _SentAside) -> Any:
        session = self.writer(request, "rate")
        put_aside(self.desk, session.rater.id, self.case(sent.case), "skipped", sent.key)
        return {"saved": True}

    def cannot_play(self, request: Request, sent: _SentAside) -> Any:
        session = self.writer(request, "rate")
        put_aside(self.desk, session.rater.id, self.case(sent.case), "cannot_play", sent.key, sent.says)
        return {"saved": True}

    def pause(self, request: Request) -> Any:
        session = self.writer(request, "rate")
        with self.desk.store.database.transaction():
            self.desk.store.append("paused", rater=session.rater.id)
        return {"saved": True}

    def _mine(self, session: accounts.Session) -> list[dict[str, Any]]:
        works = self.desk.store.works(rater=session.rater.id)
        order = {case: place for place, case in enumerate(self.desk.store.order(session.rater.id))}
        return [self._told_work(work) for work in sorted(works, key=lambda work: order.get(work.case, 0))]

    def _done(self, session: accounts.Session) -> int:
        return sum(state in DONE for state in self.desk.store.states(session.rater.id).values())

    def _told_work(self, work: Work) -> dict[str, Any]:
        """What a person may know of his own work: nothing of others', nor whether the case is gold."""
        shown = self.site.material.shown(work.case)
        return {
            "case": self.site.material.token(work.case),
            "title": str(shown.get("question") or ""),
            "state": work.state,
            "version": work.version,
            "answer": work.answer,
            "opt_out": work.opt_out,
            "draft": work.draft,
            "played": work.played,
        }

    def _task(self, session: accounts.Session, work: Work) -> Response:
        desk, case = self.desk, self.desk.cases.by_id[work.case]
        placed = self.site.shelf.by_case[work.case]
        offered = offered_opt_outs(desk)
        shown = {**dict.fromkeys((*PUBLIC, *PRIVATE, "select")), **self.site.material.shown(work.case)}
        data = {
            **self._told_work(work),
            "key": secrets.token_urlsafe(18),
            "rater": session.rater.id,
            "csrf": session.csrf,
            "parts": {
                one.view.medium: [
                    {"name": name, "start_s": start_s, "end_s": end_s}
                    for name, start_s, end_s in extents(desk.form, case, one.view, one.medium.duration_s)
                ]
                for one in placed
            },
            "rule": desk.form.playback,
            "moments": shown["moments"] or [],
            "ranges": {one.view.medium: _range(case, one.view) for one in placed},
            "frame_s": next((one.medium.frame_s for one in placed if one.medium.frame_s), None),
            "touch_s": TOUCH_S,
            "slack_s": SLACK_S,
        }
        return self.page(
            "task",
            session=session,
            form=desk.form,
            shown=shown,
            keys={field.name: keys_of(field) for field in desk.form.fields},
            has_checks=any(isinstance(field, Checks) for field in desk.form.fields),
            asks_item=any(isinstance(field, ItemAnswer) for field in desk.form.fields),
            placed=placed,
            opt_outs=[one for one in desk.form.opt_outs if one.value in offered],
            data=json.dumps(data, ensure_ascii=False),
            done=self._done(session),
            is_done=work.state in DONE,
        )


def _range(case: Case, view: View) -> list[float] | None:
    """[start, end] in seconds of what the player of a view stays within; None: all of it."""
    item = case.item
    if view.extent == "window" and item.window is not None:
        return [item.window.start_s, item.window.end_s]
    if view.extent == "moments" and isinstance(item, IntensityItem):
        return [min(one.start_s for one in item.moments), max(one.end_s for one in item.moments)]
    return None
