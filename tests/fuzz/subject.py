"""What the four kinds of fuzzed input have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import roofwidget as rw


@dataclass(frozen=True)
class Case:
    """One input.

    Parameters
    ----------
    what
        How it was made, in a few words.
    given
        The input.
    size
        Its size in bytes.
    """

    what: str
    given: Any
    size: int


@dataclass(frozen=True)
class Subject:
    """A kind of input.

    Parameters
    ----------
    title
        Its name in the table of results.
    draw
        Returns a case.
    use
        Does what a user does with the input, and checks what came of it. It raises what the user would see.
    documented
        The errors that the documentation names. A subclass counts, where it is listed here.
    """

    title: str
    draw: Callable[[Random], Case]
    use: Callable[[Case], None]
    documented: tuple[type[BaseException], ...]


def with_story(model: rw.RooflineModel) -> None:
    """Give a model a lesson of two steps with a question."""
    question = rw.Question(
        key="ridge", prompt="Where is the ridge?", answer=166.3, unit="FLOP/B", explanation="459/2.76"
    )
    rw.Story(model, [rw.Step("Look.", {"search": "a"}, question), rw.Step("The roof.", {"focus_chip": "v6e"})])
