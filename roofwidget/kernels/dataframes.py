"""Converts kernels from and to data frames.

Data frames are those of pandas, any object that gives its columns by Arrow's PyCapsule interface or the interchange
protocol for data frames (polars, pyarrow, DuckDB, Ibis, cuDF …), and any object that has `columns` and returns a column
by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.kernels import arrow, column_meanings, columns, table_fields
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL, DictColumn, Floats

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_NEEDED: Final = ("name", "flops", "bytes")
_KEYED: Final = ("flops", "bytes", "origin")
# A column name with at least this similarity (difflib) to a field counts as misspelt: "categry" for "category".
_MISSPELT_SIMILARITY: Final = 0.7


class GivenColumns:
    """Columns whose values are already numbers or texts.

    Parameters
    ----------
    given
        The columns by name.
    how
        What the user writes to name a column, for messages.
    """

    skipped = 0
    keeps_empty = True
    states_own_fields = False

    def __init__(self, given: Mapping[str, Sequence[Any]], how: str = "use rw.read(frame, columns=") -> None:
        self._given = dict(given)
        self.names: Sequence[str] = list(given)
        self.how = how
        beside = {
            name: unit
            for name, unit in column_meanings.units_beside(self.names).items()
            if column_meanings.may_have_units(name)
        }
        for name, unit in beside.items():
            self._given[name] = column_meanings.with_units(self._texts(name), self._texts(unit))
        taken = column_meanings.take_units(self._given, self.names, _as_floats)
        self.in_cells = frozenset(taken)
        self.units = dict.fromkeys(beside, column_meanings.UNCLEAR) | taken

    def _texts(self, column: str) -> list[str]:
        values: Any = self._given[column]
        cells = values.texts() if isinstance(values, DictColumn) else values
        return ["" if cell is None or cell != cell else str(cell) for cell in cells]  # noqa: PLR0124 - NaN

    def numbers(self, column: str, *, truths: bool = False) -> Floats:
        values: Any = self._given[column]
        if isinstance(values, DictColumn):
            row = values.first_row(lambda text: text is not None)
            if row is not None:
                raise ValueError(f"row {row}, column '{column}': {values.at(row)!r:.60} is not a number")
            return np.full(len(values), np.nan)
        if isinstance(values, np.ndarray) and values.dtype.kind in ("iufb" if truths else "iuf"):
            return np.asarray(values, dtype=np.float64)
        return columns.float_cells([bool_as_number(value) for value in values] if truths else values, column)

    def words(self, column: str) -> DictColumn:
        values: Any = self._given[column]
        if isinstance(values, DictColumn):
            return values.map(lambda text: text or None)
        return columns.dict_encoded(columns.text_cells(values, column) or [])

    def refuse(self, row: int, column: str, reason: str) -> ValueError:
        return ValueError(f"row {row}, column '{column}': {reason}")


def _as_floats(cells: Sequence[str]) -> tuple[Floats, int | None]:
    try:
        return np.array(list(map(float, cells)), dtype=np.float64), None
    except ValueError:
        return np.full(len(cells), np.nan), 0


def is_frame(given: object) -> bool:
    """Whether `given` is a data frame, an Arrow table or a mapping of columns."""
    if isinstance(given, Mapping):
        return bool(given) and all(_is_column(column) for column in given.values())
    return arrow.is_stream(given) or _is_lazy(given) or (hasattr(given, "columns") and hasattr(given, "__getitem__"))


def _is_lazy(given: object) -> bool:
    """Whether `given` is a query of polars that is not run yet."""
    return hasattr(given, "collect") and hasattr(given, "collect_schema")


def _is_column(column: object) -> bool:
    return isinstance(column, (list, tuple, np.ndarray)) or hasattr(column, "to_list") or hasattr(column, "to_pylist")


def opened(given: Any) -> Any:
    """Return a data frame whose columns can be read several times: a stream of Arrow becomes a table.

    Raises
    ------
    ImportError
        If this needs pyarrow or polars, and neither is installed.
    """
    if _is_lazy(given):
        given = given.collect()
    # pandas gives its columns without pyarrow, and an index would become a column.
    is_pandas = any(parent.__module__.partition(".")[0] == "pandas" for parent in type(given).__mro__)
    return arrow.table_of(given) if arrow.is_stream(given) and not is_pandas else given


def columns_of(given: Any) -> dict[str, Any]:
    """Return the columns of a mapping, or of a data frame that `opened` returned, by name.

    A column of numbers is an array if possible. A column of texts is a `DictColumn` if it comes from Arrow.

    Raises
    ------
    ValueError
        If two columns have the same name.
    """
    if isinstance(given, Mapping):
        return {str(name): _column_values(column) for name, column in given.items()}
    names = given.column_names if hasattr(given, "column_names") else given.columns
    twice = next((name for name, times in Counter(map(str, names)).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"the data frame has column '{twice}' twice")
    if hasattr(given, "column_names"):
        return arrow.columns_of_arrow(given)
    return _index_of(given) | {str(name): _column_values(given[name]) for name in names}


def _index_of(frame: Any) -> dict[str, Any]:
    """Return the index of a data frame of pandas as columns, if it has a name or texts."""
    index: Any = getattr(frame, "index", None)
    if not hasattr(index, "get_level_values"):
        return {}
    found: dict[str, Any] = {}
    for at, name in enumerate(index.names):
        values = _column_values(index.get_level_values(at))
        if name is not None or (isinstance(values, list) and all(isinstance(value, str) for value in values)):
            found[column_meanings.INDEX if name is None else str(name)] = values
    return {name: values for name, values in found.items() if name not in set(map(str, frame.columns))}


def _column_values(column: Any) -> Any:
    """Return a column's values: an array if all are numbers, else a `DictColumn` or a list."""
    if isinstance(column, np.ndarray):
        return column if column.dtype.kind in "iufb" else column.tolist()
    if hasattr(column, "to_pylist"):
        return arrow.column_of_arrow(column)
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return np.asarray(column)
    # Integers and floats of polars; None becomes NaN.
    if dtype is not None and hasattr(dtype, "is_integer") and (dtype.is_integer() or dtype.is_float()):
        return column.to_numpy()
    return column.to_list() if hasattr(column, "to_list") else list(column)


def own_arguments(found: Mapping[str, Any], metadata: Mapping[bytes, bytes] | None) -> dict[str, Any] | None:
    """Return the arguments of `Kernels` for the columns that `Kernels.to_arrow` wrote; None for other columns.

    Raises
    ------
    ValueError
        If the metadata is damaged.
    """
    facts = arrow.facts_of(metadata)
    if not facts or not isinstance(found.get("name"), DictColumn):
        return None
    columns_, unread = dict(found), []
    arguments: dict[str, Any] = {"names": columns_.pop("name"), "origin": {}, "extra": {}}
    for field, plain in (("flops", ASKED_PRECISION), ("bytes", MAIN_LEVEL)):
        keys = [name for name in columns_ if name.partition(":")[0] == field]
        arguments[field] = {name.partition(":")[2] or plain: columns_.pop(name) for name in keys}
    for name, column in columns_.items():
        head, _, key = name.partition(":")
        if name in column_meanings.FIELDS:
            arguments[name] = column
        elif not isinstance(column, (DictColumn, np.ndarray)):
            unread.append(name)
        elif head == "origin":
            arguments["origin"][key] = column
        else:
            arguments["extra"][name] = column
    unused = [f"columns not used: {', '.join(unread)}"] if unread else []
    return arguments | facts | {"warnings": [*facts["warnings"], *unused]}


def from_frame(frame: Any) -> dict[str, Any]:
    """Return the arguments of `Kernels` for a data frame or a mapping of columns."""
    from roofwidget.readers.tables.tools import tool_arguments  # noqa: PLC0415 - tables of tools are above this room

    frame = opened(frame)
    found = columns_of(frame)
    own = own_arguments(found, arrow.metadata_of(frame))
    if own is not None:
        return own
    given = GivenColumns(found)
    of_tool = tool_arguments(given, "the data frame")
    if of_tool is not None:
        return of_tool
    dialect = table_fields.with_index(table_fields.found_in(given.names, given.units, given.in_cells), given)
    understood = {column for field in dialect.fields.values() for column in field.columns}
    understood |= {column for one in (*dialect.asked, *dialect.twins) for column in one.columns}
    for name in given.names:
        if name not in understood:
            # "date" and "density" are similar to the names of ratios.
            _check_spelling(name, set(column_meanings.FIELDS) - dialect.stems - set(column_meanings.RATIOS))
    arguments = table_fields.kernels_arguments(given, dialect)
    is_point = "intensity" in arguments or "rate" in arguments
    missing = [field for field in _NEEDED if field not in dialect.stems and not (is_point and field != "name")]
    missing = [field for field in missing if field == "name" or np.isnan(list(arguments[field].values())).all()]
    if missing:
        asked = [column_meanings.question(one, given.how) for one in dialect.asked if one.field in missing]
        hint = f"; {asked[0]}" if asked else ""
        raise ValueError(f"the data frame has no column '{missing[0]}'; it has {', '.join(given.names)}{hint}")
    # Use the cells unchanged: `Kernels` refuses cells that are not text, such as a missing name.
    names: Any = found[dialect.fields["name"].column]
    return arguments | {"names": names if isinstance(names, DictColumn) else list(names)}


def _check_spelling(name: str, absent: Collection[str]) -> None:
    """Raise an error if a column is no field, but has a field's name before a colon or looks misspelt."""
    field, colon, _ = name.partition(":")
    if field in _KEYED and (colon or field in column_meanings.FIELDS):
        return
    if colon and field in column_meanings.FIELDS:
        raise ValueError(f"column '{name}': only 'flops' and 'bytes' take a precision or a level after a colon")
    close = [] if field in column_meanings.FIELDS else _alike(field, absent)
    # A name with a field among its words, such as "time min (s)", is not misspelt.
    if close and close[0] not in field.casefold().split():
        raise ValueError(f"the data frame has a column '{name}'; did you mean '{close[0]}'?")


def _alike(name: str, fields: Collection[str]) -> list[str]:
    import difflib  # noqa: PLC0415 - slow to import, and needed for few data frames

    return difflib.get_close_matches(name.casefold(), fields, n=1, cutoff=_MISSPELT_SIMILARITY)


def bool_as_number(value: Any) -> Any:
    """Return True as 1.0 and False as 0.0, and any other value unchanged."""
    return float(value) if isinstance(value, (bool, np.bool_)) else value


def to_columns(kernels: Kernels) -> dict[str, Any]:
    """Return the columns of `Kernels.to_dataframe` and `Kernels.to_arrow` by name, in order."""
    columns: dict[str, Any] = {"name": kernels.codes("name")}
    columns |= {f"flops:{p}" if p else "flops": column for p, column in kernels.flops_by_precision.items()}
    columns |= {
        "bytes" if level == MAIN_LEVEL else f"bytes:{level}": column for level, column in kernels.bytes_by_level.items()
    }
    columns["time"] = kernels.time
    columns |= {field: kernels.codes(field) for field in ("precision", "category")}
    columns["count"] = kernels.count.astype(np.int64)
    if kernels.has_self_time:
        columns["self_time"] = kernels.self_time
    columns |= kernels.extra_columns
    for ratio in column_meanings.RATIOS:
        if not np.isnan(getattr(kernels, ratio)).all():
            columns[ratio] = getattr(kernels, ratio)
    return columns | {f"origin:{key}": kernels.codes(f"origin:{key}") for key in kernels.origin}


def to_frame(kernels: Kernels) -> Any:
    """Return a pandas DataFrame; see `Kernels.to_dataframe`."""
    import pandas as pd  # noqa: PLC0415 - optional and slow to import

    return pd.DataFrame(
        {name: one.texts() if isinstance(one, DictColumn) else one for name, one in to_columns(kernels).items()}
    )
