"""Columns of pandas, polars and Arrow tables, of Parquet files and of lists of dicts; none of these is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source

__all__ = ["columns_of", "is_frame", "parquet"]


def is_frame(given: object) -> bool:
    """Whether it is a data frame, an Arrow table or a mapping of columns."""
    if isinstance(given, Mapping):
        return bool(given) and all(_is_column(column) for column in given.values())
    return hasattr(given, "column_names") or (hasattr(given, "columns") and hasattr(given, "__getitem__"))


def _is_column(column: object) -> bool:
    return isinstance(column, (list, tuple, np.ndarray)) or hasattr(column, "to_list")


def columns_of(given: Any) -> dict[str, Sequence[Any]]:
    """Return the columns by name: arrays where they hold numbers, else lists."""
    if isinstance(given, (list, tuple)):
        names = dict.fromkeys(str(name) for record in given for name in record)
        return {name: [record.get(name) for record in given] for name in names}
    if isinstance(given, Mapping):
        return {str(name): _values(column) for name, column in given.items()}
    if hasattr(given, "column_names"):
        return {name: given.column(name).to_pylist() for name in given.column_names}
    found: dict[str, Sequence[Any]] = {}
    for name in given.columns:
        if str(name) in found:
            raise ProfileError(type(given).__name__, "two columns have this name", column=str(name))
        found[str(name)] = _values(given[name])
    return found


def _values(column: Any) -> Any:
    """Return a column's values: an array where all are numbers, as a list otherwise."""
    if isinstance(column, np.ndarray):
        return column if column.dtype.kind in "iufb" else column.tolist()
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return np.asarray(column)
    return column.to_list() if hasattr(column, "to_list") else list(column)


def parquet(source: Source) -> dict[str, Sequence[Any]]:
    """Return the columns of a Parquet file.

    Raises
    ------
    ImportError
        If neither pyarrow nor polars is installed.
    ProfileError
        If it is damaged.
    """
    read = _parquet_reader()
    try:
        with source.open() as stream:
            return columns_of(read(stream))
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise ProfileError(source.name, f"a damaged Parquet file: {first:.200}") from None
    except Exception as error:
        # What polars raises derives from Exception alone.
        if type(error).__module__.split(".")[0] != "polars":
            raise
        raise ProfileError(source.name, f"a damaged Parquet file: {error!s:.200}") from None


def _parquet_reader() -> Any:
    try:
        from pyarrow import parquet as arrow  # noqa: PLC0415 - optional
    except ImportError:
        try:
            import polars  # noqa: PLC0415, ICN001 - optional; named as it is
        except ImportError:
            msg = "reading Parquet needs pyarrow or polars: pip install 'roofwidget[parquet]'"
            raise ImportError(msg) from None
        return polars.read_parquet
    return arrow.read_table
