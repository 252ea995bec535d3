"""Reports of Nsight Systems, and its SQLite export."""

from __future__ import annotations

import codecs
import io
import zipfile

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from roofwidget.readers import read

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


def text(given: str, **options: object) -> rw.Kernels:
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


def test_a_bad_cell_of_a_later_report_is_named_by_its_line_in_the_file() -> None:
    with pytest.raises(ProfileError, match=r"row 7, column 'Total Time \(ns\)'"):
        text(API + "\n" + KERN_SUM.replace("8000000", "many", 1) + "\n" + MEM_TIME)


def test_sizes_and_times_of_copies_are_read_alone_too() -> None:
    assert text(MEM_SIZE).bytes_by_level["host"][0] == 64e6
    times = text(MEM_TIME)
    assert times.time.tolist() == pytest.approx([2e-3, 1e-3])
    assert times.category.tolist() == ["copy", "copy"]
    old = "Total,Operations,Average,Minimum,Maximum,Operation\n262144.000,4,65536,65536,65536,[CUDA memcpy HtoD]\n"
    assert text(old).bytes_by_level["host"].tolist() == [262144 * 1024]


def test_a_trace_has_a_row_for_each_launch_and_bytes_where_they_go() -> None:
    kernels = text(TRACE)
    assert kernels.time.tolist() == pytest.approx([10e-3, 1.5e-3, 1e-6, 2e-6, 3e-6])
    assert kernels.category.tolist() == ["copy", None, "copy", "copy", "copy"]
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
    assert any("the host's" in warning for warning in host.warnings)
    device = text("Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances\n:moe,PushPop,900,100,3\n")
    assert rows(device) == [(":moe", 3.0, 9e-7)]
    kernels = text(
        "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Kernel Name\n:moe,PushPop,1,1,3,9,90,f\n"
    )
    assert rows(kernels) == [("f", 9.0, 9e-8)]
    assert kernels.category.tolist() == [":moe"]
    assert any("every range" in warning for warning in kernels.warnings)


def test_a_printed_report_is_read() -> None:
    kernels = text(PRINTED)
    found = [*BOTH, ("[CUDA memcpy Device-to-Device]", 360.0, 444289e-9)]
    assert rows(kernels) == found
    assert kernels.bytes[2] == pytest.approx(2 * 0.275e6)


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
