"""Write two small workbooks with the libraries that people use: openpyxl (.xlsx) and odfpy (.ods)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "workbooks"
ROWS: list[list[object]] = [
    ["Kernels of the solver"],
    [],
    ["kernel", "FLOPs", "bytes", "time", "calls", "measured"],
    ["", "GFLOP", "MB", "us", "", ""],
    ["gemm", 4.3, 12, 31.5, 2, dt.date(2026, 1, 5)],
    ["relu", 0.002, 8, 4.25, 1, dt.date(2026, 1, 6)],
    ["Note: averages of ten runs"],
]


def _xlsx(path: Path) -> None:
    import openpyxl  # noqa: PLC0415 - an optional package

    book = openpyxl.Workbook()
    book.active.title = "About"
    book.active.append(["written by hand"])
    sheet = book.create_sheet("Runs")
    for row in ROWS:
        sheet.append(row)
    sheet.merge_cells("A1:F1")
    book.save(path)


def _ods(path: Path) -> None:
    from odf import opendocument, table, text  # noqa: PLC0415 - an optional package

    document = opendocument.OpenDocumentSpreadsheet()
    sheet = table.Table(name="Runs")
    for row in ROWS:
        line = table.TableRow()
        for value in row:
            kind = (
                {"valuetype": "float", "value": value} if isinstance(value, (int, float)) else {"valuetype": "string"}
            )
            if isinstance(value, dt.date):
                kind = {"valuetype": "date", "datevalue": value.isoformat()}
            cell = table.TableCell(**kind)
            cell.addElement(text.P(text=str(value)))
            line.addElement(cell)
        sheet.addElement(line)
    document.spreadsheet.addElement(sheet)
    document.save(str(path))


if __name__ == "__main__":
    FIXTURES.mkdir(exist_ok=True)
    _xlsx(FIXTURES / "openpyxl.xlsx")
    _ods(FIXTURES / "odfpy.ods")
