"""Fusion: time of the searches, and response times on a graph of a thousand ops.

The search runs on a graph of 14 ops and width 3 with 20 downsets. Its op kinds forbid no merge, so the search evaluates
every connected group. Each time is the median of several rounds after a warm-up, and includes reading the graph. The
large graph has ops of all kinds; each op reads up to two of the latest tensors. The searches of 10,000 ops are timed
once each, in processor time: the exact search of a graph like the large graph, and the greedy search of a chain, on a
chip without a known on-chip memory and on the H100.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import roofwidget as rw
from roofwidget.workloads import Graph, Tensor
from roofwidget.workloads.partition import Partition

ROUNDS = 15
OPS, MANY_OPS = 1000, 10_000
LIMIT_MS, MOVE_LIMIT_MS, MANY_OPS_LIMIT_S = 20, 50, 5
CHIP = rw.Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})
BLOCK = (
    "norm: x; q: norm; k: norm; v: norm; attention: q k v; project: attention; drop: project; add: drop x; "
    "norm2: add; gate: norm2; up: norm2; product: gate up; down: product; add2: down add"
)
KINDS = ("elementwise",) * 4 + ("reduction", "matmul", "broadcast", "injective")


def block() -> Graph:
    graph = Graph("block")
    found = {"x": graph.input("x", (2048, 4096), "bf16")}
    for step in BLOCK.split("; "):
        name, _, reads = step.partition(": ")
        found[name] = Tensor(f"{name} out", (2048, 4096), "bf16")
        graph.op("elementwise", name, [found[word] for word in reads.split()], [found[name]], 10**9)
    graph.output(found["add2"])
    return graph


def large(ops: int = OPS, kinds: Sequence[str] = KINDS) -> Graph:
    graph, dice = Graph("large"), random.Random(1)  # noqa: S311 - not for security
    tensors = [graph.input("x", (512, 1024), "bf16")]
    for number in range(ops):
        kind = dice.choice(kinds)
        reads = [tensors[-1], *([dice.choice(tensors[-6:])] if dice.random() < 0.4 else [])]
        if kind == "matmul":
            reads.append(graph.input(f"w{number}", (1024, 1024), "bf16"))
        tensors.append(Tensor(f"t{number}", (512, 1024), "bf16"))
        graph.op(kind, f"op{number}", reads, tensors[-1:], 2**30 if kind == "matmul" else 2**21)
    graph.output(tensors[-1])
    return graph


def median_ms(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:]) * 1e3


def mergeable(partition: Partition) -> tuple[str, str]:
    """Return two neighbouring ops in the second half of the graph that may be merged."""
    pairs = ((f"op{number}", f"op{number + 1}") for number in range(OPS // 2, OPS))
    return next(pair for pair in pairs if partition.why_not(*pair) is None)


def search_many_ops() -> float:
    """Search the graphs of 10,000 ops, and return the longest time in seconds."""
    longest = 0.0
    for name, graph in (("all kinds", large(MANY_OPS)), ("elementwise", large(MANY_OPS, ["elementwise"]))):
        for chip in (CHIP, rw.chip("h100-sxm")):
            start = time.process_time()
            best = Partition.best(graph, chip)
            taken = time.process_time() - start
            print(
                f"{MANY_OPS:,} ops: best, {name}, {chip.name:20} {taken:10.1f} s (limit {MANY_OPS_LIMIT_S} s; "
                f"{len(best)} kernels, {best.how})"
            )
            longest = max(longest, taken)
    return longest


def main() -> None:
    small, graph = block(), large()
    best = Partition.best(small, CHIP)
    assert (best.how, len(best)) == ("optimal", 1)
    search = median_ms(lambda: Partition.best(small, CHIP))
    print(f"{len(small.ops)} ops: the exact search, {best.evaluations} steps {search:18.1f} ms (limit {LIMIT_MS} ms)")
    unfused = Partition.unfused(graph)
    a, b = mergeable(unfused)
    moves: dict[str, Callable[[], object]] = {
        "unfused": lambda: Partition.unfused(graph),
        "why_not": lambda: unfused.why_not(a, b),
        "fuse": lambda: unfused.fuse(a, b),
        "total_bytes": unfused.total_bytes,
        "kernels": unfused.kernels,
    }
    presets: dict[str, Callable[[], Partition]] = {
        "fully": lambda: Partition.fully(graph),
        "pairs": lambda: Partition.pairs(graph),
        "like xla": lambda: Partition.like("xla", graph, CHIP),
        "like inductor": lambda: Partition.like("inductor", graph),
        "best": lambda: Partition.best(graph, CHIP),
    }
    taken = {name: median_ms(run) for name, run in moves.items()}
    for name, milliseconds in taken.items():
        print(f"{OPS:,} ops: {name:32} {milliseconds:10.1f} ms (limit {MOVE_LIMIT_MS} ms)")
    for name, make in presets.items():
        start = time.perf_counter()
        partition = make()
        milliseconds = (time.perf_counter() - start) * 1e3
        how = f", {partition.how}" if partition.how else ""
        print(f"{OPS:,} ops: {name:32} {milliseconds:10.1f} ms ({len(partition)} kernels{how})")
    longest = search_many_ops()
    if search > LIMIT_MS or max(taken.values()) > MOVE_LIMIT_MS or longest > MANY_OPS_LIMIT_S:
        sys.exit("fusion is too slow")


if __name__ == "__main__":
    main()
