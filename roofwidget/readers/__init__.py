"""Profiles of other tools, read into `Kernels`. `read` finds the reader by what the file holds, not by its name."""

from __future__ import annotations

import inspect
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from roofwidget.readers import xprof
from roofwidget.readers.errors import ProfileError
from roofwidget.suggest import listed, unknown_keyword

if TYPE_CHECKING:
    from collections.abc import Callable

    from roofwidget.kernels import Kernels

__all__ = ["ProfileError", "read"]

# What each reader recognises, and how it reads it. All formats so far are JSON.
_READERS: Final[tuple[tuple[Callable[[object], bool], Callable[..., Kernels]], ...]] = (
    (xprof.recognises, xprof.read_roofline_model),
)
_EXPECTED: Final = "expected the JSON that XProf exports for its tool 'roofline_model'"


def read(path: str | os.PathLike[str], **options: Any) -> Kernels:
    """Read a profile into `Kernels`.

    Parameters
    ----------
    path
        The file. UTF-8, with or without a byte order mark.
    **options
        What the reader of this format takes. XProf's ``roofline_model``: ``infeed=True``, whether to take the rows
        that include infeed and outfeed operations.

    Returns
    -------
    Kernels
        The operations: FLOPs, bytes, seconds; with `chip`, `program`, `steps`, `warnings` and `source` as far as
        the format tells.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ProfileError
        If the file is a directory, not UTF-8, not JSON, of no known tool, or holds a bad value: the message names
        the file, the place and what was expected.
    TypeError
        If the reader has no such option: the message names the nearest one.

    Examples
    --------
    >>> read("/")
    Traceback (most recent call last):
    ...
    roofwidget.readers.errors.ProfileError: /: is a directory; expected a file
    """
    source = os.fspath(path)
    document = _load(source)
    for recognises, reader in _READERS:
        if recognises(document):
            _check_options(reader, options)
            return reader(document, source, **options)
    raise ProfileError(source, f"{_EXPECTED}, got {_described(document)}")


def _check_options(reader: Callable[..., Kernels], options: dict[str, Any]) -> None:
    known = [name for name, p in inspect.signature(reader).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for word in options:
        if word not in known:
            raise unknown_keyword("read", word, known)


def _load(source: str) -> object:
    path = Path(source)
    if path.is_dir():
        raise ProfileError(source, "is a directory; expected a file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProfileError(source, f"not UTF-8; {_EXPECTED}", place=f"byte {error.start + 1}") from None
    if not text.strip():
        raise ProfileError(source, f"the file is empty; {_EXPECTED}")
    return _parse(text, source)


def _parse(text: str, source: str) -> object:
    objects_read = 0

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal objects_read
        objects_read += 1
        found = dict(pairs)
        if len(found) < len(pairs):
            _refuse_duplicate([key for key, _ in pairs], _end_of_object(text, objects_read), source)
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        end = " (the file ends too early)" if error.pos >= len(text.rstrip()) else ""
        raise ProfileError(source, f"not JSON: {error.msg}{end}; {_EXPECTED}", place=place) from None
    except RecursionError:
        raise ProfileError(source, f"nested too deeply; {_EXPECTED}") from None
    except ProfileError:
        raise
    except ValueError as error:
        # Python refuses to convert integers of thousands of digits.
        raise ProfileError(source, f"a number that cannot be read: {error}") from None


def _refuse_duplicate(keys: list[str], place: str, source: str) -> NoReturn:
    twice = next(key for row, key in enumerate(keys) if key in keys[:row])
    raise ProfileError(source, f"the key {twice!r} occurs twice in the object that ends here", place=place)


def _end_of_object(text: str, nth: int) -> str:
    """Return the place of the nth closing brace outside strings: objects end in the order in which they are read."""
    braces = (m for m in re.finditer(r'"(?:[^"\\]|\\.)*"|\}', text) if m.group() == "}")
    end = next(m.start() for count, m in enumerate(braces, 1) if count == nth)
    return f"line {text.count(chr(10), 0, end) + 1}, column {end - text.rfind(chr(10), 0, end)}"


def _described(document: object) -> str:
    if isinstance(document, dict):
        keys = listed(str(key)[:40] for key in list(document)[:4])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(document, list):
        return f"a list of {len(document)} values, the first {_described(document[0])}" if document else "an empty list"
    return {str: "a text", bool: "a truth value", type(None): "null"}.get(type(document), "a number")
