"""What a `RunComparison` says in words: its lines of text and its HTML table."""

from __future__ import annotations

import html as markup
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import aligned, html_table, one_line, percent
from roofwidget.units import format_quantity

if TYPE_CHECKING:
    from roofwidget.analysis.compare_runs import RunComparison

__all__ = ["html", "plain"]

_LINES: Final = 8
_TABLE_ROWS: Final = 50
_NAMED: Final = 3
_HEADER: Final = ["kernel", "before", "after", "change", "verdict", "bound by"]


def plain(runs: RunComparison) -> str:
    """Return aligned lines: a title, the largest changes, how many there are more, and who is in one run alone."""
    rows = aligned([_HEADER, *_rows(runs, _LINES)]) if len(runs) else []
    return "\n".join([f"RunComparison: {_title(runs)}", *rows, *_more(runs, _LINES), *_remarks(runs)])


def html(runs: RunComparison) -> str:
    """Return an HTML table and the remarks; names are text, never markup."""
    table = html_table(_title(runs), _HEADER, _rows(runs, _TABLE_ROWS), "".join(_more(runs, _TABLE_ROWS)))
    remarks = "".join(f"<li>{markup.escape(remark)}</li>" for remark in _remarks(runs))
    return f"<div>{table}{f'<ul>{remarks}</ul>' if remarks else ''}</div>"


def _title(runs: RunComparison) -> str:
    before, after = (float(np.nansum(run.self_time)) for run in (runs.run_before, runs.run_after))
    kernels = f"{len(runs):,} kernel{'' if len(runs) == 1 else 's'} in both runs"
    alone = f"{len(runs.only_before):,} only before, {len(runs.only_after):,} only after"
    times = f"{format_quantity(before, 's')} to {format_quantity(after, 's')} ({_change(before, after)})"
    return f"{kernels}, {alone}; self time {times}"


def _rows(runs: RunComparison, most: int) -> Iterator[list[str]]:
    """Return the kernels with the largest changes first."""
    for row in np.argsort(-np.abs(runs.change), kind="stable")[:most]:
        before, after = float(runs.before[row]), float(runs.after[row])
        binds = dict.fromkeys((str(runs.bound_by_before[row]), str(runs.bound_by_after[row])))
        yield [
            one_line(runs.names[row]),
            _seconds(before),
            _seconds(after),
            _change(before, after),
            str(runs.verdict[row]),
            " → ".join(binds),
        ]


def _seconds(seconds: float) -> str:
    return "not measured" if math.isnan(seconds) else format_quantity(seconds, "s")


def _change(before: float, after: float) -> str:
    """Return the seconds more than before, in percent of before."""
    if math.isnan(before) or math.isnan(after):
        return "unknown"
    if after == before:
        return "0 %"
    if before == 0:
        return "new"
    return f"{'+' if after > before else '−'}{percent(abs(after / before - 1))}"


def _more(runs: RunComparison, shown: int) -> list[str]:
    left = len(runs) - shown
    return [f"… and {left:,} more"] if left > 0 else []


def _remarks(runs: RunComparison) -> list[str]:
    remarks = [
        f"only {which}: {_first(run)}"
        for which, run in (("before", runs.only_before), ("after", runs.only_after))
        if len(run)
    ]
    counts = int((runs.matched_before.count != runs.matched_after.count).sum())
    if counts:
        who = "1 kernel was" if counts == 1 else f"{counts:,} kernels were"
        remarks.append(f"{who} launched more or less often than before; seconds are over all launches")
    return remarks


def _first(kernels: Kernels) -> str:
    """Name the longest, and say how many there are more."""
    order = np.argsort(-kernels.self_time, kind="stable")
    more = len(kernels) - _NAMED
    named = "; ".join(one_line(name) for name in kernels.names[order[:_NAMED]])
    return named + (f"; and {more:,} more" if more > 0 else "")
