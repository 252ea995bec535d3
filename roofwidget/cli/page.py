"""`roofwidget page`: an executed notebook as one HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from roofwidget.export.notebook import notebook_page

DESCRIPTION: Final = """\
Write an executed notebook as one HTML page: its texts, code and outputs, with its roofwidgets alive. The page needs no
Python, no network and no other file.

Run the notebook first, so that it has the state of its widgets:
  jupyter nbconvert --to notebook --execute --inplace lesson.ipynb
  roofwidget page lesson.ipynb
"""


def add_arguments(page: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    page.add_argument("paths", type=Path, nargs="+", metavar="NOTEBOOK", help="a notebook, or a folder of notebooks")
    page.add_argument("--out", type=Path, metavar="FOLDER", help="where the pages go; by default beside the notebooks")
    page.set_defaults(run=_pages, status_of_failure=1)


def _pages(options: argparse.Namespace) -> int:
    notebooks = list(_notebooks(options.paths))
    if not notebooks:
        raise ValueError(f"there is no notebook (.ipynb) in {', '.join(map(str, options.paths))}")
    today = datetime.now().astimezone().date()
    for path in notebooks:
        html = notebook_page(path, today)
        target = (options.out or path.parent) / f"{path.stem}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html, encoding="utf-8")
        print(target)
    return 0


def _notebooks(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (sorted(path.glob("*.ipynb")) if path.is_dir() else [path])
