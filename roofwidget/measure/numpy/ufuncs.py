"""FLOPs of numpy's universal functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from roofwidget.measure.elementwise import FLOPS_PER_ELEMENT

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "arccos": ("acos",),
    "arccosh": ("acosh",),
    "arcsin": ("asin",),
    "arcsinh": ("asinh",),
    "arctan": ("atan",),
    "arctan2": ("atan2",),
    "arctanh": ("atanh",),
    "conjugate": ("copy",),
    "deg2rad": ("multiply",),
    "degrees": ("multiply",),
    "divmod": ("divide", "remainder"),
    "expit": ("sigmoid",),
    "fabs": ("absolute",),
    "float_power": ("power",),
    "floor_divide": ("divide", "floor"),
    "fmax": ("maximum",),
    "fmin": ("minimum",),
    "fmod": ("remainder",),
    "logaddexp": ("maximum", "subtract", "exp", "log1p", "add"),
    "logaddexp2": ("maximum", "subtract", "exp2", "log2", "add"),
    "modf": ("trunc", "subtract"),
    "rad2deg": ("multiply",),
    "radians": ("multiply",),
    "rint": ("round",),
    **dict.fromkeys(("copysign", "frexp", "heaviside", "ldexp"), ("select",)),
    **dict.fromkeys(("nextafter", "positive", "signbit", "spacing"), ("select",)),
    **dict.fromkeys(("isfinite", "isinf", "isnan", "isnat"), ("is_finite",)),
    **dict.fromkeys(("logical_and", "logical_not", "logical_or", "logical_xor"), ("and",)),
}
"""The functions of `FLOPS_PER_ELEMENT` that a function of numpy or SciPy is made of, if the names differ."""

_COMPLEX: Final[Mapping[str, int]] = {
    "absolute": 4,
    "add": 2,
    "divide": 11,
    "multiply": 6,
    "negative": 2,
    "square": 5,
    "subtract": 2,
}
"""FLOPs on real numbers for one complex element, written out: a product has 4 multiplications and 2 additions."""

_CONTRACTIONS: Final = ("matmul", "matvec", "vecdot", "vecmat")
_REDUCTIONS: Final[Mapping[str, str]] = {
    "add": "sum",
    "logical_and": "all",
    "logical_or": "any",
    "maximum": "max",
    "minimum": "min",
    "multiply": "prod",
}
_ACCUMULATIONS: Final[Mapping[str, str]] = {"add": "cumsum", "multiply": "cumprod"}
_FACTOR_OF_COMPLEX_PRODUCTS: Final = 4


def ufunc_name(ufunc: str, method: str) -> str:
    """Return the name of an operation, as users of numpy call it.

    Examples
    --------
    >>> ufunc_name("add", "reduce"), ufunc_name("add", "__call__"), ufunc_name("add", "at")
    ('sum', 'add', 'add.at')
    """
    if method == "__call__":
        return ufunc
    names = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}.get(method, {})
    return names.get(ufunc, f"{ufunc}.{method}")


def ufunc_flops(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any], results: tuple[Any, ...]
) -> dict[str, int] | None:
    """Return FLOPs by class, or None if unknown. Whole numbers and truth values have no FLOPs, except in products.

    Parameters
    ----------
    ufunc, method
        The function, and how it is called: ``__call__``, ``reduce``, ``accumulate``, ``reduceat``, ``outer``, ``at``.
    inputs, kwargs
        The arguments, as arrays without counters.
    results
        The results, as arrays or numbers; of ``at`` the elements that change.

    Examples
    --------
    >>> a = np.ones((4, 8))
    >>> ufunc_flops(np.add, "reduce", (a,), {"axis": 0}, (np.ones(8),))
    {'vector': 24}
    >>> ufunc_flops(np.matmul, "__call__", (a, np.ones((8, 2))), {}, (np.ones((4, 2)),))
    {'tensor': 128}
    """
    if ufunc.__name__ in _CONTRACTIONS and method == "__call__":
        if "axes" in kwargs:
            return None
        return product_flops(np.size(results[0]) * np.shape(inputs[0])[kwargs.get("axis", -1)], [*inputs, *results])
    kinds = {np.asarray(value).dtype.kind for value in (*inputs[: ufunc.nin], *results)}
    if not kinds & {"f", "c"}:
        return {}
    each = _complex_flops(ufunc.__name__) if "c" in kinds else _real_flops(ufunc.__name__)
    if each is None:
        return None
    times = _applications(method, inputs, kwargs, results)
    return {name: flops * times for name, flops in each.items() if flops * times}


def product_flops(terms: int, values: Iterable[Any]) -> dict[str, int]:
    """Return the FLOPs of a matrix product with `terms` products of two elements: two FLOPs each, complex ones eight.

    Examples
    --------
    >>> product_flops(8, [np.ones(2)]), product_flops(8, [np.ones(2, complex)])
    ({'tensor': 16}, {'tensor': 64})
    """
    is_complex = any(np.asarray(value).dtype.kind == "c" for value in values)
    return {"tensor": 2 * terms * (_FACTOR_OF_COMPLEX_PRODUCTS if is_complex else 1)}


def _real_flops(name: str) -> dict[str, int] | None:
    total: dict[str, int] = {}
    for part in _NAMES.get(name, (name,)):
        if part not in FLOPS_PER_ELEMENT:
            return None
        for flop_class, flops in FLOPS_PER_ELEMENT[part].items():
            total[flop_class] = total.get(flop_class, 0) + flops
    return total


def _complex_flops(name: str) -> dict[str, int] | None:
    if name in _COMPLEX:
        return {"vector": _COMPLEX[name]}
    real = _real_flops(name)
    return real if real == {} else None


def _applications(method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any], results: tuple[Any, ...]) -> int:
    """Return how often the function is applied to elements."""
    size, taken = np.size(results[0]), np.size(inputs[0])
    if method in {"reduce", "reduceat"}:
        return max(taken - size, 0)
    if method == "accumulate":
        axis = kwargs.get("axis", 0)
        return taken - (taken // inputs[0].shape[axis] if taken else 0)
    where = kwargs.get("where", True)
    if method == "__call__" and where is not True:
        return int(np.count_nonzero(np.broadcast_to(where, np.shape(results[0]))))
    return size


def precision_of(values: Iterable[Any]) -> str | None:
    """Return the widest precision of some arrays, or None without floating-point numbers.

    Python's numbers have no precision.

    Examples
    --------
    >>> precision_of([np.ones(2, np.float32), np.ones(2, np.complex64), 2.5]), precision_of([np.ones(2, int)])
    ('fp32', None)
    """
    widths = [
        8 * dtype.itemsize // (2 if dtype.kind == "c" else 1)
        for dtype in (value.dtype for value in values if isinstance(value, (np.ndarray, np.generic)))
        if dtype.kind in "fc"
    ]
    return f"fp{max(widths)}" if widths else None
