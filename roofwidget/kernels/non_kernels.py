"""Rows of a profile that are not kernels: idle time, waiting for the host, copies over a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.columns import Texts, frozen
from roofwidget.kernels.filters import is_feed

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

IDLE: Final = "idle"
FEED: Final = "waiting for the host"
LINK: Final = "copy over a link"
NON_KERNELS: Final = (IDLE, FEED, LINK)
"""The kinds of rows that are not kernels."""
# Readers store bytes that cross a link under these memory levels.
_LINKS: Final = ("host", "peer")


def is_idle(category: str | None) -> bool:
    """Return whether a category is that of idle time."""
    return (category or "").casefold() == IDLE


def non_kernels(kernels: Kernels) -> Texts:
    """Return the kind of each row that is not a kernel, such as idle time, and None for kernels; shape (n,).

    Examples
    --------
    >>> import roofwidget as rw
    >>> non_kernels(rw.Kernels(["dot", "idle"], [8, None], [2, None], category=["matrix product", "idle"])).tolist()
    [None, 'idle']
    """
    found = kernels.codes("category").map(_of_category).texts()
    for level, column in kernels.bytes_by_level.items():
        if level.casefold() in _LINKS:
            found = np.where(column > 0, LINK, found)
    return frozen(found)


def _of_category(word: str | None) -> str | None:
    if is_idle(word):
        return IDLE
    return FEED if is_feed(word) else None
