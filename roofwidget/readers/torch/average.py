"""One row of the averages of PyTorch's profiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Average"]


@dataclass(frozen=True)
class Average:
    """Calls of one operation, or launches of one kernel.

    Parameters
    ----------
    key, count
        Its name, and how many there were.
    flops
        FLOPs of all calls; 0 where the profiler does not count them.
    shapes
        Sizes by argument, None where they are not told.
    device, host
        Seconds on the device and on the host: with what it calls, and without.
    is_kernel
        Whether it is a kernel rather than an operation.
    is_label
        Whether it is a stretch that somebody named, such as a step.
    """

    key: str
    count: float
    flops: float
    shapes: Sequence[object] | None
    device: tuple[float, float]
    host: tuple[float, float]
    is_kernel: bool
    is_label: bool

    def times(self, *, on_device: bool) -> tuple[float, float]:
        """Return its seconds on the device or on the host: with what it calls, and without."""
        return self.device if on_device else self.host
