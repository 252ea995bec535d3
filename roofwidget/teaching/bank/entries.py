"""Questions that are data: entries of TOML files, with draws, values, texts and an answer as expressions."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from roofwidget.chips import toml
from roofwidget.kernels.kernel import Kernel
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.teaching.bank.arithmetic import Expression
from roofwidget.teaching.bank.counts import USABLE
from roofwidget.teaching.bank.draws import Drawn, MadeUp, catalogued, put, read_draw
from roofwidget.teaching.bank.exercise import Draw, finished
from roofwidget.teaching.bank.templates import Template, expanded
from roofwidget.teaching.question import DEFAULT_TOLERANCE, DRAG_TOLERANCE, UNIT_OF_TARGET, Question, is_near

MAX_DRAWS: Final = 200
"""How often an entry is drawn until its numbers fit its rules."""
NEAR_A_RIDGE: Final = math.log2(1.1)
"""No question asks which side of a limit a point is on if it is nearer to the limit than 10 %."""
_SAME: Final = 1e-9
_TEXTS: Final = "texts"
_SHARED: Final = "shared"
_PLAIN: Final = ("unit", "on", "kernel", "tolerance", "difficulty", "fixed")
_WRITTEN: Final = ("prompt", "explanation", "method", "source", "drawn_source", "why")
_TABLES: Final = ("draw", "value", "texts")
_LISTS: Final = ("require", "apart", "options", "wrong", "chips", "kernels")
FIELDS: Final = (*_WRITTEN, "answer", *_PLAIN, "fits", *_TABLES, *_LISTS, "like")


class EntryError(ValueError):
    """What is wrong with an entry: the message names the file, the line, the key and the field."""


@dataclass(frozen=True)
class Where:
    """A file, and the lines of its keys."""

    name: str
    lines: Mapping[toml.Path, int]

    def wrong(self, key: str, part: str, what: object) -> EntryError:
        """Return an error at a field of an entry."""
        line = toml.line_of(dict(self.lines), (key, *part.split(".")) if part else (key,))
        return EntryError(f"{self.name}, line {line}, [{key}]{f' {part}' if part else ''}: {what}")


@dataclass(frozen=True)
class Option:
    """An option of a choice, the condition under which it is right, and its texts for a right and a wrong choice."""

    text: Template
    right: Expression
    reason: Template
    why: Template


@dataclass(frozen=True)
class Parts:
    """The parts of an entry, read once."""

    draws: Mapping[str, Drawn]
    values: Mapping[str, Expression]
    texts: Mapping[str, Template]
    rules: Sequence[Expression]
    apart: Sequence[Expression]
    fits: Sequence[Expression]
    answer: Expression | None
    options: Sequence[Option]
    wrong: Sequence[tuple[Expression, Template]]
    chips: Sequence[Template]
    kernels: Sequence[tuple[Template, Expression, Expression]]


@dataclass(frozen=True)
class Entry:
    """An exercise that a file holds.

    Attributes
    ----------
    key, topic
        The key of its questions, and the name of its file without the ending.
    table
        Its fields as the file has them, with those that it shares.
    where
        The file.
    """

    key: str
    topic: str
    table: Mapping[str, Any]
    where: Where
    included: Mapping[str, str] = field(repr=False)

    @property
    def is_fixed(self) -> bool:
        """Whether many students have the same answer: a choice, a drag, or a question that the file calls fixed."""
        return any(self.table.get(name) for name in ("fixed", "options", "on"))

    @functools.cached_property
    def tolerance(self) -> float:
        """The distance |log2(given / right)| within which a number is right."""
        share = self.table.get("tolerance")
        return (DRAG_TOLERANCE if "on" in self.table else DEFAULT_TOLERANCE) if share is None else math.log2(1 + share)

    @functools.cached_property
    def parts(self) -> Parts:
        """Its parts, read and checked. Raises `EntryError`."""
        return _Reader(self).parts()

    def values(self, drawing: Draw) -> dict[str, Any]:
        """Return the values of a draw that fits the rules of the entry.

        Raises
        ------
        ValueError
            If none of `MAX_DRAWS` draws fits, or if an expression has no value.
        """
        is_given = drawing.is_printed or drawing.given is not None
        for drawn in range(1, MAX_DRAWS + 1):
            values = self._drawn(drawing)
            try:
                self._derive(values)
                if is_given or not any(self.broken(values)):
                    return values
            except ValueError:
                # A value may divide by what a rule keeps away from zero: such numbers fit as little as the rule's.
                if is_given or drawn == MAX_DRAWS:
                    raise
        raise self.where.wrong(
            self.key, "", f"none of {MAX_DRAWS} draws fits; widen the draws, or loosen {listed(list(self._rules))}"
        )

    def _drawn(self, drawing: Draw) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, drawn in self.parts.draws.items():
            if drawing.is_printed:
                value = drawn.first
            elif drawing.given is None:
                value, drawing.params[name] = drawn.draw(drawing)
            else:
                drawing.params[name] = drawing.given.get(name)
                value = drawn.restored(drawing.params[name])
            put(values, name, value)
        return values

    def _derive(self, values: dict[str, Any]) -> None:
        """Add to drawn values those that follow from them, and the answer."""
        for name, expression in self.parts.values.items():
            values[name] = expression(values)
        if self.parts.answer is not None:
            values["answer"] = self.parts.answer(values)

    @property
    def _rules(self) -> Iterator[str]:
        yield from (name for name in ("require", "apart", "fits", "wrong") if self.table.get(name))

    def broken(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the field and a sentence for each rule that values break."""
        parts = self.parts
        for rule in parts.rules:
            if not rule(values):
                yield "require", f"'{rule.text}' does not hold"
        for ratio in parts.apart:
            if abs(math.log2(ratio(values))) <= NEAR_A_RIDGE:
                yield "apart", f"'{ratio.text}' is within 10 % of 1"
        if parts.fits:
            held, capacity = (one(values) for one in parts.fits)
            if held > USABLE * capacity:
                yield "fits", f"{held:.4g} B are more than {USABLE:.0%} of {capacity:.4g} B"
        if parts.answer is not None:
            yield from self._broken_answer(values)

    def _broken_answer(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        answer = values["answer"]
        if not 0 < answer < math.inf:
            yield "answer", f"the answer is {answer}, not a finite number above zero"
            return
        for expression, _ in self.parts.wrong:
            if is_near(number := expression(values), answer, self.tolerance) and not _is_same(number, answer):
                yield "wrong", f"the wrong answer '{expression.text}' is within the tolerance of the right one"

    def question(self, seed: int | None, params: Mapping[str, Any] | None = None) -> Question:
        """Return the question with the printed numbers, with those of a seed, or with `params` of an earlier one."""
        drawing = Draw(seed, self.key, params)
        question = self._question(self.values(drawing), is_printed=drawing.is_printed)
        return finished(question, drawing, None if drawing.is_printed else self._printed)

    @functools.cached_property
    def _printed(self) -> Question:
        return self._question(self.values(Draw(None, self.key)), is_printed=True)

    def _question(self, values: dict[str, Any], *, is_printed: bool) -> Question:
        parts, table = self.parts, self.table
        options = self.options(values)
        answer: Any = next((text for text, right, _ in options if right), None)
        wrong: dict[float, str] = {}
        if parts.answer is not None:
            answer = values["answer"]
            for expression, said in parts.wrong:
                if not is_near(number := expression(values), answer, self.tolerance):
                    wrong.setdefault(number, said(values))
        texts: dict[str, Any] = {
            name: text(values) for name, text in parts.texts.items() if name not in ("why", "drawn_source")
        }
        if not is_printed and "drawn_source" in parts.texts:
            texts["source"] = parts.texts["drawn_source"](values)
        return Question(
            key=self.key,
            answer=answer,
            options={text: reason for text, _, reason in options},
            wrong_answers=wrong,
            tolerance=None if options else self.tolerance,
            setup=self._setup(values),
            **texts,
            **{name: table[name] for name in ("unit", "on", "kernel", "difficulty") if name in table},
        )

    def options(self, values: Mapping[str, Any]) -> list[tuple[str, bool, str]]:
        """Return each option, whether it is right, and its text for a learner who chooses it."""
        found = []
        for option in self.parts.options:
            right = bool(option.right(values))
            found.append((option.text(values), right, (option.why if right else option.reason)(values)))
        if found and sum(right for _, right, _ in found) != 1:
            said = listed([text for text, right, _ in found if right]) or "none"
            raise self.where.wrong(self.key, "options", f"one option is right, not {said}")
        return found

    def _setup(self, values: Mapping[str, Any]) -> dict[str, Any]:
        setup: dict[str, Any] = {}
        if "chips" in self.table:
            names = (name(values) for name in self.parts.chips)
            found = (values.get(f"{name}.") or catalogued(name) for name in names)
            setup["chips"] = [one.chip() if isinstance(one, MadeUp) else one for one in found]
        if self.parts.kernels:
            setup["kernels"] = [
                Kernel(name(values), flops(values), moved(values)) for name, flops, moved in self.parts.kernels
            ]
        return setup


def _is_same(number: float, answer: float) -> bool:
    return math.isclose(number, answer, rel_tol=_SAME)


class _Reader:
    """Reads the fields of an entry in their order, and checks that every name is known where it is used."""

    def __init__(self, entry: Entry) -> None:
        self.entry, self.table = entry, entry.table
        self.known: set[str] = set()

    def parts(self) -> Parts:
        for name in self.table:
            if name not in FIELDS:
                raise self._wrong(name, f"there is no such field{did_you_mean(name, FIELDS)}")
        draws = dict(self._draws())
        values = dict(self._values())
        options = list(self._options())
        if options and "answer" in self.table:
            raise self._wrong("answer", "a choice has options, and one of them is right; it has no answer")
        if not options and "answer" not in self.table:
            raise self._wrong("", "give an 'answer', an expression, or 'options'")
        answer = None if options else self._expression("answer", self.table["answer"])
        if answer:
            self.known.add("answer")
        texts = {name: self._template(name, text) for name in _WRITTEN if (text := self.table.get(name))}
        if "prompt" not in texts or "source" not in texts:
            raise self._wrong("", "an entry has a 'prompt' and a 'source', texts")
        if self.table.get("on") not in (None, *UNIT_OF_TARGET):
            raise self._wrong("on", f"'on' is {listed(list(UNIT_OF_TARGET))}")
        fits = self._list("fits")
        if len(fits) not in (0, 2):
            raise self._wrong("fits", "'fits' has the bytes that are held, and the capacity: two expressions")
        return Parts(
            draws,
            values,
            texts,
            self._list("require"),
            self._list("apart"),
            fits,
            answer,
            options,
            list(self._wrong_answers()),
            [self._template("chips", name) for name in self._of("chips", list)],
            list(self._kernels()),
        )

    def _wrong(self, part: str, what: object) -> EntryError:
        return self.entry.where.wrong(self.entry.key, part, what)

    def _of(self, name: str, kind: type) -> Any:
        value = self.table.get(name, kind())
        if not isinstance(value, kind):
            raise self._wrong(name, f"'{name}' is a {'table' if kind is dict else 'list'}, not {value!r:.40}")
        return value

    def _draws(self) -> Iterator[tuple[str, Drawn]]:
        for name, table in self._of("draw", dict).items():
            try:
                drawn = read_draw(table)
            except ValueError as error:
                raise self._wrong(f"draw.{name}", error) from None
            values: dict[str, Any] = {}
            put(values, name, drawn.first)
            self.known |= values.keys()
            yield name, drawn

    def _values(self) -> Iterator[tuple[str, Expression]]:
        """Yield the values, each after those that it needs."""
        waiting = self._of("value", dict)
        while waiting:
            ready = {name: one for name, one in waiting.items() if not self._read(name, one).names & waiting.keys()}
            # If none is ready, the values need each other: the first one names what it does not find.
            for name in ready or waiting:
                yield name, self._expression(f"value.{name}", waiting[name])
            self.known.update(ready)
            waiting = {name: one for name, one in waiting.items() if name not in ready}

    def _read(self, name: str, text: Any) -> Expression:
        try:
            return Expression(text if isinstance(text, str) else str(text))
        except ValueError as error:
            raise self._wrong(f"value.{name}", error) from None

    def _expression(self, part: str, text: Any) -> Expression:
        try:
            found = Expression(text if isinstance(text, str) else str(text))
            found.check_names(self.known)
        except ValueError as error:
            raise self._wrong(part, error) from None
        return found

    def _template(self, part: str, text: Any) -> Template:
        if not isinstance(text, str):
            raise self._wrong(part, f"this is a text, not {text!r:.40}")
        try:
            whole = expanded(text, {**self.entry.included, **self._of("texts", dict)})
            found = Template(" ".join(whole.split()))
            for expression in found.expressions:
                expression.check_names(self.known)
        except ValueError as error:
            raise self._wrong(part, error) from None
        return found

    def _list(self, name: str) -> list[Expression]:
        return [self._expression(name, text) for text in self._of(name, list)]

    def _options(self) -> Iterator[Option]:
        for at, one in enumerate(self._of("options", list)):
            if not isinstance(one, dict) or not {"text", "reason", "right", "why"} >= one.keys() >= {"text"}:
                raise self._wrong("options", f"option {at + 1} is a table with 'text', 'reason' and perhaps 'right'")
            reason = one.get("reason", "")
            right = one.get("right", False)
            condition = right if isinstance(right, str) else str(bool(right))
            texts = (one["text"], reason, one.get("why", self.table.get("why", reason)))
            text, said, why = (self._template("options", text) for text in texts)
            yield Option(text, self._expression("options", condition), said, why)

    def _wrong_answers(self) -> Iterator[tuple[Expression, Template]]:
        for one in self._of("wrong", list):
            if not isinstance(one, dict) or one.keys() != {"answer", "text"}:
                raise self._wrong("wrong", "a wrong answer is a table with 'answer', an expression, and 'text'")
            yield self._expression("wrong", one["answer"]), self._template("wrong", one["text"])

    def _kernels(self) -> Iterator[tuple[Template, Expression, Expression]]:
        for one in self._of("kernels", list):
            if not isinstance(one, dict) or one.keys() != {"name", "flops", "bytes"}:
                raise self._wrong("kernels", "a kernel is a table with 'name', 'flops' and 'bytes'")
            yield (
                self._template("kernels", one["name"]),
                self._expression("kernels", one["flops"]),
                self._expression("kernels", one["bytes"]),
            )


# -- files -------------------------------------------------------------------------------------------------------------


def packaged(topic: str) -> list[Entry]:
    """Return the entries of a topic of the package."""
    name = f"{topic}.toml"
    return _entries(toml.packaged(__file__, name), name)


def read_file(path: str | os.PathLike[str]) -> list[Entry]:
    """Return the entries of a file.

    Raises
    ------
    OSError
        If the file cannot be read.
    EntryError
        If it is no TOML, or an entry is no table. The parts of entries are checked when they are used.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise EntryError(f"{Path(path).name}: this is no UTF-8 text; save the file as UTF-8") from None
    return _entries(text, Path(path).name)


@functools.cache
def _package() -> Mapping[str, Any]:
    """Return the texts and the shared fields that every file can use."""
    return toml.parse(toml.packaged(__file__, "shared.toml"))


def _entries(text: str, name: str) -> list[Entry]:
    try:
        content = toml.parse(text)
    except ValueError as error:
        raise EntryError(f"{name}: {error}") from None
    where = Where(name, toml.line_numbers(text))
    included = {**_package()[_TEXTS], **content.pop(_TEXTS, {})}
    shared = content.pop(_SHARED, {})
    return [_entry(key, table, shared, where, included) for key, table in content.items()]


def _entry(key: str, table: Any, shared: Mapping[str, Any], where: Where, included: Mapping[str, str]) -> Entry:
    if not isinstance(table, dict):
        raise where.wrong(key, "", "an entry is a table with a 'prompt'; texts that entries share are under [texts]")
    return Entry(key, where.name.removesuffix(".toml"), _merged(key, table, shared, where), where, included)


def _merged(key: str, table: dict[str, Any], shared: Mapping[str, Any], where: Where) -> dict[str, Any]:
    """Return an entry with the fields that it shares. Tables and rules are joined, other fields replace."""
    names = table.get("like", [])
    merged: dict[str, Any] = {}
    for name in [names] if isinstance(names, str) else names:
        if name not in shared:
            raise where.wrong(key, "like", f"there is no [shared.{name}]{did_you_mean(str(name), shared)}")
        _join(merged, _merged(key, shared[name], shared, where))
    return _join(merged, table)


def _join(merged: dict[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    # A value takes the place of a draw that was shared, and the other way round.
    for own, other in (("value", "draw"), ("draw", "value")):
        for name in table.get(own, ()):
            merged.get(other, {}).pop(name, None)
    for name, value in table.items():
        if name in _TABLES and isinstance(value, dict):
            merged[name] = {**merged.get(name, {}), **value}
        elif name in ("require", "apart") and isinstance(value, list):
            merged[name] = [*merged.get(name, []), *value]
        else:
            merged[name] = value
    return merged
