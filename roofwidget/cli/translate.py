"""`roofwidget translate`: the texts of executed notebooks as files for translators."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from roofwidget.cli.page import add_folder_of_translations, notebooks_of
from roofwidget.export.notebook import texts_of
from roofwidget.export.translation import file_of, update
from roofwidget.support.text_tables import counted

DESCRIPTION: Final = """\
Write the texts of an executed notebook into a .po file, which translators edit:
those of its Markdown cells and of its stories. A text that is in the file
already keeps its translation. Numbers are placeholders such as {1}.

  roofwidget translate lesson.ipynb --language de
  roofwidget page lesson.ipynb --language de
"""


def add_arguments(translate: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    translate.add_argument(
        "paths", type=Path, nargs="+", metavar="NOTEBOOK", help="a notebook, or a folder of notebooks"
    )
    translate.add_argument("--language", metavar="CODE", required=True, help="the language, such as 'de'")
    add_folder_of_translations(translate)
    translate.set_defaults(run=_files, status_of_failure=1)


def _files(options: argparse.Namespace) -> int:
    for path in notebooks_of(options.paths):
        place, texts = file_of(path, options.language, options.translations), texts_of(path)
        missing = update(place, texts, options.language)
        print(f"{place}: {counted(len(texts), 'text')}, {missing} without a translation")
    return 0
