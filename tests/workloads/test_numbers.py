"""Printed and worked numbers that graphs must give; exact where the convention is exact."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import roofwidget as rw
from roofwidget.workloads import (
    Convention,
    Graph,
    Tensor,
    chain,
    decoder,
    dim,
    expected_experts,
    resnet18,
    transformer_block,
)
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.partition import Partition

V5E = rw.Chip("v5e", {"bf16": 1.97e14, "int8": 3.94e14}, {"HBM": 8.2e11})
V5E_810 = rw.Chip("v5e", {"bf16": 1.97e14, "int8": 3.94e14}, {"HBM": 8.1e11})
H100 = rw.Chip("H100", {"bf16": 989e12, "fp32": 67e12}, {"HBM": 3.35e12})
LARGE = 10**9


def intensity(g: Graph, what: str = "flops", dims: dict[str, int] | None = None) -> float:
    return g.count(what, dims) / g.count("bytes", dims)


def seconds_on(chip: rw.Chip, g: Graph) -> float:
    """Sum of the ops' bounds: each a kernel of its own."""
    return Partition.unfused(g).time(chip)


def layer(b: int, d: int, f: int, dtype: str = "bf16", **how: str) -> Graph:
    g = Graph()
    g.linear(g.input("x", (b, d), dtype), f, **how)
    return g


def is_first_compute_bound(chip: rw.Chip, build: Callable[[int], Graph], size: int) -> bool:
    """Whether kernels of this size are compute-bound on a chip and those of one less are not."""
    regimes = [rw.bound(build(one).kernels(), chip).regime.tolist() for one in (size - 1, size)]
    return regimes == [["memory"], ["compute"]]


# -- the guide ---------------------------------------------------------------------------------------------------------


def guide_tail(*, own_input: bool, affine: bool = False) -> Graph:
    g = Graph("tail")
    x = g.input("x", (65536, 4096), "bf16")
    y = g.layernorm(x, affine=affine, flops_per_element=10)
    residual = x if own_input else g.input("residual", x.shape, "bf16")
    g.output(g.add(g.dropout(g.gelu(y)), residual))
    return g


def test_the_guides_chain_of_four_ops() -> None:
    g = chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=268_435_456, dtype="bf16")
    assert (g.count("flops"), g.count("bytes"), g.count("compulsory")) == (5368709120, 4294967296, 1073741824)
    assert intensity(g) == 1.25
    assert g.count("flops") / g.count("compulsory") == 5.0


def test_the_same_ops_as_a_true_graph() -> None:
    g = guide_tail(own_input=False)
    assert g.count("flops") == 20 * 268_435_456
    assert g.count("bytes") == 4_831_838_208
    assert g.count("compulsory") == 1_610_612_736
    assert g.count("bytes") / g.count("compulsory") == 3.0
    assert round(intensity(g), 3) == 1.111
    with_affine = guide_tail(own_input=False, affine=True)
    assert round(with_affine.count("bytes") / with_affine.count("compulsory"), 5) == 2.99998


def test_the_same_ops_with_the_residual_being_the_input_of_layernorm() -> None:
    g = guide_tail(own_input=True)
    assert (g.count("bytes"), g.count("compulsory")) == (4_831_838_208, 1_073_741_824)
    assert g.count("bytes") / g.count("compulsory") == 4.5


def test_the_guides_matmul_with_and_without_its_accumulator() -> None:
    g = Graph()
    g.matmul(g.input("a", (2048, 2048), "bf16"), g.input("b", (2048, 2048), "bf16"))
    assert g.count("flops") == 17_179_869_184
    assert g.count("bytes") == 25_165_824
    assert g.with_convention(Convention("bf16", accumulator_bytes=4)).count("bytes") == 41_943_040
    fp8 = g.with_dtype("fp8")
    assert fp8.count("bytes") == 12_582_912
    assert fp8.with_convention(Convention("fp8", accumulator_bytes=2)).count("bytes") == 20_971_520
    assert intensity(g.with_convention(Convention("bf16", accumulator_bytes=4))) == 409.6
    assert round(intensity(g), 1) == 682.7


def test_qk_as_one_matmul_and_as_the_batched_op_it_names() -> None:
    batch, heads, seq, d = 32, 32, 2048, 128
    one = Graph()
    one.matmul(one.input("q", (batch * heads, seq), "bf16"), one.input("k", (seq, d), "bf16"))
    assert round(intensity(one), 1) == 107.8
    true = Graph()
    q, k = (true.input(name, (batch * heads, seq, d), "bf16") for name in "qk")
    true.batched_matmul(q, k, transpose_b=True)
    assert round(intensity(true), 1) == 113.8


def test_the_guides_layernorm() -> None:
    g = Graph()
    g.layernorm(g.input("x", (65536, 4096), "bf16"), passes=3, flops_per_element=10)
    assert round(intensity(g), 5) == 1.66665


# -- matrix products ---------------------------------------------------------------------------------------------------


def test_the_critical_batch_of_a_v5e_is_240_in_bf16_243_in_int8_and_120_with_int8_weights() -> None:
    assert is_first_compute_bound(V5E, lambda b: layer(b, LARGE, LARGE), 241)
    assert is_first_compute_bound(V5E_810, lambda b: layer(b, LARGE, LARGE, "int8"), 244)
    assert is_first_compute_bound(V5E, lambda b: layer(b, LARGE, LARGE, weight_dtype="int8"), 121)


def test_a_matrix_of_its_own_for_each_row_has_intensity_2_in_int8() -> None:
    g = Graph()
    g.batched_matmul(g.input("x", (64, 1, 8192), "int8"), g.input("w", (64, 8192, 8192), "int8"))
    assert intensity(g) == pytest.approx(2, rel=3e-4)
    assert intensity(g) < 2


def test_a_contraction_split_over_two_chips_is_compute_bound_from_8756_on() -> None:
    def ratio(d: int) -> float:
        g = layer(64, d // 2, 1024)
        return (g.count("flops") / 1.97e14) / (evaluate(g.bytes("linear"), {}) / 4.5e10)

    assert ratio(8754) < 1 <= ratio(8756)


def test_the_batch_from_which_an_int8_layer_is_compute_bound_from_hbm_and_from_vmem() -> None:
    vmem = rw.Chip("v5e", {"bf16": 1.97e14, "int8": 3.94e14}, {"VMEM": 22 * 8.1e11})
    assert is_first_compute_bound(V5E_810, lambda b: layer(b, 4096, 16384, "int8"), 263)
    assert is_first_compute_bound(vmem, lambda b: layer(b, 4096, 16384, "int8"), 12)


@pytest.mark.parametrize(
    ("m", "k", "n", "macs", "moved"),
    [(512, 512, 512, 134_217_728, 3_145_728), (512, 256, 512, 67_108_864, 2_097_152), (128, 256, 512, None, 917_504)],
)
def test_macs_and_bytes_of_fp32_products(m: int, k: int, n: int, macs: int | None, moved: int) -> None:
    g = Graph(convention="mac")
    g.matmul(g.input("a", (m, k), "fp32"), g.input("b", (k, n), "fp32"))
    assert g.count("flops") == (m * k * n if macs is None else macs)
    assert g.count("bytes") == moved


def test_an_fp32_product_is_compute_bound_on_an_a6000_from_303_on() -> None:
    def square(n: int) -> Graph:
        g = Graph()
        g.matmul(g.input("a", (n, n), "fp32"), g.input("b", (n, n), "fp32"))
        return g

    assert is_first_compute_bound(rw.Chip("A6000", {"fp32": 38.7e12}, {"GDDR6": 768e9}), square, 303)


def test_saxpy_and_sgemm_that_reads_c() -> None:
    g = Graph()
    g.axpy(g.input("x", (10**6,), "fp32"), g.input("y", (10**6,), "fp32"))
    assert intensity(g) == 1 / 6
    g = Graph()
    g.gemm(*(g.input(name, (1024, 1024), "fp32") for name in "abc"))
    assert intensity(g) == 128


def test_gemv_and_small_batches_on_an_h100() -> None:
    g = Graph()
    g.gemv(g.input("a", (4096, 4096), "bf16"), g.input("x", (4096,), "bf16"))
    assert round(intensity(g), 4) == 0.9995
    assert round(seconds_on(H100, g) * 1e6, 1) == 10.0
    found = [intensity(layer(batch, 4096, 4096)) for batch in (8, 64, 256, 512)]
    assert [round(found[0], 2), *(round(ai, 1) for ai in found[1:])] == [7.97, 62.1, 227.6, 409.6]


def test_500_billion_parameters() -> None:
    chip = rw.Chip("chip", {"bf16": 1e15}, {"HBM": 10e12})
    bounds = rw.bound(layer(1, 500_000, 1_000_000).kernels(), chip)
    assert round(bounds.total_time * 1e3) == 100
    assert round(float(bounds.compute_time[0]) * 1e3, 3) == 1
    # At a batch of 100 compute time and memory time differ only by the activations.
    assert is_first_compute_bound(chip, lambda batch: layer(batch, 500_000, 1_000_000), 101)


# -- attention, caches, experts ----------------------------------------------------------------------------------------


def test_the_cache_of_llama_2_13b_and_of_a_token_of_llama_3_70b() -> None:
    g = decoder("llama-2-13b", batch=1, seq=8192, phase="decode")
    kept = [t for name, t in g.tensors.items() if name.endswith(("_cache", "_slot"))]
    assert sum(evaluate(g.bytes(t), {}) for t in kept) == 2 * 2 * 5120 * 40 * 8192 == 6_710_886_400
    g = decoder("llama-3-70b", batch=1, seq=2, phase="decode", cache_dtype="int8")
    slots = [t for name, t in g.tensors.items() if name.endswith("_slot")]
    assert sum(evaluate(g.bytes(t), {}) for t in slots) == 163_840


def heads_of(queries: int, keys: int, heads: int, groups: int, d: int = 128) -> Graph:
    g = Graph()
    q = g.input("q", (heads, queries, d), "bf16")
    k, v = (g.input(name, (groups, keys, d), "bf16") for name in "kv")
    g.attention(q, k, v)
    return g


@pytest.mark.parametrize(("share", "t"), [(1, 4096), (4, 4096), (8, 1024)])
def test_prefill_attention_has_intensity_t_g_over_g_plus_1(share: int, t: int) -> None:
    assert intensity(heads_of(t, t, 8 * share, 8), "tensor") == pytest.approx(t * share / (share + 1), rel=1e-15)
    assert intensity(heads_of(4096, 4096, 8, 8), "tensor") == 2048


@pytest.mark.parametrize(("groups", "digits", "ai"), [(32, 2, 1.00), (8, 2, 4.00), (1, 1, 31.9)])
def test_decode_attention_has_the_intensity_of_its_shared_heads(groups: int, digits: int, ai: float) -> None:
    g = Graph()
    g.decode_attention(g.input("q", (1, 1, 32 * 128), "bf16"), context=8192, heads=32, kv_heads=groups)
    assert round(intensity(g, "tensor"), digits) == ai


def test_the_context_from_which_attention_outweighs_the_rest_of_a_block() -> None:
    d = 1024

    def split(seq: int) -> tuple[int, int, int]:
        g = transformer_block(1, seq, d, 8, causal=False, convention="torch")
        env = g.environment()
        mlp = sum(evaluate(g.flops(f"ffn_{word}"), env) for word in ("gate", "up", "down"))
        projections = sum(evaluate(g.flops(word), env) for word in ("q", "k", "v", "attention_out"))
        return evaluate(g.flops("attention"), env), mlp, projections

    attention, mlp, projections = split(8 * d)
    assert attention == mlp + projections
    attention, _, projections = split(2 * d)
    assert attention == projections


def test_the_utilisation_of_deepseek_v3_follows_from_six_flops_a_parameter_and_token() -> None:
    g = transformer_block(1, 64, 512, 4, rope=False, phase="train", convention="torch")
    weights = sum(evaluate(t.size, {}) for name, t in g.tensors.items() if name.endswith(".weight"))
    products = sum(evaluate(g.flops(op), {}) for op in g.ops if op.kind == "matmul")
    # The gradient of the input is among the products, so the factor 6 is exact.
    assert products == 6 * weights * 64
    training = rw.Kernel("training", 6 * 37e9 * 14.8e12, 0, time=2.79e6 * 3600)
    utilization = rw.bound(training, rw.Chip("H800", {"fp8": 1.513e15}, {"HBM": 3.35e12})).utilization
    assert round(float(utilization[0]), 3) == 0.216


def test_experts_multiply_the_critical_batch_and_few_tokens_touch_few_of_them() -> None:
    def experts(tokens: int) -> Graph:
        g = Graph()
        g.grouped_linear(g.input("x", (tokens * 2, LARGE), "bf16"), LARGE, groups=16)
        return g

    assert intensity(experts(1920)) == pytest.approx(240, rel=1e-5)
    assert round(expected_experts(8, 16, 2), 1) == 10.5
    assert round(expected_experts(32, 16, 2), 1) == 15.8


def test_the_macs_of_a_small_attention() -> None:
    g = Graph(convention="mac")
    q = g.input("q", (1, 4, 173, 128), "fp32")
    k, v = (g.input(name, (1, 4, 256, 128), "fp32") for name in "kv")
    g.attention(q, k, v)
    assert g.count("flops") == 45_350_912


def per_head(n: int, d: int) -> tuple[Graph, Graph]:
    graphs = []
    for method in ("unfused_attention", "attention"):
        g = Graph()
        getattr(g, method)(*(g.input(name, (n, d), "bf16") for name in "qkv"))
        graphs.append(g)
    return graphs[0], graphs[1]


def test_one_head_of_attention_unfused_and_fused() -> None:
    unfused, fused = per_head(1024, 64)
    assert (unfused.count("bytes") / 2**20, fused.count("bytes") / 2**20) == (8.5, 0.5)
    assert (round(intensity(unfused), 1), round(intensity(fused))) == (30.7, 522)
    assert unfused.count("bytes") == 17 * fused.count("bytes")
    unfused, fused = per_head(4096, 128)
    assert (round(intensity(unfused), 1), round(intensity(fused))) == (62.7, 2068)
    assert unfused.count("bytes") == 33 * fused.count("bytes")


def test_the_same_head_on_an_h100() -> None:
    unfused, fused = per_head(4096, 128)
    assert round(seconds_on(H100, unfused) * 1e6, 1) == 41.3
    assert round(seconds_on(H100, fused) * 1e6, 2) == 8.77
    assert rw.bound(fused.kernels(), H100).regime.tolist() == ["compute"]
    flash = Graph()
    flash.flash_attention(*(flash.input(name, (4096, 128), "bf16") for name in "qkv"), block_rows=128)
    assert flash.count("bytes") == 66 * 2**20
    assert round(intensity(flash)) == 125
    assert round(seconds_on(H100, flash) * 1e6, 2) == 20.66
    # Scores and softmax in one kernel, then the values.
    g = Graph()
    q, k, v = (g.input(name, (4096, 128), "bf16") for name in "qkv")
    weights = Tensor("weights", (4096, 4096), "bf16")
    products = {"tensor": 2 * 4096 * 4096 * 128}
    g.op("opaque", "scores and softmax", [q, k], [weights], products | {"vector": 5 * 4096 * 4096})
    g.op("matmul", "values", [weights, v], [Tensor("out", (4096, 128), "bf16")], products)
    assert round(seconds_on(H100, g) * 1e6, 1) == 21.3


# -- models ------------------------------------------------------------------------------------------------------------


def test_resnet_18() -> None:
    assert resnet18(convention="torch").count("flops") == 3_628_146_688


def test_a_decoder_of_32_layers_and_width_4096() -> None:
    g = decoder(layers=32, hidden=4096, heads=32, batch=1, seq=2048, gated=False, causal=False, convention="torch")
    assert g.count("flops") == 28_587_302_322_176


def test_counts_of_a_symbolic_model_are_those_of_plain_ints() -> None:
    seq = dim("seq", 2, 131072, default=2048)
    for phase in ("prefill", "decode", "train"):
        symbolic = transformer_block(1, seq, 1024, 8, 2, phase=phase)
        for length in (2, 777, 4096):
            plain = transformer_block(1, length, 1024, 8, 2, phase=phase)
            for what in ("flops", "bytes", "compulsory"):
                assert symbolic.count(what, {"seq": length}) == plain.count(what)


def test_ops_of_one_byte_tensors_never_lose_a_byte() -> None:
    g = Graph()
    g.op("elementwise", "a", [g.input("x", (3,), "fp4")], [Tensor("y", (5,), "int4")], 3)
    assert g.count("bytes") == 2 + 3
