"""What a framework offers for measuring peaks: prepared runs of a known amount of work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

Clock = Callable[[], float]


@dataclass(frozen=True)
class Probe:
    """A prepared run of a known amount of work.

    Parameters
    ----------
    work
        FLOPs or bytes of one run.
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


class Probes(Protocol):
    """The probes of one framework on one device."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know about figures of these probes."""

    @property
    def active_wait_s(self) -> float:
        """How long threads keep processors busy after a product, while they wait for the next one."""

    def matmul(self, precision: str, size: int) -> Probe:
        """Return a product of two square matrices of a precision, with ``2 size³`` FLOPs."""

    def memory(self, array_bytes: int, setup_s: float) -> Probe:
        """Return ``a += b`` on two arrays of this many bytes each, with ``3 array_bytes`` bytes.

        The arrays are smaller if a CPU cannot write all of them in `setup_s` seconds.
        """


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
