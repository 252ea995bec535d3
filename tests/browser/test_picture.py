"""Saving the picture from the chart's tools: what is on the screen, as pixels and as lines and text."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests.browser.drawn import Drawn

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

CELL = """import roofwidget as rw
kernels = [("matmul", 4.3e12, 1.2e10, 1.2e-2), ("layer norm", 5.4e9, 1.6e9, 1.5e-3)]
rw.roofline(chips=["v5p", "v6e"], kernels=kernels, title="Batch 8: a < b")"""
SVG = "{http://www.w3.org/2000/svg}"


def saved(drawn: Drawn, kind: str) -> tuple[str, bytes]:
    """Press the button that saves the picture."""
    button = drawn.tool(kind)
    with drawn.page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_the_picture_is_saved_with_its_title_its_names_and_its_sentence(notebook: OpenNotebook) -> None:
    book = notebook([CELL])
    book.run(0)
    drawn = Drawn(book)
    name, svg = saved(drawn, "svg")
    assert name == "Batch-8-a-b.svg"
    picture = ET.fromstring(svg)  # noqa: S314 - made by the widget itself
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert texts[0] == "Batch 8: a < b"
    assert {"TPU v5p", "TPU v6e", "matmul", "layer norm", "memory-bound (HBM)"} <= set(texts)
    assert "kernels left of it are memory-bound, right of it compute-bound" in " ".join(texts)
    assert all("stroke" in path.attrib for path in picture.iter(f"{SVG}path"))
    assert [image.get("href", "")[:22] for image in picture.iter(f"{SVG}image")] == ["data:image/png;base64,"]

    name, png = saved(drawn, "png")
    assert name == "Batch-8-a-b.png"
    # Twice as sharp as the screen.
    sides = [2 * round(float(picture.attrib[side])) for side in ("width", "height")]
    assert list(struct.unpack(">II", png[16:24])) == sides


CONTROL = """import roofwidget as rw
kernels = [("a\\x00b\\x02c", 4.3e12, 1.2e10, 1.2e-2), ("half \\ud800", 1e12, 1e9, 1.5e-3), ("no bytes", 1e9, None)]
rw.roofline(chips=["v5p"], kernels=kernels, title="Run\\x1f 8")"""


def test_a_picture_of_names_with_control_characters_is_valid_and_its_sentences_stand_apart(
    notebook: OpenNotebook,
) -> None:
    book = notebook([CONTROL])
    book.run(0)
    drawn = Drawn(book)
    picture = ET.fromstring(saved(drawn, "svg")[1])  # noqa: S314 - made by the widget itself
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert texts[0] == "Run\ufffd 8"
    assert "a\ufffdb\ufffdc" in texts, texts
    note = next(at for at, text in enumerate(texts) if text.startswith("1 kernel is not drawn"))
    assert texts[note - 1].rstrip().endswith("compute-bound")
    assert saved(drawn, "png")[1].startswith(b"\x89PNG")


def test_a_png_that_the_browser_cannot_make_is_said_in_the_view(notebook: OpenNotebook) -> None:
    book = notebook([CELL])
    book.run(0)
    drawn = Drawn(book)
    drawn.page.evaluate("() => { HTMLImageElement.prototype.decode = () => Promise.reject(new Error('no')); }")
    drawn.tool("png").click()
    alert = drawn.page.get_by_role("alert").filter(has_text="The browser could not make a PNG")
    alert.wait_for()
    alert.get_by_role("button", name="Close").click()
    alert.wait_for(state="detached")
