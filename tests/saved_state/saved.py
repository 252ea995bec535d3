"""The saved states: what JupyterLab wrote of widgets into notebooks, read and made whole again."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest

import roofwidget as rw
from tests.saved_state.cases import INLINE, LOCALES

__all__ = ["PATHS", "is_widget", "of_case", "read", "texts", "title", "whole", "widgets"]

PATHS: Final = sorted(Path(__file__).parent.glob("*/*.json"))
"""One file a notebook, in a folder of the version that wrote it."""


def of_case(case: str) -> list[Path]:
    """Return the files of a case. A version from before the case was added has none."""
    return [path for path in PATHS if path.stem == case]


def is_widget(model: dict[str, Any]) -> bool:
    """Return whether a saved model is a roofline, and not its layout or the shared code."""
    return "chips" in model["state"]


def texts(model: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of what is left empty in the files: the text of the front end."""
    if is_widget(model):
        return ("_esm", "_css")
    # In 0.1.0 the shared code had no loader.
    loader = ("_esm",) if "_esm" in model["state"] else ()
    return (*loader, "script", "style", "words", "digests") if {"digest", "digests"} & set(model["state"]) else ()


def title(path: Path) -> str:
    """Return what a test of a file is called."""
    return f"{path.parent.name} {path.stem}"


def read(path: Path) -> dict[str, Any]:
    """Return a notebook's metadata of widgets as they lie in a file: without the text of the front end."""
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def widgets(path: Path) -> dict[str, dict[str, Any]]:
    """Return the states of the widgets in a file by their ids, their buffers in place."""
    models = read(path)["state"]
    return {key: _with_buffers(model) for key, model in models.items() if is_widget(model)}


def whole(path: Path) -> dict[str, Any]:
    """Return a notebook's metadata of widgets with the text of the front end as it is built now."""
    document = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROOFWIDGET_INLINE", "1" if path.stem == INLINE else "0")
        made = rw.RooflineWidget([], [], locale=LOCALES.get(path.stem, "en"))
        widget, code = made.get_state(), {} if made._code is None else made._code.get_state()
        made.close()
    for model in document["state"].values():
        for name in texts(model):
            model["state"][name] = (widget if is_widget(model) else code)[name]
    return document


def _with_buffers(model: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = model["state"]
    for buffer in model.get("buffers", ()):
        *way, last = buffer["path"]
        place: Any = state
        for key in way:
            place = place[key]
        place[last] = base64.b64decode(buffer["data"])
    return state
