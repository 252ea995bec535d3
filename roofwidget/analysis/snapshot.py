"""`Snapshot`: a roofline that was frozen, with the positions of its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget import units
from roofwidget.analysis.result import Bound
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import without_surrogates

__all__ = ["Snapshot", "kernel_positions"]

_MAX_KERNELS: Final = 200
_MAX_NAME_LETTERS: Final = 80
_VALUES_PER_KERNEL: Final = 3


@dataclass(frozen=True)
class Snapshot:
    """A roof and the places of its kernels as they stood when they were frozen.

    Parameters
    ----------
    name
        What it is called, 80 letters at most.
    chip
        Id of the chip.
    precision, memory
        Whose peak and bandwidth they are.
    peak_flops, bandwidth
        FLOP/s and bytes/s, finite and above zero.
    kernels
        ``(name, FLOP/byte, FLOP/s)`` of at most 200 kernels, those that took longest, of one name only the longest.
        Without bytes the intensity is infinite, without FLOPs 0, and then the rate is in bytes/s.
    hidden
        Whether the chart leaves it out.

    Raises
    ------
    TypeError
        If a name, or what should be a row of `kernels`, is something else.
    ValueError
        For an empty name, or for a number that has no place.

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
                msg = f"the {field} of a snapshot is text, not {text!r:.40}"
                raise TypeError(msg)
            object.__setattr__(self, field, without_surrogates(text.strip()))
        if not self.name or len(self.name) > _MAX_NAME_LETTERS:
            msg = f"a snapshot needs a name of 1 to {_MAX_NAME_LETTERS} letters, not '{self.name:.40}'"
            raise ValueError(msg)
        for field, unit in (("peak_flops", "FLOP/s"), ("bandwidth", "B/s")):
            what = f"{field} of snapshot '{self.name}'"
            rate = units.positive(units.parse(getattr(self, field), unit, what), what)
            object.__setattr__(self, field, rate)
        object.__setattr__(self, "hidden", bool(self.hidden))
        object.__setattr__(self, "kernels", _checked_positions(self.name, self.kernels))


def _checked_positions(snapshot: str, given: Any) -> tuple[tuple[str, float, float], ...]:
    rows = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else None
    if rows is None or not all(isinstance(row, Sequence) and len(row) == _VALUES_PER_KERNEL for row in rows):
        msg = f"kernels of snapshot '{snapshot}' are rows of (name, FLOP/byte, FLOP/s), not {given!r:.40}"
        raise TypeError(msg)
    if len(rows) > _MAX_KERNELS:
        msg = f"snapshot '{snapshot}' keeps {_MAX_KERNELS} kernels at most, not {len(rows)}: leave out the shortest"
        raise ValueError(msg)
    places = []
    for told, intensity, rate in rows:
        name = without_surrogates(str(told))
        try:
            place = (name, float(intensity), float(rate))
        except (TypeError, ValueError):
            place = (name, np.nan, np.nan)
        if not (place[1] >= 0 and 0 < place[2] < np.inf):
            msg = f"kernel '{place[0]:.40}' of snapshot '{snapshot}' has no place at {intensity!r}, {rate!r}"
            raise ValueError(msg)
        places.append(place)
    return tuple(places)


def kernel_positions(kernels: Kernels, rows: Rows, bound: Bound) -> tuple[tuple[str, float, float], ...]:
    """Return where the longest of these rows stand, of one name the first: at the level that binds."""
    moved, slowest = _binding_bytes(bound)
    seconds = np.where(np.isnan(bound.measured), np.fmax(bound.compute_time, slowest), bound.measured)
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = bound.flops / moved
        rate = np.where(bound.flops > 0, bound.flops, moved) / seconds
    longest = rows[np.argsort(-np.nan_to_num(kernels.self_time[rows]), kind="stable")]
    places: dict[str, tuple[str, float, float]] = {}
    for row in longest.tolist():
        name = without_surrogates(str(bound.names[row] or ""))
        has_place = intensity[row] >= 0 and 0 < rate[row] < np.inf
        if has_place and name and name not in places:
            places[name] = (name, float(intensity[row]), float(rate[row]))
        if len(places) == _MAX_KERNELS:
            break
    return tuple(places.values())


def _binding_bytes(bound: Bound) -> tuple[Floats, Floats]:
    """Return bytes and seconds of the level that binds each kernel, or of the first it tells of."""
    moved = np.full(len(bound), np.nan)
    slowest = np.full(len(bound), np.nan)
    for level in bound.judged:
        seconds = bound.memory_time.get(level)
        if seconds is None:
            continue
        first = np.isnan(slowest) & ~np.isnan(seconds)
        binds = (bound.bound_by == level) & ~np.isnan(seconds)
        moved = np.where(first | binds, bound.bytes[level], moved)
        slowest = np.fmax(slowest, seconds)
    return moved, slowest
