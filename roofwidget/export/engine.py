"""Runs the drawing code of the front end in an embedded JavaScript engine, QuickJS.

So a picture from Python is the picture on the screen: there is one drawing code. QuickJS was chosen because its wheel
is small (2.6 MB; that of V8, `mini-racer`, has 22 MB), serves every Python from 3.10 on, and starts in 30 ms.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from roofwidget.export.saved_state import State, saved
from roofwidget.support import built_files
from roofwidget.support.arguments import number_argument
from roofwidget.support.did_you_mean import did_you_mean

Theme = Literal["light", "dark"]
DEFAULT_WIDTH: Final = 760
# Where nothing could be drawn, and where a browser or a printer gives up.
SIZES: Final = (200, 10_000)
_MISSING: Final = (
    "pictures need the package quickjs-ng, which is not installed with roofwidget on this platform: "
    "'pip install quickjs-ng' builds it where there is a C compiler"
)


class _Engines:
    """The drawing functions by language, each with an engine in a thread of its own."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all engines. A forked process needs new ones: it has no threads but its own."""
        self.drawing: dict[str, Callable[[str], str]] = {}
        self.starting = threading.Lock()

    def of(self, language: str) -> Callable[[str], str]:
        with self.starting:
            if language not in self.drawing:
                self.drawing[language] = _started(language)
            return self.drawing[language]


_ENGINES: Final = _Engines()


@dataclass(frozen=True)
class Picture:
    """A picture as SVG text, what it shows in words, and its size in px."""

    svg: str
    title: str
    width: int
    height: int


def draw(
    state: State,
    language: str,
    *,
    width: int = DEFAULT_WIDTH,
    height: int | None = None,
    theme: Theme = "light",
    words: str = "",
) -> Picture:
    """Draw the chart of a state, with its title, legend and sentence.

    Parameters
    ----------
    state
        See `saved_state.State`.
    language
        The code of the language of all texts, such as "de".
    width, height
        Size in px. By default the chart has the height that it has in a notebook.
    theme
        "light" or "dark".
    words
        What the picture shows. By default the title and the verdict, or the sentence under the chart without both.

    Raises
    ------
    ImportError
        If QuickJS is not installed.
    FileNotFoundError
        If the front end is not built.
    RuntimeError
        If the drawing code fails.
    TypeError, ValueError
        If a size or the theme is impossible.
    """
    if theme not in get_args(Theme):
        raise ValueError(f"theme is 'light' or 'dark', not {theme!r}{did_you_mean(str(theme), get_args(Theme))}")
    for name, size in (("width", width), ("height", height)):
        if size is not None and not SIZES[0] <= number_argument(size, f"{name} in px") <= SIZES[1]:
            raise ValueError(f"{name} is {size:g} px; it must be from {SIZES[0]} to {SIZES[1]:,} px")
    order = saved(state, width=width, height=height, dark=theme == "dark", words=words)
    return Picture(**json.loads(_ENGINES.of(language)(order)))


def warm_up(language: str) -> None:
    """Start the engine of a language in the background, so that the first picture need not wait for it."""
    if language not in _ENGINES.drawing:
        threading.Thread(target=_warm_up, args=(language,), daemon=True).start()


def _warm_up(language: str) -> None:
    # Whatever is wrong with the engine, `draw` says it to whoever wants a picture.
    with contextlib.suppress(Exception):
        _ENGINES.of(language)


def _started(language: str) -> Callable[[str], str]:
    try:
        import quickjs  # noqa: PLC0415  # optional on some platforms
    except ImportError:
        raise ImportError(_MISSING) from None
    script = f"{built_files.words(language)}\n{built_files.text('engine.js')}"
    failure: type[Exception] = quickjs.JSException
    function: Any = quickjs.Function("draw", script, own_executor=True)

    def drawing(order: str) -> str:
        try:
            return str(function(order))
        except failure as error:
            raise RuntimeError(f"the picture could not be drawn: {error}") from None

    return drawing


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ENGINES.forget)
