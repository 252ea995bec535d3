"""Sampling within a budget, with a clock that only the probes advance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, repeat

import pytest

from roofwidget.measure.probes import Probe
from roofwidget.measure.sampling import Sample, Sampler


class Clock:
    """A clock that stands still unless something takes time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def probe(clock: Clock, times: Iterator[float], work: float = 1.0, method: str = "test") -> Probe:
    def seconds(count: int) -> Sequence[float]:
        found = [next(times) for _ in range(count)]
        clock.now += sum(found)
        return found

    return Probe(work, seconds, method)


def matmul(clock: Clock, flops_per_s: Callable[[int], float]) -> Callable[[int], Probe]:
    return lambda size: probe(clock, repeat(2.0 * size**3 / flops_per_s(size)), 2.0 * size**3, str(size))


def doubled(rates: dict[int, float], budget_s: float) -> Sample:
    clock = Clock()
    return Sampler(clock).doubled(matmul(clock, lambda size: rates[size]), tuple(rates), budget_s)


def test_the_best_the_median_and_the_spread_are_of_the_timed_runs_without_the_warm_up() -> None:
    clock = Clock()
    found = Sampler(clock, steps=5, warmup=2).sample(probe(clock, iter([9, 9, 1, 2, 4, 5, 8]), work=40), 1000)
    assert found.rates == (40, 20, 10, 8, 5)
    assert (found.best, found.median, found.spread) == (40, 10, (20 - 8) / 40)
    assert not found.warnings


def test_the_spread_of_two_rates_is_their_distance_and_one_rate_has_none() -> None:
    empty = Probe(1.0, lambda _count: [], "")
    assert Sample((9.0, 10.0, 8.0), empty).spread == pytest.approx(2 / 10)
    assert Sample((9.0,), empty).spread is None


def test_sampling_ends_early_when_the_three_best_runs_agree() -> None:
    clock = Clock()
    found = Sampler(clock).sample(probe(clock, repeat(0.03)), 1000)
    assert len(found.rates) == 5
    assert found.is_settled


def test_sampling_goes_on_while_the_best_runs_differ() -> None:
    clock = Clock()
    falling = (0.99**number for number in range(1000))
    found = Sampler(clock).sample(probe(clock, (time**3 for time in falling)), 1000)
    assert len(found.rates) == 60
    assert not found.is_settled


def test_quick_runs_are_sampled_for_a_tenth_of_a_second_at_least() -> None:
    clock = Clock()
    found = Sampler(clock).sample(probe(clock, repeat(0.005)), 1000)
    assert len(found.rates) == 20


@pytest.mark.parametrize("run_s", [0.001, 0.3, 0.9, 1.7])
def test_the_budget_holds_however_slow_a_run_is(run_s: float) -> None:
    clock = Clock()
    Sampler(clock, steps=10_000).sample(probe(clock, repeat(run_s)), budget_s=2.0)
    assert clock.now - 100 <= 2.0


def test_the_budget_holds_within_twice_when_runs_get_three_times_slower() -> None:
    clock = Clock()
    times = (0.01 if number < 20 else 0.03 for number in range(10_000))
    Sampler(clock, steps=10_000).sample(probe(clock, times), budget_s=1.0)
    assert clock.now - 100 <= 2.0


def test_a_run_longer_than_the_budget_counts_and_is_marked() -> None:
    clock = Clock()
    found = Sampler(clock).sample(probe(clock, repeat(3.0), work=6), budget_s=1.0)
    assert (found.rates, clock.now) == ((2.0,), 103.0)
    assert found.warnings == ("the budget allowed one run, without a warm-up",)


def test_steps_that_do_not_fit_are_counted() -> None:
    clock = Clock()
    found = Sampler(clock, steps=20, warmup=0).sample(probe(clock, repeat(0.125)), budget_s=1.0)
    assert len(found.rates) == 8
    assert found.warnings == ("the budget allowed 8 of 20 steps",)


def test_a_device_is_synchronised_once_per_five_runs() -> None:
    clock, batches = Clock(), []

    def seconds(count: int) -> Sequence[float]:
        batches.append(count)
        return [0.01] * count

    Sampler(clock, steps=12, warmup=1).sample(Probe(1.0, seconds, ""), budget_s=10.0)
    assert batches == [1, 5, 5, 2]


@pytest.mark.parametrize(
    ("rates", "budget_s", "best"),
    [
        # 151 is less than 2 % more than 150: doubling ends, and the better of the two counts.
        ({64: 40e9, 256: 50e9, 1024: 100e9, 2048: 150e9, 4096: 151e9, 8192: 900e9}, 1000, 4096),
        ({64: 40e9, 256: 50e9, 1024: 100e9, 2048: 90e9, 4096: 900e9}, 1000, 1024),
        ({64: 90e9, 256: 10e9, 1024: 100e9, 2048: 120e9, 4096: 121e9}, 1000, 4096),
        ({64: 80e9, 256: 1e9, 1024: 100e9, 2048: 90e9}, 1, 1024),
    ],
    ids=[
        "sizes double while the rate grows",
        "a larger size that is slower leaves the smaller one",
        "trials do not end the doubling",
        "a trial that waited for other programs does not stop larger sizes",
    ],
)
def test_the_best_size_is_found_by_doubling(rates: dict[int, float], budget_s: float, best: int) -> None:
    found = doubled(rates, budget_s)
    assert found.probe.method == str(best)
    assert found.best == pytest.approx(rates[best])


def test_one_fast_run_of_a_size_does_not_end_the_doubling() -> None:
    clock = Clock()
    rates = {64: [10e9], 256: [20e9], 1024: [110e9, 80e9, 80e9, 80e9], 2048: [100e9], 4096: [130e9]}

    def make(size: int) -> Probe:
        work = 2.0 * size**3
        return probe(clock, (work / rate for rate in cycle(rates[size])), work, str(size))

    found = Sampler(clock, steps=8).doubled(make, tuple(rates), 1000)
    assert found.probe.method == "4096"


def test_a_small_matrix_that_is_faster_than_larger_ones_is_said() -> None:
    found = doubled({64: 80e9, 256: 70e9, 1024: 60e9, 2048: 50e9}, 100.0)
    assert found.best == pytest.approx(80e9)
    assert found.probe.warnings == ("small matrices came out fastest: other programs disturbed the larger ones",)


def test_a_slow_product_is_not_tried_at_sizes_that_would_break_the_budget() -> None:
    clock, made = Clock(), []

    def make(size: int) -> Probe:
        made.append(size)
        return matmul(clock, lambda _size: 1e9)(size)

    found = Sampler(clock, steps=7).doubled(make, (64, 256, 1024, 2048), budget_s=1.0)
    assert made == [64, 256]
    assert clock.now - 100 <= 1.0
    assert len(found.rates) == 7
    assert found.probe.warnings == ("the budget was too short for 1024×1024: small matrices may be slower",)


def test_two_samples_of_one_probe_become_one() -> None:
    one, other = Probe(1.0, lambda _count: [], "one"), Probe(1.0, lambda _count: [], "other")
    both = Sample((5.0, 9.0), one, ("slow",)).and_also(Sample((8.0, 8.0), other))
    assert (both.rates, both.probe, both.warnings) == ((5.0, 9.0, 8.0, 8.0), other, ())
