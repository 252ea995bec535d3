"""The grades of a class: a row for each student, and tables for spreadsheets, Canvas and Moodle."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from unicodedata import normalize

from roofwidget.export.table import table_text
from roofwidget.support.did_you_mean import did_you_mean
from roofwidget.teaching.classroom.inbox import OTHER, HandedIn
from roofwidget.teaching.classroom.sheet import LEVELS, Sheet
from roofwidget.teaching.classroom.students import ClassKey, Student, file_name
from roofwidget.teaching.grading import Grades, grades_of, tried
from roofwidget.teaching.item_analysis import ItemAnalysis, analysis_of
from roofwidget.teaching.question import Question, by_key

Label = tuple[str, str]
_DIGITS: Final = 4
# Moodle and Canvas write a student's name and a number.
_NUMBERED: Final = re.compile(r"(.+)_([0-9]+)")


@dataclass(frozen=True)
class Row:
    """A student's result.

    Attributes
    ----------
    student
        The student; for a file of nobody on the list, one with the id that the file says.
    status
        "ok"; "missing": no file; "duplicate": several files of a submission that differ, and it is not known which is
        the newest; "conflict": files of several submissions that differ, or only files in the submissions of other
        students, so that they may be the work of others; "token": the file is not from the student's page; "sheet": the
        file has other questions; "damaged": the file cannot be read; "unknown-id": nobody on the list has its id.
    grades
        The grades if the status is "ok", else None.
    handed_in
        The file that counts, or None.
    notes
        The names of all files of the student, and what is wrong with them.
    """

    student: Student
    status: str
    grades: Grades | None = None
    handed_in: HandedIn | None = None
    notes: str = ""


@dataclass(frozen=True)
class Gradebook:
    """The results of a class: a row for each student in the order of the list, then files of nobody.

    `keys` has the questions that count.
    """

    sheet: Sheet
    rows: tuple[Row, ...]
    analysis: ItemAnalysis | None
    keys: tuple[str, ...]

    def table(self, decimal: str = ".") -> str:
        """Return all columns as CSV. With a decimal comma, semicolons separate the cells."""
        keys = self.keys
        head = ["id", "name", "email", "section", "status", "points", "max", "percent"]
        head += [f"q:{key}" for key in keys] + [f"attempts:{key}" for key in keys] + ["saved_at", "notes"]
        return table_text(head, (self._cells(row, decimal) for row in self.rows), ";" if decimal == "," else ",")

    def _cells(self, row: Row, decimal: str) -> Iterator[Any]:
        student, grades = row.student, row.grades
        yield from (student.id, student.name, student.email, student.section, row.status)
        if grades is None:
            yield from [""] * (3 + 2 * len(self.keys))
        else:
            yield from (_number(grades.points, decimal), len(grades), _number(100 * grades.score, decimal))
            yield from (_number(one.points, decimal) for one in grades)
            yield from (one.attempts for one in grades)
        yield from (str(row.handed_in.record.get("saved_at", "")) if row.handed_in else "", row.notes)

    def canvas(self) -> str:
        """Return the CSV that Canvas imports. It has only graded students: an empty cell would clear a grade there."""
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", self.sheet.title]
        most = ["    Points Possible", "", "", "", "", len(self.keys)]
        found = (
            [one.name or one.id, one.lms_id, one.id, one.login_id, one.section, _number(points)]
            for one, points in self._graded()
        )
        return table_text(head, [most, *found])

    def moodle(self) -> str:
        """Return a CSV whose columns Moodle maps on import. It has only graded students."""
        head = ["ID number", "Email address", "Username", self.sheet.title]
        return table_text(head, ([one.id, one.email, one.login_id, _number(points)] for one, points in self._graded()))

    def _graded(self) -> Iterator[tuple[Student, float]]:
        yield from ((row.student, row.grades.points) for row in self.rows if row.grades is not None)


def gradebook(
    students: Sequence[Student],
    files: Iterable[HandedIn],
    sheet: Sheet,
    key: ClassKey,
    counts: str,
    *,
    drop: Sequence[str] = (),
) -> Gradebook:
    """Return the results of a class. Questions are made anew from the key: what a file says of them does not count.

    Raises
    ------
    ValueError
        If the sheet has no question of a key in `drop`, or if no question is left.
    """
    for name in drop:
        if name not in sheet.keys:
            raise ValueError(f"the sheet has no question '{name}'{did_you_mean(name, sheet.keys)}")
    votes = {one.key for one in sheet.own if not one.graded}
    keys = tuple(name for name in sheet.keys if name not in votes and name not in drop)
    if not keys:
        raise ValueError("no question of the sheet counts")
    by_id: dict[str, list[HandedIn]] = {one.id: [] for one in students}
    strays, faulty = [], []
    for file in files:
        if file.fault:
            faulty.append(file)
            if file.fault != OTHER:
                strays.append(Row(Student(""), "damaged", handed_in=file, notes=f"{file.name}: {file.fault}"))
        elif file.id not in by_id:
            strays.append(Row(Student(file.id), "unknown-id", handed_in=file, notes=file.name))
        else:
            by_id[file.id].append(file)
    by_label = _ids_by_label(students)
    rows, sheets = [], []
    for student in students:
        questions = key.questions(sheet, student.id)
        damaged = [
            file
            for file in faulty
            if _may_be_of(student, file.name) or student.id in _senders(file.submission, by_label)
        ]
        row = _row(student, by_id[student.id], questions, sheet, key, damaged=damaged, by_label=by_label)
        if row.status == "ok" and row.handed_in is not None:
            given = answers_that_count(row.handed_in, sheet)
            questions = [one for one in questions if one.key in keys]
            sheets.append((given, questions))
            more = [name for name in keys if len(row.handed_in.answers.get(name, ())) > len(given.get(name, ()))]
            unread = _unreadable(given, questions)
            said = f"; more than one answer, of which the first counts: {', '.join(more)}" if more else ""
            row = Row(
                student, "ok", grades_of(given, by_key(questions), counts), row.handed_in, row.notes + said + unread
            )
        rows.append(row)
    return Gradebook(sheet, (*rows, *strays), analysis_of(sheets, counts) if sheets else None, keys)


def _row(
    student: Student,
    files: Sequence[HandedIn],
    questions: Sequence[Question],
    sheet: Sheet,
    key: ClassKey,
    *,
    damaged: Sequence[HandedIn],
    by_label: Mapping[Label, set[str]],
) -> Row:
    """Return which file of a student counts, without its grades."""
    if not files:
        perhaps = (f"perhaps {one.name}: {OTHER if one.fault == OTHER else 'it is damaged'}" for one in damaged)
        return Row(student, "missing", notes="; ".join(perhaps))
    statuses = [(status_of(file, student.id, questions, sheet, key), file) for file in files]
    notes = "; ".join(
        file.name if status == "ok" else f"{file.name}: {other_level(file, sheet) or status}"
        for status, file in statuses
    )
    valid = [file for status, file in statuses if status == "ok"]
    if not valid:
        status, file = max(statuses, key=lambda one: one[1].saved_at)
        return Row(student, status, handed_in=file, notes=notes)
    last: list[HandedIn] = []
    for submission in dict.fromkeys(file.submission for file in valid):
        equal = [file for file in valid if file.submission == submission]
        newest = max(file.saved_at for file in equal)
        last += (found := [file for file in equal if file.saved_at == newest])
        if any(file.answers != found[0].answers for file in found):
            return Row(student, "duplicate", notes=notes)
    # Whoever has a file of another student can hand it in, with other answers.
    if any(file.answers != last[0].answers for file in last):
        return Row(student, "conflict", notes=notes)
    senders = [_senders(file.submission, by_label) for file in last]
    if all(found and student.id not in found for found in senders):
        others = ", ".join(sorted(set().union(*senders)))
        return Row(student, "conflict", notes=f"{notes}: in the submission of {others}")
    return Row(student, "ok", handed_in=max(last, key=lambda file: file.saved_at), notes=notes)


def _ids_by_label(students: Iterable[Student]) -> dict[Label, set[str]]:
    found: dict[Label, set[str]] = {}
    for one in students:
        for label in _labels(one.id, one.name, one.lms_id):
            found.setdefault(label, set()).add(one.id)
    return found


def _labels(student: str, name: str, number: str) -> Iterator[Label]:
    """Yield what may name a student: the id, the letters of the name in any order of its words, the LMS's number."""
    # Archives write an accent in one character or in two, or leave it out.
    letters = sorted(letter for letter in normalize("NFKD", name.casefold()) if letter.isalnum())
    labels = (("id", student), ("name", "".join(letters)), ("number", number))
    yield from (label for label in labels if label[1])


def _senders(submission: str, by_label: Mapping[Label, set[str]]) -> set[str]:
    """Return the ids of the students whose submission this may be; none if its name does not tell."""
    found: set[str] = set()
    for part in submission.split("/"):
        numbered = _NUMBERED.match(part)
        name, number = numbered.groups() if numbered else (part, "")
        found.update(*(by_label.get(label, ()) for label in _labels(part, name, number)))
    return found


def _may_be_of(student: Student, path: str) -> bool:
    """Return whether the path of a file has the name of a student, or that of the student's file of answers."""
    if student.name and student.name.casefold() in path.casefold():
        return True
    stem = re.escape(file_name(student).removesuffix(".json"))
    return re.search(rf"{stem}(?![A-Za-z0-9])", path, re.IGNORECASE) is not None


def _unreadable(given: Mapping[str, Sequence[Any]], questions: Sequence[Question]) -> str:
    found = [
        f"{one.key} {reprlib.repr(answer.value)}"
        for one in questions
        for answer in tried(one, given.get(one.key, ()))
        if answer.check.said == "invalid"
    ]
    return f"; cannot be read: {', '.join(found)}" if found else ""


def answers_that_count(file: HandedIn, sheet: Sheet) -> Mapping[str, Sequence[Any]]:
    """Return the answers of a file by key. A page without answers saves one to each question; others were added."""
    return {key: given[:1] for key, given in file.answers.items()} if sheet.answers == "none" else file.answers


def other_level(file: HandedIn, sheet: Sheet) -> str:
    """Return that a file is of a page of this sheet with more or less of the answers; "" if it is not."""
    for level in LEVELS:
        if level != sheet.answers and file.record.get("sheet") == replace(sheet, answers=level).id:
            return (
                f"it is of a page made with --answers {level}, and this sheet is graded with --answers {sheet.answers}"
            )
    return ""


def status_of(file: HandedIn, student: str, questions: Sequence[Question], sheet: Sheet, key: ClassKey) -> str:
    """Return "ok" if a file is from the page of the student with this id, else "sheet" or "token"; see `Row`."""
    if file.record.get("sheet") != sheet.id or file.record.get("course") != sheet.course:
        return "sheet"
    if file.record.get("token") != key.token(sheet, student):
        return "token"
    said = [one.get("prompt") if isinstance(one, dict) else None for one in file.record["questions"]]
    return "ok" if said == [question.prompt for question in questions] else "sheet"


def _number(value: float, decimal: str = ".") -> str:
    return f"{round(value, _DIGITS):g}".replace(".", decimal)
