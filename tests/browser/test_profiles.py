"""The filters of a profile in a real JupyterLab: the search, the menu, the legend, and what Python hears of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.drawn import Drawn, Grip, enter, shown
from tests.places import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported


TPU = f"""import roofwidget as rw
w = rw.read({str(FIXTURES / "xprof_tpu.roofline_model.json")!r}).roofline()
w"""
# 100 seconds on a chip whose ridge is at 100 FLOP/byte.
SMALL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s"})
kernels = rw.Kernels(
    ["void ns::gemm<1>(int)", "gemm.2", "copy.1", "copy.2", "norm", "softmax", "infeed"],
    [4e15, 2e15, 0, 0, 1e12, 1e12, 0],
    [1e12, 1e12, 1e12, 1e12, 1e11, 1e11, 1e10],
    time=[50, 25, 10, 6, 4, 3, 2],
    category=["dot", "dot", "copy", "copy", None, None, "Infeed"],
    precision=["bf16", "fp8", "bf16", "bf16", "bf16", "bf16", "bf16"],
)
w = rw.RooflineWidget([chip], kernels)
w"""


def bar(drawn: Drawn) -> Locator:
    """Return the inspector, which has the search and the tokens."""
    return drawn.locator("[data-rw=inspector]")


def menu(drawn: Drawn) -> Locator:
    """Open the menu of filters, and return it."""
    dialog = drawn.get_by_role("dialog", name="Filter")
    if dialog.count() == 0:
        bar(drawn).get_by_role("button", name=re.compile("^Filter")).click()
    return dialog


def counted(drawn: Drawn) -> str:
    """Return how much is said to be shown."""
    return (bar(drawn).locator(".rw-tokens > p").first.text_content() or "").replace("\xa0", " ")


def choose(drawn: Drawn, label: str, option: str) -> None:
    """Choose in one of the menu's selects, by its words."""
    menu(drawn).get_by_role("combobox", name=label, exact=True).select_option(label=option)


def test_filters_compose_and_what_passes_is_counted_drawn_and_told(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SMALL)
    names = "list(w.filtered.names)"
    assert counted(drawn) == "7 of 7 kernels · 100 % of time"
    choose(drawn, "Category", "dot · 75 %")
    drawn.becomes(names, ["void ns::gemm<1>(int)", "gemm.2"])
    assert counted(drawn) == "2 of 7 kernels · 75 % of time"
    expect(drawn.chart).to_have_attribute("aria-label", re.compile("with 2 kernels"))
    choose(drawn, "Precision", "fp8")
    assert counted(drawn) == "1 of 7 kernels · 25 % of time"
    choose(drawn, "Category", "all")
    choose(drawn, "Precision", "all")
    bound_by = menu(drawn).get_by_label("Bound by")
    expect(bound_by.get_by_role("option")).to_have_text(["all", "compute", "HBM"])
    choose(drawn, "Bound by", "HBM")
    drawn.becomes(names, ["copy.1", "copy.2", "norm", "softmax", "infeed"])
    menu(drawn).get_by_label("Infeed and outfeed").click()
    assert counted(drawn) == "4 of 7 kernels · 23 % of time"
    drawn.press("Escape")
    expect(drawn.get_by_role("dialog", name="Filter")).to_have_count(0)
    bar(drawn).get_by_role("button", name="Clear filters").click()
    drawn.becomes("[w.bounds, w.infeed, len(w.filtered)]", [None, True, 7])
    expect(bar(drawn).get_by_role("button", name="Clear filters")).to_have_count(0)
    bound_by = menu(drawn).get_by_label("Bound by")
    # Only where there is one.
    book.python("setattr(w, 'kernels', [('known', 1, 1, 1)] * 5 + [('unknown', None, 1, 1)])")
    expect(bound_by.get_by_role("option")).to_have_text(["all", "compute", "HBM", "unknown"])


def test_kernels_of_a_trace_are_filtered_by_phase_with_the_keyboard(notebook: OpenNotebook) -> None:
    phases = '["prefill", "prefill", "decode", "decode", "decode", None, None]'
    _, drawn = shown(notebook, SMALL.replace('category=["dot"', f'extra={{"phase": {phases}}}, category=["dot"'))
    box = menu(drawn).get_by_role("combobox", name="Phase", exact=True)
    expect(box.get_by_role("option")).to_have_text(["all", "prefill · 75 %", "decode · 20 %", "not given · 5 %"])
    box.focus()
    box.press("d")
    drawn.becomes("[list(w.phases or []), list(w.filtered.names)]", [["decode"], ["copy.1", "copy.2", "norm"]])
    assert counted(drawn) == "3 of 7 kernels · 20 % of time"
    drawn.press("Escape")
    bar(drawn).get_by_role("button", name="Remove the filter “Phase: decode”").press("Enter")
    drawn.becomes("[w.phases, len(w.filtered)]", [None, 7])


def test_kernels_without_phases_have_no_filter_by_phase(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SMALL)
    expect(menu(drawn).get_by_role("combobox", name="Category", exact=True)).to_be_visible()
    expect(menu(drawn).get_by_role("combobox", name="Phase", exact=True)).to_have_count(0)


def test_a_search_goes_through_whole_names_as_it_is_typed(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SMALL)
    box = bar(drawn).get_by_role("searchbox", name="Search names")
    box.click()
    box.press_sequentially("NS* gemm", delay=20)
    assert counted(drawn) == "1 of 7 kernels · 50 % of time"
    drawn.becomes("[w.search, w.filtered_rows.tolist()]", ["NS* gemm", [0]])
    assert drawn.label("kernel 0") == "gemm<1>"
    book.python("setattr(w, 'search', 'c*y')")
    expect(box).to_have_value("c*y")
    expect(bar(drawn).locator(".rw-tokens [role=status]")).to_have_text("2 of 7 kernels, 16 % of time")


def test_nothing_that_passes_is_said_on_the_chart_with_the_way_back(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SMALL)
    bar(drawn).get_by_role("searchbox").fill("no such kernel")
    empty = drawn.locator(".rw-emptied")
    expect(empty).to_contain_text("0 of 7 kernels")
    assert drawn.has_roof("example")
    empty.get_by_role("button", name="Clear filters").press("Enter")
    expect(empty).to_have_count(0)
    drawn.becomes("[w.search, len(w.filtered)]", ["", 7])


def test_the_time_slider_leaves_the_fewest_kernels_of_a_share_and_is_one_stream(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SMALL)
    slider = menu(drawn).get_by_role("slider")
    grip = Grip(slider)
    grip.by(-0.5, steps=20)
    grip.release()
    share = float(slider.input_value()) / 100
    assert 0.4 < share < 0.6
    drawn.becomes("w.time_share", share)
    assert counted(drawn) == ("1 of 7 kernels · 50 % of time" if share <= 0.5 else "2 of 7 kernels · 75 % of time")
    slider.focus()
    drawn.press("Home")
    drawn.becomes("[w.time_share, w.filtered_rows.tolist()]", [0.01, [0]])
    drawn.press("End")
    drawn.becomes("w.time_share", 1.0)


def test_the_axes_hold_still_while_the_time_slider_is_held(notebook: OpenNotebook) -> None:
    # Without the last one the axes would need six decades less.
    cell = SMALL.replace("[1e12, 1e12, 1e12, 1e12, 1e11, 1e11, 1e10]", "[1e12, 1e12, 1e12, 1e12, 1e11, 1e18, 1e10]")
    _, drawn = shown(notebook, cell)
    ticks = drawn.chart.locator(".rw-axes > text")
    before = ticks.all_text_contents()
    grip = Grip(menu(drawn).get_by_role("slider"))
    grip.by(-0.5, steps=8)
    drawn.eventually(lambda: counted(drawn).startswith(("1 of", "2 of")))
    assert ticks.all_text_contents() == before
    grip.release()
    drawn.eventually(lambda: ticks.all_text_contents() != before)


def test_a_chip_without_a_kernels_peak_has_no_figure_for_it_and_hides_no_other(notebook: OpenNotebook) -> None:
    cell = """import roofwidget as rw
amd = rw.Chip("AMD", {"fp32": "20 TFLOP/s", "fp64_matrix": "40 TFLOP/s"}, {"HBM": "1 TB/s"})
other = rw.Chip("Other", {"fp32": "40 TFLOP/s"}, {"HBM": "2 TB/s"})
nan = float("nan")
kernels = rw.Kernels(["dgemm", "sgemm"], {"fp64_matrix": [4e13, nan], "fp32": [nan, 4e13]}, [1e9, 1e9], time=[2, 4])
w = rw.RooflineWidget([amd, other], kernels, selected=[0], columns=["name", "bound_by", "utilization"])
w"""
    book, drawn = shown(notebook, cell, height=1400)
    drawn.button("All columns").click()
    cells = drawn.get_by_role("region", name="All columns").get_by_role("gridcell")
    drawn.eventually(lambda: cells.all_inner_texts() == ["compute", "50 %", "compute", "50 %"])
    book.python("setattr(w, 'focus_chip', 'other')")
    drawn.eventually(lambda: cells.all_inner_texts() == ["compute", "25 %", "unknown", "–"])
    assert drawn.sentence() == "dgemm on Other · Other has no peak for its fp64_matrix FLOPs"
    assert book.python("w.bound().bound_by.tolist()") == ["unknown", "compute"]


def test_a_click_on_an_entry_of_the_legend_shows_one_category_and_with_shift_two(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SMALL)
    legend = drawn.locator("[data-rw=legend]")
    entries = legend.locator("[data-category]")
    expect(entries).to_have_text(["dot 75 %", "copy 16 %", "no category 7 %", "Infeed 2 %"])
    parts = drawn.locator(".rw-timebar > i")
    widths = [(part.bounding_box() or {"width": 0})["width"] for part in parts.all()]
    assert widths[0] == pytest.approx(75 / 16 * widths[1], rel=0.05)
    colours = [part.evaluate("(part) => part.style.background") for part in parts.all()]
    dots = entries.locator("circle").all()
    assert [colour_of(circle.get_attribute("fill") or "") for circle in dots] == colours
    entries.nth(1).click()
    drawn.becomes("w.categories", ["copy"])
    expect(entries.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(entries.nth(0)).to_have_attribute("aria-pressed", "false")
    # The dot of what is left out is hollow.
    expect(entries.nth(0).locator("circle")).to_have_attribute("fill", "none")
    entries.nth(2).click(modifiers=["Shift"])
    drawn.becomes("w.categories", ["copy", ""])
    assert counted(drawn) == "4 of 7 kernels · 23 % of time"
    entries.nth(2).click()
    entries.nth(2).click()
    drawn.eventually(lambda: book.python("w.categories is None"))


def test_the_bar_of_time_begins_with_the_idle_time(exported: Callable[..., Exported]) -> None:
    rows = [rw.Kernel(name, 1e12, 1e12, time=time, category=name) for name, time in (("dot", 30), ("copy", 10))]
    kernels = rw.Kernels.from_records([*rows, rw.Kernel("idle", None, None, time=60, category="idle")])
    drawn = exported(rw.roofline([rw.Chip("A", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], kernels).to_html()).drawn
    parts = drawn.locator(".rw-timebar > i")
    expect(parts).to_have_text(["idle 60 % · 60 s", "", ""])
    widths = [(part.bounding_box() or {"width": 0})["width"] for part in parts.all()]
    assert widths == pytest.approx([0.6 * 1246, 0.3 * 1246, 0.1 * 1246], rel=0.01)
    # Shares are of the time in which kernels run.
    expect(drawn.locator("[data-category]")).to_have_text(["dot 75 %", "copy 25 %"])
    expect(drawn.locator("[data-rw=legend]")).to_contain_text("Kernel time")


def test_categories_that_have_no_room_in_the_legend_are_in_a_list(exported: Callable[..., Exported]) -> None:
    rows = [rw.Kernel(f"k{at}", 1e12, 1e12, time=20 - at, category=f"a long category {at}") for at in range(12)]
    html = rw.roofline([rw.Chip("A", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], rows).to_html()
    drawn = exported(html).drawn
    legend = drawn.locator("[data-rw=legend]")
    shown = legend.locator("[data-category]").count()
    assert 3 <= shown <= 8
    legend.get_by_role("button", name=f"+ {12 - shown} more").click()
    expect(legend.locator("[data-category]")).to_have_count(12)
    legend.get_by_role("dialog").get_by_role("button").last.click()
    expect(drawn.locator("[data-rw=row]")).to_have_count(1)
    # On a phone the row of all entries scrolls.
    drawn = exported(html, viewport={"width": 480, "height": 900}).drawn
    legend = drawn.locator("[data-rw=legend]")
    expect(legend.locator("[data-category]")).to_have_count(12)
    assert legend.evaluate("(one) => one.scrollWidth > one.clientWidth && one.clientHeight < 40")


def colour_of(fill: str) -> str:
    """Return a colour as the browser spells it."""
    return f"rgb({', '.join(str(int(fill[at : at + 2], 16)) for at in (1, 3, 5))})"


def test_the_program_is_a_star_and_has_a_scope_of_its_own_with_its_steps(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TPU)
    assert counted(drawn) == "16 of 16 kernels · 100 % of time"
    expect(bar(drawn)).to_contain_text("1 kernel is above the roof.")
    assert drawn.label("kernel 17") == "Program"
    choose(drawn, "Points", "program and steps")
    drawn.becomes("w.scope", "program")
    assert counted(drawn) == "4 totals"
    expect(bar(drawn).get_by_role("searchbox")).to_have_count(0)
    drawn.chart.focus()
    seen = set()
    for _ in range(4):
        drawn.press("ArrowRight")
        seen.add(drawn.tooltip().split(" | ")[0])
    assert seen == {"Program", "Average", "Step 0", "Step 1"}
    assert book.python("w.hovered") is None
    book.python("setattr(w, 'scope', 'kernels')")
    expect(bar(drawn).get_by_role("searchbox")).to_have_count(1)


def test_what_the_reader_said_is_behind_a_link_of_the_source_line(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TPU)
    source = drawn.locator("[data-rw=source]")
    expect(source.get_by_role("listitem")).to_have_count(0)
    source.get_by_role("button", name="1 remark").click()
    said = source.get_by_role("listitem").all_text_contents()
    assert said == book.python("list(w.kernels.warnings)")


def test_the_longest_are_so_many_and_python_may_ask_for_more(notebook: OpenNotebook) -> None:
    many = """import roofwidget as rw
n = 1200
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.RooflineWidget([chip], rw.Kernels([f"k{i}" for i in range(n)], [1e9] * n, [1e9] * n, time=range(1, n + 1)))
w"""
    book, drawn = shown(notebook, many)
    assert counted(drawn) == "1,000 of 1,200 kernels · 97 % of time"
    choose(drawn, "Top", "10")
    drawn.becomes("w.filtered_rows.tolist()", list(range(1190, 1200)))
    drawn.press("Escape")
    bar(drawn).get_by_role("button", name="Remove the filter “Top 10”").click()
    drawn.becomes("[w.top, len(w.filtered)]", [None, 1200])
    book.python("setattr(w, 'top', 7)")
    expect(menu(drawn).get_by_role("combobox", name="Top")).to_have_value("7")


def test_a_handful_of_kernels_has_no_filters_until_some_are_left_out(notebook: OpenNotebook) -> None:
    few = """import roofwidget as rw
w = rw.RooflineWidget(["h100-sxm"], [("a", 1e12, 1e9, 1e-3), ("b", 1e11, 1e9, 1e-3)])
w"""
    book, drawn = shown(notebook, few, "w.top = 1", "w.top = None")
    expect(bar(drawn).get_by_role("searchbox")).to_have_count(0)
    book.run(1)
    # What is hidden can be had back.
    assert counted(drawn) == "1 of 2 kernels · 50 % of time"
    book.run(2)
    expect(bar(drawn).get_by_role("searchbox")).to_have_count(0)


def test_the_figures_of_the_chip_have_a_tab_and_follow_a_what_if(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SMALL)
    chip = drawn.get_by_role("tab", name="Chip")
    expect(chip).to_have_attribute("aria-selected", "false")
    chip.click()
    peaks = drawn.locator("dl.rw-device > div")
    level = drawn.locator("table.rw-device tbody tr")
    expect(peaks).to_have_text([re.compile("bf16.*100.TFLOP/s"), re.compile("fp8.*200.TFLOP/s")])
    expect(level).to_have_text(re.compile("HBM.*1.TB/s.*100.FLOP/B"))
    sides = level.locator("th, td").evaluate_all("(all) => all.map((one) => getComputedStyle(one).textAlign)")
    assert sides == ["start", "end", "end"]
    enter(drawn.box("bandwidth"), "×2")
    expect(level).to_have_text(re.compile("HBM.*2.TB/s.*50.FLOP/B"))
