"""A notebook as a sheet: its questions are those that its saved widgets ask."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.export.notebook import STATE, VIEW
from roofwidget.export.saved_state import saved
from roofwidget.support import markdown
from roofwidget.teaching.classroom.sheet import read_sheet
from roofwidget.teaching.notebook_sheet import read_notebook_sheet
from tests.places import text_of, write

TIME = rw.Question(
    key="time",
    prompt="How long do *3.35 GB* take at `3.35 TB/s`?",
    answer="1 ms",
    unit="s",
    wrong_answers={"1 s": "You read GB for TB."},
    explanation="3.35e9 B / 3.35e12 B/s = 1 ms, *not* 2 * 1 ms.",
)
LIMIT = rw.Question(
    key="limit", prompt="What limits it?", answer="memory", options={"memory": "", "peak": "It is left."}
)
PLACE = rw.Question(
    key="place",
    prompt="Where is the softmax?",
    answer=1.25,
    on="intensity",
    kernel="softmax",
    setup={"chips": ["v5p"], "kernels": [("softmax", 1e10, 8e9)]},
)


def notebook(path: Path, *models: rw.RooflineModel, heading: str = "# Sheet 2") -> Path:
    """Write a notebook as nbconvert leaves it after it has run one."""
    states, outputs = {}, []
    for number, model in enumerate(models):
        parts = json.loads(saved(model.wire_state()))
        buffers = [{"path": place, "data": data, "encoding": "base64"} for place, data in parts["buffers"]]
        states[f"m{number}"] = {"model_name": "AnyModel", "state": parts["state"], "buffers": buffers}
        outputs.append({"output_type": "display_data", "data": {VIEW: {"model_id": f"m{number}"}}, "metadata": {}})
    cells = [
        {"cell_type": "markdown", "source": [heading, "\n\nText."], "metadata": {}},
        # A widget that is shown twice asks once.
        {"cell_type": "code", "source": "widget", "outputs": [*outputs, *outputs], "metadata": {}},
    ]
    document = {"cells": cells, "metadata": {"widgets": {STATE: {"state": states}}}, "nbformat": 4, "nbformat_minor": 5}
    return write(path, document)


def asking(*steps: Any, **traits: Any) -> rw.RooflineModel:
    model = rw.RooflineModel(**{"chips": [], "kernels": [], **traits})
    rw.Story(model, steps)
    return model


def test_the_questions_of_a_notebook_are_those_of_its_stories(tmp_path: Path) -> None:
    # The widget is saved at its first step, which shows something else.
    steps = (("Read this.", {"search": "gelu"}), ("", {"search": ""}, TIME))
    first = asking(*steps, chips=["v5p"], kernels=[("softmax", 1e10, 8e9)])
    path = notebook(tmp_path / "s.ipynb", first, asking(LIMIT), rw.RooflineModel(["v5p"], []))
    found = read_notebook_sheet(path)
    assert found.title == "Sheet 2"
    # Texts come back as Markdown that shows the same.
    questions = [one.question for one in found.asked]
    assert [markdown.html(one.prompt) for one in questions] == [markdown.html(one.prompt) for one in (TIME, LIMIT)]
    assert markdown.html(questions[0].explanation) == markdown.html(TIME.explanation)
    plain = [replace(one, prompt="", explanation="") for one in questions]
    assert plain == [replace(one, prompt="", explanation="") for one in (TIME, LIMIT)]
    # The state is that of the step, with its binary values.
    state = found.asked[0].state
    assert state is not None
    assert (state["step"], state["answers"], list(state["shown"])) == (1, {}, ["tpu-v5p"])
    first.step = 1
    assert saved(state) == saved(first.wire_state())


def test_a_notebook_is_a_sheet_for_pages_grades_and_learning_management_systems(tmp_path: Path) -> None:
    sheet = notebook(tmp_path / "s.ipynb", asking(TIME, LIMIT))
    students, key = write(tmp_path / "students.csv", "id\n7\n8\n"), tmp_path / "class.key"
    rw.class_pages(students, sheet, tmp_path / "pages", key=key)
    assert len(list((tmp_path / "pages").glob("sheet-*.html"))) == 2
    record = json.loads(
        text_of(next((tmp_path / "pages").glob("sheet-7-*.html"))).split('id="sheet">')[1].split("</script>")[0]
    )
    wrong = re.findall(r'value="(a[0-9])"> peak<', text_of(next((tmp_path / "pages").glob("sheet-7-*.html"))))
    answers = {"time": ["0.001 s"], "limit": wrong}
    (tmp_path / "inbox").mkdir()
    write(tmp_path / "inbox" / "a.json", {**record, "answers": answers, "saved_at": ""})
    out = tmp_path / "gradebook.csv"
    given = [str(students), str(sheet), str(tmp_path / "inbox"), "--key", str(key), "--out", str(out)]
    assert main(["class", "grade", *given]) == 0
    assert ",ok,1,2,50,1,0," in text_of(out)
    gift = tmp_path / "s.gift"
    assert main(["class", "lms", str(sheet), "--format", "gift", "--variants", "5", "--out", str(gift)]) == 0
    assert text_of(gift).count("::time") == 1
    assert "$CATEGORY: Sheet 2/limit" in text_of(gift)


def test_the_sheet_of_a_notebook_has_the_same_questions_for_all(tmp_path: Path) -> None:
    sheet = read_sheet(notebook(tmp_path / "s.ipynb", asking(TIME), heading="No heading"))
    assert (sheet.title, sheet.keys) == ("s", ("time",))
    assert sheet.questions(1) == sheet.questions(2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: write(path, "{"), "s.ipynb is no notebook, or is damaged"),
        (lambda path: write(path, {"cells": 3}), "s.ipynb is no notebook, or is damaged"),
        (lambda path: path.write_bytes(b"\xff"), "s.ipynb is no notebook: it is not UTF-8 text"),
        (notebook, "s.ipynb: no saved widget asks a question; run the notebook first"),
        (lambda path: notebook(path, asking(TIME), asking(TIME)), "s.ipynb: two questions have the key 'time'"),
    ],
)
def test_what_asks_nothing_or_is_no_notebook_is_refused(make: Any, message: str, tmp_path: Path) -> None:
    make(tmp_path / "s.ipynb")
    with pytest.raises(ValueError, match=message):
        read_sheet(tmp_path / "s.ipynb")


@pytest.mark.parametrize(
    "text",
    [
        "a **b** *c* `d` e",
        "2 * 3 * 4 and a_b_c",
        "- one\n- two **b**\n\n1. u\n2. v\n\n   w",
        "```\ncode `x` ``` y\n```",
        "````\na\n```\nb\n````",
        "> quote *em*\n\n### head",
        "line\\\nbreak",
        "1\\. no list, \\- nor this, \\# nor that",
        "\\- x\n\n\\+ y\n\n\\> z\n\n=== \\=",
        "`` a ` b ``, `` `c` ``, &amp;amp; <b>",
    ],
)
def test_markdown_of_elements_has_these_elements(text: str) -> None:
    nodes = markdown.tree(text)
    assert markdown.tree(markdown.source(nodes)) == nodes


def test_the_markdown_of_the_bank_has_the_elements_of_the_bank() -> None:
    for one in rw.question_bank():
        for nodes in (markdown.tree(one.prompt), markdown.tree(one.explanation)):
            assert markdown.tree(markdown.source(nodes)) == nodes
