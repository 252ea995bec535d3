"""Tables of any origin: CSV, Parquet, JSON records, data frames and lists, in plain words or a known tool's."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from roofwidget.readers.input.source import Source
from tests.places import golden
from tests.real_files import real_file
from tests.tables import has_columns, lists, warns

NAN = math.nan
COLUMNS = {"kernel": ["matmul", "copy"], "flops": [4.3e9, 0.0], "bytes": [1.2e7, 8e6], "time (us)": [31.0, 4.0]}
SAME = rw.Kernels(["matmul", "copy"], [4.3e9, 0], [1.2e7, 8e6], time=[31e-6, 4e-6])


def csv(*rows: str) -> bytes:
    return "\n".join([*rows, ""]).encode()


def counts(kernels: rw.Kernels) -> list[Any]:
    return [kernels.names.tolist(), kernels.flops.tolist(), kernels.bytes.tolist(), kernels.time.tolist()]


def as_parquet(_: Path) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), buffer)
    return buffer.getvalue()


FORMS: dict[str, Any] = {
    "CSV": csv("kernel,flops,bytes,time (us)", "matmul,4.3e9,12000000,31", "copy,0,8e6,4"),
    "CSV with banner": csv(
        "# run 7", "", "kernel;flops;bytes;time (us)", "matmul;4,3e9;12.000.000;31", "copy;0;8e6;4,0"
    ),
    "gzip": gzip.compress(csv("kernel,flops,bytes,time (us)", "matmul,4.3e9,12000000,31", "copy,0,8e6,4")),
    "pandas": pd.DataFrame(COLUMNS, index=[7, 7]),
    "polars": pl.DataFrame(COLUMNS),
    "Arrow": pa.table(COLUMNS),
    "mapping": COLUMNS,
    "dicts": [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
    "JSON": json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]).encode(),
    "Parquet": as_parquet(Path()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_reads_the_same_in_every_form(form: str) -> None:
    kernels = read(FORMS[form])
    assert counts(kernels) == counts(SAME)
    assert kernels.origin["time"].tolist() == ['"time (us)" x 1e-06'] * 2


@pytest.mark.parametrize(
    "given",
    [[("matmul", 4.3e9, 1.2e7, 31e-6), ("copy", 0, 8e6, 4e-6)], list(SAME), [{"name": "a", "flops": "1 GFLOP"}]],
)
def test_lists_of_kernels_tuples_and_dicts_of_keywords_are_tables(given: Any) -> None:
    assert read(given) == rw.Kernels.from_records(given)


@pytest.mark.parametrize(
    ("header", "field", "expected"),
    [
        ("duration_ns", "time", 31e-9),
        ("Duration [ms]", "time", 31e-3),
        ("latency (seconds)", "time", 31),
        ("Kernel Time (µs)", "time", 31e-6),
        ("total time", "time", 31),
        ("self_time_us", "self_time", 31e-6),
        ("bytes accessed (MB)", "bytes", 31e6),
        ("DRAM bytes", "bytes", 31),
        ("traffic [MiB]", "bytes", 31 * 2**20),
        ("FLOPs (GFLOP)", "flops", 31e9),
        ("flops:FP8", "flops", 31),
        ("calls", "count", 31),
    ],
)
def test_plain_words_with_units_are_understood(header: str, field: str, expected: float) -> None:
    more = "" if field in {"time", "bytes", "flops"} else ",time"
    kernels = read(csv(f"Kernel Name,{header}{more}", f"a,31{',100' if more else ''}"))
    assert getattr(kernels, field).tolist() == pytest.approx([expected], rel=1e-15)


def test_bytes_by_level_and_flops_by_precision_keep_their_keys() -> None:
    kernels = read(csv("name,flops:fp16,bytes:L2,HBM bytes,precision,type", "a,1,2,3,FP16,dot"))
    assert dict(kernels.flops_by_precision).keys() == {"fp16"}
    assert lists(kernels.bytes_by_level) == {"L2": [2], "HBM": [3]}
    has_columns(kernels, precision=["fp16"], category=["dot"])


@pytest.mark.parametrize("word", ["GFLOPs", "gflops", "Achieved TFLOPS", "speed (MFLOPS)"])
def test_a_word_that_may_be_a_rate_or_a_count_is_not_guessed_but_asked_about(word: str) -> None:
    kernels = read(csv(f"name,{word},time", "a,5,1"))
    assert np.isnan(kernels.flops).all()
    assert kernels.extra[word].tolist() == [5]
    (said,) = kernels.warnings
    unit = next(f"{prefix}FLOP" for prefix in "GTM" if prefix in word.upper().replace("FLOPS", "")[-2:])
    assert said.startswith(
        f"'{word}' is not used: a count or a rate? pass columns={{'flops': ('{word}', '{unit}')}}, or "
    )
    assert read(csv(f"name,{word},time", "a,5,1"), columns={"flops": (word, f"{unit}/s")}).warnings == ()


@pytest.mark.parametrize(
    ("word", "field", "expected"),
    [
        ("TFLOP/s", "flops", 3e12 * 2),
        ("gflops/s", "flops", 3e9 * 2),
        ("GB/s", "bytes", 3e9 * 2),
        ("GiB/s", "bytes", 3 * 2**30 * 2),
        ("GFLOP", "flops", 3e9),
    ],
)
def test_a_column_that_is_called_by_its_unit_alone_is_used(word: str, field: str, expected: float) -> None:
    kernels = read(csv(f"name,time,{word}", "a,2,3"))
    assert getattr(kernels, field).tolist() == [expected]
    assert kernels.warnings == ()


def test_times_may_be_called_by_their_unit_alone_and_rates_need_one() -> None:
    kernels = read(csv("kernel,flops,GB/s,ms", "a,1,4,500"))
    has_columns(kernels, time=[0.5], bytes=[2e9])
    kernels = read(csv("kernel,flops,GB/s", "a,1,4"))
    assert kernels.warnings == ("'GB/s' is not used: it is a rate, and there is no column of seconds",)


@pytest.mark.parametrize("word", ["gbps", "mb", "Memory Throughput (GB/s)"])
def test_what_may_be_other_bytes_than_those_moved_is_asked_about(word: str) -> None:
    kernels = read(csv(f"name,time,{word}", "a,2,3"))
    assert np.isnan(kernels.bytes).all()
    assert kernels.warnings[0].startswith(f"'{word}' is not used: if it is the bytes that the kernel moves, pass col")


def test_units_beside_a_column_that_tells_the_same_are_no_matter() -> None:
    kernels = read(csv("name,time,flops,bytes,GFLOPs,GB/s,ms", "a,2,3e9,4e9,1.5,2,2000"))
    assert (kernels.flops.tolist(), kernels.bytes.tolist(), kernels.warnings) == ([3e9], [4e9], ())


def test_other_columns_of_numbers_and_texts_are_kept() -> None:
    kernels = read(csv("name,time,grid,stream,empty", "a,1,4x4,7,", "b,2,,8.5,"))
    assert dict(kernels.extra).keys() == {"grid", "stream"}
    has_columns(kernels, extra={"grid": ["4x4", None], "stream": [7, 8.5]})
    frame = pd.DataFrame({"name": ["a"], "time": [1], "hot": [True], "when": [pd.Timestamp(0)], "ids": [[1, 2]]})
    assert lists(read(frame).extra) == {"hot": [1]}


def test_columns_are_named_by_the_user_with_their_units() -> None:
    data = csv("what,work,rate,span", "a,3,2,10")
    kernels = read(
        data,
        columns={"name": "what", "flops": ("work", "GFLOP"), "bytes:HBM": ("rate", "GB/s"), "time": ("span", "ms")},
    )
    has_columns(kernels, flops=[3e9], time=[0.01], bytes_by_level={"HBM": [2e7]})
    assert kernels.origin["bytes:HBM"].tolist() == ['"rate" x 1000000000 x time']


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"flop": "work"}, TypeError, "columns has no keyword 'flop'; did you mean 'flops'"),
        ({"flops": "wrok"}, ValueError, "the table has no column 'wrok'; did you mean 'work'"),
        ({"flops": ("work", "GB")}, ValueError, "the unit of column 'work'"),
    ],
)
def test_a_wrong_map_of_columns_names_the_right_word(columns: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read(pd.DataFrame({"name": ["a"], "work": [1]}), columns=columns)


def test_a_table_without_anything_to_show_says_how_to_name_columns() -> None:
    with pytest.raises(ProfileError, match=r"^DataFrame: no column of names and .* among 'a'; name them: columns="):
        read(pd.DataFrame({"a": [1]}))


def test_a_column_of_a_file_that_is_not_there_is_named_with_the_nearest() -> None:
    data = csv("op,gflop,ms", "a,1,2")
    with pytest.raises(
        ProfileError, match=r"^buffer: columns: the table has no column 'gflpo'; did you mean 'gflop'\?$"
    ):
        read(data, columns={"flops": ("gflpo", "GFLOP")})
    with pytest.raises(ProfileError, match=r"no column 'gflpo'; did you mean 'gflop'\?$"):
        read(json.dumps([{"op": "a", "gflop": 1}]).encode(), columns={"flops": "gflpo"})
    with pytest.raises(TypeError, match=r"columns: 'flops' needs a column's name, or a name and a unit .* got 5"):
        read(data, columns={"flops": 5})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("name,time", "a,1", "b,x"), r"buffer: row 3, column 'time': expected a finite number, got 'x'"),
        (("name,time", "a,1", "b,-2"), r"buffer: row 3, column 'time': -2 is negative"),
        (("name,time,count", "a,1,1.5"), r"row 0, column 'count'"),
    ],
)
def test_a_bad_cell_is_refused_by_file_line_and_column(rows: tuple[str, ...], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(csv(*rows))


def test_a_bad_cell_of_a_data_frame_is_refused_by_row_and_column() -> None:
    with pytest.raises(ProfileError, match="row 1, column 'time': 'x' is not a number"):
        read(pd.DataFrame({"name": ["a", "b"], "time": [1, "x"]}))
    with pytest.raises(ProfileError, match="row 1, column 'name': 5 is not text"):
        read(pd.DataFrame({"name": ["a", 5], "time": [1, 2]}))


def test_lines_among_the_rows_are_left_out_and_said() -> None:
    kernels = read(csv("name,time", "a,1", "# step 2, loss 3, 4", "b,2", "done"))
    assert kernels.names.tolist() == ["a", "b"]
    assert kernels.warnings == ("2 lines between the rows skipped: not rows of the table",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("void gemm<128, 64>(int),1e9,2e6,3e-3", "5 cells where the header has 4: quote names that contain ','"),
        ("gemm,1e9,2e6", "3 cells where the header has 4: write empty cells too"),
        ('"gemm,1e9,2e6,3e-3', "1 cell where the header has 4: .*close the quotes"),
    ],
)
@pytest.mark.parametrize("before", [(), ("copy,0,8e6,4e-6",)])
def test_a_row_of_other_cells_than_the_header_is_refused_by_its_line(
    line: str, message: str, before: tuple[str, ...]
) -> None:
    with pytest.raises(ProfileError, match=f"^buffer: row {2 + len(before)}: {message}"):
        read(csv("name,flops,bytes,time", *before, line, "last,1,1,1"))


@pytest.mark.parametrize("rows", [(), ("nothing was measured",)])
def test_a_table_of_which_no_row_was_read_is_an_error(rows: tuple[str, ...]) -> None:
    with pytest.raises(ProfileError, match=r"^buffer: no row under the header, whose columns are 'name', 'time'$"):
        read(csv("name,time", *rows))


def test_a_damaged_parquet_file_is_one_clear_error() -> None:
    data = as_parquet(Path())
    with pytest.raises(ProfileError, match="the Parquet file is damaged: "):
        read(data[:-20])


def test_without_pyarrow_and_polars_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    kernels = read(FORMS["Parquet"])
    assert counts(kernels) == counts(SAME)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"pip install 'pyarrow>=12'"):
        read(FORMS["Parquet"])


def parquet(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def zipped(data: bytes, *more: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kernels.parquet", data)
        for name in more:
            archive.writestr(name, "")
    return buffer.getvalue()


@pytest.fixture(params=["pyarrow", "polars"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the library that reads Parquet."""
    if request.param == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    return str(request.param)


def test_a_panic_of_polars_is_a_damaged_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object) -> None:
        raise pl.exceptions.PanicException("called `unwrap` on nothing\nin a thread")

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(pl, "scan_parquet", panics)
    with pytest.raises(ProfileError, match=r"^buffer: the Parquet file is damaged: called `unwrap` on nothing$"):
        read(FORMS["Parquet"])


def test_a_parquet_file_with_any_byte_changed_is_read_or_refused() -> None:
    buffer = io.BytesIO()
    table = pa.table({"name": ["gemm", "copy", "gelu", "gemm"], "time": [1.0, 2.0, 3.0, 4.0]})
    pq.write_table(table, buffer, compression="none", write_statistics=False, store_schema=False)
    data = buffer.getvalue()

    def refused(at: int, byte: int) -> bool:
        try:
            read(data[:at] + bytes([byte]) + data[at + 1 :])
        except ProfileError:
            return True
        return False

    assert {refused(at, byte) for at in range(len(data)) for byte in (3, 0xFF)} == {True, False}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("pack", [gzip.compress, zipped])
def test_a_parquet_file_is_read_from_a_compressed_file(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "kernels.packed"
    path.write_bytes(pack(as_parquet(Path())))
    assert counts(read(path)) == counts(SAME)


@pytest.mark.usefixtures("library")
def test_a_parquet_file_in_an_archive_of_several_files_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kernels.zip"
    path.write_bytes(zipped(as_parquet(Path()), "notes.txt"))
    assert counts(read(Source.of(path).members()["kernels.parquet"])) == counts(SAME)


@pytest.mark.usefixtures("library")
def test_columns_of_parquet_of_every_type_are_numbers_texts_or_named_as_unused() -> None:
    given = parquet(
        {
            "kernel": pa.array(["a", "b", None]).dictionary_encode(),
            "flops": pa.array([1, None, 3], pa.int64()),
            "dram": pa.array([[1], [2, 3], []]),
            "dram.bytes": [1.5, 2.5, 3.5],
            "on": [True, False, None],
            "start": pa.array([1, 2, 3], pa.timestamp("us")),
            "blob": [b"a", b"b", b"c"],
            "note": pa.array(["x", None, "x"], pa.large_string()),
        }
    )
    kernels = read(given, columns={"bytes": "dram.bytes"})
    has_columns(
        kernels,
        names=["a", "b", ""],
        flops=[1, NAN, 3],
        bytes=[1.5, 2.5, 3.5],
        extra={"on": [1, 0, NAN], "note": ["x", None, "x"]},
    )
    assert "columns not used: dram, start, blob" in kernels.warnings
    with pytest.raises(ProfileError, match=r"column 'dram': a cell of type [Ll]ist.* is not a number"):
        read(given, columns={"bytes": "dram"})


@pytest.mark.usefixtures("library")
def test_a_parquet_file_without_numbers_and_texts_says_so() -> None:
    with pytest.raises(ProfileError, match="a Parquet file without a column of numbers or texts"):
        read(parquet({"name": [[1]], "time": [[2.0]]}))


@pytest.mark.usefixtures("library")
def test_the_cells_of_a_parquet_file_are_counted_over_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofwidget.readers.tables.parquet._BATCH_CELLS", 40)
    monkeypatch.setattr("roofwidget.readers.tables.parquet._MAX_CELLS", 400)
    assert len(read(parquet({"name": ["k"] * 100, "flops": [1] * 100, "bytes": [2] * 100, "time": [1.0] * 100}))) == 100
    with pytest.raises(ProfileError, match="a Parquet file of more than 400 cells"):
        read(parquet({"name": ["k"] * 101, "flops": [1] * 101, "bytes": [2] * 101, "time": [1.0] * 101}))


@pytest.mark.usefixtures("library")
def test_the_bytes_of_a_parquet_file_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofwidget.readers.tables.parquet._MAX_BYTES", 2**12)
    with pytest.raises(ProfileError, match=r"a Parquet file of more than .* of cells"):
        read(parquet({"name": [f"{row}" + "x" * 100 for row in range(100)], "time": [1.0] * 100}))


def test_a_nested_column_of_parquet_that_begins_like_another_column_is_refused() -> None:
    given = {"name": ["a"], "time": [1.0], "name.of": pa.array([{"it": 1}])}
    with pytest.raises(
        ProfileError, match=r"column 'name\.of\.it' is neither numbers nor texts, and begins like another"
    ):
        read(parquet(given))


def test_a_parquet_file_with_a_column_twice_or_too_many_columns_is_refused() -> None:
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array([1.0]), pa.array([2.0])], ["name", "time", "time"])
    buffer = io.BytesIO()
    pq.write_table(twice, buffer)
    with pytest.raises(ProfileError, match="the table has column 'time' twice"):
        read(buffer.getvalue())
    with pytest.raises(ProfileError, match="a table of 20,001 columns; the limit is 20,000"):
        read(parquet({str(at): [1] for at in range(20_001)}))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("first", [{"name": "warm-up"}, {"name": "a", "flops": 1.0, "note": "x" * 2**20}])
def test_a_large_list_of_records_is_read_whatever_its_first_record(
    first: dict[str, Any], pack: Callable[[bytes], bytes]
) -> None:
    rows = [first, *({"name": f"k{row}", "flops": 1e9, "time": row + 0.5} for row in range(30_000))]
    assert len(read(pack(json.dumps(rows).encode()), "table")) == len(rows)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("given", [{"kernels": [[1, 2]] * 200_000}, [1.5] * 300_000, [[1, 2]] * 200_000])
def test_large_json_that_is_no_list_of_records_says_what_is_expected(
    given: Any, pack: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(ProfileError, match="expected a list of objects, one per kernel"):
        read(pack(json.dumps(given).encode()), "table")


def test_damaged_json_is_not_called_a_table_without_columns() -> None:
    with pytest.raises(ProfileError, match="line 1, column 18: not JSON: Expecting property name"):
        read(b'[{"name": "a"}, {]', "table")


@pytest.mark.parametrize("line", ["[INFO] start", "[12:00:01] start", "{'batch': 8}"])
def test_a_table_after_a_line_that_begins_like_json_is_read(line: str) -> None:
    assert len(read(csv(line, "name,flops,time", "a,1,2"), "table")) == 1
    with pytest.raises(ProfileError, match="row 3, column 'time'"):
        read(csv(line, "name,flops,time", "a,1,x"), "table")


def test_what_a_table_writes_as_csv_it_reads_again() -> None:
    whole = rw.Kernels(
        ["a", "b"],
        {"": [1, NAN], "fp8": [NAN, 2]},
        {"main": [3, NAN], "L2": [4, 5]},
        time=[1, NAN],
        self_time=[0.5, NAN],
        precision=["fp8", None],
        category=[None, "x"],
        count=[1, 7],
        origin={"flops": ["rule", None], "time": "clock"},
        extra={"shape": ["4x4", None], "occupancy": [0.5, NAN]},
    )
    text = whole.to_dataframe().to_csv(index=False)
    again = read(text.encode())
    for field in ("names", "flops", "bytes", "time", "precision", "category"):
        np.testing.assert_array_equal(getattr(again, field), getattr(whole, field))
    for field in ("flops_by_precision", "bytes_by_level"):
        np.testing.assert_equal(dict(getattr(again, field)), dict(getattr(whole, field)))
    assert again.extra["shape"].tolist() == ["4x4", None]
    assert again.origin["flops"].tolist() == ["rule", None]
    np.testing.assert_array_equal(again.self_time, whole.self_time)
    assert again.count.tolist() == [1, 7]


GUARDED: list[list[str]] = golden("csv_guard.json")["guarded"]


@pytest.mark.parametrize(("text", "guarded"), GUARDED)
def test_a_guarded_text_of_a_saved_csv_comes_back_as_it_was(text: str, guarded: str) -> None:
    cells = {"name": [guarded, "b"], "category": [guarded, ""], "flops": [1, 2], f"{guarded} x": ["-1.5", "2"]}
    for delimiter in ",\t":
        kernels = read(pd.DataFrame(cells).to_csv(index=False, sep=delimiter).encode())
        has_columns(kernels, names=[text, "b"], category=[text, None])
        assert kernels.extra[f"{text} x"].tolist() == [-1.5, 2]


def test_a_guarded_text_that_is_no_text_file_is_left_as_it_is() -> None:
    assert read(pd.DataFrame({"name": ["'=f"], "flops": [1]})).names.tolist() == ["'=f"]


def test_headers_that_differ_only_in_the_guard_stay_apart() -> None:
    kernels = read(csv("name,flops,'=x,=x", "a,1,2,3"))
    assert lists(kernels.extra) == {"'=x": [2], "=x": [3]}


def test_kernels_of_no_bytes_or_next_to_none_stay_and_are_bound_by_compute() -> None:
    kernels = read(csv("kernel,flops,bytes,time", "none,3e12,0,1", "cached,3e12,1e6,1", "copy,0,1e9,1", "noop,0,0,1"))
    np.testing.assert_array_equal(kernels.arithmetic_intensity, [math.inf, 3e6, 0, NAN])
    judged = rw.bound(kernels, rw.Chip("Mine", {"fp32": 1e13}, {"HBM": 1e12}))
    has_columns(
        judged,
        bound_by=["compute", "compute", "HBM", "compute"],
        utilization=pytest.approx([0.3, 0.3, 1e-3, 0], rel=1e-7),
    )


# -- other tools' columns --------------------------------------------------------------------------------------


def tracelens(**more: Any) -> pd.DataFrame:
    """Return a table with a batched product of 4 x 32x16x8 in bf16: 2*4*32*16*8 FLOPs, 2 bytes per element."""
    flops, moved = 2 * 4 * 32 * 16 * 8, 2 * 4 * (32 * 8 + 8 * 16 + 32 * 16)
    return pd.DataFrame(
        {
            "Kernel Time (µs)_sum": [12.5],
            "UID_first": [3],
            "name": ["aten::bmm"],
            "name_count": [5],
            "param: B": [4],
            "Compute Spec": ["matrix_bf16"],
            "Data Moved (MB)_first": [moved / 2**20],
            "GFLOPS_first": [flops / 1e9],
        }
        | more
    )


def test_tracelens_tables_are_of_one_launch_and_their_megabytes_are_mebibytes() -> None:
    kernels = read(tracelens())
    has_columns(
        kernels,
        flops=[5 * 32768],
        bytes=[5 * 7168],
        time=pytest.approx([12.5e-6], rel=1e-15),
        count=[5],
        precision=["bf16"],
        extra={"param: B": [4]},
    )
    assert "compulsory bytes" in kernels.origin["bytes"][0]
    assert warns(kernels, "not measured traffic")


def test_tracelens_tables_with_means_alone_are_added_up() -> None:
    frame = tracelens(**{"Kernel Time (µs)_mean": [2.5]}).drop(columns="Kernel Time (µs)_sum")
    assert read(frame).time.tolist() == pytest.approx([12.5e-6], rel=1e-15)


def test_a_real_table_of_tracelens_comes_out_as_its_own_columns_say() -> None:
    path = real_file("torch/tracelens_h100_bert-small__ref_GEMM.csv")
    kernels, frame = read(path), pd.read_csv(path)
    np.testing.assert_allclose(kernels.arithmetic_intensity, frame["FLOPS/Byte_first"], rtol=1e-12)
    assert kernels.count.tolist()[0] == 17
    assert kernels.flops[0] == pytest.approx(17 * 73_996_800, rel=1e-12)
    assert kernels.bytes[0] == 17 * 814_080


def xprof(*, labels: bool) -> pd.DataFrame:
    """Return a table with a product, an opaque call and the program's row, each with and without infeed."""
    rows = {
        ("Step", "step"): ["Total", "Total", "Total", "0"],
        ("Rank", "rank"): [0.0, 1.0, 2.0, 1.0],
        ("Operation", "operation"): ["Program", "dot.7", "custom-call.2", "dot.7"],
        ("Category", "category"): ["Program", "convolution", "custom-call", "convolution"],
        ("# Occurrences", "occurrences"): [1.0, 4.0, 2.0, 4.0],
        ("Total Time (us)", "total_time"): [900.0, 500.0, 250.0, 500.0],
        ("Total self time (us)", "total_self_time"): [0.0, 400.0, 250.0, 400.0],
        ("Normalized FLOP Rate (GFLOP/s)", "measured_flop_rate"): [1.0, 64.0, 0.0, 64.0],
        ("HBM BW (GiB/s)", "hbm_bw"): [1.0, 512.0, 0.0, 512.0],
        ("Bound by", "bound_by"): ["HBM", "Compute", "Unknown", "Compute"],
    }
    frame = pd.DataFrame({names[not labels]: column for names, column in rows.items()})
    with_infeed = "Include Infeed/Outfeed" if labels else "include_infeed_outfeed"
    return pd.concat([frame.assign(**{with_infeed: value}) for value in (False, True)])


@pytest.mark.parametrize("labels", [True, False])
def test_xprof_tables_are_rates_times_time_without_totals_and_repeats(labels: bool) -> None:  # noqa: FBT001 - parametrised
    for frame in (xprof(labels=labels), xprof(labels=labels).astype(str)):
        kernels = (
            read(frame)
            if pd.api.types.is_float_dtype(frame.dtypes.iloc[1])
            else read(frame.to_csv().encode(), format="table")
        )
        has_columns(
            kernels,
            names=["dot.7", "custom-call.2"],
            flops=pytest.approx([64e9 * 500e-6, NAN], rel=1e-15, nan_ok=True),
            bytes=pytest.approx([512 * 2**30 * 500e-6, NAN], rel=1e-15, nan_ok=True),
            self_time=pytest.approx([400e-6, 250e-6], rel=1e-15),
            count=[4, 2],
        )
        assert kernels.warnings[0].startswith("1 of 2 rows have neither FLOPs nor bytes")


def test_layers_that_fasterbench_does_not_count_are_unknown() -> None:
    frame = pd.DataFrame(
        {
            "bound": ["compute", "undefined"],
            "time_s": [2e-3, 1e-3],
            "name": ["features.0", "features.1"],
            "type": ["Conv2d", "ReLU"],
            "bytes_moved": [1000, 500],
            "flops": [64000, 0],
        }
    )
    kernels = read(frame)
    has_columns(kernels, flops=[64000, NAN], bytes=[1000, 500], time=[2e-3, 1e-3], category=["Conv2d", "ReLU"])
    assert kernels.warnings[0].startswith("1 of 2 rows have no FLOPs")
