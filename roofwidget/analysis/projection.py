"""The time of a measured program on another chip, if each kernel keeps its utilization.

New time = time × bound on the new chip / bound on the chip that the kernel ran on.
`js/src/roofline/projection.ts` has the same formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from roofwidget import units
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import FLOP_CLASSES, Chip, MissingFigureError
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import ASKED_PRECISION, Bools, Floats, Texts, frozen, is_whole, sum_of_known, unwarned
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.arguments import list_argument, text_argument
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, counted, html_table, html_with_notes, one_line
from roofwidget.units import format_factor, format_percent, format_quantity

_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
# Below this utilization the roof does not explain the time of a kernel.
_FAR_UTILIZATION: Final = 0.1
_HEADER: Final = ["kernel", "before", "after", "faster"]


@dataclass(frozen=True, eq=False, repr=False)
class Projection:
    """The times of n measured kernels on another chip. Seconds are self time, so they can be added up.

    Parameters
    ----------
    names
        The names of the kernels.
    chip, source
        The new chip (with the new clock if a clock was given), and the chip that the kernels ran on.
    precision
        The precision on the new chip for kernels that have no precision of their own.
    measured
        Seconds on the chip that the kernels ran on, shape (n,); NaN where not measured.
    by_kernel
        Seconds on the new chip, shape (n,); NaN where not measured.
    scaled
        Whether the time of a measured kernel was scaled, shape (n,). If a bound that the new time needs is unknown, the
        time stays the same.
    is_far
        Whether a scaled kernel has a utilization below 10 %, shape (n,). The roof does not explain the time of such a
        kernel. So the time can stay the same on a new chip, although the roof is higher.
    is_above
        Whether a scaled kernel is above its roof on the chip that it ran on, shape (n,). Its FLOPs, its bytes, its time
        or the peaks are wrong, and so is its new time.
    remarks
        Sentences on assumptions, those of the bounds on both chips included.

    Examples
    --------
    >>> import roofwidget as rw
    >>> old = rw.Chip("Old", {"bf16": 1e14}, {"HBM": 1e12})
    >>> new = rw.Chip("New", {"bf16": 4e14}, {"HBM": 2e12})
    >>> rw.project([("matmul", 4e14, 1e12, 8), ("gelu", 1e12, 1e12, 2), ("opaque", None, None, 1)], new, source=old)
    Projection: 3 kernels from Old to New (bf16): 11 s to 4 s, 2.8 times as fast
    kernel  before  after  faster
    matmul  8 s     2 s    4×
    gelu    2 s     1 s    2×
    opaque  1 s     1 s    stays
    1 kernel keeps its time, 1 s, because a bound is unknown.
    """

    __module__ = "roofwidget"

    names: Texts
    chip: Chip
    source: Chip
    precision: str
    measured: Floats
    by_kernel: Floats
    scaled: Bools
    is_far: Bools
    is_above: Bools
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    @unwarned
    def before(self) -> float:
        """Seconds of all measured kernels on the chip they ran on."""
        return float(np.nansum(self.measured))

    @property
    @unwarned
    def time(self) -> float:
        """Seconds of all measured kernels on the new chip."""
        return float(np.nansum(self.by_kernel))

    @property
    def speedup(self) -> float:
        """Time before over time on the new chip; NaN if the new time is 0."""
        return self.before / self.time if self.time > 0 else float("nan")

    @property
    def not_scaled(self) -> float:
        """Seconds of the kernels that keep their time because a bound is unknown."""
        return float(np.nansum(self.measured[~self.scaled]))

    @property
    def far(self) -> float:
        """Seconds of the kernels far below their roof (`is_far`), on the chip that they ran on."""
        return float(np.nansum(self.measured[self.is_far]))

    @property
    def above(self) -> float:
        """Seconds of the kernels above their roof (`is_above`), on the chip that they ran on."""
        return float(np.nansum(self.measured[self.is_above]))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on assumptions, on kernels that keep their time, and on kernels far below or above their roof."""
        found = []
        kept = int((~self.scaled & ~np.isnan(self.measured)).sum())
        if kept:
            who = "1 kernel keeps its time" if kept == 1 else f"{kept:,} kernels keep their time"
            found.append(f"{who}, {format_quantity(self.not_scaled, 's')}, because a bound is unknown.")
        if self.far > 0:
            share = format_percent(self.far / self.before)
            whose = f"Kernels below {format_percent(_FAR_UTILIZATION)} of their roof ({share} of the time)"
            found.append(f"{whose} may not get faster on another chip.")
        if self.above > 0:
            share = format_percent(self.above / self.before)
            found.append(
                f"Kernels above their roof ({share} of the time) have wrong counts, times or peaks, so their projected "
                "times are wrong too."
            )
        return (*self.remarks, *found)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row per kernel: name, old and new seconds, and whether the time was scaled."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        columns = {"name": self.names, "before": self.measured, "after": self.by_kernel, "scaled": self.scaled}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        rows = aligned([_HEADER, *self._rows(_MAX_LINES)]) if len(self) else []
        return "\n".join([self._title(), *rows, *and_more(len(self), _MAX_LINES), *self.notes])

    def _repr_html_(self) -> str:
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        return html_with_notes(html_table(self._title(), _HEADER, self._rows(_MAX_TABLE_ROWS), more), self.notes)

    def _title(self) -> str:
        count = counted(len(self), "kernel")
        chips = f"{one_line(self.source.name)} to {one_line(self.chip.name)} ({self.precision})"
        times = f"{format_quantity(self.before, 's')} to {format_quantity(self.time, 's')}"
        gain = "" if np.isnan(self.speedup) else f", {format_factor(self.speedup)} times as fast"
        return f"Projection: {count} from {chips}: {times}{gain}"

    def _rows(self, most: int) -> Iterator[list[str]]:
        for row in np.argsort(-self.measured, kind="stable")[:most]:
            before, after = float(self.measured[row]), float(self.by_kernel[row])
            if np.isnan(before):
                yield [one_line(self.names[row]), "not measured", "unknown", ""]
                continue
            gain = f"{format_factor(before / after)}×" if self.scaled[row] and after > 0 else "stays"
            yield [one_line(self.names[row]), format_quantity(before, "s"), format_quantity(after, "s"), gain]


@keywords("project")
@unwarned
def project(
    kernels: Any,
    chip: Chip | str,
    *,
    source: Chip | str | None = None,
    clock: float | str | None = None,
    precision: str | None = None,
    memory: str = "main",
    at_roof: Iterable[int] = (),
    recast: str | None = None,
) -> Projection:
    """Return the times that measured kernels would have on another chip, clock or precision, or at their roof.

    A kernel keeps its utilization: new time = time × bound on the new chip / bound on the chip that it ran on. For a
    kernel in `at_roof` the new time is the bound on the new chip. Self time scales by the same factor as time. If one
    of the two bounds is unknown or zero, the time stays the same.

    Parameters
    ----------
    kernels
        `Kernels`, or anything that converts to it.
    chip
        The new chip, or its name in the catalogue. It may be the same chip with another clock or precision.
    source
        The chip that the kernels ran on; by default `Kernels.chip`.
    clock
        A factor on the new chip's peaks, such as 0.8; or the new clock as text, such as ``"1.2 GHz"``. Text requires
        that the chip has a clock. Bandwidths do not change.
    precision
        The precision on the new chip for kernels that have no precision of their own: a name, or ``"auto"`` for the new
        chip's default. If it is None, these kernels get the default precision of the chip that they ran on. Bytes do
        not change.
    memory
        The level whose bytes count, on both chips, as in `roofwidget.bound`.
    at_roof
        Rows of kernels that reach their roof on the new chip.
    recast
        A precision for all FLOPs on the new chip, whatever precision the kernels name. FLOPs of a class, such as
        ``vector``, stay in their class. Bytes do not change.

    Raises
    ------
    MissingFigureError
        If a chip lacks the precision, the bandwidth or the clock that the options need. If a chip lacks a kernel's own
        precision, there is no error: this kernel keeps its time.
    TypeError, ValueError
        If the chip that the kernels ran on is unknown, or `clock` or a row of `at_roof` is invalid.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    >>> slower = rw.project([("matmul", 4e14, 1e12, 8), ("gelu", 1e12, 1e12, 2)], chip, source=chip, clock=0.5)
    >>> slower.before, slower.by_kernel.tolist(), slower.time
    (10.0, [16.0, 2.0], 18.0)
    """
    table = as_kernels(kernels)
    old = _source(table, source)
    new = _at_clock(look_up(chip), clock)
    rows = _rows(at_roof, len(table))
    for keyword, word in (("precision", precision), ("recast", recast)):
        if word is not None:
            text_argument(word, keyword)
    if recast is not None and precision is not None:
        raise ValueError(f"project: recast='{recast:.60}' replaces the precision of every kernel: leave out precision")
    asked = recast or precision or old.default_precision
    before = bound_lenient(table, old, memory=memory)
    there = table if recast is None else _recast(table)
    after = bound_lenient(there, new, precision=asked, memory=memory)
    factor = np.where(rows, after.time / after.measured, after.time / before.time)
    scaled = np.isfinite(factor) & (factor > 0) & ~np.isnan(table.self_time)
    seconds = np.where(scaled, table.self_time * np.where(scaled, factor, 1.0), table.self_time)
    return Projection(
        names=table.names,
        chip=new,
        source=old,
        precision=after.precision,
        measured=table.self_time,
        by_kernel=frozen(seconds),
        scaled=frozen(scaled),
        is_above=frozen(scaled & before.above_roof),
        is_far=frozen(scaled & ~rows & (before.time < _FAR_UTILIZATION * before.measured)),
        remarks=tuple(
            dict.fromkeys(
                [
                    *before.remarks,
                    *after.remarks,
                    *_remarks(there, new, asked_for=None if precision in {None, "auto"} else precision),
                ]
            )
        ),
    )


def _source(kernels: Kernels, source: Chip | str | None) -> Chip:
    if source is not None:
        return look_up(source)
    if kernels.chip is None:
        raise ValueError("project needs the chip that these kernels ran on, and they name none: give source=")
    return kernels.chip


def _at_clock(chip: Chip, clock: float | str | None) -> Chip:
    if clock is None:
        return chip
    factor = units.positive(units.parse(clock, "Hz", "clock"), "clock")
    if isinstance(clock, str):
        if chip.clock is None:
            raise MissingFigureError(
                f"{chip.name} has no clock that its peaks refer to: give clock as a factor, such as 0.8"
            )
        factor /= chip.clock
    return chip.with_rates({precision: peak * factor for precision, peak in chip.peak_flops.items()}, {})


def _rows(given: Iterable[int], n: int) -> Bools:
    rows = np.zeros(n, dtype=np.bool_)
    for row in list_argument(given, "at_roof", "[0, 3]"):
        if not is_whole(row) or not 0 <= row < n:
            raise ValueError(f"at_roof: {row!r:.60} is not a row of the {counted(n, 'kernel')}")
        rows[row] = True
    return rows


def _recast(kernels: Kernels) -> Kernels:
    """Return the kernels without their precisions. FLOPs of a class, such as ``vector``, stay in their class."""
    flops = kernels.flops_by_precision
    plain = [column for key, column in flops.items() if key not in FLOP_CLASSES]
    return kernels.replace(
        flops={
            ASKED_PRECISION: sum_of_known(plain, len(kernels)),
            **{key: column for key, column in flops.items() if key in FLOP_CLASSES},
        },
        precision=None,
    )


def _remarks(kernels: Kernels, chip: Chip, *, asked_for: str | None) -> Iterator[str]:
    has_own = kernels.codes("precision").where(lambda word: word is not None)
    for key, flops in kernels.flops_by_precision.items():
        if key in chip.peak_flops:
            has_own = has_own | (flops > 0)
    if asked_for and has_own.any():
        many = int(has_own.sum())
        who = "1 kernel names its" if many == 1 else f"{many:,} kernels name their"
        yield f"{who} own precision, so {asked_for} does not apply to {'it' if many == 1 else 'them'}."
