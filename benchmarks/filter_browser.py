"""100,000 kernels in a real JupyterLab: response time from a key or a click to the drawn frame.

Every kernel has a unique name, as long as names of C++ templates, and all kernels are drawn. Gestures come from mouse
and keyboard. The clock runs in the page, from the event to the first task after the next frame. The target applies to
the median of each gesture. A first response includes work that is done once per table, such as names in lower case.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from playwright.sync_api import Locator, Page, sync_playwright

from tests.browser import chromium, lab
from tests.browser.drawn import Drawn

KERNELS = 100_000
CELL = f"""import numpy as np
import roofwidget as rw
at = np.arange({KERNELS})
mixed = (at * 7919) % {KERNELS}
names = [f"void ns::fused_{{n % 89}}<Policy<{{n % 7}}>, float>::kernel_{{n}}(Params const&)" for n in mixed]
chip = rw.Chip("My chip", {{"bf16": "100 TFLOP/s", "fp32": "50 TFLOP/s"}}, {{"HBM": "1 TB/s"}})
kernels = rw.Kernels(
    names, 1e12 + 1e8 * at, 1e9 + 1e6 * mixed, time=1 + mixed / 1e5,
    category=[f"class {{n % 12}}" for n in at], precision=[("bf16", "fp32")[n % 2] for n in at],
)
w = rw.roofline([chip], kernels)
w.top = None
w"""
# The first event of this type starts the clock; the first task after the next frame stops it.
CLOCK = """(kind) => {
  window.answered = undefined;
  addEventListener(kind, () => {
    const start = performance.now();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.answered = performance.now() - start; };
      channel.port2.postMessage(0);
    });
  }, { capture: true, once: true });
}"""
LIMIT_MS = 100


class ResponseTimes:
    """Response times in one page, ms."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.slowest = 0.0

    def measure(self, name: str, kind: str, *gestures: Callable[[], object]) -> None:
        """Run gestures one after another, each with one event of type `kind`, and print the response times."""
        times = []
        for gesture in gestures:
            self.page.evaluate(CLOCK, kind)
            gesture()
            self.page.wait_for_function("window.answered !== undefined")
            times.append(float(self.page.evaluate("window.answered")))
            # Wait until Python has the change and the page has finished its cleanup.
            time.sleep(0.5)
        median = statistics.median(times)
        self.slowest = max(self.slowest, median)
        print(
            f"{f'{KERNELS:,} kernels: {name}':40} {median:6.1f} ms median of {len(times)}, {times[0]:.1f} first, "
            f"{max(times):.1f} at most"
        )


def picks(select: Locator, count: int) -> list[Callable[[], object]]:
    """Return steps that select the first options one by one, then "all"."""
    return [
        *(lambda at=at: select.select_option(index=at) for at in range(1, count + 1)),
        lambda: select.select_option(index=0),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        book = lab.Notebook(browser, server, "filter.ipynb", [CELL], width=1200, height=1500)
        book.run(0)
        drawn, page = Drawn(book), book.page
        bar = drawn.root.get_by_role("region", name="Filters")
        drawn.root.get_by_role("button", name="Table").click()
        grid = drawn.root.get_by_role("grid")
        grid.get_by_role("row").nth(1).wait_for()
        time.sleep(3)
        answers = ResponseTimes(page)
        box = bar.get_by_role("searchbox")
        box.click()
        keys = ["k", "e", "r", "n", "e", "l", "_", "9", "9", *["Backspace"] * 9]
        answers.measure("search, a letter", "input", *(lambda key=key: page.keyboard.press(key) for key in keys))
        for label in ("Category", "Bound by", "Precision"):
            select = bar.get_by_role("combobox", name=label, exact=True)
            answers.measure(f"filter, {label.lower()}", "change", *picks(select, 2))
        answers.measure("filter, top", "change", *picks(bar.get_by_role("combobox", name="Top"), 5))
        slider = bar.get_by_role("slider")
        slider.focus()
        answers.measure("filter, time", "input", *(lambda: page.keyboard.press("ArrowLeft") for _ in range(10)))
        page.keyboard.press("End")
        time.sleep(1)
        for title in ("Kernel", "Category", "FLOPs", "Of roof", "Bound by"):
            head = grid.get_by_role("columnheader", name=title, exact=True).get_by_role("button")
            answers.measure(f"sort, {title.lower()}", "click", *[head.click] * 4)
        book.close()
        browser.close()
    if answers.slowest > LIMIT_MS:
        sys.exit(
            f"a target is missed: the median response of a gesture took {answers.slowest:.0f} ms, limit {LIMIT_MS}"
        )


if __name__ == "__main__":
    main()
