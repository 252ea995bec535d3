"""What a `Chip` refuses: each value read, held to its unit and named in the error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from roofwidget import units
from roofwidget.chips.figures import Ceiling, Check, Energy, Link, Memory, MissingFigureError, Source, is_off_chip
from roofwidget.suggest import listed

__all__ = [
    "ceilings",
    "checks",
    "default_precision",
    "energy",
    "find_level",
    "find_precision",
    "links",
    "memories",
    "notes",
    "number",
    "peaks",
    "sources",
    "unit_count",
    "year",
]

# Used when a chip does not say which precision it is judged by: the first of these that it has.
_PRECISIONS_BY_USE: Final = ("bf16", "fp16", "tf32", "fp32", "fp64")
_UNIT_COUNT: Final = re.compile(r"[1-9]\d* \S.*")


_RESERVED_PRECISIONS: Final = frozenset({"auto"})
_RESERVED_LEVELS: Final = frozenset({"main", "all", "network", "compute", "overhead", "unknown"})


def peaks(name: str, given: object) -> dict[str, float]:
    """Return peaks by precision, FLOP/s, of the chip called `name`."""
    if not isinstance(given, Mapping) or not given:
        msg = f"peak_flops of chip '{name}' must map precisions to rates, such as {{'bf16': '989.5 TFLOP/s'}}"
        raise ValueError(msg)
    found: dict[str, float] = {}
    for precision, value in given.items():
        what = f"peak_flops['{precision}'] of chip '{name}'"
        _refuse_word(str(precision), _RESERVED_PRECISIONS, what)
        _refuse_twin(str(precision), found, f"peak_flops of chip '{name}'")
        found[str(precision).casefold()] = units.positive(units.parse(value, "FLOP/s", what), what)
    return found


def memories(name: str, given: object) -> dict[str, Memory]:
    """Return memory levels by name, main memory first."""
    if not isinstance(given, Mapping) or not given:
        msg = f"memories of chip '{name}' must map levels to bandwidths, such as {{'HBM': '3.35 TB/s'}}"
        raise ValueError(msg)
    levels: dict[str, Memory] = {}
    for level, value in given.items():
        what = f"memories['{level}'] of chip '{name}'"
        _refuse_word(level, _RESERVED_LEVELS, what)
        memory = value if isinstance(value, Memory) else Memory(level, value)
        _refuse_twin(level, levels, f"memories of chip '{name}'")
        levels[level] = Memory(
            level,
            _optional(memory.bandwidth, "B/s", what),
            _optional(memory.capacity, "B", f"capacity of {what}"),
            _text(memory.scope, f"scope of {what}"),
        )
    if next(iter(levels.values())).bandwidth is None:
        msg = f"chip '{name}' needs the bandwidth of its main memory '{next(iter(levels))}', the first of its memories"
        raise ValueError(msg)
    return levels


def links(name: str, given: object) -> dict[str, Link]:
    """Return links by name; a bare number or text is a bandwidth one way, over all links of that name."""
    if not isinstance(given, Mapping):
        msg = f"links of chip '{name}' must map names to one-way bandwidths, such as {{'NVLink': '450 GB/s'}}"
        raise TypeError(msg)
    found: dict[str, Link] = {}
    for key, value in given.items():
        what = f"links['{key}'] of chip '{name}'"
        link = value if isinstance(value, Link) else Link(key, value)
        _refuse_twin(key, found, f"links of chip '{name}'")
        found[key] = Link(
            key,
            _optional(link.bandwidth, "B/s", what),
            _optional(link.per_link, "B/s", f"per_link of {what}"),
            _optional(link.latency, "s", f"latency of {what}"),
            _text(link.printed, f"printed of {what}"),
        )
    return found


def ceilings(
    name: str, given: Iterable[Ceiling], rates: Mapping[str, float], levels: Mapping[str, Memory]
) -> tuple[Ceiling, ...]:
    """Return ceilings under the chip's own spelling of their precision or level."""
    found: dict[tuple[str, str | None, str | None], Ceiling] = {}
    for ceiling in given:
        if not isinstance(ceiling, Ceiling):
            msg = f"ceilings of chip '{name}' must be Ceiling objects, got {ceiling!r}"
            raise TypeError(msg)
        what = f"ceiling '{ceiling.name}' of chip '{name}'"
        if not isinstance(ceiling.name, str) or not ceiling.name.strip():
            msg = f"the name of a ceiling of chip '{name}' must be text that is not empty, got {ceiling.name!r}"
            raise ValueError(msg)
        if ceiling.name.casefold() in rates:
            msg = f"{what} has the name of a precision; call it otherwise"
            raise ValueError(msg)
        if ceiling.memory is not None and ceiling.precision is not None:
            msg = f"{what} lies under a memory or under a precision, not both"
            raise ValueError(msg)
        if ceiling.source is not None and not isinstance(ceiling.source, Source):
            msg = f"the source of {what} must be a Source, got {ceiling.source!r}"
            raise TypeError(msg)
        level = None if ceiling.memory is None else level_called(levels, ceiling.memory)
        if ceiling.memory is not None and level is None:
            msg = f"{name} has no memory '{ceiling.memory}'; it has {listed(levels)}"
            raise MissingFigureError(msg)
        precision = None if ceiling.precision is None else find_precision(name, rates, ceiling.precision)
        rate = units.positive(units.parse(ceiling.rate, "FLOP/s" if level is None else "B/s", what), what)
        key = (ceiling.name, level, precision)
        if key in found:
            msg = f"{what} is there twice"
            raise ValueError(msg)
        found[key] = Ceiling(ceiling.name, rate, level, precision, bool(ceiling.measured), ceiling.source)
    return tuple(found.values())


def checks(name: str, given: Iterable[Check]) -> tuple[Check, ...]:
    """Return other sources' values."""
    found = tuple(given)
    for check in found:
        if not isinstance(check, Check):
            msg = f"checks of chip '{name}' must be Check objects, got {check!r}"
            raise TypeError(msg)
    return found


def sources(name: str, given: Mapping[str, Source]) -> dict[str, Source]:
    """Return sources by figure."""
    for key, source in given.items():
        if not isinstance(source, Source):
            msg = f"sources['{key}'] of chip '{name}' must be a Source, got {source!r}"
            raise TypeError(msg)
    return dict(given)


def energy(name: str, given: Energy | None) -> Energy | None:
    """Return the costs of work; the two of FLOPs and bytes are above zero, idle power may be zero."""
    if given is None:
        return None
    if not isinstance(given, Energy):
        msg = f"energy of chip '{name}' must be an Energy, got {given!r}"
        raise TypeError(msg)
    found = {
        field.name: _plain(getattr(given, field.name), f"energy.{field.name} of {name}") for field in fields(given)
    }
    for key in ("per_flop", "per_byte"):
        units.positive(found[key], f"energy.{key} of chip '{name}'")
    units.finite(found["constant_power"], f"energy.constant_power of chip '{name}'")
    return Energy(**found)


def number(name: str, field: str, unit: str, given: object) -> float | None:
    """Return a clock or a power, a plain number in Hz or W."""
    what = f"{field} of chip '{name}', in {unit},"
    return None if given is None else units.positive(_plain(given, what), what)


def unit_count(name: str, given: object) -> str | None:
    """Return how many units of which kind, such as ``132 SM``."""
    if given is not None and not (isinstance(given, str) and _UNIT_COUNT.fullmatch(given)):
        msg = f"units of chip '{name}' must be a count and a word, such as '132 SM', got {given!r}"
        raise ValueError(msg)
    return given


def year(name: str, given: object) -> int | None:
    """Return a year of four digits."""
    if given is not None and not (isinstance(given, int) and 1000 <= given <= 9999):  # noqa: PLR2004 - four digits
        msg = f"year of chip '{name}' must be a year such as 2024, got {given!r}"
        raise ValueError(msg)
    return given


def notes(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return lines of text; one line alone may be given as it is."""
    lines = (given,) if isinstance(given, str) else tuple(given)
    return tuple(_text(line, f"notes of chip '{name}'") for line in lines)


def default_precision(name: str, rates: Mapping[str, float], given: str | None) -> str:
    """Return the precision that ``auto`` means."""
    if given is None:
        return next((p for p in _PRECISIONS_BY_USE if p in rates), next(iter(rates)))
    if given.casefold() not in rates:
        msg = f"default_precision '{given}' of chip '{name}' is none of its precisions: {listed(rates)}"
        raise ValueError(msg)
    return given.casefold()


def find_precision(chip: str, rates: Mapping[str, float], name: str) -> str:
    """Return the precision that `name` means, in any case, else raise `MissingFigureError`."""
    if name.casefold() in rates:
        return name.casefold()
    msg = f"{chip} has no peak for precision '{name}'; it has {listed(rates)}"
    raise MissingFigureError(msg)


def find_level(chip: str, levels: Mapping[str, Memory], name: str) -> str:
    """Return the memory level that `name` means, in any case, else raise `MissingFigureError`.

    Any word for the memory outside the chip means the main memory, unless another level is called so.
    """
    main = next(iter(levels))
    level = level_called(levels, name)
    if level is None and is_off_chip(name) and is_off_chip(main):
        return main
    if level is None:
        msg = f"{chip} has no memory '{name}'; it has {listed(levels)}"
        raise MissingFigureError(msg)
    return level


def level_called(levels: Mapping[str, Memory], name: str) -> str | None:
    """Return the level of this name in any case, or the main memory for ``"main"``, else None."""
    if name.casefold() == "main":
        return next(iter(levels))
    return next((level for level in levels if level.casefold() == name.casefold()), None)


def _refuse_word(word: object, reserved: frozenset[str], what: str) -> None:
    """Refuse a word that means something else wherever a precision, a level or what binds is named."""
    if not isinstance(word, str) or not word.strip():
        msg = f"{what}: the name must be text that is not empty"
        raise ValueError(msg)
    if word.strip().casefold() in reserved:
        msg = f"{what}: '{word}' has a meaning of its own; give it another name"
        raise ValueError(msg)


def _optional(value: object, unit: str, what: str) -> float | None:
    return None if value is None else units.positive(units.parse(value, unit, what), what)


def _plain(value: Any, what: str) -> float:
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        msg = f"{what} must be a number, got {value!r}"
        raise TypeError(msg)
    return float(value)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        msg = f"{what} must be text, got {value!r}"
        raise TypeError(msg)
    return value


def _refuse_twin(key: str, others: Iterable[str], what: str) -> None:
    """Two names that differ in case alone would be one to every look-up."""
    if any(key.casefold() == other.casefold() for other in others):
        msg = f"{what}: '{key}' is there twice"
        raise ValueError(msg)
