"""What subtitles, on-screen text and sound are worth: each version of the clips less the original one, paired.

Difference, intervals and tests as in :mod:`onlooker.benchmarks.sivbench.analyses.pairs`, for every model and for the
mean of the models, overall and by dimension. Paper: section 3.3, table 3 (its "relative" changes read as differences in
points); appendix C.5.
"""

from __future__ import annotations

from onlooker.benchmarks.sivbench.analyses.groups import SCOPES
from onlooker.benchmarks.sivbench.analyses.pairs import EVERYONE, compare_conditions
from onlooker.protocol.analysis import Analysis, Figure, Findings, Material, Series
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs, listed

AGAINST = ("with_subtitles", "without_text", "no_audio")


def media_deltas(material: Material) -> Findings:
    """The change of accuracy under each version of the medium."""
    base = material.options.get("base", "origin")
    others = listed(material.options.get("against")) or AGAINST
    found = compare_conditions(material, chosen_runs(material), base, others, everyone=True)
    figures = []
    models = list(dict.fromkeys(change.model for change in found.changes))
    for model in [EVERYONE] if EVERYONE in models else models:
        series = [
            Series(
                condition,
                tuple(c.difference.value for c in changes),
                tuple(c.difference.low for c in changes),
                tuple(c.difference.high for c in changes),
            )
            for condition in others
            if (changes := found.of(condition, model))
        ]
        title = f"Change of accuracy against {base}, {model}"
        figures.append(Figure("paired-delta", title, SCOPES, tuple(series), "difference of accuracy", percent=True))
    data = {"base": base, "changes": [change.spell() for change in found.changes]}
    return Findings(data, (found.table(f"Accuracy against {base}"),), tuple(figures), tuple(found.notes))


ANALYSIS = Analysis(
    name="media",
    says="what subtitles, on-screen text and sound are worth, by dimension",
    source="section 3.3, table 3; appendix C.5",
    run=media_deltas,
    options={
        **RUN_OPTIONS,
        "base": "the condition that is subtracted; origin where absent",
        "against": f"the conditions compared with it, comma-separated; {', '.join(AGAINST)} where absent",
    },
)
