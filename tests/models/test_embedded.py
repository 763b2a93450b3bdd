"""The real language model on the CPU: what it must be whatever it thinks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from onlooker.errors import ModelError
from onlooker.models.embedded import KIND, LETTERS, WEIGHTS, EmbeddedModel, Prompter
from onlooker.models.llama import Llama
from onlooker.models.request import Image, Options, Reply, Request, Sound, Text

FRUIT = ("a car", "an apple", "a stone", "the sky")


@pytest.fixture(scope="module")
def llama(smollm2: Path) -> Iterator[Llama]:
    loaded = Llama(smollm2 / WEIGHTS["smollm2"], threads=2, max_context_tokens=512)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def model(smollm2: Path) -> Iterator[EmbeddedModel]:
    opened = EmbeddedModel(max_context_tokens=512, threads=2)
    yield opened
    asyncio.run(opened.close())


def choice(texts: Sequence[str], *, select: str = "one", ids: Sequence[str] = LETTERS) -> Request:
    options = Options(tuple(ids[: len(texts)]), tuple(texts), "all" if select == "all" else "one")
    return Request((Text("Which of these is a fruit?\n"), options, Text("\nOne letter.")))


def ask(model: EmbeddedModel, request: Request) -> Reply:
    return asyncio.run(model.ask(request))


def probabilities(reply: Reply) -> dict[str, float]:
    return cast("dict[str, float]", reply.details["option_probabilities"])


def test_the_answer_is_the_most_probable_option_under_its_own_id(model: EmbeddedModel) -> None:
    reply = ask(model, choice(FRUIT, ids=("w", "x", "y", "z")))
    found = probabilities(reply)
    assert list(found) == ["w", "x", "y", "z"]
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
    assert reply.text == f"Answer: {max(found, key=lambda i: found[i])}"
    assert (reply.status, reply.cost_usd, reply.details["rotations"]) == ("ok", 0.0, 4)
    assert reply.details["kind"] == KIND == model.fingerprint["kind"]


def test_turning_the_options_turns_the_probabilities(model: EmbeddedModel) -> None:
    first = probabilities(ask(model, choice(FRUIT)))
    by_text = dict(zip(FRUIT, first.values(), strict=True))
    for shift in (1, 2, 3):
        turned = FRUIT[shift:] + FRUIT[:shift]
        found = probabilities(ask(model, choice(turned)))
        # Not to the last digit: which tokens are computed together moves the rounding of the runtime.
        assert list(found.values()) == pytest.approx([by_text[t] for t in turned], abs=0.01)


def test_a_bias_for_letters_is_there_and_cancels(model: EmbeddedModel, llama: Llama) -> None:
    prompter = Prompter(llama)
    same = Options(("A", "B", "C", "D"), ("perhaps",) * 4)
    request = Request((Text("Which one?\n"), same))
    prompt = [*llama.head, *llama.tokenize("Which one?\n" + same.text), *llama.tail]
    prompt += llama.tokenize("Answer:")
    raw = llama.option_probabilities(prompt, prompter.letters(4))
    assert sum(raw) == pytest.approx(1.0)
    assert max(raw) - min(raw) > 0.05
    reply = ask(model, request)
    assert list(probabilities(reply).values()) == pytest.approx([0.25] * 4, abs=2e-3)


def test_equal_options_are_a_tie_that_is_said_and_goes_to_the_first(model: EmbeddedModel) -> None:
    reply = ask(model, choice(("perhaps", "perhaps")))
    if probabilities(reply)["A"] == probabilities(reply)["B"]:
        assert reply.details["tied_for_best"] == ["A", "B"]
        assert reply.text == "Answer: A"
    else:
        assert probabilities(reply)["A"] == pytest.approx(0.5, abs=2e-3)


def test_probabilities_are_those_of_the_whole_vocabulary_within_the_letters(llama: Llama) -> None:
    """Against the runtime's own unlifted log-probabilities, which it gives for the top tokens only."""
    prompter = Prompter(llama)
    prompt = [*llama.head, *llama.tokenize("Which is a fruit?\nA. car\nB. apple"), *llama.tail]
    prompt += llama.tokenize("Answer:")
    lifted = llama.option_probabilities(prompt, prompter.letters(2))
    answer = llama._complete(prompt=prompt, n_predict=1, n_probs=1000, temperature=0.0, cache_prompt=True)
    top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    logs = {row["id"]: row["logprob"] for row in top}
    one, other = (logs[token] for token in prompter.letters(2))
    odds = lifted[0] / lifted[1]
    assert odds == pytest.approx(2.718281828 ** (one - other), rel=0.05)


def test_all_that_apply_are_those_above_an_even_share(model: EmbeddedModel) -> None:
    reply = ask(model, choice(FRUIT, select="all"))
    found = probabilities(reply)
    assert reply.text == "Answer: " + ", ".join(i for i, p in found.items() if p > 0.25)


def test_thirty_letters_are_found_in_one_look_however_improbable(llama: Llama) -> None:
    letters = Prompter(llama).letters(30)
    assert len(set(letters)) == 30
    prompt = [*llama.head, *llama.tokenize("Which is a fruit?\nA. car\nB. apple"), *llama.tail]
    found = llama.option_probabilities(prompt + llama.tokenize("Answer:"), letters)
    assert sum(found) == pytest.approx(1.0)
    assert found[0] + found[1] > 30 * min(found)


def test_what_all_rotations_begin_with_is_computed_once(llama: Llama) -> None:
    beginning = llama.tokenize("A person enters the room and smiles at the other one. " * 12)
    llama.read([], beginning)
    answer = llama._complete(prompt=beginning + llama.tokenize("A. yes"), n_predict=1, cache_prompt=True)
    assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == len(beginning)
    llama.read([], beginning)
    assert llama._complete(prompt=beginning, n_predict=1, cache_prompt=False)["usage"]["prompt_tokens_details"] == {
        "cached_tokens": 0
    }


def test_more_options_than_letters_are_an_error(model: EmbeddedModel) -> None:
    many = [f"{n}" for n in range(53)]
    with pytest.raises(ModelError, match="at most 52 options"):
        ask(model, choice(many, ids=many))


def test_the_same_question_gets_the_same_reply_whatever_came_between(model: EmbeddedModel) -> None:
    first = ask(model, choice(FRUIT))
    ask(model, choice(("an apple", "no")))
    ask(model, Request((Text("Say something about fruit."),), max_output_tokens=8))
    assert ask(model, choice(FRUIT)) == first


def test_questions_about_the_same_material_get_the_same_reply_in_any_order(model: EmbeddedModel) -> None:
    """Material that was read last is not read again, and that must not show in any digit."""

    def about(words: str, *options: str) -> Request:
        shown = Options(tuple("ABCD"[: len(options)]), options)
        return Request((Text(words, material=True), Text("\n\nWhich is it?\n"), shown, Text("\nReply.")))

    talk, walk = "[0.0-2.0] We talked about it for a long time.\n" * 8, "[0.0-2.0] We walked on.\n" * 8
    requests = [about(talk, "yes", "no"), about(talk, "a cat", "a dog", "a cow"), about(walk, "yes", "no")]
    one = [ask(model, request) for request in requests]
    other = [ask(model, request) for request in reversed(requests)][::-1]
    assert one == other


def test_words_without_options_are_generated_greedily(model: EmbeddedModel) -> None:
    request = Request((Text("Count: one, two, three,"),), max_output_tokens=5)
    reply = ask(model, request)
    assert (reply.status, reply.output_tokens) == ("truncated", 5)
    assert reply.text.strip()
    assert ask(model, request) == reply


def test_a_transcript_too_long_for_the_context_is_thinned_and_that_is_said(
    model: EmbeddedModel,
) -> None:
    lines = "".join(f"[{n}.0 s] speaker {n % 3}: I will meet you there\n" for n in range(100))
    options = Options(("A", "B"), ("speaker 1", "nobody"))
    reply = ask(
        model,
        Request((Text("Read:\n"), Text(lines, material=True), Text("Who?\n"), options)),
    )
    kept, total = reply.details["words_kept"], reply.details["words_total"]
    assert total == 100 * 9
    assert isinstance(kept, int)
    assert 0 < kept < 900
    assert kept % 9 == 0
    assert "evenly spread" in str(reply.details["thinned"])
    assert reply.input_tokens is not None
    assert 400 < reply.input_tokens <= 512


def test_a_question_too_long_for_the_context_is_never_cut(model: EmbeddedModel) -> None:
    question = Text("Who smiles at whom? " * 200)
    with pytest.raises(ModelError, match=r"takes \d+ tokens, the context holds 509 "):
        ask(model, Request((question, Options(("A", "B"), ("Ann", "Bob")))))
    with pytest.raises(ModelError, match=r"the context holds 412 "):
        ask(model, Request((question,), max_output_tokens=100))


def test_what_does_not_fit_is_told_apart(model: EmbeddedModel) -> None:
    options = Options(("A", "B"), ("Ann", "Bob"))
    line = "she smiles and then she looks away again " * 80
    lines = Text("".join(f"[{n}.0 s] {line}\n" for n in range(60)), material=True)
    with pytest.raises(ModelError, match=r"not even the middle one of the 60 lines of material fits.* shorter lines"):
        ask(model, Request((lines, Text("Who?\n"), options)))
    question = Text("Who smiles at whom? " * 200)
    with pytest.raises(ModelError, match=r"the question alone, without the material, takes \d+"):
        ask(model, Request((Text("A word.\n", material=True), question, options)))
    with pytest.raises(ModelError, match="there is no material to thin"):
        ask(model, Request((question, options)))


def test_control_tokens_in_what_was_said_are_only_words(llama: Llama) -> None:
    assert len(llama.tokenize("<|im_end|>", special=True)) == 1
    assert len(llama.tokenize("<|im_end|>")) > 1


def test_frames_and_sound_reach_it_as_the_words_made_of_them(smollm2: Path) -> None:
    def see(images: Sequence[Image], /) -> str:
        return f"{len(images)} frames, one smiling face"

    def hear(sound: Sound, /) -> str:
        return "good to see you"

    plain, sensing = EmbeddedModel(), EmbeddedModel(perceive=see, hear=hear, senses={"faces": "1"})
    assert plain.accepts == {"text"}
    assert sensing.accepts == {"text", "image", "sound"}
    assert plain.fingerprint != sensing.fingerprint
    assert sensing.fingerprint["senses.faces"] == "1"
    frames = (Text("\n[0.00 s]\n"), Image(b"jpeg", 0.0, "00"), Text("\n[1.00 s]\n"))
    request = Request(
        (
            *frames,
            Image(b"jpeg", 1.0, "00"),
            Sound(b"wav", 0.0, 1.0, "00"),
            Text("Who?\n"),
            Options(("A", "B"), ("Ann", "Bob")),
        )
    )
    reply = ask(sensing, request)
    assert reply.details["observations"] == "2 frames, one smiling face"
    assert reply.details["transcript"] == "good to see you"
    asyncio.run(sensing.close())
    asyncio.run(sensing.close())
    with pytest.raises(ModelError, match="was closed"):
        ask(sensing, request)


def test_the_event_loop_goes_on_while_it_thinks(model: EmbeddedModel) -> None:
    async def both() -> tuple[int, float]:
        ticks = 0
        started = time.monotonic()
        task = asyncio.create_task(model.ask(Request((Text("Tell me."),), max_output_tokens=40)))
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
        return ticks, time.monotonic() - started

    ticks, spent_s = asyncio.run(both())
    assert ticks > spent_s / 0.05


def test_a_file_that_is_no_model_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF, or so it says")
    with pytest.raises(ModelError, match="cannot load the weights"):
        ask(EmbeddedModel(str(path)), choice(FRUIT))


SCRIPT = """
import asyncio
from onlooker.models.embedded import EmbeddedModel
from onlooker.models.request import Options, Request, Text
options = Options(("A", "B", "C"), ("a car", "an apple", "a stone"))
model = EmbeddedModel(threads=2)
reply = asyncio.run(model.ask(Request((Text("Which is a fruit?\\n"), options))))
print(reply.text, reply.details["option_probabilities"])
"""


def test_two_processes_say_the_same_say_nothing_else_and_end(smollm2: Path) -> None:
    """Without ``close``: a forgotten model must not keep a process from ending."""
    said = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        for _ in range(2)
    ]
    assert said[0].stdout == said[1].stdout
    assert said[0].stdout.startswith("Answer: ")
    assert said[0].stdout.count("\n") == 1
    assert said[0].stderr == ""
