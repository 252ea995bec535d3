"""`grade`: which answers are right. It needs no front end, so it also runs where notebooks are graded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from roofwidget.export.answers import FORMAT, VERSION
from roofwidget.model import RooflineModel
from roofwidget.state.lesson import attempts_by_key, was_shown
from roofwidget.support import strict_json, text_tables
from roofwidget.support.did_you_mean import did_you_mean, listed, nearest
from roofwidget.support.unknowns import EqualWhereUnknown
from roofwidget.teaching.question import Check, Question, by_key
from roofwidget.units import format_significant

COUNTS_OF_ONE: Final = ("decay", "first", "last", "best")
"""The rules that say which of several answers to a question counts."""
COUNTS: Final = (*COUNTS_OF_ONE, "mastery")
"""The rules, with the one that needs several variants."""
MAX_VARIANTS: Final = 3
"""The most variants of which the best counts. With more, patience would earn the points."""
# The points for a right answer by attempt. A second guess among three options would be right too often.
_DECAY: Final = (1, 2 / 3, 1 / 3)
_DECAY_OF_CHOICE: Final = (1, 1 / 3)
_DECAY_OF_FEW_OPTIONS: Final = (1,)
_FEW_OPTIONS: Final = 3
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
        How many attempts were made. An answer that cannot be read, or that is the same once more, is none.
    message
        What the learner is told about the answer. If there is none, the message names an answer whose key is similar
        and belongs to no question.
    factor
        The factor of `Question.check`: for a number, the answer divided by the right answer. NaN without one.
    points
        The points for it, from 0 to 1.
    """

    __module__ = "roofwidget"

    key: str
    correct: bool
    answer: Any
    attempts: int
    message: str
    factor: float = math.nan
    points: float = 0


@dataclass(frozen=True)
class Grades:
    """The grades of several questions, in their order."""

    __module__ = "roofwidget"

    grades: tuple[Grade, ...]

    @property
    def points(self) -> float:
        """The sum of the points: how many answers are right, or less for right answers at later attempts."""
        return sum(one.points for one in self.grades)

    @property
    def score(self) -> float:
        """The share of the points; NaN without questions."""
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
        return [[one.key, _mark(one), str(one.attempts), one.message] for one in self.grades]

    def _head(self) -> str:
        points, count = self.points, text_tables.counted(len(self), "question")
        is_whole = all(one.points in (0, 1) for one in self.grades)
        return f"{points} of {count} right" if is_whole else f"{format_significant(points)} points in {count}"

    def __repr__(self) -> str:
        return "\n".join([self._head(), *text_tables.aligned([list(_HEADER), *self._rows()], right=[2])])

    def _repr_html_(self) -> str:
        return text_tables.html_table(self._head(), _HEADER, self._rows())


def _mark(grade: Grade) -> str:
    if not grade.correct:
        return "–"
    return "right" if grade.points == 1 else f"right, {format_significant(grade.points, 2)} points"


@dataclass(frozen=True)
class Tried:
    """An answer to a question, and the verdict on it.

    Attributes
    ----------
    value
        The answer.
    check
        The verdict.
    attempt
        Which attempt it is, from 1. An answer that cannot be read, or that is the same once more, is no attempt: 0.
    is_after_shown
        Whether the learner had been shown the right answer.
    """

    value: Any
    check: Check
    attempt: int
    is_after_shown: bool


def tried(question: Question, given: Iterable[Any]) -> list[Tried]:
    """Return the answers to a question with their verdicts. An empty list among them says: now the answer was shown."""
    found: list[Tried] = []
    attempts: list[Any] = []
    is_shown = False
    for value in given:
        if was_shown(value):
            is_shown = True
            continue
        check = question.check(value, len(attempts) + 1)
        one = _told_apart(question, value, check)
        is_attempt = check.said != "invalid" and one not in attempts
        if is_attempt:
            attempts.append(one)
        found.append(Tried(value, check, len(attempts) if is_attempt else 0, is_shown))
    return found


def _told_apart(question: Question, value: Any, check: Check) -> Any:
    """Return what is equal for equal answers: an option has a text and an id, and a number has several spellings."""
    if question.kind == "choice":
        return check.said
    return value if question.kind == "merge" else question.number(value)


Answers: TypeAlias = "RooflineModel | Mapping[str, Any] | str | os.PathLike[str]"
Questions: TypeAlias = "RooflineModel | Iterable[Question | Mapping[str, Any]]"


def grade(
    answers: Answers | Sequence[Answers],
    questions: Questions | Sequence[Questions] | None = None,
    *,
    counts: Literal["decay", "first", "last", "best", "mastery"] = "decay",
) -> Grades:
    """Return which answers are right, and the points for them.

    Parameters
    ----------
    answers
        A mapping from the keys of questions to answers; or a widget with a story; or the path of a file of answers. A
        page and `RooflineModel.export_answers` write such files. For "mastery" also a list of up to three of them, one
        for each variant that the learner tried, in their order.
    questions
        The questions or their records, in the order of the result; or a widget whose story asks them. By default those
        of the widget's story or of the file. A learner can edit a file: for marks that count, give the questions. For a
        list of answers give a list with the questions of each variant.
    counts
        Which of several answers to a question counts. "decay", the default: the first right one, with 1, 2/3, 1/3 and 0
        points at the first, second, third and a later attempt; for a choice of up to three options with 1 and 0, of
        more options with 1, 1/3 and 0. "first": the first one. "last": the last one. "best": a right one if there is
        one. "mastery": the best of the variants, each by its first answer. What is no number, no option or no partition
        is no attempt, nor is the same answer once more. An answer that was given after the right one was shown has no
        points, except with "best".

    Raises
    ------
    OSError
        If the file cannot be read.
    TypeError
        If the answers are a mapping and no questions are given, or if a question is of another type.
    ValueError
        If the file has no answers or is damaged, two questions have the same key, `counts` has another value, or there
        are more than three variants, or not as many lists of questions as variants.

    Examples
    --------
    >>> from roofwidget.teaching.question import Question
    >>> ridge = Question(key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B")
    >>> grades = grade({"ridge": "160 FLOP/B"}, [ridge])
    >>> grades.points, grades["ridge"].message
    (1, 'Right.')
    """
    check_rule(counts, COUNTS)
    if counts == "mastery":
        return _mastery(answers, questions)
    return _grades(answers, questions, counts)


def check_rule(counts: str, rules: Sequence[str] = COUNTS_OF_ONE) -> None:
    """Raise `ValueError` if there is no such rule."""
    if counts not in rules:
        raise ValueError(f"counts is one of {listed(rules)}, not {counts!r}{did_you_mean(str(counts), rules)}")


def _mastery(answers: Any, questions: Any) -> Grades:
    """Return the best grade of each question over the variants, each by its first answer."""
    if not isinstance(answers, list | tuple):
        return _grades(answers, questions, "first")
    asked = [None] * len(answers) if questions is None else list(questions)
    if not 1 <= len(answers) <= MAX_VARIANTS:
        raise ValueError(f"grade: for 'mastery' give 1 to {MAX_VARIANTS} variants, not {len(answers)}")
    if len(asked) != len(answers):
        raise ValueError(
            f"grade: there are answers to {len(answers)} variants and questions of {len(asked)}; give a list of lists "
            "of questions, one for each variant"
        )
    variants = [_grades(*variant, "first") for variant in zip(answers, asked, strict=True)]
    found: dict[str, list[Grade]] = {}
    for one in (one for grades in variants for one in grades):
        found.setdefault(one.key, []).append(one)
    return Grades(tuple(_best(grades) for grades in found.values()))


def _best(grades: Sequence[Grade]) -> Grade:
    """Return the best grade of a question's variants, with the answers to all of them counted."""
    answered = [one for one in grades if one.answer is not None] or grades
    best = max(answered, key=lambda one: one.points)
    return replace(best, attempts=sum(one.attempts for one in grades))


class Asked(NamedTuple):
    """A question as a learner had it: in another language its texts differ, but not the ids of its options."""

    prompt: str
    id_of_option: Mapping[str, str]


def _grades(answers: Any, questions: Any, counts: str) -> Grades:
    given, own, asked = read_answers(answers, is_asked=questions is None)
    if questions is None and own is None:
        raise TypeError("grade: give the questions that the answers belong to, as in rw.grade(answers, questions)")
    known = by_key(list(own or []) if questions is None else _questions(questions))
    strays = [key for key, some in given.items() if some and key not in known and key not in asked]
    # With other questions than those that were asked, a right answer may count as wrong.
    other = {key for key, question in known.items() if key in asked and asked[key].prompt != question.prompt}
    given |= {key: _as_ids(given[key], known[key], one) for key, one in asked.items() if key in given and key in known}
    graded = grades_of(given, known, counts, strays)
    return Grades(tuple(_with_hint(one) if one.key in other else one for one in graded))


def _as_ids(given: Iterable[Any], question: Question, asked: Asked) -> list[Any]:
    """Return answers with ids in the place of options that the question has in another language."""
    known = {*question.options, *question.option_ids}
    ids = asked.id_of_option
    return [ids.get(one, one) if isinstance(one, str) and one not in known else one for one in given]


def grades_of(
    given: Mapping[str, Sequence[Any]], questions: Mapping[str, Question], counts: str, strays: Sequence[str] = ()
) -> Grades:
    """Return the grades of all answers by key. `strays` are keys of answers that no question has."""
    asked = {key: question for key, question in questions.items() if question.graded}
    return Grades(tuple(_grade(question, given.get(key, []), counts, strays) for key, question in asked.items()))


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
    if grade.correct or grade.answer is None:
        return grade
    hint = (
        "The answers come with another prompt of this question: was it made with another seed or another version of "
        "roofwidget? Without 'questions', they are graded by their own."
    )
    return replace(grade, message=f"{grade.message} {hint}")


def read_answers(
    answers: Any, *, is_asked: bool
) -> tuple[dict[str, list[Any]], list[Question] | None, dict[str, Asked]]:
    """Return all answers by key, the questions that come with them if they are asked for, and how they were asked."""
    if isinstance(answers, RooflineModel):
        own = _questions(answers)
        return (
            {key: list(given) for key, given in answers.answers.items()},
            own,
            {one.key: Asked(one.prompt, {}) for one in own},
        )
    if isinstance(answers, Mapping):
        return {str(key): [] if value is None else [value] for key, value in answers.items()}, None, {}
    return _from_file(Path(answers), is_asked=is_asked)


def _from_file(path: Path, *, is_asked: bool) -> tuple[dict[str, list[Any]], list[Question], dict[str, Asked]]:
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
        asked = {str(record["key"]): _asked(record) for record in document["questions"]}
        answers = attempts_by_key(document["answers"])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None
    return {key: list(given) for key, given in answers.items()}, questions, asked


def _asked(record: Mapping[str, Any]) -> Asked:
    options, names = record.get("options") or [], record.get("option_ids") or []
    ids = {str(option): str(name) for (option, _), name in zip(options, names, strict=True)} if names else {}
    return Asked(str(record.get("prompt", "")), ids)


def _grade(question: Question, given: Iterable[Any], counts: str, strays: Sequence[str]) -> Grade:
    """Return the grade of a question. `strays` are keys of answers that no question has."""
    answers = tried(question, given)
    if not answers:
        close = nearest(question.key, strays, most=1)
        hint = f" There is an answer to '{close[0]}', which no question has: is it meant for this one?" if close else ""
        return Grade(question.key, correct=False, answer=None, attempts=0, message=f"Not answered.{hint}")
    counting = _counting(answers, counts)
    check, message = counting.check, counting.check.message
    is_right = check.correct and (counts == "best" or not counting.is_after_shown)
    if check.correct and not is_right:
        message = "Given after the answer was shown."
    points = 0 if not is_right else _decayed(question, counting.attempt) if counts == "decay" else 1
    attempts = max(one.attempt for one in answers)
    return Grade(question.key, is_right, counting.value, attempts, message, check.factor, points)


def _counting(answers: Sequence[Tried], counts: str) -> Tried:
    """Return the answer that counts."""
    right = [one for one in answers if one.check.correct]
    if counts == "first":
        return next((one for one in answers if one.attempt), answers[0])
    if counts == "best" and right:
        return right[-1]
    if counts == "decay" and right:
        return right[0]
    return answers[-1]


def _decayed(question: Question, attempt: int) -> float:
    """Return the points for a right answer at an attempt."""
    if question.kind != "choice":
        points: Sequence[float] = _DECAY
    else:
        points = _DECAY_OF_FEW_OPTIONS if len(question.options) <= _FEW_OPTIONS else _DECAY_OF_CHOICE
    return points[attempt - 1] if attempt <= len(points) else 0
