"""The generated page of chips is up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from roofwidget.chips import chips, load_chips
from tests.places import DOCS, text_of, write

PAGE = text_of(DOCS / "chips.md")


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_chips.py"))


def test_the_page_is_up_to_date(maker: dict[str, Any]) -> None:
    assert maker["page"]() == PAGE, "run: python docs/make_chips.py"


def test_every_chip_has_a_row_with_its_ridge_point_and_status() -> None:
    for one in chips():
        (row,) = re.findall(rf"^\|.*<br>`{re.escape(one.id)}` \|.*$", PAGE, re.MULTILINE)
        assert f"| {one.ridge_point():.4g} |" in row
        assert ("one source" in row) == (one.status == "single-source")


def test_every_disputed_figure_has_a_row() -> None:
    table = PAGE.partition("## Where sources disagree")[2].partition("\n## ")[0]
    assert table.count("\n| `") == sum(len(checks) for one in chips() for checks in one.disputed.values())
    assert "| `h100-sxm` | bf16 | 989.5 TFLOP/s | 1.979 PFLOP/s | 2 | " in table


def test_a_measured_bandwidth_is_marked() -> None:
    assert "L2 34.4 (~26.5)" in PAGE


def test_the_pages_own_file_of_chips_can_be_loaded(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    path = write(tmp_path / "chips.toml", example[1])
    (mine,) = load_chips(path)
    assert (mine.peak("fp8"), mine.bandwidth("CMEM"), mine.link_bandwidth()) == (800e12, 20e12, 300e9)
    assert mine.sources["peak_flops.bf16"].confidence == "datasheet"
