"""Idle time of devices in PyTorch's traces, and copies that cross a link."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import read
from tests import places
from tests.tables import has_columns

FIXTURES = places.FIXTURES / "torch"
IDLE = "idle or not profiled"


def ran(name: str, start: float, microseconds: float, *, device: int = 0, stream: int = 7, **more: Any) -> Any:
    """Return the event of a kernel, or of a copy if bytes are given."""
    args = {"device": device, "stream": stream, **more}
    category = "gpu_memcpy" if "bytes" in more else "kernel"
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": microseconds, "args": args}


def trace(*events: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


@pytest.mark.parametrize("by", ["operation", "kernel"])
def test_the_span_less_the_union_of_all_streams_is_idle(by: str) -> None:
    # The span is 10 to 40; two streams are busy from 10 to 20, one from 25 to 26.
    events = [ran("b", 12, 8, stream=8), ran("a", 10, 4), ran("c", 25, 1), ran("d", 38, 2)]
    kernels = read(trace(*events), by=by)
    has_columns(kernels, names=["a", "b", "c", "d", IDLE], category=[None] * 4 + ["idle"])
    np.testing.assert_allclose(kernels.time * 1e6, [4, 8, 1, 2, 17], rtol=1e-12)
    assert "kernels overlap: their times add up to 115.4% of the time in which devices were busy" in (kernels.warnings)


@pytest.mark.parametrize(
    ("data", "times"),
    [
        # Two streams from 10 to 20; idle from 20 to 25 and from 26 to 38.
        (trace(ran("b", 12, 8, stream=8), ran("a", 10, 4), ran("c", 25, 1), ran("d", 38, 2)), (13, 17, 15, 12, 16)),
        # Device 0 is idle from 2 to 6, device 1 from 3 to 4.
        (
            trace(*(ran("k", start, 2, device=device) for start, device in ((0, 0), (1, 1), (4, 1), (6, 0)))),
            (8, 5, 8, 4, 2),
        ),
        (trace(ran("a", 0, 3), ran("b", 1, 1, stream=8)), (3, 0, 4, 0, 0)),
    ],
    ids=["streams", "devices", "without idle time"],
)
def test_the_activity_has_the_union_of_all_streams_and_the_longest_gap(data: bytes, times: tuple[float, ...]) -> None:
    activity = read(data).activity
    assert activity is not None
    found = (activity.busy, activity.idle, activity.added, activity.gap, activity.gap_start)
    assert np.array(found) * 1e6 == pytest.approx(np.array(times))
    assert read(data, idle=False).activity is None


def test_without_overlap_shares_of_time_are_shares_of_the_span() -> None:
    kernels = read(trace(ran("a", 0, 1), ran("c", 7, 3), ran("b", 1.5, 2)))
    np.testing.assert_allclose(kernels.time / 10e-6, [0.1, 0.2, 0.3, 0.4], rtol=1e-12)
    assert "overlap" not in str(kernels.warnings)


def test_a_short_kernel_beside_a_long_one_does_not_end_it() -> None:
    kernels = read(trace(ran("long", 0, 10), ran("short", 2, 1, stream=8), ran("late", 12, 1)))
    assert kernels.time[kernels.names == IDLE] == pytest.approx(2e-6)


def test_devices_are_idle_each_by_itself() -> None:
    # Device 0 is idle from 2 to 6, device 1 from 3 to 4; time outside a device's own events does not count.
    kernels = read(trace(*(ran("k", start, 2, device=device) for start, device in ((0, 0), (1, 1), (4, 1), (6, 0)))))
    assert kernels.names.tolist() == ["k", IDLE]
    assert (kernels.time[1], kernels.count[1]) == (pytest.approx(5e-6), 2)
    each = kernels.launches_of(1)
    assert dict(zip(each.extra["device"], each.time, strict=True)) == pytest.approx({0: 4e-6, 1: 1e-6})


def test_idle_time_is_unknown_work_and_no_part_of_what_is_said_of_unknown_flops() -> None:
    shaped = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9}
    shaped["args"] = {"External id": 1, "Input Dims": [[2, 3], [3, 4]], "Input type": ["float"] * 2}
    kernels = read(trace(shaped, ran("gemm", 20, 3, **{"External id": 1}), ran("other", 30, 1)))
    assert np.isnan(kernels.flops[-1])
    assert np.isnan(kernels.bytes[-1])
    assert kernels.precision[-1] is None
    assert "less the union" in kernels.origin["time"][-1]
    # Of the 4 microseconds of kernels; 7 of 11 are idle.
    assert "FLOPs are unknown for 25.0% of the time, most of it in 'other'" in kernels.warnings
    totals = kernels.totals()
    assert (totals["flops"], totals["time"], totals["time without flops"]) == pytest.approx((48, 11e-6, 8e-6))
    bound = rw.bound(kernels, "h100-sxm")
    assert bound.bound_by[-1] == "unknown"
    assert np.isnan(bound.headroom[-1])


def test_idle_time_can_be_left_out() -> None:
    data = trace(ran("a", 0, 1), ran("b", 5, 1))
    assert IDLE in read(data).names
    assert read(data, idle=False).names.tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="idle must be True or False, got 'no'"):
        read(data, idle="no")


@pytest.mark.parametrize(
    "data",
    [
        trace(ran("alone", 3, 2)),
        trace(ran("a", 0, 2), ran("b", 2, 1)),
        # A gap of a billionth of the span is a rounding error.
        trace(ran("a", 0, 1000), ran("b", 1000.000001, 1)),
        trace(ran("a", 0, 0)),
        (FIXTURES / "host.trace.json").read_bytes(),
        (FIXTURES / "cupti.trace.json").read_bytes(),
        (FIXTURES / "averages.txt").read_bytes(),
    ],
    ids=["one kernel", "back to back", "rounding", "no time", "host", "CUPTI", "averages"],
)
def test_where_no_device_waits_or_times_are_none_of_a_device_there_is_no_idle_row(data: bytes) -> None:
    assert "idle" not in read(data).category.tolist()


@pytest.mark.parametrize(
    ("name", "level", "times"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "host", 1),
        ("Memcpy DtoH (Device -> Pinned)", "host", 1),
        ("Memcpy HtoD (Host -> Device)", "host", 1),
        ("zeCommandListAppendMemoryCopy(D2M)", "host", 1),
        ("Memcpy PtoP (Device -> Device)", "peer", 1),
        ("Memcpy DtoD (Device -> Device)", "main", 2),
        ("Memset (Device)", "main", 1),
    ],
)
def test_bytes_of_copies_are_at_the_level_that_they_cross(name: str, level: str, times: int) -> None:
    kernels = read(trace(ran(name, 0, 4, bytes=1000), ran("k", 4, 1)))
    told = {key: column[0] for key, column in kernels.bytes_by_level.items() if not np.isnan(column[0])}
    assert told == {level: times * 1000}
    assert kernels.category[0] == "copy"
    assert {key for key in kernels.origin if key.startswith("bytes:") and kernels.origin[key][0]} == {f"bytes:{level}"}


def test_a_copy_from_the_host_has_time_but_neither_bound_nor_headroom() -> None:
    kernels = read(
        trace(ran("Memcpy HtoD (Pageable -> Device)", 0, 4, bytes=1000), ran("Memset (Device)", 4, 1, bytes=8))
    )
    for memory in ("main", "all"):
        bound = rw.bound(kernels, "h100-sxm", memory=memory)
        has_columns(bound, measured=pytest.approx([4e-6, 1e-6]), bound_by=["unknown", "HBM"])
        assert np.isnan(bound.headroom).tolist() == [True, False]
    assert kernels.flops.tolist() == [0, 0]
