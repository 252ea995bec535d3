"""Graphs of JAX functions: expected counts are closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import roofwidget as rw  # noqa: E402
from tests.workloads.test_speed_of_light import G  # noqa: E402

Array = Any


def shape(*sizes: int, dtype: str = "float32") -> Any:
    """Return an array without data."""
    return jax.ShapeDtypeStruct(sizes, dtype)


def tail(x: Array, gamma: Array, beta: Array) -> Array:
    """Return the sum of x and the GELU of its layer normalisation."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    y = centred * jax.lax.rsqrt(variance + 1e-5) * gamma + beta
    return jax.nn.gelu(y) + x


def attend(q: Array, k: Array, v: Array) -> Array:
    weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8, axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def names(graph: rw.Graph) -> list[str]:
    return [op.name for op in graph.ops]


def test_a_layer_norm_a_gelu_and_a_residual_fuse_to_the_compulsory_bytes() -> None:
    graph = rw.Graph.from_jax(tail, shape(4096, 1024), shape(1024), shape(1024))
    assert graph.count("tensor") == 0
    assert graph.count("compulsory") == 33_562_624
    assert {op.kind for op in graph.ops} == {"elementwise", "broadcast", "reduction"}
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert len(best) == 1
    assert best.total_bytes() == 33_562_624


def test_attention_written_out_is_one_kernel_at_best() -> None:
    graph = rw.Graph.from_jax(attend, *[shape(2, 8, 512, 64)] * 3)
    assert graph.count("tensor") == 4 * 2 * 8 * 512 * 512 * 64
    operand = 2 * 8 * 512 * 64 * 4
    assert graph.count("compulsory") == 4 * operand
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert len(best) == 1
    assert best.kernels(chip="H100-SXM").bytes.tolist() == [4 * operand]


def test_a_transpose_and_a_reshape_say_how_they_move_elements() -> None:
    graph = rw.Graph.from_jax(lambda x: jnp.exp(jnp.swapaxes(x, 1, 2)).reshape(2, 6 * 4), shape(2, 4, 6))
    assert [op.index for op in graph.ops if op.kind == "injective"] == ["abc->acb"]


def test_a_gated_mlp_of_few_features_is_one_kernel() -> None:
    def mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
        return (jax.nn.silu(x @ gate) * (x @ up)) @ down

    sizes = ((65536, 256), (256, 1024), (256, 1024), (1024, 256))
    graph = rw.Graph.from_jax(mlp, *(jax.ShapeDtypeStruct(size, jnp.bfloat16) for size in sizes))
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert len(best) == 1
    assert best.kernels(chip="H100-SXM").bytes.tolist() == [2 * (2 * 65536 * 256 + 3 * 256 * 1024)]


def test_an_mlp_has_the_same_products_in_jax_and_in_pytorch() -> None:
    torch = pytest.importorskip("torch")

    def mlp(relu: Callable[[Any], Any]) -> Callable[..., Any]:
        def forward(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
            return relu(x @ w1 + b1) @ w2

        return forward

    sizes = ((128, 1024), (1024, 1024), (1024,), (1024, 1024))
    in_jax = rw.Graph.from_jax(mlp(jax.nn.relu), *(shape(*one) for one in sizes))
    in_torch = rw.Graph.from_torch(mlp(torch.relu), *(torch.zeros(one) for one in sizes))
    assert in_jax.count("tensor") == in_torch.count("tensor") == 536_870_912
    assert in_jax.count("bytes") == in_torch.count("bytes")
    assert [op.kind for op in in_jax.ops] == [op.kind for op in in_torch.ops]


def test_inputs_have_the_names_of_arguments_and_of_what_these_hold() -> None:
    def forward(params: dict[str, list[Array]], x: Array, *, scale: Array) -> Array:
        return x @ params["w"][1] * scale

    graph = rw.Graph.from_jax(forward, {"w": [shape(2, 2), shape(8, 8)]}, shape(4, 8), scale=shape(8))
    assert [tensor.name for tensor in graph.inputs] == ["x", "params.w.1", "scale"]


def test_ops_have_the_names_of_the_functions_and_scopes_that_contain_them() -> None:
    @jax.jit  # type: ignore[untyped-decorator]  # jax is not typed here
    def forward(x: Array) -> Array:
        with jax.named_scope("head"):
            return jax.nn.silu(x) * 2

    assert names(rw.Graph.from_jax(forward, shape(8))) == ["head.silu.sigmoid", "head.silu.multiply", "head.multiply"]


def test_reshapes_broadcasts_and_constants_are_free() -> None:
    def forward(x: Array, row: Array) -> Array:
        ones = jnp.ones((4, 8)) * 3
        return x.reshape(4, 8) * row[None, :] + ones

    graph = rw.Graph.from_jax(forward, shape(8, 4), shape(8))
    assert [(op.name, op.kind, graph.bytes(op)) for op in graph.ops] == [
        ("multiply", "broadcast", 128 + 32 + 128),
        ("add", "elementwise", 256),
    ]


def test_an_axis_of_size_1_comes_and_goes_for_free() -> None:
    graph = rw.Graph.from_jax(lambda x: jnp.expand_dims(x, 0).sum(0) * x[:1].squeeze(0) + jnp.exp(x), shape(4, 8))
    assert names(graph) == ["slice", "multiply", "exp", "add"]


def test_a_product_of_groups_has_the_flops_of_its_rows() -> None:
    graph = rw.Graph.from_jax(jax.lax.ragged_dot, shape(16, 8), shape(3, 8, 4), shape(3, dtype="int32"))
    assert graph.count("tensor") == 2 * 16 * 8 * 4


def test_a_transpose_moves_bytes_and_does_not_join_a_product() -> None:
    graph = rw.Graph.from_jax(lambda a, b: (a @ b).T, shape(8, 8), shape(8, 8))
    assert [(op.name, op.kind, graph.bytes(op)) for op in graph.ops] == [
        ("matmul", "matmul", 768),
        ("transpose", "injective", 512),
    ]


def test_a_slice_reads_what_it_returns() -> None:
    def rotate(x: Array, cos: Array) -> Array:
        first, second = jnp.split(x, 2, -1)
        return first * cos - second

    graph = rw.Graph.from_jax(rotate, shape(512, 64), shape(512, 32))
    assert [graph.bytes(op) for op in graph.ops if op.name.startswith("slice")] == [2 * 512 * 32 * 4] * 2
    assert [tensor.name for tensor in graph.inputs] == ["x[:, 0:32]", "x[:, 32:64]", "cos"]


def test_a_gather_reads_the_rows_that_it_returns() -> None:
    graph = rw.Graph.from_jax(
        lambda table, at: table.at[at].get(mode="promise_in_bounds", wrap_negative_indices=False),
        shape(50_000, 64),
        shape(32, dtype="int32"),
    )
    assert graph.count("bytes") == 32 * 4 + 2 * 32 * 64 * 4


def test_a_convolution_has_the_flops_of_the_operator() -> None:
    def convolve(x: Array, w: Array, stride: int) -> Array:
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME")

    inputs = shape(1, 64, 56, 56), shape(64, 64, 3, 3)
    graph = rw.Graph.from_jax(lambda x, w: convolve(x, w, 1), *inputs)
    assert (names(graph), graph.count("tensor")) == (["conv2d"], 231_211_008)
    # XLA leaves out the products with padding: one tap of three, at each end of each axis.
    assert graph.with_convention("xla").count("tensor") == 2 * 64 * 64 * (3 * 56 - 2) ** 2
    # A stride of 2 pads only one end.
    strided = rw.Graph.from_jax(lambda x, w: convolve(x, w, 2), *inputs)
    assert (names(strided), strided.count("tensor")) == (["convolution"], 231_211_008 // 4)


@pytest.mark.parametrize(("length", "ops"), [(10, 10), (1000, 1)])
def test_a_loop_of_known_length_counts_every_iteration(length: int, ops: int) -> None:
    def loop(x: Array) -> Array:
        return jax.lax.scan(lambda c, _: (c @ c, None), x, None, length=length)[0]

    graph = rw.Graph.from_jax(loop, shape(256, 256))
    assert len(graph.ops) == ops
    assert graph.count("tensor") == length * 33_554_432
    assert graph.count("bytes") == length * 2 * 256 * 256 * 4
    assert bool(graph.notes) is (ops == 1)


def test_a_loop_over_rows_reads_a_row_each_time_and_stacks_its_results() -> None:
    def running(x: Array) -> Array:
        return jax.lax.scan(lambda total, row: (total + row, total * 2), jnp.zeros(8), x, reverse=True)

    graph = rw.Graph.from_jax(running, shape(3, 8))
    adds = [op for op in graph.ops if op.name.startswith("add")]
    assert [op.inputs[-1].name for op in adds] == ["x[2:3, :]", "x[1:2, :]", "x[0:1, :]"]
    assert {tensor.shape for tensor in graph.outputs} == {(8,), (3, 8)}


def test_layers_in_a_loop_read_their_own_weights() -> None:
    def layers(weights: Array, x: Array) -> Array:
        return jax.lax.scan(lambda y, w: (jnp.tanh(y @ w), None), x, weights)[0]

    graph = rw.Graph.from_jax(layers, shape(24, 64, 64), shape(8, 64))
    assert len(graph.ops) == 48
    assert graph.count("compulsory") == (24 * 64 * 64 + 2 * 8 * 64) * 4
    assert graph.count("bytes") == 24 * (64 * 64 + 4 * 8 * 64) * 4


def test_a_while_loop_is_opaque_and_a_note_says_that_its_body_counts_once() -> None:
    graph = rw.Graph.from_jax(lambda x: jax.lax.while_loop(lambda c: c[0, 0] > 0, lambda c: c @ c, x), shape(64, 64))
    assert [(op.name, op.kind) for op in graph.ops] == [("while", "opaque")]
    assert graph.count("tensor") == 2 * 64**3
    assert graph.notes == ("the number of iterations of a while loop is unknown: its body is counted once",)


def test_of_a_condition_the_dearest_branch_counts() -> None:
    graph = rw.Graph.from_jax(lambda x: jax.lax.cond(x[0, 0] > 0, lambda y: y + 1, lambda y: y @ y, x), shape(64, 64))
    assert graph.count("tensor") == 2 * 64**3
    assert graph.notes == ("of a condition only the branch with most FLOPs is counted",)


def test_a_primitive_without_an_operator_is_opaque_and_a_note_names_it() -> None:
    graph = rw.Graph.from_jax(lambda x: jax.lax.sort(x) * 2, shape(64, dtype="bfloat16"))
    assert [op.kind for op in graph.ops] == ["opaque", "elementwise"]
    assert graph.bytes(graph.ops[0]) == 256
    assert graph.notes == ("counted as moving bytes only, since no operator describes it: 'sort'",)


@pytest.mark.parametrize(("transform", "dtype"), [(jnp.fft.fft, "complex64"), (jnp.fft.rfft, "float32")])
def test_a_fourier_transform_has_the_flops_of_the_operator(transform: Callable[[Array], Array], dtype: str) -> None:
    graph = rw.Graph.from_jax(transform, shape(16, 64, dtype=dtype))
    assert graph.count("flops") == 16 * 5 * 64 * 6 // (2 if dtype == "float32" else 1)
    assert graph.notes == ()


def test_a_gradient_has_three_times_the_products_of_the_forward_pass() -> None:
    def loss(w: Array, x: Array) -> Array:
        return jnp.sum(jnp.tanh(x @ w) @ w)

    forward = rw.Graph.from_jax(loss, shape(64, 64), shape(32, 64)).count("tensor")
    both = rw.Graph.from_jax(jax.value_and_grad(loss, argnums=(0, 1)), shape(64, 64), shape(32, 64)).count("tensor")
    assert (forward, both) == (2 * 2 * 32 * 64 * 64, 3 * 2 * 2 * 32 * 64 * 64)


def test_something_that_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a function of arrays, got 'f'"):
        rw.Graph.from_jax("f", shape(2))  # type: ignore[arg-type]


def test_a_function_without_an_array_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match=r"needs example inputs for attend, and got no array; call it as"):
        rw.Graph.from_jax(attend)


def test_a_function_that_cannot_be_traced_is_refused_with_the_reason() -> None:
    def branch(x: Array) -> Array:
        return x if x > 0 else -x

    with pytest.raises(ValueError, match=r"make_jaxpr cannot trace branch: TracerBoolConversionError: .*; make jax"):
        rw.Graph.from_jax(branch, shape())


def test_a_function_without_operations_is_refused() -> None:
    def identity(x: Array) -> Array:
        return x.reshape(-1)

    with pytest.raises(ValueError, match="identity has no operations"):
        rw.Graph.from_jax(identity, shape(2, 2))


def test_the_speed_of_light_of_attention_is_that_of_its_products() -> None:
    heads, n, d = 8, 1024, 128
    inputs = [shape(1, heads, n, d, dtype="bfloat16") for _ in range(3)]
    sol = rw.sol(attend, G, inputs=inputs)
    moved, scores = 4 * 2 * heads * n * d, 2 * heads * n * n
    # G moves 4 TB/s and does 1 PFLOP/s in products.
    assert (sol.light_bytes, sol.bound_by) == (moved, "tensor")
    assert sol.light == 4 * heads * n * n * d / 1e15
    # One kernel, which compilers do not make: they write and read the scores.
    assert (sol.best_bytes, len(sol.kernels)) == (moved, 1)
    assert sol.compiler_bytes >= moved + 2 * scores
    assert sol.light <= sol.best <= sol.compiler <= sol.unfused
    # A function that jax.jit made, and one without inputs.
    assert rw.sol(jax.jit(attend), G, inputs=inputs).light == sol.light
    with pytest.raises(ValueError, match="needs example inputs"):
        rw.sol(jax.jit(attend), G)
