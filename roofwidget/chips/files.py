"""Chips from a user's own TOML file."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from roofwidget import units
from roofwidget.chips import chip_record, toml
from roofwidget.chips.chip import Chip
from roofwidget.support.arguments import short_message, shown_value
from roofwidget.support.did_you_mean import did_you_mean
from roofwidget.support.paths import problem_of, shown
from roofwidget.support.precisions import operation

# No rate of a chip is below `_MIN_RATE`, and no capacity is below `_MIN_CAPACITY_BYTES`. If a number without a unit is
# smaller, the user meant TFLOP/s, GB/s or GiB.
_MIN_RATE: Final = 1e9  # FLOP/s or bytes/s
_MIN_CAPACITY_BYTES: Final = 1e3
_RATE_KEYS: Final = {"memories": ("bandwidth",), "host_memories": ("bandwidth",), "links": ("bandwidth", "per_link")}
_SIZE_KEYS: Final = ("capacity", "usable", "per_block")
_EXAMPLES: Final = {"FLOP/s": "989.5 TFLOP/s", "B/s": "3.35 TB/s", "B": "80 GiB"}
_PRECISION: Final = re.compile(r"(?:fp|bf|tf|int)(\d+)")
# The units of figures in checks. A check's value without a unit must reach `_MIN_RATE` or `_MIN_CAPACITY_BYTES`.
_CHECK_UNITS: Final = (
    (re.compile(r"peak_flops\..+"), "FLOP/s"),
    (re.compile(r"(?:host_)?memories\..+\.bandwidth|links\..+\.(?:bandwidth|per_link)"), "B/s"),
    (re.compile(r"(?:host_)?memories\..+\.(?:capacity|usable|per_block)"), "B"),
)
_EXAMPLE: Final = """
[[chips]]
name = "My chip"
peak_flops.bf16 = "400 TFLOP/s"
memories.HBM = { bandwidth = "2 TB/s", capacity = "64 GiB" }"""
# Maps a width in bits to the double width. tf32 is stored in 32 bits, so its width is 32.
_TWICE_AS_WIDE: Final = {32: 64, 16: 32, 8: 16, 4: 8}
# Slightly more than 2, because data sheets round: 1979 TFLOP/s at fp8 and 989 TFLOP/s at bf16 mean a factor of 2.
_MAX_SPEEDUP: Final = 2.02


def load_chips(path: str | os.PathLike[str]) -> tuple[Chip, ...]:
    """Read chips from a TOML file.

    Parameters
    ----------
    path
        A file with one ``[[chips]]`` table per chip; the keys are those of `Chip.to_dict`. A figure is a number in
        base units, text such as ``"989.5 TFLOP/s"``, or ``{ value = …, source = "key", confidence = "measured" }``,
        where ``[sources.key]`` has a `title` and optionally a `url` and a `confidence`.

    Returns
    -------
    tuple of Chip
        In the order of the file.

    Raises
    ------
    ValueError
        If something is wrong. The message names the file, the line and what to write instead; no chip is read.
    OSError
        If the file cannot be opened.

    Warns
    -----
    UserWarning
        If a peak is more than twice the fastest peak at double width; for example, the fp8 peak is more than twice the
        bf16 peak. Such a peak often includes sparsity, but it is correct for some chips. A second warning is for a
        ceiling above its roof, unless the ceiling was measured.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> text = '''
    ... [[chips]]
    ... name = "My chip"
    ... peak_flops = { bf16 = "400 TFLOP/s", fp8 = "800 TFLOP/s" }
    ... memories.HBM = { bandwidth = "2 TB/s", capacity = "64 GiB" }
    ... memories.SRAM = "20 TB/s"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "chips.toml")
    ...     _ = file.write_text(text, encoding="utf-8")
    ...     load_chips(file)
    (Chip('My chip': bf16 400 TFLOP/s, fp8 800 TFLOP/s; HBM 2 TB/s, SRAM 20 TB/s),)
    """
    file = _File(path)
    chips = tuple(file.chip(index) for index in range(len(file.tables)))
    for index, made in enumerate(chips):
        written = {key.casefold(): key for key in file.tables[index]["peak_flops"]}
        for precision, problem in _too_fast(made):
            where: toml.Path = ("chips", index, "peak_flops", written[precision])
            warnings.warn(file.located(where, problem), UserWarning, stacklevel=2)
        for place, problem in _above_roof(made):
            warnings.warn(file.located(("chips", index, "ceilings", place, "rate"), problem), UserWarning, stacklevel=2)
    return chips


class _File:
    """A parsed file with the line of each key."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path must be the path of a TOML file, got {shown_value(path)}")
        self.path = shown(path)
        problem = problem_of(path)
        if problem is not None:
            raise ValueError(f"{self.path}: {problem}")
        try:
            # Editors on Windows write a byte order mark, which TOML does not allow.
            self.text = Path(path).read_text(encoding="utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}: not UTF-8 text (byte {error.start})") from None
        try:
            table = toml.parse(self.text)
            self.lines = toml.line_numbers(self.text)
        except ValueError as error:
            raise ValueError(_syntax(self.path, self.text, str(error))) from None
        for key in table:
            if key not in {"chips", "sources"}:
                hint = did_you_mean(key, ["chips", "sources"], "; a chip is a table of its own, [[chips]]")
                raise self.error((key,), f"a file of chips has no key '{key}'{hint}")
        self.tables = table.get("chips", [])
        if not isinstance(self.tables, list) or not self.tables:
            raise self.error(("chips",), f"there is no chip; begin each with a line [[chips]], such as\n{_EXAMPLE}")
        with _WithPlace(self, ()):
            self.documents = chip_record.documents(table.get("sources", {}))
        self.ids: dict[str, int] = {}

    def chip(self, index: int) -> Chip:
        with _WithPlace(self, ("chips", index)):
            record = self.tables[index]
            if not isinstance(record, Mapping):
                raise chip_record.RecordError(
                    (), f"a chip must be a table, got {record!r}; write it such as\n{_EXAMPLE}"
                )
            _refuse_small_numbers(record)
            made = chip_record.from_record(Chip, record, self.documents)
        if made.id in self.ids:
            first = toml.line_of(self.lines, ("chips", self.ids[made.id]))
            where = ("chips", index, "id" if "id" in record else "name")
            raise self.error(where, f"the id '{made.id}' is taken by the chip of line {first}; give one a new id")
        self.ids[made.id] = index
        return made

    def located(self, where: toml.Path, problem: str) -> str:
        return f"{self.path}, line {toml.line_of(self.lines, where)}: {short_message(problem)}"

    def error(self, where: toml.Path, problem: str) -> ValueError:
        return ValueError(self.located(where, problem))


class _WithPlace:
    """A context manager: adds the file and the line to an error that names a place in a record."""

    def __init__(self, file: _File, within: toml.Path) -> None:
        self.file = file
        self.within = within

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, chip_record.RecordError):
            raise self.file.error((*self.within, *error.path), str(error)) from None


def _syntax(path: str, text: str, problem: str) -> str:
    place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", problem)
    line = place[1] if place and place[1] else str(text.rstrip("\n").count("\n") + 1)
    reason = problem.replace(place[0], "") if place else problem
    return f"{path}, line {line}: this is not TOML: {reason}"


def _refuse_small_numbers(record: Mapping[str, Any]) -> None:
    """Raise an error for a number without a unit that is too small to be in base units."""
    name = record.get("name")
    for where, unit, value in _figures(record):
        least = _MIN_CAPACITY_BYTES if unit == "B" else _MIN_RATE
        number = _number(value["value"] if isinstance(value, Mapping) and "value" in value else value)
        if number is not None and 0 < number < least:
            what = f"{'.'.join(str(part) for part in where)} of chip '{name}'"
            problem = f"{what} is {number:g} {unit} without a unit; write the unit, such as '{_EXAMPLES[unit]}'"
            raise chip_record.RecordError(where, problem)


def _figures(record: Mapping[str, Any]) -> Iterator[tuple[toml.Path, str, Any]]:
    peaks = record.get("peak_flops")
    if isinstance(peaks, Mapping):
        for precision, value in peaks.items():
            yield ("peak_flops", precision), "FLOP/s", value
    yield from _parts(record)
    for index, ceiling in _tables(record, "ceilings"):
        if "rate" in ceiling:
            yield ("ceilings", index, "rate"), "B/s" if "memory" in ceiling else "FLOP/s", ceiling["rate"]
    for index, check in _tables(record, "checks"):
        unit = next((unit for key, unit in _CHECK_UNITS if key.fullmatch(str(check.get("figure")))), None)
        if unit is not None and "value" in check:
            yield ("checks", index, "value"), unit, check["value"]


def _parts(record: Mapping[str, Any]) -> Iterator[tuple[toml.Path, str, Any]]:
    for kind, rates in _RATE_KEYS.items():
        parts = record.get(kind)
        for key, part in parts.items() if isinstance(parts, Mapping) else ():
            if not isinstance(part, Mapping) or "value" in part:
                yield (kind, key), "B/s", part
                continue
            yield from (((kind, key, rate), "B/s", part[rate]) for rate in rates if rate in part)
            yield from (((kind, key, size), "B", part[size]) for size in _SIZE_KEYS if size in part)


def _tables(record: Mapping[str, Any], word: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    given = record.get(word)
    for index, one in enumerate(given) if isinstance(given, list) else ():
        if isinstance(one, Mapping):
            yield index, one


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (OverflowError, ValueError):
        return None


def _too_fast(chip: Chip) -> Iterator[tuple[str, str]]:
    """Yield a precision and a warning for each peak that is too fast.

    A peak is too fast if it is more than twice the fastest peak at double width. For example, the fp8 peak is compared
    with the fastest 16-bit peak.
    """
    width = {precision: int(match[1]) for precision in chip.peak_flops if (match := _PRECISION.fullmatch(precision))}
    for precision, bits in width.items():
        wider = [other for other, its in width.items() if its == _TWICE_AS_WIDE.get(bits)]
        if not wider:
            continue
        sibling = max(wider, key=chip.peak)
        if chip.peak(precision) > _MAX_SPEEDUP * chip.peak(sibling):
            yield precision, _too_fast_warning(chip, precision, sibling)


def _too_fast_warning(chip: Chip, precision: str, sibling: str) -> str:
    rates = [f"{key} {units.format_quantity(chip.peak(key), f'{operation(key)}/s', 4)}" for key in (precision, sibling)]
    ratio = units.format_significant(chip.peak(precision) / chip.peak(sibling))
    return (
        f"{rates[0]} of chip '{chip.name}' is {ratio} times {rates[1]}, of twice its width; "
        "peaks are dense: is it a figure with sparsity?"
    )


def _above_roof(chip: Chip) -> Iterator[tuple[int, str]]:
    """Yield an index and a warning for each ceiling that is above its roof and was not measured."""
    for place, ceiling in enumerate(chip.ceilings):
        if ceiling.measured:
            continue
        if ceiling.memory is not None:
            roof, unit, name = chip.memories[ceiling.memory].bandwidth, "B/s", ceiling.memory
        else:
            name = ceiling.precision or max(chip.peak_flops, key=chip.peak)
            roof, unit = chip.peak(name), f"{operation(name)}/s"
        if roof is not None and ceiling.rate > roof:
            rates = [units.format_quantity(rate, unit, 4) for rate in (ceiling.rate, roof)]
            what = f"ceiling '{ceiling.name}' of chip '{chip.name}', {rates[0]}, lies above its roof, {name} {rates[1]}"
            yield place, f"{what}; if it was measured, write measured = true"
