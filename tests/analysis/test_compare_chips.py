"""The same kernels on several chips: sums and perfect overlap, speed-ups, and kernels whose regime changes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.analysis.compare_chips import Comparison, Flip, compare_chips
from tests.tables import has_columns

H100 = rw.Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})
LINK = {"Link": 50.0}

amounts = st.one_of(st.just(0.0), st.floats(1e3, 1e15))
rates = st.floats(1e9, 1e15)


def chip(name: str, peak: float = 100, bandwidth: float = 10) -> rw.Chip:
    return rw.Chip(name, {"bf16": peak}, {"HBM": bandwidth}, links=LINK)


@pytest.fixture
def guide() -> Comparison:
    preset = rw.preset("tpu-roofline-guide")
    by_name = {chip.name: chip for chip in preset.chips}
    return compare_chips(preset.kernels, [by_name["v5p"], by_name["v7x (bf16)"]])


# -- a program's time --------------------------------------------------------------------------------------------------


def test_a_gemm_and_an_unfused_gelu_take_159_us_as_a_sum_and_139_us_as_perfect_overlap() -> None:
    n = 4096
    gemm = rw.Kernel("GEMM", 2 * n**3, 3 * n * n * 2)
    gelu = rw.Kernel("GELU", 8 * n * n, 2 * n * n * 2)
    both = compare_chips([gemm, gelu], [H100])
    assert f"{both.time[0] * 1e6:.1f}" == "159.0"
    assert f"{both.perfect_overlap[0] * 1e6:.1f}" == "139.1"
    one_dot = rw.Kernel("both", gemm.flops + gelu.flops, gemm.bytes + gelu.bytes)  # type: ignore[operator]
    assert both.perfect_overlap[0] == pytest.approx(rw.bound(one_dot, H100).time[0], rel=1e-15)


def test_a_program_that_is_80_percent_memory_bound_and_fused_3_times_is_2_14_times_faster() -> None:
    rest = rw.Kernel("rest", 20, 0)
    before, after = (compare_chips([rest, ("chain", 0, moved)], [chip("chip", 1, 1)]).time[0] for moved in (80, 80 / 3))
    assert f"{before / after:.2f}" == "2.14"


def test_time_is_the_sum_over_kernels_and_speedup_the_ratio_of_two_chips() -> None:
    both = compare_chips([("matmul", 400, 10), ("copy", 0, 10)], [chip("slow"), chip("fast", 400, 20), chip("same")])
    assert both.labels == ("slow", "fast", "same")
    has_columns(both, kernel_time=[[4, 1, 4], [1, 0.5, 1]], time=[5, 1.5, 5])
    assert both.speedup[0, 1] == 5 / 1.5
    assert both.speedup[1, 0] == 1.5 / 5
    assert np.diag(both.speedup).tolist() == [1, 1, 1]
    assert both.speedup[0, 2] == 1


def test_a_kernel_unknown_on_one_chip_is_left_out_on_all_of_them() -> None:
    with_l2 = rw.Chip("with L2", {"bf16": 100}, {"HBM": 10, "L2": 50})
    kernels = [("told", 100, 20), rw.Kernel("L2 only", 100, {"L2": 1000}), ("?", None, 10)]
    both = compare_chips(kernels, [with_l2, chip("without")], memory="all", launch_overhead=1.5)
    has_columns(both, kernel_time=[[2, 2], [20, np.nan], [np.nan, np.nan]], known=[True, False, False])
    assert both.unknown == ("L2 only", "?")
    assert both.time.tolist() == both.perfect_overlap.tolist() == [2, 2]
    assert both.flips == (), "unknown is no side"
    assert "left out of all times, because a bound is unknown: L2 only; ?" in repr(both)


def test_a_kernel_of_which_one_chip_lacks_the_peak_hides_no_other() -> None:
    both = compare_chips(
        rw.Kernels(["a", "b"], {"fp64_matrix": [100, np.nan], "bf16": [np.nan, 100]}, [1, 1]),
        [rw.Chip("AMD", {"bf16": 100, "fp64_matrix": 50}, {"HBM": 10}), chip("other")],
    )
    np.testing.assert_array_equal(both.kernel_time, [[2, np.nan], [1, 1]])
    assert both.unknown == ("a",)
    assert both.bounds[1].flops.tolist() == [100, 100]
    assert both.bounds[1].notes == ("1 kernel needs a figure that other lacks, such as the peak of its precision.",)


def test_a_comparison_has_the_remarks_that_the_bounds_make_each_once() -> None:
    apart = rw.Chip("apart", {"bf16": 100, "bf16_vector": 10}, {"HBM": 10})
    vector = rw.Kernels(["gelu"], {"vector": [100]}, [20])
    both = compare_chips(vector, [apart, chip("plain"), (chip("plain"), "bf16")])
    charged = "plain has no separate peak for vector FLOPs: they are charged to the bf16 peak."
    assert both.bounds[1].notes == (charged,)
    assert both.notes == ("changes sides: gelu (compute on apart, memory on plain, memory on plain (bf16))", charged)
    assert repr(both).endswith(charged)
    assert charged in both._repr_html_()
    assert compare_chips(vector, [apart]).notes == ()


def test_no_kernels_take_no_time_and_have_no_speedup() -> None:
    none = compare_chips([], [chip("a"), chip("b")])
    assert none.time.tolist() == none.perfect_overlap.tolist() == [0, 0]
    assert np.isnan(none.speedup).all()
    assert none.kernel_time.shape == (0, 2)
    assert (none.flips, none.unknown) == ((), ())
    assert "unknown" in repr(none)


@given(
    rows=st.lists(st.tuples(amounts, amounts, amounts, st.integers(1, 5)), min_size=1, max_size=5),
    peak=rates,
    bandwidth=rates,
    overlap=st.floats(0, 1),
    launch=st.floats(0, 1e3),
)
def test_perfect_overlap_is_never_longer_than_the_sum_nor_shorter_than_any_kernel_under_full_overlap(
    rows: list[tuple[float, float, float, int]], peak: float, bandwidth: float, overlap: float, launch: float
) -> None:
    kernels = [rw.Kernel("k", f, {"HBM": q, "network": n}, count=c) for f, q, n, c in rows]
    both = compare_chips(kernels, [chip("chip", peak, bandwidth)], overlap=overlap, launch_overhead=launch)
    alone = rw.bound(kernels, chip("chip", peak, bandwidth), launch_overhead=launch)
    assert both.perfect_overlap[0] <= both.time[0] * (1 + 1e-12)
    assert both.perfect_overlap[0] >= alone.time.max() * (1 - 1e-12)


@pytest.mark.parametrize(
    ("options", "time", "overlapped"),
    [
        ({}, 5, 4),
        ({"overlap": 0.0}, 6, 4),
        ({"overlap": 0.5}, 5.5, 4),
        ({"exposed_comm": 0.5}, 10, 8),
        ({"launch_overhead": 3.0}, 7, 6),
        ({"launch_overhead": "20 s"}, 40, 40),
    ],
)
def test_the_options_of_bound_pass_through(options: dict[str, Any], time: float, overlapped: float) -> None:
    both = compare_chips([("matmul", 400, 10), ("copy", 0, 10)], [chip("chip")], **options)
    assert (both.time[0], both.perfect_overlap[0]) == (time, overlapped)


def test_the_exposed_share_of_a_kernel_is_unknown_on_a_chip_whose_link_is_unknown() -> None:
    without_link = rw.Chip("alone", {"bf16": 100}, {"HBM": 10})
    kernels = [("matmul", 100, 10), ("all-reduce", 100, {"HBM": 10, "network": 500})]
    alone, linked = compare_chips(kernels, [without_link, chip("linked")]).bounds
    np.testing.assert_array_equal(alone.exposed_fraction, [0, np.nan])
    np.testing.assert_array_equal(linked.exposed_fraction, [0, 0.9])


def test_bytes_over_the_link_count_in_both_readings() -> None:
    steps = [rw.Kernel("step", 100, {"HBM": 0, "network": n}) for n in (100, 0)]
    both = compare_chips(steps, [chip("chip")])
    assert (both.time[0], both.perfect_overlap[0]) == (3, 2)


def test_the_slowest_of_all_levels_counts_where_all_are_asked_for() -> None:
    with_l2 = rw.Chip("with L2", {"bf16": 100}, {"HBM": 10, "L2": 50})
    kernels = [rw.Kernel("a", 0, {"HBM": 10, "L2": 100}), rw.Kernel("b", 0, {"HBM": 30, "L2": 200}), ("c", 0, 5)]
    by_memory = {memory: compare_chips(kernels, [with_l2], memory=memory) for memory in ("all", "main")}
    assert by_memory["all"].time[0] == 2 + 4 + 0.5
    assert by_memory["all"].perfect_overlap[0] == max(1 + 3 + 0.5, 2 + 4)
    assert by_memory["main"].time[0] == by_memory["main"].perfect_overlap[0] == 4.5


# -- changing sides ----------------------------------------------------------------------------------------------------


def test_of_the_guides_kernels_the_600_by_600_matmul_turns_memory_bound_on_v7x(guide: Comparison) -> None:
    (flip,) = guide.flips
    assert flip == Flip(2, "MatMul 600x600", {"v5p": "compute", "v7x (bf16)": "memory"})


def test_the_600_by_600_matmul_reaches_459_on_v5p_and_1440_tflops_on_v7x(guide: Comparison) -> None:
    assert [f"{one.attainable[2] / 1e12:.0f}" for one in guide.bounds] == ["459", "1440"]
    assert [f"{one.attainable_fraction[2]:.0%}" for one in guide.bounds] == ["100%", "62%"]


def test_tensor_cores_turn_compute_bound_kernels_memory_bound() -> None:
    dgemm = [rw.Kernel(f"dgemm {n}", 2 * n**3, 3 * n * n * 8) for n in (60, 100, 200)]
    units = compare_chips(dgemm, [("a100-sxm-40gb", "fp64"), ("a100-sxm-40gb", "FP64_tensor")])
    name = rw.chip("a100-sxm-40gb").name
    assert units.labels == (f"{name} (fp64)", f"{name} (fp64_tensor)")
    assert [(flip.name, [*flip.regimes.values()]) for flip in units.flips] == [("dgemm 100", ["compute", "memory"])]
    assert 1 < units.speedup[0, 1] < 19.5 / 9.7


# -- chips and their labels --------------------------------------------------------------------------------------------


def test_chips_may_be_chips_names_pairs_or_a_preset() -> None:
    kernels = [("k", 1, 1)]
    mixed = compare_chips(kernels, ["v5p", H100, (H100, "bf16")], precision="auto")
    assert mixed.labels == (rw.chip("v5p").name, "H100", "H100 (bf16)")
    preset = rw.preset("tpu-roofline-guide")
    assert compare_chips(kernels, preset).labels == ("v7x (fp8)", "v7x (bf16)", "v6e (bf16)", "v5p (bf16)")
    assert compare_chips(kernels, H100).labels == compare_chips(kernels, iter([H100])).labels == ("H100",)


def test_a_pairs_precision_comes_before_the_asked_one() -> None:
    two = rw.Chip("two", {"bf16": 100, "fp32": 10}, {"HBM": 1e9})
    asked = compare_chips([("k", 100, 1)], [two, (two, "bf16")], precision="fp32")
    assert asked.time.tolist() == [10, 1]


@pytest.mark.parametrize(
    ("chips", "error", "message"),
    [
        ([], ValueError, "at least one chip"),
        ([H100, H100], ValueError, "two chips are both called 'H100'; add their precisions"),
        ([(H100, "bf16"), (H100, "BF16")], ValueError, r"two chips are both called 'H100 \(bf16\)'"),
        ([(H100, "fp8")], rw.MissingFigureError, "H100 has no peak for precision 'fp8'"),
        ([(H100, "bf16", 3)], TypeError, r"expected a chip, its name or a pair \(chip, precision\), got \(Chip"),
        ([7], TypeError, "expected a chip, its name or a pair .* got 7"),
        (7, TypeError, "chips must be a list of chips, .* got int"),
    ],
)
def test_what_is_no_chip_is_named(chips: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare_chips([("k", 1, 1)], chips)


def test_a_chip_without_a_figure_is_not_left_out_but_named() -> None:
    with pytest.raises(rw.MissingFigureError, match="H100 has no memory 'L2'"):
        compare_chips([("k", 1, 1)], [rw.Chip("a", {"bf16": 1}, {"HBM": 1, "L2": 1}), H100], memory="L2")


# -- how it shows itself -----------------------------------------------------------------------------------------------


def test_its_table_of_kernels_has_time_and_limit_of_each_chip(guide: Comparison) -> None:
    frame = guide.to_dataframe()
    assert list(frame.columns) == [
        *("name", "time:v5p", "bound_by:v5p", "time:v7x (bf16)", "bound_by:v7x (bf16)"),
    ]
    assert frame["bound_by:v5p"].tolist() == ["HBM", "HBM", "compute", "compute"]
    np.testing.assert_array_equal(frame[["time:v5p", "time:v7x (bf16)"]], guide.kernel_time)


def test_it_shows_a_line_for_each_chip_and_the_kernels_that_change_sides(guide: Comparison) -> None:
    title, header, v5p, v7x, flips = repr(guide).splitlines()
    assert title == "Comparison: 4 kernels on 2 chips, one kernel after the other"
    assert header.split("  ")[0] == "chip"
    assert v5p.split()[:4] == ["v5p", "19.7", "ms", "1×"]
    assert v5p.endswith("2 memory, 2 compute")
    assert v7x.endswith("3 memory, 1 compute")
    assert flips == "changes sides: MatMul 600x600 (compute on v5p, memory on v7x (bf16))"


def test_more_than_three_changing_kernels_are_counted() -> None:
    kernels = [(f"k{i}", 1000, 20) for i in range(5)]
    shown = repr(compare_chips(kernels, [chip("slow", 10), chip("fast", 1000)]))
    assert "change sides: k0 (compute on slow, memory on fast); k1 (" in shown
    assert shown.endswith("; and 2 more")
    assert "k3" not in shown


def test_names_are_text_never_markup() -> None:
    bad = "<img src=x onerror=alert(1)>"
    slow, fast = chip(bad, 10), chip("fast", 1000)
    shown = compare_chips([(bad, 1000, 20), (f"{bad}2", None, 1)], [slow, fast])._repr_html_()
    assert "<img" not in shown
    assert shown.count("&lt;img") == 4


def test_its_columns_cannot_be_written_to(guide: Comparison) -> None:
    for column in (guide.time, guide.kernel_time, guide.speedup, guide.perfect_overlap, guide.known):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_an_unknown_keyword_is_named_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="compare_chips has no keyword 'precison'; did you mean 'precision'"):
        compare_chips([], [H100], precison="bf16")  # type: ignore[call-arg]


def test_times_are_finite_numbers(guide: Comparison) -> None:
    assert all(map(math.isfinite, guide.time))


def test_chips_judged_at_different_precisions_say_which() -> None:
    labels = compare_chips([("k", 1e9, 1e6)], ["h100-sxm", "epyc-9654"]).labels
    assert [label.rpartition(" ")[2] for label in labels] == ["(bf16)", "(fp64)"]
    assert compare_chips([("k", 1e9, 1e6)], ["h100-sxm", "b200"]).labels[0] == "NVIDIA H100 SXM5 80GB"
