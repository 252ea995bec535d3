"""Mixtures of experts: each token goes through a few of many feed-forward layers."""

from __future__ import annotations

from typing import Final, Literal

from roofwidget.workloads.expressions import Count, minimum, symbol
from roofwidget.workloads.expressions import touched as mean_touched
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.elementwise import swiglu
from roofwidget.workloads.ops.formulas import (
    COMPARE,
    FMA,
    add,
    fail,
    letters,
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

_TOUCHED: Final = ("expected", "most")


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
    return _grouped(graph, op, x, (positive(op, "groups", groups), d, f), weight_dtype)


def _grouped(graph: Graph, op: str, x: Tensor, shape: tuple[Count, ...], weight_dtype: str | None) -> Tensor:
    """Multiply each row of x by one of the matrices in a new weight of this shape.

    The last axis of `shape` is the number of output features.
    """
    matrices = weight(graph, op, "weight", shape, weight_dtype or x.dtype)
    done = work(("multiply-adds", "tensor", FMA * x.shape[0] * x.shape[1] * shape[-1]))
    # Each row meets the weights of its own experts, so the axis of the experts is read in any order.
    index = "rd,*df->rf" if len(shape) > 2 else "rd,*f->rf"  # noqa: PLR2004 - experts, inputs, outputs
    return multiply(graph, [x, matrices], Tensor(op, (x.shape[0], shape[-1]), x.dtype), done, index=index)


@operator
def moe(
    graph: Graph,
    x: Tensor,
    *,
    experts: int,
    active: int,
    ffn: Count,
    touched: Count | Literal["expected", "most"] | None = None,
    weight_dtype: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Send each row of x, (…, D), through `active` of `experts` gated feed-forward layers of width `ffn`.

    T is the number of rows, E is `experts`, k is `active` and F is `ffn`. The parts are: the router, 2·T·D·E FLOPs, and
    a softmax of its k best scores; dispatch; three matrices, 6·T·k·D·F FLOPs, and SwiGLU; the weighted sum,
    2·T·k·D FLOPs. The weights have 3·D·F elements per expert, and move for `touched` experts. `touched` is a number of
    experts, ``"most"`` or ``"expected"``. ``"most"`` is the most experts that the rows can reach, min(E, T·k).
    ``"expected"`` is the mean number if each row picks k different experts at random, all equally likely: E·(1 - (1 -
    k/E)^T), as `expected_experts` returns it. The mean is no whole number, so the weights of ``"expected"`` have E·(1 -
    (1 - k/E)^T)·D rows, rounded to the nearest row. The default is ``"most"``.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> y = g.moe(g.input("x", (4, 4096), "bf16"), experts=8, active=2, ffn=14336, touched="expected")
    >>> g.tensors["moe.gate.weight"].shape[0] / 4096
    5.46875
    >>> print(*g.notes)
    weights of experts are read for the mean of 8·(1 - (1 - 2/8)^tokens) experts, if each token picks 2 at random
    """
    op = named(graph, name, "moe")
    rank(op, x, 1, or_more=True)
    if not (type(experts) is int and type(active) is int and 1 <= active <= experts):
        raise fail(op, f"needs ints with 1 <= active <= experts, got active={active!r:.20}, experts={experts!r:.20}")
    positive(op, "ffn", ffn)
    tokens, d = rows(x), x.shape[-1]
    copies = tokens * active
    if isinstance(touched, str) and touched not in _TOUCHED:
        raise fail(op, f"touched must be 'expected', 'most' or a number of experts, got {touched!r:.40}")
    most = minimum(experts, copies)

    def shape(rows: Count, columns: Count) -> tuple[Count, ...]:
        """Return the shape of the weights that are read, for experts whose matrices have this shape."""
        if touched == "expected":
            return mean_touched(rows, experts, active, tokens), columns
        return most if touched is None or isinstance(touched, str) else positive(op, "touched", touched), rows, columns

    scores = linear(graph, x, experts, name=f"{op}.router", weight_dtype=weight_dtype)
    gates = Tensor(f"{op}.gates", (tokens, active), x.dtype)
    picked = work(
        ("best of the scores", "vector", COMPARE * active * scores.size),
        *softmax_terms(gates.size),
    )
    add(graph, "reduction", [scores], gates, picked)
    sent = Tensor(f"{op}.dispatch", (copies, d), x.dtype)
    rows_of = "*" * (len(x.shape) - 1)
    add(graph, "injective", [x, gates], sent, work(), index=f"{rows_of}d,**->rd")
    names = {word: named(graph, f"{op}.{word}", word) for word in ("gate", "up", "down")}
    gate, up = (_grouped(graph, names[word], sent, shape(d, ffn), weight_dtype) for word in ("gate", "up"))
    hidden = swiglu(graph, gate, up, name=f"{op}.swiglu")
    down = _grouped(graph, names["down"], hidden, shape(ffn, d), weight_dtype)
    if touched == "expected":
        mean = str(mean_touched(1, experts, active, symbol("tokens"))).strip("⌊⌉").removeprefix("1·")
        how = f"if each token picks {active} at random"
        graph.note(f"weights of experts are read for the mean of {mean} experts, {how}")
    elif touched in (None, "most"):
        graph.note("weights of experts are read for the most experts that the tokens can reach")
    return add(
        graph,
        "reduction",
        [down, gates],
        like(x, op),
        work(("weigh and add", "vector", FMA * copies * d)),
        axes=(),  # each sum adds only the few rows of one token
        index=f"*d,**->{letters(len(x.shape) - 1)}d",
        name=f"{op}.combine",
    )
