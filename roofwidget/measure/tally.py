"""Adds up operations that run one after another: one row for all that are the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from roofwidget.kernels.table import Kernels
from roofwidget.measure.counts import OpCount
from roofwidget.measure.profile import table_of

Row: TypeAlias = Literal["op", "module", "call"]
"""What a row is: equal operations, a module of a model, or everything together."""

ROWS: Final = ("op", "module", "call")
STATED: Final = "stated"
"""The category of an operation whose FLOPs and bytes the user states."""

_LEAST: Final = "time min (s)"
_MOST: Final = "time max (s)"


@dataclass
class _Same:
    """Equal operations: how often they ran, and their seconds. Seconds are NaN if an operation was not timed."""

    op: OpCount
    runs: int = 0
    total: float = 0.0
    nested: float = 0.0
    least: float = np.inf
    most: float = 0.0

    def add(self, time: float | None, nested: float) -> None:
        seconds = np.nan if time is None else time
        self.runs += 1
        self.total += seconds
        self.nested += nested
        self.least = min(self.least, seconds)
        self.most = max(self.most, seconds)

    def summed(self) -> OpCount:
        """Return one operation with the totals over all runs."""
        op, runs = self.op, self.runs

        def times(amount: int | None) -> int | None:
            return None if amount is None else runs * amount

        return replace(
            op,
            flops=None if op.flops is None else {key: runs * count for key, count in op.flops.items()},
            bytes_read=times(op.bytes_read),
            bytes_written=times(op.bytes_written),
            network_bytes=times(op.network_bytes),
            count=runs * op.count,
            time=None if np.isnan(self.total) else self.total,
        )


class Tally:
    """Sums of operations. Operations are equal if all but their times are equal.

    Operations that neither compute nor move bytes, such as views, are not counted.

    Examples
    --------
    >>> tally = Tally()
    >>> for time in (3e-6, 1e-6):
    ...     _ = tally.add(OpCount("matmul", {"tensor": 65_536}, 20_480, 8_192, "fp64", time=time))
    >>> kernels = tally.kernels("forward")
    >>> kernels.flops.tolist(), kernels.count.tolist(), kernels.time.tolist()
    ([131072.0], [2.0], [4e-06])
    """

    def __init__(self) -> None:
        self._sums: dict[object, _Same] = {}
        self.count = 0
        """The number of operations."""
        self.time = 0.0
        """Seconds of all operations that were timed. Those of nested ones count once."""

    def add(self, op: OpCount, *, nested: float = 0.0) -> bool:
        """Add an operation, and return whether it counts. `nested`: its seconds that are also those of others."""
        if op.flops is not None and op.bytes == 0 and not any(op.flops.values()):
            return False
        flops = None if op.flops is None else tuple(op.flops.items())
        moved = op.bytes_read, op.bytes_written, op.network_bytes
        key = (op.name, op.module, op.shapes, op.precision, op.category, op.count, flops, moved)
        same = self._sums.get(key)
        if same is None:
            same = self._sums[key] = _Same(op)
        same.add(op.time, nested)
        self.count += op.count
        self.time += (op.time or 0.0) - nested
        return True

    def kernels(
        self, name: str, by: Row = "op", *, warnings: tuple[str, ...] = (), call_time: float | None = None
    ) -> Kernels:
        """Return the sums as a table, in the order in which each operation first ran.

        Parameters
        ----------
        name
            What ran: the source of the table, and with ``by="call"`` the name of the row.
        by
            What a row is.
        warnings
            Warnings of the table.
        call_time
            With ``by="call"``, the seconds of the row. By default, the operations' seconds.
        """
        sums = list(self._sums.values())
        ops = [same.summed() for same in sums]
        table = table_of(ops, name, warnings)
        if not ops:
            return table
        nested = np.array([same.nested for same in sums])
        table = table.replace(
            self_time=np.maximum(table.time - nested, 0) if nested.any() else None,
            extra={**table.extra, "operation": [op.name for op in ops]},
            origin={
                field: [STATED if op.category == STATED else text for op, text in zip(ops, texts, strict=True)]
                for field, texts in table.origin.items()
            },
        )
        if by == "module":
            modules = [op.module or op.name for op in ops]
            return table.replace(extra={**table.extra, "module": modules}).groupby("module")
        if by == "call":
            return self._whole(table, name, call_time)
        least, most = ([getattr(same, end) / same.op.count for same in sums] for end in ("least", "most"))
        return table.replace(extra={**table.extra, _LEAST: least, _MOST: most})

    def _whole(self, table: Kernels, name: str, call_time: float | None) -> Kernels:
        whole = table.replace(extra={"call": name}).groupby("call")
        seconds = self.time if call_time is None else call_time
        return whole.replace(time=[seconds], self_time=None, count=[1], extra={}, launches=None, launch_rows=None)
