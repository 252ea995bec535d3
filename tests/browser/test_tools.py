"""The first minutes at the chart: its tools, the legend of its marks, what can be grabbed, a projector and a finger."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, Finger, enter, shown
from tests.places import text_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

CELL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
kernels = [rw.Kernel(name, flops, 1e9, time, category=name) for name, flops, time in
  [("copy", 1e9, 2e-3), ("norm", 1e10, 3e-3), ("gemm", 1e12, 2e-2), ("too fast", 1e12, 1e-3)]]
w = rw.roofline(chip, kernels)
w"""
WORDS = ["+ Chip", "Example", "bf16▾", "HBM▾", "Roofline▾", "↶ Undo", "↷", "Open▾", "Save▾", "Present", "?", "⋯"]


def words(drawn: Drawn) -> list[str]:
    """Return the words and signs of the toolbar."""
    return [text for text in drawn.get_by_role("toolbar").locator("button").all_inner_texts() if text.strip()]


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
    return shown(notebook, CELL, width=1280, height=900)[1]


def test_the_toolbar_has_words_and_the_legend_says_what_is_drawn(drawn: Drawn) -> None:
    page = drawn.page
    assert words(drawn) == WORDS
    # The legend lists what this chart shows, by pointer or by "?", and gives the focus back.
    drawn.tool("marks").click()
    legend = drawn.get_by_role("dialog", name="What the marks mean")
    for mark in ("dot", "area", "above", "roof", "ceilings", "gap", "peak", "bandwidth", "ridge"):
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

    # A pointer that rests on the roof is told what a drag changes.
    hint = drawn.get_by_role("note")
    x, y = drawn.place(400, 2e14)
    page.mouse.move(x, y - 40)
    page.mouse.move(x, y)
    expect(hint).to_have_text("drag: peak")
    handle = drawn.locator(".rw-handles [data-part=peak]").first
    assert handle.evaluate("(one) => getComputedStyle(one).cursor") == "ns-resize"
    page.mouse.move(x, y - 40)
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


def test_in_a_narrow_widget_chips_and_judging_stay_and_the_rest_is_in_a_menu(drawn: Drawn) -> None:
    page = drawn.page
    page.set_viewport_size({"width": 480, "height": 900})
    drawn.locator(".rw-narrow").wait_for()
    drawn.eventually(lambda: words(drawn) == ["+", "Example", "bf16 · HBM▾", "⋯"])
    bar = drawn.get_by_role("toolbar")
    assert bar.evaluate("(bar) => bar.scrollWidth <= bar.clientWidth")
    more = drawn.locator("[data-tool=more]")
    more.click()
    menu = drawn.get_by_role("menu", name="More")
    for name in (
        "undo",
        "redo",
        "open",
        "save",
        "present",
        "marks",
        "axes",
        "freeze",
        "in",
        "fit",
        "pan",
        "screen",
        "keys",
    ):
        expect(menu.locator(f"[data-tool={name}]")).to_have_count(1)
    menu.get_by_role("menuitem", name="Axes").click()
    expect(menu).to_have_count(0)
    expect(drawn.get_by_role("dialog", name="Axes")).to_be_visible()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    more.click()
    rulers = menu.get_by_role("menuitemcheckbox", name="Rulers")
    expect(rulers).to_have_attribute("aria-checked", "true")
    rulers.click()
    expect(menu).to_have_count(0)
    more.click()
    expect(rulers).to_have_attribute("aria-checked", "false")
    page.keyboard.press("Escape")
    # One menu has precision, memory and view.
    drawn.button("bf16, HBM: Precision, Memory, View").click()
    drawn.get_by_role("menuitemradio", name="Time").click()
    drawn.becomes("w.view", "time")


def test_a_phone_keeps_the_button_that_ends_a_presentation_and_full_screen_closes_the_menu(drawn: Drawn) -> None:
    page = drawn.page
    page.set_viewport_size({"width": 480, "height": 900})
    drawn.locator(".rw-narrow").wait_for()
    drawn.tool("present").click()
    drawn.locator(".rw-large").wait_for()
    present = drawn.button("Present")
    expect(present).to_have_attribute("aria-pressed", "true")
    drawn.tool("screen").click()
    expect(drawn.get_by_role("menu")).to_have_count(0)
    drawn.eventually(lambda: bool(page.evaluate("document.fullscreenElement !== null")))
    page.evaluate("document.exitFullscreen()")
    drawn.eventually(lambda: bool(page.evaluate("document.fullscreenElement === null")))
    present.click()
    drawn.locator(".rw-large").wait_for(state="detached")


def test_a_chip_more_moves_nothing_left_of_it_and_five_have_a_row(notebook: OpenNotebook) -> None:
    _, drawn = shown(
        notebook, CELL.replace("rw.roofline(chip,", "rw.roofline([chip, 'h100-sxm', 'b200', 'v6e'],"), width=1600
    )
    add, undo = drawn.locator("[data-rw=add-chip]"), drawn.locator("[data-tool=undo]")
    before = add.bounding_box()

    def rows() -> int:
        boxes = [add.bounding_box(), undo.bounding_box()]
        return len({round(box["y"]) for box in boxes if box})

    assert rows() == 1
    add.click()
    drawn.keyboard.type("mi300x")
    expect(drawn.get_by_role("option").first).to_have_attribute("data-chip", "mi300x")
    drawn.press("Enter")
    expect(drawn.locator(".rw-pill")).to_have_count(5)
    assert rows() == 2
    after = add.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["x"], after["y"], after["width"]) == (before["x"], before["y"], before["width"])
    expect(drawn.locator(".rw-focus")).to_have_text("Example")


# Presses a key, and returns the name of the control that gets the key after it.
NEXT_KEY = """async (chart, key) => {
  chart.focus();
  chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((next) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = next;
    channel.port2.postMessage(0);
  });
  return chart.getRootNode().activeElement.getAttribute("aria-label");
}"""


def test_a_key_leads_to_the_search_among_the_kernels(notebook: OpenNotebook) -> None:
    many = (
        'import roofwidget as rw\nrw.roofline("v5p", [rw.Kernel(f"k{i}", 1e9, 1e9, 1e-3 * (i + 1)) for i in range(40)])'
    )
    _, drawn = shown(notebook, many, width=1280, height=900)
    assert drawn.chart.evaluate(NEXT_KEY, "c") == "Search chips"
    drawn.press("Escape")
    assert drawn.chart.evaluate(NEXT_KEY, "/") == "Search names"
    search = drawn.locator("[data-rw=inspector]").get_by_role("searchbox")
    expect(search).to_be_focused()
    drawn.keyboard.type("c/")
    expect(search).to_have_value("c/")
    expect(drawn.get_by_role("dialog")).to_have_count(0)


def test_undo_says_what_it_has_undone(drawn: Drawn) -> None:
    status = drawn.locator("[data-rw=status]")
    enter(drawn.box("peak"), "150 TFLOP/s")
    drawn.tool("undo").click()
    expect(status).to_contain_text("Undone: peak of Example")
    drawn.tool("redo").click()
    expect(status).to_contain_text("Redone: peak of Example")
    drawn.choose("view", "time")
    drawn.tool("undo").click()
    expect(status).to_contain_text("Undone: view")


def test_a_figure_is_seen_before_it_is_saved_and_pages_and_sessions_come_from_python(drawn: Drawn) -> None:
    page = drawn.page
    drawn.locator("[data-tool=save]").click()
    dialog = drawn.get_by_role("dialog", name="Save a figure or a file")
    expect(dialog.get_by_role("img", name="Preview")).to_be_visible()
    expect(dialog).to_contain_text("3.5 × 2.33 in")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save", exact=True).click()
    assert download.value.suggested_filename == "roofline-1col.svg"
    expect(drawn.locator("[data-rw=status]")).to_contain_text("Saved roofline-1col.svg")
    expect(dialog.get_by_role("button", name="Saved ✓")).to_be_visible()
    assert text_of(Path(download.value.path())) == drawn.book.python("w.to_svg(style='paper-1col')")
    dialog.get_by_role("button", name="Slide").click()
    dialog.get_by_role("checkbox", name="caption").check()
    expect(dialog).to_contain_text("13.33 × ")
    for name, file in (("Page", "roofline.html"), ("Session", "roofline.json"), ("Table", "roofline.csv")):
        with page.expect_download() as download:
            dialog.get_by_role("button", name=re.compile(f"^{name}")).click()
        assert download.value.suggested_filename == file
    assert Path(download.value.path()).read_text(encoding="utf-8-sig").startswith("rank,name,")


def test_panels_go_below_and_a_projector_shows_chart_and_sliders_at_once(drawn: Drawn) -> None:
    page = drawn.page
    chart, side = drawn.chart, drawn.locator("[data-rw=inspector]")
    boxes = [one.bounding_box() for one in (chart, side)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["x"] > boxes[0]["x"] + boxes[0]["width"]
    page.set_viewport_size({"width": 1024, "height": 768})
    drawn.locator(".rw-frame:not(.rw-beside, .rw-narrow)").wait_for()
    boxes = [one.bounding_box() for one in (chart, side)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]

    drawn.tool("present").click()
    drawn.locator(".rw-large").wait_for()
    drawn.root.evaluate("(root) => root.scrollIntoView()")
    status = page.locator("#jp-bottom-panel, #jp-main-statusbar").last.bounding_box()
    bottom = status["y"] if status else 768
    shown = [chart, drawn.slider("peak"), drawn.slider("bandwidth"), drawn.locator("[data-tool=present]")]
    drawn.eventually(lambda: all(inside(one, 1024, bottom) for one in shown))
    drawn.tool("present").click()
    drawn.locator(".rw-large").wait_for(state="detached")


def test_a_finger_moves_the_roof_gently_and_more_gently_after_a_rest(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, CELL, width=480, height=900)
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
    expect(drawn.get_by_role("note")).to_contain_text("Fine")
    for step in range(1, 7):
        finger.move(x, y + 6 * step)
    finger.lift()
    drawn.eventually(lambda: book.python("w.peak_flops") < now)
    assert now / book.python("w.peak_flops") < 1.2
