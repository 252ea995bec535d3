"""Turns a picture into the bytes of a PNG or a PDF."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from roofwidget.export.engine import Picture
from roofwidget.support.arguments import number_argument
from roofwidget.support.extras import install_command

CSS_DPI: Final = 96.0
"""How many px of a picture are an inch, as in CSS."""
SCREEN_SCALE: Final = 2.0
"""Pixels of a PNG for each px of the picture, for screens with a high resolution."""
PRINT_DPI: Final = 600.0
"""The pixels per inch of a figure for a paper."""
MAX_PIXELS: Final = 200_000_000
_POINTS_PER_PX: Final = 0.75
_INCH: Final = 0.0254
# The package of a font whose letters are about as wide as those of Helvetica, by which texts are placed. Machines
# without any font, such as most containers, need it: text without a font would be missing.
_FONT_PACKAGE: Final = "font_hanken_grotesk"
# Without a date, the same picture always makes the same bytes.
_PAGE: Final = """\
#set document(title: sys.inputs.title, date: none)
#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%, alt: sys.inputs.title)
"""
_HEADER_BYTES: Final = 33


def png(picture: Picture, *, scale: float | None = None, dpi: float | None = None) -> bytes:
    """Return a picture as PNG.

    Parameters
    ----------
    scale
        Pixels for each px of the picture; by default 2.
    dpi
        Pixels per inch in print, in the place of `scale`. An inch is 96 px of the picture. The file names this number,
        so that a text processor shows the picture at its size.

    Raises
    ------
    TypeError
        If both are given.
    ValueError
        If a number is not above zero, or if the PNG would have more than `MAX_PIXELS`.
    """
    if scale is not None and dpi is not None:
        raise TypeError("a PNG takes scale or dpi, not both")
    for name, value in (("scale", scale), ("dpi", dpi)):
        if value is not None and not number_argument(value, name) > 0:
            raise ValueError(f"{name} is {value:g}; it must be above 0")
    factor = dpi / CSS_DPI if dpi is not None else SCREEN_SCALE if scale is None else scale
    pixels = picture.width * picture.height * factor**2
    if pixels > MAX_PIXELS:
        raise ValueError(f"a PNG of {pixels:,.0f} pixels is too large: at most {MAX_PIXELS:,}")
    import resvg_py  # noqa: PLC0415  # it reads the list of the machine's fonts

    # The size of a figure is in points: without the dots per inch of CSS it would be unknown.
    drawn = bytes(resvg_py.svg_to_bytes(svg_string=picture.svg, zoom=factor, dpi=CSS_DPI, font_dirs=_fonts()))
    return drawn if dpi is None else _with_dpi(drawn, dpi)


def pdf(picture: Picture) -> bytes:
    """Return a picture as PDF: one page of the picture's size, with lines, and letters that can be selected.

    Raises
    ------
    ImportError
        If typst is not installed.
    """
    page = _PAGE.format(width=picture.width * _POINTS_PER_PX, height=picture.height * _POINTS_PER_PX)
    return typeset(page, {"svg": picture.svg, "title": picture.title})


def typeset(source: str, texts: Mapping[str, str]) -> bytes:
    """Return the PDF of a Typst source, which finds `texts` in ``sys.inputs``.

    Raises
    ------
    ImportError
        If typst is not installed.
    """
    try:
        import typst  # noqa: PLC0415  # optional
    except ImportError:
        raise ImportError(f"a PDF needs the package typst: {install_command('pdf')}") from None
    compiled: Any = typst.compile
    return bytes(compiled(source.encode(), sys_inputs=dict(texts), font_paths=_fonts()))


@cache
def _fonts() -> list[str]:
    """Return the folder of the font of `_FONT_PACKAGE`, or nothing if the package is not installed."""
    found = find_spec(_FONT_PACKAGE)
    return [str(Path(str(found.origin)).parent)] if found is not None else []


def _with_dpi(png_bytes: bytes, dpi: float) -> bytes:
    """Return a PNG with its pixels per meter, in a chunk between the header and all other chunks."""
    per_meter = round(dpi / _INCH)
    chunk = b"pHYs" + struct.pack(">IIB", per_meter, per_meter, 1)
    whole = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png_bytes[:_HEADER_BYTES] + whole + png_bytes[_HEADER_BYTES:]
