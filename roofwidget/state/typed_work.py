"""Checks the work that a user has typed for kernels whose FLOPs or bytes are unknown."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from traitlets import TraitError

from roofwidget import units
from roofwidget.kernels.columns import is_whole
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import did_you_mean

TypedWork: TypeAlias = Mapping[int, Mapping[str, float]]
"""``"flops"`` and ``"bytes"`` of one launch by row; a number that is left out stays unknown."""

_UNITS: Final = {"flops": "FLOP", "bytes": "B"}
MAX_AMOUNT: Final = 1e27
"""The most FLOPs or bytes of one launch. No kernel has so many; sums of them still fit a double."""


def read_only_work(given: Any) -> TypedWork:
    """Return typed work as read-only mappings, in ascending order of rows.

    Raises
    ------
    TypeError, ValueError
        If `given` is not a mapping from row numbers to mappings, or if an amount is neither a number from 0 to
        `MAX_AMOUNT` nor a text such as ``"4 TFLOP"``.
    """
    if not isinstance(given, Mapping) or not all(is_whole(row) and isinstance(w, Mapping) for row, w in given.items()):
        shape = "{'flops': number, 'bytes': number}"
        raise TypeError(f"expected a mapping from row numbers to {shape}, got {given!r:.60}")
    kept: dict[int, Mapping[str, float]] = {}
    for row in sorted(given):
        for word in given[row]:
            if word not in _UNITS:
                close = did_you_mean(str(word), _UNITS)
                raise ValueError(f"row {row} may have 'flops' and 'bytes', not {word!r:.40}{close}")
        amounts = {word: _amount(given[row][word], word, row) for word in _UNITS if word in given[row]}
        if amounts:
            kept[int(row)] = MappingProxyType(amounts)
    return MappingProxyType(kept)


def _amount(value: Any, word: str, row: int) -> float:
    what = f"'{word}' of row {row}"
    amount = units.parse(value, _UNITS[word], what)
    if not 0 <= amount <= MAX_AMOUNT:
        raise ValueError(f"{what} must be from 0 to {MAX_AMOUNT:g}, got {value!r:.40}")
    return amount


def check_is_unknown(work: TypedWork, kernels: Kernels) -> None:
    """Raise `TraitError` if a row does not exist, or if its FLOPs or bytes are known without the typed work."""
    for row, amounts in work.items():
        if row >= len(kernels):
            raise TraitError(f"typed_work: {row} is not a row of kernels, which has {len(kernels)}")
        for word, known in (("flops", kernels.flops), ("bytes", kernels.bytes)):
            if word in amounts and not np.isnan(known[row]):
                raise TraitError(
                    f"typed_work: the {'FLOPs' if word == 'flops' else word} of '{kernels.names[row]:.60}' (row {row}) "
                    "are known; kernels.with_work(work, replace=True) replaces them"
                )
