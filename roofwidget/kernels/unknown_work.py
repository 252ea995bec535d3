"""Which work of a table is unknown, and what would make it known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.columns import Bools, DictColumn
from roofwidget.kernels.non_kernels import non_kernels
from roofwidget.support.text_tables import html_table, one_line
from roofwidget.units import format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

MISSING: Final = "missing for FLOPs"
"""The column of `Kernels.extra` that says what is missing to know the FLOPs of a row."""
PROPOSED: Final = "proposed rule"
"""The column of `Kernels.extra` with a line for a file of rules, as far as the sizes of a row suggest one."""
ARGUMENTS: Final = "arguments"
"""The column of `Kernels.extra` with the arguments of a call of unknown work as JSON, to which rules are applied."""

_HEADER: Final = ("operation", "sizes", "time", "share", "launches", "missing", "rule")


@dataclass(frozen=True)
class UnknownWork:
    """A row of a table whose FLOPs or bytes are unknown.

    Parameters
    ----------
    row
        The row of the table.
    name, shape
        The operation or the kernel, and the sizes of its tensors; `shape` is None if they are unknown.
    time, share
        Seconds of all launches, and their share of the time of all kernels.
    launches
        The number of launches.
    flops, bytes
        Whether these are unknown.
    missing
        What would make the FLOPs known; None if nobody says.
    rule
        A line for a file of rules that the sizes suggest, or None.
    """

    __module__ = "roofwidget"

    row: int
    name: str
    shape: str | None
    time: float
    share: float
    launches: int
    flops: bool
    bytes: bool
    missing: str | None
    rule: str | None


class UnknownWorks(tuple[UnknownWork, ...]):
    """The rows of unknown work, longest first."""

    __module__ = "roofwidget"
    __slots__ = ()

    @property
    def share(self) -> float:
        """The share of the time of all kernels in which FLOPs are unknown."""
        return sum(one.share for one in self if one.flops)

    def rules(self) -> str:
        """Return the proposed lines for a file of rules, each once, longest time first."""
        return "\n".join(dict.fromkeys(one.rule for one in self if one.rule is not None))

    def _repr_html_(self) -> str:
        rows = [
            (
                one_line(one.name),
                one.shape or "",
                format_quantity(one.time, "s"),
                format_percent(one.share),
                f"{one.launches:,}",
                one.missing or "",
                one.rule or "",
            )
            for one in self
        ]
        return html_table(f"Unknown work: {format_percent(self.share)} of the time", _HEADER, rows)


def has_unknown_work(kernels: Kernels) -> Bools:
    """Return a mask, shape (n,): true where FLOPs are unknown, or bytes of the main memory and of each link."""
    crosses = np.zeros(len(kernels), dtype=np.bool_)
    for column in kernels.bytes_by_level.values():
        crosses |= column > 0
    unknown: Bools = np.isnan(kernels.flops) | (np.isnan(kernels.bytes) & ~crosses)
    return unknown


def unknown_work(kernels: Kernels) -> UnknownWorks:
    """Return the rows of unknown work; see `Kernels.unknown_work`."""
    is_kernel = np.array([kind is None for kind in non_kernels(kernels)], dtype=np.bool_)
    no_flops, no_bytes = np.isnan(kernels.flops), np.isnan(kernels.bytes)
    time = np.nan_to_num(kernels.self_time)
    total = max(float(time[is_kernel].sum()), np.finfo(float).tiny)
    rows = np.flatnonzero(is_kernel & has_unknown_work(kernels))
    shape, missing, rule = (_texts(kernels, name) for name in ("shape", MISSING, PROPOSED))
    return UnknownWorks(
        UnknownWork(
            int(row),
            str(kernels.names[row]),
            shape[row],
            float(time[row]),
            float(time[row]) / total,
            round(float(kernels.count[row])),
            bool(no_flops[row]),
            bool(no_bytes[row]),
            missing[row],
            rule[row],
        )
        for row in rows[np.argsort(-time[rows], kind="stable")]
    )


def _texts(kernels: Kernels, name: str) -> list[str | None]:
    column = kernels.extra_columns.get(name)
    return list(column.texts()) if isinstance(column, DictColumn) else [None] * len(kernels)
