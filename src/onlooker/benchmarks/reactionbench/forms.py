"""What people are asked in ReactionBench: intensity, rationales, grades of explanations, a blind look at nominations
(paper, section 3, appendices A.2 and B.2 to B.8).
"""

from __future__ import annotations

from typing import Final

from onlooker.benchmarks.reactionbench.scoring import RATIONALE
from onlooker.benchmarks.reactionbench.taxonomy import INTENSITY_RUBRIC
from onlooker.protocol.form import Choice, Form, Layout, OptOut, Scale, View, Words

ANCHORS: Final = (
    Choice(0, "Calm", "nothing to be seen or heard"),
    Choice(1, "Mild", "a slight smile, a nod, a small movement of the head"),
    Choice(2, "Clear", "a laugh or call that can be heard, or brows up and leaning in"),
    Choice(3, "Peak", "a scream, a jump, hands to the face, starting back"),
)
"""The scale of intensity, relative to the same viewer (paper, table 5, in our words)."""

INTENSITY: Final = Form(
    name="intensity",
    title="How strong is the reaction?",
    says="Watch the whole clip once. Then play every marked moment in full and say how strong the reaction is, against "
    "how this very person is otherwise in the clip. Every moment needs a number, also where nothing happens.",
    tasks=("intensity",),
    fields=(Scale("intensity", "How strong is the reaction?", rubric=INTENSITY_RUBRIC, per="moment", anchors=ANCHORS),),
    layout=Layout("player", (View("reaction"),)),
    shows=("moments",),
    playback="moments",
)

WHY: Final = Form(
    name="why",
    title="Why did this person react?",
    says="On the left is what was on, with its sound; on the right, muted, the person who watched it, in step. Write "
    "one sentence that names the concrete thing in what was on: an event, an action, a line, a sound. Do not describe "
    "the face.",
    tasks=("rationale",),
    fields=(Words("rationale", "Why did this person react? One sentence.", rubric="rationale", most_chars=400),),
    layout=Layout(
        "side_by_side",
        (
            View("stimulus", "What was on", extent="window"),
            View("reaction", "The person", has_sound=False, extent="window"),
        ),
    ),
    shows=("window",),
    playback="window",
    opt_outs=(
        OptOut("unfamiliar", "I am not familiar with this content"),
        OptOut("unclear", "What was on is unclear, or not in step"),
    ),
)

GRADE: Final = Form(
    name="grade",
    title="Grade one explanation",
    says="People wrote why the person reacted (the references). Grade one further explanation against them. You do not "
    "know who wrote it, and should not guess. It need agree with one of the references only.",
    tasks=("rationale",),
    fields=(
        Scale(
            "cue",
            "Does it name the cue?",
            rubric="cue",
            anchors=(
                Choice(0, "No", "another cue, or none"),
                Choice(1, "Nearly", "something near it, or in general terms only"),
                Choice(2, "Yes", "the concrete thing that a reference names"),
            ),
        ),
        Scale(
            "link",
            "Does it say how the cue brings about this reaction?",
            rubric="link",
            anchors=(
                Choice(0, "No", "no link, or a wrong one"),
                Choice(1, "Partly", "cue and reaction side by side, no reason"),
                Choice(2, "Yes", "the reason is there"),
            ),
        ),
        Scale(
            "faithful",
            "Does it keep to the references?",
            rubric="faithful",
            anchors=(Choice(0, "No", "something contradicts them"), Choice(1, "Yes", "nothing contradicts them")),
        ),
    ),
    layout=Layout(
        "side_by_side",
        (View("stimulus", "What was on", extent="window"), View("reaction", "The person", extent="window")),
    ),
    shows=("window",),
    private=("references", "reply"),
    asks_about="reply",
    records="judgements",
    rubric=RATIONALE.name,
)

PILOT: Final = Form(
    name="pilot",
    title="How strong is this reaction?",
    says="Play the window in full, and say how strong the reaction in it is. Who proposed the window you cannot see.",
    tasks=("rationale",),
    fields=(Scale("strength", "How strong is the reaction?", rubric="pilot", anchors=ANCHORS),),
    layout=Layout("player", (View("reaction", extent="window"),)),
    shows=("window",),
    playback="window",
)

FORMS: Final[tuple[Form, ...]] = (INTENSITY, WHY, GRADE, PILOT)
