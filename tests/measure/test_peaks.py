"""Peaks of this machine: what is asked for, what comes out, and how the budget is kept.

Probes and clocks are fakes, except in the last tests, which measure this machine for a moment.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import pickle
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import roofwidget as rw
from roofwidget.measure import peak_figures, peaks, system
from roofwidget.measure.frameworks import watches
from roofwidget.measure.hardware_peaks import HardwarePeaks, MeasuredRate
from roofwidget.measure.jax import probes as jax_probes
from roofwidget.measure.numpy import probes as numpy_probes
from roofwidget.measure.peak_figures import PeakRequest, measure
from roofwidget.measure.probes import Probe
from roofwidget.measure.system import Cache, Machine, Usage
from roofwidget.measure.torch import probes as torch_probes
from tests.tables import warns

KIB, MIB, GIB = 2**10, 2**20, 2**30
TWO_CORES = Machine(
    "Test CPU", 2, 2, (Cache(1, 32 * KIB, 2, 1), Cache(2, MIB, 2, 1), Cache(3, 32 * MIB, 1, 2)), 16 * GIB
)
REQUEST = PeakRequest("cpu", ("fp32", "fp64"), (("numpy",), ("numpy",)), frozenset(), None, 2, None, None, 5.0)
FLOPS = {"fp32": 200e9, "fp64": 100e9, "bf16": 400e9, "fp16": 1e9}
MATMUL_SETUP_S = {"fp32": 0.01, "fp64": 0.01, "bf16": 0.01, "fp16": 0.01}
ARRAYS_SETUP_S = 0.3
CHAIN_SETUP_S = 0.2
# By the bytes of the chain: those of DRAM, and of L3 and L2 for one thread.
LATENCIES = {128 * MIB: 100e-9, 512 * MIB: 340e-9, int(math.sqrt(32) * MIB): 20e-9, 512 * KIB: 4e-9}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeProbes:
    """Probes of a machine whose rates are known; `slowdown` is what other programs make of them."""

    notes: Sequence[str] = ()
    active_wait_s = 0.0
    no_latency = ""

    def __init__(self, clock: Clock, threads: int) -> None:
        self.clock = clock
        self.threads = threads
        self.slowdown: Iterator[float] | None = None
        self.scaling = 1.0
        self.asked: list[tuple[Any, ...]] = []

    def probe(self, work: float, rate: float, method: str, threads: int) -> Probe:
        def seconds(count: int) -> Sequence[float]:
            found = [work / rate * (next(self.slowdown) if self.slowdown else 1) for _ in range(count)]
            self.clock.now += sum(found)
            return found

        return Probe(work, seconds, method, threads)

    def matmul(self, precision: str, size: int) -> Probe:
        self.asked.append((precision, size))
        self.clock.now += MATMUL_SETUP_S[precision]
        return self.probe(2.0 * size**3, FLOPS[precision], f"fake matmul {size}×{size}", self.threads)

    def memory(self, array_bytes: int, setup_s: float) -> Probe:
        assert setup_s > 0
        self.asked.append(("memory", array_bytes))
        self.clock.now += ARRAYS_SETUP_S
        return self.probe(3.0 * array_bytes, 40e9, "fake a += b", self.threads)

    def cache(self, working_set: int, budget_s: float, threads: int | None = None) -> Probe:
        self.asked.append(("cache", working_set, threads))
        assert budget_s > 0
        level = {24 * KIB: 400e9, 512 * KIB: 300e9, 4 * MIB: 200e9}[working_set] / 2
        count = threads or self.threads
        rate = level * count * (self.scaling if count > 1 else 1)
        return self.probe(rate / 100, rate, f"fake a += b, {working_set}", count)

    def latency(self, chain_bytes: int) -> Probe:
        self.asked.append(("latency", chain_bytes))
        self.clock.now += CHAIN_SETUP_S * chain_bytes / (128 * MIB)
        return self.probe(1e4, 1 / LATENCIES.get(chain_bytes, 100e-9), f"fake chain, {chain_bytes}", 1)


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> FakeProbes:
    """Fake probes for every framework, and a system that does not say who uses the processors."""
    found = FakeProbes(Clock(), 2)

    @contextmanager
    def probes(**_options: object) -> Iterator[FakeProbes]:
        yield found

    module = SimpleNamespace(probes=probes, cudnn_benchmark=lambda: True)
    monkeypatch.setattr(peak_figures, "probes_of", lambda _framework: module)
    monkeypatch.setattr(system, "usage", lambda: Usage(0.0, 0.0, None, None))
    monkeypatch.setattr(system, "load", lambda: 0.1)
    return found


def measured(fakes: FakeProbes, machine: Machine = TWO_CORES, **changes: Any) -> HardwarePeaks:
    return measure(replace(REQUEST, **changes), machine, clock=fakes.clock)


def rate(peaks_found: HardwarePeaks, name: str) -> MeasuredRate:
    return next(one for one in peaks_found.ceilings if one.name == name)


# -- what comes out ----------------------------------------------------------------------------------------------------


def test_peaks_bandwidths_and_ridge_point_are_those_of_the_machine(fakes: FakeProbes) -> None:
    found = measured(fakes)
    assert (found.peak_flops, found.peak_bandwidth, found.ridge_point) == (200e9, 40e9, 5.0)
    assert (found.device, found.dtype, found.tf32_enabled, found.cudnn_benchmark) == ("cpu", "fp32", False, False)
    assert [(one.name, one.value) for one in found.ceilings] == [
        *[("fp32", 200e9), ("fp64", 100e9)],
        *[("DRAM", 40e9), ("L3", 200e9), ("L2", 300e9), ("L1", 400e9)],
    ]
    assert [(one.name, one.unit, one.value) for one in found.latencies] == [
        *[("DRAM", "s", 100e-9), ("L3", "s", 20e-9), ("L2", "s", 4e-9)]
    ]
    assert found.warnings == ()


def test_a_latency_has_its_spread_and_method_and_is_part_of_the_chip(fakes: FakeProbes) -> None:
    fakes.slowdown = itertools.cycle([1.0, 1.25])
    found = measured(fakes, steps=10)
    dram = found.latencies[0]
    # Of rates that are 1 and 0.8 of the best, the quartiles are 0.2 apart.
    assert (dram.value, dram.spread) == (100e-9, 0.2)
    assert (dram.threads, dram.method) == (1, f"fake chain, {128 * MIB}")
    assert 100e-9 <= dram.median <= 125e-9
    assert found.chip.memories["DRAM"].latency == 100e-9
    assert found.chip.memories["L1"].latency is None
    assert found.chip.sources["memories.L3.latency"].title.startswith("measured with fake chain")
    assert "DRAM latency" in str(found)
    assert "100 ns" in found._repr_html_()
    assert found.as_dict()["latencies"][0]["unit"] == "s"
    assert rw.latency_roof([("k", 0, 64.0)], found).time[0] == 100e-9


def test_a_latency_stays_within_the_budget_or_is_left_out_in_words(fakes: FakeProbes) -> None:
    found = measured(fakes, budget_s=1.0)
    assert [one.name for one in found.latencies] == ["L3", "L2"]
    assert found.warnings == ("the latency of DRAM is left out: it needs budget_s=2.5 or more",)
    small = measured(fakes, replace(TWO_CORES, free_memory=256 * MIB))
    assert "the latency of DRAM is left out: the free memory is too small for its chain of loads" in small.warnings
    fakes.no_latency = "PyTorch cannot follow a chain of loads on mps"
    mps = measured(fakes, device="mps", frameworks=(("torch",), ("torch",)))
    assert mps.latencies == ()
    assert mps.warnings == ("the latency of memory is left out: PyTorch cannot follow a chain of loads on mps",)


def test_an_accelerator_has_the_latency_of_its_main_memory(fakes: FakeProbes) -> None:
    found = measured(fakes, device="cuda:0", frameworks=(("torch",), ("torch",)))
    assert [(one.name, one.value) for one in found.latencies] == [("DRAM", 340e-9)]


def test_each_ceiling_says_how_it_was_measured(fakes: FakeProbes) -> None:
    found = measured(fakes, steps=8)
    fp32, l1 = rate(found, "fp32"), rate(found, "L1")
    assert (fp32.unit, fp32.median, fp32.spread, fp32.n, fp32.threads) == ("FLOP/s", 200e9, 0.0, 8, 2)
    assert fp32.method.startswith("fake matmul")
    assert (l1.unit, l1.scope, l1.capacity, l1.warnings) == ("B/s", "per core, lower bound", 64 * KIB, ())
    assert len(fp32.date.split("-")) == 3


def test_the_chip_has_each_figure_with_its_source_and_the_main_memory_first(fakes: FakeProbes) -> None:
    chip = measured(fakes).chip
    assert (chip.name, chip.kind, chip.main_memory) == ("Test CPU, 2 threads (measured)", "cpu", "DRAM")
    assert list(chip.memories) == ["DRAM", "L3", "L2", "L1"]
    assert (chip.default_precision, chip.peak(), chip.bandwidth()) == ("fp32", 200e9, 40e9)
    assert chip.memories["L1"].scope == "per core, lower bound"
    assert {source.confidence for source in chip.sources.values()} == {"measured"}
    assert "fake a += b, 2 threads, 20" in chip.sources["memories.DRAM.bandwidth"].title
    assert len(chip.sources) == 9


def test_the_chip_judges_kernels_and_goes_into_a_widget(fakes: FakeProbes) -> None:
    chip = measured(fakes).chip
    bound = rw.bound(rw.Kernel("copy", 0, 4e9, time=0.2), chip)
    assert bound.utilization[0] == pytest.approx(0.5)
    assert rw.roofline(chips=[chip]).chips[0].name == chip.name


def test_the_working_sets_fill_half_of_a_core_s_own_cache_and_lie_between_l2_and_a_shared_l3(fakes: FakeProbes) -> None:
    measured(fakes)
    asked = [words for words in fakes.asked if words[0] in {"memory", "cache"}]
    assert asked[:2] == [("memory", 128 * MIB), ("cache", 4 * MIB, None)]
    assert ("cache", 512 * KIB, None) in asked
    assert ("cache", 24 * KIB, 1) in asked


def test_a_precision_that_the_cpu_multiplies_natively_is_measured(fakes: FakeProbes) -> None:
    found = measured(fakes, precisions=("bf16",), frameworks=(("torch",),))
    assert (found.dtype, found.peak_flops, found.cudnn_benchmark) == ("bf16", 400e9, True)


def test_the_fastest_of_several_frameworks_counts(fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    class Faster(FakeProbes):
        def probe(self, work: float, rate: float, method: str, threads: int) -> Probe:
            return super().probe(work, 1.5 * rate, method.replace("fake", "faster"), threads)

    @contextmanager
    def faster(**_options: object) -> Iterator[FakeProbes]:
        yield Faster(fakes.clock, 2)

    @contextmanager
    def slower(**_options: object) -> Iterator[FakeProbes]:
        yield fakes

    modules = {
        "torch": SimpleNamespace(probes=faster, cudnn_benchmark=lambda: False),
        "numpy": SimpleNamespace(probes=slower),
    }
    monkeypatch.setattr(peak_figures, "probes_of", modules.__getitem__)
    for frameworks in (("numpy", "torch"), ("torch", "numpy")):
        found = measured(fakes, precisions=("fp32",), frameworks=(frameworks,))
        assert (found.peak_flops, rate(found, "fp32").method.split()[0]) == (300e9, "faster")
        assert found.peak_bandwidth == 40e9


def test_a_framework_starts_when_the_threads_of_another_have_left_the_processors(
    fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes.active_wait_s = 0.13
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    measured(fakes, frameworks=(("numpy",), ("numpy",)))
    assert slept == [0.13]
    slept.clear()
    measured(fakes, frameworks=(("numpy",), ("torch",)))
    assert slept == [0.13, 0.13]
    slept.clear()
    measured(fakes, frameworks=(("numpy",), ("numpy",)), budget_s=0.5)
    assert slept == [0.05]


def test_results_are_frozen_pickled_and_json(fakes: FakeProbes) -> None:
    found = measured(fakes)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.peak_flops = 1.0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - our own
    record = json.loads(json.dumps(found.as_dict()))
    assert (record["peak_flops"], record["ceilings"][0]["name"]) == (200e9, "fp32")


def test_text_and_html_give_a_table_with_spread_and_no_four_digits_of_bandwidth() -> None:
    dram = MeasuredRate("DRAM", "B/s", 38.4e9, 36.1e9, 0.052, 9, "numpy a += b", 2, "2026-11-23", ("<slow>",))
    found = HardwarePeaks(
        *(2e11, 38.4e9, 5.2, "cpu", "fp32"),
        tf32_enabled=False,
        cudnn_benchmark=False,
        ceilings=(dram,),
        warnings=("busy",),
        name="CPU",
    )
    assert str(found).splitlines()[1:] == [
        "figure  best     median   spread  runs  threads  method",
        "DRAM    38 GB/s  36 GB/s  5.2 %   9     2        numpy a += b",
        "busy",
        "DRAM: <slow>",
    ]
    html = found._repr_html_()
    assert "<td>38 GB/s</td><td>36 GB/s</td><td>5.2 %</td>" in html
    assert "DRAM: &lt;slow&gt;" in html
    assert repr(found).startswith("HardwarePeaks(peak_flops=2e+11, peak_bandwidth=3.84e+10, ridge_point=5.20,")


def given_peaks(peak: float, bandwidth: float, ridge: float) -> HardwarePeaks:
    return HardwarePeaks(peak, bandwidth, ridge, "cpu", "fp32", tf32_enabled=False, cudnn_benchmark=False)


def test_a_ridge_point_that_the_peaks_contradict_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"ridge_point is 99, but peak_flops / peak_bandwidth is 14\.95: write this"):
        given_peaks(8.12e12, 5.43e11, 99)
    # Rounding is no contradiction: of three digits each, and of the ridge point to more.
    for ridge in (15.0, 14.95, 8.12e12 / 5.43e11):
        assert given_peaks(8.12e12, 5.43e11, ridge).ridge_point == ridge
    for ridge in (14.7, 15.2, 0.0, -14.95, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"ridge_point is .*, but peak_flops / peak_bandwidth is 14\.95"):
            given_peaks(8.12e12, 5.43e11, ridge)
    with pytest.raises(ValueError, match="HardwarePeaks: peak_bandwidth must be a finite number above zero"):
        given_peaks(8.12e12, 0.0, 14.95)


@pytest.mark.parametrize(
    ("peak", "bandwidth", "ridge", "shown"),
    [
        (8.12e12, 5.43e11, 8.12e12 / 5.43e11, "peak_flops=8.12e+12, peak_bandwidth=5.43e+11, ridge_point=15.0,"),
        (2e11, 4e10, 5.0, "peak_flops=2e+11, peak_bandwidth=4e+10, ridge_point=5,"),
        (1.5e11, 4e10, 3.75, "peak_flops=1.5e+11, peak_bandwidth=4e+10, ridge_point=3.8,"),
        (9.895e14, 3.35e12, 9.895e14 / 3.35e12, "peak_flops=9.9e+14, peak_bandwidth=3.35e+12, ridge_point=295,"),
        (1.23e15, 1.02e12, 1.23e15 / 1.02e12, "peak_flops=1.23e+15, peak_bandwidth=1.02e+12, ridge_point=1.21e+03,"),
    ],
)
def test_the_text_of_peaks_has_the_ridge_point_with_as_many_digits_as_the_peaks(
    peak: float, bandwidth: float, ridge: float, shown: str
) -> None:
    assert repr(given_peaks(peak, bandwidth, ridge)).startswith(f"HardwarePeaks({shown}")


def test_peaks_given_as_seven_numbers_have_a_chip_and_a_table() -> None:
    found = HardwarePeaks(2e11, 4e10, 5.0, "cuda:0", "tf32", tf32_enabled=True, cudnn_benchmark=False)
    assert (found.chip.kind, found.chip.peak("tf32"), found.chip.bandwidth()) == ("gpu", 2e11, 4e10)
    assert found.chip.main_memory == "DRAM"
    assert "<td>40 GB/s</td>" in found._repr_html_()


# -- budget, contention ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget_s", [0.5, 1.0, 5.0, 60.0])
@pytest.mark.parametrize("slowdown", [1.0, 10.0])
def test_the_budget_holds_within_twice(fakes: FakeProbes, budget_s: float, slowdown: float) -> None:
    fakes.slowdown = iter(lambda: slowdown, None)
    measured(fakes, budget_s=budget_s)
    assert fakes.clock.now <= 2 * budget_s


def test_a_single_slow_probe_does_not_break_the_budget(fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FLOPS, "fp64", 0.3e9)
    found = measured(fakes)
    assert fakes.clock.now <= 5.0
    assert "the budget was too short for 512×512" in rate(found, "fp64").warnings[0]
    assert rate(found, "fp32").warnings == ()


def test_compiling_on_an_accelerator_does_not_count_for_the_budget(
    fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # XLA compiles for 1.3 s before the first product of each size, and the device reaches 100 TFLOP/s.
    for precision in ("fp32", "fp64"):
        monkeypatch.setitem(MATMUL_SETUP_S, precision, 1.3)
        monkeypatch.setitem(FLOPS, precision, 1e14)
    found = measured(fakes, device="gpu:0", frameworks=(("jax",), ("jax",)))
    for precision in ("fp32", "fp64"):
        one = rate(found, precision)
        assert (one.value, one.warnings) == (1e14, ())
        assert one.n >= 5
        assert int(one.method.rpartition("×")[2]) >= 4096
    # On a CPU this takes a part of the budget.
    assert fakes.clock.now > 5


def test_a_precision_that_compiles_slowly_leaves_time_for_the_others(
    fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As JAX 0.11 compiled on an H100.
    for precision, seconds, flops in (("fp32", 8.6, 51e12), ("fp64", 0.8, 60e12)):
        monkeypatch.setitem(MATMUL_SETUP_S, precision, seconds)
        monkeypatch.setitem(FLOPS, precision, flops)
    found = measured(fakes, device="gpu:0", frameworks=(("jax",), ("jax",)))
    assert [int(rate(found, one).method.rpartition("×")[2]) >= 4096 for one in ("fp32", "fp64")] == [True, True]
    assert [rate(found, one).warnings for one in ("fp32", "fp64")] == [(), ()]


def test_compiling_without_end_is_bounded(fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    for precision in ("fp32", "fp64"):
        monkeypatch.setitem(MATMUL_SETUP_S, precision, 25)
    found = measured(fakes, device="gpu:0", frameworks=(("jax",), ("jax",)))
    # One size of each precision, as the first one uses up what may be left out, and the budget.
    assert fakes.clock.now < 80
    assert "the budget was too short for 4096×4096" in rate(found, "fp64").warnings[0]


def test_a_quiet_machine_is_measured_in_less_than_the_budget(fakes: FakeProbes) -> None:
    measured(fakes, budget_s=60.0)
    assert fakes.clock.now < 5.0


def test_steps_beyond_the_budget_are_said(fakes: FakeProbes) -> None:
    found = measured(fakes, steps=1000)
    assert fakes.clock.now <= 10.0
    assert warns(rate(found, "DRAM"), "of 1000 steps")


def test_rates_that_vary_are_said_and_measured_once_more(fakes: FakeProbes) -> None:
    quiet = FakeProbes(fakes.clock, 2)
    measured_quiet = measure(replace(REQUEST, levels=("DRAM",), steps=10), TWO_CORES, clock=quiet.clock)
    assert rate(measured_quiet, "fp32").n == 10
    fakes.slowdown = iter([1.0, 2.0, 2.0] * 10_000)
    found = rate(measured(fakes, levels=("DRAM",), steps=10), "fp32")
    assert found.n == 20
    assert found.warnings == ("the rates vary: the median is 50% below the best",)
    assert (found.value, found.median) == (200e9, 100e9)


def test_threads_that_do_not_scale_are_said(fakes: FakeProbes) -> None:
    fakes.scaling = 0.6
    found = measured(fakes)
    assert rate(found, "L2").warnings == ("2 threads together reach 60% of what each reaches alone",)
    assert rate(found, "DRAM").warnings == ()


def test_two_hardware_threads_of_one_core_need_not_scale(fakes: FakeProbes) -> None:
    fakes.scaling = 0.6
    shared = (Cache(1, 64 * KIB, 1, 2), Cache(2, 2 * MIB, 1, 2), Cache(3, 32 * MIB, 1, 2))
    found = measured(fakes, replace(TWO_CORES, cores=1, caches=shared))
    assert rate(found, "L2").warnings == ()


def test_other_programs_are_said(fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(10_000))

    def usage() -> Usage:
        now = float(next(times))
        return Usage(now, now, 1.5 * now, 0.2 * now)

    monkeypatch.setattr(system, "usage", usage)
    monkeypatch.setattr(system, "usable_processors", lambda: (0, 1))
    assert rate(measured(fakes), "fp64").warnings == (
        "other programs used 25% of the processors",
        "other virtual machines used 10% of the processors",
    )


def test_a_high_load_is_said_where_the_system_does_not_say_who_works(
    fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "load", lambda: 3.0)
    assert measured(fakes).warnings == ("3.0 programs were running in the last minute, on 2 processors",)


def test_progress_counts_the_figures(fakes: FakeProbes) -> None:
    seen: list[tuple[int, int | None]] = []
    measure(REQUEST, TWO_CORES, clock=fakes.clock, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 9)
    assert seen[-1] == (9, 9)


# -- what a machine lacks ----------------------------------------------------------------------------------------------


def test_without_cache_sizes_only_dram_is_measured(fakes: FakeProbes) -> None:
    found = measured(fakes, replace(TWO_CORES, caches=()))
    assert list(found.chip.memories) == ["DRAM"]
    assert found.warnings == ("the system does not say how large its caches are: only DRAM is measured",)


def test_a_level_that_the_machine_lacks_is_left_out(fakes: FakeProbes) -> None:
    found = measured(fakes, replace(TWO_CORES, caches=TWO_CORES.caches[:2]), levels=("DRAM", "L3", "L2"))
    assert list(found.chip.memories) == ["DRAM", "L2"]
    assert found.warnings == ("L3 is left out: the system names no such cache",)


def test_a_shared_cache_that_hardly_exceeds_the_one_above_is_left_out(fakes: FakeProbes) -> None:
    small = replace(TWO_CORES, caches=(*TWO_CORES.caches[:2], Cache(3, 3 * MIB, 1, 2)))
    found = measured(fakes, small)
    assert list(found.chip.memories) == ["DRAM", "L2", "L1"]
    assert found.warnings == ("L3 is left out: its 1.6 MB per thread hardly exceed the cache above it",)


def test_little_memory_makes_small_arrays_and_says_so(fakes: FakeProbes) -> None:
    found = measured(fakes, replace(TWO_CORES, free_memory=256 * MIB))
    assert ("memory", 32 * MIB) in fakes.asked
    assert rate(found, "DRAM").warnings == ("arrays of 32 MiB may stay in part in the L3 cache",)
    assert max(size for name, size, *_ in fakes.asked if name == "fp32") == 1024


def test_arrays_that_are_too_small_are_not_replaced_by_smaller_ones(
    fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def memory(_array_bytes: int, _setup_s: float) -> Probe:
        made.append(32 * MIB if not made else 16 * MIB)
        return fakes.probe(3.0 * made[-1], 40e9 if made[-1] > 16 * MIB else 80e9, "fake a += b", 2)

    monkeypatch.setattr(fakes, "memory", memory)
    found = measured(fakes)
    assert (made, found.peak_bandwidth) == ([32 * MIB], 40e9)


def test_a_naive_precision_that_was_asked_for_is_refused_early(fakes: FakeProbes) -> None:
    with pytest.raises(
        ValueError, match=r"dtype: fp16 is not measured, because PyTorch multiplies fp16 matrices on this"
    ):
        measured(fakes, precisions=("fp16",), frameworks=(("torch",),))
    assert fakes.clock.now < 0.5


def test_a_naive_precision_that_nobody_asked_for_is_left_out(
    fakes: FakeProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FLOPS, "bf16", 2e9)
    found = measured(
        fakes, precisions=("fp32", "bf16"), frameworks=(("numpy",), ("torch",)), optional=frozenset({"bf16"})
    )
    assert list(found.chip.peak_flops) == ["fp32"]
    assert found.warnings[0].startswith("bf16 is left out: PyTorch multiplies bf16 matrices on this CPU at 2 GFLOP/s")


# -- what is asked for -------------------------------------------------------------------------------------------------


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[PeakRequest]]:
    """Return the list of requests that `measure_peaks` makes; nothing is measured."""
    made: list[PeakRequest] = []

    def fake(request: PeakRequest, _machine: Machine, **options: Any) -> HardwarePeaks:
        made.append(request)
        notes = tuple(options["notes"])
        return HardwarePeaks(1e9, 1e9, 1.0, request.device, request.precisions[0], False, False, (), notes)  # noqa: FBT003

    monkeypatch.setattr(peaks, "measure", fake)
    monkeypatch.setattr(system, "machine", lambda: TWO_CORES)
    monkeypatch.setattr(peaks, "is_imported", lambda _framework: False)
    rw.clear_peaks_cache()
    yield made
    rw.clear_peaks_cache()


def test_by_default_a_cpu_is_measured_with_numpy_alone(requests: list[PeakRequest]) -> None:
    rw.measure_peaks()
    assert requests == [REQUEST]


def test_bf16_is_added_where_pytorch_is_imported(requests: list[PeakRequest], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "is_imported", lambda framework: framework == "torch")
    rw.measure_peaks()
    assert requests[0].precisions == ("fp32", "fp64", "bf16")
    assert requests[0].frameworks == (("numpy", "torch"), ("numpy", "torch"), ("torch",))
    assert requests[0].optional == frozenset({"bf16"})


@pytest.mark.parametrize(
    ("dtype", "precisions"),
    [
        ("fp64", ("fp64",)),
        ("torch.float32", ("fp32",)),
        (np.float32, ("fp32",)),
        (np.dtype("float64"), ("fp64",)),
        (float, ("fp64",)),
        (["double", "single", "fp64"], ("fp64", "fp32")),
    ],
)
def test_precisions_have_many_names(requests: list[PeakRequest], dtype: Any, precisions: tuple[str, ...]) -> None:
    rw.measure_peaks(dtype=dtype)
    assert requests[0].precisions == precisions


def test_a_precision_of_pytorch_is_taken(requests: list[PeakRequest]) -> None:
    rw.measure_peaks(dtype=torch.bfloat16)
    assert (requests[0].precisions, requests[0].frameworks) == (("bf16",), (("torch",),))


def test_levels_are_taken_in_any_case_and_dram_is_always_there(requests: list[PeakRequest]) -> None:
    rw.measure_peaks(levels=["l1", "L3"], threads=1, steps=20, warmup=0, budget_s=2)
    assert requests[0] == replace(REQUEST, levels=("DRAM", "L3", "L1"), threads=1, steps=20, warmup=0, budget_s=2.0)


@pytest.mark.parametrize(
    "changed",
    [
        *({"dtype": "fp64"}, {"levels": ["L1"]}, {"threads": 1}, {"steps": 3}, {"warmup": 3}, {"budget_s": 1.0}),
        *({"dtype": ["fp64", "fp32"]}, {"backend": "torch"}),
    ],
)
def test_equal_calls_are_answered_from_the_cache_and_others_are_not(
    requests: list[PeakRequest], changed: dict[str, Any]
) -> None:
    assert rw.measure_peaks() is rw.measure_peaks("cpu")
    assert len(requests) == 1
    rw.measure_peaks(**changed)
    assert len(requests) == 2


def test_the_cache_can_be_left_out_and_cleared(requests: list[PeakRequest]) -> None:
    rw.measure_peaks(cache=False)
    rw.measure_peaks()
    rw.measure_peaks(cache=False)
    assert len(requests) == 3
    rw.clear_peaks_cache()
    rw.measure_peaks()
    assert len(requests) == 4


def test_a_missing_accelerator_warns_and_measures_the_cpu(
    requests: list[PeakRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peaks, "is_installed", lambda _framework: False)
    for device, framework in (("cuda", "torch"), ("mps", "torch"), ("tpu", "jax")):
        missing = f"device='{device}' is missing .*pip install '{framework}>=.*CPU was"
        with pytest.warns(UserWarning, match=missing) as seen:
            found = rw.measure_peaks(device)
        assert seen[0].filename == __file__
        assert found.device == "cpu"
        assert found.warnings[0].startswith(f"device='{device}' is missing")
    assert {request.device for request in requests} == {"cpu"}


def test_the_precisions_of_a_missing_device_are_left_out_where_the_cpu_cannot_multiply_them(
    requests: list[PeakRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peaks, "is_installed", lambda _framework: False)
    with pytest.warns(UserWarning, match="is missing"):
        rw.measure_peaks("cuda", dtype=["tf32", "fp16", "fp64"])
    assert requests[0].precisions == ("fp32", "fp64")
    with pytest.warns(UserWarning, match="is missing"):
        rw.measure_peaks("cuda", dtype="fp16")
    assert requests[1].precisions == ("fp32",)


def test_the_warning_of_a_missing_device_comes_again_with_a_cached_result(
    requests: list[PeakRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peaks, "is_installed", lambda _framework: False)
    for _ in range(2):
        with pytest.warns(UserWarning, match="is missing"):
            rw.measure_peaks("cuda")
    assert len(requests) == 1


def test_a_cuda_device_is_measured_with_pytorch(requests: list[PeakRequest], monkeypatch: pytest.MonkeyPatch) -> None:
    found_tf32 = [True, False]
    module = SimpleNamespace(
        find=lambda device: (f"{device}:0", "H100", ""),
        has_tf32=lambda device: device == "cuda:0" and found_tf32.pop(0),
    )
    monkeypatch.setattr(peaks, "probes_of", lambda _framework: module)
    monkeypatch.setattr(peaks, "is_installed", lambda _framework: True)
    with warnings.catch_warnings(record=True) as seen:
        found = rw.measure_peaks("cuda")
        rw.measure_peaks("cuda", dtype="fp32", allow_tf32=True)
        rw.measure_peaks("cuda")
    assert (not seen, found.device) == (True, "cuda:0")
    assert requests[0].precisions == ("fp32", "tf32", "bf16", "fp16", "fp64")
    assert requests[1].precisions == ("tf32", "fp32")
    # An older device.
    assert requests[2].precisions == ("fp32", "bf16", "fp16", "fp64")


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"steps": 0}, ValueError, "steps must be at least 1, got 0"),
        ({"steps": 1.5}, TypeError, "steps must be a whole number, got 1.5"),
        ({"warmup": -1}, ValueError, "warmup must be at least 0, got -1"),
        ({"budget_s": 0}, ValueError, "budget_s must be above zero and finite, got 0 s"),
        ({"budget_s": float("nan")}, ValueError, "budget_s must be above zero and finite"),
        ({"budget_s": "5 s"}, TypeError, "budget_s must be a number of seconds, got '5 s'"),
        ({"threads": 3}, ValueError, "threads must be from 1 to 2, which this process may run, got 3"),
        ({"threads": "2"}, TypeError, "threads must be a whole number"),
        ({"device": "cdua"}, ValueError, "device: unknown 'cdua'; did you mean 'cuda'?"),
        ({"device": "cuda:x"}, ValueError, "device: unknown 'cuda:x'"),
        ({"dtype": "fp23"}, ValueError, "dtype: no peak is measured for 'fp23'; did you mean 'fp32'?"),
        ({"dtype": "fp6"}, ValueError, "dtype: no peak is measured for 'fp6'; there are 'fp64', 'fp32', "),
        ({"dtype": "int8"}, ValueError, "dtype: no peak is measured for 'int8'"),
        ({"dtype": object()}, TypeError, "dtype must be a precision such as 'fp32'"),
        ({"dtype": []}, ValueError, "dtype must name a precision"),
        ({"dtype": "tf32"}, ValueError, "dtype: 'cpu' has no TF32; give dtype='fp32'"),
        ({"dtype": "fp16", "backend": "numpy"}, ValueError, "dtype: numpy multiplies fp16 matrices in a naive loop"),
        ({"levels": ["L4"]}, ValueError, "levels: unknown 'L4'"),
        ({"levels": "L2"}, TypeError, "levels must be a list such as"),
        ({"backend": "tensorflow"}, ValueError, "backend: unknown 'tensorflow'; there are 'auto', 'numpy', 'torch'"),
        ({"device": "cuda", "backend": "numpy"}, ValueError, "backend='numpy' cannot measure the device 'cuda'"),
        ({"matmul_size": 4096}, TypeError, "measure_peaks has no keyword 'matmul_size': sizes double while"),
        ({"bandwidth_mb": 256}, TypeError, "measure_peaks has no keyword 'bandwidth_mb': .*levels="),
        ({"step": 3}, TypeError, "measure_peaks has no keyword 'step'; did you mean 'steps'?"),
    ],
)
def test_bad_input_is_one_clear_error(
    requests: list[PeakRequest], keywords: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message.replace("?", r"\?")):
        rw.measure_peaks(**keywords)
    assert not requests


def test_a_missing_framework_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"this needs PyTorch: pip install 'torch>=2.6'"):
        rw.measure_peaks(dtype="bf16", backend="torch")


# -- PyTorch on CUDA, with fakes ---------------------------------------------------------------------------------------


def test_runs_on_cuda_are_timed_by_events_with_one_synchronisation() -> None:
    log: list[str] = []

    class Event:
        def __init__(self, *, enable_timing: bool) -> None:
            assert enable_timing
            self.at_ms = 0.0

        def record(self) -> None:
            log.append("record")
            self.at_ms = 2.0 * len(log)

        def elapsed_time(self, end: Event) -> float:
            assert log[-1] == "synchronize"
            return end.at_ms - self.at_ms

    cuda = SimpleNamespace(Event=Event, synchronize=lambda: log.append("synchronize"))
    found = torch_probes.seconds_by_events(lambda: log.append("run"), 2, cuda)
    assert log == ["record", "run", "record", "run", "record", "synchronize"]
    assert found == pytest.approx([0.004, 0.004])


@pytest.mark.parametrize(("name", "off", "on"), [("fp32_precision", "ieee", "tf32"), ("allow_tf32", False, True)])
def test_tf32_is_set_for_the_product_and_set_back(name: str, off: object, on: object) -> None:
    settings = SimpleNamespace(**{name: "as before"})
    with torch_probes.tf32(settings, allowed=False):
        assert getattr(settings, name) == off
    seen = []

    def fail() -> None:
        with torch_probes.tf32(settings, allowed=True):
            seen.append(getattr(settings, name))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (seen, getattr(settings, name)) == ([on], "as before")


def test_pytorchs_own_settings_of_tf32_stay_readable() -> None:
    settings = torch.backends.cuda.matmul
    before = settings.allow_tf32
    with torch_probes.tf32(settings, allowed=False):
        pass
    assert settings.allow_tf32 == before


# -- this machine, for a moment ----------------------------------------------------------------------------------------


def test_numpys_probes_do_the_work_that_they_count() -> None:
    ticks = iter(range(1000))
    with numpy_probes.probes(device="cpu", threads=2, usable=2, clock=lambda: float(next(ticks))) as found:
        memory, cache, product = found.memory(2**16, 1.0), found.cache(2**14, 0.1), found.matmul("fp32", 8)
        assert (memory.work, memory.threads, product.work) == (3 * 2**16, 2, 1024.0)
        assert list(memory.seconds(3)) == [1.0, 1.0, 1.0]
        assert cache.work % (2 * 24 * 2**10) == 0
    assert found.notes == []


def test_numpys_loads_depend_on_each_other_and_visit_every_line_once() -> None:
    lines = 1000
    visited = np.zeros(lines + 1, np.intp)
    numpy_probes.follow(numpy_probes.chain_of_loads(lines), visited)
    assert visited[0] == visited[-1] == 0
    assert sorted(visited[:-1] // 8) == list(range(lines))


def test_numpy_that_copies_what_overlaps_measures_no_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    real = np.take

    def copied(a: Any, indices: Any, **options: Any) -> Any:
        return real(a, indices.copy(), **options)

    with numpy_probes.probes(device="cpu", threads=1, usable=1, clock=time.perf_counter) as probes:
        assert probes.no_latency == ""
        monkeypatch.setattr(np, "take", copied)
        assert probes.no_latency == "numpy does not load one by one"


def test_the_loop_itself_is_no_latency() -> None:
    ticks = iter([*([0.0, 1e-4] * 10), *([0.0, 3e-3] * 30)])
    probe = numpy_probes.NumpyProbes([], 1, 1, lambda: next(ticks)).latency(2**20)
    assert (probe.work, probe.threads, probe.method) == (20_000, 1, "numpy chain of loads, 1024 KiB")
    np.testing.assert_allclose(probe.seconds(3), [2.9e-3] * 3)


def test_pytorch_says_where_it_measures_no_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch_probes.TorchProbes("mps", 1, time.perf_counter).no_latency.endswith("a chain of loads on mps")
    monkeypatch.setattr(torch_probes, "find_spec", lambda _name: None)
    reason = torch_probes.TorchProbes("cuda:0", 1, time.perf_counter).no_latency
    assert reason == "it needs Triton, which is not installed"


def test_another_number_of_threads_is_said_where_the_blas_cannot_be_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "")
    with numpy_probes.probes(device="cpu", threads=1, usable=2, clock=float) as found:
        assert found.notes == ["numpy's BLAS ran with its own 2 threads, not with 1: install threadpoolctl to set them"]
        assert found.matmul("fp64", 4).threads == 2


def test_pytorchs_settings_are_as_before_also_after_an_exception() -> None:
    before = torch.get_num_threads()
    seen = []

    def fail() -> None:
        with torch_probes.probes(device="cpu", threads=1, usable=2, clock=float) as found:
            seen.append((torch.get_num_threads(), torch.is_inference_mode_enabled()))
            found.matmul("int8", 8)

    with pytest.raises(KeyError):
        fail()
    assert seen == [(1, True)]
    assert (torch.get_num_threads(), torch.is_inference_mode_enabled()) == (before, False)


def test_jax_multiplies_fp64_and_keeps_its_own_setting() -> None:
    jax = pytest.importorskip("jax")
    ticks = iter(range(1000))
    with jax_probes.probes(device="cpu", threads=1, usable=2, clock=lambda: float(next(ticks))) as found:
        # If JAX turned fp64 into fp32, it would warn, and warnings are errors here.
        assert list(found.matmul("fp64", 8).seconds(2)) == [1.0, 1.0]
        assert found.memory(4096, 1.0).work == 3 * 4096
    assert found.notes == ["JAX ran with its own 2 threads, not with 1: it has no setting for them"]
    assert not jax.config.jax_enable_x64


def test_pytorch_multiplies_random_numbers_on_a_gpu_and_constants_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = torch_probes.TorchProbes("cpu", 1, float)
    assert {len(matrix.unique()) for matrix in probes._operands("fp32", 64)} == {1}
    monkeypatch.setattr(torch_probes.TorchProbes, "_threads", None)
    for precision, dtype in torch_probes.DTYPES.items():
        a, b = probes._operands(precision, 256)
        assert a.dtype == b.dtype == dtype
        assert not torch.equal(a.float(), b.float())
        assert abs(float(a.float().mean())) < 0.02
        assert float(a.float().std()) == pytest.approx(1, abs=0.02)
        again, _ = probes._operands(precision, 256)
        assert torch.equal(a.float(), again.float())


def test_jax_multiplies_random_numbers_on_a_device_and_times_several_calls_in_its_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("jax")
    ticks = iter(range(1000))
    with jax_probes.probes(device="cpu", threads=1, usable=1, clock=lambda: 0.002 * next(ticks)) as found:
        monkeypatch.setattr(found, "_threads", None)
        a, b = (np.asarray(matrix, "float32") for matrix in found._operands("bfloat16", 128))
        assert abs(float(a.std()) - 1) < 0.03
        assert not np.array_equal(a, b)
        # Each look at the clock is 2 ms after the last, so five calls take 10 ms and are timed as one.
        assert found.matmul("fp32", 8).seconds(2) == pytest.approx([0.0004, 0.0004])


def test_fp8_is_measured_on_cuda_from_ada_on_and_refused_elsewhere(
    requests: list[PeakRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    capability = [(8, 9)]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: capability[0])
    monkeypatch.setattr(torch_probes, "find", lambda _device: ("cuda:0", "L4", ""))
    rw.measure_peaks("cuda", dtype=["fp8", "bf16"])
    assert requests[0].precisions == ("fp8", "bf16")
    capability[0] = (8, 6)
    with pytest.raises(ValueError, match="no product of fp8 matrices is measured on 'cuda:0', but on NVIDIA GPUs"):
        rw.measure_peaks("cuda", dtype="fp8")
    with pytest.raises(ValueError, match="no product of fp8 matrices is measured on 'cpu'"):
        rw.measure_peaks("cpu", dtype="fp8")


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_this_machine_has_rates_of_a_plausible_order(backend: str) -> None:
    pytest.importorskip(backend)
    found = rw.measure_peaks(dtype="fp32", levels=["L2"], budget_s=0.2, backend=backend, cache=False)
    # The limits are wide: on a busy machine a run may wait longer than it works.
    assert 1e6 < found.peak_flops < 1e16
    assert 1e6 < found.peak_bandwidth < 1e14
    assert found.chip.peak("fp32") == found.peak_flops


def test_a_framework_that_is_blocked_is_as_one_that_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "jax"):
        monkeypatch.setitem(sys.modules, name, None)
    assert list(watches((), lambda _op: None, float)) == ["numpy"]
    assert peaks._default_precisions("cpu", "auto") == (("fp32", "fp64"), frozenset())
