"""Faults: each test makes one, and says what the page said. A table of all of them ends the run.

`make faults` makes all. Without `ROOFWIDGET_FAULTS=all` pytest makes the cheap ones.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

import pytest

from tests.browser.conftest import server, tabs
from tests.browser.lab import Notebook, Server
from tests.browser.proxy import Proxy, proxy
from tests.browser.tabs import Tab, Tabs
from tests.faults.sides import CELL, Page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["server", "tabs"]

ALL: Final = os.environ.get("ROOFWIDGET_FAULTS", "") == "all"

Thread = Literal["a subshell", "the main thread"]
THREADS: Final[dict[Thread, str]] = {"a subshell": "perCommTarget", "the main thread": "disabled"}
SUBSHELLS: Final = """(how) => {
  window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.commsOverSubshells = how;
}"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "fault(name, is_cheap=False): the fault that a test makes; `make test` needs cheap ones"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if (mark := item.get_closest_marker("fault")) and not (ALL or mark.kwargs)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


class Faults:
    """Opens notebooks for a fault, and notes what their pages say.

    Attributes
    ----------
    server : Server
        The JupyterLab of the session.
    """

    def __init__(self, request: pytest.FixtureRequest, server: Server, browser: Browser, tabs: Tabs) -> None:
        self.server = server
        self._request = request
        self._browser = browser
        self._tabs = tabs
        self._shared: list[Tab] = []
        self._running = contextlib.ExitStack()
        self._count = 0

    def open(
        self,
        cells: Sequence[str] = (CELL,),
        *,
        is_new: bool = False,
        server: Server | None = None,
        thread: Thread = "a subshell",
    ) -> Page:
        """Open a notebook and run its first cell.

        `is_new`: in a page that no other test has used or will use. `thread` says where the kernel handles the
        messages of widgets.
        """
        is_new = is_new or server is not None
        tab = Tab(self._browser) if is_new else self._tabs.take()
        if is_new:
            self._running.callback(tab.close)
        else:
            self._shared.append(tab)
        self._count += 1
        name = f"{self._request.node.name}-{self._count}.ipynb"
        book = Notebook(self._browser, server or self.server, name, cells, width=1200, height=900, tab=tab)
        book.theme("light")
        book.page.evaluate(SUBSHELLS, THREADS[thread])
        book.run(0)
        return self._page(book, server or self.server, name)

    def open_again(self, page: Page, server: Server | None = None, *, beside: Tab | None = None) -> Page:
        """Open the saved notebook of a page in another page: of another person or, `beside` a tab, of the same one."""
        tab = Tab(self._browser, beside=beside)
        if beside is None:
            self._running.callback(tab.close)
        used = server or self.server
        book = Notebook(self._browser, used, page.name, None, width=1200, height=900, tab=tab)
        return self._page(book, used, page.name)

    def _page(self, book: Notebook, server: Server, name: str) -> Page:
        page = Page(book, server, name)
        self._running.callback(page.close)
        return page

    def through(self) -> tuple[Proxy, Server]:
        """Return a proxy, and the address of the server through this proxy."""
        running = self._running.enter_context(proxy(self.server.url))
        return running, Server(running.url, self.server.root, self.server.data)

    def says(self, text: str) -> None:
        """Note what a page said, for the table."""
        self._request.node.user_properties.append(("said", text))

    def needs(self, text: str) -> None:
        """Note that the widget does not survive the fault, and what a person must do."""
        self._request.node.user_properties.append(("needs", text))

    def close(self, *, is_passed: bool) -> None:
        """Close the pages, or hand them on."""
        errors = [error for tab in self._shared for error in tab.console_errors]
        with self._running:
            for tab in self._shared:
                self._tabs.give_back(tab, trusted=is_passed and not errors)
        assert errors == []


@pytest.fixture
def faults(request: pytest.FixtureRequest, server: Server, browser: Browser, tabs: Tabs) -> Iterator[Faults]:
    """Open notebooks, and take them away again."""
    name: str = request.node.get_closest_marker("fault").args[0]
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    request.node.user_properties.append(("fault", name.format(**parameters)))
    failed = request.session.testsfailed
    opened = Faults(request, server, browser, tabs)
    yield opened
    opened.close(is_passed=request.session.testsfailed == failed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of faults."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "when", "") == "call" and dict(report.user_properties).get("fault")
    ]
    if not reports:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line("| fault | survived | what the page said |")
    terminalreporter.write_line("| --- | --- | --- |")
    for report in sorted(reports, key=_place):
        said = [value for name, value in report.user_properties if name == "said"]
        needs = dict(report.user_properties).get("needs")
        survived = "**no**" if not report.passed else f"no: {needs}" if needs else "yes"
        name = dict(report.user_properties)["fault"]
        terminalreporter.write_line(f"| {name} | {survived} | {'; then: '.join(said) or 'nothing'} |")


def _place(report: pytest.TestReport) -> tuple[str, int, list[int], str]:
    """Return the sort key of a fault: its place in the files, then the numbers in its name."""
    path, line, name = report.location
    return path, line or 0, [int(number) for number in re.findall(r"\d+", name)], name
