"""XProf's command line: the JSON that ``xprof get_roofline_model DIR`` prints.

Its percentages are rounded and it has no launch counts, so prefer ``roofline_model``.

The rules:

* time: ``total_self_time_ms``. There is no time with children.
* The larger of ``compute_efficiency_percent`` and ``max_mem_bw_utilization_percent`` is multiplied by its peak and the
  time. This gives the FLOPs or the bytes, with a rounding error of 0.005 % of the peak. The other amount follows from
  ``operational_intensity``.
* If both efficiencies round to 0.00 %, the bytes are unknown, and the FLOPs are unknown unless the intensity is 0.
* FLOPs that the tool derived from shapes are not used: it finds the shape by the operation's name alone, which is
  unique only within a program, and counts a single execution.
* With the table ``hlo_stats`` in the same folder all operations come from there, by its rules. The command line's file
  then gives only the peaks and the program's time.
* The program's totals are ``model_flop_rate_gflops`` and ``hbm_bw_gibs`` x ``total_time_ms``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.amounts import number_or_nan, product, quotient
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof import hlo_stats
from roofwidget.readers.xprof.device import Properties, chip_of, peak_warnings
from roofwidget.readers.xprof.operations import Draft, above_roof, draft_by_rules, finish_operations
from roofwidget.readers.xprof.roofline_model import chosen_options
from roofwidget.readers.xprof.table import GIBI, GIGA, XProfTable, shown, text_column

FORMAT: Final = "xprof-cli"
EXPECTED: Final = "the JSON that 'xprof get_roofline_model' prints"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_MILLI: Final = 1e-3
_DERIVED: Final = "derived_from_shapes"
_SUFFIX: Final = "_gibs"
_EXACT: Final = "the command line rounds, so the operations come from {}"


def recognises(source: Source) -> bool:
    """Whether the source looks like the command line's JSON. Its values are not checked.

    Examples
    --------
    >>> recognises(Source.of(b'{"device_info": {}, "top_operations": []}'))
    True
    """
    document = source.document(lambda text: '"device_info"' in text or '"top_operations"' in text)
    return isinstance(document, dict) and "device_info" in document and "top_operations" in document


def read(source: Source, *, idle: bool = True, shapes: Any = None) -> Kernels:
    """Read the command line's JSON.

    Parameters
    ----------
    source
        The file.
    idle
        Whether the time outside the listed operations is a row, so that shares of self time add up to 1.
    shapes
        The ``hlo_stats`` table of the same profile: a path. None uses ``<name>.hlo_stats.json`` in the folder of
        ``<name>.roofline.json``, if it exists. False uses none.

    Raises
    ------
    ProfileError
        If a value is missing or unexpected. The message names row (from 1) and key.
    """
    document = source.json(nan=True)
    given = document if isinstance(document, dict) else {}
    device = _object(given, "device_info", source.name)
    properties = Properties(source.name, {key.removesuffix(_SUFFIX): str(value) for key, value in device.items()})
    options, messages = chosen_options(source, properties, idle=idle, shapes=shapes, executions=None)
    operations = given.get("top_operations")
    if not isinstance(operations, list) or not all(isinstance(one, dict) for one in operations):
        raise source.error("expected a list of objects", place="'top_operations'")
    rows = _Objects(source.name, operations)
    total = _Objects(source.name, [_object(given, "program", source.name)], "program")
    seconds = float(total.numbers("total_time_ms")[0] * _MILLI)
    chip = chip_of(properties)
    draft, remarks = _rows(rows, properties), _rounding_remarks(operations)
    if options.stats is not None:
        draft, remarks = _exact(draft, options.stats), [_EXACT.format(options.stats.source)]
    listed = given.get("total_operations_analyzed", 0)
    cut = options.stats is None and isinstance(listed, int) and listed > len(operations)
    draft, added, more = finish_operations(draft, chip, seconds, dataclasses.replace(options, stats=None, cut=cut))
    program = _program(total, seconds)
    added.to(program)
    kernels = draft.kernels(chip, source.name, program=program.kernels(chip, source.name))
    kernels.warnings = (*messages, *remarks, *more, *peak_warnings(properties), *above_roof(kernels))
    return kernels


def _exact(rounded: Draft, stats: XProfTable) -> Draft:
    """Return the operations of the table ``hlo_stats``, if it is of the same profile."""
    exact = hlo_stats.draft_of(stats)
    if not set(zip(rounded.programs, rounded.names, strict=True)) <= set(zip(exact.programs, exact.names, strict=True)):
        raise ProfileError(stats.source, "the table lacks operations of the profile: it is of another run")
    return exact


def _rounding_remarks(operations: Sequence[Mapping[str, Any]]) -> list[str]:
    derived = sum(one.get("flops_provenance") == _DERIVED for one in operations)
    remarks = ["the command line rounds, FLOPs and bytes to 0.005 % of a peak, and does not count launches"]
    if derived:
        remarks.append(
            f"FLOPs that XProf's command line derived from shapes for {derived} operations were not used: it "
            "finds a shape by the operation's name alone and counts one execution"
        )
    return remarks


def _rows(rows: _Objects, properties: Properties) -> Draft:
    time = rows.numbers("total_self_time_ms") * _MILLI
    flops, moved = _amounts(rows, properties, time)
    derived = np.array([one.get("flops_provenance") == _DERIVED for one in rows.objects], dtype=bool)
    unknown = derived | np.array([word == "Unknown" for word in rows.texts("bound_by")], dtype=bool)
    flops, moved = np.where(unknown, np.nan, flops), np.where(unknown, np.nan, moved)
    rules = {
        "flops": "compute_efficiency_percent x peak x time, or operational_intensity x bytes",
        "bytes:HBM": "max_mem_bw_utilization_percent x peak x time, or FLOPs / operational_intensity",
        "time": "total_self_time_ms",
    }
    extra: dict[str, Any] = {
        "rank": rows.numbers("rank"),
        "program": text_column(rows.texts("hlo_module_id")),
        "source": text_column([word.split(" -> ")[0] or None for word in rows.texts("source_info")]),
        "XProf bound by": text_column(rows.texts("bound_by")),
        "XProf FLOPs from": text_column(rows.texts("flops_provenance")),
        "XProf intensity (FLOP/B)": rows.numbers("operational_intensity_flop_per_byte"),
        "XProf optimal FLOP rate (FLOP/s)": rows.totals("optimal_flop_rate_gflops", GIGA),
        "XProf roofline efficiency": rows.shares("roofline_efficiency_percent"),
        "share of self time": rows.shares("total_self_time_percent"),
    }
    return draft_by_rules(
        rules,
        names=text_column(rows.texts("name")),
        flops=flops,
        bytes={"HBM": moved},
        time=time,
        self_time=time.copy(),
        category=text_column([word or None for word in rows.texts("category")]),
        count=np.ones(len(time)),
        extra=extra,
    )


def _amounts(rows: _Objects, properties: Properties, time: Any) -> tuple[Any, Any]:
    """Return FLOPs and HBM bytes.

    If the FLOP rate has the larger share of its peak, the FLOPs are computed from this share, and the bytes are FLOPs
    divided by intensity. Otherwise the bytes are computed from their share, and the FLOPs are bytes times intensity.
    """
    of_compute, of_memory = "compute_efficiency_percent", "max_mem_bw_utilization_percent"
    compute, memory = rows.shares(of_compute), rows.shares(of_memory)
    intensity = rows.numbers("operational_intensity_flop_per_byte")

    def too_large(key: str) -> Callable[[int], ProfileError]:
        return lambda row: rows.error(row, key, "the amount is too large")

    flops = product(too_large(of_compute), compute, properties.number("peak_flop_rate"), GIGA, time)
    moved = product(too_large(of_memory), memory, properties.number("peak_hbm_bw"), GIBI, time)
    by_compute = compute > memory
    of_intensity = too_large("operational_intensity_flop_per_byte")
    moved = np.where(by_compute, quotient(of_intensity, np.where(by_compute, flops, 0.0), intensity), moved)
    by_memory = product(of_intensity, np.where(by_compute, 0.0, moved), intensity)
    flops = np.where(by_compute, flops, by_memory)
    rounded_away = (compute == 0) & (memory == 0)
    moved = np.where(rounded_away, np.nan, moved)
    return np.where(rounded_away & (intensity > 0), np.nan, np.where(rounded_away, 0.0, flops)), moved


def _program(total: _Objects, seconds: float) -> Draft:
    # XLA states this rate. The program's other rates include FLOPs that the tool derived from shapes.
    rules = {"flops": "model_flop_rate_gflops x total_time_ms", "bytes:HBM": "hbm_bw_gibs x total_time_ms"}
    return draft_by_rules(
        rules,
        names=text_column(["Program"]),
        flops=total.totals("model_flop_rate_gflops", GIGA, seconds),
        bytes={"HBM": total.totals("hbm_bw_gibs", GIBI, seconds)},
        time=np.array([seconds]),
        self_time=np.array([seconds]),
        category=text_column(["Program"]),
        count=np.ones(1),
    )


def _object(given: Mapping[str, Any], key: str, source: str) -> Mapping[str, Any]:
    value = given.get(key)
    if not isinstance(value, dict):
        raise ProfileError(source, f"expected an object, got {shown(value)}", place=f"'{key}'")
    return value


class _Objects:
    """Objects with the same keys, read as columns."""

    def __init__(self, source: str, objects: Sequence[Mapping[str, Any]], place: str = "") -> None:
        self.source = source
        self.objects = objects
        self._place = place

    def numbers(self, key: str) -> Any:
        """Return a column of finite numbers of at least 0."""
        found = [one.get(key) for one in self.objects]
        for row, value in enumerate(found):
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (is_number and 0 <= value < math.inf):  # type: ignore[operator]  # a number here
                raise self.error(row, key, f"expected a finite number from 0, got {shown(value)}")
        return np.array(found, dtype=np.float64)

    def totals(self, key: str, unit: float, time: Floats | float = 1.0) -> Floats:
        """Return a column of rates as amounts: rate x unit x seconds of each row."""
        return product(lambda row: self.error(row, key, "the number is too large"), self.numbers(key), unit, time)

    def shares(self, key: str) -> Any:
        """Return percentages (texts such as ``"12.5%"``) as fractions; ``"N/A"`` is 0."""
        return np.array([self._share(row, key, one.get(key)) for row, one in enumerate(self.objects)], dtype=np.float64)

    def _share(self, row: int, key: str, value: object) -> float:
        if value == "N/A":
            return 0.0
        number = number_or_nan(value.removesuffix("%")) / 100 if isinstance(value, str) else math.nan
        if not 0 <= number < math.inf:
            raise self.error(row, key, f"expected a percentage, got {shown(value)}")
        return number

    def texts(self, key: str) -> list[str]:
        """Return a column of texts."""
        found = [one.get(key) for one in self.objects]
        for row, value in enumerate(found):
            if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
                raise self.error(row, key, f"expected text, got {shown(value)}")
        return [str(value) for value in found]

    def error(self, row: int, key: str, reason: str) -> ProfileError:
        """Return the error for a value; the row counts from 0."""
        if self._place:
            return ProfileError(self.source, reason, place=f"'{self._place}', key '{key}'")
        return ProfileError(self.source, reason, row=row + 1, column=key)
