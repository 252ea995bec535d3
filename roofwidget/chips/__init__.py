"""Chips: what one is, and the catalogue of those that are known."""

from __future__ import annotations

from roofwidget.chips.catalog import AmbiguousChipError, Preset, UnknownChipError, chip, chips, preset, presets
from roofwidget.chips.chip import Chip, Memory, MissingFigureError, Source, is_off_chip

__all__ = [
    "AmbiguousChipError",
    "Chip",
    "Memory",
    "MissingFigureError",
    "Preset",
    "Source",
    "UnknownChipError",
    "chip",
    "chips",
    "is_off_chip",
    "preset",
    "presets",
]
