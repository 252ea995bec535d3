"""Collectives of many ranks: the wire, the wait of each rank, the late rank, and what other kernels hide."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import read

N = 8
LATE = 5
WIRE = {1_000_000: 100.0, 4_000_000: 250.0, 16_000_000: 900.0}
"""Microseconds of an all-reduce over the wire, by its fp32 elements."""
STEP = 4000.0
HIDDEN = 60.0
"""Microseconds of each all-reduce that a kernel on another stream hides."""


def event(name: str, start: float, microseconds: float, stream: int, **args: Any) -> Any:
    found = {"device": 0, "stream": stream, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "ts": start, "dur": microseconds, "args": found}


def all_reduce(start: float, end: float, elements: int, number: int | None) -> Any:
    about = {
        "Collective name": "allreduce",
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": N,
        "dtype": "Float",
        "Process Group Name": "0",
        "Process Group Ranks": str(list(range(N))),
    }
    numbered = {} if number is None else {"Seq": number}
    return event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, end - start, 40, **about, **numbered)


def delay(rank: int) -> float:
    """Return by how many microseconds a rank comes later than the first: the late rank by 140, others by up to 7."""
    return 140.0 if rank == LATE else float(rank)


def trace(rank: int, *, numbered: bool = True, steps: Sequence[int] = range(3)) -> bytes:
    """Return the trace of a rank on a clock of its own: each step has a kernel before each all-reduce."""
    events = []
    clock = 1e6 * (rank + 1)
    for step in steps:
        for place, (elements, wire) in enumerate(WIRE.items()):
            begin = clock + STEP * step + 1300.0 * place
            arrives, ends = begin + 100 + delay(rank), begin + 240 + wire
            number = len(WIRE) * step + place if numbered else None
            events += [event("gemm", begin, 100 + delay(rank), 7), all_reduce(arrives, ends, elements, number)]
            events.append(event("gelu", ends - HIDDEN, HIDDEN, 7))
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


def eight(**options: Any) -> rw.Ranks:
    return rw.ranks({f"rank {rank}": read(trace(rank, **options)) for rank in range(N)})


@pytest.mark.parametrize("numbered", [True, False])
def test_the_wire_is_the_time_of_the_rank_that_comes_last(*, numbered: bool) -> None:
    messages = eight(numbered=numbered).messages
    assert messages is not None
    assert len(messages) == 9
    np.testing.assert_allclose(messages.wire, 1e-6 * np.array([*WIRE.values()] * 3), rtol=1e-6)
    assert set(messages.late_rank) == {f"rank {LATE}"}
    np.testing.assert_allclose(
        messages.waiting[0], 1e-6 * np.array([140 - delay(rank) for rank in range(N)]), atol=1e-12
    )
    np.testing.assert_allclose(messages.skew, 140e-6, rtol=1e-6)


def test_bytes_and_the_bus_bandwidth_on_the_wire_are_those_of_the_messages() -> None:
    messages = eight().messages
    assert messages is not None
    elements, wire = (np.array([*part] * 3) for part in (WIRE.keys(), WIRE.values()))
    np.testing.assert_allclose(messages.size, 4.0 * elements)
    np.testing.assert_allclose(messages.sent, 7.0 * elements)
    np.testing.assert_allclose(messages.bus_bandwidth, 7.0 * elements / (wire * 1e-6), rtol=1e-6)
    assert set(messages.kind) == {"all-reduce"}
    assert set(messages.group) == {"0 [0, 1, 2, 3, 4, 5, 6, 7]"}


def test_each_rank_has_the_share_of_its_communication_that_is_hidden() -> None:
    spent = [3 * sum(wire + 140 - delay(rank) for wire in WIRE.values()) for rank in range(N)]
    np.testing.assert_allclose(eight().hidden_share, [9 * HIDDEN / time for time in spent], rtol=1e-6)


def test_the_report_says_bytes_rate_hidden_share_and_who_comes_last() -> None:
    ranks = eight()
    assert ranks.last == f"rank {LATE}"
    np.testing.assert_allclose(ranks.waiting, [9e-6 * (140 - delay(rank)) for rank in range(N)], atol=1e-12)
    text = repr(ranks)
    # 3 x 7 x 21 million bytes in 3 x 1250 us.
    said = "communication at the median rank: 9 collectives, 441 MB in 3.75 ms on the wire (118 GB/s), 11 % hidden"
    assert said in text
    assert "waiting in collectives: 1.23 ms at the median rank; rank 5 comes last" in text


def test_a_rank_whose_profile_begins_later_is_matched_by_sequence_numbers() -> None:
    tables = {f"rank {rank}": read(trace(rank, steps=range(1 if rank == 2 else 0, 3))) for rank in range(N)}
    messages = rw.ranks(tables).messages
    assert messages is not None
    assert len(messages) == 9
    # Of the first three the profile of a rank is missing, so another rank may have come last.
    assert messages.missing_ranks.tolist() == [1] * 3 + [0] * 6
    assert np.isnan([*messages.wire[:3], *messages.skew[:3]]).all()
    assert messages.late_rank.tolist() == [None] * 3 + [f"rank {LATE}"] * 6
    np.testing.assert_allclose(messages.wire[3:], 1e-6 * np.array([*WIRE.values()] * 2), rtol=1e-6)
    assert np.isnan(messages.time[:3, 2]).all()
    assert not np.isnan(messages.time[3:]).any()


def test_two_ranks_of_eight_name_neither_the_wire_nor_the_rank_that_comes_last() -> None:
    ranks = rw.ranks({f"rank {rank}": read(trace(rank)) for rank in range(2)})
    messages = ranks.messages
    assert messages is not None
    assert messages.missing_ranks.tolist() == [6] * 9
    assert np.isnan([*messages.wire, *messages.skew, *messages.bus_bandwidth]).all()
    assert messages.late_rank.tolist() == [None] * 9
    assert ranks.last is None
    assert "6 of 8 ranks have no profile, so waiting and the last rank are unknown" in repr(ranks)


def one(rank: int, kind: str, times: Sequence[float], group: str | None = "0", **extra: Any) -> rw.Kernels:
    n = len(times)
    more = {"collective": [kind] * n, "message size (B)": [8.0] * n, "ranks": [2.0] * n, "group": [group] * n, **extra}
    table = rw.Kernels(["ncclKernel"] * n, [0] * n, [16] * n, time=list(times), extra={**more, "device": rank})
    return table.groupby("name")


def test_a_rank_may_leave_a_broadcast_early_so_its_wire_and_its_wait_are_unknown() -> None:
    ranks = rw.ranks([one(0, "broadcast", [1.0]), one(1, "broadcast", [3.0])])
    assert ranks.messages is not None
    assert np.isnan([*ranks.messages.wire, *ranks.messages.skew, *ranks.messages.bus_bandwidth]).all()
    assert ranks.messages.late_rank.tolist() == [None]
    assert ranks.waiting.tolist() == [0, 0]


def test_sends_are_of_two_ranks_and_are_not_compared() -> None:
    assert rw.ranks([one(0, "send", [1.0]), one(1, "send", [3.0])]).messages is None


def test_messages_of_two_groups_are_not_mixed() -> None:
    ranks = rw.ranks([one(0, "all-reduce", [1.0, 2.0]), one(1, "all-reduce", [5.0, 4.0], group="1")])
    assert ranks.messages is None
    tables = [one(rank, "all-reduce", [1.0 + rank, 5.0], group=None) for rank in range(2)]
    found = rw.ranks(tables).messages
    assert found is not None
    assert found.time.tolist() == [[1, 2], [5, 5]]


def test_profiles_with_only_sums_are_compared_as_sums() -> None:
    tables = [one(rank, "all-reduce", [1.0, 2.0 + rank]).replace(launches=None) for rank in range(2)]
    ranks = rw.ranks(tables)
    assert ranks.messages is None
    np.testing.assert_allclose(ranks.waiting, [0, 1])
    assert "communication" not in repr(ranks)


def test_messages_are_pickled_by_public_names() -> None:
    messages = eight().messages
    again = pickle.loads(pickle.dumps(messages))  # noqa: S301 - our own bytes
    assert messages is not None
    np.testing.assert_array_equal(again.time, messages.time)
