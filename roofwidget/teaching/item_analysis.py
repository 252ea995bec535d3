"""`item_analysis`: how well the questions of a class measured, and which wrong answers were frequent.

Difficulty, discrimination and reliability are those of classical test theory. No name of a learner is in a result.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from roofwidget.export.table import csv_cell
from roofwidget.support.did_you_mean import listed
from roofwidget.support.text_tables import aligned, counted, html_table, html_with_notes, one_line
from roofwidget.teaching.grading import Answers, Tried, check_rule, grades_of, read_answers, tried
from roofwidget.teaching.item_page import MIN_STUDENTS, item_page
from roofwidget.teaching.question import Question, by_key

_GROUP: Final = 0.27
_THIRD: Final = 1 / 3
_HARD, _EASY = 0.2, 0.95
_SEPARATES: Final = 0.1
_BELIEVED: Final = 0.03
_UNREADABLE: Final = 0.05
_UNFAIR: Final = 0.01
_MIN_OF_VARIANT: Final = 5
_NEAR, _FAR = 2.0, 10.0
_ROUNDING: Final = 1e-12
_SHOWN_LETTERS: Final = 60
_HEADER: Final = (
    "question",
    "asked",
    "p first",
    "p",
    "r",
    "D",
    "attempts",
    "shown",
    "most frequent wrong answer",
    "flags",
)
_FIELDS: Final = (
    *("question", "asked", "answered", "p_first", "p_final", "p", "r", "D", "attempts_median", "shown_share"),
    *("wrong_answer", "wrong_share", "wrong_text", "unreadable_share", "log2_ratio_quartiles", "flags"),
)


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer that students gave first.

    Attributes
    ----------
    answer
        The text of an option, or what kind of number it is.
    text
        What a learner who gives it is told, which often names a misconception; "" if nothing particular.
    share
        The share of the students who were asked.
    top, bottom
        The same among the third with most points, and among the third with fewest.
    """

    answer: str
    text: str
    share: float
    top: float
    bottom: float


@dataclass(frozen=True)
class ItemStatistics:
    """How a class answered a question.

    Attributes
    ----------
    key
        The key of the question.
    asked, answered
        How many students had it, and how many gave an answer.
    difficulty
        The mean of the points, p: 1 is a question that all students answer. No answer counts 0.
    p_first, p_final
        The share of right first answers, and of right answers at last before the answer was shown.
    discrimination
        The correlation r of the points with those for all other questions; NaN if all have the same. Its standard
        error is about 1/√n for n students.
    upper_lower
        The mean of the points among the 27 % best students, less that among the 27 % worst: D.
    attempts
        The median of the attempts of those who answered.
    shown
        The share of students who were shown the right answer.
    wrong
        The wrong first answers, the most frequent first.
    unreadable
        The inputs that could not be read.
    unreadable_share
        The share of students with such an input.
    log2_ratios
        Quartiles of log2(given / right) of the first numbers; NaN where there are none.
    flags
        What to look at; none for fewer than 30 students.
    prompt
        What is asked, with the numbers of the first student.
    """

    key: str
    asked: int
    answered: int
    difficulty: float
    p_first: float
    p_final: float
    discrimination: float
    upper_lower: float
    attempts: float
    shown: float
    wrong: tuple[WrongAnswer, ...]
    unreadable: tuple[str, ...]
    unreadable_share: float
    log2_ratios: tuple[float, float, float]
    flags: tuple[str, ...]
    prompt: str


@dataclass(frozen=True)
class ItemAnalysis:
    """How well the questions of a class measured.

    Attributes
    ----------
    items
        The questions, in their order.
    students
        How many students took part.
    reliability
        KR-20, or Cronbach's alpha if a question has other points than 0 and 1; NaN for one question, or if all students
        have the same points.
    reliability_name
        "KR-20" or "Cronbach's alpha".
    """

    __module__ = "roofwidget"

    items: tuple[ItemStatistics, ...]
    students: int
    reliability: float
    reliability_name: str

    def __getitem__(self, key: str) -> ItemStatistics:
        for one in self.items:
            if one.key == key:
                return one
        raise KeyError(f"there is no question '{key}'; there are {listed(one.key for one in self.items)}")

    def __repr__(self) -> str:
        return "\n".join([self._caption(), *aligned([list(_HEADER), *self._rows()], right=range(1, 8))])

    def _repr_html_(self) -> str:
        return html_with_notes(html_table(self._caption(), _HEADER, self._rows()), self._notes())

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as CSV, with all digits, and return its path.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(_FIELDS)
        writer.writerows([csv_cell(cell) for cell in _cells(one)] for one in self.items)
        target = Path(path)
        target.write_text(text.getvalue(), encoding="utf-8", newline="")
        return target

    def to_html(self, path: str | os.PathLike[str], *, title: str = "Item analysis") -> Path:
        """Write a page with a chart, the table and all wrong answers, and return its path. It has no names of students.

        The page needs no script and no network, follows light and dark, and can be printed.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        target = Path(path)
        target.write_text(item_page(self, title), encoding="utf-8", newline="\n")
        return target

    def _caption(self) -> str:
        reliability = _rounded(self.reliability) or "unknown"
        return f"{counted(self.students, 'student')}, {self.reliability_name} {reliability}"

    def _rows(self) -> list[list[str]]:
        return [
            [
                one.key,
                str(one.asked),
                *map(_rounded, (one.p_first, one.difficulty, one.discrimination, one.upper_lower)),
                f"{one.attempts:g}" if math.isfinite(one.attempts) else "",
                f"{one.shown:.0%}",
                one_line(f"{one.wrong[0].share:.0%} {one.wrong[0].text or one.wrong[0].answer}", _SHOWN_LETTERS)
                if one.wrong
                else "",
                ", ".join(one.flags),
            ]
            for one in self.items
        ]

    def _notes(self) -> list[str]:
        """Return the wrong answers of each question in full."""
        return [
            f"{one.key}: {wrong.share:.0%} of all, {wrong.top:.0%} of the top third, {wrong.bottom:.0%} of the bottom "
            f"third: {wrong.answer}{f' ({wrong.text})' if wrong.text else ''}"
            for one in self.items
            for wrong in one.wrong
        ]


def item_analysis(
    answers: Iterable[Answers],
    questions: Sequence[Question] | Sequence[Sequence[Question]],
    *,
    counts: str = "decay",
) -> ItemAnalysis:
    """Return how well questions measured, from the answers of a class.

    Parameters
    ----------
    answers
        What `grade` takes, for each student.
    questions
        The questions of all students; or a list with the questions of each student, with the same keys.
    counts
        The rule of `grade` that gives the points: "first", "decay", "best" or "last".

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If there are no answers, if a student has other keys or no questions, or `counts` has another value.

    Examples
    --------
    >>> from roofwidget.teaching.question import Question
    >>> ridge = Question(key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B")
    >>> found = item_analysis([{"ridge": 166}, {"ridge": 1663}], [ridge])
    >>> found["ridge"].difficulty, found["ridge"].wrong[0].answer
    (0.5, 'too large, 2 to 10 times')
    """
    sheets = [read_answers(one, is_asked=False)[0] for one in answers]
    given: list[Any] = list(questions)
    asked = [given] * len(sheets) if not given or isinstance(given[0], Question) else given
    if len(asked) != len(sheets):
        raise ValueError(f"there are answers of {len(sheets)} students and questions of {len(asked)}")
    return analysis_of(list(zip(sheets, asked, strict=True)), counts)


def analysis_of(sheets: Sequence[tuple[Mapping[str, Sequence[Any]], Iterable[Question]]], counts: str) -> ItemAnalysis:
    """Return the analysis of sheets: all answers of a student by key, and the student's questions."""
    check_rule(counts)
    if not sheets:
        raise ValueError("there are no answers to analyse")
    given = [one for one, _ in sheets]
    asked = [by_key([one for one in questions if one.graded]) for _, questions in sheets]
    keys = list(asked[0])
    for place, questions in enumerate(asked, start=1):
        if set(questions) != set(keys):
            raise ValueError(f"the questions of student {place} have other keys than those of student 1")
    graded = [grades_of(one, questions, counts) for one, questions in zip(given, asked, strict=True)]
    points = np.array([[grades[key].points for key in keys] for grades in graded]).reshape(len(sheets), len(keys))
    totals = points.sum(axis=1)
    items = (
        _statistics(
            [questions[key] for questions in asked], [one.get(key, []) for one in given], points[:, column], totals
        )
        for column, key in enumerate(keys)
    )
    name = "KR-20" if bool(np.isin(points, (0, 1)).all()) else "Cronbach's alpha"
    return ItemAnalysis(tuple(items), len(sheets), _alpha(points, totals), name)


def _alpha(points: NDArray[np.float64], totals: NDArray[np.float64]) -> float:
    """Return Cronbach's alpha, which is KR-20 for points of 0 and 1."""
    count, variance = points.shape[1], float(totals.var())
    if count < 2 or variance == 0:  # noqa: PLR2004 - consistency needs two questions
        return math.nan
    return float(count / (count - 1) * (1 - points.var(axis=0).sum() / variance))


def _statistics(
    questions: Sequence[Question],
    given: Sequence[Sequence[Any]],
    points: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> ItemStatistics:
    """Return the statistics of a question: how it was asked of each student, with all answers."""
    tries = [tried(question, one) for question, one in zip(questions, given, strict=True)]
    first = [next((one for one in some if one.attempt), None) for some in tries]
    is_right_first = np.array([one is not None and one.check.correct and not one.is_after_shown for one in first])
    is_right = np.array([any(one.check.correct and not one.is_after_shown for one in some) for some in tries])
    answered = [some for some in tries if some]
    unreadable = [[str(one.value) for one in some if one.check.said == "invalid"] for some in tries]
    labels = [
        None if one is None or one.check.correct else _label(question, one)
        for question, one in zip(questions, first, strict=True)
    ]
    wrong = tuple(_wrong(labels, totals))
    ratios = [one.check.factor for one in first if one is not None and questions[0].kind in ("number", "drag")]
    logs = [math.log2(ratio) for ratio in ratios if ratio > 0]
    found = ItemStatistics(
        key=questions[0].key,
        asked=len(questions),
        answered=len(answered),
        difficulty=float(points.mean()),
        p_first=float(is_right_first.mean()),
        p_final=float(is_right.mean()),
        discrimination=_correlation(points, totals - points),
        upper_lower=_mean_at_top(points, totals, _GROUP) - _mean_at_top(points, -totals, _GROUP),
        attempts=float(np.median([max(one.attempt for one in some) for some in answered])) if answered else math.nan,
        shown=float(np.mean([[] in list(one) for one in given])),
        wrong=wrong,
        unreadable=tuple(text for some in unreadable for text in some),
        unreadable_share=float(np.mean([bool(some) for some in unreadable])),
        log2_ratios=_quartiles(logs),
        flags=(),
        prompt=questions[0].prompt,
    )
    if len(questions) < MIN_STUDENTS:
        return found
    return replace(found, flags=tuple(_flags(found, questions, is_right_first, totals)))


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Pearson's correlation; NaN if one of them does not vary."""
    spread = float(one.std() * other.std())
    return float(((one - one.mean()) * (other - other.mean())).mean()) / spread if spread > _ROUNDING else math.nan


def _mean_at_top(values: NDArray[np.float64], totals: NDArray[np.float64], share: float) -> float:
    """Return the mean of values among the students with the largest totals.

    Students with equal totals count alike: where only some of them have a place, all have a part of a place.
    """
    places = max(1.0, share * len(totals))
    left, found = places, 0.0
    for total in np.unique(totals)[::-1]:
        equal = values[totals == total]
        taken = min(left, float(len(equal)))
        found += taken * float(equal.mean())
        left -= taken
        if left <= 0:
            break
    return found / places


def _label(question: Question, answer: Tried) -> tuple[str, str, str]:
    """Return what is the same about a wrong answer for all students: a name, a text for people, and what was said."""
    said, message = answer.check.said, answer.check.message.removeprefix("Not yet").lstrip(".: ")
    if question.kind == "choice":
        options = dict(zip(question.option_ids, question.options, strict=True))
        return said, options[said], question.options[options[said]]
    if question.kind == "merge":
        return message, message, ""
    if said == "listed":
        # The message may also say how the number was read, which differs between students.
        text = max(
            (one for one in question.wrong_answers.values() if message.startswith(one)), key=len, default=message
        )
        return text, "a listed wrong answer", text
    band = _band(answer.check.factor)
    return band, band, ""


def _band(factor: float) -> str:
    """Return how far off a number is."""
    if not factor > 0:
        return "not above zero"
    distance = max(factor, 1 / factor)
    way = "too large" if factor > 1 else "too small"
    if distance <= _NEAR:
        return f"{way}, within a factor of {_NEAR:g}"
    return f"{way}, {_NEAR:g} to {_FAR:g} times" if distance <= _FAR else f"{way}, more than {_FAR:g} times"


def _wrong(labels: Sequence[tuple[str, str, str] | None], totals: NDArray[np.float64]) -> Iterator[WrongAnswer]:
    """Yield the wrong answers, the most frequent first."""
    names = np.array(["" if label is None else label[0] for label in labels])
    texts = {label[0]: label[1:] for label in reversed(labels) if label is not None}
    for name, _ in Counter(label[0] for label in labels if label is not None).most_common():
        is_given = (names == name).astype(float)
        top, bottom = _mean_at_top(is_given, totals, _THIRD), _mean_at_top(is_given, -totals, _THIRD)
        yield WrongAnswer(*texts[name], float(is_given.mean()), top, bottom)


def _flags(
    found: ItemStatistics, questions: Sequence[Question], is_right: NDArray[np.bool_], totals: NDArray[np.float64]
) -> Iterator[str]:
    if found.p_first < _HARD:
        yield "hard or unclear"
    if found.p_first > _EASY:
        yield "all know it"
    right_at_top = _mean_at_top(is_right.astype(float), totals, _THIRD)
    if found.discrimination < 0 or any(one.top > right_at_top for one in found.wrong):
        yield "check the key"
    elif found.discrimination < _SEPARATES:
        yield "does not separate"
    if questions[0].kind == "choice":
        given = {one.answer: one.share for one in found.wrong}
        if any(given.get(option, 0.0) < _BELIEVED for option in questions[0].options if option != questions[0].answer):
            yield "nobody believes an option"
    if found.unreadable_share > _UNREADABLE:
        yield "input"
    if _chance_of_variants([question.prompt for question in questions], is_right) < _UNFAIR:
        yield "unfair numbers"


def _chance_of_variants(prompts: Sequence[str], is_right: NDArray[np.bool_]) -> float:
    """Return how likely it is that variants of equal difficulty differ so much: the chi-square test of homogeneity.

    Variants that few students had are left out. Without two variants the result is 1.
    """
    texts = np.array(prompts)
    often = [text for text, times in Counter(prompts).items() if times >= _MIN_OF_VARIANT]
    right = np.array([float(is_right[texts == text].sum()) for text in often])
    counts = np.array([float((texts == text).sum()) for text in often])
    if len(often) < 2 or right.sum() in (0, counts.sum()):  # noqa: PLR2004 - nothing to compare
        return 1.0
    share = right.sum() / counts.sum()
    distance = float((((right - counts * share) ** 2) / (counts * share * (1 - share))).sum())
    return chi_square_tail(distance, len(often) - 1)


def chi_square_tail(value: float, freedom: int) -> float:
    """Return the probability that a chi-square variable is above a value, for a whole number of degrees of freedom.

    Abramowitz and Stegun, 26.4.4 and 26.4.5.

    Examples
    --------
    >>> [round(chi_square_tail(*pair), 3) for pair in ((3.841, 1), (9.488, 4), (11.345, 3))]
    [0.05, 0.05, 0.01]
    """
    half = value / 2
    tail = math.exp(-half) if freedom % 2 == 0 else math.erfc(math.sqrt(half))
    for step in range(1, (freedom + 1) // 2):
        power = step if freedom % 2 == 0 else step - 0.5
        tail += math.exp(power * math.log(half) - half - math.lgamma(power + 1)) if half > 0 else 0.0
    return tail


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if not values:
        return math.nan, math.nan, math.nan
    low, middle, high = (float(one) for one in np.percentile(values, (25, 50, 75)))
    return low, middle, high


def _rounded(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else ""


def _cells(one: ItemStatistics) -> list[Any]:
    most = one.wrong[0] if one.wrong else WrongAnswer("", "", math.nan, math.nan, math.nan)
    return [
        *(one.key, one.asked, one.answered, one.p_first, one.p_final, one.difficulty, one.discrimination),
        *(one.upper_lower, one.attempts, one.shown, most.answer, most.share, most.text, one.unreadable_share),
        " ".join(f"{ratio:.3g}" for ratio in one.log2_ratios if math.isfinite(ratio)),
        "; ".join(one.flags),
    ]
