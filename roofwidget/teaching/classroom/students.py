"""The list of a class, and the secret from which the numbers and the tokens of its students follow."""

from __future__ import annotations

import base64
import codecs
import csv
import hmac
import io
import os
import re
import secrets
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from roofwidget.support.did_you_mean import listed
from roofwidget.teaching.classroom.sheet import Sheet
from roofwidget.teaching.question import Question

COLUMNS: Final = ("id", "name", "email", "section", "lms_id", "login_id")
# How other programs call the id of a student.
_LIKE_ID: Final = re.compile(r"(?<!email )\bid\b|matri[ck]|numm?[be]er|\bno\b|\bnr\b", re.IGNORECASE)
_DELIMITERS: Final = ",;\t"
# Excel writes and reads this line before the header.
_SEPARATOR: Final = re.compile(r"sep=([,;\t])\s*", re.IGNORECASE)
_SECRET_BYTES: Final = 32
_SEED_BYTES: Final = 6
_TOKEN_LETTERS: Final = 16
_NAME_LETTERS: Final = 4


@dataclass(frozen=True)
class Student:
    """A row of the list: texts, so that leading zeros stay."""

    id: str
    name: str = ""
    email: str = ""
    section: str = ""
    lms_id: str = ""
    login_id: str = ""


def read_students(path: Path) -> list[Student]:
    """Return the students of a CSV file with commas, semicolons or tabs.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If a row is wrong. The message has all wrong rows with their lines.
    """
    data = path.read_bytes()
    try:
        # Excel's "Unicode text" is UTF-16.
        text = data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path.name}: this is no UTF-8 text; save the list as CSV UTF-8") from None
    try:
        return _students(text)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _students(text: str) -> list[Student]:
    rows = _rows(text)
    at, head = next(rows, (1, [""]))
    names = [name.casefold() for name in head]
    if "id" not in names:
        like = next((name for name in head if _LIKE_ID.search(name)), "")
        hint = f"rename '{like}' to 'id'" if like else f"it may have {listed(COLUMNS)}"
        raise ValueError(f"line {at} has no column 'id'; {hint}")
    if len({*filter(None, names)}) < len([*filter(None, names)]):
        raise ValueError(f"line {at} has a column twice; it has each one once, and may have {listed(COLUMNS)}")
    students: dict[str, Student] = {}
    wrong = []
    for line, row in rows:
        # Spreadsheets write empty cells of columns that were deleted.
        cells = row[: len(names)] if not any(row[len(names) :]) else row
        values = dict(zip(names, cells, strict=False))
        # Signs that nobody sees, such as those of the direction of writing, are no part of an id.
        student = "".join(sign for sign in values.get("id", "") if unicodedata.category(sign) != "Cf")
        if len(cells) != len(names):
            wrong.append(f"line {line} has {len(cells)} cells, and line {at} has {len(names)}")
        elif not student:
            wrong.append(f"line {line} has no id")
        elif student in students:
            wrong.append(f"line {line} has the id '{student}' again")
        else:
            students[student] = Student(**{name: values.get(name, "") for name in COLUMNS} | {"id": student})
    if wrong or not students:
        raise ValueError("; ".join(wrong) or "there is no student in it")
    return list(students.values())


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the number of its last line and its cells without line breaks.

    Raises
    ------
    ValueError
        If a cell has no end. Without this error it would hold all students after it.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    declared = _SEPARATOR.fullmatch(first)
    delimiter = declared[1] if declared else max(_DELIMITERS, key=lambda mark: _fitness(first, mark))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    last = 0
    try:
        for row in rows:
            cells = [" ".join(cell.split()) for cell in row]
            last = rows.line_num
            if any(cells) and not (declared and delimiter.join(row) == first):
                yield last, cells
    except csv.Error as error:
        raise ValueError(
            f"after line {last}: a cell that begins with a quotation mark does not end with one ({error}); "
            "write a quotation mark within a cell twice"
        ) from None


def _fitness(head: str, delimiter: str) -> tuple[bool, int]:
    """Return how well a delimiter fits a header: whether there is a column for the id, and how many there are."""
    names = [name.strip().casefold() for name in next(csv.reader([head], delimiter=delimiter), [])]
    return "id" in names, len(names)


def nbgrader_text(students: Iterable[Student]) -> str:
    """Return the list as ``nbgrader db student import`` reads it.

    A name is split before its last word, or at its comma. nbgrader exports names without quotes, so that a comma in a
    name would break a row of its grades: none is left.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "first_name", "last_name", "email", "lms_user_id"])
    for one in students:
        first, last = (part.replace(",", " ").strip() for part in _first_and_last(one.name))
        writer.writerow([one.id, first, last, one.email, one.lms_id])
    return text.getvalue()


def _first_and_last(name: str) -> tuple[str, str]:
    last, comma, first = name.partition(",")
    if comma:
        return first, last
    first, _, last = name.rpartition(" ")
    return first, last


@dataclass(frozen=True)
class ClassKey:
    """The secret of a class. It never leaves the lecturer's machine."""

    secret: bytes

    def seed(self, sheet: Sheet, student: str) -> int:
        """Return the seed of the numbers of a student."""
        return int.from_bytes(self._digest("seed", sheet.course, sheet.id, student)[:_SEED_BYTES], "big")

    def questions(self, sheet: Sheet, student: str) -> list[Question]:
        """Return the questions of a student. Ids of options are the same for all students, and tell nothing."""
        return [self._with_ids(sheet, question) for question in sheet.questions(self.seed(sheet, student))]

    def _with_ids(self, sheet: Sheet, question: Question) -> Question:
        def place(ident: str) -> bytes:
            return self._digest("option", sheet.course, sheet.id, question.key, ident)

        ids = dict(zip(sorted(question.option_ids, key=place), sorted(question.option_ids), strict=True))
        return replace(question, option_ids=tuple(ids[ident] for ident in question.option_ids))

    def token(self, sheet: Sheet, student: str) -> str:
        """Return the text that shows that a file comes from the page of this student."""
        return _letters(self._digest("page", "v1", sheet.course, sheet.id, student))[:_TOKEN_LETTERS]

    def file_letters(self, sheet: Sheet, student: str) -> str:
        """Return letters for the name of the student's page, so that nobody guesses it."""
        return _letters(self._digest("file", sheet.course, sheet.id, student))[:_NAME_LETTERS].lower()

    def _digest(self, *parts: str) -> bytes:
        return hmac.digest(self.secret, "|".join(parts).encode(), "sha256")


def _letters(digest: bytes) -> str:
    return base64.b32encode(digest).decode()


def new_key() -> ClassKey:
    """Return a secret that nobody has."""
    return ClassKey(secrets.token_bytes(_SECRET_BYTES))


def write_key(path: Path, key: ClassKey) -> None:
    """Write a secret to a new file that only its owner can read. Raise `OSError` if it cannot be written."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(base64.b64encode(key.secret) + b"\n")


def read_key(path: Path) -> ClassKey:
    """Return the secret in a file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has no such secret.
    """
    try:
        secret = base64.b64decode(path.read_bytes().strip(), validate=True)
    except ValueError:
        secret = b""
    if len(secret) != _SECRET_BYTES:
        raise ValueError(f"{path.name}: this is no key of a class, which 'roofwidget class pages' makes")
    return ClassKey(secret)


def file_name(student: Student) -> str:
    """Return the name of the student's file of answers."""
    return f"answers-{''.join(slug(student.id))}.json"


def slug(text: str) -> Iterator[str]:
    """Yield the letters of a text that may be in the name of a file, and a hyphen for each other one."""
    yield from (letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
