"""Computes the fields of `Kernels` from the columns of a table.

Two of FLOPs, seconds and FLOP/s give the third, and so do two of FLOPs, bytes and FLOP/B, and two of bytes, seconds and
bytes/s. What a table gives beyond that must agree. Amounts win over ratios, because a ratio is computed from amounts
and rounded. A total wins over an average for the same reason.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from typing import Any, Final, Protocol

import numpy as np

from roofwidget import units
from roofwidget.chips import AmbiguousChipError, Chip, UnknownChipError, is_off_chip
from roofwidget.chips import chip as chip_called
from roofwidget.kernels.column_meanings import (
    BANDWIDTH,
    BASE_UNITS,
    CHIP,
    FIELDS,
    RATIOS,
    Meaning,
    is_regular,
    meaning,
    named_by_index,
    no_column,
    paired,
    question,
    stem,
    unit_of,
)
from roofwidget.kernels.columns import (
    ASKED_PRECISION,
    MAIN_LEVEL,
    Bools,
    DictColumn,
    Floats,
    dict_encoded,
    known_or,
    sum_of_known,
    unwarned,
)
from roofwidget.kernels.metadata import Rows
from roofwidget.support.did_you_mean import unknown_keyword

# -- which column has which field ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """The column of a table that has one of our fields, and how to convert its numbers.

    Parameters
    ----------
    column
        The column's name.
    scale
        The factor to the base unit of the field.
    per
        ``""`` for a total, ``"launch"`` for one launch, ``"second"`` for a rate.
    rule
        Where the number comes from, for `Kernels.origin`; empty if the column's name is enough.
    also
        A column whose numbers are added, such as bytes written to bytes read.
    """

    column: str
    scale: float = 1.0
    per: str = ""
    rule: str = ""
    also: Field | None = attribute(default=None, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return (self.column,) if self.also is None else (self.column, *self.also.columns)

    @property
    def origin(self) -> str:
        """The column, its factors and the rule, as text."""
        scale = f" x {self.scale:.12g}" if self.scale != 1 else ""
        per = {"launch": " x launches", "second": " x time"}.get(self.per, "")
        more = "" if self.also is None else f" + {self.also.origin}"
        return f'"{self.column}"{scale}{per}{f" ({self.rule})" if self.rule else ""}{more}'


@dataclass(frozen=True)
class Dialect:
    """Which column has which field. Fields of FLOPs and bytes may name a precision or level, as in ``"bytes:L2"``.

    Parameters
    ----------
    name
        The tool, or ``"plain"`` if words and units tell the fields.
    fields
        The column of each field.
    uncounted
        Fields that the tool writes as 0 together where it does not count them.
    asked
        Columns that may be a field, but are not certain.
    twins
        Columns that mean the same as a column of `fields`.
    """

    name: str
    fields: Mapping[str, Field]
    uncounted: Collection[str] = ()
    asked: Sequence[Meaning] = ()
    twins: Sequence[Meaning] = ()

    @property
    def stems(self) -> set[str]:
        """The fields without precisions and levels."""
        return set(map(stem, self.fields))

    @property
    def is_point(self) -> bool:
        """Whether the table has both coordinates of a roofline."""
        return {"intensity", "rate"} <= self.stems or {"rate", BANDWIDTH} <= self.stems

    @property
    def is_enough(self) -> bool:
        """Whether the table has names, and FLOPs, bytes or seconds; or all that a point needs."""
        has_point = self.is_point or {"flops", "bytes"} <= self.stems
        return has_point or ("name" in self.fields and bool(self.stems & {"flops", "bytes", "time", "self_time"}))


def found_in(
    names: Sequence[str], row_units: Mapping[str, str] | None = None, in_cells: Collection[str] = ()
) -> Dialect:
    """Return the fields of a table whose columns have plain words and units.

    If several columns mean one field, the column with our own name for the field is used. If no column has this name, a
    total is used before an average, and the first column before others.

    Parameters
    ----------
    names
        The columns.
    row_units
        Units by column that a row of units or the cells give.
    in_cells
        The columns whose cells had units, which have priority over the units of headers.

    Examples
    --------
    >>> found_in(["Kernel Name", "Duration (us)", "DRAM Bytes"]).fields["time"]
    Field(column='Duration (us)', scale=1e-06, per='', rule='')
    """
    units_of = row_units or {}
    return _found_in(tuple((name, units_of.get(name, ""), name in in_cells) for name in names))


@functools.lru_cache(256)
def _found_in(columns: tuple[tuple[str, str, bool], ...]) -> Dialect:
    """Return the fields of a table. Many files have the same columns, so the result is cached: do not change it."""
    found_meanings = (meaning(name, unit, in_cells=in_cells) for name, unit, in_cells in columns)
    meanings = paired(one for one in found_meanings if one is not None)
    is_counted = any(one.key == "count" for one in meanings)
    meanings = [replace(one, doubt="words") if one.per_launch and not is_counted else one for one in meanings]
    certain = [one for one in meanings if not one.doubt]
    certain.sort(key=lambda one: (one.column.casefold() != one.key.casefold(), one.is_bare, one.per_launch))
    by_words = Dialect("plain", _fields([one for one in certain if not one.is_bare or one.key == "name"]))
    found = Dialect("plain", _fields(certain))
    # Units alone do not make a table: "op,ms" may be anything.
    is_table = found.is_enough and bool(by_words.stems & BASE_UNITS.keys())
    if not (is_table or found.is_point or _are_coordinates(found, meanings)):
        found, certain = by_words, [one for one in certain if not one.is_bare or one.key == "name"]
    fields = dict(found.fields)
    asked = [one for one in meanings if one.doubt]
    if _are_coordinates(found, meanings):
        rate = next(one for one in asked if one.doubt == "rate")
        fields["rate"] = _field(replace(rate, key="rate", units=rate.units[1:]))
        asked.remove(rate)
    used = {column for field in fields.values() for column in field.columns}
    return Dialect("plain", fields, asked=asked, twins=[one for one in certain if one.column not in used])


def with_index(dialect: Dialect, given: TableColumns) -> Dialect:
    """Return the dialect in which a column of texts with the index of a data frame has the names."""

    def is_text(column: str) -> bool:
        try:
            given.numbers(column)
        except ValueError:
            return True
        return False

    column = named_by_index(given.names, is_text) if "name" not in dialect.fields else None
    return dialect if column is None else replace(dialect, fields={**dialect.fields, "name": Field(column)})


def _are_coordinates(found: Dialect, meanings: Sequence[Meaning]) -> bool:
    """Return whether "GFLOPS" can only be a rate: beside an intensity, in a table without amounts."""
    has_amount = any(one.field in {"time", "flops", "bytes", BANDWIDTH} and one.doubt != "rate" for one in meanings)
    may_be_rate = any(one.doubt == "rate" for one in meanings)
    return may_be_rate and not has_amount and "rate" not in found.stems and "intensity" in found.stems


def _fields(meanings: Iterable[Meaning]) -> dict[str, Field]:
    found: dict[str, Field] = {}
    for one in meanings:
        found.setdefault(one.key, _field(one))
    return found


def _field(one: Meaning) -> Field:
    """Return the field of a column whose unit is certain. A rate of one precision is FLOPs of this precision."""
    if not one.units:
        return Field(one.column)
    unit = one.units[0]
    per = "launch" if one.per_launch else "second" if one.field == "flops" and unit.endswith("/s") else ""
    scale = units.parse(f"1 {unit}", "FLOP/s" if per == "second" else BASE_UNITS[one.field], "")
    return Field(one.column, scale, per, also=None if one.also is None else _field(one.also))


def with_own(
    dialect: Dialect,
    columns: Mapping[str, Any],
    names: Sequence[str],
    row_units: Mapping[str, str] | None = None,
    in_cells: Collection[str] = (),
) -> Dialect:
    """Return the dialect with the columns that the user named.

    For a field the user names a column, or a column and its unit, or a list of such pairs, whose numbers are added.
    Without a unit the unit of the header counts. The numbers of the columns `in_cells` had units in their cells, which
    count before all others.

    Raises
    ------
    TypeError, ValueError
        If the field or the column does not exist, or the unit does not fit the field.
    """
    own = dict(dialect.fields)
    for field, given in columns.items():
        head = stem(field)
        if head not in FIELDS and field != CHIP:
            raise unknown_keyword("columns", field, (*FIELDS, CHIP))
        added: Field | None = None
        for column, unit in reversed(columns_and_units(field, given)):
            if column not in names:
                raise ValueError(no_column(column, names))
            own = {key: one for key, one in own.items() if column not in one.columns or key in columns}
            row_unit = (row_units or {}).get(column, "")
            found = _own_field(head, column, row_unit if column in in_cells else unit, row_unit)
            added = replace(found, also=added)
        if added is not None:
            own[field] = added
    used = {column for one in own.values() for column in one.columns}
    asked, twins = ([one for one in some if one.column not in used] for some in (dialect.asked, dialect.twins))
    return replace(dialect, fields=own, asked=asked, twins=twins)


def _own_field(field: str, column: str, unit: str | None, row_unit: str) -> Field:
    """Return the field of a column that the user named."""
    if field not in BASE_UNITS:
        return Field(column)
    per = ""
    if unit is None:
        meant = meaning(column, row_unit)
        options = meant.units if meant is not None and meant.field in _FITTING[field] else ()
        if len(options) > 1 and set(options) != {"FLOP", "FLOP/s"}:
            raise ValueError(_two_readings(field, column, options))
        unit, per = (*options, "")[0], "launch" if meant is not None and meant.per_launch else ""
    elif (head := unit.partition("/")[2].strip()) in {"call", "launch"}:
        unit, per = unit.removesuffix(head).rstrip("/ "), "launch"
    found = unit_of(unit)
    if found is not None and found.field in _FITTING[field] and found.text:
        if found.other and len(found.text) > len("FLOP"):
            raise ValueError(_two_readings(field, column, found.options))
        unit = found.text
    is_rate = field in {"flops", "bytes"} and unit.endswith("/s")
    scale = units.parse(f"1 {unit}", BASE_UNITS[field] + "/s" * is_rate, f"the unit of column '{column}'")
    return Field(column, scale, "second" if is_rate else per)


_FITTING: Final = {
    **{field: {field} for field in BASE_UNITS},
    "flops": {"flops", "rate"},
    "bytes": {"bytes", BANDWIDTH},
    "time": {"time", "self_time"},
    "self_time": {"time", "self_time"},
    "rate": {"rate", "flops"},
}


def _two_readings(field: str, column: str, options: Sequence[str]) -> str:
    choices = " or ".join(repr((column, unit)) for unit in options)
    return f"columns: '{field}': the unit of '{column}' may be that of a count or of a rate; write {choices}"


def columns_and_units(field: str, given: Any) -> list[tuple[str, str | None]]:
    """Return the columns that the user named for a field, and their units if given.

    Raises
    ------
    TypeError
        If `given` is neither a column, nor a pair of a column and a unit, nor a list of such pairs.
    """
    if isinstance(given, (tuple, list)) and given and all(isinstance(one, (tuple, list)) for one in given):
        return [pair for one in given for pair in columns_and_units(field, one)]
    column, unit = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, None)  # noqa: PLR2004 - a pair
    if not isinstance(column, str) or not isinstance(unit, (str, type(None))):
        msg = f"columns: '{field}' needs a column's name, or a name and a unit such as ('ms', 'ms'), got {given!r:.60}"
        raise TypeError(msg)
    return [(column, unit)]


# -- amounts and ratios --------------------------------------------------------------------------------------------


class TableColumns(Protocol):
    """The columns of a table from any source.

    Attributes
    ----------
    names
        The columns' names.
    skipped
        The number of lines between the rows that are not rows of the table.
    how
        What the user writes to name a column, for messages, such as ``use rw.read(frame, columns=``.
    keeps_empty
        Whether `Kernels.extra` gets columns of numbers that have no value in any row.
    states_own_fields
        Whether the origin of a field is recorded even if the column has the field's own name.
    """

    names: Sequence[str]
    skipped: int
    how: str
    keeps_empty: bool
    states_own_fields: bool

    def numbers(self, column: str, *, truths: bool = False) -> Floats:
        """Return the numbers of a column. Raise `ValueError` for other cells.

        With `truths`, True is 1 and False is 0.
        """

    def words(self, column: str) -> DictColumn:
        """Return the texts of a column. Raise `ValueError` for other cells."""

    def refuse(self, row: int, column: str, reason: str) -> ValueError:
        """Return the error for a bad cell; `reason` says what is wrong with the cell."""


class _Amounts:
    """FLOPs, bytes and seconds of the rows that are kernels, over all launches, and ratios, in base units.

    `origin` has a text for each amount that was computed from other columns. `used` has the keys of the fields that
    an amount comes from.
    """

    def __init__(self, given: TableColumns, fields: Mapping[str, Field], rows: Rows) -> None:
        self._given = given
        self._fields = fields
        self._rows = rows
        self._parsed: dict[str, Floats] = {}
        count = self.raw(fields.get("count"))
        self.count = np.ones(len(rows)) if count is None else count
        self.time = self._total("time")
        self.self_time = self._total("self_time")
        self.flops, self.rates = self._by_key("flops", ASKED_PRECISION, "rate")
        self.bytes, self.bandwidths = self._by_key("bytes", MAIN_LEVEL, BANDWIDTH)
        self.intensities = self._by_key("intensity", MAIN_LEVEL, "")[0]
        self._name_main_level()
        self.origin: dict[str, str] = {}
        self.used = {key for key, field in fields.items() if stem(key) not in _RATIOS and not _is_rate(field)}
        for _ in range(2):
            self._fill()

    def raw(self, field: Field | None) -> Floats | None:
        """Return the numbers of a column as written; they must not be negative."""
        if field is None:
            return None
        if field.column in self._parsed:
            return self._parsed[field.column]
        numbers = _at_rows(self._given.numbers(field.column), self._rows)
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0))
            raise self._given.refuse(int(self._rows[row]), field.column, f"{numbers[row]:g} is negative")
        self._parsed[field.column] = numbers
        return numbers

    def scaled(self, field: Field) -> Floats:
        """Return the numbers of a column in the base unit; averages are multiplied by the launches."""
        numbers = self.raw(field)
        assert numbers is not None  # noqa: S101 - the field is given
        numbers = numbers if field.scale == 1 else numbers * field.scale
        found = numbers * self.count if field.per == "launch" else numbers
        return found if field.also is None else found + self.scaled(field.also)

    def _total(self, key: str) -> Floats | None:
        return self.scaled(self._fields[key]) if key in self._fields else None

    def _by_key(self, field: str, plain: str, ratio: str) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the amounts by precision or level, and the same per second."""
        amounts: dict[str, Floats] = {}
        rates: dict[str, Floats] = {}
        for key, one in self._fields.items():
            head, _, part = key.partition(":")
            if head in {field, ratio}:
                is_rate = head == ratio or _is_rate(one)
                (rates if is_rate else amounts).setdefault(part or plain, self.scaled(one))
        return amounts, rates

    def _name_main_level(self) -> None:
        """Give plain numbers of the main memory the name that other columns give it."""
        columns = (self.bytes, self.bandwidths, self.intensities)
        names = [[level for level in one if level != MAIN_LEVEL and is_off_chip(level)] for one in columns]
        outside = names[0] or [*names[1], *names[2]]
        if len(set(outside)) == 1:
            for one in columns:
                if MAIN_LEVEL in one and outside[0] not in one:
                    one[outside[0]] = one.pop(MAIN_LEVEL)

    @property
    def main(self) -> str:
        """The level of the main memory."""
        known = (*self.bytes, *self.bandwidths, *self.intensities)
        return next((level for level in known if level == MAIN_LEVEL or is_off_chip(level)), MAIN_LEVEL)

    @property
    def total_flops(self) -> Floats:
        """FLOPs over all precisions."""
        return sum_of_known(list(self.flops.values()), len(self._rows))

    @property
    def total_rate(self) -> Floats:
        """FLOP/s over all precisions."""
        return sum_of_known(list(self.rates.values()), len(self._rows))

    @unwarned
    def _fill(self) -> None:
        """Compute what is unknown from what is known, once."""
        time = self._unknown() if self.time is None else self.time
        if self.rates:
            implied = _quotient(self.total_flops, self.total_rate)
            time = self._filled("time", time, implied, "flops", *self.keys_of_rates())
        for level, bandwidth in self.bandwidths.items():
            if level in self.bytes:
                key = self.key_of(BANDWIDTH, level)
                time = self._filled("time", time, _quotient(self.bytes[level], bandwidth), f"bytes:{level}", key)
        self.time = None if self.time is None and np.isnan(time).all() else time
        for precision, rate in self.rates.items():
            self._complete("flops", self.flops, precision, rate * time, self.key_of("rate", precision), "time")
        for level, bandwidth in self.bandwidths.items():
            self._complete("bytes", self.bytes, level, bandwidth * time, self.key_of(BANDWIDTH, level), "time")
        for level, intensity in self.intensities.items():
            key = self.key_of("intensity", level)
            if level in self.bytes:
                crossed = np.where(np.isnan(self.total_flops), intensity * self.bytes[level], np.nan)
                self._complete("flops", self.flops, ASKED_PRECISION, crossed, key, "bytes")
            self._complete("bytes", self.bytes, level, _quotient(self.total_flops, intensity), "flops", key)
        self._fill_coordinates()

    def _fill_coordinates(self) -> None:
        """Compute an intensity or a rate from the other and the bandwidth, for kernels whose FLOPs are unknown."""
        bandwidth = self.bandwidths.get(self.main)
        if bandwidth is None:
            return
        key, is_unknown = self.key_of(BANDWIDTH, self.main), np.isnan(self.total_flops)
        ratio = np.where(is_unknown, _quotient(self.total_rate, bandwidth), np.nan)
        self._complete("intensity", self.intensities, self.main, ratio, *self.keys_of_rates(), key)
        rate = np.where(is_unknown, self.intensities.get(self.main, self._unknown()) * bandwidth, np.nan)
        self._complete("rate", self.rates, ASKED_PRECISION, rate, self.key_of("intensity", self.main), key)

    def _unknown(self) -> Floats:
        return np.full(len(self._rows), np.nan)

    def key_of(self, ratio: str, part: str) -> str:
        """Return the key of the field that has a ratio; `ratio` if the ratio was computed."""
        field = {"rate": "flops", BANDWIDTH: "bytes"}.get(ratio, "")
        given = [key for key in (f"{ratio}:{part}", ratio) if key in self._fields]
        as_amount = [key for key in (f"{field}:{part}", field) if key in self._fields and _is_rate(self._fields[key])]
        return next(iter([*given, *as_amount]), ratio)

    def keys_of_rates(self) -> list[str]:
        """Return the keys of the fields that have rates."""
        return [self.key_of("rate", precision) for precision in self.rates]

    def _filled(self, name: str, known: Floats, more: Floats, *keys: str) -> Floats:
        """Return `known`, and `more` where it is unknown. Note which fields `more` comes from."""
        is_new = np.isnan(known) & ~np.isnan(more)
        if not is_new.any():
            return known
        self.used.update(key for key in keys if key in self._fields)
        self.origin.setdefault(name, _formula(name, [self._fields.get(key) for key in keys], keys))
        return np.where(is_new, more, known)

    def _complete(self, field: str, columns: dict[str, Floats], part: str, more: Floats, *keys: str) -> None:
        plain = part in {ASKED_PRECISION, MAIN_LEVEL}
        known = columns.get(part, self._unknown())
        found = self._filled(field if plain else f"{field}:{part}", known, more, *keys)
        if part in columns or found is not known:
            columns[part] = found

    def implied(self, one: Meaning) -> Floats:
        """Return what the amounts give for a column."""
        part = one.key.partition(":")[2]
        moved = self.bytes.get(part or self.main, self._unknown())
        time = self._unknown() if self.time is None else self.time
        own = {"count": self.count, "time": time, "self_time": self.self_time, "bytes": moved}
        flops = self.flops.get(part, self._unknown()) if part and one.field == "flops" else self.total_flops
        rate = known_or(_quotient(flops, time), self.total_rate)
        ratios = {"flops": flops, "rate": rate, BANDWIDTH: _quotient(moved, time), "intensity": _quotient(flops, moved)}
        found = {**own, **ratios}.get(one.field)
        return self._unknown() if found is None else found

    def words(self, key: str) -> DictColumn | None:
        """Return the texts of a field, one per row."""
        if key not in self._fields:
            return None
        return self._given.words(self._fields[key].column).at_rows(self._rows)


def _at_rows(numbers: Floats, rows: Rows) -> Floats:
    return numbers if len(rows) == len(numbers) else numbers[rows]


_RATIOS: Final = frozenset({*RATIOS, BANDWIDTH})


def _is_rate(field: Field) -> bool:
    return field.per == "second"


@unwarned
def _quotient(amounts: Floats, divisors: Floats) -> Floats:
    return np.where(divisors > 0, amounts / divisors, np.nan)


def _formula(name: str, fields: Sequence[Field | None], keys: Sequence[str]) -> str:
    """Return how an amount was computed, as text: ``"GFLOP/s" x 1000000000 x time``."""
    texts = [
        stem(key)
        if field is None or (stem(key) in {"time", "flops", "bytes"} and not _is_rate(field))
        else replace(field, per="").origin
        for key, field in zip(keys, fields, strict=True)
    ]
    if name == "time" or (name.startswith("bytes") and keys[0] == "flops"):
        return f"{texts[0]} / ({texts[1]})" if " " in texts[1] else f"{texts[0]} / {texts[1]}"
    return " x ".join(texts)


# -- what must agree -----------------------------------------------------------------------------------------------

# A ratio and its amounts may come from different repetitions of a measurement.
_AGREEMENT: Final = 0.01
_MOST_DECIMALS: Final = 12


def _rounding(numbers: Floats) -> Floats:
    """Return by how much printed numbers may differ from what was rounded, relative to each number.

    A number counts as rounded at its last digit that is not 0, but not above the point.

    Examples
    --------
    >>> _rounding(np.array([0.083, 20.0])).round(4).tolist()
    [0.006, 0.025]
    """
    found, size = np.full(len(numbers), np.inf), np.abs(numbers)
    is_open = np.ones(len(numbers), dtype=np.bool_)
    for decimals in range(_MOST_DECIMALS):
        is_exact = is_open & (np.abs(np.round(size, decimals) - size) <= 1e-9 * size)
        found[is_exact] = 0.5 * 10.0**-decimals
        is_open &= ~is_exact
    found[is_open] = 0.0
    relative: Floats = np.divide(found, size, out=np.zeros(len(numbers)), where=size > 0)
    return relative


@unwarned
def _disagree(amounts: _Amounts, left: Floats, right: Floats, fields: Iterable[Field]) -> Bools:
    """Return in which rows two numbers differ by more than the digits of the columns allow."""
    distance = np.abs(np.log(left / right))
    differs = (distance > _AGREEMENT) & (left > 0) & (right > 0)
    if differs.any():
        slack = sum(_rounding(raw) for field in fields if (raw := amounts.raw(field)) is not None)
        differs &= distance > _AGREEMENT + np.log1p(slack)
    return np.asarray(differs, dtype=np.bool_)


def _quantities(fields: Mapping[str, Field]) -> list[Field]:
    return [field for key, field in fields.items() if stem(key) in BASE_UNITS]


def _resolved(given: TableColumns, dialect: Dialect, rows: Rows) -> tuple[_Amounts, Dialect, list[str]]:
    """Return the amounts of a table, its dialect, and warnings of columns that disagree with others.

    A column that may be a count or a rate is used if the other columns contradict one of the two readings.
    """
    amounts = _Amounts(given, dialect.fields, rows)
    asked, settled = [], []
    for one in dialect.asked:
        reading = _reading(given, amounts, dialect.fields, one) if one.doubt == "rate" else None
        if reading is None:
            asked.append(one)
            continue
        known = reading.key in dialect.fields and not _is_rate(dialect.fields[reading.key])
        if known or not np.isnan(amounts.implied(reading)).all():
            settled.append(reading)
        if reading.key not in dialect.fields:
            dialect = replace(dialect, fields={**dialect.fields, reading.key: _field(reading)})
            amounts = _Amounts(given, dialect.fields, rows)
    dialect = replace(dialect, asked=[one for one in asked if one.field not in _known_fields(dialect, amounts)])
    checked = [*_ratios_given(dialect), *dialect.twins, *settled]
    return amounts, dialect, [text for one in checked if (text := _disagreement(given, amounts, dialect, one, rows))]


def _reading(given: TableColumns, amounts: _Amounts, fields: Mapping[str, Field], one: Meaning) -> Meaning | None:
    """Return whether a column is a count or a rate, if the other columns tell; None if both are possible."""
    if not _is_numeric(given, one):
        return None
    agrees: list[bool | None] = []
    readings = [
        replace(one, key=key + one.key[len("flops") :] * (key == "flops"), units=(unit,), doubt="")
        for key, unit in zip(("flops", "rate"), one.units, strict=True)
    ]
    for reading in readings:
        implied, field = amounts.implied(reading), _field(reading)
        values = amounts.scaled(field)
        is_known = (implied > 0) & (values > 0)
        differs = _disagree(amounts, values, implied, [field, *_quantities(fields)])
        agrees.append(None if not is_known.any() else not differs.any())
    if agrees == [None, None]:
        return None
    as_count, as_rate = agrees
    return readings[0] if as_count or (as_count is None and as_rate is False) else readings[1]


def _known_fields(dialect: Dialect, amounts: _Amounts) -> set[str]:
    """Return the fields that need no question."""
    found = {stem(key) for key in dialect.fields if not _is_rate(dialect.fields[key])}
    if not np.isnan(amounts.total_flops).all():
        found |= {"flops", "rate"}
    if amounts.bytes and not all(np.isnan(column).all() for column in amounts.bytes.values()):
        found |= {"bytes", BANDWIDTH}
    if amounts.time is not None and not np.isnan(amounts.time).all():
        found |= {"time"}
    return found


def _ratios_given(dialect: Dialect) -> list[Meaning]:
    """Return the ratios of a table, to compare them with what its amounts give."""
    names = {"flops": "rate", "bytes": BANDWIDTH}
    found = []
    for key, field in dialect.fields.items():
        head, colon, part = key.partition(":")
        if head in _RATIOS:
            found.append(Meaning(field.column, key))
        elif _is_rate(field) and dialect.name == "plain":
            found.append(Meaning(field.column, names[head] + (colon + part) * (head == "bytes")))
    return found


def _disagreement(given: TableColumns, amounts: _Amounts, dialect: Dialect, one: Meaning, rows: Rows) -> str:
    """Return the warning that a column disagrees with what is used; an empty text if it agrees.

    Amounts win over ratios, our own words over others, and totals over averages.
    """
    field = next((field for field in dialect.fields.values() if field.column == one.column), None) or _field(one)
    if not _is_numeric(given, one):
        return ""
    values, implied = amounts.scaled(field), amounts.implied(one)
    differs = _disagree(amounts, values, implied, [field, *_quantities(dialect.fields)])
    if one.field == "count":
        differs = values != implied
    if not differs.any():
        return ""
    row, count = int(np.argmax(differs)), int(differs.sum())
    used = dialect.fields.get(one.key)
    if used is not None and used.column != one.column:
        where, source = f"the {one.key} is '{used.column}'", f"'{used.column}' is"
    else:
        where, source = f"it disagrees with {_BY[one.field]}", f"{_BY[one.field]} give"
    shown = [_shown(number[row], one) for number in (values, implied)]
    place = given.refuse(int(rows[row]), one.column, f"{shown[0]}, but {source} {shown[1]}")
    return f"'{one.column}' is not used: {where}; {count} of {len(rows)} rows differ{'s' * (count == 1)}; {place}"


def _shown(number: float, one: Meaning) -> str:
    unit = BASE_UNITS.get(one.field)
    return f"{number:g}" if unit is None else units.format_quantity(float(number), unit, 4)


_BY: Final = {
    "rate": "FLOPs and seconds",
    BANDWIDTH: "bytes and seconds",
    "intensity": "FLOPs and bytes",
    "flops": "the other columns",
}


def _is_numeric(given: TableColumns, one: Meaning) -> bool:
    try:
        return not np.isnan(given.numbers(one.column)).all()
    except ValueError:
        return False


# -- the arguments of Kernels --------------------------------------------------------------------------------------


def kernels_arguments(given: TableColumns, dialect: Dialect, *, is_chip_asked: bool = False) -> dict[str, Any]:
    """Return the arguments of `Kernels` for a table.

    Parameters
    ----------
    given
        The table.
    dialect
        The fields of its columns.
    is_chip_asked
        Whether the user named the column of the chip, so that it must name one chip.

    Raises
    ------
    ValueError
        If a cell is bad. `given` makes the error.
    """
    rows, warnings = _rows(given, dialect)
    if given.skipped:
        lines = "1 line" if given.skipped == 1 else f"{given.skipped} lines"
        warnings = [f"{lines} between the rows skipped: not rows of the table", *warnings]
    amounts, dialect, disagreements = _resolved(given, dialect, rows)
    names = amounts.words("name")
    if names is None:
        names = dict_encoded([f"row {row + 1}" for row in rows.tolist()])
        warnings.append("the table has no column of names: kernels are named by their row")
    if dialect.uncounted:
        warnings += _forget_uncounted(amounts, dialect)
    ratios = _ratios_kept(amounts)
    amounts.used |= {amounts.key_of("intensity", amounts.main)} if "intensity" in ratios else set()
    amounts.used |= set(amounts.keys_of_rates()) if "rate" in ratios else set()
    chip, more_warnings = _chip_of_column(given, dialect.fields.get(CHIP), rows, is_asked=is_chip_asked)
    used = {
        column
        for key, field in dialect.fields.items()
        if key in amounts.used and (key != CHIP or chip is not None)
        for column in field.columns
    }
    questions = [
        question(one, given.how) for one in dialect.asked if one.column not in used and _is_numeric(given, one)
    ]
    questions += _unused_rates(dialect, amounts, given.how)
    extra, unread = _extra(given, [name for name in given.names if name not in used], rows)
    unused = [f"columns not used: {', '.join(unread)}"] if unread else []
    lone = [text for one in dialect.fields.values() if (text := _lone_parts(given, amounts, one, rows))]
    return {
        "names": names.map(lambda word: word or ""),
        "flops": amounts.flops or {ASKED_PRECISION: np.full(len(rows), np.nan)},
        "bytes": amounts.bytes or {MAIN_LEVEL: np.full(len(rows), np.nan)},
        "time": amounts.time,
        "self_time": amounts.self_time,
        "precision": _precisions(amounts.words("precision")),
        "category": amounts.words("category"),
        "count": amounts.count,
        **ratios,
        "origin": _origins(given, dialect, amounts, rows, ratios),
        "extra": extra,
        "warnings": [*warnings, *questions, *disagreements, *lone, *more_warnings, *unused],
        "chip": chip,
        "read_as": _columns_of_texts(dialect) if given.states_own_fields else None,
    }


def _lone_parts(given: TableColumns, amounts: _Amounts, one: Field, rows: Rows) -> str:
    """Return the warning for rows that have only one of two columns whose sum is an amount; empty without such rows."""
    if one.also is None:
        return ""
    missing = [np.isnan(amounts.scaled(part)) for part in (replace(one, also=None), one.also)]
    is_lone = missing[0] ^ missing[1]
    if not is_lone.any():
        return ""
    row = int(np.argmax(is_lone))
    column = one.column if missing[0][row] else one.also.column
    count = f"{int(is_lone.sum())} of {len(rows)} rows"
    place = given.refuse(int(rows[row]), column, "the cell is empty")
    return f"{' + '.join(map(repr, one.columns))} is unknown where one of them is: {count}; {place}"


def _columns_of_texts(dialect: Dialect) -> dict[str, str]:
    """Return the column of each field that has no origin, for `Kernels.read_as`."""
    fields = ("name", "count", "precision", "category", CHIP)
    return {key: dialect.fields[key].origin for key in fields if key in dialect.fields}


def _ratios_kept(amounts: _Amounts) -> dict[str, Floats]:
    """Return the intensities and rates of a table, if they tell something of a kernel whose FLOPs are unknown."""
    given = {"intensity": amounts.intensities.get(amounts.main), "rate": amounts.total_rate}
    is_unknown = np.isnan(amounts.total_flops)
    return {key: one for key, one in given.items() if one is not None and not np.isnan(one[is_unknown]).all()}


def _precisions(words: DictColumn | None) -> DictColumn | None:
    """Return precisions without the unit of the chip before them: TraceLens writes ``matrix_bf16``."""
    if words is None:
        return None
    return words.map(lambda word: None if word is None else word.removeprefix("matrix_").removeprefix("vector_"))


def _unused_rates(dialect: Dialect, amounts: _Amounts, how: str) -> list[str]:
    """Return a warning for each rate that gives no amount, because the table has no seconds."""
    if dialect.name != "plain" or not (amounts.time is None or np.isnan(amounts.time).all()):
        return []
    unused = [(key, field) for key, field in dialect.fields.items() if key not in amounts.used]
    rates = [key for key, field in unused if stem(key) == BANDWIDTH or (_is_rate(field) and key.startswith("bytes"))]
    return [question(Meaning(dialect.fields[key].column, key), how) for key in rates]


def _rows(given: TableColumns, dialect: Dialect) -> tuple[Rows, list[str]]:
    """Return the numbers of the rows that are kernels. The last row of a hand-made table may be a total."""
    first = dialect.fields.get("name", next(iter(dialect.fields.values()), Field(given.names[0])))
    count = len(given.words(first.column)) if "name" in dialect.fields else len(given.numbers(first.column))
    rows = np.arange(count)
    if dialect.name != "plain" or "name" not in dialect.fields or count < len(("a kernel", "a total")):
        return rows, []
    last = given.words(first.column).at(-1) or ""
    if not is_total_name(last) or not _is_total(given, dialect):
        return rows, []
    return rows[:-1], [f"1 row left out: '{last}' is the {_TOTALS[_total_word(last)]} of the others"]


def is_total_name(name: str) -> bool:
    """Return whether a last row of this name may have the sums or means of the other rows."""
    return _total_word(name) in _TOTALS


def _total_word(name: str) -> str:
    return name.strip(" :").casefold()


_TOTALS: Final = {
    **dict.fromkeys(("total", "totals", "sum", "overall", "all", "gesamt", "summe", "\u03a3"), "total"),
    **dict.fromkeys(("mean", "average", "avg", "mittelwert"), "mean"),
}


def _is_total(given: TableColumns, dialect: Dialect) -> bool:
    """Return whether the last row has the sums or the means of the other rows. "sum" may be the name of a kernel."""
    found = []
    for key, field in dialect.fields.items():
        if stem(key) in {"flops", "bytes", "time", "count"} and not field.per:
            numbers = given.numbers(field.column)
            total = np.nansum(numbers[:-1])
            slack = _AGREEMENT * total
            if not np.isnan(numbers[-1]):
                found.append(min(abs(numbers[-1] - total), abs(numbers[-1] - total / (len(numbers) - 1))) <= slack)
    return bool(found) and all(found)


def _forget_uncounted(amounts: _Amounts, dialect: Dialect) -> list[str]:
    """Make what the tool did not count NaN, and return a warning if there are such rows.

    For example, fasterbench writes 0 FLOPs for a kernel whose FLOPs it does not count.
    """
    columns = {"flops": amounts.flops, "bytes": amounts.bytes}
    parts = [column == 0 for field in dialect.uncounted for column in columns[field].values()]
    if not parts or not (nothing := np.all(parts, axis=0)).any():
        return []
    for field in dialect.uncounted:
        for key, column in columns[field].items():
            columns[field][key] = np.where(nothing, np.nan, column)
    amounts.rates = {key: np.where(nothing, np.nan, column) for key, column in amounts.rates.items()}
    what = "no FLOPs" if list(dialect.uncounted) == ["flops"] else "neither FLOPs nor bytes"
    count = f"{int(nothing.sum())} of {len(nothing)} rows"
    text = f"{count} have {what}: {dialect.name} writes this for what it does not count"
    return [f"{text}, so these are unknown, not zero"]


def _origins(
    given: TableColumns, dialect: Dialect, amounts: _Amounts, rows: Rows, ratios: Collection[str]
) -> dict[str, Any]:
    """Return where each number comes from: its column, or the text in an ``origin:`` column."""
    found: dict[str, Any] = {}
    for key, field in dialect.fields.items():
        if stem(key) in BASE_UNITS.keys() - {BANDWIDTH} and (given.states_own_fields or field.origin != f'"{key}"'):
            found[key] = field.origin
    for key in RATIOS:
        if key not in ratios:
            found.pop(key, None)
    for key, formula in amounts.origin.items():
        found[key] = (
            f"{found[key]}, or {formula}"
            if key in found and key in dialect.fields and not _is_rate(dialect.fields[key])
            else found.get(key, formula)
        )
    for name in given.names:
        head, _, key = name.partition(":")
        if head == "origin" and key:
            found[key] = given.words(name).at_rows(rows)
    return found


def _extra(given: TableColumns, names: Sequence[str], rows: Rows) -> tuple[dict[str, Any], list[str]]:
    """Return the columns that are not fields, and the names of those that are neither numbers nor texts."""
    kept: dict[str, Any] = {}
    unread: list[str] = []
    for name in names:
        if is_regular(name):
            continue
        try:
            column = _at_rows(given.numbers(name, truths=True), rows)
        except ValueError:
            try:
                kept[name] = given.words(name).at_rows(rows)
            except ValueError:
                unread.append(name)
            continue
        if given.keeps_empty or not np.isnan(column).all():
            kept[name] = column
    return kept, unread


# -- the chip that a column names ----------------------------------------------------------------------------------


def _chip_of_column(
    given: TableColumns, field: Field | None, rows: Rows, *, is_asked: bool
) -> tuple[Chip | None, list[str]]:
    """Return the chip that a column names (None if no column names a chip), and warnings.

    Raises
    ------
    ValueError
        If the user named the column, and a cell names no chip of the catalogue or a second chip.
    """
    if field is None:
        return None, []
    try:
        return _one_chip(given.words(field.column).at_rows(rows)), []
    except _NoChipError as error:
        if is_asked:
            raise given.refuse(int(rows[error.row]), field.column, error.reason) from None
        return None, [f"column '{field.column:.60}' does not name one chip: {error.reason}"]
    except ValueError:
        # The column is not text; it may hold device numbers.
        if is_asked:
            raise
        return None, []


class _NoChipError(LookupError):
    """The cells do not name exactly one chip of the catalogue. The error has a row number and the reason."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.reason = reason


def _one_chip(words: DictColumn) -> Chip | None:
    """Return the chip that all filled cells name, or None if all cells are empty."""
    known: dict[str, Chip] = {}
    for code, word in enumerate(words.values):
        row = int(np.argmax(words.codes == code))
        name = (word or "").strip()
        if not name or name in known:
            continue
        try:
            found = chip_called(name)
        except UnknownChipError:
            raise _NoChipError(row, f"the catalogue has no chip '{name:.60}'") from None
        except AmbiguousChipError as error:
            raise _NoChipError(row, str(error)) from None
        other = next(iter(known.values()), found)
        if other.id != found.id:
            raise _NoChipError(row, f"'{other.id}' and '{found.id}', but a table must be of one chip: split it")
        known[name] = found
    return next(iter(known.values()), None)
