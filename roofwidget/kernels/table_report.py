"""Tables of kernels as text and as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.operations import operations_of
from roofwidget.support.text_tables import and_more, counted, html_table, html_with_notes, one_line
from roofwidget.units import format_intensity, format_quantity

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_MAX_TABLE_ROWS: Final = 20
_MAX_WARNINGS: Final = 10
_MAX_SOURCE_CHARACTERS: Final = 120
_HEADER: Final = ("kernel", "FLOPs", "bytes", "AI", "time", "rate", "precision", "category", "launches")
# The columns that are left out if no kernel has a value.
_OPTIONAL: Final = ("time", "rate", "precision", "category", "launches")


def plain(kernels: Kernels) -> str:
    """Return one line: the number of kernels, how many were measured, the source, the number of warnings."""
    measured = _measured(kernels)
    parts = [f"{counted(len(kernels), 'kernel')}, {measured} measured"]
    parts += [kernels.source] if kernels.source else []
    parts += [counted(len(kernels.warnings), "warning")] if kernels.warnings else []
    return f"Kernels({'; '.join(parts)})"


def _measured(kernels: Kernels) -> int:
    return int((np.isfinite(kernels.time) | np.isfinite(kernels.rate)).sum())


def html(kernels: Kernels) -> str:
    """Return an HTML table of the first kernels, with the warnings below it. Texts are escaped."""
    measured = _measured(kernels)
    words = [counted(len(kernels), "kernel"), f"{measured:,} measured"]
    words += [one_line(kernels.chip.name)] if kernels.chip is not None else []
    words += [one_line(kernels.source, _MAX_SOURCE_CHARACTERS)] if kernels.source else []
    work = "FLOPs" if operations_of(kernels).common == "FLOP" else "operations"
    rows = [tuple(work if head == "FLOPs" else head for head in _HEADER), *_rows(kernels)]
    shown = [
        at
        for at, head in enumerate(_HEADER)
        if head not in _OPTIONAL or any(row[at] not in {"", "1"} for row in rows[1:])
    ]
    header, *body = [[row[at] for at in shown] for row in rows]
    more = "".join(and_more(len(kernels), _MAX_TABLE_ROWS))
    return html_with_notes(html_table(" · ".join(words), header, body, more), _warnings(kernels))


def _rows(kernels: Kernels) -> Iterator[tuple[str, ...]]:
    first = kernels[:_MAX_TABLE_ROWS]
    operations = operations_of(first)
    for row in range(len(first)):
        time, rate = float(first.time[row]), float(first.rate[row])
        yield (
            one_line(first.names[row]),
            format_quantity(float(first.flops[row]), operations.unit(row)),
            format_quantity(float(first.bytes[row]), "B"),
            format_intensity(float(first.arithmetic_intensity[row]), operation=operations.unit(row)),
            "" if np.isnan(time) else format_quantity(time, "s"),
            "" if np.isnan(rate) else format_quantity(rate, f"{operations.unit(row)}/s"),
            one_line(first.precision[row] or ""),
            one_line(first.category[row] or ""),
            f"{int(first.count[row]):,}",
        )


def _warnings(kernels: Kernels) -> list[str]:
    return [*kernels.warnings[:_MAX_WARNINGS], *and_more(len(kernels.warnings), _MAX_WARNINGS)]
