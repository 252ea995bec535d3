"""Operations, their sizes and their fusion, in a real JupyterLab: by pointer, by keyboard, and from Python."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

import roofwidget as rw
from tests.browser import lab
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, Finger, box_of, centre, enter
from tests.browser.drawn import shown as first_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

    OpenPage = Callable[..., Exported]

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
# A kernel of the product and the softmax keeps 64 rows of 128 scores of 2 B: 16,384 B.
TWO_CHIPS = """import roofwidget as rw
g = rw.Graph("scores")
scores = g.matmul(g.input("q", (1024, 64), "bf16"), g.input("k", (64, 128), "bf16"), name="scores")
g.output(g.gelu(g.softmax(scores)))
def chip(name, smem):
    memories = {"HBM": 1e12, "SMEM": rw.Memory("SMEM", None, 4 * smem)}
    return rw.Chip(name, {"bf16": 1e15}, memories, units="4 SM")
w = rw.roofline([chip("Small", 16000), chip("Large", 40000)], graph=g)
w"""
# Weights of 16 million rows, divided by the sums of their 64 columns.
BALANCED = """import roofwidget as rw
g = rw.Graph("balanced")
weights = g.softmax(g.input("x", (2**24, 64), "bf16"))
g.output(g.divide(weights, g.reduce_sum(weights, axis=0)))
w = rw.roofline(["h100-sxm"], graph=g)
w"""
# Three ops in one phase, two in the other, over a size with a range and a default of its own in each.
PHASES = """import roofwidget as rw
n = rw.dim("n", 1, 4096, default=1024)
def chain(ops, size):
    g = rw.Graph(f"{ops} ops")
    made = g.input("x", (size, 1000), "bf16")
    for number in range(ops):
        made = g.relu(made, name=f"op{number}")
    g.output(made)
    return g
w = rw.roofline(["h100-sxm"], graphs={"prefill": chain(3, n), "decode": chain(2, rw.dim("n", 1, 64, default=1))})
w"""
# More ops than are in sight, then one op alone.
LONG = """import roofwidget as rw
def chain(ops):
    g = rw.Graph(f"{ops} ops")
    made = g.input("x", (1024, 1024), "bf16")
    for number in range(ops):
        made = g.relu(made, name=f"op{number}")
    g.output(made)
    return rw.roofline(["h100-sxm"], graph=g)
w = chain(14)
w"""
GROUPS = "[list(group) for group in w.partition.groups]"
UNFUSED = [["layernorm"], ["gelu"], ["dropout"], ["add"]]


shown = functools.partial(first_cell, height=1400)


def op(drawn: Drawn, name: str) -> Locator:
    return drawn.locator(f".rw-op[data-op='{name}']")


def click_edge(drawn: Drawn, start: str, end: str) -> None:
    edge = drawn.locator(f".rw-hit[data-from='{start}'][data-to='{end}']")
    edge.scroll_into_view_if_needed()
    edge.dispatch_event("click")


def said(drawn: Drawn) -> str:
    return drawn.locator(".rw-told").inner_text()


def way(drawn: Drawn, name: str) -> None:
    """Choose one of the other ways to merge."""
    drawn.button("Other ways").click()
    drawn.get_by_role("menuitem", name=name).click()


def best(drawn: Drawn) -> Locator:
    """Return the button that makes the best partition, or says that it is there."""
    return drawn.locator(".rw-best")


def figures(drawn: Drawn) -> str:
    return drawn.locator(".rw-figures").inner_text()


def more_figures(drawn: Drawn) -> Locator:
    """Open the figures behind the row of totals, and return them."""
    opened = drawn.locator(".rw-totals dl")
    if opened.count() == 0:
        drawn.locator(".rw-figures").click()
    return opened


def test_a_click_on_an_edge_merges_and_on_a_seam_splits(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    assert book.python(GROUPS) == UNFUSED
    click_edge(drawn, "layernorm", "gelu")
    drawn.becomes(GROUPS, [["layernorm", "gelu"], ["dropout"], ["add"]])
    assert book.python("len(w.bound())") == 3
    assert "4 → 3" in figures(drawn)
    click_edge(drawn, "layernorm", "gelu")
    drawn.becomes(GROUPS, UNFUSED)


def test_an_op_is_dragged_onto_another_to_merge(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, TAIL)
    source, target = op(drawn, "dropout"), op(drawn, "gelu")
    source.scroll_into_view_if_needed()
    drawn.pull(centre(source), centre(target))
    drawn.becomes(GROUPS, [["layernorm"], ["gelu", "dropout"], ["add"]])
    # By a finger, too.
    finger = Finger(drawn)
    finger.drag(centre(op(drawn, "layernorm")), centre(op(drawn, "gelu")))
    finger.lift()
    drawn.becomes(GROUPS, [["layernorm", "gelu", "dropout"], ["add"]])


def carry(drawn: Drawn, name: str, x: float, y: float, *, drop: bool = True) -> None:
    """Drag an op's box by the mouse to a point of the page."""
    drawn.pull(centre(op(drawn, name)), (x, y), drop=drop)


def test_an_op_that_is_dragged_out_of_its_kernel_leaves_it(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    click_edge(drawn, "layernorm", "gelu")
    drawn.eventually(lambda: len(book.python(GROUPS)) == 3)
    flow = drawn.locator(".rw-flow")
    flow.scroll_into_view_if_needed()
    place = box_of(flow)
    carry(drawn, "gelu", place["x"] + 12, place["y"] + place["height"] - 12)
    drawn.becomes(GROUPS, UNFUSED)


def test_what_is_scrolled_out_of_sight_takes_no_drop_and_one_op_alone_has_no_panel(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, LONG, "chain(1)")
    flow = drawn.locator(".rw-flow")
    op(drawn, "op0").scroll_into_view_if_needed()
    frame = box_of(flow)
    ops = [one for one in drawn.locator(".rw-op").all() if box_of(one)["y"] > frame["y"] + frame["height"]]
    assert ops, "an op that is drawn, and out of sight"
    carry(drawn, "op0", *centre(ops[0]))
    expect(drawn.locator(".rw-figures")).to_contain_text("14 kernels")
    assert len(book.python(GROUPS)) == 14

    book.run(1)
    alone = Drawn(book, 1)
    alone.open_tab("workload")
    expect(alone.get_by_role("heading", name="1 operation")).to_be_visible()
    expect(alone.locator("[data-rw='tab-fusion']")).to_have_count(0)


def test_escape_lets_go_of_an_op_that_is_dragged(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    target = op(drawn, "gelu")
    target.scroll_into_view_if_needed()
    x, y = centre(target)
    carry(drawn, "dropout", x, y, drop=False)
    # It may go where it would be taken: to its neighbours, as the ones that it shares a tensor with.
    partners = drawn.locator(".rw-partner")
    assert sorted(partners.evaluate_all("(all) => all.map((one) => one.dataset.op)")) == ["add", "gelu"]
    drawn.press("Escape")
    expect(partners).to_have_count(0)
    drawn.mouse.up()
    assert book.python(GROUPS) == UNFUSED
    carry(drawn, "dropout", x, y)
    drawn.becomes(GROUPS, [["layernorm"], ["gelu", "dropout"], ["add"]])


def test_a_refused_merge_shakes_both_ops(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    expect(drawn.locator(".rw-shake")).to_have_count(0)
    carry(drawn, "gelu", *centre(op(drawn, "add")))
    shaken = drawn.locator(".rw-op:has(.rw-shake)")
    expect(shaken).to_have_count(2)
    assert sorted(shaken.evaluate_all("(all) => all.map((one) => one.dataset.op)")) == ["add", "gelu"]
    assert shaken.first.locator(".rw-shake").evaluate("(one) => getComputedStyle(one).animationName") == (
        "roofwidget-shake"
    )
    assert said(drawn) == "gelu and add share no tensor"
    assert book.python(GROUPS) == UNFUSED


def test_reductions_over_different_axes_are_refused_with_their_axes(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, BALANCED)
    # The sums of columns cross blocks of rows, so they can only leave the kernel.
    click_edge(drawn, "softmax", "reduce_sum")
    drawn.becomes(GROUPS, [["softmax", "reduce_sum"], ["divide"]])
    click_edge(drawn, "reduce_sum", "divide")
    refusal = str(book.python("str(w.partition.why_not('reduce_sum', 'divide', chip='h100-sxm'))"))
    assert refusal.startswith(
        "softmax reduces axis 1 and reduce_sum reduces axis 0: one kernel of softmax + reduce_sum + divide"
    )
    drawn.eventually(lambda: said(drawn) == refusal)
    expect(best(drawn)).to_have_attribute("aria-disabled", "true")
    expect(best(drawn)).to_have_text(re.compile("^Best for H100: "))
    assert book.python(GROUPS) == [["softmax", "reduce_sum"], ["divide"]]


def test_pairs_are_undone_and_done_again_by_buttons(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, TAIL)
    pairs = [["layernorm", "gelu"], ["dropout", "add"]]
    way(drawn, "Pairs")
    drawn.becomes(GROUPS, pairs)
    drawn.tool("undo").click()
    drawn.becomes(GROUPS, UNFUSED)
    drawn.tool("redo").click()
    drawn.becomes(GROUPS, pairs)
    # By keys wherever the focus is in the panel.
    for redo in ("Control+y", "Control+Shift+z"):
        best(drawn).press("Control+z")
        drawn.becomes(GROUPS, UNFUSED)
        best(drawn).press(redo)
        drawn.becomes(GROUPS, pairs)
    expect(best(drawn)).to_be_focused()


def test_pairs_fit_on_the_focus_chip(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, TWO_CHIPS)
    way(drawn, "Pairs")
    drawn.becomes(GROUPS, [["scores"], ["softmax", "gelu"]])
    drawn.button("Large", exact=True).click()
    way(drawn, "Pairs")
    drawn.becomes(GROUPS, [["scores", "softmax"], ["gelu"]])


def test_the_speed_of_light_stands_beside_the_time_that_it_takes(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, TAIL)
    # Nine passes over 65536 x 4096 numbers of two bytes where two would do.
    light = more_figures(drawn).locator(".rw-row", has_text="Speed of light")
    expect(light).to_have_text(re.compile("1.07 GB · now 4.5×$"))
    best(drawn).click()
    expect(light).to_have_text(re.compile("1.07 GB · now 1×$"))


def test_a_kernel_is_cut_heard_and_pointed_at_by_keyboard(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    book.python("setattr(w, 'partition', [[0, 1, 2, 3]])")
    members = drawn.get_by_role("list", name="Kernels and their ops").get_by_role("listitem").locator("b")
    expect(members).to_have_text(["layernorm + gelu + dropout + add"])
    flow = drawn.locator(".rw-flow")
    flow.focus()
    for _ in range(3):
        flow.press("ArrowDown")
    assert said(drawn) == (
        "dropout · elementwise · 537 MB in, 537 MB out · from gelu · to add · in one kernel with layernorm + gelu + add"
        " · 0.25 FLOP/B · memory-bound"
    )
    expect(drawn.locator("[data-rw='status']")).to_contain_text("layernorm + gelu + dropout + add")
    flow.press("x")
    drawn.becomes(GROUPS, [["layernorm", "gelu"], ["dropout", "add"]])
    expect(members).to_have_text(["layernorm + gelu", "dropout + add"])
    flow.press("x")
    drawn.eventually(lambda: said(drawn) == "dropout is the first op of its kernel")
    flow.press("Control+z")
    drawn.eventually(lambda: len(book.python(GROUPS)) == 1)
    flow.press("Control+y")
    drawn.eventually(lambda: len(book.python(GROUPS)) == 2)


def test_ops_are_merged_split_and_brought_back_by_keyboard(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    flow = drawn.locator(".rw-flow")
    flow.focus()
    flow.press("ArrowDown")
    flow.press("Enter")
    drawn.eventually(lambda: len(book.python(GROUPS)) == 3)
    merged = book.python(GROUPS)
    flow.press("Control+z")
    drawn.becomes(GROUPS, UNFUSED)
    flow.press("Control+Shift+z")
    drawn.becomes(GROUPS, merged)
    flow.press("s")
    drawn.becomes(GROUPS, UNFUSED)


def test_a_merge_that_may_not_be_says_why_and_changes_nothing(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    flow = drawn.locator(".rw-flow")
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
    best(drawn).click()
    drawn.becomes(GROUPS, [["layernorm", "gelu", "dropout", "add"]])
    expect(best(drawn)).to_have_text(re.compile("^Best for "))
    # 18 FLOPs an element and 3 a row over the two passes that are left, and the layer norm's weights.
    ai, rate = book.python("[float(w.shown_kernels.arithmetic_intensity[0]), float(w.bound().attainable[0])]")
    assert ai == (65536 * 4096 * 18 + 65536 * 3) / (2 * 65536 * 4096 * 2 + 2 * 4096 * 2)
    drawn.chart.scroll_into_view_if_needed()
    drawn.mouse.move(*drawn.place(ai, rate))
    assert drawn.tooltip().startswith("layernorm + gelu + dropout + add")
    drawn.tool("undo").click()
    drawn.becomes(GROUPS, UNFUSED)


def test_a_partition_set_in_python_is_shown(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    book.python("setattr(w, 'partition', [[0, 1], [2, 3]])")
    drawn.eventually(lambda: "4 → 2" in figures(drawn))
    assert drawn.locator(".rw-seam").count() >= 2


def test_a_size_moves_the_points_without_the_kernel(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    book.python("setattr(w, 'selected', [0])")
    expect(drawn.locator("[data-rw='status']")).to_contain_text("layernorm")
    book.page.evaluate(lab.SHUTDOWN)
    drawn.open_tab("workload")
    box = drawn.get_by_role("textbox", name=re.compile("^batch"))
    enter(box, "64")
    drawn.open_tab("fusion")
    drawn.eventually(lambda: "9.66 GB" in figures(drawn))
    click_edge(drawn, "layernorm", "gelu")
    drawn.eventually(lambda: "4 → 3" in figures(drawn))
    # What the widget manager says of every change that no kernel takes.
    book.forgive_a_lost_kernel()


def test_any_graph_behaves_as_the_examples_do(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, FAN_OUT)
    expect(drawn.locator(".rw-op")).to_have_count(12)
    edges = drawn.locator(".rw-hit").evaluate_all("(all) => all.map((one) => [one.dataset.from, one.dataset.to])")
    before = len(book.python(GROUPS))
    legal = book.python(f"[w.partition.why_not(*edge) is None for edge in {edges!r}]")
    start, end = edges[legal.index(True)]
    click_edge(drawn, start, end)
    drawn.eventually(lambda: len(book.python(GROUPS)) == before - 1)
    best(drawn).click()
    fewest = book.python("float(rw.Partition.best(g, 'h100-sxm').kernels().bytes.sum())")
    drawn.becomes("float(w.shown_kernels.bytes.sum())", fewest)


def test_what_does_not_fit_on_the_focus_chip_is_not_merged(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TWO_CHIPS)
    click_edge(drawn, "scores", "softmax")
    need = "64 rows of scores need 16.4 kB at a time; a unit's share of the SMEM of Small holds 16 kB"
    drawn.eventually(lambda: said(drawn) == need)
    assert book.python(GROUPS) == [["scores"], ["softmax"], ["gelu"]]
    best(drawn).click()
    drawn.becomes(GROUPS, [["scores"], ["softmax", "gelu"]])
    drawn.button("Large", exact=True).click()
    click_edge(drawn, "scores", "softmax")
    drawn.becomes(GROUPS, [["scores", "softmax", "gelu"]])
    # A compiler makes no kernel of a product and a reduction, wherever it fits.
    way(drawn, "XLA-like")
    drawn.becomes(GROUPS, [["scores"], ["softmax", "gelu"]])


def test_a_kernel_that_does_not_fit_is_outlined_in_dashes_and_said_to_be_counted_as_if_it_did(
    notebook: OpenNotebook,
) -> None:
    book, drawn = shown(notebook, TWO_CHIPS)
    note = drawn.locator(".rw-told", has_text="the figures assume that they fit")
    book.python("setattr(w, 'partition', [[0, 1], [2]])")
    expect(note).to_have_text(re.compile("^64 rows of scores need 16.4 kB .* of Small holds 16 kB:"))
    expect(drawn.locator(".rw-crowded")).to_have_count(1)
    drawn.button("Large", exact=True).click()
    expect(note).to_have_count(0)
    expect(drawn.locator(".rw-crowded")).to_have_count(0)


def test_a_merged_point_comes_to_its_place_and_leaves_a_trail(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, TAIL)
    trail = drawn.locator("text[data-label^='trail']")
    expect(trail).to_have_count(0)
    click_edge(drawn, "gelu", "dropout")
    expect(trail).to_have_text("this merge: 2× faster")
    drawn.becomes(GROUPS, [["layernorm"], ["gelu", "dropout"], ["add"]])
    ai, rate = book.python("[float(w.shown_kernels.arithmetic_intensity[1]), float(w.bound().attainable[1])]")
    drawn.chart.scroll_into_view_if_needed()
    drawn.mouse.move(*drawn.place(ai, rate))
    assert drawn.tooltip().startswith("gelu + dropout")
    drawn.tool("undo").click()
    expect(trail).to_have_count(0)


def choose_phase(drawn: Drawn, name: str) -> None:
    """Choose a phase, and go back to the graph."""
    drawn.open_tab("workload")
    drawn.get_by_role("combobox", name="Phase").select_option(name)
    drawn.open_tab("fusion")


def test_another_phase_is_chosen_without_the_kernel_and_undone(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PHASES)
    book.page.evaluate(lab.SHUTDOWN)
    click_edge(drawn, "op0", "op1")
    drawn.eventually(lambda: "3 → 2" in figures(drawn))
    # Of 1024 x 1000 elements of 2 bytes six are moved, and four once two kernels are one: 12.3 MB and 8.19 MB.
    assert "8.19 MB" in figures(drawn)
    choose_phase(drawn, "decode")
    expect(drawn.locator(".rw-op[data-op]")).to_have_count(2)
    drawn.eventually(lambda: "8 kB" in figures(drawn))
    assert "with 2 kernels" in (drawn.chart.get_attribute("aria-label") or "")
    drawn.tool("undo").click()
    expect(drawn.locator(".rw-op[data-op]")).to_have_count(3)
    assert "8.19 MB" in figures(drawn)
    # The panel of another graph is another: what is pressed next is not the host's.
    flow = drawn.locator(".rw-flow")
    flow.focus()
    for step, ops in (("Control+y", 2), ("Control+z", 3)):
        drawn.press(step)
        expect(drawn.locator(".rw-op[data-op]")).to_have_count(ops)
        expect(drawn.locator(":focus")).to_have_count(1)
    book.forgive_a_lost_kernel()


def test_python_hears_of_a_phase_and_changes_it_too(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PHASES)
    click_edge(drawn, "op1", "op2")
    choose_phase(drawn, "decode")
    click_edge(drawn, "op0", "op1")
    drawn.eventually(lambda: book.python("w.phase") == "decode" and book.python(GROUPS) == [["op0", "op1"]])
    drawn.tool("undo").click()
    drawn.becomes(GROUPS, [["op0"], ["op1"]])
    drawn.tool("undo").click()
    drawn.eventually(lambda: book.python("w.phase") == "prefill" and book.python(GROUPS) == [["op0"], ["op1", "op2"]])
    expect(drawn.locator(".rw-op[data-op]")).to_have_count(3)
    book.python("setattr(w, 'phase', 'decode')")
    expect(drawn.locator(".rw-op[data-op]")).to_have_count(2)
    drawn.tool("undo").click()
    drawn.becomes(GROUPS, [["op0"], ["op1", "op2"]])


def page(exported: OpenPage, graph: rw.Graph, **options: object) -> Drawn:
    """Return the page of a graph on an H100."""
    return exported(rw.roofline(["h100-sxm"], graph=graph).to_html(), **options).drawn


def chain(ops: int, *, columns: int = 4096) -> rw.Graph:
    """Return ops in a chain, on 65536 rows of bf16. Each reads and writes 537 MB of 4096 columns."""
    graph = rw.Graph("chain")
    made = graph.input("x", (65536, columns), "bf16")
    for number in range(ops):
        made = graph.relu(made, name=f"op{number}")
    graph.output(made)
    return graph


def edge(drawn: Drawn, start: str, end: str) -> Locator:
    return drawn.locator(f"[data-rw='edge'][data-from='{start}'][data-to='{end}']")


def pill(drawn: Drawn) -> Locator:
    return drawn.locator("[data-rw='edge-note']")


def test_an_edge_under_the_pointer_says_what_a_click_does_and_the_chart_shows_it(exported: OpenPage) -> None:
    drawn = page(exported, chain(4))
    preview = drawn.locator("[data-rw='merge-preview']")
    edge(drawn, "op0", "op1").hover()
    # Eight passes over 2^28 numbers of two bytes at 3.35 TB/s, then six.
    expect(pill(drawn)).to_have_text("Merge: 1.28 ms → 962 µs")
    # Two FLOPs for each element that is read and written: 2 / 4 FLOP/B, times 3.35 TB/s.
    expect(preview).to_contain_text("op0 + op1")
    expect(preview).to_contain_text("0.5 FLOP/B, 1.68 TFLOP/s")
    expect(preview.locator("circle")).to_have_count(1)
    assert drawn.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    drawn.locator(".rw-figures").hover()
    expect(preview).to_have_count(0)
    expect(pill(drawn)).to_have_count(0)
    edge(drawn, "op0", "op1").click()
    expect(drawn.locator(".rw-figures")).to_contain_text("4 → 3 kernels")
    expect(pill(drawn)).to_have_text("Split: 962 µs → 1.28 ms")
    # Both parts would be at one place.
    expect(preview).to_contain_text("op0, op1")


def test_the_names_of_the_parts_give_way_to_the_preview(exported: OpenPage) -> None:
    graph = rw.Graph("two")
    x = graph.input("x", (65536, 4096), "bf16")
    graph.output(graph.relu(graph.layernorm(x, name="norm"), name="relu"))
    drawn = page(exported, graph)
    names = drawn.locator("text[data-label^='kernel']")
    expect(names).to_have_text(["norm", "relu"])
    edge(drawn, "norm", "relu").hover()
    expect(names).to_have_count(0)


def test_a_merge_that_cannot_be_says_why_at_its_edge(exported: OpenPage) -> None:
    graph = rw.Graph("residual")
    x = graph.input("x", (65536, 4096), "bf16")
    normed = graph.layernorm(x, name="norm")
    graph.output(graph.add(graph.dropout(graph.gelu(normed)), normed, name="add"))
    drawn = page(exported, graph)
    edge(drawn, "norm", "add").locator("rect").hover()
    expect(pill(drawn)).to_have_text("Cannot merge: gelu + dropout must run after norm and before add")
    expect(drawn.locator("[data-rw='merge-preview']")).to_have_count(0)
    edge(drawn, "norm", "add").locator("rect").click()
    expect(drawn.locator(".rw-figures")).to_contain_text("4 kernels")


def test_the_edges_below_an_op_are_reached_by_the_tab_key_and_merged_by_enter(exported: OpenPage) -> None:
    drawn = page(exported, chain(3))
    flow = drawn.locator(".rw-flow")
    flow.focus()
    drawn.press("ArrowDown")
    drawn.press("ArrowDown")
    drawn.press("Tab")
    expect(edge(drawn, "op1", "op2")).to_be_focused()
    expect(pill(drawn)).to_have_text("Merge: 962 µs → 641 µs")
    drawn.press("Enter")
    expect(pill(drawn)).to_have_text("Split: 641 µs → 962 µs")
    expect(edge(drawn, "op1", "op2")).to_be_focused()
    drawn.press("ArrowUp")
    expect(flow).to_be_focused()
    expect(pill(drawn)).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1024, 768)])
def test_a_graph_of_many_ops_scrolls_and_folds_its_kernels(exported: OpenPage, width: int, height: int) -> None:
    drawn = page(exported, chain(18), viewport={"width": width, "height": height})
    ops = drawn.locator("[data-rw='op']")
    assert ops.count() > 6
    expect(best(drawn)).to_have_text(re.compile("^Fuse all 18 for H100: "))
    best(drawn).click()
    expect(ops).to_have_count(1)
    expect(ops.locator("text")).to_have_text("op0 + … + op17 (18 ops)")
    expect(best(drawn)).to_have_text(re.compile("^Best for H100: "))
    expect(best(drawn)).to_have_attribute("aria-disabled", "true")
    ops.click()
    expect(ops.nth(5)).to_be_visible()
    drawn.locator(".rw-fold-sign").click()
    expect(ops).to_have_count(1)


def test_a_wide_graph_has_an_overview_map_that_scrolls_it(exported: OpenPage) -> None:
    graph = rw.Graph("wide")
    x = graph.input("x", (4096, 1024), "bf16")
    for number in range(6):
        graph.output(graph.relu(x, name=f"op{number}"))
    drawn = page(exported, graph)
    widths = drawn.locator("[data-rw='op'] rect").evaluate_all("(all) => all.map((one) => one.width.baseVal.value)")
    assert min(widths) >= 120
    flow = drawn.locator(".rw-flow")
    before = flow.evaluate("(one) => one.scrollLeft")
    overview = drawn.locator(".rw-map")
    place = box_of(overview)
    drawn.mouse.click(place["x"] + place["width"] - 4, place["y"] + place["height"] / 2)
    drawn.eventually(lambda: flow.evaluate("(one) => one.scrollLeft") > before)


def test_the_search_goes_on_while_another_tab_is_open(exported: OpenPage) -> None:
    drawn = page(exported, chain(4))
    drawn.open_tab("kernels")
    expect(drawn.locator("[data-rw='verdict']")).to_contain_text("Fused into one kernel")
    drawn.locator(".rw-box").first.fill("500 TFLOP/s")
    expect(drawn.locator("[data-rw='verdict']")).to_contain_text("Fused into one kernel")
