"""Graphs of traced operations that are added by hand."""

from __future__ import annotations

import pytest

from roofwidget.measure.graphs.trace import Trace, Where, made
from roofwidget.measure.graphs.views import Array, View


def test_a_result_that_ops_read_in_one_other_shape_has_this_shape() -> None:
    trace = Trace("rows")
    x = made((4, 8), "fp32", name="x").view()
    total = trace.op(Where("sum"), "reduction", [x], [made((4,), "fp32")], [("add", "vector", 28)], dims=[1])[0]
    column = View(total.array, (4, 8), (1, 0))
    result = trace.function(Where("divide"), ["divide"], [x, column], made((4, 8), "fp32"))
    graph = trace.graph([result])
    assert [tensor.shape for tensor in graph.ops[0].outputs] == [(4, 1)]
    assert [(op.kind, op.axes) for op in graph.ops] == [("reduction", (1,)), ("broadcast", ())]


def test_a_product_of_parts_of_an_operand_has_the_precision_of_the_wider_operand() -> None:
    trace = Trace("parts")
    x, w = made((4, 8), "bf16", name="x"), made((8, 2), "fp32", name="w")
    half = trace.function(Where("relu"), ["relu"], [View(x, (4, 4), (8, 1))], made((4, 4), "bf16"))
    product = trace.operator(Where("matmul"), "matmul", [x.view(), w.view()], out=made((4, 2), "fp32"))
    graph = trace.graph([half, product])
    assert [tensor.name for tensor in graph.ops[1].inputs] == ["x[:, 0:4]", "x[:, 4:8]", "w"]
    assert graph.kernels().precision.tolist() == ["bf16", "fp32"]


def test_operations_on_which_no_result_depends_are_left_out() -> None:
    trace = Trace("dead")
    x = made((4,), "fp32", name="x").view()
    trace.function(Where("exp"), ["exp"], [x], made((4,), "fp32"))
    kept = trace.function(Where("relu"), ["relu"], [x], made((4,), "fp32"))
    assert [op.name for op in trace.graph([kept]).ops] == ["relu"]


def test_integers_have_no_flops_except_those_of_products() -> None:
    trace = Trace("integers")
    x = made((4, 4), "int32", name="x").view()
    twice = trace.function(Where("add"), ["add"], [x, x], made((4, 4), "int32"))
    product = trace.operator(Where("matmul"), "matmul", [twice, x], out=made((4, 4), "int32"))
    graph = trace.graph([product])
    assert [graph.flops(op) for op in graph.ops] == [0, 128]


def test_ops_of_a_module_with_no_modules_of_its_own_have_its_path() -> None:
    trace = Trace("names")
    view = made((4,), "fp32", name="x").view()
    places = [
        Where("relu", "layer.act", is_leaf=True),
        Where("relu", "layer.act", is_leaf=True),
        Where("relu", "layer.0", is_leaf=True),
        Where("relu", "layer.norm", is_leaf=True),
        Where("exp", "layer.norm", is_leaf=True),
        Where("exp", "layer"),
        Where("exp"),
        Where("relu", "layer.relu"),
    ]
    for place in places:
        view = trace.function(place, [place.word], [view], made((4,), "fp32"))
    assert [op.name for op in trace.graph([view]).ops] == [
        *(
            "layer.act",
            "layer.act_2",
            "layer.0.relu",
            "layer.norm.relu",
            "layer.norm.exp",
            "layer.exp",
            "exp",
            "layer.relu",
        ),
    ]


def test_a_note_names_six_operations_without_an_operator_and_counts_the_others() -> None:
    trace = Trace("unknown")
    view = made((4,), "fp32", name="x").view()
    for _ in range(8):
        (view,) = trace.unknown(Where("odd"), [view], [made((4,), "fp32")])
    (note,) = trace.graph([view]).notes
    assert note.endswith(": 'odd', 'odd_2', 'odd_3', 'odd_4', 'odd_5', 'odd_6' and 2 more")


def test_empty_arrays_move_nothing() -> None:
    trace = Trace("empty")
    x, nothing = made((4,), "fp32", name="x").view(), made((0, 4), "fp32", name="nothing").view()
    (joined,) = trace.op(Where("concatenate"), "injective", [x, nothing], [made((4,), "fp32")])
    (empty,) = trace.op(Where("copy"), "elementwise", [nothing], [made((0, 4), "fp32")])
    graph = trace.graph([joined, empty])
    assert [op.name for op in graph.ops] == ["concatenate"]
    assert graph.count("bytes") == 32


def test_a_trace_without_operations_is_refused() -> None:
    with pytest.raises(ValueError, match="same has no operations: it returns its inputs, or views of them"):
        Trace("same").graph([Array("x", (4,), (1,), "fp32").view()])
