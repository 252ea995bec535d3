"""`bound` for special kernels: unknown values, options, links, classes of FLOPs, balance, energy."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import roofwidget as rw
from roofwidget.analysis.bound_lenient import bound_lenient, lacking
from roofwidget.chips import Energy
from roofwidget.kernels.non_kernels import non_kernels
from tests.places import golden
from tests.tables import has_columns, lists

H100 = rw.Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})


def one(flops: Any, moved: Any, time: float | None, chip: rw.Chip, **choice: Any) -> rw.Bound:
    return rw.bound(rw.Kernel("k", flops, moved, time=time), chip, **choice)


def simple(peak: float = 100.0, bandwidth: float = 10.0, **rest: Any) -> rw.Chip:
    return rw.Chip("chip", {"bf16": peak}, {"HBM": bandwidth}, **rest)


def linked() -> rw.Chip:
    return simple(links={"ICI": 2.0})


def units() -> rw.Chip:
    return rw.Chip("engines", {"bf16": 100, "fp8": 200, "bf16_vector": 4, "vector": 2}, {"HBM": 10})


# -- what the result keeps of its kernels ------------------------------------------------------------------------------


def test_a_bound_keeps_source_and_self_time_of_its_kernels_and_who_is_no_kernel() -> None:
    table = rw.Kernels(["k", "idle"], [1, 0], [1, 0], time=[2, 2], self_time=[1, 2], source="run 1")
    bound = rw.bound(table, simple())
    assert bound.source == "run 1"
    assert bound.self_time is not None
    assert bound.self_time.tolist() == [1, 2]
    assert rw.bound(table.replace(self_time=None), simple()).self_time is None
    wait = rw.Kernels(["MPI_Wait", "k"], [0, 1], [0, 1], time=[1, 1], category=["mpi", None])
    found, expected = rw.bound(wait, simple()).non_kernels, non_kernels(wait)
    assert (None if found is None else found.tolist()) == (None if expected is None else expected.tolist())


def test_warnings_of_a_data_frame_are_remarks_but_those_of_a_table_are_not_repeated() -> None:
    frame = pd.DataFrame({"name": ["k"], "flops": [1.0], "bytes": [1.0], "remark": [object()]})
    table = rw.Kernels.from_dataframe(frame)
    assert table.warnings
    assert rw.bound(frame, simple()).remarks == table.warnings
    assert rw.bound(table, simple()).remarks == ()


# -- options that are refused, word by word ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keyword", "values", "error", "message"),
    [
        ("overlap", (1.5, -0.5, -0.1, 1.1, math.nan, math.inf), ValueError, "a share from 0 to 1, got {}"),
        ("exposed_comm", (1, -0.1, 1.0, math.nan), ValueError, "a share from 0 to below 1, got {}"),
        ("overlap", ("half", True, False, None), TypeError, "a number, got {!r}"),
        ("exposed_comm", ("half", True, False, None), TypeError, "a number, got {!r}"),
        ("precision", (None, 3, ["HBM"]), TypeError, "text, got {!r}"),
        ("memory", (None, 3, ["HBM"]), TypeError, "text, got {!r}"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_its_keyword(
    keyword: str, values: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    for value in values:
        with pytest.raises(error, match=f"^{re.escape(f'{keyword} must be {message.format(value)}')}$"):
            one(1, 1, 1, simple(), **{keyword: value})


def test_a_launch_overhead_is_a_time_that_is_not_negative() -> None:
    for overhead in (-1e-9, math.nan, math.inf, "-5 us"):
        with pytest.raises(ValueError, match=r"^launch_overhead must be "):
            one(1, 1, None, simple(), launch_overhead=overhead)
    with pytest.raises(ValueError, match=r"^launch_overhead: 'B' is not a unit of s; write for example '8.5 us'$"):
        one(1, 1, None, simple(), launch_overhead="5 B")


# -- limits of remarks -------------------------------------------------------------------------------------------------


def test_a_ridge_point_at_a_limit_is_not_doubted_and_one_beyond_is_with_four_digits() -> None:
    for peak, bandwidth in ((1.0, 1e4), (1e7, 1.0)):
        assert one(1, 1, 1e-3, simple(peak, bandwidth)).remarks == ()
    (remark,) = one(1, 1, 1, simple(1.23456, 98765432.0)).remarks
    assert remark == (
        "chip has a peak of 1.235 FLOP/s and HBM with 98.77 MB/s, so its ridge point is 0.0000000125 FLOP/B: check the "
        "prefixes, as in '989 TFLOP/s' and '3.35 TB/s'."
    )


def test_a_long_time_is_doubted_from_a_tenth_of_a_second_and_above_1000_times_its_bound() -> None:
    assert "check that times are in seconds" in one(1, 1e-3, 0.1, simple(1e7, 1e4)).remarks[0]
    assert one(1, 1e-3, 0.0999, simple(1e7, 1e4)).remarks == ()
    assert one(0, 1, 1, simple(1e7, 1000.0)).remarks == ()
    assert one(0, 1, 1.001, simple(1e7, 1000.0)).remarks != ()


def test_times_and_bounds_of_any_size_give_no_warning() -> None:
    table = rw.Kernels(["nothing", "all"], [0, 0], [0, 1e-300], time=[0, 1e300], count=[1, 1])
    assert rw.bound(table, simple()).utilization[1] == 0


# -- plain rooflines ---------------------------------------------------------------------------------------------------


def test_roof_fraction_equals_utilization_and_is_unknown_at_zero_flops() -> None:
    bound = rw.bound([("matmul", 1000.0, 50.0, 40.0), ("copy", 0, 50.0, 40.0)], simple())
    assert bound.utilization.tolist() == [0.25, 0.125]
    assert bound.roof_fraction[0] == 0.25
    assert math.isnan(bound.roof_fraction[1])


def test_headroom_is_measured_minus_bound_time() -> None:
    assert one(1000, 50, 40.0, simple()).headroom[0] == 30.0
    assert math.isnan(one(1000, 50, None, simple()).headroom[0])


def test_bandwidth_utilization_is_told_of_every_level_whose_bytes_and_bandwidth_are_known() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50, "L1": None})
    bound = one(1, {"HBM": 20, "L2": 50, "L1": 7}, 4.0, chip)
    assert lists(bound.bandwidth_utilization) == {
        "HBM": [0.5],
        "L2": [0.25],
    }


def test_each_level_has_its_own_intensity() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50})
    bound = one(100, {"HBM": 20, "L2": 50}, None, chip, memory="all")
    assert lists(bound.ai) == {"HBM": [5.0], "L2": [2.0]}


def test_a_kernel_above_its_roof_is_flagged_and_not_clamped() -> None:
    bound = one(1000, 1, 5.0, simple())
    has_columns(bound, above_roof=[True], utilization=[2.0], achieved=[200.0], headroom=[-5.0])


def test_without_an_overhead_the_number_of_launches_changes_nothing_since_all_amounts_are_totals() -> None:
    kernels = [rw.Kernel("k", 1000, 50, time=40.0, count=count) for count in (1, 1000)]
    bound = rw.bound(kernels, simple())
    has_columns(bound, time=[10.0, 10.0], utilization=[0.25, 0.25])


def test_no_kernels_give_empty_columns_and_no_time() -> None:
    bound = rw.bound([], simple())
    assert bound.time.shape == bound.bound_by.shape == bound.attainable.shape == bound.balanced.shape == (0,)
    assert (len(bound), bound.total_time, bound.notes) == (0, 0.0, ())


def test_levels_that_differ_in_case_only_are_one() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50})
    bound = rw.bound([("a", 1, {"L2": 5}), ("b", 1, {"l2": 10})], chip, memory="L2")
    assert bound.time.tolist() == [0.1, 0.2]


def test_read_and_write_told_apart_are_two_levels() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "VMEM read": 50, "VMEM write": 20})
    bound = one(1, {"HBM": 1, "VMEM read": 50, "VMEM write": 40}, None, chip, memory="all")
    assert (bound.bound_by[0], bound.regime[0], bound.time[0]) == ("VMEM write", "memory", 2.0)
    assert bound.judged == ("HBM", "VMEM read", "VMEM write")


def test_a_bound_says_what_was_asked_as_the_chip_writes_it() -> None:
    bound = one(1, 1, None, simple(), precision="BF16", memory="hbm")
    assert (bound.chip.name, bound.precision, bound.memory, bound.names.tolist()) == ("chip", "bf16", "HBM", ["k"])
    assert one(1, 1, None, simple(), memory="ALL").memory == "all"


def test_unknown_flops_bytes_or_times_leave_unknown_what_needs_them() -> None:
    bound = rw.bound([("no flops", None, 50, 1.0), ("no bytes", 100, None, 1.0), ("known", 100, 50, 10.0)], simple())
    assert bound.regime.tolist() == ["unknown", "unknown", "memory"]
    assert np.isnan(bound.time).tolist() == [True, True, False]
    assert np.isnan(bound.achieved).tolist() == [True, False, False]
    assert np.isnan(bound.bandwidth_utilization["HBM"]).tolist() == [False, True, False]
    assert bound.balanced.tolist() == bound.above_roof.tolist() == [False, False, False]
    assert math.isnan(bound.total_time)


def test_a_measured_zero_is_no_measurement() -> None:
    bound = one(100, 50, 0.0, simple())
    assert np.isnan([bound.measured[0], bound.achieved[0], bound.utilization[0], bound.headroom[0]]).all()


# -- which peak --------------------------------------------------------------------------------------------------------


def test_each_kernel_of_a_set_is_judged_at_its_own_precision() -> None:
    chip = rw.Chip("c", {"bf16": 100, "fp8": 200, "fp32": 10}, {"HBM": 1})
    kernels = [
        *(rw.Kernel("own", 1000, 0, precision=own) for own in (None, "FP8", "fp32")),
        rw.Kernel("mixed", {"fp8": 1000, "fp32": 50}, 0, precision="bf16"),
        rw.Kernel("nothing", 0, 0, precision="fp8"),
    ]
    bound = rw.bound(kernels, chip)
    has_columns(bound, compute_time=[10.0, 5.0, 100.0, 10.0, 0.0], peak=[100.0, 200.0, 10.0, 105.0, 100.0])


def test_a_kernels_own_precision_that_the_chip_lacks_raises_wherever_it_stands() -> None:
    kernels = [rw.Kernel("a", 1, 1), rw.Kernel("b", 1, 1, precision="fp64")]
    with pytest.raises(rw.MissingFigureError, match="no peak for precision 'fp64'"):
        rw.bound(kernels, simple())
    with pytest.raises(rw.MissingFigureError, match="no peak for precision 'fp64'"):
        one({"fp64": 1}, 1, None, simple())


def test_a_precision_that_judges_no_flops_needs_no_peak() -> None:
    kernels = [rw.Kernel("known", 1, 1), rw.Kernel("opaque", None, 1, precision="fp64")]
    assert rw.bound(kernels, simple()).regime.tolist() == ["memory", "unknown"]


def test_flops_of_a_class_are_charged_to_its_own_peak_at_the_kernels_precision() -> None:
    amounts = {"tensor": 1000, "vector": 8}
    kernels = [rw.Kernel("k", amounts, 1, precision=own) for own in (None, "fp8")]
    bound = rw.bound(kernels, units())
    has_columns(bound, compute_time=[1000 / 100 + 8 / 4, 1000 / 200 + 8 / 2], flops=[1008, 1008])


def test_a_class_without_a_peak_of_its_own_is_charged_to_the_precisions_and_noted() -> None:
    kernels = [rw.Kernel("k", {"transcendental": 100, "vector": 8}, 1, precision=own) for own in (None, "fp8")]
    bound = rw.bound(kernels, units())
    assert bound.compute_time.tolist() == [1.0 + 2.0, 0.5 + 4.0]
    assert bound.notes == (
        "engines has no separate peak for transcendental FLOPs: they are charged to the bf16 peak and the fp8 peak.",
    )


def test_a_class_at_a_precision_that_the_chip_lacks_raises() -> None:
    with pytest.raises(rw.MissingFigureError, match="no peak for precision 'fp64'"):
        rw.bound(rw.Kernel("k", {"vector": 8}, 1, precision="fp64"), units())


# -- overlap, exposed communication, launches --------------------------------------------------------------------------


def test_overlap_goes_from_the_sum_of_compute_and_memory_time_to_the_larger() -> None:
    times = [one(300, 20, None, simple(), overlap=overlap).time[0] for overlap in (0, 0.5, 1)]
    assert times == [5.0, 4.0, 3.0]


def test_less_overlap_lowers_what_is_attainable_but_not_who_binds() -> None:
    bound = one(300, 20, 10.0, simple(), overlap=0)
    assert (bound.attainable[0], bound.bound_by[0], bound.utilization[0]) == (60.0, "compute", 0.5)
    assert bound.roof_fraction[0] == 0.5


def test_exposed_communication_stretches_the_time_and_lowers_the_roof() -> None:
    bound = one(300, 20, None, simple(), exposed_comm=0.25)
    assert (bound.time[0], bound.body_time[0], bound.attainable[0]) == (4.0, 3.0, 75.0)
    assert (bound.bound_by[0], bound.exposed_fraction[0]) == ("compute", 0.25)


def test_many_small_launches_need_their_time() -> None:
    kernels = [rw.Kernel("k", 300, 20, count=count) for count in (1, 6, 7)]
    bound = rw.bound(kernels, simple(), launch_overhead=0.5)
    has_columns(
        bound,
        overhead_time=[0.5, 3.0, 3.5],
        time=[3.0, 3.0, 3.5],
        bound_by=["compute", "compute", "overhead"],
        attainable=[100.0, 100.0, 100.0],
    )


def test_a_launch_overhead_may_be_text_with_a_unit() -> None:
    assert one(0, 0, None, simple(), launch_overhead="5 us").time[0] == 5e-6


# -- which bytes count where ------------------------------------------------------------------------------------------


def test_bytes_told_of_one_memory_outside_the_chip_do_not_count_at_another() -> None:
    two = rw.Chip("two", {"bf16": 100}, {"HBM": 10, "LPDDR5X": 5})
    table = rw.Kernels(list("abc"), [1, 1, 1], {"LPDDR5X": [5, np.nan, 5], "DRAM": [np.nan, 3, 3]})
    bound = rw.bound(table, two)
    np.testing.assert_array_equal(bound.bytes["HBM"], [np.nan, 3, 3])
    np.testing.assert_array_equal(bound.bytes["LPDDR5X"], [5, np.nan, 5])
    assert bound.bound_by.tolist() == ["unknown", "HBM", "HBM"]
    assert rw.bound(table, two, memory="lpddr5x").time[0] == 1.0
    assert rw.bound(table, simple()).bytes["HBM"].tolist() == [5, 3, 8], "a chip that has no LPDDR5X of its own"


def test_a_row_without_bytes_under_the_main_memorys_name_takes_them_from_the_other_words() -> None:
    table = rw.Kernels(list("abc"), [1, 1, 1], {"hbm": [8, np.nan, np.nan], "main": [1, 2, np.nan]}, chip=simple())
    np.testing.assert_array_equal(table.bytes, [8, 2, np.nan])
    np.testing.assert_array_equal(rw.bound(table, simple()).bytes["HBM"], table.bytes)
    other = rw.Chip("other", {"bf16": 100}, {"GDDR6": 10})
    np.testing.assert_array_equal(rw.bound(table, other).bytes["GDDR6"], [9, 2, np.nan])


def test_bytes_of_a_level_that_the_chip_does_not_have_are_noted_where_all_levels_are_asked_for() -> None:
    moved = {"HBM": 1, "L2": 2, "SMEM": 3, "L7": 4, "DRAM": 5, "Network": 0}
    chip = rw.Chip("chip", {"bf16": 100}, {"HBM": 10, "L2": 20, "SMEM": None})
    assert rw.bound(rw.Kernel("k", 1, moved), chip, memory="all").notes == (
        "chip has no bandwidth for SMEM: its bytes do not count.",
        "chip has no memory level 'L7': its bytes do not count.",
    )
    assert rw.bound(rw.Kernel("k", 1, moved), chip).notes == ()
    unknown = rw.Kernels(["a"], [1], {"HBM": [1], "L7": [np.nan]})
    assert rw.bound(unknown, chip, memory="all").notes == ()


def test_kernels_that_have_bytes_only_at_other_levels_are_unknown_and_the_notes_say_why() -> None:
    chip = rw.Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12, "L2": 8e12, "L1": None})
    levels: list[Any] = [{"SMEM": 1e6}, {"SMEM": 2e6}, {"L2": 1e6}, {"L1": 1e6}, {"HBM": 1e6, "SMEM": 1}, None]
    bound = rw.bound([(f"k{row}", 1e9, moved) for row, moved in enumerate(levels)], chip)
    assert bound.regime.tolist() == ["unknown"] * 4 + ["compute", "unknown"]
    assert bound.bytes_elsewhere is not None
    assert bound.bytes_elsewhere.tolist() == ["SMEM", "SMEM", "L2", "L1", None, None]
    assert bound.notes == (
        "2 kernels have no bytes at HBM: their bytes are at SMEM, which H100 lacks; it has HBM, L2, L1.",
        "1 kernel has no bytes at HBM: its bytes are at L2; memory='L2' judges by them.",
        "1 kernel has no bytes at HBM: its bytes are at L1, and H100 has no bandwidth for L1.",
    )
    assert "their bytes are at SMEM, which H100 lacks" in bound._repr_html_()
    assert rw.bound([("k", 1, 1)], chip).bytes_elsewhere is None
    assert rw.bound([("k", 1, 1)], chip, memory="L2").notes == (
        "1 kernel has no bytes at L2: its bytes are at HBM; memory='HBM' judges by them.",
    )


# -- figures that cannot be meant so -----------------------------------------------------------------------------------


def test_a_bandwidth_without_its_prefix_is_noted() -> None:
    chip = rw.Chip("mine", {"bf16": "989 TFLOP/s"}, {"HBM": "3.35 kB/s"})
    assert rw.bound([("k", 1, 1)], chip).notes == (
        (
            "mine has a peak of 989 TFLOP/s and HBM with 3.35 kB/s, so its ridge point is 295 GFLOP/B: "
            "check the prefixes, as in '989 TFLOP/s' and '3.35 TB/s'."
        ),
    )
    assert rw.bound([("k", 1, 1)], H100).notes == ()


def test_a_kernel_of_seconds_far_below_its_roof_is_noted_and_a_short_one_is_not() -> None:
    long = ("k", 1e12, 1e10, 5.0)
    said = "check that times are in seconds, and that no FLOPs or bytes are missing."
    assert rw.bound([long], H100).notes == (f"'k' ran 5 s a launch, 1675× its bound: {said}",)
    assert rw.bound([long, long], H100).notes == (
        f"'k' ran 5 s a launch, 1675× its bound, and 1 other kernel ran as far above: {said}",
    )
    assert rw.bound([("short", 1e3, 1e3, 5e-6)], H100).notes == ()
    assert rw.bound([rw.Kernel("many", 1e12, 1e10, time=5.0, count=1_000)], H100).notes == ()


def test_a_time_of_zero_is_noted() -> None:
    assert rw.bound([("k", 1, 1, 0)], H100).notes == ("1 kernel has a time of 0 s and is taken as not measured.",)
    assert rw.bound([("k", 1, 1, 0), ("l", 1, 1, 0)], H100).notes == (
        "2 kernels have a time of 0 s and are taken as not measured.",
    )


GOLDEN = golden("bytes_elsewhere.json")


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=str)
def test_python_and_the_page_find_bytes_at_other_levels_alike(case: dict[str, Any]) -> None:
    chip = rw.Chip("chip", {"bf16": 1e14}, GOLDEN["chip"], links={"Link": 1e9})
    found = rw.bound(rw.Kernel("k", 1, case["bytes"]), chip, memory=case["memory"]).bytes_elsewhere
    assert ((found is not None and found[0]) or "") == ", ".join(case["elsewhere"])


# -- the link ----------------------------------------------------------------------------------------------------------


def test_network_bytes_have_a_time_of_their_own_over_the_chips_link() -> None:
    kernels = [("step", 300, {"HBM": 20, "network": 8}), ("alone", 300, 20, 6.0)]
    bound = rw.bound([*kernels, rw.Kernel("short", 300, {"HBM": 20, "network": 2}, time=4.0)], linked())
    has_columns(bound, network_time=[4.0, 0.0, 1.0], time=[4.0, 3.0, 3.0])
    assert bound.bound_by.tolist() == bound.regime.tolist() == ["network", "compute", "compute"]
    assert bound.exposed_fraction.tolist() == [0.25, 0.0, 0.0]
    np.testing.assert_array_equal(bound.ai["network"], [37.5, np.nan, 150.0])
    np.testing.assert_array_equal(bound.bandwidth_utilization["network"], [np.nan, np.nan, 0.25])


def test_network_bytes_are_no_memory() -> None:
    chip, kernel = linked(), rw.Kernel("k", 300, {"network": 8})
    assert rw.bound(kernel, chip).regime.tolist() == ["unknown"]
    assert rw.bound(rw.Kernel("k", 300, {"HBM": 1, "network": 8}), chip, memory="all").judged == ("HBM",)
    with pytest.raises(rw.MissingFigureError, match="no memory 'network'"):
        rw.bound(kernel, chip, memory="network")


def test_network_bytes_on_a_chip_without_a_link_raise_unless_there_are_none() -> None:
    with pytest.raises(rw.MissingFigureError, match="chip has no known link"):
        one(1, {"HBM": 1, "network": 8}, None, simple())
    assert one(1, {"HBM": 1, "network": 0}, None, simple()).time[0] == 0.1


def test_exposed_communication_and_network_bytes_together_are_refused_and_the_kernel_named() -> None:
    kernels = [("plain", 1, 1), ("step", 1, {"HBM": 1, "network": 8})]
    with pytest.raises(ValueError, match=r"exposed_comm excludes network bytes, .* kernel 'step' has"):
        rw.bound(kernels, linked(), exposed_comm=0.1)


# -- balance, energy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moved", "options"),
    [
        ({"HBM": 9.6}, {}),
        ({"HBM": 1, "network": 1.93}, {}),
        ({"HBM": 1}, {"launch_overhead": 0.96}),
        ({"HBM": 1}, {"launch_overhead": 2.06, "exposed_comm": 0.5}),
    ],
)
def test_two_resources_within_five_percent_are_balanced_whichever_they_are(moved: Any, options: Any) -> None:
    assert one(100, moved, None, linked(), **options).balanced.tolist() == [True]
    assert one(90, moved, None, linked(), **options).balanced.tolist() == [False]


def test_two_levels_within_five_percent_are_balanced_where_both_are_judged() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50, "L1": 90})
    kernel = rw.Kernel("k", 1, {"HBM": 10, "L2": 49})
    assert rw.bound(kernel, chip, memory="all").balanced.tolist() == [True]
    assert rw.bound(kernel, chip).balanced.tolist() == [False]


def test_a_kernel_whose_bound_is_unknown_is_not_balanced() -> None:
    assert one(100, {"network": 2}, None, linked(), launch_overhead=1.0).balanced.tolist() == [False]


def test_a_kernel_that_does_nothing_is_compute_bound_and_not_balanced() -> None:
    bound = one(0, 0, None, simple())
    assert (bound.time[0], bound.bound_by[0], bound.balanced[0]) == (0.0, "compute", False)


def test_energy_is_that_of_flops_of_bytes_and_of_the_time_that_passed() -> None:
    chip = simple(energy=Energy(per_flop=2.0, per_byte=3.0, constant_power=5.0))
    bound = rw.bound([("measured", 300, 20, 10.0), ("not", 300, 20), ("opaque", None, 20, 1.0)], chip)
    np.testing.assert_array_equal(bound.energy, [600 + 60 + 50, 600 + 60 + 15, np.nan])


def test_energy_is_unknown_on_a_chip_that_carries_no_constants() -> None:
    assert math.isnan(one(300, 20, 10.0, simple()).energy[0])


# -- exact numbers -----------------------------------------------------------------------------------------------------


def test_a_matmul_and_an_unfused_gelu_take_the_sum_of_their_bounds_and_not_the_bound_of_their_sums() -> None:
    n, e = 4096, 2
    matmul = rw.Kernel("matmul", 2 * n**3, 3 * n * n * e)
    gelu = rw.Kernel("GELU", 8 * n * n, 2 * n * n * e)
    merged = rw.Kernel("both", 2 * n**3 + 8 * n * n, 5 * n * n * e)
    apart = rw.bound([matmul, gelu], H100)
    assert f"{apart.total_time * 1e6:.1f}" == "159.0"
    assert [f"{seconds * 1e6:.2f}" for seconds in apart.time] == ["138.97", "20.03"]
    assert f"{rw.bound(merged, H100).total_time * 1e6:.1f}" == "139.1"


def test_an_h100_needs_a_millisecond_for_a_teraflop_and_turns_at_295_flops_a_byte() -> None:
    assert f"{one(1e12, 0, None, H100).time[0] * 1e3:.2f}" == "1.01"
    assert f"{H100.ridge_point():.1f}" == "295.2"


def test_the_opterons_of_the_first_paper() -> None:
    x2 = rw.Chip("Opteron X2", {"fp64": 17.6e9}, {"DRAM": 15e9})
    x4 = rw.Chip("Opteron X4", {"fp64": 74e9}, {"DRAM": 16.6e9})
    assert [f"{chip.ridge_point():.2f}" for chip in (x2, x4)] == ["1.17", "4.46"]
    assert one(1e9, 4e9, None, x2).attainable[0] == 3.75e9


def test_a_kernel_that_lacks_only_a_link_keeps_its_attainable_rate() -> None:
    chip = rw.Chip("No link", {"bf16": 1e14}, {"HBM": 1e12})
    kernels = rw.Kernels(["sent", "local"], [1e12, 1e12], {"HBM": [1e9, 1e9], "network": [1e9, np.nan]}, time=[1, 1])
    found = bound_lenient(kernels, chip)
    has_columns(found, bound_by=["unknown", "compute"], attainable=[1e14, 1e14], peak_fraction=[0.01, 0.01])
    assert np.isnan(found.time).tolist() == np.isnan(found.network_time).tolist() == [True, False]


def test_a_kernel_without_a_peak_keeps_its_flops_and_the_options_hold_for_the_others() -> None:
    kernels = rw.Kernels(["a", "b", "c"], [300, 300, 300], [10, 10, 10], precision=["fp64", None, "bf16"])
    found = bound_lenient(kernels, simple(), overlap=0, launch_overhead=9)
    np.testing.assert_array_equal(found.time, [np.nan, 9, 9])
    np.testing.assert_array_equal(bound_lenient(kernels, simple(), overlap=0).time, [np.nan, 4, 4])
    assert found.flops.tolist() == [300, 300, 300]
    assert found.integers is None
    assert found.remarks == ("1 kernel needs a figure that chip lacks, such as the peak of its precision.",)


def test_kernels_that_lack_a_peak_are_counted_whatever_the_order_of_their_precisions() -> None:
    chip = simple()
    flops: dict[str, Any] = {"fp64": [1, math.nan, math.nan], "fp8": [math.nan, 1, math.nan], "bf16": [1, 1, 100]}
    words = " kernels need a figure that chip lacks, such as the peak of its precision."
    assert bound_lenient(rw.Kernels(list("abc"), flops, [1] * 3), chip).bound_by.tolist() == [
        "unknown",
        "unknown",
        "compute",
    ]
    for table in (flops, dict(reversed(flops.items()))):
        assert lacking(rw.Kernels(list("abc"), table, [1] * 3), chip) == [f"2{words}"]
    own: dict[str, Any] = {
        "vector": [1, math.nan, math.nan],
        "": [math.nan, 1, math.nan],
        "matmul": [math.nan, math.nan, 1],
    }
    for table in (own, dict(reversed(own.items()))):
        assert lacking(rw.Kernels(list("abc"), table, [1] * 3, precision=["fp64"] * 3), chip) == [f"3{words}"]


def test_operations_of_integers_stay_so_beside_kernels_that_lack_a_peak() -> None:
    chip = rw.Chip("chip", {"bf16": 100, "int8": 200}, {"HBM": 10})
    kernels = rw.Kernels(["a", "b", "c"], [1, 1, 1], [1, 1, 1], precision=["fp64", "int8", None])
    own, asked = (bound_lenient(kernels, chip, precision=word).integers for word in ("bf16", "int8"))
    assert own is not None
    assert asked is not None
    assert (own.tolist(), asked.tolist()) == ([False, True, False], [False, True, True])
    lost = bound_lenient(rw.Kernels(["a", "b"], {"int4": [1, math.nan], "bf16": [math.nan, 1]}, [1, 1]), chip).integers
    assert lost is not None
    assert lost.tolist() == [True, False]


def test_only_kernels_that_send_bytes_need_a_link() -> None:
    kernels = rw.Kernels(list("abcd"), [100] * 4, {"HBM": [1] * 4, "network": [0, 0.5, 8, math.nan]})
    found = bound_lenient(kernels, simple())
    np.testing.assert_array_equal(found.time, [1, np.nan, np.nan, 1])
    assert found.remarks == ("2 kernels need a link to other chips, and chip has none of known bandwidth.",)
    lost = bound_lenient(kernels.replace(precision=["fp64", None, None, None]), linked())
    has_columns(lost, time=[np.nan, 1, 4, 1], network_time=[0, 0.25, 4, 0])
    assert lost.remarks == ("1 kernel needs a figure that chip lacks, such as the peak of its precision.",)


def test_flops_of_every_known_precision_count_and_those_that_no_kernel_has_are_skipped() -> None:
    chip = rw.Chip("c", {"bf16": 100, "fp8": 200}, {"HBM": 10})
    flops = {"int4": [math.nan, math.nan], "fp8": [100.0, math.nan], "bf16": [100.0, 100.0], "": [50.0, math.nan]}
    bound = rw.bound(rw.Kernels(["a", "b"], flops, [1, 1]), chip)
    assert bound.compute_time.tolist() == [2, 1]


def test_less_than_a_byte_over_the_link_takes_time_too() -> None:
    assert one(0, {"HBM": 0, "network": 0.5}, 1, linked()).time[0] == 0.25


def test_classes_of_the_matrix_units_need_no_peak_of_their_own() -> None:
    for word in ("matmul", "tensor"):
        assert one({word: 100}, 1, 1, simple()).remarks == ()
    assert one({"vector": 100}, 1, 1, simple()).remarks == (
        "chip has no separate peak for vector FLOPs: they are charged to the bf16 peak.",
    )


def test_the_name_of_a_kernel_with_network_bytes_is_cut_after_60_letters() -> None:
    kernel = rw.Kernel("n" * 70, 1, {"HBM": 1, "network": 1})
    with pytest.raises(ValueError, match=rf"kernel '{'n' * 60}' has network bytes: give one of the two$"):
        rw.bound(kernel, linked(), exposed_comm=0.5)


def test_bytes_at_any_of_the_levels_that_count_are_not_elsewhere() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50})
    moved = {"HBM": [1.0, math.nan], "L2": [math.nan, 1.0], "L9": [1.0, 1.0]}
    table = rw.Kernels(["a", "b"], [1, 1], moved)
    assert rw.bound(table, chip, memory="all").bytes_elsewhere is None
    assert rw.bound(table, chip).bytes_elsewhere is not None
    assert rw.bound(table[[0]], chip).bytes_elsewhere is None


def test_a_bound_says_which_kernels_do_operations_of_integers_at_the_asked_precision() -> None:
    chip = rw.Chip("chip", {"bf16": 100, "int8": 200}, {"HBM": 10})
    kernels = rw.Kernels(["a", "b"], [1, 1], [1, 1], precision=[None, "int8"])
    own, asked = rw.bound(kernels, chip).integers, rw.bound(kernels, chip, precision="int8").integers
    assert own is not None
    assert asked is not None
    assert (own.tolist(), asked.tolist()) == ([False, True], [True, True])
    assert rw.bound(kernels[[0]], chip).integers is None


def test_remarks_name_operations_of_integers_and_kernels_that_mix_them_with_flops() -> None:
    chip = rw.Chip("chip", {"bf16": 100, "int8": 200}, {"HBM": 10})
    mixed = rw.Kernels(["a", "b"], {"bf16": [1.0, 1.0], "int8": [1.0, 1.0]}, [1, 1])
    rest = (
        "FLOPs and operations of integers: both are charged to their own peaks, and rates and intensities in OP are of"
    )
    assert rw.bound(mixed, chip).remarks == (f"2 kernels do {rest} their sum.",)
    assert rw.bound(mixed[[0]], chip).remarks == (f"1 kernel does {rest} their sum.",)
    assert rw.bound(rw.Kernel("a", {"vector": 100}, 1), chip, precision="int8").remarks == (
        "chip has no separate peak for vector operations: they are charged to the int8 peak.",
    )
    slow = rw.Chip("chip", {"int8": 1.23456}, {"HBM": 98765432.0})
    assert (
        "a peak of 1.235 OP/s and HBM with 98.77 MB/s, so its ridge point is 0.0000000125 OP/B: check"
        in (rw.bound(rw.Kernel("a", 1, 1), slow).remarks[0])
    )


def test_with_an_overlap_below_1_bound_by_is_the_larger_part_of_the_body_and_not_the_only_limit() -> None:
    chip = rw.Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, links={"Link": 1e12})

    def bound(flops: float, overlap: float, network: float = 0.0) -> rw.Bound:
        return rw.bound(rw.Kernels(["k"], [flops], {"HBM": [3e12], "network": [network]}), chip, overlap=overlap)

    # Half the FLOPs of a memory-bound kernel: no gain on a roofline, half of the saved second at an overlap of 0.5.
    assert [(one.bound_by[0], one.time[0]) for one in (bound(2e12, 1), bound(1e12, 1))] == [("HBM", 3), ("HBM", 3)]
    assert [(one.bound_by[0], one.time[0]) for one in (bound(2e12, 0.5), bound(1e12, 0.5))] == [
        ("HBM", 4),
        ("HBM", 3.5),
    ]
    # The link needs 4 s, more than either part. The body of 5 s is longer.
    assert [(one.bound_by[0], one.time[0]) for one in (bound(2e12, 1, 4e12), bound(2e12, 0, 4e12))] == [
        ("network", 4),
        ("HBM", 5),
    ]
