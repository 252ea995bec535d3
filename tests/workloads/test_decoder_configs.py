"""Configurations of Hugging Face's format: parameters, caches and graphs, held against published sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.workloads import ARCHITECTURES, DecoderConfig, decoder, decoder_config
from roofwidget.workloads.expressions import evaluate
from tests.places import write
from tests.workloads.hf_configs import CONFIGS, COUNTS, OTHERS

# The number of parameters in the safetensors index of each model, as its page on Hugging Face states it. DeepSeek-V3:
# its main model, without the layer that predicts a second token. Gemma 3: the whole model, without the 416,866,032
# parameters of the image encoder, and without the norm of 1,152 and the matrix of 1,152 rows that follow the encoder.
PUBLISHED = {
    "Meta-Llama-3-8B": 8_030_261_248,
    "Llama-3.2-1B": 1_235_814_400,
    "Mistral-7B-v0.1": 7_241_732_096,
    "Mixtral-8x7B-v0.1": 46_702_792_704,
    "Qwen2.5-7B": 7_615_616_512,
    "Qwen3-30B-A3B": 30_532_122_624,
    "gemma-2-9b": 9_241_705_984,
    "gemma-3-4b-text": 4_300_079_472 - 416_866_032 - 1152 - 1152 * 2560,
    "gemma-3-12b-text": 12_187_325_040 - 416_866_032 - 1152 - 1152 * 3840,
    "gemma-3-27b-text": 27_432_406_640 - 416_866_032 - 1152 - 1152 * 5376,
    "Phi-4-mini-instruct": 3_836_021_760,
    "Phi-3-mini-4k-instruct": 3_821_079_552,
    "DeepSeek-V2-Lite": 15_706_484_224,
    "DeepSeek-V3": 671_026_419_200,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    **{name: COUNTS[name][0] for name in ("Kimi-K2", "GLM-4.5", "GLM-4.5-Air", "Phi-4")},
}
# Keys of the published configurations that change no weight.
HARMLESS: dict[str, dict[str, Any]] = {
    "Meta-Llama-3-8B": {
        "attention_dropout": 0.0,
        "bos_token_id": 128000,
        "eos_token_id": [128001, 128009],
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "max_position_embeddings": 8192,
        "pretraining_tp": 1,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
        "rope_theta": 500000.0,
        "transformers_version": "4.43.0.dev0",
        "use_cache": True,
        "is_llama_config": True,
        "transformers.js_config": {"dtype": "q4"},
        "_name_or_path": "meta-llama/Meta-Llama-3-8B",
    },
    "Mixtral-8x7B-v0.1": {"output_router_logits": False, "router_aux_loss_coef": 0.02, "router_jitter_noise": 0.0},
    "Qwen2.5-7B": {"layer_types": ["full_attention"] * 28, "use_mrope": False},
    "Qwen3-30B-A3B": {
        "max_window_layers": 48,
        "norm_topk_prob": True,
        "rope_scaling": None,
        "use_qk_norm": True,
        "use_sliding_window": False,
    },
    "gemma-2-9b": {
        "attn_logit_softcapping": 50.0,
        "cache_implementation": "hybrid",
        "final_logit_softcapping": 30.0,
        "hidden_activation": "gelu_pytorch_tanh",
        "query_pre_attn_scalar": 256,
        "sliding_window_size": 4096,
    },
    "Mistral-7B-v0.1": {"is_composition": True},
    "Phi-3-mini-4k-instruct": {
        "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"},
        "embd_pdrop": 0.0,
        "original_max_position_embeddings": 4096,
        "resid_pdrop": 0.0,
    },
    "DeepSeek-V3": {
        "ep_size": 1,
        "n_group": 8,
        "qk_head_dim": 192,
        "routed_scaling_factor": 2.5,
        "scoring_func": "sigmoid",
        "topk_group": 4,
    },
    "gpt-oss-20b": {"experts_per_token": 4, "initial_context_length": 4096, "swiglu_limit": 7.0},
}


def config_of(name: str) -> DecoderConfig:
    return decoder_config(CONFIGS[name], name=name)


def changed(name: str, **changes: Any) -> dict[str, Any]:
    return {**CONFIGS[name], **changes}


def without(name: str, key: str) -> dict[str, Any]:
    return {word: value for word, value in CONFIGS[name].items() if word != key}


# -- published sizes ---------------------------------------------------------------------------------------------------


def test_every_configuration_is_held_to_a_published_size() -> None:
    assert set(PUBLISHED) == set(CONFIGS)


@pytest.mark.parametrize(("name", "parameters"), PUBLISHED.items())
def test_the_number_of_parameters_is_the_published_one_to_the_last_digit(name: str, parameters: int) -> None:
    assert config_of(name).parameters == parameters


@pytest.mark.parametrize("name", COUNTS)
def test_a_published_model_has_its_counts_or_is_refused_by_its_architecture(name: str) -> None:
    if name in OTHERS:
        with pytest.raises(
            ValueError, match=f"unknown architecture '{OTHERS[name]['model_type']}' of config; there are"
        ):
            decoder_config(OTHERS[name])
        return
    config = config_of(name)
    counts = config.parameters, config.active_parameters, config.matrix_parameters, config.cache_bytes_per_token
    assert counts == COUNTS[name]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_model_of_another_architecture_is_refused_under_every_name_that_is_read(architecture: str) -> None:
    for given in OTHERS.values():
        with pytest.raises(ValueError, match=r"has no '|unknown layer type|always has what '"):
            decoder_config({**given, "model_type": architecture})


@pytest.mark.parametrize(
    ("name", "architecture", "keys"),
    [
        ("DeepSeek-V3.2", "deepseek_v3", "'index_head_dim', 'index_n_heads', 'index_topk'"),  # 851,524,864 too few
        ("GLM-5.1", "deepseek_v3", "'index_head_dim', 'index_n_heads', 'index_topk'"),  # 731,008,512 too few
        ("Qwen3-Next-80B-A3B", "qwen3_moe", "'full_attention_interval', 'linear_conv_kernel_dim', "),  # 786,125,568
        ("MiniMax-M2.5", "mixtral", "'num_mtp_modules', 'qk_norm_type', 'use_qk_norm', 'use_routing_bias'"),  # 460,288
    ],
)
def test_keys_of_another_architecture_are_refused_by_name(name: str, architecture: str, keys: str) -> None:
    with pytest.raises(ValueError, match=f"config: '{architecture}' has no {keys}"):
        decoder_config({**OTHERS[name], "model_type": architecture})


@pytest.mark.parametrize(
    "strange",
    [
        {"linear_attn_config": {"num_heads": 32}},
        {"compress_ratios": [4, 128]},
        {"moe_latent_size": 1024},
        {"mamba_expand": 2},
        {"hybrid_override_pattern": "M-M*"},
        {"attn_output_gate": True},
        {"ffn_dim_multiplier": 1.3},
        {"sliding_window": 4096},
    ],
)
def test_a_key_that_may_change_weights_or_flops_is_refused_unless_it_is_empty(strange: dict[str, Any]) -> None:
    (key,) = strange
    with pytest.raises(ValueError, match=f"'llama' has no '{key}'"):
        decoder_config(changed("Meta-Llama-3-8B", **strange))
    empty: tuple[Any, ...] = (None, False, 0, "", [], {})
    for off in empty:
        given = changed("Meta-Llama-3-8B", **{key: off})
        assert decoder_config(given).parameters == PUBLISHED["Meta-Llama-3-8B"]


@pytest.mark.parametrize(("name", "key"), [("Qwen2.5-7B", "attention_bias"), ("Qwen3-30B-A3B", "use_qk_norm")])
def test_a_key_that_switches_off_a_part_that_the_architecture_always_has_is_refused(name: str, key: str) -> None:
    with pytest.raises(ValueError, match=f"'{CONFIGS[name]['model_type']}' always has what '{key}' switches off"):
        decoder_config(changed(name, **{key: False}))
    assert decoder_config(changed(name, **{key: True})).parameters == PUBLISHED[name]


def test_a_refusal_names_eight_keys_at_most() -> None:
    with pytest.raises(ValueError, match=r"'part0', .*'part7' and 92 more"):
        decoder_config(changed("Meta-Llama-3-8B", **{f"part{index}": 1 for index in range(100)}))


@pytest.mark.parametrize("name", HARMLESS)
def test_keys_that_change_no_weight_are_accepted(name: str) -> None:
    assert decoder_config(changed(name, **HARMLESS[name])).parameters == PUBLISHED[name]


def test_the_active_parameters_of_mixtral_and_qwen_are_the_published_ones() -> None:
    assert round(config_of("Mixtral-8x7B-v0.1").active_parameters / 1e9, 1) == 12.9  # Mixtral of Experts (2024)
    assert int(config_of("Qwen3-30B-A3B").active_parameters / 1e8) == 33  # its card cuts the digits after 3.3


@pytest.mark.parametrize(
    ("name", "billions", "digits"), [("gpt-oss-20b", 3.61, 2), ("gpt-oss-120b", 5.13, 2), ("DeepSeek-V3", 37, 0)]
)
def test_the_active_parameters_of_gpt_oss_and_deepseek_are_published_without_the_embedding(
    name: str, billions: float, digits: int
) -> None:
    # OpenAI, gpt-oss model card, table 1; DeepSeek-V3 technical report.
    config = config_of(name)
    assert round((config.active_parameters - config.embedding) / 1e9, digits) == billions


@pytest.mark.parametrize(
    ("layers", "kilobytes"),
    [
        # Zhao et al., Insights into DeepSeek-V3 (ISCA 2025), table 1: KV cache per token in bf16.
        ({"name": "DeepSeek-V3"}, 70.272),
        ({"preset": "llama-3-405b"}, 516.096),
        ({"name": "Qwen2.5-7B", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64}, 327.680),
    ],
)
def test_the_cache_per_token_is_that_of_the_table_of_deepseek(layers: dict[str, Any], kilobytes: float) -> None:
    given = dict(layers)
    if "preset" in given:
        config = decoder_config(given["preset"])
    else:
        name = given.pop("name")
        config = decoder_config(changed(name, **given, **({"num_key_value_heads": 8} if given else {})))
    assert config.cache_bytes_per_token == 1000 * kilobytes


def test_the_cache_of_deepseek_v3_at_160k_tokens_is_what_llama_cpp_allocates() -> None:
    # provide.ai, "The exact KV cache usage of DeepSeek V4": 10.72 GiB at 160k (measured), 8.58 GiB at 128k.
    assert round(config_of("DeepSeek-V3").cache_bytes(160 * 1024) / 2**30, 2) == 10.72
    assert round(config_of("DeepSeek-V3").cache_bytes(128 * 1024) / 2**30, 2) == 8.58


def test_the_cache_of_gpt_oss_before_its_windows_are_full_is_what_vllm_logs() -> None:
    # alvarobartt/hf-mem, issue 60: vLLM has 5.38 GiB for the cache of gpt-oss-120b, and room for 78,384 tokens.
    each = config_of("gpt-oss-120b").cache_bytes_per_token
    assert each == 73_728
    assert round(78_384 * each / 2**30, 2) == 5.38


def test_the_caches_of_the_scaling_book_are_reproduced() -> None:
    # Its inference chapter: LLaMA-2-13B with 8192 tokens in bf16; LLaMA-3-70B per token in int8.
    assert round(decoder_config("llama-2-13b").cache_bytes(8192) / 1e9, 2) == 6.71
    assert decoder_config("llama-3-70b").cache_bytes(1, dtype="int8") == 163_840


def test_gpt_2_has_its_published_parameters_with_positions_and_a_tied_embedding() -> None:
    assert decoder_config("gpt-2").parameters == 124_439_808  # Hugging Face's gpt2
    assert decoder_config("GPT 2").tied


def test_a_name_and_the_configuration_of_the_same_model_agree() -> None:
    for preset, name in (("llama-3-8b", "Meta-Llama-3-8B"), ("mixtral-8x7b", "Mixtral-8x7B-v0.1")):
        assert decoder_config(preset, name="x") == decoder_config(CONFIGS[name], name="x")


# -- windows, bytes ----------------------------------------------------------------------------------------------------


def test_a_window_ends_the_growth_of_the_cache() -> None:
    mistral = config_of("Mistral-7B-v0.1")
    assert mistral.cache_bytes(4096) == mistral.cache_bytes(32768) == 4096 * 131_072
    assert decoder_config(changed("Mistral-7B-v0.1", sliding_window=None)).cache_bytes(32768) == 32768 * 131_072


def test_every_second_layer_of_gemma_2_has_a_window() -> None:
    gemma = config_of("gemma-2-9b")
    assert gemma.cache_elements(8192) == 21 * 2 * 8 * 256 * (4096 + 8192)


def test_every_sixth_layer_of_gemma_3_sees_all_tokens() -> None:
    given = changed("gemma-2-9b", model_type="gemma3_text", sliding_window=1024, sliding_window_pattern=6)
    windows = [layer.attention.window for layer in decoder_config(given).layers]
    assert windows[:7] == [1024, 1024, 1024, 1024, 1024, None, 1024]
    assert windows.count(None) == 7


def test_layer_types_say_which_layers_have_a_window() -> None:
    types = ["full_attention", "sliding_attention"] * 12
    layers = decoder_config(changed("gpt-oss-20b", layer_types=types)).layers
    assert [layer.attention.window for layer in layers[:3]] == [None, 128, None]


def test_qwen_has_windows_only_if_its_flag_says_so() -> None:
    plain = config_of("Qwen2.5-7B")
    assert {layer.attention.window for layer in plain.layers} == {None}
    given = changed("Qwen2.5-7B", use_sliding_window=True, max_window_layers=20)
    assert [layer.attention.window for layer in decoder_config(given).layers] == [None] * 20 + [131072] * 8
    mixture = changed("Qwen3-30B-A3B", use_sliding_window=True, sliding_window=4096)  # every layer, as in transformers
    assert {layer.attention.window for layer in decoder_config(mixture).layers} == {4096}


def test_the_first_layers_of_deepseek_are_dense() -> None:
    layers = config_of("DeepSeek-V3").layers
    assert [layer.feed_forward.experts for layer in layers[:4]] == [None, None, None, 256]


def test_layers_of_qwen_without_experts_are_dense() -> None:
    layers = decoder_config(changed("Qwen3-30B-A3B", mlp_only_layers=[1], decoder_sparse_step=2)).layers
    assert [layer.feed_forward.experts for layer in layers[:4]] == [None, None, None, 128]


def test_bytes_follow_the_dtype() -> None:
    config = config_of("Llama-3.2-1B")
    assert config.weight_bytes() == 2 * config.parameters
    assert config.weight_bytes("int8") == config.parameters
    assert config.weight_bytes("int4") == config.parameters // 2
    assert config_of("gemma-2-9b").dtype == "fp32"
    assert config.cache_bytes(10, 3, "fp8") == 30 * 16 * 2 * 8 * 64


# -- reading -----------------------------------------------------------------------------------------------------------


def test_a_file_and_its_folder_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "Mistral-7B-v0.1"
    folder.mkdir()
    write(folder / "config.json", CONFIGS["Mistral-7B-v0.1"])
    expected = config_of("Mistral-7B-v0.1")
    assert decoder_config(folder) == decoder_config(folder / "config.json") == expected
    assert decoder_config(str(folder / "config.json")).name == "Mistral-7B-v0.1"


def test_the_configuration_of_a_loaded_model_is_read() -> None:
    class PretrainedConfig:
        def to_dict(self) -> dict[str, Any]:
            return changed("Qwen3-30B-A3B", torch_dtype="torch.bfloat16")

    given: Any = PretrainedConfig()
    assert decoder_config(given).parameters == PUBLISHED["Qwen3-30B-A3B"]
    assert len(decoder(given, layers=1, batch=1, seq=8).ops) > 10


def test_the_text_names_layers_weights_and_cache() -> None:
    assert repr(config_of("gpt-oss-20b")).splitlines() == [
        "DecoderConfig: gpt-oss-20b, 20.91B parameters, 4.187B active",
        "12 layers  64 heads, 8 of keys (GQA), window 128; 4 of 32 experts of 2,880",
        "12 layers  64 heads, 8 of keys (GQA); 4 of 32 experts of 2,880",
        "width      2,880, vocabulary 201,088",
        "weights    13.8 GB at mxfp4",
        "cache      49.2 kB per token at bf16",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            changed("Mistral-7B-v0.1", model_type="mistrl"),
            "unknown architecture 'mistrl' of config; there are 'llama', ",
        ),
        (changed("Mistral-7B-v0.1", model_type="bert"), "unknown architecture 'bert' of config; there are 'llama', "),
        (without("Mistral-7B-v0.1", "model_type"), "config has no text under 'model_type'"),
        (without("Mistral-7B-v0.1", "hidden_size"), "config of type 'mistral' has no 'hidden_size'"),
        (without("Mistral-7B-v0.1", "sliding_window"), "config of type 'mistral' has no 'sliding_window'"),
        (without("gpt-oss-20b", "sliding_window"), "config of type 'gpt_oss' has no 'sliding_window'"),
        (without("DeepSeek-V3", "q_lora_rank"), "has no 'q_lora_rank'; there is 'kv_lora_rank'"),
        (without("Qwen3-30B-A3B", "num_experts"), "has no 'num_experts'; there is 'num_experts_per_tok'"),
        (changed("Mistral-7B-v0.1", hidden_size="4096"), "'hidden_size' must be a whole number from 1, got '4096'"),
        (changed("Mistral-7B-v0.1", hidden_size=0), "'hidden_size' must be a whole number from 1, got 0"),
        (changed("Mistral-7B-v0.1", num_hidden_layers=True), "'num_hidden_layers' must be a whole number"),
        (changed("Mistral-7B-v0.1", num_hidden_layers=10**6), "'num_hidden_layers' must be at most 10,000"),
        (changed("Mistral-7B-v0.1", num_key_value_heads=5), "'num_attention_heads' = 32 is no multiple of 5"),
        (changed("Mistral-7B-v0.1", num_attention_heads=24, num_key_value_heads=8), "'hidden_size' = 4096 is no multi"),
        (changed("Mistral-7B-v0.1", torch_dtype="float17"), "unknown 'torch_dtype' 'float17'"),
        (changed("Mixtral-8x7B-v0.1", num_experts_per_tok=9), "'num_experts_per_tok' = 9 is more than"),
        (changed("gpt-oss-20b", layer_types=["full_attention"]), "'layer_types' must be a list of 24 texts"),
        (changed("gpt-oss-20b", layer_types=["linear_attention"] * 24), "unknown layer type 'linear_attention'"),
        (changed("Meta-Llama-3-8B", attention_bias="no"), "'attention_bias' must be true or false, got 'no'"),
        (changed("Qwen3-30B-A3B", mlp_only_layers=3), "'mlp_only_layers' must be a list, got 3"),
        ({"model_type": "gemma3", "text_config": {}}, "'gemma3' has several models; give its 'text_config'"),
    ],
)
def test_a_configuration_that_is_not_understood_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decoder_config(given)


def test_what_is_no_configuration_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "config.json"
    with pytest.raises(FileNotFoundError, match=r"nothing is downloaded: save the model's config\.json"):
        decoder_config(tmp_path / "nothing.json")
    with pytest.raises(FileNotFoundError, match="there is no file meta-llama/Llama-3-8B"):
        decoder_config("meta-llama/Llama-3-8B")
    write(broken, "{")
    with pytest.raises(ValueError, match=r"config\.json is no JSON"):
        decoder_config(broken)
    write(broken, '{"model_type": "llama", "model_type": "qwen2"}')
    with pytest.raises(ValueError, match="the key 'model_type' is twice"):
        decoder_config(broken)
    write(broken, "[1]")
    with pytest.raises(ValueError, match="must contain an object of keys and values"):
        decoder_config(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is no JSON"):
        decoder_config(broken)
    broken.write_bytes(b" " * 10_000_001)
    with pytest.raises(ValueError, match=r"more than 10 MB and is no config\.json"):
        decoder_config(broken)
    with pytest.raises(TypeError, match=r"a configuration must be a dict or the path of a config\.json, got 3"):
        decoder_config(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown decoder 'lama-3-8b'; did you mean 'llama-3-8b'"):
        decoder_config("lama-3-8b")


def test_layers_that_predict_further_tokens_are_left_out_under_both_names() -> None:
    for key in ("num_nextn_predict_layers", "num_mtp_layers"):
        config = decoder_config(changed("Kimi-K2", **{key: 1}))
        assert config.parameters == PUBLISHED["Kimi-K2"]
        assert config.left_out == (f"The layers that predict further tokens ('{key}') are not counted.",)


def test_every_architecture_has_a_configuration_in_the_tests() -> None:
    also = {"qwen3"}  # a variant of qwen3_moe
    assert {str(given["model_type"]) for given in CONFIGS.values()} | also == set(ARCHITECTURES)


def test_dense_qwen_3_has_norms_of_queries_and_keys_and_no_biases() -> None:
    given = changed("Qwen2.5-7B", model_type="qwen3", hidden_size=1024, num_hidden_layers=28, vocab_size=151936)
    given |= {"head_dim": 128, "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 3072}
    assert decoder_config(given | {"tie_word_embeddings": True}).parameters == 596_049_920  # Qwen3-0.6B


# -- graphs ------------------------------------------------------------------------------------------------------------


def weights_of(config: DecoderConfig, phase: Any) -> int:
    graph = decoder(config, batch=64, seq=512, phase=phase, touched="most")
    words = ("weight", "gamma", "beta", "bias")
    found = (t for word, t in graph.tensors.items() if graph.producer(t) is None and any(w in word for w in words))
    return sum(evaluate(tensor.size, {}) for tensor in found)


@pytest.mark.parametrize("phase", ["prefill", "decode"])
@pytest.mark.parametrize(
    "name", sorted(set(CONFIGS) - {"gpt-oss-20b", "gpt-oss-120b", "DeepSeek-V3", "Kimi-K2", "GLM-4.5", "GLM-4.5-Air"})
)
def test_the_graph_has_all_weights_but_the_table_of_the_embedding(name: str, phase: str) -> None:
    config = replace(config_of(name), layers=config_of(name).layers[:4])
    assert weights_of(config, phase) == config.parameters - (0 if config.tied else config.embedding)


def test_the_graph_leaves_out_biases_of_experts_and_says_so() -> None:
    graph = decoder(config_of("gpt-oss-20b"), batch=1, seq=8, layers=2)
    assert "biases of experts and of routers are left out" in graph.notes
    assert "attention sinks are left out" in graph.notes


def test_a_window_shows_in_the_graph_of_both_phases() -> None:
    g = decoder(CONFIGS["Mistral-7B-v0.1"], layers=1, batch=1, seq=8192)
    assert g.count("tensor") < decoder("llama-2-7b", layers=1, batch=1, seq=8192, kv_heads=8, ffn=14336).count("tensor")
    decoded = decoder(CONFIGS["Mistral-7B-v0.1"], layers=1, batch=1, seq=8192, phase="decode")
    assert decoded.tensors["layer0.attention.k_cache"].shape == (1, 4095, 1024)


def test_mla_caches_a_latent_and_a_rotated_key() -> None:
    g = decoder(CONFIGS["DeepSeek-V3"], layers=1, batch=2, seq=100, phase="decode", cache_dtype="fp8")
    latent, rotated = (g.tensors[f"layer0.attention.{word}_cache"] for word in ("latent", "k_rope"))
    assert (latent.shape, rotated.shape, latent.dtype) == ((2, 99, 512), (2, 99, 64), "fp8")
    done = g.flops("layer0.attention")
    assert done == 2 * 128 * 100 * (2 * (512 + 64) + 2 * 512 + 5)


def test_the_graph_of_a_configuration_has_symbolic_sizes_too() -> None:
    g = decoder(CONFIGS["DeepSeek-V2-Lite"], layers=2, phase="decode")
    plain = decoder(CONFIGS["DeepSeek-V2-Lite"], layers=2, phase="decode", batch=4, seq=300)
    for what in ("flops", "bytes", "compulsory"):
        assert g.count(what, {"batch": 4, "seq": 300}) == plain.count(what)


@pytest.mark.parametrize("tp", [2, 8, 16])
@pytest.mark.parametrize("name", ["Meta-Llama-3-8B", "Qwen3-30B-A3B", "DeepSeek-V2-Lite", "gpt-oss-20b"])
def test_the_graph_of_one_of_several_chips_has_the_flops_of_serving(name: str, tp: int) -> None:
    config = replace(config_of(name), layers=config_of(name).layers[:2])
    chip = rw.Chip("chip", {"bf16": 1e15}, {"HBM": 1e12})
    step = rw.serve(config, chip, batch=4, context=300, tp=tp, network="none").decode
    graph = decoder(config, batch=4, seq=300, phase="decode", tp=tp)
    assert graph.count("tensor") == pytest.approx((step.matrix_compute + step.attention_compute) * 1e15, rel=1e-9)
    assert any("all-reduces between them are left out" in note for note in graph.notes)


def test_the_number_of_chips_can_be_a_slider_that_skips_what_does_not_divide_the_heads() -> None:
    config = CONFIGS["Meta-Llama-3-8B"]
    g = decoder(config, layers=1, phase="decode", tp=rw.dim("tp", 1, 16))
    assert sorted(d.name for d in g.dims) == ["batch", "seq", "tp"]
    assert g.count("flops", {"batch": 1, "seq": 100, "tp": 8}) == decoder(
        config, layers=1, phase="decode", batch=1, seq=100, tp=8
    ).count("flops")
    with pytest.raises(ValueError, match="heads = 32 is no multiple of tp = 3"):
        g.count("flops", {"tp": 3})
    assert rw.RooflineModel(["h100-sxm"], graph=g).graph is g


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"tp": 3}, ValueError, "heads = 32 is no multiple of 3"),
        ({"phase": "train"}, ValueError, "the graph of a configuration has no training"),
        ({"heads": 3}, TypeError, "a configuration has its own sizes; change 'heads' in the configuration"),
        ({"vocabulary": 3}, TypeError, "a configuration has its own sizes; change 'vocabulary'"),
        ({"touched": "mot"}, ValueError, "unknown touched 'mot'"),
        ({"layers": 0}, ValueError, "layers must be a whole number from 1"),
    ],
)
def test_a_graph_that_a_configuration_cannot_have_is_refused(
    more: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        decoder(CONFIGS["Mistral-7B-v0.1"], batch=1, seq=8, **more)


def test_a_preset_has_no_graph_for_several_chips_and_says_how_to_get_it() -> None:
    with pytest.raises(TypeError, match=r"tp needs a configuration, as in decoder\(decoder_config"):
        decoder("llama-3-8b", tp=8)
    assert decoder(decoder_config("llama-3-8b"), tp=8, layers=1).dims
