"""What a framework offers for measuring peaks: prepared runs of a known amount of work.

The probes of a framework on a device have:

Notes
-----
    What a reader must know about figures of these probes.
active_wait_s
    How long threads keep processors busy after a product, while they wait for the next one.
matmul(precision, size)
    Returns the `Probe` of a product of two square matrices of a precision, with ``2 size³`` FLOPs.
memory(array_bytes, setup_s)
    Returns the `Probe` of ``a += b`` on two arrays of this many bytes each, with ``3 array_bytes`` bytes. The arrays
    are smaller if a CPU cannot write all of them in `setup_s` seconds.
latency(chain_bytes)
    Returns the `Probe` of loads of which each needs the result of the load before, from random lines of a chain of this
    many bytes. Its work is the number of loads.
no_latency
    Why there is no such probe; empty if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Clock = Callable[[], float]


@dataclass(frozen=True)
class Probe:
    """A prepared run of a known amount of work.

    Parameters
    ----------
    work
        FLOPs, bytes or loads of one run.
    seconds
        Runs the work a number of times and returns the seconds of each run.
    method
        What runs, in a few words: ``numpy matmul 2048×2048``.
    threads
        How many threads work; None for a device without threads.
    warnings
        Why the work may be too small to reach the peak.
    framework
        Which framework multiplies matrices; empty for work in memory.
    """

    work: float
    seconds: Callable[[int], Sequence[float]]
    method: str
    threads: int | None = None
    warnings: tuple[str, ...] = ()
    framework: str = ""


def timed(run: Callable[[], object], clock: Clock) -> Callable[[int], Sequence[float]]:
    """Return a function that runs `run` a number of times and returns the seconds of each run."""

    def seconds(count: int) -> Sequence[float]:
        times = []
        for _ in range(count):
            start = clock()
            run()
            times.append(clock() - start)
        return times

    return seconds
