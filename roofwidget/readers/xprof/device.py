"""The device in a profile: XProf's properties, the chip made from them, and a check of its peaks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from roofwidget.chips import Chip, Memory, Source
from roofwidget.chips import chip as look_up
from roofwidget.readers.amounts import number_or_nan
from roofwidget.readers.errors import ProfileError, figures_of_chip
from roofwidget.readers.xprof.table import GIBI, GIGA, shown

_VENDORS: Final = {"tpu": "Google", "amd": "AMD", "nvidia": "NVIDIA"}
# GPUs whose bf16 rate differs from the fp16 rate, or that have no bf16.
_NO_BF16: Final = ("gfx908", "gfx906", "kepler", "maxwell", "pascal", "volta", "turing")
# The catalogue's chips of each architecture that XProf may report. The check of the HBM peak uses the chip with the
# nearest compute peak.
_KNOWN: Final = {"gfx942": ("mi300x", "mi300a", "mi325x"), "gfx950": ("mi350x", "mi355x")}
_MIN_SHARE_OF_SHEET: Final = 0.75


@dataclass(frozen=True)
class Level:
    """A memory other than HBM, in one direction.

    Parameters
    ----------
    name
        The name of the level in `Kernels`.
    stem
        The text that the names of XProf's columns and properties for this memory have in common.
    flag
        The property that is not 0 if the device has this memory.
    """

    name: str
    stem: str
    flag: str


LEVELS: Final = (
    Level("VMEM read", "vmem_read", "has_merged_vmem"),
    Level("VMEM write", "vmem_write", "has_merged_vmem"),
    Level("CMEM read", "cmem_read", "has_cmem"),
    Level("CMEM write", "cmem_write", "has_cmem"),
)


@dataclass(frozen=True)
class Properties:
    """The device properties in the table's ``p``; all are text."""

    source: str
    given: Mapping[str, object]
    where: str = "XProf device properties"

    @classmethod
    def of(cls, table: object, source: str) -> Properties:
        """Return the properties of a parsed table, {} if it has none."""
        given = table.get("p", {}) if isinstance(table, dict) else {}
        if not isinstance(given, dict):
            raise ProfileError(source, f"expected an object of device properties, got {shown(given)}", place="'p'")
        return cls(source, given)

    @property
    def device(self) -> str:
        """The device's name; empty if XProf does not know it."""
        value = self.given.get("device_type", "")
        if not isinstance(value, str):
            raise ProfileError(self.source, f"expected text, got {shown(value)}", place="property 'device_type'")
        return value.strip()

    @property
    def is_gpu(self) -> bool:
        """Whether the device is a GPU, by XProf's own rule."""
        return "GPU" in self.device

    def number(self, name: str) -> float:
        """Return the property in the file's unit; 0 if it is missing (XProf writes 0 for an unknown peak)."""
        value = self.given.get(name, "0")
        number = math.nan if isinstance(value, bool) else number_or_nan(value)
        if not 0 <= number < math.inf:
            reason = f"expected a number that is finite and not negative, got {shown(value)}"
            raise ProfileError(self.source, reason, place=f"property '{name}'")
        return number

    def levels(self) -> list[Level]:
        """Return the memories other than HBM whose traffic XProf counts; on a GPU there are none."""
        return [level for level in LEVELS if self.number(level.flag) and self.number(f"peak_{level.stem}_bw")]


def chip_of(properties: Properties) -> Chip | None:
    """Return the device with XProf's peaks, per TensorCore or GPU; None without a FLOP rate or an HBM bandwidth.

    Raises
    ------
    ProfileError
        If a property is not a number, or is a figure that no hardware has.
    """
    with figures_of_chip(properties.source, "properties of the device"):
        return _chip(properties)


def _chip(properties: Properties) -> Chip | None:
    peak, bandwidth = properties.number("peak_flop_rate"), properties.number("peak_hbm_bw")
    if not (peak and bandwidth):
        return None
    memories = {"HBM": Memory("HBM", bandwidth * GIBI)}
    for level in properties.levels():
        memories[level.name] = Memory(level.name, properties.number(f"peak_{level.stem}_bw") * GIBI)
    shared = properties.number("peak_vmem_write_bw")
    if properties.is_gpu and shared:
        memories["Shm/L1"] = Memory("Shm/L1", shared * GIBI)
    name = properties.device or "XProf device"
    precisions = _precisions(properties)
    origin = Source(f"{properties.where} in {PurePath(properties.source).name}")
    figures = [f"peak_flops.{precision}" for precision in precisions]
    figures += [f"memories.{level}.bandwidth" for level in memories]
    return Chip(
        name,
        dict.fromkeys(precisions, peak * GIGA),
        memories,
        vendor=next((vendor for word, vendor in _VENDORS.items() if word in name.casefold()), ""),
        default_precision=precisions[0],
        sources=dict.fromkeys(figures, origin),
    )


def _precisions(properties: Properties) -> list[str]:
    """Return the precisions of XProf's single compute roof."""
    # On TPU XProf normalises FLOPs to the bf16 peak. On GPU XProf's single roof is the dense 16-bit rate.
    if not properties.is_gpu:
        return ["bf16"]
    return ["fp16"] if any(word in properties.device.casefold() for word in _NO_BF16) else ["fp16", "bf16"]


def peak_warnings(properties: Properties) -> list[str]:
    """Warn if the HBM peak is far below the data sheet's, because memory-bound points then lie above their roof."""
    known = next((ids for word, ids in _KNOWN.items() if word in properties.device.casefold()), ())
    bandwidth = properties.number("peak_hbm_bw") * GIBI
    if not (known and bandwidth):
        return []
    peak = properties.number("peak_flop_rate") * GIGA
    sheet = _nearest([look_up(name) for name in known], peak)
    if bandwidth >= _MIN_SHARE_OF_SHEET * sheet.bandwidth():
        return []
    message = (
        f"the profile's HBM peak, {bandwidth / 1e12:.2f} TB/s, is {bandwidth / sheet.bandwidth():.0%} of the "
        f"{sheet.bandwidth() / 1e12:.2f} TB/s on the data sheet of {sheet.name}: the profiler undercounts HBM3, so "
        f"memory-bound points are too high; set kernels.chip = rw.chip('{sheet.id}') to use the data sheet"
    )
    return [message]


def _nearest(sheets: list[Chip], peak: float) -> Chip:
    """Return the chip with the nearest 16-bit peak; without a peak, the chip with the slowest memory."""
    if not peak:
        return min(sheets, key=lambda chip: chip.bandwidth())
    return min(sheets, key=lambda chip: abs(math.log(peak / chip.peak("fp16"))))
