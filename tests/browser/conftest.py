"""Fixtures: a JupyterLab and a Chromium for the session, notebooks for each test."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium, lab

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class OpenNotebook(Protocol):
    """How a test asks for a notebook; see the fixture `notebook`."""

    def __call__(
        self,
        cells: Sequence[str],
        *,
        width: int = 1200,
        height: int = 900,
        theme: lab.Theme = "light",
    ) -> lab.Notebook:
        """Open a notebook made of `cells` and wait until its kernel is ready."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Server]:
    """Run a JupyterLab of its own for the session."""
    with lab.jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Run a Chromium for the session; its absence is a failure, never a skip."""
    try:
        path = chromium.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=lab.BROWSER_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def notebook(request: pytest.FixtureRequest, server: lab.Server, browser: Browser) -> Iterator[OpenNotebook]:
    """Open notebooks in pages of their own, closed again after the test."""
    opened: list[lab.Notebook] = []

    def open_notebook(
        cells: Sequence[str],
        *,
        width: int = 1200,
        height: int = 900,
        theme: lab.Theme = "light",
    ) -> lab.Notebook:
        test = re.sub(r"\W+", "-", request.node.nodeid.rpartition("/")[2]).strip("-")
        name = f"{test}-{len(opened)}.ipynb"
        book = lab.Notebook(browser, server, name, cells, width=width, height=height)
        opened.append(book)
        # The server remembers the theme of the test before.
        book.theme(theme)
        return book

    yield open_notebook
    errors = [error for book in opened for error in book.console_errors]
    for book in opened:
        book.close()
    assert errors == []
