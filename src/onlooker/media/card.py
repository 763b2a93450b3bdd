"""What a medium holds, as measured by reading it: the card that a bundle, a run and a report
quote."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from onlooker.errors import UnreadableMedia
from onlooker.media.container import (
    attached_pictures,
    default_sound_stream,
    demuxed,
    is_default,
    open_media,
    picture_stream,
    sound_streams,
)
from onlooker.media.digest import file_sha256
from onlooker.media.frames import display_size
from onlooker.media.index import PictureIndex, read_index
from onlooker.media.orientation import orientation

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

# Transfer functions of ITU-R BT.2100: perceptual quantiser and hybrid log-gamma.
_HDR = {"smpte2084", "arib_std_b67"}


@dataclass(frozen=True, slots=True)
class VideoCard:
    """The picture. Times in seconds; sizes in pixels.

    ``width_px`` x ``height_px``: as displayed, that is with square pixels (``sample_aspect_ratio``, "1:1" where none is
    stated), ``mirrored`` left to right, and then turned by ``rotation_deg`` (0, 90, 180 or 270, counter-clockwise, as
    applied); ``stored_*``: as coded. ``frames``: frames
    that can be shown, ``frames_hidden``: those that the edit list leaves out (``edit_list``: whether there is one, None
    for containers that know none). ``first_pts_s`` and ``last_pts_s`` as they stand in the file. ``vfr``: gaps differ
    by more than the container's rounding. ``largest_key_gap_s``: the longest stretch that decoding has to begin before.
    ``b_frames``: frames are decoded in another order than shown. ``color_transfer``: None where not stated; ``hdr``: it
    is PQ or HLG. ``interlaced``: of the first picture.

    ``damage``: ``partial`` where packets are known to be cut off, lost or torn, see ``loss`` for what can be known.
    ``frames_decodable``: frames whose packets are whole in the file, of ``frames_declared`` (None where the container
    lists no number). Only the first picture is decoded: damage inside packets shows only on decoding, see
    ``Frame.status``.
    """

    codec: str
    width_px: int
    height_px: int
    stored_width_px: int
    stored_height_px: int
    sample_aspect_ratio: str
    rotation_deg: int
    mirrored: bool
    frames: int
    frames_hidden: int
    edit_list: bool | None
    first_pts_s: float
    last_pts_s: float
    vfr: bool
    average_fps: float | None
    key_frames: int
    largest_key_gap_s: float
    b_frames: bool
    interlaced: bool
    pix_fmt: str | None
    bit_depth: int
    color_transfer: str | None
    hdr: bool
    damage: Literal["none", "partial"]
    frames_decodable: int
    frames_declared: int | None


@dataclass(frozen=True, slots=True)
class SoundTrack:
    """A sound track. ``index``: its number in the container, which ``read_sound(track=...)`` takes.

    ``start_s``: from the picture's first frame to where its packets begin, below zero where that is before; 0 in a
    medium without a picture. ``duration_s``: from there to the end of its last packet. What encoders pad is left out,
    as far as the container tells. Both None where no packet has a time.
    """

    index: int
    codec: str
    rate_hz: int
    channels: int
    language: str | None
    default: bool
    start_s: float | None
    duration_s: float | None


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """A subtitle stream inside the file. ``codec``: libav's name, None where it has no decoder."""

    index: int
    codec: str | None
    language: str | None
    default: bool


@dataclass(frozen=True, slots=True)
class MediaCard:
    """A medium. ``duration_s``: of the picture, from its first frame to its end; of the sound where
    there is no picture.

    ``sound_duration_s``: of the default track, None without sound. ``default_sound``: index of the
    track that is read unless asked. ``picture_streams``: how many pictures there are to choose from, of which a player
    shows the one in ``video``; ``attached_pictures``: covers and thumbnails, which are no video.
    """

    container: str
    sha256: str
    bytes: int
    duration_s: float
    sound_duration_s: float | None
    video: VideoCard | None
    sound: tuple[SoundTrack, ...]
    default_sound: int | None
    subtitles: tuple[SubtitleTrack, ...]
    picture_streams: int
    attached_pictures: int


@dataclass(slots=True)
class _Look:
    """What the pass over the packets leaves for the card: the first picture that decodes (rotation lies in side data
    that only pictures carry), and first and last ticks of the sound tracks."""

    picture: VideoStream | None
    first_picture: VideoFrame | None = None
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)

    def see(self, packet: Packet[Any]) -> None:
        if self.picture is not None and packet.stream_index == self.picture.index:
            if self.first_picture is None:
                self.first_picture = _decoded(self.picture, packet)
        elif packet.size and packet.pts is not None and not packet.is_discard:
            begin, end = packet.pts, packet.pts + (packet.duration or 0)
            if packet.has_sidedata("skip_samples"):
                begin, end = _without_padding(packet, begin, end)
            if begin < end:
                first, last = self.spans.get(packet.stream_index, (begin, end))
                self.spans[packet.stream_index] = (min(first, begin), max(last, end))


def probe(path: Path, *, cache_dir: Path | None = None) -> MediaCard:
    """Read the file's packets once, without decoding more than the first picture; header fields are not believed.
    ``cache_dir``: see ``file_sha256``.

    Raises ``UnreadableMedia`` naming the file and the reason: empty, no index, neither picture nor
    sound.
    """
    with open_media(path) as container:
        picture = picture_stream(container)
        streams = sound_streams(container)
        look = _Look(picture)
        index = _read(container, picture, streams, path, look)
        video = None if picture is None or index is None else _video_card(picture, index, look.first_picture, path)
        zero_s = None if index is None else index.start_pts * index.time_base
        sound = tuple(_track(s, look.spans.get(s.index), zero_s) for s in streams)
        chosen = default_sound_stream(streams)
        default_sound = None if chosen is None else chosen.index
        sound_s = next((t.duration_s for t in sound if t.index == default_sound), None)
        subtitles = tuple(_subtitles(s) for s in container.streams.subtitles)
        covers = len(attached_pictures(container))
        pictures = len(container.streams.video) - covers
        name = str(container.format.name)
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
        subtitles=subtitles,
        picture_streams=pictures,
        attached_pictures=covers,
    )


def _read(
    container: InputContainer, picture: VideoStream | None, sounds: list[AudioStream], path: Path, look: _Look
) -> PictureIndex | None:
    """One pass over the packets of the picture and of all sound tracks; None without a picture."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra
    from av.stream import Discard  # noqa: PLC0415 - an extra

    wanted = {s.index for s in (picture, *sounds) if s is not None}
    for stream in container.streams:
        if stream.index not in wanted:
            stream.discard = Discard.all
    if picture is None:
        if sounds:
            try:
                for packet in demuxed(container, list[Any](sounds)):
                    look.see(packet)
            except FFmpegError:
                pass  # what was read until here is what can be decoded
        return None
    index = read_index(container, picture, path, others=sounds, seen=look.see)
    if index.is_whole and look.first_picture is not None:
        return index
    # In a damaged file the way through it depends on what else is read. Frames and card have to agree.
    with open_media(path) as again:
        alone = picture_stream(again)
        assert alone is not None, "it was there a moment ago"
        for stream in again.streams:
            if stream.index != alone.index:
                stream.discard = Discard.all
        rest = _Look(alone, look.first_picture)
        index = read_index(again, alone, path, seen=rest.see)
        look.first_picture = rest.first_picture
    return index


def _without_padding(packet: Packet[Any], begin: int, end: int) -> tuple[int, int]:
    """First and last ticks of what is heard of a packet: encoders pad the start and the end to whole packets."""
    skipped = bytes(packet.get_sidedata("skip_samples"))
    per_tick = packet.stream.codec_context.sample_rate * packet.time_base
    at_start, at_end = (int.from_bytes(skipped[at : at + 4], "little") for at in (0, 4))
    return begin + round(at_start / per_tick), end - round(at_end / per_tick)


def _decoded(stream: VideoStream, packet: Packet[Any]) -> VideoFrame | None:
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    try:
        frames = stream.codec_context.decode(packet if packet.size else None)
    except FFmpegError:
        return None
    return frames[0] if frames else None


def _video_card(stream: VideoStream, index: PictureIndex, frame: VideoFrame | None, path: Path) -> VideoCard:
    if frame is None:
        raise UnreadableMedia("no frame of the picture can be decoded", where=str(path))
    placed = orientation(frame)
    aspect = stream.sample_aspect_ratio or Fraction(1)
    width, height = display_size(frame.width, frame.height, aspect, placed)
    shown = index.shown_pts
    span_s = float((shown[-1] - shown[0]) * index.time_base)
    transfer = _transfer(frame)
    times = [e.pts for e in index.entries if e.shown and e.pts is not None]
    return VideoCard(
        codec=str(stream.codec_context.codec.canonical_name),
        width_px=width,
        height_px=height,
        stored_width_px=frame.width,
        stored_height_px=frame.height,
        sample_aspect_ratio=f"{aspect.numerator}:{aspect.denominator}",
        rotation_deg=placed.turns * 90,
        mirrored=placed.is_mirrored,
        frames=len(shown),
        frames_hidden=index.frames_hidden,
        edit_list=index.has_edits,
        first_pts_s=float(shown[0] * index.time_base),
        last_pts_s=float(shown[-1] * index.time_base),
        vfr=index.is_vfr,
        average_fps=(len(shown) - 1) / span_s if span_s > 0 else None,
        key_frames=sum(e.key for e in index.entries),
        largest_key_gap_s=_largest_key_gap_s(index),
        # Packets of AVI state no times of showing; the decoder knows whether it holds pictures back.
        b_frames=stream.codec_context.has_b_frames if index.by_order else any(b < a for a, b in pairwise(times)),
        interlaced=frame.interlaced_frame,
        pix_fmt=stream.pix_fmt,
        bit_depth=max(component.bits for component in frame.format.components),
        color_transfer=transfer,
        hdr=transfer in _HDR,
        damage="none" if index.is_whole else "partial",
        frames_decodable=index.whole_frames,
        frames_declared=index.frames_declared,
    )


def _largest_key_gap_s(index: PictureIndex) -> float:
    """The longest time between two key frames, or between the last one and the end."""
    keys = [e.pts for e in index.entries if e.key and e.pts is not None]
    places = [index.start_pts, *sorted(k for k in keys if k > index.start_pts), index.end_pts]
    return float(max(b - a for a, b in pairwise(places)) * index.time_base)


def _transfer(frame: VideoFrame) -> str | None:
    from av.video.reformatter import ColorTrc  # noqa: PLC0415 - an extra

    try:
        transfer = ColorTrc(frame.color_trc)
    except ValueError:
        return None
    return None if transfer == ColorTrc.UNSPECIFIED else transfer.name.lower()


def _track(stream: AudioStream, span: tuple[int, int] | None, zero_s: Fraction | None) -> SoundTrack:
    start_s = duration_s = None
    if span is not None and stream.time_base is not None:
        first_s = span[0] * stream.time_base
        start_s = float(first_s - (first_s if zero_s is None else zero_s))
        duration_s = float((span[1] - span[0]) * stream.time_base)
    return SoundTrack(
        index=stream.index,
        codec=str(stream.codec.canonical_name),
        rate_hz=stream.rate,
        channels=stream.channels,
        language=_language(stream),
        default=is_default(stream),
        start_s=start_s,
        duration_s=duration_s,
    )


def _subtitles(stream: Stream) -> SubtitleTrack:
    codec = stream.codec_context.name if stream.codec_context else None
    return SubtitleTrack(stream.index, codec, _language(stream), is_default(stream))


def _language(stream: Stream) -> str | None:
    return None if stream.language in {None, "und"} else stream.language
