"""SQLite databases as input: opened read-only, and only their ordinary tables are read."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source

_MAGIC: Final = b"SQLite format 3\0"
_MAX_BYTES: Final = 4 * 2**30
_MAX_ROWS: Final = 20_000_000
# A kernel's name is much shorter. A longer text is cut, so that a damaged cell cannot fill the memory.
_MAX_TEXT_CHARACTERS: Final = 2**16


def is_database(source: Source) -> bool:
    """Return whether the content is an SQLite database."""
    return not source.is_folder and source.head.startswith(_MAGIC)


class Database:
    """An open database.

    Parameters
    ----------
    name
        The database's name in messages.
    connection
        The connection.
    """

    def __init__(self, name: str, connection: sqlite3.Connection) -> None:
        self.name = name
        self._connection = connection
        self.tables: Mapping[str, Sequence[str]] = {
            table: [column for _, column, *_ in self._run(f"PRAGMA table_info({_quoted(table)})")]
            # A virtual table has no root page. Views and virtual tables are code that the file brings: they are not
            # used.
            for (table,) in self._run("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        }

    def error(self, reason: str) -> ProfileError:
        """Return the error for this database."""
        return ProfileError(self.name, reason)

    def rows(self, table: str, columns: Sequence[str], rest: str = "") -> Iterator[tuple[Any, ...]]:
        """Yield the cells of these columns row by row; texts are cut at 65,536 characters.

        Parameters
        ----------
        table
            A table that exists.
        columns
            Names of columns, or expressions that begin with a function's name and a parenthesis.
        rest
            The end of the statement, such as ``ORDER BY id``.

        Raises
        ------
        ProfileError
            If the table lacks a column, has too many rows, or is damaged.
        """
        there = {column.casefold() for column in self.tables[table]}
        missing = [column for column in columns if "(" not in column and column.casefold() not in there]
        if missing:
            raise self.error(f"the table '{table}' has no column '{missing[0]}'")
        cells = [column if "(" in column else _cell(column) for column in columns]
        statement = f"SELECT {', '.join(cells)} FROM {_quoted(table)} {rest}"  # noqa: S608 - names are quoted
        for number, row in enumerate(self._run(statement)):
            if number == _MAX_ROWS:
                raise self.error(f"the table '{table}' has more than {_MAX_ROWS:,} rows")
            yield row

    def _run(self, statement: str) -> Iterator[tuple[Any, ...]]:
        try:
            with closing(self._connection.execute(statement)) as cursor:
                yield from cursor
        except (sqlite3.Error, OverflowError) as error:
            raise self.error(f"the database cannot be read: {error}") from None


@contextmanager
def opened(source: Source) -> Iterator[Database]:
    """Return a context with the database, opened read-only.

    Raises
    ------
    ProfileError
        If the database cannot be read.
    """
    with _file_of(source) as path:
        # Without a write-ahead log the file is complete. Then SQLite needs no lock, and makes no file beside it.
        has_log = path.with_name(f"{path.name}-wal").exists()
        address = f"{path.resolve().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"
        try:
            connection = sqlite3.connect(address, uri=True)
        except sqlite3.Error as error:
            raise source.error(f"the database cannot be opened: {error}") from None
        with closing(connection):
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            # The schema of a file must not call functions that have effects.
            connection.execute("PRAGMA trusted_schema = OFF")
            yield Database(source.name, connection)


def tables_of(source: Source) -> set[str]:
    """Return the names of a database's tables; none if the source is no database or cannot be read."""
    if not is_database(source):
        return set()
    try:
        with opened(source) as database:
            return set(database.tables)
    except ProfileError:
        return set()


def damage(source: Source) -> str | None:
    """Return why a database cannot be read, or None if its list of tables can be read."""
    try:
        with opened(source):
            return None
    except ProfileError as error:
        return error.reason


@contextmanager
def _file_of(source: Source) -> Iterator[Path]:
    """Return a context with a file that has the source's content. SQLite opens only files that are not compressed."""
    if source.path is not None:
        with source.path.open("rb") as stream:
            is_plain = stream.read(len(_MAGIC)) == _MAGIC
        if is_plain:
            yield source.path
            return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "profile.db")
        with path.open("wb") as stream:
            for piece in source.chunks(_MAX_BYTES):
                stream.write(piece)
        yield path


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(column: str) -> str:
    name = _quoted(column)
    text = f"WHEN 'text' THEN substr({name}, 1, {_MAX_TEXT_CHARACTERS})"
    return f"CASE typeof({name}) {text} WHEN 'blob' THEN NULL ELSE {name} END"
