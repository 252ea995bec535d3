"""Numbers with where each comes from: the first of several metrics that a launch has, and the rule that used it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats, Texts
from roofwidget.readers.ncu.launches import Launches

__all__ = ["Told", "amount", "cycles", "first_known", "nothing", "quotient", "texts_where", "time", "whole"]

_NEARLY = 1e-9


@dataclass(frozen=True, eq=False)
class Told:
    """A column of numbers, NaN where nothing tells, and beside each the metric and the rule (None where unknown).

    Parameters
    ----------
    values, rules
        Shape (n,).
    """

    values: Floats
    rules: Texts

    @property
    def is_known(self) -> npt.NDArray[np.bool_]:
        """Where there is a number, shape (n,)."""
        return ~np.isnan(self.values)

    def where(self, mask: npt.NDArray[np.bool_]) -> Told:
        """Return the numbers of some rows; the others become unknown."""
        return Told(np.where(mask, self.values, np.nan), texts_where(mask, self.rules))

    def or_else(self, other: Told) -> Told:
        """Return these numbers, and those of `other` where there are none."""
        known = self.is_known
        return Told(np.where(known, self.values, other.values), np.where(known, self.rules, other.rules))


def texts_where(mask: npt.NDArray[np.bool_], texts: Texts) -> Texts:
    """Return texts of some rows and None in the others."""
    kept = texts.copy()
    kept[~mask] = None
    return kept


def nothing(n: int) -> Told:
    """Return n unknown numbers."""
    return Told(np.full(n, np.nan), np.full(n, None, dtype=object))


def first_known(n: int, candidates: Iterable[tuple[Floats, str]]) -> Told:
    """Return for each of n rows the first candidate that is known there, with its rule.

    Examples
    --------
    >>> told = first_known(2, [(np.array([1, np.nan]), "a.sum"), (np.array([5.0, 2.0]), "b.sum x 32")])
    >>> told.values.tolist(), told.rules.tolist()
    ([1.0, 2.0], ['a.sum', 'b.sum x 32'])
    """
    told = nothing(n)
    values, rules = told.values, told.rules
    for column, rule in candidates:
        new = np.isnan(values) & ~np.isnan(column)
        values[new] = column[new]
        rules[new] = rule
    return Told(values, rules)


def time(launches: Launches) -> Told:
    """Return the seconds of each launch."""
    if "time" not in launches.kept:
        candidates = [(launches.metric("gpu__time_duration.sum"), "gpu__time_duration.sum")]
        for unit in ("sm", "smsp"):
            seconds = quotient(launches.metric(f"{unit}__cycles_elapsed.avg"), _rate(launches, unit))
            candidates.append((seconds, f"{unit}__cycles_elapsed.avg / {unit}__cycles_elapsed.avg.per_second"))
        rest = ("gpu__time_duration.avg", "gpu__time_active.sum", "gpu__time_active.avg")
        candidates += [(launches.metric(name), name) for name in rest]
        launches.kept["time"] = first_known(len(launches), candidates)
    told: Told = launches.kept["time"]
    return told


def cycles(launches: Launches) -> Floats:
    """Return the cycles that each SM had, shape (n,): what a rate "per cycle elapsed" is multiplied with."""
    if "cycles" not in launches.kept:
        schedulers = launches.metric("device__attribute_num_schedulers_per_multiprocessor")
        units = launches.metric("device__attribute_multiprocessor_count")
        seconds = time(launches).values
        candidates = [
            *((launches.metric(f"{unit}__cycles_elapsed.avg"), "") for unit in ("smsp", "sm")),
            (quotient(launches.metric("smsp__cycles_elapsed.sum"), schedulers * units), ""),
            *((_rate(launches, unit) * seconds, "") for unit in ("smsp", "sm")),
        ]
        launches.kept["cycles"] = first_known(len(launches), candidates).values
    column: Floats = launches.kept["cycles"]
    return column


def amount(launches: Launches, metrics: Sequence[str], *, times: float = 1.0, rates: bool = True) -> Told:
    """Return an amount that is counted under one of some names: as a sum, else per cycle or per second; times a factor.

    Parameters
    ----------
    launches
        The launches.
    metrics
        Names without ``.sum``, the preferred one first.
    times
        What one count stands for.
    rates
        Whether an amount per cycle or per second will do.
    """
    suffix = f" x {times:g}" if times != 1 else ""
    sums = [f"{metric}.sum" for metric in metrics]
    candidates = [(launches.metric(name), f"{name}{suffix}") for name in sums]
    forms = (("per_cycle_elapsed", "cycles", cycles), ("per_second", "time", _seconds)) if rates else ()
    for name in sums:
        for form, word, factor in forms:
            rate = launches.metrics.get(f"{name}.{form}")
            if rate is not None:
                candidates.append((rate * factor(launches), f"{name}.{form} x {word}{suffix}"))
    told = first_known(len(launches), candidates)
    return Told(whole(told.values * times), told.rules)


def quotient(above: Floats, below: Floats) -> Floats:
    """Return a quotient by row, NaN where it is not finite.

    Examples
    --------
    >>> quotient(np.array([6.0, 1.0]), np.array([3.0, 0.0])).tolist()
    [2.0, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = above / below
    return np.where(np.isfinite(found), found, np.nan)


def whole(column: Floats) -> Floats:
    """Return counts that differ from a whole number by rounding alone as that number."""
    nearest = np.rint(column)
    return np.where(np.abs(column - nearest) <= _NEARLY * np.abs(nearest), nearest, column)


def _seconds(launches: Launches) -> Floats:
    return time(launches).values


def _rate(launches: Launches, unit: str) -> Floats:
    return launches.metric(f"{unit}__cycles_elapsed.avg.per_second")
