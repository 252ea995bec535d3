"""What the operating system says of a machine, read from a copy of its files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roofwidget.measure import system
from roofwidget.measure.system import Cache, Usage
from tests.places import write

TICKS_PER_S = 100


@pytest.fixture
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "usable_processors", lambda: (0, 1, 2, 3))


def write_line(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, text + "\n")


def write_cache(folder: Path, level: int, size: str, shared: str, kind: str = "Data") -> None:
    for name, text in (("level", str(level)), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
        write_line(folder / name, text)


@pytest.mark.usefixtures("four_processors")
def test_caches_come_with_capacity_count_and_sharers(tmp_path: Path) -> None:
    for processor in range(4):
        core = "0-1" if processor < 2 else "2-3"
        folder = tmp_path / f"sys/devices/system/cpu/cpu{processor}/cache"
        write_cache(folder / "index0", 1, "32K", core)
        write_cache(folder / "index1", 1, "32K", core, "Instruction")
        write_cache(folder / "index2", 2, "1024K", core, "Unified")
        write_cache(folder / "index3", 3, "32M", "0-7", "Unified")
    found = system.machine(tmp_path)
    assert found.caches == (Cache(1, 32 * 2**10, 2, 2), Cache(2, 2**20, 2, 2), Cache(3, 2**25, 1, 4))
    assert (found.threads, found.cores) == (4, 2)


@pytest.mark.usefixtures("four_processors")
def test_where_cores_differ_the_smallest_cache_counts(tmp_path: Path) -> None:
    for processor, size in enumerate(("48K", "48K", "32K", "32K")):
        write_cache(tmp_path / f"sys/devices/system/cpu/cpu{processor}/cache/index0", 1, size, str(processor))
    assert system.machine(tmp_path).caches == (Cache(1, 32 * 2**10, 4, 1),)


@pytest.mark.usefixtures("four_processors")
def test_a_system_that_says_nothing_has_a_name_threads_and_no_caches(tmp_path: Path) -> None:
    found = system.machine(tmp_path)
    assert found.name
    assert (found.threads, found.cores, found.caches, found.free_memory) == (4, 4, (), None)


@pytest.mark.usefixtures("four_processors")
@pytest.mark.parametrize(
    ("quota", "threads"), [("max 100000", 4), ("250000 100000", 2), ("50000 100000", 1), ("", 4), ("900000 100000", 4)]
)
def test_a_control_group_limits_the_threads(tmp_path: Path, quota: str, threads: int) -> None:
    write_line(tmp_path / "proc/self/cgroup", "0::/user/session")
    write_line(tmp_path / "sys/fs/cgroup/user/cpu.max", quota)
    assert system.machine(tmp_path).threads == threads


@pytest.mark.usefixtures("four_processors")
def test_the_first_version_of_control_groups_limits_the_threads_too(tmp_path: Path) -> None:
    write_line(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000")
    write_line(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert system.machine(tmp_path).threads == 3
    write_line(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
    assert system.machine(tmp_path).threads == 4


def test_free_memory_is_the_less_of_the_system_and_the_control_group(tmp_path: Path) -> None:
    write_line(tmp_path / "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    4096 kB")
    assert system.machine(tmp_path).free_memory == 2**22
    write_line(tmp_path / "proc/self/cgroup", "0::/")
    write_line(tmp_path / "sys/fs/cgroup/memory.max", "3000")
    write_line(tmp_path / "sys/fs/cgroup/memory.current", "1000")
    assert system.machine(tmp_path).free_memory == 2000


def test_the_model_of_the_processor_is_the_name(tmp_path: Path) -> None:
    write_line(tmp_path / "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC  9654 96-Core Processor")
    assert system.machine(tmp_path).name == "AMD EPYC 9654 96-Core Processor"


def test_other_programs_are_what_all_used_less_what_this_process_used() -> None:
    start, end = Usage(10.0, 1.0, 50.0, 3.0), Usage(12.0, 3.5, 53.5, 3.4)
    shares = end.shares_since(start, processors=2)
    assert shares is not None
    # 4 s of processor time: 3.5 s of work, of which 2.5 s are this process's own.
    assert [shares.others, shares.stolen] == pytest.approx([0.25, 0.1])


def test_a_system_that_does_not_say_who_works_gives_no_shares() -> None:
    assert Usage(2.0, 1.0, None, None).shares_since(Usage(1.0, 0.5, None, None), 2) is None


def test_processor_times_are_those_of_the_usable_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "usable_processors", lambda: (1,))
    monkeypatch.setattr(os, "sysconf", lambda _name: TICKS_PER_S)
    write_line(
        tmp_path / "proc/stat", "cpu 9 9 9 9 9 9 9 9 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\ncpu1 100 20 30 999 999 4 6 50 0 0"
    )
    found = system.usage(tmp_path)
    assert (found.worked, found.stolen) == (1.6, 0.5)
