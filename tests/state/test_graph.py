"""A model with a graph: partition, sizes, convention and dtype, and the kernels that follow from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

from roofwidget import Chip, Graph, Memory, Partition, RooflineModel, RooflineWidget, bound, dim, preset
from roofwidget.wire import graph_to_wire, partition_to_wire
from tests.processes import run_python


@pytest.fixture
def tail() -> Graph:
    """Return layer norm to residual add over [batch x 2048, 4096] in bf16; the residual is the layer norm's input."""
    graph = Graph("tail")
    batch = dim("batch", 1, 1024, default=32)
    x = graph.input("x", (batch * 2048, 4096), "bf16")
    graph.output(graph.add(graph.dropout(graph.gelu(graph.layernorm(x))), x))
    return graph


@pytest.fixture
def model(tail: Graph) -> RooflineModel:
    return RooflineModel(preset("tpu-roofline-guide").chips[1:2], graph=tail)


def test_a_graph_is_shown_unfused_at_its_defaults(model: RooflineModel, tail: Graph) -> None:
    assert model.partition == Partition.unfused(tail)
    assert model.shown_kernels == tail.kernels()
    assert (dict(model.dims), model.convention, model.dtype) == ({}, "", None)
    assert repr(model) == "RooflineModel(v7x (bf16); 4 kernels counted by textbook)"


def test_kernels_follow_partition_and_sizes(model: RooflineModel, tail: Graph) -> None:
    model.partition = [[0, 1], ["dropout", "add"]]
    model.dims = {"batch": 64}
    assert list(model.shown_kernels.names) == ["layernorm + gelu", "dropout + add"]
    assert model.shown_kernels == Partition(tail, [[0, 1], [2, 3]]).kernels({"batch": 64})
    chip = preset("tpu-roofline-guide").chips[1]
    assert model.bound().time.tolist() == bound(model.shown_kernels, chip).time.tolist()


def test_sizes_at_their_defaults_are_not_kept(model: RooflineModel) -> None:
    model.dims = {"batch": 7}
    model.dims = {"batch": 32}
    assert dict(model.dims) == {}


def test_sizes_are_changed_by_setting_them_and_numpys_integers_are_sizes(model: RooflineModel) -> None:
    with pytest.raises(TypeError):
        model.dims["batch"] = 5000  # type: ignore[index]  # which is the point
    model.dims = {"batch": np.int64(64)}
    with pytest.raises(TypeError):
        model.dims["batch"] = 5000
    assert dict(model.dims) == {"batch": 64}
    assert type(model.dims["batch"]) is int
    assert Graph().environment() == Graph().environment({})


def test_every_table_of_a_graphs_kernels_names_the_convention(model: RooflineModel, tail: Graph) -> None:
    assert repr(tail.kernels()) == "Kernels(4 kernels, 0 measured; graph 'tail', counted by textbook)"
    assert repr(tail.kernels()[:2]) == "Kernels(2 kernels, 0 measured; graph 'tail', counted by textbook)"
    judged = bound(tail.with_convention("hpc").kernels(), "v5p")
    title = "4 kernels on TPU v5p · bf16 · HBM · graph 'tail', counted by hpc"
    assert repr(judged).splitlines()[0] == f"Bound: {title}"
    assert title.partition("on ")[2].replace("'", "&#x27;") in judged._repr_html_()
    model.convention = "mac"
    assert "counted by mac, but a multiply-add is 2 FLOPs" in repr(model)
    assert "counted by mac, but a multiply-add is 2 FLOPs" in repr(model.bound())
    assert repr(model.kernels) == repr(model.shown_kernels)


def test_the_kernels_of_a_model_with_a_graph_are_those_of_its_partition(model: RooflineModel, tail: Graph) -> None:
    assert model.kernels == model.shown_kernels == tail.kernels()
    model.partition = [[op.name for op in tail.ops[:2]], *([op.name] for op in tail.ops[2:])]
    assert len(model.kernels) == len(tail.ops) - 1
    assert model.kernels == model.shown_kernels
    model.graph = None
    assert len(model.kernels) == 0


def test_a_graph_without_chips_brings_no_kernels_of_a_preset(tail: Graph) -> None:
    model = RooflineModel(graph=tail)
    assert model.kernels == tail.kernels()
    assert len(RooflineModel(graphs={"one": tail}).kernels) == len(tail.ops)
    model.graph = None
    assert len(model.kernels) == 0
    assert len(RooflineModel().kernels) == 4


def test_kernels_that_were_given_come_back_without_the_graph(tail: Graph) -> None:
    model = RooflineModel(["v5p"], [("own", 1e9, 1e6)])
    model.graph = tail
    assert model.kernels == tail.kernels()
    with model.hold_trait_notifications():
        model.kernels = [("other", 1e9, 1e6)]
        model.title = "held"
    assert model.kernels == tail.kernels()
    model.graph = None
    assert model.kernels.names.tolist() == ["other"]


def test_the_kernels_of_a_graph_are_not_sent_since_the_page_makes_them(tail: Graph) -> None:
    widget = RooflineWidget(graph=tail)
    assert widget.get_state("kernels")["kernels"]["n"] == 0
    assert len(widget.kernels) == len(tail.ops)


def test_a_graph_without_ops_has_a_partition_that_is_told() -> None:
    assert repr(Partition.unfused(Graph("empty"))).startswith("Partition('empty': 0 ops in 0 kernels, 0 B")
    assert Partition.unfused(Graph("empty")).excess() == 1


def test_counts_follow_convention_and_dtype_and_the_partition_stays(model: RooflineModel) -> None:
    model.partition = [[0, 1, 2, 3]]
    before = model.shown_kernels.bytes[0]
    model.dtype = "fp8"
    assert model.shown_kernels.bytes[0] * 2 == before
    assert model.partition == model.partition_of([[0, 1, 2, 3]])
    model.dtype = "bf16"
    assert model.dtype is None
    model.convention = "torch"
    assert model.shown_kernels.flops.tolist() == [0.0]
    model.convention = "textbook"
    assert model.convention == ""


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("partition", [[0, 3], [1], [2]], "must run after layernorm and before add"),
        ("partition", [[0], [1]], "partition"),
        ("dims", {"batch": 0}, "batch"),
        ("dims", {"bach": 3}, "batch"),
        ("dims", {"batch": 2.5}, "batch"),
        ("convention", "textbok", "textbook"),
        ("dtype", "bf61", "bf16"),
        ("graph", "tail", "graph"),
    ],
)
def test_what_does_not_fit_the_graph_is_refused_and_nothing_changes(
    model: RooflineModel, trait: str, value: Any, message: str
) -> None:
    before = getattr(model, trait)
    with pytest.raises(TraitError, match=message):
        setattr(model, trait, value)
    assert getattr(model, trait) == before


def test_a_partition_needs_a_graph() -> None:
    with pytest.raises(TraitError, match="set graph first"):
        RooflineModel(partition=[[0]])


def test_graph_partition_and_sizes_may_be_given_together(tail: Graph) -> None:
    model = RooflineModel(["v5p"], graph=tail, partition=[[0, 1], [2, 3]], dims={"batch": 2}, selected=[1])
    assert model.partition is not None
    assert [len(group) for group in model.partition.groups] == [2, 2]
    assert list(model.selected_kernels.names) == ["dropout + add"]


def test_another_graph_or_partition_forgets_selected_rows(model: RooflineModel) -> None:
    model.selected = [3]
    model.partition = [[0, 1, 2, 3]]
    assert model.selected == ()
    model.graph = None
    assert model.partition is None
    assert len(model.shown_kernels) == len(model.kernels)


def test_counts_that_change_forget_no_rows_and_are_seen(model: RooflineModel) -> None:
    model.partition, model.selected, model.hovered = [[0, 1], [2], [3]], [2], 1
    seen: list[Partition] = []
    model.observe(lambda change: seen.append(change.new), "partition")
    model.dtype = "fp8"
    model.convention = "torch"
    assert (model.selected, model.hovered) == ((2,), 1)
    assert [(one.graph.dtype, one.graph.convention.name) for one in seen] == [("fp8", "textbook"), ("fp8", "torch")]
    model.partition = [[0], [1], [2, 3]]
    assert (model.selected, model.hovered) == ((), None)


def test_the_same_positions_in_another_graph_are_other_groups(model: RooflineModel) -> None:
    model.selected = [2]
    other = Graph("other")
    x = other.input("x", (8, 8), "bf16")
    other.output(other.add(other.dropout(other.relu(other.layernorm(x))), x))
    model.graph = other
    assert (model.selected, model.partition) == ((), Partition.unfused(other))


def test_a_partition_that_is_set_stays_the_one_that_it_is(model: RooflineModel, tail: Graph) -> None:
    best = Partition.best(tail, "v5p")
    model.partition = best
    assert model.partition is best
    model.dtype = "fp8"
    model.partition = best
    assert model.partition == Partition(tail.with_dtype("fp8"), [[0, 1, 2, 3]])


def test_a_partition_of_another_graph_is_refused_and_both_are_named(model: RooflineModel) -> None:
    other = Graph("head")
    x = other.input("x", (8, 8), "bf16")
    other.output(other.add(other.dropout(other.relu(other.layernorm(x))), x))
    before = model.partition
    with pytest.raises(TraitError, match=r"partition: .* 'relu' of graph 'head' .* graph 'tail'.*set `graph` first"):
        model.partition = Partition.unfused(other)
    assert model.partition is before


def test_a_partition_that_recomputes_is_of_its_own_graph() -> None:
    twice = Graph("twice")
    y = twice.relu(twice.input("x", (8, 8), "bf16"))
    twice.output(twice.add(twice.gelu(y), twice.square(y)))
    recomputed = Partition.unfused(twice).recompute("relu")
    model = RooflineModel(["v5p"], graph=twice)
    with pytest.raises(TraitError, match="set `graph` first"):
        model.partition = recomputed
    model.graph = recomputed.graph
    model.partition = recomputed
    assert model.partition is recomputed


def test_a_partition_with_spills_is_refused_with_the_reason(tail: Graph) -> None:
    small = Chip("Small", {"bf16": 1e15}, {"HBM": 1e12, "SMEM": Memory("SMEM", None, 8000)}, units="1 SM")
    spilled = Partition.unfused(tail).fuse("layernorm", "gelu", chip=small, spill=True)
    assert spilled.spilled == ("layernorm",)
    model = RooflineModel([small], graph=tail)
    with pytest.raises(TraitError, match=r"partition: it spills 'layernorm', .*kernels\(\)"):
        model.partition = spilled
    assert model.partition is not None
    assert len(model.partition) == 4


def test_the_wire_has_expressions_of_dims_conventions_and_dtypes(model: RooflineModel, tail: Graph) -> None:
    wire = graph_to_wire(tail)
    assert wire["dims"] == [["batch", 1, 1024, 32]]
    assert [op["name"] for op in wire["ops"]] == ["layernorm", "gelu", "dropout", "add"]
    assert sorted(map(str, wire["tensors"][0]["bytes"])) == ["*", "1048576", "@bf16", "batch"]
    assert wire["conventions"]["mac"]["@fma"] == 1
    assert partition_to_wire(model.partition) == [[0], [1], [2], [3]]
    assert partition_to_wire(None) is None


def test_without_a_model_the_operators_are_not_loaded() -> None:
    run_python("import sys, roofwidget as rw; rw.chip('v5p'); sys.exit('roofwidget.workloads' in sys.modules)")


def test_the_roof_of_auto_is_at_the_precision_that_all_kernels_compute_in() -> None:
    chip = Chip("C", {"bf16": 1e14, "fp8": 2e14, "fp32": 1e13}, {"HBM": 1e12})
    kernel = {"name": "mm", "flops": 1e9, "bytes": 1e6}
    model = RooflineModel([chip], [{**kernel, "precision": "fp8"}, {"name": "copy", "flops": 0, "bytes": 1e6}])
    assert model.peak_flops == 2e14
    model.peak_flops = "150 TFLOP/s"
    assert model.what_if == {"c": {"peak_flops": {"fp8": 1.5e14}}}
    for others in ([{**kernel, "precision": "bf16"}], [kernel], [{**kernel, "precision": "int4"}]):
        model.kernels = [{**kernel, "precision": "fp8"}, *others]
        assert model.peak_flops == 1e14
    model.kernels = [{**kernel, "flops": {"fp32": 3e9}}]
    assert model.peak_flops == 1e13
    model.precision = "bf16"
    assert model.peak_flops == 1e14


def test_the_roof_of_auto_follows_the_dtype_of_a_graph() -> None:
    chip = Chip("C", {"bf16": 1e14, "fp8": 2e14}, {"HBM": 1e12})
    graph = Graph("g")
    graph.output(graph.matmul(graph.input("a", (64, 64), "bf16"), graph.input("b", (64, 64), "bf16")))
    model = RooflineModel([chip], graph=graph)
    assert model.peak_flops == 1e14
    model.dtype = "fp8"
    assert model.peak_flops == 2e14
