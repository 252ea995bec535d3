"""`Watch`: sees the operations of one framework while code runs, for recordings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from roofwidget.measure.counts import OpCount, Report


class Watch:
    """Reports the operations of a framework while it is open, in the thread that opened it.

    Some frameworks show their operations only on values that are prepared for it: `seen` prepares them. Others show
    all. `roofwidget.measure.frameworks.WATCHERS` lists the subclasses.

    Parameters
    ----------
    report
        Takes each operation with its time when it has finished.
    clock
        Returns seconds.
    """

    needs_variables = False
    """Whether operations are seen only on values that `seen` has prepared."""

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._report = report
        # The number of reasons to report nothing: not open, or paused.
        self._pauses = 1

    def __enter__(self) -> object:
        self._pauses -= 1
        return self

    def __exit__(self, *error: object) -> None:
        self._pauses += 1

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Report nothing in a block."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be seen."""
        return ()

    @property
    def is_reporting(self) -> bool:
        """Whether operations are reported now."""
        return not self._pauses

    def report(self, op: OpCount) -> None:
        """Report an operation, unless the watch is closed or paused."""
        if not self._pauses:
            self._report(op)

    def seen(self, value: Any) -> Any:
        """Return a value that behaves as the given one and whose operations are reported."""
        return value

    def plain(self, value: Any) -> Any:
        """Return the value that was given to `seen`, or a plain value for a result of it."""
        return value

    def wait(self, value: Any) -> None:
        """Wait until the work that makes a value is done, where a framework returns before."""
