"""A sheet: which questions all students get. Those of the bank have numbers of each student's own."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from roofwidget.chips import toml
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.notebook_sheet import read_notebook_sheet
from roofwidget.teaching.question import Question

_KEYS: Final = ("course", "title", "questions", "tolerance")
_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*%")
_MIN_PERCENT, _MAX_PERCENT = 0.01, 20
_ID_LETTERS: Final = 12
LEVELS: Final = ("none", "packed", "shown")
"""What a page may have of the answers."""


@dataclass(frozen=True)
class Sheet:
    """A sheet.

    Attributes
    ----------
    course, title
        The names of the course and of the sheet.
    keys
        The keys of its questions in the bank.
    tolerance
        The distance |log2(given / right)| within which a typed number is right; None for that of each question.
    own
        Questions of a notebook, with the same numbers for all; () if the questions are those of the bank.
    answers
        What its pages have of the answers, one of `LEVELS`. Numbers and tokens differ by it: the answers that a live
        page shows are of no use for marks.
    """

    course: str
    title: str
    keys: tuple[str, ...]
    tolerance: float | None = None
    own: tuple[Question, ...] = ()
    answers: str = LEVELS[0]

    @property
    def id(self) -> str:
        """A name of the sheet that does not depend on the numbers of a student."""
        text = json.dumps([self.course, self.title, self.keys, self.answers])
        return hashlib.sha256(text.encode()).hexdigest()[:_ID_LETTERS]

    def questions(self, seed: int | None) -> list[Question]:
        """Return its questions with the numbers and the order of options of a seed."""
        if self.own:
            return [with_tolerance(question.shuffled(seed), self.tolerance) for question in self.own]
        bank = {one.key: one for one in EXERCISES}
        return [with_tolerance(bank[key].question(seed), self.tolerance) for key in self.keys]


def with_tolerance(question: Question, tolerance: float | None) -> Question:
    """Return a question whose typed number has this tolerance, unless its own is smaller."""
    if tolerance is None or question.kind != "number" or tolerance >= float(question.tolerance or 0):
        return question
    return replace(question, tolerance=tolerance)


def tolerance_of(share: str) -> float:
    """Return the tolerance |log2| of a share such as "1 %".

    Raises
    ------
    ValueError
        If the text is no share from 0.01 to 20 %. Nobody types all digits of a ridge point.
    """
    found = _SHARE.fullmatch(share.strip())
    if found is None or not _MIN_PERCENT <= float(found[1]) <= _MAX_PERCENT:
        raise ValueError(
            f"'{share}' is no tolerance; write a share from {_MIN_PERCENT} % to {_MAX_PERCENT} %, such as '1 %'"
        )
    return math.log2(1 + float(found[1]) / 100)


def read_sheet(path: Path, answers: str = LEVELS[0]) -> Sheet:
    """Return the sheet of a file.

    Parameters
    ----------
    path
        A TOML file with ``course``, ``title``, ``questions`` and perhaps ``tolerance``; or an executed notebook, whose
        first heading is the title.
    answers
        What its pages have of the answers.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no sheet, or there is no such level. The message names the file and the key.
    """
    if answers not in LEVELS:
        raise ValueError(f"answers is {listed(LEVELS)}, not {answers!r}{did_you_mean(str(answers), LEVELS)}")
    if path.suffix.lower() == ".ipynb":
        notebook = read_notebook_sheet(path)
        questions = tuple(one.question for one in notebook.asked)
        keys = tuple(one.key for one in questions)
        return Sheet(notebook.title, notebook.title, keys, own=questions, answers=answers)
    try:
        table = toml.parse(path.read_text(encoding="utf-8-sig"))
        return replace(_sheet(table), answers=answers)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name}: this is no UTF-8 text; save the file as UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _sheet(table: Mapping[str, Any]) -> Sheet:
    for key in table:
        if key not in _KEYS:
            raise ValueError(f"a sheet has no key '{key}'{did_you_mean(key, _KEYS)}; it has {listed(_KEYS)}")
    texts = {key: table.get(key) for key in ("course", "title")}
    for key, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"'{key}' is a text, such as {key} = \"Performance engineering\"")
    keys = table.get("questions")
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        raise ValueError("'questions' is a list of keys of the bank, such as questions = [\"ridge-point\"]")
    _check_keys(keys)
    tolerance = table.get("tolerance")
    if tolerance is not None and not isinstance(tolerance, str):
        raise ValueError("'tolerance' is a text, such as tolerance = \"1 %\"")
    return Sheet(
        str(texts["course"]), str(texts["title"]), tuple(keys), None if tolerance is None else tolerance_of(tolerance)
    )


def _check_keys(keys: Sequence[str]) -> None:
    bank = {one.key for one in EXERCISES}
    for place, key in enumerate(keys):
        if key not in bank:
            hint = did_you_mean(key, bank, "; 'roofwidget class questions' lists its questions")
            raise ValueError(f"questions: the bank has no question '{key}'{hint}")
        if key in keys[:place]:
            raise ValueError(f"questions: '{key}' is there twice")
