"""When does an operation become compute-bound: its intensity against its size, with the ridge points of the chips."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.chips import MissingFigureError
from roofwidget.companions.curves import Curve, curve_of
from roofwidget.companions.parts import (
    INK,
    Limits,
    axis,
    bqplot,
    colours,
    figure,
    follow,
    legend_share,
    shown_chips,
    spoken,
    within,
)
from roofwidget.state.rates import one_level
from roofwidget.support.did_you_mean import keywords
from roofwidget.units import format_significant
from roofwidget.wire import text_to_wire

if TYPE_CHECKING:
    from roofwidget.chips import Chip
    from roofwidget.model import RooflineModel

__all__ = ["size_sweep"]

_FOLLOWED: Final = (
    *("chips", "shown", "precision", "memory", "what_if"),
    # What `convention`, `dtype` and `phase` change shows in these.
    *("graph", "partition", "dims"),
)
_GUIDE: Final = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
_EMPTY_X: Final = (1.0, 1e4)
_EMPTY_Y: Final = (1.0, 1e4)
_ROOM: Final = 1.5
# More sizes than this are a line without dots.
_DOTTED: Final = 24


@keywords("size_sweep")
def size_sweep(model: RooflineModel, op: Any = "matmul", sizes: Any = _GUIDE) -> bqplot.Figure:
    """Return a figure of an operation's arithmetic intensity against its size, with every shown chip's ridge point.

    Intensity is FLOPs over bytes; where it crosses a chip's ridge point, ``peak / bandwidth``, the operation becomes
    compute-bound there. For a square matmul of 2-byte numbers it is N / 3, so that is from N = 3 times the ridge point.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`: its shown chips with their what-if values, at its precision and memory.
    op
        What is swept:

        - the name of an op of the model's graph: the kernel that it is in, as the partition has it;
        - the name of an operator, or its function: on N by N matrices of the graph's dtype, bf16 without a graph;
        - a function of N that returns an `Op`, a `Graph`, a `Kernel` or FLOPs and bytes: called once for each size.
    sizes
        Whole numbers; for an op of the graph also a dimension's name, for its whole range, or ``{name: sizes}``. Other
        dimensions are as the model has them.

    Returns
    -------
    bqplot.Figure
        Its marks are a ``Lines`` (ridge points, a line by chip; its labels tell the first size that is compute-bound),
        a ``Lines`` (the intensity, FLOP/B) and a ``Scatter`` (these sizes). Sizes that the graph does not allow, and
        chips without the chosen precision or memory, are left out.

    Raises
    ------
    TypeError, ValueError
        If there is no such op, operator or dimension, or a size is no whole number in its range.

    Examples
    --------
    >>> import roofwidget as rw
    >>> figure = size_sweep(rw.RooflineModel(), "matmul", [64, 256, 1024, 4096, 16384])
    >>> ridges, intensity, crossings = figure.marks
    >>> intensity.y.round(1).tolist()
    [21.3, 85.3, 341.3, 1365.3, 5461.3]
    >>> ridges.labels[1]
    'v7x (bf16): ridge 320.4, compute-bound from N = 962'
    """
    curve_now = curve_of(model, op, sizes)
    scales = {"x": bqplot.LogScale(), "y": bqplot.LogScale()}
    line = bqplot.Lines(x=[], y=[], scales=scales, colors=[INK], marker="circle", marker_size=24, display_legend=True)
    ridges = bqplot.Lines(x=[], y=[], scales=scales, line_style="dashed", display_legend=True)
    crossings = bqplot.Scatter(x=[], y=[], scales=scales, marker="diamond", default_size=72, display_names=False)
    x_axis = axis(scales["x"], "bottom", tick_format="~s")
    y_axis = axis(scales["y"], "left", "Arithmetic intensity (FLOP/B)", tick_format="~s")
    shown = figure([ridges, line, crossings], [x_axis, y_axis], legend_location="top-left")
    x_limits = Limits(scales["x"], _EMPTY_X, room=1.02)
    y_limits = Limits(scales["y"], _EMPTY_Y, room=_ROOM)

    def draw() -> None:
        curve = curve_now()
        known = np.isfinite(curve.intensity) & (curve.intensity > 0)
        found = _ridges(model)
        left, right = x_limits.span(curve.sizes)
        y_limits.span([*curve.intensity[known], *(ridge for _, ridge in found)], legend_share(len(found) + 1))
        x_axis.label = text_to_wire(curve.size)
        with line.hold_sync():
            line.x, line.y = curve.sizes[known], within(curve.intensity[known])
            line.marker = "circle" if len(curve.sizes) <= _DOTTED else None
            line.labels = [text_to_wire(curve.name or "nothing to sweep")]
        _draw_ridges(ridges, crossings, model, curve, found, left, right)

    return follow(shown, model, _FOLLOWED, draw)


def _ridges(model: RooflineModel) -> list[tuple[Chip, float]]:
    """Return the ridge point of each shown chip that has one, FLOP/byte."""
    found = []
    for chip in shown_chips(model):
        with contextlib.suppress(MissingFigureError):
            found.append((chip, chip.ridge_point(model.precision, one_level(model.memory))))
    return found


def _draw_ridges(  # noqa: PLR0917 - two marks, and what they show
    ridges: bqplot.Lines,
    crossings: bqplot.Scatter,
    model: RooflineModel,
    curve: Curve,
    found: list[tuple[Chip, float]],
    left: float,
    right: float,
) -> None:
    hues = colours(model)
    firsts = [curve.first(ridge) for _, ridge in found]
    with ridges.hold_sync():
        ridges.x = np.array([[left, right] for _ in found])
        ridges.y = within(np.array([[ridge, ridge] for _, ridge in found]))
        ridges.colors = [hues[chip.id] for chip, _ in found] or [INK]
        ridges.labels = [_told(chip, ridge, curve, size) for (chip, ridge), size in zip(found, firsts, strict=True)]
    crossed = [
        (size, ridge, hues[chip.id])
        for (chip, ridge), size in zip(found, firsts, strict=True)
        # At the first size of all nothing crosses: it was compute-bound before.
        if size is not None and size > curve.sizes[0]
    ]
    with crossings.hold_sync():
        crossings.x = np.array([size for size, _, _ in crossed], dtype=np.float64)
        crossings.y = within(np.array([ridge for _, ridge, _ in crossed]))
        crossings.colors = [hue for _, _, hue in crossed] or [INK]


def _told(chip: Chip, ridge: float, curve: Curve, size: int | None) -> str:
    start = f"{spoken(chip)}: ridge {format_significant(ridge, 4)}"
    if not curve.sizes.size:
        return start
    if size is None:
        return f"{start}, memory-bound"
    if size <= curve.sizes[0]:
        return f"{start}, compute-bound"
    return f"{start}, compute-bound from {text_to_wire(curve.size)} = {size}"
