"""Measured peaks are taken wherever a chip is, and profiles wherever kernels are."""

from __future__ import annotations

import numpy as np
import pytest

import roofwidget as rw

PEAKS = rw.HardwarePeaks(2e11, 4e10, 5.0, "cpu", "fp32", tf32_enabled=False, cudnn_benchmark=False)
KERNELS = rw.Kernels(["copy"], [0], [8e10])


def test_peaks_are_a_chip_for_bounds_partitions_and_charts() -> None:
    assert rw.chip(PEAKS) is PEAKS.chip
    assert rw.bound(KERNELS, PEAKS).time.tolist() == [2.0]
    assert rw.RooflineModel([PEAKS, "v5p"], KERNELS).chips[0] is PEAKS.chip
    assert rw.RooflineModel(PEAKS, KERNELS).chips == (PEAKS.chip,)
    graph = rw.Graph("two")
    x = graph.input("x", (1000,), "fp32")
    graph.output(graph.relu(graph.relu(x)))
    assert len(rw.Partition.best(graph, PEAKS).groups) == 1


def test_kernels_that_name_a_chip_are_no_chip() -> None:
    with pytest.raises(TypeError, match="expected a chip's name or a Chip"):
        rw.bound(KERNELS, rw.bound(KERNELS, PEAKS))  # type: ignore[arg-type]  # what is tested


def test_a_profile_is_taken_for_its_kernels() -> None:
    profile = rw.profile(np.add, np.ones(10, "f4"), np.ones(10, "f4"), timing=None)
    assert rw.RooflineModel([PEAKS], profile).kernels is profile.kernels
    assert rw.bound(profile, PEAKS).time.tolist() == [120 / 4e10]


SOURCE = rw.Source("measured here", confidence="measured")
DISTURBED = rw.Chip(
    "Busy",
    {"fp64": "100 GFLOP/s"},
    {"DRAM": "10 GB/s", "L1": "90 GB/s"},
    sources={"memories.DRAM.bandwidth": SOURCE},
    notes=["DRAM: other programs used 80% of the processors", "L1: the rates vary"],
)
NOTE = "Note: the measured roofs may be wrong: DRAM: other programs used 80% of the processors"


def test_a_sweep_prints_its_table_and_says_that_the_roof_was_disturbed(capsys: pytest.CaptureFixture[str]) -> None:
    found = rw.sweep(lambda n: (np.add, np.ones(n), np.ones(n)), {"n": [10, 20]}, peaks=DISTURBED, timing=None)
    found.summary()
    title, _, *rows, note = capsys.readouterr().out.splitlines()
    assert title == "Sweep over n on Busy"
    assert [row.split()[0] for row in rows] == ["10", "20"]
    assert note == NOTE
    assert NOTE.removeprefix("Note: ") in found._repr_html_()
    found.summary(PEAKS)
    printed = capsys.readouterr().out
    assert printed.startswith("Sweep over n on this machine (measured)\n")
    assert "may be wrong" not in printed
