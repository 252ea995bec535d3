"""The card of a chip: every figure with its source, and with other sources that give a different value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from roofwidget import units
from roofwidget.chips.figures import Ceiling, Check, Figure, Memory
from roofwidget.chips.validation import ENERGY_UNITS
from roofwidget.support.precisions import operation
from roofwidget.support.text_tables import escaped, html_table, is_web_address

if TYPE_CHECKING:
    from roofwidget.chips.chip import Chip

# Two sources disagree if their values differ by more than this share of our value. A smaller difference is rounding.
_MAX_ROUNDING: Final = 0.03
_Row: TypeAlias = "tuple[str, str, float | None, str]"
_HEADER: Final = ("figure", "value", "confidence", "source", "others say")


def figures(chip: Chip) -> tuple[Figure, ...]:
    """Return the rows of the card: peaks, memories, links, ceilings, then all other figures."""
    checks: dict[str, list[Check]] = {}
    for check in chip.checks:
        checks.setdefault(check.figure, []).append(check)
    rows: list[Figure] = []
    for key, label, value, unit in _plain_rows(chip):
        # If a link's bandwidth has no source of its own, use the source of the printed figure.
        source = chip.sources.get(key) or chip.sources.get(re.sub(r"^(links\..*)\.bandwidth$", r"\1.printed", key))
        rows.append(Figure(key, label, value, unit, source, tuple(checks.get(key, ()))))
    return (*rows, *(_ceiling_row(ceiling) for ceiling in chip.ceilings))


def units_by_figure(chip: Chip) -> dict[str, str]:
    """Return the figures that a check may name, as a mapping from the key of the figure to its unit."""
    return {key: "FLOP/s" if unit == "OP/s" else unit for key, _, _, unit in _plain_rows(chip)}


def figures_with_sources(chip: Chip) -> list[str]:
    """Return the keys of all figures that may have a source: figures with a value, and the printed texts of links."""
    printed = [f"links.{link.name}.printed" for link in chip.links.values() if link.printed]
    return [key for key, _, value, _ in _plain_rows(chip) if value is not None] + printed


def disputed(chip: Chip) -> Mapping[str, tuple[Check, ...]]:
    """Return for each disputed figure the checks that differ from our value by more than 3 %."""
    found = {
        figure.key: tuple(
            check for check in figure.checks if abs(check.value - figure.value) > _MAX_ROUNDING * figure.value
        )
        for figure in figures(chip)
        if figure.value is not None
    }
    return MappingProxyType({key: checks for key, checks in found.items() if checks})


def ceiling_key(ceiling: Ceiling) -> str:
    """Return the key of a ceiling's row, such as ``ceilings.measured.L2``."""
    under = ceiling.memory or ceiling.precision
    return f"ceilings.{ceiling.name}.{under}" if under else f"ceilings.{ceiling.name}"


def shown(figure: Figure) -> str:
    """Return a figure's value as text: ``3.35 TB/s``, ``80 GiB``, ``132 SM``, ``unknown``.

    Examples
    --------
    >>> shown(Figure("clock", "Clock", 1.98e9, "Hz")), shown(Figure("units", "Units", 16896, "core"))
    ('1.98 GHz', '16896 core')
    """
    if figure.value is None:
        return "unknown"
    if figure.unit == "B":
        return units.format_capacity(figure.value)
    if figure.unit in units.UNITS or figure.unit == "OP/s":
        return units.format_quantity(figure.value, figure.unit, 4)
    return f"{units.format_significant(figure.value, 15)} {figure.unit}"


def html(chip: Chip) -> str:
    """Return the card as HTML: a table, the documents, the notes. All text of the chip is escaped."""
    disputes = disputed(chip)
    rows = figures(chip)
    caption = " · ".join(str(part) for part in (chip.name, chip.vendor, chip.family, chip.year, chip.status) if part)
    cells = [
        (
            figure.label,
            shown(figure),
            figure.source.confidence if figure.source else "",
            figure.source.title if figure.source else "",
            _disagreement(figure, disputes.get(figure.key, ())),
        )
        for figure in rows
    ]
    documents = {figure.source.url: figure.source.title for figure in reversed(rows) if figure.source}
    links = [_link(title, url) for url, title in reversed(documents.items()) if is_web_address(url)]
    return html_table(caption, _HEADER, cells) + _items(links) + _items([escaped(note) for note in chip.notes])


def _plain_rows(chip: Chip) -> Iterator[_Row]:
    for precision, rate in chip.peak_flops.items():
        unit = f"{operation(precision)}/s"
        yield f"peak_flops.{precision}", f"Peak {precision}", rate, unit
    yield from _memory_rows("memories", chip.memories)
    yield from _link_rows(chip)
    yield from _memory_rows("host_memories", chip.host_memories, "Host memory ")
    yield from _other_rows(chip)


def _memory_rows(field: str, levels: Mapping[str, Memory], before: str = "") -> Iterator[_Row]:
    for level in levels.values():
        key, name = f"{field}.{level.name}", f"{before}{level.name}"
        scope = f" ({level.scope})" if level.scope else ""
        yield f"{key}.bandwidth", f"{name} bandwidth{scope}", level.bandwidth, "B/s"
        if level.capacity is not None:
            yield f"{key}.capacity", f"{name} capacity", level.capacity, "B"
        if level.usable is not None:
            yield f"{key}.usable", f"{name} usable capacity", level.usable, "B"
        if level.per_block is not None:
            yield f"{key}.per_block", f"{name} capacity for one block", level.per_block, "B"
        if level.latency is not None:
            yield f"{key}.latency", f"{name} latency, unloaded", level.latency, "s"


def _link_rows(chip: Chip) -> Iterator[_Row]:
    for link in chip.links.values():
        printed = f" (printed as {link.printed})" if link.printed else ""
        yield f"links.{link.name}.bandwidth", f"{link.name}, one way, per chip{printed}", link.bandwidth, "B/s"
        if link.per_link is not None:
            yield f"links.{link.name}.per_link", f"{link.name}, one way, per link", link.per_link, "B/s"
        if link.latency is not None:
            yield f"links.{link.name}.latency", f"{link.name}, latency per hop", link.latency, "s"


def _other_rows(chip: Chip) -> Iterator[_Row]:
    if chip.clock is not None:
        yield "clock", "Clock", chip.clock, "Hz"
    if chip.units is not None:
        count, word = chip.units.split(" ", 1)
        yield "units", "Units", float(count), word
    if chip.power is not None:
        yield "power", "Power", chip.power, "W"
    if chip.energy is not None:
        for field in fields(chip.energy):
            unit = ENERGY_UNITS[field.name]
            yield f"energy.{field.name}", f"Energy, {field.name}", getattr(chip.energy, field.name), unit


def _ceiling_row(ceiling: Ceiling) -> Figure:
    under = ceiling.memory or ceiling.precision
    label = f"{ceiling.name}, {under}" if under else ceiling.name
    unit = f"{operation(ceiling.precision or '')}/s" if ceiling.memory is None else "B/s"
    return Figure(ceiling_key(ceiling), f"Ceiling: {label}", ceiling.rate, unit, ceiling.source)


def _link(title: str, url: str) -> str:
    return f"<a href='{escaped(url)}' target='_blank' rel='noopener noreferrer'>{escaped(title)}</a>"


def _items(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>" if lines else ""


def _disagreement(figure: Figure, checks: tuple[Check, ...]) -> str:
    return "; ".join(
        f"{shown(Figure(figure.key, '', check.value, figure.unit))} ({check.source.title})" for check in checks
    )
