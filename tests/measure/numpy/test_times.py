"""Times of calls and of operations, by an injected clock, and what a profile says about time that it cannot explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from roofwidget.measure import system
from roofwidget.measure.counts import Request
from roofwidget.measure.numpy.counter import count, count_without_running
from roofwidget.measure.system import Usage


class Clock:
    """Time passes only where a function lets it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_timed_calls_come_after_the_warm_up_and_the_counting_call() -> None:
    clock = Clock()
    seconds = iter([9, 9, 9, 1, 2, 30])

    def work(a: Any) -> Any:
        clock.now += next(seconds)
        return a + 1

    counts = count(work, (np.ones(3),), {}, Request("op", "call", 2, 3, clock))
    # Two warm up, one call counts, three are timed.
    assert counts.call_times == (1, 2, 30)
    assert counts.ops[0].time is None


def test_the_function_is_called_to_warm_up_then_once_to_count_then_timed_then_for_each_operation() -> None:
    kinds = []

    def work(a: Any) -> Any:
        kinds.append(type(a).__name__)
        return a + 1

    count(work, (np.ones(3),), {}, Request("op", "op", 1, 2))
    assert kinds == ["ndarray", "CountedArray", *["ndarray"] * 2, *["CountedArray"] * 2]


def test_operations_have_the_median_of_their_own_times() -> None:
    clock = Clock()
    counting, calls, passes = [100, 100], [50, 50] * 3, [1, 5, 3, 4, 2, 60]
    ticks = iter(counting + calls + passes)

    def tick(a: Any, b: Any) -> Any:
        clock.now += next(ticks)
        return a + b

    # A function that numpy calls on elements: time passes inside each of the two operations.
    slow = np.frompyfunc(tick, 2, 1)
    counts = count(lambda a: slow(a, slow(a, 1.0)), (np.ones(1),), {}, Request("op", "op", 0, 3, clock))
    assert [op.time for op in counts.ops] == [2, 5]


def test_operations_that_differ_from_call_to_call_have_no_times() -> None:
    calls = []

    def work(a: Any) -> Any:
        calls.append(1)
        return np.exp(a) if len(calls) == 1 else np.sin(a)

    counts = count(work, (np.ones(3),), {}, Request("op", "op", 0, 2))
    assert counts.ops[0].time is None
    assert "the operations differ from call to call: they have no times" in counts.warnings


def test_a_call_whose_time_the_operations_do_not_explain_says_so() -> None:
    clock = Clock()

    def work(a: Any) -> Any:
        clock.now += 1
        return a + 1

    (warning,) = count(work, (np.ones(3),), {}, Request("op", "op", 0, 1, clock)).warnings
    assert warning.startswith("the counted operations take 0 % of a call (1 s); the rest is Python code")
    assert "rw.measured(flops=…, bytes=…)" in warning


def busy(others: float) -> Any:
    """Return readings of the processor time, 10 s apart, in which other programs use a share of two processors."""
    readings = iter([Usage(0, 0, 0, 0), *[Usage(10, 2, 2 + 20 * others, 0)] * 2])
    return lambda: next(readings)


def test_on_a_busy_machine_no_time_is_said_to_be_unexplained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "usable_processors", lambda: (0, 1))

    def counted(others: float) -> Any:
        clock = Clock()

        def work(a: Any) -> Any:
            clock.now += 1
            return a + 1

        return count(work, (np.ones(3),), {}, Request("op", "op", 0, 1, clock, usage=busy(others)))

    assert "the rest is Python code" in counted(0.05).warnings[0]
    assert (counted(0.64).warnings, counted(0.64).load) == ((), system.Shares(0.64, 0.0))


def test_counting_without_running_says_that_numpy_ran_once() -> None:
    calls: list[Any] = []
    counts = count_without_running(calls.append, (np.ones(3),), {}, Request("op", None, 0, 1))
    assert len(calls) == 1
    assert counts.warnings == ("the function ran once: numpy cannot count without running",)
    assert counts.call_times == ()


def test_numpy_fuses_nothing() -> None:
    with pytest.raises(ValueError, match="by: numpy runs each operation by itself and fuses none; use by='op'"):
        count(np.exp, (np.ones(3),), {}, Request("fusion"))
