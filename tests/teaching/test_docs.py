"""The code of `docs/teaching.md` runs from top to bottom and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import roofwidget as rw
from roofwidget.teaching.bank.check import check
from roofwidget.teaching.bank.entries import read_file
from tests.places import DOCS, json_of, text_of, write

TEACHING = DOCS / "teaching.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", text_of(TEACHING), re.DOTALL)


def test_the_code_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # Small pixels: most of the time goes into large ones.
    monkeypatch.setattr("roofwidget.teaching.story.SLIDE_SCALE", 0.25)
    (own,) = re.findall(r"```toml\n(\[copy-time\].*?)```", text_of(TEACHING), re.DOTALL)
    assert [one.faults for one in check(read_file(write(tmp_path / "my_questions.toml", own)), 100)] == [(), ()]
    names: dict[str, object] = {}
    for block in blocks():
        exec(block, names)  # noqa: S102 - our own text
    said = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(blocks()), re.MULTILINE)
    assert len(said) > 5
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if line in said] == said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ada.json",
        "bank.gift",
        "items.csv",
        "lesson.html",
        "lesson.json",
        "my_questions.toml",
        "slides",
    ]
    assert {"index.html", "step-1.svg", "step-1.png", "step-2-answer.svg"} <= {
        path.name for path in (tmp_path / "slides").iterdir()
    }
    drawn = [text_of(tmp_path / "slides" / f"step-{key}.svg") for key in ("1", "2", "2-answer")]
    assert ["softmax" in picture for picture in drawn] == [False, False, True]


def test_the_first_lesson_has_five_steps_and_two_questions_that_can_be_answered() -> None:
    names: dict[str, object] = {}
    for block in blocks()[:3]:
        exec(block, names)  # noqa: S102 - our own text
    story = names["story"]
    assert isinstance(story, rw.Story)
    assert (len(story.steps), len(story.questions)) == (5, 2)
    right = {question.key: question.answer for question in story.questions}
    assert rw.grade(right, story.questions).score == 1
    # The texts name these figures.
    chips = [story.widget.resolved_chip(name) for name in ("a100-sxm-80gb", "h100-sxm")]
    assert [round(chip.ridge_point()) for chip in chips] == [153, 295]
    assert [round(ai, 2) for ai in story.widget.kernels.arithmetic_intensity] == [250, 1.18]
    assert round(chips[1].peak() / chips[0].peak()) == 3
    assert round(chips[1].bandwidth() / chips[0].bandwidth(), 1) == 1.6


def test_the_course_has_every_notebook_with_its_minutes() -> None:
    root = TEACHING.parents[1]
    notebooks = sorted((root / "notebooks").glob("*.ipynb"))
    minutes = {}
    for path in notebooks:
        cells = json_of(path)["cells"]
        said = re.search(r"(\d+)\s+minutes", "".join(cells[0]["source"]))
        assert said is not None, path.name
        minutes[path.name] = int(said[1])
    rows = re.findall(
        r"^\| (\d+) \| \[.*\]\(\.\./notebooks/(.*)\) \| (\d+) \|$", TEACHING.read_text("utf-8"), re.MULTILINE
    )
    assert {name: int(said) for _, name, said in rows} == minutes
    assert [int(number) for number, _, _ in rows] == [int(path.name[:2]) for path in notebooks]
    readme = re.findall(r"\]\(notebooks/(.*?)\)", (root / "README.md").read_text("utf-8"))
    assert readme == list(minutes)


def test_every_link_leads_to_a_file_or_to_a_heading() -> None:
    text = text_of(TEACHING)
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, heading = target.partition("#")
        assert not path or (TEACHING.parent / path).exists(), target
        assert not heading or heading in headings, target
