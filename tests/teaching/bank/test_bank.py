"""All questions of the bank: what is said to right, wrong and absurd answers, keys, seeds, records, setups."""

from __future__ import annotations

import hmac
import json
import math
import os
import random
import re
import statistics
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.model import RooflineModel
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.misconceptions import misconceptions
from roofwidget.teaching.question import Question
from tests.teaching.bank.prompts import SEEDS, bank, numbers

KEYS = list(bank(None))
# The chips whose peak and bandwidth a prompt names.
CHIPS = ("h100-sxm", "h200-sxm", "b200", "a100-sxm-80gb", "v5e", "v5p", "v6e", "v7x")
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


def test_a_question_with_numbers_that_its_source_does_not_print_is_derived() -> None:
    for seed in range(20):
        for question, printed in zip(bank(seed).values(), bank(None).values(), strict=True):
            if question.prompt != printed.prompt and question.source == printed.source:
                assert "Derived" in question.source, question.key
    assert bank(7)["ridge-point"].source == "Derived, after TPU roofline guide"
    # The numbers of another machine of the paper are printed too.
    assert bank(7)["opteron-x2-ridge"].source.endswith(
        "CACM 52(4), 2009; peak of the Xeon E5345, and bandwidth by STREAM"
    )


@pytest.mark.parametrize("key", [key for key in KEYS if bank(None)[key].setup])
def test_a_setup_makes_a_model_that_has_what_the_question_names(key: str) -> None:
    for seed in (None, 1, 2):
        question = bank(seed)[key]
        model = RooflineModel(**question.setup)
        assert question.kernel is None or question.kernel in model.kernels.names
        assert question.graph is None or model.graph is question.graph


# -- rules for every seed ----------------------------------------------------------------------------------------------

SEED = os.environ.get("ROOFWIDGET_SEED", "") or str(random.SystemRandom().randrange(10**9))
# Each run adds seeds that were never tried. A message names the seed.
MORE_SEEDS = (*SEEDS, *(int(SEED) + number for number in range(20)))


def test_no_two_questions_of_a_seed_have_the_same_prompt() -> None:
    for seed in (None, *MORE_SEEDS):
        questions = bank(seed)
        assert len({question.prompt for question in questions.values()}) == len(questions), seed


def test_every_number_is_finite_and_above_zero() -> None:
    for seed in (None, *MORE_SEEDS):
        wrong = [
            question.key
            for question in bank(seed).values()
            if question.kind in ("number", "drag") and not 0 < question.answer < math.inf
        ]
        assert not wrong, seed


def test_a_roof_that_is_dragged_does_not_start_at_the_answer() -> None:
    asked = [one for seed in (None, *MORE_SEEDS) for one in bank(seed).values() if one.on == "bandwidth"]
    assert asked
    for question in asked:
        (chip,) = question.setup["chips"]
        assert not question.check(chip.bandwidth()).correct, question.key


def test_a_sheet_has_one_figure_of_each_chip_and_it_is_that_of_the_catalogue() -> None:
    catalogue = {rw.chip(name).name.split(" (")[0]: rw.chip(name) for name in CHIPS}
    found: dict[str, set[str]] = {}
    rates = re.compile(r"The ([\w ]+?) computes (\S+ \w)FLOP/s in (\w+) and transfers (\S+ \w)B/s to and from HBM")
    for seed in SEEDS:
        for question in bank(seed).values():
            for name, peak, precision, bandwidth in rates.findall(question.prompt):
                found.setdefault(f"{name} {precision}", set()).add(peak)
                found.setdefault(name, set()).add(bandwidth)
                chip = catalogue[name]
                assert numbers(f"{peak}FLOP/s") == [pytest.approx(chip.peak(precision))]
                assert numbers(f"{bandwidth}B/s") == [pytest.approx(chip.bandwidth())]
    assert {name: many for name, many in found.items() if len(many) > 1} == {}
    assert {name for name in found if name in catalogue} == set(catalogue)


# -- options -----------------------------------------------------------------------------------------------------------


def test_the_right_option_is_in_every_place() -> None:
    asked = [key for key in KEYS if bank(None)[key].options]
    for key in asked:
        places = {list(bank(seed)[key].options).index(bank(seed)[key].answer) for seed in SEEDS}
        assert places == set(range(len(bank(None)[key].options))), key
    own = [one.question for one in misconceptions()]
    assert {list(one.options).index(one.answer) for one in own} == {0, 1, 2}


def test_the_order_of_options_is_that_of_their_hmac() -> None:
    question = Question(key="key", prompt="Which?", answer="b", options={"b": "", "a": "No.", "None of these": "No."})
    for seed in (None, 1, 2, 3):
        order = list(question.shuffled(seed).options)
        digests = {one: hmac.new(str(seed).encode(), f"key|{one}".encode(), "sha256").digest() for one in "ab"}
        assert order == [*sorted("ab", key=digests.__getitem__), "None of these"]
        assert question.shuffled(seed).check("b").correct


def test_no_option_is_much_longer_than_the_others() -> None:
    asked = [question for seed in (None, *SEEDS) for question in bank(seed).values() if question.options]
    for question in [*asked, *(one.question for one in misconceptions())]:
        for option in question.options:
            others = [len(other) for other in question.options if other != option]
            assert len(option) <= 1.5 * statistics.median(others), (question.key, option)


def test_all_drags_and_merges_have_a_setup() -> None:
    assert not [key for key, one in bank(None).items() if one.kind in ("drag", "merge") and not one.setup]
