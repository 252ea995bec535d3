"""The time view in a real JupyterLab: compute time against memory time, isochrones, launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.drawn import Drawn

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


def test_python_switches_to_isochrones_and_the_square_of_launches_and_back(notebook: OpenNotebook) -> None:
    book = notebook([SMALL])
    book.run(0)
    drawn = Drawn(book)
    assert drawn.has_roof("example")
    book.python("setattr(w, 'view', 'time')")
    isochrones = drawn.root.locator(".roofwidget-isochrone")
    expect(isochrones).to_have_count(3)
    assert [float(line.get_attribute("data-seconds") or "nan") for line in isochrones.all()] == [1e-5, 1e-4, 1e-3]
    assert drawn.label("isochrone 0.00001") == "10 µs"
    assert drawn.label("diagonal") == "Example: compute = memory"
    assert drawn.label("overhead") == "launch overhead 5 µs"
    expect(drawn.root.locator(".roofwidget-overhead")).to_have_count(1)
    expect(drawn.root.locator(".roofwidget-axes")).to_contain_text("0 FLOP")
    assert not drawn.has_roof("example")
    book.python("setattr(w, 'launch_overhead', 0)")
    expect(drawn.root.locator(".roofwidget-overhead")).to_have_count(0)
    book.python("setattr(w, 'view', 'roofline')")
    expect(isochrones).to_have_count(0)
    assert drawn.has_roof("example")


def test_kernels_of_the_time_view_are_walked_selected_and_moved_by_the_sliders(notebook: OpenNotebook) -> None:
    book = notebook([SMALL + ".view = 'time'\nw"])
    book.run(0)
    drawn = Drawn(book)
    drawn.chart.focus()
    seen = []
    for _ in range(4):
        drawn.page.keyboard.press("ArrowRight")
        seen.append(drawn.tooltip().split(" | ")[0])
    assert seen == ["copy", "add", "norm", "matmul"], "by rising compute time"
    drawn.page.keyboard.press("ArrowLeft")
    drawn.page.keyboard.press("Enter")
    drawn.eventually(lambda: book.python("list(w.selected_kernels.names)") == ["norm"])
    assert drawn.sentence().startswith("norm on Example")
    ring = drawn.root.locator(".roofwidget-ring")
    before = [float(ring.get_attribute(name) or "nan") for name in ("cx", "cy")]
    drawn.drag("bandwidth", 0.1)
    after = [float(ring.get_attribute(name) or "nan") for name in ("cx", "cy")]
    assert after[0] == before[0], "compute takes as long as before"
    assert after[1] > before[1], "memory takes less: the point goes down"
