"""All questions of the bank: what is said to right, wrong and absurd answers, keys, seeds, records, setups."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from roofwidget.model import RooflineModel
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.question import Question
from tests.teaching.bank.prompts import SEEDS, bank

KEYS = list(bank(None))
ABSURD = [10**400, 10**5000, None, "banana", -1, math.nan, math.inf, [], {}, True, "1e999", object()]


def wrong_answer(question: Question) -> Any:
    """Return an answer of the right form that is wrong."""
    if question.kind == "choice":
        return next(option for option in question.options if option != question.answer)
    if question.kind == "merge":
        assert question.graph is not None
        return [[op.name] for op in question.graph.ops]
    return 3 * question.answer


def test_keys_are_unique_and_the_same_for_all_seeds() -> None:
    assert len(EXERCISES) == len(KEYS) >= 50
    assert all(list(bank(seed)) == KEYS for seed in SEEDS)


def test_a_seed_gives_the_same_questions_each_time_and_another_seed_gives_others() -> None:
    first, again, other = ([one.to_record() for one in question_bank(seed)] for seed in (7, 7, 8))
    assert first == again
    assert sum(one != two for one, two in zip(first, other, strict=True)) > len(KEYS) / 2


def test_a_seed_does_not_depend_on_the_state_of_random() -> None:
    random.seed(1)
    first = [one.to_record() for one in question_bank(3)]
    random.seed(2)
    assert [one.to_record() for one in question_bank(3)] == first


@pytest.mark.parametrize("key", KEYS)
def test_right_answers_are_right_and_wrong_ones_are_told_why(key: str) -> None:
    for seed in (None, *SEEDS):
        question = bank(seed)[key]
        assert question.check(question.answer).correct
        wrong = question.check(wrong_answer(question))
        assert not wrong.correct
        assert wrong.message


@pytest.mark.parametrize("absurd", ABSURD, ids=range(len(ABSURD)))
def test_absurd_answers_are_refused_with_a_message(absurd: Any) -> None:
    for question in (*bank(None).values(), *bank(1).values()):
        said = question.check(absurd)
        assert not said.correct, question.key
        assert said.message, question.key


@pytest.mark.parametrize("key", KEYS)
def test_a_question_survives_its_record(key: str) -> None:
    for seed in (None, *range(5)):
        question = bank(seed)[key]
        record = json.loads(json.dumps(question.to_record()))
        assert Question.from_record(record).to_record() == question.to_record() == record


@pytest.mark.parametrize("key", KEYS)
def test_a_question_has_a_prompt_a_source_and_something_to_say_after_a_right_answer(key: str) -> None:
    for seed in (None, *range(20)):
        question = bank(seed)[key]
        assert question.source
        assert question.prompt.endswith((".", "?"))
        assert question.explanation or question.options[question.answer]
        texts = [question.prompt, question.explanation, *question.options.values()]
        assert not [text for text in texts if "  " in text or "None" in text or "nan" in text.split() or "\n" in text]


@pytest.mark.parametrize("key", [key for key in KEYS if bank(None)[key].setup])
def test_a_setup_makes_a_model_that_has_what_the_question_names(key: str) -> None:
    for seed in (None, 1, 2):
        question = bank(seed)[key]
        model = RooflineModel(**question.setup)
        assert question.kernel is None or question.kernel in model.kernels.names
        assert question.graph is None or model.graph is question.graph


def test_all_drags_and_merges_have_a_setup() -> None:
    assert not [key for key, one in bank(None).items() if one.kind in ("drag", "merge") and not one.setup]
