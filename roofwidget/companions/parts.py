"""What all figures of this package share: the import of bqplot, colours, axes, limits of scales, and updates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip
from roofwidget.wire import text_to_wire

with warnings.catch_warnings():
    # bqplot declares traits in a deprecated way. With the option "-W error" of Python, the import of bqplot would fail.
    # So ignore this warning.
    warnings.filterwarnings("ignore", "metadata .* was set from the constructor", DeprecationWarning)
    import bqplot

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Floats
    from roofwidget.model import RooflineModel

__all__ = ["bqplot"]  # The figures of this package import it from here, without the warning.

CHIP_TRAITS: Final = ("chips", "shown", "precision", "memory", "what_if")
CONDITION_TRAITS: Final = ("exposed_comm", "launch_overhead")
GRAPH_TRAITS: Final = ("graph", "partition", "dims")
"""Changes of `convention`, `dtype` and `phase` also change these traits."""
INK: Final = "var(--jp-content-font-color1, #1b1f24)"
"""The host's text colour, because no fixed colour is readable on both white and black."""
PALETTE: Final = ("#0072b2", "#d55e00", "#0f9d74", "#c2569b", "#a87800", "#6b74e6")
"""The widget's colours in its order; contrast is at least 3:1 on white and on JupyterLab's black."""
GREY: Final = "#7f868e"
"""The colour of items without a colour of their own. Its contrast is also at least 3:1."""

# A logarithmic scale accepts only finite numbers above zero. A smaller value is drawn at `_SMALLEST`, a larger value at
# `_LARGEST`.
_SMALLEST: Final = 1e-300
_LARGEST: Final = 1e300
_LEGEND_ENTRY_PX: Final = 16
_PLOT_HEIGHT_PX: Final = 388
# In a narrower figure the ticks and the texts would overlap, and the legend would be cut. In a narrow notebook the
# reader scrolls the figure.
_MIN_WIDTH_PX: Final = 760
_MARGIN_PX: Final = {"top": 40, "bottom": 52, "left": 72, "right": 24}
_LEGEND: Final = {"font-size": "12px", "fill": INK, "stroke": "none"}


def figure(marks: Sequence[Any], axes: Sequence[Any], **traits: Any) -> Any:
    """Return a bqplot figure with the text colour of the host (such as JupyterLab) and margins for axis labels.

    The legend is at the top left, which is in sight before the reader scrolls a figure that is wider than the notebook.
    """
    traits.setdefault("legend_text", dict(_LEGEND))
    traits.setdefault("layout", {"min_width": f"{_MIN_WIDTH_PX}px"})
    traits.setdefault("legend_location", "top-left")
    traits.setdefault("legend_style", {"fill": "var(--jp-layout-color0, #fff)", "stroke": "none", "opacity": "0.85"})
    return bqplot.Figure(
        marks=list(marks),
        axes=list(axes),
        fig_margin=dict(_MARGIN_PX),
        title_style={"font-size": "13px", "fill": INK},
        **traits,
    )


def axis(scale: Any, side: str, label: str = "", **traits: Any) -> Any:
    """Return an axis. Its label has the text colour of the host and does not overlap the ticks."""
    away = {"label_offset": "4em"} if side == "left" else {}
    return bqplot.Axis(scale=scale, side=side, label=label, label_color=INK, **away, **traits)


def labels(scales: dict[str, Any], **traits: Any) -> Any:
    """Return a bqplot mark that draws texts in the text colour of the host. It has no texts yet."""
    return bqplot.Label(
        x=[], y=[], text=[], scales=scales, colors=[INK], default_size=12, font_weight="normal", **traits
    )


def follow(shown: Any, model: RooflineModel, traits: Iterable[str], draw: Callable[[], None]) -> Any:
    """Call `draw` now and whenever one of the `traits` of the model changes. Return the figure `shown`.

    When the figure is closed, the model stops calling `draw`. The marks, axes, scales and layouts of the figure are
    closed too.
    """
    names = list(traits)
    own = [*shown.marks, *shown.axes, shown.scale_x, shown.scale_y, shown.layout]
    own += [part for mark in shown.marks for part in (*mark.scales.values(), mark.tooltip) if part is not None]

    def changed(_change: object) -> None:
        draw()

    def stop(change: Any) -> None:
        if change["new"] is None:
            model.unobserve(changed, names)
            shown.unobserve(stop, "comm")
            for part in own:
                part.close()
                # A tooltip has its own layout, which must be closed too.
                if hasattr(part, "layout"):
                    part.layout.close()

    draw()
    model.observe(changed, names)
    # When a widget is closed, its trait `comm` becomes None.
    shown.observe(stop, "comm")
    return shown


class MinWidth:
    """Sets the minimum width of a figure until other code sets it."""

    def __init__(self, shown: Any) -> None:
        self._figure, self._set = shown, shown.layout.min_width

    def fit(self, plot_px: float) -> None:
        """Make the figure wide enough for a plot of this width, but never narrower than other figures."""
        if self._figure.layout.min_width == self._set:
            needed = round(plot_px + _MARGIN_PX["left"] + _MARGIN_PX["right"])
            self._set = self._figure.layout.min_width = f"{max(_MIN_WIDTH_PX, needed)}px"


class Limits:
    """Sets the limits of a scale until other code or a user sets them.

    Parameters
    ----------
    scale
        The bqplot scale. For the method `span` it must be a `LogScale`. The method `set` works with all scales.
    empty
        The limits if there is no data.
    room
        The limits are the smallest value / `room` and the largest value x `room`.
    """

    def __init__(self, scale: Any, empty: tuple[float, float], *, room: float = 10.0) -> None:
        self._scale, self._empty, self._room = scale, empty, room
        self._set: tuple[float | None, float | None] = (scale.min, scale.max)

    def span(self, values: npt.ArrayLike, above: float = 0.0) -> tuple[float, float]:
        """Set the limits so that all values are inside, and return the limits.

        Above the values, the share `above` of the height stays free: with 0.25, the upper quarter. It is below 1.
        """
        given = np.asarray(values, dtype=np.float64)
        known = given[np.isfinite(given)]
        low, high = self._empty
        if known.size:
            low, high = (
                float(within(within(edge) * factor))
                for edge, factor in ((known.min(), 1 / self._room), (known.max(), self._room))
            )
        high = float(within(low * np.exp(np.log(high / low) / (1 - above)))) if above else high
        self.set(low, high)
        return low, high

    def set(self, low: float, high: float) -> None:
        """Set both limits of the scale, unless other code or a user has set a limit since the last call."""
        if (self._scale.min, self._scale.max) == self._set:
            self._set = (low, high)
            with self._scale.hold_sync():
                self._scale.min, self._scale.max = low, high


def legend_share(entries: int) -> float:
    """Return the share of the height of a plot that a legend with this number of entries needs, at most 0.6."""
    return min(0.6, _LEGEND_ENTRY_PX * (entries + 2) / _PLOT_HEIGHT_PX)


def within(values: npt.ArrayLike) -> Floats:
    """Return values, clipped to the range that a logarithmic scale can draw."""
    return np.clip(np.asarray(values, dtype=np.float64), _SMALLEST, _LARGEST)


def conditions(model: RooflineModel) -> dict[str, Any]:
    """Return the options of `roofwidget.bound` that a model sets for its chips."""
    names = ("precision", "memory", *CONDITION_TRAITS)
    return {name: getattr(model, name) for name in names}


def colours(model: RooflineModel) -> dict[str, str]:
    """Return the colour of each chip by its id.

    If the model has more chips than `PALETTE` has colours, only shown chips have a colour. The other chips are grey.
    """
    ids = [chip.id for chip in model.all_chips]
    pool = ids if len(ids) <= len(PALETTE) else list(model.shown)
    return {name: PALETTE[pool.index(name) % len(PALETTE)] if name in pool else GREY for name in ids}


def shown_chips(model: RooflineModel) -> list[Chip]:
    """Return the chips that the model shows, with their what-if rates."""
    return [model.resolved_chip(name) for name in model.shown]


def sendable_name(chip: Chip) -> str:
    """Return the name of a chip without characters that a message to the front end cannot contain."""
    return text_to_wire(chip.name)
