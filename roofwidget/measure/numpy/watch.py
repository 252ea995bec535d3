"""Sees the operations on numpy arrays, for recordings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from roofwidget.measure import watch
from roofwidget.measure.counts import OpCount, Report
from roofwidget.measure.numpy.arrays import CountedArray, Recorder, plain, unrecorded
from roofwidget.measure.numpy.creation import creations_counted
from roofwidget.measure.numpy.functions import Rule
from roofwidget.measure.numpy.traffic import Array


class Watch(watch.Watch):
    """Reports the operations on the arrays that `seen` prepares, on their results, and on arrays that numpy makes."""

    needs_variables = True

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        super().__init__(report, clock)
        self._recorder = _Reporter(clock, self.report)
        self._stack = ExitStack()

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._recorder.warnings)

    def __enter__(self) -> object:
        self._stack.enter_context(creations_counted())
        self._stack.enter_context(self._recorder.recording())
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
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
        return self._recorder.wrap(value) if type(value) is np.ndarray else value

    def plain(self, value: Any) -> Any:
        return plain(value) if isinstance(value, CountedArray) else value


class _Reporter(Recorder):
    """Reports each operation when it has finished."""

    def __init__(self, clock: Callable[[], float], report: Report) -> None:
        super().__init__(clock)
        self._report = report

    def add(self, name: str, rule: Rule, given: tuple[Any, Any], result: Any, seconds: float) -> None:
        super().add(name, rule, given, result, seconds)
        self._report(replace(self.ops[-1], time=self.seconds[-1]))

    def add_element(self, array: Array, seconds: float, *, is_read: bool) -> None:
        super().add_element(array, seconds, is_read=is_read)
        size = array.itemsize
        self._report(OpCount("single elements", {}, size if is_read else 0, 0 if is_read else size, time=seconds))
