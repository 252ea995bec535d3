"""Tables of nvprof: summaries, traces and metrics."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read
from tests.places import write
from tests.tables import has_columns, warns

HEAD = """\
==12345== NVPROF is profiling process 12345, command: ./app
==12345== Profiling application: ./app
==12345== Profiling result:
"""
SUMMARY = (
    HEAD
    + """\
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",75.000000,1.500000,10,150.000000,149.000000,151.000000,"saxpy(int, float*)"
"GPU activities",25.000000,0.500000,2,250.000000,249.000000,251.000000,"[CUDA memcpy HtoD]"
"API calls",90.0,200.0,1,200000.0,200000.0,200000.0,"cudaMalloc"
"OpenACC (excl)",10.0,20.0,1,20000.0,20000.0,20000.0,"acc_enter_data@a.c:3"
"""
)
OLD = (
    HEAD
    + """\
"Time(%)","Time","Calls","Avg","Min","Max","Name"
%,us,,us,us,us,
75.0,1500.0,10,150.0,149.0,151.0,"saxpy(int, float*)"
25.0,500.0,2,250.0,249.0,251.0,"[CUDA memcpy HtoD]"

==12345== API calls:
"Time(%)","Time","Calls","Avg","Min","Max","Name"
%,ms,,us,us,us,
90.0,200.0,1,200000.0,200000.0,200000.0,"cudaMalloc"
"""
)
PRINTED = """\
==12345== NVPROF is profiling process 12345, command: ./app
==12345== Profiling application: ./app
==12345== Profiling result:
            Type  Time(%)      Time     Calls       Avg       Min       Max  Name
 GPU activities:   75.00%  1.5000ms        10  150.00us  149.00us  151.00us  saxpy(int, float*)
                   25.00%  500.00us         2  250.00us  249.00us  251.00us  [CUDA memcpy HtoD]
      API calls:   90.00%  200.00ms         1  200.00ms  200.00ms  200.00ms  cudaMalloc
                   10.00%  20.000ms         3  7.0000ms  1.0000ms  9.0000ms  cudaFree
"""
OLD_PRINTED = """\
==12345== Profiling result:
Time(%)      Time     Calls       Avg       Min       Max  Name
 75.00%  1.5000ms        10  150.00us  149.00us  151.00us  saxpy(int, float*)
 25.00%  500.00us         2  250.00us  249.00us  251.00us  [CUDA memcpy HtoD]

==12345== API calls:
Time(%)      Time     Calls       Avg       Min       Max  Name
 90.00%  200.00ms         1  200.00ms  200.00ms  200.00ms  cudaMalloc
"""
TRACE = (
    HEAD
    + """\
"Start","Duration","Grid X","Block X","Size","Throughput","SrcMemType","DstMemType","Device","Context","Stream","Name"
ms,us,,,MB,GB/s,,,,,,
316.1,690.72,,,3.814697,5.3934,"Pageable","Device","Tesla V100-SXM2-16GB (0)","1","7","[CUDA memcpy HtoD]"
316.9,103.20,3907,256,,,,,"Tesla V100-SXM2-16GB (0)","1","7","vectorAdd(float*, float*, int) [118]"
317.1,10.00,,,1.000000,200,"Device","Device","Tesla V100-SXM2-16GB (0)","1","7","[CUDA memcpy DtoD]"
"""
)
METRICS = (
    HEAD
    + """\
==12345== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla V100-SXM2-16GB (0)","saxpy(int, float*)",10,"flop_count_sp","Single Precision",2097152,2097152,2097152
"Tesla V100-SXM2-16GB (0)","saxpy(int, float*)",10,"dram_read_bytes","Bytes read",8388608,8388608,8388608
"Tesla V100-SXM2-16GB (0)","saxpy(int, float*)",10,"dram_write_bytes","Bytes written",4194304,4194304,4194304
"Tesla V100-SXM2-16GB (0)","saxpy(int, float*)",10,"sm_efficiency","Efficiency",90.1%,99.2%,95.5%
"Tesla V100-SXM2-16GB (0)","saxpy(int, float*)",10,"dram_utilization","Utilization","Low (1)","High (7)","Mid (5)"
"""
)
NAMES = ["saxpy(int, float*)", "[CUDA memcpy HtoD]"]


@pytest.mark.parametrize("text", [SUMMARY, OLD, PRINTED, OLD_PRINTED])
def test_a_summary_has_the_unit_of_each_column_and_no_calls_of_the_host(text: str) -> None:
    kernels = read(text.encode())
    has_columns(
        kernels, names=NAMES, time=pytest.approx([1.5e-3, 0.5e-3], rel=1e-12), count=[10, 2], category=[None, "copy"]
    )


def test_the_rows_left_out_are_counted() -> None:
    assert "2 rows left out: calls of the host's API" in read(SUMMARY.encode()).warnings
    with pytest.raises(ProfileError, match="no row is a kernel of a device: all rows are calls of the host's API"):
        read("\n".join(line for line in SUMMARY.splitlines() if "GPU" not in line).encode())


def test_work_of_one_launch_counts_for_every_call() -> None:
    assert read(SUMMARY.encode(), work={"saxpy*": {"flops": "2 GFLOP"}}).flops[0] == 20e9


def test_a_trace_has_bytes_in_powers_of_1024_and_the_chip() -> None:
    kernels = read(TRACE.encode())
    has_columns(
        kernels,
        names=["[CUDA memcpy HtoD]", "vectorAdd(float*, float*, int)", "[CUDA memcpy DtoD]"],
        time=pytest.approx([690.72e-6, 103.2e-6, 10e-6]),
    )
    # A million floats: 4,000,000 B.
    assert kernels.bytes_by_level["host"][0] == pytest.approx(4_000_000, rel=1e-6)
    assert kernels.bytes_by_level["main"][2] == 2 * 2**20
    assert np.isnan(kernels.bytes[1])
    assert kernels.chip == rw.chip("v100-sxm2-16gb")


def test_metrics_are_means_over_the_invocations() -> None:
    kernels = read(METRICS.encode())
    has_columns(
        kernels,
        names=["saxpy(int, float*)"],
        count=[10],
        flops_by_precision={"fp32": [20_971_520]},
        bytes=[10 * 12_582_912],
        time=None,
    )
    assert kernels.chip == rw.chip("v100-sxm2-16gb")
    assert warns(kernels, "no times")


def test_older_metrics_count_transactions_of_32_bytes() -> None:
    kernels = read(METRICS.replace("_bytes", "_transactions").encode())
    assert kernels.bytes.tolist() == [10 * 12_582_912 * 32]


def test_a_metric_that_was_not_collected_is_unknown_and_said() -> None:
    kernels = read("\n".join(line for line in METRICS.splitlines() if "dram_read" not in line).encode())
    assert np.isnan(kernels.bytes).all()
    assert warns(kernels, "dram_read_bytes,dram_write_bytes")


def test_metrics_of_two_devices_are_apart() -> None:
    other = '"Tesla V100-SXM2-16GB (1)","saxpy(int, float*)",5,"flop_count_dp","Double Precision",3,3,3\n'
    kernels = read((METRICS + other).encode())
    assert kernels.names.tolist() == ["saxpy(int, float*) (device 0)", "saxpy(int, float*) (device 1)"]
    assert kernels.flops_by_precision["fp64"][1] == 15
    assert np.isnan(kernels.bytes[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (METRICS.replace("2097152\n", "many\n"), "row 6, column 'Avg': expected a finite number from 0, got 'many'"),
        (METRICS.replace("2097152\n", "-5\n"), "row 6, column 'Avg': expected a finite number from 0, got '-5'"),
        (METRICS.partition('"Tesla')[0], "no row under its header"),
        (SUMMARY.partition('"GPU')[0], "no row under its header"),
        (SUMMARY.replace(",1.500000,", ",soon,"), "row 6, column 'Time'"),
        (METRICS[:-30], "ends within a row"),
        (HEAD + '"Start","Duration","Name","Correlation_ID"\nus,us,,\n0,2.8,"cuInit",1\n', "--print-gpu-trace"),
        (HEAD + "No kernels were profiled.\n", "nvprof again with --csv"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(text.encode())


def test_a_table_written_on_windows_is_read() -> None:
    for text in (SUMMARY, PRINTED, OLD, METRICS):
        assert len(read(text.replace("\n", "\r\n").encode("utf-16"))) == len(read(text.encode()))


def test_a_database_of_nvprof_says_how_to_export_it(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "run.nvvp")
    base.execute("CREATE TABLE StringTable (_id_ INTEGER, value TEXT)")
    base.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT, name INT)")
    base.commit()
    base.close()
    with pytest.raises(ProfileError, match=r"nvprof --csv --print-gpu-trace -i run\.nvvp"):
        read(tmp_path / "run.nvvp")
    assert len(rw.read(_beside(tmp_path))) == 2


def _beside(folder: Path) -> Path:
    for path in folder.iterdir():
        path.unlink()
    write(folder / "summary.csv", SUMMARY)
    write(folder / "notes.txt", "hello")
    return folder
