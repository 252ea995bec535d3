"""Chips: the class `Chip` and its parts, the catalogue of known chips, and files of a user's own chips."""

from __future__ import annotations

from roofwidget.chips.catalogue import (
    FORMER_IDS,
    AmbiguousChipError,
    ChipLike,
    UnknownChipError,
    chip,
    chip_of_peaks,
    chip_of_saved_id,
    chips,
    chips_json,
    chips_named,
)
from roofwidget.chips.chip import Chip, Share, share_on_chip, shared_on_chip
from roofwidget.chips.figures import (
    FLOP_CLASSES,
    NETWORK,
    Ceiling,
    Check,
    Energy,
    Figure,
    Link,
    Memory,
    MissingFigureError,
    Source,
    is_host_link,
    is_off_chip,
)
from roofwidget.chips.files import load_chips

__all__ = [
    "FLOP_CLASSES",
    "FORMER_IDS",
    "NETWORK",
    "AmbiguousChipError",
    "Ceiling",
    "Check",
    "Chip",
    "ChipLike",
    "Energy",
    "Figure",
    "Link",
    "Memory",
    "MissingFigureError",
    "Share",
    "Source",
    "UnknownChipError",
    "chip",
    "chip_of_peaks",
    "chip_of_saved_id",
    "chips",
    "chips_json",
    "chips_named",
    "is_host_link",
    "is_off_chip",
    "load_chips",
    "share_on_chip",
    "shared_on_chip",
]
