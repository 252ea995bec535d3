"""XProf's Roofline Analysis as CSV: the result of "Export as CSV" or of ``/data_csv?tag=roofline_model``.

The rules are those of the JSON; the reader finds columns by their headings in any version of XProf. The CSV has neither
the device nor its peaks, but it has rates and their shares of a peak. So the peaks are computed: FLOP/s as
``Normalized FLOP Rate`` / ``FLOP Rate / Peak``, a memory's bandwidth as its rate / ``Roofline efficiency`` in rows that
this memory bounds. Columns with the heading "(%)" are fractions too. Prefer the JSON: it has the peaks and the device's
name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Bools, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import notation
from roofwidget.readers.tables.delimited import DelimitedTable, read_table
from roofwidget.readers.xprof.device import LEVELS, Properties
from roofwidget.readers.xprof.roofline_model import chosen_options, kernels_of
from roofwidget.readers.xprof.table import XProfTable, id_of_label, is_text, shown

FORMAT: Final = "xprof-csv"
EXPECTED: Final = "the CSV that XProf exports for its tool 'roofline_model'"

_OWN: Final = frozenset(("step", "operation", "roofline_efficiency", "include_infeed_outfeed"))
_TRUTHS: Final = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
_PEAK_TOLERANCE: Final = 1e-4


def recognises(source: Source) -> bool:
    """Whether the first line has the headings of ``roofline_model``.

    Examples
    --------
    >>> recognises(Source.of(b'"Step","Operation","Roofline efficiency (%)","Include Infeed/Outfeed"'))
    True
    """
    first = source.beginning.lstrip("\ufeff\r\n ").partition("\n")[0]
    return any(_is_header(first.split(delimiter)) for delimiter in ",;\t")


def read(
    source: Source, *, infeed: bool = True, idle: bool = True, shapes: Any = None, executions: Any = None
) -> Kernels:
    """Read a CSV export; the parameters, the result and the errors are the same as for the JSON.

    `Kernels.chip` has the peaks that the rows imply, and no name. `Kernels.chip` is None if the rows imply no FLOP rate
    or no HBM bandwidth.
    """
    rows = read_table(source, header=_is_header)
    # XProf writes only rows into this file, so any other line means that the file is damaged.
    if rows.skipped:
        raise source.error(f"{rows.skipped} lines are not rows of the table; the file is damaged, export it again")
    table = _by_id(rows)
    is_gpu = "SHM/L1 BW (GiB/s)" in rows.columns
    properties = _implied(table, is_gpu=is_gpu)
    options, messages = chosen_options(source, properties, idle=idle, shapes=shapes, executions=executions)
    lost = "the CSV does not have the device and its peaks"
    if properties.number("peak_flop_rate") and properties.number("peak_hbm_bw"):
        lost += ": the peaks were computed from rates and efficiencies; read the JSON for the device's name"
    else:
        lost += ", and too few rows are bound by them to compute them: read the JSON, or choose a chip"
    return kernels_of(table, properties, options, infeed=infeed, messages=[lost, *messages])


def _is_header(cells: Sequence[str]) -> bool:
    return {id_of_label(cell.strip(' "\r')) for cell in cells} >= _OWN


def _by_id(rows: DelimitedTable) -> XProfTable:
    """Return the table by XProf's ids, with cells as in the JSON."""
    columns: dict[str, Any] = {}
    for heading in rows.columns:
        name = id_of_label(heading) or heading
        if name in columns:
            raise rows.source.error("two columns have the same meaning", column=heading)
        if name == "include_infeed_outfeed":
            columns[name] = _truths(rows, heading)
        elif is_text(name):
            columns[name] = rows.texts(heading)
        elif id_of_label(heading):
            columns[name] = _numbers(rows, heading)
        elif all(map(notation.is_number, rows.texts(heading))):
            columns[name] = rows.numbers(heading, least=-np.inf).tolist()
        else:
            columns[name] = rows.texts(heading)
    return XProfTable(rows.source.name, columns, rows.lines)


def _numbers(rows: DelimitedTable, heading: str) -> list[float]:
    numbers = rows.numbers(heading)
    if np.isnan(numbers).any():
        row = int(np.argmax(np.isnan(numbers)))
        raise rows.error(row, heading, f"expected a number, got {shown(rows.texts(heading)[row])}")
    found: list[float] = numbers.tolist()
    return found


def _truths(rows: DelimitedTable, heading: str) -> list[bool]:
    cells = rows.texts(heading)
    found = [_TRUTHS.get(cell.strip().casefold()) for cell in cells]
    if None in found:
        row = found.index(None)
        raise rows.error(row, heading, f"expected True or False, got {shown(cells[row])}")
    return [bool(truth) for truth in found]


def _implied(table: XProfTable, *, is_gpu: bool) -> Properties:
    """Return the device's properties that the rows imply: rates / their shares of a peak."""
    bound_by = np.array([word.casefold() for word in table.texts("bound_by")], dtype=object)
    use = table.numbers("roofline_efficiency")
    given = {"device_type": "GPU (not named)" if is_gpu else "TPU (not named)"}
    flop_rate, of_peak = table.numbers("measured_flop_rate"), table.numbers("compute_efficiency")
    given["peak_flop_rate"] = _peak(flop_rate, of_peak, of_peak > 0)
    given["peak_hbm_bw"] = _peak(table.numbers("hbm_bw"), use, bound_by == "hbm")
    for level in () if is_gpu else LEVELS:
        column = f"{level.stem}_bw"
        if column in table.columns:
            given[f"peak_{column}"] = _peak(table.numbers(column), use, bound_by == level.name.casefold())
            if given[f"peak_{column}"] != "0":
                given[level.flag] = "1"
    return Properties(table.source, given, where="computed from rates and efficiencies")


def _peak(rates: Floats, shares: Floats, rows: Bools) -> str:
    """Return the peak if all rows imply the same peak, else ``"0"``."""
    rows = rows & (shares > 0) & (rates > 0)
    if not rows.any():
        return "0"
    with np.errstate(over="ignore"):
        peaks = rates[rows] / shares[rows]
    middle = float(np.median(peaks))
    is_known = np.isfinite(middle) and np.allclose(peaks, middle, rtol=_PEAK_TOLERANCE, atol=0)
    return repr(middle) if is_known else "0"
