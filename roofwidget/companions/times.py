"""Where the time goes on each chip: a bar by chip, stacked by what the kernels wait for, or by kernel."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import MissingFigureError
from roofwidget.companions.parts import (
    GREY,
    INK,
    PALETTE,
    Limits,
    axis,
    bqplot,
    figure,
    follow,
    legend_share,
    shown_chips,
    spoken,
)
from roofwidget.support.did_you_mean import did_you_mean, keywords, listed
from roofwidget.wire import text_to_wire

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.columns import Bools, Floats
    from roofwidget.model import RooflineModel

__all__ = ["time_bars"]

_FOLLOWED: Final = (
    *("chips", "shown", "precision", "memory", "what_if", "kernels", "launch_overhead"),
    # What `convention`, `dtype` and `phase` change shows in these.
    *("graph", "partition", "dims"),
)
_BY: Final = ("resource", "kernel")
_RESOURCES: Final = {
    "compute": ("compute", PALETTE[1]),
    "memory": ("memory", PALETTE[0]),
    "overhead": ("launches", PALETTE[4]),
    "network": ("network", PALETTE[2]),
}
_LETTERS: Final = 40


@keywords("time_bars")
def time_bars(model: RooflineModel, by: str = "resource") -> bqplot.Figure:
    """Return a figure of where the time goes: a stacked bar for each shown chip, as high as the program's bound time.

    A program's time is the sum of its kernels' bounds, ``max(flops / peak, bytes / bandwidth, launches x overhead)``
    each, one after the other. Every kernel's time is part of one segment, so that segments add up to it.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`: the kernels of its chart on its shown chips, what-if values in force.
    by
        What is stacked: ``"resource"``, seconds of the kernels bound by compute, memory, launches and network; or
        ``"kernel"``, the six kernels that take longest on any of the chips, and the others together.

    Returns
    -------
    bqplot.Figure
        Its mark is a ``Bars`` (chips' names against seconds, shape (segments, chips)). A kernel whose bound is unknown
        on one of the chips is left out of all bars, so that all do the same work, and a chip that can judge none has
        no bar; the title tells of both.

    Raises
    ------
    ValueError
        If `by` is neither.

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
        bounds, lacking = _bounds(model)
        known = _known(bounds)
        parts = _by_resource(bounds, known) if by == "resource" else _by_kernel(bounds, known)
        names = [spoken(one.chip) for one in bounds]
        with bars.hold_sync():
            bars.x = np.array(names, dtype=np.str_)
            bars.y = np.array([seconds for _, _, seconds in parts]).reshape(len(parts), len(names))
            bars.labels = [text_to_wire(name) for name, _, _ in parts]
            bars.colors = [hue for _, hue, _ in parts] or [INK]
        scales["x"].domain = names
        # The legend stands above the bars.
        limits.set(0.0, float(bars.y.sum(axis=0).max(initial=0.0)) / (1 - legend_share(len(parts))) or 1.0)
        shown.title = _title(by, int((~known).sum()), lacking)

    return follow(shown, model, _FOLLOWED, draw)


_Parts = list[tuple[str, str, "Floats"]]


def _bounds(model: RooflineModel) -> tuple[list[Bound], list[str]]:
    """Return what each shown chip says of the kernels, and the names of those that can say nothing."""
    kernels = model.shown_kernels
    found: list[Bound] = []
    lacking: list[str] = []
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
        lacking.append(spoken(chip))
    return found, lacking


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
    """Return the kernels that take longest on any chip, equal names apart, and the others together."""
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
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def _title(by: str, unknown: int, lacking: list[str]) -> str:
    title = "Bound time by what binds each kernel" if by == "resource" else "Bound time by kernel"
    if unknown:
        title += f" · {unknown:,} kernel{'' if unknown == 1 else 's'} left out, not known on all chips"
    if lacking:
        title += f" · no bound on {listed(lacking)}"
    return title
