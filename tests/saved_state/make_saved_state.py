"""Save what a JupyterLab writes of widgets into a notebook: ``python -m tests.saved_state.make_saved_state 0.2.0``.

One file a case of `cases`, in the folder of the version. Each holds a notebook's metadata
``application/vnd.jupyter.widget-state+json`` as JupyterLab's "Save Widget State Automatically" wrote it, but for the
text of the front end, which is left empty: it is what changes.

What lies in a folder was written by that version and is in people's notebooks. It must never be made again, 0.1.0
included: a version whose folder is there is refused.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from tests.browser import chromium, lab
from tests.browser.drawn import Drawn
from tests.saved_state.cases import CASES, INLINE
from tests.saved_state.saved import texts

TOGGLE_SAVING: Final = "() => window.jupyterapp.commands.execute('@jupyter-widgets/jupyterlab-manager:saveWidgetState')"
SAVE: Final = "() => window.jupyterapp.commands.execute('docmanager:save')"
SECONDS: Final = 20.0


def _saved(book: lab.Notebook, path: Path) -> dict[str, Any]:
    """Save until the file holds the state of models: the setting is in force a moment after it is made."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        book.page.evaluate(SAVE)
        document: dict[str, Any] = (
            json.loads(path.read_text("utf-8"))["metadata"].get("widgets", {}).get(lab.WIDGET_STATE, {})
        )
        if document.get("state"):
            return document
        time.sleep(0.2)
    raise TimeoutError(f"{path.name} holds no widget's state after {SECONDS:g} s")


def _without_texts(document: dict[str, Any]) -> dict[str, Any]:
    for model in document["state"].values():
        for name in texts(model):
            assert model["state"][name] or name == "_css", f"{name} was empty"
            model["state"][name] = ""
    return document


def _source(case: str) -> str:
    inline = "import os; os.environ['ROOFWIDGET_INLINE'] = '1'\n" if case == INLINE else ""
    return f"{inline}from tests.saved_state.cases import CASES\nfor w in CASES['{case}'](): display(w)"


def main(version: str) -> None:
    folder = Path(__file__).parent / version
    folder.mkdir()
    with tempfile.TemporaryDirectory() as home, lab.jupyterlab(Path(home)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        for index, case in enumerate(sorted(CASES)):
            book = lab.Notebook(browser, server, f"{case}.ipynb", [_source(case)], width=1200, height=900)
            book.run(0)
            Drawn(book)
            if index == 0:
                book.page.evaluate(TOGGLE_SAVING)
            document = _without_texts(_saved(book, server.root / f"{case}.ipynb"))
            written = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
            (folder / f"{case}.json").write_text(f"{written}\n", encoding="utf-8")
            book.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
