"""Parse JSON strictly. Every error names line and column."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import NoReturn

from roofwidget.readers.errors import ProfileError
from roofwidget.support.did_you_mean import listed


@dataclass(frozen=True)
class Parsed:
    """A parsed document, and whether it contains ``NaN``, ``Infinity`` or ``-Infinity``."""

    value: object
    constant: bool


def parse(text: str, name: str) -> Parsed:
    """Return the parsed text.

    Raises
    ------
    ProfileError
        If the text is empty, not JSON or nested too deeply, or if an object has a key twice.

    Examples
    --------
    >>> parse('{"a": NaN}', "x.json").constant
    True
    """
    if not text.strip():
        raise ProfileError(name, "the file is empty")
    objects_read = 0
    constants: list[str] = []

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal objects_read
        objects_read += 1
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
            reason = f"the key {twice!r} is twice in the object that ends here"
            raise ProfileError(name, reason, place=_end_of_object(text, objects_read))
        return found

    def constant(word: str) -> float:
        constants.append(word)
        return float(word)

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        end = " (the file ends too early)" if error.pos >= len(text.rstrip()) else ""
        raise ProfileError(name, f"not JSON: {error.msg}{end}", place=place) from None
    except RecursionError:
        raise ProfileError(name, "nested too deeply") from None
    except ProfileError:
        raise
    except ValueError as error:
        # Python does not convert integers of thousands of digits.
        raise ProfileError(name, f"a number that cannot be read: {error}") from None
    return Parsed(value, bool(constants))


def refuse_constant(text: str, name: str) -> NoReturn:
    """Raise the error for the first ``NaN``, ``Infinity`` or ``-Infinity`` outside strings."""
    tokens = re.finditer(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN', text)
    found = next(token for token in tokens if not token.group().startswith('"'))
    raise ProfileError(name, f"{found.group()} is not JSON", place=_place(text, found.start()))


def described(document: object) -> str:
    """Return a short description of a parsed document.

    Examples
    --------
    >>> described({"a": 1}), described([[], 2])
    ("an object with the keys 'a'", 'a list of 2 values, the first an empty list')
    """
    if isinstance(document, dict):
        keys = listed(str(key)[:40] for key in list(document)[:4])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(document, list):
        return f"a list of {len(document)} values, the first {described(document[0])}" if document else "an empty list"
    return {str: "a text", bool: "a truth value", type(None): "null"}.get(type(document), "a number")


def _end_of_object(text: str, nth: int) -> str:
    """Return the place of the nth closing brace outside strings; the nth object that the parser finishes ends there."""
    braces = (m for m in re.finditer(r'"(?:[^"\\]|\\.)*"|\}', text) if m.group() == "}")
    end = next(m.start() for count, m in enumerate(braces, 1) if count == nth)
    return _place(text, end)


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
