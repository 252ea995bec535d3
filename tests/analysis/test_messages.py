"""Messages of one profile, the model of latency and bandwidth, and bytes over the link for other topologies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.kernels.concat import concat
from roofwidget.network import AlphaBeta, messages, with_topology


def profile(
    kinds: Sequence[str | None], sizes: Sequence[float], times: Sequence[float], ranks: float = 8, **extra: Any
) -> rw.Kernels:
    columns = {"collective": list(kinds), "message size (B)": list(sizes), "ranks": [ranks] * len(kinds), **extra}
    n = len(kinds)
    return rw.Kernels([f"k{row}" for row in range(n)], [0] * n, [1] * n, time=list(times), extra=columns)


# -- one profile -------------------------------------------------------------------------------------------------------


def test_equal_messages_are_one_row_whatever_kernel_ran_them() -> None:
    found = messages(profile(["all-reduce"] * 3 + ["all-gather"], [8e6, 8e6, 1e6, 8e6], [1e-3, 4e-3, 5e-4, 1e-3]))
    assert found.kind.tolist() == ["all-reduce", "all-reduce", "all-gather"]
    assert found.size.tolist() == [8e6, 1e6, 8e6]
    np.testing.assert_allclose(found.algorithm_bandwidth, [8e6 / 2.5e-3, 2e9, 8e9])
    np.testing.assert_allclose(found.bus_bandwidth, [1.75 * 8e6 / 2.5e-3, 3.5e9, 7e9])
    np.testing.assert_allclose(found.fastest_bus_bandwidth, [1.75 * 8e9, 3.5e9, 7e9])


def test_what_equal_messages_took_longer_than_their_fastest_is_waiting_or_a_slower_wire() -> None:
    # The same all-reduce in three steps: 2.42, 2.67 and 5.98 ms.
    found = messages(profile(["all-reduce"] * 3, [31502336] * 3, [2.42e-3, 2.67e-3, 5.98e-3], ranks=2))
    assert found.fastest.tolist() == [2.42e-3]
    assert found.slower_than_fastest[0] == pytest.approx(0.25e-3 + 3.56e-3, rel=1e-12)
    assert found.fastest_bus_bandwidth[0] / 1e9 == pytest.approx(13.0, abs=0.05)


def test_nothing_is_said_of_the_wait_of_a_single_call_of_a_broadcast_and_of_a_send() -> None:
    found = messages(profile(["all-reduce", *["broadcast"] * 2, *["send"] * 2], [8] * 5, [1, 1, 2, 1, 2]))
    assert np.isnan(found.slower_than_fastest).all()


def test_without_single_calls_nothing_is_said_of_the_fastest() -> None:
    columns = {"collective": ["all-reduce"] * 2, "message size (B)": [8e6] * 2, "ranks": [8] * 2}
    found = messages(rw.Kernels(["a", "b"], [0, 0], [1, 1], time=[2, 4], count=[1000, 1000], extra=columns))
    assert np.isnan([*found.fastest, *found.slower_than_fastest]).all()
    assert found.bus_bandwidth[0] == pytest.approx(1.75 * 8e6 / 3e-3)


def test_equal_calls_waited_for_nothing_and_a_call_without_a_duration_says_nothing() -> None:
    assert messages(profile(["all-reduce"] * 6, [8] * 6, [0.1] * 6)).slower_than_fastest.tolist() == [0]
    found = messages(profile(["all-reduce"] * 2, [8] * 2, [0, 1]))
    assert np.isnan([*found.fastest, *found.slower_than_fastest]).all()


def test_the_calls_of_two_runs_are_not_compared() -> None:
    runs = [profile(["all-reduce"] * 2, [8] * 2, [time, time]) for time in (1, 2)]
    found = messages(concat(dict(zip(["before", "after"], runs, strict=True))).replace(series=True))
    assert found.fastest.tolist() == [1, 2]
    assert found.series is not None
    assert found.series.tolist() == ["before", "after"]
    assert "all-reduce · after" in repr(found)
    assert found.slower_than_fastest.tolist() == [0, 0]


@pytest.mark.parametrize(("kind", "ranks"), [("allreduce", 8), ("all-reduce", 7.5), ("all-reduce", 0)])
def test_a_message_of_an_unknown_kind_or_of_broken_ranks_is_none_and_breaks_no_verdict(kind: str, ranks: float) -> None:
    table = profile([kind, "all-gather"], [8e6, 8e6], [1, 1])
    table = table.replace(extra={**table.extra, "ranks": [ranks, 8]})
    assert messages(table).kind.tolist() == ["all-gather"]
    widget = rw.RooflineWidget(["h100-sxm"], table)
    widget.set_what_if(bandwidth="900 GB/s", memory="network")
    assert "kernels" in repr(widget)
    assert widget.verdict() is not None


def test_messages_of_two_groups_are_two_rows() -> None:
    found = messages(profile(["all-reduce"] * 2, [8, 8], [1, 2], group=["0 [0, 1]", "1 [2, 3]"]))
    assert found.group.tolist() == ["0 [0, 1]", "1 [2, 3]"]


def test_the_report_has_the_longest_messages_first() -> None:
    table = profile(["all-reduce", "all-reduce", "broadcast", None], [8e6, 8e6, 2e9, np.nan], [1e-3, 4e-3, 1, 9])
    assert repr(messages(table)).splitlines() == [
        "Messages: 2 messages, 3 calls, 1 s",
        "message     ranks  size  calls  mean time  bus bandwidth  fastest  over fastest",
        "broadcast   8      2 GB  1      1 s        2 GB/s         2 GB/s",
        "all-reduce  8      8 MB  2      2.5 ms     5.6 GB/s       14 GB/s  3 ms",
    ]
    assert "14 GB/s" in messages(table)._repr_html_()


def test_a_profile_without_messages_says_which_columns_would_tell() -> None:
    with pytest.raises(ValueError, match="the profile has no collective; the columns 'collective', 'message size"):
        messages(rw.Kernels(["a"], [1], [1]))
    with pytest.raises(ValueError, match="the profile has no collective with a kind and a size; the columns"):
        messages(rw.Kernels(["ncclDevKernel_Generic"], [1], [1]))


# -- latency and bandwidth ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "roof", "ranks", "half", "at_16_mib"),
    # 8 MI300X in one node, 16 H100 over TCPX, 16 H200 with 8 cards of 400 Gb/s a node: printed latencies and roofs.
    [(13.7e-6, 316e9, 8, 2.5e6, 275), (126e-6, 347e9, 16, 23e6, 145), (43.8e-6, 485.7e9, 16, 11e6, 290)],
)
def test_half_of_the_roof_is_reached_at_latency_times_bandwidth(
    alpha: float, roof: float, ranks: int, half: float, at_16_mib: float
) -> None:
    model = AlphaBeta(alpha, roof / (2 * (ranks - 1) / ranks))
    assert model.half_size == pytest.approx(half, abs=0.5e6)
    assert float(model.bus_bandwidth("all-reduce", model.half_size, ranks)) == pytest.approx(roof / 2, rel=1e-12)
    assert float(model.bus_bandwidth("all-reduce", 2**24, ranks)) / 1e9 == pytest.approx(at_16_mib, abs=1)


def test_latency_is_the_median_of_small_messages_and_bandwidth_the_slope_of_the_two_largest() -> None:
    size = [64, 1024, 4096, 8192, 2**20, 2**28, 2**30]
    time = [9e-6, 10e-6, 14e-6, 99e-6, 1e-4, 2**28 / 1e11 + 3e-4, 2**30 / 1e11 + 3e-4]
    model = AlphaBeta.of(size, time)
    assert model.alpha == 10e-6
    assert model.bandwidth == pytest.approx(1e11, rel=1e-9)


def test_a_figure_that_the_messages_do_not_show_is_unknown() -> None:
    assert np.isnan(AlphaBeta.of([2**20, 2**21], [1e-3, 2e-3]).alpha)
    assert np.isnan(AlphaBeta.of([64, 64], [1e-6, 2e-6]).bandwidth)
    # The time of small messages is latency, whatever their slope.
    assert np.isnan(AlphaBeta.of([16, 32, 4096], [1e-6, 2e-6, 3e-6]).bandwidth)
    assert np.isnan(AlphaBeta.of([2048, 2**20], [1e-6, 2e-3]).bandwidth)
    assert np.isnan(AlphaBeta.of([2**20, 2**21], [2e-3, 1e-3]).bandwidth)
    assert np.isnan([AlphaBeta.of([], []).alpha, AlphaBeta.of([], []).bandwidth]).all()


def test_repeated_sizes_count_with_their_fastest_time() -> None:
    model = AlphaBeta.of([10**6, 2 * 10**6, 2 * 10**6, np.nan], [1e-3, 9e-3, 2e-3, 1])
    assert model.bandwidth == pytest.approx(1e9, rel=1e-12)


def test_a_profiles_messages_are_fitted_by_kind_and_ranks() -> None:
    sizes = [1024, 10**8, 10**8, 2 * 10**8, 2 * 10**8, 10**8]
    kinds = ["all-reduce"] * 5 + ["all-gather"]
    found = messages(profile(kinds, sizes, [1e-5, 1e-3, 4e-3, 2e-3, 7e-3, 5]))
    model = found.fit("all-reduce")
    assert (model.alpha, model.bandwidth) == pytest.approx((1e-5, 1e11), rel=1e-12)
    with pytest.raises(ValueError, match="there is no message of kind 'send'"):
        found.fit("send")
    with pytest.raises(ValueError, match="ranks must be one of 8, the numbers of ranks"):
        found.fit(ranks=4)


def test_a_slope_between_single_calls_is_warned_of() -> None:
    told = "between messages of 100 MB and 200 MB, of which the profile has single calls: if ranks waited"
    for sizes, time in (([10**8, 2 * 10**8], [1e-3, 2e-3]), ([10**8, 10**8, 2 * 10**8], [1e-3, 4e-3, 2e-3])):
        found = messages(profile(["all-reduce"] * len(sizes), sizes, time))
        with pytest.warns(UserWarning, match=told):
            assert found.fit().bandwidth == pytest.approx(1e11, rel=1e-12)
    alone = messages(profile(["all-reduce"], [10**8], [1e-3]))
    assert np.isnan(alone.fit().bandwidth)


# -- topologies --------------------------------------------------------------------------------------------------------


def test_a_switch_that_adds_is_the_users_word_and_changes_only_the_bytes_over_the_link() -> None:
    kinds = ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "send", "gather", None]
    table = profile(kinds, [800.0] * 8 + [np.nan], [1] * 9).replace(bytes={"HBM": [5] * 9, "network": [*[1] * 8, 7]})
    found = with_topology(table, "in-network")
    assert found.network_bytes.tolist() == [800, 800, 700, 700, 800, 800, 800, 700, 7]
    assert found.bytes.tolist() == [5] * 9
    assert found.origin["bytes:network"][0] == "message size, counted for topology 'in-network'"
    assert found.origin["bytes:network"][8] is None
    assert with_topology(table, "ring").network_bytes.tolist() == [1400, 700, 700, 2800, 800, 800, 800, 700, 7]


def test_bytes_of_repeated_messages_are_those_of_all_calls() -> None:
    table = profile(["all-reduce"] * 2, [800] * 2, [1, 1]).replace(names=["a", "a"])
    found = with_topology(table.groupby("name"), "in-network")
    assert found.network_bytes.tolist() == [1600]


def test_eight_gpus_may_pass_the_wire_on_bus_bandwidth_if_the_switch_adds() -> None:
    # 8 H100 at 470 GB/s of bus bandwidth: above the wire of 450 on a ring, 60 % of the roof if the switch adds.
    chip = rw.Chip("chip", {"bf16": 1e15}, {"HBM": 3e12}, links={"NVLink": 450e9})
    table = profile(["all-reduce"], [1e9], [1.75e9 / 470e9])
    ring, switch = (rw.bound(with_topology(table, word), chip) for word in ("ring", "in-network"))
    assert ring.above_roof.tolist() == [True]
    assert switch.utilization[0] == pytest.approx(470 / 787.5, rel=1e-12)


def test_a_topology_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no topology is called 'in network'; did you mean 'in-network'"):
        with_topology(profile(["all-reduce"], [8], [1]), "in network")
