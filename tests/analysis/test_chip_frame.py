"""The range of the axes that depends on the chips alone."""

from typing import Any

import pytest

from roofwidget import Chip
from roofwidget.analysis.chip_frame import chip_frame
from tests.places import golden

CASES: list[dict[str, Any]] = golden("chip_frame.json")["cases"]


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
