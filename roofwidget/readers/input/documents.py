"""JSON documents of profiles. Every error names the file, the line and the column."""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from roofwidget.readers.errors import ProfileError
from roofwidget.support import strict_json
from roofwidget.support.did_you_mean import listed

_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def has_open_string(text: str, position: int) -> bool:
    r"""Whether a JSON text ends within the string that begins at a position. False if no string begins there.

    Examples
    --------
    >>> has_open_string(r'{"a": "b\"', 6), has_open_string('{"a": "b"', 6), has_open_string("[1, 2", 1)
    (True, False, False)
    """
    return text[position : position + 1] == '"' and _STRING.match(text, position) is None


def parse(text: str, name: str) -> strict_json.Parsed:
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
    try:
        return strict_json.parse(text)
    except strict_json.JsonError as error:
        raise ProfileError(name, error.reason, place=error.place) from None


def refuse_constant(text: str, name: str) -> NoReturn:
    """Raise the error for the first ``NaN``, ``Infinity`` or ``-Infinity`` outside strings."""
    error = strict_json.first_constant(text)
    raise ProfileError(name, error.reason, place=error.place)


def value_at(document: object, *keys: str) -> Any:
    """Return the value under nested keys of a document; None if there is none.

    Examples
    --------
    >>> value_at({"a": {"b": 1}}, "a", "b"), value_at({"a": [1]}, "a", "b")
    (1, None)
    """
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def object_at(document: object, *keys: str) -> dict[str, Any]:
    """Return the object under nested keys; an empty one if there is none."""
    found = value_at(document, *keys)
    return found if isinstance(found, dict) else {}


def list_at(document: object, *keys: str) -> list[Any]:
    """Return the list under nested keys; an empty one if there is none."""
    found = value_at(document, *keys)
    return found if isinstance(found, list) else []


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
