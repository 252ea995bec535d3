"""Convolutions and pooling: shapes, FLOPs with and without padding, bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads import Graph, dim
from tests.workloads.test_ops import counted, inputs


def taps_on_the_image(size: int, taps: int, stride: int, padding: int, dilation: int) -> tuple[int, int]:
    outputs = (size + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
    valid = sum(0 <= o * stride + t * dilation - padding < size for o in range(outputs) for t in range(taps))
    return outputs, valid


@given(
    height=st.integers(5, 12),
    width=st.integers(5, 12),
    kh=st.integers(1, 3),
    kw=st.integers(1, 3),
    stride=st.integers(1, 3),
    padding=st.integers(0, 3),
    dilation=st.integers(1, 2),
    groups=st.sampled_from([1, 2, 4]),
)
def test_conv2d_with_and_without_the_taps_on_padding(
    *, height: int, width: int, kh: int, kw: int, stride: int, padding: int, dilation: int, groups: int
) -> None:
    g = Graph()
    y = g.conv2d(
        *inputs(g, x=(2, 4, height, width)),
        8,
        (kh, kw),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    ho, valid_h = taps_on_the_image(height, kh, stride, padding, dilation)
    wo, valid_w = taps_on_the_image(width, kw, stride, padding, dilation)
    each = 4 // groups
    assert y.shape == (2, 8, ho, wo)
    assert counted(g) == (
        2 * 2 * 8 * ho * wo * each * kh * kw,
        2 * (2 * 4 * height * width + 8 * each * kh * kw + 2 * 8 * ho * wo),
    )
    assert g.with_convention("xla").count("flops") == 2 * 2 * 8 * each * valid_h * valid_w
    symbolic = Graph(convention="xla")
    h = dim("h", 1, 100, default=height)
    symbolic.conv2d(
        symbolic.input("x", (2, 4, h, width), "bf16"),
        8,
        (kh, kw),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    assert symbolic.count("flops") == 2 * 2 * 8 * each * valid_h * valid_w


def test_im2col_writes_and_reads_its_matrix() -> None:
    direct, columns = Graph(), Graph()
    for g, algorithm in ((direct, "direct"), (columns, "im2col")):
        g.conv2d(*inputs(g, x=(1, 3, 8, 8)), 4, 3, padding=1, bias=True, algorithm=algorithm)
    assert columns.count("flops") == direct.count("flops") == 2 * 4 * 64 * 27 + 4 * 64
    assert columns.count("bytes") - direct.count("bytes") == 2 * 2 * 64 * 27


def test_pooling() -> None:
    g = Graph()
    (x,) = inputs(g, "fp32", x=(1, 64, 112, 112))
    y = g.max_pool2d(x, 3, stride=2, padding=1)
    assert y.shape == (1, 64, 56, 56)
    assert g.flops("max_pool2d") == 8 * 64 * 56 * 56
    z = g.global_average_pool(y)
    assert z.shape == (1, 64)
    assert g.flops("global_average_pool") == 64 * 56 * 56
