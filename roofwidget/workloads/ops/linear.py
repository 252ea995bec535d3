"""Matrix products: one multiply-add (2 FLOPs) for each output element and each index of the contracted axis."""

from __future__ import annotations

from math import isqrt

from roofwidget.workloads.expressions import Count, ceil_div, product
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import (
    FMA,
    Term,
    broadcast,
    fail,
    multiply,
    named,
    positive,
    rank,
    rows,
    same,
    weight,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor


@operator
def matmul(graph: Graph, a: Tensor, b: Tensor, *, name: str | None = None, dtype: str | None = None) -> Tensor:
    """Multiply ``a`` of shape (M, K) by ``b`` of shape (K, N): 2·M·N·K FLOPs; a, b and the output move once.

    In every product the convention's accumulator adds bytes for each element of the output.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> y = g.matmul(g.input("a", (600, 600), "bf16"), g.input("b", (600, 600), "bf16"))
    >>> g.count("flops"), g.count("bytes")
    (432000000, 2160000)
    """
    op = named(graph, name, "matmul")
    rank(op, a, 2)
    rank(op, b, 2)
    k = same(op, a, 1, b, 0)
    done = work(("multiply-adds", "tensor", FMA * a.shape[0] * b.shape[1] * k))
    return multiply(graph, [a, b], Tensor(op, (a.shape[0], b.shape[1]), dtype or a.dtype), done)


@operator
def batched_matmul(
    graph: Graph,
    a: Tensor,
    b: Tensor,
    *,
    transpose_b: bool = False,
    name: str | None = None,
    dtype: str | None = None,
) -> Tensor:
    """Multiply matrices in the last two axes, (…, M, K) by (…, K, N); the axes before are a batch and may broadcast.

    2·B·M·N·K FLOPs. An operand without the batch axes is read once. With `transpose_b`, b has shape (…, N, K).
    """
    op = named(graph, name, "batched_matmul")
    rank(op, a, 2, or_more=True)
    rank(op, b, 2, or_more=True)
    k = same(op, a, -1, b, -1 if transpose_b else -2)
    n = b.shape[-2 if transpose_b else -1]
    batch = broadcast(op, a, b, last=2)
    done = work(("multiply-adds", "tensor", FMA * product(batch) * a.shape[-2] * n * k))
    return multiply(graph, [a, b], Tensor(op, (*batch, a.shape[-2], n), dtype or a.dtype), done)


@operator
def linear(
    graph: Graph,
    x: Tensor,
    features: Count,
    *,
    bias: bool = False,
    name: str | None = None,
    weight_dtype: str | None = None,
    dtype: str | None = None,
) -> Tensor:
    """Multiply the last axis of ``x``, (…, D), by a new weight (D, F): 2·T·D·F FLOPs for T rows. A bias adds T·F.

    x, weight, bias and output move once.
    """
    op = named(graph, name, "linear")
    rank(op, x, 1, or_more=True)
    d, f = x.shape[-1], positive(op, "features", features)
    out = Tensor(op, (*x.shape[:-1], f), dtype or x.dtype)
    weights = [weight(graph, op, "weight", (d, f), weight_dtype or x.dtype)]
    terms: list[Term] = [("multiply-adds", "tensor", FMA * rows(x) * d * f)]
    if bias:
        weights.append(weight(graph, op, "bias", (f,), weight_dtype or x.dtype))
        terms.append(("bias", "vector", out.size))
    return multiply(graph, [x, *weights], out, work(*terms))


@operator
def gemv(graph: Graph, a: Tensor, x: Tensor, *, name: str | None = None, dtype: str | None = None) -> Tensor:
    """Multiply a matrix (M, N) by a vector (N,): 2·M·N FLOPs; matrix, vector and result move once."""
    op = named(graph, name, "gemv")
    rank(op, a, 2)
    rank(op, x, 1)
    n = same(op, a, 1, x, 0)
    return multiply(
        graph,
        [a, x],
        Tensor(op, (a.shape[0],), dtype or x.dtype),
        work(("multiply-adds", "tensor", FMA * a.shape[0] * n)),
    )


@operator
def gemm(graph: Graph, a: Tensor, b: Tensor, c: Tensor, *, name: str | None = None) -> Tensor:
    """Compute ``C + A B`` as the BLAS does with beta = 1: 2·M·N·K FLOPs; A, B and C are read, C is written in place."""
    op = named(graph, name, "gemm")
    for tensor in (a, b, c):
        rank(op, tensor, 2)
    k = same(op, a, 1, b, 0)
    m, n = same(op, a, 0, c, 0), same(op, b, 1, c, 1)
    done = work(("multiply-adds", "tensor", FMA * m * n * k))
    return multiply(graph, [a, b, c], Tensor(op, (m, n), c.dtype), done)


@operator
def blocked_matmul(graph: Graph, a: Tensor, b: Tensor, *, cache: int, name: str | None = None) -> Tensor:
    """Compute ``C += A B`` in square blocks; three blocks fit into a cache of `cache` elements.

    Blocks of side ``s = ⌊√(cache / 3)⌋``: A is read ⌈N / s⌉ times, B is read ⌈M / s⌉ times, C is read and written once.
    For square matrices, A, B and C together move ``2 N³ / s + 2 N²`` elements (Demmel's CS267). The product has 2·M·N·K
    FLOPs.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> a, b = (g.input(name, (1024, 1024), "fp64") for name in "ab")
    >>> c = g.blocked_matmul(a, b, cache=3 * 64 * 64)
    >>> g.count("bytes") == 8 * (2 * 1024**3 // 64 + 2 * 1024**2)
    True
    """
    op = named(graph, name, "blocked_matmul")
    rank(op, a, 2)
    rank(op, b, 2)
    k = same(op, a, 1, b, 0)
    if type(cache) is not int or cache < 3:  # noqa: PLR2004 - three blocks of one
        raise fail(op, f"cache must be an int of at least 3 elements, one per matrix, got {cache!r:.40}")
    side = isqrt(cache // 3)
    out = Tensor(op, (a.shape[0], b.shape[1]), a.dtype)
    again = (ceil_div(b.shape[1], side) - 1) * a.bytes + (ceil_div(a.shape[0], side) - 1) * b.bytes
    done = work(("multiply-adds", "tensor", FMA * out.size * k))
    return multiply(graph, [a, b], out, done, extra_bytes=again + out.bytes)
