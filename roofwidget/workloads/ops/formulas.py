"""Parts of formulas: the symbols of a convention, and checks whose errors name the op and the tensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from roofwidget.workloads.expressions import Count, ceil_div, maximum, minimum, product, symbol
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.tensors import DTYPES, Tensor, is_floating

FMA: Final = symbol("@fma")
TRANSCENDENTAL: Final = symbol("@transcendental")
DIVIDE: Final = symbol("@divide")
SQRT: Final = symbol("@sqrt")
COMPARE: Final = symbol("@compare")
PADDING: Final = symbol("@padding")
SOFTMAX: Final = symbol("@softmax")
WRITE_ALLOCATE: Final = symbol("@write_allocate")
ACCUMULATOR: Final = symbol("@accumulator")

_VECTOR: Final = symbol("@vector")
_APART: Final = symbol("@apart")
_CAUSAL: Final = symbol("@causal")
_EXACT: Final = symbol("@exact")

# COUNTS_ALL_PAIRS is 1 if the convention counts all pairs of a causal mask, else 0.
# COUNTS_HALF is 1 if the convention counts half of the pairs when there are as many queries as keys, else 0.
# A maximum stays one factor until the convention is known, so formulas stay short.
COUNTS_ALL_PAIRS: Final = maximum(_CAUSAL - 1 - _EXACT, 0)
COUNTS_HALF: Final = maximum(2 - _CAUSAL, 0)


Term: TypeAlias = "tuple[str, str, Count]"
"""The name of a part of a formula, its class of FLOPs and its FLOPs."""


class Work(NamedTuple):
    """FLOPs by class, and named terms. The sum of the terms is the FLOPs."""

    flops: Mapping[str, Count]
    terms: tuple[tuple[str, Count], ...]


@lru_cache(maxsize=4096)
def work(*terms: Term) -> Work:
    """Return the sum of terms ``(name, class, count)`` under the convention's rules for the classes."""
    flops: dict[str, Count] = {}
    named_terms: list[tuple[str, Count]] = []
    for name, word, given in terms:
        count = given if word == "tensor" else _VECTOR * given
        named_terms.append((name, count))
        apart = _APART * count if word == "transcendental" else 0
        flops["vector" if word == "transcendental" else word] = (
            flops.get("vector" if word == "transcendental" else word, 0) + count - apart
        )
        if apart != 0:
            flops["transcendental"] = flops.get("transcendental", 0) + apart
    return Work(flops, tuple(named_terms))


def scaled(terms: Iterable[Term], n: Count) -> list[Term]:
    """Return the terms of n elements from those of one."""
    return [(name, word, each * n) for name, word, each in terms]


def add(
    graph: Graph,
    kind: str,
    inputs: Iterable[Tensor],
    outputs: Tensor | Iterable[Tensor],
    done: Work,
    *,
    extra_bytes: Count = 0,
    axes: Iterable[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Add an op and return its first output. By default the op has the name of this output."""
    written = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    called = name or written[0].name
    graph.op(kind, called, inputs, written, done.flops, extra_bytes=extra_bytes, terms=done.terms, axes=axes)
    return written[0]


def multiply(
    graph: Graph,
    inputs: Iterable[Tensor],
    outputs: Tensor | Iterable[Tensor],
    done: Work,
    *,
    elements: Count | None = None,
    extra_bytes: Count = 0,
    name: str | None = None,
) -> Tensor:
    """Add a matrix product, and return its first output.

    `elements` is the number of elements for which the convention's accumulator adds bytes. By default it is the size of
    the first output.
    """
    written = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    accumulated = ACCUMULATOR * (written[0].size if elements is None else elements)
    return add(graph, "matmul", inputs, written, done, extra_bytes=accumulated + extra_bytes, name=name)


def named(graph: Graph, given: str | None, usual: str) -> str:
    """Return the given name, or raise an error if it is taken.

    Without a given name, return the usual name. If the usual name is taken, it gets a number.
    """
    if given is None:
        return graph.new_name(usual)
    if graph.new_name(given) != given:
        raise ValueError(f"graph '{graph.name}' already has an op or a tensor called '{given}'; give each its own name")
    return given


def like(tensor: Tensor, name: str) -> Tensor:
    """Return a tensor of another name with the same shape and dtype."""
    return Tensor(name, tensor.shape, tensor.dtype)


def weight(graph: Graph, op: str, word: str, shape: Iterable[Count], dtype: str) -> Tensor:
    """Return a new weight of an op: an input of the graph called ``op.word``."""
    return graph.input(f"{op}.{word}", shape, dtype)


def fail(op: str, what: str) -> ValueError:
    """Return an error that names the op."""
    return ValueError(f"op '{op}': {what}")


def rank(op: str, tensor: Tensor, axes: int, *, or_more: bool = False) -> None:
    """Raise `ValueError` unless a tensor has this many axes."""
    found = len(tensor.shape)
    if found < axes or (found > axes and not or_more):
        raise fail(op, f"tensor {tensor} has {found} axes; it needs {'at least ' if or_more else ''}{axes}")


def same(op: str, a: Tensor, axis_a: int, b: Tensor, axis_b: int) -> Count:
    """Return the common size of an axis of one tensor and an axis of another, or raise `ValueError` if they differ."""
    if a.shape[axis_a] != b.shape[axis_b]:
        place_a, place_b = axis_a % len(a.shape), axis_b % len(b.shape)
        what = f"axis {place_a} of '{a.name}' is {a.shape[axis_a]}, but axis {place_b} of '{b.name}' is"
        raise fail(op, f"{what} {b.shape[axis_b]}; they must be equal ({a} and {b})")
    return a.shape[axis_a]


def broadcast(op: str, *tensors: Tensor, last: int = 0) -> tuple[Count, ...]:
    """Return the shape to which tensors broadcast as in numpy; their last `last` axes are ignored.

    Shapes that do not match raise an error that names the op.
    """
    shape: tuple[Count, ...] = ()
    for tensor in tensors:
        own = tensor.shape[: len(tensor.shape) - last]
        longer, shorter = (shape, own) if len(shape) >= len(own) else (own, shape)
        padded = (1,) * (len(longer) - len(shorter)) + shorter
        for axis, (a, b) in enumerate(zip(longer, padded, strict=True)):
            if a != b and 1 not in (a, b):
                names = " and ".join(f"'{t.name}'" for t in tensors)
                what = f"the shapes of {names} do not match: {a} against {b} on axis {axis}"
                raise fail(op, f"{what} ({', '.join(map(str, tensors))})")
        shape = tuple(b if a == 1 else a for a, b in zip(longer, padded, strict=True))
    return shape


def promoted(*tensors: Tensor) -> str:
    """Return the dtype of a result.

    Floating-point types have priority over other types. Among these, the widest type has priority. If several types are
    equally wide, the result has the first.
    """
    dtypes = [tensor.dtype for tensor in tensors]
    return max(dtypes, key=lambda dtype: (is_floating(dtype), DTYPES[dtype]))


def rows(tensor: Tensor) -> Count:
    """Return the number of rows: the product of all axes but the last."""
    return product(tensor.shape[:-1])


def positive(op: str, word: str, value: Count) -> Count:
    """Return a parameter if it is an int of at least 1 or an expression, else raise an error."""
    if isinstance(value, int) and (isinstance(value, bool) or value < 1):
        raise fail(op, f"{word} must be at least 1, got {value!r}")
    if not isinstance(value, int):
        Tensor(f"{op}.{word}", (value,), "int8")  # `Tensor` raises if the size is invalid
    return value


def whole(graph: Graph, op: str, what: str, a: Count, b: Count) -> Count:
    """Return a / b, or raise `ValueError` if b does not divide a. Symbolic sizes add a condition to the graph."""
    quotient = ceil_div(a, b)
    left = a - quotient * b
    if left != 0 and isinstance(left, int):
        raise fail(op, f"{what} = {a} is no multiple of {b}")
    if left != 0:
        graph.require(f"op '{op}': {what}", a, b)
    return quotient


def attended(each: Count, queries: Count, keys: Count, d: Count = 1, *, causal: bool) -> Count:
    """Return a count for all pairs of a query and a key that attention counts. One pair counts ``each * d``.

    The causal mask is aligned bottom-right: the last query sees all keys, and each query before it sees one key less.
    So the mask leaves ``Nq·Nk - Nq·(Nq - 1) / 2`` pairs. If there are more queries than keys, the first queries see no
    key. With queries and keys swapped, the count is that of a mask that is aligned top-left.
    """
    if not causal:
        return each * queries * keys * d
    seeing = minimum(queries, keys)
    left = 2 * seeing * keys - seeing * (seeing - 1)
    left = left - COUNTS_HALF * seeing if queries == keys else left
    return ceil_div(each * (left + COUNTS_ALL_PAIRS * (2 * queries * keys - left)) * d, 2)
