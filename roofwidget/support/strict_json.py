"""Parse JSON strictly: an object that has a key twice is refused, and every error names line and column."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass


class JsonError(ValueError):
    """A text that is not strict JSON.

    Parameters
    ----------
    reason
        What is wrong.
    place
        Where, such as ``"line 3, column 14"``, or None.
    """

    def __init__(self, reason: str, place: str | None = None) -> None:
        super().__init__(reason if place is None else f"{place}: {reason}")
        self.reason = reason
        self.place = place


@dataclass(frozen=True)
class Parsed:
    """A parsed document, and whether it contains ``NaN``, ``Infinity`` or ``-Infinity``."""

    value: object
    constant: bool


def parse(text: str) -> Parsed:
    """Return the parsed text.

    Raises
    ------
    JsonError
        If the text is not JSON or nested too deeply, or if an object has a key twice.

    Examples
    --------
    >>> parse('{"a": NaN}').constant
    True
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    roofwidget.support.strict_json.JsonError: line 1, column 16: the key 'a' is twice in the object that ends here
    """
    objects_read = 0
    constants: list[str] = []

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal objects_read
        objects_read += 1
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
            raise JsonError(
                f"the key {twice!r} is twice in the object that ends here", _end_of_object(text, objects_read)
            )
        return found

    def constant(word: str) -> float:
        constants.append(word)
        return float(word)

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as error:
        end = " (the file ends too early)" if error.pos >= len(text.rstrip()) else ""
        raise JsonError(f"not JSON: {error.msg}{end}", f"line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except JsonError:
        raise
    except ValueError as error:
        # Python does not convert integers of thousands of digits.
        raise JsonError(f"a number that cannot be read: {error}") from None
    return Parsed(value, bool(constants))


def first_constant(text: str) -> JsonError:
    """Return the error for the first ``NaN``, ``Infinity`` or ``-Infinity`` outside strings."""
    tokens = re.finditer(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN', text)
    found = next(token for token in tokens if not token.group().startswith('"'))
    return JsonError(f"{found.group()} is not JSON", _place(text, found.start()))


def _end_of_object(text: str, nth: int) -> str:
    """Return the place of the nth closing brace outside strings; the nth object that the parser finishes ends there."""
    braces = (m for m in re.finditer(r'"(?:[^"\\]|\\.)*"|\}', text) if m.group() == "}")
    end = next(m.start() for count, m in enumerate(braces, 1) if count == nth)
    return _place(text, end)


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
