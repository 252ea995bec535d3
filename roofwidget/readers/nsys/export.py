"""The SQLite export of Nsight Systems: kernels, copies, fills and replays of CUDA graphs, one row per launch.

Tables exist only if the program used them, and columns grow with versions (schema 3.24 and 3.25 were seen), so columns
are found by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.collectives import communicates
from roofwidget.kernels.columns import MAIN_LEVEL, Bools, Floats
from roofwidget.kernels.communication import overlap_of
from roofwidget.kernels.metadata import Communication
from roofwidget.kernels.table import Kernels
from roofwidget.readers import copies
from roofwidget.readers.communication import with_unsized_note
from roofwidget.readers.devices import named_apart, one_chip_of
from roofwidget.readers.input import databases
from roofwidget.readers.input.databases import Database
from roofwidget.readers.input.source import Source
from roofwidget.readers.nsys.reports import NO_WORK
from roofwidget.support.arrays import Integers, Places
from roofwidget.support.text_tables import counted

_KERNEL: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
_MEMCPY: Final = "CUPTI_ACTIVITY_KIND_MEMCPY"
_MEMSET: Final = "CUPTI_ACTIVITY_KIND_MEMSET"
_GRAPH: Final = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_RUNTIME: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
_NVTX: Final = "NVTX_EVENTS"
_STRINGS: Final = "StringIds"
_TIMED: Final = (_KERNEL, _MEMCPY, _MEMSET, _GRAPH)
_NANOSECONDS: Final = 1e9
# The types of copies, as in the table ENUM_CUDA_MEMCPY_OPER.
_KINDS: Final = {
    1: "Host-to-Device",
    2: "Device-to-Host",
    3: "Host-to-Array",
    4: "Array-to-Host",
    5: "Array-to-Array",
    6: "Array-to-Device",
    7: "Device-to-Array",
    8: "Device-to-Device",
    9: "Host-to-Host",
    10: "Peer-to-Peer",
    11: "Unified Host-to-Device",
    12: "Unified Device-to-Host",
    13: "Unified Device-to-Device",
}
_NONE: Final = -1
"""The number of a cell that is NULL, or of a row that is missing."""


def is_export(source: Source) -> bool:
    """Return whether the source is an SQLite export of Nsight Systems."""
    tables = databases.tables_of(source)
    return _STRINGS in tables and not tables.isdisjoint({*_TIMED, _NVTX, "META_DATA_EXPORT"})


def read(source: Source) -> Kernels:
    """Return a row per kernel, copy, fill and replay of a graph, in the order of their starts.

    Raises
    ------
    ProfileError
        If the database is damaged, lacks a column, or has nothing that a device ran.
    """
    with databases.opened(source) as database:
        events = _Events.of(database)
        launches = _Launches.of(database, events)
        chip, chip_warnings = _chip(database, events)
    order = np.argsort(events.start, kind="stable")
    parts = Kernels(**_arguments(events, launches))
    replays = int((events.kind == _TIMED.index(_GRAPH)).sum())
    graphs = f"{counted(replays, 'row')} of replays of CUDA graphs, whose kernels are not in the file"
    warnings = [
        *([f"{graphs}: nsys profile --cuda-graph-trace=node has the kernels"] if replays else []),
        *launches.warnings,
        *chip_warnings,
        NO_WORK,
    ]
    overlap = _overlap(events)
    warnings += [] if overlap is None else [str(overlap)]
    kernels = parts[order].replace(chip=chip, warnings=warnings, source=source.name, communication=overlap)
    return with_unsized_note(kernels)


def _overlap(events: _Events) -> Communication | None:
    """Return how the communication of kernels overlaps with other kernels, None without communication."""
    rows = np.flatnonzero(events.is_of(_KERNEL))
    begin = events.start - events.start.min()
    start, duration = begin[rows] / _NANOSECONDS, (events.end - events.start)[rows] / _NANOSECONDS
    sends = communicates([events.names[row] for row in rows.tolist()])
    return overlap_of(events.columns["deviceId"][rows], start, duration, sends)


# -- what the device ran -------------------------------------------------------------------------------------------

_REQUIRED: Final = ("start", "end", "deviceId")
_SIZES: Final = {
    "registers per thread": ("registersPerThread",),
    "shared memory (B)": ("staticSharedMemory", "dynamicSharedMemory"),
}
_GRID: Final = ("gridX", "gridY", "gridZ")
_BLOCK: Final = ("blockX", "blockY", "blockZ")
_OPTIONAL: Final = (
    *("streamId", "correlationId", "globalPid", "bytes", "copyKind", "graphId", "graphNodeId"),
    *("demangledName", "shortName", "mangledName"),
    *(column for names in _SIZES.values() for column in names),
    *_GRID,
    *_BLOCK,
)


@dataclass(frozen=True)
class _Events:
    """Kernels, copies, fills and replays of graphs: n rows.

    Parameters
    ----------
    kind
        The position of the table in `_TIMED`.
    start, end
        Nanoseconds.
    columns
        Further numbers by column, `_NONE` for NULL and for rows whose table lacks the column.
    names
        The names of kernels, copies, fills and replays.
    """

    kind: Integers
    start: Integers
    end: Integers
    columns: Mapping[str, Integers]
    names: list[str]

    @classmethod
    def of(cls, database: Database) -> _Events:
        found = {table: _columns(database, table, _REQUIRED, _OPTIONAL) for table in _TIMED if table in database.tables}
        if _GRAPH in found and (found.get(_KERNEL, {}).get("graphNodeId", np.zeros(0)) > 0).any():
            # The kernels of the replays are in the file, so the replays would count their time twice.
            del found[_GRAPH]
        found = {table: columns for table, columns in found.items() if len(columns["start"])}
        if not found:
            raise database.error("the export has no kernel and no copy: profile with nsys profile --trace=cuda,nvtx")
        for table, columns in found.items():
            wrong = np.flatnonzero(columns["end"] < columns["start"])
            if len(wrong):
                raise database.error(f"table '{table}', row {wrong[0] + 1}: the end is before the start")
        names = [name for table, columns in found.items() for name in _names(database, table, columns)]
        every = {
            name: np.concatenate([columns[name] for columns in found.values()]) for name in (*_REQUIRED, *_OPTIONAL)
        }
        kinds = [np.full(len(columns["start"]), _TIMED.index(table)) for table, columns in found.items()]
        return cls(np.concatenate(kinds), every.pop("start"), every.pop("end"), every, names)

    def is_of(self, *tables: str) -> Bools:
        return np.isin(self.kind, [_TIMED.index(table) for table in tables])


def _columns(
    database: Database, table: str, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Integers]:
    """Return columns of whole numbers, `_NONE` for NULL and for optional columns that the table lacks."""
    there = [column for column in optional if column in database.tables[table]]
    names = [*required, *there]
    rows = list(database.rows(table, names))
    found = {name: np.full(len(rows), _NONE, dtype=np.int64) for name in (*required, *optional)}
    for name, cells in zip(names, zip(*rows, strict=True), strict=False):
        if not set(map(type, cells)) <= {int, type(None)} or (name in required and None in cells):
            row = next(row for row, cell in enumerate(cells) if type(cell) is not int and (cell or name in required))
            where = f"table '{table}', row {row + 1}, column '{name}'"
            raise database.error(f"{where}: expected a whole number, got {cells[row]!r:.40}")
        found[name] = np.array([_NONE if cell is None else cell for cell in cells], dtype=np.int64)
    return found


def _names(database: Database, table: str, columns: Mapping[str, Integers]) -> list[str]:
    """Return the names of the rows of a table, as nsys stats writes them."""
    if table == _MEMCPY:
        return [f"[CUDA memcpy {_KINDS.get(kind, 'Unknown')}]" for kind in columns["copyKind"].tolist()]
    if table == _MEMSET:
        return ["[CUDA memset]"] * len(columns["start"])
    if table == _GRAPH:
        return [f"CUDA graph {number}" if number >= 0 else "CUDA graph" for number in columns["graphId"].tolist()]
    ids = columns["demangledName"]
    for other in ("shortName", "mangledName"):
        ids = np.where(ids == _NONE, columns[other], ids)
    texts = _texts(database, set(ids.tolist()))
    return [texts.get(number, "kernel") for number in ids.tolist()]


def _texts(database: Database, wanted: set[int]) -> dict[int, str]:
    return {
        number: text
        for number, text in database.rows(_STRINGS, ["id", "value"])
        if number in wanted and isinstance(text, str) and text
    }


def _arguments(events: _Events, launches: _Launches) -> dict[str, Any]:
    """Return the arguments of `Kernels`."""
    is_copy, is_graph = events.is_of(_MEMCPY, _MEMSET), events.is_of(_GRAPH)
    moved: Floats = np.where(is_copy & (events.columns["bytes"] >= 0), events.columns["bytes"], np.nan)
    device = events.columns["deviceId"]
    extra: dict[str, Any] = {
        "device": device.astype(np.float64),
        "stream": _known(events.columns["streamId"]),
        "grid": _extents(events, _GRID),
        "block": _extents(events, _BLOCK),
        **{name: _known(*(events.columns[column] for column in columns)) for name, columns in _SIZES.items()},
        "range": launches.ranges,
    }
    return copies.with_copies(
        {
            "names": named_apart(events.names, device.tolist()),
            "flops": {"": launches.flops},
            "bytes": {MAIN_LEVEL: moved},
            "time": (events.end - events.start) / _NANOSECONDS,
            "category": [
                "CUDA graph" if graph else _category(text)
                for graph, text in zip(is_graph.tolist(), launches.ranges, strict=True)
            ],
            "origin": {
                "time": "end - start",
                **({"bytes:main": "bytes of the copy or fill, twice within one device"} if is_copy.any() else {}),
                **({"flops": launches.rule} if launches.rule else {}),
            },
            "extra": {name: column for name, column in extra.items() if not _is_empty(column)},
        },
        is_copy,
        events.names,
    )


def _known(*columns: Integers) -> Floats:
    """Return the sum of columns, NaN where a number is unknown."""
    known = np.all([column >= 0 for column in columns], axis=0)
    return np.where(known, np.sum(columns, axis=0, dtype=np.float64), np.nan)


def _extents(events: _Events, names: Sequence[str]) -> list[str | None]:
    """Return texts such as ``128 x 1 x 1`` for the sizes of grids or blocks."""
    sizes = np.stack([events.columns[name] for name in names], axis=1)
    different, places = np.unique(sizes, axis=0, return_inverse=True)
    texts = [" x ".join(str(size) for size in row if size >= 0) or None for row in different.tolist()]
    return [texts[place] for place in places.ravel().tolist()]


def _is_empty(column: Any) -> bool:
    return bool(np.isnan(column).all()) if isinstance(column, np.ndarray) else not any(column)


# -- ranges --------------------------------------------------------------------------------------------------------

_PUSH_POP: Final = 59
# A process nests ranges as deep as its calls. Deeper ranges are not looked for.
_MAX_NESTED_RANGES: Final = 1000
_PROCESS: Final = 0x1000000
# PyTorch's emit_nvtx writes "aten::mm, seq = 5, op_id = 7, sizes = [[64, 32], [32, 16]]".
_OF_TORCH: Final = re.compile(r"(?P<op>[^,]+), (?:seq|op_id|sizes|input_op_ids) = .*", re.DOTALL)
_TORCH_SIZES: Final = re.compile(r"sizes = (?P<sizes>\[[\[\]\d, ]*\])(?:, \w+ = |$)")
_MAX_SIZES_CHARS: Final = 1000


@dataclass(frozen=True)
class _Launches:
    """What the host did when it launched the rows.

    Parameters
    ----------
    ranges
        The text of the innermost range of the launching thread that contains the launch, or None.
    flops
        FLOPs by the sizes in the range's text, NaN where unknown.
    warnings, rule
        Warnings, and the origin of the FLOPs.
    """

    ranges: list[str | None]
    flops: Floats
    warnings: list[str]
    rule: str

    @classmethod
    def of(cls, database: Database, events: _Events) -> _Launches:
        n = len(events.names)
        place = _range_of_each(database, events)
        if place is None or not (place[0] >= 0).any():
            return cls([None] * n, np.full(n, np.nan), [], "")
        at, texts = place
        work = {text: flops_of(text) for text in set(texts) if "sizes = " in text}
        ranges = [texts[number] if number >= 0 else None for number in at.tolist()]
        # An op may launch several kernels. Its longest kernel gets the work, as in the reader of PyTorch's traces.
        is_kernel = events.is_of(_KERNEL) & (at >= 0)
        longest = _longest_of_each(np.where(is_kernel, at, _NONE), events.end - events.start)
        flops = np.full(n, np.nan)
        for row in longest.tolist():
            flops[row] = work.get(ranges[row] or "", np.nan)
        if np.isnan(flops).all():
            return cls(ranges, flops, [], "")
        others = int(is_kernel.sum()) - len(longest)
        more = [f"{others:,} more kernels of the same operations have unknown FLOPs"] if others else []
        return cls(ranges, flops, more, "2 x the sizes of the matrix product, from the NVTX range of PyTorch")


def _longest_of_each(group: Integers, length: Integers) -> Places:
    """Return the row with the largest length of each group; rows of the group `_NONE` are in no group."""
    order = np.lexsort((length, group))
    order = order[group[order] != _NONE]
    is_last = np.append(np.diff(group[order]) != 0, True)[: len(order)]
    longest: Places = order[is_last]
    return longest


def flops_of(text: str) -> float:
    """Return the FLOPs of a matrix product whose sizes are in a range's text, or NaN.

    Examples
    --------
    >>> flops_of("aten::mm, seq = 5, op_id = 7, sizes = [[64, 32], [32, 16]]"), flops_of("aten::add, sizes = [[4]]")
    (65536.0, nan)
    """
    op = _OF_TORCH.fullmatch(text)
    found = _TORCH_SIZES.search(text)
    if op is None or found is None or len(found["sizes"]) > _MAX_SIZES_CHARS:
        return np.nan
    try:
        sizes = json.loads(found["sizes"])
    except (RecursionError, ValueError):
        return np.nan
    first = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}.get(op["op"])
    pair = sizes[first : first + 2] if first is not None and isinstance(sizes, list) else []
    axes = 3 if op["op"] in {"aten::bmm", "aten::baddbmm"} else 2
    if len(pair) != 2 or not all(_is_shape(size, axes) for size in pair) or pair[0][-1] != pair[1][-2]:  # noqa: PLR2004 - two factors
        return np.nan
    return 2.0 * float(np.prod(np.array(pair[0], dtype=np.float64))) * float(pair[1][-1])


def _is_shape(given: object, axes: int) -> bool:
    return isinstance(given, list) and len(given) == axes and all(type(size) is int and size < 2**40 for size in given)


def _category(text: str | None) -> str | None:
    """Return a range's text without the numbers that PyTorch writes behind it."""
    found = _OF_TORCH.fullmatch(text) if text else None
    return found["op"] if found else text


def _range_of_each(database: Database, events: _Events) -> tuple[Integers, list[str]] | None:
    """Return for each row the number of the innermost range around its launch (or `_NONE`), and the ranges' texts."""
    if _NVTX not in database.tables or _RUNTIME not in database.tables:
        return None
    calls = _columns(database, _RUNTIME, ("start", "end", "correlationId"), ("globalTid",))
    ranges = _columns(database, _NVTX, ("start",), ("end", "eventType", "globalTid", "textId"))
    texts = _range_texts(database, ranges["textId"])
    nested = (ranges["eventType"] == _PUSH_POP) & (ranges["end"] >= ranges["start"])
    rows = np.flatnonzero(nested)
    if not len(rows):
        return None
    call = _call_of_each(events, calls)
    has_call = call != _NONE
    found = np.full(len(call), _NONE, dtype=np.int64)
    inner = _innermost(
        (ranges["globalTid"][rows], ranges["start"][rows], ranges["end"][rows]),
        (calls["globalTid"][call[has_call]], calls["start"][call[has_call]], calls["end"][call[has_call]]),
    )
    found[has_call] = np.where(inner >= 0, rows[inner], _NONE)
    return found, texts


def _range_texts(database: Database, ids: Integers) -> list[str]:
    own = [text for (text,) in database.rows(_NVTX, ["text"])] if "text" in database.tables[_NVTX] else []
    own += [None] * (len(ids) - len(own))
    shared = _texts(database, set(ids.tolist()))
    return [
        text if isinstance(text, str) and text else shared.get(number, "")
        for text, number in zip(own, ids.tolist(), strict=True)
    ]


def _call_of_each(events: _Events, calls: Mapping[str, Integers]) -> Integers:
    """Return the call of the host that launched each row, by process and correlation; `_NONE` if there is none."""
    wanted = events.columns["correlationId"]
    process = calls["globalTid"] // _PROCESS
    own = np.where(events.columns["globalPid"] >= 0, events.columns["globalPid"] // _PROCESS, process[:1].sum())
    _, codes = np.unique(np.concatenate([process, own]), return_inverse=True)
    order = np.lexsort((calls["correlationId"], codes[: len(process)]))
    keys = np.rec.fromarrays([codes[: len(process)][order], calls["correlationId"][order]])
    asked = np.rec.fromarrays([codes[len(process) :], wanted])
    at = np.searchsorted(keys, asked)
    inside = np.minimum(at, len(keys) - 1)
    is_found = (at < len(keys)) & (keys[inside] == asked) & (wanted != _NONE) if len(keys) else np.zeros(0, dtype=bool)
    return np.where(is_found, order[inside], _NONE) if len(keys) else np.full(len(wanted), _NONE)


def _innermost(ranges: tuple[Integers, ...], launches: tuple[Integers, ...]) -> Integers:
    """Return the innermost range of each launch's thread that contains the launch, or `_NONE`.

    Parameters
    ----------
    ranges, launches
        Threads, starts and ends, shapes (r,) and (m,). The ranges of a thread are nested or apart.

    Examples
    --------
    >>> threads, starts, ends = np.array([1, 1, 1, 2]), np.array([0, 10, 30, 0]), np.array([100, 20, 40, 9])
    >>> launch = np.array([1, 1, 1, 2]), np.array([12, 25, 200, 5]), np.array([13, 26, 201, 6])
    >>> _innermost((threads, starts, ends), launch).tolist()
    [1, 0, -1, 3]
    """
    thread, start, end = ranges
    order = np.lexsort((-end, start, thread))
    thread, start, end = thread[order], start[order], end[order]
    around = np.where(np.append(False, thread[1:] == thread[:-1]), np.arange(len(order)) - 1, _NONE)
    around = _climbed(around, end, None, end)
    own_thread, own_start, own_end = launches
    both = np.lexsort(
        (np.repeat([0, 1], [len(start), len(own_start)]), np.append(start, own_start), np.append(thread, own_thread))
    )
    # The last range that began before a launch in the order of threads and starts.
    before = np.maximum.accumulate(np.where(both < len(start), both, _NONE))
    last = np.full(len(own_start), _NONE, dtype=np.int64)
    is_launch = both >= len(start)
    last[both[is_launch] - len(start)] = before[is_launch]
    last = np.where((last >= 0) & (thread[last] == own_thread), last, _NONE)
    last = _climbed(last, own_end, around, end)
    return np.where(last >= 0, order[last], _NONE)


def _climbed(at: Integers, needed: Integers, around: Integers | None, end: Integers) -> Integers:
    """Return the first range from `at` outwards that ends no earlier than `needed`.

    Without `around`, `at` has the range before each range, and the steps outwards are those found so far.
    """
    at = at.copy()
    around = at if around is None else around
    for _ in range(_MAX_NESTED_RANGES):
        short = np.flatnonzero((at >= 0) & (end[at] < needed))
        if not len(short):
            return at
        at[short] = around[at[short]]
    at[(at >= 0) & (end[at] < needed)] = _NONE
    return at


# -- the chip ------------------------------------------------------------------------------------------------------


def _chip(database: Database, events: _Events) -> tuple[Chip | None, list[str]]:
    """Return the chip that the kernels ran on, or None and a warning."""
    gpus = _gpus(database)
    if not gpus:
        return None, ["the export does not name the GPU (table TARGET_INFO_GPU): name a chip"]
    numbers = _gpu_numbers(database)
    used = {numbers.get(device, device) for device in set(events.columns["deviceId"].tolist())}
    ran_on = [gpus[number] for number in used if number in gpus] or list(gpus.values())
    units = [count for _, count in ran_on if count is not None]
    return one_chip_of((name for name, _ in ran_on), min(units, default=None))


def _gpus(database: Database) -> dict[int, tuple[str, float | None]]:
    """Return the names and multiprocessors of the machine's GPUs by their numbers."""
    columns = database.tables.get("TARGET_INFO_GPU", ())
    if not {"id", "name"} <= set(columns):
        return {}
    names = [*("id", "name"), *(["smCount"] if "smCount" in columns else [])]
    return {
        number: (name, float(more[0]) if more and isinstance(more[0], int) and more[0] > 0 else None)
        for number, name, *more in database.rows("TARGET_INFO_GPU", names)
        if isinstance(number, int) and isinstance(name, str)
    }


def _gpu_numbers(database: Database) -> dict[int, int]:
    """Return the machine's number of a GPU by CUDA's number, where CUDA_VISIBLE_DEVICES makes them differ."""
    table = "TARGET_INFO_CUDA_DEVICE"
    if not {"gpuId", "cudaId"} <= set(database.tables.get(table, ())):
        return {}
    pairs = {pair for pair in database.rows(table, ["cudaId", "gpuId"]) if all(type(cell) is int for cell in pair)}
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}
