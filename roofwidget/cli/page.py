"""`roofwidget page`: an executed notebook as one HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from roofwidget.export.course import CONTENTS, contents_page
from roofwidget.export.notebook import lesson_of, notebook_page

DESCRIPTION: Final = """\
Write an executed notebook as one HTML page: its texts, code and outputs, with its roofwidgets alive. The page needs no
Python, no network and no other file.

Run the notebook first, so that it has the state of its widgets:
  jupyter nbconvert --to notebook --execute --inplace lesson.ipynb
  roofwidget page lesson.ipynb

A whole course, with a table of contents:
  roofwidget page notebooks --out pages --contents "Rooflines"
"""


def add_arguments(page: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    page.add_argument("paths", type=Path, nargs="+", metavar="NOTEBOOK", help="a notebook, or a folder of notebooks")
    page.add_argument("--out", type=Path, metavar="FOLDER", help="where the pages go; by default beside the notebooks")
    page.add_argument(
        "--contents",
        metavar="TITLE",
        help="also write index.html with this title: a link to each page, and the headings of each notebook; each page "
        "links to those before and after it",
    )
    page.add_argument("--print-answers", action="store_true", help="a printed page has the answers under its questions")
    page.set_defaults(run=_pages, status_of_failure=1)


def _pages(options: argparse.Namespace) -> int:
    notebooks = list(_notebooks(options.paths))
    if not notebooks:
        raise ValueError(f"there is no notebook (.ipynb) in {', '.join(map(str, options.paths))}")
    today = datetime.now().astimezone().date()
    places = [(options.out or path.parent) / f"{path.stem}.html" for path in notebooks]
    contents = None if options.contents is None else _place_of_contents(places)
    course = [] if contents is None else [lesson_of(path) for path in notebooks]
    for path, place in zip(notebooks, places, strict=True):
        beside = {other.name for other, at in zip(notebooks, places, strict=True) if at.parent == place.parent}
        _write(place, notebook_page(path, today, beside, course, print_answers=options.print_answers))
    if contents is not None:
        _write(contents, contents_page(course, options.contents, today))
    return 0


def _place_of_contents(places: Sequence[Path]) -> Path:
    folders = {place.parent for place in places}
    if len(folders) > 1:
        raise ValueError("--contents: the pages go into several folders; name one folder with --out")
    contents = folders.pop() / CONTENTS
    if contents in places:
        raise ValueError("--contents writes index.html, and a notebook is named index.ipynb: rename the notebook")
    return contents


def _write(place: Path, html: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(html, encoding="utf-8", newline="\n")
    print(place)


def _notebooks(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (sorted(path.glob("*.ipynb")) if path.is_dir() else [path])
