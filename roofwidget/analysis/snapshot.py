"""`Snapshot`: a frozen roofline with the positions of its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget import units
from roofwidget.analysis.result import Bound, ratio
from roofwidget.kernels.columns import Floats, known_or, unwarned
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import without_surrogates

_MAX_KERNELS: Final = 200
_MAX_NAME_CHARACTERS: Final = 80
_VALUES_PER_KERNEL: Final = 3


@dataclass(frozen=True)
class Snapshot:
    """A roofline and the positions of its kernels at the time of the snapshot.

    Parameters
    ----------
    name
        The name of the snapshot, at most 80 characters.
    chip
        The id of the chip.
    precision, memory
        The precision of `peak_flops` and the memory level of `bandwidth`.
    peak_flops, bandwidth
        FLOP/s and bytes/s, finite and above zero.
    kernels
        ``(name, FLOP/byte, FLOP/s)`` of at most the 200 longest kernels. If several kernels share a name, only the
        longest of these is kept. The intensity of a kernel without bytes is infinite. A kernel without FLOPs has
        intensity 0 and a rate in bytes/s.
    hidden
        Whether the chart hides the snapshot.

    Raises
    ------
    TypeError
        If a name is not text, or `kernels` are not rows.
    ValueError
        For an empty or too long name, or a number that has no position on the chart.

    Examples
    --------
    >>> Snapshot("before", "v5p", "bf16", "HBM", 459e12, 2.765e12, [("gelu", 0.5, 1.38e12)]).kernels
    (('gelu', 0.5, 1380000000000.0),)
    """

    __module__ = "roofwidget"

    name: str
    chip: str
    precision: str
    memory: str
    peak_flops: float
    bandwidth: float
    kernels: tuple[tuple[str, float, float], ...] = ()
    hidden: bool = False

    def __post_init__(self) -> None:
        for field in ("name", "chip", "precision", "memory"):
            text = getattr(self, field)
            if not isinstance(text, str):
                raise TypeError(f"the {field} of a snapshot must be text, got {text!r:.40}")
            object.__setattr__(self, field, without_surrogates(text.strip()))
        if not self.name or len(self.name) > _MAX_NAME_CHARACTERS:
            raise ValueError(
                f"a snapshot needs a name of 1 to {_MAX_NAME_CHARACTERS} characters, got '{self.name:.40}'"
            )
        for field, unit in (("peak_flops", "FLOP/s"), ("bandwidth", "B/s")):
            what = f"{field} of snapshot '{self.name}'"
            rate = units.figure(getattr(self, field), unit, what)
            object.__setattr__(self, field, rate)
        object.__setattr__(self, "hidden", bool(self.hidden))
        object.__setattr__(self, "kernels", _checked_positions(self.name, self.kernels))


def _checked_positions(snapshot: str, given: Any) -> tuple[tuple[str, float, float], ...]:
    rows = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else None
    if rows is None or not all(isinstance(row, Sequence) and len(row) == _VALUES_PER_KERNEL for row in rows):
        raise TypeError(
            f"kernels of snapshot '{snapshot}' must be rows of (name, FLOP/byte, FLOP/s), got {given!r:.40}"
        )
    if len(rows) > _MAX_KERNELS:
        raise ValueError(
            f"snapshot '{snapshot}' holds at most {_MAX_KERNELS} kernels, got {len(rows)}: leave out the shortest"
        )
    positions = []
    for label, intensity, rate in rows:
        name = without_surrogates(str(label))
        try:
            position = (name, float(intensity), float(rate))
        except (TypeError, ValueError):
            position = (name, np.nan, np.nan)
        if not (position[1] >= 0 and 0 < position[2] < np.inf):
            raise ValueError(
                f"kernel '{position[0]:.40}' of snapshot '{snapshot}' has no position at {intensity!r}, {rate!r}"
            )
        positions.append(position)
    return tuple(positions)


def kernel_positions(kernels: Kernels, rows: Rows, bound: Bound) -> tuple[tuple[str, float, float], ...]:
    """Return the positions of the longest kernels in `rows`, one per name, at the memory level that binds them."""
    intensity, rate = _places(bound)
    if bound.chip.main_memory in bound.judged:
        # A kernel keeps its place also if the chip lacks its peak.
        intensity = known_or(intensity, bound.intensity)
        rate = np.where((bound.intensity > 0) & np.isnan(rate), bound.rate, rate)
    # Kernels that were not measured come last, after kernels with a measured time of 0 s.
    longest = rows[np.argsort(-np.nan_to_num(kernels.self_time[rows], nan=-1), kind="stable")]
    positions: dict[str, tuple[str, float, float]] = {}
    for row in longest.tolist():
        name = without_surrogates(str(bound.names[row] or ""))
        has_position = intensity[row] >= 0 and 0 < rate[row] < np.inf
        if has_position and name and name not in positions:
            positions[name] = (name, float(intensity[row]), float(rate[row]))
        if len(positions) == _MAX_KERNELS:
            break
    return tuple(positions.values())


@ratio
@unwarned
def _places(bound: Bound) -> Floats:
    """Return the intensities, and the rates: FLOP/s, or bytes/s of kernels without FLOPs. The shape is (2, n)."""
    moved, slowest = _binding_bytes(bound)
    least = np.maximum(bound.compute_time, slowest) / (1 - bound.exposed_comm)
    seconds = np.where(np.isnan(bound.measured), least, bound.measured)
    return np.stack([bound.flops / moved, np.where(bound.flops > 0, bound.flops, moved) / seconds])


def _binding_bytes(bound: Bound) -> tuple[Floats, Floats]:
    """Return the bytes of the level that binds each kernel, and the largest memory time of the kernel.

    If no level binds, use the first level where the kernel has a place: without FLOPs, one that moves bytes.
    """
    moved = np.full(len(bound), np.nan)
    slowest = np.full(len(bound), np.nan)
    for level, seconds in bound.judged_memory_time.items():
        is_placed = ~np.isnan(moved) & ((bound.flops != 0) | (moved > 0))
        first = ~is_placed & ~np.isnan(seconds)
        binds = (bound.bound_by == level) & ~np.isnan(seconds)
        moved = np.where(first | binds, bound.bytes[level], moved)
        slowest = np.fmax(slowest, seconds)
    return moved, slowest
