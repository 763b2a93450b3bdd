"""A judge does not hear whose reply it is: a model's name inside its own reply is taken out of what the judge reads."""

from __future__ import annotations

import re
from functools import cache

STAND_IN = "[this model]"


def without_name(words: str, model: str) -> str:
    """The words with the model's name replaced, as it stands in predictions and without provider and folder.

    Short forms are looked for only where they hold a digit and a letter (``gpt-5.5``, ``Qwen3.5-9B``): a plain word
    such as ``base`` may mean something else. A model that calls itself otherwise is not recognised.
    """
    pattern = _pattern(model)
    return words if pattern is None else pattern.sub(STAND_IN, words)


@cache
def _pattern(model: str) -> re.Pattern[str] | None:
    bare = model.partition(":")[2]
    short = {name for name in (bare, bare.rpartition("/")[2]) if re.search(r"\d", name) and re.search(r"[^\W\d]", name)}
    names = sorted({name for name in (model, *short) if len(name) >= 4}, key=len, reverse=True)
    if not names:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
