"""Exercises on operators: printed answers, and an independent formula for every variant."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tests.teaching.bank.prompts import (
    check_answers,
    check_choice,
    check_drag,
    drawn,
    itemsize,
    keys_of,
    made,
    numbers,
    printed,
    rounds_to,
)

PRINTED = {
    "matmul-macs": "134217728",
    "matmul-bytes": "3145728",
    "fp32-gemm-compute-bound": "303",
    "gemv-intensity": "0.9995",
    "gemv-time": "10.0e-6",
    "layer-batch-intensity": "227.6",
    "model-weights-time": "0.100",
    "model-compute-time": "0.001",
    "model-crossover-batch": "100",
    "convolution-flops": "231211008",
    "convolution-intensity": "264",
    "depthwise-intensity": "4.49",
    "late-convolution-intensity": "24.0",
    "optimizer-intensity": "0.46",
    "adam-step-time": "33.4e-3",
    "cosines-fusion-saving": "2",
    "unary-elements-per-second": "1.94e11",
    "unary-free-flops": "100",
    "fused-share-speed-up": "2.14",
    "launch-equals-memory": "4.19e6",
}
# More numbers that the source prints, by the sizes in the prompt.
PRINTED_VARIANTS = [
    ("matmul-macs", [512, 256, 256, 512], "67108864"),
    ("matmul-bytes", [512, 256, 256, 512], "2097152"),
    ("matmul-bytes", [128, 256, 256, 512], "917504"),
    ("layer-batch-intensity", [8, 4096, 4096, 4096], "7.97"),
    ("layer-batch-intensity", [64, 4096, 4096, 4096], "62.1"),
    ("layer-batch-intensity", [512, 4096, 4096, 4096], "409.6"),
]

Formula = Callable[[list[float], str], float]


def _gemv(rows: float, size: float) -> tuple[float, float]:
    return 2 * rows * rows, size * (rows * rows + 2 * rows)


def _layer(batch: float, inner: float = 4096) -> float:
    return 2 * batch * inner**2 / (2 * (inner**2 + 2 * batch * inner))


def _convolution(n: list[float], size: float) -> float:
    channels, side = n[2], n[4]
    return 2 * channels**2 * side**2 * 9 / (size * (2 * channels * side**2 + 9 * channels**2))


def _optimizer(prompt: str) -> float:
    # (FLOP, numbers that move) for each parameter.
    table = {"AdamW": (15, 7), "Adam": (13, 7), "SGD with momentum": (4, 5), "SGD": (2, 3)}
    name = next(word for word in table if prompt.startswith(word))
    flops, moved = table[name]
    return flops / (4 * moved)


FORMULAS: dict[str, Formula] = {
    "matmul-macs": lambda n, _: n[0] * n[1] * n[3],
    "matmul-bytes": lambda n, _: 4 * (n[0] * n[1] + n[1] * n[3] + n[0] * n[3]),
    "fp32-gemm-compute-bound": lambda n, _: math.ceil(6 * n[0] / n[1]),
    "gemv-intensity": lambda n, text: _gemv(n[0], itemsize(text))[0] / _gemv(n[0], itemsize(text))[1],
    "gemv-time": lambda n, _: _gemv(n[2], 2)[1] / n[1],
    "layer-batch-intensity": lambda n, _: _layer(n[2], n[3]),
    "model-weights-time": lambda n, _: 2 * n[2] / n[1],
    "model-compute-time": lambda n, _: 2 * n[2] / n[0],
    "model-crossover-batch": lambda n, _: n[0] / n[1],
    "convolution-flops": lambda n, _: 18 * n[2] * n[3] * n[4] * n[5],
    "convolution-intensity": lambda n, _: _convolution(n, 2),
    "depthwise-intensity": lambda n, text: 18 * n[4] ** 2 / (itemsize(text) * (2 * n[4] ** 2 + 9)),
    "late-convolution-intensity": lambda n, _: _convolution(n, 4),
    "optimizer-intensity": lambda _, text: _optimizer(text),
    "adam-step-time": lambda n, _: 28 * n[2] / n[1],
    "cosines-fusion-saving": lambda _, text: text.count(".cos()"),
    "unary-elements-per-second": lambda n, _: n[0] / (2 * n[1]),
    "unary-free-flops": lambda n, _: 2 * n[2] * n[0] / n[1],
    "fused-share-speed-up": lambda n, _: 1 / (1 - n[0] / 100 + n[0] / 100 / n[1]),
    "launch-equals-memory": lambda n, _: n[0] * n[1] / (2 * n[2]),
}


@pytest.mark.parametrize(("key", "sizes", "text"), PRINTED_VARIANTS)
def test_other_printed_sizes_are_variants_with_the_printed_answer(key: str, sizes: list[float], text: str) -> None:
    names = ("batch", "inner") if key == "layer-batch-intensity" else ("m", "k", "k", "n")
    assert rounds_to(made(key, **dict(zip(names, map(int, sizes), strict=False))).answer, text)


@pytest.mark.parametrize("key", FORMULAS)
def test_the_answer_is_the_printed_one_and_follows_from_the_prompt_with_any_seed(key: str) -> None:
    check_answers(key, PRINTED[key], lambda prompt: FORMULAS[key](numbers(prompt), prompt))


def test_a_small_batch_is_memory_bound_and_a_large_batch_compute_bound() -> None:
    for question in [printed("gemv-what-binds"), *drawn("gemv-what-binds")]:
        batch = numbers(question.prompt)[2]
        assert question.answer == ("memory bandwidth" if _layer(batch) < 989.5e12 / 3.35e12 else "peak FLOP/s")
        check_choice(question)
    assert printed("gemv-what-binds").answer == "memory bandwidth"
    assert len({question.answer for question in drawn("gemv-what-binds")}) == 2


def test_a_small_kernel_takes_the_time_of_its_launch() -> None:
    for question in [printed("small-kernel-what-binds"), *drawn("small-kernel-what-binds")]:
        elements = numbers(question.prompt)[3]
        assert question.answer == ("launch overhead" if 4 * elements / 3.35e12 < 5e-6 else "memory bandwidth")
        check_choice(question)
    assert printed("small-kernel-what-binds").answer == "launch overhead"
    assert len({question.answer for question in drawn("small-kernel-what-binds")}) == 2


def test_parameters_gradients_and_moments_fit_into_the_memory_of_the_gpu() -> None:
    for question in [printed("adam-step-time"), *drawn("adam-step-time")]:
        assert 16 * numbers(question.prompt)[2] <= 0.9 * 80 * 2**30


def test_the_weights_of_a_served_model_fit_into_its_server() -> None:
    # A server has 1, 4 or 8 GPUs of 80 GiB.
    for question in drawn("model-weights-time"):
        _, bandwidth, parameters, *_ = numbers(question.prompt)
        assert 2 * parameters <= 0.9 * question.params["count"] * 80 * 2**30
        assert bandwidth == pytest.approx(question.params["count"] * question.params["gpu"]["bandwidth"])


def test_a_convolution_with_other_sizes_is_not_said_to_be_that_of_the_tutorial() -> None:
    for question in drawn("late-convolution-intensity"):
        assert question.source.startswith("Layer 4") == ("512 input" in question.prompt and "7 × 7" in question.prompt)


def test_the_dragged_marker_ends_where_a_model_of_the_setup_has_the_kernel() -> None:
    for question in [printed("layer-batch-intensity"), *drawn("layer-batch-intensity")[:8]]:
        check_drag(question)


def test_every_exercise_on_operators_is_checked_here() -> None:
    assert keys_of("operators") == {*FORMULAS, "gemv-what-binds", "small-kernel-what-binds"}
    assert PRINTED.keys() == FORMULAS.keys()
