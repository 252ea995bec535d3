"""The bqplot figure shows what the model holds, follows it, and hands bqplot only what a log scale can take."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ipywidgets import Widget

from roofwidget import Chip, Kernel, RooflineModel
from roofwidget.companions import roofline_figure

SMALL = Chip("Small", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12, "L2": 10e12})
LARGE = Chip("Large", {"bf16": 400e12}, {"HBM": 2e12})
KERNELS = [("matmul", 4e9, 1e7, 1e-4), ("copy", 0, 8e6, 1e-5), ("planned", 4e9, 1e7)]


@pytest.fixture
def model() -> RooflineModel:
    return RooflineModel([SMALL, LARGE], KERNELS)


@pytest.fixture
def figure(model: RooflineModel) -> Any:
    return roofline_figure(model)


@pytest.fixture(autouse=True)
def _no_widget_is_left_open() -> Iterator[None]:
    yield
    Widget.close_all()


def roofs(figure: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Intensities and rates of each line, by its label."""
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
    assert figure.marks[1].x.tolist() == [4000.0]
    model.memory = "L2"
    assert roofs(figure)["Small"][0][1] == 10.0
    assert figure.marks[1].x.tolist() == [40.0]


def test_the_focus_chip_stands_out(model: RooflineModel, figure: Any) -> None:
    assert figure.marks[0].opacities == [1.0, 0.5]
    model.focus_chip = "large"
    assert figure.marks[0].opacities == [0.5, 1.0]


def test_a_kernel_is_shown_when_its_flops_bytes_and_time_are_known_and_above_zero(figure: Any) -> None:
    points = figure.marks[1]
    assert points.names.tolist() == ["matmul"]
    assert points.x.tolist() == [400.0]
    assert points.y.tolist() == pytest.approx([4e13])


def test_kernels_follow_the_model(model: RooflineModel, figure: Any) -> None:
    model.kernels = [("a", 1e9, 1e9, 1.0), ("b", 2e9, 1e9, 1.0)]
    assert figure.marks[1].x.tolist() == [1.0, 2.0]
    model.kernels = []
    assert figure.marks[1].x.tolist() == []


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
@pytest.mark.parametrize("rate", [1e-300, 1e300])
def test_a_log_scale_gets_finite_numbers_above_zero_only(
    chips: list[Chip], kernels: list[tuple[Any, ...]], rate: float
) -> None:
    model = RooflineModel(chips, kernels)
    figure = roofline_figure(model)
    if chips:
        model.set_what_if(peak_flops=rate)
        model.set_what_if(bandwidth=1 / rate)
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
    points, lines = figure.marks[1], figure.marks[0]
    assert x_axis.scale.min <= min(points.x.min(), lines.x.min()) < lines.x.max() <= x_axis.scale.max
    assert y_axis.scale.min <= min(points.y.min(), lines.y.min()) < lines.y.max() <= y_axis.scale.max


def test_the_axes_name_quantity_and_unit(figure: Any) -> None:
    assert [axis.label for axis in figure.axes] == ["Arithmetic intensity (FLOP/B)", "Performance (FLOP/s)"]
    assert [axis.side for axis in figure.axes] == ["bottom", "left"]


def test_a_name_that_no_message_can_hold_is_replaced(model: RooflineModel, figure: Any) -> None:
    model.kernels = [("lone \ud800", 1e9, 1e9, 1.0)]
    assert figure.marks[1].names.tolist() == ["lone ?"]


def test_a_closed_figure_no_longer_follows_and_the_model_lets_go_of_it(model: RooflineModel) -> None:
    figure = roofline_figure(model)
    marks = figure.marks
    figure.close()
    before = marks[0].y.tolist()
    model.bandwidth = 5e12
    assert marks[0].y.tolist() == before
    gone = weakref.ref(figure)
    del figure
    gc.collect()
    assert gone() is None


def test_importing_roofwidget_and_making_a_model_does_not_import_bqplot() -> None:
    asked = "import sys, roofwidget; roofwidget.RooflineModel(); sys.exit('bqplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0


def test_the_figure_can_be_imported_where_every_warning_is_an_error() -> None:
    asked = "import roofwidget; roofwidget.companions.roofline_figure(roofwidget.RooflineModel())"
    subprocess.run([sys.executable, "-W", "error", "-c", asked], check=True)


def test_a_widget_can_be_followed_like_a_model(model: RooflineModel) -> None:
    from roofwidget import RooflineWidget  # noqa: PLC0415 - the other tests do without it

    widget = RooflineWidget(model.chips, model.kernels)
    figure = roofline_figure(widget)
    widget.set_state({"what_if": {"small": {"bandwidth": {"HBM": 5e12}}}})
    assert math.isclose(roofs(figure)["Small"][0][1], 20.0)
