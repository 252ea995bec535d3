"""Operators: FLOPs and bytes against the formula of each, written here with plain ints."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads import Convention, Graph, Tensor, dim
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.ops.elementwise import BINARY, UNARY

sizes = st.integers(1, 300)
HALF = Convention("half", causal="half")


def inputs(g: Graph, dtype: str = "bf16", **shapes: tuple[Any, ...]) -> list[Tensor]:
    return [g.input(name, shape, dtype) for name, shape in shapes.items()]


def counted(g: Graph) -> tuple[int, int]:
    return g.count("flops"), g.count("bytes")


# -- matrix products ---------------------------------------------------------------------------------------------------


@given(sizes, sizes, sizes)
def test_matmul(m: int, k: int, n: int) -> None:
    g = Graph()
    g.matmul(*inputs(g, a=(m, k), b=(k, n)))
    assert counted(g) == (2 * m * k * n, 2 * (m * k + k * n + m * n))
    assert g.flops_by_class("matmul") == {"tensor": 2 * m * k * n}
    assert counted(g.with_convention(Convention("acc", accumulator_bytes=4)))[1] == 2 * (m * k + k * n) + 6 * m * n


@given(sizes, sizes, sizes, sizes)
def test_batched_matmul_reads_an_operand_without_the_batch_once(b: int, m: int, k: int, n: int) -> None:
    g = Graph()
    g.batched_matmul(*inputs(g, a=(b, m, k), b=(b, k, n)), name="both")
    assert counted(g) == (2 * b * m * k * n, 2 * b * (m * k + k * n + m * n))
    g = Graph()
    g.batched_matmul(*inputs(g, a=(b, m, k), b=(n, k)), transpose_b=True)
    assert counted(g) == (2 * b * m * k * n, 2 * (b * m * k + k * n + b * m * n))


@given(sizes, sizes, sizes)
def test_linear_with_and_without_bias(t: int, d: int, f: int) -> None:
    g = Graph()
    g.linear(*inputs(g, x=(t, d)), f, weight_dtype="int8", dtype="fp32")
    assert counted(g) == (2 * t * d * f, 2 * t * d + d * f + 4 * t * f)
    g = Graph()
    y = g.linear(*inputs(g, x=(t, 1, d)), f, bias=True)
    assert counted(g) == (2 * t * d * f + t * f, 2 * (t * d + d * f + t * f + f))
    assert y.shape == (t, 1, f)
    assert g.flops_by_class("linear") == {"tensor": 2 * t * d * f, "vector": t * f}


@given(sizes, sizes)
def test_gemv(m: int, n: int) -> None:
    g = Graph()
    g.gemv(*inputs(g, "fp64", a=(m, n), x=(n,)))
    assert counted(g) == (2 * m * n, 8 * (m * n + n + m))


@given(sizes, sizes, sizes)
def test_gemm_reads_c_too(m: int, n: int, k: int) -> None:
    g = Graph()
    g.gemm(*inputs(g, "fp32", a=(m, k), b=(k, n), c=(m, n)))
    assert counted(g) == (2 * m * n * k, 4 * (m * k + k * n + 2 * m * n))


def test_blocked_matmul_reads_its_operands_once_a_block() -> None:
    g = Graph()
    g.blocked_matmul(*inputs(g, "fp64", a=(100, 60), b=(60, 90)), cache=3 * 32 * 32 + 5)
    assert counted(g) == (2 * 100 * 60 * 90, 8 * (3 * 100 * 60 + 4 * 60 * 90 + 2 * 100 * 90))
    whole = Graph()
    whole.blocked_matmul(*inputs(whole, "fp64", a=(100, 60), b=(60, 90)), cache=10**6)
    assert whole.count("bytes") == 8 * (100 * 60 + 60 * 90 + 2 * 100 * 90)


# -- elementwise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "flops"),
    [
        ("relu", 1),
        ("sigmoid", 4),
        ("silu", 5),
        ("gelu_tanh", 8),
        ("gelu_erf", 5),
        ("tanh", 1),
        ("cos", 1),
        ("rsqrt", 1),
        ("scale", 1),
    ],
)
def test_a_function_of_one_variable(function: str, flops: int) -> None:
    g = Graph()
    g.unary(*inputs(g, x=(7, 11)), function)
    assert counted(g) == (flops * 77, 2 * 2 * 77)
    assert g.ops[0].kind == "elementwise"


def test_functions_have_methods_of_their_names() -> None:
    g = Graph()
    (x,) = inputs(g, x=(4,))
    for function in UNARY:
        if not function.startswith("gelu"):
            assert getattr(g, function)(x).name == function
    for function in BINARY:
        assert getattr(g, function)(x, x).name == function
    assert g.flops(g.producer(g.gelu(x)) or "") == 32
    assert g.flops(g.producer(g.gelu(x, approximate="none")) or "") == 20


def test_each_function_costs_what_the_convention_says_of_its_parts() -> None:
    prices = Convention("prices", transcendental=10, divide=100, sqrt=1000, compare=10_000)
    g = Graph(convention=prices)
    x = g.input("x", (1,), "fp32")
    costs = {name: g.flops(g.producer(g.unary(x, name)) or "") for name in UNARY}
    assert costs == {
        "relu": 10_000,
        "negative": 1,
        "absolute": 1,
        "square": 1,
        "scale": 1,
        "sqrt": 1000,
        "rsqrt": 1000,
        "reciprocal": 100,
        "exp": 10,
        "log": 10,
        "sin": 10,
        "cos": 10,
        "tanh": 10,
        "erf": 10,
        "sigmoid": 112,
        "silu": 113,
        "gelu_tanh": 17,
        "gelu_erf": 14,
    }
    costs = {name: g.flops(g.producer(g.binary(x, x, name)) or "") for name in BINARY}
    assert costs == {"add": 1, "subtract": 1, "multiply": 1, "divide": 100, "maximum": 10_000, "minimum": 10_000}


def test_what_an_operator_is_to_fusion() -> None:
    g = Graph()
    x, row = inputs(g, x=(4, 6), row=(6,))
    image = g.input("image", (1, 4, 8, 8), "bf16")
    found = [
        g.producer(tensor).kind  # type: ignore[union-attr]
        for tensor in (
            g.relu(x),
            g.add(x, row),
            g.transpose(x),
            g.rope(x),
            g.softmax(x),
            g.linear(x, 8),
            g.batchnorm(image),
            g.batchnorm(image, training=True),
            g.conv2d(image, 8, 3),
            g.max_pool2d(image, 2),
            g.attention(x, x, x),
            g.grouped_linear(x, 8, groups=2),
        )
    ]
    assert found == [
        "elementwise",
        "broadcast",
        "injective",
        "injective",
        "reduction",
        "matmul",
        "broadcast",
        "reduction",
        "matmul",
        "reduction",
        "opaque",
        "matmul",
    ]


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ((5, 7), (5, 7), "elementwise"),
        ((5, 7), (7,), "broadcast"),
        ((5, 1), (7,), "broadcast"),
        ((), (3,), "broadcast"),
    ],
)
def test_a_stretched_operand_is_read_at_its_own_size(a: tuple[int, ...], b: tuple[int, ...], kind: str) -> None:
    g = Graph()
    x, y = inputs(g, "fp32", a=a, b=b)
    z = g.add(x, y)
    assert g.ops[0].kind == kind
    assert counted(g) == (z.size, 4 * (evaluate(x.size, {}) + evaluate(y.size, {}) + evaluate(z.size, {})))


def test_bias_and_activation() -> None:
    g = Graph()
    g.bias_activation(*inputs(g, x=(6, 10)), "silu")
    assert counted(g) == (6 * 60, 2 * (2 * 60 + 10))


def test_swiglu() -> None:
    g = Graph()
    g.swiglu(*inputs(g, gate=(6, 10), up=(6, 10)))
    assert counted(g) == (6 * 60, 2 * 3 * 60)


def test_dropout_writes_its_mask_if_asked() -> None:
    g = Graph()
    g.dropout(*inputs(g, x=(6, 10)))
    assert counted(g) == (60, 2 * 2 * 60)
    g = Graph()
    _, mask = g.dropout(*inputs(g, x=(6, 10)), mask=True)
    assert counted(g) == (60, 2 * 2 * 60 + 60)
    assert mask.dtype == "bool"


def test_what_only_moves_has_no_flops() -> None:
    g = Graph()
    (x,) = inputs(g, "fp32", x=(6, 10))
    g.copy(x)
    assert g.transpose(x).shape == (10, 6)
    assert g.cast(x, "fp16").dtype == "fp16"
    tokens = g.input("tokens", (7,), "int32")
    g.embedding(tokens, 8, dtype="fp16")
    assert [g.flops(op) for op in g.ops] == [0, 0, 0, 0]
    assert [g.bytes(op) for op in g.ops] == [480, 480, 360, 7 * 4 + 2 * 7 * 8 * 2]


def test_rope_rotates_pairs_by_a_table() -> None:
    g = Graph()
    g.rope(*inputs(g, x=(2, 16, 4 * 8)), head_dim=8)
    assert counted(g) == (3 * 2 * 16 * 32, 2 * (2 * 2 * 16 * 32 + 16 * 8))


# -- normalisation -----------------------------------------------------------------------------------------------------


@given(sizes, sizes)
def test_normalisations(r: int, d: int) -> None:
    n = r * d
    cases: list[tuple[str, dict[str, Any], int, int]] = [
        ("layernorm", {}, 8 * n + 3 * r, 2 * (2 * n + 2 * d)),
        ("layernorm", {"affine": False}, 6 * n + 3 * r, 2 * 2 * n),
        ("layernorm", {"passes": 3}, 8 * n + 3 * r, 2 * (3 * n + 2 * d)),
        ("layernorm", {"flops_per_element": 10}, 10 * n, 2 * (2 * n + 2 * d)),
        ("rmsnorm", {}, 4 * n + 3 * r, 2 * (2 * n + d)),
        ("softmax", {}, 5 * n, 2 * 2 * n),
        ("softmax", {"passes": 3}, 5 * n, 2 * 3 * n),
        ("batchnorm", {}, 2 * n, 2 * (2 * n + 4 * d)),
        ("batchnorm", {"training": True}, 8 * n, 2 * (3 * n + 2 * d)),
        ("reduce_sum", {}, n - r, 2 * (n + r)),
    ]
    for name, how, flops, moved in cases:
        g = Graph()
        getattr(g, name)(g.input("x", (r, d), "bf16"), **how)
        assert counted(g) == (flops, moved)


def test_a_softmax_costs_the_same_wherever_it_stands_whatever_a_transcendental_costs() -> None:
    dear = Convention("dear", transcendental=100, softmax=7, compare=0)

    def vector(build: Any) -> int:
        g = Graph(convention=dear)
        build(g)
        return g.count("vector")

    assert vector(lambda g: g.softmax(*inputs(g, x=(3, 4)))) == 7 * 12
    assert vector(lambda g: g.cross_entropy(*inputs(g, x=(3, 4), y=(3,)))) == 7 * 12
    assert vector(lambda g: g.attention(*inputs(g, q=(8, 4), k=(6, 4), v=(6, 4)))) == 7 * 8 * 6
    assert vector(lambda g: g.unfused_attention(*inputs(g, q=(8, 4), k=(6, 4), v=(6, 4)))) == 7 * 8 * 6
    g = Graph(convention=dear)
    g.moe(*inputs(g, x=(5, 8)), experts=4, active=2, ffn=16)
    assert g.flops(g.producer("moe.gates") or "") == 7 * 5 * 2


def test_a_sigmoid_costs_the_same_wherever_it_stands() -> None:
    dear = Convention("dear", transcendental=100, divide=10)
    g = Graph(convention=dear)
    b, i, h = 5, 7, 11
    g.lstm_cell(*inputs(g, x=(b, i), h=(b, h), c=(b, h)))
    # Three sigmoids and two tanh per cell, and 4 + 3 + 1 for the bias, the new c and the new h.
    assert g.count("vector") == b * h * (3 * (2 + 100 + 10) + 2 * 100 + 8)
    assert g.flops(g.producer(g.sigmoid(*inputs(g, y=(1,)))) or "") == 112


ACCUMULATING: dict[str, tuple[Any, int]] = {
    "matmul": (lambda g: g.matmul(*inputs(g, a=(3, 5), b=(5, 7))), 3 * 7),
    "batched_matmul": (lambda g: g.batched_matmul(*inputs(g, a=(2, 3, 5), b=(2, 5, 7))), 2 * 3 * 7),
    "linear": (lambda g: g.linear(*inputs(g, x=(3, 5)), 7, bias=True), 3 * 7),
    "gemv": (lambda g: g.gemv(*inputs(g, a=(3, 5), x=(5,))), 3),
    "gemm": (lambda g: g.gemm(*inputs(g, a=(3, 5), b=(5, 7), c=(3, 7))), 3 * 7),
    "blocked_matmul": (lambda g: g.blocked_matmul(*inputs(g, a=(30, 50), b=(50, 70)), cache=300), 30 * 70),
    "grouped_linear": (lambda g: g.grouped_linear(*inputs(g, x=(3, 5)), 7, groups=2), 3 * 7),
    "moe": (lambda g: g.moe(*inputs(g, x=(3, 5)), experts=4, active=2, ffn=7), 3 * 4 + 6 * 7 + 6 * 7 + 6 * 5),
    "conv2d": (lambda g: g.conv2d(*inputs(g, x=(1, 4, 8, 8)), 6, 3, padding=1, algorithm="im2col"), 6 * 64),
    "lstm_cell": (lambda g: g.lstm_cell(*inputs(g, x=(3, 5), h=(3, 7), c=(3, 7))), 4 * 3 * 7),
    "unfused_attention": (lambda g: g.unfused_attention(*inputs(g, q=(8, 4), k=(6, 4), v=(6, 4))), 8 * 6 + 8 * 4),
}


@pytest.mark.parametrize("name", ACCUMULATING)
def test_every_product_writes_its_accumulator(name: str) -> None:
    build, elements = ACCUMULATING[name]
    g = Graph()
    build(g)
    wide = g.with_convention(Convention("wide", accumulator_bytes=4))
    assert wide.count("bytes") - g.count("bytes") == 4 * elements


def test_softmax_follows_the_convention() -> None:
    g = Graph()
    g.softmax(*inputs(g, x=(3, 4)))
    assert g.with_convention(Convention("four", softmax=4)).count("flops") == 48
    assert g.with_convention("xla").flops_by_class("softmax") == {"vector": 48, "transcendental": 12}


def test_cross_entropy_after_logits() -> None:
    g = Graph()
    t, d, v = 7, 16, 100
    logits = g.linear(g.input("x", (t, d), "bf16"), v)
    g.cross_entropy(logits, g.input("targets", (t,), "int32"))
    assert g.count("flops") == 2 * t * d * v + 5 * t * v
    assert g.bytes(g.ops[1]) == 2 * t * v + 4 * t + 2 * t


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        ("bf16", "fp32", "fp32"),
        ("fp32", "bf16", "fp32"),
        ("int8", "bf16", "bf16"),
        ("bf16", "int64", "bf16"),
        ("fp16", "bf16", "fp16"),
        ("int8", "int32", "int32"),
    ],
)
def test_of_two_dtypes_the_wider_is_written_and_a_float_before_an_int(a: str, b: str, out: str) -> None:
    g = Graph()
    x, y = g.input("x", (4, 4), a), g.input("y", (4, 4), b)
    assert [g.add(x, y).dtype, g.multiply(x, y).dtype, g.swiglu(x, y).dtype] == [out] * 3


# -- mixtures, recurrence, optimizers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("tokens", "touched"), [(1, 2), (3, 6), (4, 8), (100, 8)])
def test_a_mixture_of_experts_reads_the_weights_that_its_rows_can_reach(tokens: int, touched: int) -> None:
    g = Graph()
    d, f, experts, active = 16, 32, 8, 2
    y = g.moe(*inputs(g, x=(tokens, d)), experts=experts, active=active, ffn=f)
    assert y.shape == (tokens, d)
    copies = tokens * active
    assert g.count("tensor") == 6 * copies * d * f + 2 * tokens * d * experts
    assert g.flops(g.producer("moe.gates") or "") == active * tokens * experts + 5 * copies
    assert g.flops("moe.combine") == 2 * copies * d
    assert (
        g.count("flops")
        == g.count("tensor") + (active * tokens * experts + 5 * copies) + 6 * copies * f + 2 * copies * d
    )
    assert g.bytes("moe.gate.weight") == 2 * touched * d * f
    assert g.bytes(g.producer("moe.dispatch") or "") == 2 * (tokens * d + copies + copies * d)
    router = 2 * (tokens * d + d * experts + 2 * tokens * experts + copies)
    moves = 2 * (tokens * d + copies + copies * d) + 2 * (copies * d + copies + tokens * d)
    products = 2 * (2 * (copies * d + copies * f) + (copies * f + copies * d) + 3 * touched * d * f)
    assert g.count("bytes") == router + moves + products + 2 * 3 * copies * f


def test_a_symbolic_number_of_tokens_reaches_no_more_than_all_experts() -> None:
    g = Graph()
    tokens = dim("tokens", 1, 100, default=1)
    g.moe(*inputs(g, x=(tokens, 16)), experts=8, active=2, ffn=32)
    assert str(g.tensors["moe.gate.weight"].shape[0]) == "min(8, 2·tokens)"


def test_lstm_cell() -> None:
    g = Graph()
    b, i, h = 5, 7, 11
    g.lstm_cell(*inputs(g, x=(b, i), h=(b, h), c=(b, h)))
    assert counted(g) == (
        8 * b * h * (i + h) + 22 * b * h,
        2 * (4 * h * (i + h) + 4 * h + b * (i + 2 * h) + 2 * b * h),
    )


def test_selective_scan_fused_and_materialised() -> None:
    b, length, d, n = 2, 30, 8, 4
    for materialised, extra in ((False, 0), (True, 4 * b * length * d * n)):
        g = Graph()
        tensors = inputs(g, x=(b, length, d), delta=(b, length, d), b=(b, length, n), c=(b, length, n))
        g.selective_scan(*tensors, materialised=materialised)
        assert counted(g) == (8 * b * length * d * n, 2 * (3 * b * length * d + 2 * b * length * n + d * n + extra))


@given(sizes)
def test_optimizer_steps(p: int) -> None:
    cases: list[tuple[str, dict[str, Any], int, int]] = [
        ("adam_step", {}, 13 * p, 28 * p),
        ("adam_step", {"decay": True}, 15 * p, 28 * p),
        ("sgd_step", {}, 4 * p, 20 * p),
        ("sgd_step", {"momentum": False}, 2 * p, 12 * p),
    ]
    for name, how, flops, moved in cases:
        g = Graph()
        getattr(g, name)(*inputs(g, "fp32", w=(p,), d=(p,)), **how)
        assert counted(g) == (flops, moved)


def test_adam_with_bf16_gradients_and_a_bf16_copy_moves_as_much() -> None:
    g = Graph()
    g.adam_step(g.input("w", (1000,), "fp32"), g.input("d", (1000,), "bf16"), copy_dtype="bf16")
    assert g.count("bytes") == 28_000
