"""Exported pages: everything is live without Python, from a file, and no page asks the network for anything."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.drawn import box_of, enter
from tests.browser.test_access import AXE
from tests.places import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

CHIPS = [
    rw.Chip("One", {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s", "L2": "10 TB/s"}),
    rw.Chip("Two", {"bf16": "400 TFLOP/s"}, {"HBM": "2 TB/s"}),
]
KERNELS = [
    rw.Kernel("matmul", 4e12, 1e10, time=0.08, category="gemm"),
    rw.Kernel("layer norm", 5e9, 1.6e9, time=3e-3, category="norm"),
    rw.Kernel("copy", 0, 1e9, time=2e-3),
]
HOSTILE = "</script><script>window.PWNED=1</script><svg onload=window.PWNED=1>\u202e\x07 {{7*7}}"


def test_sliders_toggles_undo_and_typed_values_work_on_a_page(exported: Callable[..., Exported]) -> None:
    drawn = exported(rw.roofline(CHIPS, KERNELS, title="Two chips").to_html()).drawn
    assert drawn.page.title() == "Two chips"
    before = drawn.roof("one")
    drawn.drag("bandwidth", 0.2)
    assert drawn.roof("one") != before
    drawn.tool("undo").click()
    drawn.eventually(lambda: drawn.roof("one") == before)
    enter(drawn.box("peak"), "200 TFLOP/s")
    drawn.eventually(lambda: drawn.label("ridge one") == "ridge 200")
    drawn.toggle("Two").click()
    drawn.eventually(lambda: not drawn.has_roof("two"))


def test_the_headline_leads_the_page_and_says_a_what_if_once_after_the_last_change(
    exported: Callable[..., Exported],
) -> None:
    idle = rw.Kernel("idle", None, None, time=0.915, category="idle")
    drawn = exported(rw.roofline(CHIPS, [*KERNELS, idle]).to_html()).drawn
    verdict = drawn.locator("[data-rw=verdict]")
    headline = verdict.get_by_role("heading", level=2)
    expect(headline).to_have_text("The chip is idle 92 % of the time.")
    expect(headline).to_have_css("font-size", "20px")
    expect(headline).to_have_css("line-height", "28px")
    expect(headline).to_have_css("font-weight", "600")
    # 40, 1.6 and 1 ms at the roofs.
    run = "Kernels run 85 ms of 1 s, in 3 launches of 28.3 ms."
    saves = "The {} to fix first could save up to {}; at every roof {} would remain."
    expect(verdict.locator("p")).to_have_text(f"{run} {saves.format(3, '42.4 ms', '42.6 ms')}")
    # At this width the line of a what-if needs a second line, which is reserved.
    drawn.page.set_viewport_size({"width": 700, "height": 900})
    expect(verdict.locator("p")).to_have_css("height", "40px")
    drawn.page.set_viewport_size({"width": 1280, "height": 900})
    below, above = verdict.bounding_box(), drawn.locator(".rw-chart").bounding_box()
    assert below
    assert above
    assert below["y"] + below["height"] <= above["y"]
    spoken = drawn.locator("[data-rw=verdict] + [role=status]")
    expect(spoken).to_have_text("")
    spoken.evaluate("""(one) => {
      window.heard = [];
      new MutationObserver(() => window.heard.push(one.textContent)).observe(one, {childList: true, subtree: true,
        characterData: true});
    }""")
    for rate in ("120 TFLOP/s", "160 TFLOP/s", "200 TFLOP/s"):
        enter(drawn.box("peak"), rate)
    said = f"With your what-if: k{run[1:]} {saves.format(3, '62.4 ms', '22.6 ms')}"
    expect(verdict.locator("p")).to_have_text(said)
    expect(spoken).to_have_text(f"The chip is idle 92 % of the time. {said}")
    assert drawn.page.evaluate("window.heard") == [f"The chip is idle 92 % of the time. {said}"]


def test_a_narrow_page_has_a_smaller_headline_and_an_alarm_has_a_bar(exported: Callable[..., Exported]) -> None:
    above = [rw.Kernel("a", 4e12, 1e10, time=0.01)]
    html = rw.roofline(CHIPS, above).to_html()
    verdict = exported(html, viewport={"width": 480, "height": 900}).drawn.locator("[data-rw=verdict]")
    headline = verdict.get_by_role("heading", level=2)
    expect(headline).to_have_text("Most kernels are above the roof: the chip or the counts are wrong.")
    expect(headline).to_have_css("font-size", "18px")
    expect(headline).to_have_css("line-height", "24px")
    expect(verdict).to_have_css("border-left-width", "3px")


def test_where_no_kernel_is_drawn_the_table_with_the_times_is_open(exported: Callable[..., Exported]) -> None:
    unknown = [rw.Kernel("gemm", None, None, time=2), rw.Kernel("copy", None, None, time=1)]
    root = exported(rw.roofline(CHIPS, unknown).to_html()).drawn.root
    expect(root.get_by_role("grid").get_by_role("row").nth(1)).to_contain_text("gemm")
    root = exported(rw.roofline(CHIPS, KERNELS).to_html()).drawn.root
    expect(root.get_by_role("tab", name="Kernels 3")).to_have_attribute("aria-selected", "true")


def test_chips_alone_have_no_headline_and_an_open_question_hides_it(exported: Callable[..., Exported]) -> None:
    root = exported(rw.roofline(CHIPS).to_html()).drawn.root
    expect(root.locator("[data-rw=verdict]")).to_have_count(0)
    widget = rw.roofline(CHIPS, KERNELS)
    rw.Story(widget, [rw.Question(key="ridge", prompt="Where is the ridge point?", answer=100, unit="FLOP/B")])
    page = exported(widget.to_html()).page
    expect(page.locator("[data-rw=verdict]")).to_have_count(0)


def test_kernels_are_judged_by_the_achievable_peaks_and_again_by_the_printed_ones(
    exported: Callable[..., Exported],
) -> None:
    drawn = exported(rw.roofline([CHIPS[0].with_measured(peak_flops={"bf16": "80 TFLOP/s"})], KERNELS).to_html()).drawn
    drawn.open_tab("chip")
    chip = drawn.get_by_role("tabpanel", name="Chip")
    peaks = chip.locator("label", has=drawn.page.get_by_text("Peaks", exact=True)).get_by_role("combobox")
    expect(peaks).to_have_value("printed")
    peaks.select_option("achievable")
    drawn.eventually(lambda: drawn.label("ridge one") == "ridge 80")
    enter(drawn.box("peak"), "90 TFLOP/s")
    expect(peaks).to_have_value("changed")
    peaks.select_option("printed")
    drawn.eventually(lambda: drawn.label("ridge one") == "ridge 100")
    expect(peaks).to_have_value("printed")


def test_the_inspector_is_below_a_chart_that_is_not_wide(exported: Callable[..., Exported]) -> None:
    root = exported(rw.roofline(CHIPS, KERNELS).to_html(), viewport={"width": 900, "height": 900}).drawn.root
    chart, inspector = (root.locator(f"[data-rw={name}]").bounding_box() for name in ("chart", "inspector"))
    assert chart
    assert inspector
    assert inspector["y"] > chart["y"] + chart["height"]
    assert (inspector["x"], inspector["width"]) == (chart["x"], chart["width"])


def test_a_page_without_measured_rates_has_no_choice_of_peaks(exported: Callable[..., Exported]) -> None:
    drawn = exported(rw.roofline(CHIPS, KERNELS).to_html()).drawn
    expect(drawn.box("peak")).to_be_visible()
    expect(drawn.root.get_by_text("Peaks", exact=True)).to_have_count(0)


def test_a_page_adds_chips_of_the_catalogue_and_opens_no_file(exported: Callable[..., Exported]) -> None:
    drawn = exported(rw.roofline(CHIPS[:1], KERNELS).to_html()).drawn
    expect(drawn.button("Open", exact=True)).to_have_count(0)
    drawn.button("Add a chip").click()
    drawn.get_by_role("combobox", name="Search chips").fill("h100 sxm")
    drawn.locator("[role=option][data-chip='h100-sxm']").click()
    drawn.eventually(lambda: drawn.has_roof("h100-sxm"))
    # A file that is dropped is the browser's own affair.
    drawn.locator(".rw-frame").evaluate("""(frame) => {
      const files = new DataTransfer();
      files.items.add(new File(["name"], "run.csv"));
      frame.dispatchEvent(new DragEvent("dragenter", { dataTransfer: files, bubbles: true }));
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    }""")
    expect(drawn.locator(".rw-drop")).to_have_count(0)


def test_the_roof_is_grabbed_and_a_kernel_hovered_on_a_page(exported: Callable[..., Exported]) -> None:
    drawn = exported(rw.roofline(CHIPS[:1], KERNELS).to_html()).drawn
    drawn.mouse.move(*drawn.place(400, 5e13))
    assert "matmul" in drawn.tooltip()
    before = drawn.label("ridge one")
    x, y = drawn.place(600, 1e14)
    drawn.pull((x, y), (x, y - 40))
    drawn.eventually(lambda: drawn.label("ridge one") != before)


def test_filters_table_and_snapshots_work_on_a_page(exported: Callable[..., Exported]) -> None:
    kernels = [rw.Kernel(f"kernel {row}", 4e12, 1e10 * (row + 1), time=0.08 * (row + 1)) for row in range(12)]
    drawn = exported(rw.roofline(CHIPS[:1], kernels).to_html()).drawn
    drawn.get_by_role("searchbox").fill("kernel 11")
    expect(drawn.root).to_contain_text("1 of 12 kernels")
    drawn.tool("freeze").click()
    drawn.open_tab("snapshots")
    expect(drawn.locator("[data-rw=inspector]").get_by_role("textbox", name="Name of snapshot 1")).to_have_value(
        "snapshot 1"
    )


def test_operations_are_merged_on_a_page(exported: Callable[..., Exported]) -> None:
    chain = rw.chain([("LayerNorm", 10), ("GELU", 8), ("Add", 1)], elements=1_000_000)
    drawn = exported(rw.roofline(CHIPS[:1], graph=chain).to_html()).drawn
    drawn.button(re.compile("^Fuse all 3 for")).click()
    expect(drawn.locator("[data-label^='kernel']")).to_have_count(1)


def test_a_long_name_of_a_chip_stays_in_the_fusion_panel(exported: Callable[..., Exported]) -> None:
    chip = CHIPS[0].replace(name="Two of the chips that nobody has called by a shorter name")
    chain = rw.chain([("GELU", 8), ("Add", 1)], elements=1_000_000)
    fusion = exported(rw.roofline([chip], graph=chain).to_html()).drawn.locator("[data-rw=inspector]")
    panel, best = box_of(fusion), box_of(fusion.get_by_role("button", name=re.compile("^Fuse")))
    assert best["x"] + best["width"] <= panel["x"] + panel["width"]


def test_hostile_names_stay_text_on_a_page(exported: Callable[..., Exported]) -> None:
    chip = rw.Chip(HOSTILE, {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
    widget = rw.roofline([chip], [rw.Kernel(HOSTILE, 4e12, 1e10, time=0.08, category=HOSTILE)], title=HOSTILE)
    opened = exported(widget.to_html())
    assert (opened.page.locator("h1").text_content() or "").startswith("</script><script>window.PWNED=1</script>")
    drawn = opened.drawn
    assert "</script>" in drawn.sentence()
    # The figures after the name are not reversed.
    drawn.chart.press("ArrowRight")
    drawn.eventually(lambda: "50 % of peak · 50 % of roof" in drawn.sentence())
    assert "\u202e" not in drawn.sentence()
    # No name is too long for a phone.
    opened.page.set_viewport_size({"width": 480, "height": 800})
    expect(opened.page.locator(".rw-narrow")).to_have_count(1)
    drawn.eventually(lambda: opened.page.evaluate("document.documentElement.scrollWidth") <= 480)


def test_a_page_follows_the_dark_theme_and_narrow_screens(exported: Callable[..., Exported]) -> None:
    opened = exported(rw.roofline(CHIPS, KERNELS).to_html(), color_scheme="dark")
    expect(opened.page.locator(".rw-dark")).to_have_count(1)
    opened.page.set_viewport_size({"width": 480, "height": 800})
    expect(opened.page.locator(".rw-narrow")).to_have_count(1)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 480


def test_a_page_works_inside_another_pages_frame(exported: Callable[..., Exported]) -> None:
    html = rw.roofline(CHIPS, KERNELS).to_html()
    opened = exported(f'<iframe srcdoc="{escape(html)}" width="1200" height="800"></iframe>')
    expect(opened.page.frame_locator("iframe").locator(".rw-chart")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_page(exported: Callable[..., Exported], scheme: str) -> None:
    html = rw.roofline(CHIPS, KERNELS, title="Two chips").to_html()
    opened = exported(html, bypass_csp=True, color_scheme=scheme)
    expect(opened.drawn.locator(".rw-chart")).to_be_visible()
    expect(opened.drawn.tool("undo")).to_have_accessible_name("Undo")
    opened.page.evaluate(text_of(AXE))
    found = opened.page.evaluate("async () => (await axe.run(document)).violations.map(({ id }) => id)")
    assert found == []
