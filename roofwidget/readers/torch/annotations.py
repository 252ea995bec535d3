"""The annotated spans of the host: steps of serving engines, iterations, optimizers and captures of graphs."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.torch.events import NONE, Collected
from roofwidget.readers.torch.nesting import Nest, Positions
from roofwidget.support.arrays import Integers

CAPTURE: Final = re.compile("capture_")
STEP: Final = re.compile(r"execute_|step\[|(?:prefill|decode|mixed)\[", re.IGNORECASE)
_STEP_WITH_SUMS: Final = re.compile(rf"(?:{STEP.pattern}).*sqsk?(?:\d|=)", re.IGNORECASE)
ITERATION: Final = re.compile(r"ProfilerStep#(\d{1,9})$")
OPTIMIZER: Final = re.compile(r"Optimizer\.")


class Annotations:
    """The annotated spans of a trace."""

    def __init__(self, collected: Collected) -> None:
        spans = collected.annotations
        self.texts = collected.annotation_texts.values()
        self.code = spans.text.integers()
        self.start, self.duration = spans.start.floats(), spans.duration.floats()
        self._thread = spans.thread.integers()

    def text(self, row: int) -> str:
        """Return the text of a span, ``""`` for row -1."""
        return self.texts[self.code[row]] if row >= 0 else ""

    def rows(self, kind: re.Pattern[str]) -> Integers:
        """Return the spans whose text begins like `kind`."""
        fits = np.array([kind.match(text) is not None for text in self.texts], dtype=np.bool_)
        return np.flatnonzero(fits[self.code]) if len(fits) else np.zeros(0, dtype=np.int64)

    def enclosing(self, kind: re.Pattern[str], thread: Positions, time: Floats) -> Positions:
        """Return the innermost span of a kind that was open at each time, or -1.

        A span of the same thread comes first: autograd launches from a thread of its own, but engines may run steps in
        several threads.
        """
        rows = self.rows(kind)
        found: Positions = np.full(len(time), NONE, dtype=np.intc)
        if not len(rows):
            return found
        start, duration = self.start[rows], self.duration[rows]
        for on, at in ((self._thread[rows], thread), (np.zeros_like(rows), np.zeros_like(thread))):
            place = Nest(on, start, duration).enclosing(at, time)
            found = np.where((found < 0) & (place >= 0), rows[place], found)
        return found

    def steps(self, thread: Positions, time: Floats) -> Positions:
        """Return the step of a serving engine at each time, or -1.

        The innermost step with sums over its requests comes first, because the sums give the work of attention.
        """
        with_sums = self.enclosing(_STEP_WITH_SUMS, thread, time)
        return np.where(with_sums >= 0, with_sums, self.enclosing(STEP, thread, time))
