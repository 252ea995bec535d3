"""CARM Tool: the cache-aware roofline's two tables, ``NAME_roofline.csv`` and ``NAME_applications.csv``.

``python run.py --name NAME`` measures the machine (``carm_results/roofline/``); its profilers append a program's
measurements to ``carm_results/applications/``. `roofwidget.read` returns the applications as kernels. It uses the
machine's table in the same results folder, or the table given as ``machine="NAME_roofline.csv"``.
`roofwidget.read_ceilings` reads only the machine's table.

A machine's table has one line per run, in GB/s and GFLOP/s (1e9). The roofs are the highest bandwidth of each level and
the highest rate of each precision (the larger of ``FP FMA`` and ``FP``). If the ``FP`` of the best run is lower than
its ``FP FMA``, this ``FP`` becomes the ceiling ``no FMA``. Runs with other instruction sets or threads become ceilings,
named by instruction set and threads. ``isa``, ``precision`` and ``threads`` select runs.

An application's FLOPs are ``Gflops x Time``; its bytes are FLOPs / ``AI`` (``Bandwidth x Time`` without FLOPs). The
bytes are all bytes that the core requests, so they belong to the level L1, not to DRAM. Intensities from such bytes
differ from intensities of the off-chip memory, so bound the kernels with ``memory="L1"``. ``Time`` is in seconds, but
in milliseconds for the method ``MIX``.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from roofwidget.chips import Ceiling, Chip, Source
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.amounts import number_or_nan, product, quotient
from roofwidget.readers.ceilings.measured import Rate, measured_chip
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source as File
from roofwidget.readers.tables.delimited import DelimitedTable, read_table
from roofwidget.support.precisions import precision_key

FORMAT: Final = "carm"
EXPECTED: Final = "a table of the CARM Tool (NAME_roofline.csv or NAME_applications.csv)"

_GIGA: Final = 1e9
_MACHINE: Final = re.compile(r'^"?Name:"?,')
_RUN: Final = ("ISA", "Precision", "Threads", "FP Inst.")
_APPLICATION: Final = ("Method", "Name", "ISA", "Precision", "Threads", "AI", "Gflops", "Bandwidth", "Time")
_PRECISIONS: Final = {"dp": "fp64", "sp": "fp32", "hp": "fp16"}
_UNITS: Final = ("gb/s", "gflop/s")
_MAX_TEXT_BYTES: Final = 64 * 2**20
_LEVELS: Final = ("L1", "L2", "L3", "DRAM")
_RATES: Final = ("FP", "FP FMA")
_MODEL: Final = "cache-aware roofline: the bytes are all bytes that the core requests (level L1), not those of DRAM"


def recognises(source: File) -> bool:
    """Whether the first line begins a machine's table or a table of applications."""
    if source.is_folder:
        return False
    first = source.beginning.lstrip("\ufeff\r\n").partition("\n")[0]
    return bool(_MACHINE.match(first)) or all(word in first.split(",") for word in ("Method", "AI", "Gflops"))


def read(
    source: File,
    *,
    machine: Any = None,
    isa: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
) -> Kernels:
    """Return the applications as kernels, with the machine's chip if the machine's table is known.

    The result is empty if `source` is a machine's table, because a machine's table has no kernels.

    Parameters
    ----------
    source
        The table of applications, or a machine's table.
    machine
        The machine's table, if it is not in the results folder of the applications.
    isa, precision, threads
        Select runs of the machine, see `ceilings`.
    """
    choice: dict[str, Any] = {"isa": isa, "precision": precision, "threads": threads}
    if _is_machine(source):
        said = "this table of the CARM Tool has ceilings and no kernels"
        return Kernels(chip=ceilings(source, **choice), warnings=[said], source=source.name)
    beside = File.of(machine) if machine is not None else _beside(source)
    chip = ceilings(beside, **choice) if beside is not None else None
    rows = read_table(source, header=lambda cells: all(word in cells for word in _APPLICATION), only_rows=True)
    # The tool writes a decimal point whatever the locale.
    rows.decimal = "."
    time = rows.numbers("Time") * np.where(np.array(rows.texts("Method"), dtype=object) == "MIX", 1e-3, 1.0)
    flops, intensity = _amounts(rows, "Gflops", time), rows.numbers("AI")
    by_intensity = quotient(
        lambda row: rows.error(row, "AI", "the FLOPs are too many for this intensity"), flops, intensity
    )
    moved = np.where(intensity > 0, by_intensity, _amounts(rows, "Bandwidth", time))
    return Kernels(
        [name.strip() or "application" for name in rows.texts("Name")],
        flops,
        {"L1": moved},
        time=time,
        precision=_precisions_with_peak(rows.texts("Precision"), chip),
        category=[word.strip() or None for word in rows.texts("Method")],
        chip=chip,
        origin={
            "flops": "Gflops x Time",
            "bytes:L1": f"FLOPs / AI; {_MODEL}",
            "time": "Time (method MIX: milliseconds)",
            "precision": "Precision",
        },
        extra={
            "ISA": [word.strip() or None for word in rows.texts("ISA")],
            "threads": rows.numbers("Threads", optional=True),
        },
        warnings=[_MODEL, *rows.open_end()],
        source=source.name,
    )


def _amounts(rows: DelimitedTable, column: str, time: Floats) -> Floats:
    """Return a column of rates in units of 1e9 as amounts."""
    reason = "the rate is too large for its time"
    return product(lambda row: rows.error(row, column, reason), rows.numbers(column), _GIGA, time)


def ceilings(source: File, *, isa: str | None = None, precision: str | None = None, threads: int | None = None) -> Chip:
    """Return the machine measured by the CARM Tool.

    Parameters
    ----------
    source
        ``NAME_roofline.csv``.
    isa, precision, threads
        Select runs by instruction set, precision (``dp``, ``sp``, or ``fp64``, ``fp32``) and number of threads.

    Raises
    ------
    ProfileError
        If the file is the table of applications, no run matches the options, or a cell is invalid.
    """
    if not _is_machine(source):
        raise source.error("the file has applications; the ceilings are in the machine's NAME_roofline.csv")
    runs = _runs(source)
    wanted = [run for run in runs if _wanted(run, isa=isa, precision=precision, threads=threads)]
    if not wanted:
        there = "; ".join(dict.fromkeys(f"{run.isa} {run.precision} {run.threads} threads" for run in runs))
        raise source.error(f"no such run; there is {there}" if there else "the table has no runs")
    peaks = {run.precision: run for run in sorted(wanted, key=lambda run: run.peak)}
    widest = {level: max(wanted, key=lambda run: run.bandwidths[level]) for level in _LEVELS}
    lower = [Ceiling("no FMA", r.rates["FP"], precision=p) for p, r in peaks.items() if 0 < r.rates["FP"] < r.peak]
    for run in wanted:
        if run.label != peaks[run.precision].label and run.peak > 0:
            lower.append(Ceiling(run.label, run.peak, precision=run.precision))
        lower += [
            Ceiling(run.label, rate, memory=level)
            for level, rate in run.bandwidths.items()
            if rate > 0 and run.label != widest[level].label
        ]
    return measured_chip(
        source.name,
        source.beginning.lstrip("\ufeff").split(",")[1].strip().strip('"') or "CARM machine",
        [Rate(run.precision, "", run.peak, run.label) for run in peaks.values()],
        {level: run.bandwidths[level] for level, run in widest.items()},
        Source(f"CARM Tool, {PurePath(source.name).name}", confidence="measured"),
        ceilings=lower,
        kind="cpu",
        notes=[_MODEL],
    )


class _MachineRun:
    """A line of a machine's table, in base units."""

    def __init__(self, words: Sequence[str], numbers: Sequence[float]) -> None:
        self.isa, precision, self.threads = (word.strip() for word in words)
        self.precision = _PRECISIONS.get(precision.casefold(), precision_key(precision))
        rates = [number * _GIGA for number in numbers]
        self.bandwidths = dict(zip(_LEVELS, rates, strict=False))
        self.rates = dict(zip(_RATES, rates[len(_LEVELS) :], strict=True))
        self.peak = max(self.rates.values())
        self.label = f"{self.isa}, {self.threads} thread{'s' * (self.threads != '1')}"


def _runs(source: File) -> list[_MachineRun]:
    """Read a machine's table. It has two header lines: the groups of the columns, then their units."""
    lines = _lines(source)
    groups, units = ([cell.strip() for cell in next(lines, (0, []))[1]] for _ in range(2))
    missing = [word for word in _RUN if word not in units]
    if missing:
        raise source.error("expected the header of the runs", row=2, column=missing[0])
    words = [units.index(word) for word in _RUN]
    figures = [_column(source.name, groups, units, name) for name in (*_LEVELS, *_RATES)]
    width = max(*words, *figures) + 1
    runs = []
    for row, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) < len(units):
            expected = width if len(cells) < width else len(units)
            raise source.error(
                f"expected {expected} cells, got {len(cells)}: the file is incomplete or has other columns", row=row
            )
        places = [(name, cells[at]) for name, at in zip((*_LEVELS, *_RATES), figures, strict=True)]
        numbers = [_number(source.name, cell, row, name) for name, cell in places]
        runs.append(_MachineRun([cells[at] for at in words[:3]], numbers))
    return runs


def _lines(source: File) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line."""
    lines = csv.reader(io.StringIO(source.text(limit=_MAX_TEXT_BYTES)))
    try:
        for cells in lines:
            yield lines.line_num, cells
    except csv.Error as error:
        raise source.error(f"expected a line of cells: {error}", row=lines.line_num) from None


def _column(file: str, groups: list[str], units: list[str], name: str) -> int:
    """Return the index of the column in the group `name`, which is a memory level or a rate.

    The group also has a column of instructions per cycle, so the unit decides which column is used.
    """
    pairs = enumerate(zip(groups, units, strict=False))
    found = [at for at, (group, unit) in pairs if group == name and unit.casefold() in _UNITS]
    if len(found) != 1:
        raise ProfileError(file, f"expected one column of {' or '.join(_UNITS)}, got {len(found)}", row=1, column=name)
    return found[0]


def _number(file: str, cell: str, row: int, column: str) -> float:
    number = number_or_nan(cell)
    if not 0 <= number < math.inf:
        raise ProfileError(
            file, f"expected a number that is finite and not negative, got {cell!r:.60}", row=row, column=column
        )
    return number


def _wanted(run: _MachineRun, *, isa: str | None, precision: str | None, threads: int | None) -> bool:
    asked = None if precision is None else _PRECISIONS.get(precision.casefold(), precision_key(precision))
    return (
        (isa is None or run.isa.casefold() == isa.casefold())
        and (asked is None or run.precision == asked)
        and (threads is None or run.threads == str(threads))
    )


def _is_machine(source: File) -> bool:
    return bool(_MACHINE.match(source.beginning.lstrip("\ufeff\r\n")))


def _beside(source: File) -> File | None:
    """Return the machine's table in the same folder, or in the sibling folder ``roofline``."""
    if source.path is None or not re.search("applications", source.path.name, re.IGNORECASE):
        return None
    name = re.sub("applications", "roofline", source.path.name, flags=re.IGNORECASE)
    folder = source.path.parent
    return source.beside(folder / name) or source.beside(folder.parent / "roofline" / name)


def _precisions_with_peak(words: list[str], chip: Chip | None) -> list[str | None]:
    """Return our name for each precision of the file, or None if the machine has no peak for it.

    Without a peak, kernels of this precision have no roof.
    """
    named = [_PRECISIONS.get(word.strip().casefold()) for word in words]
    return [word if word and (chip is None or word in chip.peak_flops) else None for word in named]
