"""Sizes of an exported program as counts: each dynamic dimension of an input becomes a `dim` with a slider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from torch.utils._sympy.numbers import int_oo

from roofwidget.workloads.expressions import Count, Dim, ceil_div, dim, maximum, minimum, product

# The end of a slider without a limit in the model: this many times the size of the example, and at least this size.
_TIMES_EXAMPLE: Final = 16
_LEAST_END: Final = 1024


class Symbols:
    """The symbols of an exported program.

    Parameters
    ----------
    program
        The exported program.
    dynamic_shapes
        What the user gave to `torch.export`: by argument, the dimension of each dynamic axis.
    arguments
        The names of the model's arguments.
    """

    def __init__(self, program: Any, dynamic_shapes: Any, arguments: Sequence[str]) -> None:
        self._dims: dict[Any, Dim] = {}
        self._known: dict[Any, Count] = {}
        given = _by_argument(dynamic_shapes, arguments)
        ranges = program.range_constraints
        for node in program.graph.nodes:
            value = node.meta.get("val")
            if node.op == "placeholder" and isinstance(value, torch.Tensor):
                for axis, size in enumerate(value.shape):
                    symbol = size.node.expr if isinstance(size, torch.SymInt) else None
                    if getattr(symbol, "is_Symbol", False) and symbol not in self._dims:
                        name = _name(given.get(node.name), axis) or f"{node.name}_{axis}"
                        self._dims[symbol] = _dim(name, ranges.get(symbol), size.node.hint)

    def count(self, size: Any) -> Count:
        """Return a size as an int, or as an expression over the dimensions.

        Raises
        ------
        ValueError
            If the size is no such expression.
        """
        if not isinstance(size, torch.SymInt):
            return int(size)
        expression = size.node.expr
        if expression not in self._known:
            self._known[expression] = self._counted(expression)
        return self._known[expression]

    def _counted(self, expression: Any) -> Count:
        if expression.is_Integer:
            return int(expression)
        if expression.is_Symbol and expression in self._dims:
            return self._dims[expression]
        kind = type(expression).__name__
        if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
            return product([self._counted(expression.base)] * int(expression.exp))
        parts = [] if kind not in _KINDS else [self._counted(part) for part in expression.args]
        if not parts:
            raise ValueError(_refusal(expression, self._dims))
        found: Count = _KINDS[kind](parts)
        return found


def _refusal(expression: Any, known: Mapping[Any, Dim]) -> str:
    """Return why a size cannot be a count."""
    if expression.free_symbols - known.keys():
        return (
            f"a tensor has the size {expression}, which depends on the values of a tensor, as that of x[x > 0] does; "
            "a graph needs sizes that inputs determine: use torch.where or a fixed number of elements"
        )
    return (
        f"a tensor has the size {expression}, which is no sum, product, division, minimum or maximum of integers; "
        "leave out dynamic_shapes"
    )


def _sum(parts: Sequence[Count]) -> Count:
    total: Count = 0
    for part in parts:
        total = total + part
    return total


def _floor(parts: Sequence[Count]) -> Count:
    return ceil_div(parts[0] - parts[1] + 1, parts[1])


_KINDS: Final[Mapping[str, Any]] = {
    "Add": _sum,
    "Mul": product,
    "FloorDiv": _floor,
    "CleanDiv": _floor,
    "CeilDiv": lambda parts: ceil_div(*parts),
    "Max": lambda parts: maximum(*parts),
    "Min": lambda parts: minimum(*parts),
    "Mod": lambda parts: parts[0] - parts[1] * _floor(parts),
    "PythonMod": lambda parts: parts[0] - parts[1] * _floor(parts),
}


def _by_argument(dynamic_shapes: Any, arguments: Sequence[str]) -> dict[str, Any]:
    if isinstance(dynamic_shapes, Mapping):
        return dict(dynamic_shapes)
    return dict(zip(arguments, dynamic_shapes or (), strict=False))


def _name(given: Any, axis: int) -> str:
    """Return the name that the user gave to a dimension, or an empty text."""
    if isinstance(given, Mapping):
        found = given.get(axis)
    else:
        found = given[axis] if isinstance(given, Sequence) and axis < len(given) else None
    name = str(getattr(found, "__name__", ""))
    return name if name.isidentifier() else ""


def _dim(name: str, limits: Any, example: int) -> Dim:
    low = 1 if limits is None else max(1, int(limits.lower))
    no_end = limits is None or limits.upper == int_oo
    high = max(_LEAST_END, _TIMES_EXAMPLE * example) if no_end else int(limits.upper)
    return dim(name, low, high, default=min(max(example, low), high))
