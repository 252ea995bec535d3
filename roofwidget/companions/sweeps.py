"""Draws from which size an operation is compute-bound: its intensity over its size, and the ridge points of chips."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.chips import MissingFigureError
from roofwidget.companions.arrays import allowed, evaluate_arrays, swept, whole_numbers
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
    legend_share,
    sendable_name,
    shown_chips,
    within,
)
from roofwidget.kernels.columns import unwarned
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.table import Kernels
from roofwidget.state.what_if import one_level
from roofwidget.support.did_you_mean import did_you_mean, keywords
from roofwidget.units import format_significant
from roofwidget.wire import text_to_wire
from roofwidget.workloads import Graph, Op, Tensor, dim
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.registry import OPERATORS

if TYPE_CHECKING:
    from roofwidget.chips import Chip
    from roofwidget.kernels.columns import Floats
    from roofwidget.model import RooflineModel
    from roofwidget.workloads.expressions import Count

# -- curves --------------------------------------------------------------------------------------------------------

# An operation is compute-bound if its intensity is at least this share of the ridge point. `bound` has the same limit.
_TIE: Final = 1 - 1e-12
# If more whole numbers than this lie between two neighbouring sizes, `Curve.first` does not try these numbers.
_MAX_GAP: Final = 2**20
_SIZE_NAME: Final = "N"
_MAX_SIZE: Final = 2**31


@dataclass(frozen=True)
class Curve:
    """The intensity of one kernel at n sizes.

    Parameters
    ----------
    name
        The kernel's name.
    size
        The name of the dimension that changes. For an operator or a function, it is ``N``.
    sizes
        The sizes of this dimension: ascending whole numbers, shape (n,).
    intensity
        The intensity at each size in FLOP/byte, shape (n,). It is NaN if it is unknown, or if the size is not allowed.
    at
        A function that returns the intensity at other sizes. None if the intensity is known only at `sizes`.
    """

    name: str
    size: str
    sizes: Floats
    intensity: Floats
    at: Callable[[Floats], Floats] | None = None

    def first(self, ridge: float) -> int | None:
        """Return the first size whose intensity is at least `ridge`, or None if there is no such size.

        If `at` is given, this method also tries the whole numbers between the sizes.
        """
        reached = np.flatnonzero(self.intensity >= ridge * _TIE)
        if not reached.size:
            return None
        here = int(self.sizes[reached[0]])
        if self.at is None or reached[0] == 0:
            return here
        below = int(self.sizes[reached[0] - 1]) + 1
        if here - below > _MAX_GAP:
            return here
        between = np.arange(below, here + 1, dtype=np.float64)
        return int(between[np.flatnonzero(self.at(between) >= ridge * _TIE)[0]])


_NO_CURVE: Final = Curve("", _SIZE_NAME, np.zeros(0), np.zeros(0))


def curve_of(model: RooflineModel, op: Any, sizes: Any) -> Callable[[], Curve]:
    """Return a function that computes the `Curve` of an op for the current state of the model.

    `size_sweep` explains `op` and `sizes`.
    """
    name = op if isinstance(op, str) else _operator_name(op)
    graph = model.counted_graph()
    if graph is not None and isinstance(op, str) and _is_of_graph(graph, op, sizes):
        return _of_graph(model, graph, op, sizes)
    if name in OPERATORS:
        wanted = whole_numbers("size_sweep", _plain(sizes), high=_MAX_SIZE)
        make = _of_operator(model, name, wanted)
        make()
        return make
    if callable(op):
        curve = _of_function(op, whole_numbers("size_sweep", _plain(sizes)))
        return lambda: curve
    known = [*(() if graph is None else (one.name for one in graph.ops)), *OPERATORS]
    if not isinstance(op, str):
        raise TypeError(f"size_sweep: op must be the name of an op or an operator, or a function of N, got {op!r:.60}")
    raise ValueError(f"size_sweep: there is no op and no operator called '{op:.60}'{did_you_mean(op, known)}")


def _operator_name(op: Any) -> str:
    """Return the name of the operator if `op` is an operator function. Otherwise return an empty text."""
    plain = inspect.unwrap(op) if callable(op) else None
    return next((name for name, known in OPERATORS.items() if inspect.unwrap(known) is plain), "")


def _is_of_graph(graph: Graph, op: str, sizes: Any) -> bool:
    """Return whether `op` means an op of the graph. Otherwise `op` means an operator such as "matmul".

    An op and an operator can have the same name. Then `op` means the operator if the graph has no dimensions and
    `sizes` names no dimension. In all other cases `op` means the op of the graph.
    """
    named = isinstance(sizes, (str, Mapping))
    return any(one.name == op for one in graph.ops) and (named or bool(graph.dims) or op not in OPERATORS)


def _plain(sizes: Any) -> Any:
    if isinstance(sizes, (str, Mapping)):
        raise TypeError(
            f"size_sweep: sizes of an operator or a function are whole numbers, as it has no dims, got {sizes!r:.60}"
        )
    return sizes


def _of_graph(model: RooflineModel, graph: Graph, op: str, sizes: Any) -> Callable[[], Curve]:
    name, wanted = swept("size_sweep", sizes, graph)

    def make() -> Curve:
        partition: Partition | None = model.partition
        if partition is None or all(op not in group for group in partition.groups):
            return _NO_CURVE
        dims = {dim.name: dim for dim in partition.graph.dims}
        if name not in dims:
            return _NO_CURVE
        legal = wanted[(wanted >= dims[name].low) & (wanted <= dims[name].high)]
        fixed = partition.graph.environment(model.dims)
        at = _intensity_at(partition.graph, fixed, name, sum(partition.flops(op).values()), partition.bytes(op))
        kernel = " + ".join(next(group for group in partition.groups if op in group))
        return Curve(kernel, name, legal, at(legal), at)

    return make


def _intensity_at(
    graph: Graph, fixed: Mapping[str, Any], name: str, flops: Count, moved: Count
) -> Callable[[Floats], Floats]:
    """Return a function from sizes of the dimension `name` to intensities (FLOPs / bytes).

    The intensity is NaN for a size that the graph does not allow. The other dimensions have the sizes in `fixed`.
    """

    @unwarned
    def at(sizes: Floats) -> Floats:
        env = {**fixed, name: sizes}
        found = evaluate_arrays(flops, env) / evaluate_arrays(moved, env)
        return np.where(allowed(graph, env, len(sizes)), found, np.nan)

    return at


def _of_operator(model: RooflineModel, name: str, wanted: Floats) -> Callable[[], Curve]:
    def make() -> Curve:
        counted = model.counted_graph()
        convention = "textbook" if counted is None else counted.convention
        dtype = (counted and (counted.dtype or counted.main_dtype)) or "bf16"
        graph = Graph("square", convention=convention)
        _apply(graph, name, dtype, int(wanted[-1]))
        unfused = Partition.unfused(graph)
        at = _intensity_at(graph, graph.environment(), _SIZE_NAME, unfused.total_flops(), unfused.total_bytes())
        return Curve(f"{name} of {dtype} N × N", _SIZE_NAME, wanted, at(wanted), at)

    return make


def _apply(graph: Graph, name: str, dtype: str, size: int) -> None:
    """Add an op to an empty graph, with N as a dimension. `name` is the name of the operator.

    Each tensor that the operator needs is an N by N matrix. Each count that the operator needs is N.
    """
    n = dim(_SIZE_NAME, 1, _MAX_SIZE, default=size)
    given: list[Any] = []
    for parameter in list(inspect.signature(inspect.unwrap(OPERATORS[name])).parameters.values())[1:]:
        needed = parameter.default is parameter.empty
        if not needed or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        what = parameter.annotation if isinstance(parameter.annotation, str) else ""
        if parameter.kind is parameter.KEYWORD_ONLY or what not in {"", "Tensor", "Count"}:
            raise ValueError(
                f"size_sweep: operator '{name}' also needs {parameter.name}; give a function of N that makes the op"
            )
        given.append(n if what == "Count" else graph.input(parameter.name, (n, n), dtype))
    try:
        OPERATORS[name](graph, *given)
    except (TypeError, ValueError) as error:
        msg = (
            f"size_sweep: operator '{name}' takes no square matrices; give a function of N that makes the op ({error})"
        )
        raise ValueError(msg) from None


def _of_function(function: Callable[[int], Any], wanted: Floats) -> Curve:
    counted = [_counted(function(int(size)), int(size)) for size in wanted]
    flops, moved = (np.array(column, dtype=np.float64) for column in zip(*counted, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = flops / moved
    return Curve(getattr(function, "__name__", "op").replace("<lambda>", "op"), _SIZE_NAME, wanted, intensity)


def _counted(made: Any, size: int) -> tuple[float, float]:
    """Return the FLOPs and the bytes of `made`, the result of a user's function for one size."""
    if isinstance(made, Op):
        made = Graph("op", [made])
    if isinstance(made, Tensor) or not isinstance(made, (Graph, Kernel, tuple, list)):
        msg = f"size_sweep: the function must return an Op, a Graph, a Kernel or (flops, bytes), got {made!r:.60}"
        raise TypeError(msg + f" for N = {size}")
    if isinstance(made, Graph):
        table = made.kernels()
    elif isinstance(made, Kernel):
        table = Kernels.from_records([made])
    else:
        table = Kernels.from_records([("op", *made)])
    return float(table.flops.sum()), float(table.bytes.sum())


# -- figure --------------------------------------------------------------------------------------------------------

_GUIDE: Final = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
_EMPTY_X: Final = (1.0, 1e4)
_EMPTY_Y: Final = (1.0, 1e4)
_FREE_SPACE: Final = 1.5
# With more sizes than this, the line has no dots at the sizes.
_MAX_DOTS: Final = 24


@keywords("size_sweep")
def size_sweep(model: RooflineModel, op: Any = "matmul", sizes: Any = _GUIDE) -> bqplot.Figure:
    """Return a figure of the arithmetic intensity of an operation over its size, with the ridge points of shown chips.

    Intensity is FLOPs / bytes. The ridge point of a chip is ``peak / bandwidth``. If the intensity is at least the
    ridge point, the operation is compute-bound on this chip. For example, a matmul of N by N matrices of 2-byte
    numbers has the intensity N / 3. So this matmul is compute-bound from N = 3 x ridge point on.

    Parameters
    ----------
    model
        A `RooflineModel` or `RooflineWidget`. The figure follows its shown chips, what-if rates, precision and memory.
    op
        The operation, in one of three forms:

        - The name of an op of the model's graph. The figure shows the kernel that contains this op.
        - The name or the function of an operator. The figure shows the operator on N by N matrices. They have the dtype
          of the model's graph, or bf16 without a graph.
        - A function of N that returns an `Op`, a `Graph`, a `Kernel`, or FLOPs and bytes. It is called once per size.
    sizes
        Whole numbers. For an op of the graph, also ``{name: sizes}``, or only the name of a dimension for its whole
        range. The other dimensions have the model's sizes.

    Returns
    -------
    bqplot.Figure
        The figure has three marks. The first ``Lines`` has a line at the ridge point of each chip; its labels state the
        first compute-bound sizes. The second ``Lines`` has the intensity in FLOP/B. A ``Scatter`` has a point at the
        first compute-bound size of each chip. Sizes that the graph does not allow are left out. Chips without the
        selected precision or memory are left out too.

    Raises
    ------
    TypeError, ValueError
        If the op, operator or dimension does not exist, or if a size is not a whole number in the allowed range.

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
    shown = figure([ridges, line, crossings], [x_axis, y_axis])
    x_limits = Limits(scales["x"], _EMPTY_X, room=1.02)
    y_limits = Limits(scales["y"], _EMPTY_Y, room=_FREE_SPACE)

    def draw() -> None:
        curve = curve_now()
        known = np.isfinite(curve.intensity) & (curve.intensity > 0)
        found = _ridges(model)
        left, right = x_limits.span(curve.sizes)
        y_limits.span([*curve.intensity[known], *(ridge for _, ridge in found)], legend_share(len(found) + 1))
        x_axis.label = text_to_wire(curve.size)
        with line.hold_sync():
            line.x, line.y = curve.sizes[known], within(curve.intensity[known])
            line.marker = "circle" if len(curve.sizes) <= _MAX_DOTS else None
            line.labels = [text_to_wire(curve.name or "nothing to sweep")]
        _draw_ridges(ridges, crossings, model, curve, found, left, right)

    return follow(shown, model, (*CHIP_TRAITS, *GRAPH_TRAITS), draw)


def _ridges(model: RooflineModel) -> list[tuple[Chip, float]]:
    """Return each shown chip that has the selected precision and memory, with its ridge point in FLOP/byte."""
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
        ridges.labels = [
            _ridge_label(chip, ridge, curve, size) for (chip, ridge), size in zip(found, firsts, strict=True)
        ]
    crossed = [
        (size, ridge, hues[chip.id])
        for (chip, ridge), size in zip(found, firsts, strict=True)
        # If the operation is already compute-bound at the smallest size, there is no crossing to mark.
        if size is not None and size > curve.sizes[0]
    ]
    with crossings.hold_sync():
        crossings.x = np.array([size for size, _, _ in crossed], dtype=np.float64)
        crossings.y = within(np.array([ridge for _, ridge, _ in crossed]))
        crossings.colors = [hue for _, _, hue in crossed] or [INK]


def _ridge_label(chip: Chip, ridge: float, curve: Curve, size: int | None) -> str:
    start = f"{sendable_name(chip)}: ridge {format_significant(ridge, 4)}"
    if not curve.sizes.size:
        return start
    if size is None:
        return f"{start}, memory-bound"
    if size <= curve.sizes[0]:
        return f"{start}, compute-bound"
    return f"{start}, compute-bound from {text_to_wire(curve.size)} = {size}"
