"""Arithmetic that people type in rules of work, such as ``2 * dims[0][0] * dims[1][1]``: parsed here, never by Python.

The numbers are fractions, so a result is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, NoReturn, TypeAlias

Lookup: TypeAlias = "Callable[[str, tuple[int, ...]], Fraction | int]"
"""Returns the value of a name with its indices: ``dims[0][1]`` is ``("dims", (0, 1))``."""

INDICES: Final = {"dims": 2, "size": 1, "value": 1, **{f"step.{word}": 0 for word in ("sq", "sk", "sqsq", "sqsk")}}
"""The names that an expression may have, and how many indices each has."""

_MAX_CHARS: Final = 500
_MAX_DEPTH: Final = 50
_MAX_POWER: Final = 64
_MAX_BITS: Final = 1024
_TOKEN: Final = re.compile(
    r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d{1,2})?|\.\d+)|([A-Za-z_][A-Za-z_.]*)|(\*\*|//|[-+*/()\[\],]))"
)
_FUNCTIONS: Final[dict[str, Callable[[Sequence[Fraction]], Fraction]]] = {"min": min, "max": max}

_Node: TypeAlias = "Callable[[Lookup], Fraction]"


@dataclass(frozen=True)
class Typed:
    """An expression as typed.

    Examples
    --------
    >>> typed("2 * dims[0][0] ** 2 - 1 / 4").value(lambda name, indices: 3)
    Fraction(71, 4)
    >>> typed("min(size[0], 8) // 3").value(lambda name, indices: 100)
    Fraction(2, 1)
    """

    text: str
    _node: _Node

    def value(self, lookup: Lookup) -> Fraction:
        """Return the value; raises `ValueError` for a division by zero and for numbers without end."""
        return self._node(lookup)


@lru_cache(maxsize=4096)
def typed(text: str) -> Typed:
    """Return a parsed expression.

    Raises
    ------
    ValueError
        If the text is no expression. The message names the place in the text.
    """
    if len(text) > _MAX_CHARS:
        raise ValueError(f"an expression of {len(text):,} characters; at most {_MAX_CHARS:,} are read")
    return Typed(text, _Parser(text).whole())


class _Parser:
    """Recursive descent: sums of products of powers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._kind, self._word, self._begin = 0, "", 0
        self._next()

    def whole(self) -> _Node:
        node = self._sum()
        if self._kind:
            self._fail("an operator")
        return node

    def _next(self) -> str:
        """Go to the next token and return the one before."""
        before = self._word
        if not self._text[self._at :].strip():
            self._kind, self._word, self._begin = 0, "", len(self._text)
            return before
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            self._begin = len(self._text) - len(self._text[self._at :].lstrip())
            self._word = self._text[self._begin]
            self._fail("a number, a name or an operator")
        self._kind = found.lastindex or 0
        self._word, self._begin, self._at = found[self._kind], found.start(self._kind), found.end()
        return before

    def _fail(self, expected: str) -> NoReturn:
        found = f"'{self._word}'" if self._begin < len(self._text) else "the end"
        raise ValueError(f"expected {expected} at character {self._begin + 1} of '{self._text}', found {found}")

    def _take(self, token: str) -> None:
        if self._word != token or not self._kind:
            self._fail(f"'{token}'")
        self._next()

    def _sum(self) -> _Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"an expression that is nested more than {_MAX_DEPTH} deep")
        node = self._product()
        while self._word in ("+", "-") and self._kind:
            node = _Operation(self._next(), node, self._product())
        self._depth -= 1
        return node

    def _product(self) -> _Node:
        node = self._signed()
        while self._word in ("*", "/", "//") and self._kind:
            node = _Operation(self._next(), node, self._signed())
        return node

    def _signed(self) -> _Node:
        negative = False
        while self._word in ("-", "+") and self._kind:
            negative ^= self._next() == "-"
        node = self._power()
        return _Operation("-", _Number(Fraction(0)), node) if negative else node

    def _power(self) -> _Node:
        node = self._single()
        if self._word == "**":
            self._next()
            return _Operation("**", node, self._signed())
        return node

    def _single(self) -> _Node:
        if self._kind == 1:
            return _Number(Fraction(self._next()))
        if self._word == "(":
            self._next()
            node = self._sum()
            self._take(")")
            return node
        if self._kind != 2:  # noqa: PLR2004 - the group of names
            self._fail("a number or a name")
        return self._function() if self._word in _FUNCTIONS else self._name()

    def _function(self) -> _Node:
        name = self._next()
        self._take("(")
        arguments = [self._sum()]
        while self._word == ",":
            self._next()
            arguments.append(self._sum())
        self._take(")")
        return _Function(name, tuple(arguments))

    def _name(self) -> _Node:
        if self._word not in INDICES:
            self._fail(f"one of {', '.join([*INDICES, *_FUNCTIONS])}")
        name = self._next()
        indices = []
        for _ in range(INDICES[name]):
            self._take("[")
            sign = -1 if self._word == "-" and self._next() else 1
            if not self._word.isdecimal():
                self._fail("a whole number")
            indices.append(sign * int(self._next()))
            self._take("]")
        return _Name(name, tuple(indices))


@dataclass(frozen=True)
class _Number:
    number: Fraction

    def __call__(self, _: Lookup) -> Fraction:
        return self.number


@dataclass(frozen=True)
class _Name:
    name: str
    indices: tuple[int, ...]

    def __call__(self, lookup: Lookup) -> Fraction:
        return Fraction(lookup(self.name, self.indices))


@dataclass(frozen=True)
class _Function:
    name: str
    arguments: tuple[_Node, ...]

    def __call__(self, lookup: Lookup) -> Fraction:
        return _FUNCTIONS[self.name]([argument(lookup) for argument in self.arguments])


@dataclass(frozen=True)
class _Operation:
    operator: str
    left: _Node
    right: _Node

    def __call__(self, lookup: Lookup) -> Fraction:
        a, b = self.left(lookup), self.right(lookup)
        if self.operator in ("/", "//") and b == 0:
            raise ValueError("a division by zero")
        if self.operator == "**" and (b.denominator != 1 or abs(b) > _MAX_POWER or (a == 0 and b < 0)):
            raise ValueError(f"a power with the exponent {b}; whole numbers to {_MAX_POWER} are possible")
        result = _OPERATORS[self.operator](a, b)
        if max(result.numerator.bit_length(), result.denominator.bit_length()) > _MAX_BITS:
            raise ValueError("a number that is too large")
        return result


_OPERATORS: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: Fraction(a // b),
    "**": lambda a, b: a ** int(b),
}
