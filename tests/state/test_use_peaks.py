"""`use_peaks`: the measured rates of all chips as what-ifs, and back."""

from __future__ import annotations

import pytest

import roofwidget as rw


def test_achievable_peaks_are_what_ifs_of_every_chip_that_has_measured_rates() -> None:
    model = rw.RooflineModel(["h100-sxm", "mi300x", "v5p"])
    model.use_peaks("achievable")
    assert model.what_if["h100-sxm"] == {
        "peak_flops": {"bf16": 794.5e12, "fp8": 1402.6e12},
        "bandwidth": {"HBM": 3.18e12},
    }
    assert model.what_if["mi300x"]["bandwidth"]["HBM"] == 4.199e12
    assert "v5p" not in model.what_if
    assert model.peak_flops == 794.5e12


def test_kernels_are_judged_by_the_achievable_peaks() -> None:
    kernels = rw.Kernels(["matmul"], [7.945e12], [1e9], time=[0.02])
    model = rw.RooflineModel(["h100-sxm"], kernels)
    model.use_peaks("achievable")
    assert model.bound().utilization[0] == pytest.approx(0.5)
    assert model.bound().time[0] == pytest.approx(rw.bound(kernels, rw.chip("h100-sxm").achievable()).time[0])


def test_printed_peaks_take_back_the_measured_rates_and_no_other_what_if() -> None:
    model = rw.RooflineModel(["b200"])
    model.set_what_if(bandwidth="5 TB/s")
    model.use_peaks("achievable")
    model.use_peaks("printed")
    assert model.what_if == {"b200": {"bandwidth": {"HBM": 5e12}}}


def test_a_level_without_a_published_bandwidth_is_left_out() -> None:
    model = rw.RooflineModel(["mi300x"])
    model.use_peaks("achievable")
    assert set(model.what_if["mi300x"]["bandwidth"]) == {"HBM", "Infinity Cache", "L2"}


def test_other_words_are_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="peaks: unknown 'acheivable'; did you mean 'achievable'"):
        rw.RooflineModel(["h100-sxm"]).use_peaks("acheivable")
