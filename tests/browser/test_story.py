"""Stories: walked by keyboard, pointer and touch on exported pages, and together with Python in JupyterLab."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

import roofwidget as rw
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, Finger, box_of, centre, enter
from tests.browser.test_access import AXE, SMALL, UNGUARDED
from tests.places import text_of

if TYPE_CHECKING:
    from playwright.sync_api import Download

    from tests.browser.exported import Exported

OPS = [("LayerNorm", 10), ("GELU", 8), ("Add", 1)]
# GELU does 8 FLOPs for each element, and reads and writes 2 bytes.
GELU = 2.0
# As long as a caption may be.
LONG = " ".join(["A **roofline** shows how fast a kernel can run on a chip."] * 5)
RIDGE = rw.Question(key="ridge", prompt="Where is the ridge point?", answer=100, unit="FLOP/B", explanation="100 / 1.")
BOUND = rw.Question(
    key="bound",
    prompt="What limits GELU?",
    answer="HBM",
    options={"The peak": "Its intensity is left of the ridge point.", "HBM": "", "Nothing": "Each kernel has a limit."},
)
PLACE = rw.Question(key="place", prompt="Where is GELU?", answer=GELU, on="intensity", kernel="GELU")
ROOF = rw.Question(key="roof", prompt="Drag the bandwidth to 3 TB/s.", answer=3e12, on="bandwidth")
HOSTILE = "<img src=x onerror=window.PWNED=1></script><script>window.PWNED=1</script>"
ON_ONE_SCREEN = """([top, ...all]) => {
  const boxes = all.map((one) => one.getBoundingClientRect());
  return Math.max(...boxes.map(({ bottom }) => bottom)) - top.getBoundingClientRect().top;
}"""
SCROLLED = "() => [scrollX, scrollY]"


def told(*, chip: str = "My chip", caption: str = "A step.", **traits: object) -> rw.RooflineWidget:
    """Return a widget with a story that has each kind of question."""
    graph = rw.chain(OPS, elements=1_000_000)
    merge = rw.Question(key="merge", prompt="Merge.", answer=[[name for name, _ in OPS]], graph=graph)
    widget = rw.roofline([rw.Chip(chip, {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], graph=graph, **traits)
    questions = (RIDGE, BOUND, PLACE, ROOF, merge)
    rw.Story(widget, ["The start.", *(rw.Step(caption, {}, question) for question in questions), "The end."])
    return widget


class Panel:
    """The panel of the story."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator(".rw-story")
        self.next = self.root.get_by_role("button", name="Next")
        self.check = self.root.get_by_role("button", name="Check")
        self.said = self.root.get_by_role("status")
        self.marker = page.get_by_role("slider", name="Your intensity")

    def at(self, step: int) -> None:
        """Wait for a step, counted from 1."""
        expect(self.root).to_have_attribute("aria-label", f"Story: Step {step} of 7")

    def saved(self) -> Download:
        """Save the answers."""
        with self.page.expect_download() as download:
            self.root.get_by_role("button", name="Save answers").click()
        return download.value

    def press(self, target: Locator, key: str, *, backward: bool = False) -> None:
        """Go to a control with Tab alone, and press a key."""
        for _ in range(80):
            if target.evaluate("(one) => one.getRootNode().activeElement === one"):
                return self.page.keyboard.press(key)
            self.page.keyboard.press("Shift+Tab" if backward else "Tab")
        raise AssertionError(f"Tab does not reach {target}")

    def has_focus(self) -> bool:
        """Tell whether the focus is in the panel."""
        return bool(self.root.evaluate("(panel) => panel.contains(panel.getRootNode().activeElement)"))

    def move_marker(self, value: float) -> None:
        """Move the marker, which has the focus, by keys."""
        for _ in range(400):
            ratio = float(self.marker.get_attribute("aria-valuenow") or 0) / value
            if 0.98 < ratio < 1.02:
                return
            up, far = ratio < 1, max(ratio, 1 / ratio) > 1.3
            self.page.keyboard.press(("PageUp" if up else "PageDown") if far else "ArrowRight" if up else "ArrowLeft")
        raise AssertionError("the marker does not get there")


def answer_wrong(panel: Panel) -> None:
    """Answer the question of the step, not right."""
    if panel.root.get_by_role("textbox").count() > 0:
        panel.root.get_by_role("textbox").fill("5")
    elif panel.root.get_by_role("radio").count() > 0:
        panel.root.get_by_role("radio").first.check()
    elif panel.marker.count() > 0:
        panel.marker.press("PageUp")
    panel.check.click()
    expect(panel.said).to_have_text(re.compile("^Not yet"))


def graded(download: Download, folder: Path, questions: object = None) -> rw.Grades:
    """Return the grades of a saved file of answers."""
    path = folder / download.suggested_filename
    download.save_as(path)
    return rw.grade(path, questions)  # type: ignore[arg-type]


def type_a_number(panel: Panel) -> None:
    """Answer the question about the ridge point: no number, a wrong one, a right one."""
    box = panel.root.get_by_role("textbox", name="Your answer")
    panel.press(box, "x")
    panel.page.keyboard.press("Enter")
    expect(panel.said).to_have_text("“x” is not a number; write for example “12 FLOP/B”")
    panel.page.keyboard.press("Control+A")
    panel.page.keyboard.type("1 kFLOP/B")
    panel.page.keyboard.press("Enter")
    expect(panel.root).to_contain_text("read as 1000 FLOP/B")
    expect(panel.said).to_have_text("Not yet: too large.")
    panel.page.keyboard.press("Control+A")
    panel.page.keyboard.type("99")
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Right.")
    expect(panel.root).to_contain_text("100 / 1.")


def choose_an_option(panel: Panel) -> None:
    """Answer the question about the limit: none, a wrong one, the right one."""
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Choose one of them first.")
    panel.press(panel.root.get_by_role("radio").first, "Space", backward=True)
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Not yet. Its intensity is left of the ridge point.")
    panel.press(panel.root.get_by_role("radio").first, "ArrowDown", backward=True)
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Right.")


def move_the_marker(panel: Panel) -> None:
    """Answer the question about the place: not at all, wrong, right."""
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text(re.compile("^Drag the marker"))
    panel.press(panel.marker, "PageUp")
    panel.press(panel.check, "Enter", backward=True)
    expect(panel.said).to_have_text("Not yet: too large.")
    panel.press(panel.marker, "PageDown")
    panel.move_marker(GELU)
    panel.press(panel.check, "Enter", backward=True)
    expect(panel.said).to_have_text("Right.")


def change_the_roof(panel: Panel, drawn: Drawn) -> None:
    """Answer the question about the roof: as it is, then as it should be."""
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Not yet: too small.")
    panel.press(drawn.box("bandwidth"), "Control+A")
    panel.page.keyboard.type("3.1 TB/s")
    panel.page.keyboard.press("Enter")
    panel.press(panel.check, "Enter", backward=True)
    expect(panel.said).to_have_text("Right.")


def merge_the_operations(panel: Panel, drawn: Drawn) -> None:
    """Answer the question about the fusion: nothing merged, all merged."""
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Not yet: 3 kernels. Fewer bytes are possible.")
    panel.press(drawn.get_by_role("application", name=re.compile("chain")), "ArrowDown")
    for kernels in (2, 1):
        panel.page.keyboard.press("Enter")
        expect(drawn.locator("[data-label^='kernel']")).to_have_count(kernels)
    panel.press(panel.check, "Enter", backward=True)
    expect(panel.said).to_have_text("Right.")


def test_a_story_is_walked_by_keyboard_alone_and_its_answers_are_graded(
    exported: Callable[..., Exported], tmp_path: Path
) -> None:
    opened = exported(told().to_html())
    page, panel, drawn = opened.page, Panel(opened.page), opened.drawn
    panel.at(1)
    panel.press(panel.next, "Enter")
    answers: list[Callable[[], None]] = [
        lambda: type_a_number(panel),
        lambda: choose_an_option(panel),
        lambda: move_the_marker(panel),
        lambda: change_the_roof(panel, drawn),
        lambda: merge_the_operations(panel, drawn),
    ]
    places = []
    for step, answer in enumerate(answers):
        panel.at(step + 2)
        assert panel.has_focus()
        places.append([box_of(panel.next), box_of(panel.check), page.evaluate(SCROLLED)])
        answer()
        expect(panel.check).to_have_count(0)
        assert panel.has_focus()
        panel.press(panel.next, "Enter")

    panel.at(7)
    # Beside the chart no button moves from step to step, and the page does not scroll.
    assert places == [places[0]] * len(answers)
    expect(panel.next).to_have_attribute("aria-disabled", "true")
    with page.expect_download() as download:
        panel.press(panel.root.get_by_role("button", name="Save answers"), "Enter")
    grades = graded(download.value, tmp_path)
    assert download.value.suggested_filename == "answers.json"
    # A number and a merge keep 2/3 of a point at the second answer, a choice of three options nothing.
    assert grades.points == pytest.approx(4 * 2 / 3)
    assert [(one.correct, one.attempts) for one in grades] == [(True, 2)] * 5
    assert rw.grade(tmp_path / "answers.json", counts="first").points == 0


def test_the_marker_follows_the_mouse_and_the_roof_answers_a_question(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html(), fragment="#step=4")
    page, panel, drawn = opened.page, Panel(opened.page), opened.drawn
    panel.at(4)
    x, y = centre(panel.marker)
    drawn.pull((x, y), (drawn.place(50, 1e13)[0], y), drop=False)
    page.keyboard.press("Escape")
    page.mouse.up()
    panel.check.click()
    asks = "Drag the marker on the chart, or move it with the arrow keys, to within 20 %. Then check."
    expect(panel.said).to_have_text(asks)

    drawn.pull((x, y), (drawn.place(GELU, 1e12)[0], y))
    assert abs(float(panel.marker.get_attribute("aria-valuenow") or 0) / GELU - 1) < 0.1
    panel.check.click()
    expect(panel.said).to_have_text("Right.")
    expect(panel.marker).to_have_count(0)
    expect(drawn.locator(".rw-truth")).to_be_visible()

    panel.next.click()
    panel.at(5)
    x, y = drawn.place(10, 1e13)
    drawn.pull((x, y), (x, drawn.place(10, 3e13)[1]))
    panel.check.click()
    expect(panel.said).to_have_text("Right.")


def test_a_finger_drags_the_marker_on_a_phone(exported: Callable[..., Exported]) -> None:
    phone = {"viewport": {"width": 480, "height": 900}, "has_touch": True}
    opened = exported(told(caption=LONG).to_html(), fragment="#step=4", **phone)
    page, panel, drawn = opened.page, Panel(opened.page), opened.drawn
    panel.at(4)
    panel.marker.scroll_into_view_if_needed()
    box = box_of(panel.marker)
    y = box["y"] + box["height"] / 2
    before = page.evaluate(SCROLLED)
    finger = Finger(drawn)
    finger.press(box["x"] + box["width"] / 2, y)
    to = drawn.place(GELU, 1e12)[0]
    for share in range(1, 6):
        finger.move(box["x"] + box["width"] / 2 + (to - box["x"] - box["width"] / 2) * share / 5, y + 4 * share)
    finger.lift()
    assert page.evaluate(SCROLLED) == before
    assert abs(float(panel.marker.get_attribute("aria-valuenow") or 0) / GELU - 1) < 0.15

    def is_right() -> bool:
        # Chromium makes no click of a tap that follows a drag too soon.
        if panel.check.count() > 0:
            panel.check.tap()
        return panel.said.inner_text() == "Right."

    drawn.eventually(is_right)
    for step in range(1, 8):
        page.evaluate("(step) => { location.hash = `#step=${step}`; }", step)
        panel.at(step)
        assert page.evaluate("document.documentElement.scrollWidth") <= 480


def test_the_address_names_the_step(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html(), fragment="#step=3")
    page, panel = opened.page, Panel(opened.page)
    panel.at(3)
    panel.next.click()
    panel.at(4)
    assert page.url.endswith("#step=4")
    page.reload()
    panel.at(4)
    expect(panel.marker).to_be_visible()
    page.evaluate("() => { location.hash = '#step=2'; }")
    panel.at(2)
    page.evaluate("() => { location.hash = '#step=99'; }")
    page.evaluate("() => { location.hash = '#step=1'; }")
    panel.at(1)
    expect(opened.drawn.slider("bandwidth")).to_be_visible()


def test_answers_on_a_page_are_there_when_it_is_opened_again(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html(), fragment="#step=3")
    page, panel = opened.page, Panel(opened.page)
    choose_an_option(panel)
    answers = text_of(panel.saved().path())
    page.reload()
    panel.at(3)
    assert text_of(panel.saved().path()) == answers
    remove = panel.root.get_by_role("button", name="Remove answers")
    remove.click()
    panel.root.get_by_role("button", name="Remove all of them?").click()
    expect(remove).to_have_count(0)
    page.reload()
    panel.at(3)
    expect(panel.root.get_by_role("button", name="Save answers")).to_have_count(0)


def test_a_page_says_if_the_browser_does_not_keep_its_answers(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html(), fragment="#step=3")
    page, panel = opened.page, Panel(opened.page)
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    page.reload()
    panel.at(3)
    alert = panel.root.get_by_role("alert")
    expect(alert).to_have_count(0)
    choose_an_option(panel)
    expect(alert).to_have_text(
        "This browser does not keep your answers: they are lost when the page closes. Save them as a file."
    )


def test_a_step_starts_anew_and_undo_returns_to_the_step_before(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html())
    panel, drawn = Panel(opened.page), opened.drawn
    start = drawn.roof("my-chip")
    drawn.drag("bandwidth", 0.2)
    moved = drawn.roof("my-chip")
    assert moved != start
    panel.next.click()
    drawn.eventually(lambda: drawn.roof("my-chip") == start)
    drawn.tool("undo").click()
    panel.at(1)
    drawn.eventually(lambda: drawn.roof("my-chip") == moved)
    panel.root.get_by_role("button", name="Start of this step").click()
    drawn.eventually(lambda: drawn.roof("my-chip") == start)


def test_a_hidden_kernel_is_nowhere_until_the_answer_is_shown(exported: Callable[..., Exported]) -> None:
    kernels = [rw.Kernel("seen", 4e12, 1e10), rw.Kernel("secret", 5e9, 1.6e9)]
    widget = rw.roofline([rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], kernels)
    question = rw.Question(key="q", prompt="Where?", answer=3.125, on="intensity", kernel="secret")
    rw.Story(widget, [rw.Step("", {"selected": [1]}, question), rw.Step("None.", hides=True)])
    opened = exported(widget.to_html())
    panel, drawn = Panel(opened.page), opened.drawn
    status = drawn.locator("[data-rw=status]")
    expect(status).to_contain_text("My chip")
    drawn.open_tab("kernels")
    drawn.button("All columns").click()
    expect(drawn.get_by_role("row", name=re.compile("seen"))).to_have_count(2)
    expect(drawn.root).not_to_contain_text("secret")
    expect(drawn.get_by_role("searchbox")).to_have_count(0)
    expect(drawn.button(re.compile("^Filter"))).to_have_count(0)
    panel.next.click()
    expect(panel.root).to_contain_text("None.")
    expect(drawn.root).not_to_contain_text(re.compile("secret|Clear filters"))
    panel.root.get_by_role("button", name="Back").click()
    panel.marker.press("ArrowRight")
    panel.check.click()
    panel.root.get_by_role("button", name="Show the answer").click()
    expect(status).to_contain_text("secret")
    assert panel.has_focus()


SHOWN = r"""(root) => {
  const texts = [root.innerText];
  const isForm = /^(d|points|style|transform|viewBox|r|width|height|id|class|[xy][12]?|c[xy])$/;
  for (const one of root.querySelectorAll('*')) {
    for (const { name, value } of one.attributes)
      if (!isForm.test(name) && !/^(aria-(labelledby|controls|describedby))$/.test(name)) texts.push(value);
    if (['title', 'desc', 'text'].includes(one.tagName)) texts.push(one.textContent);
    if ('value' in one) texts.push(String(one.value));
  }
  return texts.join('\n');
}"""
"""All that a person sees or hears of a page: texts, attributes, and what is in boxes."""


def with_three_questions() -> rw.RooflineWidget:
    """Return a widget that asks for a ridge point, an intensity and a limit."""
    # The ridge point is at 138.7 FLOP/B. The kernel has 173.4 FLOP/B and a rate of at most 431.3 TFLOP/s.
    chip = rw.Chip("My chip", {"bf16": "431.3 TFLOP/s"}, {"HBM": "3.11 TB/s"})
    widget = rw.roofline([chip], [rw.Kernel("gemm", 1.734e14, 1e12), rw.Kernel("copy", 1e9, 1e9)])
    ridge = rw.Question(
        key="ridge",
        prompt="431.3 TFLOP/s and 3.11 TB/s. Where is the ridge point?",
        answer=431.3e12 / 3.11e12,
        unit="FLOP/B",
        wrong_answers={3.11e12 / 431.3e12: "You divided bandwidth by peak."},
        method="Peak divided by bandwidth, in the same prefix.",
    )
    place = rw.Question(key="place", prompt="1.734 PFLOP for 10 TB.", answer=173.4, unit="FLOP/B")
    rw.Story(widget, [rw.Step("Ridge.", {"selected": [0]}, ridge), place, rw.Step("What?", {"selected": [0]}, BOUND)])
    return widget


def test_an_open_question_hides_its_answer_everywhere_until_it_is_shown(
    exported: Callable[..., Exported],
) -> None:
    opened = exported(with_three_questions().to_html())
    page, panel, drawn = opened.page, Panel(opened.page), opened.drawn
    kept = page.locator(".roofwidget")

    def shown() -> str:
        return str(kept.evaluate(SHOWN))

    def look_everywhere() -> str:
        found = []
        for tab in ("kernels", "chip"):
            drawn.open_tab(tab)
            found.append(shown())
        drawn.chart.focus()
        for key in ("ArrowRight", "ArrowRight", "Enter", "Escape"):
            page.keyboard.press(key)
            found.append(shown())
        return "\n".join(found)

    before = look_everywhere()
    assert not re.search(r"138\.?7|173\.?4", before.replace("1.734 PFLOP", "")), before
    assert "Hidden while the story asks for it." in before
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tooltip")).to_have_text(re.compile("^(gemm|copy)$"))
    expect(drawn.locator("[data-rw=status]")).to_have_text("")
    box = panel.root.get_by_role("textbox", name="Your answer")
    said = []
    for typed in ("3 TB/s", "0.00721", "200", "2,000", "300"):
        panel.press(box, "Control+A", backward=True)
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        said.append(panel.said.inner_text())
    assert said == [
        "“3 TB/s” is a bandwidth (B/s); the question asks for an intensity (FLOP/B)",
        "Not yet. You divided bandwidth by peak.",
        "Not yet: too large, within a factor of 2.",
        "Not yet. Peak divided by bandwidth, in the same prefix.",
        "Not yet. Peak divided by bandwidth, in the same prefix.",
    ]
    assert "4 answers" in panel.root.inner_text()
    assert not re.search(r"138\.?7", shown())
    panel.press(panel.root.get_by_role("button", name="Show the answer"), "Enter")
    expect(panel.root).to_contain_text("The answer is 138.7 FLOP/B.")
    drawn.open_tab("chip")
    assert shown().count("138.7") >= 3, "in the panel, at the ridge point and in the tab of the chip"
    drawn.chart.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tooltip")).to_contain_text("FLOP/s")
    expect(drawn.locator("[data-rw=status]")).to_contain_text(re.compile("gemm|copy"))

    panel.press(panel.next, "Enter", backward=True)
    expect(panel.root).to_contain_text("10 TB")
    assert "173.4" not in look_everywhere()
    page.reload()
    page.evaluate("() => { location.hash = '#step=1'; }")
    expect(panel.root).to_contain_text("The answer is 138.7 FLOP/B.")


def test_each_option_has_its_reason_after_the_answer_also_when_the_page_is_opened_again(
    exported: Callable[..., Exported],
) -> None:
    opened = exported(with_three_questions().to_html(), fragment="#step=3")
    page, panel = opened.page, Panel(opened.page)
    panel.press(panel.root.get_by_role("radio").first, "Space")
    panel.press(panel.check, "Enter")
    expect(panel.root.locator("s")).to_have_text("The peak")
    panel.press(panel.root.get_by_role("radio").first, "ArrowDown", backward=True)
    panel.press(panel.check, "Enter")
    expect(panel.said).to_have_text("Right.")
    assert panel.root.locator(".rw-reasons li").all_inner_texts() == [
        "The peak (your answer): Its intensity is left of the ridge point.",
        "HBM (right, your answer)",
        "Nothing: Each kernel has a limit.",
    ]
    page.reload()
    expect(panel.root).to_contain_text("HBM (right, your answer)")


def test_hostile_texts_of_a_story_stay_text(exported: Callable[..., Exported], tmp_path: Path) -> None:
    widget = rw.roofline(["v5p"], [("one", 1e12, 1e10)])
    options = {HOSTILE: "", "other": HOSTILE}
    asked = rw.Question(key="q", prompt=HOSTILE, answer=HOSTILE, options=options, explanation=HOSTILE, source=HOSTILE)
    rw.Story(widget, [rw.Step(f"# {HOSTILE}\n\n- {HOSTILE}\n\n`{HOSTILE}`", {}, asked)])
    opened = exported(widget.to_html())
    panel = Panel(opened.page)
    panel.root.get_by_role("radio", name="other").check()
    panel.check.click()
    expect(panel.said).to_have_text(f"Not yet. {HOSTILE}")
    panel.root.get_by_role("radio").first.check()
    panel.check.click()
    expect(panel.said).to_have_text("Right.")
    text = panel.root.inner_text()
    # Caption three times, prompt, option with its reason, explanation, source.
    assert text.count(HOSTILE) == 8, text
    assert panel.root.locator("img, script").count() == 0
    assert graded(panel.saved(), tmp_path)["q"].correct


def test_the_picture_of_a_slide_has_texts_that_can_be_read_on_a_projector(
    exported: Callable[..., Exported], tmp_path: Path
) -> None:
    widget = told(caption=LONG)
    index = rw.Story(widget, [rw.Step(LONG, {}, BOUND)]).slides(tmp_path / "slides")
    page = exported(text_of(index), viewport={"width": 1920, "height": 1080}).page
    pictures = page.locator("img")
    expect(pictures).to_have_count(2)
    for picture in pictures.all():
        # The texts of a picture have 12 px.
        assert 12 * picture.evaluate("(one) => one.clientHeight / one.naturalHeight") >= 16


def test_a_projector_shows_text_chart_and_sliders_of_each_step_at_once(exported: Callable[..., Exported]) -> None:
    projector = {"viewport": {"width": 1024, "height": 768}}
    assert 50 <= len(LONG.split()) <= 60
    opened = exported(told(caption=LONG, presentation=True).to_html(), **projector)
    page, panel, drawn = opened.page, Panel(opened.page), opened.drawn
    shown = [panel.root, drawn.chart, drawn.slider("peak"), drawn.slider("bandwidth")]

    def fits() -> None:
        drawn.eventually(lambda: page.evaluate(ON_ONE_SCREEN, [one.element_handle() for one in shown]) <= 768)
        box = box_of(drawn.chart)
        assert box["height"] >= 350

    for step in range(1, 8):
        page.evaluate("(step) => { location.hash = `#step=${step}`; }", step)
        panel.at(step)
        fits()
        if panel.check.count() > 0:
            answer_wrong(panel)
            fits()
            panel.root.get_by_role("button", name="Show the answer").click()
            expect(panel.root).to_contain_text("The answer is")
            fits()
    expect(drawn.toggle("My chip")).to_be_attached()


def test_a_title_names_the_story_and_leaves_a_projector_to_the_questions(exported: Callable[..., Exported]) -> None:
    html = told(presentation=True, title="A roofline", caption="Where is it?").to_html(title="A course")
    opened = exported(html, viewport={"width": 1024, "height": 768})
    page, panel, drawn = opened.page, Panel(opened.page), opened.drawn
    drawn.tool("screen").click()
    title = drawn.get_by_role("heading", name="A roofline")
    expect(title).to_be_visible()
    panel.next.click()
    panel.next.click()
    panel.next.click()
    expect(panel.root).to_have_attribute("aria-label", "Story: A roofline · Step 4 of 7")
    expect(title).to_have_count(0)
    answer_wrong(panel)
    slider = drawn.slider("bandwidth")
    drawn.eventually(lambda: slider.evaluate("(one) => one.getBoundingClientRect().bottom") <= 768)
    assert page.evaluate("document.fullscreenElement !== null")


def test_the_number_at_the_marker_stays_on_the_chart(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html(), fragment="#step=4", viewport={"width": 480, "height": 900})
    panel, drawn = Panel(opened.page), opened.drawn
    for key in ("PageUp", "PageDown"):
        for _ in range(60):
            panel.marker.press(key)
        number, chart = box_of(panel.marker.locator(".rw-place")), box_of(drawn.chart)
        assert chart["x"] <= number["x"]
        assert number["x"] + number["width"] <= chart["x"] + chart["width"]


def test_the_true_place_is_that_of_the_kernels_point(exported: Callable[..., Exported]) -> None:
    kernels = [rw.Kernel("slow", 4e12, 1e11, time=4.0)]
    widget = rw.roofline([rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], kernels)
    rw.Story(widget, [rw.Question(key="q", prompt="Where?", answer=40, on="intensity", kernel="slow")])
    opened = exported(widget.to_html())
    panel, drawn = Panel(opened.page), opened.drawn
    panel.marker.focus()
    panel.move_marker(40)
    panel.check.click()
    ring = drawn.locator(".rw-truth")
    x, y = drawn.place(40, 1e12)

    def is_there() -> bool:
        box = ring.bounding_box()
        return box is not None and abs(box["x"] + 14 - x) < 3 and abs(box["y"] + 14 - y) < 3

    drawn.eventually(is_there)


def test_the_picker_lists_chips_in_rows_beside_a_story(exported: Callable[..., Exported]) -> None:
    drawn = exported(told().to_html()).drawn
    drawn.button("Add a chip").click()
    drawn.get_by_role("combobox", name="Search chips").fill("h100")
    option = drawn.get_by_role("option").first
    expect(option).to_be_visible()
    tops = option.locator("> span").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
    assert max(tops) - min(tops) < 8


STORY = """import roofwidget as rw
chip = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([chip], [("one", 1e12, 1e11), ("two", 1e12, 1e9)])
ridge = rw.Question(key="ridge", prompt="Where is the ridge point?", answer=100, unit="FLOP/B")
place = rw.Question(key="place", prompt="Where is one?", answer=10, on="intensity", kernel="one")
bound = rw.Question(key="bound", prompt="What limits one?", answer="HBM", options={"The peak": "No.", "HBM": ""})
roof = rw.Question(key="roof", prompt="Drag the bandwidth to 3 TB/s.", answer=3e12, on="bandwidth", source="a book")
rw.Story(w, ["The start.", rw.Step("Twice.", {"bandwidth": "2 TB/s"}), ridge, place, bound, roof, "- The end."])"""
GRAPH = """import roofwidget as rw
g = rw.chain([("LayerNorm", 10), ("GELU", 8), ("Add", 1)], elements=1_000_000)
merge = rw.Question(key="merge", prompt="Merge.", answer=[["LayerNorm", "GELU", "Add"]], graph=g)
w = rw.ask(merge, chips=["v5p"], graph=g)
w"""


def test_python_hears_steps_and_answers_and_shows_steps(notebook: OpenNotebook, tmp_path: Path) -> None:
    book = notebook([STORY])
    book.run(0)
    drawn, panel = Drawn(book), Panel(book.page)
    panel.at(1)
    panel.next.click()
    panel.at(2)
    drawn.becomes("[w.step, w.bandwidth]", [1, 2e12])
    book.python("setattr(w, 'step', 2)")
    panel.at(3)
    box = panel.root.get_by_role("textbox", name="Your answer")
    enter(box, "50")
    drawn.becomes("w.answer('ridge')", 50)
    box.fill("0.1 kFLOP/B")
    panel.check.click()
    drawn.becomes("[list(w.answers['ridge']), rw.grade(w).points]", [[50, 100], 2 / 3])
    panel.next.click()
    panel.marker.focus()
    panel.move_marker(10)
    panel.check.click()
    drawn.becomes("[w.step, rw.grade(w, counts='last').points]", [3, 2])
    assert graded(panel.saved(), tmp_path)["place"].correct
    # A second view, and one after the page is loaded again, show what Python has.
    book.python("setattr(w, 'answers', {})")
    expect(panel.check).to_be_visible()


def test_keys_of_the_notebook_are_left_alone_outside_the_panel(notebook: OpenNotebook) -> None:
    book = notebook([STORY, "1"])
    book.run(0)
    panel = Panel(book.page)
    panel.next.click()
    panel.at(2)
    book.page.evaluate("""() => {
      const { content } = window.jupyterapp.shell.currentWidget;
      content.activeCellIndex = 0;
      content.mode = 'command';
      content.node.focus();
    }""")
    for key in ("ArrowRight", "ArrowLeft", "PageUp", "ArrowDown"):
        book.page.keyboard.press(key)
    book.page.wait_for_function("window.jupyterapp.shell.currentWidget.content.activeCellIndex === 1")
    panel.at(2)
    assert book.python("w.step") == 1
    # In the panel JupyterLab's shortcuts rest: "a" would insert a cell.
    panel.next.focus()
    book.page.keyboard.press("a")
    book.page.keyboard.press("Space")
    panel.at(3)
    assert book.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets.length") == 2


def test_keys_scroll_a_page_outside_the_panel(exported: Callable[..., Exported]) -> None:
    opened = exported(told().to_html(), fragment="#step=2", viewport={"width": 1280, "height": 300})
    page, panel = opened.page, Panel(opened.page)
    panel.at(2)
    page.evaluate("() => { window.keys = []; onkeydown = (event) => { keys.push(event.defaultPrevented); }; }")
    # Now and then Chromium does not scroll by a key that comes while the page still glides.
    keys = ("ArrowDown", "PageDown", "Space")
    for key in keys:
        page.keyboard.press(key)
    assert page.evaluate("keys") == [False] * len(keys)

    def scrolls() -> bool:
        page.keyboard.press("PageDown")
        return bool(page.evaluate("scrollY > 0"))

    opened.drawn.eventually(scrolls)
    panel.at(2)


# In JupyterLab axe takes texts for invisible. On a page it cannot tell whether signs are part of a name.
VIOLATIONS = """async (root) => {
  const { violations, passes } = await axe.run(root, { resultTypes: ['violations'], preload: false });
  return [violations.map(({ id }) => id), passes.map(({ id }) => id)];
}"""


def checked(root: Locator) -> None:
    """Hold all that is shown now to the rules of axe, with the contrast of texts, and to those for hands and keys."""
    violations, passes = root.evaluate(VIOLATIONS)
    assert violations == []
    assert "color-contrast" in passes
    assert root.evaluate(UNGUARDED) == []
    assert root.evaluate(SMALL) == []


def wrong_then_shown(panel: Panel) -> None:
    """Give a wrong answer and ask for the right one. Axe finds nothing in between."""
    answer_wrong(panel)
    checked(panel.root)
    panel.root.get_by_role("button", name="Show the answer").click()
    expect(panel.root).to_contain_text("The answer is")
    checked(panel.root)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_step(exported: Callable[..., Exported], theme: str) -> None:
    opened = exported(told().to_html(), bypass_csp=True, color_scheme=theme)
    opened.page.evaluate(text_of(AXE))
    panel = Panel(opened.page)
    for step in range(1, 8):
        panel.at(step)
        checked(opened.drawn.root)
        if panel.check.count() > 0:
            wrong_then_shown(panel)
        if step < 7:
            panel.next.click()
