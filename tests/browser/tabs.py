"""Pages of JupyterLab that serve one notebook after another: to load a page costs several times what a test does."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page

START_SECONDS = 90.0
# A page grows with every notebook, however well it is cleared.
NOTEBOOKS_EACH = 25

# Page scripts. "panel" is the notebook on show; a single-document page has exactly one.
READY = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  return kernel?.status === 'idle' && kernel.connectionStatus === 'connected'
    && panel.content?.widgets?.length > 0;
}"""
# A page without a notebook shows the launcher, which makes way.
OPEN = """async (path) => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute('docmanager:open', { path, factory: 'Notebook', kernel: { name: 'python3' } });
  for (const widget of [...shell.widgets('main')]) if (widget !== shell.currentWidget) widget.close();
}"""
# Ends the kernel, lets go of the notebook without saving, and forgets the code and the style of the widget: the next
# notebook is sent them again, as on a new page.
CLEAR = """async () => {
  for (const panel of [...window.jupyterapp.shell.widgets('main')]) {
    await panel.sessionContext?.shutdown();
    panel.dispose();
  }
  for (const style of document.querySelectorAll('style[data-roofwidget]')) style.remove();
  for (const name of ['roofwidget', 'roofwidget loaders']) delete globalThis[Symbol.for(name)];
  delete window.cellRuns;
}"""
# What a test can leave on a page: global names, stored items, views and dialogs, directions and preferences. MathJax is
# JupyterLab's own, loaded when it is first needed.
TRACES = """() => [
  ...Reflect.ownKeys(window).filter((key) => key !== 'MathJax'),
  ...Object.keys(localStorage), ...Object.keys(sessionStorage),
  ...[...document.querySelectorAll('.roofwidget, .jp-Dialog')].map((element) => element.className),
  `dir ${document.documentElement.dir} ${document.body.dir}`,
  ...['forced-colors: active', 'prefers-reduced-motion: reduce', 'prefers-color-scheme: dark']
    .filter((asked) => matchMedia(`(${asked})`).matches),
].map(String).sort()"""


class Tab:
    """A page with JupyterLab and one notebook at a time, in a context of its own or in that of another page.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The page.
    requests, console_errors : list of str
        What the page asked for and what it reported, its loading and the notebook on show together.
    """

    def __init__(self, browser: Browser, *, beside: Tab | None = None) -> None:
        self._context: BrowserContext = beside._context if beside else browser.new_context()
        self.page: Page = self._context.new_page()
        self.requests: list[str] = []
        self.console_errors: list[str] = []
        self._loading: list[str] = []
        self._traces: list[str] = []
        self._opened = 0
        self.has_lost_kernel = False
        """Whether a test has ended a kernel: then its notebook may report messages that it cannot send, also later."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda channel: self.requests.append(channel.url))
        self.page.on("console", self._note)
        self.page.on("pageerror", self._note_uncaught)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console_errors.append(message.text)

    def _note_uncaught(self, error: Error) -> None:
        # JupyterLab's own scripts sometimes fail when a page changes its size quickly, also without a widget. The
        # widget's code is in a module of its own, whose address begins with "blob:".
        frames = re.findall(r"(?:blob:)?https?://[^\s)]+", error.stack or "")
        if not frames or not all("/static/lab/" in frame for frame in frames):
            self.console_errors.append(f"{error} {error.stack or ''}")

    def open(self, url: str, name: str, *, width: int, height: int) -> None:
        """Show the notebook `name` of the server at `url` and wait until its kernel is ready."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.requests = list(self._loading)
        self.console_errors = []
        if self._opened:
            self.page.evaluate(OPEN, name)
        else:
            # Only a single-document page forgets, on purpose, which notebooks were open before.
            self.page.goto(f"{url}/doc/tree/{name}", timeout=START_SECONDS * 1000)
        self.page.wait_for_function(READY, timeout=START_SECONDS * 1000)
        if not self._opened:
            self._loading = list(self.requests)
            self._traces = self.page.evaluate(TRACES)
        self._opened += 1

    def reload(self) -> None:
        """Load the page again and wait until the kernel of its notebook is ready."""
        self.page.reload(timeout=START_SECONDS * 1000)
        self.page.wait_for_function(READY, timeout=START_SECONDS * 1000)

    def clear(self) -> bool:
        """Take the notebook and its kernel away; return whether the page is then as it was before the first."""
        # A page or a kernel that a test has ended is as closed as it can be.
        with contextlib.suppress(Exception):
            self.page.mouse.up()
            self.page.mouse.move(0, 0)
            self.page.evaluate(CLEAR)
            self._context.clear_permissions()
            is_clean = self._opened < NOTEBOOKS_EACH and self.page.evaluate(TRACES) == self._traces
            return is_clean and not self.has_lost_kernel
        return False

    def close(self) -> None:
        """Close the page."""
        self._context.close()


class Tabs:
    """Pages kept from one test to the next, each used only while it is as good as new."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[Tab] = []

    def take(self) -> Tab:
        """Return a page without a notebook."""
        return self._free.pop() if self._free else Tab(self._browser)

    def give_back(self, tab: Tab, *, trusted: bool) -> None:
        """Take the notebook off a page, and keep the page if nothing of the notebook is left and it is `trusted`."""
        if tab.clear() and trusted:
            self._free.append(tab)
        else:
            tab.close()

    def close(self) -> None:
        """Close the pages that are left."""
        while self._free:
            self._free.pop().close()
