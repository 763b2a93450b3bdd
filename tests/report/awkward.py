"""A report that strains the layout: long names, empty labels, turned text, calls that were never made."""

from __future__ import annotations

from onlooker.report.content import (
    AnswerView,
    BundleCard,
    Failure,
    FamilyCard,
    ItemView,
    MetricGroup,
    OptionView,
    ReportContent,
    RunRow,
    Section,
)

MODELS = tuple(f"scripted:Qwen3-VL-235B-A22B-Instruct-v{k}.jsonl" for k in (1, 2, 3))
CONDITIONS = ("origin", "no_audio", "cot", "text_only")
LONG = "L" * 300
TURNED = "مرحبا \u202eevil\u202c \u2067שלום\u2069"
RELATIONS = ("friends", "", LONG, TURNED, "a\x00b\u2067c")
LONG_NOTE = "m1, origin: draws of 10000 left out because undefined there: " + ", ".join(
    f"accuracy.relation.r{k} {k}" for k in range(30)
)


def answers(place: int) -> tuple[AnswerView, ...]:
    """A reply under each condition; the fourth item was never asked about, the fifth call failed."""
    made = []
    for model in MODELS:
        for condition in CONDITIONS:
            if place == 3:
                made.append(
                    AnswerView(
                        model,
                        condition,
                        None,
                        "error",
                        credit=0.0,
                        raw="",
                        status="error",
                        latency_s=0.01,
                        error="clip.mp4: no such file",
                    )
                )
            elif place == 4:
                made.append(
                    AnswerView(
                        model,
                        condition,
                        None,
                        "error",
                        raw="",
                        status="error",
                        latency_s=2.5,
                        error="HTTP 503",
                        prompt="Which?",
                    )
                )
            else:
                made.append(
                    AnswerView(
                        model,
                        condition,
                        None,
                        "scored",
                        credit=1.0,
                        parsed=("A",),
                        raw=f"Answer: A {TURNED}",
                        status="ok",
                        latency_s=0.5,
                        prompt="Which? asked secretly",
                    )
                )
    return tuple(made)


def item(place: int) -> ItemView:
    """One item a relation; the first question has three lines."""
    return ItemView(
        item_id=f"item-{place}",
        episode_id="e",
        question="First line\nsecond line\nthird line" if place == 0 else f"{TURNED} question number {place}?",
        options=(OptionView("A", f"option {TURNED}"), OptionView("B", ""), OptionView("C", " ")),
        labels={"relation": RELATIONS[place]},
        reference=("A",),
        answers=answers(place),
    )


def number(value: float, n: int) -> dict[str, object]:
    """A metric with the widest interval there is."""
    return {"value": value, "low": 0.281, "high": 1.0, "n": n}


def awkward_content() -> ReportContent:
    """The report: five items, three models whose names differ in one character, four conditions."""
    metrics = {"accuracy": number(0.6, 5)} | {f"accuracy.relation.{r}": number(0.6, 38) for r in RELATIONS}
    metrics["other.thing"] = number(0.6, 5)
    coverage = {"items": 5, "seeds": 1, "scored": 3, "error": 2}
    baseline = {name: found | {"n": 5} for name, found in metrics.items() if name.startswith("accuracy")}
    baseline["accuracy.relation.friends"] = number(0.25, 38)
    section = Section(
        bundle=BundleCard("awkward", "sivbench", "1", "none", TURNED, "0" * 64, 5, 1),
        family=FamilyCard("SIV-Bench", "Reading of scenes.", "Kong et al., 2025."),
        scores={
            "settings": {"draws": 100, "seed": 1, "level": 0.95},
            "models": {m: {c: {"coverage": coverage, "metrics": metrics} for c in CONDITIONS} for m in MODELS},
        },
        main_metric="accuracy",
        question_only="text_only",
        baselines={"chance": baseline, "majority": baseline},
        groups=(MetricGroup("By relation", "accuracy.relation."),),
        runs=tuple(
            RunRow(m, c, (0,), "2026-11-30 12:00 UTC", 5, served_models=(LONG,)) for m in MODELS for c in CONDITIONS
        ),
        notes=("A short note.", LONG_NOTE),
        failures=(
            Failure("e1", "origin", "MediaError", "no such file"),
            Failure("e1", "origin, cot", "MediaError", "no such file"),
            Failure("e1", "no_audio", "MediaError", "no such file"),
            Failure("e1", "cot", "InputError", "no transcript"),
            Failure("e2", "cot", "MediaError", "no such file"),
        ),
        items=tuple(item(place) for place in range(len(RELATIONS))),
    )
    return ReportContent("Awkward", "2026-11-30 12:31 UTC", "0.1.0", (section,))
