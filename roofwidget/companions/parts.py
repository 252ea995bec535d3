"""What the figures are made of: bqplot, which nothing else imports, colours, limits of scales, and how they follow."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip
from roofwidget.wire import text_to_wire

with warnings.catch_warnings():
    # Importing bqplot declares traits the old way: under "-W error" that would keep it from loading.
    warnings.filterwarnings("ignore", "metadata .* was set from the constructor", DeprecationWarning)
    import bqplot

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Floats
    from roofwidget.model import RooflineModel

__all__ = [
    "GREY",
    "INK",
    "PALETTE",
    "ROOMY",
    "Limits",
    "axis",
    "bqplot",
    "colours",
    "figure",
    "follow",
    "labels",
    "legend_share",
    "shown_chips",
    "spoken",
    "within",
]

INK: Final = "var(--jp-content-font-color1, #1f2328)"
"""The colour of the host's text: no fixed one can be read on white and on black."""
PALETTE: Final = ("#0072b2", "#d55e00", "#0f9d74", "#c2569b", "#a87800", "#6b74e6")
"""The widget's hues, in its order, at 3:1 or more on white and on JupyterLab's black alike."""
GREY: Final = "#7f868e"
"""What is none of those that have a hue; as readable as they are."""

# A logarithmic scale takes finite numbers above zero only: what lies beyond is drawn at the edge of these.
_SMALLEST: Final = 1e-300
_LARGEST: Final = 1e300
# Of a legend's entries and of a plot between its axes, in px.
_ENTRY: Final = 16
_HEIGHT: Final = 388
ROOMY: Final = {"min_width": "760px"}
"""The layout of a figure with texts inside: bqplot does not move them apart where it is narrower."""
_LEGEND: Final = {"font-size": "12px", "fill": INK, "stroke": "none"}


def figure(marks: Sequence[Any], axes: Sequence[Any], **traits: Any) -> Any:
    """Return a bqplot figure in the host's colours, with room for the labels of its axes."""
    margin = {"top": 40, "bottom": 52, "left": 72, "right": 24} | traits.pop("margin", {})
    traits.setdefault("legend_text", dict(_LEGEND))
    traits.setdefault("legend_style", {"fill": "var(--jp-layout-color0, #fff)", "stroke": "none", "opacity": "0.85"})
    return bqplot.Figure(
        marks=list(marks),
        axes=list(axes),
        fig_margin=margin,
        title_style={"font-size": "13px", "fill": INK},
        **traits,
    )


def axis(scale: Any, side: str, label: str = "", **traits: Any) -> Any:
    """Return an axis whose label is in the host's colour, and beside its ticks rather than on them."""
    away = {"label_offset": "4em"} if side == "left" else {}
    return bqplot.Axis(scale=scale, side=side, label=label, label_color=INK, **away, **traits)


def labels(scales: dict[str, Any], **traits: Any) -> Any:
    """Return a mark of texts in the host's colour."""
    return bqplot.Label(
        x=[], y=[], text=[], scales=scales, colors=[INK], default_size=12, font_weight="normal", **traits
    )


def follow(shown: Any, model: RooflineModel, traits: Iterable[str], draw: Callable[[], None]) -> Any:
    """Draw now and whenever one of the model's traits changes, until the figure is closed; return the figure.

    The model holds what draws, never the figure; once that is closed neither holds anything of the other.
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
                # Of the tooltips.
                if hasattr(part, "layout"):
                    part.layout.close()

    draw()
    model.observe(changed, names)
    # Closing a widget takes its comm away.
    shown.observe(stop, "comm")
    return shown


class Limits:
    """What a scale spans; limits that somebody else has set stay.

    Parameters
    ----------
    scale
        A `LogScale`, or for `set` any other.
    empty
        What it spans while there is nothing to show.
    room
        By what factor it goes beyond what there is, on either side.
    """

    def __init__(self, scale: Any, empty: tuple[float, float], *, room: float = 10.0) -> None:
        self._scale, self._empty, self._room = scale, empty, room
        self._set: tuple[float | None, float | None] = (scale.min, scale.max)

    def span(self, values: npt.ArrayLike, above: float = 0.0) -> tuple[float, float]:
        """Span what there is, the share `above` of the height left free; return from where to where that is."""
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
        """Set both limits, unless somebody else did."""
        if (self._scale.min, self._scale.max) == self._set:
            self._set = (low, high)
            with self._scale.hold_sync():
                self._scale.min, self._scale.max = low, high


def legend_share(entries: int) -> float:
    """Return the share of a plot of usual height that a legend takes, at most 0.6."""
    return min(0.6, _ENTRY * (entries + 2) / _HEIGHT)


def within(values: npt.ArrayLike) -> Floats:
    """Return values as a logarithmic scale takes them."""
    return np.clip(np.asarray(values, dtype=np.float64), _SMALLEST, _LARGEST)


def colours(model: RooflineModel) -> dict[str, str]:
    """Return a colour by chip id: few chips have theirs for good; of many, those in view are told apart."""
    ids = [chip.id for chip in model.chips]
    pool = ids if len(ids) <= len(PALETTE) else list(model.shown)
    return {name: PALETTE[pool.index(name) % len(PALETTE)] if name in pool else GREY for name in ids}


def shown_chips(model: RooflineModel) -> list[Chip]:
    """Return the chips that are toggled on, with their what-if values."""
    return [model.resolved_chip(name) for name in model.shown]


def spoken(chip: Chip) -> str:
    """Return a chip's name as a message can hold it."""
    return text_to_wire(chip.name)
