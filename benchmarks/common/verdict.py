"""The results of `peers.py` as tables, and which speed targets are met."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.common.contest import Round, middle, p95
from benchmarks.common.contestants import ALL, BARE, OURS
from benchmarks.common.lifetime import CLOSED, CYCLES, Left
from benchmarks.common.own import Own

COUNTS = (1_000, 10_000, 100_000)
PACKAGES = ("anywidget", "ipywidgets", "jupyterlab", "altair", "bqplot", "plotly")
HEADS = (
    *("cold, ms", "warm, ms", "step, ms", "÷ bare canvas", "p95, ms", "states/s", "tasks > 50 ms", "thread, ms/s"),
    *("÷ bare canvas", "messages/s", "bytes each"),
)
REDRAW_MS = {10_000: 16.0, 100_000: 50.0}
PAINT_MS = {1_000: 200.0, 100_000: 500.0}


@dataclass
class Findings:
    """All results: rounds by contestant and number of points, and measurements of this widget alone."""

    rounds: dict[tuple[str, int], list[Round]] = field(default_factory=dict)
    own: list[Own] = field(default_factory=list)
    busy_states: float = 0
    jumps: int = 0
    left: Left = field(default_factory=lambda: Left(0, 0, 0, 0))
    left_by_bare: Left = field(default_factory=lambda: Left(0, 0, 0, 0))
    alive: int = 0
    faults: list[str] = field(default_factory=list)
    browser: str = ""
    load: float = 0

    def of(self, name: str, count: int) -> list[Round]:
        return self.rounds.get((name, count), [])

    def figure(self, name: str, count: int, figure: str) -> float:
        """Return the median over rounds; for steps the median or the 95th percentile of all steps."""
        rounds = self.of(name, count)
        steps = [step for one in rounds for step in one.steps]
        if figure == "step":
            return statistics.median(steps)
        return p95(steps) if figure == "p95" else middle(rounds, figure)

    def ratio(self, name: str, count: int, figure: str) -> float:
        """Return a figure relative to the bare canvas: the median over rounds that have both."""
        pairs = zip(self.of(name, count), self.of(BARE.name, count), strict=False)
        return statistics.median(_figure(one, figure) / _figure(bare, figure) for one, bare in pairs)


def _figure(one: Round, figure: str) -> float:
    # Per frame, so that dropped frames do not reduce the figure.
    if figure == "busy":
        return one.busy / one.frames
    return statistics.median(one.steps) if figure == "step" else float(getattr(one, figure))


@dataclass(frozen=True)
class Target:
    """A speed target, and whether it is met."""

    words: str
    value: float
    limit: float
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.limit if self.is_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.is_least else "≤"
        return f"{'met   ' if self.is_met else 'MISSED'} {self.words}: {self.value:,.4g} ({sign} {self.limit:,.4g})"


def targets(found: Findings) -> Iterator[Target]:
    for count in COUNTS:
        at, ours = f"at {count:,} points", (OURS.name, count)
        yield Target(f"states/s of a slider drag {at}", found.figure(*ours, "states"), 55, is_least=True)
        yield Target(f"tasks > 50 ms of a slider drag {at}", found.figure(*ours, "long"), 0)
        yield Target(f"median step over the bare canvas {at}", found.ratio(*ours, "step"), 1.3)
        yield Target(f"step, 95th percentile, ms {at}", found.figure(*ours, "p95"), 34)
        yield Target(f"main thread over the bare canvas {at}", found.ratio(*ours, "busy"), 1.5)
        yield Target(f"messages in a second {at}", found.figure(*ours, "messages"), 10)
        # The answer to all pages is a message of about 700 bytes.
        yield Target(f"bytes of a message and its answer {at}", found.figure(*ours, "size"), 2600)
        if count in PAINT_MS:
            yield Target(f"cold first paint, ms {at}", found.figure(*ours, "cold"), PAINT_MS[count])
    for own in found.own:
        at = f"at {own.count:,} points"
        yield Target(f"states/s of a drag of the roof {at}", own.states, 55, is_least=True)
        yield Target(f"tasks > 50 ms of a drag of the roof {at}", own.long, 0)
        if own.count in REDRAW_MS:
            for name, time in own.redraws.items():
                yield Target(f"full redraw by {name}, ms {at}", time, REDRAW_MS[own.count])
    yield Target("states/s while the kernel is busy", found.busy_states, 55, is_least=True)
    yield Target("nodes left by a closed widget beyond a bare one", found.left.nodes - found.left_by_bare.nodes, 1)
    more = found.left.listeners - found.left_by_bare.listeners
    yield Target("listeners left by a closed widget beyond a bare one", more, 1)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with numbers aligned right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def contests(found: Findings, count: int) -> str:
    """Return the table of all contestants for a number of points."""
    rows = []
    for name in (one.name for one in ALL if found.of(one.name, count)):
        at, figure, ratio = (name, count), found.figure, found.ratio
        rows.append(
            [
                *(name, f"{figure(*at, 'cold'):,.0f}", f"{figure(*at, 'warm'):,.0f}"),
                *(f"{figure(*at, 'step'):,.1f}", f"{ratio(*at, 'step'):.2f}", f"{figure(*at, 'p95'):,.1f}"),
                *(f"{figure(*at, 'states'):.1f}", f"{figure(*at, 'long'):.0f}"),
                *(f"{figure(*at, 'busy'):,.0f}", f"{ratio(*at, 'busy'):.2f}"),
                *(f"{figure(*at, 'messages'):.0f}", f"{figure(*at, 'size'):,.0f}"),
            ]
        )
    return table(("widget", *HEADS), rows)


def alone(found: Findings) -> str:
    """Return the table of this widget alone."""
    gestures = list(dict.fromkeys(name for own in found.own for name in own.redraws))
    heads = (
        *("points", "roof drag, states/s", "tasks > 50 ms", "thread, ms/s"),
        *(f"{name}, ms" for name in gestures),
        "page's theme, ms",
    )
    rows = [
        [
            *(f"{own.count:,}", f"{own.states:.1f}", f"{own.long}", f"{own.busy:,.0f}"),
            *(f"{own.redraws[name]:.1f}" if name in own.redraws else "–" for name in gestures),
            f"{own.page:.1f}",
        ]
        for own in found.own
    ]
    return table(heads, rows)


def disturbed(found: Findings) -> str:
    return (
        f"While the kernel is busy for 10 s a drag shows {found.busy_states:.1f} states/s. While Python rounds every "
        f"value that it receives, the thumb jumps {found.jumps} times during the drag."
    )


def left_behind(found: Findings) -> str:
    ours, bare = found.left, found.left_by_bare
    return (
        f"A widget that is made, shown and closed leaves {(ours.heap - bare.heap) / 1000:,.1f} kB of heap beyond a "
        f"bare anywidget ({ours.heap / 1000:,.1f} and {bare.heap / 1000:,.1f} kB, JupyterLab's own included; {CYCLES} "
        f"cycles, {ours.drawn} and {bare.drawn} of them drawn), {ours.nodes:.1f} nodes ({bare.nodes:.1f}) and "
        f"{ours.listeners:.1f} listeners ({bare.listeners:.1f}). Of {CLOSED:,} closed widgets Python holds "
        f"{found.alive}."
    )


def machine(found: Findings) -> str:
    """Return the processor, its cores and load, and the versions."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    others = f"; {found.load:.1f} other processes were at work at the start" if found.load > 0.5 else ""
    return (
        f"{os.cpu_count()} cores ({models[0] if models else platform.machine()}{others}), no graphics processor, "
        f"headless Chromium {found.browser}, Python {platform.python_version()}, {versions}"
    )


METHOD = """\
The job: a slider moves a roof by 0.02 decades of peak FLOP/s per step, past three more roofs and points; one point in
250 changes its side per step. Each figure comes from a fresh page and kernel of one JupyterLab. Rounds are interleaved,
and ratios compare pages of the same round. *bare canvas* is `benchmarks/common/canvas.js`, an anywidget of a hundred
lines that only does this job and sends nothing to Python: a practical lower limit.

- *cold*, *warm*: from running the cell to the frame with the complete chart, for the first and the second time in a
  page.
- *step*: from an event at a random phase of a frame to the first task after the frame that shows the new roof and the
  new side of a point that it passes. One frame is 16.7 ms. *p95*: the 95th percentile.
- *states/s*: a drag with one position per frame; a state counts if both roof and points are new. *thread*: processor
  time of the page's main thread per second, including JupyterLab and the measurement; its ratio is per frame.
- *messages/s*, *bytes each*: messages to the kernel in the busiest second, and bytes in both directions per message.
"""

ALONE = """\
Dragging its roof on the chart, and full redraws: the median work of the gesture's own task and of the next frame's.
Theme and filter change once, followed by a pause; zoom and pan continue frame by frame. *page's theme*: the time that
the page takes to change its theme without the widget; it is a part of the widget's *theme*.
"""


def page(found: Findings) -> str:
    """Return the text of `docs/benchmarks.md`."""
    met = list(targets(found))
    parts = [
        "# Benchmarks",
        "Written by `python benchmarks/peers.py`; not by hand.",
        f"{datetime.now(timezone.utc):%Y-%m-%d}: {machine(found)}.",
        METHOD.rstrip(),
        *(f"## {count:,} points\n\n{contests(found, count)}" for count in COUNTS),
        "## This widget alone",
        ALONE.rstrip(),
        alone(found),
        disturbed(found),
        left_behind(found),
        f"## Targets\n\n{sum(one.is_met for one in met)} of {len(met)} are met.\n",
        "```\n" + "\n".join(map(str, met)) + "\n```",
    ]
    broken = [f"- {fault}" for fault in found.faults]
    return "\n\n".join([*parts, *(["## Broken\n\n" + "\n".join(broken)] if broken else [])]) + "\n"
