"""Notebooks with questions run to their end where there is no front end, and answers are graded there.

`make notebooks` runs each lesson by nbval. Here nbconvert runs one; `make graders` tries nbgrader and otter-grader too.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.teaching.classroom.sheet import read_sheet
from roofwidget.teaching.classroom.students import read_key
from tests import environments
from tests.environments import DEV
from tests.places import json_of, text_of, write
from tests.teaching.lessons import ASKS, LESSON, PRINTED, SHOWS_GRADES, Cell, notebook

GRADERS: Final = {"nbgrader": ("nbgrader", "ipykernel"), "otter": ("otter-grader", "ipykernel")}
"""What to install besides roofwidget, by the name of an environment; see `tests.environments`."""
LESSONS: Final = environments.ROOT / "notebooks"
ALL: Final = os.environ.get("ROOFWIDGET_GRADERS", "") == "all"
GRADED: Final = 'rw.grade("answers.json", [ridge]).points'
# The test cell that docs/teaching.md shows, with the sheet and the key in the folder of the course.
_TEST_CELL: Final = """\
from pathlib import Path

student, course = Path.cwd().parent.name, Path.cwd().parents[2]
rw.class_check("answers.json", student, sheet=course / "sheet.toml", key=course / "class.key").points
"""
NBGRADER: Final = 'c = get_config()\nc.CourseDirectory.course_id = "rooflines"\n'


def of(environment: str) -> pytest.MarkDecorator:
    """Mark a test that needs an environment which only `make graders` makes."""
    return pytest.mark.skipif(not ALL, reason=f"make graders installs '{environment}'")


def run(environment: str, folder: Path, program: str, *arguments: str) -> str:
    """Run a program with a home of its own beside the folder."""
    homes = sorted(folder.parent.glob("home-*"))
    return environments.run(environment, folder, folder.parent / f"home-{len(homes)}", program, *arguments)


def answers(value: str) -> str:
    """Return a file of answers, as a page saves it after a learner has typed a value."""
    model = rw.RooflineModel(["v5p"], [])
    rw.Story(model, [rw.Question(key="ridge", prompt="?", answer=1, unit="FLOP/B")])
    model.answers = {"ridge": [value]}
    return model.export_answers()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_nbconvert_executes_a_lesson(folder: Path) -> None:
    write(folder / "lesson.ipynb", notebook(LESSON))
    run(DEV, folder, "jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace", "lesson.ipynb")
    cells = json_of(folder / "lesson.ipynb")["cells"]
    assert "".join(cells[3]["outputs"][0]["text"]).startswith(PRINTED)


@pytest.mark.parametrize("path", sorted(LESSONS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_lesson_captures_output_in_a_widget(path: Path) -> None:
    # nbclient answers such widgets on the socket on which it waits for the end of the cell, and can miss that message.
    cells = json_of(path)["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert not re.search(r"\bOutput\(|\binteract(ive)?(_output|_manual)?\(", code)


@of("nbgrader")
def test_nbgrader_grades_answers_and_files_of_answers(folder: Path) -> None:
    def graded(name: str, points: int) -> dict[str, Any]:
        flags = {"grade": bool(points), "solution": not points, "locked": bool(points), "task": False}
        return {"nbgrader": {"schema_version": 3, "grade_id": name, **flags, **({"points": points} if points else {})}}

    solution = '### BEGIN SOLUTION\nanswers = {"ridge": "166.3 FLOP/B"}\n### END SOLUTION'
    cells = (
        *LESSON,
        Cell(solution, metadata=graded("answers", 0)),
        Cell("assert rw.grade(answers, [ridge]).points == 1", metadata=graded("typed", 1)),
        Cell(f"assert {GRADED} == 1", metadata=graded("saved", 2)),
    )
    write(folder / "nbgrader_config.py", NBGRADER)
    (folder / "source" / "week").mkdir(parents=True)
    write(folder / "source" / "week" / "lesson.ipynb", notebook(cells))
    run("nbgrader", folder, "nbgrader", "generate_assignment", "week")
    released = json_of(folder / "release" / "week" / "lesson.ipynb")
    for student, typed, saved in (("ada", "166 FLOP/B", "20 FLOP/B"), ("bob", None, "166 FLOP/B")):
        handed_in = folder / "submitted" / student / "week"
        handed_in.mkdir(parents=True)
        released["cells"][4]["source"] = f"answers = {{'ridge': {typed!r}}}"
        write(handed_in / "lesson.ipynb", released)
        write(handed_in / "answers.json", answers(saved))
    run("nbgrader", folder, "nbgrader", "autograde", "week")
    run("nbgrader", folder, "nbgrader", "export")
    with (folder / "grades.csv").open(encoding="utf-8") as file:
        scores = {row["student_id"]: (row["score"], row["max_score"]) for row in csv.DictReader(file)}
    assert scores == {"ada": ("1.0", "3.0"), "bob": ("2.0", "3.0")}


@of("nbgrader")
def test_nbgrader_imports_the_list_of_a_class_and_grades_the_file_of_each_students_page(folder: Path) -> None:
    students = write(folder / "students.csv", "id;name;email\n007;Ada King Lovelace;a@example.org\n008;Öz, Cem;\n")
    asked = 'course = "HPC"\ntitle = "Week"\nquestions = ["ridge-point", "compute-time"]\n'
    sheet, key = write(folder / "sheet.toml", asked), folder / "class.key"
    rw.class_pages(students, sheet, folder / "pages", key=key)
    assert main(["class", "nbgrader", str(students), "--out", str(folder / "nbgrader.csv")]) == 0
    write(folder / "nbgrader_config.py", NBGRADER)
    run("nbgrader", folder, "nbgrader", "db", "student", "import", "nbgrader.csv")
    flags = {"schema_version": 3, "grade_id": "page", "grade": True, "solution": False, "locked": True, "task": False}
    cells = (Cell("import roofwidget as rw"), Cell(_TEST_CELL, metadata={"nbgrader": {**flags, "points": 2}}))
    (folder / "source" / "week").mkdir(parents=True)
    write(folder / "source" / "week" / "lesson.ipynb", notebook(cells))
    run("nbgrader", folder, "nbgrader", "generate_assignment", "week")
    for student in ("007", "008"):
        handed_in = folder / "submitted" / student / "week"
        handed_in.mkdir(parents=True)
        write(handed_in / "lesson.ipynb", json_of(folder / "release" / "week" / "lesson.ipynb"))
        # Both hand in the file of the same page.
        (page,) = (folder / "pages").glob("sheet-007-*.html")
        record = re.search(r'id="sheet">(.*?)</script>', text_of(page))
        assert record is not None
        right = read_key(key).questions(read_sheet(sheet), "007")[0].answer
        write(handed_in / "answers.json", {**json.loads(record[1]), "answers": {"ridge-point": [right]}})
    run("nbgrader", folder, "nbgrader", "autograde", "week")
    run("nbgrader", folder, "nbgrader", "export")
    with (folder / "grades.csv").open(encoding="utf-8") as file:
        names = ("student_id", "first_name", "last_name", "score")
        rows = [tuple(row[name] for name in names) for row in csv.DictReader(file)]
    assert sorted(rows) == [("007", "Ada King", "Lovelace", "1.0"), ("008", "Cem", "Öz", "0.0")]


@of("otter")
@pytest.mark.parametrize(("typed", "score"), [("'166 FLOP/B'", 1.0), ("widget.answer('ridge')", 0.0)])
def test_otter_grades_answers(folder: Path, typed: str, score: float) -> None:
    cells = (
        Cell("# ASSIGNMENT CONFIG\ninit_cell: false\nexport_cell: false", "raw"),
        Cell(ASKS),
        Cell(SHOWS_GRADES),
        Cell("# BEGIN QUESTION\nname: q1\npoints: 1", "raw"),
        Cell("Where is the ridge point?", "markdown"),
        Cell("# BEGIN SOLUTION", "raw"),
        Cell("answers = {'ridge': '166.3 FLOP/B'} # SOLUTION"),
        Cell("# END SOLUTION", "raw"),
        Cell("# BEGIN TESTS", "raw"),
        Cell("assert rw.grade(answers, [ridge]).points == 1"),
        Cell("# END TESTS", "raw"),
        Cell("# END QUESTION", "raw"),
    )
    write(folder / "lesson.ipynb", notebook(cells))
    # This also runs the solution against the tests.
    run("otter", folder, "otter", "assign", "lesson.ipynb", "dist")
    student = text_of(folder / "dist" / "student" / "lesson.ipynb")
    write(folder / "handed_in.ipynb", student.replace("answers = ...", f"answers = {{'ridge': {typed}}}"))
    (autograder,) = (folder / "dist" / "autograder").glob("*.zip")
    run("otter", folder, "otter", "run", "--autograder", str(autograder), "handed_in.ipynb")
    results = json_of(folder / "results.json")["tests"]
    assert {one["name"]: one["score"] for one in results if "score" in one} == {"q1": score}


if __name__ == "__main__":
    environments.make(GRADERS, sys.argv[1:])
