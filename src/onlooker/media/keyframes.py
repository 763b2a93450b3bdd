"""Key frames by meaning, ``bolt:N``: the more a frame is like a text, the likelier it is among the N.

After BOLT (Liu, Zhao, Xu and Ghanem, CVPR 2025: text-frame similarity and inverse transform sampling). Candidates are
the frames on screen at 1 frame a second (``CANDIDATE_RATE_HZ``), each once; s_i is the cosine of the image and the text
embedding of candidate i. Then

    w_i = ((s_i - min s) / (max s - min s)) ** EXPONENT    (all 1 where all s are equal)
    F_i = (w_0 + ... + w_i) / (w_0 + ... + w_n-1)
    draw k = 0 .. N - 1 is the first i with F_i >= (k + 1/2) / N

The exponent 3 is that of the authors' code for Video-MME and MLVU. Their quantiles run from 1/N to 1 - 1/N, which for
N = 2 draws one point twice; and a frame that is drawn twice is shown twice there. Here what falls on a frame that is
taken is drawn again from those left, by the same rule, so that N frames come out where there are N candidates, and all
of them where there are fewer. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, UnreadableMedia
from onlooker.media.encoders import ImageTextEncoder, embed_images, embed_texts
from onlooker.media.frames import sample
from onlooker.media.grid import Policy, grid_times

CANDIDATE_RATE_HZ = Fraction(1)
EXPONENT = 3.0
# Encoders look at 224 to 384 pixels.
CANDIDATE_SIDE_PX = 448
CANDIDATE_JPEG_QUALITY = 90
# So many candidates are in memory at a time: four minutes of a medium.
_AT_A_TIME = 240
_BATCH = 32
# A quantile that lies on a step is not moved over it by the rounding of a sum.
_SAME = 1e-12

Vectors = NDArray[np.float32]


def choose(similarities: Sequence[float], count: int, *, exponent: float = EXPONENT) -> tuple[int, ...]:
    """Places of min(``count``, n) different candidates, rising, for n finite ``similarities`` in the order of time.

    Formula: see the module. Raises ``InputError`` for no candidate, a number that is none, a count below 1 or an
    exponent that is not above 0.
    """
    scores = np.asarray(similarities, dtype=np.float64)
    if scores.ndim != 1 or not len(scores) or not np.isfinite(scores).all():
        raise InputError("similarities must be a row of finite numbers, at least one", value=list(similarities)[:4])
    if count < 1 or not exponent > 0:
        raise InputError("the count must be at least 1 and the exponent above 0", value=(count, exponent))
    span = scores.max() - scores.min()
    weights = np.ones_like(scores) if span == 0 else ((scores - scores.min()) / span) ** exponent
    left = np.arange(len(scores))
    taken: list[int] = []
    while len(taken) < count and len(left):
        drawn = np.unique(_draws(weights[left], count - len(taken)))
        taken += left[drawn].tolist()
        left = np.delete(left, drawn)
    return tuple(sorted(taken))


def _draws(weights: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """The ``count`` draws, repeated ones too; where nothing has weight all have the same."""
    if weights.sum() == 0:
        weights = np.ones_like(weights)
    steps = np.cumsum(weights) / weights.sum()
    quantiles = (np.arange(count) + 0.5) / count
    # The last step may come out a rounding below one.
    last = np.flatnonzero(weights)[-1]
    return np.asarray(np.minimum(np.searchsorted(steps, quantiles - _SAME), last), np.intp)


def similarities(images: Vectors, text: Vectors) -> NDArray[np.float64]:
    """Cosines, shape (n,), of ``images``, shape (n, d), with ``text``, shape (d,).

    Raises ``InputError`` for widths that differ and for a vector of length zero.
    """
    if images.shape[1] != text.shape[0]:
        raise InputError(
            "the encoder gives texts and images of different widths", value=(text.shape[0], images.shape[1])
        )
    lengths = np.linalg.norm(images.astype(np.float64), axis=1) * np.linalg.norm(text.astype(np.float64))
    if not lengths.all():
        raise InputError("the encoder gives a vector of length zero, which is like nothing")
    return np.asarray(images.astype(np.float64) @ text.astype(np.float64) / lengths)


def embed_candidates(
    path: Path, duration_s: float, encoder: ImageTextEncoder, *, window: tuple[float, float] | None = None
) -> tuple[tuple[float, ...], Vectors]:
    """Grid times in seconds of the different frames at the candidate rate, and their embeddings, shape (n, d).

    Four minutes of the medium are in memory at a time. Candidates that cannot be decoded are none; raises
    ``UnreadableMedia`` where there is no other.
    """
    grid = grid_times(Policy("fps", rate_hz=CANDIDATE_RATE_HZ), duration_s, window)
    times: list[float] = []
    vectors: list[Vectors] = []
    failure: UnreadableMedia | None = None
    last_pts_s: float | None = None
    for begin in range(0, len(grid), _AT_A_TIME):
        part = grid[begin : begin + _AT_A_TIME]
        try:
            found = sample(
                path,
                at_times(len(part), part),
                max_side_px=CANDIDATE_SIDE_PX,
                jpeg_quality=CANDIDATE_JPEG_QUALITY,
                source_sha256="not needed",
            )
        except UnreadableMedia as error:
            failure = error
            continue
        # A frame that is held over the edge of two parts is one candidate.
        frames = [f for f in found.frames if f.pts_s != last_pts_s]
        last_pts_s = found.frames[-1].pts_s
        times += [f.time_s for f in frames]
        for first in range(0, len(frames), _BATCH):
            jpegs = [f.jpeg for f in frames[first : first + _BATCH]]
            vectors.append(embed_images(encoder, jpegs))
    if not vectors:
        assert failure is not None, "a grid has at least one time"
        raise failure
    if len({v.shape[1] for v in vectors}) > 1:
        raise InputError("the encoder gives images of different widths", value=encoder.name)
    return tuple(times), np.concatenate(vectors)


def embed_query(query: str, encoder: ImageTextEncoder) -> Vectors:
    """The embedding of the text, shape (d,). Raises ``InputError`` for a blank one."""
    if not query.strip():
        raise InputError("bolt needs the text that frames are chosen for", value=query)
    return np.asarray(embed_texts(encoder, [query])[0])


def at_times(count: int, times_s: Sequence[float]) -> Policy:
    """``bolt:count`` whose times are chosen, as ``sample`` takes it."""
    return replace(Policy("bolt", count=count), times_s=tuple(times_s))
