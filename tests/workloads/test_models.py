"""Models: their ops, phases and presets, and how fast they are counted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofwidget.workloads import (
    CONVENTIONS,
    DECODERS,
    Convention,
    Graph,
    decoder,
    dim,
    expected_experts,
    hpc_set,
    resnet18,
    resnet50,
    transformer_block,
)
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.models.transformer import Phase
from roofwidget.workloads.partition import Partition


def parameters(g: Graph) -> int:
    """Weights that are multiplied, of all layers."""
    return sum(evaluate(t.size, {}) for name, t in g.tensors.items() if name.endswith(".weight"))


# -- transformers ------------------------------------------------------------------------------------------------------


def test_a_block_is_norm_attention_residual_and_norm_feed_forward_residual() -> None:
    g = transformer_block(2, 16, 64, 4, 2)
    assert [op.name for op in g.ops] == [
        "attention_norm",
        "q",
        "k",
        "v",
        "rope_q",
        "rope_k",
        "attention",
        "attention_out",
        "attention_add",
        "ffn_norm",
        "ffn_gate",
        "ffn_up",
        "swiglu",
        "ffn_down",
        "ffn_add",
    ]
    assert g.tensors["k"].shape == (2, 16, 32)
    assert g.tensors["swiglu"].shape == (2, 16, 256)
    assert [t.name for t in g.outputs] == ["rope_k", "v", "ffn_add"]
    assert {op.name for op in g.consumers("x")} == {"attention_norm", "attention_add"}


def test_the_activation_of_a_feed_forward_layer_has_its_width_not_that_of_the_residual_stream() -> None:
    g = transformer_block(1, 16, 64, 4, ffn=160)
    assert g.flops("swiglu") == 6 * 16 * 160
    g = transformer_block(1, 16, 64, 4, ffn=160, gated=False)
    assert g.flops("gelu") == 8 * 16 * 160


@pytest.mark.parametrize("attention", ["fused", "flash", "unfused"])
def test_the_forms_of_attention_differ_in_bytes_alone(attention: str) -> None:
    g = transformer_block(1, 512, 64, 4, attention=attention)  # type: ignore[arg-type]
    fused = transformer_block(1, 512, 64, 4)
    assert g.count("flops") == fused.count("flops")
    assert (g.count("bytes") > fused.count("bytes")) == (attention != "fused")


def test_decoding_works_on_one_token_and_reads_the_cache_of_the_others() -> None:
    g = transformer_block(3, 100, 64, 4, 2, phase="decode", cache_dtype="int8")
    assert g.tensors["ffn_add"].shape == (3, 1, 64)
    assert g.tensors["attention.k_cache"].shape == (3, 99, 32)
    assert g.tensors["attention.k_cache"].dtype == "int8"
    assert g.flops("attention") == 3 * 4 * 100 * (4 * 16 + 5)


def test_training_has_twice_the_products_of_linear_layers_and_5_for_the_2_of_attention() -> None:
    forward = transformer_block(2, 128, 64, 4, 2, convention="torch")
    train = transformer_block(2, 128, 64, 4, 2, phase="train", convention="torch")
    attention = evaluate(forward.flops("attention"), {})
    linear = forward.count("flops") - attention
    assert train.count("flops") == 3 * linear + attention + attention * 5 // 2


def test_training_gives_a_gradient_to_every_weight_and_to_the_input() -> None:
    g = transformer_block(2, 128, 64, 4, 2, phase="train", bias=True, norm="layernorm", gated=False)
    for tensor in g.inputs:
        owner, _, word = tensor.name.rpartition(".")
        if word in {"weight", "bias", "gamma", "beta"}:
            assert g.tensors[f"{owner}.d{word}"].shape == tensor.shape
    assert g.outputs[-1].shape == (2, 128, 64)
    for op in g.ops:
        total: Any = 0
        for _, count in g.terms(op):
            total = total + count
        assert total == g.flops(op)


@pytest.mark.parametrize(
    ("op", "flops", "tensors"),
    [
        ("attention_norm.dx", 9 * 256 * 64 + 256, 3),
        ("rope_q.dx", 3 * 256 * 64, 2 + 1 / 8),
        ("swiglu.dgate", 12 * 256 * 160, 5 * 160 / 64),
        ("attention.dq", (10 * 16 + 4) * 2 * 4 * 128 * 129 // 2, 8),
        ("x.gradients", 256 * 64, 3),
    ],
)
def test_what_the_backward_pass_computes_and_moves(op: str, flops: int, tensors: float) -> None:
    g = transformer_block(2, 128, 64, 4, ffn=160, phase="train")
    found = next(one for one in g.ops if one.name == op)
    assert g.flops(op) == flops
    small = sum(evaluate(g.bytes(t), {}) for t in (*found.inputs, *found.outputs) if len(t.shape) == 1)
    small += sum(evaluate(g.bytes(t), {}) for t in found.inputs if t.name.endswith("log_sum_exp"))
    assert evaluate(g.bytes(found), {}) - small == 2 * 256 * 64 * tensors


def test_the_backward_pass_counts_accumulators_and_exponentials_as_the_forward_pass_does() -> None:
    g = transformer_block(2, 128, 64, 4, ffn=160, phase="train")
    wide = g.with_convention(Convention("wide", accumulator_bytes=4, transcendental=10))
    found = {op.name: evaluate(wide.bytes(op), {}) - evaluate(g.bytes(op), {}) for op in g.ops}
    assert {name: n for name, n in found.items() if n and name.startswith("ffn_up")} == {
        "ffn_up": 4 * 256 * 160,
        "ffn_up.dx": 4 * 256 * 64,
        "ffn_up.dweight": 4 * 64 * 160,
    }
    assert [op.name for op in g.ops if op.kind == "matmul"] == [name for name, n in found.items() if n]
    assert wide.flops("attention.dq") == g.flops("attention.dq")


def test_other_norms_and_activations_go_back_by_their_own_formulas() -> None:
    for activation, forward in (("gelu", 8), ("relu", 1), ("silu", 5)):
        g = transformer_block(
            2,
            128,
            64,
            4,
            phase="train",
            gated=False,
            norm="layernorm",
            activation=activation,  # type: ignore[arg-type]
        )
        assert g.flops(f"{activation}.dx") == (2 * forward + 1) * 256 * 256
        assert g.flops("ffn_norm.dx") == 13 * 256 * 64 + 256


def test_the_gradients_of_a_tensor_that_is_used_twice_are_added() -> None:
    g = transformer_block(2, 128, 64, 4, phase="train")
    sums = [op.name for op in g.ops if op.name.endswith("gradients") or ".gradients_" in op.name]
    assert sums == [
        "ffn_norm.gradients",
        "attention_add.gradients",
        "attention_norm.gradients",
        "attention_norm.gradients_2",
        "x.gradients",
    ]


def test_a_mixture_of_experts_takes_the_place_of_the_feed_forward_layer() -> None:
    g = transformer_block(2, 16, 64, 4, experts=8, active=2, ffn=96)
    copies = 2 * 16 * 2
    products = sum(evaluate(g.flops(f"moe.{word}"), {}) for word in ("gate", "up", "down"))
    assert products == 6 * copies * 64 * 96
    with pytest.raises(ValueError, match="op 'moe': a mixture of experts has no backward pass here"):
        transformer_block(2, 16, 64, 4, experts=8, active=2, phase="train")


# -- decoders ----------------------------------------------------------------------------------------------------------


BILLIONS = {
    "gpt-2": 0.12,
    "gpt-3": 174.56,
    "llama-2-7b": 6.61,
    "llama-2-13b": 12.85,
    "llama-2-70b": 68.71,
    "llama-3-8b": 7.50,
    "llama-3-70b": 69.5,
    "llama-3-405b": 403.75,
    "mixtral-8x7b": 46.57,
    "mixtral-8x22b": 140.4,
}


def test_every_preset_is_held_to_a_published_number() -> None:
    assert set(DECODERS) == set(BILLIONS)


@pytest.mark.parametrize(("name", "billions"), BILLIONS.items())
def test_the_presets_have_the_published_number_of_parameters_less_their_embedding(name: str, billions: float) -> None:
    # This many tokens reach all experts.
    assert parameters(decoder(name, batch=1, seq=64)) / 1e9 == pytest.approx(billions, rel=0.03)


def test_gpt_3_has_96_layers_of_width_12288_and_llama_2_70b_has_80_of_8192_with_eight_heads_of_keys() -> None:
    # Brown et al. 2020, table 2.1: 12 d^2 a layer. Published configuration of Llama 2: 2 d^2 + 2 d d/8 + 3 d f a layer.
    assert parameters(decoder("gpt-3", batch=1, seq=8)) == 96 * 12 * 12288**2 + 50257 * 12288
    d, f = 8192, 28672
    assert parameters(decoder("llama-2-70b", batch=1, seq=8)) == 80 * (2 * d * d + d * d // 4 + 3 * d * f) + 32000 * d
    cache = decoder("llama-2-70b", batch=1, seq=4096, phase="decode").tensors
    assert sum(t.shape[-1] == 8 * 128 for name, t in cache.items() if name.endswith((".k", ".v"))) == 2 * 80


@pytest.mark.parametrize("name", ["GPT-3", "gpt3", "GPT 3", "Llama-2-70B", "llama2-70b", "Mixtral 8x7B"])
def test_case_spaces_and_hyphens_of_a_preset_do_not_count(name: str) -> None:
    (known,) = [word for word in DECODERS if word.replace("-", "") == name.casefold().replace("-", "").replace(" ", "")]
    g = decoder(name, layers=1, batch=1, seq=8)
    assert g.name == known
    assert g.count("flops") == decoder(known, layers=1, batch=1, seq=8).count("flops")


def test_a_decoder_is_symbolic_unless_it_is_told_its_sizes() -> None:
    g = decoder("llama-3-8b")
    assert [(d.name, d.default) for d in g.dims] == [("batch", 1), ("seq", 2048)]
    plain = decoder("llama-3-8b", batch=4, seq=512)
    assert plain.dims == ()
    for what in ("flops", "bytes", "compulsory"):
        assert g.count(what, {"batch": 4, "seq": 512}) == plain.count(what)


@pytest.mark.parametrize("layers", [0, -1, 10**400, 2.0, True])
def test_a_number_of_layers_that_no_decoder_has_is_refused_at_once(layers: Any) -> None:
    with pytest.raises(ValueError, match=r"layers must be a whole number from 1 to 10,000, got (0|-1|1000|2|True)"):
        decoder("gpt-2", layers=layers)


def test_a_decoder_has_as_many_blocks_as_layers() -> None:
    g = decoder("llama-3-8b", layers=3, batch=1, seq=16)
    names = [op.name for op in g.ops]
    assert names[0] == "embedding"
    assert names[-2:] == ["norm", "logits"]
    assert sum(name.endswith(".attention") for name in names) == 3
    block = transformer_block(1, 16, 4096, 32, 8, 14336)
    logits = evaluate(g.flops("logits"), {}) + evaluate(g.flops("norm"), {})
    assert g.count("flops") == 3 * block.count("flops") + logits


def test_keywords_take_the_place_of_the_presets() -> None:
    g = decoder("llama-3-8b", layers=1, batch=1, seq=16, kv_heads=1, norm="layernorm")
    assert g.tensors["layer0.k"].shape == (1, 16, 128)
    assert "layer0.attention_norm.beta" in g.tensors


def test_training_a_decoder_ends_in_the_loss_and_reaches_the_embedding() -> None:
    g = decoder("gpt-2", layers=2, batch=2, seq=32, phase="train")
    assert [t.name for t in g.outputs] == ["loss", "embedding.drows"]
    assert g.tensors["logits.dweight"].shape == (768, 50257)
    forward = decoder("gpt-2", layers=2, batch=2, seq=32)
    assert 2.9 < g.count("tensor") / forward.count("tensor") < 3.1


@given(st.sampled_from(sorted(DECODERS)), st.sampled_from(["prefill", "decode"]), st.sampled_from(sorted(CONVENTIONS)))
@settings(max_examples=10)
def test_the_terms_of_every_op_add_up_to_its_flops(name: str, phase: str, convention: str) -> None:
    g = decoder(name, layers=1, phase=phase, convention=convention)  # type: ignore[arg-type]
    env = g.environment()
    for op in g.ops:
        assert sum(evaluate(count, env) for _, count in g.terms(op)) == evaluate(g.flops(op), env)
        assert sum(evaluate(count, env) for count in g.flops_by_class(op).values()) == evaluate(g.flops(op), env)
    assert g.count("compulsory") <= g.count("bytes")


@pytest.mark.parametrize("phase", ["prefill", "decode", "train"])
def test_layers_share_their_expressions_so_that_many_are_counted_as_fast_as_few(phase: Phase) -> None:
    few, many = (decoder("llama-3-70b", layers=layers, phase=phase) for layers in (2, 20))
    assert len(many.ops) > 9 * len(few.ops)
    assert {op.total_flops for op in many.ops} == {op.total_flops for op in few.ops}
    assert {op.own_bytes for op in many.ops} == {op.own_bytes for op in few.ops}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"preset": "llama-3-80b"}, ValueError, "unknown decoder 'llama-3-80b'; there are 'gpt-2', "),
        ({}, TypeError, "decoder needs the name of a preset .*, or 'hidden', 'heads', 'layers'"),
        ({"preset": "gpt-2", "head": 3}, TypeError, "decoder has no keyword 'head'; did you mean 'heads'"),
        ({"preset": "gpt-2", "phase": "prefil"}, ValueError, "unknown phase 'prefil'; did you mean 'prefill'"),
        ({"preset": "gpt-2", "norm": "rms"}, ValueError, "unknown norm 'rms' of a layer; did you mean 'rmsnorm'"),
        ({"preset": "gpt-2", "heads": 7}, ValueError, "attention': hidden = 768 is no multiple of 7"),
        ({"preset": "gpt-2", "kv_heads": 5}, ValueError, "heads of .* is no multiple of 5"),
        ({"preset": "gpt-2", "seq": 0}, ValueError, "axis 1 of tensor 'tokens' must be at least 1, got 0"),
        ({"preset": "gpt-2", "dtype": "bf61"}, ValueError, "unknown dtype 'bf61'"),
    ],
)
def test_a_wrong_decoder_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        decoder(**given)


# -- images and numerical kernels --------------------------------------------------------------------------------------


def test_residual_networks_have_their_published_parameters() -> None:
    # Of 11,689,512 and 25,557,032 parameters, these belong to norms and the last bias.
    assert parameters(resnet18()) == 11_689_512 - 2 * 4800 - 1000
    assert parameters(resnet50()) == 25_557_032 - 2 * 26_560 - 1000


def test_a_batch_of_images_scales_the_flops() -> None:
    batch = dim("batch", 1, 256, default=8)
    g = resnet18(batch, convention="torch")
    assert g.count("flops") == 8 * 3_628_146_688
    assert str(g.flops("classes")) == "1024000·batch"


def test_training_statistics_are_read_from_the_batch() -> None:
    evaluated, trained = resnet18(), resnet18(training=True)
    norms = [op for op in evaluated.ops if op.name.endswith(".norm")]
    extra = sum(evaluate(evaluated.bytes(op.outputs[0]), {}) for op in norms)
    assert trained.count("bytes") == evaluated.count("bytes") + extra - 2 * 4 * 4800


def test_the_numerical_set_holds_its_kernels_side_by_side() -> None:
    g = hpc_set(1000, side=8, matrix=16, points=16)
    assert [op.name for op in g.ops] == [
        "stream_copy",
        "stream_scale",
        "stream_add",
        "stream_triad",
        "dot",
        "axpy",
        "gemv",
        "gemm",
        "spmv_csr",
        "stencil_5",
        "stencil_7",
        "stencil_27",
        "fft",
    ]
    assert g.convention.name == "hpc"
    assert len(g.outputs) == len(g.ops)


@pytest.mark.parametrize("preset", ["gpt-2", "llama-3-8b", "mixtral-8x7b"])
def test_a_preset_with_a_causal_mask_counts_what_the_mask_leaves(preset: str) -> None:
    masked, full = (decoder(preset, batch=2, seq=2048, layers=1, causal=causal) for causal in (True, False))
    ratio = Fraction(evaluate(masked.flops("layer0.attention"), {}), evaluate(full.flops("layer0.attention"), {}))
    assert ratio == Fraction(2049, 4096)
    assert masked.with_convention("torch").count("flops") == full.with_convention("torch").count("flops")
    # One new token sees the whole context.
    decoding = [decoder(preset, batch=2, seq=2048, phase="decode", causal=causal) for causal in (True, False)]
    assert decoding[0].count("flops") == decoding[1].count("flops")


def test_the_backward_pass_of_attention_has_the_mask_too() -> None:
    masked, full = (transformer_block(1, 512, 64, 4, phase="train", causal=causal) for causal in (True, False))
    for op in ("attention", "attention.dq"):
        assert Fraction(evaluate(masked.flops(op), {}), evaluate(full.flops(op), {})) == Fraction(513, 1024)


# -- experts -----------------------------------------------------------------------------------------------------------


def test_a_decoder_reads_the_weights_of_the_mean_number_of_experts() -> None:
    # 8 (1 - (3/4)^4) = 5.46875 of the 8 experts of Mixtral, where all 8 can be reached.
    how: dict[str, Any] = {"batch": 4, "seq": 1024, "phase": "decode", "layers": 1}
    expected, most = decoder("mixtral-8x7b", **how), decoder("mixtral-8x7b", touched="most", **how)
    weights = {
        word: [sum(evaluate(t.bytes, {"@bf16": 16}) for n, t in g.tensors.items() if n.endswith(word)) for g in found]
        for found in [(expected, most)]
        for word in ("moe.gate.weight", "moe.up.weight", "moe.down.weight")
    }
    for mean, all_of_them in weights.values():
        assert all_of_them == 8 * 2 * 4096 * 14336
        assert Fraction(mean, all_of_them) == Fraction(546875, 800000)
    assert expected.count("flops") == most.count("flops")
    assert expected.count("bytes") == most.count("bytes") - 3 * 2 * 4096 * 14336 * 253125 // 100000


def test_the_formula_and_the_notes_say_how_many_experts_are_read() -> None:
    g = decoder("mixtral-8x7b", phase="decode", layers=2)
    assert str(g.bytes("layer0.moe.gate.weight")) == "28672·⌊4096·8·(1 - (1 - 2/8)^batch)⌉"
    note = (
        "weights of experts are read for the mean of 8·(1 - (1 - 2/8)^tokens) experts, if each token picks 2 at random"
    )
    assert g.notes == (note,)
    assert g.kernels().source == f"graph 'mixtral-8x7b', counted by textbook; {note}"
    assert g.with_convention("torch").with_dtype("fp8").notes == g.notes
    assert Partition.unfused(g).recompute("layer0.attention_add").graph.notes == g.notes
    most = decoder("mixtral-8x7b", phase="decode", layers=2, touched="most")
    assert most.notes == ("weights of experts are read for the most experts that the tokens can reach",)
    assert decoder("llama-3-8b", phase="decode", layers=1).notes == ()
    with pytest.raises(ValueError, match="unknown touched 'mean' of a layer"):
        decoder("mixtral-8x7b", touched="mean")


@pytest.mark.parametrize("batch", [1, 2, 4, 16, 64, 1024])
def test_the_mean_number_of_experts_is_held_to_the_closed_form(batch: int) -> None:
    g = decoder("mixtral-8x22b", phase="decode", layers=1)
    rows = evaluate(g.tensors["layer0.moe.down.weight"].shape[0], {"batch": batch})
    assert rows == round(16384 * 8 * (1 - Fraction(3, 4) ** batch))
    assert rows / 16384 == pytest.approx(expected_experts(batch, 8, 2), rel=1e-4)


def test_one_row_reaches_exactly_its_own_experts_and_a_failed_mixture_leaves_no_note() -> None:
    g = Graph()
    x = g.input("x", (1, 16), "bf16")
    g.moe(x, experts=6, active=2, ffn=32, touched="expected")
    assert g.bytes("moe.gate.weight") == 2 * 2 * 16 * 32
    g.moe(x, experts=6, active=2, ffn=32, touched=3)
    assert g.bytes("moe_2.gate.weight") == 2 * 3 * 16 * 32
    before = g.notes
    with pytest.raises(ValueError, match="op 'moe_3': touched must be 'expected', 'most' or a number of experts"):
        g.moe(x, experts=6, active=2, ffn=32, touched="all")
    assert g.notes == before
