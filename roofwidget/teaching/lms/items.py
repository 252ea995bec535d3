"""What all formats of learning management systems need of a question: its texts, and its answers as text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from roofwidget import units
from roofwidget.support.text_tables import without_surrogates
from roofwidget.teaching.question import SAID_LAST, Question

# Numbers between these limits stay in the unit of the question; others get the unit with a prefix.
_SMALLEST: Final = 1e-3
_LARGEST: Final = 1e6
# Enough for every tolerance that a person could hit; an exact answer keeps all digits of a double.
_DIGITS: Final = 6
_EXACT_DIGITS: Final = 15
_MIN_TOLERANCE: Final = 1e-4
# Answers that are asked for with more digits than that are exact: fractions or whole numbers.
_MOST_DIGITS: Final = 6
_ROUNDING: Final = 1e-9
# How the prompts of the bank ask for a drag.
_DRAG: Final = re.compile(r"Drag\s+the\s+[a-z]+(?:\s+[a-z]+)?\s+to\s+")
# XML 1.0 has no other characters.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Answer:
    """An answer of an item, right or wrong.

    Attributes
    ----------
    id
        Its name, unique in the item.
    text
        The text of an option, or a number in the unit of the item, with a decimal point and without an exponent.
    is_right
        Whether it is the right answer.
    said
        What a learner who gives it is told, as plain text.
    tolerance
        For a number: the largest distance from it, in the same unit; "" for an option.
    is_last
        Whether the option makes sense only after the others.
    """

    id: str
    text: str
    is_right: bool
    said: str
    tolerance: str = ""
    is_last: bool = False


@dataclass(frozen=True)
class Item:
    """A question as a learning management system can ask it.

    Attributes
    ----------
    key, number
        The key of the question, and which of its variants this is, from 1.
    prompt, explanation
        Texts as Markdown.
    method
        What a learner who gives another wrong number is told, as plain text; "" if nothing.
    answers
        For a choice the options, in their order. For a number the right one, then wrong ones that learners often give.
    is_choice
        Whether the learner chooses one of the answers. Else the learner types a number.
    unit
        The unit of the numbers.
    """

    key: str
    number: int
    prompt: str
    explanation: str
    method: str
    answers: tuple[Answer, ...]
    is_choice: bool
    unit: str = ""

    @property
    def name(self) -> str:
        """The name that a lecturer sees, such as "ridge-point 2"."""
        return f"{self.key} {self.number}"

    @property
    def ident(self) -> str:
        """A name for XML and for files: it starts with a letter."""
        return f"q-{self.key}-{self.number}"

    @property
    def right(self) -> Answer:
        """The right answer."""
        return next(answer for answer in self.answers if answer.is_right)

    @property
    def can_shuffle(self) -> bool:
        """Whether the options may be shown in any order."""
        return not any(answer.is_last for answer in self.answers)


def items(questions: Iterable[Question]) -> tuple[list[Item], list[str]]:
    """Return the items of questions by key, and a sentence for each kind of question that has none.

    Questions with the same key are variants. Of equal variants the first counts.
    """
    variants: dict[str, dict[tuple[str, str], Question]] = {}
    merges: dict[str, None] = {}
    for question in questions:
        if question.kind == "merge":
            merges[question.key] = None
        else:
            variants.setdefault(question.key, {}).setdefault((question.prompt, str(question.answer)), question)
    found = [
        _item(question, number)
        for equal in variants.values()
        for number, question in enumerate(equal.values(), start=1)
    ]
    skipped = [f"'{key}' merges operations, which these systems cannot ask: it is left out" for key in merges]
    return found, skipped


def by_key(found: Iterable[Item]) -> Mapping[str, list[Item]]:
    """Return the variants of each key."""
    variants: dict[str, list[Item]] = {}
    for item in found:
        variants.setdefault(item.key, []).append(item)
    return variants


def _item(question: Question, number: int) -> Item:
    is_choice = question.kind == "choice"
    prompt, answers = (
        (question.prompt, tuple(_options(question))) if is_choice else (_asked(question), tuple(_numbers(question)))
    )
    return Item(
        question.key,
        number,
        _clean(prompt),
        _clean(question.explanation),
        _clean(question.method),
        answers,
        is_choice,
        "" if is_choice else _scale(question)[1],
    )


def _options(question: Question) -> Iterator[Answer]:
    for ident, (option, said) in zip(question.option_ids, question.options.items(), strict=True):
        is_last = option.casefold().startswith(SAID_LAST)
        yield Answer(ident, _clean(option), option == question.answer, _clean(said), is_last=is_last)


def _numbers(question: Question) -> Iterator[Answer]:
    scale, _ = _scale(question)
    tolerance = float(question.tolerance or 0)
    digits = _DIGITS if tolerance > _MIN_TOLERANCE else _EXACT_DIGITS
    for at, (number, said) in enumerate({question.answer: "", **question.wrong_answers}.items()):
        # The same share above and below: systems have one tolerance, which is a difference.
        near = abs(number) * (2**tolerance - 1)
        if at > 0:
            # A system takes the first answer that is near enough, and the nearest is meant.
            others = (abs(number - other) / 2 for other in question.wrong_answers if other != number)
            near = min(near, *others, near)
        yield Answer(f"n{at}", decimal(number / scale, digits), at == 0, _clean(said), decimal(near / scale, 3))


def _asked(question: Question) -> str:
    """Return the prompt of a number with its unit, and without a drag."""
    _, unit = _scale(question)
    said = []
    prompt = question.prompt
    if question.kind == "drag":
        prompt, count = _DRAG.subn("Find ", prompt)
        said.append(f"Enter a number in {unit}{'' if count else ' instead of dragging'}.")
    elif unit and f" in {unit}" not in question.prompt:
        said.append(f"Enter a number in {unit}.")
    return " ".join([prompt, *said, *_digits_note(question)])


def with_digits(question: Question) -> Question:
    """Return a question that says how many digits its tolerance needs. A drag has none."""
    if question.kind != "number":
        return question
    return replace(question, prompt=" ".join([question.prompt, *_digits_note(question)]))


def _digits_note(question: Question) -> list[str]:
    """Return a note on how many digits an answer needs to count as right, if two are too few."""
    share = 2 ** float(question.tolerance or 0) - 1
    # Rounding to n digits moves a number by at most half of its last digit.
    digits = 1 + math.ceil(math.log10(0.5 / share) - _ROUNDING) if share > 0 else math.inf
    if digits > _MOST_DIGITS:
        return ["Give all digits."]
    return [f"Give {digits} digits."] if digits > 2 else []  # noqa: PLR2004 - see above


def _scale(question: Question) -> tuple[float, str]:
    """Return the unit in which the answer is a handy number, and how many units of the question it is."""
    unit, answer = question.unit, abs(question.answer)
    if unit not in units.UNITS or unit == "FLOP/B" or _SMALLEST <= answer < _LARGEST or answer == 0:
        return 1.0, unit
    prefixed = units.format_quantity(answer, unit).split(" ", 1)[1]
    return units.parse(f"1 {prefixed}", unit, "a unit"), prefixed


def decimal(value: float, digits: int) -> str:
    """Return a number with a decimal point and without an exponent.

    Examples
    --------
    >>> decimal(295.3731343, 6), decimal(0.0033855482567, 6), decimal(4187500.0, 6)
    ('295.373', '0.00338555', '4187500')
    """
    return f"{Decimal(f'{value:.{digits}g}'):f}"


def _clean(text: str) -> str:
    """Return text that every format can hold."""
    return _NO_XML.sub("\ufffd", without_surrogates(text)).strip()
