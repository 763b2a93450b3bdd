"""A model that answers from a script: for tests and dry runs. It sees nothing and knows nothing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.request import MODALITIES, Modality, Options, Reply, Request, Status

Script = Callable[[Request], Reply]
Rule = Literal["first", "last", "echo"]
RULES: tuple[Rule, ...] = get_args(Rule)
_EVERYTHING: frozenset[Modality] = frozenset(MODALITIES)


class Line(BaseModel):
    """A line of a script. The first line that fits answers.

    It fits a request whose words contain ``match`` (None: every request), and with ``times``
    only the first so many asks of the same request. ``fail`` raises the error of that name instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    match: str | None = None
    times: int | None = None
    reply: str = ""
    status: Status = "ok"
    fail: Literal["transient", "quota", "error"] | None = None
    retry_after_s: float | None = None


class ScriptedModel:
    """Answers by a function of the request: same requests in the same order, same replies.

    ``script_id`` tells two scripts apart in caches and resumed runs. ``accepts`` defaults to every
    kind of part, so that a dry run prepares all media.
    """

    def __init__(
        self,
        script: Script,
        *,
        script_id: str,
        name: str = "scripted",
        accepts: frozenset[Modality] = _EVERYTHING,
    ) -> None:
        self._script = script
        self._name = name
        self._accepts = accepts
        self._script_id = script_id

    @classmethod
    def by_rule(cls, rule: Rule, *, accepts: frozenset[Modality] = _EVERYTHING) -> ScriptedModel:
        """``first`` and ``last`` choose that option; ``echo`` returns the words of the request."""
        rules: Mapping[Rule, Script] = {
            "first": lambda request: _choose(request, 0),
            "last": lambda request: _choose(request, -1),
            "echo": lambda request: Reply(request.text, "ok" if request.text.strip() else "empty"),
        }
        return cls(rules[rule], script_id=rule, name=f"scripted:{rule}", accepts=accepts)

    @classmethod
    def from_file(cls, path: Path, *, accepts: frozenset[Modality] = _EVERYTHING) -> ScriptedModel:
        """Replies from a JSON array, or JSON Lines, of ``Line``. InputError names the line."""
        try:
            raw = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the script ({error})", where=str(path)) from error
        lines = _parse(raw, path)
        digest = hashlib.sha256(raw.encode()).hexdigest()
        return cls(_follow(lines, path), script_id=digest, name=f"scripted:{path.name}", accepts=accepts)

    @property
    def name(self) -> str:
        """``scripted:`` and the rule or the file's name."""
        return self._name

    @property
    def accepts(self) -> frozenset[Modality]:
        """As given."""
        return self._accepts

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Kind, script digest (or rule) and accepted parts."""
        return {
            "kind": "scripted",
            "script": self._script_id,
            "accepts": ",".join(sorted(self._accepts)),
        }

    @property
    def at_once(self) -> int | None:
        """As many as it is asked."""
        return None

    async def ask(self, request: Request) -> Reply:
        """The script's answer, or the error it names."""
        return self._script(request)

    async def close(self) -> None:
        """Nothing to free."""


def _choose(request: Request, index: int) -> Reply:
    for part in request.parts:
        if isinstance(part, Options):
            return Reply(f"Answer: {part.ids[index]}", "ok")
    raise ModelError("this script chooses an option, and the request has none", where="scripted")


def _parse(raw: str, path: Path) -> Sequence[Line]:
    if raw.lstrip().startswith("["):
        try:
            rows = [("", row) for row in json.loads(raw)]
        except ValueError as error:
            raise InputError(f"not JSON ({error})", where=str(path)) from error
    else:
        rows = [(f":{n}", row) for n, row in enumerate(raw.split("\n"), 1) if row.strip()]
    lines = []
    for count, (where, row) in enumerate(rows, 1):
        try:
            line = Line.model_validate_json(row) if isinstance(row, str) else Line.model_validate(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise InputError(
                f"{first['msg']} ({'.'.join(map(str, first['loc'])) or 'the whole row'})",
                where=f"{path}{where or f' entry {count}'}",
                value=row,
            ) from error
        lines.append(line)
    if not lines:
        raise InputError("the script is empty", where=str(path), remedy='add a line {"reply": "..."}')
    return lines


def _follow(lines: Sequence[Line], path: Path) -> Script:
    asked: Counter[str] = Counter()

    def script(request: Request) -> Reply:
        key = request.prompt_sha256() + request.media_sha256()
        asked[key] += 1
        for line in lines:
            if line.match is not None and line.match not in request.text:
                continue
            if line.times is not None and asked[key] > line.times:
                continue
            return _speak(line)
        raise ModelError("no line of the script fits this request", where=str(path), value=request.text)

    return script


def _speak(line: Line) -> Reply:
    if line.fail == "transient":
        raise TransientModelError("failure by script", where="scripted", retry_after_s=line.retry_after_s)
    if line.fail == "quota":
        raise QuotaExhausted("quota exhausted by script", where="scripted")
    if line.fail == "error":
        raise ModelError("error by script", where="scripted")
    status = "empty" if line.status == "ok" and not line.reply.strip() else line.status
    return Reply(line.reply, status)
