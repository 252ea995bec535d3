"""Saving the picture from the chart's tools: what is on the screen, as pixels and as lines and text."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import Drawn, shown

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

CELL = """import roofwidget as rw
kernels = [("matmul", 4.3e12, 1.2e10, 1.2e-2), ("layer norm", 5.4e9, 1.6e9, 1.5e-3)]
rw.roofline(chips=["v5p", "v6e"], kernels=kernels, title="Batch 8: a < b")"""
SVG = "{http://www.w3.org/2000/svg}"


def saved(drawn: Drawn, kind: str) -> tuple[str, bytes]:
    """Save what the screen shows."""
    button = drawn.download(kind)
    with drawn.page.expect_download() as download:
        button.click()
    expect(button).to_have_text(re.compile("✓$"))
    drawn.press("Escape")
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_the_picture_is_saved_with_its_title_and_its_names_and_without_a_sentence(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, CELL)
    name, svg = saved(drawn, "svg")
    assert name == "Batch-8-a-b.svg"
    picture = ET.fromstring(svg)  # noqa: S314 - made by the widget itself
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert texts[0] == "Batch 8: a < b"
    assert {"matmul", "layer norm", "◂ memory-bound", "compute-bound ▸"} <= set(texts)
    assert any(text.startswith("TPU v5p") for text in texts), texts
    assert any(text.startswith("TPU v6e") for text in texts), texts
    assert "kernels left of" not in " ".join(texts)
    points = next(group for group in picture.iter(f"{SVG}g") if group.get("data-layer") == "points")
    assert len([*points.iter(f"{SVG}path")]) == 2

    name, png = saved(drawn, "png")
    assert name == "Batch-8-a-b.png"
    # Twice as sharp as the screen.
    sides = [2 * round(float(picture.attrib[side])) for side in ("width", "height")]
    assert list(struct.unpack(">II", png[16:24])) == sides


MANY = """import roofwidget as rw
w = rw.roofline(chips=["v5p", "v6e"], title="Many", kernels=[
    rw.Kernel("matmul", 4.3e12, 1.2e10, time=3e-2, category="gemm"),
    rw.Kernel("layer norm", 5.4e9, 1.6e9, time=1.5e-3, category="norm"),
    rw.Kernel("unmeasured", 5e11, 1.6e9),
    rw.Kernel("copy", 0, 1e9, time=2e-3),
])
w.freeze("before")
w.set_what_if("v5p", peak_flops=3e14)
w.selected = [1]
w"""
VIEW_OF_TIME = "w.view = 'time'"
# Each line, shape and text in the layers: its kind, its geometry and text, and how it looks.
ELEMENTS = """(layers) => {
  const looks = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray',
    'stroke-linecap', 'stroke-linejoin', 'opacity'];
  const textLooks = ['font-size', 'font-weight', 'font-variant-numeric', 'text-anchor', 'paint-order'];
  const places = ['d', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'width', 'height', 'dy', 'transform'];
  const isOfPointer = (element) => element.closest('.rw-handles, .rw-grips, [fill=transparent]');
  return layers.flatMap((layer) => [...layer.querySelectorAll('path, text, tspan, circle, rect, line')])
    .filter((element) => !isOfPointer(element) && !element.closest('[data-layer="points"]'))
    .map((element) => [
      element.localName,
      element.textContent,
      places.map((name) => element.getAttribute(name) ?? '').join(' '),
      ...[...looks, ...(/^t/.test(element.localName) ? textLooks : [])].map((name) => getComputedStyle(element)[name]),
    ]);
}"""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def elements(chart: Locator) -> list[tuple[list[str], list[float]]]:
    """Return the texts and looks of each element in a chart's layers, and the numbers of its geometry."""
    found = chart.evaluate(f"(chart) => ({ELEMENTS})([...chart.querySelectorAll(':scope > svg')])")
    numbers = (NUMBER.findall(geometry) for _, _, geometry, *_ in found)
    texts = ([name, text, NUMBER.sub("#", geometry), *looks] for name, text, geometry, *looks in found)
    return [(said, [float(part) for part in parts]) for said, parts in zip(texts, numbers, strict=True)]


def at_rest(drawn: Drawn) -> None:
    """Take the pointer off the chart, and wait until its labels have their places at rest."""
    drawn.mouse.move(0, 0)
    drawn.page.wait_for_timeout(400)


def test_the_picture_has_each_line_and_label_of_the_screen_at_its_place_with_its_look(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, MANY, VIEW_OF_TIME)
    for view in ("roofline", "time"):
        if view == "time":
            book.run(1)
            drawn.locator(".rw-diagonal").wait_for(state="attached")
        svg = saved(drawn, "svg")[1]
        at_rest(drawn)
        screen = elements(drawn.chart)
        alone = drawn.page.context.new_page()
        alone.goto("data:image/svg+xml;base64," + base64.b64encode(svg).decode())
        picture = elements(alone.locator(":root"))
        alone.close()
        assert len(screen) > 30
        assert [texts for texts, _ in picture] == [texts for texts, _ in screen]
        for (texts, now), (_, then) in zip(picture, screen, strict=True):
            assert now == pytest.approx(then, abs=0.1), texts


STATES = {
    "plain": "w = rw.roofline(['v5p'], kernels)",
    "measured, of two chips": "w = rw.roofline(['v5p', 'v6e', 'h100-sxm'], measured, shown=['v5p', 'h100-sxm'])",
    "what-if, snapshot, selection, moved kernel": """w = rw.roofline(['v5p', 'v6e'], measured)
w.freeze("before")
w.peak_flops *= 0.7
w.selected = [1]
w.move(0, bytes=6e9)""",
    "time": "w = rw.roofline(['v5p'], measured, view='time')",
    "linear time": "w = rw.roofline(['v5p'], measured, view='time', time_scale='linear')",
    "merged operations": """block = rw.workloads.transformer_block(rw.dim('batch', 1, 64, default=8), 2048, 4096, 32)
w = rw.roofline(['v5p'], graph=block, partition=rw.Partition.best(block, 'v5p'))""",
    "all levels": "w = rw.roofline(['h100-sxm'], levels, memory='all', all_levels=True)",
    "10,000 kernels": """chance = np.random.default_rng(1)
flops, moved = 10 ** chance.uniform(9, 13, 10_000), 10 ** chance.uniform(8, 11, 10_000)
many = rw.Kernels([f"kernel {i}" for i in range(10_000)], flops, moved, time=np.maximum(flops / 1e14, moved / 1e12) * 2)
w = rw.roofline(['v5p'], many, top=None)""",
    "German": "w = rw.roofline(['v5p', 'v6e'], measured, locale='de', title='Ein Lauf')",
    "two runs": "w = rw.roofline(['v5p'], measured.replace(time=measured.time * 0.8), baseline=measured)",
    "balance, per cycle, words": """w = rw.roofline(['h100-sxm'], measured, x_axis='balance', rate_unit='FLOP/cycle',
    word=4, tick_base=2)""",
    "filters, zoom, ceilings": """w = rw.roofline(['h100-sxm'], measured, search='m', exposed_roofs=[0.2],
    ceilings=['fp8'], zoom=(1, 1e4, 1e12, 1e16))""",
}
"""Cells that make a widget, by what it shows."""
BEFORE = """import numpy as np
import roofwidget as rw
kernels = [("matmul", 4.3e12, 1.2e10), ("layer norm", 5.4e9, 1.6e9), ("copy", 0, 8e9), ("unknown", None, None)]
measured = rw.Kernels(["matmul", "layer norm", "copy", "softmax"], [4.3e12, 5.4e9, 0, 2e9], [1.2e10, 1.6e9, 8e9, 1e9],
    time=[3e-2, 1.5e-3, 4e-3, 2e-3], category=["gemm", "norm", None, "norm"])
levels = rw.Kernels(["a", "b"], [1e12, 1e10], {"HBM": [1e10, 1e9], "L2": [4e10, 2e9]}, time=[2e-2, 1e-3])"""


def test_python_draws_each_line_point_and_label_of_the_screen(notebook: OpenNotebook) -> None:
    cells = [f"{cell}\nw" for cell in STATES.values()]
    book = notebook([BEFORE, *cells, "w.close()"], width=1280, height=1200)
    book.run(0)
    for index, name in enumerate(STATES):
        book.run(index + 1)
        book.cell(index + 1)
        drawn = Drawn(book)
        # The points of the screen are pixels; the button saves them as lines.
        own = saved(drawn, "svg")[1].decode()
        at_rest(drawn)
        width, height = (round(float(found)) for found in re.findall(r'(?:width|height)="([\d.]+)"', own)[:2])
        svg: str = book.python(f"w.to_svg(width={width}, height={height})")
        assert own == svg, name
        screen = elements(drawn.chart)
        alone = drawn.page.context.new_page()
        alone.goto("data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode())
        picture = elements(alone.locator(":root"))
        alone.close()
        assert [texts for texts, _ in picture] == [texts for texts, _ in screen], name
        for (texts, here), (_, there) in zip(picture, screen, strict=True):
            assert here == pytest.approx(there, abs=0.1), (name, texts)
        # Each widget that stays makes the next ones slower.
        book.run(len(STATES) + 1)


CONTROL = """import roofwidget as rw
kernels = [("a\\x00b\\x02c", 4.3e12, 1.2e10, 1.2e-2), ("half \\ud800", 1e12, 1e9, 1.5e-3), ("no bytes", 1e9, None)]
rw.roofline(chips=["v5p"], kernels=kernels, title="Run\\x1f 8")"""


def test_a_picture_of_names_with_control_characters_is_valid_and_its_sentences_stand_apart(
    notebook: OpenNotebook,
) -> None:
    _, drawn = shown(notebook, CONTROL)
    picture = ET.fromstring(saved(drawn, "svg")[1])  # noqa: S314 - made by the widget itself
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert texts[0] == "Run\ufffd 8"
    assert "a\ufffdb\ufffdc" in texts, texts
    note = next(at for at, text in enumerate(texts) if text.startswith("1 kernel is not drawn"))
    assert texts[note + 1 :] == []
    assert saved(drawn, "png")[1].startswith(b"\x89PNG")


def test_a_png_that_the_browser_cannot_make_is_saved_as_svg_and_the_status_says_so(notebook: OpenNotebook) -> None:
    _, drawn = shown(notebook, CELL)
    drawn.page.evaluate("() => { HTMLImageElement.prototype.decode = () => Promise.reject(new Error('no')); }")
    with drawn.page.expect_download() as download:
        drawn.download("png").click()
    assert download.value.suggested_filename == "Batch-8-a-b.svg"
    status = drawn.locator("[data-rw=status]")
    expect(status).to_contain_text("Could not make a PNG here: saved as SVG instead.")
