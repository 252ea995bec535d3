"""The smallest matrix products and batches that are compute-bound on a chip."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from roofwidget import units
from roofwidget.chips import Chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import real_number
from roofwidget.support.did_you_mean import keywords

# Two times are a tie if their relative difference is below this tolerance. As in `bound`, a tie is compute-bound.
_TIE_TOLERANCE: Final = Fraction(1, 10**12)


@keywords("smallest_square_matmul")
def smallest_square_matmul(
    chip: Chip | str, *, precision: str = "auto", memory: str = "main", itemsize: float | str = 2
) -> int:
    """Return the smallest N for which the product of two N by N matrices is compute-bound.

    The product does ``2 N^3`` FLOPs and moves three matrices, so its intensity is ``2 N / (3 itemsize)``. So N is ``1.5
    itemsize`` times the ridge point, rounded up. For 2-byte items N is three times the ridge point.

    Parameters
    ----------
    chip
        A chip, or its name in the catalogue.
    precision
        The precision of the peak; ``"auto"`` for the chip's default.
    memory
        The level that holds the matrices; ``"main"`` for the chip's off-chip memory.
    itemsize
        Bytes per element of all three matrices, or text such as ``"2 B"``.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the bandwidth.
    ValueError
        If the item size is not above zero.

    Examples
    --------
    >>> from roofwidget import preset
    >>> [smallest_square_matmul(chip) for chip in preset("tpu-roofline-guide").chips]
    [1923, 962, 1722, 499]
    """
    peak, bandwidth = _rates(chip, precision, memory)
    # Exact fractions, because a rounding error close to a whole number would change the result by 1.
    crossing = Fraction(peak) * 3 * Fraction(_bytes(itemsize, "itemsize")) / (2 * Fraction(bandwidth))
    return math.ceil(crossing / (1 + _TIE_TOLERANCE))


@keywords("critical_batch")
def critical_batch(
    chip: Chip | str,
    d: float | None = None,
    f: float | None = None,
    *,
    precision: str = "auto",
    memory: str = "main",
    weight_bytes: float | str = 2,
    activation_bytes: float | str = 2,
    output_bytes: float | str | None = None,
) -> float:
    """Return the smallest batch B at which a layer, ``[B, D] x [D, F]``, is compute-bound.

    R is the ridge point; e, w and o are bytes per element of input, weights and output. Compute and memory take the
    same time if ``2 B D F = R (B D e + D F w + B F o)``, so ``B = R D F w / (2 D F - R (D e + F o))``. For layers much
    larger than the batch, B is ``R w / 2``.

    Parameters
    ----------
    chip
        A chip, or its name in the catalogue.
    d, f
        Rows and columns of the weights. If both are None, the result is for layers much larger than the batch.
    precision
        The precision of the arithmetic, which may be wider than the weights; ``"auto"`` for the chip's default.
    memory
        The level that holds the weights and activations.
    weight_bytes, activation_bytes, output_bytes
        Bytes per element of the weights (w), of the input (e) and of the output (o, by default as the input).

    Returns
    -------
    float
        Tokens or samples, not rounded; infinite if the layer is too small to be compute-bound at any batch.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the bandwidth.
    ValueError
        If only one of `d` and `f` is given, or a number is not above zero.

    Examples
    --------
    >>> from roofwidget.chips import Chip
    >>> h100 = Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})
    >>> round(critical_batch(h100), 1), round(critical_batch(h100, 4096, 4096), 1)
    (295.2, 344.9)
    """
    peak, bandwidth = _rates(chip, precision, memory)
    weight = _bytes(weight_bytes, "weight_bytes")
    moved_in = _bytes(activation_bytes, "activation_bytes")
    moved_out = moved_in if output_bytes is None else _bytes(output_bytes, "output_bytes")
    ridge = peak / bandwidth
    if d is None and f is None:
        return ridge * weight / 2
    if d is None or f is None:
        raise ValueError(f"critical_batch needs both d and f, or neither: {'d' if d is None else 'f'} is missing")
    rows, columns = _above_zero(d, "d"), _above_zero(f, "f")
    # The formula over D F, because the product of two large numbers may be more than a double holds.
    left = 2 - ridge * (moved_in / columns + moved_out / rows)
    return ridge * weight / left if left > 0 else math.inf


@keywords("critical_batch_per_chip")
def critical_batch_per_chip(
    chip: Chip | str, *, precision: str = "auto", bandwidth: float | str | None = None, gradient_bytes: float | str = 2
) -> float:
    """Return the smallest batch B per chip at which data-parallel training hides the exchange of its gradients.

    The backward pass of a layer with D by F weights does ``4 B D F`` FLOPs per chip. Its gradients are ``g D F`` bytes,
    with g bytes per element. To all-reduce these gradients, the chip sends ``2 g D F`` bytes. From ``B = g P / (2 W)``
    on, compute takes longer than the all-reduce; P is the peak and W the bandwidth. For 2-byte gradients this B is ``P
    / W``, the ridge point of the network.

    Parameters
    ----------
    chip
        A chip, or its name in the catalogue.
    precision
        The precision of the peak; ``"auto"`` for the chip's default.
    bandwidth
        bytes/s that a chip sends over all links that transport the gradients, or text such as ``"180 GB/s"``; None for
        all links of the chip. Along one axis of a torus give twice the bandwidth of one link, because the axis has one
        link per direction.
    gradient_bytes
        Bytes per element of the gradients (g).

    Returns
    -------
    float
        Tokens or samples per chip, not rounded.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision, or has no link and no bandwidth is given.
    ValueError
        If a number is not above zero.

    Examples
    --------
    >>> from roofwidget.chips import Chip
    >>> v5p = Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12})
    >>> critical_batch_per_chip(v5p, bandwidth=2 * 9e10)
    2550.0
    """
    found = look_up(chip)
    sent = found.link_bandwidth() if bandwidth is None else units.figure(bandwidth, "B/s", "bandwidth")
    return _bytes(gradient_bytes, "gradient_bytes") * found.peak(precision) / (2 * sent)


def _rates(chip: Chip | str, precision: str, memory: str) -> tuple[float, float]:
    found = look_up(chip)
    return found.peak(precision), found.bandwidth(memory)


def _bytes(value: float | str, what: str) -> float:
    return units.positive(units.parse(value, "B", what), what)


def _above_zero(value: float, what: str) -> float:
    return _bytes(real_number(value, what), what)
