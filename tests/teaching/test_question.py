"""Questions: which answers are right, what is said to each, and which questions are refused."""

from __future__ import annotations

import json
import math
import pickle
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofwidget as rw
from roofwidget.teaching.grading import Grade
from roofwidget.teaching.question import Check, Question
from tests.places import golden

GOLDEN = golden("answers.json")
ABSURD: tuple[Any, ...] = (
    None,
    "banana",
    "",
    -1,
    math.nan,
    math.inf,
    -math.inf,
    [],
    {},
    (),
    True,
    10**400,
    "1e999",
    object(),
)


def number(answer: Any = 100.0, **parts: Any) -> Question:
    return Question(key="q", prompt="How many?", answer=answer, **parts)


def tail() -> rw.Graph:
    graph = rw.Graph("tail")
    x = graph.input("x", (64, 64), "bf16")
    graph.output(graph.relu(graph.gelu(graph.dropout(x, name="dropout"), name="gelu"), name="relu"))
    return graph


@pytest.mark.parametrize("case", GOLDEN["numbers"])
def test_a_number_is_right_within_its_tolerance_on_a_logarithmic_scale(case: dict[str, Any]) -> None:
    check = number(case["answer"], tolerance=case["tolerance"]).check(case["given"])
    assert check.correct is case["right"]
    assert check.factor == pytest.approx(case["factor"]) if case["factor"] else math.isnan(check.factor)


@pytest.mark.parametrize("case", GOLDEN["typed"])
def test_a_typed_number_may_have_its_unit_with_a_prefix(case: dict[str, Any]) -> None:
    found = number(1.0, unit=case["unit"]).number(case["text"])
    assert found == case["value"] if case["value"] is not None else isinstance(found, str)


def asked(name: str) -> Question:
    """Return a question of the golden file."""
    return Question.from_record({"key": "q", "prompt": "?", **GOLDEN["questions"][name]})


@pytest.mark.parametrize("case", GOLDEN["feedback"], ids=lambda case: f"{case['question']} {case['given']}")
def test_an_answer_gets_the_message_of_the_golden_file(case: dict[str, Any]) -> None:
    check = asked(case["question"]).check(case["given"], case["attempt"])
    assert (check.correct, check.said) == (case["said"] == "right", case["said"])
    if case["message"] is not None:
        assert check.message == case["message"]


@pytest.mark.parametrize("case", GOLDEN["written"], ids=lambda case: f"{case['text']} {case['unit']}")
def test_a_number_is_read_as_people_write_it(case: dict[str, Any]) -> None:
    found = number(1.0, unit=case["unit"]).number(case["text"])
    if case["value"] is None:
        assert isinstance(found, str)
        if "is" in case:
            assert found == f"'{case['text']}' is {case['is']}; the question asks for {case['asked']}"
    else:
        assert found == pytest.approx(case["value"], rel=1e-15)


def test_a_wrong_unit_is_told_as_such_and_is_no_attempt() -> None:
    check = number(1.0, unit="FLOP/B").check("3 TB/s")
    assert check.message == "'3 TB/s' is a bandwidth (B/s); the question asks for an intensity (FLOP/B)."
    assert check.said == "invalid"


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_short_line(text: str) -> None:
    for unit in ("FLOP/B", "s", "tokens", ""):
        found = number(1.0, unit=unit).number(text)
        assert isinstance(found, float) or (len(found) < 200 and "\n" not in found)


def test_a_wrong_number_is_told_its_direction_then_its_band_then_the_method() -> None:
    question = number(method="Peak divided by bandwidth.")
    assert question.check(200).message == "Not yet: too large."
    assert question.check(25).message == "Not yet: too small."
    assert question.check(104.9).message == "Right."
    assert question.check(0).message == "Not yet: too small."
    assert question.check("many").message == "'many' is not a number."
    assert question.check("2*1024").message == "'2*1024' is not a number."
    near = "Not yet: too large, within a factor of 2."
    middle = "Not yet: too small, 2 to 10 times off: a factor such as 2, or the bytes of a number."
    far = "Not yet: too small, more than 10 times off: look at the prefixes."
    for typed, message in ((200, near), (106, near), (49, middle), (10, middle), (9, far), (1e-9, far)):
        assert question.check(typed, 2).message == message
        assert question.check(typed, 3).message == question.check(typed, 9).message
        assert question.check(typed, 3).message == "Not yet. Peak divided by bandwidth."
    assert number().check(200, 3).message == near
    said = [
        question.check(typed, attempt).said for typed, attempt in ((200, 1), (200, 2), (200, 3), (100, 4), ("x", 1))
    ]
    assert said == ["direction", "band", "method", "right", "invalid"]


def test_a_wrong_number_with_one_comma_is_told_how_the_comma_was_read() -> None:
    question = number(516.096, unit="B")
    assert question.check("516,096").message == "Not yet: too large. Read as 516096; for a decimal mark write 516.096."
    assert question.check("516.096").correct
    assert number(516096, unit="B").check("516,096").message == "Right."
    for typed in ("516,096,000", "0,250", "516,09", "516 096", 516096):
        assert "Read as" not in question.check(typed).message


def test_no_message_to_a_wrong_number_has_a_factor_that_solves_the_question() -> None:
    question = number(295.373)
    for typed in (1, 3.7, 80, 1000, 1e6):
        factor = max(typed / 295.373, 295.373 / typed)
        for attempt in (1, 2, 3):
            digits = re.findall(r"[0-9.]*[0-9]", question.check(typed, attempt).message)
            assert {*digits} <= {"2", "10"}
            assert f"{factor:.3g}" not in digits


def test_a_listed_wrong_answer_gets_its_own_text() -> None:
    inverse = "You divided bandwidth by peak."
    question = number(295.4, unit="FLOP/B", wrong_answers={0.003386: inverse})
    check = question.check(0.0034)
    assert (check.correct, check.message, check.said) == (False, f"Not yet. {inverse}", "listed")
    assert question.check(0.0034, 3).said == "listed"
    assert question.check(0.004).message == "Not yet: too small."
    # Of two listed answers the nearer one is meant.
    close = number(100, wrong_answers={200: "Twice.", 208: "Nearly."})
    assert [close.check(given).message for given in (201, 207)] == ["Not yet. Twice.", "Not yet. Nearly."]
    times = number("1 ms", unit="s", wrong_answers={"2 ms": "Reads and writes."})
    assert times.check("2 ms").message == "Not yet. Reads and writes."


def test_an_option_has_an_id_that_stays_with_it_in_another_order() -> None:
    texts = {"compute": "It needs 1 ms.", "HBM": "3 ms.", "L2": "2 ms."}
    question = Question(key="q", prompt="?", answer="HBM", options=texts)
    assert question.option_ids == ("a1", "a2", "a3")
    assert question.check("a2").message == "Right. 3 ms."
    assert (question.check("a3").said, question.check("L2").said, question.check("HBM").said) == ("a3", "a3", "right")
    seen = set()
    for seed in range(30):
        other = question.shuffled(seed)
        seen.add(tuple(other.options))
        assert dict(zip(other.option_ids, other.options, strict=True)) == {"a1": "compute", "a2": "HBM", "a3": "L2"}
        assert dict(other.options) == texts
        assert other.check("a2").correct
    assert len(seen) == 6
    german = Question(key="q", prompt="?", answer="Speicher", options={"Rechnen": "1 ms.", "Speicher": ""})
    assert german.check("a2").correct


def test_a_choice_says_why_an_option_is_wrong() -> None:
    question = Question(key="q", prompt="?", answer="HBM", options={"compute": "It needs 1 ms.", "HBM": "3 ms."})
    assert question.kind == "choice"
    assert question.check("HBM").message == "Right. 3 ms."
    assert (question.check("compute").correct, question.check("compute").message) == (False, "Not yet. It needs 1 ms.")
    assert question.check("L2").message == "'L2' is none of the options."


def test_an_option_with_half_a_character_is_the_option_that_a_page_shows() -> None:
    question = Question(key="q", prompt="?", answer="a\ud800", options={"a\ud800": "", "b": "No."})
    assert list(question.options) == ["a?", "b"]
    assert question.check("a?").correct
    with pytest.raises(ValueError, match="two options look the same"):
        Question(key="q", prompt="?", answer="a?", options={"a\ud800": "", "a?": "No."})


def test_a_merge_is_right_if_no_partition_moves_fewer_bytes() -> None:
    # Three ops in a chain: 6, 4 or 2 passes over 8192 bytes.
    question = Question(key="q", prompt="?", answer=[["dropout", "gelu", "relu"]], graph=tail())
    assert question.kind == "merge"
    assert question.check([["relu", "gelu", "dropout"]]).correct
    half = question.check([["dropout", "gelu"], ["relu"]])
    assert (half.correct, half.factor, half.message) == (
        False,
        2.0,
        "Not yet: 2 kernels. Fewer bytes are possible.",
    )
    assert question.check([["dropout"], ["gelu"], ["relu"]]).factor == 3.0
    # The tensor between the two kernels is the result of gelu.
    assert question.check([["dropout", "gelu"], ["relu"]], 2).message == "Not yet: 2 kernels. 'gelu' costs most bytes."
    reached = "Not yet: 2 kernels move 32.77 kB. 16.38 kB can be reached."
    assert question.check([["dropout", "gelu"], ["relu"]], 3).message == reached
    assert question.check([["dropout", "relu"], ["gelu"]]).message.startswith("This is no partition")


def feed_forward() -> rw.Graph:
    graph = rw.Graph("feed-forward")
    x = graph.input("x", (4096, 4096), "bf16")
    normed = graph.layernorm(x, affine=False, flops_per_element=10, name="norm")
    up = graph.matmul(normed, graph.input("W1", (4096, 16384), "bf16"), name="up")
    down = graph.matmul(graph.gelu(up), graph.input("W2", (16384, 4096), "bf16"), name="down")
    graph.output(down)
    return graph


def test_a_merge_on_a_chip_is_right_if_no_partition_takes_less_time() -> None:
    # As in the lesson on fusion: the norm before a product moves fewer bytes, but runs 128 times.
    fastest = [["norm"], ["up", "gelu"], ["down"]]
    question = Question(key="q", prompt="?", answer=fastest, graph=feed_forward(), chip="h100-sxm")
    fewest = [["norm", "up", "gelu"], ["down"]]
    assert question.check(fastest).correct
    assert [question.check(fewest, attempt).said for attempt in (1, 2, 3)] == ["kernels", "kernel", "time"]
    assert question.check(fewest).message == "Not yet: 2 kernels. Less time is possible."
    slow = "Not yet: 2 kernels. 'norm + up + gelu' is no kernel of the fastest partition."
    assert question.check(fewest, 2).message == slow
    # Both products take 555.6 us; gelu 4.0 us in the kernel of up, norm 20.0 us, or 160.5 us in that kernel.
    product, gelu, norm, again = 555.594, 4.012, 20.033, 160.475
    least, now = (2 * product + gelu + one for one in (norm, again))
    assert question.check(fewest).factor == pytest.approx(now / least, rel=1e-5)
    reached = f"2 kernels take {now / 1e3:.3f} ms. {least / 1e3:.3f} ms can be reached."
    assert question.check(fewest, 3).message == f"Not yet: {reached}"
    by_bytes = Question(key="q", prompt="?", answer=fewest, graph=feed_forward())
    assert not by_bytes.check(fastest).correct
    assert Question.from_record(question.to_record()).chip == "h100-sxm"
    with pytest.raises(ValueError, match="question 'q': answer: no chip is called 'h1000-sxm'"):
        Question(key="q", prompt="?", answer=fastest, graph=feed_forward(), chip="h1000-sxm")
    with pytest.raises(ValueError, match="question 'q': a number has no chip"):
        Question(key="q", prompt="?", answer=1, chip="h100-sxm")


def test_a_vote_takes_every_option_and_has_no_points() -> None:
    vote = Question(key="vote", prompt="?", answer="b", options={"a": "Why a.", "b": "", "c": ""}, graded=False)
    assert vote.check("a") == Check(correct=True, message="Why a.", said="a1")
    assert vote.check("a3") == Check(correct=True, message="", said="a3")
    assert vote.check("d").said == "invalid"
    asked = Question(key="asked", prompt="?", answer=1)
    grades = rw.grade({"vote": "a", "asked": 1}, [vote, asked])
    assert [one.key for one in grades] == ["asked"]
    assert rw.item_analysis([{"vote": "a", "asked": 1}] * 2, [vote, asked])["asked"].difficulty == 1
    assert not Question.from_record(vote.to_record()).graded
    with pytest.raises(ValueError, match="question 'q': a number is graded: only a choice can be a vote"):
        Question(key="q", prompt="?", answer=1, graded=False)
    with pytest.raises(TypeError, match="question 'q': expected True or False for graded, got 1"):
        Question(key="q", prompt="?", answer="a", options={"a": "", "b": "x"}, graded=1)  # type: ignore[arg-type]


def test_a_merge_may_ask_for_a_kernel_that_only_some_chips_can_run() -> None:
    # Two products in a chain. Only the size of the on-chip memory decides whether their rows fit.
    graph = rw.Graph("two products")
    rows, narrow, wide = 4096, 256, 1024
    x = graph.input("x", (rows, narrow), "bf16")
    up = graph.matmul(x, graph.input("W1", (narrow, wide), "bf16"), name="up")
    graph.output(graph.matmul(up, graph.input("W2", (wide, narrow), "bf16"), name="down"))
    question = Question(key="q", prompt="?", answer=[["up", "down"]], graph=graph)
    assert question.check([["down", "up"]]).correct
    ends, between = 2 * (2 * rows * narrow + 2 * narrow * wide), 2 * rows * wide
    apart = question.check([["up"], ["down"]])
    assert (apart.correct, apart.factor) == (False, (ends + 2 * between) / ends)


@pytest.mark.parametrize("value", ABSURD, ids=range(len(ABSURD)))
@pytest.mark.parametrize(
    "question",
    [
        number(),
        number(0),
        number(2e12, on="bandwidth"),
        Question(key="q", prompt="?", answer="a", options={"a": "", "b": "no"}),
        Question(key="q", prompt="?", answer=[["dropout", "gelu", "relu"]], graph=tail()),
    ],
    ids=lambda one: one.kind,
)
def test_any_value_gets_an_answer(question: Question, value: object) -> None:
    check = question.check(value)
    assert not check.correct
    assert check.message


@given(st.floats(1e-9, 1e15), st.floats(0, 1), st.floats(0.25, 4))
def test_a_number_is_right_exactly_within_the_tolerance(answer: float, tolerance: float, factor: float) -> None:
    distance = abs(math.log2(factor))
    if abs(distance - tolerance) > 1e-6:
        assert number(answer, tolerance=tolerance).check(answer * factor).correct is (distance < tolerance)


def test_a_drag_has_the_unit_of_what_is_dragged_and_a_wider_tolerance() -> None:
    question = number("3.35 TB/s", on="bandwidth")
    assert (question.kind, question.answer, question.unit) == ("drag", 3.35e12, "B/s")
    assert question.check(4e12).correct
    assert not question.check(4.1e12).correct


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"key": "a b"},
            "a question's key has letters, digits, '.', '_' and '-', and starts with a letter or digit, not 'a b'",
        ),
        ({"prompt": 5}, "question 'q': expected text for prompt, got 5"),
        ({"explanation": None}, "question 'q': expected text for explanation, got None"),
        ({"answer": "x"}, "question 'q': answer: 'x' is not a number"),
        ({"answer": -3, "on": "rate"}, "the answer of a drag is above zero, not -3"),
        ({"on": "intensty"}, "not 'intensty'; did you mean 'intensity'"),
        ({"kind": "choise"}, "not 'choise'; did you mean 'choice'"),
        ({"kind": "choice"}, "its parts are those of kind 'number', not of 'choice'"),
        ({"reading": "yes"}, "question 'q': expected True or False for reading, got 'yes'"),
        ({"difficulty": 9}, "difficulty is 1, 2 or 3, not 9"),
        ({"tolerance": 7}, "tolerance is |log2| from 0 to 1, not 7"),
        ({"tolerance": "5 %"}, "tolerance is |log2| from 0 to 1, not '5 %'"),
        ({"tolerance": math.nan}, "tolerance is |log2| from 0 to 1, not nan"),
        ({"options": ["a", "b"], "answer": "a"}, "question 'q': expected a mapping from options to texts for options"),
        ({"options": {1: "", 2: "no"}, "answer": 1}, "question 'q': an option and its text are text, not 1: ''"),
        ({"options": {"a": "", "b": None}, "answer": "a"}, "an option and its text are text, not 'b': None"),
        ({"options": {"a": "", " a": "no"}, "answer": "a"}, "two options look the same: 'a' and ' a'"),
        ({"options": {"a": "", " ": "no"}, "answer": "a"}, "question 'q': an option is empty"),
        ({"options": {"a": "", "b": "no"}, "answer": ["a"]}, "the answer ['a'] is none of its options"),
        ({"options": {"a": "", "b": "no"}, "on": "rate"}, "a drag has no options"),
        ({"options": {"a": "x"}, "answer": "a"}, "a choice has at least two options"),
        ({"options": {"a": "x", "b": "y"}, "answer": "c"}, "the answer 'c' is none of its options"),
        ({"options": {"a": "", "b": ""}, "answer": "a"}, "the option 'b' has no text that says why it is wrong"),
        (
            {"options": {"a": "", "b": "no"}, "answer": "a", "option_ids": ["x"]},
            "a name of its own for each of 2 options",
        ),
        ({"options": {"a": "", "b": "no"}, "answer": "a", "option_ids": ["b", "c"]}, "a name of its own for each"),
        ({"options": {"a": "", "b": "no"}, "answer": "a", "method": "Look."}, "a choice has no wrong_answers"),
        ({"wrong_answers": {1.04: "No."}}, "question 'q': the wrong answer 1.04 counts as right"),
        ({"wrong_answers": {2: ""}}, "the wrong answer 2 has no text that says why it is wrong"),
        ({"wrong_answers": {"x": "No."}}, "question 'q': wrong_answers: 'x' is not a number"),
        ({"wrong_answers": [2]}, "question 'q': expected a mapping from numbers to texts for wrong_answers, got [2]"),
        ({"graph": tail(), "answer": [["gelu", "drop"]]}, "question 'q': answer: "),
    ],
)
def test_a_question_whose_parts_do_not_fit_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        Question(**{"key": "q", "prompt": "?", "answer": 1.0, **parts})
    assert message in str(error.value)


@pytest.mark.parametrize(
    "question",
    [
        number(unit="FLOP/B", source="a book", difficulty=2, explanation="**So.**", reading=True),
        number(unit="FLOP/B", wrong_answers={"2 kFLOP/B": "A prefix."}, method="Divide."),
        number(2e12, on="rate", kernel="matmul"),
        Question(key="q", prompt="?", answer="a", options={"a": "", "b": "no"}),
        Question(key="q", prompt="?", answer=[["dropout"], ["gelu", "relu"]], graph=tail()),
    ],
    ids=lambda one: one.kind,
)
def test_the_record_of_a_question_makes_an_equal_one(question: Question) -> None:
    again = Question.from_record(json.loads(json.dumps(question.to_record())))
    assert again.to_record() == question.to_record()
    assert again.reading is question.reading
    assert question.check([["dropout", "gelu", "relu"]]) == again.check([["dropout", "gelu", "relu"]])
    if question.kind != "merge":
        assert pickle.loads(pickle.dumps(again)).to_record() == question.to_record()  # noqa: S301 - made here


def test_verdicts_and_grades_without_a_factor_are_equal_if_they_say_the_same() -> None:
    verdict = Check(correct=False, message="Not answered.")
    grade = Grade("bound", correct=False, answer=None, attempts=0, message="Not answered.")
    for one in (verdict, grade):
        again = pickle.loads(pickle.dumps(one))  # noqa: S301 - made here
        assert one == again
        assert len({one, again}) == 1
        assert one != replace(one, factor=2.0)
    assert verdict != grade
    assert grade != replace(grade, answer=math.nan)
