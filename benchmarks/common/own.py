"""What `peers.py` asks of this widget alone: grabbing, full redraws, what is drawn, a busy kernel, one that coerces."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from benchmarks.common import job
from benchmarks.common.contest import DRAG_S, SLIDER, Thread, opened
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
# How often each is done, and how long it rests in between, ms: a hand zooms and pans without a rest.
GESTURES = {"theme": (6, 300), "filter": (6, 300), "zoom": (30, 0), "pan": (30, 0)}
SETTLE_S = 0.7


@dataclass
class Own:
    """What was found, with so many points.

    Attributes
    ----------
    states, long, busy
        Of a drag of the flat itself, as of `Round`.
    redraws : dict of str to float
        ms of work of a full redraw by gesture, the median; a gesture that redraws nothing is left out.
    page : float
        ms that the page itself takes to change its theme, without the widget.
    faults : list of str
        What is broken, in sentences.
    """

    count: int
    states: float = 0
    long: int = 0
    busy: float = 0
    redraws: dict[str, float] = field(default_factory=dict)
    page: float = 0
    faults: list[str] = field(default_factory=list)


def started(browser: Browser, server: lab.Server, count: int, *more: str) -> lab.Notebook:
    """Return a notebook that shows the widget, and whose page can be asked."""
    book = opened(browser, server, OURS, count, *more)
    book.page.evaluate((HERE / "own.js").read_text(), SLIDER)
    # The mouse is there, as a pointer that may be captured.
    book.page.mouse.move(5, 5)
    book.page.evaluate("count => probe.create(1, count)", count)
    time.sleep(1)
    return book


def examine(browser: Browser, server: lab.Server, count: int) -> Own:
    """Return what the flat's drag, full redraws and the check of what is drawn come to."""
    found = Own(count)
    book = started(browser, server, count, AGAIN)
    ask = book.page.evaluate
    ask("place => probe.put(place)", job.LOW)
    thread = Thread(book)
    before = thread.busy()
    drag: dict[str, Any] = ask("seconds => probe.drag(seconds, 'flat')", DRAG_S)
    found.busy = (thread.busy() - before) * 1000 / drag["seconds"]
    found.states, found.long = drag["states"], drag["long"]
    # One view is there, of which a person sees the redraw.
    for name, (turns, rest) in GESTURES.items():
        times: list[float] = ask("([name, turns, rest]) => own.redraws(name, turns, rest)", [name, turns, rest])
        if len(times) > turns // 2:
            found.redraws[name] = statistics.median(times)
    found.faults += misdrawn(book, count)
    found.page = statistics.median(ask("([turns, rest]) => own.pageAlone(turns, rest)", GESTURES["theme"]))
    book.close()
    return found


def misdrawn(book: lab.Notebook, count: int) -> list[str]:
    """Return where what was drawn step by step is not what a fresh view of the same state draws."""
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
            faults.append(f"{count:,} points, {part or 'slider'} from {start:.2f} to {end:.2f}: drawn otherwise: {how}")
    return faults


def while_busy(browser: Browser, server: lab.Server) -> tuple[float, list[str]]:
    """Return the states a second while the kernel is busy for 10 s, and what Python missed of the last value."""
    book = started(browser, server, 1_000, COUNTED, SLEEP)
    book.run(2)
    book.start(3)
    time.sleep(0.3)
    states = float(book.page.evaluate("seconds => probe.drag(seconds)", DRAG_S)["states"])
    box = book.page.locator(".roofwidget-rate[data-quantity='peak_flops'] input[type='text']")
    shown = box.input_value()
    book.wait(3)
    time.sleep(1)
    seen: list[float] = book.python("seen")
    told = book.python("w.peak_flops")
    held = book.python("rw.units.format_quantity(w.peak_flops, 'FLOP/s', 4)")
    faults = []
    if held != shown:
        faults.append(f"after a busy kernel the page shows {shown}, Python holds {held}")
    if seen.count(told) != 1:
        faults.append(f"after a busy kernel Python heard of the last value {seen.count(told)} times")
    book.close()
    return states, faults


def while_coerced(browser: Browser, server: lab.Server) -> tuple[int, list[str]]:
    """Return how often the thumb jumped while Python rounded each value, and what is wrong about it."""
    book = started(browser, server, 1_000, COERCED)
    book.run(2)
    jumps = int(book.page.evaluate("seconds => own.jumps(seconds)", DRAG_S))
    told, shown = (book.python("w.peak_flops"), float(book.page.evaluate("10 ** hook.value()")))
    faults = [f"a kernel that rounds moved the thumb {jumps} times under the hand"] if jumps else []
    if told != float(f"{told:.1e}"):
        faults.append(f"Python held {told} in spite of its own rounding")
    if abs(shown / told - 1) > 2e-3:
        faults.append(f"let go, the thumb is at {shown:.4g}, Python holds {told:.4g}")
    book.close()
    return jumps, faults
