"""A pointer chase, a gather, a stream and a product on this processor, beside the roofs that `measure_peaks` finds.

The bytes are counted: a chase and a gather move a cache line for each load, and the gather also its indices and its
result. A chase has one line in flight. A gather has as many as the core has line fill buffers, 10 to 16 on today's
processors: 12 are taken, which makes its latency roof an estimate. All kernels but the product run on one thread, and
the roofs are those of all threads. At the end a chase in C (needs gcc) shows what the loads of numpy measure.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import roofwidget as rw
from roofwidget.measure.numpy.probes import chain_of_loads, follow

LINE_BYTES, ITEM_BYTES = 64, 8
LINE_FILL_BUFFERS = 12
RUNS = 7
BUDGET_S = 10.0
SIZES_KIB = (16, 512, 4096, 131072)
C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
  (void)argc;
  long n = atol(argv[1]) * 1024 / 64, *order = malloc(n * sizeof *order), *chain = calloc(n, 64);
  for (long i = 0; i < n; i++) order[i] = i;
  srand48(1);
  for (long i = n - 1; i > 0; i--) {
    long j = (long)(drand48() * (i + 1)), t = order[i];
    order[i] = order[j], order[j] = t;
  }
  for (long i = 0; i < n; i++) chain[order[i] * 8] = order[(i + 1) % n] * 8;
  double best = 1e9;
  long at = 0;
  for (int run = 0; run < 9; run++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long k = 0; k < 400000; k++) at = chain[at];
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / 400000;
    if (ns < best) best = ns;
  }
  printf("%.2f %ld\n", best, at);
}
"""


def kernels(lines: int = 2**21, loads: int = 20_000, size: int = 1024) -> rw.Kernels:
    """Return the four kernels with counted work and their best times, in this order.

    Parameters
    ----------
    lines
        The cache lines of the memory that the chase and the gather visit. The stream adds two arrays of as many bytes.
    loads
        The loads of the chase and of the gather.
    size
        The side of the matrices of the product.
    """
    chain = chain_of_loads(lines)
    visited = np.zeros(loads + 1, np.intp)
    random = np.random.default_rng(1)
    positions = random.integers(0, lines, loads * RUNS).reshape(RUNS, loads) * (LINE_BYTES // ITEM_BYTES)
    gathered = np.zeros(loads, np.intp)
    a, b = (np.full(lines * LINE_BYTES // ITEM_BYTES, 1.0) for _ in range(2))
    left, right, product = (np.full((size, size), 0.5) for _ in range(3))

    def chase() -> None:
        follow(chain, visited)
        visited[0] = visited[-1]

    turns = iter(range(RUNS))
    times = [
        _best(chase),
        _best(lambda: np.take(chain, positions[next(turns)], out=gathered, mode="wrap")),
        _best(lambda: np.add(a, b, out=a)),
        _best(lambda: np.matmul(left, right, out=product)),
    ]
    # The result and the index of each load are 8 bytes each; of the gather they stream.
    moved = [loads * LINE_BYTES, loads * (LINE_BYTES + 2 * ITEM_BYTES), 3 * a.nbytes, 3 * left.nbytes]
    flying = [LINE_BYTES, LINE_FILL_BUFFERS * LINE_BYTES, np.nan, np.nan]
    return rw.Kernels(
        ["pointer chase", "gather", "stream", "product"],
        {"fp64": [0.0, 0.0, float(a.size), 2.0 * size**3]},
        {"DRAM": [float(one) for one in moved]},
        time=times,
        extra={"bytes in flight": flying},
    )


def _best(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def compiled_ns(kibibytes: int) -> float | None:
    """Return ns of a load of a chase in C; None without gcc."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "chase.c", Path(folder) / "chase"
        source.write_text(C, encoding="utf-8")
        subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)  # noqa: S603 - our own program
        printed = subprocess.run(  # noqa: S603 - our own program
            [str(program), str(kibibytes)], check=True, capture_output=True, text=True
        ).stdout
    return float(printed.split()[0])


def main() -> None:
    peaks = rw.measure_peaks(budget_s=BUDGET_S, cache=False, progress=False)
    print(peaks)
    table = kernels()
    roof = rw.latency_roof(table, peaks, is_estimate=True)
    print(roof)
    for advice in rw.advise(roof.bound, latency=roof):
        print(f"{advice.name}: {advice.situation}; {advice.evidence}")
    print(f"bytes in flight by the rate: {[f'{one:.0f} B' for one in roof.in_flight_on_average]}")
    for size in SIZES_KIB:
        found = compiled_ns(size)
        print(f"chase in C, {size} KiB: {'no gcc' if found is None else f'{found:.1f} ns'}")


if __name__ == "__main__":
    main()
