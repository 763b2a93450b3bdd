"""W07: which browsers fail, and the copy that all play, with the same times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onlooker.annotate.proxies import BROWSERS, browser_faults, playable
from onlooker.media.card import probe
from onlooker.media.container import open_media, picture_stream
from onlooker.media.index import read_index
from tests.media.making import COUNTER_RATE, counter, tone, write


def shown_times(path: Path) -> list[float]:
    """When each frame is shown, from the first one."""
    with open_media(path) as container:
        stream = picture_stream(container)
        assert stream is not None
        index = read_index(container, stream, path)
        return [float((pts - index.start_pts) * index.time_base) for pts in index.shown_pts]


def made(path: Path, **options: Any) -> Path:
    return write(path, counter(30), rate=COUNTER_RATE, sounds=[tone(440, 3.0)], **options)


def test_a_plain_mp4_is_served_as_it_is(tmp_path: Path) -> None:
    notices: list[str] = []
    path = made(tmp_path / "plain.mp4", b_frames=2)
    found = playable(path, tmp_path / "cache", notices.append)
    assert (found.path, found.mime, found.proxy, notices) == (path, "video/mp4", False, [])
    assert found.duration_s == pytest.approx(3.0, abs=0.05)


CASES: list[tuple[str, dict[str, Any], dict[str, tuple[str, ...]]]] = [
    ("a.mp4", {"codec": "libx265"}, {"picture hevc": ("Chromium", "Firefox")}),
    ("a.mkv", {}, {"container matroska,webm": BROWSERS}),
    (
        "a.avi",
        {"codec": "mpeg4", "sound_codec": "mp3"},
        {"container avi": BROWSERS, "picture mpeg4": BROWSERS},
    ),
    ("a.mp4", {"pix_fmt": "yuv420p10le"}, {"H.264 as yuv420p10le": ("Firefox", "Safari")}),
    (
        "a.mkv",
        {"offset_s": 5.0, "sound_offset_s": 5.0},
        {"container matroska,webm": BROWSERS, "the first frame stands at 5.000 s": BROWSERS},
    ),
]


@pytest.mark.parametrize(("name", "options", "faults"), CASES)
def test_what_browsers_cannot_play_gets_a_copy_once(
    tmp_path: Path, name: str, options: dict[str, Any], faults: dict[str, tuple[str, ...]]
) -> None:
    path = made(tmp_path / name, **options)
    assert browser_faults(probe(path)) == faults
    notices: list[str] = []
    found = playable(path, tmp_path / "cache", notices.append)
    assert found.proxy
    assert found.path != path
    assert len(notices) == 1
    assert name in notices[0]
    assert all(browser in notices[0] for browser in next(iter(faults.values())))
    card = probe(found.path)
    assert browser_faults(card) == {}
    assert card.video is not None
    assert (card.video.frames, card.video.first_pts_s) == (30, 0.0)
    stamp = found.path.stat().st_mtime_ns
    again = playable(path, tmp_path / "cache", notices.append)
    assert again.path == found.path
    assert shown_times(found.path) == pytest.approx(shown_times(path), abs=1e-3)
    assert stamp == found.path.stat().st_mtime_ns or again.path.stat().st_size == found.path.stat().st_size
