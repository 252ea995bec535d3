"""`bound`: kernels held against a chip's roofline."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from roofwidget import units
from roofwidget.analysis.result import Bound
from roofwidget.analysis.roofline import join_times, slowest_level
from roofwidget.chips import FLOP_CLASSES, Chip, is_off_chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import Floats, frozen, sum_of_known
from roofwidget.kernels.kernel import NETWORK
from roofwidget.kernels.non_kernels import non_kernels
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.did_you_mean import keywords

__all__ = ["bound", "bytes_by_level"]


@keywords("bound")
def bound(
    kernels: Any,
    chip: Chip | str,
    *,
    precision: str = "auto",
    memory: str = "main",
    overlap: float = 1.0,
    exposed_comm: float = 0.0,
    launch_overhead: float | str = 0.0,
) -> Bound:
    """Hold kernels against a chip's roofline.

    Parameters
    ----------
    kernels
        `Kernels` or anything they can be made from (a `Kernel`, a list of tuples or dicts, a data frame).
    chip
        The chip, or the name of one in the catalogue.
    precision
        The peak that judges kernels without a precision of their own: a name, or ``"auto"`` for the chip's default.
    memory
        The level whose bytes count: ``"main"``, a level's name, or ``"all"`` for the slowest of all known ones.
    overlap
        How much of the shorter of compute and memory time passes under the longer: from 1 (all of it: the roofline)
        to 0 (none: their sum).
    exposed_comm
        The share of the time, from 0 to below 1, in which only the link works and the roof is lower by. A kernel's
        ``"network"`` bytes say the same in another way: the two exclude each other.
    launch_overhead
        Seconds a launch, or text such as ``"5 us"``: a kernel needs at least its count times this.

    Returns
    -------
    Bound
        ``time`` is ``max(body / (1 - exposed_comm), network_time, overhead_time)`` with
        ``body = compute_time + memory_time - overlap * min(compute_time, memory_time)``. A tie within 1e-12 goes to
        compute.

    Raises
    ------
    MissingFigureError
        If the chip has no such precision or level, lacks the precision of a kernel, or has no link whose bandwidth is
        known for the network bytes of one; it never falls back.
    TypeError
        If a precision or memory is no text, or a share no number.
    ValueError
        If a share or `launch_overhead` is out of its range, or `exposed_comm` and network bytes are both given.

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

    compute_time, remarks = _compute_time(table, chip, asked)
    moved = bytes_by_level(table, chip)
    memory_time = {name: frozen(amount / chip.bandwidth(name)) for name, amount in moved.items()}
    network_time = _network_time(table, chip, exposed)
    overhead_time = table.count * a_launch if a_launch else np.zeros(())
    judged = tuple(memory_time) if level == "all" else (level,)
    slow, _ = slowest_level(memory_time, judged, len(table))
    body, time = join_times(compute_time, slow, network_time, overhead_time, overlap=hidden, exposed=exposed)
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
        remarks=(*remarks, *(_levels_left_out(table, chip) if level == "all" else ())),
        source=table.source,
        non_kernels=non_kernels(table),
    )


def _word(value: str, keyword: str) -> str:
    if not isinstance(value, str):
        msg = f"{keyword} must be text, got {value!r:.60}"
        raise TypeError(msg)
    return value


def _share(value: float, keyword: str, *, most: bool) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        msg = f"{keyword} must be a number, got {value!r:.60}"
        raise TypeError(msg)
    if not (0 <= value < 1 or (most and value == 1)):
        msg = f"{keyword} must be a share from 0 to {'1' if most else 'below 1'}, got {value!r}"
        raise ValueError(msg)
    return float(value)


def _compute_time(table: Kernels, chip: Chip, asked: str) -> tuple[Floats, list[str]]:
    """Seconds at the peaks, and a remark on each class of FLOPs that the chip has no peak of its own for."""
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
            remarks.append(f"{chip.name} has no peak of its own for {key} FLOPs: they are charged to {charged}.")
    return sum_of_known(parts, len(table)), remarks


def _own_peaks(
    key: str, counted: npt.NDArray[np.bool_], table: Kernels, chip: Chip, asked: str
) -> tuple[Floats | float, str]:
    """Peaks of plain FLOPs or of a class of them at each kernel's own precision, else the asked one.

    Also the precisions, in words, whose peak has to do for a class.
    """
    coded = table.codes("precision")
    used = np.flatnonzero(np.bincount(coded.codes[counted], minlength=len(coded.values)))
    peaks = np.full(len(coded.values), np.nan)
    charged: list[str] = []
    for code in used:
        precision = chip.precision(coded.values[code] or asked)
        peaks[code], has_own = chip.peak_of(key, precision) if key else (chip.peak(precision), True)
        # That the precision's peak is that of its matrix units goes without saying.
        if not has_own and key not in {"matmul", "tensor"}:
            charged.append(precision)
    named = " and ".join(f"the {precision} peak" for precision in dict.fromkeys(charged))
    return float(peaks[used[0]]) if len(used) == 1 else peaks[coded.codes], named


def _network_time(table: Kernels, chip: Chip, exposed: float) -> Floats:
    """Seconds over the chip's link, 0 where no bytes are told; of shape () if none are at all."""
    moved = table.network_bytes
    told = moved > 0
    if not told.any():
        return np.zeros(())
    if exposed:
        name = table.names[int(told.argmax())]
        msg = f"exposed_comm and network bytes say the same in two ways; kernel '{name[:60]}' has network bytes"
        raise ValueError(msg)
    return np.where(told, moved / chip.link_bandwidth(), 0.0)


def _levels_left_out(table: Kernels, chip: Chip) -> list[str]:
    """Remark on each level that has bytes but no known bandwidth, or that the chip does not have."""
    told = {level.casefold(): level for level, column in table.bytes_by_level.items() if not np.isnan(column).all()}
    own = {level.casefold(): memory.bandwidth for level, memory in chip.memories.items()}
    unknown = [level for level in chip.memories if level.casefold() in told and own[level.casefold()] is None]
    absent = [level for key, level in told.items() if key not in own and key != NETWORK and not is_off_chip(level)]
    return [
        *(f"{chip.name} has no bandwidth for {level}: its bytes do not count." for level in unknown),
        *(f"{chip.name} has no memory level '{level}': its bytes do not count." for level in absent),
    ]


def bytes_by_level(table: Kernels, chip: Chip) -> dict[str, Floats]:
    """Return bytes at each level of `chip` that has a bandwidth and of which some kernel tells, each of shape (n,)."""
    told = {name.casefold(): column for name, column in table.bytes_by_level.items()}
    known = [level for level, memory in chip.memories.items() if memory.bandwidth is not None]
    return {
        level: table.bytes_on(chip) if level == chip.main_memory else told[level.casefold()]
        for level in known
        if level == chip.main_memory or level.casefold() in told
    }
