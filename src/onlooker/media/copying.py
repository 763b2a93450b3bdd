"""Cutting without encoding anew, where the copy shows exactly what was asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from onlooker.media.container import default_sound_stream, open_media, picture_stream, sound_streams
from onlooker.media.encode import SOUND_BPS_A_CHANNEL, SoundEncoder, open_mp4, ticks_per_second
from onlooker.media.orientation import orientation
from onlooker.media.soundtrack import SoundPieces
from onlooker.media.stretch import Stretch

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

S = TypeVar("S", "AudioStream", "VideoStream")
_CONTAINERS = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"}
_IDR = 5
_SLICES = range(1, 6)
# Containers round the times of sound packets; beyond this there is a hole, or the sound begins late.
_MOST_JITTER_S = Fraction(3, 1000)


@dataclass(frozen=True, slots=True)
class Places:
    """Numbers of the first and the last packet to copy, in the order of decoding. ``rising``: ticks at which frames are
    shown, and at which the last one ends; the i-th packet is decoded ``ahead`` ticks before the i-th of them."""

    first: int
    last: int
    rising: tuple[int, ...]
    ahead: int


def places_to_copy(stretch: Stretch) -> Places | str:
    """The packets whose copy shows exactly the stretch, or the reason why there are none.

    The picture has to be H.264 in 8 bit 4:2:0 from MP4, MOV or Matroska, upright, with square pixels, whole; the
    stretch has to begin with an IDR frame, and to end where a frame ends. Its frames have to be all frames from the
    first packet to the last, and packets outside are not touched.
    """
    index = stretch.index
    places = {e.pts: i for i, e in enumerate(index.entries) if e.shown and e.pts is not None}
    if index.by_order:
        return "the packets have no times of showing"
    held = [places[p] for p in stretch.shown]
    first, last = min(held), max(held)
    kept = index.entries[first : last + 1]
    begins = stretch.shown[0] * index.time_base
    after = next((p for p in index.shown_pts if p > stretch.shown[-1]), index.end_pts)
    held_ticks = stretch.end_s / index.time_base - stretch.shown[-1]
    objections = (
        ("parts of the file are lost", stretch.lost_s > 0 or not index.is_whole),
        ("the window begins in the middle of a frame", begins != stretch.zero_s),
        ("the window does not begin with a key frame", held[0] != first),
        ("other frames stand between those of the window", len(kept) != len(held)),
        ("the window ends in the middle of a frame", abs(after - stretch.shown[-1] - held_ticks) > 1),
    )
    reason = next((reason for reason, holds in objections if holds), None)
    if reason is not None:
        return reason
    # Matroska states no times of decoding. The times of showing, rising, moved ahead until none comes too late, serve.
    rising = [*stretch.shown, round(stretch.end_s / index.time_base)]
    ahead = max(rising[i] - (e.pts or 0) for i, e in enumerate(kept))
    # A reader takes a frame to be shown for as long as its decoding takes; only the last one has no other to end it.
    place = held[-1] - first
    if abs(rising[place + 1] - rising[place] - held_ticks) > 1:
        return "the last frame's duration cannot be stated"
    return _stream_reason(stretch.path, first) or Places(first, last, tuple(rising), ahead)


def _stream_reason(path: Path, first: int) -> str | None:
    """What in the stream itself speaks against a copy that begins at packet number ``first``."""
    with open_media(path) as container:
        stream = picture_stream(container)
        assert stream is not None, "the stretch was read from this stream"
        context = stream.codec_context
        objections = (
            (f"the container is {container.format.name}", container.format.name not in _CONTAINERS),
            (f"the codec is {stream.codec.canonical_name}", context.name != "h264"),
            (f"the pixel format is {context.pix_fmt}", context.pix_fmt not in {"yuv420p", "yuvj420p"}),
            ("the pixels are not square", (stream.sample_aspect_ratio or 1) != 1),
        )
        reason = next((reason for reason, holds in objections if holds), None)
        if reason is not None:
            return reason
        packet = _packet(container, stream, first)
        if packet is None or not _is_idr(bytes(packet), context.extradata or b""):
            return "the window does not begin with a key frame"
        pictures = context.decode(packet) or context.decode(None)
        return None if pictures and orientation(pictures[0]).is_upright else "the picture is turned"


def _packet(container: InputContainer, stream: VideoStream, number: int) -> Packet[VideoStream] | None:
    packets = (p for p in container.demux(stream) if p.size)
    return next((p for i, p in enumerate(packets) if i == number), None)


def _is_idr(data: bytes, extradata: bytes) -> bool:
    """Whether all slices of an H.264 access unit are IDR (ISO/IEC 14496-10, 7.4.1.2.4): nothing after it leans on
    anything before it. Only length-prefixed units are read (ISO/IEC 14496-15, 5.3.3)."""
    if len(extradata) < 5 or extradata[0] != 1:
        return False
    length_bytes = (extradata[4] & 3) + 1
    kinds: list[int] = []
    place = 0
    while place + length_bytes < len(data):
        size = int.from_bytes(data[place : place + length_bytes], "big")
        place += length_bytes
        kinds.append(data[place] & 31)
        place += size
    slices = [kind for kind in kinds if kind in _SLICES]
    return bool(slices) and all(kind == _IDR for kind in slices)


def copied_size(path: Path, places: Places) -> int:
    """Bytes of the picture packets that would be copied."""
    with open_media(path) as container:
        stream = picture_stream(container)
        assert stream is not None, "the places were found in this stream"
        return sum(p.size for p in _between(container.demux(stream), places))


def copy_stretch(stretch: Stretch, places: Places, sound: SoundPieces | None, target: Path) -> bool | None:
    """Write the packets as mp4. Sound is copied where it is AAC that covers the start and has no holes, else encoded
    anew. Returns whether the sound was copied, None without sound."""
    scale = ticks_per_second(stretch.index.time_base)
    times = None if sound is None else _sound_to_copy(stretch, sound)
    with open_media(stretch.path) as container, open_media(stretch.path) as second, open_mp4(target, scale) as out:
        picture = picture_stream(container)
        assert picture is not None, "the places were found in this stream"
        video = _like(out, picture)
        heard: Iterator[Packet[AudioStream]] = iter(())
        encoder: SoundEncoder | None = None
        if sound is not None and times is not None:
            heard = _sound_packets(second, out, sound, times)
        elif sound is not None:
            encoder = SoundEncoder(out, sound, SOUND_BPS_A_CHANNEL * sound.channels)
        waiting = next(heard, None)
        for packet in _picture_packets(container, picture, places):
            time_s = _place_picture(packet, video, stretch, scale)
            while waiting is not None and (waiting.dts or 0) * waiting.time_base < time_s:
                out.mux(waiting)
                waiting = next(heard, None)
            if encoder is not None:
                encoder.write_until(time_s)
            out.mux(packet)
        while waiting is not None:
            out.mux(waiting)
            waiting = next(heard, None)
        if encoder is not None:
            encoder.write_until(None)
    return None if sound is None else times is not None


def _like(out: OutputContainer, stream: S) -> S:
    """A stream for packets of ``stream``; names, languages and dates stay behind."""
    copy = out.add_stream_from_template(stream, opaque=False)
    copy.metadata.clear()
    return copy


def _picture_packets(container: InputContainer, picture: VideoStream, places: Places) -> Iterator[Packet[VideoStream]]:
    """The packets at ``places`` with their times of decoding."""
    for number, packet in enumerate(_between(container.demux(picture), places)):
        rising, last = places.rising, places.last - places.first
        packet.dts = rising[number] - places.ahead
        # The edit list ends where the latest frame does, the sum of the durations where the last packet does.
        shown = bisect_left(rising, packet.pts or 0) if number < last else last
        packet.duration = rising[shown + 1] - rising[shown]
        yield packet


def _sound_packets(
    container: InputContainer, out: OutputContainer, sound: SoundPieces, times: dict[int, tuple[int, int]]
) -> Iterator[Packet[AudioStream]]:
    source = next(s for s in container.streams.audio if s.index == sound.track)
    audio = _like(out, source)
    packets = (p for p in container.demux(source) if p.size)
    return (_placed_sound(p, audio, times[i], sound.rate_hz) for i, p in enumerate(packets) if i in times)


def _place_picture(packet: Packet[VideoStream], stream: VideoStream, stretch: Stretch, scale: int) -> Fraction:
    """Put the packet on the clock of the stretch; returns its time of decoding in seconds."""
    step = stretch.index.time_base * scale
    zero = stretch.zero_s * scale
    assert packet.pts is not None, "places_to_copy has seen to it"
    assert packet.dts is not None, "it was just set"
    packet.pts, packet.dts = round(packet.pts * step - zero), round(packet.dts * step - zero)
    packet.duration = round((packet.duration or 0) * step)
    packet.time_base = Fraction(1, scale)
    packet.stream = stream
    return Fraction(packet.dts, scale)


def _placed_sound(
    packet: Packet[AudioStream], stream: AudioStream, place: tuple[int, int], rate_hz: int
) -> Packet[AudioStream]:
    packet.pts = packet.dts = place[0]
    packet.duration = place[1]
    packet.time_base = Fraction(1, rate_hz)
    packet.stream = stream
    return packet


def _sound_to_copy(stretch: Stretch, sound: SoundPieces) -> dict[int, tuple[int, int]] | None:
    """{number of the packet: (its first sample from the start, its samples)}, None where the sound cannot be copied.

    One packet more than needed stands in front: AAC decodes a packet with the help of the one before. The edit list
    hides it.
    """
    with open_media(stretch.path) as container:
        stream = default_sound_stream(sound_streams(container))
        assert stream is not None, "there is a sound track"
        context = stream.codec_context
        frame = context.frame_size or 1024
        if context.name != "aac" or (context.profile or "LC") != "LC" or stream.rate != sound.rate_hz:
            return None
        starts: list[Fraction] = []
        for packet in container.demux(stream):
            if packet.size:
                if packet.pts is None or packet.time_base is None:
                    return None
                starts.append(packet.pts * packet.time_base - stretch.zero_s)
    if not starts:
        return None
    rate = stream.rate
    covering = [i for i, s in enumerate(starts) if s * rate + frame > 0 and s < stretch.duration_s]
    if not covering or starts[covering[0]] > _MOST_JITTER_S:
        return None
    first = max(0, covering[0] - 1)
    zero = round(starts[first] * rate)
    placed: dict[int, tuple[int, int]] = {}
    for number in range(first, covering[-1] + 1):
        at = zero + (number - first) * frame
        if abs(starts[number] - Fraction(at, rate)) > _MOST_JITTER_S:
            return None
        placed[number] = (at, min(frame, round(stretch.duration_s * rate) - at))
    return {n: (at, samples) for n, (at, samples) in placed.items() if samples > 0}


def _between(packets: Iterator[Packet[VideoStream]], places: Places) -> Iterator[Packet[VideoStream]]:
    number = 0
    for packet in packets:
        if packet.size:
            if places.first <= number <= places.last:
                yield packet
            number += 1
            if number > places.last:
                return
