"""Rates of AMDuProfPcm."""

from __future__ import annotations

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read
from tests.tables import has_columns, warns

PCM = """\
AMDuProfPcm report
CPU Family,0x19
Number of Cores,2

CORE METRICS
,System (Aggregated),,Package-0,,Memory System,
Timestamp,IPC,Retired SSE/AVX Flops (GFLOPs),IPC,Retired SSE/AVX Flops (GFLOPs),Total Mem Bw (GB/s),Local Read (GB/s)
12:00:01,1.5,880.0,1.5,440.0,70.4,40.0
12:00:02,0.7,15.4,0.7,7.7,154.0,100.0
12:00:03,0.7,0.0,0.7,0.0,0.0,0.0
"""


def test_an_interval_is_a_point_by_its_rates() -> None:
    kernels = read(PCM.encode())
    has_columns(kernels, names=["12:00:01", "12:00:02", "12:00:03"], rate=pytest.approx([880e9, 15.4e9, 0]))
    assert np.array_equal(kernels.intensity.round(9), [12.5, 0.1, np.nan], equal_nan=True)
    has_columns(kernels, flops=None, time=None)
    assert warns(kernels, "rates")


def test_without_a_block_of_the_system_the_blocks_are_added() -> None:
    header = "Record,Retired SSE/AVX Flops(GFLOPs),Retired SSE/AVX Flops(GFLOPs),Total Mem Bw(GB/s)"
    kernels = read(f",Package-0,Package-1,Package-0\n{header}\n1,2,3,10\n".encode())
    has_columns(kernels, names=["interval 1"], rate=[5e9], intensity=[0.5])


def test_a_cumulative_file_is_one_point() -> None:
    rows = "IPC (Sys + User),1.2,1.2\nRetired SSE/AVX Flops(GFLOPs),21.5,0.7\nTotal Mem Bw (GB/s),43,\n"
    kernels = read(f"CORE METRICS\nMetric,System,Core-0\n{rows}".encode())
    has_columns(kernels, rate=[21.5e9], intensity=[0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PCM.replace("15.4", "many"), "row 9, column 'Retired SSE/AVX Flops .GFLOPs.': expected a finite number"),
        (PCM.partition("12:00:01")[0], "no row under its header"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(text.encode())


def test_a_missing_rate_is_said() -> None:
    kernels = rw.read(PCM.replace("Total Mem Bw", "Total Bw").replace("\n", "\r\n").encode("utf-16"))
    assert np.isnan(kernels.intensity).all()
    assert warns(kernels, "no byte rate")
