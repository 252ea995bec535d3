"""Files of answers that a class handed in: in folders and zip archives, of any name."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from roofwidget.export.answers import FORMAT
from roofwidget.state.lesson import attempts_by_key
from roofwidget.support import strict_json

_MAX_BYTES: Final = 2_000_000
"""The most bytes of a file of answers."""
_MAX_FILES: Final = 20_000


@dataclass(frozen=True)
class HandedIn:
    """A file of answers.

    Attributes
    ----------
    name
        Its path within the inbox.
    time
        When the file was written, by the file system or the archive.
    record
        Its content; empty if it is damaged.
    answers
        All answers by key.
    fault
        Why the file is damaged, or "".
    """

    name: str
    time: float
    record: Mapping[str, Any]
    answers: Mapping[str, tuple[Any, ...]]
    fault: str = ""

    @property
    def id(self) -> str:
        """The id of the student, as the file says it."""
        return str(self.record.get("id", ""))


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
        return _read(path.name, path.stat().st_mtime, file.read(_MAX_BYTES + 1))


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
            yield replace(read_file(path), name=name.as_posix())


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
                time = datetime(*entry.date_time).timestamp()  # noqa: DTZ001 - zip archives have local times
                yield _read(f"{prefix}{entry.filename}", time, data)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(f"{path.name}: the archive cannot be read: {error}") from None


def _read(name: str, time: float, data: bytes) -> HandedIn:
    if len(data) > _MAX_BYTES:
        return HandedIn(name, time, {}, {}, f"more than {_MAX_BYTES:,} bytes")
    try:
        record = strict_json.parse(data.decode("utf-8-sig")).value
        if not isinstance(record, Mapping) or record.get("format") != FORMAT:
            return HandedIn(name, time, {}, {}, "no file of answers")
        if not isinstance(record.get("id"), str) or not isinstance(record.get("questions"), list):
            return HandedIn(name, time, {}, {}, "it has no id of a student: it is not from a page of the class")
        return HandedIn(name, time, record, attempts_by_key(record.get("answers")))
    except (TypeError, ValueError) as error:
        return HandedIn(name, time, {}, {}, str(error))
