"""How the front end's code reaches a page: once for all widgets of a kernel or, where that cannot be, with each."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import Any, Final
from weakref import WeakSet

import ipywidgets
from traitlets import Unicode

from roofwidget.support.languages import ENGLISH, built_file

__all__ = ["FrontEnd", "first_script", "first_style", "front_end", "is_shared", "reference"]

# One process of these serves many pages, each with widgets of its own, or their pages find no model by its id.
_WITH_EACH: Final = ("ipywidgets_bokeh", "marimo", "shinywidgets", "solara.server")
_VARIABLE: Final = "ROOFWIDGET_INLINE"


class FrontEnd(ipywidgets.Widget):  # type: ignore[misc]
    """The code of the front end as a model without a view, to which every widget of the kernel and language refers.

    Attributes
    ----------
    script, style : str
        The text of the built bundle.
    digest : str
        Names the two: a page imports one digest once.
    language : str
        Whose words are in the script; not sent.
    """

    script = Unicode().tag(sync=True)
    style = Unicode().tag(sync=True)
    digest = Unicode().tag(sync=True)
    language = Unicode(ENGLISH)

    def __repr__(self) -> str:
        return f"FrontEnd({self.digest[:8]})"


_MADE: WeakSet[FrontEnd] = WeakSet()


def is_shared() -> bool:
    """Tell whether this process's widgets share a `FrontEnd`; ``ROOFWIDGET_INLINE=1`` denies it for any host."""
    return os.environ.get(_VARIABLE, "") in {"", "0"} and not any(name in sys.modules for name in _WITH_EACH)


def front_end(language: str = ENGLISH) -> FrontEnd | None:
    """Return the kernel's open `FrontEnd` of a language, made where there is none; None if each widget brings the code.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    if not is_shared():
        return None
    # A closed one has no comm: a page could not find it.
    is_open = (made for made in tuple(_MADE) if made.comm is not None and made.language == language)
    return next(is_open, None) or _make(language)


def reference(made: FrontEnd | None, _widget: Any = None) -> str | None:
    """Return what a page looks a model up by; of a closed one None, where ipywidgets' own serializer raises."""
    return None if made is None or made.comm is None else f"IPY_MODEL_{made.model_id}"


def first_script(language: str = ENGLISH) -> str:
    """Return what a widget of a language sends as its script: the loader, or the whole.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return _built("loader.js" if is_shared() else "widget.js", language)


def first_style() -> str:
    """Return what a widget sends as its style: nothing, which the loader brings, or the whole.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return "" if is_shared() else _built("widget.css")


def _make(language: str) -> FrontEnd:
    script, style = _built("widget.js", language), _built("widget.css")
    digest = hashlib.sha256(f"{script}\0{style}".encode()).hexdigest()
    made = FrontEnd(script=script, style=style, digest=digest, language=language)
    _MADE.add(made)
    return made


def _built(name: str, language: str = ENGLISH) -> str:
    path = built_file(name, language)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        msg = f"the front end is not built: {path.name} is missing; run 'make build', or 'npm run build' in js/"
        raise FileNotFoundError(msg) from None
