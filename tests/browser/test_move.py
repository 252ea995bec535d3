"""A kernel in the hand, in a real JupyterLab: a mouse, a finger and keys carry it, and a note says what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, Finger, centre, shown

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

# One takes 62 of its 124 µs at 1 TB/s, the other 100 of its 125 at 100 TFLOP/s; of the third nothing can be asked.
CELL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([chip], [("norm", 1e9, 62e6, 124e-6), ("matmul", 1e10, 40e6, 125e-6), ("planned", 1e10, 0)])
w"""
NORM = (1e9 / 62e6, 1e9 / 124e-6)
MOVES = "{str(row): dict(move) for row, move in w.moves.items()}"


@pytest.fixture
def drawn(notebook: OpenNotebook) -> Drawn:
    return shown(notebook, CELL)[1]


def moves(drawn: Drawn) -> dict[str, dict[str, float]]:
    """Return what Python knows of moves."""
    found: dict[str, dict[str, float]] = drawn.book.python(MOVES)
    return found


def shadow(drawn: Drawn) -> tuple[float, float]:
    """Return where the kernel that is carried would stand, px in the page."""
    return centre(drawn.locator(".rw-carried [data-row='0'] [data-ghost]"))


def pull(drawn: Drawn, start: tuple[float, float], right: float, down: float) -> None:
    """Press at a place and go on from there; it is not let go."""
    drawn.pull(start, (start[0] + right, start[1] + down), drop=False)


def test_a_mouse_and_a_finger_carry_a_kernel_sideways_and_up_and_it_can_be_put_back(drawn: Drawn) -> None:
    x, y = drawn.place(*NORM)
    decade = drawn.place(100, 1e12)[0] - drawn.place(10, 1e12)[0]
    # Sideways it slides along its roof, and nothing of the data moves.
    pull(drawn, (x, y), decade / 2, 30)
    at = shadow(drawn)
    assert abs(at[0] - x - decade / 2) < 2
    assert at[1] < y - 20
    assert "3.2× less traffic · 124 → 39.2 µs (3.2× faster)" in drawn.sentence()
    assert "3.2× less traffic" in drawn.label("move 0")
    assert drawn.get_by_role("tooltip").count() == 0
    drawn.mouse.up()
    drawn.eventually(lambda: abs(moves(drawn).get("0", {}).get("bytes", 1) - 10**-0.5) < 0.02)
    assert drawn.book.python("(list(w.selected), w.shown_kernels.time[:2].tolist())") == [[], [124e-6, 125e-6]]
    assert abs(drawn.book.python("float(w.moved_kernels.time[0])") - 39.2e-6) < 2e-6
    # Up from there no farther than its roof; Escape takes that back.
    pull(drawn, shadow(drawn), 2, -150)
    assert "reaches its roof" in drawn.sentence()
    drawn.eventually(lambda: list(moves(drawn)["0"]) == ["bytes", "time"])
    drawn.press("Escape")
    drawn.mouse.up()
    drawn.eventually(lambda: list(moves(drawn)["0"]) == ["bytes"])
    # The button beside the note, undo, and the one for all of them.
    drawn.mouse.move(x - 60, y + 60)
    button = drawn.button("Remove the what-if of norm")
    button.press("Control+z")
    drawn.eventually(lambda: moves(drawn) == {})
    drawn.chart.press("Control+y")
    drawn.eventually(lambda: list(moves(drawn)) == ["0"])
    button.click()
    drawn.eventually(lambda: moves(drawn) == {})
    expect(drawn.chart).to_be_focused()
    drawn.press("Control+z")
    drawn.eventually(lambda: list(moves(drawn)) == ["0"])
    drawn.button("Remove", exact=True).click()
    drawn.eventually(lambda: moves(drawn) == {})
    expect(drawn.chart).to_be_focused()
    # A click means what it did.
    drawn.mouse.click(x, y)
    drawn.becomes("list(w.selected)", [0])
    # A finger that is lifted at once has clicked, one that goes at once scrolls, one that rests picks up.
    finger = Finger(drawn)
    finger.press(x, y)
    finger.lift()
    drawn.becomes("list(w.selected)", [])
    assert drawn.tooltip().startswith("norm")
    finger.press(x, y)
    finger.move(x + 40, y)
    finger.lift()
    assert drawn.locator("[data-ghost]").count() == 0
    finger.press(x, y)
    drawn.locator("[data-kernel='dragged']").wait_for()
    for step in range(1, 9):
        finger.move(x, y + 5 * step)
    finger.lift()
    drawn.eventually(lambda: list(moves(drawn).get("0", {})) == ["time"])
    assert "slower" in drawn.label("move 0")


def test_keys_carry_a_kernel_also_without_python(drawn: Drawn) -> None:
    keys = drawn.keyboard
    drawn.chart.focus()
    # What cannot be picked up leaves the pointer free.
    keys.press("End")
    keys.press("m")
    assert drawn.sentence().startswith("planned on Example")
    drawn.mouse.move(*drawn.place(*NORM))
    assert drawn.tooltip().startswith("norm")
    keys.press("m")
    drawn.mouse.move(5, 5)
    assert "norm can be moved: left and right change its bytes, up and down its time, by 5 %" in drawn.sentence()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        keys.press(key)
    keys.press("Enter")
    drawn.eventually(lambda: moves(drawn) == {"0": {"bytes": 1 / 1.05 / 1.05, "time": 1 / 1.05}})
    keys.press("m")
    keys.press("PageDown")
    keys.press("Escape")
    # One entry of the history is all of it.
    keys.press("Control+z")
    drawn.eventually(lambda: moves(drawn) == {})
    drawn.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    keys.press("Control+Shift+z")
    assert "1.1× less traffic" in drawn.sentence()
    keys.press("m")
    for _ in range(30):
        keys.press("PageUp")
    assert "reaches its roof" in drawn.sentence()
    keys.press("Enter")
    keys.press("Delete")
    assert "what if" not in drawn.sentence()
    assert drawn.locator("[data-ghost]").count() == 0
    # Every message that nobody is there for is one.
    errors = drawn.book.console_errors
    errors[:] = [error for error in errors if "Could not send" not in error]
