"""Sees the operations on numpy arrays, for recordings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from roofwidget.measure import watch
from roofwidget.measure.counts import Report
from roofwidget.measure.numpy.arrays import CountedArray, Recorder, plain, unrecorded
from roofwidget.measure.numpy.creation import creations_counted


class Watch(watch.Watch):
    """Reports the operations on the arrays that `seen` prepares, on their results, and on arrays that numpy makes."""

    needs_variables = True

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        super().__init__(report, clock)
        self._recorder = Recorder(clock, self.report)
        self._stack = ExitStack()

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._recorder.warnings)

    def __enter__(self) -> object:
        self._stack.enter_context(creations_counted())
        self._stack.enter_context(self._recorder.recording())
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._recorder.flush()
        super().__exit__(*error)
        self._stack.close()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        was_open, self._recorder.is_open = self._recorder.is_open, False
        try:
            with super().paused(), unrecorded():
                yield
        finally:
            self._recorder.is_open = was_open

    def seen(self, value: Any) -> Any:
        # Text, dates and records stay plain: most of them take no part in the code, so that no warning is due.
        is_counted = type(value) is np.ndarray and value.dtype.kind in "biufc"
        return self._recorder.wrap(value) if is_counted else value

    def plain(self, value: Any) -> Any:
        return plain(value) if isinstance(value, CountedArray) else value
