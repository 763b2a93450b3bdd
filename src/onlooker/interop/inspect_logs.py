"""Logs of Inspect as predictions: of our own tasks, and of any task whose samples are items."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.errors import InputError, MissingExtra
from onlooker.interop.inspect_output import MARK, reply_fields
from onlooker.interop.rows import Matching, Reply, match
from onlooker.records.digest import asked_sha256

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

    from onlooker.records.bundle import Bundle
    from onlooker.records.results import Prediction

# What no prediction needs and a log is mostly made of.
_LEFT_OUT = {"events", "events_data", "messages", "attachments", "store"}


@dataclass(slots=True)
class Imported:
    """``owed``: the items that the condition owes, where our own task left some out; ``notes``: what a reader of the
    scores should know."""

    rows: list[Prediction] = field(default_factory=list)
    owed: list[str] | None = None
    notes: list[str] = field(default_factory=list)


def import_logs(
    paths: Sequence[Path],
    bundle: Bundle,
    matching: Matching | None = None,
    *,
    model: str | None = None,
    condition: str | None = None,
) -> Imported:
    """Every sample of the logs as a prediction, an errored one with status ``error``.

    Several epochs get the seeds 0, 1, ... ``condition`` is needed for logs of other tasks than ours, and is ours to say
    for our own; ``matching`` by the sample's ``id`` where none is given. Raises ``InputError`` for a log that cannot be
    read, was made on other questions, or whose samples belong to no item.
    """
    found = Imported()
    replies: list[Reply] = []
    for path in paths:
        log = _read_header(path)
        own = (log.eval.metadata or {}).get(MARK)
        if own is None and condition is None:
            raise InputError(
                "this log is of no task of ours, so it does not say the condition",
                where=str(path),
                value=log.eval.task,
                remedy="--condition NAME",
            )
        if own is not None:
            _check_own(own, path, bundle, condition)
            found.owed = own.get("items") or found.owed
        before = len(replies)
        replies += _replies(path, log, model or log.eval.model, condition)
        planned = len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)
        if log.status != "success" or len(replies) - before < planned:
            found.notes.append(
                f"{path.name}: ended with {log.status}, {len(replies) - before} of {planned} samples are in the log; "
                "items without a row count as missing"
            )
    found.rows = match(replies, bundle, matching or Matching(id_field="id"), model=model, condition=condition)
    return found


def _check_own(own: dict[str, Any], path: Path, bundle: Bundle, condition: str | None) -> None:
    asked = asked_sha256(bundle.path)
    if own["asked_sha256"] != asked:
        raise InputError(
            "the log was made on other episodes or items",
            where=str(path),
            value=own["asked_sha256"],
            remedy=f"name the bundle that it was made on, or bring {bundle.path} back to that state",
        )
    if condition not in (None, own["condition"]):
        raise InputError(
            f"the log says its condition itself: {own['condition']}",
            where=str(path),
            value=condition,
            remedy="leave --condition out",
        )


def _replies(path: Path, log: EvalLog, model: str, condition: str | None) -> Iterator[Reply]:
    epochs = log.eval.config.epochs or 1
    for sample in _samples(path):
        own = sample.metadata.get(MARK, {"condition": condition})
        where = f"{path}, sample {sample.id}" + (f", epoch {sample.epoch}" if epochs > 1 else "")
        fields = {"model": model, **own, **reply_fields(sample.output)}
        if epochs > 1:
            if fields.get("seed") is not None:
                raise InputError(
                    f"{epochs} epochs of one seed: their rows could not be told apart",
                    where=str(path),
                    value=fields["seed"],
                    remedy="one epoch with -T seed=N, or several without it",
                )
            fields["seed"] = sample.epoch - 1
        why = _failure(sample, is_own=MARK in sample.metadata)
        if why is not None:
            fields |= {"status": "error", "error": {"kind": "inspect", "message": why}}
        names = {**sample.metadata, "metadata": sample.metadata, "id": sample.id, "input": sample.input}
        yield Reply(where, names, fields)


def _failure(sample: EvalSample, *, is_own: bool) -> str | None:
    """Why a sample has no reply; None where it has one.

    Our own tasks ask once, so that an error after the reply is none of the model's; in other tasks what is there may
    be half of the work.
    """
    if sample.output.choices and (is_own or sample.error is None):
        return None
    if sample.error is not None:
        return sample.error.message
    return "no reply" if sample.limit is None else f"stopped by the limit of {sample.limit.type}"


def _read_header(path: Path) -> EvalLog:
    try:
        from inspect_ai.log import read_eval_log  # noqa: PLC0415  an extra
    except ImportError as error:
        raise MissingExtra("inspect", "a log of Inspect") from error
    if not path.is_file():
        raise InputError("no such file", where=str(path))
    try:
        return read_eval_log(str(path), header_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot be read as a log of Inspect ({error})", where=str(path)) from error


def _samples(path: Path) -> Iterator[EvalSample]:
    from inspect_ai.log import read_eval_log_samples  # noqa: PLC0415  an extra

    try:
        yield from read_eval_log_samples(str(path), all_samples_required=False, exclude_fields=_LEFT_OUT)
    except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot be read as a log of Inspect ({error})", where=str(path)) from error
