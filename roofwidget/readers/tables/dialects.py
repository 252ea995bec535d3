"""Map the columns of a table to our fields: plain words with units, and columns of TraceLens, XProf, fasterbench."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roofwidget import units
from roofwidget.kernels.dataframes import FIELDS
from roofwidget.support.did_you_mean import did_you_mean, listed, unknown_keyword

# -- columns that are named by their unit --------------------------------------------------------------------------

_MAX_SHOWN_COLUMNS: Final = 12
_TIME_UNITS: Final = {"ns": "ns", "us": "us", "µs": "us", "usec": "us", "ms": "ms", "msec": "ms"}
_AMOUNT: Final = re.compile(r"(?P<prefix>[kmgtp]i?|)(?P<unit>flops?|b)(?P<rate>/s)?", re.IGNORECASE)
_BITS_OR_BYTES: Final = re.compile(r"(?P<prefix>[kmgt])bps", re.IGNORECASE)
_ALONE: Final = re.compile(r"(?P<unit>.+)")
_UNIT_IN_BRACKETS: Final = re.compile(r".*[(\[](?P<unit>[^)\]]*)[)\]]\s*")
_LAST_WORD: Final = re.compile(r".*[ _](?P<unit>[^ _]+)")


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
    """Return the meanings of columns by their units, in the table's order, without meanings for fields in `known`.

    Examples
    --------
    >>> [(one.field, one.units, one.is_certain) for one in meanings(["GB/s", "gflops", "ms"], known=())]
    [('bytes', ('GB/s',), True), ('flops', ('GFLOP', 'GFLOP/s'), False), ('time', ('ms',), True)]
    """
    stems = {key.split(":")[0] for key in known}
    found = [meaning for name in names if (meaning := _meaning(name)) is not None]
    return [one for one in found if one.field not in stems]


def question(meaning: _Meaning) -> str:
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
        hint = "a count or a rate? pass"
    else:
        hint = f"if it is the {_QUANTITIES[meaning.field]} that the kernel moves, pass"
    more = "".join(f", or the unit '{unit}'" for unit in others)
    return f"'{meaning.column}' is not used: {hint} columns={{'{meaning.field}': {(meaning.column, first)!r}}}{more}"


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


def _meaning(name: str) -> _Meaning | None:
    text = name.strip()
    for pattern in (_ALONE, _UNIT_IN_BRACKETS, _LAST_WORD):
        found = pattern.fullmatch(text)
        meant = _of_unit(found["unit"].strip(), is_alone=pattern is _ALONE) if found else None
        if found and meant:
            field, units = meant
            unit = found["unit"]
            # Units of bytes are not certain, because a column "MB" may be the memory that a kernel occupies.
            says_all = unit.casefold() in _TIME_UNITS or "flop" in unit.casefold() or unit.endswith("/s")
            is_certain = pattern is _ALONE and len(units) == 1 and says_all
            return _Meaning(field, name, units, is_certain=is_certain)
    return None


def _of_unit(unit: str, *, is_alone: bool) -> tuple[str, tuple[str, ...]] | None:
    """Return the field that a unit belongs to, and the unit in our spelling.

    If the unit may be a count or a rate, the result has both spellings.

    If the column's name has other words, such as "shared memory MB", a time or an amount of bytes may mean anything.
    The result is then None.
    """
    if is_alone and unit.casefold() in _TIME_UNITS:
        return "time", (_TIME_UNITS[unit.casefold()],)
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


def _prefix(text: str) -> str:
    first = text[0].casefold()
    return ("k" if first == "k" and len(text) == 1 else first.upper()) + text[1:].casefold()


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
    """Columns by field; fields of FLOPs and bytes may have a key (``"bytes:L2"``)."""

    name: str
    fields: Mapping[str, Field]

    @property
    def is_enough(self) -> bool:
        """Whether there are names, and FLOPs, bytes or seconds."""
        return "name" in self.fields and any(key.split(":")[0] in _UNITS for key in self.fields)


def found_in(names: Sequence[str]) -> Dialect:
    """Return the dialect of a table with these columns: the dialect of a known tool, or else plain words.

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
}
_LEVEL_BYTES: Final = re.compile(r"(?i)^(dram|hbm|l1|l2|l3|lds|smem|vmem|cmem|llc|mall)[ _]bytes$")
_IN_BRACKETS: Final = re.compile(r"^(?P<stem>.*?)\s*[(\[](?P<unit>[^)\]]*)[)\]]\s*$")
_AT_END: Final = re.compile(r"^(?P<stem>.*?)[_ ](?P<unit>s|ms|us|µs|ns|[kmgt]?flops?|[kmgt]i?b)$", re.IGNORECASE)


def _plain(names: Sequence[str]) -> dict[str, Field]:
    """Return the fields of plain words; if two columns fit one field, the first column is used."""
    found: dict[str, Field] = {}
    for name in names:
        key = _key(name)
        if key is None:
            continue
        try:
            field = _with_unit(key.split(":")[0], name, _unit_of(name)[1])
        except ValueError:
            continue
        found.setdefault(key, field)
    return _with_bare_units(found, names) if Dialect("plain", found).is_enough else found


def _with_bare_units(found: dict[str, Field], names: Sequence[str]) -> dict[str, Field]:
    """Add the fields of columns that are named by a unit alone. Rates are added only if there are seconds."""
    certain = [one for one in meanings(names, found) if one.is_certain]
    for one in sorted(certain, key=lambda one: one.field != "time"):
        field = _with_unit(one.field, one.column, one.units[0])
        if one.field not in found and ("time" in found or not field.per):
            found[one.field] = field
    return found


def _key(name: str) -> str | None:
    """Return the field of a plain word."""
    head, colon, key = name.partition(":")
    if colon:
        return name if head in {"flops", "bytes"} and key else None
    stem = _unit_of(name)[0]
    level = _LEVEL_BYTES.match(stem)
    if level:
        return f"bytes:{level.group(1).upper()}"
    return _WORDS.get(re.sub(r"[_\s#]+", " ", stem).strip().casefold())


def _unit_of(name: str) -> tuple[str, str]:
    """Return a column's name without its unit, and the unit; a unit is in brackets or at the end."""
    for pattern in (_IN_BRACKETS, _AT_END):
        found = pattern.match(name)
        if found and found["stem"]:
            return found["stem"], _UNIT_WORDS.get(found["unit"].casefold(), found["unit"])
    return name, ""


_UNIT_WORDS: Final = {
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "usec": "us",
    "msec": "ms",
    "nsec": "ns",
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
