"""A limit on the time that long work may take."""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """Time for long work, counted from now.

    Parameters
    ----------
    seconds
        The time; None: no limit.
    clock
        A function that returns the present time in seconds.

    Examples
    --------
    >>> ticks = iter([10.0, 14.9, 15.0])
    >>> budget = Budget(5, clock=lambda: next(ticks))
    >>> budget.is_over(), budget.is_over()
    (False, True)
    >>> Budget(None).is_over()
    False
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.is_limited = seconds is not None
        self._clock = clock
        self._end = 0.0 if seconds is None else clock() + seconds

    def is_over(self) -> bool:
        """Return whether the time has passed."""
        return self.is_limited and self._clock() >= self._end
