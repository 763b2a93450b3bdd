"""What the page of a case may say: the view that the form declares, and nothing else. The one file of the app that
reads references, and only for forms that declare to show them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from onlooker.annotate.cases import Case, Cases
from onlooker.errors import InputError
from onlooker.protocol.form import Form
from onlooker.records.bundle import Bundle
from onlooker.records.private import Reference, load_references


@dataclass(frozen=True, slots=True)
class Material:
    """{item: what only scorers may see}, empty unless the form shows some of it; tokens stand for ids on pages."""

    form: Form
    cases: Cases
    secret: str
    references: Mapping[str, Reference] = field(default_factory=dict)
    by_token: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_token.update({self.token(case): case for case in self.cases.by_id})

    def token(self, case: str) -> str:
        """What stands for a case in pages, addresses and the API: it tells nothing, and cannot be guessed."""
        return hmac.new(self.secret.encode(), f"case/{case}".encode(), hashlib.sha256).hexdigest()[:24]

    def shown(self, case_id: str) -> dict[str, Any]:
        """{name: value} of everything that the form declares to show of a case, as plain JSON."""
        case = self.cases.by_id[case_id]
        item = _declared(case.item)
        found: dict[str, Any] = {name: item[name] for name in self.form.shows if item.get(name) is not None}
        found["task"] = case.item.task
        if "options" in self.form.shows and "select" in item:
            found["select"] = item["select"]
        for name in self.form.private:
            value = self._private(case, name)
            if value is not None:
                found[name] = value
        return found

    def _private(self, case: Case, name: str) -> Any:
        if name in {"reply", "verdict"}:
            return case.shown.get(name)
        reference = self.references.get(case.item.id)
        return None if reference is None else _declared(reference).get(name)


def _declared(record: BaseModel) -> dict[str, Any]:
    """The fields that the format declares. What a bundle's maker put beside them (a note, an answer) stays away."""

    def plain(value: Any) -> Any:
        if isinstance(value, BaseModel):
            return {name: plain(getattr(value, name)) for name in type(value).model_fields}
        return [plain(one) for one in value] if isinstance(value, list | tuple) else value

    return {name: plain(getattr(record, name)) for name in type(record).model_fields}


def gather_material(bundle: Bundle, form: Form, cases: Cases, secret: str) -> Material:
    """What the pages of a study are made from. Raises ``InputError`` where the form shows references and the bundle has
    none for an item."""
    wanted = set(form.private) - {"reply", "verdict"}
    if not wanted:
        return Material(form, cases, secret)
    references = load_references(bundle)
    for case in cases.by_id.values():
        if case.item.id not in references:
            raise InputError(
                f"the form {form.name} shows {', '.join(sorted(wanted))}, and the item has no reference",
                where=str(bundle.path / "references.jsonl"),
                value=case.item.id,
            )
    return Material(form, cases, secret, references)
