"""Kernels: one kernel, a table of kernels, and the operations on a table that need no chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roofwidget.support.late import late

if not TYPE_CHECKING:
    __getattr__ = late(
        __name__,
        "column_meanings",
        "communication",
        "concat",
        "matching",
        "presets",
        "reading",
        "series",
        "table_fields",
        "table_report",
        "unknown_work",
    )
