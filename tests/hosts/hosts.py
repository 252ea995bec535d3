"""The programs that show a live widget: what each is given, how it is started, and where its page is.

`make hosts` makes the environments that are named here. The hosts of the environment "dev" are in the development
environment, so every `make test` tries them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests import environments
from tests.browser import lab
from tests.environments import DEV

ENVIRONMENTS: Final = {
    "marimo": ("marimo",),
    "collaboration": ("jupyterlab", "jupyter-collaboration"),
    # Solara's server fetches its front end from a network, but for the version of its assets.
    "apps": (
        *("panel", "ipywidgets_bokeh", "solara==1.58.2", "solara-ui==1.58.2", "solara-server[starlette]==1.58.2"),
        "solara-assets==1.58.2",
    ),
    "documents": ("myst-nb", "papermill", "ipykernel", "nbconvert"),
}
"""What to install besides roofwidget, by the name of an environment; see `tests.environments`."""
START_SECONDS: Final = 120.0

MAKE: Final = """import roofwidget as rw
w = rw.RooflineWidget(["h100-sxm"], [("matmul", 4e12, 1e10, 8e-3), ("copy", 0, 8e9, 4e-3)])
def told():
    return "Python heard " + rw.units.format_quantity(w.peak_flops, "FLOP/s", 4)"""
LESSON: Final = f"""import ipywidgets
from IPython.display import display
{MAKE}
heard = ipywidgets.Label("Python heard nothing")
w.observe(lambda _: setattr(heard, "value", told()), "what_if")
display(heard)
w"""
MARIMO: Final = """import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    import roofwidget as rw
    kernels = [("matmul", 4e12, 1e10, 8e-3), ("copy", 0, 8e9, 4e-3)]
    m = mo.ui.anywidget(rw.RooflineWidget(["h100-sxm"], kernels))
    return m, mo, rw

@app.cell
def _(m):
    m
    return

@app.cell
def _(m, mo, rw):
    mo.md("Python heard " + rw.units.format_quantity(m.value["peak_flops"], "FLOP/s", 4))
    return

if __name__ == "__main__":
    app.run()
"""
PANEL: Final = f"""import panel as pn
pn.extension("ipywidgets")
{MAKE}
heard = pn.pane.Str("Python heard nothing")
w.observe(lambda _: setattr(heard, "object", told()), "what_if")
pn.Column(heard, w).servable()
"""
SOLARA: Final = f"""import solara

@solara.component
def Page():
    heard, hear = solara.use_state("Python heard nothing")
    def make():
{chr(10).join("        " + line for line in MAKE.splitlines())}
        w.observe(lambda _: hear(told()), "what_if")
        return w
    w = solara.use_memo(make, [])
    solara.Text(heard)
    solara.display(w)
"""


def notebook(*cells: str) -> str:
    """Return the text of a notebook."""
    content = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{index}",
                "metadata": {},
                "outputs": [],
                "source": source,
            }
            for index, source in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content)


@dataclass(frozen=True)
class Host:
    """A program that shows a live widget.

    Attributes
    ----------
    name
        What people call it.
    environment
        The environment that it is in: `DEV`, or one of `ENVIRONMENTS`.
    file, text
        The name and contents of what it shows.
    arguments
        The arguments of Python. "{port}" and "{file}" are filled in.
    path
        The page that shows the widget, below the address of the server.
    cells
        Whose cells the page has, if they have to be run: "jupyter", "marimo", or "" for none.
    own
        Beginnings of addresses that the host's own pages ask for on other machines, in vain.
    brought
        By such beginnings, files of the environment with which the test answers in the other machine's place.
    """

    name: str
    environment: str
    file: str
    text: str
    arguments: tuple[str, ...]
    path: str = "/"
    cells: str = ""
    own: tuple[str, ...] = ()
    brought: Mapping[str, str] = field(default_factory=dict)


_LOCAL: Final = ("--ip=127.0.0.1", "--port={port}", "--no-browser")
_ROOT: Final = ("--allow-root",) if os.geteuid() == 0 else ()
HOSTS: Final = (
    Host(
        "Notebook 7",
        DEV,
        "lesson.ipynb",
        notebook(LESSON),
        (
            *("-m", "notebook", *_LOCAL, *_ROOT, "--IdentityProvider.token="),
            *("--JupyterNotebookApp.expose_app_in_browser=True",),
        ),
        "/notebooks/lesson.ipynb",
        cells="jupyter",
    ),
    Host(
        "Two people",
        "collaboration",
        "lesson.ipynb",
        notebook(LESSON),
        (
            *("-m", "jupyterlab", *_LOCAL, *_ROOT, "--IdentityProvider.token="),
            *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"),
        ),
        "/doc/tree/lesson.ipynb",
        cells="jupyter",
    ),
    Host(
        "Voila",
        DEV,
        "lesson.ipynb",
        notebook(LESSON),
        ("-m", "voila", "{file}", "--no-browser", "--port={port}", "--Voila.ip=127.0.0.1"),
        # Its template asks for icons.
        own=("https://cdn.jsdelivr.net/npm/@fortawesome/",),
    ),
    Host(
        "marimo run",
        "marimo",
        "lesson.py",
        MARIMO,
        ("-m", "marimo", "run", "{file}", "--headless", "--no-token", "--host=127.0.0.1", "--port={port}"),
    ),
    Host(
        "marimo edit",
        "marimo",
        "lesson.py",
        MARIMO,
        (
            *("-m", "marimo", "--yes", "edit", "{file}", "--headless", "--no-token"),
            *("--host=127.0.0.1", "--port={port}", "--skip-update-check"),
        ),
        cells="marimo",
    ),
    Host(
        "Panel",
        "apps",
        "lesson.py",
        PANEL,
        ("-m", "panel", "serve", "{file}", "--address=127.0.0.1", "--port={port}"),
        "/lesson",
        own=("https://cdnjs.cloudflare.com/ajax/libs/font-awesome/", "https://cdn.holoviz.org/panel/"),
        brought={"https://unpkg.com/anywidget@": "share/jupyter/nbextensions/anywidget/index.js"},
    ),
    Host(
        "Solara",
        "apps",
        "lesson.py",
        SOLARA,
        ("-m", "solara", "run", "{file}", "--host=127.0.0.1", "--port={port}", "--no-open", "--production"),
    ),
)


@contextlib.contextmanager
def serving(host: Host, home: Path) -> Iterator[str]:
    """Start a host and return the address of the page that shows the widget. All that it writes goes below `home`."""
    (home / "work").mkdir()
    (home / "work" / host.file).write_text(host.text, encoding="utf-8")
    port = lab.free_port()
    command = [part.format(port=port, file=host.file) for part in host.arguments]
    record = home / "server.log"
    with record.open("wb") as log:
        process = subprocess.Popen(
            [str(environments.python_of(host.environment)), *command],
            cwd=home / "work",
            env=environments.variables_of(host.environment, home),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await(process, f"http://127.0.0.1:{port}", record)
        yield f"http://127.0.0.1:{port}{host.path}"
    finally:
        lab.end(process)


def _await(process: subprocess.Popen[bytes], url: str, record: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(url, timeout=2).close()  # noqa: S310 (our own address)
            return
        time.sleep(0.2)
    tail = "\n".join(record.read_text(errors="replace", encoding="utf-8").splitlines()[-20:])
    raise RuntimeError(f"the host did not start within {START_SECONDS:.0f} s:\n{tail}")


if __name__ == "__main__":
    environments.make(ENVIRONMENTS, sys.argv[1:])
