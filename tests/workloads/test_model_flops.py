"""FLOPs of models by published conventions, and the MFU, HFU and MBU of published reports."""

from __future__ import annotations

from typing import Any

import pytest

import roofwidget as rw
from roofwidget.workloads import decoder, decoder_config, model_flops


def percent(utilization: rw.Utilization | None, digits: int = 1) -> float:
    assert utilization is not None
    return round(100 * utilization.value, digits)


# -- published reports -------------------------------------------------------------------------------------------------


def test_palm_540b_reaches_45_7_percent_by_6nd_46_2_with_attention_and_57_8_with_recomputation() -> None:
    # Chowdhery et al., PaLM (2022), table 3 and appendix B: 238.3K tokens/s on 6144 TPU v4. All attention and 75 % of
    # the other FLOPs of the forward pass are recomputed. 118 layers, 48 heads of 256, sequences of 2048.
    sizes: dict[str, Any] = {"layers": 118, "heads": 48, "head_dim": 256, "seq": 2048, "attention": "full"}
    again = {"parameters": 0.75, "attention": 1}
    made = rw.mfu(model_flops(540.35e9, 238_300, **sizes, recompute=again), 1, "tpu-v4", 6144)
    assert percent(rw.mfu(model_flops(540.35e9, 238_300), 1, "tpu-v4", 6144)) == 45.7
    assert percent(made) == 46.2
    assert percent(made.hardware) == 57.8


def test_palms_flops_per_token_are_3_28_and_with_recomputation_4_10_teraflops() -> None:
    # PaLM, table 22.
    again = {"parameters": 0.75, "attention": 1}
    one = model_flops(540.35e9, 1, layers=118, heads=48, head_dim=256, seq=2048, attention="full", recompute=again)
    assert round(one.flops / 1e12, 2) == 3.28
    assert round(one.hardware_flops / 1e12, 2) == 4.10


@pytest.mark.parametrize(
    ("sizes", "run", "printed"),
    [
        # MosaicML llm-foundry, scripts/train/benchmarking/README.md, "H100 80GB BF16": 70b, 30b, 13b and 7b. The sizes
        # are those of its MPT yamls, heads of 128. Activation checkpointing: the forward pass again.
        ((64_862_437_376, 80, 64), (64, 66_523, "full"), (42.57, 56.76)),
        ((29_975_214_080, 48, 56), (32, 73_860, "full"), (43.92, 58.57)),
        ((12_853_954_560, 40, 40), (8, 38_336, "none"), (39.79, 39.79)),
        ((6_658_859_008, 32, 32), (8, 85_144, "none"), (46.44, 46.44)),
    ],
)
def test_mosaicmls_table_of_mpt_on_h100_is_reproduced_with_mfu_and_hfu(
    sizes: tuple[int, int, int], run: tuple[int, int, Any], printed: tuple[float, float]
) -> None:
    (parameters, layers, heads), (gpus, rate, recompute) = sizes, run
    shape: dict[str, Any] = {"layers": layers, "heads": heads, "head_dim": 128, "seq": 2048}
    work = model_flops(parameters, rate, attention="full", recompute=recompute, **shape)
    made = rw.mfu(work, 1, "h100-sxm", gpus)
    # The printed tokens per second are rounded.
    assert (percent(made, 2), percent(made.hardware or made, 2)) == pytest.approx(printed, abs=0.011)


@pytest.mark.parametrize(
    ("model", "rate", "seq", "printed"),
    [
        # torchtitan, docs/performance.md: tokens per second and GPU on 64 A100 80GB. Its formula at that commit counts
        # the embedding too: 6 N + 12 L H d seq (train.py). Llama 3 trains with 8192 tokens, Llama 2 with 4096.
        ("llama-3-8b", 2904, 8192, 56.8),
        ("llama-3-8b", 2973, 8192, 58.2),
        ("llama-3-70b", 331, 8192, 51.7),
        ("llama-2-13b", 2162, 4096, 61.1),
        ("llama-2-13b", 1914, 4096, 54.1),
        ("llama-2-13b", 1904, 4096, 53.8),
        ("llama-2-70b", 355, 4096, 50.8),
        ("llama-2-70b", 353, 4096, 50.5),
    ],
)
def test_torchtitans_table_on_a100_is_reproduced_from_the_names_of_the_models(
    model: str, rate: int, seq: int, printed: float
) -> None:
    work = model_flops(model, rate, seq=seq, attention="full")
    assert percent(rw.mfu(work, 1, "a100-sxm-80gb")) == printed


def test_deepseek_v3_reaches_21_6_percent_of_the_fp8_peak_of_h800() -> None:
    # The scaling book, transformers, question 7: 2.79M hours of H800 at 1.513e15 FLOP/s dense, 37B active parameters,
    # 14.8T tokens. It rounds to 3.3e24 FLOPs first and prints 21.7 %.
    h800 = rw.Chip("H800 PCIe", {"fp8": 1.513e15}, {"HBM": "2 TB/s"})
    hours = 2.79e6
    assert percent(rw.mfu(model_flops(37e9, 14.8e12), hours * 3600, h800)) == 21.6
    assert percent(rw.mfu(3.3e24, 1.52e25 / 1.513e15, h800)) == 21.7


def test_a_7b_model_with_14_ms_per_token_reaches_an_mbu_of_50_percent() -> None:
    # Databricks, LLM Inference Performance Engineering: Best Practices: 16-bit weights, a bandwidth of 2 TB/s.
    card = rw.Chip("card", {"bf16": "312 TFLOP/s"}, {"HBM": "2 TB/s"})
    assert percent(rw.mbu(7_000_000_000 * 2, "14 ms", card)) == 50.0


def test_maxtexts_flops_of_llama_2_7b_are_reproduced_with_and_without_halving_for_the_mask() -> None:
    # AI-Hypercomputer/maxtext, pull request 1988, table: TFLOPs of learnable weights and of attention, before and after
    # halving, at 8192 tokens per sequence. The printed numbers are those of 4 sequences.
    tokens = 4 * 8192
    attention = {
        how: model_flops("llama-2-7b", tokens, seq=8192, attention=how).flops - model_flops("llama-2-7b", tokens).flops
        for how in ("full", "half")
    }
    assert round(attention["full"] / 1e12, 2) == 422.21
    assert round(attention["half"] / 1e12, 2) == 211.11
    matrices = model_flops("llama-2-7b", tokens, parameters="matrices").flops
    assert round(matrices / 1e12, 2) == 1299.00


# -- conventions -------------------------------------------------------------------------------------------------------


def test_6nd_is_exact_in_whole_numbers() -> None:
    assert model_flops(7_000_000_001, 3).flops == 6 * 7_000_000_001 * 3
    assert model_flops(7_000_000_001, 3, phase="forward").flops == 2 * 7_000_000_001 * 3
    assert isinstance(model_flops(7e9, 3).flops, int)


def test_a_mixture_counts_its_active_experts_only() -> None:
    config = decoder_config("mixtral-8x7b")
    assert config.active_parameters < config.parameters / 3
    assert model_flops("mixtral-8x7b", 10).flops == 60 * config.active_parameters


def test_exact_attention_counts_the_pairs_that_the_mask_leaves() -> None:
    sizes: dict[str, Any] = {"layers": 1, "heads": 1, "head_dim": 1, "seq": 4}
    without = model_flops(1, 4).flops
    counts = {how: model_flops(1, 4, attention=how, **sizes).flops - without for how in ("full", "half", "exact")}
    assert counts == {"full": 12 * 16, "half": 12 * 8, "exact": 12 * (1 + 2 + 3 + 4)}


def test_a_window_limits_the_pairs_of_every_convention() -> None:
    mistral = {
        "model_type": "mistral",
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "intermediate_size": 64,
        "vocab_size": 64,
        "sliding_window": 2,
    }
    base = model_flops(mistral, 4).flops
    counts = {how: model_flops(mistral, 4, seq=4, attention=how).flops - base for how in ("full", "half", "exact")}
    assert counts == {"full": 12 * 64 * 8, "half": 12 * 64 * 4, "exact": 12 * 64 * (1 + 2 + 2 + 2)}


def test_the_forward_pass_of_the_matrices_is_that_of_the_graph() -> None:
    graph = decoder("llama-3-8b", batch=2, seq=512, convention="torch")
    counted = model_flops("llama-3-8b", 1024, seq=512, attention="full", phase="forward", parameters="matrices")
    assert counted.flops == graph.count("flops")


def test_the_terms_add_up_to_the_hardware_flops() -> None:
    work = model_flops("gpt-2", 1024, seq=1024, attention="full", recompute={"attention": 1})
    assert sum(count for _, count in work.terms) == work.hardware_flops
    assert [name for name, _ in work.terms][-1] == "attention again"
    assert work.recompute == "all forward FLOPs of attention"


def test_the_convention_is_in_words() -> None:
    assert model_flops(1e9, 1).convention == "6ND without attention; forward and backward"
    assert model_flops("gpt-2", 1, parameters="matrices", phase="forward").convention == (
        "2ND without attention, N without embedding, norms and biases; forward"
    )
    causal = model_flops("gpt-2", 4, seq=4, attention="half")
    assert causal.convention == "6ND with causal attention, half of the pairs; forward and backward"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"model": 0}, ValueError, "the number of parameters must be a number above zero, got 0"),
        ({"model": True}, ValueError, "the number of parameters must be a number above zero, got True"),
        ({"model": 7e9, "attention": "full"}, TypeError, "needs 'layers', 'heads', 'head_dim', 'seq'"),
        ({"model": "gpt-2", "attention": "full"}, TypeError, "needs 'seq'"),
        ({"model": "gpt-2", "layers": 3}, TypeError, "a configuration has its own 'layers'"),
        ({"model": "gtp-2"}, ValueError, "unknown decoder 'gtp-2'; did you mean 'gpt-2'"),
        ({"model": 7e9, "parameters": "matrices"}, TypeError, "needs a configuration"),
        ({"model": 7e9, "attention": "causal"}, ValueError, "unknown attention 'causal'"),
        ({"model": 7e9, "phase": "training"}, ValueError, "unknown phase 'training'; did you mean 'train'"),
        ({"model": 7e9, "recompute": "ful"}, ValueError, "unknown recompute 'ful'; did you mean 'full'"),
        ({"model": 7e9, "recompute": {"attention": 2}}, ValueError, "must be a share from 0 to 1, got 2"),
        ({"model": 7e9, "recompute": {"attn": 1}}, ValueError, "unknown part 'attn' of recompute"),
        ({"model": 7e9, "tokens": -1}, ValueError, "tokens must be a number above zero, got -1"),
        ({"model": "gpt-2", "seq": 0, "attention": "full"}, ValueError, "seq must be a whole number from 1, got 0"),
        ({"model": 7e9, "seqlen": 1}, TypeError, "model_flops has no keyword 'seqlen'; did you mean 'seq'"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model_flops(**{"tokens": 4, **given})
