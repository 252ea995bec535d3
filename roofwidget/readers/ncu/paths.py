"""The counters ``sm__ops_path_tensor_*``, which count FLOPs of tensor cores themselves: no factor, but they overlap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats, sum_of_known
from roofwidget.readers.ncu.evidence import Told, amount, nothing, texts_where
from roofwidget.readers.ncu.launches import Launches

__all__ = ["PATH", "Mask", "Paths", "by_path"]

Mask: TypeAlias = npt.NDArray[np.bool_]

PATH: Final = re.compile(
    r"(?P<base>sm__ops_path_tensor_(?:op_(?P<unit>[a-z0-9]+)_)?src_(?P<src>[a-z0-9_]+?)"
    r"(?:_dst_(?P<dst>[a-z0-9]+))?(?:_sparsity_(?P<sparsity>on|off))?)\.sum(?P<form>\..*)?"
)


@dataclass(frozen=True, eq=False)
class Paths:
    """What the counters of arithmetic paths tell.

    Parameters
    ----------
    flops
        FLOPs by what is multiplied, NaN where there are none of it.
    total
        Over all kinds, shape (n,): 0 where all counters are 0, NaN where none was read.
    sparse
        Where some were counted with structured sparsity, shape (n,).
    """

    flops: Mapping[str, Told]
    total: Floats
    sparse: Mask


def by_path(launches: Launches) -> Paths:
    """Return the FLOPs of each launch by what its tensor cores multiply.

    Of one source type, the counter of all is the sum of those with and without sparsity, of those of each result, and
    of those of each unit (``op_hmma``); any of them may be missing, and on new chips those of units read 0. So the
    largest of an amount and the sums of its parts is taken.
    """
    n = len(launches)
    kinds: dict[str, dict[str, dict[str, dict[str, Told]]]] = {}
    sparse = np.zeros(n, dtype=np.bool_)
    bases = {found["base"]: found for found in map(PATH.fullmatch, launches.metrics) if found}
    for base, part in bases.items():
        told = amount(launches, [base])
        units = kinds.setdefault(part["src"], {})
        units.setdefault(part["unit"] or "", {}).setdefault(part["dst"] or "", {})[part["sparsity"] or ""] = told
        sparse |= (part["sparsity"] == "on") & (told.values > 0)
    by_source = {
        source: _largest(
            {unit: _largest({dst: _largest(on, n) for dst, on in dsts.items()}, n) for unit, dsts in units.items()}, n
        )
        for source, units in kinds.items()
    }
    flops: dict[str, Told] = {}
    # The narrowest first: a counter that several types share is used where none of their own tells more.
    for source in sorted(by_source, key=lambda word: word.count("_")):
        told = by_source[source]
        types = source.split("_")
        own = [by_source[other].values for other in by_source if other != source and {*other.split("_")} < {*types}]
        used = told.where((told.values > 0) & ~(sum_of_known(own, n) > 0))
        flops[types[-1]] = flops[types[-1]].or_else(used) if types[-1] in flops else used
    used_values = [told.values for told in flops.values()]
    read = [told.values for told in by_source.values()]
    total = np.where(np.isnan(sum_of_known(read, n)), np.nan, np.nan_to_num(sum_of_known(used_values, n)))
    return Paths({key: told for key, told in flops.items() if told.is_known.any()}, total, sparse)


def _largest(parts: Mapping[str, Told], n: int) -> Told:
    """Return the larger of the whole, under ``""``, and the sum of the other parts."""
    whole = parts.get("", nothing(n))
    others = [told for key, told in parts.items() if key]
    summed = sum_of_known([told.values for told in others], n)
    is_more = summed > np.nan_to_num(whole.values, nan=-1)
    texts = (texts_where(told.values > 0, told.rules) for told in others)
    rules = np.array([_named(row) for row in zip(*texts, strict=True)] or [None] * n, dtype=object)
    return Told(np.where(is_more, summed, whole.values), np.where(is_more, rules, whole.rules))


def _named(rules: Iterable[str | None]) -> str | None:
    return " + ".join(rule for rule in rules if rule) or None
