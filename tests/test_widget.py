"""The widget: what it sends, which messages it accepts, and what remains after it is closed."""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import anywidget
import ipywidgets
import numpy as np
import pytest
from ipywidgets.widgets.widget import _remove_buffers
from traitlets import TraitError

import roofwidget as rw
from roofwidget import Chip, Kernels, RooflineModel, RooflineWidget
from roofwidget import widget as widget_module
from tests.processes import run_python
from tests.test_model import state as model_state

SMALL = Chip("Small", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12, "L2": None})
LARGE = Chip("Large", {"bf16": 400e12}, {"HBM": 2e12})
KERNELS = [("matmul", 4.3e9, 1.2e7, 31e-6), ("copy", 0, 8e6), ("opaque", None, None)]
TEN_MEGABYTES = 10_000_000


@pytest.fixture
def widget() -> RooflineWidget:
    return RooflineWidget([SMALL, LARGE], KERNELS)


@pytest.fixture(autouse=True)
def _no_widget_is_left_open() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


def wire(widget: RooflineWidget) -> tuple[dict[str, Any], dict[tuple[str | int, ...], bytes]]:
    """Return the content of a message: its JSON, parsed, and its buffers by path."""
    state, paths, buffers = _remove_buffers(widget.get_state())
    text = json.dumps(state, allow_nan=False).encode("utf-8")
    return json.loads(text), {tuple(path): bytes(part) for path, part in zip(paths, buffers, strict=True)}


def brief(value: Any) -> str:
    return repr(value)[:60]


# -- what is sent ----------------------------------------------------------------------------------------------


def test_chips_are_sent_with_their_figures_and_null_where_unknown(widget: RooflineWidget) -> None:
    sent, _ = wire(widget)
    assert [chip["id"] for chip in sent["chips"]] == ["small", "large"]
    assert sent["chips"][0]["peaks"] == [["bf16", 100e12], ["fp8", 200e12]]
    assert sent["chips"][0]["memories"] == [["HBM", 1e12], ["L2", None]]


def test_kernel_columns_are_sent_as_little_endian_float64(widget: RooflineWidget) -> None:
    sent, buffers = wire(widget)
    assert sent["kernels"]["n"] == 3
    for path, expected in {
        ("kernels", "flops", ""): [4.3e9, 0, math.nan],
        ("kernels", "bytes", "main"): [1.2e7, 8e6, math.nan],
        ("kernels", "time"): [31e-6, math.nan, math.nan],
    }.items():
        np.testing.assert_array_equal(np.frombuffer(buffers[path], "<f8"), expected)


def test_texts_are_sent_once_each_with_int32_codes() -> None:
    sent, buffers = wire(RooflineWidget([SMALL], [("b", 1, 1), ("a", 1, 1), ("b", 1, 1)]))
    assert sent["kernels"]["name"] == {}
    assert json.loads(buffers["kernels", "name", "values"]) == ["b", "a"]
    assert np.frombuffer(buffers["kernels", "name", "codes"], "<i4").tolist() == [0, 1, 0]
    assert sent["kernels"]["category"] is None


def test_a_table_without_kernels_can_be_sent() -> None:
    sent, buffers = wire(RooflineWidget([SMALL], []))
    assert sent["kernels"]["n"] == 0
    assert set(buffers.values()) == {b"", b"[]"}


def test_a_model_without_chips_can_be_sent() -> None:
    sent, _ = wire(RooflineWidget([]))
    assert (sent["chips"], sent["shown"], sent["focus_chip"]) == ([], [], "")


def test_what_was_changed_is_sent_as_plain_json(widget: RooflineWidget) -> None:
    widget.set_what_if(peak_flops=1e15)
    widget.selected, widget.hovered, widget.shown = [2, 0], 1, ["large"]
    sent, _ = wire(widget)
    assert sent["what_if"] == {"small": {"peak_flops": {"bf16": 1e15}}}
    assert (sent["selected"], sent["hovered"], sent["shown"]) == ([2, 0], 1, ["large"])


def test_rates_are_not_sent_beside_what_if(widget: RooflineWidget) -> None:
    assert not {"peak_flops", "bandwidth"} & set(widget.keys)


def test_a_name_that_no_message_can_hold_is_replaced_on_the_wire_only() -> None:
    widget = RooflineWidget([SMALL], [("lone \ud800", 1, 1)])
    _, buffers = wire(widget)
    assert buffers["kernels", "name", "values"] == b'["lone ?"]'
    assert widget.kernels.names[0] == "lone \ud800"


@pytest.mark.parametrize("text", ["lone \ud800", "</script><b>", "\0", "∞ × 🙂"])
def test_any_title_can_be_sent(text: str) -> None:
    sent, _ = wire(RooflineWidget([SMALL], title=text))
    json.dumps(sent, ensure_ascii=False).encode("utf-8")


def test_a_hundred_thousand_kernels_are_one_message_below_ten_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 100_000
    numbers = np.arange(n, dtype=np.float64)
    kernels = Kernels([f"fusion.{row}" for row in range(n)], numbers, numbers, time=numbers + 1)
    widget = RooflineWidget([SMALL])
    sent: list[tuple[dict[str, Any], list[Any]]] = []
    monkeypatch.setattr(RooflineWidget, "_send", lambda _self, msg, buffers=None: sent.append((msg, buffers or [])))
    widget.kernels = kernels
    with_kernels = [(msg, buffers) for msg, buffers in sent if "kernels" in msg["state"]]
    assert len(with_kernels) == 1
    message, buffers = with_kernels[0]
    assert len(json.dumps(message, allow_nan=False)) + sum(memoryview(part).nbytes for part in buffers) < TEN_MEGABYTES


# -- what may come back ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ({"what_if": {"small": {"peak_flops": {"bf16": 1e15}}}}, {"peak_flops": 1e15}),
        ({"what_if": {"small": {"bandwidth": {"HBM": 5e12}}}}, {"bandwidth": 5e12}),
        ({"what_if": {"large": {"bandwidth": {"HBM": 5e12}}}}, {}),
        (
            {"shown": ["large"]},
            {"shown": ("large",), "focus_chip": "large", "peak_flops": 400e12, "bandwidth": 2e12},
        ),
        ({"shown": []}, {"shown": ()}),
        ({"focus_chip": "large"}, {"focus_chip": "large", "peak_flops": 400e12, "bandwidth": 2e12}),
        ({"selected": [2, 0]}, {"selected": (2, 0)}),
        ({"hovered": 1}, {"hovered": 1}),
        ({"precision": "fp8"}, {"precision": "fp8", "peak_flops": 200e12}),
        ({"memory": "HBM"}, {"memory": "HBM"}),
        ({"selected": [1], "hovered": 2, "precision": "bf16"}, {"selected": (1,), "hovered": 2, "precision": "bf16"}),
    ],
    ids=brief,
)
def test_a_good_message_is_taken(widget: RooflineWidget, message: dict[str, Any], changed: dict[str, Any]) -> None:
    before = model_state(widget)
    widget.set_state(message)
    expected = before | changed
    if "what_if" in message:
        expected |= {"what_if": message["what_if"]}
    assert model_state(widget) == expected


BAD_RATES: list[Any] = [0, -1, None, math.inf, math.nan, True, [], 10**400]
HOSTILE: dict[str, list[Any]] = {
    "what_if": [
        *(None, [], 5, {"small": None}, {"small": {"peak_flops": 5}}, {"small": {"price": {"bf16": 1e15}}}),
        *({"small": {"peak_flops": {"bf16": rate}}} for rate in BAD_RATES),
    ],
    "shown": [None, 5, ["no such chip"], [None], [["small"]], {"no such chip": 1}],
    "focus_chip": [None, "", "no such chip", ["small"]],
    "selected": [None, 5, [3], [-1], [0.5], ["0"], [[0]], [True], {"0": 0}],
    "hovered": [3, -1, 0.5, "0", [0], True],
    "precision": [None, "", "fp3", ["bf16"]],
    "moves": [None, 5, "x", ["x"], {"0": 5}, {"x": {"flops": 2.0}}],
    "layout": [None, 5, {"nonsense": 1}, "IPY_MODEL_none"],
    "memory": [None, "", "L9", "L2", {}],
}


@pytest.mark.parametrize(
    "message",
    [
        *({name: value} for name, values in HOSTILE.items() for value in values),
        {"selected": [1], "shown": ["large"], "hovered": 99},
        {"selected": [1], "shown": 5},
    ],
    ids=brief,
)
def test_a_bad_message_is_refused_and_changes_nothing(widget: RooflineWidget, message: dict[str, Any]) -> None:
    widget.set_what_if("large", peak_flops=1e15)
    before = model_state(widget)
    with pytest.raises(TraitError):
        widget.set_state(message)
    assert model_state(widget) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"no such chip": {"peak_flops": {"bf16": 1e15}}},
        {"small": {"peak_flops": {"fp3": 1e15}}},
        {"small": {"bandwidth": {"L9": 1e15}}},
        {"small": {"bandwidth": {"L2": 1e15}}},
    ],
    ids=brief,
)
def test_a_what_if_for_a_figure_that_no_chip_has_is_not_kept(widget: RooflineWidget, changes: dict[str, Any]) -> None:
    with contextlib.suppress(TraitError):
        widget.set_state({"what_if": changes})
    assert widget.what_if == {}


@pytest.mark.parametrize(
    "message", [{"chips": []}, {"kernels": []}, {"title": "hacked"}, {"kernels": {"n": 0}}], ids=brief
)
def test_what_python_owns_cannot_be_changed_by_a_message(widget: RooflineWidget, message: dict[str, Any]) -> None:
    before = model_state(widget)
    with contextlib.suppress(TraitError):
        widget.set_state(message)
    assert model_state(widget) == before


@pytest.mark.parametrize("name", RooflineModel.class_trait_names(owner="python", sync=True))
def test_a_value_of_its_own_kind_does_not_change_what_python_owns_either(widget: RooflineWidget, name: str) -> None:
    graph = rw.chain([("scale", 1)], elements=8)
    given = {"title": "other", "launch_overhead": 1, "exposed_comm": 0.3, "open_files": "nothing"}
    rates = {"ranges": {"bandwidth": [1e12, 2e12]}, "snap": {"bandwidth": [1e12]}}
    lesson = {**rates, "locks": ["bandwidth"], "hidden_panels": ["table"], "terms": {"ridge": "knee"}}
    other = RooflineWidget([LARGE], baseline=KERNELS, graph=graph, **given, **lesson)
    rw.Story(other, ["A step."])
    before = model_state(widget)
    assert getattr(other, name) != before[name]
    widget.set_state({name: getattr(other, name)})
    widget.set_state({name: other.get_state().get(name)})
    assert model_state(widget) == before


@pytest.mark.parametrize("name", ["_code", "_css", "_esm"])
def test_a_message_cannot_change_what_code_runs(widget: RooflineWidget, name: str) -> None:
    before = getattr(widget, name)
    widget.set_state({name: None if name == "_code" else "export default {}"})
    assert getattr(widget, name) == before


def test_names_in_a_message_that_are_no_traits_change_nothing(widget: RooflineWidget) -> None:
    before = model_state(widget)
    widget.set_state({"peak_flops": 5.0, "__class__": "x", "nonsense": 1})
    assert model_state(widget) == before


# -- the widget as a widget ------------------------------------------------------------------------------------


def test_no_trait_shadows_an_attribute_of_a_dom_widget() -> None:
    taken = set(dir(ipywidgets.DOMWidget)) - set(ipywidgets.DOMWidget.class_trait_names())
    assert not set(RooflineWidget.class_trait_names()) & taken


def test_nothing_the_model_defines_shadows_an_attribute_of_any_widget() -> None:
    own = {name for name in vars(RooflineModel) if not name.startswith("__")}
    # traitlets adds these names to each class.
    kept_by_traitlets = {name for name in vars(type("Plain", (rw.RooflineModel,), {})) if not name.startswith("__")}
    # The model's methods call those of the widget.
    extended = {"hold_trait_notifications", "notify_change"}
    assert not (own - kept_by_traitlets - extended) & set(dir(anywidget.AnyWidget))


def test_the_widget_syncs_what_the_model_syncs_and_where_its_code_is() -> None:
    own = set(RooflineWidget.class_trait_names(sync=True)) - set(anywidget.AnyWidget.class_trait_names(sync=True))
    assert own == set(RooflineModel.class_trait_names(sync=True)) | {"_code", "_css", "_esm", "_state_version"}


def test_the_repr_is_short_stable_and_without_an_address(widget: RooflineWidget) -> None:
    assert repr(widget) == str(widget) == "RooflineWidget(Small, Large; 3 kernels)"
    twin = RooflineWidget([SMALL, LARGE], KERNELS)
    assert repr(twin) == repr(widget)


def test_an_unknown_keyword_names_the_nearest_trait() -> None:
    with pytest.raises(TypeError, match="RooflineWidget has no keyword 'slected'; did you mean 'selected'"):
        RooflineWidget(slected=[1])


def test_a_layout_can_be_given(widget: RooflineWidget) -> None:
    assert RooflineWidget([SMALL], layout={"width": "5px"}).layout.width == "5px"
    widget.layout.width = "7px"
    assert widget.layout.width == "7px"


def test_a_closed_widget_is_freed() -> None:
    gone = []
    for _ in range(50):
        widget = RooflineWidget([SMALL], KERNELS)
        widget.peak_flops = 1e15
        gone.append(weakref.ref(widget))
        widget.close()
    del widget
    gc.collect()
    assert [ref for ref in gone if ref() is not None] == []


def test_a_closed_widget_is_still_a_model(widget: RooflineWidget) -> None:
    widget.close()
    widget.peak_flops = 1e15
    assert widget.what_if == {"small": {"peak_flops": {"bf16": 1e15}}}


def test_roofline_makes_a_widget_of_names_and_tuples() -> None:
    widget = rw.roofline(chips=["v5p", "v6e"], kernels=[("matmul", 4.3e9, 1.2e7)])
    assert isinstance(widget, RooflineWidget)
    assert [chip.id for chip in widget.chips] == ["tpu-v5p", "tpu-v6e"]
    assert widget.kernels == Kernels(["matmul"], [4.3e9], [1.2e7])


def test_roofline_without_anything_shows_the_guide() -> None:
    guide = rw.preset("tpu-roofline-guide")
    widget = rw.roofline()
    assert (widget.chips, widget.kernels) == (guide.chips, guide.kernels)


def test_a_table_makes_its_own_widget_on_the_chip_it_ran_on() -> None:
    widget = Kernels(["a"], [1], [1], chip=SMALL).roofline(title="A table")
    assert (widget.chips, widget.title, len(widget.kernels)) == ((SMALL,), "A table", 1)


def test_show_displays_the_widget(widget: RooflineWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    monkeypatch.setattr(widget_module, "display", shown.append)
    widget.show()
    assert shown == [widget]


def test_a_notebook_gets_the_view_and_text(widget: RooflineWidget) -> None:
    bundle: Any = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert data["text/plain"]


def test_making_a_widget_where_every_warning_is_an_error_works() -> None:
    asked = "import roofwidget as rw; rw.roofline().show()"
    environment = os.environ | {"JUPYTER_PLATFORM_DIRS": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", asked], check=True, env=environment, capture_output=True)


def test_a_page_gets_a_new_widget_with_all_of_its_values_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(RooflineWidget, "_send", lambda _, message, **_options: sent.append(message))
    open_really = ipywidgets.Widget.open

    def remember(widget: ipywidgets.Widget) -> None:
        open_really(widget)
        if isinstance(widget, RooflineWidget):
            opened.append(widget.get_state())

    monkeypatch.setattr(ipywidgets.Widget, "open", remember)
    graph = rw.chain([("LayerNorm", 10), ("GELU", 8)], elements=8)
    RooflineWidget([LARGE], graph=graph, partition=[[0, 1]], peak_flops="1 PFLOP/s", selected=[0])
    assert {name for message in sent for name in message["state"]} <= {"_anywidget_id"}
    assert [(state["partition"], list(state["selected"])) for state in opened] == [([[0, 1]], [0])]
    assert opened[0]["what_if"]["large"]["peak_flops"] == {"bf16": 1e15}


def test_a_widget_that_is_refused_never_reaches_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[ipywidgets.Widget] = []
    monkeypatch.setattr(ipywidgets.Widget, "open", opened.append)
    with pytest.raises(TraitError):
        RooflineWidget([LARGE], selected=[7])
    assert not any(isinstance(widget, RooflineWidget) for widget in opened)


def test_outside_a_jupyter_kernel_no_code_is_sent_before_there_is_a_widget() -> None:
    run_python("import roofwidget.widget, roofwidget.bundle as b, sys; sys.exit(len(b._FRONT_ENDS))")


@pytest.mark.parametrize("trait", ["kernels", "baseline"])
def test_more_kernels_than_a_page_shows_are_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, trait: str
) -> None:
    monkeypatch.setattr(RooflineWidget, "_max_kernels", 3)
    four = Kernels(["a", "b", "b", "c"], [1, 2, 3, 4], [1, 1, 1, 1])
    widget = RooflineWidget(kernels=four[:1])
    before = widget.kernels
    with pytest.raises(TraitError, match=rf"{trait}: 4 kernels; a widget shows at most 3: .*groupby\(\)"):
        setattr(widget, trait, four)
    assert widget.kernels is before
    setattr(widget, trait, four.groupby())
    assert len(getattr(widget, trait)) == 3
    assert len(RooflineModel(kernels=four).kernels) == 4
