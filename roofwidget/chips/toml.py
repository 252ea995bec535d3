"""TOML: parse a text or a packaged file, and find the line of each key (which TOML parsers do not report)."""

from __future__ import annotations

import bisect
import re
import sys
from pathlib import Path as File
from typing import Any, Final, TypeAlias

Path: TypeAlias = tuple["str | int", ...]
"""The place of a value in nested dicts and lists: ``("memories", "HBM", "bandwidth")``."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
# The pattern tries triple quotes first, because a single quote would also match the first of three.
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'",
    re.DOTALL,
)
_BARE_VALUE: Final = re.compile(r"[^,\]}#\n]*")
_MAX_DEPTH: Final = 32
_KEY: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
# The time that a TOML parser needs for one dotted key grows with the square of its parts.
_DEEP_KEY: Final = re.compile(rf"(?:^|[\[{{,])[ \t]*{_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{_MAX_DEPTH}}}", re.MULTILINE)


def parse(text: str) -> dict[str, Any]:
    """Return the content of a TOML text; raises `ValueError` if it is not TOML, or nested too deeply."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - needed at the first look-up, not at import
    else:
        import tomli as tomllib  # noqa: PLC0415 - the same
    if (deep := _DEEP_KEY.search(text)) is not None:
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"nested more than {_MAX_DEPTH} levels deep (at line {line}, column 1)")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def packaged(module: str, name: str) -> str:
    """Return the text of the file `name` in the folder of a module, given the module's ``__file__``."""
    return File(module).with_name(name).read_text(encoding="utf-8")


def line_numbers(text: str) -> dict[Path, int]:
    r"""Return the line, counted from 1, of each key and each array element of a valid TOML text.

    Examples
    --------
    >>> line_numbers('[[chips]]\nname = "x"\npeak_flops = { bf16 = 1e12 }')[("chips", 0, "peak_flops", "bf16")]
    3
    """
    return _LineScanner(text).found


def line_of(found: dict[Path, int], where: Path) -> int:
    """Return the line of a key. For an absent key, return the line of the innermost existing table around the key."""
    while where and where not in found:
        where = where[:-1]
    return found.get(where, 1)


class _LineScanner:
    """Records the line of each key in one pass over a text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.elements: dict[Path, int] = {}
        table: Path = ()
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

    def note(self, where: Path, start: int) -> None:
        """Record the line of a key, and of each table around the key that has no recorded line yet."""
        if len(where) > _MAX_DEPTH:
            raise ValueError(f"nested more than {_MAX_DEPTH} levels deep")
        line = bisect.bisect_left(self.ends, start) + 1
        for size in range(1, len(where) + 1):
            self.found.setdefault(where[:size], line)

    def header(self) -> Path:
        start = self.at
        is_element = self.text.startswith("[[", start)
        self.at += 2 if is_element else 1
        *outer, last = self.key()
        self.at += 2 if is_element else 1
        where: Path = ()
        for part in outer:
            where = self.into((*where, part))
        where = (*where, last)
        if is_element:
            self.elements[where] = self.elements.get(where, -1) + 1
        where = self.into(where)
        self.note(where, start)
        return where

    def into(self, where: Path) -> Path:
        """Return the path `where`. If `where` names an array of tables, append the index of its last element."""
        return (*where, self.elements[where]) if where in self.elements else where

    def key(self) -> list[str]:
        parts = []
        while True:
            self.skip(_SPACE)
            quoted = self.text[self.at] in "\"'"
            part = self.skip(_STRING if quoted else _BARE_KEY)
            parts.append(str(parse(f"text = {part}")["text"]) if quoted else part)
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def pair(self, table: Path) -> None:
        start = self.at
        where: Path = (*table, *self.key())
        self.note(where, start)
        self.at += 1
        self.skip(_SPACE)
        self.value(where)

    def value(self, where: Path) -> None:
        opening = self.text[self.at]
        if opening in "{[":
            self.container(where, opening)
        elif opening in "\"'":
            self.skip(_STRING)
        else:
            self.skip(_BARE_VALUE)

    def container(self, where: Path, opening: str) -> None:
        """Scan an inline table or an array to its end."""
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
