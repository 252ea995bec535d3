"""Levels, ceilings, communication, the chip's card and the picker, in a real JupyterLab."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, enter, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

    OpenPage = Callable[..., Exported]

LEVELS = """import roofwidget as rw
chip = rw.Chip("Deep", {"bf16": "100 TFLOP/s", "fp32": "20 TFLOP/s"},
               {"HBM": "1 TB/s", "L2": "10 TB/s", "CMEM": "20 TB/s", "L1": None})
chip = chip.with_ceiling("no FMA", peak_flops="50 TFLOP/s").with_measured(bandwidth={"HBM": "0.8 TB/s"})
w = rw.roofline([chip, "h100-sxm"], [
    {"name": "tiled", "flops": 1e12, "bytes": {"HBM": 1e9, "L2": 5e11, "CMEM": 5e10}, "time": 0.1},
    {"name": "streaming", "flops": 1e12, "bytes": {"HBM": 1e12, "L2": 1e12, "CMEM": 1e12}, "time": 2.0},
], memory="all")
w"""
GUIDE = """import roofwidget as rw
guide = rw.preset("tpu-roofline-guide")
w = rw.roofline(guide.chips[1:2], guide.kernels)
w"""
CATALOGUE = """import roofwidget as rw
w = rw.roofline(rw.chips(), rw.preset("tpu-roofline-guide").kernels)
w"""


def levels(drawn: Drawn) -> list[str]:
    found: list[str] = drawn.locator(".rw-levels [data-level]").evaluate_all(
        "(all) => all.map((one) => one.dataset.level)"
    )
    return found


def test_with_all_levels_those_that_bind_have_a_roof_and_a_tick_shows_the_others(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, LEVELS)
    assert levels(drawn) == ["L2"]
    expect(drawn.locator(".rw-ridge-number")).to_have_text("ridge 100")
    drawn.open_tab("chip")
    expect(drawn.root.get_by_text("Bandwidth unknown, so not drawn: L1")).to_be_visible()
    drawn.get_by_role("checkbox", name="show levels that bind no kernel").check()
    assert sorted(levels(drawn)) == ["CMEM", "L2"]
    drawn.eventually(lambda: book.python("w.all_levels") is True)
    assert book.python("w.bound().bound_by.tolist()") == ["L2", "HBM"]


def test_the_sentence_of_a_kernel_spells_out_every_level(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, LEVELS)
    book.python("setattr(w, 'selected', [0])")
    # All of it is spoken. The status row shows the formula.
    status = drawn.locator("[data-rw='status']")
    expect(status).to_contain_text("tiled on Deep")
    assert (
        "min(100 TFLOP/s, HBM 1000 FLOP/B × 1 TB/s, L2 2 FLOP/B × 10 TB/s, CMEM 20 FLOP/B × 20 TB/s) = 20 TFLOP/s"
    ) in drawn.sentence()


def test_the_bandwidth_of_each_level_has_its_own_slider(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, LEVELS)
    box = drawn.get_by_role("textbox", name="L2 bandwidth, typed")
    enter(box, "600 TB/s")
    drawn.becomes("dict(w.what_if.get('deep', {}).get('bandwidth', {}))", {"L2": 600e12})
    assert book.python("w.bound().bound_by.tolist()") == ["compute", "HBM"]
    assert levels(drawn) == []


def test_the_memory_menu_offers_all_levels(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, LEVELS)
    drawn.choose("memory", "main")
    drawn.becomes("w.memory", "main")
    assert levels(drawn) == []
    drawn.choose("memory", "all")
    drawn.becomes("w.memory", "all")
    assert levels(drawn) == ["L2"]


def test_ceilings_are_ticked_and_what_was_measured_is_drawn_in_its_own_style(notebook: OpenNotebook) -> None:
    # Far enough from the roof to be drawn at rest.
    cell = LEVELS.replace('memory="all"', 'memory="main"').replace("0.8 TB/s", "0.3 TB/s")
    _, drawn = shown(notebook, cell)
    lines = drawn.locator(".rw-subroof")
    styles = lines.evaluate_all("(all) => all.map((one) => [one.dataset.roof, one.dataset.style])")
    assert sorted(styles) == [["ceiling measured HBM", "measured"], ["ceiling no FMA", "ceiling"]]
    dashes = lines.evaluate_all("(all) => all.map((one) => one.getAttribute('stroke-dasharray'))")
    assert len(set(dashes)) == 2
    drawn.open_tab("chip")
    drawn.get_by_role("checkbox", name=re.compile("^fp32")).check()
    drawn.get_by_role("checkbox", name=re.compile("^no FMA")).uncheck()
    drawn.becomes("sorted(w.ceilings or [])", ["fp32", "measured HBM"])
    assert lines.count() == 2


def test_exposed_communication_lowers_the_whole_roof(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, GUIDE)
    drawn.open_tab("chip")
    box = drawn.get_by_role("textbox", name="Fractions exposed, typed")
    enter(box, "20, 40, 60 %")
    drawn.becomes("list(w.exposed_roofs)", [0.2, 0.4, 0.6])
    expect(drawn.locator(".rw-subroof[data-style='communication']")).to_have_count(3)
    slider = drawn.get_by_role("slider", name="Exposed communication")
    slider.focus()
    before = slider.get_attribute("aria-valuetext") or ""
    slider.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") != before
    drawn.button("No exposed communication").click()
    drawn.becomes("list(w.exposed_roofs)", [])


def test_the_card_shows_every_figure_with_its_source_as_text(notebook: OpenNotebook) -> None:
    cell = """import roofwidget as rw
evil = rw.Chip("Mine", {"bf16": 1e14}, {"HBM": 1e12, "L2": None},
               sources={"peak_flops.bf16": rw.Source("<img src=x onerror=alert(1)>", "javascript:alert(1)", "given"),
                        "memories.HBM.bandwidth": rw.Source("Data sheet", "https://example.org/sheet", "datasheet")})
w = rw.roofline([evil, "h100-sxm"])
w"""
    book, drawn = shown(notebook, cell)
    drawn.open_tab("chip")
    card = drawn.locator(".rw-card")
    assert "<img src=x onerror=alert(1)>" in card.inner_text()
    assert "unknown" in card.inner_text()
    assert card.locator("img").count() == 0
    links = card.get_by_role("link")
    assert links.evaluate_all("(all) => all.map((one) => one.href)") == ["https://example.org/sheet"]
    book.python("setattr(w, 'focus_chip', 'h100-sxm')")
    drawn.eventually(lambda: "989.5 TFLOP/s" in card.inner_text())
    assert "×2" in card.inner_text()


BOXES = """(root) => [...root.querySelectorAll("button, input, select, [role=tab], [data-rw=slider], [data-rw=plot]")]
  .map((one) => { const { x, y, width, height } = one.getBoundingClientRect();
    return [one.getAttribute("aria-label") ?? one.dataset.rw ?? one.tagName, x, y, width, height].join(" "); })"""


@pytest.mark.parametrize("width", [1280, 1024, 480])
@pytest.mark.parametrize("chips", [["h100-sxm"], ["h100-sxm", "tpu-v5e", "mi300x"]])
def test_nothing_moves_while_a_rate_is_dragged(exported: OpenPage, width: int, chips: list[str]) -> None:
    html = rw.roofline(chips, rw.preset("tpu-roofline-guide").kernels).to_html()
    drawn = exported(html, viewport={"width": width, "height": 900}).drawn
    expect(drawn.box("peak")).to_have_css("width", "128px")
    boxes: list[list[str]] = [drawn.root.evaluate(BOXES)]
    bubble = drawn.locator(".rw-bubble")

    def look() -> None:
        expect(bubble).to_have_text(re.compile(r"FLOP/s · .*×"))
        boxes.append(drawn.root.evaluate(BOXES))

    drawn.drag("peak", 0.3, during=look)
    expect(bubble).to_have_count(0)
    expect(drawn.reset("peak")).to_be_visible()
    boxes.append(drawn.root.evaluate(BOXES))
    assert boxes[0] == boxes[1] == boxes[2]
    assert drawn.box("peak").evaluate("(one) => one.scrollWidth <= one.clientWidth"), "the value is not cut off"
    drawn.reset("peak").click()
    expect(drawn.reset("peak")).to_have_count(0)
    expect(drawn.box("peak")).to_be_focused()
    # What is typed wrongly is told in the status row, and moves nothing either.
    enter(drawn.box("peak"), "fast")
    status = drawn.locator("[data-rw='status']")
    expect(status).to_contain_text("no number in “fast”; write for example “2 PFLOP/s”")
    expect(drawn.box("peak")).to_have_attribute("aria-invalid", "true")
    assert drawn.root.evaluate(BOXES) == boxes[0]
    expect(drawn.slider("peak")).to_have_attribute("aria-valuetext", "989.5 teraFLOPs per second")
    enter(drawn.box("peak"), "500 TFLOP/s")
    expect(status).not_to_contain_text("no number")
    expect(drawn.box("peak")).to_have_attribute("aria-invalid", "false")


def test_two_sliders_are_as_wide_as_each_other_and_stand_in_one_row_or_narrow_in_two(exported: OpenPage) -> None:
    html = rw.roofline(["h100-sxm"]).to_html()
    for width, rows in ((1280, 1), (480, 2)):
        drawn = exported(html, viewport={"width": width, "height": 900}).drawn
        one, other = (drawn.locator("[data-rw='slider']").nth(at).bounding_box() for at in (0, 1))
        assert one is not None
        assert other is not None
        assert abs(one["width"] - other["width"]) <= 1
        assert (other["y"] > one["y"]) == (rows == 2)
        assert one["height"] == (40 if rows == 1 else 36)


def test_the_menu_of_a_box_judges_by_measured_rates(exported: OpenPage) -> None:
    drawn = exported(rw.roofline(["h100-sxm"]).to_html()).drawn
    drawn.locator(".rw-rates").get_by_label("Peaks").first.select_option("achievable")
    # The measured rates of the catalogue.
    expect(drawn.box("peak")).to_have_value("794.5 TFLOP/s")
    expect(drawn.box("bandwidth")).to_have_value("3.18 TB/s")
    drawn.open_tab("chip")
    tab = drawn.get_by_role("tabpanel")
    expect(tab.get_by_label("Peaks")).to_have_value("achievable")
    tab.get_by_label("Peaks").select_option("printed")
    expect(drawn.box("peak")).to_have_value("989.5 TFLOP/s")


def test_the_tab_of_the_chip_has_peaks_levels_ceilings_communication_and_sources(exported: OpenPage) -> None:
    drawn = exported(rw.roofline(["h100-sxm"]).to_html()).drawn
    expect(drawn.get_by_role("tabpanel")).to_have_count(0)
    drawn.open_tab("chip")
    tab = drawn.get_by_role("tabpanel")
    for text in ("Peak bf16", "989.5 TFLOP/s", "295.4 FLOP/B", "Ceilings", "Communication", "Details"):
        expect(tab).to_contain_text(text)
    expect(tab.get_by_role("link").first).to_be_attached()
    assert tab.get_by_role("checkbox").count() >= 2


def test_snapshots_have_a_tab_once_there_is_one(exported: OpenPage) -> None:
    drawn = exported(rw.roofline(["h100-sxm"]).to_html()).drawn
    expect(drawn.locator("[data-rw='tab-snapshots']")).to_have_count(0)
    drawn.chart.focus()
    drawn.press("f")
    drawn.open_tab("snapshots")
    tab = drawn.get_by_role("tabpanel")
    name = tab.get_by_role("textbox", name="Name of snapshot 1")
    expect(name).to_have_value("snapshot 1")
    tab.get_by_role("button", name="Delete snapshot 1").click()
    expect(drawn.locator("[data-rw='tab-snapshots']")).to_have_count(0)


def test_the_palette_finds_one_chip_of_the_whole_catalogue_and_shows_it(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, CATALOGUE)
    add = drawn.locator("[data-rw=add-chip]")
    add.click()
    search = drawn.get_by_role("combobox", name="Search chips")
    expect(search).to_be_focused()
    search.fill("nvidia h200")
    option = drawn.get_by_role("option", name="H200 SXM")
    expect(option).to_contain_text("2024")
    expect(option).to_contain_text("4.8 TB/s")
    # A click on the sign adds and stays.
    option.locator(".rw-stay").click()
    drawn.eventually(lambda: "h200-sxm" in book.python("list(w.shown)"))
    assert drawn.has_roof("h200-sxm")
    expect(drawn.locator("[role=option][data-chip='tpu-v5e']")).to_have_count(0)
    # The arrow keys move the active option, and the focus stays in the search box.
    search.fill("h100")
    options = drawn.get_by_role("option")
    for key, place in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", -1), ("ArrowDown", 0)):
        search.press(key)
        active = options.nth(place) if place >= 0 else options.last
        expect(active).to_have_attribute("aria-selected", "true")
        expect(search).to_have_attribute("aria-activedescendant", active.get_attribute("id") or "")
    expect(search).to_be_focused()
    search.press("Escape")
    expect(search).to_have_count(0)
    expect(add).to_be_focused()
