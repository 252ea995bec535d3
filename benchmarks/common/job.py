"""The jobs of the contestants in `peers.py`: one moving roof, three fixed roofs, and points on both sides.

In the gentle job every point stays below the moving roof. In the sweeping job the roof moves down through a tenth of
the points and up again: in each step a fiftieth of this tenth pass the roof.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

# FLOP/s and bytes/s; the first roof moves.
ROOFS = ((1e14, 1e12), (4e15, 4e12), (5e13, 5e11), (2e13, 2e12))
# Powers of ten: the lowest and highest peak of the moving roof (different from other roofs), and the step.
LOW, HIGH, STEP = 14.3, 15.3, 0.02
# The number of points that change their side of the ridge point: one in each step.
TRACERS = 50
NAMES = GENTLE, SWEEP = "gentle", "sweep"
# The share of points through which the roof of the sweeping job passes.
PASSED = 0.1
# Axis limits as powers of ten of FLOP/B and FLOP/s, for contestants without automatic limits.
DOMAIN = (-2.0, 4.5, 9.0, 17.0)
# A region with only the tracers: FLOP/B from and to, FLOP/s from and to.
REGION = (1.8e2, 2.2e3, 6e9, 2e11)


@dataclass(frozen=True)
class Job:
    """The points of a job, and the way of its roof.

    Parameters
    ----------
    count : int
        The number of points.
    name : str
        `GENTLE` or `SWEEP`.

    Attributes
    ----------
    ai, rate, time : numpy.ndarray
        FLOP/B, FLOP/s and seconds of each point; the tracers come last.
    """

    count: int
    name: str = GENTLE
    ai: Column = field(init=False)
    rate: Column = field(init=False)
    time: Column = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(1)
        others = self.count - TRACERS
        peak, bandwidth = ROOFS[0]
        ai = 10 ** random.uniform(-1, 3.5, others)
        # None of these is above the roof at any position of the roof.
        rate = np.minimum(peak, ai * bandwidth) * random.uniform(0.05, 0.95, others)
        if self.name == SWEEP:
            passed = int(others * PASSED)
            rate[:passed] = 10 ** random.uniform(LOW, HIGH, passed)
            # Right of the ridge point of a roof through the point, so that only the flat of the roof passes it.
            ai[:passed] = 10 ** random.uniform(np.log10(rate[:passed] / bandwidth), 3.5)
        at = np.arange(TRACERS)
        tracers = 10 ** (LOW + STEP * (at + 0.5)) / bandwidth
        # Four rows, so that neighbours do not cover each other.
        rows = 10 ** (10 + 0.35 * (at % 4))
        object.__setattr__(self, "ai", np.concatenate([ai, tracers]))
        object.__setattr__(self, "rate", np.concatenate([rate, rows]))
        object.__setattr__(self, "time", np.concatenate([10 ** random.uniform(-6, -3, others), np.full(TRACERS, 1e-7)]))

    @property
    def way(self) -> dict[str, float]:
        """The first and last position of the slider, its step, and the number of tracers, for the page's scripts."""
        start, end, step = (HIGH, LOW, -STEP) if self.name == SWEEP else (LOW, HIGH, STEP)
        return {"start": start, "end": end, "step": step, "tracers": TRACERS}

    @property
    def tracer(self) -> tuple[float, float]:
        """FLOP/B and FLOP/s of the first tracer."""
        return float(self.ai[-TRACERS]), float(self.rate[-TRACERS])

    def sides(self, peak: float) -> list[int]:
        """Return for each point whether it is compute-bound under the moving roof."""
        result: list[int] = (self.ai * ROOFS[0][1] >= peak).astype(int).tolist()
        return result


def roof(peak: float, bandwidth: float) -> tuple[Column, Column]:
    """Return a roof as a line of 200 points, for plotting libraries."""
    ai = np.logspace(DOMAIN[0], DOMAIN[1], 200)
    return ai, np.minimum(peak, ai * bandwidth)
