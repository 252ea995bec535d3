"""Settings of a lesson on an exported page: what is locked, limited, hidden, and called by other words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

import roofwidget as rw
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, Finger, box_of, centre, enter
from tests.browser.test_access import AXE, GRAPH, PROFILE, UNFOLD, checked, contrasts
from tests.browser.test_page import CHIPS, KERNELS
from tests.places import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

    OpenPage = Callable[..., Exported]

LOCKED = "Locked in this lesson"
ALL_LOCKS = (
    "peak_flops",
    "bandwidth",
    "chips",
    "precision",
    "memory",
    "partition",
    "dims",
    "phase",
    "moves",
    "filters",
    "view",
)
MANY = [
    rw.Kernel(f"kernel {row}", 1e12 * (row + 1), 1e10, time=0.02 * (row + 1), category="ab"[row % 2])
    for row in range(8)
]


def lesson(kernels: Any = KERNELS, **traits: Any) -> str:
    """Return a page of two chips with these traits."""
    widget = rw.roofline(CHIPS, kernels)
    for name, value in traits.items():
        setattr(widget, name, value)
    return widget.to_html()


def graph_lesson(**traits: Any) -> str:
    """Return a page of a graph with a size."""
    graph = rw.Graph("tail")
    x = graph.input("x", (rw.dim("batch", 1, 1024, default=32) * 2048, 4096), "bf16")
    graph.output(graph.add(graph.dropout(graph.gelu(graph.layernorm(x))), x))
    widget = rw.roofline(["h100-sxm"], graph=graph)
    for name, value in traits.items():
        setattr(widget, name, value)
    return widget.to_html()


def part(drawn: Drawn, name: str) -> Locator:
    """Return the part of the roof that a pointer can press."""
    return drawn.locator(f".rw-handles [data-part='{name}']")


def frames(drawn: Drawn) -> None:
    """Wait until what was pressed would have been drawn."""
    drawn.page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def drag(drawn: Drawn, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Drag with the mouse from a place on the page."""
    drawn.pull(start, (start[0] + by[0], start[1] + by[1]), drop=False)
    frames(drawn)
    drawn.mouse.up()
    frames(drawn)


def slide(drawn: Drawn, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Drag with a finger from a place on the page."""
    finger = Finger(drawn)
    finger.drag(start, (start[0] + by[0], start[1] + by[1]))
    frames(drawn)
    finger.lift()
    frames(drawn)


def middle(locator: Locator) -> tuple[float, float]:
    """Return the middle of an element, px."""
    locator.scroll_into_view_if_needed()
    return centre(locator)


@pytest.mark.parametrize("move", [drag, slide])
def test_a_locked_rate_is_not_moved_by_pointer_touch_or_keys(exported: OpenPage, move: Callable[..., None]) -> None:
    drawn = exported(lesson(locks=["bandwidth"]), has_touch=True).drawn
    before = drawn.roof("one")
    expect(drawn.slider("bandwidth")).to_be_disabled()
    expect(drawn.slider("bandwidth")).to_have_attribute("title", LOCKED)
    expect(drawn.box("bandwidth")).to_be_disabled()
    expect(drawn.reset("bandwidth")).to_have_count(0)
    move(drawn, middle(drawn.slider("bandwidth")), (60, 0))
    drawn.chart.scroll_into_view_if_needed()
    # A drag of the slope moves nothing. A drag of the ridge point moves the peak only.
    expect(part(drawn, "bandwidth")).to_have_count(0)
    move(drawn, drawn.place(3, 3e12), (60, 0))
    assert drawn.roof("one") == before
    expect(drawn.tool("undo")).to_have_attribute("aria-disabled", "true")
    move(drawn, drawn.place(100, 1e14), (40, 40))
    drawn.eventually(lambda: drawn.roof("one") != before)
    expect(drawn.locator("[data-rw='status']")).to_contain_text("1 TB/s from HBM")
    assert drawn.box("peak").input_value() != "100 TFLOP/s"
    drawn.tool("undo").click()
    drawn.eventually(lambda: drawn.roof("one") == before)


def test_a_roof_with_two_locked_rates_cannot_be_grabbed(exported: OpenPage) -> None:
    drawn = exported(lesson(locks=["bandwidth", "peak_flops"])).drawn
    before = drawn.roof("one")
    expect(drawn.locator(".rw-handles, [data-rw=grips] circle")).to_have_count(0)
    for place in (drawn.place(100, 1e14), drawn.place(1e3, 1e14), drawn.place(3, 3e12)):
        drag(drawn, place, (40, 40))
    assert drawn.roof("one") == before
    drawn.tool("marks").click()
    legend = drawn.get_by_role("dialog", name="What the marks mean")
    expect(legend).to_contain_text("selects kernels")
    expect(legend).not_to_contain_text("the peak")


def test_locked_chips_selects_view_and_kernels_stay_as_they_are(exported: OpenPage) -> None:
    page = exported(lesson(locks=["chips", "precision", "memory", "view", "moves"]))
    drawn = page.drawn
    before = drawn.roof("one"), drawn.roof("two")
    for name in ("Show Two", "Show One"):
        button = drawn.button(name, exact=True)
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_have_attribute("title", LOCKED)
        button.click(force=True)
        button.press("Enter")
    drawn.locator(".rw-name", has_text="Two").click(force=True)
    for name in ("chips", "precision", "memory"):
        opener = drawn.locator(f"[data-tool={name}]")
        expect(opener).to_have_attribute("aria-disabled", "true")
        expect(opener).to_have_attribute("title", LOCKED)
        opener.click(force=True)
        expect(opener).to_have_attribute("aria-expanded", "false")
    drawn.press("c")
    expect(drawn.get_by_role("dialog")).to_have_count(0)
    # The view: keys, the wheel, a double click, and the tools.
    for tool in ("time", "in", "out", "fit", "zoom", "pan"):
        expect(drawn.tool(tool)).to_have_attribute("aria-disabled", "true")
        expect(drawn.tool(tool)).to_have_attribute("title", LOCKED)
    drawn.press("Escape")
    drawn.chart.focus()
    for key in ("+", "-", "w", "a", "0"):
        drawn.press(key)
    drawn.mouse.move(*drawn.place(10, 1e13))
    drawn.mouse.wheel(0, -200)
    frames(drawn)
    assert (drawn.roof("one"), drawn.roof("two")) == before
    # The kernels: by mouse, and by keys.
    spot = drawn.place(400, 5e13)
    drag(drawn, spot, (0, -60))
    drawn.chart.focus()
    drawn.press("Home")
    for key in ("m", "ArrowUp", "ArrowUp", "Enter"):
        drawn.press(key)
    frames(drawn)
    expect(drawn.locator("[data-ghost]")).to_have_count(0)
    expect(drawn.locator("[data-kernel]")).to_have_count(0)
    expect(drawn.tool("undo")).to_have_attribute("aria-disabled", "true")


def test_locked_filters_and_sorting_stay_as_they_are(exported: OpenPage) -> None:
    drawn = exported(lesson(MANY, locks=["filters"])).drawn
    expect(drawn.get_by_role("searchbox")).to_be_disabled()
    drawn.button(re.compile("^Filter")).click()
    filters = drawn.get_by_role("dialog")
    for select in filters.locator("select").all():
        expect(select).to_be_disabled()
    expect(filters.get_by_role("slider")).to_be_disabled()
    drawn.press("Escape")
    for entry in drawn.locator("[data-rw='legend'] button").all():
        entry.click(force=True)
    heads = drawn.get_by_role("grid").get_by_role("columnheader")
    sorting = heads.evaluate_all("(all) => all.map((one) => one.ariaSort)")
    for head in heads.all()[1:4]:
        head.locator("button").click(force=True)
        head.locator("button").press("Enter")
    frames(drawn)
    assert heads.evaluate_all("(all) => all.map((one) => one.ariaSort)") == sorting
    expect(drawn.get_by_role("tabpanel")).to_contain_text("8 of 8 kernels")


def test_a_locked_graph_keeps_its_sizes_and_kernels(exported: OpenPage) -> None:
    drawn = exported(graph_lesson(locks=["partition", "dims", "phase"])).drawn
    drawn.open_tab("workload")
    workload = drawn.locator(".rw-workload")
    expect(workload.get_by_role("slider")).to_be_disabled()
    expect(workload.get_by_role("textbox")).to_be_disabled()
    for select in workload.locator("select").all():
        expect(select).to_be_disabled()
    drawn.open_tab("fusion")
    flow = drawn.locator(".rw-flow")
    flow.scroll_into_view_if_needed()
    names = drawn.locator(".rw-members li")
    before = names.all_text_contents()
    assert len(before) == 4
    expect(drawn.locator(".rw-best")).to_have_attribute("title", LOCKED)
    drawn.locator(".rw-best").click(force=True)
    drawn.button("Other ways").click()
    for preset in ("None: split all", "Pairs", "XLA-like"):
        button = drawn.get_by_role("menuitem", name=preset, exact=True)
        expect(button).to_have_attribute("title", LOCKED)
        button.click(force=True)
    flow.focus()
    for key in ("ArrowDown", "Enter", "s", "x"):
        flow.press(key)
    drag(drawn, middle(flow.locator("[data-op='gelu']")), (0, 70))
    flow.locator("[data-from='layernorm'][data-to='gelu']").click(force=True)
    expect(drawn.locator("[data-rw='edge-note']")).to_have_count(0)
    frames(drawn)
    assert names.all_text_contents() == before
    expect(drawn.locator(".rw-told")).to_have_text(LOCKED)


def test_a_rate_stays_in_its_range_by_slider_box_keys_and_roof(exported: OpenPage) -> None:
    drawn = exported(lesson(ranges={"bandwidth": ("500 GB/s", "2 TB/s")})).drawn
    slider, box = drawn.slider("bandwidth"), drawn.box("bandwidth")
    enter(box, "9 TB/s")
    expect(box).to_have_value("2 TB/s")
    enter(box, "1 GB/s")
    expect(box).to_have_value("500 GB/s")
    slider.press("ArrowLeft")
    expect(box).to_have_value("500 GB/s")
    slider.press("End")
    expect(box).to_have_value("2 TB/s")
    drawn.drag("bandwidth", -1.0)
    expect(box).to_have_value("500 GB/s")
    drag(drawn, drawn.place(10, 5e12), (-300, 0))
    expect(box).to_have_value("2 TB/s")


def test_a_rate_snaps_by_slider_box_keys_and_roof(exported: OpenPage) -> None:
    drawn = exported(lesson(snap={"bandwidth": ["500 GB/s", "1 TB/s", "4 TB/s"]})).drawn
    slider, box = drawn.slider("bandwidth"), drawn.box("bandwidth")
    for typed, snapped in (("1.9 TB/s", "1 TB/s"), ("2.1 TB/s", "4 TB/s"), ("1 GB/s", "500 GB/s")):
        enter(box, typed)
        expect(box).to_have_value(snapped)
    for key, stop in (("ArrowRight", "1 TB/s"), ("PageUp", "4 TB/s"), ("ArrowUp", "4 TB/s"), ("ArrowLeft", "1 TB/s")):
        slider.press(key)
        expect(box).to_have_value(stop)
    thumb = "(input) => Number(input.value)"
    at = slider.evaluate(thumb)
    # While the mouse is down, the thumb waits at a stop, too.
    drawn.drag("bandwidth", 0.05, during=lambda: expect_thumb(slider, at))
    expect(box).to_have_value("1 TB/s")
    drag(drawn, drawn.place(10, 1e13), (-100, 0))
    expect(box).to_have_value("4 TB/s")


def expect_thumb(slider: Locator, at: float) -> None:
    """Hold the thumb of a slider to a position."""
    assert slider.evaluate("(input) => Number(input.value)") == pytest.approx(at, abs=1e-9)


def test_hidden_panels_are_left_out(exported: OpenPage) -> None:
    selectors = {
        "chips": "[data-rw=add-chip]",
        "hardware": ".rw-rate, [data-rw='tab-chip']",
        "projection": "[data-rw='tab-projection']",
        "filters": "[type=search]",
        "table": "[data-rw='tab-kernels']",
        "sentence": ".rw-formula, [data-rw='verdict']",
        "tools": "[data-tool='save']",
    }
    whole = exported(lesson(MANY)).drawn
    for selector in selectors.values():
        expect(whole.locator(selector)).not_to_have_count(0)
    # Of each two panels, one page hides one alone.
    for bit in range(3):
        hidden = [name for number, name in enumerate(selectors, 1) if number >> bit & 1]
        drawn = exported(lesson(MANY, hidden_panels=hidden)).drawn
        for name, selector in selectors.items():
            if name in hidden:
                expect(drawn.locator(selector)).to_have_count(0)
            # The box to search is in the tab of the kernels.
            elif name != "filters" or "table" not in hidden:
                expect(drawn.locator(selector)).not_to_have_count(0)
    bare = exported(lesson(MANY, hidden_panels=list(selectors))).drawn
    bare.press("?")
    expect(bare.get_by_role("dialog")).to_have_count(0)
    wide, room = box_of(bare.chart), box_of(bare.root)
    assert wide["width"] > room["width"] - 10, "the chart has the room of the panels"
    graph = exported(graph_lesson(hidden_panels=["workload", "fusion"])).drawn
    expect(graph.locator(".rw-formula")).not_to_have_count(0)
    expect(graph.locator("[data-rw='tab-workload'], [data-rw='tab-fusion']")).to_have_count(0)
    expect(graph.locator("[data-rw='tab-chip'], [data-rw='tab-kernels']")).to_have_count(2)


def test_the_words_of_a_lecturer_are_used_everywhere(exported: OpenPage) -> None:
    drawn = exported(lesson(terms={"intensity": "operational", "ridge": "knee"})).drawn
    expect(drawn.locator(".rw-ridge-number")).to_have_text("knee 100")
    expect(drawn.locator("[data-rw='status']")).to_contain_text("knee 100 FLOP/B")
    expect(drawn.chart).to_contain_text("operational intensity, FLOP per byte")
    expect(drawn.chart).not_to_contain_text("arithmetic")
    drawn.tool("marks").click()
    legend = drawn.get_by_role("dialog", name="What the marks mean")
    expect(legend).to_contain_text("the knee: both")
    drawn.press("Escape")
    widget = rw.roofline(CHIPS, KERNELS)
    widget.terms = {"intensity": "operational", "ridge": "machine balance"}
    picture = widget.to_svg()
    assert "machine balance 100" in picture.replace("\xa0", " ")
    assert "operational intensity" in picture


def test_axe_finds_nothing_where_everything_is_locked(notebook: OpenNotebook) -> None:
    locked = [f"{cell.removesuffix('w')}w.locks = {ALL_LOCKS!r}\ndisplay(w)" for cell in (GRAPH, PROFILE)]
    book = notebook(["\n".join(["import roofwidget as rw", *locked])], height=2600)
    book.page.add_script_tag(content=text_of(AXE))
    book.run(0)
    profile = Drawn(book, 1)
    both = book.page.locator(".jp-Cell-outputArea")
    expect(both.locator("[data-rw='inspector']")).to_have_count(2)
    # The list of chips does not open.
    assert all(" disabled" in one for one in both.evaluate(UNFOLD))
    assert {"color-contrast", "target-size", "label"} <= checked(both)
    profile.axes()
    for select in profile.get_by_role("dialog").locator("select").all():
        expect(select).to_be_disabled()
    checked(profile.root)
    book.theme("dark")
    expect(profile.locator(".rw-dark")).to_be_visible()
    contrasts(both)
