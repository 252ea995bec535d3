"""Read the output of likwid-perfctr (tables drawn with lines, ``-O`` cells, JSON); sum each group over threads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from roofwidget.readers.amounts import number_or_nan
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.documents import object_at, value_at
from roofwidget.readers.input.source import Source

# -- tables --------------------------------------------------------------------------------------------------------

_TITLE: Final = re.compile(r"(?:Region (?P<region>.*), )?Group (?P<number>\d+): (?P<group>\S+)\s*$")
_TABLE: Final = re.compile(
    r"TABLE,(?:Region (?P<region>.*),)?Group (?P<number>\d+) (?P<kind>[^,]+),(?P<group>[^,]+),(?P<rows>\d+),*$"
)
_STARTS: Final = re.compile(r"^(?:(?:Region .*, )?Group \d+: \S+\s*|TABLE,(?:Region .*,)?Group \d+ .*)$", re.MULTILINE)
_REGION_INFO: Final = "Region Info"
_KINDS: Final = ("Event", "Metric", _REGION_INFO)
_STATISTICS: Final = frozenset({"Sum", "Min", "Max", "Avg"})
_MAX_DIGITS: Final = 9
_NOTHING: Final = frozenset({"-", "", "nan", "-nan", "inf", "-inf", "nil"})
# A larger number means a damaged file, because no machine counts this far.
_MAX_NUMBER: Final = 1e100
_MAX_TEXT_BYTES: Final = 256 * 2**20


@dataclass
class Group:
    """The counters of one group in one region, with one value for each hardware thread.

    Attributes
    ----------
    region
        The marked region, or None for the whole program.
    number, group
        The group's place in the command, and its name.
    run
        The run, counted from 0: a file may hold the output of several runs, one after the other.
    events, metrics
        Values by event and by metric.
    calls
        How often the region ran, by thread.
    region_time
        The region's seconds, by thread.
    """

    region: str | None
    number: int
    group: str
    run: int = 0
    events: dict[str, list[float]] = field(default_factory=dict)
    metrics: dict[str, list[float]] = field(default_factory=dict)
    calls: list[float] = field(default_factory=list)
    region_time: list[float] = field(default_factory=list)

    def add(self, event: str, values: list[float]) -> None:
        """Add the values of an event, which may be counted in several registers."""
        known = self.events.get(event, [0.0] * len(values))
        self.events[event] = [a + b for a, b in zip(known, values, strict=False)]


def has_tables(text: str) -> bool:
    """Whether a text has the title of a group.

    Examples
    --------
    >>> has_tables("Region solve, Group 1: MEM_DP"), has_tables("Group: MEM_DP")
    (True, False)
    """
    return _STARTS.search(text) is not None


def counter_groups(source: Source) -> list[Group]:
    """Return all groups of a file.

    Raises
    ------
    ProfileError
        If a value is not a number, a row has fewer cells than its header, or a table is not closed. The message names
        the line.
    """
    if source.beginning.lstrip()[:1] == "{":
        return list(_of_json(source))
    text = source.text(limit=_MAX_TEXT_BYTES)
    found: dict[tuple[int, str | None, int], Group] = {}
    reader = _GroupReader(source.name)
    run, titles = 0, set[tuple[str | None, int, str]]()
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        title = _TITLE.match(line) or _TABLE.match(line)
        has_end = number < len(lines) or text.endswith("\n")
        if title is not None:
            if not has_end:
                raise cut_off(source.name, number, "the last line has no line end")
            kind = title.groupdict().get("kind", "")
            place = title["region"], _whole(title["number"], source.name, number)
            # Within a run each title appears once, so the same title again is the title of another run.
            if (*place, kind) in titles:
                run, titles = run + 1, set()
            titles.add((*place, kind))
            block = found.setdefault((run, *place), Group(*place, title["group"], run))
            reader.start(block, number, rows=_whole(title["rows"], source.name, number) if kind else None)
        elif reader.block is not None:
            reader.line(line.rstrip(), number, has_end=has_end)
    reader.end(len(lines))
    return list(found.values())


def _whole(digits: str, file: str, number: int) -> int:
    """Return the number of a group or of rows."""
    # Python does not convert thousands of digits.
    if len(digits) > _MAX_DIGITS:
        raise ProfileError(file, f"a title with a number of {len(digits):,} digits", place=f"line {number}")
    return int(digits)


def cut_off(file: str, number: int, what: str) -> ProfileError:
    """Return the error for an incomplete table."""
    return ProfileError(file, f"{what}: the file is cut off or damaged", place=f"line {number}")


def ends_within_a_line(source: Source) -> bool:
    """Whether the output is not JSON and its last line has no line end."""
    return source.beginning.lstrip()[:1] != "{" and not source.text(limit=_MAX_TEXT_BYTES).endswith("\n")


class _GroupReader:
    """Reads the lines under each title into the group of this title."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.block: Group | None = None
        self._is_csv = False
        self._header: list[str] = []
        self._above = ""
        self._is_above_header = False
        self._is_below_header = False
        self._rows_left: int | None = None
        self._rows = 0

    def start(self, block: Group, number: int, *, rows: int | None) -> None:
        """Begin the tables of a group. In CSV the title states the number of `rows`; else `rows` is None."""
        self.end(number - 1)
        self.block, self._is_csv, self._header = block, rows is not None, []
        self._rows_left = self._rows = rows or 0

    def end(self, number: int) -> None:
        """End the tables of a group.

        Raises
        ------
        ProfileError
            If the last table is incomplete. Its last cell may be wrong, and the tables of other groups may be missing.
        """
        if self._is_csv:
            if self.block is not None and self._rows_left:
                got = self._rows - self._rows_left
                raise cut_off(self.file, number, f"the table ends after {got} of {self._rows} rows")
        elif self._header or self._is_above_header:
            raise cut_off(self.file, number, "the table ends without a closing line")

    def line(self, line: str, number: int, *, has_end: bool) -> None:
        if not self._is_csv and line.startswith("+-"):
            self._border(line, number)
            return
        cells = self._cells(line)
        if cells is None:
            return
        if cells[0] in _KINDS:
            self._is_above_header = False
            if not self._is_csv:
                self.end(number - 1)
            self._header = [cell for cell in cells if cell] if self._is_csv else cells
            self._is_below_header = True
            return
        if not self._header or self.block is None:
            return
        if self._is_csv and not has_end and cells[-1]:
            raise cut_off(self.file, number, "the last line has no line end")
        self._row(self.block, cells, number)

    def _border(self, line: str, number: int) -> None:
        """Take a border line. The borders above the header, below the header and below the rows look the same."""
        if self._header and line != self._above:
            raise cut_off(self.file, number, "the table ends without a closing line")
        self._above = line
        self._is_above_header = not self._header
        self._header = self._header if self._is_below_header else []
        self._is_below_header = False

    def _row(self, block: Group, cells: list[str], number: int) -> None:
        # The name of a metric may contain the separator: "L3|MEM evict data volume [GBytes]".
        values = len(self._header) - 1
        spare = len(cells) - len(self._header)
        if self._is_csv and spare > 0 and not any(cells[len(self._header) :]):
            cells, spare = cells[: len(self._header)], 0
        if spare < 0:
            raise cut_off(self.file, number, f"expected {len(self._header)} cells, got {len(cells)}")
        if self._rows_left and self._header[0] != _REGION_INFO:
            self._rows_left -= 1
        name = ("," if self._is_csv else "|").join(cells[: spare + 1])
        if not _STATISTICS & set(self._header):
            self._keep(block, name, cells[-values:], number)

    def _cells(self, line: str) -> list[str] | None:
        if self._is_csv:
            return None if not line or line.startswith("STRUCT") else [cell.strip() for cell in line.split(",")]
        if not line.startswith("|"):
            return None
        if not line.endswith("|"):
            # If several processes write to one file, a row may be broken in two.
            line += "|"
        return [cell.strip() for cell in line[1:-1].split("|")]

    def _keep(self, block: Group, name: str, cells: Sequence[str], number: int) -> None:
        kind = self._header[0]
        if kind == "Event":
            # The second column is the register.
            block.add(name, [_value(self.file, cell, f"line {number}") for cell in cells[1:]])
            return
        values = [_value(self.file, cell, f"line {number}") for cell in cells]
        if kind == "Metric":
            block.metrics[name] = values
        elif name.casefold().startswith("call"):
            block.calls = values
        else:
            block.region_time = values


def _value(file: str, cell: object, place: str) -> float:
    is_nothing = (
        cell.casefold() in _NOTHING if isinstance(cell, str) else isinstance(cell, float) and not math.isfinite(cell)
    )
    if is_nothing:
        return math.nan
    number = number_or_nan(cell)
    if not abs(number) < _MAX_NUMBER:
        raise ProfileError(file, f"expected a number, got {cell!r:.60}", place=place)
    return number


def _of_json(source: Source) -> Iterator[Group]:
    """Yield the groups of the JSON output.

    LIKWID writes only the last region into JSON, without the name of the region.
    """
    document = source.json(nan=True)
    names = [name for name in document if name != "Info"] if isinstance(document, dict) else []
    for number, name in enumerate(names, 1):
        tables = value_at(document, name, name)
        if not isinstance(tables, dict):
            raise source.error("expected an object of tables", place=f"'{name}'")
        block = Group(None, number, name)
        for counter, entry in object_at(tables, "Raw").items():
            place = f"'{name}.Raw.{counter}'"
            block.add(str(value_at(entry, "Event") or counter), _json_values(source.name, entry, place))
        for metric, entry in object_at(tables, "Metric").items():
            block.metrics[metric] = _json_values(source.name, entry, f"'{name}.Metric.{metric}'")
        yield block


def _json_values(file: str, entry: Any, place: str) -> list[float]:
    values = value_at(entry, "Values")
    if not isinstance(values, list):
        raise ProfileError(file, "expected an object with a list 'Values'", place=place)
    return [_value(file, value, place) for value in values]


# -- counts --------------------------------------------------------------------------------------------------------

_MEGA: Final = 1e6
_GIGA: Final = 1e9
_RUNTIME: Final = "Runtime (RDTSC) [s]"
_CLOCK: Final = "Clock [MHz]"
_PRECISIONS: Final = {"DP": "fp64", "SP": "fp32", "HP": "fp16", "BF16": "bf16"}
# The names of rates in LIKWID's group files, such as "DP [MFLOP/s]", "DP (FP+SVE512) [MFLOP/s]" and "MFLOP/s".
_RATE: Final = re.compile(
    r"(?P<label>[^\[(]*?) ?(?:\(FP(?P<sve>(?:\+SVE(?P<bits>\d{1,4}))?)\) )?"
    r"\[?MFLOP/s\]?(?P<assumed> \((?:.* )?assumed\))?"
)
# Rates of any precision. The groups of Grace call theirs "FP rate", also in MEM_DP.
_ANY_PRECISION: Final = ("FP rate", "", "X87")
# Rates of a part of the FLOPs, in groups that print no other rate.
_PARTS: Final = {"Packed DP": "fp64", "Packed SP": "fp32", "Scalar FMA": ""}
_PARTIAL_GROUPS: Final = {
    "FLOPS_AVX": "packed AVX instructions",
    "FLOPS_FMA": "fused multiply-adds",
    "FLOPS_VSX": "vector instructions",
    "FLOPS_X87": "x87 instructions",
    "FLOPS_1_2": "instructions of 1 and 2 FLOPs",
    "FLOPS_4_8": "instructions of 4 and 8 FLOPs",
}
_LINKS: Final = {
    "Memory": "DRAM",
    "DDR": "DRAM",
    "DDR Memory": "DRAM",
    "L3 to/from system": "DRAM",
    "HBM": "HBM",
    "MCDRAM Memory": "HBM",
    "L2": "L2",
    "L1<->L2": "L2",
    "L1 to/from L2": "L2",
    "L3": "L3",
    "L2<->L3": "L3",
    "L2 to/from L3": "L3",
}
_VOLUME: Final = re.compile(r"(?P<link>.+) data volume \[GBytes?\]")
_BANDWIDTH: Final = re.compile(r"(?P<link>.+) bandwidth \[MBytes?/s\]")
_HALVES: Final = re.compile(r"Memory (?:read|write|load|evict|writeback) data volume \[GBytes?\]")
# FLOPs per event: a packed instruction works on all lanes.
_LANES: Final = {"SCALAR": 1, "128B_PACKED": 2, "256B_PACKED": 4, "512B_PACKED": 8}
_EVENTS: Final = {
    precision: {
        **{f"FP_ARITH_INST_RETIRED_{lanes}_{word}": n * (1 if n == 1 else more) for lanes, n in _LANES.items()},
        f"FP_COMP_OPS_EXE_SSE_FP_SCALAR_{word}": 1,
        f"FP_COMP_OPS_EXE_SSE_FP_PACKED_{word}": 2 * more,
        f"SIMD_FP_256_PACKED_{word}": 4 * more,
    }
    for precision, word, more in (("fp64", "DOUBLE", 1), ("fp32", "SINGLE", 2))
} | {"": {"FP_FIXED_OPS_SPEC": 1, "FP_SCALE_OPS_SPEC": 1}}
# The counter of scalable operations counts those of 128 bits.
_SVE_BITS: Final = 128
# This event counts the FLOPs of all precisions together.
_ALL: Final = "RETIRED_SSE_AVX_FLOPS_ALL"
# The event of packed AVX instructions of both precisions.
_BOTH: Final = "AVX_INSTS_CALC"
# Events that count operations of several precisions: each group takes them for its own precision.
_ANY_EVENTS: Final = frozenset(
    {
        _ALL,
        _BOTH,
        "VFP_SPEC",
        "ASE_SPEC",
        "FP_COMP_OPS_EXE_SSE_FP_PACKED",
        "FP_COMP_OPS_EXE_SSE_FP_SCALAR",
        "UOPS_RETIRED_PACKED_SIMD",
        "FP_FIXED_OPS_SPEC",
        "FP_SCALE_OPS_SPEC",
    }
)
# The events of POWER8 that count in one of its two pipes.
_PIPE: Final = re.compile(r"PM_(VSU[01])_")
_RATE_TOLERANCE: Final = 0.01
# The low-level columns, the metric of LIKWID's group files (the ending " [%]" differs by processor); and the way from
# the metric to the column: a factor, and whether the metric is what the column leaves of 100 %.
_LOW_LEVEL: Final = (
    ("cycles per instruction", "CPI", 1, False),
    ("vector instructions (%)", "Vectorization ratio", 1, False),
    ("L2 hit rate (%)", "L2 miss ratio", 100, True),
    ("L3 hit rate (%)", "L3 miss ratio", 100, True),
    ("mispredicted branches (%)", "Branch misprediction ratio", 100, False),
    ("mispredictions per 1,000 instructions", "Branch misprediction rate", 1_000, False),
    ("stalled cycles (%)", "Execution stall rate [%]", 1, False),
    ("cycles stalled by loads (%)", "Stalls caused by memory loads rate [%]", 1, False),
)
_PERCENT: Final = " [%]"


@dataclass
class Totals:
    """The totals over all threads, and the rule of each total.

    If the group does not count an amount, its total is missing. `shared_events` are the events of FLOPs that do not
    tell the precision. `low_level` has low-level columns, and `read_as` the metric of each.
    """

    time: float
    flops: dict[str, float] = field(default_factory=dict)
    bytes: dict[str, float] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    calls: float = math.nan
    threads: int = 0
    clock: float = math.nan
    warnings: list[str] = field(default_factory=list)
    shared_events: frozenset[str] = frozenset()
    low_level: dict[str, float] = field(default_factory=dict)
    read_as: dict[str, str] = field(default_factory=dict)


def rule_key(amount: str, name: str) -> str:
    """Return the key of a rule in `Kernels.origin`; FLOPs of any precision have an empty name.

    Examples
    --------
    >>> rule_key("flops", "fp64"), rule_key("flops", "")
    ('flops:fp64', 'flops')
    """
    return f"{amount}:{name}" if name else amount


def count(block: Group) -> Totals:
    """Return the totals of a group.

    FLOPs are computed from events. If events are missing or contradict the printed rate, the printed rate gives the
    FLOPs.
    """
    times = block.metrics.get(_RUNTIME) or block.region_time
    found = Totals(_largest(times))
    found.threads = max((len(values) for values in (*block.metrics.values(), *block.events.values())), default=0)
    found.calls = _largest(block.calls)
    found.clock = _mean(block.metrics.get(_CLOCK, [])) * _MEGA
    if block.metrics.get(_RUNTIME):
        found.rules["time"] = f"{_RUNTIME}, the longest of the threads"
    elif block.region_time:
        found.rules["time"] = "RDTSC Runtime [s] of the region, the longest of the threads"
    found.shared_events = _ANY_EVENTS & block.events.keys()
    _flops(block, times, found)
    _bytes(block, times, found)
    _low_level(block, found)
    return found


def _low_level(block: Group, found: Totals) -> None:
    """Add the low-level columns: means over the threads."""
    for column, metric, factor, is_rest in _LOW_LEVEL:
        printed = metric if metric in block.metrics else f"{metric}{_PERCENT}"
        mean = _mean(block.metrics.get(printed, []))
        if math.isnan(mean):
            continue
        # With the ending it is a share in percent already, also where the metric without it is a plain ratio.
        value = mean * (1 if printed.endswith(_PERCENT) else factor)
        found.low_level[column] = 100 - value if is_rest else value
        found.read_as[column] = f"{printed}, the mean of the threads"


def _bytes(block: Group, times: list[float], found: Totals) -> None:
    """Add the bytes by level: printed volumes, else the two directions of the memory, else bandwidths times seconds."""
    for name, values in block.metrics.items():
        if (match := _VOLUME.fullmatch(name)) is not None:
            _volume(found, _level(block, match["link"]), name, [value * _GIGA for value in values])
    halves = [name for name in block.metrics if _HALVES.fullmatch(name)]
    if len(halves) == 2:  # noqa: PLR2004 - in and out
        total = [value * _GIGA for name in halves for value in block.metrics[name]]
        _volume(found, _level(block, "Memory"), " + ".join(halves), total)
    for name, values in block.metrics.items():
        if (match := _BANDWIDTH.fullmatch(name)) is not None and len(values) == len(times):
            moved = [value * _MEGA * time for value, time in zip(values, times, strict=True)]
            _volume(found, _level(block, match["link"]), f"{name} x {_RUNTIME}", moved)


def _level(block: Group, link: str) -> str | None:
    """Return the level of a link of LIKWID's metrics; None if it is a part of a link, or another link."""
    # The group HBM of Knights Landing prints "Memory" for its MCDRAM.
    is_hbm = link == "Memory" and block.group.startswith("HBM")
    return "HBM" if is_hbm else _LINKS.get(link)


def _volume(found: Totals, level: str | None, name: str, values: list[float]) -> None:
    """Add the bytes of a level, unless the level is None or already known."""
    total = _sum(values)
    if level is not None and level not in found.bytes and total >= 0:
        found.bytes[level] = total
        found.rules[rule_key("bytes", level)] = f"{name}, summed over threads"


@dataclass(frozen=True)
class _Rate:
    """A rate of a group, in MFLOP/s.

    Parameters
    ----------
    name
        The metric's name.
    label
        What the rate counts, such as ``"DP"`` or ``"FP rate"``.
    bits
        The width of scalable vectors that the rate assumes, or None.
    is_assumed
        Whether the rate assumes a precision or a width, which the counters do not tell.
    """

    name: str
    label: str
    bits: int | None
    is_assumed: bool


def _rates(block: Group) -> list[_Rate]:
    found = []
    for name in block.metrics:
        match = _RATE.fullmatch(name)
        if match is not None:
            bits = None if match["sve"] is None else int(match["bits"] or 0)
            is_assumed = bits is not None or match["assumed"] is not None
            found.append(_Rate(name, match["label"].strip(), bits, is_assumed))
    return found


def _chosen(block: Group) -> dict[str, _Rate]:
    """Return the rates to count, by precision; ``""`` is any precision.

    Rates that assume something are different readings of the same counters, so only one of them counts: double
    precision, and the widest vectors.
    """
    rates = _rates(block)
    certain = {_PRECISIONS[rate.label]: rate for rate in rates if rate.label in _PRECISIONS and not rate.is_assumed}
    if certain:
        return certain
    assumed = [rate for rate in rates if rate.is_assumed and rate.label in _PRECISIONS]
    if assumed:
        # The groups print the widest vectors last.
        rate = next((rate for rate in reversed(assumed) if rate.label == "DP"), assumed[-1])
        return {_PRECISIONS[rate.label]: rate}
    whole = next((rate for label in _ANY_PRECISION for rate in rates if rate.label == label), None)
    if whole is not None:
        precisions = [precision for precision, events in _EVENTS.items() if precision and events.keys() & block.events]
        return {precisions[0] if len(precisions) == 1 else "": whole}
    parts = {_PARTS[rate.label]: rate for rate in rates if rate.label in _PARTS}
    # The AVX event of Haswell counts instructions of both precisions.
    return {"fp64": parts["fp64"]} if "fp64" in parts and _BOTH in block.events else parts


def _flops(block: Group, times: list[float], found: Totals) -> None:
    for precision, rate in _chosen(block).items():
        rates = block.metrics[rate.name]
        if len(times) != len(rates):
            continue
        printed = _sum(value * _MEGA * time for value, time in zip(rates, times, strict=True))
        exact, rule = _by_events(block, precision, rate)
        if math.isnan(printed):
            continue
        found.warnings += _rate_warnings(block, rate)
        if abs(exact - printed) <= _RATE_TOLERANCE * printed:
            found.flops[precision], found.rules[rule_key("flops", precision)] = exact, rule
            continue
        found.flops[precision] = printed
        found.rules[rule_key("flops", precision)] = f"{rate.name} x {_RUNTIME}, summed over threads"
        if not math.isnan(exact):
            what = f"{rule} gives {exact:g} FLOPs, '{rate.name}' {printed:g}"
            found.warnings.append(f"group {block.group}: {what}: the latter is used")


def _rate_warnings(block: Group, rate: _Rate) -> list[str]:
    """Return warnings of what a rate assumes, and of what its group does not count."""
    remarks = []
    if rate.is_assumed:
        others = [f"'{other.name}'" for other in _rates(block) if other.is_assumed and other != rate]
        instead = f", and not {', '.join(others)}" if others else ""
        remarks.append(f"group {block.group}: '{rate.name}' is based on an assumption of LIKWID{instead}")
    only = _PARTIAL_GROUPS.get(block.group)
    pipes = {match[1] for match in map(_PIPE.match, block.events) if match}
    if only is None and len(pipes) == 1:
        only = f"the pipe {pipes.pop()} of two"
    if only is not None:
        remarks.append(f"group {block.group} counts only {only}: FLOPs may be too low")
    return remarks


def _by_events(block: Group, precision: str, rate: _Rate) -> tuple[float, str]:
    """Return the FLOPs of one precision from its events, and the rule; NaN if the group has no such events."""
    weights = {name: n for name, n in _EVENTS.get(precision, {}).items() if name in block.events}
    if rate.bits is not None:
        scaled = {"FIXED": 1, "SCALE": rate.bits // _SVE_BITS}
        named = {f"FP_{rate.label}_{word}_OPS_SPEC": n for word, n in scaled.items()}
        weights = {name: n for name, n in named.items() if name in block.events}
    if rate.label in _PARTS:
        weights = {}
    elif not weights and _ALL in block.events:
        weights = {_ALL: 1}
    if not weights:
        return math.nan, ""
    total = sum(weight * _sum(block.events[name]) for name, weight in weights.items())
    return total, " + ".join(f"{weight} x {name}" if weight > 1 else name for name, weight in weights.items())


def _sum(values: Iterable[float]) -> float:
    """Return the sum of the known values. Counters outside the cores have a value for only one thread per socket."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) if known else math.nan


def _largest(values: list[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
