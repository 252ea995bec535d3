"""A small lesson as a notebook: what executors, graders and pages are tried with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

ASKS: Final = """\
import roofwidget as rw

ridge = rw.Question(key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B")
place = rw.Question(key="place", prompt="Drag it there.", answer=50, on="intensity", kernel="matmul")
widget = rw.RooflineWidget(["v5p"], [("matmul", 4e12, 8e10)])
rw.Story(widget, ["**One** roof.", rw.Step("Predict.", question=place), ridge])"""
SHOWS_GRADES: Final = "print(widget.answer('ridge'))\nprint(rw.grade(widget))"
PRINTED: Final = "None\n0 of 2 questions right"


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook."""

    source: str
    kind: str = "code"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def record(self, place: int) -> dict[str, Any]:
        """Return the cell as a notebook has it."""
        outputs: dict[str, Any] = {"outputs": [], "execution_count": None} if self.kind == "code" else {}
        return {
            "cell_type": self.kind,
            "id": f"cell-{place}",
            "metadata": dict(self.metadata),
            "source": self.source,
            **outputs,
        }


LESSON: Final = (
    Cell("# A lesson\n\nSee [the next](two.ipynb#more) and [the rules](../docs/arithmetic.md).", "markdown"),
    Cell(ASKS),
    Cell("## What was answered", "markdown"),
    Cell(SHOWS_GRADES),
)


def notebook(cells: Iterable[Cell]) -> str:
    """Return the text of a notebook that was not executed."""
    content = {
        "cells": [cell.record(place) for place, cell in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content)
