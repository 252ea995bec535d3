"""Write twins of what Nsight Compute writes: reports and tables of made-up kernels on made-up devices.

The order of columns, the kernels' names and which metrics there are differ on purpose from what real files have.
Run this file to write the twins anew.
"""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Cell: TypeAlias = str | int | float
Launch: TypeAlias = Mapping[str, Cell]
FIXTURES = Path(__file__).parents[1] / "fixtures" / "ncu"

GEMM = "ampere_bf16_s1688gemm_bf16_128x64_stages_32x6_tn"
BLUR = "void image::blur<float, (int)3>(const float *, float *, int)"
SASS = "smsp__sass_thread_inst_executed_op_"
RUN = {"Host Name": "10.0.2.15", "Process Name": "twin3.7", "Device": "0"}

# One launch of two kernels on a chip of compute capability 8.0 at half its clock: 0.705 of 1.41 GHz.
SHARED: dict[str, Cell] = {
    "device__attribute_compute_capability_major": 8,
    "device__attribute_compute_capability_minor": 0,
    "device__attribute_display_name": "NVIDIA A100-PCIE-40GB",
    "device__attribute_max_gpu_frequency_khz": 1410000,
    "device__attribute_max_mem_frequency_khz": 1215000,
    "device__attribute_multiprocessor_count": 108,
    "dram__bytes.sum.peak_sustained": 1280.0,
    "dram__cycles_elapsed.avg.per_second": 1.2e9,
    "l1tex__cycles_elapsed.avg.per_second": 705e6,
    "l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained": 108.0,
    "lts__cycles_elapsed.avg.per_second": 9e8,
    "lts__t_bytes.sum.peak_sustained": 5120.0,
    "sm__cycles_elapsed.avg.per_second": 705e6,
    "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained": 3456.0,
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 6912.0,
}
LAUNCHES: list[tuple[str, Sequence[int], Sequence[int], Launch]] = [
    (
        GEMM,
        (64, 24, 1),
        (128, 1, 1),
        {
            "gpu__time_duration.sum": 2000000.0,
            "sm__inst_executed_pipe_tensor.sum": 50000000,
            f"{SASS}fadd_pred_on.sum": 0,
            f"{SASS}fmul_pred_on.sum": 250000,
            f"{SASS}ffma_pred_on.sum": 1000000,
            f"{SASS}hfma_pred_on.sum": 0,
            "dram__bytes_read.sum": 300000000,
            "dram__bytes_write.sum": 100000000.0,
            "lts__t_sectors.sum": 25000000.0,
            "l1tex__lsu_writeback_active_mem_lg.sum": 10000000.0,
        },
    ),
    (
        BLUR,
        (1920, 1, 1),
        (32, 8, 1),
        {
            "gpu__time_duration.sum": 100000.0,
            "sm__inst_executed_pipe_tensor.sum": 40000,
            f"{SASS}fadd_pred_on.sum": 1000000,
            f"{SASS}fmul_pred_on.sum": 0,
            f"{SASS}ffma_pred_on.sum": 5000000,
            f"{SASS}hfma_pred_on.sum": 1280000,
            "dram__bytes_read.sum": 8000000,
            "dram__bytes_write.sum": 2000000.0,
            "lts__t_sectors.sum": 500000.0,
            "l1tex__lsu_writeback_active_mem_lg.sum": 400000.0,
        },
    ),
]
AUTOMATIC = {
    "gpu__time_duration.sum": ("usecond", 1e3),
    "dram__bytes_read.sum": ("Mbyte", 1e6),
    "dram__bytes_write.sum": ("Mbyte", 1e6),
    "dram__bytes.sum.peak_sustained": ("Kbyte/cycle", 1e3),
    "dram__cycles_elapsed.avg.per_second": ("cycle/nsecond", 1e9),
    "l1tex__cycles_elapsed.avg.per_second": ("cycle/usecond", 1e6),
    "lts__cycles_elapsed.avg.per_second": ("cycle/usecond", 1e6),
    "lts__t_bytes.sum.peak_sustained": ("Kbyte/cycle", 1e3),
    "sm__cycles_elapsed.avg.per_second": ("cycle/usecond", 1e6),
}


# -- reports -------------------------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def amount(value: Cell) -> bytes:
    """Write a text, an unsigned integer, or a double: as a float where that holds it."""
    if isinstance(value, str):
        return field(1, value)
    if isinstance(value, int):
        return field(5, value)
    if abs(value) < 2**127 and struct.unpack("<f", struct.pack("<f", value))[0] == value:
        return varint(2 << 3 | 5) + struct.pack("<f", value)
    return varint(3 << 3 | 1) + struct.pack("<d", value)


def sides(three: Sequence[int]) -> bytes:
    return b"".join(field(number, side) for number, side in enumerate(three, 1))


def sized(message: bytes) -> bytes:
    return struct.pack("<I", len(message)) + message


def block(
    *payload: bytes, sources: int = 0, results: int = 0, session: bytes | None = None, table: Sequence[str] = ()
) -> bytes:
    body = b"".join(map(sized, payload))
    header = field(1, sources) + field(2, results) + field(5, len(body))
    header += field(3, session) if session is not None else b""
    header += field(4, b"".join(field(1, name) for name in table)) if table else b""
    return sized(header) + body


def report() -> bytes:
    """Write attributes once, beside the launches, names in two tables, and a metric with instances but no value."""
    attributes = {name: value for name, value in SHARED.items() if name.startswith("device__")}
    shared = {name: value for name, value in SHARED.items() if name not in attributes}
    device = field(1, 0) + field(2, str(attributes.pop("device__attribute_display_name")))
    device += b"".join(field(3, field(1, name) + field(2, amount(value))) for name, value in attributes.items())
    names = sorted({name for *_, metrics in LAUNCHES for name in metrics} | set(shared), reverse=True)
    names.insert(3, "inst_executed_by_line")
    blocks = [sized(field(1, 7)), block(session=field(6, device)), block(b"x" * 5000, sources=1, table=names[:9])]
    for row, (name, grid, threads, metrics) in enumerate(LAUNCHES):
        told = {**shared, **metrics, "inst_executed_by_line": None}
        result = field(1, 4100) + field(5, f"_Z{row}mangled") + field(6, name.split("<")[0])
        result += field(7, name) if "<" in name else b""
        result += field(10, sides(grid)) + field(11, sides(threads))
        for metric, value in told.items():
            inner = field(3, field(2, amount(3))) if value is None else field(2, amount(value))
            result += field(13, field(1, names.index(metric)) + inner)
        blocks.append(block(result, results=1, table=names[9:] if row == 0 else ()))
    return b"NVR\0" + b"".join(blocks)


# -- tables --------------------------------------------------------------------------------------------------------


def rows_text(rows: Iterable[Sequence[Cell]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def printed(value: Cell) -> str:
    return f"{value:.2f}".removesuffix(".00") if isinstance(value, float) else str(value)


def wide(units: Mapping[str, tuple[str, float]], base: Mapping[str, str]) -> str:
    """Write one row a launch: kernels and metrics in another order than ncu's, without contexts and streams."""
    metrics = [*reversed(SHARED), *LAUNCHES[0][3], "launch__func_cache_config"]
    header = ["Kernel Name", "CC", "ID", "Grid Size", "Block Size", "Process ID", *RUN, *metrics]
    units_row = [units.get(m, (base.get(m, ""), 1.0))[0] for m in metrics]
    rows: list[list[Cell]] = [[*header], [*[""] * 9, *units_row]]
    for row, (name, grid, threads, own) in enumerate(LAUNCHES):
        told = {**SHARED, **own, "launch__func_cache_config": "CachePreferNone"}
        cells: list[Cell] = [name, "8.0", row, str(tuple(grid)), str(tuple(threads)), "4100", *RUN.values()]
        for metric in metrics:
            value = told[metric]
            scale = units[metric][1] if metric in units else 1.0
            cells.append(printed(value / scale if isinstance(value, (int, float)) and scale != 1 else value))
        rows.append(cells)
    return "Blurring 2 images ...\n" + rows_text(rows)


def long(
    launches: Sequence[tuple[str, str, str, Mapping[str, tuple[str, str]]]], cc: str, first: int = 0, process: int = 77
) -> list[list[Cell]]:
    """Write one row a metric, the columns in another order than ncu's."""
    header: list[Cell] = ["Process ID", "ID", "Metric Name", "Metric Value", "Metric Unit"]
    rows = [[*header, "CC", "Kernel Name", "Block Size", "Grid Size", *RUN]]
    for number, (name, threads, grid, metrics) in enumerate(launches, first):
        for metric, (value, unit) in metrics.items():
            rows.append([process, number, metric, value, unit, cc, name, threads, grid, *RUN.values()])
    return rows


PATH = "sm__ops_path_tensor_"
WGMMA = "sm90_gemm_bf16bf16_bf16f32_wgmma_64x256x16"
HOPPER = [
    (
        WGMMA,
        "(384, 1, 1)",
        "(132, 1, 1)",
        {
            "gpu__time_duration.sum": ("1,250,000", "ns"),
            f"{PATH}src_bf16_dst_fp32.sum": ("412,316,860,416", ""),
            f"{PATH}src_bf16_dst_fp32_sparsity_off.sum": ("412,316,860,416", "op"),
            f"{PATH}src_bf16_dst_fp32_sparsity_on.sum": ("0", "op"),
            f"{PATH}op_hmma_src_bf16_dst_fp32_sparsity_off.sum": ("0", "op"),
            f"{PATH}src_fp4_fp6_fp8_dst_fp32.sum": ("0", ""),
            f"{PATH}src_bf16_dst_fp32_sparsity_off.sum.peak_sustained": ("540,672", "op/cycle"),
            "sm__cycles_elapsed.avg.per_second": ("1,755,000,000.00", "cycle/second"),
            "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("41.30", "%"),
            f"{SASS}ffma_pred_on.sum": ("4,194,304", "inst"),
            f"{SASS}fadd_pred_on.sum": ("(!) n/a", "inst"),
            f"{SASS}fmul_pred_on.sum": ("0", "inst"),
            "dram__bytes_op_read.sum": ("600,000,000", "byte"),
            "dram__bytes_op_write.sum": ("200,000,000", "byte"),
            "dram__bytes.sum.peak_sustained": ("1,280", "byte/cycle"),
            "dram__cycles_elapsed.avg.per_second": ("2,600,000,000.00", "cycle/second"),
        },
    ),
    (
        "flash_fwd_splitkv<Traits64, true>",
        "(256, 1, 1)",
        "(16, 8, 4)",
        {
            "gpu__time_duration.sum": ("80,000", "ns"),
            f"{PATH}src_bf16_dst_fp32.sum": ("0", ""),
            f"{PATH}src_bf16_dst_fp32_sparsity_off.sum": ("0", "op"),
            "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("86.25", "%"),
            f"{SASS}ffma_pred_on.sum": ("2,000,000", "inst"),
            "dram__bytes_op_read.sum": ("5,000,000", "byte"),
            "dram__bytes_op_write.sum": ("1,000,000", "byte"),
        },
    ),
    (
        "copy_rows(float4*, float4 const*)",
        "(1024, 1, 1)",
        "(4096, 1, 1)",
        {
            "gpu__time_duration.sum": ("50,000", "ns"),
            f"{PATH}src_bf16_dst_fp32.sum": ("0", ""),
            f"{SASS}ffma_pred_on.sum": ("0", "inst"),
            f"{SASS}fadd_pred_on.sum": ("0", "inst"),
            f"{SASS}fmul_pred_on.sum": ("0", "inst"),
            "dram__bytes_op_read.sum": ("64,000,000", "byte"),
            "dram__bytes_op_write.sum": ("64,000,000", "byte"),
        },
    ),
]
VOLTA = [
    (
        "volta_fp16_s884gemm_fp16_64x128_ldg8_f2f_nn",
        "(256, 1, 1)",
        "(2, 2, 1)",
        {
            "smsp__cycles_elapsed.avg": ("1,300,000.00", "cycle"),
            "smsp__cycles_elapsed.avg.per_second": ("1,300,000,000.00", "cycle/second"),
            "sm__inst_executed_pipe_tensor.sum": ("8,000,000", "inst"),
        },
    ),
    (
        "half_rows(__half2*)",
        "(64, 1, 1)",
        "(9, 1, 1)",
        {
            "smsp__cycles_elapsed.avg": ("26,000.00", "cycle"),
            "smsp__cycles_elapsed.avg.per_second": ("1,300,000,000.00", "cycle/second"),
            "sm__inst_executed_pipe_tensor.sum": ("0", "inst"),
            f"{SASS}hadd_pred_on.sum": ("3,000", "inst"),
            f"{SASS}hmul_pred_on.sum": ("500", "inst"),
            f"{SASS}hfma_pred_on.sum": ("20,000", "inst"),
        },
    ),
]
EUROPEAN = [
    (
        "scale(double*, double)",
        "(128, 1, 1)",
        "(500, 1, 1)",
        {
            "gpu__time_duration.sum": ("117.344", "ns"),
            "dram__bytes.sum": ("27.595.520", "byte"),
            "lts__t_sector_hit_rate.pct": ("65,77", "%"),
            f"{SASS}dmul_pred_on.sum": ("64.000", "inst"),
        },
    )
]


def interrupted(rows: Sequence[Sequence[Cell]]) -> str:
    """Write banners before the header, and what ncu and the program say between the rows and after them."""
    lines = rows_text(rows).splitlines(keepends=True)
    before = '==PROF== Connected to process 77 (/opt/twin "3")\nmatrix, 64, 256\n'
    return (
        before
        + "".join(
            line + ("loss 0.25, step 3\n==WARNING== clocks\n\n" if row == 4 else "") for row, line in enumerate(lines)
        )
        + "==PROF== Disconnected from process 77\n"
    )


def details() -> str:
    """Write the page for people: labels, rules among the rows, rows that end before the rules' columns."""
    sections: list[tuple[str, str, str, str]] = [
        ("GPU Speed Of Light Throughput", "Duration", "msecond", "1.25"),
        ("GPU Speed Of Light Throughput", "SM Frequency", "cycle/nsecond", "1.40"),
        ("GPU Speed Of Light Throughput", "Memory Throughput", "%", "33.10"),
        ("Memory Workload Analysis", "Memory Throughput", "Gbyte/second", "640.00"),
        ("Occupancy", "Achieved Occupancy", "%", "48.5"),
    ]
    header = ["ID", "Process ID", "Kernel Name", "Grid Size", "Block Size", "CC", "Device", "Host Name", "Section Name"]
    header += ["Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description"]
    lines = [rows_text([header])]
    start: list[Cell] = [3, 91, "stencil27", "(7, 7, 7)", "(8, 8, 8)", "9.0", "0", "10.0.2.15"]
    lines += [rows_text([[*start, *cells]]).rstrip("\n") + ",\n" for cells in sections]
    lines.insert(4, rows_text([[*start, "SpeedOfLight", "", "", "", "Bottleneck", "WRN", "Look, at this"]]))
    return "".join(lines)


def summary() -> str:
    header = ["Kernel Name", "Invocations", "Process ID", "CC", "Device", "Grid Size", "Block Size", "Metric Name"]
    rows: list[list[Cell]] = [[*header, "Metric Unit", "Average", "Minimum", "Maximum"]]
    start: list[Cell] = ["gather_rows", "40", "12", "8.6", "0", "(80, 1, 1)", "(96, 1, 1)"]
    rows += [
        [*start, "dram__sectors_read.sum", "sector", "1,000.50", "900.00", "1,100.00"],
        [*start, "dram__sectors_write.sum", "sector", "249.50", "200.00", "300.00"],
        [*start, "gpu__time_duration.sum", "nsecond", "5,000.00", "4,000.00", "9,000.00"],
    ]
    return rows_text(rows)


def passes() -> tuple[list[list[Cell]], list[list[Cell]]]:
    """Write two runs of one program, each with other metrics; the process is another, as are the times."""
    shapes = [("axpy_twin", "(512, 1, 1)", "(30, 1, 1)"), ("dot_twin", "(512, 1, 1)", "(15, 1, 1)")]
    bytes_of, flops_of = (("6,000,000", "9,000"), ("1,000", "2,500"))
    first = [
        (*shape, {"gpu__time_duration.sum": ("8,000", "ns"), "dram__bytes.sum": (moved, "byte")})
        for shape, moved in zip(shapes, bytes_of, strict=True)
    ]
    second = [
        (*shape, {"gpu__time_duration.sum": ("8,512", "ns"), f"{SASS}ffma_pred_on.sum": (done, "inst")})
        for shape, done in zip(shapes, flops_of, strict=True)
    ]
    return long(first, "8.6", process=301), long(second, "8.6", process=322)


def twins() -> dict[str, bytes]:
    base = {"gpu__time_duration.sum": "nsecond", "dram__bytes_read.sum": "byte", "dram__bytes_write.sum": "byte"}
    one, two = passes()
    texts = {
        "wide_base.csv": wide({}, base),
        "wide_automatic.csv": wide(AUTOMATIC, {}),
        "hopper_long.csv": "\ufeff" + interrupted(long(HOPPER, "9.0")),
        "volta_long.csv": rows_text(long(VOLTA, "7.0", first=5)),
        "european_long.csv": rows_text(long(EUROPEAN, "8.6"), delimiter=";"),
        "details.csv": details(),
        "summary.csv": summary(),
        "passes/bytes.csv": rows_text(one),
        "passes/flops.csv": rows_text(two),
        "passes_in_one.csv": rows_text(one) + "==PROF== Connected to process 322\n" + rows_text(two),
        "error_only.csv": "==PROF== Connected to process 9\n==ERROR== twin3.7 was denied the counters (code 7)\n",
    }
    return {"two_kernels.ncu-rep": report(), **{name: text.encode() for name, text in texts.items()}}


if __name__ == "__main__":
    for name, data in twins().items():
        path = FIXTURES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
