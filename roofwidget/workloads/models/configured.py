"""The graph of a decoder from its configuration: layers of several kinds, windows, MLA, mixtures of experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Count, ceil_div, minimum
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.models.config import Attention, DecoderConfig, DecoderLayer, FeedForward
from roofwidget.workloads.ops.formulas import (
    DIVIDE,
    FMA,
    SOFTMAX,
    SQRT,
    Work,
    add,
    attended,
    like,
    multiply,
    rows,
    weight,
    whole,
    work,
)
from roofwidget.workloads.tensors import Tensor


@dataclass(frozen=True)
class Run:
    """What a graph is built for. `tp` is the number of chips that share each layer."""

    phase: Literal["prefill", "decode", "train"]
    seq: Count
    dtype: str
    weight_dtype: str | None
    cache_dtype: str | None
    touched: Literal["expected", "most"]
    tp: Count = 1


def configured(config: DecoderConfig, batch: Count, run: Run, convention: str | Convention) -> Graph:
    """Return the graph of a decoder: embedding, layers, a last norm and the logits of each token."""
    graph = Graph(config.name, convention=convention)
    many = 1 if run.phase == "decode" else run.seq
    tokens = graph.input("tokens", (batch, many), "int32")
    x: Tensor = graph.embedding(tokens, config.hidden, dtype=run.dtype, name="embedding")
    builder = _Builder(graph, run)
    for index, layer in enumerate(config.layers):
        x = builder.layer(x, layer, f"layer{index}.")
    last = graph.layernorm(x, name="norm") if config.layers[-1].norm_bias else graph.rmsnorm(x, name="norm")
    graph.output(builder.linear(last, ceil_div(config.vocabulary, run.tp), "logits"))
    if run.tp != 1:
        graph.note("the graph of one of the chips that share each layer; all-reduces between them are left out")
    for sentence in config.left_out:
        graph.note(sentence)
    if config.quantised is not None:
        graph.note(f"the published weights are quantised ({config.quantised.name}); here they have the dtype asked for")
    return graph


class _Builder:
    def __init__(self, graph: Graph, run: Run) -> None:
        self.graph = graph
        self.run = run

    def layer(self, x: Tensor, layer: DecoderLayer, at: str) -> Tensor:
        graph = self.graph
        norm = graph.layernorm if layer.norm_bias else graph.rmsnorm
        mixed = self._attention(norm(x, name=f"{at}attention_norm"), layer.attention, at)
        after = layer.norms > 2  # noqa: PLR2004 - a norm before and a norm after each part, as in Gemma
        if after:
            mixed = norm(mixed, name=f"{at}attention_post_norm")
        x = graph.add(x, mixed, name=f"{at}attention_add")
        fed = self._feed_forward(norm(x, name=f"{at}ffn_norm"), layer.feed_forward, at)
        if after:
            fed = norm(fed, name=f"{at}ffn_post_norm")
        y: Tensor = graph.add(x, fed, name=f"{at}ffn_add")
        return y

    def share(self, what: str, size: int) -> Count:
        """Return the share that one chip has of a size, which the chips must divide."""
        return size if self.run.tp == 1 else whole(self.graph, "tp", what, size, self.run.tp)

    def linear(self, x: Tensor, features: Count, name: str, *, bias: bool = False) -> Tensor:
        y: Tensor = self.graph.linear(x, features, bias=bias, name=name, weight_dtype=self.run.weight_dtype)
        return y

    def _attention(self, h: Tensor, one: Attention, at: str) -> Tensor:
        mixed = self._grouped(h, one, at) if one.latent is None else self._latent(h, one, one.latent, at)
        return self.linear(mixed, h.shape[-1], f"{at}attention_out", bias=one.out_bias)

    def _grouped(self, h: Tensor, one: Attention, at: str) -> Tensor:
        graph, run, d = self.graph, self.run, one.key_dim
        heads, groups = self.share("heads", one.heads), ceil_div(one.groups, run.tp)
        sizes = {"q": heads * d, "k": groups * d, "v": groups * d}
        q, k, v = (self.linear(h, size, f"{at}{word}", bias=one.qkv_bias) for word, size in sizes.items())
        if one.qk_norm:
            q = self._norm_of_heads(q, heads, d, f"{at}q_norm")
            k = self._norm_of_heads(k, groups, d, f"{at}k_norm")
        q, k = (graph.rope(t, head_dim=d, name=f"{at}rope_{word}") for t, word in ((q, "q"), (k, "k")))
        if one.sinks:
            graph.note("attention sinks are left out")
        name = f"{at}attention"
        if run.phase == "decode":
            seen: Count = run.seq if one.window is None else minimum(run.seq, one.window)
            how = {"context": seen, "kv_heads": groups, "cache_dtype": run.cache_dtype}
            decoded: Tensor = graph.decode_attention(q, k, v, heads=heads, name=name, **how)
            return decoded
        graph.output(k, v)
        if one.window is None:
            full: Tensor = graph.attention(q, k, v, heads=heads, causal=True, name=name)
            return full
        near: Tensor = graph.sliding_window_attention(q, k, v, window=one.window, heads=heads, name=name)
        return near

    def _norm_of_heads(self, x: Tensor, heads: Count, d: int, name: str) -> Tensor:
        """Normalise each head by its root mean square; all heads share one gamma."""
        gamma, many = weight(self.graph, name, "gamma", (d,), x.dtype), x.size
        each = rows(x) * heads
        done = work(
            ("mean square", "vector", 2 * many + DIVIDE * each),
            ("epsilon, reciprocal root", "vector", each + SQRT * each),
            ("scale and gamma", "vector", 2 * many),
        )
        return add(self.graph, "injective", [x, gamma], like(x, name), done)

    def _latent(self, h: Tensor, one: Attention, latent: int, at: str) -> Tensor:
        """Attend by MLA. Prefill expands the latent to keys and values; decode multiplies by the latent itself."""
        graph, run, heads = self.graph, self.run, self.share("heads", one.heads)
        nope = one.key_dim - one.rope_dim
        c = h
        if one.query_rank is not None:
            c = graph.rmsnorm(self.linear(h, one.query_rank, f"{at}q_down"), name=f"{at}q_norm")
        q = self.linear(c, heads * nope, f"{at}q")
        turned = self.linear(c, heads * one.rope_dim, f"{at}q_rope")
        q_rope = graph.rope(turned, head_dim=one.rope_dim, name=f"{at}rope_q")
        down = graph.rmsnorm(self.linear(h, latent, f"{at}kv_down"), name=f"{at}kv_norm")
        shared = self.linear(h, one.rope_dim, f"{at}k_rope")
        k_rope = graph.rope(shared, head_dim=one.rope_dim, name=f"{at}rope_k")
        name, lead = f"{at}attention", h.shape[:-1]
        if run.phase == "prefill":
            graph.output(down, k_rope)
            up = self.linear(down, heads * (nope + one.value_dim), f"{at}kv_up")
            out = Tensor(name, (*lead, heads * one.value_dim), h.dtype)
            return add(graph, "opaque", [q, q_rope, up, k_rope], out, self._work(h, one, heads, run.seq, run.seq))
        absorbed = self._by_head(q, heads, nope, latent, f"{at}absorb_k")
        stored = run.cache_dtype or h.dtype
        before = run.seq - 1
        widths = {"latent": latent, "k_rope": one.rope_dim}
        caches = [graph.input(f"{name}.{word}_cache", (lead[0], before, size), stored) for word, size in widths.items()]
        slots = [Tensor(f"{name}.{word}_slot", (*lead, size), stored) for word, size in widths.items()]
        out = Tensor(name, (*lead, heads * latent), h.dtype)
        inputs = [absorbed, q_rope, down, k_rope, *caches]
        mixed = add(graph, "opaque", inputs, [out, *slots], self._work(h, one, heads, 1, run.seq))
        return self._by_head(mixed, heads, latent, one.value_dim, f"{at}absorb_v")

    def _by_head(self, x: Tensor, heads: Count, rows_in: int, columns: int, name: str) -> Tensor:
        """Multiply each head of x by a matrix of its own."""
        matrices = weight(self.graph, name, "weight", (heads, rows_in, columns), self.run.weight_dtype or x.dtype)
        done = work(("multiply-adds", "tensor", FMA * rows(x) * heads * rows_in * columns))
        return multiply(self.graph, [x, matrices], Tensor(name, (*x.shape[:-1], heads * columns), x.dtype), done)

    def _work(self, h: Tensor, one: Attention, heads: Count, queries: Count, keys: Count) -> Work:
        cached = self.run.phase == "decode"
        many = h.shape[0] * heads
        wide = (one.latent or 0) + one.rope_dim if cached else one.key_dim
        back = (one.latent or 0) if cached else one.value_dim

        def pairs(each: Count, d: Count = 1) -> Count:
            return attended(each, queries, keys, d, causal=not cached)

        return work(
            ("Q Kᵀ", "tensor", pairs(FMA * many, wide)),
            ("softmax", "vector", pairs((SOFTMAX - 1) * many)),
            ("exp", "transcendental", pairs(many)),
            ("P V", "tensor", pairs(FMA * many, back)),
        )

    def _feed_forward(self, h: Tensor, ffn: FeedForward, at: str) -> Tensor:
        if ffn.experts is None:
            return self._dense(h, ffn.width, at, "ffn", gated=ffn.gated, bias=ffn.bias)
        if ffn.bias or ffn.correction:
            self.graph.note("biases of experts and of routers are left out")
        how = {"experts": ffn.experts, "active": ffn.active, "touched": self.run.touched}
        width = self.share("width of an expert", ffn.width)
        mixed: Tensor = self.graph.moe(h, ffn=width, name=f"{at}moe", weight_dtype=self.run.weight_dtype, **how)
        if not ffn.shared:
            return mixed
        shared = self._dense(h, ffn.shared, at, "shared", gated=ffn.gated, bias=False)
        y: Tensor = self.graph.add(mixed, shared, name=f"{at}shared_add")
        return y

    def _dense(self, h: Tensor, size: int, at: str, word: str, *, gated: bool, bias: bool) -> Tensor:
        width = self.share("width of the feed-forward layer", size)
        up = self.linear(h, width, f"{at}{word}_up", bias=bias)
        if gated:
            gate = self.linear(h, width, f"{at}{word}_gate", bias=bias)
            inner = self.graph.swiglu(gate, up, name=f"{at}{word}_swiglu")
        else:
            inner = self.graph.gelu(up, name=f"{at}{word}_gelu")
        return self.linear(inner, h.shape[-1], f"{at}{word}_down", bias=bias)
