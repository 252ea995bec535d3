"""Exercises on ridge points and sizes: the printed answers, and an independent formula of each prompt's numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

import roofwidget as rw
from tests.teaching.bank.prompts import SEEDS, answers_by_prompt, bank, numbers

PRINTED = {
    "ridge-point": "166.3",
    "ridge-point-of-a-gpu": "295",
    "compute-time": "1.01e-3",
    "square-matmul-size": "499",
    "square-matmul-size-of-other-elements": "962",
    "square-matmul-rate": "1440e12",
    "square-matmul-share-of-peak": "62",
    "square-matmul-bandwidth": "11.535e12",
    "critical-batch": "240",
    "critical-batch-int8": "243",
    "critical-batch-int8-weights": "120",
    "critical-batch-of-a-data-sheet": "298",
    "critical-batch-of-a-layer": "345",
    "critical-batch-against-its-rule": "17",
    "matrix-for-each-row-intensity": "2.000000000",
    "int8-layer-from-hbm": "263",
    "int8-layer-from-vmem": "12",
    "weights-over-pcie": "61333",
}


CHOICES = {
    "ridge-point-of-a-precision": "The bf16 peak",
    "square-matmul-limit": "The peak FLOP/s",
    "matrix-for-each-row-limit": "At no batch",
}


def layer(ridge: float, rows: float, columns: float, itemsize: int) -> float:
    """Return the B of 2 B D F = R e (B D + D F + B F)."""
    moved = ridge * itemsize
    return moved * rows * columns / (2 * rows * columns - moved * (rows + columns))


FORMULAS: dict[str, Callable[..., float]] = {
    "ridge-point": lambda p, b: p / b,
    "ridge-point-of-a-gpu": lambda p, b: p / b,
    "compute-time": lambda p, f: f / p,
    "square-matmul-size": lambda p, b, e: math.ceil(1.5 * e * p / b),
    "square-matmul-size-of-other-elements": lambda p, b, e: math.ceil(1.5 * e * p / b),
    "square-matmul-rate": lambda p, b, n, _: min(p, b * n / 3),
    "square-matmul-share-of-peak": lambda p, b, n, _n, e: 100 * min(1, b * 2 * n / (3 * e) / p),
    "square-matmul-bandwidth": lambda p, _b, n, _n, e, _ai: 3 * e * p / (2 * n),
    "critical-batch": lambda p, b, e: p / b * e / 2,
    "critical-batch-int8": lambda p, b, e: p / b * e / 2,
    "critical-batch-int8-weights": lambda p, b, e: p / b * e / 2,
    "critical-batch-of-a-data-sheet": lambda p, b: p / 2 // b,
    "critical-batch-of-a-layer": lambda p, b, d, _d, f: layer(p / b, d, f, 2),
    "critical-batch-against-its-rule": lambda p, b, d, f: 100 * (layer(p / b, d, f, 2) / (p / b) - 1),
    "matrix-for-each-row-intensity": lambda bits: 16 / bits,
    "int8-layer-from-hbm": lambda p, b, d, _d, f, e: math.ceil(layer(p / b, d, f, int(e))),
    "int8-layer-from-vmem": lambda p, b, d, _d, f, e: math.ceil(layer(p / b, d, f, int(e))),
    "weights-over-pcie": lambda p, b: p / b,
}


def test_a_made_up_chip_has_a_ridge_point_of_100_to_600_and_three_digits() -> None:
    for prompt in answers_by_prompt("ridge-point"):
        peak, bandwidth = numbers(prompt)
        assert prompt.startswith("Chip A computes ")
        assert 0.995 * 100 <= peak / bandwidth <= 1.005 * 600
        assert float(f"{peak:.3g}") == pytest.approx(peak)
        assert round(bandwidth / 1e11) in range(8, 100)
        assert bandwidth / 1e11 == pytest.approx(round(bandwidth / 1e11))


def test_a_chip_with_a_real_name_has_the_figures_of_the_catalogue() -> None:
    chips = {rw.chip(name).peak("bf16") for name in ("h100-sxm", "a100-sxm-80gb", "h200-sxm", "b200")}
    assert {numbers(prompt)[0] for prompt in answers_by_prompt("compute-time")} == chips


def test_the_elements_of_a_product_have_the_size_of_the_format_that_it_computes_in() -> None:
    sizes = {"bf16": 2, "fp8": 1}
    for key in ("square-matmul-size", "square-matmul-share-of-peak", "square-matmul-bandwidth"):
        for prompt in answers_by_prompt(key):
            computed = re.findall(r"in (bf16|fp8) and transfers", prompt)[0]
            assert f"{sizes[computed]} byte" in prompt
    for prompt in answers_by_prompt("square-matmul-size-of-other-elements"):
        assert re.search(r"multiplied in fp8\. .* is stored in (fp8 \(1|bf16 \(2|fp32 \(4|fp64 \(8) byte", prompt)


def test_a_layer_that_is_read_from_vmem_fits_into_it() -> None:
    for seed in (None, *SEEDS):
        question = bank(seed)["int8-layer-from-vmem"]
        *_, rows, _, columns, _ = numbers(question.prompt)
        held = rows * columns + question.answer * (rows + columns)
        assert held <= 0.8 * 128 * 2**20  # VMEM of a TPU v5e


def test_what_limits_a_square_product_follows_from_a_third_of_its_size() -> None:
    found = answers_by_prompt("square-matmul-limit")
    for prompt, answer in found.items():
        peak, bandwidth, n, _ = numbers(prompt)
        assert answer == ("The peak FLOP/s" if n / 3 > peak / bandwidth else "The HBM bandwidth")
        assert abs(math.log(n / 3 / (peak / bandwidth))) > math.log(1.1)
    assert (len(found), len(set(found.values()))) == (12, 2)


def test_a_bf16_kernel_is_judged_by_the_ridge_point_of_bf16() -> None:
    found = answers_by_prompt("ridge-point-of-a-precision")
    for prompt, answer in found.items():
        bf16, fp8, ai = numbers(prompt)
        assert all(abs(math.log(ai / ridge)) > math.log(1.1) for ridge in (bf16, fp8))
        assert answer == ("The bf16 peak" if ai > bf16 else "The HBM bandwidth")
    assert (len(found), len(set(found.values()))) == (6, 2)


def test_no_batch_makes_products_with_a_matrix_for_each_row_compute_bound() -> None:
    found: dict[str, Any] = answers_by_prompt("matrix-for-each-row-limit")
    assert (len(found), set(found.values())) == (3, {"At no batch"})


@pytest.mark.parametrize(("key", "itemsize"), [("critical-batch-of-a-layer", 2), ("int8-layer-from-hbm", 1)])
def test_the_rule_that_counts_only_weights_is_no_right_answer_for_a_layer_of_finite_size(
    key: str, itemsize: int
) -> None:
    for seed in SEEDS:
        question = bank(seed)[key]
        peak, bandwidth, *_ = numbers(question.prompt)
        assert not question.check(peak / bandwidth * itemsize / 2).correct
