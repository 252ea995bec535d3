"""Files of answers that a class handed in: in folders and zip archives, of any name."""

from __future__ import annotations

import io
import lzma
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

from roofwidget.export.answers import FORMAT
from roofwidget.state.lesson import attempts_by_key
from roofwidget.support import strict_json

_MAX_BYTES: Final = 2_000_000
"""The most bytes of a file of answers."""
_MAX_ARCHIVE_BYTES: Final = 10 * _MAX_BYTES
_MAX_NESTED: Final = 1
_MAX_FILES: Final = 20_000
OTHER: Final = "this is not the file that the page saves"
"""The fault of a file of another kind, such as the page itself."""
_DAMAGE: Final = (
    *(EOFError, OSError, RuntimeError, NotImplementedError, ValueError, struct.error),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)
# Moodle: a folder, or the begin of a file's name. Canvas: a name in small letters, the number of the user, then that of
# the file. Each number is that of Moodle's participant or of Canvas' user, so that no two students have the same.
_SUBMISSIONS: Final = (
    re.compile(r"(.+_[0-9]+)_assignsubmission_"),
    re.compile(r"([^_]+_)(?:LATE_)?([0-9]+)_[0-9]+_."),
)


@dataclass(frozen=True)
class HandedIn:
    """A file of answers.

    Attributes
    ----------
    name
        Its path within the inbox.
    submission
        The submission that it came with: what Moodle or Canvas put into its path, else its folders, else its own name.
    record
        Its content; empty if it is damaged.
    answers
        All answers by key.
    fault
        Why the file is damaged, or "".
    """

    name: str
    submission: str
    record: Mapping[str, Any]
    answers: Mapping[str, tuple[Any, ...]]
    fault: str = ""

    @property
    def id(self) -> str:
        """The id of the student, as the file says it."""
        return str(self.record.get("id", ""))

    @property
    def saved_at(self) -> float:
        """When the page saved it, as it says, in seconds since 1970; -inf if it does not say so."""
        try:
            return datetime.fromisoformat(str(self.record.get("saved_at"))).timestamp()
        except (ValueError, OverflowError, OSError):
            return -math.inf


def handed_in(inbox: Path) -> list[HandedIn]:
    """Return the files of answers in a folder or a zip archive.

    Raises
    ------
    OSError
        If the inbox cannot be read.
    ValueError
        If an archive is damaged, or there are too many files.
    """
    found = []
    for file in _files(inbox):
        found.append(file)
        if len(found) > _MAX_FILES:
            raise ValueError(f"{inbox.name}: has more than {_MAX_FILES:,} files; take the folder of one sheet")
    return found


def read_file(path: Path) -> HandedIn:
    """Return a file of answers. Raise `OSError` if it cannot be read."""
    with path.open("rb") as file:
        return _read(path.name, file.read(_MAX_BYTES + 1))


def _files(inbox: Path) -> Iterator[HandedIn]:
    if not inbox.is_dir():
        with inbox.open("rb") as file:
            try:
                yield from _of_archive(file, "", 1)
            except ValueError as error:
                raise ValueError(f"{inbox.name}: {error}") from None
        return
    for path in sorted(inbox.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                yield from _of_file(path.relative_to(inbox).as_posix(), file, 0)


def _of_file(name: str, file: IO[bytes], depth: int) -> Iterator[HandedIn]:
    """Yield the files of answers that a file is or has. `depth` counts the archives around it."""
    lower = name.lower()
    if any(part.startswith((".", "__MACOSX")) for part in name.split("/")):
        return
    try:
        if lower.endswith(".zip"):
            yield from _of_archive(_small(file, depth), f"{name}/", depth + 1)
            return
        data = file.read(_MAX_BYTES + 1) if lower.endswith((".json", ".txt")) else b""
    except _DAMAGE as error:
        yield HandedIn(name, _submission(name), {}, {}, str(error))
        return
    # Mail programs and browsers write "answers.json.txt".
    is_answers = lower.endswith(".json") or data.lstrip().startswith(b"{")
    yield _read(name, data) if is_answers else HandedIn(name, _submission(name), {}, {}, OTHER)


def _small(file: IO[bytes], depth: int) -> IO[bytes]:
    """Return an archive within an archive in memory, if it is small: it is that of one student."""
    if depth == 0:
        return file
    data = file.read(_MAX_ARCHIVE_BYTES + 1)
    if len(data) > _MAX_ARCHIVE_BYTES or depth > _MAX_NESTED:
        raise ValueError(f"an archive in an archive has up to {_MAX_ARCHIVE_BYTES:,} bytes and no archive in it")
    return io.BytesIO(data)


def _of_archive(file: IO[bytes], prefix: str, depth: int) -> Iterator[HandedIn]:
    try:
        archive = zipfile.ZipFile(file)
    except _DAMAGE as error:
        raise ValueError(f"the archive cannot be read: {error}") from None
    with archive:
        for entry in archive.infolist():
            path = f"{prefix}{entry.filename}"
            if entry.is_dir():
                continue
            try:
                member = archive.open(entry)
            except _DAMAGE as error:
                yield HandedIn(path, _submission(path), {}, {}, str(error))
                continue
            with member:
                yield from _of_file(path, member, depth)


def _submission(name: str) -> str:
    """Return what the files of one submission have in common in their paths."""
    parts = name.split("/")
    named = ("".join(found.groups()) for part in parts for form in _SUBMISSIONS if (found := form.match(part)))
    # All folders: whoever collects files by week or by group has those of many students in the first folder.
    folders = "/".join(part for part in parts[:-1] if not part.lower().endswith(".zip"))
    return next(named, folders or name)


def _read(name: str, data: bytes) -> HandedIn:
    submission = _submission(name)
    if len(data) > _MAX_BYTES:
        return HandedIn(name, submission, {}, {}, f"more than {_MAX_BYTES:,} bytes")
    try:
        record = strict_json.parse(data.decode("utf-8-sig")).value
        if not isinstance(record, Mapping) or record.get("format") != FORMAT:
            return HandedIn(name, submission, {}, {}, "no file of answers")
        if not isinstance(record.get("id"), str) or not isinstance(record.get("questions"), list):
            return HandedIn(name, submission, {}, {}, "it has no id of a student: it is not from a page of the class")
        return HandedIn(name, submission, record, attempts_by_key(record.get("answers")))
    except UnicodeDecodeError:
        return HandedIn(name, submission, {}, {}, "this is no UTF-8 text")
    except (TypeError, ValueError) as error:
        return HandedIn(name, submission, {}, {}, str(error))
