"""Statistics of rocprof and rocprofv3, traces without counters, and the JSON of rocprofv3."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read
from tests.places import write
from tests.real_files import real_file
from tests.tables import has_columns

SHORT = """\
"Name","Calls","TotalDurationNs","AverageNs","Percentage"
"vecAdd(double*, double*, int) [clone .kd]",10,1512480,151248,75.0
"__amd_rocclr_copyBuffer.kd",2,504160,252080,25.0
"""
LONG = """\
"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"
"vecAdd(double*, double*, int)",10,1512480,151248.000000,75.00,150000,152000,12.5
"__amd_rocclr_copyBuffer",2,504160,252080.000000,2.500000e+01,252000,252160,0.00000000e+00
"""
API = """\
"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"
"hipStreamCreateWithFlags",4,262497406,65624351.500000,85.15,3991286,249121840,122332531.343496
"__hipPushCallConfiguration",1,32505687,32505687.000000,10.54,32505687,32505687,0.00000000e+00
"hsa_signal_load_relaxed",1,32505687,32505687.000000,10.54,32505687,32505687,0.00000000e+00
"""
COPIES = """\
"Name","Calls","TotalDurationNs","AverageNs","Percentage"
"MEMORY_COPY_HOST_TO_DEVICE",3,3000,1000,60.0
"CopyDeviceToHost",2,2000,1000,40.0
"""
DOMAINS = """\
"Name","Calls","TotalDurationNs","AverageNs","Percentage"
"HIP_API",3,3000,1000,60.0
"KERNEL_DISPATCH",2,2000,1000,40.0
"""


@pytest.mark.parametrize("text", [SHORT, LONG])
def test_statistics_have_calls_and_the_time_of_all(text: str) -> None:
    kernels = read(text.encode(), work={"vecAdd*": {"bytes": "3 MB"}})
    has_columns(
        kernels,
        names=["vecAdd(double*, double*, int)", "__amd_rocclr_copyBuffer"],
        count=[10, 2],
        time=pytest.approx([1.51248e-3, 5.0416e-4]),
    )
    assert kernels.bytes[0] == 30e6


def test_calls_of_the_host_and_totals_are_no_kernels() -> None:
    with pytest.raises(ProfileError, match=r"no row is a kernel.*calls of the host's API; read \*_kernel_stats"):
        read(API.encode())
    with pytest.raises(ProfileError, match="all rows are totals of all kernels, copies or calls"):
        read(DOMAINS.encode())
    both = read((LONG + API.partition("\n")[2]).encode())
    assert len(both) == 2
    assert "3 rows left out: calls of the host's API" in both.warnings


SUMMARY = """\
"NAME","DOMAIN","CALLS","DURATION (nsec)","AVERAGE (nsec)","PERCENT (INC)","MIN (nsec)","MAX (nsec)","STDDEV"
"addition_kernel(float*)","KERNEL_DISPATCH",4,12000,3000,60.0,2900,3100,50
"MEMORY_COPY_HOST_TO_DEVICE","MEMORY_COPY",2,5000,2500,25.0,2400,2600,10
"hipMemcpy","HIP_API",2,3000,1500,15.0,1400,1600,10
"""


def test_a_summary_with_domains_has_kernels_and_copies_of_the_device_alone() -> None:
    kernels = read(SUMMARY.encode())
    has_columns(
        kernels,
        names=["addition_kernel(float*)", "MEMORY_COPY_HOST_TO_DEVICE"],
        count=[4, 2],
        category=[None, "copy"],
        time=pytest.approx([12e-6, 5e-6], rel=1e-14),
    )
    assert "1 row left out: calls of the host's API" in kernels.warnings


def test_rows_that_are_domains_are_no_kernels() -> None:
    header = SUMMARY.partition("\n")[0]
    with pytest.raises(ProfileError, match=r"all rows are totals of all kernels.*; read \*_kernel_stats.csv"):
        read(f'{header}\n"KERNEL_DISPATCH","KERNEL_DISPATCH",10,1512480,151248,100.0,1,2,1\n'.encode())


@pytest.mark.parametrize(
    "name", ["7_hip_api_stats.csv", "7_hsa_api_stats.csv", "results.hip_stats.csv", "7_domain_stats.csv"]
)
def test_a_table_of_the_host_is_told_by_its_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, LONG)
    with pytest.raises(ProfileError, match=r"of the host, not of kernels of a device: read \*_kernel_stats"):
        read(path)


def test_a_kernel_that_is_named_like_a_call_is_a_kernel_of_the_table_of_kernels(tmp_path: Path) -> None:
    path = write(tmp_path / "7_kernel_stats.csv", LONG.replace("__amd_rocclr_copyBuffer", "hipKernel"))
    assert read(path).names[1] == "hipKernel"


def test_statistics_of_copies_are_copies() -> None:
    kernels = read(COPIES.encode())
    has_columns(kernels, category=["copy", "copy"], count=[3, 2], flops=[0, 0], bytes=None)


def test_a_trace_of_copies_has_a_row_per_copy() -> None:
    trace = """\
"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"MEMORY_COPY","HOST_TO_DEVICE",0,1,1,14955949675563,14955950239443
"MEMORY_COPY","MEMORY_COPY_DEVICE_TO_HOST",1,0,2,14955952733485,14955953315285
"""
    kernels = read(trace.encode())
    has_columns(kernels, time=pytest.approx([563_880e-9, 581_800e-9]), category=["copy", "copy"])
    assert "the trace has no bytes of copies, so they are unknown" in kernels.warnings


def test_a_trace_of_api_calls_says_which_trace_has_kernels() -> None:
    trace = """\
"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"HIP_RUNTIME_API","hipMalloc",717,717,1,1520113899312225,1520113899312425
"""
    with pytest.raises(ProfileError, match=r"calls of the host's API.*rocprofv3 --kernel-trace"):
        read(trace.encode())


TRACE = """\
"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"
"KERNEL_DISPATCH",1,1,15,"transpose(float*, float*, int)",1,671599758568,671599825328
"""


def test_a_folder_of_traces_and_statistics_is_read_once(tmp_path: Path) -> None:
    host = tmp_path / "host"
    host.mkdir()
    for name, text in (("7_kernel_stats.csv", LONG), ("7_hip_api_stats.csv", API), ("7_domain_stats.csv", DOMAINS)):
        write(host / name, text)
    assert read(tmp_path).count.tolist() == [10, 2]
    write(host / "7_kernel_trace.csv", TRACE)
    assert read(tmp_path).time.tolist() == pytest.approx([66_760e-9])
    write(host / "8_kernel_trace.csv", TRACE)
    with pytest.raises(ProfileError, match="several profiles"):
        read(tmp_path)


def test_statistics_that_are_empty_or_cut_off_are_an_error() -> None:
    with pytest.raises(ProfileError, match="no row under its header"):
        read(LONG.partition("\n")[0].encode())
    with pytest.raises(ProfileError, match="ends within a row"):
        read(LONG[:-40].encode())
    with pytest.raises(ProfileError, match="row 2, column 'TotalDurationNs'"):
        read(LONG.replace("1512480", "soon").encode())


# -- JSON ----------------------------------------------------------------------------------------------------------


def dispatch(number: int, kernel: int, start: int, end: int, agent: int = 7) -> dict[str, Any]:
    info = {
        "agent_id": {"handle": agent},
        "kernel_id": kernel,
        "dispatch_id": number,
        "group_segment_size": 1024,
        "private_segment_size": 0,
        "workgroup_size": {"x": 256, "y": 1, "z": 1},
        "grid_size": {"x": 4096, "y": 2, "z": 1},
    }
    return {"start_timestamp": start, "end_timestamp": end, "dispatch_info": info}


def document(**changes: Any) -> dict[str, Any]:
    process: dict[str, Any] = {
        "metadata": {"pid": 1},
        "agents": [
            {"id": {"handle": 3}, "type": 1, "name": "EPYC"},
            {"id": {"handle": 7}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X", "cu_count": 304},
        ],
        "counters": [],
        "kernel_symbols": [
            {"kernel_id": 5, "kernel_name": "axpy.kd", "formatted_kernel_name": "axpy(float*)"},
            {"kernel_id": 6, "kernel_name": "_Z4burnPf.kd"},
        ],
        "callback_records": {"counter_collection": []},
        "buffer_records": {"kernel_dispatch": [dispatch(2, 6, 5000, 9000), dispatch(1, 5, 1000, 2500)]},
    }
    return {"rocprofiler-sdk-tool": [{**process, **changes}]}


def test_the_json_has_a_row_per_dispatch_and_the_gpu() -> None:
    kernels = read(json.dumps(document()).encode())
    has_columns(kernels, names=["axpy(float*)", "_Z4burnPf"], time=pytest.approx([1.5e-6, 4e-6]))
    assert kernels.chip == rw.chip("mi300x")
    has_columns(kernels, extra={"grid": [8192, 8192]}, flops=None)


def test_kernels_of_rccl_have_no_sizes_and_a_warning_says_so() -> None:
    symbols = [{"kernel_id": 5, "kernel_name": "ncclDevKernel_Generic_1.kd"}, {"kernel_id": 6, "kernel_name": "b.kd"}]
    kernels = read(json.dumps(document(kernel_symbols=symbols)).encode())
    assert np.isnan(kernels.network_bytes).all()
    said = "bytes over the link are unknown for 1 kernel that communicates, 27 % of the time: the file has no sizes"
    assert said in kernels.warnings


def test_the_counters_of_the_json_give_flops_and_bytes() -> None:
    names = {
        "SQ_INSTS_VALU_ADD_F32": (100, 20), "SQ_INSTS_VALU_MUL_F32": (0, 0), "SQ_INSTS_VALU_FMA_F32": (50, 0),
        "SQ_INSTS_VALU_TRANS_F32": (0, 0), "FETCH_SIZE": (8, 0), "WRITE_SIZE": (4, 0),
    }  # fmt: skip
    counters = [{"id": {"handle": 90 + at}, "name": name} for at, name in enumerate(names)]
    records = [
        {"counter_id": {"handle": 90 + at}, "value": value}
        for at, values in enumerate(names.values())
        for value in values
    ]
    counted = [{"dispatch_data": dispatch(1, 5, 1000, 2500), "records": records}]
    given = document(counters=counters, callback_records={"counter_collection": counted}, buffer_records={})
    for one in (given, {"rocprofiler-sdk-tool": given["rocprofiler-sdk-tool"][0]}):
        kernels = read(gzip.compress(json.dumps(one).encode()))
        has_columns(kernels, flops=[64 * (120 + 2 * 50)], bytes_by_level={"HBM": [1024 * 12]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"buffer_records": {}}, "no dispatch of a kernel: rocprofv3 --kernel-trace"),
        (
            {"buffer_records": {"kernel_dispatch": [dispatch(1, 5, 9, 3)]}},
            r"kernel_dispatch\[0\]: the kernel ends before",
        ),
        (
            {"buffer_records": {"kernel_dispatch": [{"start_timestamp": 1}]}},
            r"kernel_dispatch\[0\]: expected an object",
        ),
        (
            {"buffer_records": {"kernel_dispatch": [{**dispatch(1, 5, 1, 3), "end_timestamp": "soon"}]}},
            "'end_timestamp': expected a whole number, got 'soon'",
        ),
    ],
)
def test_a_bad_value_of_the_json_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(json.dumps(document(**changes)).encode())


def test_json_that_is_cut_off_is_an_error() -> None:
    text = json.dumps(document())
    with pytest.raises(ProfileError, match="line 1"):
        read(text[: len(text) // 2].encode())


# -- real files ----------------------------------------------------------------------------------------------------


def test_real_statistics_have_their_printed_totals() -> None:
    kernels = read(real_file("traces-2026/rocprof_results.stats.csv"))
    assert (len(kernels), round(kernels.time.sum() * 1e9)) == (8, 9_025_354)
    assert (kernels.count[0], round(kernels.time[0] * 1e9)) == (11, 7_603_945)


def test_a_real_trace_has_the_time_of_each_dispatch() -> None:
    kernels = read(real_file("traces-2026/rocprofv3_kernel_trace.csv"))
    nanoseconds = [round(time * 1e9) for time in kernels.time]
    assert nanoseconds == [48744, 100895, 103265, 130526, 133341, 139119, 139563]


def test_real_statistics_of_calls_are_refused() -> None:
    path = real_file("traces-2026/rocprofv3_hip_api_stats.csv")
    with pytest.raises(ProfileError, match="of the host"):
        read(path)
    with pytest.raises(ProfileError, match="no row is a kernel"):
        read(path.read_bytes())


def test_a_real_json_of_an_mi350x_has_the_time_of_its_kernels() -> None:
    kernels = read(real_file("traces-2026/rocprofv3_mi350x_results.json.gz"))
    assert (len(kernels), len(set(kernels.names)), round(kernels.time.sum() * 1e9)) == (200, 62, 28_878_250)
    nccl = np.array([name.startswith("ncclDevKernel_Generic_1") for name in kernels.names])
    assert (nccl.sum(), round(kernels.time[nccl].sum() * 1e9)) == (9, 27_165_113)
    assert kernels.chip == rw.chip("mi350x")
