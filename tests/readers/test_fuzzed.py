"""Defects that fuzzing found in the readers, each with its smallest input."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import roofwidget as rw
from tests.places import FIXTURES
from tests.processes import memory_below


def zipped(data: bytes) -> bytearray:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", data)
    return bytearray(buffer.getvalue())


def test_an_archive_that_lost_bytes_in_its_middle_is_damaged() -> None:
    data = zipped(b"name,flops,bytes,time\na,1,2,3\n")
    del data[20:60]
    with pytest.raises(rw.ProfileError, match="damaged"):
        rw.read(bytes(data))


def test_one_long_cell_does_not_take_its_room_in_every_row() -> None:
    rows = "".join(f"{row},gemm,{row}00,{row}70\n" for row in range(1, 400))
    data = f"Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n{rows}999,gemm,{'[' * 100_000},7\n".encode()
    with memory_below(16 * 2**20), pytest.raises(rw.ProfileError, match="Start_Timestamp"):
        rw.read(data)


def test_thousands_of_zeros_before_a_number_change_nothing() -> None:
    rows = f"1,gemm,{'0' * 5000}7,9.5\n"
    data = f"Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n{rows}".encode()
    assert rw.read(data).time.tolist() == [2.5e-9]


def test_the_error_for_a_long_value_fits_on_a_screen() -> None:
    with pytest.raises(rw.ProfileError) as caught:
        rw.read(b"op" + b"x" * 10**5 + b",gflop" + b"y" * 10**5 + b"\na,1\n")
    assert len(str(caught.value)) < 2000


def test_a_damaged_stream_within_a_stream_is_damaged() -> None:
    data = gzip.compress(gzip.compress(b"name,flops\na,1\n" * 5000)[:-20])
    with pytest.raises(rw.ProfileError, match="damaged or incomplete"):
        rw.read(data)


LONG = 60_000
"""A regular expression that searches on from each of so many letters takes many seconds."""


def seconds_of(read: Callable[[], object]) -> float:
    """Return the computing time of a call that may refuse its input."""
    start = time.process_time()
    with suppress(rw.ProfileError):
        read()
    return time.process_time() - start


@pytest.mark.parametrize(
    "run", ["[" * LONG, "(" * LONG, "[]" * LONG, " " * LONG, "_" * LONG, "(" + " " * LONG], ids=len
)
def test_a_column_with_a_very_long_name_takes_little_time(run: str) -> None:
    table = f"name,flops,bytes,time,a{run}x\nk,1e9,1e6,1e-3,1\n".encode()
    assert seconds_of(lambda: rw.read(table)) < 1
    assert seconds_of(lambda: rw.read(f"op{run}x,{run}GFLOP\nk,1\n".encode())) < 1


@pytest.mark.parametrize("name", ["ceilings/likwid_bench.txt", "rocprof/results.csv", "rocprof/gfx942/sysinfo.csv"])
def test_a_profile_with_very_many_brackets_takes_little_time(name: str) -> None:
    data = (FIXTURES / name).read_bytes()
    for data_ in (data[:50] + b"[" * 100_000 + data[50:], data.replace(b"1", b"[" * 100_000, 1)):
        assert seconds_of(functools.partial(rw.read, data_)) < 1
        assert seconds_of(functools.partial(rw.read, data_, "table")) < 1


def test_a_processor_whose_name_is_very_many_spaces_takes_little_time() -> None:
    data = (FIXTURES / "ceilings/likwid_bench.txt").read_bytes()
    assert seconds_of(lambda: rw.read(b"CPU name:" + b" " * LONG + b"\n" + data)) < 1


def cells(header: str, row: str) -> bytes:
    return f"{header}\n{row}\n".encode()


def of_json(name: str, change: Callable[[Any], object]) -> bytes:
    """Return a fixture after a change of its document."""
    document = json.loads((FIXTURES / name).read_bytes())
    change(document)
    return json.dumps(document).encode()


def with_cell(row: int, column: str, value: object) -> Callable[[Any], object]:
    """Return the change of a cell of an XProf table, by its row from 1."""

    def change(document: Any) -> None:
        ids = [one["id"] for one in document[0]["cols"]]
        document[0]["rows"][row - 1]["c"][ids.index(column)]["v"] = value

    return change


def with_value(key: str, value: object, row: int | None = None) -> Callable[[Any], object]:
    """Return the change of a value of the command line's JSON: of an operation by its row from 1, or of the program."""

    def change(document: Any) -> None:
        (document["program"] if row is None else document["top_operations"][row - 1])[key] = value

    return change


_ROCPROF = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp"
_CARM = "Date,Method,Name,ISA,Precision,Threads,AI,Gflops,Bandwidth,Time"
_CLI = "xprof_calls.cli_roofline.json"


@pytest.mark.parametrize(
    ("data", "row", "column"),
    [
        (cells(f"{_ROCPROF},SQ_INSTS_VALU_MFMA_MOPS_F16", "1,k,10,20,1e308"), 2, "SQ_INSTS_VALU_MFMA_MOPS_F16"),
        (cells("Index,KernelName,DurationNs,FETCH_SIZE,WRITE_SIZE", "0,k,9,1e307,2"), 2, "FETCH_SIZE"),
        (cells(f"{_ROCPROF},Counter_Name,Counter_Value", "1,k,1,2,SQ_WAVES,1e308"), 2, "Counter_Value"),
        (cells(_CARM, "2025,PMU,a,,dp,8,0.25,1e308,80.0,1.5"), 2, "Gflops"),
        (cells(_CARM, "2025,PMU,a,,dp,8,0,0,1e300,1.5"), 2, "Bandwidth"),
        (cells(_CARM, "2025,PMU,a,,dp,8,1e-300,1e50,80.0,1.5"), 2, "AI"),
        (of_json("xprof_tpu.roofline_model.json", with_cell(2, "optimal_flop_rate", 1e308)), 2, "optimal_flop_rate"),
        (of_json("xprof_tpu.roofline_model.json", with_cell(2, "measured_flop_rate", 1e306)), 2, "measured_flop_rate"),
        (of_json(_CLI, with_value("optimal_flop_rate_gflops", 1e308, 2)), 2, "optimal_flop_rate_gflops"),
        (of_json(_CLI, with_value("compute_efficiency_percent", "1e305%", 2)), 2, "compute_efficiency_percent"),
        (
            of_json(
                _CLI,
                lambda d: d["top_operations"][0].update(
                    compute_efficiency_percent="90%", operational_intensity_flop_per_byte=1e-305
                ),
            ),
            1,
            "operational_intensity_flop_per_byte",
        ),
        (of_json(_CLI, with_value("max_mem_bw_utilization_percent", "1e305%", 2)), 2, "max_mem_bw_utilization_percent"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_number_whose_amount_is_too_large_is_named_by_row_and_column(data: bytes, row: int, column: str) -> None:
    with pytest.raises(rw.ProfileError) as caught:
        rw.read(data)
    assert (caught.value.row, caught.value.column) == (row, column)


@pytest.mark.parametrize("key", ["model_flop_rate_gflops", "hbm_bw_gibs"])
def test_a_rate_of_the_program_that_is_too_large_is_named_by_its_key(key: str) -> None:
    with pytest.raises(rw.ProfileError, match=f"'program', key '{key}': the number is too large"):
        rw.read(of_json(_CLI, with_value(key, 1e308)))


def test_rates_by_shares_that_imply_no_peak_have_no_chip() -> None:
    data = (FIXTURES / "xprof_gpu.roofline_model.csv").read_text("utf-8")
    header, *rows = csv.reader(io.StringIO(data))
    at, of_peak = (header.index(word) for word in ("Normalized FLOP Rate (GFLOP/s)", "FLOP Rate / Peak (%)"))
    for row in rows:
        row[at], row[of_peak] = "1e280", "5e-300"
        row[header.index("Total Time (us)")] = "1e-200"
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    assert rw.read(text.getvalue().encode()).chip is None


def test_a_peak_that_no_hardware_has_is_a_damaged_profile() -> None:
    data = of_json(_CLI, lambda document: document["device_info"].update(peak_flop_rate="1e308"))
    with pytest.raises(rw.ProfileError, match="properties of the device"):
        rw.read(data)


def test_a_clock_that_no_hardware_has_is_a_damaged_report() -> None:
    data = (FIXTURES / "ncu/wide_automatic.csv").read_bytes()
    assert rw.read(data).chip is not None
    assert data.count(b'"1410000"') > 0
    with pytest.raises(rw.ProfileError, match=r"metrics of the clocks and peaks: .* which all hardware is"):
        rw.read(data.replace(b'"1410000"', b'"9999999999999999999"'))


@pytest.mark.parametrize(
    "title", ["Group {}: MEM_DP", "TABLE,Group {} Metric,MEM_DP,3,", "TABLE,Group 1 Metric,MEM,{},"]
)
def test_a_title_of_likwid_with_a_number_of_thousands_of_digits_is_refused_by_its_line(title: str) -> None:
    lines = (FIXTURES / "ceilings/likwid_turns.txt").read_text("utf-8").split("\n")
    at = next(at for at, line in enumerate(lines) if "Group 1" in line)
    lines[at] = title.format("7" * 5000)
    with pytest.raises(rw.ProfileError, match=f"line {at + 1}: a title with a number of 5,000 digits"):
        rw.read("\n".join(lines).encode())
