"""On which line of a TOML text each key stands, which parsers of TOML do not tell."""

from __future__ import annotations

import bisect
import re
from typing import Final

from roofwidget.chips import toml

__all__ = ["line_of", "lines"]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
# The longest quotes first: they hold the shorter ones.
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_PLAIN: Final = re.compile(r"[^,\]}#\n]*")

Where = tuple["str | int", ...]


def lines(text: str) -> dict[Where, int]:
    r"""Return the line, counted from 1, of each key of a valid TOML text and of each element of its arrays.

    Examples
    --------
    >>> lines('# mine\n[[chips]]\nname = "x"\npeak_flops = { bf16 = 1e12 }')[("chips", 0, "peak_flops", "bf16")]
    4
    """
    return _Scan(text).found


def line_of(found: dict[Where, int], where: Where) -> int:
    """Return the line of a key, or of the nearest table around it that is there."""
    while where and where not in found:
        where = where[:-1]
    return found.get(where, 1)


class _Scan:
    """One pass over a text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Where, int] = {}
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.elements: dict[Where, int] = {}
        table: Where = ()
        self.skip(_BLANK)
        while self.at < len(text):
            if text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def note(self, where: Where, start: int) -> None:
        """Keep the first line on which a key or a table of this place stands."""
        line = bisect.bisect_left(self.ends, start) + 1
        for size in range(1, len(where) + 1):
            self.found.setdefault(where[:size], line)

    def header(self) -> Where:
        start = self.at
        is_element = self.text.startswith("[[", start)
        self.at += 2 if is_element else 1
        *outer, last = self.key()
        self.at += 2 if is_element else 1
        where: Where = ()
        for part in outer:
            where = self.into((*where, part))
        where = (*where, last)
        if is_element:
            self.elements[where] = self.elements.get(where, -1) + 1
        where = self.into(where)
        self.note(where, start)
        return where

    def into(self, where: Where) -> Where:
        """Step into the latest element where an array of tables stands."""
        return (*where, self.elements[where]) if where in self.elements else where

    def key(self) -> list[str]:
        parts = []
        while True:
            self.skip(_SPACE)
            quoted = self.text[self.at] in "\"'"
            part = self.skip(_STRING if quoted else _BARE)
            parts.append(str(toml.parse(f"text = {part}")["text"]) if quoted else part)
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def pair(self, table: Where) -> None:
        start = self.at
        where: Where = (*table, *self.key())
        self.note(where, start)
        self.at += 1
        self.skip(_SPACE)
        self.value(where)

    def value(self, where: Where) -> None:
        opening = self.text[self.at]
        if opening in "{[":
            self.many(where, opening)
        elif opening in "\"'":
            self.skip(_STRING)
        else:
            self.skip(_PLAIN)

    def many(self, where: Where, opening: str) -> None:
        """Read an inline table or an array to its end."""
        closing = "}" if opening == "{" else "]"
        self.at += 1
        count = 0
        self.skip(_BLANK)
        while self.text[self.at] != closing:
            if opening == "{":
                self.pair(where)
            else:
                self.note((*where, count), self.at)
                self.value((*where, count))
                count += 1
            self.skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
                self.skip(_BLANK)
        self.at += 1
