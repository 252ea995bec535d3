"""`roofwidget chips`: the catalogue."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from roofwidget.chips import Chip, chips, chips_json
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.support.precisions import operation
from roofwidget.support.text_tables import aligned
from roofwidget.units import format_intensity, format_quantity

DESCRIPTION: Final = """\
List the chips of the catalogue: the id that other commands take as --chip, the
dense peak of the usual precision, the bandwidth of the main memory, and the
ridge point. --json prints what rw.chips_json() returns, for these chips:
docs/chips.md names the schema.

  roofwidget chips
  roofwidget chips nvidia 2024
  roofwidget chips h100 --json
"""
_HEADER: Final = ("id", "name", "year", "peak", "main memory", "ridge point")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    command.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        help="only chips that have all of these in id, name, vendor, family or year",
    )
    command.add_argument("--json", action="store_true", help="every figure with its source, in base units")
    command.set_defaults(run=_list)


def _list(options: argparse.Namespace) -> int:
    words = [word.casefold() for word in options.words]
    found = [chip for chip in chips() if all(word in _searched(chip) for word in words)]
    if not found:
        asked = " ".join(options.words)
        close = nearest(asked, [chip.id for chip in chips()])
        hint = f"the nearest are {listed(close)}" if close else "'roofwidget chips' lists all"
        raise ValueError(f"no chip of the catalogue has '{asked}'; {hint}")
    if options.json:
        print(json.dumps(_catalogue_of({chip.id for chip in found}), indent=2, ensure_ascii=False))
    else:
        print("\n".join(aligned([_HEADER, *map(_row, found)])))
    return 0


def _searched(chip: Chip) -> str:
    return " ".join([chip.id, chip.name, chip.vendor, chip.family, str(chip.year or ""), *chip.aliases]).casefold()


def _row(chip: Chip) -> list[str]:
    unit = operation(chip.precision())
    return [
        chip.id,
        chip.name,
        str(chip.year or ""),
        f"{chip.precision()} {format_quantity(chip.peak(), f'{unit}/s', 4)}",
        f"{chip.main_memory} {format_quantity(chip.bandwidth(), 'B/s', 4)}",
        format_intensity(chip.ridge_point(), 4, unit),
    ]


def _catalogue_of(ids: Collection[str]) -> dict[str, Any]:
    """Return the catalogue with these chips only, and with the sources that they name."""
    catalogue: dict[str, Any] = json.loads(chips_json())
    found = [entry for entry in catalogue["chips"] if entry["id"] in ids]
    used = set(_source_keys(found))
    sources = {key: source for key, source in catalogue["sources"].items() if key in used}
    return {**catalogue, "sources": sources, "chips": found}


def _source_keys(value: object) -> Iterator[str]:
    """Yield the keys of the sources that an entry of the catalogue names."""
    if isinstance(value, list):
        for part in value:
            yield from _source_keys(part)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key == "source":
                yield part
            else:
                yield from _source_keys(part)
