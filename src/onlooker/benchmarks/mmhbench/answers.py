"""How a reply to an MMHBench question is read."""

from __future__ import annotations

from typing import Final

from onlooker.protocol.choice_scoring import choice_parser

parse: Final = choice_parser("mmhbench", near_text=False)
