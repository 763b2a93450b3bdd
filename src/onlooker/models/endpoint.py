"""What all endpoints share: an address, a key that nobody else sees, and what refusals mean. Knows no provider."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.request import Reply

_LOCAL_HOSTS = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0"))  # noqa: S104  a name to recognise, not to bind
_PASSING_STATUS = frozenset((408, 409, 425, 429))
_TOO_LARGE_STATUS = 413
_QUOTA_STATUS = frozenset((400, 403, 429))
# A shorter key is a word that a reply may well contain ("EMPTY", as servers of one's own are given).
_TELLING_KEY_CHARS = 12


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address and its key, for the model ``name``. ``quota_words``: what it says when money has run out."""

    name: str
    url: str
    key: str = field(repr=False)
    quota_words: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """As error messages name it."""
        return f"{self.name} at {self.url}"

    def hide(self, words: str) -> str:
        """The words of a server, without the key in them."""
        return words.replace(self.key, "[key]") if self.key else words

    def hide_in(self, reply: Reply) -> Reply:
        """A reply without the key in it: a server can repeat what it was sent, and replies are written down."""
        if len(self.key) < _TELLING_KEY_CHARS or self.key not in reply.text:
            return reply
        return replace(reply, text=self.hide(reply.text), details={**reply.details, "key": "written as [key]"})

    def failure(self, status: int, words: str, *, retry_after_s: float | None = None) -> ModelError:
        """What a status and a server's own words mean: worth another attempt, the end of the quota, or final."""
        words = self.hide(words)
        if status == 402 or (status in _QUOTA_STATUS and any(word in words.lower() for word in self.quota_words)):
            return QuotaExhausted(
                f"the account is out of quota (status {status})",
                where=self.where,
                value=words,
                remedy="top up or wait, then run again: what is finished is kept",
            )
        if status in _PASSING_STATUS or status >= 500:
            return TransientModelError(
                f"the server answered with status {status}",
                where=self.where,
                value=words,
                retry_after_s=retry_after_s,
            )
        if 300 <= status < 400:
            return ModelError(
                f"the server sends elsewhere (status {status}); a run asks the address that it names and no other",
                where=self.where,
                value=words,
                remedy="find out where it sends to, and name that with --base-url",
            )
        if status == _TOO_LARGE_STATUS:
            # The same request would be refused again: it is never retried unchanged.
            return ModelError(
                "the server says that the request is too large (status 413)",
                where=self.where,
                value=words,
                remedy="send fewer or smaller frames, or state the limit of this server so that it is kept beforehand",
            )
        return ModelError(f"the server refused the request (status {status})", where=self.where, value=words)

    def late(self, timeout_s: float) -> TransientModelError:
        """No answer in time."""
        return TransientModelError(f"no answer within {timeout_s:g} s", where=self.name, may_be_billed=True)

    def cut(self, error: BaseException) -> TransientModelError:
        """The connection could not be made or broke."""
        cause = error.__cause__ or error
        reason = self.hide(str(cause) or type(error).__name__)
        # Both transports name their errors alike: ConnectError, ConnectTimeout.
        is_sent = not type(cause).__name__.startswith("Connect")
        return TransientModelError("the connection failed", where=self.where, value=reason, may_be_billed=is_sent)

    def garbled(self, what: str, found: object) -> TransientModelError:
        """The server answered with something that is no answer."""
        return TransientModelError(what, where=self.name, value=self.hide(str(found)), may_be_billed=True)


def open_endpoint(
    name: str,
    *,
    own_url: str,
    own_key_env: Sequence[str],
    base_url: str | None,
    api_key_env: str | None,
    quota_words: tuple[str, ...] = (),
) -> Endpoint:
    """The provider's own address with its own key, or ``base_url`` with the key of the variable ``api_key_env``.

    The provider's key (the first set variable of ``own_key_env``) goes to the provider's address only: a key that was
    made for one endpoint is never sent to another one. A server on this machine needs none. The SDKs' variables for
    other addresses are not read, because a hidden setting would change what a run measured. Raises InputError where
    the key is missing or the URL is none.
    """
    url = (base_url or own_url).rstrip("/")
    host = _host(url)
    variables = [api_key_env] if api_key_env else [] if base_url else list(own_key_env)
    key = next((value for v in variables if (value := os.environ.get(v, "").strip())), "")
    if not all("!" <= character <= "~" for character in key):
        raise InputError(
            f"the key for {host} holds a space, a line break or another character that no key has",
            where=name,
            remedy=f"set the environment variable {' or '.join(variables)} anew",
        )
    if key or (host in _LOCAL_HOSTS and not api_key_env):
        return Endpoint(name, url, key, quota_words)
    if not variables:
        raise InputError(
            f"no key for {host}: the key of {own_key_env[0]} is for {_host(own_url)} and is not sent elsewhere",
            where=name,
            remedy="name the environment variable that holds this endpoint's key (--api-key-env NAME)",
        )
    named = " or ".join(variables)
    raise InputError(
        f"no key for {host}: the environment variable {named} is not set",
        where=name,
        remedy=f"export {variables[0]}=..., or name another variable",
    )


def retry_after_s(headers: Mapping[str, str], *, now_s: float | None = None) -> float | None:
    """Seconds (>= 0) a server asks to wait; None where it does not say, or says nothing that is a time.

    Read from ``retry-after-ms``, else from ``Retry-After``.
    ``Retry-After`` is a number of seconds or an HTTP date (RFC 9110, section 10.2.3), the date
    counted from ``now_s`` (seconds of the Unix epoch, the clock's by default). Header names are looked up in lower
    case.
    """
    for header, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(header)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            try:
                at = parsedate_to_datetime(value)
                at = at if at.tzinfo else at.replace(tzinfo=UTC)
                seconds = at.timestamp() - (time.time() if now_s is None else now_s)
            except (ValueError, OverflowError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InputError(f"not an http(s) URL ({error})", where="base URL", value=url) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("not an http(s) URL", where="base URL", value=url)
    if parts.username or parts.password:
        raise InputError(
            "a base URL must hold no credentials, since it is written into run folders",
            where=f"base URL of {parts.hostname}",
            remedy="put the key into an environment variable",
        )
    if parts.query or parts.fragment:
        raise InputError(
            "a base URL ends with its path: what follows ? or # may be a key, and the URL is written into run folders",
            where=f"base URL of {parts.hostname}",
            remedy="leave it out; a key belongs into an environment variable (--api-key-env NAME)",
        )
    return parts.hostname
