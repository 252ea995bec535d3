"""Find the tables of counters in a folder, read these tables, and join them dispatch by dispatch."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof.counters import Counters
from roofwidget.readers.tables.delimited import DelimitedTable, read_table
from roofwidget.support.arrays import Integers, Places
from roofwidget.support.did_you_mean import first_in, listed

KERNEL: Final = ("Kernel_Name", "KernelName")
_DISPATCH: Final = ("Dispatch_ID", "Dispatch_Id", "Index")
_START: Final = ("Start_Timestamp", "BeginNs")
_END: Final = ("End_Timestamp", "EndNs")
_DURATION: Final = ("DurationNs", "Duration_ns")
_LONG: Final = ("Counter_Name", "Counter_Value")
_NANOSECONDS: Final = 1e9
_MAX_EXACT_FLOAT: Final = 2.0**53
COUNTER_LIMIT: Final = 2**63
"""Counters are below this."""
_EXPONENT: Final = re.compile(r"\d+(?:\.(?P<decimals>\d*))?[eE]\+?(?P<exponent>\d{1,2})")
# If a duration is at least this many steps of its timestamps' last written digit, it is known within one percent.
_MIN_STEPS: Final = 100
_MAX_DIGITS: Final = 20

_MERGED: Final = re.compile(r"pmc_perf\.csv(\.gz)?", re.IGNORECASE)
DATABASE: Final = re.compile(r".*\.db(\.gz)?", re.IGNORECASE)
"""The names of databases in a folder."""
_PASS: Final = re.compile(
    r"(pmc_perf_.*|results(?!.*stats).*|timestamps|.*counter_collection)\.csv(\.gz)?", re.IGNORECASE
)
# A run without counters has these, the first with a row per dispatch.
_TIMES: Final = tuple(
    re.compile(rf".*{name}(\.gz)?", re.IGNORECASE)
    for name in (r"kernel_trace\.csv", r"results\.json", r"kernel_stats\.csv", r"results\.stats\.csv")
)
_CLONE: Final = re.compile(r" (\[clone \.kd\]|\(\.kd\))$|\.kd$")


@dataclass(frozen=True)
class Files:
    """The files of one profile."""

    passes: Sequence[Source]
    sysinfo: Source | None = None
    roofline: Source | None = None


def files(source: Source) -> Files:
    """Return the files of a profile: in a folder or an archive, or a single table and the files in its folder.

    Raises
    ------
    ProfileError
        If a folder has several profiles, or no table of counters.
    """
    if not source.is_folder:
        return Files([source], _beside(source, "sysinfo"), _beside(source, "roofline"))
    members = {PurePosixPath(name): member for name, member in source.members().items()}
    merged = [path for path in members if _MERGED.fullmatch(path.name)]
    tables = [path for path in members if _PASS.fullmatch(path.name)]
    passes = merged or tables or [path for path in members if DATABASE.fullmatch(path.name)]
    times = [[path for path in members if pattern.fullmatch(path.name)] for pattern in _TIMES] if not passes else []
    passes = passes or next((found for found in times if found), [])
    if not passes:
        raise source.error("the folder has neither pmc_perf.csv nor a database (.db)")
    if (merged or times) and len(passes) > 1:
        raise source.error(f"the folder has several profiles: {listed(map(str, passes[:5]))}; give the path of one")

    def one(name: str) -> Source | None:
        found = [path for path in members if path.name.casefold() == name]
        near = [path for path in found if path.parent == passes[0].parent]
        return members[(near or found)[0]] if found else None

    return Files([members[path] for path in passes], one("sysinfo.csv"), one("roofline.csv"))


def _beside(source: Source, word: str) -> Source | None:
    """Return the table of the kind `word` that belongs to ``NAME_pmc_perf.csv`` or to a database of counters."""
    if source.path is None:
        return None
    if DATABASE.fullmatch(source.path.name):
        path = source.path.with_name(f"{word}.csv")
        return source.beside(path) if source.path.name.startswith("pmc_perf") else None
    stem = re.sub(r"(pmc_perf(_\w+)?|results(_\w+)?)(?=\.csv)", word, source.path.name, flags=re.IGNORECASE)
    path = source.path.with_name(stem.removesuffix(".gz"))
    return source.beside(path) if path != source.path and word in path.name else None


@dataclass
class Pass:
    """The dispatches of one table or database. Columns of numbers are computed when they are called."""

    source: Source
    names: npt.NDArray[np.object_]
    ids: Integers | None
    time: Floats | None
    time_rule: str
    counters: Mapping[str, Callable[[], Floats]]
    lines: Sequence[int]
    fields: Mapping[str, Callable[[], Floats]] = field(default_factory=dict)
    warnings: Sequence[str] = ()


@dataclass
class Joined:
    """The dispatches of all passes, n of them.

    Attributes
    ----------
    names
        Kernel names without the suffix of the descriptor, shape (n,).
    time
        Seconds, shape (n,); NaN where unknown.
    time_rule
        Where the seconds come from.
    counters
        The counters of all passes.
    fields
        The columns of the first pass by the names in the file; empty if the first pass has a row per counter.
    warnings
        Warnings.
    """

    names: npt.NDArray[np.object_]
    time: Floats
    time_rule: str
    counters: Counters
    fields: Mapping[str, Callable[[], Floats]]
    warnings: list[str] = field(default_factory=list)


def joined(found_passes: Sequence[Pass]) -> Joined:
    """Join all passes over one program.

    Dispatches are matched by number, or row by row if numbers are missing or not unique. Times come from
    ``timestamps.csv`` if it exists, else from the first pass with times.

    Raises
    ------
    ProfileError
        If a table has no dispatch, or two tables have different dispatches.
    """
    sources = [one.source for one in found_passes]
    timed = sorted(sources, key=lambda source: "timestamps" not in source.name.casefold())
    passes = {one.source.name: one for one in found_passes}
    base = found_passes[0]
    n = len(base.names)
    if not n:
        raise base.source.error("the table has no dispatch")
    found: dict[str, Callable[[], Floats]] = {}
    time, rule = np.full(n, np.nan), ""
    places = {name: _places(base, one) for name, one in passes.items()}
    absent = max(int((place < 0).sum()) for place in places.values())
    for table, place in places.items():
        for name, column in passes[table].counters.items():
            found.setdefault(name, functools.partial(_placed, column, place))
    for source in timed:
        measured = passes[source.name].time
        if measured is not None:
            time = _placed(measured.copy, places[source.name])
            rule = f"{passes[source.name].time_rule} of {PurePosixPath(source.name).name}"
            break
    warnings = [message for one in passes.values() for message in one.warnings]
    if absent:
        warnings.append(f"{absent} of {n} dispatches are missing in one of the passes, so their counts are unknown")
    return Joined(base.names, time, rule, Counters(list(found), lambda name: found[name]()), base.fields, warnings)


def _placed(column: Callable[[], Floats], place: Places) -> Floats:
    """Return a column in the first pass's order, NaN where a dispatch is missing."""
    values = column()
    if not len(values):
        return np.full(len(place), np.nan)
    return np.where(place < 0, np.nan, values[place])


def _places(base: Pass, other: Pass) -> Places:
    """Return the row of `other` for each row of `base`, -1 if missing."""
    n = len(base.names)
    if other is base:
        return np.arange(n)
    if base.ids is not None and other.ids is not None:
        _, mine, theirs = np.intersect1d(base.ids, other.ids, assume_unique=True, return_indices=True)
        place = np.full(n, -1)
        place[mine] = theirs
    elif len(other.names) == n:
        place = np.arange(n)
    else:
        raise other.source.error(
            f"has {len(other.names)} dispatches and {base.source.name} has {n}: the passes are not of one program"
        )
    known = np.flatnonzero(place >= 0)
    differ = known[other.names[place[known]] != base.names[known]]
    if len(differ):
        row = int(place[differ[0]])
        raise other.source.error(
            f"is kernel {other.names[row]!r:.60}, but {base.names[differ[0]]!r:.60} in {base.source.name}",
            row=other.lines[row],
        )
    return place


def read_table_of(source: Source) -> Pass:
    """Read one table.

    Raises
    ------
    ProfileError
        If the table is invalid.
    """
    rows = read_table(
        source, header=lambda cells: any(word in cells for word in KERNEL) and _measures(cells), only_rows=True
    )
    # AMD's tools write numbers with a decimal point whatever the locale.
    rows.decimal = "."
    kernel = next(word for word in KERNEL if word in rows.columns)
    names = np.array([kernel_name(name) for name in rows.texts(kernel)], dtype=object)
    ids, (time, rule) = _ids(rows), seconds(rows)
    warnings = [*rows.open_end(), *_coarse(rows, time)]
    if all(word in rows.columns for word in _LONG):
        return _pivoted(source, rows, Pass(source, names, ids, time, rule, {}, rows.lines, warnings=warnings))
    unique = ids if ids is not None and len(np.unique(ids)) == len(ids) else None
    counters = {name: functools.partial(_counted, rows, name) for name in rows.columns}
    fields = {name: functools.partial(rows.numbers, name) for name in rows.columns}
    return Pass(source, names, unique, time, rule, counters, rows.lines, fields, warnings)


def kernel_name(name: str) -> str:
    """Return a kernel's name without the suffix of its descriptor.

    Examples
    --------
    >>> kernel_name("wipe(float*) [clone .kd]"), kernel_name("")
    ('wipe(float*)', 'kernel')
    """
    return _CLONE.sub("", name.strip()) or "kernel"


def _measures(cells: Sequence[str]) -> bool:
    wanted = {*_DURATION, *_END, *_LONG}
    return any(cell in wanted or cell.startswith(("SQ_", "TCC_", "TCP_", "GRBM_")) for cell in cells)


def _ids(rows: DelimitedTable) -> Integers | None:
    name = first_in(_DISPATCH, rows.columns)
    return None if name is None else _whole(rows, name)


def _whole(rows: DelimitedTable, name: str, *, is_mean: bool = False) -> Integers:
    """Return whole numbers as exact ints, because a double cannot hold nanoseconds since 1970 exactly.

    With `is_mean`, numbers may have decimals, which are left out.
    """
    cells = rows.texts(name)
    # An array of texts has room for the longest text in every row.
    if max(map(len, cells), default=0) <= _MAX_DIGITS:
        with suppress(ValueError, OverflowError):
            return np.array(cells, dtype=np.str_).astype(np.int64) if cells else np.zeros(0, dtype=np.int64)
    numbers = rows.numbers(name)
    exact = [_exactly(rows, name, row, number, is_mean=is_mean) for row, number in enumerate(numbers.tolist())]
    return np.array(exact, dtype=np.int64)


def _exactly(rows: DelimitedTable, name: str, row: int, number: float, *, is_mean: bool) -> int:
    cell = rows.texts(name)[row].strip()
    if is_mean and cell.partition(".")[2].isdecimal():
        cell = cell.partition(".")[0]
    if len(cell) <= _MAX_DIGITS and cell.isdecimal() and int(cell) < COUNTER_LIMIT:
        return int(cell)
    # A spreadsheet rounds nanoseconds since 1970, which makes all durations wrong.
    if not (number <= _MAX_EXACT_FLOAT and number.is_integer()):
        raise rows.error(row, name, f"expected a whole number with all digits, got {cell!r:.60}")
    return int(number)


def _counted(rows: DelimitedTable, name: str) -> Floats:
    """Return a counter. A larger number than any counter counts, times its weight, may be too large for a double."""
    counts = rows.numbers(name)
    if (counts >= COUNTER_LIMIT).any():
        row = int(np.argmax(counts >= COUNTER_LIMIT))
        raise rows.error(row, name, f"expected a count below 2^63, got {rows.texts(name)[row]!r:.60}")
    return counts


def seconds(rows: DelimitedTable) -> tuple[Floats | None, str]:
    """Return the seconds of each row (None if the table has no times), and the columns that they come from."""
    start, end, duration = (first_in(words, rows.columns) for words in (_START, _END, _DURATION))
    if start is not None and end is not None:
        # rocprof-compute writes the means of its passes, which are no whole numbers.
        whole = _whole(rows, end, is_mean=True) - _whole(rows, start, is_mean=True)
        elapsed = whole + (_decimals(rows.texts(end)) - _decimals(rows.texts(start)))
        if (elapsed < 0).any():
            raise rows.error(int((elapsed < 0).argmax()), end, f"the kernel ends before it starts ('{start}')")
        steps = np.maximum(_steps(rows.texts(start)), _steps(rows.texts(end)))
        seconds = np.where(elapsed < _MIN_STEPS * steps, np.nan, elapsed / _NANOSECONDS)
        return np.asarray(seconds, dtype=np.float64), f"{end} - {start}"
    if duration is None:
        return None, ""
    return rows.numbers(duration) / _NANOSECONDS, duration


def _decimals(cells: Sequence[str]) -> Floats:
    """Return what is behind the point of each cell without an exponent.

    Examples
    --------
    >>> _decimals(["1248227792639148.5", "1700000000000000123", "8.1097E+14"]).tolist()
    [0.5, 0.0, 0.0]
    """
    behind = [cell.strip().partition(".")[2] for cell in cells]
    return np.array([float(f"0.{digits}") if digits.isdecimal() else 0.0 for digits in behind])


def _steps(cells: Sequence[str]) -> Floats:
    """Return how many nanoseconds a step of the last written digit is, for each cell.

    The last digit of ``8.1097E+14`` stands for 1e10 ns. A cell without an exponent has all digits. Its step is 0.

    Examples
    --------
    >>> _steps(["1700000000000000123", "8.1097E+14", "12.0"]).tolist()
    [0.0, 10000000000.0, 0.0]
    """
    found = [_EXPONENT.fullmatch(cell.strip()) for cell in cells]
    steps = [0.0 if one is None else 10.0 ** (int(one["exponent"]) - len(one["decimals"] or "")) for one in found]
    return np.array([step if step > 1 else 0.0 for step in steps], dtype=np.float64)


def _coarse(rows: DelimitedTable, time: Floats | None) -> list[str]:
    name = first_in(_END, rows.columns)
    if name is None or time is None or not np.isnan(time).any():
        return []
    unknown = np.flatnonzero(np.isnan(time))
    what = f"the times of {len(unknown)} of {len(rows)} dispatches are unknown: '{name}' is rounded"
    cell = rows.texts(name)[unknown[0]]
    return [f"{what}, as in {cell!r:.40}; a spreadsheet does this, so read the file that the profiler wrote"]


def _pivoted(source: Source, rows: DelimitedTable, flat: Pass) -> Pass:
    """Turn a table with a row per counter into a row per dispatch; repeated counters of a dispatch are summed."""
    if flat.ids is None:
        raise source.error(f"the table has none of the columns {listed(_DISPATCH)}")
    unique, first, dispatch = np.unique(flat.ids, return_index=True, return_inverse=True)
    counters = rows.texts(_LONG[0])
    place = {word: number for number, word in enumerate(sorted(set(counters)))}
    code = np.array([place[word] for word in counters], dtype=np.intp)
    values = _counted(rows, _LONG[1])

    def column(number: int) -> Floats:
        mine = code == number
        total = np.bincount(dispatch[mine], values[mine], len(unique))
        return np.where(np.bincount(dispatch[mine], minlength=len(unique)) > 0, total, np.nan)

    columns = {word: functools.partial(column, number) for word, number in place.items()}
    time = None if flat.time is None else flat.time[first]
    lines = [rows.lines[row] for row in first]
    return Pass(source, flat.names[first], unique, time, flat.time_rule, columns, lines, warnings=flat.warnings)
