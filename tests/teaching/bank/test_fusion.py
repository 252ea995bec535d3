"""Exercises on fusion: the printed answers, and an independent formula of each prompt's numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from roofwidget.workloads.partition import Partition
from tests.teaching.bank.prompts import SEEDS, answers_by_prompt, bank, made, numbers

PRINTED = {
    "layernorm-intensity": "1.667",
    "layernorm-roof": "12.0e12",
    "layernorm-share-of-peak": "0.52",
    "layernorm-place": "1.667",
    "chain-intensity": "1.250000000",
    "chain-bytes": "4.29e9",
    "chain-roof": "36e12",
    "chain-place": "5.000000000",
    "residual-bytes-unfused": "4.83e9",
    "residual-bytes-fused": "1.61e9",
    "residual-speed-up": "3.000000000",
    "residual-of-the-own-input-speed-up": "4.500000000",
    "unpack-and-product-bytes": "8.88",
    "norm-before-product-runs": "64",
}


FORMULAS: dict[str, Callable[..., float]] = {
    "layernorm-intensity": lambda f, passes, e: f / (passes * e),
    "layernorm-roof": lambda f, passes, e, p, b: min(p, b * f / (passes * e)),
    "layernorm-share-of-peak": lambda f, passes, e, p, b: 100 * min(1, b * f / (passes * e) / p),
    "layernorm-place": lambda f, passes, e: f / (passes * e),
    "chain-intensity": lambda _n, e, f, kernels: f / (2 * kernels * e),
    "chain-bytes": lambda n, e, _f, kernels: 2 * n * e * kernels,
    "chain-roof": lambda _n, e, f, p, b, kernels: min(p, b * f / (2 * kernels * e)),
    "chain-place": lambda _n, e, f, kernels: f / (2 * kernels * e),
    "residual-bytes-unfused": lambda ops, n, e: (2 * ops + 3) * n * e,
    "residual-bytes-fused": lambda _ops, n, e: 3 * n * e,
    "residual-speed-up": lambda ops: (2 * ops + 3) / 3,
    "residual-of-the-own-input-speed-up": lambda ops: (2 * ops + 3) / 2,
    "unpack-and-product-bytes": lambda m, k, _k, n, e: 1 + 2 * e * k * n / (k * n / 2 + e * m * (k + n)),
    "norm-before-product-runs": lambda _m, _k, _also_k, n, _e, side, _side: n / side,
}


def test_the_chain_in_four_two_and_one_kernels_has_the_printed_bytes_and_roofs() -> None:
    at_once = {"elements": 2**28, "dtype": "bf16"}
    moved = [round(made("chain-bytes", kernels=kernels, **at_once).answer / 1e9, 2) for kernels in (4, 2, 1)]
    assert moved == [4.29, 2.15, 1.07]
    guide = {"precision": "bf16", "peak": 2307e12, "bandwidth": 7.2e12}
    roofs = [round(made("chain-roof", kernels=kernels, chip=guide).answer / 1e12) for kernels in (4, 2, 1)]
    assert roofs == [9, 18, 36]
    assert bank(None)["chain-roof"].answer == 5 * 7.2e12


@pytest.mark.parametrize(("key", "unfused", "fused"), [("chain-merge", 8, 2), ("residual-merge", 9, 2)])
def test_a_merge_is_right_only_if_the_tensors_between_the_ops_stay_on_chip(key: str, unfused: int, fused: int) -> None:
    for seed in (None, *SEEDS):
        question = bank(seed)[key]
        graph = question.graph
        assert graph is not None
        assert question.check([[op.name for op in graph.ops]]).correct
        tensor = graph.count("compulsory") / fused
        assert Partition(graph, question.answer).total_bytes() == fused * tensor
        assert graph.count("bytes") == (unfused if seed is None else 2 * len(graph.ops) + (key[0] == "r")) * tensor
        halves = [[op.name for op in graph.ops[:2]], [op.name for op in graph.ops[2:]]]
        assert not question.check(halves).correct


def test_a_layernorm_at_its_roof_gains_only_from_fewer_bytes() -> None:
    found = answers_by_prompt("layernorm-yardstick")
    assert len(found) == 3
    assert set(found.values()) == {"Fuse it with its neighbours, so that it moves fewer bytes"}


def test_a_norm_belongs_in_the_kernel_of_a_memory_bound_product_but_not_of_a_compute_bound_one() -> None:
    found = answers_by_prompt("norm-in-the-kernel-of-a-product")
    assert len(found) == 5
    for prompt, answer in found.items():
        peak, bandwidth, m, k, _k, n, e, side, flops, vector = numbers(prompt)
        product, norm = 2 * m * k * n / peak, flops * m * k / vector
        ends = e * (m * k + k * n + m * n)
        apart = max(norm, 2 * e * m * k / bandwidth) + max(product, ends / bandwidth)
        together = max(product + n / side * norm, ends / bandwidth)
        assert answer == ("One kernel for both" if together < apart else "One kernel for each")
        assert abs(apart / together - 1) > 0.04
    assert bank(None)["norm-in-the-kernel-of-a-product"].answer == "One kernel for each"
    assert set(found.values()) == {"One kernel for both", "One kernel for each"}
