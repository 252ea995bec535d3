"""The playground of the documentation: kernels, graphs, links and files without Python, opened from its file."""

from __future__ import annotations

import re
import runpy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

import roofwidget as rw
from roofwidget.export import graph_link
from tests.browser.drawn import enter
from tests.browser.test_access import AXE
from tests.places import DOCS, golden, text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.exported import Exported

TABLES = golden("playground.json")
HOSTILE = "</script><script>window.PWNED=1</script><img src=x onerror=window.PWNED=1>"
PASTE = """(cell, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  cell.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  for (const kind of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
}"""
SERIOUS = """async () => (await axe.run()).violations.filter(({ impact }) => /serious|critical/.test(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))"""


@pytest.fixture(scope="module")
def html() -> str:
    """Return the page that the site has."""
    made: str = runpy.run_path(str(DOCS / "make_playground.py"))["text"]()
    return made


@pytest.fixture
def play(exported: Callable[..., Exported], html: str) -> Callable[..., Page]:
    """Open the playground."""

    def opened(**options: Any) -> Page:
        page = exported(html, **options).page
        expect(page.locator(".rw-empty, .rw-chart").first).to_be_visible()
        return page

    return opened


def says(page: Page, headline: str | re.Pattern[str]) -> None:
    expect(page.locator("[data-rw=verdict] h2")).to_have_text(headline)


def add_chip(page: Page, name: str) -> None:
    page.locator("[data-rw=add-chip]").press("Enter")
    page.keyboard.type(name)
    expect(page.locator(".rw-palette [role=option]").first).to_contain_text(name)
    page.keyboard.press("Enter")


def drop(page: Page, name: str, text: str) -> str:
    """Drop a file anywhere on the page. Return what the page says."""
    page.evaluate(DROP, [name, text])
    said = page.locator(".rw-play-said p")
    expect(said).to_contain_text(name.partition(".")[0] if name.endswith(("html", "json")) else "takes")
    return said.inner_text()


def test_a_kernel_is_typed_and_judged_by_a_chip_with_the_keyboard_alone(play: Callable[..., Page]) -> None:
    page = play()
    page.get_by_role("button", name="Type kernels").press("Enter")
    expect(page.get_by_label("Row 1, name")).to_be_focused()
    for text in ("mine", "4 TFLOP", "12 apples", "12 ms"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    fault = page.get_by_role("alert").filter(has_text="Row 1")
    expect(fault).to_have_text("Row 1, bytes: “12 apples” is not a number of bytes; write for example “12 GB”.")
    for _ in range(2):
        page.keyboard.press("Shift+Tab")
    page.keyboard.type("12 GB")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Add a row")).to_be_focused()
    add_chip(page, "H100 SXM")
    # 4e12 FLOP / 989.5 TFLOP/s = 4.04 ms of 12 ms; 12 GB / 3.35 TB/s = 3.58 ms.
    expect(page.locator("[data-rw=verdict]")).to_contain_text("mine runs at 34 % of its roof: up to 7.96 ms of 12 ms")
    expect(page.locator("[data-rw=verdict]")).to_contain_text("It is compute-bound")
    page.evaluate(text_of(AXE))
    assert page.evaluate(SERIOUS) == []
    undo = page.get_by_title("Undo the last change of the table")
    for _ in range(2):
        undo.press("Enter")
    expect(page.get_by_label("Row 1, time")).to_have_value("")
    page.get_by_role("button", name="Delete the row of mine").press("Enter")
    expect(page.get_by_label("Row 1, name")).to_be_focused()
    expect(page.get_by_label("Row 1, name")).to_have_value("")


def test_both_forms_of_a_table_are_pasted(play: Callable[..., Page]) -> None:
    page = play(viewport={"width": 480, "height": 900}, color_scheme="dark")
    page.get_by_label("Row 1, name").evaluate(PASTE, TABLES["work"]["text"].replace(",", "\t"))
    tab = page.get_by_role("tab", name="Kernels 4")
    expect(tab).to_be_visible()
    page.get_by_role("button", name="Paste a table").click()
    box = page.get_by_label("A table with tabs")
    box.fill("name,intensity,rate\na,fast,1")
    page.get_by_role("button", name="Add these rows").click()
    fault = "Row 2, intensity: “fast” is not an intensity in FLOP/B; write for example “12.5”."
    expect(page.get_by_role("alert").filter(has_text="Row 2")).to_have_text(fault)
    box.fill(TABLES["ratios"]["text"])
    page.get_by_role("button", name="Add these rows").click()
    expect(page.get_by_role("tab", name="Kernels 3")).to_be_visible()
    expect(page.get_by_label("Row 2, rate")).to_have_value("880000000000.0")
    page.get_by_label("Columns").select_option("work")
    expect(tab).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 480


def test_a_graph_is_merged_and_a_link_shows_the_same(play: Callable[..., Page]) -> None:
    page = play()
    page.get_by_role("combobox", name="Show").select_option(label="LayerNorm, GELU, Dropout, Add: the residual is x")
    expect(page.get_by_role("tab", name=re.compile("^Fusion"))).to_have_attribute("aria-selected", "true")
    says(page, "Fused into one kernel, this graph runs 4.5× as fast.")
    page.get_by_role("button", name="Fuse all 4").click()
    says(page, "This partition is the best for H100 SXM5.")
    page.get_by_label("Title").fill(HOSTILE)
    page.get_by_label("Title").press("Enter")
    enter(page.get_by_label("HBM bandwidth, typed"), "5 TB/s")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".rw-play-said p")).to_contain_text("The link is copied.")
    fragment = f"#{urlsplit(page.url).fragment}"
    assert len(fragment) < 500
    other = play(fragment=fragment)
    expect(other.locator(".rw-play-said p")).to_have_text("This is what the link holds.")
    # 2 tensors of 32 · 2048 · 4096 · 2 bytes at 5 TB/s.
    expect(other.get_by_role("button", name="4 kernels → 1 kernel")).to_contain_text("215 µs")
    expect(other.get_by_role("heading", name=HOSTILE)).to_be_visible()
    expect(other.get_by_label("Title")).to_have_value(HOSTILE)
    expect(other.get_by_label("HBM bandwidth, typed")).to_have_value("5 TB/s")
    # An address that changes is opened too, such as the link of a graph that Python made.
    own = rw.Graph("own")
    own.output(own.gelu(own.relu(own.input("x", (1024, 1024), "bf16"))))
    lesson = graph_link.text(rw.Partition.fully(own), "b200", HOSTILE)
    other.evaluate("hash => { location.hash = hash; }", lesson)
    expect(other.get_by_role("tab", name="Fusion 2 ops")).to_be_visible()
    expect(other.get_by_role("button", name="2 kernels → 1 kernel")).to_be_visible()
    other.evaluate("location.hash = '#s=' + 'A'.repeat(40)")
    expect(other.get_by_role("alert").filter(has_text="link")).to_contain_text("This link is damaged")


def test_a_dropped_page_opens_and_a_saved_session_is_read_by_python(play: Callable[..., Page], tmp_path: Path) -> None:
    page = play()
    kernels = rw.Kernels([HOSTILE, "copy"], [4e12, 0], [1e10, 1e9], time=[0.08, 2e-3], category=[HOSTILE, None])
    chip = rw.Chip("Mine", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
    saved = rw.RooflineModel([chip], kernels, title="A saved page").to_html()
    assert drop(page, "report.html", saved) == "Opened report.html."
    expect(page.get_by_role("tab", name="Kernels 2")).to_be_visible()
    expect(page.get_by_text("2 kernels of a file")).to_be_visible()
    assert "Profiles need Python" in drop(page, "trace.pb", "\x00\x01")
    assert drop(page, "broken.json", '{"format": "roofwidget session", "version": 99}').endswith("of a newer version.")
    page.locator("[data-rw=add-chip]").click()
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save session").click()
    path = tmp_path / "session.json"
    download.value.save_as(path)
    model = rw.RooflineModel.load(path)
    assert (model.title, list(model.kernels.names), [one.name for one in model.chips]) == (
        "A saved page",
        [HOSTILE, "copy"],
        ["Mine"],
    )
    assert list(model.bound().time) == [0.04, 0.001]
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".rw-empty")).to_be_visible()
    assert drop(page, "session.json", text_of(path)) == "Opened session.json."
    expect(page.get_by_role("tab", name="Kernels 2")).to_be_visible()
