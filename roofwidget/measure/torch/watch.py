"""Sees the operations of PyTorch, for recordings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch

# This import takes seconds. PyTorch would do it during the first operation under a dispatch mode, and the operation
# would look slow.
import torch._dynamo
from torch.utils._python_dispatch import _get_current_dispatch_mode

from roofwidget.measure import watch
from roofwidget.measure.counts import Report
from roofwidget.measure.torch.dispatch import OpReporter, eagerly
from roofwidget.measure.torch.modules import ModulePaths


class Watch(watch.Watch):
    """Reports each operation that the thread runs, in the forward and in the backward pass."""

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        super().__init__(report, clock)
        self._paths = ModulePaths()
        self._mode = OpReporter(self._paths, self.report, clock, _synchronize)
        self._stack = ExitStack()

    def __enter__(self) -> object:
        self._stack.enter_context(eagerly())
        self._stack.enter_context(self._paths)
        self._stack.enter_context(self._mode)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._stack.close()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        with super().paused():
            if _get_current_dispatch_mode() is not self._mode:
                # Another mode was entered since, so this one cannot be left. It reports nothing.
                yield
                return
            self._mode.__exit__(None, None, None)
            try:
                yield
            finally:
                self._mode.__enter__()

    def wait(self, value: Any) -> None:  # noqa: ARG002 - all work of the device is waited for
        _synchronize()


def _synchronize() -> None:
    """Wait until the accelerators have nothing left to do. The first use of CUDA starts it, so this does not."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()
