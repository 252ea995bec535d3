"""The network view: messages under the roof of a link, its latency, the tab of messages, pages and pictures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from roofwidget.kernels.metadata import Communication
from tests.browser.drawn import Drawn, box_of, enter, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported

# Eight ranks on NVLink of 400 GB/s: all-reduces of 64 MB in 448 µs and 280 µs, and a broadcast of 1 kB in 10 µs. The
# mean of 364 µs is a bus bandwidth of 1.75 * 64 MB / 364 µs = 308 GB/s, and the fastest call is 400 GB/s.
CELL = """import roofwidget as rw
from roofwidget.kernels.metadata import Communication
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"}, links={"NVLink": 400e9, "PCIe": 64e9})
columns = {"collective": ["all-reduce", "all-reduce", "broadcast", None],
           "message size (B)": [64e6, 64e6, 1e3, None], "ranks": [8, 8, 8, None]}
k = rw.Kernels(["a", "a", "b", "matmul"], [0, 0, 0, 1e9], [1e6] * 3 + [1e8], time=[448e-6, 280e-6, 10e-6, 1e-3],
               category=["collective"] * 3 + ["matrix product"], extra=columns,
               communication=Communication(738e-6, 1e-3, 100e-6))
"""
SHOWN = CELL + "w = rw.RooflineWidget([chip], k)\nw"


def widget(**traits: object) -> rw.RooflineWidget:
    scope: dict[str, object] = {}
    exec(CELL, scope)  # noqa: S102 - the cell of this file
    return rw.RooflineWidget([scope["chip"]], scope["k"], **traits)


def test_the_view_is_chosen_by_menu_key_and_python_and_shows_the_messages(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SHOWN)
    drawn.choose("view", "network")
    dots = drawn.locator("circle[data-message]")
    expect(dots).to_have_count(2)
    drawn.becomes("w.view", "network")
    expect(drawn.locator("[data-rw=network-roof]")).to_have_count(1)
    expect(drawn.locator("[data-rw=network-ring]")).to_have_count(0)
    assert "latency of NVLink is unknown" in drawn.sentence()
    rows = drawn.locator(".rw-messages tr[data-message]")
    expect(rows).to_have_count(2)
    texts = [cell.inner_text().strip() for cell in rows.first.locator("th, td").all()]
    assert texts == ["1", "all-reduce 64 MB", "2", "308 GB/s", "77 %", "168 µs"]
    expect(drawn.locator("[data-rw=time-bar]")).to_contain_text("exposed 86 % · 638 µs")
    drawn.choose("topology", "in-network")
    drawn.becomes("w.topology", "in-network")
    # 308 of 1.75 * 400 GB/s.
    expect(rows.first.locator("td").nth(3)).to_have_text("44 %")
    expect(drawn.chart).to_contain_text("700 GB/s for all-reduce")
    book.python("setattr(w, 'view', 'roofline')")
    expect(dots).to_have_count(0)
    drawn.chart.focus()
    drawn.press("n")
    drawn.becomes("w.view", "network")


def test_a_profile_without_message_sizes_has_no_network_view(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, "import roofwidget as rw\nw = rw.RooflineWidget()\nw")
    drawn.tool("view").click()
    item = drawn.locator("[role=menuitemradio]", has_text="Network")
    expect(item).to_have_attribute("aria-disabled", "true")
    expect(item).to_have_attribute("title", "This profile has no message sizes.")


def test_a_drag_of_the_flat_and_of_the_slope_changes_the_what_ifs_of_python_and_reset_takes_them_back(
    notebook: OpenNotebook,
) -> None:
    _, drawn = shown(notebook, SHOWN + ".view = 'network'\nw")
    enter(drawn.get_by_role("textbox", name="Latency, typed"), "18 us")
    drawn.becomes("w.what_if['example']['latency']['network']", 18e-6)
    expect(drawn.locator("[data-rw=network-ring]")).to_have_count(1)
    # Half at 18 µs * 400 GB/s / 1.75.
    expect(drawn.locator("[data-rw=half]")).to_have_text("half at 4.1 MB")
    for part in ("peak", "bandwidth"):
        box = box_of(drawn.locator(f".rw-handles [data-part={part}]"))
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        drawn.pull((x, y), (x + 20, y + 20))
    drawn.becomes("w.what_if['example']['bandwidth']['network'] < 380e9", value=True)
    drawn.becomes("w.what_if['example']['latency']['network'] > 19e-6", value=True)
    expect(drawn.locator("[data-rw=verdict]")).to_contain_text("With your what-if: over a link of")
    drawn.reset("bandwidth").click()
    drawn.button(re.compile("^Back.*Latency")).click()
    drawn.becomes("len(w.what_if)", 0)
    expect(drawn.locator("[data-rw=network-ring]")).to_have_count(0)


def test_the_link_to_the_host_has_no_what_ifs(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SHOWN + ".view = 'network'\nw")
    drawn.choose("link", "PCIe")
    drawn.becomes("w.link", "PCIe")
    expect(drawn.box("bandwidth")).to_have_value("64 GB/s")
    expect(drawn.box("bandwidth")).to_be_disabled()
    expect(drawn.locator(".rw-handles")).to_have_count(0)
    drawn.choose("link", "NVLink")
    # The link of each chip to other chips.
    drawn.becomes("w.link", "")
    book.python("setattr(w, 'link', 'pcie')")
    expect(drawn.box("bandwidth")).to_have_value("64 GB/s")


def test_an_exported_page_walks_along_the_messages_by_keys(exported: Callable[..., Exported]) -> None:
    opened = exported(widget(view="network").to_html())
    drawn = opened.drawn
    drawn.chart.focus()
    drawn.press("ArrowRight")
    assert drawn.tooltip().startswith("broadcast 1 kB · 8 ranks")
    drawn.press("End")
    assert drawn.tooltip().startswith("all-reduce 64 MB · 8 ranks")
    assert drawn.sentence() == (
        "all-reduce 64 MB: 1.75 × 64 MB ÷ 280 µs = 400 GB/s, 100 % of NVLink; mean call 308 GB/s"
    )
    expect(drawn.locator(".rw-messages tr[data-on=true]")).to_contain_text("all-reduce")
    drawn.press("Escape")
    expect(drawn.locator(".rw-tooltip")).to_have_count(0)


def test_a_page_is_german_and_narrow_without_scrolling_sideways(exported: Callable[..., Exported]) -> None:
    opened = exported(widget(view="network", locale="de").to_html(), viewport={"width": 480, "height": 900})
    drawn: Drawn = opened.drawn
    expect(drawn.locator(".rw-messages")).to_contain_text("Warten am längsten")
    expect(drawn.locator("[data-rw=verdict]")).to_contain_text("Offene Kommunikation nimmt")
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture_shows_the_messages(tmp_path: Path, suffix: str) -> None:
    shown = widget(view="network")
    shown.set_what_if(latency=18e-6)
    path = tmp_path / f"network.{suffix}"
    shown.save(path)
    if suffix == "svg":
        text = path.read_text(encoding="utf-8")
        assert all(part in text for part in ("half at 4.1 MB", "NVLink", "all-reduce 64 MB", "latency 18 µs"))
    else:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_half_of_the_communication_is_told_by_python_too() -> None:
    assert widget().kernels.communication == Communication(738e-6, 1e-3, 100e-6)
    assert widget().verdict().headline == "Exposed communication takes 39 % of the busy time."


def test_a_question_that_hides_kernels_hides_their_messages_too(exported: Callable[..., Exported]) -> None:
    asked = widget(view="network")
    question = rw.Question(
        key="q", prompt="Which is slowest?", answer="all-reduce", options={"all-reduce": "", "broadcast": "No."}
    )
    rw.Story(asked, [rw.Step("", question=question, hides=True), rw.Step("Seen.")])
    drawn = exported(asked.to_html()).drawn
    expect(drawn.locator("[data-rw=network-roof]")).to_have_count(1)
    for part in ("circle[data-message]", ".rw-messages", "[data-rw=time-bar]"):
        expect(drawn.locator(part)).to_have_count(0)
    assert "no message sizes" not in drawn.chart.inner_text()
    drawn.chart.focus()
    drawn.press("ArrowRight")
    expect(drawn.locator(".rw-tooltip")).to_have_count(0)
    drawn.button(re.compile("^Next")).click()
    expect(drawn.locator("circle[data-message]")).to_have_count(2)
    expect(drawn.locator(".rw-messages tr[data-message]")).to_have_count(2)


def test_the_network_view_has_a_way_back_without_the_panel_of_chips(exported: Callable[..., Exported]) -> None:
    drawn = exported(widget(view="network", hidden_panels=["chips"]).to_html()).drawn
    drawn.choose("view", "roofline")
    expect(drawn.locator("circle[data-message]")).to_have_count(0)


def test_a_screen_reader_hears_nothing_of_a_selected_kernel_in_the_network_view(
    exported: Callable[..., Exported],
) -> None:
    drawn = exported(widget(view="network", selected=[3], colour_by="count").to_html()).drawn
    spoken = drawn.locator("[data-rw=status] .rw-formula + .rw-spoken")
    expect(spoken).to_have_text("The latency of NVLink is unknown: type it to see where messages are latency-bound.")
    drawn.chart.focus()
    drawn.press("End")
    expect(spoken).to_contain_text("100 % of NVLink; mean call 308 GB/s")


def test_patterns_tell_the_kinds_apart_in_the_plane_and_in_its_legends(exported: Callable[..., Exported]) -> None:
    drawn = exported(widget(view="network").to_html()).drawn
    marks = "path[stroke-width]:not([data-rw])"
    before = drawn.locator(f".rw-entries {marks}, .rw-messages {marks}").count()
    drawn.tool("view").click()
    drawn.locator("[data-tool=patterns]").click()
    expect(drawn.locator(f".rw-entries {marks}, .rw-messages {marks}")).to_have_count(before + 4)
    shapes = [path.get_attribute("d") for path in drawn.locator(f".rw-entries {marks}").all()]
    assert len(set(shapes)) == 2


def test_other_kernels_forget_the_message_under_the_pointer(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, SHOWN + ".view = 'network'\nw")
    drawn.chart.focus()
    drawn.press("End")
    expect(drawn.locator(".rw-tooltip")).to_be_visible()
    book.python("setattr(w, 'kernels', k[[2, 0, 1, 3]])")
    expect(drawn.locator(".rw-tooltip")).to_have_count(0)
