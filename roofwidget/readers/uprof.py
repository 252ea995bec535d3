"""AMD uProf: the rates that ``AMDuProfPcm`` writes for each interval.

Measure FLOPs and memory traffic together, and write CSV::

    AMDuProfPcm -m fp,memory -a -d 60 -o pcm.csv

A row is an interval; a file of ``-C`` (cumulative) has one row. uProf writes rates, not amounts: the FLOP rate is
``Retired SSE/AVX Flops (GFLOPs)``, the byte rate is ``Total Mem Bw (GB/s)`` of the DRAM, and the arithmetic intensity
is their quotient. FLOPs, bytes and seconds of an interval are unknown. If the table has a block of columns for the
whole system, only this block is read; otherwise the rates of all blocks (packages, CCXs or cores) are added. Vector
FLOPs of all precisions are one number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.folders import alone_in_a_folder, one_of
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.delimited import MAX_COLUMNS
from roofwidget.units import prefix_factor

FORMAT: Final = "uprof"
EXPECTED: Final = "the CSV of AMDuProfPcm, with rates of FLOPs and of memory"

_FLOPS: Final = re.compile(r"Retired SSE/AVX Flops ?\((?P<prefix>[GMT]?)FLOPs\)", re.IGNORECASE)
_MEMORY: Final = re.compile(r"Total Mem(?:ory)? Bw ?\((?P<prefix>[GMT]?)B/s\)", re.IGNORECASE)
_TELLS: Final = re.compile("|".join(one.pattern.replace("?P<prefix>", "") for one in (_FLOPS, _MEMORY)), re.IGNORECASE)
_WORDS: Final = ("retired sse/avx flops", "total mem")
"""Begins of `_TELLS`. A search for them costs much less than the pattern."""
_MAX_RATE: Final = 1e24
_TIMES: Final = ("timestamp", "time")
_MAX_TEXT_BYTES: Final = 64 * 2**20


@alone_in_a_folder
def recognises(source: Source) -> bool:
    """Whether the source has columns or rows of AMDuProfPcm, or is a folder with exactly one such file."""
    return any(words in source.folded for words in _WORDS) and _TELLS.search(source.beginning) is not None


def read(source: Source) -> Kernels:
    """Return the rates of each interval.

    Raises
    ------
    ProfileError
        If there is no such table, no interval, or a cell is not a number.
    """
    source = one_of(source, recognises)
    text = source.text(_MAX_TEXT_BYTES).removeprefix("\ufeff")
    try:
        table = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines())]
    except csv.Error as error:
        raise source.error(f"not a table of AMDuProfPcm: {error}") from None
    head = next((at for at, row in enumerate(table) if any(map(_TELLS.fullmatch, row))), None)
    if head is None:
        raise source.error(f"expected {EXPECTED}")
    if len(table[head]) > MAX_COLUMNS:
        raise source.error(f"a table of {len(table[head]):,} columns; the limit is {MAX_COLUMNS:,}")
    if _TELLS.fullmatch(table[head][0]) and len(table[head]) > 1 and notation.is_number(table[head][1]):
        names, rates, moved = _cumulative(table, source)
    else:
        names, rates, moved = _intervals(table, head, source)
    missing = [what for what, rate in (("FLOP", rates), ("byte", moved)) if np.isnan(rate).all()]
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = np.where(moved >= 1, rates / moved, np.nan)
    unknown = np.full(len(names), np.nan)
    return Kernels(
        names,
        unknown,
        unknown,
        intensity=intensity,
        rate=rates,
        warnings=[
            "uProf writes rates: FLOPs, bytes and seconds of the intervals are unknown",
            *(f"the file has no {what} rate: AMDuProfPcm -m fp,memory measures both" for what in missing),
        ],
        source=source.name,
    )


def _intervals(table: Sequence[Sequence[str]], head: int, source: Source) -> tuple[list[str], Floats, Floats]:
    """Return the names, FLOP rates and byte rates of the rows under the header."""
    header = table[head]
    rows = []
    for at in range(head + 1, len(table)):
        if len(table[at]) < len(header) or not any(table[at]):
            break
        rows.append(at)
    if not rows:
        raise source.error("the table of AMDuProfPcm has no row under its header")
    blocks = _blocks(table[head - 1] if head else [], len(header))
    time = next((at for at, name in enumerate(header) if name.casefold() in _TIMES), None)
    names = [f"interval {number + 1}" if time is None else table[at][time] for number, at in enumerate(rows)]
    found = []
    for pattern in (_FLOPS, _MEMORY):
        columns = [(at, match) for at, name in enumerate(header) if (match := pattern.fullmatch(name))]
        whole = [one for one in columns if "system" in blocks[one[0]].casefold()]
        parts = [
            _numbers([table[row][at] for row in rows], rows, header[at], source, match)
            for at, match in whole or columns
        ]
        found.append(np.sum(parts, axis=0) if parts else np.full(len(rows), np.nan))
    return names, found[0], found[1]


def _cumulative(table: Sequence[Sequence[str]], source: Source) -> tuple[list[str], Floats, Floats]:
    """Return the rates of a file with a row per metric; its first column of numbers is the whole system."""
    found = []
    for pattern in (_FLOPS, _MEMORY):
        at, match = next(
            ((at, match) for at, row in enumerate(table) if len(row) > 1 and (match := pattern.fullmatch(row[0]))),
            (0, None),
        )
        found.append(_numbers([table[at][1]], [at], table[at][0], source, match) if match else np.full(1, np.nan))
    return ["program"], found[0], found[1]


def _blocks(row: Sequence[str], width: int) -> list[str]:
    """Return the name of the block that each column is in. A block's name is above its first column."""
    found, name = [], ""
    for at in range(width):
        name = (row[at] if at < len(row) else "") or name
        found.append(name)
    return found


def _numbers(cells: Sequence[str], rows: Sequence[int], column: str, source: Source, match: re.Match[str]) -> Floats:
    """Return rates in FLOP/s or B/s. The prefix of the unit is in the match of the column's name."""

    def error(row: int) -> ProfileError:
        reason = f"expected a finite number from 0, got {cells[row]!a:.60}"
        return source.error(reason, row=rows[row] + 1, column=column)

    numbers, bad = notation.numbers(cells, ".")
    # Sums of rates, and quotients of rates, stay far below the largest double.
    wrong = np.flatnonzero((numbers < 0) | (numbers > _MAX_RATE)) if bad is None else [bad]
    if len(wrong):
        raise error(int(wrong[0]))
    return numbers * prefix_factor(match["prefix"])
