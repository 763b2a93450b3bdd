"""What a medium holds, as measured by reading it: the card that a bundle, a run and a report
quote."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from onlooker.errors import UnreadableMedia
from onlooker.media.container import (
    default_sound_stream,
    is_default,
    open_media,
    picture_stream,
    sound_streams,
)
from onlooker.media.digest import file_sha256
from onlooker.media.frames import display_size
from onlooker.media.index import PictureIndex, read_index

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream


@dataclass(frozen=True, slots=True)
class VideoCard:
    """The picture. Sizes in pixels as displayed; times in seconds as they stand in the file.

    ``frames``: frames that can be shown; ``rotation_deg``: counter-clockwise, as applied;
    ``damage``: ``partial`` where packets are known to be cut off, lost or torn, see ``loss`` for what can be known.
    ``frames_decodable``: frames whose packets are whole in the file, of ``frames_declared`` (None where the container
    lists no number). Nothing is decoded for it: damage inside packets shows only on decoding, see ``Frame.status``.
    """

    codec: str
    width_px: int
    height_px: int
    rotation_deg: int
    frames: int
    first_pts_s: float
    last_pts_s: float
    vfr: bool
    key_frames: int
    average_fps: float | None
    pix_fmt: str | None
    damage: Literal["none", "partial"]
    frames_decodable: int
    frames_declared: int | None


@dataclass(frozen=True, slots=True)
class SoundTrack:
    """A sound track. ``index``: its number in the container, which ``read_sound(track=...)``
    takes."""

    index: int
    codec: str
    rate_hz: int
    channels: int
    language: str | None
    default: bool


@dataclass(frozen=True, slots=True)
class MediaCard:
    """A medium. ``duration_s``: of the picture, from its first frame to its end; of the sound where
    there is no picture.

    ``sound_duration_s``: of the default track, None without sound. ``default_sound``: index of the
    track that is read unless asked.
    """

    container: str
    sha256: str
    bytes: int
    duration_s: float
    sound_duration_s: float | None
    video: VideoCard | None
    sound: tuple[SoundTrack, ...]
    default_sound: int | None


def probe(path: Path, *, cache_dir: Path | None = None) -> MediaCard:
    """Read the file's time stamps once; header fields are not believed. ``cache_dir``: see
    ``file_sha256``.

    Raises ``UnreadableMedia`` naming the file and the reason: empty, no index, neither picture nor
    sound.
    """
    with open_media(path) as container:
        picture = picture_stream(container)
        index = None if picture is None else read_index(container, picture, path)
        name = str(container.format.name)
    video = None if index is None else _video_card(path, index)
    with open_media(path) as container:
        streams = sound_streams(container)
        chosen = default_sound_stream(streams)
        default_sound = None if chosen is None else chosen.index
        sound = tuple(_track(s) for s in streams)
        sound_s = None if chosen is None else _sound_duration_s(container, chosen)
    if index is None and sound_s is None:
        raise UnreadableMedia("has neither picture nor sound that can be decoded", where=str(path))
    return MediaCard(
        container=name,
        sha256=file_sha256(path, cache_dir),
        bytes=path.stat().st_size,
        duration_s=index.duration_s if index is not None else sound_s or 0.0,
        sound_duration_s=sound_s,
        video=video,
        sound=sound,
        default_sound=default_sound,
    )


def _video_card(path: Path, index: PictureIndex) -> VideoCard:
    with open_media(path) as container:
        stream = picture_stream(container)
        assert stream is not None, "the index was read from this stream"
        frame = _first_picture(container, stream)
        if frame is None:
            raise UnreadableMedia("no frame of the picture can be decoded", where=str(path))
        rotation = round(frame.rotation / 90) * 90
        aspect = stream.sample_aspect_ratio or Fraction(1)
        width, height = display_size(frame.width, frame.height, aspect, rotation)
        shown = index.shown_pts
        span_s = index.seconds(shown[-1])
        return VideoCard(
            codec=str(stream.codec.canonical_name),
            width_px=width,
            height_px=height,
            rotation_deg=rotation,
            frames=len(shown),
            first_pts_s=float(shown[0] * index.time_base),
            last_pts_s=float(shown[-1] * index.time_base),
            vfr=index.is_vfr,
            key_frames=sum(e.key for e in index.entries),
            average_fps=(len(shown) - 1) / span_s if span_s > 0 else None,
            pix_fmt=stream.pix_fmt,
            damage="none" if index.is_whole else "partial",
            frames_decodable=index.whole_frames,
            frames_declared=index.frames_declared,
        )


def _first_picture(container: InputContainer, stream: VideoStream) -> VideoFrame | None:
    """The first picture that decodes: rotation lies in side data that only pictures carry."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    try:
        for packet in container.demux(stream):
            try:
                frames = stream.codec_context.decode(packet if packet.size else None)
            except FFmpegError:
                continue
            if frames:
                return frames[0]
    except FFmpegError:
        pass  # the demuxer gave up
    return None


def _track(stream: AudioStream) -> SoundTrack:
    language = stream.language
    return SoundTrack(
        index=stream.index,
        codec=str(stream.codec.canonical_name),
        rate_hz=stream.rate,
        channels=stream.channels,
        language=None if language in {None, "und"} else language,
        default=is_default(stream),
    )


def _sound_duration_s(container: InputContainer, stream: AudioStream) -> float | None:
    """From the first packet's time to the end of the last one; None where no packet has a time."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    first: int | None = None
    end = 0
    try:
        for packet in container.demux(stream):
            if packet.size and packet.pts is not None and not packet.is_discard:
                first = packet.pts if first is None else min(first, packet.pts)
                end = max(end, packet.pts + (packet.duration or 0))
    except FFmpegError:
        pass  # what was read until here is what can be decoded
    if first is None or stream.time_base is None:
        return None
    return float((end - first) * stream.time_base)
