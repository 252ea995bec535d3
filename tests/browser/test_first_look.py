"""What the first look shows, at the widths of a desk, a laptop and a phone: rules that can be asked of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest
from playwright.sync_api import Locator, expect

import roofwidget as rw
from tests.browser.drawn import box_of
from tests.browser.first_look import bert, chain, copies, layers
from tests.browser.test_access import AXE
from tests.places import FIXTURES, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
  const isSeen = (one) =>
    one.checkVisibility({ visibilityProperty: true }) && getComputedStyle(one).clipPath === "none";
  const seen = [...root.querySelectorAll("input:not([type=range])")].filter(isSeen).map(({ value }) => value);
  while (texts.nextNode()) {
    if (isSeen(texts.currentNode.parentElement)) seen.push(texts.currentNode.data);
  }
  return seen.join("\\n").replaceAll("\\u00a0", " ");
}"""
BOXES = """(root) => [...root.querySelectorAll("button, input, select, [role=tab], [data-rw=slider]")]
  .filter((one) => one.getClientRects().length)
  .map((one) => { const { x, y, width, height } = one.getBoundingClientRect();
    return [one.dataset.rw ?? one.getAttribute("aria-label") ?? one.tagName, x, y, width, height].join(" "); })"""
# The texts of the chart with a contrast below 4.5, and the roofs with one below 3, on any of these grounds.
FAINT = """(root, grounds) => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const least = (colour) => Math.min(...grounds.map((ground) => contrast(colour, ground)));
  const chart = root.querySelector("[data-rw=chart]");
  const texts = [...chart.querySelectorAll("text")].filter((one) => !one.closest("[data-badge]"));
  const roofs = [...chart.querySelectorAll("path[data-chip], [data-rw=ceiling]")];
  return {
    drawn: [texts.length, roofs.length],
    faint: [
      ...texts.filter((one) => least(getComputedStyle(one).fill) < 4.5).map(({ textContent }) => textContent),
      ...roofs.filter((one) => least(getComputedStyle(one).stroke) < 3).map(({ outerHTML }) => outerHTML),
    ],
  };
}"""


def box(one: Locator) -> Box:
    found = box_of(one)
    return {**cast("Box", found), "right": found["x"] + found["width"], "bottom": found["y"] + found["height"]}


def part(opened: Exported, name: str) -> Locator:
    return opened.drawn.locator(f"[data-rw='{name}']")


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


@pytest.fixture
def look(exported: Callable[..., Exported]) -> Callable[..., Exported]:
    """Open a page of a widget in a window of this size."""

    def opened(widget: rw.RooflineWidget, width: int = 1280, height: int = 900, **more: Any) -> Exported:
        return exported(widget.to_html(), viewport={"width": width, "height": height}, **more)

    return opened


# What axe finds on the page, by the rules for whole pages, too. It takes the background of a dark page for white.
FAULTS = """async (scheme) => {
  const { violations, passes } = await axe.run({ rules: { 'color-contrast': { enabled: scheme === 'light' } } });
  const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  return { found, passed: passes.map(({ id }) => id) };
}"""
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
    assert box(part(opened, "plot"))["width"] >= 0.93 * box(opened.drawn.root)["width"]
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_the_source_line_stays_on_the_page_and_keeps_its_buttons(look: Look) -> None:
    def run(name: str, warnings: Sequence[str] = ()) -> rw.Kernels:
        source = f"traces/step_of_a_server_with_a_long_name_{name}.json.gz"
        return rw.Kernels(["matmul"], [4e12], [1e10], time=[2e-2], source=source, warnings=warnings)

    one, two = rw.roofline("h100-sxm", run("after", ["by shapes"])), rw.roofline("h100-sxm", run("after"))
    two.baseline = run("before")
    for widget, count in ((one, 3), (two, 1)):
        line = part(look(widget, 480, 900), "source")
        parts = boxes_of(line.locator("> :not(.rw-remark)"))
        assert len(parts) == count
        assert all(is_inside(each, box(line)) and each["right"] - each["x"] > 40 for each in parts)


def test_no_share_of_a_roof_is_cut(look: Look) -> None:
    opened = look(
        rw.roofline("h100-sxm", [("matmul", 98.95e12, 1e9, 1), ("tiny", 0, 33.5e6, 1), ("small", 0, 67e9, 1)])
    )
    cells = opened.drawn.locator("[role=gridcell][data-column=utilization]")
    assert sorted(text.replace("\u00a0", " ") for text in cells.all_text_contents()) == ["10 %", "2 %", "< 1 %"]
    assert cells.evaluate_all("(cells) => cells.every((cell) => cell.scrollWidth <= cell.clientWidth)")


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
    # A name is cut in its middle.
    texts = [name.text_content() or "" for name in names]
    assert [text for text in texts if re.match(r"\d*…", text) or text.endswith("…")] == []
    # Without a number, a kernel is named from 1 % of the kernel time on.
    kernels = profile()
    busy = sum(time for time, category in zip(kernels.time, kernels.category, strict=True) if category != "idle")
    own = {name: time / busy for name, time in zip(kernels.names, kernels.time, strict=True)}
    plain = [text for text in texts if not re.match(r"\d", text) and "above the roof" not in text]
    shares = [own[text] for text in plain if text in own]
    assert all(share >= 0.01 for share in shares)
    if profile is bert and width == 1280:
        assert plain == ["addmm 512×2048", "add"]
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
    profile = FIXTURES / "xprof_tpu.roofline_model.json"
    opened = look(rw.roofline("v5p", str(profile)))
    links = opened.drawn.locator(".rw-above .rw-link")
    expect(links).to_have_text(["Show all levels", "Show it"])
    all_levels, them = (box(link) for link in links.all())
    assert them["y"] > all_levels["y"] or them["x"] - all_levels["right"] == pytest.approx(8, abs=0.5)


def test_the_headline_and_the_source_line_say_what_the_profile_is(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    expect(part(opened, "verdict").get_by_role("heading", level=2)).to_have_text("The GPU is idle 92 % of the time.")
    for words in ("bert-small.json.gz", "PyTorch", "16 kernels", "H100", "bytes are computed", "2 remarks"):
        expect(part(opened, "source")).to_contain_text(words)
    seen = opened.drawn.root.evaluate(SEEN)
    figures = ("92 %", "309 µs", "220 µs", "98.7 µs", "94.6 µs", "989.5 TFLOP/s", "3.35 TB/s")
    counts = {figure: seen.count(figure) for figure in figures}
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
    expect(opened.drawn.locator(".rw-roof")).to_have_count(2)
    assert set(opened.page.evaluate(STROKES)) == {ink, other}
    opened = look(rw.roofline(["v5p", "v6e"]))
    expect(opened.drawn.locator(".rw-roof")).to_have_count(2)
    strokes = opened.page.evaluate(STROKES)
    assert len({*strokes, ink, other}) == 4
    # The roof in focus is drawn last, over the others.
    assert opened.page.evaluate(FILL) == strokes[-1]


def test_at_rest_ceilings_are_far_from_the_roof_and_nothing_invites_to_grab(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    flat = box(opened.drawn.locator(".rw-roof"))["y"]
    # The measured peak and bandwidth are nearer than 12 px to the roof. That of vector instructions is farther.
    expect(part(opened, "ceiling")).to_have_count(1)
    assert box(part(opened, "ceiling"))["y"] - flat >= 12
    grips, continuation = part(opened, "grips"), part(opened, "continuation")
    expect(grips).to_have_count(1)
    expect(grips).to_be_hidden()
    expect(continuation).to_have_count(0)
    opened.page.mouse.move(*opened.drawn.place(1000, 9.895e14))
    expect(part(opened, "ceiling")).to_have_count(3)
    expect(continuation).to_have_count(1)
    opened.page.mouse.move(*opened.drawn.place(1000, 1e12))
    expect(part(opened, "ceiling")).to_have_count(1)
    expect(continuation).to_have_count(0)


def test_a_finger_sees_the_grips_of_the_roof(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()), 480, 900, has_touch=True, is_mobile=True)
    expect(part(opened, "grips")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 480])
def test_all_kernels_are_circles_of_at_most_3_percent_of_the_plot_until_patterns_are_on(
    look: Look, width: int, tmp_path: Path
) -> None:
    opened = look(rw.roofline("h100-sxm", bert()), width)
    plot = box(part(opened, "plot"))["width"]

    def marks() -> list[str]:
        opened.page.keyboard.press("Escape")
        save = opened.drawn.download("svg")
        with opened.page.expect_download() as download:
            save.click()
        svg = tmp_path / "figure.svg"
        download.value.save_as(svg)
        opened.page.keyboard.press("Escape")
        points = re.search(r'data-layer="points".*?</g></g>', text_of(svg), re.DOTALL)
        assert points
        return re.findall(r'd="([^"]+)"', points[0])

    circles = marks()
    assert circles
    radii = [re.match(r"M[-\d.]+,[-\d.]+a([\d.]+),\1", d) for d in circles]
    assert all(radii)
    assert max(2 * float(radius[1]) for radius in radii if radius) <= 0.03 * plot
    opened.drawn.tool("patterns").click()
    assert len({re.sub(r"[-\d.]+", "", d) for d in marks()}) >= 2


@pytest.mark.parametrize(
    ("scheme", "grounds"),
    [
        ("light", ["rgb(255, 255, 255)", "rgb(245, 247, 249)"]),
        ("dark", ["rgb(17, 17, 17)", "rgb(24, 27, 31)"]),
    ],
)
def test_texts_and_roofs_stand_out_from_the_background_and_axe_finds_nothing(
    look: Look, scheme: str, grounds: list[str]
) -> None:
    opened = look(rw.roofline(["h100-sxm", "b200"], bert()), color_scheme=scheme)
    expect(part(opened, "label").first).to_be_visible()
    opened.page.mouse.move(*opened.drawn.place(1000, 9.895e14))
    expect(part(opened, "ceiling")).to_have_count(3)
    found = opened.drawn.root.evaluate(FAINT, grounds)
    assert found["faint"] == []
    assert found["drawn"][0] >= 15
    assert found["drawn"][1] >= 5
    opened.page.evaluate(text_of(AXE))
    answer = opened.page.evaluate(FAULTS, scheme)
    assert answer["found"] == []
    assert {"button-name", "heading-order", "landmark-one-main"} <= set(answer["passed"])


def test_the_strip_of_kernels_without_flops_is_aligned_with_the_plot(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    ticks = part(opened, "strip-tick")
    assert ticks.count() >= 1
    assert all((one.text_content() or "").endswith("B/s") for one in ticks.all())

    def heights() -> tuple[float, float]:
        start = re.match(r"M[\d.]+[, ]([\d.]+)", opened.drawn.roof("h100-sxm"))
        level = opened.drawn.locator(".rw-strip-roof").get_attribute("y1")
        assert start
        return float(start[1]), float(level or 0)

    before = heights()
    assert abs(before[0] - before[1]) <= 1
    opened.drawn.tool("in").click()
    opened.drawn.eventually(lambda: heights() != before)
    opened.drawn.eventually(lambda: abs(heights()[0] - heights()[1]) <= 1)
    assert ticks.count() >= 1
    assert all((one.text_content() or "").endswith("B/s") for one in ticks.all())


def test_nothing_moves_while_a_roof_is_dragged_and_when_a_chip_is_added(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    drawn = opened.drawn
    track = box(drawn.slider("peak"))["width"] - 16
    # Two of the labels have another place beside their dots as soon as the slider is let go.
    dots = {
        "1addmm 512×512": (1256718336, 13839360, 98.718e-6),
        "2scaled_dot_product": (162865152, 2310144, 37.408e-6),
        "5addmm 512×30522": (4406888448, 40067160, 41.28e-6),
    }

    def places() -> list[float]:
        """Return how far labels are from their dots, px."""
        away = []
        for name, (flops, moved, time) in dots.items():
            label = box(part(opened, "label").filter(has_text=name))
            x, y = drawn.place(flops / moved, flops / time)
            away += [label["x"] - x, label["y"] - y]
        return away

    before, labels, roof = drawn.root.evaluate(BOXES), places(), drawn.roof("h100-sxm")
    during: list[Any] = []
    drawn.drag("peak", 100 / track, during=lambda: during.extend([drawn.root.evaluate(BOXES), places()]))
    assert drawn.roof("h100-sxm") != roof
    assert during[0] == before
    assert during[1] == pytest.approx(labels, abs=1)
    add, chart = box(part(opened, "add-chip")), box(part(opened, "chart"))
    part(opened, "add-chip").click()
    opened.page.keyboard.type("b2")
    options = drawn.get_by_role("option")
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
    assert opened.drawn.button("Undo").count() == 1


def test_two_runs_lead_with_the_change_and_runs_without_common_kernels_say_so(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", layers(16), baseline=layers()))
    expect(part(opened, "verdict")).to_contain_text("3 % less time: 38.5 ms before, 37.4 ms now.")
    expect(part(opened, "tab-changes")).to_have_attribute("aria-selected", "true")
    expect(part(opened, "source")).to_contain_text("Before a.csv → Now b.csv")
    opened = look(rw.roofline("h100-sxm", bert(), baseline=layers()))
    expect(part(opened, "verdict")).to_contain_text("No kernel of the two runs has the same name.")
    expect(part(opened, "verdict")).to_have_attribute("data-alert", "true")


def test_selected_kernels_are_counted_with_their_time_and_what_they_could_save(look: Look) -> None:
    opened = look(rw.roofline("h100-sxm", bert()))
    # A rectangle around one kernel.
    x, y = opened.drawn.place(1256718336 / 13839360, 1256718336 / 98.718e-6)
    opened.drawn.pull((x - 25, y - 25), (x + 25, y + 25))
    expect(part(opened, "inspector")).to_contain_text("1 selected · 98.7 µs, 32 % of kernel time")
    expect(part(opened, "inspector")).to_contain_text("could save 94.6 µs")
    opened.drawn.chart.press("Escape")
    part(opened, "inspector").get_by_role("button", name=re.compile("^Select (it|these)")).click()
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
