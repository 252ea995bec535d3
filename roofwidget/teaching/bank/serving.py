"""Exercises on serving and training language models: weights, KV caches, attention, experts."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Final

from roofwidget.analysis.bound import bound
from roofwidget.chips import Chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.teaching.bank.counts import fits, itemsize, of_op, record
from roofwidget.teaching.bank.exercise import Draw, exercise, exercises
from roofwidget.teaching.bank.phrases import SCALING_BOOK, exact, short
from roofwidget.teaching.question import DEFAULT_TOLERANCE, Question
from roofwidget.workloads import DECODERS, Graph, expected_experts, transformer_block
from roofwidget.workloads.expressions import evaluate

_V5E: Final = record("v5e", "bf16")
_V4: Final = record("v4", "bf16")
# What the scaling book prints for a v5e: bf16 FLOP/s and bytes/s.
_BOOK_V5E: Final = (1.97e14, 8.1e11)
_RATES_OF_V5E: Final = (_V5E.peak(), _V5E.bandwidth())
_AFTER_THE_BOOK: Final = f"Derived, after the {SCALING_BOOK}"
_TITLES: Final = {
    "llama-2-7b": "LLaMA-2-7B",
    "llama-2-13b": "LLaMA-2-13B",
    "llama-2-70b": "LLaMA-2-70B",
    "llama-3-8b": "LLaMA-3-8B",
    "llama-3-70b": "LLaMA-3-70B",
    "llama-3-405b": "LLaMA-3.1-405B",
}
_CONTEXTS: Final = {"llama-2": 4096, "llama-3": 8192}
"""The longest context of a model, in tokens."""
_HEADS: Final = 32
_HEAD_SIZE: Final = 128


def _slice(chips: int, peak: float, bandwidth: float) -> Chip:
    """Return several chips as one, with the sum of their rates."""
    return Chip("slice", {"bf16": chips * peak}, {"HBM": chips * bandwidth})


@functools.cache
def _step(batch: int, params: float, weights: float, cache: float, on: tuple[int, float, float]) -> tuple[float, float]:
    """Return the seconds that the weights and the KV cache take in one step of generation."""
    kernels = [Kernel("layers", 2 * batch * params, weights), Kernel("KV cache", 0, batch * cache)]
    layers, attention = bound(kernels, _slice(*on)).time.tolist()
    return layers, attention


def _sum(layers: float, attention: float) -> str:
    together = short(layers + attention, "s")
    return f"The KV cache takes {short(attention, 's')} and the layers take {short(layers, 's')}, together {together}."


def _parts(layers: float, attention: float) -> dict[float, str]:
    """Return the parts of a step that could be taken for the whole step, unless a part is nearly all of it."""
    parts = {
        layers: "The KV cache must be read too, before the layers.",
        attention: "The layers take time too, after the KV cache.",
    }
    most = (layers + attention) * 2**-DEFAULT_TOLERANCE
    return {seconds: said for seconds, said in parts.items() if seconds < most}


@exercise("weights-load-time")
def _weights_load_time(draw: Draw) -> Question:
    sizes = [(params, chips) for params in (70e9, 100e9, 200e9, 400e9) for chips in (16, 32, 64)]
    params, chips = draw.pick((200e9, 32), [(params, chips) for params, chips in sizes if fits(2 * params, _V4, chips)])
    bandwidth = draw.instead(1.23e12, [_V4.bandwidth()])
    seconds = bound(Kernel("weights", 0, 2 * params), _slice(chips, _V4.peak(), bandwidth)).total_time
    return draw.question(
        prompt=(
            f"A model has {params / 1e9:g} billion parameters of 2 bytes. They are spread over {chips} chips, each "
            f"with {exact(bandwidth, 'B/s')} of HBM bandwidth. How long does it take to read all of them once, in "
            "seconds?"
        ),
        answer=seconds,
        unit="s",
        explanation=(
            f"{short(2 * params, 'B')} / ({chips} · {exact(bandwidth, 'B/s')}) = {short(seconds, 's')}. No step of "
            "generation takes less."
        ),
        source=SCALING_BOOK,
    )


@exercises(
    {
        "decode-step-of-a-small-batch": {
            "sizes": [(4, 8192), *((batch, context) for batch in (4, 8, 16) for context in (4096, 16384))]
        },
        "decode-step-of-a-large-batch": {
            "sizes": [(192, 8192), (160, 8192), (224, 8192), (320, 4096), (384, 4096), (448, 4096)]
        },
    }
)
def _decode_step(draw: Draw, sizes: Sequence[tuple[int, int]]) -> Question:
    # The KV cache takes at least 5 % of a step, so that an answer without it is wrong.
    params, cache, chips = draw.pick(30e9, [20e9, 25e9]), 100e3, 16
    fitting = [one for one in sizes[1:] if fits(params + cache * math.prod(one), _V5E, chips)]
    batch, context = draw.pick(sizes[0], fitting)
    peak, bandwidth = draw.instead(_BOOK_V5E, [_RATES_OF_V5E])
    layers, attention = _step(batch, params, params, cache * context, (chips, peak, bandwidth))
    return draw.question(
        prompt=(
            f"A model with {params / 1e9:g} billion int8 parameters (1 byte) runs on {chips} chips. Each chip computes "
            f"{exact(peak, 'FLOP/s')} in bf16 and transfers {exact(bandwidth, 'B/s')}. The KV cache has "
            f"{exact(cache, 'B')} per token. A batch of {batch} sequences has {context} tokens of context each. The "
            "layers do 2 FLOPs per parameter and sequence. First the KV cache is read, which only takes bandwidth. "
            "The layers come after it. How long does one step of generation take at least, in seconds?"
        ),
        answer=layers + attention,
        unit="s",
        wrong_answers=_parts(layers, attention),
        explanation=_sum(layers, attention),
        source=SCALING_BOOK if (batch, context) == (4, 8192) else _AFTER_THE_BOOK,
        difficulty=3,
    )


def _llama(draw: Draw, batches: Sequence[int]) -> tuple[int, float, float, str]:
    """Return the batch of LLaMA-2-13B on eight chips, the seconds of layers and KV cache, and the text of the exercise.

    The context is the longest of the model, and the largest batch fits into the memory.
    """
    chips, params, context = 8, 13e9, 4096
    cache = context * _cache_per_token("llama-2-13b", "bf16")[0]
    batch = draw.pick(batches[0], [one for one in batches[1:] if fits(2 * params + one * cache, _V5E, chips)])
    peak, bandwidth = _RATES_OF_V5E
    layers, attention = _step(batch, params, 2 * params, cache, (chips, peak, bandwidth))
    said = (
        f"LLaMA-2-13B has {params / 1e9:g} billion bf16 parameters (2 bytes) and runs on {chips} TPU v5e. Each chip "
        f"computes {exact(peak, 'FLOP/s')} and transfers {exact(bandwidth, 'B/s')}. A sequence of {context} tokens has "
        f"{exact(cache, 'B')} of KV cache. The batch has {batch} sequence{'s' if batch > 1 else ''}."
    )
    return batch, layers, attention, said


_BATCHES: Final = (8, 1, 2, 4, 16, 24)


@exercise("llama-step-time")
def _llama_step_time(draw: Draw) -> Question:
    _, layers, attention, said = _llama(draw, _BATCHES)
    return draw.question(
        prompt=(
            f"{said} In each step all weights and all KV caches are read once, one after the other. The layers do 2 "
            "FLOPs per parameter and sequence while the weights are read. How long does a step take at least, in "
            "seconds?"
        ),
        answer=layers + attention,
        unit="s",
        wrong_answers=_parts(layers, attention),
        explanation=_sum(layers, attention),
        source=_AFTER_THE_BOOK,
        difficulty=3,
    )


@exercise("llama-throughput")
def _llama_throughput(draw: Draw) -> Question:
    batch, layers, attention, said = _llama(draw, _BATCHES)
    return draw.question(
        prompt=(
            f"{said} In each step all weights and all KV caches are read once, one after the other. The layers do 2 "
            "FLOPs per parameter and sequence while the weights are read. Each step gives one token per sequence. How "
            "many tokens per second are generated at most?"
        ),
        answer=batch / (layers + attention),
        unit="tokens/s",
        wrong_answers={
            **({1 / (layers + attention): "This is the rate of one sequence."} if batch > 1 else {}),
            **{batch / seconds: said for seconds, said in _parts(layers, attention).items()},
        },
        explanation=(
            f"{_sum(layers, attention)} {batch} / {short(layers + attention, 's')} = "
            f"{short(batch / (layers + attention))} tokens/s."
        ),
        source=_AFTER_THE_BOOK,
        difficulty=3,
    )


@exercise("llama-limit")
def _llama_limit(draw: Draw) -> Question:
    # At a batch of 8 both take about the same time.
    _, layers, attention, said = _llama(draw, [16, 1, 2, 4, 12, 24])
    weights, cache, peak = "Reading the weights", "Reading the KV cache", "The FLOPs of the layers"
    times = f"The KV cache takes {short(attention, 's')}, the layers take {short(layers, 's')}."
    answer = weights if layers > attention else cache
    options = {
        weights: f"Each sequence adds its own KV cache, but all sequences share the weights. {times}",
        cache: f"At a small batch there is little KV cache. {times}",
        peak: (
            "A larger batch does not make the whole step compute-bound. The layers reach the ridge point at a batch "
            f"of about 240. Attention never does. {times}"
        ),
    }
    return draw.question(
        prompt=f"{said} What takes most of the time of a step of generation?",
        answer=answer,
        options=options | {answer: times},
        source=_AFTER_THE_BOOK,
        difficulty=2,
    )


def _cache_per_token(model: str, dtype: str) -> tuple[int, str]:
    """Return the bytes of KV cache per token of a model, and a sentence about its heads."""
    preset = DECODERS[model]
    layer = preset.layer
    hidden, heads = evaluate(layer.hidden, {}), evaluate(layer.heads, {})
    groups, size = evaluate(layer.kv_heads or heads, {}), hidden // heads
    graph = Graph()
    slots = [graph.input(name, (preset.layers, groups, size), dtype) for name in ("k", "v")]
    per_token = sum(evaluate(graph.bytes(slot), {}) for slot in slots)
    said = (
        f"{_TITLES[model]} has {preset.layers} layers. Each layer has {groups} heads of keys and of values, and each "
        f"head has {size} numbers per token. The cache stores a number in {itemsize(dtype)} "
        f"byte{'s' if dtype == 'bf16' else ''} ({dtype})."
    )
    return per_token, said


@exercise("kv-cache-of-a-sequence")
def _kv_cache_of_a_sequence(draw: Draw) -> Question:
    models = ["llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b"]
    sizes = [(model, context) for model in models for context in (2048, 4096, 8192) if context <= _CONTEXTS[model[:7]]]
    model, context = draw.pick(("llama-2-13b", 4096), sizes)
    per_token, said = _cache_per_token(model, "bf16")
    return draw.question(
        prompt=f"{said} How many bytes has the KV cache of a sequence of {context} tokens?",
        answer=per_token * context,
        unit="B",
        explanation=f"A token has {per_token:,} B. {per_token:,} B · {context} = {short(per_token * context, 'B')}.",
        source=_AFTER_THE_BOOK,
    )


@exercise("kv-cache-of-a-token")
def _kv_cache_of_a_token(draw: Draw) -> Question:
    model = draw.pick("llama-3-70b", ["llama-3-8b", "llama-3-405b", "llama-2-7b"])
    per_token, said = _cache_per_token(model, draw.pick("int8", ["bf16"]))
    return draw.question(
        prompt=f"{said} How many bytes does one token add to the KV cache?",
        answer=per_token,
        unit="B",
        explanation=f"Keys and values · layers · heads · numbers · bytes = {per_token:,} B.",
        source=SCALING_BOOK,
    )


@functools.cache
def _prefill_intensity(tokens: int, share: int) -> float:
    graph = of_op("attention", "bf16", *((heads, tokens, _HEAD_SIZE) for heads in (8 * share, 8, 8)))
    return graph.count("tensor") / graph.count("bytes")


@exercise("prefill-attention-intensity")
def _prefill_attention_intensity(draw: Draw) -> Question:
    tokens, share = draw.pick(4096, [1024, 2048, 8192]), draw.pick(1, [4, 8])
    ai = _prefill_intensity(tokens, share)
    heads = (
        "Each head of queries has its own keys and values" if share == 1 else "Heads of queries share keys and values"
    )
    return draw.question(
        prompt=(
            f"Fused attention, all in bf16, works on {tokens} tokens at once. {heads}: {share} per head of keys. "
            "Queries, keys, values and results move once. There is no causal mask. Count only the FLOPs of the matrix "
            "products. What is the intensity, in FLOP/B?"
        ),
        answer=ai,
        unit="FLOP/B",
        explanation=(
            f"With T tokens and G heads of queries per head of keys the intensity is T · G / (G + 1) = {tokens} · "
            f"{share} / {share + 1} = {short(ai)} FLOP/B."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@functools.cache
def _decode_intensity(context: int, groups: int) -> float:
    shape = 1, 1, _HEADS * _HEAD_SIZE
    graph = of_op("decode_attention", "bf16", shape, context=context, heads=_HEADS, kv_heads=groups)
    return graph.count("tensor") / graph.count("bytes")


@exercise("decode-attention-intensity")
def _decode_attention_intensity(draw: Draw) -> Question:
    groups, context = draw.pick(8, [32, 16, 4, 1]), draw.pick(8192, [2048, 4096, 32768])
    ai = _decode_intensity(context, groups)
    return draw.question(
        prompt=(
            f"Attention of one new token, all in bf16, reads the KV cache of {context} tokens. There are {_HEADS} "
            f"heads of queries, and {groups} of keys and values, with {_HEAD_SIZE} numbers each. Keys, values, queries "
            "and results move once. Count only the FLOPs of the matrix products. What is the intensity, in FLOP/B?"
        ),
        answer=ai,
        unit="FLOP/B",
        explanation=(
            f"Each number of the cache has 2 bytes and does {2 * _HEADS // groups} FLOPs, 2 for each head of queries "
            f"that uses it: about {_HEADS // groups} FLOP/B. With queries and results it is {short(ai)} FLOP/B."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@exercise("decode-attention-and-batch")
def _decode_attention_and_batch(draw: Draw) -> Question:
    batch = draw.pick(32, [8, 64, 128])
    same = "It stays the same"
    return draw.question(
        prompt=(
            f"A model generates tokens with a batch of 1. Now the batch is {batch}, and each sequence has its own KV "
            "cache. What happens to the intensity of attention?"
        ),
        answer=same,
        options={
            f"It is {batch} times as high": (
                "This is true for the layers, because all sequences share the weights. They do not share the KV cache."
            ),
            same: "Each sequence reads its own cache, so FLOPs and bytes both grow with the batch.",
            f"It is {batch} times as low": "The bytes grow with the batch, but so do the FLOPs.",
        },
        source=SCALING_BOOK,
        difficulty=2,
    )


@functools.cache
def _context_of_equal_flops(ratio: int, *, gated: bool) -> tuple[float, float]:
    """Return how many times the width a context is, for which attention does as many FLOPs as other products.

    The first number is for MLP and projections, the second one for projections only.
    """
    width = 64
    graph = transformer_block(1, width, width, 1, ffn=ratio * width, gated=gated, causal=False, convention="torch")
    flops = {op.name: evaluate(graph.flops(op), graph.environment()) for op in graph.ops if op.kind == "matmul"}
    projections = sum(flops[op] for op in ("q", "k", "v", "attention_out"))
    attention = evaluate(graph.flops("attention"), graph.environment())
    # At this context, equal to the width, attention does `attention` FLOPs. They grow with the square of the context,
    # the others with the context.
    return sum(flops.values()) / attention, projections / attention


@exercise("context-of-equal-flops")
def _context_of_equal_flops_of_a_block(draw: Draw) -> Question:
    gated, ratio = draw.pick(True, [False]), draw.pick(4, [2, 3, 6])  # noqa: FBT003 - drawn values
    times, _ = _context_of_equal_flops(ratio, gated=gated)
    matrices = 3 if gated else 2
    return draw.question(
        prompt=(
            f"A transformer block has width D. Its MLP has {matrices} matrices of D × {ratio} D. The 4 projections of "
            "attention are D × D. The products of queries with keys, and of scores with values, each do 2 T D FLOPs "
            "per token, with a context of T tokens and no causal mask. At which T do these two products do as many "
            "FLOPs as MLP and projections? Answer as a multiple of D."
        ),
        answer=times,
        unit="D",
        wrong_answers={2 * times: "Both products count: together they do 4 T D FLOPs per token."},
        explanation=(
            f"Per token the MLP does 2 · {matrices} · {ratio} D² FLOPs and the projections do 2 · 4 D². Attention does "
            f"4 T D. They are equal at T = {short(times)} D."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@exercise("context-of-equal-projections")
def _context_of_equal_projections(draw: Draw) -> Question:
    width = draw.pick(4096, [1024, 5120, 8192])
    _, times = _context_of_equal_flops(4, gated=True)
    return draw.question(
        prompt=(
            f"A transformer block has width {width}. The 4 projections of attention are {width} × {width}. The "
            "products of queries with keys, and of scores with values, see all tokens of the context. From how many "
            "tokens of context on do these two products do more FLOPs than the projections?"
        ),
        answer=times * width,
        unit="tokens",
        explanation=(
            "Per token the projections do 8 D² FLOPs and attention does 4 T D. They are equal at T = 2 D = "
            f"{2 * width}."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@exercise("training-utilization")
def _training_utilization(draw: Draw) -> Question:
    active, tokens = 37e9, draw.pick(14.8e12, [10e12, 12e12])
    hours, peak = draw.pick(2.79e6, [2.4e6, 3.5e6]), 1.513e15
    training = Kernel("training", 6 * active * tokens, 0, time=hours * 3600)
    share = 100 * float(bound(training, Chip("H800", {"fp8": peak}, {"HBM": 3.35e12})).utilization[0])
    return draw.question(
        prompt=(
            f"A mixture of experts with {active / 1e9:g} billion active parameters is trained on {tokens / 1e12:g} "
            f"trillion tokens. This takes {hours / 1e6:g} million GPU hours. Each GPU has a peak of "
            f"{exact(peak, 'FLOP/s')}. Training does 6 FLOPs per active parameter and token. Which share of the peak "
            "was used, in %?"
        ),
        answer=share,
        unit="%",
        explanation=(
            f"6 · {active / 1e9:g} billion · {tokens / 1e12:g} trillion FLOPs in {hours / 1e6:g} million hours, "
            f"divided by {exact(peak, 'FLOP/s')}, are {short(share)} %."
        ),
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("experts-critical-batch")
def _experts_critical_batch(draw: Draw) -> Question:
    dense = draw.pick(240, [120, 295, 550])
    experts, active = draw.pick(16, [8, 64, 128]), draw.pick(2, [1, 4])
    return draw.question(
        prompt=(
            f"On a chip a dense layer is compute-bound from {dense} tokens on. A mixture of experts replaces it. It "
            f"has {experts} experts of the same size, and each token uses {active} of them. All experts get the same "
            "number of tokens. From how many tokens on is it compute-bound?"
        ),
        answer=dense * experts / active,
        unit="tokens",
        explanation=(
            f"Each expert gets {active} / {experts} of the tokens and needs {dense} of them: {dense} · {experts} / "
            f"{active} = {dense * experts / active:g}."
        ),
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("experts-in-use")
def _experts_in_use(draw: Draw) -> Question:
    tokens, experts, active = draw.pick(8, [4, 16, 32]), draw.pick(16, [8, 32]), 2
    touched = expected_experts(tokens, experts, active)
    return draw.question(
        prompt=(
            f"A layer has {experts} experts. Each of {tokens} tokens picks {active} different experts at random. How "
            "many experts are picked by at least one token, on average?"
        ),
        answer=touched,
        unit="experts",
        wrong_answers={tokens * active: "Several tokens pick the same expert."},
        explanation=(
            f"A token misses an expert with probability 1 − {active} / {experts}. So {experts} · (1 − (1 − {active} / "
            f"{experts})^{tokens}) = {short(touched)} experts are picked."
        ),
        source="Derived",
        difficulty=3,
    )


@exercise("decode-step-of-a-slice")
def _decode_step_of_a_slice(draw: Draw) -> Question:
    params, cache = 70e9, 160e3
    sizes = itertools.product((16, 24, 32), (8, 16, 32), (4096, 8192, 16384))
    fitting = [one for one in sizes if fits(params + cache * one[0] * one[2], _V5E, one[1])]
    batch, chips, context = draw.pick((32, 8, 8192), fitting)
    peak, bandwidth = draw.instead(_BOOK_V5E, [_RATES_OF_V5E])
    layers, attention = _step(batch, params, params, cache * context, (chips, peak, bandwidth))
    return draw.question(
        prompt=(
            f"A model has {params / 1e9:g} billion int8 parameters (1 byte) and {exact(cache, 'B')} of KV cache per "
            f"token. {batch} sequences with a context of {context} tokens each are generated on {chips} TPU v5e. Each "
            f"chip transfers {exact(bandwidth, 'B/s')}, and the step is memory-bound. How long does a step take at "
            "least, in seconds?"
        ),
        answer=layers + attention,
        unit="s",
        wrong_answers=_parts(layers, attention),
        explanation=(
            f"The weights are {short(params, 'B')}, the KV caches {short(cache * context * batch, 'B')}. "
            f"{_sum(layers, attention)}"
        ),
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("prefill-time")
def _prefill_time(draw: Draw) -> Question:
    sizes = itertools.product((8e9, 13e9, 70e9), (8, 16, 32))
    params, chips = draw.pick((70e9, 16), [one for one in sizes if fits(2 * one[0], _V5E, one[1])])
    tokens, share = draw.pick(8192, [2048, 4096]), draw.pick(0.4, [0.3, 0.5, 0.6])
    peak, bandwidth = draw.instead(_BOOK_V5E, [_RATES_OF_V5E])
    prefill = Kernel("prefill", 2 * params * tokens, 2 * params)
    seconds = bound(prefill, _slice(chips, share * peak, bandwidth)).total_time
    return draw.question(
        prompt=(
            f"A model has {params / 1e9:g} billion bf16 parameters. Its prefill does 2 FLOPs per parameter and token, "
            f"and reaches {100 * share:g} % of the peak. It runs on {chips} chips with a peak of "
            f"{exact(peak, 'FLOP/s')} each. How long does a prompt of {tokens} tokens take, in seconds?"
        ),
        answer=seconds,
        unit="s",
        explanation=(
            f"{short(2 * params * tokens, 'FLOP')} / ({chips} · {share:g} · {exact(peak, 'FLOP/s')}) = "
            f"{short(seconds, 's')}."
        ),
        source=SCALING_BOOK,
        difficulty=2,
    )
