"""Rulers and snapshots in a real JupyterLab: what roofs allow where the pointer is, and what has moved since."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, box_of, enter, shown

# Ridge points at 100 and 200 FLOP/byte; one kernel was measured, the other stands on its roof.
CELL = """import roofwidget as rw
small = rw.Chip("Small", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
large = rw.Chip("Large", {"bf16": "400 TFLOP/s"}, {"HBM": "2 TB/s"})
w = rw.roofline([small, large], [("measured", 1e12, 5e10, 0.1), ("on the roof", 1e14, 5e10)])
w"""


@pytest.fixture
def drawn(notebook: OpenNotebook) -> Drawn:
    return shown(notebook, CELL)[1]


def limits(drawn: Drawn) -> list[str]:
    """Return what the ruler says, in order."""
    return sorted(drawn.locator(".rw-ruler text").all_text_contents())


def test_rulers_and_frozen_curves_work_by_pointer_and_by_keyboard(drawn: Drawn) -> None:
    a_ruler_tells_what_each_roof_allows(drawn)
    drawn.chart.focus()
    drawn.press("Escape")
    a_frozen_curve_stays_as_a_ghost_and_tells_what_has_moved(drawn)


def a_ruler_tells_what_each_roof_allows(drawn: Drawn) -> None:
    """Point at empty space and at a kernel, by pointer and by keys."""
    page = drawn.page
    page.mouse.move(*drawn.place(20, 1e13))
    # The call-out of the gap tells of the small chip's ratio.
    drawn.eventually(lambda: limits(drawn) == ["Large 40 TFLOP/s · 4×", "Small 20 TFLOP/s"])
    box = box_of(drawn.get_by_role("tooltip"))
    for text in drawn.locator(".rw-ruler text").all():
        own = box_of(text)
        assert own["x"] + own["width"] < box["x"] or own["x"] > box["x"] + box["width"] or own["y"] < box["y"]
    page.mouse.move(*drawn.place(10, 2.5e12))
    drawn.eventually(lambda: limits(drawn)[-2:] == ["Large 20 TFLOP/s", "Small 10 TFLOP/s"])
    page.mouse.move(5, 5)
    drawn.eventually(lambda: limits(drawn) == [])
    drawn.chart.focus()
    page.keyboard.press("ArrowRight")
    drawn.eventually(lambda: limits(drawn) == ["Large 40 TFLOP/s · 4×", "Small 20 TFLOP/s"])
    spoken = drawn.locator(".rw-formula + [role=status]")
    expect(spoken).to_contain_text("Roofs above it: Small 20 TFLOP/s, 2×; Large 40 TFLOP/s, 4×.")
    drawn.tool("rulers").click()
    drawn.eventually(lambda: limits(drawn) == [] and drawn.book.python("w.rulers") is False)
    expect(spoken).not_to_contain_text("Roofs above it")
    drawn.tool("rulers").click()
    drawn.eventually(lambda: drawn.book.python("w.rulers") is True)
    drawn.chart.focus()
    page.keyboard.press("ArrowRight")
    # What is selected keeps its ruler when it is no longer pointed at.
    page.keyboard.press("Enter")
    drawn.slider("peak").focus()
    drawn.eventually(lambda: limits(drawn) == ["Large 40 TFLOP/s · 4×", "Small 20 TFLOP/s"])


def a_frozen_curve_stays_as_a_ghost_and_tells_what_has_moved(drawn: Drawn) -> None:
    """Freeze, change, name, hide, delete and undo."""
    page, root = drawn.page, drawn.root
    drawn.tool("freeze").click()
    drawn.becomes("[s.name for s in w.snapshots]", ["snapshot 1"])
    ghost = root.locator("[data-snapshot='0']")
    before = ghost.get_attribute("d")
    assert before == drawn.roof("small")
    said = "Frozen as snapshot 1: Small, 100 TFLOP/s, 2 kernels."
    expect(root.get_by_role("status").filter(has_text="Frozen as")).to_have_text(said)
    enter(drawn.box("peak"), "150 TFLOP/s")
    drawn.eventually(lambda: drawn.label("moved peak") == "peak 1.5×")
    # The one on the flat has moved with it, the measured one stays.
    assert drawn.label("moved 1") == "1.5×"
    assert root.locator("[data-change]").count() == 2
    assert drawn.label("snapshot 0") == "snapshot 1"

    drawn.chart.focus()
    page.keyboard.press("f")
    drawn.becomes("[s.peak_flops for s in w.snapshots]", [1e14, 1.5e14])
    # Arrows start at the newest.
    expect(root.locator("[data-change]")).to_have_count(0)
    drawn.open_tab("snapshots")
    name = root.get_by_role("textbox", name="Name of snapshot 2")
    enter(name, "after")
    drawn.becomes("w.snapshots[1].name", "after")
    assert drawn.label("snapshot 1") == "after"
    root.get_by_role("checkbox", name="Show after").press("Space")
    drawn.eventually(lambda: drawn.label("moved peak") == "peak 1.5×")
    root.get_by_role("button", name="Delete snapshot 1").press("Enter")
    drawn.becomes("[(s.name, s.hidden) for s in w.snapshots]", [["after", True]])
    # The keys of what goes away are not the host's: the next one has the focus, at last the button that freezes.
    expect(root.get_by_role("button", name="Delete after")).to_be_focused()
    expect(root.locator("[data-snapshot]")).to_have_count(0)
    root.locator("[data-tool=undo]").click()
    drawn.becomes("len(w.snapshots)", 2)
    expect(ghost).to_have_attribute("d", before or "")
    # Python freezes, too.
    drawn.book.python("w.freeze('told').name")
    expect(root.locator("[data-snapshot='2']")).to_have_count(1)
