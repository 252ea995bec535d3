"""A chip with something changed: what `Chip.replace`, `with_measured` and `with_ceiling` do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from roofwidget.chips.checking import level_called, own_level
from roofwidget.chips.figures import Ceiling, Link, Memory, Source
from roofwidget.support.did_you_mean import unknown_keyword

if TYPE_CHECKING:
    from roofwidget.chips.chip import Chip

__all__ = ["ceiled", "measured", "replaced"]


def replaced(chip: Chip, changes: Mapping[str, Any]) -> Chip:
    """Return `chip` with other fields; see `Chip.replace`."""
    own = {field.name: getattr(chip, field.name) for field in dataclasses.fields(chip)}
    for word in changes:
        if word not in own:
            raise unknown_keyword("Chip.replace", word, own)
    values = {**own, **changes}
    if "name" in changes and "id" not in changes:
        values["id"] = None
    for word, merge in (("peak_flops", _merged_peaks), ("memories", _merged_memories), ("links", _merged_links)):
        # What is no mapping is refused by name when the chip is made.
        if isinstance(changes.get(word), Mapping):
            values[word] = merge(chip, changes[word])
    given = {word: changes[word] for word in ("ceilings", "sources", "checks") if word in changes}
    bare = type(chip)(**{**values, "ceilings": (), "sources": {}, "checks": ()})
    stale = _stale(chip, bare)
    kept = {key: source for key, source in chip.sources.items() if key not in stale}
    told = given.get("sources", {})
    values["sources"] = {**kept, **told} if isinstance(told, Mapping) else told
    if "ceilings" not in given:
        values["ceilings"] = [ceiling for ceiling in chip.ceilings if _figure_over(chip, ceiling) not in stale]
    if "checks" not in given:
        values["checks"] = [check for check in chip.checks if check.figure not in stale]
    if stale and "status" not in changes:
        values["status"] = "given"
    return type(chip)(**values)


def measured(
    chip: Chip, peak_flops: Mapping[str, object], bandwidth: Mapping[str, object], source: Source | None
) -> Chip:
    """Return `chip` with measured ceilings; see `Chip.with_measured`."""
    if not peak_flops and not bandwidth:
        msg = "with_measured needs peak_flops={precision: rate} or bandwidth={level: rate}"
        raise ValueError(msg)
    rates: list[Any] = [(rate, None, chip.precision(precision)) for precision, rate in peak_flops.items()]
    rates += [(rate, own_level(chip.name, chip.memories, level), None) for level, rate in bandwidth.items()]
    return _with_ceilings(
        chip,
        [Ceiling("measured", rate, level, precision, measured=True, source=source) for rate, level, precision in rates],
    )


def ceiled(chip: Chip, ceiling: Ceiling, rates: Mapping[str, Any]) -> Chip:
    """Return `chip` with one more ceiling, whose rate is the one of `rates` that is told; see `Chip.with_ceiling`."""
    told = [kind for kind, rate in rates.items() if rate is not None]
    if len(told) != 1:
        msg = f"ceiling '{ceiling.name}' needs either peak_flops or bandwidth"
        raise ValueError(msg)
    kind = told[0]
    place, foreign = (ceiling.precision, "memory") if kind == "peak_flops" else (ceiling.memory, "precision")
    if getattr(ceiling, foreign) is not None:
        other = "bandwidth" if kind == "peak_flops" else "peak_flops"
        msg = f"ceiling '{ceiling.name}' has {kind}; {foreign}='{getattr(ceiling, foreign)}' goes with {other}"
        raise ValueError(msg)
    if kind == "bandwidth":
        place = own_level(chip.name, chip.memories, place or "main")
        return _with_ceilings(chip, [dataclasses.replace(ceiling, rate=rates[kind], memory=place)])
    judged = None if place is None else chip.precision(place)
    return _with_ceilings(chip, [dataclasses.replace(ceiling, rate=rates[kind], precision=judged)])


def _with_ceilings(chip: Chip, new: list[Ceiling]) -> Chip:
    def place(ceiling: Ceiling) -> tuple[str, str | None, str | None]:
        return str(ceiling.name).casefold(), ceiling.memory, ceiling.precision

    taken = {place(ceiling) for ceiling in new}
    return chip.replace(ceilings=(*(old for old in chip.ceilings if place(old) not in taken), *new))


def _merged_peaks(chip: Chip, changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **chip.peak_flops,
        **{key.casefold() if isinstance(key, str) else key: rate for key, rate in changes.items()},
    }


def _merged_memories(chip: Chip, changes: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = dict(chip.memories)
    for key, value in changes.items():
        level = level_called(chip.memories, key)
        if level is None:
            merged[key] = value
            continue
        if isinstance(value, Memory):
            merged[level] = dataclasses.replace(value, name=level)
        else:
            merged[level] = dataclasses.replace(chip.memories[level], bandwidth=value)
    return merged


def _merged_links(chip: Chip, changes: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = dict(chip.links)
    for key, value in changes.items():
        name = next((known for known in chip.links if known.casefold() == str(key).casefold()), key)
        # What the source prints, and its figure per link, belong to the bandwidth that goes.
        hop = chip.links[name].latency if name in chip.links else None
        merged[name] = value if isinstance(value, Link) else Link(name, value, latency=hop)
    return merged


def _stale(old: Chip, new: Chip) -> set[str]:
    """Return the keys of the figures of `old` that `new` has no more or has otherwise; what was unknown is none."""
    after = {row.key: (row.value, row.unit) for row in new.figures}
    before = {row.key: (row.value, row.unit) for row in old.figures if row.value is not None}
    changed = {key for key, figure in before.items() if after.get(key) != figure and not key.startswith("ceilings.")}
    return changed | {
        f"links.{key}.printed" for key, link in old.links.items() if new.links[key].printed != link.printed
    }


def _figure_over(chip: Chip, ceiling: Ceiling) -> str:
    """Return the key of the figure that a ceiling lies under."""
    if ceiling.memory is not None:
        return f"memories.{ceiling.memory}.bandwidth"
    return f"peak_flops.{ceiling.precision or chip.default_precision}"
