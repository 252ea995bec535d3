"""Checks of arguments that public functions share. Each error names the argument, its value, and what to give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

_MAX_SHOWN_CHARACTERS = 60
_MAX_MESSAGE_CHARACTERS = 1000


def text_argument(value: Any, what: str) -> str:
    """Return the value if it is text. Otherwise raise a `TypeError` that begins with `what`."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be text, got {shown_value(value)}")
    return value


def number_argument(value: Any, what: str) -> Any:
    """Return the value if it is a number. Otherwise raise a `TypeError` that begins with `what`.

    Examples
    --------
    >>> number_argument("3.5in", "width in px")
    Traceback (most recent call last):
    TypeError: width in px must be a number, got '3.5in'
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number, got {shown_value(value)}")
    return value


def mapping_argument(value: Any, what: str, example: str) -> Mapping[Any, Any]:
    """Return the value if it is a mapping. Otherwise raise a `TypeError` that begins with `what`.

    Examples
    --------
    >>> mapping_argument("3 TB/s", "bandwidth", "{'HBM': '3 TB/s'}")
    Traceback (most recent call last):
    TypeError: bandwidth must be a mapping such as {'HBM': '3 TB/s'}, got '3 TB/s'
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping such as {example}, got {shown_value(value)}")
    return value


def list_argument(value: Any, what: str, example: str) -> list[Any]:
    """Return the elements of a list, an array or another iterable.

    If the value is a text, a mapping or not an iterable, this function raises a `TypeError` that begins with `what`.
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a list such as {example}, got {shown_value(value)}")
    return list(value)


def shown_value(value: Any) -> str:
    """Return a value as short text for an error message."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Python writes neither integers of several thousand digits nor what is nested too deeply.
        return f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[: _MAX_SHOWN_CHARACTERS - 1]}…"


def short_message(text: str) -> str:
    """Return the text of an error message, cut to 1,000 characters: names and values in files may be of any length.

    Examples
    --------
    >>> short_message("no key 'x'"), len(short_message("x" * 10**6))
    ("no key 'x'", 1000)
    """
    return text if len(text) <= _MAX_MESSAGE_CHARACTERS else f"{text[: _MAX_MESSAGE_CHARACTERS - 1]}…"
