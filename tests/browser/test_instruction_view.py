"""The instruction roofline as a view: roofs, walls, points of each level, keys, pages and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.drawn import box_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported

# The V100 of Ding and Williams: 489.6 warp GIPS; 437.5, 93.65 and 25.9 GTXN/s. In 1 ms, "gather" runs 50e6 instructions
# at 0.25, 2 and 40 a transaction, 5e6 of which are accesses of 32 transactions each. "hash" has no count at L1.
CELL = """import roofwidget as rw
memories = {"HBM": 828.8e9, "L2": 2996.8e9, "L1": 14e12}
figures = {"vendor": "NVIDIA", "family": "Volta", "units": "80 SM", "clock": 1.53e9}
chip = rw.Chip("V100", {"fp32": 15.7e12}, memories, **figures)
counts = {"warp instructions": [50e6, 10e6], "thread instructions": [8e8, 3.2e8], "L1 transactions": [2e8, None],
          "L2 transactions": [25e6, 2e6], "HBM transactions": [1.25e6, 1e6],
          "global memory instructions": [5e6, None], "global memory transactions": [1.6e8, None]}
k = rw.Kernels(["gather", "hash"], [0, 0], [4e7, 3.2e7], time=[1e-3, 1e-3], category=["look-up", "other"],
               extra=counts, chip=chip)
"""
SHOWN = CELL + "w = rw.RooflineWidget([chip], k)\nw"


def widget(**traits: object) -> rw.RooflineWidget:
    scope: dict[str, object] = {}
    exec(CELL, scope)  # noqa: S102 - the cell of this file
    return rw.RooflineWidget([scope["chip"]], scope["k"], **traits)


def test_the_view_is_chosen_by_menu_and_python_and_has_roofs_walls_and_points(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SHOWN)
    drawn.choose("view", "instructions")
    expect(drawn.locator("[data-kernel]")).to_have_count(2)
    # A point at each of three levels.
    expect(drawn.locator("[data-kernel='0'] path")).to_have_count(3)
    drawn.becomes("w.view", "instructions")
    expect(drawn.locator("[data-rw=instruction-roof]")).to_have_count(3)
    texts = drawn.chart.inner_text()
    assert all(part in texts for part in ("437.5 GTXN/s", "25.9 GTXN/s", "489.6 GIPS", "stride 1, 4 B"))
    assert drawn.sentence() == "roof = min(peak, instructions per transaction × transactions/s)"
    expect(drawn.get_by_role("slider", name="Peak")).to_have_count(0)
    expect(drawn.locator(".rw-plane")).to_contain_text("These roofs are those of the chip of the profile.")
    book.python("setattr(w, 'view', 'roofline')")
    expect(drawn.locator("[data-rw=instruction-roof]")).to_have_count(0)


def test_a_profile_without_counts_of_instructions_has_no_such_view(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, "import roofwidget as rw\nw = rw.RooflineWidget()\nw")
    drawn.tool("view").click()
    item = drawn.locator("[role=menuitemradio]", has_text="Instructions")
    expect(item).to_have_attribute("aria-disabled", "true")
    expect(item).to_have_attribute("title", "This profile has no counts of instructions.")


def test_a_click_selects_the_kernel_in_python_and_joins_its_levels(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SHOWN + ".view = 'instructions'\nw")
    expect(drawn.locator("[data-rw=levels]")).to_have_count(0)
    box = box_of(drawn.locator("[data-kernel='0']"))
    # The point at L1 is the one most to the left.
    drawn.mouse.click(box["x"] + 4, box["y"] + box["height"] / 2)
    drawn.becomes("list(w.selected)", [0])
    expect(drawn.locator("[data-rw=levels]")).to_have_count(1)
    expect(drawn.locator("[data-rw=accesses]")).to_have_count(1)
    assert "32 transactions each" in drawn.tooltip()


def test_an_exported_page_walks_along_kernels_and_levels_by_keys(exported: Callable[..., Exported]) -> None:
    drawn = exported(widget(view="instructions").to_html()).drawn
    drawn.chart.focus()
    drawn.press("ArrowRight")
    tooltip = drawn.tooltip()
    assert tooltip.startswith("gather | rate | 50 GIPS | ● per L1 TXN | 0.25 · 46 % of roof")
    assert drawn.sentence() == "gather: 50 GIPS; 46 % of 0.25 per L1 transaction × 437.5 GTXN/s = 109.4 GIPS"
    left = box_of(drawn.locator(".rw-tooltip"))["x"]
    drawn.press("ArrowUp", "ArrowUp")
    assert box_of(drawn.locator(".rw-tooltip"))["x"] > left, "the tooltip is beside the point of another level"
    drawn.press("End")
    assert drawn.tooltip().startswith("hash")
    assert drawn.sentence() == "hash: 10 GIPS; its lowest roof is unknown"
    drawn.press("Escape")
    expect(drawn.locator(".rw-tooltip")).to_have_count(0)


def test_a_page_is_german_and_narrow_without_scrolling_sideways(exported: Callable[..., Exported]) -> None:
    page = widget(view="instructions", locale="de").to_html()
    opened = exported(page, viewport={"width": 480, "height": 900})
    texts = opened.drawn.chart.inner_text()
    assert all(part in texts for part in ("Instruktionen je Transaktion", "Schrittweite 1, 4 B", "437,5 GTXN/s"))
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture_shows_the_instruction_roofline(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"instructions.{suffix}"
    widget(view="instructions").save(path)
    if suffix == "svg":
        text = path.read_text(encoding="utf-8")
        assert all(part in text for part in ("93.65 GTXN/s", "489.6 GIPS", "32-way bank conflict", "gather"))
    else:
        assert path.read_bytes().startswith(b"\x89PNG")
