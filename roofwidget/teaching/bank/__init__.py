"""A bank of exercises with numbers of their own for each student."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from roofwidget.teaching.bank import graphs as graphs
from roofwidget.teaching.bank.entries import Entry, packaged, read_file
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.question import Question, by_key

TOPICS: Final = ("ridges_and_sizes", "fusion", "serving", "links", "operators", "attention", "cpus")
"""The files of exercises, in the order in which a course would teach them."""
EXERCISES.extend(entry for topic in TOPICS for entry in packaged(topic))
EXERCISES.sort(key=lambda one: TOPICS.index(one.topic))


def package_entries() -> list[Entry]:
    """Return the exercises of the package that are data."""
    return [one for one in EXERCISES if isinstance(one, Entry)]


def question_bank(
    seed: int | None = None, *, files: Iterable[str | os.PathLike[str]] | None = None
) -> tuple[Question, ...]:
    """Return all questions of the bank, by topic.

    Parameters
    ----------
    seed
        A student's seed, from 0 to 2^48 - 1. The same seed gives the same questions. With None each question has the
        numbers that are printed in its source.
    files
        TOML files of questions of your own, in the place of those of the package.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If the seed is out of range, two questions have the same key, or an entry of a file is wrong. The message names
        the file, the line, the key and the field.

    Examples
    --------
    >>> first = question_bank()[0]
    >>> first.key, round(first.answer, 1), first.unit
    ('ridge-point', 166.3, 'FLOP/B')
    """
    exercises = EXERCISES if files is None else [entry for file in files for entry in read_file(file)]
    return tuple(by_key([one.question(seed) for one in exercises]).values())
