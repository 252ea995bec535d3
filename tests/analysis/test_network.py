"""Collectives over a link: printed results, formulas checked by counting messages, and refused arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.analysis.network import (
    COLLECTIVES,
    TOPOLOGIES,
    algorithm_bandwidth,
    bus_bandwidth,
    bus_factor,
    collective_time,
    effective_roof,
    exposed_fraction,
    network_bytes,
    network_intensity,
    network_ridge_point,
    tier_bytes,
)
from roofwidget.chips import Link

WHOLE_SHARDS = ["all-gather", "reduce-scatter", "all-reduce"]
PAIRS = [(kind, way) for kind in COLLECTIVES for way in TOPOLOGIES if (kind, way) != ("permute", "ring-both-ways")]

sizes = st.floats(1, 1e15)
ranks = st.integers(1, 1000)
rates = st.floats(1e6, 1e13)


def linked(bandwidth: float | None = 100.0, latency: float | None = None) -> rw.Chip:
    return rw.Chip("chip", {"bf16": 1e4}, {"HBM": 1e3}, links={"Link": Link("Link", bandwidth, latency=latency)})


# -- printed results ---------------------------------------------------------------------------------------------------


def test_an_all_gather_over_four_chips_takes_373_us_both_ways_and_559_us_one_way() -> None:
    array = 2 * 2048 * 8192
    both_ways = collective_time("all-gather", array, 4, 4.5e10, topology="ring-both-ways")
    assert f"{both_ways * 1e6:.0f}" == "373"
    assert both_ways == pytest.approx(array / 9e10, rel=1e-15)
    assert f"{collective_time('all-gather', array, 4, 4.5e10) * 1e6:.0f}" == "559"


def test_a_ring_all_reduce_of_a_gigabyte_over_eight_gpus_takes_3_89_ms() -> None:
    assert f"{collective_time('all-reduce', 1e9, 8, 450e9) * 1e3:.2f}" == "3.89"


def test_tensor_parallel_layers_of_a_70b_model_send_4_59_mb_a_token_in_10_2_us() -> None:
    one_token, all_reduces = 2 * 8192, 2 * 80
    assert all_reduces * float(network_bytes("all-reduce", one_token, 8)) == 4_587_520
    assert f"{all_reduces * collective_time('all-reduce', one_token, 8, 450e9) * 1e6:.1f}" == "10.2"
    with_hops = all_reduces * collective_time("all-reduce", one_token, 8, 450e9, latency=1e-6)
    assert f"{with_hops * 1e6:.1f}" == "2250.2"


def test_the_links_ridge_point_of_a_v5p_is_2550_along_one_axis() -> None:
    v5p = rw.Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12}, links={"ICI": 1.8e11, "DCN": 2.5e10})
    assert network_ridge_point(v5p) == 2550
    assert network_ridge_point(v5p, link="DCN") == 18360


# -- formulas ----------------------------------------------------------------------------------------------------------


def sent_around_a_ring(n: int) -> dict[str, list[float]]:
    """Count the messages over one link of a one-way ring, in shards of an n-th of the array."""
    farthest = range(1, n)
    return {
        "all-gather": [1.0 for _ in farthest],
        "reduce-scatter": [1.0 for _ in farthest],
        "all-reduce": [1.0 for _ in (*farthest, *farthest)],
        # Each rank gets an n-th of a shard, and it crosses as many links as the rank is hops away.
        "all-to-all": [distance / n for distance in farthest],
        "broadcast": [1.0 for _ in range(n)] if n > 1 else [],
        "permute": [1.0] if n > 1 else [],
    }


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("kind", COLLECTIVES)
def test_a_ring_carries_what_its_messages_add_up_to(kind: str, n: int) -> None:
    shards = sum(sent_around_a_ring(n)[kind])
    assert float(network_bytes(kind, 840, n)) == pytest.approx(840 / n * shards, rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("kind", WHOLE_SHARDS)
def test_both_ways_whole_shards_go_to_the_farther_half_of_the_ring(kind: str, n: int) -> None:
    steps = len([distance for distance in range(1, n) if distance <= n // 2])
    rounds = 2 if kind == "all-reduce" else 1
    time = float(collective_time(kind, 840, n, 10, topology="ring-both-ways"))
    assert time == pytest.approx(rounds * steps * (840 / n) / 10, rel=1e-14)


@pytest.mark.parametrize("n", [2, 4, 8, 64])
def test_both_ways_an_even_ring_takes_a_time_that_does_not_depend_on_its_length(n: int) -> None:
    def over(kind: str) -> float:
        return float(collective_time(kind, 840, n, 10, topology="ring-both-ways"))

    assert over("all-gather") == over("reduce-scatter") == over("broadcast") == 42
    assert over("all-reduce") == 84
    assert over("all-to-all") == 840 / (8 * 10), "a quarter of the all-gather"


@pytest.mark.parametrize("n", [3, 5, 7])
def test_both_ways_an_odd_rings_all_to_all_takes_each_part_the_shorter_way(n: int) -> None:
    byte_hops = sum(min(distance, n - distance) for distance in range(1, n)) * 840 / n**2
    assert float(collective_time("all-to-all", 840, n, 10, topology="ring-both-ways")) == pytest.approx(
        byte_hops / 2 / 10, rel=1e-14
    )


def test_on_a_switch_a_rank_sends_all_of_its_part_but_its_own_share() -> None:
    held = 800 / 8
    assert float(network_bytes("all-to-all", 800, 8, topology="switch")) == pytest.approx(7 / 8 * held, rel=1e-15)
    others = [kind for kind in COLLECTIVES if kind != "all-to-all"]
    for kind in others:
        assert network_bytes(kind, 800, 8, topology="switch") == network_bytes(kind, 800, 8)


def test_a_switch_that_adds_gets_each_array_once_and_gives_the_sum_once() -> None:
    def sent(kind: str, n: int = 8) -> float:
        return float(network_bytes(kind, 800, n, topology="in-network"))

    assert (sent("all-reduce"), sent("reduce-scatter"), sent("all-gather")) == (800, 800, 700)
    assert (sent("all-to-all"), sent("broadcast"), sent("permute")) == (87.5, 800, 100)
    assert [sent(kind, 1) for kind in COLLECTIVES] == [0] * len(COLLECTIVES)
    assert collective_time("all-reduce", 800, 8, 100, latency=1, topology="in-network") == 8 + 1


def test_eight_gpus_that_add_in_the_switch_pass_the_wire_on_bus_bandwidth() -> None:
    # 8 H100: a message takes S / W, so its bus bandwidth is 1.75 x 450 = 787.5 GB/s.
    time = collective_time("all-reduce", 1e9, 8, 450e9, topology="in-network")
    assert float(bus_bandwidth("all-reduce", 1e9, 8, time)) == pytest.approx(787.5e9, rel=1e-12)


# -- messages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("kind", ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"])
def test_the_bus_bandwidth_of_a_message_that_fills_the_link_is_the_links(kind: str, n: int) -> None:
    # The whole array of an all-to-all is n messages.
    array = 1e9 * (n if kind == "all-to-all" else 1)
    time = collective_time(kind, array, n, 450e9, topology="switch")
    assert float(bus_bandwidth(kind, 1e9, n, time)) == pytest.approx(450e9, rel=1e-12)


def test_bandwidths_are_those_of_nccls_tests() -> None:
    # 8 GiB all-reduced by 16 ranks in 33.17 ms: NCCL's tests print 485.6 GB/s.
    assert round(float(bus_bandwidth("all-reduce", 8 * 2**30, 16, 33.17e-3)) / 1e9, 1) == 485.6
    assert round(float(algorithm_bandwidth(8 * 2**30, 33.17e-3)) / 1e9, 1) == 259.0


def test_factors_of_many_messages_are_found_at_once_and_what_is_unknown_stays_unknown() -> None:
    found = bus_factor(["all-reduce", "gather", "send", None, "all-gather"], [4, 4, np.nan, 2, np.nan])
    np.testing.assert_array_equal(found, [1.5, 0.75, 1, np.nan, np.nan])
    assert np.isnan(bus_bandwidth("all-reduce", np.nan, 2, 1))


def test_a_message_of_an_unknown_kind_or_with_half_a_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="no collective is called 'allreduce'; did you mean 'all-reduce'"):
        bus_factor("allreduce", 2)
    with pytest.raises(ValueError, match=r"ranks must be whole numbers from 1, got 2\.5"):
        bus_factor("all-reduce", 2.5)


def test_of_a_hierarchical_all_reduce_each_card_carries_an_eighth() -> None:
    within, across = tier_bytes("all-reduce", 8 * 2**30, 8, 2)
    assert (float(within), float(across)) == (2 * 7 * 2**30, 2**30)


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter"])
def test_the_two_tiers_of_other_collectives_are_half_of_that(kind: str) -> None:
    within, across = tier_bytes(kind, 8e9, 8, 4)
    assert (float(within), float(across)) == pytest.approx((7e9, 0.75e9), rel=1e-12)


def test_an_all_to_all_sends_its_parts_to_the_ranks_of_each_tier() -> None:
    # Of 32 parts of a gigabyte, 7 go to the other ranks of the node, and 24 to other nodes.
    within, across = tier_bytes("all-to-all", 32e9, 8, 4)
    assert (float(within), float(across)) == pytest.approx((7e9, 24e9), rel=1e-12)
    with pytest.raises(ValueError, match="no collective of two tiers is called 'broadcast'"):
        tier_bytes("broadcast", 1, 8, 4)


@pytest.mark.parametrize(("kind", "topology"), PAIRS)
def test_one_rank_alone_sends_nothing_and_waits_for_nobody(kind: str, topology: str) -> None:
    assert float(collective_time(kind, 1e9, 1, 1e9, latency=1.0, topology=topology)) == 0


@pytest.mark.parametrize(
    ("kind", "ring", "both_ways"),
    [
        ("all-gather", 7, 4),
        ("reduce-scatter", 7, 4),
        ("all-to-all", 7, 4),
        ("all-reduce", 14, 8),
        ("broadcast", 7, 7),
        ("permute", 1, None),
    ],
)
def test_each_hop_adds_its_latency(kind: str, ring: int, both_ways: int | None) -> None:
    def hops(topology: str) -> float:
        return float(collective_time(kind, 0, 8, 1e9, latency=0.5, topology=topology)) / 0.5

    assert hops("ring") == hops("switch") == ring
    assert both_ways is None or hops("ring-both-ways") == both_ways


@pytest.mark.parametrize(("kind", "topology"), PAIRS)
@given(size=sizes, n=ranks, bandwidth=rates)
def test_without_latency_time_is_the_bytes_sent_over_the_bandwidth_they_are_sent_at(
    kind: str, topology: str, size: float, n: int, bandwidth: float
) -> None:
    sent = float(network_bytes(kind, size, n, topology=topology))
    directions = 2 if topology == "ring-both-ways" else 1
    # With an even number of ranks one direction has nothing to send in the last step.
    idle = n / (n - 1) if topology == "ring-both-ways" and kind in WHOLE_SHARDS and n % 2 == 0 else 1
    time = float(collective_time(kind, size, n, bandwidth, topology=topology))
    assert time == pytest.approx(idle * sent / (directions * bandwidth), rel=1e-14)
    over_all_links = float(collective_time(kind, size, n, linked(bandwidth), topology=topology))
    assert over_all_links == pytest.approx(idle * sent / bandwidth, rel=1e-14)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("kind", WHOLE_SHARDS)
def test_both_ways_a_rank_sends_what_it_sends_one_way(kind: str, n: int) -> None:
    """Each of the n - 1 shards that a rank passes on goes left or right, however these are distributed."""
    left, right = n // 2, (n - 1) // 2
    rounds = 2 if kind == "all-reduce" else 1
    sent = float(network_bytes(kind, 840, n, topology="ring-both-ways"))
    assert sent == float(network_bytes(kind, 840, n)) == pytest.approx(rounds * (left + right) * 840 / n, rel=1e-15)


@pytest.mark.parametrize(("kind", "topology"), PAIRS)
def test_the_bytes_sent_are_what_a_kernel_is_given_as_its_network_bytes(kind: str, topology: str) -> None:
    chip, ranks_ = linked(450e9), 7
    step = rw.Kernel("step", 1e4, {"HBM": 1e3, "network": float(network_bytes(kind, 1e13, ranks_, topology=topology))})
    bound = rw.bound(step, chip)
    assert bound.regime.tolist() == ["network"]
    time = float(collective_time(kind, 1e13, ranks_, chip, topology=topology))
    assert bound.time[0] == pytest.approx(time, rel=1e-15)


@pytest.mark.parametrize("kind", WHOLE_SHARDS)
def test_a_kernel_on_an_even_ring_both_ways_is_given_the_bytes_that_the_links_have_time_for(kind: str) -> None:
    chip = linked(450e9, latency=1.0)
    time = float(collective_time(kind, 1e13, 8, chip, latency=0, topology="ring-both-ways"))
    step = rw.Kernel("step", 1e4, {"HBM": 1e3, "network": time * chip.link_bandwidth()})
    assert rw.bound(step, chip).time[0] == pytest.approx(time, rel=1e-15)
    assert time > float(network_bytes(kind, 1e13, 8, topology="ring-both-ways")) / chip.link_bandwidth()


def test_sizes_bandwidths_latencies_and_times_may_be_text_with_a_unit() -> None:
    time = collective_time("all-reduce", "1 GB", 8, "450 GB/s", latency="1 us")
    assert float(time) == pytest.approx(1.75e9 / 450e9 + 14e-6, rel=1e-15)
    assert float(network_bytes("all-gather", "8 MB", 8)) == 7e6
    assert float(network_intensity("1 TFLOP", "400 MB")) == 2500
    assert float(exposed_fraction("2 ms", 0, body_time="8 ms")) == pytest.approx(0.2, rel=1e-15)
    assert float(exposed_fraction("10 ms", "8 ms")) == pytest.approx(0.2, rel=1e-15)
    assert float(effective_roof("2 PFLOP/s", 0.5)) == 1e15


def test_numbers_give_a_float() -> None:
    found = [
        collective_time("all-reduce", 1e9, 8, 450e9),
        collective_time("all-reduce", 1e9, np.int64(8), 450e9, latency=1e-6),
        network_bytes("all-reduce", 1e9, 8),
        network_intensity(1e12, 0),
        exposed_fraction(10e-3, 8e-3),
        effective_roof(2307e12, 0.2),
    ]
    assert {type(number) for number in found} == {float}
    assert found[2] == 1.75e9


def test_arrays_broadcast() -> None:
    times = collective_time("all-gather", [[100], [200]], [1, 2, 4], 10, latency=[0, 0, 1])
    assert times == pytest.approx(np.array([[0, 5, 10.5], [0, 10, 18]]), rel=1e-15)
    assert collective_time("all-gather", 100, 2, [10, 20]).tolist() == [5, 2.5]


def test_a_link_or_chip_brings_its_latency_unless_another_is_given() -> None:
    link = Link("Link", 100.0, latency=2.0)
    assert float(collective_time("permute", 400, 2, link)) == 4
    assert float(collective_time("permute", 400, 2, linked(100.0, 2.0))) == 4
    assert float(collective_time("permute", 400, 2, link, latency=0)) == 2
    assert float(collective_time("permute", 400, 2, Link("Link", 100.0))) == 2


# -- exposed communication ---------------------------------------------------------------------------------------------


def test_the_guides_exposed_shares_leave_its_flat_roofs() -> None:
    peak = rw.preset("tpu-roofline-guide").chips[1].peak()
    assert [f"{roof / 1e12:.1f}" for roof in effective_roof(peak, [0.2, 0.4, 0.6])] == ["1845.6", "1384.2", "922.8"]


def test_what_the_rest_of_the_step_hides_is_not_exposed() -> None:
    assert exposed_fraction([0, 4, 5, 10, 20], 5).tolist() == [0, 0, 0, 0.5, 0.75]
    assert float(exposed_fraction(0, 0)) == 0
    assert float(exposed_fraction(3, 0)) == 1


@given(network=st.floats(0, 1e3), hiding=st.floats(0, 1e3), rest=st.floats(1e-3, 1e3))
def test_the_body_over_what_is_not_exposed_is_the_whole_step(network: float, hiding: float, rest: float) -> None:
    body = hiding + rest
    share = float(exposed_fraction(network, hiding, body_time=body))
    assert 0 <= share < 1
    assert body / (1 - share) == pytest.approx(body + max(0.0, network - hiding), rel=1e-9)


def test_the_exposed_fraction_is_what_bound_takes() -> None:
    chip = linked(100.0)
    share = float(exposed_fraction(30, 10))
    by_share = rw.bound([("step", 1e5, 100)], chip, exposed_comm=share)
    by_bytes = rw.bound(rw.Kernel("step", 1e5, {"HBM": 100, "network": 3000}), chip)
    assert by_share.time[0] == pytest.approx(by_bytes.time[0], rel=1e-15)
    assert by_bytes.exposed_fraction[0] == pytest.approx(share, rel=1e-15)


def test_network_intensity_is_infinite_where_nothing_is_sent() -> None:
    assert network_intensity([8, 0, 8], [2, 2, 0]).tolist() == [4, 0, math.inf]
    assert math.isnan(float(network_intensity(0, 0)))


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda: collective_time("all-reduse", 1, 2, 1), ValueError, r"'all-reduse'; did you mean 'all-reduce'\?"),
        (lambda: collective_time(7, 1, 2, 1), TypeError, "^collective must be text, got 7"),  # type: ignore[call-overload]
        (lambda: network_bytes("scan", 1, 2), ValueError, "no collective is called 'scan'"),
        (lambda: network_bytes("permute", 1, 2, topology="tree"), ValueError, "no topology is called 'tree'"),
        (lambda: network_bytes("permute", 1, 2, topology="ring-both-ways"), ValueError, "^a permute .* 'switch'$"),
        (lambda: collective_time("permute", -1, 2, 1), ValueError, "size must be a finite number .* got -1.0"),
        (lambda: collective_time("permute", [1, math.nan], 2, 1), ValueError, "size .* got nan"),
        (lambda: collective_time("permute", 1, 0, 1), ValueError, "ranks must be whole numbers from 1, got 0"),
        (lambda: collective_time("permute", 1, [2, 2.5], 1), ValueError, "ranks must be whole numbers .* got 2.5"),
        (lambda: collective_time("permute", 1, "2", 1), TypeError, "ranks must be numbers, got '2'"),
        (lambda: collective_time("permute", "1 s", 2, 1), ValueError, "^size: 's' is not a unit of B"),
        (lambda: collective_time("permute", 1, 2, "1 GB"), ValueError, "^bandwidth: 'GB' is not a unit of B/s"),
        (lambda: collective_time("permute", 1, 2, 1, latency="short"), ValueError, "^latency: no number in 'short'"),
        (lambda: collective_time("permute", ["1", "x"], 2, 1), TypeError, "^size must be numbers that fit double"),
        (lambda: collective_time("permute", 10**400, 2, 1), TypeError, "^size must be numbers that fit double"),
        (lambda: effective_roof(1, "half"), TypeError, "^exposed must be numbers, got 'half'"),
        (lambda: collective_time("permute", 1, 2, 0), ValueError, "bandwidth must be a finite number above zero"),
        (lambda: collective_time("permute", 1, 2, 1, latency=-1), ValueError, "latency must be a finite number"),
        (lambda: collective_time("permute", 1, 2, Link("ICI")), rw.MissingFigureError, "the link 'ICI' has no bandw"),
        (lambda: collective_time("permute", 1, 2, linked(None)), rw.MissingFigureError, "chip has no .*Link"),
        (lambda: collective_time("permute", 1, 2, 1, topologie="ring"), TypeError, "did you mean 'topology'"),  # type: ignore[call-overload]
        (
            lambda: exposed_fraction(1, 3, body_time=2),
            ValueError,
            "^overlappable_time is a part of body_time and cannot be longer$",
        ),
        (lambda: exposed_fraction(-1, 3), ValueError, "network_time must be a finite number"),
        (lambda: effective_roof(1, [0.5, 1]), ValueError, "below 1, got 1.0"),
        (lambda: effective_roof(1, -0.5), ValueError, "exposed must be a finite number that is not negative"),
        (lambda: network_intensity(1, -1), ValueError, "network_bytes must be a finite number"),
        (lambda: network_intensity(-1, 1), ValueError, "^flops must be a finite number"),
        (lambda: exposed_fraction(1, -1), ValueError, "^overlappable_time must be a finite number"),
        (lambda: exposed_fraction(1, 1, body_time=-1), ValueError, "^body_time must be a finite number"),
        (lambda: exposed_fraction(1, 1, body_time="1 B"), ValueError, "^body_time: 'B' is not a unit of s"),
        (lambda: effective_roof(-1, 0.5), ValueError, "^attainable must be a finite number"),
    ],
)
def test_what_cannot_be_is_named(asked: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asked()
