"""Records within a JSON document, the chip that stands beside them, and files with an object on each line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roofwidget import units
from roofwidget.chips import Chip, Memory, Source, is_off_chip
from roofwidget.kernels.column_meanings import INDEX, meaning
from roofwidget.readers.devices import chip_of_device
from roofwidget.readers.errors import figures_of_chip
from roofwidget.readers.input.source import Source as File
from roofwidget.support import strict_json
from roofwidget.support.did_you_mean import listed
from roofwidget.support.precisions import PRECISION_ALIASES, precision_key

IsHeader = Callable[[Sequence[str]], bool]

# -- records -------------------------------------------------------------------------------------------------------

_MAX_DEPTH: Final = 3
_MAX_OBJECTS: Final = 1000
"""How many objects of a document to look through. Lists of records are not looked through."""
_MAX_KEYED_RECORDS: Final = 100
_MAX_LISTS: Final = 20
_LIST_OF_OBJECTS: Final = re.compile(r"\[\s*(?=\{)")


@dataclass(frozen=True)
class Records:
    """The records or the columns of a document, the keys that lead to them, and messages for the user."""

    table: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
    path: str = ""
    messages: tuple[str, ...] = ()

    @property
    def first_keys(self) -> list[str]:
        """The keys of the first record, or all columns."""
        return list(self.table if isinstance(self.table, Mapping) else self.table[0])

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns by name."""
        return self.table if isinstance(self.table, Mapping) else columns_of_records(self.table)


def columns_of_records(records: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    """Return the columns of a list of objects, None where an object lacks a name."""
    names = dict.fromkeys(str(name) for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def are_records(given: object) -> bool:
    """Whether this is a list of objects, and not empty."""
    return isinstance(given, (list, tuple)) and bool(given) and all(isinstance(record, Mapping) for record in given)


def records_in(document: object, is_header: IsHeader) -> Records | None:
    """Return the list of objects, or the table by columns, that a document is or contains; None if it has neither.

    Of several tables with known columns the longest is returned.

    Examples
    --------
    >>> records_in({"gpu": "A100", "runs": [{"name": "a", "flops": 1}]}, lambda keys: "flops" in keys).path
    'runs'
    >>> records_in({"name": ["a", "b"], "flops": [1, 2]}, lambda keys: "flops" in keys).columns["flops"]
    [1, 2]
    """
    if are_records(document):
        return Records(document)  # type: ignore[arg-type]  # it is a list of objects
    lists: Sequence[tuple[str, Any]] = [each for each in _values(document) if are_records(each[1])]
    lists = [(path, rows) for path, rows in lists if is_header(_keys(rows))]
    by_columns = ((path, _by_columns(value, is_header)) for path, value in [("", document), *_values(document)])
    found = lists or [(path, table) for path, table in by_columns if table is not None]
    if not found:
        return None
    path, table = max(found, key=lambda each: _length(each[1]))
    others = [other for other, _ in found if other != path]
    said = f"the records are the list '{path}'; these lists have known columns too and are not read: {listed(others)}"
    return Records(table, path, (said,) if others else ())


def _length(table: Any) -> int:
    return len(next(iter(table.values()))) if isinstance(table, Mapping) else len(table)


def _by_columns(value: object, is_header: IsHeader) -> dict[str, Sequence[Any]] | None:
    """Return the columns of an object that is a table, else None.

    It is a table by columns, in a form of ``DataFrame.to_json``, or a DataTable of Google Charts, as XProf writes it.
    The labels of the rows become the column `INDEX`, unless they are the numbers from 0.
    """
    if not isinstance(value, Mapping) or not value:
        return None
    found: dict[str, Sequence[Any]] | None = None
    names: Any = None
    rows: Any = ()
    labels: Any = []
    if {"columns", "data"} <= value.keys():
        names, rows, labels = value["columns"], value["data"], value.get("index") or []
    elif are_records(value.get("cols")) and are_records(value.get("rows")):
        names = [str(column.get("label") or column.get("id")) for column in value["cols"]]
        rows = [[(cell or {}).get("v") for cell in row.get("c", ())] for row in value["rows"]]
    if names is not None:
        if not (_are_texts(names) and _are_lists(rows, len(names)) and isinstance(labels, list)):
            return None
        found = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    elif all(isinstance(part, list) for part in value.values()):
        found = {str(name): column for name, column in value.items()}
    elif all(isinstance(part, Mapping) for part in value.values()):
        found, labels = _by_labels(value, is_header)
    lengths = {len(column) for column in (found or {}).values()} | ({len(labels)} if labels else set())
    if not found or len(lengths) != 1 or lengths == {0}:
        return None
    if labels and list(map(str, labels)) != [str(row) for row in range(len(labels))] and INDEX not in found:
        found = {INDEX: [str(label) for label in labels], **found}
    return found if is_header(list(found)) else None


def _by_labels(value: Mapping[str, Any], is_header: IsHeader) -> tuple[dict[str, Sequence[Any]], Sequence[Any]]:
    """Return the columns and the labels of rows of an object of objects: columns of rows, or rows of columns."""
    inner = list(dict.fromkeys(str(key) for part in value.values() for key in part))
    if is_header([INDEX, *map(str, value)]):
        return {str(name): [column.get(label) for label in inner] for name, column in value.items()}, inner
    return {name: [row.get(name) for row in value.values()] for name in inner}, list(value)


def _are_texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) for one in given) and len(set(given)) == len(given) > 0


def _are_lists(given: object, width: int) -> bool:
    return isinstance(given, list) and all(isinstance(one, list) and len(one) == width for one in given)


_BEGIN_OF_COLUMNS: Final = re.compile(r'\ufeff?\s*\{\s*"(?P<key>[^"\\]{1,80})"\s*:\s*[\[{]')


def may_be_columns(text: str) -> bool:
    """Return whether a JSON text begins like a table by columns.

    Examples
    --------
    >>> [may_be_columns(text) for text in ('{"flops": [1, 2]}', '{"columns": ["name"]}', '{"traceEvents": [')]
    [True, True, False]
    """
    found = _BEGIN_OF_COLUMNS.match(text)
    return found is not None and (
        found["key"] in {"columns", "index", "data", "cols"} or meaning(found["key"]) is not None
    )


def _values(document: object) -> Iterator[tuple[str, object]]:
    """Yield the values of a document, the shallow ones first."""
    level: list[tuple[str, object]] = [("", document)]
    for _ in range(_MAX_DEPTH):
        objects = [(path, value) for path, value in level if isinstance(value, Mapping)][:_MAX_OBJECTS]
        level = [(f"{path}.{key}".lstrip("."), part) for path, value in objects for key, part in value.items()]
        yield from level


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(key) for row in rows[:_MAX_KEYED_RECORDS] for key in row))


def first_records(text: str) -> Iterator[Mapping[str, Any] | json.JSONDecodeError]:
    """Yield the first object of each list in the begin of a JSON text, or the error that ends the object."""
    for number, begin in enumerate(_LIST_OF_OBJECTS.finditer(text)):
        if number == _MAX_LISTS:
            return
        try:
            record, _ = json.JSONDecoder().raw_decode(text, begin.end())
        except json.JSONDecodeError as error:
            yield error
        except (RecursionError, ValueError):
            return
        else:
            yield record


# -- an object on each line ----------------------------------------------------------------------------------------

_FIRST_LINES: Final = re.compile(r"\ufeff?\s*(\{.*\})[ \t]*\r?\n\s*\{")


def line_record(source: File) -> Mapping[str, Any] | None:
    r"""Return the object on the first line, if the second line begins with an object too; else None.

    Examples
    --------
    >>> line_record(File.of(b'{"name": "a"}\n{"name": "b"}'))
    {'name': 'a'}
    """
    found = _FIRST_LINES.match(source.beginning)
    if found is None:
        return None
    try:
        record = json.loads(found[1])
    except (RecursionError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def line_records(source: File) -> list[Mapping[str, Any]]:
    """Return the objects of a file with an object on each line.

    Raises
    ------
    ProfileError
        If a line is not an object. The message names line and column.
    """
    lines = source.text().lstrip("\ufeff").split("\n")
    records = list[Mapping[str, Any]]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = strict_json.parse(line).value
        except strict_json.JsonError as error:
            column = (error.place or "").partition(", ")[2]
            place = f"line {number}, {column}" if column else f"line {number}"
            raise source.error(error.reason, place=place) from None
        if not isinstance(record, dict):
            raise source.error("expected an object on each line", place=f"line {number}")
        records.append(record)
    return records


# -- the chip beside the records -----------------------------------------------------------------------------------

_HARDWARE: Final = frozenset(
    {
        "hardware",
        "hw",
        "device",
        "gpu",
        "chip",
        "accelerator",
        "machine",
        "processor",
        "cpu",
        "tpu",
        "system",
        "platform",
    }
)
_NAMES: Final = (
    "name",
    "model",
    "gpu",
    "device",
    "chip",
    "gpu_name",
    "device_name",
    "chip_name",
    "product",
    "product_name",
)
_TOKEN: Final = re.compile(r"[a-z0-9]+")
_RATE: Final = re.compile(r"([kmgtp]?)(?:flops?|ops?)(?:ps)?")
_BANDWIDTH: Final = re.compile(r"((?:[kmgtp]i?)?)b(?:ytes?)?(?:ps|s)?")
_LEVELS: Final = {"l1": "L1", "l2": "L2", "l3": "L3", "hbm": "HBM", "vmem": "VMEM", "smem": "SMEM", "gddr": "GDDR"}
_MAIN: Final = "DRAM"
_UNSPECIFIED: Final = "unspecified"
_PRECISIONS: Final = frozenset(PRECISION_ALIASES.values())
_MAX_FIGURE: Final = 1e24
_MIN_PLAIN_BANDWIDTH: Final = 1e9
"""A bandwidth without a unit is in bytes/s only from this number on; a smaller one may be in GB/s."""


def chip_beside(document: object, file: str, precisions: set[str | None]) -> tuple[Chip | None, list[str]]:
    """Return the chip that a document names or describes under a key such as ``hardware``, and warnings.

    Parameters
    ----------
    document
        The document.
    file
        The file, for messages.
    precisions
        The precisions of the kernels. If there is one, it is that of a peak whose key names none.

    Raises
    ------
    ProfileError
        If a peak or a bandwidth is impossible.
    """
    for path, value in _values(document):
        if _is_hardware(path):
            name, figures = _described(value)
            if name or figures:
                return _chip(file, path, name, figures, precisions)
    return None, []


def _is_hardware(path: str) -> bool:
    return bool(_HARDWARE & set(_TOKEN.findall(path.rpartition(".")[2].casefold())))


def _described(value: object) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the figures of a chip: of a text, or of an object."""
    if isinstance(value, str):
        return value.strip(), {}
    if not isinstance(value, Mapping):
        return "", {}
    keys = {str(key).casefold(): key for key in value}
    name = next((value[keys[word]] for word in _NAMES if isinstance(value.get(keys.get(word)), str)), "")
    return name.strip(), value


def _chip(
    file: str, path: str, name: str, figures: Mapping[str, Any], precisions: set[str | None]
) -> tuple[Chip | None, list[str]]:
    why = "which has no name"
    if name:
        try:
            return chip_of_device(name), []
        except LookupError as error:
            why = str(error)
    usual = next(iter(precisions)) if len(precisions) == 1 else None
    with figures_of_chip(file, f"'{path}'"):
        peaks = dict(_peaks(figures, usual or _UNSPECIFIED))
        bandwidths = dict(_bandwidths(figures))
        if peaks and bandwidths:
            source = Source(f"{file}, '{path}'", confidence="given")
            keys = [*(f"peak_flops.{key}" for key in peaks), *(f"memories.{key}.bandwidth" for key in bandwidths)]
            main = next((level for level in bandwidths if is_off_chip(level)), next(iter(bandwidths)))
            levels = {
                level: Memory(level, bandwidths[level]) for level in (main, *(x for x in bandwidths if x != main))
            }
            return Chip(name or path, peaks, levels, sources=dict.fromkeys(keys, source)), []
    said = f"'{path}' names the chip {name!r}, {why}" if name else f"'{path}' describes a chip, {why}"
    return None, [f"{said}; with a peak such as 'peak_tflops' and 'bandwidth_gb_s' beside it, its roofs are known"]


def _peaks(figures: Mapping[str, Any], usual: str, above: str = "") -> Iterator[tuple[str, float]]:
    """Yield precisions and FLOP/s of keys such as ``fp16_tflops`` or ``{"peak_flops": {"fp16": …}}``."""
    for key, value in figures.items():
        tokens = _TOKEN.findall(f"{above} {key}".casefold())
        if isinstance(value, Mapping):
            if any(_RATE.fullmatch(token) for token in tokens):
                yield from _peaks(value, usual, " ".join(tokens))
            continue
        unit = next((match for match in map(_RATE.fullmatch, tokens) if match), None)
        if unit is None:
            continue
        known = [precision_key(token) for token in tokens if precision_key(token) in _PRECISIONS]
        rate = _figure(value, "FLOP/s", units.prefix_factor(unit[1]))
        if rate is not None:
            yield known[0] if known else usual, rate


def _bandwidths(figures: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield levels and bytes/s of keys such as ``bandwidth_gb_s``, ``mem_bw_gbps`` or ``{"bandwidth": "2 TB/s"}``."""
    for key, value in figures.items():
        tokens = _TOKEN.findall(str(key).casefold())
        found = [match[1] for token in tokens if (match := _BANDWIDTH.fullmatch(token)) and match[1]]
        if not ({"bandwidth", "bw"} & set(tokens) or any(re.fullmatch("[gt]i?bps", token) for token in tokens)):
            continue
        rate = _figure(value, "B/s", units.prefix_factor(found[0] if found else ""))
        if rate is not None and (found or isinstance(value, str) or rate >= _MIN_PLAIN_BANDWIDTH):
            yield next((_LEVELS[token] for token in tokens if token in _LEVELS), _MAIN), rate


def _figure(value: object, unit: str, factor: float) -> float | None:
    """Return a number times its factor, or a text with its own unit, in base units; None for other values."""
    if isinstance(value, str):
        try:
            return units.parse(value, unit, "the figure")
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = float(value) if abs(value) < _MAX_FIGURE else math.nan
    return number * factor if number > 0 else None
