"""How a reply to a SIV-Bench question is read: the letter first, else the option of nearest text (section 3.1)."""

from __future__ import annotations

from typing import Final

from onlooker.protocol.choice_scoring import choice_parser

parse: Final = choice_parser("sivbench", near_text=True)
