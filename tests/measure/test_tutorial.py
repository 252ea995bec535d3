"""The tutorial on rooflines of fasterbench runs line by line, with the names imported from here."""

from __future__ import annotations

import contextlib
import functools
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import roofwidget as rw
from roofwidget.measure import analyzer, peaks
from roofwidget.measure.frameworks import counter
from tests.measure.torch import models

LISTING = """
import torch
from roofwidget import measure_peaks
peaks = measure_peaks("cuda", steps=20, warmup=5)
print(peaks)

from roofwidget import RooflineAnalyzer
model = resnet18()
sample = torch.randn(1, 3, 224, 224)
ra = RooflineAnalyzer(model, sample)
ra.profile(device="cuda", warmup=5, steps=20)
ra.summary(top=10)

fig = ra.plot(title="ResNet-18 roofline (CUDA)")
fig.show()

for side in (224, 512):
    x = torch.randn(1, 3, side, side)
    ra = RooflineAnalyzer(model, x, peaks=peaks)
    ra.profile(device="cuda", warmup=3, steps=10)
    mem_bound = sum(1 for r in ra.results if r.bound == "memory")
    comp_bound = sum(1 for r in ra.results if r.bound == "compute")
    print(f"{side}x{side}: {mem_bound} memory-bound, {comp_bound} compute-bound")
"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Measure for a fraction of a second, whatever is asked. Return the asked numbers of calls."""
    asked: list[tuple[int, int]] = []

    def count(model: Any, args: Any, kwargs: Any, request: Any) -> Any:
        asked.append((request.warmup, request.repeat))
        return counter("torch").count(model, args, kwargs, replace(request, warmup=0, repeat=1))

    monkeypatch.setattr(analyzer, "counter", lambda _: SimpleNamespace(count=count))
    brief = functools.partial(peaks.measure_peaks, budget_s=0.2)
    monkeypatch.setattr(peaks, "measure_peaks", brief)
    monkeypatch.setattr("roofwidget.measure.profile.measure_peaks", brief)
    return asked


def test_the_listing_runs_as_written(quick: list[tuple[int, int]], capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"resnet18": models.ResNet18}
    missing = contextlib.nullcontext() if torch.cuda.is_available() else pytest.warns(UserWarning, match="cuda")
    with missing:
        exec(LISTING, names)  # noqa: S102 - the listing is the test
    assert quick == [(5, 20), (3, 10), (3, 10)]
    assert isinstance(names["peaks"], rw.HardwarePeaks)
    assert isinstance(names["fig"], rw.RooflineWidget)
    assert names["fig"].title == "ResNet-18 roofline (CUDA)"
    assert names["model"].training
    printed = capsys.readouterr().out
    assert printed.startswith("HardwarePeaks(peak_flops=")
    header = next(number for number, line in enumerate(printed.splitlines()) if line.startswith("name "))
    table = printed.splitlines()[header : header + 12]
    assert table[0].split() == ["name", "type", "FLOPs", "bytes", "AI", "GFLOPs/s", "bound", "util%"]
    assert table[-1] == "… and 50 more"
    counts = re.findall(r"^(\d+)x\1: (\d+) memory-bound, (\d+) compute-bound$", printed, re.MULTILINE)
    assert [side for side, _, _ in counts] == ["224", "512"]
    assert {int(memory) + int(compute) for _, memory, compute in counts} == {60}


@pytest.mark.usefixtures("quick")
def test_at_the_peaks_that_the_tutorial_prints_41_layers_are_bound_by_memory_at_both_sides() -> None:
    # By their shapes 19 of the 20 convolutions have more than 14.95 FLOP/byte. The first projection has 10.4 at side
    # 224 and 10.6 at side 512, the last layer 0.5. All else computes at most a few FLOPs per number.
    printed = rw.HardwarePeaks(8.12e12, 5.43e11, 14.95, "cuda:0", "fp32", tf32_enabled=False, cudnn_benchmark=False)
    model = models.ResNet18()
    for side, projection in ((224, 10.38), (512, 10.61)):
        ra = rw.RooflineAnalyzer(model, torch.zeros(1, 3, side, side), peaks=printed)
        points = {point.name: point for point in ra.profile(device="cpu")}
        bounds = [point.bound for point in points.values()]
        assert (bounds.count("memory"), bounds.count("compute")) == (41, 19)
        intensity = points["layer2.0.downsample.0"].arithmetic_intensity
        assert round(intensity, 2) == projection
