"""Every notebook of the course, run from top to bottom in a real JupyterLab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.places import ROOT, json_of

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# nbval runs the lessons as they are. Here the machine is measured briefly.
BEFORE = """import functools, os
import roofwidget as rw
rw.measure_peaks = functools.partial(rw.measure_peaks, budget_s=0.2, cache=False)
os.chdir({folder!r})"""


def walk(story: Locator) -> None:
    """Go to the last step of a story by keyboard."""
    story.scroll_into_view_if_needed()
    said = story.get_by_text(re.compile(r"^Step \d+ of \d+$"))
    step, steps = map(int, re.findall(r"\d+", said.text_content() or ""))
    for following in range(step + 1, steps + 1):
        story.get_by_role("button", name="Next", exact=True).press("Enter")
        expect(said).to_have_text(f"Step {following} of {steps}")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_lesson_draws_its_widgets_tells_its_stories_to_the_end_and_asks_nobody_outside(
    notebook: OpenNotebook, path: Path
) -> None:
    cells = [cell for cell in json_of(path)["cells"] if cell["cell_type"] == "code"]
    sources = [BEFORE.format(folder=str(path.parent)), *("".join(cell["source"]) for cell in cells)]
    book = notebook(sources)
    for index in range(len(sources)):
        book.run(index)
    Drawn(book)
    for widget in book.page.locator(".roofwidget").all():
        widget.scroll_into_view_if_needed()
        expect(widget.locator(".rw-chart")).to_be_visible()
    stories = book.page.locator(".rw-story").all()
    assert stories
    for story in stories:
        walk(story)
    assert book.external_requests == []
