"""Compare the widget with bqplot, plotly, altair and a bare canvas, and write `docs/benchmarks.md`.

All contestants do the same job in one JupyterLab; docs/benchmarks.md describes what is measured and how. Peers that
take a second per step are measured once, with fewer points, and only in the gentle job. Then the widget alone is
measured: dragging its roof and a kernel on the chart, full redraws, incremental drawing compared with a fresh view, a
Jupyter kernel that is busy or rounds values, where a frame goes, and what closed widgets leave in memory. Exits with an
error if something is broken; a missed target is only reported. `--runs` repeats all of it with a fresh JupyterLab
each time, except for slow peers and memory, and gives medians over the runs; the page says how many. `--points 1000
--cycles 50 --runs 1` is short and only prints.
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
# The last section has the figures of `read_large.py`.
LAST = "\n## Reading large tables\n"


def contend(browser: Browser, server: lab.Server, found: verdict.Findings, *, is_first: bool) -> None:
    """Measure all contestants, or those of several rounds, round by round."""
    chosen = [one for one in contestants.ALL if is_first or one.rounds > 1]
    for turn in range(max(one.rounds for one in chosen)):
        for name, count in product(job.NAMES, found.counts):
            for one in chosen:
                if turn >= one.rounds or count not in one.counts or name not in one.jobs:
                    continue
                seen = measure(browser, server, one, job.Job(count, name))
                found.rounds.setdefault((one.name, name, count), []).append(seen)
                print(f"round {turn + 1}, {name}, {count:7,} points, {one.name:12} {seen}", flush=True)


def examine(browser: Browser, server: lab.Server, found: verdict.Findings) -> None:
    """Measure this widget alone."""
    for name, count in product(job.NAMES, found.counts):
        seen = own.examine(browser, server, job.Job(count, name))
        found.own.setdefault((name, count), []).append(seen)
        found.faults += seen.faults
    framed = [count for count in verdict.FRAMED if count in found.counts]
    for count, one in product(framed, (contestants.OURS, contestants.BARE)):
        drags = frames.measure(browser, server, one, job.Job(count, job.SWEEP), "slider", rounds=3)
        found.frames.setdefault((one.name, count), []).append(drags)
    states, missed = own.while_busy(browser, server)
    jumps, jumped = own.while_coerced(browser, server)
    found.busy_states.append(states)
    found.jumps += jumps
    found.faults += missed + jumped


def close(browser: Browser, server: lab.Server, found: verdict.Findings) -> None:
    """Measure what closed widgets leave behind."""
    found.left = lifetime.cycles(browser, server, "roofwidget", lifetime.OURS, found.cycles)
    found.left_by_bare = lifetime.cycles(browser, server, "bare", lifetime.BARE, found.cycles)
    found.alive = lifetime.alive()
    if found.alive:
        found.faults.append(f"{found.alive} of {lifetime.CLOSED:,} closed widgets are alive in Python")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", choices=verdict.COUNTS, default=verdict.COUNTS)
    parser.add_argument("--runs", type=int, default=verdict.RUNS, help="repetitions of all")
    parser.add_argument("--cycles", type=int, default=lifetime.CYCLES, help="widgets made and closed in a page")
    options = parser.parse_args()
    contestants.require()
    begun = time.monotonic()
    found = verdict.Findings(tuple(options.points), options.cycles, options.runs, load=os.getloadavg()[0])
    with sync_playwright() as playwright:
        for run in range(options.runs):
            with tempfile.TemporaryDirectory() as home, lab.jupyterlab(Path(home)) as server:
                browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
                found.browser = browser.version
                contend(browser, server, found, is_first=run == 0)
                examine(browser, server, found)
                if run == 0:
                    close(browser, server, found)
                browser.close()
    text = verdict.page(found)
    if (found.counts, found.cycles) == (verdict.COUNTS, lifetime.CYCLES):
        PAGE.write_text(text + LAST + PAGE.read_text(encoding="utf-8").partition(LAST)[2], encoding="utf-8")
    print(f"\n{text}\n{time.monotonic() - begun:.0f} s")
    if found.faults:
        sys.exit("broken: " + "; ".join(found.faults))


if __name__ == "__main__":
    main()
