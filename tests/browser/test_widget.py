"""The widget in a real JupyterLab: what a person does with it, by pointer and by keyboard, and what Python learns."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, box_of, enter, shown
from tests.browser.lab import Server

GUIDE = "import roofwidget as rw\nw = rw.RooflineWidget()\nw"
# Keeps the kernel busy until a file is there.
BUSY = "import pathlib, time\nwhile not pathlib.Path('rested').exists(): time.sleep(0.05)"
MEASURED = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s"}, vendor="Acme")
other = rw.Chip("Plain", {"bf16": "50 TFLOP/s"}, {"HBM": "2 TB/s"}, vendor="Acme", generation=1)
w = rw.RooflineWidget([chip, other], [
    {"name": "attention", "category": "fusion", "flops": 4e12, "bytes": 2e11, "time": 0.5},
    {"name": "copy", "category": "copy", "flops": 0, "bytes": 1e11, "time": 0.2},
    {"name": "opaque", "flops": None, "bytes": None, "time": 0.3},
])
w"""


def test_dragging_the_bandwidth_slider_moves_the_ridge_and_reaches_python(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, GUIDE)
    assert drawn.label("ridge v7x-fp8") == "ridge 640.8"
    before = drawn.roof("v7x-fp8")
    drawn.drag("bandwidth", 0.2)
    assert drawn.roof("v7x-fp8") != before
    typed = drawn.box("bandwidth").input_value()
    drawn.eventually(lambda: book.python("w.bandwidth") > 10e12)
    bandwidth = book.python("w.bandwidth")
    assert book.python("rw.units.format_quantity(w.bandwidth, 'B/s', 4)") == typed
    ridge = book.python(f"rw.units.format_intensity({4614e12 / bandwidth!r}, 4)")
    assert drawn.label("ridge v7x-fp8") == f"ridge {ridge.removesuffix(' FLOP/B')}"
    assert book.python("dict(w.what_if['v7x-fp8']['bandwidth'])") == {"HBM": bandwidth}
    expect(drawn.locator(".rw-ghost[data-chip='v7x-fp8']")).to_have_count(1)
    drawn.reset("bandwidth").click()
    assert drawn.roof("v7x-fp8") == before
    drawn.becomes("w.bandwidth", 7.2e12)


def test_a_peak_set_in_python_moves_the_roof(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, GUIDE)
    before = drawn.roof("v7x-fp8")
    book.python("setattr(w, 'peak_flops', '2 PFLOP/s')")
    drawn.eventually(lambda: drawn.roof("v7x-fp8") != before)
    assert drawn.box("peak").input_value() == "2 PFLOP/s"
    assert drawn.label("ridge v7x-fp8") == "ridge 277.8"


def test_a_chip_is_toggled_off_and_on(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, GUIDE)
    drawn.toggle("v6e").click()
    assert not drawn.has_roof("v6e")
    drawn.becomes("list(w.shown)", ["v7x-fp8", "v7x-bf16", "v5p"])
    drawn.toggle("v6e").press("Enter")
    assert drawn.has_roof("v6e")
    drawn.eventually(lambda: "v6e" in book.python("list(w.shown)"))
    drawn.toggle("v7x (fp8)").click()
    drawn.becomes("w.focus_chip", "v7x-bf16")


def test_hovering_a_point_tells_its_numbers_and_python_its_row(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MEASURED)
    drawn.mouse.move(*drawn.place(20.0, 8e12))
    assert drawn.tooltip() == (
        "attention | time | 500 ms · 50 % of the run | achieved | 8 TFLOP/s of 20 | bound by | HBM, 20 FLOP/B | "
        "of its roof | 40 %"
    )
    assert drawn.sentence().startswith(
        "attention on Example · min(100 TFLOP/s, 20 FLOP/B × 1 TB/s) = 20 TFLOP/s attainable · memory-bound (HBM) · "
        "8 % of peak · 40 % of roof · 2.5× possible"
    )
    assert drawn.label("gap 0") == "2.5× below its roof"
    drawn.becomes("w.hovered", 0)
    drawn.mouse.click(*drawn.place(20.0, 8e12))
    drawn.becomes("list(w.selected_kernels.names)", ["attention"])
    # Of a selected kernel all is told.
    drawn.eventually(lambda: "fusion" in drawn.tooltip())
    tooltip = drawn.tooltip()
    for words in ("attention", "20 FLOP/B", "8 TFLOP/s", "20 TFLOP/s", "40 %", "8 %", "HBM", "400 GB/s", "500 ms"):
        assert words in tooltip, words
    assert "50 % of the run" in tooltip
    drawn.mouse.move(5, 5)
    drawn.eventually(lambda: book.python("w.hovered") is None)
    book.python("setattr(w, 'hovered', 1)")
    assert "copy" in drawn.tooltip()


def test_the_tooltip_stays_inside_the_cells_output(notebook: OpenNotebook) -> None:
    cell = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": 1e14}, {"HBM": 1e12, "L2": 1e13, "L1": 1e14, "SMEM": 1e14})
bytes = {"HBM": 1e10, "L2": 2e10, "L1": 4e10, "SMEM": 4e10}
w = rw.RooflineWidget([chip], [{"name": "high " * 9, "flops": 1e13, "bytes": bytes, "time": 0.11, "category": "c"},
                               {"name": "low " * 9, "flops": 1e10, "bytes": bytes, "time": 9.0, "category": "c"}])
w"""
    book, drawn = shown(notebook, cell, width=480)
    for width in (480, 1000):
        book.page.set_viewport_size({"width": width, "height": 900})
        drawn.eventually(lambda width=width: (drawn.locator(".rw-narrow").count() == 1) == (width < 640))  # type: ignore[misc]
        output = box_of(book.page.locator(".jp-OutputArea-output").first)
        for name, ai, rate in (("high", 1000.0, 1e13 / 0.11), ("low", 1.0, 1e10 / 9)):
            drawn.mouse.move(*drawn.place(ai, rate))
            assert name in drawn.tooltip()
            tooltip = box_of(drawn.get_by_role("tooltip"))
            assert tooltip["y"] >= output["y"]
            assert tooltip["y"] + tooltip["height"] <= output["y"] + output["height"] + 1
            assert tooltip["x"] >= output["x"]
            assert tooltip["x"] + tooltip["width"] <= output["x"] + output["width"] + 1


def test_a_selection_is_described_on_the_chip_where_it_was_made(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, GUIDE)
    drawn.mouse.click(*drawn.place(200.0, 320e12))
    drawn.mouse.move(5, 5)
    drawn.becomes("list(w.selected)", [2])
    assert drawn.sentence().startswith("MatMul 600x600 on v6e · min(918 TFLOP/s, 200 FLOP/B × 1.6 TB/s) = 320 TFLOP/s")
    drawn.mouse.click(*drawn.place(2.0, 100e12))
    drawn.becomes("list(w.selected)", [])


def test_an_unmeasured_kernel_stands_on_every_roof(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, GUIDE)
    for rate, chip, bound in ((297.4e12, "v5p", "HBM"), (172.4e12, "v6e", "HBM")):
        drawn.mouse.move(*drawn.place(107.79, rate))
        tooltip = drawn.tooltip()
        assert "Attention QK^T" in tooltip
        assert re.search(rf"at most\W+{rw.units.format_quantity(rate, 'FLOP/s')}", tooltip)
        assert re.search(rf"bound by\W+{bound}", tooltip)
        assert drawn.sentence().startswith(f"Attention QK^T on {chip} · ")


def test_kernels_without_flops_stand_in_the_strip_and_unknown_ones_are_counted(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, MEASURED)
    expect(drawn.locator(".rw-strip")).to_contain_text("0 FLOP")
    kernels = drawn.get_by_role("tabpanel", name="Kernels")
    expect(kernels).to_contain_text("1 kernel has no FLOPs or bytes (30 % of kernel time).")
    drawn.chart.focus()
    drawn.press("ArrowRight")
    assert "copy" in drawn.tooltip()
    assert "achieved | 500 GB/s of 1 TB/s" in drawn.tooltip()
    assert "of its roof | 50 %" in drawn.tooltip()


def test_the_roof_follows_the_hand_while_the_kernel_is_busy(notebook: OpenNotebook, server: Server) -> None:
    book, drawn = shown(notebook, GUIDE, BUSY)
    before = drawn.roof("v7x-fp8")
    book.start(1)
    seen: list[str] = []
    drawn.drag("bandwidth", 0.25, steps=60, during=lambda: seen.append(drawn.roof("v7x-fp8")))
    assert seen[0] != before
    typed = drawn.box("bandwidth").input_value()
    (server.root / "rested").touch()
    book.wait(1)
    drawn.becomes("rw.units.format_quantity(w.bandwidth, 'B/s', 4)", typed)
    time.sleep(0.5)
    assert drawn.box("bandwidth").input_value() == typed


def test_nothing_is_asked_of_any_other_machine(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, GUIDE)
    drawn.drag("peak", 0.1)
    drawn.toggle("v5p").click()
    drawn.mouse.move(*drawn.place(200.0, 320e12))
    drawn.tooltip()
    assert book.requests
    assert book.external_requests == []


def test_every_control_works_by_keyboard_and_keeps_the_notebooks_keys_away(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MEASURED)
    cells = drawn.page.locator(".jp-Notebook .jp-Cell").count()
    slider = drawn.slider("bandwidth")
    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "PageUp"):
        drawn.press(key)
    expect(slider).to_have_attribute("aria-valuetext", "1.318 terabytes per second")
    drawn.eventually(lambda: abs(book.python("w.bandwidth") / 10**12.12 - 1) < 1e-12)
    for control in (slider, drawn.toggle("Plain"), drawn.chart, drawn.reset("bandwidth")):
        control.focus()
        for key in ("a", "x", "m", "d", "d"):
            drawn.press(key)
    assert drawn.page.locator(".jp-Notebook .jp-Cell").count() == cells
    drawn.reset("bandwidth").press("Enter")
    drawn.becomes("w.bandwidth", 1e12)
    drawn.press("d")
    drawn.press("d")
    assert drawn.page.locator(".jp-Notebook .jp-Cell").count() == cells
    drawn.locator("[data-tool=precision]").focus()
    for key in ("Enter", "ArrowDown", "Enter"):
        drawn.press(key)
    drawn.becomes("w.precision", "bf16")


def test_a_number_can_be_typed_and_a_bad_one_is_explained(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MEASURED)
    box, fault = drawn.box("peak"), drawn.locator("[data-rw=status] .rw-fault")
    for text, expected in (("2 PFLOP/s", 2e15), ("1.2e15", 1.2e15), ("×1.5", 1.8e15)):
        enter(box, text)
        drawn.eventually(lambda expected=expected: abs(book.python("w.peak_flops") / expected - 1) < 1e-12)  # type: ignore[misc]
    for text in ("fast", "-3 TFLOP/s", "0", "3 TB/s", "500"):
        enter(box, text)
        expect(fault).to_contain_text("for example")
        expect(box).to_have_attribute("aria-invalid", "true")
    box.press("Escape")
    expect(fault).to_have_count(0)
    assert box.input_value() == "1.8 PFLOP/s"
    assert abs(book.python("w.peak_flops") / 1.8e15 - 1) < 1e-12


def test_escape_takes_a_drag_back(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MEASURED)
    book.python("globals().update(heard=[])")
    book.python("w.observe(lambda change: heard.append(len(change.new)), 'what_if')")

    def take_back_and_go_on() -> None:
        drawn.press("Escape")
        box = box_of(drawn.slider("peak"))
        drawn.mouse.move(box["x"] + 40, box["y"] + 12)

    drawn.drag("peak", 0.2, during=take_back_and_go_on)
    assert drawn.box("peak").input_value() == "100 TFLOP/s"
    drawn.becomes("(heard[:1], w.peak_flops, len(w.what_if))", [[1], 100e12, 0])
    # Nothing of the drag is told after that.
    time.sleep(0.3)
    assert book.python("(w.peak_flops, len(w.what_if))") == [100e12, 0]


def test_a_dragged_slider_snaps_to_the_shown_chips_values(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, MEASURED)
    # The track runs over three decades, from 10 GB/s to 100 TB/s is not: its ends are a decade outside the marks.
    low, high = (float(drawn.slider("bandwidth").get_attribute(name) or "nan") for name in ("min", "max"))
    drawn.drag("bandwidth", (0.30103 + 0.02) / (high - low))
    drawn.becomes("w.bandwidth", 2e12)


# Takes hold of a slider and moves its thumb; the answer is whether the thumb stays there in each of the next frames.
PLACES = """async (slider) => {
  slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
  const place = slider.valueAsNumber + 0.25;
  slider.value = String(place);
  slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
  const stays = [];
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise(requestAnimationFrame);
    stays.push(Math.abs(slider.valueAsNumber - place) < 0.002);
  }
  slider.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  return stays;
}"""


def test_the_thumb_stays_under_the_pointer_from_the_first_frame_of_a_drag(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, MEASURED)
    assert drawn.slider("bandwidth").evaluate(PLACES) == [True, True, True]


def test_a_chip_without_the_precision_keeps_its_toggle_with_the_reason(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MEASURED)
    drawn.choose("precision", "fp8")
    assert not drawn.has_roof("plain")
    pill = drawn.locator(".rw-lacking")
    expect(pill).to_contain_text("Plain no fp8")
    expect(pill.locator(".rw-name")).to_have_attribute("title", "Plain has no peak for fp8")
    drawn.becomes("w.precision", "fp8")
    assert book.python("list(w.shown)") == ["example", "plain"]


def test_a_name_that_looks_like_markup_is_shown_as_its_characters(notebook: OpenNotebook) -> None:
    name = "<img src=x onerror=window.PWNED=1>"
    cell = f"""import roofwidget as rw
chip = rw.Chip({name!r} + "chip", {{"bf16": "100 TFLOP/s"}}, {{"HBM": "1 TB/s"}}, vendor={name!r})
w = rw.RooflineWidget([chip], [{{"name": {name!r}, "category": {name!r}, "flops": 4e12, "bytes": 2e11, "time": 0.5}}])
w"""
    book, drawn = shown(notebook, cell, f"rw.roofline(chip, title={name!r})")
    drawn.mouse.move(*drawn.place(20.0, 8e12))
    assert name in drawn.tooltip()
    assert name in drawn.sentence()
    book.run(1)
    assert Drawn(book, 1).root.locator(".rw-title").text_content() == name
    assert book.page.locator(".roofwidget img").count() == 0
    assert book.page.evaluate("window.PWNED === undefined")


def test_two_views_of_one_model_and_two_themes(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE, "w"])
    book.run(0)
    book.run(1)
    first, second = Drawn(book, 0), Drawn(book, 1)
    colour = first.locator("text[data-label='roof v7x-fp8']").get_attribute("fill")
    before = first.roof("v7x-fp8")
    first.drag("bandwidth", 0.2)
    assert first.roof("v7x-fp8") != before
    second.eventually(lambda: second.roof("v7x-fp8") == first.roof("v7x-fp8"))
    book.theme("dark")
    expect(first.locator("text[data-label='roof v7x-fp8']")).not_to_have_attribute("fill", colour or "")


def test_a_view_that_is_cleared_away_leaves_nothing_behind(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, GUIDE)
    element = drawn.locator("xpath=..").element_handle()
    book.page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    drawn.eventually(lambda: bool(element.evaluate("(element) => element.childElementCount === 0")))


def test_in_a_narrow_cell_the_chips_scroll_beside_the_button_that_adds_one(notebook: OpenNotebook) -> None:
    cell = 'import roofwidget as rw\nw = rw.roofline(["h100-sxm", "b200", "mi300x", "mi325x", "v5p", "v6e"])\nw'
    _, drawn = shown(notebook, cell, width=480)
    right = drawn.root.evaluate("(root) => root.getBoundingClientRect().right")
    pills = drawn.locator(".rw-pill")
    expect(pills).to_have_count(6)
    bar = drawn.get_by_role("toolbar")
    before = drawn.locator("[data-rw=add-chip]").bounding_box()
    assert bar.evaluate("(bar) => bar.scrollWidth <= bar.clientWidth")
    pills.last.locator(".rw-name").focus()
    assert pills.last.evaluate("(pill) => pill.getBoundingClientRect().right") <= right
    assert drawn.locator("[data-rw=add-chip]").bounding_box() == before


BESIDE = """import ipywidgets
import roofwidget as rw
a, b = rw.roofline("v5p", [("matmul", 4.3e9, 1.2e7, 1e-3)]), rw.roofline("v6e")
"""


@pytest.mark.parametrize(
    ("cell", "shares"),
    [
        ("ipywidgets.HBox([a, b])", (0.5, 0.5)),
        ("ipywidgets.GridBox([a, b], layout={'grid_template_columns': '1fr 3fr'})", (0.25, 0.75)),
        ("ipywidgets.VBox([a, b])", (1.0, 1.0)),
        ("ipywidgets.Tab([a])", (1.0,)),
        ("ipywidgets.Accordion([a], selected_index=0)", (1.0,)),
    ],
)
def test_in_a_box_each_widget_has_its_share_of_the_width(
    notebook: OpenNotebook, cell: str, shares: tuple[float, ...]
) -> None:
    book = notebook([BESIDE + cell])
    book.run(0)
    charts = book.page.locator(".rw-chart")
    expect(charts).to_have_count(len(shares))
    whole = book.page.locator(".jp-OutputArea-output .jupyter-widgets").first.evaluate("(box) => box.clientWidth")
    for index, share in enumerate(shares):
        width = book.page.locator(".roofwidget").nth(index).evaluate("(root) => root.getBoundingClientRect().width")
        # A tab has 16 px around it, and widgets of a row have as much between them.
        assert share * whole - 40 <= width <= share * whole
        assert charts.nth(index).evaluate("(chart) => chart.getBoundingClientRect().width") <= width


def test_a_narrow_cell_puts_the_sliders_under_the_chart(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, GUIDE, width=480)
    chart = drawn.chart.bounding_box()
    sliders = [drawn.slider(quantity).bounding_box() for quantity in ("peak", "bandwidth")]
    assert chart is not None
    assert all(box is not None and box["y"] >= chart["y"] + chart["height"] for box in sliders)
    assert chart["x"] + chart["width"] <= 480
