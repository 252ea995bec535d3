"""Columns of Arrow, by pyarrow: tables and streams of other libraries as columns, and `Kernels` as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from roofwidget.kernels.columns import DictColumn, frozen


def dict_column_of_arrow(column: Any) -> DictColumn:
    """Return a chunked array of texts, dictionary-encoded or not, as a dictionary-encoded column.

    Raises
    ------
    ValueError
        If the data is damaged: a row refers to a text that the column does not have.
    """
    from pyarrow import types  # noqa: PLC0415 - optional

    code_of: dict[str | None, int] = {}
    known: Any = None
    place = np.zeros(0, dtype=np.int32)
    codes = [np.zeros(0, dtype=np.int32)]
    for chunk in column.chunks:
        part = chunk if types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        texts, kept = part.dictionary, place
        if not _continues(texts, known):
            known, kept = texts[:0], place[:0]
        added = [code_of.setdefault(text, len(code_of)) for text in texts[len(known) :].to_pylist()]
        place, known = np.append(kept, np.array(added, dtype=np.int32)), texts
        indices = part.indices.cast("int32")
        if indices.null_count:
            missing = code_of.setdefault(None, len(code_of))
            indices = indices.fill_null(len(place))
            codes.append(_taken(np.append(place, np.int32(missing)), indices.to_numpy()))
        else:
            codes.append(_taken(place, indices.to_numpy()))
    return DictColumn(tuple(code_of), frozen(np.concatenate(codes)))


def _continues(texts: Any, before: Any) -> bool:
    """Return whether a dictionary begins with that of the chunk before, as in a row group of several batches."""
    return before is not None and bool(texts[: len(before)].equals(before))


def _taken(place: Any, indices: Any) -> Any:
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(place):
        raise ValueError("a row refers to a text that the column does not have")
    return place[indices]
