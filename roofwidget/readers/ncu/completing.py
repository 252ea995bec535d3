"""FLOPs that the user gives by kernel name, for launches of which no counter tells them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from roofwidget import units
from roofwidget.kernels.columns import folded
from roofwidget.readers.ncu.paths import Mask
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.op import Op

__all__ = ["Given", "matched"]

Given: TypeAlias = Mapping[str, "float | str | Mapping[str, float | str] | Op"]
"""FLOPs of one launch by a regular expression that is searched for in kernels' names."""

_SHOWN: Final = 60


def matched(
    given: Given, names: list[str], is_unknown: Mask
) -> tuple[dict[int, tuple[dict[str, float], str | None, str]], list[str]]:
    """Return for each row that is completed its FLOPs by precision, its precision and the rule; and remarks.

    The first pattern that is found in a name is the one that counts.

    Raises
    ------
    ValueError
        If a pattern is no regular expression, is found in no name (the message says which are near), or a number is
        bad.
    TypeError
        If `given` is no mapping, or a value is none of a number, text, a mapping by precision and an `Op`.
    """
    if not isinstance(given, Mapping):
        msg = f"flops must map patterns of kernels' names to FLOPs of one launch, got {type(given).__name__}"
        raise TypeError(msg)
    found: dict[int, tuple[dict[str, float], str | None, str]] = {}
    remarks: list[str] = []
    for pattern, value in given.items():
        test = _compiled(pattern)
        rows = [row for row, name in enumerate(names) if test.search(name)]
        if not rows:
            close = nearest(pattern, names) or list(dict.fromkeys(names))
            shown = listed(name[:_SHOWN] for name in close[:3])
            msg = f"flops: no kernel's name holds '{pattern}'; there are {shown}"
            raise ValueError(msg)
        flops, precision = _of_launch(value, pattern)
        open_rows = [row for row in rows if is_unknown[row]]
        if not open_rows:
            remarks.append(f"flops: all {len(rows)} launches that hold '{pattern}' were counted; counts were kept")
        for row in open_rows:
            found.setdefault(row, (flops, precision, f"given for names that hold '{pattern}'"))
    return found, remarks


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        msg = f"flops: {pattern!r:.60} is no regular expression: {error}"
        raise ValueError(msg) from None


def _of_launch(value: Any, pattern: str) -> tuple[dict[str, float], str | None]:
    """Return FLOPs of one launch by precision or class, and the precision that judges them."""
    what = f"flops['{pattern}']"
    if isinstance(value, Op):
        kernel = Graph(value.name, [value], value.outputs).kernels()[0]
        told = kernel.flops
        return dict(told) if isinstance(told, Mapping) else {"": float(told or 0.0)}, kernel.precision
    if isinstance(value, Mapping):
        if not value:
            msg = f"{what} is empty; give FLOPs by precision, such as {{'bf16': 1e12}}"
            raise ValueError(msg)
        parts = {folded(key): _number(number, f"{what}['{key}']") for key, number in value.items()}
        return parts, max(parts, key=lambda key: parts[key]) or None
    if callable(value) or isinstance(value, (bool, np.bool_)):
        msg = f"{what} must be a number, text such as '155 GFLOP', a mapping by precision or an Op, got {value!r:.40}"
        raise TypeError(msg)
    return {"": _number(value, what)}, None


def _number(value: object, what: str) -> float:
    return units.finite(units.parse(value, "FLOP", what), what)
