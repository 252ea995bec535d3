"""Formats of quantised weights: bits with their scales, by hand, and the keys of published configurations."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.workloads import WEIGHT_FORMATS, decoder_config
from tests.workloads.hf_configs import CONFIGS

# Bits per element, of the papers and programs that define the formats.
BITS = {
    "mxfp4": 4.25,
    "mxfp6": 6.25,
    "mxfp8": 8.25,
    "nvfp4": 4.5,
    "int4-g128": 4.125,
    "int4-g128-zero": 4.15625,
    "int4-g32": 4.5,
    "fp8-128x128": 8.001953125,
    "nf4": 4.5,
    "nf4-double": 4.126953125,
}
LAYERS = 32
# The matrices of Llama 3 8B: attention and feed-forward layers of all 32 layers; embedding, logits and norms.
ATTENTION = LAYERS * 4096 * (4096 + 1024 + 1024 + 4096)
FEED_FORWARD = LAYERS * 3 * 4096 * 14336
REST = 2 * 128256 * 4096 + 65 * 4096


def test_each_format_has_the_bits_of_its_elements_and_of_their_scales() -> None:
    assert dict(WEIGHT_FORMATS) == BITS


@pytest.mark.parametrize("name", BITS)
def test_a_format_is_that_of_the_matrices_and_the_rest_has_16_bits(name: str) -> None:
    config = decoder_config(CONFIGS["Meta-Llama-3-8B"])
    expected = (Fraction(BITS[name]) * (ATTENTION + FEED_FORWARD) + 16 * REST) / 8
    assert config.weight_bytes(name) == expected
    assert config.weight_bytes(name.upper()) == expected
    served = rw.serve(CONFIGS["Meta-Llama-3-8B"], "h100-sxm", weight_dtype=name)
    assert served.weight_bytes == served.weight_bytes_per_chip == expected
    assert served.weight_dtype == name
    # All is read in a step but the table of the input embedding, of which one row is.
    read = expected - 2 * (128256 - 1) * 4096
    assert served.decode.least_weights_time == pytest.approx(float(read / Fraction(3_350_000_000_000)))


def with_quantisation(given: dict[str, Any]) -> rw.workloads.DecoderConfig:
    return decoder_config({**CONFIGS["Meta-Llama-3-8B"], "quantization_config": given})


FLOAT8 = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True}


@pytest.mark.parametrize(
    ("given", "name", "bits"),
    [
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, "mxfp4", 4.25),
        ({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}, "fp8-128x128", 8.001953125),
        ({"quant_method": "fp8", "activation_scheme": "static"}, "fp8-tensor", 8),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "desc_act": True}, "int4-g128", 4.125),
        ({"quant_method": "gptq", "bits": 8, "group_size": 64, "sym": False}, "int8-g64-zero", 8.375),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "int4-row", 4),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4-g128-zero", 4.15625),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "nf4", 4.5),
        (
            {"quant_method": "bitsandbytes", "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
            "nf4-double",
            4.126953125,
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8-row", 8),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, "nvfp4", 4.5),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8-tensor", 8),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": FLOAT8}}}, "fp8-tensor", 8),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": INT4}}}, "int4-g128", 4.125),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"weights": {**FLOAT8, "strategy": "block", "block_structure": [128, 128]}}},
            },
            "fp8-128x128",
            8.001953125,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "nvfp4-pack-quantized",
                "config_groups": {"a": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
            },
            "nvfp4",
            4.5,
        ),
    ],
)
def test_the_published_format_is_that_of_the_configuration(given: dict[str, Any], name: str, bits: float) -> None:
    config = with_quantisation(given)
    assert config.weight_bytes() == (Fraction(bits) * (ATTENTION + FEED_FORWARD) + 16 * REST) / 8
    assert rw.serve(config, "h100-sxm").weight_dtype == name
    assert config.left_out == ()
    assert f"the published weights are quantised ({name}); here they have the dtype asked for" in "\n".join(
        rw.workloads.decoder(config, layers=1, batch=1, seq=8).notes
    )
    # What is asked for counts in place of it.
    assert rw.serve(config, "h100-sxm", weight_dtype="bf16").weight_bytes == 2 * config.parameters


def test_the_file_that_modelopt_puts_beside_the_configuration_is_read(tmp_path: Path) -> None:
    beside = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}
    for name, values in (("config.json", CONFIGS["Meta-Llama-3-8B"]), ("hf_quant_config.json", beside)):
        (tmp_path / name).write_text(json.dumps(values), encoding="utf-8")
    expected = (Fraction(9, 2) * (ATTENTION + FEED_FORWARD) + 16 * REST) / 8
    assert (
        decoder_config(tmp_path).weight_bytes() == decoder_config(tmp_path / "config.json").weight_bytes() == expected
    )
    # What the configuration itself says comes first.
    own = {**CONFIGS["Meta-Llama-3-8B"], "quantization_config": {"quant_method": "fp8"}}
    (tmp_path / "config.json").write_text(json.dumps(own), encoding="utf-8")
    assert decoder_config(tmp_path).weight_bytes() == ATTENTION + FEED_FORWARD + 2 * REST
    (tmp_path / "hf_quant_config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"hf_quant_config\.json must contain an object of keys and values"):
        decoder_config(tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        {"quant_method": "hqq"},
        {"quant_method": "gptq", "bits": 4},
        {"quant_method": "awq", "bits": "four", "group_size": 128},
        {"quant_method": "fp8", "weight_block_size": [0, 128]},
        {"quant_method": "fp8", "weight_block_size": []},
        {"quant_method": "fp8", "weight_block_size": 128},
        {"quant_method": "gptq", "bits": 99, "group_size": 128},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": None}}},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {**FLOAT8, "num_bits": 4}}}},
        {"quant_method": "compressed-tensors"},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": INT4}, "b": {"weights": FLOAT8}}},
        {"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"},
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "fp4"},
    ],
)
def test_a_format_of_unknown_bits_counts_at_the_dtype_that_is_asked_for_and_is_named(given: dict[str, Any]) -> None:
    config = with_quantisation(given)
    assert config.weight_bytes() == 2 * config.parameters
    assert config.left_out == (
        f"The published weights are quantised ('{given['quant_method']}'); they count at the dtype that is asked for.",
    )


@pytest.mark.parametrize(
    ("kept", "attention_bits"),
    [
        (["lm_head", "re:.*router.*"], 4.5),
        (["model.layers.*.self_attn", "lm_head"], 16),
        ([f"model.layers.{layer}.self_attn*" for layer in range(LAYERS)], 16),
        (["model.layers.0.self_attn*"], 4.5),  # a single layer: its 16 bits are left out
    ],
)
def test_attention_has_16_bits_where_the_configuration_keeps_that_of_all_layers(
    kept: list[str], attention_bits: float
) -> None:
    config = with_quantisation({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": kept})
    expected = Fraction(attention_bits) * ATTENTION + Fraction(9, 2) * FEED_FORWARD + 16 * REST
    assert config.weight_bytes() == expected / 8


def test_the_routers_of_deepseek_have_16_bits_and_its_other_matrices_8_with_a_scale_per_block() -> None:
    config = decoder_config(CONFIGS["DeepSeek-V3"])
    matrices = config.parameters - 2 * config.embedding - sum(one.elements for one in config.weights if not one.matrix)
    routers = 58 * 7168 * 256
    narrow = matrices - routers
    expected = (narrow * Fraction(4097, 512) + (config.parameters - narrow) * 16) / 8
    assert config.weight_bytes() == -(-expected.numerator // expected.denominator)
    # The model card: 671 GB of weights in fp8, and embedding and logits in 16 bits.
    assert 671e9 < config.weight_bytes() < 674e9
