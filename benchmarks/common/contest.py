"""Measure one contestant in one fresh page: first paint, steps, a drag, and traffic with the Jupyter kernel."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from benchmarks.common.contestants import Contestant
from benchmarks.common.job import DOMAIN, REGION, Job
from benchmarks.common.sampling import Traffic
from tests.browser import lab

HERE = Path(__file__).parent
STEPS, LIMIT_S, DRAG_S, TRAFFIC_S = 24, 3, 2.0, 1.2
SETTLE_S = 0.4
WIDTH, HEIGHT = 1200, 1000


@dataclass(frozen=True)
class Round:
    """The results of one page.

    Attributes
    ----------
    cold, warm : float
        ms from running the cell to the frame with the complete chart: the first time, and a second time.
    received : int
        Bytes from the Jupyter kernel from running the cell to the complete chart, the first time.
    steps, keys : list of float
        ms from an event to the task after the frame with the new roof and points: in a drag, and by an arrow key.
    states, frames : float
        Distinct chart states and frames per second of a drag.
    gap : float
        The longest ms in the drag without a new state: from the press to the first, between two, or, after the release,
        without a frame.
    long : int
        Tasks of more than 50 ms in the drag.
    busy : float
        ms of the main thread's tasks per second of the drag.
    messages, size : float
        Messages to the Jupyter kernel in the busiest second of another drag, and bytes in both directions per message.
    """

    cold: float
    warm: float
    received: int
    steps: list[float]
    keys: list[float]
    states: float
    frames: float
    gap: float
    long: int
    busy: float
    messages: int
    size: float

    def __str__(self) -> str:
        return (
            f"{self.cold:6.0f} ms cold {self.warm:6.0f} warm, step {statistics.median(self.steps):7.1f} ms, "
            f"key {statistics.median(self.keys or [0]):7.1f} ms, {self.states:4.1f} of {self.frames:4.1f} states/s, "
            f"gap {self.gap:5.1f} ms, {self.long} long, {self.busy:4.0f} ms/s"
        )


class Thread:
    """Processor time of a page's main thread, independent of other load on the machine."""

    def __init__(self, book: lab.Notebook) -> None:
        self._client = book.page.context.new_cdp_session(book.page)
        self._client.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy(self) -> float:
        """Return the total seconds of the thread's tasks so far."""
        metrics = self._client.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def opened(browser: Browser, server: lab.Server, contestant: Contestant, job: Job, *more: str) -> lab.Notebook:
    """Return a fresh notebook with prepared data and the measuring scripts in its page."""
    name = f"{contestant.name.replace(' ', '-')}-{job.count}-{time.monotonic_ns()}.ipynb"
    book = lab.Notebook(browser, server, name, [*contestant.cells(job), *more], width=WIDTH, height=HEIGHT)
    # Under more contrast roofwidget's points have shapes that say what bounds them; at rest only the roof would move.
    book.page.emulate_media(contrast="more")
    book.run(0)
    book.page.evaluate(
        (HERE / "hooks.js").read_text(encoding="utf-8"), [contestant.name, REGION, DOMAIN, job.way, job.tracer]
    )
    book.page.evaluate((HERE / "probe.js").read_text(encoding="utf-8"), job.way)
    return book


def measure(browser: Browser, server: lab.Server, contestant: Contestant, job: Job) -> Round:
    """Return the results of one round of a contestant."""
    book = opened(browser, server, contestant, job)
    ask = book.page.evaluate
    time.sleep(SETTLE_S)
    cold, warm = (ask("([cell, count]) => probe.create(cell, count)", [1, job.count]) for _ in range(2))
    time.sleep(SETTLE_S)
    steps: list[float] = ask("([count, limit]) => probe.steps(count, limit)", [STEPS, LIMIT_S])
    time.sleep(SETTLE_S)
    keys: list[float] = ask("([count, limit]) => probe.keys(count, limit)", [STEPS, LIMIT_S])
    time.sleep(SETTLE_S)
    thread = Thread(book)
    before = thread.busy()
    drag: dict[str, Any] = ask("(seconds) => probe.drag(seconds)", DRAG_S)
    busy = (thread.busy() - before) * 1000 / drag["seconds"]
    traffic = Traffic(book)
    ask("(seconds) => probe.drag(seconds)", TRAFFIC_S)
    time.sleep(0.5)
    messages, size = traffic.most_in_a_second(), traffic.size / traffic.sent if traffic.sent else 0
    book.close()
    return Round(
        cold["ms"],
        warm["ms"],
        cold["bytes"],
        steps,
        keys,
        drag["states"],
        drag["frames"],
        drag["gap"],
        drag["long"],
        busy,
        messages,
        size,
    )


def p95(times: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]


def middle(rounds: list[Round], name: str) -> float:
    """Return the median of a figure over rounds."""
    return statistics.median(float(getattr(one, name)) for one in rounds)
