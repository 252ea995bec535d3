"""The built site in a real Chromium, over HTTP and from its files, with all other hosts refused.

`make site` names the folder of the site in ``ROOFWIDGET_SITE``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Frame, Page, Route, expect

import roofwidget as rw
from roofwidget import cli
from roofwidget.readers.page import MARK
from tests.places import ROOT, text_of
from tests.static_server import serving

VARIABLE = "ROOFWIDGET_SITE"
if VARIABLE not in os.environ:
    pytest.skip("`make site` opens the site that it built", allow_module_level=True)
SITE = Path(os.environ[VARIABLE]).resolve()
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
LIVE = [page for page in PAGES if page.startswith("live/")]
PLAYGROUND = "playground.html"
AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
TO_AXE = ["index.html", PLAYGROUND, "api/analysis.html", "chips.html", "course/index.html", "first_five_minutes.html"]
SERIOUS = """async () => (await axe.run()).violations.filter(({ impact }) => /serious|critical/.test(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))"""


@pytest.fixture(scope="module")
def http_root() -> Iterator[str]:
    with serving(SITE) as address:
        yield address


@pytest.fixture(params=["http", "file"])
def root(request: pytest.FixtureRequest, http_root: str) -> str:
    """Return the address of the site."""
    return http_root if request.param == "http" else SITE.as_uri()


class Visitor:
    """A page that opens addresses below a root alone, and keeps what went wrong."""

    def __init__(self, browser: Browser, root: str, **options: str) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)  # type: ignore[arg-type]
        self.root = root
        self.faults: list[str] = []
        self.context.route("**/*", self._judge)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type}: {message.text}")

    def _judge(self, route: Route) -> None:
        if route.request.url.startswith((f"{self.root}/", "data:", "blob:")):
            route.continue_()
        else:
            self.faults.append(f"asked for {route.request.url}")
            route.abort()

    def open(self, name: str) -> Page:
        self.page.goto(f"{self.root}/{name}")
        return self.page


@pytest.fixture
def visitor(browser: Browser, root: str) -> Iterator[Visitor]:
    made = Visitor(browser, root)
    yield made
    made.context.close()


def drawn(frame: Frame) -> None:
    """Wait until each widget of a page is drawn."""
    parts = frame.locator(f"section[{MARK}]").count()
    assert parts > 0
    expect(frame.locator(".rw-chart")).to_have_count(parts)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_an_error_and_asks_nobody_else(visitor: Visitor, name: str) -> None:
    page = visitor.open(name)
    frames = page.locator("iframe").all()
    for frame in frames:
        frame.scroll_into_view_if_needed()
        handle = frame.element_handle()
        assert handle is not None
        content = handle.content_frame()
        assert content is not None
        content.wait_for_load_state()
        drawn(content)
    assert bool(frames) == (name == "index.html" or re.fullmatch(r"course/\d.*", name) is not None)
    if name in LIVE:
        drawn(page.main_frame)
    if name == PLAYGROUND:
        expect(page.locator(".rw-empty")).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 480):
            # Whatever is wide scrolls in a box of its own.
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visitor.faults == []


def test_a_lesson_is_reached_by_the_navigation_and_its_links_leave_the_frame(visitor: Visitor) -> None:
    page = visitor.open("index.html")
    page.locator(".sidebar-tree").get_by_role("link", name="The course").click()
    page.get_by_role("main").get_by_role("link", name="A first roofline").click()
    frame = page.frame_locator("iframe.lesson")
    expect(frame.locator(".rw-chart").first).to_be_visible()
    frame.locator("a[href$='02_arithmetic_intensity.html']").first.click()
    expect(page).to_have_title(re.compile("^What sets"))
    assert visitor.faults == []


def test_the_playground_is_reached_from_the_start_page_and_its_links_open_it(visitor: Visitor) -> None:
    page = visitor.open("index.html")
    page.get_by_role("link", name="Open the playground").click()
    page.get_by_role("combobox", name="Show").select_option("attention")
    expect(page.locator(".rw-chart")).to_be_visible()
    page.get_by_role("button", name="Copy link").click()
    expect(page).to_have_url(re.compile(r"/playground\.html#s="))
    page.reload()
    expect(page.get_by_role("combobox", name="Show")).to_have_value("attention")
    assert visitor.faults == []


def test_the_search_finds_a_name(visitor: Visitor) -> None:
    page = visitor.open("search.html?q=critical_batch_per_chip")
    expect(page.locator("#search-results a[href*='roofwidget.critical_batch_per_chip']").first).to_be_visible()
    assert visitor.faults == []


def test_a_frame_has_the_theme_of_the_site(browser: Browser, root: str) -> None:
    # Where a test sets a theme, Chromium gives frames the same one.
    visitor = Visitor(browser, root, color_scheme="null")
    page = visitor.open("index.html")
    frame = page.frame_locator("iframe.first")
    expect(frame.locator(".rw-chart")).to_be_visible()
    expect(frame.locator(".rw-dark")).to_have_count(0)
    page.locator(".theme-toggle:visible").click()
    expect(page.locator("body")).to_have_attribute("data-theme", "dark")
    expect(frame.locator(".rw-dark")).to_have_count(1)
    assert visitor.faults == []
    visitor.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", TO_AXE)
def test_axe_finds_nothing_serious(browser: Browser, http_root: str, name: str, scheme: str) -> None:
    visitor = Visitor(browser, http_root, color_scheme=scheme)
    page = visitor.open(name)
    page.evaluate(text_of(AXE))
    assert page.evaluate(SERIOUS) == []
    visitor.context.close()


class Links(HTMLParser):
    """The targets of links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text_of(path))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser names it
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value:
                self.targets.append(value)


def test_every_link_of_every_page_leads_to_a_file_of_the_site_and_to_an_anchor() -> None:
    links = {SITE / name: Links(SITE / name) for name in PAGES}
    lost = []
    for page, its in links.items():
        for target in its.targets:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            is_there = place.is_file() and place.is_relative_to(SITE)
            anchors = links[place].anchors if place in links else set()
            # A browser tries the anchor as it is written first.
            if not is_there or (parts.fragment and anchors.isdisjoint({parts.fragment, unquote(parts.fragment)})):
                lost.append(f"{page.relative_to(SITE)}: {target}")
    assert lost == []


def test_the_reference_has_every_public_name_and_every_subcommand() -> None:
    anchors = set().union(*(Links(path).anchors for path in SITE.glob("api/*.html")))
    names = vars(rw)["__all__"]
    assert [name for name in names if not {f"roofwidget.{name}", f"module-roofwidget.{name}"} & anchors] == []
    command = text_of(SITE / "api" / "command.html")
    assert [name for name in cli._COMMANDS if f"roofwidget {name}" not in command] == []
