"""LIKWID on CPUs: the output of likwid-perfctr and likwid-bench.

``likwid-perfctr -C 0-7 -g MEM_DP -m ./program > run.txt`` writes tables. With ``-O`` it writes lines of cells, and with
``-o run.json`` it writes JSON. The reader accepts all three. A region of the marker API is a kernel. Without regions
the program is one kernel, and its time includes start and end of the process. Amounts are summed over threads; the time
is the time of the slowest thread.

- FLOPs: the sum of the events of scalar and packed instructions, each event times its lanes. If a file has no such
  event, AMD's event ``RETIRED_SSE_AVX_FLOPS_ALL`` is used. If the result differs by more than 1 % from the printed
  rate ``DP [MFLOP/s]`` times the time, the printed rate is used.
- FLOPs of Grace: ``FP rate [MFLOP/s]``, of any precision, also in ``MEM_DP``: ``FP_FIXED_OPS_SPEC`` +
  ``FP_SCALE_OPS_SPEC``. FLOPs of A64FX: ``DP (FP+SVE512) [MFLOP/s]``, its fixed operations + 4 times its scalable
  operations, which assumes vectors of 512 bits. Rates named ``MFLOP/s`` have the precision of their events.
- Rates that LIKWID calls assumed (Knights Landing, POWER9) read the same counters in several ways. One of them counts,
  in double precision and of the widest vectors, and a warning names the others. A warning also names groups that count
  only a part, such as ``FLOPS_AVX``.
- Bytes: ``Memory data volume`` or ``DDR data volume`` (DRAM), ``HBM data volume``, ``L3 data volume`` (between L3 and
  L2), ``L2 data volume`` (between L2 and L1). Without a volume the printed bandwidth times the time is used.
- Low-level columns: ``CPI``, ``Vectorization ratio``, the miss ratios of L2 and L3, the branch mispredictions and the
  stalls of ``CYCLE_STALLS``, each the mean of the threads.
- The formulas are those of LIKWID's group files (``groups/`` of https://github.com/RRZE-HPC/likwid, at d9c523b).

Few groups have both FLOPs and bytes. ``-g FLOPS_DP -g L2 -g L3`` alternates the groups in one run, so amounts of the
other groups are scaled to the time of the first group with FLOPs. In a folder (or zip archive) with one run per group,
or in a file to which several runs were appended, the runs are complete, and nothing is scaled between runs.

Append the output of ``likwid-bench -t load -w S0:2GB`` and ``likwid-bench -t peakflops -w S0:20kB`` to one file. From
this file, `roofwidget.read_ceilings` returns a machine, and `roofwidget.read` returns kernels. The level is ``DRAM``,
or the option ``level``, such as ``level="L3"``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.documents import object_at
from roofwidget.readers.input.source import Source
from roofwidget.readers.likwid import bench
from roofwidget.readers.likwid.perfctr import (
    Group,
    Totals,
    count,
    counter_groups,
    ends_within_a_line,
    has_tables,
    rule_key,
)

FORMAT: Final = "likwid"
EXPECTED: Final = "the output of likwid-perfctr (also -O, or its JSON) or of likwid-bench"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_ERROR: Final = re.compile(
    r"^(?:ERROR\b.*\n)?(.*(?:not allowed|Cannot|cannot|failed|Permission denied).*)$", re.MULTILINE
)
_CPU: Final = re.compile(r"^CPU name:[,\s]\s*([^,\s](?:[^,\n]*[^,\s])?)", re.MULTILINE)
_MAX_MEMBERS: Final = 64
_TIME_TOLERANCE: Final = 0.1


def recognises(source: Source) -> bool:
    """Whether the source is output of LIKWID, or a folder in which every file is output of LIKWID."""
    if source.is_folder:
        members = list(source.members().values()) if len(source.members()) <= _MAX_MEMBERS else []
        return bool(members) and all(map(recognises, members))
    text = source.beginning
    if text.lstrip()[:1] == "{":
        about = source.document(lambda text: '"Info"' in text) if '"Values"' in text else None
        return any(key.startswith("CPU name") for key in object_at(about, "Info"))
    return bench.is_bench(source) or (
        _CPU.search(text) is not None and (has_tables(text) or "likwid" in text.casefold())
    )


def read(source: Source, *, level: str = "DRAM") -> Kernels:
    """Return a kernel per region, or per run of likwid-bench.

    Parameters
    ----------
    source
        A file, or a folder of files of one program. Each file in a folder has one group.
    level
        The memory level of likwid-bench's bytes.

    Raises
    ------
    ProfileError
        If LIKWID measured nothing, or a table is incomplete or has an invalid number.
    """
    if not source.is_folder and bench.is_bench(source):
        return _of_bench(source, level)
    members = list(source.members().values()) if source.is_folder else [source]
    groups = [(member, block) for member in members for block in counter_groups(member)]
    if not groups:
        raise source.error(f"LIKWID measured nothing: {_failure(members[0])}")
    by_region: dict[str | None, dict[tuple[str, int], list[Group]]] = {}
    for member, block in groups:
        by_region.setdefault(block.region, {}).setdefault((member.name, block.run), []).append(block)
    warnings: list[str] = []
    rows = [_total(list(runs.values()), warnings) for runs in by_region.values()]
    warnings += [
        f"{member.name} ends within a line: if it is cut off, groups or regions may be missing"
        for member in members
        if ends_within_a_line(member)
    ]
    if any(block.metrics for _, block in groups):
        for _, block in groups:
            if not block.metrics:
                region = f" of region {block.region}" if block.region else ""
                what = f"group {block.group}{region} has no table of metrics"
                _warn(warnings, f"{what}: if the file is cut off, measure again")
    if None in by_region:
        warnings.append("no region is marked: the time is that of the whole process, including start and end")
    cpu = _CPU.search(members[0].beginning)
    return _table(list(by_region), rows, cpu[1] if cpu else None, warnings, source)


def ceilings(source: Source, *, level: str = "DRAM") -> Chip:
    """Return the machine measured by likwid-bench.

    Parameters
    ----------
    source
        The output, with at least one ``peakflops`` kernel and one streaming kernel.
    level
        The memory level of the measured bandwidth.

    Raises
    ------
    ProfileError
        If the output is of likwid-perfctr, or has no ``peakflops`` kernel or no streaming kernel.
    """
    if source.is_folder or not bench.is_bench(source):
        raise source.error("likwid-perfctr measures programs; ceilings are in the output of likwid-bench")
    return bench.machine(source, level)


def _of_bench(source: Source, level: str) -> Kernels:
    runs = bench.runs(source)
    return Kernels(
        [run.test for run in runs],
        [run.flops for run in runs],
        {level: [run.volume for run in runs]},
        time=[run.time for run in runs],
        precision=[run.precision for run in runs],
        origin={"flops": "Number of Flops", f"bytes:{level}": "Data volume (Byte)", "time": "Time"},
        extra={"working set (B)": [run.size for run in runs]},
        warnings=[
            f"the bytes are those that the code requests, assigned to {level} (level='L3' sets another level)",
            *bench.missing_runs(source),
        ],
        source=source.name,
    )


def _failure(source: Source) -> str:
    lines = _ERROR.findall(source.beginning)
    return lines[-1].strip() if lines else "the file has no table of a group"


def _total(runs: list[list[Group]], warnings: list[str]) -> Totals:
    """Return the totals of a region. The groups of each run are merged first. Then the runs are merged."""
    merged = [(parts[0].group, _of_run(parts, warnings)) for parts in runs]
    times = Counter(group.group for parts in runs for group in parts)
    for group, count_of_runs in times.items():
        if count_of_runs > 1:
            _warn(warnings, f"group {group} was measured in {count_of_runs} runs: the first counts")
    base = _base([row for _, row in merged])
    for group, row in merged:
        if row is base:
            continue
        _complete(base, row, group, 1.0, warnings)
        if base.time > 0 and abs(row.time / base.time - 1) > _TIME_TOLERANCE:
            region = f"region {runs[0][0].region}" if runs[0][0].region else "the program"
            _warn(warnings, f"{region} took {row.time:g} s in the run of group {group}, {base.time:g} s in another")
    return base


def _of_run(parts: list[Group], warnings: list[str]) -> Totals:
    """Merge the groups of a region in one run. The time is the time of the first group with FLOPs."""
    rows = [count(part) for part in parts]
    base = _base(rows)
    for part, row in zip(parts, rows, strict=True):
        for message in row.warnings:
            _warn(warnings, message)
        if row is not base:
            _complete(base, row, part.group, base.time / row.time if row.time > 0 else 1.0, warnings)
    if len(rows) > 1:
        _warn(warnings, "the groups of one run alternate: their amounts are scaled to one time")
    return base


def _base(rows: list[Totals]) -> Totals:
    return next((row for row in rows if row.flops), rows[0])


def _complete(base: Totals, row: Totals, group: str, scale: float, warnings: list[str]) -> None:
    """Add to `base` the amounts of `row` that `base` lacks, times `scale`."""
    how = f", x {scale:.6g} to the time of the group with FLOPs" if scale != 1 else ""
    shared = sorted(base.shared_events & row.shared_events)
    has_own = not (shared and base.flops)
    if not has_own and row.flops.keys() - base.flops.keys():
        what = f"the FLOPs of group {group} are those of another group already, because {' and '.join(shared)}"
        _warn(warnings, f"{what} {'does' if len(shared) == 1 else 'do'} not tell the precision: they count once")
    flops = row.flops if has_own else {}
    for ours, theirs, key in ((base.flops, flops, "flops"), (base.bytes, row.bytes, "bytes")):
        for name, amount in theirs.items():
            if name not in ours:
                ours[name] = amount * scale
                rule = rule_key(key, name)
                base.rules[rule] = f"{row.rules[rule]} (group {group}{how})"
    base.low_level, base.read_as = row.low_level | base.low_level, row.read_as | base.read_as


def _warn(warnings: list[str], message: str) -> None:
    if message not in warnings:
        warnings.append(message)


def _table(
    regions: list[str | None], rows: list[Totals], cpu: str | None, warnings: list[str], source: Source
) -> Kernels:
    def columns(parts: list[Mapping[str, float]]) -> Any:
        keys = dict.fromkeys(key for part in parts for key in part)
        return {key: [part.get(key, np.nan) for part in parts] for key in keys}

    for what, parts in (("FLOPs", [row.flops for row in rows]), ("bytes", [row.bytes for row in rows])):
        if not any(parts):
            warnings.append(
                f"no group with {what} was measured, so they are unknown (groups FLOPS_DP, L2, L3, MEM, MEM_DP)"
            )
    for region, row in zip(regions, rows, strict=True):
        if row.time < 0:
            place = f"region {region}" if region else "the program"
            raise source.error(f"its time, {row.time:g} s, is below zero: measure again", place=place)
    rules = dict.fromkeys(key for row in rows for key in row.rules)
    read_as = {column: metric for row in rows for column, metric in row.read_as.items()}
    return Kernels(
        [region or "program" for region in regions],
        columns([row.flops for row in rows]),
        columns([row.bytes for row in rows]),
        time=[row.time for row in rows],
        origin={key: [row.rules.get(key) for row in rows] for key in rules},
        extra={
            "threads": [float(row.threads) for row in rows],
            "calls": [row.calls for row in rows],
            "clock (Hz)": [row.clock for row in rows],
            **({"CPU": cpu} if cpu else {}),
            **columns([row.low_level for row in rows]),
        },
        read_as=read_as,
        warnings=warnings,
        source=source.name,
    )
