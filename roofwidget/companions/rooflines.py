"""Draws a roofline as a bqplot figure: roofs, measured kernels, and the attainable rates of kernels without a time."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from roofwidget.analysis.bound import bytes_by_level
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.chip_frame import chip_frame
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.companions.parts import (
    CHIP_TRAITS,
    GRAPH_TRAITS,
    INK,
    Limits,
    axis,
    bqplot,
    colours,
    figure,
    follow,
    sendable_name,
    shown_chips,
    within,
)
from roofwidget.kernels.columns import known_or, unwarned
from roofwidget.kernels.operations import operations_of
from roofwidget.state.what_if import one_level
from roofwidget.support.precisions import operation
from roofwidget.units import ratio_units
from roofwidget.wire import text_to_wire

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Floats
    from roofwidget.kernels.table import Kernels
    from roofwidget.model import RooflineModel

# Two rates whose ratio is closer to 1 than this are drawn at the same place.
_SAME_LINE: Final = 0.005
# The limits of the axes if there is no data.
_EMPTY_X: Final = (0.1, 1e4)
_EMPTY_Y: Final = (1e9, 1e15)
_Peaks = list[tuple[Chip, float, float]]
"""Chips with their peaks and bandwidths."""


def roofline_figure(model: RooflineModel) -> bqplot.Figure:
    """Return a bqplot figure of the roofs and kernels of a model. Both axes are logarithmic.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`, which the figure follows. Each shown chip has the roof ``min(peak,
        intensity x bandwidth)`` with its what-if rates. A chip without the selected precision or memory has no roof.
        The kernels are `RooflineModel.shown_kernels`. The axes fit the roofs and the kernels, unless `frame` is "chip".

    Returns
    -------
    bqplot.Figure
        The figure has four marks. The x values of all marks are arithmetic intensities in FLOP/B. The first ``Lines``
        has the attainable FLOP/s, one line per chip. The second ``Lines`` has a thicker line for the focus chip. The
        first ``Scatter`` has the achieved FLOP/s of kernels whose intensity and rate are known and above zero. The
        second ``Scatter``, with hollow points, has the attainable FLOP/s on the focus chip of kernels without a time.
        To draw your own marks on the same axes, use ``scales=figure.marks[0].scales``.

    Examples
    --------
    >>> import roofwidget as rw
    >>> model = rw.RooflineModel(["v5p", "v6e"], [("matmul", 4.3e9, 1.2e7, 31e-6), ("planned", 1e9, 1e8)])
    >>> roofs, focus, kernels, planned = roofline_figure(model).marks
    >>> roofs.labels, kernels.x.round(1).tolist(), planned.names.tolist()
    (['TPU v5p', 'TPU v6e (Trillium)'], [358.3], ['planned'])
    >>> model.peak_flops = "500 TFLOP/s"
    >>> float(roofs.y[0].max())
    500000000000000.0
    """
    scales = {"x": bqplot.LogScale(), "y": bqplot.LogScale()}
    roofs = bqplot.Lines(x=[], y=[], scales=scales, display_legend=True)
    focus = bqplot.Lines(x=[], y=[], scales=scales, stroke_width=4.0)
    points = {"x": [], "y": [], "scales": scales, "colors": [INK], "display_names": False}
    kernels = bqplot.Scatter(**points, default_size=40)
    planned = bqplot.Scatter(**points, fill=False, stroke=INK, default_size=40)
    axes = [
        axis(scales["x"], "bottom", _x_label({"FLOP"}), tick_format="~s"),
        axis(scales["y"], "left", _y_label({"FLOP"}), tick_format="~s"),
    ]
    shown = figure([roofs, focus, kernels, planned], axes)
    x_limits, y_limits = Limits(scales["x"], _EMPTY_X), Limits(scales["y"], _EMPTY_Y)

    def draw() -> None:
        measured, expected = _measured(model), _expected(model)
        peaks = _peaks(model)
        ridges = np.array([peak / bandwidth for _, peak, bandwidth in peaks])
        chips = [(model.chip(chip.id), chip) for chip, _, _ in peaks]
        frame = chip_frame(chips, model.memory) if model.frame == "chip" else None
        if frame is None:
            left, right = x_limits.span(np.concatenate([ridges, measured[0], expected[0]]))
        else:
            left, right = frame.x
            x_limits.set(*frame.x)
        rates = _draw_roofs(roofs, focus, model, peaks, left, right)
        operations = _operations(model, peaks)
        axes[0].label, axes[1].label = _x_label(operations), _y_label(operations)
        if frame is None:
            y_limits.span(np.concatenate([rates, measured[1], expected[1]]))
        else:
            y_limits.set(*frame.y)
        for mark, (intensity, rate, names) in ((kernels, measured), (planned, expected)):
            with mark.hold_sync():
                mark.x, mark.y, mark.names = within(intensity), within(rate), names

    return follow(shown, model, (*CHIP_TRAITS, "focus_chip", "frame", "kernels", "exposed_comm", *GRAPH_TRAITS), draw)


def _x_label(operations: set[str]) -> str:
    return f"Arithmetic intensity ({ratio_units(operations, 'B')})"


def _y_label(operations: set[str]) -> str:
    return f"Performance ({ratio_units(operations, 's')})"


def _operations(model: RooflineModel, peaks: _Peaks) -> set[str]:
    """Return the units of the operations that the figure shows: those of the roofs and those of the kernels."""
    precisions = {chip.precision(model.precision) for chip, _, _ in peaks}
    kernels = operations_of(model.shown_kernels, next(iter(precisions), ""))
    return {*map(operation, precisions), *kernels.units}


@unwarned
def _draw_roofs(  # noqa: PLR0917 - two marks, and what they show
    roofs: bqplot.Lines,
    focus: bqplot.Lines,
    model: RooflineModel,
    peaks: _Peaks,
    left: float,
    right: float,
) -> Floats:
    """Draw a line per chip in `roofs`, and the line of the focus chip in `focus`. Return the rates of all lines."""
    x = np.array([[left, within(peak / bandwidth), right] for _, peak, bandwidth in peaks])
    y = np.array(
        [within(np.minimum(peak, row * bandwidth)) for row, (_, peak, bandwidth) in zip(x, peaks, strict=True)]
    )
    hues = colours(model)
    with roofs.hold_sync():
        roofs.x, roofs.y = x, y
        roofs.labels = _roof_labels(peaks)
        roofs.colors = [hues[chip.id] for chip, _, _ in peaks] or [INK]
    heavy = [i for i, (chip, _, _) in enumerate(peaks) if chip.id == model.focus_chip]
    with focus.hold_sync():
        focus.x, focus.y = x[heavy], y[heavy]
        focus.colors = [hues[peaks[i][0].id] for i in heavy] or [INK]
    return np.asarray(y.ravel())


def _roof_labels(peaks: _Peaks) -> list[str]:
    """Return the name of each chip. If a roof hides the roof of an earlier chip, the label says so."""
    labels: list[str] = []
    for at, (chip, *rates) in enumerate(peaks):
        hidden = next((other for other, *earlier in peaks[:at] if np.allclose(rates, earlier, _SAME_LINE, 0)), None)
        labels.append(
            sendable_name(chip) if hidden is None else f"{sendable_name(chip)} (same line as {sendable_name(hidden)})"
        )
    return labels


def _peaks(model: RooflineModel) -> _Peaks:
    """Return each shown chip that has the selected precision and memory, with its peak and bandwidth."""
    found = []
    for chip in shown_chips(model):
        with contextlib.suppress(MissingFigureError):
            found.append((chip, chip.peak(model.precision), chip.bandwidth(one_level(model.memory))))
    return found


_Points = tuple["Floats", "Floats", npt.NDArray[np.str_]]


@unwarned
def _measured(model: RooflineModel) -> _Points:
    """Return the intensities, the rates and the names of measured kernels. A rate is achieved FLOP/s."""
    kernels = model.shown_kernels
    moved = stated = np.full(len(kernels), np.nan)
    if model.all_chips:
        chip = model.resolved_chip()
        with contextlib.suppress(MissingFigureError):
            level = chip.memory(one_level(model.memory))
            moved = bytes_by_level(kernels, chip).get(level, moved)
            stated = kernels.intensity if level == chip.main_memory else stated
    return _visible(kernels, known_or(kernels.flops / moved, stated), kernels.achieved)


@unwarned
def _expected(model: RooflineModel) -> _Points:
    """Return the intensities, the rates and the names of kernels without a time. A rate is attainable FLOP/s."""
    kernels = model.shown_kernels
    intensity = rate = np.full(len(kernels), np.nan)
    if model.all_chips:
        chip, level = model.resolved_chip(), one_level(model.memory)
        with contextlib.suppress(MissingFigureError):
            bound = bound_lenient(
                kernels, chip, precision=model.precision, memory=level, exposed_comm=model.exposed_comm
            )
            intensity = bound.ai.get(bound.memory, intensity)
            rate = np.where(np.isnan(kernels.time) & np.isnan(kernels.rate), bound.attainable, np.nan)
    return _visible(kernels, intensity, rate)


def _visible(kernels: Kernels, intensity: Floats, rate: Floats) -> _Points:
    visible = np.logical_and.reduce([np.isfinite(column) & (column > 0) for column in (intensity, rate)])
    # A name from a file may contain lone surrogates (invalid Unicode characters). A message cannot contain them.
    names = [text_to_wire(name) for name in kernels.names[visible]]
    return intensity[visible], rate[visible], np.array(names, dtype=np.str_)
