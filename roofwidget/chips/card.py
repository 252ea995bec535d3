"""The card of a chip: every figure, where it comes from, and who says otherwise."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from roofwidget import units
from roofwidget.chips.figures import Ceiling, Check, Figure

if TYPE_CHECKING:
    from roofwidget.chips.chip import Chip

__all__ = ["ceiling_key", "disputed", "figures", "html", "shown"]

# Further apart than this, relative to ours, two sources disagree; closer, they round.
_AGREE: Final = 0.03
_ENERGY_UNITS: Final = {"per_flop": "J/FLOP", "per_byte": "J/B", "constant_power": "W"}
_PREFIXED: Final = frozenset({"FLOP/s", "OP/s", "B/s", "B", "s"})


def figures(chip: Chip) -> tuple[Figure, ...]:
    """Return the rows of the card: peaks, memories, links, ceilings, then the rest."""
    checks: dict[str, list[Check]] = {}
    for check in chip.checks:
        checks.setdefault(check.figure, []).append(check)
    rows: list[Figure] = []
    for key, label, value, unit in _plain_rows(chip):
        # A link whose bandwidth cannot be told from what is printed has the source of what is printed.
        source = chip.sources.get(key) or chip.sources.get(re.sub(r"^(links\..*)\.bandwidth$", r"\1.printed", key))
        rows.append(Figure(key, label, value, unit, source, tuple(checks.get(key, ()))))
    return (*rows, *(_ceiling_row(ceiling) for ceiling in chip.ceilings))


def disputed(chip: Chip) -> Mapping[str, tuple[Check, ...]]:
    """Return, by figure, the checks that are more than 3 % off."""
    found = {
        figure.key: tuple(check for check in figure.checks if abs(check.value - figure.value) > _AGREE * figure.value)
        for figure in figures(chip)
        if figure.value is not None
    }
    return MappingProxyType({key: checks for key, checks in found.items() if checks})


def ceiling_key(ceiling: Ceiling) -> str:
    """Return the key of a ceiling's row, such as ``ceilings.measured.L2``."""
    under = ceiling.memory or ceiling.precision
    return f"ceilings.{ceiling.name}.{under}" if under else f"ceilings.{ceiling.name}"


def shown(figure: Figure) -> str:
    """Return a figure's value for a reader: ``3.35 TB/s``, ``132 SM``, ``unknown``.

    Examples
    --------
    >>> shown(Figure("clock", "Clock", 1.98e9, "Hz")), shown(Figure("units", "Units", 132, "SM"))
    ('1.98 GHz', '132 SM')
    """
    if figure.value is None:
        return "unknown"
    if figure.unit in _PREFIXED:
        return units.format_quantity(figure.value, figure.unit, 4)
    if figure.unit == "Hz":
        return units.format_quantity(figure.value, "B", 4).removesuffix("B") + "Hz"
    return f"{units.format_significant(figure.value, 4)} {figure.unit}"


def html(chip: Chip) -> str:
    """Return the card as an HTML table; text of the chip is text, never markup."""
    say = markup.escape
    disputes = disputed(chip)
    rows = "".join(
        f"<tr><th scope='row'>{say(figure.label)}</th><td>{say(shown(figure))}</td>"
        f"<td>{say(figure.source.confidence if figure.source else '')}</td><td>{_source_cell(figure)}</td>"
        f"<td>{say(_disagreement(figure, disputes.get(figure.key, ())))}</td></tr>"
        for figure in figures(chip)
    )
    about = " · ".join(say(str(part)) for part in (chip.vendor, chip.family, chip.year, chip.status) if part)
    notes = "".join(f"<li>{say(note)}</li>" for note in chip.notes)
    return (
        f"<table><caption><b>{say(chip.name)}</b> {about}</caption>"
        "<thead><tr><th>figure</th><th>value</th><th>confidence</th><th>source</th><th>others say</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>" + (f"<ul>{notes}</ul>" if notes else "")
    )


def _plain_rows(chip: Chip) -> Iterator[tuple[str, str, float | None, str]]:
    for precision, rate in chip.peak_flops.items():
        unit = "OP/s" if precision.startswith("int") else "FLOP/s"
        yield f"peak_flops.{precision}", f"Peak {precision}", rate, unit
    for level in chip.memories.values():
        scope = f" ({level.scope})" if level.scope else ""
        yield f"memories.{level.name}.bandwidth", f"{level.name} bandwidth{scope}", level.bandwidth, "B/s"
        if level.capacity is not None:
            yield f"memories.{level.name}.capacity", f"{level.name} capacity", level.capacity, "B"
    yield from _link_rows(chip)
    yield from _other_rows(chip)


def _link_rows(chip: Chip) -> Iterator[tuple[str, str, float | None, str]]:
    for link in chip.links.values():
        printed = f" (printed as {link.printed})" if link.printed else ""
        yield f"links.{link.name}.bandwidth", f"{link.name}, one way, per chip{printed}", link.bandwidth, "B/s"
        if link.per_link is not None:
            yield f"links.{link.name}.per_link", f"{link.name}, one way, per link", link.per_link, "B/s"
        if link.latency is not None:
            yield f"links.{link.name}.latency", f"{link.name}, latency per hop", link.latency, "s"


def _other_rows(chip: Chip) -> Iterator[tuple[str, str, float | None, str]]:
    if chip.clock is not None:
        yield "clock", "Clock", chip.clock, "Hz"
    if chip.units is not None:
        count, word = chip.units.split(" ", 1)
        yield "units", "Units", float(count), word
    if chip.power is not None:
        yield "power", "Power", chip.power, "W"
    if chip.energy is not None:
        for field in fields(chip.energy):
            unit = _ENERGY_UNITS[field.name]
            yield f"energy.{field.name}", f"Energy, {field.name}", getattr(chip.energy, field.name), unit


def _ceiling_row(ceiling: Ceiling) -> Figure:
    under = ceiling.memory or ceiling.precision
    label = f"{ceiling.name}, {under}" if under else ceiling.name
    unit = "FLOP/s" if ceiling.memory is None else "B/s"
    return Figure(ceiling_key(ceiling), f"Ceiling: {label}", ceiling.rate, unit, ceiling.source)


def _source_cell(figure: Figure) -> str:
    if figure.source is None:
        return ""
    title = markup.escape(figure.source.title)
    if not figure.source.url.startswith(("http://", "https://")):
        return title
    return f"<a href='{markup.escape(figure.source.url)}' target='_blank' rel='noopener noreferrer'>{title}</a>"


def _disagreement(figure: Figure, checks: tuple[Check, ...]) -> str:
    return "; ".join(
        f"{shown(Figure(figure.key, '', check.value, figure.unit))} ({check.source.title})" for check in checks
    )
