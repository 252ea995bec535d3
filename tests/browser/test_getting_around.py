"""Getting around in a real JupyterLab: zooming, panning and fitting by pointer, wheel, fingers and keys; units."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import TICKS, Drawn, box_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.browser.conftest import OpenNotebook

# Its ridge point is at 100 FLOP/byte. In words of 8 bytes that is 800 FLOP/word; its clock makes 50,000 FLOP a cycle.
CELL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"}, clock="2 GHz")
w = rw.roofline([chip], [("near", 1e12, 1e11, 1), ("far", 1e14, 1e11, 10), ("copy", 0, 1e11, 1)])
w"""
LONG = "print('line\\n' * 120)"
SCROLLED = """() => {
  const scrollers = [...document.querySelectorAll('*')].filter((element) => element.scrollTop > 0);
  return scrollers.reduce((sum, element) => sum + element.scrollTop, 0);
}"""


@pytest.fixture
def drawn(notebook: OpenNotebook) -> Drawn:
    book = notebook([CELL, LONG])
    book.run(1)
    book.run(0)
    book.cell(0)
    return Drawn(book)


def zoom(drawn: Drawn) -> list[float] | None:
    """Return the zoom as Python knows it."""
    told: list[float] | None = drawn.book.python("w.zoom")
    return told


def becomes(drawn: Drawn, expected: Sequence[float] | None) -> None:
    """Wait until Python knows of a zoom, each end within 1 %."""

    def is_there() -> bool:
        now = zoom(drawn)
        if now is None or expected is None:
            return now is None and expected is None
        return all(math.isclose(a, b, rel_tol=0.01) for a, b in zip(now, expected, strict=True))

    drawn.eventually(is_there)


def ticks(drawn: Drawn) -> dict[str, list[float]]:
    """Return the numbers at the ticks of both axes, rising."""
    found: dict[str, list[list[float]]] = drawn.chart.evaluate(TICKS)
    return {axis: sorted(value for value, _ in marks) for axis, marks in found.items()}


def span(drawn: Drawn) -> tuple[float, float]:
    """Return how many decades are in sight, across and up."""
    left, right, low, high = zoom(drawn) or (math.nan,) * 4
    return math.log10(right / left), math.log10(high / low)


def pinch(
    drawn: Drawn, middle: tuple[float, float], start: float, end: float, by: tuple[float, float] = (0, 0)
) -> None:
    """Draw two fingers, of which one comes first, apart around a place that itself goes on, on a line across."""
    session = drawn.page.context.new_cdp_session(drawn.page)
    for kind, reach, count, gone in (
        ("touchStart", start, 1, 0.0),
        ("touchStart", start, 2, 0.0),
        ("touchMove", (start + end) / 2, 2, 0.5),
        ("touchMove", end, 2, 1.0),
        ("touchEnd", end, 0, 1.0),
    ):
        x, y = middle[0] + gone * by[0], middle[1] + gone * by[1]
        fingers = [{"x": x - reach, "y": y, "id": 0}, {"x": x + reach, "y": y, "id": 1}][:count]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    session.detach()


def by_wheel(drawn: Drawn) -> None:
    page, mouse = drawn.page, drawn.mouse
    whole = ticks(drawn)
    near = drawn.place(10, 1e12)

    # Over a chart that nobody has chosen the wheel is the page's; with Ctrl it zooms around the pointer.
    mouse.move(*near)
    before = page.evaluate(SCROLLED)
    mouse.wheel(0, 120)
    drawn.eventually(lambda: page.evaluate(SCROLLED) != before)
    assert zoom(drawn) is None
    mouse.wheel(0, -120)
    drawn.eventually(lambda: page.evaluate(SCROLLED) == before)
    page.keyboard.down("Control")
    mouse.wheel(0, -100)
    mouse.wheel(0, -100)
    page.keyboard.up("Control")
    drawn.eventually(lambda: zoom(drawn) is not None)
    assert page.evaluate(SCROLLED) == before
    assert all(math.isclose(a, b, abs_tol=1.5) for a, b in zip(drawn.place(10, 1e12), near, strict=True))
    # One run of the wheel is one entry.
    drawn.tool("undo").click()
    becomes(drawn, None)
    expect(drawn.tool("undo")).to_have_attribute("aria-disabled", "true")
    drawn.tool("redo").click()
    drawn.eventually(lambda: zoom(drawn) is not None)
    drawn.tool("fit").click()
    becomes(drawn, None)
    assert ticks(drawn) == whole


def by_rectangle_and_hand(drawn: Drawn) -> None:
    page, mouse, book = drawn.page, drawn.mouse, drawn.book
    # A rectangle of the zoom tool, then a hand; Escape takes a hand's move back. What is outside is counted.
    drawn.tool("zoom").click()
    drawn.pull(drawn.place(1, 1e13), drawn.place(100, 1e11))
    becomes(drawn, (1, 100, 1e11, 1e13))
    assert ticks(drawn)["x"][0] >= 1
    assert ticks(drawn)["x"][-1] <= 100
    outside = drawn.button("outside")
    expect(outside).to_have_text("Show everything · 2 kernels outside")
    assert book.python("list(w.selected)") == []
    drawn.tool("pan").click()
    grip, to = drawn.place(10, 1e12), drawn.place(20, 2e12)
    drawn.pull(grip, to, drop=False)
    page.keyboard.press("Escape")
    mouse.up()
    becomes(drawn, (1, 100, 1e11, 1e13))
    drawn.pull(grip, to)
    becomes(drawn, (0.5, 50, 5e10, 5e12))
    # A click of the same hand still means the kernel; the middle button moves the chart with any tool.
    mouse.click(*drawn.place(10, 1e12))
    drawn.becomes("list(w.selected)", [0])
    drawn.tool("select").click()
    grip, to = drawn.place(20, 2e12), drawn.place(10, 1e12)
    mouse.move(*grip)
    mouse.down(button="middle")
    mouse.move(*to, steps=4)
    mouse.up(button="middle")
    becomes(drawn, (1, 100, 1e11, 1e13))
    # It ends in no click, and the next is as good as ever; the second of two does not undo the first, nor fit.
    mouse.click(*drawn.place(10, 1e12))
    drawn.becomes("list(w.selected)", [])
    mouse.dblclick(*drawn.place(10, 1e12))
    drawn.becomes("list(w.selected)", [0])
    becomes(drawn, (1, 100, 1e11, 1e13))


def under_a_zoom(drawn: Drawn) -> None:
    # Dragging the roof under a zoom leaves the zoom, and the plain rectangle selects.
    drawn.drag("bandwidth", -0.1)
    becomes(drawn, (1, 100, 1e11, 1e13))
    drawn.tool("undo").click()
    drawn.pull(drawn.place(2, 4e11), drawn.place(5, 2e11))
    drawn.becomes("list(w.selected)", [])
    becomes(drawn, (1, 100, 1e11, 1e13))


def by_fingers_space_and_buttons(drawn: Drawn) -> None:
    mouse = drawn.mouse
    # Two fingers that stay apart move the chart, as does a hand while Space is pressed; the hint shows everything.
    drawn.tool("select").click()
    grip, to = drawn.place(10, 1e12), drawn.place(20, 2e12)
    pinch(drawn, grip, 40, 40, by=(to[0] - grip[0], to[1] - grip[1]))
    becomes(drawn, (0.5, 50, 5e10, 5e12))
    drawn.chart.focus()
    mouse.move(*drawn.place(5, 3e11))
    drawn.keyboard.down("Space")
    mouse.down()
    mouse.move(*drawn.place(2.5, 1.5e11), steps=4)
    mouse.up()
    drawn.keyboard.up("Space")
    becomes(drawn, (1, 100, 1e11, 1e13))
    drawn.button("outside").click()
    becomes(drawn, None)
    drawn.tool("undo").click()
    becomes(drawn, (1, 100, 1e11, 1e13))
    across, _ = span(drawn)
    drawn.tool("out").click()
    drawn.eventually(lambda: math.isclose(span(drawn)[0], across * 1.5, rel_tol=1e-6))
    drawn.tool("undo").press("Enter")
    becomes(drawn, (1, 100, 1e11, 1e13))


def with_other_kernels_and_fingers(drawn: Drawn) -> None:
    mouse, book = drawn.mouse, drawn.book
    outside = drawn.button("outside")
    # Other kernels leave it too; two fingers go closer; a double click on nothing fits; another plane is whole.
    book.python("setattr(w, 'kernels', [('near', 1e12, 1e11, 1), ('far', 1e14, 1e11, 10), ('a', 1e9, 1e11, 1)])")
    expect(outside).to_have_text("Show everything · 2 kernels outside")
    # The finger that comes first takes the chart in hand, the second does not move it.
    drawn.tool("pan").click()
    middle, reach = drawn.place(10, 1e12), 40
    pinch(drawn, middle, reach, 2 * reach)
    drawn.eventually(lambda: all(math.isclose(now, 1, rel_tol=0.05) for now in span(drawn)))
    assert all(math.isclose(a, b, abs_tol=3) for a, b in zip(drawn.place(10, 1e12), middle, strict=True))
    mouse.click(*drawn.place(10, 1e12))
    drawn.becomes("list(w.selected)", [0])
    mouse.dblclick(*drawn.place(5, 4e11))
    becomes(drawn, None)
    # Python takes the plane out of a hand: what it says then is heard, and can be undone.
    drawn.pull(drawn.place(5, 4e11), drawn.place(10, 4e11), drop=False)
    drawn.eventually(lambda: zoom(drawn) is not None)
    book.python("setattr(w, 'view', 'time')")
    expect(drawn.locator(".rw-isochrone").first).to_be_visible()
    mouse.up()
    becomes(drawn, None)
    # What arrives from Python within 200 ms is one entry.
    drawn.page.wait_for_timeout(250)
    book.python("setattr(w, 'zoom', (1e-3, 1, 1e-2, 10))")
    expect(drawn.locator(".rw-everything")).to_be_visible()
    drawn.chart.press("Control+z")
    becomes(drawn, None)
    assert book.python("w.view") == "time"
    drawn.choose("view", "roofline")
    drawn.tool("select").click()
    drawn.tool("in").click()
    drawn.eventually(lambda: zoom(drawn) is not None)
    book.python("setattr(w, 'view', 'time')")
    becomes(drawn, None)
    drawn.tool("in").click()
    drawn.eventually(lambda: zoom(drawn) is not None)
    drawn.choose("view", "roofline")
    becomes(drawn, None)


def in_a_narrow_widget(drawn: Drawn) -> None:
    # The button that shows everything stands in the plot: no other control moves.
    drawn.page.set_viewport_size({"width": 480, "height": 1400})
    drawn.locator(".rw-narrow").wait_for()
    places = """(bar) => [...bar.querySelectorAll('button')].map((tool) => [
      tool.dataset.tool, tool.getBoundingClientRect().left,
    ])"""
    bar = drawn.get_by_role("toolbar")
    before = bar.evaluate(places)
    assert [name for name, _ in before][-1] == "more"
    drawn.book.python("setattr(w, 'zoom', (1, 100, 1e11, 1e13))")
    everything = drawn.button("Show everything")
    expect(everything).to_have_text("Show everything · 2 kernels outside")
    button, chart = box_of(everything), box_of(drawn.chart)
    assert button["x"] > chart["x"]
    assert button["y"] > chart["y"]
    assert bar.evaluate(places) == before
    everything.click()
    becomes(drawn, None)
    expect(everything).to_have_count(0)
    expect(drawn.chart).to_be_focused()


def test_the_pointer_zooms_pans_and_fits_and_the_page_scrolls_where_it_should(drawn: Drawn) -> None:
    drawn.chart.scroll_into_view_if_needed()
    by_wheel(drawn)
    by_rectangle_and_hand(drawn)
    under_a_zoom(drawn)
    by_fingers_space_and_buttons(drawn)
    with_other_kernels_and_fingers(drawn)
    in_a_narrow_widget(drawn)


def by_keys(drawn: Drawn) -> None:
    page, press = drawn.page, drawn.keyboard.press
    drawn.chart.focus()
    before = page.evaluate(SCROLLED)
    # Around the kernel that is pointed at, which stays in its place.
    press("End")
    press("ArrowLeft")
    assert drawn.tooltip().startswith("near")
    place = drawn.place(10, 1e12)
    press("+")
    drawn.eventually(lambda: zoom(drawn) is not None)
    once = span(drawn)
    press("+")
    drawn.eventually(lambda: math.isclose(span(drawn)[0], once[0] / 1.5, rel_tol=1e-6))
    closer = span(drawn)
    assert all(math.isclose(a, b, abs_tol=1.5) for a, b in zip(drawn.place(10, 1e12), place, strict=True))
    press("-")
    drawn.eventually(lambda: math.isclose(span(drawn)[0], closer[0] * 1.5, rel_tol=1e-6))
    # D looks an eighth farther right, W as much farther up; a key that is held makes one entry.
    left, right, low, high = zoom(drawn) or (math.nan,) * 4
    press("d")
    press("w")
    across, up = (right / left) ** 0.125, (high / low) ** 0.125
    becomes(drawn, (left * across, right * across, low * up, high * up))
    # And A and S go back.
    press("a")
    press("s")
    becomes(drawn, (left, right, low, high))
    press("d")
    press("w")
    becomes(drawn, (left * across, right * across, low * up, high * up))
    assert page.evaluate(SCROLLED) == before
    # Keys that come slowly make an entry each; with nothing left to undo another step does nothing.
    for _ in range(10):
        press("Control+z")
    becomes(drawn, None)
    for _ in range(10):
        press("Control+Shift+Z")
    becomes(drawn, (left * across, right * across, low * up, high * up))
    press("Control+z")
    drawn.eventually(lambda: zoom(drawn) != [left * across, right * across, low * up, high * up])
    press("Control+y")
    becomes(drawn, (left * across, right * across, low * up, high * up))
    press("0")
    becomes(drawn, None)


def by_space_and_boxes(drawn: Drawn) -> None:
    page, press = drawn.page, drawn.keyboard.press
    # Space takes the chart in hand: while it is pressed the kernels that the pointer passes stay as they are.
    page.mouse.move(*drawn.place(3, 4e11))
    page.keyboard.down("Space")
    page.mouse.move(*drawn.place(10, 1e12))
    page.keyboard.down("Space")
    page.keyboard.up("Space")
    assert drawn.book.python("list(w.selected)") == []
    # A box that is typed into has an undo of its own; from a slider it is the widget's.
    press("+")
    drawn.eventually(lambda: zoom(drawn) is not None)
    drawn.box("peak").press("Control+z")
    assert zoom(drawn) is not None
    drawn.slider("peak").press("Control+z")
    becomes(drawn, None)
    drawn.chart.focus()
    before = page.evaluate(SCROLLED)

    # With the chart's focus the plain wheel is the chart's.
    page.mouse.move(*drawn.place(10, 1e12))
    page.mouse.wheel(0, -100)
    drawn.eventually(lambda: zoom(drawn) is not None)
    assert page.evaluate(SCROLLED) == before
    press("0")
    becomes(drawn, None)


def along_a_menu(drawn: Drawn) -> None:
    press = drawn.keyboard.press
    # Arrows and first letters walk along a menu.
    drawn.locator("[data-tool=view]").focus()
    press("ArrowDown")
    expect(drawn.tool("roofline")).to_be_focused()
    press("ArrowUp")
    expect(drawn.tool("pan")).to_be_focused()
    press("r")
    expect(drawn.tool("roofline")).to_be_focused()
    press("r")
    expect(drawn.tool("rulers")).to_be_focused()
    press("Escape")
    expect(drawn.locator("[data-tool=view]")).to_be_focused()


def by_menu(drawn: Drawn) -> None:
    page, book, press = drawn.page, drawn.book, drawn.keyboard.press
    # One stop of the Tab key leads to the toolbar, arrows walk along it, and a menu gives the focus back.
    page.mouse.move(2, 2)
    stop = drawn.get_by_role("toolbar").locator("button[tabindex='0']")
    expect(stop).to_have_count(1)
    stop.focus()
    press("Home")
    expect(drawn.locator("[data-rw=add-chip]")).to_be_focused()
    press("ArrowLeft")
    expect(drawn.tool("more")).to_be_focused()
    drawn.tool("in").focus()
    press("Enter")
    drawn.eventually(lambda: zoom(drawn) is not None)
    # The chart's keys work here, too.
    press("0")
    becomes(drawn, None)
    press("End")
    expect(drawn.tool("more")).to_be_focused()
    drawn.tool("axes").focus()
    press("Enter")
    menu = drawn.get_by_role("dialog", name="Axes")
    menu.get_by_label("Data").select_option("8")
    menu.get_by_label("Rate").press("ArrowDown")
    expect(drawn.chart).to_contain_text("ridge 800")
    titles = drawn.chart
    expect(titles).to_contain_text(re.compile("arithmetic intensity.*FLOP per word"))
    expect(titles).to_contain_text("FLOP/cycle")
    menu.get_by_label("Ticks").select_option("2")
    expect(titles).to_contain_text("1024")
    assert all(math.log2(value).is_integer() for value in ticks(drawn)["x"])
    # The sentence keeps FLOP and bytes, as the menu says.
    assert "FLOP/B" in drawn.sentence()
    menu.get_by_label("Across").select_option("balance")
    # 1 byte for 100 FLOP is an eighth of a word for 800.
    expect(drawn.chart).to_contain_text("ridge 0.00125")
    # What was changed last is taken back from here, too.
    press("Control+z")
    drawn.eventually(lambda: zoom(drawn) is not None)
    press("Control+y")
    becomes(drawn, None)
    press("Escape")
    expect(menu).to_have_count(0)
    expect(drawn.locator("[data-tool=view]")).to_be_focused()
    drawn.becomes("[w.word, w.rate_unit, w.tick_base, w.x_axis]", [8, "FLOP/cycle", 2, "balance"])
    # A chip without a clock keeps seconds, and says why.
    book.python("setattr(w, 'chips', [rw.Chip('Other', {'bf16': '50 TFLOP/s'}, {'HBM': '1 TB/s'})])")
    expect(titles).to_contain_text("FLOP/s")
    drawn.tool("axes").focus()
    press("Enter")
    expect(menu).to_contain_text("Other: clock unknown, rates are per second")


def test_keys_zoom_pan_fit_and_undo_and_the_menu_changes_what_the_axes_count(drawn: Drawn) -> None:
    by_keys(drawn)
    by_space_and_boxes(drawn)
    along_a_menu(drawn)
    by_menu(drawn)


def test_axes_set_by_the_chips_stay_while_kernels_change(drawn: Drawn) -> None:
    book, press = drawn.book, drawn.keyboard.press
    fitting = ticks(drawn)
    drawn.tool("axes").focus()
    press("Enter")
    menu = drawn.get_by_role("dialog", name="Axes")
    menu.get_by_label("Range").press("ArrowDown")
    expect(menu.get_by_label("Range")).to_have_value("chip")
    drawn.becomes("w.frame", "chip")
    framed = ticks(drawn)
    assert framed != fitting
    press("Escape")
    book.python("setattr(w, 'kernels', [('slow', 1e9, 1e10, 1), ('beyond', 1e6, 1e6, 1), ('copy', 0, 1e9, 1)])")
    sentence = drawn.locator("[data-rw=status]")
    expect(sentence).to_contain_text("1 kernel is outside the axes: beyond.")
    assert ticks(drawn) == framed
    drawn.chart.focus()
    press("Control+z")
    drawn.becomes("w.frame", "points")
    expect(sentence).not_to_contain_text("outside the axes")
    assert ticks(drawn) != framed
