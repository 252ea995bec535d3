"""The latency roof: the bandwidth that the bytes in flight allow, by Little's law, and the waves of blocks of a GPU.

A memory sends at its full bandwidth only if enough bytes are under way at the same time: ``bytes in flight = bandwidth
x latency`` (Little, Operations Research 9(3), 1961; for memories Bailey, RNR-97-011, 1997). A kernel with fewer bytes
in flight gets at most ``bytes in flight / latency``. A kernel cannot have more bytes in flight than it moves, so a
launch that moves few bytes cannot reach the roof.

The latency roof is a bound if the latency is the unloaded one and the bytes in flight are counted. Otherwise it is an
estimate. It changes no `Bound`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.reasons import rules
from roofwidget.analysis.result import Bound, roof_level
from roofwidget.chips import ChipLike
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import (
    TIE_TOLERANCE,
    Bools,
    DictColumn,
    Floats,
    Scalar,
    Texts,
    frozen,
    number_or_array,
    quantity,
    real_number,
    unwarned,
)
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, counted, html_table, html_with_notes, one_line
from roofwidget.units import format_factor, format_percent, format_quantity

LATENCY: Final = "latency"
"""The regime of a kernel whose latency time is longer than its bound."""
BYTES_IN_FLIGHT: Final = "bytes in flight"
BYTES_PER_THREAD: Final = "bytes per thread"
"""Columns of `Kernels.extra` that `latency_roof` reads: bytes in flight of one launch, and of one of its threads."""
_WAVES: Final = "waves per SM"
_GRID: Final = "grid"
_BLOCK: Final = "block"
# Tools of AMD count a grid in threads, and call a block a workgroup.
_WORKGROUP: Final = "workgroup"
_NUMBER: Final = re.compile(r"\d+")
MAX_EXPLAINED: Final = 1.05
"""A share up to this counts as the whole time, because clocks and timers are a little off."""
MAX_SHARE_IN_FLIGHT: Final = 0.5
"""With fewer bytes in flight than this share of what fills the bandwidth, latency is a suspect."""
_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
_HEADER: Final = ("kernel", "moves a launch", "in flight", "at most", "of bandwidth", "needs", "limit")

# How the bytes in flight of a kernel are known. `_ALL`: more bytes are given than the launch moves.
_UNKNOWN, _GIVEN, _BY_THREADS, _BY_WARPS, _BY_BYTES, _ALL = range(6)
_OF_LAUNCH: Final = (_BY_BYTES, _ALL)
_LANES: Final = 32
_WAITS: Final = "memory latency"


@overload
def bytes_in_flight(bandwidth: Scalar, latency: Scalar) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def bytes_in_flight(bandwidth: npt.ArrayLike, latency: npt.ArrayLike) -> Floats: ...
@unwarned
def bytes_in_flight(bandwidth: npt.ArrayLike, latency: npt.ArrayLike) -> float | Floats:
    """Return the bytes that must be in flight for the full bandwidth: ``bandwidth * latency`` (Little's law).

    This is also the smallest size of a launch that can reach the bandwidth. Arrays broadcast.

    Parameters
    ----------
    bandwidth
        bytes/s, or text such as ``"3.35 TB/s"``.
    latency
        Seconds from a load to its data, or text such as ``"600 ns"``.

    Raises
    ------
    ValueError
        If a bandwidth or latency is not finite and above zero.

    Examples
    --------
    >>> round(bytes_in_flight("0.9 TB/s", "314.5 ns") / 1024)
    276
    """
    rate = quantity(bandwidth, "B/s", "bandwidth", above_zero=True)
    return number_or_array(np.asarray(rate * quantity(latency, "s", "latency", above_zero=True)))


@overload
def bytes_to_reach(share: Scalar, bandwidth: Scalar, latency: Scalar) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def bytes_to_reach(share: npt.ArrayLike, bandwidth: npt.ArrayLike, latency: npt.ArrayLike) -> Floats: ...
@unwarned
def bytes_to_reach(share: npt.ArrayLike, bandwidth: npt.ArrayLike, latency: npt.ArrayLike) -> float | Floats:
    """Return the bytes that a launch must move to reach a share of the bandwidth. This is an estimate.

    The estimate takes the time of a launch as ``latency + bytes / bandwidth``, as Hockney's model of vector lengths
    does (Hockney and Jesshope, Parallel Computers, 1981): ``share / (1 - share) * bandwidth * latency`` bytes. Half of
    the bandwidth needs as many bytes as must be in flight for all of it. Arrays broadcast.

    Parameters
    ----------
    share
        The share of the bandwidth, from 0 to below 1.
    bandwidth, latency
        As in `bytes_in_flight`.

    Raises
    ------
    ValueError
        If a share is not from 0 to below 1, or a bandwidth or latency is not finite and above zero.

    Examples
    --------
    >>> round(bytes_to_reach(0.9, "3.35 TB/s", "300 ns") / 1e6, 3)
    9.045
    """
    wanted = quantity(share, "", "share")
    if (wanted >= 1).any():
        raise ValueError(f"share must be from 0 to below 1, got {wanted[wanted >= 1].flat[0]}")
    return number_or_array(np.asarray(wanted / (1 - wanted) * bytes_in_flight(bandwidth, latency)))


@dataclass(frozen=True)
class Waves:
    """How the blocks of a launch fill the units of a chip: SMs, or CUs of AMD.

    Parameters
    ----------
    blocks
        The blocks of the launch.
    at_once
        The blocks that run at the same time if the chip is full: units times blocks per unit.
    """

    __module__ = "roofwidget"

    blocks: int
    at_once: int

    @property
    def waves(self) -> float:
        """Blocks over the blocks that run at the same time."""
        return self.blocks / self.at_once

    @property
    def tail(self) -> int:
        """The blocks of the last wave if it is not full, else 0."""
        return self.blocks % self.at_once

    @property
    def efficiency(self) -> float:
        """The share of the places for blocks that are in use, over all waves. It takes all blocks as equally long."""
        return self.blocks / (self.at_once * -(-self.blocks // self.at_once))

    def __str__(self) -> str:
        whole = f"{counted(self.blocks, 'block')} on {counted(self.at_once, 'place')}"
        if not self.tail:
            return f"{whole}: {counted(self.blocks // self.at_once, 'full wave')}"
        if self.blocks < self.at_once:
            return f"{whole}: {format_percent(self.efficiency)} of the places are in use"
        last = f"{counted(self.blocks // self.at_once, 'full wave')} and a last one with {counted(self.tail, 'block')}"
        return f"{whole}: {last}, so {format_percent(1 - self.efficiency)} of the places stay empty"


@keywords("waves")
def waves(blocks: int, units: int, *, blocks_per_unit: int = 1) -> Waves:
    """Return how the blocks of a launch fill the units of a chip.

    Parameters
    ----------
    blocks
        The blocks of the launch.
    units
        The SMs or CUs of the chip, as in `Chip.units`.
    blocks_per_unit
        The blocks that run on one unit at the same time: what registers, shared memory and threads allow.

    Raises
    ------
    TypeError, ValueError
        If a number is not whole, or below 1.

    Examples
    --------
    >>> print(waves(109, 108))
    109 blocks on 108 places: 1 full wave and a last one with 1 block, so 50 % of the places stay empty
    """
    numbers = {"blocks": blocks, "units": units, "blocks_per_unit": blocks_per_unit}
    for word, number in numbers.items():
        if real_number(number, word) != int(number) or number < 1:
            raise ValueError(f"waves: {word} must be a whole number from 1, got {number!r}")
    return Waves(int(blocks), int(units) * int(blocks_per_unit))


@dataclass(frozen=True, eq=False, repr=False)
class LatencyRoof:
    """The latency roofs of n kernels at one memory level. Arrays have shape (n,) and are read-only; NaN is unknown.

    Parameters
    ----------
    bound
        The `Bound` of the kernels on the chip. The latency roof does not change it.
    memory
        The memory level.
    latency
        Seconds from a load to its data; NaN if the chip has none for this level.
    latency_source
        Where the latency is from, as text.
    is_unloaded
        Whether the latency is the least: without it the roof is an estimate.
    count
        Launches of each kernel.
    bytes
        Bytes of one launch at the level.
    in_flight
        The most bytes that one launch has in flight.
    is_counted
        Whether `in_flight` is counted: given as a count, or all bytes of the launch. Otherwise it is an estimate.
    waves
        Blocks of one launch over the blocks that run at the same time.
    kinds
        For `sentence`: how the bytes in flight are known.
    notes
        Sentences on what is unknown or assumed.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e15}, {"HBM": rw.Memory("HBM", 3.35e12, latency=600e-9)})
    >>> small = latency_roof([("copy", 0, 5e5, 3e-6), ("big copy", 0, 5e8, 2e-4)], chip)
    >>> small
    LatencyRoof: 2 kernels on My chip · HBM 3.35 TB/s, 600 ns: 2.01 MB in flight fill it
    kernel    moves a launch  in flight  at most    of bandwidth  needs   limit
    copy      500 kB          500 kB     833 GB/s   25 %          600 ns  latency
    big copy  500 MB          500 MB     3.35 TB/s  100 %         149 µs  memory
    >>> print(small.sentence(0))
    moves 500 kB: at 600 ns that is at most 833 GB/s of 3.35 TB/s
    """

    __module__ = "roofwidget"

    bound: Bound
    memory: str
    latency: float
    latency_source: str
    is_unloaded: bool
    count: Floats
    bytes: Floats
    in_flight: Floats
    is_counted: Bools
    waves: Floats
    kinds: npt.NDArray[np.int8]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.bytes)

    @property
    def names(self) -> Texts:
        """The names of the kernels."""
        return self.bound.names

    @property
    def bandwidth(self) -> float:
        """The bandwidth of the level, bytes/s."""
        return self.bound.chip.bandwidth(self.memory)

    @property
    def needed(self) -> float:
        """The bytes in flight that fill the level, and so the fewest bytes of a launch that can reach the roof."""
        return self.bandwidth * self.latency

    @cached_property
    @unwarned
    def attainable_bandwidth(self) -> Floats:
        """The highest rate, bytes/s: ``min(bandwidth, in_flight / latency)``; 0 without bytes."""
        return frozen(np.minimum(self.bandwidth, self.in_flight / self.latency))

    @cached_property
    @unwarned
    def bandwidth_share(self) -> Floats:
        """`attainable_bandwidth` over the bandwidth."""
        return frozen(self.attainable_bandwidth / self.bandwidth)

    @cached_property
    @unwarned
    def time(self) -> Floats:
        """Least seconds of all launches at the latency roof: bytes over `attainable_bandwidth`; 0 without bytes."""
        each = np.where(self.bytes > 0, self.bytes / self.attainable_bandwidth, 0.0)
        return frozen(np.where(np.isnan(self.in_flight) | np.isnan(self.latency), np.nan, self.count * each))

    @cached_property
    @unwarned
    def explained(self) -> Floats:
        """`time` over the measured time: the share of the measured time that the latency roof explains."""
        return frozen(self.time / self.bound.measured)

    @cached_property
    @unwarned
    def in_flight_on_average(self) -> Floats:
        """Bytes that were in flight on average, at least: achieved bytes/s times latency; NaN without a time.

        Loads take at least the unloaded latency, so that there were as many bytes in flight or more.
        """
        return frozen(self.bytes * self.count / self.bound.measured * self.latency)

    @cached_property
    def is_bound(self) -> Bools:
        """Whether no launch can be faster than `time`. Otherwise `time` is an estimate."""
        return frozen(self.is_counted & self.is_unloaded & ~np.isnan(self.time))

    @property
    def has_all_in_flight(self) -> Bools:
        """Whether all bytes of a launch are in flight at once, so that only a larger launch could have more."""
        return frozen(np.isin(self.kinds, _OF_LAUNCH))

    @cached_property
    @unwarned
    def regime(self) -> Texts:
        """As `Bound.regime`, but ``latency`` where the latency time is longer than the bound.

        It is ``unknown`` where memory bounds a kernel that reaches less than half of its roof, and nothing says how
        many bytes it has in flight: either its memory or latency may limit it.
        """
        found = self.bound.regime.astype(object)
        is_guess = np.isin(self.kinds, (_UNKNOWN, _BY_BYTES)) | np.isnan(self.latency)
        found[is_guess & (found == "memory") & (self.bound.utilization < MAX_SHARE_IN_FLIGHT)] = "unknown"
        found[self.time > self.bound.time * (1 + TIE_TOLERANCE)] = LATENCY
        return frozen(found)

    @cached_property
    @unwarned
    def wave_efficiency(self) -> Floats:
        """The share of the places for blocks that are in use, over all waves: `waves` over the next whole number."""
        return frozen(self.waves / np.ceil(self.waves))

    def sentence(self, row: int) -> str:
        """Return a sentence on the latency roof of a kernel; empty if it is unknown, or the kernel moves no bytes."""
        size, rate = float(self.bytes[row]), float(self.attainable_bandwidth[row])
        if np.isnan(rate) or not size > 0:
            return ""
        moved, flying = format_quantity(size, "B"), format_quantity(float(self.in_flight[row]), "B")
        kind = int(self.kinds[row])
        by_count = f"has {'' if self.is_counted[row] else 'about '}{flying} in flight"
        what = f"moves {moved}" if kind in _OF_LAUNCH else by_count
        much = "at most" if self.is_bound[row] else "about"
        of = f"{format_quantity(rate, 'B/s')} of {format_quantity(self.bandwidth, 'B/s')}"
        return f"{what}: at {format_quantity(self.latency, 's')} that is {much} {of}"

    def explanation(self, row: int) -> str:
        """Return the share of a kernel's measured time that latency explains, as text.

        A latency time that is longer than the measured time is no explanation: the text says what must be wrong.
        """
        share = float(self.explained[row])
        if share <= MAX_EXPLAINED:
            return f"latency explains {format_percent(min(1.0, share))} of its time"
        why = "its bytes are miscounted or are those of a nearer level" if self.is_bound[row] else "more is in flight"
        return f"that would take {format_factor(share)}× its time, so {why}"

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row per kernel."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        columns = ("bytes", "in_flight", "attainable_bandwidth", "bandwidth_share", "time", "explained", "is_bound")
        more = ("regime", "waves", "wave_efficiency")
        return pd.DataFrame({"name": self.names, **{name: getattr(self, name) for name in (*columns, *more)}})

    def __repr__(self) -> str:
        lines = aligned([_HEADER, *self._rows(_MAX_LINES)]) if len(self) else []
        return "\n".join([self._title(), *lines, *and_more(len(self), _MAX_LINES)])

    def _repr_html_(self) -> str:
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        return html_with_notes(html_table(self._title(), _HEADER, self._rows(_MAX_TABLE_ROWS), more), self.notes)

    def _title(self) -> str:
        where = f"LatencyRoof: {counted(len(self), 'kernel')} on {one_line(self.bound.chip.name)} · {self.memory}"
        if np.isnan(self.latency):
            return f"{where}, latency unknown"
        shown = f"{format_quantity(self.bandwidth, 'B/s')}, {format_quantity(self.latency, 's')}"
        return f"{where} {shown}: {format_quantity(self.needed, 'B')} in flight fill it"

    def _rows(self, most: int) -> list[tuple[str, ...]]:
        return [
            (
                one_line(self.names[row]),
                format_quantity(float(self.bytes[row]), "B"),
                f"{'' if self.is_counted[row] else '~'}{format_quantity(float(self.in_flight[row]), 'B')}",
                *(
                    f"{'' if self.is_bound[row] else '~'}{text}"
                    for text in (
                        format_quantity(float(self.attainable_bandwidth[row]), "B/s"),
                        format_percent(float(self.bandwidth_share[row])),
                        format_quantity(float(self.time[row]), "s"),
                    )
                ),
                f"{self.regime[row]}{' (estimate)' if self._is_estimated(row) else ''}",
            )
            for row in range(min(most, len(self)))
        ]

    def _is_estimated(self, row: int) -> bool:
        return self.regime[row] == LATENCY and not bool(self.is_bound[row])


@keywords("latency_roof")
@unwarned
def latency_roof(
    kernels: Any,
    chip: ChipLike,
    *,
    precision: str = "auto",
    memory: str = "main",
    launch_overhead: float | str = 0.0,
    latency: float | str | None = None,
    in_flight: npt.ArrayLike | None = None,
    bytes_per_thread: npt.ArrayLike | None = None,
    is_estimate: bool = False,
) -> LatencyRoof:
    """Return the latency roof of each kernel: the bandwidth that its bytes in flight allow, by Little's law.

    The bytes in flight of a launch are the first that is known of: `in_flight`, or the column ``bytes in flight``; the
    threads that run at the same time times `bytes_per_thread`, or the column ``bytes per thread``; one load for each
    warp that runs at the same time, an estimate, if counters of Nsight Compute show that warps wait for loads; the
    bytes of the launch. They are never more than the bytes of the launch. Threads and waves are from the columns
    ``grid``, ``block`` (or ``workgroup``) and ``waves per SM`` of the file. Bytes that are only written need not wait,
    so the roof is that of kernels that load.

    Parameters
    ----------
    kernels
        `Kernels`, or anything that converts to it.
    chip
        A chip, its name in the catalogue, or `HardwarePeaks`.
    precision, memory, launch_overhead
        As in `roofwidget.bound`. If all levels count, the latency roof is that of the main memory.
    latency
        Seconds without other loads, or text such as ``"350 ns"``, in place of the chip's `Memory.latency`.
    in_flight
        The most bytes that one launch has in flight: a number, or a number per kernel.
    bytes_per_thread
        The most bytes that one thread has in flight.
    is_estimate
        Whether the given latency and bytes are estimates. Then no roof that is made of them is a bound.

    Returns
    -------
    LatencyRoof
        All NaN if the latency is unknown; a note says so.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the level.
    TypeError, ValueError
        If a number is no number, or is out of range.

    Examples
    --------
    >>> chase = [("chase", 0, {"DRAM": 6.4e6}, 1.2e-2)]
    >>> from roofwidget.chips import Chip
    >>> roof = latency_roof(chase, Chip("CPU", {"fp64": 1e11}, {"DRAM": 2e10}), latency="100 ns", in_flight=64)
    >>> print(roof.sentence(0), roof.regime[0], round(float(roof.explained[0]), 2))
    has 64 B in flight: at 100 ns that is at most 640 MB/s of 20 GB/s latency 0.83
    """
    where = look_up(chip)
    table = as_kernels(kernels)
    found = bound_lenient(table, where, precision=precision, memory=memory, launch_overhead=launch_overhead)
    level = roof_level(found)
    known = where.memories[level].latency
    source = where.sources.get(f"memories.{level}.latency")
    seconds = float(quantity(latency, "s", "latency", above_zero=True)) if latency is not None else known
    each = found.bytes.get(level, np.full(len(table), np.nan)) / table.count
    of_waves = waves_of(table)
    known_latency = np.nan if seconds is None else seconds
    given = _counted_in_flight(table, of_waves, in_flight, bytes_per_thread)
    # Loads take at least the unloaded latency, so the achieved rate needs as many bytes in flight, or more.
    least = each * table.count / found.measured * known_latency
    flying, kinds = _in_flight(table, each, least, given)
    is_given = np.isin(kinds, (_GIVEN, _BY_THREADS))
    counted_ones = np.isin(kinds, _OF_LAUNCH) | (is_given & (not is_estimate))
    roof = LatencyRoof(
        bound=found,
        memory=level,
        latency=known_latency,
        latency_source="given" if latency is not None else "" if source is None else source.title,
        is_unloaded=latency is None or not is_estimate,
        count=table.count.astype(np.float64),
        bytes=frozen(each),
        in_flight=frozen(flying),
        is_counted=frozen(counted_ones),
        waves=frozen(of_waves),
        kinds=frozen(kinds),
        notes=() if seconds is not None else (f"{where.name} has no latency for {level}: give latency='350 ns'.",),
    )
    return replace(roof, notes=(*roof.notes, *_remarks(roof)))


def _remarks(roof: LatencyRoof) -> Iterator[str]:
    by_warps = int((roof.kinds == _BY_WARPS).sum())
    if by_warps:
        whose = counted(by_warps, "kernel")
        yield f"The bytes in flight of {whose} are an estimate: one load for each warp, as warps wait for loads."
    left = int(((roof.regime == "unknown") & (roof.bound.regime == "memory")).sum())
    if left:
        verb, its = ("reaches", "its") if left == 1 else ("reach", "their")
        yield (
            f"{counted(left, 'kernel')} {verb} less than half of {its} memory roof, and nothing says how many bytes "
            "are in flight, so memory or latency may be the limit: give in_flight or bytes_per_thread."
        )


def in_flight_of_file(table: Kernels) -> Floats | None:
    """Return the bytes in flight of one launch of each kernel by the columns of the file, shape (n,).

    NaN is unknown. None if the file has no such columns. A launch that moves fewer bytes has fewer in flight.
    """
    if not {BYTES_IN_FLIGHT, BYTES_PER_THREAD} & table.extra_columns.keys():
        return None
    given, by_threads = _counted_in_flight(table, waves_of(table))
    return np.where(np.isnan(given), by_threads, given)


@unwarned
def _counted_in_flight(
    table: Kernels, of_waves: Floats, in_flight: npt.ArrayLike | None = None, per_thread: npt.ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the bytes in flight that are given, and those of the threads that run at the same time."""
    of_thread = _given(per_thread, "bytes_per_thread", table, BYTES_PER_THREAD)
    at_once = np.where(of_waves > 1, 1 / of_waves, 1.0)
    return _given(in_flight, "in_flight", table, BYTES_IN_FLIGHT), threads_of(table) * at_once * of_thread


def _in_flight(
    table: Kernels, each: Floats, least: Floats, given: tuple[Floats, Floats]
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """Return the bytes in flight of one launch of each kernel, and how they are known."""
    by_warps = _of_waiting_warps(table, each)
    # If the achieved rate needs more, warps have more than one load under way.
    by_warps[by_warps * MAX_EXPLAINED < least] = np.nan
    flying, kinds = np.full(len(table), np.nan), np.full(len(table), _UNKNOWN, dtype=np.int8)
    for kind, column in ((_GIVEN, given[0]), (_BY_THREADS, given[1]), (_BY_WARPS, by_warps), (_BY_BYTES, each)):
        rows = np.isnan(flying) & ~np.isnan(column) & ~np.isnan(each)
        flying[rows], kinds[rows] = column[rows], kind
    # More than the launch moves cannot be in flight, whatever was given.
    is_all = (flying >= each) & (kinds != _BY_BYTES)
    return np.where(is_all, each, flying), np.where(is_all, _ALL, kinds).astype(np.int8)


def _of_waiting_warps(table: Kernels, each: Floats) -> Floats:
    """Return the bytes of one load for each warp that runs at the same time, where counters show that warps wait."""
    columns = table.extra_columns
    (rule,) = (rule for rule in rules() if rule.reason == _WAITS)
    blocks = blocks_of(table)
    warps = blocks * np.ceil(threads_of(table) / blocks / _LANES) / np.fmax(1, waves_of(table))
    loads = _column(table, "global loads") / table.count
    return np.where(rule.holds(columns, len(table)), warps * each / loads, np.nan)


def _given(value: npt.ArrayLike | None, word: str, table: Kernels, column: str) -> Floats:
    if value is None:
        return _column(table, column)
    return np.broadcast_to(quantity(value, "B", word, above_zero=True), len(table))


def _column(table: Kernels, name: str) -> Floats:
    """Return a numeric column of the file; all NaN if there is none."""
    column = table.extra_columns.get(name)
    if column is None or isinstance(column, DictColumn):
        return np.full(len(table), np.nan)
    return np.asarray(np.where(column > 0, column, np.nan), dtype=np.float64)


def waves_of(table: Kernels) -> Floats:
    """Return the waves of blocks of one launch of each kernel; NaN if the file does not have them."""
    return _column(table, _WAVES)


def blocks_of(table: Kernels) -> Floats:
    """Return the blocks of one launch of each kernel; NaN if the file does not have them."""
    grid = _extents(table, _GRID)
    return grid / _extents(table, _WORKGROUP) if _WORKGROUP in table.extra_columns else grid


def threads_of(table: Kernels) -> Floats:
    """Return the threads of one launch of each kernel; NaN if the file does not have them."""
    grid = _extents(table, _GRID)
    return grid if _WORKGROUP in table.extra_columns else grid * _extents(table, _BLOCK)


def _extents(table: Kernels, name: str) -> Floats:
    """Return the products of extents such as ``(132, 1, 1)`` and ``128 x 1 x 1``; NaN where there is none."""
    column = table.extra_columns.get(name)
    if not isinstance(column, DictColumn):
        return _column(table, name)
    products = [float(np.prod([float(one) for one in _NUMBER.findall(text)] or [np.nan])) for text in _texts(column)]
    return np.array([*products, np.nan])[column.codes]


def _texts(column: DictColumn) -> list[str]:
    return [text or "" for text in column.values]
