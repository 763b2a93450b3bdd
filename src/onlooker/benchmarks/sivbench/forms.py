"""What people are asked in SIV-Bench (appendix B.2: verification by answering)."""

from __future__ import annotations

from typing import Final

from onlooker.protocol.answer_form import answer_form
from onlooker.protocol.form import Form

FORMS: Final[tuple[Form, ...]] = (answer_form("choice"),)
