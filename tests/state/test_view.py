"""The view: the values that each trait accepts, and the plane that a zoom belongs to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import roofwidget as rw

NEAR = (1.0, 10.0, 1e10, 1e11)
TIMES = (1e-6, 1e-3, 1e-6, 1e-3)


@pytest.fixture
def model() -> rw.RooflineModel:
    return rw.RooflineModel()


def test_a_chart_starts_whole_in_plain_units(model: rw.RooflineModel) -> None:
    assert (model.view, model.zoom, model.rate_unit, model.word) == ("roofline", None, "FLOP/s", 0)
    assert (model.x_axis, model.tick_base, model.time_scale, model.presentation) == ("intensity", 10, "log", False)
    assert model.frame == "points"


@pytest.mark.parametrize("zoom", [NEAR, list(NEAR), ("1", 10, 1e10, 1e11)])
def test_a_zoom_is_four_numbers_and_kept_as_a_tuple_of_floats(model: rw.RooflineModel, zoom: Any) -> None:
    model.zoom = zoom
    assert model.zoom == NEAR
    assert all(type(corner) is float for corner in model.zoom)


@pytest.mark.parametrize(
    "zoom",
    [
        (1, 10, 1e10),
        (10, 1, 1e10, 1e11),
        (1, 1, 1e10, 1e11),
        (1, 10, 1e11, 1e10),
        (1, float("inf"), 1e10, 1e11),
        (float("nan"), 10, 1e10, 1e11),
        (-1, 10, 1e10, 1e11),
        ("a", "b", "c", "d"),
        "near",
        7,
    ],
)
def test_a_bad_zoom_is_refused_and_leaves_the_one_before(model: rw.RooflineModel, zoom: Any) -> None:
    model.zoom = NEAR
    with pytest.raises(TraitError, match="zoom"):
        model.zoom = zoom
    assert model.zoom == NEAR


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("view", "spiral"), ("rate_unit", "GB/s"), ("x_axis", "time"), ("time_scale", "x")],
        *[("word", 3), ("word", False), ("word", 4.0), ("word", "4"), ("tick_base", 3), ("tick_base", True)],
    ],
)
def test_an_unknown_view_unit_or_scale_is_refused(model: rw.RooflineModel, name: str, value: object) -> None:
    before = getattr(model, name)
    with pytest.raises(TraitError, match=name):
        setattr(model, name, value)
    assert getattr(model, name) is before


def test_an_integer_of_numpy_is_sent_as_a_number() -> None:
    model = rw.RooflineModel(word=np.int64(4))
    model.set_trait("tick_base", np.int32(2))
    assert json.dumps([model.wire_state()[name] for name in ("word", "tick_base")]) == "[4, 2]"


def test_axes_that_start_at_zero_are_linear(model: rw.RooflineModel) -> None:
    with pytest.raises(TraitError, match=r"zoom.*starts at 0.*logarithmic"):
        model.zoom = (0, 10, 1e10, 1e11)
    model.view, model.time_scale = "time", "linear"
    model.zoom = (0, 1e-3, 0, 1e-3)
    assert model.zoom == (0.0, 1e-3, 0.0, 1e-3)


def test_another_plane_is_shown_whole(model: rw.RooflineModel) -> None:
    model.zoom = NEAR
    model.view = "time"
    assert model.zoom is None
    model.zoom = TIMES
    model.time_scale = "linear"
    assert model.zoom is None


def test_other_units_chips_and_kernels_leave_the_zoom(model: rw.RooflineModel) -> None:
    model.zoom = NEAR
    model.word, model.tick_base, model.x_axis, model.rate_unit = 8, 2, "balance", "FLOP/cycle"
    model.time_scale = "linear"
    model.kernels = [("k", 1e12, 1e10, 0.01)]
    model.chips = ["h100-sxm"]
    assert model.zoom == NEAR


def test_all_of_it_can_be_said_from_the_start() -> None:
    model = rw.RooflineModel(zoom=TIMES, view="time", presentation=True, word=4)
    assert (model.view, model.zoom, model.presentation, model.word) == ("time", TIMES, True, 4)
    with pytest.raises(TypeError, match="zoom"):
        rw.RooflineModel(zooom=NEAR)


@pytest.mark.parametrize("order", [("view", "zoom"), ("zoom", "view")])
def test_a_view_and_its_zoom_come_in_one_message_of_the_browser(order: tuple[str, str]) -> None:
    widget = rw.RooflineWidget()
    told = {"view": "time", "zoom": list(TIMES)}
    widget.set_state({name: told[name] for name in order})
    assert (widget.view, widget.zoom) == ("time", TIMES)
    state = widget.get_state(["view", "zoom", "word"])
    assert (state["view"], tuple(state["zoom"]), state["word"]) == ("time", TIMES, 0)
    widget.set_state({"view": "roofline", "zoom": None})
    assert (widget.view, widget.zoom) == ("roofline", None)
    widget.close()


def test_a_view_alone_from_the_browser_fits() -> None:
    widget = rw.RooflineWidget()
    widget.zoom = NEAR
    widget.set_state({"view": "time"})
    assert widget.zoom is None
    widget.close()


def test_the_clock_of_a_chip_is_told_where_it_is_known() -> None:
    known = rw.Chip("known", {"fp64": "17.6 GFLOP/s"}, {"DRAM": "15 GB/s"}, clock="2.2 GHz")
    bare = rw.Chip("bare", {"fp64": "17.6 GFLOP/s"}, {"DRAM": "15 GB/s"})
    widget = rw.RooflineWidget([known, bare])
    assert [chip["clock"] for chip in widget.get_state(["chips"])["chips"]] == [2.2e9, None]
    widget.close()


def test_a_frame_is_that_of_the_points_or_of_the_chips_and_leaves_the_zoom(model: rw.RooflineModel) -> None:
    model.zoom = NEAR
    model.frame = "chip"
    assert (model.frame, model.zoom) == ("chip", NEAR)
    with pytest.raises(TraitError, match="frame"):
        model.frame = "roof"
    assert model.frame == "chip"


def ticks(svg: str) -> list[str]:
    """Return the numbers along the axes, with their places."""
    axes = svg.partition("</g>")[0]
    return re.findall(r"<text[^>]*>[^<]*", axes)


def test_pictures_of_different_kernels_on_one_chip_have_the_same_axes() -> None:
    chip = rw.Chip("Mine", {"fp32": 2e13, "bf16": 1e14}, {"HBM": 1e12})
    slow = [rw.Kernel("gelu", 1e9, 1e9, time=1, precision="fp32")]
    fast = [rw.Kernel("matmul", 1e16, 1e12, time=1e3, precision="bf16"), rw.Kernel("softmax", 1e11, 1e12, time=2)]
    axes = {
        frame: [ticks(rw.RooflineModel([chip], kernels, frame=frame).to_svg()) for kernels in (slow, fast)]
        for frame in ("points", "chip")
    }
    assert axes["chip"][0] == axes["chip"][1] != []
    assert axes["points"][0] != axes["points"][1]


def test_a_frame_is_kept_in_sessions_and_pages(model: rw.RooflineModel, tmp_path: Path) -> None:
    model.frame = "chip"
    assert rw.RooflineModel.load(model.save(tmp_path / "x.json")).frame == "chip"
    assert model.wire_state()["frame"] == "chip"
