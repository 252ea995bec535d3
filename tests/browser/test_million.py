"""A million kernels in a real JupyterLab. `benchmarks/million.py` measures how fast they follow a drag."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, enter

MILLION = """import numpy as np, roofwidget as rw
n = 1_000_000
at = np.arange(n)
bytes = 1e6 + at
names = np.array([f"kernel {i}" for i in range(1000)], dtype=object)[at % 1000]
chip = rw.Chip("Mine", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([chip], rw.Kernels(names, bytes * 10.0 ** (at % 5 - 1), bytes, time=np.full(n, 1e-3)))
w"""

# anywidget waits two seconds for a model. Here the program that drives the browser copies every message first, of which
# one has all columns. The global name keeps the page from being handed on.
PATIENCE = """() => {
  const timeout = AbortSignal.timeout;
  window.patient = true;
  AbortSignal.timeout = (milliseconds) => timeout.call(AbortSignal, 15 * milliseconds);
}"""


def test_a_million_kernels_are_drawn_and_follow_python_and_the_page(notebook: OpenNotebook) -> None:
    book = notebook([MILLION, "w.bandwidth = 3e12"])
    book.page.evaluate(PATIENCE)
    book.run(0)
    drawn = Drawn(book)
    before = drawn.roof("mine")
    expect(drawn.locator("[data-rw=source]")).to_have_text("1,000,000 kernels from Python")
    expect(drawn.get_by_role("tab", name="Kernels 1,000 / 1,000,000")).to_be_visible()
    book.run(1)
    drawn.eventually(lambda: drawn.roof("mine") != before)
    enter(drawn.box("bandwidth"), "2 TB/s")
    drawn.becomes("w.bandwidth", 2e12)
