"""The bqplot figures and ipywidgets' links in a real JupyterLab: drawn, following, in both themes, without a kernel."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, enter, shown

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook
    from tests.browser.lab import Notebook, Theme

MODEL = """import roofwidget as rw
graph = rw.Graph("layer")
tokens, width = rw.dim("tokens", 1, 4096, default=64), rw.dim("width", 16, 4096, default=1024)
graph.output(graph.relu(graph.linear(graph.input("x", (tokens, width), "bf16"), width)))
model = rw.RooflineModel(rw.preset("tpu-roofline-guide").chips[2:], graph=graph)
f = rw.companions"""
TWIN = "rw.chip('h100-sxm').replace(id='twin', name='NVIDIA H100, a twin')"
FIGURES = {
    "ridge_history": "figure = f.ridge_history(['tpu-v4', 'v5e', 'v5p', 'v6e', *rw.chips('nvidia', 'hopper')])",
    "roofline_figure": "figure = f.roofline_figure(model)",
    "size_sweep": "figure = f.size_sweep(model)",
    "speed_map": "figure = f.speed_map(model, 'tokens', 'width')",
    "time_bars": "figure = f.time_bars(model, 'kernel')",
    "same roofs": f"figure = f.roofline_figure(rw.RooflineModel(['h100-sxm', {TWIN}, 'h200-sxm', 'v5p']))",
    "long names": """kernels = [(f"a fusion of several operations {i}", 1e12 * (i + 1), 1e10) for i in range(9)]
figure = f.time_bars(rw.RooflineModel(['h100-sxm', 'h200-sxm', 'v5p', 'v6e', 'mi300x', 'b200'], kernels), 'kernel')""",
}
WORDS = {
    "ridge_history": ["Ridge point by year", "TPU v6e (Trillium)", "NVIDIA Hopper"],
    "roofline_figure": ["v6e", "v5p", "Performance (FLOP/s)"],
    "size_sweep": ["v6e: ridge 573.8, compute-bound from N = 1722", "v5p: ridge 166.3, compute-bound from N = 499"],
    "speed_map": ["Fastest of 2 at 117 sizes", "tokens", "width"],
    "time_bars": ["Bound time by kernel", "linear", "relu"],
    "same roofs": ["NVIDIA H100, a twin (same line as NVIDIA H100 SXM5 80GB)"],
    "long names": ["3 others", "NVIDIA B200 (HGX/DGX, 180GB)"],
}
# What lies outside the figure or over another text of its kind, and what cannot be told from the ground behind it.
FAULTS = """(figure) => {
  const seen = (one) => one.textContent && one.getBoundingClientRect().width;
  const shown = [...figure.querySelectorAll('text')].filter(seen);
  const frame = figure.getBoundingClientRect();
  const boxes = shown.map((one) => [one.textContent, one.getBoundingClientRect(), one]);
  const faults = boxes
    .filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)
    .map(([text]) => `outside: ${text}`);
  boxes.forEach(([text, box], i) => boxes.slice(i + 1).forEach(([other, at]) => {
    const across = Math.min(box.right, at.right) - Math.max(box.left, at.left);
    const down = Math.min(box.bottom, at.bottom) - Math.max(box.top, at.top);
    if (across > 2 && down > 4) faults.push(`${text} lies over ${other}`);
  }));
  const light = (colour) => {
    const channel = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.match(/[0-9.]+/g).map(Number).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const probe = figure.appendChild(document.createElement('i'));
  probe.style.color = 'var(--jp-layout-color0)';
  const ground = light(getComputedStyle(probe).color);
  probe.remove();
  for (const [text, , one] of boxes) {
    const own = light(getComputedStyle(one).fill);
    if (Math.max(own, ground) / Math.min(own, ground) < 4.5) faults.push(`faint: ${text}`);
  }
  return faults;
}"""


def drawn_figure(book: Notebook, index: int) -> str:
    """Wait until the figure of a cell is drawn and return its text."""
    figure = book.cell(index).locator(".bqplot").first
    expect(figure.locator("text.axislabel").last).to_be_visible()
    return " ".join(figure.locator("text").all_text_contents())


def faults_of(book: Notebook, index: int) -> list[str]:
    """Return what is wrong with a figure once it rests: bqplot moves a legend to its place after it has drawn it."""
    figure = book.cell(index).locator(".bqplot").first
    deadline = time.monotonic() + 5
    while (faults := figure.evaluate(FAULTS)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return list(faults)


@pytest.mark.parametrize(("theme", "width"), [("light", 1200), ("dark", 480)])
def test_each_figure_is_drawn_with_words_that_can_be_read_and_do_not_collide(
    notebook: OpenNotebook, theme: Theme, width: int
) -> None:
    book = notebook([MODEL, *(f"{made}\nfigure" for made in FIGURES.values())], theme=theme, width=width)
    book.run(0)
    for index, name in enumerate(FIGURES, start=1):
        book.run(index)
        text = drawn_figure(book, index)
        assert [word for word in WORDS[name] if word not in text] == [], name
        assert faults_of(book, index) == [], name


BESIDE = """import roofwidget as rw
from ipywidgets import VBox
w = rw.RooflineWidget(rw.preset("tpu-roofline-guide").chips[3:])
figure = rw.companions.size_sweep(w)
VBox([figure, w])"""
LINKED = """import roofwidget as rw
from ipywidgets import Checkbox, Text, VBox, jslink
chip = rw.Chip("Example", {"bf16": 1e14, "fp8": 2e14}, {"HBM": 1e12, "L2": 1e13})
w = rw.RooflineWidget([chip], [("a", 1e12, {"HBM": 4e10, "L2": 5e10})], memory="all")
text, check = Text(), Checkbox(description="every level")
jslink((w, "precision"), (text, "value"))
jslink((check, "value"), (w, "all_levels"))
VBox([text, check, w])"""


def test_a_point_without_a_name_tells_it_under_the_pointer(notebook: OpenNotebook) -> None:
    book = notebook(["import roofwidget as rw\nrw.companions.ridge_history(['tpu-v4'])"])
    book.run(0)
    drawn_figure(book, 0)
    book.cell(0).locator(".bqplot .dot.element").first.hover(timeout=10_000)
    told = book.page.locator(".bqplot_tooltip_div")
    expect(told).to_contain_text("TPU v4")
    expect(told).to_contain_text("2021")
    expect(told).to_contain_text("229.2")


def test_figures_follow_a_drag_in_the_widget_beside_them_and_stand_still_once_closed(notebook: OpenNotebook) -> None:
    book = notebook([BESIDE])
    book.run(0)
    assert "v5p: ridge 166.3, compute-bound from N = 499" in drawn_figure(book, 0)
    legend = book.cell(0).locator(".bqplot .legendtext").first
    drawn = Drawn(book)
    drawn.drag("bandwidth", 0.1)
    expect(legend).not_to_contain_text("166.3")
    ridge = "f'ridge {w.peak_flops / w.bandwidth:.4g},'"
    drawn.eventually(lambda: book.python(ridge) in (legend.text_content() or ""))
    labels = book.python("(figure.close(), figure.marks[0].labels)[1]")
    assert book.python("(w.reset(), figure.marks[0].labels)[1]") == labels


def test_a_link_in_the_browser_ties_the_widget_to_other_widgets_both_ways(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, LINKED)
    box = book.cell(0).locator(".widget-text input")
    expect(box).to_have_value("auto")
    enter(box, "fp8")
    expect(drawn.button("Precision: fp8")).to_be_visible()
    drawn.choose("precision", "bf16")
    expect(box).to_have_value("bf16")
    book.cell(0).locator(".widget-checkbox input").check()
    drawn.becomes("(w.precision, w.all_levels)", ["bf16", True])
