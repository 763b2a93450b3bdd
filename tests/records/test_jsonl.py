"""Reading and writing JSON lines."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError, OnlookerError
from onlooker.records.jsonl import AppendFile, Row, read_rows, scan_rows, write_rows, write_text
from onlooker.records.problem import Problem
from onlooker.records.public import ITEM, Episode
from onlooker.records.tail import TornTail

Write = Callable[[bytes], Path]


def problems(path: Path, kind: Any = ITEM, *, repeated_keys: bool = False) -> list[str]:
    found = scan_rows(path, kind, name="items.jsonl", repeated_keys=repeated_keys)
    return [str(row) for row in found if isinstance(row, Problem)]


def test_lines_end_at_newlines_only(jsonl: Write) -> None:
    text = "a\u2028b\u2029c\x85d"
    row = json.dumps({"id": text}, ensure_ascii=False).encode()
    path = jsonl(row + b'\r\n\n  \n{"id": "x"}')
    assert [(found.line, found.record.id) for found in read_rows(path, Episode)] == [
        (1, text),
        (4, "x"),
    ]


def test_byte_order_mark_is_tolerated(jsonl: Write) -> None:
    path = jsonl(b'\xef\xbb\xbf{"id": "x"}\n')
    assert [row.record.id for row in read_rows(path, Episode)] == ["x"]


def test_utf16_is_named(jsonl: Write) -> None:
    path = jsonl('{"id": "x"}\n'.encode("utf-16"))
    assert problems(path) == ["items.jsonl, line 1: the file is UTF-16, expected UTF-8. Remedy: save the file as UTF-8"]


ITEM_START = b'{"id": "a", "episode": "e", "task": "open", "question": '


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{}", 'task: required field is missing. Remedy: add "task"'),
        (b'{"id": "a", "task": "open", "question": "?"}', 'episode: required field is missing. Remedy: add "episode"'),
        (ITEM_START + b"5}", 'question: expected text, found 5. Remedy: write it in quotes: "5"'),
        (ITEM_START + b"null}", "question: expected text, found null. Remedy: write text in quotes"),
        (
            ITEM_START + b'"?", "window": []}',
            "window: expected an object, found []. Remedy: write an object: {...}",
        ),
        (
            ITEM_START + b'"?", "window": {"start_s": true, "end_s": 1}}',
            "window.start_s: expected a number, found true. Remedy: write a number without quotes",
        ),
        (
            ITEM_START + b'"?", "window": {"start_s": 0, "end_s": 1e999}}',
            "window.end_s: expected a finite number, found Infinity. Remedy: write null where there is no value",
        ),
        (
            ITEM_START + b'"?", "extra": {"deep": [NaN]}}',
            'extra: expected a finite number, found {"deep": [NaN]}. Remedy: write null where there is no value',
        ),
        (
            ITEM_START + b'"?", "history": "none"}',
            'history: expected a list, found "none". Remedy: write a list: [...]',
        ),
        (
            ITEM_START + b'"?", "labels": {"str": {"x": 1}}}',
            (
                'labels.str: expected text, a number, true or false or a list, found {"x": 1}. '
                "Remedy: write it as one of these"
            ),
        ),
        (
            ITEM_START + b'"?", "labels": {"a": ["b", null]}}',
            "labels.a.1: expected text, a number or true or false, found null. Remedy: write it as one of these",
        ),
        (
            (
                b'{"id": "a", "episode": "e", "task": "choice", "choice": 1, "question": "?", '
                b'"select": "one", "options": [{"id": 5, "text": "x"}]}'
            ),
            'options.0.id: expected text, found 5. Remedy: write it in quotes: "5"',
        ),
        (b"[]", "expected an object, found []. Remedy: write an object: {...}"),
        (
            b'{"id": ',
            "not valid JSON at column 7: EOF while parsing a value. Remedy: write one JSON object a line",
        ),
        (
            b'{"id": "\xff"}',
            "not valid UTF-8 at byte 8 of the line. Remedy: save the file as UTF-8",
        ),
        (
            ITEM_START + b'"' + b"x" * 200 + b'", "window": "' + b"y" * 200 + b'"}',
            f'window: expected an object, found "{"y" * 119}.... Remedy: write an object: {{...}}',
        ),
    ],
)
def test_problem_in_plain_words(jsonl: Write, line: bytes, expected: str) -> None:
    found = problems(jsonl(b"\n" + line + b"\n"))
    separator = ": " if expected.startswith(("not", "expected")) else ", "
    assert found == [f"items.jsonl, line 2{separator}{expected}"]


def test_lone_surrogate_is_one_problem(jsonl: Write) -> None:
    found = problems(jsonl(ITEM_START + b'"\\ud800"}\n'))
    assert len(found) == 1
    assert found[0].startswith("items.jsonl, line 1: not valid JSON at column ")


def test_repeated_keys_are_found_on_request(jsonl: Write) -> None:
    path = jsonl(ITEM_START + b'"?", "question": "!", "labels": {"a": 1, "a": 2}}\n')
    assert problems(path) == []
    assert problems(path, repeated_keys=True) == [
        "items.jsonl, line 1, a: the key stands twice in one object. Remedy: keep one of the two",
        "items.jsonl, line 1, question: the key stands twice in one object. Remedy: keep one of the two",
    ]


def test_scan_goes_on_and_read_stops(jsonl: Write) -> None:
    path = jsonl(b'{"id": "a"}\n{"id": 1}\n{"id": "b"}\n{}\n')
    kinds = [type(found) for found in scan_rows(path, Episode)]
    assert kinds == [Row, Problem, Row, Problem]
    rows = read_rows(path, Episode)
    assert next(rows).record.id == "a"
    with pytest.raises(InputError) as caught:
        next(rows)
    assert str(caught.value) == (f'{path}, line 2, id: expected text, found 1. Remedy: write it in quotes: "1"')


def test_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with pytest.raises(InputError, match="no such file"):
        list(read_rows(path, Episode))


def test_a_row_is_written_as_it_was_read(jsonl: Write, tmp_path: Path) -> None:
    content = b'{"zeta": 1.0, "id":"a", "note": 1E2, "media": {"own": null, "video": null}}\n'
    copy = tmp_path / "copy.jsonl"
    assert write_rows(copy, read_rows(jsonl(content), Episode)) == 1
    assert copy.read_bytes() == content


def test_line_separators_are_written_as_escapes(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    text = "a\u2028b\u2029c\x85d"
    write_rows(path, [Episode(id=text), {"id": text}])
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
    assert [row.record.id for row in read_rows(path, Episode)] == [text, text]


def test_nan_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_text(path, "before")
    with pytest.raises(InputError, match="cannot be written as JSON"):
        write_rows(path, [{"id": float("nan")}])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_keeps_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    write_text(target, "old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_missing_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "none" / "a", "x")
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        AppendFile(tmp_path / "none" / "a")


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write_text(tmp_path, "x")
    assert list(tmp_path.parent.glob(".*.tmp")) == []


ROWS = [{"id": "a"}, {"id": "b", "note": "日本 🙂"}]
WHOLE = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in ROWS)
FIRST = WHOLE.index(b"\n") + 1


@pytest.mark.parametrize("cut", range(FIRST, len(WHOLE) + 1))
def test_r04_every_cut_of_the_last_row(jsonl: Write, cut: int) -> None:
    """Also inside a UTF-8 character, and a whole row that only lacks its newline."""
    path = jsonl(WHOLE[:cut])
    fragment = WHOLE[FIRST:cut]
    with AppendFile(path) as file:
        file.append({"id": "c"})
    ids = [row.record.id for row in read_rows(path, Episode)]
    aside = path.with_name("rows.jsonl.torn-1")
    if cut == len(WHOLE):
        assert (file.torn, ids) == (None, ["a", "b", "c"])
    elif cut == len(WHOLE) - 1:
        assert (file.torn, ids) == (TornTail("completed", len(fragment), None), ["a", "b", "c"])
    elif fragment:
        assert (file.torn, ids) == (TornTail("set_aside", len(fragment), aside), ["a", "c"])
        assert aside.read_bytes() == fragment
    else:
        assert (file.torn, ids) == (None, ["a", "c"])
    assert aside.exists() == (file.torn is not None and file.torn.what == "set_aside")


def test_fragments_never_overwrite_each_other(jsonl: Write) -> None:
    for number, fragment in enumerate((b'{"id": "x', b'{"id": "y'), start=1):
        path = jsonl(b'{"id": "a"}\n' + fragment)
        with AppendFile(path) as file:
            assert file.torn is not None
            assert file.torn.saved_to == path.with_name(f"rows.jsonl.torn-{number}")
    assert path.with_name("rows.jsonl.torn-1").read_bytes() == b'{"id": "x'


def test_a_long_tail_is_found_across_blocks(jsonl: Write) -> None:
    fragment = b'{"id": "' + b"x" * 200_000
    path = jsonl(b'{"id": "a"}\n' + fragment)
    with AppendFile(path, fsync=True) as file:
        assert file.torn is not None
        assert file.torn.size == len(fragment)
    assert path.read_bytes() == b'{"id": "a"}\n'


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A write that the system cuts short and then refuses must not leave half a row behind."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "rows.jsonl"
    signal = pytest.importorskip("signal")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with AppendFile(path) as file:
            file.append({"id": "a"})
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, old[1]))
            with pytest.raises(OSError, match="File too large") as caught:
                file.append({"id": "b" * 8192})
            assert caught.value.errno == errno.EFBIG
            file.append({"id": "c"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert [row.record.id for row in read_rows(path, Episode)] == ["a", "c"]


def test_threads_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with AppendFile(path) as file, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: file.append({"id": f"{number}", "note": "x" * 999}), range(800)))
    ids = {row.record.id for row in read_rows(path, Episode)}
    assert ids == {f"{number}" for number in range(800)}


def test_a_full_disk_is_told_with_the_file_and_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("onlooker.records.atomic.os.fsync", full)
    with pytest.raises(OnlookerError, match=r"kept\.json: cannot be written \(No space left on device\)"):
        write_text(tmp_path / "kept.json", "new")
    assert list(tmp_path.iterdir()) == []
