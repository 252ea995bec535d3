"""The time in which a device ran nothing, as rows of their own, so that shares of time are shares of a trace's span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.torch.events import Collected, Integers

__all__ = ["IDLE", "Spans", "with_idle"]

IDLE: Final = "idle"
_NAME: Final = "idle or not profiled"
_ORIGIN: Final = "first event of the device to its last, less the union of their durations over all streams"
_MICRO: Final = 1e-6
# A share of the span; what rounded times leave between two kernels is less.
_ROUNDING: Final = 1e-6
_MUCH_OVERLAP: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Spans:
    """From the first event of each device to its last, seconds.

    Parameters
    ----------
    device
        Numbers of the devices, -1 where the trace does not tell, shape (d,).
    span, idle, added
        How long each span is, how long nothing ran in it, and all durations in it added up, shape (d,).
    """

    device: Integers
    span: Floats
    idle: Floats
    added: Floats

    @classmethod
    def of(cls, kept: Collected) -> Spans:
        """Return the spans of a trace with events of devices."""
        start, duration, device = (kept.device.start.floats(), kept.device.duration.floats(), kept.device.device)
        number = device.integers()
        order = np.lexsort((start, number))
        found = []
        for rows in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            begin = start[rows] - start[rows[0]]
            reached = np.maximum.accumulate(begin + duration[rows])
            idle = np.maximum(begin[1:] - reached[:-1], 0).sum()
            found.append((number[rows[0]], reached[-1], idle, duration[rows].sum()))
        devices, *seconds = zip(*found, strict=True)
        span, idle, added = (np.array(column, dtype=np.float64) * _MICRO for column in seconds)
        return cls(np.array(devices), span, np.where(idle > _ROUNDING * span, idle, 0), added)

    def overlap(self) -> list[str]:
        """Say how much kernels overlap, if they do."""
        added, busy = float(self.added.sum()), float((self.span - self.idle).sum())
        if added <= (1 + _MUCH_OVERLAP) * busy:
            return []
        return [f"kernels overlap: their times add up to {added / busy:.1%} of the time in which devices ran something"]


def with_idle(calls: Kernels, spans: Spans) -> Kernels:
    """Return the rows and one more for each device that was idle."""
    is_idle = spans.idle > 0
    nothing = np.full(int(is_idle.sum()), np.nan)
    device = np.where(spans.device >= 0, spans.device, np.nan)[is_idle]

    def longer(column: DictColumn, word: str | None = None) -> DictColumn:
        words = column.values if word in column.values else (*column.values, word)
        codes = np.full(len(nothing), words.index(word), dtype=np.int32)
        return DictColumn(words, np.append(column.codes, codes))

    def unknown(column: Floats) -> Floats:
        return np.append(column, nothing)

    return Kernels(
        [*calls.names, *[_NAME] * len(nothing)],
        {key: unknown(column) for key, column in calls.flops_by_precision.items()},
        {level: unknown(column) for level, column in calls.bytes_by_level.items()},
        time=np.append(calls.time, spans.idle[is_idle]),
        precision=longer(calls.codes("precision")),
        category=longer(calls.codes("category"), IDLE),
        count=np.append(calls.count, np.ones(len(nothing))),
        origin={key: longer(calls.codes(f"origin:{key}"), _ORIGIN if key == "time" else None) for key in calls.origin},
        extra={
            key: longer(column)
            if isinstance(column, DictColumn)
            else np.append(column, device if key == "device" else nothing)
            for key, column in calls.extra_columns.items()
        },
        chip=calls.chip,
        warnings=calls.warnings,
        source=calls.source,
    )
