"""Several runs as series, and the colours of points by a column, in a real JupyterLab."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.browser.drawn import shown as first_cell
from tests.browser.lab import Notebook

RUNS = """import roofwidget as rw
mine = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
def run(matmul, norm, gelu):
    return rw.Kernels(["matmul", "norm", "gelu"], [4e14, 1e12, 1e13], [1e12, 2e12, 1e12], time=[matmul, norm, gelu],
                      category=["gemm", None, None], extra={"node": ["n10", "n2", None], "rank": [0, 1, 63]}, chip=mine)
runs = rw.compare_runs({"v1": run(12, 5, 4), "<b>v2</b>": run(8, 6, 4), "v3": run(8, 3, 4), "v4": run(5, 3, 4)})
w = runs.roofline()
w"""


def shown(notebook: OpenNotebook) -> tuple[Notebook, Drawn, Locator]:
    book, drawn = first_cell(notebook, RUNS)
    return book, drawn, drawn.locator(".rw-legend")


def test_each_run_has_an_entry_of_the_legend_that_shows_it_alone_or_beside_others(notebook: OpenNotebook) -> None:
    book, drawn, legend = shown(notebook)
    entries = legend.get_by_role("button")
    # The longest run comes first: 21, 18, 15 and 12 of 66 s.
    expect(entries).to_have_text(["v1 32 %", "<b>v2</b> 27 %", "v3 23 %", "v4 18 %"])
    expect(legend.get_by_role("group")).to_have_attribute("aria-label", "Colour Series")
    entries.nth(1).click()
    drawn.becomes("w.categories and list(w.categories)", ["<b>v2</b>"])
    expect(entries.nth(0)).to_have_attribute("aria-pressed", "false")
    expect(drawn.locator(".rw-counted")).to_contain_text("3 of 12 kernels")
    entries.nth(0).click(modifiers=["Shift"])
    drawn.becomes("w.categories and list(w.categories)", ["<b>v2</b>", "v1"])
    # By key, and the focus stays on the entry.
    entries.nth(3).focus()
    entries.nth(3).press("Enter")
    drawn.becomes("w.categories and list(w.categories)", ["v4"])
    expect(entries.nth(3)).to_be_focused()
    entries.nth(3).press("Enter")
    drawn.eventually(lambda: book.python("w.categories") is None)


def test_a_selected_kernel_has_a_path_through_the_runs(notebook: OpenNotebook) -> None:
    book, drawn, legend = shown(notebook)
    arrows = drawn.locator(".rw-runs > g")
    expect(arrows).to_have_count(0)
    book.python("setattr(w, 'selected', [3])")
    drawn.eventually(lambda: arrows.evaluate_all("(all) => all.map((one) => one.dataset.row)") == ["3", "6", "9"])
    assert drawn.label("run 3") == "−33 %"
    expect(drawn.locator(".rw-formula + .rw-spoken")).to_contain_text("matmul (<b>v2</b>) on My chip")
    for run in ("v1", "<b>v2</b>", "v4"):
        legend.get_by_role("button", name=run).click(modifiers=["Shift"])
    drawn.eventually(lambda: arrows.evaluate_all("(all) => all.map((one) => one.dataset.row)") == ["3", "9"])
    assert drawn.label("run 9") == "−38 %"


def test_points_are_coloured_by_a_column_with_a_legend_that_a_screen_reader_reads(notebook: OpenNotebook) -> None:
    book, drawn, legend = shown(notebook)
    choice = drawn.get_by_role("combobox", name="Colour")
    assert choice.locator("option").all_inner_texts() == [
        *("Series", "Time", "FLOPs", "node", "rank", "category in the profile"),
    ]
    choice.select_option("rank")
    drawn.becomes("w.colour_by", "rank")
    scale = legend.get_by_role("img", name="rank: a scale of colours, 0, 31.5, 63")
    expect(scale).to_be_visible()
    assert scale.locator("text").all_text_contents() == ["0", "31.5", "63"]
    expect(legend.get_by_role("button")).to_have_count(0)
    book.python("setattr(w, 'colour_by', 'node')")
    expect(choice).to_have_value("node")
    expect(legend.locator(".rw-entry")).to_have_text(["n10 50 %", "n2 26 %", "not given (4) 24 %"])
    spoken = drawn.locator(".rw-formula + .rw-spoken")
    book.python("setattr(w, 'selected', [0])")
    drawn.eventually(lambda: any("node: n10." in text for text in spoken.all_text_contents()))
    chart = drawn.locator(".rw-chart")
    chart.focus()
    chart.press("ArrowRight")
    expect(drawn.get_by_role("tooltip")).to_contain_text("node")
    picture = book.python("w.to_svg()")
    assert all(f">{text}</text>" in picture for text in ("node", "n2", "n10", "not given (4)"))
