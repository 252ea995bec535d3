"""Write twins of AMD's profiles: small folders as rocprof-compute and rocprof write them, of made-up kernels.

Each dispatch is given by its counters, so a test can say what they mean. The order of columns, the kernels' names and
some columns differ on purpose from what the tools write. Run this file to write the twins anew.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TypeAlias

Cell: TypeAlias = str | int | float
FIXTURES = Path(__file__).parents[1] / "fixtures" / "rocprof"
TRIAD = "void stream::triad<double, 4>(double const*, double const*, double*, double)"
WIPE = "wipe(float*, unsigned long)"
TILES = "Cijk_Ailk_Bljk_DB_MT64x32x16_MI16x16x4x1"

# What each of the three dispatches did; a counter that is not named is zero.
ON_GFX90A: tuple[tuple[str, dict[str, int]], ...] = (
    (
        TRIAD,
        {
            "SQ_INSTS_VALU_FMA_F64": 32768,
            "TCC_EA_RDREQ_sum": 524320,
            "TCC_EA_RDREQ_32B_sum": 32,
            "TCC_EA_WRREQ_sum": 262244,
            "TCC_EA_WRREQ_64B_sum": 262044,
            "TCP_TCC_READ_REQ_sum": 524288,
            "TCP_TCC_WRITE_REQ_sum": 262144,
            "TCP_TOTAL_CACHE_ACCESSES_sum": 1572864,
        },
    ),
    (WIPE, {"TCC_EA_WRREQ_sum": 131072, "TCC_EA_WRREQ_64B_sum": 131072, "TCP_TCC_WRITE_REQ_sum": 131072}),
    (
        TILES,
        {
            "SQ_INSTS_VALU_MFMA_MOPS_F64": 2097152,
            "SQ_INSTS_VALU_ADD_F64": 10,
            "SQ_INSTS_VALU_MUL_F64": 200,
            "SQ_INSTS_VALU_FMA_F64": 3000,
            "SQ_INSTS_VALU_TRANS_F32": 7,
            "TCC_EA_RDREQ_sum": 65536,
            "TCC_EA_WRREQ_sum": 16384,
            "TCC_EA_WRREQ_64B_sum": 16384,
            "TCP_TCC_READ_REQ_sum": 600000,
            "TCP_TCC_WRITE_REQ_sum": 16384,
            "TCP_TCC_ATOMIC_WITH_RET_REQ_sum": 100,
            "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum": 20,
            "TCP_TOTAL_CACHE_ACCESSES_sum": 1000000,
            "SQ_LDS_IDX_ACTIVE": 500000,
            "SQ_LDS_BANK_CONFLICT": 20000,
        },
    ),
)
VALU = [f"SQ_INSTS_VALU_{kind}_F{width}" for width in (64, 16, 32) for kind in ("TRANS", "FMA", "MUL", "ADD")]
MFMA = [f"SQ_INSTS_VALU_MFMA_MOPS_{kind}" for kind in ("I8", "F64", "F32", "BF16", "F16")]
CACHES = [
    *("TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCP_TCC_WRITE_REQ_sum"),
    *("TCP_TCC_READ_REQ_sum", "TCP_TOTAL_CACHE_ACCESSES_sum", "SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"),
]
MEMORY = ["TCC_EA_WRREQ_64B_sum", "TCC_EA_WRREQ_sum", "TCC_EA_RDREQ_32B_sum", "TCC_EA_RDREQ_sum"]
STARTS, ENDS = (
    (1_700_000_000_000_000_123, 1_700_000_000_000_100_001, 1_700_000_000_000_200_007),
    (48_320, 9_120, 231_000),
)


def text(rows: list[list[Cell]], end: str = "\n") -> str:
    made = io.StringIO()
    csv.writer(made, lineterminator=end).writerows(rows)
    return made.getvalue()


def merged() -> str:
    """Return one table of all counters, its timestamps far above 2**53."""
    counters = [*MEMORY, *VALU, *CACHES, *MFMA]
    rows: list[list[Cell]] = [
        ["End_Timestamp", "Kernel_Name", "Workgroup_Size", *counters, "Grid_Size", "Start_Timestamp"]
    ]
    rows[0] += ["Dispatch_ID"]
    for number, (name, counts) in enumerate(ON_GFX90A):
        start, took = STARTS[number], ENDS[number]
        cells: list[Cell] = [start + took, f"{name} [clone .kd]", 128, *(counts.get(c, 0) for c in counters)]
        rows.append([*cells, 2097152, start, number + 5])
    return text(rows, "\r\n")


def system(**told: Cell) -> str:
    fixed: dict[str, Cell] = {"version": 3, "workload_name": "twin", "wave_size": 64, "max_sclk": 1700}
    return text([[*told, *fixed], [*told.values(), *fixed.values()]])


def measured(**rates: float) -> str:
    """Return a benchmark's row, each figure with the ends of its range."""
    names: list[Cell] = ["device"]
    cells: list[Cell] = [2]
    for name, rate in rates.items():
        names += [f"{name}High", name, f"{name}Low"]
        cells += [rate * 1.01, rate, rate * 0.99]
    return text([names, cells])


# Two passes over one program on gfx942, the second in another order and without one dispatch's number first.
PASSES = ((7, "reduce(float*)", 4000), (9, "gemm_bf16", 1_000_000), (11, "reduce(float*)", 0))


def arithmetic() -> str:
    counters = [*VALU, *MFMA, "SQ_INSTS_VALU_MFMA_MOPS_F8"]
    rows: list[list[Cell]] = [["Kernel_Name", "Dispatch_ID", "Start_Timestamp", "End_Timestamp", *counters]]
    for number, name, work in PASSES:
        counts = {"SQ_INSTS_VALU_ADD_F32": work} if "reduce" in name else {"SQ_INSTS_VALU_MFMA_MOPS_BF16": work}
        rows.append([f"{name} (.kd)", number, 100, 90_100, *(float(counts.get(c, 0)) for c in counters)])
    return text(rows)


def traffic() -> str:
    """Return the other pass; its writes are given by channel, as old versions do."""
    channels = [f"TCC_EA0_WRREQ[{number}]" for number in range(4)]
    counters = ["TCC_BUBBLE_sum", "TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", *channels, "TCC_EA0_WRREQ_64B_sum"]
    rows: list[list[Cell]] = [[*counters, *CACHES, "Dispatch_ID", "Kernel_Name"]]
    for number, name, _ in reversed(PASSES):
        moved: list[Cell] = [4096 * number, 4196 * number, 100, 10, 20, 30, 40, 100]
        cached: list[Cell] = [0, 0, 100, 500, 2000, 0, 0]
        rows.append([*moved, *cached, number, f"{name} (.kd)"])
    return text(rows)


def times() -> str:
    rows: list[list[Cell]] = [["Dispatch_ID", "Kernel_Name", "Start_Timestamp", "End_Timestamp"]]
    return text(rows + [[number, name, 1000 * number, 1000 * number + 500 + number] for number, name, _ in PASSES])


def old() -> str:
    """Return what rocprof's first version writes."""
    header: list[Cell] = [
        "Index",
        "KernelName",
        "gpu-id",
        "grd",
        "wgr",
        "lds",
        "WRITE_SIZE",
        "FETCH_SIZE",
        "DurationNs",
    ]
    return text([header, [0, "laplacian<4>.kd", 0, 65536, 256, 1024, 1048.5, 2100.25, 77000]])


def long() -> str:
    """Return what rocprofv3 writes: a row a counter, one in two parts; requests by size, as gfx950 counts them."""
    header: list[Cell] = [
        "Counter_Value",
        "Counter_Name",
        "Dispatch_Id",
        "Kernel_Name",
        "End_Timestamp",
        "Start_Timestamp",
    ]
    counts = [("TCC_EA0_RDREQ_128B_sum", 1000), ("TCC_EA0_RDREQ_64B_sum", 200), ("TCC_EA0_RDREQ_32B_sum", 30)]
    counts += [("TCC_EA0_WRREQ_sum", 400), ("TCC_EA0_WRREQ_sum", 100), ("TCC_EA0_WRREQ_64B_sum", 500)]
    counts += [("TCC_EA0_RDREQ_sum", 1230), ("TCC_BUBBLE_sum", 600)]
    rows: list[list[Cell]] = [header]
    rows += [[value, name, 3, "scale", 900, 300] for name, value in counts]
    return text([*rows, [64, "TCC_EA0_WRREQ_sum", 1, "touch", 250, 200]])


# Three dispatches on MI300X, two of which do integers only: a hash, and a product of 8-bit matrices.
OF_INTEGERS: tuple[tuple[str, dict[str, int]], ...] = (
    ("hash(uint4 const*, uint*)", {"SQ_INSTS_VALU_INT32": 700_000, "SQ_INSTS_VALU_INT64": 3000}),
    ("saxpy(float, float*)", {"SQ_INSTS_VALU_FMA_F32": 40_000, "SQ_INSTS_VALU_INT32": 9000}),
    ("gemm_i8", {"SQ_INSTS_VALU_MFMA_MOPS_I8": 5_000_000, "SQ_INSTS_VALU_INT32": 20_000}),
)


def integers() -> str:
    counters = [*VALU, "SQ_INSTS_VALU_INT64", *MFMA, "SQ_INSTS_VALU_INT32", "TCC_EA0_RDREQ_sum"]
    rest = ["TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum", "TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum"]
    rows: list[list[Cell]] = [["Dispatch_ID", "Start_Timestamp", *counters, *rest, "End_Timestamp", "Kernel_Name"]]
    for number, (name, counts) in enumerate(OF_INTEGERS):
        told = {"TCC_EA0_RDREQ_sum": 2000, "TCC_EA0_WRREQ_sum": 500, "TCC_EA0_WRREQ_64B_sum": 500, **counts}
        start = 5_000 * number
        cells: list[Cell] = [told.get(c, 0) for c in (*counters, *rest)]
        rows.append([number, start, *cells, start + 4_000, name])
    return text(rows)


MI300X_RATES = {"HBMBw": 4100.0, "MALLBw": 11000.0, "L2Bw": 20000.0, "FP32Flops": 120000.0, "MFMABF16Flops": 600000.0}
TWINS = {
    "gfx90a/pmc_perf.csv": merged,
    "gfx90a/sysinfo.csv": lambda: system(hbm_bw=1600.0, gpu_model="MI200", gpu_arch="gfx90a", lds_banks_per_cu=32),
    "gfx90a/roofline.csv": lambda: measured(
        MFMAI8Ops=160000.0,
        MFMAF64Flops=40000.0,
        FP64Flops=20000.0,
        FP32Flops=21000.0,
        L1Bw=9000.0,
        L2Bw=5000.0,
        HBMBw=1250.0,
    ),
    "gfx942/pmc_perf_0.csv": arithmetic,
    "gfx942/pmc_perf_1.csv": traffic,
    "gfx942/timestamps.csv": times,
    "gfx942/sysinfo.csv": lambda: system(gpu_arch="gfx942", gpu_model="MI300X_A1", compute_partition="SPX"),
    "gfx942/roofline.csv": lambda: measured(**MI300X_RATES, MFMAF16Flops=1200000.0, MFMAF64Flops=90000.0),
    "integers/pmc_perf.csv": integers,
    "integers/sysinfo.csv": lambda: system(gpu_arch="gfx942", gpu_model="MI300X_A1", compute_partition="SPX"),
    "integers/roofline.csv": lambda: measured(**MI300X_RATES, I32Ops=56000.0, I64Ops=14000.0, MFMAI8Ops=2000000.0),
    "results.csv": old,
    "gfx950_counter_collection.csv": long,
}


if __name__ == "__main__":
    for name, made in TWINS.items():
        path = FIXTURES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made(), encoding="utf-8", newline="")
