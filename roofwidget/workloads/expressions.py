"""Counts: exact integers, or polynomials over named integers that Python and the front end both evaluate.

A symbol stands for a dimension (``batch``), for what a convention says (``@fma``) or for the bits of a dtype
(``@bf16``). Operations between plain ints stay plain ints, so a graph without symbolic dimensions has exact counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.workloads.polynomial import Call, Count, Expression, Symbol, ceil_div, maximum, minimum, single

__all__ = [
    "Count",
    "Dim",
    "Expression",
    "ceil_div",
    "dim",
    "dims_of",
    "evaluate",
    "from_wire",
    "maximum",
    "minimum",
    "product",
    "substitute",
    "symbol",
    "symbols",
    "to_wire",
]


class Dim(Expression):
    """A symbolic dimension with the range of its slider; made by `dim`."""

    __slots__ = ()

    def __init__(self, name: str, low: int, high: int, default: int) -> None:
        atom = Symbol(name, low, high, default)
        super().__init__({frozenset({(atom, 1)}): 1}, (atom,))

    def __reduce__(self) -> tuple[object, ...]:
        return Dim, (self.name, self.low, self.high, self.default)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._atom.name

    @property
    def low(self) -> int:
        """The smallest value."""
        return self._atom.low or 0

    @property
    def high(self) -> int:
        """The largest value, itself included."""
        return self._atom.high or 0

    @property
    def default(self) -> int:
        """The value until another is given."""
        return self._atom.default or 0

    @property
    def _atom(self) -> Symbol:
        (atom,) = self.atoms()
        return atom


def dim(name: str, low: int, high: int, *, default: int | None = None) -> Dim:
    """Return a symbolic dimension for the shapes of tensors.

    Parameters
    ----------
    name
        An identifier; the slider's label and the key in ``dims={"batch": 8}``.
    low, high
        The range of its slider, both included; `low` is at least 1.
    default
        The value it has until another is given.

    Raises
    ------
    TypeError, ValueError
        If the name is no identifier, a number is no int, the range is empty or below 1, or the default is missing or
        outside the range.

    Examples
    --------
    >>> batch = dim("batch", 1, 1024, default=32)
    >>> 2 * batch * batch, evaluate(2 * batch * batch, {"batch": 3})
    (2·batch², 18)
    """
    if not isinstance(name, str) or not name.isidentifier():
        msg = f"the name of a dim must be an identifier such as 'batch', got {name!r:.60}"
        raise ValueError(msg)
    if default is None:
        msg = f"dim '{name}' has no default: give it a default, such as dim('{name}', {low}, {high}, default={low})"
        raise ValueError(msg)
    for word, number in (("low", low), ("high", high), ("default", default)):
        if not isinstance(number, int) or isinstance(number, bool):
            msg = f"{word} of dim '{name}' must be an int, got {number!r:.60}"
            raise TypeError(msg)
    if not 1 <= low <= default <= high:
        msg = f"dim '{name}' needs 1 <= low <= default <= high, got low={low}, default={default}, high={high}"
        raise ValueError(msg)
    return Dim(name, low, high, default)


def symbol(name: str) -> Expression:
    """Return an expression that is one symbol without a range: ``symbol("@fma")``."""
    return single(Symbol(name))


def product(counts: Iterable[Count]) -> Count:
    """Return the product of some counts; of none it is 1.

    Examples
    --------
    >>> product([2, symbol("N"), 3])
    6·N
    """
    total: Count = 1
    for count in counts:
        total = total * count
    return total


def evaluate(count: Count, env: Mapping[str, int]) -> int:
    """Return the exact value of a count.

    Parameters
    ----------
    count
        An int, which is returned as it is, or an expression.
    env
        Symbol to int.

    Raises
    ------
    ValueError
        If a symbol has no value (the message names it), or a division is by zero or less.
    TypeError
        If a value is no int.

    Examples
    --------
    >>> evaluate(symbol("@fma") * 10**30 + 1, {"@fma": 2})
    2000000000000000000000000000001
    """
    if isinstance(count, int):
        return count
    try:
        value = count.value(env)
    except KeyError:
        missing = next(name for name in sorted(symbols(count)) if name not in env)
        close = nearest(missing, env, most=1)
        msg = f"no value for '{missing}' of {count!s:.80}; " + (f"did you mean '{close[0]}'?" if close else "give one")
        raise ValueError(msg) from None
    if type(value) is not int:
        wrong = [name for name in sorted(symbols(count)) if type(env[name]) is not int]
        msg = f"the value of {listed(wrong)} must be an int, got {env[wrong[0]]!r}"
        raise TypeError(msg)
    return value


def substitute(count: Count, env: Mapping[str, Count]) -> Count:
    """Return a count with the symbols that `env` has replaced, the others kept.

    Examples
    --------
    >>> m, n = dim("M", 1, 9, default=2), dim("N", 1, 9, default=2)
    >>> substitute(symbol("@fma") * m * n, {"@fma": 2}), substitute(m * n, {"M": 3, "N": 4})
    (2·M·N, 12)
    """
    if isinstance(count, int) or not any(atom.name in env for atom in count.atoms()):
        return count
    return count.replaced(env)


def symbols(count: Count) -> frozenset[str]:
    """Return the names of the symbols in a count.

    Examples
    --------
    >>> sorted(symbols(symbol("@fma") * dim("N", 1, 9, default=2)))
    ['@fma', 'N']
    """
    return frozenset() if isinstance(count, int) else frozenset(atom.name for atom in count.atoms())


def dims_of(counts: Iterable[Count]) -> tuple[Dim, ...]:
    """Return the dimensions in some counts, by name.

    Raises
    ------
    ValueError
        If two different dimensions have one name.

    Examples
    --------
    >>> dims_of([symbol("@fma") * dim("N", 1, 9, default=2), 7])
    (N,)
    """
    found: dict[str, Dim] = {}
    for count in counts:
        for one in () if isinstance(count, int) else _dims(count):
            if found.setdefault(one.name, one) != one:
                msg = f"two dims are called '{one.name}', with different ranges or defaults; make it once and reuse it"
                raise ValueError(msg)
    return tuple(found[name] for name in sorted(found))


@lru_cache(maxsize=4096)
def _dims(count: Expression) -> tuple[Dim, ...]:
    return tuple(Dim(a.name, a.low, a.high or 0, a.default or 0) for a in count.atoms() if a.low is not None)


def to_wire(count: Count) -> Any:
    """Return a count as JSON data.

    An int (in text beyond 2^53), a symbol's name, or a list: ``["+", …]``, ``["*", …]``, ``["/", a, b]`` for the
    ceil-division, ``["min", …]``, ``["max", …]``; a power is a repeated factor.

    Examples
    --------
    >>> n = dim("n", 1, 9, default=2)
    >>> to_wire(3 * n * n + ceil_div(n, 2)), to_wire(2**60)
    (['+', ['*', 3, 'n', 'n'], ['/', 'n', 2]], '1152921504606846976')
    """
    if isinstance(count, int):
        return count if abs(count) <= _EXACT else str(count)
    terms = [_term_to_wire(factors, coefficient) for factors, coefficient in count.terms()]
    return terms[0] if len(terms) == 1 else ["+", *terms]


def from_wire(wire: Any, dims: Mapping[str, Dim] | None = None) -> Count:
    """Return the count that `to_wire` wrote; names in `dims` become those dimensions, others bare symbols.

    Raises
    ------
    ValueError
        If it is none of the forms that `to_wire` writes.

    Examples
    --------
    >>> from_wire(["*", 2, "@fma", ["min", "n", 8]])
    2·@fma·min(n, 8)
    """
    if isinstance(wire, int) and not isinstance(wire, bool):
        return wire
    if isinstance(wire, str) and _DIGITS.fullmatch(wire):
        return int(wire)
    if isinstance(wire, str) and wire.removeprefix("@").isidentifier():
        return dims[wire] if dims and wire in dims else symbol(wire)
    word = wire[0] if isinstance(wire, list) and len(wire) > 1 else None
    if isinstance(word, str) and word in _READERS and (word != "/" or len(wire) == _DIVISION):
        return _READERS[word]([from_wire(part, dims) for part in wire[1:]])
    msg = f"not a count: {wire!r:.80}"
    raise ValueError(msg)


def _term_to_wire(factors: list[tuple[Symbol | Call, int]], coefficient: int) -> Any:
    parts: list[Any] = [] if coefficient == 1 and factors else [to_wire(coefficient)]
    for atom, power in factors:
        part = atom.name if isinstance(atom, Symbol) else [atom.kind, *map(to_wire, atom.args)]
        parts += [part] * power
    return parts[0] if len(parts) == 1 else ["*", *parts]


def _sum(counts: list[Count]) -> Count:
    total: Count = 0
    for count in counts:
        total = total + count
    return total


_EXACT: Final = 2**53
_DIGITS: Final = re.compile("-?[0-9]+")
_DIVISION: Final = 3  # its sign, what is divided, what by
_READERS: Final[Mapping[str, Callable[[list[Count]], Count]]] = {
    "+": _sum,
    "*": product,
    "/": lambda counts: ceil_div(*counts),
    "min": lambda counts: minimum(*counts),
    "max": lambda counts: maximum(*counts),
}
