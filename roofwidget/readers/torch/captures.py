"""Graphs of CUDA and HIP: the operations of a replayed graph's kernels, from a trace of the graph's capture.

A replay launches all kernels of a graph with one call of the runtime, so its kernels have no operation. While a graph
is captured, each operation launches its kernels one by one, and the runtime records the launches without running them.
The k-th recorded launch of the i-th capture is the k-th kernel of the i-th replay of a step. If the capture names its
kernels, the last kernel may be missing in the replay.
"""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from roofwidget.kernels.columns import Bools
from roofwidget.readers.folders import members_of
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.annotations import CAPTURE, ITERATION, Annotations
from roofwidget.readers.torch.events import NONE, Collected
from roofwidget.readers.torch.nesting import Nest, Positions, launches
from roofwidget.readers.torch.steps import captured_batch, step_of
from roofwidget.support.arrays import Integers
from roofwidget.support.did_you_mean import listed

_RANK: Final = re.compile(r'"distributedInfo"\s*:\s*\{[^{}]{0,2000}?"rank"\s*:\s*(\d{1,9})\b')
_BEGIN: Final = re.compile("StreamBeginCapture")
_END: Final = re.compile("StreamEndCapture")
_GRAPH_LAUNCH: Final = re.compile("GraphLaunch")
_KERNEL_LAUNCH: Final = re.compile("Launch(?:Cooperative)?Kernel")
_MAX_SHOWN: Final = 60
_MAX_NAMED: Final = 3
_CHUNK_BYTES: Final = 2**20
_BEGINNING_BYTES: Final = 2**22

CAPTURED: Final = "the operation is that of the capture of the kernel's graph"
"""The origin of the work of tied kernels."""
BY_ORDER: Final = f"{CAPTURED}, by their order alone: the capture does not name its kernels"
"""The origin where no names were compared."""
_HOW: Final = (
    "to see them, also trace the capture of the graphs with record_shapes=True (start the profiler before the program "
    "captures them; vLLM and SGLang capture them when they start), and read both files: "
    "read('step.json.gz', captures='capture_*.json.gz'), in a shell --captures 'capture_*.json.gz'"
)
ALONE: Final = (
    "this is a trace of the capture of graphs and not of a step: its graphs never run; give it with the trace of a "
    "step, read('step.json.gz', captures='capture_*.json.gz'), in a shell --captures 'capture_*.json.gz'"
)
_MAX_BESIDE: Final = 1000


def is_capture(source: Source, *, is_quick: bool = False) -> bool:
    """Whether a trace contains captures of graphs and no launch of a graph. The whole file is searched.

    With `is_quick` the search ends early in a file that is not named as a capture and does not begin with one: a
    profile of many gigabytes is then not read twice, only to learn that it is no capture.

    Examples
    --------
    >>> is_capture(Source.of(b'{"traceEvents": [{"cat": "cuda_runtime", "name": "cudaStreamBeginCapture_v10000"}]}'))
    True
    """
    begin, launch = _BEGIN.pattern.encode(), _GRAPH_LAUNCH.pattern.encode()
    before, has_begin, read = b"", False, 0
    most = _BEGINNING_BYTES if is_quick and "capture" not in source.name.lower() else math.inf
    with source.open() as stream:
        while (has_begin or read < most) and (piece := stream.read(_CHUNK_BYTES)):
            read += len(piece)
            text = before + piece
            if launch in text:
                return False
            has_begin = has_begin or begin in text
            before = piece[-len(begin) :]
    return has_begin


def capture_sources(given: Any) -> list[Source]:
    """Return the traces of captures that a user gave: a path, a pattern, bytes, an open file, or a list of these.

    Raises
    ------
    FileNotFoundError
        If no file matches a pattern, or a file does not exist.
    ProfileError, TypeError
        As `Source.of`.
    """
    if given is None:
        return []
    if isinstance(given, (list, tuple)):
        return [source for one in given for source in capture_sources(one)]
    if isinstance(given, (str, os.PathLike)) and not Path(given).exists():
        pattern = os.fspath(given)
        paths = sorted(glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207 - glob keeps the path as the user wrote it
        if not paths:
            raise FileNotFoundError(f"no file of captures matches '{pattern}'")
        return [source for path in paths for source in capture_sources(path)]
    source = Source.of(given)
    return members_of(source, _may_be_trace) if source.is_folder else [source]


def _may_be_trace(source: Source) -> bool:
    return source.beginning.lstrip()[:1] in ("{", "[")


def beside(source: Source) -> list[str]:
    """Return a message that names the files beside a trace whose names say that they are captures."""
    if source.path is None or not source.path.is_file():
        return []
    files = islice(source.path.parent.iterdir(), _MAX_BESIDE)
    found = sorted(file.name for file in files if "capture" in file.name and ".json" in file.suffixes)
    names = [name for name in found if name != source.path.name and source.beside(source.path.with_name(name))]
    if not names:
        return []
    also = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return [f"'{names[0]}'{also} beside the trace may be a capture of its graphs: captures=, in a shell --captures"]


def rank_of(properties: Mapping[str, Any]) -> object:
    """Return the rank that a trace names, or None."""
    distributed = properties.get("distributedInfo")
    return distributed.get("rank") if isinstance(distributed, dict) else None


def rank_in_beginning(source: Source) -> int | None:
    """Return the rank that the first MiB of a trace names, or None: the header is before the events.

    Examples
    --------
    >>> rank_in_beginning(Source.of(b'{"distributedInfo": {"backend": "nccl", "rank": 3}, "traceEvents": []}'))
    3
    """
    found = _RANK.search(source.first)
    return int(found[1]) if found else None


# -- captures ------------------------------------------------------------------------------------------------------


class _Graph(NamedTuple):
    """A captured graph.

    Parameters
    ----------
    operation
        The operation of each kernel launch in the order of time, -1 if unknown.
    kernel
        The name of each kernel, as a code of `Collected.names`, -1 if the runtime does not name it.
    """

    operation: Integers
    kernel: Integers


@dataclass
class _Capture:
    """The graphs that were captured under one annotation, or in one trace without annotations."""

    label: str
    batch: int | None
    graphs: list[_Graph]


def _captures_of(collected: Collected, nest: Nest) -> list[_Capture]:
    """Return what a trace captured, in the order of time."""
    calls, annotations = collected.launches, Annotations(collected)
    start, thread, kernel = calls.start.floats(), calls.thread.integers(), calls.kernel.integers()
    begins, ends, launches = (_by_time(collected, pattern) for pattern in (_BEGIN, _END, _KERNEL_LAUNCH))
    operation = nest.enclosing(thread[launches], start[launches])
    annotation = annotations.enclosing(CAPTURE, thread[begins], start[begins])
    found: dict[int, _Capture] = {}
    for begin, row in zip(begins.tolist(), annotation.tolist(), strict=True):
        end = np.searchsorted(start[ends], start[begin])
        if end == len(ends):
            break
        inside = slice(*np.searchsorted(start[launches], [start[begin], start[ends[end]]]))
        text = annotations.text(row)
        capture = _Capture(text or collected.source, captured_batch(text), [])
        graphs = found.setdefault(row, capture).graphs
        graphs.append(_Graph(operation[inside], kernel[launches[inside]]))
    return list(found.values())


def _by_time(collected: Collected, pattern: re.Pattern[str]) -> Integers:
    """Return the runtime calls whose name has the pattern, in the order of time."""
    calls = collected.launches
    has = np.array([pattern.search(name) is not None for name in collected.runtime_names.values()], dtype=np.bool_)
    rows = np.flatnonzero(has[calls.name.integers()]) if len(has) else np.zeros(0, dtype=np.int64)
    return rows[np.argsort(calls.start.floats()[rows], kind="stable")]


# -- replays -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Replays:
    """The rows of the device that graphs launched.

    Parameters
    ----------
    number
        The replay of each row on the device, -1 if no graph launched it, shape (m,). Copies have a replay too.
    operation
        The operation of each row on the device from the capture, -1 if unknown, shape (m,).
    is_named
        Whether the name of the row's kernel was compared with the capture, shape (m,).
    messages
        Warnings.
    """

    number: Positions
    operation: Positions
    is_named: Bools
    messages: Sequence[str]


def replays_of(collected: Collected, captured: Sequence[Collected], nest: Nest, kernels: Bools) -> Replays:
    """Tie the kernels of replayed graphs to operations of the captures.

    Parameters
    ----------
    collected
        The trace with the replays. It may have captures too.
    captured
        Traces of captures that belong to it.
    nest
        The nest of all operations, those of the captures included.
    kernels
        A mask of rows on the device, shape (m,): true for kernels, false for copies.
    """
    launched = launches(collected)
    is_graph = np.zeros(len(collected.launches.start) + 1, dtype=np.bool_)
    graph_launches = _by_time(collected, _GRAPH_LAUNCH)
    is_graph[graph_launches] = True
    number = np.where(is_graph[launched], launched, np.intc(NONE))
    operation: Positions = np.full(len(number), NONE, dtype=np.intc)
    is_named = np.zeros(len(number), dtype=np.bool_)
    of_graph = np.flatnonzero((number >= 0) & kernels)
    if not len(of_graph):
        is_alone = len(_by_time(collected, _BEGIN)) > 0 and not len(graph_launches)
        return Replays(number, operation, is_named, (ALONE,) if is_alone else ())
    captures = [capture for part in (collected, *captured) for capture in _captures_of(part, nest)]
    messages = _Tie(collected, number, of_graph, captures).into(operation, is_named)
    time = collected.device.duration.floats()
    untied = of_graph[operation[of_graph] < 0]
    if len(untied):
        share = time[untied].sum() / max(time[kernels].sum(), np.finfo(float).tiny)
        messages.append(
            f"{len(untied):,} kernels ({share:.1%} of all kernels' time) come from {len(np.unique(number[untied])):,} "
            f"launches of CUDA or HIP graphs, which do not say their operations{'' if captures else f'; {_HOW}'}"
        )
    return Replays(number, operation, is_named, messages)


class _Tie:
    """The kernels of the launches of graphs, step by step."""

    def __init__(self, collected: Collected, number: Integers, of_graph: Integers, captures: list[_Capture]) -> None:
        order = np.lexsort((collected.device.start.floats()[of_graph], number[of_graph]))
        rows = of_graph[order]
        self._kernels = dict(
            zip(*(number[rows][_starts(number[rows])].tolist(), np.split(rows, _starts(number[rows])[1:])), strict=True)
        )
        self._collected, self._captures = collected, captures
        self._annotations = Annotations(collected)
        self._name, self._stream = collected.device.name.integers(), collected.device.stream.integers()
        self._call = collected.operations.call.integers()

    def into(self, operation: Integers, is_named: Bools) -> list[str]:
        """Write the operation of each kernel where a capture agrees, and whether by its name too.

        Return warnings where no capture agrees.
        """
        if not self._captures:
            return []
        different: dict[str, int] = {}
        for step, replays in self._steps():
            kernels = [self._kernels[replay] for replay in replays]
            found = self._fitting(step, kernels)
            if isinstance(found, str):
                different[found] = different.get(found, 0) + 1
                continue
            for at, rows in enumerate(kernels):
                graph = found.graphs[at % len(found.graphs)]
                operation[rows] = graph.operation[: len(rows)]
                is_named[rows] = graph.kernel[: len(rows)] >= 0
        texts = [
            f"{text}{f' (and {times - 1:,} more steps)' if times > 1 else ''}" for text, times in different.items()
        ]
        more = (
            [f"captures do not fit {len(texts) - _MAX_NAMED:,} more kinds of steps"] if len(texts) > _MAX_NAMED else []
        )
        return [*texts[:_MAX_NAMED], *more]

    def _steps(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the text of each step and its launches of graphs in the order of time."""
        calls = self._collected.launches
        start, thread = calls.start.floats(), calls.thread.integers()
        replays = np.array(sorted(self._kernels, key=start.__getitem__))
        steps = self._annotations.steps(thread[replays], start[replays])
        iterations = self._annotations.enclosing(ITERATION, thread[replays], start[replays])
        steps = np.where(steps >= 0, steps, iterations)
        for step in dict.fromkeys(steps.tolist()):
            yield self._annotations.text(step), replays[steps == step].tolist()

    def _fitting(self, step: str, kernels: Sequence[Integers]) -> _Capture | str:
        """Return the capture whose graphs these launches replay, or what differs."""
        candidates = _of_batch(self._captures, step)
        problems = [self._difference(capture, kernels) for capture in candidates]
        fitting = [capture for capture, problem in zip(candidates, problems, strict=True) if not problem]
        if len({self._calls(capture) for capture in fitting}) == 1:
            return fitting[0]
        where = f"the step '{_short(step)}'" if step else "the trace"
        if fitting:
            labels = listed(capture.label for capture in fitting[:_MAX_NAMED])
            return f"the operations of graphs stay unknown in {where}: the captures {labels} fit equally well"
        if not candidates:
            return f"the operations of graphs stay unknown in {where}: no capture is of its batch or of a larger batch"
        return (
            f"the operations of graphs stay unknown in {where}, which differs from the capture "
            f"'{candidates[0].label}': "
            f"{problems[0]}"
        )

    def _calls(self, capture: _Capture) -> tuple[int, ...]:
        """Return the calls of a capture's kernels, which say their shapes."""
        operation = np.concatenate([graph.operation for graph in capture.graphs])
        call = np.append(self._call, NONE)
        return tuple(call[operation].tolist())

    def _difference(self, capture: _Capture, kernels: Sequence[Integers]) -> str:
        if len(kernels) % len(capture.graphs):
            return f"{len(kernels):,} launches of graphs, {len(capture.graphs):,} captured"
        for at, rows in enumerate(kernels):
            graph = capture.graphs[at % len(capture.graphs)]
            # Profilers of AMD may lose the last kernel of a graph, and only names say that it was the last.
            is_last_lost = len(rows) == len(graph.kernel) - 1 and (graph.kernel >= 0).all()
            if len(rows) != len(graph.kernel) and not is_last_lost:
                return f"{len(rows):,} kernels in launch {at + 1} of a graph, {len(graph.kernel):,} captured"
            # The order of kernels on several streams varies, so only their names can say which is which.
            if (graph.kernel < 0).any() and len(np.unique(self._stream[rows])) > 1:
                return (
                    f"the kernels of launch {at + 1} of a graph ran on several streams, and the trace of the capture "
                    "does not name its kernels, so their order does not say their operations"
                )
            ran, expected = self._name[rows], graph.kernel[: len(rows)]
            other = np.flatnonzero((ran != expected) & (expected >= 0))
            if len(other):
                names = self._collected.names.values()
                ran_name, captured_name = (_short(names[codes[other[0]]]) for codes in (ran, expected))
                return (
                    f"kernel {other[0] + 1} in launch {at + 1} of a graph is '{ran_name}', captured was "
                    f"'{captured_name}'"
                )
        return ""


def _starts(numbers: Integers) -> Integers:
    """Return where each run of equal numbers starts."""
    return np.flatnonzero(np.diff(numbers, prepend=NONE))


def _of_batch(captures: list[_Capture], step: str) -> list[_Capture]:
    """Return the captures of a step's batch. A graph of a batch serves all smaller batches down to the next graph."""
    requests = step_of(step)
    if requests is None:
        return captures
    # SGLang chooses a graph by the number of requests, vLLM by the number of tokens.
    batch = requests.batch or (requests.count if step.startswith("step[") else requests.sq)
    if batch is None:
        return captures
    larger = [capture.batch for capture in captures if capture.batch is not None and capture.batch >= batch]
    return [capture for capture in captures if capture.batch in {None, min(larger, default=None)}]


def _short(name: str) -> str:
    return name if len(name) <= _MAX_SHOWN else f"{name[: _MAX_SHOWN - 3]}..."
