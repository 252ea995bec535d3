"""Times: calls and operations in passes of their own, by an injected clock."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import torch
from torch import nn

import roofwidget as rw
from roofwidget.measure.counts import OpCount, Request
from roofwidget.measure.torch import counter
from roofwidget.measure.torch.timing import ClockWatch, EventWatch
from roofwidget.measure.torch.watch import Watch
from tests.tables import warns


def ticking() -> Any:
    """Return a clock that moves on by a second each time it is read."""
    seconds = count()
    return lambda: float(next(seconds))


def test_each_operation_and_each_call_is_timed_by_the_given_clock() -> None:
    request = Request(warmup=1, repeat=3, clock=ticking())
    counts = counter.count(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), (torch.zeros(2, 8),), {}, request)
    assert [(op.name, op.time) for op in counts.ops] == [("t", 1.0), ("addmm", 1.0), ("relu", 1.0)]
    assert counts.call_times == (1.0, 1.0, 1.0)


def test_the_time_of_an_operation_is_the_median_over_the_passes() -> None:
    # Two reads for the one timed call, then two for the operation of each of three passes.
    readings = iter([0.0, 1.0, *[2.0, 4.0], 5.0, 6.0, 10.0, 18.0, 20.0, 22.0, 30.0, 33.0])
    request = Request(warmup=0, repeat=3, clock=lambda: next(readings))
    counts = counter.count(torch.relu, (torch.zeros(4),), {}, request)
    assert counts.call_times == (1.0, 2.0, 1.0)
    assert [op.time for op in counts.ops] == [3.0]


def test_only_calls_are_timed_if_asked() -> None:
    counts = counter.count(torch.relu, (torch.zeros(4),), {}, Request(timing="call", repeat=2, clock=ticking()))
    assert (counts.call_times, counts.ops[0].time) == ((1.0, 1.0), None)


def test_nothing_is_timed_if_asked() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(x)
        return x + 1

    counts = counter.count(f, (torch.zeros(4),), {}, Request(timing=None))
    assert (counts.call_times, counts.ops[0].time, len(calls)) == ((), None, 1)


def test_counting_and_timing_are_separate_calls() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(torch.utils._python_dispatch._get_current_dispatch_mode())
        return x + 1

    counter.count(f, (torch.zeros(4),), {}, Request(warmup=2, repeat=3, clock=ticking()))
    kinds = [type(mode).__name__ for mode in calls]
    assert kinds == ["NoneType", "NoneType", "OpCounter", *["NoneType"] * 3, *["OpTimer"] * 3]


def test_operations_that_change_from_call_to_call_have_no_times_and_say_so() -> None:
    growing: list[Any] = []

    def f(x: Any) -> Any:
        growing.append(x)
        for each in growing:
            x = x + each
        return x

    profile = rw.profile(f, torch.zeros(4), warmup=0, repeat=2)
    assert "differ from call to call" in profile.warnings[0]
    assert profile.ops_time is None
    assert profile.time is not None


@pytest.mark.parametrize("kind", [torch.optim.Adam, lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9)])
def test_the_first_profile_of_a_training_step_has_times(kind: Any) -> None:
    model = nn.Linear(4, 4)
    optimizer = kind(model.parameters())

    def step(x: Any) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    profile = rw.profile(step, torch.zeros(2, 4))
    assert profile.ops_time is not None
    assert not warns(profile, "differ from call to call")


def test_a_backward_pass_does_the_same_in_each_call() -> None:
    model = nn.Linear(4, 4)

    def step(x: Any) -> None:
        model(x).sum().backward()

    counts = counter.count(step, (torch.zeros(2, 4),), {}, Request(warmup=0, repeat=2, clock=ticking()))
    assert counts.warnings == ()
    assert {op.time for op in counts.ops} == {1.0}
    with torch.autocast("cpu", torch.bfloat16):
        cast = counter.count(step, (torch.zeros(2, 4),), {}, Request(warmup=0, repeat=2, clock=ticking()))
    assert cast.warnings == ()


class Event:
    """An event of a device whose clock moves on by 2 ms with each event."""

    def __init__(self, log: list[str], clock: Iterator[int]) -> None:
        self.log, self.clock = log, clock

    def record(self) -> None:
        self.log.append("record")
        self.at = 2.0 * next(self.clock)

    def elapsed_time(self, later: Event) -> float:
        self.log.append("elapsed")
        return later.at - self.at


def test_events_of_a_device_are_recorded_for_all_operations_and_awaited_once() -> None:
    log: list[str] = []
    clock = count()
    watch = EventWatch(lambda: Event(log, clock), lambda: log.append("synchronize"))
    for _ in range(3):
        watch.start()
        watch.stop()
    assert watch.seconds() == [0.002, 0.002, 0.002]
    assert log == ["record"] * 6 + ["synchronize"] + ["elapsed"] * 3


def test_a_clock_is_read_when_the_device_has_nothing_left_to_do() -> None:
    log: list[str] = []

    def clock() -> float:
        log.append("clock")
        return float(len(log))

    watch = ClockWatch(clock, lambda: log.append("synchronize"))
    watch.start()
    watch.stop()
    assert log == ["synchronize", "clock", "synchronize", "clock"]
    assert watch.seconds() == [2.0]


def test_a_watch_reports_each_operation_counted_and_timed() -> None:
    seen: list[OpCount] = []
    model = nn.Linear(8, 8)
    with Watch(seen.append, ticking()):
        model(torch.zeros(2, 8)).relu()
    assert [(op.name, op.module, op.time) for op in seen if op.flops] == [
        ("addmm", "Linear", 1.0),
        ("relu", "", 1.0),
    ]
    model(torch.zeros(2, 8))
    assert len(seen) == 4


def test_a_watch_ends_when_an_error_passes_through() -> None:
    seen: list[OpCount] = []
    with pytest.raises(RuntimeError, match="size"), Watch(seen.append, ticking()):
        torch.zeros(2).add_(torch.zeros(3))
    torch.zeros(2).add_(1)
    assert [op.name for op in seen] == ["zeros", "zeros"]
