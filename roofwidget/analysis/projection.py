"""How long a measured program would take on another chip, if each kernel stayed as far from its roof as it is.

A kernel's bound on the new chip over its bound on the chip it ran on is the factor of its time: its utilization stays.
`js/src/roofline/projection.ts` mirrors this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from roofwidget import units
from roofwidget.analysis.bound_lenient import bound_lenient, lacking, without_figures
from roofwidget.chips import FLOP_CLASSES, Chip, MissingFigureError
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import ASKED_PRECISION, Bools, Floats, Texts, frozen, sum_of_known
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, and_more, html_table, html_with_notes, one_line, percent
from roofwidget.units import format_quantity, format_significant

__all__ = ["Projection", "project"]

_MAX_LINES: Final = 8
_MAX_TABLE_ROWS: Final = 50
# Below this share of its roof something else than the roof explains a kernel's time.
_FAR_UTILIZATION: Final = 0.1
_HEADER: Final = ["kernel", "before", "after", "faster"]


@dataclass(frozen=True, eq=False, repr=False)
class Projection:
    """How long n measured kernels would take on another chip. Seconds are self time, so they may be added.

    Parameters
    ----------
    names
        The kernels' names.
    chip, source
        The chip that is asked about, its clock changed if that was asked for, and the one they ran on.
    precision
        What judges on the new chip the kernels without a precision of their own.
    measured
        Seconds on the chip they ran on, shape (n,); NaN where not measured.
    by_kernel
        Seconds on the new chip, shape (n,); NaN where not measured.
    scaled
        Whether a measured kernel's time changed with the chip, shape (n,): where a bound is not known it stayed.
    is_far
        Whether a kernel that scales keeps less than 10 % of its roof, shape (n,): something else than the roof explains
        its time, and may be the same on the new chip.
    remarks
        Sentences on what was assumed.

    Examples
    --------
    >>> import roofwidget as rw
    >>> old = rw.Chip("Old", {"bf16": 1e14}, {"HBM": 1e12})
    >>> new = rw.Chip("New", {"bf16": 4e14}, {"HBM": 2e12})
    >>> rw.project([("matmul", 4e14, 1e12, 8), ("gelu", 1e12, 1e12, 2), ("opaque", None, None, 1)], new, source=old)
    Projection: 3 kernels from Old to New (bf16): 11 s to 4 s, 2.75 times as fast
    kernel  before  after  faster
    matmul  8 s     2 s    4×
    gelu    2 s     1 s    2×
    opaque  1 s     1 s    stays
    1 kernel keeps its time, 1 s, as a bound is not known.
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
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def before(self) -> float:
        """Seconds of all measured kernels on the chip they ran on."""
        return float(np.nansum(self.measured))

    @property
    def time(self) -> float:
        """Seconds of all measured kernels on the new chip."""
        return float(np.nansum(self.by_kernel))

    @property
    def speedup(self) -> float:
        """How many times as fast the program is on the new chip; NaN where it takes no time."""
        return self.before / self.time if self.time > 0 else float("nan")

    @property
    def not_scaled(self) -> float:
        """Seconds of the kernels that keep their time, as a bound of theirs is not known."""
        return float(np.nansum(self.measured[~self.scaled]))

    @property
    def far(self) -> float:
        """Seconds of the kernels far below their roof (`is_far`) on the chip they ran on."""
        return float(np.nansum(self.measured[self.is_far]))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was assumed, on the kernels whose time stayed, and on those far below their roof."""
        said = []
        kept = int((~self.scaled & ~np.isnan(self.measured)).sum())
        if kept:
            who = "1 kernel keeps its time" if kept == 1 else f"{kept:,} kernels keep their time"
            said.append(f"{who}, {format_quantity(self.not_scaled, 's')}, as a bound is not known.")
        if self.far > 0:
            share = percent(self.far / self.before)
            whose = f"{share} of the time is that of kernels below {percent(_FAR_UTILIZATION)} of their roof"
            said.append(f"{whose}, which another roof may not speed up.")
        return (*self.remarks, *said)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row a kernel: name, seconds before and after, and whether it was scaled."""
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
        count = f"{len(self):,} kernel{'' if len(self) == 1 else 's'}"
        chips = f"{one_line(self.source.name)} to {one_line(self.chip.name)} ({self.precision})"
        times = f"{format_quantity(self.before, 's')} to {format_quantity(self.time, 's')}"
        gain = "" if np.isnan(self.speedup) else f", {format_significant(self.speedup)} times as fast"
        return f"Projection: {count} from {chips}: {times}{gain}"

    def _rows(self, most: int) -> Iterator[list[str]]:
        for row in np.argsort(-self.measured, kind="stable")[:most]:
            before, after = float(self.measured[row]), float(self.by_kernel[row])
            if np.isnan(before):
                yield [one_line(self.names[row]), "not measured", "unknown", ""]
                continue
            gain = f"{format_significant(before / after)}×" if self.scaled[row] and after > 0 else "stays"
            yield [one_line(self.names[row]), format_quantity(before, "s"), format_quantity(after, "s"), gain]


@keywords("project")
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
    """Say how long measured kernels would take on another chip, at another clock or precision, or on reaching a roof.

    A kernel keeps its utilization, so its new time is its time times its bound on the new chip over that on the chip it
    ran on; a kernel that reaches its roof takes its bound. Self time grows and shrinks as the time does. Where one of
    the bounds is not known, or zero, the time stays.

    Parameters
    ----------
    kernels
        `Kernels` or anything they can be made from.
    chip
        The new chip, or the name of one in the catalogue. The same chip with another clock is a what-if too.
    source
        The chip they ran on; by default the one they tell.
    clock
        What the new chip's peaks are multiplied by, such as 0.8; or its clock as text, such as ``"1.2 GHz"``, if the
        chip tells the clock that its peaks are of. Bandwidths stay.
    precision
        What judges kernels without a precision of their own on the new chip: a name, or ``"auto"`` for the chip's
        default; by default the one that judges them on the chip they ran on. Bytes stay what they are.
    memory
        The level whose bytes count, as in `roofwidget.bound`; on both chips.
    at_roof
        Rows that are taken to reach their roof on the new chip.
    recast
        A precision that all FLOPs are done in on the new chip, whichever kernels tell; those of a class, such as
        vector, stay in it. Bytes stay what they are.

    Raises
    ------
    MissingFigureError
        If a chip lacks the precision or the bandwidth that is asked for, or the clock. A kernel whose own precision a
        chip lacks keeps its time.
    TypeError, ValueError
        If there is no chip that they ran on, or a clock or row is none.

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
    if recast is not None and precision is not None:
        msg = f"project: with recast='{recast:.60}' no precision of a kernel's own is left: leave out precision"
        raise ValueError(msg)
    asked = recast or precision or old.default_precision
    before = bound_lenient(table, old, memory=memory)
    there = table if recast is None else _recast(table)
    after = bound_lenient(there, new, precision=asked, memory=memory)
    with np.errstate(divide="ignore", invalid="ignore"):
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
        is_far=frozen(scaled & ~rows & (before.time < _FAR_UTILIZATION * before.measured)),
        remarks=tuple(_remarks(there, new, asked_for=None if precision in {None, "auto"} else precision)),
    )


def _source(kernels: Kernels, source: Chip | str | None) -> Chip:
    if source is not None:
        return look_up(source)
    if kernels.chip is None:
        msg = "project needs the chip that these kernels ran on, as they do not tell it: give source="
        raise ValueError(msg)
    return kernels.chip


def _at_clock(chip: Chip, clock: float | str | None) -> Chip:
    if clock is None:
        return chip
    factor = units.positive(units.parse(clock, "Hz", "clock"), "clock")
    if isinstance(clock, str):
        if chip.clock is None:
            msg = f"{chip.name} does not tell the clock that its peaks are of: give clock as a factor, such as 0.8"
            raise MissingFigureError(msg)
        factor /= chip.clock
    return chip.with_rates({precision: peak * factor for precision, peak in chip.peak_flops.items()}, {})


def _rows(given: Iterable[int], n: int) -> Bools:
    rows = np.zeros(n, dtype=np.bool_)
    for row in given:
        if isinstance(row, bool) or not isinstance(row, (int, np.integer)) or not 0 <= row < n:
            msg = f"at_roof: {row!r:.60} is not a row of kernels, which has {n}"
            raise ValueError(msg)
        rows[row] = True
    return rows


def _recast(kernels: Kernels) -> Kernels:
    """Return the same work without any precision; FLOPs of a class keep it."""
    flops = kernels.flops_by_precision
    plain = [column for key, column in flops.items() if key not in FLOP_CLASSES]
    return kernels.replace(
        flops={
            **({ASKED_PRECISION: sum_of_known(plain, len(kernels))} if plain else {}),
            **{key: column for key, column in flops.items() if key in FLOP_CLASSES},
        },
        precision=None,
    )


def _remarks(kernels: Kernels, chip: Chip, *, asked_for: str | None) -> Iterator[str]:
    lost = without_figures(kernels, chip)
    if lost.any():
        yield lacking(lost, chip)
    own = kernels.codes("precision")
    told = np.array([word is not None for word in own.values], dtype=np.bool_)[own.codes]
    for key, flops in kernels.flops_by_precision.items():
        if key in chip.peak_flops:
            told = told | (flops > 0)
    if asked_for and told.any():
        many = int(told.sum())
        who = "1 kernel tells its" if many == 1 else f"{many:,} kernels tell their"
        yield f"{who} own precision, so {asked_for} does not judge {'it' if many == 1 else 'them'}."
