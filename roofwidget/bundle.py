"""Reads the built front end and sends its code to pages.

A host is the program that shows the widgets, such as JupyterLab. In most hosts, all widgets of a Jupyter kernel share
one `FrontEnd`, which sends the code once. In the hosts of `_HOSTS_WITHOUT_SHARED_MODELS`, such as marimo, each widget
sends the code itself.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from typing import Any, Final
from weakref import WeakSet

import ipywidgets
from anywidget import AnyWidget
from traitlets import Dict, Unicode

from roofwidget.support import built_files, languages
from roofwidget.support.built_files import words_file
from roofwidget.support.languages import ENGLISH

# In these hosts (programs that show widgets), a page cannot use a shared `FrontEnd`. Each has one of three reasons: one
# process serves many pages, each cell has an iframe of its own (Colab), or a page cannot find a model by its id.
_HOSTS_WITHOUT_SHARED_MODELS: Final = ("google.colab", "ipywidgets_bokeh", "marimo", "shinywidgets", "solara.server")
_ANYWIDGET_VERSION: Final = AnyWidget.class_traits()["_model_module_version"].default_value
_INLINE_VARIABLE: Final = "ROOFWIDGET_INLINE"


class FrontEnd(ipywidgets.Widget):  # type: ignore[misc]
    """An ipywidgets model that sends the code of the front end to a page. All widgets of a process share this model.

    In the page, the model is an anywidget without a view. Its script is the loader, which inflates and imports the code
    at once, while Python still makes the first widget.

    Each file is compressed with gzip, and sent as base64 text: JupyterLab saves the state of such a model in a notebook
    as JSON, which would drop bytes.

    Attributes
    ----------
    script, style : str
        The built JavaScript code and the style sheet of the front end, compressed.
    words : dict of str to str
        For each language that a widget has used, a small script that defines the texts of the front end, compressed. A
        page runs this small script before `script`.
    digests : dict of str to str
        The SHA-256 digests of `script`, `style` and the texts of every language (``words.en``), by these names. A page
        runs a file only if it has its digest.
    """

    _model_name = Unicode("AnyModel").tag(sync=True)
    _model_module = Unicode("anywidget").tag(sync=True)
    _model_module_version = Unicode(_ANYWIDGET_VERSION).tag(sync=True)
    _anywidget_id = Unicode("roofwidget.bundle.FrontEnd").tag(sync=True)
    _esm = Unicode().tag(sync=True)
    script = Unicode().tag(sync=True)
    style = Unicode().tag(sync=True)
    words = Dict().tag(sync=True)
    digests = Dict().tag(sync=True)

    def __repr__(self) -> str:
        return f"FrontEnd({self.digests['script'][:8]})"


_FRONT_ENDS: WeakSet[FrontEnd] = WeakSet()


def is_shared() -> bool:
    """Return whether the widgets of this process share a `FrontEnd`.

    Each widget sends the code itself in two cases: if the environment variable ``ROOFWIDGET_INLINE`` is set to 1, or if
    the process has imported a host of `_HOSTS_WITHOUT_SHARED_MODELS`, such as marimo.
    """
    return os.environ.get(_INLINE_VARIABLE, "") in {"", "0"} and not any(
        name in sys.modules for name in _HOSTS_WITHOUT_SHARED_MODELS
    )


def front_end(language: str = ENGLISH) -> FrontEnd | None:
    """Return the shared `FrontEnd` with the texts of `language`, or None if each widget sends the code itself.

    If no `FrontEnd` is open, this function creates one. If the open `FrontEnd` lacks the texts of `language`, this
    function adds them.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    if not is_shared():
        return None
    # A page finds a model through its comm (connection). The comm of a closed model is None, so skip closed models.
    made = next((made for made in tuple(_FRONT_ENDS) if made.comm is not None), None)
    if made is None:
        return _make(language)
    if language not in made.words:
        made.words = {**made.words, language: _compressed(words_file(language))}
    return made


def reference(made: FrontEnd | None, _widget: Any = None) -> str | None:
    """Return the text by which a page finds the `FrontEnd` `made`. If `made` is None or closed, return None."""
    return None if made is None or made.comm is None else f"IPY_MODEL_{made.model_id}"


def first_script(language: str = ENGLISH) -> str:
    """Return the script that a widget sends.

    If widgets share a `FrontEnd`, the script is a short loader. If widgets do not share a `FrontEnd`, the script
    is the whole code of the front end and the texts of `language`.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    if is_shared():
        return _loader(language)
    return f"{built_files.words(language)}\n{built_files.text('widget.js')}"


def first_style() -> str:
    """Return the style sheet that a widget sends.

    If widgets share a `FrontEnd`, this function returns an empty text, because the page takes the style sheet from the
    `FrontEnd`.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return "" if is_shared() else built_files.text("widget.css")


def _make(language: str) -> FrontEnd:
    script, style = _compressed("widget.js"), _compressed("widget.css")
    # The digests include those of languages that are sent later.
    files = {"script": script, "style": style}
    files |= {f"words.{name}": _compressed(words_file(name)) for name in languages.languages()}
    digests = {name: hashlib.sha256(file.encode()).hexdigest() for name, file in files.items()}
    words = {language: files[f"words.{language}"]}
    made = FrontEnd(_esm=_loader(language), script=script, style=style, words=words, digests=digests)
    _FRONT_ENDS.add(made)
    return made


def _loader(language: str) -> str:
    return built_files.read(f"loader.{language}.js").decode()


def _compressed(name: str) -> str:
    return base64.b64encode(built_files.read(f"{name}.gz")).decode("ascii")
