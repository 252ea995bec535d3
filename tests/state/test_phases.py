"""Phases of a workload: which graph is shown, what a change of phase keeps, and the messages of the front end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest
from traitlets import TraitError

from roofwidget import Graph, Partition, RooflineModel, RooflineWidget, dim
from roofwidget.wire import graph_to_wire, graphs_to_wire
from roofwidget.workloads import transformer_block

SIZES = {"prefill": ((1, 1024, 100), (1, 8, 1)), "decode": ((1, 50, 10), None), "train": ((1, 1024, 100), (1, 8, 1))}


def chain(name: str, *, dtype: str = "bf16", convention: str = "textbook") -> Graph:
    """Return relu and copy over [n] for decode, else over [n, m]: elements of two bytes, four tensor passes."""
    graph = Graph(name, convention=convention)
    n, m = SIZES[name]
    shape = (dim("n", n[0], n[1], default=n[2]), *([dim("m", m[0], m[1], default=m[2])] if m else []))
    graph.output(graph.copy(graph.relu(graph.input("x", shape, dtype))))
    return graph


@pytest.fixture
def graphs() -> dict[str, Graph]:
    return {name: chain(name) for name in ("prefill", "decode")}


@pytest.fixture
def model(graphs: dict[str, Graph]) -> RooflineModel:
    return RooflineModel(["v5p"], graphs=graphs)


@pytest.fixture
def widget(graphs: dict[str, Graph]) -> Iterator[RooflineWidget]:
    yield RooflineWidget(["v5p"], graphs=graphs)
    ipywidgets.Widget.close_all()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the list of states that widgets send from now on without being asked, one per message."""
    messages: list[dict[str, Any]] = []

    def record(_widget: RooflineWidget, msg: dict[str, Any], buffers: Any = None) -> None:  # noqa: ARG001 - as it is called
        # Answers are tested in test_messages.py.
        if msg["method"] == "update" and "_sync" not in msg["state"]:
            messages.append(msg["state"])

    monkeypatch.setattr(RooflineWidget, "_send", record)
    return messages


def state(model: RooflineModel) -> dict[str, Any]:
    names = ("graphs", "phase", "graph", "partition", "dims", "convention", "dtype")
    return {name: getattr(model, name) for name in names}


def settings(model: RooflineModel) -> tuple[dict[str, int], str, str | None]:
    return dict(model.dims), model.convention, model.dtype


def groups(model: RooflineModel) -> list[int]:
    assert model.partition is not None
    return [len(group) for group in model.partition.groups]


# -- which graph is shown --------------------------------------------------------------------------------------


def test_the_first_of_several_graphs_is_shown(model: RooflineModel, graphs: dict[str, Graph]) -> None:
    assert (model.phase, model.graph, list(model.graphs)) == ("prefill", graphs["prefill"], ["prefill", "decode"])
    assert model.shown_kernels.bytes.tolist() == [400, 400]


def test_another_is_shown_when_its_name_is_set(model: RooflineModel, graphs: dict[str, Graph]) -> None:
    model.phase = "decode"
    assert model.graph is graphs["decode"]
    assert model.shown_kernels.bytes.tolist() == [40, 40]


def test_without_a_graph_there_is_no_phase() -> None:
    model = RooflineModel(["v5p"])
    assert (dict(model.graphs), model.phase, model.graph) == ({}, "", None)


def test_a_graph_that_is_set_alone_is_the_only_one(model: RooflineModel) -> None:
    train = chain("train")
    model.graph = train
    assert (dict(model.graphs), model.phase) == ({"": train}, "")
    model.graph = None
    assert (dict(model.graphs), model.phase, model.partition) == ({}, "", None)


def test_graphs_keep_the_phase_that_they_still_have(model: RooflineModel, graphs: dict[str, Graph]) -> None:
    model.phase = "decode"
    model.partition = [[0, 1]]
    model.graphs = {"train": chain("train"), **graphs}
    assert (model.phase, model.graph, groups(model)) == ("decode", graphs["decode"], [2])
    model.graphs = {"train": chain("train")}
    assert (model.phase, groups(model)) == ("train", [1, 1])


def test_graphs_in_another_order_are_a_change(model: RooflineModel, graphs: dict[str, Graph]) -> None:
    changes: list[object] = []
    model.observe(changes.append, "graphs")
    model.graphs = dict(reversed(graphs.items()))
    assert len(changes) == 1
    assert list(model.graphs) == ["decode", "prefill"]
    assert model.phase == "prefill"


def test_graphs_cannot_be_changed_in_place(model: RooflineModel, graphs: dict[str, Graph]) -> None:
    with pytest.raises(TypeError, match="item assignment"):
        model.graphs["train"] = chain("train")  # type: ignore[index]
    graphs["train"] = chain("train")
    assert list(model.graphs) == ["prefill", "decode"]


def test_phase_and_what_is_of_it_may_be_given_together(graphs: dict[str, Graph]) -> None:
    for make in (RooflineModel, RooflineWidget):
        model = make(["v5p"], graphs=graphs, phase="decode", dims={"n": 20}, partition=[[0, 1]], selected=[0])
        assert (model.phase, dict(model.dims), groups(model), model.selected) == ("decode", {"n": 20}, [2], (0,))
    ipywidgets.Widget.close_all()


def test_a_widget_is_opened_in_its_phase(sent: list[dict[str, Any]], graphs: dict[str, Graph]) -> None:
    widget = RooflineWidget(["v5p"], graphs=graphs, phase="decode")
    assert widget.get_state(["phase"]) == {"phase": "decode"}
    assert not any("phase" in state for state in sent)
    widget.close()


def test_graph_and_graphs_may_not_be_given_together(graphs: dict[str, Graph]) -> None:
    with pytest.raises(TypeError, match="takes graph, or graphs by phase, not both"):
        RooflineModel(graph=graphs["prefill"], graphs=graphs)


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("phase", "decod", "there are 'prefill', 'decode'; did you mean 'decode'"),
        ("phase", "", "there are 'prefill', 'decode'"),
        ("phase", None, "phase"),
        ("graphs", None, "a mapping from names of phases to graphs"),
        ("graphs", [("prefill", chain("prefill"))], "a mapping from names of phases to graphs"),
        ("graphs", {1: chain("prefill")}, "a mapping from names of phases to graphs.* by the name 1"),
        ("graphs", {"prefill": chain("prefill"), "decode": "tail"}, "not 'tail' by the name 'decode'"),
        ("graphs", dict.fromkeys(["one", "other"], chain("prefill")), "'one' and 'other' are the same graph"),
    ],
)
def test_what_is_no_phase_is_refused_and_nothing_changes(
    model: RooflineModel, trait: str, value: Any, message: str
) -> None:
    before = state(model)
    with pytest.raises(TraitError, match=message):
        setattr(model, trait, value)
    assert state(model) == before


def test_a_single_graph_has_no_phases() -> None:
    said = r"^phase: the graph has no phases, so there is no phase 'decode'; give graphs={'decode': graph, …}$"
    with pytest.raises(TraitError, match=said):
        RooflineModel(["v5p"], graph=chain("train"), phase="decode")
    model = RooflineModel(["v5p"], graph=chain("train"))
    with pytest.raises(TraitError, match=said):
        model.phase = "decode"
    assert model.phase == ""


def test_a_phase_needs_graphs() -> None:
    with pytest.raises(TraitError, match="set graphs first"):
        RooflineModel(phase="decode")


# -- what stays ------------------------------------------------------------------------------------------------


def test_another_phase_is_unfused_and_its_rows_are_not_selected(model: RooflineModel) -> None:
    model.partition, model.selected = [[0, 1]], [0]
    model.phase = "decode"
    assert (groups(model), model.selected) == ([1, 1], ())


def test_a_phase_comes_back_with_what_was_merged_in_it_counted_as_it_is_now(
    model: RooflineModel, graphs: dict[str, Graph]
) -> None:
    model.partition = [[0, 1]]
    model.phase = "decode"
    model.convention = "torch"
    model.phase = "prefill"
    assert (groups(model), settings(model)) == ([2], ({}, "torch", None))
    model.graphs = {**graphs, "prefill": chain("prefill")}
    assert groups(model) == [1, 1]


def test_kernels_and_a_graph_may_not_be_given_together(graphs: dict[str, Graph]) -> None:
    for given in ({"graph": graphs["decode"]}, {"graphs": graphs}):
        with pytest.raises(TypeError, match="takes kernels, or a graph whose kernels it shows, not both"):
            RooflineModel(["v5p"], [("matmul", 1e9, 1e6)], **given)


@pytest.mark.parametrize(
    ("before", "after"),
    [({"n": 50, "m": 2}, {"n": 50}), ({"n": 51}, {}), ({"n": 10}, {}), ({}, {})],
    ids=["within its limits", "above its limits", "its default", "no size"],
)
def test_sizes_stay_that_the_other_graph_has_too(
    model: RooflineModel, before: dict[str, int], after: dict[str, int]
) -> None:
    model.dims = before
    model.phase = "decode"
    assert dict(model.dims) == after


def test_convention_and_dtype_stay_and_the_graph_is_counted_by_them(model: RooflineModel) -> None:
    model.convention, model.dtype = "torch", "fp8"
    model.phase = "decode"
    assert settings(model) == ({}, "torch", "fp8")
    assert model.shown_kernels.flops.tolist() == [0, 0]
    assert model.shown_kernels.bytes.tolist() == [20, 20]


def test_convention_and_dtype_of_the_other_graph_itself_are_none() -> None:
    own = chain("decode", dtype="fp8", convention="torch")
    model = RooflineModel(["v5p"], graphs={"prefill": chain("prefill"), "decode": own})
    model.convention, model.dtype = "torch", "fp8"
    model.phase = "decode"
    assert settings(model) == ({}, "", None)
    assert model.partition == Partition.unfused(own)


def test_with_a_new_graph_everything_starts_anew(model: RooflineModel) -> None:
    model.dims, model.convention, model.dtype = {"n": 50}, "torch", "fp8"
    model.graphs = {"prefill": chain("prefill"), "train": chain("train")}
    assert settings(model) == ({}, "", None)
    model.dims = {"n": 50}
    model.graph = chain("train")
    assert dict(model.dims) == {}


def test_graphs_that_change_places_do_not_keep_each_others_partitions(
    model: RooflineModel, graphs: dict[str, Graph]
) -> None:
    model.partition, model.dims = [[0, 1]], {"n": 50}
    model.graphs = {"prefill": graphs["decode"], "decode": graphs["prefill"]}
    assert (model.graph, groups(model), dict(model.dims)) == (graphs["decode"], [1, 1], {"n": 50})


@pytest.mark.parametrize("trait", ["phase", "graph", "partition", "dims"])
def test_who_observes_a_change_of_phase_sees_all_that_follows_from_it(
    model: RooflineModel, graphs: dict[str, Graph], trait: str
) -> None:
    seen: list[dict[str, Any]] = []
    model.dims = {"m": 2}
    model.observe(lambda _change: seen.append(state(model)), trait)
    model.phase = "decode"
    expected = {"phase": "decode", "graph": graphs["decode"], "partition": Partition.unfused(graphs["decode"])}
    assert seen == [state(model)]
    assert {**seen[0], **expected, "dims": {}} == seen[0]


# -- the wire --------------------------------------------------------------------------------------------------


def test_graphs_are_sent_in_order_with_their_names(graphs: dict[str, Graph], widget: RooflineWidget) -> None:
    both = [[name, graph_to_wire(graph)] for name, graph in graphs.items()]
    assert graphs_to_wire(widget.graphs) == both
    assert json.loads(json.dumps(widget.get_state(["graphs", "phase"]))) == {"graphs": both, "phase": "prefill"}
    assert graphs_to_wire({}) == []


def test_a_phase_that_comes_alone_is_followed(
    widget: RooflineWidget, sent: list[dict[str, Any]], graphs: dict[str, Graph]
) -> None:
    widget.dims = {"m": 2}
    sent.clear()
    widget.set_state({"phase": "decode"})
    assert (widget.graph, dict(widget.dims)) == (graphs["decode"], {})
    assert sent == [{"dims": {}, "partition": [[0], [1]]}]


@pytest.mark.parametrize("merged", [[[0], [1]], [[0, 1]]])
@pytest.mark.parametrize("last", [False, True])
def test_what_comes_with_a_phase_is_of_that_phase_and_changes_nothing_else(
    widget: RooflineWidget, sent: list[dict[str, Any]], merged: list[list[int]], *, last: bool
) -> None:
    widget.dims, widget.partition, widget.selected = {"m": 2, "n": 60}, [[0, 1]], [0]
    seen: list[str] = []
    widget.observe(lambda _change: seen.append(getattr(widget.graph, "name", "")), "dims")
    sent.clear()
    rest = {"dims": {"n": 20}, "convention": "torch", "dtype": "fp8", "partition": merged, "selected": []}
    phase = {"phase": "decode"}
    widget.set_state({**rest, **phase} if last else {**phase, **rest})
    assert (widget.phase, dict(widget.dims), groups(widget)) == ("decode", {"n": 20}, [len(one) for one in merged])
    assert (widget.convention, widget.dtype, widget.selected) == ("torch", "fp8", ())
    assert widget.partition == widget.partition_of(merged)
    assert (sent, seen) == ([], ["decode"])


@pytest.mark.parametrize("change", [{"dtype": "fp8"}, {"convention": "mac"}], ids=str)
def test_counts_that_change_do_not_send_the_partition_back(
    widget: RooflineWidget, sent: list[dict[str, Any]], change: dict[str, str]
) -> None:
    widget.partition, widget.selected = [[0, 1]], [0]
    sent.clear()
    widget.set_state(change)
    assert sent == []
    widget.set_trait(next(iter(change)), {"dtype": None, "convention": ""}[next(iter(change))])
    assert [list(message) for message in sent] == [list(change)]
    widget.partition = [[0], [1]]
    assert sent[-1] == {"partition": [[0], [1]], "selected": ()}
    assert widget.selected == ()


def test_a_partition_that_an_observer_sets_with_a_phase_is_sent(
    widget: RooflineWidget, sent: list[dict[str, Any]]
) -> None:
    widget.observe(lambda _change: setattr(widget, "partition", [[0, 1]]), "phase")
    widget.set_state({"phase": "decode", "dims": {}, "partition": [[0], [1]]})
    assert sent[-1] == {"partition": [[0, 1]]}


@pytest.mark.parametrize(
    "message",
    [
        {"phase": "train"},
        {"phase": "decode", "dims": {"m": 3}},
        {"phase": "decode", "partition": [[0], [1], [2]]},
        {"phase": "decode", "partition": [[0, 1]], "dims": {"m": 3}},
        {"phase": 5},
    ],
    ids=str,
)
def test_a_bad_message_is_refused_and_changes_nothing(widget: RooflineWidget, message: dict[str, Any]) -> None:
    widget.partition, widget.dims = [[0, 1]], {"m": 2}
    before = state(widget)
    with pytest.raises(TraitError):
        widget.set_state(message)
    assert state(widget) == before
    widget.phase = "decode"
    assert groups(widget) == [1, 1]


def test_graphs_are_not_taken_from_a_message(widget: RooflineWidget) -> None:
    before = state(widget)
    widget.set_state({"graphs": [], "graph": None})
    assert state(widget) == before


# -- the phases of a block -------------------------------------------------------------------------------------


def test_the_phases_of_a_transformer_block_are_graphs_of_one_workload() -> None:
    batch, seq = dim("batch", 1, 256, default=1), dim("seq", 128, 32768, default=2048)
    phases = ("prefill", "decode", "train")
    blocks = {phase: transformer_block(batch, seq, 4096, 32, 8, 14336, phase=phase) for phase in phases}  # type: ignore[arg-type]
    model = RooflineModel(["h100-sxm"], graphs=blocks, dims={"batch": 4, "seq": 8192})
    kernels = {}
    for phase in phases:
        model.phase = phase
        kernels[phase] = model.shown_kernels
        assert dict(model.dims) == {"batch": 4, "seq": 8192}
    # Two FLOPs per weight and token: prefill reads 4 x 8192 tokens, decode writes 4.
    weights = 4096 * 14336
    flops = {phase: dict(zip(table.names, table.flops.tolist(), strict=True)) for phase, table in kernels.items()}
    assert flops["prefill"]["ffn_up"] == flops["train"]["ffn_up"] == 2 * weights * 4 * 8192
    assert flops["decode"]["ffn_up"] == 2 * weights * 4
