"""The time view in a real JupyterLab: compute time against memory time, isochrones, launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, box_of, shown

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

SMALL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.RooflineWidget([chip], [
    {"name": "matmul", "flops": 4e10, "bytes": 4e7, "time": 1e-3},
    {"name": "norm", "flops": 2e8, "bytes": 2e8, "time": 8e-4, "count": 2},
    {"name": "add", "flops": 1e7, "bytes": 1e6},
    {"name": "copy", "flops": 0, "bytes": 3e7},
])
w.launch_overhead = 5e-6
w"""


def test_python_and_keys_switch_to_isochrones_and_the_square_of_launches_and_back(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SMALL)
    assert drawn.has_roof("example")
    book.python("setattr(w, 'view', 'time')")
    isochrones = drawn.locator(".rw-isochrone")
    expect(isochrones).to_have_count(3)
    assert [float(line.get_attribute("data-seconds") or "nan") for line in isochrones.all()] == [1e-5, 1e-4, 1e-3]
    assert drawn.label("isochrone 0.00001") == "10 µs"
    assert drawn.label("diagonal") == "Example: compute = memory"
    assert drawn.label("overhead") == "launch overhead 5 µs"
    expect(drawn.locator(".rw-overhead")).to_have_count(1)
    expect(drawn.locator(".rw-axes")).to_contain_text("0 FLOP")
    assert not drawn.has_roof("example")
    book.python("setattr(w, 'launch_overhead', 0)")
    expect(drawn.locator(".rw-overhead")).to_have_count(0)
    # By the menu, too.
    drawn.choose("view", "roofline")
    expect(isochrones).to_have_count(0)
    assert drawn.has_roof("example")
    drawn.choose("view", "time")
    expect(isochrones).not_to_have_count(0)
    drawn.becomes("w.view", "time")


def test_kernels_of_the_time_view_are_walked_selected_and_moved_by_the_sliders(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SMALL + ".view = 'time'\nw")
    drawn.chart.focus()
    seen = []
    for _ in range(4):
        drawn.press("ArrowRight")
        seen.append(drawn.tooltip().split(" | ")[0])
    assert seen == ["copy", "add", "norm", "matmul"], "by rising compute time"
    drawn.press("ArrowLeft")
    drawn.press("Enter")
    drawn.becomes("list(w.selected_kernels.names)", ["norm"])
    assert drawn.sentence().startswith("norm on Example")
    ring = drawn.locator(".rw-ring")
    before = [float(ring.get_attribute(name) or "nan") for name in ("cx", "cy")]
    drawn.drag("bandwidth", 0.1)
    after = [float(ring.get_attribute(name) or "nan") for name in ("cx", "cy")]
    assert after[0] == before[0], "compute takes as long as before"
    assert after[1] > before[1], "memory takes less: the point goes down"


def ring(drawn: Drawn, kernel: str) -> tuple[float, float]:
    """Return where a kernel stands, px of the chart, walking to it from the first."""
    drawn.press("Home")
    while drawn.tooltip().split(" | ")[0] != kernel:
        drawn.press("ArrowRight")
    place = drawn.locator(".rw-ring")
    x, y = (float(place.get_attribute(name) or "nan") for name in ("cx", "cy"))
    return x, y


def lengths(drawn: Drawn) -> dict[str, tuple[float, float]]:
    """Return how far each kernel stands from the axes, px, across and up."""
    left, bottom = drawn.chart.evaluate("""(chart) => {
      const zeros = [...chart.querySelectorAll('.rw-axes > text')].filter((text) => text.textContent === '0 s');
      const [across, up] = ['middle', 'end'].map((anchor) =>
        zeros.find((text) => text.getAttribute('text-anchor') === anchor));
      return [Number(across.getAttribute('x')), Number(up.getAttribute('y')) - 4];
    }""")
    places = {name: ring(drawn, name) for name in ("copy", "add", "norm", "matmul")}
    return {name: (x - left, bottom - y) for name, (x, y) in places.items()}


def scale_is(drawn: Drawn, expected: str) -> None:
    drawn.becomes("w.time_scale", expected)


def closer_and_back(drawn: Drawn) -> None:
    """Zoom by key and by wheel around the kernel that is pointed at, which stays, and show everything again."""
    place = ring(drawn, "matmul")
    drawn.press("+")
    drawn.press("+")
    drawn.eventually(lambda: (drawn.book.python("w.zoom") or [0])[0] > 0)
    assert ring(drawn, "matmul") == pytest.approx(place, abs=0.5)
    left, right = drawn.book.python("w.zoom[:2]")
    box = box_of(drawn.chart)
    drawn.mouse.move(box["x"] + place[0], box["y"] + place[1])
    drawn.mouse.wheel(0, -200)
    drawn.eventually(lambda: drawn.book.python("w.zoom[1] - w.zoom[0]") < 0.8 * (right - left))
    assert ring(drawn, "matmul") == pytest.approx(place, abs=0.5)
    # The one without FLOPs stands on an axis that is out of sight.
    expect(drawn.button("outside")).to_be_visible()
    drawn.press("0")
    drawn.eventually(lambda: drawn.book.python("w.zoom") is None)


def moved_and_back(drawn: Drawn, microsecond: float) -> None:
    """Ask for half of its bytes at twice its share of the roof, see where a kernel would stand, and take that back."""
    x, y = ring(drawn, "norm")
    drawn.book.python("setattr(w, 'moves', {1: {'bytes': 0.5, 'time': 0.5}})")
    note = "2× less traffic · 800 → 200 µs (4× faster)"
    drawn.eventually(lambda: note in drawn.tooltip())
    assert note in drawn.label("move 1")
    box = drawn.chart.bounding_box()
    mark = drawn.locator(".rw-carried [data-row='1'] path").nth(1).bounding_box()
    assert box is not None
    assert mark is not None
    middle = (mark["x"] + mark["width"] / 2 - box["x"], mark["y"] + mark["height"] / 2 - box["y"])
    # Each of its two launches moves bytes for 100 µs.
    assert middle == pytest.approx((x, y + 50 * microsecond), abs=0.75)
    drawn.button("Remove the what-if of norm").click()
    drawn.becomes("list(w.moves)", [])
    expect(drawn.locator(".rw-carried [data-row]")).to_have_count(0)
    expect(drawn.chart).to_be_focused()


def test_on_linear_axes_times_are_lengths_and_keys_go_there_closer_and_back(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, SMALL + ".view = 'time'\nw")
    press = drawn.keyboard.press
    menu = drawn.axes()
    menu.get_by_label("Time axes").select_option("linear")
    scale_is(drawn, "linear")
    press("Escape")
    drawn.chart.focus()
    away = lengths(drawn)
    microsecond = away["matmul"][0] / 400
    assert away["copy"] == pytest.approx((0, 30 * microsecond), abs=0.05)
    assert away["norm"] == pytest.approx((microsecond, 100 * microsecond), abs=0.05)
    assert away["matmul"] == pytest.approx((400 * microsecond, 40 * microsecond), abs=0.05)
    square = drawn.locator(".rw-overhead").evaluate(
        "(path) => { const { width, height } = path.getBBox(); return [width, height]; }"
    )
    assert square == pytest.approx([5 * microsecond] * 2, abs=0.05)
    isochrones = drawn.locator(".rw-isochrone").all()
    times = [float(line.get_attribute("data-seconds") or "nan") for line in isochrones]
    assert times == pytest.approx([times[0] * (k + 1) for k in range(len(times))])
    assert f"{times[0]:e}"[0] in "125"
    closer_and_back(drawn)
    moved_and_back(drawn, microsecond)

    # The same choice by keys alone, and its undoing.
    drawn.tool("axes").press("Enter")
    menu.get_by_label("Time axes").focus()
    press("Home")
    scale_is(drawn, "log")
    expect(drawn.locator(".rw-axes")).to_contain_text("0 FLOP")
    press("Escape")
    expect(drawn.locator("[data-tool=view]")).to_be_focused()
    drawn.chart.focus()
    press("Control+z")
    scale_is(drawn, "linear")
    assert lengths(drawn) == away
