"""`Question`: what a learner is asked, which answer is right, and the message for each answer.

The front end checks answers by the same rules (`js/src/roofline/answers.ts`): a page needs no Python.
"""

from __future__ import annotations

import hmac
import math
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from roofwidget import units
from roofwidget.analysis.bound import bound
from roofwidget.state.lesson import answer_text
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.text_tables import counted, one_line, without_surrogates
from roofwidget.support.unknowns import EqualWhereUnknown
from roofwidget.teaching.written import as_decimal, read_number
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.graph_record import from_record as graph_from_record
from roofwidget.workloads.graph_record import to_record as graph_to_record
from roofwidget.workloads.partition import Partition

Kind: TypeAlias = Literal["number", "choice", "drag", "merge"]
Target: TypeAlias = Literal["intensity", "rate", "bandwidth", "peak_flops"]

DEFAULT_TOLERANCE: Final = math.log2(1.05)
"""The distance on a logarithmic scale within which a typed number counts as right: a factor of 1.05."""
DRAG_TOLERANCE: Final = math.log2(1.2)
"""The distance on a logarithmic scale within which a dragged number counts as right: a factor of 1.2."""
UNIT_OF_TARGET: Final[Mapping[str, str]] = {
    "intensity": "FLOP/B",
    "rate": "FLOP/s",
    "bandwidth": "B/s",
    "peak_flops": "FLOP/s",
}
# Rounding may move a number that is exactly at the limit.
_ROUNDING: Final = 1e-9
# A band of the feedback says how far off an answer is, not by which factor.
_NEAR: Final = 2.0
_FAR: Final = 10.0
# An option that begins so only makes sense after the others.
SAID_LAST: Final = ("none of these", "cannot be said", "it cannot be said")
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LEVELS: Final = (1, 2, 3)
_MAX_LETTERS: Final = 40


def is_near(number: float, answer: float, tolerance: float) -> bool:
    """Return whether a number is within a tolerance |log2| of another one. A number at the limit is."""
    if answer <= 0 or number <= 0:
        return number == answer
    return abs(math.log2(number) - math.log2(answer)) <= tolerance + _ROUNDING


@dataclass(frozen=True, eq=False)
class Check(EqualWhereUnknown):
    """The verdict on one answer.

    Attributes
    ----------
    correct
        Whether the answer is right.
    message
        The message to the learner.
    factor
        For a number, the answer divided by the right answer. For a merge, the bytes that the partition moves, divided
        by the bytes that are needed. NaN if this is not defined.
    said
        What the message is: "right"; "invalid" for an answer that is no number, no option or no partition; the id of
        a wrong option; "listed" for one of `Question.wrong_answers`; "direction", "band" or "method" for another wrong
        number; "kernels", "tensor", "kernel", "bytes" or "time" for a merge; the id of the option for a vote.
    """

    __module__ = "roofwidget"

    correct: bool
    message: str
    factor: float = math.nan
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with an answer that a program can check.

    Parameters
    ----------
    key
        The name of the question and of its answer: letters, digits, dots, underscores and hyphens. It starts with a
        letter or a digit.
    prompt
        What is asked, as Markdown.
    answer
        The right answer. For "number" and "drag" a number in base units, or text such as ``"3.35 TB/s"``. For "choice"
        one of `options`. For "merge" the groups of a best partition, each a list of names of ops.
    kind
        "number": the learner types a number. "choice": the learner chooses one of `options`. "drag": the learner drags
        a marker along an axis, or a roof; see `on`. "merge": the learner merges the ops of `graph`. By default "merge"
        with a graph, "drag" with `on`, "choice" with options, and otherwise "number".
    unit
        The unit of a number: such as "FLOP/s", "GB/s" or "us", any other word, or "" for a plain number.
    tolerance
        The largest distance from the right answer, as the absolute value of log2(given / right). By default a typed
        number may be 5 % off, and a dragged number 20 %. Other answers have none.
    options
        For "choice": for each option, the text that a learner who chooses it gets. A wrong option must have a text.
    option_ids
        For "choice": the names of the options, in the order of `options`. They stay with their options in another order
        and in another language, and an answer may name them. By default "a1", "a2" and so on.
    wrong_answers
        For "number" and "drag": wrong answers that learners often give, such as the inverse, each with the text that a
        learner who gives it gets. Numbers in base units or texts with units. None of them may count as right.
    method
        For "number" and "drag": how the answer is computed, in words without numbers. A learner gets it after the third
        wrong answer.
    explanation
        The text that the learner gets after the right answer, as Markdown.
    on
        For "drag": "intensity" or "rate" for a marker on the chart, "bandwidth" or "peak_flops" for the roof of the
        focus chip.
    kernel
        For "drag" with "intensity" or "rate": the name of the kernel whose place is asked for. Its point is hidden
        until the learner has answered. Without it, the marker is a line across the chart.
    graph
        For "merge": the graph whose ops are merged. Every partition that moves as few bytes as `answer` is right. What
        a kernel computes again is not counted. The page refuses kernels that do not fit on its focus chip.
    chip
        For "merge": the key of a chip of the catalogue. Every partition that takes as little time on this chip as
        `answer` is right, whatever it moves. The page takes the time on its focus chip, from the data sheet.
    reading
        Whether the learner is to read the answer off the page. Otherwise the page hides the numbers of kernels and the
        sentences about them until the question is answered, except for questions whose answer is a partition or a rate
        of the roof.
    source
        Where the question or its numbers come from.
    difficulty
        1, 2 or 3.
    graded
        False for a vote: a choice that is not judged. The learner gets the text of the chosen option, then the
        explanation. `grade` leaves the question out. Until then the page also hides the graph.
    setup
        Arguments of `RooflineModel` that show what the question is about; see `roofwidget.ask`.
    params
        For a question of the bank: the numbers that a seed drew, by name.

    Raises
    ------
    TypeError, ValueError
        If the parts do not fit together. The message names the question and the part.

    Examples
    --------
    >>> ridge = Question(key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B")
    >>> ridge.check("166").correct, ridge.check(1663).message
    (True, 'Not yet: too large.')
    """

    __module__ = "roofwidget"

    key: str
    prompt: str
    answer: Any
    kind: str = ""
    unit: str = ""
    tolerance: float | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    option_ids: Sequence[str] = ()
    wrong_answers: Mapping[Any, str] = field(default_factory=dict)
    method: str = ""
    explanation: str = ""
    on: Target | None = None
    kernel: str | None = None
    graph: Graph | None = None
    chip: str | None = None
    reading: bool = False
    source: str = ""
    difficulty: int = 1
    graded: bool = True
    setup: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not _KEY.fullmatch(self.key):
            raise ValueError(
                f"a question's key has letters, digits, '.', '_' and '-', and starts with a letter or digit, "
                f"not {self.key!r:.60}"
            )
        for name in ("prompt", "unit", "method", "explanation", "source"):
            if not isinstance(text := getattr(self, name), str):
                raise TypeError(f"question '{self.key}': expected text for {name}, got {text!r:.60}")
        natural = "merge" if self.graph else "drag" if self.on else "choice" if self.options else "number"
        self._set("kind", self.kind or natural)
        if self.kind not in get_args(Kind):
            raise self._wrong(
                f"kind is {listed(get_args(Kind))}, not {self.kind!r}{did_you_mean(str(self.kind), get_args(Kind))}"
            )
        if self.kind != natural:
            raise self._wrong(f"its parts are those of kind '{natural}', not of '{self.kind}'")
        self._check_settings()
        self._check_options()
        checked = {"number": self._check_number, "drag": self._check_number, "choice": self._check_choices}
        checked.get(self.kind, self._check_groups)()
        self._check_wrong_answers()

    def _check_settings(self) -> None:
        for name in ("reading", "graded"):
            if not isinstance(value := getattr(self, name), bool):
                raise TypeError(f"question '{self.key}': expected True or False for {name}, got {value!r:.60}")
        if not self.graded and self.kind != "choice":
            raise self._wrong(f"a {self.kind} is graded: only a choice can be a vote")
        if self.chip is not None and self.kind != "merge":
            raise self._wrong(f"a {self.kind} has no chip")
        if self.difficulty not in _LEVELS:
            raise self._wrong(f"difficulty is 1, 2 or 3, not {self.difficulty!r}")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _wrong(self, what: str) -> ValueError:
        return ValueError(f"question '{self.key}': {what}")

    def _check_number(self) -> None:
        if self.kind == "drag":
            target = str(self.on)
            if target not in UNIT_OF_TARGET:
                hint = did_you_mean(target, UNIT_OF_TARGET)
                raise self._wrong(f"on is {listed(list(UNIT_OF_TARGET))}, not {self.on!r}{hint}")
            self._set("unit", UNIT_OF_TARGET[target])
        number = self.number(self.answer)
        if isinstance(number, str):
            raise self._wrong(f"answer: {number}")
        if self.kind == "drag" and not number > 0:
            raise self._wrong(f"the answer of a drag is above zero, not {number:g}")
        self._set("answer", number)
        if self.tolerance is None:
            self._set("tolerance", DRAG_TOLERANCE if self.kind == "drag" else DEFAULT_TOLERANCE)
        if not isinstance(self.tolerance, (int, float)) or not 0 <= self.tolerance <= 1:
            raise self._wrong(f"tolerance is |log2| from 0 to 1, not {self.tolerance!r}")

    def _check_options(self) -> None:
        if not isinstance(self.options, Mapping):
            raise TypeError(
                f"question '{self.key}': expected a mapping from options to texts for options, got {self.options!r:.60}"
            )
        if self.options and self.kind != "choice":
            raise self._wrong(f"a {self.kind} has no options")
        seen: dict[str, str] = {}
        for option, said in self.options.items():
            if not isinstance(option, str) or not isinstance(said, str):
                raise TypeError(f"question '{self.key}': an option and its text are text, not {option!r}: {said!r:.60}")
            # The page shows white space as one space, and a message cannot contain lone surrogates.
            look = " ".join(without_surrogates(option).split())
            if not look:
                raise self._wrong("an option is empty")
            if look in seen:
                raise self._wrong(f"two options look the same: {seen[look]!r} and {option!r}")
            seen[look] = option
        self._set("options", {without_surrogates(option): said for option, said in self.options.items()})
        if self.kind == "choice" and isinstance(self.answer, str):
            self._set("answer", without_surrogates(self.answer))
        self._check_option_ids()

    def _check_option_ids(self) -> None:
        count = len(self.options)
        ids = tuple(self.option_ids) or tuple(f"a{number}" for number in range(1, count + 1))
        if len(ids) != count or len({*ids, *self.options}) != 2 * count or not all(map(_is_key, ids)):
            raise self._wrong(
                f"option_ids has a name of its own for each of {count} options, of letters, digits, '.', '_' and '-', "
                f"not {list(ids)!r:.60}"
            )
        self._set("option_ids", ids)

    def _check_wrong_answers(self) -> None:
        if not isinstance(self.wrong_answers, Mapping):
            raise TypeError(
                f"question '{self.key}': expected a mapping from numbers to texts for wrong_answers, got "
                f"{self.wrong_answers!r:.60}"
            )
        if (self.wrong_answers or self.method) and self.kind not in ("number", "drag"):
            raise self._wrong(f"a {self.kind} has no wrong_answers and no method")
        found: dict[float, str] = {}
        for given, said in self.wrong_answers.items():
            number = self.number(given)
            if isinstance(number, str):
                raise self._wrong(f"wrong_answers: {number}")
            if not isinstance(said, str) or not said:
                raise self._wrong(f"the wrong answer {given!r:.60} has no text that says why it is wrong")
            if self._is_near(number, self.answer):
                raise self._wrong(f"the wrong answer {given!r:.60} counts as right")
            found.setdefault(number, said)
        self._set("wrong_answers", found)

    def _check_choices(self) -> None:
        if len(self.options) < 2:  # noqa: PLR2004 - a choice
            raise self._wrong("a choice has at least two options")
        if not isinstance(self.answer, str) or self.answer not in self.options:
            raise self._wrong(f"the answer {self.answer!r:.60} is none of its options: {listed(list(self.options))}")
        silent = [one for one, said in self.options.items() if not said and one != self.answer]
        if silent and self.graded:
            raise self._wrong(f"the option '{silent[0]}' has no text that says why it is wrong")

    def _check_groups(self) -> None:
        try:
            self._cost(self._partition(self.answer))
        except (LookupError, TypeError, ValueError) as error:
            raise self._wrong(f"answer: {error}") from None
        self._set("answer", tuple(tuple(group) for group in self.answer))

    def _partition(self, groups: Any) -> Partition:
        if self.graph is None:
            raise self._wrong("a merge has a graph")
        # The page refuses merges that its focus chip cannot run.
        return Partition.on_some_chip(self.graph, groups)

    def _cost(self, partition: Partition) -> float:
        """Return what a best partition has least of: seconds on the chip, or bytes."""
        if self.chip is not None:
            return partition.time(self.chip)
        return float(evaluate(partition.total_bytes(), partition.graph.environment()))

    def number(self, value: Any) -> float | str:
        """Return an answer as a number in base units, or a sentence that says why it is none."""
        if isinstance(value, str):
            try:
                # A number with a unit as the package writes it is read to the nearest double.
                number = units.parse(value, self.unit, "the answer") if self.unit in units.UNITS else math.nan
            except ValueError:
                number = math.nan
            if math.isnan(number):
                try:
                    number = read_number(value, self.unit)
                except ValueError as error:
                    return str(error)
        elif isinstance(value, bool) or not hasattr(value, "__float__"):
            return f"{_short(value)} is not a number"
        else:
            try:
                number = float(value)
            except (OverflowError, TypeError, ValueError):
                return f"{_short(value)} does not fit a double-precision number"
        return number if math.isfinite(number) else f"{number} is not a finite number"

    def shuffled(self, seed: int | None = None) -> Question:
        """Return the question with its options in an order that a seed and the key give.

        No place has the right option for all seeds. "None of these" and "Cannot be said" stay last. Answers and ids
        belong to options, so the order does not change what is right.
        """
        places = dict(zip(self.options, self.option_ids, strict=True))

        def place(option: str) -> tuple[bool, bytes]:
            text = f"{self.key}|{option}".encode()
            return option.casefold().startswith(SAID_LAST), hmac.digest(str(seed).encode(), text, "sha256")

        order = sorted(self.options, key=place)
        return replace(
            self,
            options={option: self.options[option] for option in order},
            option_ids=tuple(places[option] for option in order),
        )

    def check(self, value: Any, attempt: int = 1) -> Check:
        """Return whether an answer is right, and a message for the learner. Accepts any value.

        The message never has the factor between an answer and the right one, because that would give the answer away.

        Parameters
        ----------
        value
            For "number" and "drag" a number in base units, or text with a unit. For "choice" the text of an option, or
            its id. For "merge" a list of groups, each a list of names of ops. None if there is no answer.
        attempt
            Which answer of the learner this is, from 1. The message to the first wrong number says whether it is too
            large, that to the second one how far off it is, and later ones the method.
        """
        if value is None:
            return Check(correct=False, message="Not answered.")
        if self.kind == "choice":
            return self._check_choice(value)
        if self.kind == "merge":
            return self._check_merge(value, attempt)
        found = self._check_size(value, attempt)
        other = as_decimal(value) if isinstance(value, str) and not found.correct else ""
        if not other or found.said == "invalid":
            return found
        read = other.replace(".", "")
        return replace(found, message=f"{found.message} Read as {read}; for a decimal mark write {other}.")

    def _is_near(self, number: float, answer: float) -> bool:
        return is_near(number, answer, float(self.tolerance or 0))

    def _check_size(self, value: Any, attempt: int) -> Check:
        number = self.number(value)
        if isinstance(number, str):
            return Check(correct=False, message=f"{number[:1].upper()}{number[1:]}.", said="invalid")
        has_factor = self.answer > 0 and number > 0 and math.isfinite(number / self.answer)
        factor = number / self.answer if has_factor else math.nan
        if self._is_near(number, self.answer):
            return Check(correct=True, message="Right.", factor=factor, said="right")
        listed = min(self.wrong_answers, key=lambda wrong: abs(wrong - number), default=math.nan)
        if self._is_near(number, listed):
            return Check(correct=False, message=f"Not yet. {self.wrong_answers[listed]}", factor=factor, said="listed")
        if attempt > 2 and self.method:  # noqa: PLR2004 - after a direction and a band
            return Check(correct=False, message=f"Not yet. {self.method}", factor=factor, said="method")
        way = f"Not yet: too {'large' if number > self.answer else 'small'}"
        if attempt == 1 or not (self.answer > 0 and number > 0):
            return Check(correct=False, message=f"{way}.", factor=factor, said="direction")
        return Check(correct=False, message=f"{way}, {_band(number, self.answer)}", factor=factor, said="band")

    def _check_choice(self, value: Any) -> Check:
        ids = dict(zip(self.option_ids, self.options, strict=True))
        option = ids.get(value, value) if isinstance(value, str) else ""
        if option not in self.options:
            return Check(correct=False, message=f"{_short(value)} is none of the options.", said="invalid")
        correct, said = option == self.answer, self.options[option]
        chosen = next(name for name, text in ids.items() if text == option)
        if not self.graded:
            return Check(correct=True, message=said, said=chosen)
        return Check(
            correct,
            f"{'Right.' if correct else 'Not yet.'}{f' {said}' if said else ''}",
            said="right" if correct else chosen,
        )

    def _check_merge(self, value: Any, attempt: int) -> Check:
        try:
            given = self._partition(value)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            return Check(correct=False, message=f"This is no partition: {error}.", said="invalid")
        best = self._partition(self.answer)
        now, least = self._cost(given), self._cost(best)
        # Zero bytes are a cost like any other.
        factor = now / least if least else 1.0 if not now else math.inf
        if now <= least * (1 + _ROUNDING):
            return Check(correct=True, message="Right.", factor=factor, said="right")
        count, is_timed = counted(len(given.groups), "kernel"), self.chip is not None
        if attempt == 1:
            message, said = f"{count}. {'Less time is' if is_timed else 'Fewer bytes are'} possible.", "kernels"
        elif attempt == 2 and is_timed:  # noqa: PLR2004 - after the number of kernels
            message, said = f"{count}. '{self._slowest(given, best)}' is no kernel of the fastest partition.", "kernel"
        elif attempt == 2:  # noqa: PLR2004
            message, said = f"{count}. '{_largest_between(given, best)}' costs most bytes.", "tensor"
        else:
            unit, said = ("s", "time") if is_timed else ("B", "bytes")
            needed, taken = (units.format_quantity(one, unit, 4) for one in (least, now))
            message = f"{count} {'take' if is_timed else 'move'} {taken}. {needed} can be reached."
        return Check(correct=False, message=f"Not yet: {message}", factor=factor, said=said)

    def _slowest(self, given: Partition, best: Partition) -> str:
        """Return the slowest kernel of a partition that the best one does not have."""
        seconds = bound(given.kernels(chip=self.chip), str(self.chip)).time
        others = [at for at, group in enumerate(given.groups) if group not in best.groups]
        return " + ".join(given.groups[max(others, key=lambda at: float(seconds[at]))])

    @property
    def attempt(self) -> Any:
        """The right answer as `RooflineModel.answers` holds it."""
        return [list(group) for group in self.answer] if self.kind == "merge" else self.answer

    @property
    def answer_text(self) -> str:
        """The right answer as text, such as "166.3 FLOP/B"."""
        return answer_text(self.kind, self.answer, self.unit)

    def to_record(self) -> dict[str, Any]:
        """Return the question as JSON can hold it, without its setup."""
        return {
            "key": self.key,
            "kind": self.kind,
            "prompt": self.prompt,
            "answer": self.attempt,
            "unit": self.unit,
            "tolerance": self.tolerance,
            "options": [[one, said] for one, said in self.options.items()],
            "option_ids": list(self.option_ids),
            "wrong_answers": [[number, said] for number, said in self.wrong_answers.items()],
            "method": self.method,
            "explanation": self.explanation,
            "on": self.on,
            "kernel": self.kernel,
            "graph": None if self.graph is None else graph_to_record(self.graph),
            "chip": self.chip,
            "reading": self.reading,
            "source": self.source,
            "difficulty": self.difficulty,
            "graded": self.graded,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Question:
        """Return the question of a record.

        Raises
        ------
        TypeError, ValueError
            If the record is not that of a question.
        """
        parts = dict(record)
        for pairs in ("options", "wrong_answers"):
            parts[pairs] = dict(parts.get(pairs) or [])
        if parts.get("graph") is not None:
            parts["graph"] = graph_from_record(parts["graph"])
        return cls(**parts)


def _is_key(text: object) -> bool:
    return isinstance(text, str) and _KEY.fullmatch(text) is not None


def _band(number: float, answer: float) -> str:
    """Return how far a wrong number is from the answer, without the factor."""
    distance = abs(math.log2(number) - math.log2(answer))
    if distance <= math.log2(_NEAR) + _ROUNDING:
        return f"within a factor of {_NEAR:g}."
    if distance <= math.log2(_FAR) + _ROUNDING:
        return f"{_NEAR:g} to {_FAR:g} times off: a factor such as 2, or the bytes of a number."
    return f"more than {_FAR:g} times off: look at the prefixes."


def _largest_between(given: Partition, best: Partition) -> str:
    """Return the largest tensor that kernels of a partition hand on, and that stays on chip in the best partition."""
    graph, values = given.graph, given.graph.environment()

    def handed_on(partition: Partition) -> dict[str, int]:
        place = {op: at for at, group in enumerate(partition.groups) for op in group}
        maker = {tensor.name: place[op.name] for op in graph.ops for tensor in op.outputs}
        read = {(tensor, place[op.name]) for op in graph.ops for tensor in op.inputs}
        return {
            tensor.name: evaluate(tensor.bytes, values)
            for tensor, reader in read
            if maker.get(tensor.name, reader) != reader
        }

    now, still = handed_on(given), handed_on(best)
    costs = {name: size for name, size in now.items() if name not in still} or now
    return max(sorted(costs), key=costs.__getitem__, default=graph.ops[0].inputs[0].name)


def _short(value: object) -> str:
    try:
        return one_line(reprlib.repr(value), _MAX_LETTERS)
    except ValueError:
        # Python does not write integers of several thousand digits.
        return "a very long number"


def by_key(questions: Sequence[Question]) -> dict[str, Question]:
    """Return questions by key. Raise `ValueError` if two have the same key."""
    found: dict[str, Question] = {}
    for question in questions:
        if question.key in found:
            raise ValueError(f"two questions have the key '{question.key}'; give one of them another key")
        found[question.key] = question
    return found
