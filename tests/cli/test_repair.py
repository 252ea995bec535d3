"""`roofwidget repair`: notebooks that GitHub refuses because of their saved widgets."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

from roofwidget.cli import main
from roofwidget.cli.repair import STATE, repaired
from tests.places import text_of, write

Capture = pytest.CaptureFixture[str]
MODEL = {
    "model_module": "@jupyter-widgets/controls",
    "model_module_version": "2.0.0",
    "model_name": "LabelModel",
    "state": {},
}
VERSION = {"version_major": 2, "version_minor": 0}
VIEW = "application/vnd.jupyter.widget-view+json"


def notebook(widgets: Any, **rest: Any) -> dict[str, Any]:
    output = {
        "output_type": "display_data",
        "metadata": {},
        "data": {VIEW: {"model_id": "a"}, "text/plain": "é \u2588"},
    }
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "execution_count": 1,
        "source": 'x = "metadata"',
        "outputs": [output],
    }
    return {"cells": [cell], "metadata": {"widgets": widgets, **rest}, "nbformat": 4, "nbformat_minor": 5}


def is_accepted(text: str) -> bool:
    """Return whether nbconvert, which GitHub uses, makes a page of a notebook."""
    read: Any = nbformat.reads
    export: Any = HTMLExporter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            export().from_notebook_node(read(text, as_version=4))
        except (KeyError, TypeError, AttributeError):
            return False
    return True


REFUSED: dict[str, Any] = {
    "models without state, as Colab saves them": {STATE: {"a": MODEL, "b": MODEL}},
    "models beside an empty state": {STATE: {"a": MODEL, "state": {}, **VERSION}},
    "models without their format": {"a": MODEL},
    "no state": {STATE: VERSION},
    "nothing": {},
    "another format": {"state": {"a": {"views": [{"cell_index": 1}]}}, "version": "1.1.2"},
    "a state that is no object": {STATE: {"state": None, **VERSION}},
    "a block that is no object": {STATE: []},
}


@pytest.mark.parametrize("widgets", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("indent", [None, 1, 2, "\t"])
def test_a_refused_notebook_is_accepted_afterwards_and_all_else_is_the_same(
    widgets: Any, indent: int | str | None
) -> None:
    given = notebook(widgets, kernelspec={"name": "python3", "display_name": "P", "language": "python"})
    text = json.dumps(given, indent=indent, ensure_ascii=False) + "\n"
    mended, done = repaired(text)
    assert done
    assert is_accepted(mended)
    old, new = json.loads(text), json.loads(mended)
    old["metadata"].pop("widgets")
    block = new["metadata"].pop("widgets", {}).get(STATE)
    assert new == old
    assert block is None or (isinstance(block["state"], dict) and {**block, **VERSION} == block)
    assert repaired(mended) == (mended, [])
    before, after = text.partition('"widgets"')[0], text.rpartition('"kernelspec"')[2]
    assert mended.startswith(before.rstrip(", \t\n"))
    assert mended.endswith(after)


def test_nbconvert_refuses_the_notebooks_of_colab_before_they_are_mended() -> None:
    assert not is_accepted(json.dumps(notebook(REFUSED["models without state, as Colab saves them"])))
    assert not is_accepted(json.dumps(notebook({})))
    assert is_accepted(json.dumps(notebook({STATE: {"state": {}, **VERSION}})))


def test_no_model_is_lost() -> None:
    mended, done = repaired(json.dumps(notebook({STATE: {"a": MODEL, "state": {"b": MODEL}, **VERSION}})))
    assert json.loads(mended)["metadata"]["widgets"][STATE]["state"] == {"a": MODEL, "b": MODEL}
    assert done == ["put 1 widget under 'state'"]


@pytest.mark.parametrize("version", [{}, {"version_major": "2", "version_minor": 0}, {"version_major": 2}])
def test_a_version_that_is_missing_or_no_number_becomes_2_0(version: dict[str, Any]) -> None:
    mended, done = repaired(json.dumps(notebook({STATE: {"state": {"a": MODEL}, **version}})))
    assert json.loads(mended)["metadata"]["widgets"][STATE] == {"state": {"a": MODEL}, **VERSION}
    assert done == ["set the version of the widgets to 2.0"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_ends_mark_and_indentation_stay(tmp_path: Path, ending: str) -> None:
    text = "\ufeff" + json.dumps(notebook({STATE: {"a": MODEL}}), indent=1).replace("\n", ending)
    path = tmp_path / "n.ipynb"
    path.write_bytes(text.encode())
    assert main(["repair", str(path)]) == 0
    new = path.read_bytes().decode()
    assert new.startswith("\ufeff{" + ending + ' "cells"')
    assert new.count("\n") == new.count(ending)
    whole = json.dumps(notebook({STATE: {"state": {"a": MODEL}, **VERSION}}), indent=1).replace("\n", ending)
    assert new.removeprefix("\ufeff") == whole


def test_a_folder_is_mended_and_each_notebook_says_what_was_done(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / ".ipynb_checkpoints").mkdir()
    write(tmp_path / ".ipynb_checkpoints" / "c.ipynb", "broken")
    good = json.dumps(notebook({STATE: {"state": {}, **VERSION}}))
    write(tmp_path / "a.ipynb", notebook({STATE: {"a": MODEL}}))
    write(tmp_path / "b.ipynb", good)
    assert main(["repair", "--check", str(tmp_path)]) == 1
    assert STATE in text_of(tmp_path / "a.ipynb")
    assert '"state": {"a"' not in text_of(tmp_path / "a.ipynb")
    capsys.readouterr()
    assert main(["repair", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'a.ipynb'}: put 1 widget under 'state'; set the version of the widgets to 2.0",
        f"{tmp_path / 'b.ipynb'}: nothing to mend",
    ]
    assert text_of(tmp_path / "b.ipynb") == good
    assert sorted(path.name for path in tmp_path.iterdir()) == [".ipynb_checkpoints", "a.ipynb", "b.ipynb"]
    assert main(["repair", "--check", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"cells": [', "line 1, column 12: this is no JSON"),
        (b"[]", "this is no notebook: it has no list of cells"),
        (b'{"cells": 3, "metadata": {"widgets": {}}}', "it has no list of cells"),
        (b"\xff\xfe", "byte 1 is no UTF-8"),
        (b"[" * 200_000, "no "),
    ],
)
def test_what_is_no_notebook_gives_status_2_and_stays_while_others_are_mended(
    tmp_path: Path, capsys: Capture, content: bytes, said: str
) -> None:
    bad, good = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    bad.write_bytes(content)
    write(good, notebook({STATE: {"a": MODEL}}))
    assert main(["repair", str(bad), str(good), str(tmp_path / "none.ipynb")]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"roofwidget: {bad}: ")
    assert said in err
    assert f"{tmp_path / 'none.ipynb'}: No such file" in err
    assert bad.read_bytes() == content
    assert f"{good}: put 1 widget" in out
