"""Bytes of main memory that operations on numpy arrays move if nothing is cached."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def bytes_of(array: Array) -> int:
    """Return the bytes of memory that an array covers.

    An element that a stride of 0 repeats counts once, and overlapping windows count the memory below them once.

    Examples
    --------
    >>> row = np.zeros((1, 1024), np.float32)
    >>> bytes_of(row), bytes_of(np.broadcast_to(row, (1024, 1024))), bytes_of(row[:, ::2])
    (4096, 4096, 2048)
    >>> bytes_of(np.lib.stride_tricks.sliding_window_view(np.zeros(100), 10))
    800
    """
    if not array.size or array.flags.forc:
        return int(array.nbytes)
    steps: list[tuple[int, int]] = [
        (length, abs(stride)) for length, stride in zip(array.shape, array.strides, strict=True) if stride
    ]
    extent = int(array.itemsize) + sum((length - 1) * stride for length, stride in steps)
    elements = prod(length for length, _ in steps)
    return min(int(array.itemsize) * elements, extent)


def total_bytes(arrays: Iterable[Array]) -> int:
    """Return the bytes of some arrays. Arrays with the same elements of memory count once.

    Examples
    --------
    >>> a = np.zeros(10)
    >>> total_bytes([a, a]), total_bytes([a[:-1], a[1:]])
    (80, 144)
    """
    arrays = tuple(arrays)
    if len(arrays) == 1:
        return bytes_of(arrays[0])
    distinct = {
        (array.__array_interface__["data"][0], array.shape, array.strides, array.itemsize): array for array in arrays
    }
    return sum(bytes_of(array) for array in distinct.values())


def is_view(array: Array, operands: Iterable[Array]) -> bool:
    """Return whether an array shares memory with an operand.

    Examples
    --------
    >>> a = np.zeros((2, 3))
    >>> is_view(a.T, [a]), is_view(a.T.copy(), [a])
    (True, False)
    """
    return any(np.may_share_memory(array, operand) for operand in operands)
