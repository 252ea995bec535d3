"""Take the pictures of the README and the guide from live pages in Chromium: `python docs/make_pictures.py`.

Every picture is of a widget saved as a page, with profiles of `tests/fixtures/gpu`. `moving.webp` is made of real
frames. Arguments name the pictures to take: `python docs/make_pictures.py moving why`.
"""

from __future__ import annotations

import io
import itertools
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

import nbformat
from nbclient import NotebookClient
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect, sync_playwright

import roofwidget as rw
from roofwidget.export.notebook import notebook_page
from tests.browser import chromium, lab
from tests.browser.drawn import Drawn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.lab import Notebook

Place = tuple[float, float]
Scheme = Literal["light", "dark"]
Taker = Callable[[Page], Image.Image]

# nbformat has types for a part of its functions.
WRITTEN: Any = nbformat
PICTURES: Final = DOCS / "pictures"
PROFILES: Final = ROOT / "tests" / "fixtures" / "gpu"
SUFFIXES: Final[dict[Scheme, str]] = {"light": "", "dark": "-dark"}

FILM_PX: Final = (1000, 760)
FRAME_MS: Final = 90
FILM_QUALITY: Final = 70
# Says below a film what happens in it.
CAPTION: Final = """(text) => {
  const bar = document.getElementById('caption') ?? document.body.appendChild(document.createElement('div'));
  bar.id = 'caption';
  bar.style.cssText = 'position:fixed;inset:auto 0 0 0;height:44px;line-height:44px;padding:0 16px;z-index:9;'
    + 'background:#1f2328;color:#fff;font-size:17px;font-weight:600';
  bar.textContent = text;
}"""
# The least that a page of one column needs, and the part of it that a picture shows.
STILL_PX: Final = (560, 1500)
SHOWN_PX: Final = (560, 592)
STILL_SCALE: Final = 1.5
STILL_QUALITY: Final = 60
# The size of a page whose widget is shown whole.
GUIDE_PX: Final = (1064, 900)
# Waits until the widget has drawn what the last event asked for.
DRAWN: Final = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
HIDE: Final = "(element) => { element.style.visibility = 'hidden'; }"
POINTER: Final = ((0, 0), (0, 16), (4, 12), (7, 18), (10, 17), (7, 11), (12, 11))


def training() -> rw.RooflineModel:
    """Return two training steps of a transformer block on an H100."""
    return rw.RooflineModel(chips=["h100-sxm"], kernels=rw.read(PROFILES / "block_training.json.gz"))


def fusion() -> rw.RooflineModel:
    """Return four operations that can be one kernel."""
    g = rw.Graph("end of a layer")
    x = g.input("x", (rw.dim("tokens", 1, 65536, default=16384), 4096), "bf16")
    g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
    return rw.RooflineModel(chips=["h100-sxm"], graph=g)


def first_roofline() -> rw.RooflineModel:
    """Return four configurations of TPUs, of which the bandwidth of one is a what-if."""
    model = rw.RooflineModel(title="Four TPU configurations", focus_chip="v6e")
    model.bandwidth = "4 TB/s"
    return model


def levels() -> rw.RooflineModel:
    """Return kernels whose bytes are known at each memory level."""
    kernels = [
        {"name": "naive matmul", "flops": 1.1e12, "bytes": {"HBM": 6.4e10, "L2": 1.3e11, "L1": 3e11}, "time": "41 ms"},
        {
            "name": "tiled matmul",
            "flops": 1.1e12,
            "bytes": {"HBM": 2.0e9, "L2": 3.6e10, "L1": 1.2e11},
            "time": "8.8 ms",
        },
        {"name": "layer norm", "flops": 2.7e9, "bytes": {"HBM": 1.1e9, "L2": 1.1e9, "L1": 1.6e9}, "time": "0.61 ms"},
    ]
    title = "One kernel, three levels"
    return rw.RooflineModel(["a100-sxm-80gb"], kernels, memory="all", all_levels=True, title=title)


def second_to_fix() -> Place:
    """Return the FLOP/B and FLOP/s of the kernel of these steps that is second to fix."""
    first = training().kernels.top(2, by="headroom")
    return float(first.arithmetic_intensity[1]), float(first.achieved[1])


class Film:
    """Frames of pages while a pointer acts on them."""

    def __init__(self) -> None:
        self.at: Place = (0.6 * FILM_PX[0], 0.85 * FILM_PX[1])
        self.frames: list[Image.Image] = []

    def show(self, page: Page) -> None:
        """Go on with another page; the pointer stays where it is."""
        self.page = page
        page.mouse.move(*self.at)

    def say(self, text: str) -> None:
        """Write what happens below the page."""
        self.page.evaluate(CAPTION, text)

    def rest(self, frames: int) -> None:
        """Take some frames without moving."""
        for _ in range(frames):
            self._take()

    def move(self, to: Place, frames: int = 7) -> None:
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
            self.move(place, 10)
        self.page.mouse.up()
        self.rest(3)

    def click(self) -> None:
        """Click, and take the frames in which what was clicked moves."""
        self.page.mouse.click(*self.at)
        self.rest(5)

    def save(self, path: Path) -> None:
        """Write the frames as a moving picture that begins again."""
        alike = [list(frames) for _, frames in itertools.groupby(self.frames, key=Image.Image.tobytes)]
        first, *others = [frames[0] for frames in alike]
        durations = [FRAME_MS * len(frames) for frames in alike]
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=durations,
            loop=0,
            quality=FILM_QUALITY,
            method=4,
            minimize_size=True,
        )

    def _take(self) -> None:
        self.page.evaluate(DRAWN)
        frame = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        corners = [(self.at[0] + right, self.at[1] + down) for right, down in POINTER]
        ImageDraw.Draw(frame).polygon(corners, fill="black", outline="white")
        self.frames.append(frame)


class Studio:
    """Opens widgets as pages, in light or dark."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder

    @contextmanager
    def page(self, html: str, size: tuple[int, int], *, scheme: Scheme = "light", scale: float = 1) -> Iterator[Page]:
        """Open a page without a network."""
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf-8")
        context = self.browser.new_context(
            offline=True,
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            device_scale_factor=scale,
        )
        page = context.new_page()
        page.goto(path.as_uri())
        for below in page.locator("footer, details:not(.roofwidget *)").all():
            below.evaluate(HIDE)
        Drawn(_book(page))
        yield page
        context.close()

    def film(self, scheme: Scheme) -> Film:
        """Drag the roof of a profile, then merge four operations into one kernel."""
        made = Film()
        with self.page(training().to_html(), FILM_PX, scheme=scheme) as page:
            drawn = Drawn(_book(page))
            made.show(page)
            made.say("A profile of PyTorch: which kernels are far from the roof of an H100?")
            made.rest(16)
            made.move(drawn.place(*second_to_fix()))
            made.rest(18)
            made.say("What if the memory were faster? Drag the roof.")
            x, y = middle(drawn, "[data-part='bandwidth']")
            made.move((x, y))
            made.drag((x - 28, y), (x - 17, y))
            made.rest(16)
        with self.page(fusion().to_html(), FILM_PX, scheme=scheme) as page:
            drawn = Drawn(_book(page))
            made.show(page)
            made.say("Four operations: click the lines between them to merge.")
            made.rest(12)
            for pair in itertools.pairwise(("layernorm", "gelu", "dropout", "add")):
                made.move(middle(drawn, ".rw-hit[data-from='{}'][data-to='{}']".format(*pair)))
                made.click()
            made.say("One kernel instead of four: 4.5 times as fast, as it moves 268 MB instead of 1.21 GB.")
            made.move(middle(drawn, "[data-rw='verdict']"))
            made.rest(28)
        return made


def _book(page: Page) -> Notebook:
    return cast("Notebook", SimpleNamespace(page=page))


def middle(drawn: Drawn, selector: str) -> Place:
    """Return the middle of an element of the widget, px in the page."""
    box = box_of(drawn.root.locator(selector).first)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def box_of(element: Locator) -> FloatRect:
    """Return where an element is on the page, px."""
    box = element.bounding_box()
    if box is None:
        raise RuntimeError(f"{element} is not drawn")
    return box


def part(page: Page, top: float) -> Image.Image:
    """Return a picture of a page, from `top` down, of the size `SHOWN_PX`."""
    clip: FloatRect = {"x": 0, "y": top, "width": SHOWN_PX[0], "height": SHOWN_PX[1]}
    return Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True))).convert("RGB")


def from_top(page: Page) -> Image.Image:
    """Take a widget from its top."""
    return part(page, 0)


def without_tabs(page: Page) -> Image.Image:
    """Take a widget from its top, without the tabs below the sliders."""
    page.locator("[data-rw=inspector]").evaluate(HIDE)
    return from_top(page)


def fused(page: Page) -> Image.Image:
    """Merge LayerNorm and GELU, and take the tab *Fusion*."""
    drawn = Drawn(_book(page))
    drawn.locator(".rw-hit[data-from='layernorm'][data-to='gelu']").click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(600)
    return part(page, box_of(drawn.locator("[data-rw=inspector]"))["y"] - 8)


def why(page: Page) -> Image.Image:
    """Take the reasons of a selected kernel."""
    drawn = Drawn(_book(page))
    drawn.locator("[data-rw=row]").filter(has_text="shared_read<32>").first.click()
    reasons = drawn.locator("[data-rw=why]")
    expect(reasons).to_be_visible()
    return part(page, box_of(drawn.locator("[data-rw=inspector]"))["y"] - 8)


def question(page: Page) -> Image.Image:
    """Take the question of a lesson beside its chart."""
    box = box_of(page.locator(".roofwidget").nth(1))
    return part(page, box["y"])


def with_tooltip(page: Page) -> bytes:
    """Take a whole widget with the tooltip of a kernel."""
    drawn = Drawn(_book(page))
    page.mouse.move(*drawn.place(107.79, 431e12))
    drawn.tooltip()
    return drawn.root.screenshot()


def whole(page: Page) -> bytes:
    """Take a whole widget."""
    return Drawn(_book(page)).root.screenshot()


def lesson() -> str:
    """Return the first lesson as a page."""
    path = ROOT / "notebooks" / "01_first_roofline.ipynb"
    notebook = WRITTEN.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    with tempfile.TemporaryDirectory() as folder:
        executed = Path(folder) / path.name
        WRITTEN.write(notebook, executed)
        return notebook_page(executed, datetime.now().astimezone().date())


STILLS: Final[dict[str, tuple[Callable[[], str], Taker]]] = {
    "profile": (lambda: training().to_html(), from_top),
    "chips": (
        lambda: rw.RooflineModel(
            chips=["a100-sxm-80gb", "h100-sxm", "b200", "mi300x"], focus_chip="h100-sxm"
        ).to_html(),
        without_tabs,
    ),
    "fusion": (lambda: fusion().to_html(), fused),
    "time": (lambda: rw.RooflineModel(chips=["h100-sxm"], kernels=training().kernels, view="time").to_html(), from_top),
    "why": (lambda: rw.RooflineModel(chips=["h100-sxm"], kernels=rw.read(PROFILES / "slow.raw.csv.gz")).to_html(), why),
    "lesson": (lesson, question),
}
GUIDE: Final[dict[str, tuple[Callable[[], rw.RooflineModel], Callable[[Page], bytes]]]] = {
    "first_roofline": (first_roofline, with_tooltip),
    "levels": (levels, whole),
}


def main(names: list[str]) -> None:
    """Write the pictures of these names, or all."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=lab.BROWSER_ARGUMENTS)
        studio = Studio(browser, Path(home))
        for scheme, suffix in SUFFIXES.items():
            if not names or "moving" in names:
                studio.film(scheme).save(DOCS / f"moving{suffix}.webp")
            for name, (make, take) in STILLS.items():
                if not names or name in names:
                    with studio.page(make(), STILL_PX, scheme=scheme, scale=STILL_SCALE) as page:
                        page.evaluate(DRAWN)
                        take(page).save(PICTURES / f"{name}{suffix}.webp", quality=STILL_QUALITY, method=6)
        for name, (model, shot) in GUIDE.items():
            if not names or name in names:
                with studio.page(model().to_html(), GUIDE_PX) as page:
                    (DOCS / f"{name}.png").write_bytes(shot(page))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
