"""The widget under a content security policy that allows only what docs/hosts.md names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser import lab
from tests.browser.drawn import Drawn
from tests.browser.tabs import Tab

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

# anywidget imports each widget's script from an address that begins with "blob:".
POLICY = (
    "default-src 'none'; base-uri 'none'; object-src 'none'; form-action 'self'; connect-src 'self' ws://127.0.0.1:*; "
    "font-src 'self' data:; img-src 'self' data:; script-src 'self' blob: 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'"
)
WATCH = """document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
  (window.refused ??= []).push(`${effectiveDirective} ${blockedURI}`));"""
# The rules are nested.
RULES = """() => {
  const count = (rules) => [...rules].reduce((sum, rule) => sum + 1 + count(rule.cssRules ?? []), 0);
  return count(document.querySelector('style[data-roofwidget]').sheet.cssRules);
}"""
CELL = "import roofwidget as rw\nw = rw.roofline(['v5e'], [('matmul', 4e12, 1e10, 0.08)])\nw"


def test_the_widget_works_under_a_strict_policy(browser: Browser, tmp_path: Path) -> None:
    settings = {"headers": {"Content-Security-Policy": POLICY}}
    with lab.jupyterlab(tmp_path, f"--ServerApp.tornado_settings={settings}") as server:
        tab = Tab(browser)
        tab.page.add_init_script(WATCH)
        book = lab.Notebook(browser, server, "policy.ipynb", [CELL], width=1200, height=900, tab=tab)
        before = book.page.evaluate("() => window.refused ?? []")
        book.run(0)
        drawn = Drawn(book)
        drawn.get_by_role("slider", name="bandwidth").press("ArrowRight")
        drawn.eventually(lambda: book.python("w.bandwidth > 819e9"))
        assert book.page.evaluate(RULES) > 100
        # JupyterLab's own page has an inline script. The widget adds nothing that is refused.
        assert (before, book.page.evaluate("() => window.refused")) == 2 * (["script-src-elem inline"],)
        tab.close()
