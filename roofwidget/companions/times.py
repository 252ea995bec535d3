"""Where the time goes on each chip: one bar per chip, stacked by bounding resource or by kernel."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import MissingFigureError
from roofwidget.companions.parts import (
    CHIP_TRAITS,
    GRAPH_TRAITS,
    GREY,
    INK,
    PALETTE,
    Limits,
    axis,
    bqplot,
    figure,
    follow,
    legend_share,
    sendable_name,
    shown_chips,
)
from roofwidget.support.did_you_mean import did_you_mean, keywords, listed
from roofwidget.wire import text_to_wire

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.columns import Bools, Floats
    from roofwidget.model import RooflineModel

_BY: Final = ("resource", "kernel")
_RESOURCES: Final = {
    "compute": ("compute", PALETTE[1]),
    "memory": ("memory", PALETTE[0]),
    "overhead": ("launches", PALETTE[4]),
    "network": ("network", PALETTE[2]),
}
_MAX_NAME_CHARS: Final = 40


@keywords("time_bars")
def time_bars(model: RooflineModel, by: str = "resource") -> bqplot.Figure:
    """Return a figure of where the time goes: a stacked bar per shown chip with the program's bound time.

    A program's time is the sum of its kernels' bounds, ``max(flops / peak, bytes / bandwidth, launches x overhead)``.
    Each kernel's time belongs to one segment, so the segments add up to the program's time.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`: the kernels of its chart on its shown chips, with what-if values.
    by
        The segments: ``"resource"`` for seconds of the kernels bound by compute, memory, launches and network, or
        ``"kernel"`` for the six longest kernels on any chip, and one segment for all other kernels.

    Returns
    -------
    bqplot.Figure
        Its mark is a ``Bars`` (seconds over chip names, shape (segments, chips)). A kernel with an unknown bound on one
        of the chips is left out of all bars, so that all bars show the same work. A chip without any bound has no bar.
        The title names what is left out.

    Raises
    ------
    ValueError
        If `by` has another value.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    >>> bars = time_bars(rw.RooflineModel([chip], [("matmul", 4e14, 1e12), ("gelu", 1e12, 2e12)])).marks[0]
    >>> bars.labels, bars.y.tolist()
    (['compute', 'memory'], [[4.0], [2.0]])
    """
    if by not in _BY:
        msg = f"time_bars: by must be {' or '.join(map(repr, _BY))}, got {by!r:.40}{did_you_mean(str(by), _BY)}"
        raise ValueError(msg)
    scales = {"x": bqplot.OrdinalScale(), "y": bqplot.LinearScale(min=0.0, max=1.0)}
    bars = bqplot.Bars(x=[], y=[[]], scales=scales, type="stacked", padding=0.4, stroke=INK, display_legend=True)
    axes = [
        axis(scales["x"], "bottom", grid_lines="none"),
        axis(scales["y"], "left", "Bound time (s)", tick_format="~s"),
    ]
    shown = figure([bars], axes, legend_location="top-right")
    limits = Limits(scales["y"], (0.0, 1.0))

    def draw() -> None:
        bounds, without_bound = _bounds(model)
        known = _known(bounds)
        parts = _by_resource(bounds, known) if by == "resource" else _by_kernel(bounds, known)
        names = [sendable_name(one.chip) for one in bounds]
        with bars.hold_sync():
            bars.x = np.array(names, dtype=np.str_)
            bars.y = np.array([seconds for _, _, seconds in parts]).reshape(len(parts), len(names))
            bars.labels = [text_to_wire(name) for name, _, _ in parts]
            bars.colors = [hue for _, hue, _ in parts] or [INK]
        scales["x"].domain = names
        # Leave space for the legend above the bars.
        limits.set(0.0, float(bars.y.sum(axis=0).max(initial=0.0)) / (1 - legend_share(len(parts))) or 1.0)
        shown.title = _title(by, int((~known).sum()), without_bound)

    return follow(shown, model, (*CHIP_TRAITS, "kernels", "launch_overhead", *GRAPH_TRAITS), draw)


_Parts = list[tuple[str, str, "Floats"]]


def _bounds(model: RooflineModel) -> tuple[list[Bound], list[str]]:
    """Return the bounds on each shown chip, and the names of the chips without any bound."""
    kernels = model.shown_kernels
    found: list[Bound] = []
    without_bound: list[str] = []
    for chip in shown_chips(model):
        with contextlib.suppress(MissingFigureError), np.errstate(over="ignore", under="ignore"):
            one = bound_lenient(
                kernels,
                chip,
                precision=model.precision,
                memory=model.memory,
                launch_overhead=model.launch_overhead,
            )
            if not len(one) or np.isfinite(one.time).any():
                found.append(one)
                continue
        without_bound.append(sendable_name(chip))
    return found, without_bound


def _known(bounds: list[Bound]) -> Bools:
    if not bounds:
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(np.isfinite([one.time for one in bounds]).all(axis=0))


def _by_resource(bounds: list[Bound], known: Bools) -> _Parts:
    parts = [
        (name, hue, np.array([one.time[known & (one.regime == regime)].sum() for one in bounds]))
        for regime, (name, hue) in _RESOURCES.items()
    ]
    return [part for part in parts if part[2].any()]


def _by_kernel(bounds: list[Bound], known: Bools) -> _Parts:
    """Return the longest kernels on any chip as segments, and all other kernels as one segment."""
    if not known.any():
        return []
    times = np.array([one.time for one in bounds])
    order = np.flatnonzero(known)[np.argsort(-times[:, known].max(axis=0), kind="stable")]
    longest, others = order[: len(PALETTE)], order[len(PALETTE) :]
    names = bounds[0].names
    parts = [(_short(names[row]), PALETTE[i], times[:, row]) for i, row in enumerate(longest)]
    if others.size:
        parts.append((f"{len(others):,} other{'' if len(others) == 1 else 's'}", GREY, times[:, others].sum(axis=1)))
    return parts


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 1]}…"


def _title(by: str, unknown: int, without_bound: list[str]) -> str:
    title = "Bound time by what binds each kernel" if by == "resource" else "Bound time by kernel"
    if unknown:
        title += f" · {unknown:,} kernel{'' if unknown == 1 else 's'} left out, not known on all chips"
    if without_bound:
        title += f" · no bound on {listed(without_bound)}"
    return title
