"""Try a wheel as its users do: an environment without Node, JupyterLab in Chromium, a slider, a page from its file.

``make release-check`` builds the wheel, installs it with JupyterLab into an environment of its own and runs this.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser import chromium, lab
from tests.browser.drawn import EVENTUALLY_SECONDS, Drawn
from tests.browser.exported import Exported
from tests.environments import python_of

ENVIRONMENT: Final = "release"
MAKE: Final = """import roofwidget as rw
w = rw.roofline(["h100-sxm"], [("matmul", 4e12, 1e10, 8e-3), ("copy", 0, 8e9, 4e-3)], title="Release")
w"""
SAVE: Final = 'path = w.save("page.html")'


def path_without_node(python: Path) -> str:
    """Return the variable PATH with the folder of an interpreter, and without every folder that has Node or npm."""
    folders = os.environ["PATH"].split(os.pathsep)
    kept = [one for one in folders if not any(shutil.which(name, path=one) for name in ("node", "npm"))]
    return os.pathsep.join([str(python.parent), *kept])


def check(browser: Browser, home: Path) -> None:
    """Run all steps; an assertion fails, or a wait ends, where one does not work."""
    python = python_of(ENVIRONMENT)
    with lab.jupyterlab(home, python=str(python), PATH=path_without_node(python), PYTHONPATH="") as server:
        book = lab.Notebook(browser, server, "release.ipynb", [MAKE, SAVE], width=1280, height=1000)
        book.run(0)
        where = Path(book.python("rw.__file__"))
        assert where.is_relative_to(python.parents[1]), f"roofwidget is imported from {where}"
        assert book.python("__import__('shutil').which('node')") is None
        drawn = Drawn(book)
        before = drawn.roof("h100-sxm")
        printed = book.python("w.bandwidth")
        drawn.drag("bandwidth", 0.1)
        drawn.eventually(lambda: drawn.roof("h100-sxm") != before)
        drawn.eventually(lambda: book.python("w.bandwidth") > printed)
        book.run(1)
        saved = (server.root / "page.html").read_text(encoding="utf-8")
        assert book.external_requests == []
        assert book.console_errors == []
        book.close()
    page = Exported(browser, home, saved)
    shown = page.drawn
    expect(shown.box("bandwidth")).to_be_visible()
    assert shown.page.title() == "Release"
    before = shown.roof("h100-sxm")
    assert before
    shown.drag("bandwidth", 0.1)
    shown.eventually(lambda: shown.roof("h100-sxm") != before)
    page.close()


def main() -> None:
    """Check the wheel that is installed in the environment."""
    expect.set_options(timeout=1000 * EVENTUALLY_SECONDS)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        try:
            check(browser, Path(folder))
        finally:
            browser.close()
    sys.stdout.write("The wheel works: in JupyterLab without Node, and as a page from its file.\n")


if __name__ == "__main__":
    main()
