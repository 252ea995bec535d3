"""Reading workbooks: the sheet with the table, its titles, units, dates and saved values, in limited memory."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests import places
from tests.tables import has_columns

FIXTURES = places.FIXTURES / "workbooks"
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
LINKS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
TEXTS = ["kernel", "flops", "bytes", "time (ms)", "day", "gemm", "axpy"]
RUNS = """
<row r="2"><c r="B2" t="inlineStr"><is><t>Runs</t></is></c></row>
<row r="4"><c r="B4" t="s"><v>0</v></c><c r="C4" t="s"><v>1</v></c><c r="D4" t="s"><v>2</v></c><c r="E4" t="s"><v>3</v></c><c r="F4" t="s"><v>4</v></c></row>
<row r="5"><c r="B5" t="s"><v>5</v></c><c r="C5"><f>2*2E9</f><v>4000000000</v></c><c r="D5"><v>1.2E7</v></c><c r="E5"><v>1.5</v></c><c r="F5" s="1"><v>46027</v></c></row>
<row r="6"><c r="B6" t="s"><v>6</v></c><c r="C6"><v>2000000</v></c><c r="D6" t="e"><v>#N/A</v></c><c r="E6"><f>E5/3</f><v>0.5</v></c><c r="F6" s="1"><v>46028.5</v></c></row>
"""  # noqa: E501 - rows of a sheet


def workbook(**sheets: str) -> bytes:
    """Return a workbook with sheets by name; the value is the XML of its rows."""
    named = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, 1))
    links = "".join(
        f'<Relationship Id="rId{at}" Target="worksheets/sheet{at}.xml"/>' for at in range(1, len(sheets) + 1)
    )
    files = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f"<workbook {MAIN} {LINKS}><sheets>{named}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{links}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {MAIN}>{''.join(f'<si><r><t>{text}</t></r></si>' for text in TEXTS)}</sst>",
        "xl/styles.xml": f'<styleSheet {MAIN}><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>',
    }
    files |= {
        f"xl/worksheets/sheet{at}.xml": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"
        for at, rows in enumerate(sheets.values(), 1)
    }
    return archive(files)


def archive(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return buffer.getvalue()


def test_the_sheet_with_the_table_is_found_and_formulas_have_their_saved_values() -> None:
    kernels = read(workbook(About='<row r="1"><c r="A1"><v>7</v></c></row>', Runs=RUNS))
    has_columns(kernels, names=["gemm", "axpy"], flops=[4e9, 2e6])
    np.testing.assert_equal(kernels.bytes, [1.2e7, np.nan])
    has_columns(kernels, time=[1.5e-3, 0.5e-3], extra={"day": ["2026-01-05", "2026-01-06 12:00:00"]})
    assert kernels.source == "buffer, sheet 'Runs'"


@pytest.mark.parametrize("name", ["openpyxl.xlsx", "odfpy.ods"])
def test_workbooks_of_libraries_are_read_with_title_units_dates_and_note(name: str) -> None:
    for given in (FIXTURES / name, (FIXTURES / name).read_bytes()):
        kernels = read(given)
        has_columns(
            kernels,
            names=["gemm", "relu"],
            flops=pytest.approx([4.3e9, 2e6], rel=1e-15),
            bytes=pytest.approx([12e6, 8e6], rel=1e-15),
            time=pytest.approx([31.5e-6, 4.25e-6], rel=1e-15),
            count=[2, 1],
            extra={"measured": ["2026-01-05", "2026-01-06"]},
        )


def test_a_sheet_may_be_named_and_its_columns_too() -> None:
    other = RUNS.replace("<v>1.5</v>", "<v>2.5</v>")
    data = workbook(Runs=RUNS, Later=other)
    assert read(data, sheet="Later").time.tolist() == [2.5e-3, 0.5e-3]
    assert read(data, columns={"self_time": ("time (ms)", "ms")}).self_time.tolist() == [1.5e-3, 0.5e-3]
    with pytest.raises(ProfileError, match="there is no sheet 'Latter' with cells; did you mean 'Later'"):
        read(data, sheet="Latter")


def test_formulas_without_a_saved_value_are_unknown_and_said() -> None:
    kernels = read(workbook(Runs=RUNS.replace("<f>E5/3</f><v>0.5</v>", "<f>E5/3</f>")))
    np.testing.assert_equal(kernels.time, [1.5e-3, np.nan])
    assert "formulas without a saved value: 1; open the workbook and save it" in kernels.warnings


def test_a_bad_cell_is_named_by_sheet_row_and_column() -> None:
    with pytest.raises(ProfileError, match=r"buffer, sheet 'Runs': row 6, column 'time \(ms\)'"):
        read(workbook(Runs=RUNS.replace("<v>0.5</v>", "<v>fast</v>")))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (workbook(Runs=""), "the workbook has no cells: save the sheet as CSV"),
        (
            workbook(Runs="<row><c><v>1</v></c></row>"),
            "no sheet has a table of kernels .'Runs'.: pass columns=, or save",
        ),
        (workbook(Runs="<row>"), "the workbook is damaged: sheet1.xml: .* save the sheet as CSV"),
        (workbook(Runs='<row r="1"><c r="A1"><v>1</v></c><c r="ZZZ1"><v>1</v></c></row>'), "more than 1,048,576 rows"),
        (workbook(Runs='<row r="9999999"><c r="A9999999"><v>1</v></c></row>'), "more than 1,048,576 rows"),
        (archive({"[Content_Types].xml": "", "xl/workbook.bin": ""}), "old or binary form .* save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old or binary form .* save the sheet as CSV"),
    ],
)
def test_workbooks_that_are_no_tables_end_in_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(data)


def test_a_workbook_with_entities_is_refused() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>'
    data = archive({"[Content_Types].xml": "", "xl/workbook.xml": f"{bomb}<workbook>&c;</workbook>"})
    with pytest.raises(ProfileError, match=r"workbook\.xml has a DOCTYPE"):
        read(data)


def test_an_opendocument_with_entities_is_refused() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>'
    data = archive({"mimetype": "", "content.xml": f"{bomb}<document>&c;</document>"})
    with pytest.raises(ProfileError, match=r"content\.xml has a DOCTYPE"):
        read(data)


def test_a_sheet_that_unpacks_to_far_more_than_a_table_is_refused() -> None:
    data = workbook(Runs="<row><c><v>1</v></c></row>" * 1_000_000)
    with pytest.raises(ProfileError, match="buffer"):
        read(data)


@pytest.mark.parametrize(("rows", "columns"), [(1_048_576, 16_384), (9, 99_999), (1_048_577, 1)])
def test_repeated_cells_of_an_opendocument_take_no_memory(rows: int, columns: int) -> None:
    cell = f'<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="{columns}"/>'
    row = f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>'
    spaces = 'xmlns:table="urn:t" xmlns:office="urn:o"'
    content = f'<office:spreadsheet {spaces}><table:table table:name="Big">{row}</table:table></office:spreadsheet>'
    with pytest.raises(ProfileError, match="more than 1"):
        read(archive({"mimetype": "", "content.xml": content}))


def test_empty_cells_that_an_opendocument_repeats_to_the_last_row_are_no_cells() -> None:
    empty = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'  # noqa: E501 - what LibreOffice writes
    with zipfile.ZipFile(FIXTURES / "odfpy.ods") as packed:
        files = {name: packed.read(name).decode() for name in ("mimetype", "content.xml")}
    files["content.xml"] = files["content.xml"].replace("</table:table>", f"{empty}</table:table>")
    assert read(archive(files)).names.tolist() == ["gemm", "relu"]


def test_dates_of_1904_times_of_day_truths_and_notes_of_pronunciation_are_understood() -> None:
    rows = """<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c><c r="B1" t="inlineStr"><is><t>flops</t></is></c>
<c r="C1" t="inlineStr"><is><t>day</t></is></c><c r="D1" t="inlineStr"><is><t>valid</t></is></c></row>
<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2"><v>4e9</v></c><c r="C2" s="1"><v>1</v></c><c r="D2" t="b"><v>1</v></c></row>
<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><v>2e9</v></c><c r="C3" s="1"><v>0.5</v></c><c r="D3" t="b"><v>0</v></c></row>"""  # noqa: E501 - rows of a sheet
    with zipfile.ZipFile(io.BytesIO(workbook(Runs=rows))) as packed:
        files = {name: packed.read(name).decode() for name in packed.namelist()}
    files["xl/workbook.xml"] = files["xl/workbook.xml"].replace("<sheets>", '<workbookPr date1904="1"/><sheets>')
    texts = "<si><r><t>gemm</t></r><rPh><t>ge</t></rPh></si><si><t>axpy</t></si>"
    files["xl/sharedStrings.xml"] = f"<sst {MAIN}>{texts}</sst>"
    kernels = read(archive(files))
    has_columns(kernels, names=["gemm", "axpy"], extra={"day": ["1904-01-02", "0.5"], "valid": ["TRUE", "FALSE"]})
