"""FLOPs, bytes and seconds of one group of LIKWID's counters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from roofwidget.readers.likwid.output import Block

__all__ = ["Counted", "counted"]

_MEGA: Final = 1e6
_GIGA: Final = 1e9
_RUNTIME: Final = "Runtime (RDTSC) [s]"
_CLOCK: Final = "Clock [MHz]"
_PRECISIONS: Final = {"DP": "fp64", "SP": "fp32", "HP": "fp16", "BF16": "bf16"}
_RATE: Final = re.compile(r"(?P<precision>DP|SP|HP|BF16) \[MFLOP/s\](?P<assumed> \(.*assumed\))?")
_VOLUME: Final = re.compile(r"(?P<level>Memory|L2|L3|L1<->L2|L2<->L3) data volume \[GBytes?\]")
_HALVES: Final = re.compile(r"Memory (?:read|write|load|evict|writeback) data volume \[GBytes?\]")
_LEVELS: Final = {"Memory": "DRAM", "L1<->L2": "L2", "L2<->L3": "L3"}
# FLOPs an event: a packed instruction works on all lanes of its width.
_LANES: Final = {"SCALAR": 1, "128B_PACKED": 2, "256B_PACKED": 4, "512B_PACKED": 8}
_EVENTS: Final = {
    precision: {
        **{f"FP_ARITH_INST_RETIRED_{lanes}_{word}": n * (1 if n == 1 else more) for lanes, n in _LANES.items()},
        f"FP_COMP_OPS_EXE_SSE_FP_SCALAR_{word}": 1,
        f"FP_COMP_OPS_EXE_SSE_FP_PACKED_{word}": 2 * more,
        f"SIMD_FP_256_PACKED_{word}": 4 * more,
    }
    for precision, word, more in (("fp64", "DOUBLE", 1), ("fp32", "SINGLE", 2))
}
# This one counts FLOPs of all precisions.
_ALL: Final = "RETIRED_SSE_AVX_FLOPS_ALL"
_AGREE: Final = 0.01


@dataclass
class Counted:
    """Totals over all threads, each with its rule; what the group does not count is missing."""

    time: float
    flops: dict[str, float] = field(default_factory=dict)
    bytes: dict[str, float] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    calls: float = math.nan
    threads: int = 0
    clock: float = math.nan
    warnings: list[str] = field(default_factory=list)


def counted(block: Block) -> Counted:
    """Return what a group says, FLOPs from the events where they are known and agree with the printed rate."""
    times = block.metrics.get(_RUNTIME) or block.region_time
    found = Counted(_largest(times))
    found.threads = max((len(values) for values in (*block.metrics.values(), *block.events.values())), default=0)
    found.calls = _largest(block.calls)
    found.clock = _mean(block.metrics.get(_CLOCK, [])) * _MEGA
    if block.metrics.get(_RUNTIME):
        found.rules["time"] = f"{_RUNTIME}, the longest of the threads"
    elif block.region_time:
        found.rules["time"] = "RDTSC Runtime [s] of the region, the longest of the threads"
    _flops(block, times, found)
    for name, values in block.metrics.items():
        match = _VOLUME.fullmatch(name)
        if match is not None:
            _volume(found, _LEVELS.get(match["level"], match["level"]), name, values)
    halves = [name for name in block.metrics if _HALVES.fullmatch(name)]
    if "DRAM" not in found.bytes and len(halves) == 2:  # noqa: PLR2004 - in and out
        total = [value for name in halves for value in block.metrics[name]]
        _volume(found, "DRAM", " + ".join(halves), total)
    return found


def _volume(found: Counted, level: str, name: str, values: list[float]) -> None:
    total = _sum(values)
    if total >= 0:
        found.bytes[level] = total * _GIGA
        found.rules[f"bytes:{level}"] = f"{name}, summed over threads"


def _flops(block: Block, times: list[float], found: Counted) -> None:
    for name, rates in block.metrics.items():
        match = _RATE.fullmatch(name)
        if match is None or len(times) != len(rates):
            continue
        precision = _PRECISIONS[match["precision"]]
        printed = _sum(rate * _MEGA * time for rate, time in zip(rates, times, strict=True))
        exact, rule = _by_events(block, precision)
        if math.isnan(printed):
            continue
        if abs(exact - printed) <= _AGREE * printed:
            found.flops[precision], found.rules[f"flops:{precision}"] = exact, rule
            continue
        found.flops[precision] = printed
        found.rules[f"flops:{precision}"] = f"{name} x {_RUNTIME}, summed over threads"
        if not math.isnan(exact):
            said = f"group {block.group}: {rule} gives {exact:g} FLOPs, '{name}' {printed:g}: the latter is taken"
            found.warnings.append(said)
        if match["assumed"]:
            found.warnings.append(f"group {block.group}: '{name}' rests on an assumption of LIKWID's")


def _by_events(block: Block, precision: str) -> tuple[float, str]:
    """Return FLOPs by the events of this precision and the rule, NaN where none is known."""
    weights = {name: n for name, n in _EVENTS.get(precision, {}).items() if name in block.events}
    if not weights and _ALL in block.events:
        weights = {_ALL: 1}
    if not weights:
        return math.nan, ""
    total = sum(weight * _sum(block.events[name]) for name, weight in weights.items())
    return total, " + ".join(f"{weight} x {name}" if weight > 1 else name for name, weight in weights.items())


def _sum(values: Iterable[float]) -> float:
    """Return the sum of what is known: counters outside the cores stand at one thread of each socket only."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) if known else math.nan


def _largest(values: list[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
