"""Fixtures: a JupyterLab, a Chromium and its pages for the session, notebooks for each test."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import lab
from tests.browser.drawn import EVENTUALLY_SECONDS
from tests.browser.exported import Exported
from tests.browser.tabs import Tab, Tabs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


# A machine that is busy with other work answers late; only what never comes about is a failure.
expect.set_options(timeout=1000 * EVENTUALLY_SECONDS)


class OpenNotebook(Protocol):
    """How a test asks for a notebook; see the fixture `notebook`."""

    def __call__(
        self,
        cells: Sequence[str],
        *,
        width: int = 1200,
        height: int = 900,
        theme: lab.Theme = "light",
        saved: Mapping[str, Any] | None = None,
    ) -> lab.Notebook:
        """Open a notebook made of `cells` and wait until its kernel is ready."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Server]:
    """Run a JupyterLab of its own for the session."""
    with lab.jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as running:
        yield running


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Iterator[Tabs]:
    """Keep pages from one test to the next."""
    kept = Tabs(browser)
    yield kept
    kept.close()


@pytest.fixture
def notebook(
    request: pytest.FixtureRequest, server: lab.Server, browser: Browser, tabs: Tabs
) -> Iterator[OpenNotebook]:
    """Open notebooks in pages that are as good as new, each with a kernel of its own, and take them away again."""
    used: list[Tab] = []
    failed = request.session.testsfailed

    def open_notebook(
        cells: Sequence[str],
        *,
        width: int = 1200,
        height: int = 900,
        theme: lab.Theme = "light",
        saved: Mapping[str, Any] | None = None,
    ) -> lab.Notebook:
        test = re.sub(r"\W+", "-", request.node.nodeid.rpartition("/")[2]).strip("-")
        name = f"{test}-{len(used)}.ipynb"
        used.append(tabs.take())
        size = {"width": width, "height": height}
        book = lab.Notebook(browser, server, name, cells, **size, tab=used[-1], saved=saved)
        # The server remembers the theme of the test before.
        book.theme(theme)
        return book

    yield open_notebook
    errors = [error for tab in used for error in tab.console_errors]
    passed = not errors and request.session.testsfailed == failed
    for tab in used:
        tabs.give_back(tab, trusted=passed)
    assert errors == []


@pytest.fixture
def exported(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Exported]]:
    """Open exported pages from their files, without a network."""
    opened: list[Exported] = []

    def open_page(html: str, **options: Any) -> Exported:
        opened.append(Exported(browser, tmp_path, html, **options))
        return opened[-1]

    yield open_page
    for one in opened:
        one.close()
