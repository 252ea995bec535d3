"""The lowest roof of each kernel: the longest of its bounds by all memory levels that the profile counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from roofwidget.analysis.instruction_roofline import L1_WITH_SHARED, shared_memory_level
from roofwidget.analysis.result import Bound
from roofwidget.analysis.roofline import join_times
from roofwidget.kernels.columns import TIE_TOLERANCE, frozen, unwarned


@unwarned
def lowest_roof(bound: Bound) -> Bound:
    """Return the bounds if each known memory level counts, L1 with shared memory among them.

    Bytes of another level by which a kernel is above its roof are wrong, so they do not count. A kernel whose bound at
    the levels of `bound` is unknown, or is not shorter, keeps it.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e15}, {"HBM": 2e12, "L2": 4e12})
    >>> found = rw.bound(rw.Kernels(["copy"], [0], {"HBM": [2e9], "L2": [1.2e10]}, time=[4e-3]), chip)
    >>> float(found.headroom[0]), float(lowest_roof(found).headroom[0])
    (0.003, 0.001)
    """
    if L1_WITH_SHARED in bound.judged:
        return bound
    chip, moved, seconds = bound.chip, dict(bound.bytes), dict(bound.memory_time)
    if bound.low_level and (found := shared_memory_level(bound.low_level.columns, bound.measured, chip)):
        moved[L1_WITH_SHARED], chip = found
        seconds[L1_WITH_SHARED] = moved[L1_WITH_SHARED] / chip.bandwidth(L1_WITH_SHARED)
    judged = tuple(dict.fromkeys([*bound.judged, *seconds]))
    body, time = bound.body_time, bound.time
    for level in judged[len(bound.judged) :]:
        alone, needed = join_times(
            bound.compute_time,
            seconds[level],
            bound.network_time,
            bound.overhead_time,
            overlap=bound.overlap,
            exposed=bound.exposed_comm,
        )
        counts = (needed > bound.time * (1 + TIE_TOLERANCE)) & ~(needed > bound.measured)
        seconds[level] = frozen(np.where(counts, seconds[level], np.nan))
        body = np.where(counts & (needed > time), alone, body)
        time = np.where(counts & (needed > time), needed, time)
    if not (time > bound.time).any():
        return bound
    return replace(
        bound,
        chip=chip,
        judged=judged,
        bytes=moved,
        memory_time=seconds,
        body_time=frozen(body),
        time=frozen(time),
        per_byte=bound.per_byte and replace(bound.per_byte, judged=judged),
    )
