"""Make a `Chip` from measured rates and bandwidths. All readers of ceilings use this."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from roofwidget.chips import Ceiling, Check, Chip, Memory, Source, is_off_chip
from roofwidget.readers.amounts import number_or_nan
from roofwidget.readers.errors import ProfileError

VECTOR: Final = "vector"
MATRIX: Final = "matrix"
UNSPECIFIED: Final = "unspecified"
"""The precision of FLOPs if the file does not have it."""

# For these precisions a key without a unit, such as ``fp64``, means the vector units. For narrower precisions a key
# without a unit, such as ``fp16``, means the matrix units.
_WIDE: Final = frozenset({"fp64", "fp32", "int64", "int32", UNSPECIFIED})


@dataclass(frozen=True)
class Rate:
    """A measured rate: precision, units (``vector``, ``matrix`` or ``""``), FLOP/s, and the file's label."""

    precision: str
    unit: str
    rate: float
    label: str


def named_rates(rates: Iterable[Rate]) -> tuple[dict[str, float], list[Ceiling]]:
    """Return the highest rate for each key of the chip, and the lower rates of the same key as ceilings.

    For a precision of 64 or 32 bits, a key without a unit, such as ``fp64``, means the vector units. For a narrower
    precision, a key without a unit, such as ``fp16``, means the matrix units. The rate of the other units has a
    separate key, such as ``fp64_matrix`` or ``fp16_vector``.

    Examples
    --------
    >>> named_rates([Rate("fp64", "vector", 2e13, "FP64"), Rate("fp64", "matrix", 4e13, "MFMA FP64")])
    ({'fp64': 20000000000000.0, 'fp64_matrix': 40000000000000.0}, [])
    """
    best: dict[str, Rate] = {}
    keyed = [(_key(rate), rate) for rate in rates if rate.rate > 0]
    for key, rate in keyed:
        if key not in best or rate.rate > best[key].rate:
            best[key] = rate
    lower = [Ceiling(r.label, r.rate, precision=key, measured=True) for key, r in keyed if r is not best[key]]
    return {key: rate.rate for key, rate in best.items()}, lower


def _key(rate: Rate) -> str:
    usual = VECTOR if rate.precision in _WIDE else MATRIX
    return rate.precision if rate.unit in ("", usual) else f"{rate.precision}_{rate.unit}"


def measured_chip(
    file: str,
    name: str,
    rates: Iterable[Rate],
    bandwidths: Mapping[str, float],
    source: Source,
    *,
    ceilings: Iterable[Ceiling] = (),
    capacities: Mapping[str, float] | None = None,
    checks: Mapping[str, float] | None = None,
    check_source: Source | None = None,
    vendor: str = "",
    kind: str = "",
    notes: Iterable[str] = (),
) -> Chip:
    """Make a chip with the measured peaks and bandwidths.

    Parameters
    ----------
    file
        The file, for error messages.
    name
        The machine's name.
    rates, bandwidths
        FLOP/s, and bytes/s by level, nearest level first. The main memory is the off-chip level, or the last level if
        none is off-chip. A figure of 0 was not measured.
    source
        The tool and the file.
    ceilings
        Additional lower roofs.
    capacities
        Bytes by level.
    checks, check_source
        `checks` has the figures of the file that come from another source, by the keys of `Chip`. `check_source` is the
        name of that source.
    vendor, kind, notes
        As for `Chip`.

    Raises
    ------
    ProfileError
        If there is no rate or no bandwidth above zero, or a name is not allowed for a chip.
    """
    peaks, lower = named_rates(rates)
    known = {level: rate for level, rate in bandwidths.items() if rate > 0}
    for figures_, what in ((peaks, "rate of arithmetic"), (known, "bandwidth")):
        if not figures_:
            raise ProfileError(file, f"the file has no {what} above zero: a roof needs a rate and a bandwidth")
    main = next((level for level in reversed(known) if is_off_chip(level)), next(reversed(known)))
    sizes = capacities or {}
    order = [main, *(level for level in reversed(known) if level != main)]
    levels = {level: Memory(level, known[level], sizes.get(level)) for level in order}
    figures = [f"peak_flops.{key}" for key in peaks]
    figures += [f"memories.{level}.bandwidth" for level in levels]
    figures += [f"memories.{level}.capacity" for level in levels if levels[level].capacity is not None]
    seen = check_source or source
    try:
        return Chip(
            name,
            peaks,
            levels,
            vendor=vendor,
            kind=kind,
            sources=dict.fromkeys(figures, source),
            ceilings=_distinct([replace(one, measured=True, source=source) for one in (*lower, *ceilings)], peaks),
            checks=[Check(key, value, seen) for key, value in (checks or {}).items() if key in figures and value > 0],
            notes=notes,
        )
    except ValueError as error:
        # `Chip` raises an error for some names of levels and precisions, and for two names that differ only in case.
        raise ProfileError(file, str(error)) from None


def _distinct(ceilings: list[Ceiling], peaks: Mapping[str, float]) -> list[Ceiling]:
    """Return the highest ceiling of each key. A ceiling whose key is also the key of a peak is renamed."""
    highest: dict[str, Ceiling] = {}
    for ceiling in ceilings:
        spoken = f"measured {ceiling.name}" if ceiling.name.casefold() in peaks else ceiling.name
        named = replace(ceiling, name=spoken)
        key = named.key.casefold()
        if key not in highest or named.rate > highest[key].rate:
            highest[key] = named
    return list(highest.values())


def onto(base: Chip, measured: Chip) -> Chip:
    """Return `base` with the figures of `measured` as ceilings. A figure for which `base` has no roof becomes a note.

    Examples
    --------
    >>> sheet = Chip("sheet", {"fp64": 2.3e13, "fp64_tensor": 4.5e13}, {"HBM": 1.6e12})
    >>> found = Chip("found", {"fp64": 2e13, "fp64_matrix": 4.1e13, "fp8": 1e14}, {"HBM": 1.4e12})
    >>> both = onto(sheet, found)
    >>> [(ceiling.key, ceiling.rate) for ceiling in both.ceilings][1:]
    [('measured fp64_tensor', 41000000000000.0), ('measured HBM', 1400000000000.0)]
    >>> both.notes
    ('measured, but not of this chip: fp8',)
    """
    peaks = {base_key(base, key): rate for key, rate in measured.peak_flops.items()}
    bandwidths = {_own_level(base, measured, level): level for level in measured.memories}
    known = {level: measured.bandwidth(name) for level, name in bandwidths.items() if level in base.memories}
    absent = [key for key in peaks if key not in base.peak_flops]
    absent += [name for level, name in bandwidths.items() if level not in base.memories]
    source = next(iter(measured.sources.values()), None)
    shared = {key: rate for key, rate in peaks.items() if key in base.peak_flops}
    if shared or known:
        base = base.with_measured(peak_flops=shared, bandwidth=known, source=source)
    base = base.replace(ceilings=(*base.ceilings, *_lower(base, measured)))
    if absent:
        base = base.replace(notes=(*base.notes, f"measured, but not of this chip: {', '.join(absent)}"))
    return base


def _lower(base: Chip, measured: Chip) -> list[Ceiling]:
    """Return the ceilings of `measured` with the keys of `base`."""
    found = []
    for ceiling in measured.ceilings:
        key = None if ceiling.precision is None else base_key(base, ceiling.precision)
        level = None if ceiling.memory is None else _own_level(base, measured, ceiling.memory)
        if key in base.peak_flops or level in base.memories:
            found.append(replace(ceiling, precision=key, memory=level))
    return found


def base_key(chip: Chip, key: str) -> str:
    """Return the key of `chip` for the same units as `key`, such as ``fp64_tensor`` for ``fp64_matrix``."""
    precision, _, unit = key.partition("_")
    same = [f"{precision}_{word}" for word in ("matrix", "tensor", "matmul")] if unit == MATRIX else [key]
    return next((word for word in same if word in chip.peak_flops), key)


def _own_level(base: Chip, measured: Chip, level: str) -> str:
    if level == measured.main_memory:
        return base.main_memory
    return next((own for own in base.memories if own.casefold() == level.casefold()), level)


def cell(file: str, value: object, unit: float, *, place: str) -> float:
    """Return a number of a JSON file times `unit`; raise an error unless it is finite and at least 0."""
    number = math.nan if isinstance(value, (bool, str)) else number_or_nan(value) * unit
    if not 0 <= number < math.inf:
        raise ProfileError(file, f"expected a number that is finite and not negative, got {value!r:.60}", place=place)
    return number
