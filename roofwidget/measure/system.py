"""What the operating system says of this machine: its processors, their caches and memory, and who uses them."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/")
_BINARY_PREFIXES: Final = {"K": 10, "M": 20, "G": 30}
# In /proc/stat: user, nice, system, irq and softirq are work, and steal is what the hypervisor gave to others.
_WORK_COLUMNS: Final = (0, 1, 2, 5, 6)
_STEAL_COLUMN: Final = 7
# The system counts in hundredths of a second: shorter intervals say nothing.
_MIN_INTERVAL_S: Final = 0.1
# A smaller share of others disturbs a measurement little.
_MAX_OTHERS: Final = 0.1
_MAX_STOLEN: Final = 0.05


@dataclass(frozen=True)
class Cache:
    """One level of the data caches that a process may use.

    Parameters
    ----------
    level
        1, 2 or 3.
    capacity
        Bytes of one cache of this level.
    count
        The number of such caches that the usable processors have.
    sharers
        How many usable processors share one cache.
    """

    level: int
    capacity: int
    count: int
    sharers: int

    @property
    def name(self) -> str:
        return f"L{self.level}"


@dataclass(frozen=True)
class Machine:
    """The processors that this process may use, and their memory.

    Parameters
    ----------
    name
        The processor's model.
    threads
        How many threads can run at the same time: the processors of the affinity mask, or fewer if a control group
        limits the processor time.
    cores
        The number of cores among them. Two hardware threads of a core share its units.
    caches
        Levels of the data caches, the first level first. Empty if the system does not say.
    free_memory
        Bytes that can be allocated, or None if the system does not say.
    """

    name: str
    threads: int
    cores: int
    caches: tuple[Cache, ...] = ()
    free_memory: int | None = None


def machine(root: Path = _ROOT) -> Machine:
    """Return what the system says of this machine; `root` is the folder that holds ``proc`` and ``sys``."""
    usable = usable_processors()
    caches = tuple(_caches(root, usable))
    threads = max(1, math.floor(min(len(usable), _processor_quota(root) or math.inf)))
    first_level = next((cache for cache in caches if cache.level == 1), None)
    cores = len(usable) if first_level is None else first_level.count
    return Machine(_model(root), threads, min(cores, threads), caches, _free_memory(root))


def usable_processors() -> tuple[int, ...]:
    """Return the numbers of the processors on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


@dataclass(frozen=True)
class Usage:
    """Processor time up to now, in seconds. The difference of two snapshots says who used the processors.

    Parameters
    ----------
    at
        The time of the snapshot.
    own
        Processor time of this process.
    worked, stolen
        Processor time of all processes, and processor time that the hypervisor gave to other machines. None if the
        system does not say.
    """

    at: float
    own: float
    worked: float | None
    stolen: float | None

    def shares_since(self, start: Usage, processors: int) -> Shares | None:
        """Return who used the processors since `start`, or None if the system does not say or the time is too short."""
        total = (self.at - start.at) * processors
        unknown = None in (self.worked, self.stolen, start.worked, start.stolen)
        if unknown or self.at - start.at < _MIN_INTERVAL_S:
            return None
        worked, stolen = (self.worked or 0) - (start.worked or 0), (self.stolen or 0) - (start.stolen or 0)
        return Shares(max(0.0, worked - (self.own - start.own)) / total, max(0.0, stolen) / total)


@dataclass(frozen=True)
class Shares:
    """Shares of processor time: of other processes, and of other virtual machines."""

    others: float
    stolen: float

    def remarks(self) -> Iterator[str]:
        """Yield who disturbed a measurement in this time.

        Examples
        --------
        >>> list(Shares(0.34, 0.0).remarks()), list(Shares(0.02, 0.0).remarks())
        (['other programs used 34% of the processors'], [])
        """
        if self.others > _MAX_OTHERS:
            yield f"other programs used {self.others:.0%} of the processors"
        if self.stolen > _MAX_STOLEN:
            yield f"other virtual machines used {self.stolen:.0%} of the processors"


def usage(root: Path = _ROOT) -> Usage:
    """Return a snapshot of the processor time."""
    worked, stolen = _processor_times(root, usable_processors())
    return Usage(time.monotonic(), time.process_time(), worked, stolen)


def load() -> float | None:
    """Return the average number of running processes in the last minute, or None if the system does not say."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _caches(root: Path, usable: Iterable[int]) -> Iterator[Cache]:
    """Yield the levels of the data caches; where processors differ, the smallest capacity counts."""
    usable = frozenset(usable)
    sharers: dict[int, set[frozenset[int]]] = {}
    capacities: dict[int, int] = {}
    for processor in usable:
        for folder in (root / f"sys/devices/system/cpu/cpu{processor}/cache").glob("index*"):
            number, kind = text_of(folder / "level"), text_of(folder / "type")
            capacity = _bytes(text_of(folder / "size"))
            if not number.isdigit() or kind == "Instruction" or not capacity:
                continue
            level = int(number)
            together = frozenset(_processors(text_of(folder / "shared_cpu_list"))) & usable or {processor}
            sharers.setdefault(level, set()).add(frozenset(together))
            capacities[level] = min(capacity, capacities.get(level, capacity))
    for level in sorted(sharers):
        groups = sharers[level]
        yield Cache(level, capacities[level], len(groups), max(map(len, groups)))


def _processors(ranges: str) -> Iterator[int]:
    """Yield the numbers in a list of ranges such as ``0-3,8``."""
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if first.strip().isdigit():
            yield from range(int(first), int(last or first) + 1)


def _bytes(size: str) -> int:
    """Return a size such as ``32K`` in bytes; 0 if the text is no size."""
    digits = size.rstrip("KMG")
    return int(digits) << _BINARY_PREFIXES.get(size[len(digits) :], 0) if digits.isdigit() else 0


def _model(root: Path) -> str:
    for line in text_of(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model"} and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine() or "CPU"


def _processor_quota(root: Path) -> float | None:
    """Return how many processors the control groups allow, or None without a limit."""
    quotas = []
    for folder in _control_groups(root):
        quota, _, period = text_of(folder / "cpu.max").partition(" ")
        if quota.isdigit() and period.isdigit():
            quotas.append(int(quota) / int(period))
    old = root / "sys/fs/cgroup/cpu"
    quota, period = text_of(old / "cpu.cfs_quota_us"), text_of(old / "cpu.cfs_period_us")
    if quota.isdigit() and period.isdigit():
        quotas.append(int(quota) / int(period))
    return min((quota for quota in quotas if quota > 0), default=None)


def _free_memory(root: Path) -> int | None:
    found = []
    for line in text_of(root / "proc/meminfo").splitlines():
        words = line.split()
        if words[:1] == ["MemAvailable:"] and words[1].isdigit():
            found.append(int(words[1]) * 1024)
    for folder in _control_groups(root):
        limit, used = text_of(folder / "memory.max"), text_of(folder / "memory.current")
        if limit.isdigit() and used.isdigit():
            found.append(max(0, int(limit) - int(used)))
    return min(found, default=None)


def _control_groups(root: Path) -> Iterator[Path]:
    """Yield the folder of this process's control group (version 2) and of all groups above it."""
    top = root / "sys/fs/cgroup"
    for line in text_of(root / "proc/self/cgroup").splitlines():
        number, _, path = line.partition("::")
        if number == "0":
            folder = top / path.strip("/")
            yield from (above for above in (folder, *folder.parents) if above == top or top in above.parents)


def _processor_times(root: Path, usable: Iterable[int]) -> tuple[float | None, float | None]:
    """Return seconds of work and of steal on the usable processors since the start of the system."""
    names = {f"cpu{processor}" for processor in usable}
    rows = [line.split() for line in text_of(root / "proc/stat").splitlines()]
    counts = [[int(word) for word in words] for name, *words in filter(None, rows) if name in names]
    if not counts or min(map(len, counts)) <= _STEAL_COLUMN:
        return None, None
    ticks: int = os.sysconf("SC_CLK_TCK")
    worked = sum(row[column] for row in counts for column in _WORK_COLUMNS)
    return worked / ticks, sum(row[_STEAL_COLUMN] for row in counts) / ticks


def text_of(path: Path) -> str:
    """Return the text of a file of the system, or nothing if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
