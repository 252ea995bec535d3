"""Rows of a profile that are no kernels: time in which nothing ran, waiting for the host, copies over a link."""

from __future__ import annotations

from typing import Final

import numpy as np

from roofwidget.kernels.columns import DictColumn, Texts
from roofwidget.kernels.filters import is_feed
from roofwidget.kernels.table import Kernels

__all__ = ["ASIDES", "FEED", "IDLE", "LINK", "asides"]

IDLE: Final = "idle"
FEED: Final = "waiting for the host"
LINK: Final = "copy over a link"
ASIDES: Final = (IDLE, FEED, LINK)
"""What a row may be that is no kernel."""
# Where readers put the bytes that no memory's roof bounds.
_LINKS: Final = ("host", "peer")


def asides(kernels: Kernels) -> Texts:
    """Return what each row is that is no kernel, None for kernels, shape (n,).

    Examples
    --------
    >>> import roofwidget as rw
    >>> asides(rw.Kernels(["dot", "idle"], [8, None], [2, None], category=["matrix product", "idle"])).tolist()
    [None, 'idle']
    """
    category = kernels.codes("category")
    found = DictColumn(tuple(_of_category(word or "") for word in category.values), category.codes).texts()
    for level, column in kernels.bytes_by_level.items():
        if level.casefold() in _LINKS:
            found = np.where(column > 0, LINK, found)
    found.flags.writeable = False
    return found


def _of_category(word: str) -> str | None:
    if word.casefold() == IDLE:
        return IDLE
    return FEED if is_feed(word) else None
