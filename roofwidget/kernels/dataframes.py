"""Kernels to and from data frames, of pandas or of anything that has `columns` and gives a column for its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.kernels import columns
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

__all__ = ["FIELDS", "from_frame", "further", "to_frame"]

FIELDS: Final = ("name", "flops", "bytes", "time", "precision", "category", "count", "self_time")
_NEEDED: Final = ("name", "flops", "bytes")
_KEYED: Final = ("flops", "bytes", "origin")
# So much alike ("categry" and "category") is a slip; what resembles a field less, as "share of self time", is not.
_SLIP: Final = 0.7


def from_frame(frame: Any) -> dict[str, Any]:
    """Return the arguments of `Kernels` from a data frame with the columns that `to_frame` writes."""
    found = [str(column) for column in frame.columns]
    twice = next((name for name, times in Counter(found).items() if times > 1), None)
    if twice is not None:
        msg = f"the data frame has column '{twice}' twice"
        raise ValueError(msg)
    absent = set(FIELDS) - {name.partition(":")[0] for name in found}
    others = [name for name in found if not _is_field(name, absent)]
    missing = [f for f in _NEEDED if not any(name.split(":")[0] == f for name in found)]
    if missing:
        msg = f"the data frame has no column '{missing[0]}'; it has {', '.join(found)}"
        raise ValueError(msg)

    def keyed(field: str, plain: str) -> dict[str, Any]:
        names = [name for name in found if name.split(":")[0] == field]
        return {name.partition(":")[2] or plain: columns.numbers(frame[name], name) for name in names}

    extra, unread = further(frame, others)
    return {
        "names": list(frame["name"]),
        "flops": keyed("flops", ASKED_PRECISION),
        "bytes": keyed("bytes", MAIN_LEVEL),
        **{field: columns.numbers(frame[field], field) for field in ("time", "self_time", "count") if field in found},
        **{field: columns.words(frame[field], field) for field in ("precision", "category") if field in found},
        "origin": {
            name.partition(":")[2]: columns.words(frame[name], name) for name in found if name.startswith("origin:")
        },
        "extra": extra,
        "warnings": [f"columns not used: {', '.join(unread)}"] if unread else (),
    }


def _is_field(name: str, absent: Collection[str]) -> bool:
    """Whether a column is one of ours; refuse one that means to be one of those that are absent."""
    field, colon, _ = name.partition(":")
    if field in _KEYED and (colon or field in FIELDS):
        return True
    if colon and field in FIELDS:
        msg = f"column '{name}': only 'flops' and 'bytes' take a precision or a level after a colon"
        raise ValueError(msg)
    close = [] if field in FIELDS else _alike(field, absent)
    if close and not _is_another(field, close[0]):
        msg = f"the data frame has a column '{name}'; did you mean '{close[0]}'?"
        raise ValueError(msg)
    return field in FIELDS


def _alike(name: str, fields: Collection[str]) -> list[str]:
    import difflib  # noqa: PLC0415 - only for columns that are none of ours

    return difflib.get_close_matches(name.casefold(), fields, n=1, cutoff=_SLIP)


def _is_another(name: str, field: str) -> bool:
    """Whether a name that holds a field's is a phrase of its own, such as ``"time min (s)"``, and no slip."""
    return field in name.casefold().split()


def further(frame: Any, names: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the columns that hold numbers or texts alone, and the names of those that do not."""
    kept: dict[str, Any] = {}
    unread: list[str] = []
    for name in names:
        column = frame[name]
        for read in (columns.numbers, columns.words):
            try:
                kept[name] = read([bool_as_number(value) for value in column], name)
            except (TypeError, ValueError):
                continue
            break
        else:
            unread.append(name)
    return kept, unread


def bool_as_number(value: Any) -> Any:
    """Return True as 1 and False as 0, anything else as it is."""
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
    frame |= {f"origin:{key}": words for key, words in kernels.origin.items()}
    return pd.DataFrame(frame)
