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

from onlooker.media.container import is_convertible, open_media, packets_of, steady_picture
from onlooker.media.index import PictureIndex
from onlooker.media.ordered import decode_in_order

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

    A picture may come a second time; then the second one counts, and None takes the first one back. After the iteration
    ``leans_on_damage`` tells which of them may show damage.
    """

    path: Path
    index: PictureIndex
    wanted: frozenset[int]
    seek: bool = True
    _keys: list[int] = field(init=False)
    _places: dict[int, int] = field(init=False)
    _lost: frozenset[int] = field(init=False)
    _damaged: set[int] = field(init=False, default_factory=set)
    _damaged_ticks: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        entries = self.index.entries
        self._keys = [i for i, e in enumerate(entries) if e.key and e.pts is not None] or [0]
        self._places = {e.pts: i for i, e in enumerate(entries) if e.shown and e.pts is not None}
        self._lost = frozenset(i for i, e in enumerate(entries) if e.after_loss)

    def __iter__(self) -> Iterator[tuple[int, VideoFrame | None]]:
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
        damaged: list[tuple[int, int]] = []
        left = sorted(groups.items())
        while left:
            # One opening serves all groups, as reading the tables of a long file costs as much as decoding 15 frames;
            # a decoder that met damage serves no other group.
            with open_media(self.path) as container:
                stream = steady_picture(container)
                while left:
                    first, last = left.pop(0)
                    errors = len(self._damaged)
                    yield from self._run(container, stream, first, last)
                    if len(self._damaged) > errors or any(first <= bad <= last for bad in self._lost):
                        damaged.append((first, last))
                        break
        if damaged:
            # What the decoder paints over damage depends on every picture before it: only a decode of all gives the
            # same by any way. Which pictures may show damage is known by now.
            for pts in self.wanted:
                if any(first <= self._places[pts] <= last for first, last in damaged):
                    yield pts, None
            yield from self._from_start(max(last for _, last in damaged), skip=False)

    @property
    def met_damage(self) -> bool:
        """Whether the decoder or the demuxer reported an error so far, in whatever frame."""
        return bool(self._damaged or self._damaged_ticks or self._lost)

    def leans_on_damage(self, pts: int) -> bool:
        """Whether the decoder or the demuxer reported an error in this picture or in one that it may be predicted
        from, or it is not sure when the picture is shown."""
        unsure = self.index.unsure_from_pts
        if unsure is not None and pts >= unsure:
            return True
        if self.index.by_order or pts in self._damaged_ticks:
            return pts in self._damaged_ticks
        place, first = self._places[pts], self._key_place(pts)
        return any(first <= bad <= place and not self._is_leading(bad, first) for bad in self._damaged | self._lost)

    def _is_leading(self, place: int, key: int) -> bool:
        """Shown before the key frame it follows (open GOP): it may lean on what came before, but nothing after leans
        on it."""
        pts, key_pts = self.index.entries[place].pts, self.index.entries[key].pts
        return key_pts is not None and (pts is None or pts < key_pts)

    def _key_place(self, pts: int) -> int:
        """Place of the key packet that decoding must begin with; one that is shown later cannot
        serve (open GOP)."""
        at = bisect_right(self._keys, self._places[pts]) - 1
        while at > 0 and (self.index.entries[self._keys[at]].pts or 0) > pts:
            at -= 1
        return self._keys[max(at, 0)]

    def _run(
        self, container: InputContainer, stream: VideoStream, first: int, last: int
    ) -> Iterator[tuple[int, VideoFrame]]:
        """Decode packets ``first`` to ``last`` (places in decode order); from the start if seeking misses ``first``."""
        packets = _packets_from(container, stream, self.index, first)
        if packets is None:
            yield from self._from_start(last, skip=True)
        else:
            yield from self._decode(stream, packets, first, last, skip=True)

    def _from_start(self, last: int, *, skip: bool) -> Iterator[tuple[int, VideoFrame]]:
        with open_media(self.path) as container:
            stream = steady_picture(container)
            yield from self._decode(stream, packets_of(container, stream), 0, last, skip=skip)

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
                if skip:
                    self._damaged.add(place)
                frames = []
            yield from self._checked(frames, skip=skip)
            if place == last:
                break
        try:
            frames = context.decode(None)
        except FFmpegError:
            frames = []
        yield from self._checked(frames, skip=skip)

    def _checked(self, frames: list[VideoFrame], *, skip: bool) -> Iterator[tuple[int, VideoFrame]]:
        for frame in frames:
            if frame.pts is not None:
                is_picture = is_convertible(frame)
                if (frame.is_corrupt or not is_picture) and frame.pts in self._places:
                    if skip:
                        self._damaged.add(self._places[frame.pts])
                    else:
                        self._damaged_ticks.add(frame.pts)
                if is_picture and frame.pts in self.wanted:
                    yield frame.pts, frame

    def _ordered(self) -> Iterator[tuple[int, VideoFrame]]:
        """Containers without times of showing, from the start."""
        last = max(self.wanted)
        for shown in decode_in_order(self.path, [e.pts for e in self.index.entries if e.pts is not None]):
            pts = self.index.start_pts + shown.ticks
            if shown.is_damaged:
                self._damaged_ticks.add(pts)
            if pts in self.wanted and is_convertible(shown.frame):
                yield pts, shown.frame
            if pts >= last:
                return


def _packets_from(
    container: InputContainer, stream: VideoStream, index: PictureIndex, first: int
) -> Iterator[Packet[VideoStream]] | None:
    """Packets from place ``first`` on, None where seeking did not lead to at or before it."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    packets = packets_of(container, stream)
    if first == 0:
        return packets
    key = index.entries[first]
    assert key.pts is not None, "only key packets with a time are sought"
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
