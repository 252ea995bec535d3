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
