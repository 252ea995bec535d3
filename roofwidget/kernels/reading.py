"""How a file became a table of kernels: for each field how many rows have a value, and the rule behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL
from roofwidget.support.text_tables import counted, first_few

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_MAX_RULES: Final = 3
_NOWHERE: Final = "not in the file"


class FieldRead(NamedTuple):
    """How one field was read.

    Parameters
    ----------
    field
        The field, with a precision or a memory level after a colon, as in ``"bytes:L2"``.
    known
        ``"all"``, or the number of rows with a value.
    rule
        Where the field's values come from: a column, a metric, a formula.
    """

    field: str
    known: str
    rule: str


def fields_read(kernels: Kernels) -> list[FieldRead]:
    r"""Return how each field was read, and the names of the other columns as the field ``"extra"``.

    The list is empty if the kernels do not come from a file.

    Examples
    --------
    >>> import roofwidget as rw
    >>> for line in fields_read(rw.read(b"kernel,GFLOP,time [ms],grid\na,2,1,8\nb,,3,8\n"))[1:4]:
    ...     print(*line, sep=" | ")
    flops | 1 of 2 | "GFLOP" x 1000000000
    bytes | none | not in the file
    time | all | "time [ms]" x 0.001
    """
    if not kernels.read_as:
        return []
    found = [
        FieldRead(field, _known(has_value), _rule(kernels, field, has_value)) for field, has_value in _fields(kernels)
    ]
    extra = list(kernels.extra)
    return [*found, FieldRead("extra", counted(len(extra), "column"), ", ".join(extra))] if extra else found


def _fields(kernels: Kernels) -> Iterator[tuple[str, Any]]:
    """Yield each field that a file may have, and which rows have a value of it, shape (n,)."""
    yield "name", np.ones(len(kernels), dtype=np.bool_)
    for field, plain, by_key in (
        ("flops", ASKED_PRECISION, kernels.flops_by_precision),
        ("bytes", MAIN_LEVEL, kernels.bytes_by_level),
    ):
        for key, column in by_key.items():
            yield field if key == plain else f"{field}:{key}", ~np.isnan(column)
    yield "time", ~np.isnan(kernels.time)
    if kernels.has_ratios:
        yield "intensity", ~np.isnan(kernels.intensity)
        yield "rate", ~np.isnan(kernels.rate)
    if kernels.has_self_time:
        yield "self_time", ~np.isnan(kernels.self_time)
    yield "count", np.full(len(kernels), "count" in kernels.read_as or bool((kernels.count != 1).any()))
    for field in ("precision", "category"):
        yield field, kernels.codes(field).where(bool)
    yield "chip", np.full(len(kernels), kernels.chip is not None)


def _rule(kernels: Kernels, field: str, has_value: Any) -> str:
    if not has_value.any():
        return f"{_NOWHERE}: 1 each" if field == "count" else _NOWHERE
    # Readers name the bytes of main memory, which are "bytes" here, with their level.
    named = field if field in kernels.origin else f"{field}:{MAIN_LEVEL}"
    if named in kernels.origin:
        texts = kernels.codes(f"origin:{named}")
        used = [texts.values[code] for code in np.unique(texts.codes)]
        return first_few([text for text in used if text], _MAX_RULES)
    return kernels.read_as.get(field, "")


def _known(has_value: Any) -> str:
    count, n = int(has_value.sum()), len(has_value)
    return "none" if not count else "all" if count == n else f"{count:,} of {n:,}"
