"""The pages of a course: links between them, what is known of each lesson, and the questions on paper."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.export.notebook import STATE, VIEW, lesson_of
from roofwidget.support import built_files
from roofwidget.support.html_document import policy_hash
from tests.places import text_of, write

TITLES = ("Roofs", "Bytes & *more*", "Fusion")
RIGHT = "Because 200 is less than 320."


def told() -> rw.RooflineWidget:
    """Return a widget whose story asks two questions in three steps."""
    widget = rw.RooflineWidget(["v5p"], [("matmul", 4e12, 8e10)])
    rw.Story(
        widget,
        [
            "The first step asks nothing.",
            rw.Step(
                "A kernel of **200 FLOP/B**.",
                question=rw.Question(
                    key="side",
                    prompt="What limits it?",
                    answer="the memory",
                    options={"the peak": "It is left of the ridge point.", "the memory": RIGHT},
                ),
            ),
            rw.Question(
                key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B", explanation="P/B."
            ),
        ],
    )
    return widget


def cell(source: str, *shown: ipywidgets.Widget, tags: tuple[str, ...] = (), printed: str = "") -> dict[str, Any]:
    """Return a cell of code that shows widgets, or a cell of text if it shows and prints nothing."""
    outputs: list[dict[str, Any]] = [
        {"output_type": "display_data", "metadata": {}, "data": {VIEW: {"model_id": one.model_id}}} for one in shown
    ]
    if printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
    kind = {"cell_type": "code", "execution_count": 1, "outputs": outputs} if outputs else {"cell_type": "markdown"}
    return {**kind, "metadata": {"tags": list(tags)}, "source": source}


def written(folder: Path, name: str, *cells: dict[str, Any]) -> Path:
    state = ipywidgets.Widget.get_manager_state(drop_defaults=False)
    placed = [{**one, "id": f"cell-{at}"} for at, one in enumerate(cells)]
    notebook = {"cells": placed, "metadata": {"widgets": {STATE: state}}, "nbformat": 4, "nbformat_minor": 5}
    return write(folder / f"{name}.ipynb", notebook)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a folder with three lessons. The second one takes 40 minutes and has two stories."""
    written(tmp_path, "1", cell(f"# {TITLES[0]}\n\nNo time is given."))
    stories = (cell("told", told()), cell("## Two\n\nIt takes 50 minutes."), cell("told", told(), rw.roofline(["v5p"])))
    written(tmp_path, "2", cell(f"# {TITLES[1]}\n\nThis takes 40 minutes.\n\n## One & only"), *stories)
    written(tmp_path, "3", cell(f"# {TITLES[2]}"))
    return tmp_path


def pages(course: Path, *options: str) -> dict[str, str]:
    assert main(["page", str(course), "--contents", "A course", *options]) == 0
    return {path.stem: text_of(path) for path in course.glob("*.html")}


def navigation(html: str) -> str:
    found = re.search('<nav aria-label="Course">(.*?)</nav>', html, re.DOTALL)
    assert found is not None
    return found[1]


def test_each_page_links_to_the_lessons_beside_it_and_to_the_contents(course: Path) -> None:
    made = pages(course)
    link = re.compile('<a href="([^"#]+)"(?: rel="([^"]+)")?>([^<]*)</a>')
    assert [link.findall(navigation(made[name])) for name in "123"] == [
        [("index.html", "", "Contents"), ("2.html", "next", "Next: Bytes &amp; more")],
        [("1.html", "prev", "Previous: Roofs"), ("index.html", "", "Contents"), ("3.html", "next", "Next: Fusion")],
        [("2.html", "prev", "Previous: Bytes &amp; more"), ("index.html", "", "Contents")],
    ]
    assert '<p class="next"><a href="2.html" rel="next">Next: Bytes &amp; more</a></p>' in made["1"]
    assert '<p class="next">' not in made["3"]
    for name in "123":
        assert made[name].index('<a class="skip" href="#main">') < made[name].index("<nav") < made[name].index("<main")


def test_a_page_without_a_course_has_no_navigation(course: Path) -> None:
    assert main(["page", str(course / "2.ipynb")]) == 0
    html = text_of(course / "2.html")
    assert "<nav" not in html
    assert 'class="skip"' not in html


def test_a_lesson_knows_its_minutes_by_its_first_text_and_its_questions_by_its_widgets(course: Path) -> None:
    lessons = [lesson_of(course / f"{name}.ipynb") for name in "123"]
    assert [(one.minutes, one.asked) for one in lessons] == [(None, 0), (40, 4), (None, 0)]


def test_what_was_answered_is_unknown_until_the_script_has_read_it(course: Path) -> None:
    made = pages(course)
    place = '<span data-progress="{answered} of {asked} answered" data-asked="4" hidden></span>'
    assert f'<p class="facts"><span>40 minutes</span>{place}</p>' in navigation(made["2"])
    assert "facts" not in navigation(made["1"])
    contents = made["index"]
    assert contents.count('data-progress="') == 1
    assert '<p data-continue="Continue with {title}" hidden></p>' in contents
    script = built_files.text("contents.js")
    assert f"<script>{script}</script>" in contents
    assert f"script-src {policy_hash(script)};" in contents


def test_links_lead_to_the_sections_and_to_the_steps_of_each_story(course: Path) -> None:
    html = pages(course)["2"]
    links = re.findall('<a href="#([^"]+)"(?: aria-label="([^"]*)")?>([^<]*)</a>', navigation(html))
    steps = [(f"{story}step={step}", f"Step {step}", str(step)) for story in ("", "story=2&amp;") for step in (1, 2, 3)]
    assert [one for one in links if one[1]] == steps
    assert [text for _, label, text in links if not label] == ["One &amp; only", "Two"]
    assert [html.count(f'id="{address}"') for address, _, _ in links] == [1] * len(links)


def test_a_printed_page_has_all_questions_with_empty_boxes_and_no_answer(course: Path) -> None:
    html = pages(course)["2"]
    papers = re.findall('<ol class="on-paper">(.*?)</ol>', html, re.DOTALL)
    assert len(papers) == 2
    assert re.sub("\\s", " ", papers[0]).strip() == (
        "<li><p>A kernel of <strong>200 FLOP/B</strong>.</p><p>What limits it?</p>"
        "<ul><li>the peak</li><li>the memory</li></ul></li> "
        '<li><p>Where is the ridge point?</p><p class="ruled"></p></li>'
    )
    assert "@page { size: A4; margin: 18mm 16mm; }" in html


def test_a_page_prints_the_answers_if_it_is_asked_to(course: Path) -> None:
    html = unescape(pages(course, "--print-answers")["2"])
    assert html.count("<strong>Answer: the memory</strong>") == 2
    assert html.count("<strong>Answer: 166.3 FLOP/B</strong></p><p>P/B.</p>") == 2


def test_a_solution_is_folded_with_its_prose_its_code_its_outputs_and_its_widgets(tmp_path: Path) -> None:
    tags = ("solution",)
    heading = cell("### Solution\n\nIn words.")
    heading["metadata"]["jp-MarkdownHeadingCollapsed"] = True
    written(
        tmp_path,
        "1",
        cell("# Roofs"),
        heading,
        cell("**Asked** is a time. See [here](2.ipynb).", tags=tags),
        cell("print(1 < 2)", rw.roofline(["v5p"]), tags=tags, printed="True\n"),
        cell("print(3)", tags=tags, printed="3\n"),
        cell("After it."),
    )
    assert main(["page", str(tmp_path / "1.ipynb")]) == 0
    html = text_of(tmp_path / "1.html")
    assert html.count("<details>") == 2, "the solution, and the sources of the figures"
    folded = html[html.index("<details><summary>Solution</summary>") : html.index("After it.")]
    folded = folded.replace(' rel="noopener noreferrer"', "")
    assert html.index('<h3 id="Solution">') < html.index("<details>"), "the heading is not folded"
    parts = (
        "<p>In words.</p>",
        "<strong>Asked</strong>",
        "<a>here</a>",
        "<pre>print(1 &lt; 2)</pre>",
        "<section data-roofwidget>",
        "True",
    )
    places = [folded.index(part) for part in (*parts, "<pre>print(3)</pre>", "</details>")]
    assert places == sorted(places)
