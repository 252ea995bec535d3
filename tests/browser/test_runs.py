"""What to fix first, the projected time, and two runs compared, in a real JupyterLab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.browser.lab import Notebook

# Bounds on My chip: 4, 2, 1.5, 1 and 2 seconds; on Twice half of each.
PROGRAM = """import roofwidget as rw
mine = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
twice = rw.Chip("Twice", {"bf16": "200 TFLOP/s"}, {"HBM": "2 TB/s"})
def run(*rows, chip=None):
    names, flops, moved, seconds = zip(*rows)
    return rw.Kernels(names, flops, moved, time=seconds, chip=chip)
now = run(("matmul", 4e14, 1e12, 5), ("norm", 1e12, 2e12, 5), ("gelu", 1.5e14, 1e12, 3), ("new", 2e12, 1e12, 2),
          ("attention", 2e14, 2e11, 3), chip=mine)
"""
PLAIN = PROGRAM + "w = rw.roofline([mine, twice], now)\nw"
COMPARED = (
    PROGRAM
    + """before = run(("attention", 2e14, 2e11, 9), ("<b>gone</b>", 1e13, 1e12, 1.5), ("matmul", 4e14, 1e12, 8),
             ("norm", 1e12, 2e12, 4), ("gelu", 1.5e14, 1e12, 3))
w = rw.roofline([mine, twice], now)
w.baseline = before
w"""
)
MANY = """import roofwidget as rw
mine = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([mine], [{"name": f"k{at}", "flops": 1e14, "bytes": 1e10 * 1.35**at, "time": 100 + at}
                         for at in range(30)])
w"""


def shown(notebook: OpenNotebook, cell: str, **options: int) -> tuple[Notebook, Drawn]:
    book = notebook([cell], **options)  # type: ignore[arg-type]
    book.run(0)
    return book, Drawn(book)


def fold(drawn: Drawn, title: str) -> Locator:
    return drawn.root.locator(".roofwidget-fold > button", has_text=re.compile(title))


def kernels(drawn: Drawn, panel: str) -> list[str]:
    found: list[str] = drawn.root.locator(
        f".roofwidget-{panel} .roofwidget-kernel > span:first-child"
    ).all_inner_texts()
    return found


def test_what_to_fix_first_is_told_while_folded_and_selects(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    # 1 + 3 + 1.5 + 1 + 1 of 18 seconds.
    expect(fold(drawn, "Fix these 5 first")).to_contain_text("42 % of run time to gain")
    fold(drawn, "Fix these 5 first").click()
    assert kernels(drawn, "ranking") == ["norm", "gelu", "matmul", "new", "attention"]
    first = drawn.root.locator(".roofwidget-ranking .roofwidget-kernel").first
    assert "17 % · 3 s" in first.inner_text().replace("\xa0", " ")
    first.focus()
    drawn.eventually(lambda: book.python("w.hovered") == 1)
    first.press("Enter")
    drawn.eventually(lambda: book.python("list(w.selected)") == [1])
    expect(first).to_have_attribute("aria-pressed", "true")
    first.press("Enter")
    drawn.eventually(lambda: book.python("list(w.selected)") == [])
    drawn.root.get_by_role("button", name="Select these 5").click()
    drawn.eventually(lambda: book.python("list(w.selected)") == [1, 2, 0, 3, 4])


def test_what_to_fix_first_is_judged_where_it_ran_and_says_so(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    expect(drawn.root.locator(".roofwidget-gaps > g")).to_have_count(4)
    book.python("setattr(w, 'focus_chip', 'twice')")
    title = fold(drawn, "Fix these 5 first")
    note = title.get_by_text("42 % to gain on My chip", exact=True)
    expect(note).to_be_visible()
    assert note.evaluate("(one) => one.getClientRects()[0].height") < 24, "it stands in one line"
    expect(drawn.root.locator(".roofwidget-gaps > g")).to_have_count(0)
    title.click()
    expect(drawn.root.get_by_text("saves if it reaches its roof on My chip")).to_be_visible()
    book.python("setattr(w, 'selected', [0])")
    expect(drawn.root.locator(".roofwidget-sentence")).to_contain_text("matmul on Twice · measured on My chip · min(")


def test_what_to_fix_first_stays_unfolded_through_a_filter_that_leaves_one(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    fold(drawn, "Fix these 5 first").click()
    book.python("setattr(w, 'search', 'norm')")
    expect(fold(drawn, "Fix these")).to_have_count(0)
    book.python("setattr(w, 'search', '')")
    expect(fold(drawn, "Fix these 5 first")).to_have_attribute("aria-expanded", "true")


def test_kernels_of_one_name_are_told_apart_by_their_shape(notebook: OpenNotebook) -> None:
    cell = PROGRAM + (
        "w = rw.roofline([mine], rw.Kernels(['addmm', 'addmm', 'gelu'], [1e14, 1e14, 1e12], [1, 1, 1],"
        " time=[9, 8, 7], extra={'shape': ['64 x 64', '<i>8</i>', '4']}))\nw"
    )
    _, drawn = shown(notebook, cell)
    fold(drawn, "Fix these 3 first").click()
    buttons = drawn.root.locator(".roofwidget-ranking .roofwidget-kernel")
    said = [button.locator("span").first.inner_text() for button in buttons.all()]
    assert said == ["addmm 64×64", "addmm 8", "gelu"]
    expect(buttons.nth(1)).to_have_attribute("title", "addmm")


def test_of_many_kernels_those_to_fix_first_have_arrows(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MANY)
    arrows = drawn.root.locator(".roofwidget-gaps > g")
    expect(arrows).to_have_count(5)
    book.python("setattr(w, 'search', 'k2')")
    expect(arrows).to_have_count(5)


def test_the_time_on_the_focus_chip_follows_chip_and_slider(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    projected = fold(drawn, "Projected time")
    assert "→" not in projected.inner_text()
    book.python("setattr(w, 'focus_chip', 'twice')")
    expect(projected).to_contain_text("18 s on My chip → 9 s")
    projected.click()
    line = drawn.root.locator(".roofwidget-projected")
    expect(line).to_have_text("9 s on Twice (bf16): 2× as fast")
    # They tell what they ran on: there is nothing to choose.
    assert drawn.root.get_by_label("Ran on").count() == 0
    during: list[str] = []
    drawn.drag("peak", 0.1, during=lambda: during.append(line.inner_text()))
    assert not during[0].startswith("9 s")
    drawn.eventually(
        lambda: line.inner_text().startswith(book.python("rw.units.format_quantity(w.projection().time, 's')"))
    )


def test_a_kernel_at_its_roof_is_ticked(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    fold(drawn, "Projected time").click()
    line = drawn.root.locator(".roofwidget-projected")
    book.python("setattr(w, 'selected', [1, 2])")
    tick = drawn.root.get_by_role("checkbox", name=re.compile("norm"))
    tick.check()
    expect(line).to_have_text("15 s on My chip (bf16): 1.2× as fast")
    drawn.eventually(lambda: book.python("list(w.at_roof)") == [1])
    drawn.root.get_by_role("checkbox", name="all 2 selected").check()
    expect(line).to_contain_text("13.5 s on My chip")
    drawn.eventually(lambda: book.python("[list(w.at_roof), w.projection().time]") == [[1, 2], 13.5])
    # What is ticked stays in the list when it is no longer selected.
    book.python("setattr(w, 'selected', [])")
    tick.click()
    drawn.eventually(lambda: book.python("list(w.at_roof)") == [2])
    book.python("setattr(w, 'at_roof', [])")
    expect(line).to_contain_text("Focus or add another chip")
    expect(drawn.root.get_by_text("Select kernels to see the time if they reach their roof.")).to_be_visible()


def test_where_kernels_tell_no_chip_one_is_chosen(notebook: OpenNotebook) -> None:
    cell = PROGRAM + "w = rw.roofline([mine, twice], run(('matmul', 4e14, 1e12, 8)))\nw"
    book, drawn = shown(notebook, cell)
    projected = fold(drawn, "Projected time")
    projected.click()
    line = drawn.root.locator(".roofwidget-projected")
    # Until a chip is chosen there is no projected time, as in Python.
    hint = drawn.root.get_by_text("These kernels do not name the chip that they ran on: choose it.")
    expect(hint).to_be_visible()
    assert (line.count(), "→" in projected.inner_text()) == (0, False)
    assert book.python("w.kernels.chip") is None
    drawn.root.get_by_label("Ran on").select_option(label="My chip")
    expect(line).to_contain_text("Focus or add another chip")
    expect(hint).to_have_count(0)
    drawn.root.get_by_label("Ran on").select_option(label="Twice")
    expect(line).to_have_text("16 s on My chip (bf16): 0.5× as fast")


def test_two_runs_are_joined_by_arrows_and_told_apart_in_a_table(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, COMPARED)
    runs = drawn.root.locator(".roofwidget-runs > g")
    assert sorted(runs.evaluate_all("(all) => all.map((one) => one.dataset.row)")) == ["0", "1", "4"]
    assert [drawn.label(f"run {row}") for row in (0, 1, 4)] == ["−38 %", "+25 %", "−67 %"]
    dashes = runs.locator("path").evaluate_all("(all) => all.map((one) => one.getAttribute('stroke-dasharray'))")
    assert dashes.count("4 2") == 1
    expect(drawn.root.get_by_role("heading", name="29 % less time: 25.5 s before, 18 s now.")).to_be_visible()
    expect(fold(drawn, "Two runs")).to_contain_text("2 faster · 1 slower · 1 same")
    fold(drawn, "Two runs").click()
    rows = drawn.root.locator(".roofwidget-compare tbody tr")
    cells = [" ".join(row.locator("th, td").all_inner_texts()) for row in rows.all()]
    assert cells == [
        "attention 9 s 3 s −67 % faster",
        "matmul 8 s 5 s −38 % faster",
        "norm 4 s 5 s +25 % slower",
        "gelu 3 s 3 s ±0 % same",
    ]
    # A name is text, never markup.
    alone = drawn.root.locator(".roofwidget-alone")
    assert alone.all_inner_texts() == ["1 kernel only before:\n<b>gone</b> 1.5 s", "1 kernel only now:\nnew 2 s"]
    rows.first.get_by_role("button").click()
    drawn.eventually(lambda: book.python("list(w.selected)") == [4])
    # What is alone has its arrow alone.
    expect(runs).to_have_count(1)


def test_arrows_follow_the_filters_the_kernels_and_the_baseline(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, COMPARED)
    runs = drawn.root.locator(".roofwidget-runs > g")
    book.python("setattr(w, 'search', 'm*')")
    drawn.eventually(lambda: runs.evaluate_all("(all) => all.map((one) => one.dataset.row)") == ["0", "1"])
    book.python("setattr(w, 'search', '')")
    expect(runs).to_have_count(3)
    book.python("setattr(w, 'kernels', run(('norm', 1e12, 2e12, 3), ('matmul', 4e14, 1e12, 6), chip=mine))")
    drawn.eventually(lambda: drawn.root.locator("text[data-label='run 0']").all_text_contents() == ["−25 %"])
    assert drawn.label("run 1") == "−25 %"
    book.python("setattr(w, 'baseline', None)")
    expect(runs).to_have_count(0)
    expect(fold(drawn, "Two runs")).to_have_count(0)


def test_the_table_of_differences_follows_the_filters(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, COMPARED)
    fold(drawn, "Two runs").click()
    names = drawn.root.locator(".roofwidget-compare tbody th")
    expect(names).to_have_count(4)
    book.python("setattr(w, 'search', 'm*')")
    drawn.eventually(lambda: names.all_inner_texts() == ["matmul", "norm"])
    expect(fold(drawn, "Two runs")).to_contain_text("1 faster · 1 slower")
    expect(drawn.root.locator(".roofwidget-alone")).to_have_count(0)
    book.python("setattr(w, 'search', 'gone')")
    expect(names).to_have_count(0)
    assert drawn.root.locator(".roofwidget-alone").all_inner_texts() == ["1 kernel only before:\n<b>gone</b> 1.5 s"]
    # It was the longest before and is not now.
    book.python("setattr(w, 'search', '')")
    book.python("setattr(w, 'top', 1)")
    drawn.eventually(lambda: names.all_inner_texts() == ["attention", "matmul"])


def test_the_time_in_another_precision_is_a_choice(notebook: OpenNotebook) -> None:
    cell = (
        PROGRAM
        + """
fast = rw.Chip("Fast", {"bf16": "100 TFLOP/s", "fp8": "400 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([fast], rw.Kernels(["matmul", "norm"], [4e14, 1e12], [1e12, 2e12], time=[8, 4],
                                   precision=["bf16", "bf16"], chip=fast))
w.set_what_if(peak_flops="100.01 TFLOP/s", precision="bf16")
w"""
    )
    book, drawn = shown(notebook, cell)
    projected = fold(drawn, "Projected time")
    projected.click()
    line = drawn.root.locator(".roofwidget-projected")
    # 0.8 ms less of the product's 8 s.
    expect(line).to_have_text("Focus or add another chip to see the projected time there.")
    assert "→" not in projected.inner_text()
    drawn.root.get_by_label("All FLOPs in").select_option("fp8")
    # The product needs 1 s for its bytes and FLOPs instead of 4, twice of which it took.
    expect(line).to_have_text("6 s on Fast (fp8): 2× as fast")
    assert book.python("w.projection(recast='fp8').time") == 6
    drawn.root.get_by_label("All FLOPs in").select_option(label="their precision")
    expect(line).to_contain_text("Focus or add another chip")


@pytest.mark.parametrize("width", [1200, 480])
def test_nothing_of_the_panels_is_wider_than_the_widget(notebook: OpenNotebook, width: int) -> None:
    long = (
        PROGRAM + "long = run(*[(f'{\"void very::long::name \" * 9}{at}', 4e14, 1e12, 5 + at) for at in range(30)])\n"
    )
    _, drawn = shown(notebook, long + "w = rw.roofline([mine], long)\nw.baseline = long\nw", width=width)
    for title in ("Fix these 5 first", "Projected time", "Two runs"):
        fold(drawn, title).click()
    drawn.root.get_by_role("button", name="Select these 5").click()
    expect(drawn.root.locator(".roofwidget-compare tbody tr")).to_have_count(20)
    drawn.root.get_by_role("button", name="10 more").click()
    expect(drawn.root.locator(".roofwidget-compare tbody tr")).to_have_count(30)
    for panel in ("outlook", "compare"):
        part = drawn.root.locator(f".roofwidget-{panel}")
        assert part.evaluate("(one) => one.scrollWidth - one.clientWidth") <= 0
        assert part.evaluate("(one) => one.getBoundingClientRect().right") <= drawn.root.evaluate(
            "(one) => one.getBoundingClientRect().right"
        )


def test_a_program_that_was_not_measured_has_none_of_it(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, "import roofwidget as rw\nw = rw.roofline()\nw")
    for title in ("Fix these", "Projected time", "Two runs"):
        assert fold(drawn, title).count() == 0
