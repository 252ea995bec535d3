"""Google Benchmark: its JSON or CSV, each benchmark as a kernel.

How to make it::

    ./benchmark --benchmark_format=json > benchmark.json
    ./benchmark --benchmark_out=benchmark.csv --benchmark_out_format=csv

- `time` is ``real_time`` of one iteration times the iterations, which are the `count`. Repetitions are added.
- FLOPs and bytes are rates times time: a user counter such as ``FLOPS`` or ``GFLOP/s`` that was made with
  ``Counter::kIsRate``, and ``bytes_per_second`` (``SetBytesProcessed``). Google Benchmark divides by the CPU's time, or
  by real time if the name ends with ``/real_time`` or ``/manual_time``; the same time is used here. These are amounts
  as the program counts them, not measured traffic.
- Means, medians and deviations of repetitions are left out. If the file has only these, the medians are read, as one
  iteration each. Benchmarks that failed or were skipped are left out, and a warning names them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from roofwidget.kernels.columns import Bools, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.amounts import product
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.documents import value_at
from roofwidget.readers.input.json_rows import JsonRows
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables.delimited import read_table, split_line
from roofwidget.support.arrays import Places
from roofwidget.support.did_you_mean import listed
from roofwidget.units import prefix_factor

FORMAT: Final = "google-benchmark"
EXPECTED: Final = "the JSON or CSV of Google Benchmark"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_HEADER: Final = ("name", "iterations", "real_time", "cpu_time", "time_unit")
_BEGIN: Final = re.compile(r'\ufeff?\s*\{\s*"(?:context|benchmarks)"\s*:')
_PER_SECOND: Final = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
_FLOP_RATE: Final = re.compile(r"([kmgtp]?)flop(?:s|s?/s(?:ec)?|s?_?per_?sec(?:ond)?)", re.IGNORECASE)
_ON_REAL_TIME: Final = re.compile(r"/(?:real|manual)_time(?:/|$)")
_AGGREGATE: Final = re.compile(r"(.+)_(mean|median|stddev|cv|min|max|BigO|RMS)")
_CHOSEN: Final = "median"
_MAX_NAMED: Final = 4
_BYTES: Final = "bytes_per_second"
_DIVISOR: Final = "time x iterations, of the CPU unless the name ends with real_time or manual_time"

_Runs: TypeAlias = "_Exported | _Table"
"""The benchmarks of a file."""


def recognises(source: Source) -> bool:
    """Whether the file is the JSON or the CSV of Google Benchmark."""
    if source.is_folder:
        return False
    text = source.beginning
    if _BEGIN.match(text):
        return '"benchmarks"' in source.first and ('"time_unit"' in source.first or '"library_build_type"' in text)
    return any(
        _is_header(split_line(line, ",")) for line in text.splitlines() if line.startswith(("name,", "\ufeffname,"))
    )


def read(source: Source) -> Kernels:
    """Read the benchmarks of a file.

    Returns
    -------
    Kernels
        A row per benchmark, with the seconds of all its iterations, and FLOPs and bytes if the benchmark reports rates.

    Raises
    ------
    ProfileError
        If the file has no benchmark that ran, or a value is invalid.
    """
    every: _Runs = _Exported(source) if _BEGIN.match(source.beginning) else _Table(source)
    runs, only_aggregates, messages = _kept(every)
    if not len(runs.names):
        raise source.error("no benchmark ran: look at 'error_message', or at --benchmark_filter")
    units = runs.units()
    per_second = np.array([_PER_SECOND.get(unit, np.nan) for unit in units])
    if np.isnan(per_second).any():
        at = int(np.argmax(np.isnan(per_second)))
        raise runs.error(at, "time_unit", f"expected one of {listed(_PER_SECOND)}, got {units[at]!r:.40}")
    real, cpu = (runs.numbers(key) / per_second for key in ("real_time", "cpu_time"))
    count = np.ones(len(real)) if only_aggregates else runs.numbers("iterations")
    by_real = np.array([_ON_REAL_TIME.search(name) is not None for name in runs.names]) | np.isnan(cpu)
    divisor = np.where(by_real, real, cpu) * count
    flops, counter = _flops(runs, divisor)
    kernels = Kernels(
        [name.removesuffix(f"_{_CHOSEN}") for name in runs.names] if only_aggregates else runs.names,
        flops,
        _amounts(runs, _BYTES, runs.numbers(_BYTES), divisor),
        time=real * count,
        count=count,
        origin={
            "flops": None if counter is None else f"{counter} x {_DIVISOR}",
            "bytes:main": f"{_BYTES} x {_DIVISOR}",
            "time": "real_time x iterations",
        },
        extra={"cpu time per iteration (s)": cpu},
        warnings=messages,
        source=source.name,
    )
    return kernels.groupby("name") if len(set(runs.names)) < len(kernels) else kernels


def _kept(every: _Runs) -> tuple[_Runs, bool, list[str]]:
    """Return the benchmarks to read, whether they are aggregates, and warnings."""
    names, failed, aggregates = every.names, every.failed(), every.aggregates()
    messages = []
    if failed.any():
        some = listed(dict.fromkeys(names[at] for at in np.flatnonzero(failed)[:_MAX_NAMED]))
        messages.append(f"benchmarks that failed or were skipped were left out: {int(failed.sum())}, such as {some}")
    single = np.flatnonzero(~failed & ~aggregates)
    if len(single) or not aggregates.any():
        return every.only(single), False, messages
    chosen = np.array([name.endswith(f"_{_CHOSEN}") for name in names], dtype=np.bool_)
    messages.append("the file has only aggregates of repetitions: the medians are read, as one iteration each")
    return every.only(np.flatnonzero(~failed & aggregates & chosen)), True, messages


def _flops(runs: _Runs, divisor: Floats) -> tuple[Floats, str | None]:
    """Return FLOPs of all iterations and the counter that has them; NaN and None without such a counter."""
    found = next(((key, match) for key in runs.counters() if (match := _FLOP_RATE.fullmatch(key))), None)
    if found is None:
        return np.full(len(divisor), np.nan), None
    rates = runs.numbers(found[0]) * prefix_factor(found[1][1])
    return _amounts(runs, found[0], rates, divisor), found[0]


def _amounts(runs: _Runs, key: str, rates: Floats, seconds: Floats) -> Floats:
    return product(lambda row: runs.error(row, key, "the rate is too large for its time"), rates, seconds)


class _Exported:
    """The benchmarks of a JSON file."""

    def __init__(self, source: Source, runs: JsonRows | None = None) -> None:
        self._source = source
        self._runs = _benchmarks(source) if runs is None else runs
        self.names = self._runs.texts("name")

    def counters(self) -> list[str]:
        return list(dict.fromkeys(str(key) for run in self._runs.rows for key in run))

    def units(self) -> list[str]:
        return self._runs.texts("time_unit")

    def numbers(self, key: str) -> Floats:
        return self._runs.numbers(key)

    def error(self, row: int, key: str, reason: str) -> ProfileError:
        return self._runs.error(row, key, reason)

    def failed(self) -> Bools:
        return np.array([bool(run.get("error_occurred") or run.get("skipped")) for run in self._runs.rows], np.bool_)

    def aggregates(self) -> Bools:
        kinds = [run.get("run_type") for run in self._runs.rows]
        by_name = _aggregates(self.names)
        return np.array(
            [named if kind is None else kind == "aggregate" for kind, named in zip(kinds, by_name, strict=True)],
            np.bool_,
        )

    def only(self, at: Places) -> _Exported:
        rows, numbered = ([values[row] for row in at] for values in (self._runs.rows, self._runs.numbered))
        return _Exported(self._source, JsonRows(self._source.name, rows, numbered))


def _benchmarks(source: Source) -> JsonRows:
    # The library writes NaN for a deviation of one repetition.
    document = source.json(nan=True)
    given = value_at(document, "benchmarks")
    if not (isinstance(given, list) and all(isinstance(run, dict) for run in given)):
        raise source.error("expected an object with a list 'benchmarks' of objects")
    return JsonRows(source.name, given)


def _aggregates(names: Sequence[str]) -> list[bool]:
    """Return whether each name is that of a mean or another aggregate. CSV and old versions say it only by the name."""
    known = set(names)
    found = [_AGGREGATE.fullmatch(name) for name in names]
    return [match is not None and bool({match[1], f"{match[1]}_mean"} & known) for match in found]


class _Table:
    """The benchmarks of a CSV file."""

    def __init__(self, source: Source) -> None:
        self._table = read_table(source, header=_is_header, plain=("name", "label", "error_message"))
        # The library writes a decimal point whatever the locale.
        self._table.decimal = "."
        self._at = np.arange(len(self._table))
        self.names = self._table.texts("name")

    def counters(self) -> list[str]:
        return list(self._table.columns)

    def units(self) -> list[str]:
        return self._cells("time_unit")

    def numbers(self, key: str) -> Floats:
        known = key in self._table.columns
        return self._table.numbers(key, optional=True)[self._at] if known else np.full(len(self._at), np.nan)

    def error(self, row: int, key: str, reason: str) -> ProfileError:
        return self._table.error(int(self._at[row]), key, reason)

    def failed(self) -> Bools:
        return np.array([cell.strip().casefold() == "true" for cell in self._cells("error_occurred")], np.bool_)

    def aggregates(self) -> Bools:
        return np.array(_aggregates(self.names), np.bool_)

    def only(self, at: Places) -> _Table:
        self._at = self._at[at]
        self.names = self._cells("name")
        return self

    def _cells(self, key: str) -> list[str]:
        cells = self._table.columns.get(key, [""] * len(self._table))
        return [cells[row] for row in self._at]


def _is_header(cells: Sequence[str]) -> bool:
    return all(word in cells for word in _HEADER)
