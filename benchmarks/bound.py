"""Bounds of a million kernels on a chip: seconds, memory, and the speed-up over the exercise's loop.

Three things are timed, each as the median of several rounds after a warm-up: `rw.bound`; `rw.bound` with every quantity
read; and the exercise's five quantities alone (`rw.attainable`, `rw.ridge_point` and numpy on arrays). They are
compared with two loops over a list of dicts with the same numbers: the exercise's own solution, and
`rw.roofline_analysis`, which also checks its input. Memory is the peak of a fresh process that makes the table and the
bound and reads every quantity, including imports and the table.
"""

from __future__ import annotations

import gc
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import roofwidget as rw
from roofwidget.analysis.exercise import roofline_analysis

KERNELS = 1_000_000
ROUNDS = 7
LIMIT_S, LIMIT_MB = 0.25, 600
MIN_SPEEDUP_BOUND, MIN_SPEEDUP_ARRAYS = 20, 100
PEAK, BANDWIDTH = 989e12, 3.35e12
CHIP = rw.Chip("H100", {"bf16": PEAK, "fp8": 2 * PEAK, "fp32": 67e12}, {"HBM": BANDWIDTH})
QUANTITIES = (
    *("bound_by", "regime", "balanced", "peak", "attainable", "attainable_fraction", "achieved", "utilization"),
    *("roof_fraction", "peak_fraction", "headroom", "above_roof", "exposed_fraction", "energy", "ai"),
    *("bandwidth_utilization", "total_time", "notes"),
)


def made(precisions: tuple[str | None, ...] = (None,)) -> rw.Kernels:
    """Return measured kernels with intensities on both sides of the ridge point."""
    random = np.random.default_rng(1)
    flops, moved = 10 ** random.uniform(6, 13, KERNELS), 10 ** random.uniform(5, 10, KERNELS)
    seconds = np.maximum(flops / PEAK, moved / BANDWIDTH) / random.uniform(0.05, 1.0, KERNELS)
    own = [precisions[row % len(precisions)] for row in range(KERNELS)]
    return rw.Kernels([f"kernel {row}" for row in range(KERNELS)], flops, moved, time=seconds, precision=own)


def everything(kernels: rw.Kernels) -> rw.Bound:
    bound = rw.bound(kernels, CHIP)
    for quantity in QUANTITIES:
        getattr(bound, quantity)
    return bound


def from_arrays(flops: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the exercise's quantities: intensity, attainable rate, side of the ridge point, efficiency and time."""
    intensity = flops / moved
    rate = rw.attainable(intensity, PEAK, BANDWIDTH)
    return intensity, rate, intensity >= rw.ridge_point(PEAK, BANDWIDTH), rate / PEAK * 100, flops / rate


def bare_loop(operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Solve the exercise without checks, one dict at a time."""
    ridge, answers = PEAK / BANDWIDTH, []
    for operation in operations:
        work, moved = operation["flops"], operation["memory_bytes"]
        intensity = work / moved if moved > 0 else math.inf
        rate = min(PEAK, intensity * BANDWIDTH)
        side = "compute-bound" if intensity >= ridge else "memory-bound"
        answers.append(
            {
                "name": operation.get("name", ""),
                "arithmetic_intensity": round(intensity, 4),
                "attainable_flops": round(rate, 4),
                "bound": side,
                "efficiency": round(rate / PEAK * 100, 2),
                "estimated_time_s": round(work / rate if rate > 0 else math.inf, 8),
            }
        )
    return answers


def median(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    taken = []
    for _ in range(rounds + 1):
        gc.collect()
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])


def peak_megabytes() -> float:
    """Return the peak memory that a fresh process measures of itself, MB.

    Linux includes the parent's memory at the start of the process, so the parent must still be small.
    """
    run = subprocess.run([sys.executable, __file__, "--memory"], check=True, capture_output=True, encoding="utf-8")  # noqa: S603
    return float(run.stdout)


def main() -> None:
    memory = peak_megabytes()
    plain, mixed = made(), made((None, "fp8", "bf16", "fp32"))
    flops, moved = plain.flops, plain.bytes
    operations = [
        {"name": name, "flops": work, "memory_bytes": amount}
        for name, work, amount in zip(plain.names, flops.tolist(), moved.tolist(), strict=True)
    ]
    bound, touched = median(lambda: rw.bound(plain, CHIP)), median(lambda: everything(plain))
    of_mixed, arrays = median(lambda: everything(mixed)), median(lambda: from_arrays(flops, moved))
    loop = median(lambda: bare_loop(operations), rounds=3)
    checked = median(lambda: roofline_analysis(operations, PEAK, BANDWIDTH), rounds=3)
    print(f"{KERNELS:,} kernels")
    print(f"rw.bound                               {bound * 1e3:8.1f} ms (limit {LIMIT_S * 1e3:.0f} ms)")
    print(f"rw.bound, every quantity               {touched * 1e3:8.1f} ms")
    print(f"the same, four precisions in turn      {of_mixed * 1e3:8.1f} ms")
    print(f"the exercise's quantities from arrays  {arrays * 1e3:8.1f} ms")
    print(f"the exercise's loop, bare              {loop * 1e3:8.1f} ms")
    print(f"rw.roofline_analysis                   {checked * 1e3:8.1f} ms")
    print(f"the bare loop over rw.bound            {loop / bound:8.0f} times (at least {MIN_SPEEDUP_BOUND})")
    print(f"the bare loop over every quantity      {loop / touched:8.1f} times")
    print(f"the bare loop over the arrays          {loop / arrays:8.0f} times (at least {MIN_SPEEDUP_ARRAYS})")
    print(f"peak memory, every quantity            {memory:8.0f} MB (limit {LIMIT_MB} MB)")
    if bound > LIMIT_S or memory > LIMIT_MB or loop < MIN_SPEEDUP_BOUND * bound or loop < MIN_SPEEDUP_ARRAYS * arrays:
        sys.exit("rw.bound is too slow or too large")


if __name__ == "__main__":
    if "--memory" in sys.argv:
        everything(made((None, "fp8", "bf16", "fp32")))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)
    else:
        main()
