"""Memory that closed widgets leave behind: 500 in a page, and 10,000 in Python."""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from playwright.sync_api import Browser

from tests.browser import lab

# The page is looked at after each batch.
CYCLES, BATCHES, WARM = 500, 5, 10
CLOSED = 10_000
OURS = """import asyncio
import roofwidget as rw
from IPython.display import clear_output, display
make = lambda: rw.RooflineWidget()"""
BARE = '''import asyncio, anywidget
from IPython.display import clear_output, display
class Bare(anywidget.AnyWidget):
    _esm = """export default { render({ el }) {
        const view = document.createElement("div");
        view.className = "roofwidget";
        view.textContent = "bare";
        el.append(view);
    } }"""
make = lambda: Bare()'''
CYCLE = """for _ in range({count}):
    widget = make()
    display(widget)
    await asyncio.sleep(0.12)
    widget.close()
    widget.layout.close()
    clear_output()
    await asyncio.sleep(0.03)"""
# Counts drawn views. A view may be put into a part of the page that is itself put there a moment later.
WATCH = """() => {
  window.drawn = 0;
  const seen = new WeakSet();
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) {
      if (node.nodeType !== 1) continue;
      const view = node.matches('.roofwidget') ? node : node.querySelector('.roofwidget');
      if (!view || seen.has(view)) continue;
      seen.add(view);
      window.drawn += 1;
    }
  }).observe(document.body, { childList: true, subtree: true });
}"""
ALIVE = f"""import gc, weakref
import roofwidget as rw
chip = rw.Chip("c", {{"bf16": 1e14}}, {{"HBM": 1e12}})
kernels = rw.Kernels(["a"], [1e12], [1e9], time=[0.1])
gone = []
for _ in range({CLOSED}):
    widget = rw.RooflineWidget([chip], kernels)
    widget.peak_flops = 1e15
    gone.append(weakref.ref(widget))
    widget.close()
    widget.layout.close()
del widget
gc.collect()
print(sum(one() is not None for one in gone))"""


@dataclass(frozen=True)
class Left:
    """The bytes, nodes and listeners that a cycle of making, showing and closing leaves in the page.

    Attributes
    ----------
    heap, nodes, listeners : float
        The medians over batches of cycles.
    noise : float
        The difference between the batches with the most and the least heap, bytes.
    drawn : int
        How many widgets were drawn.
    """

    heap: float = 0
    nodes: float = 0
    listeners: float = 0
    noise: float = 0
    drawn: int = 0


def held(client: Any) -> tuple[float, float, float]:
    """Return used heap, nodes and listeners after repeated garbage collection."""
    for _ in range(3):
        client.send("HeapProfiler.collectGarbage")
    counters = client.send("Memory.getDOMCounters")
    used = client.send("Runtime.getHeapUsage")["usedSize"]
    return used, counters["nodes"], counters["jsEventListeners"]


def cycles(browser: Browser, server: lab.Server, name: str, make: str, count: int = CYCLES) -> Left:
    """Return what `count` widgets leave in a page."""
    size = count // BATCHES
    cells = [make, CYCLE.format(count=WARM), CYCLE.format(count=size)]
    book = lab.Notebook(browser, server, f"lifetime-{name}.ipynb", cells, width=1200, height=900)
    book.run(0)
    book.run(1)
    client = book.page.context.new_cdp_session(book.page)
    client.send("HeapProfiler.enable")
    book.page.evaluate(WATCH)
    states = [held(client)]
    for _ in range(BATCHES):
        book.run(2, seconds=120)
        book.page.wait_for_timeout(1000)
        states.append(held(client))
    drawn = int(book.page.evaluate("drawn"))
    book.close()
    pairs = list(pairwise(states))
    heaps, nodes, listeners = ([(now[part] - then[part]) / size for then, now in pairs] for part in range(3))
    middle = statistics.median
    return Left(middle(heaps), middle(nodes), middle(listeners), max(heaps) - min(heaps), drawn)


def alive() -> int:
    """Return how many of `CLOSED` closed widgets are still alive in a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", ALIVE], check=True, capture_output=True, encoding="utf-8")  # noqa: S603
    return int(run.stdout)
