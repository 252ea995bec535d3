"""Transformers: a single block, and whole decoders from named presets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias

from roofwidget.chips.catalogue import lookup_key
from roofwidget.kernels.columns import is_whole
from roofwidget.support.did_you_mean import choose_from, keywords, listed, unknown_keyword
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Count, dim
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.models.config import Attention, DecoderConfig, DecoderLayer, FeedForward
from roofwidget.workloads.models.configured import Run, configured
from roofwidget.workloads.models.huggingface import read_config
from roofwidget.workloads.models.tape import Tape
from roofwidget.workloads.ops.formulas import positive, whole
from roofwidget.workloads.tensors import Tensor

Phase: TypeAlias = Literal["prefill", "decode", "train"]
AnyDecoder: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | DecoderConfig
"""A decoder's name, a `config.json` (its path, or a dict), or a `DecoderConfig`."""


_WORDS: Final = {
    "norm": ("rmsnorm", "layernorm"),
    "activation": ("gelu", "relu", "silu"),
    "attention": ("fused", "flash", "unfused"),
    "touched": ("expected", "most"),
}
_METHODS: Final = {"fused": "attention", "flash": "flash_attention", "unfused": "unfused_attention"}
# More layers than any decoder has; each adds a dozen operations to the graph.
_MAX_LAYERS: Final = 10_000


@dataclass(frozen=True)
class Layer:
    """The sizes of a decoder layer, and the variant of each part of the layer.

    Parameters
    ----------
    hidden, heads, kv_heads, head_dim, ffn
        Width of the residual stream; query heads; key and value heads (None: one per query head); width of a head
        (None: hidden / heads); width of the feed-forward layer (None: 4 x hidden).
    experts, active
        Number of experts of a mixture, and how many experts process each token. Both are None for a plain feed-forward
        layer.
    gated
        True: three matrices with SwiGLU. False: two matrices with `activation`.
    norm, activation
        Names of operators.
    rope, bias, causal
        Whether positions are rotated, linear layers have a bias, attention is causal.
    attention
        ``"fused"`` (compulsory bytes), ``"flash"`` (keys and values read for each 128 rows) or ``"unfused"``.
    touched
        The number of experts whose weights are read: ``"expected"``, the mean if each token picks its experts at
        random, or ``"most"``, the most experts that the tokens can reach.
    """

    hidden: Count
    heads: Count
    kv_heads: Count | None = None
    ffn: Count | None = None
    head_dim: Count | None = None
    experts: int | None = None
    active: int | None = None
    gated: bool = True
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm"
    activation: Literal["gelu", "relu", "silu"] = "gelu"
    rope: bool = True
    bias: bool = False
    causal: bool = True
    attention: Literal["fused", "flash", "unfused"] = "fused"
    touched: Literal["expected", "most"] = "expected"

    def __post_init__(self) -> None:
        """Raise an error for unknown variants."""
        for word, known in _WORDS.items():
            value = getattr(self, word)
            if value not in known:
                raise ValueError(f"unknown {word} {value!r:.40} of a layer{choose_from(value, known)}")

    @property
    def groups(self) -> Count:
        """The number of heads of keys and values."""
        return self.heads if self.kv_heads is None else self.kv_heads

    def width(self, graph: Graph, op: str) -> Count:
        """Return the width of a head. The graph requires it to be a whole number."""
        return whole(graph, op, "hidden", self.hidden, self.heads) if self.head_dim is None else self.head_dim


@dataclass(frozen=True)
class _Decoder:
    layers: int
    vocabulary: int | None
    layer: Layer


def _preset(layers: int, vocabulary: int, **layer: Any) -> _Decoder:
    return _Decoder(layers, vocabulary, Layer(**layer))


DECODERS: Final = {
    "gpt-2": _preset(12, 50257, hidden=768, heads=12, gated=False, norm="layernorm", rope=False, bias=True),
    # The paper alternates dense attention with banded attention; here every layer is dense.
    "gpt-3": _preset(96, 50257, hidden=12288, heads=96, gated=False, norm="layernorm", rope=False, bias=True),
    "llama-2-7b": _preset(32, 32000, hidden=4096, heads=32, ffn=11008),
    "llama-2-13b": _preset(40, 32000, hidden=5120, heads=40, ffn=13824),
    "llama-2-70b": _preset(80, 32000, hidden=8192, heads=64, kv_heads=8, ffn=28672),
    "llama-3-8b": _preset(32, 128256, hidden=4096, heads=32, kv_heads=8, ffn=14336),
    "llama-3-70b": _preset(80, 128256, hidden=8192, heads=64, kv_heads=8, ffn=28672),
    "llama-3-405b": _preset(126, 128256, hidden=16384, heads=128, kv_heads=8, ffn=53248),
    "mixtral-8x7b": _preset(32, 32000, hidden=4096, heads=32, kv_heads=8, ffn=14336, experts=8, active=2),
    "mixtral-8x22b": _preset(56, 32768, hidden=6144, heads=48, kv_heads=8, ffn=16384, experts=8, active=2),
}
"""Decoders by name, from the papers and published configurations of these models."""

# Decoders with learned positions, which also compute the logits with their embedding: the number of positions.
_POSITIONS: Final = {"gpt-2": 1024, "gpt-3": 2048}

_LAYER: Final = tuple(field.name for field in fields(Layer))


@keywords("transformer_block")
def transformer_block(  # noqa: PLR0917 - positional sizes in their usual order
    batch: Count,
    seq: Count,
    hidden: Count,
    heads: Count,
    kv_heads: Count | None = None,
    ffn: Count | None = None,
    *,
    phase: Phase = "prefill",
    dtype: str = "bf16",
    weight_dtype: str | None = None,
    cache_dtype: str | None = None,
    head_dim: Count | None = None,
    experts: int | None = None,
    active: int | None = None,
    gated: bool = True,
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm",
    activation: Literal["gelu", "relu", "silu"] = "gelu",
    rope: bool = True,
    bias: bool = False,
    causal: bool = True,
    attention: Literal["fused", "flash", "unfused"] = "fused",
    touched: Literal["expected", "most"] = "expected",
    convention: str | Convention = "textbook",
    name: str = "block",
) -> Graph:
    """Return the graph of one block: norm, attention and residual, norm, feed-forward layer and residual.

    Parameters
    ----------
    batch, seq
        Number of sequences; tokens per sequence. With ``"decode"``, `seq` is the number of tokens that the new token
        attends to, including the new token. `batch` and `seq` are ints or dimensions, see `dim`.
    hidden, heads, kv_heads, ffn, head_dim, experts, active
        The sizes of `Layer`.
    gated, norm, activation, rope, bias, causal, attention, touched
        The variants of `Layer`.
    phase
        ``"prefill"``: all tokens forward; keys and values are outputs. ``"decode"``: one new token per sequence, with a
        cache. ``"train"``: forward and backward, with the gradient of the input too.
    dtype, weight_dtype, cache_dtype
        Dtypes of activations, of weights and of the cache; by default all have the dtype of the activations.
    convention, name
        As for `Graph`.

    Raises
    ------
    ValueError
        If sizes do not match (the message names the op), or for training of a mixture of experts.

    Examples
    --------
    >>> g = transformer_block(1, 2048, 4096, 32, gated=False, causal=False, convention="torch")
    >>> 32 * g.count("flops")
    28587302322176
    >>> seq = dim("seq", 1, 131072, default=8192)
    >>> g = transformer_block(1, seq, 4096, 32, 8, 14336, phase="decode")
    >>> g.flops("attention")
    16544·seq

    The phases of one workload. A widget offers a choice of them: ``roofline(graphs=phases)``.

    >>> words = ("prefill", "decode", "train")
    >>> phases = {word: transformer_block(1, seq, 4096, 32, 8, 14336, phase=word) for word in words}
    >>> {word: len(g.ops) for word, g in phases.items()}
    {'prefill': 15, 'decode': 15, 'train': 40}
    """
    sizes = hidden, heads, kv_heads, ffn, head_dim, experts, active
    layer = Layer(*sizes, gated, norm, activation, rope, bias, causal, attention, touched)
    graph = Graph(name, convention=convention)
    rows = 1 if _checked(phase) == "decode" else seq
    x = graph.input("x", (batch, rows, hidden), dtype)
    tape = Tape(graph, weight_dtype)
    y = _block(tape, x, "", _Run(layer, phase, seq, cache_dtype))
    graph.output(y)
    if phase == "train":
        tape.backward(y, graph.input("dy", y.shape, dtype))
        graph.output(tape.gradient(x))
    return graph


def decoder(
    preset: AnyDecoder | None = None,
    *,
    batch: Count | None = None,
    seq: Count | None = None,
    phase: Phase = "prefill",
    layers: int | None = None,
    vocabulary: int | None = None,
    tp: Count = 1,
    dtype: str = "bf16",
    weight_dtype: str | None = None,
    cache_dtype: str | None = None,
    convention: str | Convention = "textbook",
    **layer: Any,
) -> Graph:
    """Return the graph of a whole decoder: embedding, layers, a last norm and the logits.

    Parameters
    ----------
    preset
        A name in `DECODERS`, in any case and with or without spaces and hyphens; None if all sizes are given. Or the
        configuration of a model in Hugging Face's format, see `decoder_config`: the path of a `config.json`, a dict, or
        a `DecoderConfig`. Its graph has no training; ``touched`` is its only keyword of `Layer`, and with `layers` only
        its first layers are built.
    batch, seq, phase, dtype, weight_dtype, cache_dtype, convention
        As for `transformer_block`; by default `batch` and `seq` are symbolic, with defaults 1 and 2048. Training adds
        the loss and its gradient; the other phases return the logits of each token.
    layers, vocabulary
        The number of layers; the size of the vocabulary. Without a vocabulary there are neither embedding nor logits.
    tp
        The number of chips that share each layer of a configuration: an int, or a dimension such as ``rw.dim("tp", 1,
        8)``. The graph is that of one chip, without the all-reduces.
    **layer
        Keywords of `Layer`, which replace the preset's values. By default a mixture of experts reads the weights of the
        mean number of experts. With ``touched="most"`` it reads the weights of the most experts that the tokens can
        reach. `Graph.notes` says which of the two was used.

    Raises
    ------
    TypeError, ValueError
        If the preset or a keyword is unknown, or sizes do not match.

    Examples
    --------
    >>> g = decoder("llama-3-8b", batch=1, seq=8192, phase="decode")
    >>> len(g.ops), g.count("bytes")
    (483, 16095832580)
    >>> from roofwidget import RooflineModel
    >>> phases = {word: decoder("gpt-2", phase=word) for word in ("prefill", "decode")}
    >>> RooflineModel(["h100-sxm"], graphs=phases, phase="decode").graph is phases["decode"]
    True
    """
    if layers is not None and not (is_whole(layers) and 1 <= layers <= _MAX_LAYERS):
        raise ValueError(f"decoder: layers must be a whole number from 1 to {_MAX_LAYERS:,}, got {layers!r:.40}")
    if preset is not None and not (isinstance(preset, str) and not _is_path(preset)):
        if vocabulary is not None:
            layer = {"vocabulary": vocabulary, **layer}
        config = decoder_config(preset)
        kept = config if layers is None else replace(config, layers=config.layers[:layers])
        sequences, length = _lengths(batch, seq)
        share = Run(phase, length, dtype, weight_dtype, cache_dtype, layer.get("touched", "expected"), tp)
        return _of_config(kept, sequences, share, convention, layer)
    name = None if preset is None else _known(preset)
    if tp != 1:
        raise TypeError("decoder: tp needs a configuration, as in decoder(decoder_config('llama-3-8b'), tp=8)")
    found = _found(name, layers, layer)
    for word in layer:
        if word not in _LAYER:
            raise unknown_keyword("decoder", word, ("batch", "seq", "phase", "layers", "vocabulary", *_LAYER))
    one = replace(found.layer, **layer)
    many, words = layers or found.layers, vocabulary or found.vocabulary
    graph = Graph(name or "decoder", convention=convention)
    sequences, length = _lengths(batch, seq)
    run = _Run(one, _checked(phase), length, cache_dtype)
    tape = Tape(graph, weight_dtype)
    shape = (sequences, 1 if phase == "decode" else length)
    x = start = _start(graph, shape, one.hidden, words, dtype)
    for index in range(many):
        x = _block(tape, x, f"layer{index}.", run)
    _finish(tape, start, x, words, run)
    return graph


def _lengths(batch: Count | None, seq: Count | None) -> tuple[Count, Count]:
    sequences = dim("batch", 1, 1024, default=1) if batch is None else batch
    return sequences, dim("seq", 2, 131072, default=2048) if seq is None else seq


def _of_config(
    config: DecoderConfig, batch: Count, run: Run, convention: str | Convention, layer: Mapping[str, Any]
) -> Graph:
    own = [word for word in layer if word != "touched"]
    if own:
        raise TypeError(f"decoder: a configuration has its own sizes; change {listed(own)} in the configuration")
    if _checked(run.phase) == "train":
        raise ValueError("decoder: the graph of a configuration has no training; use phase='prefill' or 'decode'")
    if run.touched not in _WORDS["touched"]:
        raise ValueError(f"unknown touched {run.touched!r:.40}{choose_from(run.touched, _WORDS['touched'])}")
    return configured(config, batch, run, convention)


def decoder_config(model: AnyDecoder, *, name: str | None = None) -> DecoderConfig:
    """Return the shape of a decoder: its parameters and its cache, counted exactly.

    Parameters
    ----------
    model
        A name in `DECODERS`; the path of a `config.json` of Hugging Face's format, or of the folder that contains it;
        the same as a dict, or as a ``PretrainedConfig`` of transformers; or a `DecoderConfig`. Nothing is downloaded.
    name
        A name for texts.

    Raises
    ------
    TypeError, ValueError
        If the name or the architecture is unknown, or a key is missing or has a bad value.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> decoder_config("mixtral-8x7b")
    DecoderConfig: mixtral-8x7b, 46.7B parameters, 12.88B active
    32 layers  32 heads, 8 of keys (GQA); 2 of 8 experts of 14,336
    width      4,096, vocabulary 32,000
    weights    93.4 GB at bf16
    cache      131 kB per token at bf16
    """
    if isinstance(model, DecoderConfig):
        return model if name is None else replace(model, name=name)
    if isinstance(model, str) and not _is_path(model):
        return _config_of_preset(_known(model), name)
    return read_config(model, name)


def _is_path(text: str) -> bool:
    return text.endswith(".json") or os.sep in text or "/" in text or os.path.lexists(text)


def _config_of_preset(preset: str, name: str | None) -> DecoderConfig:
    found = DECODERS[preset]
    layer = found.layer
    hidden, heads, groups = int(layer.hidden), int(layer.heads), int(layer.groups)  # type: ignore[arg-type]
    width = hidden // heads
    attention = Attention(heads, groups, width, width, qkv_bias=layer.bias, out_bias=layer.bias)
    inner = 4 * hidden if layer.ffn is None else int(layer.ffn)  # type: ignore[arg-type]
    ffn = FeedForward(inner, layer.experts, layer.active, gated=layer.gated, bias=layer.bias)
    one = DecoderLayer(attention, ffn, norm_bias=layer.norm == "layernorm")
    positions = _POSITIONS.get(preset, 0)
    vocabulary = found.vocabulary or 0
    return DecoderConfig(
        name or preset, hidden, vocabulary, (one,) * found.layers, tied=bool(positions), positions=positions
    )


@dataclass(frozen=True)
class _Run:
    layer: Layer
    phase: Phase
    seq: Count
    cache_dtype: str | None


def _checked(phase: Phase) -> Phase:
    phases = ("prefill", "decode", "train")
    if phase not in phases:
        raise ValueError(f"unknown phase {phase!r:.40}{choose_from(phase, phases)}")
    return phase


def _found(preset: str | None, layers: int | None, layer: dict[str, Any]) -> _Decoder:
    if preset is None:
        missing = [word for word in ("hidden", "heads") if word not in layer] + ([] if layers else ["layers"])
        if missing:
            raise TypeError(f"decoder needs the name of a preset ({listed(DECODERS)}), or {listed(missing)}")
        return _Decoder(layers or 1, None, Layer(layer["hidden"], layer["heads"]))
    return DECODERS[preset]


def _known(preset: str) -> str:
    """Return the key in `DECODERS` that a name means."""
    by_key = {lookup_key(known): known for known in DECODERS}
    found = by_key.get(lookup_key(str(preset)))
    if found is None:
        raise ValueError(f"unknown decoder {preset!r:.40}{choose_from(preset, DECODERS)}")
    return found


def _start(graph: Graph, shape: tuple[Count, Count], hidden: Count, words: int | None, dtype: str) -> Tensor:
    if words is None:
        return graph.input("x", (*shape, hidden), dtype)
    embedded: Tensor = graph.embedding(graph.input("tokens", shape, "int32"), hidden, dtype=dtype, name="embedding")
    return embedded


def _finish(tape: Tape, start: Tensor, x: Tensor, words: int | None, run: _Run) -> None:
    graph = tape.graph
    if words is None:
        graph.output(x)
        if run.phase == "train":
            tape.backward(x, graph.input("dy", x.shape, x.dtype))
            graph.output(tape.gradient(start))
        return
    y = tape.linear(tape.norm(x, run.layer.norm, "norm"), words, "logits")
    if run.phase != "train":
        graph.output(y)
        return
    loss = graph.cross_entropy(y, graph.input("targets", y.shape[:-1], "int32"), name="loss")
    graph.output(loss)
    tape.backward(y, graph.softmax(y, name="dlogits"))
    graph.output(graph.copy(tape.gradient(start), name="embedding.drows"))


def _block(tape: Tape, x: Tensor, at: str, run: _Run) -> Tensor:
    layer, d = run.layer, run.layer.width(tape.graph, f"{at}attention")
    h = tape.norm(x, layer.norm, f"{at}attention_norm")
    sizes = {"q": layer.heads * d, "k": layer.groups * d, "v": layer.groups * d}
    parts = {word: tape.linear(h, size, f"{at}{word}", bias=layer.bias) for word, size in sizes.items()}
    if layer.rope:
        parts |= {word: tape.rope(parts[word], d, f"{at}rope_{word}") for word in "qk"}
    mixed = _attended(tape, parts, f"{at}attention", run)
    if run.phase == "prefill":
        tape.graph.output(parts["k"], parts["v"])
    x = tape.add(x, tape.linear(mixed, layer.hidden, f"{at}attention_out", bias=layer.bias), f"{at}attention_add")
    return tape.add(x, _feed_forward(tape, tape.norm(x, layer.norm, f"{at}ffn_norm"), at, run), f"{at}ffn_add")


def _attended(tape: Tape, parts: dict[str, Tensor], name: str, run: _Run) -> Tensor:
    layer = run.layer
    q, k, v = (parts[word] for word in "qkv")
    if run.phase == "train":
        return tape.attention(q, k, v, name=name, heads=layer.heads, causal=layer.causal)
    if run.phase == "decode":
        how: dict[str, Any] = {"context": run.seq, "kv_heads": layer.groups, "cache_dtype": run.cache_dtype}
        method = "decode_attention"
    else:
        how, method = {"causal": layer.causal}, _METHODS[layer.attention]
    attended: Tensor = getattr(tape.graph, method)(q, k, v, heads=layer.heads, name=name, **how)
    return attended


def _feed_forward(tape: Tape, h: Tensor, at: str, run: _Run) -> Tensor:
    layer = run.layer
    width = 4 * layer.hidden if layer.ffn is None else positive(f"{at}ffn", "ffn", layer.ffn)
    if layer.experts is not None:
        if run.phase == "train":
            raise ValueError(
                f"op '{at}moe': a mixture of experts has no backward pass here; use phase='prefill' or 'decode'"
            )
        how = {"experts": layer.experts, "active": layer.active, "touched": layer.touched}
        mixed: Tensor = tape.graph.moe(h, ffn=width, name=f"{at}moe", weight_dtype=tape.weight_dtype, **how)
        return mixed
    if layer.gated:
        gate, up = (tape.linear(h, width, f"{at}ffn_{word}", bias=layer.bias) for word in ("gate", "up"))
        inner = tape.swiglu(gate, up, f"{at}swiglu")
    else:
        up = tape.linear(h, width, f"{at}ffn_up", bias=layer.bias)
        inner = tape.activation(up, layer.activation, f"{at}{layer.activation}")
    return tape.linear(inner, layer.hidden, f"{at}ffn_down", bias=layer.bias)
