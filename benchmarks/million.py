"""A million kernels in a real JupyterLab: the time to the first drawing, a change from Python, and drags.

`--kernels` sets another number of kernels, `--names` how many different names they have. A state is a distinct path of
the roof, read in the first task after a frame. The drags send one input a frame: with the 1,000 kernels that take most
of the time, which are what a page shows first of so many, and with all kernels. The target applies to the first drag.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import sync_playwright

from benchmarks.common.sampling import sample, sweep
from tests.browser import chromium, lab
from tests.browser.drawn import Drawn

TARGET = 30
SECONDS = 300
CELL = """import numpy as np, roofwidget as rw
rng = np.random.default_rng(1)
n = {kernels}
ai, bytes = 10 ** rng.uniform(-1, 3.5, n), 10 ** rng.uniform(6, 9, n)
time = ai * bytes / (rw.attainable(ai, 100e12, 1e12) * rng.uniform(.05, .95, n))
names = np.array([f"kernel {{i}}" for i in range({names})], dtype=object)[np.arange(n) % {names}]
chip = rw.Chip("My chip", {{"bf16": "100 TFLOP/s"}}, {{"HBM": "1 TB/s"}})
w = rw.roofline([chip], rw.Kernels(names, ai * bytes, bytes, time=time))
w"""
ROOF = "() => document.querySelector(\".rw-roof[data-chip='my-chip']\").getAttribute('d')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--names", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        cells = [CELL.format(kernels=options.kernels, names=options.names), "w.bandwidth = 3e12"]
        book = lab.Notebook(browser, server, "million.ipynb", cells, width=1200, height=900)
        start = time.monotonic()
        book.run(0, seconds=SECONDS)
        book.page.locator(".rw-chart").wait_for(timeout=SECONDS * 1000)
        drawn = Drawn(book)
        print(f"{options.kernels:,} kernels of {options.names:,} names; load {os.getloadavg()[0]:.1f}")
        print(f"drawn {time.monotonic() - start:.1f} s after the cell was started")
        before, start = drawn.roof("my-chip"), time.monotonic()
        book.start(1)
        drawn.eventually(lambda: drawn.roof("my-chip") != before, seconds=SECONDS)
        print(f"a change of the bandwidth in a cell is drawn after {time.monotonic() - start:.2f} s")
        client = book.page.context.new_cdp_session(book.page)
        heap = client.send("Runtime.getHeapUsage")
        print(f"{(heap['usedSize'] + heap['backingStorageSize']) / 1e6:.0f} MB of scripts and columns in the page")
        states = []
        for top in (1_000, None):
            book.python(f"setattr(w, 'top', {top})", seconds=SECONDS)
            # The page has shown the change when it next has time for a frame.
            book.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestIdleCallback(done)))")
            found = sample(book.page, ROOF, lambda: sweep(drawn.slider("bandwidth"), 0.3, 0.7))
            states.append(found.states)
            print(f"{'all' if top is None else f'top {top:,}':10} {found}; load {os.getloadavg()[0]:.1f}")
        shown = drawn.box("bandwidth").input_value()
        held = book.python("rw.units.format_quantity(w.bandwidth, 'B/s', 4)", seconds=SECONDS)
        print(f"afterwards the box shows {shown}, Python has {held}")
        book.close()
        browser.close()
    if states[0] < TARGET or shown != held:
        sys.exit(f"a target is missed: {TARGET} states a second with the top 1,000, and the last value in Python")


if __name__ == "__main__":
    main()
