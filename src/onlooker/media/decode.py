"""Decoding exactly the wanted frames of a picture stream, by seeking where the container allows it.

The wanted packets are grouped by the key packet their pictures lean on. For each group: seek to the
key packet, drop what comes before it, decode to the last wanted packet, drain. Pictures that
nothing leans on and nobody wants are skipped. The pictures are those of a full sequential decode,
byte for byte.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.media.container import keep_only, open_media, picture_stream
from onlooker.media.index import PictureIndex

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

# Decoders that skip unreferenced pictures without any effect on the others; dav1d and vp9 do not.
_SKIPS_UNREFERENCED = {"h264", "hevc", "mpeg2video", "mpeg4"}


@dataclass(slots=True)
class WantedFrames:
    """Iterates over (ticks, frame) of the ``wanted`` ticks of ``index``, in no promised order.

    A picture may come a second time; then the second one counts. After the iteration
    ``leans_on_damage`` tells which of them may show damage.
    """

    path: Path
    index: PictureIndex
    wanted: frozenset[int]
    seek: bool = True
    _keys: list[int] = field(init=False)
    _places: dict[int, int] = field(init=False)
    _damaged: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        entries = self.index.entries
        self._keys = [i for i, e in enumerate(entries) if e.key] or [0]
        self._places = {e.pts: i for i, e in enumerate(entries) if e.shown}

    def __iter__(self) -> Iterator[tuple[int, VideoFrame]]:
        """Decode. Every picture is handed over as it is met and kept nowhere."""
        if not self.wanted:
            return
        groups: dict[int, int] = {}
        if self.index.by_order:
            yield from self._ordered()
            return
        for pts in sorted(self.wanted):
            first = self._key_place(pts) if self.seek and self.index.seekable else 0
            groups[first] = max(groups.get(first, 0), self._places[pts])
        for first, last in groups.items():
            errors = len(self._damaged)
            yield from self._run(first, last, skip=True)
            if len(self._damaged) > errors:
                # What the decoder paints over damage depends on every picture before it.
                yield from self._run(first, last, skip=False)

    def leans_on_damage(self, pts: int) -> bool:
        """Whether the decoder reported an error in this picture or in one that it may be predicted
        from."""
        place, first = self._places[pts], self._key_place(pts)
        return any(first <= bad <= place for bad in self._damaged)

    def _key_place(self, pts: int) -> int:
        """Place of the key packet that decoding must begin with; one that is shown later cannot
        serve (open GOP)."""
        at = bisect_right(self._keys, self._places[pts]) - 1
        while at > 0 and self.index.entries[self._keys[at]].pts > pts:
            at -= 1
        return self._keys[max(at, 0)]

    def _run(self, first: int, last: int, *, skip: bool) -> Iterator[tuple[int, VideoFrame]]:
        """Decode packets ``first`` to ``last`` (places in decode order); from the start if seeking
        misses ``first``."""
        with open_media(self.path) as container:
            stream = _picture(container)
            packets = _packets_from(container, stream, self.index, first)
            if packets is not None:
                yield from self._decode(stream, packets, first, last, skip=skip)
                return
        with open_media(self.path) as container:
            stream = _picture(container)
            yield from self._decode(stream, _packets(container, stream), 0, last, skip=skip)

    def _decode(
        self,
        stream: VideoStream,
        packets: Iterable[Packet[VideoStream]],
        first: int,
        last: int,
        *,
        skip: bool,
    ) -> Iterator[tuple[int, VideoFrame]]:
        from av.error import FFmpegError  # noqa: PLC0415 - an extra

        context = stream.codec_context
        can_skip = skip and context.name in _SKIPS_UNREFERENCED
        for place, packet in enumerate(packets, first):
            if can_skip:
                context.skip_frame = "DEFAULT" if packet.pts in self.wanted else "NONREF"
            try:
                frames = context.decode(packet)
            except FFmpegError:
                self._damaged.add(place)
                frames = []
            yield from self._checked(frames)
            if place == last:
                break
        try:
            frames = context.decode(None)
        except FFmpegError:
            frames = []
        yield from self._checked(frames)

    def _checked(self, frames: list[VideoFrame]) -> Iterator[tuple[int, VideoFrame]]:
        for frame in frames:
            if frame.pts is not None:
                if frame.is_corrupt and frame.pts in self._places:
                    self._damaged.add(self._places[frame.pts])
                if frame.pts in self.wanted:
                    yield frame.pts, frame

    def _ordered(self) -> Iterator[tuple[int, VideoFrame]]:
        """Containers without presentation times: the k-th picture has the k-th time, until a
        picture fails to decode."""
        from av.error import FFmpegError  # noqa: PLC0415 - an extra

        last = max(self.wanted)
        with open_media(self.path) as container:
            stream = _picture(container)
            pictures = (f for p in container.demux(stream) for f in stream.codec_context.decode(p))
            try:
                for pts, frame in zip(self.index.shown_pts, pictures, strict=False):
                    if frame.is_corrupt:
                        self._damaged.add(self._places[pts])
                    if pts in self.wanted:
                        yield pts, frame
                    if pts == last:
                        return
            except FFmpegError:
                return


def _picture(container: InputContainer) -> VideoStream:
    stream = picture_stream(container)
    assert stream is not None, "the index was read from this stream"
    keep_only(container, stream)
    # With threads, damaged parts of a picture come out differently from run to run.
    stream.thread_type = "NONE"
    stream.thread_count = 1
    if stream.codec_context.name == "hevc":
        # The HEVC decoder keeps quiet about damage otherwise; the pictures are the same.
        stream.codec_context.options = {"err_detect": "explode"}
    return stream


def _packets(container: InputContainer, stream: VideoStream) -> Iterator[Packet[VideoStream]]:
    """Packets with content, up to the end or to where the demuxer gives up; the index counts them
    in the same way."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    try:
        yield from (p for p in container.demux(stream) if p.size)
    except FFmpegError:
        return


def _packets_from(
    container: InputContainer, stream: VideoStream, index: PictureIndex, first: int
) -> Iterator[Packet[VideoStream]] | None:
    """Packets from place ``first`` on, None where seeking did not lead to at or before it."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    packets = _packets(container, stream)
    if first == 0:
        return packets
    key = index.entries[first]
    try:
        container.seek(key.pts if key.dts is None else key.dts, stream=stream)
    except FFmpegError:
        return None
    for packet in packets:
        if packet.pts == key.pts and packet.is_keyframe:
            return _chained(packet, packets)
        if packet.is_keyframe and packet.pts is not None and packet.pts > key.pts:
            return None
    return None


def _chained(first: Packet[VideoStream], rest: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
    yield first
    yield from rest
