"""The kernels of a profile as people think of them: one row per kernel, those first that save most time."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from roofwidget.analysis.result import Bound
from roofwidget.kernels.columns import Bools, unwarned
from roofwidget.kernels.table import Kernels

# Launches of one name are added up if their FLOPs and bytes agree within about this factor: sums of unlike work would
# have a bound below the sum of their bounds.
_LIKE_WORK: Final = 1.1
_WORK: Final = "work per launch"


@unwarned
def launches_added(kernels: Kernels, *, apart: Bools | None = None) -> Kernels:
    """Return one row per kernel: launches of one name, precision and like work are added up.

    Launches in the mask `apart` are not added to the others.
    """
    if len(np.unique(kernels.names.astype(str))) == len(kernels):
        return kernels
    of_launch = [column / kernels.count for column in (kernels.flops, kernels.bytes)]
    work = [np.round(np.log(one) / math.log(_LIKE_WORK)) for one in (*of_launch, kernels.intensity, kernels.rate)]
    kinds = [*work, np.zeros(len(kernels)) if apart is None else apart]
    alike = [" ".join(map(str, amounts)) for amounts in zip(*kinds, strict=True)]
    added = kernels.replace(extra={**kernels.extra, _WORK: alike}).groupby("name", "precision", _WORK)
    return added.replace(extra={name: column for name, column in added.extra.items() if name != _WORK})


def ranking(bound: Bound) -> list[int]:
    """Return all rows: those that save most time at their roof first, then those without a bound, longest first."""
    saved = np.where(np.isnan(bound.headroom) | bound.above_roof, -1.0, bound.headroom)
    return [int(row) for row in np.lexsort((-np.nan_to_num(bound.measured), -saved))]
