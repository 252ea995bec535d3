"""The built front end as text, and the model that brings it to a page: once per kernel, or with each widget."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import Any, Final
from weakref import WeakSet

import ipywidgets
from traitlets import Dict, Unicode

from roofwidget.support import languages
from roofwidget.support.languages import ENGLISH

__all__ = ["FrontEnd", "first_script", "first_style", "front_end", "is_shared", "reference"]

# One process of these serves many pages, each with widgets of its own, or their pages find no model by its id.
_WITH_EACH: Final = ("ipywidgets_bokeh", "marimo", "shinywidgets", "solara.server")
_VARIABLE: Final = "ROOFWIDGET_INLINE"


class FrontEnd(ipywidgets.Widget):  # type: ignore[misc]
    """The code of the front end as a model without a view, to which every widget of the kernel refers.

    Attributes
    ----------
    script, style : str
        The built code and its style.
    words : dict of str to str
        By language, a script that stands in front of the code: of the languages that widgets have used.
    digest : str
        Names the build: a page imports each pair of digest and language once.
    """

    script = Unicode().tag(sync=True)
    style = Unicode().tag(sync=True)
    words = Dict().tag(sync=True)
    digest = Unicode().tag(sync=True)

    def __repr__(self) -> str:
        return f"FrontEnd({self.digest[:8]})"


_MADE: WeakSet[FrontEnd] = WeakSet()


def is_shared() -> bool:
    """Tell whether this process's widgets share a `FrontEnd`; ``ROOFWIDGET_INLINE=1`` denies it for any host."""
    return os.environ.get(_VARIABLE, "") in {"", "0"} and not any(name in sys.modules for name in _WITH_EACH)


def front_end(language: str = ENGLISH) -> FrontEnd | None:
    """Return the kernel's open `FrontEnd` with the words of a language; None if each widget brings the code.

    Makes the model if none is open, and sends the words if they are new to it.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    if not is_shared():
        return None
    # A closed one has no comm: a page could not find it.
    made = next((made for made in tuple(_MADE) if made.comm is not None), None)
    if made is None:
        return _make(language)
    if language not in made.words:
        made.words = {**made.words, language: _words(language)}
    return made


def reference(made: FrontEnd | None, _widget: Any = None) -> str | None:
    """Return what a page looks a model up by; of a closed one None, where ipywidgets' own serializer raises."""
    return None if made is None or made.comm is None else f"IPY_MODEL_{made.model_id}"


def first_script(language: str = ENGLISH) -> str:
    """Return the script that a widget of a language sends: the loader, or words and code.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return _built(f"loader.{language}.js") if is_shared() else f"{_words(language)}\n{_built('widget.js')}"


def first_style() -> str:
    """Return what a widget sends as its style: nothing, which the loader brings, or the whole.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return "" if is_shared() else _built("widget.css")


def _make(language: str) -> FrontEnd:
    script, style = _built("widget.js"), _built("widget.css")
    # Of all languages: a page that another kernel's build has left may hold other words of the same code.
    texts = (script, style, *(_words(name) for name in languages.languages()))
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    made = FrontEnd(script=script, style=style, words={language: _words(language)}, digest=digest)
    _MADE.add(made)
    return made


def _words(language: str) -> str:
    return _built(f"words.{language}.js")


def _built(name: str) -> str:
    path = languages.STATIC / name
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        msg = f"the front end is not built: {path.name} is missing; run 'make build', or 'npm run build' in js/"
        raise FileNotFoundError(msg) from None
