"""`class_pages`: a page for each student of a list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from roofwidget.export.table import table_text
from roofwidget.support.did_you_mean import listed
from roofwidget.teaching.classroom.pages import head_of, live_page, student_page
from roofwidget.teaching.classroom.sheet import read_sheet
from roofwidget.teaching.classroom.students import new_key, read_key, read_students, slug, write_key
from roofwidget.teaching.lms.items import items
from roofwidget.teaching.question import Question


def class_pages(
    students: str | os.PathLike[str],
    sheet: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str] = "class.key",
    answers: str = "none",
) -> Path:
    """Write a page for each student, and return the path of a CSV file that says whose page is which.

    The CSV file lies beside the folder and has its name, such as ``pages.csv``: it has names and addresses, and is not
    for students.

    Parameters
    ----------
    students
        A CSV file with a row for each student and a column ``id``.
    sheet
        A TOML file with the course, the title and the keys of questions of the bank; or an executed notebook whose
        stories ask the questions.
    out
        The folder of the pages.
    key
        The secret of the class, from which the numbers and the tokens of the students follow. It is made if there is no
        such file. The grades need it.
    answers
        What a page has of the answers. "none", for marks: no answer and no text. The page only collects what is
        entered. "packed": a page with charts, which checks answers and explains them. It contains the answers,
        compressed, so that a search of the file does not find them. "shown": the same, and the answers are printed at
        its end.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    ValueError
        If the list, the sheet or the key is wrong, or a page of this kind cannot ask a question of the sheet.
    """
    listing, asked, folder = read_students(Path(students)), read_sheet(Path(sheet), answers), Path(out)
    is_new = not Path(key).exists()
    secret = new_key() if is_new else read_key(Path(key))
    today = datetime.now().astimezone().date()
    rows: list[list[str]] = []
    pages: dict[str, str] = {}
    for student in listing:
        questions = secret.questions(asked, student.id)
        head = head_of(asked, student, secret.token(asked, student.id), questions)
        if answers == "none":
            page = student_page(asked, student, head, questions, _items(Path(sheet), questions))
        else:
            page = live_page(asked, student, head, questions, today, is_shown=answers == "shown")
        stem = f"sheet-{''.join(slug(student.id))}-{secret.file_letters(asked, student.id)}"
        # The names of ids without ASCII letters differ in the secret letters alone, and these are few.
        name = f"{stem}.html" if f"{stem}.html" not in pages else f"{stem}-{len(rows) + 1}.html"
        pages[name] = page
        rows.append([student.id, student.name, student.email, name])
    # A refused sheet leaves no key behind.
    if is_new:
        write_key(Path(key), secret)
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / name).write_text(page, encoding="utf-8", newline="\n")
    index = folder.parent / f"{folder.absolute().name}.csv"
    write_table(index, table_text(["id", "name", "email", "page"], rows))
    return index


def _items(sheet: Path, questions: Sequence[Question]) -> list[Any]:
    merges = listed(one.key for one in questions if one.kind == "merge")
    if merges:
        raise ValueError(
            f"{sheet.name}: a page without a chart cannot ask {merges}, which merges operations; take it out of the "
            "sheet, or use --answers packed"
        )
    return items(questions)[0]


def write_table(path: Path, text: str) -> None:
    """Write a CSV for spreadsheets, which need the mark at the begin of the file to read it as UTF-8."""
    path.write_text(text, encoding="utf-8-sig", newline="")
