"""What the picture and the words spoken are worth: question, video, transcript, and both.

Accuracies and paired gains as in :mod:`onlooker.benchmarks.mmhbench.analyses.gains`. ``frames_64`` and ``frames_0``
stand for ``video_only`` and ``question_only``, whose settings they declare to share, where a model has no run of that
name. Paper: section 4.4, figure 4.
"""

from __future__ import annotations

from onlooker.benchmarks.mmhbench.analyses.gains import compare_settings
from onlooker.benchmarks.mmhbench.analyses.groups import standing_for
from onlooker.benchmarks.mmhbench.conditions import CONDITIONS
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Figure, Findings, GradedRun, Material, Series
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs

SETTINGS = {
    "question": "question_only",
    "video": "video_only",
    "transcript": "transcript_only",
    "both": "both",
}
PAIRS = (
    ("video", "question"),
    ("transcript", "question"),
    ("both", "question"),
    ("both", "transcript"),
    ("both", "video"),
    ("transcript", "video"),
)
CHANCE = 0.25


def modality_ablation(material: Material) -> Findings:
    """Accuracy of every model under every setting that it has, and the gains between them."""
    runs = chosen_runs(material)
    settings: dict[str, dict[str, GradedRun]] = {}
    notes = []
    for model in dict.fromkeys(run.model for run in runs):
        for setting, condition in SETTINGS.items():
            equals = [c.name for c in CONDITIONS if c.same_as == condition]
            run = standing_for(runs, model, (condition, *equals))
            if run is None:
                continue
            settings.setdefault(model, {})[setting] = run
            if run.condition != condition:
                notes.append(f"{model}: {run.condition} stands for {condition}, the same setting")
    if not any(len(by_name) > 1 for by_name in settings.values()):
        raise InputError(
            "no model has predictions under two of the settings",
            value=sorted({run.condition for run in runs}),
            remedy=f"run conditions {', '.join(SETTINGS.values())}",
        )
    found = compare_settings(material, settings, PAIRS)
    figure = Figure(
        "bars",
        "Accuracy by what the model is given",
        tuple(SETTINGS),
        tuple(
            Series(
                model,
                *(
                    tuple(
                        getattr(found.accuracy[model, name, "overall"], end) if name in by_name else None
                        for name in SETTINGS
                    )
                    for end in ("value", "low", "high")
                ),
            )
            for model, by_name in settings.items()
        ),
        "accuracy",
        percent=True,
        chance=CHANCE,
    )
    return Findings(found.spell(), found.tables("setting"), (figure,), (*notes, *found.notes))


ANALYSIS = Analysis(
    name="modalities",
    says="accuracy with the question, the video, the transcript and both, and the paired gains",
    source="section 4.4, figure 4",
    run=modality_ablation,
    options=RUN_OPTIONS,
)
