"""`bound_lenient`: `bound` that tolerates missing chip figures; the affected kernels become unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from roofwidget.analysis.bound import bound
from roofwidget.analysis.result import Bound
from roofwidget.chips import FLOP_CLASSES, NETWORK, Chip, MissingFigureError, is_host_link
from roofwidget.kernels.collectives import unlinked_collectives
from roofwidget.kernels.columns import Bools, frozen
from roofwidget.kernels.operations import operations_of
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import listed
from roofwidget.support.text_tables import counted


def bound_lenient(kernels: Kernels, chip: Chip, **options: Any) -> Bound:
    """Return a `Bound` like `roofwidget.bound`, in which a kernel's bound is unknown if the chip lacks a figure for it.

    The affected kernels keep their FLOPs and memory bytes. If only the link is unknown, they also keep their compute
    time, so their attainable rate is known. A remark says how many kernels are affected. The options are those of
    `roofwidget.bound`.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the memory that the options ask for.

    Examples
    --------
    >>> chip = Chip("My chip", {"bf16": 1e12}, {"HBM": 1e11})
    >>> bound_lenient(Kernels(["a", "b"], [1e9, 1e9], [1, 1], precision=["bf16", "fp64"]), chip).bound_by.tolist()
    ['compute', 'unknown']
    """
    no_peak, no_link = _without_peaks(kernels, chip), _without_link(kernels, chip)
    if not (no_peak | no_link).any():
        return bound(kernels, chip, **options)
    found = bound(_without_lost(kernels, no_peak, no_link), chip, **options)
    integer, unlinked = operations_of(kernels, found.precision).integer, unlinked_collectives(kernels)
    return replace(
        found,
        # The link is unknown, and not the bytes over it.
        unlinked=unlinked if unlinked.any() else None,
        flops=kernels.flops,
        intensity=kernels.intensity,
        rate=kernels.rate,
        integers=integer if integer.any() else None,
        network_time=frozen(np.where(no_link, np.nan, found.network_time)),
        time=frozen(np.where(no_link, np.nan, found.time)),
        remarks=(*found.remarks, *lacking(kernels, chip)),
    )


def lacking(kernels: Kernels, chip: Chip) -> list[str]:
    """Return sentences that count the kernels which need a figure the chip lacks: a peak, or a link between chips.

    Examples
    --------
    >>> chip = Chip("My chip", {"bf16": 1e12}, {"HBM": 1e11})
    >>> lacking(Kernels(["a", "b"], [1, 1], [1, 1], precision=["fp64", "fp8"]), chip)
    ['2 kernels need a figure that My chip lacks, such as the peak of its precision.']
    """
    sentences = (
        (_without_peaks(kernels, chip), f"a figure that {chip.name} lacks, such as the peak of its precision"),
        (_without_link(kernels, chip), _no_link(chip)),
    )
    return [
        f"{counted(count, 'kernel')} need{'s' if count == 1 else ''} {what}."
        for lost, what in sentences
        if (count := int(lost.sum()))
    ]


def _no_link(chip: Chip) -> str:
    """Return what kernels that communicate need, and how a link to the host can be said to be one between chips."""
    needed = f"a link to other chips, and {chip.name} has none of known bandwidth"
    if not chip.links or not all(map(is_host_link, chip.links)):
        return needed
    how = "replace(links={'Fabric': '32 GB/s'}) or links.Fabric in a file of chips"
    hosts = f"{listed(chip.links)} lead{'s' if len(chip.links) == 1 else ''} to its host"
    return f"{needed}: {hosts}; if chips communicate over it, name it otherwise, as in {how}"


def _without_peaks(kernels: Kernels, chip: Chip) -> Bools:
    unknown = kernels.codes("precision").where(lambda word: bool(word) and not _has_peak(chip, str(word)))
    lost = unknown & ~np.isnan(np.fmax(kernels.intensity, kernels.rate))
    for key, flops in kernels.flops_by_precision.items():
        if not key or key in FLOP_CLASSES:
            lost |= unknown & ~np.isnan(flops)
        elif not _has_peak(chip, key):
            lost |= ~np.isnan(flops)
    return lost


def _without_link(kernels: Kernels, chip: Chip) -> Bools:
    sent = kernels.network_bytes > 0
    return np.zeros(len(kernels), dtype=np.bool_) if _has(chip.link_bandwidth) else sent


def _has_peak(chip: Chip, precision: str) -> bool:
    return _has(lambda: chip.peak(precision))


def _has(figure: Callable[[], float]) -> bool:
    try:
        figure()
    except MissingFigureError:
        return False
    return True


def _without_lost(kernels: Kernels, no_peak: Bools, no_link: Bools) -> Kernels:
    return kernels.replace(
        flops={key: np.where(no_peak, np.nan, column) for key, column in kernels.flops_by_precision.items()},
        bytes={
            level: np.where(no_link, np.nan, column) if level.casefold() == NETWORK else column
            for level, column in kernels.bytes_by_level.items()
        },
        intensity=np.where(no_peak, np.nan, kernels.intensity),
        rate=np.where(no_peak, np.nan, kernels.rate),
    )
