"""The app over a made study, and a browser of few words to talk to it: Starlette's client, cookies kept."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from onlooker.annotate import accounts
from onlooker.annotate.material import gather_material
from onlooker.annotate.shelf import fill_shelf
from onlooker.annotate.submitting import Desk
from onlooker.annotate.web.app import create_app
from onlooker.annotate.web.site import Site
from onlooker.records.bundle import open_bundle

BASE = "http://127.0.0.1:8000"


def make_site(desk: Desk, bundle: Path, cache: Path, notices: list[str] | None = None, **settings: Any) -> Site:
    opened = open_bundle(bundle)
    secret = desk.store.setting("secret")
    assert secret
    told = notices if notices is not None else []
    material = gather_material(opened, desk.form, desk.cases, secret)
    shelf = fill_shelf(opened, desk.form, desk.cases, secret, cache, told.append)
    return Site(desk, material, shelf, **settings)


class Person:
    """Somebody at a browser. ``join`` takes an invitation; ``post`` carries the page's token."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.client = TestClient(create_app(site), base_url=BASE, raise_server_exceptions=False, follow_redirects=False)
        self.rater = self.code = self.csrf = ""

    def join(self, role: Any = "rater", name: str = "") -> Person:
        token = accounts.invite(self.site.desk.store, self.site.desk.study, role, name=name)
        page = self.client.post(f"/join/{token}")
        assert page.status_code == 200, page.text
        self.rater, self.code = (
            re.search(rf'id="{one}">([^<]+)<', page.text)[1]  # type: ignore[index]
            for one in ("rater", "code")
        )
        self.csrf = re.search(r'name="csrf" value="([^"]+)"', page.text)[1]  # type: ignore[index]
        return self

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> Any:
        return self.client.post(path, json=body, headers={"X-CSRF-Token": self.csrf, **headers})

    def task(self) -> dict[str, Any]:
        """What the page of the next case hands to its script."""
        page = self.get("/task")
        assert page.status_code == 200, page.text
        found = re.search(r'data-task="([^"]*)"', page.text)
        assert found, page.text
        return dict(json.loads(html.unescape(found[1])))

    def submit(self, task: dict[str, Any], answer: Any, **more: Any) -> Any:
        body = {"case": task["case"], "key": task["key"], "base": task["version"], "answer": answer, **more}
        return self.post("/api/submit", body)

    def answer_for(self, task: dict[str, Any]) -> dict[str, Any]:
        case = self.site.material.by_token[task["case"]]
        is_choice = self.site.desk.cases.by_id[case].item.task == "choice"
        return {"answer": ["A"] if is_choice else "some words"}
