"""Validation of a `Chip`: converts each value to base units. An error names the value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final

from roofwidget import units
from roofwidget.chips.figures import Ceiling, Check, Energy, Link, Memory, MissingFigureError, Source, is_off_chip
from roofwidget.support.arguments import text_argument
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.precisions import precision_key
from roofwidget.support.text_tables import without_surrogates

ENERGY_UNITS: Final = {"per_flop": "J/FLOP", "per_byte": "J/B", "constant_power": "W"}
"""The unit of each field of `Energy`."""

# The default precision is the first of these that the chip has.
_DEFAULT_PRECISIONS: Final = ("bf16", "fp16", "tf32", "fp32", "fp64")
_UNIT_COUNT: Final = re.compile(r"[1-9]\d* \S.*")
# Names that options and results use with a fixed meaning, so a precision or a level must not have them.
_RESERVED_PRECISIONS: Final = frozenset({"auto"})
_RESERVED_LEVELS: Final = frozenset({"main", "all", "network", "compute", "overhead", "unknown"})


def peaks(name: str, given: object) -> dict[str, float]:
    """Return peaks by precision, FLOP/s, of the chip called `name`."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError(
            f"peak_flops of chip '{name}' must map precisions to rates, such as {{'bf16': '989.5 TFLOP/s'}}"
        )
    found: dict[str, float] = {}
    for precision, value in given.items():
        what = f"peak_flops['{precision}'] of chip '{name}'"
        precision_name(name, precision)
        if precision_key(precision) in found:
            raise ValueError(f"peak_flops of chip '{name}': '{precision}' is there twice")
        found[precision_key(precision)] = units.figure(value, "FLOP/s", what)
    return found


def memories(name: str, given: object) -> dict[str, Memory]:
    """Return memory levels by name, main memory first."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"memories of chip '{name}' must map levels to bandwidths, such as {{'HBM': '3.35 TB/s'}}")
    levels = _levels(name, given, "memories")
    if next(iter(levels.values())).bandwidth is None:
        raise ValueError(
            f"chip '{name}' needs the bandwidth of its main memory '{next(iter(levels))}', the first of its memories"
        )
    return levels


def host_memories(name: str, given: object) -> dict[str, Memory]:
    """Return the memories of the host by name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"host_memories of chip '{name}' must map names to memories, got {given!r}")
    return _levels(name, given, "host_memories")


def _levels(name: str, given: Mapping[Any, Any], field: str) -> dict[str, Memory]:
    levels: dict[str, Memory] = {}
    for level, value in given.items():
        what = f"{field}['{level}'] of chip '{name}'"
        level_name(name, level)
        memory = value if isinstance(value, Memory) else Memory(level, value)
        _refuse_duplicate(level, levels, f"{field} of chip '{name}'")
        levels[level] = Memory(
            level,
            optional(memory.bandwidth, "B/s", what),
            optional(memory.capacity, "B", f"capacity of {what}"),
            _text(memory.scope, f"scope of {what}"),
            optional(memory.usable, "B", f"usable of {what}"),
            optional(memory.per_block, "B", f"per_block of {what}"),
            optional(memory.latency, "s", f"latency of {what}"),
        )
        _refuse_more_than_all(levels[level], what)
    return levels


def links(name: str, given: object) -> dict[str, Link]:
    """Return links by name. A plain number or text is the one-way bandwidth of all links of this name together."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f"links of chip '{name}' must map names to one-way bandwidths, such as {{'NVLink': '450 GB/s'}}"
        )
    found: dict[str, Link] = {}
    for key, value in given.items():
        what = f"links['{key}'] of chip '{name}'"
        _whole(_nonempty(key, f"a key of links of chip '{name}'"), f"a key of links of chip '{name}'")
        link = value if isinstance(value, Link) else Link(key, value)
        _refuse_duplicate(key, found, f"links of chip '{name}'")
        found[key] = Link(
            key,
            optional(link.bandwidth, "B/s", what),
            optional(link.per_link, "B/s", f"per_link of {what}"),
            optional(link.latency, "s", f"latency of {what}"),
            _text(link.printed, f"printed of {what}"),
        )
    return found


def ceilings(
    name: str, given: Iterable[Ceiling], rates: Mapping[str, float], levels: Mapping[str, Memory]
) -> tuple[Ceiling, ...]:
    """Return the ceilings, with precisions and levels in the chip's own spelling."""
    found: dict[str, Ceiling] = {}
    for ceiling in many(given, f"ceilings of chip '{name}'"):
        if not isinstance(ceiling, Ceiling):
            raise TypeError(f"ceilings of chip '{name}' must be Ceiling objects, got {ceiling!r}")
        _nonempty(ceiling.name, f"the name of a ceiling of chip '{name}'")
        checked = _ceiling(name, ceiling, rates, levels)
        # Users select a ceiling or a peak by its name; case is ignored. So a ceiling must not have the name of a peak.
        for taken in (ceiling.name.casefold(), checked.key.casefold()):
            if taken in rates:
                raise ValueError(
                    f"ceiling '{ceiling.name}' of chip '{name}' has the name of its peak '{taken}'; rename it"
                )
        if checked.key.casefold() in found:
            raise ValueError(f"ceiling '{checked.key}' of chip '{name}' is there twice")
        found[checked.key.casefold()] = checked
    return tuple(found.values())


def _ceiling(name: str, ceiling: Ceiling, rates: Mapping[str, float], levels: Mapping[str, Memory]) -> Ceiling:
    what = f"ceiling '{ceiling.name}' of chip '{name}'"
    if ceiling.memory is not None and ceiling.precision is not None:
        raise ValueError(f"{what} has a memory and a precision; give one of them")
    if ceiling.source is not None and not isinstance(ceiling.source, Source):
        raise TypeError(f"the source of {what} must be a Source, got {ceiling.source!r}")
    level = None if ceiling.memory is None else own_level(name, levels, ceiling.memory)
    precision = None if ceiling.precision is None else find_precision(name, rates, ceiling.precision)
    rate = units.figure(ceiling.rate, "FLOP/s" if level is None else "B/s", what)
    return Ceiling(ceiling.name, rate, level, precision, bool(ceiling.measured), ceiling.source)


def checks(name: str, given: Iterable[Check], known: Mapping[str, str]) -> tuple[Check, ...]:
    """Return the checks. A check must name a figure in `known`, a mapping from the key of a figure to its unit."""
    found = []
    for check in many(given, f"checks of chip '{name}'"):
        if not isinstance(check, Check):
            raise TypeError(f"checks of chip '{name}' must be Check objects, got {check!r}")
        key = figure(check.figure, known, f"a check of chip '{name}'")
        unit = known[key]
        what = f"check of {key} of chip '{name}'"
        if not isinstance(check.source, Source):
            raise TypeError(f"the source of the {what} must be a Source, got {check.source!r}")
        is_quantity = unit in units.FIGURE_LIMITS
        value = (
            units.figure(check.value, unit, what) if is_quantity else units.positive(_plain(check.value, what), what)
        )
        found.append(Check(key, value, check.source))
    return tuple(found)


def sources(name: str, given: Mapping[str, Source], known: Iterable[str]) -> dict[str, Source]:
    """Return the sources by figure. Each key must be one of the `known` figures."""
    if not isinstance(given, Mapping):
        raise TypeError(f"sources of chip '{name}' must map figures to Source objects, got {given!r}")
    found = {}
    for key, source in given.items():
        if not isinstance(source, Source):
            raise TypeError(f"sources['{key}'] of chip '{name}' must be a Source, got {source!r}")
        found[figure(key, known, f"a source of chip '{name}'")] = source
    return found


def figure(key: str, known: Iterable[str], what: str) -> str:
    """Return the key if the chip has this figure. Otherwise raise `ValueError` with the nearest known key.

    A precision in the key may have the name that other programs use, as in ``peak_flops.bfloat16``.
    """
    options = list(known)
    head, dot, precision = str(key).partition(".")
    key = head + dot + precision_key(precision) if head == "peak_flops" else key
    if key in options:
        return key
    hint = did_you_mean(str(key), options, f"; there is {listed(options)}")
    raise ValueError(f"{what} is of a figure that it lacks: '{key}'{hint}")


def energy(name: str, given: Energy | None) -> Energy | None:
    """Return the validated energy costs. Only the constant power may be zero."""
    if given is None:
        return None
    if not isinstance(given, Energy):
        raise TypeError(f"energy of chip '{name}' must be an Energy, got {given!r}")
    found = {}
    for field in fields(given):
        what = f"energy.{field.name} of chip '{name}'"
        value, unit = getattr(given, field.name), ENERGY_UNITS[field.name]
        found[field.name] = units.figure(value, unit, what, may_be_zero=field.name == "constant_power")
    return Energy(**found)


def unit_count(name: str, given: object) -> str | None:
    """Return the number and kind of the compute units, such as ``132 SM``."""
    if given is not None and not (isinstance(given, str) and _UNIT_COUNT.fullmatch(given)):
        raise ValueError(f"units of chip '{name}' must be a count and a word, such as '132 SM', got {given!r}")
    return given


def year(name: str, given: object) -> int | None:
    """Return a year of four digits."""
    if given is not None and not (isinstance(given, int) and 1000 <= given <= 9999):  # noqa: PLR2004 - four digits
        raise ValueError(f"year of chip '{name}' must be a year such as 2024, got {given!r}")
    return given


def identity(name: str, given: str | None) -> str:
    """Return the given id, or an id made from the name."""
    if given is None:
        return re.sub(r"[^a-z0-9.+]+", "-", name.casefold()).strip("-") or "chip"
    return _whole(_nonempty(given, f"id of chip '{name}'"), f"id of chip '{name}'")


def default_precision(name: str, rates: Mapping[str, float], given: str | None) -> str:
    """Return the precision that ``"auto"`` means."""
    if given is None:
        return next((p for p in _DEFAULT_PRECISIONS if p in rates), next(iter(rates)))
    if precision_key(_text(given, f"default_precision of chip '{name}'")) not in rates:
        raise ValueError(f"default_precision '{given}' of chip '{name}' is none of its precisions: {listed(rates)}")
    return precision_key(given)


def find_precision(chip: str, rates: Mapping[str, float], name: str) -> str:
    """Return the precision called `name` (any case, or an alias). If there is none, raise `MissingFigureError`."""
    key = precision_key(text_argument(name, f"the name of a precision of {chip}"))
    if key in rates:
        return key
    raise MissingFigureError(f"{chip} has no peak for precision '{name}'; it has {listed(rates)}")


def find_level(chip: str, levels: Mapping[str, Memory], name: str) -> str:
    """Return the memory level called `name` (any case). If there is none, raise `MissingFigureError`.

    If no level has this name, but it is a usual name of off-chip memory such as "DRAM", return the main memory.
    """
    main = next(iter(levels))
    text_argument(name, f"the name of a memory of {chip}")
    if level_called(levels, name) is None and is_off_chip(name) and is_off_chip(main):
        return main
    return own_level(chip, levels, name)


def own_level(chip: str, levels: Mapping[str, Memory], name: str) -> str:
    """Return the level called `name` (any case; ``"main"`` is the main memory), or raise a `MissingFigureError`."""
    level = level_called(levels, text_argument(name, f"the name of a memory of {chip}"))
    if level is None:
        raise MissingFigureError(f"{chip} has no memory '{name}'; it has {listed(levels)}")
    return level


def level_called(levels: Mapping[str, Memory], name: object) -> str | None:
    """Return the level called `name` (any case; ``"main"`` is the main memory), or None if there is no such level."""
    word = str(name).casefold()
    if word == "main":
        return next(iter(levels))
    return next((level for level in levels if level.casefold() == word), None)


def precision_name(chip: str, word: object) -> str:
    """Return the name of a precision; it must not be empty or ``auto``."""
    return _unreserved(word, _RESERVED_PRECISIONS, f"a precision of chip '{chip}'")


def level_name(chip: str, word: object) -> str:
    """Return the name of a memory level; it must not be empty or reserved, such as ``main`` or ``network``."""
    return _unreserved(word, _RESERVED_LEVELS, f"a memory level of chip '{chip}'")


def many(given: Any, what: str) -> tuple[Any, ...]:
    """Return the elements of a list. Raise a `TypeError` for anything that is not a list."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list, got {given!r}")
    return tuple(given)


def texts(given: Any, what: str) -> tuple[str, ...]:
    """Return the given texts. A single text may be given without a list."""
    return tuple(_text(line, what) for line in ((given,) if isinstance(given, str) else many(given, what)))


def _unreserved(word: object, reserved: frozenset[str], what: str) -> str:
    text = _whole(_nonempty(word, f"the name of {what}"), f"the name of {what}")
    if text.strip().casefold() in reserved:
        raise ValueError(f"'{word}' cannot be the name of {what}: the word has a meaning of its own; choose another")
    return text


def _nonempty(word: object, what: str) -> str:
    if not isinstance(word, str) or not word.strip():
        raise ValueError(f"{what} must be text that is not empty, got {word!r}")
    return word


def _whole(word: str, what: str) -> str:
    """Return `word` if all its characters are whole; otherwise raise an error.

    A half of a character (a lone surrogate, such as U+D800) can be neither printed nor sent to the page.
    """
    if without_surrogates(word) != word:
        raise ValueError(f"{without_surrogates(what)} contains half a character (a lone surrogate): {word!a}")
    return word


def optional(value: object, unit: str, what: str) -> float | None:
    """Return a figure above zero, given as a number or as text with a unit; None stays None."""
    return None if value is None else units.figure(value, unit, what)


def _plain(value: Any, what: str) -> float:
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise TypeError(f"{what} must be a number, got {value!r}")
    return float(value)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be text, got {value!r}")
    return value


def _refuse_more_than_all(memory: Memory, what: str) -> None:
    """Raise an error if programs, or one block of threads, can allocate more than the memory has."""
    for part, size in (("usable", memory.usable), ("per_block", memory.per_block)):
        if size is not None and size > (memory.capacity or 0.0):
            whole = "an unknown size" if memory.capacity is None else f"{memory.capacity:.0f} B"
            raise ValueError(
                f"{part} of {what} is {size:.0f} B, more than its capacity, {whole}; data sheets print GiB"
            )


def _refuse_duplicate(key: str, others: Iterable[str], what: str) -> None:
    """Raise an error if two names differ only in case, because look-ups ignore case."""
    if any(key.casefold() == other.casefold() for other in others):
        raise ValueError(f"{what}: '{key}' is there twice")
