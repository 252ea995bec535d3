"""Draws how much time a program takes on each chip: one bar per chip, divided by resource or by kernel."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import MissingFigureError
from roofwidget.companions.parts import (
    CHIP_TRAITS,
    CONDITION_TRAITS,
    GRAPH_TRAITS,
    GREY,
    INK,
    PALETTE,
    Limits,
    MinWidth,
    axis,
    bqplot,
    conditions,
    figure,
    follow,
    legend_share,
    sendable_name,
    shown_chips,
)
from roofwidget.kernels.columns import unwarned
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
# The width that a bar needs for each letter of the longest chip name.
_BAR_TEXT_PX: Final = 7


@keywords("time_bars")
def time_bars(model: RooflineModel, by: str = "resource") -> bqplot.Figure:
    """Return a figure of the bound time of a program, with one stacked bar for each shown chip.

    The bound time of a kernel is ``max(flops / peak, bytes / bandwidth, launches x overhead)``. The bound time of a
    program is the sum of the bound times of its kernels. Each kernel belongs to one segment of a bar.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`. The program is its shown kernels. The figure follows its shown chips with
        their what-if rates.
    by
        What a segment shows. With ``"resource"``, it shows all kernels that are bound by the same resource: compute,
        memory, launches or network. With ``"kernel"``, each of the six kernels with the longest bound time on any
        chip has its own segment. All other kernels share one segment.

    Returns
    -------
    bqplot.Figure
        The figure has one mark, a ``Bars``. Its x values are chip names. Its y values are seconds, shape (segments,
        chips). All bars show the same kernels: if the bound of a kernel is unknown on one chip, the kernel is left out
        of all bars. A chip on which no bound is known has no bar. The title states what is left out.

    Raises
    ------
    ValueError
        If `by` is neither ``"resource"`` nor ``"kernel"``.

    Examples
    --------
    >>> import roofwidget as rw
    >>> chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    >>> bars = time_bars(rw.RooflineModel([chip], [("matmul", 4e14, 1e12), ("gelu", 1e12, 2e12)])).marks[0]
    >>> bars.labels, bars.y.tolist()
    (['compute', 'memory'], [[4.0], [2.0]])
    """
    if by not in _BY:
        raise ValueError(
            f"time_bars: by must be {' or '.join(map(repr, _BY))}, got {by!r:.40}{did_you_mean(str(by), _BY)}"
        )
    scales = {"x": bqplot.OrdinalScale(), "y": bqplot.LinearScale(min=0.0, max=1.0)}
    bars = bqplot.Bars(x=[], y=[[]], scales=scales, type="stacked", padding=0.4, stroke=INK, display_legend=True)
    axes = [
        axis(scales["x"], "bottom", grid_lines="none"),
        axis(scales["y"], "left", "Bound time (s)", tick_format="~s"),
    ]
    shown = figure([bars], axes)
    limits, width = Limits(scales["y"], (0.0, 1.0)), MinWidth(shown)

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
        width.fit(len(names) * _BAR_TEXT_PX * max(map(len, names), default=0))
        # Set the upper limit so that the legend has space above the bars.
        limits.set(0.0, float(bars.y.sum(axis=0).max(initial=0.0)) / (1 - legend_share(len(parts))) or 1.0)
        shown.title = _title(by, int((~known).sum()), without_bound)

    return follow(shown, model, (*CHIP_TRAITS, "kernels", *CONDITION_TRAITS, *GRAPH_TRAITS), draw)


_Parts = list[tuple[str, str, "Floats"]]


@unwarned
def _bounds(model: RooflineModel) -> tuple[list[Bound], list[str]]:
    """Return the bounds on each shown chip, and the names of the chips on which no bound is known."""
    kernels = model.shown_kernels
    found: list[Bound] = []
    without_bound: list[str] = []
    for chip in shown_chips(model):
        with contextlib.suppress(MissingFigureError):
            one = bound_lenient(kernels, chip, **conditions(model))
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
    """Return one segment for each of the longest kernels, and one segment for all other kernels.

    The longest kernels are those with the longest bound time on any chip.
    """
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
