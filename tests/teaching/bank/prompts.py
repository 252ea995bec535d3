"""The bank's questions, and what their prompts say. Numbers are parsed from the text, without the library."""

from __future__ import annotations

import functools
import re
from decimal import Decimal

from roofwidget.model import RooflineModel
from roofwidget.teaching.bank import attention, cpus, operators
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.question import Question

_PREFIX = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "m": 1e-3, "µ": 1e-6, "": 1.0}
_NUMBER = re.compile(
    r"(?<![\w.-])([0-9]+(?:\.[0-9]+)?)(?: ([PTGMkmµ]?)(?:FLOP/s|B/s|word/s|Hz|s|B)\b| (million|billion))?"
)
_WORDS = {"million": 1e6, "billion": 1e9}
_DTYPES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "int8": 1}
_BY_KEY = {one.key: one for one in EXERCISES}
SEEDS = range(100)


def numbers(prompt: str) -> list[float]:
    """Return the numbers of a prompt in their order, in base units."""
    return [
        float(number) * (_WORDS[word] if word else _PREFIX[prefix or ""])
        for number, prefix, word in _NUMBER.findall(prompt)
    ]


def itemsize(prompt: str) -> int:
    """Return the bytes of the last dtype that a prompt names."""
    return _DTYPES[re.findall("|".join(_DTYPES), prompt)[-1]]


def keys_of(module: object) -> set[str]:
    """Return the keys of the exercises that a module of the bank defines."""
    return {one.key for one in EXERCISES if one.make.__module__ == getattr(module, "__name__", "")}


def printed(key: str) -> Question:
    return _BY_KEY[key].question(None)


@functools.cache
def drawn(key: str) -> list[Question]:
    """Return the questions of all `SEEDS`."""
    return [_BY_KEY[key].question(seed) for seed in SEEDS]


def rounds_to(value: float, text: str) -> bool:
    """Return whether a value is the printed number `text`, within half a unit of its last digit."""
    number = Decimal(text)
    return abs(Decimal(value) - number) <= Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2


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


__all__ = [
    "SEEDS",
    "attention",
    "check_choice",
    "check_drag",
    "cpus",
    "drawn",
    "itemsize",
    "keys_of",
    "numbers",
    "operators",
    "printed",
    "rounds_to",
]
