"""Maps columns of tables to the fields of `Kernels`, and converts kernels from and to data frames.

Columns have plain words with units, or are those of TraceLens, XProf or fasterbench. Data frames are those of pandas,
polars and Arrow, and any object that has `columns` and returns a column by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from roofwidget import units
from roofwidget.chips import AmbiguousChipError, Chip, UnknownChipError
from roofwidget.chips import chip as chip_called
from roofwidget.kernels import columns
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL, Floats
from roofwidget.support.did_you_mean import did_you_mean, listed, unknown_keyword

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

RATIOS: Final = ("intensity", "rate")
FIELDS: Final = ("name", "flops", "bytes", "time", "precision", "category", "count", "self_time", *RATIOS)

# -- columns that are named by their unit --------------------------------------------------------------------------

_MAX_SHOWN_COLUMNS: Final = 12
# Upper and lower case do not matter: no kernel takes megaseconds, so "Ms" means milliseconds.
_TIME_UNITS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "usec", "usecs", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("ps", "psec", "picosecond", "picoseconds"), "ps"),
}
_AMOUNT: Final = re.compile(r"(?P<prefix>[kmgtp]i?|)(?P<unit>flops?|b)(?P<rate>/s)?", re.IGNORECASE)
_BITS_OR_BYTES: Final = re.compile(r"(?P<prefix>[kmgt])bps", re.IGNORECASE)


@dataclass(frozen=True)
class _Meaning:
    """What a column may mean, judged by its unit.

    Parameters
    ----------
    field
        ``"flops"``, ``"bytes"`` or ``"time"``.
    column
        The column.
    units
        The possible units; two if the column may be a count or a rate.
    is_certain
        Whether the column's name is the unit alone and has only one meaning.
    """

    field: str
    column: str
    units: tuple[str, ...]
    is_certain: bool


def meanings(names: Sequence[str], known: Collection[str]) -> list[_Meaning]:
    """Return what each column may mean, judged by the unit and the words in its name.

    The order is that of the table. A column is left out if its field is in `known`.

    Examples
    --------
    >>> [(one.field, one.units, one.is_certain) for one in meanings(["GB/s", "gflops", "ms"], known=())]
    [('bytes', ('GB/s',), True), ('flops', ('GFLOP', 'GFLOP/s'), False), ('time', ('ms',), True)]
    """
    stems = {key.split(":")[0] for key in known}
    found = [meaning for name in names if (meaning := _meaning(name)) is not None]
    return [one for one in found if one.field not in stems]


def question(meaning: _Meaning, how: str = "pass columns=") -> str:
    """Return the warning that a column is not used, and how to use it.

    Examples
    --------
    >>> print(question(meanings(["GFLOPs"], known=())[0]))
    'GFLOPs' is not used: a count or a rate? pass columns={'flops': ('GFLOPs', 'GFLOP')}, or the unit 'GFLOP/s'
    """
    if meaning.is_certain:
        return f"'{meaning.column}' is not used: it is a rate, and there is no column of seconds"
    first, *others = meaning.units
    if others:
        hint = "a count or a rate?"
    elif _needs_unit(meaning.column):
        hint = "it has no unit;"
    else:
        hint = f"if it is the {_DESCRIBED[meaning.field]},"
    more = "".join(f", or the unit '{unit}'" for unit in others)
    return f"'{meaning.column}' is not used: {hint} {how}{{'{meaning.field}': {(meaning.column, first)!r}}}{more}"


def lacking(names: Sequence[str], known: Collection[str]) -> str:
    """Return the error message for a table without the needed columns. It lists the columns and says how to name them.

    Examples
    --------
    >>> print(lacking(["ms"], known=["name"]))
    no column of FLOPs, bytes or seconds among 'ms'; name them: columns={'time': ('ms', 'ms')}
    """
    is_named = "name" in known
    what = [] if is_named else ["names"]
    if not any(key.split(":")[0] in _QUANTITIES for key in known):
        what.append("FLOPs, bytes or seconds")
    more = f" (of {len(names)})" if len(names) > _MAX_SHOWN_COLUMNS else ""
    call = {} if is_named else {"name": repr(names[0] if names else "…")}
    call |= {one.field: repr((one.column, one.units[0])) for one in reversed(meanings(names, known))}
    if not call.keys() & _QUANTITIES.keys():
        call |= {"flops": "('…', 'GFLOP')", "time": "('…', 'us')"}
    message = ", ".join(f"'{field}': {call[field]}" for field in ("name", *_QUANTITIES) if field in call)
    shown = f"{listed(names[:_MAX_SHOWN_COLUMNS])}{more}"
    return f"no column of {' and no column of '.join(what)} among {shown}; name them: columns={{{message}}}"


_QUANTITIES: Final[Mapping[str, str]] = {"flops": "FLOPs", "bytes": "bytes", "time": "seconds"}
_DESCRIBED: Final[Mapping[str, str]] = {
    "flops": "FLOPs of the kernel",
    "bytes": "bytes that the kernel moves",
    "time": "time of all launches",
}


def _meaning(name: str) -> _Meaning | None:
    text = name.strip()
    at = max(text.rfind(" "), text.rfind("_"))
    last_word = text[at + 1 :] if at >= 0 else ""
    for unit, is_alone in ((text, True), (_in_brackets(text)[1], False), (last_word, False)):
        meant = _of_unit(unit.strip(), is_alone=is_alone) if unit else None
        if meant:
            field, units = meant
            # Units of bytes are not certain, because a column "MB" may be the memory that a kernel occupies.
            # A column "s" may be anything.
            says_all = (field == "time" and unit.casefold() != "s") or "flop" in unit.casefold() or unit.endswith("/s")
            is_certain = is_alone and len(units) == 1 and says_all
            return _Meaning(field, name, units, is_certain=is_certain)
    return _meaning_of_words(name)


def _meaning_of_words(name: str) -> _Meaning | None:
    stem, unit = _unit_of(name)
    words = set(re.findall(r"[a-z]+", stem.casefold()))
    time_unit = _time_unit(unit) if unit else None
    field = next((field for field, measures in _MEASURES.items() if words & measures), None)
    # A unit of time makes a column such as "kernel_ms" a time. The unit "s" does not: "tokens_s" may be a rate.
    if field is None and time_unit not in {None, "s"}:
        field = "time"
    if field is None or words & _NO_MEASURES:
        return None
    common = "…" if field == "time" and unit else _COMMON_UNITS[field]
    own = time_unit if field == "time" else None
    return _Meaning(field, name, (own or common,), is_certain=False)


def _of_unit(unit: str, *, is_alone: bool) -> tuple[str, tuple[str, ...]] | None:
    """Return the field that a unit belongs to, and the unit in our spelling; None if the field is not clear.

    "GFLOPs" may be a count or a rate, so its result has the two units ``GFLOP`` and ``GFLOP/s``.

    If the column's name has other words than the unit, `is_alone` is false. Then a time or an amount of bytes gives
    None: a column "shared memory MB" is not the bytes that a kernel moves.
    """
    if is_alone and (time_unit := _time_unit(unit)) is not None:
        return "time", (time_unit,)
    bits = _BITS_OR_BYTES.fullmatch(unit)
    if bits:
        return "bytes", (f"{_prefix(bits['prefix'])}B/s",)
    found = _AMOUNT.fullmatch(unit)
    if not found or not found["prefix"]:
        return None
    prefix, rate = _prefix(found["prefix"]), found["rate"] or ""
    if found["unit"].casefold() == "b":
        return ("bytes", (f"{prefix}B{rate}",)) if is_alone or rate else None
    if rate or not found["unit"].casefold().endswith("s"):
        return "flops", (f"{prefix}FLOP{rate.casefold()}",)
    return "flops", (f"{prefix}FLOP", f"{prefix}FLOP/s")


def _time_unit(word: str) -> str | None:
    """Return our spelling of a unit of time in any case; None for other words.

    Examples
    --------
    >>> [_time_unit(word) for word in ("Ms", "\u00b5s", "\u03bcs", "Seconds", "min")]
    ['ms', 'us', 'us', 's', None]
    """
    return _TIME_UNITS.get(word.replace("\u00b5", "u").replace("\u03bc", "u").casefold())


def _prefix(text: str) -> str:
    first = text[0].casefold()
    return ("k" if first == "k" and len(text) == 1 else first.upper()) + text[1:].casefold()


_MEASURES: Final[Mapping[str, frozenset[str]]] = {
    "time": frozenset({"time", "duration", "latency", "elapsed", "runtime", "seconds"}),
    "flops": frozenset({"flop", "flops"}),
    "bytes": frozenset({"bytes", "traffic"}),
}
_COMMON_UNITS: Final[Mapping[str, str]] = {"time": "us", "flops": "FLOP", "bytes": "B"}
# A column with one of these words is a share, a moment or a quotient, not an amount.
_NO_MEASURES: Final = frozenset(
    {"per", "share", "percent", "start", "end", "begin", "stop", "since", "origin", "bound"}
)


# -- dialects ------------------------------------------------------------------------------------------------------

_UNITS: Final = {"flops": "FLOP", "bytes": "B", "time": "s", "self_time": "s"}
_GIBI: Final = 2.0**30
CHIP: Final = "chip"
"""The name of the field for the chip that the kernels ran on."""


@dataclass(frozen=True)
class Field:
    """The column of a table that has one of our fields, and how to convert its numbers.

    Parameters
    ----------
    column
        The column's name.
    scale
        The factor to FLOPs, bytes or seconds.
    per
        ``""`` for a total, ``"launch"`` for one launch, ``"second"`` for a rate.
    rule
        Where the number comes from, for `Kernels.origin`; empty if the column's name is enough.
    """

    column: str
    scale: float = 1.0
    per: str = ""
    rule: str = ""

    @property
    def origin(self) -> str:
        """The column, its factors and the rule, as text."""
        scale = f" x {self.scale:.12g}" if self.scale != 1 else ""
        per = {"launch": " x launches", "second": " x time"}.get(self.per, "")
        return f'"{self.column}"{scale}{per}{f" ({self.rule})" if self.rule else ""}'


@dataclass(frozen=True)
class Dialect:
    """Which column has which field. Fields of FLOPs and bytes may name a precision or level, as in ``"bytes:L2"``."""

    name: str
    fields: Mapping[str, Field]

    @property
    def is_enough(self) -> bool:
        """Whether the table has names, and at least one of FLOPs, bytes and seconds."""
        return "name" in self.fields and any(key.split(":")[0] in _UNITS for key in self.fields)


def found_in(names: Sequence[str]) -> Dialect:
    """Return the dialect of a table with these columns. If no known tool writes them, it is the dialect ``plain``.

    Examples
    --------
    >>> found_in(["Kernel Name", "Duration (us)", "DRAM Bytes"]).fields["time"]
    Field(column='Duration (us)', scale=1e-06, per='', rule='')
    """
    for dialect in (_tracelens(names), _xprof(names), _fasterbench(names)):
        if dialect is not None:
            return dialect
    return Dialect("plain", _plain(names))


def with_own(dialect: Dialect, columns: Mapping[str, Any], names: Sequence[str]) -> Dialect:
    """Return the dialect with the columns that the user named.

    For a field the user names a column, or a column and its unit.

    Raises
    ------
    TypeError, ValueError
        If the field or the column does not exist, or the unit does not fit the field.
    """
    own = dict(dialect.fields)
    for field, given in columns.items():
        stem = field.split(":")[0]
        if stem not in FIELDS and field != CHIP:
            raise unknown_keyword("columns", field, (*FIELDS, CHIP))
        column, unit = column_and_unit(field, given)
        if column not in names:
            raise ValueError(no_column(column, names))
        own[field] = _with_unit(stem, column, unit if unit is not None else _unit_of(column)[1])
    return Dialect(dialect.name, own)


def column_and_unit(field: str, given: Any) -> tuple[str, str | None]:
    """Return the column that the user named for a field, and its unit if given.

    Raises
    ------
    TypeError
        If `given` is neither a column nor a pair of a column and a unit.
    """
    column, unit = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, None)  # noqa: PLR2004 - a pair
    if not isinstance(column, str) or not isinstance(unit, (str, type(None))):
        msg = f"columns: '{field}' needs a column's name, or a name and a unit such as ('ms', 'ms'), got {given!r:.60}"
        raise TypeError(msg)
    return column, unit


def no_column(column: str, names: Sequence[str]) -> str:
    """Return the message for a named column that does not exist.

    It names the nearest column, or all columns if no name is near.

    Examples
    --------
    >>> no_column("wrok", ["what", "work"])
    "columns: the table has no column 'wrok'; did you mean 'work'?"
    """
    hint = did_you_mean(column, names, f"; there are {listed(names[:20])}")
    return f"columns: the table has no column '{column}'{hint}"


def _with_unit(field: str, column: str, unit: str) -> Field:
    if field not in _UNITS or not unit:
        return Field(column)
    if _UNITS[field] == "s":
        unit = _time_unit(unit) or unit
    plain = unit.removesuffix("/s") if field != "time" else unit
    text = re.sub(r"(?i)flops$", "FLOP", plain)
    scale = units.parse(f"1 {text}", _UNITS[field], f"the unit of column '{column}'")
    return Field(column, scale, "second" if plain != unit else "")


def _tracelens(names: Sequence[str]) -> Dialect | None:
    if "GFLOPS_first" not in names or "name" not in names:
        return None
    fields = {"name": Field("name"), "flops": Field("GFLOPS_first", 1e9, "launch", "TraceLens: from the shapes")}
    rule = "compulsory bytes: operands once, not measured traffic; the column is in MiB"
    fields |= _first({"bytes": [Field("Data Moved (MB)_first", 2.0**20, "launch", rule)]}, names)
    times = [Field("Kernel Time (µs)_sum", 1e-6), Field("Kernel Time (µs)_mean", 1e-6, "launch")]
    counts = [Field("name_count"), Field("operation_count"), Field("UID_count")]
    return Dialect(
        "TraceLens",
        fields | _first({"time": times, "count": counts, "precision": [Field("Compute Spec")]}, names),
    )


_XPROF: Final[dict[str, tuple[str, str, float, str]]] = {
    "name": ("Operation", "operation", 1.0, ""),
    "category": ("Category", "category", 1.0, ""),
    "count": ("# Occurrences", "occurrences", 1.0, ""),
    "time": ("Total Time (us)", "total_time", 1e-6, ""),
    "self_time": ("Total self time (us)", "total_self_time", 1e-6, ""),
    "flops": ("Normalized FLOP Rate (GFLOP/s)", "measured_flop_rate", 1e9, "second"),
    "bytes:HBM": ("HBM BW (GiB/s)", "hbm_bw", _GIBI, "second"),
    "bytes:VMEM read": ("VMEM Read BW (GiB/s)", "vmem_read_bw", _GIBI, "second"),
    "bytes:CMEM read": ("CMEM Read BW (GiB/s)", "cmem_read_bw", _GIBI, "second"),
    "bytes:CMEM write": ("CMEM Write BW (GiB/s)", "cmem_write_bw", _GIBI, "second"),
}


def _xprof(names: Sequence[str]) -> Dialect | None:
    for spelling in (0, 1):
        fields = {key: Field((label, name)[spelling], scale, per) for key, (label, name, scale, per) in _XPROF.items()}
        if all(fields[field].column in names for field in ("name", "time", "flops")):
            return Dialect("XProf", {key: field for key, field in fields.items() if field.column in names})
    return None


def _fasterbench(names: Sequence[str]) -> Dialect | None:
    if not {"name", "flops", "bytes_moved", "time_s"} <= set(names):
        return None
    fields = {
        "name": Field("name"),
        "category": Field("type"),
        "flops": Field("flops", rule="fasterbench: from the shapes of convolutions and linear layers"),
        "bytes": Field("bytes_moved", rule="compulsory bytes: parameters, inputs and outputs once"),
        "time": Field("time_s", rule="mean of one forward pass"),
    }
    return Dialect("fasterbench", {key: field for key, field in fields.items() if field.column in names})


def _first(choices: Mapping[str, Sequence[Field]], names: Sequence[str]) -> dict[str, Field]:
    """Return the first existing column for each field."""
    there = {key: [field for field in fields if field.column in names] for key, fields in choices.items()}
    return {key: fields[0] for key, fields in there.items() if fields}


_WORDS: Final = {
    **dict.fromkeys(("name", "kernel", "kernel name", "operation", "op", "op name", "layer", "region"), "name"),
    **dict.fromkeys(("flops", "flop", "flop count", "total flops", "total flop"), "flops"),
    **dict.fromkeys(("bytes", "bytes accessed", "bytes moved", "data moved", "memory traffic", "traffic"), "bytes"),
    **dict.fromkeys(("time", "duration", "runtime", "latency", "elapsed", "total time", "kernel time"), "time"),
    **dict.fromkeys(("elapsed time", "gpu time", "device time", "execution time", "run time"), "time"),
    **dict.fromkeys(("self time", "total self time"), "self_time"),
    **dict.fromkeys(("count", "calls", "launches", "invocations", "occurrences", "num calls"), "count"),
    **dict.fromkeys(("precision", "dtype", "data type"), "precision"),
    **dict.fromkeys(("category", "type", "kind"), "category"),
    **dict.fromkeys(("measured on", "ran on"), CHIP),
    **dict(zip(RATIOS, RATIOS, strict=True)),
}
# Tools write these times in different units, from seconds to nanoseconds, so the column must name its unit.
_TIMES_WITH_UNIT: Final = frozenset(
    {
        "duration",
        "runtime",
        "latency",
        "elapsed",
        "kernel time",
        "elapsed time",
        "gpu time",
        "device time",
        "execution time",
        "run time",
    }
)
_LEVEL_BYTES: Final = re.compile(r"(?i)^(dram|hbm|l1|l2|l3|lds|smem|vmem|cmem|llc|mall)[ _]bytes$")
_AT_END: Final = re.compile(
    rf"{'|'.join(_TIME_UNITS)}|[\u00b5\u03bc]s|[kmgt]?flops?|[kmgt]i?b(?:ytes?)?", re.IGNORECASE
)


def _plain(names: Sequence[str]) -> dict[str, Field]:
    """Return the fields of columns with plain words.

    If several columns mean one field, the column with our own name for the field is used. If no column has this name,
    the first column is used.
    """
    found: dict[str, Field] = {}
    for name in sorted(names, key=lambda name: name.casefold() not in FIELDS):
        key = _key(name)
        if key is None or _needs_unit(name) or _may_be_rate(name):
            continue
        try:
            field = _with_unit(key.split(":")[0], name, _unit_of(name)[1])
        except ValueError:
            continue
        found.setdefault(key, field)
    return _with_bare_units(found, names) if Dialect("plain", found).is_enough else found


def _needs_unit(name: str) -> bool:
    """Return whether a column is a time that must name its unit but does not, such as ``duration``."""
    stem, unit = _unit_of(name)
    return not unit and _plain_word(stem) in _TIMES_WITH_UNIT


def _may_be_rate(name: str) -> bool:
    """Return whether a column's unit is not clear: GFLOPs, for example, may mean GFLOP or GFLOP/s."""
    return re.fullmatch(r"(?i)[kmgtp]flops", _in_brackets(name)[1].strip()) is not None


def _plain_word(stem: str) -> str:
    return re.sub(r"[_\s#]+", " ", stem).strip().casefold()


def unused_twins(names: Sequence[str], fields: Mapping[str, Field]) -> list[str]:
    """Return a warning for each unused column that means the same measure as a used column.

    Examples
    --------
    >>> names = ["name", "time", "latency (ms)"]
    >>> unused_twins(names, found_in(names).fields)
    ["'latency (ms)' is not used: the time is 'time'"]
    """
    used = {field.column for field in fields.values()}
    pairs = [(name, _key(name)) for name in names if name not in used]
    return [
        f"'{name}' is not used: the {key} is '{fields[key].column}'"
        for name, key in pairs
        if key is not None and key in fields and key.split(":")[0] in {*_UNITS, "count"}
    ]


def _with_bare_units(found: dict[str, Field], names: Sequence[str]) -> dict[str, Field]:
    """Add the fields of columns whose name is only a unit. Rates are added only if the table has a time column."""
    certain = [one for one in meanings(names, found) if one.is_certain]
    for one in sorted(certain, key=lambda one: one.field != "time"):
        field = _with_unit(one.field, one.column, one.units[0])
        if one.field not in found and ("time" in found or not field.per):
            found[one.field] = field
    return found


def _key(name: str) -> str | None:
    """Return the field that a column's name means, such as ``count`` for "Num Calls"; None for other names."""
    head, colon, key = name.partition(":")
    if colon:
        return name if head in {"flops", "bytes"} and key else None
    stem, unit = _unit_of(name)
    level = _LEVEL_BYTES.match(stem)
    if level:
        return f"bytes:{level.group(1).upper()}"
    word = _WORDS.get(_plain_word(stem))
    # "kernel" and "op" are words for the name of a kernel, but the columns "kernel_ms" and "op (GFLOP)" have no names.
    return None if unit and word not in _UNITS else word


def _unit_of(name: str) -> tuple[str, str]:
    """Return a column's name without its unit, and the unit; a unit is in brackets or at the end."""
    stem, unit = _in_brackets(name)
    if not stem:
        at = max(name.rfind(" "), name.rfind("_"))
        stem, unit = (name[:at], name[at + 1 :]) if at > 0 and _AT_END.fullmatch(name, at + 1) else ("", "")
    return (stem, _UNIT_WORDS.get(unit.casefold(), unit)) if stem else (name, "")


def _in_brackets(name: str) -> tuple[str, str]:
    """Return what is before the brackets at the end of a name, and what is in them; empty texts without brackets.

    Examples
    --------
    >>> _in_brackets("DRAM (read) [GB] "), _in_brackets("Bytes (GB) moved")
    (('DRAM (read)', 'GB'), ('', ''))
    """
    text = name.rstrip()
    # A regular expression would search on from each of many brackets.
    inside = max(text.rfind(")", 0, -1), text.rfind("]", 0, -1)) + 1
    opening = [at for at in (text.find("(", inside), text.find("[", inside)) if at >= 0]
    if not text.endswith((")", "]")) or not opening:
        return "", ""
    return text[: min(opening)].rstrip(), text[min(opening) + 1 : -1]


_UNIT_WORDS: Final = {
    "bytes": "B",
    "byte": "B",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "tib": "TiB",
    "flops": "FLOP",
    "flop": "FLOP",
    "kflop": "kFLOP",
    "mflop": "MFLOP",
    "gflop": "GFLOP",
    "tflop": "TFLOP",
    "kflops": "kFLOP",
    "mflops": "MFLOP",
    "gflops": "GFLOP",
    "tflops": "TFLOP",
}


# -- rows of a table -----------------------------------------------------------------------------------------------

# Columns of XProf that select rows.
_SELECTING: Final = ("Step", "step", "Rank", "rank", "Include Infeed/Outfeed", "include_infeed_outfeed")


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

    def words(self, column: str) -> list[str | None]:
        """Return the texts of a column. Raise `ValueError` for other cells."""

    def refuse(self, row: int, column: str, reason: str) -> ValueError:
        """Return the error for a bad cell; `reason` says what is wrong with the cell."""


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
    rows = _selected(given, dialect)
    amounts = _Fields(given, dialect, rows)
    flops, moved = amounts.by_key("flops", ASKED_PRECISION), amounts.by_key("bytes", MAIN_LEVEL)
    warnings = _remarks(given, dialect)
    if dialect.name in {"XProf", "fasterbench"}:
        flops, moved, more_warnings = _with_unknowns(dialect, flops, moved)
        warnings += more_warnings
    chip, more_warnings = _chip_of_column(given, dialect.fields.get(CHIP), rows, is_asked=is_chip_asked)
    used = {field.column for key, field in dialect.fields.items() if key != CHIP or chip is not None}
    extra, unread = _extra(given, [name for name in given.names if name not in used], rows)
    unused = [f"columns not used: {', '.join(unread)}"] if unread else []
    return {
        "names": amounts.names(),
        "flops": flops,
        "bytes": moved,
        "time": amounts.time,
        "self_time": amounts.amount("self_time"),
        "precision": amounts.precision(),
        "category": amounts.words("category"),
        "count": amounts.count,
        **{ratio: amounts.amount(ratio) for ratio in RATIOS},
        "origin": _origins(given, dialect, rows),
        "extra": extra,
        "warnings": [*warnings, *more_warnings, *unused],
        "chip": chip,
    }


def _selected(given: TableColumns, dialect: Dialect) -> npt.NDArray[np.intp]:
    """Return the numbers of the rows that are kernels. In a table of XProf some rows are totals or repeat a kernel."""
    count = len(given.words(dialect.fields["name"].column))
    keep = np.ones(count, dtype=np.bool_)
    if dialect.name == "XProf":
        for column in set(_SELECTING) & set(given.names):
            if column.casefold() == "rank":
                keep &= given.numbers(column) > 0
            elif column.casefold() == "step":
                keep &= np.array([word == "Total" for word in given.words(column)])
            else:
                keep &= _truths(given, column)
    return np.flatnonzero(keep)


def _truths(given: TableColumns, column: str) -> npt.NDArray[np.bool_]:
    try:
        numbers: npt.NDArray[np.bool_] = given.numbers(column, truths=True) != 0
    except ValueError:
        return np.array([(word or "").casefold() == "true" for word in given.words(column)])
    return numbers


class _Fields:
    """The fields of the rows that are kernels, in FLOPs, bytes and seconds over all launches."""

    def __init__(self, given: TableColumns, dialect: Dialect, rows: npt.NDArray[np.intp]) -> None:
        self._given = given
        self._fields = dialect.fields
        self._rows = rows
        count = self._raw("count")
        self.count = np.ones(len(rows)) if count is None else count
        self.time = self.amount("time")

    def _raw(self, key: str) -> Floats | None:
        field = self._fields.get(key)
        if field is None:
            return None
        numbers = self._given.numbers(field.column)[self._rows]
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0))
            raise self._given.refuse(int(self._rows[row]), field.column, f"{numbers[row]:g} is negative")
        return numbers

    def amount(self, key: str) -> Floats | None:
        numbers, field = self._raw(key), self._fields.get(key)
        return None if numbers is None or field is None else self._total(numbers, field)

    def _total(self, numbers: Floats, field: Field) -> Floats:
        numbers = numbers * field.scale
        if field.per == "launch":
            return numbers * self.count
        if field.per == "second":
            return numbers * (np.full(len(numbers), np.nan) if self.time is None else self.time)
        return numbers

    def by_key(self, field: str, plain: str) -> dict[str, Any]:
        keys = [key for key in self._fields if key.split(":")[0] == field]
        found = {key.partition(":")[2] or plain: self.amount(key) for key in keys}
        return found or {plain: np.full(len(self._rows), np.nan)}

    def words(self, key: str) -> list[str | None] | None:
        if key not in self._fields:
            return None
        words = self._given.words(self._fields[key].column)
        return [words[row] for row in self._rows]

    def names(self) -> list[str]:
        return [word or "" for word in self.words("name") or []]

    def precision(self) -> list[str | None] | None:
        """Return the precisions; TraceLens writes ``matrix_bf16``."""
        words = self.words("precision")
        if words is None or self._fields["precision"].column != "Compute Spec":
            return words
        return [word.rpartition("_")[2] if word else None for word in words]


def _with_unknowns(dialect: Dialect, flops: dict[str, Any], moved: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    """Return FLOPs and bytes with NaN for what the tool did not count, and a warning if there are such rows.

    For example, fasterbench writes 0 FLOPs for a kernel whose FLOPs it does not count.
    """
    nothing = np.all([column == 0 for column in flops.values()], axis=0)
    if dialect.name == "XProf":
        nothing &= np.all([column == 0 for column in moved.values()], axis=0)
        moved = {level: np.where(nothing, np.nan, column) for level, column in moved.items()}
    flops = {key: np.where(nothing, np.nan, column) for key, column in flops.items()}
    what = "neither FLOPs nor bytes" if dialect.name == "XProf" else "no FLOPs"
    count = f"{int(nothing.sum())} of {len(nothing)} rows"
    text = f"{count} have {what}: {dialect.name} writes this for what it does not count"
    return flops, moved, [f"{text}, so these are unknown, not zero"] if nothing.any() else []


def _remarks(given: TableColumns, dialect: Dialect) -> list[str]:
    found = []
    if given.skipped:
        lines = "1 line" if given.skipped == 1 else f"{given.skipped} lines"
        found.append(f"{lines} between the rows skipped: not rows of the table")
    if dialect.name == "TraceLens":
        found.append("bytes are TraceLens's model, operands once: not measured traffic")
    if dialect.name == "plain":
        used = {field.column for field in dialect.fields.values()}
        asked = [one for one in meanings(given.names, dialect.fields) if one.column not in used]
        found += [question(one, given.how) for one in asked if _is_numeric(given, one)]
        found += unused_twins(given.names, dialect.fields)
    return found


def _is_numeric(given: TableColumns, meaning: _Meaning) -> bool:
    try:
        return not np.isnan(given.numbers(meaning.column)).all()
    except ValueError:
        return False


def _origins(given: TableColumns, dialect: Dialect, rows: npt.NDArray[np.intp]) -> dict[str, Any]:
    """Return where each number comes from: its column, or the text in an ``origin:`` column."""
    fields = {key: field for key, field in dialect.fields.items() if key.split(":")[0] in _UNITS}
    found: dict[str, Any] = {
        key: field.origin for key, field in fields.items() if given.states_own_fields or field.origin != f'"{key}"'
    }
    for name in given.names:
        head, _, key = name.partition(":")
        if head == "origin" and key:
            words = given.words(name)
            found[key] = [words[row] for row in rows]
    return found


def _extra(given: TableColumns, names: Sequence[str], rows: npt.NDArray[np.intp]) -> tuple[dict[str, Any], list[str]]:
    """Return the columns that are not fields, and the names of those that are neither numbers nor texts."""
    kept: dict[str, Any] = {}
    unread: list[str] = []
    for name in names:
        if name in FIELDS or name.startswith(("flops:", "bytes:", "origin:")):
            continue
        try:
            column = given.numbers(name, truths=True)[rows]
        except ValueError:
            try:
                words = given.words(name)
            except ValueError:
                unread.append(name)
                continue
            kept[name] = [words[row] for row in rows]
            continue
        if given.keeps_empty or not np.isnan(column).all():
            kept[name] = column
    return kept, unread


# -- the chip that a column names ----------------------------------------------------------------------------------


def _chip_of_column(
    given: TableColumns, field: Field | None, rows: npt.NDArray[np.intp], *, is_asked: bool
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
        words = given.words(field.column)
        return _one_chip([words[row] for row in rows]), []
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


def _one_chip(words: Sequence[str | None]) -> Chip | None:
    """Return the chip that all filled cells name, or None if all cells are empty."""
    known: dict[str, Chip] = {}
    for row, word in enumerate(words):
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


# -- data frames ---------------------------------------------------------------------------------------------------

_NEEDED: Final = ("name", "flops", "bytes")
_KEYED: Final = ("flops", "bytes", "origin")
# A column name with at least this similarity (difflib) to a field counts as misspelt: "categry" for "category".
_MISSPELT_SIMILARITY: Final = 0.7


class GivenColumns:
    """Columns whose values are already numbers or texts.

    Parameters
    ----------
    given
        The columns by name.
    how
        What the user writes to name a column, for messages.
    """

    skipped = 0
    keeps_empty = True
    states_own_fields = False

    def __init__(self, given: Mapping[str, Sequence[Any]], how: str = "use rw.read(frame, columns=") -> None:
        self._given = given
        self.names: Sequence[str] = list(given)
        self.how = how

    def numbers(self, column: str, *, truths: bool = False) -> Floats:
        values: Any = self._given[column]
        if isinstance(values, np.ndarray) and values.dtype.kind in ("iufb" if truths else "iuf"):
            return np.asarray(values, dtype=np.float64)
        return columns.float_cells([bool_as_number(value) for value in values] if truths else values, column)

    def words(self, column: str) -> list[str | None]:
        return columns.text_cells(self._given[column], column) or []

    def refuse(self, row: int, column: str, reason: str) -> ValueError:
        return ValueError(f"row {row}, column '{column}': {reason}")


def is_frame(given: object) -> bool:
    """Whether `given` is a data frame, an Arrow table or a mapping of columns."""
    if isinstance(given, Mapping):
        return bool(given) and all(_is_column(column) for column in given.values())
    return hasattr(given, "column_names") or (hasattr(given, "columns") and hasattr(given, "__getitem__"))


def _is_column(column: object) -> bool:
    return isinstance(column, (list, tuple, np.ndarray)) or hasattr(column, "to_list")


def columns_of(given: Any) -> dict[str, Sequence[Any]]:
    """Return the columns of a data frame or a mapping by name. A column of numbers is an array if possible.

    Raises
    ------
    ValueError
        If two columns have the same name.
    """
    if isinstance(given, Mapping):
        return {str(name): _column_values(column) for name, column in given.items()}
    names = given.column_names if hasattr(given, "column_names") else given.columns
    twice = next((name for name, times in Counter(map(str, names)).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"the data frame has column '{twice}' twice")
    if hasattr(given, "column_names"):
        return {name: given.column(name).to_pylist() for name in names}
    return {str(name): _column_values(given[name]) for name in names}


def _column_values(column: Any) -> Any:
    """Return a column's values: an array if all are numbers, else a list."""
    if isinstance(column, np.ndarray):
        return column if column.dtype.kind in "iufb" else column.tolist()
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return np.asarray(column)
    return column.to_list() if hasattr(column, "to_list") else list(column)


def from_frame(frame: Any) -> dict[str, Any]:
    """Return the arguments of `Kernels` for a data frame or a mapping of columns."""
    found = columns_of(frame)
    given = GivenColumns(found)
    dialect = found_in(given.names)
    stems = {key.split(":")[0] for key in dialect.fields}
    if dialect.name == "plain":
        understood = {field.column for field in dialect.fields.values()}
        understood |= {one.column for one in meanings(given.names, dialect.fields) if ":" not in one.column}
        for name in given.names:
            if name not in understood:
                # "date" and "density" are similar to the names of ratios.
                _check_spelling(name, set(FIELDS) - stems - set(RATIOS))
    missing = [field for field in _NEEDED if field not in stems]
    if missing:
        asked = [question(one, given.how) for one in meanings(given.names, dialect.fields) if one.field in missing]
        hint = f"; {asked[0]}" if asked else ""
        raise ValueError(f"the data frame has no column '{missing[0]}'; it has {', '.join(given.names)}{hint}")
    arguments = kernels_arguments(given, dialect)
    if dialect.name == "plain":
        # Use the cells unchanged: `Kernels` refuses cells that are not text, such as a missing name.
        arguments["names"] = list(found[dialect.fields["name"].column])
    return arguments


def _check_spelling(name: str, absent: Collection[str]) -> None:
    """Raise an error if a column is no field, but has a field's name before a colon or looks misspelt."""
    field, colon, _ = name.partition(":")
    if field in _KEYED and (colon or field in FIELDS):
        return
    if colon and field in FIELDS:
        raise ValueError(f"column '{name}': only 'flops' and 'bytes' take a precision or a level after a colon")
    close = [] if field in FIELDS else _alike(field, absent)
    if close and not _is_another(field, close[0]):
        raise ValueError(f"the data frame has a column '{name}'; did you mean '{close[0]}'?")


def _alike(name: str, fields: Collection[str]) -> list[str]:
    import difflib  # noqa: PLC0415 - slow to import, and needed for few data frames

    return difflib.get_close_matches(name.casefold(), fields, n=1, cutoff=_MISSPELT_SIMILARITY)


def _is_another(name: str, field: str) -> bool:
    """Return whether the field is a word of the name, as in ``"time min (s)"``. Such a name is not misspelt."""
    return field in name.casefold().split()


def bool_as_number(value: Any) -> Any:
    """Return True as 1.0 and False as 0.0, and any other value unchanged."""
    return float(value) if isinstance(value, (bool, np.bool_)) else value


def to_columns(kernels: Kernels) -> dict[str, Any]:
    """Return the columns of `Kernels.to_dataframe` by name, in order."""
    columns: dict[str, Any] = {"name": kernels.names}
    columns |= {f"flops:{p}" if p else "flops": column for p, column in kernels.flops_by_precision.items()}
    columns |= {
        "bytes" if level == MAIN_LEVEL else f"bytes:{level}": column for level, column in kernels.bytes_by_level.items()
    }
    columns |= {"time": kernels.time, "precision": kernels.precision, "category": kernels.category}
    columns["count"] = kernels.count.astype(np.int64)
    if kernels.has_self_time:
        columns["self_time"] = kernels.self_time
    columns |= dict(kernels.extra)
    for ratio in RATIOS:
        if not np.isnan(getattr(kernels, ratio)).all():
            columns[ratio] = getattr(kernels, ratio)
    return columns | {f"origin:{key}": texts for key, texts in kernels.origin.items()}


def to_frame(kernels: Kernels) -> Any:
    """Return a pandas DataFrame; see `Kernels.to_dataframe`."""
    import pandas as pd  # noqa: PLC0415 - optional and slow to import

    return pd.DataFrame(to_columns(kernels))
