"""Dimensions that differ from their defaults: sizes stay at least 1, and divisions leave no remainder."""

from __future__ import annotations

import re

import pytest
from traitlets import TraitError

from roofwidget import Graph, Partition, RooflineModel, dim
from roofwidget.wire import graph_to_wire
from roofwidget.workloads import Tensor, transformer_block


def shrunk() -> Graph:
    """Return relu over n - 3 elements of 4 bytes, n from 1 to 9."""
    graph = Graph("shrunk")
    graph.output(graph.relu(graph.input("x", (dim("n", 1, 9, default=8) - 3,), "fp32")))
    return graph


def convolved() -> Graph:
    """Return the first layer of AlexNet: windows of 11 with a stride of 4 over h x h pixels and padding of 2."""
    graph = Graph("alexnet")
    h = dim("h", 1, 224, default=224)
    graph.output(graph.conv2d(graph.input("x", (1, 3, h, h), "fp32"), 64, 11, stride=4, padding=2))
    return graph


def block(phase: str = "prefill", **sizes: object) -> Graph:
    how = {"batch": 1, "seq": 2048, "hidden": 4096, "heads": 32, **sizes}
    return transformer_block(**how, phase=phase)  # type: ignore[arg-type]


def test_a_size_below_one_is_refused_and_the_message_names_op_tensor_dim_and_what_would_do() -> None:
    graph = shrunk()
    assert graph.count("bytes", {"n": 4}) == 2 * 4
    with pytest.raises(ValueError, match="n = 1") as refused:
        graph.count("bytes", {"n": 1})
    assert str(refused.value) == (
        "graph 'shrunk': with n = 1, input: axis 0 of 'x' = n - 3 = -2, which is not at least 1; n = 4 would do"
    )
    with pytest.raises(ValueError, match="n = 3"):
        graph.kernels({"n": 3})


def test_a_window_that_no_longer_fits_is_refused() -> None:
    # (7 + 2 x 2 - 11) / 4 + 1 = 1 output of 7 pixels, none of 6. Taps on padding count: 2 x 64 x 3 x 11 x 11 FLOPs.
    graph = convolved()
    assert graph.count("flops", {"h": 7}) == 2 * 64 * 3 * 11 * 11
    with pytest.raises(ValueError, match=r"with h = 6, op 'conv2d': axis 2 of 'conv2d' = .* = 0, .*; h = 7 would do"):
        graph.count("flops", {"h": 6})


def test_heads_must_divide_what_they_share() -> None:
    graph = block(heads=dim("heads", 1, 64, default=32))
    graph.count("flops", {"heads": 16})
    with pytest.raises(ValueError, match=re.escape("hidden = 4096 is no multiple of heads = 33; heads = 32 would do")):
        graph.count("flops", {"heads": 33})


def test_either_dim_of_a_condition_can_mend_it() -> None:
    hidden, heads = dim("hidden", 64, 8192, default=4096), dim("heads", 1, 64, default=32)
    graph = block(hidden=hidden, heads=heads)
    graph.count("flops", {"heads": 33, "hidden": 33 * 128})
    with pytest.raises(ValueError, match=r"hidden = 4096 is no multiple of heads = 33; .* would do") as refused:
        graph.count("flops", {"heads": 33})
    # 4092 = 33 x 124 is nearer to 4096 than 4125.
    assert "hidden = 4092" in str(refused.value)
    assert "heads = 32" in str(refused.value)


def test_query_heads_stay_a_multiple_of_key_heads() -> None:
    graph = block(kv_heads=dim("kv_heads", 1, 32, default=8))
    with pytest.raises(ValueError, match=r"heads .*= 32 is no multiple of kv_heads = 5; kv_heads = 4 would do"):
        graph.count("flops", {"kv_heads": 5})


def test_decoding_needs_a_token_before_the_new_one_wherever_it_is_asked() -> None:
    graph = block("decode", seq=dim("seq", 1, 4096, default=2048))
    asked = {"seq": 1}
    partition = Partition.unfused(graph)
    first, second = partition.groups[0][0], partition.groups[1][0]
    for ask in (
        lambda: Partition.best(graph, "v5p", dims=asked),
        lambda: partition.why_not(first, second, chip="v5p", dims=asked),
        lambda: graph.kernels(asked),
    ):
        with pytest.raises(ValueError, match=r"with seq = 1, .*k_cache.* = 0, .*; seq = 2 would do"):
            ask()


def test_conditions_outlive_copies_and_recomputation_and_fall_with_an_operator_that_fails() -> None:
    graph = block(heads=dim("heads", 1, 64, default=32))
    assert graph.with_dtype("fp8").conditions == graph.with_convention("mac").conditions == graph.conditions
    recomputed = Partition.unfused(graph).recompute("attention_add").graph
    with pytest.raises(ValueError, match="no multiple of heads = 33"):
        recomputed.count("flops", {"heads": 33})
    small = Graph()
    x = small.input("x", (2, dim("n", 1, 9, default=8) - 3), "fp32")
    before = dict(small.conditions)
    with pytest.raises(ValueError, match="axes"):
        small.conv2d(x, 4, 3)
    assert dict(small.conditions) == before


def test_an_operator_of_ones_own_may_set_a_condition() -> None:
    graph = Graph("own")
    n = dim("n", 1, 64, default=8)
    graph.require("op 'own': lanes", n, 8)
    graph.output(graph.relu(graph.input("x", (n,), "fp32")))
    assert graph.count("flops", {"n": 16}) == 16
    with pytest.raises(ValueError, match="op 'own': lanes = n = 13 is no multiple of 8; n = 16 would do"):
        graph.count("flops", {"n": 13})
    with pytest.raises(ValueError, match="n = 8 is no multiple of 5"):
        graph.require("op 'own': lanes", n, 5)


def test_sizes_that_are_at_least_one_by_themselves_set_no_condition() -> None:
    graph = Graph()
    n = dim("n", 1, 64, default=8)
    graph.output(graph.relu(graph.input("x", (2 * n * n + 1, n), "fp32")))
    assert dict(graph.conditions) == {}


def test_the_model_refuses_such_sizes_and_the_wire_tells_the_conditions() -> None:
    graph = shrunk()
    model = RooflineModel(["v5p"], graph=graph)
    with pytest.raises(TraitError, match=r"dims: graph 'shrunk': with n = 1, .* n = 4 would do"):
        model.dims = {"n": 1}
    assert dict(model.dims) == {}
    assert graph_to_wire(graph)["conditions"] == [["input: axis 0 of 'x'", ["+", "n", -3], 0]]
    heads = graph_to_wire(block(heads=dim("heads", 1, 64, default=32)))["conditions"]
    assert ["op 'attention': hidden", 4096, "heads"] in heads


def test_sizes_that_do_not_fit_another_phase_are_its_defaults() -> None:
    n = dim("n", 1, 9, default=8)
    plain = Graph("plain")
    plain.output(plain.relu(plain.input("x", (n,), "fp32")))
    model = RooflineModel(["v5p"], graphs={"plain": plain, "shrunk": shrunk()})
    model.dims = {"n": 5}
    model.phase = "shrunk"
    assert dict(model.dims) == {"n": 5}
    model.phase = "plain"
    model.dims = {"n": 2}
    model.phase = "shrunk"
    assert dict(model.dims) == {}


def test_a_graph_of_ready_made_ops_has_the_conditions_of_its_tensors() -> None:
    built = shrunk()
    again = Graph("again", built.ops, built.outputs)
    with pytest.raises(ValueError, match="n = 4 would do"):
        again.count("flops", {"n": 2})
    assert Tensor("x", (dim("n", 1, 9, default=8) - 3,), "fp32").shape == built.tensors["x"].shape
