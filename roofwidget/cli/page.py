"""`roofwidget page`: an executed notebook as one HTML page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from roofwidget.export.course import CONTENTS, contents_page
from roofwidget.export.notebook import lesson_of, notebook_page
from roofwidget.export.translation import Translation, translation_of
from roofwidget.support.languages import ENGLISH, languages
from roofwidget.support.text_tables import one_line

_MAX_LETTERS: Final = 100
DESCRIPTION: Final = """\
Write an executed notebook as one HTML page: its texts, code and outputs, with its roofwidgets alive. The page needs no
Python, no network and no other file.

Run the notebook first, so that it has the state of its widgets:
  jupyter nbconvert --to notebook --execute --inplace lesson.ipynb
  roofwidget page lesson.ipynb

A whole course, with a table of contents; and in German, by the files that "roofwidget translate" makes:
  roofwidget page notebooks --out pages --contents "Rooflines"
  roofwidget page notebooks --out pages/de --contents "Rooflines" --language de
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
    page.add_argument(
        "--language", metavar="CODE", help="translate the texts, and show the widgets in this language, such as 'de'"
    )
    add_folder_of_translations(page)
    page.set_defaults(run=_pages, status_of_failure=1)


def add_folder_of_translations(parser: argparse.ArgumentParser) -> None:
    """Describe the argument for the folder of translations."""
    parser.add_argument(
        "--translations",
        type=Path,
        metavar="FOLDER",
        help="where the translations are, such as FOLDER/de/lesson.po; by default 'translations' beside each notebook",
    )


def _pages(options: argparse.Namespace) -> int:
    notebooks = notebooks_of(options.paths)
    today = datetime.now().astimezone().date()
    places = [(options.out or path.parent) / f"{path.stem}.html" for path in notebooks]
    contents = None if options.contents is None else _place_of_contents(places)
    language = options.language
    if language is not None and language not in languages():
        raise ValueError(f"--language: the widgets have the languages {', '.join(languages())}, not {language!r}")
    said = [language and translation_of(path, language, options.translations) for path in notebooks]
    course = [] if contents is None else list(map(lesson_of, notebooks, said))
    for path, place, translation in zip(notebooks, places, said, strict=True):
        beside = {other.name for other, at in zip(notebooks, places, strict=True) if at.parent == place.parent}
        answers = options.print_answers
        _write(place, notebook_page(path, today, beside, course, translation=translation, print_answers=answers))
        if language is not None:
            _say_what_is_missing(path, translation, language)
    if contents is not None:
        _write(contents, contents_page(course, options.contents, today, language or ENGLISH))
    return 0


def _say_what_is_missing(path: Path, translation: Translation | None, language: str) -> None:
    if translation is None:
        print(f"{path.name} has no translation into {language!r}: its page stays as it is", file=sys.stderr)
    for text in () if translation is None else translation.missing:
        print(f"{path.name}: not translated: {one_line(text, _MAX_LETTERS)}", file=sys.stderr)


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


def notebooks_of(paths: Sequence[Path]) -> list[Path]:
    """Return the notebooks that paths name, those of a folder in the order of their names.

    Raises
    ------
    ValueError
        If there is none.
    """
    found = [one for path in paths for one in (sorted(path.glob("*.ipynb")) if path.is_dir() else [path])]
    if not found:
        raise ValueError(f"there is no notebook (.ipynb) in {', '.join(map(str, paths))}")
    return found
