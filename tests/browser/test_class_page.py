"""The page of a student in a browser: what is entered becomes a file that is graded."""

from __future__ import annotations

import csv
from pathlib import Path

from playwright.sync_api import Browser, expect

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.teaching.classroom.sheet import read_sheet
from roofwidget.teaching.classroom.students import read_key
from tests.places import text_of, write

SHEET = (
    'course = "HPC"\ntitle = "Sheet"\nquestions = ["ridge-point", "square-matmul-bandwidth", "saxpy-write-allocate"]'
)


def test_what_a_student_enters_survives_a_reload_and_is_graded_from_the_saved_file(
    browser: Browser, tmp_path: Path
) -> None:
    students, sheet = write(tmp_path / "students.csv", "id,name\n0 7,Ada\n"), write(tmp_path / "sheet.toml", SHEET)
    given = [str(students), str(sheet)]
    key = tmp_path / "class.key"
    assert main(["class", "pages", *given, "--key", str(key), "--out", str(tmp_path / "pages")]) == 0
    (path,) = (tmp_path / "pages").glob("*.html")
    questions = read_key(key).questions(read_sheet(sheet), "0 7")
    ridge, bandwidth, choice = questions
    faults: list[str] = []
    with browser.new_context(viewport={"width": 320, "height": 800}) as context:
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path.as_uri())
        expect(page.get_by_role("status")).to_have_text("0 of 3 answered.")
        page.get_by_label("Number in FLOP/B").fill(f"{ridge.answer:.5g}")
        # Without its unit, which the page adds.
        page.get_by_label("Number in TB/s").fill(f"{bandwidth.answer / 1e12:.5g}")
        page.get_by_label("Number in FLOP/B").press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Not saved as a file yet.")
        expect(page.get_by_text(f"Read as {float(f'{bandwidth.answer / 1e12:.5g}'):g} TB/s")).to_be_visible()
        page.get_by_label(choice.answer, exact=True).check()
        expect(page.get_by_role("status")).to_contain_text("3 of 3 answered.")
        page.reload()
        expect(page.get_by_role("status")).to_contain_text("3 of 3 answered.")
        assert page.evaluate("document.documentElement.scrollWidth <= 320")
        with page.expect_download() as download:
            page.get_by_role("button", name="Save answers").click()
        assert download.value.suggested_filename == "answers-0-7.json"
        (tmp_path / "inbox").mkdir()
        download.value.save_as(tmp_path / "inbox" / "a.json")
        expect(page.get_by_role("status")).to_contain_text("hand in this file")
    assert faults == []
    out = tmp_path / "gradebook.csv"
    assert main(["class", "grade", *given, str(tmp_path / "inbox"), "--key", str(key), "--out", str(out)]) == 0
    (row,) = csv.DictReader(text_of(out).lstrip("\ufeff").splitlines())
    assert (row["id"], row["status"], row["points"]) == ("0 7", "ok", "3")


def test_a_live_page_checks_answers_and_saves_a_file_that_says_whose_it_is(browser: Browser, tmp_path: Path) -> None:
    students = write(tmp_path / "students.csv", "id,name\n0 7,Ada\n")
    sheet = write(
        tmp_path / "sheet.toml", 'course = "HPC"\ntitle = "Sheet"\nquestions = ["layernorm-place", "ridge-point"]'
    )
    key = tmp_path / "class.key"
    rw.class_pages(students, sheet, tmp_path / "pages", key=key, answers="packed")
    (path,) = (tmp_path / "pages").glob("*.html")
    _, ridge = read_key(key).questions(read_sheet(sheet, "packed"), "0 7")
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{path.as_uri()}#step=2")
        # The kernel of the other question is not there, and the learner is not asked to show it.
        expect(page.get_by_text("0 of 1 kernels")).to_have_count(0)
        answer = page.get_by_label("Your answer")
        answer.fill("1")
        answer.press("Enter")
        expect(page.get_by_text("Not yet")).to_be_visible()
        answer.fill(f"{ridge.answer:.4g}")
        answer.press("Enter")
        expect(page.get_by_text("Right.")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save answers").click()
        assert download.value.suggested_filename == "answers-0-7.json"
        (tmp_path / "inbox").mkdir()
        download.value.save_as(tmp_path / "inbox" / "a.json")
    out = tmp_path / "gradebook.csv"
    given = [str(students), str(sheet), str(tmp_path / "inbox"), "--key", str(key), "--out", str(out)]
    assert main(["class", "grade", "--answers", "packed", *given]) == 0
    (row,) = csv.DictReader(text_of(out).lstrip("\ufeff").splitlines())
    assert (row["status"], row["q:ridge-point"], row["q:layernorm-place"]) == ("ok", "0.6667", "0")
    assert row["saved_at"].startswith("20")
