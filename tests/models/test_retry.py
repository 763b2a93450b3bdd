"""R12, R13: waits are capped, Retry-After is honoured, quota ends the run, nothing waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import ModelError, OnlookerError, QuotaExhausted, TransientModelError
from onlooker.models.request import Modality, Reply, Request, Text
from onlooker.models.retry import ask_with_retry, backoff_s

REQUEST = Request((Text("Who smiles?"),))
FINE = Reply("Answer: A", "ok")


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.waits_s: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits_s.append(seconds)
        self.now_s += seconds

    def read(self) -> float:
        return self.now_s


class Unreliable:
    """Raises the given errors one after the other, then answers."""

    def __init__(self, errors: Sequence[OnlookerError]) -> None:
        self._errors = list(errors)
        self.asked = 0

    name = "unreliable"
    accepts: frozenset[Modality] = frozenset(("text",))
    fingerprint: Mapping[str, str] = {}
    at_once: int | None = None

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        if self._errors:
            raise self._errors.pop(0)
        return FINE

    async def close(self) -> None: ...


def ask(
    model: Unreliable, clock: Clock, *, attempts: int = 6, max_wait_s: float = 60.0, deadline_s: float = 600.0
) -> Reply:
    return asyncio.run(
        ask_with_retry(
            model,
            REQUEST,
            attempts=attempts,
            max_wait_s=max_wait_s,
            deadline_s=deadline_s,
            sleep=clock.sleep,
            clock=clock.read,
        )
    )


def busy(retry_after_s: float | None = None) -> TransientModelError:
    return TransientModelError("status 429", retry_after_s=retry_after_s)


def test_thirty_times_429_without_a_header_stays_under_cap_and_deadline() -> None:
    clock, model = Clock(), Unreliable([busy() for _ in range(30)])
    with pytest.raises(TransientModelError, match="no answer after"):
        ask(model, clock, attempts=31, max_wait_s=60.0, deadline_s=600.0)
    assert max(clock.waits_s) <= 60.0
    assert sum(clock.waits_s) <= 600.0
    # 1 + 2 + 4 + ... up to the cap: the waits double before they are capped.
    assert all(0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(clock.waits_s[:6]))


def test_attempts_count_the_first_one() -> None:
    clock, model = Clock(), Unreliable([busy() for _ in range(9)])
    with pytest.raises(TransientModelError, match="no answer after 3 attempts"):
        ask(model, clock, attempts=3)
    assert model.asked == 3
    assert len(clock.waits_s) == 2


def test_a_passing_failure_is_asked_again() -> None:
    clock, model = Clock(), Unreliable([busy(), busy()])
    assert ask(model, clock) is FINE
    assert model.asked == 3


def test_retry_after_is_honoured_in_full() -> None:
    clock, model = Clock(), Unreliable([busy(retry_after_s=37.0)])
    assert ask(model, clock) is FINE
    assert clock.waits_s == [37.0]


def test_a_long_retry_after_pauses_the_provider_at_once() -> None:
    clock, model = Clock(), Unreliable([busy(retry_after_s=7200.0)])
    with pytest.raises(QuotaExhausted, match="7200 s"):
        ask(model, clock)
    assert (model.asked, clock.waits_s) == (1, [])


@pytest.mark.parametrize("error", [QuotaExhausted("no money"), ModelError("too large (413)")])
def test_what_waiting_cannot_mend_is_not_asked_again(error: ModelError) -> None:
    clock, model = Clock(), Unreliable([error])
    with pytest.raises(type(error)):
        ask(model, clock)
    assert (model.asked, clock.waits_s) == (1, [])


@given(purpose=st.text(), attempt=st.integers(1, 2000), cap_s=st.floats(0.01, 3600))
def test_backoff_is_a_pure_function_between_half_and_whole_of_the_capped_doubling(
    purpose: str, attempt: int, cap_s: float
) -> None:
    wait_s = backoff_s(purpose, attempt, cap_s)
    whole_s = min(cap_s, 2.0 ** min(attempt - 1, 60))
    assert whole_s / 2 <= wait_s <= whole_s
    assert wait_s == backoff_s(purpose, attempt, cap_s)


def test_parallel_calls_do_not_come_back_together() -> None:
    waits = {round(backoff_s(f"request {n}", 6, 60.0), 3) for n in range(50)}
    assert len(waits) > 40
