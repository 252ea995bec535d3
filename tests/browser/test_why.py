"""Why kernels are below the roof: the latency roof, counters, reasons and levels, on pages and in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.drawn import box_of, enter, shown
from tests.places import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported

CHIP = rw.Chip("Example", {"bf16": "989.5 TFLOP/s"}, {"HBM": rw.Memory("HBM", 3.35e12, latency=600e-9)})
SENTENCE = "moves 500 kB: at 600 ns that is at most 833 GB/s of 3.35 TB/s; latency explains 6 % of its time"
LABEL = "at 600 ns, 500 kB in flight: at most 833 GB/s"
ROOF = "[data-rw=latency-roof]"
# The row of the planted kernel whose last wave is almost empty.
TAIL_WAVE = 3


def small_kernels(**traits: Any) -> rw.RooflineWidget:
    """One kernel of 500 kB with FLOPs and one without, both the first to save, and a large one."""
    rows = [("norm", 1e6, 5e5, 1e-5), ("copy", 0, 2.5e5, 8e-6), ("gemm", 4e11, 2e9, 9e-4)]
    return rw.RooflineWidget([CHIP], rw.Kernels.from_records(rows), **traits)


def test_the_latency_roof_of_a_kernel_is_drawn_and_said_and_stays_where_the_bandwidth_is_dragged(
    exported: Callable[..., Exported],
) -> None:
    drawn = exported(small_kernels(selected=[0]).to_html()).drawn
    expect(drawn.locator(ROOF)).to_have_count(1)
    expect(drawn.locator("text[data-label='latency 0']")).to_have_text(LABEL)
    assert drawn.sentence().endswith(SENTENCE)
    expect(drawn.locator(".rw-formula")).to_contain_text("latency: at most 833 GB/s")
    expect(drawn.locator(".rw-spoken").filter(has_text="at most 833 GB/s of 3.35 TB/s")).to_have_count(1)
    path = drawn.locator(f"{ROOF} path").first
    before, across = path.get_attribute("d"), box_of(drawn.locator(f"{ROOF} > path"))
    drawn.drag("bandwidth", 0.02)
    assert path.get_attribute("d") == before
    assert box_of(drawn.locator(f"{ROOF} > path")) == across
    drawn.chart.focus()
    drawn.press("End")
    assert drawn.tooltip().startswith("gemm")
    expect(drawn.locator(ROOF)).to_have_count(0)
    drawn.press("Home")
    assert "moves 250 kB" in drawn.tooltip()


def test_the_class_of_the_whole_table_names_latency_beside_what_bounds_the_kernel(
    exported: Callable[..., Exported],
) -> None:
    drawn = exported(small_kernels().to_html()).drawn
    drawn.button("All columns").click()
    cells = drawn.locator(".rw-table .rw-cell[data-column=bound_by]")
    expect(cells).to_have_text(["HBM", "HBM, latency", "HBM, latency"])
    assert SENTENCE in (cells.nth(1).get_attribute("title") or "")


def test_a_picture_has_the_latency_roof_in_english_and_german(tmp_path: Path) -> None:
    for locale, label in (("en", LABEL), ("de", "bei 600 ns, 500 kB unterwegs: höchstens 833 GB/s")):
        path = tmp_path / f"{locale}.svg"
        small_kernels(selected=[0], locale=locale).save(path, width=1200)
        assert label in path.read_text(encoding="utf-8")


def slow_kernels(**traits: Any) -> rw.RooflineWidget:
    return rw.read(FIXTURES / "gpu" / "slow.raw.csv.gz").roofline(**traits)


def test_a_tooltip_has_the_two_telling_counters_and_the_table_the_reasons_of_the_selected_kernel(
    exported: Callable[..., Exported],
) -> None:
    drawn = exported(slow_kernels(selected=[TAIL_WAVE]).to_html()).drawn
    why = drawn.locator("[data-rw=why]")
    expect(why).to_contain_text("133 blocks are 1.01 waves")
    expect(why).to_contain_text("launch__waves_per_multiprocessor")
    expect(why).to_contain_text("NVIDIA, Nsight Compute Kernel Profiling Guide, Quantities: waves")
    expect(why.get_by_role("listitem")).to_have_count(3)
    assert box_of(why)["height"] <= 0.45 * box_of(drawn.locator(".rw-tab"))["height"] + 1
    line = drawn.locator(f".rw-kernels .rw-line[data-row='{TAIL_WAVE}']")
    line.hover()
    assert " | waves per SM | 1.01 | busiest pipe | FMA 91.2 %" in drawn.tooltip()
    expect(drawn.locator(".rw-spoken").filter(has_text="waves per SM: 1.01")).to_have_count(1)
    line.click()
    expect(why).to_have_count(0)


def test_the_counters_are_columns_of_the_whole_table_that_the_chooser_adds(exported: Callable[..., Exported]) -> None:
    drawn = exported(slow_kernels().to_html()).drawn
    drawn.button("All columns").click()
    column = drawn.locator(".rw-table .rw-cell[data-column='waves per SM']")
    expect(column).to_have_count(0)
    drawn.button("Columns", exact=True).click()
    drawn.get_by_role("checkbox", name="waves per SM", exact=True).check()
    expect(column.first).to_be_attached()


def test_the_levels_of_the_first_kernel_are_joined_and_a_key_joins_those_of_every_kernel(
    exported: Callable[..., Exported],
) -> None:
    chip = rw.Chip("Example", {"bf16": 1e14}, {"HBM": 1e12, "L2": 1e13})
    work = {"HBM": [1e10, 2e10, 4e10], "L2": [4e10, 8e10, 4e11]}
    kernels = rw.Kernels(["a", "b", "c"], [4e11, 1e11, 2e12], work, time=[0.04, 0.08, 0.05])
    drawn = exported(rw.RooflineWidget([chip], kernels).to_html()).drawn
    joins = drawn.locator("[data-rw=joins] path").first

    def joined() -> int:
        return (joins.get_attribute("d") or "").count("M") if joins.count() else 0

    drawn.chart.focus()
    counts = [joined()]
    for _ in range(3):
        drawn.press("l")
        drawn.page.wait_for_timeout(300)
        counts.append(joined())
    assert counts == [0, 1, 3, 0]


def test_a_typed_clock_is_a_what_if_and_the_label_of_the_roof_names_it(notebook: OpenNotebook) -> None:
    cell = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": 990e12, "fp8": 1980e12}, {"HBM": 3e12}, clock="1.98 GHz")
w = rw.RooflineWidget([chip])
w"""
    _, drawn = shown(notebook, cell)
    drawn.tool("figures").click()
    box = drawn.get_by_role("textbox", name="Clock, typed")
    expect(box).to_have_value("1.98 GHz")
    enter(box, "0.99 GHz")
    drawn.becomes("dict(w.what_if['example']['peak_flops'])", {"bf16": 495e12, "fp8": 990e12})
    assert drawn.label("roof example") == "Example 495 TFLOP/s at 990 MHz"
    expect(drawn.locator(".rw-ghost[data-chip=example]")).to_have_count(1)
    enter(box, "fast")
    expect(drawn.locator(".rw-hardware .rw-fault")).to_have_text("no number in “fast”; write for example “1.2 GHz”")
    enter(box, "")
    drawn.becomes("len(w.what_if)", 0)
    assert drawn.label("roof example") == "Example 990 TFLOP/s"
