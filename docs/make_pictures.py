"""Take the README's pictures from the widget in a real JupyterLab: `python docs/make_pictures.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from playwright.sync_api import sync_playwright

from tests.browser import chromium, lab
from tests.browser.drawn import Drawn

FIRST = """import roofwidget as rw
widget = rw.RooflineWidget(title="Four TPU configurations", focus_chip="v6e")
widget.bandwidth = "4 TB/s"
widget"""


def main() -> None:
    """Write `first_roofline.png`."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        book = lab.Notebook(browser, server, "first.ipynb", [FIRST], width=1200, height=900)
        book.run(0)
        drawn = Drawn(book)
        drawn.page.mouse.move(*drawn.place(107.79, 431e12))
        drawn.tooltip()
        drawn.root.screenshot(path=DOCS / "first_roofline.png")
        book.close()
        browser.close()


if __name__ == "__main__":
    main()
