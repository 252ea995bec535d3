"""Write tables of kernels that are slow for planted reasons, as Nsight Compute and rocprof write them.

A kernel starts as one that streams from memory at 88 % of the bandwidth, and each reason changes the counters that such
a kernel has. The chip is made up: 100 SMs at 1.5 GHz, 2048 threads an SM.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

Counters: TypeAlias = dict[str, float]
SMS, WARPS_A_BLOCK, INSTRUCTIONS_A_WARP, CYCLES = 100, 8, 600, 300_000
LSU = "pipe_lsu_mem"
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
BASE: Mapping[str, float] = {
    "device__attribute_compute_capability_major": 9,
    "device__attribute_compute_capability_minor": 0,
    "device__attribute_multiprocessor_count": SMS,
    "device__attribute_num_schedulers_per_multiprocessor": 4,
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 88.0,
    "gpu__time_duration.sum": 200_000,
    f"l1tex__data_bank_conflicts_{LSU}_shared_op_ld.sum": 0,
    f"l1tex__data_bank_conflicts_{LSU}_shared_op_st.sum": 0,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 100_000,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 100_000,
    f"l1tex__t_requests_{LSU}_global_op_ld.sum": 1_000_000,
    f"l1tex__t_requests_{LSU}_global_op_st.sum": 500_000,
    f"l1tex__t_sectors_{LSU}_global_op_ld.sum": 4_000_000,
    f"l1tex__t_sectors_{LSU}_global_op_st.sum": 2_000_000,
    f"l1tex__t_sectors_{LSU}_local_op_ld.sum": 0,
    f"l1tex__t_sectors_{LSU}_local_op_st.sum": 0,
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": 20.0,
    "launch__occupancy_limit_barriers": 32,
    "launch__occupancy_limit_blocks": 32,
    "launch__occupancy_limit_registers": 10,
    "launch__occupancy_limit_shared_mem": 16,
    "launch__occupancy_limit_warps": 8,
    "launch__registers_per_thread": 24,
    "launch__shared_mem_per_block": 1024,
    "launch__waves_per_multiprocessor": 4,
    "sm__cycles_active.avg": 0.97 * CYCLES,
    "sm__cycles_active.max": 0.99 * CYCLES,
    "sm__cycles_elapsed.avg": CYCLES,
    "sm__cycles_elapsed.max": CYCLES,
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": 9.0,
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active": 12.0,
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": 20.0,
    "sm__maximum_warps_per_active_cycle_pct": 100.0,
    "sm__warps_active.avg.pct_of_peak_sustained_active": 92.0,
    "smsp__average_warp_latency_per_inst_issued.ratio": 40.0,
    STALL.format("barrier"): 1.0,
    STALL.format("long_scoreboard"): 34.0,
    STALL.format("mio_throttle"): 0.5,
    STALL.format("selected"): 1.0,
    STALL.format("short_scoreboard"): 1.0,
    STALL.format("wait"): 2.5,
    "smsp__inst_executed.sum": 3200 * WARPS_A_BLOCK * INSTRUCTIONS_A_WARP,
    "smsp__issue_active.avg.pct_of_peak_sustained_active": 12.0,
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio": 32.0,
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio": 32.0,
    "smsp__thread_inst_executed_per_inst_executed.ratio": 32.0,
}
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
ACTIVE = "smsp__issue_active.avg.pct_of_peak_sustained_active"


def _grid(kernel: Counters, waves: float, average: float) -> None:
    kernel["launch__waves_per_multiprocessor"] = waves
    kernel["sm__cycles_active.avg"] = average * kernel["sm__cycles_elapsed.max"]
    kernel["smsp__inst_executed.sum"] = round(waves * SMS * 8) * WARPS_A_BLOCK * INSTRUCTIONS_A_WARP


def too_small(kernel: Counters) -> None:
    """20 blocks, of which the chip runs 800 at once."""
    _grid(kernel, 20 / 800, 0.19)
    kernel |= {MEMORY: 9.0, ACTIVE: 4.0, "sm__warps_active.avg.pct_of_peak_sustained_active": 12.0}
    _stall(kernel, "wait")


def tail(kernel: Counters) -> None:
    """One block more than a wave."""
    _grid(kernel, 801 / 800, 0.505)
    kernel[MEMORY] = 44.0
    _stall(kernel, "wait")


def uncoalesced(kernel: Counters) -> None:
    """Each thread loads 4 B of a sector of its own."""
    kernel[f"l1tex__t_sectors_{LSU}_global_op_ld.sum"] = 32_000_000
    kernel["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"] = 4.0


def bank_conflicts(kernel: Counters) -> None:
    """8 turns for each load of shared memory."""
    kernel |= {
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 8_000_000,
        f"l1tex__data_bank_conflicts_{LSU}_shared_op_ld.sum": 7_000_000,
        "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": 96.0,
        MEMORY: 96.0,
    }
    _stall(kernel, "mio_throttle")


def registers(kernel: Counters) -> None:
    """250 registers a thread: one block of 256 threads an SM."""
    kernel |= {
        "launch__registers_per_thread": 250,
        "launch__occupancy_limit_registers": 1,
        "sm__maximum_warps_per_active_cycle_pct": 12.5,
        "sm__warps_active.avg.pct_of_peak_sustained_active": 12.2,
        MEMORY: 21.0,
        ACTIVE: 28.0,
    }
    _stall(kernel, "wait")


def chase(kernel: Counters) -> None:
    """Each load needs the one before."""
    kernel |= {MEMORY: 3.0, ACTIVE: 0.6}
    _stall(kernel, "long_scoreboard")


def launch(kernel: Counters) -> None:
    """One block of a few instructions."""
    kernel |= {"gpu__time_duration.sum": 2_200, "sm__cycles_elapsed.max": 3300, "sm__cycles_elapsed.avg": 3300}
    _grid(kernel, 1 / 800, 0.001)
    kernel |= {"sm__cycles_active.max": 300, MEMORY: 2.0, ACTIVE: 2.0, "smsp__inst_executed.sum": 64}
    _stall(kernel, "no_instruction")


def divergence(kernel: Counters) -> None:
    """8 of 32 lanes work."""
    kernel["smsp__thread_inst_executed_per_inst_executed.ratio"] = 8.0


def spills(kernel: Counters) -> None:
    """Half of the sectors are of local memory."""
    kernel[f"l1tex__t_sectors_{LSU}_local_op_ld.sum"] = 40_000_000


def _stall(kernel: Counters, longest: str) -> None:
    reasons = [name for name in kernel if name.startswith("smsp__average_warps_issue_stalled_")]
    kernel |= dict.fromkeys(reasons, 1.0)
    kernel[STALL.format(longest)] = 30.0


REASONS: Mapping[str, tuple[Callable[[Counters], None], frozenset[str]]] = {
    "too small": (too_small, frozenset({"small grid"})),
    "tail wave": (tail, frozenset({"tail"})),
    "uncoalesced": (uncoalesced, frozenset({"uncoalesced loads"})),
    "bank conflicts": (bank_conflicts, frozenset({"bank conflicts"})),
    "registers": (registers, frozenset({"occupancy by registers"})),
    "pointer chase": (chase, frozenset({"memory latency"})),
    "launch": (launch, frozenset({"launch", "small grid"})),
    "divergence": (divergence, frozenset({"divergence"})),
    "spills": (spills, frozenset({"local memory"})),
}
"""Each reason by its name: what it does to the counters, and which reasons are told of it."""
MIXABLE = ("tail wave", "uncoalesced", "registers", "pointer chase", "divergence", "spills")
"""Reasons of which one kernel can have several. A full L1 and an empty chip are not both true of one kernel."""


def planted(*names: str) -> tuple[Counters, set[str]]:
    """Return the counters of a kernel with some reasons, and the reasons that are to be told."""
    kernel, expected = dict(BASE), set[str]()
    for name in names:
        change, told = REASONS[name]
        change(kernel)
        expected |= told
    return kernel, expected


def mixtures(count: int, seed: int = 1) -> list[tuple[str, ...]]:
    """Return sets of reasons, drawn at random, in the order in which they change the counters."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    found = []
    for _ in range(count):
        picked = draw.sample(MIXABLE, draw.randint(2, 4))
        found.append(tuple(name for name in MIXABLE if name in picked))
    return found


def wide(kernels: Iterable[tuple[str, Counters]]) -> bytes:
    """Return the raw page of some kernels in base units."""
    listed = list(kernels)
    metrics = sorted({metric for _, counters in listed for metric in counters})
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["ID", "Process ID", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "CC", *metrics])
    writer.writerow([""] * 8 + ["ns" if metric.startswith("gpu__time") else "" for metric in metrics])
    for row, (name, counters) in enumerate(listed):
        grid = f"({round(counters['launch__waves_per_multiprocessor'] * SMS * 8)}, 1, 1)"
        cells = [row, 77, name, 1, 7, "(256, 1, 1)", grid, "9.0"]
        writer.writerow([*cells, *(counters.get(metric, "") for metric in metrics)])
    return out.getvalue().encode()


def long(kernels: Iterable[tuple[str, Counters]]) -> bytes:
    """Return the same as the table of ``ncu --csv --metrics``."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    header = ["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "CC"]
    writer.writerow([*header, "Section Name", "Metric Name", "Metric Unit", "Metric Value"])
    for row, (name, counters) in enumerate(kernels):
        grid = f"({round(counters['launch__waves_per_multiprocessor'] * SMS * 8)}, 1, 1)"
        for metric, value in counters.items():
            unit = "ns" if metric.startswith("gpu__time") else ""
            cells = [row, 77, name, "(256, 1, 1)", grid, "9.0", "Command line profiler metrics"]
            writer.writerow([*cells, metric, unit, value])
    return out.getvalue().encode()


AMD_BASE: Mapping[str, float] = {
    "GPU_ID": 0,
    "Grid_Size": 1_048_576,
    "Workgroup_Size": 256,
    "Start_Timestamp": 1000,
    "End_Timestamp": 101_000,
    "SQ_INSTS_VALU": 800_000,
    "SQ_INSTS_SALU": 100_000,
    "SQ_INSTS_SMEM": 20_000,
    "SQ_INSTS_VMEM": 50_000,
    "SQ_INSTS_LDS": 30_000,
    "SQ_THREAD_CYCLES_VALU": 64_000_000,
    "SQ_ACTIVE_INST_VALU": 1_000_000,
    "SQ_LDS_BANK_CONFLICT": 0,
    "SQ_LDS_IDX_ACTIVE": 60_000,
    "SQ_WAVE_CYCLES": 4_000_000,
    "SQ_WAIT_ANY": 3_000_000,
    "SQ_WAIT_INST_ANY": 400_000,
    "TCC_HIT_sum": 300_000,
    "TCC_MISS_sum": 100_000,
    "TCP_TOTAL_CACHE_ACCESSES_sum": 500_000,
    "TCP_TCC_READ_REQ_sum": 200_000,
    "TCP_TCC_WRITE_REQ_sum": 100_000,
    "TCP_TCC_ATOMIC_WITH_RET_REQ_sum": 0,
    "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum": 0,
    "TCC_EA_RDREQ_sum": 80_000,
    "TCC_EA_RDREQ_32B_sum": 0,
    "TCC_EA_WRREQ_sum": 40_000,
    "TCC_EA_WRREQ_64B_sum": 40_000,
}
AMD_REASONS: Mapping[str, tuple[Mapping[str, float], frozenset[str]]] = {
    "nothing": ({}, frozenset()),
    "too small": ({"Grid_Size": 256 * 20}, frozenset({"small grid"})),
    "bank conflicts": ({"SQ_LDS_BANK_CONFLICT": 45_000}, frozenset({"bank conflicts"})),
    "divergence": ({"SQ_THREAD_CYCLES_VALU": 8_000_000}, frozenset({"divergence"})),
}
"""Dispatches of rocprof-compute on a GPU of 104 compute units, by what is planted in them."""


def rocprof_folder(names: Iterable[str]) -> dict[str, bytes]:
    """Return the files of a folder of rocprof-compute."""
    rows = [{**AMD_BASE, **AMD_REASONS[name][0], "Kernel_Name": name, "Dispatch_ID": i} for i, name in enumerate(names)]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=["Dispatch_ID", "Kernel_Name", *AMD_BASE], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    sysinfo = b"gpu_model,gpu_arch,cu_per_gpu,num_xcd\nMI210,gfx90a,104,1\n"
    return {"pmc_perf.csv": out.getvalue().encode(), "sysinfo.csv": sysinfo}
