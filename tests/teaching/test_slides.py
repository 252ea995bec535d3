"""Slides of a story: a picture for each step, and a page that needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import roofwidget as rw
from tests.places import text_of
from tests.teaching.test_handout import charts

KERNELS = [("attention", 4.3e12, 4e10), ("layer norm", 5e9, 3e9)]


def story(caption: str = "The **roof**.") -> rw.Story:
    place = rw.Question(
        key="place",
        prompt="Where is it?",
        answer=107.5,
        on="intensity",
        kernel="attention",
        explanation="4.3e12 / 4e10",
    )
    bound = rw.Question(key="bound", prompt="What binds?", answer="HBM", options={"compute": "No.", "HBM": ""})
    steps: list[rw.Step | rw.Question | str | tuple[Any, ...]] = [
        caption,
        ("A dot is missing.", {}, place),
        ("Less bandwidth.", {"bandwidth": "1 TB/s"}, bound),
    ]
    return rw.Story(rw.RooflineModel(["v5p"], KERNELS, title="A <lesson>"), steps)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of slides, with its files beside it."""
    return story("<script>window.PWNED = 1</script> & <b>").slides(tmp_path_factory.mktemp("slides"))


@pytest.fixture
def no_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the PNG files empty: the page has the SVG."""
    monkeypatch.setattr("roofwidget.teaching.story.png", lambda *_, **__: b"")


def test_each_step_gives_a_picture_and_each_question_one_of_its_answer(told: Path) -> None:
    keys = ["step-1", "step-2", "step-2-answer", "step-3", "step-3-answer"]
    files = {path.name for path in told.parent.iterdir()}
    assert files == {"index.html", *(f"{key}.{end}" for key in keys for end in ("svg", "png"))}
    assert re.findall(r'<section id="([^"]+)"', text_of(told)) == ["title", *keys]
    # 1920 by 1080 pixels.
    assert (told.parent / "step-1.png").read_bytes()[16:24] == bytes([0, 0, 7, 128, 0, 0, 4, 56])


def test_a_question_hides_its_kernel_and_its_answer_shows_it(told: Path) -> None:
    first, asked, answered, *_ = charts(text_of(told))
    assert ("attention" in first, "attention" in asked, "attention" in answered) == (True, False, True)


@pytest.mark.usefixtures("no_pixels")
def test_a_slide_shows_the_state_of_its_step_and_the_widget_keeps_its_own(tmp_path: Path) -> None:
    used = story()
    used.widget.search = "norm"
    first, *_, last = charts(text_of(used.slides(tmp_path)))
    assert ("ridge 166" in first.replace("\xa0", " "), "ridge 459" in last.replace("\xa0", " ")) == (
        True,
        True,
    )
    assert (used.widget.step, used.widget.search, dict(used.widget.what_if)) == (0, "norm", {})


def test_the_page_asks_for_nothing_runs_nothing_and_shows_markup_as_text(told: Path) -> None:
    html = text_of(told)
    assert "default-src 'none'; script-src 'none'; style-src 'sha256-" in html
    assert "<script" not in html
    assert "&lt;script&gt;window.PWNED = 1&lt;/script&gt; &amp; &lt;b&gt;" in html
    assert "<h1>A &lt;lesson&gt;</h1>" in html
    assert "<li>compute</li><li>HBM</li>" in html
    assert "107.5 FLOP/B" in html
    for picture in charts(text_of(told)):
        ET.fromstring(picture)  # noqa: S314 - made by the line above


@pytest.mark.usefixtures("no_pixels")
def test_the_same_story_gives_the_same_slides(told: Path, tmp_path: Path) -> None:
    again = story("<script>window.PWNED = 1</script> & <b>").slides(tmp_path)
    assert again.read_bytes() == told.read_bytes()


@pytest.mark.usefixtures("no_pixels")
def test_a_slide_shows_the_same_elements_as_the_widget(tmp_path: Path) -> None:
    story = rw.Story(rw.RooflineModel(["v5p"], [("matmul", 4e12, 8e10)]), ["# Head\n\n---\n\n- a\n- *b* \ud800"])
    text = text_of(story.slides(tmp_path))
    assert "<div><h3>Head</h3><ul><li><p>a</p></li><li><p><em>b</em> ?</p></li></ul></div>" in text
