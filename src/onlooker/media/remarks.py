"""A media card in words: what a person should know before using the medium."""

from __future__ import annotations

from onlooker.media.card import MediaCard, SoundTrack, VideoCard
from onlooker.media.checkup import Checkup

# A sound that begins or ends this much off the picture is worth a word.
_NOTABLE_S = 0.5


def remarks(card: MediaCard) -> list[str]:
    """What is out of the ordinary, most serious first; empty for a plain medium."""
    found: list[str] = []
    video = card.video
    if video is not None:
        found += _picture_remarks(video)
    if not card.sound:
        found.append("no sound")
    chosen = next((t for t in card.sound if t.index == card.default_sound), None)
    if chosen is not None and chosen.duration_s is None:
        found.append("sound without a packet")
    if video is not None and chosen is not None and chosen.duration_s is not None:
        start_s = chosen.start_s or 0.0
        if abs(start_s) > _NOTABLE_S:
            found.append(f"sound starts at {start_s:+.3f} s")
        beyond_s = start_s + chosen.duration_s - card.duration_s
        if abs(beyond_s) > _NOTABLE_S:
            found.append(f"sound ends {abs(beyond_s):.3f} s {'after' if beyond_s > 0 else 'before'} the picture")
    if len(card.sound) > 1:
        found.append(f"{len(card.sound)} sound tracks, {card.default_sound} is read")
    if card.picture_streams > 1:
        found.append(f"{card.picture_streams} pictures")
    if card.subtitles:
        found.append(f"{len(card.subtitles)} subtitle track{'s' if len(card.subtitles) > 1 else ''}")
    if video is None:
        found.append("no picture, only a cover" if card.attached_pictures else "no picture")
    return found


def _picture_remarks(video: VideoCard) -> list[str]:
    declared = "" if video.frames_declared is None else f" of {video.frames_declared}"
    checks = {
        f"partial: {video.frames_decodable}{declared} frames are whole": video.damage == "partial",
        "variable frame rate": video.vfr,
        f"first frame at {video.first_pts_s:.3f} s in the file": abs(video.first_pts_s) > _NOTABLE_S,
        f"edit list hides {video.frames_hidden} frames": video.frames_hidden > 0,
        "mirrored": video.mirrored,
        f"turned by {video.rotation_deg} degrees": video.rotation_deg != 0,
        f"pixels are {video.sample_aspect_ratio}": video.sample_aspect_ratio != "1:1",
        f"HDR ({video.color_transfer})": video.hdr,
        f"{video.bit_depth} bit": video.bit_depth > 8,
        "interlaced": video.interlaced,
    }
    return [words for words, holds in checks.items() if holds]


def describe(card: MediaCard, checkup: Checkup | None = None) -> list[str]:
    """The whole card as lines for a person: one a stream, what decoding found, then the remarks."""
    lines = [f"{card.container}, {card.bytes:,} bytes, {card.duration_s:.3f} s, sha256 {card.sha256}"]
    video = card.video
    if video is not None:
        rate = "" if video.average_fps is None else f", {video.average_fps:.3f} a second"
        lines.append(
            f"picture: {video.codec} {video.width_px}x{video.height_px} ({video.pix_fmt}), {video.frames} frames{rate}"
            f", {video.key_frames} key frames at most {video.largest_key_gap_s:.3f} s apart, "
            f"B-frames {'yes' if video.b_frames else 'no'}, damage by its packets: {video.damage}"
        )
    lines += [_sound_line(track, card.default_sound) for track in card.sound]
    lines += [
        f"subtitles {t.index}: {t.codec or 'unknown'}{_of(t.language)}{', default' if t.default else ''}"
        for t in card.subtitles
    ]
    if card.attached_pictures:
        lines.append(f"attached pictures: {card.attached_pictures}")
    if checkup is not None:
        since = "" if checkup.first_damage_s is None else f", the first damage at {checkup.first_damage_s:.3f} s"
        lines.append(
            f"decoded: {checkup.ok} of {checkup.frames} frames without an error, {checkup.corrupt} may show damage, "
            f"{checkup.undecodable} give no picture{since}"
        )
    return lines + [f"note: {remark}" for remark in remarks(card)]


def _sound_line(track: SoundTrack, default_sound: int | None) -> str:
    when = "no packet has a time"
    if track.start_s is not None and track.duration_s is not None:
        when = f"{track.duration_s:.3f} s from {track.start_s:+.3f} s"
    marks = ", default" if track.default else ""
    marks += ", read unless asked" if track.index == default_sound else ""
    return (
        f"sound {track.index}: {track.codec} {track.rate_hz} Hz x {track.channels}{_of(track.language)}, {when}{marks}"
    )


def _of(language: str | None) -> str:
    return "" if language is None else f" ({language})"
