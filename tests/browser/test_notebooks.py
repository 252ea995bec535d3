"""Every notebook of the course, run from top to bottom in a real JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_from_top_to_bottom_and_asks_nobody_outside(notebook: OpenNotebook, path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    sources = [f"import os; os.chdir({str(path.parent)!r})", *("".join(cell["source"]) for cell in cells)]
    book = notebook(sources)
    for index in range(len(sources)):
        book.run(index)
    Drawn(book)
    assert book.external_requests == []
