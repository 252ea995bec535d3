"""Time and memory of `compare_runs` for two runs of a million kernels.

The first pair of runs has 500,500 different names, and the kernels of the later run are in another order. The second
pair has 500 names; each kernel matches the kernel at the same place among the kernels of its name. Each time is the
median of several rounds after a warm-up. The memory is the peak of `tracemalloc` during one call.
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import roofwidget as rw

ROWS = 1_000_000
ROUNDS = 5
LIMIT_S, LIMIT_MB = 1.5, 188


def many_names() -> tuple[rw.Kernels, rw.Kernels]:
    dice = np.random.default_rng(1)
    names = [f"fusion.{number}" for number in range(ROWS // 2)] + [f"kernel_{row % 500}" for row in range(ROWS // 2)]
    flops, moved, times = (np.round(dice.lognormal(center, 2, ROWS)) for center in (20, 15, 12))
    rows = dice.permutation(ROWS)[: ROWS - ROWS // 100]
    # The two runs of a program come from two files, so they share no text objects.
    later = ["".join([*names[row]]) for row in rows]
    before = rw.Kernels(names, flops, moved, time=times * 1e-9)
    return before, rw.Kernels(later, flops[rows], moved[rows], time=times[rows] * 0.9e-9)


def few_names() -> tuple[rw.Kernels, rw.Kernels]:
    dice = np.random.default_rng(1)
    names = [f"kernel_{row % 500}" for row in range(ROWS)]
    same = np.ones(ROWS)
    before, after = (rw.Kernels(names, same, same, time=dice.lognormal(-9, 1, ROWS)) for _ in range(2))
    return before, after


def seconds(runs: Sequence[rw.Kernels]) -> float:
    taken = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        rw.compare_runs(*runs)
        taken.append(time.process_time() - start)
    return statistics.median(taken[1:])


def peak_megabytes(runs: Sequence[rw.Kernels]) -> float:
    tracemalloc.start()
    rw.compare_runs(*runs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    is_slow = False
    for make in (many_names, few_names):
        runs = make()
        taken, peak = seconds(runs), peak_megabytes(runs)
        is_slow |= taken > LIMIT_S or peak > LIMIT_MB
        what = make.__name__.replace("_", " ")
        print(f"{ROWS:,} kernels, {what:10} {taken:6.2f} s (limit {LIMIT_S} s) {peak:6.0f} MB (limit {LIMIT_MB} MB)")
    if is_slow:
        sys.exit("compare_runs is too slow or needs too much memory")


if __name__ == "__main__":
    main()
