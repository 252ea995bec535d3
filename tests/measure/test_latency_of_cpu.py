"""A pointer chase, a gather, a stream and a product of this processor: their classes follow from counted bytes."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

import roofwidget as rw
from tests.places import ROOT

BENCHMARK: dict[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "latency.py"))
# A processor with less of everything than those that the tests run on: one core of a notebook.
CHIP = rw.Chip("CPU", {"fp64": 2e10}, {"DRAM": rw.Memory("DRAM", 2e10, latency=80e-9)})


@pytest.fixture(scope="module")
def measured() -> rw.Kernels:
    # The chain has 16 MiB: as a test, not as a measurement.
    table = BENCHMARK["kernels"](lines=2**18, loads=5000, size=256)
    assert isinstance(table, rw.Kernels)
    return table


def test_a_chase_and_a_gather_are_bound_by_latency_a_stream_by_memory_and_a_product_by_compute(
    measured: rw.Kernels,
) -> None:
    roof = rw.latency_roof(measured, CHIP, is_estimate=True)
    assert roof.regime.tolist() == ["latency", "latency", "memory", "compute"]
    assert roof.bound.regime.tolist() == ["memory", "memory", "memory", "compute"]
    assert roof.is_bound.tolist() == [False, False, True, True]


def test_a_load_that_waits_for_the_one_before_takes_longer_than_one_that_does_not(measured: rw.Kernels) -> None:
    each = measured.time / measured.bytes
    chase, _, stream, _ = each.tolist()
    # Loads of random lines wait some 10 ns even in a cache; a stream moves a line in a few ns on a busy machine.
    assert chase > stream


def test_the_bytes_in_flight_by_the_rate_are_about_a_line_for_a_chase(measured: rw.Kernels) -> None:
    # The chain may be in a cache, so a load may wait less than for DRAM.
    assert rw.latency_roof(measured, CHIP).in_flight_on_average[0] < 64 * 20
