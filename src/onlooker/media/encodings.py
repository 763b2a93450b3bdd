"""Bytes of a text file to text, or a refusal: words in the wrong encoding are worse than none.

UTF-8 (with or without a byte-order mark) and UTF-16 with one are told by their bytes. GB18030 is not: most bytes of
Shift_JIS, EUC-KR, Big5 and Latin text are GB18030, too, and read as nonsense. A file is read as GB18030 only where

* at least ``_LEAST_SHARE`` of its characters outside ASCII are among the commonest of Chinese or its punctuation (six
  to eight of ten in running text; text of another encoding hits them by accident, about one in ten), and
* no rival that decodes the bytes without an error has as great a share of its own commonest characters.

Everything else is refused, with the encodings that fit: so is Chinese in Big5, and a GB18030 file of a few rare names.
Latin-1 and the others are read on evidence only: where the user names the encoding, or an XML declaration states it.
"""

from __future__ import annotations

import re
from pathlib import Path

from onlooker.errors import InputError

_LEAST_SHARE = 0.3
_MARKS = "，。！？、；：“”‘’（）《》〈〉…—「」『』　"
_CHINESE = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然"
    "家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把"
    "机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加"
    "西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别"
    "打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司"
    "五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师"
    "早谢吗吧呢啊哦嗯请您爸妈哥姐爱喜欢叫让快乐吃喝找等笑哭跟块钱今晚昨怎谁哪"
)
# The commonest of these that simplified Chinese writes in another way, and what both write alike.
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然"
    "家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把"
    "機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加"
    "謝嗎吧呢啊請您爸媽愛喜歡叫讓快樂吃喝找笑哭跟塊錢今晚昨怎誰哪世界"
)
_KOREAN = (
    "이다는을가에고하지의은도나그어자사기를로아대서리한들라시해수있인게스무일니만정오보여부안장전구내주요거말우마것원"
    "네세으소과면었와상치적비저없유러거선좀뭐왜제네요습안녕까죠응예감합래생각모르진난너들데던든때더된될람랑렇며방번별"
    "분빠살새성신씨았야양언엄얼였연영온완용운울위음입작잘잠재조중직집차참처천청추친큰트파피필학할함했행현호혼화회후"
)
_HIRAGANA_TO_KATAKANA = range(0x3041, 0x30FF)
_RIVALS = {"Shift_JIS": "cp932", "EUC-KR": "cp949", "Big5": "big5hkscs"}


_DECLARATION = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


def decode_text(data: bytes, path: Path, encoding: str | None = None) -> str:
    """The text with ``\\n`` line ends. ``encoding``: its name, where the user knows it; nothing is guessed then.

    Raises ``InputError`` naming ``path`` where the encoding cannot be told, is unknown, or is not that of the bytes.
    """
    text = _decoded(data, path) if encoding is None else _stated(data, encoding, path)
    if "\0" in text:
        raise _untold(path, [])
    # A byte-order mark is no part of the words, wherever files were joined; one before a counter would make it words.
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes, path: Path) -> str:
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        text = _strict(data, "utf-16")
        if text is None:
            raise _untold(path, [])
        return text
    text = _strict(data, "utf-8-sig")
    if text is not None:
        return text
    declared = _DECLARATION.match(data)
    if declared:
        return _stated(data, declared[1].decode("ascii"), path)
    chinese = _strict(data, "gb18030")
    shares = {name: _share(_strict(data, codec), name) for name, codec in _RIVALS.items()}
    fitting = [name for name, share in shares.items() if share is not None]
    if chinese is not None:
        share = _share(chinese, "GB18030") or 0.0
        if share >= _LEAST_SHARE and share > max((s or 0.0 for s in shares.values()), default=0.0):
            return chinese
        fitting = ["GB18030", *fitting]
    raise _untold(path, fitting)


def _stated(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except (LookupError, ValueError) as error:  # not every codec raises UnicodeDecodeError
        what = "unknown text encoding" if isinstance(error, LookupError) else "the bytes are not in the stated encoding"
        raise InputError(what, where=str(path), value=encoding, remedy="save the file as UTF-8") from error


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _share(text: str | None, name: str) -> float | None:
    """Which part of the characters outside ASCII is common in what ``name`` is used for; None for no text."""
    if text is None:
        return None
    foreign = [c for c in text if not c.isascii()]
    if name == "Shift_JIS":
        common = sum(ord(c) in _HIRAGANA_TO_KATAKANA or c in _MARKS for c in foreign)
    else:
        usual = _USUAL[name]
        common = sum(c in usual for c in foreign)
    return common / len(foreign) if foreign else 0.0


_USUAL = {
    "GB18030": frozenset(_CHINESE + _TRADITIONAL + _MARKS),
    "EUC-KR": frozenset(_KOREAN + _MARKS),
    "Big5": frozenset(_TRADITIONAL + _MARKS),
}


def _untold(path: Path, fitting: list[str]) -> InputError:
    fits = f"; its bytes fit {', '.join(fitting)}, and words may not be guessed" if fitting else ""
    return InputError(f"the text encoding cannot be told{fits}", where=str(path), remedy="save the file as UTF-8")
