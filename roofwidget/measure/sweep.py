"""`sweep`: one profile per value of a parameter, such as the side of an image, as series of one roofline."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.result import Bound
from roofwidget.kernels.concat import concat
from roofwidget.measure.counts import Grouping, Timing
from roofwidget.measure.hardware_peaks import remarks_on_roofs
from roofwidget.measure.profile import Profile, as_chip, peaks_for, profile
from roofwidget.support.arguments import list_argument, mapping_argument, shown_value
from roofwidget.support.did_you_mean import listed, unknown_keyword
from roofwidget.support.progress import Progress, advancing
from roofwidget.support.text_tables import aligned, html_table, html_with_notes, one_line
from roofwidget.units import format_intensity, format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.widget import RooflineWidget

_HEADER: Final = ("FLOPs", "bytes", "AI", "time", "bound by", "% of roof")
_NUMBERS: Final = (1, 2, 3, 4, 6)
_MAX_VALUE_CHARACTERS: Final = 24


class Sweep:
    """One profile per value of a parameter; `sweep` returns it. Notebooks show it as a table with a row per value.

    Parameters
    ----------
    values
        The keywords of each call.
    profiles
        What each call measured, in the same order.
    peaks
        The roof: `HardwarePeaks`, a `Chip` or the name of one.

    Attributes
    ----------
    values : tuple of mappings
        The keywords of each call, such as ``{"side": 224}``.
    profiles : mapping of str to Profile
        The profiles by label. A label names the keywords: ``side=224``.
    kernels : Kernels
        The rows of all profiles. Their categories are the labels, so each value is a series with its own colour.
    calls : Kernels
        One row per value: the sums over its operations, and the time of its call.
    peaks : HardwarePeaks or Chip
        The roof.
    """

    __module__ = "roofwidget"

    def __init__(self, values: Sequence[Mapping[str, Any]], profiles: Sequence[Profile], peaks: Any) -> None:
        self.values = tuple(MappingProxyType(dict(one)) for one in values)
        labels = [_label(one) for one in self.values]
        self.profiles: Mapping[str, Profile] = MappingProxyType(dict(zip(labels, profiles, strict=True)))
        tables = {label: one.kernels for label, one in self.profiles.items()}
        self.kernels = concat(tables).replace(series=True)
        self.calls = concat(
            {label: table.program.replace(names=[label]) for label, table in tables.items() if len(table)}
        ).replace(series=True)
        self.peaks = peaks

    def __len__(self) -> int:
        return len(self.values)

    def roofline(self, peaks: Any = None, *, whole: bool = False, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` in which each value is a series.

        Parameters
        ----------
        peaks
            Another roof than the sweep's: `HardwarePeaks`, a `Chip` or the name of one.
        whole
            Whether each value is one point for its whole call, instead of a point per row of its profile. The bound of
            this point is that of the added FLOPs and bytes, which can be shorter than the sum of the rows' bounds in
            the table.
        **traits
            Any trait of `RooflineModel`.
        """
        shown = self.calls if whole else self.kernels
        return shown.roofline(chips=[as_chip(self.peaks if peaks is None else peaks)], **traits)

    def to_dataframe(self, peaks: Any = None) -> Any:
        """Return a pandas DataFrame with a row per value, in FLOPs, bytes and seconds.

        Its columns are the keywords, ``flops``, ``bytes``, ``arithmetic_intensity`` (FLOP/byte), ``time``,
        ``bound_time``, ``bound_by`` and ``utilization`` (`bound_time` over `time`).

        Parameters
        ----------
        peaks
            Another roof than the sweep's.
        """
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        rows = self._rows(self.peaks if peaks is None else peaks)
        return pd.DataFrame([{**values, **row} for values, row in zip(self.values, rows, strict=True)])

    def summary(self, peaks: Any = None) -> None:
        """Print the table, and what a reader must know about its figures.

        Parameters
        ----------
        peaks
            Another roof than the sweep's.
        """
        roof = self.peaks if peaks is None else peaks
        print("\n".join([*self._lines(roof), *(f"Note: {note}" for note in self._notes(roof))]))  # noqa: T201 - its purpose

    def __repr__(self) -> str:
        return "\n".join(self._lines(self.peaks))

    def _repr_html_(self) -> str:
        header, *rows = self._cells(self.peaks)
        return html_with_notes(html_table(self._title(self.peaks), header, rows), self._notes(self.peaks))

    def _lines(self, peaks: Any) -> list[str]:
        return [self._title(peaks), *aligned([*self._cells(peaks)], right=_NUMBERS)]

    def _title(self, peaks: Any) -> str:
        return f"Sweep over {', '.join(self.values[0])} on {one_line(as_chip(peaks).name)}"

    def _notes(self, peaks: Any) -> list[str]:
        bound = bound_lenient(self.kernels, as_chip(peaks))
        notes = [note for one in self.profiles.values() for note in one.warnings]
        return list(dict.fromkeys([*remarks_on_roofs(self.kernels, bound), *notes]))

    def _cells(self, peaks: Any) -> Iterator[list[str]]:
        yield [", ".join(self.values[0]), *_HEADER]
        for values, row in zip(self.values, self._rows(peaks), strict=True):
            yield [
                ", ".join(_shown(value) for value in values.values()),
                format_quantity(row["flops"], "FLOP"),
                format_quantity(row["bytes"], "B"),
                format_intensity(row["arithmetic_intensity"]),
                "not measured" if math.isnan(row["time"]) else format_quantity(row["time"], "s"),
                row["bound_by"],
                "not measured" if math.isnan(row["time"]) else format_percent(row["utilization"]),
            ]

    def _rows(self, peaks: Any) -> Iterator[dict[str, Any]]:
        chip = as_chip(peaks)
        for one in self.profiles.values():
            found = bound_lenient(one.kernels, chip)
            flops, moved = float(one.kernels.flops.sum()), float(one.kernels.bytes.sum())
            time = float(one.kernels.time.sum()) if one.time is None else one.time
            yield {
                "flops": flops,
                "bytes": moved,
                "arithmetic_intensity": flops / moved if moved else math.nan,
                "time": time,
                "bound_time": found.total_time,
                "bound_by": _bound_by(found),
                "utilization": found.total_time / time if time else math.nan,
            }


def sweep(
    fn: Callable[..., Any],
    over: Mapping[str, Any],
    *,
    peaks: Any = None,
    by: Grouping | None = None,
    timing: Timing = "op",
    warmup: int | None = None,
    repeat: int | None = None,
    progress: Progress = None,
) -> Sweep:
    """Profile a function or a model for several inputs, and compare them: a series and a table row per value.

    Parameters
    ----------
    fn
        Makes what is profiled. It is called with one value per keyword, and returns a function or model, or a tuple of
        it and its arguments. What `fn` itself does, such as making inputs, is neither counted nor timed.
    over
        The values by keyword of `fn`. With several keywords, every combination is profiled.
    peaks
        The roof: `HardwarePeaks`, a `Chip` or the name of one. By default the peaks of the device are measured.
    by, timing, warmup, repeat
        As in `profile`.
    progress
        None for a bar in a notebook where tqdm is installed, True for a bar, False for none, or a function of the
        number of values that are done and the number of all values.

    Raises
    ------
    TypeError
        If `fn` has no such keyword, needs another one, or returns something else.
    ValueError
        If there are no values, or a value is given twice.
    RuntimeError
        If a value fails. The message names it; the cause is the error of `fn` or of what it returned.

    Examples
    --------
    A model at two sizes, and a JAX function at two:

    >>> rw.sweep(lambda side: (resnet, torch.randn(1, 3, side, side)), over={"side": [224, 512]})  # doctest: +SKIP
    >>> rw.sweep(lambda n: (jax.jit(jnp.tanh), jnp.ones((n, n))), over={"n": [512, 1024]})  # doctest: +SKIP

    A NumPy function at two sizes:

    >>> import numpy as np
    >>> import roofwidget as rw
    >>> def product(n):
    ...     return np.matmul, np.ones((n, n)), np.ones((n, n))
    >>> chip = rw.Chip("My CPU", {"fp64": "100 GFLOP/s"}, {"DRAM": "40 GB/s"})
    >>> measured = rw.sweep(product, over={"n": [64, 128]}, peaks=chip)
    >>> measured.to_dataframe()[["n", "flops", "bytes", "bound_by"]]
         n      flops     bytes bound_by
    0   64   524288.0   98304.0  compute
    1  128  4194304.0  393216.0  compute
    """
    calls = _calls(fn, over)
    profiles = []
    with advancing(progress, len(calls), unit="value", description="sweep") as advance:
        for values in calls:
            profiles.append(_profiled(fn, values, by=by, timing=timing, warmup=warmup, repeat=repeat))
            advance(1)
    return Sweep(calls, profiles, peaks_for(profiles) if peaks is None else peaks)


def _calls(fn: Any, over: Any) -> list[dict[str, Any]]:
    """Return the keywords of each call of `fn`."""
    example = "{'side': [224, 512]}"
    if not callable(fn):
        raise TypeError(f"sweep: fn must be a function that returns what to profile, got {shown_value(fn)}")
    given = {
        name: list_argument(values, f"sweep: over[{name!r:.40}]", "[224, 512]")
        for name, values in mapping_argument(over, "sweep: over", example).items()
    }
    empty = [str(name) for name, values in given.items() if not values]
    if empty or not given:
        raise ValueError(
            f"sweep: over has no values{f' for {listed(empty)}' if empty else ''}; write for example {example}"
        )
    _check_keywords(fn, [str(name) for name in given])
    calls = [dict(zip(map(str, given), values, strict=True)) for values in itertools.product(*given.values())]
    labels = [_label(values) for values in calls]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(f"sweep: {twice} is given twice")
    return calls


def _check_keywords(fn: Callable[..., Any], given: Sequence[str]) -> None:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return
    known = [one.name for one in parameters if one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY}]
    if not any(one.kind is one.VAR_KEYWORD for one in parameters):
        for name in given:
            if name not in known:
                raise unknown_keyword("sweep: fn", name, known)
    needed = [one.name for one in parameters if one.name in known and one.default is one.empty]
    missing = [name for name in needed if name not in given]
    if missing:
        raise TypeError(f"sweep: fn also needs {listed(missing)}: add values to over")


def _profiled(fn: Callable[..., Any], values: Mapping[str, Any], **options: Any) -> Profile:
    try:
        made = fn(**values)
        function, *args = made if isinstance(made, tuple) and made else (made,)
        found = profile(function, *args, **options) if callable(function) else None
    except Exception as error:
        text = f"sweep: {_label(values)} failed: {type(error).__name__}: {error}"
        raise RuntimeError(text) from error
    if found is None:
        raise TypeError(
            f"sweep: fn must return a function or model, or a tuple of it and its arguments; for {_label(values)} it "
            f"returned {shown_value(made)}"
        )
    return found


def _bound_by(found: Bound) -> str:
    """Return the resource that binds for the largest share of the bound time."""
    resources = found.bound_by.tolist()
    if "unknown" in resources or not resources:
        return "unknown"
    seconds = {name: float(found.time[found.bound_by == name].sum()) for name in dict.fromkeys(resources)}
    return str(max(seconds, key=seconds.__getitem__))


def _label(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    text = str(value.item() if isinstance(value, np.generic) else getattr(value, "__name__", value))
    return one_line(text, _MAX_VALUE_CHARACTERS)
