"""What measures a CPU with numpy alone: a product of matrices, ``a += b`` in memory and in each cache, and latency.

The probes of memory run one call of numpy per thread: numpy releases the interpreter lock meanwhile. ``a += b`` reads
two numbers and writes one. The written line is already in the cache, so the counted bytes are all bytes that move.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Final, TypeVar

import numpy as np

from roofwidget.measure.probes import Clock, Probe, timed

_Made = TypeVar("_Made")

DTYPES: Final = {"fp32": np.float32, "fp64": np.float64}
"""The precisions whose matrix products numpy hands to a BLAS. It computes all others in a naive loop."""

# What limits the threads of a BLAS, the most specific first. A BLAS reads them once, when numpy is imported.
_THREAD_VARIABLES: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
# OpenBLAS: its threads look for the next product during 2²⁸ cycles before they sleep.
_ACTIVE_WAIT_S: Final = 0.13
_ITEM_BYTES: Final = 8
# Loads of a and b, and the store of a.
_MOVES: Final = 3
# Items that are written between two looks at the clock.
_CHUNK: Final = 2**18
# One run should be much longer than the start of a thread, about 0.1 ms.
_RUN_S: Final = 0.02
# A figure needs about this many runs, with those that find the number of repetitions.
_RUNS: Final = 10
_CALIBRATION_BYTES: Final = 2_000_000
_MAX_REPEATS: Final = 1_000_000_000

# A chain of loads has one item in each cache line.
_LINE_BYTES: Final = 64
_LINE_ITEMS: Final = _LINE_BYTES // _ITEM_BYTES
_LOADS: Final = 20_000
_MIN_LINES: Final = 64
# The loop's own time is that of a chain which the L1 cache of every processor holds.
_LOOP_CHAIN_BYTES: Final = 16 * 2**10
_LOOP_RUNS: Final = 10
_WARMING_RUNS: Final = 10
_SEED: Final = 0


class NumpyProbes:
    """The probes of numpy on this machine's processors.

    Parameters
    ----------
    workers
        One executor per thread, so that the thread that writes an array first also works on it later. None for a single
        thread: the calling thread works.
    threads, blas_threads
        How many threads work in memory, and in products of matrices.
    clock
        Returns seconds.
    notes
        What a reader must know about figures of these probes.
    """

    def __init__(
        self,
        workers: Sequence[ThreadPoolExecutor],
        threads: int,
        blas_threads: int,
        clock: Clock,
        notes: Sequence[str] = (),
    ) -> None:
        self.threads = threads
        self.notes = notes
        self.active_wait_s = _ACTIVE_WAIT_S if blas_threads > 1 else 0.0
        self._workers = workers
        self._blas_threads = blas_threads
        self._clock = clock
        self._loop_s: float | None = None

    def matmul(self, precision: str, size: int) -> Probe:
        a, b = (np.full((size, size), value, DTYPES[precision]) for value in (1.0, 0.5))
        out = np.zeros_like(a)
        return Probe(
            2.0 * size**3,
            timed(lambda: np.matmul(a, b, out=out), self._clock),
            f"numpy matmul {size}×{size}",
            self._blas_threads,
            framework="numpy",
        )

    def memory(self, array_bytes: int, setup_s: float) -> Probe:
        most, end = max(1, array_bytes // (_ITEM_BYTES * self.threads)), self._clock() + setup_s
        arrays = self._on_each_thread(lambda: _written_until(end, most, self._clock))
        count = min(len(a) for a, _ in arrays)
        jobs = [_update(a[:count], b[:count]) for a, b in arrays]
        return Probe(
            float(_MOVES * _ITEM_BYTES * count * self.threads),
            timed(lambda: self._run(jobs), self._clock),
            "numpy a += b",
            self.threads,
        )

    def cache(self, working_set: int, budget_s: float, threads: int | None = None) -> Probe:
        """Return repeated ``a += b`` on arrays that together have `working_set` bytes per thread.

        One call runs all repetitions: the sum over the rows of a matrix whose rows are all `b`. About ten runs fit into
        the budget.
        """
        threads = self.threads if threads is None else threads
        count = max(1, working_set // (2 * _ITEM_BYTES))
        repeats = 2 + _CALIBRATION_BYTES // (_MOVES * _ITEM_BYTES * count)
        jobs = self._on_each_thread(lambda: _repeated_update(count, repeats), threads)
        self._run(jobs)
        run_s = min(_RUN_S, budget_s / _RUNS)
        seconds = min(timed(lambda: self._run(jobs), self._clock)(2))
        repeats = min(_MAX_REPEATS, max(repeats, int(repeats * run_s / max(seconds, 1e-9))))
        jobs = self._on_each_thread(lambda: _repeated_update(count, repeats), threads)
        return Probe(
            float(_MOVES * _ITEM_BYTES * count * repeats * threads),
            timed(lambda: self._run(jobs), self._clock),
            f"numpy a += b, {working_set // 1024} KiB per thread",
            threads,
        )

    @property
    def no_latency(self) -> str:
        return "" if _is_followed() else "numpy does not load one by one"

    def latency(self, chain_bytes: int) -> Probe:
        """Return loads that depend on each other, without the loop's own time: that of the same loop in the L1 cache.

        So the seconds are those beyond a hit in L1.
        """
        if self._loop_s is None:
            loop = chain_of_loads(_LOOP_CHAIN_BYTES // _LINE_BYTES)
            self._loop_s = min(_timed_loads(loop, self._clock)(_LOOP_RUNS))
        loop_s = self._loop_s
        lines = max(_MIN_LINES, chain_bytes // _LINE_BYTES)
        run = _timed_loads(chain_of_loads(lines), self._clock)
        # Into the cache that is measured.
        run(min(_WARMING_RUNS, 1 + lines // _LOADS))

        def seconds(count: int) -> Sequence[float]:
            # A chain that hits in L1 by chance takes no time of its own.
            return [max(found - loop_s, loop_s / _LOADS) for found in run(count)]

        return Probe(float(_LOADS), seconds, f"numpy chain of loads, {chain_bytes // 1024} KiB", 1)

    def _on_each_thread(self, make: Callable[[], _Made], threads: int | None = None) -> list[_Made]:
        if not self._workers:
            return [make()]
        started = [worker.submit(make) for worker in self._workers[:threads]]
        return [future.result() for future in started]

    def _run(self, jobs: Sequence[Callable[[], object]]) -> None:
        if not self._workers:
            jobs[0]()
            return
        # The calling thread waits: a job on it would start late.
        started = [worker.submit(job) for worker, job in zip(self._workers, jobs, strict=False)]
        for future in started:
            future.result()


@contextmanager
def probes(*, device: str, threads: int, usable: int, clock: Clock) -> Iterator[NumpyProbes]:  # noqa: ARG001 - the CPU
    """Yield numpy's probes.

    Parameters
    ----------
    device
        ``cpu``.
    threads
        How many threads work.
    usable
        How many threads can run at the same time: what a BLAS uses if nothing limits it.
    clock
        Returns seconds.
    """
    notes = []
    with ExitStack() as settings:
        blas_threads = _threads_by_environment(usable)
        if _limit_blas(threads, settings):
            blas_threads = threads
        elif blas_threads != threads:
            notes.append(
                f"numpy's BLAS ran with its own {blas_threads} threads, not with {threads}: "
                "install threadpoolctl to set them"
            )
        workers = [
            settings.enter_context(ThreadPoolExecutor(1, thread_name_prefix="roofwidget"))
            for _ in range(threads if threads > 1 else 0)
        ]
        yield NumpyProbes(workers, threads, blas_threads, clock, notes)


def _limit_blas(threads: int, settings: ExitStack) -> bool:
    """Set the threads of the BLAS until `settings` is closed; return False if threadpoolctl is not installed."""
    try:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - optional
    except ImportError:
        return False
    settings.enter_context(threadpool_limits(limits=threads, user_api="blas"))
    return True


def _update(a: np.ndarray, b: np.ndarray) -> Callable[[], object]:
    return lambda: np.add(a, b, out=a)


def _repeated_update(count: int, repeats: int) -> Callable[[], object]:
    a, b = _written(count), _written(count)
    rows = np.broadcast_to(b, (repeats, count))
    return lambda: np.add.reduce(rows, axis=0, out=a)


def chain_of_loads(lines: int) -> np.ndarray:
    """Return an array in which the first item of each line has the position of the next, in one random cycle."""
    order = np.random.default_rng(_SEED).permutation(lines) * _LINE_ITEMS
    chain = np.zeros(lines * _LINE_ITEMS, np.intp)
    chain[order] = np.roll(order, -1)
    return chain


def follow(chain: np.ndarray, visited: np.ndarray) -> None:
    """Follow a chain from the first visited position to as many more as `visited` has.

    `take` writes each result where it reads the next index, so each load waits for the one before.
    """
    np.take(chain, visited[:-1], out=visited[1:], mode="wrap")


def _is_followed() -> bool:
    """Return whether numpy follows a chain, and does not copy arrays that overlap before it reads indices."""
    chain, visited = chain_of_loads(_MIN_LINES), np.full(_MIN_LINES, -1, np.intp)
    visited[0] = 0
    follow(chain, visited)
    return bool((chain[visited[:-1]] == visited[1:]).all())


def _timed_loads(chain: np.ndarray, clock: Clock) -> Callable[[int], Sequence[float]]:
    """Return a function that follows a chain for some runs, and returns their seconds.

    Each run goes on where the last one ended.
    """
    visited = np.zeros(_LOADS + 1, np.intp)

    def seconds(count: int) -> Sequence[float]:
        times: list[float] = []
        for _ in range(count):
            times += timed(lambda: follow(chain, visited), clock)(1)
            visited[0] = visited[-1]
        return times

    return seconds


def _written(count: int) -> np.ndarray:
    """Return an array of ones. Pages that were never written would all be one page of zeros."""
    return np.full(count, 1.0)


def _written_until(end: float, count: int, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of ones, with fewer items than `count` if the system does not give pages fast enough."""
    a, b = np.empty(count), np.empty(count)
    written = 0
    while not written or (written < count and clock() < end):
        for array in (a, b):
            array[written : written + _CHUNK] = 1.0
        written = min(count, written + _CHUNK)
    return a[:written], b[:written]


def _threads_by_environment(usable: int) -> int:
    for name in _THREAD_VARIABLES:
        if (value := os.environ.get(name, "")).isdigit() and int(value) > 0:
            return min(usable, int(value))
    return usable
