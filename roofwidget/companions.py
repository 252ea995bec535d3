"""bqplot figures that follow a model, for dashboards that are built of bqplot parts.

The only file that imports bqplot.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips.chip import Chip, MissingFigureError
from roofwidget.rates import one_level
from roofwidget.roofline import bytes_by_level
from roofwidget.wire import text_to_wire

with warnings.catch_warnings():
    # Importing bqplot declares traits the old way: under "-W error" that would keep it from loading.
    warnings.filterwarnings("ignore", "metadata .* was set from the constructor", DeprecationWarning)
    import bqplot

if TYPE_CHECKING:
    from roofwidget.columns import Floats
    from roofwidget.model import RooflineModel

__all__ = ["roofline_figure"]

_FOLLOWED: Final = ("chips", "shown", "focus_chip", "precision", "memory", "what_if", "kernels")
# A logarithmic scale takes finite numbers above zero only: what lies beyond is drawn at the edge of these.
_SMALLEST: Final = 1e-300
_LARGEST: Final = 1e300
# What the axes span while there is nothing to show.
_EMPTY_X: Final = (0.1, 1e4)
_EMPTY_Y: Final = (1e9, 1e15)
_UNFOCUSED_OPACITY: Final = 0.5


def roofline_figure(model: RooflineModel) -> bqplot.Figure:
    """Return a log-log bqplot figure of a model's roofs and measured kernels that follows the model.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`. Roofs are those of the shown chips with their what-if values; a chip
        without the chosen precision or memory has none. The focus chip's roof is opaque, the others are paler.

    Returns
    -------
    bqplot.Figure
        Its marks are a ``Lines`` (arithmetic intensity in FLOP/B against attainable FLOP/s, a line by chip) and a
        ``Scatter`` (achieved FLOP/s of the kernels whose FLOPs, bytes and time are known and above zero). It stops
        following when it is closed.

    Examples
    --------
    >>> import roofwidget as rw
    >>> model = rw.RooflineModel(["v5p", "v6e"], [("matmul", 4.3e9, 1.2e7, 31e-6)])
    >>> figure = roofline_figure(model)
    >>> roofs, kernels = figure.marks
    >>> roofs.labels, kernels.x.round(1).tolist()
    (['TPU v5p', 'TPU v6e (Trillium)'], [358.3])
    >>> model.peak_flops = "500 TFLOP/s"
    >>> float(roofs.y[0].max())
    500000000000000.0
    """
    scales = {"x": bqplot.LogScale(), "y": bqplot.LogScale()}
    roofs = bqplot.Lines(x=[], y=[], scales=scales, display_legend=True)
    kernels = bqplot.Scatter(x=[], y=[], scales=scales)
    axes = [
        bqplot.Axis(scale=scales["x"], side="bottom", label="Arithmetic intensity (FLOP/B)", tick_format="~s"),
        bqplot.Axis(scale=scales["y"], side="left", label="Performance (FLOP/s)", tick_format="~s", label_offset="4em"),
    ]
    figure = bqplot.Figure(marks=[roofs, kernels], axes=axes, legend_location="bottom-right")

    def follow(_change: object = None) -> None:
        _draw(model, roofs, kernels)

    def stop(change: Any) -> None:
        if change["new"] is None:
            model.unobserve(follow, _FOLLOWED)

    follow()
    model.observe(follow, _FOLLOWED)
    # Closing a widget takes its comm away.
    figure.observe(stop, "comm")
    return figure


def _draw(model: RooflineModel, roofs: bqplot.Lines, kernels: bqplot.Scatter) -> None:
    peaks = _peaks(model)
    intensity, achieved, names = _measured(model)
    ridges = np.array([peak / bandwidth for _, peak, bandwidth in peaks])
    left, right = _span(np.concatenate([ridges, intensity]), _EMPTY_X)
    x = np.array([[left, _within(ridge), right] for ridge in ridges])
    with np.errstate(over="ignore", under="ignore"):
        y = np.array(
            [_within(np.minimum(peak, row * bandwidth)) for row, (_, peak, bandwidth) in zip(x, peaks, strict=True)]
        )
    with roofs.hold_sync():
        roofs.x, roofs.y = x, y
        roofs.labels = [chip.name for chip, _, _ in peaks]
        roofs.opacities = [1.0 if chip.id == model.focus_chip else _UNFOCUSED_OPACITY for chip, _, _ in peaks]
    with kernels.hold_sync():
        kernels.x, kernels.y, kernels.names = intensity, achieved, names
        kernels.display_names = False
    for scale, (low, high) in (
        (roofs.scales["x"], (left, right)),
        (roofs.scales["y"], _span(np.concatenate([y.ravel(), achieved]), _EMPTY_Y)),
    ):
        with scale.hold_sync():
            scale.min, scale.max = low, high


def _peaks(model: RooflineModel) -> list[tuple[Chip, float, float]]:
    """Peak and bandwidth of each shown chip that has the chosen ones."""
    found = []
    for name in model.shown:
        chip = model.resolved_chip(name)
        try:
            found.append((chip, chip.peak(model.precision), chip.bandwidth(one_level(model.memory))))
        except MissingFigureError:
            continue
    return found


def _measured(model: RooflineModel) -> tuple[Floats, Floats, npt.NDArray[np.str_]]:
    """Intensity, achieved rate and name of the kernels that a logarithmic chart can show."""
    kernels = model.kernels
    moved = np.full(len(kernels), np.nan)
    if model.chips:
        chip = model.resolved_chip()
        with contextlib.suppress(MissingFigureError):
            moved = bytes_by_level(kernels, chip).get(chip.memory(one_level(model.memory)), moved)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        intensity = kernels.flops / moved
    achieved = kernels.achieved
    visible = np.logical_and.reduce([np.isfinite(column) & (column > 0) for column in (intensity, achieved)])
    # A file's name may hold lone surrogates; a message may not.
    names = [text_to_wire(name) for name in kernels.names[visible]]
    return intensity[visible], achieved[visible], np.array(names, dtype=np.str_)


def _span(values: Floats, empty: tuple[float, float]) -> tuple[float, float]:
    """From a decade below the smallest to a decade above the largest."""
    if not values.size:
        return empty
    return float(_within(_within(values.min()) / 10)), float(_within(_within(values.max()) * 10))


def _within(values: npt.ArrayLike) -> Floats:
    return np.clip(np.asarray(values, dtype=np.float64), _SMALLEST, _LARGEST)
