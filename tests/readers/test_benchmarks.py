"""Reading benchmarks: mixbench's points and ceilings, and the runs of Google Benchmark."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from tests.real_files import real_file
from tests.tables import has_columns, warns

RULE = "-" * 60
MIXBENCH = f"""\
mixbench/read-only (v0.04)
------------------------ Device specifications ------------------------
Device:              NVIDIA Example 9000
Memory bandwidth:    600.10 GB/sec
{RULE}
Warning:              Half precision computations are not supported
{RULE} CSV data {RULE}
Experiment ID, Single Precision ops,,,,              Double precision ops,,,,              Half precision ops,,,,   \
             Integer operations,,, \n\
Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  \
GFLOPS, GB/sec, Iops/byte, ex.time,   GIOPS, GB/sec
            0,      0.250,    0.40,  100.00, 400.00,      0.125,    0.80,   50.00, 400.00,      0.500,    0.00,    -nan,    inf,     0.250,    0.50,   80.00, 320.00
           64,     32.000,    0.50, 8000.00, 250.00,     16.000,   16.00,  240.00,  15.00,     64.000,    0.00,     inf,    inf,    32.000,    0.64, 6400.00, 200.00
{RULE}
"""  # noqa: E501 - lines of mixbench


def test_mixbench_gives_a_point_for_each_row_and_precision() -> None:
    kernels = read(MIXBENCH.encode())
    assert kernels.names[:2].tolist() == ["Single Precision ops, 0 iterations", "Single Precision ops, 64 iterations"]
    has_columns(
        kernels,
        precision=["fp32", "fp32", "fp64", "fp64", "int32", "int32"],
        arithmetic_intensity=pytest.approx([0.25, 32, 0.125, 16, 0.25, 32], rel=1e-15),
        achieved=pytest.approx([100e9, 8e12, 50e9, 240e9, 80e9, 6.4e12], rel=1e-15),
        time=pytest.approx([0.4e-3, 0.5e-3, 0.8e-3, 16e-3, 0.5e-3, 0.64e-3], rel=1e-15),
    )
    assert "cells without a measurement are no points: 2" in kernels.warnings


def test_mixbench_gives_the_ceilings_of_the_machine() -> None:
    chip = rw.read_ceilings(MIXBENCH.encode())
    assert chip.name == "NVIDIA Example 9000"
    assert chip.peak_flops == {"fp32": 8e12, "fp64": 240e9, "int32": 6.4e12}
    assert (chip.main_memory, chip.bandwidth()) == ("DRAM", 400e9)
    assert read(MIXBENCH.encode()).chip == chip


def test_packed_and_half_precision_of_mixbench_are_vector_units() -> None:
    text = """\
Experiment ID, Single Precision ops,,,, Packed Single Precision ops,,,, Half precision ops,,,,
Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, GB/sec
256, inf, 1.00, 20000.00, 0.00, inf, 1.00, 40000.00, 0.00, 128.5, 1.00, 30000.00, 233.46
---------
"""  # noqa: E501 - lines of mixbench
    kernels = read(text.encode())
    assert kernels.precision.tolist() == ["fp32", "fp32", "fp16_vector"]
    # An infinite intensity is that of a kernel without access to memory.
    np.testing.assert_equal(kernels.bytes_by_level["DRAM"][:2], [0, 0])
    assert kernels.flops.tolist() == [2e10, 4e10, 3e10]
    chip = rw.read_ceilings(text.encode())
    assert chip.peak_flops == {"fp32": 40e12, "fp16_vector": 30e12}
    assert [ceiling.rate for ceiling in chip.ceilings] == [20e12]


def test_a_table_of_mixbench_alone_is_read() -> None:
    lines = MIXBENCH.splitlines()
    header = next(at for at, line in enumerate(lines) if line.startswith("Compute iters"))
    kernels = read("\r\n".join(lines[header:-1]).encode())
    assert kernels.precision.tolist() == [None] * 4 + ["int32"] * 2
    assert warns(kernels, "the table has no line of dashes at its end")


def test_a_table_of_an_old_mixbench_gives_the_intensity_by_its_rates() -> None:
    text = """\
Operations ratio,  Single Precision ops,,,   Integer operations,,
  compute/memory,    Time,  GFLOPS, GB/sec,    Time,   GIOPS, GB/sec
       0/32,       250.00,    0.00, 140.00,  250.00,    0.00, 128.00
      24/ 8,        60.00,  840.00, 140.00,   80.00,  640.00,  80.00
      32/ 0,        50.00, 1280.00,   0.00,  100.00,  670.00,   0.00
"""
    kernels = read(text.encode())
    assert kernels.precision.tolist() == ["fp32"] * 3 + ["int32"] * 3
    assert kernels.names[1] == "Single Precision ops, 24 iterations"
    has_columns(
        kernels,
        flops=pytest.approx([0, 50.4e9, 64e9, 0, 51.2e9, 67e9], rel=1e-14),
        bytes_by_level={"DRAM": pytest.approx([35e9, 8.4e9, 0, 32e9, 6.4e9, 0], rel=1e-14)},
    )
    assert rw.read_ceilings(text.encode()).peak_flops == {"fp32": 1280e9, "int32": 670e9}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("100.00, 400.00,", "100.00, four,", "line 10: expected 17 numbers, got"),
        ("    0.64, 6400.00, 200.00", "", "line 11: expected 17 numbers, got"),
        ("ex.time,   GIOPS", "GIOPS,   ex.time", "expected the columns ex.time, GFLOPS, GB/sec next to each other"),
        ("8000.00", "1e60", "line 11: expected 17 numbers"),
    ],
)
def test_a_bad_table_of_mixbench_is_refused_with_its_line(old: str, new: str, message: str) -> None:
    assert old in MIXBENCH
    with pytest.raises(ProfileError, match=message):
        read(MIXBENCH.replace(old, new).encode())
    with pytest.raises(ProfileError, match="no row with a measurement"):
        read("".join(line + "\n" for line in MIXBENCH.splitlines()[:9]).encode())


def test_a_bandwidth_above_the_memorys_is_said() -> None:
    said = "the highest bandwidth, 700 GB/s, is above the 600.10 GB/s that mixbench prints for the device"
    text = MIXBENCH.replace("80.00, 320.00", "80.00, 700.00").encode()
    assert any(word.startswith(said) for word in read(text).warnings)
    assert any(word.startswith(said) for word in rw.read_ceilings(text).notes)
    assert not warns(read(MIXBENCH.encode()), "above the")


# -- Google Benchmark ----------------------------------------------------------------------------------------------


def benchmark(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "iterations": 1000, "real_time": 50.0, "cpu_time": 50.0, "time_unit": "ns"} | more


def exported(*runs: dict[str, Any]) -> bytes:
    return json.dumps({"context": {"num_cpus": 4, "library_build_type": "release"}, "benchmarks": runs}).encode()


def test_a_benchmark_has_the_time_and_bytes_of_all_iterations() -> None:
    kernels = read(
        exported(benchmark("BM_copy/1024", bytes_per_second=4.096e10), benchmark("BM_Hi", real_time=42, time_unit="ms"))
    )
    has_columns(
        kernels, names=["BM_copy/1024", "BM_Hi"], time=pytest.approx([50e-6, 42], rel=1e-15), count=[1000, 1000]
    )
    np.testing.assert_allclose(kernels.bytes, [2048 * 1000, np.nan], rtol=1e-15)
    assert np.isnan(kernels.flops).all()


def test_rates_are_over_the_time_that_the_library_divides_by() -> None:
    rates = {"bytes_per_second": 4e10, "cpu_time": 100.0}
    kernels = read(
        exported(
            benchmark("BM_a", **rates), benchmark("BM_a/real_time", **rates), benchmark("BM_b/manual_time", **rates)
        )
    )
    np.testing.assert_allclose(kernels.bytes, [4e6, 2e6, 2e6], rtol=1e-15)


@pytest.mark.parametrize(
    ("counter", "value"),
    [("FLOPS", 2e10), ("flops", 2e10), ("GFLOPS", 20), ("GFLOP/s", 20), ("flops_per_second", 2e10), ("MFlops/s", 2e4)],
)
def test_a_counter_of_flops_is_a_rate(counter: str, value: float) -> None:
    kernels = read(exported(benchmark("BM_axpy", **{counter: value})))
    np.testing.assert_allclose(kernels.flops, [1e6], rtol=1e-15)
    assert kernels.origin["flops"][0].startswith(f"{counter} x time x iterations")


def test_repetitions_are_added_and_their_aggregates_are_not() -> None:
    mean = benchmark("BM_a_mean", run_type="aggregate", aggregate_name="mean", iterations=2)
    kernels = read(exported(benchmark("BM_a", run_type="iteration"), benchmark("BM_a", run_type="iteration"), mean))
    has_columns(kernels, names=["BM_a"], count=[2000])
    # Old versions say it only by the name, and a benchmark may have such a name.
    old = read(exported(benchmark("BM_a"), benchmark("BM_a_mean"), benchmark("BM_of_the_median")))
    assert old.names.tolist() == ["BM_a", "BM_of_the_median"]


def test_a_file_of_aggregates_alone_gives_the_medians() -> None:
    kinds = ("mean", "median", "stddev")
    runs = [benchmark(f"BM_a_{kind}", run_type="aggregate", real_time=40.0 + at) for at, kind in enumerate(kinds)]
    kernels = read(exported(*runs))
    has_columns(kernels, names=["BM_a"], count=[1], time=pytest.approx([41e-9], rel=1e-15))
    assert warns(kernels, "the medians are read, as one iteration each")


CSV = """\
2026-01-05T10:00:00+00:00
Running ./bench
name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message,"FLOPS"
"BM_copy/1024",1000,50,50,ns,4.096e+10,,,,,
"BM_axpy",2000,25,25,ns,,,"a, b",,,4e+10
"BM_none",,,,,,,,true,"no file"
"""


def test_a_real_file_of_google_benchmark_is_read() -> None:
    kernels = read(real_file("google_benchmark/test2_run.json"))
    np.testing.assert_allclose(kernels.time[:2] / kernels.count[:2], [42e-3, 10e-9])
    assert kernels.count[:2].tolist() == [1234, 1000]


def test_a_csv_is_read_as_the_json_is() -> None:
    kernels = read(CSV.replace(',true,"no file"', ',true,"no file",').encode())
    has_columns(kernels, names=["BM_copy/1024", "BM_axpy"], time=pytest.approx([50e-6, 50e-6], rel=1e-15))
    np.testing.assert_allclose(kernels.bytes, [2048 * 1000, np.nan], rtol=1e-15)
    np.testing.assert_allclose(kernels.flops, [np.nan, 2e6], rtol=1e-15)
    assert "benchmarks that failed or were skipped were left out: 1, such as 'BM_none'" in kernels.warnings


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (exported(), "no benchmark ran"),
        (exported(benchmark("BM_a", error_occurred=True)), "no benchmark ran"),
        (
            exported(benchmark("BM_a", time_unit="h")),
            "entry 1, 'time_unit': expected one of 'ns', 'us', 'ms', 's', got 'h'",
        ),
        (exported(benchmark("BM_a", real_time=-1)), "entry 1, 'real_time': expected a number from 0, got -1"),
        (exported(benchmark("BM_a"), benchmark("BM_b", iterations="many")), "entry 2, 'iterations': expected a number"),
        (exported(benchmark("BM_a"))[:-9], "not JSON"),
    ],
)
def test_bad_benchmarks_end_in_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(data)
