"""The output of likwid-bench: runs of small kernels. Each run is a kernel, and a ceiling of the machine."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from roofwidget.chips import Chip, Source
from roofwidget.readers.amounts import number_or_nan
from roofwidget.readers.ceilings.measured import VECTOR, Rate, measured_chip
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source as File

_BANNER: Final = "LIKWID MICRO BENCHMARK"
_TEST: Final = re.compile(r"^Test: (\S+)\s*$", re.MULTILINE)
_FIELDS: Final = {
    "time": r"Time:\s+(\S+) sec",
    "size": r"Size \(Byte\):\s+(\S+)",
    "flops": r"Number of Flops:\s+(\S+)",
    "flops_rate": r"MFlops/s:\s+(\S+)",
    "volume": r"Data volume \(Byte\):\s+(\S+)",
    "bandwidth": r"MByte/s:\s+(\S+)",
}
_MEGA: Final = 1e6
_MAX_TEXT_BYTES: Final = 64 * 2**20


@dataclass(frozen=True)
class Run:
    """One run: the kernel's name, seconds, bytes of its working set, FLOPs and FLOP/s, bytes and bytes/s."""

    test: str
    time: float
    size: float
    flops: float
    flops_rate: float
    volume: float
    bandwidth: float

    @property
    def precision(self) -> str:
        """``fp32`` if ``sp`` is a part of the kernel's name, else ``fp64``."""
        return "fp32" if "sp" in self.test.split("_") else "fp64"

    @property
    def is_peak(self) -> bool:
        """Whether the run measures arithmetic, not memory."""
        return self.test.startswith("peakflops")


def is_bench(source: File) -> bool:
    """Whether a file was printed by likwid-bench."""
    return _BANNER in source.beginning


def runs(source: File) -> list[Run]:
    """Return the runs of a file, in order.

    Raises
    ------
    ProfileError
        If a run lacks a line or a number is invalid. The message names the run.
    """
    text = source.text(limit=_MAX_TEXT_BYTES)
    starts = list(_TEST.finditer(text))
    if not starts:
        raise source.error("there is no line 'Test:' of likwid-bench: the run failed")
    ends = [*(start.start() for start in starts[1:]), len(text)]
    found = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        part = text[start.start() : end]
        values = {field: _value(source.name, part, pattern, number) for field, pattern in _FIELDS.items()}
        found.append(
            Run(
                start[1],
                values["time"],
                values["size"],
                values["flops"],
                values["flops_rate"] * _MEGA,
                values["volume"],
                values["bandwidth"] * _MEGA,
            )
        )
    return found


def missing_runs(source: File) -> list[str]:
    """Return a warning if a run has a banner but no results, or if the file ends in the middle of a line."""
    text = source.text(limit=_MAX_TEXT_BYTES)
    begun, found = text.count(_BANNER), len(_TEST.findall(text))
    if begun > found:
        return [f"{begun} runs begin and {found} have a line 'Test:': a run failed, or the file is cut off"]
    return [] if text.endswith("\n") else ["the file ends within a line: if it is cut off, runs may be missing"]


def _value(file: str, part: str, pattern: str, run: int) -> float:
    # Without a line end the number may be cut off.
    match = re.search(rf"^{pattern}[^\S\n]*\n", part, re.MULTILINE)
    label = pattern.partition(":")[0].replace("\\", "")
    if match is None:
        raise ProfileError(
            file, f"the line '{label}:' is missing: the run failed or the file is incomplete", place=f"run {run}"
        )
    number = number_or_nan(match[1])
    if not 0 <= number < math.inf:
        raise ProfileError(file, f"'{label}:' must be a finite number of at least 0", place=f"run {run}")
    return number


def machine(source: File, level: str) -> Chip:
    """Return the machine: the fastest ``peakflops`` of each precision, and the highest bandwidth of other kernels."""
    every = runs(source)
    streams = [run for run in every if not run.is_peak]
    peaks = [run for run in every if run.is_peak]
    for found, command in ((peaks, "peakflops -w S0:20kB"), (streams, "load -w S0:2GB")):
        if not found:
            raise source.error(f"a roof is missing: append the output of likwid-bench -t {command}")
    best = max(streams, key=lambda run: run.bandwidth)
    name = re.search(r"^CPU name:\s+(\S.*)$", source.beginning, re.MULTILINE)
    note = f"{level} is {best.test} over {best.size:g} bytes"
    return measured_chip(
        source.name,
        name[1].strip() if name else "LIKWID machine",
        [Rate(run.precision, VECTOR, run.flops_rate, run.test) for run in peaks],
        {level: best.bandwidth},
        Source(f"likwid-bench, {PurePath(source.name).name}", confidence="measured"),
        kind="cpu",
        notes=[
            f"{note}: bytes as the code requests them, without lines that are read before they are written",
            *missing_runs(source),
        ],
    )
