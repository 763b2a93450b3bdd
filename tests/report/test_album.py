"""Frames: once each, small, within the budget, and what is left out is said."""

from __future__ import annotations

import base64
import io

from PIL import Image

from onlooker.report.album import plan_album
from onlooker.report.content import FrameView, Limits
from tests.report.sample import frames, jpeg


def test_the_same_frame_is_embedded_once_for_all_answers() -> None:
    strip = frames(0, 12)
    album = plan_album([strip, strip, strip], Limits())
    for _ in range(3):
        assert len(album.strip(strip)) == 12
    assert len(album.pictures) == len({f.jpeg for f in strip})
    assert album.size_bytes == sum(len(p.uri) for p in album.pictures.values())


def test_a_frame_is_made_small_and_keeps_its_shape() -> None:
    tall = FrameView(jpeg(1, (360, 640)), 0.0)
    shown = plan_album([[tall]], Limits()).strip([tall])[0]
    assert shown.picture is not None
    data = base64.b64decode(shown.picture.uri.removeprefix("data:image/jpeg;base64,"))
    with Image.open(io.BytesIO(data)) as picture:
        assert (picture.width, picture.height) == (shown.picture.width, shown.picture.height)
        assert max(picture.size) == 200
        assert abs(picture.width / picture.height - 360 / 640) < 0.01


def test_a_small_frame_is_not_blown_up() -> None:
    tiny = FrameView(jpeg(1, (80, 40)), 0.0)
    picture = plan_album([[tiny]], Limits()).strip([tiny])[0].picture
    assert picture is not None
    assert (picture.width, picture.height) == (80, 40)


def test_twelve_of_sixty_four_are_shown_with_their_own_times() -> None:
    strip = frames(0, 64)
    shown = plan_album([strip], Limits()).strip(strip)
    assert [round(s.time_s, 3) for s in shown[:3]] == [0.0, 2.953, 5.414]
    assert shown[4].picture is None
    assert shown[4].why_not == "missing"


def test_fewer_frames_for_all_alike_where_the_budget_is_small() -> None:
    strips = [frames(e, 12) for e in (3, 4)]
    whole = plan_album(strips, Limits())
    for strip in strips:
        whole.strip(strip)
    tight = plan_album(strips, Limits(frame_bytes=whole.size_bytes * 2 // 3))
    assert tight.frames_per_answer == 6
    assert [len(tight.strip(s)) for s in strips] == [6, 6]
    assert tight.size_bytes <= whole.size_bytes * 2 // 3
    assert tight.left_out == 0


def test_where_one_frame_each_is_too_much_the_rest_is_left_out_and_counted() -> None:
    strips = [[FrameView(jpeg(e), 1.0)] for e in range(3)]
    one = plan_album(strips[:1], Limits())
    one.strip(strips[0])
    album = plan_album(strips, Limits(frame_bytes=one.size_bytes + 10))
    shown = [album.strip(s)[0] for s in strips]
    assert shown[0].picture is not None
    assert [s.why_not for s in shown[1:]] == ["left out for size", "left out for size"]
    assert album.left_out == 2


def test_bytes_that_are_no_picture_are_said_to_be_none() -> None:
    strip = [FrameView(b"\xff\xd8\xff not a picture", 0.5), FrameView(None, 1.0)]
    assert [s.why_not for s in plan_album([strip], Limits()).strip(strip)] == ["not a readable JPEG", "not kept"]


def test_where_frames_are_left_out_every_view_still_shows_one() -> None:
    views = ["reaction"] * 12 + [f"segment {letter}" for letter in "ABCD" for _ in range(2)]
    frames = [FrameView(None, float(n), None, "missing", of) for n, of in enumerate(views)]
    shown = plan_album([], Limits(frames_per_answer=12)).strip(frames)
    assert [frame.of for frame in shown] == ["reaction"] * 2 + [f"segment {x}" for x in "ABCD" for _ in range(2)]
    assert [frame.time_s for frame in shown[:2]] == [0.0, 11.0]
