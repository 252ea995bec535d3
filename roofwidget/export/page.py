"""Writes widgets as one HTML page that needs no Python, no network and no other file.

The page forbids itself all requests: its policy allows only the scripts and styles with the hashes of its own. So what
the names of kernels contain cannot run, and a page that is opened tells nobody. The code is compressed, which makes the
page half as large; a small script adds it as an element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html.parser import HTMLParser
from typing import Any, Final

from roofwidget.export.saved_state import State, saved
from roofwidget.readers.page import MARK
from roofwidget.state.requests import catalogue, compressed
from roofwidget.support import built_files, html_document
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import escaped, is_web_address

# The colours are those of the widgets. A named colour such as Canvas has another shade of black in each browser.
_STYLE: Final = """\
:root { color-scheme: light dark; background: #ffffff; color: #1b1f24; }
a { color: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { background: #111111; color: #e8eaed; } a { color: #6cb6ff; } }
body { max-width: 1400px; margin: 0 auto; padding: 16px; font: 15px/1.5 system-ui, sans-serif; }
main > :is(h1, h2, p), a { overflow-wrap: anywhere; }
.spoken { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
h1 { font-size: 1.75em; }
h2 { font-size: 1.35em; }
section { margin: 0 0 24px; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 12px 2px 0; text-align: left; }
footer, details { margin-top: 32px; font-size: 13px; }
"""


@dataclass(frozen=True)
class Part:
    """A widget on a page.

    Attributes
    ----------
    text
        The JSON text of its state, see `saved_state.saved`.
    chips
        The chips that it shows, as `roofwidget.wire.chips_to_wire` describes them.
    language
        The code of the language of its texts.
    fallback
        HTML that is shown until the widget has started, and where no script runs.
    story
        The story of a widget in a notebook, on the wire.
    """

    text: str
    chips: Sequence[Mapping[str, Any]]
    language: str
    fallback: str
    story: Mapping[str, Any] | None = None

    @property
    def html(self) -> str:
        """The element in which the widget starts. It contains the state."""
        state = f'<script type="text/plain">{compressed(self.text)}</script>'
        return f"<section {MARK}>{state}{self.fallback}</section>"


def part_of(state: State, language: str, fallback: str) -> Part:
    """Return a model's state as a part of a page."""
    chips = [chip for chip in state["chips"] if chip["id"] in state["shown"]]
    return Part(saved(state), chips, language, fallback)


def page(parts: Iterable[Part | str], title: str, day: date, *, is_headed: bool = True) -> str:
    """Return the HTML of a page.

    Parameters
    ----------
    parts
        Widgets, and texts between them. A blank line ends a paragraph. Lines that begin with "## " are headings.
    title
        The title of the document and the heading of the page.
    day
        When the page was made.
    is_headed
        Whether the heading is shown. Screen readers read it in any case.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    ValueError
        If the widgets are in several languages: a page has one.
    """
    parts = list(parts)
    body = "\n".join(_headed(part, title) if isinstance(part, Part) else _text(part) for part in parts)
    look = "" if is_headed else ' class="spoken"'
    heading = f"<h1{look}>{escaped(title)}</h1>"
    return document([part for part in parts if isinstance(part, Part)], f"{heading}\n{body}", title, day)


def document(
    widgets: Sequence[Part],
    body: str,
    title: str,
    day: date,
    style: str = "",
    *,
    before: str = "",
    language: str = "",
    script: str = "",
    starter: str = "",
) -> str:
    """Return the HTML of a page whose body is made.

    Parameters
    ----------
    widgets
        The widgets in the body. Without them, the page has no script but `script` and `starter`.
    body
        The HTML of the main part.
    title
        The title of the document.
    day
        When the page was made.
    style
        Rules that are added to those of the page.
    before
        HTML before the main part.
    language
        The language of the page; by default that of its widgets, or English.
    script
        A script that runs when the page has been read.
    starter
        The script that runs with the code of the widgets, in place of the one that starts those of the body.

    Raises
    ------
    FileNotFoundError, ValueError
        As `page`.
    """
    languages = sorted({part.language for part in widgets})
    if len(languages) > 1:
        raise ValueError(f"a page has one language, and these widgets have {' and '.join(languages)}: set their locale")
    language = language or (languages[0] if languages else ENGLISH)
    scripts, looks, ending = _code(language, starter) if widgets or starter else ([], [], "")
    if script:
        scripts, ending = [*scripts, script], f"{ending}<script>{script}</script>\n"
    sources = _sources([chip for part in widgets for chip in part.chips])
    main = f'<main id="main" tabindex="-1">\n{body}\n{sources}\n</main>'
    return html_document.document(
        f"{before}{main}\n<footer>{day.isoformat()}</footer>\n{ending}",
        title=title,
        language=language,
        style=f"{_STYLE}{style}",
        styles=looks,
        style_attributes=_StyleAttributes.of(body),
        scripts=scripts,
    )


def _code(language: str, starter: str) -> tuple[list[str], list[str], str]:
    """Return the scripts and styles of widgets, and the elements that hold them."""
    code = f"{built_files.words(language)}\n{starter or built_files.text('page.js')}"
    look, unpack = built_files.text("widget.css"), built_files.text("unpack.js")
    elements = f"""\
<script type="text/plain" data-catalogue>{catalogue()}</script>
{_packed("style", look)}
{_packed("script", code)}
<script>{unpack}</script>
"""
    return [unpack, code], [look], elements


class _StyleAttributes(HTMLParser):
    """The style attributes within a body, such as those of tables. The policy allows them by their hashes."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[str] = []

    @classmethod
    def of(cls, body: str) -> list[str]:
        """Return the style attributes of a body."""
        found = cls()
        found.feed(body)
        found.close()
        return found.values

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - of any element
        self.values += [value for name, value in attrs if name == "style" and value]


def _headed(part: Part, title: str) -> str:
    """Return a widget below a heading for screen readers, unless the heading of the page already says the same."""
    names = ", ".join(str(chip["name"]) for chip in part.chips) or "Roofline"
    return part.html if names == title else f'<h2 class="spoken">{escaped(names)}</h2>\n{part.html}'


def _packed(kind: str, text: str) -> str:
    return f'<script type="text/plain" data-unpack="{kind}">{compressed(text)}</script>'


def _text(text: str) -> str:
    paragraphs = (part.strip() for part in re.split(r"\n\s*\n", text))
    return "\n".join(
        f"<h2>{escaped(part[3:])}</h2>" if part.startswith("## ") else f"<p>{escaped(part)}</p>"
        for part in paragraphs
        if part
    )


def _sources(chips: Iterable[Mapping[str, Any]]) -> str:
    """Return a list of the sources, each with the figures that it gives; "" if there are none."""
    figures: dict[tuple[str, str], dict[str, list[str]]] = {}
    for chip in {chip["id"]: chip for chip in chips}.values():
        for figure in chip["figures"]:
            if figure["source"]:
                known = figures.setdefault((figure["source"], figure["url"]), {})
                known.setdefault(chip["name"], []).append(figure["label"])

    def item(source: tuple[str, str]) -> str:
        whose = "; ".join(f"{name}: {', '.join(labels)}" for name, labels in figures[source].items())
        return f"<li>{_link(*source)}: {escaped(whose)}</li>"

    items = [item(source) for source in figures]
    listed = "\n".join(items)
    return f"<details><summary>Sources of the figures</summary><ul>\n{listed}\n</ul></details>" if items else ""


def _link(title: str, url: str) -> str:
    if not is_web_address(url):
        return escaped(title)
    return f'<a href="{escaped(url)}" rel="noreferrer">{escaped(title)}</a>'
