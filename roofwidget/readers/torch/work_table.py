"""What the formulas say of each different call, in columns that rows pick from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import DictColumn
from roofwidget.readers.torch.calls import Call, Work
from roofwidget.readers.torch.events import Codes
from roofwidget.readers.torch.formulas import work_of

__all__ = ["COMPULSORY", "WorkTable", "coded"]

COMPULSORY: Final = "compulsory bytes: each operand read once, each result written once"

_FLOATS: Final = ("fp64", "fp32", "fp16", "bf16", "fp8")


class WorkTable:
    """Columns by call code; the code -1 stands for no call, of which nothing is known.

    Parameters
    ----------
    calls
        Each different call once.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        works = [*(work_of(call) for call in calls), None]
        self.has_work = np.array([work is not None for work in works])
        self.is_vector = np.array([work is not None and work.vector for work in works])
        self.flops = np.array([np.nan if work is None else work.flops for work in works])
        self.bytes = np.array([np.nan if work is None or work.bytes is None else work.bytes for work in works])
        pairs = [*zip(calls, works, strict=False), (Call("", ()), None)]
        self.name = _column(pairs, lambda call, _: call.name or None)
        self.shape = _column(pairs, _shape)
        self.dtype = _column(pairs, lambda call, _: call.dtype or None)
        self.precision = _column(pairs, _precision)
        self.category = _column(pairs, lambda _, work: work.family if work else None)
        self.flops_rule = _column(pairs, lambda _, work: work.rule if work else None)
        self.bytes_rule = _column(pairs, lambda _, work: COMPULSORY if work and work.bytes is not None else None)


def coded(words: Sequence[str | None], codes: npt.NDArray[np.signedinteger[Any]]) -> DictColumn:
    """Return a column of words that picks them by code, each different one once."""
    index: Codes[str | None] = Codes()
    place = np.array([index(word) for word in words], dtype=np.int32)
    return DictColumn(tuple(index.values()), place[codes])


def _column(pairs: Sequence[tuple[Call, Work | None]], word: Callable[[Call, Work | None], str | None]) -> DictColumn:
    words = [word(call, work) for call, work in pairs]
    return coded(words, np.arange(len(words)))


def _shape(call: Call, work: Work | None) -> str | None:
    detail = f"; {work.detail}" if work and work.detail else ""
    return f"{call.shape}{detail}" or None


def _precision(call: Call, work: Work | None) -> str | None:
    """Return that of the first tensor of numbers with a point; of a matrix product also of whole numbers."""
    found = [call.precision(position) for position, sizes in enumerate(call.dims) if sizes]
    wanted = (*_FLOATS, "int8") if work and work.family == "matrix product" else _FLOATS
    return next((word for word in found if word in wanted), None)
