"""Made-up tables of kernels whose true numbers are known: what is read is the truth or unknown, whatever the spelling.

A message that proposes ``columns={…}`` is obeyed as it stands: then too nothing is wrong.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np
import pytest

import roofwidget as rw

TABLES: Final = 2000
PARTS: Final = 20
DIGITS: Final = 9

# The spellings of units: what a number in base units is divided by.
UNITS: Final[dict[str, dict[float, list[str]]]] = {
    "time": {
        1.0: ["s", "sec", "seconds"],
        1e-3: ["ms", "msec", "Ms"],
        1e-6: ["us", "\u00b5s", "usec", "microseconds"],
        1e-9: ["ns", "nsec"],
    },
    "flops": {1.0: ["FLOP"], 1e6: ["MFLOP", "MFlop"], 1e9: ["GFLOP", "gflop"], 1e12: ["TFLOP"]},
    "bytes": {1.0: ["B", "bytes"], 1e3: ["kB", "KB"], 2.0**20: ["MiB"], 1e6: ["MB", "Mbyte"], 1e9: ["GB", "GBytes"]},
    "rate": {1e6: ["MFLOP/s"], 1e9: ["GFLOP/s", "GFLOPS/s", "Gflop/sec", "GF/s"], 1e12: ["TFLOP/s", "TFLOPs/s"]},
    "bandwidth": {1e6: ["MB/s", "MBps"], 1e9: ["GB/s", "GByte/s", "GBytes/sec"], 2.0**30: ["GiB/s"]},
    "intensity": {1.0: ["FLOP/B", "FLOP/byte", "FLOPs/Byte", "flops/byte", "FLOP per byte"]},
}
WORDS: Final = {
    "time": ["time", "Time", "Total Time", "duration", "Runtime", "latency", "Kernel Time", "elapsed time", "Laufzeit"],
    "flops": ["flops", "FLOPs", "Total FLOPs", "flop count", "Work"],
    "bytes": ["bytes", "Bytes Moved", "Data Moved", "traffic", "DRAM bytes", "Data Volume"],
    "rate": ["Performance", "Perf", "rate", "Throughput", "Achieved performance", "Rechenleistung"],
    "bandwidth": ["Bandwidth", "BW", "DRAM bandwidth", "Memory BW", "Bandbreite"],
    "intensity": ["AI", "OI", "Arithmetic Intensity", "Operational Intensity", "DRAM AI", "intensity"],
}
# These words without a unit are in base units.
IN_BASE_UNITS: Final = {
    "time": ["time", "Time", "Total Time"],
    "flops": ["flops", "FLOPs", "Total FLOPs", "flop count"],
    "bytes": ["bytes", "Bytes Moved", "Data Moved", "traffic", "DRAM bytes"],
    "intensity": WORDS["intensity"],
}
# Words that are a count to one author and a rate to the next.
UNCLEAR: Final = {1e6: ["MFLOPS", "mflops"], 1e9: ["GFLOPS", "GFLOPs", "measured_gflops"], 1e12: ["TFLOPS", "tflops"]}
NAMES: Final = ["name", "kernel", "Kernel Name", "op", "Operation", "layer", "Function", "benchmark", "KernelName"]
OTHERS: Final = {
    "ID": "7",
    "speedup": "3.5",
    "% of peak": "45",
    "Time (%)": "12.5",
    "Min (ns)": "3",
    "max_time_us": "99",
    "StdDev (ns)": "4",
    "memory (MB)": "512",
    "Grid Size": "1024",
    "Registers": "64",
    "start (ns)": "1000",
    "Peak GFLOP/s": "9999",
    "energy (J)": "5",
    "utilization": "0.5",
    "stream": "7",
    "Shared Memory (kB)": "48",
    "median time (ms)": "8",
    "L2 hit rate": "0.3",
    "comment": "fine",
}


@dataclass(frozen=True)
class Column:
    """A column as written, and the quantity that it has."""

    header: str
    row_unit: str
    cells: list[str]
    quantity: str = ""
    is_clear: bool = True


@dataclass(frozen=True)
class Table:
    """A table, its text, and the truth in base units."""

    text: str
    truth: dict[str, np.ndarray[Any, np.dtype[np.float64]]]
    columns: list[Column]
    names: list[str]


def made(random: Random) -> Table:
    n = random.randint(1, 4)
    truth = {
        "flops": np.array([random.randint(100, 999) * 10.0 ** random.randint(5, 9) for _ in range(n)]),
        "bytes": np.array([random.randint(100, 999) * 10.0 ** random.randint(4, 8) for _ in range(n)]),
        "time": np.array([random.randint(100, 999) * 10.0 ** random.randint(-8, -3) for _ in range(n)]),
    }
    truth["rate"] = truth["flops"] / truth["time"]
    truth["bandwidth"] = truth["bytes"] / truth["time"]
    truth["intensity"] = truth["flops"] / truth["bytes"]
    has_row, is_german = random.random() < 0.2, random.random() < 0.2
    # Beside an intensity and without amounts such a word is the second coordinate of a roofline.
    columns, names = [], []
    if random.random() < 0.9:
        names = [f"k{row}" for row in range(n)]
        columns.append(Column(random.choice(NAMES), "", names))
    quantities = random.sample(list(UNITS), random.randint(1, 4))
    are_coordinates = "intensity" in quantities and not {"time", "bytes", "bandwidth", "rate"}.intersection(quantities)
    for quantity in quantities:
        may_be_unclear = quantity == "rate" or (quantity == "flops" and not are_coordinates)
        columns.append(written(random, quantity, truth[quantity], has_row=has_row, may_be_unclear=may_be_unclear))
    others = random.sample(list(OTHERS), random.randint(0, 3))
    columns += [Column(header, "", [OTHERS[header]] * n) for header in others]
    if len({column.header.casefold() for column in columns}) < len(columns):
        return made(random)
    random.shuffle(columns)
    rows = [[column.header for column in columns], *zip(*(column.cells for column in columns), strict=True)]
    if any(column.row_unit for column in columns):
        rows.insert(1, [column.row_unit for column in columns])
    mark = ";" if is_german else random.choice(",;\t")
    texts = [
        [cell.replace(".", ",") if is_german and row and cell[:1].isdigit() else cell for cell in cells]
        for row, cells in enumerate(rows)
    ]
    return Table("\n".join(mark.join(cells) for cells in texts) + "\n", truth, columns, names)


def written(random: Random, quantity: str, values: Any, *, has_row: bool, may_be_unclear: bool) -> Column:
    """Return a column of a quantity: the unit in the header, the row of units, each cell, or nowhere."""
    if may_be_unclear and random.random() < 0.25:
        scale = random.choice(list(UNCLEAR))
        return Column(random.choice(UNCLEAR[scale]), "", shown(values / scale), quantity, is_clear=False)
    scale = random.choice(list(UNITS[quantity]))
    unit, word = random.choice(UNITS[quantity][scale]), random.choice(WORDS[quantity])
    numbers = shown(values / scale)
    way = random.random()
    if has_row and way < 0.6:
        return Column(word, random.choice([unit, f"[{unit}]"]), numbers, quantity)
    if way < 0.75:
        form = random.choice(["{} ({})", "{} [{}]", "{} in {}", "{}_{}", "{}/{}"] if " " not in unit else ["{} ({})"])
        form = "{} ({})" if form == "{}_{}" and unit in {"bytes", "FLOP"} else form
        return Column(form.format(word, unit), "", numbers, quantity)
    if way < 0.9:
        return Column(word, "", [with_unit(random, quantity, value) for value in values], quantity)
    if quantity in IN_BASE_UNITS and way < 0.95:
        return Column(random.choice(IN_BASE_UNITS[quantity]), "", shown(values), quantity)
    unknown = [word for word in WORDS[quantity] if word not in {"rate", *IN_BASE_UNITS.get(quantity, ())}]
    # Every word of an intensity is in base units.
    return Column(random.choice(unknown or [word]), "", numbers, quantity, is_clear=not unknown)


def with_unit(random: Random, quantity: str, value: float) -> str:
    """Return a cell with a unit of its own."""
    scale = random.choice(list(UNITS[quantity]))
    return shown([value / scale])[0] + random.choice(["", " "]) + random.choice(UNITS[quantity][scale])


def shown(values: Any) -> list[str]:
    return [f"{value:.{DIGITS}g}" if value < 10**DIGITS else f"{value:.0f}" for value in values]


def check(table: Table, kernels: rw.Kernels) -> None:
    """Raise an AssertionError if a number is neither the truth nor unknown, or a name is another."""
    assert kernels.names.tolist() == (table.names or [f"row {row + 1}" for row in range(len(kernels))])
    found = {
        "flops": kernels.flops,
        "bytes": kernels.bytes,
        "time": kernels.time,
        "intensity": kernels.arithmetic_intensity,
        "rate": kernels.achieved,
    }
    for quantity, numbers in found.items():
        known = ~np.isnan(numbers)
        np.testing.assert_allclose(numbers[known], table.truth[quantity][known], rtol=1e-6, err_msg=quantity)
    assert kernels.count.tolist() == [1] * len(kernels)


def check_complete(table: Table, kernels: rw.Kernels) -> None:
    """Raise an AssertionError if an amount is unknown that columns with a clear unit give."""
    known = {column.quantity for column in table.columns if column.quantity and column.is_clear}
    relations = [("flops", "time", "rate"), ("flops", "bytes", "intensity"), ("bytes", "time", "bandwidth")]
    for _ in range(3):
        for parts in relations:
            if len(known.intersection(parts)) == 2:
                known.update(parts)
    found = {"flops": kernels.flops, "bytes": kernels.bytes, "time": kernels.time}
    found |= {"intensity": kernels.arithmetic_intensity, "rate": kernels.achieved}
    for quantity in known - {"bandwidth"}:
        assert not np.isnan(found[quantity]).any(), quantity


def advice(message: str) -> list[dict[str, Any]]:
    """Return what a message proposes, as Python reads it."""
    return [ast.literal_eval(text) for text in re.findall(r"columns=(\{.*?\})", message)]


def is_for(table: Table, columns: dict[str, Any]) -> bool:
    """Return whether a proposed answer is the one of this table: a count for a count, a rate for a rate."""
    quantities = {column.header: column.quantity for column in table.columns}
    for field, given in columns.items():
        is_asked = field != "name" and quantities.get(given[0]) in {"flops", "rate"} and given[1] != "\u2026"
        if is_asked and given[1].endswith("/s") != (quantities[given[0]] == "rate"):
            return False
    return True


def obeyed(table: Table, message: str) -> int:
    """Read the table again with each answer that a message proposes, and return how many were read."""
    read = 0
    for columns in filter(lambda columns: is_for(table, columns), advice(message)):
        headers = {column.header for column in table.columns} | {"\u2026"}
        assert {given if isinstance(given, str) else given[0] for given in columns.values()} <= headers
        try:
            kernels = rw.read(table.text.encode(), columns=columns)
        except rw.ProfileError as error:
            if "\u2026" not in str(columns) and "no column" not in str(error):
                raise
            continue
        if table.names or "name" not in columns:
            check(table, kernels)
        read += 1
    return read


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_read_of_any_table_is_the_truth_or_unknown_and_obeying_the_advice_too(part: int) -> None:
    random = Random(part)  # noqa: S311 - tables, not secrets
    read = asked = helped = 0
    for _ in range(TABLES // PARTS):
        table = made(random)
        try:
            kernels = rw.read(table.text.encode(), "table")
        except rw.ProfileError as error:
            asked += 1
            helped += obeyed(table, str(error))
            continue
        check(table, kernels)
        check_complete(table, kernels)
        read += 1
        for warning in kernels.warnings:
            helped += obeyed(table, warning)
    assert math.fsum((read, asked)) == TABLES // PARTS
    assert read > TABLES // PARTS // 2
    assert helped > 0
