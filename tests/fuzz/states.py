"""Damaged saved states: sessions, pages and notebooks with widgets."""

from __future__ import annotations

import base64
import datetime as dt
import functools
import gzip
import json
import re
import tempfile
from pathlib import Path
from random import Random
from typing import Any, Final

import ipywidgets

import roofwidget as rw
from roofwidget.export.notebook import STATE, VIEW, notebook_page
from roofwidget.readers import page
from tests.fuzz import mutate
from tests.fuzz.subject import Case, Subject, with_story
from tests.saved_state import saved
from tests.saved_state.cases import CASES

_DAY: Final = dt.date(2026, 1, 1)
_PACKED: Final = re.compile(rf"({page.MARK}[^>]*>.*?<script[^>]*>)([^<]*)(</script>)".encode(), re.DOTALL)
# Making a page of a notebook takes far longer than the rest.
_SHARE_OF_NOTEBOOKS: Final = 0.02


@functools.cache
def sessions() -> list[Any]:
    """Return sessions as JSON values."""
    found = [json.loads(widget._to_session()) for make in CASES.values() for widget in make()]
    lesson = rw.RooflineModel(["v5p", "v6e"], [("a", 1e9, 1e6, 1e-3)])
    with_story(lesson)
    found.append(json.loads(lesson._to_session()))
    ipywidgets.Widget.close_all()
    return found


@functools.cache
def pages() -> list[bytes]:
    """Return saved pages without the text of the front end."""
    found = []
    for make in CASES.values():
        for widget in make()[:1]:
            text = _saved(widget)
            found.append(
                re.sub(r"<script type=\"text/plain\" data-(?:unpack|catalogue).*?</script>", "", text).encode()
            )
    ipywidgets.Widget.close_all()
    return found


def _saved(widget: rw.RooflineWidget) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return Path(widget.save(Path(folder, "page.html"))).read_text("utf-8")


@functools.cache
def notebooks() -> list[Any]:
    """Return notebooks, as JSON values, whose widgets were saved."""
    found = []
    for path in saved.PATHS:
        document = saved.read(path)
        outputs = [
            {"output_type": "display_data", "metadata": {}, "data": {VIEW: {"model_id": key, "version_major": 2}}}
            for key, model in document["state"].items()
            if saved.is_widget(model)
        ]
        cells = [
            {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Title\n\n[next](next.ipynb)"},
            {"cell_type": "code", "id": "b", "metadata": {}, "source": "w", "outputs": outputs, "execution_count": 1},
        ]
        metadata = {"widgets": {STATE: document}}
        found.append({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    return found


def _draw(chance: Random) -> Case:
    kind = chance.random()
    if kind < _SHARE_OF_NOTEBOOKS:
        suffix, (what, data) = "ipynb", _document(notebooks(), chance)
    elif kind < 0.3:
        suffix, (what, data) = "html", _page(chance)
    else:
        suffix, (what, data) = "json", _document(sessions(), chance)
    return Case(f"{suffix}: {what}", (suffix, data), len(data))


def _document(known: list[Any], chance: Random) -> tuple[str, bytes]:
    document, other = chance.choice(known), chance.choice(known)
    if chance.random() < 0.25:
        return mutate.damaged(mutate.text(document), mutate.text(other), chance)
    return "values", mutate.text(mutate.changed(document, chance, other))


def _page(chance: Random) -> tuple[str, bytes]:
    data = chance.choice(pages())
    found = _PACKED.search(data)
    assert found is not None
    kind = chance.random()
    if kind < 0.2:
        return mutate.damaged(data, chance.choice(pages()), chance)
    state = gzip.decompress(base64.b64decode(found[2]))
    if kind < 0.4:
        what, state = mutate.damaged(state, b"", chance)
    else:
        what, state = "values", mutate.text(mutate.changed(json.loads(state), chance))
    packed = gzip.compress(state, mtime=0)
    if kind < 0.5:
        packed = packed[: chance.randrange(len(packed))]
    return f"state, {what}", data[: found.start(2)] + base64.b64encode(packed) + data[found.end(2) :]


def _use(case: Case) -> None:
    suffix, data = case.given
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"saved.{suffix}")
        path.write_bytes(data)
        if suffix == "ipynb":
            notebook_page(path, _DAY).encode()
        elif suffix == "html":
            assert repr(rw.read(path))
        else:
            model = rw.RooflineModel.load(path)
            assert repr(model)
            again = model._to_session()
            model.wire_state()
            again.encode()


STATES: Final = Subject("saved states", _draw, _use, (ValueError,))
