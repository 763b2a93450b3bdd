"""A made-up report with everything that is awkward: markup in texts, long replies, scripts of all directions, holes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping

from onlooker.report.content import (
    AnswerView,
    BundleCard,
    ConditionRow,
    Failure,
    FamilyCard,
    FrameView,
    ItemView,
    MetricGroup,
    OptionView,
    Outcome,
    ReportContent,
    RunRow,
    Section,
)

MARKUP = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"
MODELS = ("embedded", "openai:gpt-5.5")
CONDITIONS = ("origin", "no_audio", "text_only")
QUESTIONS = (
    "What is the most likely relation between the two people at the table?",
    "Why does the woman in the red coat look away after the man laughs?",
    "Which of these would have happened had the boy not apologised?",
    "她为什么在听到这个消息之后停下来？ What does her silence express?",
    "لماذا ابتسمت المرأة بعد أن انتهى الرجل من الكلام؟",
    f"Is this shown as text: {MARKUP}?",
    "How does the coach feel 😀 when the player drops the ball?\n\n1. They quarrel at first.\n2. The team watches.",
)
OPTIONS = (
    "They are siblings",
    "They are colleagues",
    "A teacher and a student",
    "同学 (classmates)",
    "Strangers & <b>none</b>",
)
SUBTASKS = {"SSU": ("AR", "FER"), "SSR": ("RI", "EI", "II"), "SDP": ("CP",)}
LONG_TRANSCRIPT = "\n".join(
    f"[{t:.2f} s] Speaker {1 + t % 2}: line {t}, I told you that I would come back for it." for t in range(0, 200, 2)
)


def jpeg(seed: int, side: tuple[int, int] = (640, 360)) -> bytes:
    """A picture that differs by seed: a gradient, a disc that moves, the seed written on it."""
    from PIL import Image, ImageDraw

    picture = Image.linear_gradient("L").resize(side).convert("RGB")
    tint = Image.new("RGB", side, ((seed * 37) % 200, (seed * 91) % 200, (seed * 53) % 200))
    picture = Image.blend(picture, tint, 0.6)
    draw = ImageDraw.Draw(picture)
    x = side[0] * (seed % 64) // 64
    draw.ellipse((x, 120, x + 110, 230), fill=(240, 220, 190))
    draw.text((20, 20), f"frame {seed}", fill=(255, 255, 255), font_size=48)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=80)
    return out.getvalue()


def frames(episode: int, count: int = 64) -> tuple[FrameView, ...]:
    """Frames of a clip with one missing and one substituted."""
    made = []
    for place in range(count):
        time_s = place * 31.5 / count
        if place == 23:
            made.append(FrameView(None, time_s, None, "missing"))
        else:
            status = "substituted" if place == 46 else "ok"
            made.append(FrameView(jpeg(episode * 64 + place), time_s, time_s - (0.03 if place % 3 else 0), status))
    return tuple(made)


def pick(*names: object, of: int) -> int:
    """A number 0..of-1 that depends on the names alone."""
    return int.from_bytes(hashlib.sha256(repr(names).encode()).digest()[:4]) % of


def answer(item: int, model: str, condition: str, right: str, shown: tuple[FrameView, ...]) -> AnswerView:
    """One answer; every awkward outcome occurs among thirty items."""
    draw = pick(item, model, condition, of=100)
    outcome: Outcome = "scored"
    raw: str | None = f"The answer is ({right})."
    parsed: tuple[str, ...] | None = (right,)
    error = None
    how: str | None = "explicit verdict"
    if draw >= 45:
        wrong = "ABCDE"[("ABCDE".index(right) + 1 + draw % 4) % 5]
        raw, parsed = f"I think that the clip shows it plainly. The answer is ({wrong}).", (wrong,)
    if draw >= 86 or item == 5:
        outcome, raw, parsed, how = (
            "unparsed",
            f"I would rather not choose between them. {MARKUP}",
            None,
            "no verdict found",
        )
    if draw >= 92:
        outcome, raw, parsed, how = "error", None, None, None
        error = "HTTP 503 from the server <busy>, 4 attempts"
    if draw >= 95:
        outcome, raw, parsed, how, error = "missing", None, None, None, None
    if item == 3 and model == MODELS[1]:
        raw = "好的。" + "Let me think step by step about the posture of both people. " * 700 + (raw or "")
    if item == 4:
        raw = "الجواب هو (" + right + ") لأن الرجل انتهى من الكلام.\x00\ud83d" if raw else raw
    prompt = None
    text_only = condition == "text_only"
    if outcome != "missing":
        heard = "" if text_only else f"\n\nTranscript:\n{LONG_TRANSCRIPT}" if item % 3 == 1 else "\n\nTranscript:\nHi."
        count = 0 if text_only else len(shown)
        prompt = f"You see {count} frames of a clip.{heard}\n\nQuestion {item}\nAnswer with one letter."
    weights = [1 + pick(item, model, condition, k, of=9) for k in range(5)]
    return AnswerView(
        model=model,
        condition=condition,
        seed=0,
        outcome=outcome,
        credit=float(parsed == (right,)) if outcome == "scored" else 0.0,
        parsed=parsed if outcome == "scored" else None,
        how_parsed=how,
        raw=raw,
        status=None if outcome == "missing" else "error" if outcome == "error" else "ok",
        latency_s=None if outcome == "missing" else 0.4 + draw / 50,
        error=error,
        prompt=prompt,
        details={}
        if model != "embedded" or outcome == "missing"
        else {
            "option_probabilities": {o: w / sum(weights) for o, w in zip("ABCDE", weights, strict=True)},
            "observations": "[0.00 s] two faces, one smiling (0.91)\n[2.46 s] text on screen: <b>GO</b>",
        },
        frames=() if text_only or outcome == "missing" else shown,
        transcript=None if text_only or outcome == "missing" else LONG_TRANSCRIPT if item % 3 == 1 else "Hi.",
        sound=(0.0, 31.5) if condition == "origin" and model == MODELS[1] and outcome != "missing" else None,
    )


def items() -> tuple[ItemView, ...]:
    """Thirty items on ten episodes."""
    strips = [frames(episode, 64 if episode < 2 else 12) for episode in range(10)]
    made = []
    for place in range(30):
        right = "ABCDE"[pick("gold", place, of=5)]
        dimension = ("SSU", "SSR", "SDP")[place % 3]
        subtasks = SUBTASKS[dimension]
        made.append(
            ItemView(
                item_id=f"siv {place:03d}/é" if place == 7 else f"siv-{place:03d}",
                episode_id=f"clip <{place // 3}> 视频",
                question=QUESTIONS[place % len(QUESTIONS)],
                options=tuple(OptionView(i, t) for i, t in zip("ABCDE", OPTIONS, strict=True)),
                labels={
                    "dimension": dimension,
                    "subtask": subtasks[place % len(subtasks)],
                    "relation": ("couple", "friends"),
                },
                reference=(right,),
                explanation="She turns before he speaks."
                if place % 2
                else {"key event": "the turn", "mechanism": MARKUP},
                cues=("gaze", "a pause of 1.2 s"),
                answers=tuple(answer(place, m, c, right, strips[place // 3]) for m in MODELS for c in CONDITIONS),
            )
        )
    return tuple(made)


def metric(credits_: list[float]) -> dict[str, object]:
    """A mean with an interval that is good enough for a picture; undefined where there is too little."""
    n = len(credits_)
    if not n:
        return {"value": None, "low": None, "high": None, "n": 0}
    value = sum(credits_) / n
    half = 1.96 * (value * (1 - value) / n) ** 0.5
    if n < 2:
        return {"value": value, "low": None, "high": None, "n": n}
    return {"value": value, "low": max(0.0, value - half), "high": min(1.0, value + half), "n": n}


def scores_of(made: tuple[ItemView, ...]) -> Mapping[str, object]:
    """scores.json of the made-up answers."""
    models: dict[str, dict[str, object]] = {}
    for model in MODELS:
        for condition in CONDITIONS:
            rows = [(i, a) for i in made for a in i.answers if (a.model, a.condition) == (model, condition)]
            metrics = {"accuracy": metric([a.credit or 0.0 for _, a in rows])}
            for label in ("dimension", "subtask"):
                values = dict.fromkeys(str(i.labels[label]) for i, _ in rows)
                for value in values:
                    metrics[f"accuracy.{label}.{value}"] = metric(
                        [a.credit or 0.0 for i, a in rows if i.labels[label] == value]
                    )
            metrics["accuracy.subtask.FP"] = metric([])
            metrics["accuracy.subtask.HAI"] = metric([1.0])
            metrics["reasoning.overall"] = {"value": 3.4, "low": 3.1, "high": 3.8, "n": 21}
            counts = {"items": len(rows), "seeds": 1}
            for name in ("scored", "unparsed", "empty", "truncated", "refused", "error", "missing", "unjudged"):
                counts[name] = sum(a.outcome == name for _, a in rows)
            models.setdefault(model, {})[condition] = {"coverage": counts, "metrics": metrics}
    return {
        "bundle": {"name": "siv", "items": len(made)},
        "settings": {"draws": 10000, "seed": 7, "level": 0.95},
        "models": models,
    }


def flat(value: float, made: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """A baseline of one value for every metric of the first series that is an accuracy."""
    series = made["models"]
    assert isinstance(series, dict)
    metrics = series[MODELS[0]][CONDITIONS[0]]["metrics"]
    return {
        name: {"value": value, "low": None, "high": None, "n": found["n"]}
        for name, found in metrics.items()
        if name.startswith("accuracy")
    }


def section() -> Section:
    """The full section."""
    made = items()
    scores = scores_of(made)
    digest = hashlib.sha256(b"bundle").hexdigest()
    return Section(
        bundle=BundleCard(
            name="siv-sample",
            family="sivbench",
            version="2026.11",
            license="CC BY 4.0",
            description=f"Thirty questions on ten clips of people at a table. {MARKUP}",
            sha256=digest,
            items=30,
            episodes=10,
        ),
        family=FamilyCard(
            title="SIV-Bench",
            claims="Whether a model reads a social scene, the state of mind of the people in it and what would follow.",
            citation="Kong et al., 2025.",
        ),
        scores=scores,
        baselines={"chance": flat(0.2, scores), "majority": flat(0.267, scores)},
        question_only="text_only",
        main_metric="accuracy",
        groups=(MetricGroup("By dimension", "accuracy.dimension."), MetricGroup("By subtask", "accuracy.subtask.")),
        conditions=(
            ConditionRow(
                "origin", "the clip as published: frames, sound, transcript", "uniform:64", True, True, digest, 512
            ),
            ConditionRow("no_audio", "the frames alone", "uniform:64", False, True, digest[::-1], 512),
            ConditionRow("text_only", "the words of the question alone", None, False, False, digest[3:], 64),
        ),
        runs=tuple(
            RunRow(
                model=model,
                condition=condition,
                seeds=(0,),
                started="2026-11-30 12:00 UTC",
                calls=30,
                about="a text model fed by detectors, not a vision model" if model == "embedded" else "",
                fingerprint={"name": model, "sha256": digest},
                seconds=312.4,
                input_tokens=123456,
                output_tokens=2345 if model == "embedded" else None,
                cost_usd=0.0 if model == "embedded" else None,
                served_models=("gpt-5.5-2026-10-01",) if model != "embedded" else ("smollm2-135m",),
                versions={"onlooker": "0.1.0", "av": "18.1"},
            )
            for model in MODELS
            for condition in CONDITIONS
        ),
        notes=(
            "Unparsed, empty and missing replies to choice questions count as wrong.",
            "Item siv-011 has no sound track; it was sent without sound.",
        ),
        failures=(
            Failure("clip <3>.mp4", "origin", "frame missing", "frame at 11.32 s could not be decoded"),
            Failure("视频 测试 😀 #1.mp4", "origin, no_audio", "no stream", f"no sound track {MARKUP}"),
        ),
        items=made,
    )


def empty_section() -> Section:
    """A bundle on which nothing was run."""
    return Section(
        bundle=BundleCard("mmh-empty", "mmhbench", "0", "unknown", "Nothing here yet.", "0" * 64, 0, 0),
        family=FamilyCard("MMHBench", "Reading of mental health in long conversations.", "Anon., 2026."),
        scores={"models": {}, "settings": {}},
        main_metric="accuracy",
        question_only="question_only",
    )


def sample_content() -> ReportContent:
    """The whole sample."""
    return ReportContent(
        title="Sample report: social understanding, 视频 & <others>",
        made_at="2026-11-30 12:31 UTC",
        onlooker_version="0.1.0",
        sections=(section(), empty_section()),
    )
