"""One mapping of columns: a data frame means the same to `bound`, `roofline`, `read` and `Kernels.from_dataframe`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import roofwidget as rw
from tests.tables import has_columns

CHIP = rw.Chip("Mine", {"fp32": 1e13, "bf16": 2e13}, {"HBM": 1e12})
CELLS = {"name": ["a", "b"], "flops": [4e9, 2e9], "bytes": [1e6, 2e6]}

WAYS: dict[str, Callable[[Any], rw.Kernels]] = {
    "roofline": lambda frame: rw.roofline(CHIP, kernels=frame).kernels,
    "read": rw.read,
    "from_dataframe": rw.Kernels.from_dataframe,
}


def judged(kernels: Any) -> dict[str, Any]:
    """Return the bounds of kernels: every field but the remarks."""
    bounds = rw.bound(kernels, CHIP)
    return {field.name: getattr(bounds, field.name) for field in dataclasses.fields(bounds) if field.name != "remarks"}


def same(left: rw.Kernels, right: rw.Kernels) -> None:
    for field in ("names", "precision", "category", "count"):
        np.testing.assert_array_equal(getattr(left, field), getattr(right, field), field)
    for field in ("flops", "bytes", "time", "self_time"):
        np.testing.assert_allclose(getattr(left, field), getattr(right, field), rtol=1e-15, err_msg=field)
    assert left.flops_by_precision.keys() == right.flops_by_precision.keys()
    assert left.bytes_by_level.keys() == right.bytes_by_level.keys()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("column", "cells", "field", "expected"),
    [
        ("time (ms)", [2, 4], "time", [2e-3, 4e-3]),
        ("duration_us", [2, 4], "time", [2e-6, 4e-6]),
        ("Duration (ns)", [2, 4], "time", [2e-9, 4e-9]),
        ("Time", [2, 4], "time", [2, 4]),
        ("latency [s]", [2, 4], "time", [2, 4]),
        ("total time", [2, 4], "time", [2, 4]),
        ("ms", [2, 4], "time", [2e-3, 4e-3]),
        ("dtype", ["BF16", None], "precision", ["bf16", None]),
        ("Data Type", ["bf16", "fp32"], "precision", ["bf16", "fp32"]),
        ("calls", [7, 1], "count", [7, 1]),
        ("# launches", [7, 1], "count", [7, 1]),
        ("kind", ["x", "y"], "category", ["x", "y"]),
        ("self_time_ms", [1, 2], "self_time", [1e-3, 2e-3]),
    ],
)
def test_a_column_in_plain_words_means_the_same_everywhere(
    way: str, column: str, cells: list[Any], field: str, expected: list[Any]
) -> None:
    frame = pd.DataFrame({**CELLS, column: cells})
    kernels = WAYS[way](frame)
    found = getattr(kernels, field).tolist()
    assert found == (expected if isinstance(cells[0], str) else pytest.approx(expected, rel=1e-15))
    np.testing.assert_equal(judged(frame), judged(rw.Kernels.from_dataframe(frame)))
    assert column not in kernels.extra
    assert kernels.warnings == ()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_every_kind_of_table_is_one(way: str, made: Callable[[Any], Any]) -> None:
    cells = {
        "kernel": ["a", "b"],
        "GFLOP": [4, 2],
        "DRAM bytes (MB)": [1, 2],
        "time (us)": [5, 6],
        "dtype": ["fp32"] * 2,
    }
    expected = rw.Kernels(["a", "b"], [4e9, 2e9], {"DRAM": [1e6, 2e6]}, time=[5e-6, 6e-6], precision=["fp32", "fp32"])
    same(WAYS[way](made(cells)), expected)


@pytest.mark.parametrize("way", ["roofline", "from_dataframe"])
def test_frames_of_tools_mean_the_same_to_bound_and_to_read(way: str) -> None:
    tracelens = pd.DataFrame(
        {
            "name": ["aten::bmm"],
            "name_count": [5],
            "GFLOPS_first": [32768e-9],
            "Data Moved (MB)_first": [7168 / 2**20],
            "Kernel Time (µs)_sum": [12.5],
            "Compute Spec": ["matrix_bf16"],
        }
    )
    xprof = pd.DataFrame(
        {
            "Step": ["Total", "Total"],
            "Rank": [0.0, 1.0],
            "Operation": ["Program", "dot.7"],
            "Total Time (us)": [900.0, 500.0],
            "Normalized FLOP Rate (GFLOP/s)": [1.0, 64.0],
            "HBM BW (GiB/s)": [1.0, 512.0],
        }
    )
    for frame in (tracelens, xprof):
        same(WAYS[way](frame), rw.read(frame))
        assert len(rw.read(frame)) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("word", ["duration", "Latency", "elapsed", "GPU time", "kernel_time", "runtime"])
def test_a_time_in_no_certain_unit_is_not_guessed_but_asked_about(way: str, word: str) -> None:
    kernels = WAYS[way](pd.DataFrame({**CELLS, word: [5, 6]}))
    assert np.isnan(kernels.time).all()
    assert kernels.extra[word].tolist() == [5, 6]
    (said,) = kernels.warnings
    how = "pass columns=" if way == "read" else "use rw.read(frame, columns="
    told = f"'{word}' is not used: it has no unit; {how}{{'time': ('{word}', '…')}}"
    assert said == f"{told} with its unit (us, ms or s) for '…'"


def test_a_time_without_a_unit_is_used_with_the_unit_that_the_user_gives() -> None:
    frame = pd.DataFrame({**CELLS, "duration": [5, 6]})
    assert rw.read(frame, columns={"time": ("duration", "us")}).time.tolist() == pytest.approx([5e-6, 6e-6])
    with pytest.raises(rw.ProfileError, match=r"columns=\{'time': \('duration', '…'\)\} with its unit"):
        rw.read(pd.DataFrame({"name": ["a"], "duration": [5]}))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("column", "unit"), [("avg time (ms)", "ms"), ("cuda_time", "…"), ("kernel (us)", "us")])
def test_a_column_that_looks_like_a_measure_and_is_not_used_is_named(way: str, column: str, unit: str) -> None:
    frame = pd.DataFrame({**CELLS, column: [5, 6]})
    kernels = WAYS[way](frame)
    how = "pass columns=" if way == "read" else "use rw.read(frame, columns="
    (said,) = kernels.warnings
    told = f"'{column}' is not used: if it is the time of all launches, {how}{{'time': ('{column}', '{unit}')}}"
    assert said == (f"{told} with its unit (us, ms or s) for '…'" if unit == "…" else told)
    assert any(f"'{column}' is not used" in note for note in rw.bound(frame, CHIP).notes)
    assert not any("is not used" in note for note in rw.bound(kernels, CHIP).notes)


def test_the_chip_that_a_frame_names_is_the_chip_of_the_widget() -> None:
    frame = pd.DataFrame({**CELLS, "measured on": ["MI300X", "mi300x"]})
    assert rw.roofline(kernels=frame).focus_chip == "mi300x"


FILL_IN = " with its unit (us, ms or s) for '…'"
SPELLINGS = {
    1: ["s", "S", "sec", "seconds"],
    1e-3: ["ms", "MS", "Ms", "msec", "milliseconds"],
    1e-6: ["us", "µs", "\u03bcs", "US", "usec", "microseconds"],
    1e-9: ["ns", "nsec", "nanoseconds"],
    1e-12: ["ps"],
}


@pytest.mark.parametrize(("unit", "scale"), [(unit, scale) for scale, units in SPELLINGS.items() for unit in units])
def test_a_unit_of_time_is_known_in_every_usual_spelling_and_never_a_megasecond(unit: str, scale: float) -> None:
    for column in (f"time ({unit})", f"duration_{unit}", f"latency [{unit}]", *([unit] if unit not in "sS" else [])):
        kernels = rw.read(pd.DataFrame({**CELLS, column: [2, 4]}))
        assert kernels.time.tolist() == pytest.approx([2 * scale, 4 * scale], rel=1e-15), column
        assert kernels.warnings == ()


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("time (min)", f"if it is the time of all launches, pass columns={{'time': ('time (min)', '…')}}{FILL_IN}"),
        ("s", "if it is the time of all launches, pass columns={'time': ('s', 's')}"),
        ("kernel_ms", "if it is the time of all launches, pass columns={'time': ('kernel_ms', 'ms')}"),
        ("fwd (us)", "if it is the time of all launches, pass columns={'time': ('fwd (us)', 'us')}"),
    ],
)
def test_a_time_of_which_nothing_is_certain_is_asked_about(column: str, told: str) -> None:
    kernels = rw.read(pd.DataFrame({**CELLS, column: [2, 4]}))
    assert np.isnan(kernels.time).all()
    assert kernels.warnings == (f"'{column}' is not used: {told}",)
    assert kernels.names.tolist() == ["a", "b"]


@pytest.mark.parametrize("word", ["GFLOPs", "gflops", "TFLOPS"])
def test_flops_in_a_unit_that_may_be_a_rate_are_asked_about(word: str) -> None:
    column = f"flops ({word})"
    kernels = rw.read(pd.DataFrame({"name": ["a"], "time": [1.0], column: [5]}))
    assert np.isnan(kernels.flops).all()
    assert kernels.warnings[0].startswith(f"'{column}' is not used: a count or a rate?")


@pytest.mark.parametrize("way", WAYS)
def test_a_second_column_of_a_measure_is_named_and_our_own_word_wins(way: str) -> None:
    kernels = WAYS[way](
        pd.DataFrame({"duration (ms)": [7, 8], "Calls": [3, 4], **CELLS, "time": [5, 6], "count": [1, 2]})
    )
    has_columns(kernels, time=[5, 6], count=[1, 2])
    first, second = kernels.warnings
    assert first.startswith("'duration (ms)' is not used: the time is 'time'; 2 of 2 rows differ; ")
    assert first.endswith("row 0, column 'duration (ms)': 7 ms, but 'time' is 5 s")
    assert second.startswith("'Calls' is not used: the count is 'count'; 2 of 2 rows differ; ")


@pytest.mark.parametrize(
    "column", ["timestamp", "start time (ns)", "share of time", "bytes per FLOP", "grid", "time unit"]
)
def test_a_column_that_is_no_measure_of_a_kernel_makes_no_noise(column: str) -> None:
    cells = ["x", "y"] if column == "time unit" else [5, 6]
    assert rw.read(pd.DataFrame({**CELLS, column: cells})).warnings == ()


def test_a_frame_without_a_needed_column_says_which_column_may_be_it() -> None:
    frame = pd.DataFrame({"name": ["a"], "GFLOPs": [1], "bytes": [1]})
    with pytest.raises(
        ValueError, match=r"no column 'flops'; it has name, GFLOPs, bytes; 'GFLOPs' is not used: a count"
    ):
        rw.bound(frame, CHIP)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("index", [pd.Index(["a", "b"], name="kernel"), pd.Index(["a", "b"]), ["a", "b"]])
def test_the_index_of_a_frame_has_the_names_of_kernels(way: str, index: Any) -> None:
    frame = pd.DataFrame({"flops": [4e9, 2e9], "bytes": [1e6, 2e6]}, index=index)
    same(WAYS[way](frame), rw.Kernels.from_dataframe(pd.DataFrame(CELLS)))


def test_an_index_beside_names_is_a_further_column_if_it_says_something() -> None:
    levels = pd.MultiIndex.from_tuples([("a", "bf16"), ("b", "fp32")], names=["kernel", "dtype"])
    kernels = rw.read(pd.DataFrame({"flops": [4e9, 2e9], "bytes": [1e6, 2e6]}, index=levels))
    has_columns(kernels, names=["a", "b"], precision=["bf16", "fp32"])
    kernels = rw.read(pd.DataFrame(CELLS, index=pd.Index([7, 8], name="step")))
    has_columns(kernels, names=["a", "b"], extra={"step": [7, 8]})
    assert rw.read(pd.DataFrame(CELLS, index=[7, 8])).extra == {}


@pytest.mark.parametrize("form", ["csv", "parquet", "records"])
def test_the_index_of_a_saved_frame_has_the_names_of_kernels(form: str) -> None:
    frame = pd.DataFrame({"flops": [4e9, 2e9], "bytes": [1e6, 2e6]}, index=["a", "b"])
    ways: dict[str, Callable[[], bytes]] = {
        "csv": lambda: frame.to_csv().encode(),
        "parquet": frame.to_parquet,
        "records": lambda: frame.reset_index().to_json(orient="records").encode(),
    }
    kernels = rw.read(ways[form]())
    assert (kernels.names.tolist(), kernels.flops.tolist(), kernels.warnings) == (["a", "b"], [4e9, 2e9], ())
    numbered = rw.read(frame.reset_index(drop=True).to_csv().encode())
    assert (numbered.names.tolist(), numbered.extra) == (["row 1", "row 2"], {})
