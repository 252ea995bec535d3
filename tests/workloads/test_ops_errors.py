"""Arguments that operators refuse: errors name the op and the tensor, and the graph is unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from roofwidget.workloads import Graph, Tensor, dim
from tests.workloads.test_ops import inputs


@pytest.mark.parametrize(
    ("name", "given", "how", "message"),
    [
        ("matmul", ("x", "x"), {}, "op 'matmul': axis 1 of 'x' is 6, but axis 0 of 'x' is 4"),
        ("matmul", ("x", "y"), {}, r"op 'matmul': tensor y\[5\] bf16 has 1 axes; it needs 2"),
        ("matmul", ("y", "x"), {"name": "scores"}, "op 'scores': tensor y"),
        ("add", ("x", "y"), {}, "op 'add': the shapes of 'x' and 'y' do not match: 6 against 5 on axis 1"),
        ("gemv", ("x", "y"), {}, "op 'gemv': axis 1 of 'x' is 6, but axis 0 of 'y' is 5"),
        ("dot", ("y", "x"), {}, "op 'dot': tensor x"),
        ("conv2d", ("x", 8, 3), {}, "op 'conv2d': tensor x.* needs 4"),
        ("linear", ("x", 0), {}, "op 'linear': features must be at least 1, got 0"),
        ("cross_entropy", ("x", "y"), {}, "op 'cross_entropy': axis 0 of 'x' is 4, but axis 0 of 'y' is 5"),
        ("swiglu", ("x", "y"), {}, "op 'swiglu': tensor y"),
        ("sgd_step", ("x", "y"), {}, "op 'sgd_step': parameter and gradient must have one shape"),
        ("unary", ("x", "rleu"), {}, "op 'unary': unknown function 'rleu'; did you mean 'relu'"),
        ("gelu", ("x",), {"approximate": "erf"}, "op 'gelu': approximate must be 'tanh' or 'none'"),
        ("cast", ("x", "bf61"), {}, "op 'cast': unknown dtype 'bf61'; did you mean 'bf16'"),
        ("transpose", ("x", 0, 0), {}, r"op 'transpose': axes \(0, 0\) are not a permutation of the 2 axes"),
        ("reduce_sum", ("x",), {"axis": 2}, "op 'reduce_sum': axis 2 is none of the 2 axes"),
        ("layernorm", ("x",), {"passes": 1}, "op 'layernorm': passes must be an int of at least 2"),
        ("layernorm", ("x",), {"flops_per_element": -1}, "op 'layernorm': flops_per_element must be an int"),
        ("rope", ("x",), {"head_dim": 4}, "op 'rope': the last axis of 'x' = 6 is no multiple of 4"),
        ("moe", ("x",), {"experts": 2, "active": 3, "ffn": 4}, "op 'moe': needs ints with 1 <= active <= experts"),
        ("blocked_matmul", ("x", "x"), {"cache": 9}, "op 'blocked_matmul': axis 1 of 'x' is 6"),
    ],
)
def test_shapes_and_words_that_do_not_fit_name_op_and_tensor(
    name: str, given: tuple[Any, ...], how: dict[str, Any], message: str
) -> None:
    g = Graph()
    tensors = dict(zip("xy", inputs(g, x=(4, 6), y=(5,)), strict=True))
    with pytest.raises(ValueError, match=message):
        getattr(g, name)(*(tensors.get(part, part) for part in given), **how)
    assert g.ops == ()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"groups": 3}, "channels of 'x' = 4 is no multiple of 3"),
        ({"channels": 6, "groups": 4}, "channels = 6 is no multiple of 4"),
        ({"kernel": 9}, r"its window of 9 does not fit into x\[1, 4, 8, 8\] bf16 with padding 0"),
        ({"stride": 0}, "stride must be an int of at least 1"),
        ({"padding": (1, 2, 3)}, "padding must be an int of at least 0, or two of them"),
        ({"algorithm": "fft"}, "algorithm must be 'direct' or 'im2col'"),
    ],
)
def test_a_convolution_that_does_not_fit_is_refused(how: dict[str, Any], message: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match=f"op 'conv2d': {message}"):
        g.conv2d(*inputs(g, x=(1, 4, 8, 8)), **({"channels": 8, "kernel": 3} | how))


def test_batches_that_do_not_match_are_told_with_the_tensors_as_they_are() -> None:
    g = Graph()
    a, b = inputs(g, a=(2, 4, 6), b=(3, 6, 5))
    with pytest.raises(ValueError, match=r"2 against 3 on axis 0 \(a\[2, 4, 6\] bf16, b\[3, 6, 5\] bf16\)"):
        g.batched_matmul(a, b)


def test_symbolic_sizes_match_when_they_are_the_same_expression() -> None:
    g = Graph()
    n, m = dim("n", 1, 9, default=4), dim("m", 1, 9, default=4)
    a, b, c = inputs(g, a=(2, 2 * n), b=(n + n, 3), c=(2 * m, 3))
    assert g.matmul(a, b).shape == (2, 3)
    with pytest.raises(ValueError, match="axis 1 of 'a' is 2·n, but axis 0 of 'c' is 2·m"):
        g.matmul(a, c)


def test_an_operator_that_fails_leaves_the_graph_as_it_was() -> None:
    g = Graph()
    (x,) = inputs(g, x=(4, 6))
    g.relu(x)
    n = dim("n", 1, 9, default=4)
    stranger = Tensor("stranger", (n, 6), "bf16")
    for name, how in (("layernorm", {}), ("linear", {"features": 3}), ("moe", {"experts": 2, "active": 1, "ffn": 4})):
        with pytest.raises(ValueError, match="graph '' has no tensor 'stranger'"):
            getattr(g, name)(stranger, **how)
    g.input("taken.swiglu", (1,), "bf16")
    with pytest.raises(ValueError, match=r"already has an op or a tensor called 'taken\.swiglu'"):
        g.moe(x, experts=2, active=1, ffn=4, name="taken")
    assert [op.name for op in g.ops] == ["relu"]
    assert list(g.tensors) == ["x", "relu", "taken.swiglu"]
    assert [t.name for t in g.inputs] == ["x", "taken.swiglu"]
    assert [op.name for op in g.consumers("x")] == ["relu"]
    assert g.dims == ()


def test_what_only_a_failed_operator_read_is_not_read() -> None:
    g = Graph()
    x, y = inputs(g, x=(4, 6), y=(4, 6))
    g.op("elementwise", "other", [y], [Tensor("z", (4, 6), "bf16")], 1)
    g.input("moe.swiglu", (1,), "bf16")
    with pytest.raises(ValueError, match=r"'moe\.swiglu'"):
        g.moe(x, experts=2, active=1, ffn=4, name="moe")
    with pytest.raises(ValueError, match="already has a tensor called 'z'"):
        g.op("elementwise", "late", [x], [Tensor("other", (4, 6), "bf16"), Tensor("z", (4, 6), "bf16")], 1)
    assert g.consumers("x") == ()
    assert [op.name for op in g.consumers("y")] == ["other"]
    assert g.count("compulsory") == g.count("bytes") == 96
