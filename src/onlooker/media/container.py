"""Opening media files: one place that turns every failure of the decoder library into an error that
names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.errors import InputError, MissingExtra, NoStream, UnreadableMedia

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

# libav's names of formats.
MOV = "mov,mp4,m4a,3gp,3g2,mj2"
MATROSKA = "matroska,webm"
AVI = "avi"
ASF = "asf"
# What these files show lies in other files, which may change while the list stays the same.
_LISTS = {"concat", "concatf", "hls", "dash", "imf", "sdp"}
# Of a picture named a%d.png libav would read a1.png.
_THIS_FILE_ALONE = {"pattern_type": "none"}
# Colour codes (ITU-T H.273) that are met every day: BT.709, not stated, BT.470, BT.601, BT.2020, sRGB, PQ, HLG.
_USUAL_MATRICES = {1, 2, 5, 6, 9}
_USUAL_PRIMARIES = {1, 2, 5, 6, 9}
_USUAL_TRANSFERS = {1, 2, 4, 5, 6, 13, 14, 15, 16, 18}


@contextmanager
def open_media(path: Path) -> Iterator[InputContainer]:
    """The file opened for demuxing and decoding. Raises ``UnreadableMedia`` with the reason."""
    try:
        import av  # noqa: PLC0415 - an extra
        from av.error import FFmpegError  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "reading media files") from error
    # The prefix keeps libav from reading a path with a colon as a URL.
    try:
        if path.is_dir():
            raise UnreadableMedia("is a folder, not a medium", where=str(path))
        if path.stat().st_size == 0:
            raise UnreadableMedia("is empty (0 bytes)", where=str(path))
        container = av.open(f"file:{path}", metadata_errors="replace", options=_THIS_FILE_ALONE)
    except FFmpegError as error:
        raise UnreadableMedia(f"cannot be opened ({_reason(path) or error.strerror})", where=str(path)) from error
    except OSError as error:
        raise UnreadableMedia(f"cannot be opened ({error.strerror or error})", where=str(path)) from error
    with container:
        if container.format.name in _LISTS:
            raise UnreadableMedia(
                f"is a list of other files ({container.format.name}), not a medium",
                where=str(path),
                remedy="join what it names into one file, and use that",
            )
        yield container


def _reason(path: Path) -> str | None:
    """What the demuxer itself says on opening the file once more, e.g. "moov atom not found"."""
    import av  # noqa: PLC0415 - an extra

    # libav's words are kept only while its log is on; PANIC keeps them without printing any.
    level = av.logging.get_level()
    av.logging.set_level(av.logging.PANIC)
    try:
        av.open(f"file:{path}").close()
    except av.error.FFmpegError as error:
        return str(error).partition("last error log: ")[2].strip() or None
    finally:
        av.logging.set_level(level)
    return None


def is_default(stream: Stream) -> bool:
    """Whether the file marks the stream as the one to play."""
    from av.stream import Disposition  # noqa: PLC0415 - an extra

    return bool(stream.disposition & Disposition.default)


def attached_pictures(container: InputContainer) -> list[VideoStream]:
    """Covers and thumbnails: the video streams that are no video."""
    from av.stream import Disposition  # noqa: PLC0415 - an extra

    unfit = Disposition.attached_pic | Disposition.timed_thumbnails
    return [s for s in container.streams.video if s.disposition & unfit]


def picture_stream(container: InputContainer) -> VideoStream | None:
    """The video stream a player shows: the first marked default, else the first. Attached pictures
    do not count."""
    covers = {s.index for s in attached_pictures(container)}
    streams = [s for s in container.streams.video if s.index not in covers and s.codec_context]
    return next((s for s in streams if is_default(s)), streams[0] if streams else None)


def sound_streams(container: InputContainer) -> list[AudioStream]:
    """All sound streams that a decoder exists for, in the file's order."""
    return [s for s in container.streams.audio if s.codec_context]


def default_sound_stream(streams: list[AudioStream]) -> AudioStream | None:
    """The first stream marked default, else the first, None where there is none."""
    return next((s for s in streams if is_default(s)), streams[0] if streams else None)


def sound_stream(container: InputContainer, path: Path, track: int | None = None) -> AudioStream:
    """The sound stream with container index ``track``; without one the first marked default, else
    the first.

    Raises ``NoStream`` where there is no sound, ``InputError`` where ``track`` is no sound stream.
    """
    streams = sound_streams(container)
    default = default_sound_stream(streams)
    if default is None:
        raise NoStream("has no sound track", where=str(path))
    if track is None:
        return default
    for stream in streams:
        if stream.index == track:
            return stream
    raise InputError(
        "no such sound track",
        where=str(path),
        value=track,
        remedy=f"choose one of {[s.index for s in streams]}",
    )


def keep_only(container: InputContainer, wanted: Stream) -> None:
    """Let the demuxer skip all other streams."""
    from av.stream import Discard  # noqa: PLC0415 - an extra

    for stream in container.streams:
        if stream.index != wanted.index:
            stream.discard = Discard.all


def steady_picture(container: InputContainer) -> VideoStream:
    """The picture stream, set up so that its pictures are the same on every run, and damage is reported."""
    stream = picture_stream(container)
    assert stream is not None, "the caller knows that there is a picture"
    keep_only(container, stream)
    # With threads, damaged parts of a picture come out differently from run to run.
    stream.thread_type = "NONE"
    stream.thread_count = 1
    if stream.codec_context.name == "hevc":
        # The HEVC decoder keeps quiet about damage otherwise; the pictures are the same.
        stream.codec_context.options = {"err_detect": "explode"}
    return stream


def demuxed(container: InputContainer, streams: Stream | list[Any]) -> Iterator[Packet[Any]]:
    """``container.demux(streams)``, the empty packets at the end included. Where further streams came up on the way
    (MPEG-TS, mostly damaged), PyAV ends it with an ``IndexError``, after the last packet of those that are wanted."""
    try:
        yield from container.demux(streams)
    except IndexError:
        return


def packets_of(container: InputContainer, stream: VideoStream) -> Iterator[Packet[VideoStream]]:
    """Packets with content, up to the end or to where the demuxer gives up; the index counts them
    in the same way."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    try:
        yield from (p for p in demuxed(container, stream) if p.size)
    except FFmpegError:
        return


def is_convertible(frame: VideoFrame) -> bool:
    """Whether the scaler takes the frame: it refuses colour matrices that are reserved (damage in a header, mostly) or
    that it does not know (YCgCo), with an error of its own."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    if (
        frame.colorspace in _USUAL_MATRICES
        and frame.color_trc in _USUAL_TRANSFERS
        and frame.color_primaries in _USUAL_PRIMARIES
    ):
        return True
    try:
        frame.reformat(width=16, height=16, format="rgb24")
    except FFmpegError:
        return False
    return True
