"""Stencils on regular grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import WRITE_ALLOCATE, add, fail, named, rank, work
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor

__all__ = ["stencil"]

_FLOPS: Final = {5: 4, 7: 8, 27: 30}
_AXES: Final = {5: 2, 7: 3, 27: 3}
# Reads of the grid besides one, by what no longer fits into the cache.
_AGAIN: Final[Mapping[int, Mapping[str, int]]] = {
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
        The grid: two axes for 5 points, three for 7 and 27. Its border is counted as its inside.
    points
        5 (4 FLOPs a point: Jacobi), 7 (8 FLOPs) or 27 (30 FLOPs, coefficients by symmetry).
    layer_condition
        What the cache holds between uses. ``"held"``: all that a sweep comes back to, x is read once. ``"planes"``:
        not the planes, x is read three times. ``"rows"``: not even the rows, each row that the stencil touches is read
        (3, 5 or 9).
    in_place
        Whether x itself is overwritten: then nothing is allocated for the store.
    flops
        FLOPs a point, in place of the usual ones.

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
    again = _AGAIN[points].get(layer_condition)
    if again is None:
        raise fail(
            op, f"layer_condition of {points} points must be one of {list(_AGAIN[points])}, got {layer_condition!r}"
        )
    each = _FLOPS[points] if flops is None else flops
    if type(each) is not int or each < 0:
        raise fail(op, f"flops must be an int from 0, got {flops!r:.40}")
    out = Tensor(op, x.shape, x.dtype)
    allocated = 0 if in_place else WRITE_ALLOCATE * out.bytes
    done = work((f"{each} a point", "vector", each * x.size))
    return add(graph, "opaque", [x], out, done, extra_bytes=again * x.bytes + allocated)
