"""The range of the axes that depends on the chips alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from roofwidget import Chip
from roofwidget.analysis.chip_frame import chip_frame

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden/chip_frame.json").read_text(encoding="utf-8")
)["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_the_frame_is_that_of_the_golden_file(case: dict[str, Any]) -> None:
    chips = []
    for spec in case["chips"]:
        chip = Chip("A chip", spec["peaks"], spec["memories"])
        what_if = spec.get("what_if", {})
        chips.append((chip, chip.with_rates(what_if.get("peak_flops", {}), what_if.get("bandwidth", {}))))
    found = chip_frame(chips, case["memory"])
    if case["x"] is None:
        assert found is None
    else:
        assert found is not None
        assert found.x == pytest.approx(case["x"], rel=1e-12)
        assert found.y == pytest.approx(case["y"], rel=1e-12)
