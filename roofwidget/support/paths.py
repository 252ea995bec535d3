"""Checks paths that users give. The error messages are clearer than those of the operating system."""

from __future__ import annotations

import os
import re
from typing import Any, Final

from roofwidget.support.text_tables import without_surrogates

_URL: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_MAX_SHOWN_PATH: Final = 1000
_MAX_SHOWN_TEXT: Final = 60


def problem_of(given: str | os.PathLike[str]) -> str | None:
    r"""Return why a text cannot be the path of a file. If the text can be a path, return None.

    Examples
    --------
    >>> problem_of("runs/profile.json"), problem_of("a\0b")
    (None, 'a path cannot contain a NUL character')
    >>> problem_of("https://example.org/run.json")
    'a URL is not fetched: download the file first and give its path'
    """
    text = os.fsdecode(os.fspath(given))
    if not text.strip():
        return "the path is empty; '.' is the current folder"
    if "\0" in text:
        return "a path cannot contain a NUL character"
    if without_surrogates(text) != text and not _is_of_system(text):
        return "a path cannot contain half a character (a lone surrogate)"
    return None if _exists(text) else _problem_of_no_path(text)


def _is_of_system(text: str) -> bool:
    """Return whether the operating system can have a file of this name.

    A name with surrogates may be valid: if a file name has bytes that are not UTF-8, Python reads these bytes as
    surrogates.
    """
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _exists(text: str) -> bool:
    try:
        return os.path.lexists(text)
    except OSError:
        return False


def _problem_of_no_path(text: str) -> str | None:
    url = _URL.match(text)
    if url and url["scheme"].casefold() == "file":
        return f"a URL is not fetched: give the path alone, '{url['rest']}'"
    if url:
        return "a URL is not fetched: download the file first and give its path"
    if "\n" in text:
        return "this text is not a path; to read text itself, pass its bytes: text.encode()"
    return None


def shown(given: Any) -> str:
    r"""Return a path in one short line that can be printed.

    Examples
    --------
    >>> shown("runs/profile.json"), shown(""), shown("name,time\na,1\n")
    ('runs/profile.json', "''", "'name,time\\na,1\\n'")
    """
    text = without_surrogates(os.fsdecode(os.fspath(given)))
    is_plain = text.strip() and text.isprintable()
    most = _MAX_SHOWN_PATH if is_plain else _MAX_SHOWN_TEXT
    short = text if len(text) <= most else f"{text[:most]}…"
    return short if is_plain else repr(short)


def reason_of(error: OSError) -> str:
    """Return why a file or folder could not be read.

    Examples
    --------
    >>> reason_of(PermissionError(13, "Permission denied"))
    'it cannot be read: permission denied; change its permissions, or copy it to a place that you can read'
    """
    words = (error.strerror or str(error) or type(error).__name__).strip()
    what = f"it cannot be read: {words[:1].casefold()}{words[1:]}"
    if isinstance(error, PermissionError):
        return f"{what}; change its permissions, or copy it to a place that you can read"
    return what
