"""What is done about frames that are missing or damaged: left out, replaced and marked so, or refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import av
import pytest

from onlooker.errors import InputError, MediaError, UnreadableMedia
from onlooker.media.frame_files import write_frames
from onlooker.media.frames import sample, sample_many

from .making import write
from .test_card import cut
from .test_frames import moving

_GOP = {"x264-params": "keyint=30:min-keyint=30:scenecut=0:bframes=2"}


@pytest.fixture(scope="module")
def holed(folder: Path) -> Path:
    """90 frames at 30 a second, a key frame every 30; the key frame of the second group cannot be read."""
    whole = write(folder / "policy-whole.mp4", moving(90), codec_options=_GOP)
    with av.open(str(whole)) as container:
        packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    data = bytearray(whole.read_bytes())
    for position, size in packets[30:60]:
        assert position is not None
        data[position + 4 : position + size] = bytes(size - 4)
    path = folder / "policy-holed.mp4"
    path.write_bytes(data)
    return path


def test_skip_is_the_default_and_puts_nothing_in(folder: Path) -> None:
    path = cut(folder, "policy-cut.mp4")
    sampled = sample(path, "uniform:8")
    assert sampled == sample(path, "uniform:8", damage="skip")
    assert sampled.missing
    assert {f.status for f in sampled.frames} <= {"ok", "corrupt"}
    assert len(sampled.frames) + len(sampled.missing) == 8


def test_use_puts_the_nearest_earlier_frame_in_and_says_so(folder: Path) -> None:
    path = cut(folder, "policy-use.mp4")
    skipped, used = sample(path, "uniform:8"), sample(path, "uniform:8", damage="use")
    assert (len(used.frames), used.missing) == (8, ())
    assert [f.index for f in used.frames] == list(range(8))
    ours = {f.time_s: f for f in skipped.frames}
    assert all(ours[f.time_s] == f for f in used.frames if f.time_s in ours)
    substituted = [f for f in used.frames if f.status == "substituted"]
    assert [f.time_s for f in substituted] == list(skipped.missing)
    # The last frame that the file still gives, with its own time, once for each time that is missing.
    last_s = max(f.pts_s for f in sample(path, "fps:30").frames)
    assert {f.pts_s for f in substituted} == {last_s}
    assert all(f.pts_s < f.time_s for f in substituted)
    # Also where the whole window is lost.
    (late,) = sample(path, "midpoint", window=(3.5, 3.9), damage="use").frames
    assert (late.status, late.pts_s) == ("substituted", last_s)
    with pytest.raises(UnreadableMedia):
        sample(path, "midpoint", window=(3.5, 3.9))


def test_a_frame_lost_in_the_middle_is_replaced_by_the_one_before(holed: Path) -> None:
    skipped, used = sample(holed, "fps:30"), sample(holed, "fps:30", damage="use")
    missing = [round(t * 30) for t in skipped.missing]
    assert missing
    assert set(missing) <= set(range(28, 60))
    given = {round(f.pts_s * 30): f for f in skipped.frames}
    for frame in used.frames:
        number = round(frame.time_s * 30)
        if frame.status == "substituted":
            before = max(n for n in given if n < number)
            assert (round(frame.pts_s * 30), frame.jpeg) == (before, given[before].jpeg)
        else:
            assert frame == given[number]
    # One alone goes back as far as it has to, by either way.
    late = round(missing[-1] / 30, 3)
    alone = [sample(holed, "uniform:1", window=(late, late + 0.01), damage="use", seek=seek) for seek in (True, False)]
    assert alone[0] == alone[1]
    assert alone[0].frames[0].pts_s == next(f for f in used.frames if round(f.time_s * 30) == missing[-1]).pts_s


def test_fail_names_the_times(folder: Path, holed: Path, gray_counter: Path) -> None:
    path = cut(folder, "policy-fail.mp4")
    missing = sample(path, "uniform:8").missing
    with pytest.raises(MediaError, match=re.escape(", ".join(f"{t:.3f}" for t in missing))) as caught:
        sample(path, "uniform:8", damage="fail")
    assert "policy-fail.mp4: frames are damaged: missing at" in str(caught.value)
    assert "skip or use" in str(caught.value)
    with pytest.raises(MediaError) as many:
        sample(holed, "fps:30", damage="fail")
    assert len(str(many.value)) < 700
    # What is whole does not fail, also beside damage.
    assert sample(gray_counter, "uniform:8", damage="fail") == sample(gray_counter, "uniform:8")
    assert sample(holed, "uniform:3", window=(2.0, 2.9), damage="fail").missing == ()


def test_a_name_that_is_none_is_refused(gray_counter: Path) -> None:
    with pytest.raises(InputError, match="unknown damage policy"):
        sample(gray_counter, "midpoint", damage="copy")  # type: ignore[arg-type]


def test_the_list_on_disk_marks_what_is_substituted(folder: Path, tmp_path: Path) -> None:
    used = sample(cut(folder, "policy-list.mp4"), "uniform:8", damage="use")
    rows = json.loads(write_frames(used, tmp_path).read_bytes())
    assert [row.get("status", "ok") for row in rows] == [f.status for f in used.frames]
    assert rows[-1]["status"] == "substituted"
    assert rows[-1]["pts_s"] < rows[-1]["time_s"]


ASKS = [
    ("uniform:5", None),
    ("fps:5", (0.5, 2.5)),
    ("uniform:2", (1.2, 1.7)),
    ("lmms-eval:4", (0.3, 2.9)),
    ("midpoint", None),
]


@pytest.mark.parametrize("seek", [True, False])
def test_many_windows_are_the_same_as_one_by_one(folder: Path, gray_counter: Path, holed: Path, seek: bool) -> None:
    avi = write(folder / "many.avi", moving(90), codec_options=_GOP)
    for path in (gray_counter, holed, avi):
        together = sample_many(path, ASKS, seek=seek, damage="use")
        assert together == tuple(sample(path, p, window=w, seek=seek, damage="use") for p, w in ASKS)
    assert sample_many(gray_counter, []) == ()


def test_many_windows_read_the_time_stamps_once(gray_counter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from onlooker.media import frames

    calls: list[str] = []

    def watch(name: str) -> None:
        real = getattr(frames, name)

        def counted(*arguments: object, **named: object) -> object:
            calls.append(name)
            return real(*arguments, **named)

        monkeypatch.setattr(frames, name, counted)

    for name in ("read_index", "file_sha256", "WantedFrames"):
        watch(name)
    sample_many(gray_counter, ASKS)
    assert sorted(calls) == ["WantedFrames", "file_sha256", "read_index"]
