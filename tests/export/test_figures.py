"""Figures for papers and slides: their sizes, their words, and the options of `save`."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageFont

import roofwidget as rw
from roofwidget import RooflineModel
from roofwidget.support import built_files
from tests.export.test_pictures import texts
from tests.places import text_of

SVG = "{http://www.w3.org/2000/svg}"
CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
KERNELS: list[dict[str, Any]] = [
    {"name": "matmul", "flops": 4e12, "bytes": 1e10, "time": 0.08, "category": "gemm"},
    {"name": "layer norm", "flops": 5e9, "bytes": 1.6e9, "time": 3e-3, "category": "norm"},
    {"name": "copy", "flops": 0, "bytes": 1e9, "time": 2e-3},
    {"name": "opaque", "time": 1e-3},
]
# The copy and the kernel without counts take 3 of 86 ms.
CAPTION = (
    "Roofline of 2 kernels on One at bf16. Area: share of kernel time. "
    "Not shown: 1 kernel with 0 FLOP and 1 without counts, together 3.5 % of kernel time."
)


def model(**options: Any) -> RooflineModel:
    return RooflineModel([CHIP], KERNELS, **options)


@pytest.mark.parametrize(
    ("style", "points", "pixels"),
    [
        ("paper-1col", (252, 168), (2100, 1400)),
        ("paper-2col", (504, 336), (4200, 2800)),
        ("slide", (960, 540), (2560, 1440)),
    ],
)
def test_a_saved_figure_has_the_size_of_its_style(
    tmp_path: Path, style: Any, points: tuple[int, int], pixels: tuple[int, int]
) -> None:
    shown = model()
    root = ET.fromstring(text_of(shown.save(tmp_path / "f.svg", style=style)))  # noqa: S314 - our own
    width, height = points
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        f"{width}pt",
        f"{height}pt",
        f"0 0 {width} {height}",
    )
    assert f"/MediaBox[0 0 {width} {height}]".encode() in shown.save(tmp_path / "f.pdf", style=style).read_bytes()
    image = Image.open(io.BytesIO(shown.save(tmp_path / "f.png", style=style).read_bytes()))
    assert image.size == pixels
    # A figure for a paper has 600 dots per inch: 3.5 or 7 inches.
    assert image.info.get("dpi") == (pytest.approx((600, 600), abs=0.1) if style.startswith("paper") else None)


def test_the_words_of_a_figure_are_text_and_no_prose() -> None:
    found = texts(model().to_svg(style="paper-1col"))
    assert {"matmul", "One 100 TFLOP/s", "HBM 1 TB/s", "Performance (TFLOP/s)"} <= set(found)
    assert not re.search(r"bound|ridge|Roofline|FLOPs", " ".join(found))


def test_the_caption_is_the_alternative_text_and_is_drawn_on_request() -> None:
    shown = model(title="Before fusion")
    svg = shown.to_svg(style="paper-2col")
    root = ET.fromstring(svg)  # noqa: S314 - our own
    assert root.findtext(f"{SVG}desc") == CAPTION
    assert root.findtext(f"{SVG}title") == "Before fusion"
    assert CAPTION not in " ".join(texts(svg))
    assert CAPTION in " ".join(texts(shown.to_svg(style="paper-2col", caption=True)))
    assert b"Before fusion. Roofline of 2 kernels" in shown.to_pdf(style="paper-1col")


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="poppler is not installed")
@pytest.mark.parametrize("style", ["paper-1col", "paper-2col", "slide", "screen"])
def test_a_pdf_embeds_all_its_fonts_and_its_words_can_be_searched(tmp_path: Path, style: Any) -> None:
    path = str(model().save(tmp_path / "f.pdf", style=style))
    fonts = subprocess.run(["pdffonts", path], check=True, capture_output=True, encoding="utf-8").stdout  # noqa: S607
    listed = fonts.splitlines()[2:]
    assert listed
    # The columns at the end are: embedded, subset, Unicode, object, generation.
    assert all(line.split()[-5:-2] == ["yes", "yes", "yes"] for line in listed)
    words = subprocess.run(["pdftotext", path, "-"], check=True, capture_output=True, encoding="utf-8").stdout  # noqa: S607
    assert "matmul" in words


def test_the_widths_of_letters_are_those_of_liberation_sans() -> None:
    try:
        font = ImageFont.truetype("LiberationSans-Regular.ttf", 1000)
    except OSError:
        pytest.skip("Liberation Sans is not installed")
    source = built_files.text("engine.js")
    table = re.search(r"`(278 278 355[\d ]*)`,`([\d ]+)`,`([\d ]+)`,`([\d ]+)`", source)
    assert table is not None
    widths = [int(width) for line in table.groups() for width in line.split()]
    assert [round(font.getlength(chr(32 + at))) for at in range(95)] == pytest.approx(widths, abs=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"style": "paper-1-col"},
            "style is 'paper-1col', 'paper-2col', 'slide', 'screen', not 'paper-1-col'; did you mean 'paper-1col'?",
        ),
        ({"style": "slides"}, "did you mean 'slide'?"),
        ({"style": "slide", "names": -1}, "names is -1; it must be 0 or more"),
        (
            {"style": "slide", "names": ["matmull"]},
            "names: no kernel of the chart is called 'matmull'; did you mean 'matmul'?",
        ),
    ],
)
def test_an_impossible_figure_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        model().to_svg(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"style": "paper-1col", "width": 400},
            "width is for style 'screen': 'paper-1col' says the size of its figure",
        ),
        ({"style": "slide", "height": 400}, "height is for style 'screen': 'slide' says the size of its figure"),
        ({"caption": True}, "caption is for figures: set style to 'paper-1col', 'paper-2col', 'slide'"),
        ({"names": 3}, "names is for figures: set style to 'paper-1col', 'paper-2col', 'slide'"),
        ({"style": "slide", "names": "matmul"}, "names is a number or a list of the names of kernels, got 'matmul'"),
        ({"style": "slide", "names": 2.5}, "names is a number or a list of the names of kernels, got 2.5"),
    ],
)
def test_an_option_of_another_style_is_refused_before_a_file_is_written(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        model().save(tmp_path / "f.svg", **options)
    assert list(tmp_path.iterdir()) == []


def test_names_are_a_number_or_the_names_of_kernels() -> None:
    shown = model()
    named = {"matmul", "layer norm"}
    assert named & set(texts(shown.to_svg(style="slide"))) == named
    assert named & set(texts(shown.to_svg(style="slide", names=1))) == {"matmul"}
    assert named & set(texts(shown.to_svg(style="slide", names=["layer norm"]))) == {"layer norm"}
    assert named & set(texts(shown.to_svg(style="slide", names=0))) == set()


def test_a_figure_of_a_german_model_is_german() -> None:
    svg = model(locale="de").to_svg(style="paper-1col")
    assert {"Leistung (TFLOP/s)", "Arithmetische Intensität (FLOP/Byte)"} <= set(texts(svg))
    assert "Roofline von 2 Kerneln auf One bei bf16. Fläche: Anteil an der Kernelzeit." in svg


def test_a_figure_for_grey_print_has_patterns_and_a_dark_slide_is_dark() -> None:
    shown = model()
    assert "<circle" not in shown.to_svg(style="paper-1col", patterns=True)
    dark = Image.open(io.BytesIO(shown.to_png(style="slide", theme="dark"))).convert("RGB")
    assert dark.getpixel((0, 0)) == (17, 17, 17)


def test_the_same_state_always_gives_the_same_figure() -> None:
    assert model().to_svg(style="slide") == model().to_svg(style="slide")
    assert model().to_pdf(style="paper-1col") == model().to_pdf(style="paper-1col")
