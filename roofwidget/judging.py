"""Bounds of measured programs: one kernel that a chip cannot judge must not hide what it says of the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from roofwidget.bounds import Bools, Bound
from roofwidget.chips.chip import Chip, MissingFigureError
from roofwidget.chips.figures import FLOP_CLASSES
from roofwidget.kernels import Kernels
from roofwidget.roofline import bound

__all__ = ["judged", "without_figures"]


def judged(
    kernels: Kernels, chip: Chip, *, precision: str = "auto", memory: str = "main", launch_overhead: float = 0.0
) -> Bound:
    """Return what `roofwidget.bound` does, but kernels that need a figure the chip lacks are unknown.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the memory that is asked for.

    Examples
    --------
    >>> chip = Chip("My chip", {"bf16": 1e12}, {"HBM": 1e11})
    >>> judged(Kernels(["a", "b"], [1e9, 1e9], [1, 1], precision=["bf16", "fp64"]), chip).bound_by.tolist()
    ['compute', 'unknown']
    """
    lost = without_figures(kernels, chip)
    if lost.any():
        kernels = _unknown(kernels, lost)
    return bound(kernels, chip, precision=precision, memory=memory, launch_overhead=launch_overhead)


def without_figures(kernels: Kernels, chip: Chip) -> Bools:
    """Return which kernels have FLOPs of a precision, or bytes over a link, that the chip has no rate for, shape (n,).

    Examples
    --------
    >>> chip = Chip("My chip", {"bf16": 1e12}, {"HBM": 1e11})
    >>> without_figures(Kernels(["a", "b"], {"bf16": [1, 2], "fp64": [float("nan"), 2]}, [1, 1]), chip).tolist()
    [False, True]
    """
    own = kernels.codes("precision")
    lacking = np.array([bool(word) and not _has_peak(chip, str(word)) for word in own.words], dtype=np.bool_)
    lost = np.zeros(len(kernels), dtype=np.bool_)
    for key, flops in kernels.flops_by_precision.items():
        if not key or key in FLOP_CLASSES:
            lost |= lacking[own.codes] & ~np.isnan(flops)
        elif not _has_peak(chip, key):
            lost |= ~np.isnan(flops)
    if not _has(chip.link_bandwidth):
        lost |= kernels.network_bytes > 0
    return lost


def _has_peak(chip: Chip, precision: str) -> bool:
    return _has(lambda: chip.peak(precision))


def _has(figure: Callable[[], float]) -> bool:
    try:
        figure()
    except MissingFigureError:
        return False
    return True


def _unknown(kernels: Kernels, rows: Bools) -> Kernels:
    return Kernels(
        kernels.names,
        {key: np.where(rows, np.nan, column) for key, column in kernels.flops_by_precision.items()},
        {level: np.where(rows, np.nan, column) for level, column in kernels.bytes_by_level.items()},
        time=kernels.time,
        precision=kernels.codes("precision"),
        count=kernels.count,
        chip=kernels.chip,
    )
