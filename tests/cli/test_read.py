"""`roofwidget read`: how a file is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from roofwidget.cli import main
from tests.places import FIXTURES, write

Capture = pytest.CaptureFixture[str]
TABLE = "kernel,GFLOP,time [ms],calls,grid\nfirst,2,1,8,1x1\nsecond,,3,1,2x2\nthird,1,,1,4x4\n"


def said_of(path: Path, capsys: Capture, *options: str) -> list[str]:
    assert main(["read", str(path), *options]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "mine.csv", TABLE)


def test_each_field_says_how_many_rows_have_it_and_where_it_came_from(table: Path, capsys: Capture) -> None:
    lines = said_of(table, capsys)
    assert lines[0] == f"{table}: format 'table', 3 rows, the file names no chip"
    fields = dict(re.split(r"  +", line, maxsplit=1) for line in lines[3 : lines.index("", 3)])
    assert fields["flops"].split(maxsplit=3) == ["2", "of", "3", '"GFLOP" x 1000000000']
    assert fields["bytes"].split(maxsplit=1) == ["none", "not in the file"]
    assert fields["time"].split(maxsplit=3) == ["2", "of", "3", '"time [ms]" x 0.001']
    assert fields["extra"].split(maxsplit=2) == ["1", "column", "grid"]
    assert re.split(r"  +", lines[-3].strip()) == [
        "0",
        "first",
        "2 GFLOP",
        "unknown",
        "unknown",
        "2 TFLOP/s",
        "1 ms",
        "8",
    ]


def test_as_many_rows_as_asked_are_printed_and_the_rest_is_counted(table: Path, capsys: Capture) -> None:
    lines = said_of(table, capsys, "--rows", "1")
    assert lines[-1] == "… and 2 more"
    assert not any("second" in line for line in lines)


def test_a_chip_and_the_rules_of_a_tool_are_named(capsys: Capture) -> None:
    text = "\n".join(said_of(FIXTURES / "ncu" / "two_kernels.ncu-rep", capsys))
    assert "format 'ncu', 2 rows, ran on NVIDIA A100-PCIE-40GB" in text
    assert "gpu__time_duration" in text


def test_the_rule_of_the_bytes_of_main_memory_is_named(tmp_path: Path, capsys: Capture) -> None:
    text = "name,iterations,real_time,cpu_time,time_unit,bytes_per_second\ncopy,1000,50,50,ns,4.096e10\n"
    lines = said_of(write(tmp_path / "bench.csv", text), capsys)
    assert any(re.match(r" *bytes +all +\S*bytes_per_second", line) for line in lines), lines


def test_the_readers_warnings_are_at_the_end(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path / "question.csv", "kernel,bytes,GFLOPS\na,8,3\n")
    lines = said_of(path, capsys)
    assert lines[-2] == "1 warning:"
    assert "'GFLOPS'" in lines[-1]
    assert "a count or a rate?" in lines[-1]


def test_as_json_it_is_the_whole_table_in_base_units(table: Path, capsys: Capture) -> None:
    found = json.loads("\n".join(said_of(table, capsys, "--json")))
    assert (found["names"], found["time"]) == (["first", "second", "third"], [0.001, 0.003, None])
    assert found["read_as"]["format"] == "table"


def test_what_cannot_be_read_says_why_in_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path / "notes.txt", "hello\n")
    assert main(["read", str(path)]) == 2
    assert main(["read", str(path), "--rows", "-1"]) == 2
    assert "begins with 'hello" in capsys.readouterr().err


def test_the_messages_of_collectives_are_a_table(capsys: Capture, tmp_path: Path) -> None:
    about = {"Collective name": "allreduce", "In msg nelems": 1_000_000, "Out msg nelems": 1_000_000}
    args = {**about, "Group size": 8, "dtype": "Float", "device": 0, "stream": 9}
    event = {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": 1, "dur": 100}
    trace = json.dumps({"schemaVersion": 1, "traceEvents": [{**event, "args": args}]})
    assert main(["read", str(write(tmp_path / "trace.json", trace))]) == 0
    said = capsys.readouterr().out
    # 4 MB in 100 us, of which a rank sends 2 x 7 / 8.
    assert "all-reduce  8      4 MB  1      100 µs     70 GB/s" in said
