"""Repeats a measurement within a time budget: the best rate, the median rate, and how much the rates vary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles
from typing import Final

from roofwidget.measure.probes import Probe

_MIN_RUNS: Final = 5
_MAX_RUNS: Final = 60
# Runs between two looks at the clock. A device is synchronised once per batch.
_BATCH: Final = 5
# Sampling may stop early when the three best rates differ by at most this share.
_SETTLED: Final = 0.02
_SETTLED_RUNS: Final = 3
_MIN_SAMPLING_S: Final = 0.1
# How many of the sizes are trials.
_TRIALS: Final = 2
# A larger matrix must be faster by this factor, or doubling ends.
_MIN_GAIN: Final = 1.02
_QUARTERS: Final = 4
# A product of square matrices has two FLOPs per multiply-add.
_FLOPS_PER_CUBE: Final = 2.0


@dataclass(frozen=True)
class Sample:
    """Rates of the timed runs of one probe, FLOP/s or bytes/s.

    Parameters
    ----------
    rates
        The rate of each timed run.
    probe
        What ran.
    warnings
        Which runs did not fit into the budget.
    """

    rates: tuple[float, ...]
    probe: Probe
    warnings: tuple[str, ...] = ()

    @property
    def best(self) -> float:
        return max(self.rates)

    @property
    def median(self) -> float:
        return median(self.rates)

    @property
    def is_settled(self) -> bool:
        """Whether the three best rates agree within 2 %."""
        best = sorted(self.rates)[-_SETTLED_RUNS:]
        return len(best) == _SETTLED_RUNS and best[0] * (1 + _SETTLED) >= best[-1]

    @property
    def spread(self) -> float | None:
        """The distance between the quartiles, divided by the best rate; for two or three rates that of all rates.

        None for a single rate.
        """
        if len(self.rates) == 1:
            return None
        if len(self.rates) < _QUARTERS:
            return (self.best - min(self.rates)) / self.best
        low, _, high = quantiles(self.rates, n=_QUARTERS, method="inclusive")
        return (high - low) / self.best

    def and_also(self, other: Sample) -> Sample:
        """Return the rates of both samples, with the probe and the warnings of the sample with the better median."""
        better = self if self.median >= other.median else other
        return replace(better, rates=(*self.rates, *other.rates))


@dataclass(frozen=True)
class Sampler:
    """Runs probes within time budgets.

    Parameters
    ----------
    clock
        Returns seconds.
    steps
        The number of timed runs; None: until the best rates agree.
    warmup
        The number of runs before the timed runs; None: one.
    """

    clock: Callable[[], float]
    steps: int | None = None
    warmup: int | None = None

    def sample(self, probe: Probe, budget_s: float) -> Sample:
        """Return the rates of a probe.

        A run starts only if it should end within the budget, judged by the run before. The probe runs at least once.
        """
        start = self.clock()
        warmup = 1 if self.warmup is None else self.warmup
        cold: list[float] = []
        while len(cold) < warmup and (not cold or self._fits(start, budget_s, min(cold))):
            cold += probe.seconds(1)
        times = self._times(probe, start, budget_s, min(cold, default=None))
        warnings = []
        if not times:
            warnings.append("the budget allowed one run, without a warm-up")
        elif self.steps is not None and len(times) < self.steps:
            warnings.append(f"the budget allowed {len(times)} of {self.steps} steps")
        return Sample(tuple(probe.work / seconds for seconds in times or cold), probe, tuple(warnings))

    def _times(self, probe: Probe, start: float, budget_s: float, expected_s: float | None) -> list[float]:
        times: list[float] = []
        most = _MAX_RUNS if self.steps is None else self.steps
        began = self.clock()
        while len(times) < most and not (self.steps is None and self._is_settled(times, began)):
            if expected_s is None:
                batch = 1
            elif not self._fits(start, budget_s, expected_s):
                break
            else:
                # Half of the rest: if the runs get slower, the budget still holds.
                rest_s = (start + budget_s - self.clock()) / 2
                batch = max(1, min(_BATCH, most - len(times), int(rest_s / max(expected_s, 1e-9))))
            found = probe.seconds(batch)
            times += found
            expected_s = median(found)
        return times

    def _fits(self, start: float, budget_s: float, expected_s: float) -> bool:
        return self.clock() + expected_s <= start + budget_s

    def _is_settled(self, times: Sequence[float], began: float) -> bool:
        if len(times) < _MIN_RUNS or self.clock() - began < _MIN_SAMPLING_S:
            return False
        best = sorted(times)[:_SETTLED_RUNS]
        return best[-1] <= best[0] * (1 + _SETTLED)

    def doubled(self, make: Callable[[int], Probe], sizes: Sequence[int], budget_s: float) -> Sample:
        """Return the rates of the best size: sizes are tried in order while a larger size is faster.

        The first two sizes are trials: three runs tell the speed. A trial is the result only if no later size is as
        fast or fits into the budget. A size is tried if three of its runs should fit, judged by the best rate so far.
        """
        end = self.clock() + budget_s
        quick = replace(self, steps=_SETTLED_RUNS, warmup=1)
        trials = [quick.sample(make(sizes[0]), budget_s / 2)]
        best: Sample | None = None
        for number, size in enumerate(sizes[1:], start=1):
            rest_s = end - self.clock()
            fastest = max(sample.best for sample in (*trials, *([best] if best else [])))
            if _SETTLED_RUNS * _FLOPS_PER_CUBE * size**3 / fastest > rest_s:
                break
            if number < _TRIALS:
                trials.append(quick.sample(make(size), rest_s / 2))
                continue
            found = self.sample(make(size), rest_s / 2)
            # The best of many runs of a small size says less than the median: a disturbance hits some runs of each.
            if best is not None and found.median < best.median * _MIN_GAIN:
                best = max(best, found, key=_best)
                break
            best = found
        trial = max(trials, key=_best)
        if best is None:
            missing = sizes[min(_TRIALS, len(sizes) - 1)]
            reason = f"the budget was too short for {missing}×{missing}: small matrices may be slower"
            return _with_warning(self.sample(trial.probe, end - self.clock()), reason)
        if trial.best > best.best * _MIN_GAIN:
            longer = self.sample(trial.probe, end - self.clock())
            return _with_warning(
                trial.and_also(longer), "small matrices came out fastest: other programs disturbed the larger ones"
            )
        return best


def _with_warning(sample: Sample, warning: str) -> Sample:
    return replace(sample, probe=replace(sample.probe, warnings=(*sample.probe.warnings, warning)))


def _best(sample: Sample) -> float:
    return sample.best
