"""Frames chosen by their likeness to the question against frames evenly spread.

Accuracies and the paired gain (selected less uniform) as in :mod:`onlooker.benchmarks.mmhbench.analyses.gains`, overall
and by perspective. The two conditions must differ in the choice of frames alone: ``bolt`` and ``both`` do. Paper:
section 4.4, table 4.
"""

from __future__ import annotations

from onlooker.benchmarks.mmhbench.analyses.gains import compare_settings
from onlooker.benchmarks.mmhbench.analyses.groups import SCOPES
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Figure, Findings, GradedRun, Material, Series
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs


def keyframe_selection(material: Material) -> Findings:
    """Accuracy of every model under both ways of choosing frames, and the gain."""
    names = {
        "selected": material.options.get("selected", "bolt"),
        "uniform": material.options.get("uniform", "both"),
    }
    settings: dict[str, dict[str, GradedRun]] = {}
    for run in chosen_runs(material):
        for setting, condition in names.items():
            if run.condition == condition:
                settings.setdefault(run.model, {})[setting] = run
    paired = {model: by_name for model, by_name in settings.items() if len(by_name) == 2}
    if not paired:
        raise InputError(
            f"no model has predictions under {names['selected']} and under {names['uniform']}",
            remedy="name predictions of both, or other conditions with the options selected and uniform",
        )
    found = compare_settings(material, paired, (("selected", "uniform"),))
    alone = [f"{model}: left out, one of the two conditions only" for model in settings if model not in paired]
    figure = Figure(
        "paired-delta",
        f"Gain of {names['selected']} over {names['uniform']}",
        SCOPES,
        tuple(
            Series(
                model,
                *(
                    tuple(getattr(found.gain[model, "selected - uniform", scope], end) for scope in SCOPES)
                    for end in ("value", "low", "high")
                ),
            )
            for model in paired
        ),
        "difference of accuracy",
        percent=True,
    )
    data = {"conditions": names, "models": found.spell()}
    return Findings(data, found.tables("choice of frames"), (figure,), (*alone, *found.notes))


ANALYSIS = Analysis(
    name="keyframes",
    says="frames chosen by likeness to the question against frames evenly spread",
    source="section 4.4, table 4",
    run=keyframe_selection,
    options={
        **RUN_OPTIONS,
        "selected": "the condition with chosen frames; bolt where absent",
        "uniform": "the condition that differs in the choice of frames alone; both where absent",
    },
)
