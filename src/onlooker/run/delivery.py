"""From an episode to what a condition gives of it: frames with their times, sound, words."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.errors import InputError, MediaError
from onlooker.media.cache import cached_keyframes, cached_probe, cached_sample, cached_sound, cached_transcribe
from onlooker.media.compose import cached_side_by_side
from onlooker.media.cut import cached_clip
from onlooker.media.grid import Policy, parse_policy
from onlooker.media.transcript import clamp_transcript, read_transcript, render_transcript, slice_transcript
from onlooker.models.request import Image, Modality, Sound, Video
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.protocol.variation import WRONG_VIDEO, varied

if TYPE_CHECKING:
    from onlooker.media.clip import Clip
    from onlooker.media.encoders import ImageTextEncoder
    from onlooker.protocol.condition import Condition, MediumKey
    from onlooker.protocol.view import View
    from onlooker.records.bundle import Bundle
    from onlooker.records.public import Episode, Item
    from onlooker.run.plan import Call, Parameters

Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was given, and the record of it that stands in ``requests.jsonl``."""

    given: Given
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Want:
    """All that decides what a call is given: equal wants are delivered once.

    ``episode``: whose media (a donor's, where one stands in); ``window`` and ``query``: see ``Delivery.deliver``;
    ``views``: what is shown instead of one clip; ``stands_in``: whether ``episode`` is not the item's own.
    """

    episode: str
    condition: Condition
    window: Window | None
    query: str | None = None
    views: tuple[View, ...] = ()
    stands_in: bool = False

    @property
    def episodes(self) -> frozenset[str]:
        """Every episode whose media it shows."""
        return frozenset((self.episode, *(v.episode for view in self.views for v in _with_beside(view) if v.episode)))


@dataclass(frozen=True, slots=True)
class Delivery:
    """Reads the media of a bundle for a model that takes ``accepts``; results are kept by content in ``cache_dir``.

    ``encoder``: what chooses the frames of conditions that show frames by their likeness to the question.
    ``max_video_bytes``: what a video file may have at most, as the provider states it; None: no limit is known.
    """

    bundle: Bundle
    cache_dir: Path
    accepts: Collection[Modality]
    parameters: Parameters
    asr_model: str = "whisper-tiny-en"
    encoder: ImageTextEncoder | None = None
    max_video_bytes: int | None = None

    def deliver_want(self, want: Want, episodes: Mapping[str, Episode]) -> Delivered:
        """What a call is given. ``episodes``: {id: episode} of the bundle. Raises what ``deliver`` raises."""
        own = _episode(want.episode, episodes)
        if not want.views:
            delivered = self.deliver(own, want.condition, want.window, want.query)
        else:
            given: dict[str, Given] = {}
            record: dict[str, Any] = {"views": {}}
            for view in want.views:
                given[view.name], record["views"][view.name] = self._view(view, own, episodes)
            delivered = Delivered(Given(views=given), record)
        if want.stands_in:
            delivered = Delivered(delivered.given, {"episode": want.episode, **delivered.record})
        changed, order = varied(delivered.given, want.condition, want.episode)
        if changed is delivered.given:
            return delivered
        return Delivered(changed, {**delivered.record, "variation": want.condition.variation, "order": order})

    def _view(self, view: View, own: Episode, episodes: Mapping[str, Episode]) -> tuple[Given, dict[str, Any]]:
        """One view, and the record of it."""
        episode = own if view.episode is None else _episode(view.episode, episodes)
        path = self._medium(episode, view.media)
        if view.window is not None:
            self._check_window(view.window, path)
        record: dict[str, Any] = {"episode": episode.id, "medium": path.name, "window": view.window}
        if not view.video:
            assert view.frames is not None, "a view shows frames or a file"
            frames, record["frames"] = self._frames(path, view.frames, view.window, None)
            return Given(frames=frames), record
        if view.beside is None:
            video, record["video"] = self._video(path, view.window, keep_sound=view.sound)
            return Given(video=video), record
        other = own if view.beside.episode is None else _episode(view.beside.episode, episodes)
        right = self._medium(other, view.beside.media)
        clip = cached_side_by_side(
            self.cache_dir,
            path,
            right,
            left_window=view.window,
            right_window=view.beside.window,
            height_px=self.parameters.max_side_px,
            sound="none",
        )
        record["video"] = _spelled(clip) | {"beside": {"episode": other.id, "window": view.beside.window}}
        return Given(video=_video_part(clip)), record

    def _medium(self, episode: Episode, media: Sequence[MediumKey]) -> Path:
        """The first of these media that the episode has; ``MediaError`` where it has none, or the file is gone."""
        for key in media:
            path = self.bundle.media_path(episode, key)
            if path is not None:
                if not path.is_file():
                    raise MediaError("no such file", where=str(path), remedy="fetch it, or correct episodes.jsonl")
                return path
        raise MediaError(
            f"the episode has none of the media {', '.join(media)}",
            where=f"episode {episode.id}",
            remedy=f"add media.{media[0]} to episodes.jsonl",
        )

    def deliver(
        self, episode: Episode, condition: Condition, window: Window | None, query: str | None = None
    ) -> Delivered:
        """What the condition gives of the episode within the window (seconds of the medium; None: all of it).

        ``query``: the text that frames are chosen for (see ``query_of``), which no other condition looks at.
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
            self._check_window(window, shown)
        record: dict[str, Any] = {"medium": condition.medium, "window": window}
        # Without a picture there is no file to send, and the sound goes by itself.
        gives = condition.gives(self.accepts if picture is not None else frozenset(self.accepts) - {"video"})
        frames: tuple[Image, ...] = ()
        video = None
        # An episode with sound of its own is heard by that alone: beside its picture, whose file then carries none.
        beside = gives.video_sound and heard is not None and heard != picture
        if gives.video and picture is not None:
            video, record["video"] = self._video(picture, window, keep_sound=gives.video_sound and not beside)
        elif gives.frames and picture is not None:
            frames, record["frames"] = self._frames(picture, str(condition.frames), window, query)
        sound = None
        if (gives.sound or beside) and heard is not None:
            sound, record["sound"] = self._sound(heard, window)
        transcript = None
        written = self.bundle.media_path(episode, "transcript")
        # Words that stand in for sound do so too where the model would listen and the episode has no sound.
        silent = sound is None and not (video is not None and video.has_sound)
        if (gives.transcript and (written or heard)) or (condition.transcript and silent and written):
            transcript, record["transcript"] = self._words(written, heard, window)
        if not frames and sound is None and transcript is None and video is None:
            asked = {"picture": condition.frames, "sound": condition.sound, "words": condition.transcript}
            wanted = " nor ".join(name for name, given in asked.items() if given)
            raise MediaError(
                f"the episode has no {wanted}, and the condition gives nothing else", where=f"episode {episode.id}"
            )
        return Delivered(Given(frames, sound, transcript, video), record)

    def _video(self, path: Path, window: Window | None, *, keep_sound: bool) -> tuple[Video, dict[str, Any]]:
        """The stretch as a video file, within the limits of whoever is asked."""
        clip = cached_clip(
            self.cache_dir,
            path,
            window=window,
            max_side_px=self.parameters.max_video_side_px,
            max_bytes=self.max_video_bytes,
            keep_sound=keep_sound,
        )
        return _video_part(clip), _spelled(clip)

    def _frames(
        self, path: Path, named: str, window: Window | None, query: str | None
    ) -> tuple[tuple[Image, ...], dict[str, Any]]:
        policy = parse_policy(named)
        chosen: dict[str, Any] = {}
        if policy.kind == "bolt":
            policy, chosen = self._keyframes(path, policy, window, query)
        sampled = cached_sample(
            self.cache_dir,
            path,
            policy,
            window=window,
            max_side_px=self.parameters.max_side_px,
            jpeg_quality=self.parameters.jpeg_quality,
        )
        if not sampled.frames:
            raise MediaError("none of the wanted frames can be decoded", where=str(path), value=named)
        record = {
            "policy": named,
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
            **chosen,
            **({} if sampled.counted is None else {"counted": sampled.counted}),
        }
        return tuple(Image(f.jpeg, f.pts_s, f.source_sha256) for f in sampled.frames), record

    def _keyframes(
        self, path: Path, policy: Policy, window: Window | None, query: str | None
    ) -> tuple[Policy, dict[str, Any]]:
        """The policy with its times, and what they were chosen by."""
        if self.encoder is None or query is None or policy.count is None:
            raise InputError(
                "frames are chosen by their likeness to a question, which needs the question and an image-text encoder",
                value=str(policy),
                remedy="--encoder hf:FOLDER, and items with a question",
            )
        found = cached_keyframes(self.cache_dir, path, policy.count, query, self.encoder, window=window)
        return found.policy(policy.count), {
            "chosen_by": {
                "encoder": self.encoder.name,
                "fingerprint": self.encoder.fingerprint,
                "query": query,
                "candidates": found.candidates,
                "similarities": [round(value, 6) for value in found.similarities],
            }
        }

    def _sound(self, path: Path, window: Window | None) -> tuple[Sound | None, dict[str, Any]]:
        found = cached_sound(self.cache_dir, path, window=window)
        if found is None:
            return None, {"status": "no_audio"}
        return Sound(found.wav, found.start_s, found.end_s, found.source_sha256), {
            "status": "ok",
            "start_s": found.start_s,
            "end_s": found.end_s,
            "source_sha256": found.source_sha256,
        }

    def _words(self, written: Path | None, heard: Path | None, window: Window | None) -> tuple[str, dict[str, Any]]:
        if written is not None:
            transcript = read_transcript(written)
        else:
            assert heard is not None, "the caller has one of the two"
            transcript = cached_transcribe(self.cache_dir, heard, model=self.asr_model)
        if heard is not None:
            transcript = clamp_transcript(transcript, self._end_s(heard))
        if window is not None:
            transcript = slice_transcript(transcript, window)
        suspect = sum(segment.suspect is not None for segment in transcript.segments)
        record = {
            "made_by": transcript.made_by,
            "status": transcript.status,
            "language": transcript.language,
            "segments": len(transcript.segments) - suspect,
            "left_out": suspect,
            **({"notices": list(transcript.notices)} if transcript.notices else {}),
        }
        text = render_transcript(transcript)
        return text, {**record, "text": text}

    def _check_window(self, window: Window, path: Path) -> None:
        """Raise ``MediaError`` where the window begins after the medium ends: there is nothing in it to give."""
        end_s = self._end_s(path)
        if window[0] >= end_s:
            raise MediaError(
                f"the item's window begins after the medium ends ({end_s:.3f} s)",
                where=str(path),
                value=window,
                remedy="correct the window in items.jsonl",
            )

    def _end_s(self, path: Path) -> float:
        """Where a medium ends: its picture or its sound, whichever lasts longer."""
        card = cached_probe(self.cache_dir, path)
        track = next((track for track in card.sound if track.index == card.default_sound), None)
        heard_s = 0.0 if track is None else (track.start_s or 0.0) + (track.duration_s or 0.0)
        return max(card.duration_s, heard_s)


def want_of(benchmark: Benchmark, call: Call) -> Want:
    """What a call is given."""
    item, condition, donor = call.items[0], call.condition, call.donor
    if condition.views and benchmark.views is not None:
        return Want(item.episode, condition, None, None, benchmark.views(item, condition, call.keys[0].part, donor))
    query = query_of(item, condition)
    # Only a wrong video stands in by its media; other donors stand in by what the item says.
    if donor is None or condition.variation != WRONG_VIDEO:
        return Want(item.episode, condition, window_of(benchmark, call), query)
    window = None if condition.calls == "video" else donor.window
    return Want(donor.episode, condition, window, query, stands_in=True)


def _episode(name: str, episodes: Mapping[str, Episode]) -> Episode:
    if name not in episodes:
        raise InputError("names an episode that is not there", value=name, remedy="onlooker validate BUNDLE")
    return episodes[name]


def _with_beside(view: View) -> Iterator[View]:
    yield view
    if view.beside is not None:
        yield from _with_beside(view.beside)


def _video_part(clip: Clip) -> Video:
    return Video(
        path=clip.path,
        sha256=clip.sha256,
        size_bytes=clip.size_bytes,
        start_s=clip.start_s,
        end_s=clip.end_s,
        source_sha256=clip.source_sha256,
        has_sound=clip.has_sound,
        width_px=clip.width_px,
        height_px=clip.height_px,
        mime=clip.mime,
    )


def _spelled(clip: Clip) -> dict[str, Any]:
    """What was done to make a clip, for ``requests.jsonl``: no path, which is this machine's own business."""
    left_out = {"path", "mime", "sources_sha256"}
    body = {f.name: getattr(clip, f.name) for f in dataclasses.fields(clip) if f.name not in left_out}
    return body | {"source_sha256": clip.source_sha256}


def window_of(benchmark: Benchmark, call: Call) -> Window | None:
    """The stretch of the episode that a call is given; None: all of it."""
    item, part = call.items[0], call.keys[0].part
    if call.condition.calls == "video":
        return None
    if part is not None and benchmark.part_calls is not None:
        window = benchmark.part_calls.window(item, call.condition, part)
        if window is not None:
            return window
    return (item.window.start_s, item.window.end_s) if item.window else None


def query_of(item: Item, condition: Condition) -> str | None:
    """The text that the condition chooses the item's frames for: its question. None where it chooses none, so that
    what is delivered is the same for all items of an episode."""
    if condition.frames is None or parse_policy(condition.frames).kind != "bolt":
        return None
    question = getattr(item, "question", None)
    return question if isinstance(question, str) else None
