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

LEVELS = """import roofwidget as rw
kernels = [
    {"name": "naive matmul", "flops": 1.1e12, "bytes": {"HBM": 6.4e10, "L2": 1.3e11, "L1": 3e11}, "time": "41 ms"},
    {"name": "tiled matmul", "flops": 1.1e12, "bytes": {"HBM": 2.0e9, "L2": 3.6e10, "L1": 1.2e11}, "time": "8.8 ms"},
    {"name": "layer norm", "flops": 2.7e9, "bytes": {"HBM": 1.1e9, "L2": 1.1e9, "L1": 1.6e9}, "time": "0.61 ms"},
]
rw.roofline(["a100-sxm-80gb"], kernels, memory="all", all_levels=True, title="One kernel, three levels")"""


def main() -> None:
    """Write `first_roofline.png` and `levels.png`."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        book = lab.Notebook(browser, server, "first.ipynb", [FIRST], width=1200, height=900)
        book.theme("light")
        book.run(0)
        drawn = Drawn(book)
        drawn.page.mouse.move(*drawn.place(107.79, 431e12))
        drawn.tooltip()
        drawn.root.screenshot(path=DOCS / "first_roofline.png")
        book.close()
        book = lab.Notebook(browser, server, "levels.ipynb", [LEVELS], width=1200, height=900)
        book.theme("light")
        book.run(0)
        Drawn(book).root.screenshot(path=DOCS / "levels.png")
        book.close()
        browser.close()


if __name__ == "__main__":
    main()
