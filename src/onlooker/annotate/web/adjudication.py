"""The pages and API of adjudication: which cases are in dispute, one case with all its answers, the ruling."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Annotated, Any, Final

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from onlooker.annotate import accounts
from onlooker.annotate.adjudicating import RULE, Disagreement, adjudicate, disagreements
from onlooker.annotate.submitting import NotYours
from onlooker.annotate.web.site import Pages
from onlooker.protocol import form as forms
from onlooker.protocol.form import PRIVATE, PUBLIC, choices_of
from onlooker.records.public import ChoiceItem, IntensityItem

_LISTED: Final = 200


class _SentRuling(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    case: Annotated[str, Field(max_length=80)]
    key: Annotated[str, Field(min_length=8, max_length=80)]
    base: int
    answer: dict[str, Any]
    says: Annotated[str, Field(max_length=2000)] | None = None


class Adjudication(Pages):
    """For experts. Raters appear as A, B, C ..., in an order of its own for every case."""

    def install(self, app: FastAPI) -> None:
        app.get("/adjudicate")(self.show_list)
        app.get("/adjudicate/{token}")(self.show_case)
        app.get("/api/disagreements")(self.disagreements)
        app.post("/api/adjudicate")(self.adjudicate)

    def show_list(self, request: Request) -> Response:
        session = self.session(request, "adjudicate")
        found = disagreements(self.desk, session.rater.id)
        cases = [self._listed(one) for one in found[:_LISTED]]
        return self.page("disagreements", session=session, cases=cases, count=len(found), rule=RULE)

    def show_case(self, request: Request, token: str) -> Response:
        session = self.session(request, "adjudicate")
        one = self._find(session, self.case(token))
        case = self.desk.cases.by_id[one.case]
        data = {
            "case": token,
            "csrf": session.csrf,
            "key": secrets.token_urlsafe(18),
            "base": one.ruling.seq if one.ruling else 0,
            "answers": [work.answer for work in one.works],
            "standing": (one.ruling.body or {}).get("answer") if one.ruling else None,
        }
        return self.page(
            "adjudicate",
            session=session,
            form=self.desk.form,
            shown={**dict.fromkeys((*PUBLIC, *PRIVATE, "select")), **self.site.material.shown(one.case)},
            asks_item=any(isinstance(field, forms.ItemAnswer) for field in self.desk.form.fields),
            placed=self.site.shelf.by_case[one.case],
            moments=case.item.moments if isinstance(case.item, IntensityItem) else (),
            labels=self._labels(one),
            answers=self._answers(one),
            questions=list(self._questions(one)),
            opt_outs={choice.value: choice.title for choice in self.desk.form.opt_outs},
            says=(one.ruling.body or {}).get("says") if one.ruling else None,
            is_ruled=one.ruling is not None,
            data=json.dumps(data, ensure_ascii=False),
        )

    def disagreements(self, request: Request) -> Any:
        session = self.session(request, "adjudicate")
        return {"rule": RULE, "cases": [self._listed(one) for one in disagreements(self.desk, session.rater.id)]}

    def adjudicate(self, request: Request, sent: _SentRuling) -> Any:
        session = self.writer(request, "adjudicate")
        case, rater = self.case(sent.case), session.rater.id
        event = adjudicate(self.desk, rater, case, sent.answer, sent.says or None, sent.key, sent.base)
        return {"version": event.seq}

    def _find(self, session: accounts.Session, case: str) -> Disagreement:
        for one in disagreements(self.desk, session.rater.id):
            if one.case == case:
                return one
        raise NotYours("no disagreement that is open to you")

    def _listed(self, one: Disagreement) -> dict[str, Any]:
        titles = {field.name: field.title for field in self.desk.form.fields} | {"opt_out": "Declined by some"}
        ruling = None
        if one.ruling is not None and one.ruling.body:
            ruling = {**one.ruling.body, "version": one.ruling.seq, "expert": one.ruling.rater}
        return {
            "case": self.site.material.token(one.case),
            "shown": self.site.material.shown(one.case),
            "differs": [titles[name] for name in one.fields],
            "steps": one.steps,
            "answers": self._answers(one),
            "ruling": ruling,
        }

    def _labels(self, one: Disagreement) -> list[str]:
        return [_label(n) for n in range(len(one.works))]

    def _answers(self, one: Disagreement) -> list[dict[str, Any]]:
        return [
            {"rater": label, "answer": work.answer, "opt_out": work.opt_out}
            for label, work in zip(self._labels(one), one.works, strict=True)
        ]

    def _questions(self, one: Disagreement) -> Iterator[dict[str, Any]]:
        """What is asked, one row a field, moment and criterion: its place ``path`` in the answer, the words for each
        rater's value (None: declined or not asked), and what may be chosen."""
        item = self.desk.cases.by_id[one.case].item
        moments = item.moments if isinstance(item, IntensityItem) else ()
        for field in self.desk.form.fields:
            offered = [(choice.value, choice.title, choice.says) for choice in choices_of(field)]
            kind = "many" if isinstance(field, forms.ManyOf) else "one" if offered else "words"
            if isinstance(field, forms.ItemAnswer) and isinstance(item, ChoiceItem):
                offered = [(option.id, option.text, "") for option in item.options]
                kind = "many" if item.select == "all" else "only"
            units = [(moment.id,) for moment in moments] if field.per == "moment" else [()]
            parts: Sequence[tuple[tuple[str, ...], str, list[tuple[Any, str, str]]]] = [((), "", offered)]
            if isinstance(field, forms.Checks):
                parts = [((str(c.value),), c.title, [(True, "Yes", ""), (False, "No", "")]) for c in field.criteria]
            for unit in units:
                for part, title, choices in parts:
                    path = [field.name, *unit, *part]
                    values = [_at(work.answer, path) for work in one.works]
                    yield {
                        "path": path,
                        "title": ": ".join(filter(None, (field.title, *(f"moment {u}" for u in unit), title))),
                        "says": field.says,
                        "kind": kind,
                        "choices": choices,
                        "when": field.when,
                        "rows": getattr(field, "rows", 3),
                        "most_chars": getattr(field, "most_chars", 2000),
                        "given": [_words(value, choices) for value in values],
                        "differs": any(value != values[0] for value in values),
                    }


def _label(n: int) -> str:
    """A ... Z, then A2 ..."""
    round_, place = divmod(n, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")


def _at(answer: Any, path: Sequence[str]) -> Any:
    for step in path:
        answer = answer.get(step) if isinstance(answer, dict) else None
    return answer


def _words(value: Any, choices: Sequence[tuple[Any, str, str]]) -> str | None:
    """A value as people read it; a number of a scale stays in sight."""
    if value is None:
        return None
    found = []
    for one in value if isinstance(value, list) else [value]:
        title = next((title for known, title, _ in choices if known == one), str(one))
        is_number = isinstance(one, int | float) and not isinstance(one, bool) and title != str(one)
        found.append(f"{one} · {title}" if is_number else title)
    return "; ".join(found)
