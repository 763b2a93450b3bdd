"""Key frames by meaning: the rule by hand and against exact fractions, and encoders that are given."""

from __future__ import annotations

import io
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from onlooker.cli.main import main
from onlooker.errors import InputError, MediaError, OnlookerError, UnreadableMedia
from onlooker.media import keyframes
from onlooker.media.cache import cached_keyframes, cached_sample
from onlooker.media.encoders import checked_vectors, open_encoder
from onlooker.media.frames import sample
from onlooker.media.grid import parse_policy

from .making import coloured, pixels, write

NAMES = ("red", "green", "blue")


class Colours:
    """An encoder whose space is red, green and blue: a picture's mean colour, a text's words."""

    name = "colours"
    fingerprint = "colours 1"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.batches: list[int] = []

    def embed_texts(self, texts: list[str]) -> NDArray[np.float32]:
        self.texts += texts
        return np.array([[float(name in text) for name in NAMES] for text in texts], np.float32)

    def embed_images(self, jpegs: list[bytes]) -> NDArray[np.float32]:
        self.batches.append(len(jpegs))
        return np.array(
            [np.asarray(Image.open(io.BytesIO(j)).convert("RGB")).mean(axis=(0, 1)) for j in jpegs], np.float32
        )


def test_the_rule_by_hand() -> None:
    """With exponent 1 the weights are 0, 1/2, 1, 1/2, 0 and their sums 0, 1/4, 3/4, 1, 1 of the whole."""
    scores = [0.2, 0.4, 0.6, 0.4, 0.2]
    assert keyframes.choose(scores, 1, exponent=1) == (2,)  # 1/2
    assert keyframes.choose(scores, 2, exponent=1) == (1, 2)  # 1/4 lies on a step and is reached; 3/4
    assert keyframes.choose(scores, 3, exponent=1) == (1, 2, 3)  # 1/6, 1/2, 5/6
    # 1/8, 3/8, 5/8, 7/8 draw 1, 2, 2, 3; the draw that is left is 1/2 of what is left, 0 and 4, both without weight.
    assert keyframes.choose(scores, 4, exponent=1) == (0, 1, 2, 3)
    assert keyframes.choose(scores, 5, exponent=1) == (0, 1, 2, 3, 4)
    assert keyframes.choose(scores, 9, exponent=1) == (0, 1, 2, 3, 4)


def test_the_exponent_sharpens() -> None:
    """With exponent 3 the weights are 0, 1/8, 1, 1/8, 0: both quantiles of two fall on the peak, then on 1."""
    scores = [0.2, 0.4, 0.6, 0.4, 0.2]
    assert keyframes.choose(scores, 2) == (1, 2)
    assert keyframes.choose(scores, 3) == (1, 2, 3)
    # Sums 0, 0.36, 0.68, 0.68, 1 of the whole; then 0, 0.83, 0.92, 0.92, 1, and half of what 2 and 4 have left.
    assert keyframes.choose([0.0, 1.0, 0.9, 0.0, 0.9], 2, exponent=1) == (1, 4)
    assert keyframes.choose([0.0, 1.0, 0.1, 0.0, 0.1], 2, exponent=1) == (1, 2)


def test_what_is_all_alike_is_uniform() -> None:
    assert keyframes.choose([0.3] * 10, 5) == (0, 2, 4, 6, 8)
    assert keyframes.choose([0.3], 4) == (0,)


@pytest.mark.parametrize("wrong", [[], [float("nan")], [0.1, float("inf")]])
def test_no_similarity_is_guessed(wrong: list[float]) -> None:
    with pytest.raises(InputError, match="finite numbers, at least one"):
        keyframes.choose(wrong, 2)
    with pytest.raises(InputError, match="at least 1"):
        keyframes.choose([0.1], 0)


def exactly(scores: list[int], count: int, exponent: int) -> tuple[int, ...]:
    """The rule in fractions, candidate by candidate."""
    low, high = min(scores), max(scores)
    weights = [Fraction(1) if high == low else Fraction(s - low, high - low) ** exponent for s in scores]
    taken: set[int] = set()
    while len(taken) < min(count, len(scores)):
        left = [i for i in range(len(scores)) if i not in taken]
        total = sum(weights[i] for i in left)
        draws = count - len(taken)
        for k in range(draws):
            quantile, step = Fraction(2 * k + 1, 2 * draws), Fraction(0)
            for i in left:
                step += weights[i] / total if total else Fraction(1, len(left))
                if step >= quantile:
                    taken.add(i)
                    break
    return tuple(sorted(taken))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), st.integers(1, 40), st.sampled_from([1, 2, 3]))
def test_against_exact_fractions(scores: list[int], count: int, exponent: int) -> None:
    found = keyframes.choose([float(s) for s in scores], count, exponent=exponent)
    assert found == exactly(scores, count, exponent)
    assert len(found) == min(count, len(scores))
    # Only differences between similarities count, not their scale.
    assert keyframes.choose([s / 4 + 0.5 for s in scores], count, exponent=exponent) == found


def test_frames_like_the_text_are_chosen(red_blue: Path, tmp_path: Path) -> None:
    """Three red seconds, three blue ones: candidates at 0 .. 5 s."""
    encoder = Colours()
    red = cached_keyframes(tmp_path, red_blue, 2, "Is it red?", encoder)
    assert red.times_s == (0.0, 2.0)  # 1/4 and 3/4 of three equal weights
    assert red.candidates == 6
    assert red.similarities == pytest.approx((1.0, 1.0), abs=0.02)
    blue = cached_keyframes(tmp_path, red_blue, 3, "Is it blue?", encoder)
    assert blue.times_s == (3.0, 4.0, 5.0)
    frames = cached_sample(tmp_path, red_blue, blue.policy(3)).frames
    assert [f.pts_s for f in frames] == pytest.approx([3.0, 4.0, 5.0])
    assert [f.index for f in frames] == [0, 1, 2]
    assert all(pixels(f.jpeg)[..., 2].mean() > 200 for f in frames)
    assert str(blue.policy(3)) == "bolt:3"


def test_pictures_are_embedded_once_for_all_texts_and_a_warm_call_asks_nothing(red_blue: Path, tmp_path: Path) -> None:
    encoder = Colours()
    first = cached_keyframes(tmp_path, red_blue, 2, "red", encoder)
    cached_keyframes(tmp_path, red_blue, 2, "blue", encoder)
    cached_keyframes(tmp_path, red_blue, 3, "blue", encoder)
    assert (encoder.batches, encoder.texts) == ([6], ["red", "blue", "blue"])
    assert cached_keyframes(tmp_path, red_blue, 2, "red", encoder) == first
    assert len(encoder.texts) == 3
    other = Colours()
    other.fingerprint = "colours 2"
    cached_keyframes(tmp_path, red_blue, 2, "red", other)
    assert (other.batches, other.texts) == ([6], ["red"])
    cached_keyframes(tmp_path, red_blue, 2, "red", encoder, window=(2.0, 5.0))
    assert encoder.batches == [6, 3]


def test_a_window_bounds_the_candidates(red_blue: Path, tmp_path: Path) -> None:
    found = cached_keyframes(tmp_path, red_blue, 9, "red", Colours(), window=(1.5, 4.5))
    assert found.times_s == (2.0, 3.0, 4.0)


def test_a_frame_that_is_held_is_one_candidate(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One red frame for five seconds, then a blue one; also where it is held over the edge of two parts."""
    held = write(folder / "held.mp4", [coloured((255, 0, 0)), coloured((0, 0, 255))], [0, 50], rate=10)
    for at_a_time in (600, 2):
        monkeypatch.setattr(keyframes, "_AT_A_TIME", at_a_time)
        found = cached_keyframes(tmp_path / str(at_a_time), held, 4, "red", Colours())
        assert found.times_s == (0.0, 5.0)


def test_parts_and_batches_make_no_difference(red_blue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = keyframes.embed_candidates(red_blue, 6.0, Colours())
    monkeypatch.setattr(keyframes, "_AT_A_TIME", 4)
    monkeypatch.setattr(keyframes, "_BATCH", 3)
    encoder = Colours()
    parts = keyframes.embed_candidates(red_blue, 6.0, encoder)
    assert encoder.batches == [3, 1, 2]
    assert parts[0] == whole[0]
    assert np.array_equal(parts[1], whole[1])


def test_without_an_encoder_bolt_says_so(red_blue: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs the text and an image-text encoder, found 'bolt:4'"):
        sample(red_blue, "bolt:4")
    with pytest.raises(InputError, match="needs the text"):
        cached_keyframes(tmp_path, red_blue, 2, "  ", Colours())
    assert parse_policy("bolt:4").times_s is None


def test_a_file_without_a_picture_or_a_sound_one_fails_as_elsewhere(tmp_path: Path) -> None:
    broken = tmp_path / "a.mp4"
    broken.write_bytes(b"nothing")
    with pytest.raises(UnreadableMedia, match=r"a\.mp4"):
        cached_keyframes(tmp_path / "c", broken, 2, "red", Colours())
    with pytest.raises(MediaError, match=r"gone\.mp4"):
        cached_keyframes(tmp_path / "c", tmp_path / "gone.mp4", 2, "red", Colours())


@pytest.mark.parametrize(
    ("given_rows", "what"),
    [([[1.0]], "must give 2 rows"), ([1.0, 2.0], "must give 2 rows"), ([[1.0], [float("nan")]], "finite floats")],
)
def test_rows_that_are_none(given_rows: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        checked_vectors(given_rows, 2, "mine")
    with pytest.raises(InputError, match="gives no rows of floats"):
        checked_vectors([["a"], ["b"]], 2, "mine")


def test_a_vector_without_length_is_like_nothing() -> None:
    with pytest.raises(InputError, match="length zero"):
        keyframes.similarities(np.zeros((2, 3), np.float32), np.ones(3, np.float32))
    with pytest.raises(InputError, match="different widths"):
        keyframes.similarities(np.ones((2, 3), np.float32), np.ones(4, np.float32))


OWN = """
class Whole:
    name = "mine"
    fingerprint = "1"
    def embed_texts(self, texts): return [[1.0, 0.0] for _ in texts]
    def embed_images(self, jpegs): return [[1.0, float(len(j))] for j in jpegs]
instance = Whole()
class Failing(Whole):
    def embed_images(self, jpegs): raise ZeroDivisionError("of mine")
class Half:
    name = ""
    fingerprint = "1"
    def embed_texts(self, texts): return []
"""


def test_an_encoder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, red_blue: Path) -> None:
    (tmp_path / "my_space.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    for spec in ("my_space:instance", "my_space:Whole"):
        encoder = open_encoder(spec)
        assert (encoder.name, encoder.fingerprint) == ("mine", "1")
        assert cached_keyframes(tmp_path / "c", red_blue, 2, "x", encoder).candidates == 6
    with pytest.raises(OnlookerError, match=r"the encoder mine failed \(ZeroDivisionError: of mine\)"):
        cached_keyframes(tmp_path / "d", red_blue, 2, "x", open_encoder("my_space:Failing"))
    with pytest.raises(InputError, match="no encoder: it lacks embed_images, name"):
        open_encoder("my_space:Half")
    for spec, what in (
        ("my_space:gone", "AttributeError"),
        ("no_such_module:x", "ModuleNotFoundError"),
        ("clip", "unknown encoder"),
        ("hf:", "unknown encoder"),
        (f"hf:{tmp_path / 'gone'}", "no model of transformers here"),
    ):
        with pytest.raises(InputError, match=what):
            open_encoder(spec)


@pytest.fixture(scope="module")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP of two thousand random weights with a tokenizer of eight words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("clip") / "tiny"
    vocabulary = {w: i for i, w in enumerate(["<pad>", "<start>", "<end>", "<unk>", "a", "red", "blue", "picture"])}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", 1), ("<end>", 2)]
    )
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<start>", eos_token="<end>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {"vocab_size": 8, "max_position_embeddings": 12, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    torch.manual_seed(0)
    transformers.CLIPModel(
        transformers.CLIPConfig(
            text_config={**small, **text}, vision_config={**small, "image_size": 32, "patch_size": 16}, projection_dim=8
        )
    ).save_pretrained(folder)
    transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)
    return folder


def test_a_clip_from_a_folder(tiny_clip: Path, red_blue: Path, tmp_path: Path) -> None:
    """Embeddings are those of the model itself, and choose frames."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    encoder = open_encoder(f"hf:{tiny_clip}")
    assert encoder.name == "clip:tiny"
    assert len(encoder.fingerprint) == 64
    text = encoder.embed_texts(["a red picture", "blue"])
    model = transformers.CLIPModel.from_pretrained(str(tiny_clip)).eval()
    ids = torch.tensor([[1, 4, 5, 7, 2] + [0] * 7])
    with torch.no_grad():
        alone = model.text_projection(model.text_model(input_ids=ids, attention_mask=(ids != 0).long()).pooler_output)
    assert text.shape == (2, 8)
    assert text[0] == pytest.approx(alone[0].numpy(), abs=1e-5)
    assert encoder.embed_texts(["red " * 100]).shape == (1, 8)  # cut at twelve tokens
    found = cached_keyframes(tmp_path, red_blue, 3, "a red picture", encoder)
    assert (found.candidates, len(found.times_s)) == (6, 3)
    again = open_encoder(f"hf:{tiny_clip}")
    assert cached_keyframes(tmp_path, red_blue, 3, "a red picture", again) == found
    assert again._loaded is None  # type: ignore[attr-defined]  # a warm call loads no weights


def test_other_weights_are_another_fingerprint(tiny_clip: Path, tmp_path: Path) -> None:
    copy = tmp_path / "tiny"
    shutil.copytree(tiny_clip, copy)
    assert open_encoder(f"hf:{copy}", tmp_path / "c").fingerprint == open_encoder(f"hf:{tiny_clip}").fingerprint
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert open_encoder(f"hf:{copy}", tmp_path / "c").fingerprint != open_encoder(f"hf:{tiny_clip}").fingerprint


def test_the_rule_is_part_of_the_key(red_blue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Colours()
    cached_keyframes(tmp_path, red_blue, 2, "red", encoder)
    monkeypatch.setattr(keyframes, "EXPONENT", 1.0)
    cached_keyframes(tmp_path, red_blue, 2, "red", encoder)
    assert encoder.texts == ["red", "red"]


def test_the_command_chooses_frames_by_a_text(
    red_blue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_lengths.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "cache"))
    command = ["frames", str(red_blue), "--policy", "bolt:9", "--out", str(tmp_path / "out"), "--window", "1:5"]
    assert main([*command, "--query", "red", "--encoder", "my_lengths:Whole"]) == 0
    rows = json.loads((tmp_path / "out" / "frames.json").read_bytes())
    assert [(row["index"], row["time_s"]) for row in rows] == [(0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0)]
    assert main(command) == 1
    assert "needs the text and an image-text encoder" in capsys.readouterr().err
