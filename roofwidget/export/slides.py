"""Writes the steps of a story as one HTML page of slides, which needs no script, no network and no other file.

A slide fills the window. The keys and remote controls that scroll by a window go from slide to slide.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from roofwidget.export.engine import Picture
from roofwidget.support.html_document import document
from roofwidget.support.text_tables import escaped

_STYLE: Final = """\
html { scroll-snap-type: y mandatory; background: #fff; color: #1b1f24; }
body { margin: 0; font: min(2.2vw, 3.9vh)/1.35 system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
section { box-sizing: border-box; display: flex; flex-direction: column; gap: 2vh; height: 100vh; padding: 3vh 3vw 2vh;
  scroll-snap-align: start; scroll-snap-stop: always; overflow: hidden; break-after: page; }
section > div { max-width: 100%; }
h1 { margin: auto 0; font-size: 2em; }
p, ul, ol { margin: 0 0 .4em; }
.asked + ul { display: flex; flex-wrap: wrap; gap: .1em 2.5em; }
.asked { font-weight: 600; }
img { flex: 1; min-height: 0; width: 100%; object-fit: contain; object-position: top; }
small { color: #57606a; }
footer { color: #57606a; font-size: .6em; }
code { font-size: .9em; }
@media print { section { height: 100%; } }
"""


@dataclass(frozen=True)
class Slide:
    """A slide.

    Attributes
    ----------
    key
        Its name in the address of the page, such as "step-3".
    html
        Its text as HTML.
    picture
        The picture below the text.
    """

    key: str
    html: str
    picture: Picture


def slides_page(slides: Sequence[Slide], title: str, language: str) -> str:
    """Return the HTML of a page of slides. The first slide has the title, if there is one."""
    body = "\n".join(
        f'<section id="{slide.key}">\n<div>{slide.html}</div>\n{_image(slide.picture)}\n'
        f"<footer>{at} / {len(slides)}</footer>\n</section>"
        for at, slide in enumerate(slides, start=1)
    )
    head = f'<section id="title"><h1>{escaped(title)}</h1></section>\n' if title else ""
    # A document without a title has the name of its kind.
    return document(f"{head}{body}", title=title or "Slides", language=language, style=_STYLE)


def _image(picture: Picture) -> str:
    data = base64.b64encode(picture.svg.encode()).decode("ascii")
    return f'<img alt="{escaped(picture.title)}" src="data:image/svg+xml;base64,{data}">'
