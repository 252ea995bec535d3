"""Bars of time: segments add up to the kernels' bounds, and all chips have the same work."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from roofwidget import Chip, Graph, Kernel, RooflineModel, dim
from roofwidget.companions import time_bars
from roofwidget.units import FIGURE_LIMITS

# FLOPs and bytes of the guide's four kernels, and peaks and bandwidths of its four chips, as printed.
KERNELS = {
    "LayerNorm": (2_684_354_560, 1_610_629_120),
    "Attention QK^T": (536_870_912, 4_980_736),
    "MatMul 600x600": (432_000_000, 2_160_000),
    "FFN Up Proj": (8_796_093_022_208, 2_818_572_288),
}
CHIPS = {
    "v7x (fp8)": (4614 * 10**12, Fraction(72, 10) * 10**12),
    "v7x (bf16)": (2307 * 10**12, Fraction(72, 10) * 10**12),
    "v6e": (918 * 10**12, Fraction(16, 10) * 10**12),
    "v5p": (459 * 10**12, Fraction(276, 100) * 10**12),
}
SMALL = Chip("Small", {"bf16": 100e12}, {"HBM": 1e12})
LARGE = Chip("Large", {"bf16": 400e12, "fp8": 800e12}, {"HBM": 2e12})


def segments(figure: Any) -> dict[str, list[float]]:
    bars = figure.marks[0]
    return dict(zip(bars.labels, bars.y.tolist(), strict=True))


def test_the_guides_kernels_take_on_each_chip_what_binds_them() -> None:
    figure = time_bars(RooflineModel())
    assert figure.marks[0].x.tolist() == list(CHIPS)
    expected: dict[str, list[float]] = {"compute": [], "memory": []}
    for peak, bandwidth in CHIPS.values():
        parts = {"compute": Fraction(0), "memory": Fraction(0)}
        for flops, moved in KERNELS.values():
            compute, memory = Fraction(flops, peak), moved / bandwidth
            parts["compute" if compute >= memory else "memory"] += max(compute, memory)
        for name, seconds in parts.items():
            expected[name].append(float(seconds))
    found = segments(figure)
    assert list(found) == ["compute", "memory"]
    assert all(found[name] == pytest.approx(column, rel=1e-12) for name, column in expected.items())


def test_by_kernel_the_longest_come_first_and_the_others_are_one_segment() -> None:
    kernels = [(f"k{i}", 0, i * 1e12) for i in range(1, 10)]
    figure = time_bars(RooflineModel([SMALL, LARGE], kernels), "kernel")
    assert segments(figure) == {
        **{f"k{i}": [float(i), i / 2] for i in range(9, 3, -1)},
        "3 others": [6.0, 3.0],
    }
    assert figure.title == "Bound time by kernel"


def test_launches_and_the_link_have_segments_of_their_own() -> None:
    chip = SMALL.replace(links={"ICI": 1e11})
    kernels = [
        Kernel("a", 4e14, 1e12),
        Kernel("tiny", 1e3, 1e3, count=4),
        Kernel("send", 0, {"network": 2e11, "HBM": 1}),
    ]
    model = RooflineModel([chip], kernels)
    figure = time_bars(model)
    model.launch_overhead = 0.25
    assert segments(figure) == {"compute": [4.0], "launches": [1.0], "network": [2.0]}


def test_bars_follow_chips_rates_and_kernels() -> None:
    model = RooflineModel([SMALL, LARGE], [("copy", 0, 2e12)])
    figure = time_bars(model)
    assert segments(figure) == {"memory": [2.0, 1.0]}
    model.bandwidth = "4 TB/s"
    assert segments(figure) == {"memory": [0.5, 1.0]}
    model.shown = ["large"]
    assert (figure.marks[0].x.tolist(), segments(figure)) == (["Large"], {"memory": [1.0]})
    model.kernels = [("matmul", 8e14, 1e9)]
    assert segments(figure) == {"compute": [2.0]}


def test_bars_follow_partition_dims_dtype_and_phase() -> None:
    graph = Graph("tail")
    x = graph.input("x", (dim("batch", 1, 64, default=1) * 1000, 250_000_000), "bf16")
    graph.output(graph.relu(graph.scale(x)))
    chip = Chip("Both", {"bf16": 1e14, "fp8": 1e14}, {"HBM": 1e12})
    model = RooflineModel([chip], graphs={"first": graph, "none": Graph("none")})
    figure = time_bars(model)
    # 5e11 bytes in and out, twice, at 1e12 bytes/s.
    assert segments(figure) == {"memory": [2.0]}
    model.partition = [[0, 1]]
    assert segments(figure) == {"memory": [1.0]}
    model.dims = {"batch": 3}
    assert segments(figure) == {"memory": [3.0]}
    model.dtype = "fp8"
    assert segments(figure) == {"memory": [1.5]}
    model.phase = "none"
    assert segments(figure) == {}


def test_a_kernel_that_one_chip_cannot_judge_is_left_out_of_all_and_told() -> None:
    kernels = [Kernel("a", 8e14, 1e9), Kernel("b", {"fp8": 8e14}, 1e9), Kernel("unknown", None, None)]
    figure = time_bars(RooflineModel([SMALL, LARGE], kernels))
    assert segments(figure) == {"compute": [8.0, 2.0]}
    assert figure.title.endswith("· 2 kernels left out, not known on all chips")


def test_a_chip_without_the_precision_has_no_bar_and_is_told() -> None:
    model = RooflineModel([SMALL, LARGE], [("a", 8e14, 1e9)])
    figure = time_bars(model)
    model.precision = "fp8"
    assert (figure.marks[0].x.tolist(), segments(figure)) == (["Large"], {"compute": [1.0]})
    assert figure.title.endswith("· no bound on 'Small'")


@pytest.mark.parametrize("by", ["resource", "kernel"])
@pytest.mark.parametrize("chips", [[], [SMALL], [SMALL, LARGE]])
@pytest.mark.parametrize("kernels", [[], [("unknown", None, None)], [("nothing", 0, 0)], [("huge", 1e300, 1e-300)]])
def test_empty_unknown_and_huge_numbers_are_drawn(chips: list[Chip], kernels: list[Any], by: str) -> None:
    model = RooflineModel(chips, kernels)
    figure = time_bars(model, by)
    if chips:
        model.peak_flops = FIGURE_LIMITS["FLOP/s"][0]
    bars, scale = figure.marks[0], figure.axes[1].scale
    assert (bars.y >= 0).all()
    assert 0 == scale.min < scale.max < float("inf")


def test_the_legend_stands_above_the_bars() -> None:
    figure = time_bars(RooflineModel([SMALL], [("copy", 0, 2e12)]))
    assert figure.axes[1].scale.max > 2.0


def test_another_way_to_stack_is_refused() -> None:
    with pytest.raises(ValueError, match="by must be 'resource' or 'kernel', got 'kernels'; did you mean 'kernel'"):
        time_bars(RooflineModel(), "kernels")


def test_bars_of_chips_with_long_names_are_wide_enough_for_them() -> None:
    model = RooflineModel(["h100-sxm", "h200-sxm", "v5p", "v6e", "mi300x", "b200"], [("matmul", 4e14, 1e12)])
    figure = time_bars(model)
    longest = max(len(name) for name in figure.marks[0].x)
    assert float(figure.layout.min_width.removesuffix("px")) >= 6 * longest * 6.6 + 96
    model.shown = ["v5p"]
    assert figure.layout.min_width == "760px"
    figure.layout.min_width = "300px"
    model.shown = ["v5p", "h200-sxm"]
    assert figure.layout.min_width == "300px"
