"""Reading tables that are copied or exported from the window of Nsight Compute."""

from __future__ import annotations

import csv
from collections.abc import Callable

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests.tables import has_columns


def tabbed(text: str) -> str:
    return "\n".join("\t".join(next(csv.reader([line]))) for line in text.splitlines()) + "\n"


WINDOW = """\
"ID","Function Name","Demangled Name","Process","Device Name","Grid Size","Block Size [block]",\
"gpu__time_duration.sum [us]","dram__bytes_read.sum [Mbyte]","dram__bytes_write.sum [Mbyte]",\
"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum [inst]",\
"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum [inst]",\
"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum [inst]"
"0","scale","scale(int, float *)","[1] app","NVIDIA A100-SXM4-40GB","4096, 1, 1","256, 1, 1",\
"150.50","134.22","67.11","0","0","16,777,216"
"1","scale","scale(int, float *)","[1] app","NVIDIA A100-SXM4-40GB","4096, 1, 1","256, 1, 1",\
"1,150.50","134.22","67.11","0","0","16,777,216"
"""
SUMMARY = """\
"ID","Estimated Speedup [%]","Function Name","Demangled Name","Duration [us]","Compute Throughput [%]",\
"Memory Throughput [%]","# Registers [register/thread]","Grid Size","Block Size [block]"
"0","12.50","scale","scale(int, float *)","1,150.50","9.20","88.10","16","4096,     1,     1","256,     1,     1"
"""


@pytest.mark.parametrize("change", [str, lambda text: f"\ufeff{text}".replace("\n", "\r\n"), tabbed])
def test_a_table_of_the_window_has_its_units_in_the_headers(change: Callable[[str], str]) -> None:
    kernels = read(change(WINDOW).encode())
    has_columns(kernels, names=["scale(int, float *)"] * 2, time=pytest.approx([150.5e-6, 1150.5e-6], rel=1e-15))
    np.testing.assert_allclose(kernels.bytes_by_level["DRAM"], [201_330_000] * 2, rtol=1e-15)
    assert kernels.flops.tolist() == [2 * 16_777_216] * 2
    assert kernels.chip is not None
    assert "A100" in kernels.chip.name


def test_a_table_of_the_windows_summary_has_times() -> None:
    kernels = read(SUMMARY.encode())
    has_columns(kernels, names=["scale(int, float *)"], time=[1150.5e-6])


@pytest.mark.parametrize(
    "text", ["Duration [us]\t150.50\tElapsed Cycles [cycle]\t1,150\n", '"SM Frequency [Ghz]","1.2"\n']
)
def test_cells_of_the_page_details_are_refused_with_the_way_out(text: str) -> None:
    with pytest.raises(ProfileError, match="use --csv: ncu --csv --page raw"):
        read(text.encode())
