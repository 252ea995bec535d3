"""Hostile labels in JupyterLab, on a saved page, in saved pictures and tables, and on the clipboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from playwright.sync_api import Browser, expect

import roofwidget as rw
from roofwidget.support.text_tables import without_surrogates
from tests.browser.conftest import OpenNotebook
from tests.hostile_checks import ALL, CELL, HAS_RUN, TallyOf, check_widgets, invalid_tables, table
from tests.hostile_labels import TEXTS, asked, chips, described, merged, short
from tests.places import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.exported import Exported

SVG: Final = "{http://www.w3.org/2000/svg}"
TAGS: Final = {"svg", "title", "rect", "g", "path", "text", "tspan", "circle", "line", "clipPath", "defs"}
CLIPBOARD: Final = """async () => {
  const [item] = await navigator.clipboard.read();
  return [item.types.join(' '), await navigator.clipboard.readText()];
}"""


def test_in_jupyterlab(notebook: OpenNotebook, tally: TallyOf) -> None:
    book = notebook([CELL])
    book.run(0)
    tally("JupyterLab")(scripts=check_widgets(book.page))
    assert book.external_requests == []


def test_on_a_saved_page(exported: Callable[..., Exported], tmp_path: Path, tally: TallyOf) -> None:
    first, second, *_ = TEXTS.values()
    path = rw.save_page([described(), f"## {first}\n\n{second}", merged(), asked()], tmp_path / "all.html", title=first)
    opened = exported(text_of(path))
    tally("a saved page")(scripts=check_widgets(opened.page))
    assert opened.page.title() == first
    legend = opened.drawn.locator(".rw-legend")
    assert legend.evaluate("(legend) => legend.scrollWidth <= legend.clientWidth")


def test_in_saved_pictures(browser: Browser, tmp_path: Path, tally: TallyOf) -> None:
    context = browser.new_context(offline=True)
    opened = context.new_page()
    requests: list[str] = []
    opened.on("request", lambda request: requests.append(request.url))
    path = tmp_path / "picture.svg"
    of_text = {chip.vendor: chip for chip in chips()}
    scripts = invalid = 0
    for text in list(map(short, TEXTS.values()))[:: 1 if ALL else 3]:
        two = [(text, 4e12, 1e10, 0.08), ("other", 1e12, 1e10, 0.08)]
        svg = rw.RooflineModel([of_text.get(text, "v5p")], two, title=text).to_svg()
        path.write_bytes(svg.encode())
        opened.goto(path.as_uri())
        scripts += opened.evaluate(HAS_RUN)
        invalid += opened.evaluate("document.documentElement.tagName !== 'svg'") or not is_valid(svg, text)
    context.close()
    assert set(requests) == {path.as_uri()}
    tally("saved pictures")(scripts=scripts, invalid=invalid)


def is_valid(svg: str, title: str) -> bool:
    """Return whether a picture is XML of known elements without scripts and links, and has the title as text."""
    try:
        root = ET.fromstring(svg)  # noqa: S314 - our own
    except ET.ParseError:
        return False
    shown = re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f\uffff]", "\ufffd", re.sub(r"\r\n?", "\n", without_surrogates(title)))
    return (
        "<!DOCTYPE" not in svg
        and {element.tag.removeprefix(SVG) for element in root.iter()} <= TAGS
        and not any(
            re.match("on|.*href", name) or "url(http" in value
            for element in root.iter()
            for name, value in element.items()
        )
        and (root.findtext(f"{SVG}title") or "").startswith(shown)
    )


def test_in_saved_tables(exported: Callable[..., Exported], tmp_path: Path, tally: TallyOf) -> None:
    path = described().save(tmp_path / "python.csv")
    text = path.read_bytes().decode()
    opened = exported(described().to_html())
    table(opened.drawn.root)
    with opened.page.expect_download() as download:
        opened.drawn.button(re.compile("^Save all")).click()
    assert re.fullmatch(r"[\w.-]+\.csv", download.value.suggested_filename)
    saved = Path(download.value.path()).read_bytes().decode("utf-8-sig")
    scripts = int(opened.page.evaluate(HAS_RUN))
    tally("saved tables")(scripts=scripts, invalid=invalid_tables(text) + invalid_tables(saved))


def test_on_the_clipboard(exported: Callable[..., Exported], tally: TallyOf) -> None:
    opened = exported(described().to_html(), permissions=["clipboard-read", "clipboard-write"])
    table(opened.drawn.root)
    opened.drawn.button(re.compile("^Copy all")).click()
    expect(opened.drawn.locator("[data-rw='status']")).to_contain_text(f"{len(TEXTS)} rows copied")
    kinds, text = opened.page.evaluate(CLIPBOARD)
    assert kinds == "text/plain"
    scripts = int(opened.page.evaluate(HAS_RUN))
    tally("the clipboard")(scripts=scripts, invalid=invalid_tables(text, "\t", "\n"))
