"""Drive a real JupyterLab in a real browser: one server, one browser, and notebooks open in its pages.

Cells run through JupyterLab's command registry, because keys sent to a page get lost. Every wait is
bounded.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import nbformat
from nbformat.sign import NotebookNotary
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.browser.tabs import START_SECONDS, Tab

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from playwright.sync_api import Browser, Locator, Page

Theme = Literal["light", "dark"]

BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
RUN_SECONDS = 60.0
# Only Linux hands the kernels over that another process has forked.
LAB = [str(Path(__file__).with_name("forked_lab.py"))] if sys.platform == "linux" else ["-m", "jupyterlab"]
# How often a saved notebook is opened until JupyterLab restores its widgets, see `Notebook.lost_saved_widgets`.
RESTORE_ATTEMPTS = 4
LOCAL = (
    "http://127.0.0.1",
    "http://localhost",
    "ws://127.0.0.1",
    "ws://localhost",
    "data:",
    "blob:",
)
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
THEMES: dict[Theme, str] = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

# Page scripts.
START = """(index) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.deselectAll();
  content.activeCellIndex = index;
  content.mode = 'command';
  const run = { done: false };
  (window.cellRuns ??= {})[index] = run;
  const end = () => { run.done = true; };
  window.jupyterapp.commands.execute('notebook:run-cell').then(end, end);
}"""
DONE = "(index) => window.cellRuns?.[index]?.done === true"
ERRORS = """(index) =>
  window.jupyterapp.shell.currentWidget.content.widgets[index].model.outputs.toJSON()
    .filter((output) => output.output_type === 'error')
    .map((output) => output.traceback.join('\\n') || `${output.ename}: ${output.evalue}`)"""
# textContent, because innerText is empty while a cell is out of sight; without the prompts.
TEXT = """(index) => {
  const { node } = window.jupyterapp.shell.currentWidget.content.widgets[index].outputArea;
  const outputs = [...node.querySelectorAll('.jp-OutputArea-output')];
  return outputs.map((output) => output.textContent).join(' ');
}"""
SHOW = "(index) => window.jupyterapp.shell.currentWidget.content.scrollToItem(index)"
ASK = """async ([expression, seconds]) => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  const future = kernel.requestExecute({
    code: '', silent: true, store_history: false, allow_stdin: false,
    user_expressions: { answer: expression },
  });
  let clock;
  const late = new Promise((resolve) => {
    clock = setTimeout(() => resolve(null), seconds * 1000);
  });
  const reply = await Promise.race([future.done, late]);
  clearTimeout(clock);
  if (reply === null) future.dispose();
  return reply?.content ?? null;
}"""
CHANGE_THEME = "(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
# The attribute is set once the new theme's style sheet is in place.
THEME_IS = "(light) => document.body.dataset.jpThemeLight === light"
SAVE = "async () => { await window.jupyterapp.commands.execute('docmanager:save'); }"
SHUTDOWN = "async () => { await window.jupyterapp.shell.currentWidget?.sessionContext?.shutdown(); }"


class CellError(AssertionError):
    """A cell raised; the message is its traceback."""


def plain(text: str) -> str:
    """Return `text` without terminal colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@dataclass(frozen=True)
class Server:
    """A running JupyterLab, the folder it shows, and the one in which it keeps which notebooks are trusted."""

    url: str
    root: Path
    data: Path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which Jupyter finds this interpreter's files, none of the user's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
    # JupyterLab asks whether it may fetch news; the question would lie over the page.
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "notification.jupyterlab-settings").write_text(
        json.dumps({"checkForUpdates": False, "doNotDisturbMode": True, "fetchNews": "false"}),
        encoding="utf-8",
    )
    # Nor does a page ask whether JupyterLab must be built: each answer starts Node.
    page = home / "config" / "labconfig" / "page_config.json"
    page.parent.mkdir(exist_ok=True)
    page.write_text(json.dumps({"buildAvailable": False, "buildCheck": False}), encoding="utf-8")
    return environment | {
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def end(process: subprocess.Popen[bytes]) -> None:
    """End the server and the kernels it started, which share its process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
            return


@contextlib.contextmanager
def jupyterlab(
    home: Path, *options: str, port: int | None = None, python: str = sys.executable, **variables: str
) -> Iterator[Server]:
    """Run an interpreter's JupyterLab on a port, or on a free one; all that it writes goes below `home`.

    By default it is this interpreter's. `variables` are added to its environment.
    """
    root = home / "notebooks"
    root.mkdir(exist_ok=True)
    port = port or free_port()
    server = Server(f"http://127.0.0.1:{port}", root, home / "data")
    command = [
        *(python, *LAB, "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *(["--allow-root"] if os.geteuid() == 0 else []),
        # The port is on this machine only and lives for minutes.
        "--IdentityProvider.token=",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={root}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *options,
        "--LabApp.extension_manager=readonly",
    ]
    record = home / "server.log"
    with record.open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=home,
            env=environment(home) | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await_server(process, server.url, record)
        yield server
    finally:
        end(process)


def _await_server(process: subprocess.Popen[bytes], url: str, record: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{url}/api/status", timeout=2).close()  # noqa: S310 (our own address)
            return
        time.sleep(0.2)
    tail = "\n".join(record.read_text(errors="replace", encoding="utf-8").splitlines()[-20:])
    raise RuntimeError(f"JupyterLab did not start within {START_SECONDS:.0f} s:\n{tail}")


def _view(model: str) -> dict[str, Any]:
    data = {WIDGET_VIEW: {"model_id": model, "version_major": 2, "version_minor": 0}, "text/plain": "a widget"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


class Notebook:
    """A notebook open in a page that shows nothing else, its kernel ready.

    The page is a new one, unless a `tab` without a notebook is handed in. Without `cells` the notebook is one that was
    saved before, with the kernel that it has. With `saved` the first cell has the views of
    the widgets whose states these metadata hold, as they are in a notebook that was saved and is trusted.

    Attributes
    ----------
    tab : Tab
        What the page is in.
    page : playwright.sync_api.Page
        The page, for everything not named here.
    requests : list of str
        Every URL the page asked for, in order.
    console_errors : list of str
        What the page reported as an error, and every exception that nobody caught.
    """

    def __init__(
        self,
        browser: Browser,
        server: Server,
        name: str,
        cells: Sequence[str] | None,
        *,
        width: int,
        height: int,
        tab: Tab | None = None,
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        if cells is not None:
            content = self._content(cells, saved)
            (server.root / name).write_text(json.dumps(content), encoding="utf-8")
        if saved is not None:
            NotebookNotary(data_dir=str(server.data)).sign(nbformat.from_dict(content))  # type: ignore[no-untyped-call]
        self.tab = tab or Tab(browser)
        self.page: Page = self.tab.page
        self.page.set_default_timeout(RUN_SECONDS * 1000)
        self.tab.open(server.url, name, width=width, height=height)
        self.requests: list[str] = self.tab.requests
        self.console_errors: list[str] = self.tab.console_errors

    @staticmethod
    def _content(cells: Sequence[str], saved: Mapping[str, Any] | None) -> dict[str, Any]:
        models = {} if saved is None else saved["state"]
        views = [key for key, model in models.items() if model["state"].get("_view_name") == "AnyView"]
        return {
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": None,
                    "id": f"cell-{index}",
                    "metadata": {},
                    "outputs": [_view(key) for key in views] if index == 0 else [],
                    "source": source,
                }
                for index, source in enumerate(cells)
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                **({} if saved is None else {"widgets": {WIDGET_STATE: saved}}),
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }

    @property
    def external_requests(self) -> list[str]:
        """The requests that left this machine."""
        return [url for url in self.requests if not url.startswith(LOCAL)]

    def forgive_a_lost_kernel(self) -> None:
        """Forget the errors of messages that a page could not send to a kernel that the test has ended."""
        self.console_errors[:] = [error for error in self.console_errors if "Could not send" not in error]
        self.tab.has_lost_kernel = True

    def start(self, index: int) -> None:
        """Start cell `index` and return at once."""
        self.page.evaluate(START, index)

    def run(self, index: int, *, seconds: float = RUN_SECONDS) -> None:
        """Run cell `index` and wait until it is done; raise `CellError` if it raised."""
        self.start(index)
        self.wait(index, seconds=seconds)

    def wait(self, index: int, *, seconds: float = RUN_SECONDS) -> None:
        """Wait until cell `index`, started before, is done; raise `CellError` if it raised."""
        try:
            self.page.wait_for_function(DONE, arg=index, timeout=seconds * 1000, polling=30)
        except PlaywrightTimeout:
            raise TimeoutError(f"cell {index} did not end within {seconds:g} s") from None
        errors = self.page.evaluate(ERRORS, index)
        if errors:
            raise CellError(plain("\n".join(errors)))

    def output(self, index: int) -> str:
        """Return the text under cell `index`, with runs of blanks as one."""
        text: str = self.page.evaluate(TEXT, index)
        return " ".join(text.split())

    def cell(self, index: int) -> Locator:
        """Return cell `index`, scrolled into view: JupyterLab takes distant cells off the page."""
        self.page.evaluate(SHOW, index)
        return self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')

    def python(self, expression: str, *, seconds: float = RUN_SECONDS) -> Any:
        """Return the value of a Python expression, which JSON can hold, in the notebook's kernel.

        The kernel answers when it is free, so this also waits for cells and messages sent before.
        """
        asked = f"__import__('json').dumps({expression})"
        reply = self.page.evaluate(ASK, [asked, seconds])
        if reply is None:
            raise TimeoutError(f"the kernel did not answer {expression!r} within {seconds:g} s")
        answer = reply.get("user_expressions", {}).get("answer", reply)
        if answer["status"] != "ok":
            raise CellError(plain("\n".join(answer.get("traceback", [str(answer)]))))
        return json.loads(ast.literal_eval(answer["data"]["text/plain"]))

    def theme(self, theme: Theme) -> None:
        """Switch JupyterLab's theme and wait until it is in place."""
        self.page.evaluate(CHANGE_THEME, THEMES[theme])
        self.page.wait_for_function(THEME_IS, arg="true" if theme == "light" else "false")

    def screenshot(self, path: Path | str) -> None:
        """Save what the page shows as a PNG."""
        self.page.screenshot(path=path)

    def save(self) -> None:
        """Save the notebook, so that another page can show its outputs."""
        self.page.evaluate(SAVE)

    def reload(self) -> None:
        """Load the page again, with the kernel that the notebook has."""
        self.tab.reload()

    def lost_saved_widgets(self) -> bool:
        """Return whether JupyterLab failed to restore the saved widgets, and forgive its error.

        On a busy machine JupyterLab may ask the kernel for models before it has read those of the notebook, and then
        shows this error for good: https://github.com/jupyter-widgets/ipywidgets, WidgetManager.restoreWidgets.
        """
        lost = self.page.get_by_text("Error displaying widget: model not found")
        expect(self.page.locator(".rw-chart").or_(lost).first).to_be_visible()
        if lost.count() == 0:
            return False
        self.console_errors.clear()
        return True

    def close(self) -> None:
        """End the kernel and close the page."""
        self.tab.clear()
        self.tab.close()
