"""`concat`: several tables of kernels as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from roofwidget.kernels.columns import DictColumn, Floats, frozen
from roofwidget.kernels.table import Kernels


def concat(tables: Mapping[str, Kernels]) -> Kernels:
    """Return one table with the rows of all `tables`. The key of each table becomes the category of its rows.

    If a table lacks a column, the column is unknown in the rows of this table. A column of `Kernels.extra` is left out
    if it contains texts in one table and numbers in another table.

    Examples
    --------
    >>> all_ = concat({"program": Kernels(["a"], [1], {"HBM": [2]}), "step": Kernels(["b"], [3], {"L2": [4]})})
    >>> all_.names.tolist(), all_.category.tolist(), all_.bytes_by_level["L2"].tolist()
    (['a', 'b'], ['program', 'step'], [nan, 4.0])
    """
    return joined(list(tables.values()), joined_texts(one_text(name, len(part)) for name, part in tables.items()))


def joined(parts: Sequence[Kernels], category: DictColumn | None = None) -> Kernels:
    """Return one table with the rows of all `parts`. Without `category`, the rows keep their categories.

    What a part lacks is unknown in its rows; see `concat`.

    Examples
    --------
    >>> both = joined([Kernels(["a"], [1], [2], category=["loop"]), Kernels(["b"], [3], [4])])
    >>> both.names.tolist(), both.category.tolist()
    (['a', 'b'], ['loop', None])
    """
    sizes = [len(part) for part in parts]
    own_time = any(part.has_self_time for part in parts)
    return Kernels(
        joined_texts(part.codes("name") for part in parts),
        _by_key([part.flops_by_precision for part in parts], sizes),
        _by_key([part.bytes_by_level for part in parts], sizes),
        time=_joined(part.time for part in parts),
        precision=joined_texts(part.codes("precision") for part in parts),
        category=joined_texts(part.codes("category") for part in parts) if category is None else category,
        count=_joined(part.count for part in parts),
        self_time=_joined(part.self_time for part in parts) if own_time else None,
        intensity=_joined(part.intensity for part in parts),
        rate=_joined(part.rate for part in parts),
        origin=_texts([{key: part.codes(f"origin:{key}") for key in part.origin} for part in parts], sizes),
        extra=_extra(parts, sizes),
    )


def joined_texts(columns: Iterable[DictColumn]) -> DictColumn:
    """Return one column with the rows of all columns, and with the values that these rows have.

    Examples
    --------
    >>> joined_texts([one_text("a", 2), one_text(None, 1)]).texts().tolist()
    ['a', 'a', None]
    """
    index: dict[str | None, int] = {}
    found = [np.zeros(0, dtype=np.int32)]
    for column in columns:
        used, first = np.unique(column.codes, return_index=True)
        place = np.zeros(len(column.values), dtype=np.int32)
        for code in used[np.argsort(first)]:
            place[code] = index.setdefault(column.values[code], len(index))
        found.append(place[column.codes])
    return DictColumn(tuple(index) or (None,), frozen(np.concatenate(found)))


def one_text(text: str | None, n: int) -> DictColumn:
    """Return a column of n rows that all have the same text."""
    return DictColumn((text,), frozen(np.zeros(n, dtype=np.int32)))


def _joined(columns: Iterable[Floats]) -> Floats:
    return np.concatenate([*columns, np.zeros(0)])


def _keys(parts: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for part in parts for key in part))


def _by_key(parts: Sequence[Mapping[str, Floats]], sizes: list[int]) -> dict[str, Floats]:
    return {
        key: _joined(part.get(key, np.full(size, np.nan)) for part, size in zip(parts, sizes, strict=True))
        for key in _keys(parts)
    }


def _texts(parts: Sequence[Mapping[str, DictColumn]], sizes: list[int]) -> dict[str, DictColumn]:
    return {
        key: joined_texts(part.get(key) or one_text(None, size) for part, size in zip(parts, sizes, strict=True))
        for key in _keys(parts)
    }


def _extra(parts: Sequence[Kernels], sizes: list[int]) -> dict[str, Any]:
    columns = [part.extra_columns for part in parts]
    numbers = [{k: c for k, c in part.items() if not isinstance(c, DictColumn)} for part in columns]
    texts = [{k: c for k, c in part.items() if isinstance(c, DictColumn)} for part in columns]
    found: dict[str, Any] = {**_by_key(numbers, sizes), **_texts(texts, sizes)}
    both = set(_keys(numbers)) & set(_keys(texts))
    return {key: found[key] for key in _keys(columns) if key not in both}
