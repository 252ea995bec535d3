"""Operations, their sizes and their fusion, in a real JupyterLab: by pointer, by keyboard, and from Python."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser import lab
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.browser.lab import Notebook

TAIL = """import roofwidget as rw
g = rw.Graph("tail")
x = g.input("x", (rw.dim("batch", 1, 1024, default=32) * 2048, 4096), "bf16")
g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
w = rw.roofline(rw.preset("tpu-roofline-guide").chips[1:2], graph=g)
w"""
# Twelve ops of which some feed several, as no example has them.
FAN_OUT = """import random
import roofwidget as rw
rng = random.Random(7)
g = rw.Graph("fan out")
made = [g.input("x", (rw.dim("n", 1, 4096, default=1024), 256), "fp32")]
for number in range(12):
    name = "op" + "".join(rng.choices("abcdefgh", k=4)) + str(number)
    inputs = rng.sample(made[-4:], k=min(len(made[-4:]), 2))
    made.append(g.add(*inputs, name=name) if len(inputs) == 2 else g.relu(inputs[0], name=name))
for tensor in made[1:]:
    if not g.consumers(tensor):
        g.output(tensor)
w = rw.roofline(["h100-sxm"], graph=g)
w"""
GROUPS = "[list(group) for group in w.partition.groups]"
UNFUSED = [["layernorm"], ["gelu"], ["dropout"], ["add"]]


def shown(notebook: OpenNotebook, cell: str) -> tuple[Notebook, Drawn]:
    book = notebook([cell], height=1400)
    book.run(0)
    return book, Drawn(book)


def op(drawn: Drawn, name: str) -> Locator:
    return drawn.root.locator(f".roofwidget-op[data-op='{name}']")


def click_edge(drawn: Drawn, start: str, end: str) -> None:
    edge = drawn.root.locator(f".roofwidget-hit[data-from='{start}'][data-to='{end}']")
    edge.scroll_into_view_if_needed()
    edge.dispatch_event("click")


def said(drawn: Drawn) -> str:
    return drawn.root.locator(".roofwidget-fusion [role=status]").inner_text()


def test_a_click_on_an_edge_merges_and_on_a_seam_splits(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    assert book.python(GROUPS) == UNFUSED
    click_edge(drawn, "layernorm", "gelu")
    drawn.eventually(lambda: book.python(GROUPS) == [["layernorm", "gelu"], ["dropout"], ["add"]])
    assert book.python("len(w.bound())") == 3
    assert "4 → 3" in drawn.root.locator(".roofwidget-figures").inner_text()
    click_edge(drawn, "layernorm", "gelu")
    drawn.eventually(lambda: book.python(GROUPS) == UNFUSED)


def test_an_op_is_dragged_onto_another_to_merge(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    source, target = op(drawn, "dropout"), op(drawn, "gelu")
    source.scroll_into_view_if_needed()
    start, end = source.bounding_box(), target.bounding_box()
    assert start is not None
    assert end is not None
    drawn.page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    drawn.page.mouse.down()
    drawn.page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=8)
    drawn.page.mouse.up()
    drawn.eventually(lambda: book.python(GROUPS) == [["layernorm"], ["gelu", "dropout"], ["add"]])


def test_ops_are_merged_split_and_brought_back_by_keyboard(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    flow = drawn.root.locator(".roofwidget-flow")
    flow.focus()
    flow.press("ArrowDown")
    flow.press("Enter")
    drawn.eventually(lambda: len(book.python(GROUPS)) == 3)
    merged = book.python(GROUPS)
    flow.press("Control+z")
    drawn.eventually(lambda: book.python(GROUPS) == UNFUSED)
    flow.press("Control+Shift+z")
    drawn.eventually(lambda: book.python(GROUPS) == merged)
    flow.press("s")
    drawn.eventually(lambda: book.python(GROUPS) == UNFUSED)


def test_a_merge_that_may_not_be_says_why_and_changes_nothing(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    flow = drawn.root.locator(".roofwidget-flow")
    flow.focus()
    flow.press("ArrowDown")
    flow.press("m")
    for _ in range(3):
        flow.press("ArrowDown")
    flow.press("Enter")
    drawn.eventually(lambda: "must run after" in said(drawn))
    assert "layernorm" in said(drawn)
    assert book.python(GROUPS) == UNFUSED


def test_the_best_partition_is_found_and_undone(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    drawn.root.get_by_role("button", name=re.compile("^best")).click()
    drawn.eventually(lambda: book.python(GROUPS) == [["layernorm", "gelu", "dropout", "add"]])
    figures = drawn.root.locator(".roofwidget-figures").inner_text()
    assert "4.5×" in figures
    assert drawn.root.locator("text[data-label='kernel 0']").count() <= 1
    drawn.root.get_by_role("button", name="Undo").click()
    drawn.eventually(lambda: book.python(GROUPS) == UNFUSED)


def test_a_partition_set_in_python_is_shown(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    book.python("setattr(w, 'partition', [[0, 1], [2, 3]])")
    drawn.eventually(lambda: "4 → 2" in drawn.root.locator(".roofwidget-figures").inner_text())
    assert drawn.root.locator(".roofwidget-seam").count() >= 2


def test_a_size_moves_the_points_without_the_kernel(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    book.python("setattr(w, 'selected', [0])")
    drawn.eventually(lambda: drawn.sentence().startswith("layernorm"))
    book.page.evaluate(lab.SHUTDOWN)
    box = drawn.root.get_by_role("textbox", name=re.compile("^batch"))
    box.fill("64")
    box.press("Enter")
    bytes_row = drawn.root.locator(".roofwidget-figures .roofwidget-row", has_text="Bytes").first
    drawn.eventually(lambda: "9.66" in bytes_row.inner_text())
    click_edge(drawn, "layernorm", "gelu")
    drawn.eventually(lambda: "4 → 3" in drawn.root.locator(".roofwidget-figures").inner_text())
    # What the widget manager says of every change that no kernel takes.
    book.console_errors[:] = [error for error in book.console_errors if "Could not send" not in error]


def test_any_graph_behaves_as_the_examples_do(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, FAN_OUT)
    expect(drawn.root.locator(".roofwidget-op")).to_have_count(12)
    edges = drawn.root.locator(".roofwidget-hit").evaluate_all(
        "(all) => all.map((one) => [one.dataset.from, one.dataset.to])"
    )
    before = len(book.python(GROUPS))
    legal = book.python(f"[w.partition.why_not(*edge) is None for edge in {edges!r}]")
    start, end = edges[legal.index(True)]
    click_edge(drawn, start, end)
    drawn.eventually(lambda: len(book.python(GROUPS)) == before - 1)
    drawn.root.get_by_role("button", name=re.compile("^best")).click()
    best = book.python("float(rw.Partition.best(g, 'h100-sxm').kernels().bytes.sum())")
    drawn.eventually(lambda: book.python("float(w.shown_kernels.bytes.sum())") == best)
