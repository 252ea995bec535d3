"""Products and quotients of numbers of a file, which may be too large for a double, and what is said of integers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError
from roofwidget.support.precisions import is_integer


def integers_counted(keys: Iterable[str]) -> list[str]:
    """Return a warning if some of the FLOPs, which have these keys, are operations of integers.

    Examples
    --------
    >>> integers_counted(["fp32", "int8", "int8"])
    ['operations of integers are counted too, under int8: their unit is OP, not FLOP']
    """
    named = " and ".join(dict.fromkeys(filter(is_integer, keys)))
    return [f"operations of integers are counted too, under {named}: their unit is OP, not FLOP"] if named else []


def number_or_nan(value: object) -> float:
    """Return a number, or NaN for a text or another value that is none.

    Examples
    --------
    >>> number_or_nan("1e3"), number_or_nan(None), number_or_nan(10**400)
    (1000.0, nan, nan)
    """
    try:
        return float(value)  # type: ignore[arg-type]  # else a TypeError
    except (TypeError, ValueError, OverflowError):
        return math.nan


def product(error: Callable[[int], ProfileError], numbers: Floats, *factors: Floats | float) -> Floats:
    """Return the product of numbers; unknown numbers stay NaN.

    Parameters
    ----------
    error
        Returns the error for a row, which counts from 0.
    numbers, factors
        The numbers, shape (n,), and what they are multiplied with.

    Raises
    ------
    ProfileError
        If a product of known numbers is too large; the error for the first row that has one.

    Examples
    --------
    >>> product(lambda row: ProfileError("a.csv", "too large", row=row + 1), np.array([1.0, 2.0]), 1e9).tolist()
    [1000000000.0, 2000000000.0]
    """
    known = np.all([~np.isnan(part) for part in np.broadcast_arrays(numbers, *factors)], axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        found: Floats = functools.reduce(np.multiply, factors, numbers)
    is_too_large = known & ~np.isfinite(found)
    if is_too_large.any():
        raise error(int(np.argmax(is_too_large)))
    return found


def quotient(error: Callable[[int], ProfileError], amounts: Floats, divisors: Floats) -> Floats:
    """Return the quotient of numbers; NaN where a number is unknown or a divisor is 0.

    Parameters
    ----------
    error
        Returns the error for a row, which counts from 0.
    amounts, divisors
        The numbers, shape (n,).

    Raises
    ------
    ProfileError
        If a quotient is too large; the error for the first row that has one.

    Examples
    --------
    >>> quotient(lambda row: ProfileError("a.csv", "too large"), np.array([8.0, 1.0]), np.array([2.0, 0.0]))
    array([ 4., nan])
    """
    with np.errstate(over="ignore"):
        found: Floats = np.divide(amounts, divisors, out=np.full(len(amounts), np.nan), where=divisors != 0)
    if np.isinf(found).any():
        raise error(int(np.argmax(np.isinf(found))))
    return found
