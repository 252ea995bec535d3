"""Exercises on attention: printed answers, and an independent formula for every variant."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

import roofwidget as rw
from roofwidget.workloads.partition import Partition
from tests.teaching.bank.prompts import (
    check_answers,
    check_choice,
    check_drag,
    drawn,
    keys_of,
    made,
    numbers,
    printed,
    rounds_to,
)

PRINTED = {
    "attention-macs": "45350912",
    "attention-unfused-bytes": str(int(8.5 * 2**20)),
    "attention-unfused-intensity": "30.7",
    "attention-fused-intensity": "522",
    "attention-traffic-saved": "17",
    "attention-fused-place": "2068",
    "attention-unfused-time": "41.3e-6",
    "attention-softmax-fused-time": "21.3e-6",
    "attention-fused-time": "8.77e-6",
    "flash-no-reuse-intensity": "125",
    "flash-no-reuse-time": "20.66e-6",
    # The bandwidth that makes 125.33 FLOP/B the ridge point; derived.
    "flash-bandwidth-needed": "7.89e12",
}
# More numbers that the source prints, for 4096 tokens and a head size of 128.
PRINTED_VARIANTS = {
    "attention-unfused-intensity": "62.7",
    "attention-fused-intensity": "2068",
    "attention-traffic-saved": "33",
}


def _flops(n: float, d: float) -> float:
    return 4 * n * n * d + 5 * n * n


def _small(n: float, d: float) -> float:
    """Return the bytes of one of queries, keys, values and output."""
    return 2 * n * d


def _scores(n: float) -> float:
    return 2 * n * n


def _unfused_bytes(n: float, d: float) -> float:
    return 4 * _small(n, d) + 4 * _scores(n)


def _flash_bytes(n: float, d: float, rows: float = 128) -> float:
    return 2 * _small(n, d) + math.ceil(n / rows) * 2 * _small(n, d)


def _product_time(n: float, d: float, peak: float, bandwidth: float, more_flops: float = 0) -> float:
    return max((2 * n * n * d + more_flops) / peak, (2 * _small(n, d) + _scores(n)) / bandwidth)


Formula = Callable[..., float]

FORMULAS: dict[str, Formula] = {
    "attention-unfused-bytes": _unfused_bytes,
    "attention-unfused-intensity": lambda n, d: _flops(n, d) / _unfused_bytes(n, d),
    "attention-fused-intensity": lambda n, d: _flops(n, d) / (4 * _small(n, d)),
    "attention-traffic-saved": lambda n, d: 1 + n / d,
    "attention-fused-place": lambda n, d: _flops(n, d) / (4 * _small(n, d)),
    "attention-unfused-time": lambda n, d, p, b: 2 * _product_time(n, d, p, b) + 2 * _scores(n) / b,
    "attention-softmax-fused-time": lambda n, d, p, b: _product_time(n, d, p, b, 5 * n * n) + _product_time(n, d, p, b),
    "attention-fused-time": lambda n, d, p, b: max(_flops(n, d) / p, 4 * _small(n, d) / b),
    "flash-no-reuse-intensity": lambda n, d, rows: _flops(n, d) / _flash_bytes(n, d, rows),
    "flash-no-reuse-time": lambda n, d, p, b, rows: max(_flops(n, d) / p, _flash_bytes(n, d, rows) / b),
    "flash-bandwidth-needed": lambda n, d, p, _b, rows: p * _flash_bytes(n, d, rows) / _flops(n, d),
}


def _sizes(prompt: str) -> tuple[float, float]:
    """Return tokens and head size."""
    found = numbers(prompt[prompt.index("One attention head") :])
    assert found[0] == found[1]
    return found[0], found[2]


def _rates(prompt: str) -> list[float]:
    """Return the peak and the bandwidth of the prompt's GPU, if it names them."""
    return numbers(prompt[: prompt.index("One attention head")])


def _rows(prompt: str) -> list[float]:
    """Return the rows of a block, if the prompt names them."""
    found = re.search(r"blocks of (\d+) query rows", prompt)
    return [float(found[1])] if found else []


@pytest.mark.parametrize("key", PRINTED_VARIANTS)
def test_the_larger_printed_head_is_a_variant_with_the_printed_answer(key: str) -> None:
    question = made(key, tokens=4096, d=128)
    assert _sizes(question.prompt) == (4096, 128)
    assert rounds_to(question.answer, PRINTED_VARIANTS[key])


@pytest.mark.parametrize("key", FORMULAS)
def test_the_answer_is_the_printed_one_and_follows_from_the_prompt_with_any_seed(key: str) -> None:
    check_answers(key, PRINTED[key], lambda prompt: FORMULAS[key](*_sizes(prompt), *_rates(prompt), *_rows(prompt)))


def test_multiply_adds_of_attention_follow_from_the_prompt() -> None:
    check_answers("attention-macs", PRINTED["attention-macs"], lambda prompt: 2 * math.prod(numbers(prompt)[:4]))


def test_reading_keys_for_each_block_makes_fused_attention_memory_bound() -> None:
    for question in [printed("flash-what-binds"), *drawn("flash-what-binds")]:
        n, d = _sizes(question.prompt)
        moved = _flash_bytes(n, d) if "FlashAttention" in question.prompt else 4 * _small(n, d)
        peak, bandwidth = _rates(question.prompt)
        memory = moved / bandwidth > _flops(n, d) / peak
        assert question.answer == ("memory bandwidth" if memory else "peak FLOP/s")
        check_choice(question)
    assert printed("flash-what-binds").answer == "memory bandwidth"
    assert len({question.answer for question in drawn("flash-what-binds")}) == 2


@pytest.mark.parametrize("key", ["attention-fused-place", "flash-bandwidth-needed"])
def test_the_drag_ends_where_a_model_of_the_setup_has_the_answer(key: str) -> None:
    for question in [printed(key), *drawn(key)[:8]]:
        check_drag(question)


def test_flash_attention_2_is_that_of_2023_and_no_drawn_number_is_said_to_be_printed() -> None:
    for key in ("flash-no-reuse-intensity", "flash-no-reuse-time", "flash-what-binds", "flash-bandwidth-needed"):
        assert {one.source for one in [printed(key), *drawn(key)]} == {"Derived, after Dao, FlashAttention-2, 2023"}


def test_every_exercise_on_attention_is_checked_here() -> None:
    assert keys_of("attention") == {*FORMULAS, "attention-macs", "flash-what-binds"}
    assert PRINTED.keys() == {*FORMULAS, "attention-macs"}


def test_a_kernel_that_keeps_no_whole_rows_of_the_scores_says_what_they_need() -> None:
    # A block has at least 64 rows of scores of 2 B. A block of an H100 keeps 232,448 B.
    for question in (printed("attention-softmax-fused-time"), *drawn("attention-softmax-fused-time")):
        keys = numbers(question.prompt)[2]
        need = 64 * 2 * keys
        assert need > 232_448
        text = f"need {need / 1e6:.3g} MB" if need > 1e6 else f"need {need / 1e3:.0f} kB"
        assert text in question.explanation
    graph = rw.Graph()
    graph.output(graph.unfused_attention(*(graph.input(name, (4096, 128), "bf16") for name in "qkv")))
    first, softmax, _ = (op.name for op in graph.ops)
    refusal = Partition.unfused(graph).why_not(first, softmax, chip="h100-sxm")
    assert refusal is not None
    said = printed("attention-softmax-fused-time").explanation
    assert said.endswith(f"{refusal.sentence.replace(f'{graph.ops[0].outputs[0].name}', 'attention.scores')}.")
