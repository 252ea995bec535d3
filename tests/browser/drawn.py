"""What a person sees of the widget and does to it: the drawn controls, found by their names and roles."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import FloatRect, Locator, expect

from tests.browser.lab import CellError, Notebook

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

Quantity = Literal["peak", "bandwidth"]

EVENTUALLY_SECONDS = 60.0
"""How long a test waits for something to come about, at most."""

# Where the powers of ten of the axes are drawn, from their labels: {x: [[value, px]…], y: …} in the chart's pixels.
TICKS = """(chart) => {
  const units = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  const value = (text) => {
    const [, digits, unit] = /^([0-9.e-]+)([kMGTPE]?)$/.exec(text) ?? [];
    return digits === undefined ? undefined : Number(digits) * units[unit];
  };
  const origin = chart.getBoundingClientRect();
  const ticks = { x: [], y: [] };
  for (const text of chart.querySelectorAll('.rw-axes > text')) {
    const number = value(text.textContent.trim());
    if (number === undefined) continue;
    const box = text.getBoundingClientRect();
    if (text.getAttribute('text-anchor') === 'middle') ticks.x.push([number, box.x + box.width / 2 - origin.x]);
    else ticks.y.push([number, Number(text.getAttribute('y')) - 4]);
  }
  return ticks;
}"""


class Drawn:
    """One view of the widget."""

    def __init__(self, book: Notebook, view: int = 0) -> None:
        self.book = book
        self.page = book.page
        self.mouse = book.page.mouse
        self.keyboard = book.page.keyboard
        self.root = book.page.locator(".roofwidget").nth(view)
        # What is found by these is in this view.
        self.locator = self.root.locator
        self.get_by_role = self.root.get_by_role
        self.chart = self.locator(".rw-chart")
        # A widget without chips and kernels has an invitation in place of the chart.
        self.locator(".rw-chart, .rw-empty").first.wait_for()

    def button(self, name: str | re.Pattern[str], *, exact: bool = False) -> Locator:
        """Return the button of a name."""
        return self.get_by_role("button", name=name, exact=exact)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.keyboard.press(key)

    def roof(self, chip: str) -> str:
        """Return the path of a chip's roof as it is drawn."""
        return self.locator(f".rw-roof[data-chip='{chip}']").get_attribute("d") or ""

    def has_roof(self, chip: str) -> bool:
        """Tell whether a chip's roof is drawn."""
        return self.locator(f".rw-roof[data-chip='{chip}']").count() > 0

    def label(self, key: str) -> str:
        """Return what a label of the chart says."""
        return self.locator(f"text[data-label='{key}']").text_content() or ""

    def slider(self, quantity: Quantity) -> Locator:
        """Return the slider of the peak or of the bandwidth."""
        return self.get_by_role("slider", name=re.compile("^Peak" if quantity == "peak" else "bandwidth$"))

    def box(self, quantity: Quantity) -> Locator:
        """Return the box in which the same number is typed."""
        name = re.compile("^Peak.*typed" if quantity == "peak" else "bandwidth, typed")
        return self.get_by_role("textbox", name=name)

    def reset(self, quantity: Quantity) -> Locator:
        """Return the button that goes back to the data sheet."""
        return self.get_by_role("button", name=re.compile("^Back.*" + ("Peak" if quantity == "peak" else "band")))

    def toggle(self, chip: str) -> Locator:
        """Return the button that shows or hides a chip."""
        return self.get_by_role("button", name=f"Show {chip}", exact=True)

    def sentence(self) -> str:
        """Return the sentence of the status row, which is the title of its formula."""
        formula = self.locator(".rw-formula")
        return (formula.get_attribute("title") or formula.text_content() or "").replace("\xa0", " ")

    def tooltip(self) -> str:
        """Return the tooltip's text, its lines apart by ' | '."""
        tooltip = self.get_by_role("tooltip")
        expect(tooltip).to_be_visible()
        return " | ".join(tooltip.inner_text().split("\n"))

    def open_tab(self, name: str) -> None:
        """Open a tab of the inspector, such as "fusion"."""
        self.locator(f"[data-rw='tab-{name}']").click()

    def tool(self, name: str) -> Locator:
        """Return a tool of the toolbar or of its menus, which are opened."""
        tool = self.locator(f"button[data-tool='{name}']")
        if tool.count() == 0:
            menus = self.locator("[data-tool=view], [data-tool=more]")
            menu = menus.last if name in ("screen", "keys", "figures") or menus.count() == 1 else menus.first
            menu.click()
        return tool.first

    def choose(self, menu: str, value: str) -> None:
        """Choose a value of one of the toolbar's menus: of "precision", "memory" or "view"."""
        opener = self.locator(f"[data-tool={menu}]")
        opener.click()
        self.locator(f"[role=menuitemradio][data-tool='{value}']").click()
        expect(opener).to_have_attribute("aria-expanded", "false")

    def download(self, kind: str, style: str = "Screen") -> Locator:
        """Open the dialog that saves a figure, and return its button for a kind of file: "png" or "svg"."""
        if self.locator("[data-tool=save]").count() == 0:
            self.locator("[data-tool=more]").click()
        self.locator("[data-tool=save]").click()
        dialog = self.get_by_role("dialog").last
        # In German the screen has another name.
        name = re.compile("^(Screen|Schirm)$") if style == "Screen" else style
        dialog.get_by_role("button", name=name, exact=True).click()
        dialog.get_by_role("button", name=kind.upper(), exact=True).click()
        expect(dialog.get_by_role("img")).to_be_visible()
        return self.locator(f"button[data-tool='{kind}']")

    def axes(self) -> Locator:
        """Open the menu of the axes with the pointer, and return it."""
        self.tool("axes").click()
        return self.get_by_role("dialog", name="Axes")

    def place(self, ai: float, rate: float) -> tuple[float, float]:
        """Return where FLOP/B and FLOP/s are on the page, px, by the tick labels of the axes."""
        ticks = self.chart.evaluate(TICKS)
        box = box_of(self.chart)
        return box["x"] + _between(ticks["x"], ai), box["y"] + _between(ticks["y"], rate)

    def grip(self, quantity: Quantity) -> Grip:
        """Take hold of the thumb of a slider."""
        return Grip(self.slider(quantity))

    def drag(self, quantity: Quantity, by: float, *, steps: int = 20, during: Callable[[], None] | None = None) -> None:
        """Drag a slider's thumb by a share of the track with the mouse; `during` is called before it is let go."""
        grip = self.grip(quantity)
        grip.by(by, steps=steps)
        if during is not None:
            during()
        grip.release()

    def pull(self, start: tuple[float, float], end: tuple[float, float], *, steps: int = 6, drop: bool = True) -> None:
        """Drag with the mouse from a place of the page to another; without `drop` the button stays pressed."""
        self.mouse.move(*start)
        self.mouse.down()
        self.mouse.move(*end, steps=steps)
        if drop:
            self.mouse.up()

    def eventually(self, holds: Callable[[], bool], *, seconds: float = EVENTUALLY_SECONDS) -> None:
        """Wait until something drawn or known to Python is so."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, "it did not come about"
            time.sleep(0.05)

    def becomes(self, expression: str, value: object) -> None:
        """Wait until an expression has a value in Python; it may raise until then, as for a key that comes later."""
        seen: object = None

        def holds() -> bool:
            nonlocal seen
            try:
                seen = self.book.python(expression)
            except CellError as error:
                seen = error
                return False
            return bool(seen == value)

        try:
            self.eventually(holds)
        except AssertionError:
            raise AssertionError(f"{expression} is {seen!r}, not {value!r}") from None


class Finger:
    """A finger on the page."""

    def __init__(self, drawn: Drawn) -> None:
        self._session = drawn.page.context.new_cdp_session(drawn.page)

    def _send(self, kind: str, *spots: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in spots]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def press(self, x: float, y: float) -> None:
        """Put it down."""
        self._send("touchStart", (x, y))

    def move(self, x: float, y: float) -> None:
        """Go on to a place."""
        self._send("touchMove", (x, y))

    def lift(self) -> None:
        """Take it away."""
        self._send("touchEnd")

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press at a place and go on to another."""
        self.press(*start)
        for step in range(1, 9):
            self.move(*(a + (b - a) * step / 8 for a, b in zip(start, end, strict=True)))


class Grip:
    """The thumb of a slider, held by the mouse."""

    def __init__(self, slider: Locator) -> None:
        slider.scroll_into_view_if_needed()
        box = box_of(slider)
        low, high, now = (float(slider.evaluate(f"(input) => input.{name}")) for name in ("min", "max", "value"))
        self._mouse = slider.page.mouse
        self._track = box["width"] - 16
        self._left, self._y = box["x"] + 8, box["y"] + box["height"] / 2
        self.share = (now - low) / (high - low)
        self.to(self.share)
        self._mouse.down()

    def to(self, share: float) -> None:
        """Move the thumb to a place on its track, from 0 to 1."""
        self._mouse.move(self._left + self._track * share, self._y)

    def by(self, share: float, *, steps: int, during: Callable[[], object] = lambda: None) -> None:
        """Move the thumb on by a share of its track, one step a frame; `during` is called after each step."""
        for step in range(1, steps + 1):
            self.to(self.share + share * step / steps)
            time.sleep(0.016)
            during()

    def release(self) -> None:
        """Let go of the thumb."""
        self._mouse.up()


def shown(notebook: OpenNotebook, *cells: str, width: int = 1200, height: int = 900) -> tuple[Notebook, Drawn]:
    """Open a notebook, run its first cell, and return the notebook and the widget that the cell shows."""
    book = notebook(cells, width=width, height=height)
    book.run(0)
    return book, Drawn(book)


def box_of(one: Locator) -> FloatRect:
    """Return the place and the size of what is on the page."""
    box = one.bounding_box()
    assert box is not None
    return box


def centre(one: Locator) -> tuple[float, float]:
    """Return the middle of what is on the page."""
    box = box_of(one)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def enter(box: Locator, text: str) -> None:
    """Type a text in a box in place of its own, and press Enter."""
    box.fill(text)
    box.press("Enter")


def _between(ticks: list[list[float]], value: float) -> float:
    (low, at_low), *_, (high, at_high) = sorted(ticks)
    share = math.log10(value / low) / math.log10(high / low)
    return at_low + share * (at_high - at_low)
