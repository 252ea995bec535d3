"""Writes kernels as a CSV file that spreadsheets and `roofwidget.read` understand."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any, Final

from roofwidget.kernels.dataframes import to_columns
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import without_surrogates

# A spreadsheet reads such a text as a formula. An apostrophe before it prevents this; `roofwidget.read` removes it.
_FORMULA: Final = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def csv_text(kernels: Kernels) -> str:
    """Return the columns of `Kernels.to_dataframe` as CSV. Unknown values are empty; numbers have all their digits."""
    columns = to_columns(kernels)
    return table_text(columns, zip(*map(_plain, columns.values()), strict=True))


def table_text(head: Iterable[str], rows: Iterable[Iterable[Any]], delimiter: str = ",") -> str:
    """Return a table as CSV whose cells no spreadsheet reads as formulas."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow([csv_cell(cell) for cell in head])
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _plain(column: Any) -> list[Any]:
    return column.tolist() if hasattr(column, "tolist") else list(column)


def csv_cell(value: Any) -> str:
    """Return a value as the text of a cell that no spreadsheet reads as a formula. Unknown values are empty."""
    if value is None or value != value:  # noqa: PLR0124 - NaN differs from itself
        return ""
    if not isinstance(value, str):
        return repr(value)
    # Many programs end a text at NUL, or refuse the file.
    text = without_surrogates(value).replace("\0", "\ufffd")
    return f"'{text}" if _FORMULA.match(text) else text
