"""The latency roof: golden cases by Little's law, waves of blocks, and what is a bound and what an estimate."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.latency import BYTES_IN_FLIGHT, BYTES_PER_THREAD, blocks_of, latency_roof, threads_of
from roofwidget.chips import chips
from tests import places
from tests.places import json_of

GOLDEN: dict[str, Any] = json_of(places.GOLDEN / "latency.json")
CLOSE = 1e-12
H100 = rw.Chip("H100", {"bf16": 989.5e12}, {"HBM": rw.Memory("HBM", 3.35e12, latency=600e-9), "L2": 5.5e12})


def chip_of(level: str) -> rw.Chip:
    figures = GOLDEN["levels"][level]
    memory = rw.Memory("HBM", figures["bandwidth"], latency=figures["latency"])
    return rw.Chip(level, {"fp32": 1e12}, {"HBM": memory})


def table_of(case: dict[str, Any]) -> rw.Kernels:
    extra: dict[str, Any] = {}
    if "threads" in case:
        extra = {"grid": [f"{case['threads'] // 32} x 1 x 1"], "block": ["(32, 1, 1)"]}
        extra |= {BYTES_PER_THREAD: [float(case["bytes_per_thread"])]}
        extra |= {"waves per SM": [case["waves"]]} if "waves" in case else {}
    if "in_flight" in case:
        extra[BYTES_IN_FLIGHT] = [float(case["in_flight"])]
    return rw.Kernels(["k"], [0.0], {"HBM": [float(case["bytes"])]}, count=[case["count"]], extra=extra)


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_the_latency_roof_is_that_of_littles_law_in_exact_fractions(case: dict[str, Any]) -> None:
    roof = latency_roof(table_of(case), chip_of(case["level"]))
    expected = case["expected"]
    for name in ("in_flight", "attainable_bandwidth", "time"):
        assert math.isclose(float(getattr(roof, name)[0]), expected[name], rel_tol=CLOSE, abs_tol=0.0), name
    # An H100's product is a tie at 2010000 bytes, which rounding decides.
    is_tie = math.isclose(expected["in_flight"], roof.needed, rel_tol=CLOSE)
    assert is_tie or (float(roof.attainable_bandwidth[0]) < roof.bandwidth) == expected["is_below_bandwidth"]
    assert roof.is_bound.tolist() == [True]


def test_the_bytes_in_flight_for_the_full_bandwidth_are_bandwidth_times_latency() -> None:
    for one in GOLDEN["needed"]:
        figures = GOLDEN["levels"][one["level"]]
        assert math.isclose(rw.bytes_in_flight(figures["bandwidth"], figures["latency"]), one["bytes"], rel_tol=CLOSE)
    for one in GOLDEN["reach"]:
        figures = GOLDEN["levels"][one["level"]]
        found = rw.bytes_to_reach(one["share"], figures["bandwidth"], figures["latency"])
        assert math.isclose(found, one["bytes"], rel_tol=CLOSE)


def test_every_number_of_a_row_that_is_an_estimate_has_a_sign() -> None:
    by_count = latency_roof([("k", 0, 1e5)], H100, in_flight=1000)
    guessed = latency_roof([("k", 0, 1e5)], H100, in_flight=1000, is_estimate=True)
    assert "~" not in repr(by_count)
    assert repr(guessed).count("~") == 4


@pytest.mark.parametrize("one", GOLDEN["waves"])
def test_waves_of_blocks_fill_the_units_of_a_chip(one: dict[str, Any]) -> None:
    found = rw.waves(one["blocks"], one["units"], blocks_per_unit=one["blocks_per_unit"])
    assert (found.waves, found.tail) == (one["waves"], one["tail"])
    assert math.isclose(found.efficiency, one["efficiency"], rel_tol=CLOSE)


def test_109_blocks_on_108_sms_leave_half_of_the_places_empty() -> None:
    assert str(rw.waves(109, 108)).endswith("1 full wave and a last one with 1 block, so 50 % of the places stay empty")
    assert str(rw.waves(216, 108)) == "216 blocks on 108 places: 2 full waves"
    assert str(rw.waves(25, 108)) == "25 blocks on 108 places: 23 % of the places are in use"


@pytest.mark.parametrize(
    ("name", "kibibytes"),
    [
        ("v100-pcie-16gb", 276),
        ("a40", 217),
        ("l40", 212),
        ("mi100", 532),
        ("rtx-4090", 248),
        ("rtx-5090", 681),
        ("rtx-pro-6000-server", 555),
        ("gh200-96gb", 1357),
    ],
)
def test_the_bytes_in_flight_of_known_chips_are_those_of_the_published_tables(name: str, kibibytes: int) -> None:
    chip = rw.chip(name)
    main = chip.memories[chip.main_memory]
    assert main.latency is not None
    assert rw.bytes_in_flight(chip.bandwidth(), main.latency) / 1024 == pytest.approx(kibibytes, abs=2.5)


def test_half_a_megabyte_cannot_reach_the_bandwidth_of_an_h100_at_600_ns() -> None:
    roof = latency_roof([("copy", 0, 5e5, 3e-6)], H100)
    assert roof.sentence(0) == "moves 500 kB: at 600 ns that is at most 833 GB/s of 3.35 TB/s"
    assert (roof.regime[0], roof.bound.regime[0]) == ("latency", "memory")
    assert roof.explained[0] == pytest.approx(0.2)
    assert roof.needed == pytest.approx(2.01e6)


def test_a_latency_roof_changes_neither_the_bound_nor_utilization_nor_headroom() -> None:
    kernels = rw.Kernels(["small", "big"], [1e6, 1e12], {"HBM": [5e5, 5e9]}, time=[3e-6, 2e-3])
    roof, bound = latency_roof(kernels, H100), rw.bound(kernels, H100)
    for name in ("time", "bound_by", "utilization", "headroom"):
        np.testing.assert_array_equal(getattr(roof.bound, name), getattr(bound, name))
    assert roof.regime.tolist() == ["latency", "memory"]


def test_where_all_levels_count_the_latency_roof_is_that_of_the_main_memory() -> None:
    kernels = [("k", 0, {"HBM": 1e3, "L2": 1e12})]
    roof = latency_roof(kernels, H100, memory="all")
    assert (roof.memory, roof.bound.bound_by[0], roof.regime[0]) == ("HBM", "L2", "memory")
    assert roof.time[0] == pytest.approx(600e-9)


def test_a_tie_and_a_longer_launch_are_no_latency() -> None:
    exact = [("k", 0, 3.35e12 * 600e-9)]
    assert latency_roof(exact, H100).regime[0] == "memory"
    assert latency_roof([("k", 0, 5e5)], H100, launch_overhead="2 us").regime[0] == "overhead"
    assert latency_roof([("k", 1e12, 5e5)], H100).regime[0] == "compute"


def test_each_launch_waits_for_itself() -> None:
    one, many = rw.Kernel("k", 0, 5e5), rw.Kernel("k", 0, 5e5 * 100, count=100)
    assert latency_roof([many], H100).time[0] == pytest.approx(100 * latency_roof([one], H100).time[0])


def test_it_is_a_bound_only_with_counted_bytes_and_the_unloaded_latency() -> None:
    kernels = [("chase", 0, 6.4e6, 1e-2)]
    counted = latency_roof(kernels, H100, in_flight=64)
    assert (counted.is_bound[0], counted.is_counted[0]) == (True, True)
    assert counted.sentence(0) == "has 64 B in flight: at 600 ns that is at most 107 MB/s of 3.35 TB/s"
    guess = latency_roof(kernels, H100, in_flight=64, is_estimate=True)
    assert (guess.is_bound[0], guess.is_counted[0], guess.regime[0]) == (False, False, "latency")
    assert guess.sentence(0) == "has about 64 B in flight: at 600 ns that is about 107 MB/s of 3.35 TB/s"
    assert "latency (estimate)" in repr(guess)
    loaded = latency_roof([("copy", 0, 5e5, 3e-6)], H100, latency="1 us", is_estimate=True)
    assert (loaded.is_bound[0], loaded.is_counted[0]) == (False, True)
    assert loaded.sentence(0) == "moves 500 kB: at 1 µs that is about 500 GB/s of 3.35 TB/s"


OPEN = (
    "1 kernel reaches less than half of its memory roof, and nothing says how many bytes are in flight, so memory or "
    "latency may be the limit: give in_flight or bytes_per_thread."
)


def test_a_slow_kernel_of_unknown_bytes_in_flight_is_not_said_to_be_limited_by_memory() -> None:
    # 6.4 MB need 1.9 µs of HBM, and all of them in flight would fill it.
    chase = [("chase", 0, 6.4e6, 1e-2)]
    roof = latency_roof(chase, H100)
    assert (roof.regime[0], roof.bound.regime[0], roof.notes) == ("unknown", "memory", (OPEN,))
    assert repr(roof).endswith("unknown")
    assert latency_roof(chase, H100, in_flight=64).regime[0] == "latency"
    for most in (5e6, 1e9):
        given = latency_roof(chase, H100, in_flight=most)
        assert (given.regime[0], given.notes) == ("memory", ())
    # At 3.9 µs, about half of the bytes that fill the bandwidth are in flight on average.
    assert latency_roof([("fast", 0, 6.4e6, 3.8e-6)], H100).regime[0] == "memory"
    assert latency_roof([("slow", 0, 6.4e6, 3.9e-6)], H100).regime[0] == "unknown"
    assert latency_roof([("not measured", 0, 6.4e6)], H100).regime[0] == "memory"
    assert latency_roof([("small", 0, 1e5, 1e-2)], H100).notes == ()


def test_counters_of_a_pointer_chase_show_a_load_for_each_warp() -> None:
    profile = rw.read(places.FIXTURES / "gpu" / "slow.raw.csv.gz")
    assert profile.chip is not None
    roof = latency_roof(profile, profile.chip)
    # 20000 loads one after the other, and 2000 of each of 132 warps.
    for row, loads in ((12, 20_000), (13, 2_000)):
        assert profile.short_names[row].startswith("pointer_chase")
        assert roof.time[row] == pytest.approx(loads * roof.latency)
        assert (roof.regime[row], roof.is_counted[row], roof.is_bound[row]) == ("latency", False, False)
    assert roof.explained[12] == pytest.approx(1, abs=0.01)
    assert roof.sentence(12).startswith("has about 77.4 B in flight")
    assert "The bytes in flight of 3 kernels are an estimate: one load for each warp, as warps wait for loads." in (
        roof.notes
    )
    advice = rw.advise(roof.bound, latency=roof)
    assert [advice[row].situation for row in (12, 13)] == ["latency-bound, close", "latency-bound, below its roof"]


def waiting(loads: float, stall: str = "long scoreboard", *, waves: float = 0.25) -> rw.LatencyRoof:
    extra: dict[str, Any] = {"grid": ["(66, 1, 1)"], "block": ["(48, 1, 1)"], "global loads": [loads]}
    extra |= {"stall 1": [stall], "stall 1 (%)": [90.0], "issue slots busy (%)": [2.0], "memory throughput (%)": [4.0]}
    extra["waves per SM"] = [waves]
    return latency_roof(rw.Kernels(["k"], [0.0], {"HBM": [6.4e6]}, time=[1e-3], extra=extra), H100)


def test_of_warps_that_wait_for_more_than_one_load_nothing_is_known() -> None:
    # 132 warps, of blocks of 48 threads, wait 600 ns for each of 132,000 loads of 48 B: 0.6 ms.
    roof = waiting(132_000)
    assert (roof.time[0], roof.regime[0]) == (pytest.approx(0.6e-3), "latency")
    assert roof.in_flight[0] == pytest.approx(132 * 6.4e6 / 132_000)
    # Two waves run one after the other.
    assert waiting(132_000, waves=2).regime[0] == "unknown"
    # 0.6 ms for each of two million loads would be longer than it ran.
    assert (waiting(2e6).regime[0], waiting(2e6).notes) == ("unknown", (OPEN,))
    # Without the counters, or where warps wait for something else, nothing is estimated.
    assert waiting(132_000, "barrier").regime[0] == "unknown"
    assert waiting(math.nan).regime[0] == "unknown"


def test_no_launch_has_more_bytes_in_flight_than_it_moves() -> None:
    roof = latency_roof([("k", 0, 1e3)], H100, in_flight=1e9, is_estimate=True)
    assert roof.in_flight[0] == 1e3
    assert roof.is_bound[0]


def test_an_unknown_latency_stays_unknown_and_says_so() -> None:
    plain = rw.Chip("Plain", {"bf16": 1e15}, {"HBM": 3e12})
    roof = latency_roof([("copy", 0, 5e5, 3e-6)], plain)
    assert np.isnan(roof.time).all()
    assert np.isnan(roof.attainable_bandwidth).all()
    assert (roof.regime[0], roof.is_bound[0], roof.sentence(0)) == ("unknown", False, "")
    assert roof.notes[0] == "Plain has no latency for HBM: give latency='350 ns'."
    assert "latency unknown" in repr(roof)
    unknown = latency_roof([("copy", 0, None, 3e-6)], H100)
    assert (np.isnan(unknown.time[0]), unknown.regime[0], unknown.sentence(0)) == (True, "unknown", "")


@pytest.mark.parametrize(
    ("time", "options", "words"),
    [
        (1.2e-6, {}, "latency explains 50 % of its time"),
        (5.9e-7, {}, "latency explains 100 % of its time"),
        (3e-7, {}, "that would take 2× its time, so its bytes are miscounted or are those of a nearer level"),
        (3e-7, {"latency": "600 ns", "is_estimate": True}, "that would take 2× its time, so more is in flight"),
    ],
)
def test_a_latency_explains_a_share_of_the_time_or_contradicts_it(
    time: float, options: dict[str, Any], words: str
) -> None:
    assert latency_roof([("copy", 0, 5e5, time)], H100, **options).explanation(0) == words


def test_bytes_in_flight_on_average_follow_from_the_achieved_rate() -> None:
    roof = latency_roof([("chase", 0, 1.547e6, 6.924e-3)], H100, latency="299.4 ns")
    assert roof.in_flight_on_average[0] == pytest.approx(1.547e6 / 6.924e-3 * 299.4e-9)


def test_grids_and_blocks_are_read_as_the_tools_write_them() -> None:
    extra = {"grid": ["(132, 2, 1)", "128 x 1 x 1", None], "block": ["(256, 1, 1)", "64 x 2 x 1", "(1, 1, 1)"]}
    cuda = rw.Kernels(["a", "b", "c"], [1.0] * 3, [1.0] * 3, extra=extra)
    np.testing.assert_array_equal(blocks_of(cuda), [264, 128, np.nan])
    np.testing.assert_array_equal(threads_of(cuda), [264 * 256, 128 * 128, np.nan])
    amd = rw.Kernels(["a"], [1.0], [1.0], extra={"grid": [65536.0], "workgroup": [256.0]})
    assert (blocks_of(amd)[0], threads_of(amd)[0]) == (256, 65536)
    bare = rw.Kernels(["a"], [1.0], [1.0])
    assert np.isnan(blocks_of(bare)[0])


def test_the_efficiency_of_waves_is_that_of_the_file() -> None:
    extra = {"waves per SM": [133 / 132, 2.0, 0.25]}
    roof = latency_roof(rw.Kernels(["a", "b", "c"], [1.0] * 3, [1.0] * 3, extra=extra), H100)
    np.testing.assert_allclose(roof.wave_efficiency, [133 / 264, 1.0, 0.25], rtol=CLOSE)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"memory": "L7"}, rw.MissingFigureError, "no memory 'L7'"),
        ({"latency": 0}, ValueError, "latency"),
        ({"in_flight": -1}, ValueError, "in_flight"),
        ({"bytes_per_thread": "fast"}, ValueError, "bytes_per_thread"),
        ({"inflight": 1}, TypeError, "in_flight"),
    ],
)
def test_wrong_options_are_refused_by_their_name(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        latency_roof([("k", 0, 1)], H100, **options)


@pytest.mark.parametrize(("blocks", "units", "each"), [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1.5, 1, 1), (-3, 1, 1)])
def test_waves_need_whole_numbers_from_1(blocks: Any, units: Any, each: Any) -> None:
    with pytest.raises(ValueError, match=r"waves: .* must be a whole number from 1"):
        rw.waves(blocks, units, blocks_per_unit=each)
    with pytest.raises(ValueError, match="share must be from 0 to below 1"):
        rw.bytes_to_reach(1.0, 1e12, 1e-6)


def test_a_roof_can_be_pickled_and_shown_as_a_table() -> None:
    roof = pickle.loads(pickle.dumps(latency_roof([("<b>", 0, 5e5, 3e-6)], H100)))  # noqa: S301 - what the test wrote
    assert "&lt;b&gt;" in roof._repr_html_()
    frame = roof.to_dataframe()
    assert frame["regime"].tolist() == ["latency"]
    assert frame["is_bound"].tolist() == [True]


def test_every_latency_of_the_catalogue_makes_a_roof() -> None:
    for chip in chips():
        for level, memory in chip.memories.items():
            if memory.latency is not None and memory.bandwidth is not None:
                roof = latency_roof([("k", 0, {level: 64.0})], chip, memory=level)
                assert roof.time[0] == pytest.approx(memory.latency)
