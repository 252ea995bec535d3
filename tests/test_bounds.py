"""What a bound says of particular kernels: options, links, classes of FLOPs, notes, and how it shows itself."""

from __future__ import annotations

import math
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import roofwidget as rw
from roofwidget.chips.figures import Energy

WELL_TILED = rw.Kernel("Well-tiled kernel", flops=1.26e12, bytes={"HBM": 1.26e12 / 50}, time=1e-3)
GUIDE = rw.Chip("v7x (bf16)", {"bf16": 2307e12}, {"HBM": 7.2e12, "VMEM": 150e12})
H100 = rw.Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})
ARRAYS = [
    *("flops", "measured", "compute_time", "network_time", "overhead_time", "body_time", "time", "bound_by", "regime"),
    *("balanced", "peak", "attainable", "attainable_fraction", "achieved", "utilization", "roof_fraction", "names"),
    *("peak_fraction", "headroom", "above_roof", "exposed_fraction", "energy"),
]
BY_LEVEL = ["bytes", "ai", "memory_time", "bandwidth_utilization"]


def one(flops: Any, moved: Any, time: float | None, chip: rw.Chip, **choice: Any) -> rw.Bound:
    return rw.bound(rw.Kernel("k", flops, moved, time=time), chip, **choice)


def simple(peak: float = 100.0, bandwidth: float = 10.0, **rest: Any) -> rw.Chip:
    return rw.Chip("chip", {"bf16": peak}, {"HBM": bandwidth}, **rest)


def linked() -> rw.Chip:
    return simple(links={"ICI": 2.0})


def units() -> rw.Chip:
    return rw.Chip("engines", {"bf16": 100, "fp8": 200, "bf16_vector": 4, "vector": 2}, {"HBM": 10})


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
    assert {level: column.tolist() for level, column in bound.bandwidth_utilization.items()} == {
        "HBM": [0.5],
        "L2": [0.25],
    }


def test_each_level_has_its_own_intensity() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50})
    bound = one(100, {"HBM": 20, "L2": 50}, None, chip, memory="all")
    assert {level: column.tolist() for level, column in bound.ai.items()} == {"HBM": [5.0], "L2": [2.0]}


def test_a_kernel_above_its_roof_is_flagged_and_not_clamped() -> None:
    bound = one(1000, 1, 5.0, simple())
    assert bound.above_roof.tolist() == [True]
    assert bound.utilization.tolist() == [2.0]
    assert bound.achieved.tolist() == [200.0]
    assert bound.headroom.tolist() == [-5.0]


def test_without_an_overhead_the_number_of_launches_changes_nothing_since_all_amounts_are_totals() -> None:
    kernels = [rw.Kernel("k", 1000, 50, time=40.0, count=count) for count in (1, 1000)]
    bound = rw.bound(kernels, simple())
    assert bound.time.tolist() == [10.0, 10.0]
    assert bound.utilization.tolist() == [0.25, 0.25]


def test_no_kernels_give_empty_columns_and_no_time() -> None:
    bound = rw.bound([], simple())
    assert all(getattr(bound, name).shape == (0,) for name in ARRAYS)
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
    assert bound.compute_time.tolist() == [10.0, 5.0, 100.0, 10.0, 0.0]
    assert bound.peak.tolist() == [100.0, 200.0, 10.0, 105.0, 100.0]


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
    assert bound.compute_time.tolist() == [1000 / 100 + 8 / 4, 1000 / 200 + 8 / 2]
    assert bound.flops.tolist() == [1008, 1008]


def test_a_class_without_a_peak_of_its_own_is_charged_to_the_precisions_and_noted() -> None:
    kernels = [rw.Kernel("k", {"transcendental": 100, "vector": 8}, 1, precision=own) for own in (None, "fp8")]
    bound = rw.bound(kernels, units())
    assert bound.compute_time.tolist() == [1.0 + 2.0, 0.5 + 4.0]
    assert bound.notes == (
        "engines has no peak of its own for transcendental FLOPs: they are charged to the bf16 peak and the fp8 peak.",
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
    assert bound.overhead_time.tolist() == [0.5, 3.0, 3.5]
    assert bound.time.tolist() == [3.0, 3.0, 3.5]
    assert bound.bound_by.tolist() == ["compute", "compute", "overhead"]
    assert bound.attainable.tolist() == [100.0, 100.0, 100.0]


def test_a_launch_overhead_may_be_text_with_a_unit() -> None:
    assert one(0, 0, None, simple(), launch_overhead="5 us").time[0] == 5e-6


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        *(("overlap", value) for value in (-0.1, 1.1, math.nan, math.inf)),
        *(("exposed_comm", value) for value in (-0.1, 1, 1.0, math.nan)),
        *(("launch_overhead", value) for value in (-1e-9, math.nan, math.inf, "-5 us")),
    ],
)
def test_an_option_out_of_its_range_is_refused_by_its_keyword(keyword: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{keyword} must be "):
        one(1, 1, None, simple(), **{keyword: value})


@pytest.mark.parametrize("keyword", ["overlap", "exposed_comm"])
def test_a_share_that_is_no_number_is_refused_by_its_keyword(keyword: str) -> None:
    with pytest.raises(TypeError, match=f"^{keyword} must be a number, got 'half'$"):
        one(1, 1, None, simple(), **{keyword: "half"})


# -- the link ----------------------------------------------------------------------------------------------------------


def test_network_bytes_have_a_time_of_their_own_over_the_chips_link() -> None:
    kernels = [("step", 300, {"HBM": 20, "network": 8}), ("alone", 300, 20)]
    bound = rw.bound([*kernels, rw.Kernel("short", 300, {"HBM": 20, "network": 2}, time=4.0)], linked())
    assert bound.network_time.tolist() == [4.0, 0.0, 1.0]
    assert bound.time.tolist() == [4.0, 3.0, 3.0]
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
    with pytest.raises(ValueError, match=r"exposed_comm and network bytes .* kernel 'step' has"):
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


def test_the_well_tiled_kernel_is_above_its_roof_and_the_note_says_what_forbids_it() -> None:
    bound = rw.bound(WELL_TILED, GUIDE)
    assert bound.ai["HBM"][0] == pytest.approx(50)
    assert bound.attainable[0] == pytest.approx(360e12)
    assert bound.achieved[0] == pytest.approx(1260e12)
    assert bound.above_roof.tolist() == [True]
    assert bound.utilization[0] == pytest.approx(3.5)
    (note,) = bound.notes
    assert note == (
        "'Well-tiled kernel' is above its roof: its 25.2 GB of HBM need 3.5 ms at 7.2 TB/s, but it ran 1 ms at "
        "1.26 PFLOP/s. At that rate its intensity at HBM must be at least 175 FLOP/B, not 50 FLOP/B. So the bytes are "
        "miscounted or are those of a nearer level, or the time, a peak rate, a clock or a sparsity is not as assumed."
    )


# -- notes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "options", "words"),
    [
        (rw.Kernel("k", 0, 1000, time=1.0), {}, "1 kB of HBM need 100 s at 10 B/s, but it ran 1 s. So the bytes"),
        (rw.Kernel("k", 500, 1, time=2.0), {}, "500 FLOP need 5 s at 100 FLOP/s, but it ran 2 s. So the FLOPs"),
        (
            rw.Kernel("k", 1, {"HBM": 1, "network": 8}, time=1.0),
            {},
            "8 B over the link need 4 s at 2 B/s one way, but it ran 1 s. So the bytes",
        ),
        (
            rw.Kernel("k", 1, 1, time=1.0, count=5),
            {"launch_overhead": 0.5},
            "launches need 2.5 s at 500 ms each, but it ran 1 s. So a launch costs less",
        ),
        (
            rw.Kernel("k", 100, 10, time=1.5),
            {"overlap": 0},
            "ran 1.5 s, which no resource alone forbids, but needs 2 s",
        ),
    ],
)
def test_a_note_says_which_resource_forbids_the_measured_time(kernel: rw.Kernel, options: Any, words: str) -> None:
    (note,) = rw.bound(kernel, linked(), **options).notes
    assert words in note
    assert note.startswith("'k' ")


def test_only_the_first_kernels_above_their_roof_are_explained_and_the_rest_counted() -> None:
    kernels = [(f"k{i}", 1000, 1, 5.0) for i in range(1003)]
    notes = rw.bound(kernels, simple()).notes
    assert [note[:4] for note in notes[:3]] == ["'k0'", "'k1'", "'k2'"]
    assert notes[3:] == ("1,000 more kernels are above their roof.",)
    assert rw.bound(kernels[:4], simple()).notes[3] == "1 more kernel is above its roof."


def test_of_all_levels_one_without_a_bandwidth_is_noted_and_does_not_count() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": None, "L1": None})
    kernel = rw.Kernel("k", 1, {"HBM": 10, "L2": 1e9})
    bound = rw.bound(kernel, chip, memory="all")
    assert (bound.time[0], bound.notes) == (1.0, ("c has no bandwidth for L2: its bytes do not count.",))
    assert rw.bound(kernel, chip).notes == ()


# -- how it shows itself -----------------------------------------------------------------------------------------------


def test_the_repr_is_aligned_lines_with_of_peak_beside_of_roof() -> None:
    kernels = [("matmul", 1000, 10, 40.0), ("copy", 0, 50, 40.0), ("not run", 10, 50), ("opaque", None, None)]
    assert repr(rw.bound(kernels, simple())).splitlines() == [
        "Bound: 4 kernels on chip · bf16 · HBM",
        "kernel   AI at HBM   bound time  bound by  of peak      of roof",
        "matmul   100 FLOP/B  10 s        compute   25 %         25 %",
        "copy     0 FLOP/B    5 s         HBM       0 %          12 %",
        "not run  0.2 FLOP/B  5 s         HBM       at most 2 %  not measured",
        "opaque   unknown     unknown     unknown   unknown      not measured",
    ]


def test_the_repr_tells_options_balance_and_what_is_above_the_roof() -> None:
    text = repr(one(100, 10, 0.5, simple(), overlap=0.5, exposed_comm=0.2, launch_overhead=5e-6, memory="all"))
    assert text.splitlines() == [
        "Bound: 1 kernel on chip · bf16 · all levels · 50 % overlap · 20 % exposed communication · 5 µs a launch",
        "kernel  AI at HBM  bound time  bound by            of peak  of roof",
        "k       10 FLOP/B  1.88 s      compute (balanced)  200 %    375 %, above it",
    ]


def test_a_long_table_shows_its_first_rows_and_counts_the_rest() -> None:
    bound = rw.bound([(f"k{i}", 1, 1) for i in range(1005)], simple())
    lines = repr(bound).splitlines()
    assert [line.split()[0] for line in lines[2:-1]] == [f"k{i}" for i in range(8)]
    assert lines[0].startswith("Bound: 1,005 kernels")
    assert lines[-1] == "… and 997 more"
    assert "… and 985 more" in bound._repr_html_()


def test_a_name_from_a_file_is_one_short_line_of_text() -> None:
    bound = rw.bound([("two\nlines \ud800" + "x" * 100, 1, 1)], simple())
    assert repr(bound).splitlines()[2].startswith("two lines ?xxx")
    assert "x… " in repr(bound)
    bound._repr_html_().encode()


def test_the_html_is_a_table_in_which_names_are_text() -> None:
    chip = rw.Chip("<i>chip</i>", {"bf16": 100}, {"HBM": 10})
    page = rw.bound([("<script>x</script> & 'co'", 1000, 1, 5.0)], chip, overlap=0.5)._repr_html_()
    assert "<script" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;x&lt;/script&gt; &amp; &#x27;co&#x27;" in page
    assert "<caption>Bounds on &lt;i&gt;chip&lt;/i&gt; · bf16 · HBM · 50 % overlap</caption>" in page
    assert re.findall("<td>(.*?)</td>", page) == ["1000 FLOP/B", "10.1 s", "compute", "200 %", "201 %, above it"]
    assert page.count("<li>") == 1


def test_a_data_frame_has_a_row_for_each_kernel_and_a_column_for_each_quantity_and_level() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50}, links={"ICI": 2.0})
    kernels = [("a", 1, {"HBM": 2, "L2": 3, "network": 4}), ("b", 5, 6, 7.0)]
    bound = rw.bound(kernels, chip)
    frame = bound.to_dataframe()
    levels = {f"{name}:{level}" for name in BY_LEVEL for level in ("HBM", "L2", "network")} - {"memory_time:network"}
    assert set(frame.columns) == {"name", *ARRAYS} - {"names"} | levels
    assert frame["name"].tolist() == ["a", "b"]
    for name in set(ARRAYS) - {"names"}:
        pd.testing.assert_series_equal(frame[name], pd.Series(getattr(bound, name), name=name))
    for column in levels:
        name, _, level = column.partition(":")
        np.testing.assert_array_equal(frame[column], getattr(bound, name)[level])


@pytest.mark.parametrize("name", ARRAYS)
def test_columns_are_read_only_and_derived_once(name: str) -> None:
    bound = one(100, {"HBM": 10, "network": 1}, 1.5, linked(), launch_overhead=1.0)
    column = getattr(bound, name)
    assert column.shape == (1,)
    assert column is getattr(bound, name)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = column[0]


@pytest.mark.parametrize("name", BY_LEVEL)
def test_columns_by_level_are_read_only(name: str) -> None:
    for column in getattr(one(100, {"HBM": 10, "network": 1}, 1.5, linked()), name).values():
        assert not column.flags.writeable


def test_a_bound_can_be_pickled() -> None:
    bound = one(100, 10, 1.5, simple())
    again = pickle.loads(pickle.dumps(bound))  # noqa: S301 - what was pickled here
    assert repr(again) == repr(bound)
    assert again.utilization.tolist() == bound.utilization.tolist()
