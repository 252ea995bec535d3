"""Arrow tables, by pyarrow: columns of tables and streams of any library, and `Kernels` as a table.

Columns are not copied row by row: numbers become arrays, and texts become dictionary-encoded columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip
from roofwidget.kernels.columns import DictColumn, frozen
from roofwidget.kernels.metadata import Activity, Communication
from roofwidget.support.extras import install_command

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

FACTS: Final = b"roofwidget"
"""The key in the metadata of a schema under which `to_arrow` writes what belongs to the whole table."""
_VERSION: Final = 1


class Unread:
    """A cell that is neither a number nor a text, and is not decoded."""

    def __init__(self, kind: object) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return f"a cell of type {self._kind}"


# -- columns of Arrow ----------------------------------------------------------------------------------------------


def is_stream(given: object) -> bool:
    """Return whether an object is a table that gives its columns to other libraries; a single column is none."""
    if hasattr(given, "__arrow_c_stream__"):
        return not hasattr(given, "dtype") and not hasattr(given, "chunks")
    return hasattr(given, "__dataframe__") or hasattr(given, "read_next_batch")


def table_of(given: Any) -> Any:
    """Return the table of an object that `is_stream`: a table of pyarrow, or of polars where only polars is installed.

    A reader of record batches is read to its end.

    Raises
    ------
    ImportError
        If pyarrow is not installed, and the object is no stream of Arrow or polars is not installed either.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
    except ImportError:
        return _table_of_polars(given)
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "read_all"):
        return given.read_all()
    if hasattr(given, "__arrow_c_stream__") or isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given]) if isinstance(given, pa.RecordBatch) else pa.table(given)
    from pyarrow import interchange  # noqa: PLC0415 - optional

    return interchange.from_dataframe(given)


def _table_of_polars(given: Any) -> Any:
    if hasattr(given, "__arrow_c_stream__"):
        try:
            import polars  # noqa: PLC0415, ICN001 - optional; named as it is
        except ImportError:
            pass
        else:
            return polars.DataFrame(given)
    raise ImportError(f"reading a {type(given).__name__} needs pyarrow: {install_command('parquet')}") from None


def metadata_of(table: Any) -> Mapping[bytes, bytes] | None:
    """Return the metadata of a table's schema; None for other objects."""
    return getattr(getattr(table, "schema", None), "metadata", None)


def columns_of_arrow(table: Any) -> dict[str, Any]:
    """Return the columns of a table of pyarrow by name; see `column_of_arrow`."""
    return {name: column_of_arrow(column) for name, column in zip(table.column_names, table.columns, strict=True)}


def column_of_arrow(column: Any) -> Any:
    """Return an array of pyarrow, chunked or not, as a column.

    Numbers are an array in which a missing number is NaN, and texts are a `DictColumn` in which a missing text is None.
    Truth values are an array, or a list if some are missing. Cells of other types, such as dates and lists, are
    `Unread`.
    """
    import pyarrow as pa  # noqa: PLC0415 - optional
    from pyarrow import types  # noqa: PLC0415 - optional

    column = column if hasattr(column, "chunks") else pa.chunked_array([column])
    kind = column.type
    if types.is_dictionary(kind) and not _is_text(kind.value_type):
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], kind.value_type)
        kind = kind.value_type
    if types.is_dictionary(kind) or _is_text(kind):
        return dict_column_of_arrow(column.chunks).compact()
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_boolean(kind):
        return column.to_pylist() if column.null_count else column.to_numpy()
    if types.is_decimal(kind):
        # A decimal is rounded once. pyarrow's own conversion multiplies it by a power of ten, which rounds again.
        column = column.cast(pa.string()).cast(pa.float64())
    elif not (types.is_integer(kind) or types.is_floating(kind)):
        return [Unread(kind)] * len(column)
    if column.null_count:
        column = column.cast(pa.float64(), safe=False).fill_null(np.nan)
    dtype = column.type.to_pandas_dtype()
    return np.concatenate([np.zeros(0, dtype=dtype), *(values_of(chunk, dtype) for chunk in column.chunks)])


def _is_text(kind: Any) -> bool:
    return str(kind) in {"string", "large_string", "string_view"}


def dict_column_of_arrow(chunks: Iterable[Any]) -> DictColumn:
    """Return arrays of texts, dictionary-encoded or not, as one dictionary-encoded column.

    Raises
    ------
    ValueError
        If the data is damaged: a row refers to a text that the column does not have.
    """
    code_of: dict[str | None, int] = {}
    known: Any = None
    place = np.zeros(0, dtype=np.int32)
    codes = [np.zeros(0, dtype=np.int32)]
    for chunk in map(_encoded, chunks):
        texts = chunk.dictionary
        if not continues(texts, known):
            known, place = texts[:0], place[:0]
        added = [code_of.setdefault(text, len(code_of)) for text in texts[len(known) :].to_pylist()]
        place, known = np.append(place, np.array(added, dtype=np.int32)), texts
        indices, place_here = chunk.indices.cast("int32"), place
        if indices.null_count:
            indices = indices.fill_null(len(place))
            place_here = np.append(place, np.int32(code_of.setdefault(None, len(code_of))))
        rows = values_of(indices, np.int32)
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(place_here):
            raise ValueError("a row refers to a text that the column does not have")
        codes.append(place_here[rows])
    return DictColumn(tuple(code_of), frozen(np.concatenate(codes)))


def values_of(chunk: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return the numbers of an array without missing values. `to_numpy` of pyarrow would import pandas."""
    data = chunk.buffers()[1]
    return np.frombuffer(data or b"", dtype=dtype)[chunk.offset : chunk.offset + len(chunk)]


def _encoded(chunk: Any) -> Any:
    from pyarrow import types  # noqa: PLC0415 - optional

    if types.is_dictionary(chunk.type):
        return chunk
    return (chunk.cast("string") if str(chunk.type) == "string_view" else chunk).dictionary_encode()


def continues(texts: Any, before: Any) -> bool:
    """Return whether a dictionary begins with that of the chunk before, as in a row group of several batches."""
    return before is not None and bool(texts[: len(before)].equals(before))


# -- kernels as a table of Arrow -----------------------------------------------------------------------------------


def to_table(kernels: Kernels, columns: Mapping[str, Any]) -> Any:
    """Return the columns of `kernels` as a table of pyarrow; see `Kernels.to_arrow`."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(f"an Arrow table needs pyarrow: {install_command('parquet')}") from None
    facts = {
        "version": _VERSION,
        "chip": kernels.chip and kernels.chip.to_dict(),
        "source": kernels.source,
        "fitting_chips": kernels.fitting_chips,
        "warnings": kernels.warnings,
        "series": kernels.series,
        "communication": kernels.communication and kernels.communication.to_dict(),
        "activity": kernels.activity and kernels.activity.to_dict(),
    }
    arrays = [_array(column) for column in columns.values()]
    schema = pa.schema(
        [pa.field(name, array.type) for name, array in zip(columns, arrays, strict=True)],
        metadata={FACTS: json.dumps(facts).encode()},
    )
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - optional

    if not isinstance(column, DictColumn):
        return pa.array(column, from_pandas=True)
    is_missing = np.array([value is None for value in column.values], dtype=np.bool_)
    texts = pa.array(["" if value is None else value for value in column.values], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(column.codes, mask=is_missing[column.codes]), texts)


def facts_of(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    """Return the arguments of `Kernels` that `to_table` wrote into the metadata of a schema; empty if it has none.

    Raises
    ------
    ValueError
        If the metadata is damaged.
    """
    written = (metadata or {}).get(FACTS)
    if written is None:
        return {}
    try:
        facts = json.loads(written)
        return {
            "chip": facts["chip"] and Chip.from_dict(facts["chip"]),
            "source": str(facts["source"]),
            "warnings": list(facts["warnings"]),
            "series": bool(facts["series"]),
            # Files of earlier versions lack them.
            "fitting_chips": list(facts.get("fitting_chips", ())),
            "communication": facts.get("communication") and Communication.from_dict(facts["communication"]),
            "activity": facts.get("activity") and Activity.from_dict(facts["activity"]),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the metadata of a table of kernels is damaged: {error}") from None
