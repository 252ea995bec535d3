"""The view of the instruction roofline in the state."""

from __future__ import annotations

from pathlib import Path

import roofwidget as rw
from tests import places


def test_the_view_is_a_trait_and_is_restored_from_a_session(tmp_path: Path) -> None:
    kernels = rw.read(places.FIXTURES / "gpu" / "slow.instructions.csv.gz")
    model = rw.RooflineModel(kernels=kernels, view="instructions")
    assert model.view == "instructions"
    path = tmp_path / "session.json"
    model.save(path)
    assert rw.RooflineModel.load(path).view == "instructions"
