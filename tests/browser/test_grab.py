"""The roof in the hand, in a real JupyterLab: its flat, its slope and its ridge point follow the pointer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, Finger, centre, shown

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

# Its ridge is at 100 FLOP/byte; one kernel on the slope of the roof, one under its flat.
CELL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([chip], [("on the roof", 1e12, 1e11, 0.1), ("under it", 1e14, 1e11, 3)])
w"""
RATES = "(w.peak_flops, w.bandwidth)"


@pytest.fixture
def drawn(notebook: OpenNotebook) -> Drawn:
    return shown(notebook, CELL)[1]


def middle(drawn: Drawn, part: str) -> tuple[float, float]:
    """Return the middle of what can be grabbed, px in the page."""
    return centre(drawn.locator(f"[data-part='{part}']"))


def pull(drawn: Drawn, part: str, right: float, down: float) -> None:
    """Take hold of a part of the roof and draw it somewhere; it is not let go."""
    x, y = middle(drawn, part)
    drawn.pull((x, y), (x + right, y + down), drop=False)


@pytest.mark.parametrize(
    ("part", "by", "rates"),
    [
        ("peak", (25, -30), ["higher", "same"]),
        ("bandwidth", (40, 0), ["same", "lower"]),
        ("ridge", (-40, 20), ["lower", "higher"]),
    ],
)
def test_a_part_of_the_roof_follows_the_pointer_and_python_hears_of_it(
    drawn: Drawn, part: str, by: tuple[float, float], rates: list[str]
) -> None:
    (right, down), before = by, middle(drawn, part)
    pull(drawn, part, right, down)

    def has_followed() -> bool:
        # Up and down the flat, both ways the ridge point; the slope has moved sideways where the pointer is.
        x, y = middle(drawn, part)
        return (part == "bandwidth" or abs(y - before[1] - down) < 2) and (
            part != "ridge" or abs(x - before[0] - right) < 2
        )

    drawn.eventually(has_followed)
    drawn.mouse.up()

    def told(rate: float, sheet: float) -> str:
        return "same" if rate == sheet else "higher" if rate > sheet else "lower"

    def now() -> list[str]:
        return [told(*pair) for pair in zip(drawn.book.python(RATES), (1e14, 1e12), strict=True)]

    drawn.eventually(lambda: now() == rates)


def test_escape_takes_a_grabbed_roof_back_and_a_finger_grabs_too(drawn: Drawn) -> None:
    pull(drawn, "ridge", 60, 30)
    drawn.eventually(lambda: tuple(drawn.book.python(RATES)) != (1e14, 1e12))
    drawn.press("Escape")
    drawn.mouse.up()
    drawn.becomes("(list(w.selected), list(w.what_if))", [[], []])
    assert tuple(drawn.book.python(RATES)) == (1e14, 1e12)
    before = middle(drawn, "peak")
    finger = Finger(drawn)
    finger.drag(before, (before[0], before[1] + 40))
    drawn.eventually(lambda: abs(middle(drawn, "peak")[1] - before[1] - 40) < 2)
    finger.lift()
    drawn.becomes("list(w.what_if.get('example', ()))", ["peak_flops"])
    assert drawn.book.python(RATES)[0] < 1e14


def test_a_press_on_a_kernel_means_the_kernel(drawn: Drawn) -> None:
    drawn.mouse.click(*drawn.place(10, 1e13))
    drawn.becomes("list(w.selected)", [0])
    assert tuple(drawn.book.python(RATES)) == (1e14, 1e12)


def test_a_finger_and_a_mouse_reach_a_point_within_16_px_and_no_farther(drawn: Drawn) -> None:
    x, y = drawn.place(1000, 1e14 / 3)
    mouse, finger = drawn.mouse, Finger(drawn)
    tooltip = drawn.get_by_role("tooltip")

    def touch(away: float) -> None:
        finger.press(x + away, y)
        finger.lift()

    for reach in (lambda away: mouse.move(x + away, y), touch):
        reach(60)
        expect(tooltip).to_be_hidden()
        reach(14.5)
        expect(tooltip).to_contain_text("under it")
        reach(60)
        expect(tooltip).to_be_hidden()
        reach(17.5)
        # What follows from the pointer is drawn in the next frame.
        drawn.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(tooltip).to_be_hidden()


@pytest.mark.parametrize(("away", "is_kernel"), [(6, True), (11, False)])
def test_a_press_within_8_px_of_a_kernel_on_a_roof_is_on_the_kernel_and_farther_away_on_the_roof(
    drawn: Drawn, away: float, *, is_kernel: bool
) -> None:
    (x, y), (farther, higher) = drawn.place(10, 1e13), drawn.place(20, 2e13)
    length = math.hypot(farther - x, higher - y)
    x, y = x + (farther - x) / length * away, y + (higher - y) / length * away
    drawn.pull((x, y), (x + 40, y))
    drawn.becomes("[bool(w.moves), w.bandwidth != 1e12]", [is_kernel, not is_kernel])
