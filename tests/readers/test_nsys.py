"""Reports of Nsight Systems, and its SQLite export."""

from __future__ import annotations

import codecs
import gzip
import io
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read
from tests.real_files import real_file
from tests.tables import has_columns, warns

KERN_SUM = """\
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
60.0,12000000,4,3000000.0,2990000.0,2900000,3100000,8313.1,"burn(float *, int, int)"
40.0,8000000,100,80000.0,80000.0,79000,81000,10.0,"void axpy<float, 4>(int, float)"
"""
MEM_TIME = """\
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation
71.4,2000000,8,250000.0,250000.0,249000,251000,320.1,[CUDA memcpy Host-to-Device]
28.6,1000000,4,250000.0,250000.0,249000,251000,290.7,[CUDA memcpy Device-to-Device]
"""
MEM_SIZE = """\
Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
64.000,8,8.000,8.000,8.000,8.000,0.000,[CUDA memcpy Host-to-Device]
16.000,4,4.000,4.000,4.000,4.000,0.000,[CUDA memcpy Device-to-Device]
"""
API = """\
Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
90.0,200000000,1,200000000.0,200000000.0,200000000,200000000,0.0,cudaMalloc
10.0,20000000,104,192307.0,5000.0,4000,9000000,0.0,cudaLaunchKernel
"""
TRACE = """\
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),\
Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
1000,10000000,118,,,,,,,,,,250.000,25000.000,Pinned,Device,NVIDIA A100-SXM4-40GB (0),1,,7,[CUDA memcpy Host-to-Device]
20000,1500000,120,2560,1,1,256,1,1,32,0.000,0.000,,,,,NVIDIA A100-SXM4-40GB (0),1,,7,"burn(float *, int, int)"
30000,1000,121,,,,,,,,,,2.000,2000.000,Device,,NVIDIA A100-SXM4-40GB (0),1,,7,[CUDA memset]
40000,2000,122,,,,,,,,,,4.000,2000.000,Device,Device,NVIDIA A100-SXM4-40GB (0),1,,7,[CUDA memcpy Device-to-Device]
50000,3000,123,,,,,,,,,,8.000,2000.000,Device,Device,NVIDIA A100-SXM4-40GB (0),1,,7,[CUDA memcpy Peer-to-Peer]
"""
PRINTED = """\
[6/8] Executing 'cuda_gpu_kern_sum' stats report

 Time (%)  Total Time (ns)  Instances  Avg (ns)   StdDev (ns)                Name
 --------  ---------------  ---------  ---------  -----------  -------------------------------
     60.0       12,000,000          4  3,000,000      8,313.1  burn(float *, int, int)
     40.0        8,000,000        100   80,000.0         10.0  void axpy<float, 4>(int, float)

[7/8] Executing 'cuda_gpu_mem_time_sum' stats report

 Time (%)  Total Time (ns)  Count  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)            Operation
 --------  ---------------  -----  --------  --------  --------  --------  -----------  ------------------------------
    100.0          444,289    360   1,234.1   1,248.0     1,184     1,408         24.3  [CUDA memcpy Device-to-Device]

[8/8] Executing 'cuda_gpu_mem_size_sum' stats report

 Total (MB)  Count  Avg (MB)  Med (MB)  Min (MB)  Max (MB)  StdDev (MB)            Operation
 ----------  -----  --------  --------  --------  --------  -----------  ------------------------------
      0.275    360     0.001     0.001     0.000     0.002        0.001  [CUDA memcpy Device-to-Device]

Generated:
    report1.nsys-rep
"""


def text(given: str, **options: Any) -> rw.Kernels:
    return read(given.encode(), **options)


def rows(kernels: rw.Kernels) -> list[tuple[str, float, float]]:
    """Return names, launches, and seconds to twelve digits."""
    times = [float(f"{time:.12g}") for time in kernels.time]
    return list(zip(kernels.names.tolist(), kernels.count.tolist(), times, strict=True))


BOTH = [("burn(float *, int, int)", 4.0, 12e-3), ("void axpy<float, 4>(int, float)", 100.0, 8e-3)]


def test_instances_are_launches_and_the_total_time_is_of_all() -> None:
    kernels = text(KERN_SUM)
    assert rows(kernels) == BOTH
    assert np.isnan(kernels.flops).all()


def test_work_of_one_launch_counts_for_every_instance() -> None:
    kernels = text(KERN_SUM, work={"burn*": {"flops": "10 GFLOP"}})
    assert kernels.flops[0] == 40e9
    assert kernels.achieved[0] == pytest.approx(40e9 / 12e-3)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name", 3e-6),
        ("Time (%),Total Time,Instances,Avg,Med,Min,Max,StdDev,Name", 3e-6),
        ("Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name", 3e-3),
        ("Time (%),Total Time (ms),Instances,Avg (ms),Name", 3.0),
        ("Time(%),Total Time (ns),Calls,Average,Minimum,Maximum,Name,Instances", 3e-6),
        ("Time (%),Total Time (ns),Instances,Avg (ns),GridXYZ,BlockXYZ,Name", 3e-6),
    ],
)
def test_every_version_of_the_kernel_summary_is_read(header: str, seconds: float) -> None:
    cells = {"Name": '"f<1, 2>"', "Instances": "5", "Calls": "5", "GridXYZ": '"  64    1    1"'}
    row = ",".join("3000" if "Total" in name else cells.get(name, "1") for name in header.split(","))
    assert rows(text(f"{header}\n{row}\n")) == [("f<1, 2>", 5.0, seconds)]


def test_lines_of_the_tool_before_the_table_are_no_rows() -> None:
    before = "NOTICE: Existing SQLite export found: r.sqlite\n\n" + "Processing [r.sqlite] with [/o/k.py]... \n\n"
    kernels = text(f"{before} ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n{KERN_SUM}\n")
    assert [name for name, _, _ in rows(kernels)] == [name for name, _, _ in BOTH]


def test_reports_after_one_another_in_a_file_are_joined() -> None:
    reports = [f"Processing [r.sqlite] with [r.py]... \n\n{report}\n" for report in (API, KERN_SUM, MEM_TIME, MEM_SIZE)]
    kernels = text("".join(reports))
    copies = [("[CUDA memcpy Host-to-Device]", 8.0, 2e-3), ("[CUDA memcpy Device-to-Device]", 4.0, 1e-3)]
    assert rows(kernels) == BOTH + copies
    assert kernels.bytes_by_level["host"][2] == 64e6
    assert kernels.bytes_by_level["main"][3] == 2 * 16e6
    assert kernels.category.tolist() == [None, None, "copy", "copy"]
    assert "reports of this file that are not read: 'cuda_api_sum'" in kernels.warnings


@pytest.mark.parametrize(
    ("name", "family"),
    [
        # Names of kernels on an H100, of PyTorch 2.11 with CUDA 13.
        ("nvjet_sm90_tst_192x192_64x4_2x1_v_bz_bias_TNT", "matrix product"),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_6_128x128x64", "attention"),
        ("void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add>(int)", "element by element"),
        ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)", "normalisation"),
        ("void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>(float)", "normalisation"),
        ("triton_red_fused_native_layer_norm_0", "normalisation"),
        ("void at::native::distribution_elementwise_grid_stride_kernel<normal_and_transform>", "element by element"),
        # Names of other libraries.
        ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", "convolution"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x192x64_MI16x16x1", "matrix product"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)", "collective"),
        ("void vectorized_gather_kernel<16, long>(char*, char*, long*, int)", "look-up"),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", None),
        ("convert_to_bf16(float*, int)", None),
        ("step_velocities(double*)", None),
    ],
)
def test_a_kernel_without_a_category_gets_the_family_that_its_name_tells(name: str, family: str | None) -> None:
    table = f'Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,3000,1,3000.0,"{name}"\n'
    assert text(table).category.tolist() == [family]


def test_a_bad_cell_of_a_later_report_is_named_by_its_line_in_the_file() -> None:
    with pytest.raises(ProfileError, match=r"row 7, column 'Total Time \(ns\)'"):
        text(API + "\n" + KERN_SUM.replace("8000000", "many", 1) + "\n" + MEM_TIME)


def test_sizes_and_times_of_copies_are_read_alone_too() -> None:
    assert text(MEM_SIZE).bytes_by_level["host"][0] == 64e6
    times = text(MEM_TIME)
    has_columns(times, time=pytest.approx([2e-3, 1e-3]), category=["copy", "copy"])
    old = "Total,Operations,Average,Minimum,Maximum,Operation\n262144.000,4,65536,65536,65536,[CUDA memcpy HtoD]\n"
    assert text(old).bytes_by_level["host"].tolist() == [262144 * 1024]


def test_a_trace_has_a_row_for_each_launch_and_bytes_where_they_go() -> None:
    kernels = text(TRACE)
    has_columns(
        kernels, time=pytest.approx([10e-3, 1.5e-3, 1e-6, 2e-6, 3e-6]), category=["copy", None, "copy", "copy", "copy"]
    )
    assert kernels.bytes_by_level["host"][0] == 250e6
    assert kernels.bytes_by_level["main"][[2, 3]].tolist() == [2e6, 8e6]
    assert kernels.bytes_by_level["peer"][4] == 8e6
    assert np.isnan(kernels.bytes[1])
    assert kernels.flops.tolist()[2:] == [0.0, 0.0, 0.0]
    assert kernels.chip == rw.chip("a100-sxm-40gb")


def test_kernels_of_two_devices_are_named_apart() -> None:
    other = '60000,1700000,130,1,1,1,1,1,1,32,0,0,,,,,NVIDIA A100-SXM4-40GB (1),1,,7,"burn(float *, int, int)"\n'
    kernels = text(TRACE + other)
    assert kernels.names[[1, 5]].tolist() == [
        "burn(float *, int, int) (device 0)",
        "burn(float *, int, int) (device 1)",
    ]
    assert kernels.chip == rw.chip("a100-sxm-40gb")


@pytest.mark.parametrize(
    "header",
    ["Start(nsec),Duration(nsec),CorrId,Bytes (MB),Strm,Name", "Start (ns),Duration (ns),CorrId,Bytes (MB),Strm,Name"],
)
def test_an_old_trace_names_its_unit_without_a_space(header: str) -> None:
    kernels = text(f"{header}\n10,1500,1,,7,f\n20,500,2,3,7,[CUDA memcpy DtoH]\n")
    assert kernels.time.tolist() == pytest.approx([1.5e-6, 0.5e-6])
    assert kernels.bytes_by_level["host"][1] == 3e6


def test_the_summary_of_kernels_and_copies_leaves_out_the_calls_of_the_host() -> None:
    header = "Time (%),Total Time (ns),Instances,Avg (ns),Category,Operation\n"
    kernels = text(
        f"{header}50,500,5,100,CUDA_KERNEL,f\n30,300,3,100,MEMORY_OPER,[CUDA memcpy HtoD]\n"
        "20,200,2,100,CUDA_API,cudaFree\n"
    )
    assert rows(kernels) == [("f", 5.0, 5e-7), ("[CUDA memcpy HtoD]", 3.0, 3e-7)]
    assert kernels.category.tolist() == ["CUDA_KERNEL", "copy"]
    assert "1 row left out: calls of the host's API" in kernels.warnings


def test_the_time_of_the_kernel_is_read_from_summaries_of_launches() -> None:
    header = "Count,QCount,TAvg (ns),AAvg (ns),QAvg (ns),KAvg (ns),KMed (ns),API Name,Kernel Name\n"
    assert rows(text(f"{header}40,38,9000,1700,290,800,790,cudaLaunchKernel,f\n")) == [("f", 40.0, 32e-6)]
    trace = (
        "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),Kernel Name\n"
    )
    assert text(f"{trace}1,2,3,4,5,600,f\n").time.tolist() == pytest.approx([6e-7])


def test_ranges_have_counts_and_say_whose_time_it_is() -> None:
    host = text("Time (%),Total Time (ns),Instances,Avg (ns),Style,Range\n60,7000,7,1000,PushPop,:step\n")
    assert rows(host) == [(":step", 7.0, 7e-6)]
    assert warns(host, "the host's")
    device = text("Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances\n:moe,PushPop,900,100,3\n")
    assert rows(device) == [(":moe", 3.0, 9e-7)]
    kernels = text(
        "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Kernel Name\n:moe,PushPop,1,1,3,9,90,f\n"
    )
    assert rows(kernels) == [("f", 9.0, 9e-8)]
    assert kernels.category.tolist() == [":moe"]
    assert warns(kernels, "every range")


def test_a_printed_report_is_read() -> None:
    kernels = text(PRINTED)
    found = [*BOTH, ("[CUDA memcpy Device-to-Device]", 360.0, 444289e-9)]
    assert rows(kernels) == found
    assert kernels.bytes[2] == pytest.approx(2 * 0.275e6)


WIDE_HEADER = """\
 Time (%)  Total Time (ns)  Instances  Avg (ns)   StdDev (ns)                Name
 --------  ----------  ---------  ---------  -----------  -------------------------------
     60.0  12,000,000          4  3,000,000      8,313.1  burn(float *, int, int)
     40.0   8,000,000        100   80,000.0         10.0  void axpy<float, 4>(int, float)
"""
WIDE_CELLS = """\
 Time (%)  Total Time (ns)  Instances  Avg (ns)   StdDev (ns)                Name
 --------  ---------------  ---------  ---------  -----------  -------------------------------
     60.0       12,000,000          4  3,000,000.00000      8,313.1  burn(float *, int, int)
     40.0        8,000,000        100   80,000.0         10.0  void axpy<float, 4>(int, float)
"""


@pytest.mark.parametrize("table", [WIDE_HEADER, WIDE_CELLS])
def test_a_printed_report_whose_headers_or_cells_are_wider_than_its_dashes_is_read(table: str) -> None:
    assert rows(text(table)) == BOTH


@pytest.mark.parametrize("report", [API, API.replace("Total Time (ns)", "Total Time").replace("cudaMalloc", "poll")])
def test_calls_of_the_host_are_refused_with_the_report_to_take(report: str) -> None:
    with pytest.raises(
        ProfileError, match=r"calls of the host's API \(cuda_api_sum\).*nsys stats --report cuda_gpu_trace"
    ):
        text(report)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_an_export_of_windows_is_read(encoding: str) -> None:
    data = (KERN_SUM + "\r\n" + API).replace("\n", "\r\n").encode(encoding)
    assert len(read(data)) == 2
    assert len(read(codecs.BOM_UTF8 + PRINTED.encode())) == 3


def test_a_report_in_an_archive_beside_others_is_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("r_cuda_gpu_kern_sum.csv", KERN_SUM)
        archive.writestr("r_cuda_api_sum.csv", API)
        archive.writestr("notes.txt", "hello")
    assert len(read(buffer.getvalue())) == 2


def test_a_report_that_ends_within_a_row_or_has_no_row_is_an_error() -> None:
    with pytest.raises(ProfileError, match="ends within a row"):
        text(KERN_SUM[:-30])
    for end in ("", "\n", "\n\nProcessing [r.sqlite] with [r.py]... \n"):
        with pytest.raises(ProfileError, match="no row"):
            text(KERN_SUM.partition("\n")[0] + end)


def test_a_number_of_launches_that_is_missing_is_an_error_of_the_file() -> None:
    with pytest.raises(ProfileError, match="column 'count': nan must be a whole number from 1"):
        text(KERN_SUM.replace(",4,", ",,"))


# -- the SQLite export ---------------------------------------------------------------------------------------------

PID = 5 * 0x1000000
THREAD = PID + 17
KERNEL = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName", "gridX")
Table = tuple[Sequence[str], Sequence[tuple[Any, ...]]]
STRINGS: Table = (("id", "value"), [(1, "burn(float *)"), (2, "axpy"), (3, "step")])
A100: Table = (("id", "name", "smCount"), [(0, "NVIDIA A100-SXM4-40GB", 108), (1, "NVIDIA A100-SXM4-40GB", 108)])


def export(path: Path, tables: Mapping[str, Table]) -> Path:
    """Write an export with these tables."""
    base = sqlite3.connect(path)
    for name, (columns, cells) in tables.items():
        base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", cells)
    base.commit()
    base.close()
    return path


def kernels_table(*cells: tuple[Any, ...]) -> dict[str, Table]:
    return {"StringIds": STRINGS, "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL, cells)}


def test_an_export_has_a_row_per_launch_and_the_chip(tmp_path: Path) -> None:
    tables = kernels_table((0, 1_000_000, 0, 7, 11, PID, 1, 2, 128), (2_000_000, 2_000_500, 0, 7, 12, PID, None, 2, 1))
    kernels = read(export(tmp_path / "r.sqlite", {**tables, "TARGET_INFO_GPU": A100}))
    assert rows(kernels) == [("burn(float *)", 1.0, 1e-3), ("axpy", 1.0, 5e-7)]
    assert kernels.chip == rw.chip("a100-sxm-40gb")
    has_columns(kernels, extra={"grid": ["128", "1"]}, flops=None)


def test_an_export_of_few_columns_is_read(tmp_path: Path) -> None:
    few = {"StringIds": ((("id", "value")), [(7, "axpy")])}
    table = (("start", "end", "deviceId", "shortName"), [(100, 1100, 0, 7)])
    kernels = read(export(tmp_path / "r.sqlite", {**few, "CUPTI_ACTIVITY_KIND_KERNEL": table}))
    assert rows(kernels) == [("axpy", 1.0, 1e-6)]
    assert kernels.chip is None
    assert warns(kernels, "TARGET_INFO_GPU")


def test_communication_of_an_export_has_its_hidden_share_and_no_bytes(tmp_path: Path) -> None:
    names = {"StringIds": (("id", "value"), [(7, "axpy"), (8, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")])}
    cells = [(100, 1100, 0, 8), (600, 2100, 0, 7), (0, 5000, 1, 7)]
    table = (("start", "end", "deviceId", "shortName"), cells)
    kernels = read(export(tmp_path / "r.sqlite", {**names, "CUPTI_ACTIVITY_KIND_KERNEL": table}))
    assert kernels.communication is not None
    assert kernels.communication.to_dict() == pytest.approx({"time": 1e-6, "other": 6.5e-6, "hidden": 0.5e-6})
    assert warns(kernels, "communication runs for 1 µs, 50 % of it hidden behind other kernels")
    assert warns(kernels, "bytes over the link are unknown for 1 kernel that communicates, 13 % of the time")


def test_copies_and_fills_of_an_export_say_where_their_bytes_go(tmp_path: Path) -> None:
    copy = ("start", "end", "deviceId", "bytes", "copyKind")
    cells = [(at, at + 10, 0, 4096, kind) for at, kind in enumerate((1, 2, 8, 10, 11, 13))]
    tables: dict[str, Table] = {
        "StringIds": STRINGS,
        "CUPTI_ACTIVITY_KIND_MEMCPY": (copy, cells),
        "CUPTI_ACTIVITY_KIND_MEMSET": (copy[:4], [(100, 150, 0, 64)]),
    }
    kernels = read(export(tmp_path / "r.sqlite", tables))
    assert kernels.names[0] == "[CUDA memcpy Host-to-Device]"
    assert set(kernels.category) == {"copy"}
    host, peer, main = (kernels.bytes_by_level[level] for level in ("host", "peer", "main"))
    assert [at for at in range(7) if host[at] == 4096] == [0, 1, 4]
    assert [at for at in range(7) if peer[at] == 4096] == [3, 5]
    assert (main[2], main[6]) == (8192, 64)


def test_kernels_of_an_export_on_two_devices_are_named_apart(tmp_path: Path) -> None:
    tables = kernels_table((5, 10, 1, 7, 1, PID, 1, 2, 1), (0, 4, 0, 7, 2, PID, 1, 2, 1))
    kernels = read(export(tmp_path / "r.sqlite", {**tables, "TARGET_INFO_GPU": A100}))
    has_columns(kernels, names=["burn(float *) (device 0)", "burn(float *) (device 1)"], extra={"device": [0.0, 1.0]})
    assert kernels.chip == rw.chip("a100-sxm-40gb")


NVTX = ("start", "end", "eventType", "globalTid", "text", "textId")
RUNTIME = ("start", "end", "correlationId", "globalTid")


def test_the_category_is_the_innermost_range_of_the_launching_thread(tmp_path: Path) -> None:
    kernels = [(1000 + 10 * at, 1005 + 10 * at, 0, 7, at, PID, 1, 2, 1) for at in range(6)]
    launches = [(12, 13, 0, THREAD), (35, 36, 1, THREAD), (90, 92, 2, THREAD), (150, 151, 3, THREAD)]
    launches += [(15, 16, 4, THREAD + 1), (12, 13, 5, PID + 0x1000000 + 17)]
    ranges: list[tuple[Any, ...]] = [
        (0, 100, 59, THREAD, None, 3),
        (10, 20, 59, THREAD, "inner", None),
        (12, 13, 34, THREAD, "mark", None),
    ]
    ranges += [(30, 91, 59, THREAD, "second", None), (14, None, 59, THREAD + 1, "open", None)]
    tables = {
        **kernels_table(*kernels),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME, launches),
        "NVTX_EVENTS": (NVTX, ranges),
    }
    found = read(export(tmp_path / "r.sqlite", tables))
    # The last kernel has the correlation of a call of another process.
    assert found.category.tolist() == ["inner", "second", "step", None, None, None]


def test_sizes_in_ranges_of_pytorch_give_the_flops_of_matrix_products(tmp_path: Path) -> None:
    texts = [
        "aten::mm, seq = 5, op_id = 7, sizes = [[64, 32], [32, 16]]",
        "aten::addmm, seq = 6, op_id = 8, sizes = [[16], [64, 32], [32, 16]]",
        "aten::bmm, op_id = 9, sizes = [[4, 64, 32], [4, 32, 16]]",
        "aten::relu, op_id = 10, sizes = [[64, 32]]",
        "aten::mm, op_id = 11, sizes = [[64, 32], [31, 16]]",
    ]
    ranges = [(100 * at, 100 * at + 50, 59, THREAD, words, None) for at, words in enumerate(texts)]
    launches = [(100 * at + 10, 100 * at + 11, at, THREAD) for at in range(5)] + [(20, 21, 5, THREAD)]
    kernels = [(1000 + 10 * at, 1005 + 10 * at, 0, 7, at, PID, 1, 2, 1) for at in range(5)]
    tables = {
        **kernels_table(*kernels, (2000, 2001, 0, 7, 5, PID, 2, 2, 1)),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME, launches),
        "NVTX_EVENTS": (NVTX, ranges),
    }
    found = read(export(tmp_path / "r.sqlite", tables))
    product = 2 * 64 * 32 * 16
    assert np.array_equal(found.flops, [product, product, 4 * product, np.nan, np.nan, np.nan], equal_nan=True)
    assert found.category.tolist() == ["aten::mm", "aten::addmm", "aten::bmm", "aten::relu", "aten::mm", "aten::mm"]
    assert found.extra["range"][0] == texts[0]
    assert np.isnan(found.bytes).all()


GRAPH: Table = (("start", "end", "deviceId", "streamId", "graphId", "graphExecId"), [(500, 900, 0, 7, 4, 5)])


def test_a_replay_of_a_cuda_graph_is_a_row_where_its_kernels_are_missing(tmp_path: Path) -> None:
    tables = {**kernels_table((0, 100, 0, 7, 1, PID, 1, 2, 1)), "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": GRAPH}
    kernels = read(export(tmp_path / "r.sqlite", tables))
    assert rows(kernels) == [("burn(float *)", 1.0, 1e-7), ("CUDA graph 4", 1.0, 4e-7)]
    assert kernels.category.tolist() == [None, "CUDA graph"]
    assert warns(kernels, "--cuda-graph-trace=node")


def test_a_replay_whose_kernels_are_there_counts_once(tmp_path: Path) -> None:
    kernel: Table = ((*KERNEL, "graphNodeId"), [(0, 100, 0, 7, 1, PID, 1, 2, 1, 77)])
    tables = {"StringIds": STRINGS, "CUPTI_ACTIVITY_KIND_KERNEL": kernel, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": GRAPH}
    assert rows(read(export(tmp_path / "r.sqlite", tables))) == [("burn(float *)", 1.0, 1e-7)]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ((0, "soon", 0, 7, 1, PID, 1, 2, 1), "row 1, column 'end': expected a whole number, got 'soon'"),
        ((0, None, 0, 7, 1, PID, 1, 2, 1), "row 1, column 'end': expected a whole number, got None"),
        ((9, 3, 0, 7, 1, PID, 1, 2, 1), "row 1: the end is before the start"),
        (None, "no kernel and no copy"),
    ],
)
def test_a_bad_export_is_an_error_that_names_the_cell(
    tmp_path: Path, cells: tuple[Any, ...] | None, message: str
) -> None:
    tables = kernels_table(*([] if cells is None else [cells]))
    with pytest.raises(ProfileError, match=message):
        read(export(tmp_path / "r.sqlite", tables))


def test_an_export_that_is_cut_off_or_lacks_a_table_is_an_error(tmp_path: Path) -> None:
    path = export(tmp_path / "r.sqlite", {**kernels_table((0, 1, 0, 7, 1, PID, 1, 2, 1)), "TARGET_INFO_GPU": A100})
    data = path.read_bytes()
    with pytest.raises(ProfileError):
        read(data[: len(data) // 2])
    few: Table = (("start", "end"), [(0, 1)])
    with pytest.raises(ProfileError, match="no column 'deviceId'"):
        read(export(tmp_path / "s.sqlite", {"StringIds": STRINGS, "CUPTI_ACTIVITY_KIND_KERNEL": few}))


def test_a_compressed_export_is_read_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    path = export(tmp_path / "r.sqlite", kernels_table((0, 1, 0, 7, 1, PID, 1, 2, 1)))
    assert len(read(gzip.compress(path.read_bytes()))) == 1
    assert len(read(tmp_path)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["r.sqlite"]


@pytest.mark.parametrize("name", ["report1.nsys-rep", "old.qdrep"])
def test_a_report_in_nvidias_own_format_says_how_to_export_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x00\x01\x02\xff" * 100)
    with pytest.raises(ProfileError, match=f"nsys export --type sqlite {name}"):
        read(path)


def test_a_real_export_of_two_h100_has_the_times_of_its_kernels() -> None:
    kernels = read(real_file("traces-2026/nsys_h100_2gpu.sqlite.gz"))
    is_kernel = kernels.category != "copy"
    assert is_kernel.sum() == 300
    assert round(kernels.time[is_kernel].sum() * 1e9) == 3_523_885
    longest = np.array(["64x256x8" in name and "execute_kernel" in name for name in kernels.names])
    for device, launches, nanoseconds in ((0, 12, 1_409_450), (1, 11, 1_349_344)):
        here = longest & (kernels.extra["device"] == device)
        assert (here.sum(), round(kernels.time[here].sum() * 1e9)) == (launches, nanoseconds)
    assert np.nansum(kernels.bytes_by_level["host"]) == 3_624_091_648
    assert np.nansum(kernels.bytes_by_level["main"]) == 2 * 3_624_091_648
    to_device = ~np.isnan(kernels.bytes_by_level["host"])
    assert (to_device.sum(), round(kernels.time[to_device].sum() * 1e9)) == (40, 131_017_409)
    assert kernels.chip is None
