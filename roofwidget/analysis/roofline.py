"""The roofline arithmetic: the least time that a kernel can take on a chip. The functions take and return arrays.

The roofline (Williams, Waterman and Patterson, CACM 52(4), 2009) is written as times: a kernel needs ``compute_time =
sum of FLOPs / peak`` and ``memory_time = max over levels of bytes / bandwidth``. The bound is the larger of the two
times. If the kernel's bytes over the link or its launches need longer, the bound is their time. All other quantities
follow from these times (see `roofwidget.analysis.result`), and zero FLOPs or zero bytes need no special case.

`js/src/roofline/roofline.ts` has the same formulas, for use during drags. The tests compare both with
`tests/golden/roofline.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats, Scalar, number_or_array, quantity, real, unwarned
from roofwidget.kernels.metadata import Rows


@overload
def attainable(ai: Scalar, peak_flops: Scalar, bandwidth: Scalar) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def attainable(ai: npt.ArrayLike, peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> Floats: ...
@unwarned
def attainable(ai: npt.ArrayLike, peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> float | Floats:
    """Return the highest rate that a roofline allows: ``min(peak_flops, ai * bandwidth)``.

    Parameters
    ----------
    ai
        Arithmetic intensity, FLOP/byte; infinite if no bytes are moved.
    peak_flops
        Peak rate, FLOP/s, or text such as ``"989 TFLOP/s"``.
    bandwidth
        Memory bandwidth, bytes/s, or text such as ``"3.35 TB/s"``.

    Returns
    -------
    float or numpy.ndarray
        FLOP/s: a float for numbers, an array of the broadcast shape for arrays; NaN where `ai` is NaN.

    Raises
    ------
    ValueError
        If an intensity is negative, or a peak or bandwidth is not finite and above zero.

    Examples
    --------
    >>> attainable([1.0, 100.0, 1000.0], 2.307e15, 7.2e12).tolist()
    [7200000000000.0, 720000000000000.0, 2307000000000000.0]
    """
    intensity = real(ai, "FLOP/B", "ai")
    if (intensity < 0).any():
        raise ValueError(f"ai must not be negative, got {intensity[intensity < 0].flat[0]}")
    peak, speed = _rates(peak_flops, bandwidth)
    return number_or_array(np.asarray(np.minimum(peak, intensity * speed)))


@overload
def ridge_point(peak_flops: Scalar, bandwidth: Scalar) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def ridge_point(peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> Floats: ...
@unwarned
def ridge_point(peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> float | Floats:
    """Return the lowest intensity at which a kernel can be compute-bound: ``peak_flops / bandwidth``, FLOP/byte.

    For numbers the result is a float, for arrays an array of the broadcast shape.

    Raises
    ------
    ValueError
        If a peak or bandwidth is not finite and above zero.

    Examples
    --------
    >>> round(ridge_point(2.307e15, 7.2e12), 1)
    320.4
    """
    peak, speed = _rates(peak_flops, bandwidth)
    return number_or_array(np.asarray(peak / speed))


def _rates(peak_flops: npt.ArrayLike, bandwidth: npt.ArrayLike) -> tuple[Floats, Floats]:
    peak = quantity(peak_flops, "FLOP/s", "peak_flops", above_zero=True)
    return peak, quantity(bandwidth, "B/s", "bandwidth", above_zero=True)


def join_times(
    compute: Floats, memory: Floats, network: Floats, overhead: Floats, *, overlap: float, exposed: float
) -> tuple[Floats, Floats]:
    """Return the body (seconds of compute and memory combined), and the bound (body, link and launches combined)."""
    body = np.maximum(compute, memory)
    if overlap < 1:
        # Adding to the larger time makes the result exactly the larger time at an overlap of 1, without a rounding
        # error.
        body = body + (1 - overlap) * np.minimum(compute, memory)
    time = body / (1 - exposed)
    for outside in (network, overhead):
        if outside.ndim:
            time = np.maximum(time, outside)
    return body, time


def slowest_level(times: Mapping[str, Floats], judged: tuple[str, ...], n: int) -> tuple[Floats, Rows | np.intp]:
    """Return the largest known time over the `judged` levels, and the position of this level, both of shape (n,).

    The time is NaN where the times of all levels are unknown.
    """
    unknown = np.broadcast_to(np.nan, n)
    of_levels = [times.get(level, unknown) for level in judged] or [unknown]
    if len(of_levels) == 1:
        return of_levels[0], np.intp(0)
    stacked = np.stack(of_levels)
    known = np.where(np.isnan(stacked), -np.inf, stacked)
    index = known.argmax(axis=0)
    largest = known.max(axis=0)
    return np.where(np.isneginf(largest), np.nan, largest), index
