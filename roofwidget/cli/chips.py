"""`roofwidget chips`: the catalogue."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from roofwidget.chips import Chip, chips
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.support.text_tables import aligned
from roofwidget.units import format_intensity, format_quantity

DESCRIPTION: Final = """\
List the chips of the catalogue: the id that other commands take as --chip, the
dense peak of the usual precision, the bandwidth of the main memory, and the
ridge point.

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
    command.add_argument("--json", action="store_true", help="every figure, in FLOP/s, bytes/s and bytes")
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
        print(json.dumps([_record(chip) for chip in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(aligned([_HEADER, *map(_row, found)])))
    return 0


def _searched(chip: Chip) -> str:
    return " ".join([chip.id, chip.name, chip.vendor, chip.family, str(chip.year or ""), *chip.aliases]).casefold()


def _row(chip: Chip) -> list[str]:
    return [
        chip.id,
        chip.name,
        str(chip.year or ""),
        f"{chip.precision()} {format_quantity(chip.peak(), 'FLOP/s', 4)}",
        f"{chip.main_memory} {format_quantity(chip.bandwidth(), 'B/s', 4)}",
        format_intensity(chip.ridge_point(), 4),
    ]


def _record(chip: Chip) -> dict[str, Any]:
    return {
        "id": chip.id,
        "name": chip.name,
        "vendor": chip.vendor,
        "family": chip.family,
        "year": chip.year,
        "default_precision": chip.precision(),
        "main_memory": chip.main_memory,
        "peak_flops": dict(chip.peak_flops),
        "memories": {
            level: {"bandwidth": memory.bandwidth, "capacity": memory.capacity}
            for level, memory in chip.memories.items()
        },
    }
