"""Figures follow their model until they are closed, leave no references, and work with links and layouts."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from ipywidgets import FloatSlider, HBox, Label, Text, dlink, interactive_output, jslink, link
from ipywidgets.widgets.widget import _instances

from roofwidget import Graph, RooflineModel, RooflineWidget, dim
from roofwidget.companions import ridge_history, roofline_figure, size_sweep, speed_map, time_bars

FIGURES: dict[str, Callable[[RooflineModel], Any]] = {
    "ridge_history": ridge_history,
    "roofline_figure": roofline_figure,
    "size_sweep": size_sweep,
    "size_sweep of a graph": lambda model: size_sweep(model, "relu", "batch"),
    "speed_map": lambda model: speed_map(model, "batch", "width"),
    "time_bars": time_bars,
}


def tail() -> Graph:
    graph = Graph("tail")
    batch, width = dim("batch", 1, 64, default=4), dim("width", 16, 64, default=32)
    graph.output(graph.relu(graph.input("x", (batch, width), "bf16")))
    return graph


def observers(model: RooflineModel) -> int:
    """Return the number of a model's observers, including its own."""
    return sum(len(of_type) for of_trait in model._trait_notifiers.values() for of_type in of_trait.values())


@pytest.fixture
def model() -> RooflineModel:
    return RooflineModel(["v5p", "v6e"], graph=tail())


@pytest.mark.parametrize("name", FIGURES)
def test_a_closed_figure_leaves_no_observer_and_no_open_widget(name: str, model: RooflineModel) -> None:
    before, open_before = observers(model), set(_instances)
    figure = FIGURES[name](model)
    assert observers(model) > before
    marks = list(figure.marks)
    figure.close()
    assert observers(model) == before
    assert set(_instances) == open_before
    model.bandwidth = 5e12
    model.dims = {"batch": 8}
    gone = [weakref.ref(figure), *(weakref.ref(mark) for mark in marks)]
    del figure, marks
    gc.collect()
    assert [one() for one in gone] == [None] * len(gone)


@pytest.mark.parametrize("name", FIGURES)
def test_a_closed_figure_lets_go_of_its_model(name: str) -> None:
    model = RooflineModel(["v5p"], graph=tail())
    figure = FIGURES[name](model)
    figure.close()
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert figure.marks


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_survives_whatever_its_model_becomes(name: str, model: RooflineModel) -> None:
    figure = FIGURES[name](model)
    for trait, value in (
        ("memory", "all"),
        ("precision", "int8"),
        ("precision", "auto"),
        ("shown", []),
        ("chips", []),
        ("chips", ["h100-sxm", "a64fx"]),
        ("graph", Graph("empty")),
        ("graph", None),
        ("kernels", [("unknown", None, None), ("zero", 0, 0, 0)]),
        ("graphs", {"a": tail(), "b": Graph("empty")}),
        ("phase", "b"),
        ("phase", "a"),
        ("dtype", "fp4"),
        ("convention", "torch"),
    ):
        setattr(model, trait, value)
    assert figure.comm is not None


@pytest.mark.parametrize("name", FIGURES)
def test_a_widget_is_followed_like_a_model_when_the_browser_moves_it(name: str) -> None:
    widget = RooflineWidget(["v5p", "v6e"], graph=tail())
    figure = FIGURES[name](widget)
    widget.set_state({"what_if": {"tpu-v5p": {"bandwidth": {"HBM": 5e12}}}, "dims": {"batch": 8}, "shown": ["tpu-v6e"]})
    assert figure.comm is not None


@pytest.mark.parametrize("name", FIGURES)
def test_text_is_in_the_hosts_colour_and_names_of_chips_need_not_be_messages(name: str, model: RooflineModel) -> None:
    figure = FIGURES[name](model)
    model.chips = [model.chips[0].replace(name="lone \ud800", id="lone"), model.chips[1]]
    texts = [figure.title, *(label for mark in figure.marks for label in getattr(mark, "labels", []))]
    assert "\ud800" not in "".join(map(str, texts))
    assert figure.title_style["fill"].startswith("var(--jp-")
    assert all(axis.label_color.startswith("var(--jp-") for axis in figure.axes)


def test_a_figure_stands_beside_other_widgets() -> None:
    widget = RooflineWidget()
    figure = roofline_figure(widget)
    figure.layout.width = "400px"
    assert HBox([widget, figure]).children == (widget, figure)


def test_a_link_ties_a_slider_to_the_bandwidth_both_ways_and_figures_follow() -> None:
    widget = RooflineWidget(["v5p"])
    ridges = size_sweep(widget).marks[0]
    slider = FloatSlider(value=1e12, min=1e11, max=9e12, step=1e11)
    link((slider, "value"), (widget, "bandwidth"))
    assert widget.bandwidth == 1e12
    assert ridges.labels[0].startswith("TPU v5p: ridge 459,")
    slider.value = 2e12
    assert ridges.labels[0].startswith("TPU v5p: ridge 229.5,")
    widget.bandwidth = "3 TB/s"
    assert slider.value == 3e12
    assert ridges.labels[0].startswith("TPU v5p: ridge 153,")


def test_a_link_one_way_tells_the_focus_chip() -> None:
    widget, label = RooflineWidget(["v5p", "v6e"]), Label()
    dlink((widget, "focus_chip"), (label, "value"), lambda key: f"looking at {key}")
    widget.focus_chip = "v6e"
    assert label.value == "looking at tpu-v6e"


def test_interactive_output_drives_a_widget_and_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    widget = RooflineWidget(["v5p"])
    roofs = roofline_figure(widget).marks[0]
    slider = FloatSlider(value=1.0, min=0.1, max=9.0)

    def show(tera: float) -> None:
        widget.set_what_if(bandwidth=tera * 1e12)

    interactive_output(show, {"tera": slider})
    assert roofs.x.ravel()[1] == pytest.approx(459.0)
    slider.value = 4.5
    assert roofs.x.ravel()[1] == pytest.approx(102.0)
    assert "Traceback" not in capsys.readouterr().out


@pytest.mark.parametrize("trait", ["focus_chip", "precision", "memory", "view", "phase", "convention"])
def test_what_the_browser_holds_can_be_linked_there(trait: str) -> None:
    widget, text = RooflineWidget(), Text()
    assert jslink((text, "value"), (widget, trait)).target == (widget, trait)


@pytest.mark.parametrize("trait", ["peak_flops", "bandwidth", "graph"])
def test_what_only_python_holds_cannot(trait: str) -> None:
    with pytest.raises(TypeError, match=f"RooflineWidget.{trait} cannot be synced"):
        jslink((Text(), "value"), (RooflineWidget(), trait))
