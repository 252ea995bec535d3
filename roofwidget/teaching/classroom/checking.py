"""`class_check`: the grades of one student's file, for a test cell of nbgrader or otter-grader."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from roofwidget.teaching.classroom.gradebook import answers_that_count, other_level, status_of
from roofwidget.teaching.classroom.inbox import read_file
from roofwidget.teaching.classroom.sheet import read_sheet
from roofwidget.teaching.classroom.students import read_key
from roofwidget.teaching.grading import Grades, check_rule, grades_of
from roofwidget.teaching.question import by_key

_REASONS: Final = {
    "token": "it is not from the page of student '{}'; hand in the file of your own page",
    "sheet": "it has another sheet or other questions than '{}' got; hand in the file of the page of this sheet",
}


def class_check(
    path: str | os.PathLike[str],
    student: str,
    *,
    sheet: str | os.PathLike[str] = "sheet.toml",
    key: str | os.PathLike[str] = "class.key",
    counts: str = "decay",
    answers: str = "none",
) -> Grades:
    """Return the grades of a student's file of answers, if it comes from the page that was made for this student.

    Parameters
    ----------
    path
        The file that the student's page has saved, such as ``"answers.json"``.
    student
        The id of the student, as the list of the class has it.
    sheet, key
        The sheet and the secret of the class that `class_pages` had. Where students can read it, the secret is none.
    counts
        The rule of `grade`: "decay", "first", "best" or "last".
    answers
        What the pages have of the answers, as `class_pages` had it. Of a page with "none" the first answers count.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If the file is damaged, belongs to another student or another sheet, or the sheet or the key is wrong.
    """
    check_rule(counts)
    file, asked, secret = read_file(Path(path)), read_sheet(Path(sheet), answers), read_key(Path(key))
    if file.fault:
        raise ValueError(f"{file.name}: {file.fault}")
    if file.id != student:
        raise ValueError(f"{file.name}: it is of student '{file.id:.40}', not of '{student}'")
    questions = secret.questions(asked, student)
    status = status_of(file, student, questions, asked, secret)
    if status != "ok":
        raise ValueError(f"{file.name}: {other_level(file, asked) or _REASONS[status].format(student)}")
    return grades_of(answers_that_count(file, asked), by_key(questions), counts)
