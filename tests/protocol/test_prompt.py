from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.errors import InputError
from onlooker.models.request import Image, Options, Sound, Text
from onlooker.protocol.prompt import PromptFolder, options_of, sounds, timed


class Inline(PromptFolder):
    """A prompt folder whose files are given here."""

    def __init__(self, **files: str) -> None:
        super().__init__("inline")
        self.files = files

    def source(self, template: str) -> str:
        return self.files[template]


FRAMES = (Image(b"one", 0.0, "s"), Image(b"two", 12.4, "s"))


def test_media_stand_where_the_template_puts_them_each_after_its_own_time() -> None:
    folder = Inline(p="Look:{{ frames }}\nAsk: {{ question }}\n{{ options }}\nReply.")
    parts = folder.render(
        "p", {"question": "Why?"}, {"frames": timed(FRAMES), "options": options_of("AB", ["x", "y"], "one")}
    )
    assert parts == (
        Text("Look:"),
        Text("\n[0.00 s]\n"),
        FRAMES[0],
        Text("\n[12.40 s]\n"),
        FRAMES[1],
        Text("\nAsk: Why?\n"),
        Options(("A", "B"), ("x", "y"), "one"),
        Text("\nReply."),
    )


def test_an_empty_block_is_false_and_leaves_no_word_behind() -> None:
    folder = Inline(p="{% if sound %}Hear: {{ sound }}{% endif %}{{ question }}")
    assert folder.render("p", {"question": "Why?"}, {"sound": sounds(None)}) == (Text("Why?"),)
    heard = Sound(b"w", 0.0, 1.0, "s")
    assert folder.render("p", {"question": "Why?"}, {"sound": sounds(heard)}) == (Text("Hear: "), heard, Text("Why?"))


@pytest.mark.parametrize(
    "text", ["{{ options }}", "{% if x %}", "<<frames:0>>", "a { b } $c %d \\1", "\x00", "{{ 7 * 7 }}"]
)
def test_what_an_item_says_is_never_read_as_template(text: str) -> None:
    folder = Inline(p="{{ question }}|{{ options }}")
    parts = folder.render("p", {"question": text}, {"options": options_of("AB", [text, text], "one")})
    assert parts == (Text(f"{text}|"), Options(("A", "B"), (text, text), "one"))


def test_a_template_that_would_lose_media_is_refused() -> None:
    with pytest.raises(InputError, match=r"does not place \['frames'\]"):
        Inline(p="{{ question }}").render("p", {"question": "Why?"}, {"frames": timed(FRAMES)})


def test_a_template_that_asks_for_what_is_not_given_is_refused() -> None:
    with pytest.raises(InputError, match="'transcript' is undefined"):
        Inline(p="{{ transcript }}").render("p", {}, {})


def test_a_missing_prompt_file_names_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no prompt file nope\.txt .*clip\.txt"):
        PromptFolder("onlooker.benchmarks.sivbench").source("nope.txt")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("one\n{% if frames %}\nthree", r"line 3: .*Unexpected end of template.*'if'"),
        ("one\n{{ question }\n", r"line 2: .*unexpected '}'"),
        ("one\ntwo\n{{ question | no_such_filter }}", r"line 3: .*No filter named 'no_such_filter'"),
        ("one\n{{ nothing }}\n", r"line 2: .*'nothing' is undefined\. Remedy: .* are: options, question$"),
    ],
)
def test_a_fault_in_a_prompt_file_is_named_with_its_line(source: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^inline/prompts/p, {message}"):
        Inline(p=source).render("p", {"question": "Why?"}, {"options": ()})


def test_a_package_without_its_prompts_says_how_to_pack_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare_bench_of_a_test").mkdir()
    (tmp_path / "bare_bench_of_a_test" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = PromptFolder("bare_bench_of_a_test")
    with pytest.raises(InputError, match=r"bare_bench_of_a_test has no folder prompts\. .*package data"):
        folder.source("ask.txt")
    (tmp_path / "bare_bench_of_a_test" / "prompts").mkdir()
    with pytest.raises(InputError, match=r"no prompt file ask\.txt .*the folder prompts is empty"):
        folder.source("ask.txt")
    (tmp_path / "bare_bench_of_a_test" / "prompts" / "ask.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"^bare_bench_of_a_test/prompts/ask\.txt: .*not UTF-8"):
        folder.source("ask.txt")
