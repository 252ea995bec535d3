"""Measures peaks and bandwidths within a time budget, and sees when other programs disturbed them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, Final

from roofwidget.measure import system
from roofwidget.measure.frameworks import TITLES, probes_of
from roofwidget.measure.hardware_peaks import HardwarePeaks, MeasuredRate
from roofwidget.measure.probes import Clock, Probe
from roofwidget.measure.sampling import Sample, Sampler
from roofwidget.support.progress import Progress, advancing
from roofwidget.units import format_quantity

LEVELS: Final = ("DRAM", "L3", "L2", "L1")
"""The memory levels that can be measured, the main memory first."""

# The first two sizes tell the speed. A BLAS multiplies the smallest matrices on one thread, which waits for no other:
# a busy machine changes little. Processors with many cores need large matrices.
_CPU_SIZES: Final = (64, 256, 512, 1024, 2048, 4096, 8192)
_ACCELERATOR_SIZES: Final = (1024, 2048, 4096, 8192, 16384)
# XLA compiles a product and tries algorithms: on an H100 for 9 s at fp32, for 1 s at other precisions.
_PREPARATION_S: Final = 20.0
"""How many seconds of preparing a figure on an accelerator do not count for the budget."""
# A few products tell which of several frameworks is the fastest.
_RACE_STEPS: Final = 5
_MAX_RACE_SIZE: Final = 1024
_RACE_SHARE: Final = 0.4
_MIN_RACE_S: Final = 0.3
# Waiting for the threads of another framework takes at most this share of the budget each time.
_WAIT_SHARE: Final = 0.1
_NAIVE_CHECK_SIZE: Final = 256
# A CPU without instructions for a precision is slower than fp32 by more than this factor.
_MAX_NAIVE_SLOWDOWN: Final = 4
_NAIVE_CHECK_S: Final = 0.1
_NEVER_NAIVE: Final = frozenset({"fp32", "fp64"})

_MIB: Final = 2**20
# STREAM's rule: each array has at least four times the capacity of all last-level caches. Two arrays take turns, so
# twice the capacity suffices.
_ARRAY_TO_CACHE: Final = 4
_MIN_ARRAY_TO_CACHE: Final = 2
_MIN_ARRAY_BYTES: Final = 64 * _MIB
_ARRAY_BYTES_WITHOUT_CACHES: Final = 128 * _MIB
_ACCELERATOR_ARRAY_BYTES: Final = 512 * _MIB
_SMALLEST_ARRAY_BYTES: Final = _MIB
# A slow machine shuffles and writes a chain of loads at this rate. It takes at most this share of the budget.
_CHAIN_BYTES_PER_S: Final = 512 * _MIB
_CHAIN_SHARE: Final = 0.1
# Writing the arrays takes at most this multiple of the time for their runs. A system can need two seconds for new pages
# of a GB.
_MAX_SETUP: Final = 1.0
# The matrices and the arrays of one figure use at most this part of the free memory.
_FREE_MEMORY_PART: Final = 0.25
_MATRICES: Final = 3
# The moves of `a += b` per item.
_MOVES: Final = 3
_MAX_ITEM_BYTES: Final = 8
# The part of a cache that the arrays fill at most. The rest is for everything else that the processor touches.
_WORKING_SHARE: Final = {1: 0.75, 2: 0.5, 3: 0.5}
_SHARED_LEVEL: Final = 3
# A level is measurable if its working set is larger than the cache above it by this factor.
_MIN_GROWTH: Final = 2
_LOWER_BOUND_LEVEL: Final = 1
_PRIVATE_LEVELS: Final = (1, 2)

# The first attempts use this share of the budget. The rest is for figures that other programs disturbed.
_FIRST_SHARE: Final = 0.75
# The part of its planned share that each figure gets also if others took more time than planned.
_LEAST_SHARE: Final = 0.3
_DRAM_WEIGHT: Final = 3.0
_CACHE_WEIGHT: Final = 1.0
_COMPUTE_WEIGHT: Final = 3.0
_LATENCY_WEIGHT: Final = 0.5
_MIN_RETRY_S: Final = 0.05
_SCALING_SHARE: Final = 0.2

_MAX_SPREAD: Final = 0.15
_MIN_MEDIAN: Final = 0.8
_MIN_SCALING: Final = 0.7
_MAX_LOAD: Final = 0.5
_MIN_LEVEL_RATIO: Final = 0.8


_QUANTITIES: Final = {"FLOP/s": "peak", "B/s": "bandwidth", "s": "latency"}


@dataclass(frozen=True)
class PeakRequest:
    """What is measured, and how: equal requests have equal answers.

    Parameters
    ----------
    device
        The device as its framework writes it.
    precisions, frameworks
        The precisions, and for each the frameworks that multiply matrices of it: the fastest counts.
    optional
        Precisions that are left out if the CPU computes them in a naive loop.
    levels
        The memory levels; None for all that the system names.
    threads, steps, warmup, budget_s
        As `measure_peaks` takes them.
    """

    device: str
    precisions: tuple[str, ...]
    frameworks: tuple[tuple[str, ...], ...]
    optional: frozenset[str]
    levels: tuple[str, ...] | None
    threads: int
    steps: int | None
    warmup: int | None
    budget_s: float

    @property
    def is_cpu(self) -> bool:
        return self.device == "cpu"


@dataclass(frozen=True)
class _Measured:
    """Rates of one figure, who used the processors meanwhile, and the rate of n threads over n rates of one thread."""

    sample: Sample
    shares: system.Shares | None = None
    scaling: float | None = None

    def disturbances(self) -> tuple[str, ...]:
        """Return why the rates may be too low: what other programs did, and how the rates vary."""
        return tuple(self._disturbances())

    def _disturbances(self) -> Iterator[str]:
        sample = self.sample
        if self.shares is not None:
            yield from self.shares.remarks()
        if self.scaling is not None and self.scaling < _MIN_SCALING:
            yield f"{sample.probe.threads} threads together reach {self.scaling:.0%} of what each reaches alone"
        if sample.median < _MIN_MEDIAN * sample.best:
            yield f"the rates vary: the median is {1 - sample.median / sample.best:.0%} below the best"
        elif sample.spread is not None and sample.spread > _MAX_SPREAD:
            yield f"the rates vary: their spread is {sample.spread:.0%}"

    def and_again(self, other: _Measured) -> _Measured:
        """Return both attempts as one, judged by the attempt with the better median."""
        better, worse = (self, other) if self.sample.median >= other.sample.median else (other, self)
        return _Measured(self.sample.and_also(other.sample), better.shares or worse.shares, self.scaling)


@dataclass(frozen=True)
class _Figure:
    """One figure to measure.

    Parameters
    ----------
    name, unit, scope, capacity
        As in `MeasuredRate`.
    weight
        Its share of the budget.
    sample
        Measures it within a number of seconds.
    sample_alone
        Measures it with one thread; None if threads may disturb each other, as they do in a shared memory.
    """

    name: str
    unit: str
    weight: float
    sample: Callable[[float], Sample]
    sample_alone: Callable[[float], Sample] | None = None
    scope: str = ""
    capacity: float | None = None

    @property
    def description(self) -> str:
        return f"measuring {self.name} {_QUANTITIES[self.unit]}"


def measure(
    request: PeakRequest,
    machine: system.Machine,
    *,
    name: str = "",
    notes: Sequence[str] = (),
    progress: Progress = False,
    clock: Clock = time.perf_counter,
) -> HardwarePeaks:
    """Measure what a request asks for.

    Parameters
    ----------
    request
        What is measured.
    machine
        What the system says of this machine.
    name
        The name of an accelerator.
    notes
        What a reader must know about all figures.
    progress
        As `measure_peaks` takes it.
    clock
        Returns seconds.
    """
    run = _Run(request, machine, clock)
    with run:
        done = run.in_budget(run.figures(), progress)
        warnings = [*notes, *run.notes]
    figures = [_rate(figure, found) for figure, found in done]
    rates = sorted((rate for rate in figures if rate.unit != "s"), key=lambda rate: rate.unit != "FLOP/s")
    peak = rates[0]
    main = next(rate for rate in rates if rate.unit == "B/s")
    uses_torch = any("torch" in several for several in request.frameworks)
    return HardwarePeaks(
        *(peak.value, main.value, peak.value / main.value, request.device, peak.name, peak.name == "tf32"),
        cudnn_benchmark=uses_torch and probes_of("torch").cudnn_benchmark(),
        ceilings=tuple(rates),
        latencies=tuple(rate for rate in figures if rate.unit == "s"),
        warnings=tuple(dict.fromkeys([*warnings, *_disorder(rates)])),
        name=name or f"{machine.name}, {request.threads} thread{'s' if request.threads > 1 else ''}",
    )


class _BudgetClock:
    """Seconds that count for the budget.

    Parameters
    ----------
    clock
        Returns seconds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left_s = 0.0
        self._apart_s = 0.0

    def __call__(self) -> float:
        return self._clock() - self._apart_s

    def allow(self, seconds: float) -> None:
        """Let `apart` leave out as many seconds from now on."""
        self._left_s = seconds

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Leave out the time until the end of the context."""
        start = self._clock()
        try:
            yield
        finally:
            seconds = min(self._left_s, self._clock() - start)
            self._apart_s, self._left_s = self._apart_s + seconds, self._left_s - seconds


class _Run:
    """One measurement: the probes of the frameworks that it needs, as a context manager, and its figures."""

    def __init__(self, request: PeakRequest, machine: system.Machine, clock: Clock) -> None:
        self.request = request
        self.machine = machine
        self._run_clock = clock
        self.clock = _BudgetClock(clock)
        self.start = self.clock()
        self.sampler = Sampler(self.clock, request.steps, request.warmup)
        self._notes = list(_load_before(machine))
        self._probes: dict[str, Any] = {}
        self._latest = ""
        self._exit = ExitStack()

    def __enter__(self) -> None:
        with ExitStack() as opened:
            needed = {*chain(*self.request.frameworks), *(["numpy"] if self.request.is_cpu else [])}
            for framework in sorted(needed):
                self._probes[framework] = opened.enter_context(self._probes_of(framework, self.request.threads))
            self._exit = opened.pop_all()

    def __exit__(self, *exception: object) -> None:
        self._wait_for_others("")
        self._exit.close()

    def _probes_of(self, framework: str, threads: int) -> Any:
        """Return a framework's probes as a context manager."""
        # Frameworks do not know the limits of control groups: by default they use all processors.
        usable = len(system.usable_processors())
        return probes_of(framework).probes(
            device=self.request.device, threads=threads, usable=usable, clock=self._run_clock
        )

    @property
    def notes(self) -> list[str]:
        return [*self._notes, *(note for probes in self._probes.values() for note in probes.notes)]

    # -- what is measured ----------------------------------------------------------------------------------------------

    def figures(self) -> list[_Figure]:
        """Return the figures in the order in which they are measured: memory first, as a BLAS leaves busy threads."""
        compute = [
            self._compute(precision, frameworks)
            for precision, frameworks in zip(self.request.precisions, self.request.frameworks, strict=True)
            if not self._is_left_out(precision, frameworks[0])
        ]
        return [*self._memories(), *self._latencies(), *compute]

    def _compute(self, precision: str, frameworks: Sequence[str]) -> _Figure:
        sizes = _CPU_SIZES if self.request.is_cpu else _ACCELERATOR_SIZES

        fitting = [size for size in sizes if self._fits(_MATRICES * _MAX_ITEM_BYTES * size**2)] or sizes[:1]

        def prepared(framework: str, size: int) -> Probe:
            with self.clock.apart():
                return self._probes[framework].matmul(precision, size)  # type: ignore[no-any-return]

        def sample_with(framework: str, sampler: Sampler, sizes: Sequence[int], budget_s: float) -> Sample:
            self._wait_for_others(framework)
            return sampler.doubled(lambda size: prepared(framework, size), sizes, budget_s)

        def sample(budget_s: float) -> Sample:
            end = self.clock() + budget_s
            fastest = frameworks[0]
            if len(frameworks) > 1 and budget_s >= _MIN_RACE_S:
                medians = {
                    framework: sample_with(
                        framework,
                        replace(self.sampler, steps=_RACE_STEPS, warmup=1),
                        [size for size in fitting if size <= _MAX_RACE_SIZE],
                        budget_s * _RACE_SHARE / len(frameworks),
                    ).median
                    for framework in reversed(frameworks)
                }
                fastest = max(medians, key=medians.__getitem__)
            return sample_with(fastest, self.sampler, fitting, end - self.clock())

        return _Figure(precision, "FLOP/s", _COMPUTE_WEIGHT, sample)

    def _wait_for_others(self, framework: str) -> None:
        """Wait until the threads of another framework, which worked before this one, leave the processors."""
        if self._latest not in {"", framework}:
            time.sleep(min(self._probes[self._latest].active_wait_s, _WAIT_SHARE * self.request.budget_s))
        self._latest = framework

    def _is_left_out(self, precision: str, framework: str) -> bool:
        """Return whether an optional precision has no fast path on this CPU.

        Raises
        ------
        ValueError
            If the precision was asked for.
        """
        if not self.request.is_cpu or precision in _NEVER_NAIVE:
            return False
        quick = replace(self.sampler, steps=None, warmup=1)
        budget_s = min(_NAIVE_CHECK_S, self.request.budget_s / 10)
        # One thread is compared with one thread: it waits for no other, so that a busy machine changes little.
        with self._probes_of(framework, 1) as alone:
            rate, usual = (
                quick.sample(alone.matmul(one, _NAIVE_CHECK_SIZE), budget_s).best for one in (precision, "fp32")
            )
        if rate * _MAX_NAIVE_SLOWDOWN >= usual:
            return False
        reason = (
            f"{TITLES[framework]} multiplies {precision} matrices on this CPU at "
            f"{format_quantity(rate, 'FLOP/s', 2)}, fp32 ones at {format_quantity(usual, 'FLOP/s', 2)}"
        )
        if precision not in self.request.optional:
            raise ValueError(f"dtype: {precision} is not measured, because {reason}; leave it out")
        self._notes.append(f"{precision} is left out: {reason}")
        return True

    def _memories(self) -> Iterator[_Figure]:
        asked, caches = self.request.levels, self.machine.caches
        yield self._dram()
        if not self.request.is_cpu:
            if asked is not None and len(asked) > 1:
                self._notes.append("caches are only measured on a CPU")
            return
        if not caches and (asked is None or len(asked) > 1):
            self._notes.append("the system does not say how large its caches are: only DRAM is measured")
            return
        for name in LEVELS[1:] if asked is None else asked[1:]:
            cache = next((cache for cache in caches if cache.name == name), None)
            if cache is not None:
                yield from self._cache(cache)
            elif asked is not None:
                self._notes.append(f"{name} is left out: the system names no such cache")

    def _dram(self) -> _Figure:
        def sample(budget_s: float) -> Sample:
            with self.clock.apart():
                probe = self._memory_probes.memory(self._array_bytes(), budget_s * _MAX_SETUP)
            size = probe.work / _MOVES
            for last in self.machine.caches[-1:] if self.request.is_cpu else ():
                if size < _MIN_ARRAY_TO_CACHE * last.capacity * last.count:
                    small = f"arrays of {size / _MIB:.0f} MiB may stay in part in the {last.name} cache"
                    probe = replace(probe, warnings=(*probe.warnings, small))
            return self.sampler.sample(probe, budget_s)

        return _Figure("DRAM", "B/s", _DRAM_WEIGHT, sample)

    def _array_bytes(self) -> int:
        """Return the bytes of one of two arrays that a cache cannot hold, as far as the memory allows."""
        if not self.request.is_cpu:
            return _ACCELERATOR_ARRAY_BYTES
        last = self.machine.caches[-1:]
        wanted = max([_MIN_ARRAY_BYTES, *(_ARRAY_TO_CACHE * cache.capacity * cache.count for cache in last)])
        free = self.machine.free_memory
        in_memory = wanted if free is None else int(free * _FREE_MEMORY_PART / 2)
        return max(_SMALLEST_ARRAY_BYTES, min(wanted if last else _ARRAY_BYTES_WITHOUT_CACHES, in_memory))

    def _cache(self, cache: system.Cache) -> Iterator[_Figure]:
        working_set = working_set_bytes(cache, self.machine.caches, self.request.threads)
        if not working_set:
            share = format_quantity(_capacity_per_thread(cache, self.request.threads), "B", 2)
            self._notes.append(f"{cache.name} is left out: its {share} per thread hardly exceed the cache above it")
            return
        probes = self._probes["numpy"]
        scope = "per core" if cache.count > 1 or cache.sharers == 1 else "shared"

        def sample(budget_s: float) -> Sample:
            return self.sampler.sample(probes.cache(working_set, budget_s), budget_s)

        def sample_alone(budget_s: float) -> Sample:
            return self.sampler.sample(probes.cache(working_set, budget_s, 1), budget_s)

        is_private = cache.level in _PRIVATE_LEVELS and self.request.threads > 1
        yield _Figure(
            *(cache.name, "B/s", _CACHE_WEIGHT, sample, sample_alone if is_private else None),
            f"{scope}, lower bound" if cache.level == _LOWER_BOUND_LEVEL else scope,
            float(cache.capacity * cache.count),
        )

    def _latencies(self) -> Iterator[_Figure]:
        """Yield the latency of each measured level except L1, whose latency is that of the loop itself."""
        probes = self._memory_probes
        if probes.no_latency:
            self._notes.append(f"the latency of memory is left out: {probes.no_latency}")
            return
        if not self.request.is_cpu:
            yield self._latency("DRAM", _ACCELERATOR_ARRAY_BYTES)
            return
        last = self.machine.caches[-1:]
        chain_bytes = max(_MIN_ARRAY_BYTES, _ARRAY_TO_CACHE * last[0].capacity) if last else _ARRAY_BYTES_WITHOUT_CACHES
        needed_s = chain_bytes / _CHAIN_BYTES_PER_S / _CHAIN_SHARE
        # A chain that is shorter would be in part in the last cache.
        if not self._fits(chain_bytes):
            self._notes.append("the latency of DRAM is left out: the free memory is too small for its chain of loads")
        elif needed_s > self.request.budget_s:
            self._notes.append(f"the latency of DRAM is left out: it needs budget_s={needed_s:.2g} or more")
        else:
            yield self._latency("DRAM", chain_bytes)
        asked = LEVELS if self.request.levels is None else self.request.levels
        for cache in reversed(self.machine.caches):
            chain = working_set_bytes(cache, self.machine.caches, 1)
            if cache.name in asked and cache.level != _LOWER_BOUND_LEVEL and chain:
                yield self._latency(cache.name, chain)

    def _latency(self, name: str, chain_bytes: int) -> _Figure:
        def sample(budget_s: float) -> Sample:
            with self.clock.apart():
                probe = self._memory_probes.latency(chain_bytes)
            return self.sampler.sample(probe, budget_s)

        return _Figure(name, "s", _LATENCY_WEIGHT, sample)

    @property
    def _memory_probes(self) -> Any:
        return self._probes["numpy" if self.request.is_cpu else self.request.frameworks[0][0]]

    def _fits(self, size: int) -> bool:
        free = self.machine.free_memory
        return not self.request.is_cpu or free is None or size <= free * _FREE_MEMORY_PART

    # -- the budget ----------------------------------------------------------------------------------------------------

    def in_budget(self, figures: Sequence[_Figure], progress: Progress) -> list[tuple[_Figure, _Measured]]:
        """Measure each figure. If time is left, measure those once more that were disturbed or that did not settle."""
        done: list[tuple[_Figure, _Measured]] = []
        least_s = _LEAST_SHARE * self.request.budget_s / sum(figure.weight for figure in figures)
        with advancing(progress, len(figures), unit="figure", description="measuring peaks") as advance:
            for number, figure in enumerate(figures):
                advance(0, figure.description)
                weights = sum(other.weight for other in figures[number:])
                rest_s = self.start + _FIRST_SHARE * self.request.budget_s - self.clock()
                share_s = figure.weight * max(least_s, rest_s / weights)
                done.append((figure, self._measured(figure, share_s)))
                advance(1)
            return self._once_more(done)

    def _measured(self, figure: _Figure, budget_s: float) -> _Measured:
        self.clock.allow(0.0 if self.request.is_cpu else _PREPARATION_S)
        before = system.usage()
        alone_s = 0.0 if figure.sample_alone is None else budget_s * _SCALING_SHARE
        sample = figure.sample(budget_s - alone_s)
        shares = self._shares_since(before)
        if figure.sample_alone is None:
            return _Measured(sample, shares)
        # Two hardware threads of a core share its units, so cores count.
        cores = min(self.machine.cores, self.request.threads)
        return _Measured(sample, shares, sample.best / (cores * figure.sample_alone(alone_s).best))

    def _once_more(self, done: Sequence[tuple[_Figure, _Measured]]) -> list[tuple[_Figure, _Measured]]:
        end = self.start + self.request.budget_s
        result = list(done)
        doubtful = [
            number
            for number, (_, found) in enumerate(done)
            if found.disturbances() or found.sample.probe.warnings or not found.sample.is_settled
        ]
        for position, number in enumerate(doubtful):
            figure, found = done[number]
            budget_s = (end - self.clock()) / (len(doubtful) - position)
            if budget_s < _MIN_RETRY_S or found.sample.probe.work / found.sample.median > budget_s / 2:
                continue
            before = system.usage()
            self._wait_for_others(found.sample.probe.framework)
            # Matrices that were too small are made again. Larger arrays would need more time than is left.
            is_small = figure.unit == "FLOP/s" and bool(found.sample.probe.warnings)
            again = figure.sample(budget_s) if is_small else self.sampler.sample(found.sample.probe, budget_s)
            result[number] = figure, found.and_again(_Measured(again, self._shares_since(before)))
        return result

    def _shares_since(self, before: system.Usage) -> system.Shares | None:
        return system.usage().shares_since(before, len(system.usable_processors())) if self.request.is_cpu else None


def working_set_bytes(cache: system.Cache, caches: Sequence[system.Cache], threads: int) -> int:
    """Return how many bytes of arrays each thread works on to measure a cache.

    Zero if a thread's part of the cache hardly exceeds the cache above it. The arrays in a cache that many cores share
    are as many times larger than the cache above it as they are smaller than the thread's part: others, such as other
    virtual machines, may hold the rest.

    Parameters
    ----------
    cache
        The cache.
    caches
        All caches of the machine.
    threads
        How many threads work. All may run on processors that share the cache.
    """
    capacity = _capacity_per_thread(cache, threads)
    most = capacity * _WORKING_SHARE[cache.level]
    above = max((other.capacity / other.sharers for other in caches if other.level < cache.level), default=0.0)
    if most < _MIN_GROWTH * above:
        return 0
    return int(min(most, math.sqrt(above * capacity)) if above and cache.level == _SHARED_LEVEL else most)


def _capacity_per_thread(cache: system.Cache, threads: int) -> float:
    return cache.capacity / min(cache.sharers, threads)


def _rate(figure: _Figure, found: _Measured) -> MeasuredRate:
    sample = found.sample
    best, middle = (1 / rate if figure.unit == "s" else rate for rate in (sample.best, sample.median))
    return MeasuredRate(
        *(figure.name, figure.unit, _rounded(best), _rounded(middle)),
        None if sample.spread is None else round(sample.spread, 3),
        *(len(sample.rates), sample.probe.method, sample.probe.threads),
        datetime.now().astimezone().date().isoformat(),
        (*sample.probe.warnings, *sample.warnings, *found.disturbances()),
        figure.scope,
        figure.capacity,
    )


def _rounded(rate: float) -> float:
    """Return a rate with three digits: more digits are noise."""
    return float(f"{rate:.2e}")


def _disorder(rates: Sequence[MeasuredRate]) -> Iterator[str]:
    """Yield which memory level came out slower than the level below it, which has more capacity."""
    levels = [rate for rate in rates if rate.unit == "B/s"]
    for below, above in pairwise(levels):
        if above.value < _MIN_LEVEL_RATIO * below.value:
            yield f"{above.name} came out slower than {below.name}: measure again when the machine is idle"


def _load_before(machine: system.Machine) -> Iterator[str]:
    """Yield how busy the machine was before, where the system does not say who uses the processors meanwhile."""
    load = system.load()
    if system.usage().worked is None and load is not None and load > _MAX_LOAD * machine.threads:
        yield f"{load:.1f} programs were running in the last minute, on {machine.threads} processors"
