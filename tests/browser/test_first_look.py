"""What the first look shows, at the widths of a desk, a laptop and a phone: rules that can be asked of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest
from playwright.sync_api import Locator, expect

import roofwidget as rw
from tests.browser.first_look import bert, copies, layers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

Box = dict[str, float]

STROKES = "[...document.querySelectorAll('.rw-roof')].map((one) => getComputedStyle(one).stroke)"
FILL = """(() => {
  const probe = document.querySelector(".rw-frame").appendChild(document.createElement("i"));
  probe.style.color = "var(--rw-focus)";
  return getComputedStyle(probe).color;
})()"""
SEEN = """(root) => {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const seen = [];
  while (texts.nextNode()) {
    if (!texts.currentNode.parentElement.closest(".rw-spoken")) seen.push(texts.currentNode.data);
  }
  return seen.join("\\n");
}"""
BOXES = """(root) => [...root.querySelectorAll("button, input, [role=tab], [data-rw=slider]")]
  .filter((one) => one.getClientRects().length)
  .map((one) => { const { x, y, width, height } = one.getBoundingClientRect();
    return [one.dataset.rw ?? one.getAttribute("aria-label") ?? one.textContent, x, y, width, height].join(" "); })"""


def box(one: Locator) -> Box:
    found = one.bounding_box()
    assert found is not None
    return {**cast("Box", found), "right": found["x"] + found["width"], "bottom": found["y"] + found["height"]}


def part(opened: Exported, name: str) -> Locator:
    return opened.drawn.root.locator(f"[data-rw='{name}']")


def is_inside(inner: Box, outer: Box) -> bool:
    return (
        inner["x"] >= outer["x"]
        and inner["y"] >= outer["y"]
        and inner["right"] <= outer["right"]
        and inner["bottom"] <= outer["bottom"]
    )


def without_halo(one: Box) -> Box:
    """Return the box of a text without the halo of the background's colour around its letters."""
    return {"x": one["x"] + 2, "y": one["y"] + 2, "right": one["right"] - 2, "bottom": one["bottom"] - 2}


def window(width: int, height: int) -> Box:
    return {"x": 0, "y": 0, "right": width, "bottom": height}


def boxes_of(these: Locator) -> list[Box]:
    return [box(one) for one in these.all()]


def chain() -> rw.Graph:
    """Return four operations on 2^28 numbers, one after the other."""
    graph = rw.Graph("chain")
    x = graph.input("x", (65536, 4096), "bf16")
    graph.output(graph.scale(graph.dropout(graph.gelu(graph.layernorm(x)))))
    return graph


@pytest.fixture
def look(exported: Callable[..., Exported]) -> Callable[..., Exported]:
    """Open a page of a widget in a window of this size."""

    def opened(widget: rw.RooflineWidget, width: int = 1280, height: int = 900, **more: Any) -> Exported:
        return exported(widget.to_html(), viewport={"width": width, "height": height}, **more)

    return opened


Look: TypeAlias = "Callable[..., Exported]"


@pytest.mark.parametrize(("width", "height", "rows"), [(1280, 900, 10), (1024, 768, 6)])
def test_verdict_plot_sliders_and_the_first_rows_are_in_sight_and_end_at_one_line(
    look: Look, width: int, height: int, rows: int
) -> None:
    opened = look(rw.roofline("h100-sxm", bert()), width, height)
    screen = window(width, height)
    parts = [part(opened, "verdict"), part(opened, "plot"), *part(opened, "slider").all()]
    assert len(parts) == 4
    assert all(is_inside(box(one), screen) for one in parts)
    seen = [one for one in boxes_of(part(opened, "row")) if is_inside(one, screen)]
    assert len(seen) >= rows
    chart, inspector = part(opened, "chart"), part(opened, "inspector")
    sliders = max(one["bottom"] for one in boxes_of(part(opened, "slider")))
    assert abs(max(box(chart)["bottom"], sliders) - box(inspector)["bottom"]) <= 1
    # The plot has no column of names at its right.
    assert abs(box(part(opened, "plot"))["right"] - box(chart)["right"]) <= 2


def test_on_a_phone_the_plot_has_the_width_and_the_page_does_not_scroll_sideways(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()), 480, 900)
    assert box(part(opened, "plot"))["width"] >= 0.85 * box(opened.drawn.root)["width"]
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("width", "most"), [(1280, 7), (480, 4)])
@pytest.mark.parametrize("profile", [bert, copies, layers])
def test_few_labels_stand_apart_within_the_plot(
    look: Look, profile: Callable[[], rw.Kernels], width: int, most: int
) -> None:
    opened = look(rw.roofline("h100-sxm", profile()), width)
    plot = box(part(opened, "plot"))
    labels = [without_halo(one) for one in boxes_of(part(opened, "label"))]
    # The numbers of the kernels to fix first are always drawn, also without room for the name.
    names = [one for one in part(opened, "label").all() if re.search(r"[a-z]", one.text_content() or "")]
    assert 0 < len(names) <= most
    assert all(is_inside(one, plot) for one in labels)
    apart = [(one, other) for at, one in enumerate(labels) for other in labels[:at]]
    assert all(
        one["right"] <= other["x"]
        or other["right"] <= one["x"]
        or one["bottom"] <= other["y"]
        or other["bottom"] <= one["y"]
        for one, other in apart
    )


def test_one_label_names_all_kernels_above_the_roof_and_one_the_four_slow_copies(look: Look) -> None:
    opened = look(rw.roofline(kernels=copies()))
    texts = [one.text_content() or "" for one in part(opened, "label").all()]
    assert [text for text in texts if "above the roof" in text] == [
        "copy-start ×6, copy-done ×2: above the roof, off the scale"
    ]
    assert [text for text in texts if "×4" in text] == ["1–4copy-done ×4"]


def test_the_links_after_the_kernels_above_the_roof_stand_apart(look: Look) -> None:
    profile = Path(__file__).parent.parent / "fixtures" / "xprof_tpu.roofline_model.json"
    opened = look(rw.roofline("v5p", str(profile)))
    links = opened.drawn.root.locator(".rw-above .rw-link")
    expect(links).to_have_text(["Show all levels", "Show it"])
    all_levels, them = (box(link) for link in links.all())
    assert them["y"] > all_levels["y"] or them["x"] - all_levels["right"] == pytest.approx(6, abs=0.5)


def test_the_headline_and_the_source_line_say_what_the_profile_is(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    expect(part(opened, "verdict").get_by_role("heading", level=2)).to_have_text("The GPU is idle 92 % of the time.")
    for words in ("bert-small.json.gz", "PyTorch", "16 kernels", "H100", "bytes are computed", "2 remarks"):
        expect(part(opened, "source")).to_contain_text(words)
    seen = opened.drawn.root.evaluate(SEEN)
    counts = {figure: seen.count(figure) for figure in ("92 %", "309 µs", "220 µs", "98.7 µs", "94.6 µs", "3.35 TB/s")}
    assert {figure: count for figure, count in counts.items() if not 1 <= count <= 2} == {}


def test_a_profile_opens_with_its_kernels_those_to_fix_first_at_the_top(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    expect(part(opened, "tab-kernels")).to_have_attribute("aria-selected", "true")
    expect(part(opened, "tab-chip")).to_have_attribute("aria-selected", "false")
    expect(part(opened, "inspector")).to_contain_text("Fix first · these 5 could save up to 220 µs")
    assert "addmm 512×512" in (part(opened, "row").first.text_content() or "")


def test_with_measured_kernels_roofs_are_ink_and_without_them_the_slider_has_the_chips_colour(look: Look) -> None:
    opened = look(rw.roofline(["h100-sxm", "b200"], bert()))
    ink, other = "rgb(27, 31, 36)", "rgb(91, 100, 112)"
    expect(opened.drawn.root.locator(".rw-roof")).to_have_count(2)
    assert set(opened.page.evaluate(STROKES)) == {ink, other}
    opened = look(rw.roofline(["v5p", "v6e"]))
    expect(opened.drawn.root.locator(".rw-roof")).to_have_count(2)
    strokes = opened.page.evaluate(STROKES)
    assert len({*strokes, ink, other}) == 4
    assert opened.page.evaluate(FILL) in strokes


def test_at_rest_ceilings_are_far_from_the_roof_and_nothing_invites_to_grab(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    flat = box(opened.drawn.root.locator(".rw-roof"))["y"]
    assert all(abs(one["y"] - flat) >= 12 for one in boxes_of(part(opened, "ceiling")))
    assert opened.drawn.root.locator(".rw-grip").count() == 0
    before = part(opened, "ceiling").count()
    opened.page.mouse.move(*opened.drawn.place(1000, 9.895e14))
    expect(part(opened, "ceiling")).not_to_have_count(before)


def test_the_strip_of_kernels_without_flops_is_aligned_with_the_plot(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    ticks = part(opened, "strip-tick")
    assert ticks.count() >= 1
    assert all((one.text_content() or "").endswith("B/s") for one in ticks.all())
    roof = opened.drawn.root.locator(".rw-roof[data-chip='h100-sxm']").get_attribute("d") or ""
    start = re.match(r"M[\d.]+[, ]([\d.]+)", roof)
    level = opened.drawn.root.locator(".rw-strip-roof").get_attribute("y1")
    assert start
    assert level
    assert abs(float(start[1]) - float(level)) <= 1


def test_nothing_moves_while_a_roof_is_dragged_and_when_a_chip_is_added(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    drawn = opened.drawn
    before = drawn.root.evaluate(BOXES)
    during: list[list[str]] = []
    drawn.drag("peak", 0.2, during=lambda: during.append(drawn.root.evaluate(BOXES)))
    moved = [one for one, other in zip(before, during[0], strict=False) if one != other]
    assert [one for one in moved if "roofwidget" in one] == moved
    add, chart = box(part(opened, "add-chip")), box(part(opened, "chart"))
    part(opened, "add-chip").click()
    opened.page.keyboard.type("b2")
    options = drawn.root.get_by_role("option")
    expect(options.first).to_contain_text("B200")
    for words in ("2024", "2.25 PFLOP/s", "7.7 TB/s"):
        expect(options.first).to_contain_text(words)
    assert box(part(opened, "chart")) == chart
    opened.page.keyboard.press("Enter")
    drawn.eventually(lambda: drawn.has_roof("b200"))
    assert box(part(opened, "add-chip")) == add


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1024, 768)])
def test_the_graph_is_beside_the_chart_and_shows_what_a_merge_would_bring(look: Look, width: int, height: int) -> None:
    opened = look(rw.roofline("h100-sxm", graph=chain()), width, height)
    screen = window(width, height)
    assert is_inside(box(part(opened, "plot")), screen)
    ops = boxes_of(part(opened, "op"))
    assert len(ops) == 4
    assert all(is_inside(one, screen) for one in ops)
    part(opened, "edge").first.hover()
    expect(part(opened, "edge-note")).to_have_text("Merge: 1.28 ms → 962 µs")
    expect(part(opened, "merge-preview")).to_be_visible()
    assert opened.drawn.root.get_by_role("button", name="Undo").count() == 1


def test_two_runs_lead_with_the_change_and_runs_without_common_kernels_say_so(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", layers(16), baseline=layers()))
    expect(part(opened, "verdict")).to_contain_text("3 % less time: 38.5 ms before, 37.4 ms now.")
    expect(part(opened, "tab-changes")).to_have_attribute("aria-selected", "true")
    expect(part(opened, "source")).to_contain_text("Before a.csv → Now b.csv")
    opened = look(rw.roofline("h100-sxm", bert(), baseline=layers()))
    expect(part(opened, "verdict")).to_contain_text("No kernel of the two runs has the same name.")


def test_selected_kernels_are_counted_with_their_time_and_what_they_could_save(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    part(opened, "inspector").get_by_role("button", name="Select", exact=True).click()
    expect(part(opened, "inspector")).to_contain_text("5 selected · 241 µs, 78 % of kernel time")
    expect(part(opened, "inspector")).to_contain_text("could save 220 µs")


def test_a_figure_is_saved_and_the_status_names_its_file(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    root = opened.drawn.root
    root.get_by_role("button", name=re.compile("^Save")).click()
    with opened.page.expect_download() as download:
        root.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    name = download.value.suggested_filename
    expect(part(opened, "status")).to_contain_text(f"Saved {name}")
