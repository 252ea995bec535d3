"""Which of several answers counts, and the points for it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest

import roofwidget as rw
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.question import Question
from tests.places import write

Rule = Literal["last", "first", "best", "decay", "mastery"]
# What the page writes when the learner asks for the answer.
SHOWN: list[Any] = []
NUMBER = Question(key="q", prompt="How many?", answer=100.0)


def choice(count: int) -> Question:
    return Question(
        key="q", prompt="?", answer="right", options={"right": "", **{f"w{at}": "no" for at in range(1, count)}}
    )


def graded(question: Question, answers: list[Any], counts: Rule) -> tuple[float, bool, int]:
    model = rw.RooflineModel([], [])
    rw.Story(model, [question])
    model.answers = {"q": answers}
    one = rw.grade(model, counts=counts)["q"]
    return one.points, one.correct, one.attempts


@pytest.mark.parametrize(
    ("answers", "points"),
    [
        ([100], 1),
        ([1, 100], Fraction(2, 3)),
        ([1, 2, 100], Fraction(1, 3)),
        ([1, 2, 3, 100], 0),
        ([1, 2], 0),
        # A right answer is not lost by a later wrong one.
        ([1, 100, 5], Fraction(2, 3)),
        ([100, 5, 101], 1),
        # What cannot be read is no attempt, nor is the same answer once more.
        (["many", 100], 1),
        ([1, 1, 1, 100], Fraction(2, 3)),
        (["many", 1, "few", 1, 100], Fraction(2, 3)),
        (["many"], 0),
        # The same number has several spellings.
        ([1, "1.0", "1e0", "1e2"], Fraction(2, 3)),
        ([SHOWN, 100], 0),
        ([1, SHOWN, 100], 0),
        ([1, SHOWN, 2], 0),
        ([], 0),
    ],
)
def test_a_number_loses_a_third_of_its_points_with_each_attempt(answers: list[Any], points: Fraction) -> None:
    got, is_right, attempts = graded(NUMBER, answers, "decay")
    assert got == pytest.approx(float(points))
    # Answers that can be read, and that differ.
    numbers = {float(one) for one in answers if one not in (SHOWN, "many", "few")}
    assert attempts == len(numbers)
    assert is_right == (100 in numbers and SHOWN not in answers)


@pytest.mark.parametrize(("options", "expected"), [(2, [1, 0]), (3, [1, 0, 0]), (4, [1, Fraction(1, 3), 0, 0])])
def test_a_second_guess_among_three_options_has_no_points(options: int, expected: list[Fraction]) -> None:
    for before, points in enumerate(expected):
        answers = [*(f"w{at}" for at in range(1, before + 1)), "right"]
        assert graded(choice(options), answers, "decay")[0] == pytest.approx(float(points))


def test_blind_guessing_of_three_options_earns_a_third_and_not_two_thirds() -> None:
    orders = [["right", "w1", "w2"], ["w1", "right", "w2"], ["w1", "w2", "right"]]
    got = [graded(choice(3), order[: order.index("right") + 1], "decay")[0] for order in orders]
    assert sum(got) / 3 == pytest.approx(1 / 3)


def test_a_merge_loses_a_third_with_each_attempt(tmp_path: Path) -> None:
    merge = replace({one.key: one for one in question_bank()}["chain-merge"], key="q")
    assert merge.graph is not None
    unmerged = [[op.name] for op in merge.graph.ops]
    model = rw.RooflineModel([], [])
    model.answers = {"q": [unmerged, merge.attempt]}
    file = json.loads(model.export_answers()) | {"questions": [merge.to_record()]}
    assert rw.grade(write(tmp_path / "a.json", file), counts="decay").points == pytest.approx(2 / 3)


@pytest.mark.parametrize(("counts", "points"), [("first", 0), ("decay", 0), ("last", 0), ("mastery", 0), ("best", 1)])
def test_an_answer_after_the_answer_was_shown_counts_only_for_best(counts: Rule, points: float) -> None:
    for answers in ([SHOWN, 100], [1, SHOWN, 100]):
        assert graded(NUMBER, answers, counts)[:2] == (points, bool(points))


def test_a_learner_is_told_why_a_right_answer_has_no_points() -> None:
    model = rw.RooflineModel([], [])
    rw.Story(model, [NUMBER])
    model.answers = {"q": [1, SHOWN, 100]}
    assert rw.grade(model, counts="decay")["q"].message == "Given after the answer was shown."
    model.answers = {"q": [SHOWN]}
    assert rw.grade(model, counts="decay")["q"].message == "Not answered."


def test_points_that_are_no_whole_number_are_said_as_points() -> None:
    model = rw.RooflineModel([], [])
    rw.Story(model, [NUMBER, Question(key="r", prompt="?", answer=1)])
    model.answers = {"q": [1, 100], "r": [1]}
    grades = rw.grade(model, counts="decay")
    assert [grades.points, grades.score] == pytest.approx([5 / 3, 5 / 6])
    assert repr(grades).splitlines()[0] == "1.67 points in 2 questions"
    assert repr(rw.grade(model, counts="last")).splitlines()[0] == "2 of 2 questions right"


VARIANTS = [
    [Question(key="q", prompt=f"{size}?", answer=10 * size), Question(key="r", prompt=f"{size}.", answer=size)]
    for size in (1, 2, 3)
]


def test_mastery_is_the_best_of_the_variants_each_by_its_first_answer(tmp_path: Path) -> None:
    assert rw.grade([{"q": 1, "r": 5}, {"q": 20, "r": 5}], VARIANTS[:2], counts="mastery").points == 1
    found = rw.grade([{"q": 1}, {"q": 2}, {"q": 30, "r": 3}], VARIANTS, counts="mastery")
    assert [(one.key, one.points, one.attempts, one.answer) for one in found] == [("q", 1, 3, 30), ("r", 1, 1, 3)]
    # A variant that was not tried says nothing.
    (tried, _) = rw.grade([{}, {"q": 5}], VARIANTS[:2], counts="mastery")
    assert (tried.answer, tried.attempts, tried.message) == (5, 1, "Not yet: too small.")
    files = []
    for name, questions, answers in (("a", VARIANTS[0], [1, 10]), ("b", VARIANTS[1], [5, 20])):
        model = rw.RooflineModel([], [])
        rw.Story(model, questions)
        model.answers = {"q": answers}
        files.append(write(tmp_path / f"{name}.json", model.export_answers()))
    # Each variant was right at the second attempt only.
    assert rw.grade(files, counts="mastery").points == 0
    assert rw.grade(files[0], counts="mastery").points == 0


def test_more_than_three_variants_or_too_few_lists_of_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="give 1 to 3 variants, not 4"):
        rw.grade([{}] * 4, [VARIANTS[0]] * 4, counts="mastery")
    with pytest.raises(ValueError, match="give 1 to 3 variants, not 0"):
        rw.grade([], [], counts="mastery")
    with pytest.raises(ValueError, match="answers to 2 variants and questions of 3"):
        rw.grade([{}, {}], VARIANTS, counts="mastery")


def test_an_answer_in_another_language_is_graded_by_the_id_of_its_option(tmp_path: Path) -> None:
    english = Question(key="q", prompt="What limits it?", answer="memory", options={"peak": "No.", "memory": ""})
    german = Question(key="q", prompt="Was begrenzt?", answer="Speicher", options={"Spitze": "Nein.", "Speicher": ""})
    model = rw.RooflineModel(["v5p"])
    rw.Story(model, [german])
    for option, points in (("Speicher", 1), ("Spitze", 0)):
        model.answers = {"q": [option]}
        file = write(tmp_path / "answers.json", model.export_answers())
        grade = rw.grade(file, [english])["q"]
        assert (grade.points, grade.attempts) == (points, 1)
        assert "none of the options" not in grade.message
