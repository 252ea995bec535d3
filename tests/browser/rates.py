"""The rates of the focus chip: what a page shows, and the thumb of their sliders, held by the mouse."""

from __future__ import annotations

from tests.browser.drawn import Drawn, Quantity


def shown(page: Drawn, quantity: Quantity) -> float:
    """Return a rate that a page shows."""
    digits, unit = page.box(quantity).input_value().replace("\xa0", " ").split(" ")
    return float(digits) * {"G": 1e9, "T": 1e12, "P": 1e15}[unit[0]]


def rate_at(share: float, sheet: float) -> float:
    """Return the rate at a share of a slider's track, which covers a factor of ten below and above the data sheet."""
    return sheet * 10 ** (2 * share - 1)


class Grip:
    """The thumb of a slider, held by the mouse."""

    def __init__(self, page: Drawn, quantity: Quantity) -> None:
        slider = page.slider(quantity)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box is not None
        low, high, now = (float(slider.evaluate(f"(input) => input.{name}")) for name in ("min", "max", "value"))
        self._mouse = page.page.mouse
        self._track = box["width"] - 16
        self._left, self._y = box["x"] + 8, box["y"] + box["height"] / 2
        self._mouse.move(self._left + self._track * (now - low) / (high - low), self._y)
        self._mouse.down()

    def to(self, share: float) -> None:
        """Move the thumb to a place on its track, from 0 to 1."""
        self._mouse.move(self._left + self._track * share, self._y)

    def release(self) -> None:
        """Let go of the thumb."""
        self._mouse.up()
