"""Units as Nsight Compute writes them beside a number: ``Gbyte/second``, ``cycle/nsecond``, ``usecond``, ``ms``."""

from __future__ import annotations

import functools
import re
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats

__all__ = ["exponent", "first_bad", "in_base_units", "is_whole"]

_PREFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_UNITS: Final = "byte|second|cycle|inst|thread|sector|warp|block|register|request|hz|bit|op|ops|FLOP|B|s"
_PART: Final = re.compile(rf"([numKkMGTPE]?)({_UNITS})", re.IGNORECASE)
# Far above what any counter reaches, and far enough below the largest float that products of three stay finite.
_MOST: Final = 1e60
_WHOLE: Final = frozenset({"byte", "ns", "nsecond", "inst", "thread", "sector", "cycle", "warp", "block", "request"})


@functools.cache
def exponent(unit: str) -> int:
    """Return the power of ten from a unit to its base unit; 0 for a unit that has no prefix or is not known.

    Examples
    --------
    >>> exponent("Gbyte/second"), exponent("cycle/nsecond"), exponent("Kbyte/block"), exponent("ms"), exponent("%")
    (9, 9, 3, -3, 0)
    """
    above, _, below = unit.strip().partition("/")
    return _power(above) - _power(below)


def is_whole(unit: str) -> bool:
    """Whether an amount in this unit has no fraction, being a count.

    Examples
    --------
    >>> is_whole("byte"), is_whole("usecond")
    (True, False)
    """
    return unit.strip() in _WHOLE


def in_base_units(column: Floats, unit: str) -> Floats:
    """Return amounts in base units; those with a small prefix are divided, which keeps decimals exact.

    Examples
    --------
    >>> in_base_units(np.array([10720.0]), "nsecond").tolist()
    [1.072e-05]
    """
    power = exponent(unit)
    return column / 10.0**-power if power < 0 else column * 10.0**power


def first_bad(column: Floats) -> int | None:
    """Return the place of the first number that no metric can have: infinite, negative, or beyond 1e60.

    Examples
    --------
    >>> first_bad(np.array([1.0, np.nan, -2.0]))
    2
    """
    wrong = np.flatnonzero((column < 0) | (column > _MOST))
    return int(wrong[0]) if len(wrong) else None


def _power(part: str) -> int:
    found = _PART.fullmatch(part.strip())
    return _PREFIXES[found[1]] if found and found[1] in _PREFIXES else 0
