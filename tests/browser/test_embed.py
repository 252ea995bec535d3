"""The module on pages of other programs: in a shadow root and in a plain page, with the scene of an exported page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.static_server import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.browser.exported import Exported

BARS_PX = 100
CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
KERNELS = [rw.Kernel("matmul", 4e12, 1e10, time=0.08), rw.Kernel("norm", 5e9, 1.6e9, time=3e-3)]
# As the theme of MyST does it: the module is imported, and drawn in an open shadow root with a model of JSON.
PAGE = """<!doctype html><html class="{theme}"><meta charset="utf-8"><link rel="icon" href="data:,">
<body style="margin: 16px"><div id="host"></div><script type="module">
import widget from "./roofwidget.mjs";
const state = await (await fetch("./roofline.json")).json();
const host = document.getElementById("host");
let el = document.createElement("div");
(host.dataset.open = "{root}") === "shadow" ? host.attachShadow({{ mode: "open" }}).append(el) : host.append(el);
window.remove = await widget.render({{ el, model: {{ get: (name) => state[name], on() {{}} }} }});
</script>"""
# What the chart draws: its lines, its texts with their places, and the font.
SCENE = """(chart) => [
  ...[...chart.querySelectorAll("path[d]")].map((path) => path.getAttribute("d")),
  ...[...chart.querySelectorAll("text")].map((text) => text.outerHTML),
  getComputedStyle(chart.querySelector("text")).fontFamily,
]"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    rw.to_myst(rw.roofline([CHIP], KERNELS), tmp_path)
    with serving(tmp_path) as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def opened(page: Page, site: str, folder: Path, root: str, theme: str = "") -> list[str]:
    """Open a page with the widget, and return the files that it asks for."""
    (folder / "index.html").write_text(PAGE.format(root=root, theme=theme), encoding="utf-8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(site)))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(f"{site}/index.html")
    expect(page.locator(".rw-chart .rw-roof")).to_have_count(1)
    return asked


@pytest.mark.parametrize("root", ["plain", "shadow"])
def test_the_widget_is_live_and_asks_for_nothing_but_its_files(
    page: Page, site: str, tmp_path: Path, root: str
) -> None:
    asked = opened(page, site, tmp_path, root)
    line = page.locator(".rw-chart .rw-roof")
    before = line.get_attribute("d")
    page.get_by_role("slider", name="bandwidth").press("PageUp")
    expect(line).not_to_have_attribute("d", before or "")
    expect(page.locator("[data-rw=verdict] h2")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(line).to_have_attribute("d", before or "")
    page.locator("[data-rw=tab-kernels]").click()
    expect(page.get_by_role("row", name="matmul")).to_be_visible()
    assert sorted({*asked}) == ["/index.html", "/roofline.json", "/roofwidget.mjs"]
    page.evaluate("remove()")
    expect(page.locator(".roofwidget")).to_have_count(0)


def test_a_shadow_root_has_the_scene_of_a_page(
    page: Page, site: str, tmp_path: Path, exported: Callable[..., Exported]
) -> None:
    # Other programs have bars above and below, of this height.
    page.set_viewport_size({"width": 1280, "height": 900 + BARS_PX})
    opened(page, site, tmp_path, "shadow")
    whole = exported(rw.roofline([CHIP], KERNELS).to_html()).drawn
    whole.eventually(lambda: whole.chart.evaluate(SCENE) == page.locator(".rw-chart").evaluate(SCENE))
    assert len(whole.chart.evaluate(SCENE)) > 20


@pytest.mark.parametrize(("theme", "count"), [("dark", 1), ("light", 0)])
def test_the_widget_is_dark_where_the_site_is_dark(
    page: Page, site: str, tmp_path: Path, theme: str, count: int
) -> None:
    opened(page, site, tmp_path, "shadow", theme)
    expect(page.locator(".roofwidget .rw-dark")).to_have_count(count)
    page.evaluate(f"document.documentElement.className = '{'light' if count else 'dark'}'")
    expect(page.locator(".roofwidget .rw-dark")).to_have_count(1 - count)
