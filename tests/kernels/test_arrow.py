"""Arrow: frames of any library are read without a copy by hand, and kernels are written as tables and Parquet files."""

from __future__ import annotations

import decimal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import roofwidget as rw
from roofwidget.kernels.metadata import Activity, Communication
from tests.tables import has_columns

pa = pytest.importorskip("pyarrow")

NAN = float("nan")
TABLE = pa.table(
    {
        "name": pa.array(["b", "a", "b"]).dictionary_encode(),
        "flops": pa.array([1, None, 3], pa.int64()),
        "bytes": pa.array(["1.25", "0.10", None]).cast(pa.decimal128(20, 2)),
        "time (us)": pa.array([1.5, None, 4.5], pa.float32()),
        "category": pa.array(["x", "", None], pa.large_string()),
        "on": pa.array([True, None, False]),
        "start": pa.array([1, 2, 3], pa.timestamp("us")),
        "shape": pa.array([[1], [2, 3], None]),
        "none": pa.nulls(3),
    }
)


class OnlyStream:
    """A frame as of cuDF, which has Arrow's PyCapsule interface and no more."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """A frame with nothing but the interchange protocol for data frames."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:  # noqa: FBT001, FBT002 - the protocol
        return self._frame.__dataframe__(nan_as_null, allow_copy)


FORMS: dict[str, Any] = {
    "Table": lambda table: table,
    "RecordBatchReader": lambda table: table.to_reader(),
    "stream": OnlyStream,
    "polars": pl.from_arrow,
    "LazyFrame": lambda table: pl.DataFrame(table).lazy(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_frame_of_arrow_is_read_with_its_nulls_decimals_and_dictionaries(form: str) -> None:
    kernels = rw.read(FORMS[form](TABLE))
    has_columns(kernels, names=["b", "a", "b"], flops=[1, NAN, 3], bytes=[1.25, 0.1, NAN])
    np.testing.assert_array_equal(kernels.time, np.array([1.5, NAN, 4.5]) * 1e-6)
    has_columns(kernels, category=["x", None, None], extra={"on": [1, NAN, 0]})
    assert list(kernels.extra) == ["on"]
    assert "columns not used: start, shape" in kernels.warnings


@pytest.mark.parametrize("form", FORMS)
def test_every_function_that_takes_a_frame_takes_one_of_arrow(form: str) -> None:
    chip = rw.Chip("c", {"bf16": 1e12}, {"HBM": 1e12})
    frame = pa.table({"name": ["a"], "flops": [2.0], "bytes": [4.0], "time": [8e-12]})
    make = FORMS[form]
    assert rw.Kernels.from_dataframe(make(frame)).flops.tolist() == [2.0]
    assert rw.bound(make(frame), chip).utilization.tolist() == [0.5]
    assert rw.roofline([chip], make(frame)).kernels.bytes.tolist() == [4.0]


def test_a_frame_of_the_interchange_protocol_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = OnlyInterchange(pa.table({"name": ["a", "b"], "flops": [1, 2], "bytes": [3.0, None]}))
    kernels = rw.read(frame)
    has_columns(kernels, names=["a", "b"], bytes=[3.0, NAN])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="reading a OnlyInterchange needs pyarrow: pip install"):
        rw.read(frame)


def test_a_frame_of_polars_is_read_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = pl.DataFrame(
        {"name": ["a", "b"], "flops": [1, None], "bytes": [decimal.Decimal("0.10"), None], "on": [True, None]}
    ).with_columns(pl.col("name").cast(pl.Categorical))
    for given in (frame, frame.lazy()):
        kernels = rw.read(given)
        has_columns(kernels, names=["a", "b"], flops=[1, NAN], bytes=[0.1, NAN], extra={"on": [1, NAN]})


def test_without_pyarrow_and_polars_a_stream_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"reading a OnlyStream needs pyarrow: pip install 'pyarrow>=12'"):
        rw.read(OnlyStream(TABLE))
    with pytest.raises(ImportError, match=r"an Arrow table needs pyarrow: pip install 'pyarrow>=12'"):
        rw.Kernels().to_arrow()


def test_a_column_of_arrow_or_polars_is_no_table() -> None:
    for column in (pl.Series([1.0]), pa.chunked_array([[1.0]])):
        with pytest.raises(TypeError, match="frame must be a data frame"):
            rw.Kernels.from_dataframe(column)


def test_a_mapping_may_hold_arrays_of_arrow() -> None:
    kernels = rw.Kernels.from_dataframe({"name": pa.array(["a"]), "flops": pa.array([1]), "bytes": [2.0]})
    has_columns(kernels, names=["a"], flops=[1.0])


def every_column() -> rw.Kernels:
    return rw.Kernels(
        ["gemm", "copy", "gemm"],
        {"fp16": [2.0**60, NAN, 1 / 3], "": [NAN, 0, NAN]},
        {"HBM": [1e9, NAN, NAN], "main": [NAN, 5, 7]},
        time=[0.1, NAN, 3e-6],
        self_time=[0.05, NAN, 1e-6],
        precision=["fp16", None, "bf16"],
        category=["", "x", None],
        count=[1, 2, 3],
        intensity=[NAN, NAN, NAN],
        origin={"flops:fp16": ["counted", None, "model"], "time": "a clock"},
        extra={
            "latency (ms)": [1.5, NAN, 2.5],
            "kind": ["", None, "y"],
            "unknown": [NAN, NAN, NAN],
            "calls": [7, 8, 9],
        },
        chip=rw.Chip("My chip", {"fp16": 1e14}, {"HBM": 2e12}),
        source="run 1",
        warnings=["no counters", "\u00b5"],
        series=True,
        fitting_chips=["mi300x"],
        communication=Communication(4.0, 7.0, 1.0),
        activity=Activity(9.0, 1.0, 11.0, 0.5, 2.0),
    )


def assert_same(read: rw.Kernels, written: rw.Kernels) -> None:
    assert read == written
    for fact in ("chip", "fitting_chips", "source", "warnings", "series", "communication", "activity"):
        assert getattr(read, fact) == getattr(written, fact)
    assert [list(one) for one in (read.extra, read.origin, read.flops_by_precision, read.bytes_by_level)] == [
        list(one) for one in (written.extra, written.origin, written.flops_by_precision, written.bytes_by_level)
    ]


def test_a_round_trip_through_arrow_and_parquet_keeps_every_column_and_the_chip(tmp_path: Path) -> None:
    point = rw.Kernels(["triad"], intensity=[0.083], rate=[15.4e9])
    for kernels in (every_column(), every_column()[:0], every_column()[1:], point):
        path = tmp_path / "kernels.parquet"
        kernels.to_parquet(path)
        for given in (kernels.to_arrow(), OnlyStream(kernels), kernels.to_arrow().to_reader(), path, path.read_bytes()):
            assert_same(rw.read(given), kernels)
        assert_same(rw.Kernels.from_dataframe(kernels.to_arrow()), kernels)


def test_unknown_amounts_are_null_in_arrow_and_texts_are_dictionaries() -> None:
    table = every_column().to_arrow()
    assert table.column("flops:fp16").null_count == 1
    assert table.column("category").to_pylist() == ["", "x", None]
    assert pa.types.is_dictionary(table.schema.field("name").type)
    assert pl.DataFrame(every_column())["flops:fp16"].sum() == 2.0**60 + 1 / 3


def test_a_column_added_to_a_table_of_kernels_is_kept_or_named() -> None:
    table = every_column().to_arrow().append_column("rank", pa.array([1, 2, 3]))
    kernels = rw.read(table.append_column("at", pa.array([1, 2, 3], pa.timestamp("s"))))
    assert kernels.extra["rank"].tolist() == [1, 2, 3]
    assert kernels.warnings[-1] == "columns not used: at"


def test_damaged_metadata_of_a_table_of_kernels_is_one_clear_error() -> None:
    table = every_column().to_arrow().replace_schema_metadata({b"roofwidget": b'{"version": 1}'})
    with pytest.raises(rw.ProfileError, match="the metadata of a table of kernels is damaged: 'chip'"):
        rw.read(table)
