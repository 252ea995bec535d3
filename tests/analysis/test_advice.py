"""Advice: the situation that follows from the numbers, the numbers in the evidence, and when to stop."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.analysis.advice import CHECKS, SUGGESTIONS, Advice, Advices, advise

CHIP = rw.Chip("chip", {"bf16": 100}, {"HBM": 10, "L2": 50}, links={"Link": 5.0})


def memory_bound(utilization: float, flops: float = 100) -> rw.Kernel:
    return rw.Kernel("gelu", flops, 100, time=10 / utilization)


def compute_bound(utilization: float) -> rw.Kernel:
    return rw.Kernel("matmul", 1000, 10, time=10 / utilization)


def network_bound(utilization: float) -> rw.Kernel:
    return rw.Kernel("all-reduce", 100, {"HBM": 10, "network": 50}, time=10 / utilization)


def overhead_bound(utilization: float) -> rw.Kernel:
    return rw.Kernel("tiny", 1, 1, time=2 / utilization, count=20)


def one(kernel: rw.Kernel, *, thresholds: dict[str, Any] | None = None, **options: Any) -> Advice:
    (found,) = advise(rw.bound(kernel, CHIP, **options), **(thresholds or {}))
    return found


def latency_advice(moved: float, time: float, **options: Any) -> Advice:
    """Return the advice for a kernel on a chip with a latency of 2 s, which 20 bytes in flight fill."""
    chip = rw.Chip("chip", {"bf16": 100}, {"HBM": rw.Memory("HBM", 10, latency=2)})
    kernels = [rw.Kernel("copy", 0, moved, time=time)]
    (found,) = advise(rw.bound(kernels, chip), latency=rw.latency_roof(kernels, chip, **options))
    return found


# -- latency -----------------------------------------------------------------------------------------------------------


def test_a_kernel_whose_time_is_mostly_latency_is_latency_bound_with_its_number() -> None:
    found = latency_advice(5, 2.2)
    assert (found.situation, found.done, found.times) == ("latency-bound, close", False, "")
    assert found.evidence == "moves 5 B: at 2 s that is at most 2.5 B/s of 10 B/s; latency explains 91 % of its time"
    # Joined launches have more bytes in flight, so a kernel that latency limits is never done.
    assert not latency_advice(5, 2.05).done
    below = latency_advice(5, 3.0)
    assert (below.situation, below.times) == ("latency-bound, below its roof", "1.5")


def test_an_estimate_of_latency_never_stops_tuning_and_is_worded_as_one() -> None:
    found = latency_advice(5, 2.5, in_flight=4, is_estimate=True)
    assert (found.situation, found.done) == ("latency-bound, close", False)
    assert "has about 4 B in flight: at 2 s that is about 2 B/s" in found.evidence
    assert found.evidence.endswith("latency explains 100 % of its time")


@pytest.mark.parametrize(("moved", "time"), [(5, 1.5), (5, 4.1), (5, 40), (200, 25)])
def test_a_latency_that_explains_more_than_all_or_less_than_half_or_a_full_pipe_is_no_situation(
    moved: float, time: float
) -> None:
    assert not latency_advice(moved, time).situation.startswith("latency")


def test_without_a_latency_roof_and_with_one_the_other_kernels_have_the_same_advice() -> None:
    kernels = [memory_bound(0.5), compute_bound(0.9), network_bound(0.05)]
    bound = rw.bound(kernels, CHIP)
    assert advise(bound, latency=rw.latency_roof(kernels, CHIP, latency=1e-9)) == advise(bound)
    with pytest.raises(ValueError, match="latency has 1 kernel and the bound 3: give those of one table"):
        advise(bound, latency=rw.latency_roof(kernels[:1], CHIP))


def test_every_situation_has_a_check_that_would_disprove_it() -> None:
    assert set(CHECKS) == set(SUGGESTIONS)
    assert one(memory_bound(0.5)).check == CHECKS["memory-bound, below its roof"]


# -- situations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "regime", "options"),
    [
        (memory_bound, "memory-bound", {}),
        (compute_bound, "compute-bound", {}),
        (network_bound, "network-bound", {}),
        (overhead_bound, "overhead-bound", {"launch_overhead": 0.1}),
    ],
)
@pytest.mark.parametrize(
    ("utilization", "distance", "done"),
    [
        (1.0, "close", True),
        (0.96, "close", True),
        (0.94, "close", False),
        (0.81, "close", False),
        (0.79, "below its roof", False),
        (0.11, "below its roof", False),
        (0.09, "way below both", False),
    ],
)
def test_the_distance_to_the_roof_decides_and_the_regime_names_it(
    make: Any, regime: str, options: dict[str, Any], utilization: float, distance: str, *, done: bool
) -> None:
    found = one(make(utilization), **options)
    is_of_link = regime == "network-bound" and distance == "way below both"
    distance = "below its roof" if is_of_link else distance
    situation = distance if distance == "way below both" else f"{regime}, {distance}"
    assert (found.situation, found.done) == (situation, done)
    assert found.suggestion.endswith(SUGGESTIONS[situation])
    assert found.suggestion.startswith("Stop tuning this kernel") is done


@pytest.mark.parametrize(
    ("utilization", "thresholds", "evidence"),
    [
        (0.7999, {}, "79.99 % of roof (close from 80 %)"),
        (0.796, {}, "79.6 % of roof (close from 80 %)"),
        (0.0999, {}, "9.99 % of roof (way below it under 10 %)"),
        (0.9499, {}, "94.99 % of roof (close from 80 %, stop from 95 %)"),
        (0.9541, {"stop": 0.954}, "95.4 % of roof (close from 80 %, stop from 95.4 %)"),
        (0.1449, {"way_below": 0.1401}, "14.5 % of roof (close from 80 %)"),
        (0.802, {"close": 0.805}, "80 % of roof (close from 80.5 %)"),
        (0.8004, {}, "80 % of roof (close from 80 %, stop from 95 %)"),
        (1.00002, {}, "100.002 % of roof (above 100 %)"),
        (0.0701, {"close": 0.07, "way_below": 0.0}, "7 % of roof (close from 7 %, stop from 95 %)"),
    ],
)
def test_a_share_is_shown_in_as_many_digits_as_leave_it_on_its_side_of_a_threshold(
    utilization: float, thresholds: dict[str, Any], evidence: str
) -> None:
    assert one(memory_bound(utilization), thresholds=thresholds).evidence.startswith(evidence)


def test_each_threshold_belongs_to_the_better_side() -> None:
    # With a bound of 3 s the utilizations are exactly 3/4, 1/2 and 1/4.
    quarters = {"close": 0.5, "stop": 0.75, "way_below": 0.25}
    by_time = {time: one(rw.Kernel("k", 0, 30, time=time), thresholds=quarters) for time in (4, 6, 12)}
    assert [(found.situation, found.done) for found in by_time.values()] == [
        ("memory-bound, close", True),
        ("memory-bound, close", False),
        ("memory-bound, below its roof", False),
    ]


def test_a_well_tuned_kernel_at_half_a_percent_of_the_peak_is_done() -> None:
    v7x = rw.preset("tpu-roofline-guide").chips[1]
    layernorm = rw.Kernel("LayerNorm", 2_684_354_560, 1_610_629_120, time=2.3e-4)
    (found,) = advise(rw.bound(layernorm, v7x))
    assert (found.situation, found.done) == ("memory-bound, close", True)
    assert found.evidence == (
        "97 % of roof (close from 80 %, stop from 95 %), 0.51 % of peak; at most 6.3 µs left (HBM)"
    )


def test_a_kernel_at_25_percent_of_a_compute_roof_is_not_done_though_its_rate_is_higher() -> None:
    found = one(compute_bound(0.25))
    assert (found.situation, found.done) == ("compute-bound, below its roof", False)
    assert found.evidence == "25 % of roof (close from 80 %), 25 % of peak; at most 30 s left"


@pytest.mark.parametrize(
    ("utilization", "situation"),
    [
        (0.77, "memory-bound, 1.3× below its roof"),
        (0.5, "memory-bound, 2× below its roof"),
        (0.11, "memory-bound, 9.1× below its roof"),
        (0.79999, "memory-bound, 1.3× below its roof"),
        (0.81, "memory-bound, close"),
    ],
)
def test_between_the_two_thresholds_the_words_say_how_far_the_kernel_is_below_its_roof(
    utilization: float, situation: str
) -> None:
    found = advise(rw.bound(memory_bound(utilization), CHIP))
    assert repr(found).splitlines()[2].startswith(f"gelu    {situation}  ")
    assert f"<td>{situation}</td>" in found._repr_html_()


def test_way_below_both_is_below_that_share_of_the_peak_and_of_the_bandwidth() -> None:
    found = one(memory_bound(0.05))
    assert found.evidence == "5 % of roof (way below it under 10 %), 0.5 % of peak; at most 190 s left (HBM)"
    assert "profile" in found.suggestion


def test_a_point_above_its_roof_is_a_thing_to_check_and_never_done() -> None:
    found = one(memory_bound(1.25))
    assert (found.situation, found.done) == ("above its roof", False)
    assert found.evidence == "125 % of roof (above 100 %), 12 % of peak (HBM)"


def test_an_unmeasured_kernel_is_to_be_measured_and_shows_what_it_can_reach_at_most() -> None:
    found = one(rw.Kernel("gelu", 100, 100))
    assert (found.situation, found.suggestion, found.done) == ("unmeasured", "Measure it first.", False)
    assert found.evidence == "at least 10 s (HBM), at most 10 % of peak"
    assert one(rw.Kernel("matmul", 1000, 10)).evidence == "at least 10 s, at most 100 % of peak"


def test_without_flops_no_share_of_the_peak_is_shown() -> None:
    assert "peak" not in one(rw.Kernel("copy", 0, 100)).evidence
    assert "peak" not in one(memory_bound(0.5, flops=0)).evidence


@pytest.mark.parametrize(
    ("flops", "moved", "options", "evidence"),
    [
        (None, 100, {}, "FLOPs not known"),
        (100, None, {}, "bytes at HBM not known"),
        (100, 10, {"memory": "L2"}, "bytes at L2 not known; its bytes are at HBM; memory='HBM' judges by them"),
        (100, {"L9": 10}, {}, "bytes at HBM not known; its bytes are at L9, which chip lacks; it has HBM, L2"),
        (100, {"L9": 10}, {"memory": "all"}, "bytes not known; its bytes are at L9, which chip lacks; it has HBM, L2"),
        (
            None,
            {"L9": 1},
            {},
            "FLOPs and bytes at HBM not known; its bytes are at L9, which chip lacks; it has HBM, L2",
        ),
        (None, None, {"memory": "all"}, "FLOPs and bytes not known"),
    ],
)
def test_what_is_unknown_is_named(flops: Any, moved: Any, options: dict[str, Any], evidence: str) -> None:
    found = one(rw.Kernel("?", flops, moved, time=1), **options)
    assert (found.situation, found.evidence, found.done) == ("unknown", evidence, False)


UNKNOWN = float("nan")
PROFILE = rw.Kernels(
    ["gelu", "HtoD", "idle or not profiled", "infeed.1", "outfeed.1", "peer copy", "copy"],
    [100, 0, UNKNOWN, 0, 0, 0, 0],
    {
        "HBM": [100, UNKNOWN, UNKNOWN, 5, UNKNOWN, UNKNOWN, 100],
        "host": [UNKNOWN, 64, *[UNKNOWN] * 5],
        "peer": [*[UNKNOWN] * 5, 64, UNKNOWN],
    },
    time=[20, 3, 40, 5, 6, UNKNOWN, 20],
    category=["fusion", "copy", "Idle", "infeed", "host outfeed", "copy", "copy"],
)


def test_of_rows_that_are_no_kernels_it_says_what_they_are() -> None:
    found = advise(rw.bound(PROFILE, CHIP))
    assert [(one.name, one.situation, one.evidence) for one in found[1:6]] == [
        ("HtoD", "copy over a link", "no kernel; 3 s"),
        ("idle or not profiled", "idle", "no kernel; 40 s"),
        ("infeed.1", "waiting for the host", "no kernel; 5 s"),
        ("outfeed.1", "waiting for the host", "no kernel; 6 s"),
        ("peer copy", "copy over a link", "no kernel; not measured"),
    ]
    assert [one.situation for one in (found[0], found[6])] == ["memory-bound, below its roof"] * 2
    assert [one.suggestion for one in found] == [SUGGESTIONS[one.situation] for one in found]
    assert repr(found).startswith("Advice: 2 kernels, 0 done; 5 of the rows no kernel\n")


def test_what_moves_no_byte_over_a_link_is_no_copy() -> None:
    table = rw.Kernels(["opaque"], [UNKNOWN], {"HBM": [UNKNOWN], "host": [0], "peer": [0]}, time=[1])
    assert advise(rw.bound(table, CHIP))[0].situation == "unknown"


def test_a_copy_has_a_roof_on_a_chip_that_tells_of_the_link_as_of_a_memory() -> None:
    chip = rw.Chip("chip", {"bf16": 100}, {"HBM": 10, "host": 32})
    assert advise(rw.bound(PROFILE, chip, memory="host"))[1].situation == "memory-bound, below its roof"


def test_the_level_that_binds_is_named() -> None:
    kernel = rw.Kernel("k", 1, {"HBM": 10, "L2": 500}, time=20)
    assert one(kernel, memory="all").evidence.endswith("left (L2)")


# -- evidence and thresholds -------------------------------------------------------------------------------------------


@given(utilization=st.floats(0.001, 2), close=st.floats(0.3, 0.6), stop=st.floats(0.6, 1), way=st.floats(0, 0.29))
def test_every_situation_has_a_suggestion_and_prints_the_threshold_that_decided(
    utilization: float, close: float, stop: float, way: float
) -> None:
    thresholds = {"close": close, "stop": stop, "way_below": way}
    found = one(compute_bound(utilization), thresholds=thresholds)
    assert found.situation in SUGGESTIONS
    assert found.done is (found.situation == "compute-bound, close" and 10 / (10 / utilization) >= stop)
    assert re.match(r"[\d.]+ % of roof \((above|way below it under|close from) [\d.]+ %", found.evidence)


def test_a_program_of_many_kernels_gets_one_advice_each_in_its_order() -> None:
    kernels = [memory_bound(0.9), compute_bound(0.3), rw.Kernel("new", 1, 1)]
    found = advise(rw.bound(kernels, CHIP))
    assert isinstance(found, tuple)
    assert [advice.name for advice in found] == ["gelu", "matmul", "new"]
    assert found == tuple(advise(rw.bound(kernel, CHIP))[0] for kernel in kernels)


@pytest.mark.parametrize(
    "thresholds",
    [
        {"close": 0.96},
        {"close": 0.1},
        {"stop": 1.1},
        {"way_below": -0.1},
        {"way_below": 0.8},
        {"stop": float("nan")},
    ],
)
def test_thresholds_out_of_order_are_refused(thresholds: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="0 <= way_below < close <= stop <= 1, got way_below"):
        advise(rw.bound([], CHIP), **thresholds)


def test_an_unknown_keyword_is_named_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="advise has no keyword 'closer'; did you mean 'close'"):
        advise(rw.bound([], CHIP), closer=0.5)  # type: ignore[call-arg]


# -- how it shows itself -----------------------------------------------------------------------------------------------


def test_it_shows_a_line_for_each_kernel() -> None:
    found = advise(rw.bound([memory_bound(1.0), compute_bound(0.5)], CHIP))
    assert repr(found).splitlines() == [
        "Advice: 2 kernels, 1 done",
        "kernel  situation                         evidence",
        "gelu    memory-bound, close (done)        100 % of roof (close from 80 %, stop from 95 %), 10 % of peak; at most 0 s left (HBM)",  # noqa: E501 - as it is shown
        "matmul  compute-bound, 2× below its roof  50 % of roof (close from 80 %), 50 % of peak; at most 10 s left",
    ]


def test_many_kernels_are_cut_and_counted() -> None:
    found = advise(rw.bound([memory_bound(0.5)] * 60, CHIP))
    assert len(repr(found).splitlines()) == 11
    assert repr(found).endswith("… and 52 more")
    shown = found._repr_html_()
    assert shown.count('<th scope="row">gelu') == 50
    assert "What to try next (the first 50 of 60 kernels)" in shown


def test_no_kernels_need_no_advice() -> None:
    none = advise(rw.bound([], CHIP))
    assert len(none) == 0
    assert repr(none) == "Advice: 0 kernels, 0 done"
    assert none._repr_html_().startswith("<table><caption>What to try next</caption>")


def test_the_html_table_says_what_to_try_and_names_are_text_never_markup() -> None:
    (found,) = (bad,) = advise(rw.bound([rw.Kernel("<script>x</script>", 100, 100)], CHIP))
    shown = Advices([bad])._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;x&lt;/script&gt;" in shown
    assert f"<td>{found.suggestion}</td>" in shown


def test_anything_but_a_bound_is_refused_with_the_way_to_one() -> None:
    with pytest.raises(TypeError, match=r"advise needs a Bound, as from advise\(bound\(kernels, chip\)\), got list"):
        advise([("matmul", 1e12, 1e9)])  # type: ignore[arg-type]


def test_a_kernel_with_time_left_is_not_said_to_be_at_a_hundred_percent_of_its_roof() -> None:
    chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    (near,) = advise(rw.bound([("near", 1e9, 1e9, 1e-3 / 0.9951)], chip))
    assert near.evidence.startswith("99.5 % of roof ")
    assert "at most 4.92 µs left" in near.evidence


def test_a_collective_far_below_the_roof_of_its_link_has_the_advice_for_links() -> None:
    chip = rw.Chip("Linked", {"bf16": 1e14}, {"HBM": 1e12}, links={"NVLink": 1e11})
    # 1 GB over a link of 100 GB/s takes 10 ms, and the call took a second.
    call = rw.Kernels(["all-reduce"], [0], {"HBM": [1e6], "network": [1e9]}, time=[1.0], category=["collective"])
    advice = rw.advise(rw.bound(call, chip))[0]
    assert advice.situation == "network-bound, below its roof"
    assert advice.times == "100"
    assert "messages too small to fill it, ranks that wait for others" in advice.suggestion
