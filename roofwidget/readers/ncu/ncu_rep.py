"""Read the report that ``ncu -o`` writes, without NVIDIA's software.

NVIDIA documents the layout: first the letters NVR, then a file header, then blocks of protocol buffers. The header of a
block has the number of sources and results that follow, and a table of metric names. Values are in base units and
double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.ncu import protobuf
from roofwidget.readers.ncu.metrics import DEVICE_NAME, LAUNCH_FIELDS, WANTED_METRICS, Launches, first_impossible

MAGIC: Final = b"NVR\0"

_MAX_MESSAGE_BYTES: Final = 2**28
_CHUNK_BYTES: Final = 2**20
_LENGTH_BYTES: Final = 4
_NANO: Final = 1e9

# Field numbers of NVIDIA's report definitions.
_SOURCES, _RESULTS, _SESSION, _STRING_TABLE, _PAYLOAD = 1, 2, 3, 4, 5
_DEVICES, _DEVICE_ID, _DEVICE_NAME, _DEVICE_ATTRIBUTES = 6, 1, 2, 3
_PROCESS, _MANGLED, _FUNCTION, _DEMANGLED, _GRID, _BLOCK, _METRIC = 1, 5, 6, 7, 10, 11, 13
_RESULT_FIELDS: Final = frozenset({_PROCESS, _MANGLED, _FUNCTION, _DEMANGLED, _GRID, _BLOCK, _METRIC})
_NAME, _VALUE, _TEXT_VALUE = 1, 2, 1
_METRIC_FIELDS: Final = frozenset({_NAME, _VALUE})


@dataclass(frozen=True)
class _Result:
    """One launch: name, shape, and its metrics as numbers and as texts."""

    name: str
    process: str | None
    grid: str | None
    block: str | None
    numbers: dict[str, float]
    texts: dict[str, str]


def read_report(source: Source) -> Launches:
    """Return the launches of a report.

    Raises
    ------
    ProfileError
        If the report is incomplete or damaged (the message names the byte), or has no kernels.
    """
    with source.open() as stream:
        report = _Report(source.name, stream)
        report.read()
    if not report.results:
        raise source.error("the report has no kernels; profile again, and look for ncu's ==ERROR== lines")
    return report.launches()


class _Report:
    """Reads the blocks of a report once and keeps only the metrics that a roofline needs."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.stream = stream
        self.at = 0
        self.metric_names: list[str] = []
        self.wanted: dict[int, str] = {}
        self.devices: dict[int, tuple[str, dict[str, float]]] = {}
        self.results: list[_Result] = []

    def read(self) -> None:
        if self._take(len(MAGIC)) != MAGIC:
            raise ProfileError(self.name, "expected a report, which begins with the letters NVR")
        self._message()
        while size := self.stream.read(4):
            self._block(self._take(self._length(size)))

    def launches(self) -> Launches:
        """Return the results as columns."""
        rows = [self._with_device(result) for result in self.results]
        names = dict.fromkeys(metric for row in rows for metric in row.numbers)
        metrics = {metric: self._column(metric, [row.numbers.get(metric, np.nan) for row in rows]) for metric in names}
        words: dict[str, list[str | None]] = {word: [None] * len(rows) for word in LAUNCH_FIELDS}
        words["id"] = [str(row) for row in range(len(rows))]
        words["process"] = [row.process for row in rows]
        words["grid"] = [row.grid for row in rows]
        words["block"] = [row.block for row in rows]
        for word in ("device", "context", "stream"):
            numbers = [row.numbers.get(f"launch__{word}_id", np.nan) for row in rows]
            words[word] = [f"{number:.0f}" if np.isfinite(number) else None for number in numbers]
        devices = [row.texts.get(DEVICE_NAME) for row in rows]
        return Launches(self.name, [row.name for row in rows], words, metrics, devices, np.ones(len(rows)))

    def _column(self, metric: str, values: list[float]) -> Floats:
        column = np.array(values)
        # Values that ncu could not compute are NaN or infinite in a report, and "n/a" in its tables.
        column[np.isinf(column)] = np.nan
        row = first_impossible(column)
        if row is not None:
            reason = (
                f"expected a number from 0 for '{metric}', got {column[row]:g}; the report is damaged, copy it again"
            )
            raise ProfileError(self.name, reason, place=f"launch {row + 1}, kernel '{self.results[row].name[:60]}'")
        # Some versions name the unit "second", but the value is always in nanoseconds.
        return column / _NANO if metric.startswith("gpu__time_") else column

    def _with_device(self, result: _Result) -> _Result:
        """Return the launch with its device's attributes; a report may store the attributes once for all launches."""
        number = result.numbers.get("launch__device_id", 0)
        device = self.devices.get(int(number)) if np.isfinite(number) else None
        if device is None:
            return result
        name, attributes = device
        result.texts.setdefault(DEVICE_NAME, name)
        for attribute, value in attributes.items():
            result.numbers.setdefault(attribute, value)
        return result

    def _block(self, message: bytes) -> None:
        header = {field: value for field, _, value in self._fields(message)}
        names = header.get(_STRING_TABLE)
        if isinstance(names, bytes) and names:
            self._add_metric_names([_text(name) for _, _, name in self._fields(names, 1)])
        session = header.get(_SESSION)
        if isinstance(session, bytes):
            self._session(session)
        payload, sources, results = (header.get(field, 0) for field in (_PAYLOAD, _SOURCES, _RESULTS))
        if not (isinstance(payload, int) and isinstance(sources, int) and isinstance(results, int)):
            raise self._damaged()
        end = self.at + payload
        for _ in range(sources):
            self._skip(self._size())
        for _ in range(results):
            if self.at >= end:
                raise self._damaged()
            self._result(self._message())
        self._skip(end - self.at)

    def _add_metric_names(self, names: list[str]) -> None:
        first = len(self.metric_names)
        self.metric_names += names
        self.wanted |= {first + row: name for row, name in enumerate(names) if WANTED_METRICS.fullmatch(name)}

    def _session(self, session: bytes) -> None:
        for _, _, device in self._fields(session, _DEVICES):
            number, name, attributes = 0, "", dict[str, float]()
            for field, _, value in self._fields(_bytes(device)):
                if field == _DEVICE_ID and isinstance(value, int):
                    number = value
                elif field == _DEVICE_NAME:
                    name = _text(value)
                elif field == _DEVICE_ATTRIBUTES:
                    key, number_, _ = self._metric(_bytes(value), named=True)
                    if number_ is not None and WANTED_METRICS.fullmatch(str(key)):
                        attributes[str(key)] = number_
            self.devices[number] = (name, attributes)

    def _result(self, message: bytes) -> None:
        fields: dict[int, int | bytes] = {}
        numbers: dict[str, float] = {}
        texts: dict[str, str] = {}
        for field, _, value in self._fields(message, *_RESULT_FIELDS):
            if field != _METRIC:
                fields[field] = value
                continue
            metric = _bytes(value)
            first = protobuf.first_number(metric, _NAME)
            if first is not None and first not in self.wanted:
                continue
            key, number, text = self._metric(metric)
            name = self.wanted.get(key) if isinstance(key, int) else None
            if name is not None and number is not None:
                numbers[name] = number
            elif name is not None and text is not None:
                texts[name] = text
        process = fields.get(_PROCESS)
        name = _text(fields.get(_DEMANGLED)) or _text(fields.get(_FUNCTION)) or _text(fields.get(_MANGLED)) or "unnamed"
        self.results.append(
            _Result(
                name,
                str(process) if isinstance(process, int) else None,
                self._dimensions(fields.get(_GRID)),
                self._dimensions(fields.get(_BLOCK)),
                numbers,
                texts,
            )
        )

    def _metric(self, message: bytes, *, named: bool = False) -> tuple[int | str | None, float | None, str | None]:
        """Return a metric's name (or its number in the table of names) and its value, a number or a text."""
        key: int | str | None = None
        try:
            # Some metrics have thousands of values, one per line of code: skip all fields after the first value.
            for field, _, value in protobuf.fields(message, _METRIC_FIELDS):
                if field == _VALUE:
                    return key, *self._value(_bytes(value))
                key = _text(value) if named else value if isinstance(value, int) else None
                if not named and key not in self.wanted:
                    break
        except protobuf.MalformedError:
            raise self._damaged() from None
        return key, None, None

    def _value(self, message: bytes) -> tuple[float | None, str | None]:
        """Return a value, a number or a text."""
        for field, kind, value in self._fields(message):
            if field == _TEXT_VALUE:
                return None, _text(value)
            number = protobuf.number(kind, value)
            return None if number is None else float(number), None
        return None, None

    def _dimensions(self, value: int | bytes | None) -> str | None:
        """Return the three sizes of a grid or a block in the form of the tables: ``(2, 25, 1)``."""
        if not isinstance(value, bytes):
            return None
        sides = {field: side for field, _, side in self._fields(value) if isinstance(side, int)}
        return f"({sides.get(1, 1)}, {sides.get(2, 1)}, {sides.get(3, 1)})"

    # -- bytes -----------------------------------------------------------------------------------------------------

    def _fields(self, message: bytes, *wanted: int) -> Iterator[tuple[int, int, int | bytes]]:
        try:
            yield from protobuf.fields(message, frozenset(wanted) or None)
        except protobuf.MalformedError:
            raise self._damaged() from None

    def _message(self) -> bytes:
        return self._take(self._size())

    def _size(self) -> int:
        return self._length(self.stream.read(4))

    def _length(self, data: bytes) -> int:
        if len(data) < _LENGTH_BYTES:
            raise self._too_short()
        self.at += _LENGTH_BYTES
        size = int.from_bytes(data, "little")
        if size > _MAX_MESSAGE_BYTES:
            raise self._damaged()
        return size

    def _take(self, size: int) -> bytes:
        data = self.stream.read(size)
        if len(data) < size:
            raise self._too_short()
        self.at += size
        return data

    def _skip(self, size: int) -> None:
        while size > 0:
            size -= len(self._take(min(size, _CHUNK_BYTES)))

    def _too_short(self) -> ProfileError:
        return ProfileError(self.name, "the report ends too early; copy it again", place=f"byte {self.at + 1}")

    def _damaged(self) -> ProfileError:
        return ProfileError(self.name, "the report is damaged here; copy it again", place=f"byte {self.at + 1}")


def _text(value: int | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _bytes(value: int | bytes) -> bytes:
    return value if isinstance(value, bytes) else b""
