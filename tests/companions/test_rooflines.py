"""The bqplot roofline shows the model's content, follows it, and passes only values that a log scale accepts."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from roofwidget import Chip, Graph, Kernel, Kernels, RooflineModel, dim
from roofwidget.companions import parts, roofline_figure
from roofwidget.companions.parts import bqplot
from roofwidget.units import FIGURE_LIMITS
from tests.places import ROOT, text_of
from tests.processes import run_python
from tests.tables import has_columns

SMALL = Chip("Small", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12, "L2": 10e12})
LARGE = Chip("Large", {"bf16": 400e12}, {"HBM": 2e12})
KERNELS = [("matmul", 4e9, 1e7, 1e-4), ("copy", 0, 8e6, 1e-5), ("planned", 4e9, 1e7)]


@pytest.fixture
def model() -> RooflineModel:
    return RooflineModel([SMALL, LARGE], KERNELS)


@pytest.fixture
def figure(model: RooflineModel) -> Any:
    return roofline_figure(model)


def roofs(figure: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Return intensities and rates of each line by label."""
    lines = figure.marks[0]
    return {
        label: (x.tolist(), y.tolist())
        for label, x, y in zip(lines.labels, np.atleast_2d(lines.x), np.atleast_2d(lines.y), strict=True)
    }


def test_each_shown_chip_has_a_roof_that_bends_at_its_ridge_point(figure: Any) -> None:
    drawn = roofs(figure)
    assert list(drawn) == ["Small", "Large"]
    x, y = drawn["Small"]
    assert x[1] == 100.0
    assert y == [pytest.approx(x[0] * 1e12), 100e12, 100e12]


def test_a_roof_that_hides_another_says_so(model: RooflineModel, figure: Any) -> None:
    model.set_what_if("Large", peak_flops="100 TFLOP/s", bandwidth="1 TB/s")
    assert list(roofs(figure)) == ["Small", "Large (same line as Small)"]
    model.reset()
    assert list(roofs(figure)) == ["Small", "Large"]


def test_a_roof_follows_a_change_of_bandwidth(model: RooflineModel, figure: Any) -> None:
    model.bandwidth = "4 TB/s"
    x, y = roofs(figure)["Small"]
    assert x[1] == 25.0
    assert y[0] == pytest.approx(x[0] * 4e12)


def test_a_roof_follows_a_change_of_the_peak_and_its_reset(model: RooflineModel, figure: Any) -> None:
    model.set_what_if("Large", peak_flops="1 PFLOP/s")
    assert max(roofs(figure)["Large"][1]) == 1e15
    model.reset()
    assert max(roofs(figure)["Large"][1]) == 400e12


def test_roofs_follow_the_chips_and_those_shown(model: RooflineModel, figure: Any) -> None:
    model.shown = ["large"]
    assert list(roofs(figure)) == ["Large"]
    model.chips = [Chip("Other", {"fp32": 1e12}, {"DRAM": 1e11})]
    assert list(roofs(figure)) == ["Other"]


def test_roofs_follow_the_precision_and_a_chip_without_it_has_none(model: RooflineModel, figure: Any) -> None:
    model.precision = "fp8"
    drawn = roofs(figure)
    assert list(drawn) == ["Small"]
    assert max(drawn["Small"][1]) == 200e12


def test_roofs_and_kernels_follow_the_memory(model: RooflineModel, figure: Any) -> None:
    model.kernels = [Kernel("cached", 4e9, {"HBM": 1e6, "L2": 1e8}, time=1e-3)]
    assert figure.marks[2].x.tolist() == [4000.0]
    model.memory = "L2"
    assert roofs(figure)["Small"][0][1] == 10.0
    assert figure.marks[2].x.tolist() == [40.0]


def test_the_focus_chip_stands_out(model: RooflineModel, figure: Any) -> None:
    lines, heavy = figure.marks[:2]
    assert (lines.stroke_width, heavy.stroke_width) == (2, 4)
    assert (heavy.y.max(), heavy.colors) == (100e12, lines.colors[:1])
    model.focus_chip = "large"
    assert (heavy.y.max(), heavy.colors) == (400e12, lines.colors[1:])


def test_a_chip_keeps_its_colour_when_another_is_hidden(model: RooflineModel, figure: Any) -> None:
    before = figure.marks[0].colors
    assert len(set(before)) == 2
    model.shown = ["large"]
    assert figure.marks[0].colors == before[1:]


def test_a_kernel_is_shown_when_its_flops_bytes_and_time_are_known_and_above_zero(figure: Any) -> None:
    points = figure.marks[2]
    has_columns(points, names=["matmul"], x=[400.0], y=pytest.approx([4e13]))


def test_a_kernel_with_an_intensity_and_a_rate_is_shown_at_the_main_memory(model: RooflineModel, figure: Any) -> None:
    model.kernels = Kernels(["triad", "spmv"], intensity=[0.083, 0.17], rate=[15.4e9, math.nan])
    measured, hollow = figure.marks[2:4]
    has_columns(measured, names=["triad"], x=[0.083], y=[15.4e9])
    has_columns(hollow, names=["spmv"], x=[0.17], y=pytest.approx([0.17e12]))
    model.memory = "L2"
    assert [len(mark.names) for mark in (measured, hollow)] == [0, 0]


def test_a_kernel_that_was_not_measured_is_hollow_on_the_focus_chips_roof(model: RooflineModel, figure: Any) -> None:
    hollow = figure.marks[3]
    assert not hollow.fill
    has_columns(hollow, names=["planned"], x=[400.0], y=pytest.approx([100e12]))
    model.focus_chip = "large"
    assert hollow.y.tolist() == pytest.approx([400e12])
    model.kernels = [("low", 1e9, 1e9)]
    has_columns(hollow, x=[1.0], y=[2e12])


def test_a_chip_without_the_precision_of_a_kernel_has_no_place_for_it(model: RooflineModel, figure: Any) -> None:
    model.kernels = [Kernel("a", {"fp64": 1e9}, 1e9), Kernel("b", {"bf16": 1e9}, 1e9)]
    assert figure.marks[3].names.tolist() == ["b"]


def test_kernels_of_a_graph_follow_partition_dims_dtype_convention_phase_and_graph() -> None:
    def tail(rows: int) -> Graph:
        graph = Graph("tail")
        x = graph.input("x", (dim("batch", 1, 64, default=2) * rows, 1000), "bf16")
        graph.output(graph.relu(graph.scale(x)))
        return graph

    model = RooflineModel([SMALL], graphs={"first": tail(10), "second": tail(30)})
    hollow = roofline_figure(model).marks[3]
    # One FLOP per element; 2 bytes in and 2 bytes out.
    has_columns(hollow, names=["scale", "relu"], x=[0.25, 0.25])
    model.partition = [[0, 1]]
    has_columns(hollow, names=["scale + relu"], x=[0.5])
    model.dtype = "fp8"
    assert hollow.x.tolist() == [1.0]
    model.dtype = None
    model.phase = "second"
    assert hollow.x.tolist() == [0.25, 0.25]
    model.convention = "torch"
    assert hollow.x.tolist() == [], "elementwise operations count none"
    model.convention = ""
    model.graph = tail(1)
    assert hollow.names.tolist() == ["scale", "relu"]
    model.graph = None
    assert hollow.names.tolist() == []


def test_dims_move_a_matrix_product_along_the_axis() -> None:
    graph = Graph()
    n = dim("n", 30, 3000, default=300)
    graph.output(graph.matmul(graph.input("a", (n, n), "bf16"), graph.input("b", (n, n), "bf16")))
    model = RooflineModel([SMALL], graph=graph)
    hollow = roofline_figure(model).marks[3]
    assert hollow.x.tolist() == [100.0]
    model.dims = {"n": 60}
    has_columns(hollow, x=[20.0], y=[20e12])


def test_marks_of_ones_own_stay_and_may_share_the_axes(model: RooflineModel, figure: Any) -> None:
    own = bqplot.Lines(x=[1.0, 2.0], y=[1e12, 2e12], scales=figure.marks[0].scales)
    figure.marks = [*figure.marks, own]
    model.bandwidth = "4 TB/s"
    model.kernels = [("a", 1e9, 1e9, 1.0)]
    assert figure.marks[-1] is own
    assert own.y.tolist() == [1e12, 2e12]
    assert roofs(figure)["Small"][0][1] == 25.0


def test_limits_that_are_set_by_hand_stay(model: RooflineModel, figure: Any) -> None:
    scale = figure.axes[0].scale
    scale.min, scale.max = 1.0, 1e6
    model.bandwidth = "4 TB/s"
    assert (scale.min, scale.max) == (1.0, 1e6)
    before = figure.axes[1].scale.max
    model.peak_flops = "900 TFLOP/s"
    assert figure.axes[1].scale.max == 9e15 != before


def test_kernels_follow_the_model(model: RooflineModel, figure: Any) -> None:
    model.kernels = [("a", 1e9, 1e9, 1.0), ("b", 2e9, 1e9, 1.0)]
    assert figure.marks[2].x.tolist() == [1.0, 2.0]
    model.kernels = []
    assert figure.marks[2].x.tolist() == []


@pytest.mark.parametrize(
    "kernels",
    [
        [],
        [("nothing known", None, None, None)],
        [("no bytes", 1e9, 0, 1.0), ("no FLOPs", 0, 1e9, 1.0), ("no time", 1e9, 1e9, 0)],
        [("tiny", 1e-300, 1e300, 1.0), ("huge", 1e300, 1e-300, 1e-300)],
    ],
)
@pytest.mark.parametrize("chips", [[], [SMALL], [SMALL, LARGE]])
@pytest.mark.parametrize("rate", [FIGURE_LIMITS["FLOP/s"], FIGURE_LIMITS["FLOP/s"][::-1]])
def test_a_log_scale_gets_finite_numbers_above_zero_only(
    chips: list[Chip], kernels: list[tuple[Any, ...]], rate: tuple[float, float]
) -> None:
    model = RooflineModel(chips, kernels)
    figure = roofline_figure(model)
    if chips:
        model.set_what_if(peak_flops=rate[0])
        model.set_what_if(bandwidth=rate[1])
    numbers = np.concatenate(
        [
            *(np.ravel(column) for mark in figure.marks for column in (mark.x, mark.y)),
            [limit for axis in figure.axes for limit in (axis.scale.min, axis.scale.max)],
        ]
    )
    assert np.isfinite(numbers).all()
    assert (numbers > 0).all()
    assert all(axis.scale.min < axis.scale.max for axis in figure.axes)


def test_the_axes_span_everything_drawn(figure: Any) -> None:
    x_axis, y_axis = figure.axes
    points, lines = figure.marks[2], figure.marks[0]
    assert x_axis.scale.min <= min(points.x.min(), lines.x.min()) < lines.x.max() <= x_axis.scale.max
    assert y_axis.scale.min <= min(points.y.min(), lines.y.min()) < lines.y.max() <= y_axis.scale.max


def test_the_axes_name_quantity_and_unit(figure: Any) -> None:
    assert [axis.label for axis in figure.axes] == ["Arithmetic intensity (FLOP/B)", "Performance (FLOP/s)"]
    assert [axis.side for axis in figure.axes] == ["bottom", "left"]


def test_the_axes_say_operations_where_kernels_or_roofs_are_of_integers(model: RooflineModel, figure: Any) -> None:
    model.kernels = [Kernel("quantized", {"int8": 4e9}, 1e7, time=1e-4)]
    assert [axis.label for axis in figure.axes] == [
        "Arithmetic intensity (FLOP/B · OP/B)",
        "Performance (FLOP/s · OP/s)",
    ]
    model.kernels = KERNELS
    assert figure.axes[1].label == "Performance (FLOP/s)"
    quantized = [Kernel("quantized", {"int8": 4e9}, 1e7, time=1e-4)]
    integers = roofline_figure(RooflineModel([Chip("Card", {"int8": 2e14}, {"HBM": 1e12})], quantized))
    assert [axis.label for axis in integers.axes] == ["Arithmetic intensity (OP/B)", "Performance (OP/s)"]


def test_a_name_that_no_message_can_hold_is_replaced(model: RooflineModel, figure: Any) -> None:
    model.kernels = [("lone \ud800", 1e9, 1e9, 1.0)]
    assert figure.marks[2].names.tolist() == ["lone ?"]


def test_importing_roofwidget_and_making_a_model_does_not_import_bqplot() -> None:
    run_python("import sys, roofwidget; roofwidget.RooflineModel(); sys.exit('bqplot' in sys.modules)")


def test_the_figure_can_be_imported_where_every_warning_is_an_error() -> None:
    asked = "import roofwidget; roofwidget.companions.roofline_figure(roofwidget.RooflineModel())"
    subprocess.run([sys.executable, "-W", "error", "-c", asked], check=True)


def test_a_widget_can_be_followed_like_a_model(model: RooflineModel) -> None:
    from roofwidget import RooflineWidget  # noqa: PLC0415 - only this test needs it

    widget = RooflineWidget(model.chips, model.kernels)
    figure = roofline_figure(widget)
    widget.set_state({"what_if": {"small": {"bandwidth": {"HBM": 5e12}}}})
    assert math.isclose(roofs(figure)["Small"][0][1], 20.0)


def test_the_axes_of_the_chips_are_those_of_the_golden_frame_whatever_the_kernels() -> None:
    chip = Chip("Mine", {"bf16": 1e14}, {"HBM": 1e12})
    limits = []
    for kernels in ([("gelu", 1e9, 1e9, 1.0)], [("matmul", 1e16, 1e9, 1e3)]):
        model = RooflineModel([chip], kernels)
        figure = roofline_figure(model)
        fitting = scale_limits(figure)
        model.frame = "chip"
        limits.append(scale_limits(figure))
        assert limits[-1] != fitting
        model.frame = "points"
        assert scale_limits(figure) == fitting
    assert limits[0] == limits[1]
    assert limits[0] == pytest.approx((0.05, 3000, 5e8, 3e14))


def scale_limits(figure: Any) -> tuple[float, ...]:
    x, y = (figure.marks[0].scales[name] for name in "xy")
    return (x.min, x.max, y.min, y.max)


def test_the_colours_are_the_design_tokens_of_the_widget() -> None:
    text = text_of(ROOT / "js" / "src" / "tokens.json")
    tokens = json.loads(text)
    assert tokens["bqplot"] == {"palette": list(parts.PALETTE), "grey": parts.GREY}
    assert f"var(--jp-content-font-color1, {tokens['light']['ink']})" == parts.INK
    for ground in (tokens["light"]["bg"], tokens["dark"]["bg"]):
        for colour in (*parts.PALETTE, parts.GREY):
            assert contrast(colour, ground) >= 3


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as the Web Content Accessibility Guidelines 2.2 define it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
