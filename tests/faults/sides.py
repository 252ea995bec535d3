"""The two sides of a widget: what a page shows, and what Python has."""

from __future__ import annotations

import time
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.drawn import EVENTUALLY_SECONDS, Drawn, Grip
from tests.browser.lab import Notebook, Server
from tests.browser.rates import shown
from tests.faults.kernel import Kernel

CELL = """import time
import roofwidget as rw
chips = [
    rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"}),
    rw.Chip("Other", {"bf16": "200 TFLOP/s"}, {"HBM": "2 TB/s"}),
]
w = rw.RooflineWidget(chips, [("on the roof", 1e12, 1e11), ("under it", 1e14, 1e11)], locale="en")
w"""
CHIPS = ("Example", "Other")
WAITING = "Python is busy or gone; changes wait."
ENDED = "Python has ended: run the cell again."
RESTARTED = "Python was restarted: run the cell again."
KNOWN = "[w.peak_flops, w.bandwidth, w.title, list(w.shown)]"
# Moves a slider as a key of the keyboard does: a dialog of JupyterLab may lie over the slider.
SLIDE = """(input) => {
  const [low, high, now] = [Number(input.min), Number(input.max), input.valueAsNumber];
  input.valueAsNumber = now + 0.1 * (now > (low + high) / 2 ? low - high : high - low);
  for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
}"""
# JupyterLab tries again after a random time that doubles; a person can have it try at once, too.
RECONNECT = "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect(); }"


def rate_at(share: float, sheet: float) -> float:
    """Return the rate at a share of a slider's track: it covers both chips, and a factor of ten below and above."""
    return sheet * 10 ** (3 * share - 1)


class Page:
    """A page of a notebook with one widget, and the kernel."""

    def __init__(self, book: Notebook, server: Server, name: str) -> None:
        self.book = book
        self.page = book.page
        self.server = server
        self.name = name
        self._kernel: Kernel | None = None

    @property
    def drawn(self) -> Drawn:
        """The widget's first view."""
        return Drawn(self.book)

    @property
    def kernel(self) -> Kernel:
        """The kernel, asked without the page."""
        self._kernel = self._kernel or Kernel(self.server, self.book)
        return self._kernel

    @property
    def note(self) -> Locator:
        """The note on the connection."""
        return self.page.locator(".rw-connection[role=status]").first

    def state(self) -> list[Any]:
        """Return what the first view shows of `KNOWN`."""
        drawn = self.drawn
        titles = drawn.locator("h2.rw-title").all_text_contents()
        pressed = {name: drawn.toggle(name).get_attribute("aria-pressed") == "true" for name in CHIPS}
        return [
            shown(drawn, "peak"),
            shown(drawn, "bandwidth"),
            titles[0] if titles else "",
            [name.lower() for name in CHIPS if pressed[name]],
        ]

    def grip(self) -> Grip:
        """Press on the thumb of the bandwidth's slider."""
        return self.drawn.grip("bandwidth")

    def slide(self) -> float:
        """Move the bandwidth's slider without a mouse, and return the bandwidth that the page then shows."""
        drawn = self.drawn
        before = shown(drawn, "bandwidth")
        drawn.slider("bandwidth").evaluate(SLIDE)
        drawn.eventually(lambda: shown(drawn, "bandwidth") != before)
        return shown(drawn, "bandwidth")

    def reconnect(self) -> None:
        """Have JupyterLab connect again with the kernel."""
        self.page.evaluate(RECONNECT)

    def close(self) -> None:
        """End the own connection with the kernel."""
        if self._kernel:
            self._kernel.close()


def agree(*pages: Page, known: str = KNOWN) -> list[Any]:
    """Wait until Python and all pages have the same values, and return these."""
    kernel = pages[0].kernel
    deadline = time.monotonic() + EVENTUALLY_SECONDS
    while True:
        python = kernel.value(known)
        seen = [page.state() for page in pages]
        if all(is_same(one, python) for one in seen):
            return list(python)
        assert time.monotonic() < deadline, f"Python has {python}, the pages show {seen}"
        time.sleep(0.05)


def is_same(one: list[Any], other: list[Any]) -> bool:
    """Tell whether two states are the same, as far as a page shows digits."""
    return one[:2] == pytest.approx(other[:2], rel=1e-3) and [one[2], set(one[3])] == [other[2], set(other[3])]


def follow_each_other(*pages: Page) -> None:
    """Change each side, and see that all others follow. It says nothing of a lost connection then."""
    kernel = pages[0].kernel
    kernel.value("setattr(w, 'title', f'{w.title}+')")
    agree(*pages)
    for page in pages:
        before = kernel.value("w.bandwidth")
        page.slide()
        page.drawn.eventually(lambda before=before: kernel.value("w.bandwidth") != before)  # type: ignore[misc]
        agree(*pages)
        # A dialog of JupyterLab may lie over the button.
        page.drawn.toggle("Other").evaluate("(button) => button.click()")
        agree(*pages)
        expect(page.note).to_have_text("")
