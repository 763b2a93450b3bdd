"""``onlooker detect``."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.cli.terminal import counting, note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands

    # The result as found, the rows of the table (head first), and for every time the labelled boxes to draw.
    Detected = tuple[Any, list[list[str]], list[tuple[float, list[tuple[str, Any]]]]]


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("detect", help="faces, cuts, regions, faults and offsets of recordings, with times")
    parser.add_argument("what", choices=sorted(_DETECTORS), metavar="WHAT", help=", ".join(sorted(_DETECTORS)))
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("other", type=Path, nargs="?", metavar="FILE2", help="the second recording, for offset")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="gets times, measured values and thresholds")
    parser.add_argument("--overlay", type=Path, metavar="DIR", help="gets JPEG files with the boxes drawn")
    parser.add_argument("--window", metavar="A:B", help="only from second A to second B")
    parser.add_argument("--region", metavar="X0,Y0,X1,Y1", help="quality: only this rectangle, in pixels as displayed")
    parser.add_argument("--step", type=float, metavar="S", help="faces, expressions: seconds between looks (0.5)")
    parser.add_argument("--expect-face", action="store_true", help="quality: a face must be there, whole and not tiny")
    parser.set_defaults(run=_detect)


def _detect(options: argparse.Namespace) -> int:
    from onlooker.errors import InputError
    from onlooker.media.digest import write_atomically

    if (options.what == "offset") != (options.other is not None):
        raise InputError("offset takes two files, everything else one", remedy="see onlooker detect --help")
    if options.overlay is not None and options.what in {"quality", "offset"}:
        raise InputError("there is nothing to draw for", value=options.what, remedy="leave out --overlay")
    found, rows, drawings = _DETECTORS[options.what](options)
    say(table(rows) if len(rows) > 1 else f"{options.file.name}: nothing found")
    if options.out is not None:
        report = {"what": options.what, "file": options.file.name, **dataclasses.asdict(found)}
        if options.other is not None:
            report["other"] = options.other.name
        write_atomically(options.out, (json.dumps(report, ensure_ascii=False, indent=1) + "\n").encode())
    if options.overlay is not None:
        from onlooker.media.overlay import draw_boxes

        count = draw_boxes(options.file, drawings, options.overlay)
        note(f"{options.overlay}: {count} pictures")
    return 0


def _window(options: argparse.Namespace) -> tuple[float, float] | None:
    from onlooker.errors import InputError

    if options.window is None:
        return None
    try:
        start, end = (float(part) for part in options.window.split(":"))
    except ValueError as error:
        raise InputError("--window takes two times in seconds, as 2.5:10", value=options.window) from error
    return start, end


def _times(start_s: float, end_s: float) -> list[str]:
    return [f"{start_s:.3f}", f"{end_s:.3f}"]


def _box(rect: Any) -> str:
    return f"{rect.left_px},{rect.top_px},{rect.right_px},{rect.bottom_px}"


def _faces(options: argparse.Namespace) -> Detected:
    from onlooker.media.detectors.cuts import find_cuts
    from onlooker.media.perception import LEAST_EXPRESSION_FACE_PX
    from onlooker.media.tracks import expression_stretches, track_faces

    with_expressions = options.what == "expressions"
    window = _window(options)
    cuts = find_cuts(options.file, window=window, advance=counting("seconds looked at for cuts")).cuts
    found = track_faces(
        options.file,
        step_s=0.5 if options.step is None else options.step,
        window=window,
        cuts_s=[cut.time_s for cut in cuts],
        with_expressions=with_expressions,
        advance=counting("pictures looked at"),
    )
    drawings: dict[float, list[tuple[str, Any]]] = {}
    for number, track in enumerate(found.tracks, 1):
        for seen in track.sightings:
            words = f" {seen.expression.label} {seen.expression.probability:.2f}" if seen.expression else ""
            drawings.setdefault(seen.time_s, []).append((f"{number}: {seen.score:.2f}{words}", seen.box))
    if with_expressions:
        rows = [["face", "start s", "end s", "expression", "probability"]]
        for number, track in enumerate(found.tracks, 1):
            rows += [
                [str(number), *_times(s.start_s, s.end_s), s.label, f"{s.probability:.2f}"]
                for s in expression_stretches(track, found.step_s)
            ]
    else:
        rows = [["face", "start s", "end s", "looks", "gaps", "score", "first box"]]
        for number, track in enumerate(found.tracks, 1):
            rows.append(
                [
                    str(number),
                    *_times(track.start_s, track.end_s),
                    str(len(track.sightings)),
                    str(len(track.gaps)),
                    f"{track.score:.3f}",
                    _box(track.sightings[0].box),
                ]
            )
    if with_expressions:
        small = sum(seen.expression is None for track in found.tracks for seen in track.sightings)
        if small:
            note(f"no expression of {small} faces less than {LEAST_EXPRESSION_FACE_PX} pixels wide")
    for start_s, end_s in found.absent:
        note(f"no face from {start_s:.3f} to {end_s:.3f} s")
    for time_s in found.unseen_s:
        note(f"no frame can be decoded for {time_s:.3f} s")
    return found, rows, sorted(drawings.items())


def _cuts(options: argparse.Namespace) -> Detected:
    from onlooker.media.detectors.cuts import find_cuts

    found = find_cuts(options.file, window=_window(options), advance=counting("seconds looked at"))
    at = {cut.time_s: cut for cut in found.cuts}
    rows = [["segment", "start s", "end s", "change", "ratio"]]
    for number, (start_s, end_s) in enumerate(found.segments, 1):
        cut = at.get(start_s)
        rows.append(
            [str(number), *_times(start_s, end_s), *([f"{cut.change:.1f}", f"{cut.ratio:.1f}"] if cut else ["", ""])]
        )
    return found, rows, [(start_s, []) for start_s, _ in found.segments]


def _regions(options: argparse.Namespace) -> Detected:
    from onlooker.media.regions import find_regions

    found = find_regions(options.file, window=_window(options))
    rows = [["layout", "start s", "end s", "reactor", "stimulus", "border", "faces"]]
    drawings: list[tuple[float, list[tuple[str, Any]]]] = []
    for layout in found.layouts:
        roles = (layout.reactor, layout.stimulus)
        rows.append(
            [
                layout.kind,
                *_times(layout.start_s, layout.end_s),
                *("undefined" if role is None else _box(role) for role in roles),
                f"{layout.border:.2f}",
                "/".join(f"{share:.2f}" for share in layout.steady_faces),
            ]
        )
        if layout.reason is not None:
            note(f"roles undefined from {layout.start_s:.3f} s: {layout.reason}")
        names = ("reactor", "stimulus") if layout.reactor is not None else ("part 1", "part 2")
        boxes = [(name, box) for name, box in zip(names, layout.parts if None in roles else roles, strict=True)]
        drawings += [(t, boxes) for t in (layout.start_s, (layout.start_s + layout.end_s) / 2)]
    if found.undefined is not None:
        note(f"undefined: {found.undefined}")
    return found, rows, drawings


def _quality(options: argparse.Namespace) -> Detected:
    from onlooker.errors import InputError
    from onlooker.media.pictures import Rect
    from onlooker.media.quality import check_quality

    region: Rect | None = None
    if options.region is not None:
        try:
            left, top, right, bottom = (int(part) for part in options.region.split(","))
        except ValueError as error:
            raise InputError("--region takes four whole numbers of pixels", value=options.region) from error
        region = Rect(left, top, right, bottom)
    found = check_quality(
        options.file,
        region=region,
        window=_window(options),
        expect_face=options.expect_face,
        advance=counting("pictures looked at"),
    )
    rows = [["fault", "start s", "end s", "value", "threshold", "reason"]]
    rows += [
        [one.kind, *_times(one.start_s, one.end_s), f"{one.value:g}", f"{one.threshold:g}", one.reason]
        for one in found.findings
    ]
    for what, reason in found.unchecked:
        note(f"not checked: {what} ({reason})")
    return found, rows, []


def _offset(options: argparse.Namespace) -> Detected:
    from onlooker.errors import InputError
    from onlooker.media.alignment import offset_between

    if options.window is not None:
        raise InputError("offset compares whole recordings", remedy="leave out --window")
    found = offset_between(options.file, options.other)
    rows = [["offset s", "by", "peak", "second", "overlap s"]]
    numbers = ["undefined" if v is None else f"{v:.2f}" for v in (found.peak, found.second)]
    offset = "undefined" if found.offset_s is None else f"{found.offset_s:+.4f}"
    rows.append([offset, found.by, *numbers, f"{found.overlap_s:.2f}"])
    if found.reason is not None:
        note(f"undefined: {found.reason}")
    return found, rows, []


_DETECTORS = {
    "cuts": _cuts,
    "expressions": _faces,
    "faces": _faces,
    "offset": _offset,
    "quality": _quality,
    "regions": _regions,
}
