"""Traces of Chromium: where the main thread's time goes, by the parts of a drag and by kinds of work."""

from __future__ import annotations

import bisect
import gzip
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from benchmarks.common.contest import opened
from benchmarks.common.contestants import Contestant
from benchmarks.common.job import Job
from tests.browser import lab

HERE = Path(__file__).parent
PARTS = ("first", "middle", "release")
KINDS = ("script", "style", "layout", "paint", "rest")
# What a drag rests for after its release, ms: work in idle time is a part of it.
REST_MS = 600
TIMELINE = ["disabled-by-default-devtools.timeline", "devtools.timeline", "blink.user_timing", "v8"]
PROFILE = ["disabled-by-default-v8.cpu_profiler", "disabled-by-default-v8.cpu_profiler.hires", "blink.user_timing"]
# Names of trace events; what is not named here is "rest", or "script" within script.
KIND_OF = {
    **dict.fromkeys(("UpdateLayoutTree", "RecalculateStyles", "ParseAuthorStyleSheet"), "style"),
    "Layout": "layout",
    **dict.fromkeys(("PrePaint", "Paint", "Layerize", "Commit", "UpdateLayer", "CompositeLayers"), "paint"),
    **dict.fromkeys(("FunctionCall", "EvaluateScript", "RunMicrotasks", "MinorGC", "MajorGC"), "script"),
}
# The line above the code of a source file in a readable build.
FILE = re.compile(r"// (\S+\.(?:tsx?|m?js))$")
# Samples in which the thread ran none of the page's functions.
IDLE = {"(root)", "(idle)", "(program)"}


@dataclass
class Part:
    """What the main thread did in one part of the drags.

    Attributes
    ----------
    moves : int
        The number of moves in this part, of all drags together.
    work : dict of str to float
        Processor time by kind, ms.
    layouts : int
        The number of layouts.
    longest : list of float
        Processor time of the longest task of each drag, ms.
    functions : dict of str to float
        Self time by function and file, ms by the clock. These are from as many further drags.
    """

    moves: int = 0
    work: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    layouts: int = 0
    longest: list[float] = field(default_factory=list)
    functions: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def per_move(self, kind: str) -> float:
        """Return ms of a kind of work per move."""
        return self.work[kind] / self.moves

    def most(self, count: int) -> list[tuple[str, float]]:
        """Return the functions with most self time."""
        return sorted(self.functions.items(), key=lambda one: -one[1])[:count]

    @property
    def whole(self) -> float:
        """Ms per move."""
        return sum(self.work.values()) / self.moves


@dataclass(frozen=True)
class Frames:
    """The parts of all drags of an action."""

    parts: dict[str, Part]

    def __str__(self) -> str:
        heads = ("part", "ms a move", *KINDS, "layouts", "longest task")
        lines = [" ".join(f"{head:>12}" for head in heads)]
        for name, part in self.parts.items():
            cells = [part.whole, *map(part.per_move, KINDS), part.layouts / part.moves, statistics.median(part.longest)]
            lines.append(f"{name:>12} " + " ".join(f"{cell:12.2f}" for cell in cells))
        for name, part in self.parts.items():
            lines.append(f"\n{name}: self time of functions, ms a move by the clock")
            lines += [f"{time / part.moves:9.3f}  {words}" for words, time in part.most(10)]
        return "\n".join(lines)


def together(runs: Iterable[Frames]) -> Frames:
    """Return the drags of several runs as one."""
    parts = {name: Part() for name in PARTS}
    for run in runs:
        for name, one in run.parts.items():
            part = parts[name]
            part.moves += one.moves
            part.layouts += one.layouts
            part.longest += one.longest
            for kind, time in one.work.items():
                part.work[kind] += time
            for words, time in one.functions.items():
                part.functions[words] += time
    return Frames(parts)


def measure(
    browser: Browser,
    server: lab.Server,
    contestant: Contestant,
    job: Job,
    action: str,
    *,
    moves: int = 60,
    rounds: int = 5,
    readable: Path | None = None,
) -> Frames:
    """Trace `rounds` drags of an action for times, and as many for functions.

    Parameters
    ----------
    browser, server
        Where the page is.
    contestant, job
        What the page shows.
    action : {"slider", "roof", "keys"}
        What moves the roof.
    moves : int
        Moves in a drag: one per frame, or for keys one in three frames.
    rounds : int
        The number of drags.
    readable : pathlib.Path, optional
        The folder of a build with names. Without it functions are not listed.
    """
    book = opened(browser, server, contestant, job)
    ask = book.page.evaluate
    ask((HERE / "frames.js").read_text(encoding="utf-8"), job.way)
    # The mouse must be in the page for pointer capture to work.
    book.page.mouse.move(5, 5)
    ask("count => probe.create(1, count)", job.count)
    book.page.wait_for_timeout(1000)
    parts = {name: Part() for name in PARTS}

    def traced(categories: list[str]) -> list[dict[str, Any]]:
        ask("() => frames.put()")
        browser.start_tracing(page=book.page, categories=categories)
        ask("([name, count, rest]) => frames.drag(name, count, rest)", [action, moves, REST_MS])
        events: list[dict[str, Any]] = json.loads(browser.stop_tracing())["traceEvents"]
        return events

    # The first drag compiles.
    traced(TIMELINE)
    for _ in range(rounds):
        add_work(parts, traced(TIMELINE), moves)
    if readable is not None:
        for _ in range(rounds):
            add_functions(parts, traced(PROFILE), files_of(readable))
    book.close()
    return Frames(parts)


def bounds(events: Iterable[dict[str, Any]]) -> tuple[int, int, dict[str, tuple[float, float]]]:
    """Return the process and the thread of the marks, and the start and the end of each part, µs."""
    marks = sorted((one["ts"], one) for one in events if one["name"].startswith("part:") and one["ph"] in "RIi")
    times = {one["name"].removeprefix("part:"): time for time, one in marks}
    ends = dict(zip(PARTS, (*PARTS[1:], "end"), strict=True))
    first = marks[0][1]
    return first["pid"], first["tid"], {name: (times[name], times[end]) for name, end in ends.items()}


def add_work(parts: dict[str, Part], events: list[dict[str, Any]], moves: int) -> None:
    """Add the work of one drag."""
    process, thread, spans = bounds(events)
    mine = [one for one in events if (one["pid"], one["tid"], one["ph"]) == (process, thread, "X") and "tdur" in one]
    for name, (start, end) in spans.items():
        part = parts[name]
        inside = [one for one in mine if start <= one["ts"] < end]
        part.moves += moves - 1 if name == "middle" else 1
        part.layouts += sum(one["name"] == "Layout" for one in inside)
        part.longest.append(max((one["tdur"] / 1000 for one in inside if one["name"] == "RunTask"), default=0))
        for kind, time in own_times(inside):
            part.work[kind] += time


def own_times(events: list[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    """Yield the kind of each event and its processor time without the events within it, ms."""
    within: list[tuple[float, str, list[float]]] = []
    for one in sorted(events, key=lambda one: (one["ts"], -one["dur"])):
        while within and one["ts"] >= within[-1][0]:
            _, kind, time = within.pop()
            yield kind, time[0]
        outer = within[-1][1] if within else "rest"
        kind = KIND_OF.get(one["name"], "script" if outer == "script" or one["name"].startswith("V8.") else "rest")
        if within:
            within[-1][2][0] -= one["tdur"] / 1000
        within.append((one["ts"] + one["dur"], kind, [one["tdur"] / 1000]))
    for _, kind, time in within:
        yield kind, time[0]


def add_functions(parts: dict[str, Part], events: list[dict[str, Any]], files: Files) -> None:
    """Add the samples of one drag."""
    process, thread, spans = bounds(events)
    profiles = [one for one in events if one["name"] in {"Profile", "ProfileChunk"} and one["pid"] == process]
    main = {one["id"] for one in profiles if one["name"] == "Profile" and one["tid"] == thread}
    nodes: dict[int, str] = {}
    for start in (one for one in profiles if one["name"] == "Profile" and one["id"] in main):
        clock = float(start["args"]["data"]["startTime"])
        for chunk in (one for one in profiles if one["name"] == "ProfileChunk" and one["id"] == start["id"]):
            data = chunk["args"]["data"]
            profile = data.get("cpuProfile", {})
            for node in profile.get("nodes", []):
                frame = node["callFrame"]
                nodes[node["id"]] = files.words(frame)
                # The profile gives no file for the browser's own functions, so the name of the caller is added.
                if not frame.get("url") and node.get("parent") in nodes and frame["functionName"] not in IDLE:
                    nodes[node["id"]] += f"  in {nodes[node['parent']]}"
            for sample, delta in zip(profile.get("samples", []), data.get("timeDeltas", []), strict=True):
                clock += delta
                part = next((parts[name] for name, (low, high) in spans.items() if low <= clock < high), None)
                if part and nodes[sample] not in IDLE:
                    part.functions[nodes[sample]] += delta / 1000


@dataclass(frozen=True)
class Files:
    """Which source file each line of a readable build is from."""

    lines: list[int]
    names: list[str]

    def words(self, frame: dict[str, Any]) -> str:
        """Return a function with its file."""
        name, url, line = (frame.get(key) for key in ("functionName", "url", "lineNumber"))
        if not url:
            return name or "(nameless)"
        at = bisect.bisect_right(self.lines, line or 0) - 1
        is_ours = str(url).startswith("blob:") or str(url).startswith("data:")
        return f"{name or '(nameless)'}  {self.names[at] if is_ours and at >= 0 else str(url)[-40:]}:{line}"


def files_of(readable: Path) -> Files:
    """Return the files of a readable build: esbuild names each in a line above its code."""
    packed = (readable / name for name in ("words.en.js.gz", "widget.js.gz"))
    words, code = (gzip.decompress(path.read_bytes()).decode() for path in packed)
    # The page runs both as one script.
    lines = enumerate(f"{words}\n{code}".splitlines())
    found = [(at, match[1]) for at, line in lines if (match := FILE.match(line))]
    return Files([at for at, _ in found], [name.rpartition("node_modules/")[2] for _, name in found])
