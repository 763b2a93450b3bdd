"""``onlooker transcribe``, ``onlooker draw-subtitles`` and ``onlooker paint-out-text``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import counting, note, say

if TYPE_CHECKING:
    from functools import partial

    from onlooker.cli.types import Commands
    from onlooker.media.transcript import Transcript

# Of captions that are on no frame; a wrong transcript has thousands of them.
_MOST_NAMED = 10


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    transcribe = commands.add_parser("transcribe", help="speech to text, of a file or of a bundle's episodes")
    transcribe.add_argument("source", type=Path, metavar="FILE|BUNDLE")
    transcribe.add_argument("--out", type=Path, metavar="PATH", help="the transcript of a FILE: .json, .srt or .vtt")
    transcribe.add_argument(
        "--model", default="whisper-tiny-en", metavar="M", help="an asset, a folder, or openai:NAME for a server's"
    )
    transcribe.add_argument("--language", metavar="L", help="a code such as en; detected without one")
    transcribe.add_argument("--track", type=int, metavar="N", help="the sound track; the default one without it")
    transcribe.add_argument("--base-url", metavar="U", help="of the server, up to /v1")
    transcribe.add_argument("--key-variable", default="OPENAI_API_KEY", metavar="V", help="where the key is")
    transcribe.add_argument("--episodes", type=Path, metavar="FILE", help="write a new episodes.jsonl of a BUNDLE")
    transcribe.set_defaults(run=_transcribe)

    draw = commands.add_parser("draw-subtitles", help="write a video with subtitles drawn into the picture")
    draw.add_argument("video", type=Path, metavar="VIDEO")
    draw.add_argument("--transcript", required=True, type=Path, metavar="T", help="SRT, VTT, TTML or JSON")
    draw.add_argument("--out", required=True, type=Path, metavar="FILE", help="the new video (.mp4)")
    draw.add_argument("--font", type=Path, metavar="F", help="a font file with the letters needed (DejaVu Sans)")
    draw.add_argument("--encoding", metavar="E", help="of the transcript, where it cannot be told")
    draw.add_argument("--speakers", action="store_true", help="put the names of speakers before their words")
    draw.set_defaults(run=_draw)

    paint = commands.add_parser("paint-out-text", help="write a video without the text on screen")
    paint.add_argument("video", type=Path, metavar="VIDEO")
    paint.add_argument("--out", required=True, type=Path, metavar="FILE", help="the new video (.mp4)")
    paint.add_argument("--sheet", required=True, type=Path, metavar="SHEET", help="before and after (.png, .jpg)")
    paint.add_argument("--samples-per-s", type=float, default=2.0, metavar="R", help="pictures read a second (2)")
    paint.add_argument("--keep-small", action="store_true", help="leave lines lower than a thirtieth of the picture")
    paint.set_defaults(run=_paint)


def _transcribe(options: argparse.Namespace) -> int:
    from functools import partial

    from onlooker.cli.folders import cache_dir
    from onlooker.errors import InputError
    from onlooker.media.cache import cached_transcribe
    from onlooker.media.transcript import written_suffix

    recognise = partial(
        cached_transcribe,
        cache_dir(),
        model=options.model,
        language=options.language,
        track=options.track,
        base_url=options.base_url,
        key_variable=options.key_variable,
    )
    if options.source.is_dir():
        if options.out is not None:
            raise InputError("--out is for one file", value=str(options.out), remedy="leave it out, or name a FILE")
        return _transcribe_bundle(options, recognise)
    if options.episodes is not None:
        raise InputError("--episodes is for a bundle", value=str(options.episodes), remedy="leave it out")
    if options.out is None:
        raise InputError("a file needs a place for its transcript", where="--out", remedy="name a .json, .srt or .vtt")
    written_suffix(options.out)  # before the work, not after it
    transcript: Transcript = recognise(options.source)
    _write(transcript, options.out)
    return 0


def _write(transcript: Transcript, out: Path) -> None:
    from onlooker.media.transcript import write_transcript

    write_transcript(transcript, out)
    for line in transcript.notices:
        note(line)
    suspect = [s for s in transcript.segments if s.suspect]
    for segment in suspect:
        note(f"suspect, {segment.suspect}: {segment.text}")
    language = transcript.language or "no language"
    say(f"{out}: {transcript.status}, {language}, {len(transcript.segments)} segments, {len(suspect)} suspect")


def _transcribe_bundle(options: argparse.Namespace, recognise: partial[Transcript]) -> int:
    from onlooker.media.bundle_words import transcribe_bundle, write_episodes
    from onlooker.records.bundle import open_bundle

    bundle = open_bundle(options.source)
    outcomes = []
    for outcome in transcribe_bundle(bundle, recognise):
        outcomes.append(outcome)
        if outcome.failure is not None:
            note(f"{outcome.episode}: {outcome.failure}")
        elif outcome.transcript is not None:
            note(f"{outcome.episode}: {outcome.path} ({outcome.transcript.status})")
    failed = sum(o.failure is not None for o in outcomes)
    new = sum(o.is_new for o in outcomes)
    say(f"{new} transcripts written, {len(outcomes) - new - failed} were there, {failed} episodes failed")
    if options.episodes is not None:
        rows = write_episodes(bundle, outcomes, options.episodes)
        say(f"{options.episodes}: {rows} episodes name a new transcript")
    elif len(outcomes) > failed:
        say("The episodes do not name them yet: --episodes FILE writes an episodes.jsonl that does.")
    return 1 if failed else 0


def _draw(options: argparse.Namespace) -> int:
    from onlooker.media.drawn_words import draw_subtitles
    from onlooker.media.transcript import read_transcript

    transcript = read_transcript(options.transcript, encoding=options.encoding)
    for line in transcript.notices:
        note(line)
    drawn = draw_subtitles(
        options.video,
        transcript,
        options.out,
        font=options.font,
        with_speakers=options.speakers,
        advance=counting("frames drawn"),
    )
    for caption in drawn.unshown[:_MOST_NAMED]:
        note(f"on no frame, {caption.start_s:.3f}-{caption.end_s:.3f} s: {' '.join(caption.lines)}")
    if len(drawn.unshown) > _MOST_NAMED:
        note(f"on no frame: {len(drawn.unshown) - _MOST_NAMED} more captions")
    if drawn.left_out:
        note(f"{drawn.left_out} suspect segments are not drawn")
    if drawn.missing:
        note(f"{drawn.missing} frames cannot be decoded; the one before each stays on screen")
    shown = len(drawn.captions) - len(drawn.unshown)
    say(f"{options.out}: {shown} captions on {drawn.with_words} of {drawn.frames} frames")
    return 0


def _paint(options: argparse.Namespace) -> int:
    from onlooker.media.inpaint import paint_out_text, sheet_form, write_sheet
    from onlooker.media.repaint import check_target
    from onlooker.media.screen_text import SMALL_SHARE, find_screen_text

    # Before the work, not after it.
    check_target(options.video, options.out)
    sheet_form(options.sheet)
    texts = find_screen_text(
        options.video,
        samples_per_s=options.samples_per_s,
        least_height_share=SMALL_SHARE if options.keep_small else 0.0,
        advance=counting("percent read"),
    )
    painted = paint_out_text(options.video, options.out, texts, advance=counting("frames painted"))
    write_sheet(options.video, options.out, texts, options.sheet)
    for text in texts:
        note(f"{text.start_s:.3f}-{text.end_s:.3f} s ({text.confidence:.2f}): {text.text}")
    for text in painted.left:
        note(f"can still be read: {text.text}")
    for time_s, line in painted.unseen:
        note(f"was not found, and can be read at {time_s:.3f} s: {line}")
    if painted.missing:
        note(f"{painted.missing} frames cannot be decoded; the one before each stays on screen")
    say(f"{options.out}: {painted.painted} of {painted.frames} frames painted over")
    say(f"read again: {len(painted.gone)} of {len(texts)} texts are gone. Look at {options.sheet}.")
    return 0
