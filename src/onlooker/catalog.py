"""Finds benchmarks: those in this package and those that other installed packages offer by entry point.

A package offers one with::

    [project.entry-points."onlooker.benchmarks"]
    mybench = "my_package.protocol:BENCHMARK"
"""

from __future__ import annotations

from importlib.metadata import entry_points

from onlooker.errors import InputError
from onlooker.protocol.benchmark import Benchmark

GROUP = "onlooker.benchmarks"


def families() -> tuple[str, ...]:
    """The names of all benchmarks that are installed, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def load_benchmark(family: str) -> Benchmark:
    """The benchmark of that name. Raises ``InputError`` where none or several offer it, or one that cannot be used."""
    points = [point for point in entry_points(group=GROUP) if point.name == family]
    if not points:
        raise InputError(
            "no installed benchmark of this family", value=family, remedy=f"one of {', '.join(families())}"
        )
    if len({point.value for point in points}) > 1:
        offers = ", ".join(sorted(point.value for point in points))
        raise InputError(f"several packages offer the family {family}: {offers}", remedy="uninstall all but one")
    try:
        benchmark = points[0].load()
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"the benchmark {family} is installed, but cannot be loaded ({error})",
            where=points[0].value,
            remedy="reinstall or mend the package that offers it",
        ) from error
    if not isinstance(benchmark, Benchmark) or benchmark.family != family:
        raise InputError(
            f"{points[0].value} is offered as the benchmark {family}, but is not one",
            value=benchmark,
            remedy=f"let it name an onlooker.protocol.benchmark.Benchmark whose family is {family!r}",
        )
    return benchmark
