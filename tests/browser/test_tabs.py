"""The pages that tests hand on, as good as new or not at all, and the kernels that tests run."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.drawn import EVENTUALLY_SECONDS, Drawn
from tests.browser.lab import Notebook, Server, jupyterlab
from tests.browser.tabs import Tabs

GUIDE = "import roofwidget as rw\nw = rw.RooflineWidget()\nw"
LEFT = "() => [Symbol.for('roofwidget') in window, document.querySelectorAll('style[data-roofwidget]').length]"


def test_a_page_is_handed_on_only_without_a_trace_of_the_notebook_before(
    browser: Browser, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    tabs = Tabs(browser)

    def opened(name: str) -> Notebook:
        return Notebook(browser, server, name, [GUIDE], width=1200, height=900, tab=tabs.take())

    first = opened("tabs-0.ipynb")
    first.run(0)
    Drawn(first)
    assert first.page.evaluate(LEFT) == [True, 1]
    tabs.give_back(first.tab, trusted=True)

    second = opened("tabs-1.ipynb")
    assert second.tab is first.tab
    assert second.page.url.endswith("/doc/tree/tabs-1.ipynb")
    assert second.python("'w' in globals()") is False
    assert second.output(0) == ""
    assert second.page.evaluate(LEFT) == [False, 0]
    second.run(0)
    Drawn(second)
    second.page.evaluate("() => { window.left = 1; }")
    tabs.give_back(second.tab, trusted=True)
    assert second.page.is_closed()

    third = tabs.take()
    assert third is not second.tab
    # However clean it is.
    monkeypatch.setattr(third, "clear", lambda: True)
    tabs.give_back(third, trusted=False)
    assert third.page.is_closed()
    tabs.close()


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")
def test_a_kernel_is_a_child_of_its_server_has_imported_no_widget_and_ends_with_the_server(
    browser: Browser, tmp_path: Path
) -> None:
    facts = "(lambda os, sys: [os.getpid(), os.getppid(), os.getsid(0), os.getcwd(), sorted(sys.modules)])"
    with jupyterlab(tmp_path) as server:
        book = Notebook(browser, server, "kernel.ipynb", [GUIDE], width=1200, height=900)
        kernel, parent, session, folder, modules = book.python(f"{facts}(__import__('os'), __import__('sys'))")
        assert session == kernel
        assert Path(folder) == server.root
        assert "numpy" in modules
        assert {"roofwidget", "ipywidgets", "anywidget"}.isdisjoint(modules)
        # None of its children is told.
        os.kill(parent, signal.SIGKILL)
        deadline = time.monotonic() + EVENTUALLY_SECONDS
        while Path(f"/proc/{kernel}").exists():
            assert time.monotonic() < deadline, "the kernel did not end"
            time.sleep(0.05)
        book.tab.close()
