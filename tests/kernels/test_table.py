"""`Kernel` and `Kernels`: what they accept, what they refuse with which message, and what they return."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import Chip, Kernel, Kernels
from roofwidget.kernels.concat import concat
from roofwidget.kernels.kernel import as_kernel
from roofwidget.kernels.metadata import Activity, Communication
from roofwidget.kernels.table import as_kernels
from roofwidget.kernels.table_record import from_record, to_record
from tests.tables import has_columns, lists

TOO_LARGE = 10**400
NOT_AMOUNTS: list[Any] = [
    -1,
    -1e-300,
    math.nan,
    math.inf,
    -math.inf,
    TOO_LARGE,
    "-1",
    "nonsense",
    "1e400",
    "5 furlongs",
    "",
]
NOT_NUMBERS: list[Any] = [True, [1], 1j, object()]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - what was pickled here


COPIES = [copy.copy, copy.deepcopy, pickled]

amounts = st.floats(0, 1e300, allow_subnormal=False) | st.integers(0, 2**53)
words = st.none() | st.text(min_size=1, max_size=5)


def by_key(keys: list[str]) -> st.SearchStrategy[Any]:
    return st.none() | amounts | st.dictionaries(st.sampled_from(keys), amounts, min_size=1)


kernels_of_any_kind = st.builds(
    Kernel,
    st.text(max_size=20),
    by_key(["bf16", "fp8"]),
    by_key(["HBM", "L2"]),
    time=st.none() | amounts,
    precision=words,
    category=words,
    count=st.integers(1, 2**53),
)


def brief(value: Any) -> str:
    return repr(value)[:20]


@pytest.fixture
def table() -> Kernels:
    return Kernels.from_records(
        [
            Kernel("matmul", 4.3e9, 1.2e7, time=31e-6, precision="bf16", category="dot", count=3),
            Kernel("mixed", {"fp8": 2e9, "bf16": 1e9}, {"HBM": 8e6, "L2": 3e7}, category="dot"),
            Kernel("copy", 0, 8e6, time=4e-6),
            Kernel("opaque", None, None),
        ]
    )


# -- one kernel ------------------------------------------------------------------------------------------------


def test_a_kernel_needs_a_name_flops_and_bytes_and_the_rest_is_unknown_or_one() -> None:
    kernel = Kernel("matmul", 4.3e9, 1.2e7)
    assert (kernel.name, kernel.flops, kernel.bytes) == ("matmul", 4.3e9, 1.2e7)
    assert (kernel.time, kernel.precision, kernel.category, kernel.count) == (None, None, None, 1)
    with pytest.raises(TypeError, match="bytes"):
        Kernel("matmul", 4.3e9)  # type: ignore[call-arg]


def test_the_time_may_be_the_fourth_argument_as_it_is_of_a_tuple() -> None:
    assert Kernel("a", 1e9, 2e9, "12 ms") == Kernel("a", 1e9, 2e9, time=12e-3)
    assert Kernels.from_records([("a", 1e9, 2e9, "12 ms")]).time.tolist() == [12e-3]
    with pytest.raises(TypeError, match="from 4 to 5 positional arguments but 6 were given"):
        Kernel("a", 1e9, 2e9, 12e-3, "bf16")  # type: ignore[call-arg]  # what must be named


def test_amounts_may_be_text_with_units() -> None:
    kernel = Kernel("matmul", "4.3 GFLOP", "12 MiB", time="31 us")
    assert (kernel.flops, kernel.bytes, kernel.time) == (4.3e9, 12 * 2**20, 31e-6)


def test_amounts_by_precision_and_by_level_may_be_text_with_units() -> None:
    kernel = Kernel("mixed", {"BF16": "1 GFLOP", "fp8": 2}, {"HBM": "8 MB", "L2": 5.5})
    assert kernel.flops == {"bf16": 1e9, "fp8": 2}
    assert kernel.bytes == {"HBM": 8e6, "L2": 5.5}


def test_ints_are_kept_exactly() -> None:
    kernel = Kernel("big", 2**60 + 1, {"HBM": 2**70 + 1}, time=2**53 + 1)
    assert kernel.flops == 2**60 + 1
    assert kernel.bytes == {"HBM": 2**70 + 1}
    assert kernel.time == 2**53 + 1
    assert isinstance(kernel.flops, int)


def test_flops_of_several_precisions_are_summed_exactly() -> None:
    assert Kernel("mixed", {"bf16": 2**60, "fp8": 1}, 1).total_flops == 2**60 + 1


@pytest.mark.parametrize("number", [np.float32(2.0), np.int64(2), Fraction(4, 2), "2"])
def test_amounts_may_be_any_real_number(number: Any) -> None:
    kernel = Kernel("x", number, number, time=number)
    assert (kernel.flops, kernel.bytes, kernel.time) == (2, 2, 2)


def test_zero_is_a_known_amount_and_none_an_unknown_one() -> None:
    zero, unknown = Kernel("copy", 0, 0, time=0), Kernel("opaque", None, None)
    assert (zero.flops, zero.bytes, zero.time, zero.total_flops) == (0, 0, 0, 0)
    assert (unknown.flops, unknown.bytes, unknown.time) == (None, None, None)
    assert math.isnan(unknown.total_flops)


def test_intensity_is_flops_over_bytes_of_main_memory() -> None:
    assert Kernel("a", 12, 4).arithmetic_intensity == 3.0
    assert Kernel("a", {"bf16": 8, "fp8": 4}, {"HBM": 4, "L2": 100}).arithmetic_intensity == 3.0
    assert Kernel("a", 0, 4).arithmetic_intensity == 0.0
    assert Kernel("a", 12, 0).arithmetic_intensity == math.inf
    assert math.isnan(Kernel("a", None, 4).arithmetic_intensity)
    assert math.isnan(Kernel("a", 12, {"L2": 4}).arithmetic_intensity)


OF_MAPPING = r"\['L2'\]"


@pytest.mark.parametrize(
    ("wanted", "values", "error", "message"),
    [
        (("flops", "bytes", "time"), NOT_AMOUNTS, ValueError, ""),
        (("flops", "bytes"), [{"HBM": 1, "L2": value} for value in NOT_AMOUNTS], ValueError, OF_MAPPING),
        (("flops", "bytes", "time", "count"), NOT_NUMBERS, TypeError, ": expected a number"),
        (("flops", "bytes"), [{}], ValueError, ": the mapping is empty"),
        (("flops", "bytes"), [{"L2": None}], ValueError, OF_MAPPING + " is None; leave the entry out"),
        (("precision", "category"), [5], TypeError, ""),
        (("count",), [0, -1, 1.5, math.nan, math.inf, TOO_LARGE], ValueError, ""),
    ],
    ids=[
        "not finite and not negative",
        "not finite and not negative in a mapping",
        "no number",
        "an empty mapping",
        "unknown in a mapping",
        "no text",
        "no whole number from one",
    ],
)
def test_a_value_that_a_kernel_cannot_have_is_refused_by_field_and_kernel(
    wanted: tuple[str, ...], values: list[Any], error: type[Exception], message: str
) -> None:
    for field, value in itertools.product(wanted, values):
        with pytest.raises(error, match=f"{field} of kernel 'my matmul'{message}"):
            Kernel(**{"name": "my matmul", "flops": 1, "bytes": 1, field: value})


def test_two_spellings_of_one_precision_are_refused_rather_than_one_dropped() -> None:
    with pytest.raises(ValueError, match=r"kernel 'my matmul'.*bf16"):
        Kernel("my matmul", {"BF16": 1, "bf16": 2}, 1)


@pytest.mark.parametrize("count", [2.0, np.int64(2)])
def test_a_count_becomes_an_int(count: Any) -> None:
    kept = Kernel("x", 1, 1, count=count).count
    assert kept == 2
    assert type(kept) is int


@pytest.mark.parametrize("name", [None, 5, b"matmul"])
def test_a_name_that_is_not_text_is_refused(name: Any) -> None:
    with pytest.raises(TypeError, match="name must be text"):
        Kernel(name, 1, 1)


def test_the_case_of_a_precision_does_not_count() -> None:
    assert Kernel("x", 1, 1, precision="BF16") == Kernel("x", 1, 1, precision="bf16")


@pytest.mark.parametrize("word", ["auto", "AUTO", "", None])
def test_auto_is_no_precision_of_a_kernels_own(word: str | None) -> None:
    assert Kernel("k", 1, 1, precision=word).precision is None
    table = Kernels(["k"], [1], [1], precision=[word])
    assert table.precision.tolist() == [None]
    assert table == Kernels(["k"], [1], [1])


def test_flops_under_auto_are_plain_ones() -> None:
    assert Kernel("k", {"Auto": 5}, 1).flops == 5
    mixed = Kernel("k", {"auto": 5, "fp8": 2}, 1)
    assert mixed.flops == {"": 5, "fp8": 2}
    assert next(iter(Kernels.from_records([mixed]))) == mixed
    table = Kernels(["k"], {"auto": [5], "FP8": [2]}, [1])
    assert lists(table.flops_by_precision) == {"": [5], "fp8": [2]}
    frame = pd.DataFrame({"name": ["k"], "flops:auto": [5], "bytes": [1]})
    assert Kernels.from_dataframe(frame) == Kernels(["k"], [5], [1])
    assert Kernel("k", 1, {"auto": 1}).bytes == {"auto": 1}, "a level may have any name"


def test_flops_told_plain_and_under_auto_are_refused_rather_than_one_dropped() -> None:
    with pytest.raises(ValueError, match="flops of kernel 'k': 'AUTO' is there twice"):
        Kernel("k", {"auto": 1, "AUTO": 2}, 1)
    frame = pd.DataFrame({"name": ["k"], "flops": [1], "flops:auto": [1], "bytes": [1]})
    with pytest.raises(ValueError, match="row 0: 'flops' has both 'flops' and 'auto'"):
        Kernels.from_dataframe(frame)


def test_an_unknown_keyword_names_the_nearest_real_one() -> None:
    with pytest.raises(TypeError, match="Kernel has no keyword 'tiem'; did you mean 'time'"):
        Kernel("x", 1, 1, tiem=3)  # type: ignore[call-arg]


def test_a_kernel_cannot_be_changed() -> None:
    kernel = Kernel("x", {"bf16": 1}, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.name = "y"  # type: ignore[misc]
    with pytest.raises(TypeError):
        kernel.flops["bf16"] = 2  # type: ignore[index]


def test_a_kernel_does_not_see_later_changes_of_a_mapping_it_was_made_from() -> None:
    given_flops = {"bf16": 1.0}
    kernel = Kernel("x", given_flops, 1)
    given_flops["bf16"] = 2.0
    assert kernel.flops == {"bf16": 1.0}


def test_equal_kernels_have_equal_hashes() -> None:
    assert len({Kernel("x", {"bf16": 1}, {"HBM": 2}), Kernel("x", {"bf16": 1}, {"HBM": 2})}) == 1
    assert Kernel("x", 1, 2) != Kernel("x", 1, 3)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("kernel", [Kernel("x", 2**60 + 1, 2), Kernel("x", {"bf16": 1}, {"HBM": 2}, time=1.0)])
def test_a_kernel_can_be_copied_and_pickled(kernel: Kernel, copied: Callable[[Kernel], Kernel]) -> None:
    twin = copied(kernel)
    assert twin == kernel
    assert hash(twin) == hash(kernel)


# -- a table from records --------------------------------------------------------------------------------------


def test_records_may_be_kernels_tuples_and_dicts() -> None:
    made = Kernels.from_records(
        [
            Kernel("a", 1, 2, time=3),
            ("a", 1, 2, 3),
            ["a", "1 FLOP", "2 B", "3 s"],
            {"name": "a", "flops": 1, "bytes": 2, "time": 3},
            ("b", 1, 2),
        ]
    )
    assert list(made) == [Kernel("a", 1, 2, time=3)] * 4 + [Kernel("b", 1, 2)]


def test_an_amount_that_a_dict_leaves_out_is_unknown() -> None:
    assert list(Kernels.from_records([{"name": "a", "flops": 1}])) == [Kernel("a", 1, None)]


def test_a_table_gives_columns_with_nan_where_unknown(table: Kernels) -> None:
    has_columns(
        table,
        names=["matmul", "mixed", "copy", "opaque"],
        flops=[4.3e9, 3e9, 0, math.nan],
        bytes=[1.2e7, 8e6, 8e6, math.nan],
        time=[31e-6, math.nan, 4e-6, math.nan],
        count=[3, 1, 1, 1],
        precision=["bf16", None, None, None],
        category=["dot", "dot", None, None],
    )


def test_a_table_keeps_flops_by_precision_and_bytes_by_level(table: Kernels) -> None:
    assert set(table.flops_by_precision) == {"", "fp8", "bf16"}
    assert set(table.bytes_by_level) == {"main", "HBM", "L2"}
    has_columns(
        table,
        flops_by_precision={"fp8": [math.nan, 2e9, math.nan, math.nan]},
        bytes_by_level={"L2": [math.nan, 3e7, math.nan, math.nan]},
    )


def test_achieved_is_flops_per_measured_second(table: Kernels) -> None:
    np.testing.assert_array_equal(table.achieved, [4.3e9 / 31e-6, math.nan, 0, math.nan])


@pytest.mark.parametrize(
    ("record", "error", "message"),
    [
        (("a", -1, 2), ValueError, "kernel 1: flops of kernel 'a' must be .* not negative"),
        (("a", 1, TOO_LARGE), ValueError, "kernel 1: bytes of kernel 'a'"),
        (("a", 1, True), TypeError, "kernel 1: bytes of kernel 'a'"),
        (("a", 1, 2, math.inf), ValueError, "kernel 1: time of kernel 'a'"),
        ({"name": "a", "flops": 1, "bytes": 2, "count": math.inf}, ValueError, "kernel 1: count of kernel 'a'"),
        ({"flops": 1, "bytes": 1}, TypeError, "kernel 1: .*'name'"),
        ({"name": "a", "flops": 1, "bytes": 2, "tme": 3}, TypeError, "kernel 1: .*'tme'; did you mean 'time'"),
        (("a", 1), TypeError, "kernel 1: expected"),
        (("a", 1, 2, 3, 4), TypeError, "kernel 1: expected"),
        ("abc", TypeError, "kernel 1: expected"),
        (None, TypeError, "kernel 1: expected"),
    ],
)
def test_a_bad_record_is_refused_by_its_number(record: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Kernels.from_records([("fine", 1, 2), record])


def test_columns_of_different_lengths_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="column 'bytes' has shape"):
        Kernels(["a", "b"], [1, 2], [1])
    with pytest.raises(ValueError, match="column 'category' has 1 entries, expected 2"):
        Kernels(["a", "b"], [1, 2], [1, 2], category=["x"])


@pytest.mark.parametrize("value", [-1, math.inf, TOO_LARGE, "abc"], ids=brief)
@pytest.mark.parametrize("field", ["flops", "bytes", "time", "count"])
def test_a_bad_number_in_a_column_is_refused_by_row_and_column(field: str, value: Any) -> None:
    columns: dict[str, Any] = {"flops": [1, 1], "bytes": [1, 1], field: [1, value]}
    with pytest.raises((TypeError, ValueError), match=f"row 1, column '{field}'"):
        Kernels(["a", "b"], **columns)


@pytest.mark.parametrize("value", [0, 1.5, math.nan])
def test_a_count_that_is_not_a_whole_number_from_one_is_refused_by_row(value: float) -> None:
    with pytest.raises(ValueError, match="row 1, column 'count'"):
        Kernels(["a", "b"], [1, 1], [1, 1], count=[1, value])


def test_a_name_in_a_column_that_is_not_text_is_refused_by_row() -> None:
    names: Any = ["a", 5]
    with pytest.raises((TypeError, ValueError), match="row 1, column 'name'"):
        Kernels(names, [1, 1], [1, 1])


def test_an_unknown_keyword_of_a_table_names_the_nearest_real_one() -> None:
    with pytest.raises(TypeError, match="Kernels has no keyword 'nmaes'; did you mean 'names'"):
        Kernels(nmaes=["a"])  # type: ignore[call-arg]


def test_sums_beyond_the_largest_number_are_refused_or_infinite_without_a_warning() -> None:
    table = Kernels.from_records([Kernel("x", {"bf16": 1e308, "fp8": 1e308}, 1e-300), Kernel("y", 1e300, 1e-300)])
    assert table.flops[0] == math.inf
    assert table.arithmetic_intensity[1] == math.inf


@pytest.mark.parametrize(
    "value",
    [
        Kernel("a", 1, 2),
        [Kernel("a", 1, 2)],
        (("a", 1, 2),),
        Kernels(["a"], [1], [2]),
        Kernels(["a"], [1], [2]).to_dataframe(),
    ],
    ids=["Kernel", "list", "tuple", "Kernels", "DataFrame"],
)
def test_a_table_can_be_made_of_each_form(value: Any) -> None:
    assert as_kernels(value) == Kernels(["a"], [1], [2])


@pytest.mark.parametrize("value", [None, 5, "matmul", {"name": "a"}])
def test_what_no_table_can_be_made_of_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="kernels must be Kernels, a list of records or a data frame"):
        as_kernels(value)


# -- data frames -----------------------------------------------------------------------------------------------


@given(st.lists(kernels_of_any_kind, max_size=6))
def test_a_table_survives_the_way_through_a_data_frame(records: list[Kernel]) -> None:
    table = Kernels.from_records(records)
    assert Kernels.from_dataframe(table.to_dataframe()) == table


@given(st.lists(kernels_of_any_kind, max_size=6))
def test_a_table_gives_back_the_kernels_it_was_made_of(records: list[Kernel]) -> None:
    assert list(Kernels.from_records(records)) == records


def test_a_data_frame_has_a_column_for_each_field_precision_and_level(table: Kernels) -> None:
    frame = table.to_dataframe()
    assert set(frame.columns) == {
        *("name", "flops", "flops:fp8", "flops:bf16", "bytes", "bytes:HBM", "bytes:L2"),
        *("time", "precision", "category", "count"),
    }
    assert frame["name"].tolist() == ["matmul", "mixed", "copy", "opaque"]
    assert frame["count"].tolist() == [3, 1, 1, 1]


def test_a_data_frame_can_be_written_to_without_changing_the_table(table: Kernels) -> None:
    frame = table.to_dataframe()
    frame.loc[0, "flops"] = 1.0
    assert table.flops[0] == 4.3e9


def test_a_data_frame_needs_only_names_flops_and_bytes_and_its_index_does_not_matter() -> None:
    frame = pd.DataFrame({"bytes": [2, 4], "flops": [1, 3], "name": ["a", "b"]}, index=[7, 7])
    assert Kernels.from_dataframe(frame) == Kernels(["a", "b"], [1, 3], [2, 4])


def test_a_cell_without_a_value_is_unknown() -> None:
    frame = pd.DataFrame(
        {
            "name": ["a", "b"],
            "flops": pd.array([1, pd.NA], dtype="Int64"),
            "bytes": [None, 2.0],
            "time": [math.nan, 1.0],
            "category": ["x", None],
        }
    )
    assert list(Kernels.from_dataframe(frame)) == [Kernel("a", 1, None, category="x"), Kernel("b", None, 2, time=1)]


@pytest.mark.parametrize("missing", ["name", "flops", "bytes"])
def test_a_missing_column_is_named_with_those_that_are_there(missing: str) -> None:
    frame = pd.DataFrame({"name": ["a"], "flops": [1], "bytes": [1]}).drop(columns=missing)
    with pytest.raises(ValueError, match=f"has no column '{missing}'; it has {', '.join(frame.columns)}"):
        Kernels.from_dataframe(frame)


def test_an_unknown_column_is_refused_with_the_nearest_known_one() -> None:
    frame = pd.DataFrame({"name": ["a"], "flops": [1], "bytes": [1], "categry": ["x"]})
    with pytest.raises(ValueError, match="'categry'; did you mean 'category'"):
        Kernels.from_dataframe(frame)


@pytest.mark.parametrize(
    "column",
    ["share of self time", "tile_id", "HLO", "process", "threads", "operation", "TFLOPS/s_mean", "times"],
)
def test_a_column_that_resembles_a_field_which_is_there_is_another(column: str) -> None:
    table = Kernels(["a"], [1], [1], extra={column: [5.0]})
    assert Kernels.from_dataframe(table.to_dataframe()) == table


@pytest.mark.parametrize("column", ["time:fp16", "name:x", "count:HBM", "precision:x", "category:x"])
def test_a_key_on_a_column_that_has_none_is_refused_rather_than_dropped(column: str) -> None:
    frame = pd.DataFrame({"name": ["a"], "flops": [1], "bytes": [1], column: [1]})
    with pytest.raises(ValueError, match=column):
        Kernels.from_dataframe(frame)


def test_a_column_that_is_there_twice_is_refused_by_name() -> None:
    frame = pd.DataFrame([["a", 1, 2, 3]], columns=["name", "flops", "bytes", "bytes"])
    with pytest.raises(ValueError, match="column 'bytes'"):
        Kernels.from_dataframe(frame)


def test_the_case_of_a_precision_in_a_data_frame_does_not_count() -> None:
    frame = pd.DataFrame({"name": ["a"], "flops:BF16": [1], "bytes": [2], "precision": ["BF16"]})
    assert Kernels.from_dataframe(frame) == Kernels.from_records([Kernel("a", {"bf16": 1}, 2, precision="bf16")])


@pytest.mark.parametrize("value", [-1, math.inf, TOO_LARGE, "12", True], ids=brief)
@pytest.mark.parametrize("field", ["flops", "bytes:L2", "time", "count"])
def test_a_bad_cell_is_refused_by_row_and_column(field: str, value: Any) -> None:
    cells = {"name": ["a", "b"], "flops": [1, 1], "bytes": [1, 1], field: pd.Series([1, value], dtype=object)}
    with pytest.raises((TypeError, ValueError), match=f"row 1, column '{field}'"):
        Kernels.from_dataframe(pd.DataFrame(cells))


# -- length, rows, slices --------------------------------------------------------------------------------------


def test_a_table_has_a_length_and_can_be_iterated(table: Kernels) -> None:
    assert len(table) == 4
    assert [kernel.name for kernel in table] == ["matmul", "mixed", "copy", "opaque"]
    assert table[1] in table
    assert next(iter(reversed(table))) == table[3]


def test_a_table_without_rows_is_empty_and_false() -> None:
    assert len(Kernels()) == 0
    assert not Kernels()
    assert list(Kernels()) == []
    assert Kernels().arithmetic_intensity.shape == (0,)


@pytest.mark.parametrize("row", [2, -2, np.int64(2)])
def test_an_integer_gives_one_kernel(table: Kernels, row: int) -> None:
    assert table[row] == Kernel("copy", 0, 8e6, time=4e-6)


def test_a_row_gives_back_mappings_and_unknowns(table: Kernels) -> None:
    assert table[1].flops == {"fp8": 2e9, "bf16": 1e9}
    assert table[1].bytes == {"HBM": 8e6, "L2": 3e7}
    assert table[3] == Kernel("opaque", None, None)


@pytest.mark.parametrize("row", [4, -5])
def test_a_row_that_is_not_there_is_an_index_error(table: Kernels, row: int) -> None:
    with pytest.raises(IndexError):
        table[row]


@pytest.mark.parametrize(
    ("key", "names"),
    [
        (slice(1, 3), ["mixed", "copy"]),
        (slice(None, None, -1), ["opaque", "copy", "mixed", "matmul"]),
        ([True, False, False, True], ["matmul", "opaque"]),
        (np.array([False, True, True, False]), ["mixed", "copy"]),
        ([3, 0, 0], ["opaque", "matmul", "matmul"]),
        (np.array([-1]), ["opaque"]),
        ([], []),
        (slice(9, 12), []),
    ],
)
def test_a_slice_a_mask_or_row_numbers_give_a_table(table: Kernels, key: Any, names: list[str]) -> None:
    part = table[key]
    assert isinstance(part, Kernels)
    assert part.names.tolist() == names
    assert list(part) == [table[table.names.tolist().index(name)] for name in names]


@pytest.mark.parametrize("key", [[4], [True], np.array([0.5]), 1.5, "matmul", None])
def test_a_key_that_names_no_rows_is_an_index_error(table: Kernels, key: Any) -> None:
    with pytest.raises(IndexError):
        table[key]


def test_a_part_keeps_what_the_source_told() -> None:
    whole = Kernels(["a"], [1], [1])
    table = Kernels(["a", "b"], [1, 2], [1, 2], program=whole, warnings=["odd"], source="profile.csv")
    part = table[:1]
    assert part.program == whole
    assert part.steps == Kernels()
    assert part.warnings == ("odd",)
    assert part.source == "profile.csv"


# -- equality, copies ------------------------------------------------------------------------------------------


def test_tables_are_equal_when_all_columns_are_and_nan_equals_nan(table: Kernels) -> None:
    assert table == Kernels.from_records(list(table))
    assert table != table[:3]
    assert table != "table"
    assert Kernels(["a"], [1], [1]) != Kernels(["a"], [1], [1], time=[1])


@pytest.mark.parametrize("field", ["name", "flops", "bytes", "time", "precision", "category", "count"])
def test_tables_that_differ_in_any_one_field_are_not_equal(field: str) -> None:
    one: dict[str, Any] = dict.fromkeys(("name", "precision", "category"), "a")
    one |= dict.fromkeys(("flops", "bytes", "time", "count"), 1)
    other = one | {field: "b" if isinstance(one[field], str) else 2}
    assert Kernels.from_records([one]) != Kernels.from_records([other])


@pytest.mark.parametrize("field", ["names", "flops", "bytes", "time", "precision", "category", "count"])
def test_columns_are_read_only(field: str) -> None:
    column = getattr(Kernels(["a"], [1], [1]), field)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = column[0]


def test_columns_by_precision_and_level_are_read_only(table: Kernels) -> None:
    for columns in (table.flops_by_precision, table.bytes_by_level):
        with pytest.raises(TypeError):
            columns["new"] = np.zeros(4)  # type: ignore[index]
        for column in columns.values():
            assert not column.flags.writeable


def test_a_table_does_not_see_later_changes_of_an_array_it_was_made_from() -> None:
    flops = np.array([1.0])
    table = Kernels(["a"], flops, [1])
    flops[0] = 2.0
    assert table.flops[0] == 1.0


@pytest.mark.parametrize("copied", COPIES)
def test_a_table_can_be_copied_and_pickled_and_stays_read_only(
    table: Kernels, copied: Callable[[Kernels], Kernels]
) -> None:
    twin = copied(table)
    assert twin == table
    assert not twin.time.flags.writeable


def test_the_repr_counts_kernels_and_those_measured(table: Kernels) -> None:
    assert repr(table) == "Kernels(4 kernels, 2 measured)"


def test_columns_that_are_none_of_ours_are_kept_and_those_of_no_numbers_or_texts_named() -> None:
    frame = pd.DataFrame({"name": ["a"], "flops": [1], "bytes": [2], "stream": [7], "grid": ["x"], "ids": [[1]]})
    table = Kernels.from_dataframe(frame)
    assert table == Kernels(["a"], [1], [2], extra={"stream": [7], "grid": ["x"]})
    assert table.warnings == ("columns not used: ids",)


@pytest.mark.parametrize(("column", "value"), [("name", None), ("name", 5), ("category", 5), ("precision", 5)])
def test_a_cell_that_is_not_text_is_refused_by_row_and_column(column: str, value: Any) -> None:
    cells = {"name": ["a", "b"], "flops": [1, 1], "bytes": [1, 1], column: pd.Series(["a", value], dtype=object)}
    with pytest.raises((TypeError, ValueError), match=f"row 1, column '{column}'"):
        Kernels.from_dataframe(pd.DataFrame(cells))


def test_the_main_memory_of_a_table_is_that_of_the_chip_it_ran_on() -> None:
    chip = Chip("x", {"bf16": 1e12}, {"MCDRAM": 4e11, "DDR4": 1e11})
    table = Kernels(["a"], [10], {"MCDRAM": [1], "DDR4": [5]}, chip=chip)
    assert table.arithmetic_intensity.tolist() == [10]
    without = Kernels(["a"], [10], {"DDR4": [5]}, chip=chip)
    assert np.isnan(without.bytes).all(), "that memory is another of the chip's levels"
    assert Kernels(["a"], [10], {"DDR4": [5]}).bytes.tolist() == [5]


# -- words as codes, and the network -----------------------------------------------------------------------------------


def test_words_are_kept_as_codes_into_the_different_ones_in_order_of_appearance(table: Kernels) -> None:
    for field, column in [("name", table.names), ("precision", table.precision), ("category", table.category)]:
        coded = table.codes(field)
        assert [coded.values[code] for code in coded.codes] == column.tolist()
        assert coded.values == tuple(dict.fromkeys(column.tolist()))
        assert coded.codes.dtype == np.int32
        assert not coded.codes.flags.writeable


def test_a_part_of_a_table_keeps_its_words(table: Kernels) -> None:
    part = table[[2, 0]]
    has_columns(part, precision=[None, "bf16"], category=[None, "dot"])
    assert part.codes("name").values == ("copy", "matmul")


def test_the_column_of_a_word_is_made_once(table: Kernels) -> None:
    assert table.precision is table.precision
    assert table.category is table.category


@pytest.mark.parametrize("field", ["precision", "category"])
def test_a_word_that_is_not_text_is_refused_by_row_and_column(field: str) -> None:
    words: dict[str, Any] = {field: [None, 5]}
    with pytest.raises(TypeError, match=f"row 1, column '{field}': 5 is not text"):
        Kernels(["a", "b"], [1, 1], [1, 1], **words)


def test_bytes_of_the_network_in_any_case_are_no_bytes_of_memory() -> None:
    kernels = [Kernel("step", 12, {"HBM": 4, "Network": 3}), Kernel("sent", 12, {"network": 5}), Kernel("alone", 12, 4)]
    table = Kernels.from_records(kernels)
    has_columns(table, network_bytes=[3, 5, np.nan], bytes=[4, np.nan, 4])
    assert kernels[0].arithmetic_intensity == table.arithmetic_intensity[0] == 3.0
    assert np.isnan(Kernels(["a"], [1], [1]).network_bytes).tolist() == [True]


def test_flops_of_a_class_count_in_the_sum() -> None:
    kernel = Kernel("mixed", {"Tensor": 8, "vector": 4, "fp32": 2}, 1)
    assert kernel.total_flops == 14
    assert Kernels.from_records([kernel]).flops.tolist() == [14]


# -- kernels that are known by the two coordinates of a roofline -------------------------------------------------------

RATIOS = Kernels(
    ["triad", "dgemm", "opaque"],
    intensity=[0.083, 12.5, math.nan],
    rate=[15.4e9, 880e9, math.nan],
    category=["a", "b", "b"],
)


def test_an_intensity_and_a_rate_are_a_kernel_without_flops_bytes_and_seconds() -> None:
    assert RATIOS.arithmetic_intensity[:2].tolist() == RATIOS.intensity[:2].tolist() == [0.083, 12.5]
    assert RATIOS.achieved[:2].tolist() == RATIOS.rate[:2].tolist() == [15.4e9, 880e9]
    for column in (RATIOS.flops, RATIOS.bytes, RATIOS.time, RATIOS.self_time):
        assert np.isnan(column).all()
    assert RATIOS.has_ratios
    assert not RATIOS[2:].has_ratios
    assert not RATIOS.intensity.flags.writeable


def test_one_kernel_has_an_intensity_and_a_rate_as_numbers_or_texts() -> None:
    kernel = Kernel("triad", None, None, intensity="0.083 FLOP/B", rate="15.4 GFLOP/s")
    assert (kernel.intensity, kernel.rate, kernel.arithmetic_intensity) == (0.083, 15.4e9, 0.083)
    assert Kernels.from_records([kernel, {"name": "dgemm", "intensity": 12.5, "rate": 880e9}])[0] == kernel
    assert Kernel("a", 8, 2, intensity=3).arithmetic_intensity == 4
    assert pickled(kernel) == copy.copy(kernel) == kernel


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"time": 2}, (20, 10, 2)),
        ({"flops": 20}, (20, 10, 2)),
        ({"bytes": 10}, (20, 10, 2)),
        ({"flops": 20, "bytes": 5}, (20, 5, 2)),
        ({"flops": 20, "bytes": 5, "time": 1}, (20, 5, 1)),
        ({"bytes": 10, "rate": None}, (20, 10, None)),
        ({"time": 2, "intensity": None}, (20, None, 2)),
        ({"flops": 20, "bytes": {"L2": 7}}, (20, {"L2": 7, "main": 10}, 2)),
    ],
)
def test_ratios_and_one_amount_give_the_other_amounts_and_are_then_not_needed(
    given: dict[str, Any], found: tuple[Any, Any, Any]
) -> None:
    table = Kernels.from_records([{"name": "a", "intensity": 2, "rate": 10, **given}])
    assert table[0] == Kernel("a", *found)
    assert not table.has_ratios


@pytest.mark.parametrize(
    "given", [{"time": 2, "rate": None}, {"bytes": 10, "intensity": None}, {"bytes": 0, "rate": None}, {"time": 0}]
)
def test_amounts_that_do_not_follow_stay_unknown(given: dict[str, Any]) -> None:
    record = {"name": "a", "flops": None, "bytes": None, "intensity": 2, "rate": 10, **given}
    table = Kernels.from_records([record])
    assert table[0] == Kernel(**record)


@pytest.mark.parametrize("field", ["intensity", "rate"])
@pytest.mark.parametrize("bad", [-1.0, math.inf])
def test_a_bad_ratio_is_refused_with_its_row_and_column(field: str, bad: float) -> None:
    with pytest.raises(ValueError, match=rf"row 1, column '{field}': {bad} must be finite and not negative"):
        Kernels(["a", "b"], [1, 1], [1, 1]).replace(**{field: [1, bad]})
    with pytest.raises(ValueError, match=rf"{field} of kernel 'a'"):
        as_kernel({"name": "a", field: bad}, 0)


def test_amounts_too_large_for_a_number_are_refused() -> None:
    with pytest.raises(ValueError, match="row 0, column 'flops': inf must be finite"):
        Kernels(["a"], rate=[1e300], time=[1e300])


def test_ratios_stay_in_parts_copies_frames_and_records() -> None:
    assert RATIOS[[1, 0]].rate.tolist() == [880e9, 15.4e9]
    assert RATIOS.filter(categories="b").intensity[0] == 12.5
    assert RATIOS.top(1, by="achieved").names.tolist() == ["dgemm"]
    assert RATIOS.top(1, by="arithmetic_intensity").names.tolist() == ["dgemm"]
    assert RATIOS.replace(rate=[15.4e9, 881e9, math.nan]) != RATIOS
    assert RATIOS[2:] == Kernels(["opaque"], [math.nan], [math.nan], category=["b"])
    frame = RATIOS.to_dataframe()
    assert frame["intensity"].tolist()[:2] == [0.083, 12.5]
    assert not {"intensity", "rate"} & set(RATIOS[2:].to_dataframe())
    assert pickled(RATIOS) == copy.copy(RATIOS) == copy.deepcopy(RATIOS) == RATIOS
    assert Kernels.from_dataframe(frame) == RATIOS
    assert from_record(to_record(RATIOS)) == RATIOS


def test_a_record_keeps_the_times_of_the_devices_and_names_what_a_damaged_one_lacks() -> None:
    both = {"activity": Activity(9, 1, 11, 0.5, 2), "communication": Communication(4, 7, 1)}
    table = RATIOS.replace(**both, fitting_chips=["mi300x"])
    record = to_record(table)
    again = from_record(record)
    assert (again.activity, again.communication, again.fitting_chips) == (*both.values(), ("mi300x",))
    del record["activity"]["gap"]
    with pytest.raises(ValueError, match=r"activity: .gap."):
        from_record(record)


def test_a_column_that_is_missing_names_those_that_there_are() -> None:
    table = Kernels(["a"], [1], [2], origin={"flops": "counted", "bytes:main": "a rule"}, extra={"kind": ["x"]})
    with pytest.raises(KeyError, match=r"there is no .bytes.; did you mean .bytes:main."):
        table.origin["bytes"]
    with pytest.raises(KeyError, match=r"there is no .queue.; there are .kind."):
        table.extra["queue"]
    assert "bytes" not in table.origin
    assert table.origin.get("bytes") is None


def test_tables_with_and_without_ratios_are_joined() -> None:
    both = concat({"lab": RATIOS[:1], "run": Kernels(["a"], [4], [2], time=[1])})
    has_columns(both, arithmetic_intensity=[0.083, 2], achieved=[15.4e9, 4])
    assert both.rate[0] == 15.4e9
    assert np.isnan(both.rate[1])


def test_a_sum_has_ratios_only_if_all_its_rows_have_the_same() -> None:
    rows = [("a", 2, 10), ("a", 2, 10), ("b", 2, 10), ("b", 2, 11), ("c", 3, 7)]
    names, intensity, rate = zip(*rows, strict=True)
    table = Kernels(
        [*names, "c"],
        {"": [math.nan] * 5 + [8]},
        [math.nan] * 5 + [4],
        intensity=[*intensity, math.nan],
        rate=[*rate, math.nan],
    )
    sums = table.groupby("name")
    assert repr(sums.intensity.tolist()) == "[2.0, 2.0, nan]"
    assert repr(sums.rate.tolist()) == "[10.0, nan, nan]"
    assert np.isnan(sums.flops).all()
    assert sums.launches_of(0).rate.tolist() == [10, 10]


def test_an_extra_column_of_an_older_version_may_have_the_name_of_a_ratio() -> None:
    assert Kernels(["a"], [1], [1], extra={"rate": [3]}).extra["rate"].tolist() == [3]


def test_the_names_of_ratios_are_not_taken_for_misspelt() -> None:
    table = Kernels.from_dataframe({"name": ["a"], "flops": [1], "bytes": [1], "date": [3], "density": [4]})
    assert list(table.extra) == ["date", "density"]


def test_a_table_is_compared_and_cut_while_another_thread_computes_from_it() -> None:
    def interrupted() -> Kernels:
        found = Kernels(["a"], [1], [1])

        class Name(str):
            """A name in the dict of a table. When it is looked at, another thread computes from the table."""

            __slots__ = ()

            def removeprefix(self, prefix: str, /) -> str:
                found.short_names  # noqa: B018 - it is kept in the dict
                return super().removeprefix(prefix)

        vars(found)[Name("last")] = None
        return found

    assert interrupted() == Kernels(["a"], [1], [1])
    assert len(interrupted()[:1]) == 1
