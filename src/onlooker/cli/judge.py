"""``onlooker judge`` and ``onlooker calibrate``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.cli.asking import add_call_options, add_model_options, model_of, number, whole
from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.judge.session import JudgeSession, Tally
    from onlooker.protocol.answered import Run
    from onlooker.protocol.benchmark import Benchmark
    from onlooker.protocol.ground import Ground
    from onlooker.protocol.judging import Judging
    from onlooker.records.bundle import Bundle
    from onlooker.records.results import Judgement


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    judge = commands.add_parser("judge", help="let a judge assess the answers of a run")
    judge.add_argument("run_dir", type=Path, metavar="RUN")
    what = judge.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--judge", dest="model", metavar="M", help="the judge: any model that reads text, named as the models of eval"
    )
    what.add_argument(
        "--panel", choices=("median", "majority", "mean"), help="join the judges there are by this rule; ask nobody"
    )
    judge.add_argument("--rubric", action="append", default=[], metavar="R", help="one rubric; may be repeated (all)")
    judge.add_argument(
        "--condition", action="append", default=[], metavar="C", help="answers of one condition; may be repeated (all)"
    )
    judge.add_argument("--bundle", type=Path, metavar="BUNDLE", help="where the bundle is now (where it was)")
    judge.add_argument("--member", action="append", default=[], metavar="JUDGE", help="in the panel (all models)")
    judge.add_argument("--limit", type=whole(1), metavar="N", help="the first N replies of a rubric only")
    judge.add_argument(
        "--least-coverage",
        type=number(0, 1),
        default=0.95,
        metavar="SHARE",
        help="warn where fewer of the replies got a valid judgement (0.95)",
    )
    add_model_options(judge)
    add_call_options(judge)
    judge.set_defaults(run=_judge)

    calibrate = commands.add_parser("calibrate", help="hold a judge against people who graded the same replies")
    calibrate.add_argument("bundle", type=Path, metavar="BUNDLE")
    calibrate.add_argument(
        "--judgements", action="append", required=True, type=Path, metavar="FILE", help="may be repeated; people's too"
    )
    calibrate.add_argument("--rubric", metavar="R", help="the rubric (the only one that people graded)")
    calibrate.add_argument(
        "--by", metavar="WHAT", help="strata: model, condition, judge (thirds of its own scores), or a label"
    )
    calibrate.add_argument("--draws", type=whole(1), default=10_000, metavar="N", help="bootstrap draws (10000)")
    calibrate.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (0)")
    calibrate.add_argument("--out", type=Path, metavar="FILE", help="all of it as JSON")
    calibrate.set_defaults(run=_calibrate)


def _judge(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.judge.session import JUDGEMENTS_NAME, choose_rubrics
    from onlooker.protocol.answered import read_runs, refuse_other_questions
    from onlooker.protocol.ground import load_ground
    from onlooker.records.results import read_judgements
    from onlooker.run.export import PREDICTIONS_NAME
    from onlooker.run.lock import locked

    bundle = _bundle_of(options.run_dir, options.bundle)
    benchmark = load_benchmark(bundle.card.family)
    rubrics = choose_rubrics(benchmark.judging, options.rubric, benchmark.family)
    file = options.run_dir / JUDGEMENTS_NAME
    with locked(options.run_dir):
        ground = load_ground(bundle)
        earlier = read_judgements([file]) if file.exists() else []
        if options.panel:
            return _panel(options, rubrics, ground, earlier, file)
        answers = [options.run_dir / PREDICTIONS_NAME]
        refuse_other_questions(bundle.path, answers)
        runs = [
            run
            for run in read_runs(answers, benchmark.scoring, ground.items)
            if not options.condition or run.condition in options.condition
        ]
        _refuse_none(options, runs)
        return _ask(options, benchmark, rubrics, ground, runs, earlier, file)


def _ask(
    options: argparse.Namespace,
    benchmark: Benchmark,
    rubrics: list[Judging],
    ground: Ground,
    runs: list[Run],
    earlier: list[Judgement],
    file: Path,
) -> int:
    import asyncio
    from contextlib import ExitStack

    from onlooker.judge.session import JudgeSession, kin_warnings
    from onlooker.models.book import CallBook
    from onlooker.models.gateway import Gateway
    from onlooker.models.prices import Budget, Prices
    from onlooker.run.ledger import LEDGER_NAME
    from onlooker.run.progress import Progress

    model = model_of(options)
    for warning in kin_warnings(model.name, [run.model for run in runs]):
        note(f"warning: {warning}")
    with ExitStack() as stack:
        book = CallBook(options.run_dir / LEDGER_NAME)
        stack.callback(book.close)
        cache = None
        if options.cache is not None:
            cache = CallBook.shared(options.cache)
            stack.callback(cache.close)
        gateway = Gateway(
            model,
            book,
            role="judge",
            cache=cache,
            prices=Prices.read(options.prices),
            budget=None if options.budget is None else Budget(options.budget, book.spent_usd("judge")),
            deadline_s=options.deadline,
            concurrency=options.concurrency,
        )
        bars = ExitStack()
        stack.enter_context(bars)
        shown: list[Progress] = []

        def begin(rubric: str, count: int) -> None:
            bars.close()
            shown.append(bars.enter_context(Progress(f"{model.name}, {rubric}", count)))

        session = JudgeSession(
            ground,
            benchmark.scoring,
            runs,
            gateway,
            earlier,
            options.limit,
            options.concurrency,
            begin,
            lambda failed: shown[-1].advance(failed=failed),
        )

        async def work() -> list[Tally]:
            try:
                return await session.judge(rubrics)
            finally:
                await gateway.close()

        tallies: list[Tally] = []
        try:
            tallies = asyncio.run(work())
        finally:
            _write(file, session.rows)
    return _report(options, session, tallies, file)


def _report(options: argparse.Namespace, session: JudgeSession, tallies: list[Tally], file: Path) -> int:
    rows = [
        ["rubric", "judged", "unparsed", "failed", "left", "coverage", "repaired", "known before", "no judge needed"]
    ]
    for one in tallies:
        share = "-" if one.coverage is None else f"{100 * one.coverage:.1f} %"
        counts = (one.judged, one.unparsed, one.errors, one.left)
        rows.append([one.rubric, *map(str, counts), share, str(one.repaired), str(one.hits), str(one.spared.total())])
    say(table(rows, right=range(1, 9)))
    for one in tallies:
        for why, count in one.spared.most_common():
            say(f"{one.rubric}: {count} replies without a judge: {why}")
        if one.coverage is not None and one.coverage < options.least_coverage:
            note(f"warning: {one.rubric}: only {100 * one.coverage:.1f} % of the replies have a valid judgement")
        if one.reason is not None:
            note(f"{one.rubric}: {one.errors} replies are not judged; the last: {one.reason}")
    say(f"{file}: {len(session.rows)} judgements")
    if session.stopped is not None:
        note(f"stopped: {session.stopped}")
    failed = session.stopped is not None or any(one.errors or one.left for one in tallies)
    if failed:
        say("the same command asks again for what is left")
    return 1 if failed else 0


def _panel(
    options: argparse.Namespace, rubrics: list[Judging], ground: Ground, earlier: list[Judgement], file: Path
) -> int:
    from onlooker.judge.panel import join_panel

    rows: list[dict[str, Any]] = []
    for judging in rubrics:
        if not options.rubric and not any(row.rubric == judging.rubric.name for row in earlier):
            continue
        joined = join_panel(earlier, judging.rubric, ground.items, options.panel, options.member)
        rows += [row.model_dump(mode="json") for row in joined]
        valid = sum(row.status == "ok" for row in joined)
        say(f"{judging.rubric.name}: {valid} of {len(joined)} replies have a judgement of the panel ({options.panel})")
    _write(file, rows)
    say(f"{file}: score it with --judge panel:{options.panel}")
    return 0


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    import json

    from onlooker.judge.session import joined_rows
    from onlooker.records.jsonl import write_text
    from onlooker.records.record import escape_separators

    lines = [escape_separators(json.dumps(row, ensure_ascii=False)) for row in joined_rows(file, rows)]
    write_text(file, "".join(f"{line}\n" for line in lines))


def _refuse_none(options: argparse.Namespace, runs: list[Run]) -> None:
    from onlooker.errors import InputError

    missing = sorted(set(options.condition) - {run.condition for run in runs})
    if missing or not runs:
        raise InputError(
            "no answers under this condition" if missing else "no answers to judge",
            where=str(options.run_dir),
            value=missing[0] if missing else "predictions.jsonl",
            remedy="onlooker eval asks for them",
        )


def _bundle_of(run_dir: Path, named: Path | None) -> Bundle:
    from onlooker.records.bundle import open_bundle
    from onlooker.run.plan import PLAN_NAME, read_plan_document

    if named is not None:
        return open_bundle(named)
    document = read_plan_document(run_dir / PLAN_NAME)
    return open_bundle(Path(str(document.get("bundle", {}).get("path", ""))))


def _calibrate(options: argparse.Namespace) -> int:
    import json

    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import keep_apart
    from onlooker.judge.calibrate import PEOPLE, Ask, calibrate
    from onlooker.records.bundle import open_bundle
    from onlooker.records.jsonl import write_text
    from onlooker.records.results import read_judgements

    if options.out is not None:
        keep_apart([options.out], options.judgements, "--out")
    bundle = open_bundle(options.bundle)
    family = load_benchmark(bundle.card.family).scoring
    rows = read_judgements(options.judgements)
    name = options.rubric or _only({row.rubric for row in rows if row.judge.startswith(PEOPLE)})
    rubric = family.rubric(name)
    if rubric is None:
        from onlooker.errors import InputError

        there = ", ".join(one.name for one in family.rubrics) or "none"
        raise InputError(f"{family.name} has no such rubric", where="--rubric", value=name, remedy=f"there is {there}")
    items, episodes = bundle.load_items(), bundle.load_episodes()
    _refuse_strangers(rows, items)
    ask = Ask(rubric, options.by, options.draws, options.seed)
    found = calibrate(rows, ask, items, episodes)
    for judge, one in found["judges"].items():
        say(f"{judge} against {len(found['people'])} people, {one['replies']} replies, rubric {rubric.name}")
        _say_dimensions(one["dimensions"])
        for by, strata in one.get("by", {}).items():
            for stratum, part in strata.items():
                say(f"\n{judge}, {by} {stratum}: {part['replies']} replies")
                _say_dimensions(part["dimensions"])
    for line in found["notes"]:
        note(line)
    if options.out is not None:
        settings = {"draws": options.draws, "seed": options.seed, "level": 0.95}
        write_text(options.out, json.dumps({**found, "settings": settings}, indent=2, ensure_ascii=False) + "\n")
    return 0


def _say_dimensions(dimensions: dict[str, Any]) -> None:
    rows = [["dimension", "n", "rho (mean)", "95 %", "rho (each)", "people", "difference", "95 %", "exact"]]
    for name, one in dimensions.items():
        mean, gap = one["people_mean"], one["difference"]
        each, between, same = (one.get(key) for key in ("individual", "inter_rater", "exact"))
        rows.append(
            [
                name,
                str(mean["n"]),
                _shown(mean["value"]),
                _ends(mean),
                _shown(each["mean"]) if each else "",
                _shown(between["mean"]) if between else "",
                _shown(gap["value"]),
                _ends(gap),
                _shown(same["value"]) if same else "",
            ]
        )
    say(table(rows, right=range(1, 9)))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ends(one: dict[str, Any]) -> str:
    return "-" if one["low"] is None else f"[{one['low']:.3f}, {one['high']:.3f}]"


def _only(rubrics: set[str]) -> str:
    from onlooker.errors import InputError

    if len(rubrics) != 1:
        raise InputError(
            "people graded under several rubrics" if rubrics else "no judgements by people",
            where="--judgements",
            value=sorted(rubrics),
            remedy="name one with --rubric" if rubrics else "rows whose judge begins with human, such as human:r1",
        )
    return next(iter(rubrics))


def _refuse_strangers(rows: list[Judgement], items: Any) -> None:
    from onlooker.errors import InputError

    for row in rows:
        if row.item not in items:
            raise InputError(
                "a judgement of an item that the bundle does not have", where="--judgements", value=row.item
            )
