"""Option ids and option texts as they stand in a reply.

Every pattern is made from the ids of the question at hand, so that no other id can ever be returned, and
from nothing else, so that questions with the same ids share them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from onlooker.text.characters import WORD, fold, plain
from onlooker.text.wordings import Wording

_DECORATION = r"\s*_~`\"'“”‘’«»「『【《\[(<{$#>|•·–—\-✅☑✔✓👉➡→►▶"
_PREFIX = (
    # None of these words begins with a CJK character: say so once instead of finding out word by word.
    r"(?![\u3000-\uffff])"
    r"(?i:(?:the|la|le|el|die|der|lo|option|choice|answer|letter|number|no\.|segment|candidate|clip|definitely|clearly"
    r"|most\ likely|likely|probably|therefore|thus|simply|indeed|both|either|only|all\ of|all"
    r"|opci[oó]n|op[cç][aã]o|opzione"
    r"|alternativa|lettre|letra|lettera|buchstabe|optie|opcja|вариант|seçenek|şıkkı|phương\ án|lựa\ chọn)s?"
    rf"(?![{WORD}])[.:#]*)"
    r"|选项|選項|选择|選擇|選択肢|选|選|片段|보기|선택지|应该是|應該是|应为|即|[：:]"
    r"|[ao]\s+(?=(?:letra|alternativa|op[cç][aã]o)|[A-Z](?![0-9A-Za-z]))"
)
_COMMAND = r"\\(?:boxed|fbox|text|textbf|mathbf|mathrm|mathsf|bf|rm|left)(?![A-Za-z])|\\[(\[,;!]"
# Bounded, so that a long run of them costs each place of it no more than this.
_BARE_OPEN = rf"(?:[{_DECORATION}]|{_COMMAND}){{0,40}}+"
OPEN = re.compile(rf"(?:[{_DECORATION}]|{_COMMAND}|{_PREFIX}){{0,40}}+")
_CLOSE = r"(?:[*_~`\"'“”’»」』】\])>}$|]|\\[)\]]){0,20}+"
_SEPARATOR = re.compile(
    r"(?:(?<=[)\]])(?=[(\[])|[^\S\n]*+(?:[,，、;/&+]++[^\S\n]*+"
    r"(?P<word1>and/or|(?:and\s+)?also,?|and|or|&|y|o|et|ou|und|oder|e|и|或|和)?"
    r"|(?P<word2>and/or|and|or|as well as|plus|y|o|et|ou|und|oder|e|и|или|ve|veya|dan|atau|và|hoặc)"
    rf"(?![{WORD}])|(?P<word3>以及|或者|或|和|与|與|及|跟|还是|還是|と|または|및|과|와|또는)))",
    re.IGNORECASE,
)
_LINES = re.compile(r"[,;，；、]?[^\S\n]*+\n\s*+(?:(?:[-*•·+]|\d{1,2}[.)])\s++)?")
_OR = {"or", "o", "ou", "oder", "или", "veya", "atau", "hoặc", "或", "或者", "还是", "還是", "または", "또는"}

# Between a letter and its option's text; the text itself may begin with a delimiter.
_LEAD = re.compile(rf"[^\S\n]*+(?P<delimiter>[.):,\-–—=]++[^\S\n]*+)?{_BARE_OPEN}", re.IGNORECASE)
_BARE_LEAD = re.compile(rf"[^\S\n]*+{_BARE_OPEN}", re.IGNORECASE)
_TEXT_OPEN = re.compile(_BARE_OPEN, re.IGNORECASE)
_TEXT_CLOSE = re.compile(rf"[.。]?{_CLOSE}")

# What may follow an option letter that closes a thought. A question mark may not, nor may a word: "A man waves".
_END = re.compile(
    r"[^\S\n]*+(?:\Z|[\n.,;:!。，；：！、…\])}<>\"*|(–—]|-{1,3}(?!\w)|[✓✔✅☑👍😊]"
    r"|(?:because|since|as|due|based|given|for|with|which|where|while|whereas|and|but|though|although|rather"
    r"|instead|over|not|then|however|porque|ya|car|parce|weil|denn|da|потому|так|because|karena|porque|pois"
    rf"|perch[eé])(?![{WORD}'])|[\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0600-\u06ff\u0900-\u0e7f])",
    re.IGNORECASE,
)
_ARTICLES = {"A", "I", "a", "i"}


@dataclass(frozen=True, slots=True)
class Reading:
    """Options named at one place. ``None`` among the ids: a letter that is no option of the question."""

    ids: tuple[str | None, ...]
    end: int
    alternatives: bool  # joined by "or"
    loose: bool  # one undecorated letter that could as well be a word ("A", "I", or in lower case)
    small: bool  # ... and that is in lower case
    texted: bool  # at least one of them came with the option's own text


@dataclass(frozen=True, slots=True)
class _Forms:
    """The compiled patterns of a set of ids."""

    by_form: Mapping[str, str]
    mention: re.Pattern[str]  # group "id"
    label: re.Pattern[str]  # the same with what closes it
    glued: re.Pattern[str] | None  # group "ids"


class Labels:
    """The ids and texts of one question (parallel), for the reading of one reply."""

    def __init__(self, ids: tuple[str, ...], texts: tuple[str, ...]) -> None:
        forms = _forms_of(ids)
        self.ids = ids
        self.texts = texts
        self.by_form = forms.by_form
        self.mention = forms.mention
        self._label = forms.label
        self._glued = forms.glued
        self._text = ""
        self._ones: dict[int, Reading | None] = {}
        # Longer lists are read only where they begin the reply: cue after cue inside one would take quadratic time.
        self._most = len(ids) + 2

    @cached_property
    def wordings(self) -> dict[str, Wording]:
        """By id, the longest first, so that "very happy" is not read as "happy"; none for a blank text."""
        order = sorted(range(len(self.texts)), key=lambda at: -len(self.texts[at]))
        return {self.ids[at]: Wording(self.texts[at]) for at in order if self.texts[at].strip()}

    @cached_property
    def _first_letters(self) -> frozenset[str]:
        return frozenset(wording.first_letter for wording in self.wordings.values())

    def read(self, text: str, at: int, *, lines: bool = False, subject: bool = False) -> Reading | None:
        """The option letters that stand at ``at``: one, or a list.

        ``lines``: also one a line. ``subject``: the last letter of a list may have its verb behind it.
        """
        one = self._read_one(text, at)
        if one is None:
            return None
        ids, end, texted = list(one.ids), one.end, one.texted
        alternatives, loose = False, one.loose
        for _ in range(self._most if at else len(text)):
            separator = _SEPARATOR.match(text, end) or (_LINES.match(text, end) if lines else None)
            following = self._read_one(text, separator.end()) if separator else None
            if separator is None or following is None:
                break
            word = separator[separator.lastgroup] if separator.lastgroup else ""  # none: a comma alone
            if subject and (set(following.ids) & set(ids) or "also" in word.lower()):
                break  # "of A and B, B is ..." and "A, also B is ..." begin anew
            if not ends(text, following.end) and (not subject or (following.loose and not word)):
                break
            ids.extend(following.ids)
            end, loose = following.end, False
            texted |= following.texted
            alternatives |= word in _OR
        return Reading(tuple(dict.fromkeys(ids)), end, alternatives, loose, loose and one.small, texted)

    def _read_one(self, text: str, at: int) -> Reading | None:
        """One option, or several letters written as one word. Remembered: rule after rule looks at the same places."""
        if text is not self._text:
            self._text, self._ones = text, {}
        if at not in self._ones:
            self._ones[at] = self._one_at(text, at)
        return self._ones[at]

    def _one_at(self, text: str, at: int) -> Reading | None:
        opened = OPEN.match(text, at)
        assert opened is not None
        match = self._label.match(text, opened.end())
        if match is None:
            return self._read_glued(text, opened.end())
        form = match["id"]
        known = self.by_form.get(form)
        end = match.end()
        if known is None and form != form.upper() and not ends(text, end):
            return None
        bare = end == match.end("id")
        small = form.islower()
        own = self.own_text(known, text, end) if end < len(text) else None
        if own is not None and (not ends(text, own[0]) or (small and bare and not own[1])):
            own = None  # "a happy man"
        return Reading(
            (known,),
            own[0] if own else end,
            alternatives=False,
            loose=(small or form in _ARTICLES) and (bare or match.start("id") == at) and own is None,
            small=small,
            texted=own is not None,
        )

    def _read_glued(self, text: str, at: int) -> Reading | None:
        """ "BD": several one-letter ids without anything between them."""
        match = self._glued.match(text, at) if self._glued else None
        if match is None or len(set(match["ids"])) != len(match["ids"]):
            return None
        ids = tuple(self.by_form[letter] for letter in match["ids"])
        return Reading(ids, match.end(), alternatives=False, loose=False, small=False, texted=False)

    def own_text(self, known: str | None, text: str, at: int) -> tuple[int, bool] | None:
        """Where the text of ``known`` ends that follows its letter at ``at``, and whether a delimiter parts them."""
        wording = self.wordings.get(known) if known is not None else None
        if wording is None:
            return None
        lead = _LEAD.match(text, at)
        assert lead is not None
        end, delimited = wording.end_at(text, lead.end()), lead["delimiter"] is not None
        if end is None and delimited and (lead := _BARE_LEAD.match(text, at)):
            end, delimited = wording.end_at(text, lead.end()), False
        return None if end is None else (_closed_text(text, end), delimited)

    def read_text(self, text: str, at: int) -> tuple[str, int] | None:
        """The option whose text stands at ``at`` and closes a thought there, and where it ends."""
        opened = _TEXT_OPEN.match(text, at)
        assert opened is not None
        if fold(text[opened.end() : opened.end() + 1]) not in self._first_letters:
            return None
        for known, wording in self.wordings.items():
            end = wording.end_at(text, opened.end())
            if end is not None:
                end = _closed_text(text, end)
                return (known, end) if ends(text, end) else None
        return None

    def other_text(self, text: str, at: int, known: str) -> bool:
        """Whether the text of another option than ``known`` stands anywhere behind ``at``."""
        folded = fold(text)
        spans = sorted(
            (start, rank, end, option)
            for rank, (option, wording) in enumerate(self.wordings.items())
            for start, end in wording.spans(text, folded, at)
        )
        reached = at
        for start, _, end, option in spans:
            opened = _TEXT_OPEN.match(text, start)
            if start < reached or (opened and opened.end() > start):
                continue
            if option != known:
                return True
            reached = _closed_text(text, end)
        return False

    def ordered(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Without doubles, in the order of the question's options."""
        return tuple(known for known in self.ids if known in ids)


def ends(text: str, at: int) -> bool:
    """Whether a thought may end at ``at``: a word or a question mark there would deny it."""
    return _END.match(text, at) is not None


def _closed_text(text: str, end: int) -> int:
    closing = _TEXT_CLOSE.match(text, end)
    assert closing is not None
    return closing.end()


@lru_cache(maxsize=256)
def _forms_of(ids: tuple[str, ...]) -> _Forms:
    forms = [plain(known) for known in ids]
    by_form = dict(zip(forms, ids, strict=True))
    folded = [form.casefold() for form in forms]
    if len(set(folded)) == len(folded):  # else "a" and "A" are two options, and case decides
        for form, known in zip(forms, ids, strict=True):
            by_form.setdefault(form.lower(), known)
            by_form.setdefault(form.upper(), known)
            by_form.setdefault(form.capitalize(), known)
    accepted = {*by_form, *_foreign(forms)}
    alternation = "|".join(re.escape(form) for form in sorted(accepted, key=lambda form: (-len(form), form)))
    mention = (
        rf"(?<![{WORD}])(?<!\d[.,])(?<![A-Za-z]\.)(?!(?<=[+\-−])\d)(?P<id>{alternation})"
        rf"(?![{WORD}])(?!['’_\-][{WORD}])(?!\.\d)(?!,\d)(?!\s?%)(?!\.\s?[A-Z]\.)(?!\.[A-Za-z](?![{WORD}]))"
    )
    letters = "".join(form for form in by_form if len(form) == 1 and form.isalpha() and form == form.upper())
    glued = rf"(?<![{WORD}])(?P<ids>[{re.escape(letters)}]{{2,}})(?![{WORD}'’\-]){_CLOSE}"
    return _Forms(
        by_form=by_form,
        mention=re.compile(mention),
        label=re.compile(mention + _CLOSE),
        glued=re.compile(glued) if len(letters) > 1 else None,
    )


def _foreign(forms: Sequence[str]) -> set[str]:
    """Labels of the same kind that are no options here: a verdict for one of them is no answer."""
    letters = {chr(code) for code in (*range(0x41, 0x5B), *range(0x61, 0x7B))}
    if all(form.isdigit() for form in forms):
        return {str(number) for number in range(100)} - set(forms)
    return letters - set(forms) if any(len(form) == 1 and form.isalpha() for form in forms) else set()
