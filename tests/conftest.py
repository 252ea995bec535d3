"""The browser of all tests that need one, the time of examples, and doctests of public classes, from their files.

A public class names its package as its module (``roofwidget``, ``roofwidget.workloads``), so that its pickles do not
depend on the file. doctest would take it for an import from elsewhere and skip its examples.
"""

from __future__ import annotations

import doctest
import gc
import inspect
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.real_files import left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.hostile_checks import TallyOf

# What these modules assert is explained as in a test.
pytest.register_assert_rewrite("tests.tables")

# On a slow machine a deadline per example would fail. With a seed the examples are the same in each run.
settings.register_profile("unhurried", deadline=None, derandomize="ROOFWIDGET_SEED" in os.environ)
settings.load_profile("unhurried")

_from_module: Any = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]  # doctest has no hook


def _is_defined_in(self: doctest.DocTestFinder, module: Any, object: Any) -> bool:  # noqa: A002 - doctest's own name
    if inspect.isclass(object) and f"{module.__name__}.".startswith(f"{object.__module__}."):
        return re.search(rf"^class {object.__name__}\b", inspect.getsource(module), re.MULTILINE) is not None
    return bool(_from_module(self, module, object))


doctest.DocTestFinder._from_module = _is_defined_in  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from the many objects of the collected tests: they stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Run a Chromium for the session; its absence is a failure, never a skip."""
    # Only tests in a browser need these.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    from tests.browser import chromium, lab  # noqa: PLC0415

    try:
        path = chromium.find()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=lab.BROWSER_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> TallyOf:
    """Return what notes the numbers of a place that hostile labels were tried in."""
    from tests.hostile_checks import Tally  # noqa: PLC0415

    return lambda place: Tally(request.node, place)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End the run with the number of hostile labels and places that were tried."""
    reports = [
        report
        for kind in ("passed", "failed")
        for report in terminalreporter.getreports(kind)
        if getattr(report, "when", "") == "call" and report.user_properties
    ]
    if reports:
        from tests.hostile_checks import summary  # noqa: PLC0415

        if line := summary(reports):
            terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Say in the very last line how many tests of real files were left out."""
    yield
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    # A process of pytest-xdist has no terminal.
    line = left_out(str(report.longrepr) for report in reporter.getreports("skipped")) if reporter else ""
    if line:
        reporter.write_line(line)
