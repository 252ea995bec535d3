"""Repeats the calls that are timed: slow ones less often, and with an eye on what other programs do meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

from roofwidget.measure import system
from roofwidget.measure.counts import Request

T = TypeVar("T")


class Passes:
    """Repeats calls as a request asks.

    Examples
    --------
    >>> passes = Passes(Request(repeat=3))
    >>> passes.timed(lambda: 0.5)
    [0.5, 0.5, 0.5]
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._begin: system.Usage | None = None
        self._end: system.Usage | None = None

    def warm_up(self, call: Callable[[], object]) -> None:
        """Call what will be timed, as often as the request asks."""
        for _ in self._turns(self._request.warmup, self._request.warmup_limit_s):
            call()

    def timed(self, call: Callable[[], T]) -> list[T]:
        """Return the results of repeated calls; `call` takes the time itself."""
        self._begin = self._begin or self._request.usage()
        found = [call() for _ in self._turns(self._request.repeat, self._request.repeat_limit_s)]
        self._end = self._request.usage()
        return found

    @property
    def load(self) -> system.Shares | None:
        """Who else used the processors from the first to the last timed call; None if unknown."""
        if self._begin is None or self._end is None:
            return None
        return self._end.shares_since(self._begin, len(system.usable_processors()))

    def _turns(self, most: int, limit_s: float) -> Iterator[None]:
        """Yield as often as allowed: at least once, and not after the time limit."""
        start = self._request.clock() if limit_s < math.inf else 0.0
        for turn in range(most):
            if turn and limit_s < math.inf and self._request.clock() - start >= limit_s:
                return
            yield
