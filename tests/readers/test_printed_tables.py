"""Tables that people copy from a page or a terminal: Markdown, boxes, and columns aligned by spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import roofwidget as rw
from roofwidget import ProfileError
from tests.tables import has_columns

MARKDOWN = """\
Results of today:

| kernel | time (us) | work[GFLOP] |
|:-------|----------:|------------:|
| `gemm<1, 2>` | 10 | 1.5 |
| relu | 2 | 0.25 |
"""
PLUS = """\
+------------+-----------+-------------+
| kernel     | time (us) | work[GFLOP] |
+============+===========+=============+
| gemm<1, 2> | 10        | 1.5         |
+------------+-----------+-------------+
| relu       | 2         | 0.25        |
+------------+-----------+-------------+
"""
PSQL = """\
   kernel   | time (us) | work[GFLOP]
------------+-----------+-------------
 gemm<1, 2> |        10 |         1.5
 relu       |         2 |        0.25
(2 rows)
"""
DUCKDB = """\
┌────────────┬───────────┬─────────────┐
│   kernel   │ time (us) │ work[GFLOP] │
│  varchar   │   int32   │   double    │
├────────────┼───────────┼─────────────┤
│ gemm<1, 2> │        10 │         1.5 │
│ relu       │         2 │        0.25 │
├────────────┴───────────┴─────────────┤
│ 2 rows                     3 columns │
└──────────────────────────────────────┘
"""
RICH = """\
┏━━━━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━━━┓
┃ kernel     ┃ time (us) ┃ work[GFLOP] ┃
┡━━━━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━━━┩
│ gemm<1, 2> │ 10        │ 1.5         │
│ relu       │ 2         │ 0.25        │
└────────────┴───────────┴─────────────┘
"""
LEFT = """\
kernel      time (us)  work[GFLOP]
----------  ---------  -----------
gemm<1, 2>  10         1.5
relu        2          0.25
"""
FRAME = pd.DataFrame({"kernel": ["gemm<1, 2>", "relu"], "time (us)": [10, 2], "work[GFLOP]": [1.5, 0.25]})
PRINTS = {
    "markdown": MARKDOWN,
    "plus": PLUS,
    "psql": PSQL,
    "duckdb": DUCKDB,
    "rich": RICH,
    "left": LEFT,
    "pandas": str(FRAME),
    "pandas without an index": FRAME.to_string(index=False),
    "pandas by its index": str(FRAME.set_index("kernel")),
    "pandas by an index without a name": str(FRAME.set_index("kernel").rename_axis(None)),
    "polars": str(pl.from_pandas(FRAME)),
}


@pytest.mark.parametrize("name", PRINTS)
@pytest.mark.parametrize("options", [{}, {"format": "table"}, {"columns": {"flops": "work[GFLOP]"}}])
def test_a_printed_table_is_read_as_the_file_of_the_same_cells(name: str, options: dict[str, Any]) -> None:
    kernels = rw.read(PRINTS[name].encode(), **options)
    assert kernels.names.tolist() == ["gemm<1, 2>", "relu"]
    np.testing.assert_allclose([kernels.time, kernels.flops], [[10e-6, 2e-6], [1.5e9, 0.25e9]], rtol=1e-14)
    assert kernels.warnings == ()


def test_an_error_in_a_printed_table_names_the_line_of_the_text() -> None:
    with pytest.raises(ProfileError, match=r"row 6, column 'time \(us\)': expected a finite number, got 'fast'"):
        rw.read(MARKDOWN.replace("| 2 |", "| fast |").encode())
    with pytest.raises(ProfileError, match="row 5: 4 cells where the header has 3"):
        rw.read(MARKDOWN.replace("| 10 |", "| 10 | 11 |").encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (str(pd.concat([FRAME] * 40)), "the print leaves out rows: save the table as CSV"),
        (str(pl.concat([pl.from_pandas(FRAME)] * 40)), "the print leaves out rows"),
        (str(FRAME).replace("time (us)", "      ..."), "the print leaves out columns"),
    ],
)
def test_a_print_that_leaves_out_rows_or_columns_is_refused(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        rw.read(text.encode())


def test_a_printed_table_of_a_tool_is_read_as_its_csv() -> None:
    text = """\
ROCPROFV3 SUMMARY:

|      NAME       |     DOMAIN      | CALLS | DURATION (nsec) | AVERAGE (nsec)  | PERCENT (INC) |
|-----------------|-----------------|-------|-----------------|-----------------|---------------|
| addition_kernel | KERNEL_DISPATCH |     4 |           12000 |       3.000e+03 |     60.000000 |
| hipMemcpy       | HIP_API         |     2 |            8000 |       4.000e+03 |     40.000000 |
"""
    kernels = rw.read(text.encode())
    has_columns(kernels, names=["addition_kernel"], count=[4], time=pytest.approx([12e-6], rel=1e-14))


def test_a_printed_table_without_amounts_names_its_columns() -> None:
    with pytest.raises(ProfileError, match="no column of FLOPs, bytes or seconds among 'kernel', 'score'"):
        rw.read(b"| kernel | score |\n|---|---|\n| gemm | 10 |\n")


def test_text_and_bytes_that_are_no_printed_table_say_what_they_look_like() -> None:
    for data in (
        b"---\n| x\n",
        b"hello   world\nand   again\n",
        b"\x00\xff  | a |\n---\n",
    ):
        with pytest.raises(ProfileError, match=r"which is not a profile of a known tool|not UTF-8"):
            rw.read(data)
