"""A class: from the list of students to pages, and from files of answers to the gradebook."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import hmac
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.support.text_tables import escaped
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.classroom.pages import READER, pattern_of
from roofwidget.teaching.classroom.sheet import Sheet
from roofwidget.teaching.classroom.students import ClassKey, read_students
from roofwidget.teaching.question import Question
from tests.places import golden, text_of, write

KEYS = ("ridge-point", "square-matmul-bandwidth", "saxpy-write-allocate", "compute-time")
SHEET = 'course = "HPC"\ntitle = "Sheet 1"\ntolerance = "1 %"\nquestions = ' + json.dumps(KEYS)
STUDENTS = """\
id;name;email;section;lms_id;login_id
007;Ada Lovelace;ada@example.org;A;11;ada
008;=HYPERLINK("x");bob@example.org;B;12;bob
009;Cem Öz;cem@example.org;;13;cem
"""
GOLDEN = golden("answers.json")
Capture = pytest.CaptureFixture[str]


class Course:
    """A class whose pages are written, and whose students answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.students = write(folder / "students.csv", STUDENTS)
        self.sheet = write(folder / "sheet.toml", SHEET)
        self.key = folder / "class.key"
        self.inbox = folder / "inbox"
        self.inbox.mkdir()

    def run(self, command: str, *more: object) -> int:
        given = [str(one) for one in (self.students, self.sheet, *more, "--key", self.key)]
        return main(["class", command, *given])

    def pages(self, level: str = "none") -> dict[str, str]:
        assert self.run("pages", "--out", self.folder / "pages", "--answers", level) == 0
        rows = csv.DictReader(text_of(self.folder / "pages.csv").lstrip("\ufeff").splitlines())
        return {row["id"].lstrip("'"): text_of(self.folder / "pages" / row["page"]) for row in rows}

    def record(self, page: str) -> dict[str, Any]:
        found = re.search(r'<script type="application/json" (?:id="sheet"|data-hand-in)>(.*?)</script>', page)
        assert found is not None
        return dict(json.loads(found[1]))

    def digest(self, *parts: str) -> bytes:
        return hmac.new(base64.b64decode(self.key.read_bytes()), "|".join(parts).encode(), hashlib.sha256).digest()

    def questions(self, student: str, level: str = "none") -> dict[str, Question]:
        sheet = hashlib.sha256(json.dumps(["HPC", "Sheet 1", KEYS, level]).encode()).hexdigest()[:12]
        seed = int.from_bytes(self.digest("seed", "HPC", sheet, student)[:6], "big")
        found = {}
        for one in question_bank(seed):
            if one.key in KEYS:
                order = sorted(one.option_ids, key=lambda ident: self.digest("option", "HPC", sheet, one.key, ident))
                ids = [f"a{order.index(ident) + 1}" for ident in one.option_ids]
                found[one.key] = replace(one, option_ids=ids)
        return found

    def hand_in(self, page: str, answers: dict[str, list[Any]], name: str, **more: Any) -> Path:
        path = self.inbox / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, {**self.record(page), "answers": answers, "saved_at": "2026-11-28T08:00:00Z", **more})
        return path

    def grade(self, *more: object) -> list[dict[str, str]]:
        out = self.folder / "gradebook.csv"
        assert self.run("grade", self.inbox, "--out", out, *more) == 0
        return list(csv.DictReader(text_of(out).lstrip("\ufeff").splitlines()))


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(tmp_path)


def right_answers(questions: dict[str, Question]) -> dict[str, list[Any]]:
    return {
        key: [
            questions[key].answer
            if questions[key].kind != "choice"
            else dict(zip(questions[key].options, questions[key].option_ids, strict=True))[questions[key].answer]
        ]
        for key in KEYS
    }


def test_pages_have_the_numbers_of_each_student_and_neither_seed_nor_answers(course: Course) -> None:
    pages = course.pages()
    assert list(pages) == ["007", "008", "009"]
    secret = base64.b64decode(course.key.read_bytes())
    for student, page in pages.items():
        record, questions = course.record(page), course.questions(student)
        assert [one["key"] for one in record["questions"]] == list(KEYS)
        assert record["bank_version"] == 2
        assert all(one["prompt"].startswith(questions[one["key"]].prompt) for one in record["questions"])
        message = f"page|v1|HPC|{record['sheet']}|{student}"
        digest = hmac.new(secret, message.encode(), hashlib.sha256).digest()
        assert record["token"] == base64.b32encode(digest).decode()[:16]
        seed = int.from_bytes(course.digest("seed", "HPC", record["sheet"], student)[:6], "big")
        # "The page has no answers": neither as numbers nor as texts of options.
        hidden = [str(seed), "a factor of 10³", "bytes for each FLOP. The question"]
        hidden += [said for said in questions["saxpy-write-allocate"].options.values() if said]
        hidden += [questions[key].explanation for key in KEYS if questions[key].explanation]
        assert [text for text in hidden if text in page] == []
        # The letters of tokens and of the policy are none of its numbers, and a prompt may have any number.
        body = re.sub(r"<head>.*?</head>|<script.*?</script>", "", page, flags=re.DOTALL).replace(record["token"], "")
        texts = (body + json.dumps(record["numbers"]), " ".join(question.prompt for question in questions.values()))
        numbers, asked = (set(re.findall(r"\d[\d.]*", text)) for text in texts)
        answers = {f"{questions[key].answer:.4g}" for key in ("ridge-point", "compute-time")}
        assert answers & (numbers - asked) == set()
        names = ("format", "version", "course", "sheet", "id", "token", "bank_version", "questions", "numbers", "file")
        assert set(record) == set(names)
        assert {tuple(one) for one in record["questions"]} == {("key", "prompt")}
    assert len({course.record(page)["questions"][0]["prompt"] for page in pages.values()}) >= 1
    assert stat.S_IMODE(course.key.stat().st_mode) == 0o600
    # A second run has the same key and the same names.
    before = sorted(path.name for path in (course.folder / "pages").iterdir())
    assert course.pages() == pages
    assert sorted(path.name for path in (course.folder / "pages").iterdir()) == before
    # The folder has no list of the class: it may be handed out as it is.
    assert all(re.fullmatch(r"sheet-00\d-[a-z2-7]{4}\.html", name) for name in before)


def test_a_page_is_one_file_that_asks_nobody_and_shows_names_as_text(course: Course) -> None:
    write(course.students, 'id,name\n"<b>1",</script><img src=x>\n')
    (page,) = course.pages().values()
    assert "<img" not in page
    assert "<b>1" not in page
    assert "default-src 'none'" in page
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert not re.search(r'(src|href)="', page)
    found: list[tuple[str, dict[str, str | None]]] = []

    class Fields(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "input":
                found.append((tag, dict(attrs)))

    Fields().feed(page)
    assert {attributes["name"] for _, attributes in found} == set(KEYS)
    assert [attributes["value"] for _, attributes in found if attributes["type"] == "radio"]


def test_files_are_graded_by_the_questions_of_the_key_and_found_by_their_id(course: Course) -> None:
    pages = course.pages("packed")
    right = right_answers(course.questions("007", "packed"))
    course.hand_in(pages["007"], right, "Ada_123_assignsubmission_file_/x.json")
    half = right_answers(course.questions("008", "packed"))
    # Two wrong, one of them right at the second attempt.
    half["ridge-point"] = [1.0, *half["ridge-point"]]
    del half["compute-time"]
    course.hand_in(pages["008"], half, "bob-answers-2.json")
    rows = course.grade("--answers", "packed", "--items", course.folder / "items.csv")
    assert [(row["id"], row["status"], row["points"], row["max"]) for row in rows] == [
        ("007", "ok", "4", "4"),
        ("008", "ok", "2.6667", "4"),
        ("009", "missing", "", ""),
    ]
    assert rows[0]["percent"] == "100"
    assert (rows[1]["q:ridge-point"], rows[1]["attempts:ridge-point"], rows[1]["q:compute-time"]) == (
        "0.6667",
        "2",
        "0",
    )
    assert rows[0]["notes"] == "Ada_123_assignsubmission_file_/x.json"
    assert rows[1]["name"] == '\'=HYPERLINK("x")'
    assert rows[0]["saved_at"] == "2026-11-28T08:00:00Z"
    assert [row["id"] for row in rows if row["q:ridge-point"] == ""] == ["009"]
    items = list(csv.DictReader(text_of(course.folder / "items.csv").splitlines()))
    assert [row["question"] for row in items] == list(KEYS)
    assert {row["asked"] for row in items} == {"2"}
    assert "Ada" not in text_of(course.folder / "items.csv")
    # By the first answer alone.
    assert [row["points"] for row in course.grade("--answers", "packed", "--counts", "first")] == ["4", "2", ""]


def test_a_number_that_was_typed_without_its_unit_gets_the_unit_of_the_page(course: Course) -> None:
    page = course.pages()["007"]
    numbers = course.record(page)["numbers"]
    questions = course.questions("007")
    assert (numbers["ridge-point"][0], "saxpy-write-allocate" in numbers) == ("FLOP/B", False)
    unit = numbers["square-matmul-bandwidth"][0]
    typed = f"{questions['square-matmul-bandwidth'].answer / {'T': 1e12, 'G': 1e9}[unit[0]]:.4g} {unit}"
    course.hand_in(page, {"square-matmul-bandwidth": [typed]}, "a.json")
    assert course.grade()[0]["q:square-matmul-bandwidth"] == "1"


def test_the_first_answer_of_a_page_without_answers_counts_and_others_are_noted(course: Course) -> None:
    page = course.pages()["007"]
    answers = right_answers(course.questions("007"))
    # The page saves one answer to each question: the second try was added by hand.
    answers["ridge-point"] = [1.0, *answers["ridge-point"]]
    answers["compute-time"] *= 2
    course.hand_in(page, answers, "a.json")
    for counts in ("decay", "best", "last"):
        row = course.grade("--counts", counts)[0]
        assert (row["status"], row["points"], row["q:ridge-point"]) == ("ok", "3", "0")
    assert row["notes"] == "a.json; more than one answer, of which the first counts: ridge-point, compute-time"
    found = rw.class_check(course.inbox / "a.json", "007", sheet=course.sheet, key=course.key, counts="best")
    assert found.points == 3


def test_no_page_takes_the_place_of_another_one(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClassKey, "file_letters", lambda *_: "same")
    write(course.students, "id\n학생\n선생\n학교\n")
    pages = course.pages()
    assert list(pages) == ["학생", "선생", "학교"]
    assert [course.record(page)["id"] for page in pages.values()] == list(pages)


def test_another_title_gives_other_numbers(course: Course) -> None:
    page = course.pages()["007"]
    write(course.sheet, SHEET.replace("Sheet 1", "Exam"))
    other = course.pages()["007"]
    assert course.record(page)["questions"][0]["prompt"] != course.record(other)["questions"][0]["prompt"]


@pytest.mark.parametrize("is_own", [False, True])
def test_neither_the_order_nor_the_ids_of_options_tell_the_right_one(*, is_own: bool) -> None:
    written = rw.Question(
        key="limit", prompt="What limits it?", answer="memory", options={"memory": "", "peak": "No.", "disk": "No."}
    )
    key = ClassKey(bytes(32))
    places, ids = set(), set()
    for title in map(str, range(40)):
        own = (written,) if is_own else ()
        sheet = Sheet("HPC", title, ("limit" if is_own else "saxpy-write-allocate",), own=own)
        asked = [key.questions(sheet, student)[0] for student in ("007", "008")]
        named = [dict(zip(one.options, one.option_ids, strict=True)) for one in asked]
        places |= {list(one.options).index(one.answer) for one in asked}
        ids.add(named[0][asked[0].answer])
        # One id is the same option for all students of a sheet.
        assert named[0] == named[1]
    count = 3 if is_own else 4
    assert places == set(range(count))
    assert ids == {f"a{number}" for number in range(1, count + 1)}


@pytest.mark.parametrize("case", GOLDEN["typed"] + GOLDEN["written"], ids=lambda case: f"{case['text']} {case['unit']}")
def test_a_page_without_answers_reads_what_python_reads(case: dict[str, Any]) -> None:
    quickjs = pytest.importorskip("quickjs")
    read = quickjs.Context().eval(f"{READER}; (text, pattern) => read(text, pattern) !== undefined")
    assert read(case["text"], pattern_of(case["unit"])) is (case["value"] is not None)


def test_what_cannot_be_read_is_in_the_notes(course: Course) -> None:
    answers = {"ridge-point": ["about 12"], "saxpy-write-allocate": ["a9"], "compute-time": ["12 B"]}
    course.hand_in(course.pages()["007"], answers, "a.json")
    said = "cannot be read: ridge-point 'about 12', saxpy-write-allocate 'a9', compute-time '12 B'"
    assert course.grade()[0]["notes"] == f"a.json; {said}"


def test_a_page_without_answers_says_what_it_does_and_asks_for_no_drag(course: Course) -> None:
    write(course.sheet, 'course = "HPC"\ntitle = "Places"\nquestions = ["layernorm-place", "flash-bandwidth-needed"]')
    page = course.pages()["007"]
    assert "Drag" not in page.split("<script")[0]
    assert "Find its intensity. Enter a number in FLOP/B." in page
    assert "Nothing is checked here" in page
    assert re.search(r" · sheet [0-9a-f]{12} · token [A-Z2-7]{16}<", page)
    # Enter in a field does nothing.
    assert '<button type="button">' in page


def test_a_sheet_of_marks_has_its_own_tolerance(course: Course) -> None:
    pages = course.pages()
    answer = course.questions("007")["ridge-point"].answer
    course.hand_in(pages["007"], {"ridge-point": [1.02 * answer]}, "a.json")
    course.hand_in(pages["008"], {"ridge-point": [1.009 * course.questions("008")["ridge-point"].answer]}, "b.json")
    assert [row["q:ridge-point"] for row in course.grade()] == ["0", "1", ""]


def test_what_is_not_from_the_page_of_the_student_has_a_status_and_no_points(course: Course, capsys: Capture) -> None:
    pages = course.pages()
    right = right_answers(course.questions("007"))
    # Bob's token in a file with Ada's id; other numbers; a file of nobody; no JSON; no file of a page.
    course.hand_in(pages["007"], right, "a.json", token=course.record(pages["008"])["token"])
    other = [{"key": key, "prompt": "easier"} for key in KEYS]
    course.hand_in(pages["008"], right, "b.json", questions=other)
    course.hand_in(pages["009"], right, "c.json", id="010")
    write(course.inbox / "d.json", "{")
    write(course.inbox / "e.json", {"format": "roofwidget answers", "version": 1, "questions": [], "answers": {}})
    write(course.inbox / "f.txt", "no answers")
    rows = course.grade()
    assert [(row["id"], row["status"], row["points"]) for row in rows] == [
        ("007", "token", ""),
        ("008", "sheet", ""),
        ("009", "missing", ""),
        ("010", "unknown-id", ""),
        ("", "damaged", ""),
        ("", "damaged", ""),
    ]
    assert rows[0]["notes"] == "a.json: token"
    assert rows[4]["notes"].startswith("d.json: line 1, column 2: not JSON")
    assert rows[5]["notes"].startswith("e.json: it has no id of a student")
    assert "1 token, 1 sheet, 1 missing, 1 unknown-id, 2 damaged" in capsys.readouterr().err


def test_the_newest_of_several_files_of_a_submission_counts_and_all_are_named(course: Course) -> None:
    page = course.pages()["007"]
    right = right_answers(course.questions("007"))
    # What the page says counts, not the time of the file: an unpacked archive may have any order.
    os.utime(course.hand_in(page, right, "ada/new.json", saved_at="2026-11-28T09:00:00+01:00"), (1e9, 1e9))
    os.utime(course.hand_in(page, {}, "ada/old.json", saved_at="2026-11-28T07:59:00Z"), (2e9, 2e9))
    course.hand_in(page, {}, "ada/broken.json", saved_at="2026-11-28T10:00:00Z", sheet="x")
    row = course.grade()[0]
    assert (row["status"], row["points"]) == ("ok", "4")
    assert row["notes"] == "ada/broken.json: sheet; ada/new.json; ada/old.json"
    course.hand_in(page, {}, "ada/new-2.json", saved_at="2026-11-28T08:00:00Z")
    row = course.grade()[0]
    assert (row["status"], row["points"]) == ("duplicate", "")


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("Ada Lovelace_11_assignsubmission_file_/a.json", "Eve_12_assignsubmission_file_/b.json"),
        ("Ada Lovelace_11_assignsubmission_file_a.json", "Eve_12_assignsubmission_file_a.json"),
        ("adalovelace_11_901_answers.json", "eve_LATE_12_902_answers.json"),
        ("ada/a.json", "eve/a.json"),
        ("week 1/ada/a.json", "week 1/eve/a.json"),
        ("a.json", "b.json"),
    ],
)
def test_a_file_of_a_student_in_the_submission_of_another_one_gives_no_points(
    own: str, other: str, course: Course
) -> None:
    page = course.pages()["007"]
    right = right_answers(course.questions("007"))
    course.hand_in(page, right, own)
    course.hand_in(page, {}, other, saved_at="2026-12-31T08:00:00Z")
    row = course.grade()[0]
    assert (row["status"], row["points"], row["notes"]) == ("conflict", "", f"{own}; {other}")
    # The same answers again harm nobody.
    course.hand_in(page, right, other, saved_at="2026-12-31T08:00:00Z")
    assert course.grade()[0]["status"] == "ok"


@pytest.mark.parametrize(
    ("path", "sender"),
    [
        ("Cem Öz_4711_assignsubmission_file_/answers-007.json", "009"),
        ("Öz, Cem_4711_assignsubmission_file_answers-007.json", "009"),
        ("ozcem_13_902_answers-007.json", "009"),
        ("Cem O\u0308z_4711_file/answers-007.json", "009"),
        ("somebody_LATE_12_902_answers-007.json", "008"),
        ("009/answers-007.json", "009"),
        ("week 1/009/answers-007.json", "009"),
        ("all.zip/cem öz/answers-007.json", "009"),
        ("Ada Lovelace_12_assignsubmission_file_/a.json", ""),
        ("lovelaceada_11_902_a.json", ""),
        ("Participant 4712_assignsubmission_file_/a.json", ""),
        ("handed in/answers-007.json", ""),
        ("answers-009.json", ""),
    ],
)
def test_a_file_that_only_another_student_has_handed_in_gives_no_points(path: str, sender: str, course: Course) -> None:
    course.hand_in(course.pages()["007"], right_answers(course.questions("007")), path)
    row = course.grade()[0]
    assert (row["status"], row["points"]) == (("conflict", "") if sender else ("ok", "4"))
    assert row["notes"] == (f"{path}: in the submission of {sender}" if sender else path)


@pytest.mark.parametrize(
    "names",
    [
        ("Ada_11_assignsubmission_file_/a.json", "second/Ada_11_assignsubmission_file_/zip/b.json"),
        ("adalovelace_11_901_a.json", "adalovelace_11_902_a-1.json"),
        ("adalovelace_11_901_a.json", "adalovelace_LATE_11_902_a-1.json"),
    ],
)
def test_files_of_one_submission_are_known_by_the_names_of_moodle_and_canvas(
    names: tuple[str, str], course: Course
) -> None:
    page = course.pages()["007"]
    course.hand_in(page, {}, names[0])
    course.hand_in(page, right_answers(course.questions("007")), names[1], saved_at="2026-12-31T08:00:00Z")
    row = course.grade()[0]
    assert (row["status"], row["points"]) == ("ok", "4")


@pytest.mark.parametrize("path", ["Ada Lovelace_11_assignsubmission_file_/x.json", "ada_11_901_answers-007-1.json"])
def test_a_damaged_file_is_named_where_a_student_has_none(path: str, course: Course) -> None:
    course.pages()
    (course.inbox / path).parent.mkdir(exist_ok=True)
    write(course.inbox / path, "{")
    rows = course.grade()
    assert [row["status"] for row in rows] == ["missing", "missing", "missing", "damaged"]
    assert [row["notes"] for row in rows[:3]] == [f"perhaps {path}: it is damaged", "", ""]


def test_an_inbox_may_be_an_archive_or_have_archives_in_it(course: Course) -> None:
    page = course.pages()["007"]
    file = course.hand_in(page, right_answers(course.questions("007")), "a.json")
    archive = course.folder / "all.zip"
    with zipfile.ZipFile(archive, "w") as into:
        into.write(file, "Ada Lovelace_1_file_/answers.json")
        into.writestr("__MACOSX/._answers.json", "x")
    file.unlink()
    (course.inbox / "all.zip").write_bytes(archive.read_bytes())
    assert [row["status"] for row in course.grade()] == ["ok", "missing", "missing"]
    course.inbox = archive
    row = course.grade()[0]
    assert (row["points"], row["notes"]) == ("4", "Ada Lovelace_1_file_/answers.json")
    archive.write_bytes(b"PK\x03\x04 no archive")
    assert course.run("grade", archive, "--out", course.folder / "x.csv") == 2
    assert not (course.folder / "x.csv").exists()


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_an_archive_that_a_student_hands_in_is_read_and_a_damaged_one_stops_nobody(course: Course) -> None:
    pages = course.pages()
    ada = course.hand_in(pages["007"], right_answers(course.questions("007")), "a.json")
    bob = course.hand_in(pages["008"], {}, "b.json")
    damaged = bytearray(zipped({"answers-009.json": text_of(bob) * 20}))
    damaged[60:90] = b"\xff" * 30
    members: dict[str, str | bytes] = {
        "Ada Lovelace_11_assignsubmission_file_/mine.zip": zipped({"in/a.json": text_of(ada)}),
        "Cem Öz_13_assignsubmission_file_/mine.zip": bytes(damaged),
        "Cem Öz_13_assignsubmission_file_/deep.zip": zipped({"x.zip": b"PK"}),
        "x_12_assignsubmission_file_/b.json.txt": text_of(bob),
    }
    ada.unlink()
    bob.unlink()
    # As an archive in a folder, and as the inbox itself.
    (course.inbox / "all.zip").write_bytes(zipped(members))
    for _ in range(2):
        rows = course.grade()
        assert [(row["status"], row["points"]) for row in rows[:3]] == [("ok", "4"), ("ok", "0"), ("missing", "")]
        assert rows[2]["notes"].count("Cem Öz_13_assignsubmission_file_/") == 2
        assert [row["status"] for row in rows[3:]] == ["damaged", "damaged"]
        assert "no archive in it" in "".join(row["notes"] for row in rows[3:])
        course.inbox = course.inbox / "all.zip"


def test_a_page_that_is_handed_in_is_named_where_its_student_has_no_file(course: Course, capsys: Capture) -> None:
    course.pages()
    write(course.inbox / "lovelaceada_11_902_sheet.html", "<h1>Sheet 1</h1>")
    write(course.inbox / "notes.txt", "see you")
    rows = course.grade("--items", course.folder / "items.html")
    assert [row["status"] for row in rows] == ["missing"] * 3
    assert rows[0]["notes"] == "perhaps lovelaceada_11_902_sheet.html: this is not the file that the page saves"
    said = capsys.readouterr().err
    assert "2 other files not read, such as lovelaceada_11_902_sheet.html: 'Save answers' saves a .json file" in said
    assert "items.html is not written: no file of answers was graded" in said
    assert "0 files of answers in" in said


def test_the_files_for_canvas_and_moodle_have_only_graded_students(course: Course) -> None:
    pages = course.pages()
    course.hand_in(pages["007"], right_answers(course.questions("007")), "a.json")
    course.hand_in(pages["008"], {}, "b.json")
    course.grade()
    canvas = list(csv.reader(text_of(course.folder / "canvas.csv").lstrip("\ufeff").splitlines()))
    assert canvas == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Sheet 1"],
        ["    Points Possible", "", "", "", "", "4"],
        ["Ada Lovelace", "11", "007", "ada", "A", "4"],
        ['\'=HYPERLINK("x")', "12", "008", "bob", "B", "0"],
    ]
    moodle = list(csv.reader(text_of(course.folder / "moodle.csv").lstrip("\ufeff").splitlines()))
    assert moodle == [
        ["ID number", "Email address", "Username", "Sheet 1"],
        ["007", "ada@example.org", "ada", "4"],
        ["008", "bob@example.org", "bob", "0"],
    ]


def test_a_decimal_comma_comes_with_semicolons(course: Course) -> None:
    page = course.pages("packed")["007"]
    answers = right_answers(course.questions("007", "packed"))
    answers["ridge-point"] = [1.0, *answers["ridge-point"]]
    course.hand_in(page, answers, "a.json")
    course.grade("--decimal", ",", "--answers", "packed")
    lines = text_of(course.folder / "gradebook.csv").splitlines()
    assert lines[1].startswith("007;Ada Lovelace;ada@example.org;A;ok;3,6667;4;91,6667;")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name\nAda\n", "line 1 has no column 'id'; it may have 'id', 'name', 'email'"),
        ("First name,ID number\nAda,7\n", "line 1 has no column 'id'; rename 'ID number' to 'id'"),
        ("Name;Matrikelnummer\nAda;7\n", "line 1 has no column 'id'; rename 'Matrikelnummer' to 'id'"),
        ("id,id\n1,2\n", "line 1 has a column twice"),
        ("id,name\n1,Ada\n,Bob\n1,Cem\n2\n", "line 3 has no id; line 4 has the id '1' again; line 5 has 1 cells"),
        ("id\n", "there is no student in it"),
        ("", "line 1 has no column 'id'"),
        ('id,name\n1,"Ada\n2,Bob\n3,Cem\n', "after line 1: a cell that begins with a quotation mark does not end"),
        ('id,name\n1,Ada\n2,"Bob\n3,"Cem"\n', "after line 2: a cell that begins with a quotation mark does not end"),
        (f"id,name\n1,{'x' * 200_000}\n", "field larger than field limit"),
        ("id,name\n\u200f7,Ada\n7,Bob\n", "line 3 has the id '7' again"),
    ],
)
def test_a_wrong_list_is_refused_with_all_its_lines_and_nothing_is_written(
    text: str, message: str, course: Course, capsys: Capture
) -> None:
    write(course.students, text)
    assert course.run("pages", "--out", course.folder / "pages") == 2
    assert message in capsys.readouterr().err
    assert not course.key.exists()
    assert not (course.folder / "pages").exists()


def test_a_list_may_have_a_byte_order_mark_tabs_and_other_columns(course: Course) -> None:
    course.students.write_bytes("\ufeffID\tName\tProgramme\n0012\tÖzil\tCS\n\n".encode())
    assert list(course.pages()) == ["0012"]


@pytest.mark.parametrize(
    "content",
    [
        "id\tname\r\n007\tAda Öz\r\n008\tBob\r\n".encode("utf-16"),
        b"\xfe\xff" + "id,name\n007,Ada Öz\n008,Bob\n".encode("utf-16-be"),
        'sep=;\r\nid;name\r\n007;"Ada\r\nÖz"\r\n008;Bob\r\n'.encode(),
        "\n\nid,name\n007,Ada\u2028Öz\n\n008,Bob\n".encode(),
        "id,name,,\n007,Ada Öz,,\n008,Bob,,\n".encode(),
        "id,name\n007,Ada Öz,\n008,Bob,\n".encode(),
        "id;name, given name, title\n007;Ada Öz\n008;Bob\n".encode(),
        "id,name\r\u200e007,Ada Öz\r008,Bob\r".encode(),
    ],
)
def test_a_list_is_read_as_spreadsheets_write_it(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "students.csv").write_bytes(content)
    has_name = not content.startswith(b"id;name,")
    assert [(one.id, one.name) for one in read_students(tmp_path / "students.csv")] == [
        ("007", "Ada Öz" if has_name else ""),
        ("008", "Bob" if has_name else ""),
    ]


def hand_in_record(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" data-hand-in>(.*?)</script>', page)
    assert found is not None
    return dict(json.loads(found[1]))


def unpacked(page: str) -> str:
    """Return the state of the widget of a live page."""
    found = re.search(r'data-roofwidget><script type="text/plain">([^<]+)<', page)
    assert found is not None
    return gzip.decompress(base64.b64decode(found[1])).decode()


def test_a_live_page_has_the_answers_only_where_it_says_so(course: Course, capsys: Capture) -> None:
    texts, records = {}, {}
    for level in ("none", "packed", "shown"):
        given = [] if level == "none" else ["--answers", level]
        assert course.run("pages", "--out", course.folder / level, *given) == 0
        (path,) = (course.folder / level).glob("sheet-007-*.html")
        texts[level] = text_of(path)
        said = capsys.readouterr().err
        assert ("contain them: for marks take --answers none" in said) is (level != "none")
        assert ("Answers are in this page" in texts[level]) is (level != "none")
        if level != "none":
            records[level] = hand_in_record(texts[level])
    for level, has_texts in (("none", False), ("packed", False), ("shown", True)):
        questions = course.questions("007", level)
        ridge, choice = questions["ridge-point"], questions["saxpy-write-allocate"]
        secrets = [ridge.explanation, choice.options[choice.answer], choice.explanation]
        assert any(escaped(one) in texts[level] for one in secrets if one) is has_texts
    assert ("data-roofwidget" in texts["none"], "data-roofwidget" in texts["packed"]) == (False, True)
    assert [text.count("Give 3 digits.") for text in texts.values()] == [2, 0, 0]
    assert "Give 3 digits." in unpacked(texts["packed"])
    # The same file as from the page without answers, but for the units, which the live page reads itself.
    # Its numbers and its token are others: what a live page tells is of no use for marks.
    none = course.record(texts["none"])
    none.pop("numbers")
    for name in ("sheet", "token", "questions"):
        assert len({str(one.pop(name)) for one in (none, *records.values())}) == 3
    assert records["packed"] == records["shown"] == none


def test_a_file_of_a_live_page_is_graded(course: Course) -> None:
    course.run("pages", "--out", course.folder / "pages", "--answers", "packed")
    (path,) = (course.folder / "pages").glob("sheet-007-*.html")
    head = hand_in_record(text_of(path))
    right = right_answers(course.questions("007", "packed"))
    answers = {key: [[], *given] if key == "ridge-point" else given for key, given in right.items()}
    write(course.inbox / "a.json", {**head, "answers": answers})
    row = course.grade()[0]
    said = "it is of a page made with --answers packed, and this sheet is graded with --answers none"
    assert (row["status"], row["points"], row["notes"]) == ("sheet", "", f"a.json: {said}")
    with pytest.raises(ValueError, match=said):
        rw.class_check(course.inbox / "a.json", "007", sheet=course.sheet, key=course.key)
    row = course.grade("--answers", "packed")[0]
    # The answer to one question was shown before it was given.
    assert (row["status"], row["points"], row["q:ridge-point"]) == ("ok", "3", "0")


def test_live_pages_ask_what_needs_a_chart(course: Course) -> None:
    write(course.sheet, 'course = "HPC"\ntitle = "Merges"\nquestions = ["chain-merge", "residual-merge"]')
    index = rw.class_pages(course.students, course.sheet, course.folder / "pages", key=course.key, answers="packed")
    assert (index.name, len(list((index.parent / "pages").glob("*.html")))) == ("pages.csv", 3)
    write(course.sheet, 'course = "HPC"\ntitle = "Both"\nquestions = ["chain-merge", "layernorm-place"]')
    with pytest.raises(ValueError, match="question 'layernorm-place' shows kernels and question 'chain-merge' a graph"):
        rw.class_pages(course.students, course.sheet, course.folder / "both", key=course.key, answers="packed")
    assert not (course.folder / "both").exists()
    with pytest.raises(ValueError, match="answers is 'none', 'packed', 'shown', not 'pakked'; did you mean 'packed'"):
        rw.class_pages(course.students, course.sheet, course.folder / "both", key=course.key, answers="pakked")


def test_a_test_cell_grades_the_file_of_the_students_own_page(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    page = course.pages("packed")["007"]
    answers = right_answers(course.questions("007", "packed"))
    answers["ridge-point"] = [1.0, *answers["ridge-point"]]
    course.hand_in(page, answers, "answers.json")
    file = course.inbox / "answers.json"
    given: dict[str, Any] = {"sheet": course.sheet, "key": course.key, "answers": "packed"}
    assert rw.class_check(file, "007", **given).points == pytest.approx(3 + 2 / 3)
    assert rw.class_check(file, "007", counts="first", **given).points == 3
    # The files of the sheet and the key may lie beside the notebook.
    monkeypatch.chdir(course.folder)
    assert rw.class_check("inbox/answers.json", "007", answers="packed")["ridge-point"].attempts == 2


def test_a_test_cell_refuses_what_is_not_from_the_students_own_page(course: Course) -> None:
    pages = course.pages()
    right = right_answers(course.questions("007"))
    other = course.record(pages["008"])
    course.hand_in(pages["008"], right, "other.json")
    course.hand_in(pages["007"], right, "token.json", token=other["token"])
    course.hand_in(pages["007"], right, "sheet.json", questions=other["questions"][:1])
    write(course.inbox / "damaged.json", "{")
    for name, message in (
        ("other", r"other\.json: it is of student '008', not of '007'"),
        ("token", r"token\.json: it is not from the page of student '007'; hand in the file of your own page"),
        ("sheet", r"sheet\.json: it has another sheet or other questions than '007' got"),
        ("damaged", r"damaged\.json: line 1"),
    ):
        with pytest.raises(ValueError, match=message):
            rw.class_check(course.inbox / f"{name}.json", "007", sheet=course.sheet, key=course.key)
    with pytest.raises(ValueError, match=r"counts is one of 'decay', .*, not 'mastery'"):
        rw.class_check(course.inbox / "other.json", "007", sheet=course.sheet, key=course.key, counts="mastery")


def test_the_list_for_nbgrader_has_its_columns_and_no_comma_in_a_name(course: Course) -> None:
    write(
        course.students, 'id;name;email;lms_id\n007;Ada King Lovelace;a@example.org;11\n=8;"Öz, Cem, Jr";;\n9;Plato;;\n'
    )
    out = course.folder / "nbgrader.csv"
    assert main(["class", "nbgrader", str(course.students), "--out", str(out)]) == 0
    # As bytes: no mark at the begin, and ids as they are.
    assert out.read_bytes().decode() == (
        "id,first_name,last_name,email,lms_user_id\n"
        "007,Ada King,Lovelace,a@example.org,11\n"
        "=8,Cem  Jr,Öz,,\n"
        "9,,Plato,,\n"
    )


def test_a_key_that_is_missing_or_damaged_and_a_merge_are_refused(course: Course, capsys: Capture) -> None:
    assert course.run("grade", course.inbox, "--out", course.folder / "x.csv") == 2
    assert "class.key: No such file" in capsys.readouterr().err
    write(course.key, "short")
    assert course.run("pages", "--out", course.folder / "pages") == 2
    assert "class.key: this is no key of a class" in capsys.readouterr().err
    course.key.unlink()
    write(course.sheet, 'course = "HPC"\ntitle = "Sheet 1"\nquestions = ["chain-merge"]')
    assert course.run("pages", "--out", course.folder / "pages") == 2
    said = capsys.readouterr().err
    assert "sheet.toml: a page without a chart cannot ask 'chain-merge', which merges operations; take it out" in said
    assert "or use --answers packed" in said
    assert not course.key.exists()
    write(course.sheet, SHEET.replace("compute-time", "compute-tiem"))
    assert course.run("pages", "--out", course.folder / "pages") == 2
    assert "the bank has no question 'compute-tiem'; did you mean 'compute-time'?" in capsys.readouterr().err
    write(course.sheet, SHEET.replace("compute-time", "qqq"))
    assert course.run("pages", "--out", course.folder / "pages") == 2
    assert "no question 'qqq'; 'roofwidget class questions' lists its questions" in capsys.readouterr().err


def test_a_question_can_be_dropped_after_the_hand_in(course: Course, capsys: Capture) -> None:
    page = course.pages()["007"]
    answers = right_answers(course.questions("007"))
    answers["ridge-point"] = [1.0]
    course.hand_in(page, answers, "a.json")
    row = course.grade("--drop", "ridge-point", "--items", course.folder / "items.csv")[0]
    assert (row["points"], row["max"], row["percent"]) == ("3", "3", "100")
    assert [name for name in row if name.startswith("q:")] == [f"q:{key}" for key in KEYS if key != "ridge-point"]
    canvas = list(csv.reader(text_of(course.folder / "canvas.csv").splitlines()))
    assert [cells[-1] for cells in canvas[1:]] == ["3", "3"]
    assert "ridge-point" not in text_of(course.folder / "items.csv")
    out = course.folder / "x.csv"
    assert course.run("grade", course.inbox, "--out", out, "--drop", "ridge-piont") == 2
    assert "the sheet has no question 'ridge-piont'; did you mean 'ridge-point'?" in capsys.readouterr().err


def test_a_fault_that_most_files_share_is_explained_once(course: Course, capsys: Capture) -> None:
    pages = course.pages()
    for student, page in pages.items():
        course.hand_in(page, {}, f"{student}.json")
    course.grade()
    assert "most files" not in capsys.readouterr().err
    write(course.students, "id\n7\n8\n9\n")
    course.grade()
    assert "most files are of nobody in students.csv: has it lost leading zeros of ids?" in capsys.readouterr().err
    write(course.students, STUDENTS)
    course.grade("--answers", "packed")
    assert "most files are of another sheet: are sheet.toml and --answers those" in capsys.readouterr().err
    write(course.key, base64.b64encode(bytes(32)).decode())
    course.grade()
    assert "class.key the key with which the pages were made?" in capsys.readouterr().err


def test_the_keys_for_a_sheet_are_listed(capsys: Capture) -> None:
    assert main(["class", "questions", "ridge", "opteron"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["key", "opteron-x2-ridge", "opteron-x4-ridge"]
    assert lines[1].split()[1:3] == ["number", "1"]
    # Few questions have their whole prompts.
    assert lines[1].endswith("?")
    assert main(["class", "questions"]) == 0
    cut = capsys.readouterr().out.splitlines()
    assert main(["class", "questions", "--full"]) == 0
    whole = capsys.readouterr().out.splitlines()
    assert len(cut) == len(whole) > 100
    assert any(line.endswith("…") for line in cut)
    assert not any(line.endswith("…") for line in whole)
    assert main(["class", "questions", "Ridge", "xyz"]) == 2
    assert "no question of the bank has 'Ridge', 'xyz'" in capsys.readouterr().err
