"""Tables of tools among the columns of a data frame or of a file of any form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from roofwidget.kernels.table_fields import TableColumns
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
    tables = (table for module in TOOLS for table in import_module(module).TABLES)
    return next((table for table in tables if table.is_header(names)), None)


def tool_arguments(given: TableColumns, source: str, own: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the arguments of `Kernels` for the table of a tool, or None for another table."""
    table = tool_table(given.names)
    return None if table is None else arguments(given, table, source, own)
