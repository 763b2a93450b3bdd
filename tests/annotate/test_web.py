"""Pages and API from outside: who gets in, what may be seen, what a request can and cannot do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onlooker.annotate import accounts
from onlooker.annotate.accounts import Throttle
from onlooker.annotate.database import open_database
from onlooker.annotate.submitting import Desk
from onlooker.annotate.web.site import Site

from .made import NASTY, Hands, make_bundle, make_desk, write_clip
from .serving import Person, make_site


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def desk(tmp_path: Path, hands: Hands) -> Iterator[Desk]:
    bundle = make_bundle(tmp_path / "bundle", 6)
    write_clip(bundle)
    settings: dict[str, Any] = {
        "overlap": 2,
        "gold": {"every": 2, "answers": {"q5": {"answer": ["B"]}}},
        "title": f"Study {NASTY}",
    }
    database = open_database(str(tmp_path / "study.sqlite"), "pilot")
    yield make_desk(database, bundle, clock=hands.clock(), **settings)
    database.close()


@pytest.fixture
def site(desk: Desk, tmp_path: Path) -> Site:
    return make_site(desk, tmp_path / "bundle", tmp_path / "cache")


# --- getting in -----------------------------------------------------------------------------------


def test_an_invitation_works_once_and_looking_does_not_take_it(site: Site) -> None:
    token = accounts.invite(site.desk.store, site.desk.study, "rater")
    person = Person(site)
    assert [person.get(f"/join/{token}").status_code for _ in range(3)] == [200] * 3
    assert person.client.post(f"/join/{token}").status_code == 200
    assert person.get(f"/join/{token}").status_code == 403
    assert Person(site).client.post(f"/join/{token}").status_code == 403
    assert len(site.desk.store.raters()) == 1


def test_an_invitation_expires(site: Site, hands: Hands) -> None:
    token = accounts.invite(site.desk.store, site.desk.study, "rater")
    hands.go(14 * 86_400 + 1)
    assert Person(site).client.post(f"/join/{token}").status_code == 403


def test_tokens_and_codes_are_nowhere_in_the_database(site: Site, tmp_path: Path) -> None:
    token = accounts.invite(site.desk.store, site.desk.study, "rater")
    person = Person(site)
    page = person.client.post(f"/join/{token}")
    cookie = person.client.cookies["onlooker_session"]
    code = page.text.split('id="code">')[1].split("<")[0]
    content = b"".join(path.read_bytes() for path in tmp_path.glob("study.sqlite*"))
    for secret in (token, cookie, code):
        assert secret.encode() not in content
    assert (tmp_path / "study.sqlite").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("secure", [False, True])
def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(desk: Desk, tmp_path: Path, *, secure: bool) -> None:
    site = make_site(desk, tmp_path / "bundle", tmp_path / "cache", secure=secure)
    token = accounts.invite(desk.store, desk.study, "rater")
    page = Person(site).client.post(f"/join/{token}")
    parts = {part.strip().lower() for part in page.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=lax", "path=/"} <= parts
    assert ("secure" in parts) is secure
    assert ("strict-transport-security" in page.headers) is secure


def test_coming_back_by_return_code_after_the_session_ended_finds_the_draft(site: Site, hands: Hands) -> None:
    person = Person(site).join()
    task = person.task()
    assert person.post("/api/draft", {"case": task["case"], "draft": {"answer": ["A"]}}).json() == {"saved": True}
    hands.go(13 * 3600)
    refused = person.submit(task, {"answer": ["A"]})
    assert refused.status_code == 401
    assert "Nothing you saved is lost" in refused.json()["error"]
    assert person.get("/task").headers["location"] == "/login"
    back = person.client.post("/login", data={"rater": person.rater.upper(), "code": f" {person.code} "})
    assert back.status_code == 303
    again = person.task()
    assert (again["case"], again["draft"]) == (task["case"], {"answer": ["A"]})


def test_log_in_is_limited_by_caller_and_by_name(site: Site) -> None:
    person = Person(site).join()
    stranger = Person(site)
    tried = [stranger.client.post("/login", data={"rater": person.rater, "code": f"x{n}"}) for n in range(12)]
    assert [page.status_code for page in tried] == [403] * 10 + [429] * 2
    assert int(tried[-1].headers["retry-after"]) > 0
    right = stranger.client.post("/login", data={"rater": person.rater, "code": person.code})
    assert right.status_code == 429, "the right code does not help during the wait"


def test_the_throttle_forgets_in_time() -> None:
    now = [0.0]
    throttle = Throttle(most=2, within_s=10, monotonic=lambda: now[0])
    for _ in range(2):
        throttle.failed("a")
    assert throttle.wait_s("a") == 10
    assert throttle.wait_s("b") == 0
    now[0] = 10.0
    assert throttle.wait_s("a") == 0


# --- requests of others ---------------------------------------------------------------------------


def test_a_request_without_the_pages_token_or_from_another_site_changes_nothing(site: Site) -> None:
    person = Person(site).join()
    task = person.task()
    body = {"case": task["case"], "key": task["key"], "base": 0, "answer": person.answer_for(task)}
    assert person.client.post("/api/submit", json=body).status_code == 403
    assert person.client.post("/api/submit", json=body, headers={"X-CSRF-Token": "guess"}).status_code == 403
    assert person.post("/api/submit", body, Origin="https://evil.example").status_code == 403
    assert person.post("/api/submit", body, Host="evil.example").status_code == 421
    assert person.client.post("/logout", data={"csrf": "guess"}).status_code == 403
    assert site.desk.store.events("answered") == []
    assert person.post("/api/submit", body, Origin="http://127.0.0.1:8000").status_code == 200


@pytest.mark.parametrize(
    "path", ["/task", "/mine", "/api/next", "/api/mine", "/api/monitor", "/overview", "/export/ratings.csv"]
)
def test_nothing_is_open_without_a_session(site: Site, path: str) -> None:
    page = Person(site).get(path)
    assert page.status_code in {303, 401}
    assert page.headers.get("location", "/login") == "/login"


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("rater", {"/api/next"}),
        ("expert", {"/api/next", "/api/disagreements"}),
        ("monitor", {"/api/monitor"}),
        ("owner", {"/api/monitor", "/api/disagreements", "/export/ratings.jsonl", "/export/history.csv"}),
    ],
)
def test_each_role_reaches_what_it_may_and_nothing_else(site: Site, role: str, allowed: set[str]) -> None:
    person = Person(site).join(role)
    everything = ("/api/next", "/api/monitor", "/api/disagreements", "/export/ratings.jsonl", "/export/history.csv")
    assert {path for path in everything if person.get(path).status_code == 200} == allowed
    assert {person.get(path).status_code for path in set(everything) - allowed} == {403}


def test_w11_a_rater_sees_own_work_only_and_nothing_that_gives_answers_away(site: Site) -> None:
    """Pages, lists, by id, media, sources: what B can reach holds no answer of A, no reference, no gold, no model."""
    first, second = Person(site).join(name="Ana Example"), Person(site).join()
    task = first.task()
    assert first.submit(task, first.answer_for(task)).status_code == 200
    words = "WORDS-OF-THE-FIRST"
    own = first.task()
    first.post("/api/draft", {"case": own["case"], "draft": {"answer": words}})
    assert second.get(f"/api/work/{task['case']}").status_code == 403
    assert second.get(f"/task/{task['case']}").status_code == 403
    assert second.get("/api/work/q0").status_code == 403, "an id is no token"
    body = {"case": task["case"], "key": "key-of-second", "base": 0, "answer": {"answer": ["A"]}}
    assert second.post("/api/submit", body).status_code == 403
    assert second.post("/api/draft", {"case": task["case"], "draft": {}}).status_code == 403
    seen = []
    while (work := second.get("/api/next").json()["work"]) is not None:
        seen += [
            second.get(path).text for path in ("/task", "/mine", "/api/mine", f"/api/work/{work['case']}", "/overview")
        ]
        assert second.submit(second.task(), second.answer_for(work)).status_code == 200
    everything = "\n".join(seen)
    for hidden in (words, first.rater, "Ana Example", "SECRET", "gold", "correct", "reference", "cues", '"q5"', "held"):
        assert hidden not in everything, hidden
    assert len(seen) == 5 * 6, "all six cases, gold among them, look alike"


def test_a_medium_is_for_whoever_has_its_case(site: Site) -> None:
    first, second = Person(site).join(), Person(site).join("monitor")
    case = site.material.by_token[first.task()["case"]]
    (placed,) = site.shelf.by_case[case]
    assert first.get(f"/media/{placed.token}").status_code == 200
    assert second.get(f"/media/{placed.token}").status_code == 403
    assert Person(site).get(f"/media/{placed.token}").status_code in {303, 401}


# --- media ----------------------------------------------------------------------------------------


def test_w06_ranges(site: Site, tmp_path: Path) -> None:
    person = Person(site).join()
    case = site.material.by_token[person.task()["case"]]
    address = f"/media/{site.shelf.by_case[case][0].token}"
    content = (tmp_path / "bundle" / "media" / "clip.mp4").read_bytes()
    whole = person.get(address)
    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-type"] == "video/mp4"
    assert "content-disposition" not in whole.headers, "no file name"
    for asked, wanted in (
        ("bytes=100-199", content[100:200]),
        ("bytes=-1", content[-1:]),
        ("bytes=0-", content),
        (f"bytes={len(content) - 5}-{len(content) + 500}", content[-5:]),
    ):
        part = person.get(address, Range=asked)
        assert (part.status_code, part.content) == (206, wanted), asked
        assert part.headers["content-range"].endswith(f"/{len(content)}")
    beyond = person.get(address, Range=f"bytes={len(content)}-")
    assert beyond.status_code == 416
    assert beyond.headers["content-range"] in {f"bytes */{len(content)}", f"*/{len(content)}"}


@pytest.mark.parametrize(
    "path",
    [
        "../../STUDY.yaml",
        "..%2f..%2fSTUDY.yaml",
        "%2e%2e/bundle.yaml",
        "media/clip.mp4",
        "clip.mp4",
        "/etc/passwd",
        "e1",
        "%00",
    ],
)
def test_no_path_leads_to_a_file(site: Site, path: str) -> None:
    person = Person(site).join()
    person.task()
    for begin in ("/media/", "/static/"):
        page = person.client.get(begin + path)
        assert page.status_code in {400, 403, 404}, page.text
        assert b"overlap" not in page.content


# --- words of others ------------------------------------------------------------------------------


def test_w12_markup_in_questions_options_and_errors_is_text(site: Site) -> None:
    person = Person(site).join()
    pages = [person.get(path) for path in ("/task", "/mine", "/overview", "/instructions")]
    pages.append(person.get(f"/join/{NASTY}"))
    pages.append(person.client.post("/login", data={"rater": NASTY, "code": NASTY}))
    body = {"case": NASTY, "key": NASTY[:30], "base": 0, "answer": {NASTY: NASTY}}
    pages.append(person.post("/api/submit", body))
    for page in pages:
        assert "<img" not in page.text or page.headers["content-type"] == "application/json"
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
    assert "&lt;img" in pages[0].text
    assert "style=" not in pages[0].text
    assert not [line for line in pages[0].text.splitlines() if "<script" in line and "src=" not in line]


def test_w04_a_fault_of_the_server_is_told_and_logged_without_words_of_people(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    person = Person(site).join()
    task = person.task()
    answer = person.answer_for(task)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("disk on fire")

    with monkeypatch.context() as patched, caplog.at_level(logging.DEBUG):
        patched.setattr(site.desk.store, "append", fail)
        told = person.submit(task, answer)
    assert told.status_code == 500
    assert "please try again" in told.json()["error"]
    assert "fire" not in told.text
    assert "disk on fire" in caplog.text
    for private in (person.rater, task["case"], person.csrf, "127.0.0.1", "testclient"):
        assert private not in "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("onlooker"))
    assert person.submit(task, answer).status_code == 200
    assert person.submit(task, answer).json()["work"]["answer"] == answer, "the same key once more"
    assert len(site.desk.store.events("answered")) == 1


def test_w04_the_second_tab_is_warned_with_what_stands(site: Site) -> None:
    person = Person(site).join()
    while site.desk.cases.by_id[site.material.by_token[(task := person.task())["case"]]].item.task != "choice":
        person.post("/api/skip", {"case": task["case"], "key": task["key"]})
    other = person.task()
    assert other["case"] == task["case"]
    assert other["key"] != task["key"]
    assert person.submit(task, {"answer": ["A"]}).status_code == 200
    warned = person.submit(other, {"answer": ["B"]})
    assert warned.status_code == 409
    assert warned.json()["standing"]["answer"] == {"answer": ["A"]}


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'{"case": 1}', b"\xff\xfe", b'{"case": "x", "key": "abcdefgh", "base": "0", "answer": {}}', b"null"],
)
def test_what_no_page_sends_is_refused_in_words(site: Site, body: bytes) -> None:
    person = Person(site).join()
    headers = {"X-CSRF-Token": person.csrf, "Content-Type": "application/json"}
    told = person.client.post("/api/submit", content=body, headers=headers)
    assert told.status_code in {400, 422}
    assert "error" in told.json()


def test_a_huge_request_is_refused_before_it_is_read(site: Site) -> None:
    person = Person(site).join()
    assert person.post("/api/draft", {"case": "x", "draft": {"answer": "x" * 1_000_001}}).status_code == 413
    stream = person.client.post("/api/draft", content=iter([b"{}"]), headers={"X-CSRF-Token": person.csrf})
    assert stream.status_code == 411


def test_a_withdrawn_rater_is_out_at_once(site: Site) -> None:
    person = Person(site).join()
    person.task()
    accounts.withdraw(site.desk.store, person.rater, "detach")
    assert person.get("/task").status_code == 303
    assert person.client.post("/login", data={"rater": person.rater, "code": person.code}).status_code == 403
