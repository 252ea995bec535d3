"""The results of `peers.py` as tables, and which speed targets are met."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.common.contest import Round, middle, p95
from benchmarks.common.contestants import ALL, BARE, OURS
from benchmarks.common.frames import KINDS, Frames, together
from benchmarks.common.job import GENTLE, NAMES, SWEEP
from benchmarks.common.lifetime import CLOSED, CYCLES, Left
from benchmarks.common.own import Own, medians
from roofwidget import bundle
from roofwidget.support.text_tables import counted

COUNTS = (1_000, 10_000, 100_000)
RUNS = 3
PACKAGES = ("anywidget", "ipywidgets", "jupyterlab", "altair", "bqplot", "plotly")
PAINT_HEADS = ("cold, ms", "÷ bare canvas", "warm, ms", "received, kB", "messages/s", "bytes each")
MOVE_HEADS = (
    *("step, ms", "÷ bare canvas", "p95, ms", "key, ms", "÷ bare canvas", "states/s", "÷ bare canvas"),
    *("longest gap, ms", "÷ bare canvas", "tasks > 50 ms", "thread, ms/s", "÷ bare canvas"),
)
WANDERING = (("cold", "cold"), ("steps", "step"), ("states", "states/s"), ("gap", "longest gap"), ("busy", "thread"))
# Limits of ratios to the bare canvas.
STEP, GAP, BUSY, PAINT = 1.3, 1.2, 1.5, 1.5
# With points that pass the roof, at the largest number of points.
STEP_SWEEP = 2.0
STATES = {1_000: 0.95, 10_000: 0.95, 100_000: 0.85}
PAINTED = (1_000, 100_000)
REDRAW_MS = {
    10_000: dict.fromkeys(("theme", "filter", "zoom", "pan"), 16.0),
    100_000: dict.fromkeys(("theme", "filter", "zoom", "pan"), 50.0),
}
RECEIVED_KB = 250.0
FRAMED = (1_000, 10_000)


@dataclass
class Findings:
    """All results: rounds by contestant, job and number of points, and this widget alone by run."""

    counts: tuple[int, ...] = COUNTS
    cycles: int = CYCLES
    runs: int = RUNS
    rounds: dict[tuple[str, str, int], list[Round]] = field(default_factory=dict)
    own: dict[tuple[str, int], list[Own]] = field(default_factory=dict)
    frames: dict[tuple[str, int], list[Frames]] = field(default_factory=dict)
    busy_states: list[float] = field(default_factory=list)
    jumps: int = 0
    left: Left = field(default_factory=Left)
    left_by_bare: Left = field(default_factory=Left)
    alive: int = 0
    faults: list[str] = field(default_factory=list)
    browser: str = ""
    load: float = 0

    @property
    def alone(self) -> list[Own]:
        """Medians over the runs of what this widget does alone, by job."""
        return [medians(seen) for seen in self.own.values()]

    @property
    def busy(self) -> float:
        """The states per second of a drag while the Jupyter kernel is busy: the median over the runs."""
        return statistics.median(self.busy_states)

    def of(self, name: str, job: str, count: int) -> list[Round]:
        return self.rounds.get((name, job, count), [])

    def figure(self, name: str, job: str, count: int, figure: str) -> float:
        """Return the median over rounds; for steps and keys the median of all, for p95 a percentile of all steps."""
        rounds = self.of(name, job, count)
        if figure in {"steps", "keys"}:
            return float(statistics.median(time for one in rounds for time in getattr(one, figure)))
        return p95([step for one in rounds for step in one.steps]) if figure == "p95" else middle(rounds, figure)

    def ratio(self, name: str, job: str, count: int, figure: str) -> float:
        """Return a figure relative to the bare canvas: the median over rounds that have both."""
        pairs = zip(self.of(name, job, count), self.of(BARE.name, job, count), strict=False)
        return statistics.median(_figure(one, figure) / _figure(bare, figure) for one, bare in pairs)


def _figure(one: Round, figure: str) -> float:
    # Per frame, so that dropped frames do not reduce the figure.
    if figure == "busy":
        return one.busy / one.frames
    value: Any = getattr(one, figure)
    return float(statistics.median(value) if figure in {"steps", "keys"} else value)


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
    for job, count in product(NAMES, found.counts):
        at, ours = f"at {count:,} points, {job}", (OURS.name, job, count)
        step = STEP_SWEEP if (job, count) == (SWEEP, COUNTS[-1]) else STEP
        yield Target(f"median step over the bare canvas {at}", found.ratio(*ours, "steps"), step)
        yield Target(f"median step by key over the bare canvas {at}", found.ratio(*ours, "keys"), step)
        states = found.ratio(*ours, "states")
        yield Target(f"states/s of a slider drag over the bare canvas {at}", states, STATES[count], is_least=True)
        yield Target(f"longest gap of a slider drag over the bare canvas {at}", found.ratio(*ours, "gap"), GAP)
        yield Target(f"main thread over the bare canvas {at}", found.ratio(*ours, "busy"), BUSY)
        yield Target(f"tasks > 50 ms of a slider drag {at}", found.figure(*ours, "long"), 0)
        yield Target(f"step, 95th percentile, ms {at}", found.figure(*ours, "p95"), 34)
        yield Target(f"messages in a second {at}", found.figure(*ours, "messages"), 10)
        # The answer to all pages is a message of about 700 bytes.
        yield Target(f"bytes of a message and its answer {at}", found.figure(*ours, "size"), 2600)
        if count in PAINTED:
            yield Target(f"cold first paint over the bare canvas {at}", found.ratio(*ours, "cold"), PAINT)
    smallest = (OURS.name, GENTLE, COUNTS[0])
    if found.of(*smallest):
        received = (found.figure(*smallest, "received") + code_bytes()) / 1000
        words = f"kB that the first widget and the import of its class bring to the page at {COUNTS[0]:,} points"
        yield Target(words, received, RECEIVED_KB)
    for own in found.alone:
        at = f"at {own.job.count:,} points, {own.job.name}"
        yield Target(f"states/s of a drag of the roof {at}", own.drags["roof"].states, 55, is_least=True)
        yield Target(f"tasks > 50 ms of a drag of the roof {at}", own.drags["roof"].long, 0)
        for name, limit in REDRAW_MS.get(own.job.count, {}).items():
            if name in own.redraws:
                yield Target(f"full redraw by {name}, ms {at}", own.redraws[name][0], limit)
    yield Target("states/s while the kernel is busy", found.busy, 55, is_least=True)
    more = {name: getattr(found.left, name) - getattr(found.left_by_bare, name) for name in ("nodes", "listeners")}
    for name, count_left in more.items():
        yield Target(f"{name} left by a closed widget beyond a bare one", count_left, 1)
    heap = (found.left.heap - found.left_by_bare.heap) / 1000
    words = "kB of heap left by a closed widget beyond a bare one, in the noise of the bare one"
    yield Target(words, heap, found.left_by_bare.noise / 1000)


def code_bytes() -> int:
    """Return the bytes of the shared code. It is sent when the class is imported, before anything is measured."""
    made = bundle.front_end()
    return 0 if made is None else len(json.dumps(made.get_state()))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with numbers aligned right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def contestants(found: Findings, job: str, count: int) -> list[str]:
    """Return the names of those who did a job."""
    return [one.name for one in ALL if found.of(one.name, job, count)]


def painted(found: Findings, count: int) -> str:
    """Return the table of first paint and traffic in the gentle job."""
    rows = []
    for name in contestants(found, GENTLE, count):
        at, figure = (name, GENTLE, count), found.figure
        rows.append(
            [
                *(
                    name,
                    f"{figure(*at, 'cold'):,.0f}",
                    f"{found.ratio(*at, 'cold'):.2f}",
                    f"{figure(*at, 'warm'):,.0f}",
                ),
                f"{figure(*at, 'received') / 1000:,.0f}",
                *(f"{figure(*at, 'messages'):.0f}", f"{figure(*at, 'size'):,.0f}"),
            ]
        )
    return table(("widget", *PAINT_HEADS), rows)


def moved(found: Findings, job: str, count: int) -> str:
    """Return the table of steps and drags in a job."""
    rows = []
    for name in contestants(found, job, count):
        at, figure, ratio = (name, job, count), found.figure, found.ratio
        has_keys = all(one.keys for one in found.of(*at))
        rows.append(
            [
                *(name, f"{figure(*at, 'steps'):,.1f}", f"{ratio(*at, 'steps'):.2f}", f"{figure(*at, 'p95'):,.1f}"),
                *((f"{figure(*at, 'keys'):,.1f}", f"{ratio(*at, 'keys'):.2f}") if has_keys else ("–", "–")),
                *(f"{figure(*at, 'states'):.1f}", f"{ratio(*at, 'states'):.2f}"),
                *(f"{figure(*at, 'gap'):,.0f}", f"{ratio(*at, 'gap'):.2f}"),
                f"{figure(*at, 'long'):.0f}",
                *(f"{figure(*at, 'busy'):,.0f}", f"{ratio(*at, 'busy'):.2f}"),
            ]
        )
    return table(("widget", *MOVE_HEADS), rows)


def contests(found: Findings, count: int) -> str:
    """Return the tables of all contestants for a number of points."""
    parts = [
        "First paint and traffic:",
        painted(found, count),
        "Gentle job:",
        moved(found, GENTLE, count),
        "Sweeping job:",
        moved(found, SWEEP, count),
    ]
    return "\n\n".join(parts)


def alone(found: Findings) -> str:
    """Return the tables of this widget alone: drags, then full redraws."""
    drags = [
        [
            *(f"{own.job.count:,}", own.job.name, name, f"{drag.states:.1f}", f"{drag.gap:.0f}", f"{drag.long}"),
            f"{drag.busy:,.0f}",
        ]
        for own in found.alone
        for name, drag in own.drags.items()
    ]
    gestures = list(dict.fromkeys(name for own in found.alone for name in own.redraws))
    redraws = [
        [
            *(f"{own.job.count:,}", own.job.name),
            *("{:.1f} ({:.1f})".format(*own.redraws[name]) if name in own.redraws else "–" for name in gestures),
            f"{own.page:.1f}",
        ]
        for own in found.alone
    ]
    drag_heads = ("points", "job", "dragged", "states/s", "longest gap, ms", "tasks > 50 ms", "thread, ms/s")
    heads = ("points", "job", *(f"{name}, ms" for name in gestures), "page's theme, ms")
    return f"{table(drag_heads, drags)}\n\n{table(heads, redraws)}"


def frame_parts(found: Findings) -> str:
    """Return the table of where a frame goes."""
    kinds = ("whole", *KINDS)
    heads = ("", *(f"{kind}, ms" for kind in kinds), "layouts", "longest task, ms")
    rows = []
    for (name, count), seen in found.frames.items():
        for words, part in together(seen).parts.items():
            works = [part.whole, *map(part.per_move, KINDS)]
            ends = (part.layouts / part.moves, statistics.median(part.longest))
            row = [f"{name}, {count:,} points, {words}", *(f"{time:.2f}" for time in works)]
            rows.append([*row, f"{ends[0]:.1f}", f"{ends[1]:.1f}"])
    return table(heads, rows)


def wandering(found: Findings) -> str:
    """Return a sentence on how far apart the rounds of the same job are."""

    def apart(name: str, figure: str) -> float:
        seen = [rounds for (one, _, _), rounds in found.rounds.items() if one == name and len(rounds) > 1]
        values = [[_figure(one, figure) for one in rounds] for rounds in seen]
        return max((max(row) / min(row) - 1 for row in values), default=0.0)

    parts = [f"{words} {apart(OURS.name, figure):.0%} ({apart(BARE.name, figure):.0%})" for figure, words in WANDERING]
    return (
        f"How much the figures wander: between the slowest and the fastest round of the same job {OURS.name}, and in "
        f"brackets the bare canvas, differed by at most: {', '.join(parts)}."
    )


def disturbed(found: Findings) -> str:
    return (
        f"While the kernel is busy for 10 s a drag shows {found.busy:.1f} states/s. While Python rounds every "
        f"value that it receives, the thumb jumps {found.jumps} times during the drag."
    )


def left_behind(found: Findings) -> str:
    ours, bare = found.left, found.left_by_bare
    return (
        f"A widget that is made, shown and closed leaves {(ours.heap - bare.heap) / 1000:,.1f} kB of heap beyond a "
        f"bare anywidget ({ours.heap / 1000:,.1f} and {bare.heap / 1000:,.1f} kB, JupyterLab's own included; the "
        f"bare one's batches differ by {bare.noise / 1000:,.1f} kB; {found.cycles} cycles, {ours.drawn} and "
        f"{bare.drawn} of them drawn), {ours.nodes:.1f} nodes ({bare.nodes:.1f}) and {ours.listeners:.1f} listeners "
        f"({bare.listeners:.1f}). Of {CLOSED:,} closed widgets Python holds {found.alive}."
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
A slider moves a roof by 0.02 decades of peak FLOP/s per step, past three more roofs and points. There are two jobs. In
the *gentle* job every point stays below the moving roof; one point in 250 changes its side of the ridge point per step.
In the *sweeping* job the roof also moves down through a tenth of the points and up again: in each step one point in 500
comes to be above its roof or is no longer, and shows this by a sign.

Each figure comes from a fresh page and kernel, and is the median over runs with a fresh JupyterLab each. Rounds are
interleaved, and ratios compare pages of the same round. *bare canvas* is `benchmarks/common/canvas.js`, a small
anywidget that only does these jobs and sends nothing to Python: a practical lower limit. The other widgets do the
gentle job only. All pages ask for more contrast: then the points of roofwidget have shapes that say what bounds them,
so that they change as those of the others do.

- *cold*, *warm*: from running the cell to the frame with the complete chart, for the first and the second time in a
  page. *received*: what the kernel sends to the page until then, the first time, without what it sent when the widget's
  class was imported.
- *step*: from an event at a random phase of a frame to the first task after the frame that shows the new roof and the
  new side of a point that it passes. One frame is 16.7 ms. *p95*: the 95th percentile. *key*: the same from an arrow
  key, which moves the roof by 0.01 decades.
- *states/s*: a drag with one position per frame; a state counts if both roof and points are new. *longest gap*: the
  longest time in the drag without a new state: from the press to the first, between two, or after the release without
  a frame. *thread*: processor time of the page's main thread per second, including JupyterLab and the measurement; its
  ratio is per frame.
- *messages/s*, *bytes each*: messages to the kernel in the busiest second, and bytes in both directions per message.
"""

ALONE = """\
Dragging its roof or a kernel on the chart, and full redraws: the median (and the largest) work of the gesture's own
task and of the next frame's. Theme, filter and selection by marquee change once, followed by a pause; zoom and pan
continue frame by frame. *page's theme*: the time that the page takes to change its theme without the widget; it is a
part of the widget's *theme*.
"""

REACHED = """\
## How it was reached

- One pure step makes a tree of lines, labels and points of state, size and theme, without the DOM. On the screen
  Preact changes only the SVG elements that differ, and the painter repaints only the canvas around points that
  differ. A saved picture, a page and Python write the same tree as SVG text.
- Roofs, labels and gaps stay SVG on the screen. Without its SVG the chart cost 8.3 ms a move instead of 8.2 (1,000
  points, 2026-11-22), so a second canvas has nothing to win, and SVG is sharp at any pixel ratio.
- An index says at which height of the roof each point comes to be above it. Of dense points, only the tiles around
  those that change are painted anew. The sign of a point above its roof is a part of its stamp.
- During a drag labels keep their places, and numbers stand in boxes that do not follow them. Panels, sentence, table
  and ranking follow in idle time. A press draws nothing. Python gets four values a second, in idle time: what
  JupyterLab does for each message takes longer than a frame of ours.
- Where a transform changes, something opaque moves, or the bounds of what is drawn between two clips change, the
  browser makes all layers of the page anew. So turned labels stand in turned coordinates, what moves is not quite
  opaque, and each clip holds an empty box of fixed size: the layers are made in 14 of 84 frames of a drag, not in 46.
- Labels and marks are kept until something moves, so a change of the theme places none.
- The code is compressed, shared by all widgets, sent when the class is imported, and compiled in another thread. A
  widget reaches the page in one message.

What stays above its target, and why, for 1,000 points:

- *Step, main thread*: of 7.4 ms a move 2.4 are our script, without a culprit: labels 1.0, painter 0.8, event to store
  0.8. Without any script a move would still cost 1.3 times the bare canvas: the browser paints more lines and texts.
- *Longest gap*: the first frame of a drag also lays the points out for the index, and the frame after the release
  places the labels anew.
- *Cold*: the page draws panels, sliders and texts beside the chart, and Python draws the picture that a notebook
  keeps beside the widget (20 to 30 ms).
- *Theme, filter*: the page itself takes 9 ms for a theme; ours is each point and line in another colour. A filter
  places the labels anew among other points. An index of cells for labels was tried twice and saved 3 %.
"""

FRAME = """\
Processor time of the page's main thread in a slider drag of the sweeping job, by Chromium's trace, per move: in the
first frame of the drag (the press and the first move), in the middle, and in 600 ms after the release.
`benchmarks/frame.py` also lists the functions.
"""


def page(found: Findings) -> str:
    """Return the text of `docs/benchmarks.md`."""
    met = list(targets(found))
    parts = [
        "# Benchmarks",
        "Written by `python benchmarks/peers.py`, except the last section; not by hand.",
        f"{datetime.now(timezone.utc):%Y-%m-%d}, {counted(found.runs, 'run')}: {machine(found)}.",
        METHOD.rstrip(),
        wandering(found),
        *(f"## {count:,} points\n\n{contests(found, count)}" for count in found.counts),
        "## Where a frame goes",
        FRAME.rstrip(),
        frame_parts(found),
        REACHED.rstrip(),
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
