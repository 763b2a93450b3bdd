"""Whether the reasoning of right answers is more like that of people than the reasoning of wrong ones.

Similarity: the cosine of the TF-IDF vectors of the reply and of the reference's explanation, over the vocabulary of all
replies and explanations looked at; of sentence embeddings where an encoder is passed to :func:`reasoning_alignment`.
Right is full credit. Gap: mean of right less mean of wrong; Mann and Whitney's U, two-sided, takes the replies as
independent (as the paper does), the gap's interval resamples episodes. Paper: appendix D.3, figure 24, table 10.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.sivbench.analyses.explanations import Pair, explained
from onlooker.benchmarks.sivbench.analyses.vectors import Encoder, cosine, encoded, vocabulary_of
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name
from onlooker.stats.two_samples import mann_whitney

HEADS = ("run", "right", "mean", "wrong", "mean", "gap", "low", "high", "U", "p")


def reasoning_alignment(material: Material, encode: Encoder | None = None) -> Findings:
    """Similarity of every run's reasoning to that of people, by the answer's being right."""
    runs = chosen_runs(material)
    found = explained(material, runs)
    everything = list(
        dict.fromkeys(text for pairs, _ in found.values() for p in pairs for text in (p.model_text, p.human_text))
    )
    alike = _tfidf(everything) if encode is None else _embedding(everything, encode)
    sheet = Sheet(material, dict.fromkeys(p.item for pairs, _ in found.values() for p in pairs))
    values: dict[str, dict[bool, list[float]]] = {}
    notes = [f"similarity is that of {'TF-IDF vectors' if encode is None else 'embeddings'}"]
    for run in runs:
        pairs, without = found[run.model, run.condition]
        name = run_name(run)
        if without:
            notes.append(f"{name}: {without} replies left out that are empty or have no human explanation")
        likeness = [(p, alike(p)) for p in pairs]
        if wordless := sum(value is None for _, value in likeness):
            notes.append(f"{name}: {wordless} replies left out that have no word to compare")
        means = {}
        values[name] = {}
        for right in (True, False):
            side = [(p.item, value) for p, value in likeness if p.right is right and value is not None]
            values[name][right] = [value for _, value in side]
            means[right] = sheet.columns([item for item, _ in side]).mean("", values[name][right])
            sheet.add((name, "right" if right else "wrong"), means[right])
        sheet.subtract((name, "gap"), means[True], means[False])
    solved = sheet.solve()
    notes += sheet.notes(solved)
    rows: list[tuple[Cell, ...]] = []
    data: dict[str, Any] = {}
    for name, sides in values.items():
        test = mann_whitney(sides[True], sides[False])
        of_right, of_wrong, gap = solved[name, "right"], solved[name, "wrong"], solved[name, "gap"]
        rows.append((name, of_right.n, of_right.value, of_wrong.n, of_wrong.value, *gap.cells, test.value, test.p))
        data[name] = {
            "right": of_right.spell(),
            "wrong": of_wrong.spell(),
            "gap": gap.spell(),
            "mann_whitney": {"u": test.value, "p": test.p, "superiority": test.superiority},
        }
        if test.reason is not None:
            notes.append(f"{name}: U and p {test.reason}")
    series = tuple(
        Series(f"{name}, {'right' if right else 'wrong'}", tuple(sides[right]))
        for name, sides in values.items()
        for right in (True, False)
    )
    figure = Figure("boxes", "Similarity of reasoning to that of people", (), series, "cosine")
    return Findings(data, (Table("Similarity to people by correctness", HEADS, tuple(rows)),), (figure,), tuple(notes))


def _tfidf(texts: list[str]) -> Any:
    vocabulary = vocabulary_of(texts)
    vectors = {text: vocabulary.vector(text) for text in texts}

    def alike(pair: Pair) -> float | None:
        return cosine(vectors[pair.model_text], vectors[pair.human_text])

    return alike


def _embedding(texts: list[str], encode: Encoder) -> Any:
    rows = dict(zip(texts, encoded(texts, encode), strict=True))

    def alike(pair: Pair) -> float | None:
        return float(rows[pair.model_text] @ rows[pair.human_text])

    return alike


ANALYSIS = Analysis(
    name="alignment",
    says="similarity of models' reasoning to people's explanations, for right and wrong answers",
    source="appendix D.3, figure 24, table 10",
    run=reasoning_alignment,
    options=RUN_OPTIONS,
)
