"""Reads a `config.json` of Hugging Face's format: a file, its folder, or a dict. Nothing is downloaded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from roofwidget.kernels.columns import is_whole
from roofwidget.support import strict_json
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.support.paths import problem_of, reason_of, shown
from roofwidget.support.precisions import precision_key
from roofwidget.support.text_tables import one_line
from roofwidget.workloads.models.config import Attention, DecoderConfig, DecoderLayer, FeedForward
from roofwidget.workloads.models.quantisation import keeps_attention, published_format
from roofwidget.workloads.tensors import DTYPES

_FILE_NAME: Final = "config.json"
_MODELOPT_FILE: Final = "hf_quant_config.json"
# Configurations are a few kB; a file of another kind, such as a checkpoint, should not be read into memory.
_MAX_FILE_BYTES: Final = 10_000_000
_MAX_LAYERS: Final = 10_000
_LAYER_TYPES: Final = ("full_attention", "sliding_attention")
_MAX_NAMED_KEYS: Final = 8
_MAX_KEY_LETTERS: Final = 40
# Keys that change neither weights nor FLOPs of any architecture: where a file comes from, tokens, dropout, positions,
# scales, activation functions, losses and weights of routing, defaults of text generation.
_HARMLESS: Final = re.compile(
    r"_.*|unsloth_.*|architectures|auto_map|.*_version|tokenizer_class|name_or_path|model_max_length"
    r"|use_cache|use_flash_attn|attn_implementation|cache_implementation|return_dict.*|output_.*|torchscript|use_bfloat16"
    r"|.*_token_ids?|.*_token_index|id2label|label2id|problem_type|task_specific_params|finetuning_task|prefix"
    r"|.*dropout|.*_dropout_.*|.*_pdrop|hidden_act|hidden_activation|initializer_range|.*_eps|.*_softcapping"
    r"|(original_)?max_position_embeddings|max_sequence_length|rope_.*|.*_rotary_factor|pretraining_tp"
    r"|norm_topk_prob|routed_scaling_factor|router_.*|seq_aux|aux_loss_alpha"
    r"|is_decoder|max_length|min_length|max_new_tokens|do_sample|early_stopping|num_beams|num_beam_groups|temperature"
    r"|top_[kp]|typical_p|.*_penalty|num_return_sequences|bad_words_ids|.*suppress_tokens|remove_invalid_values"
    r"|is_composition|is_llama_config|transformers\.js_config"
)


def read_config(given: Mapping[str, Any] | str | os.PathLike[str], name: str | None = None) -> DecoderConfig:
    """Return the decoder that a Hugging Face configuration describes.

    Parameters
    ----------
    given
        A dict, an object with a method `to_dict` that returns it, or the path of a `config.json` or of its folder.
    name
        A name for texts; by default the name of the folder, or the `model_type`.

    Raises
    ------
    TypeError, ValueError
        If the architecture is unknown, or a key is missing or has a bad value. The message names the key.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> mistral = {"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    ...            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096}
    >>> read_config(mistral)
    DecoderConfig: mistral, 7.242B parameters
    32 layers  32 heads, 8 of keys (GQA), window 4,096; dense 14,336
    width      4,096, vocabulary 32,000
    weights    14.5 GB at bf16
    cache      131 kB per token at bf16
    """
    to_dict = getattr(given, "to_dict", None)
    values = to_dict() if callable(to_dict) else given
    if isinstance(values, Mapping):
        return _decoder(_Keys(values, "config"), name)
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"a configuration must be a dict or the path of a config.json, got {shown_value(given)}")
    path = _file(given)
    return _decoder(_Keys(_with_quantisation(path), shown(path)), name or path.resolve().parent.name)


def _with_quantisation(path: Path) -> dict[str, Any]:
    """Return the values of a `config.json`, with those of the file that NVIDIA's ModelOpt writes beside it."""
    values, beside = _values(path), path.with_name(_MODELOPT_FILE)
    if not beside.exists():
        return values
    return {"quantization_config": {"quant_method": "modelopt", **_mapping(_values(beside), "quantization")}, **values}


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


def _values(path: Path) -> dict[str, Any]:
    """Return the object in a file of JSON."""
    try:
        size = path.stat().st_size
        text = path.read_text(encoding="utf-8") if size <= _MAX_FILE_BYTES else ""
    except OSError as error:
        raise type(error)(f"{shown(path)}: {reason_of(error)}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown(path)} is no JSON: {error}") from None
    if size > _MAX_FILE_BYTES:
        raise ValueError(f"{shown(path)} has more than 10 MB and is no config.json")
    try:
        values = strict_json.parse(text).value
    except strict_json.JsonError as error:
        raise ValueError(f"{shown(path)} is no JSON: {error}") from None
    if isinstance(values, dict):
        return values
    raise ValueError(f"{shown(path)} must contain an object of keys and values, got {shown_value(values)}")


def _file(given: str | os.PathLike[str]) -> Path:
    problem = problem_of(given)
    if problem is not None:
        raise ValueError(f"{shown(given)}: {problem}")
    path = Path(given)
    if path.is_dir():
        path /= _FILE_NAME
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {shown(path)}; nothing is downloaded: save the model's config.json and give its path"
        )
    return path


class _Keys:
    """The values of a configuration. Each error names the key and where the configuration comes from."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = values
        self.where = where
        self._asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value. The architecture has the keys that its reader asks for."""
        self._asked.add(key)
        return self.values.get(key, default)

    def check_all_known(self, also: str) -> None:
        """Raise `ValueError` if a key belongs to another architecture.

        These are keys that the reader did not ask for, that are not in the text `also`, and that may change weights or
        FLOPs. An empty value, zero and false switch a part off.
        """
        known = {*self._asked, *also.split()}
        strange = [
            one
            for one, value in self.values.items()
            if value and one not in known and not _HARMLESS.fullmatch(str(one))
        ]
        if strange:
            named = listed(one_line(str(one), _MAX_KEY_LETTERS) for one in strange[:_MAX_NAMED_KEYS])
            more = f" and {len(strange) - _MAX_NAMED_KEYS} more" if len(strange) > _MAX_NAMED_KEYS else ""
            raise ValueError(
                f"{self.where}: '{self.get('model_type')}' has no {named}{more}. A key of "
                "another architecture can change weights and FLOPs, so they would be counted wrongly. Is 'model_type' "
                "that of the model? A key that changes neither can be left out"
            )

    def need(self, key: str, *, low: int = 1) -> int:
        """Return a whole number, which must be there."""
        value = self.get(key)
        if key not in self.values:
            close = nearest(key, [str(one) for one in self.values], most=1)
            hint = f"; there is '{close[0]}'" if close else ""
            raise ValueError(f"{self.where} of type '{self.values.get('model_type')}' has no '{key}'{hint}")
        if not is_whole(value) or value < low:
            raise ValueError(f"{self.where}: '{key}' must be a whole number from {low}, got {shown_value(value)}")
        return int(value)

    def maybe(self, key: str, default: int | None = None, *, low: int = 1) -> int | None:
        """Return a whole number, or the default if the key is missing or null."""
        return default if self.get(key) is None else self.need(key, low=low)

    def stated(self, key: str) -> int | None:
        """Return a whole number or None for null. The key must be there, because its absence has no clear meaning."""
        return None if key in self.values and self.get(key) is None else self.need(key)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a bool, or the default if the key is missing or null."""
        value = self.get(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        raise ValueError(f"{self.where}: '{key}' must be true or false, got {shown_value(value)}")

    def must_be_true(self, key: str) -> None:
        """Raise `ValueError` if a key says that a part is missing that the architecture always has."""
        if not self.flag(key, default=True):
            raise ValueError(
                f"{self.where}: '{self.get('model_type')}' always has what '{key}' switches off. "
                "Is 'model_type' that of the model?"
            )

    def layer_types(self, layers: int, default: Callable[[int], bool]) -> list[bool]:
        """Return whether each layer has a sliding window: by `layer_types`, else by the rule of the architecture."""
        given = self.get("layer_types")
        if given is None:
            return [default(index) for index in range(layers)]
        if not isinstance(given, list) or len(given) != layers:
            raise ValueError(f"{self.where}: 'layer_types' must be a list of {layers} texts, got {shown_value(given)}")
        for one in given:
            if one not in _LAYER_TYPES:
                raise ValueError(
                    f"{self.where}: unknown layer type {shown_value(one)}; there are {listed(_LAYER_TYPES)}"
                )
        return [one == "sliding_attention" for one in given]


def _decoder(keys: _Keys, name: str | None) -> DecoderConfig:
    kind = keys.get("model_type")
    if not isinstance(kind, str):
        what = "names the architecture; there are " + listed(_READERS)
        raise ValueError(f"{keys.where} has no text under 'model_type', which {what}")  # noqa: TRY004 - no argument
    if kind not in _READERS:
        if isinstance(keys.get("text_config"), Mapping):
            raise ValueError(f"'{kind}' has several models; give its 'text_config', a dict of the language model")
        # A similar name would be a bad hint: the architecture with this name has other weights.
        raise ValueError(f"unknown architecture '{kind:.40}' of {keys.where}; there are {listed(_READERS)}")
    reader = _READERS[kind]
    keys.values = {**reader.defaults, **keys.values}
    count = keys.need("num_hidden_layers")
    if count > _MAX_LAYERS:
        raise ValueError(f"{keys.where}: 'num_hidden_layers' must be at most {_MAX_LAYERS:,}, got {count:,}")
    layers = reader.layers(keys, count)
    left_out = [
        f"The layers that predict further tokens ('{key}') are not counted."
        for key in ("num_nextn_predict_layers", "num_mtp_layers")
        if keys.maybe(key, 0, low=0)
    ]
    quantised = keys.get("quantization_config", keys.get("quantization"))
    form = published_format(quantised) if isinstance(quantised, Mapping) else None
    if isinstance(quantised, Mapping) and form is None:
        method = shown_value(quantised.get("quant_method"))
        left_out.append(f"The published weights are quantised ({method}); they count at the dtype that is asked for.")
    config = DecoderConfig(
        name=name or kind,
        hidden=keys.need("hidden_size"),
        vocabulary=keys.need("vocab_size"),
        layers=tuple(layers),
        tied=keys.flag("tie_word_embeddings", default=kind.startswith("gemma")),
        dtype=_dtype(keys),
        left_out=tuple(left_out),
        quantised=form,
        # The experts of gpt-oss alone were trained in fewer bits.
        quantised_attention=not (kind == "gpt_oss" or (form and keeps_attention(quantised, count))),
    )
    keys.check_all_known(reader.also)
    return config


def _dtype(keys: _Keys) -> str:
    word = keys.get("dtype", keys.get("torch_dtype"))
    if word is None:
        return "bf16"
    key = precision_key(str(word))
    if key not in DTYPES:
        raise ValueError(f"{keys.where}: unknown 'torch_dtype' {shown_value(word)}; there are {listed(DTYPES)}")
    return key


def _attention(
    keys: _Keys, *, head_dim: int | None = None, groups: int | None = None, window: int | None = None, **more: bool
) -> Attention:
    heads = keys.need("num_attention_heads")
    shared = keys.need("num_key_value_heads") if groups is None else groups
    if heads % shared:
        raise ValueError(f"{keys.where}: 'num_attention_heads' = {heads} is no multiple of {shared} heads of keys")
    width = head_dim
    if width is None:
        hidden = keys.need("hidden_size")
        if hidden % heads:
            raise ValueError(f"{keys.where}: 'hidden_size' = {hidden} is no multiple of {heads} heads; give 'head_dim'")
        width = hidden // heads
    return Attention(heads, shared, width, width, window, **more)


def _biased(keys: _Keys, *, default: bool = False, **more: bool) -> Attention:
    """Return attention whose projections all have a bias, or none."""
    bias = keys.flag("attention_bias", default=default)
    return _attention(keys, head_dim=keys.need("head_dim"), qkv_bias=bias, out_bias=bias, **more)


def _llama(keys: _Keys, layers: int) -> list[DecoderLayer]:
    bias = keys.flag("attention_bias", default=False)
    groups = keys.maybe("num_key_value_heads", keys.need("num_attention_heads"))
    attention = _attention(keys, head_dim=keys.maybe("head_dim"), groups=groups, qkv_bias=bias, out_bias=bias)
    return [DecoderLayer(attention, _dense(keys, bias=keys.flag("mlp_bias", default=False)))] * layers


def _mistral(keys: _Keys, layers: int) -> list[DecoderLayer]:
    attention = _attention(keys, head_dim=keys.maybe("head_dim"), window=keys.stated("sliding_window"))
    return [DecoderLayer(attention, _dense(keys))] * layers


def _mixtral(keys: _Keys, layers: int) -> list[DecoderLayer]:
    attention = _attention(keys, head_dim=keys.maybe("head_dim"), window=keys.maybe("sliding_window"))
    ffn = _mixture(keys, keys.need("intermediate_size"), "num_local_experts")
    return [DecoderLayer(attention, ffn)] * layers


def _qwen2(keys: _Keys, layers: int) -> list[DecoderLayer]:
    keys.must_be_true("attention_bias")
    attention = _attention(keys, head_dim=keys.maybe("head_dim"), qkv_bias=True)
    return _with_windows(keys, layers, attention, _dense(keys))


def _qwen3(keys: _Keys, layers: int) -> list[DecoderLayer]:
    return _with_windows(keys, layers, _qwen3_attention(keys), _dense(keys))


def _qwen3_moe(keys: _Keys, layers: int) -> list[DecoderLayer]:
    step = keys.maybe("decoder_sparse_step", 1) or 1
    plain = keys.get("mlp_only_layers") or []
    if not isinstance(plain, list):
        what = f"must be a list, got {shown_value(plain)}"
        raise ValueError(f"{keys.where}: 'mlp_only_layers' {what}")  # noqa: TRY004 - the value of a key, no argument
    attention = _qwen3_attention(keys)
    if keys.flag("use_sliding_window", default=False):
        attention = replace(attention, window=keys.need("sliding_window"))
    mixture = _mixture(keys, keys.need("moe_intermediate_size"), "num_experts")
    return [
        DecoderLayer(attention, mixture if index not in plain and (index + 1) % step == 0 else _dense(keys))
        for index in range(layers)
    ]


def _qwen3_attention(keys: _Keys) -> Attention:
    keys.must_be_true("use_qk_norm")
    return _biased(keys, qk_norm=True)


def _with_windows(keys: _Keys, layers: int, attention: Attention, ffn: FeedForward) -> list[DecoderLayer]:
    """Return layers of Qwen: with `use_sliding_window`, the layers from `max_window_layers` on have a window."""
    if not keys.flag("use_sliding_window", default=False):
        return [DecoderLayer(attention, ffn)] * layers
    first = keys.need("max_window_layers", low=0)
    return _windowed(keys, attention, ffn, keys.layer_types(layers, lambda index: index >= first))


def _gemma2(keys: _Keys, layers: int) -> list[DecoderLayer]:
    slide = keys.layer_types(layers, lambda index: index % 2 == 0)
    return _windowed(keys, _biased(keys), _dense(keys), slide, norms=4)


def _gemma3(keys: _Keys, layers: int) -> list[DecoderLayer]:
    every = keys.need("sliding_window_pattern") if keys.get("layer_types") is None else 1
    slide = keys.layer_types(layers, lambda index: (index + 1) % every != 0)
    return _windowed(keys, _biased(keys, qk_norm=True), _dense(keys), slide, norms=4)


def _deepseek(keys: _Keys, layers: int) -> list[DecoderLayer]:
    rope, value = keys.need("qk_rope_head_dim"), keys.need("v_head_dim")
    heads = keys.need("num_attention_heads")
    attention = Attention(
        heads,
        heads,
        keys.need("qk_nope_head_dim") + rope,
        value,
        latent=keys.need("kv_lora_rank"),
        rope_dim=rope,
        query_rank=keys.stated("q_lora_rank"),
        qkv_bias=keys.flag("attention_bias", default=False),
        out_bias=keys.flag("attention_bias", default=False),
    )
    return _with_shared_experts(keys, layers, attention)


def _glm4_moe(keys: _Keys, layers: int) -> list[DecoderLayer]:
    bias, norm = keys.flag("attention_bias", default=False), keys.flag("use_qk_norm", default=False)
    attention = _attention(keys, head_dim=keys.need("head_dim"), qkv_bias=bias, qk_norm=norm)
    return _with_shared_experts(keys, layers, attention)


def _with_shared_experts(keys: _Keys, layers: int, attention: Attention) -> list[DecoderLayer]:
    """Return layers of DeepSeek: the first ones are dense, the others have routed and shared experts."""
    dense = _dense(keys)
    if keys.maybe("n_routed_experts") is None:
        return [DecoderLayer(attention, dense)] * layers
    width = keys.need("moe_intermediate_size")
    shared = width * (keys.maybe("n_shared_experts", 0, low=0) or 0)
    correction = keys.get("topk_method", "noaux_tc" if keys.get("model_type") != "deepseek_v2" else "")
    mixture = _mixture(keys, width, "n_routed_experts", shared=shared, correction=correction == "noaux_tc")
    first, step = keys.need("first_k_dense_replace", low=0), keys.maybe("moe_layer_freq", 1) or 1
    return [
        DecoderLayer(attention, mixture if index >= first and index % step == 0 else dense) for index in range(layers)
    ]


def _gpt_oss(keys: _Keys, layers: int) -> list[DecoderLayer]:
    attention = _biased(keys, default=True, sinks=True)
    ffn = _mixture(keys, keys.need("intermediate_size"), "num_local_experts", bias=True)
    return _windowed(keys, attention, ffn, keys.layer_types(layers, lambda index: index % 2 == 0))


def _mixture(keys: _Keys, width: int, experts: str, **more: Any) -> FeedForward:
    many, active = keys.need(experts), keys.need("num_experts_per_tok")
    if active > many:
        raise ValueError(f"{keys.where}: 'num_experts_per_tok' = {active} is more than '{experts}' = {many}")
    return FeedForward(width, many, active, **more)


def _dense(keys: _Keys, **more: bool) -> FeedForward:
    return FeedForward(keys.need("intermediate_size"), **more)


def _windowed(
    keys: _Keys, attention: Attention, ffn: FeedForward, slide: list[bool], *, norms: int = 2
) -> list[DecoderLayer]:
    """Return layers of which those in `slide` have a sliding window."""
    local = replace(attention, window=keys.need("sliding_window"))
    return [DecoderLayer(local if one else attention, ffn, norms) for one in slide]


class _Reader(NamedTuple):
    """How an architecture is read.

    Parameters
    ----------
    layers
        Returns the layers of a configuration.
    also
        Keys that the architecture has and that `layers` does not always ask for: they repeat another key, or mean
        something only with another key.
    defaults
        Values of keys that published configurations leave out: the defaults of the architecture's class in
        transformers.
    """

    layers: Callable[[_Keys, int], list[DecoderLayer]]
    also: str = ""
    defaults: Mapping[str, int] = {}


_WINDOWS: Final = "sliding_window max_window_layers layer_types"
_ROUTING: Final = (
    "moe_intermediate_size n_shared_experts num_experts_per_tok first_k_dense_replace moe_layer_freq "
    "topk_method n_group topk_group scoring_func ep_size"
)
_MLA: Final = f"num_key_value_heads head_dim qk_head_dim {_ROUTING}"
# The configurations of Gemma 3 with 4, 12 and 27 billion parameters leave out most of these.
_GEMMA3_DEFAULTS: Final = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262_208,
    "sliding_window_pattern": 6,
}
_READERS: Final = {
    "llama": _Reader(_llama),
    "mistral": _Reader(_mistral),
    "mixtral": _Reader(_mixtral),
    "phi3": _Reader(_mistral, "full_attn_mod interpolate_factor"),
    "qwen2": _Reader(_qwen2, _WINDOWS),
    "qwen3": _Reader(_qwen3, _WINDOWS),
    "qwen3_moe": _Reader(_qwen3_moe, f"intermediate_size {_WINDOWS}"),
    "gemma2": _Reader(_gemma2, "query_pre_attn_scalar sliding_window_size"),
    "gemma3_text": _Reader(_gemma3, "sliding_window_pattern query_pre_attn_scalar", _GEMMA3_DEFAULTS),
    "deepseek_v2": _Reader(_deepseek, _MLA),
    "deepseek_v3": _Reader(_deepseek, _MLA),
    "kimi_k2": _Reader(_deepseek, _MLA),
    "glm4_moe": _Reader(_glm4_moe, _ROUTING),
    "gpt_oss": _Reader(_gpt_oss, "experts_per_token initial_context_length swiglu_alpha swiglu_limit"),
}
ARCHITECTURES: Final = tuple(_READERS)
"""The values of `model_type` that `read_config` knows."""
