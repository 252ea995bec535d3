"""Defects that fuzzing found in the readers, each with its smallest input."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile

import pytest

import roofwidget as rw


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
    tracemalloc.start()
    try:
        with pytest.raises(rw.ProfileError, match="Start_Timestamp"):
            rw.read(data)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


def test_a_number_with_thousands_of_zeros_before_it_is_refused_by_its_row() -> None:
    rows = f"1,gemm,{'0' * 5000}7,9.5\n"
    data = f"Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n{rows}".encode()
    with pytest.raises(rw.ProfileError, match="End_Timestamp"):
        rw.read(data)


def test_the_error_for_a_long_value_fits_on_a_screen() -> None:
    with pytest.raises(rw.ProfileError) as caught:
        rw.read(b"op" + b"x" * 10**5 + b",gflop" + b"y" * 10**5 + b"\na,1\n")
    assert len(str(caught.value)) < 2000


def test_a_damaged_stream_within_a_stream_is_damaged() -> None:
    data = gzip.compress(gzip.compress(b"name,flops\na,1\n" * 5000)[:-20])
    with pytest.raises(rw.ProfileError, match="damaged or incomplete"):
        rw.read(data)
