"""Item analysis: figures of classical test theory, frequent wrong answers, and a class with planted behaviours."""

from __future__ import annotations

import csv
import math
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.support.text_tables import escaped
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.grading import grades_of
from roofwidget.teaching.item_analysis import analysis_of, chi_square_tail
from roofwidget.teaching.misconceptions import misconceptions
from roofwidget.teaching.question import Question, by_key
from tests.places import text_of, write

SHOWN: list[Any] = []


def yes_or_no(key: str) -> Question:
    return Question(key=key, prompt=f"{key}?", answer="yes", options={"yes": "", "no": "It is so.", "maybe": "Surely."})


ITEMS = [yes_or_no(key) for key in ("one", "two", "three")]


def rows(*patterns: str) -> list[dict[str, Any]]:
    return [
        {item.key: "yes" if mark == "1" else "no" for item, mark in zip(ITEMS, pattern, strict=True)}
        for pattern in patterns
    ]


def test_difficulty_discrimination_and_kr_20_of_a_small_table() -> None:
    found = rw.item_analysis(rows("111", "110", "101", "100", "010", "000"), ITEMS)
    assert [one.difficulty for one in found.items] == pytest.approx([2 / 3, 1 / 2, 1 / 3])
    # By hand: the rest scores of the first item are 2, 1, 1, 0, 1, 0.
    assert [one.discrimination for one in found.items] == pytest.approx([0.343, 0.0, 0.343], abs=5e-4)
    # 3/2 · (1 - (2/9 + 1/4 + 2/9) / (11/12)), with the variance of the totals 3, 2, 2, 1, 1, 0.
    assert found.reliability == pytest.approx(1.5 * (1 - (2 / 9 + 1 / 4 + 2 / 9) / (11 / 12)))
    assert found.reliability == pytest.approx(0.364, abs=5e-4)
    assert (found.reliability_name, found.students) == ("KR-20", 6)
    assert found["two"].asked == found["two"].answered == 6
    assert all(one.flags == () for one in found.items)


def test_partial_points_give_cronbachs_alpha() -> None:
    number = [Question(key=key, prompt=key, answer=100.0) for key in ("a", "b")]
    sheets: list[tuple[Mapping[str, Sequence[Any]], list[Question]]] = [
        ({"a": [1, 100], "b": [1, 2, 100]}, number),
        ({"a": [100], "b": [100]}, number),
        ({}, number),
    ]
    found = analysis_of(sheets, "decay")
    a, b = [2 / 3, 1, 0], [1 / 3, 1, 0]

    def variance(values: Sequence[float]) -> float:
        mean = sum(values) / len(values)
        return sum((value - mean) ** 2 for value in values) / len(values)

    totals = [one + other for one, other in zip(a, b, strict=True)]
    assert found.reliability_name == "Cronbach's alpha"
    assert found.reliability == pytest.approx(2 * (1 - (variance(a) + variance(b)) / variance(totals)))
    assert (found["a"].difficulty, found["a"].p_first, found["a"].p_final) == pytest.approx((5 / 9, 1 / 3, 2 / 3))
    assert (found["a"].answered, found["a"].attempts) == (2, 1.5)


def test_the_upper_and_the_lower_27_percent_are_compared_and_equal_totals_count_alike() -> None:
    # 0.27 · 10 = 2.7 places. At the top: one with 3 points, and 1.7 places for the three with 2.
    table = ["111", "110", "110", "011", "100", "100", "010", "001", "000", "000"]
    expected = (1 + 1.7 * 2 / 3) / 2.7 - (2 * 0 + 0.7 * 2 / 4) / 2.7
    for order in (table, table[::-1]):
        assert rw.item_analysis(rows(*order), ITEMS)["one"].upper_lower == pytest.approx(expected)


def test_one_question_or_equal_points_have_no_reliability_and_no_discrimination() -> None:
    one = rw.item_analysis([{"one": "yes"}, {"one": "no"}], ITEMS[:1])
    same = rw.item_analysis(rows("111", "111"), ITEMS)
    assert math.isnan(one.reliability)
    assert math.isnan(same.reliability)
    assert math.isnan(one["one"].discrimination)
    assert math.isnan(same["one"].discrimination)


def test_wrong_numbers_are_listed_ones_or_bands_and_unreadable_inputs_are_kept() -> None:
    number = Question(key="n", prompt="?", answer=100.0, wrong_answers={0.01: "This is the inverse."})
    answers = [0.01, 0.0101, 0.01, 150, 150, 20, 1e5, -3, "many", 100, 98]
    found = rw.item_analysis([{"n": answer} for answer in answers], [number])["n"]
    assert [(one.answer, one.text, round(11 * one.share)) for one in found.wrong] == [
        ("a listed wrong answer", "This is the inverse.", 3),
        ("too large, within a factor of 2", "", 2),
        ("too small, 2 to 10 times", "", 1),
        ("too large, more than 10 times", "", 1),
        ("not above zero", "", 1),
    ]
    assert found.unreadable == ("many",)
    assert found.unreadable_share == pytest.approx(1 / 11)
    # log2 of 0.01, 0.01, 0.01, 20, 98, 100, 150, 150 and 1e5 over 100; the one in the middle is 98.
    assert found.log2_ratios[1] == pytest.approx(math.log2(0.98))


def test_a_listed_wrong_answer_is_the_same_however_it_was_typed() -> None:
    number = Question(key="n", prompt="?", answer=1.0, wrong_answers={2048: "This is the width."})
    found = rw.item_analysis([{"n": answer} for answer in (2048, "2,048", "2048")], [number])["n"]
    assert [(one.answer, one.text, one.share) for one in found.wrong] == [
        ("a listed wrong answer", "This is the width.", 1.0)
    ]


def test_options_are_compared_between_the_best_and_the_worst_third() -> None:
    found = rw.item_analysis(rows("111", "111", "110", "010", "001", "000"), ITEMS)["one"]
    (no,) = found.wrong
    assert (no.answer, no.text, no.share, no.top) == ("no", "It is so.", 0.5, 0.0)
    # Two places: the one with no points, and one for the two with one point, who both chose "no".
    assert no.bottom == 1.0


def a_class(rights: Sequence[Sequence[bool]], wrong: str = "no") -> list[dict[str, Any]]:
    return [{item.key: "yes" if right else wrong for item, right in zip(ITEMS, one, strict=True)} for one in rights]


def flags(answers: list[dict[str, Any]], items: Any = ITEMS) -> list[tuple[str, ...]]:
    return [one.flags for one in rw.item_analysis(answers, items).items]


def test_hard_and_easy_questions_and_options_nobody_believes_are_flagged() -> None:
    first, second, third = flags(a_class([(at < 4, at < 39, at % 2 == 0) for at in range(40)]))
    assert "hard or unclear" in first
    assert "all know it" in second
    assert "all know it" not in third
    assert "hard or unclear" not in third
    # "maybe" was never chosen.
    assert all("nobody believes an option" in one for one in (first, second, third))
    mixed = a_class([(at % 2 == 0,) * 3 for at in range(20)]) + a_class(
        [(at % 2 == 0,) * 3 for at in range(20)], "maybe"
    )
    assert not any("nobody believes an option" in one for one in flags(mixed))


def test_a_question_that_the_best_get_wrong_has_a_wrong_key() -> None:
    # Whoever is right in the others is wrong in the first.
    against = flags(a_class([(at >= 20, at < 20, at < 20) for at in range(40)]))
    assert "check the key" in against[0]
    unrelated = flags(a_class([(at % 2 == 0, at // 2 % 2 == 0, at // 2 % 2 == 0) for at in range(40)]))
    assert "does not separate" in unrelated[0]
    assert not {"does not separate", "check the key"} & set(unrelated[1])
    assert flags(a_class([(at >= 14, at < 14, at < 14) for at in range(29)])) == [(), (), ()]


def test_inputs_that_cannot_be_read_and_unfair_numbers_are_flagged() -> None:
    easy, hard = (Question(key="n", prompt=f"{size}?", answer=size) for size in (10.0, 20.0))
    asked = [[easy], [hard]] * 20
    answers = [{"n": 10.0 if at % 2 == 0 else 3.0} for at in range(40)]
    (found,) = rw.item_analysis(answers, asked).items
    assert "unfair numbers" in found.flags
    assert "input" not in found.flags
    unread: list[dict[str, Any]] = [
        {"n": "ten" if at < 3 else 10.0 if at % 4 < 2 and at % 2 == 0 else 20.0} for at in range(40)
    ]
    (found,) = rw.item_analysis(unread, [[easy]] * 40).items
    assert "input" in found.flags
    assert "unfair numbers" not in found.flags


@pytest.mark.parametrize(
    ("value", "freedom", "tail"),
    [(0.0, 3, 1.0), (6.635, 1, 0.01), (9.210, 2, 0.01), (18.307, 10, 0.05), (21.666, 9, 0.01)],
)
def test_the_tail_of_chi_square_is_that_of_printed_tables(value: float, freedom: int, tail: float) -> None:
    assert chi_square_tail(value, freedom) == pytest.approx(tail, abs=1e-5)


def test_a_shown_answer_is_counted_and_files_are_read(tmp_path: Path) -> None:
    model = rw.RooflineModel([], [])
    rw.Story(model, ITEMS)
    files = []
    for at, given in enumerate([["no", SHOWN, "yes"], ["yes"]]):
        model.answers = {"one": given}
        files.append(write(tmp_path / f"{at}.json", model.export_answers()))
    found = rw.item_analysis(files, ITEMS)["one"]
    assert (found.shown, found.p_first, found.p_final, found.difficulty) == (0.5, 0.5, 0.5, 0.5)


def test_the_table_is_text_html_and_csv_without_formulas(tmp_path: Path) -> None:
    evil = Question(key="e", prompt="?", answer="a", options={"a": "", "=HYPERLINK(1)": "<b>no</b>"})
    found = rw.item_analysis([{"e": "a"}, {"e": "=HYPERLINK(1)"}], [evil])
    assert repr(found).splitlines()[0] == "2 students, KR-20 unknown"
    assert "50% <b>no</b>" in repr(found)
    assert "<b>" not in found._repr_html_()
    assert "50% of all" in found._repr_html_()
    (row,) = csv.DictReader(text_of(found.to_csv(tmp_path / "items.csv")).splitlines())
    assert (row["question"], row["asked"], row["p"], row["r"]) == ("e", "2", "0.5", "")
    assert (row["wrong_answer"], row["wrong_share"], row["wrong_text"]) == ("'=HYPERLINK(1)", "0.5", "<b>no</b>")


def test_what_cannot_be_analysed_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no answers"):
        rw.item_analysis([], ITEMS)
    with pytest.raises(ValueError, match="answers of 2 students and questions of 3"):
        rw.item_analysis([{}, {}], [ITEMS] * 3)
    with pytest.raises(ValueError, match="the questions of student 2 have other keys"):
        rw.item_analysis([{}, {}], [ITEMS, ITEMS[:2]])
    with pytest.raises(ValueError, match="counts is one of 'decay', 'first', 'last', 'best', not 'mastery'"):
        rw.item_analysis([{}], ITEMS, counts="mastery")
    with pytest.raises(KeyError, match="there is no question 'four'"):
        rw.item_analysis([{}], ITEMS)["four"]


# -- a class of 120 with planted behaviours ----------------------------------------------------------------------------

NUMBERS = ("ridge-point", "ridge-point-of-a-gpu", "square-matmul-size", "compute-time")
INVERSE = "This is bytes for each FLOP. The question asks for FLOPs for each byte."
BELIEFS = [one.question for one in misconceptions()]


def one_first(question: Question) -> list[Any]:
    """Return what a student does who types 1 first to see the answer. Options are chosen with care."""
    return [question.answer] if question.kind == "choice" else [1.0, SHOWN, question.answer]


def guess(question: Question, luck: random.Random) -> list[Any]:
    if question.kind == "choice":
        tries = luck.sample(list(question.options), len(question.options))
        return tries[: tries.index(question.answer) + 1]
    return [10 ** luck.uniform(-3, 6) for _ in range(3)]


GUESS, COPY, ONE_FIRST = range(9), range(9, 17), range(17, 25)


def planted(student: int, asked: Sequence[Sequence[Question]], luck: random.Random) -> dict[str, list[Any]]:
    """Return all answers of a student. Most have one misconception each, and are right in all else."""
    questions = asked[student]
    if student in GUESS:
        return {one.key: guess(one, luck) for one in questions}
    if student in COPY:
        # The answers of the neighbour, which belong to other numbers.
        return {one.key: [one.answer] for one in asked[student + 50]}
    if student in ONE_FIRST:
        return {one.key: one_first(one) for one in questions}
    given = {one.key: [one.answer] for one in questions}
    believed = student % (len(BELIEFS) + 1)
    if believed < len(BELIEFS):
        given[BELIEFS[believed].key] = [misconceptions()[believed].belief, BELIEFS[believed].answer]
    else:
        given["ridge-point"] = [1 / questions[0].answer, questions[0].answer]
    return given


def test_no_planted_behaviour_of_a_class_of_120_has_full_marks_and_the_misconceptions_are_named() -> None:
    luck = random.Random(43)  # noqa: S311 - not a secret
    exercises = {one.key: one for one in EXERCISES}
    asked = [[exercises[key].question(seed) for key in NUMBERS] + BELIEFS for seed in range(120)]
    answers = [planted(student, asked, luck) for student in range(120)]
    sheets = list(zip(answers, asked, strict=True))
    shares = [grades_of(given, by_key(questions), "decay").score for given, questions in sheets]
    assert max(shares) < 1
    assert max(shares[student] for student in GUESS) < 0.6
    # With the rule "best" those who look at the answer have full marks.
    assert {grades_of(sheets[student][0], by_key(asked[student]), "best").score for student in ONE_FIRST} == {1.0}
    found = analysis_of(sheets, "decay")
    for one in misconceptions():
        most = found[one.question.key].wrong[0]
        assert (most.answer, most.text) == (one.belief, one.question.options[one.belief]), one.name
    assert INVERSE in [one.text for one in found["ridge-point"].wrong]
    assert found["ridge-point"].shown == pytest.approx(len(ONE_FIRST) / 120)
    assert found.students == 120


def test_the_page_has_a_mark_for_each_question_and_all_wrong_answers_with_their_texts(tmp_path: Path) -> None:
    found = rw.item_analysis(rows("111", "110", "101", "100", "010", "000"), ITEMS)
    page = text_of(found.to_html(tmp_path / "items.html", title="Sheet <1>"))
    assert "<title>Sheet &lt;1&gt;</title>" in page
    # p of the first question is 2/3 and r 0.343: 56 + 2/3 · 568 and 16 + (1 - 0.343)/2 · 356.
    circles = re.findall(r'<circle class="item" cx="([^"]+)" cy="([^"]+)"', page)
    assert [float(one) for one in circles[0]] == pytest.approx([434.7, 132.9], abs=0.1)
    assert len(circles) == 3
    assert "<title>one: p 0.67, r 0.34</title>" in page
    assert "33%: no. It is so." in page
    assert "6 students, KR-20 0.36" in page
    # Why there are no flags, what was asked, and how many a third are.
    assert "No question has a flag: among fewer than 30 students" in page
    assert f"<p>{escaped(ITEMS[0].prompt)}</p>" in page
    assert "top third: 2 students" in page
    assert "script-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="', page)


def test_the_page_says_nothing_of_the_spread_of_right_numbers(tmp_path: Path) -> None:
    number = Question(key="n", prompt="n", answer=100.0)
    found = rw.item_analysis([{"n": 100}] * 9 + [{"n": 500}], [number])
    assert "The middle half" not in text_of(found.to_html(tmp_path / "items.html"))


def test_the_page_marks_flags_by_shape_and_says_what_could_not_be_read(tmp_path: Path) -> None:
    number = [Question(key="n", prompt="n", answer=100.0), yes_or_no("one")]
    answers: list[dict[str, Any]] = [{"n": "<many>", "one": "no"}] * 10 + [{"n": 300, "one": "yes"}] * 25
    page = text_of(rw.item_analysis(answers, number).to_html(tmp_path / "items.html"))
    assert "Could not be read, of 29% of the students: <code>&lt;many&gt;</code>" in page
    # No one has points for the number, so it has no correlation.
    assert "Not in the chart, because all students have the same points: 1, 2." in page
    assert '<span class="flag">hard or unclear, check the key, input</span>' in page
    assert "The middle half of the numbers is 3 to 3 times the right one; the median is 3." in page
    answers += [{"n": 100, "one": "no"}, {"n": 100, "one": "yes"}]
    page = text_of(rw.item_analysis(answers, number).to_html(tmp_path / "items.html"))
    assert "No question has a flag" not in page
    # Both questions have flags now, and a correlation.
    assert len(re.findall('<rect class="flagged"', page)) == 2
