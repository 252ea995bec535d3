"""Where the main thread's time goes in a drag, in a real JupyterLab, by traces of Chromium.

Prints for the first frame of a drag, the frames in the middle and the release: ms of processor time per move, split
into script, style, layout, paint and the rest; the number of layouts; the longest task; and the ten functions with most
self time. Tracing itself costs time, so compare only figures of this script: `--against CHECKOUT` measures the front
end of another checkout too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright

from benchmarks.common import frames
from benchmarks.common.contestants import BARE, OURS, Contestant
from benchmarks.common.job import GENTLE, SWEEP, Job
from tests.browser import chromium, lab


def built(checkout: Path, folder: Path) -> Contestant:
    """Build the front end of a checkout with names into a folder, and return the widget with that front end."""
    run = ["node", "build.mjs", "--readable", str(folder)]
    subprocess.run(run, cwd=checkout / "js", check=True, capture_output=True)  # noqa: S603
    # Before anything of roofwidget is used: the first widget reads the front end, and so does its module in a kernel.
    static = f"languages.STATIC = pathlib.Path({str(folder)!r})"
    use = f"import pathlib\nfrom roofwidget.support import languages\n{static}\n"
    return replace(OURS, prepare=use + OURS.prepare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000)
    parser.add_argument("--job", choices=(GENTLE, SWEEP), default=SWEEP)
    parser.add_argument("--action", choices=("slider", "roof", "keys"), default="slider")
    parser.add_argument("--moves", type=int, default=60, help="moves in a drag")
    parser.add_argument("--rounds", type=int, default=5, help="drags")
    parser.add_argument("--bare", action="store_true", help="measure the bare canvas too (no roof drag)")
    parser.add_argument("--against", type=Path, help="a second checkout, whose front end is measured too")
    options = parser.parse_args()
    job = Job(options.points, options.job)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        measured: list[tuple[str, Contestant, Path | None]] = []
        for name, checkout in (("this checkout", ROOT), (str(options.against), options.against)):
            if checkout is not None:
                folder = Path(home) / f"readable{len(measured)}"
                measured.append((name, built(checkout, folder), folder))
        if options.bare and options.action != "roof":
            measured.append((BARE.name, BARE, None))
        with lab.jupyterlab(Path(home)) as server:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
            for name, contestant, readable in measured:
                found = frames.measure(
                    browser,
                    server,
                    contestant,
                    job,
                    options.action,
                    moves=options.moves,
                    rounds=options.rounds,
                    readable=readable,
                )
                print(f"\n{name}: {options.points:,} points, {options.job}, {options.action}\n{found}", flush=True)
            browser.close()


if __name__ == "__main__":
    main()
