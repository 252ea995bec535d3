"""Published tables of chips and kernels, exactly as printed.

The tables are in `presets.toml` and not in the catalogue, so that a widget with a preset need not read all chips.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofwidget.chips import Chip, Source, chip_record, toml
from roofwidget.chips.catalogue import lookup_key
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import listed
from roofwidget.support.text_tables import counted, html_table, html_with_notes, one_line
from roofwidget.units import format_intensity, format_quantity


@dataclass(frozen=True)
class Preset:
    """A published table of chips and kernels, exactly as printed.

    Parameters
    ----------
    name
        The name of the table. The function `preset` takes this name.
    title
        The title for readers.
    chips
        Chips with the rounded figures of the table (FLOP/s, bytes/s); the figures in the catalogue can differ.
    kernels
        The example kernels of the table (FLOPs, bytes); a kernel has a time only if the table prints its time.
    source
        The document that the table is printed in.
    notes
        Remarks for readers of the table.
    """

    __module__ = "roofwidget"

    name: str
    title: str
    chips: tuple[Chip, ...]
    kernels: Kernels
    source: Source
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        header = ("chip", "peak", "bandwidth", "ridge point")
        rows = [
            (
                one_line(chip.name),
                f"{format_quantity(chip.peak(), 'FLOP/s', 4)} {chip.default_precision}",
                f"{format_quantity(chip.bandwidth(), 'B/s', 4)} {chip.main_memory}",
                format_intensity(chip.ridge_point(), 4),
            )
            for chip in self.chips
        ]
        chips = html_table(f"{self.title} · {counted(len(self.chips), 'chip')}", header, rows)
        return html_with_notes(chips, [*self.notes, f"Source: {self.source.title}"]) + self.kernels._repr_html_()


def preset(name: str) -> Preset:
    """Return a published table by its name, in any case.

    Raises
    ------
    LookupError
        If no preset has this name; the message lists all names.

    Examples
    --------
    >>> guide = preset("tpu-roofline-guide")
    >>> [(one.name, round(one.ridge_point(), 1)) for one in guide.chips]
    [('v7x (fp8)', 640.8), ('v7x (bf16)', 320.4), ('v6e', 573.8), ('v5p', 166.3)]
    """
    for known in presets():
        if lookup_key(known) == lookup_key(str(name)):
            return _preset(known)
    raise LookupError(f"no preset is called '{name}'; the presets are {listed(presets())}")


def presets() -> tuple[str, ...]:
    """Return the names of the presets.

    Examples
    --------
    >>> presets()
    ('tpu-roofline-guide', 'tpu-roofline-guide-vmem', 'williams-2009')
    """
    return tuple(entry["name"] for entry in _file()["presets"])


@functools.cache
def _file() -> dict[str, Any]:
    return toml.parse(toml.packaged(__file__, "presets.toml"))


@functools.cache
def _preset(name: str) -> Preset:
    entry = next(entry for entry in _file()["presets"] if entry["name"] == name)
    documents = chip_record.documents(_file()["sources"])
    source = documents[entry["source"]]
    return Preset(
        name,
        entry["title"],
        tuple(_chip(record, documents, source) for record in entry["chips"]),
        Kernels.from_records(entry["kernels"]),
        source,
        tuple(entry.get("notes", ())),
    )


def _chip(record: Mapping[str, Any], documents: Mapping[str, Source], source: Source) -> Chip:
    """Return the chip of a row. If a figure names no source, its source is the document of the table."""
    made = chip_record.from_record(Chip, record, documents)
    return made.replace(sources={figure.key: source for figure in made.figures if figure.source is None})
