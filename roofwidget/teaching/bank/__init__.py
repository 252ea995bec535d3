"""A bank of exercises with numbers of their own for each student."""

from __future__ import annotations

from typing import Final

from roofwidget.teaching.bank import attention, cpus, fusion, links, operators, ridges_and_sizes, serving
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.question import Question

TOPICS: Final = (ridges_and_sizes, fusion, serving, links, operators, attention, cpus)
"""The modules of exercises, in the order in which a course would teach them."""


def question_bank(seed: int | None = None) -> tuple[Question, ...]:
    """Return all questions of the bank, by topic.

    Parameters
    ----------
    seed
        A student's seed. The same seed gives the same questions. With None each question has the numbers that are
        printed in its source.

    Examples
    --------
    >>> first = question_bank()[0]
    >>> first.key, round(first.answer, 1), first.unit
    ('ridge-point', 166.3, 'FLOP/B')
    """
    order = {topic.__name__: place for place, topic in enumerate(TOPICS)}
    by_topic = sorted(EXERCISES, key=lambda one: order[one.make.__module__])
    return tuple(one.question(seed) for one in by_topic)
