"""The table of kernels and their tab: what to fix first, sorting, columns, export, and the selection of the chart."""

from __future__ import annotations

import re
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import roofwidget as rw
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, box_of
from tests.browser.drawn import shown as first_cell
from tests.browser.lab import Notebook

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

# At the least 4, 2, 1.5 and 1 s; FLOP/B 400, 0.5, 150 and 0.
PROGRAM = """import roofwidget as rw
mine = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
now = rw.Kernels(
    ["matmul", "=norm", "<i>gelu</i>", "copy"], [4e14, 1e12, 1.5e14, 0], {"HBM": [1e12, 2e12, 1e12, 1e12]},
    time=[5, 8, 3, 2], category=["gemm", "loop", "loop", None], extra={"grid size": [108, 64, 32, 1]},
    origin={"flops": ["2MNK of the shapes", None, None, None]},
)
w = rw.roofline([mine], now)
w"""
MANY = """import roofwidget as rw
import numpy as np
at = np.arange(100_000)
mine = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([mine], rw.Kernels([f"k{n}" for n in at], 1e12 + at, 1e10 + at, time=1 + at / 1e5))
w.top = None
w"""
# How opaque the kernels' canvas is at a place of the page.
OPACITY = """(chart, [x, y]) => {
  const canvas = chart.querySelector('canvas');
  const box = canvas.getBoundingClientRect();
  const scale = canvas.width / box.width;
  return canvas.getContext('2d').getImageData((x - box.x) * scale, (y - box.y) * scale, 1, 1).data[3];
}"""
# By rate: attained FLOP/s of each kernel.
# Of at most a hundred dots each hides nine tenths of what is below it.
PLAIN = 230
MATMUL, NORM, GELU = (400.0, 8e13), (0.5, 1.25e11), (150.0, 5e13)


def shown(notebook: OpenNotebook, cell: str = PROGRAM, width: int = 1200) -> tuple[Notebook, Drawn]:
    book, drawn = first_cell(notebook, cell, width=width, height=1400)
    drawn.button("All columns").click()
    table(drawn).scroll_into_view_if_needed()
    return book, drawn


def table(drawn: Drawn) -> Locator:
    return drawn.get_by_role("region", name="All columns").get_by_role("grid")


def tab(drawn: Drawn) -> Locator:
    return drawn.get_by_role("tabpanel", name="Kernels")


def row(drawn: Drawn, name: str) -> Locator:
    return table(drawn).get_by_role("row").filter(has=drawn.page.get_by_role("rowheader", name=name, exact=True))


def cell(drawn: Drawn, name: str, column: str) -> Locator:
    return row(drawn, name).locator(f"[data-column='{column}']")


def names(drawn: Drawn) -> list[str]:
    found: list[str] = table(drawn).get_by_role("rowheader").all_inner_texts()
    return found


def head(drawn: Drawn, title: str) -> Locator:
    return table(drawn).get_by_role("columnheader", name=title)


def chosen(drawn: Drawn) -> list[str]:
    found: list[str] = table(drawn).locator("[aria-selected=true] [role=rowheader]").all_inner_texts()
    return found


def test_rows_stand_by_what_they_could_save_and_say_what_the_roof_says(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook)
    assert names(drawn) == ["=norm", "<i>gelu</i>", "matmul", "copy"]
    assert head(drawn, "Headroom").get_attribute("aria-sort") == "descending"
    keys = ("self_time", "share", "flops", "bytes:HBM", "ai:HBM", "achieved", "attainable", "bound_by", "utilization")
    said = ["8 s", "44 %", "1 TFLOP", "2 TB", "0.5 FLOP/B", "125 GFLOP/s", "500 GFLOP/s", "HBM", "25 %"]
    assert [cell(drawn, "=norm", key).inner_text() for key in keys] == said
    assert cell(drawn, "=norm", "headroom").inner_text() == "6 s"
    assert cell(drawn, "copy", "category").inner_text() == "–"
    assert cell(drawn, "matmul", "flops").get_attribute("title") == "flops: 2MNK of the shapes"


def test_a_heading_sorts_by_mouse_and_by_keyboard_and_tells_python(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook)
    head(drawn, "Of roof").get_by_role("button").click()
    drawn.eventually(lambda: names(drawn) == ["matmul", "<i>gelu</i>", "copy", "=norm"])
    drawn.becomes("w.sort_by", "-utilization")
    button = head(drawn, "Category").get_by_role("button")
    button.focus()
    button.press("Enter")
    drawn.eventually(lambda: names(drawn) == ["matmul", "=norm", "<i>gelu</i>", "copy"])
    assert head(drawn, "Category").get_attribute("aria-sort") == "ascending"
    button.press("Enter")
    drawn.eventually(lambda: names(drawn) == ["=norm", "<i>gelu</i>", "matmul", "copy"])
    drawn.becomes("w.sort_by", "-category")
    book.python("setattr(w, 'sort_by', 'flops')")
    drawn.eventually(lambda: names(drawn) == ["copy", "=norm", "<i>gelu</i>", "matmul"])


def test_columns_are_chosen_by_tick_and_from_python(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook)
    drawn.button(re.compile("^Columns")).click()
    drawn.get_by_role("checkbox", name="grid size").check()
    drawn.eventually(lambda: cell(drawn, "matmul", "grid size").count() == 1)
    assert cell(drawn, "matmul", "grid size").inner_text() == "108"
    drawn.get_by_role("checkbox", name="FLOPs", exact=True).uncheck()
    drawn.eventually(lambda: "flops" not in (book.python("w.columns") or ["flops"]))
    assert book.python("w.columns[-1]") == "grid size"
    assert head(drawn, "FLOPs").count() == 0
    book.python("setattr(w, 'columns', ['headroom', 'name'])")
    heads = table(drawn).get_by_role("columnheader")
    drawn.eventually(lambda: heads.all_inner_texts() == ["Headroom\n▾", "Kernel"])
    drawn.button("Default").click()
    drawn.eventually(lambda: book.python("w.columns is None"))


def test_a_click_on_a_row_isolates_its_point(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook)
    matmul, gelu = drawn.place(*MATMUL), drawn.place(*GELU)

    def opacity(at: tuple[float, float]) -> int:
        return int(drawn.chart.evaluate(OPACITY, list(at)))

    assert opacity(matmul) == opacity(gelu) == PLAIN
    row(drawn, "<i>gelu</i>").click()
    drawn.becomes("list(w.selected)", [2])
    drawn.eventually(lambda: opacity(matmul) < 100)
    assert opacity(gelu) == PLAIN
    row(drawn, "<i>gelu</i>").click()
    drawn.becomes("list(w.selected)", [])
    drawn.eventually(lambda: opacity(matmul) == PLAIN)


def test_a_click_on_a_point_isolates_it(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook)
    matmul, gelu = drawn.place(*MATMUL), drawn.place(*GELU)
    drawn.mouse.click(*gelu)
    drawn.becomes("list(w.selected)", [2])
    drawn.eventually(lambda: int(drawn.chart.evaluate(OPACITY, list(matmul))) < 100)
    drawn.mouse.click(*gelu)
    drawn.eventually(lambda: int(drawn.chart.evaluate(OPACITY, list(matmul))) == PLAIN)


def test_of_very_many_points_too_all_but_the_selected_fade(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MANY)
    # The first and the last of them: 1e12 FLOP in 1 s, 1.0000001e12 in 2 s, at 100 FLOP/B.
    first, last = drawn.place(100, 1e12), drawn.place(100, 5e11)

    def opacities() -> list[int]:
        return [int(drawn.chart.evaluate(OPACITY, list(place))) for place in (first, last)]

    assert opacities() == [255, 255]
    book.python("setattr(w, 'selected', [0])")
    drawn.eventually(lambda: opacities()[1] < 200)
    assert opacities()[0] == 255
    book.python("setattr(w, 'selected', [])")
    drawn.eventually(lambda: opacities() == [255, 255])


def test_rows_are_selected_by_modifier_range_and_keyboard(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook)
    row(drawn, "=norm").click()
    row(drawn, "<i>gelu</i>").click(modifiers=["ControlOrMeta"])
    drawn.becomes("sorted(w.selected)", [1, 2])
    row(drawn, "=norm").click()
    row(drawn, "matmul").click(modifiers=["Shift"])
    drawn.eventually(lambda: chosen(drawn) == ["=norm", "<i>gelu</i>", "matmul"])
    table(drawn).focus()
    table(drawn).press("Escape")
    drawn.becomes("list(w.selected)", [])
    for key in ("Home", "ArrowDown", "Enter", "Shift+ArrowDown"):
        table(drawn).press(key)
    drawn.becomes("list(w.selected)", [2, 0])
    drawn.becomes("w.hovered", 0)
    table(drawn).press("ControlOrMeta+a")
    drawn.becomes("sorted(w.selected)", [0, 1, 2, 3])


def test_the_selection_of_the_chart_and_of_python_is_marked_in_the_table(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook)
    drawn.mouse.click(*drawn.place(*MATMUL))
    drawn.eventually(lambda: chosen(drawn) == ["matmul"] and book.python("list(w.selected)") == [0])
    book.python("setattr(w, 'selected', [1, 3])")
    drawn.eventually(lambda: chosen(drawn) == ["=norm", "copy"])
    expect(tab(drawn)).to_contain_text("2 selected · 10 s, 56 % of kernel time")
    expect(tab(drawn)).to_contain_text("could save 7 s")


def test_a_row_that_is_pointed_at_shows_its_point(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook)
    row(drawn, "=norm").hover()
    drawn.becomes("w.hovered", 1)
    assert "=norm" in drawn.tooltip()
    drawn.mouse.move(*drawn.place(*MATMUL))
    drawn.eventually(lambda: "rw-pointed" in (row(drawn, "matmul").get_attribute("class") or ""))


def test_a_rectangle_on_empty_space_selects_what_is_in_it(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook)
    drawn.pull(drawn.place(60, 1.2e13), drawn.place(900, 9.5e13), drop=False)
    expect(drawn.locator(".rw-marquee")).to_be_visible()
    drawn.mouse.up()
    drawn.becomes("list(w.selected)", [0, 2])
    assert drawn.locator(".rw-marquee").count() == 0
    drawn.keyboard.down("Shift")
    drawn.pull(drawn.place(0.3, 5.6e10), drawn.place(1.2, 3e11))
    drawn.keyboard.up("Shift")
    drawn.becomes("list(w.selected)", [0, 2, 1])
    # Taken back while it is drawn, it changes nothing.
    drawn.chart.focus()
    drawn.pull(drawn.place(60, 1.2e13), drawn.place(900, 9.5e13), drop=False)
    drawn.press("Escape")
    drawn.mouse.up()
    assert book.python("list(w.selected)") == [0, 2, 1]
    drawn.press("Escape")
    drawn.becomes("list(w.selected)", [])


def test_a_csv_file_holds_every_digit_and_no_formula(notebook: OpenNotebook, tmp_path: Path) -> None:
    book, drawn = shown(notebook)
    book.python("setattr(w, 'columns', ['name', 'flops', 'category', 'grid size', 'headroom'])")
    drawn.eventually(lambda: head(drawn, "grid size").count() == 1)
    with drawn.page.expect_download() as download:
        drawn.button(re.compile("^Save all 4 rows")).click()
    assert download.value.suggested_filename == "kernels.csv"
    download.value.save_as(tmp_path / "kernels.csv")
    assert (tmp_path / "kernels.csv").read_bytes().decode("utf-8-sig") == (
        "name,flops,category,grid size,headroom,precision,count,time,self_time,bytes:HBM,chip\r\n"
        "'=norm,1000000000000,loop,64,6,,1,8,8,2000000000000,My chip\r\n"
        "<i>gelu</i>,150000000000000,loop,32,1.5,,1,3,3,1000000000000,My chip\r\n"
        "matmul,400000000000000,gemm,108,1,,1,5,5,1000000000000,My chip\r\n"
        "copy,0,,1,1,,1,2,2,1000000000000,My chip\r\n"
    )
    row(drawn, "copy").click()
    with drawn.page.expect_download() as download:
        drawn.button("Save the selected row as a CSV file").click()
    download.value.save_as(tmp_path / "one.csv")
    assert len((tmp_path / "one.csv").read_text("utf-8").splitlines()) == 2


def test_a_csv_file_is_read_again_as_the_same_kernels(notebook: OpenNotebook, tmp_path: Path) -> None:
    cell = """import roofwidget as rw
ran = rw.Chip("Ran here", {"fp16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s", "L2": "8 TB/s"})
other = rw.Chip("Judges", {"fp16": "300 TFLOP/s", "fp8": "900 TFLOP/s"}, {"HBM": "3 TB/s"})
w = rw.roofline([ran, other], rw.Kernels(
    ["addmm", "addmm", "copy"], {"fp16": [1e12, 0.1, None], "fp8": [3e11, None, None], "": [None, None, 0]},
    {"DRAM": [1e9, 3e-7, 7e9], "L2": [5e10, None, None]}, time=[0.5, 1 / 3, 0.25], self_time=[0.375, 1 / 3, 0.25],
    count=[3, 1, 2], precision=["fp16", "fp8", None], extra={"shape": ["8x8", "4x4", None]}, chip=ran))
w.focus_chip = "judges"
w"""
    book, drawn = shown(notebook, cell)
    book.python("setattr(w, 'columns', ['name', 'headroom'])")
    expect(head(drawn, "Of roof")).to_have_count(0)
    with drawn.page.expect_download() as download:
        drawn.button(re.compile("^Save all 3 rows")).click()
    download.value.save_as(tmp_path / "kernels.csv")
    again = rw.read(tmp_path / "kernels.csv")
    assert again.names.tolist() == ["addmm", "addmm", "copy"]
    assert again.time.tolist() == [0.5, 1 / 3, 0.25]
    assert again.self_time.tolist() == [0.375, 1 / 3, 0.25]
    assert again.count.tolist() == [3, 1, 2]
    assert again.precision.tolist() == ["fp16", "fp8", None]
    counted = {"fp16": [1e12, 0.1, nan], "fp8": [3e11, nan, nan], "": [nan, nan, 0]}
    assert again.flops_by_precision.keys() == counted.keys()
    for precision, column in counted.items():
        np.testing.assert_array_equal(again.flops_by_precision[precision], column)
    assert again.bytes_by_level.keys() == {"HBM", "L2"}
    np.testing.assert_array_equal(again.bytes_by_level["HBM"], [1e9, 3e-7, 7e9])
    np.testing.assert_array_equal(again.bytes_by_level["L2"], [5e10, nan, nan])
    assert list(again.extra["shape"]) == ["8x8", "4x4", None]
    assert (again.extra["chip"][0], again.extra["measured on"][0]) == ("Judges", "Ran here")
    expect(drawn.root.get_by_text("Measured on Ran here; bounds")).to_be_visible()


def test_the_columns_that_say_most_stand_first_and_the_way_to_the_others_is_seen(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, width=1100)
    heads = [text.replace("\n", " ") for text in table(drawn).get_by_role("columnheader").all_inner_texts()]
    first = ["Rank", "Kernel", "Self time", "Share", "Cumulative", "Of roof", "Headroom ▾"]
    assert heads[: len(first)] == first
    box, last = box_of(table(drawn)), box_of(head(drawn, "Headroom"))
    assert last["x"] + last["width"] <= box["x"] + box["width"]
    style = "(grid) => getComputedStyle(grid, '::-webkit-scrollbar').height"
    assert table(drawn).evaluate(style) == "10px"


@pytest.mark.parametrize("by", ["button", "keyboard"])
def test_rows_are_copied_for_a_spreadsheet(notebook: OpenNotebook, by: str) -> None:
    book, drawn = shown(notebook)
    drawn.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    book.python("setattr(w, 'columns', ['name', 'headroom'])")
    book.python("setattr(w, 'selected', [1, 3])")
    drawn.eventually(lambda: chosen(drawn) == ["=norm", "copy"])
    if by == "button":
        drawn.button(re.compile("^Copy the 2 selected rows")).click()
    else:
        table(drawn).focus()
        table(drawn).press("ControlOrMeta+c")
    expect(drawn.locator("[data-rw=status]")).to_contain_text("2 rows copied")
    assert drawn.page.evaluate("navigator.clipboard.readText()") == "name\theadroom\n'=norm\t6\ncopy\t1\n"


def test_of_very_many_rows_only_those_in_sight_are_drawn(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MANY)
    assert table(drawn).get_attribute("aria-rowcount") == "100001"
    assert names(drawn)[0] == "k99999"
    assert len(names(drawn)) < 20
    table(drawn).focus()
    table(drawn).press("End")
    drawn.eventually(lambda: names(drawn)[-1] == "k0")
    assert len(names(drawn)) < 20
    drawn.becomes("w.hovered", 0)
    book.python("setattr(w, 'selected', [50_000])")
    drawn.eventually(lambda: "k50000" in names(drawn))


def test_only_what_passes_the_filters_is_listed(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook)
    book.python("setattr(w, 'search', 'm*l')")
    drawn.eventually(lambda: names(drawn) == ["matmul"])
    expect(drawn.get_by_role("tab", name="Kernels")).to_have_text("Kernels 1 / 4")
    expect(tab(drawn)).to_contain_text("1 of 4 kernels · 28 % of time")
    book.python("setattr(w, 'search', 'nothing')")
    expect(table(drawn)).to_contain_text("No kernel passes the filters.")


def test_rows_keep_their_places_while_a_roof_is_dragged(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook)
    assert names(drawn) == ["=norm", "<i>gelu</i>", "matmul", "copy"]
    before = cell(drawn, "matmul", "headroom").inner_text()
    during: list[list[str]] = []
    drawn.drag("peak", 0.2, during=lambda: during.append(names(drawn)))
    assert during == [["=norm", "<i>gelu</i>", "matmul", "copy"]]
    drawn.eventually(lambda: names(drawn) == ["=norm", "matmul", "<i>gelu</i>", "copy"])
    assert cell(drawn, "matmul", "headroom").inner_text() != before


def test_a_narrow_widget_has_cards_and_its_table_scrolls_sideways(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, width=480)
    cards = tab(drawn).locator("[data-rw=row]")
    expect(tab(drawn).get_by_role("columnheader")).to_have_count(0)
    assert cards.first.inner_text().split() == [
        "1",
        "=norm",
        "6",
        "s",
        "8",
        "s",
        "·",
        "25",
        "%",
        "of",
        "its",
        "roof",
        "could",
        "save",
    ]
    cards.nth(1).click()
    drawn.becomes("list(w.selected)", [2])
    expect(head(drawn, "FLOPs")).to_have_count(1)
    assert table(drawn).evaluate("(grid) => grid.scrollWidth > grid.clientWidth")
    assert drawn.root.evaluate("(root) => root.scrollWidth <= root.clientWidth")


# Bounds of 1 s each; they could save 9, 8, 6, 5, 4 and 3 s. Two lack bytes, three are above the roof, and one is idle.
FIX = [("gemm", 10), ("norm", 9), ("gelu", 7), ("softmax", 6), ("rope", 5), ("add", 4)]


def profile(**more: Any) -> rw.Kernels:
    rows = [rw.Kernel(name, 1e12, 1e12, time=time, category="op") for name, time in FIX]
    rows += [rw.Kernel(name, 1e12, None, time=1, category="host") for name in ("call", "hook")]
    rows.append(rw.Kernel("idle", None, None, time=57, category="idle"))
    return rw.Kernels.from_records(rows + list(more.pop("rows", ()))).replace(**more)


CHIP = rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})


def opened(exported: Callable[..., Exported], kernels: rw.Kernels, **more: Any) -> Drawn:
    return exported(rw.roofline([CHIP], kernels, **more).to_html()).drawn


def lines(drawn: Drawn) -> list[str]:
    return [" ".join(text.split()) for text in tab(drawn).get_by_role("row").all_inner_texts()]


def test_the_tab_has_what_to_fix_first_with_numbers_and_then_the_others(exported: Callable[..., Exported]) -> None:
    drawn = opened(exported, profile())
    assert lines(drawn) == [
        "Fix first Kernel Time Of roof Could save ▾",
        "Fix first · these 5 could save up to 32 s Select",
        "1 gemm 10 s 10 % 9 s",
        "2 norm 9 s 11 % 8 s",
        "3 gelu 7 s 14 % 6 s",
        "4 softmax 6 s 17 % 5 s",
        "5 rope 5 s 20 % 4 s",
        "Others · 3",
        "add 4 s 25 % 3 s",
        "call 1 s – –",
        "hook 1 s – –",
    ]
    # With its spaces.
    assert tab(drawn).get_by_role("row").filter(has_text="Others").inner_text().strip() == "Others · 3"
    # Idle time is no kernel.
    expect(drawn.get_by_role("tab", name="Kernels")).to_have_text("Kernels 8")
    tab(drawn).get_by_role("button", name="Time").click()
    assert lines(drawn)[1:3] == ["1 gemm 10 s 10 % 9 s", "2 norm 9 s 11 % 8 s"]
    tab(drawn).get_by_role("button", name="Time").click()
    assert lines(drawn)[1] == "call 1 s – –"


def test_a_selection_is_summed_up_and_alone_until_the_filter_is_lifted(exported: Callable[..., Exported]) -> None:
    drawn = opened(exported, profile())
    press = tab(drawn).get_by_role("button", name=re.compile("^Select (it|these)"))
    press.click()
    expect(tab(drawn)).to_contain_text("5 selected · 37 s, 86 % of kernel time")
    expect(tab(drawn)).to_contain_text("could save 32 s")
    expect(tab(drawn).get_by_role("searchbox")).to_have_count(0)
    tab(drawn).get_by_role("button", name="Only these").click()
    expect(tab(drawn)).to_contain_text("5 of 8 kernels · 37 % of time")
    expect(tab(drawn).locator("[data-rw=row]")).to_have_count(5)
    tab(drawn).get_by_role("button", name="Remove the filter “Only 5 kernels”").click()
    expect(tab(drawn).locator("[data-rw=row]")).to_have_count(8)
    press.click()
    tab(drawn).get_by_role("button", name="Clear", exact=True).click()
    expect(tab(drawn).get_by_role("searchbox")).to_have_count(1)


def test_after_the_rows_change_places_a_move_of_the_pointer_hovers_the_row_below_it(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook)
    row(drawn, "=norm").hover()
    drawn.becomes("w.hovered", 1)
    box = box_of(row(drawn, "=norm"))
    book.python("setattr(w, 'sort_by', 'name')")
    drawn.eventually(lambda: box_of(row(drawn, "=norm"))["y"] != box["y"])
    below = drawn.page.evaluate(
        "([x, y]) => Number(document.elementFromPoint(x, y).closest('[data-rw=row]').dataset.row)",
        [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
    )
    assert below != 1
    drawn.page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2)
    drawn.becomes("w.hovered", below)


def test_a_hovered_row_shows_its_dot_and_a_hovered_dot_its_row(exported: Callable[..., Exported]) -> None:
    drawn = opened(exported, profile())
    norm = tab(drawn).locator("[data-rw=row]").nth(1)
    norm.hover()
    assert "norm" in drawn.tooltip()
    drawn.mouse.move(*drawn.place(1, 1e12 / 10))
    expect(tab(drawn).locator("[data-rw=row]").first).to_have_class(re.compile("rw-pointed"))
    expect(norm).not_to_have_class(re.compile("rw-pointed"))


ABOVE = [rw.Kernel(f"copy-start.{at}", 0, 1e12, time=0.1) for at in range(3)]


@pytest.mark.parametrize(
    ("rows", "said", "action"),
    [
        (
            ABOVE,
            "3 kernels are above the roof. Likely: asynchronous copies. Their time is the time to start",
            "Show them",
        ),
        ([], "2 kernels have no FLOPs or bytes (4.7 % of kernel time).", "Type their work…"),
    ],
)
def test_the_footer_says_what_is_most_important(
    exported: Callable[..., Exported], rows: list[rw.Kernel], said: str, action: str
) -> None:
    drawn = opened(exported, profile(rows=rows))
    expect(tab(drawn)).to_contain_text(said)
    tab(drawn).get_by_role("button", name=action).click()
    expect(tab(drawn)).to_contain_text("3 selected" if rows else "1 selected")


def test_collectives_without_bytes_over_their_link_are_not_ranked(exported: Callable[..., Exported]) -> None:
    rows = [rw.Kernel(f"all-reduce.{at}", 1e9, 1e9, time=5, category="all-reduce") for at in range(2)]
    drawn = opened(exported, rw.Kernels.from_records([rw.Kernel("gemm", 1e12, 1e12, time=10), *rows]))
    expect(tab(drawn)).to_contain_text("2 collectives (50 % of the time) are not ranked")
    assert lines(drawn)[-2:] == ["all-reduce.0 5 s < 1 % –", "all-reduce.1 5 s < 1 % –"]


def test_kernels_without_times_have_what_bounds_them(exported: Callable[..., Exported]) -> None:
    kernels = rw.Kernels(["gemm", "norm"], [1e14, 1e12], [1e11, 1e12])
    drawn = opened(exported, kernels)
    drawn.get_by_role("tab", name="Kernels").click()
    assert lines(drawn) == [
        "Fix first Kernel AI Attainable Bound by Least time",
        "gemm 1000 FLOP/B 100 TFLOP/s compute 1 s",
        "norm 1 FLOP/B 1 TFLOP/s HBM 1 s",
    ]
    expect(drawn.locator("[data-rw=time-bar]")).to_have_count(0)
