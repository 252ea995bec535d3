"""`grade`: which answers are right. It needs no front end, so it also runs where notebooks are graded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from roofwidget.export.answers import FORMAT, VERSION
from roofwidget.model import RooflineModel
from roofwidget.state.lesson import attempts_by_key
from roofwidget.support import strict_json, text_tables
from roofwidget.support.did_you_mean import did_you_mean, nearest
from roofwidget.support.unknowns import EqualWhereUnknown
from roofwidget.teaching.question import Check, Question, by_key

_COUNTS: Final = ("last", "first", "best")
_HEADER: Final = ("question", "", "answers", "message")


@dataclass(frozen=True, eq=False)
class Grade(EqualWhereUnknown):
    """The result of one question.

    Attributes
    ----------
    key
        The key of the question.
    correct
        Whether the answer that counts is right.
    answer
        The answer that counts; None if there is none.
    attempts
        How many answers were given.
    message
        What the learner is told about the answer. If there is none, the message names an answer whose key is similar
        and belongs to no question.
    factor
        The factor of `Question.check`: for a number, the answer divided by the right answer. NaN without one.
    """

    __module__ = "roofwidget"

    key: str
    correct: bool
    answer: Any
    attempts: int
    message: str
    factor: float = math.nan


@dataclass(frozen=True)
class Grades:
    """The grades of several questions, in their order."""

    __module__ = "roofwidget"

    grades: tuple[Grade, ...]

    @property
    def points(self) -> int:
        """How many answers are right."""
        return sum(one.correct for one in self.grades)

    @property
    def score(self) -> float:
        """The share of the questions that is answered right; NaN without questions."""
        return self.points / len(self.grades) if self.grades else math.nan

    def __len__(self) -> int:
        return len(self.grades)

    def __iter__(self) -> Iterator[Grade]:
        return iter(self.grades)

    def __getitem__(self, key: str) -> Grade:
        for one in self.grades:
            if one.key == key:
                return one
        raise KeyError(f"there is no question '{key}'{did_you_mean(key, [one.key for one in self.grades])}")

    def _rows(self) -> list[list[str]]:
        return [[one.key, "right" if one.correct else "–", str(one.attempts), one.message] for one in self.grades]

    def __repr__(self) -> str:
        head = f"{self.points} of {text_tables.counted(len(self), 'question')} right"
        return "\n".join([head, *text_tables.aligned([list(_HEADER), *self._rows()], right=[2])])

    def _repr_html_(self) -> str:
        caption = f"{self.points} of {text_tables.counted(len(self), 'question')} right"
        return text_tables.html_table(caption, _HEADER, self._rows())


def grade(
    answers: RooflineModel | Mapping[str, Any] | str | os.PathLike[str],
    questions: RooflineModel | Iterable[Question | Mapping[str, Any]] | None = None,
    *,
    counts: Literal["last", "first", "best"] = "last",
) -> Grades:
    """Return which answers are right.

    Parameters
    ----------
    answers
        A mapping from the keys of questions to answers; or a widget with a story; or the path of a file of answers. A
        page and `RooflineModel.export_answers` write such files.
    questions
        The questions or their records, in the order of the result; or a widget whose story asks them. By default those
        of the widget's story or of the file. A learner can edit a file: for marks that count, give the questions.
    counts
        Which of several answers to a question counts: the last one, the first one, or a right one if there is one. What
        is no number, no option or no partition is no first answer.

    Raises
    ------
    OSError
        If the file cannot be read.
    TypeError
        If the answers are a mapping and no questions are given, or if a question is of another type.
    ValueError
        If the file has no answers or is damaged, two questions have the same key, or `counts` has another value.

    Examples
    --------
    >>> from roofwidget.teaching.question import Question
    >>> ridge = Question(key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B")
    >>> grades = grade({"ridge": "160 FLOP/B"}, [ridge])
    >>> grades.points, grades["ridge"].message
    (1, 'Right.')
    """
    if counts not in _COUNTS:
        raise ValueError(f"counts is 'last', 'first' or 'best', not {counts!r}{did_you_mean(str(counts), _COUNTS)}")
    attempts, own, prompts = _attempts(answers, is_asked=questions is None)
    if questions is None and own is None:
        raise TypeError("grade: give the questions that the answers belong to, as in rw.grade(answers, questions)")
    known = by_key(list(own or []) if questions is None else _questions(questions))
    strays = [key for key, given in attempts.items() if given and key not in known and key not in prompts]
    # With other questions than those that were asked, a right answer may count as wrong.
    other = {key for key, question in known.items() if prompts.get(key, question.prompt) != question.prompt}
    graded = (_grade(question, attempts.get(key, []), counts, strays) for key, question in known.items())
    return Grades(tuple(_with_hint(one) if one.key in other else one for one in graded))


def _questions(given: Any) -> list[Question]:
    if isinstance(given, RooflineModel):
        given = given.questions
    elif isinstance(given, Question | Mapping | str) or not isinstance(given, Iterable):
        raise TypeError(f"grade: questions is a list of questions or a widget with a story, not {given!r:.60}")
    return [_question(one) for one in given]


def _question(given: Any) -> Question:
    if isinstance(given, Question):
        return given
    if isinstance(given, Mapping):
        return Question.from_record(given)
    raise TypeError(f"grade: a question is a Question or its record, not {given!r:.60}")


def _with_hint(grade: Grade) -> Grade:
    if grade.correct or not grade.attempts:
        return grade
    hint = (
        "The answers come with another prompt of this question: was it made with another seed or another version of "
        "roofwidget? Without 'questions', they are graded by their own."
    )
    return replace(grade, message=f"{grade.message} {hint}")


def _attempts(answers: Any, *, is_asked: bool) -> tuple[dict[str, list[Any]], list[Question] | None, dict[str, str]]:
    """Return all answers by key, the questions that come with them if they are asked for, and their prompts by key."""
    if isinstance(answers, RooflineModel):
        own = _questions(answers)
        return {key: list(given) for key, given in answers.answers.items()}, own, {one.key: one.prompt for one in own}
    if isinstance(answers, Mapping):
        return {str(key): [] if value is None else [value] for key, value in answers.items()}, None, {}
    return _from_file(Path(answers), is_asked=is_asked)


def _from_file(path: Path, *, is_asked: bool) -> tuple[dict[str, list[Any]], list[Question], dict[str, str]]:
    try:
        document = strict_json.parse(path.read_text(encoding="utf-8")).value
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no file of answers: it is not UTF-8 text") from None
    except strict_json.JsonError as error:
        raise ValueError(f"{path.name} is no file of answers: {error}") from None
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(f"{path.name} is no file of answers: a page writes one by its button 'Save answers'")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(f"{path.name} has version {version!r}, and this roofwidget reads up to {VERSION}")
    try:
        # A learner can edit the questions: they matter only if the lecturer gives none.
        questions = [Question.from_record(record) for record in document["questions"]] if is_asked else []
        prompts = {str(record["key"]): str(record.get("prompt", "")) for record in document["questions"]}
        answers = attempts_by_key(document["answers"])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None
    return {key: list(given) for key, given in answers.items()}, questions, prompts


def _grade(question: Question, attempts: list[Any], counts: str, strays: list[str]) -> Grade:
    checks = [(value, question.check(value, attempt)) for attempt, value in enumerate(attempts, 1)]
    right = [one for one in checks if one[1].correct]
    readable = [one for one in checks if one[1].said != "invalid"]
    if not checks:
        close = nearest(question.key, strays, most=1)
        hint = f" There is an answer to '{close[0]}', which no question has: is it meant for this one?" if close else ""
        value, check = None, Check(correct=False, message=f"Not answered.{hint}")
    elif counts == "best" and right:
        value, check = right[-1]
    else:
        value, check = (readable or checks)[0] if counts == "first" else checks[-1]
    return Grade(question.key, check.correct, value, len(attempts), check.message, check.factor)
