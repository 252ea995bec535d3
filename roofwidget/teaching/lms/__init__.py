"""Questions as files that learning management systems import."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.teaching.lms import blackboard, canvas_qti, gift, moodle_xml, qti
from roofwidget.teaching.lms.items import Item, items
from roofwidget.teaching.question import Question

_BLACKBOARD: Final = "blackboard-txt"
_CONTENT: Final[Mapping[str, Callable[[list[Item], str], bytes]]] = {
    "gift": lambda found, title: gift.text(found, title).encode(),
    "moodle-xml": lambda found, title: moodle_xml.text(found, title).encode(),
    "canvas-qti": canvas_qti.content,
    _BLACKBOARD: lambda found, _title: blackboard.text(found).encode(),
    "qti21": lambda found, _title: qti.content(found, qti.QTI_2_1),
    "qti30": lambda found, _title: qti.content(found, qti.QTI_3_0),
}
FORMATS: Final = tuple(_CONTENT)
"""The formats, by their names on the command line."""


def content(questions: Iterable[Question], layout: str, title: str) -> tuple[bytes, list[str]]:
    """Return the bytes of a file in a format, and a sentence for each question or text that it leaves out.

    Raises
    ------
    ValueError
        If there is no such format, or no question that it can hold.
    """
    if layout not in _CONTENT:
        raise ValueError(f"there is no format '{layout}'{did_you_mean(layout, FORMATS)}; there are {listed(FORMATS)}")
    found, notes = items(questions)
    if not found:
        raise ValueError("; ".join(["there is no question to export", *notes]))
    if layout == _BLACKBOARD:
        notes.append("Blackboard's text has no feedback: the texts of options and of wrong answers are left out")
        if len(found) > blackboard.MAX_ROWS:
            notes.append(f"Blackboard recommends at most {blackboard.MAX_ROWS} questions, and these are {len(found)}")
    elif layout == "canvas-qti" and any(answer.said for item in found if not item.is_choice for answer in item.answers):
        notes.append("Canvas has no texts for single wrong numbers: they are left out")
    return _CONTENT[layout](found, title), notes


def export_questions(
    questions: Iterable[Question],
    path: str | os.PathLike[str],
    *,
    format: str,  # noqa: A002 - what people call it
    title: str = "Rooflines",
) -> Path:
    """Write questions as a file that a learning management system imports, and return its path.

    The file has the texts of options, the listed wrong answers with their texts, and the method, as far as the format
    has a place for them. A drag becomes a typed number. A merge is left out, with a warning. Questions with the same
    key are variants of each other: in the formats of Moodle and Canvas a quiz can draw one of them.

    Parameters
    ----------
    questions
        Such as ``rw.question_bank(seed)``; for variants the questions of several seeds.
    path
        Where the file goes. "gift" and "blackboard-txt" are text, "moodle-xml" is XML, the others are zip archives.
    format
        "gift" or "moodle-xml" for Moodle, "canvas-qti" for Canvas, "blackboard-txt" for Blackboard, "qti21" or "qti30"
        for others, such as OpenOlat and TAO.
    title
        The name of the quiz or of the category of questions.

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError
        If there is no such format, or no question that it can hold.

    Examples
    --------
    >>> import tempfile
    >>> from roofwidget.teaching.bank import question_bank
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = export_questions(question_bank(7)[:1], Path(folder) / "bank.gift", format="gift")
    ...     path.read_text(encoding="utf-8").splitlines()[0]
    '$CATEGORY: Rooflines/ridge-point'
    """
    found, notes = content(questions, format, title)
    if notes:
        warnings.warn("; ".join(notes), stacklevel=2)
    target = Path(path)
    target.write_bytes(found)
    return target
