"""The same kernels on several chips, or at several precisions of one chip: times, and changes of regime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.result import Bound
from roofwidget.chips import Chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import Bools, Floats, frozen, unwarned
from roofwidget.kernels.presets import Preset
from roofwidget.kernels.table import as_kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, counted, first_few, html_table, html_with_notes, one_line
from roofwidget.units import format_factor, format_quantity

_MAX_NAMED_KERNELS: Final = 3


@dataclass(frozen=True)
class Flip:
    """A kernel whose regime differs between the chips.

    Parameters
    ----------
    row
        The row of the kernel in the table.
    name
        The name of the kernel.
    regimes
        The regime on each chip, by the label of the chip: ``compute``, ``memory``, ``network`` or ``overhead``.
    """

    __module__ = "roofwidget"

    row: int
    name: str
    regimes: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The same n kernels on m chips. The time of a program is the **sum** of its kernels' bounds.

    All times are for the same work: a kernel whose bound is unknown on any chip is left out of the times of all chips.
    `unknown` names the kernels that are left out.

    Parameters
    ----------
    labels
        A label for each chip, m different texts.
    bounds
        A `Bound` for each chip.

    Examples
    --------
    >>> from roofwidget import preset
    >>> guide = preset("tpu-roofline-guide")
    >>> compare_chips(guide.kernels, guide.chips[1:])
    Comparison: 4 kernels on 3 chips, one kernel after the other
    chip        time     speed-up  perfect overlap  kernels bound by
    v7x (bf16)  4.04 ms  1×        3.81 ms          3 memory, 1 compute
    v6e         10.6 ms  0.38×     9.59 ms          3 memory, 1 compute
    v5p         19.7 ms  0.2×      19.2 ms          2 memory, 2 compute
    changes sides: MatMul 600x600 (memory on v7x (bf16), memory on v6e, compute on v5p)
    """

    __module__ = "roofwidget"

    labels: tuple[str, ...]
    bounds: tuple[Bound, ...]

    @cached_property
    def kernel_time(self) -> Floats:
        """The bound of each kernel on each chip, seconds, shape (n, m); NaN where the bound is unknown."""
        return frozen(np.stack([one.time for one in self.bounds], axis=1))

    @cached_property
    def known(self) -> Bools:
        """Whether the bound of a kernel is known on all chips, shape (n,). `time` leaves out all other kernels."""
        return frozen(np.asarray(~np.isnan(self.kernel_time).any(axis=1)))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the kernels that are left out because their bound is unknown on some chip."""
        return tuple(self.bounds[0].names[~self.known])

    @cached_property
    def time(self) -> Floats:
        """Seconds of the whole program on each chip, one kernel after the other, shape (m,)."""
        return frozen(self.kernel_time[self.known].sum(axis=0))

    @cached_property
    def perfect_overlap(self) -> Floats:
        """Seconds with perfectly overlapping kernels, shape (m,): the bound of the program's summed FLOPs and bytes.

        Four kinds of time are summed over all kernels: compute time, time of each memory level, link time, launch time.
        The result is the largest sum, so it is never longer than `time`. Kernels that run one after the other take
        longer if some kernels are memory-bound and others are compute-bound. The option ``overlap`` has no effect here.
        """
        return frozen(np.array([self._overlapped(one) for one in self.bounds]))

    @cached_property
    @unwarned
    def speedup(self) -> Floats:
        """``speedup[i, j] = time[i] / time[j]``: how many times faster chip j is than chip i, shape (m, m).

        NaN where both times are 0.
        """
        return frozen(self.time[:, np.newaxis] / self.time[np.newaxis, :])

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """The kernels whose bound is known on all chips, but whose regime differs between chips."""
        regimes = np.stack([one.regime for one in self.bounds], axis=1)
        changed = self.known & (regimes != regimes[:, :1]).any(axis=1)
        return tuple(
            Flip(int(row), self.bounds[0].names[row], dict(zip(self.labels, regimes[row], strict=True)))
            for row in np.flatnonzero(changed)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on kernels that are left out and on changed regimes, and the remarks of all bounds.

        A remark that several bounds share is listed once.
        """
        assumed = dict.fromkeys(remark for one in self.bounds for remark in one.remarks)
        return (*self._changes(), *assumed)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per kernel, and columns per chip, such as ``time:v5p`` for v5p."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        frame: dict[str, Any] = {"name": self.bounds[0].names}
        for label, one in zip(self.labels, self.bounds, strict=True):
            frame |= {f"time:{label}": one.time, f"bound_by:{label}": one.bound_by}
        return pd.DataFrame(frame)

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned([_HEADER, *self._rows()]), *self.notes])

    def _repr_html_(self) -> str:
        return html_with_notes(html_table(self._title(), _HEADER, self._rows()), self.notes)

    def _overlapped(self, one: Bound) -> float:
        inside = [one.compute_time, *one.judged_memory_time.values()]
        body = max(float(np.nansum(seconds[self.known])) for seconds in inside)
        outside = (float(seconds[self.known].sum()) for seconds in (one.network_time, one.overhead_time))
        return max(body / (1 - one.exposed_comm), *outside)

    def _title(self) -> str:
        kernels, chips = counted(len(self.bounds[0]), "kernel"), counted(len(self.bounds), "chip")
        return f"Comparison: {kernels} on {chips}, one kernel after the other"

    def _rows(self) -> list[list[str]]:
        return [
            [
                label,
                format_quantity(float(self.time[column]), "s"),
                "unknown" if np.isnan(gain := self.speedup[0, column]) else f"{format_factor(float(gain))}×",
                format_quantity(float(self.perfect_overlap[column]), "s"),
                ", ".join(f"{n:,} {regime}" for regime, n in Counter(self.bounds[column].regime).most_common()),
            ]
            for column, label in enumerate(self.labels)
        ]

    def _changes(self) -> list[str]:
        remarks = []
        if self.unknown:
            names = first_few(list(map(one_line, self.unknown)), _MAX_NAMED_KERNELS)
            remarks.append(f"left out of all times, because a bound is unknown: {names}")
        if self.flips:
            verb = "changes" if len(self.flips) == 1 else "change"
            sides = [
                f"{one_line(flip.name)} ({', '.join(f'{regime} on {label}' for label, regime in flip.regimes.items())})"
                for flip in self.flips
            ]
            remarks.append(f"{verb} sides: {first_few(sides, _MAX_NAMED_KERNELS)}")
        return remarks


_HEADER: Final = ["chip", "time", "speed-up", "perfect overlap", "kernels bound by"]


@keywords("compare_chips")
def compare_chips(
    kernels: Any,
    chips: Preset | Chip | str | Iterable[Chip | str | tuple[Chip | str, str]],
    *,
    precision: str = "auto",
    memory: str = "main",
    overlap: float = 1.0,
    exposed_comm: float = 0.0,
    launch_overhead: float | str = 0.0,
) -> Comparison:
    """Compare the bounds of the same kernels on several chips.

    Parameters
    ----------
    kernels
        `Kernels`, or anything that converts to it.
    chips
        A list of chips, names of catalogue chips, or pairs of a chip and a precision. A precision may name a unit: to
        compare a chip with and without its tensor cores, use
        ``[("a100", "fp64"), ("a100", "fp64_tensor")]``. Speed-ups are relative to the first chip. A `Preset` or a
        single chip works too.
    precision
        The precision for the chips in `chips` that are given without a precision.
    memory, overlap, exposed_comm, launch_overhead
        As in `roofwidget.bound`. All chips get the same values.

    Raises
    ------
    MissingFigureError
        If one of the chips lacks a figure that the options ask for.
    ValueError
        If there is no chip, or two chips have the same label.
    TypeError
        If an entry is not a chip.

    Examples
    --------
    >>> from roofwidget.chips import Chip
    >>> slow, fast = (Chip(name, {"bf16": peak}, {"HBM": 1e12}) for name, peak in [("slow", 1e14), ("fast", 4e14)])
    >>> both = compare_chips([("matmul", 4e14, 1e12), ("copy", 0, 1e12)], [slow, fast])
    >>> both.time.tolist(), float(both.speedup[0, 1])
    ([5.0, 2.0], 2.5)
    >>> both.perfect_overlap.tolist()
    [4.0, 2.0]
    """
    given = list(chips.chips) if isinstance(chips, Preset) else _as_list(chips)
    if not given:
        raise ValueError("compare_chips needs at least one chip")
    table = as_kernels(kernels)
    labels: list[str] = []
    bounds: list[Bound] = []
    for label, chip, own in map(_labelled, given):
        if label in labels:
            raise ValueError(
                f"two chips are both called '{label}'; add their precisions, or rename a chip by replace(name=…)"
            )
        labels.append(label)
        bounds.append(
            bound_lenient(
                table,
                chip,
                precision=own or precision,
                memory=memory,
                overlap=overlap,
                exposed_comm=exposed_comm,
                launch_overhead=launch_overhead,
            )
        )
    return Comparison(_with_precisions(labels, bounds), tuple(bounds))


def _with_precisions(labels: list[str], bounds: list[Bound]) -> tuple[str, ...]:
    """Return the labels of the chips. If the precisions differ, each label ends with the precision of its chip.

    Without the precision in the labels, an fp8 time and an fp64 time would look comparable.
    """
    if len({one.precision for one in bounds}) == 1:
        return tuple(labels)
    named = (f"({one.precision})" for one in bounds)
    return tuple(label if label.endswith(own) else f"{label} {own}" for label, own in zip(labels, named, strict=True))


def _as_list(chips: Any) -> list[Any]:
    if isinstance(chips, (str, Chip)):
        return [chips]
    if not isinstance(chips, Iterable):
        raise TypeError(
            f"chips must be a list of chips, of names of chips or of (chip, precision), got {type(chips).__name__}"
        )
    return list(chips)


def _labelled(entry: Any) -> tuple[str, Chip, str | None]:
    """Return the label of a chip, the chip, and the precision that was given with the chip."""
    if isinstance(entry, (str, Chip)):
        found = look_up(entry)
        return found.name, found, None
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], str):  # noqa: PLR2004 - a pair
        found = look_up(entry[0])
        own = found.precision(entry[1])
        return f"{found.name} ({own})", found, own
    raise TypeError(f"expected a chip, its name or a pair (chip, precision), got {entry!r:.60}")
