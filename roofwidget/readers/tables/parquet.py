"""The columns of a Parquet file, by pyarrow or polars.

A column of one value takes a few bytes whatever its length, so the size of a file limits nothing. What the file has is
decoded in batches and counted, before anything of it is kept. No number of the file's metadata is trusted.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

from roofwidget.kernels.arrow import Unread, columns_of_arrow, continues, dict_column_of_arrow
from roofwidget.kernels.dataframes import columns_of
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables.delimited import MAX_COLUMNS
from roofwidget.support.extras import install_command

_MAX_CELLS: Final = 50_000_000
"""A million launches with fifty columns. As numbers, these take 0.4 GB."""
_MAX_BYTES: Final = 2**30
"""Numbers, and different texts."""
_MAX_UNPACKED_BYTES: Final = 512 * 2**20
"""A Parquet file within a compressed file or an archive is unpacked into memory."""
_BATCH_CELLS: Final = 2**18
"""Numbers of a batch take 2 MiB."""


class _Batch(NamedTuple):
    rows: int
    size: int
    """In bytes, a text that is repeated counts once if the library stores it once."""


_File: TypeAlias = "_Arrow | _Polars"
"""A Parquet file, as a library reads it: the names of its columns, and those that are read, of numbers and of texts."""


def columns_of_parquet(source: Source) -> tuple[dict[str, Any], Mapping[bytes, bytes] | None]:
    """Return the columns of a Parquet file, and the metadata of its schema.

    Raises
    ------
    ImportError
        If neither pyarrow nor polars 1.8 is installed.
    ProfileError
        If the file is damaged, has a column twice, or has more than 50 million cells or 1 GiB of them.
    """
    library = _library()
    try:
        with _seekable(source) as stream:
            file = library(stream)
            _check_columns(source, file)
            _check_size(source, file)
            return file.columns(), file.metadata
    except ProfileError:
        raise
    except MemoryError:
        raise source.error("the Parquet file is damaged, or needs more memory than there is") from None
    except BaseException as error:
        # The errors of polars derive directly from Exception, its panics from BaseException.
        is_of_polars = type(error).__module__.split(".")[0] in {"polars", "pyo3_runtime"}
        if not isinstance(error, (OSError, ValueError, RuntimeError, KeyError)) and not is_of_polars:
            raise
        first = (str(error).splitlines() or [""])[0]
        raise source.error(f"the Parquet file is damaged: {first:.200}") from None


@contextmanager
def _seekable(source: Source) -> Iterator[BinaryIO]:
    """Give the decompressed stream; a stream that is not seekable is read into memory."""
    with source.open() as stream:
        if stream.seekable():
            yield stream
            return
        data = stream.read(_MAX_UNPACKED_BYTES + 1)
    if len(data) > _MAX_UNPACKED_BYTES:
        limit = f"{_MAX_UNPACKED_BYTES / 2**20:.0f} MiB"
        raise source.error(f"a compressed Parquet file of more than {limit}; decompress it first")
    yield io.BytesIO(data)


def _check_columns(source: Source, file: _File) -> None:
    names = file.names
    if len(names) > MAX_COLUMNS:
        raise source.error(f"a table of {len(names):,} columns; the limit is {MAX_COLUMNS:,}")
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise source.error(f"the table has column '{twice}' twice")
    if not file.read:
        raise source.error("a Parquet file without a column of numbers or texts")


def _check_size(source: Source, file: _File) -> None:
    """Decode the file once, and raise an error as soon as it has more than the limits."""
    width = len(file.names)
    cells = size = 0
    for batch in file.batches(max(_BATCH_CELLS // width, 1)):
        cells += batch.rows * width
        size += batch.size
        if cells > _MAX_CELLS or size > _MAX_BYTES:
            what = f"{_MAX_CELLS:,} cells" if cells > _MAX_CELLS else f"{_MAX_BYTES / 2**30:.0f} GiB of cells"
            raise source.error(f"a Parquet file of more than {what}; keep the columns and rows that are needed")


# -- pyarrow and polars --------------------------------------------------------------------------------------------


def _library() -> type[_File]:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 - optional
    except ImportError:
        try:
            import polars  # noqa: F401, PLC0415, ICN001 - optional; named as it is
        except ImportError:
            raise ImportError(f"reading Parquet needs pyarrow or polars: {install_command('parquet')}") from None
        return _Polars
    return _Arrow


class _Arrow:
    """A Parquet file read by pyarrow. Texts are read as dictionaries: each text of a batch once, and its codes."""

    def __init__(self, stream: BinaryIO) -> None:
        from pyarrow import parquet, types  # noqa: PLC0415 - optional

        file = parquet.ParquetFile(stream)
        leaves = [file.schema.column(at) for at in range(len(file.schema))]
        texts = [leaf.path for leaf in leaves if leaf.path == leaf.name and leaf.logical_type.type == "STRING"]
        self._file = parquet.ParquetFile(stream, metadata=file.metadata, read_dictionary=texts)
        self._types = {field.name: field.type for field in self._file.schema_arrow}
        self.names: list[str] = self._file.schema_arrow.names
        plain = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        self.read = [
            name
            for name, kind in self._types.items()
            if any(is_plain(kind) for is_plain in plain) or (types.is_dictionary(kind) and name in texts)
        ]
        self._texts = [name for name in self.read if types.is_dictionary(self._types[name])]
        # A name selects all columns whose names begin with it and a dot.
        paths = {leaf.path for leaf in leaves} - set(self.read)
        mixed = next((path for path in paths if any(path.startswith(f"{name}.") for name in self.read)), None)
        if mixed is not None:
            raise ValueError(f"column '{mixed}' is neither numbers nor texts, and begins like another column")

    def batches(self, rows: int) -> Iterator[_Batch]:
        known: dict[str, Any] = {}
        for batch in self._file.iter_batches(rows, columns=self.read, use_threads=False):
            repeated = 0
            for name in self._texts:
                texts = batch.column(name).dictionary
                if continues(texts, known.get(name)):
                    repeated += known[name].nbytes
                known[name] = texts
            yield _Batch(batch.num_rows, batch.nbytes - repeated)

    def columns(self) -> dict[str, Any]:
        numbers = self._file.read([name for name in self.read if name not in self._texts], use_threads=False)
        found = columns_of_arrow(numbers)
        for name in self._texts:
            batches = self._file.iter_batches(_BATCH_CELLS, columns=[name], use_threads=False)
            found[name] = dict_column_of_arrow(batch.column(name) for batch in batches).compact()
        counts = {len(column) for column in found.values()}
        if len(counts) > 1:
            raise ValueError("its columns have different numbers of rows")
        return {name: found.get(name, [Unread(kind)] * min(counts)) for name, kind in self._types.items()}

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        return self._file.schema_arrow.metadata  # type: ignore[no-any-return]  # pyarrow has no types


class _Polars:
    """A Parquet file read by polars."""

    def __init__(self, stream: BinaryIO) -> None:
        import polars  # noqa: PLC0415, ICN001 - optional; named as it is

        try:
            lazy = polars.scan_parquet(io.BytesIO(stream.read()))
            self._types = dict(lazy.collect_schema())
        except TypeError:
            raise ImportError("reading Parquet by polars needs polars 1.8 or newer: pip install -U polars") from None
        self.names = list(self._types)
        plain = (polars.Boolean, polars.String, polars.Categorical, polars.Enum, polars.Null)
        self.read = [
            name for name, kind in self._types.items() if kind.is_numeric() or any(kind == other for other in plain)
        ]
        self._lazy = lazy.select(self.read)

    def batches(self, rows: int) -> Iterator[_Batch]:
        at = 0
        while height := (part := self._lazy.slice(at, rows).collect()).height:
            yield _Batch(height, int(part.estimated_size()))
            at += height

    def columns(self) -> dict[str, Any]:
        table = self._lazy.collect()
        found = columns_of(table)
        return {name: found.get(name, [Unread(kind)] * table.height) for name, kind in self._types.items()}

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        """None: the functions of polars that read it differ between its versions."""
        return None
