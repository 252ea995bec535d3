"""Counts: exact integers, or polynomials over named integers. Python and the front end evaluate the same counts.

A symbol is a dimension (``batch``), a number that a convention sets (``@fma``) or the number of bits of a dtype
(``@bf16``). Operations between plain ints give plain ints, so a graph without symbolic dimensions has exact counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import floor, gcd, prod
from typing import Any, Final, TypeAlias

from roofwidget.support.did_you_mean import did_you_mean, listed

_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Symbol:
    """A named integer. `low`, `high` and `default` are None unless the symbol is a dimension."""

    __module__ = "roofwidget.workloads"
    __slots__ = ("_hash", "default", "high", "low", "name")

    def __init__(self, name: str, low: int | None = None, high: int | None = None, default: int | None = None) -> None:
        self.name, self.low, self.high, self.default = name, low, high, default
        self._hash = hash((name, low, high, default))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Symbol) and self._fields() == other._fields())

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Symbol, self._fields()  # do not store the hash: a text's hash differs between processes

    def __str__(self) -> str:
        return self.name

    def _fields(self) -> tuple[object, ...]:
        return self.name, self.low, self.high, self.default

    def value(self, env: Mapping[str, int]) -> int:
        return env[self.name]

    def replaced(self, env: Mapping[str, Count]) -> Count:
        return env[self.name] if self.name in env else single(self)


class Call:
    """A ceil-division, a minimum, a maximum or `touched` of counts. Like a symbol it can be a factor of a term."""

    __module__ = "roofwidget.workloads"
    __slots__ = ("_hash", "_key", "args", "kind")

    def __init__(self, kind: str, args: tuple[Count, ...]) -> None:
        self.kind, self.args = kind, args
        self._key = (kind, frozenset(args) if kind in {"min", "max"} else args)
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Call) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Call, (self.kind, self.args)

    def __str__(self) -> str:
        if self.kind == "touched":
            factor = _wrapped(self.args[0], is_factor=True)
            total, picked, times = (_wrapped(count, is_factor=False) for count in self.args[1:])
            return f"⌊{factor}·{total}·(1 - (1 - {picked}/{total})^{times})⌉"
        if self.kind != "/":
            return f"{self.kind}({', '.join(map(str, self.args))})"
        above, below = (a if isinstance(a, int) else a.terms() for a in self.args)
        numerator = str(self.args[0]) if isinstance(above, int) or len(above) == 1 else f"({self.args[0]})"
        plain = isinstance(below, int) or (len(below) == 1 and len(below[0][0]) == below[0][1] == 1)
        return f"⌈{numerator} / {self.args[1] if plain else f'({self.args[1]})'}⌉"

    def value(self, env: Mapping[str, int]) -> int:
        return _applied(self.kind, [a if isinstance(a, int) else a.value(env) for a in self.args])

    def replaced(self, env: Mapping[str, Count]) -> Count:
        return _BUILDERS[self.kind](*(a if isinstance(a, int) else a.replaced(env) for a in self.args))


def _wrapped(count: Count, *, is_factor: bool) -> str:
    """Return a count as text, in brackets if it is a sum.

    If `is_factor` is false, a product such as ``2·n`` and a power such as ``n²`` have brackets too.
    """
    terms = [] if isinstance(count, int) else count.terms()
    is_single = len(terms) <= 1 and (is_factor or all(n == 1 and sum(p for _, p in f) == 1 for f, n in terms))
    return str(count) if is_single else f"({count})"


_Atom: TypeAlias = "Symbol | Call"
_Monomial: TypeAlias = "frozenset[tuple[_Atom, int]]"

_ONE: Final[_Monomial] = frozenset()


class Expression:
    """A polynomial with integer coefficients over symbols, ceil-divisions, minima and maxima. Immutable.

    Terms with the same factors are added up, such as ``n + n`` to ``2·n``. Two expressions are equal exactly if the
    resulting terms are equal, in any order. The printed text keeps the order in which the terms were written.

    Examples
    --------
    >>> m, n, k = (single(Symbol(name)) for name in "MNK")
    >>> 2 * m * n * k, m * n + n * m + 1, n * n - n
    (2·M·N·K, 2·M·N + 1, N² - N)
    >>> m * n == n * m, m - m
    (True, 0)
    """

    __module__ = "roofwidget.workloads"
    __slots__ = ("_hash", "_symbols", "order", "polynomial")

    def __init__(self, terms: dict[_Monomial, int], order: tuple[_Atom, ...]) -> None:
        self.polynomial, self.order = terms, order
        self._hash: int | None = None
        self._symbols: frozenset[Symbol] | None = None

    def __add__(self, other: Count) -> Count:
        if isinstance(other, int):
            return _made(_merged(self.polynomial, {_ONE: other}), self.order)
        if isinstance(other, Expression):
            return _made(_merged(self.polynomial, other.polynomial), _joined(self.order, other.order))
        return NotImplemented

    def __radd__(self, other: int) -> Count:
        return _made(_merged({_ONE: other}, self.polynomial), self.order) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Count) -> Count:
        if isinstance(other, int):
            if other == 0:
                return 0
            return self if other == 1 else Expression({m: c * other for m, c in self.polynomial.items()}, self.order)
        if not isinstance(other, Expression):
            return NotImplemented
        terms: dict[_Monomial, int] = {}
        for left, a in self.polynomial.items():
            for right, b in other.polynomial.items():
                product = _times(left, right)
                terms[product] = terms.get(product, 0) + a * b
        return _made(terms, _joined(self.order, other.order))

    def __rmul__(self, other: int) -> Count:
        return self * other

    def __neg__(self) -> Count:
        return self * -1

    def __sub__(self, other: Count) -> Count:
        return self + other * -1

    def __rsub__(self, other: int) -> Count:
        return other + self * -1

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expression) and self.polynomial == other.polynomial)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.polynomial.items()))
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Expression, (self.polynomial, self.order)

    def __str__(self) -> str:
        text = ""
        for factors, coefficient in self.terms():
            size = abs(coefficient)
            parts = [str(size)] if size != 1 or not factors else []
            parts += [str(atom) + (str(power).translate(_SUPERSCRIPTS) if power > 1 else "") for atom, power in factors]
            sign = (" - " if coefficient < 0 else " + ") if text else ("-" if coefficient < 0 else "")
            text += sign + "·".join(parts)
        return text

    def __repr__(self) -> str:
        return str(self)

    def terms(self) -> list[tuple[list[tuple[_Atom, int]], int]]:
        """Return the terms in written order, the constant last. A term is a pair: factors with powers, a coefficient.

        The factors of each term are in the order in which they first occur in the terms. So the front end can find the
        same order from the terms alone.
        """
        place = {atom: index for index, atom in enumerate(self.order)}
        terms = [(sorted(factors, key=lambda f: place[f[0]]), number) for factors, number in self.polynomial.items()]
        terms.sort(key=lambda term: not term[0])
        # Equal atoms may be written differently, such as min(a, b) and min(b, a). Every equal atom gets the form that
        # occurs first.
        first: dict[_Atom, tuple[int, _Atom]] = {}
        for factors, _ in terms:
            for atom, _power in factors:
                first.setdefault(atom, (len(first), atom))
        return [
            ([(first[atom][1], power) for atom, power in sorted(factors, key=lambda f: first[f[0]][0])], number)
            for factors, number in terms
        ]

    def atoms(self) -> frozenset[Symbol]:
        """Return the symbols of the expression, also symbols inside ceil-divisions, minima and maxima."""
        if self._symbols is None:
            found: set[Symbol] = set()
            for atom in self.order:
                if isinstance(atom, Symbol):
                    found.add(atom)
                else:
                    found.update(*(a.atoms() for a in atom.args if isinstance(a, Expression)))
            self._symbols = frozenset(found)
        return self._symbols

    def value(self, env: Mapping[str, int]) -> int:
        """Return the value of the expression without the checks that `evaluate` makes."""
        total = 0
        for factors, coefficient in self.polynomial.items():
            number = coefficient
            for atom, power in factors:
                number *= atom.value(env) if power == 1 else atom.value(env) ** power
            total += number
        return total

    def replaced(self, env: Mapping[str, Count]) -> Count:
        """Return a copy with the symbols of `env` replaced. The public function is `substitute`."""
        return sum(
            prod((atom.replaced(env) for atom, power in factors for _ in range(power)), start=coefficient)
            for factors, coefficient in self.terms()
        )


Count: TypeAlias = "int | Expression"
"""A number of FLOPs, bytes or elements: an exact int, or an expression."""


def ceil_div(a: Count, b: Count) -> Count:
    """Return a / b, rounded up. b must be above zero wherever the result is evaluated.

    Examples
    --------
    >>> n = single(Symbol("n"))
    >>> ceil_div(9, 8), ceil_div(16 * n + 8, 8), ceil_div(12 * n, 8), ceil_div(6 * n * n, 2 * n)
    (2, 2·n + 1, ⌈3·n / 2⌉, 3·n)
    """
    if isinstance(b, int):
        if isinstance(a, int):
            return _applied("/", [a, b])
        if b > 0:
            return _divided(a, b)
        raise _no_divisor(a, b)
    exact = 0 if a == 0 else _quotient(a, b)
    return _call("/", (a, b)) if exact is None else exact


def minimum(*counts: Count) -> Count:
    """Return the minimum of counts.

    Examples
    --------
    >>> n = single(Symbol("n"))
    >>> minimum(3, n, 5), minimum(n, n), minimum(4, 2)
    (min(3, n), n, 2)
    """
    return _extreme("min", counts)


def maximum(*counts: Count) -> Count:
    """Return the maximum of counts.

    Examples
    --------
    >>> maximum(single(Symbol("n")), 1, 2)
    max(n, 2)
    """
    return _extreme("max", counts)


def touched(factor: Count, total: Count, picked: Count, times: Count) -> Count:
    """Return `factor` times the mean number of different items that random draws pick, rounded to a whole number.

    Each of `times` draws picks `picked` different items out of `total` at random, independently of the other draws. On
    average ``total (1 - (1 - picked / total)^times)`` items are picked at least once. The power is computed in float64
    by repeated squaring, so Python and the front end get the same number.

    Examples
    --------
    >>> tokens = single(Symbol("T"))
    >>> touched(4096, 8, 2, tokens), touched(4096, 8, 2, 4), touched(1, 8, 2, 1)
    (⌊4096·8·(1 - (1 - 2/8)^T)⌉, 22400, 2)
    """
    args = (factor, total, picked, times)
    if all(isinstance(count, int) for count in args):
        return _applied("touched", list(args))  # type: ignore[arg-type]  # all are ints
    return _call("touched", args)


def single(atom: _Atom) -> Expression:
    """Return the expression that consists of one symbol or call."""
    return Expression({frozenset({(atom, 1)}): 1}, (atom,))


def _made(terms: dict[_Monomial, int], order: tuple[_Atom, ...]) -> Count:
    if any(coefficient == 0 for coefficient in terms.values()):
        terms = {factors: coefficient for factors, coefficient in terms.items() if coefficient}
        left = {atom for factors in terms for atom, _ in factors}
        order = tuple(atom for atom in order if atom in left)
    if not terms:
        return 0
    return terms[_ONE] if len(terms) == 1 and _ONE in terms else Expression(terms, order)


def _merged(left: dict[_Monomial, int], right: dict[_Monomial, int]) -> dict[_Monomial, int]:
    terms = dict(left)
    for factors, coefficient in right.items():
        terms[factors] = terms.get(factors, 0) + coefficient
    return terms


def _joined(left: tuple[_Atom, ...], right: tuple[_Atom, ...]) -> tuple[_Atom, ...]:
    return left if left == right else tuple(dict.fromkeys((*left, *right)))


def _times(left: _Monomial, right: _Monomial) -> _Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())


def _call(kind: str, args: tuple[Count, ...]) -> Expression:
    return single(Call(kind, args))


def _part(a: Expression, terms: dict[_Monomial, int]) -> Count:
    used = {atom for factors in terms for atom, _ in factors}
    return _made(terms, tuple(atom for atom in a.order if atom in used))


def _divided(a: Expression, b: int) -> Count:
    """Return ceil(a / b).

    Terms that b divides are moved out of the division: ``⌈(4·n + m) / 2⌉`` is ``2·n + ⌈m / 2⌉``. A common divisor of b
    and the other terms is cancelled.
    """
    whole = _part(a, {factors: c // b for factors, c in a.polynomial.items() if c % b == 0})
    rest = _part(a, {factors: c for factors, c in a.polynomial.items() if c % b})
    if isinstance(rest, int):
        return whole + _applied("/", [rest, b])
    common = gcd(b, *rest.polynomial.values())
    cancelled = Expression({factors: c // common for factors, c in rest.polynomial.items()}, rest.order)
    return whole + _call("/", (cancelled, b // common))


def _quotient(a: Count, b: Count) -> Count | None:
    """Return a / b if a and b are expressions, b is a single term, and b divides each term of a.

    Otherwise return None.
    """
    if isinstance(a, int) or isinstance(b, int) or len(b.polynomial) != 1:
        return None
    ((divisor, number),) = b.polynomial.items()
    terms: dict[_Monomial, int] = {}
    for factors, coefficient in a.polynomial.items():
        left = dict(factors)
        for atom, power in divisor:
            left[atom] = left.get(atom, 0) - power
        if coefficient % number or min(left.values()) < 0:
            return None
        terms[frozenset((atom, power) for atom, power in left.items() if power)] = coefficient // number
    return _part(a, terms)


def _extreme(kind: str, counts: tuple[Count, ...]) -> Count:
    flat: dict[Count, None] = {}
    for count in counts:
        nested = _only_call(count, kind)
        flat.update(dict.fromkeys(nested.args if nested else (count,)))
    if not flat:
        raise ValueError(f"{kind}imum needs at least one count")
    numbers = [count for count in flat if isinstance(count, int)]
    if numbers:
        best = min(numbers) if kind == "min" else max(numbers)
        flat = {count: None for count in flat if not isinstance(count, int) or count == best}
    return next(iter(flat)) if len(flat) == 1 else _call(kind, tuple(flat))


def _only_call(count: Count, kind: str) -> Call | None:
    if isinstance(count, int) or len(count.order) != 1:
        return None
    atom = count.order[0]
    if isinstance(atom, Call) and atom.kind == kind and count.polynomial == {frozenset({(atom, 1)}): 1}:
        return atom
    return None


def _applied(kind: str, values: list[int]) -> int:
    if kind == "touched":
        return _touched(*values)
    if kind != "/":
        return min(values) if kind == "min" else max(values)
    if values[1] <= 0:
        raise _no_divisor(*values)
    return -(-values[0] // values[1])


def _no_divisor(a: Count, b: Count) -> ValueError:
    above, below = (_wrapped(count, is_factor=True) for count in (a, b))
    return ValueError(f"a ceil-division needs a divisor above zero, got {above} / {below}")


def _touched(factor: int, total: int, picked: int, times: int) -> int:
    if not 0 <= picked <= total or total == 0:
        raise ValueError(f"a draw picks between none and all of the items, got {picked} of {total}")
    missed, power, left = 1.0, (total - picked) / total, times
    while left > 0:
        if left % 2:
            missed *= power
        power *= power
        left //= 2
    return floor(factor * total * (1 - missed) + 0.5)


_BUILDERS: Final[Mapping[str, Callable[..., Count]]] = {
    "/": ceil_div,
    "min": minimum,
    "max": maximum,
    "touched": touched,
}


class Dim(Expression):
    """A symbolic dimension with the range of its slider. Make one with `dim`."""

    __module__ = "roofwidget.workloads"
    __slots__ = ()

    def __init__(self, name: str, low: int, high: int, default: int) -> None:
        atom = Symbol(name, low, high, default)
        super().__init__({frozenset({(atom, 1)}): 1}, (atom,))

    def __reduce__(self) -> tuple[object, ...]:
        return Dim, (self.name, self.low, self.high, self.default)

    @property
    def name(self) -> str:
        """The name of the dimension."""
        return self._atom.name

    @property
    def low(self) -> int:
        """The smallest value."""
        return self._atom.low or 0

    @property
    def high(self) -> int:
        """The largest value, inclusive."""
        return self._atom.high or 0

    @property
    def default(self) -> int:
        """The value if no other is given."""
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
        An identifier. It is the label of the slider, and the key in ``dims={"batch": 8}``.
    low, high
        The range of the slider, inclusive; `low` is at least 1.
    default
        The value if no other is given; None: `low`.

    Raises
    ------
    TypeError, ValueError
        If the name is no identifier, a number is no int, the range is empty or below 1, or the default is outside the
        range.

    Examples
    --------
    >>> batch = dim("batch", 1, 1024, default=32)
    >>> 2 * batch * batch, evaluate(2 * batch * batch, {"batch": 3})
    (2·batch², 18)
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"the name of a dim must be an identifier such as 'batch', got {name!r:.60}")
    default = low if default is None else default
    for word, number in (("low", low), ("high", high), ("default", default)):
        if type(number) is not int:
            raise TypeError(f"{word} of dim '{name}' must be an int, got {number!r:.60}")
    if not 1 <= low <= default <= high:
        raise ValueError(
            f"dim '{name}' needs 1 <= low <= default <= high, got low={low}, default={default}, high={high}"
        )
    return Dim(name, low, high, default)


def symbol(name: str) -> Expression:
    """Return the expression of one symbol without a range: ``symbol("@fma")``."""
    return single(Symbol(name))


def product(counts: Iterable[Count]) -> Count:
    """Return the product of counts, or 1 if there are no counts.

    Examples
    --------
    >>> product([2, symbol("N"), 3])
    6·N
    """
    return prod(counts)


def evaluate(count: Count, env: Mapping[str, int]) -> int:
    """Return the exact value of a count.

    Parameters
    ----------
    count
        An int, which is returned as it is, or an expression.
    env
        A mapping from the name of each symbol to its int value.

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
        raise ValueError(
            f"no value for '{missing}' of {count!s:.80}{did_you_mean(missing, env, '; give one')}"
        ) from None
    if type(value) is not int:
        wrong = [name for name in sorted(symbols(count)) if type(env[name]) is not int]
        raise TypeError(f"the value of {listed(wrong)} must be an int, got {env[wrong[0]]!r}")
    return value


def substitute(count: Count, env: Mapping[str, Count]) -> Count:
    """Return a count with the symbols of `env` replaced. Other symbols stay.

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
    """Return the dimensions that occur in counts, sorted by name.

    Raises
    ------
    ValueError
        If two different dimensions have the same name.

    Examples
    --------
    >>> dims_of([symbol("@fma") * dim("N", 1, 9, default=2), 7])
    (N,)
    """
    found: dict[str, Dim] = {}
    for count in counts:
        for one in () if isinstance(count, int) else _dims(count):
            if found.setdefault(one.name, one) != one:
                raise ValueError(
                    f"two dims are called '{one.name}', with different ranges or defaults; make it once and reuse it"
                )
    return tuple(found[name] for name in sorted(found))


@lru_cache(maxsize=4096)
def _dims(count: Expression) -> tuple[Dim, ...]:
    return tuple(Dim(a.name, a.low, a.high or 0, a.default or 0) for a in count.atoms() if a.low is not None)


def to_wire(count: Count) -> Any:
    """Return a count as JSON data.

    The data is an int (as text beyond 2^53), a symbol's name, or a list: ``["+", …]``, ``["*", …]``, ``["/", a, b]``
    for the ceil-division, ``["min", …]``, ``["max", …]``, ``["touched", factor, total, picked, times]``; a power is a
    repeated factor.

    Examples
    --------
    >>> n = dim("n", 1, 9, default=2)
    >>> to_wire(3 * n * n + ceil_div(n, 2)), to_wire(2**60)
    (['+', ['*', 3, 'n', 'n'], ['/', 'n', 2]], '1152921504606846976')
    """
    if isinstance(count, int):
        return count if abs(count) <= _MAX_EXACT_INT else str(count)
    terms = [_term_to_wire(factors, coefficient) for factors, coefficient in count.terms()]
    return terms[0] if len(terms) == 1 else ["+", *terms]


def from_wire(wire: Any, dims: Mapping[str, Dim] | None = None) -> Count:
    """Return the count that `to_wire` wrote.

    A name in `dims` becomes that dimension. Any other name becomes a plain symbol.

    Raises
    ------
    ValueError
        If the data has none of the forms that `to_wire` writes.

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
    if isinstance(word, str) and word in _READERS and len(wire) == _PARTS.get(word, len(wire)):
        return _READERS[word]([from_wire(part, dims) for part in wire[1:]])
    raise ValueError(f"not a count: {wire!r:.80}")


def _term_to_wire(factors: list[tuple[Symbol | Call, int]], coefficient: int) -> Any:
    parts: list[Any] = [] if coefficient == 1 and factors else [to_wire(coefficient)]
    for atom, power in factors:
        part = atom.name if isinstance(atom, Symbol) else [atom.kind, *map(to_wire, atom.args)]
        parts += [part] * power
    return parts[0] if len(parts) == 1 else ["*", *parts]


_MAX_EXACT_INT: Final = 2**53  # of a float64
_DIGITS: Final = re.compile("-?[0-9]+")
# The length of a list that begins with this sign, sign included. Lists with other signs may have any length.
_PARTS: Final = {"/": 3, "touched": 5}
_READERS: Final[Mapping[str, Callable[[list[Count]], Count]]] = {
    "+": sum,
    "*": product,
    "/": lambda counts: ceil_div(*counts),
    "min": lambda counts: minimum(*counts),
    "max": lambda counts: maximum(*counts),
    "touched": lambda counts: touched(*counts),
}
