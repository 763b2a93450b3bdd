"""``onlooker annotate``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.annotate.submitting import Desk
    from onlooker.cli.types import Commands
    from onlooker.records.bundle import Bundle


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    annotate = commands.add_parser("annotate", help="people's judgements in a browser: serve, invite, export, status")
    nouns = annotate.add_subparsers(dest="annotate_command", required=True, metavar="COMMAND")

    serve = nouns.add_parser("serve", help="serve a study")
    _add_study(serve)
    _add_address(serve)
    serve.add_argument("--certificate", type=Path, metavar="PEM", help="for TLS")
    serve.add_argument("--key", type=Path, metavar="PEM", help="for TLS")
    serve.add_argument("--open", action="store_true", help="an address beyond this machine is meant")
    serve.set_defaults(run=_serve)

    invite = nouns.add_parser("invite", help="make invitation links; each works once")
    _add_study(invite)
    _add_address(invite)
    invite.add_argument("--role", choices=["rater", "expert", "monitor", "owner"], default="rater", help="(rater)")
    invite.add_argument("--count", type=int, default=1, metavar="N", help="how many links (1)")
    invite.add_argument("--name", default="", help="of the person, for the private list; never exported")
    invite.add_argument("--rater", metavar="ID", help="let this rater in again, say on another device")
    invite.set_defaults(run=_invite)

    export = nouns.add_parser("export", help="write ratings, decisions and what else the study gives")
    _add_study(export)
    export.add_argument("--out", required=True, type=Path, metavar="DIR")
    export.add_argument("--format", choices=["jsonl", "csv"], nargs="+", default=["jsonl"], help="(jsonl)")
    export.add_argument("--history", action="store_true", help="every answer ever given, too")
    export.add_argument("--surplus", action="store_true", help="answers beyond the overlap, too, marked")
    export.add_argument("--special", action="store_true", help="warm-up and gold cases, too, marked")
    export.add_argument("--neutralise", action="store_true", help="CSV cells that a spreadsheet would run get a '")
    export.set_defaults(run=_export)

    status = nouns.add_parser("status", help="coverage, agreement and each rater's progress")
    _add_study(status)
    status.add_argument("--out", type=Path, metavar="FILE", help="all of it as JSON, too")
    status.set_defaults(run=_status)

    withdraw = nouns.add_parser("withdraw", help="let a rater leave; kept on record")
    _add_study(withdraw)
    withdraw.add_argument("--rater", required=True, metavar="ID")
    withdraw.add_argument("--mode", choices=["detach", "delete"], help="keep the answers, or not (the study's choice)")
    withdraw.set_defaults(run=_withdraw)


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument("--study", required=True, type=Path, metavar="STUDY.yaml")
    parser.add_argument("--database", help="postgresql://..., or a file (beside STUDY.yaml)")


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="(127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="(8000)")
    parser.add_argument("--public-url", metavar="URL", help="how people reach it through a proxy")


def _opened(options: argparse.Namespace) -> tuple[Bundle, Desk]:
    from onlooker.annotate.serve import open_desk
    from onlooker.catalog import load_benchmark
    from onlooker.records.bundle import open_bundle

    bundle = open_bundle(options.bundle)
    return bundle, open_desk(bundle, load_benchmark(bundle.card.family), options.study, options.database)


def _serve(options: argparse.Namespace) -> int:
    from onlooker.annotate.serve import Address, open_site, run_server
    from onlooker.cli.folders import cache_dir

    where = Address(
        options.host, options.port, options.certificate, options.key, options.public_url, is_open=options.open
    )
    warning = where.check()
    bundle, desk = _opened(options)
    site = open_site(bundle, desk, cache_dir(), where, note)
    if warning is not None:
        note(f"warning: {warning}")
    note(f"study {desk.study.name}: {len(desk.cases.ordinary)} cases, {desk.study.overlap} people each, at {where.url}")
    note("invite people with `onlooker annotate invite`; Ctrl-C ends, and nothing is lost by it")
    run_server(site, where)
    return 0


def _invite(options: argparse.Namespace) -> int:
    from onlooker.annotate.accounts import invite
    from onlooker.annotate.serve import Address

    where = Address(options.host, options.port, public_url=options.public_url)
    _, desk = _opened(options)
    for _ in range(options.count):
        token = invite(desk.store, desk.study, options.role, name=options.name, rater=options.rater)
        say(f"{where.url}/join/{token}")
    note(f"each link works once, within {desk.study.invitation_days:g} days")
    return 0


def _export(options: argparse.Namespace) -> int:
    from onlooker.annotate.export import collect, write_export

    _, desk = _opened(options)
    exported = collect(desk, history=options.history, surplus=options.surplus, special=options.special)
    for name, rows in write_export(exported, options.out, options.format, neutralise=options.neutralise).items():
        say(f"{options.out / name}: {rows} rows")
    return 0


def _status(options: argparse.Namespace) -> int:
    import json

    from onlooker.annotate.accounts import overdue_names
    from onlooker.annotate.monitor import monitor
    from onlooker.records.jsonl import write_text

    _, desk = _opened(options)
    found = monitor(desk)
    coverage = found["coverage"]
    say(
        f"{coverage['done']} of {coverage['wanted']} answers, {coverage['complete']} of {coverage['cases']} cases "
        f"complete, {coverage['open']} open now"
    )
    rows = [["rater", "answered", "opted out", "median s", "flags"]]
    for one in found["raters"]:
        seconds = "-" if one["median_seconds"] is None else f"{one['median_seconds']:.1f}"
        states = one["states"]
        counts = [str(states.get(state, 0)) for state in ("answered", "opted_out")]
        rows.append([one["rater"], *counts, seconds, " ".join(one["flags"]) or "-"])
    say(table(rows, right=(1, 2, 3)))
    for rubric, report in found["agreement"].items():
        alpha = report["alpha.ordinal"] if report["alpha.ordinal"] is not None else report["alpha.nominal"]
        say(f"{rubric}: alpha {'-' if alpha is None else f'{alpha:.3f}'} over {report['units']} units")
    if overdue := overdue_names(desk.store, desk.study):
        note(f"names kept for longer than {desk.study.retention.days} days: {', '.join(overdue)}; withdraw them")
    if options.out is not None:
        write_text(options.out, json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return 0


def _withdraw(options: argparse.Namespace) -> int:
    from onlooker.annotate.accounts import withdraw

    _, desk = _opened(options)
    mode = options.mode or desk.study.retention.withdrawal
    withdraw(desk.store, options.rater, mode)
    kept = "the answers stay under the pseudonym" if mode == "detach" else "the answers are removed, and asked anew"
    say(f"{options.rater} has left the study: {kept}")
    return 0
