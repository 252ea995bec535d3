"""The roofline arithmetic: how long a kernel must take on a chip, and what that says.

Time first (Williams, Waterman and Patterson, CACM 52(4), 2009, written as times): a kernel needs
``compute_time = sum of FLOPs / peak`` and ``memory_time = max over levels of bytes / bandwidth``; the larger of the two
is its bound. Every other quantity follows from these, and zero FLOPs or zero bytes need no special case.

`js/src/roofline.ts` mirrors this file for what a drag needs; both are held to `tests/golden/roofline.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips.chip import Chip
from roofwidget.columns import Floats, Texts
from roofwidget.kernels import Kernels, as_kernels
from roofwidget.suggest import keywords

__all__ = ["Bound", "attainable", "bound", "ridge_point"]

# Two times closer than this (relative) are a tie, and a tie goes to compute.
_TIE: Final = 1e-12
# A point is above its roof when it beats its bound by more than rounding.
_ABOVE: Final = 1 + 1e-9


def attainable(ai: npt.ArrayLike, peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> Floats:
    """Return the highest rate a roofline allows: ``min(peak_flops, ai * bandwidth)``.

    Parameters
    ----------
    ai
        Arithmetic intensity, FLOP/byte; infinite for a kernel that moves no bytes.
    peak_flops
        Peak rate, FLOP/s.
    bandwidth
        Memory bandwidth, bytes/s.

    Returns
    -------
    numpy.ndarray
        FLOP/s, of the broadcast shape; NaN where `ai` is NaN.

    Raises
    ------
    ValueError
        If an intensity is negative, or a peak or bandwidth is not finite and above zero.

    Examples
    --------
    >>> attainable([1.0, 100.0, 1000.0], 2.307e15, 7.2e12).tolist()
    [7200000000000.0, 720000000000000.0, 2307000000000000.0]
    """
    intensity = np.asarray(ai, dtype=np.float64)
    if (intensity < 0).any():
        msg = f"ai must not be negative, got {intensity[intensity < 0].flat[0]}"
        raise ValueError(msg)
    return np.asarray(np.minimum(_positive(peak_flops, "peak_flops"), intensity * _positive(bandwidth, "bandwidth")))


def ridge_point(peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> Floats:
    """Return the intensity from which a kernel can be compute-bound: ``peak_flops / bandwidth``, FLOP/byte.

    Raises
    ------
    ValueError
        If a peak or bandwidth is not finite and above zero.

    Examples
    --------
    >>> round(float(ridge_point(2.307e15, 7.2e12)), 1)
    320.4
    """
    return np.asarray(_positive(peak_flops, "peak_flops") / _positive(bandwidth, "bandwidth"))


@dataclass(frozen=True, eq=False)
class Bound:
    """What a roofline says about n kernels on one chip. Arrays have shape (n,); unknown is NaN.

    Attributes
    ----------
    compute_time, memory_time, time
        Seconds: the FLOPs at their peaks, the bytes of each level at its bandwidth, and the largest of them.
    bound_by, regime
        ``compute``, a level's name or ``unknown``; ``compute``, ``memory`` or ``unknown``.
    ai
        FLOP/byte at each level.
    attainable, attainable_fraction
        FLOP/s the roof allows, and its share of the peak.
    achieved, peak_fraction, roof_fraction
        FLOPs over measured time, FLOP/s, and its share of the peak and of the roof (NaN at zero FLOPs).
    utilization
        Bound time over measured time: "% of roof", defined for zero FLOPs too.
    bandwidth_utilization
        Achieved bytes/s over bandwidth, by level.
    headroom
        Measured minus bound time, seconds.
    above_roof
        Whether a kernel beat its bound: something in its counts, its time or the peaks is off.
    """

    compute_time: Floats
    memory_time: Mapping[str, Floats]
    time: Floats
    bound_by: Texts
    regime: Texts
    ai: Mapping[str, Floats]
    attainable: Floats
    attainable_fraction: Floats
    achieved: Floats
    peak_fraction: Floats
    roof_fraction: Floats
    utilization: Floats
    bandwidth_utilization: Mapping[str, Floats]
    headroom: Floats
    above_roof: npt.NDArray[np.bool_]


@keywords("bound")
def bound(kernels: Any, chip: Chip | str, *, precision: str = "auto", memory: str = "main") -> Bound:
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

    Raises
    ------
    MissingFigureError
        If the chip has no such precision or level, or lacks the precision of a kernel; it never falls back.

    Examples
    --------
    >>> from roofwidget.chips import preset
    >>> guide = preset("tpu-roofline-guide")
    >>> on_v5p = bound(guide.kernels, guide.chips[3])
    >>> on_v5p.bound_by.tolist()
    ['HBM', 'HBM', 'compute', 'compute']
    """
    from roofwidget.chips import chip as look_up  # noqa: PLC0415 - the catalogue is read only for a name

    chip = look_up(chip)
    table = as_kernels(kernels)
    default = chip.precision(precision)
    compute_time = _compute_time(table, chip, default)
    moved = bytes_by_level(table, chip)
    memory_time = {level: amount / chip.bandwidth(level) for level, amount in moved.items()}
    judged = list(memory_time) if memory == "all" else [chip.memory(memory)]
    for level in judged:
        chip.bandwidth(level)
    unknown = np.full(len(table), np.nan)
    slowest, level_index = _slowest([memory_time.get(level, unknown) for level in judged] or [unknown])
    time = np.maximum(compute_time, slowest)

    names = np.array([*judged, "compute", "unknown"], dtype=object)
    is_unknown = np.isnan(time)
    with np.errstate(invalid="ignore"):
        is_compute = compute_time * (1 + _TIE) >= slowest
    index = np.where(is_unknown, len(names) - 1, np.where(is_compute, len(names) - 2, level_index))
    regime = np.array([*("memory" for _ in judged), "compute", "unknown"], dtype=object)[index]

    flops, measured = table.flops, np.where(table.time > 0, table.time, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.where(flops > 0, flops / compute_time, chip.peak(default))
        roof = flops / time
        achieved = flops / measured
        utilization = time / measured
        return Bound(
            compute_time=compute_time,
            memory_time=memory_time,
            time=time,
            bound_by=names[index],
            regime=regime,
            ai={level: flops / amount for level, amount in moved.items()},
            attainable=roof,
            attainable_fraction=roof / peak,
            achieved=achieved,
            peak_fraction=achieved / peak,
            roof_fraction=np.where(flops > 0, achieved / roof, np.nan),
            utilization=utilization,
            bandwidth_utilization={level: time_at / measured for level, time_at in memory_time.items()},
            headroom=measured - time,
            above_roof=utilization > _ABOVE,
        )


def _positive(given: npt.ArrayLike, what: str) -> Floats:
    numbers = np.asarray(given, dtype=np.float64)
    bad = ~(np.isfinite(numbers) & (numbers > 0))
    if bad.any():
        msg = f"{what} must be finite and above zero, got {numbers[bad].flat[0]}"
        raise ValueError(msg)
    return numbers


def _compute_time(table: Kernels, chip: Chip, default: str) -> Floats:
    """Seconds at the peaks: FLOPs of a named precision at its peak, the others at the kernel's own or the asked one."""
    total = np.zeros(len(table))
    known = np.zeros(len(table), dtype=bool)
    for precision, flops in table.flops_by_precision.items():
        counted = ~np.isnan(flops)
        if not counted.any():
            continue
        peaks = np.full(len(table), chip.peak(precision)) if precision else _own_peaks(table.precision, chip, default)
        total[counted] += flops[counted] / peaks[counted]
        known |= counted
    return np.where(known, total, np.nan)


def _own_peaks(precision: Texts, chip: Chip, default: str) -> Floats:
    peaks = np.full(len(precision), chip.peak(default))
    for own in {word for word in precision if word is not None}:
        peaks[precision == own] = chip.peak(own)
    return peaks


def bytes_by_level(table: Kernels, chip: Chip) -> dict[str, Floats]:
    """Return bytes at each level of `chip` that has a bandwidth and of which some kernel tells, each of shape (n,)."""
    moved: dict[str, Floats] = {}
    for level, memory in chip.memories.items():
        if memory.bandwidth is None:
            continue
        exact = [column for name, column in table.bytes_by_level.items() if name.casefold() == level.casefold()]
        if exact:
            moved[level] = exact[0]
        elif level == chip.main_memory:
            moved[level] = table.bytes
    main = moved[chip.main_memory]
    moved[chip.main_memory] = np.where(np.isnan(main), table.bytes, main)
    return moved


def _slowest(times: list[Floats]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return the largest of the known times and which it is; NaN where none is known."""
    stacked = np.stack(times)
    filled = np.where(np.isnan(stacked), -np.inf, stacked)
    index = filled.argmax(axis=0)
    largest = filled.max(axis=0)
    return np.where(np.isneginf(largest), np.nan, largest), index
