"""Runs the drawing code of the front end in an embedded JavaScript engine, QuickJS.

So a picture from Python is the picture on the screen: there is one drawing code. QuickJS was chosen because its wheel
is small (2.6 MB; that of V8, `mini-racer`, has 22 MB), serves every Python from 3.10 on, and starts in 30 ms.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from roofwidget.export.saved_state import State, saved
from roofwidget.support import built_files
from roofwidget.support.arguments import number_argument
from roofwidget.support.did_you_mean import did_you_mean, listed

Theme = Literal["light", "dark"]
Style = Literal["paper-1col", "paper-2col", "slide", "screen"]
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
    """A picture as SVG text, its words for those who do not see it, and its size in px of 1/96 inch."""

    svg: str
    title: str
    width: int
    height: int


@dataclass(frozen=True)
class Figure:
    """How a figure for print or a slide differs from the picture on the screen.

    Parameters
    ----------
    style
        The size, the font and the lines, see `js/src/chart/figure/styles.ts`.
    caption
        Whether the caption is drawn under the figure.
    names
        How many kernels are named, or the names of these kernels. None: as the style says.
    patterns
        Whether shapes and patterns replace colours.
    ceilings
        Whether the ceilings that are on are drawn.
    """

    style: Style
    caption: bool = False
    names: int | Sequence[str] | None = None
    patterns: bool = False
    ceilings: bool = False


def draw(
    state: State,
    language: str,
    *,
    width: int = DEFAULT_WIDTH,
    height: int | None = None,
    theme: Theme = "light",
    words: str = "",
    figure: Figure | None = None,
) -> Picture:
    """Draw the chart of a state, with its title and legend; or a figure of its roofline.

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
        What the picture shows. By default the title and the verdict, or the sentence in the status row without both.
    figure
        If given, its style says the size.

    Raises
    ------
    ImportError
        If QuickJS is not installed.
    FileNotFoundError
        If the front end is not built.
    RuntimeError
        If the drawing code fails.
    TypeError, ValueError
        If a size or the theme is impossible, or if no kernel has one of the names.
    """
    if theme not in get_args(Theme):
        raise ValueError(f"theme is 'light' or 'dark', not {theme!r}{did_you_mean(str(theme), get_args(Theme))}")
    for name, size in (("width", width), ("height", height)):
        if size is not None and not SIZES[0] <= number_argument(size, f"{name} in px") <= SIZES[1]:
            raise ValueError(f"{name} is {size:g} px; it must be from {SIZES[0]} to {SIZES[1]:,} px")
    asked = None if figure is None else asdict(figure)
    order = saved(state, width=width, height=height, dark=theme == "dark", words=words, figure=asked)
    drawn = json.loads(_ENGINES.of(language)(order))
    if "unknownName" in drawn:
        name = drawn["unknownName"]
        raise ValueError(f"names: no kernel of the chart is called '{name}'{did_you_mean(name, drawn['knownNames'])}")
    return Picture(**drawn)


def figure_of(
    style: Style,
    *,
    width: int | None,
    height: int | None,
    caption: bool,
    names: int | Sequence[str] | None,
    patterns: bool,
    ceilings: bool,
) -> Figure | None:
    """Return the options of a figure, or None for the style "screen", which is the picture that the widget shows.

    Raises
    ------
    ValueError
        If there is no such style, or if `names` is below zero.
    TypeError
        If an option is not one of the style's, or if `names` is neither a number nor names.
    """
    styles = get_args(Style)
    if style not in styles:
        raise ValueError(f"style is {listed(styles)}, not {style!r}{did_you_mean(str(style), styles)}")
    if style == "screen":
        given = {"caption": caption, "patterns": patterns, "ceilings": ceilings, "names": names is not None}
        for word in (word for word, is_given in given.items() if is_given):
            raise TypeError(f"{word} is for figures: set style to {listed(styles[:-1])}")
        return None
    for word, size in (("width", width), ("height", height)):
        if size is not None:
            raise TypeError(f"{word} is for style 'screen': '{style}' says the size of its figure")
    if names is not None and not isinstance(names, int):
        if isinstance(names, str) or not (isinstance(names, Iterable) and all(isinstance(name, str) for name in names)):
            raise TypeError(f"names is a number or a list of the names of kernels, got {names!r}")
        names = list(names)
    elif names is not None and names < 0:
        raise ValueError(f"names is {names}; it must be 0 or more")
    return Figure(style, caption=bool(caption), names=names, patterns=bool(patterns), ceilings=bool(ceilings))


def warm_up(language: str) -> None:
    """Start the engine of a language in the background, so that the first picture need not wait for it."""
    if language not in _ENGINES.drawing:
        # Pyodide has no threads.
        with contextlib.suppress(RuntimeError):
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
            # quickjs would collect the garbage of Python, too: in a large process that takes longer than the picture.
            return str(function(order, run_gc=False))
        except failure as error:
            raise RuntimeError(f"the picture could not be drawn: {error}") from None

    return drawing


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ENGINES.forget)
