"""Measure this widget alone: roof drags, full redraws, drawing errors, a busy Jupyter kernel, Python that rounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from benchmarks.common import job
from benchmarks.common.contest import DRAG_S, Thread, opened
from benchmarks.common.contestants import OURS
from tests.browser import lab

HERE = Path(__file__).parent
AGAIN = "from IPython.display import display\ndisplay(w)"
COUNTED = "seen = []\nw.observe(lambda change: seen.append(w.peak_flops), 'what_if')"
SLEEP = "import time; time.sleep(10)"
COERCED = """def coerce(change):
    rounded = float(f"{w.peak_flops:.1e}")
    if rounded != w.peak_flops:
        w.peak_flops = rounded
w.observe(coerce, "what_if")"""
# Repetitions of each gesture and the pause between them, ms; users zoom and pan without a pause.
GESTURES = {"theme": (6, 300), "filter": (6, 300), "select": (6, 300), "zoom": (30, 0), "pan": (30, 0)}
DRAGS = {"roof": "flat", "kernel": "kernel"}
SETTLE_S = 0.7


@dataclass
class Drag:
    """The results of dragging something on the chart, as in `Round`."""

    states: float
    gap: float
    long: int
    busy: float


@dataclass
class Own:
    """The results for a job.

    Attributes
    ----------
    drags : dict of str to Drag
        What was dragged: "roof", its flat part, or "kernel".
    redraws : dict of str to tuple of float
        Median and largest ms of work of a full redraw, by gesture; gestures without a redraw are left out.
    page : float
        ms of a theme change of the page without the widget.
    faults : list of str
        Descriptions of what is broken.
    """

    job: job.Job
    drags: dict[str, Drag] = field(default_factory=dict)
    redraws: dict[str, tuple[float, float]] = field(default_factory=dict)
    page: float = 0
    faults: list[str] = field(default_factory=list)


def medians(runs: Sequence[Own]) -> Own:
    """Return the medians over the runs of a job; of redraws the largest of all is kept, and all faults."""
    drags = {
        name: Drag(
            statistics.median(one.drags[name].states for one in runs),
            statistics.median(one.drags[name].gap for one in runs),
            round(statistics.median(one.drags[name].long for one in runs)),
            statistics.median(one.drags[name].busy for one in runs),
        )
        for name in runs[0].drags
    }
    redraws = {}
    for name in runs[0].redraws:
        times = [one.redraws[name] for one in runs if name in one.redraws]
        redraws[name] = (statistics.median(middle for middle, _ in times), max(largest for _, largest in times))
    page = statistics.median(one.page for one in runs)
    return Own(runs[0].job, drags, redraws, page, [fault for one in runs for fault in one.faults])


def started(browser: Browser, server: lab.Server, work: job.Job, *more: str) -> lab.Notebook:
    """Return a notebook that shows the widget, with the measuring scripts in its page."""
    book = opened(browser, server, OURS, work, *more)
    book.page.evaluate((HERE / "own.js").read_text(encoding="utf-8"), work.way)
    # The mouse must be in the page for pointer capture to work.
    book.page.mouse.move(5, 5)
    book.page.evaluate("count => probe.create(1, count)", work.count)
    time.sleep(1)
    return book


def examine(browser: Browser, server: lab.Server, work: job.Job) -> Own:
    """Measure drags of the flat roof and of a kernel, and full redraws, and check what is drawn."""
    found = Own(work)
    book = started(browser, server, work, AGAIN)
    ask = book.page.evaluate
    thread = Thread(book)
    for name, part in DRAGS.items():
        ask("place => probe.put(place)", work.way["start"])
        before = thread.busy()
        drag: dict[str, Any] = ask("([seconds, part]) => probe.drag(seconds, part)", [DRAG_S, part])
        busy = (thread.busy() - before) * 1000 / drag["seconds"]
        found.drags[name] = Drag(drag["states"], drag["gap"], drag["long"], busy)
    # Redraws are measured before there is a second view, because a user has one view.
    for name, (turns, rest) in GESTURES.items():
        times: list[float] = ask("([name, turns, rest]) => own.redraws(name, turns, rest)", [name, turns, rest])
        if len(times) > turns // 2:
            found.redraws[name] = (statistics.median(times), max(times))
    found.faults += misdrawn(book, work)
    found.page = statistics.median(ask("([turns, rest]) => own.pageAlone(turns, rest)", GESTURES["theme"]))
    book.close()
    return found


def misdrawn(book: lab.Notebook, work: job.Job) -> list[str]:
    """Return differences between incremental drawing and a fresh view of the same state."""
    ask, faults = book.page.evaluate, []
    middle = (job.LOW + job.HIGH) / 2
    for start, end, part in (
        (job.LOW, job.HIGH, None),
        (job.HIGH, middle, None),
        (middle, middle + job.STEP, None),
        (job.LOW, job.LOW + 10 * job.STEP, "flat"),
        (job.LOW, job.LOW - 20 * job.STEP, "flat"),
    ):
        ask("([from, to, part]) => own.walk(from, to, part)", [start, end, part])
        book.run(2)
        book.page.wait_for_function("own.views() === 2")
        time.sleep(SETTLE_S)
        differs = ask("() => own.compare()")
        if differs["pixels"] or differs["roofs"]:
            how = f"{differs['pixels']} pixels of points" + (", the roofs" if differs["roofs"] else "")
            way = f"{part or 'slider'} from {start:.2f} to {end:.2f}"
            faults.append(f"{work.count:,} points, {work.name}, {way}: a fresh view differs: {how}")
    return faults


def while_busy(browser: Browser, server: lab.Server) -> tuple[float, list[str]]:
    """Return the states per second while the Jupyter kernel is busy for 10 s, and faults of Python's last value."""
    book = started(browser, server, job.Job(1_000), COUNTED, SLEEP)
    book.run(2)
    book.start(3)
    time.sleep(0.3)
    states = float(book.page.evaluate("seconds => probe.drag(seconds)", DRAG_S)["states"])
    box = book.page.locator(".rw-rate[data-quantity='peak_flops'] input[type='text']")
    shown = box.input_value()
    book.wait(3)
    time.sleep(1)
    seen: list[float] = book.python("seen")
    value = book.python("w.peak_flops")
    held = book.python("rw.units.format_quantity(w.peak_flops, 'FLOP/s', 4)")
    faults = []
    if held != shown:
        faults.append(f"after a busy kernel the page shows {shown}, Python has {held}")
    # A drag comes by the same place several times, but not twice in a row.
    if seen[-1:] != [value] or any(one == other for one, other in pairwise(seen)):
        faults.append(f"after a busy kernel with {value} Python received {seen}")
    book.close()
    return states, faults


def while_coerced(browser: Browser, server: lab.Server) -> tuple[int, list[str]]:
    """Return how often the thumb jumped while Python rounded each value, and the faults."""
    book = started(browser, server, job.Job(1_000), COERCED)
    book.run(2)
    jumps = int(book.page.evaluate("seconds => own.jumps(seconds)", DRAG_S))
    value, shown = (book.python("w.peak_flops"), float(book.page.evaluate("10 ** hook.value()")))
    faults = [f"a kernel that rounds moved the thumb {jumps} times during the drag"] if jumps else []
    if value != float(f"{value:.1e}"):
        faults.append(f"Python has {value} in spite of its own rounding")
    if abs(shown / value - 1) > 2e-3:
        faults.append(f"after the drag the thumb is at {shown:.4g}, Python has {value:.4g}")
    book.close()
    return jumps, faults
