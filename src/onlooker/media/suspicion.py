"""Signs that recognised words were never said: the decoder's own doubt, loops, words where nobody speaks.

The three limits of Whisper's decoder are those of Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak
Supervision", section 4.5.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace

from onlooker.media.transcript import Segment

LEAST_MEAN_LOG_PROBABILITY = -1.0
GREATEST_COMPRESSION_RATIO = 2.4
GREATEST_NO_SPEECH_PROBABILITY = 0.6
# A phrase said this often in a row is a loop of the decoder, if it makes so many words in all: "no, no, no, no" is not.
LEAST_REPEATS = 4
LEAST_REPEATED_WORDS = 8
_LONGEST_PHRASE_WORDS = 12
# Less of a segment in what voice detection calls speech: its words come from silence or noise.
LEAST_SHARE_OF_SPEECH = 0.1
# A word of a script with spaces, or one character of a script without.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

Stretch = tuple[float, float]


def decoder_doubt(
    text: str, mean_log_probability: float | None, compression_ratio: float | None, no_speech_probability: float | None
) -> str | None:
    """Why Whisper's decoder itself distrusts a segment, None where nothing speaks for it or nothing was reported.

    A compression ratio that was not reported is computed, as Whisper does: bytes of the text over zlib's bytes of it.
    """
    if mean_log_probability is not None and mean_log_probability < LEAST_MEAN_LOG_PROBABILITY:
        return f"mean log-probability {mean_log_probability:.2f}"
    data = text.encode()
    ratio = compression_ratio if compression_ratio is not None else len(data) / len(zlib.compress(data))
    if ratio > GREATEST_COMPRESSION_RATIO:
        return f"repeats itself (compression ratio {ratio:.1f})"
    if no_speech_probability is not None and no_speech_probability > GREATEST_NO_SPEECH_PROBABILITY:
        return f"probably no speech ({no_speech_probability:.2f})"
    return None


def flag_repetition(segments: Sequence[Segment]) -> list[Segment]:
    """The segments; those of which at least half the words repeat a phrase, within or across segments, are ``suspect``.

    A loop is a phrase of 1 to 12 words (characters, in scripts without spaces) that follows on itself 4 times or more
    and has 8 words or more in all. Its first saying may be real and is not counted.
    """
    words = [(place, w.casefold()) for place, s in enumerate(segments) for w in _WORD.findall(s.text)]
    repeated = _repeated([w for _, w in words])
    total = [0] * len(segments)
    looped = [0] * len(segments)
    for (place, _), is_repeated in zip(words, repeated, strict=True):
        total[place] += 1
        looped[place] += is_repeated
    return [
        replace(segment, suspect=f"repeats a phrase ({part} of {whole} words)")
        if segment.suspect is None and part and part * 2 >= whole
        else segment
        for segment, whole, part in zip(segments, total, looped, strict=True)
    ]


def flag_silence(segments: Sequence[Segment], speech: Sequence[Stretch]) -> list[Segment]:
    """The segments; those that lie to less than a tenth in ``speech`` are ``suspect``.

    ``speech``: stretches (start_s, end_s) without overlap, in which voice detection heard somebody, on the clock of the
    segments. Segments without times stay as they are.
    """
    flagged: list[Segment] = []
    for segment in segments:
        if segment.start_s is None or segment.end_s is None or segment.suspect is not None:
            flagged.append(segment)
            continue
        start_s, end_s = segment.start_s, max(segment.end_s, segment.start_s + 1e-3)
        spoken_s = sum(max(0.0, min(end_s, stop) - max(start_s, start)) for start, stop in speech)
        silent = spoken_s / (end_s - start_s) < LEAST_SHARE_OF_SPEECH
        flagged.append(replace(segment, suspect="no speech was detected there") if silent else segment)
    return flagged


def _repeated(words: Sequence[str]) -> list[bool]:
    """For every word whether it is part of a loop, its first saying left out."""
    marks = [False] * len(words)
    for length in range(1, _LONGEST_PHRASE_WORDS + 1):
        start = 0
        while start + length < len(words):
            end = start + length
            while end < len(words) and words[end] == words[end - length]:
                end += 1
            # Words from start to end have the period ``length``.
            if end - start >= max(LEAST_REPEATS * length, LEAST_REPEATED_WORDS):
                marks[start + length : end] = [True] * (end - start - length)
            start = max(end - length + 1, start + 1)
    return marks
