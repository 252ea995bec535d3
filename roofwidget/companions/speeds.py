"""Draws which chip is fastest, as a heat map over the sizes of two dimensions of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.companions.arrays import allowed, evaluate_arrays, swept
from roofwidget.companions.parts import (
    CHIP_TRAITS,
    CONDITION_TRAITS,
    GRAPH_TRAITS,
    GREY,
    PALETTE,
    axis,
    bqplot,
    colours,
    conditions,
    figure,
    follow,
    labels,
    sendable_name,
)
from roofwidget.kernels.columns import DictColumn, unwarned
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import keywords, listed
from roofwidget.units import format_factor
from roofwidget.workloads.masks import Mask, members
from roofwidget.workloads.structure import Structure
from roofwidget.workloads.tensors import is_floating

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Floats
    from roofwidget.model import RooflineModel
    from roofwidget.workloads import Graph
    from roofwidget.workloads.expressions import Count
    from roofwidget.workloads.partition import Partition

# -- times at many sizes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _GroupCounts:
    """The counts of a kernel from which its time is computed.

    Two kernels with equal counts, such as the same kernel in two layers, are computed only once.
    """

    flops: tuple[tuple[str, Count], ...]
    bytes: Count
    precisions: tuple[tuple[Count, str], ...]

    def kernels(self, env: Mapping[str, Any], n: int) -> Kernels:
        """Return a `Kernels` table with n rows: this kernel at each of the n sizes in `env`."""
        return Kernels(
            [""] * n,
            {word: np.broadcast_to(evaluate_arrays(count, env), n) for word, count in self.flops} or np.zeros(n),
            np.broadcast_to(evaluate_arrays(self.bytes, env), n),
            precision=self._precision(env, n) if self.flops else None,
        )

    def _precision(self, env: Mapping[str, Any], n: int) -> DictColumn | None:
        words = tuple(dict.fromkeys(word for _, word in self.precisions))
        if not words:
            return None
        # The precision with the largest weight wins. If two precisions have the same weight, `argmax` takes the first
        # precision. `Structure.precision` has the same rule for a single size.
        weights = np.stack([np.broadcast_to(evaluate_arrays(count, env), n) for count, _ in self.precisions])
        of_weight = np.array([words.index(word) for _, word in self.precisions], dtype=np.int32)
        return DictColumn(words, of_weight[weights.argmax(axis=0)])


def times_over(
    partition: Partition,
    env: Mapping[str, Any],
    n: int,
    chips: Iterable[Chip],
    **conditions: Any,
) -> Floats:
    """Return the time of a partition on each chip at n sizes, in seconds, shape (chips, n).

    The time of a partition is the sum of the bounds of its kernels.

    Parameters
    ----------
    partition
        A `Partition`: which ops of a graph run as one kernel.
    env
        For each symbol of the graph, one value or an array of n values.
    n
        The number of sizes, which is the length of the arrays in `env`.
    chips, conditions
        The chips and keywords of `roofwidget.bound`. If a chip lacks a figure, or if the graph does not allow a size,
        the time is NaN.
    """
    structure = Structure(partition.graph)
    groups = Counter(_group(structure, sum(1 << op for op in group)) for group in partition.indices)
    chosen = tuple(chips)
    fine = allowed(partition.graph, env, n)
    there = {name: value[fine] if np.ndim(value) else value for name, value in env.items()}
    total = np.full((len(chosen), n), np.nan)
    total[:, fine] = 0.0
    for group, many in groups.items():
        table = group.kernels(there, int(fine.sum()))
        for row, chip in enumerate(chosen):
            total[row, fine] += many * _time(table, chip, conditions)
    return total


@unwarned
def _time(table: Kernels, chip: Chip, conditions: Mapping[str, Any]) -> Floats:
    try:
        return bound_lenient(table, chip, **conditions).time
    except MissingFigureError:
        return np.full(len(table), np.nan)


def _group(structure: Structure, group: Mask) -> _GroupCounts:
    counts = structure.counts
    return _GroupCounts(
        tuple(structure.flops(group, counts).items()), structure.bytes(group, counts), _precisions(structure, group)
    )


def _precisions(structure: Structure, group: Mask) -> tuple[tuple[Count, str], ...]:
    """Return pairs (amount, precision), from which the precision of the kernel of a group of ops is chosen.

    The kernel has the precision of the pair with the largest amount. There is one pair for each op that states a
    precision; its amount is the FLOPs of the op. If no op states a precision, there is one pair for each tensor that
    the kernel writes (or, without such tensors, reads); its amount is the bytes of the tensor.
    """
    counts = structure.counts
    stated = [
        (sum(counts.flops[op].values()), word) for op in members(group) if (word := structure.stated[op]) is not None
    ]
    if stated:
        return tuple(stated)
    crossing = sorted(t for t in structure.crossing(group) if is_floating(structure.tensors[t].dtype))
    leaving = [t for t in crossing if structure.producer[t] & group]
    return tuple((counts.sizes[t], structure.dtypes[t]) for t in leaving or crossing)


# -- figure --------------------------------------------------------------------------------------------------------

# If two times differ by at most this share of the shorter time, they are a tie.
_TIE: Final = 1e-9
# Cells with a speed-up below the first step have the lightest shade in `_SHADES`. Cells from the first step on have the
# second shade, and cells from the second step on have the third shade. Text is readable on all three shades.
_SHADE_STEPS: Final = (1.1, 2.0)
_SHADES: Final = (0.25, 0.4, 0.55)
_TIED, _UNKNOWN = "=", "?"
_MAX_COLUMNS_WITH_NUMBERS: Final = 14
_MAX_COLUMNS_WITH_LETTERS: Final = 40
_MIN_SIZES: Final = 2
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class _Map:
    """The content of a heat map: the fastest of m chips for each pair of sizes.

    `winner` and `speedup` have the shape (y sizes, x sizes). `winner` is the index of the fastest chip. The index m
    means a tie, and -1 means unknown. `speedup` is the second-best time / the best time. If there is no second-best
    time, `speedup` is NaN.
    """

    x_sizes: Floats
    y_sizes: Floats
    names: tuple[str, ...]
    hues: tuple[str, ...]
    winner: Rows
    speedup: Floats


@keywords("speed_map")
def speed_map(model: RooflineModel, x_dim: Any, y_dim: Any, chips: Iterable[str] | None = None) -> bqplot.Figure:
    """Return a heat map of the fastest chip and its speed-up, for sizes of two dimensions of the model's graph.

    A cell is a pair of sizes. In a cell, the time of a chip is the sum of the bounds of the partition's kernels at
    these sizes. The speed-up is the second-best time / the best time.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget` with a graph. The figure follows the model's partition,
        precision, memory, launch overhead and what-if rates. The other dimensions have the model's sizes.
    x_dim, y_dim
        Two dimensions of the graph, each as ``{name: sizes}``, or only as a name for the whole range.
    chips
        Ids or names of chips of the model, at most 26. By default these are the chips that the model shows.

    Returns
    -------
    bqplot.Figure
        The figure has two marks. A ``GridHeatMap`` has in each cell the colour of the fastest chip, stronger for a
        larger speed-up. A ``Label`` has in each cell the letter and the speed-up of the fastest chip, or ``=`` for a
        tie. ``?`` means that a bound is unknown or that the graph does not allow the sizes. The title explains the
        letters and states in how many cells each chip is fastest.

    Raises
    ------
    TypeError, ValueError
        If the model has no graph, if a dimension does not exist, if both dimensions are the same, or if an axis has
        only one size.
    traitlets.TraitError
        If a chip is not in the model.

    Examples
    --------
    >>> import roofwidget as rw
    >>> graph = rw.Graph("layer")
    >>> n, d = rw.dim("tokens", 1, 4096, default=64), rw.dim("width", 64, 4096, default=1024)
    >>> graph.output(graph.linear(graph.input("x", (n, d), "bf16"), d))
    >>> model = rw.RooflineModel(["v5p", "v6e"], graph=graph)
    >>> speed_map(model, {"tokens": [1, 4096]}, {"width": [1024, 4096]}).marks[1].text.tolist()
    ['A 1.7×', 'B 1.6×', 'A 1.7×', 'B 2×']
    """
    graph = model.counted_graph()
    if graph is None:
        raise ValueError("speed_map: the model has no graph; set its graph first")
    named = None if chips is None else _named(model, chips)
    axes_now = _axes(graph, x_dim, y_dim)
    scales = {"column": bqplot.OrdinalScale(), "row": bqplot.OrdinalScale(reverse=True)}
    colour = bqplot.OrdinalColorScale(colors=[GREY])
    cells = bqplot.GridHeatMap(color=np.zeros((2, 2)), scales={**scales, "color": colour}, stroke="transparent")
    texts = labels({"x": scales["column"], "y": scales["row"]}, align="middle")
    axes = [
        axis(scales["column"], "bottom", axes_now[0][0], grid_lines="none"),
        axis(scales["row"], "left", axes_now[1][0], grid_lines="none"),
    ]
    shown = figure([cells, texts], axes, padding_y=0.0)

    def draw() -> None:
        found = _map(model, axes_now, named)
        _paint(cells, colour, texts, found)
        shown.title = _title(found)

    return follow(shown, model, (*CHIP_TRAITS, *CONDITION_TRAITS, *GRAPH_TRAITS), draw)


_Axes = tuple[tuple[str, "Floats"], tuple[str, "Floats"]]


def _named(model: RooflineModel, chips: Any) -> tuple[str, ...]:
    """Return the ids of the given chips.

    Raises `TraitError` if the model lacks a chip, and `ValueError` if there are no chips or more than 26 chips.
    """
    given = [chips] if isinstance(chips, str) else list(chips)
    found = tuple(dict.fromkeys(model.chip(getattr(one, "id", one)).id for one in given))
    if not 0 < len(found) <= len(_LETTERS):
        raise ValueError(f"speed_map: chips must be 1 to {len(_LETTERS)} of the model's, got {len(found)}")
    return found


def _axes(graph: Graph, x_dim: Any, y_dim: Any) -> _Axes:
    for what, given in (("x_dim", x_dim), ("y_dim", y_dim)):
        if not isinstance(given, (str, Mapping)):
            raise TypeError(f"speed_map: {what} must be the name of a dim or {{name: sizes}}, got {given!r:.60}")
    x, y = swept("speed_map", x_dim, graph), swept("speed_map", y_dim, graph)
    if x[0] == y[0]:
        raise ValueError(
            f"speed_map: x_dim and y_dim are both '{x[0]}'; the graph has {listed(dim.name for dim in graph.dims)}"
        )
    for name, sizes in (x, y):
        # bqplot cannot draw a grid with one row: it treats this grid as a plain list.
        if len(sizes) < _MIN_SIZES:
            raise ValueError(
                f"speed_map: '{name}' needs at least {_MIN_SIZES} sizes for a map, got {sizes[0]:.0f} alone"
            )
    return x, y


def _map(model: RooflineModel, axes: _Axes, named: tuple[str, ...] | None) -> _Map:
    (x_name, x_sizes), (y_name, y_sizes) = axes
    there = {chip.id for chip in model.all_chips}
    ids = [name for name in (model.shown if named is None else named) if name in there][: len(_LETTERS)]
    hues = colours(model)
    chips = [model.resolved_chip(name) for name in ids]
    partition = model.partition
    dims = {} if partition is None else {dim.name: dim for dim in partition.graph.dims}
    times = np.full((len(chips), len(y_sizes), len(x_sizes)), np.nan)
    if partition is not None and x_name in dims and y_name in dims:
        across, up = (cells.ravel() for cells in np.meshgrid(x_sizes, y_sizes))
        env = {**partition.graph.environment(model.dims), x_name: across, y_name: up}
        sizes = ((x_name, across), (y_name, up))
        inside = [(size >= dims[name].low) & (size <= dims[name].high) for name, size in sizes]
        seconds = times_over(partition, env, len(across), chips, **conditions(model))
        times = np.where(inside[0] & inside[1], seconds, np.nan).reshape(times.shape)
    winner, speedup = _winner_and_speedup(times)
    picked = tuple(hues[name] if hues[name] != GREY else PALETTE[i % len(PALETTE)] for i, name in enumerate(ids))
    return _Map(x_sizes, y_sizes, tuple(sendable_name(chip) for chip in chips), picked, winner, speedup)


@unwarned
def _winner_and_speedup(times: Floats) -> tuple[Rows, Floats]:
    """Return `winner` and `speedup` of `_Map`. `times` has the shape (chips, y sizes, x sizes)."""
    m = len(times)
    if not m:
        return np.full(times.shape[1:], -1, dtype=np.intp), np.full(times.shape[1:], np.nan)
    known = np.where(np.isnan(times), np.inf, times)
    ranked = np.sort(known, axis=0)
    best, second = ranked[0], ranked[1] if m > 1 else np.full(times.shape[1:], np.inf)
    speedup = np.where(np.isfinite(second), second / best, np.nan)
    winner = np.where(np.isfinite(second) & (second <= best * (1 + _TIE)), m, known.argmin(axis=0))
    return np.where(np.isinf(best), -1, winner), speedup


def _paint(cells: bqplot.GridHeatMap, colour: bqplot.OrdinalColorScale, texts: bqplot.Label, found: _Map) -> None:
    shades = len(_SHADES)
    # The colour codes are: one for each shade of each chip, then one for ties, then one for unknown cells.
    step = np.searchsorted(_SHADE_STEPS, np.nan_to_num(found.speedup, nan=1.0), side="right")
    tied = len(found.names) * shades
    code = np.where(found.winner == len(found.names), tied, found.winner * shades + step)
    code = np.where(found.winner < 0, tied + 1, code)
    rows, columns = ([f"{size:.0f}" for size in sizes] for sizes in (found.y_sizes, found.x_sizes))
    with colour.hold_sync():
        colour.domain = list(range(tied + 2))
        colour.colors = [
            *(_tint(hue, share) for hue in found.hues for share in _SHADES),
            _tint(GREY, 0.4),
            "transparent",
        ]
    with cells.hold_sync():
        # bqplot checks that `row` and `column` fit the shape of `color`. So clear both before `color` changes.
        cells.row = cells.column = None
        cells.color = code
        cells.row, cells.column = np.array(rows), np.array(columns)
    cells.scales["column"].domain, cells.scales["row"].domain = columns, rows
    cell_texts = _cell_texts(found)
    with texts.hold_sync():
        texts.x = np.array([column for _ in rows for column in columns] if cell_texts else [], dtype=np.str_)
        texts.y = np.array([row for row in rows for _ in columns] if cell_texts else [], dtype=np.str_)
        texts.text = np.array(cell_texts, dtype=np.str_)


def _cell_texts(found: _Map) -> list[str]:
    """Return the text of each cell, row by row. If the cells are too small for texts, return an empty list."""
    columns = len(found.x_sizes)
    if columns > _MAX_COLUMNS_WITH_LETTERS:
        return []
    marks = [*_LETTERS[: len(found.names)], _TIED, _UNKNOWN]
    return [
        marks[winner]
        if columns > _MAX_COLUMNS_WITH_NUMBERS or np.isnan(gain) or marks[winner] in {_TIED, _UNKNOWN}
        else f"{marks[winner]} {format_factor(float(gain))}×"
        for winner, gain in zip(found.winner.ravel().tolist(), found.speedup.ravel().tolist(), strict=True)
    ]


def _tint(hue: str, share: float) -> str:
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {share})"


def _title(found: _Map) -> str:
    """Return the title of the heat map.

    It states in how many cells each chip is fastest. Chips that are fastest in no cell are left out.
    """
    marks = [
        *(f"{letter} {name}" for letter, name in zip(_LETTERS, found.names, strict=False)),
        f"{_TIED} none faster",
        f"{_UNKNOWN} unknown",
    ]
    cells = np.bincount(np.where(found.winner < 0, len(found.names) + 1, found.winner).ravel(), minlength=len(marks))
    counts = [f"{mark}: {many}" for mark, many in zip(marks, cells.tolist(), strict=True) if many]
    return " · ".join([f"Fastest of {len(found.names)} at {found.winner.size} sizes", *counts])
