"""V25: what a provider would refuse is refused here, before it is sent, with what to do."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from onlooker.errors import InputError, ModelError
from onlooker.models.limits import (
    NO_LIMITS,
    Limits,
    check_request,
    inline_bytes,
    limits_of,
    model_limits,
    uploads_needed,
)
from onlooker.models.payload import in_base64, jpeg_size_px
from onlooker.models.request import Image, Request, Sound, Text
from onlooker.models.scripted import ScriptedModel
from tests.models.adapters import KEYS, ask, open_adapter, video
from tests.models.fake_server import FakeServer

CLAUDE = limits_of("anthropic", "claude-test-4-5")


def jpeg(width_px: int, height_px: int, *, progressive: bool = False) -> bytes:
    from PIL import Image as Picture

    buffer = io.BytesIO()
    Picture.new("RGB", (width_px, height_px)).save(buffer, "JPEG", progressive=progressive)
    return buffer.getvalue()


def frames(count: int, data: bytes) -> Request:
    return Request(tuple(Image(data, float(n), "00") for n in range(count)))


@pytest.mark.parametrize("progressive", [False, True])
def test_the_size_of_a_jpeg_stands_in_its_header(progressive: bool) -> None:
    for size in ((1, 1), (1920, 1080), (17, 65500)):
        assert jpeg_size_px(jpeg(*size, progressive=progressive)) == size
    # An application segment before the frame header, and fill bytes (T.81, B.1.1.2), are stepped over.
    plain = jpeg(8, 6)
    padded = plain[:2] + b"\xff\xe1\x00\x06abcd" + b"\xff\xff" + plain[2:]
    assert jpeg_size_px(padded) == (8, 6)


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xd8", b"\xff\xd8jpeg and words", b"\x89PNG\r\n\x1a\n" + bytes(20), b"\xff" * 40]
)
def test_bytes_without_a_frame_header_have_no_size(data: bytes) -> None:
    assert jpeg_size_px(data) is None


def test_v25_too_many_frames_for_claude(monkeypatch: pytest.MonkeyPatch) -> None:
    """120 frames of 1080p: too many images; of 21 and more, each is also too large."""
    full_hd = jpeg(1920, 1080)
    with pytest.raises(
        ModelError, match=r"at most 100 images; nothing was sent, found 120\. Remedy: give fewer frames"
    ):
        check_request(frames(120, full_hd), CLAUDE, "x")
    check_request(frames(100, full_hd), CLAUDE, "x")
    uhd = jpeg(3840, 2160)
    check_request(frames(20, uhd), CLAUDE, "x")
    with pytest.raises(ModelError, match=r"at most 2,000 pixels .* more than 20 images.* found 3840.*smaller"):
        check_request(frames(21, uhd), CLAUDE, "x")
    with pytest.raises(ModelError, match="at most 8,000 pixels"):
        check_request(frames(1, jpeg(8001, 10)), CLAUDE, "x")
    monkeypatch.setenv(KEYS["anthropic"], "key")
    with FakeServer() as server, pytest.raises(ModelError, match="at most 100 images"):
        ask(open_adapter("anthropic", server), frames(120, full_hd))
    assert server.calls == []


def test_newer_claudes_take_more_images() -> None:
    assert limits_of("anthropic", "claude-opus-5").max_images == 600
    assert limits_of("anthropic", "claude-haiku-5-5").max_images == 100
    assert limits_of("openai", "gpt-5.5").max_images == 500


def test_bytes_are_counted_as_they_travel() -> None:
    # 30 frames of 900 kB are 27 MB of files and 36 MB of base64: the latter counts.
    with pytest.raises(ModelError, match=r"at most 32,000,000 bytes in a request; nothing was sent, found 360\d{5}"):
        check_request(frames(30, bytes(900_000)), CLAUDE, "x")
    check_request(frames(26, bytes(900_000)), CLAUDE, "x")
    with pytest.raises(ModelError, match="bytes in an image"):
        check_request(frames(1, bytes(4_000_000)), CLAUDE, "x")
    for size in (0, 1, 2, 3, 100):
        sound = Request((Sound(bytes(size), 0.0, 1.0, "00"),))
        assert inline_bytes(sound) - inline_bytes(Request((Text(""),))) == len(in_base64(bytes(size)))


def test_what_is_uploaded_is_not_counted_in_the_request(tmp_path: Path) -> None:
    google = limits_of("google", "gemini-2.5-pro")
    big = Request((replace(video(tmp_path), size_bytes=300_000_000), Text("Who?")))
    assert uploads_needed(big, google)
    check_request(big, google, "x", uploaded=True)
    with pytest.raises(ModelError, match="bytes in a request"):
        check_request(big, google, "x")
    small = Request((video(tmp_path), Text("Who?")))
    assert not uploads_needed(small, google)
    assert not uploads_needed(big, NO_LIMITS)


def test_videos_have_a_number_a_size_and_a_length(tmp_path: Path) -> None:
    google, one = limits_of("google", "gemini-2.5-pro"), video(tmp_path)
    with pytest.raises(ModelError, match="at most 10 videos"):
        check_request(Request((one,) * 11), google, "x")
    with pytest.raises(ModelError, match="bytes in a video"):
        check_request(Request((replace(one, size_bytes=3 * 10**9),)), google, "x", uploaded=True)
    with pytest.raises(ModelError, match=r"at most 3,600 seconds of video.*shorter stretch"):
        check_request(Request((replace(one, end_s=3601.0),)), google, "x")
    check_request(Request((replace(one, end_s=3601.0, watch_s=(0.0, 60.0)),)), google, "x")


def test_a_server_of_ones_own_has_the_limits_that_are_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits_of("compatible", "m") == NO_LIMITS
    assert limits_of("compatible", "m", {"max_images": 8}) == Limits(max_images=8)
    with FakeServer() as server:
        model = open_adapter("openai", server, api_key_env=None, limits={"max_images": 2})
        assert model_limits(model).max_images == 2
        with pytest.raises(ModelError, match="at most 2 images"):
            ask(model, frames(3, b"\xff\xd8"))
    assert server.calls == []
    assert model_limits(ScriptedModel.by_rule("first")) == NO_LIMITS
    assert NO_LIMITS.described() == "none known"
    assert Limits(max_images=8, max_videos=1).described() == "max_images=8, max_videos=1"


@pytest.mark.parametrize("stated", [{"max_pictures": 1}, {"max_images": 0}, {"max_images": 1.5}])
def test_a_limit_that_is_none_is_refused(stated: dict[str, float]) -> None:
    with pytest.raises(InputError):
        limits_of("compatible", "m", stated)
