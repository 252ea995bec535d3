"""Collectives of a real trace: ResNet-50 in two ranks, whose numbers were computed without this library."""

from __future__ import annotations

import numpy as np
import pytest

from roofwidget.network import messages
from roofwidget.readers import read
from tests.real_files import real_file

DDP = "traces-2026/ddp_resnet50_2xa100_nccl.json.gz"
# Collective, bytes, microseconds, GB/s.
MESSAGES = [
    ("broadcast", 212480, 30.848, 6.888),
    ("broadcast", 424, 7.648, 0.055),
    ("all-reduce", 8196000, 2520.607, 3.252),
    ("all-reduce", 31502336, 2673.916, 11.781),
    ("all-reduce", 26255360, 2621.533, 10.015),
    ("all-reduce", 26550272, 2417.184, 10.984),
    ("all-reduce", 9724160, 2028.293, 4.794),
]


@pytest.mark.parametrize("by", ["operation", "kernel"])
def test_all_gradients_of_resnet_50_are_all_reduced_at_these_rates(by: str) -> None:
    kernels = read(real_file(DDP), by=by)
    found = kernels[kernels.category == "communication"]
    kind, size, time, rate = (np.array(column) for column in zip(*MESSAGES, strict=True))
    assert found.extra["collective"].tolist() == kind.tolist()
    np.testing.assert_array_equal(found.extra["message size (B)"], size)
    # In a group of two, all that is counted equals the message.
    np.testing.assert_array_equal(found.network_bytes, size)
    np.testing.assert_allclose(found.time, time * 1e-6, rtol=1e-9)
    for name in ("bus bandwidth (B/s)", "algorithm bandwidth (B/s)"):
        np.testing.assert_allclose(found.extra[name] / 1e9, rate, atol=5e-4)
    assert found.network_bytes[kind == "all-reduce"].sum() == 4 * 25_557_032


def test_a_seventh_of_its_communication_is_hidden() -> None:
    kernels = read(real_file(DDP))
    told = kernels.communication
    assert told is not None
    found = np.array([told.time, told.other, told.hidden, told.exposed, told.other + told.exposed]) * 1e6
    np.testing.assert_allclose(found, [12300.029, 38429.231, 1760.419, 10539.610, 48968.842], atol=2e-3)
    assert round(100 * told.hidden_share, 2) == 14.31


def test_bandwidth_is_the_slope_between_the_two_largest_messages() -> None:
    with pytest.warns(UserWarning, match="of 26.6 MB and 31.5 MB, of which the profile has single calls"):
        model = messages(read(real_file(DDP))).fit()
    assert model.bandwidth == pytest.approx((31502336 - 26550272) / (2673.916e-6 - 2417.184e-6), rel=1e-6)
    assert np.isnan(model.alpha)


def test_two_streams_without_communication_have_no_overlap_of_it() -> None:
    kernels = read(real_file("traces-2026/two_streams_a100.json.gz"))
    assert kernels.communication is None
    assert kernels.time[kernels.names == "ampere_sgemm_128x64_nn"].sum() == pytest.approx(369e-6)
    assert "kernels overlap" not in str(kernels.warnings)
