"""The first minutes at the chart: its tools, the legend of its marks, what can be grabbed, a projector and a finger."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, Finger

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

CELL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
kernels = [rw.Kernel(name, flops, 1e9, time, category=name) for name, flops, time in
  [("copy", 1e9, 2e-3), ("norm", 1e10, 3e-3), ("gemm", 1e12, 2e-2), ("too fast", 1e12, 1e-3)]]
w = rw.roofline(chip, kernels)
w"""
WORDS = ["Undo", "Save", "Fit", "Freeze", "Full screen", "Present"]


def words(drawn: Drawn) -> list[str]:
    """Return the words of the toolbar that are shown beside icons."""
    return [text for text in drawn.root.locator(".roofwidget-toolbar button").all_inner_texts() if text.strip()]


def inside(one: Locator, width: float, height: float) -> bool:
    box = one.bounding_box()
    return (
        box is not None
        and box["x"] >= 0
        and box["y"] >= 0
        and (box["x"] + box["width"] <= width and box["y"] + box["height"] <= height)
    )


@pytest.fixture
def drawn(notebook: OpenNotebook) -> Drawn:
    book = notebook([CELL], width=1280, height=900)
    book.run(0)
    return Drawn(book)


def test_essential_tools_have_words_and_the_legend_says_what_is_drawn(drawn: Drawn) -> None:
    page = drawn.page
    assert words(drawn) == WORDS
    # The legend lists what this chart shows, by pointer or by "?", and gives the focus back.
    drawn.tool("marks").click()
    legend = drawn.root.get_by_role("dialog", name="What the marks mean")
    for mark in ("memory", "compute", "area", "above", "roof", "ceilings", "gap", "peak", "bandwidth", "ridge"):
        expect(legend.locator(f"[data-mark={mark}]")).to_be_visible()
    for mark in ("unmeasured", "sheet", "snapshot", "trail", "runs", "strip", "diagonal"):
        expect(legend.locator(f"[data-mark={mark}]")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(legend).to_have_count(0)
    expect(drawn.tool("marks")).to_be_focused()
    drawn.chart.focus()
    page.keyboard.press("?")
    expect(legend).to_be_visible()
    # What is new on the chart is in the legend.
    drawn.book.python("setattr(w, 'peak_flops', 2e14)")
    expect(legend.locator("[data-mark=sheet]")).to_be_visible()
    page.keyboard.press("Escape")

    # A roof that is hovered for the first time says how it is grabbed, once.
    hint = drawn.root.get_by_role("note")
    x, y = drawn.place(400, 2e14)
    page.mouse.move(x, y - 40)
    page.mouse.move(x, y)
    expect(hint).to_contain_text("the flat, up or down: the peak")
    handle = drawn.root.locator(".roofwidget-handles [data-part=peak]")
    assert handle.evaluate("(one) => getComputedStyle(one).cursor") == "grab"
    page.mouse.move(x, y - 40)
    expect(hint).to_have_count(0)
    page.mouse.move(x, y)
    page.mouse.move(x, y - 1)
    expect(hint).to_have_count(0)

    # With Shift the roof moves a fifth of the way.
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 10)
    page.keyboard.down("Shift")
    page.mouse.move(x, y + 60)
    expect(hint).to_contain_text("Fine")
    moved = drawn.place(1000, drawn.book.python("w.peak_flops"))[1]
    drawn.eventually(lambda: abs(drawn.place(1000, drawn.book.python("w.peak_flops"))[1] - y - 20) < 1.5)
    assert moved < y + 40
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(hint).to_have_count(0)


def test_in_a_narrow_widget_undo_and_save_are_first_and_the_rest_in_a_menu(drawn: Drawn) -> None:
    page = drawn.page
    # Narrower, words go first, then tools go to a menu that is not about axes; undo and save stay first.
    page.set_viewport_size({"width": 480, "height": 900})
    drawn.root.locator(".roofwidget-narrow").wait_for()
    drawn.eventually(lambda: words(drawn) == ["Undo", "Save"])
    names = drawn.root.locator(".roofwidget-toolbar button").evaluate_all("(all) => all.map((one) => one.dataset.tool)")
    assert names[:2] == ["undo", "png"]
    assert {"fit", "freeze", "screen", "presentation", "marks", "more"} <= set(names)
    drawn.root.locator("[data-tool=more]").click()
    menu = drawn.root.get_by_role("dialog", name="More tools")
    expect(menu.get_by_role("button", name=re.compile("^Rulers"))).to_have_text("Rulers (R)")
    menu.get_by_role("button", name="Axes").click()
    expect(menu).to_have_count(0)
    expect(drawn.root.get_by_role("dialog", name="Axes")).to_be_visible()
    page.keyboard.press("Escape")
    drawn.root.locator("[data-tool=more]").click()
    rulers = menu.get_by_role("button", name=re.compile("^Rulers"))
    expect(rulers).to_have_attribute("aria-pressed", "true")
    rulers.click()
    expect(menu).to_have_count(0)
    drawn.root.locator("[data-tool=more]").click()
    expect(rulers).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Escape")


def test_a_phone_keeps_the_button_that_ends_a_presentation_and_full_screen_closes_the_menu(drawn: Drawn) -> None:
    page = drawn.page
    page.set_viewport_size({"width": 480, "height": 900})
    drawn.root.locator(".roofwidget-narrow").wait_for()
    drawn.tool("presentation").click()
    drawn.root.locator(".roofwidget-large").wait_for()
    bar = drawn.root.locator(".roofwidget-toolbar")
    drawn.eventually(lambda: bar.locator("[data-tool=screen]").count() == 0)
    names = bar.locator("button").evaluate_all("(all) => all.map((one) => one.dataset.tool)")
    assert names[:2] == ["undo", "png"]
    expect(bar.locator("[data-tool=presentation]")).to_be_visible()
    bar.locator("[data-tool=more]").click()
    menu = drawn.root.get_by_role("dialog", name="More tools")
    menu.get_by_role("button", name="Full screen").click()
    expect(menu).to_have_count(0)
    drawn.eventually(lambda: bool(page.evaluate("document.fullscreenElement !== null")))
    page.evaluate("document.exitFullscreen()")
    drawn.eventually(lambda: bool(page.evaluate("document.fullscreenElement === null")))
    bar.locator("[data-tool=presentation]").click()
    drawn.root.locator(".roofwidget-large").wait_for(state="detached")


def test_panels_go_below_and_a_projector_shows_chart_and_sliders_at_once(drawn: Drawn) -> None:
    page = drawn.page
    chart, side = drawn.chart, drawn.root.locator(".roofwidget-side")
    boxes = [one.bounding_box() for one in (chart, side)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["x"] > boxes[0]["x"] + boxes[0]["width"]
    page.set_viewport_size({"width": 1024, "height": 768})
    drawn.root.locator(".roofwidget-stacked:not(.roofwidget-narrow)").wait_for()
    boxes = [one.bounding_box() for one in (chart, side)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]

    drawn.tool("presentation").click()
    drawn.root.locator(".roofwidget-large").wait_for()
    drawn.root.evaluate("(root) => root.scrollIntoView()")
    status = page.locator("#jp-bottom-panel, #jp-main-statusbar").last.bounding_box()
    bottom = status["y"] if status else 768
    shown = [chart, drawn.slider("peak"), drawn.slider("bandwidth"), drawn.root.locator("[data-tool=presentation]")]
    drawn.eventually(lambda: all(inside(one, 1024, bottom) for one in shown))
    drawn.tool("presentation").click()
    drawn.root.locator(".roofwidget-large").wait_for(state="detached")


def test_a_finger_moves_the_roof_gently_and_more_gently_after_a_rest(notebook: OpenNotebook) -> None:
    book = notebook([CELL], width=480, height=900)
    book.run(0)
    drawn = Drawn(book)
    drawn.chart.scroll_into_view_if_needed()
    x, y = drawn.place(400, 1e14)
    finger = Finger(drawn)
    finger.press(x, y)
    for step in range(1, 7):
        finger.move(x, y + 6 * step)
    finger.lift()
    drawn.eventually(lambda: book.python("w.peak_flops") < 9e13)
    assert 1e14 / book.python("w.peak_flops") < 2.2, "36 px are less than a factor of ten"

    now = book.python("w.peak_flops")
    x, y = drawn.place(400, now)
    finger.press(x, y)
    expect(drawn.root.get_by_role("note")).to_contain_text("Fine")
    for step in range(1, 7):
        finger.move(x, y + 6 * step)
    finger.lift()
    drawn.eventually(lambda: book.python("w.peak_flops") < now)
    assert now / book.python("w.peak_flops") < 1.2
