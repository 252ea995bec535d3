"""A course as pages, by the commands of `make course`: opened from files, without Python and without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import roofwidget as rw
from roofwidget.cli import main
from tests.environments import DEV, run
from tests.places import text_of, write
from tests.teaching.lessons import LESSON, PRINTED, Cell, notebook

# A table that is wider than a phone.
WIDE = f"{'| long-heading ' * 8}|\n{'| --- ' * 8}|\n{'| value ' * 8}|"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a course of two lessons. The first one has a story."""
    folder = tmp_path_factory.mktemp("lessons")
    lessons = folder / "notebooks"
    lessons.mkdir()
    write(lessons / "one.ipynb", notebook(LESSON))
    write(lessons / "two.ipynb", notebook([Cell(f"# The next lesson\n\n## More\n\n{WIDE}", "markdown")]))
    # The other lesson has no code.
    execute = ("nbconvert", "--to", "notebook", "--execute", "--output-dir", "build/notebooks")
    run(DEV, folder, folder / "home", "jupyter", *execute, "notebooks/one.ipynb")
    shutil.copy(lessons / "two.ipynb", folder / "build" / "notebooks")
    pages = (str(folder / "build/notebooks"), "--out", str(folder / "course"), "--contents", "Two lessons")
    assert main(["page", *pages]) == 0
    assert '"outputs": []' in text_of(lessons / "one.ipynb")
    return folder / "course"


def test_a_lesson_is_worked_through_from_the_contents_to_the_file_of_answers(
    course: Path, browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    requests: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((course / "index.html").as_uri())
    expect(page.get_by_role("listitem")).to_have_text(["A lessonWhat was answered", "The next lessonMore"])
    expect(page.get_by_text("answered", exact=False).filter(has_text=" of ")).to_have_count(0)
    other_tab = context.new_page()
    other_tab.goto(page.url)
    page.bring_to_front()
    page.get_by_role("link", name="A lesson").click()
    expect(page.get_by_text(PRINTED.splitlines()[1])).to_be_visible()
    expect(page.get_by_role("link", name="the rules")).to_have_count(0)
    story = page.locator(".rw-story")
    for step in ("Step 2 of 3", "Step 3 of 3"):
        story.get_by_role("button", name="Next").click()
        expect(story.get_by_text(step)).to_be_visible()
    story.get_by_role("textbox").fill("166 FLOP/B")
    story.get_by_role("button", name="Check").click()
    expect(story.get_by_role("status")).to_contain_text("Right.")
    with page.expect_download() as download:
        story.get_by_role("button", name="Save answers").click()
    download.value.save_as(tmp_path / "answers.json")
    grades = rw.grade(tmp_path / "answers.json")
    assert [(one.key, one.correct, one.attempts) for one in grades] == [("place", False, 0), ("ridge", True, 1)]
    # The contents know what was answered on the page, and lead to the question that is open.
    navigation = page.get_by_role("navigation", name="Course")
    expect(navigation).to_contain_text("1 of 2 answered")
    expect(page).to_have_title("Step 3 of 3, A lesson")
    expect(other_tab.get_by_role("listitem").first).to_contain_text("1 of 2 answered")
    expect(other_tab.get_by_role("link", name="Continue with A lesson")).to_be_visible()
    navigation.get_by_role("link", name="Contents").click()
    expect(page.get_by_role("listitem").first).to_contain_text("1 of 2 answered")
    page.get_by_role("link", name="Continue with A lesson").click()
    expect(story.get_by_text("Step 2 of 3")).to_be_visible()
    expect(story).to_be_in_viewport()
    page.get_by_role("link", name="the next", exact=True).click()
    expect(page.get_by_role("heading", name="More")).to_be_visible()
    page.set_viewport_size({"width": 480, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 480, "the table scrolls in its own box"
    assert {url.partition(":")[0] for url in requests} <= {"file", "blob"}
    assert faults == []
    context.close()


def test_a_course_that_the_browser_keeps_nothing_of_claims_no_progress(course: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True)
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    page = context.new_page()
    page.goto((course / "one.html").as_uri())
    story = page.locator(".rw-story")
    # A step that the address names is in the window, also if it was in the address before.
    for _ in range(2):
        page.evaluate("() => { scrollTo(0, 0); document.querySelector('nav details').open = true; }")
        page.get_by_role("link", name="Step 3").click()
        expect(story.get_by_text("Step 3 of 3")).to_be_visible()
        assert abs(page.evaluate("document.querySelector('.rw-story').getBoundingClientRect().top")) < 40
    story.get_by_role("textbox").fill("166 FLOP/B")
    story.get_by_role("button", name="Check").click()
    expect(story.get_by_role("status")).to_contain_text("Right.")
    expect(page.locator("[data-progress]")).to_be_hidden()
    page.get_by_role("link", name="Contents").click()
    expect(page.locator("[data-progress]")).to_be_hidden()
    expect(page.locator("[data-continue]")).to_be_hidden()
    page.go_back()
    expect(story).to_be_visible()

    # On paper: every question without its answer, the chart in full width, no control.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 672, "height": 900})
    paper = page.locator(".on-paper > li")
    expect(paper).to_have_text(["Predict.Drag it there.", "Where is the ridge point?"])
    for hidden in (story, page.get_by_role("navigation"), page.get_by_role("slider").first):
        expect(hidden).to_be_hidden()
    context.close()
