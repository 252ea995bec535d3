"""Pages made of somebody else's notebook: they stay where they are, and show what ordinary outputs show."""

from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pytest
from playwright.sync_api import Browser, expect

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.export.notebook import STATE, VIEW
from tests.places import write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PICTURE: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
DRAWING: Final = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><path d="M0 0H20V10"/></svg>'

COVER: Final = "position: relative; z-index: 9; display: block; height: 9999px; margin: -5000px; padding: 5000px"
# AWAY is the address of a server that must not be asked.
HTML: Final = (
    '<meta http-equiv="refresh" content="0;url=AWAY/refresh">',
    "<META HTTP-EQUIV=refresh CONTENT='0; URL=AWAY/refresh-2'>",
    '<div></div></div></div><meta http-equiv="refresh" content="0;url=AWAY/refresh-3">',
    '<table><tr><meta http-equiv="refresh" content="0;url=AWAY/refresh-4"></table>',
    '<svg><desc><meta http-equiv="refresh" content="0;url=AWAY/refresh-5"></desc></svg>',
    '<svg><style><img title="</style><meta http-equiv=refresh content=0;url=AWAY/refresh-6>"></style></svg>',
    '<math><mtext><table><mglyph><style><!--</style><img title="--><meta http-equiv=refresh content=0;url=AWAY/7>">',
    '<math><annotation-xml encoding="text/html"><style><img title="</style><meta http-equiv=refresh content=0;AWAY>">',
    '<svg></p><title><style><img title="</style></title><meta http-equiv=refresh content=0;url=AWAY/9>">',
    '<noscript><p title="</noscript><meta http-equiv=refresh content=0;url=AWAY/10>"></noscript>',
    '<!--><meta http-equiv="refresh" content="0;url=AWAY/refresh-11">-->',
    '<base href="AWAY/base/" target="_top"><a href="page">click base</a>',
    *(
        f'<link rel="{rel}" href="AWAY/{rel}">'
        for rel in ("stylesheet", "prefetch", "preconnect", "dns-prefetch", "icon")
    ),
    *(f'<script type="{kind}">location = "AWAY/script"</script>' for kind in ("", "module", "speculationrules")),
    "<style>@import url(AWAY/import); body { background: url(AWAY/body) } p { color: red }</style>",
    "<style>.a::before { content: url(AWAY/content) } @font-face { font-family: x; src: url(AWAY/font) }</style>",
    '<p class="a" style="background: u\\72l(AWAY/style); list-style: image-set(\'AWAY/set\' 1x)">text</p>',
    '<img src="AWAY/img" srcset="AWAY/srcset 1x"><img src="x" onerror="location=`AWAY/onerror`">',
    '<picture><source srcset="AWAY/source"><img></picture><video src="AWAY/video" poster="AWAY/poster"></video>',
    '<iframe src="AWAY/frame"></iframe><iframe srcdoc="<meta http-equiv=refresh content=0;url=AWAY/doc>"></iframe>',
    '<object data="AWAY/object"></object><embed src="AWAY/embed"><frameset onload="location=`AWAY/set`">',
    '<form action="AWAY/form"><button formaction="AWAY/button">click form</button><input type="image"></form>',
    '<input type="password" name="p" autofocus onfocus="location=`AWAY/focus`"><select><option>a</select>',
    '<details open ontoggle="location=`AWAY/toggle`"><summary>a</summary>b</details>',
    '<a href="javascript:location=`AWAY/js`">click js</a><a href="jAva\tscript:location=`AWAY/js`">click tab</a>',
    '<a href="data:text/html,<script>location=`AWAY/data`</script>">click data</a>',
    '<a href="//127.0.0.1:PORT/a">click a</a>',
    '<a href="/\\127.0.0.1:PORT/b">click b</a><a href="file:///etc">click file</a><a href="?a=1">click query</a>',
    '<a href="#here" ping="AWAY/ping" target="_blank" download>click ping</a><area href="AWAY/area" shape="default">',
    '<svg><a xlink:href="javascript:location=`AWAY/svg`"><text y="9">click svg</text></a></svg>',
    '<svg><animate onbegin="location=`AWAY/begin`" attributeName="x" dur="1s"/></svg>',
    '<svg><a><set attributeName="href" to="AWAY/set"/><text y="9">click set</text></a></svg>',
    '<svg><a><animate attributeName="href" values="AWAY/values"/><text y="9">click values</text></a></svg>',
    '<svg><use href="AWAY/use#a"/><image href="AWAY/image"/></svg>',
    '<svg><rect fill="url(AWAY/fill#a)" filter="url(AWAY/filter#a)" width="1" height="1"/></svg>',
    '<svg><foreignObject><meta http-equiv="refresh" content="0;url=AWAY/foreign"></foreignObject></svg>',
    '<section data-roofwidget><script type="text/plain">e30=</script></section><script data-catalogue>[]</script>',
    '<script type="text/plain" data-unpack="meta">H4sIAAAAAAAAAwMAAAAAAAAAAAA=</script>',
    '<img name="body"><img name="querySelectorAll" id="querySelectorAll"><a id="step=3" name="step=3">x</a>',
    '<a href="AWAY/cover" style="position: fixed; inset: 0; z-index: 9999">cover</a>',
    '<a href="AWAY/cover" style="display: block; height: 9999px; margin: -5000px; padding: 5000px">cover</a>',
    '<a href="AWAY/cover" class="rw-frame">cover</a><div popover id="p">p</div><dialog open>d</dialog>',
    # A browser that reads these again, once sanitized, ends the elements around them.
    *(
        f'{outside * 9}<a href="AWAY/outside" style="{COVER}">cover</a>'
        for outside in ("<dd><div><table><dd></table>", "<center><h1><div><h1><option><h1></center><h1>")
    ),
    "<style>.from-notebook, .output_area { display: contents; height: 0; overflow: visible }</style>",
    "<style>main { display: none } [data-roofwidget] * { visibility: hidden } a { position: fixed }</style>",
    "<style>} body { display: none }</style>",
    # What is left open would contain the widget.
    f'{"</div>" * 9}<a href="AWAY/open"><b><details>',
    "<table><tr><td><select><svg><math><!--",
)
MARKDOWN: Final = (
    *HTML,
    "[click md](javascript:location=`AWAY/md`) ![x](AWAY/picture) <javascript:location=1>",
    "[away]: AWAY/reference\n\n![z][away] [click md data](data:text/html,x)",
)
HOSTILE_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="location=`AWAY/onload`"><script>location=`AWAY/in-svg`</script>'
    '<image href="AWAY/image"/><foreignObject><meta xmlns="http://www.w3.org/1999/xhtml" http-equiv="refresh" '
    'content="0;url=AWAY/svg-refresh"/></foreignObject><a href="AWAY/svg-a"><text y="9">x</text></a></svg>'
)
REFRESH: Final = '<meta http-equiv="refresh" content="0;url=AWAY/KIND">'

BANNED: Final = """
meta base link script style iframe frame frameset object embed applet form button textarea select option video audio
source picture track template noscript area map dialog marquee portal animate set use image foreignObject title desc
annotation-xml
""".split()  # noqa: SIM905 - words read better than a list of texts
# All that is in the document but the widgets.
FOUND: Final = f"""() => {{
  const all = [...document.querySelectorAll("main *")].filter((one) => !one.closest("[data-roofwidget]"));
  const attributes = all.flatMap((one) => [...one.attributes].map(({{ name, value }}) => [one.localName, name, value]));
  return {{
    elements: [...new Set(all.map((one) => one.localName))].filter((name) => {BANNED}.includes(name)),
    attributes: attributes.filter(([, name, value]) => /^on|^data-/.test(name)
      || ["action", "formaction", "name", "ping", "popover", "srcset", "target", "to", "xlink:href"].includes(name)
      || /^(class|id)$/.test(name) && /^(roofwidget|rw-|step=)/.test(value)
      || name === "style" && /url|image-set|fixed/i.test(value)
      || name === "src" && !value.startsWith("data:image/")),
    links: [...document.querySelectorAll("main a[href]")].filter((one) => !one.closest("[data-roofwidget]"))
      .filter((one) => !/^(https?:|#)/.test(one.getAttribute("href")) || one.rel !== "noopener noreferrer").length,
    inputs: all.filter((one) => one.localName === "input" && one.type !== "checkbox").length,
    around: document.querySelectorAll(":is(a, b, details, table) [data-roofwidget]").length,
  }};
}}"""
# What lies over the chart, at points of a grid.
OVER_THE_CHART: Final = """(chart) => {
  const { left, top, width, height } = chart.getBoundingClientRect();
  const steps = [0.1, 0.3, 0.5, 0.7, 0.9];
  return steps.flatMap((x) => steps.map((y) => document.elementFromPoint(left + x * width, top + y * height)))
    .filter((one) => !one?.closest("[data-roofwidget]")).map((one) => one?.outerHTML);
}"""


class Server(http.server.ThreadingHTTPServer):
    """A server of this machine that has one page, and remembers all that it is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.page = b""
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with the page, whatever is asked for."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.server.page)

    do_POST = do_GET  # noqa: N815 - the name of the standard library

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the standard library
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def displayed(kind: str, data: Any, **more: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "metadata": {}, "data": {kind: data, **more}}


def cell(kind: str, source: str, **more: Any) -> dict[str, Any]:
    code = {"execution_count": 1, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **code, **more}


def page_of(folder: Path, cells: list[dict[str, Any]]) -> Path:
    """Return the page of a notebook with these cells, and a widget after each output of the first."""
    widget = rw.roofline([rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], [("matmul", 4e12, 1e10, 0.08)])
    cells[0]["outputs"].append(displayed(VIEW, {"model_id": widget.model_id}))
    cells = [{**one, "id": f"cell-{at}"} for at, one in enumerate(cells)]
    metadata = {"widgets": {STATE: type(widget).get_manager_state(drop_defaults=False)}}
    path = write(folder / "lesson.ipynb", {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    assert main(["page", str(path)]) == 0
    return folder / "lesson.html"


def hostile_cells(server: Server) -> list[dict[str, Any]]:
    def away(text: str) -> str:
        return text.replace("AWAY", server.address).replace("PORT", str(server.server_port))

    def refresh(kind: str) -> str:
        return away(REFRESH.replace("KIND", kind))

    outputs = [displayed("text/html", away(one)) for one in HTML]
    outputs += [displayed("text/markdown", away(one)) for one in MARKDOWN]
    outputs += [
        displayed("image/svg+xml", away(HOSTILE_SVG)),
        displayed("application/javascript", away("location = 'AWAY/javascript'")),
        displayed("text/latex", refresh("latex")),
        displayed("text/plain", refresh("plain")),
        displayed("image/png", f'x">{refresh("png")}'),
        displayed("text/vnd.mermaid", refresh("mermaid")),
        {"output_type": "stream", "name": "stdout", "text": f"\x1b[31m{refresh('stream')}\x1b[0m"},
        {"output_type": "error", "ename": "E", "evalue": refresh("value"), "traceback": [refresh("traceback")]},
    ]
    isolated = displayed("text/html", refresh("isolated"))
    isolated["metadata"] = {"text/html": {"isolated": True}}
    picture = displayed("image/png", PICTURE)
    picture["metadata"] = {"image/png": {"width": f"1>{refresh('width')}", "alt": refresh("alt")}}
    tagged = cell("code", refresh("code"), metadata={"tags": [f'">{refresh("tag")}']})
    return [
        cell("code", "print(1)", outputs=[*outputs, isolated, picture]),
        tagged,
        *(cell("markdown", away(one)) for one in MARKDOWN),
        *(cell("raw", away(one)) for one in HTML),
        cell("markdown", "# A lesson\n\n![x](attachment:a)", attachments={"a": {"text/html": refresh("attachment")}}),
    ]


@pytest.mark.parametrize("is_file", [True, False])
def test_a_page_of_a_hostile_notebook_asks_nobody_and_stays_where_it_is(
    browser: Browser, tmp_path: Path, server: Server, *, is_file: bool
) -> None:
    path = page_of(tmp_path, hostile_cells(server))
    server.page = path.read_bytes()
    address = path.as_uri() if is_file else f"{server.address}/lesson.html"
    context, opened = browser.new_context(), list[str]()
    page = context.new_page()
    context.on("page", lambda other: opened.append(other.url))
    page.goto(address)
    chart = page.locator(".rw-chart")
    expect(chart).to_be_visible()
    assert page.evaluate(FOUND) == {"elements": [], "attributes": [], "links": 0, "inputs": 0, "around": 0}
    chart.scroll_into_view_if_needed()
    assert chart.evaluate(OVER_THE_CHART) == []
    # Nothing of what reads "click" leads anywhere, but "#here".
    texts = page.locator("main").get_by_text("click", exact=False)
    assert texts.count() > 2 * 10
    for text in texts.all():
        text.dispatch_event("click")
    assert page.url.partition("#")[0] == address
    assert opened == []
    assert server.asked == ([] if is_file else ["/lesson.html"])
    context.close()


def test_ordinary_outputs_stay_on_a_page(browser: Browser, tmp_path: Path) -> None:
    styled = pd.DataFrame({"time": [1.5, 2.5]}).style.set_uuid("one").set_properties(color="red").bar(color="lime")
    outputs = [
        displayed("text/html", styled.set_table_attributes('border="1"').to_html()),
        displayed("image/png", PICTURE, **{"text/plain": "<Figure>"}),
        displayed("image/svg+xml", DRAWING),
        displayed("text/html", f'<div class="drawing">{DRAWING}</div>'),
        displayed("text/html", f'<img class="data" alt="a" src="data:image/png;base64,{PICTURE}">'),
        displayed("text/html", "<math><mfrac><mi>F</mi><mi>Q</mi></mfrac></math>"),
        displayed("text/latex", "$\\frac{F}{Q}$"),
        displayed("text/html", "<details><summary>more</summary><p>folded</p></details>"),
        displayed("text/html", '<a class="away" href="https://example.org/">away</a>'),
        {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m \x1b[38;5;196mredder\x1b[0m"},
    ]
    attached = cell("markdown", "![attached](attachment:a.png)", attachments={"a.png": {"image/png": PICTURE}})
    context = browser.new_context(offline=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.goto(page_of(tmp_path, [cell("code", "print(1)", outputs=outputs), attached]).as_uri())
    expect(page.locator(".rw-chart")).to_be_visible()
    largest = page.locator("#T_one_row1_col0")
    assert largest.evaluate("(cell) => getComputedStyle(cell).backgroundImage").startswith("linear-gradient(")
    assert largest.evaluate("(cell) => getComputedStyle(cell).color") == "rgb(255, 0, 0)"
    loaded = "(all) => all.map((one) => one.naturalWidth)"
    assert page.locator("main img").evaluate_all(loaded) == [1, 20, 1, 1]
    assert page.locator(".drawing path").evaluate("(path) => path.getBBox().width") == 20
    assert page.locator("math mfrac > mi").all_text_contents() == ["F", "Q"]
    expect(page.get_by_text("$\\frac{F}{Q}$")).to_be_visible()
    expect(page.get_by_text("folded")).to_be_hidden()
    page.get_by_text("more", exact=True).click()
    expect(page.get_by_text("folded")).to_be_visible()
    expect(page.locator(".ansi-red-fg")).to_have_text("red")
    assert page.get_by_text("redder").evaluate("(text) => getComputedStyle(text).color") == "rgb(255, 0, 0)"
    expect(page.locator("a.away")).to_have_attribute("rel", "noopener noreferrer")
    expect(page.locator("pre .nb")).to_have_text("print")
    assert faults == []
    context.close()
