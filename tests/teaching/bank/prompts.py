"""The bank's questions, and the numbers of their prompts. Numbers are parsed without the package's own parser."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from roofwidget.model import RooflineModel
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.question import Question, by_key

SEEDS = range(100)
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "m": 1e-3, "µ": 1e-6}
_SCALE |= {"million": 1e6, "billion": 1e9, "trillion": 1e12}
# A number that is no part of a name such as "v5p", "LLaMA-2-13B" or "bf16", perhaps with a prefix and a unit.
_NUMBER = re.compile(
    r"(?<![\w.,:-])(\d[\d,]*(?:\.\d+)?)(?![\w:])"
    r"(?: ([PTGMkmµ]?)(?:FLOP/s|B/s|word/s|FLOP/B|FLOP|Hz|B|s)\b| (million|billion|trillion))?"
)
_DTYPES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "int8": 1}


@functools.cache
def bank(seed: int | None) -> dict[str, Question]:
    """Return the questions of a seed by key."""
    return by_key(question_bank(seed))


def printed(key: str) -> Question:
    """Return the question with the numbers of its source."""
    return bank(None)[key]


def drawn(key: str) -> list[Question]:
    """Return the questions of all `SEEDS`."""
    return [bank(seed)[key] for seed in SEEDS]


def made(key: str, **params: Any) -> Question:
    """Return the question with these numbers, and with those of a seed where none is given."""
    (exercise,) = [one for one in EXERCISES if one.key == key]
    return exercise.question(None, {**bank(0)[key].params, **params})


def keys_of(topic: str) -> set[str]:
    """Return the keys of the exercises of a topic."""
    return {one.key for one in EXERCISES if one.topic == topic}


def numbers(prompt: str) -> list[float]:
    """Return all numbers of a prompt in base units, in their order."""
    found = _NUMBER.finditer(prompt)
    return [float(one[1].replace(",", "")) * _SCALE[one[2] or one[3] or ""] for one in found]


def itemsize(prompt: str) -> int:
    """Return the bytes of the last dtype that a prompt names."""
    return _DTYPES[re.findall("|".join(_DTYPES), prompt)[-1]]


def answers_by_prompt(key: str) -> dict[str, Any]:
    """Return the answer to each prompt that the question of this key has for some seed."""
    found = {question.prompt: question.answer for question in drawn(key)}
    assert all(found[question.prompt] == question.answer for question in drawn(key)), "a prompt has one answer"
    return found


def rounds_to(value: float, text: str) -> bool:
    """Return whether a value is the printed number `text`, within half a unit of its last digit."""
    number = Decimal(text)
    return abs(Decimal(value) - number) <= Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2


def check_answers(key: str, text: str, formula: Callable[[str], float]) -> None:
    """Check the printed answer, and that a formula gives the answer of each prompt, of which three or more differ."""
    assert rounds_to(printed(key).answer, text)
    found = answers_by_prompt(key)
    assert len(found) >= 3
    assert len(set(found.values())) >= 3
    for prompt, answer in (found | {printed(key).prompt: printed(key).answer}).items():
        assert abs(formula(prompt) / answer - 1) < 1e-9, (prompt, answer, numbers(prompt))


def check_choice(question: Question) -> None:
    """Check that the answer is right, and that each other option is wrong with a text of its own."""
    assert question.check(question.answer).correct
    wrong = [question.check(option) for option in question.options if option != question.answer]
    assert wrong
    assert not any(check.correct for check in wrong)
    assert len({check.message for check in wrong}) == len(wrong)
    assert all(check.message.removeprefix("Not yet.").strip() for check in wrong)


def check_drag(question: Question) -> None:
    """Check that a model of the setup has the kernel at the answer, and that the answer is in the drag's tolerance."""
    model = RooflineModel(**question.setup)
    if question.on == "intensity":
        row = model.kernels.names.tolist().index(question.kernel)
        assert abs(model.kernels.arithmetic_intensity[row] / question.answer - 1) < 1e-9
    else:
        model.bandwidth = question.answer
        only = model.bound()
        assert only.balanced.tolist() == [True]
    assert question.check(question.answer).correct
    assert not question.check(2 * question.answer).correct
