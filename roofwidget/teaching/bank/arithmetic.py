"""Expressions of a bank of questions: arithmetic on named numbers, read from text. Nothing else can be called.

The counts of graphs (`roofwidget.workloads.expressions`) are integers without a text form. Answers are also ratios and
logarithms, so their expressions are evaluated here, with integers kept exact.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.workloads.tensors import DTYPES

Values: TypeAlias = Mapping[str, Any]
"""Numbers and texts by name. A dot separates a group from its member: ``chip.peak``."""
_Value: TypeAlias = Callable[[Values], Any]

_MAX_LETTERS: Final = 400
_MAX_PARTS: Final = 120
_MAX_POWER: Final = 1 << 16
_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {ast.USub: operator.neg, ast.Not: operator.not_}


def element_bytes(dtype: Any) -> float:
    """Return the bytes of an element of a format; half a byte for int4."""
    if dtype not in DTYPES:
        raise ValueError(f"there is no format {dtype!r:.40}; there are {listed(sorted(DTYPES))}")
    bits = DTYPES[dtype]
    return bits // 8 if bits % 8 == 0 else bits / 8


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "log2": math.log2,
    "abs": abs,
    "size": element_bytes,
}
"""What an expression can call. ``size("bf16")`` is the bytes of an element."""


class Expression:
    """An expression that was read once and is evaluated for many draws.

    Attributes
    ----------
    text
        The expression as it was written.
    names
        The names of the values that it needs.
    compares
        Whether it has a comparison of numbers, whose result can change with a draw.

    Examples
    --------
    >>> ridge = Expression("peak / bandwidth")
    >>> sorted(ridge.names), ridge({"peak": 459e12, "bandwidth": 2.76e12})
    (['bandwidth', 'peak'], 166.30434782608697)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.names, self._value, self.compares = _read(text)

    def __call__(self, values: Values) -> Any:
        """Return the value. Raise `ValueError` if the values have none, such as a division by zero."""
        try:
            return self._value(values)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"'{self.text}' has no value: {error}") from None

    def check_names(self, known: Values | set[str]) -> None:
        """Raise `ValueError` if a name is not among those that are known."""
        for name in sorted(self.names):
            if name not in known:
                hint = did_you_mean(name, known, f"; there are {listed(sorted(known)) or 'none'}")
                raise ValueError(f"'{self.text}' has the unknown name '{name}'{hint}")


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[frozenset[str], _Value, bool]:
    if not isinstance(text, str) or not text.strip() or len(text) > _MAX_LETTERS:
        raise ValueError(f"an expression is a text of 1 to {_MAX_LETTERS} letters, not {text!r:.60}")
    try:
        tree = ast.parse(text.strip().replace("\n", " "), mode="eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise ValueError(f"'{text}' is no expression; write one such as '2 * n / (3 * size)'") from None
    nodes = list(ast.walk(tree))
    if len(nodes) > _MAX_PARTS:
        raise ValueError(f"'{text:.40}…' is too long; give parts of it names of their own under 'value'")
    names: set[str] = set()
    value = _compiled(tree.body, names)
    compares = any(
        isinstance(node, ast.Compare) and not any(isinstance(one, (ast.Eq, ast.NotEq)) for one in node.ops)
        for node in nodes
    )
    return frozenset(names), value, compares


def _compiled(node: ast.expr, names: set[str]) -> _Value:
    """Return a function of the values that gives the value of a part."""
    read = _READERS.get(type(node))
    value = read(node, names) if read else None
    if value is None:
        raise ValueError(
            f"'{ast.unparse(node):.60}' cannot be part of an expression; use + - * / // % **, comparisons, "
            f"'a if b else c' and {listed(sorted(FUNCTIONS))}"
        )
    return value


def _constant(node: Any, _names: set[str]) -> _Value | None:
    constant = node.value
    return (lambda _: constant) if isinstance(constant, (bool, int, float, str)) else None


def _name(node: Any, names: set[str]) -> _Value | None:
    """Read ``peak``, or ``chip.peak``."""
    is_member = isinstance(node, ast.Attribute)
    if is_member and not isinstance(node.value, ast.Name):
        return None
    name = f"{node.value.id}.{node.attr}" if is_member else node.id
    names.add(name)
    return operator.itemgetter(name)


def _of_two(node: Any, names: set[str]) -> _Value | None:
    act = _power if isinstance(node.op, ast.Pow) else _BINARY.get(type(node.op))
    one, other = _compiled(node.left, names), _compiled(node.right, names)
    return None if act is None else lambda values: act(one(values), other(values))


def _of_one(node: Any, names: set[str]) -> _Value | None:
    act, one = _UNARY.get(type(node.op)), _compiled(node.operand, names)
    return None if act is None else lambda values: act(one(values))


def _comparison(node: Any, names: set[str]) -> _Value | None:
    act = _COMPARED.get(type(node.ops[0])) if len(node.ops) == 1 else None
    one, other = _compiled(node.left, names), _compiled(node.comparators[0], names)
    return None if act is None else lambda values: act(one(values), other(values))


def _joined(node: Any, names: set[str]) -> _Value:
    parts, together = [_compiled(one, names) for one in node.values], all if isinstance(node.op, ast.And) else any
    return lambda values: together(one(values) for one in parts)


def _condition(node: Any, names: set[str]) -> _Value:
    test, then, other = (_compiled(one, names) for one in (node.test, node.body, node.orelse))
    return lambda values: then(values) if test(values) else other(values)


def _call(node: Any, names: set[str]) -> _Value | None:
    if not isinstance(node.func, ast.Name) or node.keywords:
        return None
    if node.func.id not in FUNCTIONS:
        hint = did_you_mean(node.func.id, FUNCTIONS, f"; there are {listed(sorted(FUNCTIONS))}")
        raise ValueError(f"there is no function '{node.func.id}'{hint}")
    function, parts = FUNCTIONS[node.func.id], [_compiled(one, names) for one in node.args]
    return lambda values: function(*(one(values) for one in parts))


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, int) and isinstance(base, int) and abs(exponent) * base.bit_length() <= _MAX_POWER:
        return base**exponent
    return math.pow(base, exponent)


_READERS: Final[Mapping[type[ast.expr], Callable[[Any, set[str]], _Value | None]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _name,
    ast.BinOp: _of_two,
    ast.UnaryOp: _of_one,
    ast.Compare: _comparison,
    ast.BoolOp: _joined,
    ast.IfExp: _condition,
    ast.Call: _call,
}
