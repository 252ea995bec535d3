"""What a column of a table means, judged by its header: the words, the unit, and what is not certain.

All words and all spellings of units are in this file. A header is split into its unit and its other words. Words that
only describe, such as "total" or "kernel", are left out. What remains is looked up in `_NOUNS`. A header with a word of
`_NO_AMOUNT` is a share, a moment, a size or a statistic, and never an amount.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

from roofwidget import units
from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.precisions import PRECISION_ALIASES, precision_key

_MAX_CACHED_NAMES: Final = 4096
"""Many files have the same columns."""

# -- words ---------------------------------------------------------------------------------------------------------

RATIOS: Final = ("intensity", "rate")
FIELDS: Final = ("name", "flops", "bytes", "time", "precision", "category", "count", "self_time", *RATIOS)
CHIP: Final = "chip"
"""The name of the field for the chip that the kernels ran on."""
BANDWIDTH: Final = "bandwidth"
"""The name of the field for bytes per second. Times seconds it gives bytes."""
BASE_UNITS: Final[Mapping[str, str]] = {
    "flops": "FLOP",
    "bytes": "B",
    "time": "s",
    "self_time": "s",
    "intensity": "FLOP/B",
    "rate": "FLOP/s",
    BANDWIDTH: "B/s",
}
"""The quantities, and their units in `Kernels`."""


def _phrases(text: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in text.split(","))


_NAMES: Final = _phrases(
    "name, kernel name, kernel, demangled name, op name, operation name, operation, operator, op, layer name, layer,"
    "region"
)
# Used as names if no column has a word above: a table of a suite may have "benchmark" beside "kernel".
_OTHER_NAMES: Final = _phrases(
    "function name, function, function call sites and loops, routine, benchmark name, benchmark, loop, application,"
    "app, algorithm"
)
# Libraries write an index of rows under these names. It has the names of kernels if no other column has them.
_INDEXES: Final = frozenset({"index", "level_0", "__index_level_0__", "Unnamed: 0"})
_TEXTS: Final = {
    "precision": _phrases("precision, dtype, data type"),
    "category": _phrases("category, type, kind"),
    CHIP: _phrases("measured on, ran on"),
}
_COUNTS: Final = _phrases(
    "count, calls, launches, invocations, instances, occurrences, call count, launch count, anzahl, aufrufe"
)
_NOUNS: Final = {
    "time": _phrases(
        "time, duration, runtime, run time, latency, elapsed, elapsed time, walltime, wall time, wall clock time,"
        "execution time, exec time, zeit, laufzeit, dauer"
    ),
    "self_time": _phrases("self time"),
    "flops": _phrases(
        "flops, flop, flop count, flops count, work, floating point operations, fp operations,"
        "op count, ops count, operation count, operations count, operations"
    ),
    "bytes": _phrases(
        "bytes, bytes accessed, bytes moved, bytes transferred, data moved, data transferred, data volume, traffic,"
        "memory traffic, traffic bytes, memory bytes, memory data volume, data traffic, datenvolumen"
    ),
    "intensity": _phrases(
        "ai, oi, intensity, arithmetic intensity, operational intensity, computational intensity, arith intensity,"
        "op intensity, arithmetische intensität, intensität"
    ),
    "rate": _phrases(
        "performance, perf, rate, flops, flop, flop rate, flops rate, throughput, speed, compute, compute performance,"
        "compute throughput, achieved, measured, attained, rechenleistung, leistung"
    ),
    BANDWIDTH: _phrases("bandwidth, bw, memory bandwidth, mem bandwidth, memory bw, mem bw, throughput, bandbreite"),
}
# Without a unit these are FLOPs, bytes and seconds. Tools write all other amounts and times in different units.
_IN_BASE_UNITS: Final = {
    "time": _phrases("time, total time"),
    "self_time": _phrases("self time, total self time, self_time"),
    "flops": _phrases("flops, flop, flop count, total flops, total flop"),
    "bytes": _phrases("bytes, bytes accessed, bytes moved, data moved, memory traffic, traffic"),
    "rate": _phrases("rate"),
}
# Words of a count or a rate: "Performance (GFLOPS)" is a rate, "GFLOPS count" is none.
_RATE_WORDS: Final = _phrases("performance, perf, rate, throughput, rechenleistung, per second")
_COUNT_WORDS: Final = _phrases("count, number, work")
_DESCRIBING: Final = _phrases("total, sum, overall, kernel, gpu, device, measured, achieved, actual, attained, gesamt")
_AVERAGE: Final = _phrases("avg, average, mean, mittel, mittelwert")
_LAUNCH: Final = r"(?:call|launch|invocation|instance|execution)"
_PER_LAUNCH: Final = re.compile(rf"\bper {_LAUNCH}\b")
_NO_AMOUNT: Final = frozenset(
    [
        "per",
        "share",
        "percent",
        "percentage",
        "pct",
        "fraction",
        "ratio",
        "utilization",
        "utilisation",
        "util",
        "efficiency",
        "eff",
        "occupancy",
        "hit",
        "miss",
        "start",
        "end",
        "begin",
        "stop",
        "since",
        "origin",
        "bound",
        "timestamp",
        "min",
        "max",
        "minimum",
        "maximum",
        "std",
        "stddev",
        "dev",
        "deviation",
        "var",
        "variance",
        "median",
        "med",
        "percentile",
        "quantile",
        "p50",
        "p90",
        "p95",
        "p99",
        "id",
        "ids",
        "idx",
        "index",
        "grid",
        "block",
        "register",
        "registers",
        "regs",
        "shared",  # shared memory of a launch
        "size",
        "sizes",
        "footprint",
        "capacity",
        "allocated",
        "alloc",
        "reserved",
        "peak",
        "theoretical",
        "roof",
        "ceiling",
        "attainable",
        "ideal",
        "limit",
        "target",
        "expected",
        "predicted",
        "speedup",
        "factor",
        "error",
        "diff",
        "delta",
        "cumulative",
        "clock",
        "frequency",
        "power",
        "energy",
        "temperature",
        "date",
        "version",
    ]
)
_DIRECTIONS: Final = {
    **dict.fromkeys(("read", "reads", "rd", "gelesen"), "read"),
    **dict.fromkeys(("write", "writes", "written", "wr", "geschrieben"), "written"),
}
"""Words of bytes that are only read or only written. Bytes are the sum of both."""
_FOOTPRINTS: Final = _phrases("mem, memory, memory usage, mem usage, memory used, mem used")
"""The memory that a kernel occupies."""
_LEVELS: Final = frozenset(["dram", "hbm", "l1", "l2", "l3", "lds", "smem", "vmem", "cmem", "llc", "mall"])
_HINTS: Final = {
    "time": frozenset({"time", "duration", "latency", "elapsed", "runtime", "seconds"}),
    "flops": frozenset({"flop", "flops"}),
    "bytes": frozenset({"bytes", "traffic"}),
}
"""Words that make a message ask about a column of which the other words are unknown."""

# -- units ---------------------------------------------------------------------------------------------------------

# Upper and lower case do not matter: no kernel takes megaseconds, so "Ms" means milliseconds.
_TIME_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sekunden"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "usec", "usecs", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("ps", "psec", "picosecond", "picoseconds"), "ps"),
}
_SECOND: Final = r"(?:s|sec|secs|second|seconds)"
_OPERATIONS: Final = re.compile(
    rf"(?P<prefix>[kmgtpe]?)(?P<unit>flops?|(?<=[kmgtpe])(?:ops?|f(?=/))|ops?(?=/))(?P<rate>/{_SECOND})?", re.IGNORECASE
)
_BYTES: Final = re.compile(rf"(?P<prefix>[kmgtp]i?|)(?P<unit>b|bytes?)(?P<rate>/{_SECOND}|ps)?", re.IGNORECASE)
_INTENSITY: Final = re.compile(r"(?P<prefix>[kmgtp]?)(?:flops?|ops?|f)/(?P=prefix)(?:b|bytes?)", re.IGNORECASE)
# A column with one of these units is not read as FLOPs, bytes or seconds.
_OTHER_UNITS: Final = frozenset(
    [
        "%",
        "percent",
        "pct",
        "#",
        "-",
        "1",
        "n/a",
        "count",
        "calls",
        "inst",
        "inst/cycle",
        "cycle",
        "cycles",
        "tick",
        "ticks",
        "min",
        "h",
        "hours",
        "minutes",
        "hz",
        "mhz",
        "ghz",
        "w",
        "mw",
        "j",
        "mj",
        "c",
        "k",
        "x",
        "warp",
        "warps",
        "thread",
        "threads",
        "block",
        "blocks",
        "register/thread",
        "byte/block",
        "sector",
        "sectors",
    ]
)


# A factor without a unit, as in "op count (x10^9)", "FLOPs (billions)" or "[G]". The other words tell the unit. "m" is
# none: it may be milli, minutes or mega.
_FACTOR: Final = re.compile(
    r"[x*\u00d7]? ?(?:(?:10 ?(?:\^|\*\*) ?|1(?:\.0*)?e)[({]?(?P<power>[+-]?\d{1,2})[)}]?"
    r"|10(?P<raised>[\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,3}))",
    re.IGNORECASE,
)
_RAISED: Final = str.maketrans("\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "-0123456789")
_PREFIX_OF_POWER: Final = {3: "k", 6: "M", 9: "G", 12: "T", 15: "P", -3: "m", -6: "u", -9: "n"}
_PREFIXES: Final = {
    **dict.fromkeys(("k", "K", "thousand", "thousands", "kilo"), "k"),
    **dict.fromkeys(("M", "million", "millions", "mega", "Mio"), "M"),
    **dict.fromkeys(("G", "billion", "billions", "giga", "Mrd"), "G"),
    **dict.fromkeys(("T", "trillion", "trillions", "tera"), "T"),
    **dict.fromkeys(("P", "peta"), "P"),
    **dict.fromkeys(("u", "micro"), "u"),
    **dict.fromkeys(("n", "nano"), "n"),
    **{f"{prefix}i": f"{prefix}i" for prefix in "KMGTP"},
}
_NO_UNIT: Final = frozenset({"", "-", "--", "1", "n/a", "none"})
_UNITS_OF_COUNTS: Final = frozenset({"#", "count", "calls", "launches"})


@dataclass(frozen=True)
class Unit:
    """A unit in our spelling, and the quantity that it measures.

    Parameters
    ----------
    field
        The quantity; empty for a factor such as ``10^9``, which fits any quantity.
    text
        The unit, which `units.parse` understands; empty if its meaning is not clear.
    other
        ``"GFLOP/s"`` for a word such as "GFLOPS", which may be a count or a rate; else empty.
    """

    field: str
    text: str
    other: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The possible units in our spelling."""
        return tuple(filter(None, (self.text, self.other)))


def unit_of(text: str) -> Unit | None:
    """Return the unit that a text is, in any usual spelling; None if it is none of ours.

    Examples
    --------
    >>> [unit_of(text).text for text in ("\u00b5s", "MBps", "KiB", "Gflop/sec", "FLOPs/Byte", "Mbyte")]
    ['us', 'MB/s', 'KiB', 'GFLOP/s', 'FLOP/B', 'MB']
    >>> unit_of("GFLOPS"), unit_of("Gb/s"), unit_of("min")
    (Unit(field='flops', text='GFLOP', other='GFLOP/s'), Unit(field='bandwidth', text='', other=''), None)
    """
    text = _one_line(text).replace("\u00b5", "u").replace("\u03bc", "u")
    text = re.sub(r" ?(?:/|\bper\b) ?", "/", text)
    if (time := _TIME_UNITS.get(text.casefold())) is not None:
        return Unit("time", time)
    if _INTENSITY.fullmatch(text):
        return Unit("intensity", "FLOP/B")
    if found := _OPERATIONS.fullmatch(text):
        prefix, word = found["prefix"].upper().replace("K", "k"), found["unit"]
        if found["rate"]:
            return Unit("rate", f"{prefix}FLOP/s")
        # "FLOPs" and "flops" are ours for a count; with a prefix, or in capitals, people write them for rates too.
        may_be_rate = word.casefold().endswith("s") and (prefix or word.isupper())
        return Unit("flops", f"{prefix}FLOP", f"{prefix}FLOP/s" if may_be_rate else "")
    if found := _BYTES.fullmatch(text):
        prefix, word = _byte_prefix(found["prefix"]), found["unit"]
        field = BANDWIDTH if found["rate"] else "bytes"
        # "Gb/s" and "gbps" may be bits.
        may_be_bits = word == "b" and (found["prefix"][:1].isupper() or found["rate"] == "ps")
        return Unit(field, "" if may_be_bits else f"{prefix}B{'/s' if found['rate'] else ''}")
    return None


def _factor_of(text: str) -> Unit | None:
    """Return a factor without a unit, as its prefix; None for other texts.

    Examples
    --------
    >>> [_factor_of(text).text for text in ("x10^9", "1e6", "10\u2079", "billions", "G")], _factor_of("m")
    (['G', 'M', 'G', 'G', 'G'], None)
    """
    text = _one_line(text).replace("\u00b5", "u").replace("\u03bc", "u").replace("\u2212", "-")
    if found := _FACTOR.fullmatch(text):
        prefix = _PREFIX_OF_POWER.get(_whole(found["power"] or found["raised"].translate(_RAISED)))
        return Unit("", prefix) if prefix else None
    prefix = _PREFIXES.get(text, _PREFIXES.get(text.casefold()) if len(text) > len("Gi") else None)
    return Unit("", prefix) if prefix else None


def _whole(text: str) -> int:
    """Return a whole number; 0 for a text such as ``"--3"``."""
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else 0


def _one_line(text: str) -> str:
    """Return a text in which each run of white space is one space. On long runs, patterns would be slow."""
    return " ".join(text.split())


def _byte_prefix(text: str) -> str:
    first = text[:1].upper()
    return ("k" if first == "K" and len(text) == 1 else first) + text[1:].casefold()


def is_unit(text: str) -> bool:
    """Return whether a cell of a row of units is a unit, also one that is no amount, such as ``%``, or a factor.

    Examples
    --------
    >>> [is_unit(cell) for cell in ("[us]", "%", "GB/s", "[-]", "10^9", "gemm")]
    [True, True, True, True, True, False]
    """
    bare = _bare(text)
    return bare.casefold() in _OTHER_UNITS or unit_of(bare) is not None or _factor_of(bare) is not None


def is_no_unit(text: str) -> bool:
    """Return whether a cell of a row of units says that its column has none.

    Examples
    --------
    >>> [is_no_unit(cell) for cell in ("[-]", "", "1", "us")]
    [True, True, True, False]
    """
    return _bare(text).casefold() in _NO_UNIT


def _bare(text: str) -> str:
    return text.strip().strip("[]()").strip()


_NUMBER_AND_UNIT: Final = re.compile(
    r"(?=(?P<number>[-+]?[\d.,'\u2019\u00a0\u202f]+(?:[eE][-+]?\d+)?))(?P=number)\s*(?P<unit>[^\d\s.,].*)"
)
_EMPTY: Final = frozenset({"", "-", "--", "n/a", "na", "nan", "none", "null"})
Numbers: TypeAlias = Callable[[Sequence[str]], tuple[Floats, int | None]]


def take_units(columns: dict[str, Any], names: Iterable[str], numbers: Numbers) -> dict[str, str]:
    """Replace columns of texts such as ``"1.5 ms"`` by numbers in base units. Return the units of these columns.

    A column is left as it is if a cell has no unit, or two cells have units of different quantities.

    Parameters
    ----------
    columns
        The cells by column. The function changes it.
    names
        The columns to look at.
    numbers
        Returns the numbers of texts, and the first that is none.

    Examples
    --------
    >>> cells = {"time": ["1.5 ms", "20us"], "name": ["3 x", "4 x"]}
    >>> take_units(cells, ["time", "name"], lambda texts: (np.array(texts, dtype=float), None)), cells["time"].tolist()
    ({'time': 's'}, [0.0015, 2e-05])
    """
    found: dict[str, str] = {}
    for name in names:
        cells = columns[name]
        if isinstance(cells, np.ndarray) or not may_have_units(name):
            continue
        different = cells.values if isinstance(cells, DictColumn) else cells
        first = next(
            (cell for cell in different if isinstance(cell, str) and cell.strip().casefold() not in _EMPTY), ""
        )
        if number_and_unit(first) is None:
            continue
        taken = _without_units(cells, numbers)
        if taken is not None:
            columns[name], found[name] = taken
    return found


INDEX: Final = "index"
"""The name of an index without a name."""


def named_by_index(names: Sequence[str], is_text: Callable[[str], bool]) -> str | None:
    """Return the column with an index that has the names of kernels; None if another column has them.

    Examples
    --------
    >>> named_by_index(["index", "flops"], lambda name: True), named_by_index(["index", "kernel"], lambda name: True)
    ('index', None)
    """
    if any(one is not None and one.key == "name" for one in map(meaning, names)):
        return None
    return next((name for name in names if name in _INDEXES and is_text(name)), None)


UNCLEAR: Final = "several units"
"""The unit of a column whose cells have units that are not known or not of one quantity."""


def units_beside(names: Sequence[str]) -> dict[str, str]:
    """Return the columns whose next column has the unit of each cell, and that column.

    Examples
    --------
    >>> units_beside(["kernel", "time", "time_unit", "work", "Unit", "name"])
    {'time': 'time_unit', 'work': 'Unit'}
    """
    return {
        name: following
        for name, following in itertools.pairwise(names)
        if " ".join(_words(following))
        in {f"{' '.join(_words(name))} {unit}".strip() for unit in ("unit", "units")} | {"unit", "units"}
    }


def with_units(cells: Iterable[Any], beside: Iterable[Any]) -> list[str]:
    """Return the cells of a column with the units that stand in another column."""
    return [f"{cell} {unit}" if str(cell).strip() else "" for cell, unit in zip(cells, beside, strict=True)]


def may_have_units(column: str) -> bool:
    """Return whether the cells of a column may have units, judged by its header.

    Examples
    --------
    >>> may_have_units("Throughput"), may_have_units("kernel"), may_have_units("comment")
    (True, False, False)
    """
    meant = (meaning(column, unit) for unit in BASE_UNITS.values())
    return any(one is not None and one.field in BASE_UNITS and one.doubt != "words" for one in meant)


def number_and_unit(cell: str) -> tuple[str, str] | None:
    """Return the two parts of a cell such as ``"1.5 ms"``; None for a cell of another form."""
    found = _NUMBER_AND_UNIT.fullmatch(cell.strip())
    return (found["number"], found["unit"]) if found else None


def unit_in(cell: str) -> str:
    """Return the unit of a cell that is a number with one of our units; else an empty text."""
    found = number_and_unit(cell)
    return found[1] if found and unit_of(found[1]) is not None else ""


def _without_units(cells: Sequence[Any], numbers: Numbers) -> tuple[Floats, str] | None:
    """Return the numbers of texts with units in base units, and the base unit; None if a text has no unit."""
    different = [
        cell for cell in dict.fromkeys(cells) if cell is not None and str(cell).strip().casefold() not in _EMPTY
    ]
    parted = [number_and_unit(str(cell)) for cell in different]
    known = [unit_of(found[1]) if found else None for found in parted]
    fields = {(unit.field, bool(unit.other)) if unit and unit.text else None for unit in known}
    if len(fields) != 1 or None in fields:
        return None
    values, bad = numbers([found[0] for found in parted if found])
    if bad is not None:
        return None
    # The text with a unit converts without a second rounding.
    taken = [
        value if np.isnan(value) else units.parse(f"{value!r} {unit.text}", BASE_UNITS[unit.field], "the cell")
        for value, unit in zip(values.tolist(), known, strict=True)
        if unit is not None
    ]
    by_cell = dict(zip(different, taken, strict=True))
    ((field, is_unclear),) = [one for one in fields if one is not None]
    found = np.array([by_cell.get(cell, np.nan) for cell in cells], dtype=np.float64)
    return found, "FLOPS" if is_unclear else BASE_UNITS[field]


def stem(key: str) -> str:
    """Return the field without the precision or the level after its colon."""
    return key.partition(":")[0]


def is_regular(name: str) -> bool:
    """Return whether a column has the name of a regular column of `Kernels`, which none of `Kernels.extra` has."""
    return (name in FIELDS and name not in RATIOS) or name.startswith(("flops:", "bytes:", "origin:"))


def extra_name(name: str, tool: str) -> str:
    """Return the name in `Kernels.extra` of a column that only a tool's file has.

    Examples
    --------
    >>> extra_name("count", "Caliper"), extra_name("mpi.rank", "Caliper")
    ('count (Caliper)', 'mpi.rank')
    """
    return f"{name} ({tool})" if is_regular(name) else name


# -- headers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Meaning:
    """What a column means.

    Parameters
    ----------
    column
        The column.
    key
        The field, with a precision or a level: ``"time"``, ``"flops:fp64"``, ``"bytes:L2"``, ``"rate"`` …
    units
        The possible units; none if no unit is known, two if the column may be a count or a rate.
    doubt
        Why the column is not used unless the user names it: ``"words"`` if other words than those of the field are in
        the header, ``"unit"`` if no unit is known, ``"rate"`` if it may be a count or a rate, ``"footprint"`` for the
        memory that a kernel occupies. Empty without a doubt.
    per_launch
        Whether the number is that of one launch.
    is_bare
        Whether the header is a unit and has no other word, or is a word that other columns of names go before.
    direction
        ``"read"`` or ``"written"`` for bytes that are only a part of all bytes.
    also
        The column whose numbers are added: bytes written for bytes read.
    """

    column: str
    key: str
    units: tuple[str, ...] = ()
    doubt: str = ""
    per_launch: bool = False
    is_bare: bool = False
    direction: str = ""
    also: Meaning | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return (self.column,) if self.also is None else (self.column, *self.also.columns)

    @property
    def field(self) -> str:
        """The field without precision or level."""
        return stem(self.key)

    @property
    def keyword(self) -> str:
        """The keyword of ``columns=`` for this column. A bandwidth is given as bytes with a rate's unit."""
        return self.key.replace(BANDWIDTH, "bytes")


@functools.lru_cache(_MAX_CACHED_NAMES)
def meaning(column: str, unit: str = "", *, in_cells: bool = False) -> Meaning | None:
    """Return what a column means; None for a column that is no field.

    Parameters
    ----------
    column
        The header.
    unit
        The unit that a row of units, or the cells themselves, give. A unit in the header has priority over a row.
    in_cells
        Whether the cells had the unit, which has priority over the header.

    Examples
    --------
    >>> meaning("Kernel Time [us]").key, meaning("Kernel Time [us]").units
    ('time', ('us',))
    >>> [meaning(header).key for header in ("AI (FLOP/byte)", "Perf [GFLOP/s]", "DRAM bytes", "# of Calls")]
    ['intensity', 'rate', 'bytes:DRAM', 'count']
    >>> meaning("Time (%)"), meaning("Min (ns)"), meaning("Block ID"), meaning("speedup")
    (None, None, None, None)
    """
    head, colon, key = column.partition(":")
    if colon and head in FIELDS:
        return Meaning(column, column, (BASE_UNITS[head],)) if head in {"flops", "bytes"} and key else None
    words, found, is_stated = _parts(column, unit)
    if in_cells:
        found = unit_of(unit)
    phrase = " ".join(words)
    if not is_stated:
        field = (
            "name"
            if phrase in _NAMES | _OTHER_NAMES
            else next((one for one, known in _TEXTS.items() if phrase in known), None)
        )
        if field is not None:
            return Meaning(column, field, is_bare=phrase in _OTHER_NAMES)
    if words:
        return _of_words(column, words, found, is_stated=is_stated)
    if found is None or column.casefold() == "b":
        return None
    # A column "MB" may be the memory that a kernel occupies, and a column "s" may be anything.
    is_unclear = not found.text or found.field == "bytes" or column.strip().casefold() == "s"
    doubt = "rate" if found.other else "words" if is_unclear else ""
    return Meaning(column, found.field, found.options, doubt, is_bare=True)


def _of_words(column: str, words: Sequence[str], unit: Unit | None, *, is_stated: bool) -> Meaning | None:
    """Return what the words of a header mean, with the unit that it states."""
    phrase = " ".join(words)
    per_launch = bool(_AVERAGE.intersection(words)) or _PER_LAUNCH.search(phrase) is not None
    words = [word for word in _PER_LAUNCH.sub("", phrase).split() if word not in _AVERAGE]
    if _NO_AMOUNT.intersection(words) or (is_stated and unit is None and _IS_SHARE.search(column)):
        return None
    directions = {_DIRECTIONS[word] for word in words if word in _DIRECTIONS}
    if directions:
        rest = [word for word in words if word not in _DIRECTIONS and not (len(directions) > 1 and word == "and")]
        found = _of_amount(column, rest, unit, per_launch=per_launch, is_stated=is_stated, is_traffic=True)
        if found is not None and found.field in {"bytes", BANDWIDTH} and found.doubt != "words":
            return replace(found, direction=next(iter(directions)) if len(directions) == 1 else "")
    return _of_amount(column, words, unit, per_launch=per_launch, is_stated=is_stated)


def _of_amount(
    column: str, words: Sequence[str], unit: Unit | None, *, per_launch: bool, is_stated: bool, is_traffic: bool = False
) -> Meaning | None:
    """Return what words mean that have no word of an average, a share or a direction.

    `is_traffic` says that the header has a word of a direction, so that bytes of a level need no further word.
    """
    level = next((word.upper() for word in words if word in _LEVELS), "")
    precision = next((precision_key(word) for word in words if _PRECISION.fullmatch(word)), "")
    core = " ".join(word for word in words if word not in _LEVELS and not _PRECISION.fullmatch(word))
    stripped = " ".join(word for word in core.split() if word not in _DESCRIBING)
    if is_traffic and level and not core:
        core = stripped = "data traffic"
    if unit is None:
        found = _without_unit(core, stripped, is_stated=is_stated)
    elif not unit.field:
        found = _with_factor(core, stripped, unit.text)
    else:
        found = _with_unit(core, stripped, unit, is_known_unit=unit.text != "")
    if found is None:
        return None
    field, options, doubt = found
    if level and field in {"bytes", BANDWIDTH, "intensity"}:
        field = f"{field}:{level}"
    elif precision and field in {"flops", "rate"}:
        field = f"flops:{precision}"
    return Meaning(column, field, options, doubt, per_launch)


_Found: TypeAlias = tuple[str, tuple[str, ...], str]


def _with_unit(core: str, stripped: str, unit: Unit, *, is_known_unit: bool) -> _Found | None:
    """Return the field, its possible units and the doubt for words beside a unit."""
    words, field, options = set(core.split()), unit.field, unit.options
    if unit.other and words & _RATE_WORDS:
        field, options = "rate", (unit.other,)
    elif unit.other and words & _COUNT_WORDS:
        options = (unit.text,)
    if field == "time" and stripped in _NOUNS["self_time"]:
        field = "self_time"
    # "FP32 GFLOP" and "L2 GB/s" have no other word, but "L2 (MB)" may be a capacity.
    is_noun = bool({core, stripped} & _NOUNS[field]) or (not core and field != "bytes")
    is_noun = is_noun or (field == BANDWIDTH and stripped in _NOUNS["bytes"])
    if not is_noun:
        # The memory that a kernel occupies is no traffic, and "tokens_s" may be a rate.
        if field == "bytes" and stripped in _FOOTPRINTS:
            return field, options, "footprint"
        is_other = field == "bytes" and (words & {"memory", "mem"} or not words & _HINTS["bytes"])
        if is_other or (unit.text == "s" and not words & _HINTS["time"]):
            return None
    if len(options) > 1:
        return field, options, "rate"
    return field, options, "" if is_noun and is_known_unit else "words" if is_known_unit else "unit"


def _with_factor(core: str, stripped: str, prefix: str) -> _Found | None:
    """Return the field and its unit for words beside a factor, such as FLOPs beside ``10^9``."""
    found = _without_unit(core, stripped, is_stated=False)
    if found is None or found[0] not in BASE_UNITS:
        return None
    field, options, doubt = found
    if doubt == "rate" and set(core.split()) & (_COUNT_WORDS | {"operations"}):
        options, doubt = ("FLOP",), ""
    fits = field == "bytes" if prefix.endswith("i") else (field in {"time", "self_time"}) == (prefix in {"m", "u", "n"})
    if not fits or field == "intensity":
        return field, (), "unit"
    scaled = tuple(f"{prefix}{unit}" for unit in options or (BASE_UNITS[field],))
    return field, scaled, "" if doubt == "unit" else doubt


def _without_unit(core: str, stripped: str, *, is_stated: bool) -> _Found | None:
    """Return the field, its possible units and the doubt for words alone. Few phrases are in base units by convention.

    A unit that we do not know may be stated.
    """
    if {core, stripped} & _COUNTS:
        return ("count", (), "") if not is_stated else None
    if {core, stripped} & _NOUNS["intensity"]:
        return "intensity", ("FLOP/B",), "unit" if is_stated else ""
    for field, phrases in _IN_BASE_UNITS.items():
        if core in phrases and not is_stated:
            return field, (BASE_UNITS[field],), ""
    field = next((one for one, nouns in _NOUNS.items() if {core, stripped} & (nouns - _VAGUE)), "")
    doubt = "unit" if field and not is_stated else "words"
    field = field or next((one for one, hints in _HINTS.items() if hints.intersection(core.split())), "")
    if field == "flops" and not is_stated:
        # FLOPs that are "achieved" or "measured" may be a rate.
        return field, ("FLOP", "FLOP/s"), "rate"
    options = ("B",) if field == "bytes" and "bytes" in core.split() and not is_stated else ()
    return (field, options, doubt) if field else None


def paired(meanings: Iterable[Meaning]) -> list[Meaning]:
    """Return the meanings, where a column of bytes read and one of bytes written are one amount.

    Beside a column of all bytes both are left out. One of them without the other is not all bytes.

    Examples
    --------
    >>> [one.columns for one in paired([meaning("dram_read_bytes"), meaning("dram_write_bytes")])]
    [('dram_read_bytes', 'dram_write_bytes')]
    """
    meanings = list(meanings)
    found = [one for one in meanings if not one.direction]
    parts: dict[tuple[str, bool], dict[str, Meaning]] = {}
    for one in meanings:
        if one.direction:
            parts.setdefault((one.key, one.per_launch), {}).setdefault(one.direction, one)
    for (key, _), by_direction in parts.items():
        if any(one.key == key and not one.doubt for one in found):
            continue
        if len(by_direction) > 1:
            read, written = by_direction["read"], by_direction["written"]
            found.append(replace(read, also=written, doubt=read.doubt or written.doubt))
        else:
            found += [replace(one, doubt=one.doubt or "words") for one in by_direction.values()]
    return found


_IS_SHARE: Final = re.compile(r"%|percent|pct", re.IGNORECASE)
_PRECISION: Final = re.compile(rf"fp\d+|tf32|bf16|{'|'.join(word for word in PRECISION_ALIASES if word.isalnum())}")
# Alone these words have other meanings too.
_VAGUE: Final = frozenset({"work", "speed", "throughput", "leistung", "compute", "achieved", "measured", "attained"})


def _parts(column: str, row_unit: str) -> tuple[list[str], Unit | None, bool]:
    """Return the words of a header in lower case, its unit if we know it, and whether a unit is stated at all."""
    text = re.sub(" ?/ ?", "/", _one_line(column.strip().lstrip("#")))
    is_word = text != "FLOPS" and text.casefold() in _NOUNS_LIKE_UNITS
    if not is_word and (whole := unit_of(text.strip("[]()").replace("_", " "))) is not None:
        return [], whole, True
    if (in_brackets := _bracketed(text)) is not None:
        return in_brackets
    tail = text[-_LONGEST_TAIL:]
    for pattern in _UNIT_AT_END:
        found = pattern.fullmatch(tail)
        # "DRAM bytes" has a noun at its end, "Work in FLOP" a unit.
        if found and (found["mark"] or found["unit"].casefold() not in _NOUNS_LIKE_UNITS):
            unit = unit_of(found["unit"].replace("_", " "))
            if unit is not None:
                return _words(text[: -len(tail)] + found["stem"]), unit, True
    bare = _bare(row_unit)
    if _states_none(bare, text):
        return _words(text), None, False
    return _words(text), unit_of(bare) or _factor_of(bare), True


def _bracketed(text: str) -> tuple[list[str], Unit | None, bool] | None:
    """Return what `_parts` returns for a header with a unit in brackets; None for another header."""
    for opening, closing in ("[]", "()"):
        at, end = text.rfind(opening), text.rfind(closing)
        if not 0 < at < end:
            continue
        stated, rest = text[at + 1 : end].strip().removeprefix("in ").strip(), f"{text[:at]} {text[end + 1 :]}"
        if _states_none(stated, rest):
            return _words(rest), None, False
        for_launch = _FOR_LAUNCH.fullmatch(stated)
        unit = unit_of(for_launch[1] if for_launch else stated) or _factor_of(stated)
        if unit is not None:
            return _words(f"{rest} per call" if for_launch else rest), unit, True
        if not _DESCRIBING_IN_BRACKETS.issuperset(_words(stated)):
            return _words(rest), None, True
    return None


def _states_none(unit: str, words: str) -> bool:
    """Return whether a unit says that the column of these words has none, as ``-`` does, or ``#`` for launches."""
    return unit.casefold() in _NO_UNIT or (unit.casefold() in _UNITS_OF_COUNTS and " ".join(_words(words)) in _COUNTS)


_NOUNS_LIKE_UNITS: Final = frozenset({"flop", "flops", "byte", "bytes"})
_FOR_LAUNCH: Final = re.compile(rf"([^/]+)/{_LAUNCH}")
_DESCRIBING_IN_BRACKETS: Final = _DESCRIBING | _AVERAGE | _LEVELS | {"fp64", "fp32", "fp16", "double", "single"}
# "Runtime in ms", "Time/ms", "GFLOP per s", "duration_ns", "TotalDurationNs". Only the end of a header is searched: the
# patterns try each place for the end of the stem.
_LONGEST_TAIL: Final = 60
_UNIT_AT_END: Final = (
    re.compile(r"(?P<stem>.+) (?P<mark>in) (?P<unit>.+)", re.IGNORECASE),
    re.compile(r"(?P<stem>.*?)(?P<mark>)[ _.,:;-]+(?P<unit>[^ _]+[ _]per[ _][^ _]+|[^ _.,:;-]+)", re.IGNORECASE),
    re.compile(r"(?P<stem>.*?[^\W_])(?P<mark>/)(?P<unit>[^/\s]+(?:/[^/\s]+)?)"),
    re.compile(r"(?P<stem>.*[a-z])(?P<mark>)(?P<unit>Ns|Us|Ms|Sec|Seconds)"),
)


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, without words such as "number of".

    Examples
    --------
    >>> _words("# of Calls"), _words("KernelName"), _words("DRAM read_bytes")
    (['calls'], ['kernel', 'name'], ['dram', 'read', 'bytes'])
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).casefold()
    return [word for word in re.findall(r"%|[^\W_]+", parted) if word not in {"num", "number", "no", "of", "the"}]


# -- advice --------------------------------------------------------------------------------------------------------

_MAX_SHOWN_COLUMNS: Final = 12
_DESCRIBED: Final = {
    "flops": "FLOPs of the kernel",
    "bytes": "bytes that the kernel moves",
    BANDWIDTH: "bytes that the kernel moves",
    "time": "time of all launches",
    "self_time": "time of all launches without nested kernels",
    "intensity": "arithmetic intensity",
    "rate": "rate of the kernel",
}
_SOME_UNITS: Final = {
    "flops": "GFLOP",
    "bytes": "MB",
    "time": "us, ms or s",
    "self_time": "us, ms or s",
    "rate": "GFLOP/s",
    BANDWIDTH: "GB/s",
    "intensity": "FLOP/B",
}
_UNKNOWN: Final = "…"


def question(asked: Meaning, how: str = "pass columns=") -> str:
    """Return the warning that a column is not used, and how to use it.

    The text after ``columns=`` is Python that can be pasted. ``'…'`` is in the place of a unit that nothing tells.

    Examples
    --------
    >>> print(question(meaning("GFLOPs")))
    'GFLOPs' is not used: a count or a rate? pass columns={'flops': ('GFLOPs', 'GFLOP')}, or columns={'flops': ('GFLOPs', 'GFLOP/s')}
    >>> print(question(meaning("duration")))
    'duration' is not used: it has no unit; pass columns={'time': ('duration', '…')} with its unit (us, ms or s) for '…'
    """  # noqa: E501 - a message
    if not asked.doubt:
        return f"'{asked.column}' is not used: it is a rate, and there is no column of seconds"
    if asked.doubt == "footprint":
        return f"'{asked.column}' is not used: the memory that a kernel occupies is no traffic"
    hints = {"rate": "a count or a rate?", "unit": "it has no unit;"}
    hint = hints.get(asked.doubt) or f"if it is the {_DESCRIBED[asked.field]},"
    first, *others = [f"{{'{asked.keyword}': {_given(asked, at)}}}" for at in range(len(asked.units) or 1)]
    more = "".join(f", or columns={other}" for other in others)
    return f"{' + '.join(map(repr, asked.columns))} is not used: {hint} {how}{first}{more}{_fill_in([asked])}"


def _given(asked: Meaning, at: int) -> str:
    """Return what the user writes for a column in one of its possible units, as Python."""
    pair = (asked.column, asked.units[at] if asked.units else _UNKNOWN)
    return repr(pair) if asked.also is None else f"[{pair!r}, {_given(asked.also, at)}]"


def _fill_in(asked: Iterable[Meaning]) -> str:
    """Return the end of a message that says what to write for a unit that nothing tells."""
    fields = dict.fromkeys(one.field for one in asked if not one.units)
    if not fields:
        return ""
    return f" with its unit ({' or '.join(_SOME_UNITS[field] for field in fields)}) for '{_UNKNOWN}'"


def lacking(
    names: Sequence[str],
    known: Collection[str],
    texts: Collection[str] | None = None,
    row_units: Mapping[str, str] | None = None,
) -> str:
    """Return the error message for a table without the needed columns. It lists the columns and says how to name them.

    Parameters
    ----------
    names
        The columns.
    known
        The fields that are found.
    texts
        The columns whose cells are texts; None if that is not known.
    row_units
        Units by column that a row of units or the cells give.

    Examples
    --------
    >>> print(lacking(["ms"], known=["name"]))
    no column of FLOPs, bytes or seconds among 'ms'; name them: columns={'time': ('ms', 'ms')}
    """
    what = [] if "name" in known else ["names"]
    stems = set(map(stem, known))
    if not stems & {"flops", "bytes", "time", "self_time"}:
        what.append("FLOPs, bytes or seconds")
    shown = listed(names[:_MAX_SHOWN_COLUMNS]) + (f" (of {len(names)})" if len(names) > _MAX_SHOWN_COLUMNS else "")
    name = "" if "name" in known else _name_column(names, texts)
    call = {"name": repr(name)} if name else {}
    asked: dict[str, Meaning] = {}
    meanings = (meaning(name, (row_units or {}).get(name, "")) for name in names)
    for one in paired(filter(None, meanings)):
        is_text = texts is not None and one.column in texts
        is_asked = one.field in BASE_UNITS and one.field not in stems and one.doubt != "footprint"
        if is_asked and not is_text and not one.per_launch:
            asked.setdefault(one.keyword, one)
    order = ("flops", "rate", "bytes", "intensity", "time", "self_time")
    asked = dict(sorted(asked.items(), key=lambda item: order.index(stem(item[0]))))
    either = next((one for one in asked.values() if len(one.units) > 1), None)
    template = {} if asked else {"flops": f"('{_UNKNOWN}', 'GFLOP')", "time": f"('{_UNKNOWN}', 'us')"}

    def given(at: int) -> str:
        parts = call | {key: _given(one, at) for key, one in asked.items()} | template
        return "columns={" + ", ".join(f"'{field}': {text}" for field, text in parts.items()) + "}"

    message = f"no column of {' and no column of '.join(what)} among {shown}; name them: {given(-1)}"
    if either:
        message += f" if '{either.column}' is a rate, or {given(0)} if it is a count"
    return message + _fill_in(asked.values())


def _name_column(names: Sequence[str], texts: Collection[str] | None) -> str:
    """Return the column that is most likely that of names: a text, and no quantity and no number of a row."""
    for name in names:
        is_name = meaning(name) is None and not _NO_AMOUNT.intersection(_words(name))
        if name in texts if texts is not None else is_name:
            return name
    return "…" if texts is None else ""


def no_column(column: str, names: Sequence[str]) -> str:
    """Return the message for a named column that does not exist.

    It names the nearest column, or all columns if no name is near.

    Examples
    --------
    >>> no_column("wrok", ["what", "work"])
    "columns: the table has no column 'wrok'; did you mean 'work'?"
    """
    hint = did_you_mean(column, names, f"; there are {listed(names[:20])}")
    return f"columns: the table has no column '{column}'{hint}"
