"""`bound`: the roofline bound of each kernel on a chip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from roofwidget import units
from roofwidget.analysis.result import Bound
from roofwidget.analysis.roofline import join_times, slowest_level
from roofwidget.chips import FLOP_CLASSES, NETWORK, Chip, ChipLike, is_off_chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels.collectives import unlinked_collectives
from roofwidget.kernels.columns import (
    ASKED_PRECISION,
    MAIN_LEVEL,
    Bools,
    Floats,
    Texts,
    filled,
    frozen,
    real_number,
    sum_of_known,
    unwarned,
)
from roofwidget.kernels.low_level import LowLevel
from roofwidget.kernels.non_kernels import non_kernels
from roofwidget.kernels.operations import operations_of
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.precisions import is_integer, operation
from roofwidget.support.text_tables import counted, one_line
from roofwidget.units import format_factor, format_intensity, format_quantity

# Ridge points of hardware are between about 0.1 and 10,000 FLOP/byte. The limits are wider, because the made-up chips
# of exercises may be more extreme.
_MIN_RIDGE: Final = 1e-4
_MAX_RIDGE: Final = 1e7
# If a launch takes at least this time and also exceeds its bound by this factor, its time is probably in another
# unit, such as microseconds.
_MIN_DOUBTFUL_SECONDS: Final = 0.1
_MIN_DOUBTFUL_FACTOR: Final = 1000.0


@keywords("bound")
@unwarned
def bound(
    kernels: Any,
    chip: ChipLike,
    *,
    precision: str = "auto",
    memory: str = "main",
    overlap: float = 1.0,
    exposed_comm: float = 0.0,
    launch_overhead: float | str = 0.0,
) -> Bound:
    """Return the roofline bound of each kernel on a chip.

    Parameters
    ----------
    kernels
        `Kernels`, or anything that converts to it: a `Kernel`, a list of tuples or dicts, a data frame.
    chip
        A chip, its name in the catalogue, or `HardwarePeaks`.
    precision
        The precision for kernels that have no precision of their own: a name, or ``"auto"`` for the chip's default.
    memory
        The level whose bytes count: ``"main"``, a level's name, or ``"all"`` for the slowest of all known levels.
    overlap
        The share of the shorter time, compute or memory, that runs in parallel with the longer time. With 1 only the
        longer time counts (the roofline). With 0 the sum of the two times counts.
    exposed_comm
        The share of the time in which only the link works, from 0 to below 1. This share lowers the roof. It is
        refused for kernels with ``"network"`` bytes, because the share and the bytes would count the same
        communication twice.
    launch_overhead
        Seconds per launch, or text such as ``"5 us"``: a kernel needs at least count × launch overhead.

    Returns
    -------
    Bound
        ``time`` is ``max(body / (1 - exposed_comm), network_time, overhead_time)`` with
        ``body = compute_time + memory_time - overlap * min(compute_time, memory_time)``. A tie (within 1e-12 relative)
        counts as compute-bound.

    Raises
    ------
    MissingFigureError
        If the chip lacks the given precision, the given level, or the precision of a kernel. Also if a kernel has
        network bytes and the chip has no link bandwidth. No other figure is used instead.
    TypeError
        If a precision or memory is not text, or a share is not a number.
    ValueError
        If a share or `launch_overhead` is out of range, or `exposed_comm` is given for kernels with network bytes.

    Examples
    --------
    >>> from roofwidget import preset
    >>> guide = preset("tpu-roofline-guide")
    >>> on_v5p = bound(guide.kernels, guide.chips[3])
    >>> on_v5p.bound_by.tolist()
    ['HBM', 'HBM', 'compute', 'compute']
    """
    chip = look_up(chip)
    table = as_kernels(kernels)
    hidden, exposed = _share(overlap, "overlap", most=True), _share(exposed_comm, "exposed_comm", most=False)
    a_launch = units.finite(units.parse(launch_overhead, "s", "launch_overhead"), "launch_overhead")
    asked = chip.precision(_word(precision, "precision"))
    level = "all" if _word(memory, "memory").casefold() == "all" else chip.memory(memory)
    if level != "all":
        chip.bandwidth(level)

    per_byte = None
    if table.has_ratios:
        # Launches take no share of an unknown time.
        found = bound(_per_byte(table), chip, precision=asked, memory=level, overlap=hidden, exposed_comm=exposed)
        per_byte = _with_rates(found, table)
    compute_time, remarks = _compute_time(table, chip, asked)
    moved = bytes_by_level(table, chip)
    memory_time = {name: frozen(amount / chip.bandwidth(name)) for name, amount in moved.items()}
    network_time = _network_time(table, chip, exposed)
    overhead_time = table.count * a_launch
    judged = tuple(memory_time) if level == "all" else (level,)
    slow, _ = slowest_level(memory_time, judged, len(table))
    body, time = join_times(compute_time, slow, network_time, overhead_time, overlap=hidden, exposed=exposed)
    unlinked = unlinked_collectives(table)
    operations = operations_of(table, asked)
    if not np.isnan(table.network_bytes).all():
        moved[NETWORK] = table.network_bytes
    return Bound(
        names=table.names,
        chip=chip,
        precision=asked,
        memory=level,
        overlap=hidden,
        exposed_comm=exposed,
        launch_overhead=a_launch,
        judged=judged,
        flops=table.flops,
        measured=frozen(np.where(table.time > 0, table.time, np.nan)),
        bytes={name: frozen(amount) for name, amount in moved.items()},
        compute_time=frozen(compute_time),
        memory_time=memory_time,
        network_time=np.broadcast_to(network_time, len(table)),
        overhead_time=np.broadcast_to(overhead_time, len(table)),
        body_time=frozen(body),
        time=frozen(time),
        intensity=table.intensity,
        rate=table.rate,
        remarks=(
            *remarks,
            *_mixed_operations(int(operations.mixed.sum())),
            *(_levels_left_out(table, chip) if level == "all" else ()),
            *_doubtful_rates(chip, asked),
            *_doubtful_times(table, time, unlinked),
            # Warnings about a data frame: how its columns were read, and which columns were not used.
            *(() if table is kernels else table.warnings),
        ),
        source=table.source,
        non_kernels=non_kernels(table),
        self_time=table.self_time if table.has_self_time else None,
        unlinked=unlinked if unlinked.any() else None,
        bytes_elsewhere=_bytes_elsewhere(table, chip, judged),
        integers=operations.integer if operations.integer.any() else None,
        per_byte=per_byte,
        low_level=LowLevel.of(table.extra_columns, table.read_as),
    )


def _per_byte(table: Kernels) -> Kernels:
    """Return the table with FLOPs for one byte of main memory in place of each intensity.

    A kernel with a rate and without an intensity does 1 FLOP, and its bytes stay unknown.
    """
    intensity = table.intensity
    rows = ~np.isnan(np.fmax(intensity, table.rate))
    moved = {level: np.where(rows, np.nan, column) for level, column in table.bytes_by_level.items()}
    work = np.where(rows, np.where(np.isnan(intensity), 1.0, intensity), np.nan)
    return table.replace(
        flops=filled(table.flops_by_precision, ASKED_PRECISION, work, "flops"),
        bytes=filled(moved, MAIN_LEVEL, np.where(rows & ~np.isnan(intensity), 1.0, np.nan), "bytes"),
        intensity=None,
        rate=None,
    )


def _with_rates(per_byte: Bound, table: Kernels) -> Bound:
    """Return the bounds with the rates of the table, and the seconds that these mean for the work of one byte."""
    seconds = per_byte.flops / table.rate
    by_rate = np.where(seconds > 0, seconds, np.nan)
    measured = np.where(np.isnan(table.flops), by_rate, per_byte.measured)
    return replace(per_byte, measured=frozen(measured), rate=table.rate)


def _mixed_operations(count: int) -> list[str]:
    """Return a remark if the operations of some kernels are sums of FLOPs and of operations of integers."""
    if not count:
        return []
    who = f"{counted(count, 'kernel')} {'does' if count == 1 else 'do'} FLOPs and operations of integers"
    return [f"{who}: both are charged to their own peaks, and rates and intensities in OP are of their sum."]


def _word(value: str, keyword: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{keyword} must be text, got {value!r:.60}")
    return value


def _share(value: float, keyword: str, *, most: bool) -> float:
    if not (0 <= real_number(value, keyword) < 1 or (most and value == 1)):
        raise ValueError(f"{keyword} must be a share from 0 to {'1' if most else 'below 1'}, got {value!r}")
    return float(value)


def _compute_time(table: Kernels, chip: Chip, asked: str) -> tuple[Floats, list[str]]:
    """Return the compute time, and a remark for each class of FLOPs for which the chip has no separate peak."""
    parts: list[Floats] = []
    remarks: list[str] = []
    for key, flops in table.flops_by_precision.items():
        counted = ~np.isnan(flops)
        if not counted.any():
            continue
        if key and key not in FLOP_CLASSES:
            parts.append(flops / chip.peak(key))
            continue
        peaks, charged = _own_peaks(key, counted, table, chip, asked)
        parts.append(flops / peaks)
        if charged:
            work = "operations" if is_integer(asked) else "FLOPs"
            remarks.append(f"{chip.name} has no separate peak for {key} {work}: they are charged to {charged}.")
    return sum_of_known(parts, len(table)), remarks


def _own_peaks(key: str, counted: Bools, table: Kernels, chip: Chip, asked: str) -> tuple[Floats | float, str]:
    """Return the peak of the class of FLOPs `key` for each kernel, and a text that names the general peaks in use.

    Each kernel gets the peak at its precision. Kernels without a precision get the precision `asked`. An empty `key`
    means plain FLOPs. If the chip has no peak for the class at a precision, the general peak of this precision is used.
    """
    coded = table.codes("precision")
    used = np.flatnonzero(np.bincount(coded.codes[counted]))
    peaks = np.full(len(coded.values), np.nan)
    charged: list[str] = []
    for code in used:
        precision = chip.precision(coded.values[code] or asked)
        peaks[code], has_own = chip.peak_of(key, precision) if key else (chip.peak(precision), True)
        # The general peak of a precision is the peak of the matrix units, so the classes of the matrix units need no
        # remark.
        if not has_own and key not in {"matmul", "tensor"}:
            charged.append(precision)
    named = " and ".join(f"the {precision} peak" for precision in dict.fromkeys(charged))
    return float(peaks[used[0]]) if len(used) == 1 else peaks[coded.codes], named


def _network_time(table: Kernels, chip: Chip, exposed: float) -> Floats:
    """Return the seconds of each kernel over the chip's link. A kernel without network bytes has 0 s.

    If no kernel has network bytes, the result is a single 0 of shape ().
    """
    moved = table.network_bytes
    has_bytes = moved > 0
    if not has_bytes.any():
        return np.zeros(())
    if exposed:
        name = table.names[int(has_bytes.argmax())]
        raise ValueError(
            f"exposed_comm excludes network bytes, and kernel '{name[:60]}' has network bytes: give one of the two"
        )
    return np.where(has_bytes, moved / chip.link_bandwidth(), 0.0)


def _levels_left_out(table: Kernels, chip: Chip) -> list[str]:
    """Return a remark for each memory level whose bytes do not count: the chip lacks the level or its bandwidth."""
    used = {level.casefold(): level for level, column in table.bytes_by_level.items() if not np.isnan(column).all()}
    own = {level.casefold(): memory.bandwidth for level, memory in chip.memories.items()}
    unknown = [level for level in chip.memories if level.casefold() in used and own[level.casefold()] is None]
    absent = [level for key, level in used.items() if key not in own and key != NETWORK and not is_off_chip(level)]
    return [
        *(f"{chip.name} has no bandwidth for {level}: its bytes do not count." for level in unknown),
        *(f"{chip.name} has no memory level '{level}': its bytes do not count." for level in absent),
    ]


def _doubtful_rates(chip: Chip, precision: str) -> list[str]:
    """Return a remark if the ridge point is so extreme that the peak or the bandwidth may lack a prefix such as T."""
    ridge = chip.ridge_point(precision)
    if _MIN_RIDGE <= ridge <= _MAX_RIDGE:
        return []
    unit = operation(precision)
    rate, bandwidth = format_quantity(chip.peak(precision), f"{unit}/s", 4), format_quantity(chip.bandwidth(), "B/s", 4)
    doubt = f"{chip.name} has a peak of {rate} and {chip.main_memory} with {bandwidth}"
    advice = "check the prefixes, as in '989 TFLOP/s' and '3.35 TB/s'"
    return [f"{doubt}, so its ridge point is {format_intensity(ridge, operation=unit)}: {advice}."]


def _doubtful_times(table: Kernels, bound_time: Floats, unlinked: Bools) -> list[str]:
    """Return remarks on times of 0, which count as not measured, and on times that may be in another unit."""
    remarks = []
    zero = int((table.time == 0).sum())
    if zero:
        verb, was = ("has", "is") if zero == 1 else ("have", "are")
        remarks.append(f"{counted(zero, 'kernel')} {verb} a time of 0 s and {was} taken as not measured.")
    each, factor = table.time / table.count, table.time / bound_time
    is_long = (each >= _MIN_DOUBTFUL_SECONDS) & (factor > _MIN_DOUBTFUL_FACTOR) & np.isfinite(factor)
    # Without its bytes over the link, a collective always takes far longer than its bound, so it is left out.
    rows = np.flatnonzero(is_long & ~unlinked)
    if len(rows):
        row = int(rows[0])
        ran = f"'{one_line(table.names[row])}' ran {format_quantity(float(each[row]), 's')} a launch"
        more = f", and {counted(len(rows) - 1, 'other kernel')} ran as far above" if len(rows) > 1 else ""
        remarks.append(
            f"{ran}, {format_factor(float(factor[row]))}× its bound{more}: check that times are in seconds, and that "
            "no FLOPs or bytes are missing."
        )
    return remarks


def _bytes_elsewhere(table: Kernels, chip: Chip, judged: tuple[str, ...]) -> Texts | None:
    """Return for each kernel whose bytes do not count a text with the levels of these bytes, shape (n,).

    Only bytes at the `judged` levels count. If a kernel has bytes at these levels, or no bytes at all, its text is
    None. If the text of every kernel would be None, the result is None.
    """
    by_level = {level.casefold(): (level, column) for level, column in table.bytes_by_level.items()}
    own = {
        level: table.bytes_on(chip) if level == chip.main_memory else by_level[level.casefold()][1]
        for level in chip.memories
        if level == chip.main_memory or level.casefold() in by_level
    }
    known = {level.casefold() for level in chip.memories}
    foreign = {level: column for key, (level, column) in by_level.items() if key not in {*known, NETWORK}}
    foreign = {level: column for level, column in foreign.items() if not is_off_chip(level)}
    lost = np.ones(len(table), dtype=np.bool_)
    for level in judged:
        lost &= np.isnan(own.get(level, np.full(len(table), np.nan)))
    others = {level: column for level, column in {**own, **foreign}.items() if level not in judged}
    if not any((lost & ~np.isnan(column)).any() for column in others.values()):
        return None
    found = np.full(len(table), None)
    for row in np.flatnonzero(lost):
        found[row] = ", ".join(level for level, column in others.items() if not np.isnan(column[row])) or None
    return frozen(found)


def bytes_by_level(table: Kernels, chip: Chip) -> dict[str, Floats]:
    """Return the bytes of the kernels at each memory level of `chip`.

    A level is left out if its bandwidth is unknown. A level other than the main memory is also left out if the table
    has no bytes for it.
    """
    by_level = {name.casefold(): column for name, column in table.bytes_by_level.items()}
    known = [level for level, memory in chip.memories.items() if memory.bandwidth is not None]
    return {
        level: table.bytes_on(chip) if level == chip.main_memory else by_level[level.casefold()]
        for level in known
        if level == chip.main_memory or level.casefold() in by_level
    }
