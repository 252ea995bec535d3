"""The built front end as text, and the model that sends it to a page: once per Jupyter kernel, or with each widget."""

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

# A page cannot use a shared model in these hosts. Some serve many pages from one process. In others a page cannot
# find a model by its id.
_HOSTS_WITHOUT_SHARED_MODELS: Final = ("ipywidgets_bokeh", "marimo", "shinywidgets", "solara.server")
_INLINE_VARIABLE: Final = "ROOFWIDGET_INLINE"


class FrontEnd(ipywidgets.Widget):  # type: ignore[misc]
    """A model that sends the code of the front end to a page. All widgets of a Jupyter kernel refer to this model.

    Attributes
    ----------
    script, style : str
        The built code and its style.
    words : dict of str to str
        A script with texts for each language that a widget has used. A page runs it before `script`.
    digest : str
        A hash of the build. A page imports the code once per digest and language.
    """

    script = Unicode().tag(sync=True)
    style = Unicode().tag(sync=True)
    words = Dict().tag(sync=True)
    digest = Unicode().tag(sync=True)

    def __repr__(self) -> str:
        return f"FrontEnd({self.digest[:8]})"


_FRONT_ENDS: WeakSet[FrontEnd] = WeakSet()


def is_shared() -> bool:
    """Return whether the widgets of this process share a `FrontEnd`: never with ``ROOFWIDGET_INLINE=1``."""
    return os.environ.get(_INLINE_VARIABLE, "") in {"", "0"} and not any(
        name in sys.modules for name in _HOSTS_WITHOUT_SHARED_MODELS
    )


def front_end(language: str = ENGLISH) -> FrontEnd | None:
    """Return the open `FrontEnd` with the texts of a language, or None if each widget sends the code itself.

    Creates the model if none is open. Adds the texts if the model lacks them.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    if not is_shared():
        return None
    # A closed model has no comm, so a page could not find it.
    made = next((made for made in tuple(_FRONT_ENDS) if made.comm is not None), None)
    if made is None:
        return _make(language)
    if language not in made.words:
        made.words = {**made.words, language: _words(language)}
    return made


def reference(made: FrontEnd | None, _widget: Any = None) -> str | None:
    """Return the reference by which a page finds a model. For a closed model (or none) return None."""
    return None if made is None or made.comm is None else f"IPY_MODEL_{made.model_id}"


def first_script(language: str = ENGLISH) -> str:
    """Return the script that a widget sends: the loader if widgets share a `FrontEnd`, else all code with texts.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return _built(f"loader.{language}.js") if is_shared() else f"{_words(language)}\n{_built('widget.js')}"


def first_style() -> str:
    """Return the style sheet that a widget sends, or an empty text if the loader gets it from the shared model.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return "" if is_shared() else _built("widget.css")


def _make(language: str) -> FrontEnd:
    script, style = _built("widget.js"), _built("widget.css")
    # The digest covers all languages: a page may have other texts for the same code, from another Jupyter kernel's
    # build.
    texts = (script, style, *(_words(name) for name in languages.languages()))
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    made = FrontEnd(script=script, style=style, words={language: _words(language)}, digest=digest)
    _FRONT_ENDS.add(made)
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
