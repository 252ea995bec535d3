"""Elementwise operations, and operations that only move elements.

The FLOPs per element are the operations of the written-out function. Bytes are one read of each operand and one write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeVar

from roofwidget.support.did_you_mean import choose_from
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import (
    COMPARE,
    DIVIDE,
    SQRT,
    TRANSCENDENTAL,
    Term,
    add,
    broadcast,
    fail,
    letters,
    like,
    named,
    promoted,
    rank,
    same,
    scaled,
    weight,
    whole,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor, checked_dtype

_T = TypeVar("_T")


def _plain(count: Count) -> tuple[Term, ...]:
    return (("arithmetic", "vector", count),)


_FUNCTION: Final[tuple[Term, ...]] = (("function", "transcendental", TRANSCENDENTAL),)
_SIGMOID: Final[tuple[Term, ...]] = (
    ("negate, add 1", "vector", 2),
    ("exp", "transcendental", TRANSCENDENTAL),
    ("divide", "vector", DIVIDE),
)

UNARY: Final[Mapping[str, tuple[Term, ...]]] = {
    "relu": _plain(COMPARE),
    "negative": _plain(1),
    "absolute": _plain(1),
    "square": _plain(1),
    "scale": _plain(1),
    "sqrt": _plain(SQRT),
    "rsqrt": _plain(SQRT),
    "reciprocal": _plain(DIVIDE),
    "exp": _FUNCTION,
    "log": _FUNCTION,
    "sin": _FUNCTION,
    "cos": _FUNCTION,
    "tanh": _FUNCTION,
    "erf": _FUNCTION,
    "sigmoid": _SIGMOID,
    "silu": (*_SIGMOID, ("multiply by x", "vector", 1)),
    "gelu_tanh": (("x (a + b x²), add 1, halve, multiply by x", "vector", 7), *_FUNCTION),
    "gelu_erf": (("scale, add 1, halve, multiply by x", "vector", 4), *_FUNCTION),
}
"""FLOPs per element of a function of one variable, as terms. ``gelu_tanh`` is 0.5 x (1 + tanh(x (a + b x²))): 8."""

BINARY: Final[Mapping[str, Count]] = {
    "add": 1,
    "subtract": 1,
    "multiply": 1,
    "divide": DIVIDE,
    "maximum": COMPARE,
    "minimum": COMPARE,
}
"""FLOPs per element of a function of two variables."""

POWERS: Final[Mapping[float, tuple[str, ...]]] = {
    2: ("square",),
    3: ("square", "multiply"),
    0.5: ("sqrt",),
    -0.5: ("rsqrt",),
    -1: ("reciprocal",),
    1: (),
}
"""The functions that raise to a power. Any other power is one function, as exp is."""
GRADIENTS: Final[Mapping[str, tuple[str, ...]]] = {
    # A comparison.
    "relu": ("maximum",),
    "sigmoid": ("subtract", "multiply", "multiply"),
    "tanh": ("square", "subtract", "multiply"),
    "silu": ("sigmoid", "subtract", "multiply", "add", "multiply", "multiply"),
    # With z = x / sqrt(2): Φ = (1 + erf z) / 2 and x exp(-z²) c, added and multiplied by the gradient.
    "gelu_erf": (
        *("scale", "erf", "add", "scale"),
        *("square", "negative", "exp", "multiply", "scale"),
        *("add", "multiply"),
    ),
    # With u = x (a + b x²) and t = tanh u: (1 + t) / 2 + x (1 - t²) (a + 3 b x²) / 2, multiplied by the gradient.
    "gelu_tanh": (
        *("square", "scale", "add", "multiply", "tanh", "add", "scale"),
        *("square", "subtract", "scale", "add", "multiply", "multiply", "scale"),
        *("add", "multiply"),
    ),
}
"""The functions of `UNARY` and `BINARY` that the gradient of a function applies to each element."""


@operator
def unary(graph: Graph, x: Tensor, function: str, *, name: str | None = None) -> Tensor:
    """Apply a function of `UNARY` to each element. x is read, the result is written.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> y = g.unary(g.input("x", (8, 4), "fp32"), "silu")
    >>> g.terms("silu")
    (('negate, add 1', 64), ('exp', 32), ('divide', 32), ('multiply by x', 32))
    """
    op = named(graph, name, function if function in UNARY else "unary")
    return add(graph, "elementwise", [x], like(x, op), work(*scaled(_found(op, function, UNARY), x.size)))


@operator
def binary(graph: Graph, a: Tensor, b: Tensor, function: str, *, name: str | None = None) -> Tensor:
    """Apply a function of `BINARY` to each pair of elements; shapes broadcast as in numpy.

    A stretched operand is read once, at its own size. FLOPs count the stretched shape. The result has the wider of the
    two dtypes. A floating-point dtype counts as wider than an integer dtype.
    """
    op = named(graph, name, function if function in BINARY else "binary")
    each = _found(op, function, BINARY)
    shape = broadcast(op, a, b)
    out = Tensor(op, shape, promoted(a, b))
    kind = "elementwise" if a.shape == b.shape else "broadcast"
    return add(graph, kind, [a, b], out, work((function, "vector", each * out.size)))


def _found(op: str, function: str, table: Mapping[str, _T]) -> _T:
    if function in table:
        return table[function]
    raise fail(op, f"unknown function {function!r:.40}{choose_from(function, table)}")


def _method(name: str, apply: Callable[..., Tensor], doc: str) -> None:
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    operator(apply)


def _unary_method(function: str) -> None:
    def apply(graph: Graph, x: Tensor, *, name: str | None = None) -> Tensor:
        return unary(graph, x, function, name=name)

    _method(function, apply, f"Apply {function} to each element; as ``unary(x, {function!r})``.")


def _binary_method(function: str) -> None:
    def apply(graph: Graph, a: Tensor, b: Tensor, *, name: str | None = None) -> Tensor:
        return binary(graph, a, b, function, name=name)

    _method(function, apply, f"Apply {function} to each pair of elements; as ``binary(a, b, {function!r})``.")


for _function in UNARY:
    if not _function.startswith("gelu"):
        _unary_method(_function)
for _function in BINARY:
    _binary_method(_function)


@operator
def gelu(graph: Graph, x: Tensor, *, approximate: Literal["tanh", "none"] = "tanh", name: str | None = None) -> Tensor:
    """Apply GELU to each element: 8 FLOPs with tanh, 5 with erf (``approximate="none"``)."""
    op = named(graph, name, "gelu")
    if approximate not in ("tanh", "none"):
        raise fail(op, f"approximate must be 'tanh' or 'none', got {approximate!r:.40}")
    return unary(graph, x, "gelu_tanh" if approximate == "tanh" else "gelu_erf", name=op)


@operator
def bias_activation(graph: Graph, x: Tensor, activation: str = "relu", *, name: str | None = None) -> Tensor:
    """Add a new bias to the last axis and apply a function of `UNARY`: 1 FLOP per element more than the function."""
    op = named(graph, name, f"bias_{activation}" if activation in UNARY else "bias_activation")
    rank(op, x, 1, or_more=True)
    terms = scaled(_found(op, activation, UNARY), x.size)
    bias = weight(graph, op, "bias", (x.shape[-1],), x.dtype)
    return add(graph, "broadcast", [x, bias], like(x, op), work(("bias", "vector", x.size), *terms))


@operator
def swiglu(graph: Graph, gate: Tensor, up: Tensor, *, name: str | None = None) -> Tensor:
    """Multiply silu(gate) by up: 5 + 1 FLOPs per element. The result has the wider dtype, as with `binary`."""
    op = named(graph, name, "swiglu")
    rank(op, up, len(gate.shape))
    for axis in range(len(gate.shape)):
        same(op, gate, axis, up, axis)
    return add(
        graph,
        "elementwise",
        [gate, up],
        Tensor(op, gate.shape, promoted(gate, up)),
        work(*scaled(UNARY["silu"], gate.size), ("gate", "vector", gate.size)),
    )


@operator
def dropout(graph: Graph, x: Tensor, *, mask: bool = False, name: str | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Multiply each element by 0 or a constant: 1 FLOP per element. Random numbers are not counted.

    With ``mask=True`` the mask is written too, one byte per element, and returned after the result.
    """
    op = named(graph, name, "dropout")
    out = like(x, op)
    done = work(("multiply", "vector", x.size))
    if not mask:
        add(graph, "elementwise", [x], out, done)
        return out
    kept = Tensor(f"{op}.mask", x.shape, "bool")
    add(graph, "elementwise", [x], [out, kept], done)
    return out, kept


@operator
def cast(graph: Graph, x: Tensor, dtype: str, *, name: str | None = None) -> Tensor:
    """Convert each element to another dtype: no FLOPs."""
    op = named(graph, name, "cast")
    return add(graph, "elementwise", [x], Tensor(op, x.shape, checked_dtype(dtype, f"op '{op}'")), work())


@operator
def copy(graph: Graph, x: Tensor, *, name: str | None = None) -> Tensor:
    """Copy a tensor: no FLOPs, one read and one write."""
    op = named(graph, name, "copy")
    return add(graph, "elementwise", [x], like(x, op), work())


@operator
def transpose(graph: Graph, x: Tensor, *axes: int, name: str | None = None) -> Tensor:
    """Permute the axes (without `axes`: reverse them): no FLOPs, one read and one write."""
    op = named(graph, name, "transpose")
    order = axes or tuple(range(len(x.shape)))[::-1]
    if sorted(order) != list(range(len(x.shape))):
        raise fail(op, f"axes {axes} are not a permutation of the {len(x.shape)} axes of {x}")
    loops = letters(len(order))
    index = f"{loops}->{''.join(loops[axis] for axis in order)}"
    return add(graph, "injective", [x], Tensor(op, [x.shape[axis] for axis in order], x.dtype), work(), index=index)


@operator
def embedding(graph: Graph, tokens: Tensor, features: Count, *, dtype: str = "bf16", name: str | None = None) -> Tensor:
    """Look up one row of a table per token: no FLOPs; the index and the row are read, the row is written.

    T·i + 2·T·D·e bytes for T tokens. The rows that are read are an input of the graph, ``name.rows``. Other rows of the
    table do not move.
    """
    op = named(graph, name, "embedding")
    shape = (*tokens.shape, features)
    rows = weight(graph, op, "rows", shape, dtype)
    loops = letters(len(tokens.shape))
    return add(
        graph, "injective", [tokens, rows], Tensor(op, shape, dtype), work(), index=f"{loops},{loops}d->{loops}d"
    )


@operator
def rope(graph: Graph, x: Tensor, *, head_dim: Count | None = None, name: str | None = None) -> Tensor:
    """Rotate pairs of elements by their position: 6 FLOPs per pair, 3 per element (Su et al., RoFormer).

    x has shape (…, sequence, heads · `head_dim`), or (…, sequence, head_dim) without `head_dim`. The table of cosines
    and sines, (sequence, head_dim), is read too.
    """
    op = named(graph, name, "rope")
    rank(op, x, 2, or_more=True)
    width = x.shape[-1] if head_dim is None else head_dim
    whole(graph, op, f"the last axis of '{x.name}'", x.shape[-1], width)
    table = weight(graph, op, "table", (x.shape[-2], width), x.dtype)
    batch = letters(len(x.shape) - 2)
    last = "d" if head_dim is None else "(hd)"
    index = f"{batch}s{last},sd->{batch}s{last}"
    return add(graph, "injective", [x, table], like(x, op), work(("rotate", "vector", 3 * x.size)), index=index)
