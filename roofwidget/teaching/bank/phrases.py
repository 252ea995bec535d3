"""Texts that the prompts and explanations of several topics share."""

from __future__ import annotations

from typing import Final

from roofwidget.chips import Chip
from roofwidget.units import format_quantity, format_significant

GUIDE: Final = "TPU roofline guide"
# Enough for every figure of a prompt, so that a prompt never rounds.
_EXACT_DIGITS: Final = 12
_SHORT_DIGITS: Final = 4


def exact(value: float, unit: str) -> str:
    """Return a figure as text, with all its digits.

    Examples
    --------
    >>> exact(2.307e15, "FLOP/s")
    '2.307 PFLOP/s'
    """
    return format_quantity(value, unit, _EXACT_DIGITS)


def short(value: float, unit: str = "") -> str:
    """Return a result as text, with four digits. A number without a unit has at least all digits before the point.

    Examples
    --------
    >>> short(4.294967296e9, "B"), short(166.304), short(61333.3)
    ('4.295 GB', '166.3', '61333')
    """
    if unit:
        return format_quantity(value, unit, _SHORT_DIGITS)
    return format_significant(value, max(_SHORT_DIGITS, len(f"{value:.0f}")))


def name(chip: Chip) -> str:
    """Return a chip's name with its family, and without the precision that a table may add.

    Examples
    --------
    >>> name(Chip("v7x (fp8)", {"fp8": 4614e12}, {"HBM": 7.2e12}, family="TPU"))
    'TPU v7x'
    """
    bare = chip.name.split(" (")[0]
    return bare if bare.startswith(chip.family) else f"{chip.family} {bare}"
