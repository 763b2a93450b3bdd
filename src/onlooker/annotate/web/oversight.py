"""For those who look after the study: monitoring, adjudication, export."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from onlooker.annotate import accounts
from onlooker.annotate.adjudicating import adjudicate, disagreements
from onlooker.annotate.export import collect, csv_text
from onlooker.annotate.monitor import monitor
from onlooker.annotate.web.site import Pages
from onlooker.records.jsonl import encode_row


class _SentRuling(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    case: Annotated[str, Field(max_length=80)]
    key: Annotated[str, Field(min_length=8, max_length=80)]
    answer: dict[str, Any]
    says: Annotated[str, Field(max_length=2000)] | None = None


class Oversight(Pages):
    """For those who look after the study: monitoring, adjudication, export."""

    def install(self, app: FastAPI) -> None:
        app.get("/overview")(self.overview)
        app.get("/api/monitor")(self.monitor)
        app.get("/api/disagreements")(self.disagreements)
        app.post("/api/adjudicate")(self.adjudicate)
        app.get("/export/{name}.{ending}")(self.export)

    def overview(self, request: Request) -> Response:
        session = self.session(request)
        return self.page(
            "overview", session=session, state=monitor(self.desk, self.site.shelf) if self._sees(session) else None
        )

    def _sees(self, session: accounts.Session) -> bool:
        return self.desk.study.may(session.rater.role, "monitor")

    def monitor(self, request: Request) -> Any:
        self.session(request, "monitor")
        return monitor(self.desk, self.site.shelf)

    def disagreements(self, request: Request) -> Any:
        self.session(request, "adjudicate")
        return {
            "cases": [
                {
                    "case": self.site.material.token(one.case),
                    "shown": self.site.material.shown(one.case),
                    "answers": [
                        {"rater": work.rater, "answer": work.answer, "opt_out": work.opt_out} for work in one.works
                    ],
                    "ruling": None if one.ruling is None else one.ruling.body,
                }
                for one in disagreements(self.desk)
            ]
        }

    def adjudicate(self, request: Request, sent: _SentRuling) -> Any:
        session = self.writer(request, "adjudicate")
        event = adjudicate(self.desk, session.rater.id, self.case(sent.case), sent.answer, sent.says, sent.key)
        return {"version": event.seq}

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
