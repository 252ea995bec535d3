"""The range of the axes that depends on the chips alone, so that charts of different kernels can be compared.

`js/src/roofline/chip_frame.ts` mirrors this module: the tests compare both with the same golden file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from roofwidget.chips import Chip

# Intensities from _LOWEST to _HIGHEST are always in the frame, FLOP/B. Elementwise kernels are near _LOWEST.
_LOWEST: Final = 0.05
_HIGHEST: Final = 100.0
# The frame ends at this multiple of the ridge point: products of large matrices are right of it.
_BEYOND_RIDGE: Final = 30
# The vertical axis begins at this share of the roof at the left end, and ends at this multiple of the highest peak.
_BELOW_ROOF: Final = 0.01
_ABOVE_PEAK: Final = 3
# Room around a roof that a what-if has moved out of the frame of the data sheets.
_RIDGE_ROOM: Final = 2
_PEAK_ROOM: Final = 1.5


class ChipFrame(NamedTuple):
    """Ranges of the axes: intensities in FLOP/B, rates in FLOP/s."""

    x: tuple[float, float]
    y: tuple[float, float]

    def holds(self, ai: float, rate: float) -> bool:
        """Whether a point is inside. A point with an unknown intensity or rate is nowhere, and not outside."""
        return not (ai < self.x[0] or ai > self.x[1] or rate < self.y[0] or rate > self.y[1])


def chip_frame(chips: Iterable[tuple[Chip, Chip]], memory: str = "main") -> ChipFrame | None:
    """Return the frame of some chips; None if there are none.

    It uses the highest peak of each chip, because the shown precision may follow the kernels.

    Parameters
    ----------
    chips
        Each chip twice: with the rates of its data sheet, and with its what-if rates.
    memory
        A level of all chips that has a bandwidth; ``"main"``, or ``"all"`` for every level.

    Examples
    --------
    >>> from roofwidget import Chip
    >>> chip = Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
    >>> chip_frame([(chip, chip)])
    ChipFrame(x=(0.05, 3000.0), y=(500000000.0, 300000000000000.0))
    """
    left, right, top = _LOWEST, _HIGHEST, 0.0
    slowest = []
    for sheet, now in chips:
        levels = _levels(sheet, memory)
        main = levels[0]
        sheet_peak, peak = max(sheet.peak_flops.values()), max(now.peak_flops.values())
        right = max(right, sheet_peak / sheet.bandwidth(main) * _BEYOND_RIDGE, peak / now.bandwidth(main) * _RIDGE_ROOM)
        top = max(top, sheet_peak * _ABOVE_PEAK, peak * _PEAK_ROOM)
        for level in levels:
            left = min(
                left, sheet_peak / sheet.bandwidth(level) / _BEYOND_RIDGE, peak / now.bandwidth(level) / _RIDGE_ROOM
            )
        slowest.append(sheet.bandwidth(main))
    return ChipFrame((left, right), (min(slowest) * left * _BELOW_ROOF, top)) if slowest else None


def _levels(chip: Chip, memory: str) -> list[str]:
    """Return the level whose bandwidth is the roof. With "all", the other levels with a bandwidth follow."""
    if memory.casefold() != "all":
        return [chip.memory(memory)]
    return [name for name, level in chip.memories.items() if level.bandwidth is not None]
