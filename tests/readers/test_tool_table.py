from __future__ import annotations

import re

import numpy as np
import pytest

from roofwidget import ProfileError
from roofwidget.kernels.dataframes import GivenColumns
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import tool_table
from roofwidget.readers.tables.tool_table import LeftOut, ToolColumn, ToolTable
from tests.tables import has_columns

TABLE = ToolTable(
    "a tool",
    [{"Kernel", "Busy"}, {"Function", "Busy"}],
    {
        "name": [ToolColumn("Kernel"), ToolColumn("Function")],
        "time": [ToolColumn("Busy", "ms")],
        "count": [ToolColumn("Runs")],
        "flops": [ToolColumn("Work", "GFLOP", "launch", "from a counter")],
        "bytes:L2": [ToolColumn("L2", "GB/s")],
    },
    left_out=[LeftOut("Kind", re.compile("api|host"), "calls of the host")],
    has_unit_row=True,
)


def read(text: str, table: ToolTable = TABLE) -> Kernels:
    source = Source.of(text.encode())
    found = tool_table.find(source, [table])
    assert found is table
    return Kernels(**tool_table.arguments(tool_table.read_columns(source, found), found, source.name))


def test_a_unit_in_the_header_wins_over_that_of_the_tool() -> None:
    assert read("Kernel,Busy\na,2\n").time.tolist() == [2e-3]
    assert read("Kernel,Busy (us)\na,2\n").time.tolist() == [2e-6]
    assert read("Function;Busy [ns]\na;2,5\n").time.tolist() == [2.5e-9]


def test_a_row_of_units_gives_each_column_its_own_unit() -> None:
    kernels = read("Kernel,Busy,Work\n,us,MFLOP\na,2,3\n")
    has_columns(kernels, time=[2e-6], flops=[3e6])


def test_the_first_cell_of_a_row_of_units_may_have_a_unit() -> None:
    kernels = read("Busy,Work,Kernel\nus,MFLOP,\n2,3,a\n4,5,b\n")
    assert (kernels.time.tolist(), kernels.flops.tolist(), list(kernels.names)) == (
        [2e-6, 4e-6],
        [3e6, 5e6],
        ["a", "b"],
    )


def test_an_amount_per_launch_counts_for_each_launch_and_a_rate_for_the_time() -> None:
    kernels = read("Kernel,Busy,Runs,Work,L2\na,2,10,3,5\n")
    has_columns(kernels, flops=[30e9], bytes_by_level={"L2": [10e6]})
    assert kernels.origin["flops"] == '"Work" x 1000000000 x launches (from a counter)'


def test_rows_that_are_no_kernels_are_left_out_and_counted() -> None:
    kernels = read("Kind,Kernel,Busy\ngpu,a,1\napi,b,2\nhost,c,3\ngpu,d,4\n")
    assert list(kernels.names) == ["a", "d"]
    assert kernels.time.tolist() == [1e-3, 4e-3]
    assert "2 rows left out: calls of the host" in kernels.warnings
    assert kernels.extra["Kind"].tolist() == ["gpu", "gpu"]


def test_a_table_without_a_kernel_says_what_its_rows_are() -> None:
    with pytest.raises(ProfileError, match="no row is a kernel of a device: all rows are calls of the host"):
        read("Kind,Kernel,Busy\napi,b,2\n")


def test_a_bad_cell_is_named_by_its_line_below_rows_that_are_left_out() -> None:
    with pytest.raises(ProfileError, match="row 4, column 'Busy': -3 is negative"):
        read("Kind,Kernel,Busy\napi,b,2\ngpu,a,1\ngpu,c,-3\n")
    with pytest.raises(ProfileError, match="row 4, column 'Busy': expected a finite number, got 'x'"):
        read("Busy,Work,Kernel\nus,MFLOP,\n2,3,a\nx,5,b\n")


@pytest.mark.parametrize("text", ["Kernel,Busy\n", "Kernel,Busy\n,us\n"])
def test_an_empty_table_is_an_error(text: str) -> None:
    with pytest.raises(ProfileError, match="row"):
        read(text)


def test_cells_may_have_their_own_units() -> None:
    columns = {"name": [ToolColumn("Loop")], "time": [ToolColumn("Self", "s", has_unit_in_cells=True)]}
    table = ToolTable("a tool", [{"Loop", "Self"}], columns)
    kernels = read("Loop,Self\na,1.25s\nb,3 ms\nc,7\nd,\n", table)
    assert np.array_equal(kernels.time, [1.25, 3e-3, 7.0, np.nan], equal_nan=True)
    with pytest.raises(ProfileError, match=r"row 2, column 'Self': expected a number with a unit, such as '1.5s'"):
        read("Loop,Self\na,3 apples\n", table)


def test_a_column_whose_unit_is_of_another_quantity_is_another_column() -> None:
    table = ToolTable("a tool", [{"Kernel"}], {"name": [ToolColumn("Kernel")], "time": [ToolColumn("Time", "s")]})
    assert read("Time (%),Time,Kernel\n90,2,a\n", table).time.tolist() == [2.0]


def test_a_data_frame_has_the_same_meaning() -> None:
    given = GivenColumns({"Kind": ["gpu", "api"], "Kernel": ["a", "b"], "Busy [us]": [2.0, 4.0]})
    kernels = Kernels(**tool_table.arguments(given, TABLE, "DataFrame"))
    assert (list(kernels.names), kernels.time.tolist()) == (["a"], [2e-6])


def test_a_table_of_another_tool_is_not_found() -> None:
    assert tool_table.find(Source.of(b"Kernel,Time\na,1\n"), [TABLE]) is None
    assert tool_table.find(Source.of(b"Kernel is Busy\nname,flops\n"), [TABLE]) is None
