"""Tensors: a name, a shape and a dtype, which determine the number of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from roofwidget.support.did_you_mean import choose_from, keywords
from roofwidget.support.precisions import precision_key
from roofwidget.workloads.expressions import Count, Expression, ceil_div, dims_of, evaluate, product, symbol

DTYPES: Final = MappingProxyType(
    {
        "fp64": 64,
        "fp32": 32,
        "tf32": 32,
        "bf16": 16,
        "fp16": 16,
        "fp8": 8,
        "fp4": 4,
        "int64": 64,
        "int32": 32,
        "int16": 16,
        "int8": 8,
        "int4": 4,
        "bool": 8,
    }
)
"""Bits of an element in memory, by dtype; tf32 is stored like fp32."""

_BITS: Final = {name: symbol(f"@{name}") for name in DTYPES}


@dataclass(frozen=True, init=False)
class Tensor:
    """An array in memory: an input of a graph, or an array that one operation writes and other operations read.

    Parameters
    ----------
    name
        The display name, unique in a graph.
    shape
        Ints of at least 1, or expressions over `dim`. An empty shape is a single number.
    dtype
        One of `DTYPES`.

    Raises
    ------
    TypeError
        If the name is not text, or a size is neither an int nor an expression.
    ValueError
        If a size is below 1 (an expression is evaluated at the defaults of its dimensions), or the dtype is unknown.

    Examples
    --------
    >>> Tensor("x", (3, 5), "fp4").bytes
    ⌈15·@fp4 / 8⌉
    >>> evaluate(Tensor("x", (3, 5), "fp4").bytes, {"@fp4": 4})
    8
    """

    __module__ = "roofwidget.workloads"

    name: str
    shape: tuple[Count, ...]
    dtype: str

    @keywords("Tensor")
    def __init__(self, name: str, shape: Iterable[Count], dtype: str) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"a tensor's name must be text, got {name!r:.60}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "shape", _checked_shape(name, shape))
        object.__setattr__(self, "dtype", checked_dtype(dtype, f"tensor '{name}'"))

    @property
    def size(self) -> Count:
        """Number of elements."""
        return _size(self.shape)

    @property
    def bits(self) -> Expression:
        """The symbol for the bits of an element, such as ``@bf16``."""
        return _BITS[self.dtype]

    @property
    def bytes(self) -> Count:
        """The number of bytes, rounded up: an expression over the shape's dimensions and the bits of the dtype."""
        return _bytes(self.size, self.dtype)

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}] {self.dtype}"


@lru_cache(maxsize=4096)
def _size(shape: tuple[Count, ...]) -> Count:
    return product(shape)


@lru_cache(maxsize=4096)
def _bytes(size: Count, dtype: str) -> Count:
    return ceil_div(size * _BITS[dtype], 8)


def bits(dtype: str) -> Expression:
    """Return the symbol for the bits of a dtype's element.

    Examples
    --------
    >>> bits("bf16")
    @bf16
    """
    return _BITS[checked_dtype(dtype, "bits")]


def is_floating(dtype: str) -> bool:
    """Return whether a dtype is a floating-point type.

    Examples
    --------
    >>> [dtype for dtype in DTYPES if not is_floating(dtype)]
    ['int64', 'int32', 'int16', 'int8', 'int4', 'bool']
    """
    return not dtype.startswith(("int", "bool"))


def checked_dtype(dtype: str, where: str) -> str:
    """Return a dtype of `DTYPES`. For another dtype raise `ValueError`, which names the place and the dtypes.

    Names of other programs are known, such as ``bfloat16``, ``half``, ``float32`` and ``double``.

    Examples
    --------
    >>> checked_dtype("bfloat16", "tensor 'x'")
    'bf16'
    >>> checked_dtype("bf61", "tensor 'x'")
    Traceback (most recent call last):
    ...
    ValueError: tensor 'x': unknown dtype 'bf61'; did you mean 'bf16'?
    """
    if isinstance(dtype, str) and precision_key(dtype) in DTYPES:
        return precision_key(dtype)
    raise ValueError(f"{where}: unknown dtype {dtype!r:.40}{choose_from(dtype, DTYPES)}")


def _checked_shape(name: str, shape: Iterable[Count]) -> tuple[Count, ...]:
    if isinstance(shape, (int, Expression, str)) or not isinstance(shape, Iterable):
        raise TypeError(f"the shape of tensor '{name}' must be a tuple of sizes, such as (8, 4096), got {shape!r:.60}")
    sizes = tuple(shape)
    for axis, size in enumerate(sizes):
        if type(size) is not int and not isinstance(size, Expression):
            raise TypeError(
                f"axis {axis} of tensor '{name}' must be an int or an expression over rw.dim, got {size!r:.60}"
            )
        if _at_defaults(size) < 1:
            at = "" if isinstance(size, int) else f" = {_at_defaults(size)} with its dims at their defaults"
            raise ValueError(f"axis {axis} of tensor '{name}' must be at least 1, got {size}{at}")
    return sizes


@lru_cache(maxsize=4096)
def _at_defaults(size: Count) -> int:
    return size if isinstance(size, int) else evaluate(size, {d.name: d.default for d in dims_of([size])})
