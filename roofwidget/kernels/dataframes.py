"""Kernels from and to data frames: pandas, or any object that has `columns` and returns a column by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.kernels import columns
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

FIELDS: Final = ("name", "flops", "bytes", "time", "precision", "category", "count", "self_time")
_NEEDED: Final = ("name", "flops", "bytes")
_KEYED: Final = ("flops", "bytes", "origin")
# A column name with at least this similarity (difflib) to a field counts as misspelt: "categry" for "category".
_MISSPELT_SIMILARITY: Final = 0.7


def from_frame(frame: Any) -> dict[str, Any]:
    """Return the arguments of `Kernels` for a data frame with the columns that `to_frame` writes."""
    found = [str(column) for column in frame.columns]
    twice = next((name for name, times in Counter(found).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"the data frame has column '{twice}' twice")
    absent = set(FIELDS) - {name.partition(":")[0] for name in found}
    others = [name for name in found if not _is_field(name, absent)]
    missing = [f for f in _NEEDED if not any(name.split(":")[0] == f for name in found)]
    if missing:
        raise ValueError(f"the data frame has no column '{missing[0]}'; it has {', '.join(found)}")

    def keyed(field: str, plain: str) -> dict[str, Any]:
        names = [name for name in found if name.split(":")[0] == field]
        return {name.partition(":")[2] or plain: columns.float_cells(frame[name], name) for name in names}

    def optional(read: Any, *fields: str) -> dict[str, Any]:
        return {field: read(frame[field], field) for field in fields if field in found}

    extra, unread = readable_columns(frame, others)
    origins = [name for name in found if name.startswith("origin:")]
    return {
        "names": list(frame["name"]),
        "flops": keyed("flops", ASKED_PRECISION),
        "bytes": keyed("bytes", MAIN_LEVEL),
        **optional(columns.float_cells, "time", "self_time", "count"),
        **optional(columns.text_cells, "precision", "category"),
        "origin": {name.partition(":")[2]: columns.text_cells(frame[name], name) for name in origins},
        "extra": extra,
        "warnings": [f"columns not used: {', '.join(unread)}"] if unread else (),
    }


def _is_field(name: str, absent: Collection[str]) -> bool:
    """Return whether a column is a field. Raise an error if the name looks like a misspelt field that is missing."""
    field, colon, _ = name.partition(":")
    if field in _KEYED and (colon or field in FIELDS):
        return True
    if colon and field in FIELDS:
        raise ValueError(f"column '{name}': only 'flops' and 'bytes' take a precision or a level after a colon")
    close = [] if field in FIELDS else _alike(field, absent)
    if close and not _is_another(field, close[0]):
        raise ValueError(f"the data frame has a column '{name}'; did you mean '{close[0]}'?")
    return field in FIELDS


def _alike(name: str, fields: Collection[str]) -> list[str]:
    import difflib  # noqa: PLC0415 - slow to import, and needed for few data frames

    return difflib.get_close_matches(name.casefold(), fields, n=1, cutoff=_MISSPELT_SIMILARITY)


def _is_another(name: str, field: str) -> bool:
    """Return whether the field is a word of the name, as in ``"time min (s)"``. Such a name is not misspelt."""
    return field in name.casefold().split()


def readable_columns(frame: Any, names: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the columns that hold only numbers or only texts, and the names of the other columns."""
    readable: dict[str, Any] = {}
    unread: list[str] = []
    for name in names:
        column = frame[name]
        for read in (columns.float_cells, columns.text_cells):
            try:
                readable[name] = read([bool_as_number(value) for value in column], name)
            except (TypeError, ValueError):
                continue
            break
        else:
            unread.append(name)
    return readable, unread


def bool_as_number(value: Any) -> Any:
    """Return True as 1.0 and False as 0.0, and any other value unchanged."""
    return float(value) if isinstance(value, (bool, np.bool_)) else value


def to_frame(kernels: Kernels) -> Any:
    """Return a pandas DataFrame; see `Kernels.to_dataframe`."""
    import pandas as pd  # noqa: PLC0415 - optional and slow to import

    frame: dict[str, Any] = {"name": kernels.names}
    frame |= {f"flops:{p}" if p else "flops": column for p, column in kernels.flops_by_precision.items()}
    frame |= {
        "bytes" if level == MAIN_LEVEL else f"bytes:{level}": column for level, column in kernels.bytes_by_level.items()
    }
    frame |= {"time": kernels.time, "precision": kernels.precision, "category": kernels.category}
    frame["count"] = kernels.count.astype(np.int64)
    if kernels.has_self_time:
        frame["self_time"] = kernels.self_time
    frame |= dict(kernels.extra)
    frame |= {f"origin:{key}": texts for key, texts in kernels.origin.items()}
    return pd.DataFrame(frame)
