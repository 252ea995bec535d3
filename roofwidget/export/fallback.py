"""The HTML that stands beside a widget's view, for places where no widget can run.

Such places are untrusted notebooks, notebooks without saved widgets, previews of notebooks, and exported documents.
They remove scripts, styles and `<svg>` elements, but show pictures with a data address and tables.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

from roofwidget.analysis.verdict import Verdict
from roofwidget.export.engine import Picture
from roofwidget.support.text_tables import escaped, one_line

MAX_BYTES: Final = 30_000
"""The most bytes of the HTML. A notebook stores it once for each output."""
WIDTH: Final = 510
"""The width of the picture, px. A narrow chart names only five kernels, so it is drawn in a third of the time: a person
waits for it when a cell shows its widget."""
KERNELS: Final = (100, 40, 15, 5)
"""The most kernels in the picture. If they need too many bytes, the next smaller number."""
MAX_ROWS: Final = 10
"""The most rows of the table."""
_MAX_LETTERS: Final = 300


@dataclass(frozen=True)
class Still:
    """A picture with a table, as the output of a cell. It shows what the widget was when it was made."""

    html: str
    png: bytes
    words: str

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        # Documents that are printed take the pixels.
        return {
            "text/html": self.html,
            "image/png": base64.b64encode(self.png).decode("ascii"),
            "text/plain": self.words,
        }

    def __repr__(self) -> str:
        return self.words


def headline(verdict: Verdict) -> str:
    """Return the HTML of a verdict; an empty text without one."""
    if not verdict.headline:
        return ""
    detail = f" {escaped(verdict.detail)}" if verdict.detail else ""
    return f"<p><strong>{escaped(verdict.headline)}</strong>{detail}</p>"


def html(picture: Picture, verdict: Verdict, table: str, drawn: int, count: int, *, timed: bool) -> str:
    """Return the HTML of a verdict, a picture and a table.

    The picture shows `drawn` kernels of `count`: the longest if they are `timed`, otherwise the first. The verdict is
    about all of them.
    """
    data = base64.b64encode(picture.svg.encode()).decode("ascii")
    parts = [
        headline(verdict),
        f'<img alt="{escaped(one_line(picture.title, _MAX_LETTERS))}" width="{picture.width}" ',
        f'height="{picture.height}" src="data:image/svg+xml;base64,{data}">',
    ]
    if drawn < count:
        which = f"{drawn:,} kernels with the longest times" if timed else f"first {drawn:,} kernels"
        parts.append(f"<p>The picture shows the {which}, of {count:,}.</p>")
    return f"<div>{''.join(parts)}{table}</div>"
