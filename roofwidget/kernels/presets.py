"""Published tables of chips and kernels, exactly as printed.

They stand in `presets.toml`, apart from the catalogue, so that a widget which shows one need not read all chips.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofwidget.chips import Chip, Source, records, toml
from roofwidget.chips.catalogue import lookup_key
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import listed

__all__ = ["Preset", "preset", "presets"]


@dataclass(frozen=True)
class Preset:
    """A published table of chips with the kernels it shows, exactly as printed.

    Parameters
    ----------
    name
        What `preset` finds it by.
    title
        What people read.
    chips
        Chips with the rounded figures of that table (FLOP/s, bytes/s): they are not those of the catalogue.
    kernels
        The table's example kernels (FLOPs, bytes), with a time only where the table tells one.
    source
        The document.
    notes
        What a reader of the table should know.
    """

    __module__ = "roofwidget"

    name: str
    title: str
    chips: tuple[Chip, ...]
    kernels: Kernels
    source: Source
    notes: tuple[str, ...] = ()


def preset(name: str) -> Preset:
    """Find one published table by its name, in any case.

    Raises
    ------
    LookupError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> guide = preset("tpu-roofline-guide")
    >>> [(one.name, round(one.ridge_point(), 1)) for one in guide.chips]
    [('v7x (fp8)', 640.8), ('v7x (bf16)', 320.4), ('v6e', 573.8), ('v5p', 166.3)]
    """
    for known in presets():
        if lookup_key(known) == lookup_key(str(name)):
            return _preset(known)
    msg = f"no preset is called '{name}'; there is {listed(presets())}"
    raise LookupError(msg)


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
    documents = records.documents(_file()["sources"])
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
    """Return a row's chip; what names no source is from the table's own document."""
    made = records.from_record(Chip, record, documents)
    return made.replace(sources={figure.key: source for figure in made.figures if figure.source is None})
