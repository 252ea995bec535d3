"""The pages that tests hand on: as good as new, or not handed on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.drawn import Drawn
from tests.browser.lab import Notebook, Server
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
