"""Files that lack their end or their middle say so, and no neighbour stands in for what is lost."""

from __future__ import annotations

import io
import itertools
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from onlooker.errors import UnreadableMedia
from onlooker.media.card import VideoCard, probe
from onlooker.media.frames import sample
from onlooker.media.loss import holes

from .making import RATE, Pixels, counted, counter, gray, write

_GOP = {"x264-params": "keyint=30:min-keyint=30:scenecut=0:bframes=2"}


def busy(count: int, width: int = 96, height: int = 64) -> list[Pixels]:
    """Noise: pictures of some kilobytes each."""
    return [np.random.default_rng(n).integers(16, 235, (height * 3 // 2, width), dtype=np.uint8) for n in range(count)]


def video(path: Path) -> VideoCard:
    card = probe(path).video
    assert card is not None
    return card


def test_a_gap_is_a_hole_beside_a_loss_and_a_held_frame_elsewhere() -> None:
    # Frames of 10 ticks, number 4 and 5 lost, and a frame held from 100 to 150; packets in the order shown.
    shown = [0, 10, 20, 30, 60, 70, 80, 90, 100, 150, 160]
    packets = {pts: (place, 10) for place, pts in enumerate(shown)}
    assert holes(shown, packets, []) == ()
    assert holes(shown, packets, [4]) == ((40, 60),)
    assert holes(shown, packets, [9]) == ((110, 150),)
    assert holes(shown, {pts: (place, 0) for pts, (place, _) in packets.items()}, [3]) == ((40, 60),)


def test_packets_lost_from_a_transport_stream_leave_a_hole(folder: Path) -> None:
    whole = write(folder / "whole-loss.ts", busy(90), codec_options=_GOP)
    data = whole.read_bytes()
    with av.open(str(whole)) as container:
        places = [p.pos for p in container.demux(video=0) if p.size]
    first, end = places[40], places[52]
    assert first is not None
    assert end is not None
    broken = folder / "loss.ts"
    begin, until = first // 188 * 188 + 188, end // 188 * 188 + 3 * 188
    numbers = [int.from_bytes(data[at + 1 : at + 3], "big") & 0x1FFF for at in range(begin - 188, until, 188)]
    lost_packets = numbers[1:].count(numbers[0])
    if lost_packets % 16 == 0:  # the counter of four bits cannot tell
        until += 188
    broken.write_bytes(data[:begin] + data[until:])
    assert (video(whole).damage, video(broken).damage) == ("none", "partial")
    clean, damaged = sample(whole, "fps:30"), sample(broken, "fps:30")
    assert damaged == sample(broken, "fps:30", seek=False)
    lost = {round(t * 30) for t in damaged.missing}
    assert set(range(43, 51)) <= lost <= set(range(38, 60))
    expected = {f.time_s: f.jpeg for f in clean.frames}
    assert all(f.jpeg == expected[f.time_s] for f in damaged.frames if f.status == "ok")
    # What comes before the next key frame leans on the lost packets.
    assert all(f.status == "corrupt" for f in damaged.frames if 52 <= round(f.time_s * 30) < 60)
    assert all(f.status == "ok" for f in damaged.frames if f.time_s >= 2)


def test_unreadable_bytes_in_matroska_leave_a_hole(folder: Path) -> None:
    whole = write(folder / "whole-loss.mkv", busy(90), codec_options=_GOP)
    data = bytearray(whole.read_bytes())
    with av.open(str(whole)) as container:
        packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    start, end = packets[40][0], packets[50][0]
    assert start is not None
    assert end is not None
    data[start:end] = bytes(end - start)
    broken = folder / "loss.mkv"
    broken.write_bytes(data)
    assert (video(whole).damage, video(broken).damage) == ("none", "partial")
    damaged = sample(broken, "fps:30")
    assert damaged == sample(broken, "fps:30", seek=False)
    expected = {f.time_s: f.jpeg for f in sample(whole, "fps:30").frames}
    assert set(range(43, 50)) <= {round(t * 30) for t in damaged.missing}
    assert all(f.jpeg == expected[f.time_s] for f in damaged.frames if f.status == "ok")


@pytest.mark.parametrize(
    ("codec", "options"),
    [
        ("libx264", {"x264-params": "keyint=20:min-keyint=20:scenecut=0:bframes=3:open-gop=1:b-pyramid=normal"}),
        ("libx265", {"x265-params": "keyint=20:min-keyint=20:scenecut=0:bframes=3:open-gop=1:log-level=none"}),
    ],
)
def test_damage_looks_the_same_by_any_way(folder: Path, codec: str, options: dict[str, str]) -> None:
    """Concealment depends on all that was decoded before, and leading pictures on the group before theirs."""
    whole = write(folder / f"open-{codec}.mp4", busy(60), codec=codec, codec_options=options)
    data = whole.read_bytes()
    generator = np.random.default_rng(11)
    seen = set()
    for n in range(12):
        at = int(generator.integers(len(data) // 20, len(data) * 9 // 10))
        noise = generator.bytes(600)
        path = folder / f"noise-{codec}-{n}.mp4"
        path.write_bytes(data[:at] + noise + data[at + 600 :])
        jumped, decoded = sample(path, "uniform:20"), sample(path, "uniform:20", seek=False)
        assert jumped == decoded, at
        seen |= {f.status for f in jumped.frames}
    assert seen == {"ok", "corrupt"}


def test_a_frame_held_for_long_is_no_hole(folder: Path) -> None:
    ticks = [*range(30), *range(60, 90)]
    for name in ("held.ts", "held.mkv", "held.flv"):
        path = write(folder / name, busy(60), ticks, codec="flv" if name.endswith("flv") else "libx264")
        sampled = sample(path, "fps:2")
        assert (video(path).damage, sampled.missing) == ("none", ()), name
        assert sampled.frames[3].pts_s == pytest.approx(29 / 30, abs=0.002)


@pytest.mark.parametrize(
    ("name", "codec", "cut_to"),
    [
        ("short.avi", "mpeg4", 0.6),
        ("short.flv", "flv", 0.6),
        ("short.asf", "wmv2", 0.6),
        ("short.ts", "mpeg2video", 0.6003),
        ("short.mpg", "mpeg2video", 0.6003),
        ("short.apng", "apng", 0.6),
        ("short.gif", "gif", 0.6),
        ("short.mkv", "mpeg4", 0.6),
    ],
)
def test_a_cut_file_says_so(folder: Path, name: str, codec: str, cut_to: float) -> None:
    if codec in {"gif", "apng"}:
        whole = packed(folder / f"whole-{name}", codec)
    else:
        whole = write(folder / f"whole-{name}", busy(60), codec=codec, gop=15)
    data = whole.read_bytes()
    path = folder / name
    path.write_bytes(data[: int(len(data) * cut_to)])
    full, part = probe(whole), probe(path)
    assert full.video is not None
    assert part.video is not None
    assert (full.video.damage, part.video.damage) == ("none", "partial")
    assert part.video.frames_decodable < full.video.frames_decodable
    sampled = sample(path, "uniform:20", jpeg_quality=100)
    assert sampled == sample(path, "uniform:20", jpeg_quality=100, seek=False)
    if name[5:] in {".avi", ".flv", ".asf", ".mkv"}:  # their headers say how long the whole was
        assert part.duration_s == pytest.approx(full.duration_s, abs=0.05)
        assert sampled.missing
        assert all(t > 1 for t in sampled.missing)
    clean = {f.pts_s: f.jpeg for f in sample(whole, "fps:30", jpeg_quality=100).frames}
    assert all(f.jpeg == clean[f.pts_s] for f in sampled.frames if f.status == "ok")


def packed(path: Path, codec: str) -> Path:
    """An animation of RGB pictures."""
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream(codec, rate=10)
        stream.width, stream.height = 64, 48
        stream.pix_fmt = "rgb8" if codec == "gif" else "rgb24"
        for n in range(20):
            pixels = np.random.default_rng(n).integers(0, 255, (48, 64, 3), dtype=np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format=stream.pix_fmt)))
        out.mux(stream.encode(None))
    return path


def test_bytes_behind_the_last_picture_are_no_damage(folder: Path) -> None:
    gif = packed(folder / "tail.gif", "gif")
    gif.write_bytes(gif.read_bytes() + b"appended by somebody")
    assert video(gif).damage == "none"


def test_joined_recordings_are_refused_with_the_place(folder: Path) -> None:
    one, two = write(folder / "one.ts", counter(30)), write(folder / "two.ts", counter(30))
    joined = folder / "joined.ts"
    joined.write_bytes(one.read_bytes() + two.read_bytes())
    for look in (probe, lambda path: sample(path, "uniform:4")):
        with pytest.raises(UnreadableMedia, match=r"joined\.ts: its clock starts again after 0\.9\d+ s"):
            look(joined)


def test_not_one_frame_is_an_error_that_names_file_and_reason(folder: Path) -> None:
    whole = write(folder / "sane10.ts", counter(30), codec_options=_GOP)
    data = bytearray(whole.read_bytes())
    # Every parameter set becomes a unit of a reserved kind: packets with times, nothing to decode them by.
    for at in range(len(data) - 4):
        if data[at : at + 3] == b"\0\0\1" and data[at + 3] & 0x1F in {7, 8}:
            data[at + 3] |= 0x1F
    hollow = folder / "hollow.ts"
    hollow.write_bytes(data)
    with pytest.raises(UnreadableMedia, match=r"hollow\.ts: not one of the 4 wanted frames .* h264"):
        sample(hollow, "uniform:4")
    cut = folder / "cut10.mkv"
    full = write(folder / "full10.mkv", busy(60), codec_options=_GOP)
    cut.write_bytes(full.read_bytes()[: full.stat().st_size // 2])
    with pytest.raises(UnreadableMedia, match=r"cut10\.mkv: not one of the 2 .* cut off"):
        sample(cut, "uniform:2", window=(1.6, 1.9))


def test_a_millisecond_clock_gives_the_times_of_any_other(folder: Path) -> None:
    grids = {}
    for name, codec in (("four.mp4", "libx264"), ("four.mkv", "libx264"), ("four.flv", "flv"), ("four.asf", "wmv2")):
        path = write(folder / name, [gray(60 + n) for n in range(120)], codec=codec)
        grids[name] = [f.time_s for f in sample(path, "fps:1").frames]
        assert probe(path).duration_s == pytest.approx(4, abs=0.0011)
    assert set(map(tuple, grids.values())) == {(0.0, 1.0, 2.0, 3.0)}


def test_times_missing_from_a_program_stream_are_filled_in_or_the_file_is_refused(folder: Path) -> None:
    # The muxer states a time for the first picture that begins in a pack: small pictures share one.
    path = write(folder / "sparse.mpg", counter(50), rate=25, gop=50, b_frames=2, codec_options={"b-pyramid": "none"})
    with av.open(str(path)) as container:
        assert any(p.pts is None for p in container.demux(video=0) if p.size)
    sampled = sample(path, "fps:25", jpeg_quality=100)
    assert [counted(f.jpeg) for f in sampled.frames] == list(range(50))
    assert [f.pts_s for f in sampled.frames] == pytest.approx([n / 25 for n in range(50)])
    assert sampled == sample(path, "fps:25", jpeg_quality=100, seek=False)
    raw = write(folder / "raw.h264", counter(20))
    with pytest.raises(UnreadableMedia, match=r"20 of its 20 packets carry no time"):
        sample(raw, "uniform:2")


def test_matroska_packets_before_zero_are_not_shown(folder: Path) -> None:
    """A stream-copied cut at an open key frame: leading pictures lie before zero and cannot be decoded."""
    options = {"x265-params": "keyint=20:min-keyint=20:scenecut=0:bframes=3:open-gop=1:log-level=none"}
    whole = write(folder / "open265.mkv", counter(50), rate=25, codec="libx265", codec_options=options)
    with av.open(str(whole)) as given, av.open(str(folder / "late265.mkv"), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        packets = [p for p in given.demux(video=0) if p.size]
        start = next(i for i, p in enumerate(packets) if p.is_keyframe and i)
        zero = packets[start].pts
        assert zero is not None
        for order, packet in enumerate(packets[start:]):
            assert packet.pts is not None
            packet.stream = stream
            packet.pts = packet.pts - zero + 200
            packet.dts = order
            out.mux(packet)
    data = (folder / "late265.mkv").read_bytes()
    with av.open(str(folder / "late265.mkv")) as late:
        key = next(p for p in late.demux(video=0) if p.size)
        assert key.pts is not None
        shift = key.pts
    # Block times count from their cluster's: with the cluster's at zero and every block's lowered, the leading ones
    # lie below zero, as a stream copy leaves them.
    target = folder / "before-zero.mkv"
    target.write_bytes(_lowered(data, shift))
    with av.open(str(target)) as lowered:
        found = [p.pts for p in lowered.demux(video=0) if p.size]
    assert found[0] == 0
    assert None in found
    sampled = sample(target, "fps:25", jpeg_quality=100)
    assert [counted(f.jpeg) for f in sampled.frames] == list(range(20, 50))
    assert sampled == sample(target, "fps:25", jpeg_quality=100, seek=False)


def _lowered(data: bytes, by_ms: int) -> bytes:
    """Times of all SimpleBlocks lowered (16 bits behind the track number)."""
    changed = bytearray(data)
    with av.open(io.BytesIO(data), "r") as container:
        places = [p.pos for p in container.demux(video=0) if p.size]
    for place in places:
        assert place is not None
        assert data[place] == 0x81  # track 1; what libav calls the packet's place
        (time_ms,) = struct.unpack(">h", data[place + 1 : place + 3])
        changed[place + 1 : place + 3] = struct.pack(">h", time_ms - by_ms)
    return bytes(changed)


def _bits(data: bytes) -> str:
    return "".join(f"{byte:08b}" for byte in data)


def not_coded(packet: bytes) -> bytes:
    """The head of an MPEG-4 picture with its ``vop_coded`` bit cleared (ISO 14496-2, 6.2.5): no picture of its own."""
    at = packet.index(b"\0\0\1\xb6")
    bits = _bits(packet[at + 4 : at + 12])
    place = bits.index("0", 2) + 1 + 1 + 5 + 1  # kind, seconds, marker, 1/30 s in five bits, marker
    body = bits[:place] + "0" + "0"
    body += "1" * (-len(body) % 8)
    return b"\0\0\1\xb6" + int(body, 2).to_bytes(len(body) // 8, "big")


def write_chunks(path: Path, template: Path, chunks: list[tuple[int, bytes, bool]]) -> Path:
    with av.open(str(template)) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for dts, data, key in chunks:
            packet: Any = av.Packet(data)
            packet.stream, packet.time_base = stream, Fraction(1, RATE)
            packet.dts = packet.pts = dts
            packet.is_keyframe = key
            out.mux(packet)
    return path


@pytest.mark.parametrize("kind", ["avi", "mp4"])
def test_packed_pictures_keep_their_times(folder: Path, kind: str) -> None:
    """XviD and DivX put two pictures into one packet and a dummy behind; the first packet comes early."""
    count = 46
    plain = write(
        folder / f"plain4-{kind}.avi",
        counter(count),
        codec="mpeg4",
        b_frames=2,
        gop=300,
        codec_options={"qmin": "1", "qmax": "1", "sc_threshold": "1000000000", "b_strategy": "0"},
    )
    with av.open(str(plain)) as container:
        packets = [(bytes(p), p.is_keyframe) for p in container.demux(video=0) if p.size]
    first = packets[0][0]
    at = first.index(b"\0\0\1\xb6")
    chunks = [(0, first[:at] + b"\0\0\1\xb2DivX503b1393p" + first[at:], True)]
    dts = 3
    for anchor, one, two in zip(packets[1::3], packets[2::3], packets[3::3], strict=True):
        for data in (anchor[0] + one[0], two[0], not_coded(anchor[0])):
            chunks.append((dts, data, False))
            dts += 1
    odd = write_chunks(folder / f"packed4.{kind}", plain, chunks)
    sampled = sample(odd, "fps:30", jpeg_quality=100)
    assert [counted(f.jpeg) for f in sampled.frames] == list(range(count))
    assert {f.status for f in sampled.frames} == {"ok"}
    assert [f.pts_s for f in sampled.frames] == pytest.approx([n / 30 for n in range(count)], abs=0.001)
    assert sampled == sample(odd, "fps:30", jpeg_quality=100, seek=False)
    assert [counted(f.jpeg) for f in sample(odd, "uniform:2").frames] == [0, count // 2]
    # Matroska states times of showing only, and these packets have none: no rule holds for every writer.
    with pytest.raises(UnreadableMedia, match="two pictures each"):
        sample(write_chunks(folder / f"packed-{kind}.mkv", plain, chunks), "uniform:2")


def test_a_frame_that_is_not_coded_holds_the_one_before(folder: Path) -> None:
    plain = write(folder / "plain5.avi", counter(20), codec="mpeg4", gop=300, codec_options={"qmin": "1", "qmax": "1"})
    with av.open(str(plain)) as container:
        packets = [(bytes(p), p.is_keyframe) for p in container.demux(video=0) if p.size]
    times = itertools.count()
    chunks = []
    for number, (data, key) in enumerate(packets):
        chunks.append((next(times), data, key))
        if number in {5, 9}:
            chunks.append((next(times), not_coded(data), False))
    dropped = write_chunks(folder / "dropped.avi", plain, chunks)
    shown = [counted(f.jpeg) for f in sample(dropped, "fps:30", jpeg_quality=100).frames]
    assert shown == [*range(6), 5, *range(6, 10), 9, *range(10, 20)]
