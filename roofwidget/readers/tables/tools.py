"""What a table is, judged by its columns: the table of a tool, or one that lacks what a kernel needs."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from roofwidget.kernels.column_meanings import lacking, unit_in
from roofwidget.kernels.table_fields import TableColumns, found_in
from roofwidget.readers.tables.notation import is_number
from roofwidget.readers.tables.tool_table import ToolTable, arguments

TOOLS: Final = (
    "roofwidget.readers.tracelens",
    "roofwidget.readers.xprof.frame",
    "roofwidget.readers.fasterbench",
)
"""Modules with the ``TABLES`` of tools whose tables are of format ``table``."""


def tool_table(names: Sequence[str]) -> ToolTable | None:
    """Return the table of a tool that has these columns, or None.

    Examples
    --------
    >>> tool_table(["name", "GFLOPS_first"]).tool
    'TraceLens'
    """
    return next((table for table in _tables() if table.is_header(names)), None)


@functools.cache
def _tables() -> list[ToolTable]:
    return [table for module in TOOLS for table in import_module(module).TABLES]


def tool_arguments(given: TableColumns, source: str, own: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the arguments of `Kernels` for the table of a tool, or None for another table."""
    table = tool_table(given.names)
    return None if table is None else arguments(given, table, source, own)


def lacking_columns(seen: Mapping[str, str]) -> str:
    """Return the reason why a table with these columns, and these cells in its first row, has no kernels."""
    names = list(seen)
    texts = [name for name, cell in seen.items() if cell and not is_number(cell) and not unit_in(cell)]
    return lacking(names, found_in(names).fields, texts)
