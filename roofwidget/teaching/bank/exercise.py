"""The list of exercises: makers of questions whose numbers are printed in a source, or drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, TypeAlias, TypeVar

from roofwidget.teaching.bank.slips import with_usual_slips
from roofwidget.teaching.question import Question

T = TypeVar("T")


class Draw:
    """Draws the numbers of an exercise.

    Parameters
    ----------
    seed
        A student's seed. With None every number is the printed one.
    key
        The key of the exercise, and of its question. Two exercises of one student draw independent numbers.

    Attributes
    ----------
    question
        Makes the question with this key.
    """

    def __init__(self, seed: int | None, key: str) -> None:
        self.question = partial(Question, key=key)
        self._random = None if seed is None else random.Random(f"{seed} {key}")  # noqa: S311 - not a secret

    def pick(self, printed: T, others: Sequence[T]) -> T:
        """Return the printed value, or with a seed one of `printed` and `others`."""
        return printed if self._random is None else self._random.choice([printed, *others])

    def instead(self, printed: T, others: Sequence[T]) -> T:
        """Return the printed value, or with a seed one of `others`, such as records of the catalogue."""
        return printed if self._random is None else self._random.choice(others)


Maker: TypeAlias = Callable[..., Question]
"""A function of a `Draw`, and of keywords that distinguish the exercises which it makes."""
M = TypeVar("M", bound=Maker)


@dataclass(frozen=True)
class Exercise:
    """An exercise of the bank, whose question depends on a seed."""

    key: str
    make: Maker
    fixed: Mapping[str, object]

    def question(self, seed: int | None) -> Question:
        """Return the question with the printed numbers, or with those of a seed.

        A source does not print the numbers of a seed: the question is then derived, after its source. An exercise that
        names another source for the drawn numbers keeps that source.
        """
        question = with_usual_slips(self.make(Draw(seed, self.key), **self.fixed).shuffled(seed))
        prompt, source = self._printed
        if question.prompt == prompt or question.source != source or "Derived" in question.source:
            return question
        return replace(question, source=f"Derived, after {question.source}")

    @cached_property
    def _printed(self) -> tuple[str, str]:
        """The prompt and the source of the question without a seed."""
        question = self.make(Draw(None, self.key), **self.fixed)
        return question.prompt, question.source


EXERCISES: Final[list[Exercise]] = []
"""All exercises, in the order in which they are defined."""


def exercise(key: str) -> Callable[[M], M]:
    """Return a decorator that adds a maker of questions to the bank. The maker gets a `Draw`."""
    return exercises({key: {}})


def exercises(fixed_by_key: Mapping[str, Mapping[str, object]]) -> Callable[[M], M]:
    """Return a decorator that adds an exercise for each key. The maker gets a `Draw` and the keywords of the key."""

    def add(make: M) -> M:
        EXERCISES.extend(Exercise(key, make, fixed) for key, fixed in fixed_by_key.items())
        return make

    return add
