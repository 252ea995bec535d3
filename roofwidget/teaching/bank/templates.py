"""Texts with placeholders: ``{n}``, ``{peak / 2:FLOP/s}``, ``{time:~s}``. Formats are those of `phrases`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from roofwidget.teaching.bank.arithmetic import Expression, Values
from roofwidget.teaching.bank.phrases import exact, short
from roofwidget.units import UNITS

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_INCLUDED: Final = re.compile(r"\{@([\w-]+)\}")
_FORMATTED: Final = re.compile(r"(.*?)(?::([^:'\"]*))?", re.DOTALL)
_SPEC: Final = re.compile(r",|(?:\.\d)?[fg]")
_MAX_INCLUDED: Final = 8


def expanded(text: str, texts: Mapping[str, str]) -> str:
    """Return a text in which ``{@name}`` is replaced by the text of this name.

    Raises
    ------
    ValueError
        If there is no text of this name, or texts that include each other.
    """
    for _ in range(_MAX_INCLUDED):
        if not _INCLUDED.search(text):
            return text
        text = _INCLUDED.sub(lambda found: _text(found[1], texts), text)
    raise ValueError(f"texts include each other more than {_MAX_INCLUDED} times: {text:.60}")


def _text(name: str, texts: Mapping[str, str]) -> str:
    if name not in texts:
        raise ValueError(f"there is no text '{name}'; give it under [texts]")
    return texts[name]


class Template:
    """A text whose placeholders are filled in for each draw.

    Examples
    --------
    >>> Template("{n} rows take {n / rate:~s} at {rate:B/s}.")({"n": 1000, "rate": 3e9})
    '1000 rows take 333.3 ns at 3 GB/s.'
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parts = _PLACEHOLDER.split(text)
        if any("{" in part or "}" in part for part in parts[::2]):
            raise ValueError(f"a brace has no partner in '{text:.60}'")
        self._literals = parts[::2]
        self._fields = [_field(part) for part in parts[1::2]]

    @property
    def expressions(self) -> list[Expression]:
        """The expressions of its placeholders."""
        return [expression for expression, _ in self._fields]

    def __call__(self, values: Values) -> str:
        """Return the text with the values."""
        found = [self._literals[0]]
        for (expression, form), literal in zip(self._fields, self._literals[1:], strict=True):
            found += (form(expression(values)), literal)
        return "".join(found)


def _field(inner: str) -> tuple[Expression, Callable[[Any], str]]:
    found = _FORMATTED.fullmatch(inner)
    spec = (found[2] if found else None) or ""
    return Expression(found[1] if found else inner), _form(spec)


def _form(spec: str) -> Callable[[Any], str]:
    """Return how a value is written: as it is, ``:B/s`` exactly, ``:~B/s`` with four digits, ``:.2f`` or ``:,``."""
    if spec == "":
        return lambda value: f"{value:g}" if isinstance(value, float) else str(value)
    if spec in UNITS:
        return lambda value: exact(value, spec)
    if spec == "~" or spec[1:] in UNITS:
        return lambda value: short(value, spec[1:])
    if _SPEC.fullmatch(spec):
        return lambda value: format(value, spec)
    raise ValueError(f"':{spec}' is no format; write a unit such as ':FLOP/s', ':~s' for four digits, ':,' or ':.2f'")
