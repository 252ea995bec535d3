"""Compare the widget with bqplot, plotly, altair and a bare canvas, and write `docs/benchmarks.md`.

All contestants do the same job in one JupyterLab; docs/benchmarks.md describes what is measured and how. Peers that
take a second per step are measured once, with fewer points, and only in the gentle job. Then the widget alone is
measured: dragging its roof and a kernel on the chart, full redraws, incremental drawing compared with a fresh view, a
Jupyter kernel that is busy or rounds values, where a frame goes, and what closed widgets leave in memory. Exits with an
error if something is broken; a missed target is only reported. `--points 1000 --cycles 50` is a short run that only
prints.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright

from benchmarks.common import contestants, frames, job, lifetime, own, verdict
from benchmarks.common.contest import measure
from tests.browser import chromium, lab

PAGE = ROOT / "docs" / "benchmarks.md"


def contend(browser: Browser, server: lab.Server, found: verdict.Findings) -> None:
    """Measure all contestants, round by round."""
    for turn in range(max(one.rounds for one in contestants.ALL)):
        for name, count in product(job.NAMES, found.counts):
            for one in contestants.ALL:
                if turn >= one.rounds or count not in one.counts or name not in one.jobs:
                    continue
                seen = measure(browser, server, one, job.Job(count, name))
                found.rounds.setdefault((one.name, name, count), []).append(seen)
                print(f"round {turn + 1}, {name}, {count:7,} points, {one.name:12} {seen}", flush=True)


def examine(browser: Browser, server: lab.Server, found: verdict.Findings) -> None:
    """Measure this widget alone."""
    for name, count in product(job.NAMES, found.counts):
        found.own.append(own.examine(browser, server, job.Job(count, name)))
        found.faults += found.own[-1].faults
    framed = [count for count in verdict.FRAMED if count in found.counts]
    for count, one in product(framed, (contestants.OURS, contestants.BARE)):
        seen = frames.measure(browser, server, one, job.Job(count, job.SWEEP), "slider", rounds=3)
        found.frames[one.name, count] = seen
    found.busy_states, missed = own.while_busy(browser, server)
    found.jumps, jumped = own.while_coerced(browser, server)
    found.faults += missed + jumped
    found.left = lifetime.cycles(browser, server, "roofwidget", lifetime.OURS, found.cycles)
    found.left_by_bare = lifetime.cycles(browser, server, "bare", lifetime.BARE, found.cycles)
    found.alive = lifetime.alive()
    if found.alive:
        found.faults.append(f"{found.alive} of {lifetime.CLOSED:,} closed widgets are alive in Python")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", choices=verdict.COUNTS, default=verdict.COUNTS)
    parser.add_argument("--cycles", type=int, default=lifetime.CYCLES, help="widgets made and closed in a page")
    options = parser.parse_args()
    contestants.require()
    begun = time.monotonic()
    found = verdict.Findings(tuple(options.points), options.cycles, load=os.getloadavg()[0])
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        found.browser = browser.version
        contend(browser, server, found)
        examine(browser, server, found)
        browser.close()
    text = verdict.page(found)
    if (found.counts, found.cycles) == (verdict.COUNTS, lifetime.CYCLES):
        PAGE.write_text(text, encoding="utf-8")
    print(f"\n{text}\n{time.monotonic() - begun:.0f} s")
    if found.faults:
        sys.exit("broken: " + "; ".join(found.faults))


if __name__ == "__main__":
    main()
