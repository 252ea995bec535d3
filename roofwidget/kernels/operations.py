"""Which operations of kernels are of integers: they are no FLOPs, and their unit is OP."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from roofwidget.chips import FLOP_CLASSES
from roofwidget.kernels.columns import Bools, frozen
from roofwidget.support.precisions import is_integer

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels


class Operations(NamedTuple):
    """Two masks, shape (n,).

    Parameters
    ----------
    integer
        Whether a kernel does operations of integers. Without operations, whether its precision is one of integers.
    mixed
        Whether a kernel does both operations of integers and FLOPs.
    """

    integer: Bools
    mixed: Bools

    def unit(self, row: int) -> str:
        """Return the unit of a kernel's operations: ``FLOP``, or ``OP`` if operations of integers are among them."""
        return "OP" if self.integer[row] else "FLOP"

    @property
    def units(self) -> set[str]:
        """The units that occur."""
        return {"OP" if is_integer else "FLOP" for is_integer in np.unique(self.integer).tolist()}

    @property
    def common(self) -> str:
        """The unit of all kernels: ``FLOP`` or ``OP``. If they differ, ``OP``: a FLOP is an operation too."""
        return "OP" if self.integer.any() else "FLOP"


def operations_of(kernels: Kernels, asked: str = "") -> Operations:
    """Return which kernels do operations of integers.

    Parameters
    ----------
    kernels
        The table.
    asked
        The precision of kernels that have no precision of their own.

    Examples
    --------
    >>> import roofwidget as rw
    >>> table = rw.Kernels(["matmul", "quantized", "both"], {"bf16": [1, np.nan, 1], "int8": [np.nan, 1, 2]}, [1, 1, 1])
    >>> found = operations_of(table)
    >>> [found.unit(row) for row in range(3)], found.mixed.tolist()
    (['FLOP', 'OP', 'OP'], [False, False, True])
    """
    asked_integer = kernels.codes("precision").where(lambda word: is_integer(word or asked))
    keys = kernels.flops_by_precision
    none = np.zeros(len(kernels), dtype=np.bool_)
    if not asked_integer.any() and not any(map(is_integer, keys)):
        return Operations(frozen(none), frozen(none))
    integer, floating = none.copy(), none.copy()
    for key, flops in keys.items():
        is_own = not key or key in FLOP_CLASSES
        of_integers = asked_integer if is_own else np.broadcast_to(is_integer(key), len(kernels))
        integer |= (flops > 0) & of_integers
        floating |= (flops > 0) & ~of_integers
    mixed = integer & floating
    return Operations(frozen(integer | (asked_integer & ~floating)), frozen(mixed))
