"""Measured peaks beside compiled C loops, beside fasterbench's method, and as roofs of three kernels.

Rounds are interleaved, and each begins when the machine is idle, or after ten seconds. A round runs the C program
`common/peaks.c` (multiply-adds in registers, STREAM's loops with ordinary stores, ``a += b`` in each cache) and
`rw.measure_peaks`. A ratio of bests compares the best runs of all rounds, a ratio of medians the medians of all rounds.
fasterbench's method, written again here: the best of 20 products of 4096×4096 matrices.

Three numpy kernels are then judged by the measured roofs and by those of the C program: a product, a copy and a
stencil, the last two on one thread. Their shares of the two roofs should agree within 10 %. Without gcc only our own
figures are printed. At the end come the figures of a processor of the catalogue, by default of the AMD EPYC 9654:
`python benchmarks/peaks.py NAME`.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import torch

import roofwidget as rw
from roofwidget.measure import system
from roofwidget.measure.hardware_peaks import HardwarePeaks
from roofwidget.measure.peak_figures import working_set_bytes
from roofwidget.support.text_tables import aligned

ROUNDS = 12
SOURCE = Path(__file__).parent / "common" / "peaks.c"
COMPILER = ("gcc", "-O3", "-march=native", "-ffp-contract=fast", "-fno-tree-loop-distribute-patterns", "-pthread")
NO_SUCH_INSTRUCTION = 3
RUNS = 5
DRAM_DOUBLES = 2**26
BYTES_PER_LOOP = 2e9
STREAM = ("copy", "add", "triad")
# The least ratio of the bests, and of the medians.
TARGETS = {"fp32": (0.85, 0.80), "fp64": (0.85, 0.80), "bf16": (0.88, 0), "L3": (0.85, 0), "L2": (0.85, 0)}
STREAM_TARGET, LEAD_TARGET, TIME_TARGET, SHARE_TARGET = 0.95, 1.10, 0.2, 0.10
# Somewhat less than a fifth: the last run may end late.
BUDGET_SHARE = 0.18
PROBE_SIZE, PROBE_WARMUP, PROBE_STEPS = 4096, 5, 20
KERNEL_RUNS = 10
MAX_WAIT_S, LOOK_S, IDLE_SHARE = 10, 0.2, 0.05


@dataclass
class Rates:
    """Rates by figure and by who measured, FLOP/s or bytes/s: all runs of C; our bests and medians of each round."""

    compiled: dict[str, list[float]] = field(default_factory=dict)
    best: dict[str, list[float]] = field(default_factory=dict)
    median: dict[str, list[float]] = field(default_factory=dict)

    def add(self, peaks: HardwarePeaks) -> None:
        for rate in peaks.ceilings:
            self.best.setdefault(rate.name, []).append(rate.value)
            self.median.setdefault(rate.name, []).append(rate.median)


def wait_until_idle() -> bool:
    """Wait until other programs use at most 5 % of the processors; return False after ten seconds."""
    end, processors = time.monotonic() + MAX_WAIT_S, len(system.usable_processors())
    while time.monotonic() < end:
        before = system.usage()
        time.sleep(LOOK_S)
        shares = system.usage().shares_since(before, processors)
        if shares is None or shares.others + shares.stolen < IDLE_SHARE:
            return True
    return False


def compiled(folder: str) -> Path | None:
    if shutil.which(COMPILER[0]) is None:
        return None
    program = Path(folder) / "peaks"
    subprocess.run([*COMPILER, str(SOURCE), "-o", str(program)], check=True)  # noqa: S603 - our own program
    return program


def run_compiled(program: Path, kind: str, threads: int, *sizes: int) -> list[float]:
    """Return the rate of each run; none if the processor lacks the instructions."""
    words = [str(program), kind, *map(str, (threads, RUNS, *sizes))]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)  # noqa: S603 - our own program
    if done.returncode == NO_SUCH_INSTRUCTION:
        return []
    done.check_returncode()
    amount, *seconds = map(float, done.stdout.split())
    return [amount / one for one in seconds]


def round_of_c(program: Path, threads: int, caches: tuple[system.Cache, ...], rates: Rates) -> None:
    def note(figure: str, found: list[float]) -> None:
        rates.compiled.setdefault(figure, []).extend(found)

    for kind in ("fp32", "fp64", "bf16"):
        note(kind, run_compiled(program, kind, threads))
    for kind in (*STREAM, "update"):
        note(
            "DRAM" if kind == "update" else f"STREAM {kind}",
            run_compiled(program, kind, threads, DRAM_DOUBLES // threads),
        )
    for cache in caches:
        count = working_set_bytes(cache, caches, threads) // 16
        if count:
            note(cache.name, run_compiled(program, "update", threads, count, int(BYTES_PER_LOOP / (24 * count))))


def fasterbench_probe() -> tuple[float, float]:
    """Return FLOP/s of fp32 as fasterbench measures it, and the seconds that this takes."""
    start = time.perf_counter()
    a, b = torch.randn(PROBE_SIZE, PROBE_SIZE), torch.randn(PROBE_SIZE, PROBE_SIZE)
    best = min(seconds(lambda: a @ b, PROBE_WARMUP + PROBE_STEPS)[PROBE_WARMUP:])
    return 2 * PROBE_SIZE**3 / best, time.perf_counter() - start


def seconds(run: Callable[[], object], count: int) -> list[float]:
    found = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return found


def own_kernels() -> Iterator[tuple[str, str, float, float, float]]:
    """Yield name, precision, FLOPs, bytes and best seconds of a product, a copy and a stencil of numpy."""
    size = 1024
    a, b = (np.full((size, size), value, np.float32) for value in (1.0, 0.5))
    product = np.zeros_like(a)
    best = min(seconds(lambda: np.matmul(a, b, out=product), KERNEL_RUNS))
    yield "matmul", "fp32", 2 * size**3, 3 * 4 * size**2, best
    x, y = np.ones(DRAM_DOUBLES), np.ones(DRAM_DOUBLES)
    best = min(seconds(lambda: np.copyto(y, x), KERNEL_RUNS))
    yield "copy", "fp64", 0, 16 * x.size, best
    best = min(seconds(lambda: np.add(x[:-2], x[2:], out=y[1:-1]), KERNEL_RUNS))
    yield "stencil", "fp64", x.size - 2, 16 * (x.size - 2), best


def number(rate: float) -> str:
    return f"{rate / 1e9:.3g}"


def table(rates: Rates) -> list[list[str]]:
    rows = [["G/s", "C best", "C median", "ours best", "ours median", "rounds vary by", "best ÷ C", "median ÷ C"]]
    for figure, ours in rates.best.items():
        c, medians = rates.compiled.get(figure, []), rates.median[figure]
        spread = f"{(max(ours) - min(ours)) / max(ours):.0%}"
        if c:
            middle = statistics.median(medians) / statistics.median(c)
            compared = [f"{max(ours) / max(c):.2f}", f"{middle:.2f}"]
        else:
            compared = ["", ""]
        by_c = [number(max(c)), number(statistics.median(c))] if c else ["", ""]
        rows.append([figure, *by_c, number(max(ours)), number(statistics.median(medians)), spread, *compared])
    rows += [
        [name, number(max(c)), number(statistics.median(c)), *[""] * 5]
        for name, c in rates.compiled.items()
        if c and name not in rates.best
    ]
    return rows


def verdict(words: str, value: float, least: float) -> str:
    return f"{'met   ' if value >= least else 'MISSED'} {words}: {value:.2f} (at least {least:.2f})"


def verdicts(rates: Rates) -> Iterator[str]:
    for figure, (best, middle) in TARGETS.items():
        c, ours = rates.compiled.get(figure, []), rates.best.get(figure, [])
        if not c or not ours:
            yield f"absent {figure}: {'C' if not c else 'we'} cannot measure it on this processor"
            continue
        yield verdict(f"{figure}, best over C's best", max(ours) / max(c), best)
        if middle:
            medians = statistics.median(rates.median[figure]) / statistics.median(c)
            yield verdict(f"{figure}, median over C's median", medians, middle)
    stream = max(max(rates.compiled[f"STREAM {kind}"]) for kind in STREAM)
    yield verdict("DRAM, best over the best loop of STREAM", max(rates.best["DRAM"]) / stream, STREAM_TARGET)


def shares(rates: Rates, chip: rw.Chip, program: Path) -> Iterator[list[str]]:
    """Yield each kernel's share of our roof and of the C program's roof, and the share that the same loop in C has."""
    yield ["kernel", "share of our roof", "share of C's roof", "difference", "the same in C, of C's roof"]
    dram = max(rates.compiled["DRAM"])
    for name, precision, flops, moved, taken in own_kernels():
        kernel = rw.Kernel(name, flops, moved, time=taken, precision=precision)
        by_us = float(rw.bound(kernel, chip).utilization[0])
        by_c = max(flops / max(rates.compiled[precision]), moved / dram) / taken
        agrees = "" if abs(by_us / by_c - 1) <= SHARE_TARGET else f", more than {SHARE_TARGET:.0%}"
        loop = "" if flops > moved else f"{max(run_compiled(program, name, 1, DRAM_DOUBLES)) / dram:.0%}"
        yield [name, f"{by_us:.0%}", f"{by_c:.0%}", f"{by_us / by_c - 1:+.0%}{agrees}", loop]


def report_kernels(rates: Rates, peaks: HardwarePeaks, program: Path, threads: int) -> None:
    best = {name: max(found) for name, found in rates.best.items()}
    chip = peaks.chip.with_rates({name: best[name] for name in ("fp32", "fp64")}, {"DRAM": best["DRAM"]})
    print("\n", "\n".join(aligned(list(shares(rates, chip, program)))), sep="")
    sheet = rw.chip(sys.argv[1] if len(sys.argv) > 1 else "epyc-9654")
    part = threads / float((sheet.units or "1").split()[0])
    print(f"\n{threads} cores of {sheet.units} of the catalogue's {sheet.name}, beside what was measured:")
    print(f"fp32 {number(part * sheet.peak('fp32'))} GFLOP/s at {number(sheet.clock or 0)} GHz, {number(best['fp32'])}")
    print(f"DRAM {number(sheet.bandwidth())} GB/s of all cores together, {number(best['DRAM'])}")


def report_lead(theirs: list[tuple[float, float]], ours: list[tuple[float, float]]) -> None:
    """Print our peak of fp32 and its seconds beside those of fasterbench's method: bests, and our longest time."""
    their_rate, their_s = max(rate for rate, _ in theirs), min(taken for _, taken in theirs)
    our_rate, our_s = max(rate for rate, _ in ours), max(taken for _, taken in ours)
    print(f"\nfp32: fasterbench's method {number(their_rate)} GFLOP/s in {their_s:.1f} s, ", end="")
    print(f"ours {number(our_rate)} in {our_s:.1f} s")
    print(verdict("fp32 over fasterbench's", our_rate / their_rate, LEAD_TARGET))
    print(verdict("a fifth of fasterbench's time over ours", TIME_TARGET * their_s / our_s, 1))


def main() -> None:
    machine, rates = system.machine(), Rates()
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    busy = 0
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        for number_of_round in range(ROUNDS):
            busy += not wait_until_idle()
            if program is not None:
                round_of_c(program, machine.threads, machine.caches, rates)
            found = rw.measure_peaks(cache=False)
            rates.add(found)
            if number_of_round in {0, ROUNDS - 1}:
                theirs.append(fasterbench_probe())
                start = time.perf_counter()
                budget_s = BUDGET_SHARE * theirs[-1][1]
                quick = rw.measure_peaks(dtype="fp32", levels=["DRAM"], budget_s=budget_s, cache=False)
                ours.append((quick.peak_flops, time.perf_counter() - start))
        print(f"{machine.name}, {machine.threads} threads; {busy} of {ROUNDS} rounds began while other programs ran\n")
        print("\n".join(aligned(table(rates))))
        print("\nThe last round:\n", found, sep="")
        report_lead(theirs, ours)
        if program is None:
            print("no gcc: nothing to compare with")
            return
        print("\n".join(verdicts(rates)))
        report_kernels(rates, found, program, machine.threads)


if __name__ == "__main__":
    main()
