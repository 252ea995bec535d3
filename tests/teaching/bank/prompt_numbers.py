"""Reads the numbers that a prompt gives, without the package's own parser. They must be enough to answer it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.question import Question, by_key

SEEDS = range(100)
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "million": 1e6, "billion": 1e9, "trillion": 1e12}
# A number that is no part of a name such as "v5p", "LLaMA-2-13B" or "bf16", perhaps with a prefix and a unit.
_NUMBER = re.compile(
    r"(?<![\w.,:-])(\d[\d,]*(?:\.\d+)?)(?![\w:])"
    r"(?: ([kMGTP]?)(?:FLOP/s|B/s|FLOP/B|FLOP|B)\b| (million|billion|trillion))?"
)


@functools.cache
def bank(seed: int | None) -> dict[str, Question]:
    """Return the questions of a seed by key."""
    return by_key(question_bank(seed))


def numbers(prompt: str) -> list[float]:
    """Return all numbers of a prompt in base units, in their order."""
    found = _NUMBER.finditer(prompt)
    return [float(one[1].replace(",", "")) * _SCALE[one[2] or one[3] or ""] for one in found]


def answers_by_prompt(key: str) -> dict[str, Any]:
    """Return the answer to each prompt that the question of this key has for some seed."""
    questions = [bank(seed)[key] for seed in SEEDS]
    found = {question.prompt: question.answer for question in questions}
    assert all(found[question.prompt] == question.answer for question in questions), "a prompt has one answer"
    return found


def variants(key: str, formula: Callable[..., float], least: int = 3) -> None:
    """Assert that a formula of a prompt's numbers gives the answer, for all of at least so many prompts."""
    found = answers_by_prompt(key)
    assert len(found) >= least
    for prompt, answer in found.items():
        assert abs(formula(*numbers(prompt)) / answer - 1) < 1e-9, (prompt, answer, numbers(prompt))
