"""The roofline exercise of the deep-ml collection (number 415), with plain numbers and dicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import real_number
from roofwidget.support.did_you_mean import keywords, listed

_FLOPS, _BYTES, _NAME = "flops", "memory_bytes", "name"
_NEEDED: Final = (_FLOPS, _BYTES)


@keywords("roofline_analysis")
def roofline_analysis(
    operations: Iterable[Mapping[str, Any]], peak_compute: float, peak_bandwidth: float
) -> list[dict[str, Any]]:
    """Return the answers of the exercise: the attainable rate of each operation, and what bounds it.

    All digits equal the digits of the exercise's own solution: the order of operations and the rounding are the same.
    There is one exception: an operation with bytes and no FLOPs, such as a copy. This function returns the time of the
    bytes, ``memory_bytes / peak_bandwidth``. The exercise's solution divides zero FLOPs by a rate of zero and returns
    an infinite time.

    Parameters
    ----------
    operations
        Dicts with ``flops``, ``memory_bytes`` and optionally ``name``; other keys are ignored.
    peak_compute
        FLOP/s.
    peak_bandwidth
        bytes/s.

    Returns
    -------
    list of dict
        For each operation ``name``; ``arithmetic_intensity``, FLOP/byte, 4 decimals, infinite for zero bytes;
        ``attainable_flops``, FLOP/s, 4 decimals; ``bound``, which is ``compute-bound`` from the ridge point on and
        ``memory-bound`` below it; ``efficiency``, percent of the peak, 2 decimals; ``estimated_time_s``, seconds, 8
        decimals. An operation without FLOPs and bytes is compute-bound at infinite intensity and takes no time.

    Raises
    ------
    TypeError
        If an operation is not a mapping, or a figure is not a number: the message names the operation and the key.
    ValueError
        If a key is missing, a figure is negative, NaN, infinite or too large for a double, or a peak is not above zero.

    Examples
    --------
    >>> copy, add = roofline_analysis(
    ...     [{"name": "copy", "flops": 0, "memory_bytes": 8e6}, {"flops": 1e6, "memory_bytes": 12e6}], 1e14, 2e12
    ... )
    >>> copy["bound"], copy["estimated_time_s"]
    ('memory-bound', 4e-06)
    >>> add["arithmetic_intensity"], add["attainable_flops"], add["efficiency"], add["estimated_time_s"]
    (0.0833, 166666666666.6667, 0.17, 6e-06)
    """
    peak, bandwidth = _number(peak_compute, "peak_compute"), _number(peak_bandwidth, "peak_bandwidth")
    for what, rate in (("peak_compute", peak), ("peak_bandwidth", bandwidth)):
        if rate == 0:
            raise ValueError(f"{what} must be above zero")
    ridge_point = peak / bandwidth
    return [
        _answer(_checked(operation, index), peak, bandwidth, ridge_point) for index, operation in enumerate(operations)
    ]


def _answer(
    operation: Mapping[str, Any], peak_compute: float, peak_bandwidth: float, ridge_point: float
) -> dict[str, Any]:
    flops, moved = operation[_FLOPS], operation[_BYTES]
    # The order of operations is the exercise's: another order changes the last digit after rounding.
    intensity = flops / moved if moved else math.inf
    attainable = min(peak_compute, intensity * peak_bandwidth)
    seconds = flops / attainable if attainable else moved / peak_bandwidth
    return {
        "name": operation[_NAME],
        "arithmetic_intensity": round(intensity, 4),
        "attainable_flops": round(attainable, 4),
        "bound": "memory-bound" if intensity < ridge_point else "compute-bound",
        "efficiency": round(attainable / peak_compute * 100, 2),
        "estimated_time_s": round(seconds, 8),
    }


def _checked(operation: Any, index: int) -> Mapping[str, Any]:
    if not isinstance(operation, Mapping):
        raise TypeError(f"operation {index}: expected a dict with 'flops' and 'memory_bytes', got {operation!r:.60}")
    for key in _NEEDED:
        if key not in operation:
            raise ValueError(
                f"operation {index} has no key '{key}'; it has {listed(map(str, operation)) or 'none at all'}"
            )
    figures = {key: _number(operation[key], f"operation {index}: '{key}'") for key in _NEEDED}
    return {_NAME: operation.get(_NAME, ""), **figures}


def _number(value: Any, what: str) -> Any:
    real_number(value, what)
    try:
        bad = not math.isfinite(value) or value < 0
    except OverflowError:
        raise ValueError(f"{what} does not fit a double-precision number") from None
    if bad:
        raise ValueError(f"{what} must be a finite number that is not negative, got {value!r}")
    # Convert numpy scalars: all answers are Python's own numbers.
    return int(value) if isinstance(value, np.integer) else float(value) if isinstance(value, np.floating) else value
