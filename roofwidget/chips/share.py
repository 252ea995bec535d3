"""What each of a chip's units may keep in the memory nearest to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from roofwidget.chips.chip import Chip

__all__ = ["Share", "share_on_chip"]

# Memories next to the units that compute, nearest first; then any other that is known.
_NEAREST: Final = ("vmem", "smem", "sbuf", "lds", "l1")


@dataclass(frozen=True)
class Share:
    """What one unit of a chip may keep on chip.

    Parameters
    ----------
    level
        The memory.
    capacity
        bytes: of the whole chip over the number of its units, for all of them work at a time.
    units
        How many have such a share; 1 where the chip does not say.
    """

    level: str
    capacity: float
    units: int = 1


def share_on_chip(chip: Chip) -> Share | None:
    """Return the share of one unit in the memory nearest to it whose capacity is known, or None without any.

    Examples
    --------
    >>> from roofwidget.chips.chip import Memory
    >>> smem = Memory("SMEM", None, 132 * 233_472)
    >>> share_on_chip(Chip("My chip", {"bf16": 1e15}, {"HBM": 3e12, "SMEM": smem}, units="132 SM"))
    Share(level='SMEM', capacity=233472.0, units=132)
    """
    known = {
        name: memory.capacity
        for name, memory in chip.memories.items()
        if memory.capacity is not None and name != chip.main_memory
    }
    if not known:
        return None
    folded = {name.casefold().split()[0]: name for name in reversed(known)}
    level = next((folded[word] for word in _NEAREST if word in folded), next(reversed(known)))
    units = int(chip.units.split()[0]) if chip.units else 1
    return Share(level, known[level] / units, units)
