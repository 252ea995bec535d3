"""The shape of a decoder: its layers, its weights, and its cache, counted exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Literal

from roofwidget.kernels.columns import is_whole
from roofwidget.support.arguments import shown_value
from roofwidget.support.text_tables import aligned, one_line
from roofwidget.units import format_quantity
from roofwidget.workloads.models.quantisation import UNQUANTISED_BITS, WeightFormat, weight_format
from roofwidget.workloads.ops.mixture import expected_experts
from roofwidget.workloads.tensors import DTYPES, checked_dtype

GATED_MATRICES = 3
"""A gated feed-forward layer has the matrices gate, up and down; a plain one has up and down."""
FEED_FORWARD_MATRICES: Final = ("ffn", "experts", "shared experts")
"""The names of the weights with the matrices of a feed-forward layer."""


@dataclass(frozen=True)
class Weight:
    """A weight of a layer.

    Parameters
    ----------
    name
        The part of the layer, such as ``q`` or ``experts``.
    elements
        The number of elements, of all experts together.
    matrix
        Whether tokens are multiplied by it, with 2 FLOPs per element. Norms and biases are not.
    sharing
        How tensor parallelism divides it. ``"split"``: evenly. ``"groups"``: by heads of keys and values, and each chip
        holds at least one of these heads. ``"whole"``: each chip holds all of it.
    groups
        The number of heads of keys and values, for ``"groups"``.
    experts, active
        The number of experts that it contains, and how many of them process a token; 0 if it is no expert's.
    """

    name: str
    elements: int
    matrix: bool = True
    sharing: Literal["split", "groups", "whole"] = "split"
    groups: int = 0
    experts: int = 0
    active: int = 0

    def active_elements(self) -> int:
        """Return the number of elements that process a token."""
        return self.elements // self.experts * self.active if self.experts else self.elements

    def read_elements(self, tokens: int) -> float:
        """Return the number of elements that `tokens` tokens need on average, if each picks its experts at random.

        At least they need `active_elements`, if all pick the same experts.
        """
        if not self.experts:
            return self.elements
        return self.elements / self.experts * expected_experts(tokens, self.experts, self.active)


@dataclass(frozen=True)
class Attention:
    """The attention of a layer: multi-head, grouped-query or multi-query, or multi-head latent attention (MLA).

    Parameters
    ----------
    heads, groups
        Heads of queries; heads of keys and values.
    key_dim, value_dim
        The width of a head of queries and keys, and of values.
    window
        How many tokens a query sees, with its own; None for all.
    latent, rope_dim
        MLA: the width of the compressed keys and values, and of the shared rotated key. The cache contains these two.
        Without MLA `latent` is None.
    query_rank
        MLA: the width of the compressed queries; None if queries are not compressed.
    qkv_bias, out_bias, qk_norm, sinks
        Whether the projections have biases, queries and keys have a norm, and each head has an attention sink.
    """

    heads: int
    groups: int
    key_dim: int
    value_dim: int
    window: int | None = None
    latent: int | None = None
    rope_dim: int = 0
    query_rank: int | None = None
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: bool = False
    sinks: bool = False

    @property
    def cache_elements(self) -> int:
        """The number of elements that the cache stores for a token."""
        if self.latent is not None:
            return self.latent + self.rope_dim
        return self.groups * (self.key_dim + self.value_dim)

    def cached_tokens(self, context: int) -> int:
        """Return how many of `context` tokens the cache must contain."""
        return context if self.window is None else min(context, self.window)

    def pairs(self, tokens: int) -> int:
        """Return how many pairs of a query and a key a causal prefill of `tokens` tokens has."""
        full = tokens if self.window is None else min(tokens, self.window)
        return full * (full + 1) // 2 + (tokens - full) * full

    def pair_flops(self, *, cached: bool) -> int:
        """Return the FLOPs for a pair of a query and a key, of all heads.

        With `cached`, MLA multiplies by the compressed keys and values of the cache.
        """
        if cached and self.latent is not None:
            return 2 * self.heads * (2 * self.latent + self.rope_dim)
        return 2 * self.heads * (self.key_dim + self.value_dim)

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Yield the weights."""
        queries, out = self.heads * self.key_dim, self.heads * self.value_dim
        if self.latent is None:
            yield Weight("q", hidden * queries)
            yield Weight("k", hidden * self.groups * self.key_dim, sharing="groups", groups=self.groups)
            yield Weight("v", hidden * self.groups * self.value_dim, sharing="groups", groups=self.groups)
            if self.qkv_bias:
                biases = queries + self.groups * (self.key_dim + self.value_dim)
                yield Weight("qkv biases", biases, matrix=False, sharing="whole")
            if self.qk_norm:
                yield Weight("q and k norms", 2 * self.key_dim, matrix=False, sharing="whole")
        else:
            if self.query_rank is None:
                yield Weight("q", hidden * queries)
            else:
                yield Weight("q down", hidden * self.query_rank, sharing="whole")
                yield Weight("q norm", self.query_rank, matrix=False, sharing="whole")
                yield Weight("q up", self.query_rank * queries)
            yield Weight("kv down", hidden * (self.latent + self.rope_dim), sharing="whole")
            yield Weight("kv norm", self.latent, matrix=False, sharing="whole")
            yield Weight("kv up", self.latent * self.heads * (self.key_dim - self.rope_dim + self.value_dim))
            if self.qkv_bias:
                biases = (self.query_rank or 0) + self.latent + self.rope_dim
                yield Weight("qkv biases", biases, matrix=False, sharing="whole")
        yield Weight("attention out", out * hidden)
        if self.out_bias:
            yield Weight("attention out bias", hidden, matrix=False, sharing="whole")
        if self.sinks:
            yield Weight("sinks", self.heads, matrix=False, sharing="whole")


@dataclass(frozen=True)
class FeedForward:
    """The feed-forward layer: dense, or a mixture of experts.

    Parameters
    ----------
    width
        The width of the layer, or of an expert.
    experts, active
        The number of experts, and how many process a token; None for a dense layer.
    shared
        The width of the experts that process all tokens, together.
    gated, bias
        Whether there is a gate; whether the matrices (and the router) have biases.
    correction
        Whether the router has a correction bias per expert (DeepSeek-V3).
    """

    width: int
    experts: int | None = None
    active: int | None = None
    shared: int = 0
    gated: bool = True
    bias: bool = False
    correction: bool = False

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Yield the weights."""
        matrices = GATED_MATRICES if self.gated else GATED_MATRICES - 1
        biases = (matrices - 1) * self.width + hidden
        if self.experts is None:
            yield Weight("ffn", matrices * hidden * self.width)
            if self.bias:
                yield Weight("ffn biases", biases, matrix=False, sharing="whole")
            return
        many, active = self.experts, self.active or 0
        yield Weight("router", hidden * self.experts, sharing="whole")
        if self.bias or self.correction:
            yield Weight("router bias", self.experts, matrix=False, sharing="whole")
        yield Weight("experts", self.experts * matrices * hidden * self.width, experts=many, active=active)
        if self.bias:
            yield Weight("expert biases", self.experts * biases, matrix=False, experts=many, active=active)
        if self.shared:
            yield Weight("shared experts", matrices * hidden * self.shared)


@dataclass(frozen=True)
class DecoderLayer:
    """A layer: attention, feed-forward layer, and the number of its norms over the residual stream."""

    attention: Attention
    feed_forward: FeedForward
    norms: int = 2
    norm_bias: bool = False

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Yield the weights."""
        yield from self.attention.weights(hidden)
        yield from self.feed_forward.weights(hidden)
        yield Weight("norms", self.norms * hidden * (2 if self.norm_bias else 1), matrix=False, sharing="whole")


@dataclass(frozen=True, repr=False)
class DecoderConfig:
    """A decoder-only model: what its `config.json` says about sizes.

    Parameters
    ----------
    name
        A name for texts.
    hidden, vocabulary
        The width of the residual stream; the size of the vocabulary.
    layers
        One `DecoderLayer` per layer.
    tied
        Whether the logits are computed with the embedding matrix.
    dtype
        The dtype in which the configuration says that weights are stored, or ``bf16``.
    positions
        The number of learned position embeddings; 0 for rotary positions.
    left_out
        Sentences on parts of the model that are not counted.
    quantised
        The format in which the weights are published, if the configuration says that they are quantised.
    quantised_attention
        Whether quantised weights include the matrices of attention.

    Examples
    --------
    >>> from roofwidget.workloads import decoder_config
    >>> config = decoder_config("llama-3-8b")
    >>> config.parameters, config.cache_bytes(8192)
    (8030261248, 1073741824)
    """

    __module__ = "roofwidget.workloads"

    name: str
    hidden: int
    vocabulary: int
    layers: tuple[DecoderLayer, ...]
    tied: bool = False
    dtype: str = "bf16"
    positions: int = 0
    left_out: tuple[str, ...] = ()
    quantised: WeightFormat | None = None
    quantised_attention: bool = True

    @cached_property
    def weights(self) -> tuple[Weight, ...]:
        """All weights, equal ones of several layers added up."""
        norm = self.hidden * (2 if any(layer.norm_bias for layer in self.layers) else 1)
        whole = [Weight("final norm", norm, matrix=False, sharing="whole")]
        if self.positions:
            whole.append(Weight("positions", self.positions * self.hidden, matrix=False))
        added: dict[Weight, int] = {}
        for layer, many in self.kinds.items():
            for one in layer.weights(self.hidden):
                key = replace(one, elements=0)
                added[key] = added.get(key, 0) + many * one.elements
        layers = [replace(key, elements=elements) for key, elements in added.items()]
        return (*layers, *whole)

    @property
    def embedding(self) -> int:
        """The number of elements of the embedding matrix."""
        return self.vocabulary * self.hidden

    @cached_property
    def parameters(self) -> int:
        """The number of parameters. A tied embedding counts once."""
        return sum(one.elements for one in self.weights) + self.embedding * (1 if self.tied else 2)

    @cached_property
    def active_parameters(self) -> int:
        """The number of parameters without the experts that do not process a token."""
        return sum(one.active_elements() for one in self.weights) + self.embedding * (1 if self.tied else 2)

    @cached_property
    def matrix_parameters(self) -> int:
        """The number of active parameters by which a token is multiplied: no embedding, norms and biases."""
        return self.layer_matrix_parameters + self.embedding

    @cached_property
    def layer_matrix_parameters(self) -> int:
        """As `matrix_parameters`, without the matrix of the logits."""
        return sum(one.active_elements() for one in self.weights if one.matrix)

    @property
    def is_mixture(self) -> bool:
        """Whether a layer has experts."""
        return any(layer.feed_forward.experts is not None for layer in self.layers)

    def weight_bytes(self, dtype: str | None = None) -> int:
        """Return the bytes of all weights, rounded up, by default in the format in which they are published.

        A dtype is that of all parameters. A format of `WEIGHT_FORMATS` is that of the matrices of the layers, with
        scales; routers, norms, biases, embedding and logits have 16 bits.
        """
        form = format_of_weights(self, dtype, "bytes of a decoder")
        bits = sum(one.elements * weight_bits(self, form, one) for one in self.weights)
        bits += self.embedding * (1 if self.tied else 2) * weight_bits(self, form)
        return math.ceil(bits / 8)

    def cache_bytes(self, context: int, batch: int = 1, dtype: str | None = None) -> int:
        """Return the bytes of keys and values (or of latents) that `batch` sequences of `context` tokens need.

        A layer with a window needs no more tokens than its window.
        """
        return bytes_of(batch * self.cache_elements(context), dtype or self.dtype)

    def cache_elements(self, context: int) -> int:
        """Return the number of elements of the cache for a sequence of `context` tokens."""
        return sum(
            many * layer.attention.cached_tokens(context) * layer.attention.cache_elements
            for layer, many in self.kinds.items()
        )

    @property
    def cache_bytes_per_token(self) -> int:
        """Bytes that the cache grows by for a token, before any window is full, at the dtype of the configuration."""
        return self.cache_bytes(1)

    @cached_property
    def kinds(self) -> Mapping[DecoderLayer, int]:
        """The number of layers of each kind."""
        return Counter(self.layers)

    def __repr__(self) -> str:
        active = f", {_billions(self.active_parameters)} active" if self.is_mixture else ""
        title = f"DecoderConfig: {one_line(self.name)}, {_billions(self.parameters)} parameters{active}"
        rows = [[f"{many} layers", described(layer)] for layer, many in self.kinds.items()]
        rows.append(["width", f"{self.hidden:,}, vocabulary {self.vocabulary:,}{', tied' if self.tied else ''}"])
        rows.append(["weights", f"{format_quantity(self.weight_bytes(), 'B')} at {format_of_weights(self).name}"])
        rows.append(["cache", f"{format_quantity(self.cache_bytes_per_token, 'B')} per token at {self.dtype}"])
        return "\n".join([title, *aligned(rows), *self.left_out])


def format_of_weights(config: DecoderConfig, name: str | None = None, where: str = "weights") -> WeightFormat:
    """Return the format of weights that a text names, by default the one in which they are published."""
    if config.quantised is not None and name in {None, config.quantised.name}:
        return config.quantised
    return weight_format(name or config.dtype, where)


def weight_bits(config: DecoderConfig, form: WeightFormat, one: Weight | None = None) -> Fraction:
    """Return the bits of an element of a weight, or of the embedding, in a format."""
    is_feed_forward = one is not None and one.name in FEED_FORWARD_MATRICES
    is_matrix = one is not None and one.matrix and one.name != "router"
    is_quantised = is_matrix and (is_feed_forward or config.quantised_attention)
    return form.bits if form.everywhere or is_quantised else Fraction(UNQUANTISED_BITS)


def described(layer: DecoderLayer) -> str:
    """Return a layer in words: its attention, window and feed-forward layer.

    Examples
    --------
    >>> described(DecoderLayer(Attention(32, 8, 128, 128, window=4096), FeedForward(14336, 8, 2)))
    '32 heads, 8 of keys (GQA), window 4,096; 2 of 8 experts of 14,336'
    """
    attention, ffn = layer.attention, layer.feed_forward
    if attention.latent is not None:
        words = f"{attention.heads} heads, latent {attention.latent} + {attention.rope_dim} (MLA)"
    else:
        kind = {attention.heads: "MHA", 1: "MQA"}.get(attention.groups, "GQA")
        words = f"{attention.heads} heads, {attention.groups} of keys ({kind})"
    if attention.window is not None:
        words += f", window {attention.window:,}"
    if ffn.experts is None:
        return f"{words}; dense {ffn.width:,}"
    shared = f", shared {ffn.shared:,}" if ffn.shared else ""
    return f"{words}; {ffn.active} of {ffn.experts} experts of {ffn.width:,}{shared}"


def bytes_of(elements: int, dtype: str) -> int:
    """Return the bytes of elements, rounded up."""
    return -(-elements * DTYPES[checked_dtype(dtype, "bytes of a decoder")] // 8)


def count_of(value: Any, what: str) -> int:
    """Return a whole number from 1; the message names `what`."""
    if not is_whole(value) or value < 1:
        raise ValueError(f"{what} must be a whole number from 1, got {shown_value(value)}")
    return int(value)


def _billions(count: int) -> str:
    return f"{count / 1e9:.4g}B"
