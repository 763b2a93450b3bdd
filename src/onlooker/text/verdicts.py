"""Where a reply declares its answer. A mention is not a verdict, and the last verdict wins.

The reading goes forward over three kinds of places: cues that announce an answer ("the answer is", "so",
"\\boxed", 答案), statements about a letter ("Option B is right", "A和C都不对"), and the form of the reply
itself (its start and its last line). Each cue looks at a bounded stretch behind it, so that the work grows
with the length of the reply and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from onlooker.text.labels import OPEN, WORD, Labels, Reading, ends
from onlooker.text.outcome import How

_W = rf"(?<![{WORD}])"
_E = rf"(?![{WORD}])"

# Nouns that announce an answer, in the languages models fall into. A qualifier is owed where the bare noun
# more often introduces the list of options.
_NOUN = re.compile(
    rf"{_W}(?:answers?|choice|selection|verdict|conclusion|guess|pick|option(?=\s*(?:[:=]|is\b|\*))"
    r"|(?:assistant|correct|solution|prediction|output|response|label|final|ans|result|decision)(?=[\s*_]*:)"
    r"|(?:correct|right|best|appropriate|likely|suitable|accurate|final|fitting|plausible|chosen|selected)"
    r"\s+(?:options?|choices?|segments?|candidates?|clips?|responses?|letters?|one|match|fit|statement"
    r"|interpretation|description|explanation)"
    r"|best\s+(?:matches|fits|describes)|respuestas?|opci[oó]n\s+correcta|resposta|alternativa\s+correta"
    r"|r[eé]ponse|antwort|antwoord|risposta|odpowied[zź]|odpov[eě]ď|svar(?:et)?|vastaus|raspuns|răspuns"
    r"|ответ|відповідь|απάντηση|cevap|yanıt|jawaban(?:nya)?|đáp\s+án|câu\s+trả\s+lời|الإجابة|الجواب|پاسخ"
    rf"|תשובה|उत्तर|জবাব|উত্তর){_E}"
    r"|правильный\s+вариант"
    r"|答案|选项(?=\s*(?:应该|應該)?(?:是|为|為|有|:))|選項(?=\s*(?:應該)?(?:是|為|有|:))|答え|答|正解|正确的?选项|正確的?選項|最佳选项|最佳選項|正确的是|正確的是|最合适的是|最符合的是|结论|結論|解答"
    r"|정답|답변|답|คำตอบ(?:ที่ถูกต้อง)?",
    re.IGNORECASE,
)
# Words that lead straight to the letter.
_LEAD = re.compile(
    rf"{_W}(?:so|hence|thus|therefore|consequently|accordingly|thereby|overall|ultimately|finally"
    r"|leaving|leaves?(?:\s+(?:us|me)\s+with)?|making\s+it|c'est|it\s+(?:is|must\s+be|has\s+to\s+be|should\s+be)|it's"
    r"|i(?:'d|'ll|'m|\s+would|\s+will|\s+am|\s+have\s+to)?\s+(?:say|answer|guess|think|believe)"
    r"(?:\s+it(?:'s|\s+is))?"
    r"|(?:choose|chose|choosing|pick|picked|picking|select|selected|selecting|conclude|go(?:ing)?\s+with|went\s+with"
    r"|opt(?:ing)?\s+for|vote\s+for|settle\s+on|lean(?:ing)?\s+towards?)"
    r"|elijo|escojo|por\s+lo\s+tanto|je\s+choisis|donc|ich\s+wähle|daher|scelgo|quindi|escolho|portanto"
    rf"|выбираю|следовательно){_E}[\s,:]*"
    r"|\\boxed|<\|begin_of_box\|>|<answer>"
    r"|(?:所以|因此|故|综上|綜上|应该?|應該?|我|就|则|最终|最終)?(?:选择?|選擇?)(?!项|項|肢)(?:的是|为|為|是)?\s*[:,]?"
    r"|我?(?:觉得|覺得|认为|認為|猜)(?:应该|應該)?[是选選]"
    r"|(?:所以|因此|故|综上|綜上|应该?|應該?)(?:说|，|,)?\s*(?:是|为|為)",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"[:=>]|[–—]|(?<=\s)-(?=\s)"
    rf"|{_W}(?:is|are|will\s+be|would\s+be|must\s+be|should\s+be|has\s+to\s+be|seems\s+to\s+be|appears\s+to\s+be"
    rf"|remains|es|son|ser[ií]a|est|sont|serait|ist|sind|lautet|wäre|è|é|jest|brzmi|är|là|adalah|это|هي|هو|है|হল){_E}"
    r"|是|为|為|有|包括|包含|は|が|은|는|이|คือ|选择?|選擇?",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    rf"{_W}(?:not|never|cannot|neither|nor|isn't|aren't|wasn't|can't|won't|doesn't|don't|nicht|kein\w*|pas|"
    rf"n'est|nunca|não|nao|non|nie|niet|не|no(?=\s+(?:es|son|ser[ií]a|est[aá]))|ليس|không|bukan|değil){_E}|n't{_E}|(?:并|並)?不(?:会|會|可能|应该?|應該?)?是?|并?非|没有?|無法|无法|아[니닙닌]",
    re.IGNORECASE,
)
# The sentence no longer declares: it asks, hedges or supposes.
_DOUBT = re.compile(
    rf"{_W}(?:whether|if|unless|depends?|between|could|might|may|can|would\s+have|unclear|unknown|wrong"
    rf"|incorrect|but|because|since|while|although|eliminat\w*|exclud\w*|unlikely){_E}|如果|若|可能|错|錯|排除",
    re.IGNORECASE,
)
_BUT = re.compile(
    rf"[\s,;.–—-]*(?:{_W}(?:but(?:\s+rather)?|rather|instead|it's|it\s+is|sino|sondern|mais|ma|mas|а){_E}|而是|是|而)"
    r"[\s,:]*(?:it's\s+|it\s+is\s+)?",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    rf"(?:{_W}(?:not|never|cannot|wrong|incorrect|false|worst|least\s+\w+|other|another|tempting|first|initial"
    rf"|bad|poor|no|neither|nor|none\s+of|without|to)(?:\s+(?:the|a|an|my|very|most))?(?:\s+(?:correct|right|best|likely))?"
    r"|n't(?:\s+the)?(?:\s+(?:correct|right|best))?"
    r"|不能|不该|不应|不應|不会|不|别|別|勿|未|错误的?|錯誤的?|不正确的?|不正確的?|排除)\s*\Z",
    re.IGNORECASE,
)
_SUPPOSED_BEFORE = re.compile(
    rf"(?:{_W}(?:if|whether|unless|suppose|supposing|assuming|even\s+if|while|although|though|whereas|when|why"
    rf"|not\s+only|had|were){_E}|如果|若|假如|虽然|雖然|尽管|儘管)[^.,;:!?\n。，；：！？]*\Z",
    re.IGNORECASE,
)
_ADVERBS = (
    r"(?:\s*+(?:the|a|an|clearly|definitely|most|likely|therefore|thus|obviously|probably|also|both|all|only|really"
    r"|simply|indeed|more|much|by\s+far)\b){0,5}"
)
_RIGHT = re.compile(
    rf"\s*+(?:is|are|seems?|looks?|appears?|sounds?|must\s+be|would\s+be|has\s+to\s+be|remains?|to\s+be|,)?{_ADVERBS}"
    r"\s*+\b(?:(?:correct|right|best|better|accurate|appropriate|plausible|likely|fitting|suitable|closest|strongest)"
    r"(?:\s+(?:supported|answer|options?|choices?|match|fit|one|response|candidate|segment|explanation"
    r"|description|interpretation))*|(?:final\s+)?(?:answer|choice|match|one))"
    r"(?!\s++(?:about|that|in\s+saying|in\s+that|to\s+say|on|than\s+nothing|when|if|only))(?!\w)"
    r"|\s*+\b(?:fits?|match(?:es)?|works?|describes?|captures?|explains?|reflects?|suits?|aligns?)\b"
    r"(?:[^.;,:\n?]{0,40}?\b(?:best|better|most\s+\w+|perfectly|exactly)\b|\s*+[.!]?\s*\Z)"
    r"|\s++(?:it\s+is|is\s+it|remains)\s*+(?=[.!]|\Z)"
    r"|\s*번(?=[.\s]|\Z)|\s*+(?:选项|選項|项|項)?(?:都|也|才|最|更|显然|顯然|应该|應該|比较|比較)*(?:是|为|為)?(?:最|更)?"
    r"(?:正确|正確|对的|對的|对(?=[。，.,!]|\Z)|合适|合適|符合|贴切|貼切|恰当|恰當|准确|準確|吻合|佳|合理|答案)"
    r"|\s*+(?:が|は)(?:最も)?(?:正解|正しい|適切|適当)|\s*+(?:です|だ|でしょう)(?=[。.!]|\s*\Z)"
    r"|\s*+(?:가|이|은|는)?\s*+(?:정답|맞|옳|적절)|\s*+(?:입니다|이다|예요|이에요)"
    r"|\s++(?:es|est|ist|è|é)\s++(?:la\s+|die\s+|a\s+)?(?:correct[ao]?|bonne|richtig\w*|giust[ao]|corrett[ao]|correta)\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"(?!\s*+[,–—-]\s*+not\b)(?:"  # "B, not A" denies A
    rf"\s*+(?:is|are|was|were|seems?|looks?|would\s+be|can\s+be|could\s+be|,|:|–|—|-)?{_ADVERBS}\s*+"
    r"\b(?:not\b(?!\s+only)|wrong|incorrect|false|implausible|unlikely|inaccurate|irrelevant|impossible|ruled\s+out"
    r"|eliminated|excluded|out\b|no\b(?=\s*+(?:[.,;:!]|$)))"
    rf"|\s*+(?:is|are|was|were|does|do|can|could|would|should)n't{_E}|\s*+(?:cannot|can't|won't|fails?|contradicts?){_E}"
    r"|\s*+(?:does|do|can|could|would|should)\s+not\b|\s*+[❌✗✘×]"
    r"|\s+değil|\s*नहीं|\s*+(?:では|じゃ)(?:あり|な)|\s*+(?:选项|選項|项|項)?(?:都|均|也|并|並|显然|顯然|选项|是)*(?:不|错|錯|没有|沒有|无法|無法|有误|有誤|并非|排除)"
    r"|\s*+(?:は|が)?(?:間違|違い|不正解|誤り)|\s*+(?:은|는|이|가)?\s*+(?:틀|아[니닙닌]|오답))",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(r"\s*(?:가|이|은|는)?\s*아[니닙닌]|\s*(?:では|じゃ)(?:あり|な)|\s+değil|\s*नहीं")
_RETRACTED = re.compile(
    r"\b(?:wait|hmm+|hold\s+on|no)\b[\s,.–—-]*(?:no\b|(?:that|this|it)(?:'s|\s+is|\s+was)?\s*"
    r"(?:cannot|can't|not|isn't|wrong|incorrect))|\bthat\s+(?:cannot|can't)\s+be\s+right|\bscratch\s+that"
    r"|\bi\s+was\s+wrong|等等[,，]?\s*不对|不对[,，]?\s*重新",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"\s*,?\s*(?:are|were|aren't|weren't|both|all|do|don't|seem|fail|fit|match|look|can|cannot|can't)\b|\s*[都均皆全도も]",
    re.IGNORECASE,
)
_MARK = r"(?:[^\S\n]|[#>*_`~•·|-])*+"
_LINE_LABEL = re.compile(rf"^{_MARK}(?:[(\[])?(?P<form>[^\s()\[\].:*]{{1,20}})[*_`]*[.):\]]", re.MULTILINE)
_PUNCTUATION = re.compile(r"[^\S\n]*+(?:\Z|[\n.,;:!)\]。、]|[-–—](?!\w))")
_RANGE = re.compile(r"[^\S\n]+(?:(?:[-–—~]|to)[^\S\n]+)?(?=\S)")
_REST = re.compile(r"[\s.!。,;:*_`]*+")
_NUMBERED = re.compile(r"\s*\d{1,2}[.)]\s+(?=\D)")
_FILLER = re.compile(r"\s*(?:\([^)\n]{0,60}\))?\s*")
_GAP_CHARS = 90
_BEFORE_CHARS = 60
_STOP = re.compile(r"[.!?;。！？；]|\n\s*\n")
_ASSENT = re.compile(r"\W*(?:yes|no|true|false|是的?|否|不是|sí|oui|non|ja|nein|да|нет)(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one place declares. ``ids`` None in it: a letter that is no option. ``denied``: "not A"."""

    at: int
    end: int
    ids: tuple[str | None, ...]
    how: How = "verdict"
    alternatives: bool = False
    denied: bool = False
    additive: bool = False  # "A is correct": where all that hold are asked, such statements add up


def find_verdict(text: str, labels: Labels, *, several: bool) -> Verdict | None:
    """The verdict of a reply (already ``plain``), None if it declares nothing.

    ``several``: all options that hold are asked, so that letters one a line make a list.
    """
    verdicts = sorted(_all(text, labels, several=several), key=lambda verdict: verdict.at)
    last: Verdict | None = None
    for verdict in verdicts:
        if verdict.denied:
            if last is not None and set(verdict.ids) & set(last.ids):
                last = None  # "The answer is A. No, A is not right."
        elif several and verdict.additive and last is not None and last.additive:
            last = Verdict(last.at, verdict.end, last.ids + verdict.ids, additive=True)
        else:
            last = verdict
    if last is not None and _RETRACTED.search(text, last.end):
        return None  # "The answer is A. Wait, no."
    return last


def _all(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    yield from _of_cues(text, labels, several=several)
    yield from _of_statements(text, labels)
    yield from _of_form(text, labels, several=several)


def _of_cues(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    for noun in _NOUN.finditer(text):
        before = text[max(0, noun.start() - _BEFORE_CHARS) : noun.start()]
        if text[noun.start() - 1 : noun.start()] == "/" or _DENIED_BEFORE.search(before):
            continue
        supposed = _SUPPOSED_BEFORE.search(before) is not None
        verdict = None if supposed else _after_noun(text, noun.end(), labels, several=several)
        if verdict is not None:
            yield verdict
    for lead in _LEAD.finditer(text):
        before = text[max(0, lead.start() - _BEFORE_CHARS) : lead.start()]
        if _DENIED_BEFORE.search(before) or _SUPPOSED_BEFORE.search(before):
            continue
        verdict = _declared(text, lead.end(), labels, several=several, firm=False)
        if verdict is not None:
            yield verdict


def _after_noun(text: str, at: int, labels: Labels, *, several: bool) -> Verdict | None:
    """ "answer" has been read up to ``at``: find what it is said to be, within the sentence."""
    direct = _declared(text, at, labels, several=several, firm=False)
    if direct is not None:
        return direct
    filler = _FILLER.match(text, at)
    assert filler is not None
    limit = min(len(text), filler.end() + _GAP_CHARS)
    stop = _STOP.search(text, filler.end(), limit)
    limit = stop.start() if stop else limit
    doubt = _DOUBT.search(text, filler.end(), limit)
    limit = doubt.start() if doubt else limit
    negation = _NEGATION.search(text, filler.end(), limit)
    for link in _LINK.finditer(text, filler.end(), limit):
        if negation is not None and negation.start() < link.start():
            break
        verdict = _declared(text, link.end(), labels, several=several, firm=True)
        if verdict is not None:
            return verdict
    if negation is not None:
        return _after_negation(text, negation.end(), labels, several=several)
    return None


def _after_negation(text: str, at: int, labels: Labels, *, several: bool) -> Verdict | None:
    """ "not A" denies A; "not A but B" declares B."""
    denied = labels.read(text, at)
    if denied is None:
        link = _LINK.match(text, _skip(text, at))
        denied = labels.read(text, link.end()) if link else None
    if denied is None:
        return None
    but = _BUT.match(text, denied.end)
    instead = _declared(text, but.end(), labels, several=several, firm=False) if but else None
    return instead or Verdict(at, denied.end, denied.ids, denied=True)


def _declared(text: str, at: int, labels: Labels, *, several: bool, firm: bool) -> Verdict | None:
    """The option, by text or by letter, that stands at ``at``. ``firm``: a colon or "is" precedes it."""
    at = _skip(text, at)
    named = labels.read_text(text, at)
    reading = labels.read(text, at, lines=several)
    if named is not None and (reading is None or named[1] > reading.end):
        return Verdict(at, named[1], (named[0],), how="option_text")
    if reading is None:
        negation = _NEGATION.match(text, at)
        return _after_negation(text, negation.end(), labels, several=several) if negation else None
    if _DENIED_AFTER.match(text, reading.end):
        return Verdict(at, reading.end, reading.ids, denied=True)
    longer = labels.read(text, at, subject=True)
    asked = longer is not None and longer.alternatives and len(longer.ids) > len(reading.ids)
    if asked or not _closed(text, reading, labels, firm=firm):
        return None  # "is it A or B?"
    return Verdict(at, reading.end, reading.ids, alternatives=reading.alternatives)


_GAP = re.compile(r"[\s:]*+")


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    assert gap is not None
    return gap.end()


def _closed(text: str, reading: Reading, labels: Labels, *, firm: bool) -> bool:
    if reading.small and not reading.texted:  # "so a, because": a word unless punctuation follows
        return _PUNCTUATION.match(text, reading.end) is not None
    range_to = _RANGE.match(text, reading.end)
    beside = labels.read(text, range_to.end()) if range_to else None
    if beside is not None and ends(text, beside.end) and not reading.texted:
        return False  # "A - D", "A B"
    if reading.texted or ends(text, reading.end):
        return True
    if not firm or text[reading.end : reading.end + 2].lstrip()[:1] == "?":
        return False
    if reading.loose:  # "Answer: A The woman hugs her": a capital begins anew, "A woman" does not
        return re.match(r"\s+[A-Z]", text[reading.end : reading.end + 3]) is not None
    return _WRONG.match(text, reading.end) is None


def _of_statements(text: str, labels: Labels) -> Iterator[Verdict]:
    """ "Option B is right", "A and C are wrong", "A和C都不对"."""
    at = 0
    while (mention := labels.mention.search(text, at)) is not None:
        at = mention.end()
        if mention["id"] not in labels.ids:
            continue  # another case is a word more often than a letter
        opened = _opening_of(text, mention.start())
        reading = labels.read(text, opened, subject=True)
        if reading is None:
            continue
        at = max(at, reading.end)
        own = labels.own_text.get(reading.ids[-1] or "")
        after = own.match(text, reading.end) if own else None  # "(B) unhappy is the correct answer"
        if after is not None:
            reading = replace(reading, end=after.end())
        ids = reading.ids if _PLURAL.match(text, reading.end) else reading.ids[-1:]
        if mention["id"].isdigit() and opened == mention.start():
            continue  # "the other 2 are wrong"
        before = text[max(0, opened - _BEFORE_CHARS) : opened]
        if _WRONG.match(text, reading.end):
            yield Verdict(mention.start(), reading.end, ids, denied=True)
        elif (right := _RIGHT.match(text, reading.end)) and right.end() > reading.end:
            if _DENIED_BEFORE.search(before):
                yield Verdict(mention.start(), reading.end, ids, denied=True)
            elif not _SUPPOSED_BEFORE.search(before) and not text.startswith("?", right.end()):
                alternatives = reading.alternatives and len(ids) > 1
                yield Verdict(mention.start(), reading.end, ids, alternatives=alternatives, additive=True)


_OPENING = re.compile(OPEN + r"\Z")


def _opening_of(text: str, at: int) -> int:
    """Where the brackets, asterisks and the word "option" before a letter begin."""
    window = max(0, at - 24)
    line = text.rfind("\n", window, at) + 1 or window
    for start in range(line, at):
        if (start == 0 or not text[start - 1].isalnum()) and _OPENING.fullmatch(text[start:at]):
            return start
    return at


def _of_form(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    """The start of the reply ("B.", "(B) because ..."), its last line, its last sentence."""
    first = labels.read(text, 0, lines=several)
    forms = [labels.by_form[match["form"]] for match in _LINE_LABEL.finditer(text) if match["form"] in labels.by_form]
    listed = len(set(forms)) > 1 and forms == sorted(forms, key=labels.ids.index)
    if first is not None and (len(first.ids) >= len(set(forms)) or first.end >= len(text.rstrip())):
        listed = False
    leading = None
    if first is not None and not listed and _leads(text, first, labels):
        leading = Verdict(0, first.end, first.ids, "letter", first.alternatives)
    elif not listed and (named := _leading_text(text, labels)) is not None:
        leading = Verdict(0, named[1], (named[0],), "option_text")
    if leading is not None:
        yield leading
    if not several or leading is None:
        yield from _of_lines(text, labels, several=several)


def _of_lines(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    """Lines that are nothing but a letter, with or without its text, and a last sentence that is one.

    Where one option is asked: the last line, or the only option that any line consists of. Where all
    are asked: the lines of that kind at the end of the reply, together.
    """
    alone: list[Verdict] = []
    trailing: list[Verdict] = []
    start = 0
    for line in text.split("\n"):
        at = start + (number.end() if (number := _NUMBERED.match(line)) else 0)
        end = start + len(line)
        start = end + 1
        if not line.strip():
            continue
        reading = labels.read(text, at)
        if reading is not None and _REST.fullmatch(text, reading.end, max(end, reading.end)):
            alone.append(Verdict(at, reading.end, reading.ids, "letter", reading.alternatives))
            trailing.append(alone[-1])
        else:
            trailing.clear()
    if several and trailing:
        ids = tuple(known for verdict in trailing for known in verdict.ids)
        yield Verdict(trailing[0].at, trailing[-1].end, ids, "letter", trailing[-1].alternatives)
    elif trailing:
        yield trailing[-1]
    elif len({verdict.ids for verdict in alone}) == 1:
        yield alone[-1]
    stripped = text.rstrip()
    line_start = stripped.rfind("\n") + 1
    at = max(stripped.rfind(mark, line_start, len(stripped) - 1) for mark in ".!。") + 1
    reading = labels.read(text, at) if at else None
    if reading is not None and not trailing and _REST.fullmatch(text, reading.end):
        yield Verdict(at, reading.end, reading.ids, "letter", reading.alternatives)


def _leads(text: str, first: Reading, labels: Labels) -> bool:
    if _WRONG.match(text, first.end) and not first.texted:
        return False
    whole = labels.read(text, 0, subject=True)
    if whole is not None and len(whole.ids) > len(first.ids):
        return False  # "A and B are calm": a subject, no verdict
    return first.texted or _closed(text, first, labels, firm=False)


def _leading_text(text: str, labels: Labels) -> tuple[str, int] | None:
    """ "Yes, nobody notices": the text of an option, closed by punctuation, opens the reply.

    Before a comma it must be a word of assent or denial, or the only option that the reply speaks of:
    "Happy, then angry" chooses nothing.
    """
    named = labels.read_text(text, 0)
    if named is None:
        return None
    known, end = named
    if text[end - 1] in '.。*"”' or re.match(r"\s*(?:[.!\n。！]|because|since)", text[end:]):
        return named
    if _ASSENT.match(text) or not labels.other_text(text, end, known):
        return named
    return None
