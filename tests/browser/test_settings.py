"""Sizes, dtypes and the history of a graph, in a real JupyterLab: dragged, refused, undone, and seen in two views."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import lab
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, Grip, enter
from tests.browser.test_fusion import GROUPS, TAIL, UNFUSED, click_edge, shown

# n rows of 4096 numbers of two bytes times 4096 x 4096 weights: n decides the intensity.
PRODUCT = """import roofwidget as rw
g = rw.Graph("product")
g.output(g.linear(g.input("x", (rw.dim("n", 1, 256, default=8), 4096), "bf16"), 4096, name="product"))
w = rw.roofline([rw.Chip("Plain", {"bf16": 1e15}, {"HBM": 1e12})], graph=g)
w.selected = [0]
w"""
TWO_PEAKS = f"""{TAIL.rpartition("w = ")[0]}
w = rw.roofline([rw.Chip("Both", {{"bf16": 1e15, "fp8": 2e15}}, {{"HBM": 1e12}})], graph=g)
w"""
# No size below 4 leaves an element.
SHRUNK = """import roofwidget as rw
g = rw.Graph("shrunk")
g.output(g.relu(g.input("x", (rw.dim("n", 1, 16, default=8) - 3, 4096), "bf16")))
w = rw.roofline(["h100-sxm"], graph=g)
w"""
# What the kernel says of the widget from here on by itself, not as an answer.
LISTEN = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  window.told = [];
  kernel.anyMessage.connect((_, { direction, msg }) => {
    if (direction !== 'recv' || msg.header.msg_type !== 'comm_msg') return;
    const { data } = msg.content;
    if (!(data.state?._sync?.[2] > 0)) window.told.push(JSON.stringify(data));
  });
}"""


def drag_size(drawn: Drawn, name: str, by: float, *, during: Callable[[], object] = lambda: None) -> None:
    """Drag the slider of a size by a share of its track, with the mouse; `during` is called at every step."""
    grip = Grip(drawn.locator(f"[data-dim='{name}'] input[type=range]"))
    grip.by(by, steps=12, during=during)
    grip.release()


def size(drawn: Drawn, name: str) -> int:
    return int(drawn.get_by_role("textbox", name=re.compile(f"^{name}")).input_value())


@pytest.mark.parametrize("alive", [True, False], ids=["with a kernel", "without a kernel"])
def test_a_size_that_is_dragged_moves_its_point_with_no_word_from_the_kernel(
    notebook: OpenNotebook, *, alive: bool
) -> None:
    book, drawn = shown(notebook, PRODUCT)
    drawn.eventually(lambda: drawn.sentence().startswith("product"))
    if alive:
        book.page.evaluate(LISTEN)
    else:
        book.page.evaluate(lab.SHUTDOWN)
    sentences = [drawn.sentence()]
    drawn.open_tab("workload")

    def follow() -> None:
        drawn.eventually(lambda: drawn.sentence() != sentences[-1])
        sentences.append(drawn.sentence())

    drag_size(drawn, "n", 0.5, during=follow)
    n = size(drawn, "n")
    assert n > 64
    # 2 n 4096² FLOPs over 2 (4096² + 2 n 4096) B, below the ridge point of 1000.
    ai = n * 4096 / (4096 + 2 * n)
    drawn.chart.scroll_into_view_if_needed()
    drawn.mouse.move(*drawn.place(ai, ai * 1e12))
    assert drawn.tooltip().startswith("product")
    if alive:
        drawn.becomes("dict(w.dims)", {"n": n})
        assert book.page.evaluate("() => window.told") == []
    if not alive:
        book.forgive_a_lost_kernel()


def test_a_size_that_the_graph_cannot_have_is_not_taken_and_the_reason_said(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SHRUNK)
    drawn.open_tab("workload")
    box = drawn.get_by_role("textbox", name=re.compile("^n"))
    enter(box, "2")
    fault = drawn.locator("[data-dim='n'] [role=alert]")
    expect(fault).to_have_text("input: axis 0 of 'x' = n - 3 = -1, which is not at least 1; n = 4 would do")
    assert book.python("dict(w.dims)") == {}
    box.press("Escape")
    drag_size(drawn, "n", -0.45)
    assert size(drawn, "n") == 4
    expect(drawn.locator("[data-dim='n'] [role=status]")).to_contain_text("n = 4 would do")
    drawn.becomes("dict(w.dims)", {"n": 4})
    slider = drawn.locator("[data-dim='n'] input[type=range]")
    slider.press("ArrowLeft")
    assert size(drawn, "n") == 4
    for _ in range(3):
        slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "7")
    # The number beside the slider follows at the pace of a drag.
    drawn.eventually(lambda: size(drawn, "n") == 7)


def test_a_drag_is_undone_as_one_and_a_merge_stays(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    click_edge(drawn, "layernorm", "gelu")
    drawn.open_tab("workload")
    drag_size(drawn, "batch", 0.3)
    dragged = size(drawn, "batch")
    assert dragged > 64
    drawn.button("Undo", exact=True).click()
    assert size(drawn, "batch") == 32
    drawn.eventually(lambda: book.python("dict(w.dims)") == {} and len(book.python(GROUPS)) == 3)
    drawn.button("Redo", exact=True).click()
    assert size(drawn, "batch") == dragged
    drawn.becomes("dict(w.dims)", {"batch": dragged})


# Each frame comes later than the movement of merged points takes. The global name keeps the page from being handed on.
LATE_FRAMES = """() => {
  window.framesAreLate = true;
  const original = window.requestAnimationFrame;
  window.requestAnimationFrame = (call) => setTimeout(() => original.call(window, call), 400);
}"""


def test_a_merge_has_its_trail_also_where_the_first_frame_is_late(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TWO_PEAKS)
    book.page.evaluate(LATE_FRAMES)
    click_edge(drawn, "gelu", "dropout")
    expect(drawn.locator("text[data-label^='trail']")).to_have_text("this merge: 2× faster")


def test_another_dtype_leaves_the_merge_its_trail_and_what_is_selected(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TWO_PEAKS)
    click_edge(drawn, "gelu", "dropout")
    trail = drawn.locator("text[data-label^='trail']")
    expect(trail).to_have_text("this merge: 2× faster")
    drawn.becomes(GROUPS, [["layernorm"], ["gelu", "dropout"], ["add"]])
    book.python("setattr(w, 'selected', [1])")
    drawn.eventually(lambda: drawn.sentence().startswith("gelu + dropout"))
    book.page.evaluate(LISTEN)
    drawn.open_tab("workload")
    drawn.root.get_by_label("dtype").select_option("fp8")
    drawn.becomes("w.dtype", "fp8")
    assert book.python("[w.selected, w.partition.graph.dtype]") == [[1], "fp8"]
    assert book.page.evaluate("() => window.told") == []
    expect(trail).to_have_text("this merge: 2× faster")
    assert drawn.sentence().startswith("gelu + dropout")


def test_without_a_peak_for_a_dtype_nothing_is_the_best(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, TAIL)

    def choose(dtype: str) -> None:
        drawn.open_tab("workload")
        select = drawn.root.get_by_label("dtype")
        assert "fp8 (v7x (bf16) has no peak)" in select.inner_text()
        assert "as built (bf16)" in select.inner_text()
        select.select_option(dtype)
        drawn.open_tab("fusion")
        drawn.locator(".rw-figures").click()

    choose("fp8")
    best = drawn.locator(".rw-best")
    expect(best).to_have_attribute("aria-disabled", "true")
    expect(best).to_have_attribute("title", "v7x (bf16) has no peak for fp8")
    figures = drawn.locator(".rw-totals dl")
    # Nine passes over 65536 x 4096 numbers of one byte. Times are unknown.
    expect(figures.locator(".rw-row", has_text="Unfused")).to_have_text("Unfused2.42 GB")
    expect(figures.locator(".rw-row", has_text="Best")).to_have_count(0)
    expect(drawn.locator(".rw-told")).to_have_text("v7x (bf16) has no peak for fp8")
    drawn.button("Other ways").click()
    item = drawn.get_by_role("menuitem", name="XLA-like")
    expect(item).to_have_attribute("aria-disabled", "true")
    expect(item).to_have_attribute("title", "v7x (bf16) has no peak for fp8")
    drawn.press("Escape")
    choose("")
    expect(figures.locator(".rw-row", has_text="Best")).to_have_text(re.compile("now 4.5×$"))


def test_two_views_show_one_partition(notebook: OpenNotebook) -> None:
    book = notebook([TAIL, "w"], height=2600)
    book.run(0)
    book.run(1)
    first, second = Drawn(book), Drawn(book, view=1)
    click_edge(second, "layernorm", "gelu")
    for view in (first, second):
        expect(view.locator(".rw-figures")).to_contain_text("4 → 3")
    first.tool("undo").click()
    second.eventually(lambda: "4 → 3" not in second.locator(".rw-figures").inner_text())
    first.becomes(GROUPS, UNFUSED)


def cursor_of(page: Page, selector: str) -> str:
    style: str = page.locator(selector).first.evaluate("(one) => getComputedStyle(one).cursor")
    return style


def test_the_rows_of_the_list_of_operations_are_clicked_and_the_boxes_of_the_graph_grabbed(
    notebook: OpenNotebook,
) -> None:
    _, drawn = shown(notebook, TAIL)
    assert cursor_of(drawn.page, ".rw-flow [data-op]") == "grab"
    drawn.open_tab("workload")
    assert cursor_of(drawn.page, ".rw-ops [role=option]") == "pointer"
