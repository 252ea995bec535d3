"""Files of answers that a class handed in: in folders and zip archives, of any name."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from roofwidget.export.answers import FORMAT
from roofwidget.state.lesson import attempts_by_key
from roofwidget.support import strict_json

_MAX_BYTES: Final = 2_000_000
"""The most bytes of a file of answers."""
_MAX_FILES: Final = 20_000
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
        The submission that it came with: what Moodle or Canvas put into its path, else its folder, else its own name.
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
        yield from _of_archive(inbox, "")
        return
    for path in sorted(inbox.rglob("*")):
        name = path.relative_to(inbox)
        if any(part.startswith((".", "__MACOSX")) for part in name.parts) or not path.is_file():
            continue
        if path.suffix.lower() == ".zip":
            yield from _of_archive(path, f"{name.as_posix()}/")
        elif path.suffix.lower() == ".json":
            with path.open("rb") as file:
                yield _read(name.as_posix(), file.read(_MAX_BYTES + 1))


def _of_archive(path: Path, prefix: str) -> Iterator[HandedIn]:
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                parts = entry.filename.split("/")
                if not entry.filename.lower().endswith(".json") or any(
                    part.startswith((".", "__MACOSX")) for part in parts
                ):
                    continue
                with archive.open(entry) as file:
                    data = file.read(_MAX_BYTES + 1)
                yield _read(f"{prefix}{entry.filename}", data)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(f"{path.name}: the archive cannot be read: {error}") from None


def _submission(name: str) -> str:
    """Return what the files of one submission have in common in their paths."""
    parts = name.split("/")
    named = ("".join(found.groups()) for part in parts for form in _SUBMISSIONS if (found := form.match(part)))
    folders = (part for part in parts[:-1] if not part.lower().endswith(".zip"))
    return next(named, next(folders, parts[0]))


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
    except (TypeError, ValueError) as error:
        return HandedIn(name, submission, {}, {}, str(error))
