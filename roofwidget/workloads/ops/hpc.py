"""Kernels of numerical computing: BLAS 1 and 2, STREAM, sparse products, Fourier transforms, N-body.

With a convention that has `write_allocate`, an operator reads memory before it writes there, except in place.
"""

from __future__ import annotations

from math import log2

from roofwidget.workloads.expressions import Count, product
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import (
    FMA,
    WRITE_ALLOCATE,
    add,
    fail,
    like,
    named,
    positive,
    rank,
    same,
    weight,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor


@operator
def dot(graph: Graph, x: Tensor, y: Tensor, *, name: str | None = None) -> Tensor:
    """Return the inner product of two vectors: 2·n FLOPs; both are read."""
    op = named(graph, name, "dot")
    n = _vectors(op, x, y)
    return add(graph, "reduction", [x, y], Tensor(op, (), x.dtype), work(("multiply-adds", "vector", FMA * n)))


@operator
def axpy(graph: Graph, x: Tensor, y: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``y += a x`` in place: 2·n FLOPs; x and y are read, y is written."""
    op = named(graph, name, "axpy")
    return _stream(graph, op, [x, y], ("multiply-adds", FMA * _vectors(op, x, y)), in_place=True)


@operator
def scal(graph: Graph, x: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``x *= a`` in place: n FLOPs; x is read and written."""
    op = named(graph, name, "scal")
    return _stream(graph, op, [x], ("multiply", _vectors(op, x)), in_place=True)


@operator
def ger(graph: Graph, a: Tensor, x: Tensor, y: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``A += x yᵀ`` in place, A (M, N): 2·M·N FLOPs; A is read and written, the vectors are read."""
    op = named(graph, name, "ger")
    rank(op, a, 2)
    _vectors(op, x)
    _vectors(op, y)
    same(op, a, 0, x, 0)
    same(op, a, 1, y, 0)
    return add(graph, "broadcast", [a, x, y], like(a, op), work(("multiply-adds", "tensor", FMA * a.size)))


@operator
def stream_copy(graph: Graph, a: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``c = a``: no FLOPs, one read and one write (McCalpin's STREAM)."""
    op = named(graph, name, "stream_copy")
    _vectors(op, a)
    return _stream(graph, op, [a], ("none", 0))


@operator
def stream_scale(graph: Graph, c: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``b = s c``: n FLOPs, one read and one write (McCalpin's STREAM)."""
    op = named(graph, name, "stream_scale")
    return _stream(graph, op, [c], ("multiply", _vectors(op, c)))


@operator
def stream_add(graph: Graph, a: Tensor, b: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``c = a + b``: n FLOPs, two reads and one write (McCalpin's STREAM)."""
    op = named(graph, name, "stream_add")
    return _stream(graph, op, [a, b], ("add", _vectors(op, a, b)))


@operator
def stream_triad(graph: Graph, b: Tensor, c: Tensor, *, name: str | None = None) -> Tensor:
    """Do ``a = b + s c``: 2·n FLOPs, two reads and one write (McCalpin's STREAM).

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> a = g.stream_triad(g.input("b", (1000,), "fp64"), g.input("c", (1000,), "fp64"))
    >>> g.count("bytes"), g.with_convention("hpc").count("bytes")
    (24000, 32000)
    """
    op = named(graph, name, "stream_triad")
    return _stream(graph, op, [b, c], ("multiply-adds", FMA * _vectors(op, b, c)))


@operator
def spmv_csr(
    graph: Graph,
    x: Tensor,
    *,
    rows: Count,
    nonzeros: Count,
    x_reads: Count | None = None,
    index_dtype: str = "int32",
    name: str | None = None,
) -> Tensor:
    """Multiply a sparse matrix in CSR form by x: 2·nnz FLOPs.

    Values, column indices, rows + 1 row pointers and x are read, the result is written. `x_reads` is the number of
    elements of x that are read from memory. By default each element is read once.
    """
    op = named(graph, name, "spmv_csr")
    _vectors(op, x)
    nnz = positive(op, "nonzeros", nonzeros)
    out = Tensor(op, (positive(op, "rows", rows),), x.dtype)
    matrix = [
        weight(graph, op, "values", (nnz,), x.dtype),
        weight(graph, op, "columns", (nnz,), index_dtype),
        weight(graph, op, "row_pointers", (rows + 1,), index_dtype),
    ]
    extra = WRITE_ALLOCATE * out.bytes
    if x_reads is not None:
        if isinstance(x_reads, int) and isinstance(x.size, int) and x_reads < x.size:
            raise fail(op, f"x_reads must be at least the {x.size} elements of '{x.name}', got {x_reads}")
        extra = extra + Tensor(f"{op}.x_reads", (x_reads,), x.dtype).bytes - x.bytes
    return add(graph, "opaque", [*matrix, x], out, work(("multiply-adds", "vector", FMA * nnz)), extra_bytes=extra)


@operator
def fft(
    graph: Graph, x: Tensor, *, axes: int = 1, passes: int = 1, real: bool = False, name: str | None = None
) -> Tensor:
    """Transform the last axes of x: 5·N·log2 N FLOPs for N complex points, rounded to a whole number.

    Complex data have a last axis of 2 (real and imaginary part), which does not count among the `axes`. With
    ``real=True`` x holds N real numbers, the FLOPs are half, and the result is as large as x. Each of the `passes`
    reads and writes the data once: 32·N bytes in fp64.
    """
    op = named(graph, name, "fft")
    positive(op, "axes", axes)
    rank(op, x, axes + (0 if real else 1), or_more=True)
    if not real and x.shape[-1] != 2:  # noqa: PLR2004 - real and imaginary part
        raise fail(op, f"complex data have a last axis of 2, got {x}; say real=True for real data")
    ends = x.shape if real else x.shape[:-1]
    points, batch = product(ends[-axes:]), product(ends[:-axes])
    if not isinstance(points, int):
        raise fail(op, f"a transform's length must be an int, got {points} in {x}")
    each = round((2.5 if real else 5) * points * log2(points))
    out = like(x, op)
    extra = (positive(op, "passes", passes) - 1) * 2 * x.bytes + WRITE_ALLOCATE * passes * out.bytes
    return add(graph, "opaque", [x], out, work(("butterflies", "vector", each * batch)), extra_bytes=extra)


@operator
def nbody(graph: Graph, bodies: Tensor, *, name: str | None = None) -> Tensor:
    """Sum the forces of all pairs: 20·N² FLOPs (Nyland et al., GPU Gems 3).

    Each body (position and mass; shape (N, 4)) is read once, and its acceleration (four numbers) is written once: 32·N
    bytes in fp32, because tiles stay on chip.
    """
    op = named(graph, name, "nbody")
    rank(op, bodies, 2)
    if bodies.shape[1] != 4:  # noqa: PLR2004 - three coordinates and a mass
        raise fail(op, f"a body has 4 numbers, its position and its mass, got {bodies}")
    out = like(bodies, op)
    done = work(("20 a pair", "vector", 20 * bodies.shape[0] * bodies.shape[0]))
    return add(graph, "opaque", [bodies], out, done, extra_bytes=WRITE_ALLOCATE * out.bytes)


def _vectors(op: str, *tensors: Tensor) -> Count:
    for tensor in tensors:
        rank(op, tensor, 1)
        same(op, tensors[0], 0, tensor, 0)
    return tensors[0].size


def _stream(graph: Graph, op: str, inputs: list[Tensor], term: tuple[str, Count], *, in_place: bool = False) -> Tensor:
    out = Tensor(op, inputs[0].shape, inputs[0].dtype)
    extra = 0 if in_place else WRITE_ALLOCATE * out.bytes
    return add(graph, "elementwise", inputs, out, work((term[0], "vector", term[1])), extra_bytes=extra)
