"""Normalisations and other reductions along rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import (
    DIVIDE,
    SOFTMAX,
    SQRT,
    Term,
    Work,
    add,
    fail,
    letters,
    like,
    named,
    rank,
    rows,
    same,
    weight,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor

NORM_GRADIENTS: Final[Mapping[str, tuple[int, int, int]]] = {
    # x̂ 2, the sum of g 1, the sum of g x̂ 2; a product, two differences and a product for the result 4.
    "layer": (9, 3, 1),
    # x̂ 1, the sum of g x̂ 2; a product, a difference and a product for the result 3.
    "rms": (6, 3, 0),
}
"""FLOPs per element of the gradient of a normalisation to mean 0 and variance 1, or to a mean square of 1.

The second number is added with weights: g times the weights, and the sum of g x̂ over rows. The third is added with a
bias: the sum of g over rows.
"""


@operator
def layernorm(
    graph: Graph,
    x: Tensor,
    *,
    affine: bool = True,
    passes: int = 2,
    flops_per_element: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normalise rows to mean 0 and variance 1: 8·R·D + 3·R FLOPs for R rows of D elements, 6·R·D + 3·R without affine.

    Per element: mean 1, variance 3, normalising 2, gamma and beta 2. Per row: two divisions and one root.

    Parameters
    ----------
    graph, x, name
        The graph, the rows, the op's name.
    affine
        Whether gamma and beta are read and applied.
    passes
        How often x moves: 2 (read, write) if a row stays on chip, 3 if it is read twice.
    flops_per_element
        FLOPs per element instead of the formula: 10 in the TPU roofline guide, 7 and 5 in other tools.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> y = g.layernorm(g.input("x", (65536, 4096), "bf16"), passes=3, flops_per_element=10)
    >>> round(g.count("flops") / g.count("bytes"), 5)
    1.66665
    """
    op = named(graph, name, "layernorm")
    rank(op, x, 1, or_more=True)
    r, n = rows(x), x.size
    terms: list[Term] = [
        ("mean", "vector", n + DIVIDE * r),
        ("variance", "vector", 3 * n + DIVIDE * r),
        ("reciprocal root", "vector", SQRT * r),
        ("normalise", "vector", 2 * n),
    ]
    if affine:
        terms.append(("gamma and beta", "vector", 2 * n))
    words = ("gamma", "beta") if affine else ()
    return _along_rows(graph, op, x, words, _given(op, terms, flops_per_element, n), passes=passes)


@operator
def rmsnorm(
    graph: Graph, x: Tensor, *, passes: int = 2, flops_per_element: int | None = None, name: str | None = None
) -> Tensor:
    """Divide rows by their root mean square: 4·R·D + 3·R FLOPs. The keywords are the same as for `layernorm`.

    Per element: sum of squares 2, scaling 1, gamma 1. Per row: a division, the addition of epsilon, one root.
    """
    op = named(graph, name, "rmsnorm")
    rank(op, x, 1, or_more=True)
    r, n = rows(x), x.size
    terms: list[Term] = [
        ("mean square", "vector", 2 * n + DIVIDE * r),
        ("epsilon, reciprocal root", "vector", r + SQRT * r),
        ("scale", "vector", n),
        ("gamma", "vector", n),
    ]
    return _along_rows(graph, op, x, ("gamma",), _given(op, terms, flops_per_element, n), passes=passes)


@operator
def softmax(graph: Graph, x: Tensor, *, passes: int = 2, name: str | None = None) -> Tensor:
    """Take the softmax of rows: the convention's `softmax`, 5 FLOPs per element (maximum, subtract, exp, sum, divide).

    `passes` is 2 (read, write) if a row stays on chip, 3 if it is read twice.
    """
    op = named(graph, name, "softmax")
    rank(op, x, 1, or_more=True)
    return _along_rows(graph, op, x, (), work(*softmax_terms(x.size)), passes=passes)


def softmax_terms(n: Count) -> tuple[Term, ...]:
    """Return the terms of a softmax over n elements. Of the `softmax` FLOPs per element, one is the exponential."""
    return ("maximum, subtract, sum, divide", "vector", (SOFTMAX - 1) * n), ("exp", "transcendental", n)


@operator
def batchnorm(graph: Graph, x: Tensor, *, training: bool = False, name: str | None = None) -> Tensor:
    """Normalise each channel, axis 1 of (N, C, …).

    Inference: a scale and a shift, 2 FLOPs per element; x, the result and four numbers per channel move. Training: the
    statistics are computed from x, 8 FLOPs per element; x is read twice, gamma and beta once.
    """
    op = named(graph, name, "batchnorm")
    rank(op, x, 2, or_more=True)
    words = ("gamma", "beta") if training else ("gamma", "beta", "mean", "variance")
    weights = [weight(graph, op, word, (x.shape[1],), x.dtype) for word in words]
    n, rest = x.size, letters(len(x.shape) - 2)
    index = f"nc{rest}{',c' * len(weights)}->nc{rest}"
    if training:
        done = work(("mean", "vector", n), ("variance", "vector", 3 * n), ("normalise", "vector", 4 * n))
    else:
        done = work(("scale and shift", "vector", 2 * n))
    if not training:
        return add(graph, "broadcast", [x, *weights], like(x, op), done, index=index)
    axes = [axis for axis in range(len(x.shape)) if axis != 1]
    return add(graph, "reduction", [x, *weights], like(x, op), done, extra_bytes=x.bytes, axes=axes, index=index)


@operator
def cross_entropy(graph: Graph, logits: Tensor, targets: Tensor, *, name: str | None = None) -> Tensor:
    """Return the loss of each row of logits, (…, V), for its target, (…): a softmax, 5 FLOPs per element."""
    op = named(graph, name, "cross_entropy")
    rank(op, logits, 1, or_more=True)
    rank(op, targets, len(logits.shape) - 1)
    for axis in range(len(targets.shape)):
        same(op, logits, axis, targets, axis)
    loops = letters(len(targets.shape))
    return add(
        graph,
        "reduction",
        [logits, targets],
        Tensor(op, targets.shape, logits.dtype),
        work(*softmax_terms(logits.size)),
        index=f"{loops}v,{loops}->{loops}",
        stats=2,
    )


@operator
def reduce_sum(graph: Graph, x: Tensor, *, axis: int = -1, name: str | None = None) -> Tensor:
    """Sum the elements along an axis: one FLOP for each element except the first."""
    op = named(graph, name, "reduce_sum")
    if type(axis) is not int or not -len(x.shape) <= axis < len(x.shape):
        raise fail(op, f"axis {axis!r:.20} is none of the {len(x.shape)} axes of {x}")
    place = axis % len(x.shape)
    out = Tensor(op, (*x.shape[:place], *x.shape[place + 1 :]), x.dtype)
    return add(graph, "reduction", [x], out, work(("add", "vector", x.size - out.size)), axes=[place])


def _given(op: str, terms: list[Term], each: int | None, n: Count) -> Work:
    if each is None:
        return work(*terms)
    if type(each) is not int or each < 0:
        raise fail(op, f"flops_per_element must be an int of at least 0, got {each!r:.40}")
    return work((f"{each} an element, as given", "vector", each * n))


def _along_rows(graph: Graph, op: str, x: Tensor, words: tuple[str, ...], done: Work, *, passes: int) -> Tensor:
    if type(passes) is not int or passes < 2:  # noqa: PLR2004 - a read and a write
        raise fail(op, f"passes must be an int of at least 2 (one read, one write), got {passes!r:.40}")
    weights = [weight(graph, op, word, (x.shape[-1],), x.dtype) for word in words]
    return add(graph, "reduction", [x, *weights], like(x, op), done, extra_bytes=(passes - 2) * x.bytes)
