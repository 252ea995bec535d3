"""The same kernels on several chips, or at several precisions of one: where the time goes, and what changes sides."""

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
from roofwidget.kernels.columns import Bools, Floats, frozen
from roofwidget.kernels.presets import Preset
from roofwidget.kernels.table import as_kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import aligned, html_table, html_with_notes, one_line
from roofwidget.units import format_quantity, format_significant

__all__ = ["Comparison", "Flip", "compare_chips"]

# How many kernels a remark names.
_MAX_NAMED_KERNELS: Final = 3


@dataclass(frozen=True)
class Flip:
    """A kernel that is on one side of the roofline on one chip and on another on another.

    Parameters
    ----------
    row
        Which kernel: its position in the table.
    name
        Its name.
    regimes
        ``compute``, ``memory``, ``network`` or ``overhead`` by the chip's label.
    """

    __module__ = "roofwidget"

    row: int
    name: str
    regimes: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The same n kernels on m chips. A program's time is the **sum** of its kernels' bounds.

    A kernel whose bound is unknown on one chip is left out of the times of all of them, so that all do the same work;
    `unknown` names these kernels.

    Parameters
    ----------
    labels
        What each chip is called here, m different texts.
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
    v6e         10.6 ms  0.381×    9.59 ms          3 memory, 1 compute
    v5p         19.7 ms  0.204×    19.2 ms          2 memory, 2 compute
    changes sides: MatMul 600x600 (memory on v7x (bf16), memory on v6e, compute on v5p)
    """

    __module__ = "roofwidget"

    labels: tuple[str, ...]
    bounds: tuple[Bound, ...]

    @cached_property
    def kernel_time(self) -> Floats:
        """Seconds of each kernel on each chip, shape (n, m); NaN where unknown."""
        return frozen(np.stack([one.time for one in self.bounds], axis=1))

    @cached_property
    def known(self) -> Bools:
        """Whether a kernel's bound is known on all chips, so that it counts, shape (n,)."""
        return frozen(np.asarray(~np.isnan(self.kernel_time).any(axis=1)))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the kernels that are left out, for want of FLOPs or bytes on one chip or another."""
        return tuple(self.bounds[0].names[~self.known])

    @cached_property
    def time(self) -> Floats:
        """Seconds of the whole program on each chip, one kernel after the other, shape (m,)."""
        return frozen(self.kernel_time[self.known].sum(axis=0))

    @cached_property
    def perfect_overlap(self) -> Floats:
        """Seconds if all kernels overlapped perfectly, shape (m,): FLOPs and bytes of the program summed to one dot.

        The largest of the summed times of compute, of each judged memory level, of the link and of the launches, so
        never longer than `time`. It is what a roofline says of a program's totals; kernels that follow each other take
        longer wherever some wait for memory and others for compute. The option ``overlap`` has no say in it.
        """
        return frozen(np.array([self._overlapped(one) for one in self.bounds]))

    @cached_property
    def speedup(self) -> Floats:
        """``speedup[i, j] = time[i] / time[j]``: how many times faster chip j is than chip i, shape (m, m).

        NaN where neither takes any time.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return frozen(self.time[:, np.newaxis] / self.time[np.newaxis, :])

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """The known kernels that change sides: whose regime is not the same on all chips."""
        regimes = np.stack([one.regime for one in self.bounds], axis=1)
        changed = self.known & (regimes != regimes[:, :1]).any(axis=1)
        return tuple(
            Flip(int(row), self.bounds[0].names[row], dict(zip(self.labels, regimes[row], strict=True)))
            for row in np.flatnonzero(changed)
        )

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame, one row a kernel: its name, and by chip ``time:v5p`` and ``bound_by:v5p``."""
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        frame: dict[str, Any] = {"name": self.bounds[0].names}
        for label, one in zip(self.labels, self.bounds, strict=True):
            frame |= {f"time:{label}": one.time, f"bound_by:{label}": one.bound_by}
        return pd.DataFrame(frame)

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned([_HEADER, *self._rows()]), *self._remarks()])

    def _repr_html_(self) -> str:
        return html_with_notes(html_table(self._title(), _HEADER, self._rows()), self._remarks())

    def _overlapped(self, one: Bound) -> float:
        inside = [one.compute_time, *(one.memory_time[level] for level in one.judged if level in one.memory_time)]
        body = max(float(np.nansum(seconds[self.known])) for seconds in inside)
        outside = (float(seconds[self.known].sum()) for seconds in (one.network_time, one.overhead_time))
        return max(body / (1 - one.exposed_comm), *outside)

    def _title(self) -> str:
        kernels, chips = len(self.bounds[0]), len(self.bounds)
        return (
            f"Comparison: {kernels:,} kernel{'' if kernels == 1 else 's'} on {chips} chip{'' if chips == 1 else 's'}, "
            "one kernel after the other"
        )

    def _rows(self) -> list[list[str]]:
        return [
            [
                label,
                format_quantity(float(self.time[column]), "s"),
                "unknown" if np.isnan(gain := self.speedup[0, column]) else f"{format_significant(float(gain))}×",
                format_quantity(float(self.perfect_overlap[column]), "s"),
                ", ".join(f"{n:,} {regime}" for regime, n in Counter(self.bounds[column].regime).most_common()),
            ]
            for column, label in enumerate(self.labels)
        ]

    def _remarks(self) -> list[str]:
        remarks = []
        if self.unknown:
            remarks.append(f"left out of all times, as a bound is unknown: {_first(list(map(one_line, self.unknown)))}")
        if self.flips:
            verb = "changes" if len(self.flips) == 1 else "change"
            sides = [
                f"{one_line(flip.name)} ({', '.join(f'{regime} on {label}' for label, regime in flip.regimes.items())})"
                for flip in self.flips
            ]
            remarks.append(f"{verb} sides: {_first(sides)}")
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
    """Hold the same kernels against several chips.

    Parameters
    ----------
    kernels
        `Kernels` or anything they can be made from.
    chips
        Chips, names of catalogue chips, or pairs of one of these and a precision, which may name a unit: one chip with
        and without its tensor cores is ``[("a100", "fp64"), ("a100", "fp64_tensor")]``. The first one is what the
        others' speed-up is shown against. Or a `Preset`, or one chip.
    precision
        The precision of chips that come without one of their own.
    memory, overlap, exposed_comm, launch_overhead
        As in `roofwidget.bound`, the same for every chip.

    Raises
    ------
    MissingFigureError
        If one of the chips lacks a figure that is asked for; it is not left out.
    ValueError
        If there is no chip, or two have the same label.
    TypeError
        If something is no chip.

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
        msg = "compare_chips needs at least one chip"
        raise ValueError(msg)
    table = as_kernels(kernels)
    labels: list[str] = []
    bounds: list[Bound] = []
    for label, chip, own in map(_labelled, given):
        if label in labels:
            msg = f"two chips are both called '{label}'; name their precisions, or give one another name by replace()"
            raise ValueError(msg)
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
    """Name the precision of each chip where they differ: fp8 against fp64 is no contest of chips."""
    if len({one.precision for one in bounds}) == 1:
        return tuple(labels)
    named = (f"({one.precision})" for one in bounds)
    return tuple(label if label.endswith(own) else f"{label} {own}" for label, own in zip(labels, named, strict=True))


def _as_list(chips: Any) -> list[Any]:
    if isinstance(chips, (str, Chip)):
        return [chips]
    if not isinstance(chips, Iterable):
        msg = f"chips must be a list of chips, of names of chips or of (chip, precision), got {type(chips).__name__}"
        raise TypeError(msg)
    return list(chips)


def _labelled(entry: Any) -> tuple[str, Chip, str | None]:
    """Return what a chip is called, the chip, and the precision that came with it."""
    if isinstance(entry, (str, Chip)):
        found = look_up(entry)
        return found.name, found, None
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], str):  # noqa: PLR2004 - a pair
        found = look_up(entry[0])
        own = found.precision(entry[1])
        return f"{found.name} ({own})", found, own
    msg = f"expected a chip, its name or a pair (chip, precision), got {entry!r:.60}"
    raise TypeError(msg)


def _first(words: list[str]) -> str:
    more = len(words) - _MAX_NAMED_KERNELS
    return "; ".join(words[:_MAX_NAMED_KERNELS]) + (f"; and {more:,} more" if more > 0 else "")
