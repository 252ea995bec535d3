"""The sizes at which a matrix product reaches the ridge point: printed sizes, exercises, agreement with `bound`."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.analysis.network import collective_time
from roofwidget.analysis.sizing import critical_batch, critical_batch_per_chip, smallest_square_matmul
from tests.places import golden

PRINTED: dict[str, Any] = golden("guide.json")
H100 = rw.Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})
V5E = rw.Chip("v5e", {"bf16": 1.97e14, "int8": 3.94e14}, {"HBM": 8.2e11})
V5P = rw.Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12}, links={"ICI": 6 * 9e10})
V5E_INT8 = rw.Chip("v5e", {"int8": 3.94e14}, {"HBM": 8.1e11, "VMEM": 22 * 8.1e11})

rates = st.floats(1e9, 1e18)


def chip_of(peak: float, bandwidth: float) -> rw.Chip:
    return rw.Chip("chip", {"bf16": peak}, {"HBM": bandwidth})


def square(n: int, itemsize: float = 2) -> rw.Kernel:
    return rw.Kernel("square", 2 * n**3, 3 * n * n * itemsize)


# -- square matrices ---------------------------------------------------------------------------------------------------


def test_the_first_compute_bound_sizes_of_the_guides_chips_are_one_above_those_it_prints() -> None:
    chips = rw.preset("tpu-roofline-guide").chips
    assert [smallest_square_matmul(chip) for chip in chips] == [1923, 962, 1722, 499]
    printed = {row["name"]: row["size"] for row in PRINTED["sizes"]}
    assert [int(3 * chip.ridge_point()) for chip in chips] == [1922, 961, 1721, 498]
    assert {chip.name: smallest_square_matmul(chip) - 1 for chip in chips if chip.name in printed} == printed


def test_the_first_compute_bound_fp32_size_of_an_a6000_is_303() -> None:
    a6000 = rw.Chip("A6000", {"fp32": 38.7e12}, {"GDDR6": 768e9})
    assert smallest_square_matmul(a6000, itemsize=4) == 303


@given(peak=rates, bandwidth=rates, itemsize=st.sampled_from([0.5, 1, 2, 4, 8]))
def test_bound_says_compute_for_that_size_and_memory_for_the_one_below(
    peak: float, bandwidth: float, itemsize: float
) -> None:
    chip = chip_of(peak, bandwidth)
    n = smallest_square_matmul(chip, itemsize=itemsize)
    assert rw.bound(square(n, itemsize), chip).regime.tolist() == ["compute"]
    assert n == 1 or rw.bound(square(n - 1, itemsize), chip).regime.tolist() == ["memory"]


@pytest.mark.parametrize("n", [1, 3, 300, 3**12])
def test_a_size_on_the_ridge_point_itself_is_compute_bound(n: int) -> None:
    assert smallest_square_matmul(chip_of(n, 3), itemsize=2) == n
    assert smallest_square_matmul(chip_of(math.nextafter(n, 2 * n), 3), itemsize=2) == n
    assert smallest_square_matmul(chip_of(n * (1 + 1e-9), 3), itemsize=2) == n + 1


def test_precision_and_memory_choose_the_ridge_point() -> None:
    chip = rw.Chip("chip", {"bf16": 100, "fp32": 50}, {"HBM": 1, "L2": 10})
    asked = [{}, {"precision": "fp32"}, {"memory": "L2"}, {"itemsize": 4}]
    assert [smallest_square_matmul(chip, **choice) for choice in asked] == [300, 150, 30, 600]  # type: ignore[arg-type]
    assert smallest_square_matmul("v5p") == math.ceil(3 * rw.chip("v5p").ridge_point())


# -- batches -----------------------------------------------------------------------------------------------------------


def test_the_critical_batch_of_a_v5e_is_240_and_120_with_int8_weights() -> None:
    assert round(critical_batch(V5E), 1) == 240.2
    assert round(critical_batch(V5E, weight_bytes=1), 1) == 120.1


def test_int8_arithmetic_on_int8_weights_needs_243() -> None:
    assert round(critical_batch(V5E_INT8, weight_bytes=1), 1) == 243.2


def test_the_critical_batch_of_an_h100_with_a_round_peak_is_298() -> None:
    assert math.floor(critical_batch(rw.Chip("H100", {"bf16": 1e15}, {"HBM": 3.35e12}))) == 298


def test_a_layer_of_4096_by_4096_on_an_h100_needs_17_percent_more_than_the_rule() -> None:
    exact = critical_batch(H100, 4096, 4096)
    assert round(exact, 1) == 344.9
    assert f"{exact / critical_batch(H100) - 1:.0%}" == "17%"


def test_an_int8_layer_of_16384_by_4096_needs_263_from_hbm_and_12_from_vmem() -> None:
    one_byte = {"weight_bytes": 1, "activation_bytes": 1, "output_bytes": 1}
    from_hbm = critical_batch(V5E_INT8, 4096, 16384, **one_byte)  # type: ignore[arg-type]
    from_vmem = critical_batch(V5E_INT8, 4096, 16384, memory="VMEM", **one_byte)  # type: ignore[arg-type]
    assert (round(from_hbm, 1), round(from_vmem, 2)) == (262.7, 11.09)
    assert (math.ceil(from_hbm), math.ceil(from_vmem)) == (263, 12)


def test_a_layer_too_small_for_its_chip_is_compute_bound_at_no_batch() -> None:
    assert critical_batch(H100, 128, 128) == math.inf
    # At the limit the FLOPs of a sample take as long as its activations, and the weights need extra time.
    assert critical_batch(chip_of(100, 1), 200, 200) == math.inf
    # Half a FLOP per sample is left for the weights.
    assert critical_batch(chip_of(1, 1), 1, 1, activation_bytes=0.75) == 4


@given(
    d=st.integers(1, 10**5),
    f=st.integers(1, 10**5),
    sizes=st.tuples(*[st.sampled_from([0.5, 1, 2, 4])] * 3),
)
def test_bound_changes_sides_at_the_critical_batch(d: int, f: int, sizes: tuple[float, float, float]) -> None:
    w, e, o = sizes
    batch = critical_batch(H100, d, f, weight_bytes=w, activation_bytes=e, output_bytes=o)

    def layer(b: float) -> rw.Kernel:
        return rw.Kernel("layer", 2 * b * d * f, b * d * e + d * f * w + b * f * o)

    if math.isinf(batch):
        assert rw.bound(layer(1e9), H100).regime[0] == "memory"
    else:
        below_above = rw.bound([layer(batch * (1 - 1e-6)), layer(batch * (1 + 1e-6))], H100)
        assert below_above.regime.tolist() == ["memory", "compute"]
        assert batch > critical_batch(H100, weight_bytes=w)


def test_outputs_are_as_wide_as_inputs_unless_told() -> None:
    def of(**sizes: float) -> float:
        return critical_batch(H100, 4096, 4096, **sizes)  # type: ignore[arg-type]

    assert of(activation_bytes=1) == of(activation_bytes=1, output_bytes=1) < of(activation_bytes=1, output_bytes=4)


# -- data-parallel training --------------------------------------------------------------------------------------------


def test_a_v5p_needs_2550_tokens_a_chip_to_hide_its_gradients_along_one_axis_of_the_torus() -> None:
    v5p = rw.Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12}, links={"ICI": 6 * 9e10})
    assert critical_batch_per_chip(v5p, bandwidth=2 * 9e10) == 2550
    assert critical_batch_per_chip(v5p) == 850
    assert critical_batch_per_chip(v5p, gradient_bytes=4) == 1700


def test_a_bandwidth_and_sizes_of_elements_may_be_text_with_a_unit() -> None:
    v5p = rw.Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12})
    assert critical_batch_per_chip(v5p, bandwidth="180 GB/s", gradient_bytes="2 B") == 2550
    assert smallest_square_matmul(H100, itemsize="4 B") == smallest_square_matmul(H100, itemsize=4)
    sizes = {"weight_bytes": 1, "activation_bytes": 2, "output_bytes": 4}
    as_text = {name: f"{size} B" for name, size in sizes.items()}
    assert critical_batch(H100, 4096, 4096, **as_text) == critical_batch(H100, 4096, 4096, **sizes)  # type: ignore[arg-type]


def test_at_that_batch_the_gradients_travel_for_as_long_as_the_backward_pass_computes() -> None:
    v5p = rw.Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12})
    d, f = 8192, 28672
    batch = critical_batch_per_chip(v5p, bandwidth=2 * 9e10)
    travel = float(collective_time("all-reduce", 2 * d * f, 16, 9e10, topology="ring-both-ways"))
    assert 4 * batch * d * f / v5p.peak() == pytest.approx(travel, rel=1e-12)


def test_a_chip_without_a_link_says_so() -> None:
    with pytest.raises(rw.MissingFigureError, match=r"H100 has no .*link"):
        critical_batch_per_chip(H100)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda: critical_batch(H100, 4096), ValueError, "both d and f, or neither: f is missing"),
        (lambda: critical_batch(H100, f=4096), ValueError, "both d and f, or neither: d is missing"),
        (lambda: critical_batch(H100, 0, 1), ValueError, "d must be a finite number above zero"),
        (lambda: critical_batch(H100, weight_bytes=-1), ValueError, "weight_bytes must be a finite number above zero"),
        (lambda: critical_batch(H100, output_bytes=math.nan), ValueError, "output_bytes must be a finite number"),
        (
            lambda: critical_batch(H100, activation_bytes=0),
            ValueError,
            "^activation_bytes must be a finite number above",
        ),
        (lambda: critical_batch_per_chip(V5P, gradient_bytes=0), ValueError, "^gradient_bytes must be a finite number"),
        (lambda: critical_batch(H100, 1, 0), ValueError, "^f must be a finite number above zero"),
        (lambda: critical_batch(H100, 10**400, 1), ValueError, "^d: an integer of more than 20 digits does not fit"),
        (lambda: smallest_square_matmul(H100, itemsize=0), ValueError, "itemsize must be a finite number above zero"),
        (lambda: smallest_square_matmul(H100, itemsize="2 s"), ValueError, "^itemsize: 's' is not a unit of B"),
        (lambda: smallest_square_matmul(H100, itemsize=True), TypeError, "^itemsize: expected a number or text"),
        (lambda: critical_batch(H100, "4 k", 1), TypeError, "^d must be a number, got '4 k'"),  # type: ignore[arg-type]
        (lambda: critical_batch_per_chip(H100, bandwidth="1 GB"), ValueError, "^bandwidth: 'GB' is not a unit of B/s"),
        (lambda: critical_batch_per_chip(H100, bandwidth=0), ValueError, "^bandwidth must be a finite number above"),
        (lambda: smallest_square_matmul(H100, precision="fp8"), rw.MissingFigureError, "no peak for precision 'fp8'"),
        (lambda: critical_batch(H100, memory="L2"), rw.MissingFigureError, "no memory 'L2'"),
        (lambda: smallest_square_matmul(H100, item_size=2), TypeError, "did you mean 'itemsize'"),  # type: ignore[call-arg]
    ],
)
def test_what_cannot_be_is_named(asked: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asked()
