"""Tables in text: found between other output, in either notation; errors name line and column."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.readers import ProfileError, Source
from roofwidget.readers.tables import delimited
from roofwidget.readers.tables.delimited import DelimitedTable, _Block, read_table
from roofwidget.readers.tables.notation import decimal_mark, numbers, plain_decimals
from tests.processes import memory_below, run_python


def has_kernel(cells: Sequence[str]) -> bool:
    return "kernel" in cells


def read(text: str | bytes, **more: object) -> DelimitedTable:
    data = text.encode() if isinstance(text, str) else text
    return read_table(Source.of(data), header=has_kernel, **more)  # type: ignore[arg-type]  # each test passes valid options


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_is_split_at_commas_semicolons_or_tabs(mark: str, end: str) -> None:
    found = read(f"kernel{mark}time{end}a{mark}1{end}b{mark}2{end}")
    assert found.columns == {"kernel": ["a", "b"], "time": ["1", "2"]}
    assert (list(found.lines), found.skipped, len(found)) == ([2, 3], 0, 2)


def test_the_last_line_needs_no_end() -> None:
    assert read("kernel,time\na,1").texts("kernel") == ["a"]


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfkernel,t\na,1\n", "kernel,t\na,1\n".encode("utf-16")])
def test_byte_order_marks_are_no_part_of_the_first_header(data: bytes) -> None:
    assert list(read(data).columns) == ["kernel", "t"]
    assert list(read(gzip.compress(data)).columns) == ["kernel", "t"]


def test_a_mark_after_a_banner_is_no_part_of_a_header_either() -> None:
    assert list(read("==PROF== Connected\n\ufeffkernel,t\na,1\n").columns) == ["kernel", "t"]


def test_banners_and_program_output_are_left_out_and_counted_but_blank_lines_are_not() -> None:
    text = (
        '==PROF== Connected, to process 7\n"quoted banner\nkernel,grid,time\n'
        '"f(int, float)","(1, 2, 3)",1\nloss = 3.2, step 5\n\nsaid "hello, there", you know, and so on\n'
        '"g<""x"">",2,3\n100%|####|\r"h",4,5\n'
    )
    found = read(text)
    assert found.columns["kernel"] == ["f(int, float)", 'g<"x">', "h"]
    assert found.columns["grid"] == ["(1, 2, 3)", "2", "4"]
    assert list(found.lines) == [4, 8, 10]
    assert found.skipped == 3


def test_a_quoted_cell_may_go_over_several_lines() -> None:
    found = read('kernel,note\na,"one\ntwo, three"\nb,x\n')
    assert found.columns["note"] == ["one\ntwo, three", "x"]
    assert list(found.lines) == [2, 4]


def test_a_stray_quote_swallows_no_rows() -> None:
    found = read('kernel,time\na,1\n"stray, quote\nb,2\nc,3\n')
    assert found.columns["kernel"] == ["a", "b", "c"]
    assert found.skipped == 1


def test_a_row_may_end_with_more_separators_than_the_header() -> None:
    assert read("kernel,time\na,1,,\n").columns == {"kernel": ["a"], "time": ["1"]}


def test_a_table_of_many_columns_keeps_names_beyond_ascii_quotes_and_lines() -> None:
    names = [f"c{number}" for number in range(200)]
    rows = [["\u00b5-kernel", *map(str, range(199))], ['say ""hi"", \u20ac', *map(str, range(199, 398))]]
    lines = [",".join(["kernel", *names[1:]]), *(",".join(f'"{cell}"' for cell in row) for row in rows)]
    found = read("\n".join([*lines[:2], "loss = 1, 2", "", lines[2], ""]))
    assert found.columns["kernel"] == ["\u00b5-kernel", 'say "hi", \u20ac']
    assert found.numbers("c199").tolist() == [198, 397]
    assert (list(found.lines), found.skipped) == ([2, 5], 1)


@example('a,"x ""y"""\n', ",")
@example('a"b",c\nd,"e"f\n', ",")
@given(st.text(st.sampled_from('ab,"\n\r ;\x1f\u00e9'), max_size=60), st.sampled_from([",", ";", "\t"]))
def test_rows_taken_many_at_once_are_those_taken_one_by_one(text: str, mark: str) -> None:
    text = f"kernel{mark}x\n" + text.replace(",", mark)
    with one_by_one():
        expected: DelimitedTable | ProfileError
        try:
            expected = read(text)
        except ProfileError as error:
            expected = error
    if isinstance(expected, ProfileError):
        with pytest.raises(ProfileError, match=re.escape(str(expected))):
            read(text)
        return
    found = read(text)
    assert (found.columns, found.units) == (expected.columns, expected.units)
    assert (list(found.lines), found.skipped) == (list(expected.lines), expected.skipped)


def one_by_one() -> AbstractContextManager[object]:
    """Take every row by Python's csv."""
    return mock.patch.object(_Block, "end_of_rows", lambda _, at: at)


def in_small_blocks(size: int) -> AbstractContextManager[object]:
    """Split files of any size by pyarrow, in blocks of `size` characters."""
    return mock.patch.multiple(delimited, _LARGE_BYTES=0, _BLOCK_CHARS=size)


def all_of(data: bytes) -> list[object]:
    """Return everything that a table tells, with the errors of its columns."""
    try:
        found = read(data)
    except ProfileError as error:
        return [str(error)]
    told: list[object] = [dict(found.columns), list(found.lines), found.skipped, found.units, found.has_last_end]
    for name in found.columns:
        column = found.coded(name)
        told += [column.texts().tolist(), column.values]
        try:
            told.append(found.numbers(name, least=-np.inf).tobytes())
        except ProfileError as error:
            told.append(str(error))
    try:
        return [*told, found.decimal, found.decided]
    except ProfileError as error:
        return [*told, str(error)]


CELLS = st.one_of(
    st.sampled_from(
        ["", "n/a", "NaN", "True", "inf", "-nan", " 7", "1,234.5", "1.234,5", "27.595.520", "1e999", "1 000"]
    ),
    st.sampled_from(
        ["f<4, float>", 'say "hi"', "\u00b5-kernel", "a\nb", "'=f", "#x", "1_0", "+5", ".5", "5.", "-0", "0x1"]
    ),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=3).map(str),
    st.decimals(-1000, 1000, places=2).map(lambda number: str(number).replace(".", ",")),
)
ODD_LINES = st.sampled_from(
    ["", "  ", "loss = 3.2", "short,row", "# a, b, c, d", '"stray, quote', "a,b,c,", "a,b,c,,", "\u2028"]
)


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Draw a table of three columns with quotes, odd lines and either line end."""
    mark = draw(st.sampled_from([",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    # Columns of few different cells, as real ones are.
    kinds = [draw(st.lists(CELLS, min_size=1, max_size=4)) for _ in range(3)]
    lines = []
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(ODD_LINES).replace(",", mark))
            continue
        cells = [draw(st.sampled_from(kind)) for kind in kinds]
        has_quotes = draw(st.booleans())
        lines.append(
            mark.join(
                '"' + cell.replace('"', '""') + '"' if has_quotes or any(c in cell for c in f'{mark}"\n') else cell
                for cell in cells
            )
        )
    text = end.join([f"kernel{mark}x{mark}y", *lines])
    return (text + (end if draw(st.booleans()) else "")).encode()


@given(tables(), st.sampled_from([1, 40, 2**20]))
@settings(max_examples=300)
def test_every_way_to_split_a_table_gives_the_same_cells_numbers_lines_and_errors(data: bytes, size: int) -> None:
    pytest.importorskip("pyarrow")
    with one_by_one():
        expected = all_of(data)
    assert all_of(data) == expected
    with in_small_blocks(size):
        assert all_of(data) == expected


@given(st.text(st.sampled_from('ab,"\n\r ;\x1f\u00e9#1.\t'), max_size=60), st.sampled_from([",", ";", "\t"]))
@settings(max_examples=300)
def test_pyarrow_splits_any_text_as_python_does(text: str, mark: str) -> None:
    pytest.importorskip("pyarrow")
    data = (f"kernel{mark}x\n" + text.replace(",", mark)).encode()
    with one_by_one():
        expected = all_of(data)
    with in_small_blocks(1):
        assert all_of(data) == expected


def test_a_large_table_is_split_by_pyarrow() -> None:
    csv = pytest.importorskip("pyarrow.csv")
    data = b"kernel,x\n" + b"a,1\n" * 6
    with in_small_blocks(1), mock.patch.object(csv, "read_csv", side_effect=csv.read_csv) as split:
        found = read(data)
        assert (found.numbers("x").tolist(), list(found.lines)) == ([1.0] * 6, [2, 3, 4, 5, 6, 7])
    assert split.call_count == 6


@given(st.lists(st.one_of(CELLS, st.text("0123456789.,-+eE ", max_size=22)), min_size=1), st.sampled_from([".", ","]))
def test_decimals_parsed_many_at_once_are_those_of_python(cells: list[str], mark: str) -> None:
    data = "\x1f".join(cells).encode()
    stops = np.append(np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 0x1F), len(data))
    starts = np.append(0, stops[:-1] + 1)
    found = plain_decimals(np.frombuffer(data, dtype=np.uint8), starts, stops, mark)
    if found is not None:
        expected = [float(cell.replace(mark, ".")) if cell else math.nan for cell in cells]
        np.testing.assert_array_equal(found, expected)
        assert np.signbit(found).tolist() == np.signbit(expected).tolist()


def test_most_decimals_are_parsed_many_at_once() -> None:
    data = b"123456789012345678;-0.001;9007199254740.993;;+5.;.5"
    stops = np.append(np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord(";")), len(data))
    found = plain_decimals(np.frombuffer(data, dtype=np.uint8), np.append(0, stops[:-1] + 1), stops, ".")
    assert found is None, "2**53 + 1 thousandths are no float64"
    stops[2] -= 1
    found = plain_decimals(
        np.frombuffer(data, dtype=np.uint8), np.append(0, stops[:-1] + 1)[[0, 1, 4, 5]], stops[[0, 1, 4, 5]], "."
    )
    assert found is not None
    assert found.tolist() == [123456789012345678.0, -0.001, 5.0, 0.5]


def test_a_row_of_units_under_the_header_is_kept_apart() -> None:
    found = read('"ID","kernel","time"\n"","","ns"\n"0","a","5"\n')
    assert found.units == {"ID": "", "kernel": "", "time": "ns"}
    assert found.columns["time"] == ["5"]
    assert list(found.lines) == [3]
    assert read("ID,kernel\n,a\n").units is not None
    assert read("ID,kernel\n,7\n").units is None


def test_a_file_cut_off_within_its_last_row_is_refused_by_line() -> None:
    with pytest.raises(ProfileError, match="row 3: the file ends within a row: 3 of 4 cells"):
        read("kernel,a,b,c\nx,1,2,3\ny,1,2")
    assert read("kernel,a,b,c\nx,1,2,3\ny,1,2\n").skipped == 1, "with an end it is a line of something else"
    assert read("kernel,a,b,c\nx,1,2,3\ny,1").skipped == 1, "half a row may be a program's output"


@pytest.mark.parametrize(("last", "count"), [('"', 1), ('"y', 1), ('"y"', 1), ('"y",', 2), ('"y","1","2","3', 4)])
def test_a_last_line_that_begins_or_ends_within_quotes_is_a_part_of_a_row(last: str, count: int) -> None:
    with pytest.raises(ProfileError, match=f"row 3: the file ends within a row: {count} of 4 cells; export it again"):
        read(f'kernel,a,b,c\n"x","1","2","3"\n{last}')
    assert read(f'kernel,a,b,c\n{last}"\n"x","1","2","3"').columns["c"][-1] == "3"


def test_a_last_row_of_inches_is_whole() -> None:
    assert read('kernel,a,b,c\nx 5",1,2,3').columns["kernel"] == ['x 5"']


def test_two_columns_of_one_name_are_refused_and_nameless_ones_left_out() -> None:
    with pytest.raises(ProfileError, match="line 1, column 'time': two columns have this name"):
        read("kernel,time,time\n")
    assert list(read(",kernel,\n0,a,\n").columns) == ["kernel"]


def test_a_file_without_such_a_header_is_refused() -> None:
    with pytest.raises(ProfileError, match="no table with the columns of this format"):
        read("name,time\na,1\n")
    with pytest.raises(ProfileError, match="no table"):
        read("")


def test_a_missing_column_is_named_with_the_nearest() -> None:
    found = read("kernel,duration\na,1\n")
    with pytest.raises(ProfileError, match="column 'duratoin': the table has no such column; did you mean 'duration'"):
        found.numbers("duratoin")
    assert np.isnan(found.numbers("flops", optional=True)).tolist() == [True]


def test_a_million_columns_and_endless_lines_are_refused_within_little_memory() -> None:
    wide = b"kernel" + b",x" * 10**6 + b"\n"
    with memory_below(64 * 2**20):
        with pytest.raises(ProfileError, match="a table of 1,000,001 columns; the limit is 20,000"):
            read(wide)
        with pytest.raises(ProfileError, match="line 1: a line longer than 16 MiB"):
            read(b"x" * (16 * 2**20 + 1))


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ProfileError, match="not UTF-8"):
        read(b"kernel,t\na,\xff\n")


# -- numbers ---------------------------------------------------------------------------------------------------


def column(*cells: str, decimal: str | None = None) -> list[float]:
    found = read("kernel;x\n" + "".join(f"k;{cell}\n" for cell in cells))
    if decimal:
        found.decimal = decimal
    return list(found.numbers("x"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2.5", "1e3", "-0", "+4"], [1, 2.5, 1000, 0, 4]),
        (["5,323,503,232.00", "117.344"], [5323503232, 117.344]),
        (["27.595.520", "65,77", "117.344"], [27595520, 65.77, 117344]),
        (["1,5", "117.344"], [1.5, 117344]),
        (["0,125", "117.344"], [0.125, 117344]),
        (["0.125", "1,234"], [0.125, 1234]),
        (["1'234'567.5", "1 234"], [1234567.5, 1234]),
        (["1\u202f234,5"], [1234.5]),
        (["1.5e-3"], [0.0015]),
        (["1,5e3"], [1500]),
        (["1,234"], [1.234]),
        (["117.344"], [117.344]),
        ([".5", "5."], [0.5, 5]),
    ],
)
def test_one_notation_holds_for_the_whole_file(cells: list[str], expected: list[float]) -> None:
    assert column(*cells) == expected


def test_the_notation_is_that_of_all_columns_together() -> None:
    found = read("kernel;bytes;percent\na;117.344;65,77\n")
    assert found.numbers("bytes").tolist() == [117344]
    assert (found.decimal, found.decided) == (",", True)
    unsure = read("kernel;bytes\na;117.344\n")
    assert (unsure.decimal, unsure.decided) == (".", False)


def test_a_reader_that_knows_better_sets_the_notation() -> None:
    assert column("117.344", decimal=",") == [117344]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            "kernel\tx\nk\t1,234\n",
            "x",
            "row 2, column 'x': '1,234' may be 1.234 or 1234, and no number of the file tells",
        ),
        ("kernel;x;y\nk;5.678;1,234\n", "y", "row 2, column 'y': '1,234' may be 1.234 or 1234"),
    ],
)
def test_a_number_that_may_be_a_thousand_times_smaller_is_asked_about(text: str, name: str, message: str) -> None:
    with pytest.raises(ProfileError, match=re.escape(message)):
        read(text).numbers(name)
    found = read(text)
    found.decimal = "."
    assert found.numbers(name).tolist() == [1234]


def test_texts_with_dots_and_commas_do_not_count_as_numbers() -> None:
    found = read("kernel;version;x\na;1.2.3;1,5\nb;v2;2,5\nc;5.x;3,5\n")
    assert found.numbers("x").tolist() == [1.5, 2.5, 3.5]


def test_columns_that_do_not_follow_the_notation_are_named_by_the_reader() -> None:
    text = "kernel;cc;x\na;7.5;65,77\n"
    found = read(text, plain=("cc",))
    assert (found.numbers("cc").tolist(), found.numbers("x").tolist()) == ([7.5], [65.77])
    with pytest.raises(ProfileError, match=r"two notations: '7.5' \(row 2, column 'cc'\) and '65,77' \(row 2, col"):
        read(text).numbers("x")


def test_what_says_nothing_is_nan() -> None:
    cells = ["1", "n/a", "nan", "N/A", " ", "no data", "-", "None"]
    assert [math.isnan(value) for value in column(*cells)] == [False] + [True] * 7


@pytest.mark.parametrize(
    "cell", ["abc", "1.2.3", "12,34", "1,2345", "(1, 2)", "1_000", "0x10", "inf", "1e999", "--1", "1e", "5 %", "\u0663"]
)
def test_a_cell_that_is_no_finite_number_is_refused_by_line_and_column(cell: str) -> None:
    with pytest.raises(ProfileError, match=r"row 4, column 'x': expected a finite number from 0, got ") as caught:
        column("1", "0.5", cell)
    assert (caught.value.row, caught.value.column) == (4, "x")


def test_negative_numbers_are_refused_where_nothing_else_is_said() -> None:
    found = read("kernel,x\na,-1\n")
    with pytest.raises(ProfileError, match="row 2, column 'x': expected a finite number from 0, got '-1'"):
        found.numbers("x")
    assert found.numbers("x", least=-np.inf).tolist() == [-1]


@given(st.lists(st.floats(0, 1e15, allow_nan=False).map(lambda x: round(x, 3)), min_size=1, max_size=20))
def test_numbers_come_back_in_both_notations(values: list[float]) -> None:
    english = [f"{value:,.3f}" for value in values]
    european = [text.translate(str.maketrans(",.", ".,")) for text in english]
    for cells, mark in ((english, "."), (european, ",")):
        found, bad = numbers(cells, mark)
        assert bad is None
        assert found.tolist() == [float(f"{value:.3f}") for value in values]
        assert {decimal_mark(cell) for cell in cells} <= {mark, None}


def test_the_decimal_mark_of_cells_with_units_is_that_of_these_cells() -> None:
    kernels = rw.read(b"name;time;flops\ngemm;1,5 ms;4 GFLOP\ncopy;0,25 ms;0 GFLOP\n")
    assert kernels.time.tolist() == [1.5e-3, 0.25e-3]


def test_arrow_is_read_without_an_import_of_pandas() -> None:
    code = (
        "import sys, numpy as np, pyarrow as pa, roofwidget as rw\n"
        "ints, half = (pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(np.arange(2, dtype=dtype))])\n"
        "              for kind, dtype in ((pa.int64(), 'i8'), (pa.float32(), 'f4')))\n"
        "from roofwidget.kernels.arrow import column_of_arrow\n"
        "assert column_of_arrow(ints).tolist() == column_of_arrow(half).tolist() == [0, 1]\n"
        "assert 'pandas' not in sys.modules\n"
    )
    run_python(code)
