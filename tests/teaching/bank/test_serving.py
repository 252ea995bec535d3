"""Exercises on language models: the printed answers, and an independent formula of each prompt's numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import roofwidget as rw
from tests.teaching.bank.prompts import SEEDS, answers_by_prompt, bank, made, numbers

PRINTED = {
    "weights-load-time": "10.2e-3",
    "decode-step-of-a-small-batch": "2.57e-3",
    "decode-step-of-a-large-batch": "15.79e-3",
    "llama-step-time": "8.07e-3",
    "llama-throughput": "992",
    "kv-cache-of-a-sequence": "3.36e9",
    "kv-cache-of-a-token": "163840",
    "prefill-attention-intensity": "2048.000000000",
    "decode-attention-intensity": "4.00",
    "context-of-equal-flops": "8.000000000",
    "context-of-equal-projections": "8192.000000000",
    "training-utilization": "21.6",
    "experts-critical-batch": "1920.000000000",
    "experts-in-use": "10.5",
    "decode-step-of-a-slice": "17.3e-3",
    "prefill-time": "0.91",
}


CHOICES = {
    "llama-limit": "Reading the KV cache",
    "decode-attention-and-batch": "It stays the same",
}


def step(batch: float, params: float, itemsize: float, cache: float, *, p: float, b: float) -> float:
    """Return the seconds of a step: first the KV cache, then the layers."""
    return batch * cache / b + max(2 * batch * params / p, itemsize * params / b)


FORMULAS: dict[str, Callable[..., float]] = {
    "weights-load-time": lambda n, e, chips, b: n * e / (chips * b),
    "decode-step-of-a-small-batch": lambda n, e, chips, p, b, kv, batch, t, _f: step(
        batch, n, e, kv * t, p=chips * p, b=chips * b
    ),
    "decode-step-of-a-large-batch": lambda n, e, chips, p, b, kv, batch, t, _f: step(
        batch, n, e, kv * t, p=chips * p, b=chips * b
    ),
    "llama-step-time": lambda n, e, chips, p, b, _t, kv, batch, _f: step(batch, n, e, kv, p=chips * p, b=chips * b),
    "llama-throughput": lambda n, e, chips, p, b, _t, kv, batch, _f: (
        batch / step(batch, n, e, kv, p=chips * p, b=chips * b)
    ),
    "kv-cache-of-a-sequence": lambda layers, heads, d, e, t: 2 * layers * heads * d * e * t,
    "kv-cache-of-a-token": lambda layers, heads, d, e: 2 * layers * heads * d * e,
    "prefill-attention-intensity": lambda t, g: t * g / (g + 1),
    "decode-attention-intensity": lambda s, h, hk, d: 4 * h * s * d / (2 * (2 * hk * s * d + 2 * h * d)),
    "context-of-equal-flops": lambda matrices, ratio, four, _: (2 * matrices * ratio + 2 * four) / 4,
    "context-of-equal-projections": lambda d, four, _d, _: 2 * four * d / 4,
    "training-utilization": lambda n, tokens, hours, p, six: 100 * six * n * tokens / (hours * 3600 * p),
    "experts-critical-batch": lambda dense, e, k: dense * e / k,
    "experts-in-use": lambda e, t, k: e - e * (1 - k / e) ** t,
    "decode-step-of-a-slice": lambda n, e, kv, batch, t, chips, b: (n * e + kv * batch * t) / (chips * b),
    "prefill-time": lambda n, two, share, chips, p, t: two * n * t / (chips * p * share / 100),
}


KV_OF_LLAMA_2_13B = 819_200  # bytes per token in bf16: 2 · 40 layers · 40 heads · 128 · 2
CONTEXTS = {"LLaMA-2": 4096, "LLaMA-3": 8192}
V5E, V4 = (rw.chip(name).memories["HBM"].capacity or 0.0 for name in ("v5e", "v4"))


def test_what_is_served_fits_into_the_memory_of_its_chips() -> None:
    for seed in (None, *SEEDS):
        asked = {key: numbers(question.prompt) for key, question in bank(seed).items()}
        for key in ("llama-step-time", "llama-throughput", "llama-limit"):
            params, size, chips, _, _, context, kv, batch, *_ = asked[key]
            assert context <= 4096
            assert kv == context * KV_OF_LLAMA_2_13B
            assert size * params + batch * kv <= 0.9 * chips * V5E
        for key in ("decode-step-of-a-small-batch", "decode-step-of-a-large-batch"):
            params, size, chips, _, _, kv, batch, context, _ = asked[key]
            assert size * params + batch * context * kv <= 0.9 * chips * V5E
        params, size, kv, batch, context, chips, _ = asked["decode-step-of-a-slice"]
        assert size * params + batch * context * kv <= 0.9 * chips * V5E
        params, size, chips, _ = asked["weights-load-time"]
        assert size * params <= 0.9 * chips * V4
        params, _, _, chips, _, _ = asked["prefill-time"]
        assert 2 * params <= 0.9 * chips * V5E


def test_no_sequence_is_longer_than_the_context_of_its_model() -> None:
    for prompt in answers_by_prompt("kv-cache-of-a-sequence"):
        (longest,) = (context for name, context in CONTEXTS.items() if prompt.startswith(name))
        assert numbers(prompt)[-1] <= longest


def test_other_printed_numbers_are_among_the_variants() -> None:
    decode = {prompt: round(answer, 2) for prompt, answer in answers_by_prompt("decode-attention-intensity").items()}
    of_8192 = {int(numbers(prompt)[2]): ai for prompt, ai in decode.items() if " 8192 " in prompt}
    assert {groups: of_8192[groups] for groups in (32, 8, 1)} == pytest.approx({32: 1.00, 8: 4.00, 1: 31.9}, abs=0.05)
    assert [round(made("experts-in-use", tokens=tokens, experts=16).answer, 1) for tokens in (8, 32)] == [10.5, 15.8]
    # The book prints 17 ms for 8 chips of 810 GB/s; the catalogue has 819 GB/s.
    steps = [made("decode-step-of-a-slice", batch=32, context=8192, chips=chips).answer for chips in (8, 16)]
    assert [round(1e3 * one, 1) for one in steps] == [17.1, 8.5]


def test_the_weights_take_longest_only_at_a_small_batch() -> None:
    # 26 GB of weights, and 3.36 GB for each sequence: equal at a batch of 7.7.
    found = {int(numbers(prompt)[7]): answer for prompt, answer in answers_by_prompt("llama-limit").items()}
    weights, cache = "Reading the weights", "Reading the KV cache"
    assert found == {1: weights, 2: weights, 4: weights, 12: cache, 16: cache, 24: cache}


def test_a_batch_leaves_the_intensity_of_attention_as_it_is() -> None:
    found = answers_by_prompt("decode-attention-and-batch")
    assert (len(found), set(found.values())) == (4, {"It stays the same"})


def test_a_step_without_its_kv_cache_is_no_right_answer() -> None:
    for seed in SEEDS:
        question = bank(seed)["decode-step-of-a-small-batch"]
        params, itemsize, chips, _, bandwidth, *_ = numbers(question.prompt)
        assert not question.check(params * itemsize / (chips * bandwidth)).correct
