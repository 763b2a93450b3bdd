"""The base of every record: strict, frozen, and faithful to fields it does not know."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _finite(value: Any) -> Any:
    """``value`` as it is, or ValueError if a NaN or an infinity is anywhere inside: JSON has
    neither.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("expected a finite number")
    if isinstance(value, dict):
        for inner in value.values():
            _finite(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _finite(inner)
    return value


FiniteJson = Annotated[Any, AfterValidator(_finite)]
"""Any JSON value without NaN and infinities."""

Id = Annotated[str, Field(min_length=1)]
OptionId = Annotated[str, Field(pattern=r"^\S+$")]
"""Non-empty and without white space, so that a parser can tell it from words (FORMATS, section 4).
"""

Seconds = Annotated[float, Field(ge=0)]

# A row may spell these in JSON only as an array; code may pass a list as well as a tuple.
Texts = Annotated[tuple[str, ...], Field(strict=False)]


class Record(BaseModel):
    """One row on disk.

    Strict: ``"1"`` is no number and ``true`` is no number, while 1 serves where a float is asked
    for. Frozen. Fields that the type does not know are kept (``extra``) and written again, in their
    order. NaN and infinities are refused.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False)

    __pydantic_extra__: dict[str, FiniteJson] = Field(init=False)

    writes_unset: ClassVar[bool] = False
    """Whether a field that nobody set is written with its default. Off for bundles: absent stays
    absent.
    """

    @property
    def extra(self) -> dict[str, Any]:
        """The fields beyond the type, by name, in the order of the row."""
        return self.__pydantic_extra__ or {}

    def to_json(self) -> str:
        """One line of JSON without its newline: the fields of the type in their order, then the
        extra ones.

        Unicode line separators are written as escapes, since some readers of JSON lines cut there.
        """
        text = self.model_dump_json(exclude_unset=not self.writes_unset)
        return escape_separators(text)


def escape_separators(text: str) -> str:
    """JSON text with U+0085, U+2028 and U+2029 escaped. They can stand inside strings only, so the
    meaning stays.
    """
    for character, escaped in (("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        if character in text:
            text = text.replace(character, escaped)
    return text
