"""`Kernels` as plain dicts, lists, texts and numbers (records), which JSON can hold, and back.

A column of numbers is a list; null is unknown. A column of texts is ``{"values": [text or null], "rows": [position]}``
with the position of each row's text in `values`; without `rows`, all rows have the only text. What is unknown for the
whole table is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.metadata import Activity, Communication
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import did_you_mean

_NUMBERS: Final = ("time", "self_time", "count", "intensity", "rate")
_NUMBERS_BY_KEY: Final = ("flops", "bytes")
_TEXTS: Final = ("precision", "category")
_TABLES: Final = ("launches", "program", "steps")
_KEYS: Final = (
    *("names", *_NUMBERS_BY_KEY, *_NUMBERS, *_TEXTS, "origin", "extra", "launch_rows", *_TABLES),
    *("chip", "fitting_chips", "warnings", "source", "read_as", "communication", "activity"),
)


def to_record(kernels: Kernels) -> dict[str, Any]:
    """Return the record of a table, with all of its columns and the tables that belong to it.

    Examples
    --------
    >>> record = to_record(Kernels(["matmul", "copy"], [4.3e9, 0], [1.2e7, 8e6], time=[None, 1e-5]))
    >>> record["names"], record["flops"], record["time"]
    (['matmul', 'copy'], {'': [4300000000.0, 0.0]}, [None, 1e-05])
    """
    launches, launch_rows = kernels.launches_with_rows()
    record: dict[str, Any] = {
        "names": kernels.names.tolist(),
        "flops": {key: _numbers(column) for key, column in kernels.flops_by_precision.items()},
        "bytes": {key: _numbers(column) for key, column in kernels.bytes_by_level.items()},
        "time": None if np.isnan(kernels.time).all() else _numbers(kernels.time),
        "self_time": _numbers(kernels.self_time) if kernels.has_self_time else None,
        "count": None if (kernels.count == 1).all() else _numbers(kernels.count),
        "intensity": None if np.isnan(kernels.intensity).all() else _numbers(kernels.intensity),
        "rate": None if np.isnan(kernels.rate).all() else _numbers(kernels.rate),
        "precision": _texts(kernels.codes("precision")),
        "category": _texts(kernels.codes("category")),
        "origin": {key: _texts(kernels.codes(f"origin:{key}")) or {"values": [None]} for key in kernels.origin},
        "extra": {
            key: (_texts(column) or {"values": [None]}) if isinstance(column, DictColumn) else _numbers(column)
            for key, column in kernels.extra_columns.items()
        },
        "launch_rows": launch_rows.tolist(),
        "chip": None if kernels.chip is None else kernels.chip.to_dict(),
        "fitting_chips": list(kernels.fitting_chips),
        "warnings": list(kernels.warnings),
        "source": kernels.source,
        "read_as": dict(kernels.read_as),
        "communication": kernels.communication and kernels.communication.to_dict(),
        "activity": kernels.activity and kernels.activity.to_dict(),
    }
    tables = {"launches": launches, "program": kernels.program, "steps": kernels.steps}
    record |= {word: to_record(table) for word, table in tables.items() if table is not None and len(table)}
    return {word: value for word, value in record.items() if value not in (None, [], {}, "")}


def from_record(record: Any) -> Kernels:
    """Return the table of a record.

    Raises
    ------
    TypeError, ValueError
        If the record is none that `to_record` writes. The message names the column, and the row of a wrong number.

    Examples
    --------
    >>> kernels = Kernels(["matmul", "copy"], [4.3e9, 0], [1.2e7, 8e6], category=["a", None])
    >>> from_record(to_record(kernels)) == kernels
    True
    """
    known = _checked(record, "a table of kernels")
    for word in known:
        if word not in _KEYS:
            raise ValueError(f"a table of kernels has no '{word}'{did_you_mean(str(word), _KEYS)}")
    names = known.get("names", [])
    n = len(names) if isinstance(names, list) else 0
    arguments = {
        word: known[word]
        for word in ("names", *_NUMBERS, "launch_rows", "fitting_chips", "warnings", "source", "read_as")
        if word in known
    }
    arguments |= {word: _checked(known[word], word) for word in _NUMBERS_BY_KEY if word in known}
    arguments |= {word: _column(known[word], word, n) for word in _TEXTS if word in known}
    arguments |= {
        word: {key: _column(column, key, n) for key, column in _checked(known[word], word).items()}
        for word in ("origin", "extra")
        if word in known
    }
    for word in _TABLES:
        if word in known:
            with _within(word):
                arguments[word] = from_record(known[word])
    if "chip" in known:
        with _within("chip"):
            arguments["chip"] = Chip.from_dict(_checked(known["chip"], "a chip"))
    for word, of in (("communication", Communication), ("activity", Activity)):
        if word in known:
            with _within(word):
                arguments[word] = of.from_dict(_checked(known[word], "times"))
    return Kernels(**arguments)


def _numbers(column: Floats) -> list[float | str | None]:
    """Return numbers for JSON, which knows neither NaN nor infinity. Only columns of `extra` can be infinite."""
    if np.isfinite(column).all():
        found: list[float | str | None] = column.tolist()
        return found
    return [one if math.isfinite(one) else None if math.isnan(one) else str(one) for one in column.tolist()]


def _texts(column: DictColumn) -> dict[str, list[Any]] | None:
    """Return a column of texts with the texts that it uses, or None if no row has a text."""
    used, rows = np.unique(column.codes, return_inverse=True)
    values = [column.values[code] for code in used]
    if values in ([], [None]):
        return None
    return {"values": values} if len(values) == 1 else {"values": values, "rows": rows.tolist()}


def _column(given: Any, name: str, n: int) -> Any:
    """Return a column of numbers or of texts as an argument of `Kernels`."""
    if isinstance(given, list):
        return given
    part = _checked(given, f"column '{name}'")
    values, rows = part.get("values", ()), part.get("rows", [0] * n)
    is_text = isinstance(values, list) and all(value is None or isinstance(value, str) for value in values)
    if not is_text or not isinstance(rows, list) or not set(map(type, rows)) <= {int}:
        raise ValueError(f"column '{name}' must have texts as 'values' and their positions as 'rows'")
    for row, code in enumerate(rows):
        if not 0 <= code < len(values):
            raise ValueError(f"row {row}, column '{name}': there is no value {code}; the column has {len(values)}")
    return DictColumn(tuple(values), np.array(rows, dtype=np.int32))


def _checked(part: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        raise TypeError(f"{what} must be an object with names and values, not {part!r:.60}")
    return part


@contextmanager
def _within(word: str) -> Iterator[None]:
    """Return a context in which errors name the part of the table that is wrong."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{word}: {error}") from None
