"""A chip with something changed: what `Chip.replace`, `with_measured` and `with_ceiling` do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from roofwidget.chips.checking import level_called
from roofwidget.chips.figures import Ceiling, Link, Memory, Source
from roofwidget.suggest import unknown_keyword

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
    if "peak_flops" in changes:
        values["peak_flops"] = {
            **chip.peak_flops,
            **{str(precision).casefold(): rate for precision, rate in changes["peak_flops"].items()},
        }
    if "memories" in changes:
        values["memories"] = _merged_memories(chip, changes["memories"])
    if "links" in changes:
        values["links"] = _merged_links(chip, changes["links"])
    if "sources" in changes:
        values["sources"] = {**chip.sources, **changes["sources"]}
    return _without_stale(chip, type(chip)(**values), changes)


def measured(
    chip: Chip, peak_flops: Mapping[str, object], bandwidth: Mapping[str, object], source: Source | None
) -> Chip:
    """Return `chip` with measured ceilings; see `Chip.with_measured`."""
    if not peak_flops and not bandwidth:
        msg = "with_measured needs peak_flops={precision: rate} or bandwidth={level: rate}"
        raise ValueError(msg)
    rates: list[Any] = [(rate, None, chip.precision(precision)) for precision, rate in peak_flops.items()]
    rates += [(rate, level, None) for level, rate in bandwidth.items()]
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
        place = place or "main"
        return _with_ceilings(chip, [dataclasses.replace(ceiling, rate=rates[kind], memory=place)])
    judged = None if place is None else chip.precision(place)
    return _with_ceilings(chip, [dataclasses.replace(ceiling, rate=rates[kind], precision=judged)])


def _with_ceilings(chip: Chip, new: list[Ceiling]) -> Chip:
    def place(ceiling: Ceiling) -> tuple[str, str | None, str | None]:
        return ceiling.name, ceiling.memory, ceiling.precision

    new = [ceiling if ceiling.memory is None else _at_its_level(chip, ceiling) for ceiling in new]
    taken = {place(ceiling) for ceiling in new}
    return chip.replace(ceilings=(*(old for old in chip.ceilings if place(old) not in taken), *new))


def _at_its_level(chip: Chip, ceiling: Ceiling) -> Ceiling:
    """Return the ceiling under the chip's spelling of its level; a level that it lacks is refused later."""
    return dataclasses.replace(ceiling, memory=level_called(chip.memories, str(ceiling.memory)) or ceiling.memory)


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
        name = next((known for known in chip.links if known.casefold() == key.casefold()), key)
        # What the source prints, and its figure per link, belong to the bandwidth that goes.
        hop = chip.links[name].latency if name in chip.links else None
        merged[name] = value if isinstance(value, Link) else Link(name, value, latency=hop)
    return merged


def _without_stale(old: Chip, new: Chip, changes: Mapping[str, Any]) -> Chip:
    """Return `new` without the sources and checks that spoke of figures of `old`."""
    before = {figure.key: figure.value for figure in old.figures}
    stale = {figure.key for figure in new.figures if figure.key in before and figure.value != before[figure.key]}
    stale |= before.keys() - {figure.key for figure in new.figures}
    stale |= {f"links.{key}.printed" for key, link in old.links.items() if new.links[key].printed != link.printed}
    if not stale:
        return new
    own = {field.name: getattr(new, field.name) for field in dataclasses.fields(new)}
    if "ceilings" not in changes:
        own["ceilings"] = tuple(ceiling for ceiling in new.ceilings if _figure_over(new, ceiling) not in stale)
    told = changes.get("sources", {})
    own["sources"] = {key: source for key, source in new.sources.items() if key not in stale or key in told}
    if "checks" not in changes:
        own["checks"] = tuple(check for check in new.checks if check.figure not in stale)
    if "status" not in changes:
        own["status"] = "given"
    return type(new)(**own)


def _figure_over(chip: Chip, ceiling: Ceiling) -> str:
    """Return the key of the figure that a ceiling lies under."""
    if ceiling.memory is not None:
        return f"memories.{ceiling.memory}.bandwidth"
    return f"peak_flops.{ceiling.precision or chip.default_precision}"
