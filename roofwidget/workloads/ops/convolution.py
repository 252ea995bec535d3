"""Convolutions and pooling over tensors of shape (N, C, H, W)."""

from __future__ import annotations

from math import gcd
from typing import Literal, NamedTuple, TypeAlias

from roofwidget.workloads.expressions import Count, ceil_div, maximum, minimum
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import (
    COMPARE,
    DIVIDE,
    FMA,
    PADDING,
    Term,
    add,
    fail,
    multiply,
    named,
    positive,
    rank,
    weight,
    whole,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor

_Pair: TypeAlias = "int | tuple[int, int]"
"""One number for height and width, or one for each."""


@operator
def conv2d(
    graph: Graph,
    x: Tensor,
    channels: int,
    kernel: _Pair,
    *,
    stride: _Pair = 1,
    padding: _Pair = 0,
    dilation: _Pair = 1,
    groups: int = 1,
    bias: bool = False,
    algorithm: Literal["direct", "im2col"] = "direct",
    name: str | None = None,
) -> Tensor:
    """Convolve x, (N, Ci, H, W), with a new weight (Co, Ci / g, Kh, Kw): 2·N·Co·Ho·Wo·(Ci/g)·Kh·Kw FLOPs.

    With padding p, dilation d and stride s, Ho = ⌊(H + 2 p - d (Kh - 1) - 1) / s⌋ + 1. A convention that does not count
    padding leaves out the taps that fall on padding. x, weight, bias and output move once. With ``algorithm="im2col"``
    the matrix of patches is also written and read; it has N·Ho·Wo·Ci·Kh·Kw elements. ``groups = Ci`` is a depthwise
    convolution.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> y = g.conv2d(g.input("x", (1, 64, 56, 56), "fp16"), 64, 3, padding=1)
    >>> y.shape, g.count("flops"), round(g.count("flops") / g.count("bytes"))
    ((1, 64, 56, 56), 231211008, 264)
    """
    op = named(graph, name, "conv2d")
    rank(op, x, 4)
    images, inner, *size = x.shape
    if algorithm not in ("direct", "im2col"):
        raise fail(op, f"algorithm must be 'direct' or 'im2col', got {algorithm!r:.40}")
    taps, steps = _pair(op, "kernel", kernel, 1), _pair(op, "stride", stride, 1)
    edges, holes = _pair(op, "padding", padding, 0), _pair(op, "dilation", dilation, 1)
    positive(op, "channels", channels)
    each = whole(graph, op, f"channels of '{x.name}'", inner, positive(op, "groups", groups))
    whole(graph, op, "channels", channels, groups)
    axes = [_Axis(*axis) for axis in zip(size, taps, steps, edges, holes, strict=True)]
    height, width = (_extent(op, x, axis) for axis in axes)
    weights = [weight(graph, op, "weight", (channels, each, *taps), x.dtype)]
    out = Tensor(op, (images, channels, height, width), x.dtype)
    dense = height * taps[0] * width * taps[1]
    products = PADDING * dense + (1 - PADDING) * _valid(axes[0]) * _valid(axes[1]) if any(edges) else dense
    terms: list[Term] = [("multiply-adds", "tensor", FMA * images * channels * each * products)]
    if bias:
        weights.append(weight(graph, op, "bias", (channels,), x.dtype))
        terms.append(("bias", "vector", out.size))
    matrix = Tensor(f"{op}.matrix", (images, height, width, inner, *taps), x.dtype)
    extra = 2 * matrix.bytes if algorithm == "im2col" else 0
    loops = ("n(ge)yx", "(gf)ers", "(gf)") if groups > 1 else ("neyx", "fers", "f")
    index = f"{','.join(loops[: 1 + len(weights)])}->n{loops[2]}yx"
    return multiply(graph, [x, *weights], out, work(*terms), extra_bytes=extra, index=index)


@operator
def max_pool2d(
    graph: Graph,
    x: Tensor,
    kernel: _Pair,
    *,
    stride: _Pair | None = None,
    padding: _Pair = 0,
    name: str | None = None,
) -> Tensor:
    """Take the maximum of windows: Kh·Kw - 1 comparisons per output. `stride` is the kernel's size by default."""
    op = named(graph, name, "max_pool2d")
    rank(op, x, 4)
    taps = _pair(op, "kernel", kernel, 1)
    steps = _pair(op, "stride", taps if stride is None else stride, 1)
    edges = _pair(op, "padding", padding, 0)
    axes = [_Axis(*axis) for axis in zip(x.shape[2:], taps, steps, edges, (1, 1), strict=True)]
    out = Tensor(op, (*x.shape[:2], *(_extent(op, x, axis) for axis in axes)), x.dtype)
    done = work(("compare", "vector", (taps[0] * taps[1] - 1) * COMPARE * out.size))
    return add(graph, "reduction", [x], out, done, axes=(), index="ncyx->ncyx")


@operator
def global_average_pool(graph: Graph, x: Tensor, *, name: str | None = None) -> Tensor:
    """Average each channel's image, (N, C, H, W) to (N, C): H·W - 1 additions and one division per channel."""
    op = named(graph, name, "global_average_pool")
    rank(op, x, 4)
    out = Tensor(op, x.shape[:2], x.dtype)
    done = work(("add", "vector", x.size - out.size), ("divide", "vector", DIVIDE * out.size))
    return add(graph, "reduction", [x], out, done, axes=(2, 3))


def adaptive_windows(size: int, results: int) -> int:
    """Return the number of elements in all windows of adaptive pooling along an axis.

    Window i reaches from ⌊i size / results⌋ to ⌈(i + 1) size / results⌉, as in PyTorch. Two neighbours share an element
    unless their border is between two elements.

    Examples
    --------
    >>> adaptive_windows(12, 4), adaptive_windows(10, 4)
    (12, 12)
    """
    return size + results - gcd(size, results) if size and results else 0


class _Axis(NamedTuple):
    size: Count
    taps: int
    step: int
    edge: int
    hole: int

    @property
    def window(self) -> int:
        return self.hole * (self.taps - 1) + 1

    @property
    def positions(self) -> Count:
        return self.size + 2 * self.edge - self.window + 1

    @property
    def outputs(self) -> Count:
        return ceil_div(self.positions, self.step)


def _pair(op: str, word: str, value: _Pair, least: int) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, int) else tuple(value)
    if len(pair) != 2 or any(type(part) is not int or part < least for part in pair):  # noqa: PLR2004 - height, width
        raise fail(op, f"{word} must be an int of at least {least}, or two of them (height, width), got {value!r:.40}")
    return pair[0], pair[1]


def _extent(op: str, x: Tensor, axis: _Axis) -> Count:
    """Return the output's size along one axis."""
    if isinstance(axis.positions, int) and axis.positions < 1:
        raise fail(op, f"its window of {axis.window} does not fit into {x} with padding {axis.edge}")
    return axis.outputs


def _valid(axis: _Axis) -> Count:
    """Return along one axis the number of pairs of an output and a tap whose tap is on the image.

    Output o and tap t read the position ``o s + t d - p``. This position is on the image for ``⌈(p - t d) / s⌉ <= o <
    ⌈(size + p - t d) / s⌉``.
    """
    total: Count = 0
    for tap in range(axis.taps):
        first = max(0, -((tap * axis.hole - axis.edge) // axis.step))
        last = minimum(axis.outputs, ceil_div(axis.size + axis.edge - tap * axis.hole, axis.step))
        total = total + maximum(0, last - first)
    return total
