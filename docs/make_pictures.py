"""Take the README's pictures from the widget in a real JupyterLab: `python docs/make_pictures.py`.

`moving.webp` is made of real frames: the pointer drags the slope of a roof, then merges four operations.
"""

from __future__ import annotations

import io
import itertools
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from PIL import Image, ImageDraw
from playwright.sync_api import FloatRect, Locator, sync_playwright

from tests.browser import chromium, lab
from tests.browser.drawn import Drawn

FIRST = """import roofwidget as rw
widget = rw.RooflineWidget(title="Four TPU configurations", focus_chip="v6e")
widget.bandwidth = "4 TB/s"
widget"""

MOVING = """import roofwidget as rw
g = rw.Graph("end of a layer")
x = g.input("x", (rw.dim("batch", 1, 1024, default=32) * 2048, 4096), "bf16")
g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
widget = rw.roofline(rw.preset("tpu-roofline-guide").chips[1:], graph=g)
widget"""

LEVELS = """import roofwidget as rw
kernels = [
    {"name": "naive matmul", "flops": 1.1e12, "bytes": {"HBM": 6.4e10, "L2": 1.3e11, "L1": 3e11}, "time": "41 ms"},
    {"name": "tiled matmul", "flops": 1.1e12, "bytes": {"HBM": 2.0e9, "L2": 3.6e10, "L1": 1.2e11}, "time": "8.8 ms"},
    {"name": "layer norm", "flops": 2.7e9, "bytes": {"HBM": 1.1e9, "L2": 1.1e9, "L1": 1.6e9}, "time": "0.61 ms"},
]
rw.roofline(["a100-sxm-80gb"], kernels, memory="all", all_levels=True, title="One kernel, three levels")"""


Place = tuple[float, float]
FRAME_MS = 70
# Waits until the widget has drawn what the last event asked for.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
POINTER = ((0, 0), (0, 16), (4, 12), (7, 18), (10, 17), (7, 11), (12, 11))


class Film:
    """Frames of one widget while a pointer acts on it."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.page = drawn.page
        self.clip = box = box_of(drawn.root)
        self.at: Place = (box["x"] + 0.6 * box["width"], box["y"] + 0.8 * box["height"])
        self.frames: list[Image.Image] = []

    def rest(self, frames: int) -> None:
        """Take some frames without moving."""
        for _ in range(frames):
            self._take()

    def move(self, to: Place, frames: int = 8) -> None:
        """Move the pointer to a place on the page, px, a frame a step."""
        start = self.at
        for step in range(1, frames + 1):
            share = step / frames
            share = share * share * (3 - 2 * share)
            self.at = (start[0] + (to[0] - start[0]) * share, start[1] + (to[1] - start[1]) * share)
            self.page.mouse.move(*self.at)
            self._take()

    def drag(self, *to: Place) -> None:
        """Press the button, go to each place, and let go."""
        self.page.mouse.down()
        for place in to:
            self.move(place, 12)
        self.page.mouse.up()
        self.rest(6)

    def click(self) -> None:
        """Click, and take the frames in which what was clicked moves."""
        self.page.mouse.click(*self.at)
        self.rest(6)

    def save(self, path: Path) -> None:
        """Write the frames as a moving picture that begins again."""
        alike = [list(frames) for _, frames in itertools.groupby(self.frames, key=Image.Image.tobytes)]
        first, *others = [frames[0] for frames in alike]
        durations = [FRAME_MS * len(frames) for frames in alike]
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0, quality=60, method=6)

    def _take(self) -> None:
        self.page.evaluate(DRAWN)
        frame = Image.open(io.BytesIO(self.page.screenshot(clip=self.clip))).convert("RGB")
        x, y = self.at[0] - self.clip["x"], self.at[1] - self.clip["y"]
        corners = [(x + right, y + down) for right, down in POINTER]
        ImageDraw.Draw(frame).polygon(corners, fill="black", outline="white")
        self.frames.append(frame)


def film(drawn: Drawn) -> Film:
    """Drag the slope of a roof, then merge four operations into one kernel."""
    made = Film(drawn)
    made.rest(10)
    x, y = middle(drawn, "[data-part='bandwidth']")
    made.move((x, y))
    made.drag((x - 70, y), (x - 40, y))
    made.rest(6)
    for pair in itertools.pairwise(("layernorm", "gelu", "dropout", "add")):
        made.move(middle(drawn, ".rw-hit[data-from='{}'][data-to='{}']".format(*pair)))
        made.click()
    made.move(middle(drawn, "[data-rw='verdict']"))
    made.rest(20)
    return made


def middle(drawn: Drawn, selector: str) -> Place:
    """Return the middle of an element of the widget, px in the page."""
    box = box_of(drawn.root.locator(selector).first)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def box_of(element: Locator) -> FloatRect:
    """Return where an element is on the page, px."""
    box = element.bounding_box()
    if box is None:
        msg = f"{element} is not drawn"
        raise RuntimeError(msg)
    return box


def main() -> None:
    """Write `moving.webp`, `first_roofline.png` and `levels.png`."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, lab.jupyterlab(Path(home)) as server:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        book = lab.Notebook(browser, server, "moving.ipynb", [MOVING], width=1200, height=960)
        book.theme("light")
        book.run(0)
        film(Drawn(book)).save(DOCS / "moving.webp")
        book.close()
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
