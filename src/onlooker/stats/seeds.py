"""Random generators from a named purpose, never from ``hash()`` or a global generator."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(purpose: str, seed: int) -> np.random.Generator:
    """A generator that depends on the purpose and the seed alone: the same in every process.

    ``purpose`` names what the numbers are for, so that two uses of one seed do not share their
    numbers.
    """
    digest = hashlib.sha256(f"onlooker/{purpose}/{seed}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
