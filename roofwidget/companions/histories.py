"""Draws how the ridge points of chips changed over the years, with one line per chip family."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip, MissingFigureError
from roofwidget.chips import chip as look_up
from roofwidget.companions.parts import (
    CHIP_TRAITS,
    INK,
    PALETTE,
    Limits,
    axis,
    bqplot,
    figure,
    follow,
    labels,
    legend_share,
    sendable_name,
    shown_chips,
    within,
)
from roofwidget.kernels.presets import Preset
from roofwidget.model import RooflineModel
from roofwidget.state.what_if import one_level
from roofwidget.support.did_you_mean import keywords
from roofwidget.wire import text_to_wire

# -- points with a label -------------------------------------------------------------------------------------------

# Sizes of texts. A width is a share of the width of the narrowest plot, which is 664 px. A height is a share of the
# height of this plot, which is 380 px.
_LETTER_WIDTH: Final = 6.6 / 664
_LINE_HEIGHT: Final = 15 / 380
_LABEL_OFFSET: Final = 8 / 664
# A label is above and to the right of its point. `_LABEL_RISE` is the height of the label's middle above the point.
# `_POINT_CLEARANCE` is the minimum vertical distance from the label's middle to any other point below or above it.
_LABEL_RISE: Final = 10 / 380
_POINT_CLEARANCE: Final = 9 / 380


def named_points(places: Sequence[tuple[float, float]], texts: Sequence[str]) -> list[int]:
    """Return the indices of the points that get a label.

    A point gets no label if the label would overlap a point, the right edge, or the label of an earlier point.

    Parameters
    ----------
    places
        The positions (x, y) of the points. The plot goes from 0 to 1 in both directions.
    texts
        The labels of the points.

    Examples
    --------
    >>> named_points([(0.1, 0.5), (0.09, 0.51), (0.1, 0.9), (0.99, 0.1)], ["first", "over it", "above", "outside"])
    [0, 2]
    """
    labelled: list[int] = []
    for i, (x, y) in enumerate(places):
        end = x + _LABEL_OFFSET + _LETTER_WIDTH * len(texts[i])
        on_name = (
            x <= places[j][0] + _LABEL_OFFSET + _LETTER_WIDTH * len(texts[j])
            and end >= places[j][0]
            and abs(y - places[j][1]) < _LINE_HEIGHT
            for j in labelled
        )
        on_point = (x + _LABEL_OFFSET < px < end and abs(y + _LABEL_RISE - py) < _POINT_CLEARANCE for px, py in places)
        if end <= 1 and not any(on_name) and not any(on_point):
            labelled.append(i)
    return labelled


# -- figure --------------------------------------------------------------------------------------------------------

_EMPTY: Final = (1.0, 1e3)
# Two ridge points of the same year whose ratio is closer to 1 than this are drawn at the same place.
_SAME_PLACE: Final = 0.01
# The name of a place has at most this many chips.
_MAX_JOINED: Final = 3
_FREE_SPACE: Final = 1.6
# With more families than this, the legend would cover the plot, so it is not shown.
_MAX_LEGEND_FAMILIES: Final = 10


@dataclass(frozen=True)
class _Point:
    chip: Chip
    year: int
    ridge: float

    @property
    def family(self) -> str:
        return text_to_wire(" ".join(word for word in (self.chip.vendor, self.chip.family) if word) or self.chip.name)


@keywords("ridge_history")
def ridge_history(
    chips: RooflineModel | Preset | Iterable[Chip | str], *, precision: str = "auto", memory: str = "main"
) -> bqplot.Figure:
    """Return a figure of the ridge points of chips by release year, with one line per chip family.

    A ridge point is ``peak / bandwidth`` in FLOP/byte. It is the lowest intensity at which a kernel is compute-bound.
    The year and the family are fields of `Chip`.

    Parameters
    ----------
    chips
        A list of `Chip` objects and names of catalogue chips, or a `Preset`, or a model. The figure of a model follows
        the model's shown chips, what-if rates, precision and memory.
    precision, memory
        The same as for `Chip.ridge_point`. If `chips` is a model, they are not allowed, because the model has its own
        precision and memory.

    Returns
    -------
    bqplot.Figure
        The figure has three marks. A ``Lines`` has one line per family, through the geometric mean of each year. A
        ``Scatter`` has one point per chip, with the name as tooltip. A ``Label`` has the names for which there is
        space; the newest chip of each family has priority. The title states how many chips are left out because they
        lack a year, the precision or the memory.

    Raises
    ------
    TypeError, ValueError
        If an entry of `chips` is not a chip, or if a precision or memory is given for a model.

    Examples
    --------
    >>> figure = ridge_history(["tpu-v4", "v5e", "v5p", "v6e", "ironwood"])
    >>> families, chips, names = figure.marks
    >>> families.labels, chips.x.tolist(), chips.y.round(1).tolist()
    (['Google TPU'], [2021, 2023, 2023, 2024, 2025], [229.2, 240.5, 166.0, 560.4, 312.6])
    """
    scales = {"x": bqplot.LinearScale(), "y": bqplot.LogScale()}
    families = bqplot.Lines(x=[], y=[], scales=scales, colors=list(PALETTE))
    tooltip = bqplot.Tooltip(
        fields=["name", "x", "y"], labels=["chip", "year", "ridge point"], formats=["", "d", ".4~r"]
    )
    points = bqplot.Scatter(x=[], y=[], scales=scales, display_names=False, default_size=40, tooltip=tooltip)
    names = labels(scales, x_offset=7, y_offset=-5)
    axes = [
        axis(scales["x"], "bottom", "Year", tick_format="d"),
        axis(scales["y"], "left", "Ridge point (FLOP/B)", tick_format="~s"),
    ]
    shown = figure([families, points, names], axes)
    limits = Limits(scales["y"], _EMPTY, room=_FREE_SPACE)
    years_limits = Limits(scales["x"], (2010.0, 2030.0))
    model, chips_now = _chosen(chips, precision, memory)

    def draw() -> None:
        rows, word, level = chips_now()
        known = _points(rows, word, level)
        years = [point.year for point in known]
        count = len(_by_family(known))
        named = count if 1 < count <= _MAX_LEGEND_FAMILIES else 0
        low, high = limits.span([point.ridge for point in known], legend_share(named) if named else 0.0)
        first, last = (min(years), max(years)) if years else (2010, 2030)
        # Leave half a year of space on the left, and space for a label on the right.
        left, right = first - 0.5, last + max(1.0, 0.25 * (last - first))
        years_limits.set(left, right)
        axes[0].tick_values = np.arange(first, last + 1, max(1, (last - first) // 8))
        _draw(families, points, known)
        families.display_legend = named > 0
        _name(names, known, (left, right), (low, high))
        shown.title = _title(len(rows) - len(known))

    if model is None:
        draw()
        return shown
    return follow(shown, model, CHIP_TRAITS, draw)


def _chosen(
    chips: Any, precision: str, memory: str
) -> tuple[RooflineModel | None, Callable[[], tuple[Sequence[Chip], str, str]]]:
    """Return the model to follow, and a function that returns the current chips, precision and memory.

    The model is None if `chips` is not a model.
    """
    if isinstance(chips, RooflineModel):
        if (precision, memory) != ("auto", "main"):
            raise ValueError("ridge_history: a model has its own precision and memory; set these on the model")
        return chips, lambda: (shown_chips(chips), chips.precision, one_level(chips.memory))
    if isinstance(chips, (str, Chip)):
        chips = [chips]
    if isinstance(chips, Preset):
        chips = chips.chips
    if not isinstance(chips, Iterable):
        raise TypeError(f"ridge_history: chips must be a model, or chips and names of them, got {chips!r:.60}")
    found = tuple(look_up(one) for one in chips)
    for what, word in (("precision", precision), ("memory", memory)):
        if not isinstance(word, str):
            raise TypeError(f"ridge_history: {what} must be text, got {word!r:.60}")
    return None, lambda: (found, precision, memory)


def _points(chips: Sequence[Chip], precision: str, memory: str) -> list[_Point]:
    """Return a point for each chip with a known year and ridge point.

    The points are grouped by family. In each family the oldest chip is first.
    """
    found = []
    for chip in chips:
        with contextlib.suppress(MissingFigureError):
            if chip.year is not None:
                found.append(_Point(chip, chip.year, chip.ridge_point(precision, memory)))
    order = list(dict.fromkeys(point.family for point in found))
    return sorted(found, key=lambda point: (order.index(point.family), point.year, point.chip.generation))


def _by_family(known: list[_Point]) -> dict[str, list[_Point]]:
    grouped: dict[str, list[_Point]] = {}
    for point in known:
        grouped.setdefault(point.family, []).append(point)
    return grouped


def _draw(families: bqplot.Lines, points: bqplot.Scatter, known: list[_Point]) -> None:
    grouped = _by_family(known)
    means = [_by_year(row) for row in grouped.values()]
    # All lines of a bqplot mark need the same number of points, at least 2. So repeat the last point of short lines.
    longest = max(2, *map(len, means), 2)
    padded = [[*row, *([row[-1]] * (longest - len(row)))] for row in means]
    hues = {family: PALETTE[i % len(PALETTE)] for i, family in enumerate(grouped)}
    with families.hold_sync():
        families.x = np.array([[year for year, _ in row] for row in padded])
        families.y = within(np.array([[ridge for _, ridge in row] for row in padded]))
        families.labels = list(grouped)
        families.colors = list(hues.values()) or [INK]
    with points.hold_sync():
        points.x = np.array([point.year for point in known])
        points.y = within(np.array([point.ridge for point in known]))
        points.names = np.array(_point_names(known), dtype=np.str_)
        points.colors = [hues[point.family] for point in known] or [INK]


def _by_year(family: list[_Point]) -> list[tuple[float, float]]:
    """Return pairs of a year and the geometric mean of the ridge points of the family's chips from this year."""
    years = dict.fromkeys(point.year for point in family)
    return [
        (float(year), float(np.exp(np.mean([np.log(point.ridge) for point in family if point.year == year]))))
        for year in years
    ]


def _name(names: Any, known: list[_Point], x_span: tuple[float, float], y_span: tuple[float, float]) -> None:
    """Set the labels of the points that have enough space for a label."""
    newest = {id(row[-1]) for row in _by_family(known).values()}
    ranked = sorted(known, key=lambda point: (id(point) not in newest, -point.year))
    width, height = x_span[1] - x_span[0], np.log(y_span[1] / y_span[0])
    places = [((p.year - x_span[0]) / width, float(np.log(p.ridge / y_span[0]) / height)) for p in ranked]
    text_of = {id(point): name for point, name in zip(known, _point_names(known), strict=True)}
    texts = [text_of[id(point)] for point in ranked]
    labelled = named_points(places, texts)
    with names.hold_sync():
        names.x = np.array([ranked[i].year for i in labelled])
        names.y = within(np.array([ranked[i].ridge for i in labelled]))
        names.text = np.array([texts[i] for i in labelled], dtype=np.str_)


def _point_names(points: list[_Point]) -> list[str]:
    """Return the name of each point. After the name of its chip come the chips of points at the same place."""
    names = []
    for point in points:
        others = [
            sendable_name(other.chip)
            for other in points
            if other is not point and other.year == point.year and abs(np.log(other.ridge / point.ridge)) < _SAME_PLACE
        ]
        listed = others if len(others) < _MAX_JOINED else [f"{len(others)} more"]
        names.append(" / ".join([sendable_name(point.chip), *listed]))
    return names


def _title(left_out: int) -> str:
    if not left_out:
        return "Ridge point by year"
    return f"Ridge point by year ({left_out} chip{'' if left_out == 1 else 's'} left out: no year, precision or memory)"
