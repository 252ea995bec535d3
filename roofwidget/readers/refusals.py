"""Errors for an input that no reader accepts, and for an input that does not have the format named by the user."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input import databases, documents
from roofwidget.readers.input.source import HEAD_BYTES, Source
from roofwidget.readers.tables.delimited import columns_seen
from roofwidget.readers.tables.tools import lacking_columns
from roofwidget.support.did_you_mean import listed

_SEE: Final = "docs/readers.md lists the formats"
_NO_PROFILE: Final = "which is not a profile of a known tool"
_SESSION: Final = b'"format": "roofwidget session"'
_LEADING: Final = "\ufeff \t\r\n"
_MAX_SHOWN_MEMBERS: Final = 4
_MAX_SHOWN_COLUMNS: Final = 12
_MAGIC: Final = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "an SQLite database",
    b"\x7fELF": "a program",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
    b"<svg": "an SVG picture",
}

# The mark of a tar archive, in its first header.
_TAR: Final = b"ustar"
_TAR_AT: Final = 257


def is_session(source: Source) -> bool:
    """Whether the source is a session of roofwidget. A session contains tables, but it is no profile."""
    return not source.is_folder and _SESSION in source.head


def of_unknown(source: Source) -> ProfileError:
    """Return the error for an input that no reader recognises.

    The error says what the input looks like and what to do.
    """
    place = None
    if is_session(source):
        return source.error("the file is a session of roofwidget: rw.load opens it")
    if source.is_folder:
        held = listed(list(source.members())[:_MAX_SHOWN_MEMBERS])
        what = (
            f"a folder with {held}, which is not one profile"
            if held
            else "an empty folder, not a profile of a known tool"
        )
        reason = f"{what}{read_many_hint(source) if held else ''}"
    elif not source.head.strip():
        reason = "the file is empty"
    elif databases.is_database(source):
        reason = databases.damage(source) or f"an SQLite database, {_NO_PROFILE}"
    elif source.head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        reason = "a tar archive, which is not opened: unpack it into a folder, or make a zip archive of its files"
    elif columns := columns_seen(source):
        reason = lacking_columns(columns)
    elif (look := _look(source)) is not None:
        reason = f"{look.text}, {_NO_PROFILE}"
    else:
        reason, place = _of_text(source)
    return source.error(f"{reason}; {_SEE}", place=place)


def of_another(source: Source, module: ModuleType, others: Sequence[ModuleType]) -> ProfileError | None:
    """Return the error for a file whose content is not of the named format.

    Return None if the content may be of this format.
    """
    if source.is_folder or module.recognises(source):
        return None
    other = next((one.FORMAT for one in others if one.recognises(source)), None)
    if other is not None:
        reason = f"the content is of format '{other}', not '{module.FORMAT}': leave out `format`"
        return source.error(reason)
    look = _look(source)
    if look is None and module.FORMAT != "table" and (columns := columns_seen(source)):
        look = _Look(f"a table with the columns {listed(list(columns)[:_MAX_SHOWN_COLUMNS])}")
    # If the named format is JSON too (its module says so), the reader's own error is more precise.
    if look is None or (look.is_json and getattr(module, "IS_JSON", False)):
        return None
    return source.error(f"{look.text}, not {module.EXPECTED}")


def of_printed(source: Source, what: str, tool: str, instead: str) -> ProfileError:
    """Return the error for pages or lines that a tool prints for people, and what to do instead."""
    return source.error(f"these are {what} that {tool} prints for people; {instead}; {_SEE}")


def read_many_hint(source: Source) -> str:
    """Return a hint for a folder whose files are separate profiles; an empty text for an archive."""
    is_folder = source.path is not None and source.path.is_dir()
    if not is_folder or all("/" in name for name in source.members()):
        return ""
    return f"; rw.read_many('{source.name.rstrip('/')}/*') reads each file on its own"


@dataclass(frozen=True)
class _Look:
    """What a file looks like, for messages, and whether it is JSON that nothing describes more precisely."""

    text: str
    is_json: bool = False


def _look(source: Source) -> _Look | None:
    """Return what the first bytes of a file or its JSON look like; None if the content is of no known kind."""
    head = source.head[:64].lstrip().lower()
    look = next((what for magic, what in _MAGIC.items() if head.startswith(magic.lower())), None)
    document = None if look else source.document()
    if document is None:
        return _Look(look) if look else None
    if isinstance(document, dict) and {"cells", "nbformat"} <= document.keys():
        return _Look("a notebook")
    return _Look(f"JSON, {documents.described(document)}", is_json=True)


def _of_text(source: Source) -> tuple[str, str | None]:
    """Return the reason and the place for the error. The input may be a text, or bytes that are not text."""
    # `_look` has tried to read the JSON.
    if source.damage is not None:
        return source.damage.reason, source.damage.place
    if (wrong := _first_undecodable_byte(source)) is not None:
        return f"not UTF-8, and {_NO_PROFILE.removeprefix('which is ')}", f"byte {wrong + 1}"
    return f"begins with {source.beginning.lstrip(_LEADING)[:40]!a}, {_NO_PROFILE}", None


def _first_undecodable_byte(source: Source) -> int | None:
    try:
        ends = len(source.head) < HEAD_BYTES
        codecs.getincrementaldecoder(source.encoding)().decode(source.head, final=ends)
    except UnicodeDecodeError as error:
        return error.start
    return None
