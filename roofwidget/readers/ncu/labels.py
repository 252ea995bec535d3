"""What the pages that Nsight Compute prints for people call a metric: only what a roofline and its table use."""

from __future__ import annotations

from typing import Final

__all__ = ["metric_of"]

_METRICS: Final = {
    "duration": "gpu__time_duration.sum",
    "sm frequency": "smsp__cycles_elapsed.avg.per_second",
    "dram frequency": "dram__cycles_elapsed.avg.per_second",
    "l1/tex hit rate": "l1tex__t_sector_hit_rate.pct",
    "l2 hit rate": "lts__t_sector_hit_rate.pct",
    "achieved occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "compute (sm) throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "registers per thread": "launch__registers_per_thread",
    "waves per sm": "launch__waves_per_multiprocessor",
}
_MEMORY_THROUGHPUT: Final = {
    True: "dram__bytes.sum.per_second",
    False: "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
}


def metric_of(label: str, unit: str) -> str | None:
    """Return the metric that a label means, or None; the unit tells apart two that are called alike.

    Examples
    --------
    >>> metric_of("Duration", "us"), metric_of("Memory Throughput", "Gbyte/second"), metric_of("Branch Efficiency", "%")
    ('gpu__time_duration.sum', 'dram__bytes.sum.per_second', None)
    """
    word = label.strip().casefold()
    if word == "memory throughput":
        return _MEMORY_THROUGHPUT["byte" in unit.casefold()]
    return _METRICS.get(word)
