"""For those who look after the study: monitoring and export. Nothing here changes an answer."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from fastapi import FastAPI, HTTPException, Request, Response

from onlooker.annotate import accounts
from onlooker.annotate.export import collect, csv_text
from onlooker.annotate.monitor import Watch
from onlooker.annotate.web.site import Pages
from onlooker.records.jsonl import encode_row


class Oversight(Pages):
    """For those who look after the study: monitoring and export."""

    def install(self, app: FastAPI) -> None:
        app.get("/overview")(self.overview)
        app.get("/api/monitor")(self.monitor)
        app.get("/api/monitor/page")(self.monitor_page)
        app.get("/export/{name}.{ending}")(self.export)

    @cached_property
    def _watch(self) -> Watch:
        return Watch(self.desk, self.site.shelf)

    def overview(self, request: Request) -> Response:
        session = self.session(request)
        may = self.desk.study.may(session.rater.role, "monitor")
        return self.page("overview", session=session, state=self._state(session) if may else None)

    def monitor(self, request: Request) -> Any:
        return self._state(self.session(request, "monitor"))

    def monitor_page(self, request: Request, since: int = -1) -> Response:
        """What the overview shows, as a piece of its page; 204 where nothing happened after the event ``since``."""
        state = self._state(self.session(request, "monitor"))
        return Response(status_code=204) if state["event"] == since else self.page("live", state=state)

    def _state(self, session: accounts.Session) -> dict[str, Any]:
        """Whoever may rate too is not told which cases are gold."""
        state = self._watch.state()
        return {**state, "gold": []} if self.desk.study.may(session.rater.role, "rate") else state

    def export(self, request: Request, name: str, ending: Literal["jsonl", "csv"]) -> Response:
        session = self.session(request, "export")
        files = collect(self.desk, history=name == "history").files
        if name not in files:
            raise HTTPException(404, f"There is no such export; there are {', '.join(files)}.")
        with self.desk.store.database.transaction():
            self.desk.store.append("exported", rater=session.rater.id, body={"file": name, "rows": len(files[name])})
        headers = {"Content-Disposition": f'attachment; filename="{name}.{ending}"'}
        if ending == "csv":
            return Response(csv_text(files[name]).encode(), media_type="text/csv; charset=utf-8", headers=headers)
        content = b"".join(encode_row(row) for row in files[name])
        return Response(content, media_type="application/jsonl; charset=utf-8", headers=headers)
