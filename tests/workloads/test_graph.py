"""Graphs: building, looking up, counting under conventions and dtypes, and clear errors."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads import CLASSES, KINDS, Convention, Graph, Op, Tensor, chain, dim, register_op
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.registry import OPERATORS

X, Y, Z = (Tensor(name, (4, 8), "fp32") for name in "xyz")


def tail(**how: Any) -> Graph:
    batch = dim("batch", 1, 1024, default=32)
    g = Graph("tail", **how)
    x = g.input("x", (batch, 4096), "bf16")
    g.output(g.add(g.gelu(g.linear(x, 4096)), x))
    return g


# -- building ----------------------------------------------------------------------------------------------------------


def test_a_graph_is_built_by_functions_that_read_like_the_maths() -> None:
    g = tail()
    assert [op.name for op in g.ops] == ["linear", "gelu", "add"]
    assert list(g.tensors) == ["x", "linear.weight", "linear", "gelu", "add"]
    assert [t.name for t in g.inputs] == ["x", "linear.weight"]
    assert [t.name for t in g.outputs] == ["add"]
    assert repr(g) == "Graph('tail': 3 ops, 5 tensors, 1 output; textbook)"


def test_producers_and_consumers_are_found_by_tensor_or_name() -> None:
    g = tail()
    gelu = g.producer("gelu")
    assert gelu is not None
    assert gelu.name == "gelu"
    assert g.producer(g.tensors["x"]) is None
    assert [op.name for op in g.consumers("x")] == ["linear", "add"]
    assert g.consumers("add") == ()


def test_an_op_that_names_a_tensor_twice_reads_it_once() -> None:
    g = Graph()
    x = g.input("x", (4, 8), "fp32")
    g.output(g.add(x, x))
    assert len(g.consumers("x")) == 1
    assert g.count("bytes") == 2 * 128


def test_a_graph_can_be_made_from_ops() -> None:
    ops = [Op("a", "elementwise", [X], [Y], 32), Op("b", "elementwise", [Y], [Z], 32)]
    g = Graph("two", ops, [Z])
    assert (g.ops, g.outputs) == (tuple(ops), (Z,))
    assert g.inputs == (X,)
    assert g.count("flops") == 64
    assert Graph("two", ops, ["z"]).outputs == (Z,)


def test_second_ops_of_a_kind_are_numbered() -> None:
    g = Graph()
    x = g.input("x", (4,), "fp32")
    assert [g.relu(x).name for _ in range(3)] == ["relu", "relu_2", "relu_3"]
    assert g.new_name("gelu") == "gelu"


# -- counting ----------------------------------------------------------------------------------------------------------


def test_counts_are_expressions_over_the_dims_alone() -> None:
    g = tail()
    assert str(g.flops("linear")) == "33554432·batch"
    assert str(g.bytes("gelu")) == "8192·batch"
    assert str(g.bytes(g.ops[0])) == "16384·batch + 33554432"
    assert g.dims == (dim("batch", 1, 1024, default=32),)


def test_counts_of_plain_ints_are_ints() -> None:
    g = Graph()
    y = g.gelu(g.input("x", (3, 5), "fp4"))
    assert (g.flops("gelu"), g.bytes(y)) == (120, 8)
    assert type(g.flops("gelu")) is type(g.bytes(y)) is int


@given(st.integers(1, 1024))
def test_a_count_at_given_dims_is_that_of_a_graph_of_ints(batch: int) -> None:
    g = Graph()
    x = g.input("x", (batch, 4096), "bf16")
    g.output(g.add(g.gelu(g.linear(x, 4096)), x))
    for what in ("flops", *CLASSES, "bytes", "compulsory"):
        assert tail().count(what, {"batch": batch}) == g.count(what)


def test_counts_use_the_defaults_of_dims_unless_told() -> None:
    g = tail()
    assert g.count("flops") == g.count("flops", {"batch": 32}) == 32 * (2 * 4096**2 + 9 * 4096)
    assert g.environment()["batch"] == 32
    assert evaluate(g.flops("linear"), g.environment({"batch": 2})) == 2 * 2 * 4096**2


def test_compulsory_bytes_are_the_inputs_that_are_read_and_what_must_be_written() -> None:
    g = Graph()
    x, unused = g.input("x", (4, 8), "fp32"), g.input("unused", (100,), "fp32")
    y = g.relu(x)
    g.exp(y)
    assert unused.name in g.tensors
    assert g.count("compulsory") == 128 + 128
    g.output(y)
    assert g.count("compulsory") == 3 * 128


def test_a_convention_changes_counts_and_not_the_graph() -> None:
    g = tail()
    torch = g.with_convention("torch")
    assert torch.count("flops") == 32 * 2 * 4096**2
    assert g.convention.name == "textbook"
    assert g.with_convention("mac").count("flops") == 32 * 4096**2
    assert g.with_convention(Convention("acc", accumulator_bytes=4)).count("bytes") == g.count("bytes") + 4 * 32 * 4096
    torch.relu(torch.tensors["add"])
    assert len(g.ops) == 3


def test_transcendentals_are_apart_only_where_the_convention_says_so() -> None:
    g = tail()
    n = 32 * 4096
    assert {word: evaluate(c, {"batch": 32}) for word, c in g.flops_by_class("gelu").items()} == {"vector": 8 * n}
    xla = g.with_convention("xla")
    assert {word: evaluate(c, {"batch": 32}) for word, c in xla.flops_by_class("gelu").items()} == {
        "vector": 7 * n,
        "transcendental": n,
    }
    assert xla.count("flops") == g.count("flops")


@given(st.sampled_from(["textbook", "xla", "torch", "mac", "hpc"]))
def test_the_terms_of_an_op_add_up_to_its_flops(convention: str) -> None:
    g = tail(convention=convention)
    for op in g.ops:
        total: Any = 0
        for _, count in g.terms(op):
            total = total + count
        assert total == g.flops(op)


def test_a_dtype_stands_for_the_main_one_in_counts() -> None:
    g = Graph()
    x = g.input("x", (4, 8), "bf16")
    g.output(g.embedding(g.input("tokens", (4,), "int32"), 8), g.relu(x), g.cast(x, "fp32"))
    assert g.main_dtype == "bf16"
    fp8 = g.with_dtype("fp8")
    assert (g.bytes("x"), fp8.bytes("x"), fp8.bytes("tokens"), fp8.bytes("cast")) == (64, 32, 16, 128)
    assert [fp8.dtype_of(name) for name in ("x", "tokens", "cast")] == ["fp8", "int32", "fp32"]
    assert repr(fp8).endswith("textbook, fp8)")
    assert fp8.with_dtype(None).bytes("x") == 64


def test_the_main_dtype_is_that_of_most_tensors_even_while_building() -> None:
    g = Graph(dtype="fp8")
    x = g.input("x", (8,), "fp32")
    assert g.bytes(x) == 8
    for _ in range(2):
        g.relu(g.cast(x, "bf16"))
    assert (g.main_dtype, g.bytes(x), g.bytes("relu")) == ("bf16", 32, 8)


def test_every_op_is_a_kernel_until_it_is_fused() -> None:
    g = tail()
    kernels = g.kernels({"batch": 2})
    assert list(kernels.names) == [op.name for op in g.ops]
    assert kernels.bytes.sum() == g.count("bytes", {"batch": 2})
    assert kernels.flops.sum() == g.count("flops", {"batch": 2})


def test_help_on_an_operator_shows_its_parameters() -> None:
    g = Graph()
    assert list(inspect.signature(g.layernorm).parameters) == ["x", "affine", "passes", "flops_per_element", "name"]
    assert str(g.layernorm.__doc__).startswith("Normalise rows")


def test_a_copied_and_a_pickled_graph_count_alike() -> None:
    g = tail(convention="hpc")
    again = pickle.loads(pickle.dumps(g))  # noqa: S301 - it was written on the line itself
    assert [again.count(what) for what in ("flops", "bytes")] == [g.count(what) for what in ("flops", "bytes")]
    assert again.ops == g.ops


# -- errors ------------------------------------------------------------------------------------------------------------


def test_two_ops_of_one_name_are_refused() -> None:
    g = Graph("g")
    x = g.input("x", (4,), "fp32")
    g.op("elementwise", "a", [x], [Tensor("y", (4,), "fp32")], 4)
    with pytest.raises(ValueError, match="graph 'g' has two ops called 'a'"):
        g.op("elementwise", "a", [x], [Tensor("z", (4,), "fp32")], 4)
    with pytest.raises(ValueError, match="already has an op or a tensor called 'y'"):
        g.relu(x, name="y")
    assert list(g.tensors) == ["x", "y"]


def test_two_tensors_of_one_name_are_refused_and_nothing_is_half_added() -> None:
    g = Graph("g")
    x = g.input("x", (4,), "fp32")
    with pytest.raises(ValueError, match="graph 'g' already has a tensor called 'x'"):
        g.input("x", (5,), "fp32")
    with pytest.raises(ValueError, match="op 'a': graph 'g' already has a tensor called 'x'"):
        g.op("elementwise", "a", [x], [Tensor("y", (4,), "fp32"), x], 4)
    assert list(g.tensors) == ["x"]
    assert g.ops == ()


def test_an_unknown_tensor_is_refused_with_the_nearest() -> None:
    g = Graph("g")
    g.input("hidden", (4,), "fp32")
    with pytest.raises(ValueError, match="op 'relu': graph 'g' has no tensor 'hiden'; did you mean 'hidden'"):
        g.relu(Tensor("hiden", (4,), "fp32"))
    with pytest.raises(ValueError, match=r"op 'relu': 'hidden' is hidden\[5\] fp32, but graph 'g' has another tensor"):
        g.relu(Tensor("hidden", (5,), "fp32"))
    with pytest.raises(ValueError, match="graph 'g' has no op 'gelu'"):
        g.flops("gelu")


def test_an_output_that_is_never_produced_is_refused() -> None:
    g = Graph("g")
    x = g.input("x", (4,), "fp32")
    with pytest.raises(ValueError, match="output 'x' is never produced: no op of graph 'g' writes it"):
        g.output(x)
    with pytest.raises(ValueError, match="output: graph 'g' has no tensor 'y'"):
        g.output("y")


def test_ops_in_a_cycle_are_refused_and_the_cycle_is_named() -> None:
    a, b = Op("a", "elementwise", [Z], [Y], 1), Op("b", "elementwise", [Y], [Z], 1)
    behind = Op("c", "elementwise", [Z], [X], 1)
    with pytest.raises(ValueError, match="the ops form a cycle, b -> 'z' -> a -> 'y' -> b; drop"):
        Graph("g", [behind, a, b])
    with pytest.raises(ValueError, match="op 'a' needs its own result: the ops form a cycle, a -> 'y' -> a; drop one"):
        Graph("g", [Op("a", "elementwise", [Y], [Y], 1)])


def test_ops_out_of_order_are_refused_with_the_order_that_works() -> None:
    a, b = Op("a", "elementwise", [X], [Y], 1), Op("b", "elementwise", [Y], [Z], 1)
    with pytest.raises(ValueError, match="op 'b' reads tensor 'y' before op 'a' writes it; put 'a' first"):
        Graph("g", [b, a])


def test_dims_that_differ_under_one_name_are_refused() -> None:
    g = Graph("g")
    g.input("x", (dim("batch", 1, 8, default=2),), "fp32")
    with pytest.raises(ValueError, match="input: tensor 'y': dim 'batch' differs"):
        g.input("y", (dim("batch", 1, 9, default=2),), "fp32")


@pytest.mark.parametrize(
    ("dims", "error", "message"),
    [
        ({"bach": 2}, ValueError, "graph 'tail' has no dim 'bach'; did you mean 'batch'"),
        ({"batch": 2.0}, TypeError, r"dim 'batch' of graph 'tail' must be an int, got 2\.0"),
        ({"batch": True}, TypeError, "must be an int"),
        ({"batch": 0}, ValueError, "must be from 1 to 1024, got 0"),
        ({"batch": 1025}, ValueError, "must be from 1 to 1024, got 1025"),
    ],
)
def test_a_wrong_value_of_a_dim_is_refused(dims: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tail().count("flops", dims)


def test_an_unknown_count_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot count 'flop'; did you mean 'flops'"):
        tail().count("flop")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kind": "elementwize"}, "op 'a': unknown kind 'elementwize'; did you mean 'elementwise'"),
        ({"flops": {"matmul": 1}}, "op 'a': unknown class of FLOPs 'matmul'"),
        ({"flops": -1}, "the vector FLOPs of op 'a' must not be negative, got -1"),
        ({"extra_bytes": -1}, "extra_bytes of op 'a' must not be negative"),
        ({"outputs": []}, "op 'a' writes no tensor"),
    ],
)
def test_an_op_that_is_wrong_is_refused(how: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"kind": "elementwise", "inputs": [X], "outputs": [Y], "flops": 1} | how
    with pytest.raises(ValueError, match=message):
        Op("a", **given)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"flops": 1.5}, r"the vector FLOPs of op 'a' must be an int or an expression, got 1\.5"),
        ({"inputs": ["x"]}, "inputs of op 'a' must be tensors, got 'x'"),
        ({"terms": [("mean", None)]}, "term 'mean' of op 'a' must be an int or an expression"),
        ({"name": ""}, "an op's name must be text"),
    ],
)
def test_an_op_of_the_wrong_types_is_refused(how: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"name": "a", "kind": "elementwise", "inputs": [X], "outputs": [Y], "flops": 1} | how
    with pytest.raises(TypeError, match=message):
        Op(**given)


def test_one_count_is_of_the_class_of_the_kind() -> None:
    assert {kind: next(iter(Op("a", kind, [X], [Y], 1).flops)) for kind in KINDS} == {
        kind: "tensor" if kind == "matmul" else "vector" for kind in KINDS
    }


# -- operators of one's own --------------------------------------------------------------------------------------------


def test_an_operator_of_ones_own_becomes_a_method_and_can_be_made_again() -> None:
    def halve(graph: Graph, x: Tensor, *, times: int = 1, name: str | None = None) -> Tensor:
        y = Tensor(graph.new_name(name or "halve"), x.shape, x.dtype)
        graph.op("elementwise", y.name, [x], [y], times * x.size)
        return y

    try:
        register_op("halve", halve)
        register_op("halve", halve)
        g = Graph()
        y = g.halve(g.input("x", (4,), "fp32"), times=3)
        assert g.flops(y.name) == 12
        assert "halve" in dir(g)
        with pytest.raises(TypeError, match="operator 'halve' has no keyword 'time'; did you mean 'times'"):
            g.halve(y, time=2)
    finally:
        OPERATORS.pop("halve", None)
    with pytest.raises(AttributeError, match="a graph has no operator or attribute 'halve'"):
        Graph().halve()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gelu", "'gelu' is a built-in operator"),
        ("count", "'count' is an attribute of every graph"),
        ("name", "'name' is an attribute of every graph"),
        ("two words", "must be an identifier"),
        ("_mine", "must be an identifier"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        register_op(name, lambda graph: graph)


def test_an_operator_is_a_function() -> None:
    with pytest.raises(TypeError, match="operator 'mine' must be a function"):
        register_op("mine", 3)  # type: ignore[arg-type]


def test_an_unknown_operator_is_refused_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="no operator or attribute 'layer_norm'; did you mean 'layernorm'"):
        Graph().layer_norm()


def test_an_unknown_keyword_of_an_operator_is_refused_with_the_nearest() -> None:
    g = Graph()
    with pytest.raises(TypeError, match="operator 'linear' has no keyword 'bais'; did you mean 'bias'"):
        g.linear(g.input("x", (4,), "fp32"), 8, bais=True)


# -- chains ------------------------------------------------------------------------------------------------------------


def test_a_chain_reads_and_writes_one_tensor_an_op() -> None:
    elements = dim("n", 1, 2**40, default=1000)
    g = chain([("a", 10), ("b", 1)], elements=elements, dtype="fp32")
    assert (g.count("flops"), g.count("bytes"), g.count("compulsory")) == (11_000, 16_000, 8_000)
    assert [t.name for t in g.outputs] == ["b out"]


@pytest.mark.parametrize(
    ("ops", "error", "message"),
    [
        ([], ValueError, "chain 'chain' has no ops"),
        ([("a", 1), ("a", 2)], ValueError, "two ops called 'a'|already has a tensor called 'a out'"),
        (["ab"], TypeError, "an op of chain 'chain' must be a name and its FLOPs per element"),
        ([("a", 1.5)], TypeError, "an op of chain 'chain' must be"),
    ],
)
def test_a_wrong_chain_is_refused(ops: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        chain(ops, elements=8)
