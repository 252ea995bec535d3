"""Widgets for pages of other programs: the files of `to_myst`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.export import embed
from roofwidget.export.saved_state import saved
from roofwidget.state.requests import compressed
from roofwidget.support import built_files
from tests.places import text_of

KERNELS = [rw.Kernel("matmul", 4e12, 1e10, 8e-3)]


def test_the_directive_names_the_module_and_its_body_is_the_state(tmp_path: Path) -> None:
    widget = rw.roofline(["v5p"], KERNELS)
    directive = rw.to_myst(widget, tmp_path / "book", name="matmul")
    first, body, last, end = directive.split("\n")
    assert (first, last, end) == (":::{anywidget} ./roofwidget.mjs", ":::", "")
    assert sorted(path.name for path in (tmp_path / "book").iterdir()) == ["matmul.json", "matmul.md", "roofwidget.mjs"]
    assert text_of(tmp_path / "book" / "matmul.md") == directive
    assert text_of(tmp_path / "book" / "matmul.json") == body
    values: dict[str, Any] = json.loads(body)
    assert values.keys() == {"saved", "catalogue"}
    assert values["saved"] == compressed(saved(widget.wire_state()))


def test_the_module_has_the_words_of_the_widgets_language(tmp_path: Path) -> None:
    rw.to_myst(rw.roofline(["v5p"], locale="de"), tmp_path)
    german, english = text_of(tmp_path / "roofwidget.mjs"), embed.module()
    assert german.startswith(built_files.words("de"))
    assert english.startswith(built_files.words("en"))
    assert german.removeprefix(built_files.words("de")) == english.removeprefix(built_files.words("en"))


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "<b>", None, 5])
def test_a_name_that_is_no_name_of_a_file_writes_nothing(tmp_path: Path, name: Any) -> None:
    with pytest.raises(ValueError, match="name is part of names of files"):
        rw.to_myst(rw.roofline(["v5p"]), tmp_path / "book", name=name)
    assert not (tmp_path / "book").exists()


def test_what_is_no_widget_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a widget or a model, not dict"):
        rw.to_myst({})  # type: ignore[arg-type]  # what is tested
