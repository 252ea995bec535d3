"""Mixtures of experts: each token goes through a few of many feed-forward layers."""

from __future__ import annotations

from roofwidget.workloads.expressions import Count, minimum
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.elementwise import swiglu
from roofwidget.workloads.ops.formulas import (
    COMPARE,
    FMA,
    add,
    fail,
    like,
    multiply,
    named,
    positive,
    rank,
    rows,
    weight,
    work,
)
from roofwidget.workloads.ops.linear import linear
from roofwidget.workloads.ops.normalisation import softmax_terms
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor


def expected_experts(tokens: int, experts: int, active: int) -> float:
    """Return the mean number of experts that `tokens` tokens reach if each picks `active` of them at random.

    The mean is ``E (1 - (1 - k / E)^T)`` for E experts, k active experts and T tokens.

    Examples
    --------
    >>> round(expected_experts(8, 16, 2), 1), round(expected_experts(32, 16, 2), 1)
    (10.5, 15.8)
    """
    return float(experts * (1 - (1 - active / experts) ** tokens))


@operator
def grouped_linear(
    graph: Graph,
    x: Tensor,
    features: Count,
    *,
    groups: Count,
    weight_dtype: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Multiply each row of x, (R, D), by one of the new weights (groups, D, F): 2·R·D·F FLOPs; all weights are read."""
    op = named(graph, name, "grouped_linear")
    rank(op, x, 2)
    d, f = x.shape[-1], positive(op, "features", features)
    matrices = weight(graph, op, "weight", (positive(op, "groups", groups), d, f), weight_dtype or x.dtype)
    return multiply(
        graph,
        [x, matrices],
        Tensor(op, (x.shape[0], f), x.dtype),
        work(("multiply-adds", "tensor", FMA * x.shape[0] * d * f)),
    )


@operator
def moe(
    graph: Graph,
    x: Tensor,
    *,
    experts: int,
    active: int,
    ffn: Count,
    touched: Count | None = None,
    weight_dtype: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Send each row of x, (…, D), through `active` of `experts` gated feed-forward layers of width `ffn`.

    T is the number of rows, E is `experts`, k is `active` and F is `ffn`. The parts are: the router, 2·T·D·E FLOPs, and
    a softmax of its k best scores; dispatch; three matrices, 6·T·k·D·F FLOPs, and SwiGLU; the weighted sum,
    2·T·k·D FLOPs. The weights, 3·D·F per expert, move for `touched` experts. The default is the most experts that the
    rows can reach, min(E, T·k). `expected_experts` returns the mean for random routing.
    """
    op = named(graph, name, "moe")
    rank(op, x, 1, or_more=True)
    if not (type(experts) is int and type(active) is int and 1 <= active <= experts):
        raise fail(op, f"needs ints with 1 <= active <= experts, got active={active!r:.20}, experts={experts!r:.20}")
    positive(op, "ffn", ffn)
    tokens, d = rows(x), x.shape[-1]
    copies = tokens * active
    reached = minimum(experts, copies) if touched is None else positive(op, "touched", touched)
    scores = linear(graph, x, experts, name=f"{op}.router", weight_dtype=weight_dtype)
    gates = Tensor(f"{op}.gates", (tokens, active), x.dtype)
    picked = work(
        ("best of the scores", "vector", COMPARE * active * scores.size),
        *softmax_terms(gates.size),
    )
    add(graph, "reduction", [scores], gates, picked)
    sent = Tensor(f"{op}.dispatch", (copies, d), x.dtype)
    add(graph, "injective", [x, gates], sent, work())
    gate, up = (
        grouped_linear(graph, sent, ffn, groups=reached, weight_dtype=weight_dtype, name=f"{op}.{word}")
        for word in ("gate", "up")
    )
    hidden = swiglu(graph, gate, up, name=f"{op}.swiglu")
    down = grouped_linear(graph, hidden, d, groups=reached, weight_dtype=weight_dtype, name=f"{op}.down")
    return add(
        graph,
        "reduction",
        [down, gates],
        like(x, op),
        work(("weigh and add", "vector", FMA * copies * d)),
        axes=(),  # it adds the few rows of one token
        name=f"{op}.combine",
    )
