"""Cells of recurrent models: the LSTM cell and the selective scan."""

from __future__ import annotations

from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.elementwise import UNARY
from roofwidget.workloads.ops.formulas import (
    FMA,
    TRANSCENDENTAL,
    add,
    fail,
    like,
    multiply,
    named,
    rank,
    same,
    weight,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor


@operator
def lstm_cell(graph: Graph, x: Tensor, h: Tensor, c: Tensor, *, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Take one step of an LSTM: x (B, I), state h and c (B, H). Returns the new h and c.

    The products of the four gates have 8·B·H·(I + H) FLOPs. The rest has 22·B·H: bias 4, three sigmoids 4 each, two
    tanh 1 each, new c 3, new h 1. The weight (I + H, 4·H) is read in each step.
    """
    op = named(graph, name, "lstm_cell")
    for tensor in (x, h, c):
        rank(op, tensor, 2)
    same(op, x, 0, h, 0)
    batch, size = same(op, h, 0, c, 0), same(op, h, 1, c, 1)
    n = h.size
    matrix = weight(graph, op, "weight", (x.shape[1] + size, 4 * size), x.dtype)
    bias = weight(graph, op, "bias", (4 * size,), x.dtype)
    outputs = Tensor(op, (batch, size), x.dtype), Tensor(f"{op}.c", (batch, size), c.dtype)
    done = work(
        ("multiply-adds", "tensor", 4 * FMA * n * (x.shape[1] + size)),
        ("bias", "vector", 4 * n),
        *((f"gates: {word}", kind, 3 * each * n) for word, kind, each in UNARY["sigmoid"]),
        ("tanh of the candidate and of the new c", "transcendental", 2 * TRANSCENDENTAL * n),
        ("new c", "vector", 3 * n),
        ("new h", "vector", n),
    )
    multiply(graph, [x, h, c, matrix, bias], outputs, done, elements=4 * n, index="b*,b*,bf,**,*->bf,bf")
    return outputs


@operator
def selective_scan(
    graph: Graph,
    x: Tensor,
    delta: Tensor,
    b: Tensor,
    c: Tensor,
    *,
    materialised: bool = False,
    name: str | None = None,
) -> Tensor:
    """Scan as Mamba does (Gu and Dao 2023): x and delta (B, L, D), b and c (B, L, N), a new matrix A (D, N).

    8·B·L·D·N FLOPs: delta A and its exponential (2), delta B x (2), the state (2), the output (2). Published counters
    round up to 9. Fused, x, delta, b, c and the output move once. With ``materialised=True`` the discretised A and
    B x, B·L·D·N elements each, are also written and read.
    """
    op = named(graph, name, "selective_scan")
    for tensor in (x, delta, b, c):
        rank(op, tensor, 3)
    for axis in range(3):
        same(op, x, axis, delta, axis)
        same(op, b, axis, c, axis)
    if x.shape[:2] != b.shape[:2]:
        raise fail(op, f"'{x.name}' and '{b.name}' must agree in batch and length, got {x} and {b}")
    states: Count = x.size * b.shape[2]
    matrix = weight(graph, op, "a", (x.shape[2], b.shape[2]), x.dtype)
    state = Tensor(f"{op}.state", (*x.shape, b.shape[2]), x.dtype)
    done = work(
        ("delta A", "vector", states),
        ("its exp", "transcendental", TRANSCENDENTAL * states),
        ("delta B x", "vector", 2 * states),
        ("state", "vector", FMA * states),
        ("output", "vector", FMA * states),
    )
    extra = 4 * state.bytes if materialised else 0
    return add(graph, "opaque", [x, delta, b, c, matrix], like(x, op), done, extra_bytes=extra)
