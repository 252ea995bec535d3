"""What to fix first, the projected time, and two runs compared, in a real JupyterLab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, shown

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


def tab(drawn: Drawn, name: str) -> Locator:
    """Open a tab of the inspector, and return its content."""
    drawn.get_by_role("tab", name=re.compile(f"^{name}")).click()
    return drawn.get_by_role("tabpanel", name=re.compile(f"^{name}"))


def rows(panel: Locator) -> list[str]:
    """Return what the rows of a tab say."""
    return [" ".join(text.split()) for text in panel.locator("[data-rw=row]").all_inner_texts()]


def test_what_to_fix_first_is_listed_and_selects_and_hovers(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, PLAIN)
    kernels = tab(drawn, "Kernels")
    # 3, 1.5, 1, 1 and 1 s of 18 s; of the last three the longest comes first.
    expect(kernels).to_contain_text("Fix first · these 5 could save up to 7.5 s")
    first = kernels.locator("[data-rw=row]").first
    assert rows(kernels)[0] == "1 norm 5 s 40 % 3 s"
    assert [text.split()[1] for text in rows(kernels)] == ["norm", "gelu", "matmul", "new", "attention"]
    first.hover()
    drawn.becomes("w.hovered", 1)
    first.click()
    drawn.becomes("list(w.selected)", [1])
    expect(first).to_have_attribute("aria-selected", "true")
    first.click()
    drawn.becomes("list(w.selected)", [])
    kernels.get_by_role("button", name=re.compile("^Select (it|these)")).click()
    drawn.becomes("list(w.selected)", [1, 2, 0, 3, 4])


def test_what_to_fix_first_is_judged_where_it_ran_and_says_so(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    expect(drawn.locator(".rw-gaps > g")).to_have_count(4)
    book.python("setattr(w, 'focus_chip', 'twice')")
    kernels = tab(drawn, "Kernels")
    expect(kernels).to_contain_text("Fix first on My chip · these 5 could save up to 7.5 s")
    expect(drawn.locator(".rw-gaps > g")).to_have_count(0)
    # The shares are of the roofs of the chip that they ran on, not of the one in focus.
    assert rows(kernels)[0] == "1 norm 5 s 40 % 3 s"
    book.python("setattr(w, 'selected', [0])")
    expect(drawn.locator(".rw-formula + .rw-spoken")).to_contain_text("matmul on Twice, measured on My chip, min(")


def test_kernels_of_one_name_are_told_apart_by_their_shape(notebook: OpenNotebook) -> None:
    cell = PROGRAM + (
        "w = rw.roofline([mine], rw.Kernels(['addmm', 'addmm', 'gelu'], [1e14, 1e14, 1e12], [1, 1, 1],"
        " time=[9, 8, 7], extra={'shape': ['64 x 64', '<i>8</i>', '4']}))\nw"
    )
    _, drawn = shown(notebook, cell)
    names = tab(drawn, "Kernels").get_by_role("rowheader")
    assert names.all_inner_texts() == ["addmm 64×64", "addmm 8", "gelu"]
    expect(names.nth(1)).to_have_attribute("title", "addmm")


def test_of_many_kernels_those_to_fix_first_have_arrows(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MANY)
    arrows = drawn.locator(".rw-gaps > g")
    expect(arrows).to_have_count(5)
    book.python("setattr(w, 'search', 'k2')")
    expect(arrows).to_have_count(5)


def test_the_time_on_the_focus_chip_follows_chip_and_slider(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    projection = tab(drawn, "Projection")
    line = drawn.locator(".rw-projected")
    expect(line).to_have_text("Choose another chip to see the projected time there.")
    projection.get_by_label("Projected onto").select_option("Twice")
    drawn.becomes("w.focus_chip", "twice")
    expect(line).to_have_text("18 s on My chip at bf16 → 9 s on Twice at bf16 (2×)")
    # They tell what they ran on: there is nothing to choose.
    assert projection.get_by_label("Ran on").count() == 0
    during: list[str] = []
    drawn.drag("peak", 0.1, during=lambda: during.append(line.inner_text()))
    assert "→ 9 s" not in during[0]
    drawn.eventually(
        lambda: f"→ {book.python('rw.units.format_quantity(w.projection().time, chr(115))')} on" in line.inner_text()
    )


def test_a_kernel_at_its_roof_is_ticked(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PLAIN)
    tab(drawn, "Projection")
    line = drawn.locator(".rw-projected")
    book.python("setattr(w, 'selected', [1, 2])")
    tick = drawn.get_by_role("checkbox", name=re.compile("norm"))
    tick.check()
    expect(line).to_have_text("18 s on My chip at bf16 → 15 s on My chip at bf16 (1.2×)")
    drawn.becomes("list(w.at_roof)", [1])
    drawn.get_by_role("checkbox", name="all 2 selected").check()
    expect(line).to_contain_text("13.5 s on My chip")
    drawn.becomes("[list(w.at_roof), w.projection().time]", [[1, 2], 13.5])
    # What is ticked stays in the list when it is no longer selected.
    book.python("setattr(w, 'selected', [])")
    tick.click()
    drawn.becomes("list(w.at_roof)", [2])
    book.python("setattr(w, 'at_roof', [])")
    expect(line).to_contain_text("Choose another chip")
    expect(drawn.root.get_by_text("Select kernels to see the time if they reach their roof.")).to_be_visible()


def test_where_kernels_tell_no_chip_one_is_chosen(notebook: OpenNotebook) -> None:
    cell = PROGRAM + "w = rw.roofline([mine, twice], run(('matmul', 4e14, 1e12, 8)))\nw"
    book, drawn = shown(notebook, cell)
    projection = tab(drawn, "Projection")
    line = drawn.locator(".rw-projected")
    # Until a chip is chosen there is no projected time, as in Python.
    hint = drawn.root.get_by_text("These kernels do not name the chip that they ran on: choose it.")
    expect(hint).to_be_visible()
    assert (line.count(), "→" in projection.inner_text()) == (0, False)
    assert book.python("w.kernels.chip") is None
    projection.get_by_label("Ran on").select_option(label="My chip")
    expect(line).to_contain_text("Choose another chip")
    expect(hint).to_have_count(0)
    projection.get_by_label("Ran on").select_option(label="Twice")
    expect(line).to_have_text("8 s on Twice at bf16 → 16 s on My chip at bf16 (0.5×)")


def test_two_runs_are_joined_by_arrows_and_told_apart_in_a_table(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, COMPARED)
    runs = drawn.locator(".rw-runs > g")
    assert sorted(runs.evaluate_all("(all) => all.map((one) => one.dataset.row)")) == ["0", "1", "4"]
    # The numbers are those of the table.
    labels = drawn.locator("[data-rw=label]")
    drawn.eventually(lambda: {"1attention", "2matmul", "3norm"} <= set(labels.all_text_contents()))
    expect(drawn.get_by_role("heading", name="29 % less time: 25.5 s before, 18 s now.")).to_be_visible()
    # The tab of the changes is open at first.
    changes = drawn.get_by_role("tabpanel", name="Changes 3")
    assert rows(changes) == ["1 attention 9 s 3 s −67 %", "2 matmul 8 s 5 s −38 %", "3 norm 4 s 5 s +25 %"]
    bars = changes.locator("[data-column=bar] path")
    # 6 s and 3 s less to the left, 1 s more to the right and in red.
    expect(bars.nth(1)).to_have_attribute("d", "M0,0H-0.5V1H0Z")
    assert [bar.get_attribute("class") or "" for bar in bars.all()] == ["", "", "rw-slower"]
    changes.get_by_role("button", name="1 the same").click()
    assert rows(changes)[3:] == ["gelu 3 s 3 s ±0 %"]
    expect(changes).to_contain_text("1 only before (1.5 s), 1 only now (2 s)")
    changes.get_by_role("button", name="Show", exact=True).click()
    # A name is text, never markup.
    alone = changes.locator(".rw-alone")
    assert alone.all_inner_texts() == ["Only before\n<b>gone</b> 1.5 s", "Only now\nnew 2 s"]
    drawn.press("Escape")
    changes.get_by_role("button", name="How", exact=True).click()
    expect(changes).to_contain_text("Other work: their FLOPs differ.")
    changes.locator("[data-rw=row]").first.click()
    drawn.becomes("list(w.selected)", [4])
    # What is alone has its arrow alone.
    expect(runs).to_have_count(1)


def test_arrows_follow_the_filters_the_kernels_and_the_baseline(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, COMPARED)
    runs = drawn.locator(".rw-runs > g")
    book.python("setattr(w, 'search', 'm*')")
    drawn.eventually(lambda: runs.evaluate_all("(all) => all.map((one) => one.dataset.row)") == ["0", "1"])
    book.python("setattr(w, 'search', '')")
    expect(runs).to_have_count(3)
    book.python("setattr(w, 'kernels', run(('norm', 1e12, 2e12, 3), ('matmul', 4e14, 1e12, 6), chip=mine))")
    drawn.eventually(lambda: runs.evaluate_all("(all) => all.map((one) => one.dataset.row)") == ["1", "0"])
    book.python("setattr(w, 'baseline', None)")
    expect(runs).to_have_count(0)
    expect(drawn.get_by_role("tab", name="Changes")).to_have_count(0)


def test_the_table_of_differences_follows_the_filters(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, COMPARED)
    changes = drawn.get_by_role("tabpanel", name=re.compile("^Changes"))
    names = changes.get_by_role("rowheader")
    expect(names).to_have_count(3)
    book.python("setattr(w, 'search', 'm*')")
    drawn.eventually(lambda: names.all_inner_texts() == ["matmul", "norm"])
    expect(changes).not_to_contain_text("only before")
    book.python("setattr(w, 'search', 'gone')")
    expect(names).to_have_count(0)
    expect(changes).to_contain_text("1 only before (1.5 s)")
    expect(changes).not_to_contain_text("only now")
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
    tab(drawn, "Projection")
    line = drawn.locator(".rw-projected")
    # 0.8 ms less of the product's 8 s.
    expect(line).to_have_text("Choose another chip to see the projected time there.")
    drawn.root.get_by_label("All FLOPs in").select_option("fp8")
    # The product needs 1 s for its bytes and FLOPs instead of 4, twice of which it took.
    expect(line).to_have_text("12 s on Fast at bf16 → 6 s on Fast at fp8 (2×)")
    assert book.python("w.projection(recast='fp8').time") == 6
    drawn.root.get_by_label("All FLOPs in").select_option(label="their precision")
    expect(line).to_contain_text("Choose another chip")


@pytest.mark.parametrize("width", [1200, 480])
def test_nothing_of_the_panels_is_wider_than_the_widget(notebook: OpenNotebook, width: int) -> None:
    long = (
        PROGRAM + "long = run(*[(f'{\"void very::long::name \" * 9}{at}', 4e14, 1e12, 5 + at) for at in range(30)])\n"
    )
    _, drawn = shown(notebook, long + "w = rw.roofline([mine], long)\nw.baseline = long\nw", width=width)
    for name in ("Changes", "Kernels", "Projection"):
        panel = tab(drawn, name)
        if name == "Kernels":
            panel.get_by_role("button", name=re.compile("^Select (it|these)")).click()
        assert panel.evaluate("(one) => one.scrollWidth - one.clientWidth") <= 0
        assert panel.evaluate("(one) => one.getBoundingClientRect().right") <= drawn.root.evaluate(
            "(one) => one.getBoundingClientRect().right"
        )


def test_a_program_that_was_not_measured_has_none_of_it(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, "import roofwidget as rw\nw = rw.roofline()\nw")
    for name in ("Projection", "Changes"):
        assert drawn.get_by_role("tab", name=name).count() == 0
