"""Workbooks of spreadsheet programs (.xlsx, .xlsm, .ods): each sheet as delimited text.

The XML of a workbook is read as a stream. Formulas have the values that the spreadsheet program computed and saved.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source

INSTEAD: Final = "save the sheet as CSV and read that"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BOOK: Final = "xl/workbook.xml"
_BINARY_BOOK: Final = "xl/workbook.bin"
_ODS: Final = "content.xml"
_MAX_XML_BYTES: Final = 512 * 2**20
_MAX_ROWS: Final = 2**20
_MAX_COLUMNS: Final = 2**14
_MAX_CELLS: Final = 5_000_000


@dataclass
class Sheet:
    """The cells of a sheet: texts by column, by row; both count from 0."""

    name: str
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    cells: int = 0
    formulas_without_value: int = 0

    def put(self, file: str, row: int, column: int, text: str) -> None:
        """Set a cell. Raise an error if the sheet becomes too large."""
        self.check(file, row, column, self.cells + 1)
        self.cells += 1
        self.rows.setdefault(row, {})[column] = text

    def check(self, file: str, row: int, column: int, cells: int) -> None:
        """Raise an error if a sheet with this many cells, one of them here, is larger than any real sheet."""
        if not (0 <= row < _MAX_ROWS and 0 <= column < _MAX_COLUMNS) or cells > _MAX_CELLS:
            reason = f"the sheet has more than {_MAX_ROWS:,} rows, {_MAX_COLUMNS:,} columns or {_MAX_CELLS:,} cells"
            raise ProfileError(f"{file}, sheet '{self.name}'", reason)

    def source(self, file: str) -> Source:
        """Return the sheet as CSV. Line numbers are the sheet's row numbers.

        A row with one cell, such as a title in merged cells, is a line with one cell. All other rows have equally many
        cells.
        """
        width = 1 + max((max(cells) for cells in self.rows.values()), default=0)
        if width * len(self.rows) > _MAX_CELLS:
            raise ProfileError(f"{file}, sheet '{self.name}'", f"the sheet has more than {_MAX_CELLS:,} cells")
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for row in range(1 + max(self.rows, default=-1)):
            cells = self.rows.get(row, {})
            if len(cells) > 1:
                writer.writerow([cells.get(column, "") for column in range(width)])
            else:
                writer.writerow(cells.values())
        return Source.of_bytes(f"{file}, sheet '{self.name}'", text.getvalue().encode())


def is_workbook(source: Source) -> bool:
    """Whether a file is a workbook, also of a kind that is refused.

    Examples
    --------
    >>> is_workbook(Source.of(b"name,flops"))
    False
    """
    if not source.is_folder:
        return source.head.startswith(_OLE)
    if source.path is not None and source.path.is_dir():
        return False
    members = source.members()
    return bool({_BOOK, _BINARY_BOOK} & members.keys()) or {_ODS, "mimetype"} <= members.keys()


def sheets(source: Source) -> list[Sheet]:
    """Return the sheets with cells, in order.

    Raises
    ------
    ProfileError
        If the workbook is damaged, too large, or of an old or binary form.
    """
    members = source.members() if source.is_folder else {}
    if _BOOK in members:
        return [sheet for sheet in _Xlsx(source.name, members).sheets() if sheet.rows]
    if _ODS in members:
        return [sheet for sheet in _ods(source.name, members[_ODS]) if sheet.rows]
    raise source.error(f"a workbook of Excel's old or binary form (.xls, .xlsb): {INSTEAD}")


# -- XML -----------------------------------------------------------------------------------------------------------

Begin = Callable[[str, Mapping[str, str]], None]


def _parse(file: str, member: Source, begin: Begin, end: Callable[[str], None], text: Callable[[str], None]) -> None:
    """Call the functions for each element and text of an XML file; names have no prefixes.

    A file with a DOCTYPE is refused, so that no entity is ever defined.
    """

    def refuse(*_: Any) -> None:
        raise ProfileError(file, f"{member.name.rpartition('/')[2]} has a DOCTYPE, which no workbook has")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, attributes: begin(
        name.rpartition(":")[2], {key.rpartition(":")[2]: value for key, value in attributes.items()}
    )
    parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
    parser.CharacterDataHandler = text
    try:
        for piece in member.chunks(_MAX_XML_BYTES):
            parser.Parse(piece, False)  # noqa: FBT003 - expat has no keyword
        parser.Parse(b"", True)  # noqa: FBT003 - as above
    except expat.ExpatError as error:
        reason = f"the workbook is damaged: {member.name.rpartition('/')[2]}: {error}"
        raise ProfileError(file, f"{reason}; {INSTEAD}") from None


def _nothing(*_: Any) -> None:
    """Ignore an event."""


# -- .xlsx ---------------------------------------------------------------------------------------------------------

_CELL: Final = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_DATES: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""The numbers of the formats of dates and times that every workbook has."""
_LITERALS: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE_LETTERS: Final = re.compile(r"[dyhs]|m{3,}", re.IGNORECASE)
_EPOCH, _EPOCH_1904 = dt.datetime(1899, 12, 30), dt.datetime(1904, 1, 1)  # noqa: DTZ001 - sheets have no zones
_MAX_DAY: Final = 2_958_466
_UNKNOWN: Final = ("#N/A", "#NULL!")


class _Xlsx:
    """A workbook of Office Open XML."""

    def __init__(self, file: str, members: Mapping[str, Source]) -> None:
        self._file = file
        self._members = members
        self._named: list[tuple[str, str]] = []
        self._epoch = _EPOCH
        self._parse(_BOOK, self._take_book)
        self._targets: dict[str, str] = {}
        self._parse("xl/_rels/workbook.xml.rels", self._take_relation)
        self._strings = self._shared_strings()
        self._formats: dict[int, bool] = {}
        self._styles: list[int] = []
        self._in_styles = False
        self._parse("xl/styles.xml", self._take_style)

    def _parse(self, name: str, begin: Begin, end: Callable[[str], None] = _nothing, text: Any = _nothing) -> None:
        if name in self._members:
            _parse(self._file, self._members[name], begin, end, text)

    def _take_book(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet":
            self._named.append((attributes.get("name", "?"), attributes.get("id", "")))
        elif name == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self._epoch = _EPOCH_1904

    def _take_relation(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            target = attributes.get("Target", "")
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
            self._targets[attributes.get("Id", "")] = path

    def _take_style(self, name: str, attributes: Mapping[str, str]) -> None:
        number = int(attributes["numFmtId"]) if attributes.get("numFmtId", "").isdecimal() else 0
        if name == "numFmt":
            code = _LITERALS.sub("", attributes.get("formatCode", ""))
            self._formats[number] = _DATE_LETTERS.search(code) is not None
        elif name in ("cellXfs", "cellStyleXfs"):
            self._in_styles = name == "cellXfs"
        elif name == "xf" and self._in_styles:
            self._styles.append(number)

    def _shared_strings(self) -> list[str]:
        found: list[str] = []
        parts: list[str] = []
        inside: list[str] = []

        def begin(name: str, _: Mapping[str, str]) -> None:
            inside.append(name)
            if name == "si":
                parts.clear()

        def end(name: str) -> None:
            inside.pop()
            if name == "si":
                found.append("".join(parts))

        def text(piece: str) -> None:
            # A text may have a second one that says how to pronounce it.
            if inside and inside[-1] == "t" and "rPh" not in inside:
                parts.append(piece)

        self._parse("xl/sharedStrings.xml", begin, end, text)
        return found

    def sheets(self) -> list[Sheet]:
        return [
            self._sheet(name, self._targets[relation])
            for name, relation in self._named
            if self._targets.get(relation, "") in self._members and "worksheets" in self._targets[relation]
        ]

    def _sheet(self, name: str, path: str) -> Sheet:
        sheet = Sheet(name)
        at = [0, -1]
        cell: dict[str, str] = {}
        value: list[str] = []
        inside: list[str] = []
        has_formula = False

        def begin(element: str, attributes: Mapping[str, str]) -> None:
            nonlocal has_formula
            inside.append(element)
            if element == "row":
                row = attributes.get("r", "")
                at[:] = [
                    int(row) - 1 if row.isdecimal() and len(row) <= len(str(_MAX_ROWS)) else at[0] + bool(at[1] + 1),
                    -1,
                ]
            elif element == "c":
                place = _CELL.fullmatch(attributes.get("r", ""))
                at[:] = [int(place[2]) - 1, _column(place[1])] if place else [at[0], at[1] + 1]
                cell.clear()
                cell.update(attributes)
                value.clear()
                has_formula = False
            elif element == "f":
                has_formula = True

        def end(element: str) -> None:
            inside.pop()
            if element == "c":
                text = self._text("".join(value), cell)
                sheet.formulas_without_value += has_formula and not value
                if text:
                    sheet.put(self._file, at[0], at[1], text)

        def take(piece: str) -> None:
            if inside and (inside[-1] == "v" or (inside[-1] == "t" and "is" in inside)):
                value.append(piece)

        self._parse(path, begin, end, take)
        return sheet

    def _text(self, value: str, cell: Mapping[str, str]) -> str:
        """Return a cell's text. A date becomes text, because its number of days means nothing outside the workbook."""
        kind, style = cell.get("t", "n"), cell.get("s", "")
        if kind == "s":
            number = int(value) if value.isdecimal() and len(value) < 10 else -1  # noqa: PLR2004 - digits of an index
            return self._strings[number].strip() if 0 <= number < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind == "e" and value in _UNKNOWN:
            return ""
        if kind == "n" and style.isdecimal() and int(style) < len(self._styles):
            form = self._styles[int(style)]
            if self._formats.get(form, form in _DATES):
                return self._date(value)
        return value.strip()

    def _date(self, value: str) -> str:
        try:
            days = float(value)
        except ValueError:
            return value
        if not 1 <= days < _MAX_DAY:
            # A time of day or a duration.
            return value
        return (self._epoch + dt.timedelta(days=days)).isoformat(sep=" ", timespec="seconds").removesuffix(" 00:00:00")


def _column(letters: str) -> int:
    """Return the number of a column, from 0.

    Examples
    --------
    >>> _column("A"), _column("AA")
    (0, 26)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


# -- .ods ----------------------------------------------------------------------------------------------------------

_VALUES: Final = {"float": "value", "percentage": "value", "currency": "value", "date": "date-value"}


def _ods(file: str, member: Source) -> list[Sheet]:
    """Return the sheets of a document of OpenDocument."""
    found: list[Sheet] = []
    state = _Ods(file, found)
    _parse(file, member, state.begin, state.end, state.text)
    return found


class _Ods:
    """Where the parser is in an OpenDocument: the row, the column, the cell and its paragraphs."""

    def __init__(self, file: str, found: list[Sheet]) -> None:
        self._file = file
        self._found = found
        self._row = self._column = 0
        self._row_repeats = self._repeats = 1
        self._cells: dict[int, str] = {}
        self._value: str | None = None
        self._paragraphs: list[str] = []
        self._inside: list[str] = []

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._inside.append(name)
        if name == "table":
            self._found.append(Sheet(attributes.get("name", "?")))
            self._row = 0
        elif name == "table-row":
            self._column, self._cells = 0, {}
            self._row_repeats = _repeats(attributes.get("number-rows-repeated"))
        elif name in ("table-cell", "covered-table-cell"):
            self._value = attributes.get(_VALUES.get(attributes.get("value-type", ""), ""))
            self._paragraphs = []
            self._repeats = _repeats(attributes.get("number-columns-repeated"))
        elif name == "p":
            self._paragraphs.append("")

    def text(self, piece: str) -> None:
        if self._paragraphs and "p" in self._inside and "annotation" not in self._inside:
            self._paragraphs[-1] += piece

    def end(self, name: str) -> None:
        self._inside.pop()
        if name in ("table-cell", "covered-table-cell"):
            text = (self._value if self._value is not None else " ".join(self._paragraphs)).strip()
            if text:
                if self._column + self._repeats > _MAX_COLUMNS:
                    raise ProfileError(self._file, f"a sheet has more than {_MAX_COLUMNS:,} columns")
                self._cells |= dict.fromkeys(range(self._column, self._column + self._repeats), text)
            self._column += self._repeats
        elif name == "table-row" and self._found:
            sheet, last = self._found[-1], self._row + self._row_repeats - 1
            sheet.check(self._file, last if self._cells else 0, 0, sheet.cells + len(self._cells) * self._row_repeats)
            for row in range(self._row, self._row + self._row_repeats) if self._cells else ():
                for column, text in self._cells.items():
                    sheet.put(self._file, row, column, text)
            self._row += self._row_repeats


def _repeats(given: str | None) -> int:
    """Return a number of repetitions, at most one more than a sheet has rows."""
    return min(int(given), _MAX_ROWS + 1) if given and given.isdecimal() and len(given) < 10 else 1  # noqa: PLR2004 - digits
