"""mixbench: kernels of mixed intensity, as points and as the machine's measured ceilings.

How to make it: ``mixbench-cuda > mixbench.txt``, or one of ``mixbench-hip``, ``mixbench-sycl``, ``mixbench-opencl``,
``mixbench-cpu``, with ``-ro`` or ``-alt`` at the end of the name. The whole output is read, or its table alone.

- `roofwidget.read` returns a point per row and precision: FLOPs are ``GFLOPS x ex.time``, bytes FLOPs / ``Flops/byte``.
  ``ex.time`` is in milliseconds. Operations on integers count as ``int32``. Packed single precision is ``fp32``. The
  half precision of mixbench runs outside tensor cores: ``fp16_vector``. Cells without a measurement (``inf``, ``nan``,
  a time of 0) are no points.
- `roofwidget.read_ceilings`, and `Kernels.chip`, have the highest rate of each precision and the highest bandwidth of
  all points. mixbench's bytes are those of global memory: the level ``DRAM``. A small buffer lies in the caches in
  part: a warning says if the bandwidth is above that which mixbench prints for the device.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import numpy as np

from roofwidget.chips import Chip, Source
from roofwidget.kernels.columns import Bools, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.ceilings.measured import UNSPECIFIED, VECTOR, Rate, measured_chip
from roofwidget.readers.input.source import Source as File
from roofwidget.support.arrays import Places

FORMAT: Final = "mixbench"
EXPECTED: Final = "the output of mixbench, with a table 'Compute iters, Flops/byte, ex.time, GFLOPS, GB/sec'"

# Old versions print "23/ 9", the compute and the memory operations of an element, and no intensity.
_HEADER: Final = re.compile(r"(?:Compute iters, *Flops/byte, *ex\.time|compute/memory, *Time), *GFLOPS, *GB/sec")
_FIRST: Final = ("Compute iters", "compute/memory")
_ABOVE: Final = ("Experiment ID", "Operations ratio")
_DEVICE: Final = re.compile(r"^(?:Device|CPU(?: name)?): +(\S(?:[^/\n]|/(?![^ \n]))*)", re.MULTILINE)
_STATED: Final = re.compile(r"^Memory bandwidth: +([0-9]{1,9}(?:\.[0-9]+)?) GB/sec", re.MULTILINE)
_BLOCK: Final = (("ex.time", "Time"), ("GFLOPS", "GIOPS"), ("GB/sec",))
_INTENSITIES: Final = ("Flops/byte", "Iops/byte")
_PRECISIONS: Final = (("double", "fp64"), ("half", "fp16"), ("integer", "int32"), ("single", "fp32"))
_LEVEL: Final = "DRAM"
_MILLI, _GIGA = 1e3, 1e9
_MAX_TEXT_BYTES: Final = 64 * 2**20
# No rate, in units of 1e9, and no time, in milliseconds, reaches this number.
_MAX_NUMBER: Final = 1e15


@dataclass(frozen=True)
class _Points:
    """The points of one precision in one table: columns of shape (n,), and the precision."""

    title: str
    precision: str
    iterations: Floats
    intensity: Floats
    time: Floats
    rate: Floats
    bandwidth: Floats

    @property
    def is_measured(self) -> Bools:
        finite = np.isfinite(self.rate) & np.isfinite(self.bandwidth) & np.isfinite(self.time)
        return finite & (self.time > 0) & ~np.isnan(self.intensity)

    @property
    def key(self) -> str | None:
        """The chip's key of the precision. Half precision runs outside tensor cores."""
        if self.precision == UNSPECIFIED:
            return None
        return "fp16_vector" if self.precision == "fp16" else self.precision


def recognises(source: File) -> bool:
    """Whether the text has a table of mixbench."""
    return not source.is_folder and "GB/sec" in source.first and _HEADER.search(source.first) is not None


def read(source: File) -> Kernels:
    """Return a point for each row and precision, with the measured chip.

    Raises
    ------
    ProfileError
        If the text has no table with points, or a cell is not a number. The message names the line.
    """
    blocks, messages = _blocks(source)
    names, columns = list[str](), list[tuple[Floats, Floats, Floats]]()
    for block in blocks:
        at = np.flatnonzero(block.is_measured)
        names += [f"{block.title}, {iterations:g} iterations" for iterations in block.iterations[at]]
        columns.append(_amounts(block, at))
    flops, moved, time = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    keys = [block.key for block in blocks for _ in range(int(block.is_measured.sum()))]
    chip = _chip(source, blocks)
    return Kernels(
        names,
        flops,
        {_LEVEL: moved},
        time=time,
        precision=keys,
        category=[block.title for block in blocks for _ in range(int(block.is_measured.sum()))],
        origin={"flops": "GFLOPS x ex.time", f"bytes:{_LEVEL}": "FLOPs / (Flops/byte)", "time": "ex.time"},
        chip=chip,
        warnings=[*messages, *chip.notes],
        source=source.name,
    )


def ceilings(source: File) -> Chip:
    """Return the machine: the highest rate of each precision, and the highest bandwidth."""
    return _chip(source, _blocks(source)[0])


def _amounts(block: _Points, at: Places) -> tuple[Floats, Floats, Floats]:
    """Return FLOPs, bytes and seconds of the points with these numbers."""
    time, intensity = block.time[at] / _MILLI, block.intensity[at]
    flops, by_bandwidth = block.rate[at] * _GIGA * time, block.bandwidth[at] * _GIGA * time
    known = (intensity > 0) & np.isfinite(intensity)
    # Without any access to memory mixbench prints an infinite intensity and no bandwidth.
    return flops, np.divide(flops, intensity, out=by_bandwidth, where=known), time


def _chip(source: File, blocks: Sequence[_Points]) -> Chip:
    rates = [Rate(block.precision, VECTOR, _best(block, block.rate), block.title) for block in blocks]
    device = _DEVICE.search(source.beginning)
    bandwidth = max(_best(block, block.bandwidth) for block in blocks)
    return measured_chip(
        source.name,
        device[1].strip() if device else "mixbench machine",
        rates,
        {_LEVEL: bandwidth},
        Source(f"mixbench, {PurePath(source.name).name}", confidence="measured"),
        notes=_doubts(source, bandwidth),
    )


def _doubts(source: File, bandwidth: float) -> list[str]:
    """Return a warning if the bandwidth is above that which mixbench prints for the device."""
    stated = _STATED.search(source.beginning)
    if stated is None or bandwidth <= float(stated[1]) * _GIGA:
        return []
    said = f"{bandwidth / _GIGA:g} GB/s, is above the {stated[1]} GB/s that mixbench prints for the device"
    return [f"the highest bandwidth, {said}: a part of the buffer was in the caches, or that figure is wrong"]


def _best(block: _Points, column: Floats) -> float:
    return float(np.max(column[block.is_measured], initial=0.0)) * _GIGA


def _blocks(source: File) -> tuple[list[_Points], list[str]]:
    """Return the points of all tables by precision, and warnings."""
    lines = source.text(_MAX_TEXT_BYTES).splitlines()
    found, messages = list[_Points](), list[str]()
    for at in (at for at, line in enumerate(lines) if _HEADER.search(line)):
        headers = [cell.strip() for cell in lines[at].split(",")]
        rows, end = _rows(source, lines, at + 1, len(headers))
        if end == len(lines):
            messages.append("the table has no line of dashes at its end: if the file is cut off, rows are missing")
        if len(rows):
            found += _of_table(source, headers, lines[at - 1] if at else "", rows, at + 1)
    left_out = sum(int(np.sum(~block.is_measured)) for block in found)
    if left_out:
        messages.append(f"cells without a measurement are no points: {left_out}")
    if not any(block.is_measured.any() for block in found):
        raise source.error("the table of mixbench has no row with a measurement")
    return [block for block in found if block.is_measured.any()], messages


def _rows(source: File, lines: Sequence[str], first: int, width: int) -> tuple[Floats, int]:
    """Return the numbers under a header, shape (rows, width), and the line after them."""
    rows = list[list[float]]()
    for at in range(first, len(lines)):
        cells = [cell.strip() for cell in lines[at].rstrip(", \r").split(",")]
        if not re.match(r"\s*[0-9]", lines[at]):
            return np.array(rows).reshape(-1, width), at
        numbers = [_number(cell) for cell in cells]
        if len(cells) != width or None in numbers:
            raise source.error(f"expected {width} numbers, got {lines[at].strip()!r:.60}", place=f"line {at + 1}")
        rows.append([math.nan if number is None else number for number in numbers])
    return np.array(rows).reshape(-1, width), len(lines)


def _number(cell: str) -> float | None:
    """Return a number, which may be ``inf`` or ``-nan``; None for other texts and for impossible numbers."""
    try:
        number = float(cell.partition("/")[0])
    except ValueError:
        return None
    return number if not (number < 0 or _MAX_NUMBER < number < math.inf) else None


def _of_table(source: File, headers: Sequence[str], above: str, rows: Floats, line: int) -> list[_Points]:
    """Return the points of one table. The line above the header names the precision of each block of columns."""
    has_titles = above.strip().startswith(_ABOVE)
    titles = [cell.strip() for cell in above.split(",")[1:] if cell.strip()] if has_titles else []
    places = [at for at, header in enumerate(headers) if header in _BLOCK[0]]
    iterations = rows[:, next(at for at, header in enumerate(headers) if header in _FIRST)]
    found = []
    for number, at in enumerate(places):
        words = headers[at : at + len(_BLOCK)]
        if len(words) < len(_BLOCK) or not all(word in known for word, known in zip(words, _BLOCK, strict=True)):
            raise source.error("expected the columns ex.time, GFLOPS, GB/sec next to each other", place=f"line {line}")
        is_integer = words[1] == "GIOPS"
        title = titles[number] if len(titles) == len(places) else "integer operations" if is_integer else "ops"
        precision = next((ours for word, ours in _PRECISIONS if word in title.casefold()), UNSPECIFIED)
        time, rate, bandwidth = (rows[:, at + step] for step in range(3))
        intensity = rows[:, at - 1] if headers[at - 1] in _INTENSITIES else _ratio(rate, bandwidth)
        found.append(_Points(title, precision, iterations, intensity, time, rate, bandwidth))
    return found


def _ratio(rate: Floats, bandwidth: Floats) -> Floats:
    """Return the intensity of rates and bandwidths, infinite without any access to memory."""
    found: Floats = np.divide(rate, bandwidth, out=np.full(len(rate), np.inf), where=bandwidth > 0)
    return found
