"""Stencils on regular grids."""

from __future__ import annotations

from typing import Final, Literal

from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import WRITE_ALLOCATE, add, fail, like, named, rank, work
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor

_FLOPS: Final = {5: 4, 7: 8, 27: 30}
_AXES: Final = {5: 2, 7: 3, 27: 3}
# Reads of the grid after the first read, by number of points and layer condition.
_EXTRA_READS: Final = {
    5: {"held": 0, "rows": 2},
    7: {"held": 0, "planes": 2, "rows": 4},
    27: {"held": 0, "planes": 2, "rows": 8},
}


@operator
def stencil(
    graph: Graph,
    x: Tensor,
    *,
    points: Literal[5, 7, 27] = 7,
    layer_condition: Literal["held", "planes", "rows"] = "held",
    in_place: bool = False,
    flops: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Replace each point of a grid by a weighted sum of its neighbours.

    Parameters
    ----------
    graph, name
        The graph, the op's name.
    x
        The grid: two axes for 5 points, three axes for 7 and 27 points. Border points count like inner points.
    points
        5 (4 FLOPs per point: Jacobi), 7 (8 FLOPs) or 27 (30 FLOPs, coefficients by symmetry).
    layer_condition
        What the cache keeps between uses. ``"held"``: everything, so x is read once. ``"planes"``: planes do not fit,
        so x is read three times. ``"rows"``: rows do not fit either, so x is read once per row that the stencil
        touches (3, 5 or 9 times).
    in_place
        Whether x itself is overwritten. Then the store needs no write-allocate.
    flops
        FLOPs per point, instead of the usual number.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph(convention="hpc")
    >>> y = g.stencil(g.input("x", (100, 100), "fp64"), points=5, layer_condition="rows")
    >>> g.count("flops") / g.count("bytes")
    0.1
    """
    op = named(graph, name, "stencil")
    if points not in _FLOPS:
        raise fail(op, f"points must be 5, 7 or 27, got {points!r:.40}")
    rank(op, x, _AXES[points])
    again = _EXTRA_READS[points].get(layer_condition)
    if again is None:
        raise fail(
            op,
            f"layer_condition of {points} points must be one of {list(_EXTRA_READS[points])}, got {layer_condition!r}",
        )
    each = _FLOPS[points] if flops is None else flops
    if type(each) is not int or each < 0:
        raise fail(op, f"flops must be an int of at least 0, got {flops!r:.40}")
    out = like(x, op)
    allocated = 0 if in_place else WRITE_ALLOCATE * out.bytes
    done = work((f"{each} a point", "vector", each * x.size))
    return add(graph, "opaque", [x], out, done, extra_bytes=again * x.bytes + allocated)
