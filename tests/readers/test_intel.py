"""Surveys of Intel Advisor, hotspots of VTune, summaries of unitrace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read
from tests.places import write
from tests.tables import has_columns, warns

# -- Advisor -------------------------------------------------------------------------------------------------------

ADVISOR = """\
Intel(R) Advisor Command Line Tool
Copyright (C) 2009-2023 Intel Corporation. All rights reserved.
Survey Data version="1.1.0"

ID,Function Call Sites and Loops,Self Time,Total Time,Type,Self GFLOPS,Self AI,Self GFLOP,Self Memory (GB),Vector ISA
1,[loop in triad at stream.c:345],1.234s,1.234s,Vectorized (Body),12.5,0.083,15.4,185.1,AVX512
2,[loop in dgemm at mm.c:12],10.5s,10.5s,Vectorized Versions,45.1,1.25,473.5,378.8,AVX512
3,-[loop in dgemm at mm.c:12],9.5s,9.5s,Vectorized (Body),45.0,1.25,427.5,342.0,AVX512
4,main,12ms,11.8s,Function,,,,,
"""


@pytest.mark.parametrize("text", [ADVISOR, ADVISOR.replace(",", "\t"), ADVISOR.replace(",", ";")])
def test_a_survey_has_counts_seconds_and_bytes_of_the_core(text: str) -> None:
    kernels = read(text.encode())
    has_columns(
        kernels,
        names=["[loop in triad at stream.c:345]", "[loop in dgemm at mm.c:12]", "main"],
        time=[1.234, 10.5, 0.012],
    )
    assert np.array_equal(kernels.flops, [15.4e9, 473.5e9, np.nan], equal_nan=True)
    assert np.array_equal(kernels.bytes_by_level["L1"], [185.1e9, 378.8e9, np.nan], equal_nan=True)
    assert kernels.achieved[0] / 1e9 == pytest.approx(12.48, abs=0.01)
    assert kernels.flops[0] / kernels.bytes_by_level["L1"][0] == pytest.approx(0.083, abs=5e-4)
    assert kernels.category.tolist() == ["Vectorized (Body)", "Vectorized Versions", "Function"]


def test_parts_of_a_loop_do_not_count_twice() -> None:
    warning = "1 row left out: parts of vectorized loops, which are rows of their own"
    assert warning in read(ADVISOR.encode()).warnings


def test_a_survey_with_rates_alone_multiplies_by_the_elapsed_time() -> None:
    text = "ID,Function Call Sites and Loops,Self Time,Self Elapsed Time,Self GFLOPS\n1,[loop in f],8s,2s,12.5\n"
    kernels = read(text.encode())
    has_columns(kernels, time=[2.0], flops=[25e9])


def test_the_table_of_the_python_interface_has_the_same_meaning() -> None:
    header = "\tloop_name\tself_time\tself_elapsed_time\tself_gflop\tself_gflops\tself_memory_gb\tself_dram_gb\n"
    kernels = read((header + "0\t[loop in f]\t0.4\t0.1\t0.5312\t5.312\t4.2496\t1.5\n").encode())
    has_columns(
        kernels, time=[0.1], flops=[0.5312e9], bytes_by_level={"L1": pytest.approx([4.2496e9]), "DRAM": [1.5e9]}
    )


def test_a_survey_without_flops_says_how_to_count_them() -> None:
    kernels = read(b"ID,Function Call Sites and Loops,Total Time,Self Time,Type\n4,[loop in f],2.122s,2.122s,Scalar\n")
    assert kernels.time.tolist() == [2.122]
    assert warns(kernels, "--collect=tripcounts --flop")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ADVISOR.replace("1.234s,1.234s", "soon,1.234s"), "row 6, column 'Self Time': expected a number with a unit"),
        (ADVISOR.partition("1,[loop")[0], "no row under its header"),
        (ADVISOR[: ADVISOR.index("4,main") - 12], "ends within a row"),
        (
            "Intel(R) Advisor Command Line Tool\n\nID     Function Call Sites and Loops      Total Time\n________\n",
            "--format=csv",
        ),
    ],
)
def test_a_survey_that_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(text.encode())


def test_a_number_that_a_survey_gives_by_a_bound_is_unknown_and_said() -> None:
    text = ADVISOR.replace("12ms,11.8s,Function,,,", "< 0.001s,11.8s,Function,,,< 0.001")
    kernels = read(text.encode())
    assert np.array_equal(kernels.time, [1.234, 10.5, np.nan], equal_nan=True)
    assert np.isnan(kernels.flops[2])
    assert "'Self Time' is unknown where a bound is written: '< 0.001s' (row 9)" in kernels.warnings
    assert "'Self GFLOP' is unknown where a bound is written: '< 0.001' (row 9)" in kernels.warnings


# -- VTune ---------------------------------------------------------------------------------------------------------

HOTSPOTS = """\
Function\tCPU Time\tModule\tFunction (Full)\tSource File\tStart Address
triad\t1.234567\ta.out\ttriad\tstream.c\t0x401000
dgemm\t10.5\ta.out\tdgemm(double*, double*)\tmm.c\t0x402000
"""
TASKS = """\
Computing Task\tWork Size:Global\tComputing Task:Total Time\tComputing Task:Instance Count\t\
GPU Memory Bandwidth, GB/sec:Read\tGPU Memory Bandwidth, GB/sec:Write
gemm<float, 4>\t1024 x 1024\t0.250\t5\t300.0\t100.0
zeCommandListAppendMemoryCopy(M2D)\t\t0.010\t2\t0.5\t20.0
[Outside any task]\t\t1.000\t\t1.0\t1.0
"""


@pytest.mark.parametrize("text", [HOTSPOTS, HOTSPOTS.replace("1.234567", "1.234567s").replace("10.5", "10.5s")])
def test_times_of_hotspots_are_seconds(text: str) -> None:
    kernels = read(text.encode())
    has_columns(kernels, names=["triad", "dgemm"], time=[1.234567, 10.5])


@pytest.mark.parametrize("unit", ["s", ""])
def test_a_comma_that_may_be_a_decimal_mark_or_separate_thousands_is_asked_about(unit: str) -> None:
    header = HOTSPOTS.partition("\n")[0]
    text = f"{header}\ntriad\t1,234{unit}\ta.out\ttriad\tstream.c\t0x401000\n"
    with pytest.raises(ProfileError, match=r"row 2, column 'CPU Time': '1,234' may be 1.234 or 1234.*decimal=','"):
        read(text.encode())
    assert read(text.encode(), decimal=",").time.tolist() == [1.234]
    assert read(text.encode(), decimal=".").time.tolist() == [1234]
    proof = f"{text}dgemm\t10,5{unit}\ta.out\tdgemm\tmm.c\t0x402000\n"
    assert read(proof.encode()).time.tolist() == [1.234, 10.5]
    proof = f"{text}dgemm\t10.5{unit}\ta.out\tdgemm\tmm.c\t0x402000\n"
    assert read(proof.encode()).time.tolist() == [1234, 10.5]


def test_hotspots_with_commas_and_stacks_are_read() -> None:
    kernels = read(
        b'Function Stack,CPU Time:Total,CPU Time:Self,Module\n"f(int, int)",2.5,0.5,a.out\ng,1.0,1.0,a.out\n'
    )
    has_columns(kernels, names=["f(int, int)", "g"], time=[2.5, 1.0], self_time=[0.5, 1.0])


def test_a_table_of_ones_own_with_a_column_of_cpu_time_is_not_of_vtune() -> None:
    kernels = read(b"kernel,flops,CPU Time,time (ms)\nf,8,1,2\n")
    has_columns(kernels, flops=[8], time=[2e-3])


def test_computing_tasks_have_instances_and_bytes_by_their_mean_bandwidth() -> None:
    kernels = read(TASKS.encode())
    has_columns(
        kernels, names=["gemm<float, 4>", "zeCommandListAppendMemoryCopy(M2D)"], time=[0.25, 0.01], count=[5, 2]
    )
    assert kernels.bytes_by_level["main"][0] == 400e9 * 0.25
    assert kernels.category.tolist() == ["matrix product", "copy"]
    assert "1 row left out: time outside of any task" in kernels.warnings


# -- unitrace ------------------------------------------------------------------------------------------------------

UNITRACE = """\
iterations: 10, gflops: 3

=== API Timing Summary ===

                Total Execution Time (ns):           22772555167

== L0 Backend ==

                 Function,   Calls,     Time (ns),  Time (%),   Average (ns),   Min (ns),   Max (ns)
    zeEventHostSynchronize,     32,     182529847,     36.09,        5704057,          72,   7806688

=== Device Timing Summary ===

                Total Execution Time (ns):           22772555167
    Total Device Time for L0 backend (ns):            8858150990

== L0 Backend ==

                              Kernel,  Calls,  Time (ns),  Time (%),  Average (ns),  Min (ns),  Max (ns)
"gemm(float const*, int)[SIMD16 {20;1;1} {64;8;1}]",     4,   8816659656,  99.53,    2204164914,  233750,  1
         "zeCommandListAppendMemoryCopy(H2D)[4096 bytes]",     3,      41491334,   0.47,      13830444,    1000,  2

=== Kernel Properties ===

                 Kernel,   Compiled,  SIMD,   Number of Arguments
          "gemm(float const*, int)",  JIT,  16,  2
"""


def test_a_summary_of_a_device_has_calls_and_nanoseconds() -> None:
    kernels = read(UNITRACE.encode())
    has_columns(
        kernels,
        names=["gemm(float const*, int)", "zeCommandListAppendMemoryCopy(H2D)[4096 bytes]"],
        count=[4, 3],
        time=pytest.approx([8.816659656, 0.041491334]),
        extra={"SIMD": ["16", None], "groups": ["20;1;1", None]},
        category=["matrix product", "copy"],
    )
    assert kernels.bytes_by_level["host"][1] == 3 * 4096


def test_summaries_of_several_backends_are_joined() -> None:
    header = "Kernel, Calls, Time (ns), Time (%), Average (ns), Min (ns), Max (ns)"
    other = f"\n== CL GPU Backend ==\n\n{header}\nf, 2, 10, 1, 5, 5, 5\n"
    kernels = read((UNITRACE + other).encode())
    assert kernels.names.tolist()[2:] == ["f"]
    assert kernels.count.tolist() == [4, 3, 2]


def test_calls_of_the_host_alone_are_refused() -> None:
    text = "Function, Calls, Time (ns), Time (%), Average (ns), Min (ns), Max (ns)\nzeInit, 1, 5, 100, 5, 5, 5\n"
    with pytest.raises(ProfileError, match=r"calls of the host's API.*unitrace -d"):
        read(text.encode())


def test_a_bad_cell_of_unitrace_is_named_by_its_line() -> None:
    with pytest.raises(ProfileError, match=r"row 21, column 'Time \(ns\)'"):
        read(UNITRACE.replace("41491334", "many").encode())


def test_a_table_of_intel_in_a_folder_or_of_windows_is_read(tmp_path: Path) -> None:
    for number, (text, rows) in enumerate(((ADVISOR, 3), (HOTSPOTS, 2), (TASKS, 2), (UNITRACE, 2))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "report.csv").write_bytes(text.replace("\n", "\r\n").encode("utf-16"))
        write(folder / "notes.txt", "hello")
        assert len(rw.read(folder)) == rows


def test_a_bandwidth_of_a_task_that_is_no_number_is_named() -> None:
    with pytest.raises(
        ProfileError, match="row 2, column 'GPU Memory Bandwidth, GB/sec:Read': expected a finite number"
    ):
        read(TASKS.replace("300.0", "None of it").encode())
