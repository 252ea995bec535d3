"""Compare the widget with bqplot, plotly, altair and a bare canvas, and write `docs/benchmarks.md`.

All contestants do the same job in one JupyterLab; docs/benchmarks.md describes what is measured and how. Peers that
take a second per step are measured once, with fewer points. Then the widget alone is measured: dragging its roof on the
chart, full redraws, incremental drawing compared with a fresh view, a Jupyter kernel that is busy or rounds values, and
what closed widgets leave in memory. Exits with an error if something is broken; a missed target is only reported.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright

from benchmarks.common import contestants, job, lifetime, own, verdict
from benchmarks.common.contest import measure
from tests.browser import chromium, lab

PAGE = ROOT / "docs" / "benchmarks.md"


def contend(browser: Browser, server: lab.Server, found: verdict.Findings) -> None:
    """Measure all contestants, round by round."""
    for turn in range(max(one.rounds for one in contestants.ALL)):
        for count in verdict.COUNTS:
            for one in contestants.ALL:
                if turn >= one.rounds or count not in one.counts:
                    continue
                seen = measure(browser, server, one, job.Job(count))
                found.rounds.setdefault((one.name, count), []).append(seen)
                print(f"round {turn + 1}, {count:7,} points, {one.name:12} {seen}", flush=True)


def examine(browser: Browser, server: lab.Server, found: verdict.Findings) -> None:
    """Measure this widget alone."""
    for count in verdict.COUNTS:
        found.own.append(own.examine(browser, server, count))
        found.faults += found.own[-1].faults
    found.busy_states, missed = own.while_busy(browser, server)
    found.jumps, jumped = own.while_coerced(browser, server)
    found.faults += missed + jumped
    found.left = lifetime.cycles(browser, server, "roofwidget", lifetime.OURS)
    found.left_by_bare = lifetime.cycles(browser, server, "bare", lifetime.BARE)
    found.alive = lifetime.alive()
    if found.alive:
        found.faults.append(f"{found.alive} of {lifetime.CLOSED:,} closed widgets are alive in Python")


def main() -> None:
    contestants.require()
    begun = time.monotonic()
    found = verdict.Findings(load=os.getloadavg()[0])
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        found.browser = browser.version
        contend(browser, server, found)
        examine(browser, server, found)
        browser.close()
    text = verdict.page(found)
    PAGE.write_text(text, encoding="utf-8")
    print(f"\n{text}\n{time.monotonic() - begun:.0f} s")
    if found.faults:
        sys.exit("broken: " + "; ".join(found.faults))


if __name__ == "__main__":
    main()
