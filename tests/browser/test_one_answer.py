"""One answer everywhere: two pages of one notebook and Python hold the same values, also after a lost connection.

The first page is connected through a proxy that can cut its connection, the second page directly.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser

from tests.browser import lab
from tests.browser.drawn import Drawn, Quantity
from tests.browser.proxy import Proxy, proxy
from tests.browser.rates import rate_at, shown

CELLS = [
    """import time
import roofwidget as rw
from traitlets import TraitError, validate

class AtMostEight(rw.RooflineWidget):
    @validate("what_if")
    def _refuse(self, proposal):
        rates = proposal["value"].get("example", {}).get("bandwidth", {})
        if rates.get("HBM", 0) > 8e12:
            raise TraitError("what_if: at most 8 TB/s")
        return proposal["value"]

chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = AtMostEight([chip], [("on the roof", 1e12, 1e11, 0.1), ("under it", 1e14, 1e11, 3)])
w""",
    "time.sleep(2.5)",
]
# JupyterLab tries again after a random time that doubles; a person can have it try at once, too.
RECONNECT = "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect(); }"
QUANTITIES: tuple[Quantity, Quantity] = ("peak", "bandwidth")
NAMES = {"peak": "peak_flops", "bandwidth": "bandwidth"}


@dataclass
class Pages:
    """Two pages of one notebook."""

    proxy: Proxy
    first: Drawn
    second: Drawn

    def reconnect(self) -> None:
        """Mend the first page's connection."""
        self.proxy.mend()
        self.first.page.evaluate(RECONNECT)

    def python(self, expression: str) -> object:
        return self.second.book.python(expression)

    def rates(self) -> list[list[float]]:
        """Return peak and bandwidth as Python has them, as the first page shows them, and as the second page does."""
        known = [float(str(self.python(f"w.{NAMES[quantity]}"))) for quantity in QUANTITIES]
        return [known, *([shown(page, quantity) for quantity in QUANTITIES] for page in (self.first, self.second))]

    def agree(self) -> list[float]:
        """Wait until all three have the same rates, and return these."""
        rates: list[list[float]] = []

        def is_same() -> bool:
            rates[:] = self.rates()
            return all(rate == pytest.approx(rates[0], rel=1e-3) for rate in rates)

        self.first.eventually(is_same)
        return rates[0]


@pytest.fixture(scope="module")
def opened(server: lab.Server, browser: Browser) -> Iterator[Pages]:
    with proxy(server.url) as running:
        through = lab.Server(running.url, server.root, server.data)
        first = lab.Notebook(browser, through, "one-answer.ipynb", CELLS, width=1200, height=900)
        first.run(0)
        drawn = Drawn(first)
        first.save()
        second = lab.Notebook(browser, server, "one-answer.ipynb", None, width=1200, height=900)
        yield Pages(running, drawn, Drawn(second))
        first.tab.close()
        second.close()


@pytest.fixture
def pages(opened: Pages) -> Pages:
    """Return the two pages, at the rates of the data sheet."""
    opened.proxy.mend()
    opened.python("w.reset()")
    assert opened.agree() == [1e14, 1e12]
    return opened


@pytest.mark.parametrize("is_held", [True, False], ids=["held", "let go after the page says so"])
def test_a_drag_while_the_connection_is_cut_ends_with_one_value_in_both_pages_and_python(
    pages: Pages, *, is_held: bool
) -> None:
    grip = pages.first.grip("bandwidth")
    grip.to(0.6)
    pages.first.eventually(lambda: pages.python("w.bandwidth") != 1e12)
    pages.proxy.cut()
    steps = itertools.count()

    note = pages.first.locator(".rw-connection")

    def is_known_to_the_page() -> bool:
        grip.to(0.6 + 0.05 * (next(steps) % 3))
        return pages.proxy.refused > 0 and (is_held or note.text_content() != "")

    pages.first.eventually(is_known_to_the_page)
    grip.to(0.7)
    if not is_held:
        grip.release()
    pages.reconnect()
    if is_held:
        grip.release()
    assert pages.agree() == pytest.approx([1e14, rate_at(0.7, 1e12)], rel=0.02)


def test_what_changed_elsewhere_while_the_connection_was_cut_is_taken_after_it(pages: Pages) -> None:
    pages.proxy.cut()
    grip = pages.second.grip("bandwidth")
    grip.to(0.7)
    grip.release()
    pages.second.eventually(lambda: pages.python("w.bandwidth") != 1e12)
    assert shown(pages.first, "bandwidth") == 1e12
    pages.reconnect()
    assert pages.agree()[1] > 1e12


def test_a_slow_connection_ends_with_one_value(pages: Pages) -> None:
    grip = pages.first.grip("bandwidth")
    with pages.proxy.holding():
        for step in range(20):
            grip.to(0.55 + 0.01 * step)
        grip.release()
        pages.python("w.set_what_if(bandwidth='3 TB/s')")
        pages.second.eventually(lambda: shown(pages.second, "bandwidth") == 3e12)
    pages.agree()


def test_two_pages_that_drag_two_rates_at_once_keep_both(pages: Pages) -> None:
    one, other = pages.first.grip("bandwidth"), pages.second.grip("peak")
    for step in range(30):
        one.to(0.55 + 0.005 * step)
        other.to(0.55 + 0.005 * step)
        time.sleep(0.016)
    one.to(0.7)
    other.to(0.6)
    one.release()
    other.release()
    assert pages.agree() == pytest.approx([rate_at(0.6, 1e14), rate_at(0.7, 1e12)], rel=0.02)


def test_two_pages_that_drag_one_rate_at_once_end_with_one_value_and_undo_it(pages: Pages) -> None:
    one, other = pages.first.grip("bandwidth"), pages.second.grip("bandwidth")
    for step in range(30):
        one.to(0.55 + 0.005 * step)
        other.to(0.45 - 0.005 * step)
        time.sleep(0.016)
    # Each page shows what its pointer holds.
    assert shown(pages.first, "bandwidth") > 1e12 > shown(pages.second, "bandwidth")
    one.release()
    other.release()
    assert pages.agree()[1] != 1e12


def test_undo_takes_back_what_this_page_did_and_nothing_else(pages: Pages) -> None:
    grip = pages.first.grip("bandwidth")
    grip.to(0.7)
    grip.release()
    changed = pages.agree()[1]
    grip = pages.second.grip("peak")
    grip.to(0.7)
    grip.release()
    peak = pages.agree()[0]
    assert peak > 1e14
    pages.first.get_by_role("button", name="Undo").click()
    assert pages.agree() == [peak, 1e12]
    pages.first.get_by_role("button", name="Redo").click()
    assert pages.agree() == [peak, changed]


def test_a_value_that_python_refuses_stays_in_no_page(pages: Pages) -> None:
    grip = pages.first.grip("bandwidth")
    grip.to(0.6)
    pages.first.eventually(lambda: pages.python("w.bandwidth") != 1e12)
    grip.to(1)
    grip.release()
    assert 1e12 < pages.agree()[1] <= 8e12


def test_a_drag_while_the_kernel_is_busy_ends_with_one_value(pages: Pages) -> None:
    pages.first.book.start(1)
    for share in (0.6, 0.7, 0.65):
        grip = pages.first.grip("bandwidth")
        grip.to(share)
        grip.release()
    pages.first.book.wait(1)
    assert pages.agree() == pytest.approx([1e14, rate_at(0.65, 1e12)], rel=0.02)


def test_a_page_that_is_loaded_again_during_a_drag_has_the_value_of_python(pages: Pages) -> None:
    grip = pages.first.grip("bandwidth")
    for step in range(20):
        grip.to(0.55 + 0.01 * step)
        time.sleep(0.016)
    pages.first.book.reload()
    grip.release()
    pages.first.chart.wait_for()
    assert pages.agree()[1] > 1e12
    grip = pages.first.grip("bandwidth")
    grip.to(0.4)
    grip.release()
    assert pages.agree()[1] < 1e12
