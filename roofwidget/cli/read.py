"""`roofwidget read`: how a file is read, for a number that looks wrong."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from roofwidget.analysis.messages import messages
from roofwidget.cli.options import add_captures, add_phase, add_work, of_phases, working
from roofwidget.kernels.communication import has_messages
from roofwidget.kernels.operations import operations_of
from roofwidget.kernels.reading import fields_read
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.table_record import to_record
from roofwidget.readers import FORMATS, read
from roofwidget.support.text_tables import aligned, and_more, counted, one_line, without_controls
from roofwidget.units import format_intensity, format_quantity

DESCRIPTION: Final = """\
Say how a file is read: its format, from which column and by which rule each
field came, what is unknown, the first rows, and the reader's warnings.

  roofwidget read profile.csv
  roofwidget read results.txt --format table --rows 20
  roofwidget read trace.json --json              all rows, in base units
"""
_MAX_RULE: Final = 160
_HEADER: Final = ("row", "name", "FLOPs", "bytes", "FLOPs per byte", "rate", "time", "launches")
_NUMBERS: Final = frozenset(range(2, len(_HEADER))) | {0}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    command.add_argument("file", metavar="FILE", help=f"a file of any of {len(FORMATS)} formats, or a folder of one")
    command.add_argument("--format", metavar="FORMAT", help="the format, if the content does not show it")
    add_phase(command)
    add_work(command)
    add_captures(command)
    command.add_argument("--rows", type=int, default=5, metavar="N", help="how many rows to print; 5 by default")
    command.add_argument("--json", action="store_true", help="the whole table with its origins, in base units")
    command.set_defaults(run=_read)


def _read(options: argparse.Namespace) -> int:
    if options.rows < 0:
        raise ValueError(f"--rows: expected a number from 0, got {options.rows}")
    with working(f"reading {options.file}"):
        captures = {"captures": options.captures} if options.captures else {}
        kernels = read(options.file, options.format, work=options.work, **captures)
    kernels = of_phases(kernels, options.phase, options.file)
    if options.json:
        print(json.dumps(to_record(kernels), allow_nan=False, ensure_ascii=False))
    else:
        print("\n".join(_lines(kernels, options.rows)))
    return 0


def _lines(kernels: Kernels, most: int) -> Iterator[str]:
    chip = "the file names no chip" if kernels.chip is None else f"ran on {one_line(kernels.chip.name)}"
    what = f"format '{kernels.read_as['format']}', {counted(len(kernels), 'row')}, {chip}"
    yield f"{without_controls(kernels.source)}: {what}"
    yield ""
    fields = [(one_line(field), known, one_line(rule, _MAX_RULE)) for field, known, rule in fields_read(kernels)]
    yield from aligned([("field", "rows", "from"), *fields])
    yield ""
    yield from aligned([_HEADER, *_rows(kernels[:most])], right=_NUMBERS)
    yield from and_more(len(kernels), most)
    if has_messages(kernels):
        yield ""
        yield from repr(messages(kernels)).splitlines()
    if kernels.warnings:
        yield ""
        yield f"{counted(len(kernels.warnings), 'warning')}:"
        yield from (f"- {without_controls(warning)}" for warning in kernels.warnings)


def _rows(kernels: Kernels) -> Iterator[tuple[str, ...]]:
    operations = operations_of(kernels)
    columns: Any = (kernels.flops, kernels.bytes, kernels.arithmetic_intensity, kernels.achieved, kernels.time)
    amounts = zip(kernels.names, *columns, kernels.count, strict=True)
    for row, (name, flops, moved, intensity, rate, time, count) in enumerate(amounts):
        unit = operations.unit(row)
        yield (
            str(row),
            one_line(name),
            format_quantity(flops, unit),
            format_quantity(moved, "B"),
            format_intensity(intensity, operation=unit),
            format_quantity(rate, f"{unit}/s"),
            format_quantity(time, "s"),
            f"{int(np.round(count)):,}",
        )
