"""The job that every contestant of `peers.py` does: one roof that moves, three that stay, and points on both sides."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

# FLOP/s and bytes/s; the first moves.
ROOFS = ((1e14, 1e12), (4e15, 4e12), (5e13, 5e11), (2e13, 2e12))
# Powers of ten: the peaks between which it moves, away from the values of other roofs, and how far in a step.
LOW, HIGH, STEP = 14.3, 15.3, 0.02
# One for each step: a point whose side of the ridge point a step changes, whichever it is.
TRACERS = 50
# Powers of ten of FLOP/B and FLOP/s: the axes of contestants that do not choose their own.
DOMAIN = (-2.0, 4.5, 9.0, 17.0)
# Where the tracers are, and nothing else: FLOP/B from and to, FLOP/s from and to.
REGION = (1.8e2, 2.2e3, 6e9, 2e11)


@dataclass(frozen=True)
class Job:
    """The points of a job.

    Parameters
    ----------
    count : int
        How many points.

    Attributes
    ----------
    ai, rate, time : numpy.ndarray
        FLOP/B, FLOP/s and seconds of each point; the tracers come last.
    """

    count: int
    ai: Column = field(init=False)
    rate: Column = field(init=False)
    time: Column = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(1)
        others = self.count - TRACERS
        peak, bandwidth = ROOFS[0]
        ai = 10 ** random.uniform(-1, 3.5, others)
        # None is above its roof, wherever that is moved.
        rate = np.minimum(peak, ai * bandwidth) * random.uniform(0.05, 0.95, others)
        at = np.arange(TRACERS)
        tracers = 10 ** (LOW + STEP * (at + 0.5)) / bandwidth
        # In four rows, so that neighbours do not hide each other.
        rows = 10 ** (10 + 0.35 * (at % 4))
        object.__setattr__(self, "ai", np.concatenate([ai, tracers]))
        object.__setattr__(self, "rate", np.concatenate([rate, rows]))
        object.__setattr__(self, "time", np.concatenate([10 ** random.uniform(-6, -3, others), np.full(TRACERS, 1e-7)]))

    def sides(self, peak: float) -> list[int]:
        """Return of each point whether the roof that moves leaves it bound by compute."""
        result: list[int] = (self.ai * ROOFS[0][1] >= peak).astype(int).tolist()
        return result


def roof(peak: float, bandwidth: float) -> tuple[Column, Column]:
    """Return the 200 places of a roof that libraries draw as a line."""
    ai = np.logspace(DOMAIN[0], DOMAIN[1], 200)
    return ai, np.minimum(peak, ai * bandwidth)
