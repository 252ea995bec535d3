"""Writes a widget for pages that other programs make: a directive of MyST, the front end's module and a state.

The module is `roofwidget.mjs` of the package: standard JavaScript in the form that anywidget defines (AFM). It needs no
Python and asks nobody.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from roofwidget.export.saved_state import State, saved
from roofwidget.state.requests import catalogue, compressed
from roofwidget.support import built_files
from roofwidget.support.languages import ENGLISH

MODULE: Final = "roofwidget.mjs"
"""The name of the module's file."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def module(language: str = ENGLISH) -> str:
    """Return the text of the module with the texts of a language.

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    text = built_files.read(MODULE).decode()
    return text if language == ENGLISH else built_files.words(language) + text.removeprefix(built_files.words(ENGLISH))


def model(state: State) -> dict[str, Any]:
    """Return the values of the model that the module reads, as JSON holds them."""
    return {"saved": compressed(saved(state)), "catalogue": catalogue()}


def write(state: State, folder: str | os.PathLike[str], name: str, language: str) -> str:
    """Write the module and the model's values into a folder, and return the directive of MyST that shows them.

    Raises
    ------
    ValueError
        If the name is no plain name of a file.
    FileNotFoundError
        If the front end is not built.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"to_myst: name is part of names of files: letters, digits, '-', '_' and '.', not {name!r}")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    values = json.dumps(model(state), separators=(",", ":"))
    directive = f":::{{anywidget}} ./{MODULE}\n{values}\n:::\n"
    for file, text in ((MODULE, module(language)), (f"{name}.json", values), (f"{name}.md", directive)):
        (place / file).write_text(text, encoding="utf-8", newline="\n")
    return directive
