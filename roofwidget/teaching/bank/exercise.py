"""The list of exercises, and how numbers follow from a seed."""

from __future__ import annotations

import hmac
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from roofwidget.teaching.bank.slips import with_usual_slips
from roofwidget.teaching.question import Question

T = TypeVar("T")

BANK_VERSION: Final = 2
"""Part of what every draw follows from. A change of the draws of any exercise needs the next number."""
_SEED_BYTES: Final = 6
_DRAWN_BYTES: Final = 8


def draw(seed: int, key: str, index: int) -> float:
    """Return a number from 0 up to 1: the first 8 bytes of an HMAC-SHA256, big-endian, over 2^64.

    Parameters
    ----------
    seed
        From 0 to 2^48 - 1. As 6 bytes, big-endian, it is the key of the HMAC.
    key, index
        The key of the exercise, and which of its draws this is, from 0. With `BANK_VERSION` they are the message.

    Examples
    --------
    >>> draw(7, "ridge-point", 0) == draw(7, "ridge-point", 0) != draw(8, "ridge-point", 0)
    True
    """
    message = f"{BANK_VERSION}|{key}|{index}".encode()
    digest = hmac.digest(seed.to_bytes(_SEED_BYTES, "big"), message, "sha256")
    return int.from_bytes(digest[:_DRAWN_BYTES], "big") / float(1 << 8 * _DRAWN_BYTES)


class Draw:
    """Draws the numbers of an exercise, one after the other.

    Parameters
    ----------
    seed
        A student's seed. With None every number is the printed one.
    key
        The key of the exercise. Two exercises of one student draw independent numbers.
    params
        What was drawn before, by name: it is taken instead of drawing again.

    Attributes
    ----------
    params
        What was drawn, by name, as JSON can hold it.

    Raises
    ------
    ValueError
        If the seed is not from 0 to 2^48 - 1.
    """

    def __init__(self, seed: int | None, key: str, params: Mapping[str, Any] | None = None) -> None:
        seed = None if seed is None else operator.index(seed)
        if seed is not None and not 0 <= seed < 1 << 8 * _SEED_BYTES:
            raise ValueError(f"a seed is a whole number from 0 to 2^{8 * _SEED_BYTES} - 1, not {seed}")
        self.seed, self.key, self.given = seed, key, params
        self.params: dict[str, Any] = {}
        self._index = 0

    @property
    def is_printed(self) -> bool:
        """Whether every number is the printed one."""
        return self.seed is None and self.given is None

    def number(self) -> float:
        """Return the next number from 0 up to 1."""
        self._index += 1
        return draw(self.seed or 0, self.key, self._index - 1)

    def pick(self, name: str, printed: T, others: Sequence[T], *, also_printed: bool = True) -> T:
        """Return the printed value, or one of `others` and, unless told otherwise, the printed one."""
        if self.is_printed:
            return printed
        values = [printed, *others] if also_printed else list(others)
        place = int(self.number() * len(values)) if self.given is None else self.given.get(name)
        if not isinstance(place, int) or not 0 <= place < len(values):
            raise ValueError(f"'{self.key}': '{name}' is a place from 0 to {len(values) - 1}, not {place!r:.40}")
        self.params[name] = place
        return values[place]


class Exercise(Protocol):
    """An exercise of the bank, whose question depends on a seed.

    Attributes
    ----------
    key, topic
        The key of its questions, and the name of its topic.
    is_fixed
        Whether many students get the same answer: it asks for a concept, and is no question for marks.
    """

    @property
    def key(self) -> str: ...

    @property
    def topic(self) -> str: ...

    @property
    def is_fixed(self) -> bool: ...

    def question(self, seed: int | None, params: Mapping[str, Any] | None = None) -> Question:
        """Return the question with the printed numbers, with those of a seed, or with `params` of an earlier one."""


def finished(question: Question, drawing: Draw, printed: Question | None) -> Question:
    """Return a question with its options in the order of the seed, usual slips, its source and its drawn numbers.

    A source does not print the numbers of a seed: the question is then derived, after its source. An exercise that
    names another source for the drawn numbers keeps that source.
    """
    made = with_usual_slips(question.shuffled(drawing.seed) if question.options else question)
    source = made.source
    is_other = printed is not None and made.prompt != printed.prompt and source == printed.source
    if is_other and "Derived" not in source:
        source = f"Derived, after {source}"
    if source != made.source or drawing.params:
        made = replace(made, source=source, params=drawing.params)
    return made


Maker: TypeAlias = Callable[[Draw], Question]
M = TypeVar("M", bound=Maker)


@dataclass(frozen=True)
class CodedExercise:
    """An exercise that a function makes, because its question is about a graph. Its answer is one of few."""

    key: str
    topic: str
    make: Maker
    is_fixed: bool = True

    def question(self, seed: int | None, params: Mapping[str, Any] | None = None) -> Question:
        """Return the question; see `Exercise`."""
        drawing = Draw(seed, self.key, params)
        return finished(self.make(drawing), drawing, None if drawing.is_printed else self._printed)

    @cached_property
    def _printed(self) -> Question:
        return self.make(Draw(None, self.key))


EXERCISES: Final[list[Exercise]] = []
"""All exercises of the package."""


def exercise(key: str, topic: str) -> Callable[[M], M]:
    """Return a decorator that adds a maker of questions to the bank. The maker gets a `Draw`."""

    def add(make: M) -> M:
        EXERCISES.append(CodedExercise(key, topic, make))
        return make

    return add
