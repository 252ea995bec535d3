"""Write twins of the files that benchmarks of machines write: of ERT, the CARM Tool, LIKWID and TraceLens.

The machines are inventions; the ridges of two of them are those known of real ones (7.239 and 17.224 FLOP/byte). Names,
levels and the order of keys differ on purpose from real files. Run this file to write the twins anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ceilings"
LINE = "-" * 80
UNITS = ",Gflop/s,I/Cycle" * 2


def ert(
    levels: list[tuple[str, float]],
    rates: list[tuple[str, float]],
    *,
    host: Any,
    spec: dict[str, list[list[Any]]] | None = None,
    precision: list[str] | None = None,
) -> str:
    """Return a result of ERT."""
    config = {"ERT_FLOPS": ["1,2,4"]} | ({"ERT_PRECISION": precision} if precision else {})
    stated = spec or {"gflops": [], "gbytes": []}
    document = {
        "spec": {part: {"data": data} for part, data in stated.items()},
        "empirical": {
            "metadata": {"HOSTNAME": host, "CONFIG": config, "ERT_VERSION": "1.2.0"},
            "gflops": {"data": rates, "metadata": {"FLOPS": 16}},
            "gbytes": {"metadata": {"FLOPS": 1}, "data": levels},
        },
    }
    return json.dumps(document, indent=1) + "\n"


def carm() -> str:
    """Return a machine's table: two instruction sets, two precisions, and one level that is not there."""
    lines = [
        "Name:,oak,L1 Size:,32,L2 Size:,1024,L3 Size:,0,,L1,L1,L2,L2,L3,L3,DRAM,DRAM,FP,FP,FP FMA,FP_FMA",
        "Date,ISA,Precision,Threads,Loads,Stores,Interleaved,DRAM Bytes,FP Inst." + ",GB/s,I/Cycle" * 4 + UNITS,
        "2025-02-03 10:00:00,scalar,dp,8,2,1,No,524288,add,400.5,2.9,210.25,1.5,0,0,40.0,0.4,60.0,1.9,120.0,1.9",
        "2025-02-03 10:05:00,avx2,dp,8,2,1,No,524288,add,1600.0,2.9,800.0,1.5,0,0,50.0,0.4,240.0,1.9,480.0,1.9",
        "2025-02-03 10:09:00,avx2,sp,8,2,1,Yes,524288,fma,1550.0,2.9,790.0,1.5,0,0,48.0,0.4,940.0,1.9,0,0",
    ]
    return "\r\n".join(lines) + "\r\n"


def applications() -> str:
    """Return a table of applications: intensity 0.25, one of single precision, and one timed in milliseconds."""
    lines = [
        "Date,Method,Name,ISA,Precision,Threads,AI,Gflops,Bandwidth,Time",
        "2025-02-04 09:00:00,PMU,stencil,,dp,8,0.25,20.0,80.0,1.5",
        "2025-02-04 09:01:00,DBI,spmv,avx2,sp,8,0.125,6.0,48.0,0.5",
        "2025-02-04 09:02:00,MIX,mixed,avx2,dp,1,2,100.0,50.0,250.0",
        "2025-02-04 09:03:00,DR,gather,,,0,0,0,30.0,2.0",
    ]
    return "\r\n".join(lines) + "\r\n"


def tracelens() -> str:
    rates = {"vector_fp64": 40, "matrix_fp64": 80, "vector_fp16": 160, "matrix_fp16": 640, "matrix_fp8": 1280}
    return json.dumps({"max_achievable_tflops": rates, "memory_gb": 96, "name": "Elm", "mem_bw_gbps": 3200}) + "\n"


def drawn(rows: list[list[str]]) -> list[str]:
    """Return a table of cells as LIKWID draws it, each centred in its column."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = "+-" + "-+-".join("-" * width for width in widths) + "-+"
    body = [
        "| " + " | ".join(cell.center(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return [rule, body[0], rule, *body[1:], rule, ""]


def cells(title: str, rows: list[list[str]]) -> list[str]:
    """Return a table as ``-O`` prints it, the lines filled up with commas."""
    lines = [f"TABLE,{title},{len(rows) - 1}", *(",".join(row) for row in rows)]
    return [line + "," * (6 - line.count(",")) for line in lines]


THREADS = ["HWThread 3", "HWThread 7"]
# Two threads over two regions: 1,000,000,000 + 2 x 250,000,000 + 4 x 125,000,000 FLOPs a thread, 4 GB in all.
EVENTS = [
    ["INSTR_RETIRED_ANY", "FIXC0", "5000000000", "5100000000"],
    ["FP_ARITH_INST_RETIRED_SCALAR_DOUBLE", "PMC0", "1000000000", "1000000000"],
    ["FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE", "PMC1", "250000000", "250000000"],
    ["FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE", "PMC2", "125000000", "125000000"],
    ["CAS_COUNT_RD", "MBOX0C0", "46875000", "-"],
]
METRICS = [
    ["Runtime (RDTSC) [s]", "0.5000", "0.8000"],
    ["Clock [MHz]", "2400.0000", "2600.0000"],
    ["DP [MFLOP/s]", "4000.0000", "2500.0000"],
    ["AVX DP [MFLOP/s]", "1000.0000", "625.0000"],
    ["Memory bandwidth [MBytes/s]", "8000.0000", "0"],
    ["Memory data volume [GBytes]", "4.0000", "0"],
    ["L3|MEM evict data volume [GBytes]", "0.5000", "0.2500"],
    ["Operational intensity [FLOP/Byte]", "0.5000", "nan"],
]
STATISTICS = ["Sum", "Min", "Max", "Avg"]


def likwid(*, as_cells: bool) -> str:
    """Return what likwid-perfctr prints of two regions in a group of FLOPs and memory, as a table drawn or as cells."""
    about = [["CPU name:", "Oak 8 cores"], ["CPU type:", "Intel Cascadelake SP processor"], ["CPU clock:", "2.40 GHz"]]
    rule = [LINE]
    head = rule + ["\t".join(line) for line in about] + rule + ["converged after 12 steps", *rule]
    lines = ["STRUCT,Info,3,,,,", *(",".join(line) + ",,,,," for line in about)] if as_cells else head
    for region, calls in (("solve", "12"), ("setup, coarse", "1")):
        info = [["Region Info", *THREADS], ["RDTSC Runtime [s]", "0.500000", "0.800000"], ["call count", calls, calls]]
        events = [["Event", "Counter", *THREADS], *EVENTS]
        metrics = [["Metric", *THREADS], *METRICS]
        summed = [["Metric", *STATISTICS], *([row[0] + " STAT", "1", "2", "3", "4"] for row in METRICS)]
        if as_cells:
            title = f"Region {region},Group 1"
            lines += [*cells(f"{title} Raw,MEM_DP", events)[:1], *(",".join(row) + ",,,," for row in info)]
            lines += [*cells("", events)[1:], *cells(f"{title} Metric,MEM_DP", metrics)]
            lines += cells(f"{title} Metric STAT,MEM_DP", summed)
        else:
            lines += [f"Region {region}, Group 1: MEM_DP"]
            lines += [line for table in (info, events, metrics, summed) for line in drawn(table)]
    return "\n".join(lines) + "\n"


def group(
    name: str, seconds: str, *metrics: tuple[str, str], events: tuple[tuple[str, str], ...] = (), number: int = 1
) -> str:
    """Return the output of one group over a whole program on one thread of an AMD processor."""
    head = ["INFO: You are running LIKWID in a cpuset with 8 CPUs.", LINE, "CPU name:\tElm APU", LINE, "2-norm 0.0001"]
    counted = [
        ["Event", "Counter", "HWThread 5"],
        *([event, f"PMC{n}", count] for n, (event, count) in enumerate(events)),
    ]
    shown = [["Metric", "HWThread 5"], ["Runtime (RDTSC) [s]", seconds], *map(list, metrics)]
    return "\n".join([*(head if number == 1 else []), f"Group {number}: {name}", *drawn(counted), *drawn(shown)]) + "\n"


# A known solver: 577,889,172 FLOPs, 5.9632 GB through L2 and 4.8851 GB through L3.
SOLVER = (("RETIRED_SSE_AVX_FLOPS_ALL", "577889172"), ("MERGE", "0"))
FLOPS_GROUP = ("FLOPS_DP", "0.6494", ("DP [MFLOP/s]", "889.8819"))
L2_GROUP = ("L2", "0.6600", ("L2D load data volume [GBytes]", "3.1000"), ("L2 data volume [GBytes]", "5.9632"))
L3_GROUP = ("L3", "0.6510", ("L3 data volume [GBytes]", "4.8851"))


def in_turns() -> str:
    """Return three groups of one run, which took turns: the others saw half and a quarter of the first one's time."""
    flops = group(FLOPS_GROUP[0], FLOPS_GROUP[1], *FLOPS_GROUP[2:], events=SOLVER)
    second = group("L2", "0.3247", ("L2 data volume [GBytes]", "1.5000"), number=2)
    return flops + second + group("L3", "0.16235", ("L3 data volume [GBytes]", "0.5000"), number=3)


def as_json() -> str:
    """Return the solver's FLOPs as LIKWID's JSON filter writes them, with a NaN as it does."""
    raw = {"PMC2": {"Event": SOLVER[0][0], "Values": [288944586.0, 288944586.0]}}
    metric = {
        "DP [MFLOP/s]": {"Values": [444.94095, 444.94095]},
        "Runtime (RDTSC) [s]": {"Values": [0.6494, 0.6494]},
        "CPI": {"Values": [float("nan"), 0.5]},
    }
    document = {"FLOPS_DP": {"FLOPS_DP": {"Raw": raw, "Metric": metric}}, "Info": {"CPU name:": "Elm APU"}}
    return json.dumps(document, indent=4) + "\n"


def bench() -> str:
    """Return two runs of likwid-bench, one after the other."""
    lines = []
    runs = (
        ("triad_avx", 2.5, 1_920_000_000, 8_000_000_000, 96_000_000_000, 38400.0, 3200.0),
        ("peakflops_avx_fma", 1.0, 24_000, 64_000_000_000, 32_000_000, 32.0, 64000.0),
    )
    for test, seconds, size, flops, volume, bandwidth, rate in runs:
        lines += [LINE, "LIKWID MICRO BENCHMARK", f"Test: {test}", LINE, "Using 1 work groups", "Using 8 threads", LINE]
        lines += [f"Cycles:\t\t\t6000000000\nTime:\t\t\t{seconds:e} sec\nSize (Byte):\t\t{size}"]
        lines += [f"Number of Flops:\t{flops}\nMFlops/s:\t\t{rate:.2f}"]
        lines += [f"Data volume (Byte):\t{volume}\nMByte/s:\t\t{bandwidth:.2f}", LINE]
    return "\n".join(lines) + "\n"


TWINS = {
    "ert_one_level.json": lambda: ert([("DRAM", 25.0)], [("GFLOPs", 180.975)], host="pine"),
    "ert_four_levels.json": lambda: ert(
        [("L1", 9000.0), ("L2", 3000.0), ("L3", 500.0), ("DRAM", 125.0)],
        [("FP64 Vector GFLOPs", 1100.0), ("FP64 Vector GFLOPs FMA", 2153.0), ("FP32 Vector GFLOPs FMA", 4306.0)],
        host=["fir.example.org", [], ["192.0.2.1"]],
        spec={"gbytes": [["DRAM", 140.0], ["L2", 3500.0]], "gflops": [["FP64 GFLOPs", 2400.0]]},
    ),
    "ert_stream.json": lambda: ert(
        [("L1", 8000.0), ("HBM", 900.0), ("STREAM HBM", 800.0)],
        [("GFLOPs", 3600.0), ("FP16 Tensor GFLOPs", 28800.0)],
        host="ash",
        precision=["FP64"],
    ),
    "oak_roofline.csv": carm,
    "oak_applications.csv": applications,
    "elm.json": tracelens,
    "likwid_regions.txt": lambda: likwid(as_cells=False),
    "likwid_regions.csv": lambda: likwid(as_cells=True),
    "likwid_solver/flops.txt": lambda: group(FLOPS_GROUP[0], FLOPS_GROUP[1], *FLOPS_GROUP[2:], events=SOLVER),
    "likwid_solver/l2.txt": lambda: group(L2_GROUP[0], L2_GROUP[1], *L2_GROUP[2:]),
    "likwid_solver/l3.txt": lambda: group(L3_GROUP[0], L3_GROUP[1], *L3_GROUP[2:]),
    "likwid_turns.txt": in_turns,
    "likwid.json": as_json,
    "likwid_bench.txt": bench,
}


if __name__ == "__main__":
    for name, made in TWINS.items():
        path = FIXTURES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made(), encoding="utf-8", newline="")
