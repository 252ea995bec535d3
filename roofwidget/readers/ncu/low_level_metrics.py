"""The metrics of Nsight Compute that give the low-level columns of `roofwidget.kernels.low_level`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from roofwidget.kernels.low_level import (
    GLOBAL_INSTRUCTIONS,
    GLOBAL_TRANSACTIONS,
    INSTRUCTIONS,
    SHARED_INSTRUCTIONS,
    SHARED_TRANSACTIONS,
    THREAD_INSTRUCTIONS,
    transactions,
)

LSU: Final = "pipe_lsu_mem"
# The columns that are a metric of the file: our name, and the metrics in order of preference.
METRICS: Final[Mapping[str, Sequence[str]]] = {
    "registers per thread": ("launch__registers_per_thread",),
    "shared memory per block (B)": ("launch__shared_mem_per_block",),
    "waves per SM": ("launch__waves_per_multiprocessor",),
    "theoretical occupancy (%)": ("sm__maximum_warps_per_active_cycle_pct",),
    "achieved occupancy (%)": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "issue slots busy (%)": ("smsp__issue_active.avg.pct_of_peak_sustained_active",),
    "active warps per scheduler": ("smsp__warps_active.avg.per_cycle_active",),
    "eligible warps per scheduler": ("smsp__warps_eligible.avg.per_cycle_active",),
    "SM throughput (%)": ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
    "memory throughput (%)": ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",),
    "L1 throughput (%)": ("l1tex__throughput.avg.pct_of_peak_sustained_elapsed",),
    "L1 hit rate (%)": ("l1tex__t_sector_hit_rate.pct",),
    "L2 hit rate (%)": ("lts__t_sector_hit_rate.pct",),
    "sectors per load request": ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",),
    "sectors per store request": ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",),
    "bytes used per loaded sector": ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",),
    "bytes used per stored sector": ("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",),
    "threads per instruction": ("smsp__thread_inst_executed_per_inst_executed.ratio",),
    "instructions per warp": ("smsp__average_inst_executed_per_warp.ratio",),
}
# Totals of a launch, each the first of these sums of which the file has every part.
TOTALS: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    INSTRUCTIONS: (("smsp__inst_executed.sum",), ("sm__inst_executed.sum",)),
    THREAD_INSTRUCTIONS: (("smsp__thread_inst_executed.sum",), ("sm__thread_inst_executed.sum",)),
    "global loads": ((f"l1tex__t_requests_{LSU}_global_op_ld.sum",),),
    "global stores": ((f"l1tex__t_requests_{LSU}_global_op_st.sum",),),
    GLOBAL_INSTRUCTIONS: (tuple(f"l1tex__t_requests_{LSU}_global_op_{op}.sum" for op in ("ld", "st")),),
    GLOBAL_TRANSACTIONS: (tuple(f"l1tex__t_sectors_{LSU}_global_op_{op}.sum" for op in ("ld", "st")),),
    SHARED_INSTRUCTIONS: tuple(
        tuple(f"smsp__{sass}inst_executed_op_shared_{op}.sum" for op in ("ld", "st")) for sass in ("", "sass_")
    ),
    SHARED_TRANSACTIONS: (tuple(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")),),
    transactions("L2"): (
        ("lts__t_sectors.sum",),
        ("lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"),
    ),
    transactions("HBM"): (
        ("dram__sectors_read.sum", "dram__sectors_write.sum"),
        ("dram__sectors.sum",),
    ),
}
LOCAL: Final = tuple(f"l1tex__t_sectors_{LSU}_local_op_{op}.sum" for op in ("ld", "st"))
CONFLICTS: Final = (
    (
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    ),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",),
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",),
)
LIMITS: Final = {
    "registers": "launch__occupancy_limit_registers",
    "shared memory": "launch__occupancy_limit_shared_mem",
    "warps": "launch__occupancy_limit_warps",
    "blocks": "launch__occupancy_limit_blocks",
    "barriers": "launch__occupancy_limit_barriers",
}
STALLS: Final = (
    re.compile(r"smsp__average_warps_issue_stalled_(?P<reason>\w+)_per_issue_active\.ratio"),
    re.compile(r"smsp__average_warp_latency_issue_stalled_(?P<reason>\w+)\.ratio"),
    re.compile(r"smsp__warp_issue_stalled_(?P<reason>\w+)_per_warp_active\.pct"),
    re.compile(r"smsp__pcsamp_warps_issue_stalled_(?P<reason>\w+)(?<!_not_issued)"),
)
PIPES: Final = re.compile(
    r"sm__(?:inst_executed_)?pipe_(?P<pipe>\w+?)(?:_cycles_active)?\.avg\.pct_of_peak_sustained_active"
)

CYCLES_BETWEEN: Final = "smsp__average_warp_latency_per_inst_issued.ratio"
"""The cycles between two instructions of a warp: the sum of its stalls."""

LOW_LEVEL_METRICS: Final = "|".join(
    [
        re.escape(CYCLES_BETWEEN),
        *(re.escape(name) for names in METRICS.values() for name in names),
        *(re.escape(name) for sums in TOTALS.values() for names in sums for name in names),
        *map(re.escape, LOCAL),
        *(re.escape(name) for names in CONFLICTS for name in names),
        *map(re.escape, LIMITS.values()),
        *(re.sub(r"\?P<\w+>", "?:", pattern.pattern) for pattern in (*STALLS, PIPES)),
        r"sm__cycles_active\.(?:avg|max)",
        r"sm__cycles_elapsed\.(?:avg|max)",
    ]
)
"""A pattern of the metrics of these columns, and of none that the rest of the reader needs alone."""
