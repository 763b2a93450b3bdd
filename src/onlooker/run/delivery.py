"""From an episode to what a condition gives of it: frames with their times, sound, words."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.errors import MediaError, NoStream
from onlooker.media.cache import cached_sample, cached_transcribe
from onlooker.media.card import probe
from onlooker.media.sound import read_sound, wav_bytes
from onlooker.media.transcript import clamp_transcript, read_transcript, render_transcript, slice_transcript
from onlooker.models.request import Image, Modality, Sound
from onlooker.protocol.benchmark import Given

if TYPE_CHECKING:
    from onlooker.protocol.condition import Condition
    from onlooker.records.bundle import Bundle
    from onlooker.records.public import Episode
    from onlooker.run.plan import Parameters

Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was given, and the record of it that stands in ``requests.jsonl``."""

    given: Given
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """Reads the media of a bundle for a model that takes ``accepts``; results are kept by content in ``cache_dir``."""

    bundle: Bundle
    cache_dir: Path
    accepts: Collection[Modality]
    parameters: Parameters
    asr_model: str = "whisper-tiny-en"

    def deliver(self, episode: Episode, condition: Condition, window: Window | None) -> Delivered:
        """What the condition gives of the episode within the window (seconds of the medium; None: all of it).

        An episode that declares no picture (or no sound) gives none, and the record says so; media that are declared
        and cannot be read raise ``MediaError``, and so does an episode that has nothing at all of what is asked.
        """
        if not condition.shows_media:
            return Delivered(Given(), {})
        picture = self.bundle.media_path(episode, condition.medium)
        heard = self.bundle.media_path(episode, "audio") or picture
        for path in {p for p in (picture, heard) if p is not None}:
            if not path.is_file():
                raise MediaError("no such file", where=str(path), remedy="fetch it, or correct episodes.jsonl")
        if picture is None and condition.medium != "video":
            raise MediaError(
                f"the episode has no medium {condition.medium!r}, which the condition {condition.name} shows",
                where=f"episode {episode.id}",
                remedy=f"add media.{condition.medium} to episodes.jsonl",
            )
        shown = picture or heard
        if window is not None and shown is not None:
            _check_window(window, shown)
        record: dict[str, Any] = {"medium": condition.medium, "window": window}
        frames: tuple[Image, ...] = ()
        if condition.frames is not None and picture is not None:
            frames, record["frames"] = self._frames(picture, condition.frames, window)
        sound = None
        if condition.sound and "sound" in self.accepts and heard is not None:
            sound, record["sound"] = self._sound(heard, window)
        transcript = None
        written = self.bundle.media_path(episode, "transcript")
        if condition.transcript and (written or heard):
            transcript, record["transcript"] = self._words(written, heard, window)
        if not frames and sound is None and transcript is None:
            asked = {"picture": condition.frames, "sound": condition.sound, "words": condition.transcript}
            wanted = " nor ".join(name for name, given in asked.items() if given)
            raise MediaError(
                f"the episode has no {wanted}, and the condition gives nothing else", where=f"episode {episode.id}"
            )
        return Delivered(Given(frames, sound, transcript), record)

    def _frames(self, path: Path, policy: str, window: Window | None) -> tuple[tuple[Image, ...], dict[str, Any]]:
        sampled = cached_sample(
            self.cache_dir,
            path,
            policy,
            window=window,
            max_side_px=self.parameters.max_side_px,
            jpeg_quality=self.parameters.jpeg_quality,
        )
        if not sampled.frames:
            raise MediaError("none of the wanted frames can be decoded", where=str(path), value=policy)
        record = {
            "policy": policy,
            "max_side_px": self.parameters.max_side_px,
            "jpeg_quality": self.parameters.jpeg_quality,
            "wanted": sampled.wanted,
            "source_sha256": sampled.source_sha256,
            "missing_s": list(sampled.missing),
            "shown": [
                {
                    "index": frame.index,
                    "time_s": frame.time_s,
                    "pts_s": frame.pts_s,
                    "status": frame.status,
                    "jpeg_sha256": hashlib.sha256(frame.jpeg).hexdigest(),
                }
                for frame in sampled.frames
            ],
        }
        return tuple(Image(f.jpeg, f.pts_s, f.source_sha256) for f in sampled.frames), record

    def _sound(self, path: Path, window: Window | None) -> tuple[Sound | None, dict[str, Any]]:
        try:
            clip = read_sound(path, window=window)
        except NoStream:
            return None, {"status": "no_audio"}
        end_s = clip.start_s + len(clip.samples) / clip.rate_hz
        sound = Sound(wav_bytes(clip), clip.start_s, end_s, clip.source_sha256)
        return sound, {
            "status": "ok",
            "start_s": sound.start_s,
            "end_s": sound.end_s,
            "source_sha256": sound.source_sha256,
        }

    def _words(self, written: Path | None, heard: Path | None, window: Window | None) -> tuple[str, dict[str, Any]]:
        if written is not None:
            transcript = read_transcript(written)
        else:
            assert heard is not None, "the caller has one of the two"
            transcript = cached_transcribe(self.cache_dir, heard, model=self.asr_model)
        if heard is not None:
            transcript = clamp_transcript(transcript, _end_s(heard))
        if window is not None:
            transcript = slice_transcript(transcript, window)
        suspect = sum(segment.suspect is not None for segment in transcript.segments)
        record = {
            "made_by": transcript.made_by,
            "status": transcript.status,
            "language": transcript.language,
            "segments": len(transcript.segments) - suspect,
            "left_out": suspect,
        }
        text = render_transcript(transcript)
        return text, {**record, "text": text}


def _check_window(window: Window, path: Path) -> None:
    """Raise ``MediaError`` where the window begins after the medium ends: there is nothing in it to give."""
    end_s = _end_s(path)
    if window[0] >= end_s:
        raise MediaError(
            f"the item's window begins after the medium ends ({end_s:.3f} s)",
            where=str(path),
            value=window,
            remedy="correct the window in items.jsonl",
        )


def _end_s(path: Path) -> float:
    """Where a medium ends: its picture or its sound, whichever lasts longer."""
    card = probe(path)
    return max(card.duration_s, card.sound_duration_s or 0.0)
