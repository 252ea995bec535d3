"""Damaged, incomplete, oversized and wrong files: each format gives one error with the file's name."""

from __future__ import annotations

import gzip
import io
import json
import random
from importlib import import_module
from typing import Any, Final

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import roofwidget as rw
from roofwidget.readers import FORMATS, ProfileError
from roofwidget.readers.input import archives
from tests.places import FIXTURES
from tests.processes import memory_below

RECORDS: Final = [{"kernel": "a", "flops": 1, "bytes": 2, "time": 3}] * 3
BOMB: Final = 2**25
LIMIT: Final = 2**22


def parquet() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), buffer)
    return buffer.getvalue()


def twins() -> dict[str, bytes]:
    """Return a file of each format, by reader and file name."""
    folders = {
        "xprof_*.json": "xprof",
        "xprof_*.csv": "xprof",
        "ceilings/*.*": "ceilings",
        "rocprof/**/*.csv": "rocprof",
    }
    found = {f"{word} {path.name}": path.read_bytes() for glob, word in folders.items() for path in FIXTURES.glob(glob)}
    rows = "".join(f"kernel {row},{row}e9,{row}e6,{row}.5\n" for row in range(40))
    found["table CSV"] = f"kernel,flops,bytes,time (us)\n{rows}".encode()
    return found | {"table JSON": json.dumps(RECORDS).encode(), "table Parquet": parquet()}


TWINS: Final = twins()


def refused(data: bytes, **options: Any) -> str:
    """Return the error message for the file; empty if the file could be read."""
    try:
        rw.read(data, **options)
    except ProfileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", TWINS)
def test_a_file_cut_off_anywhere_is_read_or_refused_by_its_name(name: str) -> None:
    data = TWINS[name]
    said = [refused(data[: len(data) * part // 30]) for part in range(30)]
    assert "the file is empty" in said[0]
    assert all(not text or text.startswith("buffer: ") for text in said)


def rows_of(kernels: rw.Kernels) -> list[tuple[object, ...]]:
    """Return the names, seconds, FLOPs and bytes of the rows, without what is unknown."""
    amounts = [*kernels.flops_by_precision.items(), *kernels.bytes_by_level.items(), ("time", kernels.time)]
    return [
        (name, *((key, float(column[row])) for key, column in amounts if column[row] == column[row]))
        for row, name in enumerate(kernels.names)
    ]


NO_FILE_OF_A_TOOL: Final = ("table CSV", "table JSON", "table Parquet", "rocprof sysinfo.csv")
FILES_OF_TOOLS: Final = {name: data for name, data in TWINS.items() if name not in NO_FILE_OF_A_TOOL} | {
    f"{folder} {path.name}": path.read_bytes()
    for folder in ("ncu", "torch")
    for path in (FIXTURES / folder).rglob("*.*")
    if path.is_file()
}


@pytest.mark.parametrize("name", FILES_OF_TOOLS)
def test_a_file_of_a_tool_cut_off_within_a_line_gives_all_rows_a_warning_or_an_error(name: str) -> None:
    data = FILES_OF_TOOLS[name]
    whole = rw.read(data) if not refused(data) else None
    if whole is None:
        return
    chance = random.Random(name)  # noqa: S311 - not for security
    within = [end for end in range(1, len(data)) if data[end - 1] not in b"\r\n" and data[end] not in b"\r\n"]
    for end in chance.sample(within, min(len(within), 80)):
        if refused(data[:end]):
            continue
        kernels = rw.read(data[:end])
        assert set(kernels.warnings) - set(whole.warnings) or rows_of(kernels) == rows_of(whole), end


@pytest.mark.parametrize("name", TWINS)
def test_a_file_with_changed_bytes_is_read_or_refused_by_its_name(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 - not for security
    for _ in range(40):
        data = bytearray(TWINS[name])
        for _ in range(chance.choice([1, 3])):
            data[chance.randrange(len(data))] = chance.choice(b'\x00\xff"0-9,{}[]\n e.nN')
        said = refused(bytes(data))
        assert not said or said.startswith("buffer: ")


@pytest.mark.parametrize("name", TWINS)
def test_a_file_read_as_that_of_another_tool_is_read_or_refused_by_its_name(name: str) -> None:
    formats = [import_module(module).FORMAT for module in FORMATS]
    said = {word: refused(TWINS[name], format=word) for word in formats if word != "xplane"}
    assert all(not text or text.startswith("buffer: ") for text in said.values())
    assert sum(map(bool, said.values())) >= len(said) - 3


@pytest.mark.parametrize("name", [name for name in TWINS if not name.endswith(("Parquet", "sysinfo.csv"))])
def test_a_file_that_unpacks_to_far_more_than_it_is_ends_within_little_memory(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_MAX_UNPACKED_BYTES", LIMIT)
    data = TWINS[name]
    bomb = gzip.compress(data[:-1] + b" " * BOMB + data[-1:])
    with memory_below(8 * LIMIT):
        assert "unpacks to more than" in refused(bomb)


# The last name is the first one again.
GVIZ_COLUMNS: Final = ("roofline_efficiency", *(str(number % 99_999) for number in range(100_000)))


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        (b"kernel,flops" + b",x" * 10**6 + b"\na,1\n", 2**28),
        (b"Date,Method,Name,ISA,Precision,Threads,AI,Gflops,Bandwidth,Time" + b",x" * 10**6 + b"\n", 2**28),
        (b"Kernel_Name,GRBM_COUNT" + b",x" * 10**6 + b"\na,1\n", 2**28),
        (b'"Step","Operation","Roofline efficiency (%)","Include Infeed/Outfeed"' + b",x" * 10**6 + b"\n", 2**28),
        # JSON takes more time for each column: fewer columns, and less memory.
        (json.dumps([{"kernel": "a", "flops": 1} | dict.fromkeys(map(str, range(20_000)), 0)]).encode(), 2**26),
        (json.dumps([{"cols": [{"id": name} for name in GVIZ_COLUMNS], "rows": []}]).encode(), 2**28),
    ],
    ids=["table", "CARM", "rocprof", "XProf CSV", "JSON", "XProf JSON"],
)
def test_very_many_columns_are_one_error_within_little_memory(data: bytes, limit: int) -> None:
    with memory_below(limit):
        assert refused(data).startswith("buffer: ")
