"""Markup in data is text, the page loads nothing, and the policy allows what the page needs and no more."""

from __future__ import annotations

import base64
import hashlib
import re

from tests.report.sample import MARKUP
from tests.report.tree import parse


def test_markup_in_questions_replies_and_file_names_is_text(page: str) -> None:
    root = parse(page)
    assert MARKUP not in page
    assert len(list(root.all("script"))) == 1
    assert not list(root.all("img", "iframe", "object", "embed"))
    assert root.words().count("<img src=x onerror=") > 5
    for told in ("Strangers & <b>none</b>", "<b>GO</b>", "clip <3>.mp4", "视频 测试 😀 #1.mp4"):
        assert told in root.text()


def test_no_inline_handler_and_no_inline_style(page: str) -> None:
    for node in parse(page).everything():
        assert not [name for name in node.attributes if name.startswith("on") or name == "style"]


def test_the_policy_holds_exactly_the_style_and_the_script(page: str) -> None:
    root = parse(page)
    policy = next(m for m in root.all("meta") if "http-equiv" in m.attributes).attributes["content"]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (node,) = root.all(tag)
        digest = base64.b64encode(hashlib.sha256(node.text().encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy


def test_the_page_names_no_address_to_load(page: str) -> None:
    root = parse(page)
    for node in root.everything():
        for name in ("src", "href", "srcset", "action", "xlink:href"):
            address = node.attributes.get(name, "#")
            assert address.startswith(("#", "data:")), (node.tag, name, address)
    styles = next(root.all("style")).text()
    assert "url(" not in styles
    assert "@import" not in styles
    assert not re.findall(r"https?://", next(root.all("script")).text())
