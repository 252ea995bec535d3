"""Misconceptions: the model of each setup shows the numbers that the truth states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.analysis.result import Bound
from roofwidget.model import RooflineModel
from roofwidget.teaching.misconceptions import misconceptions
from tests.tables import has_columns
from tests.teaching.bank.prompts import check_choice

FOUND = {one.name: one for one in misconceptions()}
SIDE = 4096
PEAK, BANDWIDTH = 989.5e12, 3.35e12


def _bounds(model: RooflineModel) -> list[Bound]:
    return [model.bound(chip.id) for chip in model.all_chips]


def _about(values: Any) -> Any:
    return pytest.approx(values, rel=1e-9)


def _ai(bound: Bound) -> list[float]:
    ai: list[float] = bound.ai[bound.chip.main_memory].tolist()
    return ai


# Each check compares the model with a formula, and returns the numbers that the truth has to state.


def _low_share_of_peak(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    ai = 10 * 134217728 * 2 / 1_610_629_120
    assert _ai(bound) == _about([ai])
    has_columns(
        bound,
        attainable=_about([ai * 7.2e12]),
        peak_fraction=_about([ai * 7.2e12 / 2307e12]),
        roof_fraction=_about([1.0]),
    )
    share = 100 * ai * 7.2e12 / 2307e12
    return [f"{ai:.2f} FLOP/B", f"{ai * 7.2:.0f} TFLOP/s", f"{share:.2f} % of the peak", "100 % of its roof"]


def _memory_bound_is_bad(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    memory, compute = 33.5e6 / BANDWIDTH, 5 * 100 * 33.5e6 / PEAK
    has_columns(bound, time=_about([memory, compute]), bound_by=["HBM", "compute"])
    assert memory < compute
    return [f"{memory * 1e6:.0f} µs", f"{compute * 1e6:.1f} µs"]


def _predicts_speed(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    least = 4 * SIDE**2 / BANDWIDTH
    has_columns(bound, time=_about([least]), roof_fraction=_about([0.25]), measured=_about([4 * least]))
    return [f"{4 * least * 1e6:.1f} µs", f"{least * 1e6:.0f} µs", "25 %"]


def _above_the_roof(model: RooflineModel) -> list[str]:
    bound = model.bound()
    assert _ai(bound) == _about([50])
    has_columns(bound, achieved=_about([1260e12]), attainable=_about([50 * 7.2e12]), above_roof=[True])
    return ["50 FLOP/B", f"{50 * 7.2:.0f} TFLOP/s", "1260 TFLOP/s", f"{1260 / 360:.1f} times"]


def _more_flops(model: RooflineModel) -> list[str]:
    before, after = _bounds(model)
    matmul, gelu = 2 * SIDE**3 / PEAK, 4 * SIDE**2 / BANDWIDTH
    assert before.time.tolist() == _about([matmul, gelu])
    assert after.time.tolist() == _about([matmul / 2, gelu])
    return [f"{matmul / 2 * 1e6:.1f} µs", f"{matmul * 1e6:.0f} µs", f"{gelu * 1e6:.0f} µs"]


def _intensity_of_the_algorithm(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    n, d = 4096, 128
    flops = (4 * d + 5) * n * n
    three, one = flops / (8 * n * d + 8 * n * n), flops / (8 * n * d)
    assert bound.flops.tolist() == [flops, flops]
    assert _ai(bound) == _about([three, one])
    return [f"{three:.1f} FLOP/B", f"{one:.0f} FLOP/B"]


def _under_the_slope(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    assert _ai(bound) == _about([SIDE / 3])
    has_columns(bound, bound_by=["compute"], peak_fraction=_about([0.05]))
    return [f"{SIDE / 3:.0f} FLOP/B", f"{PEAK / BANDWIDTH:.0f} FLOP/B", "5 % of the peak"]


def _multiply_add(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    assert bound.peak_fraction.tolist() == _about([1.0, 0.5])
    assert bound.measured[0] == bound.measured[1]
    return ["100 %", "50 %"]


def _sparse_peak(model: RooflineModel) -> list[str]:
    dense, sparse = _bounds(model)
    assert dense.peak_fraction.tolist() == _about([0.8])
    assert sparse.peak_fraction.tolist() == _about([0.8 * 989.5 / 1979])
    assert [one.chip.ridge_point() for one in (dense, sparse)] == _about([PEAK / BANDWIDTH, 1979e12 / BANDWIDTH])
    return [f"{80 * 989.5 / 1979:.0f} %", f"{1979 / 3.35:.0f} FLOP/B", f"{989.5 / 3.35:.0f} FLOP/B"]


def _binary_prefix(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    decimal, binary = 80e9, 80 * 1024**3
    assert bound.time.tolist() == _about([decimal / BANDWIDTH, binary / BANDWIDTH])
    times = [f"{size / BANDWIDTH * 1e3:.1f} ms" for size in (decimal, binary)]
    return [f"{binary / 1e9:.1f} GB", *times, f"{100 * (1 - decimal / binary):.0f} % less"]


def _bigger_cache(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    n = 1024
    blocked = [2 * n**3 / (8 * (2 * n**3 / side + 2 * n**2)) for side in (64, 256, 1024)]
    assert _ai(bound) == _about([*blocked, 2 / 24])
    return [*(f"{ai:.3g} FLOP/B" for ai in blocked), f"{(256 / 64) ** 2:.0f} times the cache", f"{2 / 24:.4f} FLOP/B"]


def _one_dot(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    matmul, gelu = 2 * SIDE**3 / PEAK, 4 * SIDE**2 / BANDWIDTH
    summed = max((2 * SIDE**3 + 8 * SIDE**2) / PEAK, 10 * SIDE**2 / BANDWIDTH)
    assert bound.time.tolist() == _about([matmul, gelu, summed])
    times = [f"{matmul * 1e6:.0f} µs", f"{gelu * 1e6:.0f} µs", f"{(matmul + gelu) * 1e6:.0f} µs"]
    return [*times, f"{summed * 1e6:.1f} µs"]


def _other_ridge(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    chip = bound.chip
    ridges = [2307 / 7.2, 4614 / 7.2]
    assert [chip.ridge_point("bf16"), chip.ridge_point("fp8")] == _about(ridges)
    assert _ai(bound) == _about([512])
    assert bound.bound_by.tolist() == ["compute"]
    # No answer depends on a few per cent of a rate.
    assert 1.1 * ridges[0] < 512 < 0.9 * ridges[1]
    return [f"{ai:.0f} FLOP/B" for ai in (512, *ridges)]


def _int8_weights(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    d, batch = 8192, 160
    ais = [2 * batch * d * d / (weight * d * d + 4 * batch * d) for weight in (1, 2)]
    assert _ai(bound) == _about(ais)
    assert bound.bound_by.tolist() == ["compute", "HBM"]
    ridge = 1.97e14 / 8.2e11
    return [f"is {ridge / 2:.0f} instead of {ridge:.0f}", *(f"{ai:.0f} FLOP/B" for ai in ais)]


def _more_cores(model: RooflineModel) -> list[str]:
    few, many = _bounds(model)
    bandwidth = 74e9 / 4.4
    for bound in (few, many):
        has_columns(bound, attainable=_about([bandwidth / 6]), bound_by=["DRAM"])
    assert [few.chip.ridge_point(), many.chip.ridge_point()] == _about([4.4, 8.8])
    rates = [f"{bandwidth / 1e9:.1f} GB/s", f"{bandwidth / 6e9:.1f} GFLOP/s"]
    return [f"{1 / 6:.3f} FLOP/B", *rates, "4.4 FLOP/B", "8.8 FLOP/B"]


def _fusion_always(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    # Elementwise work runs on the vector units: 132 SMs with 256 fp32 FLOP in each of 1.98e9 cycles per second.
    n, vector = 2**24, 132 * 256 * 1.98e9
    assert bound.chip.peak("fp32") == pytest.approx(vector, rel=2e-3)
    costly, fused, all_three = (flops * n / 67e12 for flops in (200, 201, 202))
    reader = 4 * n / BANDWIDTH
    has_columns(bound, time=_about([costly, reader, reader, fused, fused, all_three]))
    assert 2 * fused > costly + 2 * reader > all_three > 6 * n / BANDWIDTH
    times = [costly, costly + 2 * reader, fused, 2 * fused, all_three]
    return [f"twice {reader * 1e6:.0f} µs", *(f"{seconds * 1e6:.1f} µs" for seconds in times)]


def _before_a_product(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    # 8192 x 8192 weights of 4 bits, or of 2 B; 16 rows of 8192 numbers of 2 B enter, and as many leave.
    stored, made, rows = 8192**2 / 2, 2 * 8192**2, 2 * 16 * 8192
    moved = [stored + made, made + 2 * rows, stored + 2 * rows]
    times = [one / BANDWIDTH for one in moved]
    has_columns(bound, time=_about(times), bound_by=["HBM"] * 3)
    # The same from the model of kernels: the scaling runs once, because 16 rows are one row of tiles.
    graph = rw.Graph("scaled weights")
    weights = graph.input("Q", (8192, 8192), "int4")
    scaled = graph.cast(weights, "bf16", name="scale")
    graph.output(graph.matmul(graph.input("x", (16, 8192), "bf16"), scaled, name="product"))
    best = rw.Partition.best(graph, "h100-sxm")
    assert (rw.Partition.unfused(graph).total_bytes(), best.total_bytes()) == (sum(moved[:2]), moved[2])
    assert (best.groups, best.form("product", "h100-sxm").times) == ((("scale", "product"),), {})
    sizes = [f"{size / 1e6:.1f} MB" for size in (sum(moved[:2]), moved[2])]
    return [*sizes, *(f"{seconds * 1e6:.1f} µs" for seconds in (*times, sum(times[:2])))]


def _fewest_bytes(model: RooflineModel) -> list[str]:
    (bound,) = _bounds(model)
    x, y = 4096 * 4096, 4096 * 16384
    # A LayerNorm takes 6 FLOP for each number and 3 for each row, once for each 128 columns of the result. The vector
    # units of an H100: 132 SMs with 512 FLOP in each of 1.98e9 cycles per second.
    again = 16384 / 128 * (6 * x + 3 * 4096) / (132 * 512 * 1.98e9)
    norm, product = 4 * x / BANDWIDTH, 2 * 4096 * y / PEAK
    times = [norm, product, product + again]
    has_columns(bound, time=_about(times), bound_by=["HBM", "compute", "compute"])
    weights = 4096 * 16384
    assert [f"{moved / 1e6:.0f}" for moved in (2 * (x + weights + y), 2 * (3 * x + weights + y))] == ["302", "369"]
    assert model.kernels.bytes.tolist() == [4 * x, *[2 * (x + weights + y)] * 2]
    return [*(f"{seconds * 1e6:.0f} µs" for seconds in (*times[:2], norm + product, times[2])), "128 times"]


CHECKS: dict[str, Callable[[RooflineModel], list[str]]] = {
    "low-share-of-peak": _low_share_of_peak,
    "memory-bound-is-bad": _memory_bound_is_bad,
    "roofline-predicts-speed": _predicts_speed,
    "dot-above-the-roof": _above_the_roof,
    "more-flops-help-everything": _more_flops,
    "intensity-of-the-algorithm": _intensity_of_the_algorithm,
    "slow-means-memory-bound": _under_the_slope,
    "multiply-add-counts-once": _multiply_add,
    "sparse-peak": _sparse_peak,
    "gb-is-gib": _binary_prefix,
    "bigger-cache-raises-intensity": _bigger_cache,
    "program-as-one-dot": _one_dot,
    "ridge-of-another-precision": _other_ridge,
    "int8-weights-keep-the-batch": _int8_weights,
    "more-cores-fix-memory-bound": _more_cores,
    "fusion-always-helps": _fusion_always,
    "product-begins-a-kernel": _before_a_product,
    "fewest-bytes-are-fastest": _fewest_bytes,
}


def test_every_misconception_is_checked_here_and_has_a_name_of_its_own() -> None:
    assert list(FOUND) == list(CHECKS)
    assert len(misconceptions()) == len(FOUND)


@pytest.mark.parametrize("name", CHECKS)
def test_a_model_of_the_setup_shows_the_numbers_that_the_truth_states(name: str) -> None:
    stated = CHECKS[name](RooflineModel(**FOUND[name].setup))
    assert [text for text in stated if text not in FOUND[name].truth] == []


@pytest.mark.parametrize("name", CHECKS)
def test_the_belief_is_a_wrong_option_and_every_wrong_option_says_why(name: str) -> None:
    found = FOUND[name]
    assert found.belief in found.question.options
    assert found.belief != found.question.answer
    check_choice(found.question)


@pytest.mark.parametrize("name", CHECKS)
def test_the_question_explains_the_truth_and_brings_the_setup(name: str) -> None:
    found = FOUND[name]
    assert found.question.explanation == found.truth
    assert found.question.setup == found.setup
    assert found.question.source


def test_a_kernel_far_below_its_flat_roof_is_held_back_by_neither_roof() -> None:
    question = FOUND["slow-means-memory-bound"].question
    peak = "The peak FLOP/s, because it is right of the ridge point."
    assert not question.check(peak).correct
    assert "names its roof" in question.check(peak).message
    assert question.answer == "Neither roof: look for launches, small tiles or idle units."


def test_a_dot_above_its_roof_may_have_counted_bytes_that_came_from_a_cache() -> None:
    found = FOUND["dot-above-the-roof"]
    assert found.question.answer == "Not all its bytes came from this memory, or a figure is wrong."
    assert "some came from a cache" in found.truth


def test_one_dot_is_the_time_if_one_limit_holds_for_all_kernels() -> None:
    found = FOUND["program-as-one-dot"]
    assert "if one limit holds for all kernels" in found.question.check(found.belief).message
    # Two memory-bound kernels: one dot has the sum of their times.
    chip = rw.Chip("chip", {"bf16": 1e12}, {"HBM": 1e12})
    two = rw.bound([("a", 1, 5), ("b", 2, 7)], chip).total_time
    assert two == pytest.approx(rw.bound([("a and b", 3, 12)], chip).total_time)


def test_the_keys_of_the_questions_differ_from_those_of_the_bank() -> None:
    assert all(one.question.key == f"misconception-{name}" for name, one in FOUND.items())


def test_elementwise_work_that_bounds_a_kernel_is_judged_by_the_vector_units() -> None:
    # Without matrix products no kernel reaches the peak of the tensor cores.
    kernels = FOUND["fusion-always-helps"].setup["kernels"]
    assert {one.precision for one in kernels} == {"fp32"}
    (chip,) = FOUND["fusion-always-helps"].setup["chips"]
    assert chip.peak("fp32") == 67e12
    assert "67 TFLOP/s" in FOUND["fusion-always-helps"].question.prompt
