"""The words by which replies declare, deny, doubt and withdraw an answer, in the languages models fall into."""

from __future__ import annotations

import re

from onlooker.text.characters import WORD

_W = rf"(?<![{WORD}])(?![\s\u3000-\ud7ff])"  # no word in Latin or alike letters begins at a space or a CJK character
_E = rf"(?![{WORD}])"

# Nouns that announce an answer, in the languages models fall into. A qualifier is owed where the bare noun
# more often introduces the list of options.
NOUN = re.compile(
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
LEAD = re.compile(
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
LINK = re.compile(
    r"[:=>]|[–—]|(?<=\s)-(?=\s)"
    rf"|{_W}(?:is|are|will\s+be|would\s+be|must\s+be|should\s+be|has\s+to\s+be|seems\s+to\s+be|appears\s+to\s+be"
    rf"|remains|es|son|ser[ií]a|est|sont|serait|ist|sind|lautet|wäre|è|é|jest|brzmi|är|là|adalah|это|هي|هو|है|হল){_E}"
    r"|是|为|為|有|包括|包含|は|が|은|는|이|คือ|选择?|選擇?",
    re.IGNORECASE,
)
NEGATION = re.compile(
    rf"{_W}(?:not|never|cannot|neither|nor|isn't|aren't|wasn't|can't|won't|doesn't|don't|nicht|kein\w*|pas|"
    rf"n'est|nunca|não|nao|non|nie|niet|не|no(?=\s+(?:es|son|ser[ií]a|est[aá]))|ليس|không|bukan|değil){_E}|n't{_E}|(?:并|並)?不(?:会|會|可能|应该?|應該?)?是?|并?非|没有?|無法|无法|아[니닙닌]",
    re.IGNORECASE,
)
# The sentence no longer declares: it asks, hedges or supposes.
DOUBT = re.compile(
    rf"{_W}(?:whether|if|unless|depends?|between|could|might|may|can|would\s+have|unclear|unknown|wrong"
    rf"|incorrect|but|because|since|while|although|eliminat\w*|exclud\w*|unlikely){_E}|如果|若|可能|错|錯|排除",
    re.IGNORECASE,
)
BUT = re.compile(
    rf"[\s,;.–—-]*(?:{_W}(?:but(?:\s+rather)?|rather|instead|it's|it\s+is|sino|sondern|mais|ma|mas|а){_E}|而是|是|而)"
    r"[\s,:]*(?:it's\s+|it\s+is\s+)?",
    re.IGNORECASE,
)
NOR = re.compile(rf"[\s,;]*{_W}(?:nor|(?:and|but)\s+(?:also\s+)?not){_E}|[\s,]*也不是", re.IGNORECASE)
# A denial that may lead to what holds instead.
CONTRAST = re.compile(rf"{_W}(?:neither|not){_E}|n't{_E}|(?:并|並)?不是|并非|並非", re.IGNORECASE)
ALSO_BEFORE = re.compile(
    rf"(?:{_W}(?:also|additionally|moreover|furthermore|in\s+addition|as\s+well\s+as|plus)|另外|此外|同时|同時)[\s,:]*\Z",
    re.IGNORECASE,
)
DENIED_BEFORE = re.compile(
    rf"(?:{_W}(?:not|never|cannot|wrong|incorrect|false|worst|least\s+\w+|other|another|tempting|first|initial"
    rf"|bad|poor|no|neither|nor|none\s+of|without|to)(?:\s+(?:the|a|an|my|very|most))?(?:\s+(?:correct|right|best|likely))?"
    r"|n't(?:\s+the)?(?:\s+(?:correct|right|best))?"
    r"|不能|不该|不应|不應|不会|不|别|別|勿|未|错误的?|錯誤的?|不正确的?|不正確的?|排除)\s*\Z",
    re.IGNORECASE,
)
SUPPOSED_BEFORE = re.compile(
    rf"(?:{_W}(?:if|whether|unless|suppose|supposing|assuming|even\s+if|while|although|though|whereas|when|why"
    rf"|not\s+only|had|were){_E}|如果|若|假如|虽然|雖然|尽管|儘管)[^.,;:!?\n。，；：！？]*\Z",
    re.IGNORECASE,
)
_ADVERBS = (
    r"(?:\s*+(?:the|a|an|clearly|definitely|most|likely|therefore|thus|obviously|probably|also|both|all|only|really"
    r"|simply|indeed|more|much|by\s+far)\b){0,5}"
)
RIGHT = re.compile(
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
WRONG = re.compile(
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
DENIED_AFTER = re.compile(r"\s*(?:가|이|은|는)?\s*아[니닙닌]|\s*(?:では|じゃ)(?:あり|な)|\s+değil|\s*नहीं")
RETRACTED = re.compile(
    r"\b(?:wait|hmm+|hold\s+on|no)\b[\s,.–—-]*(?:no\b|(?:that|this|it)(?:'s|\s+is|\s+was)?\s*"
    r"(?:cannot|can't|not|isn't|wrong|incorrect))|\bthat\s+(?:cannot|can't)\s+be\s+right|\bscratch\s+that"
    r"|\bi\s+was\s+wrong|等等[,，]?\s*不对|不对[,，]?\s*重新",
    re.IGNORECASE,
)
PLURAL = re.compile(
    r"\s*,?\s*(?:are|were|aren't|weren't|both|all|do|don't|seem|fail|fit|match|look|can|cannot|can't)\b|\s*[都均皆全도も]",
    re.IGNORECASE,
)
STOP = re.compile(r"[.!?;。！？；]|\n\s*\n")
ASSENT = re.compile(r"\W*(?:yes|no|true|false|是的?|否|不是|sí|oui|non|ja|nein|да|нет)(?!\w)", re.IGNORECASE)
