"""The notes for instructors belong to the lessons, and the statement on accessibility names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.places import DOCS, ROOT, json_of, text_of

NOTES = text_of(DOCS / "instructors.md")
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PARTS = ("Before it: ", "**Aim.**", "| min | steps |", "| question | usual wrong answer |", "**Show.**", "**Heard.**")


def section(number: int) -> str:
    """Return the notes on a lesson."""
    found = re.search(rf"^## Lesson {number}: .*?(?=^## )", NOTES, re.MULTILINE | re.DOTALL)
    assert found, f"no notes on lesson {number}"
    return found[0]


def test_each_lesson_has_its_notes_in_order() -> None:
    headings = re.findall(r"^## Lesson (\d+): ", NOTES, re.MULTILINE)
    assert [int(number) for number in headings] == [int(path.name[:2]) for path in LESSONS]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_notes_have_all_parts_and_fit_into_the_minutes_of_the_lesson(path: Path) -> None:
    notes = section(int(path.name[:2]))
    assert [part for part in (*PARTS, "**Simplified.**", "**Exercise") if part not in notes] == []
    rows = [(int(start), int(end)) for start, end in re.findall(r"^\| (\d+)–(\d+) \|", notes, re.MULTILINE)]
    assert rows[0][0] == 0
    assert [start for start, _ in rows[1:]] == [end for _, end in rows[:-1]]
    first = "".join(json_of(path)["cells"][0]["source"])
    minutes = re.search(r"(\d+)\s+minutes", first)
    # The exam says its minutes in its rules.
    assert rows[-1][1] <= (int(minutes[1]) if minutes else 60)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_questions_in_the_notes_are_questions_of_the_lesson(path: Path) -> None:
    code = "\n".join("".join(cell["source"]) for cell in json_of(path)["cells"])
    asked = re.findall(r"^\| `([\w-]+)` \|", section(int(path.name[:2])), re.MULTILINE)
    assert [key for key in asked if f'"{key}"' not in code] == []


def test_the_statement_on_accessibility_names_tests_that_exist() -> None:
    named = set(re.findall(r"`([\w.]+\.(?:py|test\.ts))`", text_of(DOCS / "accessibility.md")))
    assert len(named) > 5
    there = {path.name for folder in ("tests/browser", "js/test") for path in (ROOT / folder).rglob("*.*")}
    assert named <= there
