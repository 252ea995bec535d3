"""What a roofline says about kernels on one chip: the columns that `roofwidget.analysis.bound.bound` returns.

The times are given; every other quantity is derived when it is first asked for, and then kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from roofwidget.analysis import report as bounds_text
from roofwidget.analysis.roofline import slowest_level
from roofwidget.chips import Chip
from roofwidget.kernels.columns import TIE_TOLERANCE, Bools, Floats, Texts, frozen
from roofwidget.kernels.kernel import NETWORK

__all__ = ["ABOVE_ROOF_FROM", "Bound"]

ABOVE_ROOF_FROM: Final = 1 + 1e-9
"""A point is above its roof when it beats its bound by more than rounding."""
# Two resources closer than this (relative to the larger) are in balance.
_BALANCE_TOLERANCE: Final = 0.05
# What `to_dataframe` writes beside name, bytes and the columns by level.
_COLUMNS: Final = (
    *("flops", "compute_time", "network_time", "overhead_time", "body_time", "time", "measured", "bound_by", "regime"),
    *("balanced", "peak", "attainable", "attainable_fraction", "achieved", "utilization", "roof_fraction"),
    *("peak_fraction", "headroom", "above_roof", "exposed_fraction", "energy"),
)
_BY_LEVEL: Final = ("bytes", "ai", "memory_time", "bandwidth_utilization")


A = TypeVar("A", bound=npt.NDArray[Any])


def _formula(derive: Callable[[Bound], A]) -> Callable[[Bound], A]:
    """Make what a formula gives read-only, without warnings for what is unknown or divided by zero."""

    @wraps(derive)
    def derived(bound: Bound) -> A:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return frozen(derive(bound))

    return derived


@dataclass(frozen=True, eq=False, repr=False)
class Bound:
    """What a roofline says about n kernels on one chip. Arrays have shape (n,) and are read-only; unknown is NaN.

    Parameters
    ----------
    names
        The kernels' names.
    chip
        The chip they are held against.
    precision, memory
        The precision and the memory level that were asked for, as the chip writes them; ``all`` for every level.
    overlap, exposed_comm, launch_overhead
        The options of `roofwidget.bound`: shares from 0 to 1, and seconds.
    judged
        The memory levels whose bytes count.
    flops, measured
        FLOPs over all precisions and launches, and measured seconds; NaN also for a measured zero.
    bytes
        Bytes by memory level, and under ``network`` those over the link where some kernel tells of them.
    compute_time, memory_time, network_time, overhead_time
        Seconds: the FLOPs at their peaks, the bytes of each level at its bandwidth, those over the link, the launches.
        A kernel that tells of no network bytes needs none of the link's time.
    body_time
        Compute and memory time joined by the overlap: with an overlap of 1 the larger of the two.
    time
        The bound: the largest of body time over ``1 - exposed_comm``, network time and overhead time.
    remarks
        Sentences on what was assumed; `notes` has them first.
    source
        Where the kernels came from.
    non_kernels
        What rows are that are no kernels, such as idle time (`roofwidget.kernels.non_kernels`), None for kernels.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 TB/s"})
    >>> rw.bound([("matmul", 1.4e11, 1.0e8, 2e-4), ("gelu", 1.3e8, 6.7e7)], chip)
    Bound: 2 kernels on My chip · bf16 · HBM
    kernel  AI at HBM    bound time  bound by  of peak         of roof
    matmul  1400 FLOP/B  142 µs      compute   71 %            71 %
    gelu    1.94 FLOP/B  20 µs       HBM       at most 0.66 %  not measured
    """

    __module__ = "roofwidget"

    names: Texts
    chip: Chip
    precision: str
    memory: str
    overlap: float
    exposed_comm: float
    launch_overhead: float
    judged: tuple[str, ...]
    flops: Floats
    measured: Floats
    bytes: Mapping[str, Floats]
    compute_time: Floats
    memory_time: Mapping[str, Floats]
    network_time: Floats
    overhead_time: Floats
    body_time: Floats
    time: Floats
    remarks: tuple[str, ...] = ()
    source: str = ""
    non_kernels: Texts | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def total_time(self) -> float:
        """Seconds that all kernels need one after the other: the sum of their bounds. NaN if one is unknown."""
        return float(self.time.sum())

    @cached_property
    def ai(self) -> Mapping[str, Floats]:
        """Arithmetic intensity at each level, FLOP/byte; under ``network`` FLOPs per byte over the link."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return {level: frozen(self.flops / moved) for level, moved in self.bytes.items()}

    @cached_property
    @_formula
    def peak(self) -> Floats:
        """The peak that judges each kernel, FLOP/s: FLOPs over compute time; at zero FLOPs the one asked for."""
        return np.where(self.flops > 0, self.flops / self.compute_time, self.chip.peak(self.precision))

    @cached_property
    @_formula
    def attainable(self) -> Floats:
        """The rate that the roof allows, FLOP/s: ``(1 - exposed_comm) * flops / body_time``."""
        return np.asarray((1 - self.exposed_comm) * self.flops / self.body_time)

    @cached_property
    @_formula
    def attainable_fraction(self) -> Floats:
        """The roof's share of the peak: what a kernel that was not measured shows as "at most"."""
        return np.asarray(self.attainable / self.peak)

    @cached_property
    @_formula
    def achieved(self) -> Floats:
        """FLOPs over measured time, FLOP/s."""
        return np.asarray(self.flops / self.measured)

    @cached_property
    @_formula
    def utilization(self) -> Floats:
        """Bound time over measured time: "% of roof", defined for zero FLOPs too."""
        return np.asarray(self.time / self.measured)

    @cached_property
    @_formula
    def roof_fraction(self) -> Floats:
        """Achieved over attainable; NaN at zero FLOPs. It equals `utilization` where neither link nor launches bind."""
        return np.where(self.flops > 0, self.achieved / self.attainable, np.nan)

    @cached_property
    @_formula
    def peak_fraction(self) -> Floats:
        """Achieved over peak."""
        return np.asarray(self.achieved / self.peak)

    @cached_property
    def bandwidth_utilization(self) -> Mapping[str, Floats]:
        """Achieved bytes/s over bandwidth, by level; under ``network`` over that of the link, where it is told."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shares = {level: frozen(seconds / self.measured) for level, seconds in self.memory_time.items()}
            if NETWORK in self.bytes:
                told = np.where(np.isnan(self.bytes[NETWORK]), np.nan, self.network_time)
                shares[NETWORK] = frozen(told / self.measured)
        return shares

    @cached_property
    @_formula
    def headroom(self) -> Floats:
        """Measured minus bound time, seconds: what reaching the roof is worth."""
        return np.asarray(self.measured - self.time)

    @cached_property
    @_formula
    def above_roof(self) -> Bools:
        """Whether a kernel beat its bound: something in its counts, its time or the peaks is off."""
        return np.asarray(self.utilization > ABOVE_ROOF_FROM)

    @cached_property
    @_formula
    def exposed_fraction(self) -> Floats:
        """The share of the bound time in which only the link works: ``exposed_comm``, or what the body leaves of it."""
        if not self.network_time.any():
            return np.full(len(self), self.exposed_comm)
        left = np.maximum(self.network_time - self.body_time, 0)
        return np.where(self.network_time > 0, left / self.time, 0.0)

    @cached_property
    @_formula
    def energy(self) -> Floats:
        """Joules: FLOPs, bytes of main memory, and constant power over the measured time, or where unknown the bound.

        All NaN on a chip without `Chip.energy`. Choi, Bedard, Fowler and Vuduc, IPDPS 2013: time overlaps, energy adds.
        """
        cost = self.chip.energy
        moved = self.bytes.get(self.chip.main_memory)
        if cost is None or moved is None:
            return np.full(len(self), np.nan)
        seconds = np.where(np.isnan(self.measured), self.time, self.measured)
        return np.asarray(self.flops * cost.per_flop + moved * cost.per_byte + seconds * cost.constant_power)

    @cached_property
    @_formula
    def bound_by(self) -> Texts:
        """The resource with the largest time: ``compute``, a level's name, ``network``, ``overhead``, ``unknown``."""
        return np.array([*self.judged, NETWORK, "overhead", "compute", "unknown"], dtype=object)[self._binding]

    @cached_property
    @_formula
    def regime(self) -> Texts:
        """The class of `bound_by`, in which every level is ``memory``."""
        of_levels = ["memory" for _ in self.judged]
        return np.array([*of_levels, NETWORK, "overhead", "compute", "unknown"], dtype=object)[self._binding]

    @cached_property
    @_formula
    def _binding(self) -> npt.NDArray[np.int8]:
        """Positions in the judged levels, network, overhead, compute, unknown."""
        network, overhead, compute, unknown = range(len(self.judged), len(self.judged) + 4)
        memory_time, level = slowest_level(self.memory_time, self.judged, len(self))
        index = np.where(self.compute_time * (1 + TIE_TOLERANCE) >= memory_time, compute, level)
        if self.network_time.any() or self.overhead_time.any():
            outside = np.where(self.network_time * (1 + TIE_TOLERANCE) >= self.overhead_time, network, overhead)
            rest = np.maximum(self.network_time, self.overhead_time)
            index = np.where(self._stretched(self.body_time) * (1 + TIE_TOLERANCE) >= rest, index, outside)
        return np.where(np.isnan(self.time), unknown, index).astype(np.int8)

    @cached_property
    @_formula
    def balanced(self) -> Bools:
        """Whether the two resources that need longest are within 5 % of each other: more of one alone gains little.

        The resources are compute, each judged level (these over ``1 - exposed_comm``), the link and the launches.
        """
        within = [self.compute_time, *(self.memory_time[level] for level in self.judged if level in self.memory_time)]
        first, second = np.zeros(len(self)), np.zeros(len(self))
        for seconds in (*map(self._stretched, within), self.network_time, self.overhead_time):
            # Of the unknown levels nothing can be said: fmax passes them over.
            second = np.fmax(second, np.minimum(first, seconds))
            first = np.fmax(first, seconds)
        return np.asarray((first > 0) & (first - second <= _BALANCE_TOLERANCE * first) & ~np.isnan(self.time))

    def _stretched(self, seconds: Floats) -> Floats:
        """Return body seconds as they lie in the bound, among exposed communication."""
        return seconds / (1 - self.exposed_comm) if self.exposed_comm else seconds

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was assumed, and on the kernels above their roof: what forbids their being there."""
        return (*self.remarks, *bounds_text.above_roof(self))

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row a kernel, with ``ai:HBM``, ``memory_time:HBM`` and so on by level."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        frame: dict[str, Any] = {"name": self.names}
        frame |= {name: getattr(self, name) for name in _COLUMNS}
        frame |= {f"{name}:{level}": part for name in _BY_LEVEL for level, part in getattr(self, name).items()}
        return pd.DataFrame(frame)

    def __repr__(self) -> str:
        return bounds_text.plain(self)

    def _repr_html_(self) -> str:
        return bounds_text.html(self)
