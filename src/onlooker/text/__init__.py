"""Reply text -> a parsed value or a stated reason. Pure functions: no files, no models, no randomness."""

from onlooker.text.choices import Select, parse_choice
from onlooker.text.judgements import Rubric, parse_judgement
from onlooker.text.matching import parse_matching
from onlooker.text.numbers import parse_intensity, parse_number
from onlooker.text.objects import find_object
from onlooker.text.official import parse_official_sivbench
from onlooker.text.outcome import How, Parsed, Reason, Unparsed
from onlooker.text.rationales import FIELDS, PsychemeReply, informative, parse_psycheme
from onlooker.text.thinking import strip_thinking

__all__ = [
    "FIELDS",
    "How",
    "Parsed",
    "PsychemeReply",
    "Reason",
    "Rubric",
    "Select",
    "Unparsed",
    "find_object",
    "informative",
    "parse_choice",
    "parse_intensity",
    "parse_judgement",
    "parse_matching",
    "parse_number",
    "parse_official_sivbench",
    "parse_psycheme",
    "strip_thinking",
]
