"""Write the glossary as a notebook, so that `roofwidget page` puts it beside the lessons: `make_glossary.py FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

GLOSSARY: Final = Path(__file__).with_name("glossary.md")


def notebook() -> str:
    """Return the text of a notebook with the glossary, whose links lead to the lessons beside it."""
    source = GLOSSARY.read_text(encoding="utf-8").replace("](../notebooks/", "](")
    cell = {"cell_type": "markdown", "id": "glossary", "metadata": {}, "source": source}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


if __name__ == "__main__":
    (Path(sys.argv[1]) / "glossary.ipynb").write_text(notebook(), encoding="utf-8")
