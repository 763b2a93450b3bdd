"""Finds benchmarks: those in this package and those that other installed packages offer by entry point.

A package offers one with::

    [project.entry-points."onlooker.benchmarks"]
    mybench = "my_package.protocol:BENCHMARK"

A benchmark is imported when it is asked for, so that one that cannot be used stops nobody who does not use it.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import onlooker
from onlooker.errors import InputError, OnlookerError
from onlooker.protocol.benchmark import Benchmark
from onlooker.records.labels import LabelRules

GROUP = "onlooker.benchmarks"


def families() -> tuple[str, ...]:
    """The names of all benchmarks that are installed, sorted; none of them is loaded.

    Raises ``InputError`` where there are none: this package itself offers some, so it is not installed properly.
    """
    found = tuple(sorted({point.name for point in entry_points(group=GROUP)}))
    if not found:
        raise InputError(
            "onlooker is not installed properly: no benchmark is found, not even its own",
            where=str(Path(onlooker.__file__).parent),
            remedy="install it with pip (pip install -e . in a checkout); a folder on PYTHONPATH alone offers nothing",
        )
    return found


def load_benchmark(family: str) -> Benchmark:
    """The benchmark of that name. Raises ``InputError`` where none or several offer it, or one that cannot be used."""
    there = families()
    points = [point for point in entry_points(group=GROUP) if point.name == family]
    if not points:
        raise InputError("no installed benchmark of this family", value=family, remedy=f"one of {', '.join(there)}")
    if len({point.value for point in points}) > 1:
        offers = ", ".join(sorted(_offer(point) for point in points))
        raise InputError(f"several packages offer the family {family}: {offers}", remedy="uninstall all but one")
    point = points[0]
    try:
        benchmark = point.load()
    except (Exception, SystemExit) as error:
        # Code of others may raise anything when it is imported: all of it means that this benchmark cannot be used.
        what = str(error) if isinstance(error, OnlookerError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"the benchmark {family} is installed, but cannot be loaded ({what})",
            where=_offer(point) + _place(point, error),
            remedy="mend or reinstall the package that offers it",
        ) from error
    if not isinstance(benchmark, Benchmark):
        raise InputError(
            f"what is offered as the benchmark {family} is not one",
            where=_offer(point),
            value=benchmark,
            remedy="let the entry point name an onlooker.protocol.benchmark.Benchmark",
        )
    if benchmark.family != family:
        raise InputError(
            f"what is offered as the benchmark {family} is one of another family",
            where=_offer(point),
            value=benchmark.family,
            remedy=f"let the entry point be called {benchmark.family}, or the family {family}",
        )
    return benchmark


class InstalledLabels(Mapping[str, LabelRules]):
    """{family: what it asks of labels} of all installed benchmarks; each is loaded when its rules are read."""

    def __init__(self) -> None:
        self._families = families()

    def __getitem__(self, family: str) -> LabelRules:
        if family not in self:
            raise KeyError(family)
        return load_benchmark(family).labels

    def __contains__(self, family: object) -> bool:
        return family in self._families

    def __iter__(self) -> Iterator[str]:
        return iter(self._families)

    def __len__(self) -> int:
        return len(self._families)


def _offer(point: EntryPoint) -> str:
    """``package NAME, MODULE:OBJECT``: whom to tell."""
    package = f"package {point.dist.name}, " if point.dist is not None else ""
    return f"{package}{point.value}"


def _place(point: EntryPoint, error: BaseException) -> str:
    """The last line of the offering package that the error came through; empty where it reached none."""
    package = point.module.split(".")[0]
    lines = [
        f", {frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).split(".")[0] == package
    ]
    return lines[-1] if lines else ""
